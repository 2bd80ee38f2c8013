/* Which variables a child does not get. One table for every program that is started anywhere. */
#include "base/env.h"

#include "base/sb.h"

#include <string.h>

/* Secrets that heddle itself uses: no child gets them. The key of each search service has a row
 * here; a test compares the two tables. */
static const char *const ours[] = { "HEDDLE_CHECKPOINT_KEYS", "TAVILY_API_KEY", "BRAVE_API_KEY" };

/* Names that secrets usually have, and the address of a database, which may hold a password. */
static const char *const endings[] = { "_KEY",      "_KEYS",       "_TOKEN",       "_SECRET",
                                       "_PASSWORD", "_PASSPHRASE", "_CREDENTIALS", "_PASSWD" };
static const char *const others[] = { "HEDDLE_STORE", "DATABASE_URL", "PGPASSWORD" };

static bool is_one_of(struct sv name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_is(name, list[i]))
            return true;
    return false;
}

bool env_is_kept_back(enum env_child who, const char *variable)
{
    struct sv name = sv_of(variable);

    if (is_one_of(name, ours, COUNT(ours)))
        return true;
    if (who == ENV_AGENT)
        return false;
    for (size_t i = 0; i < COUNT(endings); i++)
        if (sv_ends(name, sv_of(endings[i])))
            return true;
    return is_one_of(name, others, COUNT(others));
}

struct sv env_find(char *const *variables, const char *name)
{
    size_t n = strlen(name);

    for (; variables && *variables; variables++)
        if (strncmp(*variables, name, n) == 0 && (*variables)[n] == '=')
            return sv_of(*variables + n + 1);
    return (struct sv){ 0 };
}

char **env_for(enum env_child who, char *const *variables, struct arena *a)
{
    size_t n = 0, kept = 0;

    while (variables && variables[n])
        n++;
    char **out = ARENA_NEW(a, char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = sv_cstr(sv_cut(sv_of(variables[i]), '=').head, a);
        if (!env_is_kept_back(who, name))
            out[kept++] = variables[i];
    }
    out[kept] = NULL;
    return out;
}

char **env_with(char **list, const char *name, struct sv value, struct arena *a)
{
    size_t    n = 0, at = 0;
    struct sb b = sb_in(a, 0);

    while (list[n])
        n++;
    while (at < n && !sv_is(sv_cut(sv_of(list[at]), '=').head, name))
        at++;
    char **out = ARENA_NEW(a, char *, n + 2);
    memcpy(out, list, n * sizeof *out);
    sb_adds(&b, name);
    sb_addc(&b, '=');
    sb_add(&b, value);
    out[at] = (char *)(uintptr_t)sb_sv(&b).s;
    return out;
}
