/* Taking content out of a log on PostgreSQL.
 *
 * An update or a delete leaves the old version of the row in the file until it is vacuumed, and its
 * bytes in the page until something is written over them. So VACUUM FULL rewrites the partitions
 * that held it, if the database user may do that; the table `scrub` lists the threads that wait for
 * it. What the server has written elsewhere cannot be cleaned from here: store_unreached() names
 * it. */
#include "store/postgres_internal.h"

#include "base/clock.h"

#include <stdio.h>

/* ---- erasing --------------------------------------------------------------------- */

struct erasing {
    struct pg_thread *t;
    struct pg_list    columns[4]; /* seqs, payloads, blobs, contents */
    struct pg_list    blobs[2];   /* hashes, bytes */
    int64_t           n, done;
};

static void take_count(void *ctx, struct pg_answer *a)
{
    int64_t *count = ctx;

    if (pg_shape(a, "i") && a->n == 1)
        *count = pg_int(a, 0, 0);
}

static bool has(struct pg_store *p, enum pg_feature what)
{
    pthread_mutex_lock(&p->pool->lock);
    bool there = p->pool->features & what;
    pthread_mutex_unlock(&p->pool->lock);
    return there;
}

static void build_erase(struct pg_store *p, void *ctx)
{
    struct erasing  *x = ctx;
    struct pg_params blobs = { 0 }, q = { 0 }, words = { 0 }, tid = { 0 };

    x->done = 0;
    pg_add_int(&tid, x->t->tid);
    pg_add_int(&q, x->t->tid);
    pg_add_int(&blobs, x->t->tid);
    pg_add_int(&words, x->t->tid);
    for (size_t i = 0; i < COUNT(x->blobs); i++)
        pg_add_list(&blobs, &x->blobs[i]);
    for (size_t i = 0; i < COUNT(x->columns); i++)
        pg_add_list(&q, &x->columns[i]);
    pg_add_list(&words, &x->columns[0]);
    if (x->blobs[0].n)
        pg_ask(p, PG_BLOBS_ADD, &blobs, NULL, NULL);
    if (has(p, PG_DEFINER)) {
        pg_ask(p, PG_ERASE, &q, take_count, &x->done);
        return;
    }
    pg_ask(p, PG_ERASE_PLAIN, &q, take_count, &x->done);
    pg_ask(p, PG_ERASE_BLOBS, &tid, NULL, NULL);
    pg_ask(p, PG_ERASE_WORDS, &words, NULL, NULL);
}

static void add_erased(struct erasing *x, const struct entry *n)
{
    bool        large = n->skeleton.n >= STORE_BLOB_MIN;
    struct hash hash = large ? hash_blake2b(&n->skeleton, 1) : (struct hash){ 0 };
    struct sv   by = { (const char *)hash.b, HASH_SIZE };

    pg_list_int(&x->columns[0], n->seq);
    pg_list_sv(&x->columns[1], large ? (struct sv){ 0 } : n->skeleton);
    pg_list_sv(&x->columns[2], large ? by : (struct sv){ 0 });
    pg_list_sv(&x->columns[3], (struct sv){ (const char *)n->content.b, HASH_SIZE });
    if (large) {
        pg_list_sv(&x->blobs[0], by);
        pg_list_sv(&x->blobs[1], n->skeleton);
    }
    x->n++;
}

enum status pg_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                     struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct erasing   x = {
          .t = pg_thread_of(p, thread),
          .columns = { pg_list_of(PG_INT_LIST, &p->tx), pg_list_of(PG_TEXT_LIST, &p->tx),
                       pg_list_of(PG_BYTES_LIST, &p->tx), pg_list_of(PG_BYTES_LIST, &p->tx) },
          .blobs = { pg_list_of(PG_BYTES_LIST, &p->tx), pg_list_of(PG_TEXT_LIST, &p->tx) }
    };

    if (pg_know(p, x.t, e) || pg_lock(p, x.t, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!entries[i].erased)
            add_erased(&x, &entries[i]);
    if (!x.n)
        return ST_OK;
    if (pg_run(p, PG_FLUSH, build_erase, &x, e))
        return err_code(e);
    x.t->changed = true;
    pg_tail_drop(x.t);
    pg_sent_once(p);
    x.t->ops = map_in(&p->tx); /* the entries cached with the op_ids are outdated */
    return x.done == x.n
               ? ST_OK
               : err_set(e, ST_NOT_FOUND, "%lld of %lld entries are not there to be erased",
                         (long long)(x.n - x.done), (long long)x.n);
}

/* ---- giving a thread another chain ----------------------------------------------- */

struct rechaining {
    struct pg_thread   *t;
    const struct entry *n;
};

static void build_rechain(struct pg_store *p, void *ctx)
{
    struct rechaining *x = ctx;
    bool               large = x->n->payload.n >= STORE_BLOB_MIN;
    struct hash        hash = large ? hash_blake2b(&x->n->payload, 1) : (struct hash){ 0 };
    struct sv          by = { (const char *)hash.b, HASH_SIZE };
    struct pg_params   blob = { 0 }, q = { 0 };

    pg_add_int(&blob, x->t->tid);
    pg_add_bytes(&blob, by);
    pg_add_text(&blob, x->n->payload);
    if (large)
        pg_ask(p, PG_RECHAIN_BLOB, &blob, NULL, NULL);
    pg_add_int(&q, x->t->tid);
    pg_add_int(&q, x->n->seq);
    pg_add_text(&q, x->n->id);
    pg_add_bytes(&q, (struct sv){ (const char *)x->n->salt, ENTRY_SALT_SIZE });
    pg_add_hash(&q, &x->n->chain);
    pg_add_text(&q, large ? (struct sv){ 0 } : x->n->payload);
    pg_add_bytes(&q, large ? by : (struct sv){ 0 });
    pg_add_int(&q, (int64_t)x->n->payload.n);
    pg_ask(p, PG_RECHAIN, &q, NULL, NULL);
}

enum status pg_rechain(struct store *s, struct sv thread, const struct entry *n, bool last,
                       struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct rechaining x = { pg_thread_of(p, thread), n };

    if (pg_know(p, x.t, e) || pg_lock(p, x.t, e) || pg_run(p, PG_FLUSH, build_rechain, &x, e))
        return err_code(e);
    x.t->changed = true;
    pg_tail_drop(x.t);
    pg_sent_once(p);
    if (last) {
        x.t->head.version = 2;
        x.t->head.chain = x.t->head.recorded_chain = n->chain;
    }
    return ST_OK;
}

/* ---- dropping a thread ----------------------------------------------------------- */

static void build_drop(struct pg_store *p, void *ctx)
{
    struct pg_thread *t = ctx;
    struct pg_params  q = { 0 };

    pg_add_int(&q, t->tid);
    pg_ask(p, PG_DROP, &q, NULL, NULL);
}

enum status pg_drop(struct store *s, struct sv thread, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);

    if (pg_know(p, t, e))
        return err_code(e);
    if (!t->there)
        return ST_OK;
    if (pg_lock_in_group(p, t, e) || pg_run(p, PG_FLUSH, build_drop, t, e))
        return err_code(e);
    pg_thread_gone(p, t);
    pg_sent_once(p);
    return ST_OK;
}

/* ---- the files of the server ----------------------------------------------------- */

/* VACUUM must be sent alone, not in a pipeline. */
static bool vacuum(struct pg_store *p, const char *text, struct pg_failure *why)
{
    struct pg_query q = { -1, text };

    pg_send(p->link, &q, NULL, NULL, NULL);
    pg_sync(p->link);
    return pg_collect(p->link, clock_steady_us() + (int64_t)3600 * 1000000, why);
}

static void take_names(void *ctx, struct pg_answer *a)
{
    struct sv_list *list = ctx;
    struct arena   *arena = (struct arena *)(uintptr_t)list->v;

    if (!pg_shape(a, "t"))
        return;
    struct sv *names = ARENA_NEW(arena, struct sv, (size_t)a->n + 1);
    for (int i = 0; i < a->n; i++)
        names[i] = sv_dup(pg_sv(a, i, 0), arena);
    *list = (struct sv_list){ names, (size_t)a->n };
}

/* Tables, by a query that gives their names as they are written in SQL. */
static enum status names_by(struct pg_store *p, const char *query, struct arena *a,
                            struct sv_list *out, struct err *e)
{
    *out = (struct sv_list){ (const struct sv *)(uintptr_t)a, 0 };
    if (pg_run_text(p, query, NULL, take_names, out, e))
        return err_code(e);
    if (!out->n)
        out->v = NULL;
    return ST_OK;
}

/* Run `how` over each table. A table that the user may not vacuum is passed over by the server,
 * with a warning. */
static enum status vacuum_all(struct pg_store *p, const char *how, struct sv_list names,
                              struct arena *a, bool *refused, struct err *e)
{
    struct pg_failure why = { 0 };
    struct sv         warning;
    bool              fine = true;

    *refused = false;
    if (!names.n)
        return ST_OK;
    if (!pg_pool_take(p->pool, clock_steady_us() + (int64_t)p->busy_ms * 1000, &p->link, &why))
        return pg_error(p, &why, e);
    pg_forget_warning(p->link);
    for (size_t i = 0; fine && i < names.n; i++) {
        struct sb b = sb_in(a, 0);
        sb_addf(&b, "%s " SV_FMT, how, SV_ARG(names.v[i]));
        fine = vacuum(p, sb_sv(&b).s, &why);
    }
    *refused = pg_has_warning(p->link, &warning);
    pg_pool_give(p->pool, p->link);
    p->link = NULL;
    return fine ? ST_OK : pg_error(p, &why, e);
}

#define ELSEWHERE                                                                                  \
    "the server's write-ahead log and its archives, standbys, and blocks that its file system "    \
    "freed"

const char *pg_unreached(const struct store *s, bool *waits)
{
    *waits = ((const struct pg_store *)s)->unscrubbed;
    return *waits
               ? "the files of the tables, until their owner runs `heddle doctor --fix`, " ELSEWHERE
               : ELSEWHERE;
}

enum status pg_scrub_waits(struct store *s, int64_t *threads, struct err *e)
{
    return pg_run_text(pg_of(s), "SELECT count(*) FROM @scrub", NULL, take_count, threads, e);
}

enum status pg_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx, struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct arena     scratch = { 0 };
    struct sv_list   names;
    bool             refused = false;

    (void)removed, (void)ctx;
    enum status st =
        names_by(p,
                 "SELECT c.oid::regclass::text FROM pg_catalog.pg_class c,"
                 " (SELECT count(*) AS n FROM @scrub) s WHERE s.n > 0 AND c.relkind = 'r'"
                 " AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class"
                 " WHERE oid = '@meta'::regclass) ORDER BY 1",
                 &scratch, &names, e);
    if (!st)
        st = vacuum_all(p, "VACUUM FULL", names, &scratch, &refused, e);
    if (!st && names.n && !refused)
        st = pg_run_text(p, "DELETE FROM @scrub", NULL, NULL, NULL, e);
    arena_free(&scratch);
    p->unscrubbed = refused;
    return st;
}

enum status pg_compact(struct store *s, struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct arena     scratch = { 0 };
    struct sv_list   names;
    bool             refused;
    enum status      st = names_by(p,
                                   "SELECT c.oid::regclass::text FROM pg_catalog.pg_class c"
                                        " WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace"
                                        " FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass) ORDER BY 1",
                                   &scratch, &names, e);

    if (!st)
        st = vacuum_all(p, "VACUUM (ANALYZE)", names, &scratch, &refused, e);
    arena_free(&scratch);
    return st;
}
