/* Content by its hash on PostgreSQL, for machines that do not have it. Each call is a transaction
 * of its own, on a connection other than the one that may be open: content is stored before the
 * entry that names it is committed, and reading it is not part of the transaction on the log. */
#include "store/postgres_internal.h"

#include "base/clock.h"

struct object_asked {
    struct arena *a;
    struct sv     bytes;
    bool          found;
};

static void take_object(void *ctx, struct pg_answer *a)
{
    struct object_asked *x = ctx;

    if (!pg_shape(a, "b"))
        return;
    x->found = a->n == 1;
    if (x->found)
        x->bytes = sv_dup(pg_sv(a, 0, 0), x->a);
}

static enum status ask(struct pg_store *p, enum pg_statement which, const struct pg_params *params,
                       struct object_asked *x, struct err *e)
{
    struct pg_query   q = { -1, p->pool->sql[which] };
    struct pg_link   *link;
    struct pg_failure why;
    int64_t           until_us = clock_steady_us() + (int64_t)p->busy_ms * 1000;

    if (!pg_pool_take(p->pool, until_us, &link, &why))
        return pg_error(p, &why, e);
    pg_send(link, &q, params, x ? take_object : NULL, x);
    pg_sync(link);
    bool fine = pg_collect(link, clock_steady_us() + p->pool->url.statement_ms * 1000, &why);
    pg_pool_give(p->pool, link);
    return fine ? ST_OK : pg_error(p, &why, e);
}

enum status pg_object_put(struct store *s, const struct hash *hash, struct sv bytes, struct err *e)
{
    struct pg_params q = { 0 };

    if (store_check_moved(s, e))
        return err_code(e);
    pg_add_hash(&q, hash);
    pg_add_bytes(&q, bytes.s ? bytes : SV(""));
    return ask(pg_of(s), PG_OBJECT_PUT, &q, NULL, e);
}

enum status pg_object_get(struct store *s, const struct hash *hash, struct arena *a,
                          struct sv *bytes, bool *found, struct err *e)
{
    struct pg_params    q = { 0 };
    struct object_asked x = { .a = a };

    pg_add_hash(&q, hash);
    if (ask(pg_of(s), PG_OBJECT_GET, &q, &x, e))
        return err_code(e);
    *found = x.found;
    if (x.found)
        *bytes = x.bytes;
    return ST_OK;
}

enum status pg_object_drop(struct store *s, const struct hash *hash, struct err *e)
{
    struct pg_params q = { 0 };

    pg_add_hash(&q, hash);
    return ask(pg_of(s), PG_OBJECT_DROP, &q, NULL, e);
}
