/* Choosing small models and asking them until one answers. */
#include "command/small.h"

#include "command/ask.h"
#include "command/company.h"

#include <string.h>

/* ---- which ------------------------------------------------------------------------------- */

static const struct {
    const char *company, *model, *next;
} usual[] = {
    { "anthropic", "anthropic:claude-3-5-haiku-latest", "anthropic:claude-haiku-5-5" },
    { "openai", "openai:gpt-4o-mini", "openai:gpt-6-luna" },
};

static void add(struct small_choice *c, struct sv name)
{
    if (name.n && c->n < (int)COUNT(c->v))
        c->v[c->n++] = name;
}

struct small_choice small_choose(const struct small_models *m, struct sv model)
{
    struct small_choice out = { 0 };
    struct sv           company = model_company(model);

    if (m && m->set.n)
        add(&out, sv_is(m->set, "none") ? (struct sv){ 0 } : m->set);
    if (!m || m->set.n || !company.n)
        return out;
    struct sv named = m->of ? m->of(m->ctx, company) : (struct sv){ 0 };
    for (size_t i = 0; i < COUNT(usual); i++)
        if (sv_is(company, usual[i].company)) {
            add(&out, sv_of(usual[i].model));
            add(&out, named.n ? named : sv_of(usual[i].next));
            return out;
        }
    add(&out, named.n ? named : model_converses(model) ? model : (struct sv){ 0 });
    return out;
}

/* ---- what is known of them --------------------------------------------------------------- */

/* NULL: it has not failed. */
static struct small_state *state_of(struct small_models *m, struct sv name)
{
    struct hash h = hash_blake2b(&name, 1);

    for (int i = 0; i < m->n_state; i++)
        if (memcmp(&m->state[i].name, &h, sizeof h) == 0)
            return &m->state[i];
    return NULL;
}

static bool may_ask(struct small_models *m, const struct small_choice *c, int at)
{
    const struct small_state *x = state_of(m, c->v[at]), *first = state_of(m, c->v[0]);

    return !(x && (x->gone || x->failures >= SMALL_PATIENCE)) &&
           (at == 0 || (first && first->gone));
}

bool small_any(const struct session *s, struct sv model)
{
    struct small_choice c = small_choose(s->env.small, model);

    for (int i = 0; s->env.ask && i < c.n; i++)
        if (may_ask(s->env.small, &c, i))
            return true;
    return false;
}

bool small_has(const struct session *s, struct sv model, struct sv name)
{
    struct small_choice c = small_choose(s->env.small, model);

    for (int i = 0; i < c.n; i++)
        if (sv_eq(c.v[i], name))
            return true;
    return false;
}

/* A model that does not exist is not asked again; other failures may pass. When the table is full,
 * the oldest row is forgotten. */
static void note_failure(struct small_models *m, struct sv name, const struct err *why)
{
    struct small_state *x = state_of(m, name);

    if (!x && m->n_state == SMALL_MODELS_MAX)
        memmove(m->state, m->state + 1, sizeof m->state[0] * (size_t)--m->n_state);
    if (!x) {
        x = &m->state[m->n_state++];
        *x = (struct small_state){ .name = hash_blake2b(&name, 1) };
    }
    x->failures++;
    x->gone = why->code == ST_NOT_FOUND || strcmp(why->reason, "modelNotFound") == 0;
}

/* ---- asking ------------------------------------------------------------------------------ */

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

enum status small_ask(struct session *s, struct sv model, struct sv system, struct sv text,
                      int64_t max_tokens, struct small_answer *out, struct err *e)
{
    struct small_models  *m = s->env.small;
    struct small_choice   c = small_choose(m, model);
    struct model_response answer;

    err_set(e, ST_NOT_FOUND, "no model makes summaries here");
    err_reason(e, "no_model");
    for (int i = 0; s->env.ask && i < c.n; i++) {
        if (!may_ask(m, &c, i))
            continue;
        company_tell(s, model, c.v[i], "for summaries");
        if (ask_text(s, c.v[i], system, text, max_tokens, &answer, e) == ST_OK &&
            check(&answer, e) == ST_OK) {
            struct small_state *x = state_of(m, c.v[i]);
            if (x)
                x->failures = 0;
            *out = (struct small_answer){ answer.text, c.v[i], answer.usage };
            return ST_OK;
        }
        if (strcmp(e->reason, "cancelled") == 0)
            return err_code(e);
        note_failure(m, c.v[i], e);
    }
    return err_code(e);
}
