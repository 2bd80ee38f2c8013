/* Facts for people about a log on PostgreSQL: where it is, which user connects, how many copies
 * there are, and advice. */
#include "store/postgres_internal.h"

#include <stdarg.h>

struct facts {
    struct arena *a;
    VEC(struct store_fact) list;
};

static void add(struct facts *f, struct sv name, const char *fmt, ...) PRINTF(3, 4);
static void add(struct facts *f, struct sv name, const char *fmt, ...)
{
    struct sb b = sb_in(f->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    *vec_push(&f->list, f->a) = (struct store_fact){ name, sb_sv(&b) };
}

/* ---- facts ----------------------------------------------------------------------- */

/* clang-format off */
/* The answers are pairs of a name and a text; a NULL is left out. */
static const char about[] =
    "SELECT f.name, f.value FROM (VALUES"
    " (1, 'version', 'PostgreSQL ' || current_setting('server_version')),"
    " (2, 'schema version', (SELECT version::text FROM @meta)),"
    " (3, 'database', current_database()::text),"
    " (4, 'user', current_user::text),"
    " (5, 'rights', CASE WHEN pg_catalog.has_table_privilege(current_user, '@entry', 'DELETE') THEN 'owner'"
    "   WHEN pg_catalog.has_table_privilege(current_user, '@entry', 'INSERT') THEN 'append, erase by function'"
    "   WHEN pg_catalog.has_table_privilege(current_user, '@entry', 'SELECT') THEN 'read' ELSE 'none' END),"
    " (6, 'partitions', (SELECT partitions::text FROM @meta)),"
    " (7, 'threads', (SELECT count(*)::text FROM @thread WHERE rev > 0)),"
    " (8, 'entries', (SELECT coalesce(sum(rev), 0)::text FROM @thread)),"
    " (9, 'size', (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::text || ' bytes'"
    "   FROM pg_catalog.pg_class c WHERE c.relkind = 'r' AND c.relnamespace ="
    "   (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass))),"
    " (10, 'workspace', (SELECT workspace FROM @meta)),"
    " (11, 'role', CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END)"
    ") AS f(n, name, value) WHERE f.value IS NOT NULL ORDER BY f.n";

static const char replication[] =
    "SELECT 'replication', CASE WHEN pg_is_in_recovery() THEN 'this is a standby' ELSE"
    " coalesce((SELECT count(*)::text || CASE count(*) WHEN 1 THEN ' standby: ' ELSE ' standbys: ' END ||"
    " string_agg(coalesce(nullif(application_name, ''), 'unnamed') || ' (' || coalesce(sync_state, 'state not shown') || ')', ', '"
    " ORDER BY application_name) FROM pg_catalog.pg_stat_replication HAVING count(*) > 0),"
    " 'none: this server is the only copy, beside backups') END";
/* clang-format on */

static void take_facts(void *ctx, struct pg_answer *a)
{
    struct facts *f = ctx;

    if (!pg_shape(a, "tt"))
        return;
    for (int i = 0; i < a->n; i++)
        *vec_push(&f->list, f->a) =
            (struct store_fact){ sv_dup(pg_sv(a, i, 0), f->a), sv_dup(pg_sv(a, i, 1), f->a) };
}

/* What libpq knows of the connection. */
static enum status add_connection(struct pg_store *p, struct facts *f, struct err *e)
{
    struct pg_failure why;
    const struct pq  *lib = p->pool->lib;

    if (!pg_pool_take(p->pool, 0, &p->link, &why))
        return pg_error(p, &why, e);
    PGconn     *conn = pg_conn(p->link);
    const char *host = lib->PQhost(conn), *port = lib->PQport(conn);
    const char *tls = lib->PQsslInUse(conn) ? lib->PQsslAttribute(conn, "protocol") : NULL;
    add(f, SV("server"), "%s, port %s", host ? host : "", port ? port : "");
    add(f, SV("encrypted"), "%s", tls ? tls : "no");
    add(f, SV("pooler"), "%s", pg_pool_is_pooled(p->pool) ? "transaction" : "none");
    pg_pool_give(p->pool, p->link);
    p->link = NULL;
    return ST_OK;
}

enum status pg_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                     struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct facts     f = { .a = a };

    add(&f, SV("kind"), "postgres");
    add(&f, SV("place"), "%s", p->shown);
    add(&f, SV("schema"), SV_FMT, SV_ARG(p->pool->url.schema));
    if (pg_run_text(p, about, NULL, take_facts, &f, e) ||
        pg_run_text(p, replication, NULL, take_facts, &f, e) || add_connection(p, &f, e))
        return err_code(e);
    *out = f.list.v;
    *n = f.list.n;
    return ST_OK;
}

/* ---- advice ---------------------------------------------------------------------- */

/* clang-format off */
/* Each query returns sentences, or no row when there is no advice. */
static const char *const advices[] = {
    "SELECT format('%s is off on the server: what was acknowledged can be lost when it stops', name)"
    " FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name",
    "SELECT format('synchronous_commit is %s: what was acknowledged can be lost when the server stops', setting)"
    " FROM pg_catalog.pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'",
    "SELECT 'there is one copy of the log: synchronous_standby_names names no standby that a commit waits for'"
    " WHERE NOT pg_is_in_recovery() AND current_setting('synchronous_standby_names') = ''",
    "SELECT 'synchronous_standby_names names standbys, and none is connected: commits wait until one is'"
    " WHERE NOT pg_is_in_recovery() AND current_setting('synchronous_standby_names') <> ''"
    " AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))"
    " AND pg_catalog.pg_has_role(current_user, 'pg_monitor', 'usage')",
    /* 8 is PG_GRANTED */
    "SELECT 'heddle_app and heddle_read have no rights here, because these roles could not be made with the tables:"
    " whoever writes needs to be the owner' FROM @meta WHERE features & 8 = 0",
    "SELECT 'autovacuum is off: rows that were replaced are never cleared away' WHERE current_setting('autovacuum') = 'off'",
    "SELECT 'data checksums are off: a damaged page is not noticed by the server' WHERE current_setting('data_checksums') = 'off'",
    "SELECT format('%s of this log waits for VACUUM FULL by its owner, so that erased content leaves the files: `heddle doctor --fix`',"
    " CASE count(*) WHEN 1 THEN '1 thread' ELSE count(*) || ' threads' END) FROM @scrub HAVING count(*) > 0",
    "SELECT format('a transaction of this database has been open for %s minutes: rows that were replaced cannot be cleared away',"
    " (extract(epoch FROM max(now() - xact_start)) / 60)::bigint) FROM pg_catalog.pg_stat_activity"
    " WHERE datname = current_database() AND state LIKE 'idle in transaction%' HAVING max(now() - xact_start) > interval '10 minutes'",
    "SELECT format('the oldest row of this database is %s transactions old: let VACUUM run before it is 2 billion', age(datfrozenxid))"
    " FROM pg_catalog.pg_database WHERE datname = current_database() AND age(datfrozenxid) > 1000000000",
};
/* clang-format on */

struct telling {
    void (*say)(void *, struct sv);
    void *ctx;
};

static void take_advice(void *ctx, struct pg_answer *a)
{
    struct telling *t = ctx;

    if (!pg_shape(a, "t"))
        return;
    for (int i = 0; i < a->n; i++)
        t->say(t->ctx, pg_sv(a, i, 0));
}

/* Does the URL contain a password, which should be kept elsewhere? */
static bool has_password(const struct pg_store *p)
{
    return sv_find(sv_of(p->shown), SV(":***@")) >= 0 ||
           sv_find(sv_of(p->shown), SV("password=***")) >= 0;
}

enum status pg_advise(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    struct pg_store *p = pg_of(s);
    struct telling   t = { say, ctx };

    if (has_password(p))
        say(ctx,
            SV("the URL of the store holds a password, which other programs of yours can see: put "
               "it into ~/.pgpass"));
    for (size_t i = 0; i < COUNT(advices); i++)
        if (pg_run_text(p, advices[i], NULL, take_advice, &t, e) &&
            sv_is(sv_of(e->reason), "unreachable"))
            return err_code(e);
    return ST_OK; /* a server that only resembles PostgreSQL may not know what was asked for */
}
