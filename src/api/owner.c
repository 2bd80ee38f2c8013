/* Ownership and modes of a workspace. */
#include "api/owner.h"

#include "api/user_file.h"
#include "base/fs.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const workspace_marks[] = { ".heddle", ".leslie", ".teddy", NULL };

bool owner_is_listed(const struct json *safe, struct sv root)
{
    for (size_t i = 0; json_is(safe, JSON_ARRAY) && i < safe->n; i++) {
        struct sv one = json_sv(&safe->items[i]);
        if (sv_is(one, "*") || (one.n && sv_eq(one, root)))
            return true;
        if (sv_ends(one, SV("/*")) && sv_starts(root, sv_first(one, one.n - 1)))
            return true;
    }
    return false;
}

static void name_user(char *out, size_t size, unsigned uid)
{
    struct passwd  user;
    struct passwd *found = NULL;
    char           text[4096];

    if (getpwuid_r(uid, &user, text, sizeof text, &found) == 0 && found)
        snprintf(out, size, "%s", user.pw_name);
    else
        snprintf(out, size, "user %u", uid);
}

/* The command that lists it, with what is listed already, quoted for a shell. */
static enum status how_to_list(const struct json *safe, struct sv root, struct arena *a,
                               struct err *e)
{
    struct sb list = sb_in(a, 0);
    struct jw w = jw_in(&list, 0);

    jw_open(&w, '[');
    for (size_t i = 0; json_is(safe, JSON_ARRAY) && i < safe->n; i++)
        jw_json(&w, &safe->items[i]);
    jw_str(&w, root);
    jw_close(&w, ']');
    return err_hint(e,
                    "if it is to be used, run: heddle config set --user safe_workspaces " SH_FMT
                    "; to begin one of your own here: heddle init",
                    SV_ARG(sb_sv(&list)));
}

static enum status belongs(struct sv root, const char *mark, unsigned uid, struct err *e)
{
    char who[64];

    name_user(who, sizeof who, uid);
    return err_set(e, ST_PERMISSION_DENIED,
                   "the workspace " SV_FMT " is not yours: %s%sbelongs to %s", SV_ARG(root), mark,
                   *mark ? " " : "it ", who);
}

static enum status is_open(struct sv root, const char *name, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "%s of the workspace " SV_FMT " can be written by everybody",
            name, SV_ARG(root));
    err_reason(e, "open_to_others");
    return strncmp(name, ".heddle", 7) == 0 ? err_hint(e, "`heddle doctor --fix` makes it private")
                                            : err_hint(e, "run: chmod o-w %s, there", name);
}

static enum status check(const struct workspace *ws, struct err *e)
{
    static const char *const files[] = { ".heddle/heddle.db", ".heddle/config.json", NULL };
    const char *const *const lists[] = { workspace_marks, files };
    struct stat              st;

    if (fstatat(ws->root_fd, "", &st, AT_EMPTY_PATH) != 0)
        return err_errno(e, "look at " SV_FMT, SV_ARG(ws->root));
    if (st.st_uid != 0 && !user_is(ws, st.st_uid)) /* root can replace anything in any case */
        return belongs(ws->root, "", st.st_uid, e);
    for (size_t l = 0; l < COUNT(lists); l++)
        for (size_t i = 0; lists[l][i]; i++) {
            if (fstatat(ws->root_fd, lists[l][i], &st, AT_SYMLINK_NOFOLLOW) != 0)
                continue; /* what cannot be looked at cannot be read either */
            if (!user_is(ws, st.st_uid))
                return belongs(ws->root, lists[l][i], st.st_uid, e);
            if (!S_ISLNK(st.st_mode) && (st.st_mode & S_IWOTH))
                return is_open(ws->root, lists[l][i], e);
        }
    return ST_OK;
}

enum status owner_check(const struct workspace *ws, const struct json *safe, struct arena *a,
                        struct err *e)
{
    if (owner_is_listed(safe, ws->root) || check(ws, e) == ST_OK)
        return ST_OK;
    if (e->hint[0])
        return err_code(e);
    err_reason(e, "not_your_workspace");
    return how_to_list(safe, ws->root, a, e);
}

enum status owner_check_git(const struct workspace *ws, const struct json *safe, struct sv part,
                            struct arena *a, struct err *e)
{
    struct sv   listed = ws->git.top.n ? ws->git.top : ws->git.git_dir;
    char        who[64] = "nobody who is known";
    struct stat st;

    if (owner_is_listed(safe, listed))
        return ST_OK;
    if (lstat(sv_cstr(part, a), &st) == 0)
        name_user(who, sizeof who, st.st_uid);
    err_set(e, ST_PERMISSION_DENIED,
            "the git repository of " SV_FMT " is not yours: " SV_FMT " belongs to %s",
            SV_ARG(listed), SV_ARG(part), who);
    err_reason(e, "not_your_workspace");
    return how_to_list(safe, listed, a, e);
}
