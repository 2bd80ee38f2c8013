/* Entries as JSON Lines: what `heddle log append` reads and `heddle log export` writes.
 *
 *     {"kind":"ai_message","payload":{"role":"user","content":"hi"}}
 *
 * Optional: id, at (milliseconds), lane (null: in no lane), refs, actor (null: nobody), op_id;
 * and, from an export, seq and chain, which are checked when they are read back. */
#ifndef HEDDLE_ENTRY_JSON_H
#define HEDDLE_ENTRY_JSON_H

#include "store/entry.h"

struct entry_defaults {
    int64_t   at;
    struct sv lane, actor; /* lane is used for kinds that live in a lane */
};

struct entry_line {
    struct entry entry; /* bytes live in the arena, payload and refs are canonical */
    bool         has_seq, has_chain;
    int64_t      seq;
    struct hash  chain;
};

/* ST_INVALID_SYNTAX: not a JSON object, no kind or payload, a field of the wrong type, or
 * an unknown field. */
enum status entry_read(struct sv line, const struct entry_defaults *d, struct arena *a,
                       struct entry_line *out, struct err *e) MUST_USE;

/* One line without its newline, keys sorted. Loss-free: reading it back into an empty log
 * gives the same chain. */
void entry_write(struct sb *b, const struct entry *n);

#endif
