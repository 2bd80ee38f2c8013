/* Threads that share work: objectives, threads, references.
 *
 * Every change is a `thread_operation` entry of the workspace's own log (thread `.global`);
 * the `share` view folds them into rows, and the files below .leslie/ that other programs
 * read are written from those rows once the entries are durable.
 *
 *     struct share s;
 *     share_init(&s, &log, root_fd, actor, &arena);
 *     if (share_begin(&s, STORE_WRITE, e) ||          locks; imports what others wrote
 *         share_spawn(&s, &request, &result, e) ||    operation.h
 *         share_commit(&s, e))                        durable, then the files
 *         share_end(&s);                              nothing of it has happened
 *
 * With STORE_READ there is nothing to commit; share_end() ends it. After a crash between
 * the commit and the files, the next share_begin() writes them from the log. */
#ifndef HEDDLE_SHARE_H
#define HEDDLE_SHARE_H

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/vec.h"
#include "share/limits.h"
#include "thread/log.h"

#define SHARE_GLOBAL SV(".global")
#define SHARE_RELATIONS SV(".leslie/thread_relations.json")
#define SHARE_OBJECTIVES SV(".leslie/objectives.json")
#define SHARE_REGISTRY SV(".leslie/threads/.global/registry.json")

extern const struct view share_view;

/* A warning: the operation continued. */
struct share_warning {
    const char *code; /* "W202": a reference has no target */
    struct sv   message;
    struct sv   thread; /* the thread it is about, or absent */
};

/* An operation that is in the log but could not be done on the disk: a directory where a file must
 * go, a place that may not be written. Every command that writes tries it again. */
struct share_undone {
    int64_t   seq; /* of its entry */
    struct sv why;
};

/* The files of a view on disk, and the state they were written for; see files.c. */
enum { SHARE_FILES = 3 };
struct share_stamp {
    int64_t applied; /* the effects of this many entries are on disk, except those in: */
    struct share_undone undone[SHARE_UNDONE_MAX];
    size_t              n_undone;
    struct {
        int64_t        rev; /* -1: none */
        struct fs_mark mark;
    } file[SHARE_FILES][2]; /* the newest, and the one before it */
};

struct share {
    struct arena *a;
    struct log   *log;
    int           root;
    struct sv     actor;
    struct sv     base;      /* in front of the paths that a block names: "/w/", or absent */
    bool          read_only; /* the workspace cannot be written: nothing is repaired */
    bool          behind;    /* read_only, and the files have what the log lacks */
    bool          strict; /* guard_path(): every other thread counts as one that may only be read */
    VEC(struct share_warning) warnings;
    struct sv          details; /* of the error last returned, as JSON; or absent */
    bool               writing;
    bool               acted;                  /* an operation was appended, not only an import */
    bool               collect;                /* copies were dropped: look for unused content */
    int                flock_fd;               /* -1: not held */
    bool               held[2];                /* Leslie's lock directories */
    bool               foreign[SHARE_FILES];   /* rewrite as a whole: others changed it */
    struct sv          set_aside[SHARE_FILES]; /* keep the unreadable file under this name */
    struct share_stamp stamp;
    struct err         unwritten; /* .code: what was committed is not all on the disk, and why */
};

void share_init(struct share *s, struct log *log, int root, struct sv actor, struct arena *a);

/* Begin; changes of other programs in the files are imported, and what a crash left unfinished is
 * completed. ST_CONFLICT reason "lock": another program holds Leslie's lock; nothing was done.
 * ST_CORRUPT: a file cannot be read and the log does not have its content either. */
enum status share_begin(struct share *s, enum store_mode mode, struct err *e) MUST_USE;

/* The same for a reader that cannot wait for the import, in a log of its own that is empty (mem:)
 * and is thrown away: of the files only `thread`, its direct references and the objectives are
 * taken in. Nothing is locked, committed or written; s->strict is set. ST_NOT_FOUND: there are no
 * files. */
enum status share_begin_from_files(struct share *s, struct sv thread, struct err *e) MUST_USE;

/* Commit, then bring directories and files up to date. If the commit fails, its error is returned
 * and nothing was changed. A later failure is a warning and stands in s->unwritten, since the log
 * has the operation and the next command writes the files. One path that cannot be written does not
 * stop the others: see share_undone(). */
enum status share_commit(struct share *s, struct err *e) MUST_USE;

/* Effects that are not on the disk yet, oldest first: which operation on which thread, and why.
 * After share_begin(). */
struct share_pending_effect {
    struct sv operation, thread, why; /* thread: absent for what is not about one */
    struct sv about;                  /* the thread, or the id of what else was made */
    int64_t   at;
};
enum status share_undone(struct share *s, struct share_pending_effect **out, size_t *n,
                         struct err *e) MUST_USE;

void share_end(struct share *s); /* aborts what is open, gives locks back */

/* Compare the files with what the log gives, and frozen copies with their hashes. What is wrong
 * goes to `say`; what the next writing command repairs by itself (after a killed command, or a
 * change of another program that is not imported yet) goes to `note`. A copied workspace gives
 * neither. Only reads; no transaction may be open before, and none is open afterwards. */
enum status share_verify(struct share *s, void (*say)(void *ctx, struct sv finding),
                         void (*note)(void *ctx, struct sv remark), void *ctx,
                         struct err *e) MUST_USE;

/* Give the log `to`, a copy of s->log in another store, the content of all frozen copies, so that
 * machines that only reach that store have it. This machine then has all the content too, because a
 * store in a file keeps none. No transaction may be open before, and none is open afterwards. */
struct share_objects {
    int64_t there, missing; /* missing: neither here nor in the store of s->log */
};
enum status share_objects_copy(struct share *s, struct log *to, struct share_objects *out,
                               struct err *e) MUST_USE;

void share_warn(struct share *s, const char *code, struct sv thread, const char *fmt, ...)
    PRINTF(4, 5);

/* ---- what there is -------------------------------------------------------------- */

/* clang-format off */
#define THREAD_STATUS_TABLE(X)                \
    X(THREAD_ACTIVE,        "active",        false) \
    X(THREAD_SUSPENDED,     "suspended",     false) \
    X(THREAD_WAITING_HUMAN, "waiting_human", false) \
    X(THREAD_COMPLETED,     "completed",     true)  \
    X(THREAD_CANCELLED,     "cancelled",     true)  \
    X(THREAD_FROZEN,        "frozen",        false) \
    X(THREAD_ARCHIVED,      "archived",      true)
/* clang-format on */

enum thread_status {
#define X(id, name, ended) id,
    THREAD_STATUS_TABLE(X)
#undef X
        THREAD_STATUS_COUNT,
};
const char *thread_status_name(enum thread_status s);
bool        thread_status_of(struct sv name, enum thread_status *out); /* "pending" is active */
bool        share_thread_has_ended(enum thread_status s);

struct share_thread {
    struct sv          id, title, objective;
    struct sv          parent; /* absent: none */
    struct sv          executor;
    struct sv          session; /* absent: none */
    struct sv          mode;    /* absent: none */
    struct sv          storage; /* absent: the usual one */
    struct sv          tags;    /* a JSON array; absent: the file had none */
    struct sv          extra; /* keys of other programs, a JSON object in their order; or absent */
    enum thread_status status;
    int64_t            created, updated;
    int64_t            seq; /* of the entry that made it: the order of threads */
};

struct share_objective {
    struct sv id, title;
    struct sv extra, listed; /* listed: thread_ids as imported, JSON array; or absent */
    int64_t   created, updated, seq;
    int64_t   threads, open; /* number of threads, and how many of them have not ended */
};
const char *share_objective_status_of(const struct share_objective *o); /* "active", "completed" */

/* One file of a frozen reference. */
struct share_file {
    struct sv name;   /* below the source's directory, without artifacts/ where that is unique */
    struct sv source; /* below the source's directory, as found */
    struct sv place;  /* below context/inherited/ */
    struct sv hash;   /* BLAKE2b-256, hex */
    int64_t   size;
    int64_t   mode; /* of the copy: that of the source, without write; 0: 0444 */
};

struct share_ref {
    struct sv  id, from, target;
    struct sv *scope; /* none: everything */
    size_t     n_scope;
    bool       frozen;
    bool       inherit; /* made by spawn --inherit: not an edge of the graph of references */
    bool       missing; /* the target did not exist */
    int64_t    at;      /* when it was made or refreshed */
    int64_t    seq;
    struct share_file *files; /* frozen: what was copied; live: what was there */
    size_t             n_files;
};

/* ST_NOT_FOUND "Thread '…' not found", with reason "thread" or "objective". */
enum status share_thread(struct share *s, struct sv id, struct share_thread *out,
                         struct err *e) MUST_USE;
enum status share_thread_find(struct share *s, struct sv id, struct share_thread *out, bool *found,
                              struct err *e) MUST_USE;

/* The thread with that id, or one that only has a log (*only_log). The latter has no title until it
 * is given one, its status is only meaningful when it is THREAD_ARCHIVED, and of the other fields
 * only id and `updated` are set. Threads of the program itself, whose ids begin with a dot, are
 * ST_NOT_FOUND. */
enum status share_any_thread(struct share *s, struct sv id, struct share_thread *out,
                             bool *only_log, struct err *e) MUST_USE;
/* Title and status of threads that only have a log: of one, or of all in order of ids. */
enum status share_log_thread_find(struct share *s, struct sv id, struct share_thread *out,
                                  bool *found, struct err *e) MUST_USE;
enum status share_log_threads(struct share *s, struct arena *a, struct share_thread **out,
                              size_t *n, struct err *e) MUST_USE;

/* A hint to the store: share_thread_find() will be called soon. */
void        share_want_thread(struct share *s, struct sv id, struct arena *a);
enum status share_objective(struct share *s, struct sv id, struct share_objective *out,
                            struct err *e) MUST_USE;

/* In order of creation. `each` returning a status other than ST_OK ends the walk; what it is
 * given is good until it returns. */
enum status share_threads(struct share *s,
                          enum status (*each)(void *ctx, const struct share_thread *, struct err *),
                          void *ctx, struct err *e) MUST_USE;
enum status share_objectives(struct share *s, struct arena *a, struct share_objective **out,
                             size_t *n, struct err *e) MUST_USE;

/* References of a thread in order, and those made by inheriting when `inherited`. */
enum status share_refs(struct share *s, struct sv from, bool inherited, struct arena *a,
                       struct share_ref **out, size_t *n, struct err *e) MUST_USE;

/* Ids: children of a parent, distinct targets, distinct referrers, threads of an objective. */
enum share_list { SHARE_CHILDREN, SHARE_TARGETS, SHARE_REFERRERS, SHARE_MEMBERS };
enum status share_ids(struct share *s, enum share_list which, struct sv of, struct arena *a,
                      struct sv **out, size_t *n, struct err *e) MUST_USE;

/* .leslie/threads/ID, or a path below it. */
struct sv share_dir(struct sv thread, struct arena *a);
struct sv share_path(struct sv thread, const char *below, struct sv name, struct arena *a);

/* "user", "agent" or "system": what kind of actor this name stands for. `user`, `human` and
 * `human:NAME` are people; `system` and `program:NAME` are programs; others are agents. */
const char *share_operator(struct sv actor);

#endif
