/* The progress line of long work, on stderr of a terminal. */
#include "front/cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { FIRST_US = 1000000, EVERY_US = 100000 };

struct progress progress_of(const char *what, int64_t total)
{
    return (struct progress){ what, total, isatty(2) ? clock_steady_us() : 0, 0 };
}

void progress_at(struct progress *p, int64_t done)
{
    int64_t now = p->started ? clock_steady_us() : 0;

    if (!now || now - p->started < FIRST_US || now - p->shown < EVERY_US)
        return;
    p->shown = now;
    double per_second = (double)done / ((double)(now - p->started) / 1e6);
    if (p->total)
        fprintf(stderr, "\r%s: %lld of %lld (%.0f/s)\033[K", p->what, (long long)done,
                (long long)p->total, per_second);
    else
        fprintf(stderr, "\r%s: %lld (%.0f/s)\033[K", p->what, (long long)done, per_second);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
}
