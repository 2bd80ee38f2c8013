/* Of which companies the user knows that text of a workspace goes there: those that were announced,
 * and the first, when it was named. It is the user's own file (user_file.h), so that no checkout
 * can say that it was done:
 *
 *     {"workspaces":{"/home/ana/book":{"anthropic":"2026-11-15T21:36:00.000Z"}}}            */
#ifndef HEDDLE_COMPANY_TOLD_H
#define HEDDLE_COMPANY_TOLD_H

#include "api/workspace.h"

/* False also when the file cannot be read: then it is said once more. *others: the workspace has
 * another company already, or that is not known. */
bool company_was_told(const struct workspace *ws, struct sv company, struct arena *a, bool *others);

/* Record it. Failure is ignored: it is said again the next time. */
void company_told(const struct workspace *ws, struct sv company, struct arena *a);

#endif
