/* Three-way merge of lines. Both sides are compared with the base by Myers' greedy algorithm; parts
 * of the base that neither side changed align the three texts. Between them a change is clean if
 * only one side changed the lines, or both in the same way. */
#include "share/operation.h"

#include "base/map.h"
#include "share/limits.h"

#include <stdlib.h>
#include <string.h>

struct merge_lines {
    struct sv *v;
    size_t     n;
};

static struct merge_lines split(struct sv text, struct arena *a)
{
    VEC(struct sv) list = { 0 };

    while (text.n) {
        const char *end = memchr(text.s, '\n', text.n);
        size_t      n = end ? (size_t)(end - text.s) + 1 : text.n;
        *vec_push(&list, a) = sv_first(text, n);
        text = sv_skip(text, n);
    }
    return (struct merge_lines){ list.v ? list.v : ARENA_NEW(a, struct sv, 1), list.n };
}

/* The trace of Myers' algorithm: for each number of differences, how far each diagonal reached.
 * trace[d] has the diagonals -d … d. */
struct merge_trace {
    long **reach;
    long   d; /* differences at which both ends were met */
};

/* From the end back to the start: each diagonal stretch is a run of equal lines. */
static void walk_back(const struct merge_trace *t, long x, long y, long *match)
{
    for (long d = t->d; d >= 0; d--) {
        long from_x = 0, from_k = 0, start = 0;
        if (d > 0) {
            const long *w = t->reach[d - 1];
            long        lowest = 1 - d, k = x - y;
            long        below = k + 1 <= d - 1 ? w[k + 1 - lowest] : -1;
            long        left = k - 1 >= lowest ? w[k - 1 - lowest] : -1;
            bool        down = k == -d || (k != d && left < below);
            from_k = down ? k + 1 : k - 1;
            from_x = down ? below : left;
            start = down ? from_x : from_x + 1;
        }
        while (x > start)
            x--, y--, match[x] = y;
        if (d > 0) {
            x = from_x;
            y = from_x - from_k;
        }
    }
}

/* match[i]: the line of `side` that base line i became, or -1. False: too different. */
static bool match_lines(const struct merge_lines *base, const struct merge_lines *side, long *match,
                        struct arena *a)
{
    long               n = (long)base->n, m = (long)side->n;
    long               limit = n + m < MERGE_STEPS_MAX ? n + m : MERGE_STEPS_MAX, mid = limit + 1;
    struct merge_trace t = { ARENA_NEW(a, long *, (size_t)limit + 1), 0 };
    long              *v = ARENA_NEW(a, long, (size_t)(2 * limit + 3));

    for (long i = 0; i < n; i++)
        match[i] = -1;
    for (t.d = 0; t.d <= limit; t.d++) {
        for (long k = -t.d; k <= t.d; k += 2) {
            bool down = k == -t.d || (k != t.d && v[mid + k - 1] < v[mid + k + 1]);
            long x = down ? v[mid + k + 1] : v[mid + k - 1] + 1, y = x - k;
            while (x < n && y < m && sv_eq(base->v[x], side->v[y]))
                x++, y++;
            v[mid + k] = x;
            if (x < n || y < m)
                continue;
            walk_back(&t, x, y, match);
            return true;
        }
        t.reach[t.d] = ARENA_NEW(a, long, (size_t)(2 * t.d + 1));
        for (long k = -t.d; k <= t.d; k++)
            t.reach[t.d][k + t.d] = v[mid + k];
    }
    return false;
}

struct merging {
    struct merge_lines base, ours, theirs;
    struct sv          ours_name, theirs_name;
    enum merge_side    side;
    struct sb          out;
    bool               clean;
};

static void put_lines(struct sb *b, const struct merge_lines *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        sb_add(b, l->v[i]);
}

static bool equal(const struct merge_lines *a, size_t a0, size_t a1, const struct merge_lines *b,
                  size_t b0, size_t b1)
{
    if (a1 - a0 != b1 - b0)
        return false;
    for (size_t i = 0; i < a1 - a0; i++)
        if (!sv_eq(a->v[a0 + i], b->v[b0 + i]))
            return false;
    return true;
}

static void end_line(struct sb *b)
{
    if (b->n && b->s[b->n - 1] != '\n')
        sb_addc(b, '\n');
}

/* What lies between two stretches that all three share. */
static void put_hunk(struct merging *m, size_t b0, size_t b1, size_t o0, size_t o1, size_t t0,
                     size_t t1)
{
    if (equal(&m->base, b0, b1, &m->ours, o0, o1)) {
        put_lines(&m->out, &m->theirs, t0, t1);
        return;
    }
    if (equal(&m->base, b0, b1, &m->theirs, t0, t1) ||
        equal(&m->ours, o0, o1, &m->theirs, t0, t1)) {
        put_lines(&m->out, &m->ours, o0, o1);
        return;
    }
    m->clean = false;
    if (m->side == MERGE_THEIRS) {
        put_lines(&m->out, &m->theirs, t0, t1);
        return;
    }
    end_line(&m->out);
    sb_addf(&m->out, "<<<<<<< " SV_FMT "\n", SV_ARG(m->ours_name));
    put_lines(&m->out, &m->ours, o0, o1);
    end_line(&m->out);
    sb_adds(&m->out, "=======\n");
    put_lines(&m->out, &m->theirs, t0, t1);
    end_line(&m->out);
    sb_addf(&m->out, ">>>>>>> " SV_FMT "\n", SV_ARG(m->theirs_name));
}

enum status merge_text(struct sv base, struct sv ours, struct sv theirs, struct sv ours_name,
                       struct sv theirs_name, enum merge_side side, struct arena *a, struct sv *out,
                       bool *clean, struct err *e)
{
    struct merging m = { split(base, a), split(ours, a), split(theirs, a), ours_name,
                         theirs_name,    side,           sb_in(a, 0),      true };
    long          *to_ours = ARENA_NEW(a, long, m.base.n + 1);
    long          *to_theirs = ARENA_NEW(a, long, m.base.n + 1);
    size_t         b = 0, o = 0, t = 0;

    if (m.base.n > MERGE_LINES_MAX || m.ours.n > MERGE_LINES_MAX || m.theirs.n > MERGE_LINES_MAX ||
        !match_lines(&m.base, &m.ours, to_ours, a) ||
        !match_lines(&m.base, &m.theirs, to_theirs, a))
        return err_set(e, ST_LIMIT_EXCEEDED, "too long or too different to merge line by line");
    for (size_t i = 0; i <= m.base.n; i++) {
        bool end = i == m.base.n;
        if (!end && (to_ours[i] < 0 || to_theirs[i] < 0))
            continue;
        size_t at_o = end ? m.ours.n : (size_t)to_ours[i];
        size_t at_t = end ? m.theirs.n : (size_t)to_theirs[i];
        put_hunk(&m, b, i, o, at_o, t, at_t);
        if (!end)
            sb_add(&m.out, m.base.v[i]);
        b = i + 1;
        o = at_o + 1;
        t = at_t + 1;
    }
    *clean = m.clean;
    *out = sb_sv(&m.out);
    return ST_OK;
}
