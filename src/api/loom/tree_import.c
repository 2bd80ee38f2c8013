/* tree.import: bring in the trees of another loom's file. */
#include "api/care/staged.h"
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "loom/exchange.h"
#include "thread/limits.h"

/* Nodes that are written in one transaction, since they are few; entries and bytes of one slice of
 * more: a node may be several entries, and reads some. */
enum { AT_ONCE = 500, SLICE = 1000, SLICE_BYTES = 4 << 20 };

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

/* One tree of the file, and the thread that it becomes. */
struct target {
    const struct foreign_tree *tree;
    struct sv                  thread;
    struct sv                  staged;       /* where it is written; absent: in the thread */
    struct store_head          before, head; /* of the thread; of where it is written */
};

struct import {
    struct request *r;
    struct target  *list;
    size_t          n;
    struct staged   staged; /* token.s: in slices, into staged threads */
    struct target  *to;     /* the tree that is being written */
    int64_t         nodes;  /* written so far, ... */
    int64_t         total;  /* ... of how many */
    int64_t         count;  /* entries of this slice, ... */
    size_t          bytes;  /* ... and the text of their nodes */
};

/* T for the first tree of a file, T-2, T-3 … for the others. */
static struct sv thread_name(struct request *r, struct sv first, size_t i)
{
    struct sb b = sb_in(r->a, 0);

    sb_add(&b, first);
    if (i)
        sb_addf(&b, "-%zu", i + 1);
    return sb_sv(&b);
}

static struct sv place(const struct target *t)
{
    return t->staged.s ? t->staged : t->thread;
}

static struct loom loom_at(const struct import *im, struct sv thread)
{
    return (
        struct loom){ .log = &im->r->log, .thread = thread, .a = im->r->a, .now = clock_now_ms() };
}

/* Look at the threads, which also folds views of them that are behind. */
static enum status look(struct import *im, struct err *e)
{
    for (size_t i = 0; i < im->n; i++) {
        struct target *t = &im->list[i];
        struct loom    l = loom_at(im, t->thread);
        if (name_check(t->thread, "thread id", e) ||
            log_begin(&im->r->log, t->thread, STORE_READ, e))
            return err_code(e);
        enum status s = log_head(&im->r->log, t->thread, &t->before, e);
        if (!s)
            s = import_check(&l, e);
        log_abort(&im->r->log);
        if (s)
            return s;
    }
    return ST_OK;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static enum status begin_slice(struct import *im, struct err *e)
{
    if (log_begin(&im->r->log, (struct sv){ 0 }, STORE_WRITE, e))
        return err_code(e);
    return im->to && im->to->head.rev
               ? log_stage_is_there(&im->r->log, im->to->staged, im->to->thread, &im->to->head, e)
               : ST_OK;
}

static enum status end_slice(struct import *im, struct err *e)
{
    im->count = 0;
    im->bytes = 0;
    request_progress(im->r, "importing trees", im->nodes, im->total);
    if (request_check(im->r, e))
        return err_code(e);
    if (!im->staged.token.s)
        return ST_OK;
    if (log_commit(&im->r->log, e))
        return err_code(e);
    log_let_others(&im->r->log);
    return ST_OK;
}

/* Something of the tree was written. */
static enum status step(void *ctx, const struct foreign_node *added, struct err *e)
{
    struct import    *im = ctx;
    struct store_head h;

    if (log_head(&im->r->log, place(im->to), &h, e))
        return err_code(e);
    im->count += h.rev - im->to->head.rev;
    im->to->head = h;
    if (added) {
        im->nodes++;
        im->bytes += added->text.n + added->kept.n;
    }
    if (im->count < SLICE && im->bytes < SLICE_BYTES)
        return ST_OK;
    return end_slice(im, e) || (im->staged.token.s && begin_slice(im, e)) ? err_code(e) : ST_OK;
}

/* In a write transaction; in another one afterwards, when they are staged. */
static enum status write_all(struct import *im, struct err *e)
{
    struct import_steps steps = { step, im };

    for (size_t i = 0; i < im->n; i++) {
        struct target *t = im->to = &im->list[i];
        struct loom    l = loom_at(im, place(t));
        if (!t->staged.s)
            t->head = t->before;
        if (import_write(&l, t->tree, im->r->actor, &steps, e) || step(im, NULL, e))
            return err_code(e);
    }
    return ST_OK;
}

static void answer_tree(struct request *r, const struct target *x, const char *format)
{
    const struct foreign_tree *t = x->tree;

    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", x->thread);
    jw_kstr(r->doc, "format", sv_of(format));
    jw_kint(r->doc, "nodes", (int64_t)t->n);
    jw_kint(r->doc, "left_out", (int64_t)t->left_out);
    jw_close(r->doc, '}');
    if (t->left_out)
        request_warn(r, (struct sv){ 0 }, x->thread, "%zu node%s that no root reaches: left out",
                     t->left_out, t->left_out == 1 ? "" : "s");
}

/* The answer is complete before the commit of the transaction in which the trees are visible, so
 * that it is recorded with them (OPERATION_ONCE). */
static enum status answer_and_commit(struct import *im, const char *format, struct err *e)
{
    struct jw *w = im->r->doc;

    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < im->n; i++)
        answer_tree(im->r, &im->list[i], format);
    jw_close(w, ']');
    jw_close(w, '}');
    return loom_call_commit(im->r, ST_OK, e);
}

static enum status import_at_once(struct import *im, const char *format, struct err *e)
{
    enum status s = log_begin(&im->r->log, im->list[0].thread, STORE_WRITE, e);

    if (!s)
        s = write_all(im, e);
    return s ? loom_call_commit(im->r, s, e) : answer_and_commit(im, format, e);
}

/* ---- in slices --------------------------------------------------------------------------------
 */

/* What a thread has, though no nodes, comes first in the staged one. */
static enum status stage_all(struct import *im, struct err *e)
{
    for (size_t i = 0; i < im->n; i++) {
        struct target *t = &im->list[i];
        t->staged = log_staged_id(im->staged.token, t->thread, i, im->r->a);
        if (!t->before.rev)
            continue;
        if (log_stage_copy(&im->r->log, t->thread, t->staged, &t->head, e))
            return err_code(e);
        t->before = t->head;
    }
    enum status s = begin_slice(im, e);
    if (!s)
        s = write_all(im, e);
    if (!s)
        s = end_slice(im, e);
    log_abort(&im->r->log); /* no effect after a commit */
    return s;
}

/* The transaction in which the trees become visible. */
static enum status show_all(struct import *im, const char *format, struct err *e)
{
    struct log *l = &im->r->log;
    enum status s = log_begin(l, im->list[0].thread, STORE_WRITE, e);

    for (size_t i = 0; !s && i < im->n; i++) {
        const struct target *t = &im->list[i];
        s = log_stage_is_there(l, t->staged, t->thread, &t->head, e);
        if (!s)
            s = log_stage_unmoved(l, t->thread, &t->before, e);
        if (!s)
            s = log_publish(l, t->staged, t->thread, e);
    }
    return s ? loom_call_commit(im->r, s, e) : answer_and_commit(im, format, e);
}

static enum status import_in_slices(struct import *im, const char *format, struct err *e)
{
    struct log *l = &im->r->log;

    if (staged_take(im->r->ws->root_fd, im->r->a, &im->staged, e))
        return err_code(e);
    log_allow_staged(l, true);
    log_bulk(l, true);
    enum status s = stage_all(im, e);
    if (!s)
        s = show_all(im, format, e);
    if (!s)
        e->code = ST_OK;
    staged_drop(im->r, l, &im->staged,
                e); /* what is not shown, and what was in the place of what is */
    log_bulk(l, false);
    log_allow_staged(l, false);
    staged_release(&im->staged);
    return s;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct import_params *p = params_given;
    struct import               im = { .r = r, .staged.fd = -1 };
    struct foreign_tree        *trees;
    const char                 *format;

    if (import_read(p->text, r->a, &trees, &im.n, &format, e))
        return p->file.s ? err_in(e, SV_FMT, SV_ARG(p->file)) : err_code(e);
    im.list = ARENA_NEW(r->a, struct target, im.n);
    for (size_t i = 0; i < im.n; i++) {
        im.list[i] = (struct target){ .tree = &trees[i], .thread = thread_name(r, p->thread, i) };
        im.total += (int64_t)trees[i].n;
    }
    if (staged_sweep(r, &r->log, r->ws->root_fd, NULL, e) || look(&im, e))
        return err_code(e);
    bool small = im.total <= AT_ONCE && p->text.n <= SLICE_BYTES;
    return small || !log_stages(&r->log) ? import_at_once(&im, format, e)
                                         : import_in_slices(&im, format, e);
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
        "makes the threads T, T-2, T-3 and so on. Everything is written or nothing, and nobody "
        "sees\n"
        "a part of it. While a large file comes in, others write; only when they write to one of "
        "its\n"
        "threads meanwhile, the import is refused (CONFLICT).\n\n"
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
