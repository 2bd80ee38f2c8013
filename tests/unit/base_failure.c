/* Code below the doors ends a process in one way only, and whoever runs it says how. */
#include "base/failure.h"

#include "base/arena.h"
#include "tap.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static jmp_buf back;
static char    said[128];

static void keep_and_leave(const char *what)
{
    snprintf(said, sizeof said, "%s", what);
    longjmp(back, 1);
}

static void leave_nothing(const char *what)
{
    (void)what;
}

/* What the handler was told while `f` ran. */
static struct sv told_by(void (*f)(void))
{
    said[0] = 0;
    failure_handle(keep_and_leave);
    if (setjmp(back) == 0)
        f();
    failure_handle(NULL);
    return sv_of(said);
}

static void some_bytes(void)
{
    failure_memory(4711);
}

static void unknown_bytes(void)
{
    failure_memory(SIZE_MAX);
}

static void no_sodium(void)
{
    failure_system("libsodium does not start");
}

static void huge_array(void)
{
    struct arena a = { 0 };

    arena_alloc(&a, SIZE_MAX / 2, 4, 1);
}

static void the_handler_is_told_what_failed(void)
{
    CHECK_SV(told_by(some_bytes), SV("out of memory (4711 bytes)"));
    CHECK_SV(told_by(unknown_bytes), SV("out of memory"));
    CHECK_SV(told_by(no_sodium), SV("libsodium does not start"));
}

static void an_arena_reports_sizes_that_cannot_be(void)
{
    CHECK_SV(told_by(huge_array), SV("out of memory"));
}

/* How a child ends whose memory fails with this handler: the signal, or 0. */
static int signal_of_failure(failure_handler *handler)
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        failure_handle(handler);
        failure_memory(1);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void without_a_handler_the_process_aborts(void)
{
    CHECK_INT(signal_of_failure(NULL), SIGABRT);
}

static void a_handler_that_returns_does_not_let_the_process_go_on(void)
{
    CHECK_INT(signal_of_failure(leave_nothing), SIGABRT);
}

TAP_MAIN(T(the_handler_is_told_what_failed), T(an_arena_reports_sizes_that_cannot_be),
         T(without_a_handler_the_process_aborts),
         T(a_handler_that_returns_does_not_let_the_process_go_on), )
