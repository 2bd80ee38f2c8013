/* Loaded with LD_PRELOAD: threads start and end late, and so do locks and what is sent on sockets,
 * each by a random time. What depends on which thread comes first is then seen in a few runs.
 *
 *     DELAYS_SEED (1)       the times that are drawn follow from it
 *     DELAYS_THREAD_US      the most before the first and after the last step of a thread (30000)
 *     DELAYS_LOCK_US        the most before a mutex is taken, once in 64 times (2000)
 *     DELAYS_SEND_US        the most before something is sent on a socket, once in 4 times (5000)
 *     DELAYS_REPORT         a file: a program that ends with threads that nobody joined says so
 * there
 *
 * The end of the program takes longer than the end of any thread, so that one that was not joined
 * ends in between. What it still held is then found by LeakSanitizer, if the program has it.
 *
 * AddressSanitizer wants to be the first library: LD_PRELOAD="libasan.so delays_shim.so". Programs
 * that the program starts are not delayed: LD_PRELOAD is removed from the environment. */
#ifndef _GNU_SOURCE /* clang-tidy has it from the flags of other files */
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static uint64_t    seed, thread_us, lock_us, send_us;
static atomic_uint threads;    /* that have drawn a number */
static atomic_int  not_joined; /* of those that this process started */
static const char *report;

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_join)(pthread_t, void **);
static int (*real_timedjoin)(pthread_t, void **, const struct timespec *);
static int (*real_lock)(pthread_mutex_t *);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void find(void *into, const char *name)
{
    *(void **)into = dlsym(RTLD_NEXT, name);
    if (!*(void **)into)
        abort();
}

__attribute__((constructor)) static void begin(void)
{
    if (real_create)
        return;
    find(&real_join, "pthread_join");
    find(&real_timedjoin, "pthread_timedjoin_np");
    find(&real_lock, "pthread_mutex_lock");
    find(&real_send, "send");
    find(&real_sendmsg, "sendmsg");
    find(&real_write, "write");
    find(&real_writev, "writev");
    seed = setting("DELAYS_SEED", 1);
    thread_us = setting("DELAYS_THREAD_US", 30000);
    lock_us = setting("DELAYS_LOCK_US", 2000);
    send_us = setting("DELAYS_SEND_US", 5000);
    report = getenv("DELAYS_REPORT");
    find(&real_create, "pthread_create");
    unsetenv("LD_PRELOAD");
}

/* Each thread draws from a sequence of its own (splitmix64). */
static uint64_t draw(void)
{
    static _Thread_local uint64_t state;

    if (!state)
        state = (seed << 20) + atomic_fetch_add(&threads, 1) * 0x2545f4914f6cdd1dU + 1;
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static void delay(uint64_t most_us)
{
    int             error = errno;
    uint64_t        us = most_us ? draw() % most_us : 0;
    struct timespec left = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

    nanosleep(&left, NULL);
    errno = error;
}

static void end_late(void)
{
    char line[64];
    int  n = atomic_load(&not_joined);

    usleep((useconds_t)(2 * thread_us));
    if (!n || !report)
        return;
    int fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    n = snprintf(line, sizeof line, "process %d ended: threads not joined: %d\n", getpid(), n);
    if (fd < 0 || real_write(fd, line, (size_t)n) != n)
        abort();
}

/* A child has none of the threads of its parent. */
static void begin_child(void)
{
    atomic_store(&not_joined, 0);
}

/* Once the program starts a thread: the libraries that were loaded then end after this, those that
 * are loaded later before it. */
static void watch_end(void)
{
    if (atexit(end_late) || pthread_atfork(NULL, NULL, begin_child))
        abort();
}

struct delayed {
    void *(*run)(void *);
    void *ctx;
};

static void *run_delayed(void *ctx)
{
    struct delayed d = *(struct delayed *)ctx;

    free(ctx);
    delay(thread_us);
    void *result = d.run(d.ctx);
    delay(thread_us);
    return result;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *ctx)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    begin();
    pthread_once(&once, watch_end);
    struct delayed *d = malloc(sizeof *d);
    if (!d)
        return EAGAIN;
    *d = (struct delayed){ run, ctx };
    atomic_fetch_add(&not_joined, 1);
    int rc = real_create(id, attr, run_delayed, d);
    if (rc) {
        free(d);
        atomic_fetch_sub(&not_joined, 1);
    }
    return rc;
}

int pthread_join(pthread_t id, void **result)
{
    begin();
    int rc = real_join(id, result);
    if (!rc)
        atomic_fetch_sub(&not_joined, 1);
    return rc;
}

int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until)
{
    begin();
    int rc = real_timedjoin(id, result, until);
    if (!rc)
        atomic_fetch_sub(&not_joined, 1);
    return rc;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    begin();
    if (draw() % 64 == 0)
        delay(lock_us);
    return real_lock(m);
}

static void delay_sending(int fd)
{
    int       type, error = errno;
    socklen_t n = sizeof type;

    begin();
    if (draw() % 4 == 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0)
        delay(send_us);
    errno = error;
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    delay_sending(fd);
    return real_send(fd, bytes, n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    delay_sending(fd);
    return real_sendmsg(fd, message, flags);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    delay_sending(fd);
    return real_write(fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    delay_sending(fd);
    return real_writev(fd, parts, n);
}
