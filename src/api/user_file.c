/* Where the user's own files are, and whether they are the user's. */
#include "api/user_file.h"

#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 20 };

static const struct {
    const char *variable, *below_home, *name;
} places[] = {
    [USER_CONFIG] = { "XDG_CONFIG_HOME", ".config", "heddle/config.json" },
    [USER_TRUST] = { "XDG_STATE_HOME", ".local/state", "heddle/trust.json" },
    [USER_INSTALLED] = { "XDG_STATE_HOME", ".local/state", "heddle/installed.json" },
    [USER_COMPANIES] = { "XDG_STATE_HOME", ".local/state", "heddle/companies.json" },
    [USER_TOKENS] = { "XDG_STATE_HOME", ".local/state", "heddle/tokens.json" },
};

struct sv user_file_path(const struct workspace *ws, enum user_file which, struct arena *a)
{
    struct sv base = workspace_variable(ws, places[which].variable);
    struct sv home = workspace_variable(ws, "HOME");

    if (!sv_starts(base, SV("/"))) /* the XDG specification says to ignore a relative path */
        base = sv_starts(home, SV("/")) ? path_join(home, sv_of(places[which].below_home), a)
                                        : (struct sv){ 0 };
    return base.n ? path_join(base, sv_of(places[which].name), a) : (struct sv){ 0 };
}

bool user_is(const struct workspace *ws, unsigned uid)
{
    int64_t n;

    if (uid == geteuid())
        return true;
    return geteuid() == 0 && sv_to_int(workspace_variable(ws, "SUDO_UID"), &n) && n == (int64_t)uid;
}

const char *user_file_fault(const struct workspace *ws, unsigned uid, unsigned mode)
{
    if (uid != 0 && !user_is(ws, uid))
        return "belongs to another user";
    return mode & S_IWOTH ? "can be written by everybody" : NULL;
}

enum status user_file_read(const struct workspace *ws, enum user_file which, struct arena *a,
                           struct sv *out, struct err *e)
{
    struct sv         path = user_file_path(ws, which, a);
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    *out = (struct sv){ 0 };
    if (!path.s)
        return ST_OK;
    fd = open(path.s, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
        return ST_OK; /* EACCES: the home of somebody else, after su */
    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_IO, SV_FMT " is not a regular file", SV_ARG(path));
    const char *fault = user_file_fault(ws, st.st_uid, st.st_mode);
    if (fault) {
        workspace_note(ws, SV_FMT " is ignored: it %s", SV_ARG(path), fault);
        return ST_OK;
    }
    return fs_read_fd(fd, FILE_BYTES_MAX, a, out, e) ? err_in(e, SV_FMT, SV_ARG(path)) : ST_OK;
}

/* ---- changing ---------------------------------------------------------------------------- */

enum status user_dirs_make(struct sv path, struct arena *a, struct err *e)
{
    for (size_t i = 1; i < path.n; i++)
        if (path.s[i] == '/' && mkdir(sv_cstr(sv_first(path, i), a), 0700) != 0 &&
            errno != EEXIST && errno != EISDIR) {
            struct stat st; /* EROFS, EACCES: of a directory that is there already */
            int         saved = errno;
            if (stat(sv_cstr(sv_first(path, i), a), &st) == 0)
                continue;
            errno = saved;
            return err_errno(e, "mkdir " SV_FMT, SV_ARG(sv_first(path, i)));
        }
    return ST_OK;
}

/* The directory and name of the file itself, when the path is a link. */
static enum status open_dir(struct sv path, struct arena *a, int *dir, struct sv *name,
                            struct err *e)
{
    char real[PATH_MAX];

    if (user_dirs_make(path, a, e))
        return err_code(e);
    if (realpath(path.s, real))
        path = sv_dup(sv_of(real), a);
    *name = path_base(path);
    *dir = open(sv_cstr(path_dir(path), a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *dir < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(path_dir(path))) : ST_OK;
}

enum status user_file_change(const struct workspace *ws, enum user_file which, user_file_edit *edit,
                             void *ctx, struct arena *a, struct err *e)
{
    struct sv         path = user_file_path(ws, which, a), name, before, after;
    UNDO(fd_undo) int dir = -1, held = -1;

    if (!path.s) {
        err_set(e, ST_NOT_FOUND, "there is no place for the user's files: HOME is not set");
        return err_hint(e, "set HOME, or %s to an absolute path", places[which].variable);
    }
    if (open_dir(path, a, &dir, &name, e) || fs_lock_dir(dir, SV("."), &held, e))
        return err_code(e);
    enum status s = fs_read(dir, name, FILE_BYTES_MAX, a, &before, e);
    if (s && s != ST_NOT_FOUND)
        return s;
    if (edit(ctx, s ? SV("") : before, a, &after, e))
        return err_code(e);
    return fs_write(dir, name, after, 0600, e);
}
