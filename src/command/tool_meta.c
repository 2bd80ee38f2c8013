/* help and search. */
#include "command/run.h"

RUN(help)
{
    struct sv          name = call_text(c, "tool");
    const struct tool *t = tool_find(name);

    if (!name.s) {
        tools_help(&r->text, s->agent.permissions);
        return ST_OK;
    }
    if (!t) {
        err_set(e, ST_NOT_FOUND, "there is no tool '" SV_FMT "'", SV_ARG(sv_first(name, 60)));
        return err_hint(e, "→ help lists the tools");
    }
    tool_help(&r->text, t);
    return ST_OK;
}

enum { SEARCH_MAX = 10 };

RUN(search)
{
    int64_t max = call_count(c, "max", 5);

    r->object = call_text(c, "query");
    if (max < 1 || max > SEARCH_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max results per search is %d", SEARCH_MAX);
        return err_hint(e, "use max:%d or less", SEARCH_MAX);
    }
    if (s->env.search)
        return s->env.search(s->env.search_ctx, c, s->a, &r->text, e);
    err_set(e, ST_PERMISSION_DENIED, "web search is not configured");
    return err_hint(e, "a person can set a search service and its key in .heddle/config.json");
}
