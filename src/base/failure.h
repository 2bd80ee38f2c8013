/* Failures that no caller can handle: memory is exhausted, the kernel returns no random bytes,
 * libsodium does not start. The code below the doors neither prints nor exits; it calls one of the
 * functions below, and the program sets beforehand what happens then.
 *
 *     failure_handle(print_and_exit);          a door, once, before other threads start
 *
 * Without a handler, or when the handler returns, the process ends with abort(). */
#ifndef HEDDLE_FAILURE_H
#define HEDDLE_FAILURE_H

#include "base/base.h"

/* Gets one line of text without a newline. It may be called from any thread, when there is no
 * memory left: it must not allocate, and must not return. */
typedef void failure_handler(const char *what);

void failure_handle(failure_handler *handler); /* NULL: abort() */

/* An allocation of this many bytes failed; SIZE_MAX: the number is too large or not known. */
_Noreturn void failure_memory(size_t bytes);

/* Something that every process can expect from the system is missing. */
_Noreturn void failure_system(const char *what);

#endif
