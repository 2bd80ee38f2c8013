/* Lines on standard error. Only doors print: the rooms below return their warnings, or pass them to
 * a function that the door gave them. */
#ifndef HEDDLE_WARN_H
#define HEDDLE_WARN_H

#include "base/sv.h"

/* One line for what the caller should know but need not stop for; one write, of any length, without
 * control characters. */
void warn(const char *fmt, ...) PRINTF(1, 2);

/* The same as a function for callbacks; `ctx` is not used. */
void warn_text(void *ctx, struct sv text);

/* For failure_handle(): one line, exit status 1. */
_Noreturn void warn_and_exit(const char *what);

#endif
