/* A log on PostgreSQL against a bare loop over libpq that sends the same statements. Each line of
 * output is one figure, as bench_log.c has them:
 *
 *     NAME <tab> UNIT <tab> OURS <tab> FLOOR <tab> REACH
 *
 *     bench_postgres URL [NAME...]        NAME: single writers project
 *     bench_postgres URL group REACH      64 writers through one process, and one writer
 *     bench_postgres URL growth N...      append and project with N entries in the log, beside one
 *                                         of 10,000
 *     bench_postgres URL peer N           N messages one at a time and read back, for postgres.sh
 *
 * The floor keeps its statements prepared and sends each flight as one pipeline, but knows nothing
 * of views, chains, repeats, lost connections or what was asked before. Both sides take turns,
 * because the machine is never quiet. */
#include "base/clock.h"
#include "store/postgres_internal.h"
#include "store/store.h"
#include "thread/project.h"
#include "thread/scan.h"

#include <err.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD = 500, WRITERS = 32, GROUPED = 64, MESSAGES = 100, SMALL_LOG = 10000 };

static const struct view *const log_views[] = { &thread_view, NULL };
static const char              *url;
static struct pg_pool           texts; /* of the statements */

static void check(enum status s, const struct err *e)
{
    if (s)
        errx(1, "bench: %s", e->text);
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

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_size);
    return v[n / 2];
}

/* A message of PAYLOAD bytes; `n` makes each one different. */
static struct sv payload_of(char *buf, int64_t n)
{
    static const char words[] = "the warp holds still while the weft goes over and under it, ";
    int               at = snprintf(buf, PAYLOAD, "{\"content\":\"%016lld ", (long long)n);

    for (int i = 0; at < PAYLOAD - 16; i++)
        buf[at++] = words[i % ((int)sizeof words - 1)];
    memcpy(buf + at, "\",\"role\":\"user\"}", 16);
    return (struct sv){ buf, PAYLOAD };
}

/* ---- the floor ------------------------------------------------------------------- */

struct bare {
    const struct pq *lib;
    PGconn          *conn;
    struct arena     a;
    bool             prepared[PG_STATEMENTS];
    struct sv        id;
    int64_t          tid, rev, gen, cells;
    int              syncs; /* flights whose answers were not taken yet */
};

static void bare_check(struct bare *b, bool fine)
{
    if (!fine)
        errx(1, "bench: %s", b->lib->PQerrorMessage(b->conn));
}

static void bare_send(struct bare *b, enum pg_statement which, const struct pg_params *p)
{
    static const struct pg_params none = { 0 };
    char                          name[24];

    p = p ? p : &none;
    snprintf(name, sizeof name, "bare_%d", (int)which);
    if (!b->prepared[which])
        bare_check(b, b->lib->PQsendPrepare(b->conn, name, texts.sql[which], p->n, p->types));
    b->prepared[which] = true;
    bare_check(
        b, b->lib->PQsendQueryPrepared(b->conn, name, p->n, p->values, p->lengths, p->formats, 1));
}

static void bare_sync(struct bare *b)
{
    bare_check(b, b->lib->PQpipelineSync(b->conn));
    b->syncs++;
}

/* All answers of a flight. The first cell of one that has rows is left in b->tid while it is 0. */
static void bare_take(struct bare *b)
{
    bare_sync(b);
    while (b->syncs) {
        PGresult *r = b->lib->PQgetResult(b->conn);
        if (!r)
            continue;
        ExecStatusType s = b->lib->PQresultStatus(r);
        b->syncs -= s == PGRES_PIPELINE_SYNC;
        if (s != PGRES_PIPELINE_SYNC && s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK)
            errx(1, "bench: %s", b->lib->PQresultErrorMessage(r));
        if (s == PGRES_TUPLES_OK && b->lib->PQntuples(r)) {
            struct pg_answer a = { .lib = b->lib, .r = r, .n = 1 };
            if (!b->tid)
                b->tid = pg_int(&a, 0, 0);
            for (int i = 0; i < b->lib->PQntuples(r); i++)
                b->cells += b->lib->PQgetlength(r, i, 0);
        }
        b->lib->PQclear(r);
    }
}

static void bare_limit(struct bare *b)
{
    bare_check(b, b->lib->PQsendQueryParams(b->conn, "SET LOCAL lock_timeout = 30000", 0, NULL,
                                            NULL, NULL, NULL, 1));
}

static struct pg_params about(struct bare *b)
{
    struct pg_params p = { 0 };

    pg_add_text(&p, b->id);
    return p;
}

static void bare_hot(struct bare *b)
{
    struct pg_params p = about(b);

    pg_add_int(&p, b->tid);
    pg_add_int(&p, b->rev);
    pg_add_int(&p, b->gen);
    bare_send(b, PG_HOT_AT, &p);
}

/* One entry, in the form of lists. */
static void bare_entry(struct bare *b, struct sv op, struct sv payload)
{
    static const char hash[HASH_SIZE + 1] = "0123456789abcdef0123456789abcdef";
    const struct {
        enum pg_type type;
        int64_t      n;
        struct sv    v;
    } columns[] = {
        { PG_INT_LIST, b->rev, { 0 } },
        { PG_INT_LIST, 1700000000000 + b->rev, { 0 } },
        { PG_SMALL_LIST, 1, { 0 } },
        { PG_TEXT_LIST, 0, SV_STATIC("ai_message") },
        { PG_TEXT_LIST, 0, SV_STATIC("default") },
        { PG_TEXT_LIST, 0, SV_STATIC("bench") },
        { PG_TEXT_LIST, 0, { 0 } },
        { PG_TEXT_LIST, 0, op },
        { PG_TEXT_LIST, 0, { 0 } },
        { PG_BYTES_LIST, 0, { hash, HASH_SIZE } },
        { PG_TEXT_LIST, 0, payload },
        { PG_BYTES_LIST, 0, { 0 } },
        { PG_BYTES_LIST, 0, { hash, ENTRY_SALT_SIZE } },
        { PG_BYTES_LIST, 0, { 0 } },
        { PG_INT_LIST, PAYLOAD, { 0 } },
    };
    struct pg_list   lists[PG_ENTRY_COLUMNS];
    struct pg_params p = { 0 };

    _Static_assert(COUNT(columns) == PG_ENTRY_COLUMNS, "as the store sends them");
    pg_add_int(&p, b->tid);
    for (size_t i = 0; i < COUNT(columns); i++) {
        lists[i] = pg_list_of(columns[i].type, &b->a);
        if (columns[i].type == PG_INT_LIST || columns[i].type == PG_SMALL_LIST)
            pg_list_int(&lists[i], columns[i].n);
        else
            pg_list_sv(&lists[i], columns[i].v);
        pg_add_list(&p, &lists[i]);
    }
    bare_send(b, PG_ENTRIES_ADD, &p);
    arena_free(&b->a);
}

static void bare_head(struct bare *b)
{
    static const struct hash chain = { { 1 } };
    const int64_t    numbers[] = { 1700000000000, 1700000000000 + b->rev, 1, 2, b->gen + 1, b->rev,
                                   b->gen };
    struct pg_params p = { 0 };

    pg_add_int(&p, b->tid);
    pg_add_int(&p, b->rev + 1);
    pg_add_hash(&p, &chain);
    for (size_t i = 0; i < COUNT(numbers); i++)
        pg_add_int(&p, numbers[i]);
    bare_send(b, PG_HEAD_SET, &p);
    b->rev++;
    b->gen++;
}

static void bare_append(struct bare *b)
{
    char             buf[PAYLOAD], op[32];
    struct pg_params id = about(b), repeated = { 0 };

    snprintf(op, sizeof op, "op-%lld", (long long)b->rev);
    pg_add_int(&repeated, b->tid);
    pg_add_text(&repeated, sv_of(op));
    bare_send(b, PG_BEGIN_WRITE, NULL);
    bare_limit(b);
    bare_send(b, PG_LOCK, &id);
    bare_hot(b);
    bare_send(b, PG_OP_AT, &repeated);
    bare_take(b);
    bare_entry(b, sv_of(op), payload_of(buf, b->rev));
    bare_head(b);
    bare_send(b, PG_COMMIT, NULL);
    bare_take(b);
}

static void bare_page(struct bare *b, int kind, int64_t from, int64_t limit)
{
    struct pg_params p = { 0 };

    pg_add_int(&p, b->tid);
    pg_add_int(&p, from);
    pg_add_int(&p, INT64_MAX);
    pg_add_int(&p, limit);
    pg_add_text(&p, SV("default"));
    bare_send(b, PG_SCAN_AT_FIRST + (enum pg_statement)kind, &p);
}

/* The last anchor and the messages behind it, in pages of 64 and then as many as are left. */
static void bare_project(struct bare *b)
{
    enum { ANCHORS_BACK = 3 + MARK_ANCHOR, MESSAGES_ON = MARK_MESSAGE, FIRST = 64 };
    struct pg_params id = about(b);

    bare_send(b, PG_BEGIN_READ, NULL);
    bare_send(b, PG_HEAD, &id);
    bare_hot(b);
    bare_page(b, ANCHORS_BACK, 0, FIRST);
    bare_page(b, MESSAGES_ON, 0, FIRST);
    bare_take(b);
    if (b->rev > FIRST) {
        bare_page(b, MESSAGES_ON, FIRST, FIRST * 4);
        bare_take(b);
    }
    bare_send(b, PG_ROLLBACK, NULL);
    bare_sync(b); /* taken with the next flight */
}

static struct bare *bare_open(const char *thread)
{
    struct bare     *b = calloc(1, sizeof *b);
    struct err       e;
    struct pg_params id;

    if (!b)
        errx(1, "bench: out of memory");
    check(pq_load(&b->lib, &e), &e);
    b->conn = b->lib->PQconnectdbParams(
        (const char *[]){ "dbname", "options", NULL },
        (const char *[]){ url, "-c plan_cache_mode=force_generic_plan", NULL }, 1);
    bare_check(b, b->lib->PQstatus(b->conn) == CONNECTION_OK);
    bare_check(b, b->lib->PQenterPipelineMode(b->conn));
    b->id = sv_of(strdup(thread));
    id = about(b);
    bare_send(b, PG_NEW, &id);
    bare_send(b, PG_HEAD, &id);
    bare_take(b);
    return b;
}

static void bare_close(struct bare *b)
{
    b->lib->PQfinish(b->conn);
    free((char *)(uintptr_t)b->id.s);
    free(b);
}

/* ---- ours ------------------------------------------------------------------------ */

struct ours {
    struct log log;
    struct sv  thread;
    char       name[40];
    int64_t    n;
};

static struct ours *ours_open_at(const char *place, const char *thread)
{
    struct ours  *o = calloc(1, sizeof *o);
    struct store *s;
    struct err    e;

    if (!o)
        errx(1, "bench: out of memory");
    check(store_open(sv_of(place), &(struct store_options){ .create = true }, &s, &e), &e);
    o->log = log_of(s, log_views);
    snprintf(o->name, sizeof o->name, "%s", thread);
    o->thread = sv_of(o->name);
    return o;
}

static struct ours *ours_open(const char *thread)
{
    return ours_open_at(url, thread);
}

static void ours_close(struct ours *o)
{
    store_close(o->log.store);
    free(o);
}

static void ours_append_to(struct ours *o, struct sv thread, size_t count)
{
    static _Thread_local char payloads[MESSAGES][PAYLOAD];
    struct entry              list[MESSAGES];
    struct store_head         h;
    struct err                e;
    char                      op[32];

    snprintf(op, sizeof op, "op-%lld", (long long)o->n);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct entry){ .at = 1700000000000 + o->n,
                                  .kind = SV("ai_message"),
                                  .lane = SV("default"),
                                  .actor = SV("bench"),
                                  .payload = payload_of(payloads[i], o->n++) };
    list[0].op_id = sv_of(op);
    log_want_op(&o->log, thread, list[0].op_id);
    check(log_begin(&o->log, thread, STORE_WRITE, &e), &e);
    check(log_append(&o->log, thread, LOG_ANY_REV, list, count, &h, &e), &e);
    check(log_commit(&o->log, &e), &e);
}

static void ours_append(struct ours *o)
{
    ours_append_to(o, o->thread, 1);
}

static enum status count_message(void *ctx, const struct message *m, struct err *e)
{
    int64_t *n = ctx;

    (void)e;
    *n += m->content.n > 0;
    return ST_OK;
}

static int64_t ours_project(struct ours *o, struct sv thread)
{
    struct projection_of of = { thread, SV("default"), STORE_TO_END, { 0 } };
    struct projection    p;
    struct arena         a = { 0 };
    struct err           e;
    int64_t              n = 0;

    project_want(&o->log, &of, (struct sv){ 0 }, &a);
    check(log_begin(&o->log, thread, STORE_READ, &e), &e);
    check(project_start(&o->log, &of, &a, &p, &e), &e);
    check(project_each(&p, count_message, &n, &e), &e);
    log_abort(&o->log);
    arena_free(&a);
    return n;
}

/* ---- one client ------------------------------------------------------------------ */

/* Both sides take turns, one by one, so that what else the machine does hits both alike: of each
 * the middle of all times counts. */
static double rate(double *times, size_t n)
{
    return 1 / median(times, n);
}

static void bench_single(void)
{
    enum { TIMES = 1200 };
    struct ours *o = ours_open("single-ours");
    struct bare *b;
    double       ours[TIMES], floor[TIMES], from;

    for (int i = 0; i < 20; i++) /* makes the tables, too */
        ours_append(o);
    b = bare_open("single-bare");
    for (int i = 0; i < 20; i++)
        bare_append(b);
    for (int i = 0; i < TIMES; i++) {
        from = seconds();
        bare_append(b);
        floor[i] = seconds() - from;
        from = seconds();
        ours_append(o);
        ours[i] = seconds() - from;
    }
    report("durable append, one at a time", "entries/s", rate(ours, TIMES), rate(floor, TIMES),
           ">=0.8");
    bare_close(b);
    ours_close(o);
}

static void bench_project(void)
{
    enum { TIMES = 1200 };
    struct ours *o = ours_open("project-ours");
    struct bare *b;
    double       ours[TIMES], floor[TIMES], from;

    ours_append_to(o, o->thread, MESSAGES);
    b = bare_open("project-bare");
    for (int i = 0; i < MESSAGES; i++)
        bare_append(b);
    for (int i = 0; i < TIMES; i++) {
        from = seconds();
        bare_project(b);
        floor[i] = seconds() - from;
        from = seconds();
        if (ours_project(o, o->thread) != MESSAGES)
            errx(1, "bench: messages are missing");
        ours[i] = seconds() - from;
    }
    report("project of 100 messages", "projections/s", rate(ours, TIMES), rate(floor, TIMES),
           ">=0.8");
    bare_close(b);
    ours_close(o);
}

/* ---- many clients ---------------------------------------------------------------- */

struct client {
    pthread_t    thread;
    struct bare *b;
    struct ours *o;
    int          each;
};

static void *client_main(void *ctx)
{
    struct client *c = ctx;

    for (int i = 0; i < c->each; i++)
        if (c->b)
            bare_append(c->b);
        else
            ours_append(c->o);
    return NULL;
}

static double clients_run(struct client *list, size_t n)
{
    double from = seconds();
    int    all = 0;

    for (size_t i = 0; i < n; i++)
        if (pthread_create(&list[i].thread, NULL, client_main, &list[i]))
            errx(1, "bench: no thread can be started");
    for (size_t i = 0; i < n; i++) {
        pthread_join(list[i].thread, NULL);
        all += list[i].each;
    }
    return all / (seconds() - from);
}

static void bench_writers(void)
{
    enum { ROUNDS = 9, EACH = 25 };
    struct client ours[WRITERS], bare[WRITERS];
    double        of_ours[ROUNDS], of_bare[ROUNDS];

    for (int i = 0; i < WRITERS; i++) {
        char name[40];
        snprintf(name, sizeof name, "writer-%d", i);
        ours[i] = (struct client){ .o = ours_open(name), .each = EACH };
        ours_append(ours[i].o);
        snprintf(name, sizeof name, "bare-writer-%d", i);
        bare[i] = (struct client){ .b = bare_open(name), .each = EACH };
    }
    clients_run(bare, WRITERS);
    clients_run(ours, WRITERS);
    for (int r = 0; r < ROUNDS; r++) {
        of_bare[r] = clients_run(bare, WRITERS);
        of_ours[r] = clients_run(ours, WRITERS);
    }
    report("32 writers on threads of their own", "entries/s", median(of_ours, ROUNDS),
           median(of_bare, ROUNDS), ">=0.8");
    for (int i = 0; i < WRITERS; i++) {
        bare_close(bare[i].b);
        ours_close(ours[i].o);
    }
}

/* ---- groups ---------------------------------------------------------------------- */

/* One thread of execution commits what many wait for, as `heddle serve` does. */
struct group_bench {
    pthread_mutex_t lock;
    pthread_cond_t  some, done;
    bool            waiting[GROUPED]; /* clients whose append is not written yet */
    int             n;
    bool            over;
    struct ours    *o;
    int64_t         written, groups;
};

struct group_client {
    struct group_bench *g;
    int                 number, each;
    pthread_t           thread;
};

static void *group_client(void *ctx)
{
    struct group_client *c = ctx;
    struct group_bench  *g = c->g;

    pthread_mutex_lock(&g->lock);
    for (int i = 0; i < c->each; i++) {
        g->waiting[c->number] = true;
        g->n++;
        pthread_cond_signal(&g->some);
        while (g->waiting[c->number])
            pthread_cond_wait(&g->done, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void write_group(struct group_bench *g, const bool *which)
{
    struct err        e;
    char              names[GROUPED][40], ops[GROUPED][32];
    struct store_part parts[GROUPED];
    size_t            n = 0;

    for (int i = 0; i < GROUPED; i++)
        if (which[i]) {
            snprintf(names[n], sizeof names[n], "group-%d", i);
            snprintf(ops[n], sizeof ops[n], "op-%lld", (long long)g->o->n + (long long)n);
            parts[n] = (struct store_part){ sv_of(names[n]), sv_of(ops[n]) };
            n++;
        }
    check(store_group_begin(g->o->log.store, &e), &e);
    store_group_want(g->o->log.store, parts, n);
    for (size_t i = 0; i < n; i++)
        ours_append_to(g->o, parts[i].thread, 1);
    g->written += (int64_t)n;
    check(store_group_end(g->o->log.store, &e), &e);
    g->groups++;
}

static void *group_writer(void *ctx)
{
    struct group_bench *g = ctx;

    pthread_mutex_lock(&g->lock);
    for (;;) {
        bool taken[GROUPED];
        while (!g->n && !g->over)
            pthread_cond_wait(&g->some, &g->lock);
        if (!g->n)
            break;
        memcpy(taken, g->waiting, sizeof taken);
        g->n = 0;
        pthread_mutex_unlock(&g->lock);
        write_group(g, taken);
        pthread_mutex_lock(&g->lock);
        for (int i = 0; i < GROUPED; i++)
            g->waiting[i] = g->waiting[i] && !taken[i];
        pthread_cond_broadcast(&g->done);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static double grouped(struct group_bench *g, int each)
{
    struct group_client clients[GROUPED];
    pthread_t           writer;
    double              from = seconds();

    g->over = false;
    if (pthread_create(&writer, NULL, group_writer, g))
        errx(1, "bench: no thread can be started");
    for (int i = 0; i < GROUPED; i++) {
        clients[i] = (struct group_client){ .g = g, .number = i, .each = each };
        if (pthread_create(&clients[i].thread, NULL, group_client, &clients[i]))
            errx(1, "bench: no thread can be started");
    }
    for (int i = 0; i < GROUPED; i++)
        pthread_join(clients[i].thread, NULL);
    double rate = GROUPED * each / (seconds() - from);
    pthread_mutex_lock(&g->lock);
    g->over = true;
    pthread_cond_signal(&g->some);
    pthread_mutex_unlock(&g->lock);
    pthread_join(writer, NULL);
    return rate;
}

static void bench_group(const char *name, const char *reach)
{
    enum { ROUNDS = 5, EACH = 15, ALONE = 100 };
    struct group_bench g = { .o = ours_open("group") };
    struct ours       *one = ours_open("alone");
    double             many[ROUNDS], alone[ROUNDS], from;
    char               text[120];

    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.some, NULL);
    pthread_cond_init(&g.done, NULL);
    if (!store_has_groups(g.o->log.store))
        errx(1, "bench: this store has no groups");
    for (int i = 0; i < 10; i++)
        ours_append(one);
    grouped(&g, 2); /* the threads are there */
    g.written = g.groups = 0;
    for (int r = 0; r < ROUNDS; r++) {
        from = seconds();
        for (int i = 0; i < ALONE; i++)
            ours_append(one);
        alone[r] = ALONE / (seconds() - from);
        many[r] = grouped(&g, EACH);
    }
    fprintf(stderr, "# %.1f appends in a group\n", (double)g.written / (double)g.groups);
    snprintf(text, sizeof text, "64 writers through one process%s; one writer", name);
    report(text, "entries/s", median(many, ROUNDS), median(alone, ROUNDS), reach);
    ours_close(g.o);
    ours_close(one);
}

/* ---- growth ---------------------------------------------------------------------- */

/* Two logs on one server, one of which stays small: what one costs on the large one and on the
 * small one is taken in turns, so that it is measured on the same machine and in the same minute.
 */
struct grown {
    char    place[400];
    int64_t threads;
};

struct filler {
    pthread_t   thread;
    const char *place;
    int64_t     from, to; /* numbers of threads */
};

static void *fill(void *ctx)
{
    struct filler *f = ctx;
    struct ours   *o = ours_open_at(f->place, "fill");

    for (int64_t i = f->from; i < f->to; i++) {
        char name[40];
        snprintf(name, sizeof name, "grown-%lld", (long long)i);
        ours_append_to(o, sv_of(name), MESSAGES);
    }
    ours_close(o);
    return NULL;
}

/* The log grows to `entries`, MESSAGES to a thread. */
static void grow(struct grown *g, int64_t entries)
{
    enum { FILLERS = 4 };
    struct filler f[FILLERS];
    int64_t       from = g->threads, to = entries / MESSAGES;

    for (int i = 0; i < FILLERS; i++) {
        f[i] = (struct filler){ .place = g->place,
                                .from = from + (to - from) * i / FILLERS,
                                .to = from + (to - from) * (i + 1) / FILLERS };
        if (pthread_create(&f[i].thread, NULL, fill, &f[i]))
            errx(1, "bench: no thread can be started");
    }
    for (int i = 0; i < FILLERS; i++)
        pthread_join(f[i].thread, NULL);
    g->threads = to > g->threads ? to : g->threads;
}

/* A thread of it, drawn at random. */
static struct sv any_thread(const struct grown *g, uint64_t *state, char *room, size_t size)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    snprintf(room, size, "grown-%llu", (unsigned long long)((*state >> 33) % (uint64_t)g->threads));
    return sv_of(room);
}

/* One of each on a store that knows nothing of the thread, as most threads of a large log are met;
 * the small one has so few that a store would soon know them all. */
static double timed(const struct grown *g, uint64_t *state, bool append)
{
    char         name[40];
    struct sv    thread = any_thread(g, state, name, sizeof name);
    struct ours *o = ours_open_at(g->place, "measure");
    double       from = seconds(), ms;

    o->n = (int64_t)(*state >> 1); /* an op_id that nobody has used */
    if (append)
        ours_append_to(o, thread, 1);
    else
        ours_project(o, thread);
    ms = (seconds() - from) * 1e3;
    ours_close(o);
    return ms;
}

/* The middle of what an append and a projection take on either. */
static void measure(const struct grown *large, const struct grown *small, const char *size)
{
    enum { TIMES = 600 };
    const struct grown *both[] = { small, large };
    double              appends[2][TIMES], projects[2][TIMES];
    struct ours        *pools[2]; /* connections stay open */
    uint64_t            state = (uint64_t)clock_steady_us() | 1;
    char                name[100];

    for (int k = 0; k < 2; k++)
        pools[k] = ours_open_at(both[k]->place, "measure");
    for (int i = 0; i < TIMES * 2; i++) {
        appends[i % 2][i / 2] = timed(both[i % 2], &state, true);
        projects[i % 2][i / 2] = timed(both[i % 2], &state, false);
    }
    snprintf(name, sizeof name, "append with %s entries; with %d", size, SMALL_LOG);
    report(name, "ms", median(appends[1], TIMES), median(appends[0], TIMES), "<=2");
    snprintf(name, sizeof name, "project with %s entries; with %d", size, SMALL_LOG);
    report(name, "ms", median(projects[1], TIMES), median(projects[0], TIMES), "<=2");
    for (int k = 0; k < 2; k++)
        ours_close(pools[k]);
}

/* What the server does by itself while a log grows slowly: it vacuums, and writes out its buffers.
 */
static void settle(void)
{
    static const char *const statements[] = { "VACUUM ANALYZE", "CHECKPOINT" };
    struct bare             *b = bare_open("settle");
    PGresult                *r;

    b->lib->PQexitPipelineMode(b->conn);
    for (size_t i = 0; i < COUNT(statements); i++) {
        b->lib->PQsendQueryParams(b->conn, statements[i], 0, NULL, NULL, NULL, NULL, 0);
        while ((r = b->lib->PQgetResult(b->conn)))
            b->lib->PQclear(r);
    }
    bare_close(b);
}

static void bench_growth(char **sizes)
{
    struct grown small = { .threads = 0 }, large = { .threads = 0 };

    snprintf(large.place, sizeof large.place, "%s", url);
    snprintf(small.place, sizeof small.place, "%s&schema=small", url);
    grow(&small, SMALL_LOG);
    for (; *sizes; sizes++) {
        grow(&large, atoll(*sizes));
        settle();
        measure(&large, &small, *sizes);
    }
}

/* ---- beside a peer --------------------------------------------------------------- */

static void bench_peer(int64_t n)
{
    struct ours *o = ours_open("peer");
    double       from = seconds(), append;

    while (o->n < n)
        ours_append(o);
    append = seconds() - from;
    from = seconds();
    if (ours_project(o, o->thread) < n)
        errx(1, "bench: messages are missing");
    printf("%.3f %.3f\n", append * 1e3, (seconds() - from) * 1e3);
    ours_close(o);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = { { "single", bench_single },
              { "writers", bench_writers },
              { "project", bench_project } };

int main(int argc, char **argv)
{
    if (argc < 2)
        errx(1, "usage: bench_postgres URL [NAME...]");
    url = argv[1];
    texts.url.schema = SV("heddle");
    pg_sql_make(&texts);
    if (argc > 3 && strcmp(argv[2], "group") == 0)
        bench_group(argc > 4 ? argv[4] : "", argv[3]);
    else if (argc > 3 && strcmp(argv[2], "growth") == 0)
        bench_growth(argv + 3);
    else if (argc > 3 && strcmp(argv[2], "peer") == 0)
        bench_peer(atoll(argv[3]));
    else
        for (size_t i = 0; i < COUNT(parts); i++) {
            bool wanted = argc == 2;
            for (int k = 2; k < argc; k++)
                wanted |= strcmp(argv[k], parts[i].name) == 0;
            if (wanted)
                parts[i].run();
        }
    arena_free(&texts.a);
    return 0;
}
