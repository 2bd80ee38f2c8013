/* The store in memory: for tests, and for folding views beside the live ones. `mem:` is
 * private and gone when it is closed; `mem:NAME` is one store for all who open that name in
 * this process, until the process ends.
 *
 * Everything lies in one ordered map (tree.h); a transaction works on a version of it. Its keys,
 * where [x] is x with its length in two bytes in front, and a seq is eight bytes, high
 * byte first:
 *
 *     t ID                       the head of a thread
 *     e [thread] seq             an entry
 *     l [thread] mark [lane] seq an entry that has this mark in this lane
 *     o [thread] op_id           the seq of the entry that has it
 *     r [thread] [view] key      a row
 *     m NAME                     a text of moved.c
 */
#include "base/clock.h"
#include "base/failure.h"
#include "store/mem_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- transactions ------------------------------------------------------------------- */

struct store_tree *mem_look(struct mem_store *m)
{
    if (m->in)
        return tree_hold(m->seen);
    pthread_mutex_lock(&m->db->lock);
    struct store_tree *t = tree_hold(m->db->now);
    pthread_mutex_unlock(&m->db->lock);
    return t;
}

static enum status stay_busy(struct mem_store *m, struct err *e)
{
    err_set(e, ST_CONFLICT, "another writer kept mem:%s busy for %d ms", m->db->name, m->busy_ms);
    err_reason(e, "busy");
    return err_hint(e, "nothing was written; run the command again");
}

/* With the lock held: wait until no other transaction writes. */
static bool become_writer(struct mem_store *m)
{
    int64_t         until = clock_steady_us() + (int64_t)m->busy_ms * 1000;
    struct timespec at = { until / 1000000, until % 1000000 * 1000 };

    while (m->db->writing)
        if (pthread_cond_timedwait(&m->db->freed, &m->db->lock, &at) != 0)
            break;
    if (m->db->writing)
        return false;
    return m->db->writing = true;
}

/* When `keep`, the transaction's version becomes the newest one; else it is dropped. */
static void finish(struct mem_store *m, bool keep)
{
    struct store_tree *gone = m->seen;

    if (m->writing) {
        pthread_mutex_lock(&m->db->lock);
        if (keep) {
            gone = m->db->now;
            m->db->now = m->seen;
            m->db->commits++;
        }
        m->db->writing = false;
        pthread_cond_signal(&m->db->freed);
        pthread_mutex_unlock(&m->db->lock);
    }
    tree_drop(gone);
    tree_drop(m->before_part);
    m->seen = m->before_part = NULL;
    m->in = m->writing = false;
}

static enum status mem_begin(struct store *s, enum store_mode mode, struct sv thread, struct err *e)
{
    struct mem_store *m = mem_of(s);
    bool              ok = true;
    struct sv         moved;

    (void)thread;
    pthread_mutex_lock(&m->db->lock);
    if (mode == STORE_WRITE)
        ok = become_writer(m);
    if (ok)
        m->seen = tree_hold(m->db->now);
    pthread_mutex_unlock(&m->db->lock);
    if (!ok)
        return stay_busy(m, e);
    m->in = true;
    m->writing = mode == STORE_WRITE;
    if (!tree_get(m->seen, SV("m moved"), &moved))
        moved = SV("");
    store_note_moved(s, moved);
    if (m->writing && store_check_moved(s, e)) {
        finish(m, false);
        return err_code(e);
    }
    return ST_OK;
}

static enum status mem_commit(struct store *s, struct err *e)
{
    (void)e;
    finish(mem_of(s), true);
    return ST_OK;
}

static void mem_abort(struct store *s)
{
    if (mem_of(s)->in)
        finish(mem_of(s), false);
}

/* A part begins with the version there is, and goes back to it when it is undone. */
static enum status mem_part_begin(struct store *s, struct sv thread, struct err *e)
{
    struct mem_store *m = mem_of(s);

    (void)thread;
    (void)e;
    m->before_part = tree_hold(m->seen);
    return ST_OK;
}

static enum status mem_part_end(struct store *s, bool keep, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct store_tree *gone = keep ? m->before_part : m->seen;

    (void)e;
    if (!keep)
        m->seen = m->before_part;
    m->before_part = NULL;
    tree_drop(gone);
    return ST_OK;
}

/* ---- opening ------------------------------------------------------------------------ */

static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mem_db  *named;

static struct mem_db *make_db(struct sv name)
{
    struct mem_db     *db = calloc(1, sizeof *db);
    pthread_condattr_t steady;

    if (!db || !(db->name = strndup(name.n ? name.s : "", name.n)))
        failure_memory(sizeof *db);
    pthread_mutex_init(&db->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&db->freed, &steady);
    pthread_condattr_destroy(&steady);
    return db;
}

/* NULL when there is none of that name and it may not be made. */
static struct mem_db *named_db(struct sv name, bool create)
{
    struct mem_db *db;

    pthread_mutex_lock(&named_lock);
    for (db = named; db && !sv_is(name, db->name); db = db->next)
        ;
    if (!db && create) {
        db = make_db(name);
        db->next = named;
        named = db;
    }
    pthread_mutex_unlock(&named_lock);
    return db;
}

static void mem_close(struct store *s)
{
    struct mem_store *m = mem_of(s);

    if (!m->db->name[0]) {
        tree_drop(m->db->now);
        pthread_mutex_destroy(&m->db->lock);
        pthread_cond_destroy(&m->db->freed);
        free(m->db->name);
        free(m->db);
    }
    arena_free(&m->scratch);
    store_note_moved(s, SV(""));
    free(m);
}

static const struct store_ops mem_ops = {
    .scheme = "mem",
    .close = mem_close,
    .begin = mem_begin,
    .commit = mem_commit,
    .abort = mem_abort,
    .part_begin = mem_part_begin,
    .part_end = mem_part_end,
    .head = mem_head,
    .insert = mem_insert,
    .scan = mem_scan,
    .next = mem_next,
    .scan_close = mem_scan_close,
    .find_op = mem_find_op,
    .chain_at = mem_chain_at,
    .set_mark = mem_set_mark,
    .erase = mem_erase,
    .rechain = mem_rechain,
    .threads = mem_threads,
    .row_get = mem_row_get,
    .row_put = mem_row_put,
    .row_del = mem_row_del,
    .rows = mem_rows,
    .rows_next = mem_rows_next,
    .rows_close = mem_rows_close,
    .rows_clear = mem_rows_clear,
    .set_views = mem_set_views,
    .views = mem_views,
    .version = mem_version,
    .stats = mem_stats,
    .facts = mem_facts,
    .check = mem_check,
    .compact = mem_compact,
    .scrub = mem_scrub,
    .unreached = mem_unreached,
    .drop = mem_drop,
    .sizes = mem_sizes,
    .moved_get = mem_moved_get,
    .moved_set = mem_moved_set,
};

enum status mem_open(struct sv rest, const struct store_options *o, struct store **out,
                     struct err *e)
{
    struct mem_db *db = rest.n ? named_db(rest, o->create) : make_db(rest);

    if (!db)
        return err_set(e, ST_NOT_FOUND, "there is no log at mem:" SV_FMT, SV_ARG(rest));
    struct mem_store *m = calloc(1, sizeof *m);
    if (!m)
        failure_memory(sizeof *m);
    m->base.ops = &mem_ops;
    m->base.past_move = o->past_move;
    m->db = db;
    m->busy_ms = o->busy_ms ? o->busy_ms : STORE_BUSY_MS;
    ARENA_NEW(&m->scratch, char, 1); /* a block that stays, whatever is reset above it */
    *out = (struct store *)m;
    return ST_OK;
}
