/* Leaving settings out of the body of a request. */
#include "model/sampling.h"

#include <stdio.h>
#include <string.h>

/* What can be left out without changing what is asked, and what else a failure may call it. */
static const struct {
    const char *name, *called;
} optional[] = {
    { "temperature", NULL },
    { "top_p", NULL },
    { "top_k", NULL },
    { "seed", NULL },
    { "stop", NULL },
    { "stop_sequences", NULL },
    { "stream_options", NULL },
    { "logprobs", NULL },
    { "reasoning_effort", NULL },
    { "reasoning", NULL },
    { "output_config", "effort" },
    { "include", "ncrypted content" },
    { "topP", "top_p" },
    { "stopSequences", "stop_sequences" },
    { "thinkingConfig", "hinking" },
};
static const char *const sampling[] = { "temperature", "top_p", "top_k" };

/* Gemini has its settings in a member of the body. */
#define WITHIN "generationConfig"

static bool parse(struct sv body, struct arena *a, struct json *doc)
{
    struct err ignored;

    return json_parse(body, JSON_KEEP_ORDER, a, doc, &ignored) == ST_OK &&
           json_is(doc, JSON_OBJECT);
}

static const struct json *member(const struct json *doc, const char *name)
{
    for (size_t i = 0; json_is(doc, JSON_OBJECT) && i < doc->n; i++)
        if (sv_is(doc->members[i].key, name))
            return &doc->members[i].value;
    return NULL;
}

static bool has(const struct json *doc, const char *name)
{
    return member(doc, name) || member(member(doc, WITHIN), name);
}

/* The object without a member, the others as they were. */
static void write_without(struct jw *w, const struct json *object, const char *name)
{
    jw_open(w, '{');
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        if (sv_is(m->key, name))
            continue;
        jw_key_sv(w, m->key);
        if (sv_is(m->key, WITHIN) && json_is(&m->value, JSON_OBJECT))
            write_without(w, &m->value, name);
        else
            jw_json(w, &m->value);
    }
    jw_close(w, '}');
}

static struct sv without(const struct json *doc, const char *name, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    write_without(&w, doc, name);
    return sb_sv(&b);
}

static void leave_out(struct sv *body, const struct json *doc, const char *name, const char *why,
                      struct arena *a, struct sb *warnings)
{
    *body = without(doc, name, a);
    sb_addf(warnings, "%sleft out the setting %s, which %s", warnings->n ? "\n" : "", name, why);
}

/* Is this Claude 4.`minor` or older, with or without a date in its name? A Claude without a version
 * is taken for a new one. Nothing is known of models with other names: true. */
static bool is_claude_4_until(struct sv model, int64_t minor)
{
    struct sv rest = sv_skip(model, 7);
    int64_t   major, its_minor;

    if (!sv_starts(model, SV("claude-")))
        return true;
    if (!sv_to_int(sv_cut(rest, '-').head, &major)) /* claude-3-5-haiku, or claude-haiku-3-5 */
        rest = sv_cut(rest, '-').tail;
    struct sv_cut first = sv_cut(rest, '-');
    if (!sv_to_int(sv_cut(first.head, '.').head, &major))
        return sv_starts(model, SV("claude-instant"));
    struct sv second = sv_cut(first.tail, '-').head;
    if (second.n > 2 || !sv_to_int(second, &its_minor)) /* longer is a date */
        its_minor = 0;
    return major < 4 || (major == 4 && its_minor <= minor);
}

static bool takes_sampling(struct sv model)
{
    return is_claude_4_until(model, 6);
}

bool sampling_continues(struct sv model)
{
    return is_claude_4_until(model, 5);
}

void sampling_fit(struct sv *body, struct sv model, struct arena *a, struct sb *warnings)
{
    struct json doc;

    for (size_t i = 0; i < COUNT(sampling) && !takes_sampling(model); i++)
        if (parse(*body, a, &doc) && has(&doc, sampling[i]))
            leave_out(body, &doc, sampling[i], "this model does not take", a, warnings);
}

struct sv sampling_version(struct sv body, struct arena *a)
{
    struct json doc;

    if (parse(body, a, &doc))
        for (size_t i = 0; i < COUNT(sampling); i++)
            if (has(&doc, sampling[i]))
                return SV("2023-06-01");
    return SV("2026-10-21");
}

/* The provider's `param`, which may name a part of the setting, or a name in quotes in its
 * message. */
static bool names(const struct provider_error *f, const char *name, const char *called)
{
    static const char quotes[] = "`'\"";
    size_t            n = strlen(name);

    if (sv_starts(f->param, sv_of(name)) &&
        (f->param.n == n || f->param.s[n] == '.' || f->param.s[n] == '['))
        return true;
    if (called && sv_find(f->message, sv_of(called)) >= 0)
        return true;
    for (const char *q = quotes; *q; q++) {
        char      quoted[40];
        int       k = snprintf(quoted, sizeof quoted, "%c%s%c", *q, name, *q);
        struct sv text = { quoted, (size_t)k };
        if (sv_find(f->message, text) >= 0)
            return true;
    }
    return false;
}

static const char refused[] = "the provider refused";

const char *sampling_drop(struct sv *body, const struct provider_error *f, struct arena *a,
                          struct sb *warnings)
{
    struct json doc;

    if (!parse(*body, a, &doc))
        return NULL;
    for (size_t i = 0; i < COUNT(optional); i++)
        if (has(&doc, optional[i].name) && names(f, optional[i].name, optional[i].called)) {
            leave_out(body, &doc, optional[i].name, refused, a, warnings);
            return optional[i].name;
        }
    return NULL;
}

void sampling_leave_out(struct sv *body, const char *setting, struct arena *a, struct sb *warnings)
{
    struct json doc;

    if (parse(*body, a, &doc) && has(&doc, setting))
        leave_out(body, &doc, setting, refused, a, warnings);
}
