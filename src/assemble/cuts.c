/* The list of what is not sent as it is in the log, and why. */
#include "assemble/draft.h"

static struct assembly_cut *add_cut(struct assembly_draft *d, enum assembly_kind kind,
                                    int64_t count, const char *what, const char *why)
{
    struct assembly_cut *c = vec_push(&d->x->cuts, d->a);

    *c = (struct assembly_cut){ .kind = kind,
                                .source = { .from = -1, .to = -1, .count = count },
                                .what = sv_of(what),
                                .why = sv_of(why) };
    return c;
}

static const char full[] = "to fit the budget";

/* From the oldest to the newest of a stretch of the conversation. */
static enum status set_range(struct assembly_draft *d, size_t newest, size_t oldest,
                             struct assembly_source *s, struct err *e)
{
    struct talk_item first, last;

    if (talk_item_at(&d->talk, d->input_items + oldest, &first, e) ||
        talk_item_at(&d->talk, d->input_items + newest, &last, e))
        return err_code(e);
    s->from = first.node.seq;
    s->to = last.node.seq;
    s->node = first.node.local;
    s->last = last.node.local;
    return ST_OK;
}

static enum status add_summed(struct assembly_draft *d, struct err *e)
{
    const struct assembly_choice *c = &d->choice;
    struct assembly_cut          *cut;

    if (!d->x->pruned.summarized)
        return ST_OK;
    cut = add_cut(d, SECTION_NODE, d->x->pruned.summarized, "summarized", full);
    for (size_t i = c->full; i < c->full + c->summed; i++)
        cut->before += draft_item(d, i)->pinned ? 0 : draft_item(d, i)->tokens;
    cut->after = counts_of(d->q->counts, c->earlier);
    return set_range(d, c->full, c->full + c->summed - 1, &cut->source, e);
}

static enum status add_left_out(struct assembly_draft *d, struct err *e)
{
    const struct assembly_choice *c = &d->choice;
    struct assembly_cut          *cut;

    if (!d->x->pruned.left_out)
        return ST_OK;
    cut = add_cut(d, SECTION_NODE, d->x->pruned.left_out, "left out", full);
    return set_range(d, c->full + c->summed, draft_items(d) - c->heads.n - 1, &cut->source, e);
}

static void add_memory(struct assembly_draft *d)
{
    const struct assembly_pruned *p = &d->x->pruned;
    size_t                        now = counts_of(d->q->counts, d->memory);

    if (p->actions) {
        struct assembly_cut *c = add_cut(d, SECTION_MEMORY, p->actions, "actions counted", full);
        c->before = d->memory_tokens;
        c->after = now;
    }
    if (p->stashes)
        add_cut(d, SECTION_MEMORY, p->stashes, "recalled stashes reduced to their names", full);
}

static void add_results(struct assembly_draft *d)
{
    for (size_t i = 0; i < d->n_results; i++) {
        if (!d->result_dropped[i])
            continue;
        struct assembly_cut *c = add_cut(d, SECTION_RESULT, 1, "dropped", full);
        c->source.from = c->source.to = d->results[i].entry;
        c->source.path = d->results[i].line;
        c->before = counts_of(d->q->counts, d->result_texts[i]);
    }
}

/* What is left out independently of the budget. */
struct talk_rest {
    int64_t excluded, thoughts;
};

/* `from`: items with a smaller index were counted already. */
static void count_excluded(struct talk_rest *r, const struct talk_item *list, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        r->excluded += list[i].excluded && list[i].index >= from;
}

static void count_thoughts(struct talk_rest *r, const struct talk_item *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r->thoughts += list[i].thoughts > 0;
}

static void add_rest(struct assembly_draft *d)
{
    const struct assembly_choice *c = &d->choice;
    const struct talk_item       *read = d->talk.items.v;
    size_t                        n = d->talk.items.n;
    struct talk_rest              r = { 0 };

    /* Those between them too: they are not among the ones that are left out to fit the budget. */
    count_excluded(&r, read, n, 0);
    count_excluded(&r, c->heads.v, c->heads.n, n);
    count_excluded(&r, c->kept.v, c->kept.n, n);
    count_thoughts(&r, read, d->input_items + c->full);
    count_thoughts(&r, c->heads.v, c->heads.n);
    count_thoughts(&r, c->kept.v, c->kept.n);
    if (r.excluded)
        add_cut(d, SECTION_NODE, r.excluded, "left out", "marked with → exclude");
    if (r.thoughts)
        add_cut(d, SECTION_NODE, r.thoughts, "thinking left out",
                "it is bound to the request that it was made in");
}

enum status draft_cuts(struct assembly_draft *d, struct err *e)
{
    if (add_summed(d, e) || add_left_out(d, e))
        return err_code(e);
    add_memory(d);
    add_results(d);
    for (size_t i = 0; i < d->resource_cuts.n; i++)
        *vec_push(&d->x->cuts, d->a) = d->resource_cuts.v[i];
    add_rest(d);
    return ST_OK;
}
