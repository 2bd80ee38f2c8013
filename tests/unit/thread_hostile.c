/* Every kind with every one of its fields replaced by hostile values, one at a time: imported, each
 * is kept, nothing crashes, runs can end, and the log verifies. What is not sound is refused by an
 * append, so that both ways in judge alike. */
#include "thread_test.h"

/* clang-format off */
static const struct {
    const char *kind, *payload;
} records[] = {
    { "ai_message", "{\"agent\":\"default\",\"content\":\"x\",\"context_ref\":\"default\",\"name\":\"f\",\"node\":{\"author\":\"a\",\"local_id\":\"a1\",\"parent\":null,\"version\":true},\"request_id\":\"r\",\"role\":\"tool\",\"run_id\":\"r\",\"thinking\":\"h\",\"tool_call_id\":\"t1\",\"tool_calls\":[{\"id\":\"t1\",\"name\":\"f\"}],\"usage\":{\"n\":1}}" },
    { "ai_context_operation", "{\"agent\":\"default\",\"context_ref\":\"default\",\"op_id\":\"o\",\"operation\":{\"base_seq\":0,\"from\":{\"lane\":\"default\",\"seq\":0},\"meta\":{\"rebase\":true},\"reason\":\"manual\",\"result_context\":{\"entries\":[{\"content\":\"x\",\"role\":\"user\"}],\"id\":\"c\",\"system_prompt\":\"p\"},\"switch\":true,\"type\":\"replace\"}}" },
    { "ai_context_operation_deferred", "{\"agent\":\"default\",\"context_ref\":\"default\",\"op_id\":\"d\",\"operation\":{\"base_seq\":0,\"from\":{\"lane\":\"default\",\"seq\":0},\"meta\":{\"rebase\":true},\"reason\":\"manual\",\"result_context\":{\"entries\":[{\"content\":\"x\",\"role\":\"user\"}],\"id\":\"c\",\"system_prompt\":\"p\"},\"switch\":true,\"type\":\"replace\"}}" },
    { "run_started", "{\"agent\":\"default\",\"allowed_tools\":[],\"config\":{\"max_iterations\":3},\"request_id\":\"r\",\"run_id\":\"r\"}" },
    { "run_input", "{\"agent\":\"default\",\"content\":\"x\",\"input_id\":\"i\",\"kind\":\"steer\",\"refs\":{},\"request_id\":\"live\",\"run_id\":\"live\",\"source\":\"s\"}" },
    { "run_tool_held", "{\"agent\":\"default\",\"content\":\"x\",\"context_ref\":\"default\",\"name\":\"f\",\"request_id\":\"live\",\"role\":\"tool\",\"run_id\":\"live\",\"tool_call_id\":\"c2\"}" },
    { "run_checkpoint", "{\"agent\":\"default\",\"run_id\":\"live\",\"token\":\"x\"}" },
    { "run_finished", "{\"agent\":\"default\",\"cancel_reason\":\"x\",\"dropped_input\":[\"i\"],\"dropped_op\":{\"op_id\":\"o\",\"reason\":\"r\",\"seq\":1},\"outcome\":\"failed\",\"reason\":\"x\",\"request_id\":\"other\",\"result\":1,\"run_id\":\"other\",\"usage\":{\"n\":1},\"usage_total\":{\"n\":1}}" },
    { "loom_annotation", "{\"agent\":\"a\",\"kind\":\"human\",\"node\":\"a1\",\"text\":\"x\"}" },
    { "loom_link", "{\"agent\":\"a\",\"incoming\":true,\"node\":\"a1\",\"note\":\"n\",\"target\":{\"node\":\"a2\",\"type\":\"node\"}}" },
    { "loom_mark", "{\"agent\":\"a\",\"annotation\":1,\"label\":\"l\",\"link\":1,\"mark\":\"bookmark\",\"node\":\"a1\",\"target\":{},\"until\":1}" },
    { "memory_operation", "{\"agent\":\"a\",\"estimate\":true,\"label\":\"l\",\"op\":\"stash\",\"target\":{\"node\":\"a1\"},\"text\":\"x\",\"tokens\":1}" },
    { "tool_action", "{\"agent\":\"a\",\"doc\":{\"hash\":\"h\",\"path\":\"p\"},\"line\":\"l\",\"outcome\":\"ok\",\"result\":\"x\",\"results\":1,\"shows\":[{\"node\":\"a1\"}],\"undoes\":1,\"verb\":\"view\"}" },
    { "summary", "{\"model\":\"m\",\"provisional\":true,\"target\":{\"node\":\"a1\"},\"text\":\"x\"}" },
    { "model_response", "{\"asked_at\":1,\"body\":\"b\",\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"model\":\"m\"}" },
    { "document_write", "{\"after\":\"h\",\"agent\":\"a\",\"at\":1,\"before\":\"h\",\"doc\":\"d\",\"inserted\":1,\"path\":\"p\"}" },
    { "thread_operation", "{\"files\":[{\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"path\":\"a\"}],\"from\":\"a\",\"gone\":[\"x\"],\"operation\":\"reference\",\"target\":\"b\"}" },
};
static const char *const hostile[] = {
    "null", "true", "0", "-1", "4294967297", "-9223372036854775808", "9223372036854775807", "1e400", "99999999999999999999999999", "\"\"",
    "\"..\"", "\"../../etc\"", "\"/etc/passwd\"", "\"a/b\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\\"\"", "\"\\\\\"", "\".hidden\"", "[]", "[null]", "[[]]", "[{}]", "{}",
    "{\"type\":7}", "{\"a\":{\"b\":[]}}", "\"active/default\"", "\"long\"",
};
/* clang-format on */

/* A text longer than any name. */
static struct json value_of(size_t i)
{
    struct sb b = sb_in(&t.a, 0);

    if (strcmp(hostile[i], "\"long\"") != 0)
        return json_of_text(hostile[i]);
    sb_pad(&b, 'n', 70000);
    return json_of(sb_sv(&b));
}

static struct json with(const struct json *object, size_t at, struct json v)
{
    struct json_member *list = ARENA_NEW(&t.a, struct json_member, object->n);

    for (size_t i = 0; i < object->n; i++)
        list[i] = object->members[i];
    list[at].value = v;
    return (struct json){ JSON_OBJECT, object->n, { .members = list } };
}

static void try_record(size_t kind, const struct json *payload)
{
    struct entry      n = { .at = t.now++,
                            .kind = sv_of(records[kind].kind),
                            .payload = json_canonical(payload, &t.a) };
    struct store_head h;

    if (t.now % 2) /* else in that of its context_ref, whatever it is */
        n.lane = LANE_DEFAULT;
    struct entry again = n;
    bool         sound = kind_is_sound(&n);
    if (!OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e)))
        return;
    enum status s = log_append(&t.l, THREAD, LOG_ANY_REV, &again, 1, &h, &t.e);
    CHECK_INT(s == ST_OK || s == ST_CONFLICT, sound); /* a conflict: the op_id is taken */
    log_abort(&t.l);
    if (!OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e)))
        return;
    s = log_import(&t.l, THREAD, &n, 1, &h, NULL, NULL, &t.e);
    if (s == ST_OK)
        OK(log_commit(&t.l, &t.e));
    else
        CHECK_INT(s, ST_CONFLICT);
    log_abort(&t.l);
}

/* Every member of the payload, and of the objects in it. */
static void try_members(size_t kind, const struct json *payload)
{
    for (size_t i = 0; i < payload->n; i++)
        for (size_t v = 0; v < COUNT(hostile); v++) {
            struct json one = with(payload, i, value_of(v));
            try_record(kind, &one);
        }
    for (size_t i = 0; i < payload->n; i++) {
        const struct json *inner = &payload->members[i].value;
        for (size_t k = 0; inner->type == JSON_OBJECT && k < inner->n; k++)
            for (size_t v = 0; v < COUNT(hostile); v++) {
                struct json part = with(inner, k, value_of(v)), one = with(payload, i, part);
                try_record(kind, &one);
            }
    }
}

static void end_it(size_t kind)
{
    struct run_ref   who = who_of(NULL);
    struct run_state s;
    struct sb        id = sb_in(&t.a, 0);

    OK(run_recover(&t.l, &who, &t.a, &s, &t.e)); /* whatever was imported, a run can end ... */
    CHECK(!s.active);
    sb_addf(&id, "next%zu", kind);
    OK(start_run(NULL, "Q", sb_sv(&id).s, &s)); /* ... and another begin */
    OK(run_recover(&t.l, &who, &t.a, &s, &t.e));
    CHECK(view("default", NOW).n > 0);
    check_whole();
}

static void hostile_records_are_kept_and_do_no_harm(void)
{
    if (t.on_disk)
        return; /* the rules are the same, and the disk is slow */
    for (size_t i = 0; i < COUNT(records); i++) {
        store_close(t.s);
        t.s = test_open();
        t.l = log_of(t.s, test_views);
        start("Q", "live");
        events(
            "{\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"c1\",\"name\":\"f\"},{"
            "\"id\":\"c2\",\"name\":\"g\"}]}}");
        struct json payload = json_of_text(records[i].payload);
        try_record(i, &payload);
        try_members(i, &payload);
        end_it(i);
    }
}

static void a_record_as_it_should_be_is_sound(void)
{
    for (size_t i = 0; i < COUNT(records); i++) {
        struct json  payload = json_of_text(records[i].payload);
        struct entry n = { .kind = sv_of(records[i].kind),
                           .lane = LANE_DEFAULT,
                           .payload = json_canonical(&payload, &t.a) };
        struct err   e = { 0 };
        if (kind_prepare(&n, &e)) {
            tap_failures++;
            printf("# %s: %s\n", records[i].kind, e.text);
        }
    }
}

THREAD_MAIN(T(hostile_records_are_kept_and_do_no_harm), T(a_record_as_it_should_be_is_sound), )
