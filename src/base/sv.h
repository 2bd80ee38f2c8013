/* Borrowed bytes with a length; passed by value; valid as long as their owner.
 * The bytes may hold NUL. A zeroed sv is the absent value, different from "" only
 * in that its pointer is NULL. */
#ifndef HEDDLE_SV_H
#define HEDDLE_SV_H

#include "base/arena.h"

#include <string.h>

#include <limits.h>

struct sv {
    const char *s;
    size_t      n;
};
/* A list of them; an empty one is NULL, 0. */
struct sv_list {
    const struct sv *v;
    size_t           n;
};

struct sv_cut {
    struct sv head, tail;
    bool      found;
};

#define SV(lit) ((struct sv){ "" lit, sizeof(lit) - 1 })
#define SV_STATIC(lit)                                                                             \
    {                                                                                              \
        "" lit, sizeof(lit) - 1                                                                    \
    } /* for static initialisers */
#define SV_FMT "%.*s"
#define SV_ARG(v) ((v).n < INT_MAX ? (int)(v).n : INT_MAX), ((v).s ? (v).s : "")

struct sv     sv_of(const char *cstr);          /* NULL gives the absent value */
int           sv_cmp(struct sv a, struct sv b); /* by bytes, then by length */
bool          sv_starts(struct sv v, struct sv prefix);
bool          sv_ends(struct sv v, struct sv suffix);
struct sv     sv_trim(struct sv v);           /* without spaces, tabs, CR, LF at both ends */
struct sv_cut sv_cut(struct sv v, char byte); /* at the first `byte`; not found: head is v */
struct sv_cut sv_cut_last(struct sv v, char byte);
ptrdiff_t     sv_find(struct sv v, struct sv needle); /* offset or -1 */
bool          sv_has(struct sv v, char byte);

struct sv sv_skip(struct sv v, size_t n); /* without its first n bytes */
struct sv sv_first(struct sv v, size_t n);

/* In the header, so that comparing with a literal costs a length and a few bytes. */
static inline bool sv_eq(struct sv a, struct sv b)
{
    return a.n == b.n && (a.n == 0 || (a.s && b.s && memcmp(a.s, b.s, a.n) == 0));
}

static inline bool sv_is(struct sv a, const char *cstr)
{
    return sv_eq(a, (struct sv){ cstr, cstr ? strlen(cstr) : 0 });
}

static inline char byte_lower(char c) /* ASCII only */
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Copies; the copy is followed by a NUL that is not counted. */
struct sv   sv_dup(struct sv v, struct arena *a);
const char *sv_cstr(struct sv v, struct arena *a);
struct sv   sv_lower(struct sv v, struct arena *a); /* with ASCII capitals made small */

/* How many bytes were left out, added, changed or swapped with their neighbour, for "did you
 * mean"; 99 when either is longer than 63. */
size_t sv_distance(struct sv a, struct sv b);

/* A decimal int64 that fills all of v. False when it is not one. */
bool sv_to_int(struct sv v, int64_t *out);

#endif
