/* What a command costs from exec to exit.
 *
 *     bench_run N COMMAND [WORDS]      prints: median ms, least ms, most resident KB
 *
 * Its output is thrown away; a run that fails ends the measurement. */
#include "base/clock.h"
#include "base/status.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
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
        die("bench_run: %s failed", argv[0]);
    if (u.ru_maxrss > *resident_kb)
        *resident_kb = u.ru_maxrss;
    return (double)(clock_steady_us() - from) / 1000;
}

int main(int argc, char **argv)
{
    int                        n = argc > 2 ? atoi(argv[1]) : 0;
    posix_spawn_file_actions_t quiet;
    long                       resident_kb = 0;

    if (n < 1)
        die("usage: bench_run N COMMAND [WORDS]");
    double *took = calloc((size_t)n, sizeof *took);
    if (!took)
        die("out of memory");
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < n; i++)
        took[i] = run_once(argv + 2, &quiet, &resident_kb);
    qsort(took, (size_t)n, sizeof *took, by_size);
    printf("%.3f %.3f %ld\n", took[n / 2], took[0], resident_kb);
    free(took);
    return 0;
}
