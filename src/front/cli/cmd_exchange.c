/* `import` and `export`: trees of other looms, and sessions of other programs. The first word of an
 * import says which: the name of a program, or a thread. */
#include "base/fs.h"
#include "front/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

extern const struct operation op_tree_import, op_tree_export, op_harness_import, op_harness_export,
    op_harness_list, op_harness_found, op_lane_list;

enum { IMPORT_MAX = 1 << 30 };

/* ---- import ------------------------------------------------------------------------------ */

struct import_opts {
    bool      all, follow;
    struct sv thread, only;
};

static const struct opt import_opts[] = {
    { OPT_FLAG, "all", NULL, "of a program: every session where it keeps them",
      offsetof(struct import_opts, all), 0 },
    { OPT_TEXT, "only", "NAME",
      "with --all: the one that `heddle transcripts` lists under this name",
      offsetof(struct import_opts, only), 0 },
    { OPT_FLAG, "follow", NULL, "of a program: go on and import what is added, until it is stopped",
      offsetof(struct import_opts, follow), 0 },
    { OPT_TEXT, "thread", "T",
      "of a program: the thread of sessions that have none yet (default: one of their own)",
      offsetof(struct import_opts, thread), 0 },
    { 0 },
};

static enum status read_named(struct app *app, struct sv name, struct sv *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (sv_is(name, "-"))
        return app_text(app, name, out, e);
    fd = open(sv_cstr(name, app->a), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, SV_FMT, SV_ARG(name));
    return fs_read_fd(fd, IMPORT_MAX, app->a, out, e);
}

static enum status import_tree(struct app *app, struct err *e)
{
    static const struct command row = { .name = "import", .op = &op_tree_import };
    const struct operation     *op = &op_tree_import;
    void                       *p = params_init(op->params, op->params_size, app->a);
    struct sv                   text;

    if (app->n_args < 2) {
        err_set(e, ST_USAGE, "`heddle import` needs a thread and a file, or a program");
        return err_hint(e, "heddle import T FILE, or heddle import claude-code --all");
    }
    if (read_named(app, app_arg(app, 1), &text, e) ||
        command_set(op, p, "thread", app_arg(app, 0), app->a, e) ||
        command_set(op, p, "file", app_arg(app, 1), app->a, e) ||
        command_set(op, p, "text", text, app->a, e))
        return err_code(e);
    return command_call(app, &row, p, e);
}

static enum status import_sessions(struct app *app, const struct import_opts *o, struct err *e)
{
    static const struct command row = { .name = "import", .op = &op_harness_import };
    const struct operation     *op = &op_harness_import;
    void                       *p = params_init(op->params, op->params_size, app->a);

    if (command_set(op, p, "harness", app_arg(app, 0), app->a, e) ||
        command_set(op, p, "thread", o->thread, app->a, e) ||
        (app->n_args > 1 && command_set(op, p, "path", app_arg(app, 1), app->a, e)) ||
        command_set(op, p, "only", o->only, app->a, e) ||
        (o->all && command_set(op, p, "--all", SV("true"), app->a, e)) ||
        (o->follow && command_set(op, p, "--follow", SV("true"), app->a, e)))
        return err_code(e);
    return command_call(app, &row, p, e);
}

static bool is_program(struct sv word)
{
    const struct param *p = param_find(op_harness_import.params, SV("harness"));

    for (size_t i = 0; p->values[i]; i++)
        if (sv_is(word, p->values[i]))
            return true;
    return false;
}

static enum status run_import(struct app *app, const void *opts, struct err *e)
{
    const struct import_opts *o = opts;

    if (is_program(app_arg(app, 0)))
        return import_sessions(app, o, e);
    if (o->all || o->follow || o->thread.s || o->only.s) {
        err_set(e, ST_USAGE, "--all, --only, --follow and --thread are for sessions of programs");
        return err_hint(e, "heddle import claude-code|codex|opencode|gemini|pi [PATH|--all]");
    }
    return import_tree(app, e);
}

/* ---- export ------------------------------------------------------------------------------ */

struct export_opts {
    struct sv format, node, to, lane, session, id, cwd;
    bool      place;
};

/* clang-format off */
static const struct opt export_opts[] = {
    { OPT_TEXT, "format",  "F",       "of a tree: openloom (default), markdown or json",                                  offsetof(struct export_opts, format),  0 },
    { OPT_TEXT, "node",    "ID",      "markdown: the end of the path (default: where you are)",                           offsetof(struct export_opts, node),    0 },
    { OPT_TEXT, "to",      "PROGRAM", "write a session for claude-code or pi",                                            offsetof(struct export_opts, to),      0 },
    { OPT_TEXT, "lane",    "L",       "of a session: the lane (default: the active one)",                                 offsetof(struct export_opts, lane),    0 },
    { OPT_TEXT, "session", "ID",      "an imported session of the same program, as it was",                               offsetof(struct export_opts, session), 0 },
    { OPT_TEXT, "id",      "ID",      "the id of the new session (default: made from thread, lane and last entry)",       offsetof(struct export_opts, id),      0 },
    { OPT_TEXT, "cwd",     "DIR",     "the project of the new session (default: the workspace)",                          offsetof(struct export_opts, cwd),     0 },
    { OPT_FLAG, "place",   NULL,      "write the session where the program looks for it, and print how to resume it",     offsetof(struct export_opts, place),   0 },
    { 0 },
};
/* clang-format on */

/* What the operation wrote to standard output is the answer. With --json, output that is not JSON
 * is collected and becomes a member of a document. */
static enum status hold_text(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct param *format = param_find(op_tree_export.params, SV("format"));
    struct sv          *value = (struct sv *)(void *)((char *)params + format->offset);

    (void)e;
    if (app->json && sv_is(*value, "markdown")) {
        r->out = ARENA_NEW(app->a, struct sb, 1);
        *r->out = sb_in(app->a, 0);
    }
    return ST_OK;
}

static enum status print_text(struct app *app, struct request *r, const void *params, struct err *e)
{
    struct jw w = jw_in(&app->out, 0);

    (void)params;
    (void)e;
    if (r->out == &app->out)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "format", SV("markdown"));
    jw_kstr(&w, "text", sb_sv(r->out));
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* The lines of the session are the answer, unless they were written to a file: then the document is
 * printed. */
static enum status print_session(struct app *app, struct request *r, const void *params,
                                 struct err *e)
{
    const struct param *place = param_find(op_harness_export.params, SV("place"));

    if (!*(const bool *)(const void *)((const char *)params + place->offset))
        return ST_OK;
    return command_print_answer(app, &op_harness_export, r, e);
}

static enum status export_tree(struct app *app, const struct export_opts *o, struct err *e)
{
    static const struct command row = {
        .name = "export", .op = &op_tree_export, .prepare = hold_text, .finish = print_text
    };
    const struct operation *op = &op_tree_export;
    void                   *p = params_init(op->params, op->params_size, app->a);

    if (command_set(op, p, "thread", app_arg(app, 0), app->a, e) ||
        command_set(op, p, "--format", o->format, app->a, e) ||
        command_set(op, p, "--node", o->node, app->a, e))
        return err_code(e);
    return command_call(app, &row, p, e);
}

static enum status export_session(struct app *app, const struct export_opts *o, struct err *e)
{
    static const struct command row = { .name = "export",
                                        .op = &op_harness_export,
                                        .finish = print_session };
    const struct operation     *op = &op_harness_export;
    void                       *p = params_init(op->params, op->params_size, app->a);

    if (command_set(op, p, "thread", app_arg(app, 0), app->a, e) ||
        command_set(op, p, "--to", o->to, app->a, e) ||
        command_set(op, p, "--lane", o->lane, app->a, e) ||
        command_set(op, p, "--session", o->session, app->a, e) ||
        command_set(op, p, "--id", o->id, app->a, e) ||
        command_set(op, p, "--cwd", o->cwd, app->a, e) ||
        (o->place && command_set(op, p, "--place", SV("true"), app->a, e)))
        return err_code(e);
    return command_call(app, &row, p, e);
}

static enum status run_export(struct app *app, const void *opts, struct err *e)
{
    const struct export_opts *o = opts;
    bool for_session = o->lane.s || o->session.s || o->id.s || o->cwd.s || o->place;

    if (o->to.s && (o->format.s || o->node.s)) {
        err_set(e, ST_USAGE, "--to and --format exclude each other");
        return err_hint(e, "--to writes a session of another program, --format a tree");
    }
    if (!o->to.s && for_session) {
        err_set(e, ST_USAGE, "--lane, --session, --id, --cwd and --place need --to");
        return err_hint(e, "heddle export T --to claude-code|pi");
    }
    return o->to.s ? export_session(app, o, e) : export_tree(app, o, e);
}

const struct command cmd_import = {
    .name = "import",
    .synopsis = "claude-code|codex|opencode|gemini|pi [PATH|--all [--only NAME]] [--follow] "
                "[--thread T] | T FILE|-",
    .group = GROUP_LOOM,
    .summary = "Bring in sessions of another program, or a tree from another loom",
    .details =
        "Sessions of a program become threads with their tree: forks, rewinds and sub-agents are\n"
        "lanes, compactions replace the context; tool calls and results, models, tokens and times\n"
        "are kept. Forks of a session are lanes of its thread. PATH is a transcript or a "
        "directory\n"
        "of them; --all is everything where the program keeps it. Repeating is harmless: of a\n"
        "transcript that has grown only what is new is read, and what a hook recorded is not\n"
        "imported again. What is not understood is kept as it is and counted.\n"
        "\n"
        "T FILE brings in a tree of another loom: Open Loom 2.x, socketteer/loom or loomsidian. A\n"
        "file with several trees makes the threads T, T-2, T-3 and so on. Everything is written "
        "or\n"
        "nothing.\n"
        "\n"
        "  heddle import claude-code --all\n"
        "  heddle import pi ~/.pi/agent/sessions --follow\n"
        "  heddle import marie marie.openloom",
    .opts = import_opts,
    .opts_size = sizeof(struct import_opts),
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .run = run_import,
};

const struct command cmd_export = {
    .name = "export",
    .synopsis =
        "T [--format openloom|markdown|json] [--node ID] | T --to claude-code|pi [--lane L] "
        "[--session ID] [--id ID] [--cwd DIR] [--place]",
    .group = GROUP_LOOM,
    .summary = "Write a tree for another loom, a path as a text, or a session to be resumed",
    .details =
        "openloom is Open Loom 2.0, with pruned branches marked; what an imported file carried\n"
        "beside its nodes is written again. markdown is the path to one node. json is heddle's\n"
        "own list of nodes. (`heddle log export` writes the whole log, loss-free.)\n"
        "\n"
        "--to writes a lane as a session that Claude Code or pi can resume: to standard output, "
        "or\n"
        "with --place where the program looks for it; then the command that resumes it is "
        "printed.\n"
        "Messages of the same program keep their records and ids, so that an import of the new\n"
        "session makes a fork in the thread; others become new records. With --session an "
        "imported\n"
        "session is written as it was, record by record.\n"
        "\n"
        "  heddle export design --format markdown > design.md\n"
        "  heddle export claude-code-1b9d6bcd --to pi --place",
    .opts = export_opts,
    .opts_size = sizeof(struct export_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run_export,
};

const struct command cmd_sessions = { .name = "sessions", .op = &op_harness_list };

const struct command cmd_transcripts = { .name = "transcripts", .op = &op_harness_found };

static const struct cli_word lanes_words[] = { { "thread", WORD_PLAIN }, { 0 } };
const struct command cmd_lanes = { .name = "lanes", .op = &op_lane_list, .words = lanes_words };
