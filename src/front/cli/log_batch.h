/* Lines of entries on their way into a log: what `log append` and `log import` share. */
#ifndef HEDDLE_LOG_BATCH_H
#define HEDDLE_LOG_BATCH_H

#include "base/vec.h"
#include "front/app.h"
#include "thread/entry_json.h"

enum { LINE_BYTES_MAX = ENTRY_PAYLOAD_MAX + ENTRY_REFS_MAX + 4096 };

struct batch_line {
    struct entry_line read;
    int64_t           number; /* in the input, from 1 */
};
struct batch {
    struct arena *a; /* owns everything in it */
    VEC(struct batch_line) lines;
    size_t bytes;
};

/* One more line. An error names it. */
enum status batch_add(struct batch *b, struct sv text, int64_t number,
                      const struct entry_defaults *d, struct err *e) MUST_USE;

/* The entries alone, as log_append() takes them; one more than there are may be read. */
struct entry *batch_entries(const struct batch *b, struct arena *a);

/* ST_PERMISSION_DENIED when a line is a thread_operation: objectives, threads, references and
 * agents change through their own operations, which check what they write. */
enum status batch_check_operations(const struct batch *b, struct err *e) MUST_USE;

/* What an import kept and does not act on. */
struct batch_kept {
    int64_t    n;
    int64_t    seq; /* the first one, and why */
    struct err why;
};

/* log_append() of `list`, made by batch_entries(), or log_import() when `kept` is not NULL: then
 * `expect` is not asked. An error that one line caused names the line; seq and chain that a line of
 * an export carries must have come out the same: ST_CONFLICT (reason "seq") or ST_CORRUPT. After an
 * error the transaction must be aborted. */
enum status batch_append(struct log *l, struct sv thread, int64_t expect, const struct batch *b,
                         struct entry *list, struct batch_kept *kept, struct store_head *head,
                         struct err *e) MUST_USE;

/* log_kept_fn for a struct batch_kept. */
void batch_note_kept(void *ctx, const struct entry *n, const struct err *why);

/* One warning about all of `kept`, and one for each kind that nobody knows. */
void batch_tell_kept(const struct batch_kept *kept);
void batch_tell_unknown(const struct batch *b);

/* What an append tells: first and last seq, the revision after it. */
void print_appended(struct app *app, int64_t rev, int64_t first, int64_t last, bool duplicate);

#endif
