/* loom.do: a model's whole output. Its prose becomes a node, its commands run. */
#include "api/loom/loom_call.h"
#include "api/term.h"

struct do_params {
    struct sv thread, lines, agent, at, op_id;
    int64_t   expect;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct do_params, thread), .value = "T",    .required = true, .help = "the thread; made if there is none" },
    { "lines",  PARAM_TEXT, offsetof(struct do_params, lines),  .value = "TEXT", .required = true, .blank = true, .help = "the output: prose, then lines that start with →" },
    { "agent",  PARAM_TEXT, offsetof(struct do_params, agent),  .value = "A",    .help = "whose output it is (default: you)" },
    { "at",     PARAM_TEXT, offsetof(struct do_params, at),     .value = "NODE", .help = "the node that the output answers: the agent goes there first" },
    { "op_id",  PARAM_TEXT, offsetof(struct do_params, op_id),  .value = "ID",   .help = LOOM_OP_ID_DO },
    { "expect", PARAM_NUMBER, offsetof(struct do_params, expect), .value = "REV", .min = 0, .max = INT64_MAX, .help = LOOM_EXPECT },
    { 0 },
};
static const struct field answer[] = {
    { "node",            FIELD_TEXT,   .nullable = true, .help = "the node that the prose became; null: there was none" },
    { "results",         FIELD_LIST,   .of = loom_result_fields, .help = "what each command did, in order" },
    { "discarded_bytes", FIELD_NUMBER, .help = "length of the text after the commands, which is not stored" },
    { "repeated",        FIELD_FLAG,   .optional = true, .help = "true: it was done before under this op_id, and nothing of it now; the results are those of that time" },
    { 0 },
};
/* clang-format on */

/* A turn that ends with an error has done what came before it: the answer says so, and the error is
 * its verdict. The command that failed is not part of it, because nothing of it was kept. */
static void answer_turn(struct request *r, const struct turn *turn, enum status s,
                        const struct err *e)
{
    struct jw *w = r->doc;

    jw_open(w, '{');
    jw_key(w, "node");
    jw_str(w, turn->has_node ? turn->node.local : (struct sv){ 0 });
    loom_results_member(w, turn, turn->n);
    jw_kint(w, "discarded_bytes", (int64_t)turn->discarded.n);
    if (turn->repeated)
        jw_kbool(w, "repeated", true);
    jw_close(w, '}');
    if (s)
        r->verdict = *e;
}

static void say_repeated(struct request *r, const struct turn *turn)
{
    if (turn->repeated)
        request_remark(r, "it was done before under this op_id: nothing was run again");
    if (turn->elsewhere)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "%zu results are left out: they are in the logs of other trees",
                     turn->elsewhere);
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct do_params *p = params_given;
    struct loom_call        c;
    struct turn             turn;

    if (loom_call_open(&c, r, p->thread, p->agent, e))
        return loom_call_close(&c, err_code(e));
    loom_call_once(&c, p->op_id, p->expect);
    c.s.once.at = p->at;
    enum status s = session_turn(&c.s, p->lines, &turn, e);
    if (s && !turn.has_node && !turn.n)
        return loom_call_close(&c, p->at.s ? loom_node_hint(s, p->thread, e) : s);
    answer_turn(r, &turn, s, e);
    if (turn.has_node)
        loom_call_warn(r, &c.s);
    say_repeated(r, &turn);
    if (turn.discarded.n && !s)
        request_remark(r,
                       "%zu bytes after the commands were not stored: a model has not seen their "
                       "results yet",
                       turn.discarded.n);
    return loom_call_close(&c, ST_OK);
}

static void print(const struct json *doc, struct term *t)
{
    loom_results_print(json_find(doc, "results"), t->out);
}

const struct operation op_loom_do = {
    .name = "loom.do",
    .summary = "Take a model's output on stdin and run its → lines",
    .details = "Prose becomes a node; the commands of the batch run in order, and what the model "
               "would be shown is printed. See heddle-loom(7) for the language.\n\n"
               "An agent stays at its node until it writes or switches; what others say moves "
               "nobody. Give --at for an output that answers what somebody else said.\n\n"
               "With --op-id the lines are run once: repeated, they are answered with what they "
               "answered then, and other lines under the same id are a CONFLICT. With --expect "
               "nothing is done if the thread has not exactly REV entries before the first "
               "line.\n\n"
               "  printf '→ view a7x2\\n→ tree\\n' | heddle do design --agent Collab\n"
               "  printf 'I agree.\\n' | heddle do design --agent Collab --at a7x2",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_RUN,
    .repeat = REPEAT_KEY,
    .repeat_key = "op_id",
    .cancels = true,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct do_params),
    .answer = answer,
    .run = run,
    .print = print,
};
