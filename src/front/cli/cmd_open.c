/* `open`: the page of the workspace in a browser.
 *
 * The link is a secret until it was used: it goes to the browser in a file that only the user can
 * read, since the words of a command are seen by every user of the machine. */
#include "api/serve_client.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/rand.h"
#include "front/cli/command.h"
#include "front/cli/serve_start.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct open_opts {
    bool print;
};

static const struct opt opts[] = {
    { OPT_FLAG, "print", NULL, "print the link and open nothing", offsetof(struct open_opts, print),
      0 },
    { 0 },
};

/* Remove the files of earlier links, which were used or have expired. */
static void remove_old(const struct serve_place *p, struct arena *a)
{
    struct fs_item *list;
    size_t          n;
    struct err      ignored;

    if (fs_list(p->dir, SV("."), a, &list, &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++)
        if (sv_starts(list[i].name, SV("open-")) && sv_ends(list[i].name, SV(".html")))
            unlinkat(p->dir, sv_cstr(list[i].name, a), 0);
}

/* Write a page that redirects to the link. The link has only characters that need no quotes. */
static enum status write_page(struct app *app, struct sv link, struct sv *path, struct err *e)
{
    struct serve_place p;
    struct sb          text = sb_in(app->a, 0), name = sb_in(app->a, 0);

    if (serve_place_open(&app->ws, app->a, &p, e))
        return err_code(e);
    UNDO(fd_undo) int dir = p.dir;
    remove_old(&p, app->a);
    sb_add(&name, rand_id("open-", 12, app->a));
    sb_adds(&name, ".html");
    sb_addf(&text,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>heddle</title>\n"
            "<meta http-equiv=\"refresh\" content=\"0;url=" SV_FMT "\">\n"
            "<p><a href=\"" SV_FMT "\">Open heddle</a></p>\n",
            SV_ARG(link), SV_ARG(link));
    if (fs_write(dir, sb_sv(&name), sb_sv(&text), 0600, e))
        return err_code(e);
    *path = path_join(p.path, sb_sv(&name), app->a);
    return ST_OK;
}

/* Does a program of this name open the file? */
static bool open_with(struct app *app, const char *program, struct sv path)
{
    char *args[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)sv_cstr(path, app->a), NULL };
    pid_t pid;
    int   status;

    if (posix_spawnp(&pid, program, NULL, NULL, args,
                     env_for(ENV_TOOL, app->ws.variables, app->a)) != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum status run(struct app *app, const void *given, struct err *e)
{
    const struct open_opts *o = given;
    struct serve_file       found;
    struct sv               text, path;
    struct json             doc;
    enum status             s = serve_file_find(&app->ws, app->a, &found, e);

    if (s && !sv_is(sv_of(e->reason), "no_server"))
        return s;
    if ((s && serve_start(app, e)) ||
        serve_client_document(&app->ws, "POST", SV("/api/link"), app->a, &text, &doc, e))
        return err_code(e);
    struct sv link = json_text(&doc, "url");
    if (app->json) {
        sb_add(&app->out, text);
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    if (!o->print && !write_page(app, link, &path, e)) {
        struct sv browser = workspace_variable(&app->ws, "BROWSER");
        if ((browser.n && open_with(app, sv_cstr(browser, app->a), path)) ||
            open_with(app, "xdg-open", path))
            return ST_OK;
        app_note(app, "no browser could be started; the link works once, within a minute");
    }
    sb_addf(&app->out, SV_FMT "\n", SV_ARG(link));
    return ST_OK;
}

const struct command cmd_open = {
    .name = "open",
    .synopsis = "[--print]",
    .group = GROUP_DOORS,
    .summary = "Show the workspace in a browser, with a server in the background",
    .details =
        "Takes the server that runs for the workspace, or starts one, and hands its page to\n"
        "the program in BROWSER, or to xdg-open. The link works once, within a minute, and\n"
        "stands in no command line. `heddle serve --stop` ends the server.\n"
        "\n"
        "  heddle open",
    .opts = opts,
    .opts_size = sizeof(struct open_opts),
    .needs = NEEDS_ROOT,
    .run = run,
};
