/* project: what a model would be shown of a lane, at the head or at any past entry. */
#include "api/log/project_call.h"
#include "api/term.h"
#include "assemble/render.h"
#include "base/path.h"
#include "loom/agent.h"
#include "loom/node.h"
#include "thread/kind.h"

struct project_params {
    struct sv thread, lane, format, system, agent;
    int64_t   at, limit;
};

/* clang-format off */
static const char *const formats[] = {
#define X(format, name) name,
    RENDER_TABLE(X)
#undef X
    NULL,
};
static const struct param params[] = {
    { "thread", PARAM_TEXT,   offsetof(struct project_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread" },
    { "lane",   PARAM_TEXT,   offsetof(struct project_params, lane), .value = "L", .help = "the lane (default: the agent's active one)" },
    { "at",     PARAM_NUMBER, offsetof(struct project_params, at), .value = "SEQ", .min = -1, .max = INT64_MAX, .help = "as it was after entry SEQ; -1: before the first (default: now)" },
    { "format", PARAM_ENUM,   offsetof(struct project_params, format), .value = "F", .values = formats, .fallback = "json", .help = "json (default), anthropic, openai, text or markdown" },
    { "limit",  PARAM_NUMBER, offsetof(struct project_params, limit), .value = "N", .min = 0, .max = INT64_MAX, .help = "only the newest N messages; a call is never cut from its result" },
    { "system", PARAM_TEXT,   offsetof(struct project_params, system), .value = "TEXT", .help = "prompt of a lane that has none in the log (default: none)" },
    { "agent",  PARAM_TEXT,   offsetof(struct project_params, agent), .value = "A", .help = "whose active lane (default: default)" },
    { 0 },
};
static const struct field answer[] = {
    { "at",      FIELD_NUMBER, .help = "the last entry that was considered; -1: none" },
    { "format",  FIELD_ENUM,   .values = formats, .help = "of what was written" },
    { "lane",    FIELD_TEXT,   .help = "the lane" },
    { "repairs", FIELD_LIST,   .help = "what was changed so that a provider takes it, one sentence each" },
    { "thread",  FIELD_TEXT,   .help = "the thread" },
    { 0 },
};
/* clang-format on */

static enum status check_lane(struct request *r, struct sv thread, struct sv name, struct err *e)
{
    struct lane       lane;
    struct store_head h;
    bool              found;

    if (name_check(name, "lane", e) || log_head(&r->log, thread, &h, e) ||
        lane_find(&r->log, thread, name, r->a, &lane, &found, e))
        return err_code(e);
    if (found || !h.rev || sv_eq(name, LANE_DEFAULT))
        return ST_OK;
    return lane_not_found(thread, name, e);
}

enum status project_call_lane(struct request *r, struct sv thread, struct sv named, struct sv agent,
                              struct sv *out, struct err *e)
{
    if (!named.s)
        return lane_active(&r->log, thread, agent.n ? agent : AGENT_DEFAULT, r->a, out, e);
    *out = named;
    return check_lane(r, thread, named, e);
}

void project_call_warn_end(struct request *r, struct sv thread, int64_t asked, int64_t last)
{
    if (asked != PARAM_UNSET && asked > last)
        request_warn(
            r, (struct sv){ 0 }, thread,
            "there is no entry %lld: the thread ends with %lld, and is shown as it is there",
            (long long)asked, (long long)last);
}

static enum status find_excluded(struct request *r, const struct projection *p,
                                 struct render_options *ro, struct err *e)
{
    struct loom loom = { .log = &r->log, .thread = p->thread, .a = r->a };
    int64_t    *seqs;

    if (r->log.wanted != &loom_view)
        return ST_OK;
    if (loom_excluded(&loom, p->at, &seqs, &ro->n_excluded, e))
        return err_code(e);
    ro->excluded = seqs;
    return ST_OK;
}

/* Repairs are warned about, but not in the output, which is ready to be sent. */
static void write_answer(struct request *r, const struct projection *p, struct sv format,
                         const struct render_report *report)
{
    jw_open(r->doc, '{');
    jw_kint(r->doc, "at", p->at);
    jw_kstr(r->doc, "format", format);
    jw_kstr(r->doc, "lane", p->lane);
    jw_key(r->doc, "repairs");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < report->list.n; i++) {
        struct sb b = sb_in(r->a, 0);
        repair_write(&b, &report->list.v[i]);
        jw_str(r->doc, sb_sv(&b));
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(sb_sv(&b)));
    }
    jw_close(r->doc, ']');
    jw_kstr(r->doc, "thread", p->thread);
    jw_close(r->doc, '}');
}

static struct projection_of what_of(const struct project_params *given)
{
    return (struct projection_of){ given->thread, given->lane,
                                   given->at == PARAM_UNSET ? STORE_TO_END : given->at,
                                   given->system };
}

static struct sv agent_of(const struct project_params *given)
{
    return given->agent.n ? given->agent : AGENT_DEFAULT;
}

static enum status write_projection(struct request *r, const struct project_params *given,
                                    enum render_format f, struct err *e)
{
    struct projection_of  of = what_of(given);
    struct render_options ro = { .limited = given->limit != PARAM_UNSET, .limit = given->limit };
    struct render_report  report = report_in(r->a);
    struct projection     p;

    if (project_call_lane(r, of.thread, given->lane, given->agent, &of.lane, e) ||
        project_start(&r->log, &of, r->a, &p, e) || find_excluded(r, &p, &ro, e) ||
        render_write(f, &p, &ro, r->out, &report, e))
        return err_code(e);
    if (f != RENDER_TEXT && f != RENDER_MARKDOWN)
        sb_addc(r->out, '\n');
    project_call_warn_end(r, of.thread, given->at, p.at);
    write_answer(r, &p, given->format, &report);
    return ST_OK;
}

/* What goes to a model needs to know which nodes are excluded, where any ever was. */
static enum status begin(struct request *r, struct sv thread, enum render_format f, struct err *e)
{
    bool excludes = false;

    if (log_begin(&r->log, thread, STORE_READ, e))
        return err_code(e);
    if (f == RENDER_JSON || f == RENDER_TEXT)
        return ST_OK;
    enum status s = project_excludes(&r->log, thread, r->a, &excludes, e);
    if (!s && !excludes)
        return ST_OK;
    log_abort(&r->log);
    if (s)
        return s;
    r->log.wanted = &loom_view;
    return log_begin(&r->log, thread, STORE_READ, e);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct project_params *p = given;
    struct projection_of         of = what_of(p);
    enum render_format           f;

    if (request_needs_out(r, e) || render_format_of(p->format, &f, e))
        return err_code(e);
    project_want(&r->log, &of, agent_of(p), r->a);
    if (begin(r, p->thread, f, e))
        return err_code(e);
    enum status s = write_projection(r, p, f, e);
    log_abort(&r->log);
    return s;
}

const struct operation op_project = {
    .name = "project",
    .summary = "Print the context of a lane, now or at any past entry",
    .details =
        "The latest snapshot of the lane's path at or before the point, then every message after\n"
        "it. The prompt is the log's: \"system_prompt\" of the config is logged when a run\n"
        "begins, so that the past does not change with the settings. json is canonical: sorted\n"
        "keys, no spaces; two runs on the same entries are equal to the byte. anthropic and "
        "openai\n"
        "print what their requests take; tool calls without a result are repaired there, and each\n"
        "repair is said on stderr. markdown is for pasting. Nodes that were excluded (→ exclude "
        "ID) are\n"
        "left out of these three; json and text show them.\n\n"
        "  heddle project design --format anthropic\n"
        "  heddle project design --at 1 --format text",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .params = params,
    .params_size = sizeof(struct project_params),
    .answer = answer,
    .run = run,
    .print = term_nothing, /* The bytes were the answer. */
};
