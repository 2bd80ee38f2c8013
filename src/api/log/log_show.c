/* log.show: the entries of a thread, to be read. */
#include "api/log/entry_doc.h"
#include "api/log/log_walk.h"
#include "api/share/share_call.h"
#include "loom/agent.h"

#include <string.h>

struct show_params {
    struct sv thread;
    int64_t   from, to, tail;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT,   offsetof(struct show_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread" },
    { "from",   PARAM_NUMBER, offsetof(struct show_params, from), .value = "SEQ", .help = "first entry" },
    { "to",     PARAM_NUMBER, offsetof(struct show_params, to), .value = "SEQ", .help = "last entry" },
    { "tail",   PARAM_NUMBER, offsetof(struct show_params, tail), .value = "N", .min = 0, .max = INT64_MAX, .help = "only the last N of them" },
    { 0 },
};
static const struct field answer[] = {
    { "entries", FIELD_NUMBER, .help = "how many were shown" },
    { "thread",  FIELD_TEXT,   .help = "the thread" },
    { 0 },
};
/* clang-format on */

struct showing {
    struct request *r;
    struct arena    scratch;
};

static enum status each(void *ctx, const struct entry *n, bool intact, struct err *e)
{
    struct showing   *x = ctx;
    struct arena_mark m = arena_mark(&x->scratch);
    enum status       s = entry_send(x->r, (struct sv){ 0 }, n, intact, &x->scratch, e);

    arena_reset(&x->scratch, m);
    return s;
}

/* Where the last `tail` entries up to `to` begin. */
static enum status find_tail(struct request *r, struct log_walk *w, int64_t tail, struct err *e)
{
    struct store_head h;

    if (log_head(&r->log, w->thread, &h, e))
        return err_code(e);
    int64_t last = w->to < h.rev ? w->to : h.rev - 1;
    int64_t first = tail > last ? 0 : last - tail + 1;
    w->from = first > w->from ? first : w->from;
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct show_params *p = given;
    struct showing            x = { .r = r };
    struct log_walk           w = { .thread = p->thread,
                                    .from = p->from == PARAM_UNSET ? 0 : p->from,
                                    .to = p->to == PARAM_UNSET ? STORE_TO_END : p->to,
                                    .each = each,
                                    .ctx = &x };

    if (p->tail != PARAM_UNSET && find_tail(r, &w, p->tail, e))
        return err_code(e);
    enum status s = share_call_or_empty(r, w.thread, log_walk(r, &w, e), e);
    arena_free(&x.scratch);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_kint(r->doc, "entries", w.given);
    jw_kstr(r->doc, "thread", p->thread);
    jw_close(r->doc, '}');
    return ST_OK;
}

const struct operation op_log_show = {
    .name = "log.show",
    .summary = "Show the entries of a thread, oldest first",
    .details =
        "A line each: number, role or kind, the lane unless it is the default one, and what\n"
        "it says, cut where the terminal ends. --raw shows what is stored: time, kind, "
        "lane,\n"
        "actor and id, and the payload below. With --json each entry is a line as `heddle\n"
        "log export` writes it.\n"
        "\n"
        "  heddle log show design --tail 20\n"
        "  heddle log show design --from 1 --raw",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .streams = STREAM_EVENTS | STREAM_BULK,
    .params = params,
    .params_size = sizeof(struct show_params),
    .answer = answer,
    .event = entry_fields,
    .run = run,
    .print = term_nothing, /* The entries were the answer. */
    .print_event = entry_print,
};
