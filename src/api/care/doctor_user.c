/* Checks of `heddle doctor` that concern the user: who owns the workspace, which of its settings
 * are in effect, and who could have written the user's own files. */
#include "api/care/doctor.h"
#include "api/owner.h"
#include "api/user_file.h"

#include <sys/stat.h>

enum status doctor_check_owner(struct doctor *d, struct err *e)
{
    const struct workspace *ws = d->r->ws;
    const struct json      *safe = json_find(&ws->config.user, "safe_workspaces");

    if (owner_is_listed(safe, ws->root)) {
        d->good = SV("the workspace is listed in safe_workspaces");
        return ST_OK;
    }
    return owner_check(ws, NULL, d->r->a, e);
}

static void add_name(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    struct sb *names = ctx;

    (void)k, (void)v;
    sb_adds(names, names->n ? ", " : "");
    sb_add(names, dotted);
}

/* A file that nobody has trusted is not wrong, but may be why an executor does not start. */
enum status doctor_check_trust(struct doctor *d, struct err *e)
{
    const struct config *c = &d->r->ws->config;
    struct sb            names = sb_in(d->r->a, 0);

    (void)e;
    config_walk(&c->guarded, SV(""), add_name, &names, d->r->a);
    if (!c->trusted) {
        doctor_note(d, "ignored until you run `heddle trust`: " SV_FMT, SV_ARG(sb_sv(&names)));
        d->good = SV("no setting that needs trust counts without it");
    } else if (names.n)
        d->good = SV("the settings that need trust are trusted");
    return ST_OK;
}

/* ---- the user's files ------------------------------------------------------------------------ */

static bool stat_file(const struct doctor *d, enum user_file which, struct sv *path,
                      struct stat *st)
{
    *path = user_file_path(d->r->ws, which, d->r->a);
    return path->s && stat(path->s, st) == 0;
}

enum status doctor_check_user_files(struct doctor *d, struct err *e)
{
    struct stat st;
    struct sv   path;

    (void)e;
    for (enum user_file f = USER_CONFIG; f <= USER_TRUST; f++) {
        if (!stat_file(d, f, &path, &st))
            continue;
        const char *fault = user_file_fault(d->r->ws, st.st_uid, st.st_mode);
        if (!fault && (st.st_mode & S_IWGRP))
            fault = "can be written by its group";
        if (fault)
            doctor_find(d, ST_PERMISSION_DENIED, "`heddle doctor --fix` takes the right away",
                        SV_FMT " %s", SV_ARG(path), fault);
    }
    return ST_OK;
}

enum status doctor_fix_user_files(struct doctor *d, struct err *e)
{
    struct stat st;
    struct sv   path;

    for (enum user_file f = USER_CONFIG; f <= USER_TRUST; f++)
        if (stat_file(d, f, &path, &st) && (st.st_mode & (S_IWGRP | S_IWOTH)) &&
            chmod(path.s, st.st_mode & 07777 & ~(mode_t)(S_IWGRP | S_IWOTH)) != 0)
            return err_errno(e, "chmod " SV_FMT, SV_ARG(path));
    return ST_OK;
}
