/* Which encoding a command counts in, from its options, the model it names and the config. */
#ifndef HEDDLE_TOKEN_CHOICE_H
#define HEDDLE_TOKEN_CHOICE_H

#include "api/config.h"
#include "tokens/tokens.h"

struct token_choice {
    enum tokens_encoding encoding;
    bool                 asked;       /* --encoding named it: nothing else will do */
    bool                 exact;       /* the model's own vocabulary, or no model was named */
    int64_t              thousandths; /* what counts are scaled by: 1000 unless the config says */
};

/* `encoding` wins over what `model` says, and that over the config's tokens.encoding; each may be
 * absent. The factor is that of the longest name in tokens.factor that begins the model's name.
 * ST_USAGE: there is no such encoding. ST_INVALID_SYNTAX: the config is at fault. */
enum status token_choose(const struct config *c, struct sv encoding, struct sv model,
                         struct token_choice *out, struct err *e) MUST_USE;

#endif
