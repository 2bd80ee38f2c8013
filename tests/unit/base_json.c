#include "base/json.h"

#include "tap.h"

static struct arena a;
static struct err   e;

/* The canonical form of a text, or the error's code as text. */
static struct sv canonical(struct sv text)
{
    struct json v;

    if (json_parse(text, 0, &a, &v, &e))
        return sv_of(status_word(e.code));
    return json_canonical(&v, &a);
}

/* The same through JSON_KEEP_ORDER. */
static struct sv canonical_kept(struct sv text)
{
    struct json v;

    if (json_parse(text, JSON_KEEP_ORDER, &a, &v, &e))
        return sv_of(status_word(e.code));
    return json_canonical(&v, &a);
}

#define REFUSED(text) CHECK_SV(canonical(SV(text)), SV("INVALID_SYNTAX"))
#define SAME(text) CHECK_SV(canonical(SV(text)), SV(text))
#define BECOMES(text, form) CHECK_SV(canonical(SV(text)), SV(form))

static void the_canonical_form_has_sorted_keys_and_no_spaces(void)
{
    BECOMES(" { \"b\" : 1 ,\r\n\t\"a\" : [ true , false , null ] } ",
            "{\"a\":[true,false,null],\"b\":1}");
    BECOMES("{\"b\":{\"d\":1,\"c\":2},\"a\":0}", "{\"a\":0,\"b\":{\"c\":2,\"d\":1}}");
    SAME("{}");
    SAME("[]");
    SAME("\"\"");
    SAME("[[],{},[{}]]");
}

static void keys_are_sorted_by_bytes_not_by_letters(void)
{
    BECOMES("{\"a\":1,\"B\":2,\"\xc3\xa9\":3,\"\":4,\"aa\":5}",
            "{\"\":4,\"B\":2,\"a\":1,\"aa\":5,\"\xc3\xa9\":3}");
    BECOMES("{\"\\u0062\":1,\"a\":2}", "{\"a\":2,\"b\":1}"); /* after unescaping */
}

static void numbers_keep_their_text(void)
{
    SAME("0");
    SAME("-0");
    SAME("1.0");
    SAME("1e3");
    SAME("1E+3");
    SAME("-1.5e-300");
    SAME("12345678901234567890123");
    SAME("0.1000000000000000055511151231257827");
    SAME("1e999999");
}

static void numbers_that_json_does_not_have_are_refused(void)
{
    REFUSED("01");
    REFUSED("-");
    REFUSED("+1");
    REFUSED(".5");
    REFUSED("1.");
    REFUSED("1e");
    REFUSED("1e+");
    REFUSED("0x10");
    REFUSED("-01");
    REFUSED("NaN");
    REFUSED("Infinity");
    REFUSED("1 2");
    REFUSED("1_000");
}

static void integers_are_read_within_their_range(void)
{
    struct json v;
    int64_t     n = 5;

    CHECK(!json_parse(SV("[1,-9223372036854775808,9223372036854775808,1.0,1e2,\"1\"]"), 0, &a, &v,
                      &e));
    CHECK(json_int(&v.items[0], &n) && n == 1);
    CHECK(json_int(&v.items[1], &n) && n == INT64_MIN);
    n = 5;
    for (int i = 2; i < 6; i++)
        CHECK(!json_int(&v.items[i], &n) && n == 5);
    CHECK(!json_int(NULL, &n));
}

static void escapes_are_read_and_only_the_needed_ones_written(void)
{
    BECOMES("\"\\u0041\\/\\u00e9\"", "\"A/\xc3\xa9\"");
    BECOMES("\"\\\"\\\\\\b\\f\\n\\r\\t\"", "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    BECOMES("\"\\u0000\\u001F\\u007f\"", "\"\\u0000\\u001f\x7f\"");
    BECOMES("\"\\u2028\"", "\"\xe2\x80\xa8\"");
    BECOMES("\"\\uD83D\\uDE00\"", "\"\xf0\x9f\x98\x80\"");
    SAME("\"\xf0\x9f\x98\x80\"");
    REFUSED("\"\\x41\"");
    REFUSED("\"\\u12\"");
    REFUSED("\"\\u12g4\"");
    REFUSED("\"\\");
    REFUSED("\"\\u");
    REFUSED("\"\\\"");
    REFUSED("\"\\'\"");
    CHECK_SV(canonical((struct sv){ "\"\\\0\"", 4 }), SV("INVALID_SYNTAX"));
}

/* Strings are read eight bytes at a time: each byte that means something, in each place, behind
 * plain bytes and behind one (0xed) that only the writer has to look at. */
static void what_ends_a_run_of_plain_bytes_is_found_in_every_place(void)
{
    static const char *const fills[] = { "a", "\xed\x95\x9c" }; /* U+D55C */

    static const struct {
        const char *format; /* with a run before and behind what ends it */
        bool        good;
    } texts[] = {
        { "[\"%s\",\"%s\"]", true }, { "[\"%s\\n%s\"]", true },  { "[\"%s\\\"%s\"]", true },
        { "[\"%s\x1f%s\"]", false }, { "[\"%s\\q%s\"]", false }, { "[\"%s%s", false },
    };

    for (size_t f = 0; f < COUNT(fills); f++)
        for (size_t n = 0; n < 20; n++) {
            struct sb run = sb_in(&a, 0);
            for (size_t i = 0; i < n; i++)
                sb_adds(&run, fills[f]);
            for (size_t i = 0; i < COUNT(texts); i++) {
                struct sb   text = sb_in(&a, 0);
                const char *at = texts[i].format, *hole;
                for (; (hole = strstr(at, "%s")); at = hole + 2) {
                    sb_add(&text, (struct sv){ at, (size_t)(hole - at) });
                    sb_add(&text, sb_sv(&run));
                }
                sb_adds(&text, at);
                CHECK_SV(canonical(sb_sv(&text)),
                         texts[i].good ? sb_sv(&text) : SV("INVALID_SYNTAX"));
            }
        }
}

static void a_lone_surrogate_is_kept(void)
{
    SAME("\"\\ud83d\"");
    SAME("\"\\ude00\"");
    SAME("\"\\ud83dx\"");
    SAME("\"\\ude00\\ud83d\""); /* the wrong way round: two lone halves */
    BECOMES("\"\\ud83d\\u0041\"", "\"\\ud83dA\"");
    BECOMES("\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\xf0\x9f\x98\x80\"");
    BECOMES("{\"\\udfff\":1}", "{\"\\udfff\":1}");
    REFUSED("\"\\ud83d\\u12\"");
}

static void bytes_that_look_like_half_a_surrogate_are_not_eaten(void)
{
    struct sb b = sb_in(&a, 0);

    sb_add_json_string(&b, SV("\xed\xa0"
                              "xy"));
    CHECK_SV(sb_sv(&b), SV("\"\xed\xa0"
                           "xy\""));
    b = sb_in(&a, 0);
    sb_add_json_string(&b, SV("\xed\xa0"));
    CHECK_SV(sb_sv(&b), SV("\"\xed\xa0\""));
    b = sb_in(&a, 0);
    sb_add_json_string(&b, SV("\xed\x9f\xbf")); /* U+D7FF, the last before the surrogates */
    CHECK_SV(sb_sv(&b), SV("\"\xed\x9f\xbf\""));
}

static void control_characters_and_bad_utf8_are_refused(void)
{
    REFUSED("\"a\nb\"");
    REFUSED("\"a\tb\"");
    REFUSED("\"a\x01\"");
    REFUSED("\"\xff\"");
    REFUSED("\"\xed\xa0\x80\""); /* a surrogate as bytes */
    REFUSED("\"\xc0\xaf\"");
    REFUSED("\xef\xbb\xbf{}"); /* a byte order mark */
    CHECK_SV(canonical((struct sv){ "\"a\0b\"", 5 }), SV("INVALID_SYNTAX"));
    CHECK_SV(canonical((struct sv){ "{}\0", 3 }), SV("INVALID_SYNTAX"));
}

static void a_key_that_stands_twice_is_refused(void)
{
    REFUSED("{\"a\":1,\"a\":2}");
    REFUSED("{\"a\":1,\"b\":2,\"a\":3}");
    REFUSED("{\"a\":1,\"\\u0061\":2}");
    REFUSED("{\"x\":{\"a\":1,\"a\":1}}");
    CHECK_SV(canonical_kept(SV("{\"b\":1,\"a\":2,\"b\":3}")), SV("INVALID_SYNTAX"));
    SAME("[{\"a\":1},{\"a\":1}]");
}

static void broken_texts_are_refused(void)
{
    static const char *const texts[] = {
        "",       " ",        "{",         "[",         "]",        "}",           "{]",
        "[}",     "[1,]",     "[,1]",      "[1 2]",     "{\"a\"}",  "{\"a\":}",    "{\"a\":1,}",
        "{,}",    "{a:1}",    "{'a':1}",   "{1:2}",     "nul",      "nulll",       "tru",
        "True",   "[1]x",     "{} {}",     "\"a",       "// c\n1",  "/* c */ 1",   "[1,2",
        "{\"a\"", "{\"a\":1", "undefined", "{\"a\" 1}", "[\"a\",]", "\"a\" \"b\"", "\v1",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct json v;
        bool        refused = json_parse(sv_of(texts[i]), 0, &a, &v, &e) == ST_INVALID_SYNTAX;
        if (!refused)
            printf("# accepted: %s\n", texts[i]);
        CHECK(refused);
    }
}

static void the_error_names_line_and_column(void)
{
    struct json v;

    CHECK_INT(json_parse(SV("{\n  \"a\": 1,\n  \"b\" 2\n}"), 0, &a, &v, &e), ST_INVALID_SYNTAX);
    CHECK(strstr(e.text, "line 3, column 7") != NULL);
    CHECK_INT(json_parse(SV("[1,\n\"\xff\"]"), 0, &a, &v, &e), ST_INVALID_SYNTAX);
    CHECK(strstr(e.text, "line 2, column 2") != NULL);
}

static struct sv nested(int depth, bool objects)
{
    struct sb b = sb_in(&a, 0);

    for (int i = 0; i < depth; i++)
        sb_adds(&b, objects ? "{\"a\":" : "[");
    sb_adds(&b, "1");
    for (int i = 0; i < depth; i++)
        sb_addc(&b, objects ? '}' : ']');
    return sb_sv(&b);
}

static void depth_has_a_limit_and_not_a_crash(void)
{
    for (int objects = 0; objects < 2; objects++) {
        struct sv most = nested(JSON_DEPTH_MAX, objects);
        CHECK_SV(canonical(most), most);
        CHECK_SV(canonical(nested(JSON_DEPTH_MAX + 1, objects)), SV("LIMIT_EXCEEDED"));
        CHECK_SV(canonical(nested(1000000, objects)), SV("LIMIT_EXCEEDED"));
    }
    /* Depth is what is open at once, not how often something was opened. */
    struct sb wide = sb_in(&a, 0);
    sb_adds(&wide, "[[]");
    for (int i = 0; i < 1000; i++)
        sb_adds(&wide, ",[{}]");
    sb_adds(&wide, "]");
    CHECK_SV(canonical(sb_sv(&wide)), sb_sv(&wide));
}

static void order_is_kept_when_asked_for(void)
{
    struct json v;
    struct sb   b = sb_in(&a, 0);

    CHECK(!json_parse(SV("{\"b\":1,\"a\":{\"d\":[],\"c\":\"x\"}}"), JSON_KEEP_ORDER, &a, &v, &e));
    CHECK_SV(v.members[0].key, SV("b"));
    struct jw w = jw_in(&b, 0);
    jw_json(&w, &v);
    CHECK_SV(sb_sv(&b), SV("{\"b\":1,\"a\":{\"d\":[],\"c\":\"x\"}}"));
    CHECK_SV(json_canonical(&v, &a), SV("{\"a\":{\"c\":\"x\",\"d\":[]},\"b\":1}"));
    CHECK_SV(v.members[0].key, SV("b")); /* writing changes nothing */
}

static void lookups_chain_over_what_is_not_there(void)
{
    struct json v;

    CHECK(!json_parse(SV("{\"a\":{\"b\":\"deep\",\"t\":true},\"e\":\"\"}"), 0, &a, &v, &e));
    CHECK_SV(json_text(json_find(&v, "a"), "b"), SV("deep"));
    CHECK(json_find(json_find(&v, "nope"), "b") == NULL);
    CHECK(json_text(json_find(&v, "nope"), "b").s == NULL);
    CHECK(json_text(&v, "a").s == NULL);                              /* not a string */
    CHECK(json_text(&v, "e").s != NULL && json_text(&v, "e").n == 0); /* empty is not absent */
    CHECK(json_find(json_find(&v, "e"), "b") == NULL);
    CHECK(json_truth(json_find(json_find(&v, "a"), "t")) && !json_truth(NULL));
    CHECK(!json_is(NULL, JSON_NULL));
    CHECK(json_holds(&v, SV("deep")) && json_holds(json_find(&v, "e"), SV("")));
    CHECK(!json_holds(&v, SV("dee")) && !json_holds(&v, SV("b")) && !json_holds(NULL, SV("")));
}

static void equality_is_by_value(void)
{
    static const struct {
        const char *one, *other;
        bool        equal;
    } cases[] = {
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
        { "[1,2]", "[2,1]", false },
        { "\"A\"", "\"\\u0041\"", true },
        { "1.0", "1", false }, /* numbers are their text */
        { "{}", "[]", false },
        { "null", "false", false },
        { "\"1\"", "1", false },
        { "{\"a\":1}", "{\"b\":1}", false },
        { "[[1],{\"a\":[null]}]", "[[1],{\"a\":[null]}]", true },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json x, y;
        CHECK(!json_parse(sv_of(cases[i].one), 0, &a, &x, &e));
        CHECK(!json_parse(sv_of(cases[i].other), 0, &a, &y, &e));
        CHECK(json_eq(&x, &y) == cases[i].equal);
        CHECK(json_eq(&y, &x) == cases[i].equal);
    }
}

/* key=raw; for each member. */
static struct sv walk(struct sv canonical_text)
{
    struct sb b = sb_in(&a, 0);
    struct sv rest = canonical_text, key, raw;

    while (json_next(&rest, &key, &raw))
        sb_addf(&b, SV_FMT "=" SV_FMT ";", SV_ARG(key), SV_ARG(raw));
    return sb_sv(&b);
}

static void the_shallow_walk_gives_every_member_raw(void)
{
    CHECK_SV(walk(SV("{}")), SV(""));
    CHECK_SV(walk(SV("{\"a\":1}")), SV("a=1;"));
    CHECK_SV(walk(SV("{\"a\":\"x,}]\",\"b\":[1,{\"c\":2}],\"d\":{},\"e\":-1.5e3,\"f\":null}")),
             SV("a=\"x,}]\";b=[1,{\"c\":2}];d={};e=-1.5e3;f=null;"));
    CHECK_SV(walk(SV("{\"a\\\"b\":\"\\\\\",\"c\":\"\\\\\\\"\",\"d\":true}")),
             SV("a\\\"b=\"\\\\\";c=\"\\\\\\\"\";d=true;"));
    CHECK_SV(walk(SV("{\"\":\"\",\"x\":[[[\"]\"]]]}")), SV("=\"\";x=[[[\"]\"]]];"));
    CHECK_SV(walk(SV("{\"a\":{\"b\":\"}\"},\"c\":[]}")), SV("a={\"b\":\"}\"};c=[];"));
}

/* A string is looked through by words: an escaped quote or backslash at each place of each length,
 * as a key and as a value. */
static void the_shallow_walk_finds_the_end_of_every_string(void)
{
    enum { LONGEST = 20 };
    char      text[2 * LONGEST + 40], string[LONGEST + 1];
    struct sv rest, key, raw;

    for (int n = 2; n <= LONGEST; n++)
        for (int at = 0; at + 1 < n; at++)
            for (int quote = 0; quote < 2; quote++) {
                memset(string, 'x', (size_t)n);
                string[n] = 0;
                string[at] = '\\';
                string[at + 1] = quote ? '"' : '\\';
                snprintf(text, sizeof text, "{\"%s\":\"%s\",\"z\":[\"%.4s\"]}", string, string,
                         "y");
                rest = sv_of(text);
                CHECK(json_next(&rest, &key, &raw) && sv_is(key, string));
                CHECK(raw.n == (size_t)n + 2 && memcmp(raw.s + 1, string, (size_t)n) == 0);
                CHECK(json_next(&rest, &key, &raw) && sv_is(key, "z") && sv_is(raw, "[\"y\"]"));
                CHECK(sv_is(rest, "}"));
            }
}

static void the_shallow_walk_survives_every_cut(void)
{
    struct sv whole = SV("{\"a\\\"\":\"x\\\\\",\"b\":[1,{\"c\":\"]\"}],\"d\":{\"e\":null}}");

    for (size_t n = 0; n <= whole.n; n++) {
        char     *copy = memcpy(ARENA_NEW(&a, char, n ? n : 1), whole.s, n);
        struct sv rest = { copy, n }, key, raw;
        size_t    steps = 0;
        while (json_next(&rest, &key, &raw) && steps < 10) {
            CHECK(key.s >= copy && key.s + key.n <= copy + n);
            CHECK(raw.s >= copy && raw.s + raw.n <= copy + n);
            steps++;
        }
        CHECK(steps <= 3);
    }
    CHECK_SV(walk(SV("[1,2]")), SV(""));
    CHECK_SV(walk(SV("\"text\"")), SV(""));
    CHECK_SV(walk(SV("7")), SV(""));
    CHECK_SV(walk(SV("")), SV(""));
    CHECK_SV(walk(SV("{\"")), SV(""));
    CHECK_SV(walk(SV("{\"a\"1}")), SV(""));
}

static void the_writer_puts_commas_and_breaks_where_they_belong(void)
{
    struct sb b = sb_in(&a, 0);
    struct jw w = jw_in(&b, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "text", SV("a\"b"));
    jw_kstr(&w, "absent", (struct sv){ 0 });
    jw_kint(&w, "n", -7);
    jw_kbool(&w, "yes", true);
    jw_key(&w, "list");
    jw_open(&w, '[');
    jw_int(&w, 1);
    jw_null(&w);
    jw_open(&w, '{');
    jw_close(&w, '}');
    jw_close(&w, ']');
    jw_key(&w, "none");
    jw_open(&w, '[');
    jw_close(&w, ']');
    jw_key(&w, "raw");
    jw_raw(&w, SV("{\"x\":1}"));
    jw_close(&w, '}');
    CHECK_SV(sb_sv(&b), SV("{\n  \"text\": \"a\\\"b\",\n  \"absent\": null,\n  \"n\": -7,\n"
                           "  \"yes\": true,\n  \"list\": [\n    1,\n    null,\n    {}\n  ],\n"
                           "  \"none\": [],\n  \"raw\": {\"x\":1}\n}"));
}

static void made_values_write_like_read_ones(void)
{
    struct json text = json_of(SV("a\nb")), number = json_of_int(INT64_MIN, &a);

    CHECK_SV(json_canonical(&text, &a), SV("\"a\\nb\""));
    CHECK_SV(json_canonical(&number, &a), SV("-9223372036854775808"));
    struct json absent = json_of((struct sv){ 0 });
    CHECK_SV(json_canonical(&absent, &a), SV("\"\""));
}

static void many_members_are_found_and_sorted(void)
{
    struct sb   b = sb_in(&a, 0);
    struct json v;

    sb_addc(&b, '{');
    for (int i = 0; i < 5000; i++)
        sb_addf(&b, "%s\"k%d\":%d", i ? "," : "", (i * 7919) % 5000, i);
    sb_addc(&b, '}');
    CHECK(!json_parse(sb_sv(&b), 0, &a, &v, &e));
    CHECK_INT(v.n, 5000);
    for (size_t i = 1; i < v.n; i++)
        CHECK(sv_cmp(v.members[i - 1].key, v.members[i].key) < 0);
    arena_free(&a);
}

static void in_a_line_the_error_names_the_column_alone(void)
{
    struct json v;

    CHECK(json_parse(SV("{\"a\":}"), JSON_ONE_LINE, &a, &v, &e) == ST_INVALID_SYNTAX);
    CHECK(sv_ends(sv_of(e.text), SV("at column 6")));
    CHECK(sv_find(sv_of(e.text), SV("line")) < 0);
    arena_free(&a);
}

static void depth_is_counted_outside_strings(void)
{
    CHECK_INT(json_depth(SV("7")), 0);
    CHECK_INT(json_depth(SV("\"[[[\"")), 0);
    CHECK_INT(json_depth(SV("{}")), 1);
    CHECK_INT(json_depth(SV("[{\"a\":[]},[]]")), 3);
    CHECK_INT(json_depth(SV("{\"\\\"{[\":\"\\\\\",\"b\":[1]}")), 2);
    CHECK_INT(json_depth(SV("]]]{")), 1); /* what is no JSON is at least no trap */
    CHECK_INT(json_depth(SV("\"\\")), 0);
}

static void members_that_are_not_known_are_kept(void)
{
    static const char *const known[] = { "a", "c" };
    struct json              v;

    CHECK(json_parse(SV("{\"a\":1,\"b\":[2.50],\"c\":3,\"d\":null}"), 0, &a, &v, &e) == ST_OK);
    CHECK_SV(json_others(&v, known, COUNT(known), &a), SV("{\"b\":[2.50],\"d\":null}"));
    CHECK(json_parse(SV("{\"a\":1}"), 0, &a, &v, &e) == ST_OK);
    CHECK(!json_others(&v, known, COUNT(known), &a).s);
    CHECK(json_parse(SV("[1]"), 0, &a, &v, &e) == ST_OK);
    CHECK(!json_others(&v, known, COUNT(known), &a).s);
}

static void canonical_text_is_known_without_a_parser(void)
{
    static const char *const yes[] = { "{}",
                                       "[]",
                                       "1",
                                       "\"x\"",
                                       "{\"a\":1,\"b\":{\"c\":[{\"d\":1},[]]}}",
                                       "{\"a\":\"}\\\"{\",\"ab\":null}" };
    static const char *const no[] = { "",
                                      "{\"b\":1,\"a\":2}",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":{\"d\":1,\"c\":2}}",
                                      "[{\"b\":1,\"a\":1}]",
                                      "{\"a\":\"\xff\"}",
                                      "{\"a\\n\":1}",
                                      "{\"a\":1",
                                      "{ \"a\":1}",
                                      "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]" };

    for (size_t i = 0; i < COUNT(yes); i++)
        CHECK(json_is_canonical(sv_of(yes[i])));
    for (size_t i = 0; i < COUNT(no); i++)
        CHECK(!json_is_canonical(sv_of(no[i])));
}

static void bytes_that_are_not_text_become_replacement_characters(void)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    struct jw    w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_klossy(&w, "a", SV("x\xff"));
    jw_klossy(&w, "b", SV("ö"));
    jw_klossy(&w, "c", (struct sv){ 0 });
    jw_close(&w, '}');
    CHECK_SV(sb_sv(&b), SV("{\"a\":\"x\xef\xbf\xbd\",\"b\":\"ö\",\"c\":null}"));
    arena_free(&scratch);
}

TAP_MAIN(T(canonical_text_is_known_without_a_parser),
         T(bytes_that_are_not_text_become_replacement_characters),
         T(members_that_are_not_known_are_kept), T(in_a_line_the_error_names_the_column_alone),
         T(depth_is_counted_outside_strings), T(the_canonical_form_has_sorted_keys_and_no_spaces),
         T(keys_are_sorted_by_bytes_not_by_letters), T(numbers_keep_their_text),
         T(numbers_that_json_does_not_have_are_refused), T(integers_are_read_within_their_range),
         T(escapes_are_read_and_only_the_needed_ones_written), T(a_lone_surrogate_is_kept),
         T(what_ends_a_run_of_plain_bytes_is_found_in_every_place),
         T(bytes_that_look_like_half_a_surrogate_are_not_eaten),
         T(control_characters_and_bad_utf8_are_refused), T(a_key_that_stands_twice_is_refused),
         T(broken_texts_are_refused), T(the_error_names_line_and_column),
         T(depth_has_a_limit_and_not_a_crash), T(order_is_kept_when_asked_for),
         T(lookups_chain_over_what_is_not_there), T(equality_is_by_value),
         T(the_shallow_walk_gives_every_member_raw), T(the_shallow_walk_survives_every_cut),
         T(the_shallow_walk_finds_the_end_of_every_string),
         T(the_writer_puts_commas_and_breaks_where_they_belong),
         T(made_values_write_like_read_ones), T(many_members_are_found_and_sorted), )
