/* Sessions that belong together: a fork and what it was forked from, a sub-agent and what started
 * it are lanes of one thread. */
#include "harness/harness_internal.h"

#include "thread/scan.h"

struct sv harness_agent_lane(struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "agent-");
    sb_add(&b, id);
    return sb_sv(&b);
}

/* The other session need not have been imported yet: its thread is chosen now. */
static enum status thread_of_parent(struct log *l, enum harness h,
                                    const struct harness_identity *id, struct sv actor, int64_t at,
                                    struct arena *a, struct harness_binding *out, struct err *e)
{
    struct harness_binding parent;

    if (!harness_id_is_valid(id->parent) || sv_eq(id->parent, id->session))
        return ST_OK;
    if (harness_bind_own(l, h, id->parent, actor, at, a, &parent, e))
        return err_code(e);
    out->thread = parent.thread;
    if (id->is_agent)
        out->lane = harness_agent_lane(harness_short_id(id->session), a);
    return ST_OK;
}

/* Where a thread of the rows of/THREAD/NAME/SESSION has the record with which the session begins,
 * the session is a fork. */
static enum status thread_of_first(struct log *l, enum harness h, struct sv first, struct arena *a,
                                   struct harness_binding *out, struct err *e)
{
    struct rows       r = rows_of_view(l, HARNESS_GLOBAL, &harness_view, a);
    struct sv         op = harness_op_id(h, first, a), last = { 0 };
    struct store_row *rows;
    size_t            n;

    if (rows_below(&r, SV("of/"), &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sv_cut thread = sv_cut(sv_skip(rows[i].key, 3), '/');
        struct entry  entry;
        bool          found;
        if (sv_eq(thread.head, last) || !sv_is(sv_cut(thread.tail, '/').head, harness_name(h)))
            continue;
        last = thread.head;
        if (log_find_op(l, last, op, a, &entry, &found, e))
            return err_code(e);
        if (found) {
            out->thread = last;
            return ST_OK;
        }
    }
    return ST_OK;
}

enum status harness_find_relative(struct log *l, enum harness h, const struct harness_identity *id,
                                  struct sv actor, int64_t at, struct arena *a,
                                  struct harness_binding *out, struct err *e)
{
    *out = (struct harness_binding){ 0 };
    if (id->parent.n)
        return thread_of_parent(l, h, id, actor, at, a, out, e);
    return id->first.n ? thread_of_first(l, h, id->first, a, out, e) : ST_OK;
}
