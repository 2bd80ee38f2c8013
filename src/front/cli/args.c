/* From words to a command's options struct. */
#include "base/vec.h"
#include "front/cli/help.h"

#include <string.h>

/* clang-format off */
const struct opt global_opts[] = {
    { OPT_FLAG, "json", NULL,  "print JSON, errors too",                             offsetof(struct cli_globals, json), 0 },
    { OPT_TEXT, "root", "DIR", "start looking for the workspace in DIR",             offsetof(struct cli_globals, root), 0 },
    { OPT_TEXT, "as",   "WHO", "who does this; recorded in the log (HEDDLE_ACTOR)",  offsetof(struct cli_globals, as),   0 },
    { OPT_TEXT, "color", "WHEN", "colours: auto (on a terminal; NO_COLOR, CLICOLOR_FORCE), always or never", offsetof(struct cli_globals, color), 0 },
    { OPT_FLAG, "via-server", NULL, "ask the server that runs for the workspace, where that is possible", offsetof(struct cli_globals, via_server), 0 },
    { OPT_FLAG, "help", NULL,  "say how the command is used",                        offsetof(struct cli_globals, help), 'h' },
    { 0 },
};
/* clang-format on */

/* Is this the first word of a two-word command? */
static bool is_family_word(struct sv word)
{
    for (size_t i = 0; commands[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (c.found && sv_eq(c.head, word))
            return true;
    }
    return false;
}

/* The error for the first word of a two-word command alone. */
static enum status half_a_command(struct sv word, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    forms = sb_in(&scratch, 0);

    for (size_t i = 0; commands[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (c.found && !commands[i]->hidden && sv_eq(c.head, word))
            sb_addf(&forms, "%s" SV_FMT, sb_sv(&forms).n ? ", " : "", SV_ARG(c.tail));
    }
    struct sv list = sb_sv(&forms);
    err_set(e, ST_USAGE, "`heddle " SV_FMT "` is followed by %s" SV_FMT, SV_ARG(word),
            sv_has(list, ',') ? "one of: " : "", SV_ARG(list));
    err_hint(e, "`heddle help " SH_FMT "` shows its forms", SV_ARG(word));
    arena_free(&scratch);
    return e->code;
}

/* The largest distance for a suggestion: smaller for short words, because nearly every word is
 * close to them. */
static size_t near_enough(struct sv word)
{
    return word.n < 3 ? 0 : word.n < 5 ? 1 : 2;
}

struct guess {
    const char *name; /* a command; NULL: none is similar */
    size_t      distance;
    bool        family; /* the match is for its first word only */
};

static void consider(struct guess *g, const char *name, struct sv part, struct sv word, bool family)
{
    size_t d = sv_distance(part, word);

    if (d <= near_enough(word) && (!g->name || d < g->distance))
        *g = (struct guess){ name, d, family };
}

/* The command somebody seems to have meant: by its name, else by its first or its second word. */
static struct guess guess_command(struct sv word, struct sv two, bool is_family)
{
    struct guess g = { 0 };

    for (size_t i = 0; commands[i]; i++) {
        const char *name = commands[i]->name;
        if (commands[i]->hidden || (is_family && !sv_eq(sv_cut(sv_of(name), ' ').head, word)))
            continue;
        consider(&g, name, sv_of(name), two, false);
        consider(&g, name, sv_of(name), word, false);
    }
    for (size_t i = 0; commands[i] && !is_family; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (!c.found || commands[i]->hidden)
            continue;
        consider(&g, commands[i]->name, c.head, word, true);
        consider(&g, commands[i]->name, c.tail, word, false);
    }
    return g;
}

static enum status option_first(struct sv word, struct err *e)
{
    err_set(e, ST_USAGE, "unknown command '" SV_FMT "'", SV_ARG(word));
    return sv_is(word, "-v") || sv_is(word, "-V")
               ? err_hint(e, "`heddle version` prints the version")
               : err_hint(e, "options of a command stand behind its name; `heddle help` lists the "
                             "commands");
}

static enum status unknown_command(struct sv word, struct sv two, struct err *e)
{
    bool is_family = is_family_word(word); /* then only its second word is wrong */

    if (is_family && (two.n == word.n || two.s[word.n + 1] == '-'))
        return half_a_command(word, e);
    if (sv_starts(word, SV("-")) && word.n > 1)
        return option_first(word, e);
    struct guess g = guess_command(word, two, is_family);
    err_set(e, ST_USAGE, "unknown command '" SV_FMT "'", SV_ARG(is_family ? two : word));
    if (g.family)
        return err_hint(
            e, "did you mean `heddle " SV_FMT "`? `heddle help " SV_FMT "` shows its forms",
            SV_ARG(sv_cut(sv_of(g.name), ' ').head), SV_ARG(sv_cut(sv_of(g.name), ' ').head));
    if (g.name)
        return err_hint(e, "did you mean `heddle %s`?", g.name);
    if (is_family)
        return err_hint(e, "`heddle help " SH_FMT "` shows its forms", SV_ARG(word));
    return err_hint(e, "`heddle help` lists the commands");
}

enum status command_find(char **args, size_t n, struct arena *a, const struct command **out,
                         size_t *used, struct err *e)
{
    const struct command *row = NULL;
    struct sb             b = sb_in(a, 0);
    struct sv             word = sv_of(n ? args[0] : ""), two = word;

    if (n > 1) {
        sb_addf(&b, "%s %s", args[0], args[1]);
        two = sb_sv(&b);
    }
    for (size_t i = 0; commands[i]; i++) {
        bool both = sv_is(two, commands[i]->name) && n > 1;
        if (both || (!row && sv_is(word, commands[i]->name))) {
            row = commands[i];
            *used = both ? 2 : 1;
        }
    }
    *out = row ? command_complete(row, a) : NULL;
    return row ? ST_OK : unknown_command(word, two, e);
}

static const struct opt *opt_named(const struct opt *opts, struct sv name)
{
    for (; opts && opts->type; opts++)
        if (sv_is(name, opts->name))
            return opts;
    return NULL;
}

static const struct opt *opt_lettered(const struct opt *opts, char letter)
{
    for (; opts && opts->type; opts++)
        if (opts->letter == letter)
            return opts;
    return NULL;
}

size_t command_options_before(char **words, size_t n)
{
    size_t at = 0;

    while (at < n && words[at][0] == '-' && words[at][1]) {
        bool              lettered = words[at][1] != '-';
        struct sv_cut     cut = sv_cut(sv_skip(sv_of(words[at]), 2), '=');
        const struct opt *o =
            lettered ? opt_lettered(global_opts, words[at][1]) : opt_named(global_opts, cut.head);
        if (!o)
            break;
        at += o->type != OPT_FLAG && !cut.found ? 2 : 1;
    }
    return at < n ? at : n;
}

static enum status set_value(const struct command *c, const struct opt *o, void *into,
                             struct sv value, struct arena *a, struct err *e)
{
    char *field = (char *)into + o->offset;

    if (o->type == OPT_PARAM)
        return command_set_param(c, o, into, value, a, e);
    if (o->type == OPT_NUMBER && !sv_to_int(value, (int64_t *)(void *)field))
        return err_set(e, ST_USAGE, "--%s takes a whole number, not '" SV_FMT "'", o->name,
                       SV_ARG(value));
    if (o->type == OPT_TEXT)
        *(struct sv *)(void *)field = value;
    if (o->type == OPT_LIST || o->type == OPT_LINES) {
        struct sv *list = (struct sv *)(void *)field;
        struct sb  b = sb_in(a, 0);
        sb_add(&b, *list);
        if (list->n)
            sb_addc(&b, o->type == OPT_LIST ? ',' : '\n');
        sb_add(&b, value);
        *list = sb_sv(&b);
    }
    return ST_OK;
}

struct parse {
    struct app           *app;
    const struct command *c;
    struct cli_globals   *g;
    void                 *opts;
    char                **args;
    size_t                n, at;
    struct err           *e;
};

/* The row of the option `name`, and the struct that it fills. */
static const struct opt *find_opt(const struct parse *p, struct sv name, void **into)
{
    const struct opt *o = opt_named(p->c->opts, name);

    *into = o ? p->opts : p->g;
    return o ? o : opt_named(global_opts, name);
}

static enum status need_value(struct parse *p, const struct opt *o, struct sv *value)
{
    if (value->s)
        return ST_OK;
    if (p->at >= p->n) {
        err_set(p->e, ST_USAGE, "--%s needs a value", o->name);
        return err_hint(p->e, "--%s %s", o->name, o->value);
    }
    *value = sv_of(p->args[p->at++]);
    return ST_OK;
}

/* The option somebody seems to have meant: one that starts with the word, or differs from it by one
 * or two letters. */
static const char *nearest_opt(const struct opt *opts, struct sv name)
{
    for (; name.n > 1 && opts && opts->type; opts++) {
        struct sv other = sv_of(opts->name);
        size_t    d = sv_distance(name, other);
        if (sv_starts(other, name) || (d == 1 && other.n > 2) || (d == 2 && other.n > 4))
            return opts->name;
    }
    return NULL;
}

static enum status unknown_opt(const struct parse *p, struct sv word)
{
    struct sv   name = sv_cut(sv_skip(word, 2), '=').head;
    const char *near = nearest_opt(p->c->opts, name);

    near = near ? near : nearest_opt(global_opts, name);
    err_set(p->e, ST_USAGE, "`heddle %s` has no option '" SV_FMT "'", p->c->name, SV_ARG(word));
    return near ? err_hint(p->e, "did you mean --%s? `heddle help %s` lists them", near, p->c->name)
                : err_hint(p->e, "`heddle help %s` lists them", p->c->name);
}

static enum status parse_opt(struct parse *p, struct sv word)
{
    bool              lettered = word.s[1] != '-';
    struct sv_cut     cut = sv_cut(sv_skip(word, 2), '=');
    struct sv         name = cut.head, value = cut.found ? cut.tail : (struct sv){ 0 };
    void             *into = p->opts;
    const struct opt *o;
    bool              yes = true;

    if (lettered) {
        o = word.n == 2 ? opt_lettered(p->c->opts, word.s[1]) : NULL;
        if (!o && word.n == 2 && (o = opt_lettered(global_opts, word.s[1])))
            into = p->g;
        value = (struct sv){ 0 };
    } else {
        o = find_opt(p, name, &into);
        if (!o && sv_starts(name, SV("no-"))) {
            o = find_opt(p, sv_skip(name, 3), &into);
            yes = false;
        }
    }
    if (!o || (!yes && o->type != OPT_FLAG))
        return unknown_opt(p, word);
    if (o->type == OPT_FLAG) {
        if (cut.found && !lettered)
            return err_set(p->e, ST_USAGE, "--%s takes no value", o->name);
        *(bool *)((char *)into + o->offset) = yes;
        return ST_OK;
    }
    if (need_value(p, o, &value))
        return p->e->code;
    return set_value(p->c, o, into, value, p->app->a, p->e);
}

static enum status hint_usage(const struct command *c, struct err *e)
{
    return err_hint(e, "usage: heddle %s%s%s", c->name, c->synopsis[0] ? " " : "", c->synopsis);
}

enum status command_need(const char *name, const char *what, struct sv value, struct err *e)
{
    struct arena scratch = { 0 };
    size_t       i = 0;

    if (sv_trim(value).n)
        return ST_OK;
    err_set(e, ST_USAGE, "`heddle %s` needs %s", name, what);
    while (commands[i] && strcmp(commands[i]->name, name) != 0)
        i++;
    if (commands[i])
        hint_usage(command_complete(commands[i], &scratch), e);
    arena_free(&scratch);
    return err_code(e);
}

static enum status check_arg_count(const struct parse *p, char *const *rest, size_t n)
{
    struct sv missing = n < p->c->min_args ? help_argument(p->c, n) : (struct sv){ 0 };

    if (n >= p->c->min_args && n <= p->c->max_args)
        return ST_OK;
    if (n > p->c->max_args)
        err_set(p->e, ST_USAGE, "`heddle %s` does not take '%s'", p->c->name, rest[p->c->max_args]);
    else if (sv_is(missing, "T"))
        err_set(p->e, ST_USAGE, "`heddle %s` needs a thread", p->c->name);
    else
        err_set(p->e, ST_USAGE, "`heddle %s` needs " SV_FMT, p->c->name,
                SV_ARG(missing.n ? missing : SV("more arguments")));
    return hint_usage(p->c, p->e);
}

static void *options_init(const struct command *c, struct arena *a)
{
    char *into = c->op ? params_init(c->op->params, c->opts_size, a)
                       : arena_alloc(a, 1, c->opts_size ? c->opts_size : 1, _Alignof(max_align_t));

    for (const struct opt *o = c->opts; o && o->type; o++)
        if (o->type == OPT_NUMBER)
            *(int64_t *)(void *)(into + o->offset) = OPT_UNSET;
    return into;
}

enum status command_parse(struct app *app, const struct command *c, char **args, size_t n,
                          struct cli_globals *g, void **opts, struct err *e)
{
    struct parse p = { app, c, g, NULL, args, n, 0, e };
    VEC(char *) rest = { 0 };
    bool only_args = false;

    p.opts = options_init(c, app->a);
    while (p.at < n) {
        char *word = args[p.at++];
        if (only_args || word[0] != '-' || !word[1])
            *vec_push(&rest, app->a) = word;
        else if (strcmp(word, "--") == 0)
            only_args = true;
        else if (parse_opt(&p, sv_of(word)))
            return err_code(e);
    }
    app->args = rest.v;
    app->n_args = rest.n;
    *opts = p.opts;
    return g->help ? ST_OK : check_arg_count(&p, rest.v, rest.n);
}
