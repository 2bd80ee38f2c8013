/* Time comes in from outside: HEDDLE_NOW (milliseconds since 1970, or an ISO 8601
 * instant such as 2026-11-15T21:36:00Z) fixes it, else the system clock. Nothing is
 * ever ordered by time: entries have sequence numbers. */
#ifndef HEDDLE_CLOCK_H
#define HEDDLE_CLOCK_H

#include "base/sb.h"

int64_t clock_now_ms(void);

/* ST_USAGE when HEDDLE_NOW is set to something else; clock_now_ms() then takes the system's clock.
 * Every door asks once, so that a slip in it is not silently another time. */
enum status clock_check(struct err *e) MUST_USE;

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
