/* Assets: what a thread has made, found by looking, and what it may read of others. */
#ifndef HEDDLE_SHARE_ASSET_H
#define HEDDLE_SHARE_ASSET_H

#include "share/share.h"

struct asset {
    const char *type; /* "plan", "progress", "design", "learnings", "transcript" */
    struct sv   path; /* below the workspace; a folder ends in / */
};
struct asset_list {
    VEC(struct asset) list;
};

/* The type a path below a thread's folder has by its first part; NULL: none. */
const char *asset_type(struct sv path);

/* A thread's own assets in the order they are looked for, in its folder and in artifacts/. */
enum status assets_own(struct share *s, struct sv thread, struct asset_list *out,
                       struct err *e) MUST_USE;

/* What a reference shows: a live one the origin's paths, a frozen one those of its copies.
 * What its scope names and is not there is a warning. */
enum status assets_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                          struct err *e) MUST_USE;

/* Work of no listed type, which <thread_context> cannot show as an asset: files and folders at the
 * top of a thread's folder or of its artifacts/, and those a reference covers. Their type is
 * "other". */
enum status others_own(struct share *s, struct sv thread, struct asset_list *out,
                       struct err *e) MUST_USE;
enum status others_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                          struct err *e) MUST_USE;

/* Where the bytes of NAME are for a thread: its own asset, else the frozen copy, else the live
 * origin. NAME may also be a path as <thread_context> shows it. ST_NOT_FOUND "File not referenced";
 * ST_CONFLICT reason "ambiguous" with the choices in the hint; ST_INVALID_SYNTAX when it is a
 * folder or leaves the thread. */
struct asset_found {
    struct sv                path;   /* below the workspace */
    struct sv                thread; /* whose it is */
    const char              *how;    /* "own", "frozen", "live" */
    struct sv                hash;   /* frozen: what the copy must be; else absent */
    const struct share_ref  *ref;    /* frozen and known to the log: the reference, */
    const struct share_file *file;   /* and its file; else NULL */
};
enum status asset_find(struct share *s, struct sv thread, struct sv name, struct asset_found *out,
                       struct err *e) MUST_USE;

/* The bytes. A frozen copy that is not on the disk is made again from its content (ST_NOT_FOUND
 * reason "copy" when that is gone too), one that was changed is ST_CORRUPT. */
enum status asset_read(struct share *s, const struct asset_found *f, struct arena *a,
                       struct sv *bytes, struct err *e) MUST_USE;

/* The files a scope covers in a thread's folder (never context/ or .meta/; transcripts only
 * when named). `missing` counts scope paths that are not there. */
struct scope_file {
    struct sv name;   /* without artifacts/, unless that would be another file */
    struct sv source; /* below the thread's folder */
};
struct scope_files {
    VEC(struct scope_file) list;
    size_t missing;
};
enum status scope_collect(struct share *s, struct sv thread, const struct sv *scope, size_t n_scope,
                          struct scope_files *out, struct err *e) MUST_USE;

/* A scope list in its normal form: "all" and no list are none; each path stays inside. */
enum status scope_normal(struct share *s, const struct sv *given, size_t n, struct sv **out,
                         size_t *n_out, struct err *e) MUST_USE;
bool        scope_covers(const struct sv *scope, size_t n, struct sv name);
bool        is_temporary(struct sv name); /* left by a killed heddle: never shared */

/* How a reference stands. Of a whole reference the last that applies:
 *     fresh     the copies are what the source has
 *     stale     the source changed since
 *     edited    a copy is not what was frozen
 *     deleted   a copy is not there (reading it makes it again)
 *     missing   the source's thread or its folder is gone; of one file: the source has it no more
 * A live reference is fresh or missing. */
enum freshness { REF_FRESH, REF_STALE, REF_EDITED, REF_DELETED, REF_MISSING };
const char *freshness_name(enum freshness f);
enum status ref_freshness(struct share *s, const struct share_ref *r, enum freshness *whole,
                          struct err *e) MUST_USE;

/* All that a reader should know of a reference. */
struct ref_standing {
    enum freshness     state;
    bool               has_thread; /* then title and status are the target's */
    struct sv          title;
    enum thread_status status;
    size_t             files; /* copied, or there to be read */
    int64_t            bytes;
    int64_t            stale_since; /* ms: the first change of the source since, as far as its files
                                     * tell; 0: none, or unknown */
};
enum status ref_standing(struct share *s, const struct share_ref *r, struct ref_standing *out,
                         enum freshness *each /* n_files, or NULL */, struct err *e) MUST_USE;

#endif
