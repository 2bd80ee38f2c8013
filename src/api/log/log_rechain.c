/* log.rechain: a chain of version 2 for a thread of version 1. */
#include "api/request.h"
#include "api/term.h"
#include "base/clock.h"
#include "loom/node.h"
#include "thread/erase.h"

#include <string.h>

struct rechain_params {
    struct sv thread;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT, offsetof(struct rechain_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread" },
    { 0 },
};
static const struct field answer[] = {
    { "chain",   FIELD_TEXT,   .help = "chain value of the last entry, 64 hex digits" },
    { "done",    FIELD_FLAG,   .help = "false: it had such a chain already" },
    { "rev",     FIELD_NUMBER, .help = "number of entries" },
    { "version", FIELD_NUMBER, .help = "of the chain" },
    { 0 },
};
/* clang-format on */

struct naming {
    struct request *r;
    struct sv       thread;
};

/* The local id of a node is drawn from its chain value, unless the entry names it. */
static enum status name_node(void *ctx, const struct entry *n, struct arena *a, struct sv *out,
                             struct err *e)
{
    struct naming *x = ctx;
    struct loom    l = { .log = &x->r->log, .thread = x->thread, .a = a };
    struct json    p;
    struct node    node;
    struct err     ignored;

    *out = n->payload;
    if (n->mark != MARK_MESSAGE || node_at(&l, n->seq, &node, &ignored))
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    *out = loom_with_local(&p, node.local, a);
    return ST_OK;
}

static enum status rechain(struct request *r, struct sv thread, struct store_head *head,
                           struct err *e)
{
    struct naming      x = { r, thread };
    struct rechain_how how = { r->actor, clock_now_ms(), name_node, &x };

    if (log_rechain(&r->log, thread, &how, head, e))
        return err_code(e);
    return log_commit(&r->log, e);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct rechain_params *p = given;
    struct store_head            head = { 0 };

    if (log_begin(&r->log, p->thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = rechain(r, p->thread, &head, e);
    bool        already = s == ST_CONFLICT && strcmp(e->reason, "version") == 0;
    if (already)
        s = log_head(&r->log, p->thread, &head, e);
    log_abort(&r->log);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "chain", hash_hex(&head.chain, r->a));
    jw_kbool(r->doc, "done", !already);
    jw_kint(r->doc, "rev", head.rev);
    jw_kint(r->doc, "version", head.version);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    bool      done = json_truth(json_find(doc, "done"));
    long long rev = (long long)json_number(doc, "rev");
    struct sv chain = json_text(doc, "chain");

    term_f(t, "%s%lld entries have a chain of version 2%s; the head is " SV_FMT "\n",
           done ? "✓ " : "", rev, done ? "" : " already", SV_ARG(chain));
    if (done)
        term_f(t, "  heads pinned and exports made before belong to the old chain\n");
}

const struct operation op_log_rechain = {
    .name = "log.rechain",
    .summary = "Give a thread of chain version 1 a chain from which content can be erased",
    .details =
        "Threads made by older versions are chained with their content and cannot be erased. This\n"
        "gives every entry a salt and a new chain value. Ids that followed from the old chain are\n"
        "written into the entries first, so that they stay; the old head is kept in a `rechain`\n"
        "entry. Heads pinned, tokens taken and exports made before belong to the old chain.\n\n"
        "  heddle log rechain design",
    .group = GROUP_LOG,
    .needs = NEEDS_WRITE,
    .slow = true,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct rechain_params),
    .answer = answer,
    .view = &loom_view,
    .run = run,
    .print = print,
};
