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
 */
#include "base/clock.h"
#include "base/vec.h"
#include "store/store_internal.h"
#include "store/tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the opens of one name share. */
struct mem_db {
    struct mem_db  *next;
    char           *name; /* "": private */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t  freed;
    struct tree    *now;
    bool            writing;
};

struct mem_store {
    struct store   base;
    struct mem_db *db;
    int            busy_ms;
    bool           in, writing; /* a transaction is open; it writes */
    struct tree   *seen;        /* the version the transaction works on */
    struct arena   scratch;     /* for keys; emptied after each call */
};

static struct mem_store *mem_of(struct store *s)
{
    return (struct mem_store *)s;
}

/* ---- keys and values ---------------------------------------------------------------- */

static void add_counted(struct sb *b, struct sv v)
{
    sb_addc(b, (char)(v.n >> 8 & 0xff));
    sb_addc(b, (char)(v.n & 0xff));
    sb_add(b, v);
}

static void add_seq(struct sb *b, int64_t seq)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        sb_addc(b, (char)((uint64_t)seq >> shift & 0xff));
}

static int64_t seq_at_end(struct sv key)
{
    uint64_t seq = 0;

    for (size_t i = key.n - 8; i < key.n; i++)
        seq = seq << 8 | (unsigned char)key.s[i];
    return (int64_t)seq;
}

static struct sb table_key(char table, struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, table);
    add_counted(&b, thread);
    return b;
}

static struct sv thread_key(struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, 't');
    sb_add(&b, thread);
    return sb_sv(&b);
}

static struct sv key_of_entry(struct sv thread, int64_t seq, struct arena *a)
{
    struct sb b = table_key('e', thread, a);

    add_seq(&b, seq);
    return sb_sv(&b);
}

static struct sv lane_key(struct sv thread, enum entry_mark mark, struct sv lane, int64_t seq,
                          struct arena *a)
{
    struct sb b = table_key('l', thread, a);

    sb_addc(&b, (char)mark);
    add_counted(&b, lane);
    add_seq(&b, seq);
    return sb_sv(&b);
}

static struct sv op_key(struct sv thread, struct sv op_id, struct arena *a)
{
    struct sb b = table_key('o', thread, a);

    sb_add(&b, op_id);
    return sb_sv(&b);
}

static struct sv row_key(struct sv thread, struct sv view, struct sv key, struct arena *a)
{
    struct sb b = table_key('r', thread, a);

    add_counted(&b, view);
    sb_add(&b, key);
    return sb_sv(&b);
}

/* An entry at rest: this, then the bytes of its texts one after another. */
enum { TEXTS = 7, ABSENT = -1 };
struct record {
    int64_t         at;
    enum entry_mark mark;
    int32_t         n[TEXTS]; /* ABSENT: the text is not there */
    struct hash     chain;
    bool            salted, erased;
    unsigned char   salt[ENTRY_SALT_SIZE];
    struct hash     content; /* of an erased entry */
};

static struct sv pack(const struct entry *n, struct arena *a)
{
    bool      no_refs = !n->refs.n || sv_is(n->refs, "{}");
    struct sv texts[TEXTS] = {
        n->kind, n->lane, n->actor, n->id, n->payload, n->op_id, no_refs ? SV("{}") : n->refs
    };
    struct record r = {
        .at = n->at, .mark = n->mark, .chain = n->chain, .salted = n->salted, .erased = n->erased
    };
    struct sb b = sb_in(a, 0);

    if (n->salted)
        memcpy(r.salt, n->salt, sizeof r.salt);
    if (n->erased)
        r.content = n->content;
    for (int i = 0; i < TEXTS; i++)
        r.n[i] = texts[i].s ? (int32_t)texts[i].n : ABSENT;
    sb_add(&b, (struct sv){ (const char *)&r, sizeof r });
    for (int i = 0; i < TEXTS; i++)
        sb_add(&b, texts[i]);
    return sb_sv(&b);
}

static struct entry unpack(struct sv value, int64_t seq)
{
    struct entry n = { .seq = seq };
    struct sv *texts[TEXTS] = { &n.kind, &n.lane, &n.actor, &n.id, &n.payload, &n.op_id, &n.refs };
    struct record r;
    const char   *at = value.s + sizeof r;

    memcpy(&r, value.s, sizeof r);
    for (int i = 0; i < TEXTS; i++) {
        if (r.n[i] == ABSENT)
            continue;
        *texts[i] = (struct sv){ at, (size_t)r.n[i] };
        at += r.n[i];
    }
    n.at = r.at;
    n.mark = r.mark;
    n.chain = r.chain;
    n.salted = r.salted;
    n.erased = r.erased;
    n.content = r.content;
    memcpy(n.salt, r.salt, sizeof n.salt);
    return n;
}

/* ---- transactions ------------------------------------------------------------------- */

/* The version a call reads: that of the transaction, else the newest. Held for the caller. */
static struct tree *look(struct mem_store *m)
{
    if (m->in)
        return tree_hold(m->seen);
    pthread_mutex_lock(&m->db->lock);
    struct tree *t = tree_hold(m->db->now);
    pthread_mutex_unlock(&m->db->lock);
    return t;
}

static struct arena_mark scratch_mark(struct mem_store *m)
{
    return arena_mark(&m->scratch);
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

static enum status mem_begin(struct store *s, enum store_mode mode, struct err *e)
{
    struct mem_store *m = mem_of(s);
    bool              ok = true;

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
    return ST_OK;
}

/* The transaction's version becomes the newest when `keep`, and is let go otherwise. */
static void finish(struct mem_store *m, bool keep)
{
    struct tree *gone = m->seen;

    if (m->writing) {
        pthread_mutex_lock(&m->db->lock);
        if (keep) {
            gone = m->db->now;
            m->db->now = m->seen;
        }
        m->db->writing = false;
        pthread_cond_signal(&m->db->freed);
        pthread_mutex_unlock(&m->db->lock);
    }
    tree_drop(gone);
    m->seen = NULL;
    m->in = m->writing = false;
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

/* ---- ranges ------------------------------------------------------------------------- */

/* Items with low <= key <= high (high_open: key < high) of a version, either way. */
struct range {
    struct tree *in;
    struct sv    low, high, last;
    bool         high_open, backwards, started;
};

static bool range_next(struct range *r, struct tree_item *out)
{
    bool there;

    if (r->backwards)
        there = tree_at_most(r->in, r->started ? r->last : r->high, !r->started && !r->high_open,
                             out) &&
                sv_cmp(out->key, r->low) >= 0;
    else
        there = tree_at_least(r->in, r->started ? r->last : r->low, !r->started, out) &&
                sv_cmp(out->key, r->high) < !r->high_open;
    r->started = true;
    if (there)
        r->last = out->key;
    else
        r->in = NULL; /* nothing comes any more */
    return there;
}

static struct range range_of_prefix(struct tree *t, struct sv prefix, struct arena *a)
{
    return (struct range){
        .in = t, .low = prefix, .high = store_prefix_end(prefix, a), .high_open = true
    };
}

static int64_t count_prefix(struct tree *t, char table)
{
    struct arena     a = { 0 };
    struct range     r = range_of_prefix(t, (struct sv){ &table, 1 }, &a);
    struct tree_item item;
    int64_t          n = 0;

    while (range_next(&r, &item))
        n++;
    arena_free(&a);
    return n;
}

/* ---- the log ------------------------------------------------------------------------ */

static bool read_head(struct tree *t, struct sv thread, struct arena *a, struct store_head *out)
{
    struct sv value;

    *out = (struct store_head){ 0 };
    if (!tree_get(t, thread_key(thread, a), &value))
        return false;
    memcpy(out, value.s, sizeof *out);
    return true;
}

static void write_head(struct mem_store *m, struct sv thread, const struct store_head *h)
{
    tree_put(&m->seen, thread_key(thread, &m->scratch), (struct sv){ (const char *)h, sizeof *h });
}

static enum status mem_head(struct store *s, struct sv thread, struct store_head *out,
                            struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct tree      *t = look(m);

    (void)e;
    read_head(t, thread, &m->scratch, out);
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status insert_one(struct mem_store *m, struct sv thread, const struct entry *n,
                              struct err *e)
{
    struct arena *a = &m->scratch;
    struct sv     taken;

    if (n->op_id.s) {
        struct sv key = op_key(thread, n->op_id, a);
        if (tree_get(m->seen, key, &taken)) {
            err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' is taken in this thread", SV_ARG(n->op_id));
            return err_reason(e, "op_id");
        }
        tree_put(&m->seen, key, (struct sv){ (const char *)&n->seq, sizeof n->seq });
    }
    if (n->mark != MARK_NONE && n->lane.s)
        tree_put(&m->seen, lane_key(thread, n->mark, n->lane, n->seq, a), SV(""));
    tree_put(&m->seen, key_of_entry(thread, n->seq, a), pack(n, a));
    return ST_OK;
}

static enum status mem_insert(struct store *s, struct sv thread, int64_t rev,
                              const struct entry *entries, size_t n, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct store_head h;
    struct arena_mark mark = scratch_mark(m);

    read_head(m->seen, thread, &m->scratch, &h);
    if (rev == 0) {
        h.created = entries[0].at;
        h.version = entry_version(&entries[0]);
    }
    h.rev = rev + (int64_t)n;
    h.updated = entries[n - 1].at;
    h.chain = entries[n - 1].chain;
    h.recorded_rev = h.rev;
    h.recorded_chain = h.chain;
    write_head(m, thread, &h);
    for (size_t i = 0; i < n; i++) {
        enum status st = insert_one(m, thread, &entries[i], e);
        arena_reset(&m->scratch, mark);
        if (st)
            return st;
    }
    return ST_OK;
}

struct mem_scan {
    struct store_scan base;
    struct tree      *held;
    struct arena      a;
    struct sv         thread;
    bool              by_lane;
    struct range      range;
};

static enum status mem_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                            struct err *e)
{
    struct mem_scan *scan = calloc(1, sizeof *scan);
    int64_t          from = q->from < 0 ? 0 : q->from;

    (void)e;
    if (!scan)
        die("out of memory");
    scan->held = look(mem_of(s));
    scan->thread = sv_dup(q->thread, &scan->a);
    scan->by_lane = q->lane.s != NULL;
    if (from <= q->to)
        scan->range = (struct range){
            .in = scan->held,
            .low = scan->by_lane ? lane_key(q->thread, q->mark, q->lane, from, &scan->a)
                                 : key_of_entry(q->thread, from, &scan->a),
            .high = scan->by_lane ? lane_key(q->thread, q->mark, q->lane, q->to, &scan->a)
                                  : key_of_entry(q->thread, q->to, &scan->a),
            .backwards = q->backwards,
        };
    *out = (struct store_scan *)scan;
    return ST_OK;
}

static enum status mem_next(struct store_scan *base, struct entry *out, bool *more, struct err *e)
{
    struct mem_scan  *scan = (struct mem_scan *)base;
    struct tree_item  item;
    struct arena_mark mark = arena_mark(&scan->a);

    (void)e;
    *more = range_next(&scan->range, &item);
    if (!*more)
        return ST_OK;
    int64_t seq = seq_at_end(item.key);
    if (scan->by_lane) {
        *more = tree_get(scan->held, key_of_entry(scan->thread, seq, &scan->a), &item.value);
        arena_reset(&scan->a, mark);
    }
    *out = unpack(item.value, seq);
    return ST_OK;
}

static void mem_scan_close(struct store_scan *base)
{
    struct mem_scan *scan = (struct mem_scan *)base;

    tree_drop(scan->held);
    arena_free(&scan->a);
    free(scan);
}

static enum status mem_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                               struct entry *out, bool *found, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct tree      *t = look(m);
    struct sv         value;
    int64_t           seq;

    (void)e;
    *found = tree_get(t, op_key(thread, op_id, &m->scratch), &value);
    if (*found) {
        memcpy(&seq, value.s, sizeof seq);
        tree_get(t, key_of_entry(thread, seq, &m->scratch), &value);
        struct entry n = unpack(value, seq);
        *out = entry_dup(&n, a);
    }
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status mem_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                                bool *found, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct tree      *t = look(m);
    struct sv         value;

    (void)e;
    *found = tree_get(t, key_of_entry(thread, seq, &m->scratch), &value);
    if (*found)
        *out = unpack(value, seq).chain;
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status mem_set_mark(struct store *s, struct sv thread, int64_t seq,
                                enum entry_mark want, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena     *a = &m->scratch;
    struct arena_mark mark = scratch_mark(m);
    struct sv         key = key_of_entry(thread, seq, a), value;

    if (!tree_get(m->seen, key, &value)) {
        arena_reset(a, mark);
        return err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)seq);
    }
    value = sv_dup(value, a); /* the pair it lies in goes when it is put again */
    struct entry n = unpack(value, seq);
    if (n.lane.s && n.mark != MARK_NONE)
        tree_del(&m->seen, lane_key(thread, n.mark, n.lane, seq, a));
    n.mark = want;
    if (n.lane.s && n.mark != MARK_NONE)
        tree_put(&m->seen, lane_key(thread, n.mark, n.lane, seq, a), SV(""));
    tree_put(&m->seen, key, pack(&n, a));
    arena_reset(a, mark);
    return ST_OK;
}

/* Another value for an entry that is there; its keys in the indexes stay. */
static enum status put_again(struct mem_store *m, struct sv thread, const struct entry *n,
                             void (*change)(struct entry *was, const struct entry *n),
                             struct err *e)
{
    struct arena     *a = &m->scratch;
    struct arena_mark mark = scratch_mark(m);
    struct sv         key = key_of_entry(thread, n->seq, a), value;
    bool              found = tree_get(m->seen, key, &value);

    if (found) {
        value = sv_dup(value, a); /* the pair it lies in goes when it is put again */
        struct entry was = unpack(value, n->seq);
        change(&was, n);
        tree_put(&m->seen, key, pack(&was, a));
    }
    arena_reset(a, mark);
    return found ? ST_OK : err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)n->seq);
}

static void leave_skeleton(struct entry *was, const struct entry *n)
{
    was->payload = n->skeleton;
    was->refs = SV("{}");
    was->salted = false;
    memset(was->salt, 0, sizeof was->salt);
    was->erased = true;
    was->content = n->content;
}

static enum status mem_erase(struct store *s, struct sv thread, const struct entry *entries,
                             size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!entries[i].erased && put_again(mem_of(s), thread, &entries[i], leave_skeleton, e))
            return err_code(e);
    return ST_OK;
}

static void take_chain(struct entry *was, const struct entry *n)
{
    was->id = n->id;
    was->payload = n->payload;
    was->salted = true;
    memcpy(was->salt, n->salt, sizeof was->salt);
    was->chain = n->chain;
}

static enum status mem_rechain(struct store *s, struct sv thread, const struct entry *n, bool last,
                               struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct store_head h;
    struct arena_mark mark = scratch_mark(m);

    if (put_again(m, thread, n, take_chain, e))
        return err_code(e);
    if (!last)
        return ST_OK;
    read_head(m->seen, thread, &m->scratch, &h);
    h.version = 2;
    h.chain = h.recorded_chain = n->chain;
    write_head(m, thread, &h);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status mem_threads(struct store *s, struct arena *a, struct store_thread **out,
                               size_t *n, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct tree      *t = look(m);
    struct range      r = range_of_prefix(t, SV("t"), a);
    struct tree_item  item;
    VEC(struct store_thread) list = { 0 };

    (void)e;
    while (range_next(&r, &item)) {
        struct store_thread *one = vec_push(&list, a);
        one->id = sv_dup(sv_skip(item.key, 1), a);
        memcpy(&one->head, item.value.s, sizeof one->head);
    }
    tree_drop(t);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* ---- rows --------------------------------------------------------------------------- */

static enum status mem_row_get(struct store *s, const struct store_key *k, struct arena *a,
                               struct sv *value, bool *found, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct tree      *t = look(m);
    struct sv         there;

    (void)e;
    *found = tree_get(t, row_key(k->thread, k->view, k->key, &m->scratch), &there);
    if (*found)
        *value = sv_dup(there, a);
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status mem_row_put(struct store *s, const struct store_key *k, struct sv value,
                               struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct store_head h;
    bool              there = read_head(m->seen, k->thread, &m->scratch, &h);

    if (there)
        tree_put(&m->seen, row_key(k->thread, k->view, k->key, &m->scratch), value);
    arena_reset(&m->scratch, mark);
    if (!there)
        return err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(k->thread));
    return ST_OK;
}

static enum status mem_row_del(struct store *s, const struct store_key *k, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);

    (void)e;
    tree_del(&m->seen, row_key(k->thread, k->view, k->key, &m->scratch));
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

struct mem_rows {
    struct store_rows base;
    struct tree      *held;
    struct arena      a;
    size_t            skip; /* bytes of table, thread and view in front of each key */
    struct range      range;
};

static enum status mem_rows(struct store *s, const struct store_row_query *q,
                            struct store_rows **out, struct err *e)
{
    struct mem_rows *rows = calloc(1, sizeof *rows);

    (void)e;
    if (!rows)
        die("out of memory");
    rows->held = look(mem_of(s));
    rows->skip = row_key(q->thread, q->view, SV(""), &rows->a).n;
    struct range r =
        range_of_prefix(rows->held, row_key(q->thread, q->view, q->prefix, &rows->a), &rows->a);
    struct sv after = row_key(q->thread, q->view, q->after, &rows->a);
    r.backwards = q->backwards;
    if (q->after.s && q->backwards && sv_cmp(after, r.high) < 0) {
        r.high = after;
        r.high_open = false;
    } else if (q->after.s && !q->backwards && sv_cmp(after, r.low) > 0) {
        r.low = after;
    }
    rows->range = r;
    *out = (struct store_rows *)rows;
    return ST_OK;
}

static enum status mem_rows_next(struct store_rows *base, struct store_row *out, bool *more,
                                 struct err *e)
{
    struct mem_rows *rows = (struct mem_rows *)base;
    struct tree_item item;

    (void)e;
    *more = range_next(&rows->range, &item);
    if (*more)
        *out = (struct store_row){ sv_skip(item.key, rows->skip), item.value };
    return ST_OK;
}

static void mem_rows_close(struct store_rows *base)
{
    struct mem_rows *rows = (struct mem_rows *)base;

    tree_drop(rows->held);
    arena_free(&rows->a);
    free(rows);
}

static enum status mem_rows_clear(struct store *s, struct sv thread, struct sv view, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct tree      *before = tree_hold(m->seen);
    struct range      r =
        range_of_prefix(before, row_key(thread, view, SV(""), &m->scratch), &m->scratch);
    struct tree_item item;

    (void)e;
    while (range_next(&r, &item))
        tree_del(&m->seen, item.key);
    tree_drop(before);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status mem_set_views(struct store *s, struct sv thread, int64_t views, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena_mark mark = scratch_mark(m);
    struct store_head h;

    (void)e;
    if (read_head(m->seen, thread, &m->scratch, &h)) {
        h.views = views;
        write_head(m, thread, &h);
    }
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

/* ---- care --------------------------------------------------------------------------- */

static enum status mem_stats(struct store *s, struct store_stats *out, struct err *e)
{
    struct tree *t = look(mem_of(s));

    (void)e;
    *out = (struct store_stats){ .threads = count_prefix(t, 't'),
                                 .entries = count_prefix(t, 'e'),
                                 .rows = count_prefix(t, 'r') };
    tree_drop(t);
    return ST_OK;
}

static enum status mem_check(struct store *s, void (*say)(void *, struct sv), void *ctx,
                             struct err *e)
{
    (void)s, (void)say, (void)ctx, (void)e;
    return ST_OK; /* there is no file that could be damaged */
}

static enum status mem_compact(struct store *s, struct err *e)
{
    (void)s, (void)e;
    return ST_OK; /* what nobody holds is free already */
}

static enum status mem_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                             struct err *e)
{
    (void)s, (void)removed, (void)ctx, (void)e;
    return ST_OK; /* there is no file */
}

/* ---- opening ------------------------------------------------------------------------ */

static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mem_db  *named;

static struct mem_db *make_db(struct sv name)
{
    struct mem_db     *db = calloc(1, sizeof *db);
    pthread_condattr_t steady;

    if (!db || !(db->name = strndup(name.n ? name.s : "", name.n)))
        die("out of memory");
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
    free(m);
}

static const struct store_ops mem_ops = {
    .scheme = "mem",
    .close = mem_close,
    .begin = mem_begin,
    .commit = mem_commit,
    .abort = mem_abort,
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
    .stats = mem_stats,
    .check = mem_check,
    .compact = mem_compact,
    .scrub = mem_scrub,
};

enum status mem_open(struct sv rest, const struct store_options *o, struct store **out,
                     struct err *e)
{
    struct mem_db *db = rest.n ? named_db(rest, o->create) : make_db(rest);

    if (!db)
        return err_set(e, ST_NOT_FOUND, "there is no log at mem:" SV_FMT, SV_ARG(rest));
    struct mem_store *m = calloc(1, sizeof *m);
    if (!m)
        die("out of memory");
    m->base.ops = &mem_ops;
    m->db = db;
    m->busy_ms = o->busy_ms ? o->busy_ms : STORE_BUSY_MS;
    ARENA_NEW(&m->scratch, char, 1); /* a block that stays, whatever is reset above it */
    *out = (struct store *)m;
    return ST_OK;
}
