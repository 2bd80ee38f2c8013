/* Collecting the parts of a request from the log, the registry and the files. */
#include "assemble/draft.h"

#include "loom/shown.h"
#include "share/block.h"

static void add_paragraph(struct sb *b, struct sv text)
{
    while (text.n && text.s[text.n - 1] == '\n')
        text.n--;
    if (!text.n)
        return;
    sb_adds(b, b->n ? "\n\n" : "");
    sb_add(b, text);
}

/* ---- where the agent is ------------------------------------------------------------------ */

static enum status find_here(struct assembly_draft *d, struct err *e)
{
    const struct assembly_request *q = d->q;

    d->x->here = (struct node){ .seq = NO_NODE };
    d->has_here = true;
    if (q->node.s ? node_find_visible(&d->loom, q->node, &d->x->here, e)
                  : loom_position(&d->loom, q->agent.name, &d->x->here, &d->has_here, e))
        return err_code(e);
    d->viewer = (struct viewer){ q->agent.name, q->agent.kind, q->agent.permissions,
                                 d->has_here ? &d->x->here : NULL };
    d->chooser = d->viewer;
    if (q->viewer.s)
        d->chooser.agent = q->viewer;
    return ST_OK;
}

/* ---- the system prompt -------------------------------------------------------------------- */

static void collect_system(struct assembly_draft *d)
{
    struct sb b = sb_in(d->a, 0), addendum = sb_in(d->a, 0);

    add_paragraph(&b, sv_trim(d->q->agent.system_prompt));
    add_paragraph(&b, sv_trim(d->talk.p.system_prompt));
    if (d->talk.buffer && !d->x->aware && !d->q->buffer_system)
        b.n = 0; /* a base model gets only the text that it continues */
    d->system = sb_sv(&b);
    if (!d->x->aware)
        return;
    show_addendum(&addendum, d->q->agent.permissions);
    d->addendum = sb_sv(&addendum);
}

enum status draft_memory(struct assembly_draft *d, struct err *e)
{
    struct sb b = sb_in(d->a, 0);

    if (d->x->aware && show_memory_block(&d->loom, &d->viewer, &d->memory_how, &b, e))
        return err_code(e);
    d->memory = sb_sv(&b);
    return ST_OK;
}

/* ---- results of earlier turns -------------------------------------------------------------- */

/* The result as it was shown; a stored text must not look like the start of another block. */
static struct sv result_text(struct assembly_draft *d, const struct visible *v)
{
    struct sb b = sb_in(d->a, 0);

    sb_adds(&b, "→ ");
    sb_add_oneline(&b, v->line);
    sb_adds(&b, v->pinned ? " (pinned)\n" : "\n");
    for (struct sv rest = v->text; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n');
        sb_pad(&b, ' ', line.head.n ? 2 : 0);
        sb_add_clean(&b, line.head);
        sb_addc(&b, '\n');
        rest = line.found ? line.tail : SV("");
    }
    return sb_sv(&b);
}

static enum status collect_results(struct assembly_draft *d, struct err *e)
{
    if (!d->x->aware)
        return ST_OK;
    if (loom_results_visible(&d->loom, d->q->agent.name, &d->results, &d->n_results, e))
        return err_code(e);
    d->result_texts = ARENA_NEW(d->a, struct sv, d->n_results + 1);
    d->result_dropped = ARENA_NEW(d->a, bool, d->n_results + 1);
    for (size_t i = 0; i < d->n_results; i++)
        d->result_texts[i] = result_text(d, &d->results[i]);
    return ST_OK;
}

/* ---- the loom block -------------------------------------------------------------------------- */

enum status draft_loom(struct assembly_draft *d, struct err *e)
{
    struct sb b = sb_in(d->a, 0), notice = sb_in(d->a, 0);

    assembly_notice(&notice, &d->x->pruned);
    if (d->x->aware && show_context_block(&d->loom, &d->viewer, sb_sv(&notice), &b, e))
        return err_code(e);
    d->loom_block = sb_sv(&b);
    return ST_OK;
}

/* ---- what stands before the input ---------------------------------------------------------------
 */

static bool may_read(const struct assembly_draft *d)
{
    return d->q->agent.permissions & (PERM_loom_aware | PERM_doc_read);
}

/* A thread that nobody spawned has no block. */
static enum status collect_block(struct assembly_draft *d, struct err *e)
{
    struct share       *s = d->q->share;
    struct share_thread t;
    bool                found;

    if (!s || !may_read(d))
        return ST_OK;
    if (share_thread_find(s, d->loom.thread, &t, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (block_write(s, d->loom.thread, d->q->block_flags, &d->block, e) ||
        share_pending(s, d->loom.thread, &d->x->pending, &d->x->n_pending, e))
        return err_code(e);
    return d->x->n_pending ? block_injections(d->x->pending, d->x->n_pending, d->a, &d->injected, e)
                           : ST_OK;
}

/* A recorded preamble is shown unchanged. */
static void use_item(struct assembly_draft *d, const struct talk_item *x)
{
    d->input_items = 1;
    d->input = x->text;
    if (!x->has_preamble)
        return;
    if (x->block.n)
        d->block = x->block;
    d->wants_block = x->block.n > 0;
    d->injected = (struct sv){ 0 };
    d->x->n_pending = 0;
    d->recorded = true;
}

/* The node at which the agent is counts as what it is asked, when another wrote it: it is sent last
 * and never cut. In buffer mode there is only the text. */
static enum status collect_input(struct assembly_draft *d, struct err *e)
{
    struct sb b = sb_in(d->a, 0);

    d->input = d->q->input;
    if (d->q->input.s) {
        if (d->x->aware)
            sb_add_shown(&b, d->q->input);
        else
            sb_add(&b, d->q->input);
        d->input = sb_sv(&b);
        return ST_OK;
    }
    if (d->talk.buffer || !d->has_here || sv_eq(d->x->here.author, d->q->agent.name))
        return ST_OK;
    if (!d->x->aware && d->x->here.kind == AUTHOR_MODEL)
        return ST_OK; /* text of models is always sent as the assistant's */
    if (talk_read(&d->talk, SIZE_MAX, 1, e))
        return err_code(e);
    if (!d->talk.items.n || !d->talk.items.v[0].role || d->talk.items.v[0].of_snapshot)
        return ST_OK;
    use_item(d, &d->talk.items.v[0]);
    return ST_OK;
}

/* ---- all of it
 * ------------------------------------------------------------------------------------ */

static enum status collect_talk(struct assembly_draft *d, struct err *e)
{
    struct preamble *list;
    size_t           n;

    if (memory_pins(&d->loom, d->q->agent.name, &d->pins, &d->n_pins, e) ||
        memory_preambles(&d->loom, d->q->agent.name, &list, &n, e))
        return err_code(e);
    struct talk_setup setup = { .loom = &d->loom,
                                .viewer = &d->chooser,
                                .counts = d->q->counts,
                                .aware = d->x->aware,
                                .no_block = d->q->load,
                                .pins = d->pins,
                                .n_pins = d->n_pins,
                                .preambles = list,
                                .n_preambles = may_read(d) ? n : 0 };
    return talk_open(&d->talk, &setup, d->has_here ? &d->x->here : NULL, d->a, e);
}

enum status draft_collect(struct assembly_draft *d, struct err *e)
{
    if (find_here(d, e) || collect_talk(d, e))
        return err_code(e);
    d->x->buffer = d->talk.buffer;
    collect_system(d);
    if (draft_memory(d, e) || collect_results(d, e) || draft_loom(d, e) || collect_block(d, e))
        return err_code(e);
    d->memory_tokens = counts_of(d->q->counts, d->memory);
    return collect_input(d, e);
}

/* ---- texts of messages
 * ---------------------------------------------------------------------------- */

struct sv draft_system_text(struct assembly_draft *d)
{
    struct sb b = sb_in(d->a, 0);

    add_paragraph(&b, d->system);
    add_paragraph(&b, d->instructions);
    add_paragraph(&b, d->addendum);
    d->x->cache.system = b.n;
    add_paragraph(&b, d->memory);
    return sb_sv(&b);
}

struct sv draft_tail_text(struct assembly_draft *d)
{
    struct sb b = sb_in(d->a, 0);
    size_t    shown = 0;

    for (size_t i = 0; i < d->n_results; i++) {
        if (d->result_dropped[i])
            continue;
        if (!shown++)
            sb_adds(&b, "=== Results in View ===\n");
        sb_add(&b, d->result_texts[i]);
    }
    sb_adds(&b, shown ? "===" : "");
    add_paragraph(&b, d->loom_block);
    add_paragraph(&b, d->resources);
    return sb_sv(&b);
}

struct sv draft_last_text(struct assembly_draft *d)
{
    struct sb b = sb_in(d->a, 0);

    if (d->wants_block)
        add_paragraph(&b, d->block);
    add_paragraph(&b, d->injected);
    if (d->input.n)
        sb_adds(&b, b.n ? "\n\n" : "");
    sb_add(&b, d->input);
    return sb_sv(&b);
}

struct sv draft_input_media(const struct assembly_draft *d)
{
    return d->input_items ? d->talk.items.v[0].media : (struct sv){ 0 };
}

size_t draft_fixed(struct assembly_draft *d)
{
    struct sv media = draft_input_media(d);
    struct sv texts[] = { draft_tail_text(d), draft_last_text(d) };
    size_t    sum = counts_of(d->q->counts, draft_system_text(d));

    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].n || (i == 1 && media.n))
            sum += counts_of(d->q->counts, texts[i]) + ASSEMBLY_MESSAGE_TOKENS;
    return sum + (media.n ? d->talk.items.v[0].media_tokens : 0);
}
