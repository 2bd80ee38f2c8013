/* Two commands in turns, so that a busy machine disturbs both: what each costs from exec to exit.
 *
 *     bench_beside RUNS FILE COMMAND [WORDS] -- COMMAND [WORDS]
 *
 * Prints a line for each: median ms, 99th percentile ms, least ms. Both read FILE as standard
 * input; the output is thrown away; a run that fails ends the measurement. */
#include "base/clock.h"

#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { RUNS_MAX = 10000 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double run_once(char **argv, const posix_spawn_file_actions_t *quiet)
{
    pid_t   child;
    int     status;
    int64_t from = clock_steady_us();

    if (posix_spawnp(&child, argv[0], quiet, NULL, argv, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        errx(1, "%s failed", argv[0]);
    return (double)(clock_steady_us() - from) / 1000;
}

static void print(double *took, int runs)
{
    qsort(took, (size_t)runs, sizeof *took, by_size);
    printf("%.3f %.3f %.3f\n", took[runs / 2], took[(runs * 99 - 1) / 100], took[0]);
}

int main(int argc, char **argv)
{
    static double              first[RUNS_MAX], second[RUNS_MAX];
    posix_spawn_file_actions_t quiet;
    int                        runs = argc > 5 ? atoi(argv[1]) : 0, other = 3;

    while (other < argc && strcmp(argv[other], "--") != 0)
        other++;
    if (runs < 1 || runs > RUNS_MAX || other + 1 >= argc)
        errx(2, "usage: bench_beside RUNS FILE COMMAND [WORDS] -- COMMAND [WORDS]");
    argv[other] = NULL;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 0, argv[2], O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < runs; i++) {
        first[i] = run_once(argv + 3, &quiet);
        second[i] = run_once(argv + other + 1, &quiet);
    }
    print(first, runs);
    print(second, runs);
    return 0;
}
