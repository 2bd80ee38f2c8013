/* The table of settings, what a file may contain, and which of two files takes precedence. */
#include "api/config.h"

#include "api/config_limits.h"

#include <stdlib.h>

/* CONFIG_FREE: harmless even if another person wrote it. A setting that can run a program, use a
 * key or reach another machine must have another power: from the file of a workspace it takes
 * effect only once that file is trusted. A command that prints a key is CONFIG_USER_ONLY, trusted
 * or not. */
/* clang-format off */
static const struct config_key keys[] = {
    { "store",                       "string",  CONFIG_FREE,      "where the log lives: a path below the workspace (default .heddle/heddle.db); of the user also postgres://…" },
    { "stores",                      "object",  CONFIG_USER_ONLY, "logs of single workspaces that live elsewhere: `heddle store switch` writes it" },
    { "stores.*",                    "string",  CONFIG_USER_ONLY, "by the id in .leslie/workspace.json: where its log lives" },
    { "system_prompt",               "string",  CONFIG_FREE,      "prompt of a lane without one: logged when a run begins" },
    { "run",                         "object",  CONFIG_FREE,      "what a run is made of; part of a checkpoint's fingerprint" },
    { "run.model",                   "string",  CONFIG_FREE,      "model id, as provider:name" },
    { "run.max_iterations",          "integer", CONFIG_FREE,      "model calls in one run before it is ended (default 10)" },
    { "run.tools",                   "array",   CONFIG_FREE,      "names of the tools a run may use" },
    { "executors",                   "object",  CONFIG_FREE,      "commands that work on threads, by name" },
    { "executors.*",                 "array",   CONFIG_RUNS,      "a command and its arguments; gets the prompt on stdin" },
    { "loom",                        "object",  CONFIG_FREE,      "how agents work in trees" },
    { "loom.subject",                "string",  CONFIG_FREE,      "agent that `continue` asks (default: the only model without loom_aware)" },
    { "loom.summary_model",          "string",  CONFIG_SPENDS,    "model that makes all summaries, as provider:name; none: extracts (default: a small model of the company whose agent wrote or asks, see models.small)" },
    { "loom.classifier",             "string",  CONFIG_SPENDS,    "model that suggests a command, as provider:name, when no pattern understands a → line; it is never run (default: none)" },
    { "loom.carry",                  "boolean", CONFIG_FREE,      "→ switch takes a summary of the branch that is left along, as `carry` does" },
    { "loom.result_tokens",          "integer", CONFIG_FREE,      "longest tool result shown whole (default 1000)" },
    { "loom.budget",                 "integer", CONFIG_FREE,      "tokens of what a model is sent for a turn (default 50000)" },
    { "loom.strategy",               "string",  CONFIG_FREE,      "what is cut when that is too much: auto, summarize, truncateMiddle, rollingWindow or stopAtLimit (default auto)" },
    { "loom.recent",                 "integer", CONFIG_FREE,      "messages at the end of a conversation that stay whole where possible (default 4)" },
    { "loom.buffer_system",          "boolean", CONFIG_FREE,      "send the system prompt to base models in buffer mode, too" },
    { "compact",                     "object",  CONFIG_FREE,      "how long conversations are shortened for good" },
    { "compact.auto",                "boolean", CONFIG_FREE,      "do it in `talk` by itself (default true)" },
    { "compact.at",                  "integer", CONFIG_FREE,      "percent of loom.budget at which that happens (default 80)" },
    { "compact.keep",                "integer", CONFIG_FREE,      "messages at the end that stay (default 8)" },
    { "compact.model",               "string",  CONFIG_SPENDS,    "model that makes the summary, as provider:name (default: loom.summary_model, else the agent's own)" },
    { "compact.instructions",        "string",  CONFIG_FREE,      "what a summary should keep, for the model that makes it" },
    { "talk",                        "object",  CONFIG_FREE,      "limits of one turn of an agent" },
    { "talk.max_rounds",             "integer", CONFIG_SPENDS,    "how often its model is asked (default 25)" },
    { "talk.max_tokens",             "integer", CONFIG_SPENDS,    "tokens that it may use, sent and received (default: any number)" },
    { "talk.max_cost",               "number",  CONFIG_SPENDS,    "dollars that it may cost, where that is known (default: any amount)" },
    { "checkpoint",                  "object",  CONFIG_FREE,      "checkpoint tokens" },
    { "checkpoint.ttl_ms",           "integer", CONFIG_FREE,      "how long a token is valid (default: forever)" },
    { "search",                      "object",  CONFIG_FREE,      "services that `→ search` asks; their keys come from the environment" },
    { "search.tavily_url",           "string",  CONFIG_SPENDS,    "where Tavily is (default https://api.tavily.com); its key is TAVILY_API_KEY" },
    { "search.brave_url",            "string",  CONFIG_SPENDS,    "where Brave is (default https://api.search.brave.com); its key is BRAVE_API_KEY" },
    { "search.searxng_url",          "string",  CONFIG_OPENS,     "where a SearXNG is that may be asked; it needs no key" },
    { "search.timeout_ms",           "integer", CONFIG_FREE,      "time for one service (default 20000)" },
    { "search.proxy",                "string",  CONFIG_OPENS,     "proxy for searches" },
    { "models",                      "object",  CONFIG_FREE,      "providers of models; their keys come from the environment" },
    { "models.url",                  "object",  CONFIG_USER_ONLY, "where providers are, when not at their usual address" },
    { "models.url.*",                "string",  CONFIG_USER_ONLY, "by the provider's name: https, or http on this machine" },
    { "models.key_command",          "object",  CONFIG_USER_ONLY, "programs that print keys, for providers whose variable is not set" },
    { "models.key_command.*",        "array",   CONFIG_USER_ONLY, "by the provider's name: a command and its arguments; the first line it prints is the key" },
    { "models.prices",               "object",  CONFIG_SPENDS,    "what models cost, for the meter and the limits of `heddle talk`" },
    { "models.prices.*",             "array",   CONFIG_SPENDS,    "by the beginning of the model's provider:name: dollars for a million tokens of input, output, input read from a cache and input written to one; the last two may be missing" },
    { "models.small",                "object",  CONFIG_SPENDS,    "models that make the summaries of agents, by the company of the agent's own model" },
    { "models.small.*",              "string",  CONFIG_SPENDS,    "by the name of a company such as ollama: a model as provider:name (default: the agent's own; for anthropic and openai, once Claude 3.5 Haiku or GPT-4o mini is gone: anthropic:claude-haiku-5-5, openai:gpt-6-luna)" },
    { "models.connect_ms",           "integer", CONFIG_FREE,      "time until a provider is connected (default 15000)" },
    { "models.first_byte_ms",        "integer", CONFIG_FREE,      "time until its answer begins (default 600000)" },
    { "models.idle_ms",              "integer", CONFIG_FREE,      "longest silence within an answer (default 300000)" },
    { "models.proxy",                "string",  CONFIG_OPENS,     "proxy for providers that are not on this machine" },
    { "tokens",                      "object",  CONFIG_FREE,      "how tokens are counted" },
    { "tokens.encoding",             "string",  CONFIG_FREE,      "o200k_base or cl100k_base (default o200k_base)" },
    { "tokens.factor",               "object",  CONFIG_FREE,      "what counts are multiplied by, for models without a published vocabulary" },
    { "tokens.factor.*",             "number",  CONFIG_FREE,      "by the beginning of the model's name: 0.1 to 10" },
    { "payload",                     "object",  CONFIG_FREE,      "what `heddle payload` may do" },
    { "payload.allow_private_urls",  "boolean", CONFIG_OPENS,     "fetch from loopback and private addresses" },
    { "payload.url_timeout_ms",      "integer", CONFIG_FREE,      "time for one page (default 20000)" },
    { "payload.url_total_ms",        "integer", CONFIG_FREE,      "time for all pages together (default 60000)" },
    { "payload.url_max_bytes",       "integer", CONFIG_FREE,      "size of one page (default 10485760)" },
    { "payload.url_ttl_ms",          "integer", CONFIG_FREE,      "how long a fetched page is kept (default 3600000)" },
    { "payload.proxy",               "string",  CONFIG_OPENS,     "proxy for pages; trusted to refuse private addresses itself" },
    { "safe_workspaces",             "array",   CONFIG_USER_ONLY, "workspaces of other users that may be used: absolute paths, with /* at the end what is below, * all" },
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

/* Does `name` (dotted, as found in the file) match a row's name? */
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
        if (name.n && keys[i].name[0] == name.s[0] && name_fits(sv_of(keys[i].name), name))
            return &keys[i];
    return NULL;
}

static enum status unknown_key(struct sv name, struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "unknown key '" SV_FMT "'", SV_ARG(name));
    return err_hint(e, "`heddle config schema` prints the keys there are");
}

static enum status users_key(struct sv name, struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "key '" SV_FMT "' counts only in the user's own file",
            SV_ARG(name));
    return err_hint(e, "`heddle config set --user " SH_FMT " VALUE` sets it there", SV_ARG(name));
}

static struct sv dotted_name(struct sv prefix, struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, prefix);
    sb_adds(&b, prefix.n ? "." : "");
    sb_add(&b, key);
    return sb_sv(&b);
}

static enum status check(const struct json *object, struct sv prefix, enum config_file file,
                         struct arena *a, struct err *e)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        struct sv                 name = dotted_name(prefix, m->key, a);
        const struct config_key  *k = key_of(name);
        bool                      any = k && sv_ends(sv_of(k->name), SV(".*"));
        if (!k || (sv_has(m->key, '.') && !any)) /* the key "a.b" is not the member b of a */
            return unknown_key(name, e);
        if (k->power == CONFIG_USER_ONLY && file != CONFIG_OF_USER)
            return users_key(name, e);
        if (!type_fits(&m->value, sv_of(k->type)))
            return err_set(e, ST_INVALID_SYNTAX, "key '" SV_FMT "' must be of type %s",
                           SV_ARG(name), k->type);
        if (config_check_value(k->name, name, &m->value, e))
            return err_code(e);
        if (m->value.type == JSON_OBJECT && check(&m->value, name, file, a, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status config_read(struct sv text, enum config_file file, struct sv path, struct arena *a,
                        struct json *out, struct err *e)
{
    struct json doc;

    if (json_parse(text, 0, a, &doc, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    if (doc.type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, SV_FMT " must hold an object", SV_ARG(path));
    if (check(&doc, SV(""), file, a, e))
        return err_in(e, SV_FMT, SV_ARG(path));
    *out = doc;
    return ST_OK;
}

/* ---- two files --------------------------------------------------------------------- */

/* A model inside this program makes no request to anybody. */
static bool is_offline(const struct json *v)
{
    return sv_starts(json_sv(v), SV("offline:"));
}

static bool is_guarded(const struct config_key *k, const struct json *v)
{
    return k->power != CONFIG_FREE && !(k->power == CONFIG_SPENDS && is_offline(v));
}

/* The members of an object (of a file that was checked) that need trust, or those that do not. An
 * object without any is left out when the guarded ones are wanted. */
static struct json part_of(const struct json *object, struct sv prefix, bool guarded,
                           struct arena *a)
{
    struct json out = { .type = JSON_OBJECT };

    out.members = ARENA_NEW(a, struct json_member, object->n + 1);
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        struct sv                 name = dotted_name(prefix, m->key, a);
        struct json_member        taken = *m;
        bool                      take = is_guarded(key_of(name), &m->value) == guarded;
        if (m->value.type == JSON_OBJECT) {
            taken.value = part_of(&m->value, name, guarded, a);
            take = !guarded || taken.value.n > 0;
        }
        if (take)
            out.members[out.n++] = taken;
    }
    return out;
}

/* Both files are sorted by key: one object on top of the other, objects member by member. */
static struct json merged(const struct json *under, const struct json *over, struct arena *a)
{
    struct json out = { .type = JSON_OBJECT };
    size_t      i = 0, k = 0;

    if (!json_is(under, JSON_OBJECT) || !json_is(over, JSON_OBJECT))
        return json_is(over, JSON_NULL) ? *under : *over;
    out.members = ARENA_NEW(a, struct json_member, under->n + over->n + 1);
    while (i < under->n || k < over->n) {
        const struct json_member *u = i < under->n ? &under->members[i] : NULL;
        const struct json_member *o = k < over->n ? &over->members[k] : NULL;
        int                       order = u && o ? sv_cmp(u->key, o->key) : 0;
        struct json_member       *to = &out.members[out.n++];
        if (u && (!o || order < 0)) {
            *to = *u;
            i++;
        } else if (o) {
            bool both = u && order == 0;
            *to = *o;
            if (both)
                to->value = merged(&u->value, &o->value, a);
            i += both;
            k++;
        }
    }
    return out;
}

void config_join(struct config *c, const struct json *user, const struct json *workspace,
                 bool trusted, struct arena *a)
{
    struct json none = { .type = JSON_OBJECT }, counts;

    *c = (struct config){ .user = *user, .workspace = *workspace };
    c->told = ARENA_NEW(a, atomic_bool, COUNT(keys));
    c->guarded = json_is(workspace, JSON_OBJECT) ? part_of(workspace, SV(""), true, a) : none;
    c->trusted = trusted || !c->guarded.n;
    counts = c->trusted ? *workspace : part_of(workspace, SV(""), false, a);
    c->doc = merged(user, &counts, a);
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

/* The value in one document. */
static const struct json *find_in(const struct json *doc, struct sv dotted)
{
    const struct config_key *k = doc->n ? key_of(dotted) : NULL; /* most files set nothing */
    const struct json       *v = k ? doc : NULL;
    struct sv                parts[PARTS_MAX];
    size_t                   n = k ? parts_of(k, dotted, parts) : 0;

    for (size_t i = 0; i < n && v; i++)
        v = json_find_sv(v, parts[i]);
    return v;
}

/* Warn that the value of a file that is not trusted is not used: once for each row, and only when
 * the value is asked for. */
static void tell_withheld(const struct config *c, struct sv dotted)
{
    if (!c->withheld || c->trusted || !find_in(&c->guarded, dotted))
        return;
    const struct config_key *k = key_of(dotted);
    if (!k || atomic_exchange(&c->told[k - keys], true))
        return;
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    sb_addf(&b,
            SV_FMT
            " in .heddle/config.json is ignored, since it %s and nobody has trusted this file; "
            "to allow it, run: heddle trust",
            SV_ARG(dotted), config_power(k));
    c->withheld(c->withheld_ctx, sb_sv(&b));
    arena_free(&scratch);
}

const struct json *config_find_sv(const struct config *c, struct sv dotted)
{
    tell_withheld(c, dotted);
    return find_in(&c->doc, dotted);
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

const char *config_power(const struct config_key *k)
{
    static const char *const does[] = {
        [CONFIG_FREE] = "allows nothing",
        [CONFIG_RUNS] = "runs a program",
        [CONFIG_SPENDS] = "says where a key is sent or spent",
        [CONFIG_OPENS] = "opens the network",
        [CONFIG_USER_ONLY] = "belongs to the user's own file",
    };

    if (sv_is(sv_of(k->type), "object"))
        return "holds settings that need trust";
    return does[k->power];
}

const struct json *config_value(const struct config *c, struct sv dotted, enum config_source *from)
{
    const struct json *v = find_in(&c->doc, dotted), *own = find_in(&c->workspace, dotted);
    bool               withheld = !c->trusted && find_in(&c->guarded, dotted);

    *from = !v                 ? (withheld ? CONFIG_FROM_UNTRUSTED : CONFIG_FROM_DEFAULT)
            : own && !withheld ? CONFIG_FROM_WORKSPACE
                               : CONFIG_FROM_USER;
    return v ? v : withheld ? own : NULL;
}

const char *config_source_word(enum config_source s)
{
    static const char *const words[] = {
        [CONFIG_FROM_DEFAULT] = "default",         [CONFIG_FROM_USER] = "user",
        [CONFIG_FROM_WORKSPACE] = "workspace",     [CONFIG_FROM_UNTRUSTED] = "workspace untrusted",
        [CONFIG_FROM_ENVIRONMENT] = "environment",
    };

    return words[s];
}

void config_walk(const struct json *part, struct sv prefix, config_each *each, void *ctx,
                 struct arena *a)
{
    for (size_t i = 0; json_is(part, JSON_OBJECT) && i < part->n; i++) {
        struct sv name = dotted_name(prefix, part->members[i].key, a);
        if (json_is(&part->members[i].value, JSON_OBJECT))
            config_walk(&part->members[i].value, name, each, ctx, a);
        else
            each(ctx, name, key_of(name), &part->members[i].value);
    }
}

const char *config_variable(const struct config_key *k)
{
    return sv_is(sv_of(k->name), "store") ? "HEDDLE_STORE" : NULL;
}

const struct config_key *config_key_at(size_t i)
{
    return i < COUNT(keys) ? &keys[i] : NULL;
}

/* ---- changing a value -------------------------------------------------------------- */

/* Write `object` (NULL: there is none yet) with `value` at the path `parts`, or without that member
 * when `value` is NULL. */
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

enum status config_with(struct sv text, enum config_file file, struct sv path, struct sv dotted,
                        struct sv value, struct arena *a, struct sv *out, struct err *e)
{
    const struct config_key *k = key_of(dotted);
    struct sv                parts[PARTS_MAX];
    struct json              doc = { 0 }, v, unused;
    struct sb                b = sb_in(a, 0);
    struct jw                w = jw_in(&b, 2);

    if (config_check_key(dotted, e))
        return err_code(e);
    if (value.s && read_value(k, value, a, &v, e))
        return err_code(e);
    if (text.n && (config_read(text, file, path, a, &unused, e) ||
                   json_parse(text, JSON_KEEP_ORDER, a, &doc, e)))
        return err_code(e);
    write_with(&w, &doc, parts, parts_of(k, dotted, parts), value.s ? &v : NULL);
    sb_addc(&b, '\n');
    *out = sb_sv(&b);
    return config_read(*out, file, path, a, &unused,
                       e); /* what is inside of an object is checked as well */
}

/* ---- the schema -------------------------------------------------------------------- */

static void schema_below(struct jw *w, struct sv prefix, enum config_file file);

static void schema_object(struct jw *w, struct sv name, enum config_file file)
{
    struct arena             scratch = { 0 };
    struct sv                below = dotted_name(name, SV(""), &scratch);
    const struct config_key *any = key_of(dotted_name(name, SV("*"), &scratch));

    jw_kbool(w, "additionalProperties", any != NULL);
    jw_key(w, "properties");
    jw_open(w, '{');
    schema_below(w, below, file);
    jw_close(w, '}');
    arena_free(&scratch);
}

/* The rows directly below `prefix`, as members of "properties". */
static void schema_below(struct jw *w, struct sv prefix, enum config_file file)
{
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct sv name = sv_of(keys[i].name), last = sv_skip(name, prefix.n);
        if (!sv_starts(name, prefix) || !last.n || sv_has(last, '.') ||
            sv_is(last, "*") || /* additionalProperties of the parent */
            (keys[i].power == CONFIG_USER_ONLY && file != CONFIG_OF_USER))
            continue;
        jw_key_sv(w, last);
        jw_open(w, '{');
        jw_kstr(w, "type", sv_of(keys[i].type));
        jw_kstr(w, "description", sv_of(keys[i].help));
        if (keys[i].power != CONFIG_FREE && file == CONFIG_OF_WORKSPACE)
            jw_kstr(w, "$comment", SV("counts once the file is trusted: heddle trust"));
        if (sv_is(sv_of(keys[i].type), "object"))
            schema_object(w, name, file);
        jw_close(w, '}');
    }
}

void config_schema(struct jw *w, enum config_file file)
{
    jw_open(w, '{');
    jw_kstr(w, "$schema", SV("https://json-schema.org/draft/2020-12/schema"));
    jw_kstr(w, "title",
            file == CONFIG_OF_USER ? SV("~/.config/heddle/config.json")
                                   : SV(".heddle/config.json"));
    jw_kstr(w, "type", SV("object"));
    jw_kbool(w, "additionalProperties", false);
    jw_key(w, "properties");
    jw_open(w, '{');
    schema_below(w, SV(""), file);
    jw_close(w, '}');
    jw_close(w, '}');
}
