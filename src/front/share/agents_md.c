#include "front/share/agents_md.h"

#include "base/fs.h"

#include <stdio.h>

#define AGENTS_MD SV("AGENTS.md")

/* On stderr, so that what is printed stays JSON; the answer may come through a pipe. */
static bool agrees(struct sv previous)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    char         answer[16] = "";

    sb_adds(&b, "AGENTS.md has the guide of version ");
    sb_add_plain_line(&b, previous);
    sb_adds(&b, "; replace it with " GUIDE_VERSION "? [y/N] ");
    fputs(sb_sv(&b).s, stderr);
    arena_free(&scratch);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

enum status agents_md_write(struct app *app, bool yes, struct guide *out, struct err *e)
{
    struct sv   old = { 0 };
    enum status s = fs_read(app->ws.root_fd, AGENTS_MD, 16 << 20, app->a, &old, e);

    if ((s && s != ST_NOT_FOUND) || guide_apply(old, app->a, out, e))
        return err_code(e);
    if (out->major && !yes && !agrees(out->previous)) {
        out->status = "skipped";
        return ST_OK;
    }
    if (sv_is(sv_of(out->status), "unchanged"))
        return ST_OK;
    return fs_write(app->ws.root_fd, AGENTS_MD, out->text, 0644, e);
}
