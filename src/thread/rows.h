/* Rows of one view of one thread, for the folds that write them and for all readers.
 *
 *     struct rows r = rows_of_view(log, thread, &thread_view, a);
 *     if (row_get(&r, key_of_name("lane", name, a), &value, &found, e)) return err_code(e);
 *
 * Reads happen in the transaction that is open and see what it has written; within one transaction
 * a row is fetched from the store once (unless it is large). What is read lives in r->a. Only folds
 * put and delete. Keys are bytes, ordered as such; numbers in them have 16 digits, so that their
 * order is that of the numbers. */
#ifndef HEDDLE_ROWS_H
#define HEDDLE_ROWS_H

#include "base/json.h"
#include "store/types.h"

struct log;
struct view;

struct rows {
    struct store *store;
    struct sv     thread, view;
    struct arena *a; /* in a fold: emptied after each entry */
};

struct rows rows_of_view(const struct log *l, struct sv thread, const struct view *v,
                         struct arena *a);

/* ---- one row ---- */

enum status row_get(struct rows *r, struct sv key, struct sv *value, bool *found,
                    struct err *e) MUST_USE;
enum status row_put(struct rows *r, struct sv key, struct sv value, struct err *e) MUST_USE;
enum status row_del(struct rows *r, struct sv key, struct err *e) MUST_USE;

/* A row that holds JSON, or a whole number (`otherwise` when it is missing). ST_CORRUPT: it holds
 * something else. */
enum status row_json(struct rows *r, struct sv key, struct json *out, bool *found,
                     struct err *e) MUST_USE;
enum status row_int(struct rows *r, struct sv key, int64_t otherwise, int64_t *out,
                    struct err *e) MUST_USE;
enum status row_put_int(struct rows *r, struct sv key, int64_t n, struct err *e) MUST_USE;

/* Rows as structs, in folds that handle many entries at once: rows_held() is the arena for what
 * they point to, NULL in other folds. See store_put_object(). */
struct arena *rows_held(const struct rows *r);
void         *row_put_object(struct rows *r, struct sv key, size_t size, store_encode_fn encode);
const void   *row_object(struct rows *r, struct sv key, store_encode_fn encode);

/* ---- many ---- */

/* The values of keys[0..n), asked for together: values[i] is absent when there is no such row. */
enum status rows_get_many(struct rows *r, const struct sv *keys, size_t n, struct sv *values,
                          struct err *e) MUST_USE;

/* These rows will be read soon: a hint for the store, never needed (store_want()). */
void rows_want(struct rows *r, const struct sv *keys, size_t n);

/* Read at most `max` rows below a prefix at once, so that row_get() returns each of them without
 * asking the store again. */
enum status rows_prefetch(struct rows *r, struct sv prefix, size_t max, struct err *e) MUST_USE;

/* Rows whose key begins with a prefix, in order, from `after` on (absent: from the first; backwards
 * from the last), each handed to `each` until it returns false. The bytes of a row are good until
 * the next one. */
typedef bool (*row_fn)(void *ctx, const struct store_row *row);
enum status row_each(struct rows *r, struct sv prefix, struct sv after, bool backwards, row_fn each,
                     void *ctx, struct err *e) MUST_USE;

/* The same as a list, at most `max` of them; those below a prefix; the last one. */
enum status row_list(struct rows *r, struct sv prefix, struct sv after, size_t max,
                     struct store_row **out, size_t *n, struct err *e) MUST_USE;
enum status rows_below(struct rows *r, struct sv prefix, struct store_row **out, size_t *n,
                       struct err *e) MUST_USE;
enum status row_newest(struct rows *r, struct sv prefix, size_t max, struct store_row **out,
                       size_t *n, struct err *e) MUST_USE; /* the last ones, last first */
enum status row_last(struct rows *r, struct sv prefix, struct store_row *out, bool *found,
                     struct err *e) MUST_USE;

/* ---- keys ---- */

struct sv key_of_name(const char *prefix, struct sv name, struct arena *a); /* prefix/name */
struct sv key_of_names(const char *prefix, struct sv name, struct sv second, struct arena *a);
struct sv key_of_name_seq(const char *prefix, struct sv name, int64_t seq, struct arena *a);
/* prefix/SEQ, prefix/SEQ/SEQ, ...; a negative number is "root". */
struct sv key_of_seq(const char *prefix, int64_t n, struct arena *a);
struct sv key_of_seq2(const char *prefix, int64_t n, int64_t m, struct arena *a);
struct sv key_of_seq3(const char *prefix, int64_t n, int64_t m, int64_t o, struct arena *a);

/* "key/" and "prefix/name/": prefixes of the keys below. */
struct sv key_below(struct sv key, struct arena *a);
struct sv key_below_name(const char *prefix, struct sv name, struct arena *a);

/* The number at the end of a key; -1 when there is none. */
int64_t key_last(struct sv key);

#endif
