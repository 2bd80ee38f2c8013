/* Token counting, measured and digested. Documents come framed: four bytes of length,
 * little-endian, then the bytes.
 *
 *   bench_tokens digest ENCODING < DOCS     a line "count hash-of-ids" for every document
 *   bench_tokens speed ENCODING DOCS        first pass and further passes over all documents
 *   bench_tokens open ENCODING              milliseconds until a counter is ready
 *
 * Time is processor time of this process: other programs on the machine disturb it least. The first
 * pass is the first work of the process, with every cache of ours empty. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/vec.h"
#include "tokens/tokens.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef VEC(struct sv) docs;

static void check(enum status s, const struct err *e)
{
    if (s)
        errx(1, "%s", e->text);
}

static docs docs_of(struct sv text, struct arena *a)
{
    docs list = { 0 };

    while (text.n >= 4) {
        const uint8_t *p = (const uint8_t *)text.s;
        size_t         n = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
        *vec_push(&list, a) = sv_first(sv_skip(text, 4), n);
        text = sv_skip(text, 4 + n);
    }
    return list;
}

static double cpu_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void digest(struct tokens *t, const docs *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct arena      a = { 0 };
        struct tokens_ids ids;
        struct err        e;
        uint32_t          hash = 2166136261u;

        check(tokens_encode(t, list->v[i], &a, &ids, &e), &e);
        for (size_t k = 0; k < ids.n; k++)
            hash = (hash ^ ids.v[k]) * 16777619u;
        size_t count = tokens_count(t, list->v[i]);
        if (count != ids.n)
            errx(1, "document %zu: counted %zu, encoded %zu", i, count, ids.n);
        printf("%zu %u\n", count, hash);
        arena_free(&a);
    }
}

static size_t pass(struct tokens *t, const docs *list)
{
    size_t total = 0;

    for (size_t i = 0; i < list->n; i++)
        total += tokens_count(t, list->v[i]);
    return total;
}

/* "bytes tokens first-pass-seconds best-further-pass-seconds" */
static void speed(struct tokens *t, const docs *list)
{
    size_t bytes = 0;
    double best = 1e9, first;

    for (size_t i = 0; i < list->n; i++) {
        bytes += list->v[i].n;
        for (size_t k = 0; k < list->v[i].n; k += 4096) /* the text itself is in memory */
            (void)*(volatile const char *)(list->v[i].s + k);
    }
    double start = cpu_seconds();
    size_t total = pass(t, list);
    first = cpu_seconds() - start;
    for (int i = 0; i < 12 && (i < 3 || best * i < 1.0); i++) {
        start = cpu_seconds();
        pass(t, list);
        double took = cpu_seconds() - start;
        best = took < best ? took : best;
    }
    printf("%zu %zu %.6f %.6f\n", bytes, total, first, best);
}

/* Wall time: mapping waits, too. */
static void measure_open(enum tokens_encoding enc)
{
    int64_t        from = clock_steady_us();
    struct tokens *t;
    struct err     e;

    check(tokens_open(enc, (struct sv){ 0 }, &t, &e), &e);
    printf("%.3f\n", (double)(clock_steady_us() - from) / 1000);
    tokens_close(t);
}

int main(int argc, char **argv)
{
    struct arena         a = { 0 };
    struct err           e;
    enum tokens_encoding enc;
    struct tokens       *t;
    struct sv            text;

    if (argc < 3 || argc > 4 || !tokens_encoding_find(sv_of(argv[2]), &enc)) {
        fputs("usage: bench_tokens digest|speed|open o200k_base|cl100k_base [DOCS]\n", stderr);
        return 2;
    }
    if (sv_is(sv_of(argv[1]), "open")) {
        measure_open(enc);
        return 0;
    }
    UNDO(fd_undo) int fd = argc == 4 ? open(argv[3], O_RDONLY | O_CLOEXEC) : 0;
    check(fs_read_fd(fd, 0, &a, &text, &e), &e);
    docs list = docs_of(text, &a);
    check(tokens_open(enc, (struct sv){ 0 }, &t, &e), &e);
    if (sv_is(sv_of(argv[1]), "digest"))
        digest(t, &list);
    else
        speed(t, &list);
    tokens_close(t);
    arena_free(&a);
    return 0;
}
