/* Entries, threads and words of a log as the rooms above read them, in the transaction that is
 * open. The structs of store/types.h describe queries and answers; an entry's payload is the stored
 * one (of an erased entry: its skeleton).
 *
 *     UNDO(log_scan_undo) struct store_scan *scan = NULL;
 *     struct store_query q = { .thread = thread, .to = STORE_TO_END };
 *     if (log_scan(l, &q, &scan, e)) return err_code(e);
 *     while (!(s = log_scan_next(scan, &n, &more, e)) && more) use(&n); */
#ifndef HEDDLE_SCAN_H
#define HEDDLE_SCAN_H

#include "thread/log.h"

/* Entries in order of seq. Cost follows what is returned; an entry's bytes are good until the next
 * call. ST_CORRUPT of log_scan_next(): something cannot be read; see log_read.h for going on. */
enum status log_scan(struct log *l, const struct store_query *q, struct store_scan **out,
                     struct err *e) MUST_USE;
enum status log_scan_next(struct store_scan *scan, struct entry *out, bool *more,
                          struct err *e) MUST_USE;
void        log_scan_undo(struct store_scan **scan); /* for UNDO() */

/* Call fn for every entry of a thread, oldest first, until it fails. */
typedef enum status log_entry_fn(void *ctx, const struct entry *n, struct err *e);
enum status         log_each_entry(struct log *l, struct sv thread, log_entry_fn *fn, void *ctx,
                                   struct err *e) MUST_USE;

/* A copy of an entry whose bytes live in `a`. */
struct entry log_entry_copy(const struct entry *n, struct arena *a);

/* The first entry that a query gives; the entry with this seq; with this op_id. Copied into `a`. */
enum status log_first(struct log *l, const struct store_query *q, struct arena *a,
                      struct entry *out, bool *found, struct err *e) MUST_USE;
enum status log_entry(struct log *l, struct sv thread, int64_t seq, struct arena *a,
                      struct entry *out, bool *found, struct err *e) MUST_USE;
enum status log_find_op(struct log *l, struct sv thread, struct sv op_id, struct arena *a,
                        struct entry *out, bool *found, struct err *e) MUST_USE;

/* An entry with this op_id will be appended or looked for soon: a hint for the store, best given
 * before log_begin(), so that one answer of a distant store holds all that is needed. */
void log_want_op(struct log *l, struct sv thread, struct sv op_id);

/* Content by its hash, as with store_object_put(): shared with other machines that use the
 * store. */
enum status log_object_put(struct log *l, const struct hash *hash, struct sv bytes,
                           struct err *e) MUST_USE;
enum status log_object_get(struct log *l, const struct hash *hash, struct arena *a,
                           struct sv *bytes, bool *found, struct err *e) MUST_USE;
enum status log_object_drop(struct log *l, const struct hash *hash, struct err *e) MUST_USE;

/* All threads, by id. */
enum status log_threads(struct log *l, struct arena *a, struct store_thread **out, size_t *n,
                        struct err *e) MUST_USE;

/* Only their ids, in the same order; cheaper. */
enum status log_thread_ids(struct log *l, struct arena *a, struct sv **out, size_t *n,
                           struct err *e) MUST_USE;

/* ST_CORRUPT: one of them cannot be read at its end, or does not end where its last append left
 * it. */
enum status log_thread_ends_whole(const struct store_thread *t, struct err *e) MUST_USE;

/* Words of entries. log_text_put() makes an entry findable by the words of `text`, in a write
 * transaction; to put it again is harmless and does nothing. *seq of log_text_last() is the last
 * entry that was put, -1 when none was. log_text_find() gives entries that hold every one of
 * words[0..n), newest first, of one thread or (absent) of all. The answer may hold too many where
 * the store has no index of words: callers check each entry they get. */
enum status log_text_put(struct log *l, struct sv thread, int64_t seq, struct sv text,
                         struct err *e) MUST_USE;
enum status log_text_last(struct log *l, struct sv thread, int64_t *seq, struct err *e) MUST_USE;
enum status log_text_find(struct log *l, struct sv thread, const struct sv *words, size_t n,
                          size_t max, struct arena *a, struct store_hit **out, size_t *count,
                          struct err *e) MUST_USE;

#endif
