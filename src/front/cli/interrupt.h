/* Ctrl-C while an operation runs: the first asks it to end, which it does after keeping what it
 * has; the second ends the program. */
#ifndef HEDDLE_INTERRUPT_H
#define HEDDLE_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* From now on SIGINT and SIGTERM set the flag that is returned, which is false until then. A signal
 * that the parent ignores stays ignored. */
const atomic_bool *interrupt_begin(void);

/* The signals do what they did before interrupt_begin(). True when one of them came. */
bool interrupt_end(void);

/* As if a signal had come. */
void interrupt_now(void);

#endif
