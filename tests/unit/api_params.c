#include "api/param.h"
#include "tap.h"

struct given {
    bool               flag;
    struct sv          text, name, state;
    int64_t            number, limit;
    struct sv_list     list;
    struct number_list seqs;
    const struct json *any;
    struct sv          share;
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
    { "seqs",   PARAM_NUMBERS, offsetof(struct given, seqs),  .value = "SEQ", .min = 0, .max = 99 },
    { "share",  PARAM_DECIMAL, offsetof(struct given, share), .value = "X", .min = 0, .max = 1 },
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
    CHECK(!param_is_given(param_find(table, SV("list")), t));
    CHECK(param_set(param_find(table, SV("list")), t, SV(" a , ,"), &a, &e) == ST_OK);
    CHECK(param_is_given(param_find(table, SV("list")), t));
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
        "{\"text\":\"x\",\"seqs\":1}",
        "{\"text\":\"x\",\"seqs\":[\"1\"]}",
        "{\"text\":\"x\",\"seqs\":[1,-1]}",
        "{\"text\":\"x\",\"seqs\":[1.5]}",
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

static void blank_text_and_empty_lists_are_there_when_a_row_allows_it(void)
{
    static const char *const  kinds[] = { "human", "model", NULL };
    static const struct param own[] = {
        { "text", PARAM_TEXT, offsetof(struct given, text), .required = true, .blank = true },
        { "list", PARAM_LIST, offsetof(struct given, list), .help = "l" },
        { "state", PARAM_ENUM, offsetof(struct given, state), .values = kinds,
          .refusal = "must be human or model" },
        { "thread", PARAM_NAME, offsetof(struct given, name), .help = "t" },
        { 0 },
    };
    struct given *g = params_init(own, sizeof *g, &a);

    CHECK(params_check(own, g, &e) == ST_USAGE);
    CHECK(param_set(&own[0], g, SV("  "), &a, &e) == ST_OK);
    CHECK(params_check(own, g, &e) == ST_OK);
    CHECK(param_set(&own[1], g, SV(""), &a, &e) == ST_OK);
    CHECK(g->list.v && g->list.n == 0);
    CHECK(param_set(&own[2], g, SV("robot"), &a, &e) == ST_USAGE);
    CHECK_SV(sv_of(e.text), SV("state must be human or model"));
    CHECK(param_set(&own[3], g, SV("../x"), &a, &e) == ST_INVALID_SYNTAX);
    CHECK_SV(sv_of(e.text), SV("thread id '../x' is not allowed"));
}

static void numbers_come_one_by_one_or_as_a_list(void)
{
    const struct param *p = param_find(table, SV("seqs"));
    struct given       *j, *t = fresh();

    CHECK(!t->seqs.v && !param_is_given(p, t));
    CHECK(read_text("{\"text\":\"x\",\"seqs\":[3,0,99]}", &j) == ST_OK);
    CHECK(param_set(p, t, SV("3"), &a, &e) == ST_OK);
    CHECK(param_set(p, t, SV("0,99"), &a, &e) == ST_OK);
    CHECK_INT(t->seqs.n, 3);
    for (size_t i = 0; i < 3 && j->seqs.n == 3; i++)
        CHECK_INT(t->seqs.v[i], j->seqs.v[i]);
    CHECK(param_set(p, t, SV("100"), &a, &e) == ST_USAGE);
    CHECK(param_set(p, t, SV("1,x"), &a, &e) == ST_USAGE);
    CHECK(param_set(p, t, SV(""), &a, &e) == ST_USAGE);
}

static void a_decimal_is_kept_as_it_was_written(void)
{
    static const char *const wrong[] = {
        "", "x", "1.01", "-0.1", ".5", "1,0", "nan", "true", "[1]"
    };
    const struct param *p = param_find(table, SV("share"));
    struct given       *j, *t = fresh();

    CHECK(!t->share.s && !param_is_given(p, t));
    CHECK(read_text("{\"text\":\"x\",\"share\":0.70}", &j) == ST_OK);
    CHECK(param_set(p, t, SV("0.70"), &a, &e) == ST_OK);
    CHECK_SV(j->share, SV("0.70"));
    CHECK_SV(t->share, j->share);
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(param_set(p, t, sv_of(wrong[i]), &a, &e) == ST_USAGE);
    CHECK(read_text("{\"text\":\"x\",\"share\":\"0.5\"}", &j) == ST_USAGE);
    CHECK(read_text("{\"text\":\"x\",\"share\":2}", &j) == ST_USAGE);
}

static void items_of_a_list_may_hold_commas(void)
{
    static const struct param whole = { "list", PARAM_LIST, offsetof(struct given, list),
                                        .whole = true };
    struct given              g = { 0 };

    CHECK(param_set(&whole, &g, SV("*.{c,h}"), &a, &e) == ST_OK);
    CHECK(param_set(&whole, &g, SV("a\\,b"), &a, &e) == ST_OK);
    CHECK_INT(g.list.n, 2);
    CHECK(sv_is(g.list.v[0], "*.{c,h}") && sv_is(g.list.v[1], "a\\,b"));
}

TAP_MAIN(T(a_decimal_is_kept_as_it_was_written), T(numbers_come_one_by_one_or_as_a_list),
         T(items_of_a_list_may_hold_commas),
         T(blank_text_and_empty_lists_are_there_when_a_row_allows_it),
         T(what_is_not_given_is_absent_or_its_default), T(json_and_text_fill_the_same_struct),
         T(wrong_values_are_refused_with_the_name_of_the_parameter), T(null_is_absent), )
