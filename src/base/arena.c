/* Blocks of memory that are freed together; debug builds give each allocation its own malloc, so
 * that sanitizers see overruns inside an arena. */
#include "base/arena.h"

#include "base/failure.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 16 * 1024 };

struct arena_block {
    struct arena_block *below;
    size_t              used, cap;
    _Alignas(max_align_t) char bytes[];
};

static struct arena_block *add_block(struct arena *a, size_t cap)
{
    struct arena_block *b = malloc(sizeof *b + cap);

    if (!b)
        failure_memory(cap);
    b->below = a->top;
    b->used = 0;
    b->cap = cap;
    a->top = b;
    return b;
}

static struct arena_block *push_block(struct arena *a, size_t need)
{
    size_t cap = BLOCK_MIN;

#ifndef ARENA_DEBUG
    /* Blocks double, so a large arena is a short list. */
    if (a->top && a->top->cap >= BLOCK_MIN && a->top->cap < ((size_t)1 << 22))
        cap = a->top->cap * 2;
    if (cap < need)
        cap = need;
#else
    cap = need;
#endif
    return add_block(a, cap);
}

void arena_begin(struct arena *a, size_t size)
{
#ifndef ARENA_DEBUG
    if (!a->top)
        add_block(a, size);
#else
    (void)a;
    (void)size;
#endif
}

/* Room for `want` bytes, not zeroed. */
static void *take(struct arena *a, size_t want, size_t align)
{
    struct arena_block *b = a->top;
    size_t              at = b ? (b->used + align - 1) & ~(align - 1) : 0;
#ifdef ARENA_DEBUG
    b = NULL;
#endif
    if (!b || at > b->cap || want > b->cap - at) {
        b = push_block(a, want);
        at = 0;
    }
    b->used = at + want;
    return b->bytes + at;
}

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align)
{
    size_t want;

    if (__builtin_mul_overflow(n, size, &want) || want > PTRDIFF_MAX - 4096)
        failure_memory(SIZE_MAX);
    return memset(take(a, want, align), 0, want);
}

void *arena_grow(struct arena *a, void *p, size_t had, size_t want)
{
    struct arena_block *b = a->top;

#ifndef ARENA_DEBUG
    if (p && b && (char *)p + had == b->bytes + b->used && want - had <= b->cap - b->used) {
        b->used += want - had;
        return p;
    }
#else
    (void)b;
#endif
    if (want > PTRDIFF_MAX - 4096)
        failure_memory(want);
    void *q = take(a, want, _Alignof(max_align_t));
    if (p && had)
        memcpy(q, p, had);
    return q;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){ a->top, a->top ? a->top->used : 0 };
}

void arena_reset(struct arena *a, struct arena_mark m)
{
    while (a->top != m.block) {
        struct arena_block *b = a->top;
        a->top = b->below;
        free(b);
    }
    if (a->top)
        a->top->used = m.used;
}

void arena_free(struct arena *a)
{
    arena_reset(a, (struct arena_mark){ 0 });
}
