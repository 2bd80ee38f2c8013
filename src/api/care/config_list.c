/* config.list and config.get: the settings in effect, and where each comes from. */
#include "api/request.h"
#include "api/term.h"
#include "base/map.h"

#include <string.h>

struct get_params {
    struct sv key;
};

/* clang-format off */
static const struct param get_params[] = {
    { "key", PARAM_TEXT, offsetof(struct get_params, key), .required = true, .value = "KEY", .help = "the setting, as `loom.budget`" },
    { 0 },
};
static const struct field item_fields[] = {
    { "help",   FIELD_TEXT, .help = "what the setting is for" },
    { "key",    FIELD_TEXT, .help = "the setting" },
    { "source", FIELD_TEXT, .help = "where the value comes from: default, user, workspace, workspace untrusted, environment" },
    { "type",   FIELD_TEXT, .help = "string, integer, number, boolean, array or object" },
    { "value",  FIELD_ANY, .nullable = true, .help = "the value, null when it is not set; a password in a URL is left out" },
    { 0 },
};
static const struct field list_answer[] = {
    { "items",    FIELD_LIST, .of = item_fields, .help = "every setting" },
    { "settings", FIELD_OBJECT, .help = "what counts, as one object in the form of the files" },
    { "trusted",  FIELD_FLAG, .help = "whether what needs trust in the workspace's file counts" },
    { 0 },
};
static const struct field get_answer[] = {
    { "key",    FIELD_TEXT, .help = "the setting" },
    { "source", FIELD_TEXT, .help = "where the value comes from" },
    { "value",  FIELD_ANY, .help = "the value" },
    { 0 },
};
/* clang-format on */

/* ---- what counts ------------------------------------------------------------------------ */

/* A URL without the password in it. */
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

/* The value in effect, the environment's before all others; NULL: the default. */
static const struct json *value_of(struct request *r, const struct config_key *k, struct sv name,
                                   enum config_source *from)
{
    const char        *variable = config_variable(k);
    struct sv          given = variable ? workspace_variable(r->ws, variable) : SV("");
    const struct json *v = config_value(&r->ws->config, name, from);
    struct json       *own = ARENA_NEW(r->a, struct json, 1);

    if (given.n) {
        *from = CONFIG_FROM_ENVIRONMENT;
        *own = json_of(given);
        v = own;
    }
    if (json_is(v, JSON_STRING) && sv_find(json_sv(v), SV("://")) > 0) {
        *own = json_of(without_password(store_url_shown(json_sv(v), r->a), r->a));
        v = own;
    }
    return v;
}

/* One setting that is not an object. `name` is its own, where the row has a star. */
static void write_item(struct request *r, const struct config_key *k, struct sv name)
{
    enum config_source from;
    const struct json *v = value_of(r, k, name, &from);

    jw_open(r->doc, '{');
    jw_kstr(r->doc, "help", sv_of(k->help));
    jw_kstr(r->doc, "key", name);
    jw_kstr(r->doc, "source", sv_of(config_source_word(from)));
    jw_kstr(r->doc, "type", sv_of(k->type));
    jw_key(r->doc, "value");
    if (v)
        jw_json(r->doc, v);
    else
        jw_null(r->doc);
    jw_close(r->doc, '}');
}

struct named {
    struct request          *r;
    const struct config_key *k;
    struct map               met;
};

static void each_named(void *ctx, struct sv dotted, const struct config_key *k,
                       const struct json *v)
{
    struct named *n = ctx;

    (void)v;
    if (k != n->k || map_find(&n->met, dotted))
        return;
    map_put(&n->met, dotted, n);
    write_item(n->r, k, dotted);
}

/* executors.*: what either file has, by any name. */
static void write_named(struct request *r, const struct config_key *k)
{
    struct named n = { r, k, map_in(r->a) };

    config_walk(&r->ws->config.user, SV(""), each_named, &n, r->a);
    config_walk(&r->ws->config.workspace, SV(""), each_named, &n, r->a);
}

static void write_items(struct request *r)
{
    const struct config_key *k;

    for (size_t i = 0; (k = config_key_at(i)); i++) {
        if (sv_ends(sv_of(k->name), SV(".*")))
            write_named(r, k);
        if (!sv_is(sv_of(k->type), "object")) /* listed by their members */
            write_item(r, k, sv_of(k->name));
    }
}

static enum status run_list(struct request *r, const void *params, struct err *e)
{
    const struct config *c = &r->ws->config;

    (void)params;
    (void)e;
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    write_items(r);
    jw_close(r->doc, ']');
    jw_key(r->doc, "settings");
    if (json_is(&c->doc, JSON_OBJECT))
        jw_json(r->doc, &c->doc);
    else
        jw_raw(r->doc, SV("{}"));
    jw_kbool(r->doc, "trusted", c->trusted);
    jw_close(r->doc, '}');
    if (!c->trusted)
        request_warn(
            r, (struct sv){ 0 }, (struct sv){ 0 },
            "what is marked [workspace untrusted] does not count until you run: heddle trust");
    return ST_OK;
}

static enum status not_set(struct sv key, enum config_source from, struct err *e)
{
    if (from == CONFIG_FROM_UNTRUSTED) {
        err_set(e, ST_PERMISSION_DENIED,
                "'" SV_FMT "' in .heddle/config.json does not count: nobody has trusted the file",
                SV_ARG(key));
        return err_hint(e, "`heddle trust` shows what it says, and asks");
    }
    if (config_check_key(key, e))
        return err_code(e);
    err_set(e, ST_NOT_FOUND, "'" SV_FMT "' is not set", SV_ARG(key));
    return err_hint(e, "`heddle config list` tells what holds then");
}

static enum status run_get(struct request *r, const void *params, struct err *e)
{
    const struct get_params *p = params;
    enum config_source       from;
    const struct json       *v = config_value(&r->ws->config, p->key, &from);

    if (!v || from == CONFIG_FROM_UNTRUSTED)
        return not_set(p->key, from, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "key", p->key);
    jw_kstr(r->doc, "source", sv_of(config_source_word(from)));
    jw_key(r->doc, "value");
    jw_json(r->doc, v);
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- for a person -------------------------------------------------------------------------- */

static void print_value(const struct json *v, struct term *t)
{
    struct sb text = sb_in(t->a, 0);
    struct jw w = jw_in(&text, 0);

    if (!json_is(v, JSON_STRING))
        jw_json(&w, v);
    term_text(t, json_is(v, JSON_STRING) ? json_sv(v) : sb_sv(&text));
}

static void print_item(const struct json *item, size_t width, struct term *t)
{
    const struct json *v = json_find(item, "value");
    struct sv          key = json_text(item, "key");

    sb_add_plain_line(t->out, key);
    sb_pad(t->out, ' ', key.n < width ? width - key.n : 0);
    term_f(t, "  ");
    if (!json_is(v, JSON_NULL))
        print_value(v, t);
    else
        term_f(t, "(" SV_FMT ") " SV_FMT, SV_ARG(json_text(item, "type")),
               SV_ARG(json_text(item, "help")));
    term_f(t, "  [" SV_FMT "]\n", SV_ARG(json_text(item, "source")));
}

static void print_list(const struct json *doc, struct term *t)
{
    const struct json       *items = json_find(doc, "items");
    const struct config_key *k;
    size_t                   width = 0;

    for (size_t i = 0; (k = config_key_at(i)); i++)
        width = strlen(k->name) > width ? strlen(k->name) : width;
    for (size_t i = 0; i < items->n; i++)
        print_item(&items->items[i], width, t);
}

static void print_get(const struct json *doc, struct term *t)
{
    print_value(json_find(doc, "value"), t);
    term_f(t, "\n");
}

const struct operation op_config_list = {
    .name = "config.list",
    .summary = "Print the settings: their values, or what they are for",
    .details =
        "Behind each stands where its value comes from: default, user (the user's own file),\n"
        "workspace (.heddle/config.json), workspace untrusted (it says so, and it does not count:\n"
        "see `heddle help trust`) or environment. With --json each item has a `source` with the\n"
        "same words, and `settings` is what counts as one object. heddle-config(5) tells more\n"
        "about each.",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .answer = list_answer,
    .run = run_list,
    .print = print_list,
};

const struct operation op_config_get = {
    .name = "config.get",
    .summary = "Print the value of one setting",
    .details = "  heddle config get loom.summary_model",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .params = get_params,
    .params_size = sizeof(struct get_params),
    .answer = get_answer,
    .run = run_get,
    .print = print_get,
};
