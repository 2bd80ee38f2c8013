/* What looking at and walking a tree costs, by the size of the tree.
 *
 *     bench_loom FOLDER NODES...
 *
 * For each size a thread is made (random branches: most nodes go on from a recent one) and then
 * each command is run many times, each in a transaction of its own on a store that was just opened,
 * as a command line would. Times are medians in microseconds: of the command by the clock, which is
 * mostly the wait for the disk, and of the processor from opening the store to closing it, which is
 * what grows if anything does. */
#include "base/clock.h"
#include "base/json.h"
#include "command/session.h"
#include "loom/agent.h"
#include "store/store.h"
#include "thread/kind.h"
#include "thread/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct view *const views[] = { &thread_view, &loom_view, &agents_view, NULL };

enum { BATCH = 1000, ROUNDS = 31, RECENT = 50 };

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static void fail(const char *what, const struct err *e)
{
    fprintf(stderr, "%s: %s\n", what, e->text);
    exit(1);
}

static void local_id(char *out, int64_t i) /* n + base 32, always with a digit */
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    int               n = 0;
    char              back[16];

    do
        back[n++] = digits[i % 32];
    while ((i /= 32) > 0);
    out[0] = 'n';
    out[1] = '0';
    for (int k = 0; k < n; k++)
        out[2 + k] = back[n - 1 - k];
    out[2 + n] = 0;
}

/* Lanes as `say` would make them: on from the end of a lane, else a fork. */
struct maker {
    struct log   *log;
    struct sv     thread;
    struct arena *a;
    char (*lane)[24]; /* of each node */
    int64_t *seq;     /* of each node's entry */
    bool    *tip;     /* it is the end of its lane */
    int64_t  rev;
};

static void add_node(struct maker *m, struct entry *entries, size_t *n, int64_t i)
{
    int64_t parent = i == 0     ? -1
                     : draw(10) ? i - 1
                                : i - 1 - (int64_t)draw((uint64_t)(i < RECENT ? i : RECENT));
    char    me[24], up[24] = "";

    local_id(me, i);
    if (parent >= 0)
        local_id(up, parent);
    if (parent < 0) {
        strcpy(m->lane[i], "default");
    } else if (m->tip[parent]) {
        memcpy(m->lane[i], m->lane[parent], sizeof m->lane[i]);
        m->tip[parent] = false;
    } else {
        snprintf(m->lane[i], sizeof m->lane[i], "b-%.20s", me);
        struct sb b = sb_in(m->a, 0);
        sb_addf(
            &b,
            "{\"context_ref\":\"%s\",\"op_id\":\"op-%s\",\"operation\":{\"from\":{\"lane\":\"%s\","
            "\"seq\":%lld},\"reason\":\"manual\",\"type\":\"fork\"}}",
            m->lane[i], me, m->lane[parent], (long long)m->seq[parent]);
        entries[(*n)++] = (struct entry){
            .at = i, .kind = SV("ai_context_operation"), .actor = SV("bench"), .payload = sb_sv(&b)
        };
        m->rev++;
    }
    m->tip[i] = true;
    m->seq[i] = m->rev++;
    struct sb b = sb_in(m->a, 0);
    sb_addf(&b,
            "{\"content\":\"Node %lld says something of ordinary length about the weather and the "
            "sea.\","
            "\"context_ref\":\"%s\",\"node\":{\"author\":\"bench\",\"local_id\":\"%s\",\"parent\":",
            (long long)i, m->lane[i], me);
    sb_addf(&b, up[0] ? "\"%s\"" : "null%s", up);
    sb_adds(&b, ",\"via\":\"import\"},\"role\":\"user\"}");
    entries[(*n)++] = (struct entry){
        .at = i, .kind = SV("ai_message"), .actor = SV("bench"), .payload = sb_sv(&b)
    };
}

static double make(struct log *log, struct sv thread, int64_t nodes, struct err *e)
{
    struct arena      a = { 0 };
    struct entry     *entries = calloc(2 * BATCH, sizeof *entries);
    struct maker      m = { .log = log,
                            .thread = thread,
                            .lane = calloc((size_t)nodes, 24),
                            .seq = calloc((size_t)nodes, sizeof(int64_t)),
                            .tip = calloc((size_t)nodes, 1) };
    int64_t           began = clock_steady_us();
    struct store_head head;

    for (int64_t i = 0; i < nodes;) {
        size_t n = 0;
        m.a = &a;
        for (int k = 0; k < BATCH && i < nodes; k++, i++)
            add_node(&m, entries, &n, i);
        if (log_begin(log, thread, STORE_WRITE, e) ||
            log_append(log, thread, LOG_ANY_REV, entries, n, &head, e) || log_commit(log, e))
            fail("append", e);
        arena_free(&a);
        if (isatty(2))
            fprintf(stderr, "\r%lld", (long long)i);
    }
    if (isatty(2))
        fputs("\r         \r", stderr);
    free(entries);
    free(m.lane);
    free(m.seq);
    free(m.tip);
    return (double)(clock_steady_us() - began);
}

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One round: open the store, run the line, close. A line that ends in a blank gets a random
 * id. *wall is the command alone, *cpu everything. */
static void measure(struct sv url, int64_t nodes, const char *line, double *wall, double *cpu)
{
    struct arena       a = { 0 };
    struct err         e = { 0 };
    struct store      *store;
    struct session_env env = { 0 };
    struct session     s;
    struct result      r;
    char               id[24], text[128];

    local_id(id, (int64_t)draw((uint64_t)nodes));
    snprintf(text, sizeof text, "%s%s", line, line[strlen(line) - 1] == ' ' ? id : "");
    double began = cpu_us();
    if (store_open(url, &(struct store_options){ .create = true }, &store, &e))
        fail("open", &e);
    struct log log = log_of(store, views);
    log.wanted = &loom_view;
    if (session_open_person(&s, &log, &env, SV("t"), SV("bench"), 1000000000, &a, &e))
        fail("session", &e);
    int64_t started = clock_steady_us();
    if (strcmp(line, "say") == 0) {
        struct node n;
        if (session_say(&s, SV("A new thought."), (struct sv){ 0 }, "say", &n, &e))
            fail("say", &e);
    } else if (session_line(&s, sv_of(text), &r, &e) || !r.ok) {
        fail(text, r.ok ? &e : &r.error);
    }
    *wall = (double)(clock_steady_us() - started);
    store_close(store);
    *cpu = cpu_us() - began;
    arena_free(&a);
}

static const struct {
    const char *name, *line;
} work[] = {
    { "view", "view " },         { "switch", "switch to " }, { "list", "list continuations " },
    { "tree", "tree from:n00" }, { "path", "path " },        { "append", "say" },
};

enum { SIZES_MAX = 8 };
struct size {
    int64_t   nodes;
    struct sv url;
    double    built;                               /* µs a node */
    double    wall[COUNT(work)], cpu[COUNT(work)]; /* medians */
};

static void build(struct size *s, const char *folder, const char *nodes, struct arena *a)
{
    struct err    e = { 0 };
    struct sb     url = sb_in(a, 0);
    struct store *store;

    sb_addf(&url, "%s/%s.db", folder, nodes);
    s->url = sb_sv(&url);
    s->nodes = atoll(nodes);
    if (store_open(s->url, &(struct store_options){ .create = true }, &store, &e))
        fail("open", &e);
    struct log log = log_of(store, views);
    log.wanted = &loom_view;
    s->built = make(&log, SV("t"), s->nodes, &e) / (double)s->nodes;
    store_close(store);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, by_value);
    return v[ROUNDS / 2];
}

/* The sizes take turns, so that what else the machine does falls on all of them alike. */
static void measure_all(struct size *sizes, size_t n)
{
    static double wall[SIZES_MAX][ROUNDS], cpu[SIZES_MAX][ROUNDS];

    for (size_t k = 0; k < COUNT(work); k++) {
        for (size_t round = 0; round < ROUNDS; round++)
            for (size_t i = 0; i < n; i++)
                measure(sizes[i].url, sizes[i].nodes, work[k].line, &wall[i][round],
                        &cpu[i][round]);
        for (size_t i = 0; i < n; i++) {
            sizes[i].wall[k] = median(wall[i]);
            sizes[i].cpu[k] = median(cpu[i]);
        }
    }
}

static void print(const struct size *sizes, size_t n)
{
    printf("%10s %10s", "nodes", "build/node");
    for (size_t k = 0; k < COUNT(work); k++)
        printf(" %9s", work[k].name);
    printf("   (median µs; below: processor, open to close)\n");
    for (size_t i = 0; i < n; i++) {
        printf("%10lld %10.1f", (long long)sizes[i].nodes, sizes[i].built);
        for (size_t k = 0; k < COUNT(work); k++)
            printf(" %9.0f", sizes[i].wall[k]);
        printf("\n%10s %10s", "", "");
        for (size_t k = 0; k < COUNT(work); k++)
            printf(" %9.0f", sizes[i].cpu[k]);
        printf("\n");
    }
    for (size_t k = 0; n > 1 && k < COUNT(work); k++)
        printf("growth %-7s %5.2f  (processor %5.2f)\n", work[k].name,
               sizes[n - 1].wall[k] / sizes[0].wall[k], sizes[n - 1].cpu[k] / sizes[0].cpu[k]);
}

int main(int argc, char **argv)
{
    struct size  sizes[SIZES_MAX] = { 0 };
    struct arena a = { 0 };
    size_t       n = 0;

    if (argc < 3 || argc > 2 + SIZES_MAX)
        return 2;
    for (int i = 2; i < argc; i++)
        build(&sizes[n++], argv[1], argv[i], &a);
    measure_all(sizes, n);
    print(sizes, n);
    arena_free(&a);
    return 0;
}
