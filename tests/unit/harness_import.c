/* Importing transcripts: what a file can be like, how far it is read, where its records go. Claude
 * Code's lines are used, because they have everything: chains, forks, side chains, compactions. */
#include "harness/limits.h"
#include "harness_test.h"
#include "store/store_internal.h"

#define S1 "11111111-2222-4333-8444-555555555555"
#define S2 "22222222-2222-4333-8444-555555555555"
#define T1 "claude-code-11111111"

/* A line: {"parentUuid":…,"uuid":…,"sessionId":…, REST}. parent NULL: null. */
static const char *record_of(const char *session, const char *uuid, const char *parent,
                             const char *rest)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(&b,
            "{\"parentUuid\":%s%s%s,\"uuid\":\"%s\",\"sessionId\":\"%s\",\"cwd\":\"/w\","
            "\"timestamp\":\"2026-11-17T14:00:00.000Z\",%s}\n",
            parent ? "\"" : "", parent ? parent : "null", parent ? "\"" : "", uuid, session, rest);
    return sb_sv(&b).s;
}

static const char *said_by(const char *session, const char *uuid, const char *parent,
                           const char *role, const char *text)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(&b, "\"type\":\"%s\",\"message\":{\"role\":\"%s\",\"id\":\"m-%s\",\"content\":\"%s\"}",
            role, role, uuid, text);
    return record_of(session, uuid, parent, sb_sv(&b).s);
}
#define user(uuid, parent, text) give(said_by(S1, uuid, parent, "user", text))
#define model(uuid, parent, text) give(said_by(S1, uuid, parent, "assistant", text))

/* One block of an answer. */
static void block(const char *uuid, const char *parent, const char *message, const char *json)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(&b,
            "\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"id\":\"%s\","
            "\"model\":\"m\",\"usage\":{\"input_tokens\":10,\"output_tokens\":2},\"content\":[%s]}",
            message, json);
    give(record_of(S1, uuid, parent, sb_sv(&b).s));
}

static void result(const char *uuid, const char *parent, const char *call)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(
        &b,
        "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"%s\",\"content\":\"R\"}]}",
        call);
    give(record_of(S1, uuid, parent, sb_sv(&b).s));
}

#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Read\",\"input\":{\"p\":1}}"

/* ---- how far ----------------------------------------------------------------------------------
 */

static void a_session_becomes_a_thread_and_twice_is_once(void)
{
    user("u1", NULL, "Q");
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(h.report.thread, SV(T1));
    CHECK_SV(h.report.lane, SV("default"));
    CHECK_INT(h.report.read, 2);
    CHECK_INT(h.report.messages, 2);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    int64_t rev = rev_of(T1);
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.read, 0);
    CHECK_INT(rev_of(T1), rev);
    check_log(SV(T1));
}

static void what_is_added_is_imported_and_nothing_else(void)
{
    user("u1", NULL, "Q");
    take(HARNESS_CLAUDE_CODE);
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.read, 1);
    CHECK_INT(h.report.entries, 1);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
}

static void a_line_without_its_end_waits_until_it_has_one(void)
{
    const char *whole = said_by(S1, "a1", "u1", "assistant", "A");

    user("u1", NULL, "Q");
    give_bytes((struct sv){ whole, strlen(whole) / 2 });
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.read, 1);
    int64_t rev = rev_of(T1);
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(rev_of(T1), rev); /* nothing, not even a position */
    give_bytes(sv_skip(sv_of(whole), strlen(whole) / 2));
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK_INT((int64_t)h.report.notes.n, 0);
}

/* ---- batches ----------------------------------------------------------------------------------
 */

enum { MANY = HARNESS_BATCH_RECORDS + 100 };

/* A session of Gemini CLI as one document with MANY messages. */
static void give_document(void)
{
    struct sb b = sb_in(&h.a, 0);

    sb_adds(&b, "{\n  \"sessionId\": \"" S1 "\",\n  \"kind\": \"main\",\n  \"messages\": [");
    for (int i = 0; i < MANY; i++)
        sb_addf(&b, "%s\n    {\"id\": \"m%d\", \"type\": \"%s\", \"content\": \"said %d\"}",
                i ? "," : "", i, i % 2 ? "gemini" : "user", i);
    sb_adds(&b, "\n  ],\n  \"summary\": \"T\"\n}\n");
    give_bytes(sb_sv(&b));
}

/* Ends the import behind its batch number `end`; 0: never. */
struct batches {
    int n, end;
};

static enum status note_batch(void *ctx, int64_t done, int64_t total, struct err *e)
{
    struct batches *b = ctx;

    CHECK(done > 0 && done <= total);
    return ++b->n == b->end ? err_set(e, ST_CONFLICT, "ended") : ST_OK;
}

static void check_document(void)
{
    int64_t rev = rev_of("gemini-11111111"); /* a few are no messages */

    CHECK(rev > MANY && rev < MANY + 10);
    CHECK_INT((int64_t)h.report.notes.n, 0);
    check_log(SV("gemini-11111111"));
}

static void a_long_document_is_appended_in_batches(void)
{
    struct batches b = { 0 };

    harness_end();
    harness_begin_in("fault:0:mem:");
    give_document();
    h.limits = (struct harness_limits){ .check = note_batch, .ctx = &b };
    take(HARNESS_GEMINI);
    CHECK_INT(b.n, 2);
    CHECK(fault_most_in_write(h.s) < MANY);
    CHECK_INT(h.report.messages, MANY);
    check_document();
    take(HARNESS_GEMINI);
    CHECK_INT(h.report.entries, 0);
}

static void a_document_that_was_read_to_a_batch_is_read_again_and_each_message_taken_once(void)
{
    struct batches b = { .end = 1 };
    int64_t        first;

    give_document();
    h.limits = (struct harness_limits){ .bytes = 1, .check = note_batch, .ctx = &b };
    CHECK(take_status(HARNESS_GEMINI) == ST_CONFLICT);
    first = h.report.messages;
    CHECK(first > 0 && first < MANY);
    take(HARNESS_GEMINI); /* a limit does not end it: it would begin anew each time */
    CHECK(!h.report.more);
    CHECK_INT(h.report.messages, MANY - first);
    check_document();
}

static void a_last_object_that_only_lacks_its_line_feed_is_taken(void)
{
    const char *whole = said_by(S1, "u1", NULL, "user", "Q");

    give_bytes((struct sv){ whole, strlen(whole) - 1 });
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q"));
    give("\n");
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(h.report.read, 1);
    CHECK(!h.report.rewritten);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
}

static void a_file_that_was_cut_is_read_from_its_start_and_what_is_known_stays_once(void)
{
    user("u1", NULL, "Q");
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_INT(ftruncate(h.fd, 0), 0);
    user("u1", NULL, "Q");
    take(HARNESS_CLAUDE_CODE);
    CHECK(h.report.rewritten);
    CHECK_INT(h.report.known, 1);
    CHECK_INT(h.report.entries, 0);
    model("a2", "u1", "B");
    take(HARNESS_CLAUDE_CODE);
    CHECK(!h.report.rewritten);
    CHECK_SV(shown("default~a2"), SV("u:Q a:B")); /* a1 is there, so a2 is another branch */
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    check_log(SV(T1));
}

static void an_empty_file_after_a_cut_is_no_error(void)
{
    user("u1", NULL, "Q");
    take(HARNESS_CLAUDE_CODE);
    h.session = SV(S1);
    CHECK_INT(ftruncate(h.fd, 0), 0);
    take(HARNESS_CLAUDE_CODE);
    CHECK(h.report.rewritten);
    take(HARNESS_CLAUDE_CODE);
    CHECK(!h.report.rewritten);
}

static void a_limit_of_bytes_stops_between_records_and_the_next_call_goes_on(void)
{
    char uuid[16], before[16] = "";

    for (int i = 0; i < 100; i++) {
        snprintf(uuid, sizeof uuid, "u%d", i);
        user(uuid, i ? before : NULL, "Q");
        memcpy(before, uuid, sizeof before);
    }
    h.limits.bytes = 1000;
    int64_t read = 0;
    int     calls = 0;
    do {
        take(HARNESS_CLAUDE_CODE);
        CHECK(h.report.read > 0);
        read += h.report.read;
    } while (h.report.more && ++calls < 200);
    CHECK_INT(read, 100);
    CHECK(calls > 5);
    CHECK_INT(state_of(HARNESS_CLAUDE_CODE, "")->turns, 100);
}

static void what_is_not_a_transcript_is_refused(void)
{
    give("hello\n{\"a\":1}\n");
    CHECK_INT(take_status(HARNESS_CLAUDE_CODE), ST_INVALID_SYNTAX);
    another_file();
    CHECK_INT(take_status(HARNESS_CLAUDE_CODE), ST_INVALID_SYNTAX);
    another_file();
    give("{\"sessionId\":\"../../etc\",\"uuid\":\"u\",\"type\":\"user\"}\n");
    CHECK_INT(take_status(HARNESS_CLAUDE_CODE), ST_INVALID_SYNTAX);
}

/* ---- what is in it ----------------------------------------------------------------------------
 */

static void lines_that_are_not_json_are_kept_and_counted(void)
{
    user("u1", NULL, "Q");
    give("{broken\n\n[1,2]\n\"text\"\n");
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK(has_note("not JSON objects"));
    CHECK_INT(h.report.notes.v[0].count, 3);
    CHECK_INT(h.report.notes.v[0].first, 2);
    check_log(SV(T1));
}

static void bytes_that_are_not_utf8_become_replacement_characters(void)
{
    user("u1", NULL, "Q\xff\xc3");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q\xef\xbf\xbd\xef\xbf\xbd"));
    CHECK(has_note("not UTF-8"));
}

static void a_line_that_is_too_long_is_left_out_and_the_next_one_is_read(void)
{
    char *long_text = ARENA_NEW(&h.a, char, HARNESS_RECORD_MAX + 100);

    memset(long_text, 'x', HARNESS_RECORD_MAX + 99);
    user("u1", NULL, "Q");
    give("{\"uuid\":\"");
    give(long_text);
    give("\"}\n");
    model("a1", "u1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK(has_note("MB: left out"));
}

static void unknown_records_and_members_are_kept_as_they_are(void)
{
    user("u1", NULL, "Q");
    give(record_of(S1, "x1", "u1", "\"type\":\"hologram\",\"depth\":3"));
    give("{\"type\":\"weather\",\"sessionId\":\"" S1 "\",\"sun\":true}\n");
    model("a1", "x1", "A"); /* the chain goes through it */
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK_SV(lanes(), SV("default"));
    CHECK(has_note("'hologram'"));
    CHECK(has_note("'weather'"));
}

static void messages_of_the_system_are_kept_and_not_shown(void)
{
    user("u1", NULL, "Q");
    give(record_of(S1, "s1", "u1",
                   "\"type\":\"system\",\"subtype\":\"informational\",\"content\":\"note\""));
    give(record_of(S1, "t1", "s1", "\"type\":\"attachment\",\"attachment\":{\"type\":\"date\"}"));
    model("a1", "t1", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK_INT((int64_t)h.report.notes.n, 0);
}

/* ---- lanes --------------------------------------------------------------------------------------
 */

static void going_back_makes_a_lane_that_is_active(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    user("u2", "a1", "Q2");
    user("u3", "a1", "Q3");
    model("a3", "u3", "A3");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(lanes(), SV("default default~u3<default"));
    CHECK_SV(shown("default"), SV("u:Q1 a:A1 u:Q2"));
    CHECK_SV(shown("default~u3"), SV("u:Q1 a:A1 u:Q3 a:A3"));
    CHECK_SV(active_in(T1, "default"), SV("default~u3"));
    model("a2", "u2", "A2"); /* two processes go on with one session */
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q1 a:A1 u:Q2 a:A2"));
    CHECK_SV(active_in(T1, "default"), SV("default"));
    CHECK_INT(h.report.lanes, 0);
    check_log(SV(T1));
}

static void another_first_message_shares_nothing(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    user("u2", NULL, "Q2");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q1 a:A1"));
    CHECK_SV(shown("default~u2"), SV("u:Q2"));
}

static void results_of_calls_made_at_once_stay_on_the_lane(void)
{
    user("u1", NULL, "Q");
    block("a1", "u1", "m1", CALL("c1"));
    block("a2", "a1", "m1", CALL("c2"));
    result("r2", "a2", "c2");
    result("r1", "a1", "c1"); /* follows its own call, which is not the last record */
    block("a3", "r1", "m2", "{\"type\":\"text\",\"text\":\"A\"}");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(lanes(), SV("default"));
    CHECK_SV(shown("default"), SV("u:Q a:→c1 a:→c2 t:R=c2 t:R=c1 a:A"));
    const struct harness_state *s = state_of(HARNESS_CLAUDE_CODE, "");
    CHECK_INT(s->total.input, 20); /* an answer counts once, however many lines it has */
    CHECK_INT(s->total.output, 4);
    CHECK_INT(s->turns, 1);
}

static void a_fork_is_a_lane_of_the_thread_it_was_forked_from(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    user("u2", "a1", "Q2");
    take(HARNESS_CLAUDE_CODE);
    another_file();
    give("{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"" S2 "\"}\n");
    give(said_by(S2, "u1", NULL, "user", "Q1"));
    give(said_by(S2, "a1", "u1", "assistant", "A1"));
    give(said_by(S2, "u9", "a1", "user", "Q9"));
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(h.report.thread, SV(T1));
    CHECK_SV(h.report.lane, SV("claude-code-22222222"));
    CHECK_INT(h.report.known, 2);
    CHECK_SV(shown("claude-code-22222222"), SV("u:Q1 a:A1 u:Q9"));
    CHECK_SV(shown("default"), SV("u:Q1 a:A1 u:Q2"));
    CHECK_SV(active_in(T1, "default"), SV("default")); /* the fork has an agent of its own */
    CHECK_INT(state_of(HARNESS_CLAUDE_CODE, "")->turns, 1);
    check_log(SV(T1));
}

static void a_record_whose_parent_is_missing_follows_the_one_before_and_is_reported(void)
{
    user("u1", NULL, "Q");
    model("a1", "gone", "A");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK(has_note("not there"));
}

static void records_in_a_circle_end(void)
{
    user("u1", "a1", "Q");
    model("a1", "u1", "A");
    user("u1", "a1", "Q");
    user("s1", "s1", "self");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:A u:self"));
    CHECK_INT(h.report.known, 1);
}

static void side_chains_of_the_file_are_lanes_that_hang_on_the_call(void)
{
    user("u1", NULL, "Q");
    block("a1", "u1", "m1", "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Task\",\"input\":{}}");
    give(record_of(S1, "s1", NULL,
                   "\"isSidechain\":true,\"agentId\":\"abc\",\"type\":\"user\","
                   "\"message\":{\"role\":\"user\",\"content\":\"look\"}"));
    give(record_of(S1, "s2", "s1",
                   "\"isSidechain\":true,\"agentId\":\"abc\",\"type\":\"assistant\","
                   "\"message\":{\"role\":\"assistant\",\"id\":\"m9\",\"content\":\"seen\"}"));
    result("r1", "a1", "c1");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q a:→c1 t:R=c1"));
    CHECK_SV(shown("agent-abc"), SV("u:look a:seen"));
    struct loom l = { .log = &h.l, .thread = SV(T1), .a = &h.a };
    struct node side, call;
    h.l.wanted = &loom_view;
    OK(log_begin(&h.l, SV(T1), STORE_READ, &h.e));
    OK(node_find(&l, SV("s1"), &side, &h.e));
    OK(node_find(&l, SV("a1"), &call, &h.e));
    log_abort(&h.l);
    CHECK_INT(side.parent, call.seq);
}

/* ---- compactions ---------------------------------------------------------------------------- */

static void boundary(const char *uuid, const char *after, const char *kept_from)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(&b, "\"type\":\"system\",\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"%s\"",
            after);
    if (kept_from)
        sb_addf(&b, ",\"compactMetadata\":{\"preservedSegment\":{\"headUuid\":\"%s\"}}", kept_from);
    give(record_of(S1, uuid, NULL, sb_sv(&b).s));
}

static void summary(const char *uuid, const char *parent, const char *text)
{
    struct sb b = sb_in(&h.a, 0);

    sb_addf(&b,
            "\"type\":\"user\",\"isCompactSummary\":true,"
            "\"message\":{\"role\":\"user\",\"content\":\"%s\"}",
            text);
    give(record_of(S1, uuid, parent, sb_sv(&b).s));
}

static void a_compaction_replaces_what_was_before(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    boundary("b1", "a1", NULL);
    summary("s1", "b1", "SUM");
    user("u2", "s1", "Q2");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:SUM u:Q2"));
    CHECK_SV(lanes(), SV("default"));
    CHECK_INT(h.report.compactions, 1);
    CHECK_INT(state_of(HARNESS_CLAUDE_CODE, "")->turns, 2);
}

static void what_a_compaction_preserves_stands_behind_the_summary(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    user("u2", "a1", "Q2");
    model("a2", "u2", "A2");
    boundary("b1", "a2", "u2");
    summary("s1", "b1", "SUM");
    user("u3", "s1", "Q3");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:SUM u:Q2 a:A2 u:Q3"));
    user("u4", "a1", "back"); /* before the compaction */
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default~u4"), SV("u:Q1 a:A1 u:back"));
}

static void a_summary_that_comes_in_the_next_import_knows_what_its_boundary_said(void)
{
    user("u1", NULL, "Q1");
    model("a1", "u1", "A1");
    boundary("b1", "a1", "a1");
    take(HARNESS_CLAUDE_CODE);
    summary("s1", "b1", "SUM");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:SUM a:A1"));
}

/* ---- bindings ---------------------------------------------------------------------------------
 */

static enum status bind_to(const char *session, const char *thread)
{
    struct harness_binding to = { .thread = sv_of(thread) };
    enum status            s = log_begin(&h.l, HARNESS_GLOBAL, STORE_WRITE, &h.e);

    if (!s)
        s = harness_bind(&h.l, HARNESS_CLAUDE_CODE, sv_of(session), &to, SV("ada"), 1, &h.a, NULL,
                         &h.e);
    if (!s)
        s = log_commit(&h.l, &h.e);
    log_abort(&h.l);
    return s;
}

static void a_session_that_is_bound_goes_to_its_thread_on_a_lane_of_its_own(void)
{
    struct entry      said = { .at = 1,
                               .kind = SV("ai_message"),
                               .lane = SV("default"),
                               .payload = SV("{\"content\":\"own\",\"role\":\"user\"}") };
    struct store_head head;

    OK(log_begin(&h.l, SV("design"), STORE_WRITE, &h.e));
    OK(log_append(&h.l, SV("design"), LOG_ANY_REV, &said, 1, &head, &h.e));
    OK(log_commit(&h.l, &h.e));
    OK(bind_to(S1, "design"));
    OK(bind_to(S1, "design")); /* again: nothing */
    CHECK_INT(rev_of(".global"), 1);
    user("u1", NULL, "Q");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(h.report.thread, SV("design"));
    CHECK_SV(h.report.lane, SV(T1));
    CHECK_SV(shown(T1), SV("u:Q"));
    CHECK_SV(shown("default"), SV("u:own"));
    CHECK_SV(active_in("design", "default"), SV("default"));
}

static void two_sessions_in_one_thread_do_not_mix(void)
{
    OK(bind_to(S1, "design"));
    OK(bind_to(S2, "design"));
    user("u1", NULL, "Q1");
    take(HARNESS_CLAUDE_CODE);
    another_file();
    give(said_by(S2, "u2", NULL, "user", "Q2"));
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(shown("default"), SV("u:Q1"));
    CHECK_SV(shown("claude-code-22222222"), SV("u:Q2"));
}

static void a_session_that_is_bound_anew_goes_on_in_the_other_thread(void)
{
    user("u1", NULL, "Q1");
    take(HARNESS_CLAUDE_CODE);
    OK(bind_to(S1, "design"));
    model("a1", "u1", "A1");
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(h.report.thread, SV("design"));
    CHECK_INT(h.report.read, 1);
    CHECK_SV(shown("default"), SV("a:A1"));
    CHECK_SV(shown_in(T1, "default"), SV("u:Q1"));
}

static void names_that_are_not_names_are_not_bound_to(void)
{
    CHECK_INT(bind_to(S1, "../up"), ST_INVALID_SYNTAX);
    CHECK_INT(bind_to("a/b", "design"), ST_INVALID_SYNTAX);
    CHECK_INT(bind_to("", "design"), ST_INVALID_SYNTAX);
    CHECK_INT(rev_of(".global"), 0);
}

static void another_session_with_the_same_beginning_gets_a_thread_with_its_whole_id(void)
{
    user("u1", NULL, "Q1");
    take(HARNESS_CLAUDE_CODE);
    another_file();
    give(said_by("11111111-0000-4333-8444-555555555555", "v1", NULL, "user", "other"));
    take(HARNESS_CLAUDE_CODE);
    CHECK_SV(h.report.thread, SV("claude-code-11111111-0000-4333-8444-555555555555"));
}

/* ---- what is told -----------------------------------------------------------------------------
 */

/* Hooks put their text in front of a prompt; where there is nothing else, nobody asked. */
static void a_session_is_called_after_what_was_asked_and_not_after_blocks(void)
{
    static const struct {
        const char *text, *asked;
    } prompts[] = {
        { "<thread_context thread=\\\"a\\\">\\n</thread_context>\\n\\nPrompt 1", "Prompt 1" },
        { "<hook_context>&lt;thread_context&gt;</x></hook_context>\\nPrompt 2", "Prompt 2" },
        { "<thread_injections>x</thread_injections><thread_context>y</thread_context>",
          "Prompt 2" },
        { "<thread_contexts> is not closed", "<thread_contexts> is not closed" },
        { "<thread_context> neither", "<thread_context> neither" },
    };

    give("{\"type\":\"session\",\"version\":3,\"id\":\"ada-1\",\"cwd\":\"/w\"}\n");
    for (size_t i = 0; i < COUNT(prompts); i++) {
        struct sb b = sb_in(&h.a, 0);
        sb_addf(&b,
                "{\"type\":\"message\",\"id\":\"%zu\",\"parentId\":null,\"message\":{"
                "\"role\":\"user\",\"content\":\"%s\"}}\n",
                i, prompts[i].text);
        give(sb_sv(&b).s);
        take(HARNESS_PI);
        CHECK_SV(harness_text_sv(&state_of(HARNESS_PI, "")->prompt), sv_of(prompts[i].asked));
    }
    CHECK_SV(harness_text_sv(&state_of(HARNESS_PI, "")->asked), SV("Prompt 1"));
}

static void a_session_is_known_by_title_project_prompts_and_cost(void)
{
    user("u1", NULL, "first\\nprompt");
    block("a1", "u1", "m1", "{\"type\":\"text\",\"text\":\"A\"}");
    give("{\"type\":\"custom-title\",\"customTitle\":\"My work\",\"sessionId\":\"" S1 "\"}\n");
    give("{\"type\":\"cost-state\",\"totalCostUSD\":0.0125,\"sessionId\":\"" S1 "\"}\n");
    user("u2", "a1", "second");
    take(HARNESS_CLAUDE_CODE);
    const struct harness_state *s = state_of(HARNESS_CLAUDE_CODE, "");
    CHECK_SV(harness_text_sv(&s->title), SV("My work"));
    CHECK_SV(s->cwd, SV("/w"));
    CHECK_SV(harness_text_sv(&s->asked), SV("first prompt"));
    CHECK_SV(harness_text_sv(&s->prompt), SV("second"));
    CHECK_SV(harness_text_sv(&s->model), SV("m"));
    CHECK(s->total.priced);
    CHECK_INT(s->total.cost, 12500000);
    CHECK_INT(s->turns, 2);
    CHECK_SV(h.report.title, SV("My work"));
}

HARNESS_MAIN(T(a_session_becomes_a_thread_and_twice_is_once),
             T(what_is_added_is_imported_and_nothing_else),
             T(a_line_without_its_end_waits_until_it_has_one),
             T(a_last_object_that_only_lacks_its_line_feed_is_taken),
             T(a_file_that_was_cut_is_read_from_its_start_and_what_is_known_stays_once),
             T(an_empty_file_after_a_cut_is_no_error),
             T(a_limit_of_bytes_stops_between_records_and_the_next_call_goes_on),
             T(what_is_not_a_transcript_is_refused),
             T(lines_that_are_not_json_are_kept_and_counted),
             T(bytes_that_are_not_utf8_become_replacement_characters),
             T(a_line_that_is_too_long_is_left_out_and_the_next_one_is_read),
             T(unknown_records_and_members_are_kept_as_they_are),
             T(messages_of_the_system_are_kept_and_not_shown),
             T(going_back_makes_a_lane_that_is_active), T(another_first_message_shares_nothing),
             T(results_of_calls_made_at_once_stay_on_the_lane),
             T(a_fork_is_a_lane_of_the_thread_it_was_forked_from),
             T(a_record_whose_parent_is_missing_follows_the_one_before_and_is_reported),
             T(records_in_a_circle_end), T(side_chains_of_the_file_are_lanes_that_hang_on_the_call),
             T(a_compaction_replaces_what_was_before),
             T(what_a_compaction_preserves_stands_behind_the_summary),
             T(a_summary_that_comes_in_the_next_import_knows_what_its_boundary_said),
             T(a_session_that_is_bound_goes_to_its_thread_on_a_lane_of_its_own),
             T(two_sessions_in_one_thread_do_not_mix),
             T(a_session_that_is_bound_anew_goes_on_in_the_other_thread),
             T(names_that_are_not_names_are_not_bound_to),
             T(another_session_with_the_same_beginning_gets_a_thread_with_its_whole_id),
             T(a_session_is_known_by_title_project_prompts_and_cost),
             T(a_session_is_called_after_what_was_asked_and_not_after_blocks),
             T(a_long_document_is_appended_in_batches),
             T(a_document_that_was_read_to_a_batch_is_read_again_and_each_message_taken_once), )
