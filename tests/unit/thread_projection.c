/* What a lane looks like at every point of its log. */
#include "thread_test.h"

static void an_empty_log_has_nothing_to_project(void)
{
    struct projection_of of = { THREAD, LANE_DEFAULT, NOW, SV("CP") };
    struct projection    p;

    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    CHECK_INT(project_start(&t.l, &of, &t.a, &p, &t.e), ST_NOT_FOUND);
    log_abort(&t.l);
}

static void before_the_first_entry_there_is_the_prompt_and_the_cursor_is_minus_one(void)
{
    say("user", "Q1");
    CHECK_SV(brief("default", -1), SV("CP|"));
    CHECK_SV(view("default", -1), SV("{\"at\":-1,\"lane\":\"default\",\"messages\":[],"
                                     "\"system_prompt\":\"CP\",\"thread\":\"t\"}"));
    CHECK_SV(brief("default", -99), SV("CP|"));
}

static void messages_are_seen_up_to_the_boundary(void)
{
    say("user", "Q1");
    say("assistant", "A1");
    say("user", "Q2");
    say("assistant", "A2");
    CHECK_SV(brief("default", 1), SV("CP| u:Q1 a:A1"));
    CHECK_SV(brief("default", 2), SV("CP| u:Q1 a:A1 u:Q2"));
    CHECK_SV(brief("default", 3), SV("CP| u:Q1 a:A1 u:Q2 a:A2"));
    CHECK_SV(brief("default", NOW), brief("default", 3));
    CHECK_SV(brief("default", 1000), brief("default", 3));
}

static void a_replace_hides_what_was_before_it_and_brings_its_prompt(void)
{
    say("user", "Q1");
    say("assistant", "A1");
    apply(REPLACE(
        "default", "op1",
        "{\"system_prompt\":\"R\",\"messages\":[{\"role\":\"user\",\"content\":\"seed\"}]}"));
    say("user", "Q3");
    say("assistant", "A3");
    CHECK_SV(brief("default", 1), SV("CP| u:Q1 a:A1"));
    CHECK_SV(brief("default", 2), SV("R| u:seed"));
    CHECK_SV(brief("default", 4), SV("R| u:seed u:Q3 a:A3"));
    CHECK_INT(rev(), 5);
    CHECK_INT(count_kind("ai_message"), 4); /* the seed is no entry of its own */
}

static void the_latest_replace_wins(void)
{
    apply(REPLACE("default", "a", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}"));
    say("user", "x");
    apply(REPLACE("default", "b", "{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}"));
    say("user", "y");
    CHECK_SV(brief("default", 1), SV("-| u:a u:x"));
    CHECK_SV(brief("default", 3), SV("-| u:b u:y"));
}

static void other_kinds_are_passed_over_and_use_up_a_seq(void)
{
    say("user", "a");
    line("{\"kind\":\"note\",\"payload\":{\"text\":\"x\"}}");
    line("{\"kind\":\"instruction_start\",\"lane\":\"default\",\"payload\":{\"role\":\"user\","
         "\"content\":\"no\"}}");
    say("user", "b");
    CHECK_SV(brief("default", NOW), SV("CP| u:a u:b"));
    CHECK_INT(rev(), 4);
    CHECK_SV(entry_at(2).kind, SV("instruction_start"));
}

/* Lines of a log from elsewhere. */
static const char *const odd_messages[] = {
    "{\"role\":\"tool\",\"name\":\"f\",\"tool_call_id\":7,\"content\":\"no call\"}",
    "{\"role\":\"tool\",\"name\":\"f\",\"content\":\"no call\"}",
    "{\"role\":\"system\",\"content\":\"s\"}",
    "{\"role\":\"developer\",\"content\":\"s\"}",
    "{\"role\":\"asistant\",\"content\":\"s\"}",
    "{\"role\":7,\"content\":\"s\"}",
    "{\"content\":\"no role\"}",
    "{\"role\":\"user\",\"context_ref\":7,\"content\":\"odd ref\"}",
    "{\"role\":\"user\",\"context_ref\":\"other\",\"content\":\"two lanes\"}",
    "{\"role\":\"assistant\",\"tool_calls\":{},\"content\":\"no list\"}",
    "{\"role\":\"assistant\",\"tool_calls\":[7],\"content\":\"no call\"}",
    "{\"role\":\"user\",\"agent\":\"a/b\",\"content\":\"no name\"}",
};

static struct entry odd_message(size_t i)
{
    struct json v = json_of_text(odd_messages[i]);

    return (struct entry){ .at = t.now++,
                           .kind = SV("ai_message"),
                           .lane = LANE_DEFAULT,
                           .payload = json_canonical(&v, &t.a) };
}

static void count_kept(void *ctx, const struct entry *n, const struct err *why)
{
    CHECK(n->seq >= 0 && why->text[0]);
    ++*(int *)ctx;
}

static void count_ignored(void *ctx, struct sv finding)
{
    CHECK(sv_find(finding, SV("kept and not acted on")) > 0);
    ++*(int *)ctx;
}

static void what_a_kind_does_not_allow_is_refused_and_in_an_import_kept_and_not_acted_on(void)
{
    struct store_head h;
    int               kept = 0, ignored = 0;
    int64_t           entries;

    say("user", "a");
    for (size_t i = 0; i < COUNT(odd_messages); i++) {
        struct entry n = odd_message(i);
        CHECK(append_entries(THREAD, LOG_ANY_REV, &n, 1) == ST_INVALID_SYNTAX);
    }
    CHECK_INT(rev(), 1);
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    for (size_t i = 0; i < COUNT(odd_messages); i++) {
        struct entry n = odd_message(i);
        OK(log_import(&t.l, THREAD, &n, 1, &h, count_kept, &kept, &t.e));
    }
    OK(log_commit(&t.l, &t.e));
    CHECK_INT(kept, (int)COUNT(odd_messages));
    say("user", "b");
    CHECK_SV(brief("default", NOW), SV("CP| u:a u:b"));
    CHECK_INT(rev(), 2 + (int64_t)COUNT(odd_messages));
    check_whole();
    struct log_findings to = { tell_finding, count_ignored, &ignored, NULL };
    OK(log_examine(&t.l, THREAD, &to, &entries, &t.e));
    CHECK_INT(ignored, (int)COUNT(odd_messages));
}

static void a_role_that_is_none_is_refused_with_where_the_prompt_belongs(void)
{
    CHECK(say_in("default", "system", "Be brief.") == ST_INVALID_SYNTAX);
    CHECK(strstr(t.e.hint, "context operation") != NULL);
}

static void a_message_in_no_lane_is_in_no_context(void)
{
    line("{\"kind\":\"ai_message\",\"lane\":null,\"payload\":{\"role\":\"user\",\"content\":\"x\"}"
         "}");
    CHECK_SV(brief("default", NOW), SV("CP|"));
    CHECK_INT(rev(), 1);
}

static void a_result_without_a_name_has_that_of_its_call(void)
{
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"\","
         "\"tool_calls\":[{\"id\":\"t1\",\"name\":\"ls\"},{\"id\":\"t2\",\"function\":{"
         "\"name\":\"cat\",\"arguments\":\"{}\"}}]}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t2\","
         "\"content\":\"two\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"\","
         "\"tool_calls\":[{\"id\":\"t3\",\"name\":\"rm\"}]}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t1\","
         "\"content\":\"one\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t9\","
         "\"content\":\"nobody's\"}}");
    struct sv            text = view("default", NOW);
    struct projection_of of = { THREAD, LANE_DEFAULT, NOW, { 0 } };
    struct projection    p;
    struct context       c;
    bool                 all;
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(project_start(&t.l, &of, &t.a, &p, &t.e));
    OK(project_newest(&p, 2, &c, &all, &t.e)); /* the calls lie before what is read */
    log_abort(&t.l);
    CHECK_SV(c.messages[0].name, SV("\"ls\""));
    CHECK(!c.messages[1].name.s);
    CHECK(sv_find(text, SV("{\"content\":\"two\",\"name\":\"cat\",\"role\":\"tool\"")) > 0);
    CHECK(sv_find(text, SV("{\"content\":\"one\",\"name\":\"ls\",\"role\":\"tool\"")) > 0);
    CHECK(sv_find(text, SV("{\"content\":\"nobody's\",\"role\":\"tool\"")) > 0);
}

static void tool_turns_keep_their_order_and_ids(void)
{
    say("user", "q");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":null,"
         "\"tool_calls\":[{\"id\":\"t1\",\"name\":\"f\",\"arguments\":{}},{\"id\":\"t2\",\"name\":"
         "\"g\",\"arguments\":{\"n\":1}}]}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"name\":"
         "\"f\",\"content\":\"r1\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t2\",\"name\":"
         "\"g\",\"content\":\"r2\"}}");
    say("assistant", "done");
    CHECK_SV(brief("default", NOW), SV("CP| u:q a[t1,t2]: t(t1):r1 t(t2):r2 a:done"));
    CHECK(sv_find(
              view("default", NOW),
              SV("{\"content\":\"r1\",\"name\":\"f\",\"role\":\"tool\",\"tool_call_id\":\"t1\"}")) >
          0);
}

static void thinking_stands_in_front_of_the_text(void)
{
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"x\","
         "\"thinking\":\"h\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"y\","
         "\"thinking\":\"\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":[{\"type\":"
         "\"text\",\"text\":\"z\"}],\"thinking\":\"k\"}}");
    CHECK_SV(
        brief("default", NOW),
        SV("CP| a:[{\"thinking\":\"h\",\"type\":\"thinking\"},{\"text\":\"x\",\"type\":\"text\"}] "
           "a:y "
           "a:[{\"thinking\":\"k\",\"type\":\"thinking\"},{\"text\":\"z\",\"type\":\"text\"}]"));
}

static void parts_reasoning_and_refs_are_kept_whole(void)
{
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":[{\"type\":\"text\","
         "\"text\":\"look\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,x\"},\"more\":["
         "1.0,"
         "{\"deep\":null}]}]},\"refs\":{\"slack_ts\":\"1.5\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"a\","
         "\"reasoning_details\":[{\"signature\":\"s==\",\"n\":10000000000000000000000}]}}");
    struct sv whole = view("default", NOW);
    restart();
    CHECK_SV(view("default", NOW), whole);
    CHECK_SV(
        whole,
        SV("{\"at\":1,\"lane\":\"default\",\"messages\":[{\"content\":[{\"text\":\"look\","
           "\"type\":\"text\"},{\"image_url\":{\"url\":\"data:,x\"},\"more\":[1.0,{\"deep\":null}],"
           "\"type\":\"image_url\"}],\"refs\":{\"slack_ts\":\"1.5\"},\"role\":\"user\"},"
           "{\"content\":\"a\",\"reasoning_details\":[{\"n\":10000000000000000000000,"
           "\"signature\":\"s==\"}],\"role\":\"assistant\"}],\"system_prompt\":\"CP\","
           "\"thread\":\"t\"}"));
}

static void what_was_projected_can_be_put_back_as_a_snapshot(void)
{
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"x\","
         "\"thinking\":\"h\",\"reasoning_details\":{\"a\":[1]},\"tool_calls\":[{\"id\":\"t1\","
         "\"name\":\"f\",\"arguments\":{}}]},\"refs\":{\"k\":\"v\"}}");
    line(
        "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"name\":"
        "\"f\",\"content\":[{\"type\":\"text\",\"text\":\"{\\\"ok\\\":true}\"},{\"type\":\"image\","
        "\"data\":\"AA==\",\"media_type\":\"image/png\"}]}}");
    struct sv before = view("default", NOW);
    struct op op = { REPLACE("copy", "op1", "") };
    op.context = before; /* {"messages",…} is a context, whatever else stands beside it */
    apply_op(op, ST_OK, __LINE__);
    struct json one = json_of_text(sv_cstr(before, &t.a));
    struct json two = json_of_text(sv_cstr(view("copy", NOW), &t.a));
    CHECK_SV(json_canonical(json_find(&two, "messages"), &t.a),
             json_canonical(json_find(&one, "messages"), &t.a));
}

static void a_snapshot_without_a_prompt_has_none(void)
{
    say("user", "a");
    apply(REPLACE("default", "o",
                  "{\"system_prompt\":null,\"messages\":[{\"role\":\"user\","
                  "\"content\":\"t\"}]}"));
    CHECK_SV(brief("default", NOW), SV("-| u:t"));
    CHECK_SV(brief("default", 0), SV("CP| u:a"));
}

static void base_seq_is_provenance_unless_rebase_is_asked_for(void)
{
    say("user", "0");
    say("assistant", "1");
    say("user", "2");
    say("assistant", "3");
    apply(REPLACE("default", "plain", "{\"messages\":[{\"role\":\"user\",\"content\":\"s\"}]}"),
          .has_base_seq = true, .base_seq = 1);
    CHECK_SV(brief("default", NOW), SV("-| u:s"));
    apply(REPLACE("default", "rebased", "{\"messages\":[{\"role\":\"user\",\"content\":\"r\"}]}"),
          .has_base_seq = true, .base_seq = 1, .rebase = true);
    CHECK_SV(brief("default", NOW), SV("-| u:r u:2 a:3"));
    say("user", "6");
    CHECK_SV(brief("default", NOW), SV("-| u:r u:2 a:3 u:6"));
    CHECK_SV(brief("default", 4), SV("-| u:s"));
    apply(REPLACE("default", "all", "{\"messages\":[]}"), .has_base_seq = true, .base_seq = -1,
          .rebase = true);
    CHECK_SV(brief("default", NOW), SV("-| u:0 a:1 u:2 a:3 u:6"));
}

static void a_rebase_in_meta_is_a_rebase(void)
{
    say("user", "0");
    say("user", "1");
    apply(REPLACE("default", "o", "{\"messages\":[]}"), .meta = SV("{\"rebase\":true}"),
          .has_base_seq = true, .base_seq = 0);
    CHECK_SV(brief("default", NOW), SV("-| u:1"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "p", "{\"messages\":[]}"),
           .meta = SV("{\"rebase\":true}"));
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "p", "{\"messages\":[]}"),
           .meta = SV("{\"rebase\":false}"), .rebase = true, .has_base_seq = true, .base_seq = 0);
    CHECK_INT(rev(), 3);
}

static void a_rebase_needs_a_seq_that_is_there(void)
{
    say("user", "0");
    refuse(ST_INVALID_SYNTAX, REPLACE("default", "o", "{\"messages\":[]}"), .rebase = true);
    refuse(ST_NOT_FOUND, REPLACE("default", "o", "{\"messages\":[]}"), .rebase = true,
           .has_base_seq = true, .base_seq = 1);
    refuse(ST_NOT_FOUND, REPLACE("default", "o", "{\"messages\":[]}"), .rebase = true,
           .has_base_seq = true, .base_seq = -2);
    CHECK_INT(rev(), 1);
}

static void a_snapshot_that_cannot_be_read_is_passed_over(void)
{
    struct entry      n = { .at = t.now++,
                            .kind = SV("ai_context_operation"),
                            .lane = LANE_DEFAULT,
                            .payload =
                                SV("{\"context_ref\":\"default\",\"op_id\":\"bad\",\"operation\":{"
                                        "\"result_context\":\"not a context\",\"type\":\"replace\"}}") };
    struct store_head h;

    say("user", "a");
    CHECK(append_entries(THREAD, LOG_ANY_REV, &n, 1) == ST_INVALID_SYNTAX);
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(log_import(&t.l, THREAD, &n, 1, &h, NULL, NULL, &t.e));
    OK(log_commit(&t.l, &t.e));
    say("user", "b");
    check_whole();
    CHECK_SV(brief("default", NOW), SV("CP| u:a u:b"));
}

static void a_snapshot_keeps_roles_the_log_would_skip(void)
{
    apply(REPLACE(
        "default", "o",
        "{\"id\":\"c1\",\"system_prompt\":\"P\",\"entries\":[{\"role\":\"developer\","
        "\"content\":\"newest\",\"name\":\"n\"},{\"role\":\"system\",\"content\":\"oldest\"}]}"));
    CHECK_SV(brief("default", NOW), SV("P| s:oldest d:newest"));
}

static void a_leading_system_message_is_the_prompt(void)
{
    apply(REPLACE("default", "o",
                  "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"},{\"role\":"
                  "\"user\",\"content\":\"u\"}]}"));
    CHECK_SV(brief("default", NOW), SV("S| u:u"));
}

static void the_same_log_gives_the_same_bytes(void)
{
    say("user", "Q1");
    apply(REPLACE("default", "o", "{\"messages\":[{\"role\":\"user\",\"content\":\"s\"}]}"));
    say("user", "Q2");
    struct sv once = view("default", NOW);
    CHECK_SV(view("default", NOW), once);
    restart();
    CHECK_SV(view("default", NOW), once);
    struct projection_of of = { THREAD, LANE_DEFAULT, NOW, SV("CP") };
    struct projection    p;
    struct context       c, d;
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(project_start(&t.l, &of, &t.a, &p, &t.e));
    OK(project_context(&p, &c, &t.e));
    OK(project_start(&t.l, &of, &t.a, &p, &t.e));
    OK(project_context(&p, &d, &t.e));
    log_abort(&t.l);
    CHECK_SV(context_stored(&c, SV("x"), &t.a), context_stored(&d, SV("y"), &t.a)); /* id, times */
    CHECK_INT(c.messages[1].at, 1002);
}

static void json_at_its_edges_survives(void)
{
    static const char *const contents[] = {
        "\"\\ud800\"",           "\"\\udc00 alone\"",
        "\"\\u0000nul\"",        "\"\\ud83d\\ude00\"",
        "[{\"n\":-0}]",          "[{\"n\":1e400}]",
        "[{\"n\":0.1000}]",      "[{\"n\":123456789012345678901234567890}]",
        "[{\"n\":1E+2}]",        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xe2\x80\xa8 \x7f\"",
    };
    struct sv want[COUNT(contents)];

    for (size_t i = 0; i < COUNT(contents); i++) {
        struct sb b = sb_in(&t.a, 0);
        sb_addf(&b, "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":%s}}",
                contents[i]);
        line(sb_sv(&b).s);
        struct json v = json_of_text(contents[i]);
        want[i] = json_canonical(&v, &t.a);
    }
    struct json        doc = json_of_text(sv_cstr(view("default", NOW), &t.a));
    const struct json *list = json_find(&doc, "messages");
    for (size_t i = 0; i < COUNT(contents); i++)
        CHECK_SV(json_canonical(json_find(&list->items[i], "content"), &t.a), want[i]);
}

static void deep_nesting_is_kept_to_the_limit_and_refused_beyond(void)
{
    for (int depth = JSON_DEPTH_MAX - 4; depth <= JSON_DEPTH_MAX + 4; depth++) {
        struct sb b = sb_in(&t.a, 0);
        sb_adds(&b, "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":");
        sb_pad(&b, '[', (size_t)depth);
        sb_pad(&b, ']', (size_t)depth);
        sb_adds(&b, "}}");
        enum status s = append_line(sb_sv(&b).s);
        CHECK_INT(s, depth + 2 <= JSON_DEPTH_MAX ? ST_OK : ST_LIMIT_EXCEEDED);
        if (s)
            continue;
        /* What went into the log comes out, and goes through a snapshot or is refused there. */
        struct sv shown = view("default", NOW);
        CHECK(shown.n > (size_t)depth);
    }
    check_whole();
}

static enum status count_one(void *ctx, const struct message *m, struct err *e)
{
    (void)m;
    (void)e;
    ++*(int64_t *)ctx;
    return ST_OK;
}

/* A thread of n messages, compacted 100 messages before its head. */
static struct sv long_thread(int n)
{
    struct sb         name = sb_in(&t.a, 0);
    struct store_head h;

    sb_addf(&name, "long%d", n);
    struct sv id = sb_sv(&name);
    OK(log_begin(&t.l, id, STORE_WRITE, &t.e));
    for (int i = 0; i < n; i++) {
        struct entry one = { .at = i,
                             .kind = SV("ai_message"),
                             .lane = LANE_DEFAULT,
                             .payload = SV("{\"content\":\"x\",\"role\":\"user\"}") };
        if (i == n - 101)
            one =
                (struct entry){ .kind = SV("ai_context_operation"),
                                .payload = SV("{\"context_ref\":\"default\",\"op_id\":\"c\","
                                              "\"operation\":{\"result_context\":{\"messages\":[]},"
                                              "\"type\":\"replace\"}}") };
        if (!OK(log_append(&t.l, id, LOG_ANY_REV, &one, 1, &h, &t.e)))
            break;
    }
    OK(log_commit(&t.l, &t.e));
    return id;
}

/* Entries read for the projection of a lane at a point. */
static int64_t cost_of(struct sv thread, struct sv lane, int64_t upto, int64_t *returned)
{
    struct projection_of of = { thread, lane, upto, { 0 } };
    struct projection    p = { 0 };

    *returned = 0;
    OK(log_begin(&t.l, thread, STORE_READ, &t.e));
    OK(project_start(&t.l, &of, &t.a, &p, &t.e));
    OK(project_each(&p, count_one, returned, &t.e));
    log_abort(&t.l);
    return p.read;
}

/* Entries, rows and bytes that a fork adds. */
struct cost {
    int64_t entries, rows, payload;
};
static struct cost fork_cost(struct sv thread)
{
    struct store_stats before, after;
    struct op          op = { .type = OP_FORK,
                              .thread = thread,
                              .lane = SV("side"),
                              .op_id = SV("f"),
                              .from_seq = 500,
                              .at = 5 };
    struct op_result   r;

    OK(store_stats(t.s, &before, &t.e));
    OK(op_apply(&t.l, &op, &t.a, &r, &t.e));
    OK(store_stats(t.s, &after, &t.e));
    struct store_query q = { .thread = thread, .from = r.seq, .to = r.seq };
    struct entry       n;
    bool               found;
    OK(store_first(t.s, &q, &t.a, &n, &found, &t.e));
    return (struct cost){ after.entries - before.entries, after.rows - before.rows,
                          (int64_t)(n.payload.n + n.refs.n) };
}

/* Both in one test, so that the long log is written once. */
static void a_projection_reads_what_it_returns_and_a_fork_costs_the_same_however_long_the_log(void)
{
    struct sv threads[] = { long_thread(1000), long_thread(t.on_disk ? 20000 : 100000) };
    int64_t   returned;

    for (size_t i = 0; i < COUNT(threads); i++) {
        CHECK_INT(cost_of(threads[i], LANE_DEFAULT, NOW, &returned), 101); /* with the snapshot */
        CHECK_INT(returned, 100);
        CHECK_INT(cost_of(threads[i], LANE_DEFAULT, 9, &returned), 10);
    }
    struct cost s = fork_cost(threads[0]), l = fork_cost(threads[1]);
    CHECK_INT(s.entries, 1);
    CHECK_INT(l.entries, 1);
    CHECK_INT(s.rows, l.rows);
    CHECK_INT(s.payload, l.payload);
    CHECK(l.payload < 1024);
    for (size_t i = 0; i < COUNT(threads); i++) {
        CHECK_INT(cost_of(threads[i], SV("side"), NOW, &returned), 501);
        CHECK_INT(returned, 501);
    }
}

THREAD_MAIN(T(an_empty_log_has_nothing_to_project),
            T(before_the_first_entry_there_is_the_prompt_and_the_cursor_is_minus_one),
            T(messages_are_seen_up_to_the_boundary),
            T(a_replace_hides_what_was_before_it_and_brings_its_prompt), T(the_latest_replace_wins),
            T(other_kinds_are_passed_over_and_use_up_a_seq),
            T(what_a_kind_does_not_allow_is_refused_and_in_an_import_kept_and_not_acted_on),
            T(a_role_that_is_none_is_refused_with_where_the_prompt_belongs),
            T(a_message_in_no_lane_is_in_no_context),
            T(a_result_without_a_name_has_that_of_its_call), T(tool_turns_keep_their_order_and_ids),
            T(thinking_stands_in_front_of_the_text), T(parts_reasoning_and_refs_are_kept_whole),
            T(what_was_projected_can_be_put_back_as_a_snapshot),
            T(a_snapshot_without_a_prompt_has_none),
            T(base_seq_is_provenance_unless_rebase_is_asked_for), T(a_rebase_in_meta_is_a_rebase),
            T(a_rebase_needs_a_seq_that_is_there), T(a_snapshot_that_cannot_be_read_is_passed_over),
            T(a_snapshot_keeps_roles_the_log_would_skip), T(a_leading_system_message_is_the_prompt),
            T(the_same_log_gives_the_same_bytes), T(json_at_its_edges_survives),
            T(deep_nesting_is_kept_to_the_limit_and_refused_beyond),
            T(a_projection_reads_what_it_returns_and_a_fork_costs_the_same_however_long_the_log), )
