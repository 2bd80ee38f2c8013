/* The file by which the shell finds the server of a workspace. */
#include "api/serve_file.h"

#include "api/user_file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 * 1024 };

static enum status find_dir(const struct workspace *ws, struct arena *a, struct sv *out,
                            struct err *e)
{
    struct sv runtime = workspace_variable(ws, "XDG_RUNTIME_DIR");

    if (sv_starts(runtime, SV("/"))) {
        *out = path_join(runtime, SV("heddle"), a);
        return ST_OK;
    }
    struct sv trust = user_file_path(ws, USER_TRUST, a);
    if (trust.s) {
        *out = path_join(path_dir(trust), SV("run"), a);
        return ST_OK;
    }
    err_set(e, ST_NOT_FOUND,
            "there is no place for the server's files: neither XDG_RUNTIME_DIR "
            "nor HOME is set");
    return err_hint(e, "set HOME");
}

/* Nobody else may put a file there, or read one. */
static enum status check_dir(int dir, struct sv path, struct err *e)
{
    struct stat st;

    if (fstat(dir, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(path));
    if (st.st_uid == geteuid() && !(st.st_mode & 077))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, SV_FMT " can be reached by other users", SV_ARG(path));
    return err_hint(e, "it must be yours, with mode 0700: remove it, or `chmod 700 " SH_FMT "`",
                    SV_ARG(path));
}

static struct sv file_name(const struct workspace *ws, const char *suffix, struct arena *a)
{
    struct hash h = hash_blake2b(&ws->root, 1);
    struct sb   b = sb_in(a, 0);

    sb_add_hex(&b, h.b, 8);
    sb_adds(&b, suffix);
    return sb_sv(&b);
}

static enum status open_dir(struct sv path, bool make, struct arena *a, int *dir, struct err *e)
{
    if (make && user_dirs_make(path_join(path, SV("x"), a), a, e))
        return err_code(e);
    *dir = open(sv_cstr(path, a), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*dir < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path));
    return check_dir(*dir, path, e);
}

static enum status find_place(const struct workspace *ws, bool make, struct arena *a,
                              struct serve_place *out, struct err *e)
{
    *out = (struct serve_place){ .dir = -1,
                                 .json = file_name(ws, ".json", a),
                                 .socket = file_name(ws, ".sock", a),
                                 .lock = file_name(ws, ".lock", a) };
    if (find_dir(ws, a, &out->path, e))
        return err_code(e);
    return open_dir(out->path, make, a, &out->dir, e);
}

enum status serve_place_open(const struct workspace *ws, struct arena *a, struct serve_place *out,
                             struct err *e)
{
    return find_place(ws, true, a, out, e);
}

enum status serve_file_lock(const struct serve_place *p, int *fd, struct err *e)
{
    *fd = openat(p->dir, p->lock.s, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return err_errno(e, "open " SV_FMT "/" SV_FMT, SV_ARG(p->path), SV_ARG(p->lock));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return ST_OK;
    if (errno != EWOULDBLOCK)
        return err_errno(e, "lock " SV_FMT "/" SV_FMT, SV_ARG(p->path), SV_ARG(p->lock));
    err_set(e, ST_CONFLICT, "a server runs for this workspace already");
    err_reason(e, "server_runs");
    return err_hint(e, "`heddle open` shows its page; `heddle serve --status` says where it is, "
                       "`heddle serve --stop` ends it");
}

enum status serve_file_write(const struct serve_place *p, const struct serve_file *f,
                             struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "pid", f->pid);
    jw_klossy(&w, "root", f->root);
    jw_klossy(&w, "socket", f->socket);
    jw_kstr(&w, "token", f->token);
    jw_kstr(&w, "url", f->url);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return fs_write(p->dir, p->json, sb_sv(&b), 0600, e);
}

void serve_file_remove(const struct serve_place *p)
{
    unlinkat(p->dir, p->json.s, 0);
    unlinkat(p->dir, p->socket.s, 0);
}

static enum status no_server(struct err *e)
{
    err_set(e, ST_NOT_FOUND, "no server runs for this workspace");
    err_reason(e, "no_server");
    return err_hint(e, "`heddle serve` starts one, `heddle open` starts one in the background");
}

/* A file that a killed server left behind is not locked by anybody. */
static bool is_running(const struct serve_place *p)
{
    UNDO(fd_undo) int fd = openat(p->dir, p->lock.s, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
}

enum status serve_file_find(const struct workspace *ws, struct arena *a, struct serve_file *out,
                            struct err *e)
{
    struct serve_place p = { .dir = -1 };
    struct sv          text;
    struct json        doc;
    enum status        s = find_place(ws, false, a, &p, e);

    if (s == ST_NOT_FOUND)
        return no_server(e);
    UNDO(fd_undo) int dir = p.dir;
    if (s)
        return s;
    if (!is_running(&p) || fs_read(dir, p.json, FILE_MAX, a, &text, e))
        return no_server(e);
    if (json_parse(text, 0, a, &doc, e))
        return err_in(e, SV_FMT "/" SV_FMT, SV_ARG(p.path), SV_ARG(p.json));
    *out = (struct serve_file){ .root = json_text(&doc, "root"),
                                .url = json_text(&doc, "url"),
                                .socket = json_text(&doc, "socket"),
                                .token = json_text(&doc, "token"),
                                .pid = json_number(&doc, "pid") };
    return out->socket.n && out->token.n ? ST_OK : no_server(e);
}
