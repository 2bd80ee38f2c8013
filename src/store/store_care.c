/* The calls of the store that concern its care: objects, numbers and facts, checking, compacting,
 * scrubbing, backups. */
#include "store/store_internal.h"

#include <assert.h>

enum status store_object_put(struct store *s, const struct hash *hash, struct sv bytes,
                             struct err *e)
{
    return s->ops->object_put && bytes.n <= STORE_OBJECT_MAX ? s->ops->object_put(s, hash, bytes, e)
                                                             : ST_OK;
}

enum status store_object_get(struct store *s, const struct hash *hash, struct arena *a,
                             struct sv *bytes, bool *found, struct err *e)
{
    *found = false;
    return s->ops->object_get ? s->ops->object_get(s, hash, a, bytes, found, e) : ST_OK;
}

enum status store_object_drop(struct store *s, const struct hash *hash, struct err *e)
{
    return s->ops->object_drop ? s->ops->object_drop(s, hash, e) : ST_OK;
}

enum status store_stats(struct store *s, struct store_stats *out, struct err *e)
{
    return s->ops->stats(s, out, e);
}

enum status store_facts(struct store *s, struct arena *a, struct store_fact **out, size_t *n,
                        struct err *e)
{
    assert(s->open == TX_CLOSED);
    return s->ops->facts(s, a, out, n, e);
}

enum status store_advise(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    assert(s->open == TX_CLOSED);
    return s->ops->advise ? s->ops->advise(s, say, ctx, e) : ST_OK;
}

enum status store_check(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    return s->ops->check(s, say, ctx, e);
}

enum status store_adopt_lost(struct store *s, int64_t *n, struct err *e)
{
    assert(s->open == TX_WRITING);
    *n = 0;
    seen_forget(s);
    return s->ops->adopt_lost ? s->ops->adopt_lost(s, n, e) : ST_OK;
}

enum status store_compact(struct store *s, struct err *e)
{
    assert(s->open == TX_CLOSED);
    return s->ops->compact(s, e);
}

const char *store_unreached(const struct store *s, bool *waits)
{
    *waits = false;
    return s->ops->unreached(s, waits);
}

enum status store_scrub_waits(struct store *s, int64_t *threads, struct err *e)
{
    *threads = 0;
    return s->ops->scrub_waits ? s->ops->scrub_waits(s, threads, e) : ST_OK;
}

bool store_has_file(const struct store *s)
{
    return s->ops->in_place != NULL;
}

enum status store_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                        struct err *e)
{
    bool any;

    return store_drop_rest(s, &any, e) ? err_code(e) : s->ops->scrub(s, removed, ctx, e);
}

enum status store_drop(struct store *s, struct sv thread, struct err *e)
{
    assert(s->open == TX_WRITING);
    seen_forget(s);
    return s->ops->drop(s, thread, e);
}

enum status store_drop_later(struct store *s, struct sv thread, struct err *e)
{
    assert(s->open == TX_WRITING);
    seen_forget(s);
    return (s->ops->drop_later ? s->ops->drop_later : s->ops->drop)(s, thread, e);
}

enum status store_drop_waits(struct store *s, bool *any, struct err *e)
{
    int64_t n;

    *any = false;
    return s->ops->drop_some ? s->ops->drop_some(s, 0, false, &n, any, e) : ST_OK;
}

static enum status drop_slice(struct store *s, bool narrow, bool *left, struct err *e)
{
    int64_t n;

    if (!store_begin(s, STORE_WRITE, e) &&
        !s->ops->drop_some(s, STORE_DROP_SLICE, narrow, &n, left, e) && !store_commit(s, e))
        return ST_OK;
    store_abort(s);
    return err_code(e);
}

/* What is dropped may be what has filled the disk. */
enum status store_drop_slices(struct store *s, bool narrow, bool *any, struct err *e)
{
    bool left;

    assert(s->open == TX_CLOSED);
    if (store_drop_waits(s, any, e))
        return err_code(e);
    left = *any;
    while (left) {
        enum status st = drop_slice(s, narrow, &left, e);
        if (st && (st != ST_IO || narrow))
            return st;
        narrow = narrow || st;
        left = left || st;
        if (left)
            store_let_others(s);
    }
    return ST_OK;
}

enum status store_drop_rest(struct store *s, bool *any, struct err *e)
{
    return store_drop_slices(s, false, any, e);
}

enum status store_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                        struct err *e)
{
    return s->ops->sizes(s, a, out, n, e);
}

static enum status no_file(const struct store *s, struct err *e)
{
    return err_set(e, ST_USAGE, "a store of the kind %s: has no file that could be copied",
                   s->ops->scheme);
}

enum status store_backup(struct store *s, struct sv path, struct err *e)
{
    assert(s->open == TX_CLOSED);
    return s->ops->backup ? s->ops->backup(s, path, e) : no_file(s, e);
}
