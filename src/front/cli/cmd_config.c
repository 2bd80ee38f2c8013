/* `config list | get | set | unset | schema`: the settings of a workspace. */
#include "base/fs.h"
#include "base/utf8.h"
#include "front/cli/command.h"

#define CONFIG_FILE SV(".heddle/config.json")

/* ---- looking ------------------------------------------------------------------------- */

static void add_value(struct sb *b, const struct json *v)
{
    struct jw w = jw_in(b, 0);

    if (json_is(v, JSON_STRING))
        sb_add_plain(b, json_sv(v));
    else
        jw_json(&w, v);
}

static void list_value(struct app *app, struct sv name, size_t width, const struct json *v)
{
    struct sb *out = &app->out;

    sb_add_plain(out, name);
    sb_pad(out, ' ', name.n < width ? width - name.n : 0);
    sb_adds(out, "  ");
    add_value(out, v);
    sb_addc(out, '\n');
}

/* executors.*: what there is by any name. */
static void list_any(struct app *app, struct sv parent, size_t width)
{
    const struct json *v = config_find_sv(&app->config, parent);

    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++) {
        struct sb name = sb_in(app->a, 0);
        sb_addf(&name, SV_FMT "." SV_FMT, SV_ARG(parent), SV_ARG(v->members[i].key));
        list_value(app, sb_sv(&name), width, &v->members[i].value);
    }
}

/* Objects are told by what is in them. */
static void list_key(struct app *app, const struct config_key *k, size_t width)
{
    struct sv          name = sv_of(k->name);
    bool               any = sv_ends(name, SV(".*"));
    const struct json *v = any ? NULL : config_find_sv(&app->config, name);

    if (any)
        list_any(app, sv_first(name, name.n - 2), width);
    if (v && !sv_is(sv_of(k->type), "object"))
        list_value(app, name, width, v);
    else if (!sv_is(sv_of(k->type), "object"))
        sb_addf(&app->out, "%-*s  (%s) %s\n", (int)width, k->name, k->type, k->help);
}

static enum status run_list(struct app *app, const void *opts, struct err *e)
{
    const struct config_key *k;
    size_t                   width = 0;
    struct jw                w = jw_in(&app->out, 0);

    (void)opts;
    (void)e;
    if (app->json) {
        struct json none = { .type = JSON_OBJECT };
        jw_json(&w, json_is(&app->config.doc, JSON_OBJECT) ? &app->config.doc : &none);
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    for (size_t i = 0; (k = config_key_at(i)); i++)
        width = strlen(k->name) > width ? strlen(k->name) : width;
    for (size_t i = 0; (k = config_key_at(i)); i++)
        list_key(app, k, width);
    return ST_OK;
}

static enum status run_get(struct app *app, const void *opts, struct err *e)
{
    struct sv          name = app_arg(app, 0);
    const struct json *v = config_find_sv(&app->config, name);
    struct jw          w = jw_in(&app->out, 0);

    (void)opts;
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

/* Two processes that change settings come one after the other, each with what the other wrote. */
static enum status change(struct app *app, struct sv value, struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sv         text, after;

    if (fs_lock_dir(app->root_fd, SV(".heddle"), &held, e))
        return err_code(e);
    enum status s = fs_read(app->root_fd, CONFIG_FILE, 1 << 20, app->a, &text, e);
    if (s && s != ST_NOT_FOUND)
        return s;
    text = s ? SV("") : utf8_skip_bom(text);
    if (config_with(text, app_arg(app, 0), value, app->a, &after, e))
        return err_code(e);
    if (fs_write(app->root_fd, CONFIG_FILE, after, 0644, e))
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
    struct sv value;

    (void)opts;
    return app_text(app, app_arg(app, 1), &value, e) ? err_code(e) : change(app, sv_trim(value), e);
}

static enum status run_unset(struct app *app, const void *opts, struct err *e)
{
    (void)opts;
    return change(app, (struct sv){ 0 }, e);
}

static enum status run_schema(struct app *app, const void *opts, struct err *e)
{
    (void)opts;
    (void)e;
    config_schema(&app->out);
    return ST_OK;
}

/* ---- rows ---------------------------------------------------------------------------- */

const struct command cmd_config_list = {
    .name = "config list",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Print the settings: their values, or what they are for",
    .details = "With --json the file as it is. heddle-config(5) tells more about each.",
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
    .synopsis = "KEY VALUE|-",
    .group = GROUP_CARE,
    .summary = "Change a setting in .heddle/config.json",
    .details = "A string is given as it is, anything else as JSON. Keys of services are never "
               "settings: they "
               "come from the environment.\n\n"
               "  heddle config set loom.subject Sub\n"
               "  heddle config set run.max_iterations 20\n"
               "  heddle config set executors.claude '[\"claude\",\"-p\"]'",
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .run = run_set,
};

const struct command cmd_config_unset = {
    .name = "config unset",
    .synopsis = "KEY",
    .group = GROUP_CARE,
    .summary = "Take a setting out of .heddle/config.json",
    .details = "  heddle config unset loom.budget",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_unset,
};

const struct command cmd_config_schema = {
    .name = "config schema",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Print the JSON Schema of .heddle/config.json",
    .run = run_schema,
};
