/* config.set and config.unset: change one of the two files of settings. */
#include "api/request.h"
#include "api/settings.h"
#include "api/term.h"
#include "api/trust.h"
#include "api/user_file.h"
#include "base/utf8.h"

struct change_params {
    struct sv key, value; /* value absent: take it out */
    bool      user;
};

/* clang-format off */
#define KEY  { "key", PARAM_TEXT, offsetof(struct change_params, key), .required = true, .value = "KEY", .help = "the setting, as `loom.budget`" }
#define USER { "user", PARAM_FLAG, offsetof(struct change_params, user), .help = "the user's own file, for every workspace" }
static const struct param set_params[] = {
    KEY,
    { "value", PARAM_TEXT, offsetof(struct change_params, value), .required = true, .value = "VALUE|-", .help = "a string as it is, anything else as JSON" },
    USER,
    { 0 },
};
static const struct param unset_params[] = { KEY, USER, { 0 } };
static const struct field set_answer[] = {
    { "set", FIELD_TEXT, .help = "the setting that was changed" },
    { 0 },
};
static const struct field unset_answer[] = {
    { "unset", FIELD_TEXT, .help = "the setting that was taken out" },
    { 0 },
};
/* clang-format on */

struct edit {
    const struct workspace     *ws;
    const struct change_params *p;
};

static enum status edit_user(void *ctx, struct sv before, struct arena *a, struct sv *after,
                             struct err *e)
{
    struct edit *d = ctx;

    return config_with(utf8_skip_bom(before), CONFIG_OF_USER, user_file_path(d->ws, USER_CONFIG, a),
                       d->p->key, d->p->value, a, after, e);
}

/* The settings in the text of a file that need trust, in canonical form. */
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

/* Keep the trust of a file when the settings that need it are unchanged. */
static enum status keep_trust(struct request *r, struct sv before, struct sv after, struct err *e)
{
    struct sv allowed = guarded_in(after, r->a);

    if (sv_is(allowed, "{}"))
        return ST_OK;
    if (sv_eq(guarded_in(before, r->a), allowed) && trust_has(r->ws, before, r->a))
        return trust_add(r->ws, after, r->a, e);
    request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                 "what .heddle/config.json says of programs, keys and the network counts once you "
                 "run: heddle trust");
    return ST_OK;
}

/* Processes that change settings at the same time wait for each other, so that no change is
 * lost. */
static enum status change_workspace(struct request *r, const struct change_params *p, struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sv         text, after;
    struct json       unused;

    if (workspace_make(r->ws, SV(".heddle"), e) ||
        fs_lock_dir(r->ws->root_fd, SV(".heddle"), &held, e) ||
        settings_of_workspace(r->ws, r->a, &text, &unused, e) ||
        config_with(utf8_skip_bom(text), CONFIG_OF_WORKSPACE, SETTINGS_FILE, p->key, p->value, r->a,
                    &after, e) ||
        fs_write(r->ws->root_fd, SETTINGS_FILE, after, 0644, e))
        return err_code(e);
    return keep_trust(r, text, after, e);
}

static enum status change(struct request *r, const struct change_params *p, const char *done,
                          struct err *e)
{
    struct edit edit = { r->ws, p };

    if (p->user ? user_file_change(r->ws, USER_CONFIG, edit_user, &edit, r->a, e)
                : change_workspace(r, p, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, done, p->key);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run_set(struct request *r, const void *params, struct err *e)
{
    struct change_params p = *(const struct change_params *)params;

    p.value = sv_trim(p.value);
    return change(r, &p, "set", e);
}

static enum status run_unset(struct request *r, const void *params, struct err *e)
{
    return change(r, params, "unset", e);
}

const struct operation op_config_set = {
    .name = "config.set",
    .summary = "Change a setting of the workspace, or of the user",
    .details = "A string is given as it is, anything else as JSON. Keys of services are never "
               "settings: they "
               "come from the environment. The workspace's file is .heddle/config.json and counts "
               "over the user's; what it says of programs, keys and the network counts once it is "
               "trusted (`heddle help trust`), what the user's file says counts at once.\n\n"
               "  heddle config set loom.subject Sub\n"
               "  heddle config set run.max_iterations 20\n"
               "  heddle config set --user executors.claude '[\"claude\",\"-p\"]'",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = set_params,
    .params_size = sizeof(struct change_params),
    .answer = set_answer,
    .run = run_set,
    .print = term_nothing, /* like other changes, it prints nothing on success */
};

const struct operation op_config_unset = {
    .name = "config.unset",
    .summary = "Take a setting out of a settings file",
    .details = "  heddle config unset loom.budget",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = unset_params,
    .params_size = sizeof(struct change_params),
    .answer = unset_answer,
    .run = run_unset,
    .print = term_nothing, /* like other changes, it prints nothing on success */
};
