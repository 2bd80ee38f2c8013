#include "base/arena.h"

#include "base/vec.h"
#include "tap.h"

static void memory_is_zeroed_and_aligned(void)
{
    struct arena a = { 0 };

    for (size_t i = 1; i < 200; i++) {
        char    *bytes = ARENA_NEW(&a, char, i);
        int64_t *words = ARENA_NEW(&a, int64_t, i);
        CHECK((uintptr_t)words % _Alignof(int64_t) == 0);
        for (size_t k = 0; k < i; k++)
            CHECK(bytes[k] == 0 && words[k] == 0);
        memset(bytes, 0x55, i);
        memset(words, 0x55, i * sizeof *words);
    }
    arena_free(&a);
}

static void memory_that_was_reset_is_zeroed_again(void)
{
    struct arena      a = { 0 };
    struct arena_mark m = arena_mark(&a);

    memset(ARENA_NEW(&a, char, 100), 0x55, 100);
    arena_reset(&a, m);
    char *again = ARENA_NEW(&a, char, 100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(again[i], 0);
    arena_free(&a);
}

static void reset_keeps_what_stood_before_the_mark(void)
{
    struct arena a = { 0 };
    char        *kept = ARENA_NEW(&a, char, 10);

    memcpy(kept, "kept bytes", 10);
    struct arena_mark m = arena_mark(&a);
    for (int i = 0; i < 1000; i++)
        memset(ARENA_NEW(&a, char, 1000), 0x55, 1000);
    arena_reset(&a, m);
    memset(ARENA_NEW(&a, char, 1000), 0x66, 1000);
    CHECK(memcmp(kept, "kept bytes", 10) == 0);
    arena_free(&a);
}

static void growing_keeps_the_bytes_in_place_or_moved(void)
{
    struct arena a = { 0 };
    char        *p = NULL;
    size_t       had = 0;

    for (size_t want = 1; want < 100000; want *= 3) {
        p = arena_grow(&a, p, had, want);
        memset(p + had, 'x', want - had);
        had = want;
        if (want % 2)
            ARENA_NEW(&a, char, 3); /* something newer: the next growth must move */
    }
    for (size_t i = 0; i < had; i++)
        CHECK(p[i] == 'x');
    arena_free(&a);
}

static void an_allocation_larger_than_a_block_fits(void)
{
    struct arena a = { 0 };
    char        *p = ARENA_NEW(&a, char, 10 << 20);

    p[0] = p[(10 << 20) - 1] = 1;
    CHECK(ARENA_NEW(&a, char, 1) != NULL);
    arena_free(&a);
}

static void a_freed_arena_is_usable_again(void)
{
    struct arena a = { 0 };

    ARENA_NEW(&a, int, 10);
    arena_free(&a);
    CHECK(a.top == NULL);
    CHECK(*ARENA_NEW(&a, int, 10) == 0);
    arena_free(&a);
    arena_free(&a);
}

static void nothing_is_a_valid_allocation(void)
{
    struct arena a = { 0 };

    CHECK(ARENA_NEW(&a, int, 0) != NULL);
    arena_free(&a);
}

static void a_vector_keeps_its_items_and_zeroes_new_ones(void)
{
    struct arena a = { 0 };
    VEC(struct {
        int64_t number;
        char    text[20];
    })
    list = { 0 };

    for (int i = 0; i < 1000; i++) {
        ARENA_NEW(&a, char, 1); /* so that growth has to move */
        CHECK_INT(vec_push(&list, &a)->number, 0);
        list.v[i].number = i;
    }
    CHECK_INT(list.n, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(list.v[i].number, i);
    arena_free(&a);
}

static void room_for_items_is_made_once(void)
{
    struct arena a = { 0 };
    VEC(int) list = { 0 };

    *vec_push(&list, &a) = 7;
    vec_reserve(&list, 100, &a);
    const int *before = list.v;
    CHECK(list.cap >= 101 && list.v[0] == 7);
    for (int i = 0; i < 100; i++)
        CHECK_INT(*vec_push(&list, &a), 0);
    CHECK(list.v == before && list.n == 101);
    vec_reserve(&list, 0, &a);
    CHECK(list.v == before);
    arena_free(&a);
}

TAP_MAIN(T(room_for_items_is_made_once), T(memory_is_zeroed_and_aligned),
         T(memory_that_was_reset_is_zeroed_again), T(reset_keeps_what_stood_before_the_mark),
         T(growing_keeps_the_bytes_in_place_or_moved), T(an_allocation_larger_than_a_block_fits),
         T(a_freed_arena_is_usable_again), T(nothing_is_a_valid_allocation),
         T(a_vector_keeps_its_items_and_zeroes_new_ones), )
