/* The <thread_context> block, version 1.1.0: written for a thread, and read back. */
#ifndef HEDDLE_BLOCK_H
#define HEDDLE_BLOCK_H

#include "share/asset.h"

/* The block of a thread: its own assets, then its direct references. References that are
 * broken or show nothing are left out with a warning. No line break at the end.
 *
 * BLOCK_AT_SPAWN   the thread's own assets are left out
 * BLOCK_OTHERS     a comment names the files of a reference that has only work of other types
 * BLOCK_NOTES      comments say where the thread's own assets go and, of every reference, title,
 *                  state of its thread, binding, staleness, size and work of no listed type
 *
 * ST_INVALID_SYNTAX: a name holds a character that XML 1.0 does not allow. */
enum block_flags { BLOCK_AT_SPAWN = 1, BLOCK_OTHERS = 2, BLOCK_NOTES = 4 };
enum status block_write(struct share *s, struct sv thread, unsigned flags, struct sv *out,
                        struct err *e) MUST_USE;

/* The block of a thread that is about to be created and has no files yet. */
enum status block_of_new(struct share *s, struct sv thread, struct sv objective, unsigned flags,
                         struct sv *out, struct err *e) MUST_USE;

/* Pending injections as a second block, to stand between the first and the task. */
struct injection;
enum status block_injections(const struct injection *v, size_t n, struct arena *a, struct sv *out,
                             struct err *e) MUST_USE;

/* An attribute value or text that any XML 1.0 parser reads back as it was: & < > " ' as
 * entities, line breaks, tabs and returns as character references. */
enum status sb_add_xml(struct sb *b, struct sv v, struct err *e) MUST_USE;

struct block_asset {
    struct sv type, path;
};
struct block_ref {
    struct sv thread;
    VEC(struct block_asset) assets;
};
struct block_doc {
    struct sv thread, objective, relations_file; /* relations_file may be absent */
    VEC(struct block_asset) assets;
    VEC(struct block_ref) refs;
    struct sv rest; /* what follows the block in the message */
};

/* The first <thread_context> block in `text`, which may be a whole message. ST_NOT_FOUND: there
 * is none. ST_INVALID_SYNTAX: malformed, or has a document type or entities. ST_LIMIT_EXCEEDED. */
enum status block_parse(struct sv text, struct arena *a, struct block_doc *out,
                        struct err *e) MUST_USE;

#endif
