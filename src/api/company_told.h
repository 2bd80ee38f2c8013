/* Of which companies the user was told that text of a workspace goes there. It is the user's own
 * file (user_file.h), so that no checkout can say that it was done:
 *
 *     {"workspaces":{"/home/ana/book":{"anthropic":"2026-11-15T21:36:00.000Z"}}}            */
#ifndef HEDDLE_COMPANY_TOLD_H
#define HEDDLE_COMPANY_TOLD_H

#include "api/workspace.h"

/* False also when the file cannot be read: then it is said once more. */
bool company_was_told(const struct workspace *ws, struct sv company, struct arena *a);

/* Record it. Failure is ignored: it is said again the next time. */
void company_told(const struct workspace *ws, struct sv company, struct arena *a);

#endif
