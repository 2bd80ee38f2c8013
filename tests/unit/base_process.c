/* What a process that holds keys leaves behind when it crashes: nothing. */
#include "base/process.h"

#include "api/run/keys.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own, since it cannot be undone. */
static int in_child(int (*run)(void))
{
    int   status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(run());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_closed(void)
{
    struct rlimit limit;

    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && getrlimit(RLIMIT_CORE, &limit) == 0 &&
           limit.rlim_cur == 0;
}

static int keep(void)
{
    struct rlimit before, after;

    getrlimit(RLIMIT_CORE, &before);
    process_hide();
    process_hide();
    getrlimit(RLIMIT_CORE, &after);
    return is_closed() && after.rlim_max == before.rlim_max ? 0 : 1;
}

static int load_keys(void)
{
    struct arena           a = { 0 };
    char                   variable[] = KEYS_ENV "=k1:long-enough-to-count";
    char                  *variables[] = { variable, NULL };
    struct workspace       ws = { .root_fd = -1, .variables = variables };
    struct request         r = { .a = &a, .ws = &ws };
    struct checkpoint_keys keys;
    struct err             e;

    return keys_for_verifying(&r, &keys, &e) == ST_OK && keys.n == 1 && is_closed() ? 0 : 1;
}

static int look_around(void)
{
    clearenv();
    setenv("PATH", "/bin", 1);
    setenv("EMPTY_API_KEY", "", 1);
    setenv("KEYBOARD", "us", 1);
    if (process_has_keys(environ))
        return 1;
    setenv("ANTHROPIC_API_KEY", "x", 1);
    return process_has_keys(environ) ? 0 : 2;
}

static void a_process_is_closed_and_programs_may_open_themselves(void)
{
    CHECK_INT(in_child(keep), 0);
}

static void loading_a_key_closes_the_process(void)
{
    CHECK_INT(in_child(load_keys), 0);
}

static void keys_in_the_environment_are_known_by_their_names(void)
{
    CHECK_INT(in_child(look_around), 0);
}

static void short_secrets_are_refused(void)
{
    struct arena           a = { 0 };
    struct checkpoint_keys keys;
    struct err             e;

    CHECK_INT(keys_parse(SV("k:0123456789abcde"), &a, &keys, &e), ST_INVALID_SYNTAX);
    CHECK(strstr(e.text, "0123456789") == NULL); /* never named */
    CHECK_INT(keys_parse(SV("k:0123456789abcdef"), &a, &keys, &e), ST_OK);
    CHECK_INT(keys_parse(SV("k:               x"), &a, &keys, &e), ST_INVALID_SYNTAX);
    arena_free(&a);
}

TAP_MAIN(T(a_process_is_closed_and_programs_may_open_themselves),
         T(loading_a_key_closes_the_process), T(keys_in_the_environment_are_known_by_their_names),
         T(short_secrets_are_refused), )
