/* What it costs to assemble a turn of 50,000 tokens, by the length of the thread.
 *
 *     bench_assemble FOLDER MESSAGES...
 *
 * For each length a thread is made, of messages of about a hundred tokens, and then the same
 * request is assembled again and again in one process, each time in a transaction of its own on a
 * store that stays open. The first time counts every text; afterwards counts are found by the hash
 * of a text. Times are medians in microseconds by the clock. Ends with status 1 when a reach is
 * missed. */
#include "assemble/assemble.h"
#include "base/clock.h"
#include "loom/agent.h"
#include "loom/write.h"
#include "store/store.h"
#include "thread/lane.h"

#include <stdio.h>
#include <stdlib.h>

static const struct view *const views[] = { &thread_view, &loom_view, &agents_view, NULL };

enum {
    ROUNDS = 31,
    BATCH = 1000,
    TOKENS = 50000,
    REACH_US = 5000,
    REACH_PERCENT = 150, /* the longest thread against the shortest */
};

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

/* About a hundred tokens of something like prose. */
static struct sv some_text(struct arena *a)
{
    static const char *const words[] = { "the",    "keeper",  "lamp",    "tower", "never",
                                         "went",   "out",     "because", "ships", "came",
                                         "slowly", "through", "winter",  "and",   "nobody",
                                         "asked",  "why",     "again" };
    struct sb                b = sb_in(a, 0);

    sb_addf(&b, "Line %llu.", (unsigned long long)draw(1000000));
    for (int i = 0; i < 90; i++)
        sb_addf(&b, " %s%s", words[draw(COUNT(words))], draw(12) ? "" : ",");
    return sb_sv(&b);
}

static void make_thread(struct log *log, struct sv thread, long messages)
{
    struct err   e;
    struct arena a = { 0 };

    for (long done = 0; done < messages;) {
        struct entry     *list = ARENA_NEW(&a, struct entry, BATCH);
        struct store_head head;
        size_t            n = 0;
        for (; n < BATCH && done < messages; n++, done++) {
            struct sb b = sb_in(&a, 0);
            struct jw w = jw_in(&b, 0);
            jw_open(&w, '{');
            jw_kstr(&w, "content", some_text(&a));
            jw_kstr(&w, "context_ref", SV("default"));
            jw_kstr(&w, "role", done % 2 ? SV("assistant") : SV("user"));
            jw_close(&w, '}');
            list[n] = (struct entry){ .at = 1794743400000 + done * 1000,
                                      .kind = SV("ai_message"),
                                      .actor = SV("ada"),
                                      .payload = sb_sv(&b) };
        }
        if (log_begin(log, thread, STORE_WRITE, &e) ||
            log_append(log, thread, LOG_ANY_REV, list, n, &head, &e) || log_commit(log, &e))
            fail("append", &e);
        arena_free(&a);
    }
}

static int by_size(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return a < b ? -1 : a > b;
}

struct timing {
    int64_t first, again, body; /* µs */
    size_t  tokens, messages;
};

static int64_t once(struct log *log, const struct assembly_request *q, struct timing *t,
                    int64_t *body_us)
{
    struct arena            a = { 0 };
    struct assembly         x;
    struct err              e;
    struct assembly_request own = *q;
    struct sb               body = sb_in(&a, 0);
    struct render_report    report = report_in(&a);
    int64_t                 start = clock_steady_us(), end;

    own.loom.a = &a;
    if (log_begin(log, q->loom.thread, STORE_READ, &e) || assembly_make(&own, &a, &x, &e))
        fail("assemble", &e);
    log_abort(log);
    end = clock_steady_us();
    t->tokens = x.tokens;
    t->messages = x.context.n;
    struct body_settings settings = { .model = SV("m"), .cache = x.cache };
    if (body_write(BODY_ANTHROPIC, &x.context, &settings, &a, &body, &report, &e))
        fail("body", &e);
    *body_us = clock_steady_us() - end;
    arena_free(&a);
    return end - start;
}

static struct timing measure(struct log *log, struct sv thread, struct tokens *tokens)
{
    struct counts           counts;
    struct arena            a = { 0 };
    struct timing           t = { 0 };
    int64_t                 times[ROUNDS], bodies[ROUNDS];
    struct assembly_request q = {
        .loom = { .log = log, .thread = thread, .a = &a, .now = 1794743400000 },
        .agent = { .name = SV("Collab"), .kind = AUTHOR_MODEL, .permissions = PERM_ALL },
        .input = SV("And what now?"),
        .counts = &counts,
        .budget = TOKENS,
        .strategy = ASSEMBLY_ROLLING_WINDOW, /* which uses all of the budget */
    };

    counts_init(&counts, tokens, 1000);
    t.first = once(log, &q, &t, &bodies[0]);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = once(log, &q, &t, &bodies[i]);
    qsort(times, ROUNDS, sizeof times[0], by_size);
    qsort(bodies, ROUNDS, sizeof bodies[0], by_size);
    t.again = times[0];
    t.body = bodies[0];
    counts_release(&counts);
    arena_free(&a);
    return t;
}

int main(int argc, char **argv)
{
    struct err     e;
    struct arena   a = { 0 };
    struct tokens *tokens;
    int64_t        least = INT64_MAX, most = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: bench_assemble FOLDER MESSAGES...\n");
        return 2;
    }
    if (tokens_open(TOKENS_O200K, (struct sv){ 0 }, &tokens, &e))
        fail("tokens", &e);
    printf("| messages | tokens | messages sent | first | again | as a body | reach | |\n"
           "|---:|---:|---:|---:|---:|---:|---|---|\n");
    for (int i = 2; i < argc; i++) {
        struct store *store;
        struct sb     url = sb_in(&a, 0);
        long          n = strtol(argv[i], NULL, 10);
        sb_addf(&url, "sqlite:%s/%ld.db", argv[1], n);
        if (store_open(sb_sv(&url), &(struct store_options){ .create = true }, &store, &e))
            fail("open", &e);
        struct log log = log_of(store, views);
        log.wanted = &loom_view;
        make_thread(&log, SV("t"), n);
        struct timing t = measure(&log, SV("t"), tokens);
        printf("| %ld | %zu | %zu | %lld µs | %lld µs | %lld µs | < %d µs again | %s |\n", n,
               t.tokens, t.messages, (long long)t.first, (long long)t.again, (long long)t.body,
               REACH_US, t.again < REACH_US ? "yes" : "NO");
        least = t.again < least ? t.again : least;
        most = t.again > most ? t.again : most;
        store_close(store);
    }
    bool even = most * 100 <= least * REACH_PERCENT;
    printf("\nThe slowest of these is %.2f times the fastest; reach: 1.5 (%s).\n",
           (double)most / (double)(least ? least : 1), even ? "yes" : "NO");
    tokens_close(tokens);
    arena_free(&a);
    return most < REACH_US && even ? 0 : 1;
}
