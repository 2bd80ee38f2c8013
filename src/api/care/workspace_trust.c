/* workspace.trust: let the settings of a workspace run programs, spend keys and open the network.
 * Only a person at a terminal can agree to that. A door that has shown a person what it would allow
 * sets r->agreed, with the hash of what was shown; without it nothing is trusted, whatever the
 * caller and the parameters are. */
#include "api/request.h"
#include "api/settings.h"
#include "api/term.h"
#include "api/trust.h"
#include "base/clock.h"

struct trust_params {
    bool      remove, list;
    struct sv sha256;
};

static const char *const states[] = { "not_needed", "before", "now", "removed", "never", NULL };

/* clang-format off */
static const struct param params[] = {
    { "remove", PARAM_FLAG, offsetof(struct trust_params, remove), .help = "no longer trust this workspace" },
    { "list",   PARAM_FLAG, offsetof(struct trust_params, list), .help = "list the workspaces that are trusted" },
    { "sha256", PARAM_TEXT, offsetof(struct trust_params, sha256), .value = "HASH", .help = "of the settings that were shown: only these are trusted" },
    { 0 },
};
static const struct field item_fields[] = {
    { "at",     FIELD_TIME, .nullable = true, .help = "when it was trusted" },
    { "root",   FIELD_TEXT, .help = "the workspace" },
    { "sha256", FIELD_TEXT, .nullable = true, .help = "of its settings then" },
    { 0 },
};
static const struct field setting_fields[] = {
    { "key",   FIELD_TEXT, .help = "the setting" },
    { "power", FIELD_TEXT, .help = "what it can do" },
    { "value", FIELD_ANY, .help = "what it says" },
    { 0 },
};
static const struct field answer[] = {
    { "items",    FIELD_LIST, .of = item_fields, .optional = true, .help = "with `list`: the workspaces that are trusted" },
    { "removed",  FIELD_FLAG, .optional = true, .help = "with `remove`: whether it was trusted" },
    { "root",     FIELD_TEXT, .optional = true, .help = "the workspace" },
    { "settings", FIELD_LIST, .of = setting_fields, .optional = true, .help = "the settings that need trust" },
    { "sha256",   FIELD_TEXT, .optional = true, .nullable = true, .help = "of the file; null: there is none" },
    { "state",    FIELD_ENUM, .values = states, .optional = true, .help = "not_needed: nothing needs trust; before: it was trusted; now: it is trusted; removed: no longer; never: it was not" },
    { "trusted",  FIELD_FLAG, .optional = true, .help = "whether all of its settings count" },
    { 0 },
};
/* clang-format on */

static void write_setting(void *ctx, struct sv dotted, const struct config_key *k,
                          const struct json *v)
{
    struct jw *w = ctx;

    jw_open(w, '{');
    jw_kstr(w, "key", dotted);
    jw_kstr(w, "power", sv_of(config_power(k)));
    jw_key(w, "value");
    jw_json(w, v);
    jw_close(w, '}');
}

static enum status answer_trusted(struct request *r, const struct config *c, struct sv text,
                                  const char *state)
{
    struct jw *w = r->doc;

    jw_open(w, '{');
    jw_kstr(w, "root", r->ws->root);
    jw_key(w, "settings");
    jw_open(w, '[');
    config_walk(&c->guarded, SV(""), write_setting, w, r->a);
    jw_close(w, ']');
    jw_kstr(w, "sha256", text.s ? trust_hash(text, r->a) : (struct sv){ 0 });
    jw_kstr(w, "state", sv_of(state));
    jw_kbool(w, "trusted", true);
    jw_close(w, '}');
    return ST_OK;
}

static enum status not_agreed(struct request *r, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED,
            "only a person at a terminal can trust a workspace, and there is no terminal here");
    err_reason(e, "needs_terminal");
    return err_hint(e, "ask the user to run: heddle trust --root " SH_FMT, SV_ARG(r->ws->root));
}

static enum status trust(struct request *r, const struct trust_params *p, struct err *e)
{
    struct json   doc, none = { 0 };
    struct config c;
    struct sv     text;

    if (settings_of_workspace(r->ws, r->a, &text, &doc, e))
        return err_code(e);
    config_join(&c, &none, &doc, false, r->a);
    if (c.trusted)
        return answer_trusted(r, &c, text, "not_needed");
    if (trust_has(r->ws, text, r->a))
        return answer_trusted(r, &c, text, "before");
    if (!r->agreed)
        return not_agreed(r, e);
    if (!sv_eq(p->sha256, trust_hash(text, r->a)))
        return err_set(e, ST_CONFLICT, "the settings were changed while they were looked at");
    return trust_add(r->ws, text, r->a, e) ? err_code(e) : answer_trusted(r, &c, text, "now");
}

static enum status remove_trust(struct request *r, struct err *e)
{
    bool was;

    if (trust_remove(r->ws, r->a, &was, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kbool(r->doc, "removed", was);
    jw_kstr(r->doc, "root", r->ws->root);
    jw_kstr(r->doc, "state", was ? SV("removed") : SV("never"));
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status list(struct request *r, struct err *e)
{
    struct json all;
    struct jw  *w = r->doc;

    if (trust_list(r->ws, r->a, &all, e))
        return err_code(e);
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < all.n; i++) {
        int64_t at = 0;
        bool    timed = clock_parse_iso(json_text(&all.members[i].value, "at"), &at);
        jw_open(w, '{');
        jw_ktime_if(w, "at", timed, at);
        jw_kstr(w, "root", all.members[i].key);
        jw_kstr(w, "sha256", json_text(&all.members[i].value, "sha256"));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct trust_params *p = params_given;

    if (p->list && p->remove)
        return err_set(e, ST_USAGE, "--list and --remove are two things to do");
    if (p->list)
        return list(r, e);
    return p->remove ? remove_trust(r, e) : trust(r, p, e);
}

static void print_items(const struct json *items, struct term *t)
{
    for (size_t i = 0; i < items->n; i++) {
        sb_add_plain_line(t->out, json_text(&items->items[i], "at"));
        term_f(t, "  ");
        sb_add_plain_line(t->out, json_text(&items->items[i], "root"));
        term_f(t, "\n");
    }
    if (!items->n)
        term_f(t, "no workspace is trusted\n");
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const said[] = { "nothing here needs trust", "trusted already", "trusted",
                                        "no longer trusted", "was not trusted" };
    const struct json       *items = json_find(doc, "items");
    struct sv                state = json_text(doc, "state");

    if (items) {
        print_items(items, t);
        return;
    }
    for (size_t i = 0; states[i]; i++)
        if (sv_is(state, states[i]))
            term_f(t, "%s: ", said[i]);
    sb_add_plain_line(t->out, json_text(doc, "root"));
    term_f(t, "\n");
}

const struct operation op_workspace_trust = {
    .name = "workspace.trust",
    .summary = "Allow what this workspace's settings say of programs, keys, networks",
    .details =
        "The file .heddle/config.json comes with a checkout. Settings in it that run programs\n"
        "(executors), say where keys are sent or open the network are ignored until you have seen\n"
        "and trusted them. Shows them, and asks at the terminal; where there is none the command\n"
        "is refused, so that no agent can answer. A file that changes has to be trusted again,\n"
        "unless `heddle config set` changed a setting that needs no trust.\n\n"
        "Your own file needs no trust: `heddle config set --user`.\n\n"
        "  heddle trust --list",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct trust_params),
    .answer = answer,
    .run = run,
    .print = print,
};
