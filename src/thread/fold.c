/* Rows as a fold sees them. A small cache in front of the store: the messages of a batch all ask
 * for the row of their lane. */
#include "thread/log_internal.h"

#include <string.h>

struct sv key_of_name(const char *prefix, struct sv name, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, prefix);
    sb_addc(&b, '/');
    sb_add(&b, name);
    return sb_sv(&b);
}

struct sv key_of_seq(const char *prefix, int64_t seq, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s/%016lld", prefix, (long long)seq);
    return sb_sv(&b);
}

static uint32_t mix(uint32_t h, struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ (unsigned char)v.s[i]) * 16777619u;
    return h;
}

/* The slot where the row's place is, and whether it is the row that holds it. */
static struct fold_slot *slot_of(const struct fold *f, struct sv key, bool *holds)
{
    uint32_t          h = mix(mix(2166136261u, f->view), key);
    struct fold_slot *s = &f->cache->slots[(h ^ h >> 16) % FOLD_SLOTS];

    *holds = s->used && sv_eq(f->view, (struct sv){ s->bytes, s->view_n }) &&
             sv_eq(key, (struct sv){ s->bytes + s->view_n, s->key_n });
    return s;
}

static void set_slot(struct fold_slot *s, struct sv view, struct sv key, struct sv value,
                     bool found)
{
    struct sb b = sb_on(s->bytes, sizeof s->bytes, NULL);

    sb_add(&b, view);
    sb_add(&b, key);
    sb_add(&b, value);
    s->used = true;
    s->found = found;
    s->view_n = (uint32_t)view.n;
    s->key_n = (uint32_t)key.n;
    s->value_n = (uint32_t)value.n;
}

/* What a row is now; one that is too large for a slot is not remembered. */
static void note(const struct fold *f, struct sv key, struct sv value, bool found)
{
    bool holds;

    if (!f->cache)
        return;
    struct fold_slot *s = slot_of(f, key, &holds);
    if (f->view.n + key.n + value.n < FOLD_SLOT_BYTES)
        set_slot(s, f->view, key, value, found);
    else if (holds)
        s->used = false;
}

enum status fold_get(struct fold *f, struct sv key, struct sv *value, bool *found, struct err *e)
{
    struct store_key k = { f->thread, f->view, key };
    bool             holds = false;

    if (f->cache) {
        struct fold_slot *s = slot_of(f, key, &holds);
        if (holds) {
            *found = s->found;
            if (s->found)
                *value = sv_dup((struct sv){ s->bytes + s->view_n + s->key_n, s->value_n }, f->a);
            return ST_OK;
        }
    }
    if (store_row_get(f->store, &k, f->a, value, found, e))
        return err_code(e);
    note(f, key, *found ? *value : SV(""), *found);
    return ST_OK;
}

enum status fold_put(struct fold *f, struct sv key, struct sv value, struct err *e)
{
    note(f, key, value, true);
    return store_row_put(f->store, &(struct store_key){ f->thread, f->view, key }, value, e);
}

enum status fold_del(struct fold *f, struct sv key, struct err *e)
{
    note(f, key, SV(""), false);
    return store_row_del(f->store, &(struct store_key){ f->thread, f->view, key }, e);
}
