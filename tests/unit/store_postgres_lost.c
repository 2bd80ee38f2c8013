/* A connection to PostgreSQL that is lost while it commits, and another writer that is next: what
 * the caller is told, and that nothing is left behind that keeps others waiting. */
#include "store/postgres_internal.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct err       e;
static char             url[400], schema[40];
static const char      *server; /* HEDDLE_TEST_POSTGRES */
static const struct pq *lib;

/* ---- a connection beside those of the store -------------------------------------------------- */

static PGconn *connect_beside(void)
{
    PGconn *c = lib->PQconnectdbParams((const char *[]){ "dbname", NULL },
                                       (const char *[]){ server, NULL }, 1);

    CHECK(lib->PQstatus(c) == CONNECTION_OK);
    return c;
}

/* `@` is the schema. */
static void send(PGconn *c, const char *text)
{
    struct arena a = { 0 };

    CHECK(lib->PQsendQueryParams(c, pg_sql_in(sv_of(schema), text, &a), 0, NULL, NULL, NULL, NULL,
                                 0));
    arena_free(&a);
}

/* The first cell of the answer, as a number; -1: it failed. */
static long answer(PGconn *c)
{
    long      n = -1;
    PGresult *r;

    while ((r = lib->PQgetResult(c))) {
        ExecStatusType s = lib->PQresultStatus(r);
        if (s == PGRES_COMMAND_OK)
            n = 0;
        if (s == PGRES_TUPLES_OK)
            n = lib->PQntuples(r) ? atol(lib->PQgetvalue(r, 0, 0)) : 0;
        lib->PQclear(r);
    }
    return n;
}

static long ask(PGconn *c, const char *text)
{
    send(c, text);
    return answer(c);
}

/* ---- the store ------------------------------------------------------------------------------ */

static enum status append(struct store *s)
{
    struct entry      n = { .at = 1, .kind = SV("note"), .payload = SV("{}") };
    struct store_head head;

    return store_head(s, SV("t"), &head, &e) || store_append(s, SV("t"), head.rev, &n, 1, &head, &e)
               ? err_code(&e)
               : ST_OK;
}

/* The server ends the session that commits the first entry of the thread, at the last moment. */
static const char *const make_end[] = {
    "CREATE SEQUENCE @ends",
    "CREATE FUNCTION @end_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " IF nextval('@ends') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid());"
    " PERFORM pg_sleep(600); END IF; RETURN NULL; END $$",
    ("CREATE CONSTRAINT TRIGGER end_it AFTER UPDATE ON @thread DEFERRABLE INITIALLY DEFERRED"
     " FOR EACH ROW WHEN (OLD.rev <> NEW.rev) EXECUTE FUNCTION @end_it()"),
};

static struct store *open_log(void)
{
    struct store *s = NULL;

    snprintf(schema, sizeof schema, "lost_%d", (int)getpid());
    snprintf(url, sizeof url, "%s&partitions=0&schema=%s", server, schema);
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    CHECK(append(s) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    return s;
}

/* Waits for the lock of the thread that the store has, and is the first who does. */
static void wait_in_line(PGconn *control, PGconn *other)
{
    char query[100];
    long pid = ask(other, "SELECT pg_backend_pid()");

    send(other, "UPDATE @thread SET gen = gen + 1 WHERE id = 't'");
    CHECK(lib->PQflush(other) == 0);
    snprintf(query, sizeof query, "SELECT cardinality(pg_blocking_pids(%ld))", pid);
    while (ask(control, query) == 0)
        usleep(10000);
}

static void a_transaction_that_cannot_go_on_leaves_no_lock(void)
{
    server = getenv("HEDDLE_TEST_POSTGRES");
    if (!server || !*server)
        return;
    CHECK(pq_load(&lib, &e) == ST_OK);
    struct store *s = open_log();
    PGconn       *control = connect_beside(), *other = connect_beside();

    for (size_t i = 0; i < COUNT(make_end); i++)
        CHECK(ask(control, make_end[i]) == 0);
    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    CHECK(append(s) == ST_OK);
    wait_in_line(control, other);
    CHECK(store_commit(s, &e) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("busy"));
    CHECK(answer(other) == 0);
    CHECK(ask(control, "SELECT last_value FROM @ends") == 1);
    CHECK(ask(control, "SET lock_timeout = '60s'") == 0);
    CHECK(ask(control, "SELECT rev FROM @thread WHERE id = 't' FOR UPDATE") == 1);
    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    CHECK(append(s) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    lib->PQfinish(other);
    lib->PQfinish(control);
    store_close(s);
}

TAP_MAIN(T(a_transaction_that_cannot_go_on_leaves_no_lock), )
