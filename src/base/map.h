/* String keys to pointers, in an arena. Keys are copied. There is no removal: put
 * NULL. Walk items[0..n): insertion order, never hash order.
 *
 *     struct map m = map_in(&a);
 *     map_put(&m, SV("default"), lane);
 *     lane = map_find(&m, name);          NULL when absent */
#ifndef HEDDLE_MAP_H
#define HEDDLE_MAP_H

#include "base/sv.h"

struct map_item {
    struct sv key;
    void     *value;
};
struct map {
    struct arena    *a;
    struct map_item *items; /* in insertion order */
    uint32_t        *slots; /* index + 1 into items, open addressing */
    size_t           n, cap, slot_count;
};

struct map map_in(struct arena *a);
void      *map_find(const struct map *m, struct sv key);
bool       map_has(const struct map *m, struct sv key);
void       map_put(struct map *m, struct sv key, void *value);

#endif
