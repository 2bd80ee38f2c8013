#include "api/param.h"
#include "tap.h"

struct given {
    bool               flag;
    struct sv          text, name, state;
    int64_t            number, limit;
    struct sv_list     list;
    const struct json *any;
};

static const char *const states[] = { "open", "closed", NULL };

/* clang-format off */
static const struct param table[] = {
    { "flag",   PARAM_FLAG,   offsetof(struct given, flag),   .help = "a flag" },
    { "text",   PARAM_TEXT,   offsetof(struct given, text),   .value = "TEXT", .required = true },
    { "name",   PARAM_NAME,   offsetof(struct given, name),   .value = "T" },
    { "state",  PARAM_ENUM,   offsetof(struct given, state),  .value = "STATE", .values = states, .fallback = "open" },
    { "number", PARAM_NUMBER, offsetof(struct given, number), .value = "N" },
    { "limit",  PARAM_NUMBER, offsetof(struct given, limit),  .value = "N", .min = 1, .max = 9, .fallback = "5" },
    { "list",   PARAM_LIST,   offsetof(struct given, list),   .value = "A,B" },
    { "any",    PARAM_JSON,   offsetof(struct given, any),    .value = "JSON" },
    { 0 },
};
/* clang-format on */

static struct arena a;
static struct err   e;

static struct given *fresh(void)
{
    return params_init(table, sizeof(struct given), &a);
}

static enum status read_text(const char *text, struct given **out)
{
    struct json *doc = ARENA_NEW(&a, struct json, 1);

    *out = fresh();
    CHECK(json_parse(sv_of(text), 0, &a, doc, &e) == ST_OK);
    return params_read(table, doc, *out, &a, &e);
}

static void what_is_not_given_is_absent_or_its_default(void)
{
    struct given *g = fresh();

    CHECK(!g->flag && !g->text.s && !g->list.v && !g->any);
    CHECK_INT(g->number, PARAM_UNSET);
    CHECK_INT(g->limit, 5);
    CHECK_SV(g->state, SV("open"));
}

static void json_and_text_fill_the_same_struct(void)
{
    struct given *j, *t = fresh();

    CHECK(read_text("{\"flag\":true,\"text\":\"x\",\"state\":\"closed\",\"number\":-3,\"list\":["
                    "\"a\",\"b,c\"]}",
                    &j) == ST_OK);
    CHECK(param_set(param_find(table, SV("flag")), t, SV("true"), &a, &e) == ST_OK);
    CHECK(param_set(param_find(table, SV("text")), t, SV("x"), &a, &e) == ST_OK);
    CHECK(param_set(param_find(table, SV("state")), t, SV("closed"), &a, &e) == ST_OK);
    CHECK(param_set(param_find(table, SV("number")), t, SV("-3"), &a, &e) == ST_OK);
    CHECK(param_set(param_find(table, SV("list")), t, SV("a"), &a, &e) == ST_OK);
    CHECK(param_set(param_find(table, SV("list")), t, SV("b\\,c"), &a, &e) == ST_OK);
    CHECK(t->flag == j->flag);
    CHECK_SV(t->text, j->text);
    CHECK_SV(t->state, j->state);
    CHECK_INT(t->number, j->number);
    CHECK_INT(t->list.n, j->list.n);
    for (size_t i = 0; i < t->list.n && i < j->list.n; i++)
        CHECK_SV(t->list.v[i], j->list.v[i]);
}

static void wrong_values_are_refused_with_the_name_of_the_parameter(void)
{
    static const char *const wrong[] = {
        "{\"text\":1}",
        "{\"text\":\"x\",\"flag\":\"yes\"}",
        "{\"text\":\"x\",\"limit\":10}",
        "{\"text\":\"x\",\"limit\":0}",
        "{\"text\":\"x\",\"limit\":1.5}",
        "{\"text\":\"x\",\"state\":\"ajar\"}",
        "{\"text\":\"x\",\"list\":\"a\"}",
        "{\"text\":\"x\",\"list\":[1]}",
        "{\"text\":\"x\",\"name\":\"../x\"}",
        "{\"text\":\"x\",\"limits\":3}",
        "{}",
        "{\"text\":\"  \"}",
        "{\"text\":null}",
        "[]",
    };
    struct given *g;

    for (size_t i = 0; i < COUNT(wrong); i++) {
        e = (struct err){ 0 };
        CHECK(read_text(wrong[i], &g) != ST_OK);
        CHECK(e.text[0]);
    }
    CHECK(read_text("{\"text\":\"x\",\"limits\":3}", &g) == ST_USAGE);
    CHECK_SV(sv_of(e.hint), SV("did you mean limit?"));
    CHECK(read_text("{\"text\":\"x\",\"state\":\"ajar\"}", &g) == ST_USAGE);
    CHECK_SV(sv_of(e.hint), SV("state is open or closed"));
}

static void null_is_absent(void)
{
    struct given *g;

    CHECK(read_text("{\"text\":\"x\",\"number\":null,\"list\":null}", &g) == ST_OK);
    CHECK_INT(g->number, PARAM_UNSET);
    CHECK(!g->list.v);
}

TAP_MAIN(T(what_is_not_given_is_absent_or_its_default), T(json_and_text_fill_the_same_struct),
         T(wrong_values_are_refused_with_the_name_of_the_parameter), T(null_is_absent), )
