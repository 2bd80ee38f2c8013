/* Lines of JSON become messages of a thread, whatever they hold, and are assembled: for agents that
 * see the tree and others, with every strategy and small budgets. What is made keeps its budget,
 * counted again from the bodies; every body is JSON; a compaction that is taken back leaves the
 * same bytes. The first byte of the input chooses the budget. */
#include "assemble/assemble.h"
#include "assemble/compact.h"
#include "loom/write.h"
#include "store/store.h"
#include "thread/kind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 40 };
static const struct view *const views[] = { &thread_view, &loom_view, &agents_view, NULL };

struct fuzzing {
    struct arena  a;
    struct store *store;
    struct log    log;
    struct counts counts;
    struct err    e;
};

static void must(bool good)
{
    if (!good)
        abort();
}

/* Each line that is an object is a message, of whatever shape. */
static bool append_line(struct fuzzing *x, struct sv line)
{
    struct json       v;
    struct store_head head;
    struct err        e;

    if (json_parse(line, 0, &x->a, &v, &e) || v.type != JSON_OBJECT)
        return false;
    struct entry n = { .at = 1794743400000,
                       .kind = SV("ai_message"),
                       .actor = SV("ada"),
                       .lane = LANE_DEFAULT,
                       .payload = json_canonical(&v, &x->a) };
    if (log_begin(&x->log, SV("t"), STORE_WRITE, &e) ||
        log_import(&x->log, SV("t"), &n, 1, &head, NULL, NULL, &e) || log_commit(&x->log, &e)) {
        log_abort(&x->log);
        return false;
    }
    return true;
}

static struct assembly_request request_of(struct fuzzing *x, bool aware, int64_t budget)
{
    return (struct assembly_request){
        .loom = { .log = &x->log, .thread = SV("t"), .a = &x->a, .now = 1794743500000 },
        .agent = { .name = SV("Ana"),
                   .kind = AUTHOR_MODEL,
                   .permissions = aware ? PERM_ALL : 0,
                   .system_prompt = SV("Be brief.") },
        .counts = &x->counts,
        .budget = budget,
    };
}

static struct sv text_of(struct fuzzing *x, const struct context *c)
{
    struct sb b = sb_in(&x->a, 0);

    sb_add(&b, c->system_prompt);
    for (size_t i = 0; i < c->n; i++) {
        sb_addf(&b, "\n" SV_FMT ": ", SV_ARG(c->messages[i].role));
        sb_add(&b, c->messages[i].content);
    }
    return sb_sv(&b);
}

static void check_budget(struct fuzzing *x, const struct assembly *made, size_t budget)
{
    size_t sum = counts_of(&x->counts, made->context.system_prompt);

    must(made->tokens <= budget);
    for (size_t i = 0; i < made->context.n; i++) {
        struct json v;
        must(json_parse(made->context.messages[i].content, 0, &x->a, &v, &x->e) == ST_OK);
        if (v.type == JSON_STRING)
            sum += counts_of(&x->counts, json_sv(&v)) + ASSEMBLY_MESSAGE_TOKENS;
    }
    must(sum <= budget);
}

static void check_bodies(struct fuzzing *x, const struct assembly *made)
{
    for (int d = BODY_ANTHROPIC; d <= BODY_OFFLINE; d++) {
        struct sb            b = sb_in(&x->a, 0);
        struct render_report r = report_in(&x->a);
        struct body_settings s = { .cache = made->cache };
        struct json          v;
        must(body_write((enum body_dialect)d, &made->context, &s, &x->a, &b, &r, &x->e) == ST_OK);
        must(json_parse(sb_sv(&b), 0, &x->a, &v, &x->e) == ST_OK);
    }
}

static struct sv assemble(struct fuzzing *x, bool aware, int64_t budget, int strategy)
{
    struct assembly_request q = request_of(x, aware, budget);
    struct assembly         made;

    q.strategy = (enum assembly_strategy)strategy;
    must(log_begin(&x->log, SV("t"), STORE_READ, &x->e) == ST_OK);
    enum status s = assembly_make(&q, &x->a, &made, &x->e);
    log_abort(&x->log);
    must(s == ST_OK || s == ST_LIMIT_EXCEEDED);
    if (s)
        return SV("");
    check_budget(x, &made, (size_t)budget);
    check_bodies(x, &made);
    return text_of(x, &made.context);
}

static void compact_and_back(struct fuzzing *x)
{
    struct compact_request q = { .loom = { .log = &x->log, .thread = SV("t"), .a = &x->a },
                                 .lane = LANE_DEFAULT,
                                 .counts = &x->counts,
                                 .keep = 2 };
    struct compact_by      by = { .actor = SV("a"), .op_id = SV("one") };
    struct compact_plan    plan;
    struct compact_undone  undone;
    struct op_result       result;
    struct sv              before = assemble(x, true, 1000000, ASSEMBLY_AUTO);

    must(log_begin(&x->log, SV("t"), STORE_WRITE, &x->e) == ST_OK);
    must(compact_prepare(&q, &x->a, &plan, &x->e) == ST_OK);
    must(compact_summarize(&plan, (struct sv){ 0 }, NULL, NULL, &x->a, &x->e) == ST_OK ||
         x->e.code == ST_MODEL_ERROR); /* nothing was said, so that there is no summary */
    if (plan.is_due && plan.summary.n) {
        must(compact_apply(&plan, &by, &x->a, &result, &x->e) == ST_OK);
        by.op_id = SV("two");
        must(compact_undo(&q.loom, LANE_DEFAULT, &by, &x->a, &undone, &result, &x->e) == ST_OK);
    }
    must(log_commit(&x->log, &x->e) == ST_OK);
    must(sv_eq(assemble(x, true, 1000000, ASSEMBLY_AUTO), before));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzzing x = { 0 };
    int            lines = 0;

    if (size < 2)
        return 0;
    must(store_open(SV("mem:"), &(struct store_options){ .create = true }, &x.store, &x.e) ==
         ST_OK);
    x.log = log_of(x.store, views);
    x.log.wanted = &loom_view;
    counts_init_by(&x.counts, NULL, NULL);
    struct sv_cut c = { .tail = { (const char *)data + 1, size - 1 }, .found = true };
    for (int i = 0; c.found && i < LINES_MAX; i++) {
        c = sv_cut(c.tail, '\n');
        lines += append_line(&x, c.head);
    }
    if (lines) {
        for (int s = ASSEMBLY_AUTO; s <= ASSEMBLY_STOP_AT_LIMIT; s++)
            assemble(&x, s % 2, 60 + data[0] * 4, s);
        compact_and_back(&x);
    }
    counts_release(&x.counts);
    store_close(x.store);
    arena_free(&x.a);
    return 0;
}
