/* Lines of entries to be appended to a log: shared by log.append and log.import. */
#ifndef HEDDLE_LOG_BATCH_H
#define HEDDLE_LOG_BATCH_H

#include "api/request.h"
#include "base/vec.h"
#include "thread/entry_json.h"

enum { LINE_BYTES_MAX = ENTRY_PAYLOAD_MAX + ENTRY_REFS_MAX + 4096 };

struct batch_line {
    struct entry_line read;
    int64_t           number; /* in the input, from 1 */
};
struct batch {
    struct arena *a;      /* owns everything in it */
    struct sv     thread; /* the one that lines may name; absent: any */
    struct sv     actor;  /* likewise: see batch_actor() */
    VEC(struct batch_line) lines;
    size_t bytes;
};

/* The only actor of lines that this request may append; absent: any. With one, lines cannot be
 * records of files either: a caller that appends those could read, by its hash, what another thread
 * has written. */
struct sv batch_actor(const struct request *r);

/* One more line. An error names it. ST_CONFLICT, reason "thread": it is of another thread;
 * ST_PERMISSION_DENIED: it is not for this caller. */
enum status batch_add(struct batch *b, struct sv text, int64_t number,
                      const struct entry_defaults *d, struct err *e) MUST_USE;

/* The entries alone, as log_append() takes them; one more than there are may be read. */
struct entry *batch_entries(const struct batch *b, struct arena *a);

/* ST_PERMISSION_DENIED when a line is a thread_operation: objectives, threads, references and
 * agents change through their own operations, which check what they write. */
enum status batch_check_operations(const struct batch *b, struct err *e) MUST_USE;

/* The same, and also when it is of a kind that only heddle appends about its own log: an `erasure`
 * entry must not exist without an erasure. */
enum status batch_check_own_kinds(const struct batch *b, struct err *e) MUST_USE;

/* Entries that an import kept and that have no effect. */
struct batch_kept {
    int64_t    n;
    int64_t    seq; /* the first one, and why */
    struct err why;
};

/* log_append() of `list`, made by batch_entries(), or log_import() when `kept` is not NULL: then
 * `expect` is not checked. An error that one line caused names the line; seq and chain of a line
 * from an export must equal those of the new entry: ST_CONFLICT (reason "seq") or ST_CORRUPT. After
 * an error the transaction must be aborted. */
enum status batch_append(struct log *l, struct sv thread, int64_t expect, const struct batch *b,
                         struct entry *list, struct batch_kept *kept, struct store_head *head,
                         struct err *e) MUST_USE;

/* log_kept_fn for a struct batch_kept. */
void batch_note_kept(void *ctx, const struct entry *n, const struct err *why);

/* One warning about all of `kept`, and one for each kind that nobody knows. */
void batch_tell_kept(struct request *r, const struct batch_kept *kept);
void batch_tell_unknown(struct request *r, const struct batch *b);

/* The warning about an unknown kind; returns false when the kind is known. */
bool batch_unknown(struct sv kind, struct sb *say);

/* The answer of an append: first and last seq, the revision after it; the members of an object that
 * is open, and as text. */
#define APPENDED_FIELDS                                                                            \
    { "duplicate", FIELD_FLAG, .optional = true, .help = "true: all of it was there already" },    \
        { "first_seq", FIELD_NUMBER, .help = "seq of the first entry" },                           \
        { "last_seq", FIELD_NUMBER, .help = "of the last; less than first_seq: there was none" },  \
    {                                                                                              \
        "rev", FIELD_NUMBER, .help = "number of entries of the thread now"                         \
    }
struct appended {
    int64_t rev, first, last;
    bool    duplicate;
};
void appended_write(struct jw *w, const struct appended *x);
void appended_print(const struct json *doc, struct term *t);

#endif
