/* The list of sessions: bindings from .global, and the positions of each thread. */
#include "harness/sessions.h"

#include "harness/harness_internal.h"

#include <stdlib.h>

/* ---- one session ---------------------------------------------------------------------------- */

static struct sv kept(const struct harness_text *t, struct arena *a)
{
    struct sv v = harness_text_sv(t);

    return v.s ? sv_dup(v, a) : v;
}

static void describe(struct harness_session *x, const struct harness_state *s, struct arena *a)
{
    x->title = kept(&s->title, a);
    x->asked = kept(&s->asked, a);
    x->prompt = kept(&s->prompt, a);
    x->model = kept(&s->model, a);
    x->branch = kept(&s->branch, a);
    x->version = kept(&s->version, a);
    x->parent = kept(&s->parent, a);
    x->cwd = s->cwd.s ? sv_dup(s->cwd, a) : s->cwd;
    x->path = s->path.s ? sv_dup(s->path, a) : s->path;
    x->is_agent = s->is_agent;
    x->first = s->first;
    x->last = s->last;
    x->turns = s->turns;
    x->has_cost = s->total.priced;
    x->cost = s->total.cost;
}

/* Adds the work of a sub-agent to its session. A cost that the program reports for the session
 * already includes it. */
static void add_part(struct harness_session *x, const struct harness_state *s)
{
    x->agents++;
    x->last = s->last > x->last ? s->last : x->last;
    if (!x->has_cost && s->total.priced) {
        x->cost += s->total.cost;
        x->has_cost = true;
    }
}

static enum status read_session(struct log *l, struct harness_session *x, struct harness_state *s,
                                struct arena *a, struct err *e)
{
    struct arena      scratch = { 0 };
    struct rows       r = rows_of_view(l, x->thread, &harness_view, &scratch);
    struct sv         prefix = harness_position_key(x->harness, x->id, SV(""), &scratch);
    struct store_row *rows;
    struct json       v;
    size_t            n = 0;
    enum status       status = log_begin(l, x->thread, STORE_READ, e);

    if (!status)
        status = rows_below(&r, prefix, &rows, &n, e);
    for (size_t i = 0; i < n && !status; i++) {
        status = json_parse(rows[i].value, 0, &scratch, &v, e);
        if (status)
            break;
        harness_state_read(&v, &scratch, s);
        if (rows[i].key.n == prefix.n)
            describe(x, s, a);
        else
            add_part(x, s);
        x->messages += s->messages;
        harness_usage_add(&x->total, &s->total, 1);
    }
    log_abort(l);
    arena_free(&scratch);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

struct session_list {
    VEC(struct harness_session) list;
};

/* bind/NAME/SESSION */
static enum status read_bindings(struct log *l, struct arena *a, struct session_list *out,
                                 struct err *e)
{
    struct rows       r = rows_of_view(l, HARNESS_GLOBAL, &harness_view, a);
    struct store_row *rows;
    size_t            n = 0;
    enum status       s = log_begin(l, HARNESS_GLOBAL, STORE_READ, e);

    if (!s)
        s = rows_below(&r, SV("bind/"), &rows, &n, e);
    for (size_t i = 0; i < n && !s; i++) {
        struct sv_cut name = sv_cut(sv_skip(rows[i].key, strlen("bind/")), '/');
        enum harness  h;
        struct json   v;
        if (!harness_find(name.head, &h))
            continue;
        s = json_parse(rows[i].value, 0, a, &v, e);
        if (!s)
            *vec_push(&out->list, a) = (struct harness_session){ .harness = h,
                                                                 .id = name.tail,
                                                                 .thread = json_text(&v, "thread"),
                                                                 .lane = json_text(&v, "lane") };
    }
    log_abort(l);
    return s;
}

static int by_project(const void *a, const void *b)
{
    const struct harness_session *x = a, *y = b;
    int                           order = sv_cmp(x->cwd, y->cwd);

    if (order)
        return order;
    if (x->last != y->last)
        return x->last > y->last ? -1 : 1;
    return sv_cmp(x->id, y->id);
}

enum status harness_sessions(struct log *l, struct arena *a, struct harness_session **out,
                             size_t *n, struct err *e)
{
    struct session_list   x = { 0 };
    struct harness_state *s = ARENA_NEW(a, struct harness_state, 1);

    if (read_bindings(l, a, &x, e))
        return err_code(e);
    for (size_t i = 0; i < x.list.n; i++)
        if (read_session(l, &x.list.v[i], s, a, e))
            return err_code(e);
    if (x.list.n)
        qsort(x.list.v, x.list.n, sizeof *x.list.v, by_project);
    *out = x.list.v;
    *n = x.list.n;
    return ST_OK;
}
