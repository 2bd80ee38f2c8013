/* Which files of a payload are written, and where. */
#include "front/cli/payload_extract.h"

#include "base/fs.h"
#include "base/path.h"
#include "payload/show.h"

#include <errno.h>
#include <sys/stat.h>

/* Files that a shell, an editor or a tool runs or obeys when it starts beside them. */
static const char *const running[] = {
    ".bash_aliases",  ".bash_login",   ".bash_logout",   ".bash_profile",
    ".bashrc",        ".curlrc",       ".dir-locals.el", ".devcontainer.json",
    ".emacs",         ".envrc",        ".exrc",          ".gdbinit",
    ".gitattributes", ".gitconfig",    ".gitmodules",    ".gvimrc",
    ".inputrc",       ".irbrc",        ".lldbinit",      ".login",
    ".mcp.json",      ".mise.toml",    ".npmrc",         ".nvimrc",
    ".pdbrc",         ".pnpmfile.cjs", ".profile",       ".pryrc",
    ".pythonrc",      ".rprofile",     ".ssh",           ".tmux.conf",
    ".vimrc",         ".wgetrc",       ".xinitrc",       ".xprofile",
    ".xsession",      ".yarnrc",       ".yarnrc.yml",    ".zlogin",
    ".zlogout",       ".zprofile",     ".zshenv",        ".zshrc",
};

bool payload_extract_refuses(struct sv path)
{
    struct arena scratch = { 0 };
    bool         refused = false;

    for (struct sv_cut c = sv_cut(path, '/'); c.found && !refused; c = sv_cut(c.tail, '/'))
        refused = c.head.n && c.head.s[0] == '.';
    struct sv name = sv_lower(path_base(path), &scratch);
    refused = refused || sv_is(name, ".git") || sv_is(name, ".heddle") || sv_is(name, ".teddy") ||
              sv_is(name, ".leslie");
    for (size_t i = 0; i < COUNT(running) && !refused; i++)
        refused = sv_is(name, running[i]);
    arena_free(&scratch);
    return refused;
}

static void say_not_written(struct app *app, struct sv name, const char *why)
{
    struct sb shown = sb_in(app->a, 0), plain = sb_in(app->a, 0);

    sb_add_path(&shown, name);
    sb_add_plain(&plain, sb_sv(&shown));
    warn("%s: not written: %s", sb_sv(&plain).s, why);
}

/* Where a resource goes; false, with a word about it, when it goes nowhere. */
static bool place_of(struct app *app, const struct parsed_resource *r, bool say, struct sv *path)
{
    struct err  ignored;
    const char *why = NULL;

    if (is_url(r->name) || sv_is(r->name, "git:diff"))
        return false;
    if (r->is_placeholder)
        why = "the payload has only a note in its place";
    else if (path_normal_exact(r->name, app->a, path, &ignored) || !path->n)
        why = "it would leave the directory";
    else if (payload_extract_refuses(*path))
        why = "programs may run what is there (--json prints its content)";
    if (why && say)
        say_not_written(app, r->name, why);
    return !why;
}

/* Is it there already, with this content? */
static bool is_there(struct app *app, int dir, struct sv path, struct sv body)
{
    struct sv  there;
    struct err ignored;

    return fs_read(dir, path, body.n, app->a, &there, &ignored) == ST_OK && sv_eq(there, body);
}

/* Does something else stand at the place of this file? */
static bool is_taken(struct app *app, int dir, struct sv path, struct sv body)
{
    struct err ignored;
    bool       exists;

    if (fs_exists(dir, path, &exists, &ignored) == ST_OK && !exists)
        return false;
    return !is_there(app, dir, path, body);
}

static enum status check_free(struct app *app, const struct parsed *p, int dir, struct err *e)
{
    struct sv first = { 0 }, path;
    size_t    n = 0;

    for (size_t i = 0; i < p->resources.n; i++)
        if (place_of(app, &p->resources.v[i], false, &path) &&
            is_taken(app, dir, path, p->resources.v[i].body)) {
            first = first.n ? first : path;
            n++;
        }
    if (!n)
        return ST_OK;
    struct sb shown = sb_in(app->a, 0), plain = sb_in(app->a, 0);
    sb_add_path(&shown, first);
    sb_add_plain(&plain, sb_sv(&shown));
    if (n == 1)
        err_set(e, ST_CONFLICT, "'%s' is there and holds something else", sb_sv(&plain).s);
    else
        err_set(e, ST_CONFLICT, "'%s' and %zu more are there and hold something else",
                sb_sv(&plain).s, n - 1);
    return err_hint(e, "nothing was written; --force writes over them");
}

static enum status write_all(struct app *app, const struct parsed *p, int dir, struct err *e)
{
    for (size_t i = 0; i < p->resources.n; i++) {
        const struct parsed_resource *r = &p->resources.v[i];
        struct sv                     path;
        if (!place_of(app, r, true, &path) || is_there(app, dir, path, r->body))
            continue;
        struct sv parent = path_dir(path);
        if ((parent.n && fs_mkdirs(dir, parent, e)) || fs_write(dir, path, r->body, 0644, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status payload_extract(struct app *app, const struct parsed *p, struct sv into, bool force,
                            struct err *e)
{
    if (mkdir(sv_cstr(into, app->a), 0777) != 0 && errno != EEXIST)
        return err_errno(e, "mkdir " SV_FMT, SV_ARG(into));
    UNDO(fd_undo) int dir = open(sv_cstr(into, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(e, SV_FMT, SV_ARG(into));
    if (!force && check_free(app, p, dir, e))
        return err_code(e);
    return write_all(app, p, dir, e);
}
