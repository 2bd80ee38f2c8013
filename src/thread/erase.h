/* Erasing what was said, without breaking the chain.
 *
 * An erasure takes the content of entries (thread/skeleton.h) out of the log for good and appends
 * an `erasure` entry that says who, when, why and which. What was derived from the content holds it
 * too, so it is found first, by structure (a snapshot whose context showed the entry, a summary of
 * its node, an answer it came from) and by text (the erased texts looked for in every entry of
 * every thread), and is erased with it, or the erasure is refused, or it is left because the caller
 * explicitly asks for that:
 *
 *     struct erase_plan plan;
 *     if (log_begin(l, thread, STORE_READ, e) || erase_find(l, &what, &a, &plan, e)) ...
 *     log_abort(l);
 *     if (log_begin(l, thread, STORE_WRITE, e) ||
 *         erase_check(l, &plan, &stands, e) ||       false: abort, and plan again
 *         erase_run(l, &plan, &how, e) ||            one transaction over all threads
 *         log_commit(l, e)) ...
 *     erase_rest(); remove the files of the plan; store_scrub(l->store, …); erase_done(l, …)
 *
 * The plan is made in a reading transaction, because it takes as long as reading the log does. An
 * erasure of more than ERASE_SLICE entries is only recorded by erase_run(): erase_rest() then takes
 * their content out, in transactions between which others write.
 *
 * Until erase_done() the erasure is pending (erase_pending()): after a crash in between, the next
 * command that finds it erases what is left of the entries, removes the files that the entry names
 * and scrubs again. */
#ifndef HEDDLE_ERASE_H
#define HEDDLE_ERASE_H

#include "base/map.h"
#include "base/vec.h"
#include "thread/log.h"
#include "thread/needle.h"

struct erase_what {
    struct sv        thread;
    const int64_t   *seqs; /* these ... */
    size_t           n_seqs;
    struct sv        actor;  /* ... and all by this actor, unless absent ... */
    int64_t          before; /* ... and all before this time (ms), unless 0 */
    const struct sv *words;  /* looked for in all threads, besides what is erased */
    size_t           n_words;
    /* Finds the seq of the node with this name; may be NULL. Ids of entries are found without it.
     */
    bool (*node)(void *ctx, struct sv thread, struct sv name, int64_t *seq);
    void *ctx;
};

struct erase_item {
    struct sv       thread;
    int64_t         seq;
    struct sv       kind;
    enum entry_mark mark;
    bool            asked;  /* by the caller; else derived */
    bool            fixed;  /* of chain version 1: it cannot be erased */
    const char     *why;    /* of a derived one: "is a summary of it" */
    int64_t         source; /* the entry it was derived from; -1: found by its text */
};

struct erase_plan {
    struct sv thread;
    VEC(struct erase_item) items; /* by thread and seq, those asked for first */
    VEC(struct erase_item) kept;  /* entries that stay; their skeleton has a text or its hash */
    size_t         asked, derived;
    size_t         bare; /* how many of those asked for have no content */
    struct needles needles;
    struct arena  *a;
    /* For erase_check(). */
    struct erase_finding *finding;
    struct map            heads; /* of all threads, when the plan was made */
    VEC(struct needles) hashes;  /* that were looked for, as texts */
};

/* What is to be erased. In a transaction of the log begun for the thread. ST_NOT_FOUND: no such
 * thread or entry. ST_CORRUPT: part of the log cannot be read. */
enum status erase_find(struct log *l, const struct erase_what *what, struct arena *a,
                       struct erase_plan *out, struct err *e) MUST_USE;

/* Add the entries of any thread that name files by one of these hashes (hex): the files hold what
 * is erased, and from its hash a short text can be guessed. In the same transaction. */
enum status erase_find_hashes(struct log *l, const struct erase_what *what, const struct sv *hashes,
                              size_t n, struct erase_plan *plan, struct err *e) MUST_USE;

/* In the write transaction that is to erase: does a plan that was made in an earlier transaction
 * still hold? What was appended since is looked through, if it is at most ERASE_TAIL entries.
 * False: there is more of it, or some of it has to be erased too, or something else was erased or
 * restored meanwhile; the plan must not be used any more. `what` of the plan must still be there.
 */
enum status erase_check(struct log *l, struct erase_plan *plan, bool *stands,
                        struct err *e) MUST_USE;

struct erase_how {
    struct sv        reason, actor;
    int64_t          at;
    struct sv        op_id;         /* of the erasure entry; absent: none */
    bool             with_derived;  /* erase derived entries too ... */
    bool             leave_derived; /* ... or leave them, which the entry then says ... */
    const struct sv *files;         /* ... else ST_CONFLICT, reason "derived", if there are any */
    size_t           n_files;       /* that have to be removed afterwards; paths in the workspace */
    const struct sv *objects;       /* and content that is kept by its hash: these hashes stay in */
    size_t           n_objects;     /* the log only until erase_forget() */
};

/* Append one `erasure` entry to each affected thread; and, if it is little, erase, and have their
 * views folded again (log_refold()); else erase_rest() does that. In the write transaction of
 * erase_find() or erase_check(). ST_INVALID_SYNTAX: an entry is of chain version 1. ST_NOT_FOUND:
 * there is nothing to erase. ST_CONFLICT, reason "busy": an import is not at its end. *seq is that
 * of the entry of the plan's thread. */
enum status erase_run(struct log *l, const struct erase_plan *plan, const struct erase_how *how,
                      int64_t *seq, struct err *e) MUST_USE;

/* ---- files -------------------------------------------------------------------------------- */

struct erase_pending {
    struct sv   thread;
    int64_t     seq;
    struct sv   deleted; /* the thread that is gone, when it is a deletion; else absent */
    struct hash chain;   /* of the entry: it is still the same log */
    int64_t    *seqs;    /* the entries of `thread` that were erased, or are being erased */
    size_t      n_seqs;
    struct sv  *files;
    size_t      n_files;
    struct sv  *objects; /* hashes of content that has to be removed; none after erase_forget() */
    size_t      n_objects;
};

/* Erasures of any thread whose files may not be cleaned yet. In a transaction. */
enum status erase_pending(struct log *l, struct arena *a, struct erase_pending **out, size_t *n,
                          struct err *e) MUST_USE;

/* The same of one thread with this store_head.views. */
enum status erase_pending_in(struct log *l, struct sv thread, int64_t views, struct arena *a,
                             struct erase_pending **out, size_t *n, struct err *e) MUST_USE;

/* Take the content out of the entries that these erasures name and that still have it, a slice in
 * each transaction, and have the views folded again. Nothing is written when there are none.
 * Outside a transaction. */
enum status erase_rest(struct log *l, const struct erase_pending *list, size_t n,
                       struct err *e) MUST_USE;

/* Take the hashes of objects out of the entries, once the objects are removed and before the store
 * is scrubbed. A transaction of its own. */
enum status erase_forget(struct log *l, const struct erase_pending *list, size_t n,
                         struct err *e) MUST_USE;

/* Record that the files are removed and the store is scrubbed. A transaction of its own. */
enum status erase_done(struct log *l, const struct erase_pending *list, size_t n, struct sv actor,
                       int64_t at, struct err *e) MUST_USE;

/* The same for one erasure, in a write transaction of the caller. */
enum status erase_say_done(struct log *l, const struct erase_pending *p, struct sv actor,
                           int64_t at, struct err *e) MUST_USE;

/* ---- imports -------------------------------------------------------------------------------- */

/* Chain values of all entries that were erased in any thread, as hex, and those that
 * erase_remember() and erase_chains() kept. In a transaction. */
enum status erase_known_chains(struct log *l, struct arena *a, struct map *out,
                               struct err *e) MUST_USE;

/* The same, added to `out`, of the threads that have changed since an earlier call with the same
 * `heads`, a map that is empty at first. So that what takes long can be found before the write lock
 * is taken. */
enum status erase_known_since(struct log *l, struct arena *a, struct map *heads, struct map *out,
                              struct err *e) MUST_USE;

/* Is the entry of an export, with this chain value, one whose content was erased here? Then it
 * becomes an erased one, with the same chain value, and *n_erased grows. */
void erase_again(const struct map *chains, struct entry *n, const struct hash *chain,
                 struct arena *a, int64_t *n_erased);

/* The `erasure` entries among entries[0..n), which were just imported into the thread, name entries
 * that may have been imported with their content: erase it. Views are then folded again. In a write
 * transaction. */
enum status erase_replay(struct log *l, struct sv thread, const struct entry *entries, size_t n,
                         int64_t *n_erased, struct err *e) MUST_USE;

/* ---- older copies of the log ------------------------------------------------------------------
 */

/* Erase every entry of any thread that has one of these chain values (erase_known_chains() of a log
 * that knows of the erasures) and still has its content; each thread gets an `erasure` entry, and
 * its views are folded again. Chain values that are not in the log, and files (erase_known_files())
 * that none of its erasures names, are kept in `erasure` entries of .global: another copy of the
 * log, or an export, may still have the content. In a write transaction. */
enum status erase_chains(struct log *l, const struct map *chains, const struct map *files,
                         struct sv actor, int64_t at, int64_t *n_erased, struct err *e) MUST_USE;

/* What is known of erasures in a thread: chain values and files. In a transaction; a thread with
 * erasures is read as a whole. */
struct erase_known {
    struct store_head head; /* of the thread */
    struct map        chains, files;
};
enum status erase_know(struct log *l, struct sv thread, struct arena *a, struct erase_known *out,
                       struct err *e) MUST_USE;

/* Keep it in .global, before the thread is taken out of the log. In a write transaction. `before`
 * (may be NULL) is what an earlier transaction found; it counts if the thread is as it was then. */
enum status erase_remember(struct log *l, struct sv thread, const struct erase_known *before,
                           struct sv actor, int64_t at, struct err *e) MUST_USE;

/* The files that erasures of any thread had to remove, by path. In a transaction. */
enum status erase_known_files(struct log *l, struct arena *a, struct map *out,
                              struct err *e) MUST_USE;

/* ---- chain version 1 ------------------------------------------------------------------------ */

/* Give a thread of chain version 1 a chain of version 2. Ids that were derived from the chain are
 * written into the entries first, so that they stay; the head as it was is kept in a `rechain`
 * entry. In a write transaction begun for the thread. ST_CONFLICT, reason
 * "version": it is of version 2 already. ST_CORRUPT: an entry is not what was written. */
struct rechain_how {
    struct sv actor;
    int64_t   at;
    /* The payload of an entry with ids in it that a view drew from its chain value; the same when
     * there are none. May be NULL. */
    enum status (*payload)(void *ctx, const struct entry *n, struct arena *a, struct sv *out,
                           struct err *e);
    void *ctx;
};
enum status log_rechain(struct log *l, struct sv thread, const struct rechain_how *how,
                        struct store_head *head, struct err *e) MUST_USE;

/* Take out of `copy`, a store with an older state of the log, what was erased in the log since
 * then. Entries are recognised by their chain values, so that nothing else is touched; nothing is
 * appended. Threads that were deleted are dropped there only if the caller knows that it is a copy
 * of this log, because another log may have a thread of the same name. *n is how many entries still
 * had content. store_scrub() of the copy removes the bytes that are left in its files. `copy` must
 * have been opened with past_move. Outside a transaction of either. */
enum erase_copy_how { ERASE_COPY_ENTRIES, ERASE_COPY_THREADS, ERASE_COPY_COUNT };
enum status erase_in_copy(struct log *l, struct store *copy, enum erase_copy_how how, int64_t *n,
                          struct err *e) MUST_USE;

#endif
