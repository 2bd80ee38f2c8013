#include "front/config.h"

/* clang-format off */
static const struct config_key keys[] = {
    { "store",               "string",  "where the log lives: a path below the workspace (default .heddle/heddle.db)" },
    { "system_prompt",       "string",  "prompt of a lane that has no snapshot of its own" },
    { "run",                 "object",  "what a run is made of; part of a checkpoint's fingerprint" },
    { "run.model",           "string",  "model id, as provider:name" },
    { "run.max_iterations",  "integer", "model calls in one run before it is ended (default 10)" },
    { "run.tools",           "array",   "names of the tools a run may use" },
    { "executors",           "object",  "commands that work on threads, by name" },
    { "executors.*",         "array",   "a command and its arguments; gets the prompt on stdin" },
    { "loom",                "object",  "how agents work in trees" },
    { "loom.subject",        "string",  "agent that `continue` asks (default: the only model without loom_aware)" },
    { "loom.summary_model",  "string",  "model that makes summaries, as provider:name (default: extracts; `summarize`: by the keys there are)" },
    { "loom.result_tokens",  "integer", "longest tool result shown whole (default 1000)" },
    { "loom.budget",         "integer", "tokens of working context that `memory` counts against (default 50000)" },
    { "checkpoint",          "object",  "checkpoint tokens" },
    { "checkpoint.ttl_ms",   "integer", "how long a token is good (default: for ever)" },
    { "search",              "object",  "services that `→ search` asks; their keys come from the environment" },
    { "search.tavily_url",   "string",  "where Tavily is (default https://api.tavily.com); its key is TAVILY_API_KEY" },
    { "search.brave_url",    "string",  "where Brave is (default https://api.search.brave.com); its key is BRAVE_API_KEY" },
    { "search.searxng_url",  "string",  "where a SearXNG is that may be asked; it needs no key" },
    { "search.timeout_ms",   "integer", "time for one service (default 20000)" },
    { "search.proxy",        "string",  "proxy for searches" },
    { "tokens",              "object",  "how tokens are counted" },
    { "tokens.encoding",     "string",  "o200k_base or cl100k_base (default o200k_base)" },
    { "tokens.factor",       "object",  "what counts are multiplied by, for models without a published vocabulary" },
    { "tokens.factor.*",     "number",  "by the beginning of the model's name: 0.1 to 10" },
    { "payload",                    "object",  "what `heddle payload` may do" },
    { "payload.allow_private_urls", "boolean", "fetch from loopback and private addresses" },
    { "payload.url_timeout_ms",     "integer", "time for one page (default 20000)" },
    { "payload.url_max_bytes",      "integer", "size of one page (default 10485760)" },
    { "payload.url_ttl_ms",         "integer", "how long a fetched page is kept (default 3600000)" },
    { "payload.proxy",              "string",  "proxy for pages; trusted to refuse private addresses itself" },
};
/* clang-format on */

static bool type_fits(const struct json *v, struct sv type)
{
    switch (v->type) {
    case JSON_STRING: return sv_is(type, "string");
    case JSON_NUMBER: {
        int64_t n;
        return sv_is(type, "number") || (sv_is(type, "integer") && json_int(v, &n));
    }
    case JSON_TRUE:
    case JSON_FALSE: return sv_is(type, "boolean");
    case JSON_ARRAY: return sv_is(type, "array");
    case JSON_OBJECT: return sv_is(type, "object");
    case JSON_NULL: return false;
    }
    return false;
}

/* Does `name` (dotted, as met in the file) match a row's name? */
static bool name_fits(struct sv row, struct sv name)
{
    for (;;) {
        struct sv_cut r = sv_cut(row, '.'), n = sv_cut(name, '.');
        if (sv_is(r.head, "*") && !r.found)
            return true; /* a name may hold dots itself */
        if (!sv_is(r.head, "*") && !sv_eq(r.head, n.head))
            return false;
        if (r.found != n.found)
            return false;
        if (!r.found)
            return true;
        row = r.tail;
        name = n.tail;
    }
}

static const struct config_key *key_of(struct sv name)
{
    for (size_t i = 0; i < COUNT(keys); i++)
        if (name_fits(sv_of(keys[i].name), name))
            return &keys[i];
    return NULL;
}

static enum status check(const struct json *object, struct sv prefix, struct arena *a,
                         struct err *e)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        struct sb                 b = sb_in(a, 0);
        sb_add(&b, prefix);
        sb_adds(&b, prefix.n ? "." : "");
        sb_add(&b, m->key);
        struct sv                name = sb_sv(&b);
        const struct config_key *k = key_of(name);
        bool                     any = k && sv_ends(sv_of(k->name), SV(".*"));
        if (!k || (sv_has(m->key, '.') && !any)) { /* "a.b" is not a in b */
            err_set(e, ST_INVALID_SYNTAX, "unknown key '" SV_FMT "'", SV_ARG(name));
            return err_hint(e, "`heddle config schema` prints the keys there are");
        }
        if (!type_fits(&m->value, sv_of(k->type)))
            return err_set(e, ST_INVALID_SYNTAX, "key '" SV_FMT "' must be of type %s",
                           SV_ARG(name), k->type);
        if (m->value.type == JSON_OBJECT && check(&m->value, name, a, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status config_read(struct sv text, struct arena *a, struct config *c, struct err *e)
{
    struct json doc;

    if (json_parse(text, 0, a, &doc, e))
        return err_in(e, ".heddle/config.json");
    if (doc.type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, ".heddle/config.json must hold an object");
    if (check(&doc, SV(""), a, e))
        return err_in(e, ".heddle/config.json");
    c->doc = doc;
    return ST_OK;
}

/* ---- values ------------------------------------------------------------------------ */

enum { PARTS_MAX = 4 };

/* The names on the way to a value: those of its row, where * takes the rest, dots and all. */
static size_t parts_of(const struct config_key *k, struct sv dotted, struct sv parts[PARTS_MAX])
{
    struct sv_cut row = { .tail = sv_of(k->name), .found = true };
    size_t        n = 0;

    while (row.found && n < PARTS_MAX) {
        row = sv_cut(row.tail, '.');
        struct sv_cut own = sv_cut(dotted, '.');
        parts[n++] = row.found ? own.head : dotted;
        dotted = own.tail;
    }
    return n;
}

const struct json *config_find_sv(const struct config *c, struct sv dotted)
{
    const struct config_key *k = key_of(dotted);
    const struct json       *v = k ? &c->doc : NULL;
    struct sv                parts[PARTS_MAX];
    size_t                   n = k ? parts_of(k, dotted, parts) : 0;

    for (size_t i = 0; i < n && v; i++)
        v = json_find_sv(v, parts[i]);
    return v;
}

const struct json *config_find(const struct config *c, const char *dotted)
{
    return config_find_sv(c, sv_of(dotted));
}

struct sv config_text(const struct config *c, const char *dotted)
{
    return json_sv(config_find(c, dotted));
}

int64_t config_int(const struct config *c, const char *dotted, int64_t otherwise)
{
    int64_t n;

    return json_int(config_find(c, dotted), &n) ? n : otherwise;
}

bool config_bool(const struct config *c, const char *dotted)
{
    return json_truth(config_find(c, dotted));
}

const struct config_key *config_key_at(size_t i)
{
    return i < COUNT(keys) ? &keys[i] : NULL;
}

/* ---- changing a value -------------------------------------------------------------- */

/* `object` (NULL: none yet) with the value at the end of `parts`, or without it. */
static void write_with(struct jw *w, const struct json *object, const struct sv *parts, size_t n,
                       const struct json *value)
{
    bool met = false;

    jw_open(w, '{');
    for (size_t i = 0; json_is(object, JSON_OBJECT) && i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        bool                      here = sv_eq(m->key, parts[0]);
        met = met || here;
        if (here && n == 1 && !value)
            continue;
        jw_key_sv(w, m->key);
        if (here && n > 1)
            write_with(w, &m->value, parts + 1, n - 1, value);
        else
            jw_json(w, here ? value : &m->value);
    }
    if (!met && value) {
        jw_key_sv(w, parts[0]);
        if (n > 1)
            write_with(w, NULL, parts + 1, n - 1, value);
        else
            jw_json(w, value);
    }
    jw_close(w, '}');
}

enum status config_check_key(struct sv dotted, struct err *e)
{
    const char *nearest = NULL;
    size_t      best = 4;

    if (key_of(dotted) && !sv_ends(dotted, SV(".")))
        return ST_OK;
    for (size_t i = 0; i < COUNT(keys); i++) {
        size_t d = sv_distance(dotted, sv_of(keys[i].name));
        if (d < best && d * 2 < dotted.n) {
            best = d;
            nearest = keys[i].name;
        }
    }
    err_set(e, ST_NOT_FOUND, "there is no setting '" SV_FMT "'", SV_ARG(dotted));
    return nearest ? err_hint(e, "did you mean %s?", nearest)
                   : err_hint(e, "`heddle config list` shows them all");
}

static enum status read_value(const struct config_key *k, struct sv typed, struct arena *a,
                              struct json *out, struct err *e)
{
    *out = json_of(typed);
    if (sv_is(sv_of(k->type), "string") ||
        (json_parse(typed, 0, a, out, e) == ST_OK && type_fits(out, sv_of(k->type))))
        return ST_OK;
    err_set(e, ST_USAGE, "%s takes a value of type %s", k->name, k->type);
    return err_hint(e, "%s", k->help);
}

enum status config_with(struct sv text, struct sv dotted, struct sv value, struct arena *a,
                        struct sv *out, struct err *e)
{
    const struct config_key *k = key_of(dotted);
    struct sv                parts[PARTS_MAX];
    struct json              doc = { 0 }, v;
    struct config            unused;
    struct sb                b = sb_in(a, 0);
    struct jw                w = jw_in(&b, 2);

    if (config_check_key(dotted, e))
        return err_code(e);
    if (value.s && read_value(k, value, a, &v, e))
        return err_code(e);
    if (text.n &&
        (config_read(text, a, &unused, e) || json_parse(text, JSON_KEEP_ORDER, a, &doc, e)))
        return err_code(e);
    write_with(&w, &doc, parts, parts_of(k, dotted, parts), value.s ? &v : NULL);
    sb_addc(&b, '\n');
    *out = sb_sv(&b);
    return config_read(*out, a, &unused, e); /* what is inside of an object is checked as well */
}

/* ---- the schema -------------------------------------------------------------------- */

/* The rows directly below `prefix`, as members of "properties". */
static void schema_below(struct jw *w, struct sv prefix)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct sv name = sv_of(keys[i].name);
        if (!sv_starts(name, prefix) || sv_has(sv_skip(name, prefix.n), '.') || name.n == prefix.n)
            continue;
        struct sv last = sv_skip(name, prefix.n);
        if (sv_is(last, "*"))
            continue; /* additionalProperties of the parent */
        jw_key_sv(w, last);
        jw_open(w, '{');
        jw_kstr(w, "type", sv_of(keys[i].type));
        jw_kstr(w, "description", sv_of(keys[i].help));
        if (sv_is(sv_of(keys[i].type), "object")) {
            struct arena scratch = { 0 };
            struct sb    b = sb_in(&scratch, 0);
            sb_addf(&b, SV_FMT ".", SV_ARG(name));
            struct sv below = sb_sv(&b);
            sb_addc(&b, '*');
            const struct config_key *any = key_of(sb_sv(&b));
            jw_kbool(w, "additionalProperties", any != NULL);
            jw_key(w, "properties");
            jw_open(w, '{');
            schema_below(w, sv_first(sb_sv(&b), below.n));
            jw_close(w, '}');
            arena_free(&scratch);
        }
        jw_close(w, '}');
    }
}

void config_schema(struct sb *out)
{
    struct jw w = jw_in(out, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "$schema", SV("https://json-schema.org/draft/2020-12/schema"));
    jw_kstr(&w, "title", SV(".heddle/config.json"));
    jw_kstr(&w, "type", SV("object"));
    jw_kbool(&w, "additionalProperties", false);
    jw_key(&w, "properties");
    jw_open(&w, '{');
    schema_below(&w, SV(""));
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(out, '\n');
}
