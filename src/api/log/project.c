/* project: the context of a lane, at the head or at any past entry. */
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
    { "lane",   PARAM_TEXT,   offsetof(struct project_params, lane), .value = "L", .help = "the lane (default: where the agent is)" },
    { "at",     PARAM_NUMBER, offsetof(struct project_params, at), .value = "SEQ", .min = -1, .max = INT64_MAX, .help = "as it was after entry SEQ; -1: before the first (default: now)" },
    { "format", PARAM_ENUM,   offsetof(struct project_params, format), .value = "F", .values = formats, .fallback = "json", .help = "json (default), anthropic, openai, text or markdown" },
    { "limit",  PARAM_NUMBER, offsetof(struct project_params, limit), .value = "N", .min = 0, .max = INT64_MAX, .help = "only the newest N messages; a call is never cut from its result" },
    { "system", PARAM_TEXT,   offsetof(struct project_params, system), .value = "TEXT", .help = "prompt of a lane that has none in the log (default: none)" },
    { "agent",  PARAM_TEXT,   offsetof(struct project_params, agent), .value = "A", .help = "whose place and versions (default: you, if you said or switched something here, else default)" },
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

/* The end of what is considered is told as it was asked for: entries behind it that are hidden were
 * considered, too. */
static enum status write_projection(struct request *r, const struct project_params *given,
                                    enum render_format f, struct err *e)
{
    struct project_asked  asked = { given->thread, given->lane, given->agent, given->at };
    struct render_options ro = { .limited = given->limit != PARAM_UNSET, .limit = given->limit };
    struct render_report  report = report_in(r->a);
    struct projection_of  of = { .thread = given->thread, .base_prompt = given->system };
    struct projection     p;
    struct loom_seen      seen;
    struct store_head     h;

    if (project_call_seen(r, &asked, &seen, e))
        return err_code(e);
    of.lane = seen.lane;
    of.upto = seen.upto;
    ro.changes = seen.changes;
    ro.n_changes = seen.n;
    if (project_start(&r->log, &of, r->a, &p, e) || log_head(&r->log, given->thread, &h, e))
        return err_code(e);
    int64_t last = h.rev - 1;
    p.at = given->at == PARAM_UNSET || given->at > last ? last : given->at < -1 ? -1 : given->at;
    if (render_write(f, &p, &ro, r->out, &report, e))
        return err_code(e);
    if (f != RENDER_TEXT && f != RENDER_MARKDOWN)
        sb_addc(r->out, '\n');
    project_call_warn_end(r, of.thread, given->at, last);
    write_answer(r, &p, given->format, &report);
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct project_params *p = given;
    struct projection_of of = { p->thread, p->lane, p->at == PARAM_UNSET ? STORE_TO_END : p->at,
                                p->system };
    enum render_format   f;

    if (request_needs_out(r, e) || render_format_of(p->format, &f, e))
        return err_code(e);
    project_want(&r->log, &of, p->agent.n ? p->agent : r->actor, r->a);
    if (project_call_begin(r, p->thread, e))
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
        "it, as the log has them: `heddle assemble` prints the request that a turn of an agent\n"
        "sends, with memory, metadata and a budget, and `heddle context` the files that a thread\n"
        "reads. Without --lane it is the lane on which you said or switched something last. What\n"
        "is pruned or undone is in no format, what is excluded (→ exclude ID) is left out and "
        "told\n"
        "on stderr, and an edited node is shown as it reads now; --at shows all that as it was.\n\n"
        "The prompt is the log's: \"system_prompt\" of the config is logged when a run begins, so\n"
        "that the past does not change with the settings. json is canonical: sorted keys, no\n"
        "spaces; two runs on the same entries are equal to the byte. anthropic and openai print\n"
        "what their requests take; tool calls without a result are repaired there, and each "
        "repair\n"
        "is said on stderr. markdown is for pasting.\n\n"
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
