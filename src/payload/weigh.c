/* Counting the tokens of each block as it will be written. */
#include "payload/weigh.h"

void weigher_init(struct weigher *w, const struct payload *p)
{
    *w = (struct weigher){ .emit = { .p = p } };
    w->emit.sink = &w->sink;
    w->emit.b = sb_in(&w->emit.keep, 0);
}

void weigher_release(struct weigher *w)
{
    arena_free(&w->emit.keep);
    arena_free(&w->emit.scratch);
    pipeline_buffer_free(&w->parts);
}

static const struct emit_format *format_of(const struct weigher *w)
{
    return emit_format_of(w->emit.p->q->format);
}

static bool is_verbatim(const struct weigher *w)
{
    return format_of(w)->verbatim && !w->emit.p->q->line_numbers;
}

/* Counts the tokens of what was added to the emitter, and discards it. */
static size_t count_added(struct weigher *w, struct tokens *t)
{
    size_t n = tokens_count(t, sb_sv(&w->emit.b));

    w->emit.b.n = 0;
    return n;
}

/* ---- blocks ------------------------------------------------------------------------- */

static bool weigh_part(void *ctx, struct sv part)
{
    struct weigher *w = ctx;

    format_of(w)->content(&w->emit, part);
    emit_flush(&w->emit);
    return true;
}

static void add_content(struct weigher *w, const struct resource_load_config *c,
                        const struct resource *r, struct sv content)
{
    struct err ignored;

    if (resource_is_large(r)) {
        (void)!resource_parts(c, r, &w->parts, weigh_part, w, &ignored);
    } else if (is_verbatim(w)) {
        emit_flush(&w->emit);
        tokens_stream_add_counted(&w->sink.stream, content, r->tokens);
    } else {
        weigh_part(w, content);
    }
}

/* A large file that is written verbatim was counted by itself; as part of the payload its count can
 * differ only at its first and last lines. */
static void weigh_seams(struct weigher *w, const struct resource_load_config *c, struct tokens *t,
                        struct resource *r)
{
    const struct emit_format *f = format_of(w);
    struct resource_ends      ends;

    resource_read_ends(c, r, &ends);
    sb_adds(&w->emit.b, f->next);
    f->open(&w->emit, r);
    sb_add(&w->emit.b, ends.first);
    size_t with_head = count_added(w, t);
    sb_add(&w->emit.b, ends.last);
    f->close(&w->emit, r);
    size_t with_tail = count_added(w, t);
    r->block_tokens = r->tokens + with_head - tokens_count(t, ends.first) + with_tail -
                      tokens_count(t, ends.last);
}

void weigh_block(struct weigher *w, const struct resource_load_config *c, struct tokens *t,
                 struct resource *r, struct sv content)
{
    const struct emit_format *f = format_of(w);
    struct arena_mark         mark = arena_mark(&w->emit.scratch);

    if (resource_is_large(r) && is_verbatim(w)) {
        weigh_seams(w, c, t, r);
    } else {
        w->sink.counts = true;
        tokens_stream_init(&w->sink.stream, t);
        w->emit.number = (struct number){ 0 };
        sb_adds(&w->emit.b, f->next);
        f->open(&w->emit, r);
        if (r->state == RES_OK)
            add_content(w, c, r, content);
        f->close(&w->emit, r);
        emit_flush(&w->emit);
        r->block_tokens = tokens_stream_end(&w->sink.stream);
        w->sink.counts = false;
    }
    arena_reset(&w->emit.scratch, mark);
}

/* ---- the rest ------------------------------------------------------------------------- */

/* The tokens that `next`, the text between two blocks, adds to a block. */
static size_t weigh_next(struct weigher *w, struct tokens *t, const struct resource *r)
{
    const struct emit_format *f = format_of(w);

    if (!f->next[0])
        return 0;
    f->open(&w->emit, r);
    size_t without = count_added(w, t);
    sb_adds(&w->emit.b, f->next);
    f->open(&w->emit, r);
    size_t with = count_added(w, t);
    return with > without ? with - without : 0;
}

size_t weigh_frame(struct weigher *w, struct tokens *t)
{
    const struct emit_format *f = format_of(w);
    const struct lists       *l = &w->emit.p->lists;
    struct arena_mark         mark = arena_mark(&w->emit.scratch);
    const struct resource    *first = NULL;
    size_t                    blocks = 0;

    for (size_t i = 0; i < l->resources.n; i++)
        if (l->resources.v[i].scopes && !l->resources.v[i].cut) {
            first = first ? first : &l->resources.v[i];
            blocks++;
        }
    f->begin(&w->emit);
    sb_adds(&w->emit.b, blocks ? f->first : "");
    size_t n = count_added(w, t);
    w->emit.done = blocks;
    f->end(&w->emit);
    w->emit.done = 0;
    n += count_added(w, t);
    if (blocks) /* it was counted as if another block preceded it */
        n -= weigh_next(w, t, first);
    arena_reset(&w->emit.scratch, mark);
    return n;
}

/* How many tokens a text of add() adds to the frame, where a text of the same kind precedes it. */
static size_t weigh_added(struct weigher *w, struct tokens *t, const struct resource *r,
                          void (*add)(struct emit *e, const struct resource *r))
{
    struct arena_mark mark = arena_mark(&w->emit.scratch);

    add(&w->emit, r);
    size_t once = count_added(w, t);
    add(&w->emit, r);
    add(&w->emit, r);
    size_t twice = count_added(w, t);
    arena_reset(&w->emit.scratch, mark);
    return twice > once ? twice - once : 0;
}

size_t weigh_entry(struct weigher *w, struct tokens *t, const struct resource *r)
{
    return weigh_added(w, t, r, format_of(w)->entry);
}

size_t weigh_note(struct weigher *w, struct tokens *t, const struct resource *r)
{
    return weigh_added(w, t, r, format_of(w)->note);
}
