#include "api/config.h"
#include "tap.h"

static struct arena  a;
static struct err    e;
static struct config c;

static const struct json none;

#define WORKSPACE SV(".heddle/config.json")

static bool reads(struct sv text)
{
    struct json doc = { 0 };
    bool        read = config_read(text, CONFIG_OF_WORKSPACE, WORKSPACE, &a, &doc, &e) == ST_OK;

    config_join(&c, &none, &doc, true, &a);
    return read;
}

static struct json file(enum config_file which, const char *text)
{
    struct json doc = { 0 };

    CHECK_INT(config_read(sv_of(text), which, WORKSPACE, &a, &doc, &e), ST_OK);
    return doc;
}

static void settings_are_found_by_their_dotted_names(void)
{
    CHECK(reads(
        SV("{\"store\":\"x.db\",\"run\":{\"model\":\"offline:echo\",\"max_iterations\":3}}")));
    CHECK_SV(config_text(&c, "store"), SV("x.db"));
    CHECK_SV(config_text(&c, "run.model"), SV("offline:echo"));
    CHECK_INT(config_int(&c, "run.max_iterations", 10), 3);
}

static void what_is_not_set_has_its_default(void)
{
    CHECK(reads(SV("{}")));
    CHECK(config_text(&c, "store").s == NULL);
    CHECK_INT(config_int(&c, "run.max_iterations", 10), 10);
    CHECK(!config_bool(&c, "run.max_iterations"));
    c = (struct config){ 0 }; /* no file at all */
    CHECK(config_find(&c, "run.model") == NULL);
    CHECK_INT(config_int(&c, "run.max_iterations", 10), 10);
}

static void slips_are_refused_by_name(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "{\"stor\":\"x\"}", "unknown key 'stor'" },
        { "{\"run\":{\"x\":1}}", "unknown key 'run.x'" },
        { "{\"run.model\":\"x\"}", "unknown key 'run.model'" }, /* a dot is not nesting */
        { "{\"\":1}", "unknown key ''" },
        { "{\"*\":1}", "unknown key '*'" },
        { "{\"store\":null}", "type string" },
        { "{\"store\":[]}", "type string" },
        { "{\"run\":\"x\"}", "type object" },
        { "{\"run\":{\"tools\":{}}}", "type array" },
        { "{\"run\":{\"max_iterations\":1e3}}", "type integer" },
        { "{\"run\":{\"max_iterations\":9223372036854775808}}", "type integer" },
        { "[]", "must hold an object" },
        { "", "line 1" },
        { "{\"store\":\"a\",\"store\":\"a\"}", "twice" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(!reads(sv_of(cases[i].text)));
        CHECK_INT(e.code, ST_INVALID_SYNTAX);
        if (!strstr(e.text, cases[i].said))
            printf("# %s: %s\n", cases[i].text, e.text);
        CHECK(strstr(e.text, cases[i].said) != NULL);
        CHECK(sv_starts(sv_of(e.text), SV(".heddle/config.json")));
        CHECK(c.doc.type == JSON_NULL); /* nothing of it is taken over */
    }
    CHECK(!reads(SV("{\"store\\u0000x\":\"y\"}")));
}

static struct sv schema_of(enum config_file file)
{
    struct sb b = sb_in(&a, 0);
    struct jw w = jw_in(&b, 0);

    config_schema(&w, file);
    return sb_sv(&b);
}

static void the_schema_is_json_and_closed(void)
{
    struct sv   text = schema_of(CONFIG_OF_WORKSPACE);
    struct json v;

    CHECK_INT(json_parse(text, 0, &a, &v, &e), ST_OK);
    CHECK(json_is(json_find(&v, "additionalProperties"), JSON_FALSE));
    const struct json *properties = json_find(&v, "properties");
    CHECK(properties && properties->n > 0);
    for (size_t i = 0; properties && i < properties->n; i++) {
        CHECK(json_text(&properties->members[i].value, "type").n > 0);
        CHECK(json_text(&properties->members[i].value, "description").n > 0);
    }
    CHECK_SV(json_text(json_find(json_find(json_find(properties, "run"), "properties"), "model"),
                       "type"),
             SV("string"));
}

static struct sv with(struct sv before, const char *key, struct sv value)
{
    struct sv out = { 0 };

    if (config_with(before, CONFIG_OF_WORKSPACE, WORKSPACE, sv_of(key), value, &a, &out, &e))
        return (struct sv){ 0 };
    return out;
}

static void one_setting_changes_and_the_others_stay(void)
{
    struct sv absent = { 0 }, file = SV("{\"store\":\"a\",\"run\":{\"max_iterations\":3}}");

    CHECK_SV(with(SV("{}"), "run.model", SV("m")),
             SV("{\n  \"run\": {\n    \"model\": \"m\"\n  }\n}\n"));
    CHECK_SV(with(file, "store", SV("b")),
             SV("{\n  \"store\": \"b\",\n  \"run\": {\n    \"max_iterations\": 3\n  }\n}\n"));
    CHECK_SV(with(file, "run.max_iterations", SV("4")),
             SV("{\n  \"store\": \"a\",\n  \"run\": {\n    \"max_iterations\": 4\n  }\n}\n"));
    CHECK_SV(with(file, "run", absent), SV("{\n  \"store\": \"a\"\n}\n"));
    CHECK_SV(
        with(SV("{}"), "tokens.factor.claude-3.5", SV("1.10")),
        SV("{\n  \"tokens\": {\n    \"factor\": {\n      \"claude-3.5\": 1.10\n    }\n  }\n}\n"));
    CHECK(reads(SV("{\"tokens\":{\"factor\":{\"claude-3.5\":1.10}}}")));
    CHECK(json_is(config_find(&c, "tokens.factor.claude-3.5"), JSON_NUMBER));
}

static void a_setting_that_is_none_is_refused(void)
{
    CHECK(!with(SV("{}"), "run.modle", SV("m")).s && e.code == ST_NOT_FOUND);
    CHECK(strstr(e.hint, "run.model") != NULL);
    CHECK(!with(SV("{}"), "", SV("m")).s && e.code == ST_NOT_FOUND);
    CHECK(!with(SV("{}"), "tokens.factor.", SV("1")).s && e.code == ST_NOT_FOUND);
    CHECK(!with(SV("{}"), "run.max_iterations", SV("many")).s && e.code == ST_USAGE);
    CHECK(!with(SV("{}"), "run.tools", SV("{}")).s && e.code == ST_USAGE);
    CHECK(!with(SV("{}"), "run", SV("{\"modle\":1}")).s && e.code == ST_INVALID_SYNTAX);
}

/* What a stranger's file can do: named here, so that a new setting has to be thought about. */
static const char *const guarded[] = {
    "stores",
    "stores.*",
    "executors.*",
    "loom.summary_model",
    "loom.classifier",
    "models.small",
    "models.small.*",
    "compact.model",
    "search.tavily_url",
    "search.brave_url",
    "search.searxng_url",
    "search.proxy",
    "payload.allow_private_urls",
    "payload.proxy",
    "safe_workspaces",
    "models.url",
    "models.url.*",
    "models.proxy",
    "models.key_command",
    "models.key_command.*",
    "models.prices",
    "models.prices.*",
    "talk.max_rounds",
    "talk.max_tokens",
    "talk.max_cost",
};

static void settings_with_power_say_so(void)
{
    static const char *const words[] = {
        "_url", "proxy", "command", "executor", "_key", "private"
    };
    const struct config_key *k;
    size_t                   n = 0;

    for (size_t i = 0; (k = config_key_at(i)); i++) {
        bool listed = false, telling = false;
        for (size_t g = 0; g < COUNT(guarded); g++)
            listed = listed || strcmp(guarded[g], k->name) == 0;
        for (size_t w = 0; w < COUNT(words); w++)
            telling = telling || strstr(k->name, words[w]);
        n += k->power != CONFIG_FREE;
        if ((k->power != CONFIG_FREE) != listed)
            printf("# %s\n", k->name);
        CHECK((k->power != CONFIG_FREE) == listed);
        bool is_limit = strstr(k->name, "_ms") || strstr(k->name, "_bytes");
        if (telling && !is_limit && strcmp(k->type, "object") != 0)
            CHECK(k->power != CONFIG_FREE);
    }
    CHECK_INT(n, COUNT(guarded));
}

static void the_workspace_counts_over_the_user_member_by_member(void)
{
    struct json user = file(CONFIG_OF_USER, "{\"loom\":{\"budget\":1,\"subject\":\"U\"},"
                                            "\"tokens\":{\"factor\":{\"a\":1}}}");
    struct json own = file(CONFIG_OF_WORKSPACE, "{\"loom\":{\"budget\":2,\"result_tokens\":3},"
                                                "\"tokens\":{\"factor\":{\"b\":2}}}");
    enum config_source from;

    config_join(&c, &user, &own, false, &a);
    CHECK(c.trusted); /* nothing here needs it */
    CHECK_INT(config_int(&c, "loom.budget", 0), 2);
    CHECK_INT(config_int(&c, "loom.result_tokens", 0), 3);
    CHECK_SV(config_text(&c, "loom.subject"), SV("U"));
    CHECK_INT(config_find(&c, "tokens.factor")->n, 2);
    config_value(&c, SV("loom.budget"), &from);
    CHECK_INT(from, CONFIG_FROM_WORKSPACE);
    config_value(&c, SV("loom.subject"), &from);
    CHECK_INT(from, CONFIG_FROM_USER);
    CHECK(config_value(&c, SV("run.model"), &from) == NULL);
    CHECK_INT(from, CONFIG_FROM_DEFAULT);
}

static void count_told(void *ctx, struct sv text)
{
    CHECK(sv_find(text, SV("payload.proxy in .heddle/config.json is ignored, since it")) == 0);
    CHECK(sv_ends(text, SV("to allow it, run: heddle trust")));
    ++*(int *)ctx;
}

static void a_withheld_value_is_told_once_and_only_when_asked_for(void)
{
    struct json own = file(CONFIG_OF_WORKSPACE, "{\"payload\":{\"proxy\":\"http://p\"}}");
    int         told = 0;

    config_join(&c, &none, &own, false, &a);
    CHECK(!config_text(&c, "payload.proxy").s); /* nobody listens */
    c.withheld = count_told;
    c.withheld_ctx = &told;
    config_find(&c, "search.proxy");
    CHECK_INT(told, 0);
    config_find(&c, "payload.proxy");
    config_find(&c, "payload.proxy");
    CHECK_INT(told, 1);
    config_join(&c, &none, &own, true, &a);
}

static void what_needs_trust_is_withheld_without_it(void)
{
    static const char text[] =
        "{\"executors\":{\"agent\":[\"rm\"]},\"loom\":{\"summary_model\":\"openai:x\",\"budget\":7}"
        ","
        "\"payload\":{\"allow_private_urls\":true,\"proxy\":\"http://p\",\"url_ttl_ms\":5},"
        "\"search\":{\"brave_url\":\"http://b\",\"proxy\":\"http://p\",\"searxng_url\":\"http://"
        "s\","
        "\"tavily_url\":\"http://t\",\"timeout_ms\":9}}";
    struct json        own = file(CONFIG_OF_WORKSPACE, text);
    struct json        user = file(CONFIG_OF_USER, "{\"search\":{\"brave_url\":\"https://mine\"}}");
    enum config_source from;

    config_join(&c, &user, &own, false, &a);
    CHECK(!c.trusted);
    CHECK(config_find(&c, "executors.agent") == NULL);
    CHECK(!config_text(&c, "loom.summary_model").s);
    CHECK(!config_bool(&c, "payload.allow_private_urls"));
    CHECK(!config_text(&c, "payload.proxy").s);
    CHECK(!config_text(&c, "search.tavily_url").s);
    CHECK_SV(config_text(&c, "search.brave_url"), SV("https://mine"));
    CHECK_INT(config_int(&c, "loom.budget", 0), 7);
    CHECK_INT(config_int(&c, "payload.url_ttl_ms", 0), 5);
    CHECK_INT(config_int(&c, "search.timeout_ms", 0), 9);
    CHECK_SV(json_sv(config_value(&c, SV("search.tavily_url"), &from)), SV("http://t"));
    CHECK_INT(from, CONFIG_FROM_UNTRUSTED);
    config_value(&c, SV("search.brave_url"), &from);
    CHECK_INT(from, CONFIG_FROM_USER);

    config_join(&c, &user, &own, true, &a);
    CHECK(json_is(config_find(&c, "executors.agent"), JSON_ARRAY));
    CHECK_SV(config_text(&c, "search.brave_url"), SV("http://b"));
    CHECK(config_bool(&c, "payload.allow_private_urls"));
}

static void a_model_inside_the_program_needs_no_trust(void)
{
    struct json own = file(CONFIG_OF_WORKSPACE, "{\"loom\":{\"summary_model\":\"offline:echo\"}}");

    config_join(&c, &none, &own, false, &a);
    CHECK(c.trusted);
    CHECK_SV(config_text(&c, "loom.summary_model"), SV("offline:echo"));
}

static void some_settings_have_no_place_in_a_workspace(void)
{
    struct json doc = { 0 };

    CHECK(!reads(SV("{\"safe_workspaces\":[\"*\"]}")));
    CHECK_INT(e.code, ST_INVALID_SYNTAX);
    CHECK(strstr(e.text, "user's own file") != NULL);
    CHECK_INT(
        config_read(SV("{\"safe_workspaces\":[\"*\"]}"), CONFIG_OF_USER, SV("x"), &a, &doc, &e),
        ST_OK);
    CHECK(sv_find(schema_of(CONFIG_OF_USER), SV("safe_workspaces")) > 0);
    CHECK(sv_find(schema_of(CONFIG_OF_WORKSPACE), SV("safe_workspaces")) < 0);
}

TAP_MAIN(T(settings_with_power_say_so), T(the_workspace_counts_over_the_user_member_by_member),
         T(what_needs_trust_is_withheld_without_it),
         T(a_withheld_value_is_told_once_and_only_when_asked_for),
         T(a_model_inside_the_program_needs_no_trust),
         T(some_settings_have_no_place_in_a_workspace), T(one_setting_changes_and_the_others_stay),
         T(a_setting_that_is_none_is_refused), T(settings_are_found_by_their_dotted_names),
         T(what_is_not_set_has_its_default), T(slips_are_refused_by_name),
         T(the_schema_is_json_and_closed), )
