/* Context operations: applied once, parked during a run, nothing durable lost. */
#include "thread_test.h"

#define CTX(text) "{\"messages\":[{\"role\":\"user\",\"content\":\"" text "\"}]}"

static void replace_writes_one_entry_with_everything_in_it(void)
{
    say("user", "long talk");
    struct op_result r = apply(REPLACE("default", "op1", CTX("short")), .reason = SV("compaction"),
                               .meta = SV("{\"model\":\"m\",\"from_seq\":0}"));
    CHECK(r.applied && !r.duplicate && !r.deferred);
    CHECK_INT(r.seq, 1);
    CHECK_SV(brief("default", NOW), SV("-| u:short"));
    struct entry n = last_entry();
    CHECK_SV(n.kind, SV("ai_context_operation"));
    CHECK_SV(n.op_id, SV("op1"));
    CHECK_SV(n.lane, SV("default"));
    CHECK_SV(n.refs, SV("{\"context_ref\":\"default\",\"op_id\":\"op1\"}"));
    CHECK_SV(
        n.payload,
        SV("{\"context_ref\":\"default\",\"op_id\":\"op1\",\"operation\":{\"meta\":{\"from_seq\":0,"
           "\"model\":\"m\"},\"reason\":\"compaction\",\"result_context\":{\"entries\":[{"
           "\"content\":\"short\",\"role\":\"user\"}],\"id\":\"ed4b9d1b4d75067e\","
           "\"system_prompt\":null},\"type\":\"replace\"}}"));
}

static void meta_is_always_there_and_base_seq_only_when_given(void)
{
    say("user", "a");
    apply(REPLACE("default", "o1", CTX("x")));
    CHECK(sv_find(last_entry().payload, SV("\"meta\":{}")) > 0);
    CHECK(sv_find(last_entry().payload, SV("base_seq")) < 0);
    apply(REPLACE("default", "o2", CTX("x")), .has_base_seq = true, .base_seq = 0, .rebase = true);
    CHECK(sv_find(last_entry().payload, SV("\"base_seq\":0,\"meta\":{\"rebase\":true}")) > 0);
}

static void a_snapshot_keeps_fields_that_are_not_ours(void)
{
    static const char context[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"cache_control\":{\"type\":\"x\"}},"
        "{\"role\":\"user\",\"content\":\"b\",\"timestamp\":\"2026-01-01T00:00:00Z\"},"
        "{\"role\":\"user\",\"content\":\"c\",\"timestamp\":5}]}";
    apply(REPLACE("default", "o1", context));
    CHECK_SV(brief("default", NOW), SV("-| u:a u:b u:c")); /* they are kept, not shown */
    CHECK(sv_find(view("default", NOW), SV("cache_control")) < 0);
    for (int i = 0; i < 2; i++) {
        struct sv p = last_entry().payload;
        CHECK(sv_find(p, SV("\"cache_control\":{\"type\":\"x\"},\"content\":\"a\"")) > 0);
        CHECK(sv_find(p, SV("\"timestamp\":\"2026-01-01T00:00:00Z\"")) > 0);
        CHECK(sv_find(p, SV("\"timestamp\":5")) > 0);
        /* And once more, from the projected context. */
        struct projection_of of = { THREAD, LANE_DEFAULT, NOW, { 0 } };
        struct projection    proj;
        struct context       c = { 0 };
        OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
        OK(project_start(&t.l, &of, &t.a, &proj, &t.e));
        OK(project_context(&proj, &c, &t.e));
        log_abort(&t.l);
        struct op op = { REPLACE("default", "o2", "") };
        op.context = context_stored(&c, SV("x"), &t.a);
        apply_op(op, ST_OK, __LINE__);
    }
}

static void an_op_id_is_applied_once_for_ever(void)
{
    apply(REPLACE("default", "op1", CTX("a")));
    for (int i = 0; i < 200; i++) /* far more than any short list would remember */
        say("user", "x");
    restart();
    struct op_result r = apply(REPLACE("default", "op1", CTX("a")));
    CHECK(r.duplicate && !r.deferred);
    CHECK_INT(r.seq, 0);
    CHECK_INT(rev(), 201);
    refuse(ST_CONFLICT, REPLACE("default", "op1", CTX("b")));
    CHECK_SV(sv_of(t.e.reason), SV("op_id"));
    refuse(ST_CONFLICT, SWITCH("default", "op1"));
    refuse(ST_CONFLICT, REPLACE("other", "op1", CTX("a")));
    refuse(ST_CONFLICT, REPLACE("default", "op1", CTX("a")), .reason = SV("system"));
    refuse(ST_CONFLICT, REPLACE("default", "op1", CTX("a")), .meta = SV("{\"x\":1}"));
    refuse(ST_CONFLICT, REPLACE("default", "op1", CTX("a")), .agent = SV("bob"));
    CHECK_INT(rev(), 201);
}

static void switch_and_fork_are_applied_once_too(void)
{
    say("user", "a");
    struct op_result s = apply(SWITCH("alpha", "sw")), f = apply(FORK("b", "fk", "default", 0));
    CHECK_INT(apply(SWITCH("alpha", "sw")).seq, s.seq);
    CHECK_INT(apply(FORK("b", "fk", "default", 0)).seq, f.seq);
    say("user", "later"); /* the head has moved: what the request left open is as it was */
    CHECK(apply(FORK("b", "fk", "default", 0)).duplicate);
    refuse(ST_CONFLICT, FORK("b", "fk", "default", 1));
    refuse(ST_CONFLICT, SWITCH("beta", "sw"));
    CHECK_INT(rev(), 4);
}

static void a_fork_at_the_head_repeated_later_is_the_same_fork(void)
{
    say("user", "a");
    apply(FORK("b", "fk", "default", OP_AT_HEAD));
    say("user", "c");
    CHECK(apply(FORK("b", "fk", "default", OP_AT_HEAD)).duplicate);
    CHECK_SV(brief("b", NOW), SV("CP| u:a"));
}

static void a_compaction_repeated_with_other_content_is_a_conflict(void)
{
    say("user", "a");
    apply(REPLACE("default", "c1", CTX("s")), .reason = SV("compaction"));
    say("user", "b");
    CHECK(apply(REPLACE("default", "c1", CTX("s")), .reason = SV("compaction")).duplicate);
    refuse(ST_CONFLICT, REPLACE("default", "c1", CTX("other")), .reason = SV("compaction"));
}

static void an_op_id_of_a_plain_entry_is_taken(void)
{
    line("{\"kind\":\"note\",\"op_id\":\"n1\",\"payload\":{}}");
    refuse(ST_CONFLICT, SWITCH("a", "n1"));
    CHECK_INT(rev(), 1);
}

static void bad_operations_are_refused_and_nothing_is_written(void)
{
    say("user", "a");
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "", CTX("x")));
    CHECK_SV(sv_of(t.e.reason), SV("missing_op_id"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "\"not a context\""));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "not json"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{\"messages\":[{\"content\":\"x\"}]}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{\"messages\":[1]}"));
    refuse(ST_INVALID_SYNTAX,
           REPLACE("default", "o", "{\"messages\":[{\"role\":\"user\",\"content\":7}]}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{\"entries\":[]}")); /* no id */
    refuse(ST_INVALID_SYNTAX,
           REPLACE("default", "o", "{\"messages\":[],\"entries\":[],\"id\":\"x\"}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{\"messages\":[],\"system_prompt\":7}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", CTX("x")), .reason = SV("x"));
    refuse(ST_INVALID_SYNTAX, REPLACE("", "o", CTX("x")));
    refuse(ST_INVALID_SYNTAX, REPLACE("../x", "o", CTX("x")));
    refuse(ST_INVALID_SYNTAX, REPLACE("a\"b", "o", CTX("x")));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", CTX("x")), .meta = SV("[]"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", CTX("x")), .meta = SV("{"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o\"q", CTX("x")));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o\nq", CTX("x")));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o\xff", CTX("x")));
    refuse(ST_INVALID_SYNTAX, SWITCH("default", "o"), .agent = SV("a/b"));
    refuse(ST_INVALID_SYNTAX, .type = OP_FORK, .op_id = SV("o"), .from_seq = OP_AT_HEAD);
    CHECK_INT(rev(), 1);
}

static void raw_operations_are_checked_as_well(void)
{
    static const char *const bad[] = {
        "{\"op_id\":\"x\",\"context_ref\":\"default\",\"operation\":{\"type\":\"merge\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"default\"}",
        "{\"op_id\":\"\",\"context_ref\":\"default\",\"operation\":{\"type\":\"switch\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"\",\"operation\":{\"type\":\"switch\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"default\",\"operation\":{\"type\":\"replace\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"n\",\"operation\":{\"type\":\"fork\"}}",
        "{\"op_id\":\"a\\\"b\",\"context_ref\":\"n\",\"operation\":{\"type\":\"switch\"}}",
        "{\"op_id\":\"x\",\"context_ref\":\"a\\\"b\",\"operation\":{\"type\":\"switch\"}}",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sb b = sb_in(&t.a, 0);
        sb_addf(&b, "{\"kind\":\"ai_context_operation\",\"payload\":%s}", bad[i]);
        CHECK_INT(append_line(sb_sv(&b).s), ST_INVALID_SYNTAX);
    }
    CHECK_INT(
        append_line("{\"kind\":\"ai_context_operation\",\"op_id\":\"other\",\"payload\":{\"op_id\":"
                    "\"x\",\"context_ref\":\"n\",\"operation\":{\"type\":\"switch\"}}}"),
        ST_INVALID_SYNTAX);
    CHECK_INT(
        append_line("{\"kind\":\"ai_message\",\"lane\":\"a\",\"payload\":{\"context_ref\":\"b\","
                    "\"role\":\"user\"}}"),
        ST_INVALID_SYNTAX);
    CHECK_INT(rev(), 0);
}

static void an_operation_without_a_lane_is_for_the_active_one(void)
{
    say("user", "a");
    apply(SWITCH("alpha", "s"));
    struct op_result r = apply(.type = OP_REPLACE, .op_id = SV("o"), .context = sv_of(CTX("x")));
    CHECK_SV(r.lane, SV("alpha"));
    CHECK_SV(brief("alpha", NOW), SV("-| u:x"));
    CHECK_SV(brief("default", NOW), SV("CP| u:a"));
}

static void an_operation_on_nothing_is_not_found(void)
{
    refuse(ST_NOT_FOUND, SWITCH("a", "o"));
    refuse(ST_NOT_FOUND, FORK("a", "o", "default", OP_AT_HEAD));
    CHECK_INT(rev(), 0);
    CHECK(apply(REPLACE("default", "o", CTX("x"))).applied); /* a snapshot may begin a thread */
}

/* ---- during a run ---------------------------------------------------------------------- */

static void a_replace_during_a_run_is_parked(void)
{
    start("Q", "r1");
    struct sv        before = view("default", NOW);
    struct op_result r = apply(REPLACE("default", "o", CTX("s")));
    CHECK(r.deferred && !r.applied && !r.duplicate);
    CHECK_SV(sv_skip(view("default", NOW), 8), sv_skip(before, 8)); /* all but "at" */
    CHECK_INT(count_kind("ai_context_operation"), 0);
    CHECK_SV(run_now().parked_op, SV("o"));
    restart();
    CHECK_SV(run_now().parked_op, SV("o"));
}

/* A parked replace is applied after `end`, whatever that is, and is the last entry. */
static void parked_until(const char *end, enum run_status want)
{
    start("Q", "r1");
    apply(REPLACE("default", "o", CTX("s")));
    struct run_state s = events(end);
    CHECK_INT(s.status, want);
    CHECK(!s.active);
    CHECK_INT(s.parked_seq, -1);
    CHECK_SV(last_entry().kind, SV("ai_context_operation"));
    CHECK_SV(entry_at(rev() - 2).kind, SV("run_finished"));
    CHECK_INT(count_kind("ai_context_operation"), 1);
    CHECK_SV(brief("default", NOW), SV("-| u:s"));
    CHECK(apply(REPLACE("default", "o", CTX("s"))).duplicate);
    check_whole();
}

static void a_parked_replace_is_applied_when_the_run_completes(void)
{
    parked_until(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\"}}\n{\"kind\":\"request_completed\"}",
        RUN_COMPLETED);
}
static void a_parked_replace_is_applied_when_the_run_fails(void)
{
    parked_until("{\"kind\":\"request_failed\",\"data\":{\"error\":\"boom\"}}", RUN_ERROR);
}
static void a_parked_replace_is_applied_when_the_run_is_cancelled(void)
{
    parked_until("{\"kind\":\"request_cancelled\",\"data\":{\"reason\":\"r\"}}", RUN_ERROR);
}
static void a_parked_replace_is_applied_when_the_worker_dies(void)
{
    parked_until("{\"kind\":\"worker_exit\",\"data\":{\"reason\":\"killed\"}}", RUN_ERROR);
}

static void the_latest_parked_operation_wins_and_names_the_one_it_displaced(void)
{
    start("Q", "r1");
    apply(REPLACE("default", "X", CTX("x")));
    struct op_result y = apply(REPLACE("default", "Y", CTX("y")));
    CHECK_SV(y.superseded, SV("X"));
    CHECK(sv_find(last_entry().refs, SV("\"supersedes\":\"X\"")) > 0);
    CHECK(apply(REPLACE("default", "Y", CTX("y"))).duplicate); /* a retry displaces nothing */
    refuse(ST_CONFLICT, REPLACE("default", "Y", CTX("z")));
    events("{\"kind\":\"request_failed\"}");
    CHECK_SV(brief("default", NOW), SV("-| u:y"));
    CHECK_INT(count_kind("ai_context_operation"), 1);
    CHECK_INT(count_kind("ai_context_operation_deferred"), 2);
}

static void a_duplicate_does_not_displace_what_is_parked(void)
{
    apply(REPLACE("default", "old", CTX("old")));
    start("Q", "r1");
    apply(REPLACE("default", "new", CTX("new")));
    CHECK(apply(REPLACE("default", "old", CTX("old"))).duplicate);
    CHECK_SV(run_now().parked_op, SV("new"));
    events("{\"kind\":\"request_completed\"}");
    CHECK_SV(brief("default", NOW), SV("-| u:new"));
}

static void a_fork_during_a_run_is_made_at_once_and_parks_nothing(void)
{
    start("Q", "r1");
    apply(REPLACE("default", "o", CTX("s")));
    CHECK(apply(FORK("side", "f", "default", OP_AT_HEAD)).applied);
    CHECK_SV(brief("side", NOW), SV("CP| u:Q"));
    CHECK_SV(run_now().parked_op, SV("o"));
    events("{\"kind\":\"request_completed\"}");
    CHECK_SV(brief("default", NOW), SV("-| u:s")); /* it was not lost over the fork */
}

static void a_switch_during_a_run_leaves_its_messages_where_they_are(void)
{
    start("Q", "r1");
    CHECK(apply(SWITCH("beta", "s")).deferred);
    events("{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\"}}");
    CHECK_SV(active(), SV("default"));
    events("{\"kind\":\"request_completed\"}");
    CHECK_SV(active(), SV("beta"));
    CHECK_SV(brief("default", NOW), SV("CP| u:Q a:A"));
    CHECK_SV(brief("beta", NOW), SV("CP|"));
}

static void the_lane_of_a_parked_operation_is_the_active_one_when_it_was_given(void)
{
    start("Q", "r1");
    apply(.type = OP_REPLACE, .op_id = SV("o"), .context = sv_of(CTX("x")));
    events("{\"kind\":\"request_completed\"}");
    CHECK_SV(brief("default", NOW), SV("-| u:x"));
}

static void the_id_of_a_parked_operation_is_taken_whoever_asks(void)
{
    start("Q", "r1");
    apply(REPLACE("side", "o", CTX("mine")));
    refuse(ST_CONFLICT, REPLACE("side", "o", CTX("theirs")), .agent = SV("bob"));
    CHECK(sv_is(sv_of(t.e.reason), "op_id"));
    struct run_state s = events("{\"kind\":\"request_completed\"}");
    CHECK_INT(s.parked_seq, -1);
    CHECK(!s.dropped_op.s);
    CHECK_SV(brief("side", NOW), SV("-| u:mine"));
    refuse(ST_CONFLICT, REPLACE("side", "o", CTX("theirs")), .agent = SV("bob"));
    check_whole();
}

static void a_parked_operation_that_cannot_be_applied_any_more_is_named(void)
{
    start("Q", "r1");
    apply(REPLACE("side", "o", CTX("mine")));
    line("{\"kind\":\"note\",\"op_id\":\"o\",\"payload\":{}}"); /* past the operations */
    struct run_state s = events("{\"kind\":\"request_completed\"}");
    CHECK_INT(s.status, RUN_COMPLETED);
    CHECK_INT(s.parked_seq, -1);
    CHECK(sv_find(s.dropped_op, SV("\"op_id\":\"o\"")) >= 0);
    CHECK(sv_find(s.dropped_op, SV("with other content")) >= 0);
    CHECK_INT(count_kind("ai_context_operation"), 0);
    start("Q2", "r2");
    apply(FORK("new", "f", "default", OP_AT_HEAD), .also_switch = true);
    say_on("new", "user", "x"); /* somebody makes the lane meanwhile */
    s = events("{\"kind\":\"request_completed\"}");
    CHECK(sv_find(s.dropped_op, SV("was made meanwhile")) >= 0);
    CHECK_SV(active(), SV("default"));
    check_whole();
}

static void an_operation_can_demand_a_revision(void)
{
    say("user", "0");
    refuse(ST_CONFLICT, REPLACE("default", "o", CTX("x")), .has_expect = true, .expect = 2);
    CHECK(sv_is(sv_of(t.e.reason), "rev"));
    apply(REPLACE("default", "o", CTX("x")), .has_expect = true, .expect = 1);
    struct op_result r = apply(REPLACE("default", "o", CTX("x")), .has_expect = true, .expect = 1);
    CHECK(r.duplicate);
}

static void a_compaction_that_says_what_it_was_made_from_hides_nothing_after_it(void)
{
    say("user", "0");
    say("assistant", "1");
    say("user", "2");
    apply(REPLACE("default", "c", CTX("(0,1)")), .reason = SV("compaction"), .has_base_seq = true,
          .base_seq = 1);
    CHECK_SV(brief("default", NOW), SV("-| u:(0,1) u:2"));
    struct op_result r = apply(REPLACE("default", "c", CTX("(0,1)")), .reason = SV("compaction"),
                               .has_base_seq = true, .base_seq = 1);
    CHECK(r.duplicate);
    apply(REPLACE("default", "d", CTX("all")), .reason = SV("compaction"), .has_base_seq = true,
          .base_seq = 1, .meta = SV("{\"rebase\":false}"));
    CHECK_SV(brief("default", NOW), SV("-| u:all"));
    check_whole();
}

static void a_rebased_compaction_parked_during_a_run_keeps_the_turn(void)
{
    say("user", "0");
    say("assistant", "1");
    start("Q", "r1");
    apply(REPLACE("default", "c", CTX("sum")), .reason = SV("compaction"), .has_base_seq = true,
          .base_seq = 1, .rebase = true);
    events(
        "{\"kind\":\"llm_completed\",\"data\":{\"text\":\"A\"}}\n{\"kind\":\"request_completed\"}");
    CHECK_SV(brief("default", NOW), SV("-| u:sum u:Q a:A"));
}

/* ---- durable output ---------------------------------------------------------------------- */

#define SKILL_REFS "{\"durable\":true,\"kind\":\"skill_activation\",\"skill_name\":\"s\"}"

static void call_skills(const char *ids)
{
    struct sb     b = sb_in(&t.a, 0);
    struct sv_cut cut = { .tail = sv_of(ids), .found = true };
    bool          first = true;

    sb_adds(&b,
            "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"calling\","
            "\"tool_calls\":[");
    for (; cut.found; first = false) {
        cut = sv_cut(cut.tail, ',');
        sb_addf(&b, "%s{\"id\":\"" SV_FMT "\",\"name\":\"load_skill\",\"arguments\":{}}",
                first ? "" : ",", SV_ARG(cut.head));
    }
    sb_adds(&b, ",{\"id\":\"calc\",\"name\":\"calculator\",\"arguments\":{}}]}}");
    line(sb_sv(&b).s);
}

static void tool_said(const char *id, const char *name, const char *text, const char *refs)
{
    struct sb b = sb_in(&t.a, 0);

    sb_addf(
        &b,
        "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"name\":"
        "\"%s\",\"content\":\"%s\"},\"refs\":%s}",
        id, name, text, refs);
    line(sb_sv(&b).s);
}

static void a_compaction_keeps_durable_skills_and_no_spoofs(void)
{
    say("user", "q");
    call_skills("sk1");
    tool_said("sk1", "load_skill", "SKILL", SKILL_REFS);
    tool_said("calc", "calculator", "42", SKILL_REFS);     /* another tool claims it */
    tool_said("ghost", "load_skill", "GHOST", SKILL_REFS); /* nobody called it */
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"spoof\"},"
         "\"refs\":" SKILL_REFS "}");
    apply(REPLACE("default", "c",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"summary\"},{\"role\":\"tool\","
                  "\"tool_call_id\":\"sk1\",\"name\":\"load_skill\",\"content\":\"FORGED\"}]}"),
          .reason = SV("compaction"));
    CHECK_SV(brief("default", NOW), SV("-| a[sk1]:calling t(sk1):SKILL u:summary"));
    CHECK(sv_find(view("default", NOW), SV("skill_activation")) > 0); /* its refs too */
    CHECK(apply(REPLACE(
                    "default", "c",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"summary\"},{\"role\":\"tool\","
                    "\"tool_call_id\":\"sk1\",\"name\":\"load_skill\",\"content\":\"FORGED\"}]}"),
                .reason = SV("compaction"))
              .duplicate);
    apply(REPLACE("default", "c2", CTX("again")), .reason = SV("compaction"));
    CHECK_SV(brief("default", NOW), SV("-| a[sk1]:calling t(sk1):SKILL u:again")); /* for good */
    apply(REPLACE("default", "m", CTX("manual")));
    CHECK_SV(brief("default", NOW), SV("-| u:manual")); /* only a compaction keeps them */
}

static void a_skill_the_snapshot_still_calls_stays_behind_its_call(void)
{
    call_skills("sk1");
    tool_said("sk1", "load_skill", "SKILL", SKILL_REFS);
    apply(REPLACE("default", "c",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\","
                  "\"content\":\"\",\"tool_calls\":[{\"id\":\"sk1\",\"name\":\"load_skill\","
                  "\"arguments\":{}}]},{\"role\":\"tool\",\"tool_call_id\":\"sk1\",\"name\":"
                  "\"load_skill\",\"content\":\"cut…\"},{\"role\":\"user\",\"content\":\"v\"}]}"),
          .reason = SV("compaction"));
    CHECK_SV(brief("default", NOW), SV("-| u:u a[sk1]: t(sk1):SKILL u:v"));
}

static void of_two_skills_of_one_turn_the_one_the_snapshot_dropped_is_kept(void)
{
    call_skills("sk1,sk2");
    tool_said("sk1", "load_skill", "ONE", SKILL_REFS);
    tool_said("sk2", "load_skill", "TWO", SKILL_REFS);
    apply(REPLACE("default", "c",
                  "{\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
                  "\"sk1\",\"name\":\"load_skill\",\"arguments\":{}}]},{\"role\":\"tool\","
                  "\"tool_call_id\":\"sk1\",\"name\":\"load_skill\",\"content\":\"one\"}]}"),
          .reason = SV("compaction"));
    CHECK_SV(brief("default", NOW), SV("-| a[sk2]:calling t(sk2):TWO a[sk1]: t(sk1):ONE"));
}

static void a_rebased_compaction_keeps_each_skill_once(void)
{
    say("user", "0");
    call_skills("sk1");
    tool_said("sk1", "load_skill", "SKILL", SKILL_REFS); /* 2 */
    call_skills("sk2");
    tool_said("sk2", "load_skill", "TWO", SKILL_REFS); /* 4 */
    apply(REPLACE("default", "c", CTX("sum")), .reason = SV("compaction"), .has_base_seq = true,
          .base_seq = 3, .rebase = true);
    CHECK_SV(brief("default", NOW),
             SV("-| a[sk1]:calling t(sk1):SKILL a[sk2]:calling u:sum t(sk2):TWO"));
    apply(REPLACE("default", "d", CTX("sum")), .reason = SV("compaction"), .has_base_seq = true,
          .base_seq = 2, .rebase = true);
    CHECK(sv_ends(brief("default", NOW), SV("u:sum a[sk2,calc]:calling t(sk2):TWO")));
}

static void nested_too_deep_is_refused_before_it_cannot_be_exported(void)
{
    say("user", "a");
    for (size_t depth = JSON_DEPTH_MAX - 8; depth < JSON_DEPTH_MAX; depth++) {
        struct sb b = sb_in(&t.a, 0), id = sb_in(&t.a, 0);
        sb_adds(&b, "{\"messages\":[{\"role\":\"user\",\"content\":");
        sb_pad(&b, '[', depth);
        sb_pad(&b, ']', depth);
        sb_adds(&b, "}]}");
        sb_addf(&id, "d%zu", depth);
        struct op op = { REPLACE("default", "", ""), .at = 1, .thread = THREAD };
        op.op_id = sb_sv(&id);
        op.context = sb_sv(&b);
        struct op_result r;
        enum status      s = op_apply(&t.l, &op, &t.a, &r, &t.e);
        CHECK(s == ST_OK || s == ST_LIMIT_EXCEEDED);
        if (s)
            continue;
        struct entry      n = last_entry();
        struct sb         out = sb_in(&t.a, 0);
        struct entry_line back;
        entry_write(&out, &n);
        OK(entry_read(sb_sv(&out), &(struct entry_defaults){ 0 }, &t.a, &back, &t.e));
        CHECK(sv_find(view("default", NOW), SV("[[[[")) > 0); /* and the snapshot counts */
    }
}

THREAD_MAIN(T(replace_writes_one_entry_with_everything_in_it),
            T(meta_is_always_there_and_base_seq_only_when_given),
            T(a_snapshot_keeps_fields_that_are_not_ours), T(an_op_id_is_applied_once_for_ever),
            T(switch_and_fork_are_applied_once_too),
            T(a_fork_at_the_head_repeated_later_is_the_same_fork),
            T(a_compaction_repeated_with_other_content_is_a_conflict),
            T(an_op_id_of_a_plain_entry_is_taken),
            T(bad_operations_are_refused_and_nothing_is_written),
            T(raw_operations_are_checked_as_well),
            T(an_operation_without_a_lane_is_for_the_active_one),
            T(an_operation_on_nothing_is_not_found), T(a_replace_during_a_run_is_parked),
            T(a_parked_replace_is_applied_when_the_run_completes),
            T(a_parked_replace_is_applied_when_the_run_fails),
            T(a_parked_replace_is_applied_when_the_run_is_cancelled),
            T(a_parked_replace_is_applied_when_the_worker_dies),
            T(the_latest_parked_operation_wins_and_names_the_one_it_displaced),
            T(a_duplicate_does_not_displace_what_is_parked),
            T(a_fork_during_a_run_is_made_at_once_and_parks_nothing),
            T(a_switch_during_a_run_leaves_its_messages_where_they_are),
            T(the_lane_of_a_parked_operation_is_the_active_one_when_it_was_given),
            T(the_id_of_a_parked_operation_is_taken_whoever_asks),
            T(a_parked_operation_that_cannot_be_applied_any_more_is_named),
            T(an_operation_can_demand_a_revision),
            T(a_compaction_that_says_what_it_was_made_from_hides_nothing_after_it),
            T(a_rebased_compaction_parked_during_a_run_keeps_the_turn),
            T(a_compaction_keeps_durable_skills_and_no_spoofs),
            T(a_skill_the_snapshot_still_calls_stays_behind_its_call),
            T(of_two_skills_of_one_turn_the_one_the_snapshot_dropped_is_kept),
            T(a_rebased_compaction_keeps_each_skill_once),
            T(nested_too_deep_is_refused_before_it_cannot_be_exported), )
