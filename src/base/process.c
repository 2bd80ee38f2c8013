/* Limits of this process: no core files with keys in them, and as many open files as it needs. */
#include "base/process.h"

#include "base/sv.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

void process_hide(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &limit);
    }
    /* The limit has no effect where the kernel pipes core files to a program; this call has. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool process_has_keys(char *const *variables)
{
    static const char *const endings[] = { "_KEY", "_KEYS", "_TOKEN", "_SECRET", "_PASSWORD" };

    for (char *const *v = variables; v && *v; v++) {
        struct sv_cut c = sv_cut(sv_of(*v), '=');
        for (size_t i = 0; c.tail.n && i < COUNT(endings); i++)
            if (sv_ends(c.head, sv_of(endings[i])))
                return true;
    }
    return false;
}

unsigned process_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < 1 ? 1 : (unsigned)CPU_COUNT(&set);
}

int64_t process_allow_files(int64_t n)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < (rlim_t)n) {
        limit.rlim_cur = limit.rlim_max < (rlim_t)n ? limit.rlim_max : (rlim_t)n;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur > (rlim_t)INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}
