/* Reading entries, threads and words: the store's calls under the names of the log, so that no room
 * above depends on the store. */
#include "thread/scan.h"

#include "store/store.h"

enum status log_scan(struct log *l, const struct store_query *q, struct store_scan **out,
                     struct err *e)
{
    return store_scan(l->store, q, out, e);
}

enum status log_scan_next(struct store_scan *scan, struct entry *out, bool *more, struct err *e)
{
    return store_next(scan, out, more, e);
}

void log_scan_undo(struct store_scan **scan)
{
    store_scan_undo(scan);
}

enum status log_each_entry(struct log *l, struct sv thread, log_entry_fn *fn, void *ctx,
                           struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct entry                             n;
    bool                                     more = true;

    if (store_scan(l->store, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (fn(ctx, &n, e))
            return err_code(e);
    }
}

struct entry log_entry_copy(const struct entry *n, struct arena *a)
{
    return entry_dup(n, a);
}

enum status log_first(struct log *l, const struct store_query *q, struct arena *a,
                      struct entry *out, bool *found, struct err *e)
{
    return store_first(l->store, q, a, out, found, e);
}

enum status log_entry(struct log *l, struct sv thread, int64_t seq, struct arena *a,
                      struct entry *out, bool *found, struct err *e)
{
    struct store_query q = { .thread = thread, .from = seq, .to = seq };

    return store_first(l->store, &q, a, out, found, e);
}

enum status log_find_op(struct log *l, struct sv thread, struct sv op_id, struct arena *a,
                        struct entry *out, bool *found, struct err *e)
{
    return store_find_op(l->store, thread, op_id, a, out, found, e);
}

void log_bulk(struct log *l, bool on)
{
    store_bulk(l->store, on);
}

void log_want_op(struct log *l, struct sv thread, struct sv op_id)
{
    if (op_id.s)
        store_want_op(l->store, thread, op_id);
}

enum status log_object_put(struct log *l, const struct hash *hash, struct sv bytes, struct err *e)
{
    return store_object_put(l->store, hash, bytes, e);
}

enum status log_object_get(struct log *l, const struct hash *hash, struct arena *a,
                           struct sv *bytes, bool *found, struct err *e)
{
    return store_object_get(l->store, hash, a, bytes, found, e);
}

enum status log_object_drop(struct log *l, const struct hash *hash, struct err *e)
{
    return store_object_drop(l->store, hash, e);
}

enum status log_threads(struct log *l, struct arena *a, struct store_thread **out, size_t *n,
                        struct err *e)
{
    return store_threads(l->store, a, out, n, e);
}

enum status log_thread_ids(struct log *l, struct arena *a, struct sv **out, size_t *n,
                           struct err *e)
{
    return store_thread_ids(l->store, a, out, n, e);
}

enum status log_thread_ends_whole(const struct store_thread *t, struct err *e)
{
    if (t->damaged)
        return err_set(e, ST_CORRUPT, "thread " SV_FMT ": its end cannot be read", SV_ARG(t->id));
    return store_head_agrees(t->id, &t->head, e);
}

enum status log_text_put(struct log *l, struct sv thread, int64_t seq, struct sv text,
                         struct err *e)
{
    return store_text_put(l->store, thread, seq, text, e);
}

enum status log_text_last(struct log *l, struct sv thread, int64_t *seq, struct err *e)
{
    return store_text_last(l->store, thread, seq, e);
}

enum status log_text_find(struct log *l, struct sv thread, const struct sv *words, size_t n,
                          size_t max, struct arena *a, struct store_hit **out, size_t *count,
                          struct err *e)
{
    return store_text_find(l->store, thread, words, n, max, a, out, count, e);
}
