/* Finding the agent on whose behalf a text is sent, and telling where it goes. */
#include "command/company.h"

enum { ANSWERS_LOOKED_AT = 8 }; /* children of a node that may say who answered it */

enum status company_of_author(struct session *s, struct sv name, struct sv *model, struct err *e)
{
    struct agent x;
    bool         found = false;

    *model = (struct sv){ 0 };
    if (name.n && agent_find(s->log, name, s->a, &x, &found, e))
        return err_code(e);
    if (found && x.kind == AUTHOR_MODEL)
        *model = x.model;
    return ST_OK;
}

/* The agent among those that answered which can make a summary. */
static enum status answered_by(struct session *s, const struct node *n, struct sv *model,
                               struct err *e)
{
    struct node *list;
    struct sv    found;
    size_t       count;

    if (node_children(&s->loom, n->slot, NO_NODE, ANSWERS_LOOKED_AT, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count && !model->n; i++) {
        if (list[i].kind != AUTHOR_MODEL)
            continue;
        if (company_of_author(s, list[i].author, &found, e))
            return err_code(e);
        if (small_choose(s->env.small, found).n)
            *model = found;
    }
    return ST_OK;
}

enum status company_of_node(struct session *s, const struct node *n, struct sv *model,
                            struct err *e)
{
    *model = (struct sv){ 0 };
    if (n->kind == AUTHOR_MODEL && company_of_author(s, n->author, model, e))
        return err_code(e);
    if (!model->n)
        *model = s->agent.model;
    return model->n || n->kind == AUTHOR_MODEL ? ST_OK : answered_by(s, n, model, e);
}

enum status company_of_nodes(struct session *s, const struct node *list, size_t n, struct sv *model,
                             struct err *e)
{
    *model = (struct sv){ 0 };
    for (size_t i = 0; i < n; i++) {
        struct sv one;
        if (company_of_node(s, &list[i], &one, e))
            return err_code(e);
        if (!model_company(one).n)
            continue;
        if (model->n && !sv_eq(model_company(*model), model_company(one))) {
            *model = (struct sv){ 0 };
            return ST_OK;
        }
        *model = one;
    }
    return ST_OK;
}

void company_tell(struct session *s, struct sv own, struct sv model, const char *what)
{
    struct sv company = model_company(model);

    if (company.n && s->env.leaves)
        s->env.leaves(s->env.leaves_ctx, company, sv_eq(company, model_company(own)), what);
}
