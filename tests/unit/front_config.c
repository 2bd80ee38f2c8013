#include "front/config.h"
#include "tap.h"

static struct arena  a;
static struct err    e;
static struct config c;

static bool reads(struct sv text)
{
    c = (struct config){ 0 };
    return config_read(text, &a, &c, &e) == ST_OK;
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

static void the_schema_is_json_and_closed(void)
{
    struct sb   b = sb_in(&a, 0);
    struct json v;

    config_schema(&b);
    CHECK_INT(json_parse(sb_sv(&b), 0, &a, &v, &e), ST_OK);
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

    if (config_with(before, sv_of(key), value, &a, &out, &e))
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

TAP_MAIN(T(one_setting_changes_and_the_others_stay), T(a_setting_that_is_none_is_refused),
         T(settings_are_found_by_their_dotted_names), T(what_is_not_set_has_its_default),
         T(slips_are_refused_by_name), T(the_schema_is_json_and_closed), )
