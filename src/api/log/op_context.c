/* op.replace, op.switch, op.fork: operations on the context of a lane. */
#include "api/log/op_result.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/utf8.h"

struct op_params {
    struct sv thread, lane, op_id, reason, context, meta, from, agent;
    int64_t   base_seq, at, expect;
    bool      rebase, also_switch;
};

/* clang-format off */
#define AT(member) offsetof(struct op_params, member)
#define THREAD { "thread", PARAM_TEXT, AT(thread), .required = true, .blank = true, .value = "T", .help = "the thread" }
#define COMMON                                                                                          \
    { "op_id",  PARAM_TEXT,   AT(op_id),  .value = "ID", .help = "apply at most once (default: a new one, printed)" },      \
    { "reason", PARAM_TEXT,   AT(reason), .value = "R", .help = "manual (default), restore, compaction or system" },        \
    { "meta",   PARAM_TEXT,   AT(meta),   .value = "JSON", .help = "an object of provenance, kept with the operation" },    \
    { "expect", PARAM_NUMBER, AT(expect), .value = "REV", .min = 0, .max = INT64_MAX, .help = "only if the thread has exactly REV entries" }, \
    { "agent",  PARAM_TEXT,   AT(agent),  .value = "A", .help = "whose lane (default: default)" }

static const struct param replace_params[] = {
    THREAD,
    { "context",  PARAM_TEXT,   AT(context), .required = true, .blank = true, .max = ENTRY_PAYLOAD_MAX, .value = "FILE|-", .help = "the new context as JSON" },
    { "lane",     PARAM_TEXT,   AT(lane), .value = "L", .help = "the lane (default: the active one)" },
    { "base_seq", PARAM_NUMBER, AT(base_seq), .value = "N", .help = "the entry the new context was made from" },
    { "rebase",   PARAM_FLAG,   AT(rebase), .help = "messages after --base-seq stay, on top of the new context (a compaction does so anyway)" },
    COMMON,
    { 0 },
};
static const struct param switch_params[] = {
    THREAD,
    { "lane", PARAM_TEXT, AT(lane), .required = true, .blank = true, .value = "L", .help = "the lane to go to" },
    COMMON,
    { 0 },
};
static const struct param fork_params[] = {
    THREAD,
    { "lane",   PARAM_TEXT,   AT(lane), .required = true, .blank = true, .value = "NEW", .help = "name of the new lane" },
    { "from",   PARAM_TEXT,   AT(from), .value = "L", .help = "the lane it leaves (default: the active one)" },
    { "at",     PARAM_NUMBER, AT(at), .value = "SEQ", .help = "last entry both share (default: the head)" },
    { "switch", PARAM_FLAG,   AT(also_switch), .help = "and go to the new lane" },
    COMMON,
    { 0 },
};
/* clang-format on */

/* A new id. The state of the thread is mixed in, so that it is new even with a fixed seed. */
static enum status new_op_id(struct request *r, struct sv thread, struct sv *out, struct err *e)
{
    struct store_head h;

    if (log_head(&r->log, thread, &h, e))
        return err_code(e);
    rand_mix((struct sv){ (const char *)h.chain.b, HASH_SIZE });
    *out = rand_id("op_", 20, r->a);
    return ST_OK;
}

static enum status apply(struct request *r, enum op_type type, const struct op_params *p,
                         struct err *e)
{
    struct op        op = { .type = type,
                            .thread = p->thread,
                            .agent = p->agent,
                            .op_id = p->op_id,
                            .lane = p->lane,
                            .reason = p->reason,
                            .context = utf8_skip_bom(p->context),
                            .meta = p->meta,
                            .has_base_seq = type == OP_REPLACE && p->base_seq != PARAM_UNSET,
                            .base_seq = p->base_seq,
                            .rebase = p->rebase,
                            .from = p->from,
                            .also_switch = p->also_switch,
                            .from_seq = type != OP_FORK || p->at == PARAM_UNSET ? OP_AT_HEAD : p->at,
                            .has_expect = p->expect != PARAM_UNSET,
                            .expect = p->expect,
                            .actor = r->actor,
                            .at = clock_now_ms() };
    struct op_result result;

    if (!op.op_id.s && new_op_id(r, op.thread, &op.op_id, e))
        return err_code(e);
    if (op_apply(&r->log, &op, r->a, &result, e))
        return err_code(e);
    op_result_write(r->doc, &result);
    return ST_OK;
}

/* clang-format off */
#define FUNCTIONS(verb, type)                                                            \
    static enum status run_##verb(struct request *r, const void *params, struct err *e)  \
    {                                                                                    \
        return apply(r, type, params, e);                                                \
    }                                                                                    \
    static void print_##verb(const struct json *doc, struct term *t)                     \
    {                                                                                    \
        op_result_print(doc, op_type_name(type), t);                                     \
    }
FUNCTIONS(replace, OP_REPLACE)
FUNCTIONS(switch, OP_SWITCH)
FUNCTIONS(fork, OP_FORK)

/* What the three rows have in common. */
#define LANE_OPERATION(verb)                                                             \
    .group = GROUP_LOG, .needs = NEEDS_WRITE, .in_thread = true, .joins = true,          \
    .repeat = REPEAT_KEY, .repeat_key = "op_id", .params = verb##_params,                \
    .params_size = sizeof(struct op_params), .answer = op_result_fields,                 \
    .run = run_##verb, .print = print_##verb
/* clang-format on */

const struct operation op_op_replace = {
    .name = "op.replace",
    .summary = "Replace the context of a lane with a snapshot",
    .details =
        "The context is {\"system_prompt\":…,\"messages\":[…oldest first…]} or the stored form\n"
        "{\"id\":…,\"system_prompt\":…,\"entries\":[…newest first…]}. The log keeps everything "
        "before\n"
        "it; the lane becomes the active one. During a run the operation is parked and applied\n"
        "when the run ends. An op_id that was applied before changes nothing.\n\n"
        "  echo '{\"messages\":[{\"role\":\"user\",\"content\":\"(summary) …\"}]}' |\n"
        "      heddle op replace design --context - --reason compaction",
    LANE_OPERATION(replace),
};

const struct operation op_op_switch = {
    .name = "op.switch",
    .summary = "Make a lane the active one",
    .details =
        "Runs go on in it, and `heddle project` shows it; `heddle log append` still wants --lane.\n"
        "A lane that is not there yet starts empty.\n"
        "\n"
        "  heddle op switch design --lane default",
    LANE_OPERATION(switch),
};

const struct operation op_op_fork = {
    .name = "op.fork",
    .summary = "Start a lane that shares another's past",
    .details =
        "Nothing is copied: the new lane is a name and a point. It costs the same on a log of\n"
        "ten entries and of a million.\n\n"
        "  heddle op fork design --lane try-it --at 0 --switch",
    LANE_OPERATION(fork),
};
