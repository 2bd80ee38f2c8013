/* A hash table with string keys that remembers the order of insertion. */
#include "base/map.h"

#include "base/vec.h"

struct map map_in(struct arena *a)
{
    return (struct map){ .a = a };
}

static uint64_t hash(struct sv key)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.s[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* The slot that holds key, or the empty one where it belongs. */
static uint32_t *slot_of(const struct map *m, struct sv key)
{
    size_t i = hash(key) & (m->slot_count - 1);

    while (m->slots[i] && !sv_eq(m->items[m->slots[i] - 1].key, key))
        i = (i + 1) & (m->slot_count - 1);
    return &m->slots[i];
}

/* The key's place in items, counted from 1, or 0. */
static uint32_t place_of(const struct map *m, struct sv key)
{
    return m->slot_count ? *slot_of(m, key) : 0;
}

void *map_find(const struct map *m, struct sv key)
{
    uint32_t at = place_of(m, key);

    return at ? m->items[at - 1].value : NULL;
}

bool map_has(const struct map *m, struct sv key)
{
    return place_of(m, key) != 0;
}

static void rehash(struct map *m)
{
    m->slot_count = m->slot_count ? m->slot_count * 2 : 16;
    m->slots = ARENA_NEW(m->a, uint32_t, m->slot_count);
    for (size_t i = 0; i < m->n; i++)
        *slot_of(m, m->items[i].key) = (uint32_t)i + 1;
}

void map_put(struct map *m, struct sv key, void *value)
{
    uint32_t at = place_of(m, key);

    if (at) {
        m->items[at - 1].value = value;
        return;
    }
    if ((m->n + 1) * 3 > m->slot_count * 2)
        rehash(m);
    if (m->n == m->cap)
        vec_grow(&m->items, &m->cap, sizeof *m->items, m->a);
    m->items[m->n++] = (struct map_item){ sv_dup(key, m->a), value };
    *slot_of(m, key) = (uint32_t)m->n;
}
