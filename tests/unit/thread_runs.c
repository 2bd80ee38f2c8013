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
    CHECK_INT(start_run(NULL, "Q", "r1", &s), ST_CONFLICT);
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
    CHECK_SV(brief("default", NOW), SV("CP| u:Q"));
    CHECK(sv_find(last_entry().payload, SV("\"dropped_input\"")) > 0);
    start("Q2", "r2");
    CHECK_INT(run_now().n_queue, 0);
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
    CHECK_INT(start_run(NULL, "Q", sb_sv(&id).s, &s), ST_CONFLICT);
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
    CHECK_INT(refused_events("{\"kind\":\"tool_completed\",\"seq\":5,\"tool_call_id\":\"t1\"}"),
              ST_CONFLICT);
    CHECK(reason_is("stale_event"));
    CHECK_INT(rev(), before + 1);
    events("{\"kind\":\"tool_completed\",\"seq\":6,\"tool_call_id\":\"t1\"}\n" DONE);
    CHECK_INT(refused_events(ANSWER("late")), ST_CONFLICT);
    CHECK(reason_is("idle"));
}

static void events_are_applied_all_or_none(void)
{
    start("Q", "r1");
    int64_t before = rev();
    CHECK_INT(refused_events(ANSWER("A") "{\"kind\":\"tool_completed\",\"tool_call_id\":\"zz\"}\n"),
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
    CHECK_INT(refused_events("{\"kind\":\"tool_completed\",\"seq\":2,\"tool_call_id\":\"t1\"}"),
              ST_CONFLICT);
    events("{\"kind\":\"tool_completed\",\"seq\":4,\"tool_call_id\":\"t1\"}");
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
    T(an_active_run_survives_a_crash_and_can_go_on), T(a_run_whose_process_is_gone_can_be_ended), )
