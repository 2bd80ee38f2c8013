/* Server-sent events: a line is collected until it ends, an event until an empty line. */
#include "model/sse.h"

#include "base/utf8.h"

struct sse sse_in(struct arena *a, size_t max)
{
    return (
        struct sse){ .line = sb_in(a, 0), .data = sb_in(a, 0), .name = sb_in(a, 0), .max = max };
}

static enum status too_long(const struct sse *p, struct err *e)
{
    return err_set(e, ST_LIMIT_EXCEEDED, "an event of the stream is longer than %zu bytes", p->max);
}

/* An event without data is dropped, whatever its name: the standard says so. */
static enum status dispatch(struct sse *p, sse_each *each, void *ctx, struct err *e)
{
    struct sse_event ev = { sb_sv(&p->name), sb_sv(&p->data) };
    bool             whole = p->has_data;

    p->name.n = p->data.n = 0;
    p->has_data = false;
    return whole ? each(ctx, &ev, e) : ST_OK;
}

static enum status take_line(struct sse *p, struct sv line, sse_each *each, void *ctx,
                             struct err *e)
{
    if (!p->begun)
        line = utf8_skip_bom(line);
    p->begun = true;
    if (!line.n)
        return dispatch(p, each, ctx, e);
    struct sv_cut field = sv_cut(line, ':');
    struct sv     value = sv_starts(field.tail, SV(" ")) ? sv_skip(field.tail, 1) : field.tail;
    if (sv_is(field.head, "data")) {
        if (p->data.n + value.n + 1 > p->max)
            return too_long(p, e);
        sb_adds(&p->data, p->has_data ? "\n" : "");
        sb_add(&p->data, value);
        p->has_data = true;
    } else if (sv_is(field.head, "event")) {
        p->name.n = 0;
        sb_add(&p->name, value);
    }
    return ST_OK;
}

/* How many bytes are in front of the first CR or LF; all of them when there is none. */
static size_t line_length(struct sv v)
{
    size_t n = 0;

    while (n < v.n && v.s[n] != '\n' && v.s[n] != '\r')
        n++;
    return n;
}

enum status sse_feed(struct sse *p, struct sv bytes, sse_each *each, void *ctx, struct err *e)
{
    while (bytes.n) {
        if (p->cr && bytes.s[0] == '\n')
            bytes = sv_skip(bytes, 1);
        p->cr = false;
        size_t n = line_length(bytes);
        bool   ends = n < bytes.n;
        if (p->line.n + n > p->max)
            return too_long(p, e);
        sb_add(&p->line, sv_first(bytes, n));
        if (!ends)
            return ST_OK;
        p->cr = bytes.s[n] == '\r';
        bytes = sv_skip(bytes, n + 1);
        struct sv line = sb_sv(&p->line);
        p->line.n = 0;
        if (take_line(p, line, each, ctx, e))
            return err_code(e);
    }
    return ST_OK;
}
