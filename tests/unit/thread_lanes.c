/* Lanes: switching, forking, sharing a past; agents side by side. */
#include "thread_test.h"

#define CTX(text) "{\"messages\":[{\"role\":\"user\",\"content\":\"" text "\"}]}"

static void a_switch_goes_to_the_lane_and_hides_nothing(void)
{
    apply(REPLACE("alpha", "a", CTX("alpha")));
    apply(REPLACE("beta", "b", CTX("beta")));
    CHECK_SV(active(), SV("beta")); /* replacing a lane moves there */
    apply(SWITCH("alpha", "s"));
    CHECK_SV(active(), SV("alpha"));
    CHECK_SV(brief("alpha", NOW), SV("-| u:alpha"));
    CHECK_INT(count_kind("ai_context_operation"), 3);
    restart();
    CHECK_SV(active(), SV("alpha"));
}

static void a_fresh_lane_has_the_prompt_and_no_messages(void)
{
    start("Q1", "r1");
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A1\"}}\n{\"kind\":\"request_"
           "completed\"}");
    apply(SWITCH("alpha", "s"));
    CHECK_SV(active(), SV("alpha"));
    CHECK_SV(brief("alpha", NOW), SV("CP|"));
    start("Q2", "r2");
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A2\"}}\n{\"kind\":\"request_"
           "completed\"}");
    apply(SWITCH("default", "back"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q1 a:A1"));
    CHECK_SV(brief("alpha", NOW), SV("CP| u:Q2 a:A2"));
}

static void switching_to_the_lane_one_is_on_changes_no_message(void)
{
    say("user", "a");
    apply(SWITCH("default", "s"));
    say("user", "b");
    CHECK_SV(brief("default", NOW), SV("CP| u:a u:b"));
}

static void the_active_lane_at_first_is_default(void)
{
    CHECK_SV(active(), SV("default"));
    say_on("other", "user", "x"); /* a message moves nobody */
    CHECK_SV(active(), SV("default"));
}

static void a_fork_shares_the_past_and_goes_its_own_way(void)
{
    say("user", "0");
    say("assistant", "1");
    say("user", "2");
    apply(FORK("side", "f", "default", 1));
    say_on("side", "user", "s");
    say("assistant", "3");
    CHECK_SV(brief("side", NOW), SV("CP| u:0 a:1 u:s"));
    CHECK_SV(brief("default", NOW), SV("CP| u:0 a:1 u:2 a:3"));
    CHECK_SV(active(), SV("default"));
    CHECK_SV(brief("side", 2), SV("CP| u:0 a:1")); /* as a fork of it there would show */
    CHECK_SV(brief("side", 3), SV("CP| u:0 a:1"));
}

static void a_fork_at_the_head_shares_everything_and_switches_when_asked(void)
{
    say("user", "0");
    apply(FORK("side", "f", "default", OP_AT_HEAD), .also_switch = true);
    CHECK_SV(active(), SV("side"));
    CHECK_SV(brief("side", NOW), SV("CP| u:0"));
}

static void a_fork_before_everything_shares_nothing(void)
{
    say("user", "0");
    apply(FORK("side", "f", "default", -1));
    say_on("side", "user", "s");
    CHECK_SV(brief("side", NOW), SV("CP| u:s"));
}

static void a_fork_at_an_inherited_point_and_the_lane_at_that_point_show_the_same(void)
{
    say("user", "0");
    say("assistant", "1");
    say("user", "2");
    apply(FORK("one", "f1", "default", 2)); /* 3 */
    say_on("one", "assistant", "4");
    apply(FORK("two", "f2", "one", 1)); /* at a message `one` has from `default` */
    apply(FORK("three", "f3", "two", 0));
    apply(FORK("four", "f4", "one", 4));
    CHECK_SV(brief("two", NOW), SV("CP| u:0 a:1"));
    CHECK_SV(brief("three", NOW), SV("CP| u:0"));
    CHECK_SV(brief("four", NOW), SV("CP| u:0 a:1 u:2 a:4"));
    say_on("two", "user", "t");
    CHECK_SV(brief("two", NOW), SV("CP| u:0 a:1 u:t"));
    CHECK_SV(brief("one", 1),
             SV("CP| u:0 a:1")); /* what a fork there shows, the lane shows there */
    CHECK_SV(brief("one", 0), SV("CP| u:0"));
    CHECK_SV(brief("two", 0), SV("CP| u:0"));
    CHECK_SV(brief("four", 3), SV("CP| u:0 a:1 u:2"));
    CHECK_SV(brief("one", -1), SV("CP|"));
}

static void an_anchor_on_an_ancestor_counts(void)
{
    say("user", "0");
    apply(
        REPLACE("default", "r",
                "{\"system_prompt\":\"P\",\"messages\":[{\"role\":\"user\",\"content\":\"s\"}]}"));
    say("user", "2");
    apply(FORK("side", "f", "default", 2));
    apply(REPLACE("default", "r2", CTX("later"))); /* beyond the shared point */
    CHECK_SV(brief("side", NOW), SV("P| u:s u:2"));
    apply(FORK("early", "g", "default", 0));
    CHECK_SV(brief("early", NOW), SV("CP| u:0"));
    apply(REPLACE("side", "r3", CTX("own")));
    CHECK_SV(brief("side", NOW), SV("-| u:own"));
    CHECK_SV(brief("default", NOW), SV("-| u:later"));
}

static void a_rebase_on_a_fork_reaches_into_the_shared_past(void)
{
    say("user", "0");
    say("user", "1");
    apply(FORK("side", "f", "default", 1));
    say_on("side", "user", "3");
    say("user", "4"); /* of the other lane */
    apply(REPLACE("side", "r", CTX("s")), .has_base_seq = true, .base_seq = 0, .rebase = true);
    CHECK_SV(brief("side", NOW), SV("-| u:s u:1 u:3"));
}

static void what_a_lane_shares_is_settled_when_it_comes_into_being(void)
{
    say("user", "0");
    say_on("side", "user", "1");
    refuse(ST_CONFLICT, FORK("side", "f", "default", 0));
    CHECK_SV(sv_of(t.e.reason), SV("lane_exists"));
    refuse(ST_CONFLICT, FORK("default", "f", "side", 0));
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"raw\",\"context_ref\":"
         "\"side\","
         "\"operation\":{\"type\":\"fork\",\"from\":{\"lane\":\"default\",\"seq\":0}}}}");
    CHECK_SV(brief("side", NOW), SV("CP| u:1"));
}

static void forks_from_nowhere_are_refused(void)
{
    say("user", "0");
    refuse(ST_NOT_FOUND, FORK("a", "f", "nowhere", 0));
    refuse(ST_NOT_FOUND, FORK("a", "f", "default", 1));
    refuse(ST_NOT_FOUND, FORK("a", "f", "default", -2));
    CHECK_INT(rev(), 1);
}

static void forks_that_point_at_each_other_end(void)
{
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"1\",\"context_ref\":\"a\","
         "\"operation\":{\"type\":\"fork\",\"from\":{\"lane\":\"b\",\"seq\":99}}}}");
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"2\",\"context_ref\":\"b\","
         "\"operation\":{\"type\":\"fork\",\"from\":{\"lane\":\"a\",\"seq\":99}}}}");
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"3\",\"context_ref\":\"c\","
         "\"operation\":{\"type\":\"fork\",\"from\":{\"lane\":\"c\",\"seq\":99}}}}");
    say_on("a", "user", "x");
    say_on("b", "user", "y");
    CHECK_SV(brief("a", NOW), SV("CP| u:x"));
    CHECK_SV(brief("b", NOW), SV("CP| u:y"));
    CHECK_SV(brief("c", NOW), SV("CP|"));
    check_whole();
}

static void lanes_are_listed_with_what_they_share(void)
{
    struct lane *list;
    size_t       n;

    say("user", "0");
    apply(FORK("b", "f", "default", 0));
    say_on("a", "user", "x");
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(lane_list(&t.l, THREAD, &t.a, &list, &n, &t.e));
    log_abort(&t.l);
    CHECK_INT(n, 3);
    CHECK_SV(list[0].name, SV("a"));
    CHECK(!list[0].from.s);
    CHECK_SV(list[1].name, SV("b"));
    CHECK_SV(list[1].from, SV("default"));
    CHECK_INT(list[1].at, 0);
    CHECK_INT(list[1].seq, 1);
    CHECK_SV(list[2].name, SV("default"));
}

static void agents_have_lanes_and_runs_of_their_own(void)
{
    struct run_state s;

    say("user", "0");
    apply(SWITCH("red", "1"), .agent = SV("ann"));
    CHECK_SV(active_of("ann"), SV("red"));
    CHECK_SV(active_of("bob"), SV("default"));
    CHECK_SV(active(), SV("default"));
    OK(start_run("ann", "QA", "ra", &s));
    OK(start_run("bob", "QB", "rb", &s)); /* on another lane: nobody waits */
    CHECK(apply(SWITCH("blue", "2"), .agent = SV("ann")).deferred);
    CHECK(apply(SWITCH("blue", "3")).applied); /* the default agent has no run */
    struct run_report r;
    OK(send_events("ann",
                   "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"AA\"}}\n"
                   "{\"kind\":\"request_completed\"}",
                   &s, &r));
    CHECK_SV(active_of("ann"), SV("blue"));
    CHECK_SV(brief("red", NOW), SV("CP| u:QA a:AA"));
    CHECK_SV(brief("default", NOW), SV("CP| u:0 u:QB"));
    CHECK_INT(send_events("bob", "{\"kind\":\"request_completed\",\"request_id\":\"ra\"}", &s, &r),
              ST_CONFLICT);
    check_whole();
}

static void a_cursor_from_before_a_fork_starts_afresh(void)
{
    struct projection_of of = { THREAD, SV("side"), NOW, { 0 } };
    struct projection    p;
    bool                 restarts;

    say("user", "0");
    say("user", "1");
    apply(FORK("side", "f", "default", 0)); /* 2 */
    say_on("side", "user", "3");
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(project_start(&t.l, &of, &t.a, &p, &t.e));
    OK(project_since(&p, 1, &restarts, NULL, NULL, &t.e));
    CHECK(restarts); /* at 1 the lane was not there; now it begins with entry 0 */
    OK(project_since(&p, 3, &restarts, NULL, NULL, &t.e));
    CHECK(!restarts);
    log_abort(&t.l);
}

THREAD_MAIN(T(a_switch_goes_to_the_lane_and_hides_nothing),
            T(a_fresh_lane_has_the_prompt_and_no_messages),
            T(switching_to_the_lane_one_is_on_changes_no_message),
            T(the_active_lane_at_first_is_default), T(a_fork_shares_the_past_and_goes_its_own_way),
            T(a_fork_at_the_head_shares_everything_and_switches_when_asked),
            T(a_fork_before_everything_shares_nothing),
            T(a_fork_at_an_inherited_point_and_the_lane_at_that_point_show_the_same),
            T(an_anchor_on_an_ancestor_counts), T(a_rebase_on_a_fork_reaches_into_the_shared_past),
            T(what_a_lane_shares_is_settled_when_it_comes_into_being),
            T(forks_from_nowhere_are_refused), T(forks_that_point_at_each_other_end),
            T(lanes_are_listed_with_what_they_share), T(agents_have_lanes_and_runs_of_their_own),
            T(a_cursor_from_before_a_fork_starts_afresh), )
