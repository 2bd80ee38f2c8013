/* The newest turns of a context, never a call without its result. */
#ifndef HEDDLE_LIMIT_H
#define HEDDLE_LIMIT_H

#include "assemble/parsed.h"

#define LIMIT_NONE ((int64_t)-1)

/* The index of the first turn to keep so that at most `limit` are kept and no call is cut from a
 * result. The newest group of a call and its results is kept completely even if it is larger than
 * the limit; 0 keeps nothing; LIMIT_NONE keeps everything. */
size_t limit_start(const struct parsed_message *turns, size_t n, int64_t limit, struct arena *a);

/* Of turns that are only the newest of a context: is there a result among those from message
 * `from` on whose call stands before all of them, or nowhere? */
bool limit_lacks_call(const struct parsed_message *turns, size_t n, size_t from, struct arena *a);

#endif
