/* Maintenance of the store behind a log: passes the calls on to the store. */
#include "thread/care.h"

#include "store/store.h"

enum status log_stats(struct log *l, struct store_stats *out, struct err *e)
{
    return store_stats(l->store, out, e);
}

enum status log_check_store(struct log *l, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    return store_check(l->store, say, ctx, e);
}

enum status log_adopt_lost(struct log *l, int64_t *n, struct err *e)
{
    return store_adopt_lost(l->store, n, e);
}

enum status log_sizes(struct log *l, struct arena *a, struct store_size **out, size_t *n,
                      struct err *e)
{
    return store_sizes(l->store, a, out, n, e);
}

enum status log_drop(struct log *l, struct sv thread, struct err *e)
{
    return store_drop(l->store, thread, e);
}

enum status log_compact(struct log *l, struct err *e)
{
    return store_compact(l->store, e);
}

enum status log_scrub(struct log *l, void (*removed)(void *, struct sv), void *ctx, struct err *e)
{
    return store_scrub(l->store, removed, ctx, e);
}

const char *log_unreached(const struct log *l, bool *waits)
{
    return store_unreached(l->store, waits);
}

enum status log_scrub_waits(struct log *l, int64_t *threads, struct err *e)
{
    return store_scrub_waits(l->store, threads, e);
}

bool log_has_file(const struct log *l)
{
    return store_has_file(l->store);
}
