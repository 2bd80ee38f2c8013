/* Choosing an encoding and a factor from parameters and settings. */
#include "api/payload/token_choice.h"

#include "api/workspace.h"

#include <stdlib.h>

static enum status find_encoding(struct sv name, enum status bad, const char *where,
                                 enum tokens_encoding *out, struct err *e)
{
    if (tokens_encoding_find(name, out))
        return ST_OK;
    return err_set(e, bad, "%s is %s or %s, not '" SV_FMT "'", where,
                   tokens_encoding_name(TOKENS_O200K), tokens_encoding_name(TOKENS_CL100K),
                   SV_ARG(name));
}

/* The number of a factor in thousandths, from 0.1 to 10; 0 when it is not one. */
static int64_t thousandths_of(const struct json *number)
{
    char text[32] = { 0 };

    if (!json_is(number, JSON_NUMBER) || number->n >= sizeof text)
        return 0;
    for (size_t i = 0; i < number->n; i++)
        text[i] = number->s[i];
    double value = strtod(text, NULL);
    return value >= 0.1 && value <= 10 ? (int64_t)(value * 1000 + 0.5) : 0;
}

static enum status find_factor(const struct config *c, struct sv model, int64_t *out, struct err *e)
{
    const struct json *factors = config_find(c, "tokens.factor");
    size_t             longest = 0;

    for (size_t i = 0; json_is(factors, JSON_OBJECT) && i < factors->n; i++) {
        const struct json_member *m = &factors->members[i];
        int64_t                   value = thousandths_of(&m->value);
        if (!value)
            return err_set(e, ST_INVALID_SYNTAX,
                           ".heddle/config.json: tokens.factor of '" SV_FMT
                           "' must be a number from 0.1 to 10",
                           SV_ARG(m->key));
        if (sv_starts(model, m->key) && m->key.n >= longest) {
            longest = m->key.n;
            *out = value;
        }
    }
    return ST_OK;
}

enum status token_choose(const struct config *c, struct sv encoding, struct sv model,
                         struct token_choice *out, struct err *e)
{
    struct token_choice choice = { TOKENS_O200K, encoding.s != NULL, true, 1000 };
    struct sv           usual = config_text(c, "tokens.encoding");

    if (usual.s && find_encoding(usual, ST_INVALID_SYNTAX, ".heddle/config.json: tokens.encoding",
                                 &choice.encoding, e))
        return err_code(e);
    if (model.s) {
        struct tokens_model known = tokens_model(model);
        struct sv_cut       provider = sv_cut(model, ':');
        bool                tuned = sv_is(provider.head, "ft");
        choice.encoding = known.encoding;
        choice.exact = known.exact;
        if (find_factor(c, provider.found && !tuned ? provider.tail : model, &choice.thousandths,
                        e))
            return err_code(e);
    }
    if (encoding.s && find_encoding(encoding, ST_USAGE, "--encoding", &choice.encoding, e))
        return err_code(e);
    *out = choice;
    return ST_OK;
}

enum status token_counter_open(const struct workspace *ws, struct sv model,
                               struct token_choice *choice, struct tokens **out, struct err *e)
{
    if (token_choose(&ws->config, (struct sv){ 0 }, model, choice, e))
        return err_code(e);
    return tokens_open_or_estimate(choice->encoding, workspace_variable(ws, TOKENS_VOCAB_DIR), out,
                                   e);
}
