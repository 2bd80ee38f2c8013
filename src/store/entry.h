/* One entry of a log, as it is stored. The thread room knows what it means; the store knows only
 * what it indexes. */
#ifndef HEDDLE_ENTRY_H
#define HEDDLE_ENTRY_H

#include "base/hash.h"
#include "store/limits.h"

/* Which index an entry stands in. */
enum entry_mark {
    MARK_NONE,
    MARK_MESSAGE, /* folded into the projection of its lane */
    MARK_ANCHOR,  /* a snapshot from which its lane's projection starts */
};

enum { ENTRY_SALT_SIZE = 16 };

struct entry {
    int64_t         seq; /* from 0, dense; given by the store */
    int64_t         at;  /* milliseconds since 1970 */
    struct sv       id;  /* absent: derived from the chain, see entry_id() */
    struct sv       kind;
    struct sv       lane;    /* absent: in no lane */
    struct sv       actor;   /* who did it */
    struct sv       op_id;   /* absent, or unique in its thread */
    struct sv       payload; /* canonical JSON object: UTF-8 without a NUL, as are refs */
    struct sv       refs;    /* canonical JSON object; absent: {} */
    enum entry_mark mark;
    struct hash     chain; /* given by the store */

    /* Chain version 2: what can be erased is chained as a salted commitment. The thread room fills
     * these in before an entry is appended or checked (thread/skeleton.h). */
    unsigned char salt[ENTRY_SALT_SIZE];
    bool          salted;   /* there is a salt: the entry is of version 2 and not erased */
    bool          unsalted; /* read from an export of chain version 1: it gets no salt */
    bool          erased;   /* content and salt are gone; the payload is the skeleton */
    struct sv     skeleton; /* the payload without its content; absent in version 1 */
    struct hash   content;  /* commitment to the content; for an erased entry, the stored one */
};

/* Is the entry within the limits (store/limits.h), and are its names valid? store_append() checks
 * each entry with this. */
enum status entry_check(const struct entry *n, struct err *e) MUST_USE;

/* The version of the chain value of an entry. */
static inline int entry_version(const struct entry *e)
{
    return e->salted || e->erased ? 2 : 1;
}

/* The chain value of `e` after `previous`: BLAKE2b-256 over the previous value and the
 * entry's canonical JSON (see docs/FORMATS.md). A log's first entry follows 32 zero bytes. In
 * version 2 the JSON holds the skeleton and the commitment in place of payload and refs. */
struct hash entry_chain(const struct entry *e, const struct hash *previous);

/* The text that it is the hash of, at the end of `b`. */
void entry_chain_text(const struct entry *e, const struct hash *previous, struct sb *b);

enum entry_proof { ENTRY_INTACT, ENTRY_CHANGED, ENTRY_UNPROVEN };

/* The chain value that the one of an entry must follow from; it is not known where the entry before
 * is gone. */
struct entry_before {
    struct hash chain;
    bool        known;
};

/* Does the chain value of each of entries[0..n) follow from its bytes and the one before it? Reads
 * nothing but its arguments, and may be called on any thread of execution. `scratch` is left as it
 * was. */
void entry_prove(const struct entry *entries, const struct entry_before *before, size_t n,
                 struct arena *scratch, enum entry_proof *out);

/* The id of an entry; derived from the chain when the entry has no id of its own. */
struct sv entry_id(const struct entry *e, struct arena *a);

/* A copy whose bytes live in `a`; and the same without a second struct. */
struct entry entry_dup(const struct entry *e, struct arena *a);
void         entry_keep(struct entry *e, struct arena *a);

#endif
