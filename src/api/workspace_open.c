/* Finding a workspace and reading its settings. */
#include "api/workspace_open.h"

#include "api/owner.h"
#include "api/settings.h"
#include "api/trust.h"
#include "base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool has(struct sv dir, const char *name, struct arena *a)
{
    return access(sv_cstr(path_join(dir, sv_of(name), a), a), F_OK) == 0;
}

static bool is_workspace(struct sv dir, struct arena *a)
{
    bool any = false;

    for (size_t i = 0; workspace_marks[i] && !any; i++)
        any = has(dir, workspace_marks[i], a);
    return any;
}

enum status workspace_find(struct workspace *ws, const char *dir, struct arena *a, struct err *e)
{
    char absolute[PATH_MAX];

    if (!realpath(dir ? dir : ".", absolute))
        return err_errno(e, "%s", dir ? dir : "the current directory");
    struct sv here = sv_dup(sv_of(absolute), a), at = here;
    while (!(ws->is_workspace = is_workspace(at, a)) && at.n > 1 && !ws->only_here) {
        at = path_dir(at);
        if (!at.n)
            at = SV("/");
    }
    ws->start = here;
    ws->root = ws->is_workspace ? at : here;
    ws->has_heddle = has(ws->root, ".heddle", a);
    ws->is_named = dir && sv_eq(ws->root, here);
    ws->root_fd = open(sv_cstr(ws->root, a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ws->root_fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(ws->root)) : ST_OK;
}

enum status workspace_settings(struct workspace *ws, struct arena *a, struct err *e)
{
    struct json user, workspace;
    struct sv   text;

    if (settings_of_user(ws, a, &user, e) ||
        (ws->is_workspace && !ws->is_named &&
         owner_check(ws, json_find(&user, "safe_workspaces"), a, e)) ||
        settings_of_workspace(ws, a, &text, &workspace, e))
        return err_code(e);
    ws->store_url = workspace_variable(ws, "HEDDLE_STORE");
    config_join(&ws->config, &user, &workspace, false, a);
    if (!ws->config.trusted && trust_has(ws, text, a))
        config_join(&ws->config, &user, &workspace, true, a);
    ws->config.withheld = ws->warn;
    ws->config.withheld_ctx = ws->warn_ctx;
    return ST_OK;
}

enum status workspace_open(struct workspace *ws, const char *dir, enum op_needs needs,
                           struct arena *a, struct err *e)
{
    if (needs >= NEEDS_PLACE && workspace_find(ws, dir, a, e))
        return err_code(e);
    return needs >= NEEDS_ROOT ? workspace_settings(ws, a, e) : ST_OK;
}
