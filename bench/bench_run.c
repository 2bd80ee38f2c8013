/* What a command costs from exec to exit.
 *
 *     bench_run [-i FILE] N COMMAND [WORDS]      prints: median ms, least ms, most resident KB
 *
 * Each run reads FILE from its beginning as standard input. The output is thrown away; a run that
 * fails ends the measurement. */
#include "base/clock.h"
#include "base/status.h"

#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double run_once(char **argv, const posix_spawn_file_actions_t *quiet, long *resident_kb)
{
    struct rusage u;
    pid_t         child;
    int           status;
    int64_t       from = clock_steady_us();

    if (posix_spawnp(&child, argv[0], quiet, NULL, argv, environ) != 0 ||
        wait4(child, &status, 0, &u) != child || status != 0)
        errx(1, "bench_run: %s failed", argv[0]);
    if (u.ru_maxrss > *resident_kb)
        *resident_kb = u.ru_maxrss;
    return (double)(clock_steady_us() - from) / 1000;
}

int main(int argc, char **argv)
{
    const char                *input = argc > 3 && strcmp(argv[1], "-i") == 0 ? argv[2] : NULL;
    char                     **words = argv + (input ? 3 : 1);
    int                        n = words[0] && words[1] ? atoi(words[0]) : 0;
    posix_spawn_file_actions_t quiet;
    long                       resident_kb = 0;

    if (n < 1)
        errx(1, "usage: bench_run [-i FILE] N COMMAND [WORDS]");
    double *took = calloc((size_t)n, sizeof *took);
    if (!took)
        errx(1, "out of memory");
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    if (input)
        posix_spawn_file_actions_addopen(&quiet, 0, input, O_RDONLY, 0);
    for (int i = 0; i < n; i++)
        took[i] = run_once(words + 1, &quiet, &resident_kb);
    qsort(took, (size_t)n, sizeof *took, by_size);
    printf("%.3f %.3f %ld\n", took[n / 2], took[0], resident_kb);
    free(took);
    return 0;
}
