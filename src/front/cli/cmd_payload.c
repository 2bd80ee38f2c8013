/* `payload` (`teddy context`): the whole worldview of a turn as one document. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "front/cli/payload_out.h"
#include "front/cli/payload_report.h"
#include "front/cli/progress.h"
#include "payload/emit.h"
#include "payload/session.h"
#include "payload/show.h"
#include "project/glob.h"
#include "project/pattern.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct payload_opts {
    struct sv turn, output, include, exclude, format, encoding, check, since, parse, manifest;
    int64_t   budget, max_depth, max_entries;
    bool copy, no_copy, explain, token_tree, diff, line_numbers, allow_secrets, refresh, offline,
        estimate, no_tree, no_gitignore, lock_files, from_stdin, force;
};

/* clang-format off */
#define O(field) offsetof(struct payload_opts, field)
static const struct opt opts[] = {
    { OPT_TEXT,   "turn",          "DIR",  "the turn to make it for; its input.md is written", O(turn), 0 },
    { OPT_TEXT,   "output",        "FILE", "write to FILE; - is stdout, the default outside a turn", O(output), 'o' },
    { OPT_NUMBER, "budget",        "N",    "at most N tokens: what does not fit is left out, and named", O(budget), 0 },
    { OPT_FLAG,   "copy",          NULL,   "copy it to the clipboard as well", O(copy), 0 },
    { OPT_FLAG,   "no-copy",       NULL,   "do not copy (the default, except as `teddy context`)", O(no_copy), 0 },
    { OPT_LINES,  "include",       "GLOB", "add the files that match, as .gitignore patterns do; also {a,b}", O(include), 0 },
    { OPT_LINES,  "exclude",       "GLOB", "leave out the resources that match", O(exclude), 0 },
    { OPT_FLAG,   "stdin",         NULL,   "add the files named on stdin, one a line or with NUL between", O(from_stdin), 0 },
    { OPT_FLAG,   "diff",          NULL,   "add the changes of the working tree (git diff HEAD)", O(diff), 0 },
    { OPT_FLAG,   "line-numbers",  NULL,   "number the lines of contents", O(line_numbers), 0 },
    { OPT_TEXT,   "format",        "F",    "markdown (the default), xml or json", O(format), 0 },
    { OPT_NUMBER, "max-depth",     "N",    "show N levels of the project's tree", O(max_depth), 0 },
    { OPT_NUMBER, "max-entries",   "N",    "show N lines of the project's tree", O(max_entries), 0 },
    { OPT_FLAG,   "no-tree",       NULL,   "leave out the project's tree", O(no_tree), 0 },
    { OPT_FLAG,   "no-gitignore",  NULL,   "list what git ignores as well; .teddyignore still counts", O(no_gitignore), 0 },
    { OPT_FLAG,   "lock-files",    NULL,   "take lock files (package-lock.json, Cargo.lock …) from folders too", O(lock_files), 0 },
    { OPT_FLAG,   "allow-secrets", NULL,   "show files that seem to hold keys or tokens", O(allow_secrets), 0 },
    { OPT_FLAG,   "refresh",       NULL,   "fetch pages anew, whatever is kept", O(refresh), 0 },
    { OPT_FLAG,   "offline",       NULL,   "use only pages that are kept", O(offline), 0 },
    { OPT_FLAG,   "explain",       NULL,   "print where bytes and tokens go, in place of the payload", O(explain), 0 },
    { OPT_FLAG,   "token-tree",    NULL,   "print the tokens of every folder and file", O(token_tree), 0 },
    { OPT_TEXT,   "encoding",      "E",    "count in o200k_base (the default) or cl100k_base", O(encoding), 0 },
    { OPT_FLAG,   "estimate",      NULL,   "count a quarter of the characters", O(estimate), 0 },
    { OPT_TEXT,   "check",         "FILE", "does FILE still hold what a payload would hold now?", O(check), 0 },
    { OPT_TEXT,   "manifest",      "FILE", "with --check: compare with this manifest instead", O(manifest), 0 },
    { OPT_TEXT,   "since",         "FILE", "list what changed since the payload or manifest FILE", O(since), 0 },
    { OPT_TEXT,   "parse",         "FILE", "read FILE back: list, JSON, or files below --output DIR", O(parse), 0 },
    { OPT_FLAG,   "force",         NULL,   "with --parse: write over files that are there", O(force), 0 },
    { 0 },
};
#undef O
/* clang-format on */

/* ---- from options to a request ------------------------------------------------------------ */

static enum status outside(const struct app *app, struct sv path, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' is not below the workspace", SV_ARG(path));
    return err_hint(e, "the workspace is " SV_FMT, SV_ARG(app->ws.root));
}

/* A path of the command line, as a path below the root. */
static enum status below_root(struct app *app, struct sv path, struct sv *out, struct err *e)
{
    char      real[PATH_MAX];
    struct sv full = path.s[0] == '/' ? path : path_join(app->ws.start, path, app->a);

    if (!realpath(sv_cstr(full, app->a), real))
        return err_errno(e, SV_FMT, SV_ARG(path));
    struct sv absolute = sv_dup(sv_of(real), app->a);
    struct sv start = path_join(app->ws.root, SV(""), app->a);
    if (!sv_starts(absolute, start))
        return outside(app, path, e);
    *out = sv_skip(absolute, start.n);
    return ST_OK;
}

/* The current directory below the root; "" when it is the root, or is not below it. */
static struct sv here_of(struct app *app)
{
    struct sv start = path_join(app->ws.root, SV(""), app->a);

    return sv_starts(app->ws.start, start) ? sv_skip(app->ws.start, start.n) : SV("");
}

/* A path of the command line as an entry from the root. `must`: it has to be there. */
static enum status entry_of(struct app *app, struct sv path, bool must, struct sv *out,
                            struct err *e)
{
    struct sv top = path_join(app->ws.root, SV(""), app->a), full = path, below;

    *out = path;
    if (is_url(path) || !path.n)
        return ST_OK;
    if (path.s[0] != '/')
        full = path_join(app->ws.start, path, app->a);
    else if (!sv_starts(path, top) && !sv_eq(path, app->ws.root))
        return below_root(app, path, out, e) ? err_code(e) : ST_OK;
    if (path_normal_exact(full, app->a, &below, e))
        return outside(app, path, e);
    full = path_join(SV("/"), below, app->a);
    if (!sv_starts(full, top) && !sv_eq(full, app->ws.root))
        return outside(app, path, e);
    below = sv_skip(full, full.n > top.n ? top.n : full.n);
    bool there = true;
    if (must && below.n && fs_exists(app->ws.root_fd, below, &there, e))
        return err_code(e);
    if (!there && !glob_is(below) && !pattern_has_braces(below)) {
        err_set(e, ST_NOT_FOUND, "'" SV_FMT "' is not there", SV_ARG(path));
        return err_hint(e, "a list may name what is not there yet, the command line may not");
    }
    *out = path_join(SV("/"), below, app->a);
    return ST_OK;
}

static enum status take_paths(struct app *app, struct payload_request *q, struct err *e)
{
    struct sv *paths = ARENA_NEW(app->a, struct sv, app->n_args + 1);

    for (size_t i = 0; i < app->n_args; i++)
        if (entry_of(app, app_arg(app, i), true, &paths[i], e))
            return err_code(e);
    q->paths = paths;
    q->n_paths = app->n_args;
    return ST_OK;
}

enum { STDIN_LIMIT = 64 << 20 };

/* Names as other programs print them: with NUL between when there is one, else one a line. */
static enum status take_stdin(struct app *app, struct payload_request *q, struct err *e)
{
    VEC(struct sv) paths = { 0 };
    struct sv text;

    if (app->n_args)
        return err_set(e, ST_USAGE, "--stdin and paths on the command line do not go together");
    if (fs_read_fd(0, STDIN_LIMIT, app->a, &text, e))
        return err_in(e, "stdin");
    char between = sv_has(text, 0) ? 0 : '\n';
    while (text.n) {
        struct sv_cut c = sv_cut(text, between);
        if (!between && c.head.n && c.head.s[c.head.n - 1] == '\r')
            c.head.n--;
        if (c.head.n && entry_of(app, c.head, false, vec_push(&paths, app->a), e))
            return err_code(e);
        text = c.tail;
    }
    q->paths = paths.v;
    q->n_paths = paths.n;
    q->literal_paths = true;
    return ST_OK;
}

static enum status find_turn(struct app *app, const struct payload_opts *o,
                             struct payload_request *q, struct err *e)
{
    struct sv here = here_of(app);

    if (o->turn.n && below_root(app, o->turn, &here, e))
        return err_in(e, "--turn");
    struct session_place at = session_place_of(here);
    q->session = at.session;
    q->turn = at.turn;
    if (o->turn.n && at.session.n && sv_eq(here, at.session)) {
        err_set(e, ST_INVALID_SYNTAX, "--turn: '" SV_FMT "' is a session", SV_ARG(o->turn));
        return err_hint(e, "name a folder of it such as " SV_FMT "/01", SV_ARG(o->turn));
    }
    if (o->turn.n && !q->turn.n) { /* a folder laid out in some other way */
        q->turn = here;
        q->session = path_dir(here);
    }
    return ST_OK;
}

static struct sv of_environment(const char *name, const char *other)
{
    struct sv v = sv_of(getenv(name));

    return v.n || !other ? v : sv_of(getenv(other));
}

/* The user's proxies, as other programs take them from the environment. */
static struct sv proxy_of(const char *name, const char *other)
{
    struct sv v = of_environment(name, other);

    return v.n ? v : of_environment("all_proxy", "ALL_PROXY");
}

static void set_fetch(struct app *app, const struct payload_opts *o, struct fetch_config *f)
{
    *f = (struct fetch_config)FETCH_DEFAULTS;
    f->now_ms = clock_now_ms();
    f->refresh = o->refresh;
    f->offline = o->offline;
    f->allow_private = config_bool(&app->ws.config, "payload.allow_private_urls");
    f->timeout_ms = config_int(&app->ws.config, "payload.url_timeout_ms", f->timeout_ms);
    f->ttl_ms = config_int(&app->ws.config, "payload.url_ttl_ms", f->ttl_ms);
    f->max_bytes =
        (size_t)config_int(&app->ws.config, "payload.url_max_bytes", (int64_t)f->max_bytes);
    f->total_ms = config_int(&app->ws.config, "payload.url_total_ms", f->total_ms);
    f->proxy = config_text(&app->ws.config, "payload.proxy");
    f->http_proxy = proxy_of("http_proxy", NULL); /* HTTP_PROXY can come from a request's header */
    f->https_proxy = proxy_of("https_proxy", "HTTPS_PROXY");
    f->no_proxy = of_environment("no_proxy", "NO_PROXY");
}

static enum status set_numbers(const struct payload_opts *o, struct payload_request *q,
                               struct err *e)
{
    const struct {
        const char *name;
        int64_t     value;
    } all[] = { { "budget", o->budget },
                { "max-depth", o->max_depth },
                { "max-entries", o->max_entries } };

    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].value != OPT_UNSET && all[i].value < 1)
            return err_set(e, ST_USAGE, "--%s takes a number of at least 1", all[i].name);
    q->budget = o->budget == OPT_UNSET ? 0 : o->budget;
    q->tree.max_depth = o->max_depth == OPT_UNSET ? 0 : (size_t)o->max_depth;
    q->tree.max_entries = o->max_entries == OPT_UNSET ? 0 : (size_t)o->max_entries;
    return ST_OK;
}

/* One command, one run: the line on the terminal belongs to it. */
static struct progress working;

static void show_progress(size_t done, size_t all)
{
    working.total = (int64_t)all;
    progress_at(&working, (int64_t)done);
}

static void show_fetching(size_t done, size_t all)
{
    static struct progress fetching;

    if (!fetching.what)
        fetching = progress_of("fetching pages", (int64_t)all);
    progress_at(&fetching, (int64_t)done);
    if (done == all)
        progress_end(&fetching);
}

static enum status make_request(struct app *app, const struct payload_opts *o,
                                struct payload_request *q, struct err *e)
{
    *q = (struct payload_request){ .root_fd = app->ws.root_fd, .root = app->ws.root };
    q->here = here_of(app);
    q->include = o->include;
    q->exclude = o->exclude;
    q->diff = o->diff;
    q->no_tree = o->no_tree;
    q->no_gitignore = o->no_gitignore;
    q->lock_files = o->lock_files;
    q->line_numbers = o->line_numbers;
    q->allow_secrets = o->allow_secrets;
    q->estimate = o->estimate;
    q->hash = app->json || o->check.n || o->since.n;
    q->count = app->json || o->explain || o->token_tree || o->budget != OPT_UNSET;
    q->progress = show_progress;
    q->fetching = show_fetching;
    working = progress_of("packing", 0);
    set_fetch(app, o, &q->fetch);
    if (o->format.s && !emit_format_find(o->format, &q->format))
        return err_set(e, ST_USAGE, "--format is markdown, xml or json, not '" SV_FMT "'",
                       SV_ARG(o->format));
    if (o->encoding.s && !tokens_encoding_find(o->encoding, &q->encoding))
        return err_set(e, ST_USAGE, "--encoding is o200k_base or cl100k_base, not '" SV_FMT "'",
                       SV_ARG(o->encoding));
    if (set_numbers(o, q, e))
        return err_code(e);
    if (find_turn(app, o, q, e) || (o->from_stdin ? take_stdin(app, q, e) : take_paths(app, q, e)))
        return err_code(e);
    /* The file that is written, or that was written and is looked at again, is no part of what
     * it describes: a second run would swallow the first. */
    struct sv file = o->check.n ? o->check : o->since.n ? o->since : o->output;
    q->self = payload_out_place(app, file, q->turn);
    return ST_OK;
}

/* Pages are kept in the user's cache; the folder is made when there is a page to keep. */
static void open_web_cache(struct app *app, const struct payload *p, struct payload_request *q)
{
    struct sv base = sv_of(getenv("XDG_CACHE_HOME")), home = sv_of(getenv("HOME"));
    bool      any = false;

    for (size_t i = 0; i < p->lists.resources.n && !any; i++)
        any = p->lists.resources.v[i].kind == RESOURCE_URL;
    if (!base.n && home.n)
        base = path_join(home, SV(".cache"), app->a);
    if (!any || !base.n || base.s[0] != '/')
        return;
    struct err        ignored;
    UNDO(fd_undo) int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sv         dir = path_join(sv_skip(base, 1), SV("heddle/web"), app->a);
    if (fs_mkdirs(top, dir, &ignored) ||
        fs_open(top, dir, O_PATH | O_DIRECTORY, &q->fetch.cache_fd, &ignored))
        q->fetch.cache_fd = -1;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* A tree full of pictures must not hide the one warning that matters; `explain` shows all. */
enum { WARNINGS_SHOWN = 10 };

static void say_warnings(struct app *app, const struct payload *p, bool explain)
{
    payload_notes notes = payload_warnings(p, app->a);
    size_t        shown = explain || notes.n <= WARNINGS_SHOWN ? notes.n : WARNINGS_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        struct sb b = sb_in(app->a, 0);
        sb_add_plain(&b, notes.v[i]);
        warn("%s", sb_sv(&b).s);
    }
    if (shown < notes.n)
        warn("… and %zu more (heddle payload --explain lists them)", notes.n - shown);
}

/* "95,860 bytes, 12 resources, 23,456 tokens" */
static void add_sizes(struct sb *b, const struct payload *p)
{
    int64_t n = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++)
        n += p->lists.resources.v[i].scopes && !p->lists.resources.v[i].cut;
    sb_add_commas(b, (int64_t)p->bytes);
    sb_adds(b, " bytes, ");
    sb_add_commas(b, n);
    sb_adds(b, n == 1 ? " resource" : " resources");
    if (p->counted_by.n) {
        sb_adds(b, p->is_estimate ? ", about " : ", ");
        sb_add_commas(b, (int64_t)p->tokens);
        sb_adds(b, " tokens");
    }
}

/* An empty payload is right where nothing is listed, and seldom what somebody wanted. */
static void say_if_empty(const struct payload *p)
{
    if (!p->lists.resources.n)
        warn("nothing is listed, so this has no contents: name paths (heddle payload README.md "
             "src/), or write them to .teddy/global.context, one a line");
}

static void say_done(struct app *app, const struct payload_opts *o, const struct payload *p,
                     const struct payload_out *d)
{
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        manifest_write(&w, p);
        sb_addc(&app->out, '\n');
    } else if (o->explain) {
        report_explain(&app->out, p);
    } else if (o->token_tree) {
        report_token_tree(&app->out, p);
    } else if (d->name.n && !(d->in_turn && sv_is(app->program, "teddy"))) {
        sb_adds(&app->out, "wrote ");
        sb_add_plain(&app->out, d->shown);
        sb_adds(&app->out, ", ");
        add_sizes(&app->out, p);
        sb_addc(&app->out, '\n');
    } else if (isatty(2) && !isatty(1)) {
        struct sb b = sb_in(app->a, 0);
        add_sizes(&b, p);
        fprintf(stderr, "%s\n", sb_sv(&b).s);
    }
}

/* A file that changes while it is read spoils one attempt, not the payload, until the first byte
 * was written to somebody else. */
enum { ATTEMPTS = 5 };

static enum status measure_and_write(struct app *app, const struct payload_request *q,
                                     struct payload *p, struct payload_out *d, bool copy,
                                     struct err *e)
{
    for (int left = ATTEMPTS;;) {
        enum status s = ST_OK;
        if (q->budget) {
            s = payload_measure(p, e);
            s = s ? s : payload_apply_budget(p, e);
        }
        s = s ? s : payload_out_write(app, p, d, copy, e);
        if (s != ST_CONFLICT || --left == 0 || !payload_out_may_repeat(d))
            return s;
        payload_release(p);
        payload_collect(p, q, app->a);
    }
}

static enum status compare_with(struct app *app, const struct payload_opts *o,
                                const struct payload_request *q, struct payload *p, struct err *e)
{
    struct sv     file = o->check.n ? o->check : o->since, text;
    manifest_rows then;

    if (app_file(app, file, 0, &text, e))
        return err_code(e);
    if (manifest_read(text, o->line_numbers, app->a, &then, e))
        return err_in(e, SV_FMT, SV_ARG(file));
    struct payload_out nowhere;
    if (payload_out_open(app, (struct sv){ 0 }, (struct sv){ 0 }, true, &nowhere, e) ||
        measure_and_write(app, q, p, &nowhere, false, e))
        return err_code(e);
    manifest_rows        now = manifest_of_payload(p, app->a);
    manifest_differences d = manifest_compare(&then, &now, app->a);
    if (!o->check.n || !d.n || !app->json)
        report_differences(app, &d);
    if (!o->check.n || !d.n)
        return ST_OK;
    err_set(e, ST_CONFLICT, "%zu %s changed since", d.n, d.n == 1 ? "thing has" : "things have");
    return err_hint(e, "`heddle payload --since FILE` lists them, `heddle payload` makes it anew");
}

static enum status build(struct app *app, const struct payload_opts *o, struct payload_request *q,
                         struct payload *p, struct err *e)
{
    struct payload_out d;
    bool copy = o->copy || (sv_is(app->program, "teddy") && !o->no_copy && !app->json);

    if (o->check.n || o->since.n)
        return compare_with(app, o, q, p, e);
    bool report = app->json || o->explain || o->token_tree;
    if (payload_out_open(app, o->output, q->turn, report, &d, e))
        return err_code(e);
    q->count = q->count || d.name.n || (isatty(2) && !isatty(1)); /* what is said at the end */
    enum status s = measure_and_write(app, q, p, &d, copy, e);
    progress_end(&working);
    if (!s) {
        if (!app->json)
            say_warnings(app, p, o->explain);
        say_if_empty(p);
        say_done(app, o, p, &d);
    }
    payload_out_close(&d);
    return s;
}

/* What other builds make on first use, so that a person finds where to write. */
static void make_defaults(struct app *app)
{
    struct err e;
    struct sv  list = SV("# One file, folder, glob or URL a line.\n");
    bool       there = false;

    if (fs_exists(app->ws.root_fd, SV(".teddy"), &there, &e))
        warn("%s", e.text);
    else if (!there && (workspace_make(&app->ws, SV(".teddy"), &e) ||
                        fs_write(app->ws.root_fd, SV(".teddy/.gitignore"), SV("*\n"), 0644, &e) ||
                        fs_write(app->ws.root_fd, SV(".teddy/global.context"), list, 0644, &e)))
        warn("%s", e.text);
}

/* An empty name comes from a variable of a script that is not set: `--check "$file"` must not
 * print a payload and succeed. */
static enum status check_names(const struct payload_opts *o, struct err *e)
{
    const struct {
        const char *name;
        struct sv   value;
    } all[] = { { "turn", o->turn },   { "output", o->output },     { "check", o->check },
                { "since", o->since }, { "manifest", o->manifest }, { "parse", o->parse } };

    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].value.s && !all[i].value.n)
            return err_set(e, ST_USAGE, "--%s takes a name, not an empty one", all[i].name);
    return ST_OK;
}

/* Of two that contradict each other none is silently obeyed. */
static enum status check_pairs(const struct payload_opts *o, struct err *e)
{
    const struct {
        const char *one, *other;
        bool        both;
    } pairs[] = {
        { "copy", "no-copy", o->copy && o->no_copy },
        { "offline", "refresh", o->offline && o->refresh },
        { "explain", "token-tree", o->explain && o->token_tree },
        { "check", "since", o->check.n && o->since.n },
        { "parse", "check", o->parse.n && o->check.n },
        { "parse", "since", o->parse.n && o->since.n },
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i].both)
            return err_set(e, ST_USAGE, "--%s and --%s do not go together", pairs[i].one,
                           pairs[i].other);
    return ST_OK;
}

static enum status run(struct app *app, const void *opts_, struct err *e)
{
    const struct payload_opts *o = opts_;
    struct payload_request     q;
    struct payload             p;

    if (check_names(o, e) || check_pairs(o, e))
        return err_code(e);
    if (app->n_args && (o->parse.n || o->manifest.n))
        return err_set(e, ST_USAGE, "paths do not go with --%s", o->parse.n ? "parse" : "manifest");
    if (o->parse.n)
        return report_parse(app, o->parse, o->output, o->force, e);
    if (o->force)
        return err_set(e, ST_USAGE, "--force goes with --parse");
    if (o->manifest.n && !o->check.n)
        return err_set(e, ST_USAGE, "--manifest goes with --check");
    if (o->manifest.n)
        return report_check_manifest(app, o->check, o->manifest, o->line_numbers, e);
    if (sv_is(app->program, "teddy"))
        make_defaults(app);
    if (make_request(app, o, &q, e))
        return err_code(e);
    payload_collect(&p, &q, app->a);
    open_web_cache(app, &p, &q);
    enum status s = build(app, o, &q, &p, e);
    payload_release(&p);
    fd_undo(&q.fetch.cache_fd);
    return s;
}

const struct command cmd_payload = {
    .name = "payload",
    .synopsis = "[PATH...] [--turn DIR] [--output FILE|-] [--budget N] [--copy] [--include GLOB] "
                "[--json]",
    .max_args = SIZE_MAX,
    .group = GROUP_PAYLOAD,
    .summary = "Print what a model must know: tree, memos and contents",
    .details =
        "Resources come from the lists turn.context and session.context of the turn, and from\n"
        ".teddy/global.context: one file, folder, glob or URL a line. The tree obeys .gitignore,\n"
        "and .teddyignore over it. Each PATH is an entry of the turn's list as well, from the\n"
        "current directory.\n"
        "\n"
        "--json prints the manifest: path, scope, size, sha256 and tokens of every resource.\n"
        "With --json, --explain or --token-tree the payload itself goes only to a file.\n"
        "\n"
        "--check and --since compare with what the options they come with would give now: give\n"
        "those that the payload was made with. The file that is written is never part of it.\n"
        "\n"
        "--parse with --output writes nothing into directories whose names start with a dot, nor\n"
        "files that a shell or an editor would run, and nothing over a file that is there, except\n"
        "with --force.\n"
        "\n"
        "  heddle payload README.md src/ --budget 50000 > input.md\n"
        "  git diff --name-only main | heddle payload --stdin",
    .opts = opts,
    .opts_size = sizeof(struct payload_opts),
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run,
};
