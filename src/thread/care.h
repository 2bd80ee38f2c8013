/* Maintenance of the store behind a log, for `doctor`, `stats`, `erase` and `compact`. */
#ifndef HEDDLE_THREAD_CARE_H
#define HEDDLE_THREAD_CARE_H

#include "thread/log.h"

enum status log_stats(struct log *l, struct store_stats *out, struct err *e) MUST_USE;

/* Ask the engine whether its files are intact and hold nothing that heddle did not create: each
 * problem goes to `say`. */
enum status log_check_store(struct log *l, void (*say)(void *ctx, struct sv complaint), void *ctx,
                            struct err *e) MUST_USE;

/* Give each thread whose row is gone, but not its entries, a row again; *n: how many there were. In
 * a write transaction. */
enum status log_adopt_lost(struct log *l, int64_t *n, struct err *e) MUST_USE;

/* What the entries of each thread and the rows of each of its views take. Reads everything. */
enum status log_sizes(struct log *l, struct arena *a, struct store_size **out, size_t *n,
                      struct err *e) MUST_USE;

/* Remove a thread that an import has just created. In a write transaction. To delete an older
 * thread use thread/deletion.h. */
enum status log_drop(struct log *l, struct sv thread, struct err *e) MUST_USE;

/* Outside a transaction. log_compact() empties the write-ahead log and gives free pages back;
 * log_scrub() rewrites the files, so that no byte of what was erased is left (see
 * store_scrub()). */
enum status log_compact(struct log *l, struct err *e) MUST_USE;
enum status log_scrub(struct log *l, void (*removed)(void *ctx, struct sv name), void *ctx,
                      struct err *e) MUST_USE;

/* See store_unreached(), store_scrub_waits(), store_has_file(). */
const char *log_unreached(const struct log *l, bool *waits);
enum status log_scrub_waits(struct log *l, int64_t *threads, struct err *e) MUST_USE;
bool        log_has_file(const struct log *l);

#endif
