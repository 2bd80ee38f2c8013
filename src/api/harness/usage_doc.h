/* Tokens and costs in answers: of sessions, of turns. */
#ifndef HEDDLE_USAGE_DOC_H
#define HEDDLE_USAGE_DOC_H

#include "api/request.h"
#include "harness/sessions.h"

extern const struct field usage_fields[];

/* A cost that the program did not report is computed from models.prices of the settings, when they
 * have the model. False: unknown. */
bool usage_price(struct request *r, enum harness h, struct sv model, const struct harness_usage *u,
                 int64_t *cost);

/* "tokens": {…}, "cost": dollars, or null when `cost` is NULL. */
void usage_members(struct jw *w, const struct harness_usage *u, const int64_t *cost);

/* "12,345 tokens", "$0.0125" or "-" of such a document. */
struct sv usage_tokens_text(const struct json *x, struct arena *a);
struct sv usage_cost_text(const struct json *x, struct arena *a);

/* "1,234 tokens, $0.05"; without the cost where that is not known. */
struct term;
void usage_print(const struct json *x, struct term *t);

#endif
