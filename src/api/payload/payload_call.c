/* From parameters to a payload: paths, the turn, pages, and attempts to write it. */
#include "api/payload/payload_call.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/path.h"
#include "payload/emit.h"
#include "payload/session.h"
#include "payload/show.h"
#include "project/glob.h"
#include "project/pattern.h"

#include <limits.h>
#include <stdlib.h>

const char *const payload_formats[] = { "markdown", "xml", "json", NULL };

/* ---- paths ---------------------------------------------------------------------------------- */

static enum status outside(const struct workspace *ws, struct sv path, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' is not below the workspace", SV_ARG(path));
    return err_hint(e, "the workspace is " SV_FMT, SV_ARG(workspace_project(ws)));
}

/* A path relative to the current directory, as a path below the root. */
static enum status below_root(const struct workspace *ws, struct sv path, struct arena *a,
                              struct sv *out, struct err *e)
{
    char      real[PATH_MAX];
    struct sv full = path.s[0] == '/' ? path : path_join(ws->start, path, a);

    if (!realpath(sv_cstr(full, a), real))
        return err_errno(e, SV_FMT, SV_ARG(path));
    struct sv absolute = sv_dup(sv_of(real), a);
    struct sv start = path_join(workspace_project(ws), SV(""), a);
    if (!sv_starts(absolute, start))
        return outside(ws, path, e);
    *out = sv_skip(absolute, start.n);
    return ST_OK;
}

/* The current directory as a path below the root; "" when it is the root, or is not below it. */
static struct sv here_of(const struct workspace *ws, struct arena *a)
{
    struct sv start = path_join(workspace_project(ws), SV(""), a);

    return sv_starts(ws->start, start) ? sv_skip(ws->start, start.n) : SV("");
}

/* A path as an entry from the root. `must`: it has to exist. */
static enum status entry_of(const struct request *r, struct sv path, bool must, struct sv *out,
                            struct err *e)
{
    const struct workspace *ws = r->ws;
    struct sv top = path_join(workspace_project(ws), SV(""), r->a), full = path, below;

    *out = path;
    if (show_is_url(path) || !path.n)
        return ST_OK;
    if (path.s[0] != '/')
        full = path_join(ws->start, path, r->a);
    else if (!sv_starts(path, top) && !sv_eq(path, workspace_project(ws)))
        return below_root(ws, path, r->a, out, e) ? err_code(e) : ST_OK;
    if (path_normal_exact(full, r->a, &below, e))
        return outside(ws, path, e);
    full = path_join(SV("/"), below, r->a);
    if (!sv_starts(full, top) && !sv_eq(full, workspace_project(ws)))
        return outside(ws, path, e);
    below = sv_skip(full, full.n > top.n ? top.n : full.n);
    bool there = true;
    if (must && below.n && fs_exists(workspace_project_fd(ws), below, &there, e))
        return err_code(e);
    if (!there && !glob_is(below) && !pattern_has_braces(below)) {
        err_set(e, ST_NOT_FOUND, "'" SV_FMT "' is not there", SV_ARG(path));
        return err_hint(e, "a list may name what is not there yet, the command line may not");
    }
    *out = path_join(SV("/"), below, r->a);
    return ST_OK;
}

/* git prints a name that is not plain ASCII in double quotes (core.quotePath). Such a name is
 * decoded, unless a file has the name as it is given. */
static enum status entry_of_name(const struct request *r, struct sv name, struct sv *out,
                                 struct err *e)
{
    struct sv decoded;
    bool      there = false;

    if (entry_of(r, name, false, out, e))
        return err_code(e);
    if (!sv_starts(name, SV("\"")) || !show_unshow(name, r->a, &decoded))
        return ST_OK;
    if (fs_exists(workspace_project_fd(r->ws), sv_skip(*out, 1), &there, e))
        return err_code(e);
    return there ? ST_OK : entry_of(r, decoded, false, out, e);
}

static enum status take_paths(const struct request *r, const struct payload_params *p,
                              struct payload_request *q, struct err *e)
{
    struct sv_list given = p->names.v ? p->names : p->paths;
    struct sv     *paths = ARENA_NEW(r->a, struct sv, given.n + 1);

    if (p->names.v && p->paths.n)
        return err_set(e, ST_USAGE, "paths and names do not go together");
    for (size_t i = 0; i < given.n; i++)
        if (p->names.v ? entry_of_name(r, given.v[i], &paths[i], e)
                       : entry_of(r, given.v[i], true, &paths[i], e))
            return err_code(e);
    q->paths = paths;
    q->n_paths = given.n;
    q->literal_paths = p->names.v != NULL;
    return ST_OK;
}

enum status payload_call_turn(const struct workspace *ws, struct sv turn, struct arena *a,
                              struct sv *session, struct sv *out, struct err *e)
{
    struct sv here = here_of(ws, a);

    if (turn.n && below_root(ws, turn, a, &here, e))
        return err_in(e, "--turn");
    struct session_place at = session_place_of(here);
    *session = at.session;
    *out = at.turn;
    if (turn.n && at.session.n && sv_eq(here, at.session)) {
        err_set(e, ST_INVALID_SYNTAX, "--turn: '" SV_FMT "' is a session", SV_ARG(turn));
        return err_hint(e, "name a directory of it such as " SV_FMT "/01", SV_ARG(turn));
    }
    if (turn.n && !out->n) { /* a directory laid out in some other way */
        *out = here;
        *session = path_dir(here);
    }
    return ST_OK;
}

enum status payload_call_text(struct request *r, struct sv file, struct sv text, struct sv *out,
                              struct err *e)
{
    *out = text;
    if ((file.s != NULL) == (text.s != NULL))
        return err_set(e, ST_USAGE, "file or text must be given, and not both");
    return file.s ? request_file(r, file, 0, out, e) : ST_OK;
}

/* ---- pages ---------------------------------------------------------------------------------- */

static struct sv variable_of(const struct workspace *ws, const char *name, const char *other)
{
    struct sv v = workspace_variable(ws, name);

    return v.n || !other ? v : workspace_variable(ws, other);
}

/* The user's proxies, as other programs take them from the environment. */
static struct sv proxy_of(const struct workspace *ws, const char *name, const char *other)
{
    struct sv v = variable_of(ws, name, other);

    return v.n ? v : variable_of(ws, "all_proxy", "ALL_PROXY");
}

static void set_fetch(const struct request *r, const struct payload_params *p,
                      struct fetch_config *f)
{
    const struct workspace *ws = r->ws;
    const struct config    *c = &ws->config;

    *f = (struct fetch_config)FETCH_DEFAULTS;
    f->now_ms = clock_now_ms();
    f->refresh = p->refresh && !r->no_network;
    f->offline = p->offline || r->no_network;
    f->allow_private = config_bool(c, "payload.allow_private_urls");
    f->timeout_ms = config_int(c, "payload.url_timeout_ms", f->timeout_ms);
    f->ttl_ms = config_int(c, "payload.url_ttl_ms", f->ttl_ms);
    f->max_bytes = (size_t)config_int(c, "payload.url_max_bytes", (int64_t)f->max_bytes);
    f->total_ms = config_int(c, "payload.url_total_ms", f->total_ms);
    f->proxy = config_text(c, "payload.proxy");
    f->http_proxy = proxy_of(ws, "http_proxy", NULL); /* HTTP_PROXY can be a request's header */
    f->https_proxy = proxy_of(ws, "https_proxy", "HTTPS_PROXY");
    f->no_proxy = variable_of(ws, "no_proxy", "NO_PROXY");
}

/* Pages are kept in the user's cache; the directory is made when there is a page to keep. */
static void open_web_cache(const struct request *r, struct payload_call *c)
{
    struct sv base = workspace_variable(r->ws, "XDG_CACHE_HOME");
    struct sv home = workspace_variable(r->ws, "HOME");
    bool      any = false;

    for (size_t i = 0; i < c->payload.lists.resources.n && !any; i++)
        any = c->payload.lists.resources.v[i].kind == RESOURCE_URL;
    if (!base.n && home.n)
        base = path_join(home, SV(".cache"), r->a);
    if (!any || !base.n || base.s[0] != '/')
        return;
    struct err        ignored;
    UNDO(fd_undo) int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sv         dir = path_join(sv_skip(base, 1), SV("heddle/web"), r->a);
    if (fs_mkdirs(top, dir, &ignored) ||
        fs_open(top, dir, O_PATH | O_DIRECTORY, &c->q.fetch.cache_fd, &ignored))
        c->q.fetch.cache_fd = -1;
}

/* ---- the request ---------------------------------------------------------------------------- */

static enum status tell(void *ctx, const char *what, size_t done, size_t all, struct err *e)
{
    struct request *r = ctx;

    request_progress(r, what, (int64_t)done, (int64_t)all);
    return request_check(r, e);
}

/* Patterns, one per line. */
static struct sv lines_of_list(struct sv_list list, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < list.n; i++) {
        if (i)
            sb_addc(&b, '\n');
        sb_add(&b, list.v[i]);
    }
    return list.n ? sb_sv(&b) : (struct sv){ 0 };
}

static size_t limit_of(int64_t n)
{
    return n == PARAM_UNSET ? 0 : (size_t)n;
}

static void set_request(struct request *r, const struct payload_params *p,
                        struct payload_request *q)
{
    *q = (struct payload_request){ .root_fd = workspace_project_fd(r->ws),
                                   .root = workspace_project(r->ws),
                                   .outside = !r->open };
    q->variables = r->ws->variables;
    q->here = here_of(r->ws, r->a);
    q->include = lines_of_list(p->include, r->a);
    q->exclude = lines_of_list(p->exclude, r->a);
    q->self = p->self;
    q->diff = p->diff;
    q->no_tree = p->no_tree;
    q->no_gitignore = p->no_gitignore;
    q->lock_files = p->lock_files;
    q->line_numbers = p->line_numbers;
    q->allow_secrets = p->allow_secrets;
    q->estimate = p->estimate;
    q->hash = p->manifest;
    q->budget = p->budget == PARAM_UNSET ? 0 : p->budget;
    q->count = p->count || p->manifest || q->budget;
    q->tree.max_depth = limit_of(p->max_depth);
    q->tree.max_entries = limit_of(p->max_entries);
    q->progress = tell;
    q->progress_ctx = r;
    if (p->format.s)
        emit_format_find(p->format, &q->format);
    if (p->encoding.s)
        tokens_encoding_find(p->encoding, &q->encoding);
    set_fetch(r, p, &q->fetch);
}

enum status payload_call_begin(struct request *r, const struct payload_params *p,
                               struct payload_call *c, struct err *e)
{
    if (p->offline && p->refresh)
        return err_set(e, ST_USAGE, "--offline and --refresh do not go together");
    set_request(r, p, &c->q);
    if (payload_call_turn(r->ws, p->turn, r->a, &c->q.session, &c->q.turn, e) ||
        take_paths(r, p, &c->q, e))
        return err_code(e);
    payload_collect(&c->payload, &c->q, r->a);
    open_web_cache(r, c);
    return ST_OK;
}

void payload_call_end(struct payload_call *c)
{
    payload_release(&c->payload);
    fd_undo(&c->q.fetch.cache_fd);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

enum { ATTEMPTS = 5 };

static enum status write_once(struct request *r, struct payload_call *c, bool nowhere,
                              struct err *e)
{
    struct sb *out = NULL;

    if (c->q.budget && (payload_measure(&c->payload, e) || payload_apply_budget(&c->payload, e)))
        return err_code(e);
    if (!nowhere && request_out(r, &out, e))
        return err_code(e);
    return payload_write(&c->payload, out, e);
}

enum status payload_call_write(struct request *r, struct payload_call *c, bool nowhere,
                               struct err *e)
{
    for (int left = ATTEMPTS;;) {
        enum status s = write_once(r, c, nowhere, e);
        bool        changed = s == ST_CONFLICT && !e->reason[0]; /* else the caller gave up */
        if (!changed || --left == 0 || !(nowhere || request_out_drop(r)))
            return s;
        payload_release(&c->payload);
        payload_collect(&c->payload, &c->q, r->a);
    }
}

/* A tree full of pictures must not hide the one warning that matters; `explain` shows all. */
enum { WARNINGS_SHOWN = 10 };

void payload_call_warn(struct request *r, const struct payload_call *c, bool all)
{
    const struct sv none = { 0 };
    payload_notes   notes = payload_warnings(&c->payload, r->a);
    size_t          shown = all || notes.n <= WARNINGS_SHOWN ? notes.n : WARNINGS_SHOWN;

    for (size_t i = 0; i < shown; i++)
        request_warn(r, none, none, SV_FMT, SV_ARG(notes.v[i]));
    if (shown < notes.n)
        request_warn(r, none, none, "… and %zu more (heddle payload --explain lists them)",
                     notes.n - shown);
}

void payload_call_warn_empty(struct request *r, const struct payload_call *c)
{
    const struct sv none = { 0 };

    if (!c->payload.lists.resources.n)
        request_warn(r, none, none,
                     "nothing is listed, so this has no contents: name paths (heddle payload "
                     "README.md src/), or write them to .teddy/global.context, one per line");
}
