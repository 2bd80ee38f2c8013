/* Shared by the files of this room and its tests: the rows of the view, and the files. */
#ifndef HEDDLE_SHARE_INTERNAL_H
#define HEDDLE_SHARE_INTERNAL_H

#include "share/share.h"
#include "thread/skeleton.h"

/* ---- rows (rows.c); keys are listed in view.c -------------------------------------- */

enum status share_thread_read(struct sv row, struct arena *a, struct share_thread *out,
                              struct err *e);
struct sv   share_thread_row(const struct share_thread *t, struct arena *a);
enum status share_objective_read(struct sv row, struct arena *a, struct share_objective *out,
                                 struct err *e);
struct sv   share_objective_row(const struct share_objective *o, struct arena *a);
enum status share_ref_read(struct sv row, struct arena *a, struct share_ref *out, struct err *e);
struct sv   share_ref_row(const struct share_ref *r, struct arena *a);
void        share_ref_write(struct jw *w, const struct share_ref *r); /* as an entry carries it */
enum status share_ref_of_json(const struct json *v, struct arena *a, struct share_ref *out,
                              struct err *e);

struct sv share_merged_key(struct sv target, struct sv source, struct sv path, struct arena *a);

struct rows rows_of_share(const struct share *s, struct arena *a);
enum status share_row(struct share *s, struct sv key, struct sv *value, bool *found, struct err *e);

/* Copies of the values (or, when `keys`, of what follows the prefix) of all rows below it. */
enum status share_rows_below(struct share *s, struct sv prefix, bool keys, struct arena *a,
                             struct sv **out, size_t *n, struct err *e);

/* One more than the seq of the last operation. */
enum status share_rev(struct share *s, int64_t *rev, struct err *e);

struct share_meta {
    int64_t at, threads, objectives;
    int64_t objectives_at;        /* when an objective last changed */
    int64_t last_thread, last_op; /* the latest time of a thread and of an operation */
    bool    unsorted; /* an item was logged later than its own time: the files are sorted by time */
    struct sv extra;  /* unknown keys of the root of thread_relations.json */
    struct sv extra_meta; /* and of its metadata */
};
enum status share_meta(struct share *s, struct share_meta *out, struct err *e);
enum status share_meta_read(struct sv row, struct arena *a, struct share_meta *out, struct err *e);
struct sv   share_meta_row(const struct share_meta *m, struct arena *a);

/* ---- operations (view.c) ------------------------------------------------------------- */

/* What one entry changes in the files. */
struct share_touch {
    struct sv operation;
    struct sv threads[1], relations[2], objective; /* absent: none */
    struct sv refs_of;                             /* whose .refs.json changes */
    bool      is_operation;                        /* a row of operations[] */
    bool      everything;                          /* more than the other members can express */
};
enum status share_touch(const struct entry *n, struct arena *a, struct share_touch *out,
                        struct err *e);

/* The payload of a thread_operation, field by field (check.c): ids are names, hashes are hashes,
 * paths stay below their directory. ST_INVALID_SYNTAX says which field is not. An entry that fails
 * is kept and has no effect: folds, effects and imports skip it. */
enum status operation_check(const struct json *payload, struct arena *a, struct err *e) MUST_USE;
bool        share_is_sane(const struct json *payload, struct arena *a);

/* Placeholders for erased tags and erased keys of other programs, as JSON in their rows. */
#define ERASED_TAGS "[\"" ERASED_TEXT "\"]"
#define ERASED_EXTRA "{\"erased\":true}"

/* Fill in what the payload of an erased entry, as skeleton_shown() gives it, lacks for a fold
 * (erased.c). Other entries stay as they are. */
void operation_fill_erased(const struct entry *n, struct json *p, struct arena *a);
bool share_knows(struct sv operation);
bool share_hash_is_hex(struct sv v);       /* 64 lower-case hex digits */
bool share_hash_is_erased(struct sv v);    /* of a file whose hash was erased with it */
bool share_path_is_inside(struct sv path); /* relative, no empty part, no "." and no ".." */

/* The time of an operation; an imported one has it in its payload. */
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

/* Are all three files unchanged since heddle wrote them for this rev? Reads the stamp. */
enum status files_look(struct share *s, int64_t rev, bool *current, struct err *e);
enum status files_write(struct share *s, int64_t rev, struct err *e);

/* After files_look(): the rev for which a file was written; -1: another program wrote it; -2: the
 * file is missing. */
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

/* An edit of a file that heddle wrote. It works on whole lines, so that no text can be confused
 * with structure. */
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

/* Effects of the entries below `to` that are not done yet (s->stamp says which) on directories and
 * files; safe to repeat. An effect that fails gives a warning and stays in s->stamp.undone. An
 * error is returned when the log cannot be read, or when too many effects failed. */
enum status effects_apply(struct share *s, int64_t to, struct err *e);

/* After .leslie was deleted: directories, frozen copies and names of all threads, from the log. */
enum status effects_rebuild(struct share *s, struct err *e) MUST_USE;
enum status share_names_write(struct share *s, struct sv thread, struct err *e) MUST_USE;

/* ---- content (object.c): bytes kept once, by their hash, in .heddle/objects/ ------------- */

/* fs_open() of something below a thread's directory. What leads into .heddle, by a symbolic link or
 * as a hard link of a file there, is ST_PERMISSION_DENIED: settings and keys are not assets. */
enum status share_open(struct share *s, struct sv path, int flags, int *fd, struct err *e) MUST_USE;

/* ---- frozen copies on disk (snapshot.c) -------------------------------------------------- */

/* Restore a copy from its stored content unless the copy exists. ST_NOT_FOUND or ST_CORRUPT reason
 * "copy": the content is gone or damaged too. */
enum status copy_restore(struct share *s, const struct share_ref *r, const struct share_file *f,
                         struct err *e) MUST_USE;
/* All copies of a reference. Missing content gives a warning. When a copy cannot be written, the
 * others are still made and then the error is returned. */
enum status share_copies_place(struct share *s, const struct share_ref *r, struct err *e) MUST_USE;
/* The copies of the reference with that id, as the view has it now; absent id: of all references of
 * the thread.
 */
enum status share_copies_of(struct share *s, struct sv from, struct sv id, struct err *e) MUST_USE;

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

/* Where content with this hash is kept: ".heddle/objects/ab/cdef…". */
struct sv object_path(struct sv hash, struct arena *a);

/* Make `path` a read-only file of its own with the object's bytes and the mode of f. A file that is
 * already so is not touched. ST_NOT_FOUND reason "object": the content no longer exists; ST_CORRUPT
 * reason "object": it is damaged; any other error is about `path`. */
enum status object_place(struct share *s, const struct share_file *f, struct sv path,
                         struct err *e) MUST_USE;
enum status object_drop(struct share *s, struct sv hash, struct err *e);
enum status object_hash_of(struct share *s, struct sv path, struct sv *hash, int64_t *size,
                           struct err *e);

#endif
