#include "tokens/merge.h"

#include <stdlib.h>

enum { BLOCK = 16, SEAM_MAX = 2 * TOKEN_MAX_BYTES };

void merge_init(struct merge *m, const struct vocab *v)
{
    *m = (struct merge){ .v = v };
}

void merge_release(struct merge *m)
{
    free(m->windows[0].id);
    free(m->windows[1].id);
    free(m->seam.id);
}

static void window_reserve(struct merge_window *w, size_t cap)
{
    if (cap <= w->cap)
        return;
    cap = (cap + MERGE_WINDOW - 1) / MERGE_WINDOW * MERGE_WINDOW;
    free(w->id);
    w->id = malloc((4 * cap + cap / BLOCK) * sizeof *w->id);
    if (!w->id)
        die("out of memory (a word of %zu bytes)", cap);
    w->rank = w->id + cap;
    w->next = w->rank + cap;
    w->prev = w->next + cap;
    w->lowest = w->prev + cap;
    w->cap = cap;
}

static uint32_t lowest_of(const uint32_t *rank, size_t n)
{
    uint32_t low = TOKEN_NONE;

    for (size_t i = 0; i < n; i++)
        low = rank[i] < low ? rank[i] : low;
    return low;
}

static void set_rank(struct merge_window *w, size_t at, uint32_t rank)
{
    size_t block = at / BLOCK;

    w->rank[at] = rank;
    w->lowest[block] = lowest_of(w->rank + block * BLOCK, BLOCK);
}

static void window_load(const struct merge *m, struct merge_window *w, const uint8_t *p, size_t n)
{
    size_t padded = (n + BLOCK - 1) / BLOCK * BLOCK;

    window_reserve(w, padded);
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        w->id[i] = m->v->byte_id[p[i]];
        w->rank[i] = i + 1 < n ? m->v->bigram[p[i] << 8 | p[i + 1]] : TOKEN_NONE;
        w->next[i] = (uint32_t)i + 1;
        w->prev[i] = (uint32_t)i - 1;
    }
    for (size_t i = n; i < padded; i++)
        w->rank[i] = TOKEN_NONE;
    for (size_t b = 0; b < padded / BLOCK; b++)
        w->lowest[b] = lowest_of(w->rank + b * BLOCK, BLOCK);
}

/* The leftmost place of the lowest rank; false when nothing merges any more. */
static bool find_lowest(const struct merge_window *w, size_t *at)
{
    size_t   blocks = (w->n + BLOCK - 1) / BLOCK, block = 0, i;
    uint32_t low = lowest_of(w->lowest, blocks);

    if (low == TOKEN_NONE)
        return false;
    while (w->lowest[block] != low)
        block++;
    for (i = block * BLOCK; w->rank[i] != low;)
        i++;
    *at = i;
    return true;
}

/* Put the token at `at` and the next one together and rank the two new neighbourhoods. */
static void join_at(const struct vocab *v, struct merge_window *w, size_t at)
{
    size_t gone = w->next[at], after = w->next[gone];

    w->id[at] = w->rank[at];
    w->next[at] = (uint32_t)after;
    set_rank(w, gone, TOKEN_NONE);
    if (after < w->n)
        w->prev[after] = (uint32_t)at;
    set_rank(w, at, after < w->n ? vocab_pair(v, w->id[at], w->id[after]) : TOKEN_NONE);
    if (at > 0)
        set_rank(w, w->prev[at], vocab_pair(v, w->id[w->prev[at]], w->id[at]));
}

static void window_encode(struct merge *m, struct merge_window *w, const uint8_t *p, size_t n)
{
    size_t at;

    window_load(m, w, p, n);
    while (find_lowest(w, &at)) {
        join_at(m->v, w, at);
        m->steps += w->n / BLOCK + 4 * BLOCK;
    }
}

/* ---- pieces longer than a window ---- */

/* The tokens of a window up to `end`, a border of it. */
static size_t take_tokens(const struct merge_window *w, size_t end, struct merge_token **out,
                          size_t *last)
{
    size_t n = 0;

    for (size_t at = 0; at < end; at = w->next[at], n++) {
        *last = at;
        if (*out)
            *(*out)++ = (struct merge_token){ w->id[at], w->next[at] - (uint32_t)at };
    }
    return n;
}

/* The last border at or before half of the window, but never its start. */
static size_t cut_of(const struct merge_window *w)
{
    size_t cut = w->next[0];

    while (cut < w->n && w->next[cut] <= w->n / 2)
        cut = w->next[cut];
    return cut;
}

/* Are the tokens p[-left, 0) and p[0, right) the encoding of their text? */
static bool seam_holds(struct merge *m, const uint8_t *p, size_t left, size_t right)
{
    window_encode(m, &m->seam, p - left, left + right);
    return m->seam.next[0] == left && m->seam.next[left] == left + right;
}

size_t merge_piece(struct merge *m, const uint8_t *p, size_t n, struct merge_token *out)
{
    struct merge_window *here = &m->windows[0], *ahead = &m->windows[1];
    size_t               done = 0, total = 0, last = 0, width = MERGE_WINDOW;

    window_encode(m, here, p, n < width ? n : width);
    while (done + here->n < n) {
        size_t              cut = cut_of(here), rest = n - done - cut;
        struct merge_token *unwritten = NULL;
        window_encode(m, ahead, p + done + cut, rest < MERGE_WINDOW ? rest : MERGE_WINDOW);
        size_t taken = take_tokens(here, cut, &unwritten, &last);
        if (!seam_holds(m, p + done + cut, cut - last, ahead->next[0])) {
            width = 2 * here->n < n - done ? 2 * here->n : n - done;
            window_encode(m, here, p + done, width);
            continue;
        }
        total += taken;
        take_tokens(here, cut, &out, &last);
        done += cut;
        struct merge_window *was = here;
        here = ahead;
        ahead = was;
    }
    return total + take_tokens(here, here->n, &out, &last);
}
