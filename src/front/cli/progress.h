/* A line on stderr that says how far long work has come; only on a terminal, and only
 * once it has taken a second. */
#ifndef HEDDLE_PROGRESS_H
#define HEDDLE_PROGRESS_H

#include "base/base.h"

struct progress {
    const char *what;
    int64_t     total;          /* 0: unknown */
    int64_t     started, shown; /* steady µs */
};

struct progress progress_of(const char *what, int64_t total);
void            progress_at(struct progress *p, int64_t done);
void            progress_end(struct progress *p); /* clears the line */

#endif
