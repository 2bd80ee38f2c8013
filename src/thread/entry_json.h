/* Entries as JSON Lines: what `heddle log append` reads and `heddle log export` writes.
 *
 *     {"kind":"ai_message","payload":{"role":"user","content":"hi"}}
 *
 * Optional: id, at (milliseconds), lane (null: in no lane), refs, actor (null: nobody), op_id;
 * and, from an export, seq and chain, which are checked when they are read back, and salt or, of an
 * erased entry, the commitment to what it held. A line with a chain and neither of them is of chain
 * version 1 and stays so. Lines of several threads also have `thread`. */
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
    struct sv    thread; /* absent: the line does not say */
};

/* ST_INVALID_SYNTAX: not a JSON object, no kind or payload, a field of the wrong type, or
 * an unknown field. */
enum status entry_read(struct sv line, const struct entry_defaults *d, struct arena *a,
                       struct entry_line *out, struct err *e) MUST_USE;

/* Adds the hint that says what a line is. entry_read() adds it to all errors but those of the JSON
 * reader, where a damaged file calls for another one. */
enum status entry_hint(struct err *e);

/* 64 lower-case hex digits. */
bool entry_chain_read(struct sv hex, struct hash *out);

/* One line without its newline, keys sorted. Loss-free: reading it back into an empty log gives the
 * same chain. The entry must be intact; for others see entry_write_damaged(). */
void entry_write(struct sb *b, const struct entry *n);

/* The same with a member `thread`, unless `thread` is absent. */
void entry_write_of(struct sb *b, struct sv thread, const struct entry *n);

/* The same for an entry whose bytes may be anything: always one line of valid JSON. If payload and
 * refs are still JSON objects on one line, they are written unchanged; otherwise the entry becomes
 * one of kind ENTRY_DAMAGED in no lane, with {"actor","kind","lane","payload_base64url",
 * "refs_base64url"} as its payload, so that nothing is lost. Scratch memory from `a`, which must
 * not be that of `b`. */
#define ENTRY_DAMAGED SV("damaged_entry")
void entry_write_damaged(struct sb *b, struct sv thread, const struct entry *n, struct arena *a);

#endif
