#include "base/rand.h"

#include "tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a fresh process with this seed draws first; the state is made once per process. */
static void first_draw(const char *seed, const char *salt, char out[17])
{
    int  pipe_ends[2];
    char buffer[17] = "";

    if (pipe(pipe_ends) != 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct arena a = { 0 };
        if (seed)
            rand_seed(sv_of(seed));
        if (salt)
            rand_mix(sv_of(salt));
        struct sv id = rand_id("", 16, &a);
        ssize_t   n = write(pipe_ends[1], id.s, id.n);
        _exit(n == 16 ? 0 : 1);
    }
    close(pipe_ends[1]);
    ssize_t n = read(pipe_ends[0], buffer, 16);
    close(pipe_ends[0]);
    waitpid(child, NULL, 0);
    CHECK_INT(n, 16);
    memcpy(out, buffer, 17);
}

static void a_seed_makes_every_draw_repeatable(void)
{
    char one[17], two[17], other[17];

    first_draw("seed", NULL, one);
    first_draw("seed", NULL, two);
    first_draw("seed2", NULL, other);
    CHECK(strcmp(one, two) == 0);
    CHECK(strcmp(one, other) != 0);
}

static void salt_changes_seeded_draws(void)
{
    char plain[17], salted[17], again[17];

    first_draw("seed", NULL, plain);
    first_draw("seed", "rev 7", salted);
    first_draw("seed", "rev 7", again);
    CHECK(strcmp(plain, salted) != 0);
    CHECK(strcmp(salted, again) == 0);
}

static void without_a_seed_no_two_processes_draw_the_same(void)
{
    char one[17], two[17];

    first_draw(NULL, NULL, one);
    first_draw(NULL, "salt", two);
    CHECK(strcmp(one, two) != 0);
    first_draw("", NULL, one); /* an empty seed is none */
    first_draw("", NULL, two);
    CHECK(strcmp(one, two) != 0);
}

static void ids_have_their_prefix_length_and_alphabet(void)
{
    struct arena a = { 0 };

    for (size_t chars = 0; chars < 40; chars++) {
        struct sv id = rand_id("msg_", chars, &a);
        CHECK_INT(id.n, 4 + chars);
        CHECK(sv_starts(id, SV("msg_")));
        for (size_t i = 4; i < id.n; i++)
            CHECK(strchr("0123456789abcdefghjkmnpqrstvwxyz", id.s[i]) != NULL);
        CHECK_INT(id.s[id.n], 0);
    }
    struct sv hex = rand_hex_id("thread_", &a);
    CHECK_INT(hex.n, 15);
    for (size_t i = 7; i < hex.n; i++)
        CHECK(strchr("0123456789abcdef", hex.s[i]) != NULL);
    arena_free(&a);
}

static void every_character_of_the_alphabet_comes_up(void)
{
    struct arena a = { 0 };
    struct sv    id = rand_id("", 4096, &a);
    int          seen[256] = { 0 }, distinct = 0;

    for (size_t i = 0; i < id.n; i++)
        distinct += seen[(unsigned char)id.s[i]]++ == 0;
    CHECK_INT(distinct, 32);
    arena_free(&a);
}

TAP_MAIN(T(a_seed_makes_every_draw_repeatable), T(salt_changes_seeded_draws),
         T(without_a_seed_no_two_processes_draw_the_same),
         T(ids_have_their_prefix_length_and_alphabet),
         T(every_character_of_the_alphabet_comes_up), )
