/* The commands of Leslie (upstream), and the operation of each. */
#include "front/leslie/leslie.h"

#include "api/workspace_open.h"
#include "base/path.h"
#include "base/vec.h"
#include "front/leslie/format.h"
#include "front/leslie/leslie_internal.h"

#include <string.h>
#include <unistd.h>

enum flag_kind {
    F_END,
    F_VALUE,
    F_TEXT, /* a value; "-" is what standard input holds */
    F_FLAG,
};

struct flag {
    enum flag_kind kind;
    const char    *name;
    bool           required;
    const char    *ours; /* the parameter; NULL: of the same name */
};

enum { FLAGS_MAX = 16 };

/* "objectiveId=id" means that upstream's `objectiveId` is heddle's `id`. The listed members of a
 * document become the data of the envelope, in this order, if the document has them; for a list,
 * those of each item. */
#define THREAD_ROW "id title objective status parent_id executor created_at"
#define OBJECTIVE "id title created_at updated_at status thread_ids"

/* clang-format off */
static const struct translation {
    const char *name;
    const char *op;      /* NULL: has a function */
    const char *members; /* of the document, as upstream has them */
    unsigned    how;
    const char *fixed;   /* "name=value", a parameter that upstream does not know; or NULL */
    struct flag flags[FLAGS_MAX];
    enum status (*run)(struct app *app, const struct leslie_call *call, struct err *e);
} translations[] = {
    { "init", NULL, NULL, 0, NULL, { { F_FLAG, "yes", false, NULL } }, leslie_init },
    { "config init", NULL, NULL, 0, NULL, { { F_FLAG, "from-env", false, NULL }, { F_FLAG, "force", false, NULL } }, leslie_config_init },
    { "run", NULL, NULL, 0, NULL, { { F_VALUE, "title", true, NULL }, { F_FLAG, "no-tui", false, NULL } }, leslie_run_objective },
    { "objective create", "objective.create", "objectiveId=id title logDir=log_dir", 0, "id_from=random", { { F_VALUE, "title", true, NULL } }, NULL },
    { "objective list", "objective.list", OBJECTIVE, LESLIE_LIST, NULL, { { 0 } }, NULL },
    { "objective status", "objective.status", OBJECTIVE, 0, NULL, { { F_VALUE, "id", true, NULL } }, NULL },
    { "spawn", "thread.spawn", "thread_id parent_id status objective run_mode worker_log_path", LESLIE_WARNINGS, "id_from=random",
      { { F_TEXT, "intent", true, NULL }, { F_VALUE, "objective", true, NULL }, { F_VALUE, "parent", false, NULL },
        { F_VALUE, "inherit", false, NULL }, { F_VALUE, "scope", false, NULL }, { F_VALUE, "ref", false, NULL },
        { F_VALUE, "executor", false, NULL }, { F_VALUE, "tags", false, NULL }, { F_VALUE, "binding", false, NULL },
        { F_VALUE, "id", false, NULL }, { F_FLAG, "no-run", false, "no_run" }, { F_FLAG, "foreground", false, NULL } }, NULL },
    { "reference", "reference.add", "ref_id snapshot_version copied_paths binding", LESLIE_WARNINGS, NULL,
      { { F_VALUE, "from", true, NULL }, { F_VALUE, "target", true, NULL }, { F_VALUE, "scope", false, NULL },
        { F_VALUE, "binding", false, NULL } }, NULL },
    { "refresh", "reference.refresh", "ref_id target binding snapshot_version added changed removed source_gone", LESLIE_LIST, NULL,
      { { F_VALUE, "from", true, NULL }, { F_VALUE, "target", false, NULL }, { F_VALUE, "scope", false, NULL } }, NULL },
    { "lifecycle", "thread.lifecycle", "threadId=thread status", 0, NULL,
      { { F_VALUE, "thread", true, NULL }, { F_VALUE, "action", true, NULL }, { F_VALUE, "reason", false, NULL } }, NULL },
    { "list", "thread.list", THREAD_ROW, LESLIE_LIST, "shared=true", { { F_VALUE, "status", false, NULL } }, NULL },
    { "status", "thread.status",
      "id title objective created_at status tags parent_id storage_path executor updated_at session_id thread_context",
      LESLIE_WARNINGS, "shared=true", { { F_VALUE, "thread", true, NULL } }, NULL },
    { "artifacts", "asset.list", "type path thread access", LESLIE_LIST | LESLIE_WARNINGS, NULL, { { F_VALUE, "thread", true, NULL } }, NULL },
    { "transfer", "thread.transfer", "threadId=thread status executor", 0, NULL,
      { { F_VALUE, "thread", true, NULL }, { F_VALUE, "direction", true, NULL }, { F_VALUE, "scope", true, NULL },
        { F_VALUE, "reason", false, NULL }, { F_VALUE, "target", false, NULL } }, NULL },
    { "inject", "thread.inject", "threadId=thread injectedAt=injected_at", 0, NULL,
      { { F_VALUE, "thread", true, NULL }, { F_VALUE, "type", true, NULL }, { F_TEXT, "content", true, NULL } }, NULL },
    /* Conflicts are only in the answer: upstream exits with 0. */
    { "merge", "thread.merge", "mergedFiles=merged_files conflicts removedFiles=removed_files keptFiles=kept_files dry_run", LESLIE_NO_VERDICT, NULL,
      { { F_VALUE, "sources", true, NULL }, { F_VALUE, "target", true, NULL }, { F_VALUE, "scope", false, NULL },
        { F_VALUE, "conflict_strategy", false, "strategy" }, { F_VALUE, "conflict-strategy", false, "strategy" },
        { F_FLAG, "dry-run", false, "dry_run" } }, NULL },
    { "transcript", "transcript.keep", "transcript_path", 0, NULL,
      { { F_VALUE, "thread", true, NULL }, { F_VALUE, "chat", true, NULL }, { F_VALUE, "query", true, NULL },
        { F_TEXT, "assistant", true, NULL }, { F_VALUE, "start", false, NULL }, { F_VALUE, "end", false, NULL },
        { F_VALUE, "mode", false, NULL }, { F_VALUE, "stop_reason", false, NULL } }, NULL },
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

/* Put the flags and their values into the call; the other words are the name of the command. The
 * flags of all commands are recognized, so that they may stand before the name, too. */
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
        return; /* upstream ignores unknown flags */
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

static enum status set_flag(struct app *app, const struct operation *op, const struct flag *f,
                            const char *value, void *params, struct err *e)
{
    struct sv    text = sv_of(value);
    struct param p = *param_find(op->params, sv_of(f->ours ? f->ours : f->name));
    struct sb    name = sb_in(app->a, 0);

    sb_addf(&name, "--%s", f->name); /* as it was typed, for the message */
    p.name = sb_sv(&name).s;
    if (f->kind == F_TEXT && app_text(app, text, &text, e))
        return err_code(e);
    if (param_set(&p, params, text, app->a, e) == ST_OK)
        return ST_OK;
    if (e->hint[0]) /* the envelope has no place for hints */
        err_set(e, e->code, "'" SV_FMT "': %s", SV_ARG(text), sv_cstr(sv_of(e->hint), app->a));
    return err_code(e);
}

/* Upstream makes a workspace with any command. When it cannot be made, the directory is read as it
 * is. */
static enum status make_workspace(struct app *app, struct err *e)
{
    if (app->ws.has_heddle || faccessat(app->ws.root_fd, ".", W_OK, 0) != 0)
        return ST_OK;
    return workspace_make(&app->ws, SV(".heddle"), e);
}

static enum status run_operation(struct app *app, const struct translation *t,
                                 const struct leslie_call *call, struct err *e)
{
    const struct operation *op = operation_find(sv_of(t->op));
    void                   *params = params_init(op->params, op->params_size, app->a);
    struct request          r;
    struct sv_cut           fixed = sv_cut(sv_of(t->fixed), '=');

    if (t->fixed && param_set(param_find(op->params, fixed.head), params, fixed.tail, app->a, e))
        return err_code(e);
    for (const struct flag *f = t->flags; f->kind != F_END; f++) {
        const char *v = leslie_value(call, f->name);
        if (v && set_flag(app, op, f, v, params, e))
            return err_code(e);
    }
    if (make_workspace(app, e) || leslie_operation(app, op, params, &r, e) ||
        leslie_answer(app, &r, t->members, t->how, e))
        return err_code(e);
    if (!r.verdict.code || (t->how & LESLIE_NO_VERDICT))
        return ST_OK;
    *e = r.verdict;
    return err_code(e);
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

static enum status leslie_run(struct app *app, char **words, size_t n, struct err *e)
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
    app->ws.variables = environ; /* setenv() may have moved it */
    if (leslie_value(&call, "as"))
        app->actor = sv_of(leslie_value(&call, "as"));
    if (name_check(app->actor, "actor", e) ||
        workspace_open(&app->ws, leslie_value(&call, "root"), NEEDS_ROOT, app->a, e))
        return err_code(e);
    return t->run ? t->run(app, &call, e) : run_operation(app, t, &call, e);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* "T201" */
static const char *leslie_code(const struct err *e)
{
    for (size_t i = 0; i < COUNT(codes); i++)
        if (strcmp(e->reason, codes[i].reason) == 0)
            return codes[i].code;
    return e->code == ST_NOT_FOUND || e->code == ST_CONFLICT ? "T902" : status_leslie(e->code);
}

/* The message on one line, as upstream has it. */
static struct sv message_of(const struct err *e)
{
    struct sv text = sv_of(e->text);
    ptrdiff_t reason = sv_find(text, SV("\nReason: "));

    return reason >= 0 ? sv_skip(text, (size_t)reason + 9) : text;
}

/* The error envelope, with upstream's codes. */
static void leslie_fail(struct app *app, const struct err *e)
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

/* Upstream has one exit status for all failures. */
static int exit_status(enum status s)
{
    return s ? 1 : 0;
}

const struct app_door leslie_door = { leslie_run, leslie_fail, exit_status };
