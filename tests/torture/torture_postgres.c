/* Writers on a log on PostgreSQL while something bad happens to the server.
 *
 *     torture_postgres backends URL ROUNDS       backends are ended at random, one in 50 with
 * SIGKILL torture_postgres serial URL SECONDS        statements and commits fail with 40001, 40P01,
 * 55P03 torture_postgres write URL FILE SECONDS    only write; what was told goes to FILE. A file
 *                                                FILE.stop ends it earlier
 *     torture_postgres check URL FILE [lossy]    compare; with `lossy` something must be lost
 *     torture_postgres clock URL -               print what time the log has, as `# now
 * MILLISECONDS`
 *
 * A private server must be at URL: its processes are killed. Speaks TAP. */
#include "postgres_claims.h"
#include "store/pq.h"

#include <signal.h>

enum { WRITERS = 8, CHECK_EVERY = 100 };

/* ---- a connection beside those of the writers ------------------------------------ */

struct control {
    const struct pq *lib;
    const char      *url;
    PGconn          *conn;
};

static void control_open(struct control *k)
{
    struct err e;

    if (pq_load(&k->lib, &e))
        errx(1, "%s", e.text);
    for (int tries = 0; tries < 200; tries++) {
        k->conn = k->lib->PQconnectdbParams((const char *[]){ "dbname", NULL },
                                            (const char *[]){ k->url, NULL }, 1);
        if (k->lib->PQstatus(k->conn) == CONNECTION_OK)
            return;
        k->lib->PQfinish(k->conn);
        usleep(50000);
    }
    errx(1, "the server does not come back");
}

/* The first cell of what a statement returns, as a number; -1: it failed. */
static long control_ask(struct control *k, const char *sql)
{
    long      n = -1;
    PGresult *r;

    if (!k->lib->PQsendQueryParams(k->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
        return -1;
    while ((r = k->lib->PQgetResult(k->conn))) {
        ExecStatusType s = k->lib->PQresultStatus(r);
        if (s == PGRES_COMMAND_OK)
            n = 0;
        if (s == PGRES_TUPLES_OK)
            n = k->lib->PQntuples(r) ? atol(k->lib->PQgetvalue(r, 0, 0)) : 0;
        k->lib->PQclear(r);
    }
    return n;
}

static void control_must(struct control *k, const char *sql)
{
    if (control_ask(k, sql) < 0)
        errx(1, "%s: %s", sql, k->lib->PQerrorMessage(k->conn));
}

static void control_again(struct control *k)
{
    k->lib->PQfinish(k->conn);
    control_open(k);
}

/* ---- backends that end ----------------------------------------------------------- */

#define A_BACKEND                                                                                  \
    " FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'heddle'"         \
    " ORDER BY random() LIMIT 1"

static void kill_one(struct control *k, long round)
{
    if (round % 50 != 0) {
        if (control_ask(k, "SELECT pg_terminate_backend(pid)::int" A_BACKEND) < 0)
            control_again(k);
        return;
    }
    long pid = control_ask(k, "SELECT pid" A_BACKEND);
    if (pid > 0)
        kill((pid_t)pid, SIGKILL); /* the server ends all others, too, and recovers */
    if (pid < 0)
        control_again(k);
}

static int64_t make_tables(struct claims *c)
{
    struct err        e;
    struct store_head h;
    struct store     *s = claims_open(c, &e);

    if (!s || store_head(s, SV("alpha"), &h, &e))
        errx(1, "%s", e.text);
    int64_t now = store_now(s);
    store_close(s);
    return now;
}

/* In a long run the tables are made under fire, too. */
static void part_backends(struct claims *c, long rounds)
{
    struct control k = { .url = c->url };

    if (rounds < CHECK_EVERY)
        make_tables(c);
    control_open(&k);
    for (long done = 0; done < rounds && !tap_failures;) {
        claims_start(c, WRITERS);
        long until = done + CHECK_EVERY < rounds ? done + CHECK_EVERY : rounds;
        while (done < until) {
            usleep((useconds_t)(clock_steady_us() % 30000));
            kill_one(&k, ++done);
        }
        claims_stop(c);
        claims_check(c);
        fprintf(stderr, "# %ld of %ld rounds, %zu writes\n", done, rounds, c->list.n);
    }
    k.lib->PQfinish(k.conn);
}

/* ---- failures that are made ------------------------------------------------------ */

static const char *const make_failures[] = {
    "CREATE SCHEMA torture",
    "CREATE FUNCTION torture.fail() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE x float :="
    " random(); BEGIN IF x < 0.02 THEN RAISE EXCEPTION 'made' USING ERRCODE = '40001';"
    " ELSIF x < 0.03 THEN RAISE EXCEPTION 'made' USING ERRCODE = '40P01';"
    " ELSIF x < 0.04 THEN RAISE EXCEPTION 'made' USING ERRCODE = '55P03'; END IF;"
    " RETURN coalesce(NEW, OLD); END $$",
    "CREATE TRIGGER torture BEFORE INSERT ON heddle.entry FOR EACH ROW EXECUTE FUNCTION"
    " torture.fail()",
    "CREATE TRIGGER torture BEFORE INSERT OR UPDATE ON heddle.row FOR EACH ROW EXECUTE FUNCTION"
    " torture.fail()",
    "CREATE TRIGGER torture BEFORE INSERT OR UPDATE ON heddle.thread FOR EACH ROW EXECUTE FUNCTION"
    " torture.fail()",
    "CREATE CONSTRAINT TRIGGER torture_late AFTER UPDATE ON heddle.thread DEFERRABLE INITIALLY"
    " DEFERRED FOR EACH ROW EXECUTE FUNCTION torture.fail()",
};

static void part_serial(struct claims *c, long seconds)
{
    struct control k = { .url = c->url };

    make_tables(c);
    control_open(&k);
    for (size_t i = 0; i < COUNT(make_failures); i++)
        control_must(&k, make_failures[i]);
    claims_start(c, WRITERS);
    usleep((useconds_t)(seconds * 1000000));
    claims_stop(c);
    control_must(&k, "DROP SCHEMA torture CASCADE");
    CHECK(c->told[ST_CONFLICT] > 0); /* else nothing was tested */
    claims_check(c);
    k.lib->PQfinish(k.conn);
}

/* ---- writing here, comparing there ----------------------------------------------- */

static void part_write(struct claims *c, const char *file, long seconds)
{
    char    stop[4096];
    int64_t until = clock_steady_us() + seconds * 1000000;
    FILE   *f = fopen(file, "wb");

    if (!f)
        err(1, "%s", file);
    snprintf(stop, sizeof stop, "%s.stop", file);
    claims_start(c, WRITERS);
    while (clock_steady_us() < until && access(stop, F_OK) != 0)
        usleep(10000);
    claims_stop(c);
    if (fwrite(c->list.v, sizeof *c->list.v, c->list.n, f) != c->list.n || fclose(f))
        err(1, "%s", file);
}

static void part_check(struct claims *c, const char *file, bool lossy)
{
    struct claim k;
    FILE        *f = fopen(file, "rb");

    if (!f)
        err(1, "%s", file);
    while (fread(&k, sizeof k, 1, f) == 1)
        *vec_push(&c->list, &c->a) = k;
    fclose(f);
    c->quiet_losses = lossy;
    claims_check(c);
    printf("# %zu acknowledged, %zu lost\n", claims_of(c, THERE), c->lost);
    CHECK(claims_of(c, THERE) > 0);
    CHECK(!lossy || c->lost > 0);
}

static void part_clock(struct claims *c)
{
    printf("# now %lld\n", (long long)make_tables(c));
}

int main(int argc, char **argv)
{
    struct claims c = { .busy_ms = 20000 };
    int64_t       entries = 0;
    char          ids[30];

    if (argc < 4)
        errx(1, "usage: torture_postgres backends|serial|write|check|clock URL ...");
    struct sv part = sv_of(argv[1]);
    c.url = argv[2];
    snprintf(ids, sizeof ids, "%.10s-%x-", argc > 5 ? argv[5] : argv[1],
             (unsigned)clock_system_ms() & 0xffffff);
    c.ids = ids; /* of this run */
    claims_init(&c);
    signal(SIGPIPE, SIG_IGN);
    if (sv_is(part, "backends"))
        part_backends(&c, atol(argv[3]));
    else if (sv_is(part, "serial"))
        part_serial(&c, atol(argv[3]));
    else if (sv_is(part, "write"))
        part_write(&c, argv[3], argc > 4 ? atol(argv[4]) : 10);
    else if (sv_is(part, "clock"))
        part_clock(&c);
    else
        part_check(&c, argv[3], argc > 4);
    claims_tell(&c);
    if (!sv_is(part, "write") && !sv_is(part, "clock"))
        entries = claims_verify(&c);
    printf("%sok 1 - %s: what writers were told is so, %lld entries verify\n1..1\n",
           tap_failures ? "not " : "", argv[1], (long long)entries);
    arena_free(&c.a);
    return tap_failures > 0;
}
