/* Leases. While a model generates a continuation of a node, the agent that asked for it holds that
 * node: other agents cannot extend it or change the path to it until the answer is there or the
 * lease has expired. lease/SLOT is the row of a lease. */
#include "base/vec.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"
#include "loom/write.h"
#include "thread/kind.h"

/* No lease binds for longer than LEASE_MS, whatever its record says. One with a time in the future
 * was taken before the clock went back, and is ignored. */
static bool is_live(const struct loom *l, const struct lease *x)
{
    return x->agent.n && x->until > l->now && x->at > l->now - LEASE_MS &&
           x->at <= l->now + LEASE_MS;
}

static enum status read_lease(struct loom *l, const struct store_row *row, struct lease *out,
                              struct err *e)
{
    struct json v;

    if (json_parse(row->value, 0, l->a, &v, e))
        return err_in(e, "a lease");
    *out = (struct lease){ .agent = json_text(&v, "agent") };
    json_int(json_find(&v, "at"), &out->at);
    json_int(json_find(&v, "until"), &out->until);
    return is_live(l, out) ? node_at(l, key_last(row->key), &out->node, e) : ST_OK;
}

enum status lease_list(struct loom *l, struct lease **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            count;

    if (row_list(&r, SV("lease/"), (struct sv){ 0 }, SIZE_MAX, &rows, &count, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct lease, count ? count : 1);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        if (read_lease(l, &rows[i], &(*out)[*n], e))
            return err_code(e);
        *n += is_live(l, &(*out)[*n]);
    }
    return ST_OK;
}

static enum status refuse(struct loom *l, const struct lease *x, struct err *e)
{
    struct sb name = sb_in(l->a, 0);

    sb_add_quoted(&name, x->agent);
    err_set(e, ST_CONFLICT, SV_FMT " is generating at [" SV_FMT "]", SV_ARG(sb_sv(&name)),
            SV_ARG(x->node.local));
    err_reason(e, "leased");
    return err_hint(e, "retry after it yields or work on another branch");
}

enum status lease_check(struct loom *l, struct sv agent, const struct node *n, struct err *e)
{
    struct lease *list;
    size_t        count;

    if (lease_list(l, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (list[i].node.slot == n->slot && !sv_eq(list[i].agent, agent))
            return refuse(l, &list[i], e);
    return ST_OK;
}

enum status lease_check_path(struct loom *l, struct sv agent, const struct node *n, struct err *e)
{
    struct lease *list;
    struct node   up;
    size_t        count;

    if (lease_list(l, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        if (sv_eq(list[i].agent, agent) || list[i].node.depth < n->depth)
            continue;
        if (node_ancestor(l, &list[i].node, n->depth, &up, e))
            return err_code(e);
        if (up.slot == n->slot)
            return refuse(l, &list[i], e);
    }
    return ST_OK;
}

static enum status lease_mark(struct loom *l, struct sv agent, const struct node *n,
                              const char *mark, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    jw_kstr(&w, "mark", sv_of(mark));
    jw_kstr(&w, "node", n->local);
    jw_kint(&w, "until", l->now + LEASE_MS);
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

enum status lease_take(struct loom *l, struct sv agent, const struct node *n, struct err *e)
{
    return lease_check(l, agent, n, e) ? err_code(e) : lease_mark(l, agent, n, "lease", e);
}

enum status lease_release(struct loom *l, struct sv agent, const struct node *n, struct err *e)
{
    return lease_mark(l, agent, n, "release", e);
}
