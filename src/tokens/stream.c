/* Text that arrives in parts. Complete pieces are counted as they arrive; what is held back is
 * valid UTF-8 from the last piece border on. A piece that does not end is examined again only when
 * it has become twice as long, so that even one endless word costs time proportional to its length.
 */
#include "base/failure.h"
#include "tokens/counter.h"
#include "tokens/lines.h"

#include "base/utf8.h"

#include <stdlib.h>

enum { SLICE = 64 * 1024 };

void tokens_stream_init(struct tokens_stream *s, struct tokens *t)
{
    *s = (struct tokens_stream){ .t = t, .due = SLICE };
}

static void hold(struct tokens_stream *s, struct sv v)
{
    if (s->n + v.n > s->cap) {
        s->cap = (s->n + v.n) * 2;
        s->held = realloc(s->held, s->cap);
        if (!s->held)
            failure_memory(s->cap);
    }
    if (v.n)
        memcpy(s->held + s->n, v.s, v.n);
    s->n += v.n;
}

static void hold_lossy(struct tokens_stream *s, struct sv v)
{
    ptrdiff_t bad;

    while ((bad = utf8_invalid(v)) >= 0) {
        size_t len;
        hold(s, sv_first(v, (size_t)bad));
        v = sv_skip(v, (size_t)bad);
        utf8_decode(v, &len);
        v = sv_skip(v, len);
        hold(s, SV("\xef\xbf\xbd"));
        s->lossy = true;
    }
    hold(s, v);
}

/* Count what is held: all of it, or the pieces that are finished. */
static void settle(struct tokens_stream *s, bool whole)
{
    struct sv held = { s->held, s->n };
    size_t    used = s->n;
    bool      bad;

    if (tokens_is_estimate(s->t))
        s->total += utf8_count(held);
    else
        s->total += counter_count(s->t, held, whole, &used, &bad);
    s->n -= used;
    if (s->n)
        memmove(s->held, s->held + used, s->n);
    s->due = s->n * 2 > SLICE ? s->n * 2 : SLICE;
}

/* Takes all of v except an incomplete character at its end, which is kept for the next call. */
static void take(struct tokens_stream *s, struct sv v)
{
    size_t tail = utf8_unfinished(v);

    hold_lossy(s, sv_first(v, v.n - tail));
    s->part_n = tail;
    if (tail)
        memmove(s->part, v.s + v.n - tail, tail);
    if (s->n >= s->due)
        settle(s, false);
}

void tokens_stream_add(struct tokens_stream *s, struct sv chunk)
{
    while (s->part_n && chunk.n) {
        s->part[s->part_n++] = chunk.s[0];
        chunk = sv_skip(chunk, 1);
        take(s, (struct sv){ s->part, s->part_n });
    }
    for (; chunk.n > SLICE; chunk = sv_skip(chunk, SLICE - s->part_n), s->part_n = 0)
        take(s, sv_first(chunk, SLICE));
    if (chunk.n)
        take(s, chunk);
}

static void settle_all(struct tokens_stream *s)
{
    hold_lossy(s, (struct sv){ s->part, s->part_n });
    s->part_n = 0;
    settle(s, true);
}

size_t tokens_stream_end(struct tokens_stream *s)
{
    settle_all(s);
    free(s->held);
    size_t total = tokens_is_estimate(s->t) ? (s->total + 3) / 4 : s->total;
    bool   lossy = s->lossy;
    tokens_stream_init(s, s->t);
    s->lossy = lossy;
    return total;
}

void tokens_stream_add_counted(struct tokens_stream *s, struct sv text, size_t count)
{
    size_t first = tokens_lines_next_border(text, 0), last = tokens_lines_last_border(text);

    if (tokens_is_estimate(s->t) || first >= last) {
        tokens_stream_add(s, text);
        return;
    }
    struct sv head = sv_first(text, first), tail = sv_skip(text, last);
    tokens_stream_add(s, head);
    settle_all(s);
    s->total += count - tokens_count(s->t, head) - tokens_count(s->t, tail);
    tokens_stream_add(s, tail);
}
