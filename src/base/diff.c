/* Comparing by the longest common subsequence of lines. */
#include "base/diff.h"

#include "base/vec.h"

struct diff {
    struct sv *x, *y;
    size_t     n, m;
    void (*each)(void *ctx, char mark, struct sv line);
    void *ctx;
};

static size_t split(struct sv text, struct arena *a, struct sv **out)
{
    VEC(struct sv) lines = { 0 };

    for (struct sv_cut c = { .tail = text, .found = text.n > 0 }; c.found;) {
        c = sv_cut(c.tail, '\n');
        *vec_push(&lines, a) = c.head;
    }
    *out = lines.v;
    return lines.n;
}

/* Compares the lines between the common start and the common end of the two texts. Their number is
 * limited, so the size of the table is, too. */
static void compare(const struct diff *d, struct arena *a)
{
    uint16_t *common = ARENA_NEW(a, uint16_t, (d->n + 1) * (d->m + 1));
    size_t    i, k;

#define COMMON(i, k) common[(i) * (d->m + 1) + (k)]
    for (i = d->n; i-- > 0;)
        for (k = d->m; k-- > 0;) {
            uint16_t skip =
                COMMON(i + 1, k) > COMMON(i, k + 1) ? COMMON(i + 1, k) : COMMON(i, k + 1);
            COMMON(i, k) = sv_eq(d->x[i], d->y[k]) ? (uint16_t)(COMMON(i + 1, k + 1) + 1) : skip;
        }
    for (i = k = 0; i < d->n || k < d->m;) {
        if (i < d->n && k < d->m && sv_eq(d->x[i], d->y[k])) {
            d->each(d->ctx, ' ', d->x[i]);
            i++, k++;
        } else if (k >= d->m || (i < d->n && COMMON(i + 1, k) >= COMMON(i, k + 1))) {
            d->each(d->ctx, '-', d->x[i++]);
        } else {
            d->each(d->ctx, '+', d->y[k++]);
        }
    }
#undef COMMON
}

bool diff_lines(struct sv before, struct sv                               after,
                void (*each)(void *ctx, char mark, struct sv line), void *ctx)
{
    struct arena a = { 0 };
    struct diff  d = { .each = each, .ctx = ctx };
    size_t       ends = 0;

    d.n = split(before, &a, &d.x);
    d.m = split(after, &a, &d.y);
    bool fits = d.n <= DIFF_LINES_MAX && d.m <= DIFF_LINES_MAX;
    while (fits && d.n && d.m && sv_eq(d.x[0], d.y[0])) {
        each(ctx, ' ', d.x[0]);
        d.x++, d.y++, d.n--, d.m--;
    }
    while (d.n && d.m && sv_eq(d.x[d.n - 1], d.y[d.m - 1]))
        d.n--, d.m--, ends++;
    if (fits)
        compare(&d, &a);
    for (size_t i = 0; fits && i < ends; i++)
        each(ctx, ' ', d.x[d.n + i]);
    arena_free(&a);
    return fits;
}
