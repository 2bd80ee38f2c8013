/* Long transcripts are read by a second thread of execution; and several processes may import one
 * transcript at the same time, as a hook and an import do. */
#include "fresh.h"
#include "harness/limits.h"
#include "harness_test.h"
#include "store/store_internal.h" /* fault_arm() */

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#define SESSION "11111111-2222-4333-8444-555555555555"
#define THREAD "claude-code-11111111"

enum { TURNS = 3000, TURN_BYTES = 600 };

static void write_turns_of(int from, int to, int bytes)
{
    struct sb   b = sb_in(&h.a, 0);
    const char *text = memset(ARENA_NEW(&h.a, char, (size_t)bytes + 1), 'x', (size_t)bytes);

    for (int i = from; i < to; i++) {
        char parent[16] = "null";
        if (i)
            snprintf(parent, sizeof parent, "\"u%d\"", i - 1);
        sb_addf(&b,
                "{\"type\":\"user\",\"sessionId\":\"" SESSION
                "\",\"uuid\":\"u%d\",\"parentUuid\":%s,"
                "\"message\":{\"role\":\"user\",\"content\":\"%d %s\"}}\n",
                i, parent, i, text);
        if (i % 100 == 7)
            sb_adds(&b, "not JSON\n\n");
    }
    give_bytes(sb_sv(&b));
}

static void write_turns(int from, int to)
{
    write_turns_of(from, to, TURN_BYTES);
}

static int64_t messages_in(struct log *l)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = SV(THREAD), .to = STORE_TO_END };
    struct entry                           n;
    int64_t                                count = 0;
    bool                                   more = true;

    OK(log_begin(l, SV(THREAD), STORE_READ, &h.e));
    OK(log_scan(l, &q, &scan, &h.e));
    while (!log_scan_next(scan, &n, &more, &h.e) && more)
        count += sv_is(n.kind, "ai_message");
    log_scan_undo(&scan);
    scan = NULL;
    log_abort(l);
    return count;
}

static void a_long_transcript_is_read_ahead_and_nothing_is_lost(void)
{
    write_turns(0, TURNS);
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.messages, TURNS);
    CHECK_INT(messages_in(&h.l), TURNS);
    CHECK_INT(h.report.notes.v[0].count, TURNS / 100);
    write_turns(TURNS, TURNS + 10);
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.messages, 10);
    CHECK_INT(messages_in(&h.l), TURNS + 10);
    check_log(SV(THREAD));
}

static void a_limit_stops_the_reader_too(void)
{
    int64_t read = 0;
    int     calls = 0;

    write_turns(0, TURNS);
    h.limits.bytes = 300000;
    do {
        take(HARNESS_CLAUDE_CODE);
        read += h.report.messages;
    } while (h.report.more && ++calls < 100);
    CHECK(calls >= 5);
    CHECK_INT(read, TURNS);
    CHECK_INT(messages_in(&h.l), TURNS);
}

/* ---- a store that fails -------------------------------------------------------------------------
 */

enum { LONG_TURNS = 20, LONG_BYTES = 2 * HARNESS_BULK / LONG_TURNS };

/* Imports a long transcript of a session that is bound already; the k-th call of the store fails.
 * An import that fails says so, keeps nothing open, and is right when it is repeated. */
static bool import_fails_at(int64_t k)
{
    bool fails;

    harness_end();
    harness_begin_in("fault:0:mem:");
    write_turns_of(0, 1, 1);
    take(HARNESS_CLAUDE_CODE);
    write_turns_of(1, LONG_TURNS, LONG_BYTES);
    fault_arm(h.s, k);
    fails = take_status(HARNESS_CLAUDE_CODE) != ST_OK;
    CHECK(fails == (fault_calls(h.s) >= k));
    CHECK(!fails || sv_is(sv_of(h.e.reason), "fault"));
    fault_arm(h.s, 0);
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(messages_in(&h.l), LONG_TURNS);
    check_log(SV(THREAD));
    return fails;
}

static void an_import_that_a_store_fails_ends_and_can_be_repeated(void)
{
    int64_t k = 1;

    while (!tap_failures && import_fails_at(k))
        k++;
    CHECK(k > 10);
    if (tap_failures)
        printf("# call %lld\n", (long long)k);
}

/* ---- two at once --------------------------------------------------------------------------------
 */

struct importer {
    const char *url, *file;
    struct err  e;
    enum status status;
    int64_t     messages;
};

static void *import_all(void *ctx)
{
    struct importer      *x = ctx;
    struct arena          a = { 0 };
    struct store         *s = NULL;
    struct harness_report r;
    int                   fd = open(x->file, O_RDONLY | O_CLOEXEC);
    struct harness_source src = { .harness = HARNESS_CLAUDE_CODE,
                                  .fd = fd,
                                  .dir = -1,
                                  .path = SV("/t"),
                                  .actor = SV("ada"),
                                  .now = 1 };
    /* Small steps, so that the two take turns. */
    struct harness_limits limits = { .bytes = 200000 };

    x->status = store_open(sv_of(x->url), &(struct store_options){ .create = true }, &s, &x->e);
    if (!x->status) {
        struct log l = log_of(s, harness_test_views);
        do {
            harness_report_init(&r, &a);
            x->status = harness_import(&l, &src, &limits, &r, &x->e);
            x->messages += r.messages;
        } while (!x->status && r.more);
        store_close(s);
    }
    arena_free(&a);
    close(fd);
    return NULL;
}

static void two_imports_at_once_append_every_record_once(void)
{
    struct fresh    f = fresh_folder();
    char            url[300], file[300];
    struct importer x[2];
    pthread_t       threads[2];
    struct store   *s = NULL;

    snprintf(url, sizeof url, "sqlite:%s/log.db", f.path);
    snprintf(file, sizeof file, "%s/t.jsonl", f.path);
    close(h.fd);
    h.fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    write_turns(0, TURNS / 2);
    OK(store_open(sv_of(url), &(struct store_options){ .create = true }, &s, &h.e));
    for (int i = 0; i < 2; i++) {
        x[i] = (struct importer){ .url = url, .file = file };
        CHECK_INT(pthread_create(&threads[i], NULL, import_all, &x[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        if (x[i].status) {
            FAIL("import");
            printf("# %s\n", x[i].e.text);
        }
    CHECK_INT(x[0].messages + x[1].messages, TURNS / 2);
    struct log l = log_of(s, harness_test_views);
    CHECK_INT(messages_in(&l), TURNS / 2);
    store_close(s);
    fresh_done(&f);
}

HARNESS_MAIN(T(a_long_transcript_is_read_ahead_and_nothing_is_lost),
             T(a_limit_stops_the_reader_too),
             T(an_import_that_a_store_fails_ends_and_can_be_repeated),
             T(two_imports_at_once_append_every_record_once), )
