/* A vocabulary table that is missing, damaged or of another kind is told, never used. */
#include "base/fs.h"
#include "tap.h"
#include "tokens/counter.h"

#include <err.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct vocab *real;
static uint8_t      *copy; /* of the real table, writable */

static void setup(void)
{
    struct err e;

    if (vocab_open(TOKENS_O200K, (struct sv){ 0 }, &real, &e))
        errx(1, "%s", e.text);
    copy = aligned_alloc(4096, (real->map_size + 4095) / 4096 * 4096);
    if (!copy)
        errx(1, "out of memory");
    memcpy(copy, real->map, real->map_size);
    CHECK(copy != NULL);
}

static struct table_head *head(void)
{
    return (struct table_head *)copy;
}

/* After a change of the head: its sum is right again. */
static void seal(void)
{
    head()->sum = table_sum(head(), offsetof(struct table_head, sum));
}

static void restore(void)
{
    memcpy(copy, real->map, sizeof *head());
}

static enum status read_copy(size_t size, struct err *e)
{
    struct vocab v;

    *e = (struct err){ 0 };
    return vocab_read(&v, TOKENS_O200K, copy, size, "o200k_base.tok", e);
}

static void a_whole_table_is_read(void)
{
    struct err e;

    CHECK(read_copy(real->map_size, &e) == ST_OK);
}

static void a_changed_byte_anywhere_is_found(void)
{
    for (int s = 0; s < SECTION_TEXTS; s++) {
        const struct table_section *at = &head()->sections[s];
        const uint64_t              places[] = { 0, at->size / 2, at->size - 1 };
        for (size_t i = 0; i < COUNT(places); i++) {
            struct err e;
            copy[at->offset + places[i]] ^= 0x10;
            CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
            CHECK(strstr(e.text, "o200k_base.tok") && e.hint[0]);
            copy[at->offset + places[i]] ^= 0x10;
        }
    }
    for (size_t i = 0; i < sizeof *head(); i++) {
        struct err e;
        copy[i] ^= 1;
        CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
        copy[i] ^= 1;
    }
}

static void swapped_words_are_found(void)
{
    uint64_t  *pairs = (void *)(copy + head()->sections[SECTION_PAIRS].offset), a, b;
    struct err e;

    a = pairs[0], b = pairs[800];
    pairs[0] = b ^ (a == b), pairs[800] = a;
    CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
    pairs[0] = a, pairs[800] = b;
    CHECK(read_copy(real->map_size, &e) == ST_OK);
}

static void a_cut_table_is_found(void)
{
    const size_t sizes[] = { 1, 100, sizeof *head() - 1, sizeof *head(), 4096 };
    struct err   e;

    for (size_t i = 0; i < COUNT(sizes); i++)
        CHECK(read_copy(sizes[i], &e) == ST_CORRUPT);
    CHECK(read_copy(real->map_size - 64, &e) == ST_CORRUPT);
}

static void heads_that_lie_are_refused(void)
{
    struct err e;

    head()->version++, seal();
    CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
    CHECK(strstr(e.text, "version") != NULL);
    restore();
    head()->encoding = TOKENS_CL100K, seal();
    CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
    restore();
    head()->order = 0x04030201, seal();
    CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
    restore();
    for (int s = 0; s < SECTION_COUNT; s++) {
        head()->sections[s].offset = real->map_size & ~(size_t)63, seal();
        CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
        restore();
        head()->sections[s].size = UINT64_MAX - 64, seal();
        CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
        restore();
        head()->sections[s].size = 0, seal();
        CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
        restore();
    }
    head()->n_tokens = UINT32_MAX, seal();
    CHECK(read_copy(real->map_size, &e) == ST_CORRUPT);
    restore();
}

static void damaged_texts_are_found_when_they_are_asked_for(void)
{
    struct vocab v;
    struct sv    text;
    struct err   e;
    size_t       at = head()->sections[SECTION_TEXTS].offset + 5000;

    copy[at] ^= 1;
    CHECK(vocab_read(&v, TOKENS_O200K, copy, real->map_size, "x", &e) == ST_OK);
    CHECK(vocab_text(&v, 1, &text, &e) == ST_CORRUPT);
    copy[at] ^= 1;
    CHECK(vocab_text(real, 0, &text, &e) == ST_OK);
    CHECK_SV(text, SV("!"));
    CHECK(vocab_text(real, real->n_tokens, &text, &e) == ST_OK && !text.s);
    CHECK(vocab_text(real, UINT32_MAX, &text, &e) == ST_OK && !text.s);
}

/* ---- files ---- */

static void put_file(const char *dir, size_t n)
{
    char  path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/o200k_base.tok", dir);
    f = fopen(path, "wb");
    CHECK(f && fwrite(copy, 1, n, f) == n && fclose(f) == 0);
}

static void the_directory_that_is_named_is_the_only_one(void)
{
    char           dir[] = "/tmp/heddle-vocab-XXXXXX", path[512];
    struct tokens *t = NULL;
    struct err     e;

    CHECK(mkdtemp(dir) != NULL);
    struct sv named = sv_of(dir);
    CHECK(tokens_open(TOKENS_O200K, named, &t, &e) == ST_NOT_FOUND);
    CHECK(strstr(e.text, dir) && strstr(e.hint, "HEDDLE_VOCAB_DIR"));
    CHECK(tokens_open_or_estimate(TOKENS_O200K, named, &t, &e) == ST_NOT_FOUND);
    put_file(dir, 10);
    CHECK(tokens_open_or_estimate(TOKENS_O200K, named, &t, &e) == ST_CORRUPT);
    put_file(dir, 100000);
    CHECK(tokens_open(TOKENS_O200K, named, &t, &e) == ST_CORRUPT);
    put_file(dir, head()->size);
    CHECK(tokens_open(TOKENS_O200K, named, &t, &e) == ST_OK);
    CHECK_INT(tokens_count(t, SV("hello world")), 2);
    tokens_close(t);
    snprintf(path, sizeof path, "%s/o200k_base.tok", dir);
    unlink(path);
    CHECK(mkdir(path, 0777) == 0); /* a folder of that name */
    CHECK(tokens_open(TOKENS_O200K, named, &t, &e) != ST_OK);
    rmdir(path);
    rmdir(dir);
    vocab_close(real);
    CHECK(tokens_open(TOKENS_O200K, (struct sv){ 0 }, &t, &e) == ST_OK);
    tokens_close(t);
    free(copy);
}

TAP_MAIN(T(setup), T(a_whole_table_is_read), T(a_changed_byte_anywhere_is_found),
         T(swapped_words_are_found), T(a_cut_table_is_found), T(heads_that_lie_are_refused),
         T(damaged_texts_are_found_when_they_are_asked_for),
         T(the_directory_that_is_named_is_the_only_one), )
