/* `config list | get | set | unset | schema`: the settings of the workspace and of the user. */
#include "api/trust.h"
#include "api/user_file.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/utf8.h"
#include "front/cli/command.h"

#include <stdlib.h>

struct config_opts {
    bool user;
};

static const struct opt config_opts[] = {
    { OPT_FLAG, "user", NULL, "the user's own file, for every workspace",
      offsetof(struct config_opts, user), 0 },
    { 0 },
};

/* ---- looking ------------------------------------------------------------------------- */

static void add_value(struct sb *b, const struct json *v)
{
    struct arena scratch = { 0 };
    struct sb    text = sb_in(&scratch, 0);
    struct jw    w = jw_in(&text, 0);

    if (!json_is(v, JSON_STRING))
        jw_json(&w, v);
    sb_add_plain(b, json_is(v, JSON_STRING) ? json_sv(v) : sb_sv(&text));
    arena_free(&scratch);
}

/* A URL with a password in it is shown without. */
static struct sv without_password(struct sv url, struct arena *a)
{
    ptrdiff_t     scheme = sv_find(url, SV("://"));
    struct sv     rest = scheme < 0 ? SV("") : sv_skip(url, (size_t)scheme + 3);
    struct sv_cut host = sv_cut_last(sv_cut(rest, '/').head, '@');
    struct sb     b = sb_in(a, 0);

    if (!host.found)
        return url;
    sb_add(&b, sv_first(url, (size_t)scheme + 3));
    sb_adds(&b, "…@");
    sb_add(&b, sv_skip(rest, host.head.n + 1));
    return sb_sv(&b);
}

/* The value that counts, the environment's over all; NULL: the default. */
static const struct json *value_of(struct app *app, const struct config_key *k, struct sv name,
                                   enum config_source *from)
{
    const char        *variable = config_variable(k);
    struct sv          given = sv_of(variable ? getenv(variable) : NULL);
    const struct json *v = config_value(&app->ws.config, name, from);
    struct json       *own = ARENA_NEW(app->a, struct json, 1);

    if (given.n) {
        *from = CONFIG_FROM_ENVIRONMENT;
        *own = json_of(given);
        v = own;
    }
    if (json_is(v, JSON_STRING) && sv_find(json_sv(v), SV("://")) > 0) {
        *own = json_of(without_password(json_sv(v), app->a));
        v = own;
    }
    return v;
}

/* One setting that is not an object. `name` is its own, where the row has a star. */
typedef void each_setting(struct app *app, void *ctx, const struct config_key *k, struct sv name);

struct any {
    struct app              *app;
    void                    *ctx;
    const struct config_key *k;
    each_setting            *each;
    struct map               met;
};

static void each_any(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    struct any *any = ctx;

    (void)v;
    if (k != any->k || map_find(&any->met, dotted))
        return;
    map_put(&any->met, dotted, any);
    any->each(any->app, any->ctx, k, dotted);
}

/* executors.*: what either file has, by any name. */
static void each_named(struct app *app, const struct config_key *k, each_setting *each, void *ctx)
{
    struct any any = { app, ctx, k, each, map_in(app->a) };

    config_walk(&app->ws.config.user, SV(""), each_any, &any, app->a);
    config_walk(&app->ws.config.workspace, SV(""), each_any, &any, app->a);
}

static void for_each(struct app *app, each_setting *each, void *ctx)
{
    const struct config_key *k;

    for (size_t i = 0; (k = config_key_at(i)); i++) {
        if (sv_ends(sv_of(k->name), SV(".*")))
            each_named(app, k, each, ctx);
        if (!sv_is(sv_of(k->type), "object")) /* told by what is in them */
            each(app, ctx, k, sv_of(k->name));
    }
}

static void list_one(struct app *app, void *ctx, const struct config_key *k, struct sv name)
{
    const size_t      *width = ctx;
    struct sb         *out = &app->out;
    enum config_source from;
    const struct json *v = value_of(app, k, name, &from);

    sb_add_plain_line(out, name);
    sb_pad(out, ' ', name.n < *width ? *width - name.n : 0);
    sb_adds(out, "  ");
    if (v)
        add_value(out, v);
    else
        sb_addf(out, "(%s) %s", k->type, k->help);
    sb_addf(out, "  [%s]\n", config_source_word(from));
}

static void list_source(struct app *app, void *ctx, const struct config_key *k, struct sv name)
{
    struct jw         *w = ctx;
    enum config_source from;

    value_of(app, k, name, &from);
    if (from == CONFIG_FROM_DEFAULT)
        return;
    jw_key_sv(w, name);
    jw_str(w, sv_of(config_source_word(from)));
}

/* What counts, and beside it, under a name that no setting has, where it comes from. */
static void list_json(struct app *app)
{
    const struct json *doc = &app->ws.config.doc;
    struct jw          w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_key(&w, "$sources");
    jw_open(&w, '{');
    for_each(app, list_source, &w);
    jw_close(&w, '}');
    for (size_t i = 0; json_is(doc, JSON_OBJECT) && i < doc->n; i++) {
        jw_key_sv(&w, doc->members[i].key);
        jw_json(&w, &doc->members[i].value);
    }
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_list(struct app *app, const void *opts, struct err *e)
{
    const struct config_key *k;
    size_t                   width = 0;

    (void)opts;
    (void)e;
    if (app->json) {
        list_json(app);
        return ST_OK;
    }
    for (size_t i = 0; (k = config_key_at(i)); i++)
        width = strlen(k->name) > width ? strlen(k->name) : width;
    for_each(app, list_one, &width);
    if (!app->ws.config.trusted)
        app_note(app,
                 "what is marked [workspace untrusted] does not count until you run: heddle trust");
    return ST_OK;
}

static enum status run_get(struct app *app, const void *opts, struct err *e)
{
    struct sv          name = app_arg(app, 0);
    enum config_source from;
    const struct json *v = config_value(&app->ws.config, name, &from);
    struct jw          w = jw_in(&app->out, 0);

    (void)opts;
    if (from == CONFIG_FROM_UNTRUSTED) {
        err_set(e, ST_PERMISSION_DENIED,
                "'" SV_FMT "' in .heddle/config.json does not count: nobody has trusted the file",
                SV_ARG(name));
        return err_hint(e, "`heddle trust` shows what it says, and asks");
    }
    if (!v) {
        if (config_check_key(name, e))
            return err_code(e);
        err_set(e, ST_NOT_FOUND, "'" SV_FMT "' is not set", SV_ARG(name));
        return err_hint(e, "`heddle config list` tells what holds then");
    }
    if (app->json)
        jw_json(&w, v);
    else
        add_value(&app->out, v);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- changing ------------------------------------------------------------------------ */

struct edit {
    struct app *app;
    struct sv   value; /* absent: take it out */
};

static enum status edit_user(void *ctx, struct sv before, struct arena *a, struct sv *after,
                             struct err *e)
{
    struct edit *d = ctx;

    return config_with(utf8_skip_bom(before), CONFIG_OF_USER, user_file_path(USER_CONFIG, a),
                       app_arg(d->app, 0), d->value, a, after, e);
}

/* What needs trust in the text of a file, in its canonical form. */
static struct sv guarded_in(struct sv text, struct arena *a)
{
    struct json   doc = { 0 }, none = { 0 };
    struct config c;
    struct err    ignored;

    if (text.n && config_read(utf8_skip_bom(text), CONFIG_OF_WORKSPACE, SV(""), a, &doc, &ignored))
        return (struct sv){ 0 };
    config_join(&c, &none, &doc, false, a);
    return json_canonical(&c.guarded, a);
}

/* Trust stays where what needs it stays the same. */
static enum status keep_trust(struct app *app, struct sv before, struct sv after, struct err *e)
{
    struct sv allowed = guarded_in(after, app->a);

    if (sv_is(allowed, "{}"))
        return ST_OK;
    if (sv_eq(guarded_in(before, app->a), allowed) && trust_has(app->ws.root, before, app->a))
        return trust_add(app->ws.root, after, app->a, e);
    app_note(app,
             "what .heddle/config.json says of programs, keys and the network counts once you run: "
             "heddle trust");
    return ST_OK;
}

/* Two processes that change settings come one after the other, each with what the other wrote. */
static enum status change_workspace(struct app *app, struct sv value, struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sv         text, after;
    struct json       unused;

    if (app_read_settings(app, e) || workspace_make(&app->ws, SV(".heddle"), e) ||
        fs_lock_dir(app->ws.root_fd, SV(".heddle"), &held, e) ||
        app_workspace_settings(app, &text, &unused, e) ||
        config_with(utf8_skip_bom(text), CONFIG_OF_WORKSPACE, APP_CONFIG, app_arg(app, 0), value,
                    app->a, &after, e) ||
        fs_write(app->ws.root_fd, APP_CONFIG, after, 0644, e))
        return err_code(e);
    return keep_trust(app, text, after, e);
}

static enum status change(struct app *app, bool user, struct sv value, struct err *e)
{
    struct edit edit = { app, value };

    if (user ? user_file_change(USER_CONFIG, edit_user, &edit, app->a, e)
             : change_workspace(app, value, e))
        return err_code(e);
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '{');
        jw_kstr(&w, value.s ? "set" : "unset", app_arg(app, 0));
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
    }
    return ST_OK;
}

static enum status run_set(struct app *app, const void *opts, struct err *e)
{
    const struct config_opts *o = opts;
    struct sv                 value;

    return app_text(app, app_arg(app, 1), &value, e) ? err_code(e)
                                                     : change(app, o->user, sv_trim(value), e);
}

static enum status run_unset(struct app *app, const void *opts, struct err *e)
{
    const struct config_opts *o = opts;

    return change(app, o->user, (struct sv){ 0 }, e);
}

static enum status run_schema(struct app *app, const void *opts, struct err *e)
{
    const struct config_opts *o = opts;

    (void)e;
    config_schema(&app->out, o->user ? CONFIG_OF_USER : CONFIG_OF_WORKSPACE);
    return ST_OK;
}

/* ---- rows ---------------------------------------------------------------------------- */

const struct command cmd_config_list = {
    .name = "config list",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Print the settings: their values, or what they are for",
    .details =
        "Behind each stands where its value comes from: default, user (the user's own file),\n"
        "workspace (.heddle/config.json), workspace untrusted (it says so, and it does not count:\n"
        "see `heddle help trust`) or environment. With --json what counts is one object, and its\n"
        "member $sources says the same by name. heddle-config(5) tells more about each.",
    .needs = NEEDS_ROOT,
    .run = run_list,
};

const struct command cmd_config_get = {
    .name = "config get",
    .synopsis = "KEY",
    .group = GROUP_CARE,
    .summary = "Print the value of one setting",
    .details = "  heddle config get loom.summary_model",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_get,
};

const struct command cmd_config_set = {
    .name = "config set",
    .synopsis = "KEY VALUE|- [--user]",
    .group = GROUP_CARE,
    .summary = "Change a setting of the workspace, or of the user",
    .details = "A string is given as it is, anything else as JSON. Keys of services are never "
               "settings: they "
               "come from the environment. The workspace's file is .heddle/config.json and counts "
               "over the user's; what it says of programs, keys and the network counts once it is "
               "trusted (`heddle help trust`), what the user's file says counts at once.\n\n"
               "  heddle config set loom.subject Sub\n"
               "  heddle config set run.max_iterations 20\n"
               "  heddle config set --user executors.claude '[\"claude\",\"-p\"]'",
    .opts = config_opts,
    .opts_size = sizeof(struct config_opts),
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_PLACE,
    .run = run_set,
};

const struct command cmd_config_unset = {
    .name = "config unset",
    .synopsis = "KEY [--user]",
    .group = GROUP_CARE,
    .summary = "Take a setting out of a settings file",
    .details = "  heddle config unset loom.budget",
    .opts = config_opts,
    .opts_size = sizeof(struct config_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_PLACE,
    .run = run_unset,
};

const struct command cmd_config_schema = {
    .name = "config schema",
    .synopsis = "[--user]",
    .group = GROUP_CARE,
    .summary = "Print the JSON Schema of a settings file",
    .details =
        "Of .heddle/config.json, or with --user of the user's own file, which has all of its\n"
        "keys and a few more.",
    .opts = config_opts,
    .opts_size = sizeof(struct config_opts),
    .data = true,
    .run = run_schema,
};
