/* Reading, writing and checking the settings of a model agent. */
#include "loom/agent_settings.h"

const char *const agent_efforts[] = { "none", "minimal", "low", "medium",
                                      "high", "xhigh",   "max", NULL };

/* A number as it stands in the log. */
static struct sv number_text(const struct json *v, const char *key)
{
    const struct json *n = json_find(v, key);

    return json_is(n, JSON_NUMBER) ? (struct sv){ n->s, n->n } : (struct sv){ 0 };
}

void agent_settings_read(const struct json *v, struct arena *a, struct agent_settings *out)
{
    const struct json *stop = json_find(v, "stop");

    *out = (struct agent_settings){ .effort = json_text(v, "effort"),
                                    .seed = number_text(v, "seed"),
                                    .temperature = number_text(v, "temperature"),
                                    .top_p = number_text(v, "top_p") };
    json_int(json_find(v, "logprobs"), &out->logprobs);
    json_int(json_find(v, "max_tokens"), &out->max_tokens);
    if (!json_is(stop, JSON_ARRAY))
        return;
    struct sv *texts = ARENA_NEW(a, struct sv, stop->n + 1);
    for (size_t i = 0; i < stop->n; i++)
        if (json_is(&stop->items[i], JSON_STRING))
            texts[out->stop.n++] = json_sv(&stop->items[i]);
    out->stop.v = texts;
}

static void write_number(struct jw *w, const char *key, struct sv number)
{
    if (!number.n)
        return;
    jw_key(w, key);
    jw_raw(w, number);
}

void agent_settings_write(struct jw *w, const struct agent_settings *s)
{
    if (s->effort.n)
        jw_kstr(w, "effort", s->effort);
    if (s->logprobs)
        jw_kint(w, "logprobs", s->logprobs);
    if (s->max_tokens)
        jw_kint(w, "max_tokens", s->max_tokens);
    write_number(w, "seed", s->seed);
    if (s->stop.n) {
        jw_key(w, "stop");
        jw_open(w, '[');
        for (size_t i = 0; i < s->stop.n; i++)
            jw_str(w, s->stop.v[i]);
        jw_close(w, ']');
    }
    write_number(w, "temperature", s->temperature);
    write_number(w, "top_p", s->top_p);
}

/* ---- checking ------------------------------------------------------------------------ */

static enum status check_number(const char *name, struct sv text, double least, double most,
                                bool whole, struct err *e)
{
    struct arena scratch = { 0 };
    struct json  v = { 0 };
    struct err   ignored;
    double       n = 0;
    int64_t      i;
    bool         good =
        !text.n || (json_parse(text, 0, &scratch, &v, &ignored) == ST_OK && json_real(&v, &n) &&
                    n >= least && n <= most && (!whole || json_int(&v, &i)));

    arena_free(&scratch);
    if (good)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "%s cannot be '" SV_FMT "'", name, SV_ARG(sv_first(text, 40)));
    return err_hint(e, "%s is a %snumber from %.0f to %.0f", name, whole ? "whole " : "", least,
                    most);
}

static enum status check_count(const char *name, int64_t n, int64_t most, struct err *e)
{
    if (n >= 0 && n <= most)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "%s cannot be %lld", name, (long long)n);
    return err_hint(e, "%s is from 1 to %lld; 0: the provider decides", name, (long long)most);
}

static enum status check_effort(struct sv effort, struct err *e)
{
    if (!effort.n)
        return ST_OK;
    for (size_t i = 0; agent_efforts[i]; i++)
        if (sv_is(effort, agent_efforts[i]))
            return ST_OK;
    err_set(e, ST_USAGE, "no such effort: '" SV_FMT "'", SV_ARG(sv_first(effort, 40)));
    return err_hint(e, "none, minimal, low, medium, high, xhigh or max");
}

static enum status check_stop(const struct sv_list *stop, struct err *e)
{
    if (stop->n > AGENT_STOPS_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "%zu texts that end an answer", stop->n);
        return err_hint(e, "give at most %d", AGENT_STOPS_MAX);
    }
    for (size_t i = 0; i < stop->n; i++)
        if (!stop->v[i].n || stop->v[i].n > AGENT_STOP_BYTES)
            return err_set(e, ST_LIMIT_EXCEEDED,
                           "a text that ends an answer has 1 to %d bytes, not %zu",
                           AGENT_STOP_BYTES, stop->v[i].n);
    return ST_OK;
}

enum status agent_settings_check(const struct agent_settings *s, struct err *e)
{
    static const double most_seed = 9007199254740991; /* every program can hold it */

    if (check_number("temperature", s->temperature, 0, 2, false, e) ||
        check_number("top_p", s->top_p, 0, 1, false, e) ||
        check_number("seed", s->seed, 0, most_seed, true, e) || check_effort(s->effort, e) ||
        check_count("max_tokens", s->max_tokens, AGENT_TOKENS_MAX, e) ||
        check_count("logprobs", s->logprobs, AGENT_LOGPROBS_MAX, e))
        return err_code(e);
    return check_stop(&s->stop, e);
}

void agent_settings_over(struct agent_settings *under, const struct agent_settings *over)
{
    if (over->max_tokens)
        under->max_tokens = over->max_tokens;
    if (over->logprobs)
        under->logprobs = over->logprobs;
    if (over->temperature.n)
        under->temperature = over->temperature;
    if (over->top_p.n)
        under->top_p = over->top_p;
    if (over->seed.n)
        under->seed = over->seed;
    if (over->effort.n)
        under->effort = over->effort;
    if (over->stop.n)
        under->stop = over->stop;
}
