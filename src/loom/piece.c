/* Lines of a text, long ones broken. */
#include "loom/piece.h"

#include "base/utf8.h"

/* The first line of a text, with its end. */
static struct sv next_line(struct sv text)
{
    struct sv line = sv_cut(text, '\n').head;

    if (line.n <= PIECE_LINE)
        return sv_first(text, line.n + (line.n < text.n));
    line = utf8_first(line, PIECE_LINE);
    for (size_t n = line.n; n > PIECE_LINE / 2; n--)
        if (line.s[n - 1] == ' ')
            return sv_first(line, n);
    return line;
}

int64_t piece_lines(struct sv text)
{
    int64_t n = 0;

    for (; text.n; text = sv_skip(text, next_line(text).n))
        n++;
    return n;
}

enum status piece_of(struct sv text, int64_t first, int64_t *last, struct sv *out, struct err *e)
{
    struct sv rest = text, from = { 0 };
    int64_t   at = 0;

    while (rest.n && at < *last) {
        if (++at == first)
            from = rest;
        rest = sv_skip(rest, next_line(rest).n);
    }
    if (first < 1 || *last < first || !from.s) {
        err_set(e, ST_LIMIT_EXCEEDED, "there are no lines %lld-%lld", (long long)first,
                (long long)*last);
        return text.n ? err_hint(e, "it has lines 1-%lld", (long long)piece_lines(text))
                      : err_hint(e, "it is empty");
    }
    *last = at;
    *out = sv_first(from, from.n - rest.n);
    return ST_OK;
}

enum status piece_of_range(struct sv text, struct sv range, int64_t *first, int64_t *last,
                           struct sv *out, struct err *e)
{
    struct sv_cut c = sv_cut(range, '-');

    if (!sv_to_int(sv_trim(c.head), first) || !sv_to_int(sv_trim(c.found ? c.tail : c.head), last))
        return err_set(e, ST_INVALID_SYNTAX, "lines: takes a range such as 10-20");
    return piece_of(text, *first, last, out, e);
}

struct sv piece_start(struct sv text, size_t bytes, int64_t *lines)
{
    size_t n = 0;

    *lines = 0;
    while (n < text.n) {
        size_t next = next_line(sv_skip(text, n)).n;
        if (*lines && n + next > bytes)
            break;
        n += next;
        ++*lines;
    }
    return sv_first(text, n);
}
