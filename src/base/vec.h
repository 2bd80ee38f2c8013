/* A growing array in an arena.
 *
 *     VEC(struct entry) list = { 0 };
 *     *vec_push(&list, &a) = (struct entry){ ... };
 *     for (size_t i = 0; i < list.n; i++) use(&list.v[i]);
 *
 * Pushing may move the items: keep indexes, not pointers, while it grows. */
#ifndef HEDDLE_VEC_H
#define HEDDLE_VEC_H

#include "base/arena.h"

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T     *v;                                                                                  \
        size_t n, cap;                                                                             \
    }

/* Pointer to a new zeroed item at the end. */
#define vec_push(vec, a)                                                                           \
    (((vec)->n == (vec)->cap ? vec_grow(&(vec)->v, &(vec)->cap, sizeof *(vec)->v, (a)) : (void)0), \
     &(vec)->v[(vec)->n++])

/* Make room for `more` further items. Growing step by step leaves the old arrays in the arena, as
 * much memory again; reserving avoids that when the items are many. */
#define vec_reserve(vec, more, a)                                                                  \
    vec_fit(&(vec)->v, &(vec)->cap, (vec)->n + (more), sizeof *(vec)->v, (a))

void vec_fit(void *items, size_t *cap, size_t want, size_t size, struct arena *a);
void vec_grow(void *items, size_t *cap, size_t size, struct arena *a);

#endif
