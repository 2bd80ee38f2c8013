/* Growth of the arrays that VEC() declares. */
#include "base/vec.h"

#include <string.h>

void vec_fit(void *items, size_t *cap, size_t want, size_t size, struct arena *a)
{
    void  *p;
    size_t had = *cap * size;

    if (want <= *cap)
        return;
    memcpy(&p, items, sizeof p); /* items is a T **, and T is unknown here */
    p = arena_grow(a, p, had, want * size);
    memset((char *)p + had, 0, want * size - had);
    memcpy(items, &p, sizeof p);
    *cap = want;
}

void vec_grow(void *items, size_t *cap, size_t size, struct arena *a)
{
    vec_fit(items, cap, *cap ? *cap * 2 : 8, size, a);
}
