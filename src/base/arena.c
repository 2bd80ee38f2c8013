#include "base/arena.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 16 * 1024 };

struct arena_block {
    struct arena_block *below;
    size_t              used, cap;
    _Alignas(max_align_t) char bytes[];
};

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
    struct arena_block *b = malloc(sizeof *b + cap);
    if (!b)
        die("out of memory (%zu bytes)", cap);
    b->below = a->top;
    b->used = 0;
    b->cap = cap;
    a->top = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align)
{
    size_t want;

    if (__builtin_mul_overflow(n, size, &want) || want > PTRDIFF_MAX - 4096)
        die("out of memory (%zu x %zu bytes)", n, size);
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
    return memset(b->bytes + at, 0, want);
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
    void *q = arena_alloc(a, want, 1, _Alignof(max_align_t));
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
