/* Which encoding an operation counts in, from its parameters, the model they name and the
 * settings. */
#ifndef HEDDLE_TOKEN_CHOICE_H
#define HEDDLE_TOKEN_CHOICE_H

#include "api/config.h"
#include "tokens/tokens.h"

struct token_choice {
    enum tokens_encoding encoding;
    bool                 asked;       /* the caller named it: no other may be used instead */
    bool                 exact;       /* the model's own vocabulary, or no model was named */
    int64_t              thousandths; /* what counts are scaled by: 1000 unless the config says */
};

/* `encoding` wins over what `model` says, and that over the config's tokens.encoding; each may be
 * absent. The factor is that of the longest name in tokens.factor that begins the model's name.
 * ST_USAGE: there is no such encoding. ST_INVALID_SYNTAX: the config is at fault. */
enum status token_choose(const struct config *c, struct sv encoding, struct sv model,
                         struct token_choice *out, struct err *e) MUST_USE;

/* A counter for what `model` (absent: any) is sent, by the settings of the workspace; an estimating
 * one where no table is installed. The caller closes it. */
struct workspace;
enum status token_counter_open(const struct workspace *ws, struct sv model,
                               struct token_choice *choice, struct tokens **out,
                               struct err *e) MUST_USE;

#endif
