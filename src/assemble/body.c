/* Requests to models: the settings, with names from a table, and then a rendered context. */
#include "assemble/body.h"

#include "assemble/body_flat.h"
#include "assemble/parsed.h"

/* What writes the context of a dialect. */
enum body_writer {
    BODY_BY_ANTHROPIC,
    BODY_BY_OPENAI,
    BODY_BY_TEXT,
    BODY_BY_RESPONSES,
    BODY_BY_GEMINI,
};

/* Without it a stream does not report its number of tokens. */
#define USAGE "\"stream_options\":{\"include_usage\":true}"

/* What a dialect calls the settings; NULL: it has no name for one, and it is reported. */
static const struct dialect {
    enum body_writer writer;
    const char      *model, *max_tokens, *stop, *temperature, *top_p, *seed, *logprobs;
    const char      *effort;        /* the member that holds it, ... */
    const char      *effort_within; /* ... which is an object with this member; NULL: it is not */
    bool             effort_capitals;
    const char      *stream; /* "": the URL says it */
    const char *cache_key;   /* of render_cache; a hint, which is left out where there is no name */
    const char *more;        /* members that go with a stream */
    const char *within;      /* the member that holds the settings; NULL: the body does */
    const char *token;       /* the member with the token that continues an answer; NULL: none */
} dialects[] = {
    /* clang-format off */
    [BODY_ANTHROPIC]   = { .writer = BODY_BY_ANTHROPIC, .model = "model", .max_tokens = "max_tokens", .stop = "stop_sequences",
                           .temperature = "temperature", .top_p = "top_p", .effort = "output_config", .effort_within = "effort",
                           .stream = "stream" },
    [BODY_OPENAI]      = { .writer = BODY_BY_OPENAI, .model = "model", .max_tokens = "max_completion_tokens", .stop = "stop",
                           .temperature = "temperature", .top_p = "top_p", .seed = "seed", .effort = "reasoning_effort",
                           .stream = "stream", .cache_key = "prompt_cache_key", .more = USAGE },
    [BODY_COMPATIBLE]  = { .writer = BODY_BY_OPENAI, .model = "model", .max_tokens = "max_tokens", .stop = "stop",
                           .temperature = "temperature", .top_p = "top_p", .seed = "seed", .effort = "reasoning_effort",
                           .stream = "stream", .more = USAGE },
    [BODY_COMPLETIONS] = { .writer = BODY_BY_TEXT, .model = "model", .max_tokens = "max_tokens", .stop = "stop",
                           .temperature = "temperature", .top_p = "top_p", .seed = "seed", .logprobs = "logprobs",
                           .stream = "stream", .more = USAGE },
    [BODY_RESPONSES]   = { .writer = BODY_BY_RESPONSES, .model = "model", .max_tokens = "max_output_tokens",
                           .temperature = "temperature", .top_p = "top_p", .effort = "reasoning", .effort_within = "effort",
                           .stream = "stream", .cache_key = "prompt_cache_key" },
    [BODY_GEMINI]      = { .writer = BODY_BY_GEMINI, .max_tokens = "maxOutputTokens", .stop = "stopSequences",
                           .temperature = "temperature", .top_p = "topP", .seed = "seed",
                           .effort = "thinkingConfig", .effort_within = "thinkingLevel", .effort_capitals = true,
                           .stream = "", .within = "generationConfig", .token = "continuationToken" },
    [BODY_OFFLINE]     = { .writer = BODY_BY_ANTHROPIC, .max_tokens = "max_tokens", .stop = "stop_sequences",
                           .temperature = "temperature", .top_p = "top_p", .seed = "seed", .logprobs = "logprobs",
                           .effort = "effort" },
    /* clang-format on */
};

static const char *const names[] = {
#define X(dialect, name) [dialect] = name,
    BODY_TABLE(X)
#undef X
};

bool body_dialect_of(struct sv name, enum body_dialect *out)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(name, names[i])) {
            *out = (enum body_dialect)i;
            return true;
        }
    return false;
}

static enum status check_number(const char *what, struct sv text, struct err *e)
{
    struct arena scratch = { 0 };
    struct json  v = { 0 };
    struct err   ignored;
    bool         good = !text.s ||
                (json_parse(text, 0, &scratch, &v, &ignored) == ST_OK && json_is(&v, JSON_NUMBER));

    arena_free(&scratch);
    return good ? ST_OK
                : err_set(e, ST_INVALID_SYNTAX, "%s is not a number: '" SV_FMT "'", what,
                          SV_ARG(text));
}

/* The name of a setting; NULL, and a line in the report, when the dialect has none. */
static const char *named(const char *name, const char *what, struct render_report *r)
{
    if (!name)
        report_add(r, REPAIR_DROPPED, REPAIR_OF_ALL,
                   "the setting %s, which this format cannot hold", what);
    return name;
}

static void add_text(struct jw *w, const char *name, struct sv text)
{
    if (name)
        jw_kstr(w, name, text);
}

static void add_number(struct jw *w, const char *name, const char *what, struct sv number,
                       struct render_report *r)
{
    if (!number.s || !named(name, what, r))
        return;
    jw_key(w, name);
    jw_raw(w, number);
}

static void add_stop(struct jw *w, const struct dialect *d, const struct body_settings *s,
                     struct render_report *r)
{
    if (!s->n_stop || !named(d->stop, "stop", r))
        return;
    jw_key(w, d->stop);
    jw_open(w, '[');
    for (size_t i = 0; i < s->n_stop; i++)
        jw_str(w, s->stop[i]);
    jw_close(w, ']');
}

/* "output_config":{"effort":"low"}, or "reasoning_effort":"low". */
static void add_effort(struct jw *w, const struct dialect *d, const struct body_settings *s,
                       struct render_report *r)
{
    char   capitals[16];
    size_t n = 0;

    if (!s->effort.n || !named(d->effort, "effort", r))
        return;
    for (; n < s->effort.n && n < sizeof capitals; n++) {
        char c = s->effort.s[n];
        capitals[n] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    jw_key(w, d->effort);
    if (d->effort_within) {
        jw_open(w, '{');
        jw_key(w, d->effort_within);
    }
    jw_str(w, d->effort_capitals ? (struct sv){ capitals, n } : s->effort);
    if (d->effort_within)
        jw_close(w, '}');
}

static void add_stream(struct jw *w, const struct dialect *d)
{
    if (d->stream[0])
        jw_kbool(w, d->stream, true);
    if (d->more)
        sb_addf(w->b, ",%s", d->more);
}

/* {"max_tokens":50, … without its end. */
static void add_settings(struct jw *w, enum body_dialect which, const struct body_settings *s,
                         struct render_report *r)
{
    const struct dialect *d = &dialects[which];
    int64_t tokens = which == BODY_ANTHROPIC && !s->max_tokens ? BODY_TOKENS : s->max_tokens;

    if (tokens || which == BODY_OFFLINE)
        jw_kint(w, d->max_tokens, tokens);
    if (s->model.s)
        add_text(w, d->model, s->model);
    if (s->cache.key.n && d->cache_key)
        jw_kstr(w, d->cache_key, s->cache.key);
    add_effort(w, d, s, r);
    if (s->logprobs && named(d->logprobs, "logprobs", r))
        jw_kint(w, d->logprobs, s->logprobs);
    add_number(w, d->seed, "seed", s->seed, r);
    add_stop(w, d, s, r);
    if (s->stream && named(d->stream, "stream", r))
        add_stream(w, d);
    add_number(w, d->temperature, "temperature", s->temperature, r);
    add_number(w, d->top_p, "top_p", s->top_p, r);
}

/* ---- base models ------------------------------------------------------------------------------
 */

static void add_paragraph(struct sb *b, struct sv text)
{
    sb_adds(b, b->n && text.n ? "\n\n" : "");
    sb_add(b, text);
}

static void add_message(struct sb *b, const struct parsed_message *m, size_t at,
                        struct render_report *r)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TEXT)
            add_paragraph(b, m->parts[i].text);
        else
            report_add(r, REPAIR_DROPPED, parsed_place(m, at), "%s, which a text cannot hold",
                       part_word(&m->parts[i]));
    if (m->thinking.n)
        report_add(r, REPAIR_DROPPED, parsed_place(m, at), "thinking, which a text cannot hold");
}

/* {"prompt":TEXT}; a context of one message is its text, byte for byte. */
static enum status write_prompt(const struct context *c, struct arena *a, struct sb *out,
                                struct render_report *r, struct err *e)
{
    struct sb              text = sb_in(a, 0);
    struct jw              w = jw_in(out, 0);
    struct parsed_message *messages;
    size_t                 n;

    if (parsed_of(c, a, &messages, &n, r, e))
        return err_code(e);
    add_paragraph(&text, c->system_prompt);
    for (size_t i = 0; i < n; i++)
        add_message(&text, &messages[i], i, r);
    if (n > 1)
        report_add(r, REPAIR_CHANGED, REPAIR_OF_ALL,
                   "%zu messages to one text, without their roles", n);
    jw_open(&w, '{');
    jw_klossy(&w, "prompt", sb_sv(&text));
    jw_close(&w, '}');
    return ST_OK;
}

static enum status write_context(enum body_dialect d, const struct context *c,
                                 const struct body_settings *s, struct arena *a, struct sb *out,
                                 struct render_report *r, struct err *e)
{
    struct render_options o = {
        .cache = s->cache, .merge = d == BODY_COMPATIBLE, .details = true, .user_last = s->user_last
    };

    switch (dialects[d].writer) {
    case BODY_BY_ANTHROPIC: return render_context(RENDER_ANTHROPIC, c, &o, a, out, r, e);
    case BODY_BY_OPENAI: return render_context(RENDER_OPENAI, c, &o, a, out, r, e);
    case BODY_BY_TEXT: return write_prompt(c, a, out, r, e);
    case BODY_BY_RESPONSES: return body_flat_responses(c, a, out, r, e);
    case BODY_BY_GEMINI: return body_flat_gemini(c, a, out, r, e);
    }
    return err_set(e, ST_INVALID_SYNTAX, "no such dialect");
}

/* {"continuationToken":"…"}, …: in front of everything, and never with a dialect that has none. */
static void add_token(struct sb *out, const struct dialect *d, struct sv token)
{
    struct jw w = jw_in(out, 0);

    jw_open(&w, '{');
    if (token.n && d->token)
        jw_kstr(&w, d->token, token);
}

enum status body_write(enum body_dialect d, const struct context *c, const struct body_settings *s,
                       struct arena *a, struct sb *out, struct render_report *r, struct err *e)
{
    struct sb context = sb_in(a, 0), settings = sb_in(a, 0);
    struct jw w = jw_in(&settings, 0);

    if (check_number("temperature", s->temperature, e) || check_number("top_p", s->top_p, e) ||
        check_number("seed", s->seed, e) || write_context(d, c, s, a, &context, r, e))
        return err_code(e);
    jw_open(&w, '{');
    add_settings(&w, d, s, r);
    size_t start = out->n + 1;
    add_token(out, &dialects[d], s->token);
    sb_adds(out, settings.n > 1 && out->n > start ? "," : "");
    if (dialects[d].within && settings.n > 1)
        sb_addf(out, "\"%s\":" SV_FMT "}", dialects[d].within, SV_ARG(sb_sv(&settings)));
    else
        sb_add(out, sv_skip(sb_sv(&settings), 1));
    sb_adds(out, out->n > start ? "," : "");
    sb_add(out, sv_skip(sb_sv(&context), 1)); /* {"messages":… without its brace */
    return ST_OK;
}
