/* Which entries of a thread the loom still shows, so that erasing old entries leaves them
 * (thread/retain.h).
 *
 * Nodes: those that are pinned or bookmarked, and the version of a node that an agent chose; the
 * path to it is kept by the lanes. Summary, annotations and links of a node stay as long as the
 * node does. Of an agent: its pins, its stashes, results that it still sees, the last actions of
 * its trace, and what it can still undo.
 */
#ifndef HEDDLE_LOOM_KEEP_H
#define HEDDLE_LOOM_KEEP_H

#include "loom/node.h"
#include "thread/retain.h"

/* Add all that to `kept`, which has what lanes show; nodes from `before` on stay anyway. *known is
 * false when the thread keeps no rows of the loom. In a transaction. Reads each row once. */
enum status loom_keep(struct loom *l, int64_t before, struct seq_set *kept, bool *known,
                      struct err *e) MUST_USE;

#endif
