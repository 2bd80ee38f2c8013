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

    setenv("HEDDLE_CHECKPOINT_KEYS", "k:s", 1);
    setenv("PLAIN", "a=b", 1);
    char **tool = env_for(ENV_TOOL, &a), **agent = env_for(ENV_AGENT, &a);
    CHECK(holds(tool, "PLAIN=a=b") && holds(agent, "PLAIN=a=b"));
    CHECK(!holds(tool, "HEDDLE_CHECKPOINT_KEYS=k:s") &&
          !holds(agent, "HEDDLE_CHECKPOINT_KEYS=k:s"));
    arena_free(&a);
}

TAP_MAIN(T(every_search_key_is_kept_back), T(a_tool_gets_nothing_that_looks_like_a_secret),
         T(the_rest_of_the_environment_is_passed_on), )
