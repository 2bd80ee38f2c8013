/* Tokens and costs as members of a document, and as text. */
#include "api/harness/usage_doc.h"

#include "api/loom/model_settings.h"
#include "api/term.h"
#include "base/money.h"

/* clang-format off */
const struct field usage_fields[] = {
    { "input",       FIELD_NUMBER, .help = "tokens of requests that came from no cache" },
    { "output",      FIELD_NUMBER, .help = "tokens of answers" },
    { "cache_read",  FIELD_NUMBER, .help = "tokens of requests that were read from the provider's cache" },
    { "cache_write", FIELD_NUMBER, .help = "tokens of requests that were written to it" },
    { "reasoning",   FIELD_NUMBER, .help = "of the output: thinking" },
    { "total",       FIELD_NUMBER, .help = "all but reasoning, which is in the output" },
    { 0 },
};
/* clang-format on */

/* The provider whose prices count for a program that does not tell what it paid. */
static const char *provider_of(enum harness h)
{
    static const char *const providers[] = {
        [HARNESS_CLAUDE_CODE] = "anthropic", [HARNESS_CODEX] = "openai", [HARNESS_GEMINI] = "google"
    };

    return (size_t)h < COUNT(providers) ? providers[h] : NULL;
}

bool usage_price(struct request *r, enum harness h, struct sv model, const struct harness_usage *u,
                 int64_t *cost)
{
    struct model_usage  usage = { .input = u->input + u->cache_read + u->cache_write,
                                  .output = u->output,
                                  .cached = u->cache_read,
                                  .written = u->cache_write,
                                  .cost = -1 };
    struct model_prices prices;
    struct sb           name = sb_in(r->a, 0);

    if (!provider_of(h) || !model.n)
        return false;
    sb_addf(&name, "%s:", provider_of(h));
    sb_add(&name, model);
    if (!model_prices_of(&r->ws->config, sb_sv(&name), &prices))
        return false;
    *cost = model_cost(&usage, &prices);
    return *cost >= 0;
}

void usage_members(struct jw *w, const struct harness_usage *u, const int64_t *cost)
{
    char      room[40];
    struct sb text = sb_on(room, sizeof room, NULL);

    jw_key(w, "tokens");
    jw_open(w, '{');
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_kint(w, "cache_read", u->cache_read);
    jw_kint(w, "cache_write", u->cache_write);
    jw_kint(w, "reasoning", u->reasoning);
    jw_kint(w, "total", u->input + u->output + u->cache_read + u->cache_write);
    jw_close(w, '}');
    jw_key(w, "cost");
    if (cost)
        sb_add_decimal(&text, *cost);
    jw_raw(w, cost ? sb_sv(&text) : SV("null"));
}

struct sv usage_tokens_text(const struct json *x, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_commas(&b, json_number(json_find(x, "tokens"), "total"));
    return sb_sv(&b);
}

struct sv usage_cost_text(const struct json *x, struct arena *a)
{
    struct sb          b = sb_in(a, 0);
    const struct json *cost = json_find(x, "cost");
    int64_t            nano;

    if (!json_is(cost, JSON_NUMBER) || !money_parse((struct sv){ cost->s, cost->n }, &nano))
        return SV("-");
    sb_add_dollars(&b, nano);
    return sb_sv(&b);
}

void usage_print(const struct json *x, struct term *t)
{
    const struct json *cost = json_find(x, "cost");

    term_text(t, usage_tokens_text(x, t->a));
    term_f(t, " tokens");
    if (!cost || cost->type == JSON_NULL)
        return;
    term_f(t, ", ");
    term_text(t, usage_cost_text(x, t->a));
}
