/* Runs: from the request to its end, with tools, steering, crashes and repeated reports. */
#include "base/path.h"
#include "thread_test.h"

#define ANSWER(text) "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"" text "\"}}\n"
#define DONE "{\"kind\":\"request_completed\"}\n"
#define CALLS                                                                                      \
    "{\"kind\":\"llm_completed\",\"id\":\"e1\",\"data\":{\"tool_calls\":[{\"id\":\"t1\",\"name\":" \
    "\"f\",\"arguments\":{}},{\"id\":\"t2\",\"name\":\"g\",\"arguments\":{}}]}}\n"
#define RESULT(id, text)                                                                           \
    "{\"kind\":\"tool_completed\",\"tool_call_id\":\"" id "\",\"data\":{\"content\":\"" text       \
    "\"}}\n"

static bool reason_is(const char *want)
{
    bool same = strcmp(t.e.reason, want) == 0;

    if (!same)
        printf("# reason '%s' (%s), want '%s'\n", t.e.reason, t.e.text, want);
    return same;
}

static void a_start_logs_the_user_with_our_refs(void)
{
    struct run_state s = start("Q", "r1");

    CHECK_INT(s.status, RUN_AWAITING_LLM);
    CHECK(s.active);
    CHECK_INT(s.iteration, 1);
    CHECK_SV(s.request_id, SV("r1"));
    CHECK_SV(s.run_id, SV("r1"));
    CHECK_INT(count_kind("ai_message"), 1);
    struct entry n = last_entry();
    CHECK_SV(n.refs, SV("{\"request_id\":\"r1\",\"run_id\":\"r1\"}"));
    CHECK_SV(n.payload, SV("{\"content\":\"Q\",\"context_ref\":\"default\",\"request_id\":\"r1\","
                           "\"role\":\"user\",\"run_id\":\"r1\"}"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q"));
}

static void callers_refs_are_kept_but_cannot_name_ours(void)
{
    struct run_ref   who = who_of(NULL);
    struct run_start start = { .content = SV("\"Q\""),
                               .request_id = SV("r1"),
                               .refs =
                                   SV("{\"request_id\":\"x\",\"run_id\":\"x\",\"signal_id\":\"x\","
                                      "\"slack_ts\":\"17.5\"}") };
    struct run_state s;

    OK(run_start(&t.l, &who, &start, &t.a, &s, &t.e));
    CHECK_SV(last_entry().refs,
             SV("{\"request_id\":\"r1\",\"run_id\":\"r1\",\"slack_ts\":\"17.5\"}"));
}

static void a_second_start_is_busy(void)
{
    struct run_state s;

    start("Q", "r1");
    int64_t before = rev();
    CHECK_INT(start_run(NULL, "Q2", "r2", &s), ST_CONFLICT);
    CHECK(reason_is("busy"));
    CHECK_INT(rev(), before);
}

static void an_unknown_tool_is_refused_and_nothing_is_logged(void)
{
    struct run_ref   who = who_of(NULL);
    struct json      config = json_of_text("{\"tools\":[\"a\",\"b\"]}");
    struct json      good = json_of_text("[\"a\"]"), bad = json_of_text("[\"a\",\"z\"]");
    struct run_start start = { .content = SV("\"Q\""), .config = &config, .allowed = &bad };
    struct run_state s;

    CHECK_INT(run_start(&t.l, &who, &start, &t.a, &s, &t.e), ST_INVALID_SYNTAX);
    CHECK(reason_is("unknown_allowed_tools"));
    CHECK_INT(rev(), 0);
    start.allowed = &good;
    OK(run_start(&t.l, &who, &start, &t.a, &s, &t.e));
}

static void a_request_id_is_used_once(void)
{
    struct run_state s;

    start("Q", "r1");
    events(DONE);
    CHECK_INT(start_run(NULL, "another Q", "r1", &s), ST_CONFLICT);
    CHECK(reason_is("request_id"));
    CHECK_INT(start_run(NULL, "Q", "../r", &s), ST_INVALID_SYNTAX);
    OK(start_run(NULL, "Q", NULL, &s)); /* one is made */
    CHECK(sv_starts(s.request_id, SV("req_")));
}

static void a_run_with_tools_is_logged_turn_by_turn(void)
{
    start("Q", "r1");
    struct run_state s = events(CALLS);
    CHECK_INT(s.status, RUN_AWAITING_TOOL);
    CHECK_INT(s.n_calls, 2);
    s = events(RESULT("t1", "one") RESULT("t2", "two"));
    CHECK_INT(s.status, RUN_AWAITING_LLM);
    CHECK_INT(s.iteration, 2);
    s = events(ANSWER("A") DONE);
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK(!s.active);
    CHECK_SV(s.termination_reason, SV("final_answer"));
    CHECK_SV(s.result, SV("\"A\""));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]: t(t1):one t(t2):two a:A"));
    struct entry n = entry_at(2);
    CHECK(sv_find(n.refs, SV("\"signal_id\":\"e1\"")) > 0);
    start("Q2", "r2");
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]: t(t1):one t(t2):two a:A u:Q2"));
    check_whole();
}

static void results_are_logged_in_the_order_of_the_calls(void)
{
    start("Q", "r1");
    events(CALLS RESULT("t2", "fast"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]:")); /* it waits, in the log */
    CHECK_SV(last_entry().kind, SV("run_tool_held"));
    restart();
    struct run_state s = events(RESULT("t1", "slow"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]: t(t1):slow t(t2):fast"));
    CHECK_INT(s.status, RUN_AWAITING_LLM);
    check_whole();
}

static void a_result_twice_is_logged_once(void)
{
    struct run_state  s;
    struct run_report r;

    start("Q", "r1");
    events(CALLS);
    OK(send_events(NULL,
                   RESULT("t2", "two") RESULT("t2", "two") RESULT("t1", "one") RESULT("t1", "one"),
                   &s, &r));
    CHECK_INT(r.duplicates, 2);
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]: t(t1):one t(t2):two"));
    CHECK_INT(refused_events(RESULT("t9", "x")), ST_CONFLICT);
    CHECK(reason_is("unknown_tool_call"));
}

static void tool_content_is_as_given_or_in_an_envelope(void)
{
    start("Q", "r1");
    events(CALLS "{\"kind\":\"tool_completed\",\"tool_call_id\":\"t1\",\"data\":{\"result\":{\"b\":"
                 "1,\"a\":2}}}\n"
                 "{\"kind\":\"tool_completed\",\"tool_call_id\":\"t2\",\"data\":{\"error\":{"
                 "\"type\":\"timeout\"}}}");
    CHECK_SV(brief("default", NOW),
             SV("CP| u:Q a[t1,t2]: t(t1):{\"ok\":true,\"result\":{\"a\":2,\"b\":1}} "
                "t(t2):{\"error\":{\"type\":\"timeout\"},\"ok\":false}"));
    events("{\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"o1\",\"type\":"
           "\"function\","
           "\"function\":{\"name\":\"h\",\"arguments\":\"{}\"}}]}}\n"
           "{\"kind\":\"tool_completed\",\"tool_call_id\":\"o1\",\"data\":{\"content\":[{\"type\":"
           "\"text\","
           "\"text\":\"{}\"},{\"type\":\"image\",\"data\":\"AA==\"}]}}");
    struct json p = payload_of(&(struct entry){ .payload = last_entry().payload });
    CHECK_SV(json_text(&p, "name"), SV("h")); /* found inside "function" */
    CHECK_INT(json_find(&p, "content")->n, 2);
}

static void everything_a_model_said_is_kept(void)
{
    start("Q", "r1");
    struct run_state s =
        events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"thinking\":\"h\","
               "\"reasoning_details\":[{\"sig\":\"x\"}],\"usage\":{\"in\":3,\"out\":4}}}");
    CHECK_SV(s.usage, SV("{\"in\":3,\"out\":4}"));
    struct json p = payload_of(&(struct entry){ .payload = last_entry().payload });
    CHECK_SV(json_text(&p, "thinking"), SV("h"));
    CHECK(json_find(&p, "reasoning_details"));
    events(DONE);
    start("Q2", "r2");
    CHECK(sv_find(view("default", NOW), SV("\"reasoning_details\":[{\"sig\":\"x\"}]")) > 0);
}

static void what_a_failed_run_said_stays_in_view_and_log(void)
{
    start("Q1", "r1");
    struct run_state s =
        events("{\"kind\":\"request_failed\",\"data\":{\"error\":{\"type\":\"http\",\"code\":500},"
               "\"error_type\":\"llm_request\"}}");
    CHECK_INT(s.status, RUN_ERROR);
    CHECK_SV(s.result, SV("{\"code\":500,\"type\":\"http\"}"));
    CHECK_SV(s.termination_reason, SV("llm_request"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q1"));
    start("Q2", "r2");
    struct sv input = brief("default", NOW);
    restart();
    CHECK_SV(brief("default", NOW), input); /* one truth */
    CHECK_SV(input, SV("CP| u:Q1 u:Q2"));
}

static void a_cancel_names_its_reason(void)
{
    start("Q", "r1");
    struct run_state s = events("{\"kind\":\"request_cancelled\",\"data\":{\"reason\":\"r\"}}");
    CHECK_INT(s.status, RUN_ERROR);
    CHECK_SV(s.termination_reason, SV("cancelled"));
    CHECK_SV(s.cancel_reason, SV("r"));
    CHECK_SV(s.result, SV("{\"cancelled\":\"r\"}"));
    start("Q", "r2");
    struct run_ref who = who_of(NULL);
    int64_t        before = rev();
    CHECK_INT(run_cancel(&t.l, &who, SV("r9"), SV("x"), &t.a, &s, &t.e), ST_CONFLICT);
    CHECK(reason_is("request_mismatch"));
    CHECK_INT(rev(), before);
    OK(run_cancel(&t.l, &who, SV("r2"), (struct sv){ 0 }, &t.a, &s, &t.e));
    CHECK_SV(s.cancel_reason, SV("user_cancelled"));
    CHECK_INT(run_cancel(&t.l, &who, (struct sv){ 0 }, SV("x"), &t.a, &s, &t.e), ST_CONFLICT);
    CHECK(reason_is("idle"));
}

static void a_dead_worker_ends_the_run(void)
{
    start("Q", "r1");
    struct run_state s =
        events(CALLS "{\"kind\":\"worker_exit\",\"data\":{\"reason\":\"killed\"}}");
    CHECK_INT(s.status, RUN_ERROR);
    CHECK_SV(s.result, SV("{\"react_worker_exit\":\"killed\"}"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]:")); /* a plain fold: no repair here */
}

static void a_blank_answer_that_was_cut_off_fails_the_run(void)
{
    start("Q", "r1");
    struct run_state s = events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"  \",\"finish_reason\":\"length\"}}");
    CHECK_INT(s.status, RUN_ERROR);
    CHECK_SV(s.termination_reason, SV("incomplete_response"));
    CHECK_SV(s.result, SV("{\"error\":{\"reason\":\"length\",\"type\":\"incomplete_response\"}}"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q"));
}

static void a_cut_off_answer_with_text_is_an_answer(void)
{
    start("Q", "r1");
    struct run_state s = events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"part\",\"finish_"
                                "reason\":\"incomplete\"}}\n" DONE);
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK_SV(s.result, SV("\"part\""));
}

static void a_guardrail_before_the_tools_leaves_the_calls_open(void)
{
    start("Q", "r1");
    struct run_state s = events(CALLS "{\"kind\":\"request_failed\",\"data\":{\"error\":\"no\","
                                      "\"error_type\":\"tool_guardrail\"}}");
    CHECK_SV(s.termination_reason, SV("tool_guardrail"));
    CHECK_INT(s.n_calls, 0);
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[t1,t2]:"));
}

static void over_its_iterations_a_run_is_completed_and_waiting_input_dropped(void)
{
    struct run_ref   who = who_of(NULL);
    struct json      config = json_of_text("{\"max_iterations\":1}");
    struct run_start start = { .content = SV("\"Q\""), .config = &config, .request_id = SV("r1") };
    struct run_state s;

    OK(run_start(&t.l, &who, &start, &t.a, &s, &t.e));
    events(CALLS RESULT("t1", "1") RESULT("t2", "2"));
    steer("late");
    s = events("{\"kind\":\"llm_started\"}");
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK_SV(s.termination_reason, SV("max_iterations"));
    CHECK_SV(s.result, SV("\"Maximum iterations reached without a final answer.\""));
    CHECK(sv_find(last_entry().payload, SV("\"dropped_input\":[\"inp_")) > 0);
    CHECK(sv_find(brief("default", NOW), SV("late")) < 0);
}

static void of_many_events_the_trace_keeps_a_bound(void)
{
    struct run_state  s;
    struct run_report r;
    struct sb         b = sb_in(&t.a, 0);

    start("Q", "r1");
    for (int i = 0; i < 2001; i++)
        sb_addf(&b, "{\"kind\":\"llm_delta\",\"seq\":%d}\n", i + 1);
    OK(send_events(NULL, sb_sv(&b).s, &s, &r));
    CHECK_INT(r.events, 2001);
    CHECK_INT(r.logged, 0);
    CHECK_INT(r.trace_kept, RUN_TRACE_MAX);
    CHECK(r.trace_truncated);
    CHECK_INT(rev(), 2);
}

static void a_checkpoint_after_the_end_does_not_reopen_the_run(void)
{
    start("Q", "r1");
    events(ANSWER("A") DONE);
    struct run_state s = events("{\"kind\":\"checkpoint\",\"data\":{\"token\":\"rt2.x.y\"}}");
    CHECK_SV(s.checkpoint_token, SV("rt2.x.y"));
    CHECK(!s.active);
    CHECK_INT(s.status, RUN_COMPLETED);
}

/* ---- steering ------------------------------------------------------------------------------ */

static void steering_is_projected_when_it_is_drained_and_not_before(void)
{
    start("Q1", "r1");
    steer("  Q2\n");
    CHECK_SV(brief("default", NOW), SV("CP| u:Q1"));
    CHECK_INT(run_now().n_queue, 1);
    struct run_state s = events(ANSWER("A1"));
    CHECK(!s.sealed);
    restart();
    struct sv drained = drain();
    CHECK(sv_find(drained, SV("\"content\":\"Q2\"")) > 0);
    s = run_now();
    CHECK_INT(s.iteration, 2);
    CHECK(!s.result.s);
    CHECK_SV(brief("default", NOW), SV("CP| u:Q1 a:A1 u:Q2"));
    s = events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A2\",\"usage\":{\"out\":2}}}\n" DONE);
    CHECK_SV(s.result, SV("\"A2\""));
    CHECK_INT(count_kind("run_finished"), 1);
    CHECK_SV(drain(), SV("[]"));
}

static void usage_is_summed_over_the_run(void)
{
    start("Q", "r1");
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"a\",\"usage\":{\"in\":3,\"model\":"
           "\"x\"}}}\n"
           "{\"kind\":\"input_injected\",\"data\":{\"content\":\"more\"}}\n"
           "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"b\",\"usage\":{\"in\":4,\"out\":1}}}");
    CHECK_SV(run_now().usage, SV("{\"in\":7,\"model\":\"x\",\"out\":1}"));
}

static void steering_is_refused_with_a_reason(void)
{
    say("user", "x");
    CHECK_INT(steer_with("inject", "hi", NULL), ST_CONFLICT);
    CHECK(reason_is("idle"));
    start("Q", "r1");
    CHECK_INT(steer_with("steer", "hi", "r9"), ST_CONFLICT);
    CHECK(reason_is("request_mismatch"));
    CHECK_INT(steer_with("steer", " \t\n", NULL), ST_INVALID_SYNTAX);
    CHECK(reason_is("empty_content"));
    CHECK_INT(steer_with("steer", "\xff", NULL), ST_INVALID_SYNTAX);
    int64_t before = rev();
    for (int i = 0; i < RUN_QUEUE_MAX; i++)
        steer("x");
    CHECK_INT(steer_with("steer", "one more", NULL), ST_LIMIT_EXCEEDED);
    CHECK(reason_is("queue_full"));
    CHECK_INT(rev(), before + RUN_QUEUE_MAX);
    drain();
    CHECK_INT(run_now().n_queue, 0);
    events(ANSWER("A"));
    CHECK_INT(steer_with("steer", "too late", NULL), ST_CONFLICT);
    CHECK(reason_is("closed"));
}

static void steering_nobody_drained_is_gone_with_its_run_but_named(void)
{
    start("Q", "r1");
    steer("lost");
    struct run_state s = events("{\"kind\":\"request_failed\",\"data\":{\"error\":\"x\"}}");
    CHECK_INT(s.n_queue, 0);
    CHECK_INT(s.n_dropped, 1);
    CHECK_SV(brief("default", NOW), SV("CP| u:Q"));
    CHECK(sv_find(last_entry().payload, SV("\"dropped_input\"")) > 0);
    start("Q2", "r2");
    CHECK_INT(run_now().n_queue, 0);
    CHECK_INT(run_now().n_dropped, 0);
}

static void injected_input_carries_its_origin(void)
{
    start("Q", "r1");
    events("{\"kind\":\"input_injected\",\"id\":\"e7\",\"data\":{\"content\":\"hey\",\"source\":\"/"
           "slack\","
           "\"refs\":{\"origin\":\"peer\",\"run_id\":\"forged\"}}}");
    CHECK_SV(last_entry().refs, SV("{\"origin\":\"peer\",\"request_id\":\"r1\",\"run_id\":\"r1\","
                                   "\"signal_id\":\"e7\",\"source\":\"/slack\"}"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q u:hey"));
    CHECK_INT(refused_events("{\"kind\":\"input_injected\",\"data\":{\"content\":7}}"),
              ST_CONFLICT);
    CHECK(reason_is("invalid_event"));
}

static void an_injected_input_takes_its_queued_twin_off_the_queue(void)
{
    start("Q", "r1");
    steer("S");
    struct sb b = sb_in(&t.a, 0);
    sb_addf(&b,
            "{\"kind\":\"input_injected\",\"data\":{\"content\":\"S\",\"input_id\":\"" SV_FMT
            "\"}}",
            SV_ARG(run_now().queue[0].id));
    struct run_state s = events(sb_sv(&b).s);
    CHECK_INT(s.n_queue, 0);
    CHECK_SV(drain(), SV("[]"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q u:S"));
}

/* ---- fencing, repeating, crashing --------------------------------------------------------- */

static void a_batch_reported_twice_is_harmless(void)
{
    static const char batch[] =
        "{\"kind\":\"llm_completed\",\"id\":\"a\",\"seq\":1,\"data\":{\"text\":\"A\"}}\n"
        "{\"kind\":\"request_completed\",\"id\":\"b\",\"seq\":2}\n";
    struct run_state  s;
    struct run_report r;

    start("Q", "r1");
    OK(send_events(NULL, batch, &s, &r));
    int64_t before = rev();
    OK(send_events(NULL, batch, &s, &r));
    CHECK_INT(r.duplicates, 2);
    CHECK_INT(r.logged, 0);
    CHECK_INT(rev(), before);
    CHECK_INT(s.status, RUN_COMPLETED);
}

static void ids_of_any_length_are_found_again(void)
{
    struct run_state  s;
    struct run_report r;
    struct sb         id = sb_in(&t.a, 0), b = sb_in(&t.a, 0);

    sb_pad(&id, 'r', NAME_MAX_BYTES);
    OK(start_run(NULL, "Q", sb_sv(&id).s, &s));
    sb_adds(&b, "{\"kind\":\"input_injected\",\"data\":{\"content\":\"x\"},\"id\":\"\\ud800");
    sb_pad(&b, 'e', 1000);
    sb_adds(&b, "\"}");
    OK(send_events(NULL, sb_sv(&b).s, &s, &r));
    CHECK_INT(r.logged, 1);
    OK(send_events(NULL, sb_sv(&b).s, &s, &r));
    CHECK_INT(r.duplicates, 1);
    events(DONE);
    CHECK_INT(start_run(NULL, "another Q", sb_sv(&id).s, &s), ST_CONFLICT);
    CHECK(reason_is("request_id"));
}

static void events_of_another_run_or_of_the_past_are_fenced_out(void)
{
    start("Q", "r1");
    int64_t before = rev();
    CHECK_INT(refused_events(
                  "{\"kind\":\"llm_completed\",\"request_id\":\"r0\",\"data\":{\"text\":\"x\"}}"),
              ST_CONFLICT);
    CHECK(reason_is("request_mismatch"));
    events("{\"kind\":\"llm_completed\",\"seq\":5,\"data\":{\"tool_calls\":[{\"id\":\"t1\","
           "\"name\":\"f\"}]}}");
    CHECK_INT(
        refused_events("{\"kind\":\"input_injected\",\"seq\":5,\"data\":{\"content\":\"x\"}}"),
        ST_CONFLICT);
    CHECK(reason_is("stale_event"));
    CHECK_INT(rev(), before + 1);
    events(
        "{\"kind\":\"tool_completed\",\"seq\":6,\"tool_call_id\":\"t1\",\"data\":{\"result\":null}}"
        "\n" DONE);
    CHECK_INT(refused_events(ANSWER("late")), ST_CONFLICT);
    CHECK(reason_is("idle"));
}

static void events_are_applied_all_or_none(void)
{
    start("Q", "r1");
    int64_t before = rev();
    CHECK_INT(
        refused_events(ANSWER("A") "{\"kind\":\"tool_completed\",\"tool_call_id\":\"zz\",\"data\":{"
                                   "\"result\":1}}\n"),
        ST_CONFLICT);
    CHECK(sv_starts(sv_of(t.e.text), SV("event 2:")));
    CHECK_INT(rev(), before);
    CHECK_INT(refused_events(ANSWER("A") "{\"data\":{}}"), ST_INVALID_SYNTAX);
    CHECK(reason_is("invalid_event"));
    CHECK_INT(rev(), before);
}

static void nothing_can_be_reported_where_nothing_ran(void)
{
    CHECK_INT(refused_events(DONE), ST_NOT_FOUND);
    CHECK_INT(steer_with("steer", "x", NULL), ST_NOT_FOUND);
    say("user", "x");
    CHECK_INT(refused_events(DONE), ST_CONFLICT);
    CHECK(reason_is("idle"));
    CHECK_INT(refused_events("{\"kind\":\"checkpoint\",\"data\":{\"token\":\"x\"}}"), ST_CONFLICT);
    CHECK(reason_is("idle"));
    CHECK_INT(rev(), 1);
}

static void events_without_an_effect_change_nothing(void)
{
    start("Q", "r1");
    int64_t          before = rev();
    struct run_state s = events(
        "{\"kind\":\"request_started\"}\n{\"kind\":\"llm_started\"}\n{\"kind\":\"keepalive\"}\n"
        "{\"kind\":\"output_validated\"}\n{\"kind\":\"made_up\"}\n{\"kind\":\"tool_started\"}");
    CHECK_INT(rev(), before);
    CHECK(s.active);
}

static void an_active_run_survives_a_crash_and_can_go_on(void)
{
    start("Q", "r1");
    events("{\"kind\":\"llm_completed\",\"seq\":3,\"data\":{\"tool_calls\":[{\"id\":\"t1\","
           "\"name\":\"f\"}]}}");
    steer("wait");
    struct run_state before = run_now();
    restart();
    struct run_state after = run_now();
    struct sb        x = sb_in(&t.a, 0), y = sb_in(&t.a, 0);
    run_state_write(&x, &before);
    run_state_write(&y, &after);
    CHECK_SV(sb_sv(&x), sb_sv(&y));
    CHECK_INT(refused_events("{\"kind\":\"llm_completed\",\"seq\":2,\"data\":{\"text\":\"x\"}}"),
              ST_CONFLICT);
    events(
        "{\"kind\":\"tool_completed\",\"seq\":4,\"tool_call_id\":\"t1\",\"data\":{\"result\":1}}");
    drain();
    after = events(ANSWER("A") DONE);
    CHECK_INT(after.status, RUN_COMPLETED);
    check_whole();
}

static void a_run_whose_process_is_gone_can_be_ended(void)
{
    struct run_ref   who = who_of(NULL);
    struct run_state s;

    start("Q", "r1");
    apply(SWITCH("beta", "s"));
    restart();
    OK(run_recover(&t.l, &who, &t.a, &s, &t.e));
    CHECK_INT(s.status, RUN_ERROR);
    CHECK_SV(s.termination_reason, SV("stream_interrupted"));
    CHECK_SV(active(), SV("beta")); /* what was parked is applied */
    int64_t before = rev();
    OK(run_recover(&t.l, &who, &t.a, &s, &t.e)); /* nothing to do */
    CHECK_INT(rev(), before);
    start("Q2", "r2");
}

/* ---- ids of events ----------------------------------------------------------------------------
 */

static void two_runs_may_number_their_events_alike(void)
{
    struct run_state  s;
    struct run_report r;

    start("Q1", "r1");
    events("{\"kind\":\"llm_completed\",\"id\":\"evt_1\",\"data\":{\"text\":\"A1\"}}\n"
           "{\"kind\":\"request_completed\",\"id\":\"evt_2\"}");
    start("Q2", "r2");
    OK(send_events(NULL,
                   "{\"kind\":\"llm_completed\",\"id\":\"evt_1\",\"data\":{\"text\":\"A2\"}}\n"
                   "{\"kind\":\"request_completed\",\"id\":\"evt_2\"}",
                   &s, &r));
    CHECK_INT(r.duplicates, 0);
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK_SV(brief("default", NOW), SV("CP| u:Q1 a:A1 u:Q2 a:A2"));
}

static void two_agents_may_number_their_events_alike(void)
{
    struct run_state  s;
    struct run_report r;

    say("user", "x");
    apply(SWITCH("b", "sw"), .agent = SV("bob"));
    start("Q1", "r1");
    OK(start_run("bob", "Q2", "r2", &s));
    events("{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A1\"}}");
    OK(send_events("bob", "{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A2\"}}",
                   &s, &r));
    CHECK_INT(r.logged, 1);
    CHECK_SV(brief("b", NOW), SV("CP| u:Q2 a:A2"));
}

static void an_event_id_with_other_content_is_a_conflict(void)
{
    static const char *const others[] = {
        "{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"B\"}}",
        "{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A\",\"thinking\":\"t\"}}",
        "{\"kind\":\"input_injected\",\"id\":\"e\",\"data\":{\"content\":\"A\"}}",
        "{\"kind\":\"request_completed\",\"id\":\"e\"}",
        ("{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A\",\"tool_calls\":[{"
         "\"id\":"
         "\"t\"}]}}"),
    };

    start("Q", "r1");
    events("{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A\"}}");
    int64_t before = rev();
    for (size_t i = 0; i < COUNT(others); i++) {
        CHECK_INT(refused_events(others[i]), ST_CONFLICT);
        CHECK(reason_is("event_id"));
    }
    events("{\"kind\":\"llm_completed\",\"id\":\"e\",\"data\":{\"text\":\"A\"}}"); /* the same */
    CHECK_INT(rev(), before);
    events(
        "{\"kind\":\"llm_completed\",\"id\":\"f\",\"data\":{\"text\":\"A\",\"tool_calls\":[{\"id\":"
        "\"t\"}]}}");
    CHECK_INT(refused_events("{\"kind\":\"llm_completed\",\"id\":\"f\",\"data\":{\"text\":\"A\"}}"),
              ST_CONFLICT); /* less than it said */
}

static void an_entry_under_the_op_id_of_an_event_swallows_nothing(void)
{
    start("Q", "r1");
    line("{\"kind\":\"note\",\"op_id\":\"event:e9\",\"payload\":{}}");
    line("{\"kind\":\"note\",\"op_id\":\"event:r1/e8\",\"payload\":{}}");
    events("{\"kind\":\"llm_completed\",\"id\":\"e9\",\"data\":{\"text\":\"A\"}}");
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a:A"));
    CHECK_INT(
        refused_events("{\"kind\":\"llm_completed\",\"id\":\"e8\",\"data\":{\"text\":\"B\"}}"),
        ST_CONFLICT);
}

static void an_event_of_an_older_log_is_known_again(void)
{
    struct run_state  s;
    struct run_report r;

    start("Q", "r1");
    line("{\"kind\":\"ai_message\",\"op_id\":\"event:e1\",\"payload\":{\"role\":\"assistant\","
         "\"content\":\"A\",\"request_id\":\"r1\",\"run_id\":\"r1\"},\"refs\":{\"request_id\":"
         "\"r1\","
         "\"run_id\":\"r1\",\"signal_id\":\"e1\"}}");
    OK(send_events(NULL, "{\"kind\":\"llm_completed\",\"id\":\"e1\",\"data\":{\"text\":\"A\"}}", &s,
                   &r));
    CHECK_INT(r.duplicates, 1);
}

/* ---- results -------------------------------------------------------------------------------- */

#define TWO_CALLS                                                                                  \
    "{\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"c1\",\"name\":\"f\"},{"       \
    "\"id\":"                                                                                      \
    "\"c2\",\"name\":\"pay\"}]}}\n"
#define RESULT(id, text)                                                                           \
    "{\"kind\":\"tool_completed\",\"tool_call_id\":\"" id "\",\"data\":{\"content\":\"" text       \
    "\"}}\n"

static void a_result_that_is_held_is_a_message_at_every_end(void)
{
    static const char *const ends[] = { "{\"kind\":\"request_completed\"}",
                                        "{\"kind\":\"request_failed\"}",
                                        "{\"kind\":\"request_cancelled\"}",
                                        "{\"kind\":\"worker_exit\"}",
                                        "{\"kind\":\"llm_started\",\"iteration\":99}",
                                        "cancel",
                                        "recover" };
    struct run_ref           who = who_of(NULL);
    struct run_state         s;

    for (size_t i = 0; i < COUNT(ends); i++) {
        struct sb id = sb_in(&t.a, 0), lane = sb_in(&t.a, 0), op = sb_in(&t.a, 0);
        sb_addf(&id, "r%zu", i);
        sb_addf(&lane, "l%zu", i);
        sb_addf(&op, "s%zu", i);
        say_on(sb_sv(&lane).s, "user", "x");
        apply(SWITCH(sb_sv(&lane).s, sb_sv(&op).s));
        start("Q", sb_sv(&id).s);
        events(TWO_CALLS RESULT("c2", "paid"));
        if (ends[i][0] == '{')
            events(ends[i]);
        else if (ends[i][0] == 'c')
            OK(run_cancel(&t.l, &who, (struct sv){ 0 }, (struct sv){ 0 }, &t.a, &s, &t.e));
        else
            OK(run_recover(&t.l, &who, &t.a, &s, &t.e));
        CHECK_SV(brief(sb_sv(&lane).s, NOW), SV("CP| u:x u:Q a[c1,c2]: t(c2):paid"));
        CHECK(!run_now().active);
    }
    check_whole();
}

static void a_result_is_recorded_also_when_the_model_went_on_or_the_run_is_over(void)
{
    struct run_state  s;
    struct run_report r;

    start("Q", "r1");
    events(
        "{\"kind\":\"llm_completed\",\"seq\":1,\"data\":{\"tool_calls\":[{\"id\":\"c1\",\"name\":"
        "\"f\"},{\"id\":\"c2\",\"name\":\"g\"},{\"id\":\"c3\",\"name\":\"h\"}]}}");
    events(RESULT("c2", "two"));
    events("{\"kind\":\"llm_completed\",\"seq\":9,\"data\":{\"text\":\"never mind\"}}");
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[c1,c2,c3]: t(c2):two a:never mind"));
    events("{\"kind\":\"tool_completed\",\"id\":\"e7\",\"seq\":7,\"tool_call_id\":\"c1\",\"data\":{"
           "\"content\":\"one\"}}");
    events(DONE);
    events(RESULT("c3", "three"));
    struct entry n = last_entry();
    struct json  p = payload_of(&n), refs = refs_of(&n);
    CHECK_SV(json_text(&p, "run_id"), SV("r1"));
    CHECK_SV(json_text(&refs, "run_id"), SV("r1"));
    CHECK_SV(brief("default", NOW),
             SV("CP| u:Q a[c1,c2,c3]: t(c2):two a:never mind t(c1):one t(c3):three"));
    OK(send_events(NULL, RESULT("c3", "three") RESULT("c2", "two"), &s, &r));
    CHECK_INT(r.duplicates, 2);
    CHECK_INT(refused_events(RESULT("c3", "other")), ST_CONFLICT);
    CHECK(reason_is("tool_call_id"));
    CHECK_INT(refused_events(RESULT("c9", "x")), ST_CONFLICT);
    CHECK(reason_is("unknown_tool_call"));
    CHECK_INT(s.status, RUN_COMPLETED);
    start("Q2", "r2");
    CHECK_INT(refused_events(RESULT("c3", "three")), ST_CONFLICT); /* r2 made no such call */
    OK(send_events(
        NULL,
        "{\"kind\":\"tool_completed\",\"run_id\":\"r1\",\"tool_call_id\":\"c3\",\"data\":"
        "{\"content\":\"three\"}}",
        &s, &r));
    CHECK_INT(r.duplicates, 1);
    check_whole();
}

static struct sv content_for(const char *data)
{
    struct sb        b = sb_in(&t.a, 0), id = sb_in(&t.a, 0);
    struct run_state s;
    struct run_ref   who = who_of(NULL);

    sb_addf(&id, "r%lld", (long long)rev());
    start("Q", sb_sv(&id).s);
    events(
        "{\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"t\",\"name\":\"f\"}]}}");
    sb_addf(&b, "{\"kind\":\"tool_completed\",\"tool_call_id\":\"t\",\"data\":%s}", data);
    if (refused_events(sb_sv(&b).s)) {
        OK(run_cancel(&t.l, &who, (struct sv){ 0 }, (struct sv){ 0 }, &t.a, &s, &t.e));
        return SV("refused");
    }
    struct entry n = last_entry();
    struct json  p = payload_of(&n);
    OK(run_cancel(&t.l, &who, (struct sv){ 0 }, (struct sv){ 0 }, &t.a, &s, &t.e));
    return json_text(&p, "content");
}

static void the_content_of_a_result_is_kept_whatever_it_is_or_refused(void)
{
    CHECK_SV(content_for("{\"content\":{\"temp\":22}}"), SV("{\"temp\":22}"));
    CHECK_SV(content_for("{\"content\":22}"), SV("22"));
    CHECK_SV(content_for("{\"content\":false}"), SV("false"));
    CHECK_SV(content_for("{\"result\":{\"temp\":22}}"),
             SV("{\"ok\":true,\"result\":{\"temp\":22}}"));
    CHECK_SV(content_for("{\"result\":null}"), SV("{\"ok\":true,\"result\":null}"));
    CHECK_SV(content_for("{\"error\":\"no\"}"), SV("{\"error\":\"no\",\"ok\":false}"));
    CHECK_SV(content_for("{\"output\":\"x\"}"), SV("refused"));
    CHECK_SV(content_for("{}"), SV("refused"));
    CHECK_SV(content_for("null"), SV("refused"));
    CHECK_SV(content_for("\"text\""), SV("refused"));
    CHECK_SV(content_for("{\"content\":null}"), SV("refused"));
}

static void an_answer_that_is_none_does_not_end_the_run(void)
{
    static const char *const bad[] = { "{}",
                                       "{\"output\":\"x\"}",
                                       "{\"tool_calls\":{}}",
                                       "{\"content\":7}",
                                       "\"text\"",
                                       "{\"tool_calls\":[{}]}",
                                       "{\"text\":\"x\",\"thinking\":[]}",
                                       "{\"tool_calls\":[{\"id\":\"a\"},{\"id\":\"a\"}]}" };

    start("Q", "r1");
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sb b = sb_in(&t.a, 0);
        sb_addf(&b, "{\"kind\":\"llm_completed\",\"data\":%s}", bad[i]);
        CHECK_INT(refused_events(sb_sv(&b).s), ST_CONFLICT);
        CHECK(reason_is("invalid_event"));
    }
    CHECK(!run_now().sealed);
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"thinking_content\":\"hm\"}}");
    struct entry n = last_entry();
    struct json  p = payload_of(&n);
    CHECK_SV(json_text(&p, "thinking"), SV("hm"));
}

static void input_waits_while_calls_are_open(void)
{
    struct run_ref who = who_of(NULL);
    struct sv      list;

    start("Q", "r1");
    steer("S");
    events(TWO_CALLS);
    CHECK_INT(run_drain(&t.l, &who, &t.a, &list, &t.e), ST_CONFLICT);
    CHECK(reason_is("awaiting_tool"));
    events(RESULT("c1", "1") RESULT("c2", "2"));
    drain();
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a[c1,c2]: t(c1):1 t(c2):2 u:S"));
}

/* ---- usage, ids, lanes, ends --------------------------------------------------------------------
 */

static void usage_is_summed_in_every_depth_and_of_every_answer(void)
{
    start("Q", "r1");
    struct run_state s = events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"usage\":{\"cost\":0.1,\"input\":10,"
        "\"details\":{\"cached\":3},\"model\":\"a\"}}}\n"
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"B\",\"usage\":{\"cost\":0.25,\"input\":5,"
        "\"details\":{\"cached\":4,\"audio\":1},\"model\":\"b\"}}}\n"
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"\",\"finish_reason\":\"length\","
        "\"usage\":{"
        "\"input\":100}}}");
    CHECK_SV(s.termination_reason, SV("incomplete_response"));
    CHECK_SV(s.usage, SV("{\"cost\":0.35,\"details\":{\"audio\":1,\"cached\":7},\"input\":115,"
                         "\"model\":\"b\"}"));
    start("Q", "r2");
    s = events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"usage\":{\"input\":1,\"x\":2}}}"
        "\n{\"kind\":\"request_completed\",\"data\":{\"usage\":{\"input\":7,\"output\":9}}}");
    CHECK_SV(s.usage, SV("{\"input\":7,\"output\":9,\"x\":2}")); /* the runtime's own total */
    start("Q", "r3");
    s = events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"usage\":{\"n\":"
        "9223372036854775807,\"e\":1e2}}}\n"
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\",\"usage\":{\"n\":1,\"e\":1}}}");
    CHECK_SV(s.usage, SV("{\"e\":101,\"n\":9.2233720368547758e+18}"));
    check_whole();
}

static void starting_and_steering_again_with_the_same_id_is_harmless(void)
{
    struct run_state s;
    struct run_ref   who = who_of(NULL);
    struct run_steer steering = { .kind = "steer", .text = SV("S"), .op_id = SV("in-1") };
    struct sv        id;

    start("Q", "r1");
    int64_t before = rev();
    OK(start_run(NULL, "Q", "r1", &s));
    CHECK(s.active);
    CHECK_INT(rev(), before);
    OK(run_steer(&t.l, &who, &steering, &t.a, &id, &t.e));
    OK(run_steer(&t.l, &who, &steering, &t.a, &id, &t.e));
    CHECK_SV(id, SV("in-1"));
    CHECK_INT(rev(), before + 1);
    steering.text = SV("other");
    CHECK_INT(run_steer(&t.l, &who, &steering, &t.a, &id, &t.e), ST_CONFLICT);
    drain();
    events(ANSWER("A") DONE);
    before = rev();
    steering.text = SV("S");
    OK(run_steer(&t.l, &who, &steering, &t.a, &id, &t.e)); /* also after the end */
    OK(start_run(NULL, "Q", "r1", &s));
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK_INT(start_run("bob", "Q", "r1", &s), ST_CONFLICT); /* another agent's is another */
    CHECK_INT(rev(), before);
    check_whole();
}

static void two_agents_do_not_run_in_one_lane(void)
{
    struct run_state s;

    start("Q1", "r1");
    CHECK_INT(start_run("bob", "Q2", "r2", &s), ST_CONFLICT);
    CHECK(reason_is("lane_busy"));
    refuse(ST_CONFLICT, REPLACE("default", "o", "{\"messages\":[]}"), .agent = SV("bob"));
    CHECK(reason_is("lane_busy"));
    apply(FORK("b", "f", "default", OP_AT_HEAD), .agent = SV("bob"), .also_switch = true);
    OK(start_run("bob", "Q2", "r2", &s)); /* on a lane of its own it never waits */
    events(ANSWER("A") DONE);
    apply(REPLACE("default", "o", "{\"messages\":[]}"), .agent = SV("carol"));
    OK(start_run("carol", "Q3", "r3", &s));
    check_whole();
}

static void a_number_of_iterations_below_one_is_refused(void)
{
    struct run_ref   who = who_of(NULL);
    struct json      config = json_of_text("{\"max_iterations\":-3}");
    struct run_start start_with = { .content = SV("\"Q\""), .config = &config };
    struct run_state s;

    CHECK_INT(run_start(&t.l, &who, &start_with, &t.a, &s, &t.e), ST_INVALID_SYNTAX);
    CHECK_INT(rev(), 0);
}

/* Records of a log from elsewhere that no operation of ours would write. */
static void import_record(const char *kind, const char *payload)
{
    struct json       v = json_of_text(payload);
    struct store_head h;
    struct entry      n = { .at = t.now++,
                            .kind = sv_of(kind),
                            .lane = LANE_DEFAULT,
                            .payload = json_canonical(&v, &t.a) };

    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(log_import(&t.l, THREAD, &n, 1, &h, NULL, NULL, &t.e));
    OK(log_commit(&t.l, &t.e));
}

static void a_parked_operation_that_cannot_be_read_does_not_keep_a_run_from_ending(void)
{
    static const char *const payloads[] = {
        "{}",
        "{\"op_id\":\"x\",\"context_ref\":\"default\",\"operation\":{\"type\":\"replace\"}}",
        "{\"op_id\":7,\"context_ref\":\"default\",\"operation\":{\"type\":\"switch\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"default\",\"operation\":\"switch\"}",
        "{\"op_id\":\"y\\\"\",\"context_ref\":\"default\",\"operation\":{\"type\":\"switch\"}}",
        "{\"op_id\":\"z\",\"context_ref\":\"a/b\",\"operation\":{\"type\":\"switch\"}}",
    };
    struct run_ref   who = who_of(NULL);
    struct run_state s;

    for (size_t i = 0; i < COUNT(payloads); i++) {
        struct sb id = sb_in(&t.a, 0);
        sb_addf(&id, "r%zu", i);
        start("Q", sb_sv(&id).s);
        import_record("ai_context_operation_deferred", payloads[i]);
        OK(run_cancel(&t.l, &who, (struct sv){ 0 }, (struct sv){ 0 }, &t.a, &s, &t.e));
        CHECK(!s.active);
    }
    CHECK_SV(active(), SV("default"));
    check_whole();
}

static void records_of_other_runs_do_not_end_or_feed_this_one(void)
{
    start("Q", "r1");
    import_record("run_finished", "{\"outcome\":\"completed\",\"run_id\":\"r0\"}");
    import_record("run_input", "{\"content\":\"x\",\"input_id\":\"i\",\"run_id\":\"r0\"}");
    import_record("run_tool_held",
                  "{\"content\":\"x\",\"role\":\"tool\",\"run_id\":\"r0\",\"tool_call_id\":\"t\"}");
    struct run_state s = run_now();
    CHECK(s.active);
    CHECK_INT(s.n_queue, 0);
    events(ANSWER("A") DONE);
    check_whole();
}

static void the_prompt_of_the_settings_is_logged_when_a_run_begins(void)
{
    struct run_ref   who = who_of(NULL);
    struct run_start with = { .content = SV("\"Q1\""), .system_prompt = SV("A") };
    struct run_state s;

    say("user", "before");
    OK(run_start(&t.l, &who, &with, &t.a, &s, &t.e));
    CHECK_SV(brief("default", 0), SV("CP| u:before"));
    CHECK_SV(brief("default", NOW), SV("A| u:before u:Q1"));
    events(ANSWER("A1") DONE);
    int64_t end = rev() - 1;
    OK(run_start(&t.l, &who, &with, &t.a, &s, &t.e)); /* the same: nothing to say */
    events(ANSWER("A2") DONE);
    CHECK_INT(count_kind("ai_context_operation"), 1);
    with.system_prompt = SV("B");
    OK(run_start(&t.l, &who, &with, &t.a, &s, &t.e));
    CHECK_SV(brief("default", NOW), SV("B| u:before u:Q1 a:A1 u:Q1 a:A2 u:Q1"));
    CHECK_SV(brief("default", end), SV("A| u:before u:Q1 a:A1"));
    events(DONE);
    apply(REPLACE("default", "own", "{\"system_prompt\":null,\"messages\":[]}"));
    OK(run_start(&t.l, &who, &with, &t.a, &s, &t.e)); /* a snapshot's own prompt wins */
    CHECK_SV(brief("default", NOW), SV("-| u:Q1"));
    check_whole();
}

THREAD_MAIN(
    T(a_start_logs_the_user_with_our_refs), T(callers_refs_are_kept_but_cannot_name_ours),
    T(a_second_start_is_busy), T(an_unknown_tool_is_refused_and_nothing_is_logged),
    T(a_request_id_is_used_once), T(a_run_with_tools_is_logged_turn_by_turn),
    T(results_are_logged_in_the_order_of_the_calls), T(a_result_twice_is_logged_once),
    T(tool_content_is_as_given_or_in_an_envelope), T(everything_a_model_said_is_kept),
    T(what_a_failed_run_said_stays_in_view_and_log), T(a_cancel_names_its_reason),
    T(a_dead_worker_ends_the_run), T(a_blank_answer_that_was_cut_off_fails_the_run),
    T(a_cut_off_answer_with_text_is_an_answer),
    T(a_guardrail_before_the_tools_leaves_the_calls_open),
    T(over_its_iterations_a_run_is_completed_and_waiting_input_dropped),
    T(of_many_events_the_trace_keeps_a_bound),
    T(a_checkpoint_after_the_end_does_not_reopen_the_run),
    T(steering_is_projected_when_it_is_drained_and_not_before), T(usage_is_summed_over_the_run),
    T(steering_is_refused_with_a_reason), T(steering_nobody_drained_is_gone_with_its_run_but_named),
    T(injected_input_carries_its_origin), T(an_injected_input_takes_its_queued_twin_off_the_queue),
    T(a_batch_reported_twice_is_harmless), T(ids_of_any_length_are_found_again),
    T(events_of_another_run_or_of_the_past_are_fenced_out), T(events_are_applied_all_or_none),
    T(nothing_can_be_reported_where_nothing_ran), T(events_without_an_effect_change_nothing),
    T(an_active_run_survives_a_crash_and_can_go_on), T(a_run_whose_process_is_gone_can_be_ended),
    T(two_runs_may_number_their_events_alike), T(two_agents_may_number_their_events_alike),
    T(an_event_id_with_other_content_is_a_conflict),
    T(an_entry_under_the_op_id_of_an_event_swallows_nothing),
    T(an_event_of_an_older_log_is_known_again), T(a_result_that_is_held_is_a_message_at_every_end),
    T(a_result_is_recorded_also_when_the_model_went_on_or_the_run_is_over),
    T(the_content_of_a_result_is_kept_whatever_it_is_or_refused),
    T(an_answer_that_is_none_does_not_end_the_run), T(input_waits_while_calls_are_open),
    T(usage_is_summed_in_every_depth_and_of_every_answer),
    T(starting_and_steering_again_with_the_same_id_is_harmless),
    T(two_agents_do_not_run_in_one_lane), T(a_number_of_iterations_below_one_is_refused),
    T(a_parked_operation_that_cannot_be_read_does_not_keep_a_run_from_ending),
    T(records_of_other_runs_do_not_end_or_feed_this_one),
    T(the_prompt_of_the_settings_is_logged_when_a_run_begins), )
