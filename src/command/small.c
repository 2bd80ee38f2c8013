/* Asking a list of small models until one answers. */
#include "command/small.h"

#include "command/ask.h"

#include <string.h>

int small_add(struct small_models *m, struct sv name, int instead)
{
    if (!name.n || m->n == SMALL_MODELS_MAX)
        return SMALL_ALWAYS;
    m->v[m->n] = (struct small_model){ .name = name, .instead = instead };
    return m->n++;
}

static bool may_ask(const struct small_models *m, const struct small_model *x)
{
    return x->failures < SMALL_PATIENCE && !x->gone &&
           (x->instead == SMALL_ALWAYS || m->v[x->instead].gone);
}

bool small_any(const struct session *s)
{
    const struct small_models *m = s->env.small;

    for (int i = 0; m && s->env.ask && i < m->n; i++)
        if (may_ask(m, &m->v[i]))
            return true;
    return false;
}

bool small_has(const struct session *s, struct sv model)
{
    const struct small_models *m = s->env.small;

    for (int i = 0; m && i < m->n; i++)
        if (sv_eq(m->v[i].name, model))
            return true;
    return false;
}

/* Is the answer complete, so that it can be stored? */
static enum status check(const struct model_response *r, struct err *e)
{
    if (r->interruption.n)
        return err_set(e, ST_MODEL_ERROR, "the answer was cut off (" SV_FMT ")",
                       SV_ARG(r->interruption));
    if (sv_is(r->finish, model_finish_word(MODEL_FILTERED)))
        return err_set(e, ST_MODEL_ERROR, "the model refused to answer");
    return sv_trim(r->text).n ? ST_OK : err_set(e, ST_MODEL_ERROR, "the model said nothing");
}

/* A model that does not exist is not asked again; other failures may pass. */
static void note_failure(struct small_model *x, const struct err *why)
{
    x->failures++;
    x->gone = why->code == ST_NOT_FOUND || strcmp(why->reason, "modelNotFound") == 0;
}

enum status small_ask(struct session *s, struct sv system, struct sv text, int64_t max_tokens,
                      struct small_answer *out, struct err *e)
{
    struct small_models  *m = s->env.small;
    struct model_response answer;

    err_set(e, ST_NOT_FOUND, "no model makes summaries here");
    err_reason(e, "no_model");
    for (int i = 0; m && s->env.ask && i < m->n; i++) {
        struct small_model *x = &m->v[i];
        if (!may_ask(m, x))
            continue;
        if (ask_text(s, x->name, system, text, max_tokens, &answer, e) == ST_OK &&
            check(&answer, e) == ST_OK) {
            x->failures = 0;
            *out = (struct small_answer){ answer.text, x->name, answer.usage };
            return ST_OK;
        }
        if (strcmp(e->reason, "cancelled") == 0)
            return err_code(e);
        note_failure(x, e);
    }
    return err_code(e);
}
