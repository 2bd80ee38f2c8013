/* A process that holds keys is closed to core files and to its neighbours. */
#include "base/process.h"

#include "base/sv.h"

#include <sys/prctl.h>
#include <sys/resource.h>

extern char **environ;

void process_hide(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        (void)setrlimit(RLIMIT_CORE, &limit);
    }
    /* Where cores are piped to a program the limit does not count; this does. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool process_has_keys(void)
{
    static const char *const endings[] = { "_KEY", "_KEYS", "_TOKEN", "_SECRET", "_PASSWORD" };

    for (char **v = environ; v && *v; v++) {
        struct sv_cut c = sv_cut(sv_of(*v), '=');
        for (size_t i = 0; c.tail.n && i < COUNT(endings); i++)
            if (sv_ends(c.head, sv_of(endings[i])))
                return true;
    }
    return false;
}
