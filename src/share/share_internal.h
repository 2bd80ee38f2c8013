/* Shared by the files of this room and its tests: the rows of the view, and the files. */
#ifndef HEDDLE_SHARE_INTERNAL_H
#define HEDDLE_SHARE_INTERNAL_H

#include "share/share.h"

/* ---- rows (rows.c); keys are listed in view.c -------------------------------------- */

enum status thread_read(struct sv row, struct arena *a, struct share_thread *out, struct err *e);
struct sv   thread_row(const struct share_thread *t, struct arena *a);
enum status objective_read(struct sv row, struct arena *a, struct share_objective *out,
                           struct err *e);
struct sv   objective_row(const struct share_objective *o, struct arena *a);
enum status ref_read(struct sv row, struct arena *a, struct share_ref *out, struct err *e);
struct sv   ref_row(const struct share_ref *r, struct arena *a);
void        ref_write(struct jw *w, const struct share_ref *r); /* as an entry carries it */
enum status ref_of_json(const struct json *v, struct arena *a, struct share_ref *out,
                        struct err *e);

struct sv key_pair(const char *prefix, struct sv a1, struct sv a2, struct arena *a); /* p/a1/a2 */
struct sv key_seq(const char *prefix, struct sv a1, int64_t seq, struct arena *a);

struct sv share_merged_key(struct sv target, struct sv source, struct sv path, struct arena *a);

enum status share_row(struct share *s, struct sv key, struct sv *value, bool *found, struct err *e);

/* Copies of the values (or, when `keys`, of what follows the prefix) of all rows below it. */
enum status share_rows_below(struct share *s, struct sv prefix, bool keys, struct arena *a,
                             struct sv **out, size_t *n, struct err *e);

/* One more than the seq of the last operation. */
enum status share_rev(struct share *s, int64_t *rev, struct err *e);

struct share_meta {
    int64_t   at, threads, objectives;
    int64_t   objectives_at;        /* when an objective last changed */
    int64_t   last_thread, last_op; /* the latest time of a thread and of an operation */
    bool      unsorted;   /* one came later than it was made: the files are in the order of times */
    struct sv extra;      /* unknown keys of the root of thread_relations.json */
    struct sv extra_meta; /* and of its metadata */
};
enum status share_meta(struct share *s, struct share_meta *out, struct err *e);
enum status meta_read(struct sv row, struct arena *a, struct share_meta *out, struct err *e);
struct sv   meta_row(const struct share_meta *m, struct arena *a);

/* ---- operations (view.c) ------------------------------------------------------------- */

/* What one entry changes in the files. */
struct share_touch {
    struct sv operation;
    struct sv threads[1], relations[2], objective; /* absent: none */
    struct sv refs_of;                             /* whose .refs.json changes */
    bool      is_operation;                        /* a row of operations[] */
    bool      everything;                          /* more than can be said here */
};
enum status share_touch(const struct entry *n, struct arena *a, struct share_touch *out,
                        struct err *e);

/* The payload of a thread_operation, field by field (check.c): ids are names, hashes are hashes,
 * paths stay below their folder. ST_INVALID_SYNTAX says which field is not. An entry that fails is
 * kept and never acted on, at fold, in effects and in imports alike. */
enum status operation_check(const struct json *payload, struct arena *a, struct err *e) MUST_USE;
bool        share_is_sane(const struct json *payload, struct arena *a);
bool        share_knows(struct sv operation);
bool        hash_is_hex(struct sv v);       /* 64 lower-case hex digits */
bool        path_is_inside(struct sv path); /* relative, no empty part, no "." and no ".." */

/* When an operation was made: imported ones say so themselves. */
int64_t share_op_time(const struct entry *n, const struct json *payload, struct arena *a);

/* The keys of params in operations[], in Leslie's order; NULL: not in operations[]. */
const char *const *share_params(struct sv operation);

/* Append one thread_operation. `payload` is any JSON object; operation and operator are in
 * it. An absent op_id is drawn. */
enum status share_append(struct share *s, struct sv op_id, struct sv payload, struct err *e);

/* ---- locks (lock.c) ------------------------------------------------------------------ */

enum status share_lock(struct share *s, struct err *e);
void        share_unlock(struct share *s);

/* ---- files (files.c, render.c, import.c, effects.c) ------------------------------------ */

enum share_file_id { FILE_RELATIONS, FILE_OBJECTIVES, FILE_REGISTRY };
extern const struct sv share_file_paths[SHARE_FILES];

/* Are all three as we last wrote them, for this rev? Reads the stamp. */
enum status files_look(struct share *s, int64_t rev, bool *current, struct err *e);
enum status files_write(struct share *s, int64_t rev, struct err *e);

/* After files_look(): the rev a file was written for; -1: others wrote it; -2: there is none. */
enum status files_rev(struct share *s, int which, int64_t *rev, struct err *e);

enum status render_file(struct share *s, enum share_file_id which, struct sb *out, struct err *e);
struct sv   render_thread(const struct share_thread *t, struct arena *a);
struct sv   render_registry_thread(const struct share_thread *t, struct arena *a);
enum status render_relation(struct share *s, struct sv id, struct arena *a, struct sv *out,
                            struct err *e);
enum status render_operation(const struct entry *n, struct arena *a, struct sv *out, struct err *e);
enum status render_objective(struct share *s, const struct share_objective *o, struct arena *a,
                             struct sv *out, struct err *e);
struct sv   render_metadata(const struct share_meta *m, enum share_file_id which, struct arena *a);
struct sv   render_refs(const struct share_ref *refs, size_t n, struct arena *a);
struct sv   render_frozen(const struct share_ref *refs, size_t n, struct arena *a);
#define SHARE_FROZEN SV(".frozen.json") /* in a thread's context/ */

/* An edit of a file that we wrote ourselves: lines, so that no text can be mistaken. */
struct patch {
    enum { PATCH_METADATA, PATCH_ITEM } kind;
    const char *section; /* "threads" */
    struct sv   key;     /* of the member; absent: append to an array */
    struct sv   text;    /* rendered; absent: remove */
};
/* ST_CORRUPT when the old text is not laid out as expected: render it as a whole. */
enum status patch_write(struct sv old, const struct patch *patches, size_t n, struct arena *a,
                        struct sb *out, struct err *e);

/* Entries for what differs between a file and the view. `only_new`: add, change nothing. */
enum status import_relations(struct share *s, struct sv text, bool only_new, struct err *e);
enum status import_objectives(struct share *s, struct sv text, bool only_new, struct err *e);

/* Effects of the entries below `to` that are not done yet (s->stamp says which) on folders and
 * files; safe to repeat. One that fails is a warning and stays in s->stamp.undone; an error is
 * that of the log, or that too many failed to go on. */
enum status effects_apply(struct share *s, int64_t to, struct err *e);

/* After .leslie was deleted: folders, frozen copies and names of all threads, from the log. */
enum status effects_rebuild(struct share *s, struct err *e) MUST_USE;
enum status names_write(struct share *s, struct sv thread, struct err *e) MUST_USE;

/* ---- content (object.c): bytes kept once, by their hash, in .heddle/objects/ ------------- */

/* fs_open() of something below a thread's folder. What leads into .heddle, by a symbolic link or as
 * a hard link of a file there, is ST_PERMISSION_DENIED: settings and keys are no assets. */
enum status share_open(struct share *s, struct sv path, int flags, int *fd, struct err *e) MUST_USE;

/* ---- frozen copies on disk (snapshot.c) -------------------------------------------------- */

/* Make a copy from its stored content unless it is there. ST_NOT_FOUND or ST_CORRUPT reason "copy":
 * the content is gone or damaged too. */
enum status copy_restore(struct share *s, const struct share_ref *r, const struct share_file *f,
                         struct err *e) MUST_USE;
/* All copies of a reference. Content that is gone is a warning; what cannot be written is the error
 * that is returned, once the others are made. */
enum status copies_place(struct share *s, const struct share_ref *r, struct err *e) MUST_USE;
/* Those of the reference of that id, as it is now; an absent id: of all references of the thread.
 */
enum status copies_of(struct share *s, struct sv from, struct sv id, struct err *e) MUST_USE;

/* ---- what is left over (collect.c) -------------------------------------------------------- */

void        collect_temporary(struct share *s, struct sv folder, struct sv name);
enum status collect_objects(struct share *s, struct err *e) MUST_USE;

/* ---- content, continued ------------------------------------------------------------------ */

/* Store what `path` holds now; fills hash, size and mode of *f. */
enum status object_put_file(struct share *s, struct sv path, struct share_file *f,
                            struct err *e) MUST_USE;
enum status object_put(struct share *s, struct sv bytes, struct sv *hash, struct err *e);
enum status object_read(struct share *s, struct sv hash, struct arena *a, struct sv *out,
                        struct err *e);

/* Make `path` a read-only file of its own with the object's bytes and the mode of f. One that is so
 * already is left alone. ST_NOT_FOUND reason "object": there is no such content any more;
 * ST_CORRUPT reason "object": it is damaged; anything else is about `path`. */
enum status object_place(struct share *s, const struct share_file *f, struct sv path,
                         struct err *e) MUST_USE;
enum status object_drop(struct share *s, struct sv hash, struct err *e);
enum status object_hash_of(struct share *s, struct sv path, struct sv *hash, int64_t *size,
                           struct err *e);

#endif
