#include "api/schema.h"
#include "tap.h"

struct asked {
    struct sv      thread;
    int64_t        limit;
    struct sv_list tags;
};

static const char *const states[] = { "open", "closed", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME,   offsetof(struct asked, thread), .value = "T", .required = true, .help = "which" },
    { "limit",  PARAM_NUMBER, offsetof(struct asked, limit),  .value = "N", .min = 1, .max = 9, .fallback = "5", .help = "at most" },
    { "tags",   PARAM_LIST,   offsetof(struct asked, tags),   .value = "A,B", .fallback = "a,b\\,c", .help = "some" },
    { 0 },
};
static const struct field item[] = {
    { "id",    FIELD_TEXT, .help = "its name" },
    { "state", FIELD_ENUM, .values = states },
    { "at",    FIELD_TIME, .optional = true },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = item },
    { "next",  FIELD_TEXT, .optional = true, .nullable = true },
    { "words", FIELD_LIST, .optional = true, .help = "some" },
    { "inner", FIELD_OBJECT, .of = item, .optional = true },
    { 0 },
};
/* clang-format on */

static const struct operation op = {
    .name = "try.list",
    .summary = "Try",
    .params = params,
    .params_size = sizeof(struct asked),
    .answer = answer,
};

static struct arena a;
static struct err   e;

static enum status check(const char *text)
{
    struct json doc;

    CHECK(json_parse(sv_of(text), 0, &a, &doc, &e) == ST_OK);
    return fields_check(answer, &doc, &e);
}

static void a_document_that_fits_is_accepted(void)
{
    CHECK(check("{\"items\":[]}") == ST_OK);
    CHECK(
        check("{\"items\":[{\"id\":\"x\",\"state\":\"open\",\"at\":\"2026-11-15T21:36:00.123Z\"}],"
              "\"next\":null,\"words\":[\"a\"],\"inner\":{\"id\":\"y\",\"state\":\"closed\"}}") ==
        ST_OK);
}

static void a_document_that_differs_is_refused_with_the_place(void)
{
    static const char *const wrong[] = {
        "{}",
        "{\"items\":{}}",
        "{\"items\":[{\"id\":\"x\"}]}",
        "{\"items\":[{\"id\":1,\"state\":\"open\"}]}",
        "{\"items\":[{\"id\":\"x\",\"state\":\"ajar\"}]}",
        "{\"items\":[{\"id\":\"x\",\"state\":\"open\",\"at\":5}]}",
        "{\"items\":[],\"more\":1}",
        "{\"items\":[],\"words\":[1]}",
        "{\"items\":[],\"inner\":{\"id\":\"y\"}}",
        "{\"items\":null}",
    };

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(check(wrong[i]) == ST_CORRUPT);
    CHECK(check("{\"items\":[{\"id\":\"x\",\"state\":\"open\"},{\"id\":\"y\"}]}") == ST_CORRUPT);
    CHECK_SV(sv_of(e.text), SV("items[1]: member 'state' is missing"));
}

static void the_schema_says_what_the_tables_say(void)
{
    struct sb b = sb_in(&a, 0);
    struct jw w = jw_in(&b, 0);

    schema_params(&w, &op);
    CHECK_SV(sb_sv(&b),
             SV("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
                "\"properties\":{\"thread\":{\"type\":\"string\",\"description\":\"which\","
                "\"minLength\":1,\"maxLength\":128,\"pattern\":"
                "\"^[^./\\\\\\\\\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]"
                "[^/\\\\\\\\\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$\"},"
                "\"limit\":{\"type\":\"integer\",\"description\":\"at most\",\"minimum\":1,"
                "\"maximum\":9,\"default\":5},"
                "\"tags\":{\"type\":\"array\",\"description\":\"some\",\"items\":"
                "{\"type\":\"string\"},\"default\":[\"a\",\"b,c\"]}},"
                "\"required\":[\"thread\"],\"additionalProperties\":false}"));
    b = sb_in(&a, 0);
    w = jw_in(&b, 0);
    schema_answer(&w, &op);
    struct json doc;
    CHECK(json_parse(sb_sv(&b), 0, &a, &doc, &e) == ST_OK);
    const struct json *items = json_find(json_find(&doc, "properties"), "items");
    CHECK_SV(json_text(items, "type"), SV("array"));
    CHECK_SV(json_text(json_find(items, "items"), "type"), SV("object"));
    CHECK_SV(
        json_text(json_find(json_find(json_find(items, "items"), "properties"), "at"), "format"),
        SV("date-time"));
}

TAP_MAIN(T(a_document_that_fits_is_accepted), T(a_document_that_differs_is_refused_with_the_place),
         T(the_schema_says_what_the_tables_say), )
