/* harness.install: heddle in the settings of another program. */
#include "api/install/install.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "api/user_file.h"
#include "base/diff.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct install_params {
    struct sv harness, scope, thread, agent, program, plugin;
    bool      remove, dry_run;
};

/* clang-format off */
static const char *const harnesses[] = {
#define X(id, name, title) name,
    HARNESS_TABLE(X)
#undef X
    NULL,
};
static const char *const scopes[] = { "project", "user", NULL };
static const char *const actions[] = { "created", "changed", "removed", "unchanged", NULL };
static const struct param params[] = {
    { "harness", PARAM_ENUM, offsetof(struct install_params, harness), .required = true, .value = "NAME", .values = harnesses, .help = "which program" },
    { "scope",   PARAM_ENUM, offsetof(struct install_params, scope),   .value = "S", .values = scopes, .fallback = "project", .help = "project: this workspace (the default); user: everything you work on" },
    { "thread",  PARAM_NAME, offsetof(struct install_params, thread),  .value = "T", .help = "the thread of sessions that are not bound to one; what it may only read is denied" },
    { "agent",   PARAM_NAME, offsetof(struct install_params, agent),   .value = "A", .help = "the agent that its MCP server acts for" },
    { "program", PARAM_TEXT, offsetof(struct install_params, program), .value = "PATH", .fallback = "heddle", .help = "how heddle is called (default: heddle)" },
    { "plugin",  PARAM_TEXT, offsetof(struct install_params, plugin),  .value = "DIR", .help = "claude-code: write a plugin directory in the place of settings" },
    { "remove",  PARAM_FLAG, offsetof(struct install_params, remove),  .help = "take out what was put in" },
    { "dry_run", PARAM_FLAG, offsetof(struct install_params, dry_run), .help = "show what would change, and change nothing" },
    { 0 },
};
static const struct field change_fields[] = {
    { "path",   FIELD_TEXT, .help = "the file" },
    { "action", FIELD_ENUM, .values = actions, .help = "what became of it, or would" },
    { "diff",   FIELD_TEXT, .help = "its lines that change, with + or - in front; empty: none" },
    { 0 },
};
static const struct field answer[] = {
    { "harness", FIELD_ENUM, .values = harnesses, .help = "the program" },
    { "scope",   FIELD_ENUM, .values = scopes, .help = "whose settings" },
    { "dry_run", FIELD_FLAG, .help = "whether nothing was written" },
    { "items",   FIELD_LIST, .of = change_fields, .help = "the files" },
    { "notes",   FIELD_LIST, .help = "what is left to do, or to know" },
    { 0 },
};
/* clang-format on */

/* ---- where --------------------------------------------------------------------------------- */

static const struct {
    const char *variable, *below_home;
} user_dirs[HARNESS_COUNT] = {
    [HARNESS_CLAUDE_CODE] = { "CLAUDE_CONFIG_DIR", ".claude" },
    [HARNESS_CODEX] = { "CODEX_HOME", ".codex" },
    [HARNESS_OPENCODE] = { "OPENCODE_CONFIG_DIR", ".config/opencode" },
    [HARNESS_GEMINI] = { NULL, ".gemini" },
    [HARNESS_PI] = { "PI_CODING_AGENT_DIR", ".pi/agent" },
};

/* The directory with the user's settings of a program. */
static enum status user_base(struct request *r, struct install_wish *w, struct sv *out,
                             struct err *e)
{
    const char *variable = user_dirs[w->harness].variable;
    struct sv   home = workspace_variable(r->ws, "HOME"), xdg;

    *out = variable ? workspace_variable(r->ws, variable) : (struct sv){ 0 };
    w->moved = sv_starts(*out, SV("/"));
    if (w->moved)
        return ST_OK;
    xdg = workspace_variable(r->ws, "XDG_CONFIG_HOME");
    if (w->harness == HARNESS_OPENCODE && sv_starts(xdg, SV("/"))) {
        *out = path_join(xdg, SV("opencode"), r->a);
        return ST_OK;
    }
    if (!sv_starts(home, SV("/")))
        return err_set(e, ST_NOT_FOUND, "HOME is not set: where are your settings?");
    *out = path_join(home, sv_of(user_dirs[w->harness].below_home), r->a);
    return ST_OK;
}

static enum status project_base(struct request *r, struct sv *out, struct err *e)
{
    if (!r->ws->is_workspace) {
        err_set(e, ST_NOT_FOUND, SV_FMT " is not a workspace", SV_ARG(r->ws->root));
        return err_hint(e, "`heddle init` makes it one; --scope user installs for all of them");
    }
    *out = workspace_project(r->ws);
    return ST_OK;
}

/* ---- what may only be read ----------------------------------------------------------------- */

const char *const install_denied[] = { ".leslie/*.json", ".leslie/threads/.global/**",
                                       ".leslie/threads/*/context/inherited/**", ".heddle/**",
                                       NULL };

/* Rules that hold for every thread, then the references of one. */
static enum status find_denied(struct request *r, struct sv thread, struct sv_list *out,
                               struct err *e)
{
    struct share        s;
    struct share_thread t;
    struct sv          *targets = NULL;
    size_t              n = 0;

    for (size_t i = 0; install_denied[i]; i++)
        param_list_add(out, sv_of(install_denied[i]), r->a);
    if (!thread.n)
        return ST_OK;
    if (share_call_begin(r, &s, STORE_READ, e) || share_thread(&s, thread, &t, e) ||
        share_ids(&s, SHARE_TARGETS, thread, r->a, &targets, &n, e))
        return share_call_fail(r, &s, e);
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(r->a, 0);
        sb_addf(&b, SV_FMT "/**", SV_ARG(share_dir(targets[i], r->a)));
        param_list_add(out, sb_sv(&b), r->a);
    }
    return share_call_end(r, &s);
}

/* ---- one file ------------------------------------------------------------------------------ */

struct change {
    struct sv   path;          /* absolute */
    int         root;          /* the directory below which it is reached, ... */
    struct sv   name;          /* ... under this name */
    struct sv   before, after; /* absent: no file */
    struct sv   origin;        /* what it was before heddle changed it */
    int         mode;
    const char *action;
};

/* Follows a link: settings of a user may be in a directory of dotfiles, those of a project must
 * stay inside the project. */
static enum status find_file(struct request *r, const struct install_wish *w, struct change *c,
                             struct err *e)
{
    char        real[PATH_MAX];
    struct sv   root = workspace_project(r->ws);
    struct stat st;

    if (realpath(sv_cstr(c->path, r->a), real)) {
        c->path = sv_dup(sv_of(real), r->a);
    } else if (lstat(sv_cstr(c->path, r->a), &st) == 0 && S_ISLNK(st.st_mode)) {
        err_set(e, ST_CONFLICT, SV_FMT " is a link to a file that is not there", SV_ARG(c->path));
        return err_hint(e, "make the file, or remove the link");
    }
    c->root = AT_FDCWD;
    c->name = c->path;
    if (w->user || w->plugin)
        return ST_OK;
    if (!sv_starts(c->path, root) || c->path.n <= root.n + 1 || c->path.s[root.n] != '/')
        return err_set(e, ST_PERMISSION_DENIED, SV_FMT " leads out of the workspace",
                       SV_ARG(c->path));
    c->root = workspace_project_fd(r->ws);
    c->name = sv_skip(c->path, root.n + 1);
    return ST_OK;
}

static enum status open_file(const struct change *c, struct arena *a, int *fd, struct err *e)
{
    if (c->root != AT_FDCWD)
        return fs_open(c->root, c->name, O_RDONLY | O_NONBLOCK, fd, e);
    *fd = open(sv_cstr(c->name, a), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(c->path)) : ST_OK;
}

static enum status read_file(struct change *c, struct arena *a, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    c->mode = 0644;
    enum status s = open_file(c, a, &fd, e);
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(c->path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_IO, SV_FMT " is not a regular file", SV_ARG(c->path));
    c->mode = (int)(st.st_mode & 0777);
    return fs_read_fd(fd, 0, a, &c->before, e);
}

static enum status make_dirs(struct sv path, struct arena *a, struct err *e)
{
    for (size_t i = 1; i < path.n; i++)
        if (path.s[i] == '/' && mkdir(sv_cstr(sv_first(path, i), a), 0777) != 0 &&
            errno != EEXIST && errno != EROFS && errno != EACCES)
            return err_errno(e, "mkdir " SV_FMT, SV_ARG(sv_first(path, i)));
    return ST_OK;
}

static enum status write_outside(const struct change *c, struct arena *a, struct err *e)
{
    UNDO(fd_undo) int dir = -1;

    if (make_dirs(c->path, a, e))
        return err_code(e);
    dir = open(sv_cstr(path_dir(c->path), a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path_dir(c->path)));
    return fs_write(dir, path_base(c->path), c->after, c->mode, e);
}

static enum status write_inside(const struct change *c, struct err *e)
{
    struct sv dir = path_dir(c->name);

    if (dir.n && fs_mkdirs(c->root, dir, e))
        return err_code(e);
    return fs_write(c->root, c->name, c->after, c->mode, e);
}

/* Removes directories that are empty after the file was removed. */
static void remove_dirs(struct sv path, struct sv base, struct arena *a)
{
    while ((path = path_dir(path)).n > base.n && sv_starts(path, base) &&
           rmdir(sv_cstr(path, a)) == 0)
        ;
}

static enum status write_file(const struct change *c, struct sv base, struct arena *a,
                              struct err *e)
{
    if (c->after.s)
        return c->root == AT_FDCWD ? write_outside(c, a, e) : write_inside(c, e);
    if (c->root == AT_FDCWD && unlink(sv_cstr(c->path, a)) != 0)
        return err_errno(e, "remove " SV_FMT, SV_ARG(c->path));
    if (c->root != AT_FDCWD && fs_remove(c->root, c->name, e))
        return err_code(e);
    remove_dirs(c->path, base, a);
    return ST_OK;
}

static const char *action_of(const struct change *c)
{
    if (!c->before.s)
        return c->after.s ? "created" : "unchanged";
    if (!c->after.s)
        return "removed";
    return sv_eq(c->before, c->after) ? "unchanged" : "changed";
}

/* Decides what the file will contain. When it is as heddle left it, its original text is known to
 * the byte: from the state, or by taking heddle's parts out. */
static enum status settle(struct request *r, const struct install_file *f,
                          const struct install_wish *w, bool remove, struct change *c,
                          struct err *e)
{
    struct sv bare, kept;
    bool      exact;

    if (install_state_find(r->ws, c->path, c->before, r->a, &kept, &exact, e))
        return err_code(e);
    if (install_without(f, w->harness, exact ? kept : c->before, r->a, &bare, e) ||
        (kept.s && !exact && install_put_back(f, kept, c->before, r->a, &bare, e)))
        return err_in(e, SV_FMT, SV_ARG(c->path));
    c->origin = exact ? kept : bare;
    c->after = c->origin;
    if (!remove && install_with(f, bare, r->a, &c->after, e))
        return err_in(e, SV_FMT, SV_ARG(c->path));
    c->action = action_of(c);
    return ST_OK;
}

/* ---- the document -------------------------------------------------------------------------- */

static void add_line(void *ctx, char mark, struct sv line)
{
    struct sb *b = ctx;

    if (mark == ' ')
        return;
    sb_addf(b, "%c ", mark);
    sb_add(b, line);
    sb_addc(b, '\n');
}

static void put_change(struct request *r, const struct change *c)
{
    struct sb diff = sb_in(r->a, 0);

    if (!diff_lines(c->before, c->after, add_line, &diff))
        sb_adds(&diff, "(too many lines to compare)\n");
    jw_open(r->doc, '{');
    jw_klossy(r->doc, "path", c->path);
    jw_kstr(r->doc, "action", sv_of(c->action));
    jw_klossy(r->doc, "diff", sb_sv(&diff));
    jw_close(r->doc, '}');
}

static void put_answer(struct request *r, const struct install_params *p,
                       const struct install_plan *plan, const struct change *changes)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "harness", p->harness);
    jw_kstr(r->doc, "scope", p->scope);
    jw_kbool(r->doc, "dry_run", p->dry_run);
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < plan->files.n; i++)
        put_change(r, &changes[i]);
    jw_close(r->doc, ']');
    jw_ktexts(r->doc, "notes", p->remove ? NULL : plan->notes.v, p->remove ? 0 : plan->notes.n);
    jw_close(r->doc, '}');
}

/* ---- all of it ----------------------------------------------------------------------------- */

static enum status read_wish(struct request *r, const struct install_params *p,
                             struct install_wish *w, struct sv *base, struct err *e)
{
    *w = (struct install_wish){ .user = sv_is(p->scope, "user"),
                                .program = p->program,
                                .thread = p->thread,
                                .agent = p->agent,
                                .plugin = p->plugin.n > 0 };
    harness_find(p->harness, &w->harness);
    if (w->plugin && w->harness != HARNESS_CLAUDE_CODE)
        return err_set(e, ST_USAGE, "plugin directories are for claude-code alone");
    if (w->plugin) {
        *base =
            sv_starts(p->plugin, SV("/")) ? p->plugin : path_join(r->ws->start, p->plugin, r->a);
        return ST_OK;
    }
    if (w->user ? user_base(r, w, base, e) : project_base(r, base, e))
        return err_code(e);
    return w->user ? ST_OK
                   : find_denied(r, p->remove ? (struct sv){ 0 } : p->thread, &w->denied, e);
}

/* Warns when the program is not found: agents ignore a hook that cannot be started, so nobody would
 * notice. */
static void warn_of_program(struct request *r, struct sv program)
{
    struct sv_cut c = { .tail = workspace_variable(r->ws, "PATH"), .found = true };

    while (c.found && !sv_has(program, '/')) {
        c = sv_cut(c.tail, ':');
        if (access(sv_cstr(path_join(c.head, program, r->a), r->a), X_OK) == 0)
            return;
    }
    if (!sv_has(program, '/') || access(sv_cstr(program, r->a), X_OK) != 0)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "'" SV_FMT "' is not found: hooks that run it do nothing, and nobody says so. "
                     "Put it into PATH, or name it with --program",
                     SV_ARG(program));
}

/* Writes the files. All of them were read and checked before, so that an error leaves them
 * unchanged. */
static enum status write_all(struct request *r, const struct install_plan *plan,
                             const struct install_wish *w, const struct change *changes,
                             struct err *e)
{
    struct sv home = workspace_variable(r->ws, "HOME"), floor = plan->base;

    if (w->user && sv_starts(floor, home))
        floor = home; /* empty directories are removed up to this one */
    for (size_t i = 0; i < plan->files.n; i++) {
        const struct change *c = &changes[i];
        if (sv_is(sv_of(c->action), "unchanged"))
            continue;
        if (install_state_keep(r->ws, &plan->files.v[i], w->harness, c->path, c->origin, c->after,
                               r->a, e) ||
            write_file(c, floor, r->a, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct install_params *p = given;
    struct install_wish          w;
    struct install_plan          plan = { .a = r->a };

    if (read_wish(r, p, &w, &plan.base, e))
        return err_code(e);
    install_plan_make(&plan, &w);
    struct change *changes = ARENA_NEW(r->a, struct change, plan.files.n + 1);
    for (size_t i = 0; i < plan.files.n; i++) {
        changes[i].path = path_join(plan.base, plan.files.v[i].name, r->a);
        if (find_file(r, &w, &changes[i], e) || read_file(&changes[i], r->a, e) ||
            settle(r, &plan.files.v[i], &w, p->remove, &changes[i], e))
            return err_code(e);
    }
    for (size_t i = 0; p->remove && i < plan.files.n; i++)
        if (install_is_taken(&plan.files.v[i], changes[i].after, r->a))
            request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                         SV_FMT
                         ": what is called heddle in it is not what `heddle install` writes, "
                         "and stays",
                         SV_ARG(changes[i].path));
    if (!p->dry_run && write_all(r, &plan, &w, changes, e))
        return err_code(e);
    if (!p->remove)
        warn_of_program(r, p->program);
    put_answer(r, p, &plan, changes);
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items"), *notes = json_find(doc, "notes");
    bool               dry = json_truth(json_find(doc, "dry_run"));

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        term_f(t, "%-9.*s  ", SV_ARG(json_text(x, "action")));
        term_text(t, json_text(x, "path"));
        term_f(t, "\n");
        if (dry)
            term_text(t, json_text(x, "diff"));
    }
    for (size_t i = 0; i < notes->n; i++) {
        term_f(t, "note: ");
        term_text(t, json_sv(&notes->items[i]));
        term_f(t, "\n");
    }
    if (dry)
        term_f(t, "nothing was written\n");
}

const struct operation op_harness_install = {
    .name = "harness.install",
    .summary = "Put heddle into the settings of a coding agent",
    .details =
        "Hooks tell heddle when a session starts, resumes, is compacted or ends: the session is "
        "bound\n"
        "to a thread, gets its <thread_context> at these points, and is recorded in the thread's "
        "log.\n"
        "Writes below referenced threads and frozen copies are denied. The MCP server gives the "
        "agent\n"
        "tools of heddle, and a skill or a few lines in AGENTS.md tell it what a block means.\n"
        "\n"
        "Everything else in the files stays as it is, to the byte; twice is the same as once, and\n"
        "--remove (or `heddle uninstall`) restores what was there. Run it again after references "
        "of\n"
        "--thread have changed.\n"
        "\n"
        "  heddle install claude-code --thread build --dry-run\n"
        "  heddle install codex --scope user",
    .group = GROUP_DOORS,
    .needs = NEEDS_ROOT,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct install_params),
    .answer = answer,
    .run = run,
    .print = print,
};
