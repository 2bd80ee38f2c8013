/* `op replace | switch | fork`: operations on the context of a lane. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "front/cli/command.h"
#include "front/cli/op_result.h"
#include "thread/op.h"

#include <unistd.h>

struct op_opts {
    struct sv lane, op_id, reason, context, meta, from, agent;
    int64_t   base_seq, at, expect;
    bool      rebase, also_switch;
};

#define COMMON_OPTS                                                                                \
    { OPT_TEXT,                                                                                    \
      "op-id",                                                                                     \
      "ID",                                                                                        \
      "apply at most once (default: a new one, printed)",                                          \
      offsetof(struct op_opts, op_id),                                                             \
      0 },                                                                                         \
        { OPT_TEXT,                                                                                \
          "reason",                                                                                \
          "R",                                                                                     \
          "manual (default), restore, compaction or system",                                       \
          offsetof(struct op_opts, reason),                                                        \
          0 },                                                                                     \
        { OPT_TEXT,                                                                                \
          "meta",                                                                                  \
          "JSON",                                                                                  \
          "an object of provenance, kept with the operation",                                      \
          offsetof(struct op_opts, meta),                                                          \
          0 },                                                                                     \
        { OPT_NUMBER,                                                                              \
          "expect",                                                                                \
          "REV",                                                                                   \
          "only if the thread has exactly REV entries",                                            \
          offsetof(struct op_opts, expect),                                                        \
          0 },                                                                                     \
    {                                                                                              \
        OPT_TEXT, "agent", "A", "whose lane (default: default)", offsetof(struct op_opts, agent),  \
            0                                                                                      \
    }

static const struct opt replace_opts[] = {
    { OPT_TEXT, "context", "FILE", "the new context as JSON; - reads stdin",
      offsetof(struct op_opts, context), 0 },
    { OPT_TEXT, "lane", "L", "the lane (default: the active one)", offsetof(struct op_opts, lane),
      0 },
    { OPT_NUMBER, "base-seq", "N", "the entry the new context was made from",
      offsetof(struct op_opts, base_seq), 0 },
    { OPT_FLAG, "rebase", NULL,
      "messages after --base-seq stay, on top of the new context (a compaction does so anyway)",
      offsetof(struct op_opts, rebase), 0 },
    COMMON_OPTS,
    { 0 },
};
static const struct opt switch_opts[] = {
    { OPT_TEXT, "lane", "L", "the lane to go to", offsetof(struct op_opts, lane), 0 },
    COMMON_OPTS,
    { 0 },
};
static const struct opt fork_opts[] = {
    { OPT_TEXT, "lane", "NEW", "name of the new lane", offsetof(struct op_opts, lane), 0 },
    { OPT_TEXT, "from", "L", "the lane it leaves (default: the active one)",
      offsetof(struct op_opts, from), 0 },
    { OPT_NUMBER, "at", "SEQ", "last entry both share (default: the head)",
      offsetof(struct op_opts, at), 0 },
    { OPT_FLAG, "switch", NULL, "and go to the new lane", offsetof(struct op_opts, also_switch),
      0 },
    COMMON_OPTS,
    { 0 },
};

static enum status read_context(struct app *app, struct sv file, struct sv *out, struct err *e)
{
    if (!file.n) {
        err_set(e, ST_USAGE, "`heddle op replace` needs --context FILE");
        return err_hint(e, "--context - reads the context from stdin");
    }
    if (sv_is(file, "-") ? app_text(app, file, out, e)
                         : app_file(app, file, ENTRY_PAYLOAD_MAX, out, e))
        return err_code(e);
    *out = utf8_skip_bom(*out);
    return ST_OK;
}

/* Of its own even under a fixed seed: the state of the thread is mixed in. */
static enum status new_op_id(struct app *app, struct sv thread, struct sv *out, struct err *e)
{
    struct store_head h;

    if (store_head(app->log.store, thread, &h, e))
        return err_code(e);
    rand_mix((struct sv){ (const char *)h.chain.b, HASH_SIZE });
    *out = rand_id("op_", 20, app->a);
    return ST_OK;
}

static enum status apply(struct app *app, enum op_type type, const struct op_opts *o, struct err *e)
{
    struct op        op = { .type = type,
                            .thread = app_arg(app, 0),
                            .agent = o->agent,
                            .op_id = o->op_id,
                            .lane = o->lane,
                            .reason = o->reason,
                            .meta = o->meta,
                            .has_base_seq = o->base_seq != OPT_UNSET,
                            .base_seq = o->base_seq,
                            .rebase = o->rebase,
                            .from = o->from,
                            .also_switch = o->also_switch,
                            .from_seq = o->at == OPT_UNSET ? OP_AT_HEAD : o->at,
                            .has_expect = o->expect != OPT_UNSET,
                            .expect = o->expect,
                            .actor = app->actor,
                            .at = clock_now_ms() };
    struct op_result r;

    if (op.has_expect && op.expect < 0)
        return err_set(e, ST_USAGE, "--expect takes a revision: 0 or more");
    if (type == OP_REPLACE && read_context(app, o->context, &op.context, e))
        return err_code(e);
    if (!op.op_id.s && new_op_id(app, op.thread, &op.op_id, e))
        return err_code(e);
    if (op_apply(&app->log, &op, app->a, &r, e))
        return err_code(e);
    op_result_print(app, &r, op_type_name(type));
    return ST_OK;
}

static enum status run_replace(struct app *app, const void *opts, struct err *e)
{
    return apply(app, OP_REPLACE, opts, e);
}

static enum status need_lane(const struct op_opts *o, const char *command, struct err *e)
{
    return o->lane.s ? ST_OK : command_need(command, "lane", o->lane, e);
}

static enum status run_switch(struct app *app, const void *opts, struct err *e)
{
    return need_lane(opts, "op switch", e) ? err_code(e) : apply(app, OP_SWITCH, opts, e);
}

static enum status run_fork(struct app *app, const void *opts, struct err *e)
{
    return need_lane(opts, "op fork", e) ? err_code(e) : apply(app, OP_FORK, opts, e);
}

const struct command cmd_op_replace = {
    .name = "op replace",
    .synopsis = "T --context FILE|- [--lane L] [--op-id ID] [--reason R] [--base-seq N] [--rebase] "
                "[--expect REV]",
    .group = GROUP_LOG,
    .summary = "Replace the context of a lane with a snapshot",
    .details =
        "The context is {\"system_prompt\":…,\"messages\":[…oldest first…]} or the stored form\n"
        "{\"id\":…,\"system_prompt\":…,\"entries\":[…newest first…]}. The log keeps everything "
        "before\n"
        "it; the lane becomes the active one. During a run the operation is parked and applied\n"
        "when the run ends. An op_id that was applied before changes nothing.\n\n"
        "  echo '{\"messages\":[{\"role\":\"user\",\"content\":\"(summary) …\"}]}' |\n"
        "      heddle op replace design --context - --reason compaction",
    .opts = replace_opts,
    .opts_size = sizeof(struct op_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_replace,
};

const struct command cmd_op_switch = {
    .name = "op switch",
    .synopsis = "T --lane L [--op-id ID]",
    .group = GROUP_LOG,
    .summary = "Make a lane the active one",
    .details =
        "Runs go on in it, and `heddle project` shows it; `heddle log append` still wants --lane.\n"
        "A lane that is not there yet starts empty.\n"
        "\n"
        "  heddle op switch design --lane default",
    .opts = switch_opts,
    .opts_size = sizeof(struct op_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_switch,
};

const struct command cmd_op_fork = {
    .name = "op fork",
    .synopsis = "T --lane NEW [--from L] [--at SEQ] [--switch] [--op-id ID]",
    .group = GROUP_LOG,
    .summary = "Start a lane that shares another's past",
    .details =
        "Nothing is copied: the new lane is a name and a point. It costs the same on a log of\n"
        "ten entries and of a million.\n\n"
        "  heddle op fork design --lane try-it --at 0 --switch",
    .opts = fork_opts,
    .opts_size = sizeof(struct op_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_fork,
};
