/* Checkpoints of a log: what one holds at each moment of a run, and putting it back. */
#include "store/store.h"
#include "tap.h"
#include "thread/checkpoint.h"
#include "thread/project.h"
#include "thread/run.h"

static const struct view *const views[] = { &thread_view, NULL };
static struct arena             arena;
static struct store            *store;
static struct log               l;
static struct err               e;

static const struct token_key         one[] = { { SV_STATIC("k"), SV_STATIC("s") } };
static const struct checkpoint_keys   keys = { one, 1 };
static const struct checkpoint_config config = { .max_iterations = 10 };
static const struct run_ref who = { .thread = SV_STATIC("t"), .actor = SV_STATIC("user"), .at = 7 };

static void open_url(const char *url)
{
    store_close(store);
    store = NULL;
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &store, &e) == ST_OK);
    l = log_of(store, views);
}

static void fresh(void)
{
    open_url("mem:");
}

static struct sv unquote(const char *quoted)
{
    struct sb b = sb_in(&arena, 0);

    for (const char *p = quoted; *p; p++)
        sb_addc(&b, *p == '\'' ? '"' : *p);
    return sb_sv(&b);
}

static void start(const char *request)
{
    struct run_start s = { .content = SV("\"Q\""), .request_id = sv_of(request) };
    struct run_state state;

    CHECK(run_start(&l, &who, &s, &arena, &state, &e) == ST_OK);
}

static void event(const char *quoted)
{
    struct json       v;
    struct run_state  state;
    struct run_report report;

    CHECK(json_parse(unquote(quoted), 0, &arena, &v, &e) == ST_OK);
    CHECK(run_events(&l, &who, &v, 1, &arena, &state, &report, &e) == ST_OK);
}

static void say(const char *lane, const char *quoted)
{
    struct store_head h;
    struct json       payload;
    struct entry n = { .at = 3, .kind = SV("ai_message"), .lane = sv_of(lane), .actor = SV("u") };

    CHECK(json_parse(unquote(quoted), 0, &arena, &payload, &e) == ST_OK);
    n.payload = json_canonical(&payload, &arena);
    CHECK(log_begin(&l, SV("t"), STORE_WRITE, &e) == ST_OK);
    CHECK(log_append(&l, SV("t"), LOG_ANY_REV, &n, 1, &h, &e) == ST_OK);
    CHECK(log_commit(&l, &e) == ST_OK);
}

static struct checkpoint take_lane(struct sv lane)
{
    struct checkpoint_from from = { SV("t"), { 0 }, lane, &config };
    struct checkpoint      c = { 0 };

    CHECK(checkpoint_take(&l, &from, &arena, &c, &e) == ST_OK);
    checkpoint_set_times(&c, 100, 0);
    return c;
}

static struct checkpoint take(void)
{
    return take_lane((struct sv){ 0 });
}

static struct sv sign(const struct checkpoint *c)
{
    struct sv token = { 0 };

    CHECK(checkpoint_sign(c, &keys, NULL, &arena, &token, &e) == ST_OK);
    return token;
}

static enum status put_back(struct sv token, struct op_result *r)
{
    struct checkpoint c;

    if (checkpoint_verify(token, &keys, checkpoint_fingerprint(&config, &arena), 100, &arena, &c,
                          &e))
        return e.code;
    return checkpoint_restore(&l, token, &c, SV("user"), 200, &arena, r, &e);
}

static int64_t rev(void)
{
    struct store_head h = { 0 };

    CHECK(store_begin(store, STORE_READ, &e) == ST_OK);
    CHECK(store_head(store, SV("t"), &h, &e) == ST_OK);
    store_abort(store);
    return h.rev;
}

static struct sv project_now(void)
{
    struct projection_of of = { SV("t"), SV("default"), STORE_TO_END, { 0 } };
    struct projection    p;
    struct context       c = { 0 };

    CHECK(log_begin(&l, SV("t"), STORE_READ, &e) == ST_OK);
    CHECK(project_start(&l, &of, &arena, &p, &e) == ST_OK && project_context(&p, &c, &e) == ST_OK);
    struct sv text = context_stored(&c, SV("x"), &arena);
    log_abort(&l);
    return text;
}

#define CALLS                                                                                      \
    "{'kind':'llm_completed','data':{'content':'','tool_calls':[{'id':'t1','name':'f',"            \
    "'arguments':{'a':1}},{'id':'t2','name':'g','arguments':{}}]}}"

static void the_status_follows_the_run(void)
{
    fresh();
    start("r1");
    CHECK(take().state.status == CHECKPOINT_RUNNING);
    event(CALLS);
    struct checkpoint c = take();
    CHECK(c.state.status == CHECKPOINT_AWAITING_TOOLS);
    CHECK_SV(c.state.run_id, SV("r1"));
    CHECK_INT(c.state.started_at_ms, 7);
    event("{'kind':'tool_completed','tool_call_id':'t1','data':{'result':1}}");
    event("{'kind':'tool_completed','tool_call_id':'t2','data':{'result':2}}");
    c = take();
    CHECK(c.state.status == CHECKPOINT_RUNNING);
    CHECK_SV(c.state.pending_tool_calls, SV("[]"));
    CHECK_INT(c.state.iteration, 2);
    event("{'kind':'llm_completed','data':{'content':'A'}}");
    event("{'kind':'request_completed','data':{}}");
    c = take();
    CHECK(c.state.status == CHECKPOINT_COMPLETED);
    CHECK_SV(c.state.result, SV("\"A\""));
    CHECK(!c.state.error.s);
    CHECK_INT(c.rev, rev());
}

static void a_turn_of_calls_resumes_with_its_tools(void)
{
    fresh();
    start("r1");
    event(CALLS);
    struct checkpoint c = take();
    CHECK_SV(c.state.pending_tool_calls,
             unquote("[{'arguments':{'a':1},'id':'t1','name':'f','result':null},"
                     "{'arguments':{},'id':'t2','name':'g','result':null}]"));
    CHECK(checkpoint_next(&c.state) == CHECKPOINT_RUN_TOOLS);
    CHECK_INT(c.state.context.n, 2);
}

static void a_result_that_came_early_is_not_lost(void)
{
    fresh();
    start("r1");
    event(CALLS);
    event("{'kind':'tool_completed','tool_call_id':'t2','data':{'content':'two'}}");
    CHECK_SV(take().state.pending_tool_calls,
             unquote("[{'arguments':{'a':1},'id':'t1','name':'f','result':null},"
                     "{'arguments':{},'id':'t2','name':'g','result':'two'}]"));
    event("{'kind':'tool_completed','tool_call_id':'t1','data':{'content':'one'}}");
    CHECK(take().state.status == CHECKPOINT_RUNNING);
}

static void failed_and_cancelled_runs_have_no_pending_calls(void)
{
    fresh();
    start("r1");
    event(CALLS);
    event("{'kind':'request_failed','data':{'error':'no','error_type':'tool_guardrail'}}");
    struct checkpoint c = take();
    CHECK(c.state.status == CHECKPOINT_FAILED);
    CHECK_SV(c.state.pending_tool_calls, SV("[]"));
    CHECK_SV(c.state.error, SV("\"no\""));
    CHECK(checkpoint_next(&c.state) == CHECKPOINT_STOP);
    start("r2");
    event("{'kind':'request_cancelled','data':{'reason':'enough'}}");
    CHECK(take().state.status == CHECKPOINT_CANCELLED);
}

static void a_thread_nobody_ran_can_be_kept_too(void)
{
    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    CHECK(c.state.status == CHECKPOINT_RUNNING && c.state.run_id.n);
    say("default", "{'role':'assistant','content':'','tool_calls':[{'id':'x','type':'function',"
                   "'function':{'name':'h','arguments':'{}'}}]}");
    c = take();
    CHECK(c.state.status == CHECKPOINT_AWAITING_TOOLS);
    CHECK_SV(c.state.pending_tool_calls,
             unquote("[{'arguments':'{}','id':'x','name':'h','result':null}]"));
    say("default", "{'role':'tool','name':'h','tool_call_id':'x','content':'1'}");
    say("default", "{'role':'assistant','content':'done'}");
    CHECK(take().state.status == CHECKPOINT_COMPLETED);
    say("side", "{'role':'user','content':'elsewhere'}");
    c = take_lane(SV("side"));
    CHECK_INT(c.state.context.n, 1);
    struct checkpoint_from none = { SV("t"), { 0 }, SV("nowhere"), &config };
    CHECK(checkpoint_take(&l, &none, &arena, &c, &e) == ST_NOT_FOUND);
    none = (struct checkpoint_from){ SV("u"), { 0 }, { 0 }, &config };
    CHECK(checkpoint_take(&l, &none, &arena, &c, &e) == ST_NOT_FOUND);
}

static void taking_twice_writes_nothing_and_restoring_twice_writes_once(void)
{
    struct op_result r, again;

    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    struct sv         token = sign(&c), before = project_now();
    CHECK_SV(sign(&c), token);
    CHECK_INT(rev(), 1);
    say("default", "{'role':'assistant','content':'wrong turn'}");
    CHECK(put_back(token, &r) == ST_OK);
    CHECK(r.applied && !r.duplicate && r.seq == 2);
    CHECK_SV(project_now(), before);
    CHECK(put_back(token, &again) == ST_OK);
    CHECK(again.duplicate && again.seq == r.seq);
    CHECK_SV(again.op_id, r.op_id);
    CHECK_INT(rev(), 3);
}

static void after_further_work_a_token_is_restored_again(void)
{
    struct op_result r;

    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    struct sv         token = sign(&c), before = project_now();
    for (int i = 1; i <= 3; i++) {
        say("default", "{'role':'assistant','content':'wrong turn'}");
        CHECK(put_back(token, &r) == ST_OK);
        CHECK(r.applied && !r.duplicate && r.seq == 2 * i);
        CHECK_SV(project_now(), before);
        CHECK(put_back(token, &r) == ST_OK);
        CHECK(r.duplicate && r.seq == 2 * i);
        CHECK_INT(rev(), 2 * i + 1);
    }
}

static void a_result_that_was_held_is_in_the_restored_context(void)
{
    struct op_result r;
    struct run_state state;

    fresh();
    start("r1");
    event(CALLS);
    event("{'kind':'tool_completed','tool_call_id':'t2','data':{'content':'paid'}}");
    struct checkpoint c = take();
    struct sv         token = sign(&c);
    CHECK(put_back(token, &r) == ST_OK && r.deferred);
    CHECK(run_recover(&l, &who, &arena, &state, &e) == ST_OK);
    CHECK(sv_find(project_now(), unquote("'content':'paid','name':'g','role':'tool'")) >= 0);
    CHECK(sv_find(project_now(), unquote("'tool_call_id':'t2'")) >= 0);
}

static void entries_from_before_1970_do_not_spoil_a_token(void)
{
    struct op_result  r;
    struct store_head h;
    struct entry      n = { .at = -86400000,
                            .kind = SV("ai_message"),
                            .lane = SV("default"),
                            .payload = SV("{\"content\":\"old\",\"role\":\"user\"}") };

    fresh();
    CHECK(log_begin(&l, SV("t"), STORE_WRITE, &e) == ST_OK);
    CHECK(log_append(&l, SV("t"), LOG_ANY_REV, &n, 1, &h, &e) == ST_OK);
    CHECK(log_commit(&l, &e) == ST_OK);
    struct checkpoint c = take();
    CHECK(put_back(sign(&c), &r) == ST_OK);
}

static void a_token_carries_no_thread(void)
{
    struct checkpoint read;

    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    CHECK(checkpoint_verify(sign(&c), &keys, checkpoint_fingerprint(&config, &arena), 100, &arena,
                            &read, &e) == ST_OK);
    CHECK(sv_find(read.payload, SV("\"thread\"")) < 0);
    CHECK_SV(read.thread, SV("t"));
}

static void restoring_during_a_run_waits_for_its_end(void)
{
    struct op_result r;
    struct run_state state;

    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    struct sv         before = project_now();
    start("r1");
    CHECK(put_back(sign(&c), &r) == ST_OK);
    CHECK(r.deferred && !r.applied);
    CHECK(run_recover(&l, &who, &arena, &state, &e) == ST_OK); /* its process is gone */
    CHECK_SV(state.termination_reason, SV("stream_interrupted"));
    CHECK_SV(project_now(), before);
    CHECK(!state.active);
}

static void a_log_that_is_not_the_tokens_is_refused(void)
{
    struct op_result r;

    fresh();
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take(), ahead = c, nowhere = c;
    struct sv         token = sign(&c);
    ahead.rev = 10;
    CHECK(put_back(sign(&ahead), &r) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("thread_mismatch"));
    nowhere.thread = SV("other");
    CHECK(put_back(sign(&nowhere), &r) == ST_NOT_FOUND);
    CHECK_SV(sv_of(e.reason), SV("missing_thread"));
    nowhere.thread = (struct sv){ 0 };
    CHECK(put_back(sign(&nowhere), &r) == ST_NOT_FOUND);
    CHECK_SV(sv_of(e.reason), SV("missing_thread"));
    CHECK_INT(rev(), 1);
    fresh(); /* as long, and with another past */
    say("default", "{'role':'user','content':'something else'}");
    CHECK(put_back(token, &r) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("thread_mismatch"));
    CHECK_INT(rev(), 1);
}

/* Every call of the store failed in turn: the token is put back whole or not at all, and
 * trying again is always right. */
static void a_restore_that_fails_half_way_leaves_nothing(void)
{
    struct op_result r = { 0 };
    char             url[64];
    int              failures = 0;

    open_url("mem:faulty-restore");
    struct store *keeper = store; /* the name lives as long as one has it open */
    say("default", "{'role':'user','content':'q'}");
    struct checkpoint c = take();
    struct sv         token = sign(&c);
    for (int k = 1; k < 500; k++) {
        store = NULL;
        snprintf(url, sizeof url, "fault:%d:mem:faulty-restore", k);
        if (store_open(sv_of(url), &(struct store_options){ .create = true }, &store, &e)) {
            failures++;
            continue;
        }
        l = log_of(store, views);
        enum status s = put_back(token, &r);
        store_close(store);
        store = keeper;
        l = log_of(store, views);
        if (s == ST_OK)
            break;
        failures++;
        CHECK(s == ST_IO);
        CHECK_INT(rev(), 1);
    }
    CHECK(failures > 3);
    CHECK(r.applied && !r.duplicate);
    CHECK_INT(rev(), 2);
    CHECK(put_back(token, &r) == ST_OK && r.duplicate);
}

/* What the messages hold comes back to the byte: parts, thinking, details, refs. */
static void nothing_of_a_message_is_lost_on_the_way(void)
{
    struct op_result r;

    fresh();
    say("default", "{'role':'user','content':[{'type':'text','text':'see'},{'type':'image_url',"
                   "'url':'u'},{'type':'odd','z':1.50}]}");
    say("default", "{'role':'assistant','content':'x','thinking':'h','reasoning_details':[{"
                   "'signature':'s','text':'h'}]}");
    struct checkpoint c = take();
    struct sv         before = project_now();
    CHECK(put_back(sign(&c), &r) == ST_OK);
    CHECK_SV(project_now(), before);
    CHECK(sv_find(before, SV("1.50")) > 0);
}

TAP_MAIN(T(the_status_follows_the_run), T(a_turn_of_calls_resumes_with_its_tools),
         T(a_result_that_came_early_is_not_lost),
         T(failed_and_cancelled_runs_have_no_pending_calls), T(a_thread_nobody_ran_can_be_kept_too),
         T(taking_twice_writes_nothing_and_restoring_twice_writes_once),
         T(restoring_during_a_run_waits_for_its_end),
         T(after_further_work_a_token_is_restored_again),
         T(a_result_that_was_held_is_in_the_restored_context),
         T(entries_from_before_1970_do_not_spoil_a_token), T(a_token_carries_no_thread),
         T(a_log_that_is_not_the_tokens_is_refused),
         T(a_restore_that_fails_half_way_leaves_nothing),
         T(nothing_of_a_message_is_lost_on_the_way), )
