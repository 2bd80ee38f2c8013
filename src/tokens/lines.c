/* Cutting text at line starts where counts add up. */
#include "tokens/lines.h"

#include "base/vec.h"
#include "tokens/tokens.h"

#include <string.h>

/* Marks are at least this far apart, so that they stay few. */
enum { STRIDE = 512 };

static bool is_border(struct sv text, size_t at)
{
    if (at >= text.n || text.s[at] == '/')
        return false;
    while (at < text.n && (text.s[at] == ' ' || text.s[at] == '\t'))
        at++;
    return at < text.n && text.s[at] > ' ' && text.s[at] < 0x7f;
}

size_t tokens_lines_next_border(struct sv text, size_t from)
{
    while (from < text.n) {
        const char *newline = memchr(text.s + from, '\n', text.n - from);
        if (!newline)
            break;
        from = (size_t)(newline - text.s) + 1;
        if (is_border(text, from))
            return from;
    }
    return text.n;
}

size_t tokens_lines_last_border(struct sv text)
{
    size_t end = text.n;

    while (end) {
        const char *newline = memrchr(text.s, '\n', end);
        if (!newline)
            break;
        end = (size_t)(newline - text.s);
        if (is_border(text, end + 1))
            return end + 1;
    }
    return 0;
}

void tokens_lines_in(struct tokens *t, struct sv text, struct arena *a, struct tokens_lines *out)
{
    VEC(struct tokens_mark) marks = { 0 };
    size_t at = 0, total = 0;

    *vec_push(&marks, a) = (struct tokens_mark){ 0 };
    while (!tokens_is_estimate(t)) {
        size_t next = at + STRIDE < text.n ? tokens_lines_next_border(text, at + STRIDE) : text.n;
        if (next == text.n)
            break;
        total += tokens_count(t, (struct sv){ text.s + at, next - at });
        *vec_push(&marks, a) = (struct tokens_mark){ next, total };
        at = next;
    }
    total += tokens_count(t, sv_skip(text, at));
    *out = (struct tokens_lines){ text, marks.v, marks.n, total };
}

/* The number of marks at or before `offset`. */
static size_t marks_until(const struct tokens_lines *l, size_t offset)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->marks[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t tokens_lines_count(struct tokens *t, const struct tokens_lines *l, size_t from, size_t to)
{
    struct sv part = { l->text.s + from, to - from };
    size_t    last = marks_until(l, to), first = from ? marks_until(l, from - 1) : 0;

    if (last <= first || tokens_is_estimate(t))
        return tokens_count(t, part);
    const struct tokens_mark *head = &l->marks[first], *tail = &l->marks[last - 1];
    size_t                    middle = tail->before - head->before;
    return tokens_count(t, sv_first(part, head->offset - from)) + middle +
           tokens_count(t, sv_skip(part, tail->offset - from));
}
