/* Opening counters, and counting a text as a whole. */
#include "tokens/counter.h"

#include "base/failure.h"
#include "base/utf8.h"

#include <stdlib.h>

/* ---- opening ---- */

static struct tokens *new_counter(void)
{
    struct tokens *t = calloc(1, sizeof *t);

    if (!t)
        failure_memory(sizeof *t);
    return t;
}

struct tokens *tokens_open_estimate(void)
{
    return new_counter();
}

enum status tokens_open(enum tokens_encoding enc, struct sv dir, struct tokens **out, struct err *e)
{
    struct vocab *v;

    if (vocab_open(enc, dir, &v, e))
        return err_code(e);
    *out = new_counter();
    (*out)->v = v;
    (*out)->kernel = kernel_best();
    merge_init(&(*out)->merge, v, (*out)->kernel->window);
    cache_init(&(*out)->cache);
    return ST_OK;
}

enum status tokens_open_or_estimate(enum tokens_encoding enc, struct sv dir, struct tokens **out,
                                    struct err *e)
{
    enum status s = tokens_open(enc, dir, out, e);

    if (s != ST_NOT_FOUND || dir.n)
        return s;
    *out = tokens_open_estimate();
    return ST_OK;
}

void tokens_close(struct tokens *t)
{
    if (!t)
        return;
    if (t->v) {
        merge_release(&t->merge);
        cache_release(&t->cache);
        vocab_close(t->v);
    }
    free(t);
}

bool tokens_is_estimate(const struct tokens *t)
{
    return !t->v;
}

const char *tokens_label(const struct tokens *t)
{
    return t->v ? tokens_encoding_name(t->v->encoding) : "chars/4 (estimate)";
}

/* ---- counting ---- */

size_t tokens_count(struct tokens *t, struct sv text)
{
    size_t used;
    bool   bad;

    if (!t->v)
        return tokens_estimate(text);
    size_t total = counter_count(t, text, true, &used, &bad);
    if (!bad)
        return total;
    struct tokens_stream rest;
    tokens_stream_init(&rest, t);
    tokens_stream_add(&rest, sv_skip(text, used));
    return total + tokens_stream_end(&rest);
}

size_t counter_estimate_until(struct sv text, size_t limit, size_t *offset)
{
    size_t at = 0, chars = 0, len;

    while (at < text.n && chars / 4 < limit) {
        utf8_decode(sv_skip(text, at), &len);
        at += len;
        chars++;
    }
    *offset = at;
    return (chars + 3) / 4;
}
