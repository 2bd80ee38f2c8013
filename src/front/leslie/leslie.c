#include "front/leslie/leslie.h"

#include "base/fs.h"
#include "base/vec.h"
#include "front/cli/cli.h"
#include "front/leslie/format.h"
#include "front/leslie/leslie_internal.h"

#include <string.h>

enum flag_kind {
    F_END,
    F_ARGUMENT, /* its value is our next argument */
    F_VALUE,    /* --ours=value */
    F_FLAG,     /* --ours */
};

struct flag {
    enum flag_kind kind;
    const char    *name;
    bool           required;
    const char    *ours; /* NULL: the same */
};

enum { FLAGS_MAX = 16 };

/* clang-format off */
static const struct translation {
    const char *name, *ours; /* ours NULL: has a function */
    struct flag flags[FLAGS_MAX];
    enum status (*run)(struct app *app, const struct leslie_call *call, struct err *e);
} translations[] = {
    { "init", NULL, { { F_FLAG, "yes", false, NULL } }, leslie_init },
    { "config init", NULL, { { F_FLAG, "from-env", false, NULL }, { F_FLAG, "force", false, NULL } }, leslie_config_init },
    { "run", NULL, { { F_VALUE, "title", true, NULL }, { F_FLAG, "no-tui", false, NULL } }, leslie_run_objective },
    { "objective create", "objective create", { { F_ARGUMENT, "title", true, NULL } }, NULL },
    { "objective list", "objective list", { { 0 } }, NULL },
    { "objective status", "objective status", { { F_ARGUMENT, "id", true, NULL } }, NULL },
    { "spawn", "spawn",
      { { F_VALUE, "intent", true, NULL }, { F_VALUE, "objective", true, NULL }, { F_VALUE, "parent", false, NULL },
        { F_VALUE, "inherit", false, NULL }, { F_VALUE, "scope", false, NULL }, { F_VALUE, "ref", false, NULL },
        { F_VALUE, "executor", false, NULL }, { F_VALUE, "tags", false, NULL }, { F_VALUE, "binding", false, NULL },
        { F_VALUE, "id", false, NULL }, { F_FLAG, "no-run", false, NULL }, { F_FLAG, "foreground", false, NULL } }, NULL },
    { "reference", "reference",
      { { F_VALUE, "from", true, NULL }, { F_VALUE, "target", true, NULL }, { F_VALUE, "scope", false, NULL },
        { F_VALUE, "binding", false, NULL } }, NULL },
    { "refresh", "refresh",
      { { F_VALUE, "from", true, NULL }, { F_VALUE, "target", false, NULL }, { F_VALUE, "scope", false, NULL } }, NULL },
    { "lifecycle", "lifecycle",
      { { F_ARGUMENT, "thread", true, NULL }, { F_ARGUMENT, "action", true, NULL }, { F_VALUE, "reason", false, NULL } }, NULL },
    { "list", "list", { { F_VALUE, "status", false, NULL } }, NULL },
    { "status", "status", { { F_ARGUMENT, "thread", true, NULL } }, NULL },
    { "artifacts", "artifacts", { { F_ARGUMENT, "thread", true, NULL } }, NULL },
    { "transfer", "transfer",
      { { F_ARGUMENT, "thread", true, NULL }, { F_ARGUMENT, "direction", true, NULL }, { F_VALUE, "scope", true, NULL },
        { F_VALUE, "reason", false, NULL }, { F_VALUE, "target", false, NULL } }, NULL },
    { "inject", "inject",
      { { F_ARGUMENT, "thread", true, NULL }, { F_VALUE, "type", true, NULL }, { F_VALUE, "content", true, NULL } }, NULL },
    { "merge", "merge",
      { { F_VALUE, "sources", true, NULL }, { F_VALUE, "target", true, NULL }, { F_VALUE, "scope", false, NULL },
        { F_VALUE, "conflict_strategy", false, "strategy" }, { F_VALUE, "conflict-strategy", false, "strategy" },
        { F_FLAG, "dry-run", false, NULL } }, NULL },
    { "transcript", "transcript",
      { { F_ARGUMENT, "thread", true, NULL }, { F_VALUE, "chat", true, NULL }, { F_VALUE, "query", true, NULL },
        { F_VALUE, "assistant", true, NULL }, { F_VALUE, "start", false, NULL }, { F_VALUE, "end", false, NULL },
        { F_VALUE, "mode", false, NULL }, { F_VALUE, "stop_reason", false, "stop-reason" } }, NULL },
};

static const struct flag globals[] = {
    { F_VALUE, "format", false, NULL }, { F_VALUE, "config", false, NULL }, { F_VALUE, "c", false, "config" },
    { F_FLAG, "debug", false, NULL },   { F_FLAG, "help", false, NULL },    { F_VALUE, "as", false, NULL },
    { F_VALUE, "root", false, NULL },   { F_END, NULL, false, NULL },
};

/*    our reason                leslie */
static const struct {
    const char *reason, *code;
} codes[] = {
    { "thread",             "T101" }, { "transition", "T102" }, { "circular_reference", "T201" },
    { "merge_conflict",     "T301" }, { "lock",       "T501" }, { "objective",          "T601" },
    { "exists",             "T902" }, { "ambiguous",  "T902" }, { "file",               "T902" },
};
/* clang-format on */

/* ---- parsing ------------------------------------------------------------------------------ */

const char *leslie_value(const struct leslie_call *call, const char *name)
{
    for (size_t i = 0; i < call->values.n; i++)
        if (strcmp(call->values.v[i].name, name) == 0)
            return call->values.v[i].value;
    return NULL;
}

static const struct flag *flag_in(const struct flag *flags, struct sv name)
{
    for (size_t i = 0; flags && flags[i].kind != F_END; i++)
        if (sv_is(name, flags[i].name))
            return &flags[i];
    return NULL;
}

/* A repeated flag is a list: its values are joined by commas. */
static void keep(struct app *app, struct leslie_call *call, const char *name, struct sv value)
{
    for (size_t i = 0; i < call->values.n; i++)
        if (strcmp(call->values.v[i].name, name) == 0) {
            struct sb b = sb_in(app->a, 0);
            sb_addf(&b, "%s," SV_FMT, call->values.v[i].value, SV_ARG(value));
            call->values.v[i].value = sb_sv(&b).s;
            return;
        }
    *vec_push(&call->values, app->a) = (struct leslie_value){ name, sv_cstr(value, app->a) };
}

/* Words that are flags go to the call, the others stay. Flags of all commands are known, so
 * that it does not matter where the command's name stands. */
static const struct flag *any_flag(struct sv name)
{
    const struct flag *f = flag_in(globals, name);

    for (size_t i = 0; !f && i < COUNT(translations); i++)
        f = flag_in(translations[i].flags, name);
    return f;
}

static void take_flag(struct app *app, struct leslie_call *call, struct sv word, char **words,
                      size_t n, size_t *at)
{
    size_t             dashes = sv_starts(word, SV("--")) ? 2 : 1;
    struct sv_cut      c = sv_cut(sv_skip(word, dashes), '=');
    const struct flag *f = any_flag(c.head);

    if (!f)
        return; /* upstream passes over what it does not know */
    if (f->kind == F_FLAG)
        keep(app, call, f->name, SV("true"));
    else if (c.found)
        keep(app, call, f->name, c.tail);
    else if (*at < n)
        keep(app, call, f->name, sv_of(words[(*at)++]));
}

static void parse(struct app *app, char **words, size_t n, struct leslie_call *call)
{
    for (size_t at = 0; at < n;) {
        struct sv word = sv_of(words[at++]);
        if (word.n > 1 && word.s[0] == '-')
            take_flag(app, call, word, words, n, &at);
        else if (call->n_words < COUNT(call->words))
            call->words[call->n_words++] = word;
    }
}

static const struct translation *find(struct app *app, const struct leslie_call *call,
                                      struct err *e)
{
    struct sb one = sb_in(app->a, 0), two = sb_in(app->a, 0);

    sb_add(&one, call->words[0]);
    sb_addf(&two, SV_FMT " " SV_FMT, SV_ARG(call->words[0]), SV_ARG(call->words[1]));
    for (size_t i = 0; i < COUNT(translations); i++)
        if (sv_is(sb_sv(&two), translations[i].name) || sv_is(sb_sv(&one), translations[i].name))
            return &translations[i];
    err_set(e, ST_USAGE, "Unknown command: " SV_FMT,
            SV_ARG(call->n_words > 1 ? sb_sv(&two) : sb_sv(&one)));
    return NULL;
}

static enum status check_required(const struct translation *t, const struct leslie_call *call,
                                  struct err *e)
{
    for (const struct flag *f = t->flags; f->kind != F_END; f++) {
        const char *v = leslie_value(call, f->name);
        if (f->required && (!v || !sv_trim(sv_of(v)).n))
            return err_set(e, ST_USAGE, "Missing required flag --%s", f->name);
    }
    return ST_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

static enum status run_ours(struct app *app, const struct translation *t,
                            const struct leslie_call *call, struct err *e)
{
    static const char *const passed[] = { "as", "root" };
    VEC(char *) words = { 0 };
    struct sv name = sv_of(t->ours);

    while (name.n) {
        struct sv_cut c = sv_cut(name, ' ');
        *vec_push(&words, app->a) = (char *)(uintptr_t)sv_cstr(c.head, app->a);
        name = c.tail;
    }
    for (const struct flag *f = t->flags; f->kind != F_END; f++) {
        const char *v = leslie_value(call, f->name);
        struct sb   b = sb_in(app->a, 0);
        if (!v || f->kind == F_ARGUMENT)
            continue;
        sb_addf(&b, "--%s", f->ours ? f->ours : f->name);
        if (f->kind == F_VALUE)
            sb_addf(&b, "=%s", v);
        *vec_push(&words, app->a) = (char *)(uintptr_t)sb_sv(&b).s;
    }
    for (size_t i = 0; i < COUNT(passed); i++) {
        struct sb b = sb_in(app->a, 0);
        if (!leslie_value(call, passed[i]))
            continue;
        sb_addf(&b, "--%s=%s", passed[i], leslie_value(call, passed[i]));
        *vec_push(&words, app->a) = (char *)(uintptr_t)sb_sv(&b).s;
    }
    *vec_push(&words, app->a) = (char *)(uintptr_t) "--";
    for (const struct flag *f = t->flags; f->kind != F_END; f++)
        if (f->kind == F_ARGUMENT && leslie_value(call, f->name))
            *vec_push(&words, app->a) = (char *)(uintptr_t)leslie_value(call, f->name);
    return cli_run(app, words.v, words.n, e);
}

static void usage(struct sb *out)
{
    sb_adds(out,
            "usage: leslie COMMAND [--flag value] [--format json|table|yaml] [--config FILE]\n\n");
    for (size_t i = 0; i < COUNT(translations); i++) {
        sb_addf(out, "  leslie %s", translations[i].name);
        for (const struct flag *f = translations[i].flags; f->kind != F_END; f++)
            sb_addf(out, f->required ? " --%s%s" : " [--%s%s]", f->name,
                    f->kind == F_FLAG ? "" : " …");
        sb_addc(out, '\n');
    }
    sb_adds(out, "\n`heddle help` shows the same operations and more under their own name.\n");
}

enum status leslie_run(struct app *app, char **words, size_t n, struct err *e)
{
    struct leslie_call        call = { 0 };
    const struct translation *t;

    parse(app, words, n, &call);
    app->format = sv_of(leslie_value(&call, "format"));
    if (!call.n_words || sv_is(call.words[0], "help") || leslie_value(&call, "help")) {
        usage(&app->out);
        return ST_OK;
    }
    t = find(app, &call, e);
    if (!t || leslie_environment(app, &call, e) || check_required(t, &call, e))
        return err_code(e);
    if (t->run) {
        if (leslie_value(&call, "as"))
            app->actor = sv_of(leslie_value(&call, "as"));
        if (app_find_root(app, leslie_value(&call, "root"), e))
            return err_code(e);
        return t->run(app, &call, e);
    }
    return run_ours(app, t, &call, e);
}

/* ---- errors ---------------------------------------------------------------------------------- */

const char *leslie_code(const struct err *e)
{
    for (size_t i = 0; i < COUNT(codes); i++)
        if (strcmp(e->reason, codes[i].reason) == 0)
            return codes[i].code;
    return e->code == ST_NOT_FOUND || e->code == ST_CONFLICT ? "T902" : status_leslie(e->code);
}

/* Upstream says it in one line. */
static struct sv message_of(const struct err *e)
{
    struct sv text = sv_of(e->text);
    ptrdiff_t reason = sv_find(text, SV("\nReason: "));

    return reason >= 0 ? sv_skip(text, (size_t)reason + 9) : text;
}

void leslie_fail(struct app *app, const struct err *e)
{
    struct sb   b = sb_in(app->a, 0);
    struct jw   w = jw_in(&b, 2);
    struct json details;
    struct err  late;

    jw_open(&w, '{');
    jw_kbool(&w, "success", false);
    jw_key(&w, "error");
    jw_open(&w, '{');
    jw_kstr(&w, "code", sv_of(leslie_code(e)));
    jw_kstr(&w, "message", message_of(e));
    if (app->error_details.s &&
        json_parse(app->error_details, JSON_KEEP_ORDER, app->a, &details, &late) == ST_OK) {
        jw_key(&w, "details");
        jw_json(&w, &details);
    }
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    if (format_print(&app->out, sb_sv(&b), app->format, app->a, &late))
        sb_add(&app->out, sb_sv(&b));
}
