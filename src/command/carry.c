/* Carrying the summary of a branch into another one. */
#include "command/carry.h"

#include "base/utf8.h"
#include "command/summary.h"

/* Is the node at this depth above both of them the same? */
static enum status shared_at(struct session *s, const struct node *a, const struct node *b,
                             int64_t depth, bool *out, struct err *e)
{
    struct node x, y;

    if (node_ancestor(&s->loom, a, depth, &x, e) || node_ancestor(&s->loom, b, depth, &y, e))
        return err_code(e);
    *out = x.slot == y.slot;
    return ST_OK;
}

/* How many nodes from the root on the paths to both have in common. */
static enum status count_shared(struct session *s, const struct node *a, const struct node *b,
                                int64_t *out, struct err *e)
{
    int64_t low = 0, high = (a->depth < b->depth ? a->depth : b->depth) + 1;
    bool    same;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (shared_at(s, a, b, middle, &same, e))
            return err_code(e);
        if (same)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return ST_OK;
}

/* Without a model: what is known of the nodes, or their first sentences. */
static enum status extract(struct session *s, struct carried *x, struct sv *out, struct err *e)
{
    struct small_models *small = s->env.small;

    s->env.small = NULL;
    enum status st = session_summarise_stretch(s, &x->first, &x->last, out, e);
    s->env.small = small;
    return st;
}

static enum status summarise(struct session *s, struct carried *x, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct sv text;

    enum status st = session_summarise_stretch(s, &x->first, &x->last, &text, e);
    if (st == ST_MODEL_ERROR)
        st = extract(s, x, &text, e);
    if (st == ST_LIMIT_EXCEEDED) {
        x->why_not = *e;
        return ST_OK;
    }
    if (st)
        return st;
    sb_addf(&b, "Summary of the branch that was left, [" SV_FMT "] to [" SV_FMT "]: ",
            SV_ARG(x->first.local), SV_ARG(x->last.local));
    sb_add_lossy(&b, sv_trim(text));
    x->text = sb_sv(&b);
    return ST_OK;
}

enum status carry_prepare(struct session *s, const struct node *to, struct carried *out,
                          struct err *e)
{
    int64_t shared;
    bool    found;

    *out = (struct carried){ 0 };
    if (permission_check(s->agent.permissions, PERM_loom_write, &out->why_not))
        return ST_OK;
    if (loom_position(&s->loom, s->agent.name, &out->last, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (count_shared(s, &out->last, to, &shared, e))
        return err_code(e);
    if (shared > out->last.depth) /* `to` is on the same branch, further on */
        return ST_OK;
    if (node_ancestor(&s->loom, &out->last, shared, &out->first, e))
        return err_code(e);
    return summarise(s, out, e);
}

enum status carry_add(struct session *s, struct carried *x, struct node *at, struct result *r,
                      struct err *e)
{
    struct new_node n = { .text = x->text,
                          .author = s->agent.name,
                          .kind = s->agent.kind,
                          .parent = at,
                          .via = "carry" };
    struct node     made;

    if (x->text.n && !x->why_not.code) {
        enum status st = loom_add(&s->loom, &n, &made, e);
        if (st && st != ST_CONFLICT)
            return st;
        if (st) /* another agent works there */
            x->why_not = *e;
    }
    if (x->why_not.code)
        sb_addf(&r->text, "  nothing was carried along: %s\n", x->why_not.text);
    else if (!x->text.n)
        sb_adds(&r->text, "  nothing was carried along: you left no branch\n");
    else
        sb_addf(&r->text,
                "  carried a summary of [" SV_FMT "] to [" SV_FMT "] along: you are at [" SV_FMT
                "]\n",
                SV_ARG(x->first.local), SV_ARG(x->last.local), SV_ARG(made.local));
    if (x->text.n && !x->why_not.code)
        *at = made;
    return ST_OK;
}
