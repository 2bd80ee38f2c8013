#include "base/vec.h"

#include <string.h>

void vec_grow(void *items, size_t *cap, size_t size, struct arena *a)
{
    void  *p;
    size_t had = *cap * size;
    size_t want = *cap ? *cap * 2 : 8;

    memcpy(&p, items, sizeof p); /* items is a T **, and T is unknown here */
    p = arena_grow(a, p, had, want * size);
    memset((char *)p + had, 0, want * size - had);
    memcpy(items, &p, sizeof p);
    *cap = want;
}
