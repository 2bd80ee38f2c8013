/* The map of failures, as tables: by the words and sentences of providers first, since several use
 * one HTTP status for different things, then by status. */
#include "model/provider_error.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct error_row {
    const char *code;
    bool        retry;
    const char *advice;
} codes[] = {
    { "authenticationFailed", false, "check the provider's key" },
    { "billing",              false, "check the account at the provider: its credit or limit is used up" },
    { "modelNotFound",        false, "check the model's name" },
    { "contextTooLong",       false, "continue from an earlier node, or shorten the branch" },
    { "requestTooLarge",      false, "send fewer or smaller images and files" },
    { "rateLimited",          true,  "wait a little and try again" },
    { "overloaded",           true,  "wait a little and try again" },
    { "timeout",              true,  "try again" },
    { "serverError",          true,  "try again later" },
    { "invalidRequest",       false, "the provider refused the request" },
    { "contentFiltered",      false, "the provider refused the content" },
    { "networkError",         true,  "check the connection and try again" },
    { "invalidResponse",      false, "check the provider's address: what answers there does not speak its dialect" },
    { "unknown",              false, "see the provider's message" },
};

static const struct { int status; const char *code; } by_status[] = {
    { 400, "invalidRequest" },  { 401, "authenticationFailed" }, { 402, "billing" },
    { 403, "authenticationFailed" }, { 404, "modelNotFound" },   { 408, "timeout" },
    { 409, "timeout" },         { 413, "requestTooLarge" },      { 422, "invalidRequest" },
    { 429, "rateLimited" },     { 451, "contentFiltered" },      { 503, "overloaded" },
    { 504, "timeout" },         { 524, "timeout" },              { 529, "overloaded" },
};

/* Words that say more than the status they come with. */
static const struct { const char *word, *code; } by_word[] = {
    { "context_length_exceeded",      "contextTooLong" },       /* OpenAI, OpenRouter */
    { "exceed_context_size_error",    "contextTooLong" },       /* llama.cpp */
    { "API_KEY_INVALID",              "authenticationFailed" }, /* Gemini, with 400 */
    { "invalid_api_key",              "authenticationFailed" },
    { "insufficient_quota",           "billing" },              /* OpenAI, with 429 */
    { "credit_balance_exhausted",     "billing" },
    { "enforced_spend_limit_reached", "billing" },              /* Anthropic, with 429 */
    { "billing_error",                "billing" },
    { "model_not_found",              "modelNotFound" },
    { "server_is_overloaded",         "overloaded" },
    { "slow_down",                    "overloaded" },
};

/* Of an overflow, for which most providers have no word. */
static const char *const overflows[] = {
    "prompt is too long",                                  /* Anthropic */
    "exceed context limit",                                /* Anthropic: input and max_tokens */
    "maximum context length",                              /* OpenAI, vLLM */
    "exceeds the maximum number of tokens",                /* Gemini */
    "exceeds the context window",                          /* OpenAI Responses */
    "Context size has been exceeded",                      /* llama.cpp, with 500 */
    "exceeds the available context size",                  /* llama.cpp */
};

/* Words of failures inside of a stream, where there is no status. */
static const struct { const char *word, *code; } in_stream[] = {
    { "overloaded_error",      "overloaded" },           { "rate_limit_error",    "rateLimited" },
    { "rate_limit_exceeded",   "rateLimited" },          { "RESOURCE_EXHAUSTED",  "rateLimited" },
    { "api_error",             "serverError" },          { "server_error",        "serverError" },
    { "timeout_error",         "timeout" },              { "not_found_error",     "modelNotFound" },
    { "authentication_error",  "authenticationFailed" }, { "permission_error",    "authenticationFailed" },
    { "request_too_large",     "requestTooLarge" },      { "invalid_request_error", "invalidRequest" },
    { "invalid_prompt",        "invalidRequest" },       { "BadRequestError",     "invalidRequest" },
};
/* clang-format on */

static const struct error_row *row_named(const char *code)
{
    for (size_t i = 0; i < COUNT(codes); i++)
        if (strcmp(codes[i].code, code) == 0)
            return &codes[i];
    return &codes[COUNT(codes) - 1];
}

enum status provider_error_set(const char *code, struct sv message, bool *retry, struct err *e)
{
    const struct error_row *f = row_named(code);

    *retry = f->retry;
    err_set(e, ST_MODEL_ERROR, "%s%s" SV_FMT, f->code, message.n ? ": " : "", SV_ARG(message));
    err_reason(e, f->code);
    return err_hint(e, "%s", f->advice);
}

static const char *code_of_status(int status)
{
    for (size_t i = 0; i < COUNT(by_status); i++)
        if (by_status[i].status == status)
            return by_status[i].code;
    return status >= 500 ? "serverError" : status ? "unknown" : "networkError";
}

enum status model_http_error(int status, struct sv message, bool *retry, struct err *e)
{
    return provider_error_set(code_of_status(status), message, retry, e);
}

/* ---- what a document says ----------------------------------------------------------------------
 */

static void add_word(struct provider_error *f, struct sv word)
{
    if (word.n && f->n_words < COUNT(f->words))
        f->words[f->n_words++] = word;
}

/* "12s", "1.5s" */
static int64_t seconds_of(struct sv text)
{
    struct sv_cut number = sv_cut(sv_cut(text, 's').head, '.');
    int64_t       n;

    return sv_ends(text, SV("s")) && sv_to_int(number.head, &n) && n >= 0 && n < 1000000
               ? (n + number.found) * 1000
               : -1;
}

/* Gemini has a list of details, Anthropic an object. */
static void read_details(const struct json *details, struct provider_error *out)
{
    add_word(out, json_text(details, "error_code"));
    for (size_t i = 0; json_is(details, JSON_ARRAY) && i < details->n; i++) {
        int64_t wait = seconds_of(json_text(&details->items[i], "retryDelay"));
        add_word(out, json_text(&details->items[i], "reason"));
        out->retry_after_ms = wait >= 0 ? wait : out->retry_after_ms;
    }
}

void provider_error_read(const struct json *doc, struct provider_error *out)
{
    *out = (struct provider_error){ .retry_after_ms = -1 };
    if (json_is(doc, JSON_ARRAY) && doc->n) /* Gemini, at times */
        doc = &doc->items[0];
    const struct json *error = json_find(doc, "error");
    if (json_is(error, JSON_STRING)) { /* Ollama */
        out->message = json_sv(error);
        return;
    }
    if (!json_is(error, JSON_OBJECT)) /* vLLM, and the event `error` of Responses */
        error = doc;
    out->message = json_text(error, "message");
    out->param = json_text(error, "param");
    json_int(json_find(error, "code"), &out->status);
    add_word(out, json_text(error, "code"));
    add_word(out, json_text(error, "type"));
    add_word(out, json_text(error, "status"));
    add_word(out, json_text(json_find(error, "metadata"), "error_type"));
    read_details(json_find(error, "details"), out);
}

static bool has_word(const struct provider_error *f, const char *word)
{
    for (size_t i = 0; i < f->n_words; i++)
        if (sv_is(f->words[i], word))
            return true;
    return false;
}

static const char *code_of(int status, const struct provider_error *f)
{
    for (size_t i = 0; i < COUNT(by_word); i++)
        if (has_word(f, by_word[i].word))
            return by_word[i].code;
    for (size_t i = 0; i < COUNT(overflows); i++)
        if (sv_find(f->message, sv_of(overflows[i])) >= 0)
            return "contextTooLong";
    if (!status && f->status >= 400 && f->status < 600)
        status = (int)f->status;
    if (status)
        return code_of_status(status);
    for (size_t i = 0; i < COUNT(in_stream); i++)
        if (has_word(f, in_stream[i].word))
            return in_stream[i].code;
    return "unknown";
}

enum status provider_error_of(int status, const struct json *doc, bool *retry,
                              struct provider_error *facts, struct err *e)
{
    struct provider_error own = { 0 };

    facts = facts ? facts : &own;
    provider_error_read(doc, facts);
    return provider_error_set(code_of(status, facts), utf8_first(facts->message, 400), retry, e);
}

/* ---- helpers -----------------------------------------------------------------------------------
 */

struct sv provider_error_masked(struct sv text, struct sv secret, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (ptrdiff_t at; secret.n && (at = sv_find(text, secret)) >= 0;) {
        sb_add(&b, sv_first(text, (size_t)at));
        sb_pad(&b, '*', secret.n);
        text = sv_skip(text, (size_t)at + secret.n);
    }
    sb_add(&b, text);
    return sb_sv(&b);
}

/* "Wed, 21 Oct 2026 07:28:00 GMT" as an instant of clock_parse_iso(). */
static bool parse_date(struct sv v, int64_t *ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char              iso[32];

    if (v.n != 29 || !sv_ends(v, SV(" GMT")))
        return false;
    for (int m = 0; m < 12; m++)
        if (memcmp(months + 3 * m, v.s + 8, 3) == 0) {
            snprintf(iso, sizeof iso, "%.4s-%02d-%.2sT%.8sZ", v.s + 12, m + 1, v.s + 5, v.s + 17);
            return clock_parse_iso(sv_of(iso), ms);
        }
    return false;
}

int64_t provider_error_wait(struct sv value, int64_t now_ms)
{
    int64_t n, at;

    value = sv_trim(value);
    if (sv_to_int(sv_cut(value, '.').head, &n))
        return n < 0 ? -1 : n > 1000000 ? 1000000000 : (n + sv_has(value, '.')) * 1000;
    if (!parse_date(value, &at))
        return -1;
    return at > now_ms ? at - now_ms : 0;
}
