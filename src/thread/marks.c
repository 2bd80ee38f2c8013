/* The rows behind the ticks of a timeline: which entries have a mark, and how they are read. */
#include "thread/marks.h"

#include "base/vec.h"
#include "thread/kind.h"
#include "thread/lane.h"

static const char *const names[] = {
#define X(id, name) name,
    LOG_MARK_TABLE(X)
#undef X
};

const char *log_mark_name(enum log_mark m)
{
    return m < LOG_MARK_COUNT ? names[m] : "";
}

/* ---- writing --------------------------------------------------------------------------------- */

static enum status put(struct rows *f, enum log_mark m, int64_t seq, struct err *e)
{
    return row_put(f, key_of_name_seq("mark", sv_of(names[m]), seq, f->a), SV(""), e);
}

static enum log_mark mark_of_operation(const struct json *op)
{
    struct sv type = json_text(op, "type");

    if (sv_is(type, "fork"))
        return LOG_MARK_FORK;
    if (sv_is(type, "switch"))
        return LOG_MARK_SWITCH;
    return sv_starts(json_text(op, "reason"), SV("compact")) ? LOG_MARK_COMPACTION
                                                             : LOG_MARK_REPLACE;
}

static enum log_mark mark_of_end(struct sv outcome)
{
    return sv_is(outcome, "completed")   ? LOG_MARK_RUN_COMPLETED
           : sv_is(outcome, "cancelled") ? LOG_MARK_RUN_CANCELLED
                                         : LOG_MARK_RUN_FAILED;
}

enum status log_mark_fold(struct rows *f, const struct entry *n, struct err *e)
{
    enum kind   k = kind_of(n->kind);
    struct json p;

    if (k == KIND_RUN_STARTED)
        return put(f, LOG_MARK_RUN_STARTED, n->seq, e);
    if (k == KIND_DOCUMENT_WRITE)
        return put(f, LOG_MARK_DOCUMENT, n->seq, e);
    if (k == KIND_ERASURE)
        return put(f, LOG_MARK_ERASURE, n->seq, e);
    if (k != KIND_AI_CONTEXT_OPERATION && k != KIND_RUN_FINISHED)
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    return put(f,
               k == KIND_RUN_FINISHED ? mark_of_end(json_text(&p, "outcome"))
                                      : mark_of_operation(json_find(&p, "operation")),
               n->seq, e);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool take_one(void *ctx, const struct store_row *row)
{
    *(int64_t *)ctx = key_last(row->key);
    return false;
}

/* The first mark at or behind `seq`, or the last at or before it; -1: none. */
static enum status nearest(struct rows *r, enum log_mark m, int64_t seq, bool back, int64_t *out,
                           struct err *e)
{
    struct sv name = sv_of(names[m]);

    *out = -1;
    return row_each(r, key_below_name("mark", name, r->a), key_of_name_seq("mark", name, seq, r->a),
                    back, take_one, out, e);
}

enum { FEW = 4000 }; /* how many are read at once */

struct log_marking {
    const struct log_mark_query *q;
    int64_t                      width;
    struct arena                *a;
    VEC(int64_t) found;
};

static int64_t part_of(const struct log_marking *x, int64_t seq)
{
    return (seq - x->q->from) / x->width;
}

/* Called with rising seqs; keeps one per part. */
static void keep(struct log_marking *x, int64_t seq)
{
    size_t n = x->found.n;

    if (n && part_of(x, x->found.v[n - 1]) == part_of(x, seq)) {
        if (x->q->last)
            x->found.v[n - 1] = seq;
        return;
    }
    *vec_push(&x->found, x->a) = seq;
}

/* Read all marks, when there are few. */
static enum status read_few(struct log_marking *x, struct rows *r, enum log_mark m, bool *all,
                            struct err *e)
{
    struct sv         name = sv_of(names[m]);
    struct store_row *list;
    size_t            n;

    if (row_list(r, key_below_name("mark", name, r->a),
                 key_of_name_seq("mark", name, x->q->from, r->a), FEW, &list, &n, e))
        return err_code(e);
    *all = n < FEW || key_last(list[n - 1].key) > x->q->to;
    for (size_t i = 0; *all && i < n && key_last(list[i].key) <= x->q->to; i++)
        keep(x, key_last(list[i].key));
    return ST_OK;
}

/* Find one mark for each part with a read of its own. */
static enum status read_parts(struct log_marking *x, struct rows *r, enum log_mark m, struct err *e)
{
    const struct log_mark_query *q = x->q;
    int64_t                      at = q->from, seq;

    while (at <= q->to) {
        if (nearest(r, m, at, false, &seq, e))
            return err_code(e);
        if (seq < q->from || seq > q->to)
            break;
        int64_t next = q->from + (part_of(x, seq) + 1) * x->width;
        if (q->last && nearest(r, m, next - 1 < q->to ? next - 1 : q->to, true, &seq, e))
            return err_code(e);
        keep(x, seq);
        at = next;
    }
    return ST_OK;
}

enum status log_marks(struct log *l, const struct log_mark_query *q, enum log_mark m,
                      struct arena *a, int64_t **out, size_t *n, struct err *e)
{
    struct rows        r = rows_of_view(l, q->thread, &thread_view, a);
    struct log_marking x = { .q = q, .a = a };
    bool               all = false;

    x.width = q->to < q->from ? 1 : (q->to - q->from + q->parts) / q->parts;
    if (read_few(&x, &r, m, &all, e) || (!all && read_parts(&x, &r, m, e)))
        return err_code(e);
    *out = x.found.v;
    *n = x.found.n;
    return ST_OK;
}

struct log_mark_list {
    VEC(int64_t) seqs;
    int64_t       before;
    size_t        max;
    struct arena *a;
};

static bool take_back(void *ctx, const struct store_row *row)
{
    struct log_mark_list *x = ctx;
    int64_t               seq = key_last(row->key);

    if (seq < x->before)
        *vec_push(&x->seqs, x->a) = seq;
    return x->seqs.n < x->max;
}

enum status log_marks_back(struct log *l, struct sv thread, enum log_mark m, int64_t before,
                           size_t max, struct arena *a, int64_t **out, size_t *n, struct err *e)
{
    struct rows          r = rows_of_view(l, thread, &thread_view, a);
    struct sv            name = sv_of(names[m]);
    struct log_mark_list x = { .before = before, .max = max, .a = a };

    if (before > 0 && max &&
        row_each(&r, key_below_name("mark", name, a), key_of_name_seq("mark", name, before, a),
                 true, take_back, &x, e))
        return err_code(e);
    *out = x.seqs.v;
    *n = x.seqs.n;
    return ST_OK;
}
