/* Reading a conversation backwards: the path in the tree determines the messages, and a scan of the
 * lane reads most of them at once. */
#include "assemble/talk.h"

#include "assemble/assemble.h"
#include "assemble/parsed.h"
#include "loom/shown.h"
#include "thread/lane.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ---- one message ---------------------------------------------------------------------- */

/* The text of a message while it is put together. */
struct talk_text {
    struct sb        *text, *media;
    struct talk_item *x;
    struct arena     *a;
    bool              aware;      /* nothing in it may look like a command or a block */
    bool              is_summary; /* it is the summary of messages that a compaction hid */
};

static void begin_line(const struct talk_text *t)
{
    sb_adds(t->text, t->text->n ? "\n" : "");
}

static void add_text(const struct talk_text *t, struct sv text)
{
    if (!text.n)
        return;
    begin_line(t);
    if (t->is_summary && sv_starts(text, SV("[Summary of "))) { /* heddle's own line */
        struct sv_cut c = sv_cut(text, '\n');
        sb_add_clean(t->text, c.head);
        sb_adds(t->text, c.found ? "\n" : "");
        text = c.tail;
    }
    if (t->aware)
        sb_add_shown(t->text, text);
    else
        sb_add(t->text, text);
}

/* A picture that the sender of a message may send; whatever else is not text is named. */
static void add_part(const struct talk_text *t, const struct part *p, bool may_picture)
{
    bool picture = p->kind == PART_IMAGE_DATA || p->kind == PART_IMAGE_URL;

    if (p->kind == PART_TEXT) {
        add_text(t, p->text);
    } else if (p->kind == PART_THINKING || p->kind == PART_REDACTED) {
        t->x->thoughts++;
    } else if (picture && may_picture) {
        sb_adds(t->media, t->media->n ? "," : "");
        sb_add(t->media, json_canonical(&p->raw, t->a));
        t->x->media_tokens += ASSEMBLY_PICTURE_TOKENS;
    } else if (p->kind != PART_CALL) {
        begin_line(t);
        sb_addf(t->text, "[%s content]", part_word(p));
    }
}

/* No tools are offered to the model, so that calls and results are sent as text. */
static void add_call(const struct talk_text *t, const struct tool_call *c)
{
    struct sv arguments = json_sv(&c->arguments);

    begin_line(t);
    sb_adds(t->text, "[call ");
    sb_add_oneline(t->text, c->id);
    sb_adds(t->text, ": ");
    sb_add_oneline(t->text, c->name);
    sb_addc(t->text, ' ');
    sb_add_oneline(t->text, arguments.s ? arguments : json_canonical(&c->arguments, t->a));
    sb_addc(t->text, ']');
}

static void add_result_head(const struct talk_text *t, const struct parsed_message *m)
{
    begin_line(t);
    sb_adds(t->text, "[result of ");
    sb_add_oneline(t->text, m->tool_call_id);
    sb_adds(t->text, m->name.n ? ": " : "");
    sb_add_oneline(t->text, m->name);
    sb_addc(t->text, ']');
}

static void add_parsed(const struct talk_text *t, const struct parsed_message *m)
{
    if (parsed_is(m, "tool"))
        add_result_head(t, m);
    t->x->thoughts += m->thinking.n || m->details.type != JSON_NULL;
    for (size_t i = 0; i < m->n_parts; i++)
        add_part(t, &m->parts[i], !parsed_is(m, "assistant"));
    for (size_t i = 0; i < m->n_calls; i++)
        add_call(t, &m->calls[i]);
}

static void note_ids(struct talk_item *x, const struct parsed_message *turns, size_t n,
                     struct arena *a)
{
    VEC(struct sv) ids = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < turns[i].n_calls; k++)
            *vec_push(&ids, a) = turns[i].calls[k].id;
    x->n_calls = ids.n;
    for (size_t i = 0; i < n; i++)
        if (parsed_is(&turns[i], "tool"))
            *vec_push(&ids, a) = turns[i].tool_call_id;
    x->n_answers = ids.n - x->n_calls;
    x->calls = ids.v;
}

/* By its refs, which a compaction wrote into the snapshot. */
static bool is_summary(const struct message *m, struct arena *a)
{
    struct json refs;
    struct err  ignored;

    return m->seq < 0 && m->refs.s && json_parse(m->refs, 0, a, &refs, &ignored) == ST_OK &&
           sv_is(json_text(&refs, "compaction"), "summary");
}

/* What a message says, as text; pictures apart. */
static enum status content_of(struct talk *t, const struct message *m, struct talk_item *x,
                              struct sb *text, struct err *e)
{
    struct context         one = { .messages = (struct message *)(uintptr_t)m, .n = 1 };
    struct render_report   unused = report_in(t->a); /* plain text needs no repair */
    struct sb              media = sb_in(t->a, 0);
    bool                   aware = t->setup.aware && !t->buffer;
    struct talk_text       into = { text, &media, x, t->a, aware, is_summary(m, t->a) };
    struct parsed_message *turns;
    size_t                 n;

    if (parsed_of(&one, t->a, &turns, &n, &unused, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        add_parsed(&into, &turns[i]);
    note_ids(x, turns, n, t->a);
    if (media.n && !t->buffer)
        x->media = sb_sv(&media);
    else
        x->media_tokens = 0;
    return ST_OK;
}

enum status talk_plain(const struct message *m, struct arena *a, struct sv *out, struct err *e)
{
    struct talk      t = { .a = a };
    struct talk_item x = { 0 };
    struct sb        text = sb_in(a, 0);

    if (content_of(&t, m, &x, &text, e))
        return err_code(e);
    *out = sb_sv(&text);
    return ST_OK;
}

enum status talk_node_of(struct loom *l, const struct message *m, struct node *out, bool *found,
                         struct err *e)
{
    struct json refs;
    struct err  ignored;

    *found = false;
    if (!m->refs.s || json_parse(m->refs, 0, l->a, &refs, &ignored) || !json_text(&refs, "node").n)
        return ST_OK;
    return node_local(l, json_text(&refs, "node"), out, found, e);
}

/* ---- one item -------------------------------------------------------------------------- */

static bool is_pinned(const struct talk *t, const struct node *n)
{
    for (size_t i = 0; i < t->setup.n_pins; i++)
        if (t->setup.pins[i].node.n && sv_eq(t->setup.pins[i].node, n->local))
            return true;
    return false;
}

static const struct preamble *preamble_of(const struct talk *t, const struct node *n)
{
    for (size_t i = 0; i < t->setup.n_preambles; i++)
        if (t->setup.preambles[i].node == n->seq)
            return &t->setup.preambles[i];
    return NULL;
}

/* The text as it is sent: for an aware agent with metadata in front. */
static enum status dress(struct talk *t, struct talk_item *x, struct sv content, struct err *e)
{
    struct sb              b = sb_in(t->a, 0);
    const struct preamble *before = preamble_of(t, &x->node);

    x->has_preamble = before != NULL;
    if (before && before->text.n)
        sb_addf(&b, SV_FMT "\n\n", SV_ARG(before->text));
    if (before && x->node.seq == t->block_at)
        x->block = before->block;
    if (!t->setup.aware || t->buffer) {
        sb_add(&b, t->buffer ? content : sv_trim(content));
        x->text = sb_sv(&b);
        return ST_OK;
    }
    if (x->node.seq != NO_NODE && show_metadata_head(t->setup.loom, &x->node, false, &b, e))
        return err_code(e);
    sb_add(&b, content);
    x->text = sb_sv(&b);
    return ST_OK;
}

static void settle(struct talk *t, struct talk_item *x)
{
    if (x->excluded || (!x->text.n && !x->media.s)) {
        x->role = NULL;
        return;
    }
    x->tokens = x->media_tokens + counts_of(t->setup.counts, x->text);
    if (x->details.n)
        x->tokens += counts_of(t->setup.counts, x->details);
    if (x->block.n)
        x->tokens += counts_of(t->setup.counts, x->block) + 1;
    x->tokens += t->buffer ? 0 : ASSEMBLY_MESSAGE_TOKENS;
}

/* Thinking is bound to what stood before it. For an agent that sees nodes that changes with every
 * turn, since their metadata do. */
static struct sv details_of(struct talk *t, const struct message *m, const struct node *n)
{
    bool may = n && !t->setup.aware && !t->buffer && n->kind == AUTHOR_MODEL;

    return may && m->reasoning_details.s ? sv_dup(m->reasoning_details, t->a) : (struct sv){ 0 };
}

/* `n` is NULL for a message of the snapshot. */
static enum status make_item(struct talk *t, const struct message *m, const struct node *n,
                             size_t index, struct talk_item *x, struct err *e)
{
    struct sb content = sb_in(t->a, 0);

    *x = (struct talk_item){ .node = { .seq = NO_NODE }, .index = index };
    x->node.kind = sv_is(m->role, "assistant") ? AUTHOR_MODEL : AUTHOR_HUMAN;
    if (n)
        x->node = *n;
    x->role = x->node.kind == AUTHOR_MODEL ? "assistant" : "user";
    x->excluded = n && n->excluded;
    x->pinned = n && is_pinned(t, n);
    if (!x->excluded && (content_of(t, m, x, &content, e) || dress(t, x, sb_sv(&content), e)))
        return err_code(e);
    x->details = details_of(t, m, n);
    settle(t, x);
    x->instruction = x->role && !t->setup.aware && !t->buffer && sv_is(x->node.as, "instruction");
    if (x->instruction)
        x->role = NULL;
    return ST_OK;
}

/* A call stands in an older message than its result, so that the result was read before. Ids may
 * be used again: a call that was met is forgotten. */
static void note_pairs(struct talk *t, const struct talk_item *x)
{
    size_t at = t->parted.n;

    *vec_push(&t->parted, t->a) = false;
    for (size_t i = 0; i < x->n_answers; i++) {
        struct sv id = x->calls[x->n_calls + i];
        if (map_find(&t->answered, id))
            continue;
        map_put(&t->answered, id, (void *)(uintptr_t)(at + 1));
        t->open++;
        t->open_at = at;
    }
    for (size_t i = 0; i < x->n_calls; i++) {
        size_t by = (size_t)(uintptr_t)map_find(&t->answered, x->calls[i]);
        if (!by)
            continue;
        map_put(&t->answered, x->calls[i], NULL);
        t->open--;
        for (size_t k = by; k <= at; k++)
            t->parted.v[k] = true;
    }
}

static void push_item(struct talk *t, const struct talk_item *x)
{
    note_pairs(t, x);
    t->tokens += x->tokens;
    *vec_push(&t->items, t->a) = *x;
}

/* A message of the snapshot: with the metadata of the node that it was, if it says so. */
static enum status snapshot_item(struct talk *t, size_t index, struct talk_item *x, struct err *e)
{
    const struct message *m = &t->p.snapshot.messages[t->total - 1 - index];
    struct node           n;
    bool                  found;

    if (talk_node_of(t->setup.loom, m, &n, &found, e))
        return err_code(e);
    if (make_item(t, m, found ? &n : NULL, index, x, e))
        return err_code(e);
    x->of_snapshot = true;
    return ST_OK;
}

static enum status add_item(struct talk *t, const struct message *m, const struct node *n,
                            struct err *e)
{
    struct talk_item x;

    if (make_item(t, m, n, t->items.n, &x, e))
        return err_code(e);
    push_item(t, &x);
    return ST_OK;
}

/* ---- backwards --------------------------------------------------------------------------- */

static size_t nodes_in_all(const struct talk *t)
{
    return t->total - t->p.snapshot.n;
}

/* The newest block on the path that the snapshot does not hide. */
static enum status find_block(struct talk *t, struct err *e)
{
    t->block_at = NO_NODE;
    for (size_t i = 0; i < t->setup.n_preambles && !t->setup.no_block; i++) {
        struct node n;
        size_t      index;
        bool        found;
        if (!t->setup.preambles[i].block.n)
            continue;
        if (node_at(t->setup.loom, t->setup.preambles[i].node, &n, e) ||
            talk_place_of(t, n.local, &index, &found, e))
            return err_code(e);
        if (!found)
            continue;
        t->block_at = n.seq;
        break;
    }
    return ST_OK;
}

enum status talk_open(struct talk *t, const struct talk_setup *setup, const struct node *here,
                      struct arena *a, struct err *e)
{
    struct loom         *l = setup->loom;
    struct projection_of of = { .thread = l->thread };
    struct node          slot, hidden;
    bool                 found = false;

    *t = (struct talk){ .setup = *setup, .a = a, .answered = map_in(a) };
    if (!here)
        return ST_OK;
    t->here = t->next = slot = *here;
    if (loom_is_buffer(l, &t->buffer, e) ||
        (here->slot != here->seq && node_at(l, here->slot, &slot, e)))
        return err_code(e);
    of.lane = slot.lane;
    if (lane_reach(l->log, l->thread, slot.lane, slot.seq, &of.upto, e) ||
        project_start(l->log, &of, a, &t->p, e) ||
        (t->p.after >= 0 && node_before(l, here, t->p.after, &hidden, &found, e)))
        return err_code(e);
    t->first = found ? hidden.depth + 1 : 0;
    t->total = t->p.snapshot.n + (size_t)(here->depth + 1 - t->first);
    t->next = slot;
    return find_block(t, e);
}

/* Is there a node that was not read? */
static bool has_next(const struct talk *t)
{
    return t->items.n < nodes_in_all(t);
}

enum { AT_FIRST = 8, AT_ONCE = 32 }; /* messages */

struct talk_reading {
    struct talk   *t;
    size_t         tokens, count;
    struct message waiting[AT_ONCE]; /* scanned, newest first; their nodes are asked for together */
    size_t         n_waiting, at_once;
};

/* The call of a result is read too, so that talk_can_cut() knows it; a call that is further away
 * than this counts as missing. */
enum { CALL_FAR = 64 };

static bool is_enough(const struct talk_reading *r)
{
    const struct talk *t = r->t;

    if (t->open && t->items.n - t->open_at < CALL_FAR)
        return false;
    return t->tokens > r->tokens || t->items.n >= r->count;
}

/* The version of the next slot that the agent sees. */
static enum status chosen(struct talk *t, struct node *out, struct err *e)
{
    if (!t->items.n) {
        *out = t->here; /* the version that the caller asked for */
        return ST_OK;
    }
    return node_version(t->setup.loom, t->setup.viewer->agent, &t->next, out, e);
}

static enum status step_up(struct talk *t, struct err *e)
{
    return has_next(t) ? node_at(t->setup.loom, t->next.parent, &t->next, e) : ST_OK;
}

static enum status message_at(struct talk *t, int64_t seq, struct message *out, struct err *e)
{
    struct loom  *l = t->setup.loom;
    struct entry *entry = ARENA_NEW(t->a, struct entry, 1); /* the message points into it */
    bool          found;

    if (log_entry(l->log, l->thread, seq, t->a, entry, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "entry %lld is missing", (long long)seq);
    *out = message_of_entry(entry);
    return ST_OK;
}

/* The next node by its entry: a version, or a node whose lane is not the path's. */
static enum status read_alone(struct talk *t, const struct node *n, struct err *e)
{
    struct message m;

    if (message_at(t, n->seq, &m, e) || add_item(t, &m, n, e))
        return err_code(e);
    return step_up(t, e);
}

/* A message of the lane, which is the next node of the path unless the tree says otherwise. */
static enum status take(struct talk_reading *r, const struct message *m, struct err *e)
{
    struct talk *t = r->t;
    struct node  n;

    while (has_next(t) && t->next.seq > m->seq && !is_enough(r))
        if (chosen(t, &n, e) || read_alone(t, &n, e))
            return err_code(e);
    if (!has_next(t) || t->next.seq != m->seq || is_enough(r))
        return ST_OK;
    if (chosen(t, &n, e))
        return err_code(e);
    if (n.seq != m->seq)
        return read_alone(t, &n, e);
    return add_item(t, m, &n, e) ? err_code(e) : step_up(t, e);
}

/* A store on another machine answers once for all of them. */
static enum status take_waiting(struct talk_reading *r, struct err *e)
{
    int64_t seqs[AT_ONCE];

    for (size_t i = 0; i < r->n_waiting; i++)
        seqs[i] = r->waiting[i].seq;
    loom_want(r->t->setup.loom, seqs, r->n_waiting);
    for (size_t i = 0; i < r->n_waiting; i++)
        if (take(r, &r->waiting[i], e))
            return err_code(e);
    r->n_waiting = 0;
    r->at_once = r->at_once * 2 < AT_ONCE ? r->at_once * 2 : AT_ONCE;
    return ST_OK;
}

static enum status wait(void *ctx, const struct message *m, bool *more, struct err *e)
{
    struct talk_reading *r = ctx;

    r->waiting[r->n_waiting++] = message_copy(m, r->t->a);
    if (r->n_waiting < r->at_once)
        return ST_OK;
    if (take_waiting(r, e))
        return err_code(e);
    *more = has_next(r->t) && !is_enough(r);
    return ST_OK;
}

enum status talk_read(struct talk *t, size_t tokens, size_t count, struct err *e)
{
    struct talk_reading r = { .t = t, .tokens = tokens, .count = count, .at_once = AT_FIRST };
    struct node         n;

    if (count - t->items.n < AT_FIRST)
        r.at_once = count > t->items.n ? count - t->items.n : 1;
    if (has_next(t) && !is_enough(&r) &&
        (project_back(&t->p, t->next.seq + 1, wait, &r, e) || take_waiting(&r, e)))
        return err_code(e);
    while (has_next(t) && !is_enough(&r))
        if (chosen(t, &n, e) || read_alone(t, &n, e))
            return err_code(e);
    while (!has_next(t) && t->items.n < t->total && !is_enough(&r)) {
        struct talk_item x;
        if (snapshot_item(t, t->items.n, &x, e))
            return err_code(e);
        push_item(t, &x);
    }
    return ST_OK;
}

/* ---- by place ------------------------------------------------------------------------------- */

enum status talk_item_at(struct talk *t, size_t index, struct talk_item *out, struct err *e)
{
    struct loom   *l = t->setup.loom;
    struct node    slot, n;
    struct message m;

    if (index < t->items.n) {
        *out = t->items.v[index];
        return ST_OK;
    }
    if (index >= nodes_in_all(t))
        return snapshot_item(t, index, out, e);
    if (node_ancestor(l, &t->here, t->here.depth - (int64_t)index, &slot, e) ||
        node_version(l, t->setup.viewer->agent, &slot, &n, e) || message_at(t, n.seq, &m, e))
        return err_code(e);
    return make_item(t, &m, &n, index, out, e);
}

static enum status place_in_snapshot(struct talk *t, const struct node *n, size_t *index,
                                     bool *found, struct err *e)
{
    struct node was;

    for (size_t i = 0; i < t->p.snapshot.n && !*found; i++) {
        if (talk_node_of(t->setup.loom, &t->p.snapshot.messages[i], &was, found, e))
            return err_code(e);
        *found = *found && was.seq == n->seq;
        *index = t->total - 1 - i;
    }
    return ST_OK;
}

enum status talk_place_of(struct talk *t, struct sv local, size_t *index, bool *found,
                          struct err *e)
{
    struct loom *l = t->setup.loom;
    struct node  n, slot, shown;
    struct err   missing;

    *found = false;
    if (node_find(l, local, &n, &missing)) {
        *e = missing;
        return e->code == ST_NOT_FOUND || e->code == ST_CROSS_TREE ? ST_OK : err_code(e);
    }
    if (n.depth < t->first)
        return place_in_snapshot(t, &n, index, found, e);
    if (n.depth > t->here.depth)
        return ST_OK;
    *index = (size_t)(t->here.depth - n.depth);
    if (node_ancestor(l, &t->here, n.depth, &slot, e))
        return err_code(e);
    shown = t->here;
    if (*index && node_version(l, t->setup.viewer->agent, &slot, &shown, e))
        return err_code(e);
    *found = shown.seq == n.seq;
    return ST_OK;
}

/* ---- summaries and cuts --------------------------------------------------------------------- */

enum status talk_summary(struct talk *t, const struct talk_item *x, struct sb *b, struct err *e)
{
    struct sv text = x->text;
    bool      is_node = x->node.seq != NO_NODE;

    if (is_node && node_brief(t->setup.loom, &x->node, &text, e))
        return err_code(e);
    if (is_node && t->setup.aware)
        show_summary_head(&x->node, b);
    else
        sb_addf(b, "%s: ", author_kind_name(x->node.kind));
    sb_add_preview(b, text, TALK_SUMMARY_CHARS);
    sb_addc(b, '\n');
    return ST_OK;
}

bool talk_can_cut(const struct talk *t, size_t n)
{
    return n == 0 || n >= t->items.n || !t->parted.v[n];
}
