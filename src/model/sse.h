/* Server-sent events: bytes in, in pieces of any size, events out.
 *
 *     struct sse p = sse_in(a, MAX);
 *     if (sse_feed(&p, piece, on_event, ctx, e)) ...          for each piece that comes
 *
 * As WHATWG defines them: lines end with LF, CRLF or CR; a byte order mark in front is skipped;
 * `data` lines of an event are joined with LF; an empty line ends the event; comments, `id`,
 * `retry` and unknown fields are ignored. An event that its stream does not end is not an event.
 * The bytes are not looked at as text here: a piece may end inside of a character. Pure. */
#ifndef HEDDLE_SSE_H
#define HEDDLE_SSE_H

#include "base/sb.h"

/* One event; the slices live until the function that takes it returns. */
struct sse_event {
    struct sv name; /* "" when the stream gave none */
    struct sv data;
};

typedef enum status sse_each(void *ctx, const struct sse_event *ev, struct err *e);

struct sse {
    struct sb line, data, name;
    size_t    max;   /* bytes of one line, and of one event */
    bool      begun; /* a line has been read: a byte order mark is no longer one */
    bool      cr;    /* the last byte was a CR: an LF that follows belongs to it */
    bool      has_data;
};

/* What is being read is kept in `a`, at most about three times `max`. */
struct sse sse_in(struct arena *a, size_t max);

/* ST_LIMIT_EXCEEDED: a line or an event is longer than `max`. Otherwise what `each` returned; after
 * an error nothing more may be fed. */
enum status sse_feed(struct sse *p, struct sv bytes, sse_each *each, void *ctx,
                     struct err *e) MUST_USE;

#endif
