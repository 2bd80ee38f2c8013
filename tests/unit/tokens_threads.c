/* One counter for each thread, one vocabulary for all of them. */
#include "tap.h"
#include "tokens_text.h"

#include <err.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12 };

struct job {
    uint64_t seed;
    size_t   total;
};

/* Opens and closes all the time, so that the last user's unmapping meets the next one's mapping. */
static void *count(void *arg)
{
    struct job *job = arg;
    struct rng  r = { job->seed };

    for (int i = 0; i < ROUNDS; i++) {
        struct arena      a = { 0 };
        struct tokens    *t = tokens_of(i % 2 ? TOKENS_CL100K : TOKENS_O200K);
        struct sv         text = text_random(&r, 2000, i % 3 == 0, &a), part;
        struct tokens_ids ids;
        struct err        e;
        job->total += tokens_count(t, text);
        if (tokens_encode(t, text, &a, &ids, &e) || tokens_text(t, ids.v[0], &part, &e))
            errx(1, "%s", e.text);
        job->total += ids.n + part.n;
        tokens_close(t);
        arena_free(&a);
    }
    return NULL;
}

static void threads_count_what_one_alone_counts(void)
{
    struct job alone = { .seed = 77 }, jobs[THREADS];
    pthread_t  threads[THREADS];

    count(&alone);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){ .seed = 77 };
        CHECK(pthread_create(&threads[i], NULL, count, &jobs[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(jobs[i].total, alone.total);
    }
}

TAP_MAIN(T(threads_count_what_one_alone_counts), )
