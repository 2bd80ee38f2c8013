/* Tokens for people and programs to look at. */
#ifndef HEDDLE_TOKENS_SHOW_H
#define HEDDLE_TOKENS_SHOW_H

#include "base/json.h"
#include "tokens/tokens.h"

/* One line of ids with blanks between. */
void tokens_show_ids(struct sb *out, const struct tokens_ids *ids);

/* One line for each token: id, tab, its text as a JSON string. A byte that is no whole character
 * stands as \xNN, outside of what JSON knows. */
enum status tokens_show_lines(struct sb *out, struct tokens *t, const struct tokens_ids *ids,
                              struct err *e) MUST_USE;

/* The text itself, neighbours in different colours. */
enum status tokens_show_color(struct sb *out, struct tokens *t, const struct tokens_ids *ids,
                              struct err *e) MUST_USE;
bool        tokens_color_wanted(void); /* standard output is a terminal that wants it */

/* "ids": [...], and with `texts` "texts": [...]: a string for each token, or {"hex": "..."} when it
 * is not whole characters. */
enum status tokens_show_json(struct jw *j, struct tokens *t, const struct tokens_ids *ids,
                             bool texts, struct arena *a, struct err *e) MUST_USE;

#endif
