/* The log against bare SQLite. Each line of output is one figure:
 *
 *     NAME <tab> UNIT <tab> OURS <tab> FLOOR <tab> REACH
 *
 * FLOOR is a C loop over SQLite with the same settings doing the same work with nothing around
 * it; REACH is what is wanted: >=R of the floor's rate, <=R times the floor's time, or a bound
 * on OURS itself (<N, >N). Both sides take turns, because the machine is never quiet.
 *
 *     bench_log FOLDER [NAME...]      NAME: single batch views read import project fork
 *     bench_log FOLDER peer=N         N messages one at a time and read back, for log.sh
 *     bench_log FOLDER version        of SQLite
 *
 * HEDDLE_BENCH_ENTRIES scales the long thread (1,000,000). */
#include "api/workspace.h"
#include "base/clock.h"
#include "store/store.h"
#include "thread/op.h"
#include "thread/project.h"

#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAYLOAD = 500 };

/* The log with the view that projection needs, or with those of the whole program. */
static const struct view *const  log_views[] = { &thread_view, NULL };
static const struct view *const *views = log_views;
static const char               *folder;
static int64_t                   long_n = 1000000;

static void check(enum status s, const struct err *e)
{
    if (s)
        errx(1, "bench: %s", e->text);
}

static void check_sql(int rc, sqlite3 *db)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
        errx(1, "bench: %s", sqlite3_errmsg(db));
}

static void report(const char *name, const char *unit, double ours, double floor, const char *reach)
{
    printf("%s\t%s\t%.4g\t%.4g\t%s\n", name, unit, ours, floor, reach);
    fflush(stdout);
}

static double seconds(void)
{
    return (double)clock_steady_us() / 1e6;
}

static const char *path_of(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_db(const char *name)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    char                     whole[4200];

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        snprintf(whole, sizeof whole, "%s%s", path_of(name), suffixes[i]);
        unlink(whole);
    }
}

static double size_of(const char *name)
{
    struct stat st;

    return stat(path_of(name), &st) == 0 ? (double)st.st_size : 0;
}

/* A message of PAYLOAD bytes; `n` makes each one different. Making it costs both sides little. */
static struct sv payload_of(char *buf, int64_t n)
{
    static char made[PAYLOAD + 1];
    char        digits[32];

    if (!made[0]) {
        static const char words[] = "the warp holds still while the weft goes over and under it, ";
        int               at = snprintf(made, sizeof made, "{\"content\":\"%016d ", 0);
        for (int i = 0; at < PAYLOAD - 16; i++)
            made[at++] = words[i % ((int)sizeof words - 1)];
        snprintf(made + at, sizeof made - (size_t)at, "\",\"role\":\"user\"}");
    }
    memcpy(buf, made, PAYLOAD);
    for (int i = 0; i < 16; i++, n /= 10)
        digits[15 - i] = (char)('0' + n % 10);
    memcpy(buf + sizeof("{\"content\":\"") - 1, digits, 16);
    return (struct sv){ buf, PAYLOAD };
}

/* ---- the floor ------------------------------------------------------------------------ */

struct bare {
    sqlite3      *db;
    sqlite3_stmt *begin, *add, *commit;
    int64_t       n;
};

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;

    check_sql(sqlite3_prepare_v2(db, sql, -1, &st, NULL), db);
    return st;
}

/* One table with thread and seq as its key and an op_id that is unique in its thread: what any
 * log with threads and repeatable appends needs, and nothing else. */
static struct bare bare_open(const char *name)
{
    struct bare b = { 0 };

    remove_db(name);
    check_sql(sqlite3_open(path_of(name), &b.db), b.db);
    check_sql(sqlite3_exec(b.db,
                           "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                           "CREATE TABLE entry(thread TEXT, seq INTEGER, op_id TEXT, kind TEXT,"
                           " payload TEXT, PRIMARY KEY(thread, seq), UNIQUE(thread, op_id))"
                           " WITHOUT ROWID",
                           NULL, NULL, NULL),
              b.db);
    b.begin = prepare(b.db, "BEGIN IMMEDIATE");
    b.commit = prepare(b.db, "COMMIT");
    b.add = prepare(b.db, "INSERT INTO entry VALUES('t', ?, ?, 'ai_message', ?)");
    return b;
}

static void bare_close(struct bare *b)
{
    sqlite3_finalize(b->begin);
    sqlite3_finalize(b->add);
    sqlite3_finalize(b->commit);
    sqlite3_close(b->db);
}

static void run(sqlite3 *db, sqlite3_stmt *st)
{
    check_sql(sqlite3_step(st), db);
    sqlite3_reset(st);
}

/* The first entry of an append carries the op_id of the whole, on both sides. */
static struct sv op_id_of(char *buf, size_t size, int64_t n)
{
    snprintf(buf, size, "op-%lld", (long long)n);
    return sv_of(buf);
}

static void bare_append(struct bare *b, int batch)
{
    char      buf[PAYLOAD], id[32];
    struct sv op = op_id_of(id, sizeof id, b->n);

    run(b->db, b->begin);
    for (int i = 0; i < batch; i++) {
        struct sv p = payload_of(buf, b->n);
        sqlite3_bind_int64(b->add, 1, b->n++);
        sqlite3_bind_text(b->add, 2, i ? NULL : op.s, i ? 0 : (int)op.n, SQLITE_STATIC);
        sqlite3_bind_text(b->add, 3, p.s, (int)p.n, SQLITE_STATIC);
        run(b->db, b->add);
    }
    run(b->db, b->commit);
}

/* ---- ours ------------------------------------------------------------------------------ */

struct ours {
    struct log    log;
    struct arena  a;
    int64_t       n;
    struct entry *list;
    char (*payloads)[PAYLOAD];
};

enum { BATCH_MAX = 1000 };

static struct ours ours_open(const char *name, bool anew)
{
    struct ours   o = { 0 };
    struct store *s;
    struct err    e;

    if (anew)
        remove_db(name);
    check(store_open(sv_of(path_of(name)), &(struct store_options){ .create = true }, &s, &e), &e);
    o.log = log_of(s, views);
    o.list = ARENA_NEW(&o.a, struct entry, BATCH_MAX);
    o.payloads = (char(*)[PAYLOAD])ARENA_NEW(&o.a, char, (size_t)BATCH_MAX *PAYLOAD);
    return o;
}

static void ours_close(struct ours *o)
{
    store_close(o->log.store);
    arena_free(&o->a);
}

static void ours_append_to(struct ours *o, struct sv thread, int batch)
{
    struct store_head h;
    struct err        e;
    char              id[32];

    for (int i = 0; i < batch; i++)
        o->list[i] = (struct entry){ .at = 1700000000000 + o->n,
                                     .kind = SV("ai_message"),
                                     .lane = SV("default"),
                                     .actor = SV("bench"),
                                     .payload = payload_of(o->payloads[i], o->n + i) };
    o->list[0].op_id = op_id_of(id, sizeof id, o->n);
    check(log_begin(&o->log, thread, STORE_WRITE, &e), &e);
    check(log_append(&o->log, thread, LOG_ANY_REV, o->list, (size_t)batch, &h, &e), &e);
    check(log_commit(&o->log, &e), &e);
    o->n += batch;
}

static void ours_append(struct ours *o, int batch)
{
    ours_append_to(o, SV("t"), batch);
}

/* The least of several times: what the work costs when nobody disturbs it. */
static double least(const double *v, size_t n)
{
    double best = v[0];

    for (size_t i = 1; i < n; i++)
        best = v[i] < best ? v[i] : best;
    return best;
}

static double median(double *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && v[k - 1] > v[k]; k--) {
            double t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
    return v[n / 2];
}

/* ---- appending ------------------------------------------------------------------------- */

/* Rates of `ROUNDS` rounds of `each` commits, taking turns; of each side the middle one. */
static void appending(const char *name, int batch, int each, const char *reach)
{
    enum { ROUNDS = 21 };
    struct bare b = bare_open("bare.db");
    struct ours o = ours_open("ours.db", true);
    double      ours[ROUNDS], floor[ROUNDS], from;

    bare_append(&b, batch); /* both have their file and statements */
    ours_append(&o, batch);
    for (int r = 0; r < ROUNDS; r++) {
        from = seconds();
        for (int i = 0; i < each; i++)
            bare_append(&b, batch);
        floor[r] = seconds() - from;
        from = seconds();
        for (int i = 0; i < each; i++)
            ours_append(&o, batch);
        ours[r] = seconds() - from;
    }
    double n = (double)each * batch;
    report(name, "entries/s", n / median(ours, ROUNDS), n / median(floor, ROUNDS), reach);
    bare_close(&b);
    ours_close(&o);
    remove_db("bare.db");
    remove_db("ours.db");
}

static void bench_single(void)
{
    appending("durable append, one at a time", 1, 100, ">=0.8");
}

static void bench_batch(void)
{
    appending("durable append, batches of 100", 100, 10, ">=0.7");
}

/* The same through every view of the program: the tree, the registry, words for searching. */
static void bench_views(void)
{
    views = workspace_views;
    appending("one at a time, with every view of the program", 1, 100, ">=0.8");
    appending("batches of 100, with every view of the program", 100, 5, ">=0.7");
    views = log_views;
}

static double peak_mb(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

/* The long thread, which later measurements read: bare.db and ours.db stay. */
static void bench_import(void)
{
    struct bare b = bare_open("bare.db");
    struct ours o = ours_open("ours.db", true);
    double      ours = 0, floor = 0, from, early = 0;

    while (o.n < long_n) {
        from = seconds();
        for (int i = 0; i < 50 && b.n < long_n; i++)
            bare_append(&b, BATCH_MAX);
        floor += seconds() - from;
        from = seconds();
        for (int i = 0; i < 50 && o.n < long_n; i++)
            ours_append(&o, BATCH_MAX);
        ours += seconds() - from;
        if (early == 0)
            early = peak_mb();
    }
    bare_close(&b);
    ours_close(&o);
    report("long append, batches of 1,000", "entries/s", (double)long_n / ours,
           (double)long_n / floor, ">=0.6");
    report("memory at its end, and after 1/20 of it", "MB", peak_mb(), early, "<=1.5");
    report("file of the long thread, and its payloads", "MB", size_of("ours.db") / 1e6,
           (double)long_n * PAYLOAD / 1e6, "<=2");
}

/* ---- reading --------------------------------------------------------------------------- */

static int64_t seen;

static enum status count_message(void *ctx, const struct message *m, struct err *e)
{
    (void)ctx, (void)e;
    seen += (int64_t)m->content.n > 0;
    return ST_OK;
}

/* Project a lane up to a seq; how many messages came, how many entries were read. */
static double project_once(struct ours *o, struct sv thread, int64_t upto, int64_t *messages,
                           int64_t *read)
{
    struct projection p;
    struct arena      a = { 0 };
    struct err        e;
    double            from = seconds();

    seen = 0;
    check(log_begin(&o->log, thread, STORE_READ, &e), &e);
    check(project_start(&o->log, &(struct projection_of){ thread, SV("default"), upto, { 0 } }, &a,
                        &p, &e),
          &e);
    check(project_each(&p, count_message, NULL, &e), &e);
    log_abort(&o->log);
    arena_free(&a);
    *messages = seen;
    *read = p.read;
    return seconds() - from;
}

static double bare_read(struct bare *b, int64_t upto)
{
    double        from = seconds();
    sqlite3_stmt *st = prepare(
        b->db, "SELECT seq, kind, payload FROM entry WHERE thread = 't' AND seq <= ? ORDER BY seq");
    int64_t bytes = 0;

    sqlite3_bind_int64(st, 1, upto);
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *s = (const char *)sqlite3_column_text(st, 2);
        bytes += sqlite3_column_bytes(st, 2) + (s[0] == '{');
    }
    sqlite3_finalize(st);
    if (!bytes)
        errx(1, "bench: nothing read");
    return seconds() - from;
}

static void bench_read(void)
{
    enum { N = 5000, ROUNDS = 40 };
    struct bare b = bare_open("bare5.db");
    struct ours o = ours_open("ours5.db", true);
    double      ours[ROUNDS], floor[ROUNDS];
    int64_t     messages, read;

    while (b.n < N)
        bare_append(&b, BATCH_MAX);
    while (o.n < N)
        ours_append(&o, BATCH_MAX);
    static const struct {
        const char *name;
        int64_t     upto;
        const char *reach;
    } what[] = { { "load a thread of 5,000 messages", N, "<=2.5" },
                 { "its state at seq 2,500", N / 2, "<=4" } };
    for (size_t w = 0; w < COUNT(what); w++) {
        for (int r = 0; r < ROUNDS; r++) {
            floor[r] = bare_read(&b, what[w].upto) * 1e3;
            ours[r] = project_once(&o, SV("t"), what[w].upto, &messages, &read) * 1e3;
        }
        report(what[w].name, "ms", least(ours, ROUNDS), least(floor, ROUNDS), what[w].reach);
        if (messages < what[w].upto)
            errx(1, "bench: %lld messages", (long long)messages);
    }
    ours_close(&o);
    bare_close(&b);
    report("file of 5,000 messages, and its payloads", "MB", size_of("ours5.db") / 1e6,
           (double)N * PAYLOAD / 1e6, "<=2");
    remove_db("bare5.db");
    remove_db("ours5.db");
}

/* ---- projecting and forking ------------------------------------------------------------ */

static void apply(struct ours *o, const struct op *op)
{
    struct arena     a = { 0 };
    struct op_result r;
    struct err       e;

    check(op_apply(&o->log, op, &a, &r, &e), &e);
    arena_free(&a);
}

static void bench_project(void)
{
    struct ours o = ours_open("ours.db", false);
    double      took[21];
    int64_t     messages, read;

    for (int i = 0; i < 3; i++)
        took[i] = project_once(&o, SV("t"), STORE_TO_END, &messages, &read);
    double whole = least(took, 3);
    report("fold all messages of the long thread", "messages/s", (double)messages / whole, 0,
           ">500000");
    apply(&o,
          &(struct op){ .type = OP_REPLACE,
                        .thread = SV("t"),
                        .op_id = SV("bench-compaction"),
                        .lane = SV("default"),
                        .reason = SV("compaction"),
                        .context = SV("{\"messages\":[{\"content\":\"the story so far\",\"role\":"
                                      "\"user\"}],\"system_prompt\":\"be brief\"}"),
                        .at = 1 });
    o.n = long_n + 1;
    ours_append(&o, 100);
    for (size_t i = 0; i < COUNT(took); i++)
        took[i] = project_once(&o, SV("t"), STORE_TO_END, &messages, &read) * 1e3;
    report("projection at its head, compacted 100 messages ago", "ms", least(took, COUNT(took)), 0,
           "<2");
    report("entries read for it, and messages returned", "entries", (double)read, (double)messages,
           "<=1");
    ours_close(&o);
}

static double fork_once(struct ours *o, struct sv thread, int i)
{
    char   id[64];
    double from = seconds();

    snprintf(id, sizeof id, "fork-%d", i);
    apply(o, &(struct op){ .type = OP_FORK,
                           .thread = thread,
                           .op_id = sv_of(id),
                           .lane = sv_of(id),
                           .from = SV("default"),
                           .from_seq = 5,
                           .at = 1 });
    return seconds() - from;
}

static void bench_fork(void)
{
    enum { FORKS = 200 };
    struct ours        o = ours_open("ours.db", false);
    double             small[FORKS], big[FORKS];
    struct store_stats before, after;
    struct err         e;

    o.n = long_n + 1000;
    ours_append_to(&o, SV("small"), 10);
    check(store_compact(o.log.store, &e), &e);
    check(store_stats(o.log.store, &before, &e), &e);
    for (int i = 0; i < FORKS; i++) {
        small[i] = fork_once(&o, SV("small"), i) * 1e3;
        big[i] = fork_once(&o, SV("t"), i) * 1e3;
    }
    check(store_compact(o.log.store, &e), &e);
    check(store_stats(o.log.store, &after, &e), &e);
    report("fork of the long thread, and of one with 10 messages", "ms", median(big, FORKS),
           median(small, FORKS), "<=1.5");
    report("what a fork adds to the file", "bytes",
           (double)(after.file_bytes - before.file_bytes) / (2 * FORKS), 0, "<1024");
    ours_close(&o);
    remove_db("ours.db");
    remove_db("bare.db");
}

/* What the shell asks for beside a peer's figures: N messages one at a time, then read back;
 * prints ms, ms and the bytes of the file. */
static void beside_a_peer(int64_t n)
{
    struct ours o = ours_open("peer.db", true);
    double      from = seconds(), load, append;
    int64_t     messages, read;
    struct err  e;

    while (o.n < n)
        ours_append(&o, 1);
    append = seconds() - from;
    load = project_once(&o, SV("t"), STORE_TO_END, &messages, &read);
    check(store_compact(o.log.store, &e), &e);
    ours_close(&o);
    printf("%.3f %.3f %.0f\n", append * 1e3, load * 1e3, size_of("peer.db"));
    remove_db("peer.db");
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = { { "single", bench_single }, { "batch", bench_batch },   { "views", bench_views },
              { "read", bench_read },     { "import", bench_import }, { "project", bench_project },
              { "fork", bench_fork } };

int main(int argc, char **argv)
{
    if (argc < 2)
        errx(1, "usage: bench_log FOLDER [NAME...]");
    folder = argv[1];
    if (getenv("HEDDLE_BENCH_ENTRIES"))
        long_n = atoll(getenv("HEDDLE_BENCH_ENTRIES"));
    if (argc > 2 && strcmp(argv[2], "version") == 0)
        return puts(sqlite3_libversion()) < 0;
    if (argc > 2 && strncmp(argv[2], "peer=", 5) == 0) {
        beside_a_peer(atoll(argv[2] + 5));
        return 0;
    }
    for (size_t i = 0; i < COUNT(parts); i++) {
        bool wanted = argc == 2;
        for (int k = 2; k < argc; k++)
            wanted |= strcmp(argv[k], parts[i].name) == 0;
        if (wanted)
            parts[i].run();
    }
    return 0;
}
