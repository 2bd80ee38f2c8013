/* Tables on PostgreSQL and their history. docs/FORMATS.md explains them.
 *
 * A migration is one transaction under a lock, so that of several processes that start at once one
 * makes the tables and the others find them made. Only tables, row locks and ON CONFLICT are
 * required. Each further step is tried in a savepoint and noted in meta.features when it worked,
 * because engines that only speak PostgreSQL's protocol may lack the feature. */
#include "store/postgres_internal.h"

#include "base/clock.h"

#include <stdio.h>

/* ---- is it there ----------------------------------------------------------------- */

static void take_meta(void *ctx, struct pg_answer *a)
{
    struct pg_store *p = ctx;

    if (!pg_shape(a, "iititti"))
        return;
    p->meta.there = a->n == 1;
    p->meta.version = pg_int(a, 0, 0);
    p->meta.partitions = pg_int(a, 0, 1);
    struct sv id = pg_sv(a, 0, 2);
    snprintf(p->meta.workspace, sizeof p->meta.workspace, SV_FMT, SV_ARG(id));
    p->meta.clock_ms = pg_int(a, 0, 3);
    p->meta.alone = sv_is(pg_sv(a, 0, 4), "force_generic_plan");
    p->meta.utf8 = sv_is(pg_sv(a, 0, 5), "UTF8");
    p->meta.features = pg_int(a, 0, 6);
}

void pg_schema_ask(struct pg_store *p)
{
    p->meta.there = false;
    pg_ask(p, PG_META, NULL, take_meta, p);
    pg_sync(p->link);
}

static enum status refuse_version(struct pg_store *p, struct err *e)
{
    err_set(e, ST_IO, "%s has schema %lld; this heddle knows up to %d", p->shown,
            (long long)p->meta.version, POSTGRES_SCHEMA_VERSION);
    return err_hint(e, "use the newer heddle that made it");
}

static enum status refuse_workspace(struct pg_store *p, struct err *e)
{
    err_set(e, ST_CONFLICT, "%s holds the log of another workspace, %s", p->shown,
            p->meta.workspace);
    err_reason(e, "workspace");
    return err_hint(e, "leave `schema` out of the URL, so that each workspace has its own");
}

enum status pg_schema_judge(struct pg_store *p, struct err *e)
{
    struct pg_pool *pool = p->pool;

    if (!p->meta.there)
        return err_set(e, ST_CORRUPT, "%s: its table meta is empty", p->shown);
    if (!p->meta.utf8) {
        err_set(e, ST_IO, "%s: the encoding of the database is not UTF8", p->shown);
        return err_hint(e, "make it with `createdb -E UTF8 -T template0`");
    }
    if (p->meta.version > POSTGRES_SCHEMA_VERSION)
        return refuse_version(p, e);
    if (p->workspace[0] && p->meta.workspace[0] && !sv_is(sv_of(p->workspace), p->meta.workspace))
        return refuse_workspace(p, e);
    pthread_mutex_lock(&pool->lock);
    pool->checked = true;
    pool->pooled = pool->pooled || !p->meta.alone;
    pool->partitions = p->meta.partitions;
    pool->features = p->meta.features;
    pool->clock_ahead = p->meta.clock_ms - clock_system_ms();
    pthread_mutex_unlock(&pool->lock);
    return ST_OK;
}

/* ---- the tables ------------------------------------------------------------------ */

/* A table that is cut into parts by thread, where the server can do that. `%` in the definition is
 * not used, `@` is the schema. */
struct schema_table {
    const char *name, *columns, *key;
    int fill; /* fill factor in percent: leaves space in the pages for new versions of rows */
};

/* clang-format off */
static const char *const first_statements[] = {
    "CREATE TABLE @meta(version integer NOT NULL, partitions integer NOT NULL, workspace text,"
    " features bigint NOT NULL DEFAULT 0, made_by text NOT NULL)",
    "CREATE TABLE @thread(tid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " id text COLLATE \"C\" NOT NULL UNIQUE, rev bigint NOT NULL DEFAULT 0,"
    " gen bigint NOT NULL DEFAULT 0, chain bytea, created bigint NOT NULL DEFAULT 0,"
    " updated bigint NOT NULL DEFAULT 0, views bigint NOT NULL DEFAULT 0,"
    " version bigint NOT NULL DEFAULT 1)",
    "CREATE TABLE @hint(tid bigint PRIMARY KEY, views text[] NOT NULL, keys bytea[] NOT NULL)",
    "CREATE TABLE @object(hash bytea PRIMARY KEY, bytes bytea NOT NULL)",
    /* Threads of which something was erased and is still in the files of the server. */
    "CREATE TABLE @scrub(tid bigint PRIMARY KEY)",
};

static const struct schema_table tables[] = {
    { "entry", "tid bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, mark smallint NOT NULL,"
               " kind text NOT NULL, lane text COLLATE \"C\", actor text, id text,"
               " op text COLLATE \"C\", refs text, chain bytea NOT NULL, payload text, blob bytea,"
               " salt bytea, content bytea, size bigint NOT NULL",
      "tid, seq", 95 },
    { "blob", "tid bigint NOT NULL, hash bytea NOT NULL, bytes text NOT NULL", "tid, hash", 100 },
    { "row", "tid bigint NOT NULL, view text COLLATE \"C\" NOT NULL, key bytea NOT NULL,"
             " value bytea NOT NULL", "tid, view, key", 70 },
    { "word", "tid bigint NOT NULL, seq bigint NOT NULL, body text NOT NULL", "tid, seq", 100 },
};

static const char *const index_statements[] = {
    "CREATE INDEX entry_message ON @entry(tid, lane, seq) WHERE mark = 1",
    "CREATE INDEX entry_anchor ON @entry(tid, lane, seq) WHERE mark = 2",
    "CREATE UNIQUE INDEX entry_op ON @entry(tid, op) WHERE op IS NOT NULL",
    "CREATE INDEX entry_blob ON @entry(tid, blob) WHERE blob IS NOT NULL",
};

/* A user who may append may erase only through this function, which runs with the rights of the
 * owner. It changes only entries that can be erased, and never their chain values. */
static const char erase_function[] =
    "CREATE FUNCTION @erase(of_tid bigint, of_seqs bigint[], payloads text[], blobs bytea[],"
    " contents bytea[]) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER"
    " SET search_path = pg_catalog, pg_temp AS $erase$ DECLARE n bigint; old bytea[]; BEGIN"
    " SELECT array_agg(DISTINCT blob) INTO old FROM @entry WHERE tid = of_tid AND seq = ANY(of_seqs)"
    " AND blob IS NOT NULL;"
    " UPDATE @entry e SET payload = x.payload, blob = x.blob, content = x.content, refs = NULL,"
    " salt = NULL, size = coalesce(octet_length(x.payload), 0)"
    " FROM unnest(of_seqs, payloads, blobs, contents) AS x(seq, payload, blob, content)"
    " WHERE e.tid = of_tid AND e.seq = x.seq AND e.salt IS NOT NULL AND e.content IS NULL;"
    " GET DIAGNOSTICS n = ROW_COUNT;"
    " DELETE FROM @blob b WHERE b.tid = of_tid AND b.hash = ANY(old)"
    " AND NOT EXISTS (SELECT FROM @entry e WHERE e.tid = of_tid AND e.blob = b.hash);"
    " DELETE FROM @word WHERE tid = of_tid AND seq = ANY(of_seqs);"
    " INSERT INTO @scrub(tid) VALUES(of_tid) ON CONFLICT DO NOTHING;"
    " RETURN n; END $erase$";

static const char *const grant_statements[] = {
    "GRANT USAGE ON SCHEMA ! TO heddle_app, heddle_read",
    "GRANT SELECT ON ALL TABLES IN SCHEMA ! TO heddle_app, heddle_read",
    "GRANT INSERT ON @thread, @entry, @blob, @row, @word, @hint, @object TO heddle_app",
    "GRANT UPDATE (rev, gen, chain, created, updated, views, version) ON @thread TO heddle_app",
    "GRANT UPDATE (mark) ON @entry TO heddle_app",
    "GRANT UPDATE, DELETE ON @row, @word, @hint TO heddle_app",
    "GRANT DELETE ON @object TO heddle_app",
    "REVOKE ALL ON FUNCTION @erase FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION @erase TO heddle_app",
};

/* Optional: these improve speed and may fail. */
static const char *const tuning_statements[] = {
    "ALTER TABLE @thread SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)",
    "ALTER TABLE @hint SET (fillfactor = 50)",
    "ALTER TABLE @entry ALTER payload SET COMPRESSION lz4",
    "ALTER TABLE @blob ALTER bytes SET COMPRESSION lz4",
    "ALTER TABLE @object ALTER bytes SET COMPRESSION lz4",
};
/* clang-format on */

/* ---- running statements that have no parameters ---------------------------------- */

struct schema_making {
    struct pg_store  *p;
    struct arena     *a;
    struct pg_failure why;
    int64_t           deadline_us, features, partitions;
};

/* @ and ! are the schema, with and without a full stop behind it. */
static const char *in_schema(struct schema_making *m, const char *text)
{
    struct sb b = sb_in(m->a, 0);

    for (const char *p = pg_sql_in(m->p->pool->url.schema, text, m->a); *p; p++)
        if (*p == '!')
            sb_add_identifier(&b, m->p->pool->url.schema);
        else
            sb_addc(&b, *p);
    return sb_sv(&b).s;
}

static void send(struct schema_making *m, const char *text)
{
    struct pg_query q = { -1, in_schema(m, text) };

    pg_send(m->p->link, &q, NULL, NULL, NULL);
}

static bool collect(struct schema_making *m)
{
    pg_sync(m->p->link);
    return pg_collect(m->p->link, m->deadline_us, &m->why);
}

static void send_all(struct schema_making *m, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        send(m, list[i]);
}

/* Statements that may fail without failing the migration. True when they worked. */
static bool try_all(struct schema_making *m, const char *const *list, size_t n)
{
    send(m, "SAVEPOINT attempt");
    send_all(m, list, n);
    if (collect(m))
        return true;
    send(m, "ROLLBACK TO attempt");
    (void)!collect(m);
    return false;
}

/* ---- making ---------------------------------------------------------------------- */

static void send_part(struct schema_making *m, const struct schema_table *t, int64_t i)
{
    char text[200];

    snprintf(
        text, sizeof text,
        "CREATE TABLE @%s_p%lld PARTITION OF @%s FOR VALUES WITH (MODULUS %lld, REMAINDER %lld)"
        " WITH (fillfactor = %d)",
        t->name, (long long)i, t->name, (long long)m->partitions, (long long)i, t->fill);
    send(m, text);
}

static void send_table(struct schema_making *m, const struct schema_table *t)
{
    struct sb b = sb_in(m->a, 0);

    sb_addf(&b, "CREATE TABLE @%s(%s, PRIMARY KEY(%s))", t->name, t->columns, t->key);
    if (m->partitions)
        sb_adds(&b, " PARTITION BY HASH (tid)");
    else
        sb_addf(&b, " WITH (fillfactor = %d)", t->fill);
    send(m, sb_sv(&b).s);
    for (int64_t i = 0; i < m->partitions; i++)
        send_part(m, t, i);
}

static bool make_tables(struct schema_making *m)
{
    send(m, "SAVEPOINT attempt");
    for (size_t i = 0; i < COUNT(tables); i++)
        send_table(m, &tables[i]);
    if (collect(m))
        return true;
    if (!m->partitions || m->why.lost)
        return false;
    send(m, "ROLLBACK TO attempt");
    if (!collect(m))
        return false;
    m->partitions = 0; /* a server that cannot cut tables into parts */
    return make_tables(m);
}

/* Roles belong to the whole server: they may exist because of another log, or the user may not
 * create any. */
static bool make_roles(struct schema_making *m)
{
    static const char *const app[] = { "CREATE ROLE heddle_app NOLOGIN" };
    static const char *const reader[] = { "CREATE ROLE heddle_read NOLOGIN" };

    try_all(m, app, 1);
    try_all(m, reader, 1);
    return !m->why.lost && try_all(m, grant_statements, COUNT(grant_statements));
}

static void make_options(struct schema_making *m)
{
    static const char *const words[] = { "CREATE INDEX word_body ON @word USING gin"
                                         " ((string_to_array(body, ' ') || ('#' || tid::text)))" };
    static const char *const definer[] = { erase_function };

    m->features |= m->partitions ? PG_PARTITIONED : 0;
    m->features |= try_all(m, words, 1) ? PG_WORD_INDEX : 0;
    m->features |= try_all(m, definer, 1) ? PG_DEFINER : 0;
    m->features |= make_roles(m) ? PG_GRANTED : 0;
    for (size_t i = 0; i < COUNT(tuning_statements) && !m->why.lost; i++)
        try_all(m, &tuning_statements[i], 1);
}

static void send_meta(struct schema_making *m)
{
    struct pg_params q = { 0 };
    struct pg_query  insert = { -1, in_schema(m, "INSERT INTO @meta(version, partitions, workspace,"
                                                  " features, made_by) VALUES($1, $2, $3, $4, $5)") };

    pg_add_int(&q, POSTGRES_SCHEMA_VERSION);
    pg_add_int(&q, m->partitions);
    pg_add_text(&q, m->p->workspace[0] ? sv_of(m->p->workspace) : (struct sv){ 0 });
    pg_add_int(&q, m->features);
    pg_add_text(&q, SV("heddle " HEDDLE_VERSION));
    pg_send(m->p->link, &insert, &q, NULL, NULL);
}

static void take_exists(void *ctx, struct pg_answer *a)
{
    int64_t *tables_there = ctx;

    *tables_there = pg_shape(a, "ii") && a->n == 1 ? pg_int(a, 0, 0) * 2 + pg_int(a, 0, 1) : 0;
}

/* 2: there is a schema of this name; 3: with our tables. The lock is held to the end. */
static bool look(struct schema_making *m, int64_t *there)
{
    static const struct pg_query lock = {
        -1, "SELECT pg_catalog.pg_advisory_xact_lock(1751409772, pg_catalog.hashtext($1))"
    };
    static const struct pg_query exists = {
        -1, "SELECT (SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1),"
            " (SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
            " ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta')"
    };
    struct pg_params name = { 0 };

    pg_add_text(&name, m->p->pool->url.schema);
    send(m, "BEGIN ISOLATION LEVEL READ COMMITTED");
    send(m, "SET LOCAL lock_timeout = 60000");
    pg_send(m->p->link, &lock, &name, NULL, NULL);
    pg_send(m->p->link, &exists, &name, take_exists, there);
    return collect(m);
}

static enum status make_all(struct schema_making *m, int64_t there, struct err *e)
{
    if (there < 2)
        send(m, "CREATE SCHEMA !");
    send_all(m, first_statements, COUNT(first_statements));
    if (!collect(m) || !make_tables(m))
        return pg_error(m->p, &m->why, e);
    send_all(m, index_statements, COUNT(index_statements));
    if (!collect(m))
        return pg_error(m->p, &m->why, e);
    make_options(m);
    send_meta(m);
    send(m, "INSERT INTO @row(tid, view, key, value) VALUES(0, 'moved', '\\x746f', '')");
    send(m, "COMMIT");
    if (!collect(m))
        return pg_error(m->p, &m->why, e);
    m->p->base.is_new = true;
    return ST_OK;
}

static enum status no_log(struct pg_store *p, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "there is no log at %s", p->shown);
    return err_hint(e, "`heddle init` makes one here; --root names another workspace");
}

/* *lost: the connection broke off, so that another attempt finds out how far this one came. */
static enum status make_once(struct pg_store *p, bool *lost, struct err *e)
{
    struct arena         scratch = { 0 };
    struct schema_making m = { .p = p,
                               .a = &scratch,
                               .partitions = p->pool->url.partitions,
                               .deadline_us = clock_steady_us() + (int64_t)120 * 1000000 };
    int64_t              there = 0;
    enum status          s = ST_OK;

    *lost = false;
    if (!pg_pool_take(p->pool, clock_steady_us() + (int64_t)p->busy_ms * 1000, &p->link, &m.why))
        return pg_error(p, &m.why, e);
    if (!look(&m, &there))
        s = pg_error(p, &m.why, e);
    else if (there < 3)
        s = make_all(&m, there, e);
    *lost = pg_is_lost(p->link);
    if (!*lost) {
        send(&m, "ROLLBACK"); /* has no effect after a commit */
        (void)!collect(&m);
    }
    pg_pool_give(p->pool, p->link);
    p->link = NULL;
    arena_free(&scratch);
    return s;
}

enum status pg_schema_make(struct pg_store *p, struct err *e)
{
    int64_t     until_us = clock_steady_us() + (int64_t)p->busy_ms * 1000;
    bool        lost;
    enum status s;

    if (!p->create)
        return no_log(p, e);
    do
        s = make_once(p, &lost, e);
    while (s && lost && clock_steady_us() < until_us);
    if (s == ST_IO && sv_is(sv_of(e->reason), STORE_READ_ONLY))
        err_hint(e, "the owner of the database makes the log first: `heddle init` with a URL that "
                    "connects as such a user");
    return s;
}
