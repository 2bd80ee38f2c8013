/* help. */
#include "base/utf8.h"
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
        err_set(e, ST_NOT_FOUND, "there is no tool '" SV_FMT "'", SV_ARG(utf8_first(name, 60)));
        return err_hint(e, "→ help lists the tools");
    }
    tool_help(&r->text, t);
    return ST_OK;
}
