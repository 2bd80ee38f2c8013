/* Bodies of requests: settings by the names each API has for them, in front of the context. */
#include "assemble/body.h"

#include "tap.h"

static struct arena a;
static struct err   e;

static const struct sv            stops[] = { SV_STATIC("END"), SV_STATIC("\n\n") };
static const struct body_settings all = { .model = SV_STATIC("m-1"),
                                          .max_tokens = 50,
                                          .temperature = SV_STATIC("0.70"),
                                          .top_p = SV_STATIC("1"),
                                          .seed = SV_STATIC("7"),
                                          .stop = stops,
                                          .n_stop = 2,
                                          .stream = true };

static struct render_report report;

static struct sv body_of(enum body_dialect d, const struct body_settings *s)
{
    struct message m = message_of_text("user", SV("Say \"hi\".\n"), &a);
    struct context c = { .system_prompt = SV("Be brief."), .messages = &m, .n = 1 };
    struct sb      b = sb_in(&a, 0);

    report = report_in(&a);
    CHECK(body_write(d, &c, s, &a, &b, &report, &e) == ST_OK);
    return sb_sv(&b);
}

static void settings_have_the_names_of_the_api(void)
{
    CHECK_SV(body_of(BODY_ANTHROPIC, &all),
             SV("{\"max_tokens\":50,\"model\":\"m-1\",\"stop_sequences\":[\"END\",\"\\n\\n\"],"
                "\"stream\":true,\"temperature\":0.70,\"top_p\":1,\"messages\":[{\"content\":"
                "\"Say \\\"hi\\\".\\n\",\"role\":\"user\"}],\"system\":\"Be brief.\"}"));
    CHECK_SV(body_of(BODY_OPENAI, &all),
             SV("{\"max_completion_tokens\":50,\"model\":\"m-1\",\"seed\":7,\"stop\":[\"END\","
                "\"\\n\\n\"],\"stream\":true,\"stream_options\":{\"include_usage\":true},"
                "\"temperature\":0.70,\"top_p\":1,\"messages\":["
                "{\"content\":\"Be brief.\",\"role\":\"system\"},{\"content\":\"Say \\\"hi\\\"."
                "\\n\",\"role\":\"user\"}]}"));
    CHECK(sv_starts(body_of(BODY_COMPATIBLE, &all), SV("{\"max_tokens\":50,")));
}

static void a_setting_without_a_name_is_reported(void)
{
    struct sb b = sb_in(&a, 0);

    body_of(BODY_ANTHROPIC, &all);
    CHECK_INT(report.list.n, 1);
    repair_write(&b, &report.list.v[0]);
    CHECK(sv_find(sb_sv(&b), SV("dropped the setting seed, which this format cannot hold")) >= 0);
    body_of(BODY_OPENAI, &all);
    CHECK_INT(report.list.n, 0);
}

static void base_models_get_one_text(void)
{
    struct message m[] = { message_of_text("user", SV(" Once upon\n"), &a),
                           message_of_text("assistant", SV("a time"), &a) };
    struct context one = { .messages = m, .n = 1 };
    struct context two = { .system_prompt = SV("A tale."), .messages = m, .n = 2 };
    struct sb      b = sb_in(&a, 0);

    report = report_in(&a);
    CHECK(body_write(BODY_COMPLETIONS, &one, &all, &a, &b, &report, &e) == ST_OK);
    CHECK_SV(sb_sv(&b),
             SV("{\"max_tokens\":50,\"model\":\"m-1\",\"seed\":7,\"stop\":[\"END\",\"\\n\\n\"],"
                "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"temperature\":0.70,"
                "\"top_p\":1,\"prompt\":\" Once upon\\n\"}"));
    CHECK_INT(report.list.n, 0);
    b = sb_in(&a, 0);
    CHECK(body_write(BODY_COMPLETIONS, &two, &(struct body_settings){ 0 }, &a, &b, &report, &e) ==
          ST_OK);
    CHECK_SV(sb_sv(&b), SV("{\"prompt\":\"A tale.\\n\\n Once upon\\n\\n\\na time\"}"));
    CHECK_INT(report.list.n, 1); /* that the roles are gone */
}

static void responses_and_gemini_get_text_and_pictures(void)
{
    struct message m[] = { message_of_text("user", SV("See."), &a),
                           message_of_text("user", SV("Look."), &a),
                           message_of_text("assistant", SV("Yes."), &a) };
    struct context c = { .system_prompt = SV("Be brief."), .messages = m, .n = 3 };
    struct sb      b = sb_in(&a, 0);

    m[1].content = SV("[{\"type\":\"text\",\"text\":\"Look.\"},{\"type\":\"image_url\",\"image_"
                      "url\":{\"url\":\"data:image/png;base64,AAAA\"}}]");
    report = report_in(&a);
    CHECK(body_write(BODY_RESPONSES, &c, &all, &a, &b, &report, &e) == ST_OK);
    CHECK_SV(sb_sv(&b),
             SV("{\"max_output_tokens\":50,\"model\":\"m-1\",\"stream\":true,\"temperature\":0.70,"
                "\"top_p\":1,\"include\":[\"reasoning.encrypted_content\"],"
                "\"input\":[{\"content\":[{\"text\":\"See.\",\"type\":\"input_text\"},{"
                "\"text\":\"Look.\",\"type\":\"input_text\"},{\"detail\":\"auto\","
                "\"image_url\":\"data:image/png;base64,AAAA\",\"type\":\"input_image\"}],"
                "\"role\":\"user\"},{\"content\":\"Yes.\",\"role\":\"assistant\"}],"
                "\"instructions\":\"Be brief.\",\"store\":false}"));
    CHECK_INT(report.list.n, 2); /* seed and stop */
    b = sb_in(&a, 0);
    report = report_in(&a);
    CHECK(body_write(BODY_GEMINI, &c, &all, &a, &b, &report, &e) == ST_OK);
    CHECK_SV(
        sb_sv(&b),
        SV("{\"generationConfig\":{\"maxOutputTokens\":50,\"seed\":7,\"stopSequences\":[\"END\","
           "\"\\n\\n\"],\"temperature\":0.70,\"topP\":1},\"contents\":[{\"parts\":[{\"text\":\"See."
           "\"},{\"text\":\"Look.\"},{\"inlineData\":{\"data\":\"AAAA\",\"mimeType\":\"image/"
           "png\"}}],\"role\":\"user\"},{\"parts\":[{\"text\":\"Yes.\"}],\"role\":\"model\"}],"
           "\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]}}"));
    CHECK_INT(report.list.n, 0);
    b = sb_in(&a, 0);
    CHECK(body_write(BODY_GEMINI, &c, &(struct body_settings){ .stream = true }, &a, &b, &report,
                     &e) == ST_OK);
    CHECK(sv_starts(sb_sv(&b), SV("{\"contents\":")));
    CHECK_INT(report.list.n, 0);
}

static void effort_has_its_own_place_in_each_api(void)
{
    static const struct {
        enum body_dialect d;
        const char       *want;
    } rows[] = {
        { BODY_ANTHROPIC, "{\"max_tokens\":8192,\"output_config\":{\"effort\":\"low\"}," },
        { BODY_OPENAI, "{\"reasoning_effort\":\"low\",\"messages\"" },
        { BODY_COMPATIBLE, "{\"reasoning_effort\":\"low\",\"messages\"" },
        { BODY_RESPONSES, "{\"reasoning\":{\"effort\":\"low\"}," },
        { BODY_GEMINI, "{\"generationConfig\":{\"thinkingConfig\":{\"thinkingLevel\":\"LOW\"}}," },
        { BODY_OFFLINE, "{\"max_tokens\":0,\"effort\":\"low\"," },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sv body = body_of(rows[i].d, &(struct body_settings){ .effort = SV("low") });
        CHECK_SV(sv_first(body, strlen(rows[i].want)), sv_of(rows[i].want));
        CHECK_INT(report.list.n, 0);
    }
    body_of(BODY_COMPLETIONS, &(struct body_settings){ .effort = SV("low"), .logprobs = 3 });
    CHECK_INT(report.list.n, 1); /* base models do not think, but tell probabilities */
    body_of(BODY_OPENAI, &(struct body_settings){ .logprobs = 3 });
    CHECK_INT(report.list.n, 1);
}

static void calls_become_text_where_no_tools_are_offered(void)
{
    struct message m[] = { message_of_text("user", SV("q"), &a),
                           message_of_text("assistant", SV(""), &a),
                           message_of_text("tool", SV("42"), &a) };
    struct context c = { .messages = m, .n = 3 };
    struct sb      b = sb_in(&a, 0);

    m[1].tool_calls = SV("[{\"id\":\"t1\",\"name\":\"look\",\"arguments\":{\"at\":1}}]");
    m[2].tool_call_id = SV("\"t1\"");
    report = report_in(&a);
    CHECK(body_write(BODY_GEMINI, &c, &(struct body_settings){ 0 }, &a, &b, &report, &e) == ST_OK);
    CHECK_SV(sb_sv(&b), SV("{\"contents\":[{\"parts\":[{\"text\":\"q\"}],\"role\":\"user\"},{"
                           "\"parts\":[{\"text\":\"[call t1: look "
                           "{\\\"at\\\":1}]\"}],\"role\":\"model\"},{\"parts\":[{\"text\":\"["
                           "result of t1]\"},{\"text\":\"42\"}],\"role\":\"user\"}]}"));
    CHECK_INT(report.list.n, 2);
}

static void what_was_not_set_is_not_sent(void)
{
    const struct body_settings none = { 0 };

    CHECK(sv_starts(body_of(BODY_OPENAI, &none), SV("{\"messages\":[")));
    /* The API demands a number. */
    CHECK(sv_starts(body_of(BODY_ANTHROPIC, &none), SV("{\"max_tokens\":8192,\"messages\":[")));
    CHECK(sv_starts(body_of(BODY_OFFLINE, &none), SV("{\"max_tokens\":0,\"messages\":[")));
}

static void a_setting_that_is_no_number_is_refused(void)
{
    static const struct sv bad[] = { SV_STATIC(""),      SV_STATIC("warm"), SV_STATIC("1,\"x\":2"),
                                     SV_STATIC("\"1\""), SV_STATIC("null"), SV_STATIC("0x1") };
    struct context         c = { 0 };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sb            b = sb_in(&a, 0);
        struct body_settings s = { .temperature = bad[i] };
        CHECK(body_write(BODY_OPENAI, &c, &s, &a, &b, &report, &e) == ST_INVALID_SYNTAX);
        CHECK_INT(b.n, 0);
    }
}

static void a_body_is_json_and_repeatable(void)
{
    struct json doc;

    for (int d = 0; d <= BODY_OFFLINE; d++) {
        struct sv one = body_of((enum body_dialect)d, &all);
        CHECK(json_parse(one, 0, &a, &doc, &e) == ST_OK);
        CHECK_SV(body_of((enum body_dialect)d, &all), one);
    }
}

static void half_characters_are_replaced_and_reported(void)
{
    struct message m = message_of_text("user", SV("x\xed\xa0\x80y"), &a);
    struct context c = { .messages = &m, .n = 1 };
    struct sb      b = sb_in(&a, 0);

    report = report_in(&a);
    CHECK(body_write(BODY_OFFLINE, &c, &(struct body_settings){ 0 }, &a, &b, &report, &e) == ST_OK);
    CHECK(sv_find(sb_sv(&b), SV("x\xef\xbf\xbdy")) > 0);
    CHECK_INT(report.list.n, 1);
}

static void a_user_message_is_added_where_the_model_demands_one(void)
{
    struct message m[] = { message_of_text("user", SV("Hi"), &a),
                           message_of_text("assistant", SV("Hello "), &a) };
    struct context c = { .messages = m, .n = 2 };
    struct sb      b = sb_in(&a, 0), line = sb_in(&a, 0);

    report = report_in(&a);
    CHECK(body_write(BODY_ANTHROPIC, &c, &(struct body_settings){ .user_last = true }, &a, &b,
                     &report, &e) == ST_OK);
    CHECK(sv_ends(sb_sv(&b), SV("{\"content\":\"Hello \",\"role\":\"assistant\"},"
                                "{\"content\":\"(continue)\",\"role\":\"user\"}]}")));
    CHECK_INT(report.list.n, 1);
    repair_write(&line, &report.list.v[0]);
    CHECK(sv_starts(sb_sv(&line), SV("added a user message at the end")));
    b.n = 0;
    c.n = 1;
    CHECK(body_write(BODY_ANTHROPIC, &c, &(struct body_settings){ .user_last = true }, &a, &b,
                     &report, &e) == ST_OK);
    CHECK(sv_ends(sb_sv(&b), SV("[{\"content\":\"Hi\",\"role\":\"user\"}]}")));
}

static void dialects_have_names(void)
{
    enum body_dialect d;

    CHECK(body_dialect_of(SV("openai"), &d) && d == BODY_OPENAI);
    CHECK(body_dialect_of(SV("offline"), &d) && d == BODY_OFFLINE);
    CHECK(!body_dialect_of(SV("text"), &d) && !body_dialect_of(SV(""), &d));
    arena_free(&a);
}

TAP_MAIN(T(settings_have_the_names_of_the_api), T(a_setting_without_a_name_is_reported),
         T(base_models_get_one_text), T(responses_and_gemini_get_text_and_pictures),
         T(effort_has_its_own_place_in_each_api), T(calls_become_text_where_no_tools_are_offered),
         T(what_was_not_set_is_not_sent), T(a_setting_that_is_no_number_is_refused),
         T(a_body_is_json_and_repeatable), T(half_characters_are_replaced_and_reported),
         T(a_user_message_is_added_where_the_model_demands_one), T(dialects_have_names), )
