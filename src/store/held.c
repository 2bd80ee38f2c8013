/* Rows of one thread that are kept in memory while much of it is folded: each is read from the
 * engine once and written once, in the order of the keys, however often the folds change it. The
 * engine's work for a row is several times that of the fold, and keys in order need far less of it
 * than keys in the order in which they come up. A row may also be kept as the struct that its bytes
 * are made from; then these are made when somebody asks for them, or once, when it is written. */
#include "store/store_internal.h"

#include "base/failure.h"
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct held_row {
    struct sv       view, key, value;
    uint64_t        hash;
    void           *object; /* NULL: `value` is all there is; else `value` may be absent */
    store_encode_fn encode;
    bool            found, changed; /* changed: the engine does not have it yet */
};

struct store_held {
    struct arena        a;
    struct sv           thread;
    struct store_known *known; /* NULL, or which rows there may be besides those that are held */
    VEC(struct held_row) rows;
    VEC(size_t) changed; /* of these rows; each scan of a fold writes them, however many are held */
    uint32_t *slots;     /* index + 1 into rows, open addressing; a power of two of them */
    size_t    slot_count;
};

enum { HELD_SLOTS = 1 << 12 };

void store_hold(struct store *s, struct sv thread, struct store_known *known)
{
    assert(!s->held && (s->open == TX_WRITING || s->rows_apart));
    s->held = calloc(1, sizeof *s->held);
    if (!s->held)
        failure_memory(sizeof *s->held);
    s->held->thread = sv_dup(thread, &s->held->a);
    s->held->known = known && known->bits ? known : NULL;
    s->held->slot_count = HELD_SLOTS;
    s->held->slots = ARENA_NEW(&s->held->a, uint32_t, HELD_SLOTS);
    seen_forget(s); /* what is held is newer */
}

void held_drop(struct store *s)
{
    if (!s->held)
        return;
    arena_free(&s->held->a);
    free(s->held);
    s->held = NULL;
    seen_forget(s);
}

/* What is held of a thread; NULL when it is another one, or nothing is held. */
static struct store_held *held_of(struct store *s, struct sv thread)
{
    return s->held && sv_eq(s->held->thread, thread) ? s->held : NULL;
}

static uint64_t mixed(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u; /* a product has the high bytes of a word on top only, */
    h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9u; /* and the low bits choose the slot */
    return h ^ h >> 29;
}

static uint64_t hash_of(const struct store_key *k)
{
    uint64_t h = k->view.n ^ k->key.n << 8, word = 0;
    size_t   i = 0;

    for (; i + sizeof word <= k->key.n; i += sizeof word) {
        memcpy(&word, k->key.s + i, sizeof word);
        h = mixed(h, word);
    }
    if (i == k->key.n)
        return h;
    if (i) /* the last bytes, with some of those before them */
        memcpy(&word, k->key.s + k->key.n - sizeof word, sizeof word);
    else
        memcpy(&word, k->key.s, k->key.n);
    return mixed(h, word);
}

/* ---- which rows there may be ------------------------------------------------------------------
 */

enum { KNOWN_BITS_A_ROW = 10, KNOWN_PROBES = 3, KNOWN_BITS_MIN = 1 << 16 };

void store_known_none(struct store_known *k, int64_t rows)
{
    uint64_t n = KNOWN_BITS_MIN;

    while (n < (uint64_t)rows * KNOWN_BITS_A_ROW && n < STORE_KNOWN_BITS_MAX)
        n *= 2;
    store_known_free(k);
    k->bits = calloc(n / 64, sizeof *k->bits);
    if (!k->bits)
        failure_memory(n / 8);
    k->n = n;
}

void store_known_free(struct store_known *k)
{
    free(k->bits);
    *k = (struct store_known){ 0 };
}

/* One of the bits of a row. */
static uint64_t known_bit(const struct store_known *k, uint64_t hash, int probe)
{
    uint64_t h = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9u;

    return (h + (uint64_t)probe * (hash | 1)) >> 7 & (k->n - 1);
}

static void known_add(struct store_known *k, uint64_t hash)
{
    for (int i = 0; k && i < KNOWN_PROBES; i++) {
        uint64_t bit = known_bit(k, hash, i);
        k->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static bool known_absent(const struct store_known *k, uint64_t hash)
{
    bool there = true;

    for (int i = 0; k && there && i < KNOWN_PROBES; i++) {
        uint64_t bit = known_bit(k, hash, i);
        there = k->bits[bit / 64] >> bit % 64 & 1;
    }
    return !there;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* The slot of a row: that in which it is, or the free one into which it belongs. */
static uint32_t *slot_of(struct store_held *h, const struct store_key *k, uint64_t hash)
{
    size_t i = hash & (h->slot_count - 1);

    for (; h->slots[i]; i = (i + 1) & (h->slot_count - 1)) {
        const struct held_row *r = &h->rows.v[h->slots[i] - 1];
        if (r->hash == hash && sv_eq(r->key, k->key) && sv_eq(r->view, k->view))
            break;
    }
    return &h->slots[i];
}

static void grow(struct store_held *h)
{
    h->slot_count *= 2;
    h->slots = ARENA_NEW(&h->a, uint32_t, h->slot_count);
    for (size_t i = 0; i < h->rows.n; i++) {
        struct store_key k = { h->thread, h->rows.v[i].view, h->rows.v[i].key };
        *slot_of(h, &k, h->rows.v[i].hash) = (uint32_t)i + 1;
    }
}

static struct held_row *row_at(struct store_held *h, const struct store_key *k)
{
    uint64_t  hash = hash_of(k);
    uint32_t *slot = slot_of(h, k, hash);

    if (*slot)
        return &h->rows.v[*slot - 1];
    if (h->rows.n * 2 >= h->slot_count) {
        grow(h);
        slot = slot_of(h, k, hash);
    }
    struct held_row *r = vec_push(&h->rows, &h->a);
    *r = (struct held_row){ .view = h->rows.n > 1 && sv_eq(h->rows.v[h->rows.n - 2].view, k->view)
                                        ? h->rows.v[h->rows.n - 2].view
                                        : sv_dup(k->view, &h->a),
                            .key = sv_dup(k->key, &h->a),
                            .hash = hash };
    *slot = (uint32_t)h->rows.n;
    return r;
}

bool held_get(struct store *s, const struct store_key *k, struct sv *value, bool *found)
{
    struct store_held *h = held_of(s, k->thread);
    uint64_t           hash = h ? hash_of(k) : 0;
    const uint32_t    *slot = h ? slot_of(h, k, hash) : NULL;

    if (!slot || (!*slot && !known_absent(h->known, hash)))
        return false;
    *found = *slot && h->rows.v[*slot - 1].found;
    if (!*found)
        return true;
    struct held_row *r = &h->rows.v[*slot - 1];
    if (!r->value.s)
        r->value = r->encode(r->object, &h->a);
    *value = r->value;
    return true;
}

static void set_changed(struct store_held *h, struct held_row *r)
{
    if (!r->changed)
        *vec_push(&h->changed, &h->a) = (size_t)(r - h->rows.v);
    r->changed = true;
}

bool held_note(struct store *s, const struct store_key *k, struct sv value, bool found,
               bool changed)
{
    struct store_held *h = held_of(s, k->thread);

    if (!h)
        return false;
    struct held_row *r = row_at(h, k);
    if (found && !r->found)
        known_add(h->known, r->hash);
    r->value = found ? sv_dup(value, &h->a) : (struct sv){ 0 };
    r->object = NULL;
    r->found = found;
    if (changed)
        set_changed(h, r);
    return true;
}

struct arena *store_held(struct store *s, struct sv thread)
{
    struct store_held *h = held_of(s, thread);

    return h ? &h->a : NULL;
}

void *store_put_object(struct store *s, const struct store_key *k, size_t size,
                       store_encode_fn encode)
{
    struct store_held *h = held_of(s, k->thread);

    assert(h);
    struct held_row *r = row_at(h, k);
    if (!r->found)
        known_add(h->known, r->hash);
    if (!r->found || r->encode != encode || !r->object)
        r->object = arena_alloc(&h->a, 1, size, _Alignof(max_align_t));
    r->value = (struct sv){ 0 };
    r->encode = encode;
    r->found = true;
    set_changed(h, r);
    return r->object;
}

const void *store_object(struct store *s, const struct store_key *k, store_encode_fn encode)
{
    struct store_held *h = held_of(s, k->thread);
    const uint32_t    *slot = h ? slot_of(h, k, hash_of(k)) : NULL;

    if (!slot || !*slot || h->rows.v[*slot - 1].encode != encode)
        return NULL;
    return h->rows.v[*slot - 1].object;
}

void held_forget(struct store *s, struct sv thread)
{
    struct store_held *h = held_of(s, thread);

    if (!h)
        return;
    h->rows.n = h->changed.n = 0;
    memset(h->slots, 0, h->slot_count * sizeof *h->slots);
}

static int by_key(const void *x, const void *y)
{
    const struct held_row *const *a = x, *const *b = y;
    int order = (*a)->view.s == (*b)->view.s ? 0 : sv_cmp((*a)->view, (*b)->view);

    return order ? order : sv_cmp((*a)->key, (*b)->key);
}

enum status held_write(struct store *s, struct sv thread, struct err *e)
{
    struct store_held *h = held_of(s, thread);
    enum status        st = ST_OK;
    struct arena       scratch = { 0 };
    size_t             n = 0;

    if (!h || !h->changed.n)
        return ST_OK;
    struct held_row **list = ARENA_NEW(&scratch, struct held_row *, h->changed.n);
    for (size_t i = 0; i < h->changed.n; i++)
        list[n++] = &h->rows.v[h->changed.v[i]];
    h->changed.n = 0;
    qsort(list, n, sizeof(struct held_row *), by_key);
    for (size_t i = 0; i < n && !st; i++) {
        struct store_key  k = { h->thread, list[i]->view, list[i]->key };
        struct arena_mark m = arena_mark(&scratch);
        struct sv         value = list[i]->value;
        if (list[i]->found && !value.s)
            value = list[i]->encode(list[i]->object, &scratch);
        st = list[i]->found ? s->ops->row_put(s, &k, value, e) : s->ops->row_del(s, &k, e);
        list[i]->changed = false;
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    return st;
}

enum status store_release(struct store *s, struct err *e)
{
    enum status st = s->held ? held_write(s, s->held->thread, e) : ST_OK;

    held_drop(s);
    return st;
}
