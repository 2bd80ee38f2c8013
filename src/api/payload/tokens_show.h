/* Tokens for people and programs to look at: written into a document, printed from it. */
#ifndef HEDDLE_TOKENS_SHOW_H
#define HEDDLE_TOKENS_SHOW_H

#include "api/term.h"
#include "base/json.h"
#include "tokens/tokens.h"

/* "ids": [...], and with `texts` "texts": [...]: a string for each token, or {"hex": "..."} when it
 * is not whole characters. */
enum status tokens_show_json(struct jw *j, struct tokens *t, const struct tokens_ids *ids,
                             bool texts, struct arena *a, struct err *e) MUST_USE;

/* `file` is an object with these members.
 *
 * Without texts: one line of ids with spaces between. With them: one line for each token: id, tab,
 * its text as a JSON string, in which a byte that is not a whole character stands as \xNN; or, on a
 * terminal with colours, the text itself, neighbours in different colours. */
void tokens_show_print(const struct json *file, struct term *t);

#endif
