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

static struct map_item *item_of(const struct map *m, struct sv key)
{
    uint32_t *slot = m->slot_count ? slot_of(m, key) : NULL;

    return slot && *slot ? &m->items[*slot - 1] : NULL;
}

void *map_find(const struct map *m, struct sv key)
{
    struct map_item *item = item_of(m, key);

    return item ? item->value : NULL;
}

bool map_has(const struct map *m, struct sv key)
{
    return item_of(m, key) != NULL;
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
    struct map_item *item = item_of(m, key);

    if (item) {
        item->value = value;
        return;
    }
    if ((m->n + 1) * 3 > m->slot_count * 2)
        rehash(m);
    if (m->n == m->cap)
        vec_grow(&m->items, &m->cap, sizeof *m->items, m->a);
    m->items[m->n++] = (struct map_item){ sv_dup(key, m->a), value };
    *slot_of(m, key) = (uint32_t)m->n;
}
