#include "front/cli/command.h"
#include "tap.h"

struct opts {
    bool      flag, other;
    struct sv text, list;
    int64_t   number, unset;
};

/* clang-format off */
static const struct opt rows[] = {
    { OPT_FLAG,   "flag",   NULL,  "a flag",   offsetof(struct opts, flag),   'f' },
    { OPT_FLAG,   "other",  NULL,  "a flag",   offsetof(struct opts, other),  0 },
    { OPT_TEXT,   "text",   "T",   "a text",   offsetof(struct opts, text),   't' },
    { OPT_LIST,   "list",   "A,B", "a list",   offsetof(struct opts, list),   0 },
    { OPT_NUMBER, "number", "N",   "a number", offsetof(struct opts, number), 'n' },
    { OPT_NUMBER, "unset",  "N",   "a number", offsetof(struct opts, unset),  0 },
    { 0 },
};
/* clang-format on */

static const struct command row = {
    .name = "try",
    .synopsis = "[WORD...]",
    .summary = "Try",
    .opts = rows,
    .opts_size = sizeof(struct opts),
    .max_args = 3,
};

static struct arena       a;
static struct app         app;
static struct err         e;
static struct cli_globals g;

/* Parse the words up to NULL; the options struct, or NULL and e is filled. */
#define PARSE(...) parse((char *[]){ __VA_ARGS__, NULL })
static const struct opts *parse(char **words)
{
    size_t n = 0;
    void  *opts;

    while (words[n])
        n++;
    app = (struct app){ .a = &a, .ws.root_fd = -1 };
    g = (struct cli_globals){ 0 };
    return command_parse(&app, &row, words, n, &g, &opts, &e) ? NULL : opts;
}

static char *word(const char *text)
{
    return (char *)sv_cstr(sv_of(text), &a);
}
#define W(text) word(text)

static void what_is_not_given_is_absent(void)
{
    const struct opts *o = PARSE(W("arg"));

    CHECK(o && !o->flag && !o->text.s && !o->list.s);
    CHECK_INT(o->number, OPT_UNSET);
    CHECK_INT(app.n_args, 1);
    CHECK_SV(app_arg(&app, 0), SV("arg"));
    CHECK_SV(app_arg(&app, 1), SV(""));
}

static void options_stand_anywhere_in_either_form(void)
{
    const struct opts *o =
        PARSE(W("--flag"), W("one"), W("--text=a=b"), W("--number"), W("-7"), W("two"));

    CHECK(o && o->flag);
    CHECK_SV(o->text, SV("a=b"));
    CHECK_INT(o->number, -7);
    CHECK_INT(app.n_args, 2);
    o = PARSE(W("-f"), W("-t"), W("-x"), W("-n"), W("9223372036854775807"));
    CHECK(o && o->flag);
    CHECK_SV(o->text, SV("-x")); /* a value may look like an option */
    CHECK_INT(o->number, INT64_MAX);
}

static void an_empty_value_is_given_and_not_absent(void)
{
    const struct opts *o = PARSE(W("--text="), W("--list"), W(""));

    CHECK(o && o->text.s && o->text.n == 0);
    CHECK(o->list.s && o->list.n == 0);
}

static void given_twice_the_last_wins_and_lists_join(void)
{
    const struct opts *o =
        PARSE(W("--text"), W("a"), W("--text"), W("b"), W("--list"), W("a,b"), W("--list=c"),
              W("--flag"), W("--no-flag"), W("--no-other"), W("--other"));

    CHECK(o != NULL);
    CHECK_SV(o->text, SV("b"));
    CHECK_SV(o->list, SV("a,b,c"));
    CHECK(!o->flag && o->other);
}

static void two_dashes_end_the_options(void)
{
    const struct opts *o = PARSE(W("--"), W("--flag"), W("-"), W("--"));

    CHECK(o && !o->flag);
    CHECK_INT(app.n_args, 3);
    CHECK_SV(app_arg(&app, 0), SV("--flag"));
    CHECK_SV(app_arg(&app, 1), SV("-"));
    CHECK_SV(app_arg(&app, 2), SV("--"));
    CHECK(PARSE(W("-")) && app.n_args == 1); /* one dash alone is an argument */
}

static void options_of_every_command_are_known(void)
{
    CHECK(PARSE(W("--json"), W("--as"), W("me"), W("--root=/x"), W("-h")) != NULL);
    CHECK(g.json && g.help);
    CHECK_SV(g.as, SV("me"));
    CHECK_SV(g.root, SV("/x"));
}

static void misuse_is_refused_with_what_it_was(void)
{
    static const struct {
        const char *first, *second, *said;
    } cases[] = {
        { "--nope", "x", "--nope" },
        { "--no-text", "x", "--no-text" }, /* only a flag can be cleared */
        { "-z", "x", "-z" },
        { "-ft", "x", "-ft" }, /* letters do not join */
        { "--flag=1", "x", "takes no value" },
        { "--number", "1.5", "whole number" },
        { "--number", "", "whole number" },
        { "--number=9223372036854775808", "x", "whole number" },
        { "x", "--text", "needs a value" },
        { "x", "-n", "needs a value" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(PARSE(W(cases[i].first), W(cases[i].second)) == NULL);
        CHECK_INT(e.code, ST_USAGE);
        if (!strstr(e.text, cases[i].said))
            printf("# %s\n", e.text);
        CHECK(strstr(e.text, cases[i].said) != NULL);
    }
}

static void the_number_of_arguments_is_checked_unless_help_is_asked_for(void)
{
    CHECK(PARSE(W("1"), W("2"), W("3")) != NULL);
    CHECK(PARSE(W("1"), W("2"), W("3"), W("4")) == NULL);
    CHECK(strstr(e.hint, "usage: heddle try [WORD...]") != NULL);
    CHECK(PARSE(W("1"), W("2"), W("3"), W("4"), W("--help")) != NULL);
}

static void two_words_are_one_command(void)
{
    const struct command *c;
    size_t                used;
    char                 *words[] = { W("config"), W("schema"), W("x") };

    CHECK_INT(command_find(words, 3, &a, &c, &used, &e), ST_OK);
    CHECK_INT(used, 2);
    CHECK_SV(sv_of(c->name), SV("config schema"));
    CHECK_INT(command_find(words, 1, &a, &c, &used, &e), ST_USAGE);
    CHECK_INT(command_find(words, 0, &a, &c, &used, &e), ST_USAGE);
}

static void the_table_is_well_formed(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = command_complete(commands[i], &a);
        size_t                blanks = 0;
        for (const char *p = c->name; *p; p++)
            blanks += *p == ' ';
        bool good = c->name[0] && blanks <= 1 && c->synopsis && c->summary && c->run &&
                    c->summary[0] && c->summary[strlen(c->summary) - 1] != '.' &&
                    c->min_args <= c->max_args && (!c->opts || !c->opts->type || c->opts_size > 0);
        if (!good)
            printf("# row of `%s`\n", c->name);
        CHECK(good);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(commands[k]->name, c->name) != 0);
        for (const struct opt *o = c->opts; o && o->type; o++) {
            CHECK(o->name && o->help && o->offset < c->opts_size);
            CHECK((o->value == NULL) == (o->type == OPT_FLAG));
            for (const struct opt *global = global_opts; global->type; global++)
                CHECK(strcmp(global->name, o->name) != 0);
        }
    }
}

TAP_MAIN(T(what_is_not_given_is_absent), T(options_stand_anywhere_in_either_form),
         T(an_empty_value_is_given_and_not_absent), T(given_twice_the_last_wins_and_lists_join),
         T(two_dashes_end_the_options), T(options_of_every_command_are_known),
         T(misuse_is_refused_with_what_it_was),
         T(the_number_of_arguments_is_checked_unless_help_is_asked_for),
         T(two_words_are_one_command), T(the_table_is_well_formed), )
