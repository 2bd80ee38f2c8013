/* `project`: what a model would be shown of a lane, at the head or at any past entry. */
#include "assemble/render.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "loom/node.h"
#include "thread/kind.h"

struct project_opts {
    struct sv lane, format, system, agent;
    int64_t   at, limit;
};

static const struct opt opts_table[] = {
    { OPT_TEXT, "lane", "L", "the lane (default: the agent's active one)",
      offsetof(struct project_opts, lane), 0 },
    { OPT_NUMBER, "at", "SEQ", "as it was after entry SEQ (default: now)",
      offsetof(struct project_opts, at), 0 },
    { OPT_TEXT, "format", "F", "json (default), anthropic, openai or text",
      offsetof(struct project_opts, format), 0 },
    { OPT_NUMBER, "limit", "N", "only the newest N messages; a call is never cut from its result",
      offsetof(struct project_opts, limit), 0 },
    { OPT_TEXT, "system", "TEXT", "prompt of a lane that has none in the log (default: none)",
      offsetof(struct project_opts, system), 0 },
    { OPT_TEXT, "agent", "A", "whose active lane (default: default)",
      offsetof(struct project_opts, agent), 0 },
    { 0 },
};

/* Repairs are said, but not in the output: that is ready to be sent. */
static void tell_repairs(struct app *app, const struct render_report *r)
{
    for (size_t i = 0; i < r->list.n; i++) {
        struct sb b = sb_in(app->a, 0);
        repair_write(&b, &r->list.v[i]);
        warn("%s", sb_sv(&b).s);
    }
}

/* A lane that nothing in the log names is a slip of the pen; "default" is always there. */
static enum status check_lane(struct app *app, struct sv thread, struct sv name, struct err *e)
{
    struct lane       lane;
    struct store_head h;
    bool              found;

    if (name_check(name, "lane", e) || store_head(app->log.store, thread, &h, e) ||
        lane_find(&app->log, thread, name, app->a, &lane, &found, e))
        return err_code(e);
    if (found || !h.rev || sv_eq(name, LANE_DEFAULT))
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "lane '" SV_FMT "' not found in thread '" SV_FMT "'", SV_ARG(name),
            SV_ARG(thread));
    return err_hint(e, "`heddle log show` names the lane of each entry");
}

static enum status find_excluded(struct app *app, const struct projection *p,
                                 struct render_options *ro, struct err *e)
{
    struct loom loom = { .log = &app->log, .thread = p->thread, .a = app->a };
    int64_t    *seqs;

    if (app->log.wanted != &loom_view)
        return ST_OK;
    if (loom_excluded(&loom, p->at, &seqs, &ro->n_excluded, e))
        return err_code(e);
    ro->excluded = seqs;
    return ST_OK;
}

static enum status print_projection(struct app *app, const struct project_opts *o,
                                    enum render_format f, struct err *e)
{
    struct projection_of of = { app_arg(app, 0), o->lane, o->at == OPT_UNSET ? STORE_TO_END : o->at,
                                o->system };
    struct render_options ro = { .limited = o->limit != OPT_UNSET, .limit = o->limit };
    struct render_report  report = report_in(app->a);
    struct projection     p;

    if (of.lane.s && check_lane(app, of.thread, of.lane, e))
        return err_code(e);
    if (!of.lane.s && lane_active(&app->log, of.thread, o->agent.n ? o->agent : AGENT_DEFAULT,
                                  app->a, &of.lane, e))
        return err_code(e);
    if (f == RENDER_TEXT) /* for a person; the others are for programs */
        app->out.show = SB_PLAIN;
    if (project(&app->log, &of, app->a, &p, e) || find_excluded(app, &p, &ro, e) ||
        render_write(f, &p, &ro, &app->out, &report, e))
        return err_code(e);
    if (f != RENDER_TEXT)
        sb_addc(&app->out, '\n');
    tell_repairs(app, &report);
    return ST_OK;
}

/* What goes to a model needs to know which nodes are excluded, where any ever was. */
static enum status begin(struct app *app, enum render_format f, struct err *e)
{
    struct sv thread = app_arg(app, 0);
    bool      excludes = false;

    if (log_begin(&app->log, thread, STORE_READ, e))
        return err_code(e);
    if (f != RENDER_ANTHROPIC && f != RENDER_OPENAI)
        return ST_OK;
    enum status s = project_excludes(&app->log, thread, app->a, &excludes, e);
    if (!s && !excludes)
        return ST_OK;
    log_abort(&app->log);
    if (s)
        return s;
    app->log.wanted = &loom_view;
    return log_begin(&app->log, thread, STORE_READ, e);
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct project_opts *o = opts;
    enum render_format         f = RENDER_JSON;

    if (o->at != OPT_UNSET && o->at < -1)
        return err_set(e, ST_USAGE, "--at takes a seq from -1 (nothing yet) on");
    if (o->limit != OPT_UNSET && o->limit < 0)
        return err_set(e, ST_USAGE, "--limit takes a number from 0 on");
    if (o->format.s && render_format_of(o->format, &f, e))
        return err_code(e);
    if (begin(app, f, e))
        return err_code(e);
    enum status s = print_projection(app, o, f, e);
    log_abort(&app->log);
    return s;
}

const struct command cmd_project = {
    .name = "project",
    .synopsis = "T [--lane L] [--at SEQ] [--limit N] [--format json|anthropic|openai|text]",
    .group = GROUP_LOG,
    .summary = "Print the context of a lane, now or at any past entry",
    .details =
        "The latest snapshot of the lane's path at or before the point, then every message after\n"
        "it. The prompt is the log's: \"system_prompt\" of the config is logged when a run\n"
        "begins, so that the past does not change with the settings. json is canonical: sorted\n"
        "keys, no spaces; two runs on the same entries are equal to the byte. anthropic and "
        "openai\n"
        "print what their requests take; tool calls without a result are repaired there, and each\n"
        "repair is said on stderr. Nodes that were excluded (→ exclude ID) are left out of these\n"
        "two; json and text show them.\n\n"
        "  heddle project design --format anthropic\n"
        "  heddle project design --at 1 --format text",
    .opts = opts_table,
    .opts_size = sizeof(struct project_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .data = true,
    .run = run,
};
