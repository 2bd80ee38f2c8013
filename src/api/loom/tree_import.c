/* tree.import: bring in the trees of another loom's file. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "loom/exchange.h"

struct import_params {
    struct sv thread, file, text, op_id;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT, offsetof(struct import_params, thread), .value = "T",      .required = true, .help = "the thread of the first tree; it must not have nodes yet" },
    { "file",   PARAM_TEXT, offsetof(struct import_params, file),   .value = "FILE|-", .help = "the name of the file, for messages" },
    { "text",   PARAM_TEXT, offsetof(struct import_params, text),   .value = "TEXT",   .required = true, .blank = true, .help = "what the file holds" },
    PARAM_ONCE(struct import_params),
    { 0 },
};
static const struct field tree_fields[] = {
    { "thread",   FIELD_TEXT,   .help = "the thread that was made" },
    { "format",   FIELD_TEXT,   .help = "what wrote the file" },
    { "nodes",    FIELD_NUMBER, .help = "how many nodes the tree has" },
    { "left_out", FIELD_NUMBER, .help = "how many nodes no root reaches" },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = tree_fields, .help = "the trees of the file, in its order" },
    { 0 },
};
/* clang-format on */

/* T for the first tree of a file, T-2, T-3 … for the others. */
static struct sv thread_name(struct request *r, struct sv first, size_t i)
{
    struct sb b = sb_in(r->a, 0);

    sb_add(&b, first);
    if (i)
        sb_addf(&b, "-%zu", i + 1);
    return sb_sv(&b);
}

static enum status write_all(struct request *r, struct sv first, const struct foreign_tree *trees,
                             size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct loom l = {
            .log = &r->log, .thread = thread_name(r, first, i), .a = r->a, .now = clock_now_ms()
        };
        if (request_check(r, e) || name_check(l.thread, "thread id", e) ||
            import_write(&l, &trees[i], r->actor, e))
            return err_code(e);
        request_progress(r, "importing trees", (int64_t)i + 1, (int64_t)n);
    }
    return ST_OK;
}

static void answer_tree(struct request *r, struct sv thread, const struct foreign_tree *t,
                        const char *format)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", thread);
    jw_kstr(r->doc, "format", sv_of(format));
    jw_kint(r->doc, "nodes", (int64_t)t->n);
    jw_kint(r->doc, "left_out", (int64_t)t->left_out);
    jw_close(r->doc, '}');
    if (t->left_out)
        request_warn(r, (struct sv){ 0 }, thread, "%zu node%s that no root reaches: left out",
                     t->left_out, t->left_out == 1 ? "" : "s");
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct import_params *p = params_given;
    struct foreign_tree        *trees;
    const char                 *format;
    size_t                      n;

    if (import_read(p->text, r->a, &trees, &n, &format, e))
        return p->file.s ? err_in(e, SV_FMT, SV_ARG(p->file)) : err_code(e);
    if (log_begin(&r->log, p->thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = write_all(r, p->thread, trees, n, e);
    if (s)
        return loom_call_commit(r, s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        answer_tree(r, thread_name(r, p->thread, i), &trees[i], format);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return loom_call_commit(r, ST_OK, e);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        int64_t            n = 0;
        json_int(json_find(x, "nodes"), &n);
        term_text(t, json_text(x, "thread"));
        term_f(t, ": %lld node%s from " SV_FMT "\n", (long long)n, n == 1 ? "" : "s",
               SV_ARG(json_text(x, "format")));
    }
}

const struct operation op_tree_import = {
    .name = "tree.import",
    .summary = "Bring in a tree from another loom",
    .details =
        "Reads Open Loom 2.x, socketteer/loom and loomsidian files. A file with several trees "
        "makes the threads T, T-2, T-3 and so on. Everything is written or nothing.\n\n"
        "  heddle import marie marie.openloom",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    OPERATION_ONCE,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct import_params),
    .answer = answer,
    .run = run,
    .print = print,
};
