/* Finding nodes by common words: what it costs, and what is hidden. */
#include "fresh.h"
#include "loom_test.h"

#include "loom/search.h"

#include <string.h>

static struct arena a;
static struct err   e;

static struct store *store;
static struct log    mylog;

static void open_log(const char *path)
{
    char url[300];

    snprintf(url, sizeof url, "%s/log.db", path);
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &store, &e) == ST_OK);
    mylog = log_of(store, loom_test_views);
    mylog.wanted = &loom_view;
}

/* n messages, all with "the" and "and", every other one with "left", the others with "right". */
static void fill(struct sv thread, int n)
{
    enum { BATCH = 1000 };
    static struct entry list[BATCH];
    struct store_head   head;

    for (int done = 0; done < n; done += BATCH) {
        struct arena_mark m = arena_mark(&a);
        for (int i = 0; i < BATCH; i++) {
            struct sb b = sb_in(&a, 0);
            sb_addf(&b,
                    "{\"content\":\"the %s hand and word%d\",\"context_ref\":\"default\","
                    "\"role\":\"user\"}",
                    i % 2 ? "left" : "right", done + i);
            list[i] = (struct entry){ .kind = SV("ai_message"), .payload = sb_sv(&b) };
        }
        CHECK(log_begin(&mylog, thread, STORE_WRITE, &e) == ST_OK);
        CHECK(log_append(&mylog, thread, LOG_ANY_REV, list, BATCH, &head, &e) == ST_OK);
        CHECK(log_commit(&mylog, &e) == ST_OK);
        arena_reset(&a, m);
    }
    CHECK(log_begin(&mylog, thread, STORE_WRITE, &e) == ST_OK);
    CHECK(loom_index(&mylog, thread, &(struct loom_indexed){ 0 }, &e) == ST_OK);
    CHECK(log_commit(&mylog, &e) == ST_OK);
}

/* Reads of this process from files so far, as the kernel counts them. */
static int64_t reads(void)
{
    FILE     *f = fopen("/proc/self/io", "r");
    long long n = -1;
    char      line[100];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "syscr: %lld", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

static int64_t cost(const char *path, struct sv thread, const char *query, size_t want)
{
    struct found *list;
    size_t        n;
    bool          more;

    open_log(path); /* nothing is in memory yet */
    struct loom l = { .log = &mylog, .thread = thread, .a = &a, .now = TEST_NOW };
    CHECK(log_begin(&mylog, thread, STORE_READ, &e) == ST_OK);
    int64_t before = reads();
    CHECK(loom_find(&l, sv_of(query), false, 10, &list, &n, &more, &e) == ST_OK);
    int64_t after = reads();
    CHECK_INT(n, want);
    log_abort(&mylog);
    store_close(store);
    return after - before;
}

/* Sixteen times the nodes, not twice the reads. */
static void common_words_cost_what_they_return(void)
{
    static const struct {
        const char *query;
        size_t      want;
    } cases[] = { { "the", 10 }, { "the and", 10 }, { "hand left", 10 }, { "left right", 0 } };
    struct fresh f = fresh_folder();

    if (reads() < 0) {
        printf("# the kernel does not count reads: not compared\n");
        fresh_done(&f);
        return;
    }
    open_log(f.path);
    fill(SV("small"), 2000);
    fill(SV("large"), 32000);
    fill(SV("after"), 2000);
    store_close(store);
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t small = cost(f.path, SV("small"), cases[i].query, cases[i].want);
        int64_t large = cost(f.path, SV("large"), cases[i].query, cases[i].want);
        printf("# %s: %lld reads of 2,000 nodes, %lld of 32,000\n", cases[i].query,
               (long long)small, (long long)large);
        CHECK(large < 2 * small + 60);
    }
    fresh_done(&f);
    arena_free(&a);
}

/* A hundred newer matches below a pruned node do not hide the older one that can be seen. */
static void hidden_matches_do_not_count(void)
{
    static struct loom_test t;
    bool                    ok;

    loom_test_open(&t, PERM_ALL);
    loom_test_run(&t, "respond a7x2 \"a needle in sight\"", &ok);
    for (int i = 0; i < 100; i++)
        loom_test_run(&t, "respond d5n7 \"a needle in hay\"", &ok);
    loom_test_run(&t, "prune d5n7", &ok);
    CHECK(ok);
    struct sv said = loom_test_run(&t, "find \"needle\"", &ok);
    CHECK(sv_starts(said, SV("Find: \"needle\"\n1 node\n")));
    CHECK(sv_find(said, SV("a needle in sight")) > 0);
    loom_test_close(&t);
}

TAP_MAIN(T(common_words_cost_what_they_return), T(hidden_matches_do_not_count), )
