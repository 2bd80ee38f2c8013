/* Entries on their way in and out, and writers that meet. */
#include "thread_test.h"

#include <pthread.h>
#include <sys/wait.h>

static struct entry note(void)
{
    return (struct entry){ .at = 1, .kind = SV("note"), .payload = SV("{}") };
}

static void an_append_takes_place_at_the_expected_revision_only(void)
{
    struct entry n = note();

    OK(append_entries(THREAD, 0, &n, 1)); /* 0 is a new thread */
    OK(append_entries(THREAD, 1, &n, 1));
    CHECK_INT(append_entries(THREAD, 1, &n, 1), ST_CONFLICT);
    CHECK_SV(sv_of(t.e.reason), SV("rev"));
    CHECK_INT(append_entries(THREAD, 0, &n, 1), ST_CONFLICT);
    CHECK_INT(append_entries(THREAD, 3, &n, 1), ST_CONFLICT);
    CHECK_INT(rev(), 2);
    OK(append_entries(THREAD, LOG_ANY_REV, &n, 1));
}

static void nothing_appended_is_no_thread(void)
{
    OK(append_entries(THREAD, 0, NULL, 0));
    CHECK_INT(rev(), 0);
    CHECK(!view("default", NOW).s);
}

static void a_batch_is_written_whole_or_not_at_all(void)
{
    struct entry list[3] = { note(), note(), note() };

    list[2].kind = SV("ai_context_operation"); /* malformed */
    CHECK_INT(append_entries(THREAD, LOG_ANY_REV, list, 3), ST_INVALID_SYNTAX);
    CHECK_INT(rev(), 0);
    list[2] = note();
    OK(append_entries(THREAD, LOG_ANY_REV, list, 3));
    for (int64_t i = 0; i < 3; i++)
        CHECK_INT(entry_at(i).seq, i);
}

static void bad_thread_ids_are_refused_everywhere(void)
{
    static const struct sv bad[] = { SV_STATIC("../x"), SV_STATIC("a/b"),  SV_STATIC("."),
                                     SV_STATIC(".."),   SV_STATIC("/etc"), SV_STATIC(""),
                                     SV_STATIC("a\0b"), SV_STATIC("a\\b"), SV_STATIC(".hidden"),
                                     SV_STATIC("a\nb"), SV_STATIC("\xff") };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct entry     n = note();
        struct op        op = { SWITCH("a", "o"), .thread = bad[i] };
        struct op_result r;
        struct run_ref   who = { bad[i], { 0 }, SV("x"), 1 };
        struct run_state s;
        CHECK_INT(append_entries(bad[i], LOG_ANY_REV, &n, 1), ST_INVALID_SYNTAX);
        CHECK_INT(op_apply(&t.l, &op, &t.a, &r, &t.e), ST_INVALID_SYNTAX);
        CHECK_INT(run_status(&t.l, &who, &t.a, &s, &t.e), ST_INVALID_SYNTAX);
        CHECK_INT(log_begin(&t.l, bad[i], STORE_READ, &t.e), ST_INVALID_SYNTAX);
    }
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static const struct entry_defaults defaults = { 5, SV_STATIC("lane"), SV_STATIC("who") };

static struct entry_line read_line(const char *text)
{
    struct entry_line l = { 0 };

    OK(entry_read(sv_of(text), &defaults, &t.a, &l, &t.e));
    return l;
}

static void a_line_says_what_it_must_and_the_rest_is_filled_in(void)
{
    struct entry_line l = read_line("{\"kind\":\"ai_message\",\"payload\":{\"z\":1,\"a\":2}}");
    CHECK_SV(l.entry.payload, SV("{\"a\":2,\"z\":1}"));
    CHECK_SV(l.entry.lane, SV("lane"));
    CHECK_SV(l.entry.actor, SV("who"));
    CHECK_SV(l.entry.refs, SV("{}"));
    CHECK_INT(l.entry.at, 5);
    CHECK(!l.has_seq && !l.has_chain && !l.entry.id.s && !l.entry.op_id.s);
    CHECK(!read_line("{\"kind\":\"note\",\"payload\":{}}").entry.lane.s);
    CHECK(!read_line("{\"kind\":\"ai_message\",\"lane\":null,\"payload\":{}}").entry.lane.s);
    CHECK(!read_line("{\"kind\":\"note\",\"actor\":null,\"payload\":{}}").entry.actor.s);
    CHECK_SV(read_line("{\"kind\":\"note\",\"lane\":\"x\",\"payload\":{}}").entry.lane, SV("x"));
    CHECK_INT(read_line("{\"kind\":\"note\",\"at\":-3,\"payload\":{}}").entry.at, -3);
}

static void a_line_that_is_none_is_refused(void)
{
    static const char *const bad[] = {
        "",
        "[]",
        "7",
        "null",
        "{}",
        "{\"kind\":\"note\"}",
        "{\"payload\":{}}",
        "{\"kind\":\"\",\"payload\":{}}",
        "{\"kind\":7,\"payload\":{}}",
        "{\"kind\":\"note\",\"payload\":[]}",
        "{\"kind\":\"note\",\"payload\":null}",
        "{\"kind\":\"note\",\"payload\":{},\"refs\":[]}",
        "{\"kind\":\"note\",\"payload\":{},\"at\":1.5}",
        "{\"kind\":\"note\",\"payload\":{},\"at\":\"now\"}",
        "{\"kind\":\"note\",\"payload\":{},\"at\":99999999999999999999}",
        "{\"kind\":\"note\",\"payload\":{},\"lane\":7}",
        "{\"kind\":\"note\",\"payload\":{},\"id\":[]}",
        "{\"kind\":\"note\",\"payload\":{},\"op_id\":false}",
        "{\"kind\":\"note\",\"payload\":{},\"actor\":{}}",
        "{\"kind\":\"note\",\"payload\":{},\"seq\":\"0\"}",
        "{\"kind\":\"note\",\"payload\":{},\"chain\":\"00\"}",
        "{\"kind\":\"note\",\"payload\":{},\"chain\":7}",
        "{\"kind\":\"note\",\"payload\":{},\"typo\":1}",
        "{\"kind\":\"note\",\"payload\":{\"a\":1,\"a\":2}}",
        "{\"kind\":\"note\",\"payload\":{}} {}",
        "{\"kind\":\"note\",\"payload\":{\"a\":\"\xff\"}}",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct entry_line l;
        enum status       s = entry_read(sv_of(bad[i]), &defaults, &t.a, &l, &t.e);
        if (s != ST_INVALID_SYNTAX)
            printf("# accepted: %s\n", bad[i]);
        CHECK_INT(s, ST_INVALID_SYNTAX);
    }
}

static void entries_with_and_without_every_field_come_back_the_same(void)
{
    struct store *other = NULL;
    struct entry  list[] = {
         { .kind = SV("note"), .payload = SV("{}") }, /* nobody, nowhere, at 0 */
         { .kind = SV("ai_message"),
           .lane = SV("l"),
           .actor = SV("me"),
           .id = SV("my-id"),
           .op_id = SV("o\"dd"),
           .at = INT64_MAX,
           .refs = SV("{\"a\":\"\\u0000\"}"),
           .payload = SV("{\"content\":\"\\ud800\",\"role\":\"user\"}") },
         { .kind = SV("unknown-kind"),
           .at = INT64_MIN,
           .payload = SV("{\"n\":123456789012345678901234567890,\"x\":1.0e-7}") },
         { .kind = SV("ai_message"), .payload = SV("{\"role\":\"user\"}") }, /* in no lane */
    };

    OK(append_entries(THREAD, 0, list, COUNT(list)));
    OK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &other, &t.e));
    struct log l = log_of(other, test_views);
    OK(log_begin(&l, THREAD, STORE_WRITE, &t.e));
    for (int64_t i = 0; i < (int64_t)COUNT(list); i++) {
        struct entry      n = entry_at(i);
        struct sb         b = sb_in(&t.a, 0), again = sb_in(&t.a, 0);
        struct entry_line back;
        struct store_head h;
        entry_write(&b, &n);
        OK(entry_read(sb_sv(&b), &defaults, &t.a, &back, &t.e));
        OK(log_append(&l, THREAD, LOG_ANY_REV, &back.entry, 1, &h, &t.e));
        CHECK(hash_eq(&back.entry.chain, &n.chain));
        entry_write(&again, &back.entry);
        CHECK_SV(sb_sv(&again), sb_sv(&b));
    }
    log_abort(&l);
    store_close(other);
}

/* ---- writers that meet --------------------------------------------------------------------------
 */

/* In a process of its own: append with the revision it expects; how it ended is its exit status. */
static pid_t writer(int64_t expect, int times)
{
    fflush(stdout);
    pid_t child = fork();
    if (child)
        return child;
    struct store *s = NULL;
    struct err    e;
    if (store_open(sv_of(t.url), &(struct store_options){ .create = true }, &s, &e))
        _exit(100);
    struct log l = log_of(s, test_views);
    int        worst = 0;
    for (int i = 0; i < times && !worst; i++) {
        struct entry      n = note();
        struct store_head h;
        if (log_begin(&l, THREAD, STORE_WRITE, &e) ||
            log_append(&l, THREAD, expect, &n, 1, &h, &e) || log_commit(&l, &e)) {
            worst = (int)e.code;
            log_abort(&l);
        }
    }
    store_close(s);
    _exit(worst);
}

static int result_of(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

static void of_two_processes_with_the_same_expectation_one_wins(void)
{
    if (!t.on_disk)
        return; /* memory is not shared between processes */
    struct entry n = note();
    OK(append_entries(THREAD, 0, &n, 1));
    for (int64_t round = 1; round <= 10; round++) {
        pid_t a = writer(round, 1), b = writer(round, 1);
        int   x = result_of(a), y = result_of(b);
        CHECK((x == ST_OK && y == ST_CONFLICT) || (x == ST_CONFLICT && y == ST_OK));
        CHECK_INT(rev(), round + 1);
    }
    check_whole();
}

static void forty_appends_at_once_are_dense(void)
{
    if (!t.on_disk)
        return;
    pid_t children[4];
    for (size_t i = 0; i < COUNT(children); i++)
        children[i] = writer(LOG_ANY_REV, 10);
    for (size_t i = 0; i < COUNT(children); i++)
        CHECK_INT(result_of(children[i]), ST_OK);
    CHECK_INT(rev(), 40);
    for (int64_t i = 0; i < 40; i++)
        CHECK_INT(entry_at(i).seq, i);
    check_whole();
}

/* Two stores in one process on one log, in memory too. */
struct racer {
    struct store *s;
    enum status   ended;
    int64_t       expect;
    int           times;
};

static void *race(void *arg)
{
    struct racer *r = arg;
    struct log    l = log_of(r->s, test_views);
    struct err    e;

    r->ended = ST_OK;
    for (int i = 0; i < r->times && !r->ended; i++) {
        struct entry      n = note();
        struct store_head h;
        if (log_begin(&l, THREAD, STORE_WRITE, &e) ||
            log_append(&l, THREAD, r->expect, &n, 1, &h, &e) || log_commit(&l, &e)) {
            r->ended = e.code;
            log_abort(&l);
        }
    }
    return NULL;
}

static void run_race(struct racer *racers, size_t n)
{
    pthread_t threads[8];

    for (size_t i = 0; i < n; i++)
        CHECK(pthread_create(&threads[i], NULL, race, &racers[i]) == 0);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void two_stores_on_one_log_take_turns(void)
{
    struct racer racers[4] = { 0 };

    if (!t.on_disk) {
        store_close(t.s);
        snprintf(t.url, sizeof t.url, "mem:shared-by-two");
        t.s = test_open();
        t.l = log_of(t.s, test_views);
    }
    for (size_t i = 0; i < COUNT(racers); i++)
        racers[i] = (struct racer){ test_open(), ST_OK, 0, 1 };
    run_race(racers, 2);
    CHECK_INT((racers[0].ended == ST_OK) + (racers[1].ended == ST_OK), 1);
    CHECK_INT((racers[0].ended == ST_CONFLICT) + (racers[1].ended == ST_CONFLICT), 1);
    CHECK_INT(rev(), 1);
    for (size_t i = 0; i < COUNT(racers); i++) {
        racers[i].expect = LOG_ANY_REV;
        racers[i].times = 10;
    }
    run_race(racers, COUNT(racers));
    for (size_t i = 0; i < COUNT(racers); i++) {
        CHECK_INT(racers[i].ended, ST_OK);
        store_close(racers[i].s);
    }
    CHECK_INT(rev(), 41);
    for (int64_t i = 0; i < 41; i++)
        CHECK_INT(entry_at(i).seq, i);
    check_whole();
}

THREAD_MAIN(T(an_append_takes_place_at_the_expected_revision_only),
            T(nothing_appended_is_no_thread), T(a_batch_is_written_whole_or_not_at_all),
            T(bad_thread_ids_are_refused_everywhere),
            T(a_line_says_what_it_must_and_the_rest_is_filled_in),
            T(a_line_that_is_none_is_refused),
            T(entries_with_and_without_every_field_come_back_the_same),
            T(of_two_processes_with_the_same_expectation_one_wins),
            T(forty_appends_at_once_are_dense), T(two_stores_on_one_log_take_turns), )
