/* `import` and `export`: trees of other looms. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "front/loom_env.h"
#include "loom/exchange.h"

#include <unistd.h>

enum { IMPORT_MAX = 1 << 30 };

static enum status read_file(struct app *app, struct sv name, struct sv *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (sv_is(name, "-"))
        return app_text(app, name, out, e);
    fd = open(sv_cstr(name, app->a), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, SV_FMT, SV_ARG(name));
    return fs_read_fd(fd, IMPORT_MAX, app->a, out, e);
}

/* T for the first tree of a file, T-2, T-3 … for the others. */
static struct sv thread_name(struct app *app, size_t i)
{
    struct sb b = sb_in(app->a, 0);

    sb_add(&b, app_arg(app, 0));
    if (i)
        sb_addf(&b, "-%zu", i + 1);
    return sb_sv(&b);
}

static void report(struct app *app, struct jw *w, struct sv thread, const struct foreign_tree *t,
                   const char *format)
{
    if (app->json) {
        jw_open(w, '{');
        jw_kstr(w, "thread", thread);
        jw_kstr(w, "format", sv_of(format));
        jw_kint(w, "nodes", (int64_t)t->n);
        jw_kint(w, "left_out", (int64_t)t->left_out);
        jw_close(w, '}');
        return;
    }
    sb_add_plain(&app->out, thread);
    sb_addf(&app->out, ": %zu node%s from %s\n", t->n, t->n == 1 ? "" : "s", format);
    if (t->left_out)
        warn("%zu node%s that no root reaches: left out", t->left_out, t->left_out == 1 ? "" : "s");
}

static enum status import_all(struct app *app, const struct foreign_tree *trees, size_t n,
                              struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct loom l = {
            .log = &app->log, .thread = thread_name(app, i), .a = app->a, .now = clock_now_ms()
        };
        if (name_check(l.thread, "thread id", e) || import_write(&l, &trees[i], app->actor, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status run_import(struct app *app, const void *opts, struct err *e)
{
    struct foreign_tree *trees;
    const char          *format;
    struct sv            text;
    size_t               n;

    (void)opts;
    if (read_file(app, app_arg(app, 1), &text, e))
        return err_code(e);
    if (import_read(text, app->a, &trees, &n, &format, e))
        return err_in(e, SV_FMT, SV_ARG(app_arg(app, 1)));
    if (log_begin(&app->log, app_arg(app, 0), STORE_WRITE, e))
        return err_code(e);
    enum status s = import_all(app, trees, n, e);
    if (!s)
        s = log_commit(&app->log, e);
    if (s) {
        log_abort(&app->log);
        return s;
    }
    struct jw w = jw_in(&app->out, 0);
    if (app->json)
        jw_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        report(app, &w, thread_name(app, i), &trees[i], format);
    if (app->json) {
        jw_close(&w, ']');
        sb_addc(&app->out, '\n');
    }
    return ST_OK;
}

struct export_opts {
    struct sv format, node;
};

static const struct opt export_table[] = {
    { OPT_TEXT, "format", "F", "openloom (default), markdown or json",
      offsetof(struct export_opts, format), 0 },
    { OPT_TEXT, "node", "ID", "markdown: the end of the path (default: where you are)",
      offsetof(struct export_opts, node), 0 },
    { 0 },
};

static enum status export_path(struct app *app, struct loom *l, struct sv node, struct err *e)
{
    struct node n;
    bool        found = true;

    if (node.s ? node_find(l, node, &n, e) : loom_position(l, app->actor, &n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_NOT_FOUND, "the tree is empty");
    return export_markdown(l, &n, &app->out, e);
}

static enum status run_export(struct app *app, const void *opts, struct err *e)
{
    const struct export_opts *o = opts;
    struct loom_env           env;
    struct session            session;
    enum status               s;

    if (o->format.s && !sv_is(o->format, "openloom") && !sv_is(o->format, "markdown") &&
        !sv_is(o->format, "json"))
        return err_set(e, ST_USAGE, "--format takes openloom, markdown or json");
    loom_env_init(&env, app);
    if (loom_env_open(&env, app_arg(app, 0), (struct sv){ 0 }, &session, e) ||
        loom_thread_check(app, app_arg(app, 0), e) ||
        log_begin(&app->log, app_arg(app, 0), STORE_READ, e))
        return err_code(e);
    if (sv_is(o->format, "markdown"))
        s = export_path(app, &session.loom, o->node, e);
    else if (sv_is(o->format, "json"))
        s = export_json(&session.loom, &app->out, e);
    else
        s = export_open_loom(&session.loom, app->actor, &app->out, e);
    log_abort(&app->log);
    return loom_node_hint(s, app_arg(app, 0), e);
}

const struct command cmd_import = {
    .name = "import",
    .synopsis = "T FILE|-",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Bring in a tree from another loom",
    .details =
        "Reads Open Loom 2.x, socketteer/loom and loomsidian files. A file with several trees "
        "makes the threads T, T-2, T-3 and so on. Everything is written or nothing.\n\n"
        "  heddle import marie marie.openloom",
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run_import,
};

const struct command cmd_export = {
    .name = "export",
    .synopsis = "T [--format openloom|markdown|json] [--node ID]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Write a tree for another loom, or a path as a text",
    .details =
        "openloom is Open Loom 2.0, with pruned branches marked; what an imported file carried "
        "beside its nodes is written again. markdown is the path to one node. json is heddle's "
        "own list of nodes. (`heddle log export` writes the whole log, loss-free.)\n\n"
        "  heddle export design --format markdown > design.md",
    .opts = export_table,
    .opts_size = sizeof(struct export_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .data = true,
    .run = run_export,
};
