/* Many texts at once: prefixes are hashed, so that no comparison is longer than a match. */
#include "thread/needle_table.h"

#include "base/rand.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A node of the tree of common beginnings: all texts below it share their first `depth` bytes. */
struct needle_node {
    uint64_t hash;   /* of the first `handle` bytes */
    uint32_t handle; /* 0: the slot is free */
    uint32_t depth;
    uint32_t text; /* index + 1 of the text that ends here; 0: several go on */
};

struct needle_text {
    struct sv bytes;
    uint64_t  hash;
};

enum { POWERS = 40, STEP = 8 };

struct needle_table {
    struct arena       *a;
    size_t              known; /* how many texts of the set were there when this was made */
    struct needle_text *texts; /* sorted; none begins with another */
    size_t              n;
    uint32_t           *heads; /* index + 1 of a text by its first NEEDLE_MIN bytes */
    struct needle_node *nodes;
    size_t              head_slots, node_slots; /* powers of two */
    size_t              longest;
    uint64_t            powers[POWERS]; /* base to the power of 1, 2, 4, 8 … */
    uint64_t            work;
};

/* ---- hashes: polynomials modulo 2^61 - 1 at a random place --------------------------------- */

#define PRIME (((uint64_t)1 << 61) - 1)

__extension__ typedef unsigned __int128 wide;

static uint64_t times(uint64_t a, uint64_t b)
{
    wide     p = (wide)a * b;
    uint64_t sum = (uint64_t)(p & PRIME) + (uint64_t)(p >> 61);

    return sum >= PRIME ? sum - PRIME : sum;
}

/* The hash of what `hash` stands for and then these bytes. */
static uint64_t hash_on(const struct needle_table *t, uint64_t hash, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = times(hash, t->powers[0]) + (unsigned char)s[i] + 1;
        hash = hash >= PRIME ? hash - PRIME : hash;
    }
    return hash;
}

static uint64_t power(const struct needle_table *t, size_t n)
{
    uint64_t p = 1;

    for (int i = 0; n; i++, n >>= 1)
        if (n & 1)
            p = times(p, t->powers[i]);
    return p;
}

/* The bytes that are searched, with the hashes of their prefixes, one for every STEP bytes: they
 * are computed as far as they were needed. */
struct needle_hay {
    struct sv    bytes;
    uint64_t    *prefixes;
    size_t       n; /* how many are known */
    struct arena a;
};

static uint64_t hash_up_to(const struct needle_table *t, struct needle_hay *h, size_t end)
{
    if (!h->prefixes) {
        h->prefixes = ARENA_NEW(&h->a, uint64_t, h->bytes.n / STEP + 1);
        h->n = 1;
    }
    for (; h->n <= end / STEP; h->n++)
        h->prefixes[h->n] = hash_on(t, h->prefixes[h->n - 1], h->bytes.s + (h->n - 1) * STEP, STEP);
    return hash_on(t, h->prefixes[end / STEP], h->bytes.s + end / STEP * STEP, end % STEP);
}

/* The hash of `n` bytes from `at` on; `before` is that of the bytes before them. */
static uint64_t hash_within(const struct needle_table *t, struct needle_hay *h, uint64_t before,
                            size_t at, size_t n)
{
    uint64_t all = hash_up_to(t, h, at + n), out = times(before, power(t, n));

    return all >= out ? all - out : all + PRIME - out;
}

/* ---- making it ------------------------------------------------------------------------------- */

struct needle_table *needle_table_new(struct arena *a)
{
    struct needle_table *t = ARENA_NEW(a, struct needle_table, 1);

    t->a = a;
    rand_salt(&t->powers[0], sizeof t->powers[0]);
    t->powers[0] = t->powers[0] % (PRIME - 512) + 256;
    for (int i = 1; i < POWERS; i++)
        t->powers[i] = times(t->powers[i - 1], t->powers[i - 1]);
    return t;
}

uint64_t needle_table_work(const struct needle_table *t)
{
    return t->work;
}

/* The number in (low, high] that is divisible by the highest power of two. */
static size_t fattest(size_t low, size_t high)
{
    int bits = 63 - __builtin_clzll((unsigned long long)(low ^ high));

    return high >> bits << bits;
}

static uint64_t head_of(const char *s)
{
    uint64_t head;

    _Static_assert(NEEDLE_MIN == sizeof head, "the head of a text is its first NEEDLE_MIN bytes");
    memcpy(&head, s, sizeof head);
    return head;
}

/* Where these first bytes are in t->heads, or would be put. */
static uint32_t *head_slot(struct needle_table *t, const char *s)
{
    uint64_t head = head_of(s);
    size_t   at = (size_t)((head * 0x9e3779b97f4a7c15u) >> 24) & (t->head_slots - 1);

    for (;; at = (at + 1) & (t->head_slots - 1)) {
        t->work++;
        if (!t->heads[at] || head_of(t->texts[t->heads[at] - 1].bytes.s) == head)
            return &t->heads[at];
    }
}

/* Where a node is, or would be put. */
static struct needle_node *node_slot(struct needle_table *t, uint64_t hash, size_t handle)
{
    size_t at = (size_t)((hash ^ handle) * 0x9e3779b97f4a7c15u >> 24) & (t->node_slots - 1);

    for (;; at = (at + 1) & (t->node_slots - 1)) {
        struct needle_node *n = &t->nodes[at];
        t->work++;
        if (!n->handle || (n->hash == hash && n->handle == handle))
            return n;
    }
}

static void put_node(struct needle_table *t, struct sv bytes, size_t above, size_t depth,
                     size_t text)
{
    size_t   handle = fattest(above, depth);
    uint64_t hash = hash_on(t, 0, bytes.s, handle);

    *node_slot(t, hash, handle) = (struct needle_node){
        .hash = hash, .handle = (uint32_t)handle, .depth = (uint32_t)depth, .text = (uint32_t)text
    };
    if (text)
        t->texts[text - 1].hash = hash_on(t, hash, bytes.s + handle, bytes.n - handle);
}

static int by_bytes(const void *x, const void *y)
{
    return sv_cmp(((const struct needle_text *)x)->bytes, ((const struct needle_text *)y)->bytes);
}

static size_t common(struct sv a, struct sv b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    return n;
}

/* The texts in order, without those that begin with another. */
static void sort_texts(struct needle_table *t, const struct map *texts)
{
    t->known = texts->n;
    t->texts = ARENA_NEW(t->a, struct needle_text, texts->n);
    for (size_t i = 0; i < texts->n; i++)
        t->texts[i].bytes = texts->items[i].key;
    qsort(t->texts, texts->n, sizeof *t->texts, by_bytes);
    t->n = 0;
    t->longest = 0;
    for (size_t i = 0; i < texts->n; i++) {
        struct sv bytes = t->texts[i].bytes;
        if (t->n && sv_starts(bytes, t->texts[t->n - 1].bytes))
            continue;
        t->texts[t->n++].bytes = bytes;
        t->longest = bytes.n > t->longest ? bytes.n : t->longest;
    }
}

/* A stack has the depths of the nodes above the text that comes now: those that do not reach into
 * the next text are complete. */
static void make(struct needle_table *t, const struct map *texts)
{
    VEC(size_t) open = { 0 };
    size_t before = 0; /* what a text has in common with the one before it */

    sort_texts(t, texts);
    for (t->head_slots = 64; t->head_slots < t->n * 4;)
        t->head_slots *= 2;
    t->node_slots = t->head_slots;
    t->heads = ARENA_NEW(t->a, uint32_t, t->head_slots);
    t->nodes = ARENA_NEW(t->a, struct needle_node, t->node_slots);
    *vec_push(&open, t->a) = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct sv bytes = t->texts[i].bytes;
        size_t    after = i + 1 < t->n ? common(bytes, t->texts[i + 1].bytes) : 0;
        *head_slot(t, bytes.s) = (uint32_t)i + 1;
        put_node(t, bytes, before > after ? before : after, bytes.n, i + 1);
        while (open.v[open.n - 1] > after) {
            size_t depth = open.v[--open.n], above = open.v[open.n - 1];
            put_node(t, bytes, above > after ? above : after, depth, 0);
        }
        if (open.v[open.n - 1] < after)
            *vec_push(&open, t->a) = after;
        before = after;
    }
    t->work = 0;
}

/* ---- searching ------------------------------------------------------------------------------- */

/* Does a text begin at bytes[at]? A node that is found is one on the way to it; where none is
 * found the text is shorter. */
static bool begins_at(struct needle_table *t, struct needle_hay *h, size_t at)
{
    size_t   low = 0, high = h->bytes.n - at < t->longest ? h->bytes.n - at : t->longest;
    uint64_t before = hash_up_to(t, h, at);
    const struct needle_node *last = NULL;

    while (low < high) {
        size_t                    length = fattest(low, high);
        const struct needle_node *n = node_slot(t, hash_within(t, h, before, at, length), length);
        if (n->handle) {
            last = n;
            low = n->depth;
        } else {
            high = length - 1;
        }
    }
    if (!last || !last->text || last->depth > h->bytes.n - at)
        return false;
    const struct needle_text *x = &t->texts[last->text - 1];
    if (hash_within(t, h, before, at, x->bytes.n) != x->hash)
        return false;
    t->work += x->bytes.n;
    return memcmp(x->bytes.s, h->bytes.s + at, x->bytes.n) == 0;
}

bool needle_table_find(struct needle_table *t, const struct needles *set, struct sv bytes)
{
    struct needle_hay h = { .bytes = bytes };
    bool              found = false;

    if (t->known != set->texts.n)
        make(t, &set->texts);
    for (size_t i = 0; i + NEEDLE_MIN <= bytes.n && !found; i++)
        found = *head_slot(t, bytes.s + i) && begins_at(t, &h, i);
    arena_free(&h.a);
    return found;
}
