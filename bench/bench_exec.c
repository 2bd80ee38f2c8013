/* Runs a command several times and prints the least and the middle time from fork to its end, the
 * middle processor time (which a busy machine changes less), and the most memory it had resident:
 *
 *     bench_exec RUNS NAME LIMIT_MS COMMAND...
 *
 * A limit of 0 is none. The output of the command is thrown away; a command that fails is named. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 1000 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double ms_of(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* The time of one run in ms, its processor time, and its memory in kB. */
static double run_once(char **command, double *cpu, long *resident)
{
    struct rusage use;
    int           status;
    double        from = now_ms();
    pid_t         child = fork();

    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &use) < 0) {
        perror("bench_exec");
        exit(1);
    }
    double took = now_ms() - from;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "failed: %s %s\n", command[0], command[1] ? command[1] : "");
        exit(1);
    }
    *cpu = ms_of(use.ru_utime) + ms_of(use.ru_stime);
    if (use.ru_maxrss > *resident)
        *resident = use.ru_maxrss;
    return took;
}

int main(int argc, char **argv)
{
    double took[RUNS_MAX], cpu[RUNS_MAX];
    int    runs = argc > 4 ? atoi(argv[1]) : 0;
    long   resident = 0;

    if (runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: bench_exec RUNS NAME LIMIT_MS COMMAND...\n");
        return 2;
    }
    for (int i = 0; i < runs; i++)
        took[i] = run_once(argv + 4, &cpu[i], &resident);
    qsort(took, (size_t)runs, sizeof *took, by_time);
    qsort(cpu, (size_t)runs, sizeof *cpu, by_time);
    double limit = atof(argv[3]), middle = took[runs / 2];
    printf("  %-42s %9.1f %9.1f %9.1f %6ld MB", argv[2], took[0], middle, cpu[runs / 2],
           (resident + 512) / 1024);
    if (limit > 0)
        printf("  < %.0f ms, < 60 MB: %s", limit,
               middle < limit && resident < 60 * 1024 ? "yes" : "NO");
    putchar('\n');
    return 0;
}
