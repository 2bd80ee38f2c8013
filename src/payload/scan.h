/* What a text is like, learned in one pass over its parts: is it text at all, how long a
 * fence does it need, its hash, its tokens, does it hold a secret. Pure. */
#ifndef HEDDLE_PAYLOAD_SCAN_H
#define HEDDLE_PAYLOAD_SCAN_H

#include "base/hash.h"
#include "tokens/tokens.h"

struct scan {
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
void scan_text(struct scan *s, struct sv text, struct tokens *tokens, bool hash, bool secrets);

/* A text in parts, cut between characters. */
void scan_begin(struct scan *s, struct tokens *tokens, bool hash, bool secrets);
void scan_add(struct scan *s, struct sv part);
void scan_end(struct scan *s);

/* Would further parts tell anything? Not of what is no text, unless it is hashed. `size` is
 * then that of the parts seen. */
bool scan_wants_more(const struct scan *s);

#endif
