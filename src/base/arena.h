/* One lifetime, many allocations, one free.
 *
 * A function that takes an arena allocates its result there; a function that takes none allocates
 * nothing that outlives it. Memory is zeroed. When the heap is exhausted, failure_memory() ends the
 * process (base/failure.h): callers never see NULL.
 *
 *     struct arena a = { 0 };
 *     int *v = ARENA_NEW(&a, int, 100);
 *     struct arena_mark m = arena_mark(&a);      scratch work ...
 *     arena_reset(&a, m);                        ... undone
 *     arena_free(&a);
 *
 * Built with ARENA_DEBUG each allocation is its own malloc, so that AddressSanitizer sees overruns
 * between neighbours. */
#ifndef HEDDLE_ARENA_H
#define HEDDLE_ARENA_H

#include "base/base.h"

struct arena_block;
struct arena {
    struct arena_block *top;
};
struct arena_mark {
    struct arena_block *block;
    size_t              used;
};

#define ARENA_NEW(a, T, n) ((T *)arena_alloc((a), (n), sizeof(T), _Alignof(T)))

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align);

/* Begin an empty arena with a first block of this size. For programs with many arenas of which most
 * stay small. */
void arena_begin(struct arena *a, size_t size);

/* Grow the allocation at p from `had` to `want` bytes, in place when it is the
 * newest one; returns where it now is. The new bytes are not zeroed. */
void *arena_grow(struct arena *a, void *p, size_t had, size_t want);

struct arena_mark arena_mark(const struct arena *a);
void              arena_reset(struct arena *a, struct arena_mark m);
void              arena_free(struct arena *a); /* a is empty and usable again */

#endif
