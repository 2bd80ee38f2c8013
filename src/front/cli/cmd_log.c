/* `log append | show | export`: the log itself, as JSON Lines. */
#include "base/clock.h"
#include "base/lines.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "front/cli/log_batch.h"
#include "front/cli/progress.h"
#include "thread/kind.h"
#include "thread/log_read.h"

/* ---- append ----------------------------------------------------------------------- */

struct append_opts {
    struct sv lane, op_id;
    int64_t   expect;
};

static const struct opt append_opts[] = {
    { OPT_TEXT, "lane", "L", "lane of lines that name none (default: default)",
      offsetof(struct append_opts, lane), 0 },
    { OPT_NUMBER, "expect", "REV", "append only if the thread has exactly REV entries",
      offsetof(struct append_opts, expect), 0 },
    { OPT_TEXT, "op-id", "ID", "append at most once: repeating it with the same lines is harmless",
      offsetof(struct append_opts, op_id), 0 },
    { 0 },
};

/* All lines of stdin. The first bad one is named. */
static enum status read_batch(struct app *app, const struct entry_defaults *d, struct batch *b,
                              struct err *e)
{
    struct lines in = lines_of(0, LINE_BYTES_MAX, app->a);
    struct sv    line;
    bool         more = true;

    for (;;) {
        if (lines_next(&in, &line, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (!sv_trim(line).n)
            continue;
        if (batch_add(b, line, in.number, d, e))
            return err_code(e);
        if (b->lines.n > BATCH_ENTRIES_MAX || b->bytes > BATCH_BYTES_MAX) {
            err_set(e, ST_LIMIT_EXCEEDED, "more than %d lines or %d bytes in one append",
                    BATCH_ENTRIES_MAX, BATCH_BYTES_MAX);
            return err_hint(e, "`heddle log import` takes files of any length");
        }
    }
}

/* The op_id of the i-th entry of a batch: ID, ID#2, ID#3 … So it is known as a whole. */
static struct sv batch_op(struct sv id, size_t i, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, id);
    if (i)
        sb_addf(&b, "#%zu", i + 1);
    return sb_sv(&b);
}

/* Mark each entry with the op_id of the batch, unless it has one of its own. */
static void mark_batch(struct entry *list, size_t n, struct sv op_id, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (i == 0 || (!list[i].op_id.s && kind_of(list[i].kind) != KIND_AI_CONTEXT_OPERATION))
            list[i].op_id = batch_op(op_id, i, a);
}

/* log_append() found all lines in the log. Were there more of them the first time? */
static enum status check_longer(struct app *app, struct sv thread, struct sv op_id, size_t n,
                                struct err *e)
{
    struct entry old;
    bool         there = false;

    if (store_find_op(app->log.store, thread, batch_op(op_id, n, app->a), app->a, &old, &there, e))
        return err_code(e);
    if (!there)
        return ST_OK;
    err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' was used before, with other content",
            SV_ARG(op_id));
    err_reason(e, "op_id");
    return err_hint(e, "use a new op_id for new content");
}

static enum status append_batch(struct app *app, struct sv thread, const struct append_opts *o,
                                const struct batch *b, struct err *e)
{
    struct entry     *list = batch_entries(b, app->a);
    int64_t           n = (int64_t)b->lines.n;
    struct store_head head;

    if (o->op_id.s && n)
        mark_batch(list, b->lines.n, o->op_id, app->a);
    if (batch_append(&app->log, thread, o->expect == OPT_UNSET ? LOG_ANY_REV : o->expect, b, list,
                     NULL, &head, e))
        return err_code(e);
    bool repeated = app->log.repeated;
    if (repeated && o->op_id.s && check_longer(app, thread, o->op_id, b->lines.n, e))
        return err_code(e);
    if (log_commit(&app->log, e))
        return err_code(e);
    int64_t first = repeated ? list[0].seq : head.rev - n;
    print_appended(app, head.rev, first, first + n - 1, repeated);
    batch_tell_unknown(b);
    return ST_OK;
}

static enum status run_append(struct app *app, const void *opts, struct err *e)
{
    const struct append_opts *o = opts;
    struct entry_defaults d = { clock_now_ms(), o->lane.n ? o->lane : LANE_DEFAULT, app->actor };
    struct batch          b = { .a = app->a };
    struct sv             thread = app_arg(app, 0);

    if (o->expect != OPT_UNSET && o->expect < 0)
        return err_set(e, ST_USAGE, "--expect takes a revision: 0 or more");
    if ((o->lane.s && name_check(o->lane, "lane", e)) || read_batch(app, &d, &b, e) ||
        batch_check_operations(&b, e))
        return err_code(e);
    if (log_begin(&app->log, thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = append_batch(app, thread, o, &b, e);
    log_abort(&app->log); /* nothing is open any more when all went well */
    return s;
}

const struct command cmd_log_append = {
    .name = "log append",
    .synopsis = "T [--lane L] [--expect REV] [--op-id ID]",
    .group = GROUP_LOG,
    .summary = "Append entries to a thread, read as JSON Lines from stdin",
    .details =
        "Each line is {\"kind\":…,\"payload\":{…}}, with optional id, at (milliseconds), lane, "
        "refs,\n"
        "actor and op_id. The thread comes into being with its first entry. All lines are\n"
        "written or none; when the command returns they are on the disk.\n"
        "\n"
        "A message is an ai_message with role (user, assistant or tool) and content; another role\n"
        "is refused. A system prompt belongs to a context operation: see `heddle op replace`. A\n"
        "message of an assistant may have tool_calls\n"
        "[{\"id\":…,\"name\":…,\"arguments\":{…}}], and the results are messages of role tool "
        "with\n"
        "their tool_call_id; name is optional and taken from the call. A payload that is not what\n"
        "its kind demands is refused. A kind that is not known is kept as it is, is part of no\n"
        "context, and is warned of.\n"
        "\n"
        "Repeating the same lines with the same op_id is harmless.\n"
        "\n"
        "  echo '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"hi\"}}' |\n"
        "      heddle log append t1 --json",
    .opts = append_opts,
    .opts_size = sizeof(struct append_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_append,
};

/* ---- show and export ----------------------------------------------------------------- */

struct show_opts {
    int64_t from, to;
};

static const struct opt show_opts[] = {
    { OPT_NUMBER, "from", "SEQ", "first entry", offsetof(struct show_opts, from), 0 },
    { OPT_NUMBER, "to", "SEQ", "last entry", offsetof(struct show_opts, to), 0 },
    { 0 },
};

/* kind lane #seq time actor, then the payload on the next line. */
static void show_entry(struct app *app, const struct entry *n)
{
    struct sb *out = &app->out;

    sb_addf(out, "#%lld ", (long long)n->seq);
    sb_add_iso_ms(out, n->at);
    sb_addf(out, " " SV_FMT, SV_ARG(n->kind));
    if (n->lane.s)
        sb_addf(out, " lane:" SV_FMT, SV_ARG(n->lane));
    sb_addf(out, " by " SV_FMT " " SV_FMT "\n    ", SV_ARG(n->actor.n ? n->actor : SV("-")),
            SV_ARG(entry_id(n, app->a)));
    sb_add_plain(out, n->payload);
    if (!sv_is(n->refs, "{}")) {
        sb_adds(out, "\n    refs ");
        sb_add_plain(out, n->refs);
    }
    sb_addc(out, '\n');
}

static void say(void *ctx, struct sv finding)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    (void)ctx;
    sb_add_plain(&b, finding);
    warn("%s", sb_sv(&b).s);
    arena_free(&scratch);
}

static void print_entry(struct app *app, const struct entry *n, bool as_json, bool intact)
{
    if (!as_json) {
        show_entry(app, n);
        return;
    }
    if (intact)
        entry_write(&app->out, n);
    else
        entry_write_damaged(&app->out, n, app->a);
    sb_addc(&app->out, '\n');
}

/* Every entry that can be read, and at the end what is wrong with the rest. */
static enum status each_entry(struct app *app, const struct show_opts *o, bool as_json,
                              struct err *e)
{
    struct log_reader r;
    struct entry      n;
    bool              more = true, intact;
    enum status       s =
        log_read_open(&r, &app->log, app_arg(app, 0), o->from == OPT_UNSET ? 0 : o->from,
                      o->to == OPT_UNSET ? STORE_TO_END : o->to, say, NULL, e);
    struct progress p = progress_of("export", r.end > 0 ? r.end : 0);

    while (!s && !app->out.failed) { /* failed: nobody reads any more */
        struct arena_mark m = arena_mark(app->a);
        s = log_read_next(&r, &n, &intact, &more, e);
        if (s || !more)
            break;
        print_entry(app, &n, as_json, intact);
        arena_reset(app->a, m);
        progress_at(&p, n.seq);
    }
    progress_end(&p);
    log_read_close(&r);
    return s || app->out.failed ? s : log_read_result(&r, e);
}

static enum status run_show(struct app *app, const void *opts, struct err *e)
{
    return each_entry(app, opts, app->json, e);
}

static enum status run_export(struct app *app, const void *opts, struct err *e)
{
    return each_entry(app, opts, true, e);
}

const struct command cmd_log_show = {
    .name = "log show",
    .synopsis = "T [--from SEQ] [--to SEQ]",
    .group = GROUP_LOG,
    .summary = "Show the entries of a thread, oldest first",
    .details = "  heddle log show design --from 1",
    .opts = show_opts,
    .opts_size = sizeof(struct show_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_show,
};

const struct command cmd_log_export = {
    .name = "log export",
    .synopsis = "T [--from SEQ] [--to SEQ]",
    .group = GROUP_LOG,
    .summary = "Write the entries of a thread as JSON Lines, loss-free",
    .details =
        "`heddle log import` reads them back: into an empty thread, they give the same chain.\n"
        "The chain is recomputed on the way. From a damaged database it writes every entry that\n"
        "can be read, says which are missing or changed, and fails; what it wrote can be taken in\n"
        "with `heddle log import --salvage`. An entry whose bytes are no longer JSON becomes one\n"
        "of kind damaged_entry that holds them in base64.\n\n"
        "  heddle log export design > design.jsonl",
    .opts = show_opts,
    .opts_size = sizeof(struct show_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .data = true,
    .run = run_export,
};
