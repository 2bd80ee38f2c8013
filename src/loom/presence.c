/* Who is where. */
#include "base/vec.h"
#include "loom/agent.h"
#include "loom/loom_internal.h"
#include "loom/write.h"

struct presence_scan {
    struct loom *l;
    struct sv    agent;
    VEC(struct presence) list;
    size_t      n_leases; /* the first in the list */
    struct err *e;
    enum status status;
};

/* A person or a model, as the registry knows it; *known is false for a model that was removed. */
static enum status kind_now(struct presence_scan *s, struct sv agent, enum author_kind *kind,
                            bool *known, struct err *e)
{
    struct agent registered;

    if (agent_find(s->l->log, agent, s->l->a, &registered, known, e))
        return err_code(e);
    if (*known)
        *kind = registered.kind;
    *known = *known || *kind != AUTHOR_MODEL;
    return ST_OK;
}

static bool waits_for_model(const struct presence_scan *s, struct sv agent)
{
    for (size_t i = 0; i < s->n_leases; i++)
        if (sv_eq(s->list.v[i].agent, agent))
            return true;
    return false;
}

static enum status add_leases(struct presence_scan *s, struct err *e)
{
    struct rows   r = rows_of_loom(s->l);
    struct lease *leases;
    struct place  p;
    size_t        n;
    bool          known;

    if (lease_list(s->l, &leases, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        p.kind = AUTHOR_HUMAN;
        if (sv_eq(leases[i].agent, s->agent))
            continue;
        if (rows_place(&r, leases[i].agent, &p, &known, e) ||
            kind_now(s, leases[i].agent, &p.kind, &known, e))
            return err_code(e);
        if (known)
            *vec_push(&s->list, s->l->a) =
                (struct presence){ leases[i].agent, p.kind, leases[i].node };
    }
    s->n_leases = s->list.n;
    return ST_OK;
}

static enum status add_place(struct presence_scan *s, struct sv agent, struct err *e)
{
    struct rows  r = rows_of_loom(s->l);
    struct place p;
    struct node  node;
    bool         found;

    if (sv_eq(agent, s->agent) || waits_for_model(s, agent))
        return ST_OK;
    if (rows_place(&r, agent, &p, &found, e))
        return err_code(e);
    /* A time in the future was recorded before the clock was set back. */
    if (!found || p.at < s->l->now - PRESENCE_MS || p.at > s->l->now + PRESENCE_MS)
        return ST_OK;
    if (kind_now(s, agent, &p.kind, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (loom_position(s->l, agent, &node, &found, e))
        return err_code(e);
    if (found)
        *vec_push(&s->list, s->l->a) = (struct presence){ agent, p.kind, node };
    return ST_OK;
}

static bool keep_present(void *ctx, const struct store_row *row)
{
    struct presence_scan *s = ctx;

    s->status = add_place(s, sv_dup(sv_skip(row->key, 4), s->l->a), s->e);
    return !s->status;
}

enum status loom_presence(struct loom *l, struct sv agent, struct presence **out, size_t *n,
                          struct err *e)
{
    struct rows          r = rows_of_loom(l);
    struct presence_scan s = { .l = l, .agent = agent, .e = e };

    if (add_leases(&s, e) || row_each(&r, SV("pos/"), (struct sv){ 0 }, false, keep_present, &s, e))
        return err_code(e);
    *out = s.list.v;
    *n = s.list.n;
    return s.status;
}
