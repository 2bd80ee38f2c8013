/* Erasing what is old: what lanes and runs show stays, to the byte; everything else that is old
 * goes; the cost follows the number of entries and lanes. */
#include "naive.h"
#include "store/store_internal.h"
#include "thread/retain.h"
#include "thread/skeleton.h"
#include "thread_test.h"

enum { LOGS_IN_MEMORY = 150, LOGS_ON_DISK = 12, STEPS = 40 };

static struct retain_plan plan;

static enum status retain(struct sv thread, int64_t before, size_t max, bool erase)
{
    struct retain_what what = { .thread = thread, .before = before, .max = max };
    struct erase_how   how = { .reason = SV("retention"), .actor = SV("tester"), .at = 5000 };
    int64_t            seq;

    if (log_begin(&t.l, thread, erase ? STORE_WRITE : STORE_READ, &t.e))
        return t.e.code;
    enum status s = retain_find(&t.l, &what, &t.a, &plan, &t.e);
    if (!s && erase && plan.entries)
        s = erase_run(&t.l, &plan.erase, &how, &seq, &t.e) ? t.e.code : log_commit(&t.l, &t.e);
    log_abort(&t.l);
    return s;
}

/* "1 4 7": what goes. */
static struct sv going(int64_t before)
{
    struct sb b = sb_in(&t.a, 0);

    OK(retain(THREAD, before, 0, false));
    for (size_t i = 0; i < plan.erase.items.n; i++)
        sb_addf(&b, "%s%lld", i ? " " : "", (long long)plan.erase.items.v[i].seq);
    return sb_sv(&b);
}

static int64_t erased_in(struct sv thread)
{
    int                 n = 0;
    int64_t             entries, erased = 0;
    struct log_findings to = { .damage = tell_finding, .ctx = &n, .erased = &erased };

    OK(log_examine(&t.l, thread, &to, &entries, &t.e));
    CHECK_INT(n, 0);
    return erased;
}

/* ---- random logs -------------------------------------------------------------------------- */

static enum status note_seq(void *ctx, const struct message *m, struct err *e)
{
    (void)e;
    seq_set_add(ctx, m->seq);
    return ST_OK;
}

/* Projections of all lanes as text; what they are made of goes to `shown`. */
static struct sv all_lanes(struct sv thread, int64_t upto, struct seq_set *shown)
{
    struct sb b = sb_in(&t.a, 0);

    for (size_t i = 0; i < COUNT(naive_lanes); i++) {
        struct projection_of of = { thread, sv_of(naive_lanes[i]), upto, SV("CP") };
        struct projection    p;
        OK(log_begin(&t.l, thread, STORE_READ, &t.e));
        OK(project_start(&t.l, &of, &t.a, &p, &t.e));
        seq_set_add(shown, p.anchor);
        OK(project_write(&p, &b, &t.e));
        OK(project_each(&p, note_seq, shown, &t.e));
        log_abort(&t.l);
    }
    return sb_sv(&b);
}

/* Every old message and snapshot is shown or erased, and nothing else was touched. */
static void check_entries(struct sv thread, int64_t end, int64_t before,
                          const struct seq_set *shown)
{
    struct seq_set went = seq_set_in(&t.a, end);

    for (size_t i = 0; i < plan.erase.items.n; i++)
        seq_set_add(&went, plan.erase.items.v[i].seq);
    for (int64_t seq = 0; seq < end; seq++) {
        struct store_query q = { .thread = thread, .from = seq, .to = seq };
        struct entry       n;
        bool               found;
        OK(store_first(t.s, &q, &t.a, &n, &found, &t.e));
        CHECK_INT(n.erased, seq_set_has(&went, seq));
        if (!n.erased && !skeleton_has_content(&n, &t.a))
            continue;
        if (n.mark == MARK_MESSAGE || n.mark == MARK_ANCHOR)
            CHECK_INT(n.erased, n.at < before && !seq_set_has(shown, seq));
        CHECK(!n.erased || n.at < before);
    }
}

static void one_log(int i)
{
    struct sb   name = sb_in(&t.a, 0);
    struct dice d = { .seed = (uint64_t)i + 1 };
    int64_t     before, erased;

    sb_addf(&name, "random%d", i);
    struct sv thread = sb_sv(&name);
    OK(log_begin(&t.l, thread, STORE_WRITE, &t.e));
    for (int k = 0; k < STEPS; k++)
        OK(random_step(&t.l, thread, &d, k, &t.a, &t.e));
    OK(log_commit(&t.l, &t.e));
    struct store_head h;
    OK(store_head(t.s, thread, &h, &t.e));
    before = 1000 + (int64_t)roll(&d, STEPS + 2);
    struct seq_set shown = seq_set_in(&t.a, h.rev), again = seq_set_in(&t.a, h.rev);
    struct sv      was = all_lanes(thread, h.rev - 1, &shown);
    OK(retain(thread, before, 0, false));
    int64_t promised = plan.entries;
    OK(retain(thread, before, 0, true));
    CHECK_INT(plan.entries, promised);
    CHECK_SV(all_lanes(thread, h.rev - 1, &again), was);
    erased = erased_in(thread);
    CHECK_INT(erased, promised);
    check_entries(thread, h.rev, before, &shown);
    OK(retain(thread, before, 0, true));
    CHECK_INT(plan.entries, 0);
}

static void every_lane_projects_to_the_same_bytes(void)
{
    for (int i = 0; i < (t.on_disk ? LOGS_ON_DISK : LOGS_IN_MEMORY) && !tap_failures; i++) {
        one_log(i);
        arena_free(&t.a);
    }
}

/* ---- one thing at a time -------------------------------------------------------------------- */

static void age_decides(void)
{
    say("user", "first"); /* at 1000 */
    say("user", "second");
    apply(REPLACE("default", "op", "{\"messages\":[{\"content\":\"short\",\"role\":\"user\"}]}"));
    CHECK_SV(going(1000), SV(""));
    CHECK_SV(going(1001), SV("0"));
    CHECK_SV(going(9999), SV("0 1"));
    CHECK_INT(plan.kept, 1);
    CHECK_INT(plan.oldest, 1000);
    CHECK_INT(plan.newest, 1001);
}

static void a_fork_keeps_what_it_shares(void)
{
    say("user", "first");
    say("user", "second");
    apply(FORK("side", "fork", "default", 0));
    apply(REPLACE("default", "op", "{\"messages\":[]}"));
    CHECK_SV(going(9999), SV("1"));
    apply(REPLACE("side", "op2", "{\"messages\":[]}"));
    CHECK_SV(going(9999), SV("0 1"));
    apply(REPLACE("side", "op3", "{\"messages\":[]}"));
    CHECK_SV(going(9999), SV("0 1 4"));
}

static void runs_stay_until_the_next(void)
{
    start("do it", "r1");
    int64_t first = rev();
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"done\"}}\n"
           "{\"kind\":\"request_completed\",\"data\":{\"result\":\"all of it\"}}");
    apply(REPLACE("default", "op", "{\"messages\":[]}"));
    CHECK_SV(going(9999), SV(""));
    CHECK(run_now().result.n);
    start("again", "r2");
    steer("and be quick");
    CHECK(sv_starts(going(9999), SV("0 ")) || sv_starts(going(9999), SV("1 ")));
    for (size_t i = 0; i < plan.erase.items.n; i++)
        CHECK(plan.erase.items.v[i].seq <= first + 1);
    struct sv state = run_now().run_id;
    OK(retain(THREAD, 9999, 0, true));
    CHECK_SV(run_now().run_id, state);
    struct sv waiting = drain();
    CHECK(sv_find(waiting, SV("and be quick")) >= 0);
    check_whole();
}

static void a_parked_operation_stays(void)
{
    start("do it", "r1");
    apply(REPLACE("default", "op", "{\"messages\":[{\"content\":\"later\",\"role\":\"user\"}]}"));
    CHECK_INT(count_kind("ai_context_operation_deferred"), 1);
    CHECK_SV(going(9999), SV(""));
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"done\"}}\n{\"kind\":\"request_"
           "completed\"}");
    CHECK(sv_find(brief("default", NOW), SV("later")) >= 0);
}

static void the_newest_write_of_a_document_stays(void)
{
    line("{\"kind\":\"document_write\",\"payload\":{\"path\":\"a.md\",\"removed\":\"one\"}}");
    line("{\"kind\":\"document_write\",\"payload\":{\"path\":\"b.md\",\"removed\":\"two\"}}");
    line("{\"kind\":\"document_write\",\"payload\":{\"path\":\"a.md\",\"removed\":\"three\"}}");
    CHECK_SV(going(9999), SV("0"));
}

static void answers_follow_their_messages(void)
{
#define HASH(c) c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c
    line(
        "{\"kind\":\"model_response\",\"payload\":{\"body\":\"raw\",\"hash\":\"" HASH("ab") "\"}}");
    line(
        "{\"kind\":\"model_response\",\"payload\":{\"body\":\"raw\",\"hash\":\"" HASH("cd") "\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"content\":\"x\",\"node\":{\"response\":\"" HASH(
        "cd") "\"},\"role\":\"assistant\"}}");
    line("{\"kind\":\"note\",\"payload\":{\"text\":\"words\"}}");
    CHECK_SV(going(9999), SV("0 3"));
}

/* Nobody here knows what a tree shows. */
static void a_tree_that_nobody_knows_is_left(void)
{
    line("{\"kind\":\"summary\",\"payload\":{\"target\":{\"type\":\"tree\"},\"text\":\"words\"}}");
    line("{\"kind\":\"tool_action\",\"payload\":{\"line\":\"tree\",\"result\":\"words\"}}");
    CHECK_SV(going(9999), SV(""));
    CHECK_INT(plan.kept, 2);
}

static void parts_make_the_whole(void)
{
    for (int i = 0; i < 10; i++)
        say("user", "words that go");
    apply(REPLACE("default", "op", "{\"messages\":[]}"));
    OK(retain(THREAD, 9999, 4, true));
    CHECK_INT(plan.entries, 4);
    CHECK(plan.more);
    OK(retain(THREAD, 9999, 4, true));
    OK(retain(THREAD, 9999, 4, true));
    CHECK_INT(plan.entries, 2);
    CHECK(!plan.more);
    CHECK_INT(erased_in(THREAD), 10);
}

static void no_thread_no_plan(void)
{
    CHECK_INT(retain(SV("nosuch"), 9999, 0, false), ST_NOT_FOUND);
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* Store calls to plan for `n` lanes, each forked from the end of the one before, one message in
 * each: what was shared would be read over and over if points were not remembered. */
static int64_t calls_for(int n)
{
    char          url[64], lane[24] = "default", next[24];
    struct store *old = t.s;

    snprintf(url, sizeof url, "fault:0:mem:cost%d%s", n, t.on_disk ? "again" : "");
    OK(store_open(sv_of(url), &(struct store_options){ .create = true }, &t.s, &t.e));
    t.l = log_of(t.s, test_views);
    for (int i = 0; i < n; i++) {
        say_on(lane, "user", "words");
        snprintf(next, sizeof next, "l%d", i);
        apply(FORK(next, next, lane, rev() - 1));
        memcpy(lane, next, sizeof lane);
    }
    int64_t scans = fault_calls_of(t.s, "scan"), rows = fault_calls_of(t.s, "rows");
    OK(retain(THREAD, 999999, 0, false));
    scans = fault_calls_of(t.s, "scan") - scans + fault_calls_of(t.s, "rows") - rows;
    CHECK_INT(plan.entries, 0);
    CHECK_INT(plan.kept, 2 * n); /* forks have refs */
    store_close(t.s);
    t.s = old;
    t.l = log_of(t.s, test_views);
    return scans;
}

static void the_cost_is_linear(void)
{
    int64_t small = calls_for(50), large = calls_for(200);

    printf("# calls: %lld for 50 lanes, %lld for 200\n", (long long)small, (long long)large);
    CHECK(small > 50);
    CHECK(large <= 4 * small + 16);
}

THREAD_MAIN(T(every_lane_projects_to_the_same_bytes), T(age_decides),
            T(a_fork_keeps_what_it_shares), T(runs_stay_until_the_next),
            T(a_parked_operation_stays), T(the_newest_write_of_a_document_stays),
            T(answers_follow_their_messages), T(a_tree_that_nobody_knows_is_left),
            T(parts_make_the_whole), T(no_thread_no_plan), T(the_cost_is_linear), )
