/* A disk that takes its time: loaded with LD_PRELOAD, it makes each fsync() and fdatasync() wait
 * for SLOW_SYNC_US microseconds (4000) before it does what it does. */
#ifndef _GNU_SOURCE /* clang-tidy has it from the flags of other files */
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int (*sync_fn)(int fd);

static int sync_late(const char *name, int fd)
{
    const char     *us = getenv("SLOW_SYNC_US");
    long            n = us ? atol(us) : 4000;
    struct timespec t = { n / 1000000, n % 1000000 * 1000 };
    sync_fn         real;

    *(void **)&real = dlsym(RTLD_NEXT, name);
    nanosleep(&t, NULL);
    return real(fd);
}

int fsync(int fd)
{
    return sync_late("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_late("fdatasync", fd);
}
