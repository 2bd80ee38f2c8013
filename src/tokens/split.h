/* Text is cut into pieces before it is encoded, and no token crosses a piece. The encodings publish
 * the rule as a regular expression; these are the same rules as a scan.
 *
 * The end of a piece depends only on where it starts and on the text after that. So counting may
 * begin at any piece border, and a part of a text may be counted before the rest is there, up to
 * the first piece whose end depends on what follows. */
#ifndef HEDDLE_TOKENS_SPLIT_H
#define HEDDLE_TOKENS_SPLIT_H

#include "tokens/vocab.h"

struct split_state {
    const struct vocab *v;
    const uint8_t      *p;
    size_t              n;
    bool                open;  /* set when a decision depended on the text ending at n */
    bool                bad;   /* set when invalid UTF-8 was met; the end returned means nothing */
    uint64_t            steps; /* characters looked at, for tests of how cost grows */
};

/* The end of the piece that starts at `at` < n. */
size_t split_piece(struct split_state *s, size_t at);

#endif
