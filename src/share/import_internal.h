/* Shared by import.c (threads, objectives, rows) and import_refs.c (references). */
#ifndef HEDDLE_IMPORT_INTERNAL_H
#define HEDDLE_IMPORT_INTERNAL_H

#include "base/map.h"
#include "share/share_internal.h"

struct share_import {
    struct share *s;
    struct arena *a;
    int64_t       base;    /* the writer of the file knew the entries with seq < base */
    int64_t       written; /* metadata.last_updated */
    bool          only_new;
    struct map    there; /* ids in the file */
    struct map    ops;   /* thread → what operations[] says of its references; import_refs.c */
    struct err   *e;
};

/* import_start() writes {"operation":"import",…,"what":WHAT; the other call ends and appends the
 * entry. An absent op_id is drawn. */
struct jw   import_start(struct sb *b, struct share_import *im, const char *what);
enum status import_finish(struct share_import *im, struct jw *w, struct sb *b,
                          struct sv op_id) MUST_USE;

/* Note an item of operations[]; `is_new`: the log did not have it. In the order of the file. */
void import_refs_note(struct share_import *im, const struct json *operation, bool is_new);

/* Entries for the references of a thread that the log does not have as the file says. `targets` is
 * its references_to. */
enum status import_refs_all(struct share_import *im, struct sv from,
                            const struct json *targets) MUST_USE;

/* context/.frozen.json, which comes with a checkout: lines that name a copy, its source and its
 * hash. Others are in `ignored`, by their key. ST_INVALID_SYNTAX, ST_LIMIT_EXCEEDED. */
struct copy {
    struct sv         thread; /* the source thread; absent: not known */
    struct sv         ref_id; /* of the reference that made it; or absent */
    struct share_file f;
    bool              taken;
};
struct copy_list {
    VEC(struct copy) list;
    VEC(struct sv) ignored;
};
enum status import_frozen_parse(struct sv text, struct arena *a, struct copy_list *out,
                                struct err *e) MUST_USE;

/* A value as JSON text, in its own order. */
struct sv share_json_string_of(const struct json *v, struct arena *a);

#endif
