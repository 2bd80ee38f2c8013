/* Assets: what a thread has made, found by listing its directory, and what it may read of
 * others. */
#ifndef HEDDLE_SHARE_ASSET_H
#define HEDDLE_SHARE_ASSET_H

#include "share/share.h"

struct asset {
    const char *type; /* "plan", "progress", "design", "learnings", "transcript" */
    struct sv   path; /* below the workspace; a directory ends in / */
};
struct asset_list {
    VEC(struct asset) list;
};

/* The type a path below a thread's directory has by its first part; NULL: none. */
const char *asset_type(struct sv path);

/* A thread's own assets in the order they are looked for, in its directory and in artifacts/. */
enum status assets_own(struct share *s, struct sv thread, struct asset_list *out,
                       struct err *e) MUST_USE;

/* What a reference shows: a live one the origin's paths, a frozen one those of its copies. A path
 * of its scope that does not exist gives a warning. */
enum status assets_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                          struct err *e) MUST_USE;

/* Files and directories that have none of the types of assets, so that <thread_context> cannot list
 * them: at the top of a thread's directory or of its artifacts/, and those that a reference covers.
 * Their type is "other". */
enum status asset_others_own(struct share *s, struct sv thread, struct asset_list *out,
                             struct err *e) MUST_USE;
enum status asset_others_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                                struct err *e) MUST_USE;

/* Where the bytes of NAME are for a thread: its own asset, else the frozen copy, else the live
 * origin. NAME may also be a path as <thread_context> shows it. ST_NOT_FOUND "File not referenced";
 * ST_CONFLICT reason "ambiguous" with the choices in the hint; ST_INVALID_SYNTAX when it is a
 * directory or leaves the thread. */
struct asset_found {
    struct sv                path;   /* below the workspace */
    struct sv                thread; /* whose it is */
    const char              *how;    /* "own", "frozen", "live" */
    struct sv                hash;   /* frozen: the hash that the copy must have; else absent */
    const struct share_ref  *ref;    /* frozen and known to the log: the reference, */
    const struct share_file *file;   /* and its file; else NULL */
};
enum status asset_find(struct share *s, struct sv thread, struct sv name, struct asset_found *out,
                       struct err *e) MUST_USE;

/* The bytes. A frozen copy that is not on the disk is restored from its content (ST_NOT_FOUND
 * reason "copy" when that is gone too); a copy that was changed is ST_CORRUPT. */
enum status asset_read(struct share *s, const struct asset_found *f, struct arena *a,
                       struct sv *bytes, struct err *e) MUST_USE;

/* The files a scope covers in a thread's directory (never context/ or .meta/; transcripts only when
 * named). `missing` counts scope paths that are not there. */
struct scope_file {
    struct sv name;   /* without artifacts/, unless that would be another file */
    struct sv source; /* below the thread's directory */
};
struct scope_files {
    VEC(struct scope_file) list;
    size_t missing;
};
enum status share_scope_collect(struct share *s, struct sv thread, const struct sv *scope,
                                size_t n_scope, struct scope_files *out, struct err *e) MUST_USE;

/* A scope list in its normal form: "all" and an absent list become the empty list; no path leads
 * outside. */
enum status share_scope_normal(struct share *s, const struct sv *given, size_t n, struct sv **out,
                               size_t *n_out, struct err *e) MUST_USE;
bool        share_scope_covers(const struct sv *scope, size_t n, struct sv name);
bool        share_is_temporary(struct sv name); /* left by a killed heddle: never shared */

/* The state of a reference; for a reference with several files, the last that applies:
 *     fresh     the copies are what the source has
 *     stale     the source changed since
 *     edited    a copy is not what was frozen
 *     deleted   a copy does not exist (reading it restores it)
 *     missing   the source's thread or its directory is gone; of one file: the source lacks it
 *
 * A live reference is fresh or missing. */
enum freshness { REF_FRESH, REF_STALE, REF_EDITED, REF_DELETED, REF_MISSING };
const char *freshness_name(enum freshness f);
enum status share_ref_freshness(struct share *s, const struct share_ref *r, enum freshness *whole,
                                struct err *e) MUST_USE;

/* May the source of a frozen reference have changed since the copies were made? Judged by sizes and
 * the change times of inodes, without reading a file. False is certain, unless a file was added in
 * a directory below that of the thread. */
enum status share_ref_is_suspect(struct share *s, const struct share_ref *r, bool *out,
                                 struct err *e) MUST_USE;

/* The state of a reference and of its target. */
struct share_ref_standing {
    enum freshness     state;
    bool               has_thread; /* then title and status are the target's */
    struct sv          title;
    enum thread_status status;
    size_t             files; /* copied, or there to be read */
    int64_t            bytes;
    int64_t            stale_since; /* ms: the first change of the source since, as far as its files
                                     * tell; 0: none, or unknown */
};
enum status share_ref_standing(struct share *s, const struct share_ref *r,
                               struct share_ref_standing *out,
                               enum freshness *each /* n_files, or NULL */, struct err *e) MUST_USE;

#endif
