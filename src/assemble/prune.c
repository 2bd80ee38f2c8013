/* Making a request fit its budget. What is cut, and in which order:
 *
 *     1  older messages become summaries, the oldest are only counted; pinned ones stay
 *     2  of the trace only the last actions are named
 *     3  results of earlier turns that are not pinned are dropped
 *     4  of recalled stashes only the names stay
 *     5  resources are cut (payload/budget.h)
 *     6  older messages are only counted
 *     7  the newest messages go the same way; the last one stays where there is no input beside it
 *
 * A step is taken only when the ones before it are not enough. The model is told in the loom block
 * what was done; that takes room, too. */
#include "assemble/draft.h"
#include "assemble/resources.h"

enum stage {
    STAGE_ALL,
    STAGE_CONVERSATION,
    STAGE_TRACE,
    STAGE_RESULTS,
    STAGE_RECALLED,
    STAGE_RESOURCES,
    STAGE_COUNTED,
    STAGE_RECENT,
    STAGE_COUNT,
};

enum { RESOURCES_LEAST = 200 }; /* tokens, below which only their number is sent */

static size_t budget_of(const struct assembly_draft *d)
{
    return d->q->budget > d->q->reserve ? (size_t)(d->q->budget - d->q->reserve) : 0;
}

/* ---- the steps --------------------------------------------------------------------------- */

/* If the counts take more tokens than the actions that they replace, the actions stay. */
static enum status shorten_memory(struct assembly_draft *d, bool recalled, struct err *e)
{
    struct memory_show how = d->memory_how;
    struct sv          had = d->memory;

    d->memory_how.short_trace = true;
    d->memory_how.no_recalled = recalled;
    if (draft_memory(d, e))
        return err_code(e);
    if (counts_of(d->q->counts, d->memory) >= counts_of(d->q->counts, had)) {
        d->memory = had;
        d->memory_how = how;
    }
    d->x->pruned.actions = d->memory_how.actions;
    d->x->pruned.stashes = d->memory_how.stashes;
    return ST_OK;
}

static void drop_results(struct assembly_draft *d)
{
    for (size_t i = 0; i < d->n_results; i++)
        if (!d->results[i].pinned && !d->result_dropped[i]) {
            d->result_dropped[i] = true;
            d->x->pruned.results++;
        }
}

/* Resources get what is left when as little of the conversation is sent as this step allows. */
static enum status cut_resources(struct assembly_draft *d, struct err *e)
{
    struct sv had = d->resources;
    size_t    least;

    if (!had.n)
        return ST_OK;
    d->resources = SV("");
    if (draft_least(d, draft_recent(d), &least, e))
        return err_code(e);
    least += draft_fixed(d);
    if (least + RESOURCES_LEAST > budget_of(d))
        return draft_drop_resources(d, e);
    return draft_resources(d, budget_of(d) - least, e);
}

static enum status take_step(struct assembly_draft *d, enum stage stage, struct err *e)
{
    switch (stage) {
    case STAGE_TRACE: return shorten_memory(d, false, e);
    case STAGE_RESULTS: drop_results(d); return ST_OK;
    case STAGE_RECALLED: return shorten_memory(d, true, e);
    case STAGE_RESOURCES: return cut_resources(d, e);
    case STAGE_COUNTED: d->only_counted = true; return ST_OK;
    default: return ST_OK;
    }
}

/* ---- fitting ------------------------------------------------------------------------------- */

/* Without an input, the newest message is the one that the model answers or continues.
 */
static bool keeps_newest(const struct assembly_draft *d)
{
    return !d->x->aware && !d->input.n && !draft_input_media(d).n && draft_items(d);
}

/* Does the request fit after the cuts so far? The notice about the cuts must fit too. */
static enum status try(struct assembly_draft *d, enum stage stage, bool *fits, struct err *e)
{
    size_t least = stage == STAGE_RECENT ? keeps_newest(d) : draft_recent(d), budget = budget_of(d);

    *fits = false;
    if (draft_loom(d, e))
        return err_code(e);
    for (size_t fixed = draft_fixed(d); fixed <= budget;) {
        if (stage == STAGE_ALL ? draft_choose_all(d, budget - fixed, fits, e)
                               : draft_choose(d, budget - fixed, least, fits, e))
            return err_code(e);
        if (!*fits || draft_loom(d, e))
            return *fits ? err_code(e) : ST_OK;
        size_t now = draft_fixed(d);
        *fits = now + d->choice.tokens <= budget;
        if (*fits)
            return ST_OK;
        fixed = now > fixed ? now : fixed + 1;
    }
    return ST_OK;
}

static void add_size(struct sb *b, const char *what, size_t tokens)
{
    if (!tokens)
        return;
    sb_addf(b, "%s%s ", b->n ? ", " : "", what);
    sb_add_commas(b, (int64_t)tokens);
}

static enum status cannot_fit(struct assembly_draft *d, struct err *e)
{
    struct counts *c = d->q->counts;
    struct sb      b = sb_in(d->a, 0);
    struct sv      prompt = draft_system_text(d);

    prompt.n = d->x->cache.system;
    add_size(&b, "prompt", counts_of(c, prompt));
    add_size(&b, "memory", counts_of(c, d->memory));
    add_size(&b, "pinned messages", d->choice.pinned);
    if (keeps_newest(d))
        add_size(&b, "newest message", draft_item(d, 0)->tokens);
    add_size(&b, "loom context and results", counts_of(c, draft_tail_text(d)));
    add_size(&b, "thread context", d->wants_block ? counts_of(c, d->block) : 0);
    add_size(&b, "injections", counts_of(c, d->injected));
    add_size(&b, "input", counts_of(c, d->input));
    if (draft_input_media(d).n)
        add_size(&b, "pictures of the input", d->talk.items.v[0].media_tokens);
    add_size(&b, "set aside for the turn", d->x->reserve);
    struct sb whole = sb_in(d->a, 0);
    sb_add_commas(&whole, (int64_t)d->x->budget);
    err_set(e, ST_LIMIT_EXCEEDED,
            "the budget is " SV_FMT " tokens, and what is never cut has more: " SV_FMT,
            SV_ARG(sb_sv(&whole)), SV_ARG(sb_sv(&b)));
    return err_hint(e, "raise the budget, drop pins, or shorten the prompt or the input");
}

static enum status stop_at_limit(struct assembly_draft *d, struct err *e)
{
    bool      all = draft_items_read(d) == draft_items(d);
    struct sb b = sb_in(d->a, 0);

    sb_adds(&b, "the budget is ");
    sb_add_commas(&b, (int64_t)d->x->budget);
    sb_addf(&b, " tokens; the conversation has %s", all ? "" : "more than ");
    sb_add_commas(&b, (int64_t)d->talk.tokens);
    sb_adds(&b, ", everything else ");
    sb_add_commas(&b, (int64_t)draft_fixed(d));
    err_set(e, ST_LIMIT_EXCEEDED, SV_FMT, SV_ARG(sb_sv(&b)));
    return err_hint(e, "raise the budget, or choose a strategy that cuts: summarize, "
                       "truncateMiddle, rollingWindow");
}

static enum status fit_from(struct assembly_draft *d, enum stage *stage, struct err *e)
{
    bool fits = false;

    for (;; ++*stage) {
        if (take_step(d, *stage, e) || try(d, *stage, &fits, e))
            return err_code(e);
        if (fits)
            return ST_OK;
        if (d->strategy == ASSEMBLY_STOP_AT_LIMIT)
            return stop_at_limit(d, e);
        if (*stage + 1 == STAGE_COUNT)
            return cannot_fit(d, e);
    }
}

enum status draft_fit(struct assembly_draft *d, struct err *e)
{
    enum stage stage = STAGE_ALL;

    d->wants_block = d->wants_block || (d->block.n && d->talk.block_at == NO_NODE);
    if (draft_resources(d, 0, e) || fit_from(d, &stage, e))
        return err_code(e);
    if (!d->block.n || d->wants_block || draft_shows_block(d))
        return ST_OK;
    d->wants_block = true; /* the message that held it is not sent in full any more */
    return fit_from(d, &stage, e);
}
