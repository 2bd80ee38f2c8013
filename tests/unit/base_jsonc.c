/* Changing JSON with comments: what is put in, what stays, and that it can be taken out again. */
#include "base/jsonc.h"
#include "tap.h"

static struct arena a;
static struct err   e;

enum { PATH_MAX_PARTS = 8 };

/* "a.b.c" */
static size_t path_of(const char *dotted, struct sv *path)
{
    size_t n = 0;

    for (struct sv_cut c = { .tail = sv_of(dotted), .found = true };
         c.found && n < PATH_MAX_PARTS;) {
        c = sv_cut(c.tail, '.');
        path[n++] = c.head;
    }
    return n;
}

static struct sv set(const char *text, const char *dotted, const char *value)
{
    struct sv path[PATH_MAX_PARTS], out = { 0 };
    size_t    n = path_of(dotted, path);

    if (jsonc_set(sv_of(text), path, n, sv_of(value), &a, &out, &e))
        FAIL(e.text);
    return out;
}

static struct sv add(const char *text, const char *dotted, const char *value)
{
    struct sv path[PATH_MAX_PARTS], out = { 0 };
    size_t    n = path_of(dotted, path);

    if (jsonc_add(sv_of(text), path, n, sv_of(value), &a, &out, &e))
        FAIL(e.text);
    return out;
}

static struct sv taken(struct sv text, const char *dotted)
{
    struct sv path[PATH_MAX_PARTS], out = { 0 };
    size_t    n = path_of(dotted, path);

    if (jsonc_remove(text, path, n, &a, &out, &e))
        FAIL(e.text);
    return out;
}

static void a_member_is_put_in_as_its_neighbours_are_written(void)
{
    CHECK_SV(set("{\n  \"a\": 1\n}\n", "b", "{\"c\":[2]}"),
             SV("{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [2]\n  }\n}\n"));
    CHECK_SV(set("{\n\t\"a\": {\n\t\t\"x\": 1\n\t}\n}", "a.y", "{\"z\":0}"),
             SV("{\n\t\"a\": {\n\t\t\"x\": 1,\n\t\t\"y\": {\n\t\t\t\"z\": 0\n\t\t}\n\t}\n}"));
    CHECK_SV(set("{\"a\":1}", "b", "[1,2]"), SV("{\"a\":1, \"b\": [1, 2]}"));
    CHECK_SV(set("", "b", "true"), SV("{\n  \"b\": true\n}\n"));
    CHECK_SV(set("{}", "a.b", "1"), SV("{\n  \"a\": {\n    \"b\": 1\n  }\n}"));
    CHECK_SV(set("{\n    \"a\": 1\n}", "b", "{\"c\":1}"),
             SV("{\n    \"a\": 1,\n    \"b\": {\n        \"c\": 1\n    }\n}"));
}

static void a_value_that_is_there_is_replaced_and_one_that_is_right_stays(void)
{
    CHECK_SV(set("{\n  \"a\": 1, // one\n  \"b\": 2\n}", "a", "3"),
             SV("{\n  \"a\": 3, // one\n  \"b\": 2\n}"));
    CHECK_SV(set("{ \"a\": { \"y\":2 , \"x\":1 } }", "a", "{\"x\":1,\"y\":2}"),
             SV("{ \"a\": { \"y\":2 , \"x\":1 } }"));
}

static void comments_and_commas_stay_where_they_are(void)
{
    CHECK_SV(set("// mine\n{\n  \"a\": 1 // one\n}\n", "b", "2"),
             SV("// mine\n{\n  \"a\": 1, // one\n  \"b\": 2\n}\n"));
    CHECK_SV(set("{\n  \"a\": 1, // one\n  // nothing yet\n}\n", "b", "2"),
             SV("{\n  \"a\": 1, // one\n  \"b\": 2,\n  // nothing yet\n}\n"));
    CHECK_SV(set("{\n  /* { \"b\": 1 } */\n}", "b", "2"),
             SV("{\n  /* { \"b\": 1 } */\n  \"b\": 2\n}"));
    CHECK_SV(set("{\"u\":\"http://x/*y*/\"}", "b", "2"), SV("{\"u\":\"http://x/*y*/\", \"b\": 2}"));
}

static void an_item_is_put_behind_the_others(void)
{
    CHECK_SV(add("{\n  \"l\": [\n    \"x\"\n  ]\n}", "l", "\"y\""),
             SV("{\n  \"l\": [\n    \"x\",\n    \"y\"\n  ]\n}"));
    CHECK_SV(add("{\"l\":[1,]}", "l", "2"), SV("{\"l\":[1, 2,]}"));
    CHECK_SV(add("{\n  \"l\": []\n}", "l", "{\"k\":1}"),
             SV("{\n  \"l\": [\n    {\n      \"k\": 1\n    }\n  ]\n}"));
    CHECK_SV(add("{}", "p.l", "1"), SV("{\n  \"p\": {\n    \"l\": [1]\n  }\n}"));
}

static void what_was_put_in_is_taken_out_to_the_same_bytes(void)
{
    static const char *const texts[] = {
        "{\n  \"a\": 1\n}\n",
        "{\"a\":1}",
        "{ \"a\" : [ 1 , 2 ] , \"z\" : { } }",
        "// c\n{\n\t\"a\": 1, // one\n\t\"z\": 2 // two\n}\n\n",
        "{\n  \"a\": 1, /* x */ \"z\": 2\n  /* end */\n}",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "{\r\n  \"a\": 1 // one\r\n}\r\n",
        "{\n  \"o\": {\n    \"p\": 1\n  }\n}",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK_SV(taken(set(texts[i], "new", "{\"k\":[1,{\"m\":null}]}"), "new"), sv_of(texts[i]));
        CHECK_SV(taken(set(texts[i], "new", "7"), "new"), sv_of(texts[i]));
    }
    CHECK_SV(taken(set(texts[7], "o.new", "7"), "o.new"), sv_of(texts[7]));
    CHECK_SV(taken(SV("{\"a\":1}"), "b"), SV("{\"a\":1}"));
    CHECK_SV(taken(SV("{\"a\":1}"), "a.b.c"), SV("{\"a\":1}"));
}

static void the_first_and_the_middle_one_go_with_one_comma(void)
{
    CHECK_SV(taken(SV("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}"), "a"),
             SV("{\n  \"b\": 2,\n  \"c\": 3\n}"));
    CHECK_SV(taken(SV("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}"), "b"),
             SV("{\n  \"a\": 1,\n  \"c\": 3\n}"));
    CHECK_SV(taken(SV("{\n  \"a\": 1,\n  \"b\": 2,\n}"), "b"), SV("{\n  \"a\": 1,\n}"));
    CHECK_SV(taken(SV("{\n  \"a\": 1\n}"), "a"), SV("{}"));
}

static bool is_even(void *ctx, const struct json *item)
{
    int64_t n;

    (void)ctx;
    return json_int(item, &n) && n % 2 == 0;
}

static void items_that_are_wanted_go_and_the_others_stay(void)
{
    struct sv path[1] = { SV("l") }, deep[3] = { SV("l"), SV("1"), SV("m") }, out;

    CHECK(jsonc_drop(SV("{\"l\":[{},{\"m\":[1, 2]}]}"), deep, 3, is_even, NULL, &a, &out, &e) ==
          ST_OK);
    CHECK_SV(out, SV("{\"l\":[{},{\"m\":[1]}]}"));
    deep[1] = SV("2");
    CHECK(jsonc_drop(SV("{\"l\":[{},{\"m\":[2]}]}"), deep, 3, is_even, NULL, &a, &out, &e) ==
          ST_OK);
    CHECK_SV(out, SV("{\"l\":[{},{\"m\":[2]}]}"));
    CHECK(jsonc_drop(SV("{\"l\":[2, 1,4 ,3, 6]}"), path, 1, is_even, NULL, &a, &out, &e) == ST_OK);
    CHECK_SV(out, SV("{\"l\":[1, 3]}"));
    CHECK(jsonc_drop(SV("{\"l\":[2]}"), path, 1, is_even, NULL, &a, &out, &e) == ST_OK);
    CHECK_SV(out, SV("{\"l\":[]}"));
    CHECK(jsonc_drop(SV("{\"l\":7}"), path, 1, is_even, NULL, &a, &out, &e) == ST_OK);
    CHECK_SV(out, SV("{\"l\":7}"));
}

static void what_is_not_such_a_text_is_left_alone(void)
{
    static const char *const wrong[] = {
        "[1]", "{",        "{\"a\" 1}", "{\"a\":1,,}", "nope", "{\"a\":1} x", "{\"a\":1,\"a\":2}",
        "{/*", "{\"a\":\""
    };
    struct sv path[1] = { SV("b") }, out;

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(jsonc_set(sv_of(wrong[i]), path, 1, SV("1"), &a, &out, &e) == ST_INVALID_SYNTAX);
    struct sv deep[2] = { SV("a"), SV("b") };
    CHECK(jsonc_set(SV("{\"a\":1}"), deep, 2, SV("1"), &a, &out, &e) == ST_INVALID_SYNTAX);
    CHECK(jsonc_add(SV("{\"b\":1}"), path, 1, SV("1"), &a, &out, &e) == ST_INVALID_SYNTAX);
    arena_free(&a);
}

TAP_MAIN(T(a_member_is_put_in_as_its_neighbours_are_written),
         T(a_value_that_is_there_is_replaced_and_one_that_is_right_stays),
         T(comments_and_commas_stay_where_they_are), T(an_item_is_put_behind_the_others),
         T(what_was_put_in_is_taken_out_to_the_same_bytes),
         T(the_first_and_the_middle_one_go_with_one_comma),
         T(items_that_are_wanted_go_and_the_others_stay),
         T(what_is_not_such_a_text_is_left_alone), )
