/* Byte-pair encoding of one piece: start from its bytes and again and again replace the
 * neighbours whose merger has the lowest rank, the leftmost of equals, until no two neighbours
 * merge.
 *
 * Done by that definition the cost grows with the square of the piece, so a long piece is encoded
 * in windows. That is exact for two reasons. The tokens of a prefix, up to a token border, are the
 * first tokens of the whole. And a row of tokens is the encoding of its text if every two
 * neighbours in it are the encoding of theirs. So each window gives the tokens up to a border well
 * before its end, the next one starts there, and the two tokens at the seam are checked; if they
 * are not the encoding of their text, the earlier window is widened. */
#ifndef HEDDLE_TOKENS_MERGE_H
#define HEDDLE_TOKENS_MERGE_H

#include "tokens/vocab.h"

enum { MERGE_WINDOW = 512 };

/* One window being encoded; see window.h. */
struct merge_window {
    size_t    n, cap;
    uint32_t *id;   /* of the token that starts at this byte */
    uint32_t *rank; /* of its merger with the next one; TOKEN_NONE at the end and inside tokens */
    uint32_t *next, *prev;
    uint32_t *lowest; /* rank of each block */
};
void merge_window_reserve(struct merge_window *w, size_t cap);

/* Encodes p[0..n) in w; returns the number of steps taken. */
typedef uint64_t merge_window_fn(const struct vocab *v, struct merge_window *w, const uint8_t *p,
                                 size_t n);

struct merge_state {
    const struct vocab *v;
    merge_window_fn    *encode;
    struct merge_window windows[2], seam;
    uint64_t            steps; /* taken so far, for tests of how cost grows */
};

void merge_init(struct merge_state *m, const struct vocab *v, merge_window_fn *encode);
void merge_release(struct merge_state *m);

struct merge_token {
    uint32_t id, len;
};

/* The number of tokens of the piece p[0..n), n > 0; they go to `out` unless it is NULL (room for
 * n). */
size_t merge_piece(struct merge_state *m, const uint8_t *p, size_t n, struct merge_token *out);

#endif
