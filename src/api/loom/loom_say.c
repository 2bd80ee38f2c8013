/* loom.say: a message becomes a node. */
#include "api/loom/loom_call.h"
#include "api/term.h"

struct say_params {
    struct sv thread, text, agent, at, op_id;
    int64_t   expect;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct say_params, thread), .value = "T",    .required = true, .help = "the thread; made if there is none" },
    { "text",   PARAM_TEXT, offsetof(struct say_params, text),   .value = "TEXT|-", .required = true, .blank = true, .help = "what is said" },
    { "agent",  PARAM_TEXT, offsetof(struct say_params, agent),  .value = "A",    .help = "who says it (default: you)" },
    { "at",     PARAM_TEXT, offsetof(struct say_params, at),     .value = "NODE", .help = "the node it follows (default: where the agent is)" },
    { "op_id",  PARAM_TEXT, offsetof(struct say_params, op_id),  .value = "ID",   .help = LOOM_OP_ID_SAY },
    { "expect", PARAM_NUMBER, offsetof(struct say_params, expect), .value = "REV", .min = 0, .max = INT64_MAX, .help = LOOM_EXPECT },
    { 0 },
};
static const struct field answer[] = {
    { "id",       FIELD_TEXT,   .help = "the node, in every tree" },
    { "local_id", FIELD_TEXT,   .help = "the node, in this tree" },
    { "lane",     FIELD_TEXT,   .help = "the lane it was appended to" },
    { "seq",      FIELD_NUMBER, .help = "its entry in the log" },
    { "depth",    FIELD_NUMBER, .help = "how many nodes are above it" },
    { 0 },
};
/* clang-format on */

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct say_params *p = params_given;
    struct sv                text = p->text;
    struct loom_call         c;
    struct node              n;

    if (loom_call_open(&c, r, p->thread, p->agent, e))
        return loom_call_close(&c, err_code(e));
    while (text.n && text.s[text.n - 1] == '\n') /* the end of a piped file, not of the text */
        text.n--;
    loom_call_once(&c, p->op_id, p->expect);
    if (session_say(&c.s, text, p->at, "say", &n, e))
        return loom_call_close(&c, loom_node_hint(err_code(e), p->thread, e));
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "id", n.id);
    jw_kstr(r->doc, "local_id", n.local);
    jw_kstr(r->doc, "lane", n.lane);
    jw_kint(r->doc, "seq", n.seq);
    jw_kint(r->doc, "depth", n.depth);
    jw_close(r->doc, '}');
    loom_call_warn(r, &c.s);
    return loom_call_close(&c, ST_OK);
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, "[" SV_FMT "]\n", SV_ARG(json_text(doc, "local_id")));
}

const struct operation op_loom_say = {
    .name = "loom.say",
    .summary = "Add a message to a thread; prints its [localId]",
    .details = "The message becomes a node after the one where the agent is, or after NODE: at the "
               "end of its lane, or on a lane forked there. You are at the node you wrote or "
               "switched to last: --at answers what somebody else said.\n\n"
               "With --op-id a repeated message is said once, and answered as the first time; "
               "other words under the same id are a CONFLICT. With --expect nothing is said if "
               "the thread has not exactly REV entries (`heddle head`).\n\n"
               "  heddle say design 'Which store should we use?'\n"
               "  heddle say design --at a7x2 - < idea.md",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    .repeat = REPEAT_KEY,
    .repeat_key = "op_id",
    .joins = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct say_params),
    .answer = answer,
    .run = run,
    .print = print,
};
