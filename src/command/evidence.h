/* The raw answer of a provider, kept in the log: evidence for the nodes that were made from it
 * (`heddle tree attest`), what it used and what it cost. */
#ifndef HEDDLE_COMMAND_EVIDENCE_H
#define HEDDLE_COMMAND_EVIDENCE_H

#include "base/json.h"
#include "command/session.h"

/* Append it as a model_response in the open write transaction; *hash is what its nodes name. */
enum status evidence_keep(struct session *s, const struct model_response *m, struct sv *hash,
                          struct err *e) MUST_USE;

/* The members of a model_response, without the braces. */
void evidence_write(struct jw *w, const struct model_response *m, struct sv hash);

/* {"input":…,"output":…} with the members that are known; for the usage of a run. */
void evidence_usage(struct jw *w, const struct model_usage *u);

/* The text of an answer as it is stored: one that was cut off says so at its end. */
struct sv evidence_text(const struct model_response *m, struct arena *a);

#endif
