/* Bytes drive a random sequence of appends and operations on a store in memory; at random points
 * and at the end, every lane is projected and compared with the plain reference, and the log is
 * verified. */
#include "naive.h"
#include "store/store.h"
#include "thread/project.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 24 };
static const struct view *const views[] = { &thread_view, NULL };

static void compare(struct log *l, struct sv thread, struct dice *d, struct arena *a)
{
    struct naive_log n = { .a = a };
    struct err       e;

    if (naive_load(&n, l->store, thread, &e))
        abort();
    if (!n.entries.n)
        return;
    for (size_t k = 0; k < COUNT(naive_lanes); k++) {
        int64_t upto =
            roll(d, 2) ? (int64_t)n.entries.n - 1 : (int64_t)roll(d, (uint32_t)n.entries.n);
        struct projection_of of = { thread, sv_of(naive_lanes[k]), upto, SV("CP") };
        struct projection    p;
        struct sb            b = sb_in(a, 0);
        if (project_start(l, &of, a, &p, &e) || project_write(&p, &b, &e) ||
            !sv_eq(sb_sv(&b), naive_project(&n, thread, of.lane, upto, SV("CP"))))
            abort();
    }
}

static void on_finding(void *ctx, struct sv finding)
{
    (void)ctx;
    (void)finding;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena  a = { 0 };
    struct err    e;
    struct store *s;
    struct dice   d = { .bytes = data, .n = size };
    struct sv     thread = SV("t");
    int64_t       entries;

    if (store_open(SV("mem:"), &(struct store_options){ .create = true }, &s, &e))
        abort();
    struct log l = log_of(s, views);
    if (log_begin(&l, thread, STORE_WRITE, &e))
        abort();
    for (int i = 0; i < STEPS_MAX && d.at < d.n; i++) {
        if (random_step(&l, thread, &d, i, &a, &e))
            abort();
        if (roll(&d, 8) == 0)
            compare(&l, thread, &d, &a);
    }
    compare(&l, thread, &d, &a);
    if (log_commit(&l, &e))
        abort();
    struct store_head h;
    if (store_head(s, thread, &h, &e) ||
        (h.rev && log_verify(&l, thread, on_finding, NULL, &entries, &e)))
        abort();
    store_close(s);
    arena_free(&a);
    return 0;
}
