/* Words of entries: the engine's index where it has one, else a search through the messages. */
#include "base/vec.h"
#include "store/store_internal.h"

#include <string.h>

enum status store_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                           struct err *e)
{
    return s->ops->text_put ? s->ops->text_put(s, thread, seq, text, e) : ST_OK;
}

enum status store_text_last(struct store *s, struct sv thread, int64_t *seq, struct err *e)
{
    *seq = INT64_MAX; /* without an index there is never anything to add */
    return s->ops->text_last ? s->ops->text_last(s, thread, seq, e) : ST_OK;
}

static bool holds(struct sv text, struct sv word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (strncasecmp(text.s + i, word.s, word.n) == 0)
            return true;
    return false;
}

static bool holds_all(struct sv text, const struct sv *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!holds(text, words[i]))
            return false;
    return true;
}

struct hits {
    VEC(struct store_hit) list;
    size_t max;
};

static enum status look_through(struct store *s, struct sv thread, const struct sv *words, size_t n,
                                struct arena *a, struct hits *out, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = thread, .to = STORE_TO_END, .backwards = true };
    struct entry       x;
    bool               more = true;

    if (store_scan(s, &q, &scan, e))
        return err_code(e);
    while (more && out->list.n < out->max) {
        if (store_next(scan, &x, &more, e))
            return err_code(e);
        if (more && x.mark == MARK_MESSAGE && holds_all(x.payload, words, n))
            *vec_push(&out->list, a) = (struct store_hit){ thread, x.seq };
    }
    return ST_OK;
}

enum status store_text_find(struct store *s, struct sv thread, const struct sv *words, size_t n,
                            size_t max, struct arena *a, struct store_hit **out, size_t *count,
                            struct err *e)
{
    struct hits          hits = { .max = max };
    struct store_thread *threads = &(struct store_thread){ .id = thread };
    size_t               n_threads = 1;

    if (s->ops->text_find)
        return s->ops->text_find(s, thread, words, n, max, a, out, count, e);
    if (!thread.s && store_threads(s, a, &threads, &n_threads, e))
        return err_code(e);
    for (size_t i = 0; i < n_threads; i++)
        if (look_through(s, threads[i].id, words, n, a, &hits, e))
            return err_code(e);
    *out = hits.list.v;
    *count = hits.list.n;
    return ST_OK;
}
