/* Properties of a text, found in one pass over its parts: whether it is text at all, how long its
 * fence must be, its hash, its tokens, whether it holds a secret. Pure. */
#ifndef HEDDLE_PAYLOAD_SCAN_H
#define HEDDLE_PAYLOAD_SCAN_H

#include "base/hash.h"
#include "tokens/tokens.h"

struct scan_found {
    struct sv path; /* decides whether values of an environment file count */

    uint64_t    size;
    bool        has_nul, is_invalid; /* invalid: not UTF-8 */
    size_t      run;                 /* longest run of backticks */
    size_t      tokens;
    struct hash sha256;
    char        last;        /* byte; 0 when empty */
    const char *secret;      /* kind, or NULL */
    uint64_t    secret_line; /* from 1 */

    struct scan_part *part; /* state between parts; NULL for a text in one piece */
};

/* A text that is all there. `tokens` NULL: not counted. */
void scan_text(struct scan_found *s, struct sv text, struct tokens *tokens, bool hash,
               bool secrets);

/* A text in parts, cut between characters. False: ENOMEM; then nothing was begun. */
bool scan_begin(struct scan_found *s, struct tokens *tokens, bool hash, bool secrets) MUST_USE;
void scan_add(struct scan_found *s, struct sv part);
void scan_end(struct scan_found *s);

/* Can further parts change the result? No when the parts so far are not text, unless a hash is
 * computed. `size` is then that of the parts seen. */
bool scan_wants_more(const struct scan_found *s);

#endif
