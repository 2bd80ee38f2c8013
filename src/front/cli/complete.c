/* `_complete -- WORDS… CURRENT`: what the scripts of `completion` offer for the last word.
 *
 * All shells ask here, so that they offer the same: a candidate a line, with what it is behind a
 * tab. A line ":files" or ":dirs" asks for the shell's own completion of paths. Everything comes
 * from the tables of commands and operations, and names from the operation name.list. Errors are
 * never printed, because they would appear while somebody types. */
#include "front/cli/complete.h"

#include "api/workspace_open.h"
#include "base/vec.h"
#include "front/cli/help.h"

#include <string.h>

enum kind {
    KIND_TEXT, /* free text: nothing is offered */
    KIND_THREAD,
    KIND_LANE,
    KIND_AGENT,
    KIND_NODE,
    KIND_OBJECTIVE,
    KIND_COMMAND,
    KIND_OPERATION,
    KIND_SETTING,
    KIND_WHEN,
    KIND_SHELL,
    KIND_FILE,
    KIND_DIR,
    KIND_VALUES, /* those of the parameter */
};

/* The kind of a value, by the command that takes it (or the first word of that), by the name of the
 * option and by the name that help gives the value; NULL matches anything. The first row that
 * matches counts. */
/* clang-format off */
static const struct {
    const char *command, *name, *value;
    enum kind   kind;
} kinds[] = {
    { "help",       NULL,        NULL,          KIND_COMMAND },
    { "completion", NULL,        NULL,          KIND_SHELL },
    { "api",        "",          NULL,          KIND_OPERATION },
    { "config",     "key",       NULL,          KIND_SETTING },
    { "agent add",  "name",      NULL,          KIND_TEXT },
    { "agent",      "name",      NULL,          KIND_AGENT },
    { "objective create", "id",  NULL,          KIND_TEXT },
    { "objective",  "id",        NULL,          KIND_OBJECTIVE },
    { "objective",  "",          "ID",          KIND_OBJECTIVE },
    { NULL,         "objective", NULL,          KIND_OBJECTIVE },
    { NULL,         "node",      NULL,          KIND_NODE },
    { "tree",       "from",      NULL,          KIND_NODE },
    { NULL,         NULL,        "NODE",        KIND_NODE },
    { NULL,         NULL,        "T",           KIND_THREAD },
    { NULL,         NULL,        "T,…",         KIND_THREAD },
    { NULL,         NULL,        "T[:PATH],…",  KIND_THREAD },
    { NULL,         NULL,        "L",           KIND_LANE },
    { NULL,         NULL,        "A",           KIND_AGENT },
    { NULL,         NULL,        "WHEN",        KIND_WHEN },
    { NULL,         NULL,        "FILE",        KIND_FILE },
    { NULL,         NULL,        "FILE|-",      KIND_FILE },
    { NULL,         NULL,        "PATH",        KIND_FILE },
    { NULL,         NULL,        "DIR",         KIND_DIR },
};
/* clang-format on */

/* Options of commands that choose between operations: the parameter that has their values. */
extern const struct operation op_tree_export, op_harness_export, op_loom_block;
/* clang-format off */
static const struct {
    const char             *command, *option;
    const struct operation *op;
    const char             *param;
} option_params[] = {
    { "export", "format", &op_tree_export,    "format" },
    { "export", "to",     &op_harness_export, "to" },
    { "loom",   "show",   &op_loom_block,     "block" },
};
/* clang-format on */

struct slot {
    const char         *name;  /* of the option or parameter; "": it has none */
    const char         *value; /* the name that help gives the value */
    const struct param *param; /* or NULL */
};

struct typing {
    struct app           *app;
    char                **words; /* all before the current word, without the program */
    size_t                n;
    struct sv             current; /* what is typed of the last word */
    struct sv             lead;    /* the part of it that is kept in front of each candidate */
    const struct command *c;       /* the command; NULL: not typed yet */
    size_t                used;    /* number of words in the name of the command */
    struct sv             thread;  /* typed before; its lanes and nodes are offered */
};

/* ---- candidates ------------------------------------------------------------------------ */

/* A shell interprets the candidates: only words without special characters are offered. */
static bool is_plain(struct sv word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = byte_lower(word.s[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !(c && strchr("-_.,:=@%+/", c)) &&
            (unsigned char)c < 0x80)
            return false;
    }
    return word.n && word.s[0] != '.';
}

static void offer(struct typing *t, struct sv word, struct sv about)
{
    struct sb *out = &t->app->out;

    if (!is_plain(word) || !sv_starts(word, sv_skip(t->current, t->lead.n)))
        return;
    sb_add(out, t->lead);
    sb_add(out, word);
    sb_addc(out, '\t');
    sb_add_plain_line(out, sv_cut(about, '\n').head);
    sb_addc(out, '\n');
}

static void offer_options(struct typing *t, const struct opt *o)
{
    for (; o && o->type; o++) {
        struct sb b = sb_in(t->app->a, 0);
        sb_addf(&b, "--%s", o->name);
        offer(t, sb_sv(&b), sv_of(o->help));
    }
}

static void offer_first_words(struct typing *t)
{
    struct sv word;

    for (size_t i = 0; (word = help_word(i)).n; i++)
        offer(t, word, help_about(word, t->app->a));
}

static void offer_second_words(struct typing *t, struct sv first)
{
    for (size_t i = 0; commands[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (!commands[i]->hidden && c.found && sv_eq(c.head, first))
            offer(t, c.tail, sv_of(command_summary(commands[i])));
    }
}

/* Words between bars: live|frozen. */
static void offer_choices(struct typing *t, struct sv list)
{
    while (list.n) {
        struct sv_cut c = sv_cut(list, '|');
        if (c.head.n && c.head.s[0] >= 'a' && c.head.s[0] <= 'z')
            offer(t, c.head, (struct sv){ 0 });
        list = c.tail;
    }
}

static void offer_operations(struct typing *t)
{
    for (size_t i = 0; operation_table[i]; i++)
        offer(t, sv_of(operation_table[i]->name), sv_of(operation_table[i]->summary));
}

static void offer_settings(struct typing *t)
{
    const struct config_key *k;

    for (size_t i = 0; (k = config_key_at(i)); i++)
        offer(t, sv_of(k->name), sv_of(k->help));
}

/* What name.list answers; nothing where there is no workspace. */
static void offer_names(struct typing *t, const char *kind)
{
    const struct operation *op = operation_find(SV("name.list"));
    struct arena           *a = t->app->a;
    void                   *params = params_init(op->params, op->params_size, a);
    struct request          r;
    struct json             doc;
    struct err              e;

    if (param_set(param_find(op->params, SV("kind")), params, sv_of(kind), a, &e) ||
        (t->thread.n &&
         param_set(param_find(op->params, SV("thread")), params, t->thread, a, &e)) ||
        param_set(param_find(op->params, SV("prefix")), params, sv_skip(t->current, t->lead.n), a,
                  &e) ||
        (t->app->ws.root_fd < 0 && workspace_open(&t->app->ws, t->app->dir, op->needs, a, &e)))
        return;
    request_init(&r, &t->app->ws, a);
    r.actor = t->app->actor;
    enum status s = operation_run(op, &r, params, &e);
    request_end(&r);
    if (s || json_parse(request_document(&r), JSON_KEEP_ORDER, a, &doc, &e))
        return;
    const struct json *items = json_find(&doc, "items");
    for (size_t i = 0; i < items->n; i++)
        offer(t, json_text(&items->items[i], "name"), json_text(&items->items[i], "about"));
}

/* ---- what a value is --------------------------------------------------------------------- */

static bool fits(const char *want, const char *got)
{
    return !want || strcmp(want, got ? got : "") == 0;
}

static bool fits_command(const char *want, const char *name)
{
    return !want || strcmp(want, name) == 0 || sv_is(sv_cut(sv_of(name), ' ').head, want);
}

static enum kind kind_of(const struct command *c, const struct slot *s)
{
    if (s->param && s->param->values)
        return KIND_VALUES;
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (fits_command(kinds[i].command, c->name) && fits(kinds[i].name, s->name) &&
            fits(kinds[i].value, s->value))
            return kinds[i].kind;
    return KIND_TEXT;
}

/* The items of a list are completed one by one. */
static void keep_items(struct typing *t, const struct slot *s)
{
    bool list = (s->param && s->param->type == PARAM_LIST) || (s->value && strchr(s->value, ','));

    if (list && sv_has(sv_skip(t->current, t->lead.n), ','))
        t->lead = sv_first(t->current, sv_cut_last(t->current, ',').head.n + 1);
}

static void offer_list(struct typing *t, const struct param *p)
{
    for (const char *const *v = p ? p->values : NULL; v && *v; v++)
        offer(t, sv_of(*v), (struct sv){ 0 });
}

static void offer_value(struct typing *t, const struct slot *s)
{
    static const char *const names[] = {
        [KIND_THREAD] = "thread", [KIND_LANE] = "lane",           [KIND_AGENT] = "agent",
        [KIND_NODE] = "node",     [KIND_OBJECTIVE] = "objective",
    };
    enum kind kind = kind_of(t->c, s);

    keep_items(t, s);
    switch (kind) {
    case KIND_THREAD:
    case KIND_LANE:
    case KIND_AGENT:
    case KIND_NODE:
    case KIND_OBJECTIVE: offer_names(t, names[kind]); break;
    case KIND_COMMAND: offer_first_words(t); break;
    case KIND_OPERATION: offer_operations(t); break;
    case KIND_SETTING: offer_settings(t); break;
    case KIND_WHEN: offer_choices(t, SV("auto|always|never")); break;
    case KIND_SHELL: offer_choices(t, SV("bash|zsh|fish")); break;
    case KIND_FILE: sb_adds(&t->app->out, ":files\n"); break;
    case KIND_DIR: sb_adds(&t->app->out, ":dirs\n"); break;
    case KIND_VALUES: offer_list(t, s->param); break;
    case KIND_TEXT: offer_choices(t, sv_of(s->value)); break;
    }
}

/* ---- where one is in the command line ------------------------------------------------------ */

static const struct opt *find_opt(const struct opt *o, struct sv word)
{
    bool      lettered = word.n == 2 && word.s[1] != '-';
    struct sv name = sv_cut(sv_skip(word, 2), '=').head;

    for (; o && o->type; o++)
        if (lettered ? o->letter == word.s[1] : sv_is(name, o->name))
            return o;
    return NULL;
}

static const struct param *param_of_option(const struct command *c, const struct opt *o)
{
    for (size_t i = 0; c && o && i < COUNT(option_params); i++)
        if (strcmp(option_params[i].command, c->name) == 0 &&
            strcmp(option_params[i].option, o->name) == 0)
            return param_find(option_params[i].op->params, sv_of(option_params[i].param));
    return NULL;
}

static struct slot slot_of_option(const struct typing *t, struct sv word)
{
    const struct opt *o = t->c ? find_opt(t->c->opts, word) : NULL;

    if (o && o->type == OPT_PARAM) {
        const struct param *p = &t->c->op->params[o->offset];
        return (struct slot){ p->name, o->value, p };
    }
    o = o ? o : find_opt(global_opts, word);
    return (struct slot){ o ? o->name : "", o && o->type != OPT_FLAG ? o->value : NULL,
                          param_of_option(t->c, o) };
}

/* The word in place `i` behind the command's name. */
static struct slot slot_of_word(const struct typing *t, size_t i)
{
    for (const struct cli_word *w = t->c->op ? t->c->words : NULL; w && w->param; w++) {
        const struct param *p = param_find(t->c->op->params, sv_of(w->param));
        if (w->how & (WORD_OPTION | WORD_HIDDEN))
            continue;
        if (i == 0 || (w->how & WORD_REST))
            return (struct slot){ p->name, p->value, p };
        i--;
    }
    struct sv name = help_argument(t->c, i);
    return (struct slot){ "", name.n ? sv_cstr(name, t->app->a) : NULL, NULL };
}

/* Fills in the command and how many words name it; returns where they begin. */
static size_t find_command(struct typing *t)
{
    struct err ignored;
    size_t     first = command_options_before(t->words, t->n);

    if (first < t->n &&
        command_find(t->words + first, t->n - first, t->app->a, &t->c, &t->used, &ignored)) {
        t->c = NULL;
        t->used = 0;
    }
    return first;
}

struct place {
    size_t      word;   /* how many words stand before the current one */
    bool        closed; /* after -- */
    bool        takes;  /* the current word is the value of `option` */
    struct slot option;
};

static void pass(struct typing *t, struct place *at, struct sv word)
{
    struct slot s;

    if (at->takes) {
        s = at->option;
        at->takes = false;
    } else if (!at->closed && sv_is(word, "--")) {
        at->closed = true;
        return;
    } else if (!at->closed && word.n > 1 && word.s[0] == '-') {
        s = at->option = slot_of_option(t, word);
        struct sv_cut c = sv_cut(word, '=');
        at->takes = s.value && !c.found;
        if (!c.found)
            return;
        word = c.tail;
    } else {
        s = t->c ? slot_of_word(t, at->word++) : (struct slot){ "", NULL, NULL };
    }
    if (t->c && !t->thread.n && kind_of(t->c, &s) == KIND_THREAD)
        t->thread = word;
    if (sv_is(sv_of(s.name), "root"))
        t->app->dir = sv_cstr(word, t->app->a);
}

/* --option=value in one word: the value is completed behind the equals sign. */
static void take_apart(struct typing *t, struct place *at)
{
    struct sv_cut c = sv_cut(t->current, '=');

    if (at->closed || at->takes || !c.found || !sv_starts(t->current, SV("--")))
        return;
    at->option = slot_of_option(t, t->current);
    at->takes = at->option.value != NULL;
    t->lead = sv_first(t->current, c.head.n + 1);
}

static void offer_word(struct typing *t, const struct place *at)
{
    struct slot s = slot_of_word(t, at->word);

    if (!at->word) /* `tree` is a command and the first word of others */
        offer_second_words(t, sv_of(t->c->name));
    offer_value(t, &s);
}

static void offer_all(struct typing *t)
{
    static const struct command none = { .name = "" };
    struct place                at = { 0 };
    size_t                      first = find_command(t);
    bool                        named = first < t->n;
    bool                        dashed = sv_starts(t->current, SV("-"));

    for (size_t i = 0; i < t->n; i++)
        if (i < first || i >= first + t->used)
            pass(t, &at, sv_of(t->words[i]));
    take_apart(t, &at);
    if (!t->c && !at.takes && named) {
        offer_second_words(t, sv_of(t->words[first]));
        return;
    }
    if (!t->c && !at.takes && !dashed) {
        offer_first_words(t);
        return;
    }
    t->c = t->c ? t->c : &none;
    if (at.takes) {
        offer_value(t, &at.option);
    } else if (dashed && !at.closed) {
        offer_options(t, t->c->opts);
        offer_options(t, global_opts);
    } else {
        offer_word(t, &at);
    }
}

void complete_words(struct app *app)
{
    struct typing t = { .app = app, .words = app->args };

    if (!app->n_args)
        return;
    t.n = app->n_args - 1;
    t.current = sv_of(app->args[t.n]);
    offer_all(&t);
}
