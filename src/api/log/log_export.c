/* log.export: the entries of one thread or of all, as JSON Lines. */
#include "api/log/log_walk.h"
#include "api/term.h"
#include "thread/entry_json.h"
#include "thread/scan.h"

struct export_params {
    struct sv thread;
    int64_t   from, to;
    bool      all;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT,   offsetof(struct export_params, thread), .value = "T", .help = "the thread" },
    { "from",   PARAM_NUMBER, offsetof(struct export_params, from), .value = "SEQ", .help = "first entry" },
    { "to",     PARAM_NUMBER, offsetof(struct export_params, to), .value = "SEQ", .help = "last entry" },
    { "all",    PARAM_FLAG,   offsetof(struct export_params, all), .help = "every thread, each line with the name of its own" },
    { 0 },
};
static const struct field answer[] = {
    { "entries", FIELD_NUMBER, .help = "how many were written" },
    { "threads", FIELD_NUMBER, .help = "of how many threads" },
    { 0 },
};
/* clang-format on */

struct exporting {
    struct request *r;
    struct sv       thread; /* written with each line; absent: not */
    struct arena    scratch;
};

static enum status each(void *ctx, const struct entry *n, bool intact, struct err *e)
{
    struct exporting *x = ctx;
    struct arena_mark m = arena_mark(&x->scratch);

    (void)e;
    if (intact)
        entry_write_of(x->r->out, x->thread, n);
    else
        entry_write_damaged(x->r->out, x->thread, n, &x->scratch);
    sb_addc(x->r->out, '\n');
    arena_reset(&x->scratch, m);
    return ST_OK;
}

/* All threads as they were at one moment. What is wrong with one does not keep the others from
 * being written: the first error is returned at the end. */
static enum status export_all(struct request *r, struct log_walk *w, size_t *threads, struct err *e)
{
    struct exporting    *x = w->ctx;
    struct store_thread *list;
    struct err           why, first = { 0 };

    if (log_begin(&r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(&r->log, r->a, &list, threads, e);
    for (size_t i = 0; !s && i < *threads && !r->out->failed; i++) {
        w->thread = x->thread = list[i].id;
        s = log_walk(r, w, &why);
        if (s && !first.code) {
            first = why;
            err_in(&first, "thread " SV_FMT, SV_ARG(list[i].id));
        }
        s = s == ST_CORRUPT ? ST_OK : s;
    }
    log_abort(&r->log);
    if (first.code)
        *e = first;
    return s || first.code ? err_code(e) : ST_OK;
}

static enum status check(const struct request *r, const struct export_params *p, struct err *e)
{
    if (!p->all == !p->thread.s) {
        err_set(e, ST_USAGE,
                p->all ? "--all takes no thread" : "`heddle log export` needs a thread");
        return err_hint(e, "usage: heddle log export T, or heddle log export --all");
    }
    if (p->all && (p->from != PARAM_UNSET || p->to != PARAM_UNSET))
        return err_set(e, ST_USAGE, "--from and --to are seqs of one thread, not of --all");
    return request_needs_out(r, e);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct export_params *p = given;
    struct exporting            x = { .r = r };
    size_t                      threads = 1;
    struct log_walk             w = { .thread = p->thread,
                                      .from = p->from == PARAM_UNSET ? 0 : p->from,
                                      .to = p->to == PARAM_UNSET ? STORE_TO_END : p->to,
                                      .each = each,
                                      .ctx = &x };

    if (check(r, p, e))
        return err_code(e);
    enum status s = p->all ? export_all(r, &w, &threads, e) : log_walk(r, &w, e);
    arena_free(&x.scratch);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_kint(r->doc, "entries", w.given);
    jw_kint(r->doc, "threads", (int64_t)threads);
    jw_close(r->doc, '}');
    return ST_OK;
}

const struct operation op_log_export = {
    .name = "log.export",
    .summary = "Write the entries of a thread as JSON Lines, loss-free",
    .details =
        "`heddle log import` reads them back: into an empty thread, they give the same chain.\n"
        "The chain is recomputed on the way. From a damaged database it writes every entry that\n"
        "can be read, says which are missing or changed, and fails; what it wrote can be taken in\n"
        "with `heddle log import --salvage`. An entry whose bytes are no longer JSON becomes one\n"
        "of kind damaged_entry that holds them in base64.\n"
        "\n"
        "--all writes every thread, as all of them are at one moment, in the order of their "
        "names;\n"
        "each line has the name of its thread. `heddle log import --all` takes it.\n"
        "\n"
        "  heddle log export design > design.jsonl\n"
        "  heddle log export --all > everything.jsonl",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .of_log = true,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .params = params,
    .params_size = sizeof(struct export_params),
    .answer = answer,
    .run = run,
    .print = term_nothing, /* The lines were the answer. */
};
