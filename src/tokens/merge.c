/* Byte-pair merging of one piece, long ones in windows. */
#include "tokens/merge.h"

#include "base/failure.h"
#include "tokens/window.h"

#include <stdlib.h>

void merge_init(struct merge_state *m, const struct vocab *v, merge_window_fn *encode)
{
    *m = (struct merge_state){ .v = v, .encode = encode };
}

void merge_release(struct merge_state *m)
{
    free(m->windows[0].id);
    free(m->windows[1].id);
    free(m->seam.id);
}

void merge_window_reserve(struct merge_window *w, size_t cap)
{
    if (cap <= w->cap)
        return;
    size_t words = 4 * cap + cap / BLOCK + BLOCK;
    free(w->id);
    w->id =
        aligned_alloc(LINE_BYTES, (words * sizeof *w->id + LINE_BYTES - 1) & -(size_t)LINE_BYTES);
    if (!w->id)
        failure_memory(words * sizeof *w->id);
    w->rank = w->id + cap;
    w->next = w->rank + cap;
    w->prev = w->next + cap;
    w->lowest = w->prev + cap;
    w->cap = cap;
}

static void encode(struct merge_state *m, struct merge_window *w, const uint8_t *p, size_t n)
{
    m->steps += m->encode(m->v, w, p, n);
}

/* The tokens of a window up to `end`, a border of it; *last is where the last one starts. */
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

/* Where to cut a window: the last border with room for one token and a quarter behind it, but never
 * the start of the window. */
static size_t cut_of(const struct merge_window *w)
{
    size_t cut = w->next[0], most = w->n - TOKEN_MAX_BYTES - TOKEN_MAX_BYTES / 4;

    while (w->next[cut] <= most)
        cut = w->next[cut];
    return cut;
}

/* Are the tokens p[-left, 0) and p[0, right) the encoding of their text? */
static bool seam_holds(struct merge_state *m, const uint8_t *p, size_t left, size_t right)
{
    encode(m, &m->seam, p - left, left + right);
    return m->seam.next[0] == left && m->seam.next[left] == left + right;
}

/* Is the text from the cut on the same as from the start of the window? Then the next window has
 * the same tokens. */
static bool repeats(const struct merge_window *w, const uint8_t *p, size_t cut, size_t rest)
{
    return w->n == MERGE_WINDOW && rest >= MERGE_WINDOW && memcmp(p, p + cut, MERGE_WINDOW) == 0;
}

size_t merge_piece(struct merge_state *m, const uint8_t *p, size_t n, struct merge_token *out)
{
    struct merge_window *here = &m->windows[0], *ahead = &m->windows[1];
    struct merge_token  *unwritten = NULL;
    size_t               done = 0, total = 0, last = 0;
    bool held = false; /* whether the seam between a window and its repetition was checked */

    encode(m, here, p, n < MERGE_WINDOW ? n : MERGE_WINDOW);
    while (done + here->n < n) {
        size_t cut = cut_of(here), rest = n - done - cut;
        size_t taken = take_tokens(here, cut, &unwritten, &last);
        bool   again = repeats(here, p + done, cut, rest);
        if (!again)
            encode(m, ahead, p + done + cut, rest < MERGE_WINDOW ? rest : MERGE_WINDOW);
        const struct merge_window *next = again ? here : ahead;
        held = (again && held) || seam_holds(m, p + done + cut, cut - last, next->next[0]);
        if (!held) {
            encode(m, here, p + done, 2 * here->n < n - done ? 2 * here->n : n - done);
            continue;
        }
        total += taken;
        take_tokens(here, cut, &out, &last);
        done += cut;
        m->steps += MERGE_WINDOW / BLOCK;
        if (!again) {
            struct merge_window *was = here;
            here = ahead;
            ahead = was;
            held = false;
        }
    }
    return total + take_tokens(here, here->n, &out, &last);
}
