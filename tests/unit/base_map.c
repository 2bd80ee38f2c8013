#include "base/map.h"

#include "base/sb.h"
#include "tap.h"

static struct sv key_of(int i, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "key %d", i);
    return sb_sv(&b);
}

static void an_empty_map_has_nothing(void)
{
    struct arena a = { 0 };
    struct map   m = map_in(&a);

    CHECK(map_find(&m, SV("x")) == NULL);
    CHECK(!map_has(&m, SV("")));
    CHECK_INT(m.n, 0);
    arena_free(&a);
}

static void what_was_put_is_found_among_many(void)
{
    struct arena a = { 0 };
    struct map   m = map_in(&a);
    static int   values[5000];

    for (int i = 0; i < 5000; i++)
        map_put(&m, key_of(i, &a), &values[i]);
    CHECK_INT(m.n, 5000);
    for (int i = 0; i < 5000; i++)
        CHECK(map_find(&m, key_of(i, &a)) == &values[i]);
    CHECK(!map_has(&m, key_of(5000, &a)));
    arena_free(&a);
}

static void items_stand_in_the_order_they_came(void)
{
    struct arena a = { 0 };
    struct map   m = map_in(&a);
    int          one, two;

    for (int i = 0; i < 100; i++)
        map_put(&m, key_of(i, &a), &one);
    map_put(&m, key_of(50, &a), &two); /* again: keeps its place */
    CHECK_INT(m.n, 100);
    for (int i = 0; i < 100; i++)
        CHECK_SV(m.items[i].key, key_of(i, &a));
    CHECK(map_find(&m, key_of(50, &a)) == &two);
    arena_free(&a);
}

static void keys_are_copied_and_may_hold_anything(void)
{
    struct arena a = { 0 };
    struct map   m = map_in(&a);
    char         text[] = "abc";
    int          one, two, three;

    map_put(&m, sv_of(text), &one);
    text[0] = 'x';
    CHECK(map_find(&m, SV("abc")) == &one);
    map_put(&m, SV("a\0b"), &two);
    map_put(&m, SV(""), &three);
    CHECK(map_find(&m, SV("a\0b")) == &two);
    CHECK(map_find(&m, SV("a")) == NULL);
    CHECK(map_find(&m, (struct sv){ 0 }) == &three);
    arena_free(&a);
}

static void a_null_value_is_there_and_reads_as_absent(void)
{
    struct arena a = { 0 };
    struct map   m = map_in(&a);

    map_put(&m, SV("gone"), NULL);
    CHECK(map_has(&m, SV("gone")));
    CHECK(map_find(&m, SV("gone")) == NULL);
    arena_free(&a);
}

TAP_MAIN(T(an_empty_map_has_nothing), T(what_was_put_is_found_among_many),
         T(items_stand_in_the_order_they_came), T(keys_are_copied_and_may_hold_anything),
         T(a_null_value_is_there_and_reads_as_absent), )
