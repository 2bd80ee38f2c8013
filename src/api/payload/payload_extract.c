/* Which files of a payload are written, and where. */
#include "api/payload/payload_extract.h"

#include "base/fs.h"
#include "base/fs_where.h"
#include "base/map.h"
#include "base/path.h"
#include "payload/number.h"
#include "payload/show.h"

/* Files that a shell, an editor or a tool runs or reads as settings when it starts in their
 * directory. */
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

static void say_not_written(struct request *r, struct sv name, const char *why)
{
    const struct sv none = { 0 };
    struct sb       shown = sb_in(r->a, 0);

    sb_add_path(&shown, name);
    request_warn(r, none, none, "%s: not written: %s", sb_sv(&shown).s, why);
}

/* The path a resource is written to; false, with a warning, when it is not written. */
static bool place_of(struct request *r, const struct parsed_resource *x, bool say, struct sv *path)
{
    struct err  ignored;
    const char *why = NULL;

    if (show_is_url(x->name) || sv_is(x->name, "git:diff"))
        why = "it is no file";
    else if (x->is_placeholder)
        why = "the payload has only a note in its place";
    else if (path_normal_exact(x->name, r->a, path, &ignored) || !path->n)
        why = "it would leave the directory";
    else if (payload_extract_refuses(*path))
        why = "programs may run what is there (--json prints its content)";
    if (why && say)
        say_not_written(r, x->name, why);
    return !why;
}

/* Why the text of a resource is not what its file holds; NULL when it is. Older builds did not say
 * that lines are numbered: they show it. */
static const char *not_the_file(struct request *r, const struct parsed_resource *x)
{
    static const struct {
        unsigned    form;
        const char *why;
    } reasons[] = {
        { FORM_OUTLINE, "only its outline is shown (a payload with a larger --budget, or of this "
                        "file alone, can be written)" },
        { FORM_NUMBERED,
          "its lines are numbered (a payload without --line-numbers can be written)" },
        { FORM_CONVERTED, "its text was converted to UTF-8, the file has another encoding (--json "
                          "prints its content)" },
        { FORM_UNKNOWN, "it is shown in a form that this version does not know (use the version "
                        "that made the payload)" },
    };

    if (!x->body.n)
        return NULL;
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (x->form & reasons[i].form)
            return reasons[i].why;
    if (number_removed(x->body, r->a).s)
        return "its lines seem to be numbered (a payload without --line-numbers can be written; "
               "--json prints its content)";
    return NULL;
}

/* Does the file exist with this content? */
static bool is_there(struct request *r, int dir, struct sv path, struct sv body)
{
    struct sv  there;
    struct err ignored;

    return fs_read(dir, path, body.n, r->a, &there, &ignored) == ST_OK && sv_eq(there, body);
}

/* Is there something else at the path of this file? */
static bool is_taken(struct request *r, int dir, struct sv path, struct sv body)
{
    struct err ignored;
    bool       exists;

    if (fs_exists(dir, path, &exists, &ignored) == ST_OK && !exists)
        return false;
    return !is_there(r, dir, path, body);
}

static enum status check_free(struct request *r, const struct parsed *p, int dir, struct err *e)
{
    struct sv first = { 0 }, path;
    size_t    n = 0;

    for (size_t i = 0; i < p->resources.n; i++)
        if (place_of(r, &p->resources.v[i], false, &path) &&
            is_taken(r, dir, path, p->resources.v[i].body) &&
            !not_the_file(r, &p->resources.v[i])) {
            first = first.n ? first : path;
            n++;
        }
    if (!n)
        return ST_OK;
    struct sb shown = sb_in(r->a, 0), plain = sb_in(r->a, 0);
    sb_add_path(&shown, first);
    sb_add_plain(&plain, sb_sv(&shown));
    if (n == 1)
        err_set(e, ST_CONFLICT, "'%s' is there and holds something else", sb_sv(&plain).s);
    else
        err_set(e, ST_CONFLICT, "'%s' and %zu more are there and hold something else",
                sb_sv(&plain).s, n - 1);
    return err_hint(e, "nothing was written; --force writes over them");
}

/* What a budget cut has no text in the payload. A resource may be listed in several scopes. */
static void say_cut(struct request *r, const struct parsed *p)
{
    struct map said = map_in(r->a);

    for (size_t i = 0; i < p->summary.n; i++) {
        struct parsed_entry *entry = &p->summary.v[i];
        if (!parsed_is_cut(entry) || map_has(&said, entry->name))
            continue;
        map_put(&said, entry->name, entry);
        say_not_written(r, entry->name,
                        "the payload has only its name (one with a larger --budget has its text)");
    }
}

static enum status write_all(struct request *r, const struct parsed *p, int dir, struct err *e)
{
    size_t refused = 0;

    for (size_t i = 0; i < p->resources.n; i++) {
        const struct parsed_resource *x = &p->resources.v[i];
        struct sv                     path;
        if (!place_of(r, x, true, &path) || is_there(r, dir, path, x->body))
            continue;
        const char *why = not_the_file(r, x);
        if (why) {
            say_not_written(r, x->name, why);
            refused++;
            continue;
        }
        struct sv parent = path_dir(path);
        if ((parent.n && fs_mkdirs(dir, parent, e)) || fs_write(dir, path, x->body, 0644, e))
            return err_code(e);
    }
    if (refused) {
        err_set(&r->verdict, ST_CONFLICT, "%zu %s not written: the payload does not hold %s",
                refused, refused == 1 ? "file was" : "files were",
                refused == 1 ? "it as it is" : "them as they are");
        err_hint(&r->verdict, "the warnings say why, and what to do");
    }
    say_cut(r, p);
    return ST_OK;
}

static enum status check_runs(const struct request *r, struct sv dir, struct err *e)
{
    struct sb below = sb_in(r->a, 0);

    sb_add(&below, dir);
    sb_adds(&below, "/file");
    if (!payload_extract_refuses(sb_sv(&below)))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "programs may run what is in '" SV_FMT "'", SV_ARG(dir));
    return err_hint(e, "name a directory without a dot in front; `heddle payload --parse` in a "
                       "shell writes anywhere");
}

/* A person at a shell may name any directory. What another door names is judged as the paths of the
 * payload are, by its name and by where it really is: `config` below `.git` would run. */
static enum status open_into(struct request *r, struct sv into, int *dir, struct err *e)
{
    struct sv  path;
    struct err ignored;

    if (!r->directory && !path_normal(into, r->a, &path, &ignored) && check_runs(r, path, e))
        return err_code(e);
    if (request_directory(r, into, dir, e))
        return err_code(e);
    if (r->directory)
        return ST_OK;
    if (!fs_path_below(*dir, workspace_project_fd(r->ws), r->a, &path))
        return err_set(e, ST_IO, "where '" SV_FMT "' is cannot be found out", SV_ARG(into));
    return check_runs(r, path, e);
}

enum status payload_extract(struct request *r, const struct parsed *p, struct sv into, bool force,
                            struct err *e)
{
    UNDO(fd_undo) int dir = -1;

    if (p->ends_early) {
        err_set(e, ST_INVALID_SYNTAX,
                "the payload ends too early: its last line, ---, or a resource is missing");
        return err_hint(e, "nothing was written; get the whole file, or make it again");
    }
    if (open_into(r, into, &dir, e) || (!force && check_free(r, p, dir, e)))
        return err_code(e);
    return write_all(r, p, dir, e);
}
