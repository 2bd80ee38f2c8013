/* Time comes in from outside: a door may fix it (HEDDLE_NOW), else it is the system's clock.
 * Nothing is ever ordered by time: entries have sequence numbers. */
#ifndef HEDDLE_CLOCK_H
#define HEDDLE_CLOCK_H

#include "base/sb.h"

int64_t clock_now_ms(void);

/* From now on clock_now_ms() returns the given time, milliseconds since 1970 or an instant such as
 * 2026-11-15T21:36:00Z; empty: that of the system. ST_USAGE when `given` is neither; the system's
 * clock is then used. Safe while other threads call clock_now_ms(). */
enum status clock_set(struct sv given, struct err *e) MUST_USE;

/* Was it fixed? */
bool clock_is_fixed(void);

/* The system's clock, fixed or not: to compare with times that the kernel gave to files. */
int64_t clock_system_ms(void);

/* For measuring and for waits: never goes back, has no relation to the date. */
int64_t clock_steady_us(void);

/* "2026-11-15T21:36:00.123Z" and "2026-11-15 21:36", both UTC. */
void sb_add_iso_ms(struct sb *b, int64_t ms);
void sb_add_minute(struct sb *b, int64_t ms);

/* "just now", "3m ago", "2h ago", "5d ago", or the date when 30 days or more. */
void sb_add_ago(struct sb *b, int64_t then_ms, int64_t now_ms);

/* Reads YYYY-MM-DDTHH:MM[:SS[.fraction]]Z (upper case, real calendar dates, no
 * offsets). False when it is not that. */
bool clock_parse_iso(struct sv v, int64_t *ms);

#endif
