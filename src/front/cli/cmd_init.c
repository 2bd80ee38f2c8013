/* `init`: make a workspace. */
#include "api/owner.h"
#include "base/fs.h"
#include "front/cli/command.h"
#include "front/share/agents_md.h"

#include <unistd.h>

struct init_opts {
    bool agents_md, yes;
};

static const struct opt init_opts[] = {
    { OPT_FLAG, "agents-md", NULL, "put the guide for agents into AGENTS.md",
      offsetof(struct init_opts, agents_md), 0 },
    { OPT_FLAG, "yes", NULL, "replace a guide of another major version without asking",
      offsetof(struct init_opts, yes), 0 },
    { 0 },
};

/* The log, the signing key, what was typed and all temporary files stay out of version control;
 * settings may go in. */
static const char ignored[] = "*\n!.gitignore\n!config.json\n";

static enum status make_if_missing(struct app *app, struct sv path, struct sv bytes, bool *made,
                                   struct err *e)
{
    bool there;

    if (fs_exists(app->ws.root_fd, path, &there, e))
        return err_code(e);
    *made = !there;
    return *made ? fs_write(app->ws.root_fd, path, bytes, 0644, e) : ST_OK;
}

/* The folder itself becomes the root, even below another workspace, whose settings are not ours. */
static enum status use_this_folder(struct app *app, struct err *e)
{
    if (sv_eq(app->ws.root, app->ws.start))
        return ST_OK;
    app->ws.root = app->ws.start;
    app->ws.is_workspace = app->ws.has_heddle = false;
    close(app->ws.root_fd);
    app->ws.root_fd = open(sv_cstr(app->ws.root, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return app->ws.root_fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(app->ws.root)) : ST_OK;
}

/* It can be made in a directory of another user, and cannot be found from below it. */
static void say_whose(struct app *app)
{
    const struct json *safe = json_find(&app->ws.config.user, "safe_workspaces");
    struct err         e;

    if (owner_check(app->ws.root_fd, app->ws.root, safe, app->a, &e))
        app_note(app, "%s; %s", e.text, e.hint);
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct init_opts *o = opts;
    struct guide            guide = { 0 };
    bool                    made_config, made_ignore, had_log;

    if (use_this_folder(app, e) || app_read_settings(app, e) ||
        fs_mkdirs(app->ws.root_fd, SV(".heddle"), e))
        return err_code(e);
    app->ws.has_heddle = app->ws.is_workspace = true;
    if (fs_exists(app->ws.root_fd, SV(".heddle/heddle.db"), &had_log, e) ||
        make_if_missing(app, SV(".heddle/config.json"), SV("{}\n"), &made_config, e) ||
        make_if_missing(app, SV(".heddle/.gitignore"), sv_of(ignored), &made_ignore, e) ||
        app_open_log(app, STORE_WRITE, e) ||
        (o->agents_md && agents_md_write(app, o->yes, &guide, e)))
        return err_code(e);
    say_whose(app);
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '{');
        jw_kbool(&w, "created", made_config || !had_log);
        jw_kstr(&w, "root", app->ws.root);
        if (o->agents_md)
            jw_kstr(&w, "agents_md", sv_of(guide.status));
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    sb_addf(&app->out, "%s workspace in " SV_FMT "\n",
            made_config || !had_log ? "made a" : "there is a", SV_ARG(app->ws.root));
    if (o->agents_md)
        sb_addf(&app->out, "AGENTS.md: %s\n", guide.status);
    return ST_OK;
}

const struct command cmd_init = {
    .name = "init",
    .synopsis = "[--agents-md [--yes]]",
    .group = GROUP_START,
    .opts = init_opts,
    .opts_size = sizeof(struct init_opts),
    .summary = "Make the current folder (or --root DIR) a workspace",
    .details =
        "Writes .heddle/ with an empty log and config. Harmless when it is there already.\n\n"
        "  heddle init",
    .needs = NEEDS_PLACE,
    .run = run,
};
