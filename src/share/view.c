/* The fold that makes all rows of this room. One entry is one operation; its payload has
 * `operation`, `operator` and the facts below. Rows of the thread `.global`:
 *
 *     meta                  {at, objectives, threads}: last change, counts
 *     rev                   one more than the seq of the last operation: what the files are for
 *     obj/ID                an objective            objorder/SEQ    its id
 *     objgone/ID            when an objective was deleted, in ms: an older file does not bring it
 *                           back
 *     thread/ID             a thread, with the seq of the entry that made it
 *     log/ID                what was said of a thread that only has a log: its title, and whether
 *                           it is archived. It goes when the thread is spawned or removed
 *     member/OBJECTIVE/ID   a thread of an objective
 *     child/PARENT/SEQ      the id of a child
 *     ref/FROM/SEQ          a reference; inh/THREAD/SEQ what spawn --inherit copied
 *     to/FROM/SEQ           a distinct target; by/TARGET/SEQ the other end; edge/FROM/TARGET SEQ
 *     kept/FROM/REF         a reference that was dropped or bound otherwise, as it was before: it
 *                           can be taken up again, so its content counts as used
 *     spot/THREAD/PLACE     SOURCE-THREAD/PATH: whose place this is below context/inherited/. It
 *                           stays when the copy goes, so that no path ever leads to another's file
 *     snap/THREAD/PLACE     how many references hold the frozen copy at that place
 *     blob/HASH             how many frozen copies, kept ones and merged files have this content
 *     dep/ID                depends_on, relx/ID unknown keys of a relation
 *     opid/OP               the seq of an operation
 *     inject/THREAD/SEQ     an injection that has not been delivered
 *     merged/TARGET/SOURCE/PATH
 *                           "THEIRS BEFORE": hashes of what the last merge took and what was there
 *     broken/FROM/TARGET    a reference whose target is not there
 *     worker/THREAD         the process that works on a thread
 *     bad/SECTION/KEY       a value of another program that no rule covers, kept as it is */
#include "share/view_internal.h"

#include "thread/kind.h"
#include "thread/skeleton.h"
#include "thread/stage.h"

static enum status fold_nothing(struct view_op *o)
{
    (void)o;
    return ST_OK;
}

/* ---- the table ------------------------------------------------------------------------- */

enum touches {
    T_THREAD = 1,    /* thread_id */
    T_RELATION = 2,  /* of thread_id and parent_id */
    T_EDGE = 4,      /* relations of from and target; .refs.json of from */
    T_OBJECTIVE = 8, /* objective */
    T_ALL = 16,
};

static const char *const spawn_params[] = { "thread_id", "parent_id",     "intent", "objective",
                                            "inherit",   "inherit_scope", NULL };
static const char *const ref_params[] = { "ref_id", "from_id", "to_id", "scope", "binding", NULL };
static const char *const lifecycle_params[] = { "thread_id", "action", "reason", NULL };
static const char *const inject_params[] = { "thread_id", "type", "content", NULL };
static const char *const merge_params[] = { "sources", "target", "conflict_strategy", "conflicts",
                                            NULL };
static const char *const transfer_params[] = { "thread_id", "direction",       "scope",
                                               "reason",    "target_executor", NULL };
static const char *const no_params[] = { NULL };

/* clang-format off */
static const struct view_operation {
    const char        *name;
    view_fold         *fold;
    unsigned           touches;
    const char *const *params; /* NULL: not in operations[] */
} operations[] = {
    { "objective",        view_fold_objective,        T_OBJECTIVE,                         NULL },
    { "objective_delete", view_fold_objective_delete, T_ALL,                               NULL },
    { "spawn",            view_fold_spawn,            T_THREAD | T_RELATION | T_OBJECTIVE, spawn_params },
    { "reference",        view_fold_reference,        T_EDGE,                              ref_params },
    { "refresh",          view_fold_refresh,          T_EDGE,                              ref_params },
    { "unreference",      view_fold_unreference,      T_EDGE,                              ref_params },
    { "rebind",           view_fold_rebind,           T_EDGE,                              ref_params },
    { "lifecycle",        view_fold_status,           T_THREAD | T_OBJECTIVE,              lifecycle_params },
    { "transfer",         view_fold_status,           T_THREAD | T_OBJECTIVE,              transfer_params },
    { "inject",           view_fold_inject,           0,                                   inject_params },
    { "deliver",          view_fold_deliver,          0,                                   NULL },
    { "merge",            view_fold_merge,            0,                                   merge_params },
    { "session",          view_fold_session,          T_THREAD,                            NULL },
    { "rename",           view_fold_rename,           T_THREAD,                            NULL },
    { "log_archive",      view_fold_log_archive,      0,                                   NULL },
    { "transcript",       fold_nothing,               0,                                   NULL },
    { "worker",           view_fold_worker,           0,                                   NULL },
    { "import",           view_fold_import,           T_ALL,                               no_params },
    { "remove",           view_fold_remove,           T_ALL,                               NULL },
};
/* clang-format on */

static const struct view_operation *operation_of(struct sv name)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        if (sv_is(name, operations[i].name))
            return &operations[i];
    return NULL;
}

bool share_knows(struct sv name)
{
    return operation_of(name) != NULL;
}

const char *const *share_params(struct sv name)
{
    const struct view_operation *op = operation_of(name);

    return op ? op->params : NULL;
}

int64_t share_op_time(const struct entry *n, const struct json *payload, struct arena *a)
{
    struct json record;
    struct err  ignored;
    int64_t     at;

    if (!sv_is(json_text(payload, "what"), "operation") ||
        json_parse(json_text(payload, "record"), 0, a, &record, &ignored) ||
        !clock_parse_iso(json_text(&record, "timestamp"), &at))
        return n->at;
    return at;
}

/* Clones that exchange their files come to the same ones only when both write them in one order,
 * that of time. As long as everything came in that order, the order of the log is the same. */
static enum status track_order(struct view_op *o, const struct view_operation *op)
{
    struct share_meta m = { 0 };
    struct sv         row, what = view_text(o, "what");
    bool              found, import = sv_is(view_text(o, "operation"), "import");
    bool              thread = sv_is(view_text(o, "operation"), "spawn") || sv_is(what, "thread");
    int64_t           at = o->n->at;

    if (!thread && (!op->params || (import && !sv_is(what, "operation"))))
        return ST_OK;
    if (view_get(o, SV("meta"), &row, &found) || (found && share_meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    if (thread) {
        if (import)
            json_int(json_find(o->p, "created"), &at);
        m.unsorted = m.unsorted || at < m.last_thread;
        m.last_thread = at > m.last_thread ? at : m.last_thread;
    }
    if (op->params && !(import && thread)) {
        at = share_op_time(o->n, o->p, o->f->a);
        m.unsorted = m.unsorted || at < m.last_op;
        m.last_op = at > m.last_op ? at : m.last_op;
    }
    return view_put(o, SV("meta"), share_meta_row(&m, o->f->a));
}

static enum status fold(struct rows *f, const struct entry *n, struct err *e)
{
    struct json                  p;
    const struct view_operation *op;

    if (kind_of(n->kind) != KIND_THREAD_OPERATION || !log_is_global(f->thread))
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    operation_fill_erased(n, &p, f->a);
    op = operation_of(json_text(&p, "operation"));
    if (!op || !share_is_sane(&p, f->a))
        return ST_OK; /* of a newer version, or malformed: kept, and otherwise ignored */
    struct view_op o = { f, n, &p, e };
    if (row_put(f, SV("rev"), view_seq_text(n->seq + 1, f->a), e))
        return err_code(e);
    if (op->params && n->op_id.s &&
        row_put(f, key_of_name("opid", n->op_id, f->a), view_seq_text(n->seq, f->a), e))
        return err_code(e);
    return op->fold(&o) ? err_code(e) : track_order(&o, op);
}

const struct view share_view = { .name = "share", .version = 6, .fold = fold };

enum status share_touch(const struct entry *n, struct arena *a, struct share_touch *out,
                        struct err *e)
{
    struct json                  p;
    const struct view_operation *op;

    *out = (struct share_touch){ 0 };
    if (kind_of(n->kind) != KIND_THREAD_OPERATION)
        return ST_OK;
    if (json_parse(skeleton_shown(n, a), 0, a, &p, e))
        return err_code(e);
    operation_fill_erased(n, &p, a);
    out->operation = json_text(&p, "operation");
    op = operation_of(out->operation);
    if (!op || !share_is_sane(&p, a))
        return ST_OK;
    out->is_operation = op->params != NULL;
    out->everything = op->touches & T_ALL;
    if (op->touches & T_THREAD)
        out->threads[0] = json_text(&p, "thread_id");
    if (op->touches & T_RELATION) {
        out->relations[0] = json_text(&p, "thread_id");
        out->relations[1] = json_text(&p, "parent_id");
    }
    if (op->touches & T_EDGE) {
        out->refs_of = out->relations[0] = json_text(&p, "from");
        out->relations[1] = json_text(&p, "target");
    }
    if (op->touches & T_OBJECTIVE)
        out->objective = json_text(&p, sv_is(out->operation, "objective") ? "id" : "objective");
    return ST_OK;
}
