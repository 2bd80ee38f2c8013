/* Three-way merge of lines. Both sides are compared with the base by Myers' greedy algorithm;
 * stretches of the base that both left alone hold the three texts together, and between them
 * only one side, or both in the same way, may have changed. */
#include "share/operation.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { MERGE_LINES_MAX = 20000, MERGE_STEPS_MAX = 4000 };

struct lines {
    struct sv *v;
    size_t     n;
};

static struct lines split(struct sv text, struct arena *a)
{
    VEC(struct sv) list = { 0 };

    while (text.n) {
        const char *end = memchr(text.s, '\n', text.n);
        size_t      n = end ? (size_t)(end - text.s) + 1 : text.n;
        *vec_push(&list, a) = sv_first(text, n);
        text = sv_skip(text, n);
    }
    return (struct lines){ list.v, list.n };
}

/* From (x, y), the end of d steps, back to the start: a diagonal stretch is equal lines. */
static void walk_back(long *const *trace, long d, long x, long y, long *match)
{
    for (long back = d; back >= 0; back--) {
        long kk = x - y, px, pk;
        if (back == 0) {
            px = 0, pk = 0;
        } else {
            const long *w = trace[back - 1];
            long        lo = -(back - 1);
            long        below = kk + 1 <= back - 1 ? w[kk + 1 - lo] : -1;
            long        left = kk - 1 >= lo ? w[kk - 1 - lo] : -1;
            bool        down = kk == -back || (kk != back && left < below);
            pk = down ? kk + 1 : kk - 1;
            px = down ? below : left;
        }
        long start_x = back == 0 ? 0 : (pk == kk + 1 ? px : px + 1);
        while (x > start_x)
            x--, y--, match[x] = y;
        if (back > 0) {
            x = px;
            y = px - pk;
        }
    }
}

/* match[i]: the line of `side` that base line i became, or -1. False: too different. */
static bool match_lines(const struct lines *base, const struct lines *side, long *match,
                        struct arena *a)
{
    long   n = (long)base->n, m = (long)side->n, max = n + m, limit;
    long **trace;

    limit = max < MERGE_STEPS_MAX ? max : MERGE_STEPS_MAX;
    trace = ARENA_NEW(a, long *, (size_t)limit + 1);
    long *v = ARENA_NEW(a, long, (size_t)(2 * limit + 3));
    long  mid = limit + 1;
    for (long i = 0; i < n; i++)
        match[i] = -1;
    for (long d = 0; d <= limit; d++) {
        trace[d] = ARENA_NEW(a, long, (size_t)(2 * d + 1));
        for (long k = -d; k <= d; k += 2) {
            long x = k == -d || (k != d && v[mid + k - 1] < v[mid + k + 1]) ? v[mid + k + 1]
                                                                            : v[mid + k - 1] + 1;
            long y = x - k;
            while (x < n && y < m && sv_eq(base->v[x], side->v[y]))
                x++, y++;
            v[mid + k] = x;
            if (x < n || y < m)
                continue;
            walk_back(trace, d, x, y, match);
            return true;
        }
        for (long k = -d; k <= d; k++)
            trace[d][k + d] = v[mid + k];
    }
    return false;
}

struct merging {
    struct lines    base, ours, theirs;
    struct sv       ours_name, theirs_name;
    enum merge_side side;
    struct sb       out;
    bool            clean;
};

static void put_lines(struct sb *b, const struct lines *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        sb_add(b, l->v[i]);
}

static bool equal(const struct lines *a, size_t a0, size_t a1, const struct lines *b, size_t b0,
                  size_t b1)
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
