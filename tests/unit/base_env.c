/* What programs that we start do not get. */
#include "base/env.h"

#include "base/sv.h"
#include "search/search.h"
#include "tap.h"

#include <stdlib.h>

static bool holds(char **list, const char *variable)
{
    for (; *list; list++)
        if (sv_is(sv_of(*list), variable))
            return true;
    return false;
}

static void every_search_key_is_kept_back(void)
{
    static const char *const keys[] = {
#define X(id, name, url, key, ...) key,
        SEARCH_TABLE(X)
#undef X
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        CHECK(!keys[i] ||
              (env_is_kept_back(ENV_AGENT, keys[i]) && env_is_kept_back(ENV_TOOL, keys[i])));
    CHECK(env_is_kept_back(ENV_AGENT, "HEDDLE_CHECKPOINT_KEYS"));
}

static void a_tool_gets_nothing_that_looks_like_a_secret(void)
{
    CHECK(env_is_kept_back(ENV_TOOL, "ANTHROPIC_API_KEY"));
    CHECK(env_is_kept_back(ENV_TOOL, "GH_TOKEN"));
    CHECK(env_is_kept_back(ENV_TOOL, "HEDDLE_STORE"));
    CHECK(!env_is_kept_back(ENV_TOOL, "PATH"));
    CHECK(!env_is_kept_back(ENV_TOOL, "GIT_DIR"));
    CHECK(!env_is_kept_back(ENV_AGENT, "ANTHROPIC_API_KEY"));
    CHECK(!env_is_kept_back(ENV_AGENT, "HEDDLE_STORE"));
}

static void the_rest_of_the_environment_is_passed_on(void)
{
    struct arena a = { 0 };

    char keys[] = "HEDDLE_CHECKPOINT_KEYS=k:s", plain[] = "PLAIN=a=b",
         *all[] = { keys, plain, NULL };
    char **tool = env_for(ENV_TOOL, all, &a), **agent = env_for(ENV_AGENT, all, &a);
    CHECK(holds(tool, "PLAIN=a=b") && holds(agent, "PLAIN=a=b"));
    CHECK(!holds(tool, "HEDDLE_CHECKPOINT_KEYS=k:s") &&
          !holds(agent, "HEDDLE_CHECKPOINT_KEYS=k:s"));
    arena_free(&a);
}

static void a_variable_is_found_by_its_whole_name(void)
{
    char  one[] = "HOME=/h", other[] = "HOMES=/x", empty[] = "EMPTY=", bare[] = "BARE";
    char *all[] = { other, one, empty, bare, NULL };

    CHECK(sv_is(env_find(all, "HOME"), "/h"));
    CHECK(env_find(all, "EMPTY").s && !env_find(all, "EMPTY").n);
    CHECK(!env_find(all, "BARE").s && !env_find(all, "HOM").s && !env_find(NULL, "HOME").s);
}

static void a_variable_is_replaced_or_added(void)
{
    struct arena a = { 0 };
    char         one[] = "ONE=1", two[] = "TWO=2";
    char        *given[] = { one, two, NULL };
    char       **changed = env_with(env_with(given, "ONE", SV("x=y"), &a), "THREE", SV(""), &a);

    CHECK(holds(changed, "ONE=x=y") && holds(changed, "TWO=2") && holds(changed, "THREE="));
    CHECK(!holds(changed, "ONE=1") && !changed[3]);
    CHECK(given[0] == one && !given[2]);
    arena_free(&a);
}

TAP_MAIN(T(a_variable_is_found_by_its_whole_name), T(every_search_key_is_kept_back),
         T(a_tool_gets_nothing_that_looks_like_a_secret),
         T(the_rest_of_the_environment_is_passed_on), T(a_variable_is_replaced_or_added), )
