/* loom.line: one line from somebody at a prompt. A command runs, anything else is said. */
#include "api/loom/line_input.h"
#include "api/loom/loom_call.h"
#include "api/term.h"

struct line_params {
    struct sv thread, line, agent;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct line_params, thread), .value = "T",    .required = true, .help = "the thread; made if there is none" },
    { "line",   PARAM_TEXT, offsetof(struct line_params, line),   .value = "TEXT", .required = true, .blank = true, .help = "a command after → or /, or what is said" },
    { "agent",  PARAM_TEXT, offsetof(struct line_params, agent),  .value = "A",    .help = "as whom (default: you)" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",  FIELD_TEXT, .help = "the thread where the agent is now: a command can lead to another" },
    { "node",    FIELD_TEXT, .nullable = true, .help = "the node that was said; null: it was a command" },
    { "results", FIELD_LIST, .of = loom_result_fields, .help = "what the command did, for each node that it names" },
    { 0 },
};
/* clang-format on */

static void answer_line(struct request *r, const struct session *s, struct sv node,
                        const struct turn *turn, size_t n)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", s->loom.thread);
    jw_kstr(r->doc, "node", node);
    loom_results_member(r->doc, turn, n);
    jw_close(r->doc, '}');
}

/* A list of nodes is one command for each: those that were done before an error came are answered,
 * and the error is the verdict. */
static enum status command(struct request *r, struct session *s, struct sv line, struct err *e)
{
    struct turn turn;
    enum status st = session_lines(s, sv_trim(line_command(line)), &turn, e);

    if (st && !turn.n)
        return st;
    if (st)
        r->verdict = *e;
    answer_line(r, s, (struct sv){ 0 }, &turn, turn.n);
    return ST_OK;
}

static enum status say(struct request *r, struct session *s, struct sv line, struct err *e)
{
    struct turn none = { 0 };
    struct node n;

    if (session_say(s, line, (struct sv){ 0 }, "say", &n, e))
        return err_code(e);
    answer_line(r, s, n.local, &none, 0);
    loom_call_warn(r, s);
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct line_params *p = params_given;
    struct loom_call          c;

    if (loom_call_open(&c, r, p->thread, p->agent, e))
        return loom_call_close(&c, err_code(e));
    return loom_call_close(&c, line_input_of(p->line) == LINE_TEXT ? say(r, &c.s, p->line, e)
                                                                   : command(r, &c.s, p->line, e));
}

static void print(const struct json *doc, struct term *t)
{
    struct sb b = sb_in(t->a, 0);
    struct sv node = json_text(doc, "node");

    if (node.n)
        sb_addf(&b, "[" SV_FMT "]\n", SV_ARG(node));
    loom_results_print(json_find(doc, "results"), &b);
    term_text(t, sb_sv(&b));
}

const struct operation op_loom_line = {
    .name = "loom.line",
    .summary = "Do what one line at the prompt of a tree says",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_RUN,
    .repeat = REPEAT_NEVER,
    .cancels = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct line_params),
    .answer = answer,
    .run = run,
    .print = print,
};
