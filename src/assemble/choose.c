/* Which part of a conversation is sent.
 *
 * Where it is cut decides how much of a request is the same in the next turn, and so what a
 * provider's cache is worth. Summaries are therefore cut off at a border that does not move with
 * each message: where the characters from the root, those of the metadata included, pass a multiple
 * of an eighth of the budget. It moves by such a step once the budget is full. */
#include "assemble/draft.h"

#include "loom/shown.h"

#include <stdlib.h>

enum {
    EARLIER_SHARE = 8, /* of the budget, for summaries */
    STEP_SHARE = 8,    /* of the budget, by which a cut moves */
    CHARS_A_TOKEN = 4,
    CHARS_A_HEAD = 100, /* estimate for the metadata of a node */
    GAP_TOKENS = 48,    /* estimate for the notice about what is left out */
    READ_AHEAD = 32,    /* items at once, where summaries are made */
};

size_t draft_items(const struct assembly_draft *d)
{
    return d->talk.total - d->input_items;
}

size_t draft_items_read(const struct assembly_draft *d)
{
    return d->talk.items.n - d->input_items;
}

size_t draft_recent(const struct assembly_draft *d)
{
    return d->q->recent > 0 ? (size_t)d->q->recent : ASSEMBLY_RECENT;
}

const struct talk_item *draft_item(const struct assembly_draft *d, size_t i)
{
    return &d->talk.items.v[d->input_items + i];
}

static bool shows_block(const struct talk_item *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].block.n)
            return true;
    return false;
}

bool draft_shows_block(const struct assembly_draft *d)
{
    const struct assembly_choice *c = &d->choice;

    return (c->full && shows_block(draft_item(d, 0), c->full)) ||
           shows_block(c->heads.v, c->heads.n) || shows_block(c->kept.v, c->kept.n);
}

/* ---- buffer mode ------------------------------------------------------------------------- */

struct sv draft_prose(struct assembly_draft *d, size_t n)
{
    struct sb b = sb_in(d->a, 0), shown = sb_in(d->a, 0);

    for (size_t i = n; i-- > 0;) {
        const struct talk_item *x = draft_item(d, i);
        if (!x->role)
            continue;
        if (d->x->aware && b.n)
            sb_adds(&b, x->node.kind == AUTHOR_MODEL ? "︱›" : "︱");
        sb_add(&b, x->text);
    }
    if (!d->x->aware)
        return sb_sv(&b);
    sb_add_shown(&shown, sb_sv(&b));
    return sb_sv(&shown);
}

static size_t prose_tokens(struct assembly_draft *d, size_t n)
{
    struct sv prose = draft_prose(d, n);

    return prose.n ? counts_of(d->q->counts, prose) + ASSEMBLY_MESSAGE_TOKENS : 0;
}

/* ---- counting ------------------------------------------------------------------------------ */

static size_t sum_of(const struct talk_item *list, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += list[i].tokens;
    return sum;
}

static size_t newest_tokens(struct assembly_draft *d, size_t n)
{
    if (d->talk.buffer)
        return prose_tokens(d, n);
    return n ? sum_of(draft_item(d, 0), n) : 0;
}

static void count_choice(struct assembly_draft *d)
{
    struct assembly_choice *c = &d->choice;

    c->tokens =
        newest_tokens(d, c->full) + sum_of(c->heads.v, c->heads.n) + sum_of(c->kept.v, c->kept.n);
    if (c->earlier.n)
        c->tokens += counts_of(d->q->counts, c->earlier) + ASSEMBLY_MESSAGE_TOKENS;
    if (c->truncated)
        c->tokens += counts_of(d->q->counts, SV(DRAFT_TRUNCATED)) + ASSEMBLY_MESSAGE_TOKENS;
}

/* How much is read for a conversation of `room` tokens. */
static enum status read_newest(struct assembly_draft *d, size_t room, struct err *e)
{
    if (d->input_items)
        room += d->talk.items.v[0].tokens;
    return talk_read(&d->talk, room, SIZE_MAX, e);
}

enum status draft_choose_all(struct assembly_draft *d, size_t room, bool *fits, struct err *e)
{
    *fits = false;
    d->choice = (struct assembly_choice){ 0 };
    if (read_newest(d, room, e))
        return err_code(e);
    if (draft_items_read(d) < draft_items(d))
        return ST_OK;
    d->choice.full = draft_items(d);
    count_choice(d);
    *fits = d->choice.tokens <= room;
    return ST_OK;
}

/* ---- pinned nodes ---------------------------------------------------------------------------- */

static int oldest_first(const void *left, const void *right)
{
    const struct talk_item *a = left, *b = right;

    return a->index > b->index ? -1 : a->index < b->index;
}

/* All pinned nodes of the path in kept[], wherever they are. */
static enum status find_pinned(struct assembly_draft *d, struct err *e)
{
    struct assembly_choice *c = &d->choice;

    for (size_t i = 0; i < d->n_pins && d->x->aware && !d->talk.buffer; i++) {
        struct talk_item x;
        size_t           index;
        bool             found;
        if (!d->pins[i].node.n)
            continue;
        if (talk_place_of(&d->talk, d->pins[i].node, &index, &found, e))
            return err_code(e);
        if (!found || index < d->input_items)
            continue;
        if (talk_item_at(&d->talk, index, &x, e))
            return err_code(e);
        if (x.role)
            *vec_push(&c->kept, d->a) = x;
    }
    if (c->kept.n)
        qsort(c->kept.v, c->kept.n, sizeof c->kept.v[0], oldest_first);
    c->pinned = sum_of(c->kept.v, c->kept.n);
    return ST_OK;
}

/* Only those that are neither among the newest nor among the oldest items stay in kept[]. */
static void keep_between(struct assembly_draft *d)
{
    struct assembly_choice *c = &d->choice;
    size_t                  n = 0, end = draft_items(d) - c->heads.n;

    for (size_t i = 0; i < c->kept.n; i++) {
        size_t place = c->kept.v[i].index - d->input_items;
        if (place >= c->full && place < end)
            c->kept.v[n++] = c->kept.v[i];
    }
    c->kept.n = n;
}

/* ---- where to cut ------------------------------------------------------------------------------
 */

/* Characters from the root to the end of a node. */
static int64_t chars_until(const struct assembly_draft *d, const struct node *n)
{
    return n->chars + (d->x->aware ? (n->depth + 1) * CHARS_A_HEAD : 0);
}

/* Is the start of item i a border that stays where it is while the conversation grows? */
static bool is_steady(const struct assembly_draft *d, size_t i)
{
    int64_t step = d->q->budget / STEP_SHARE * CHARS_A_TOKEN;

    if (i + 1 >= draft_items_read(d))
        return draft_items_read(d) == draft_items(d);
    const struct node *n = &draft_item(d, i)->node, *before = &draft_item(d, i + 1)->node;
    if (n->seq == NO_NODE || before->seq == NO_NODE)
        return true;
    return step < 1 || chars_until(d, n) / step != chars_until(d, before) / step;
}

/* The most of the newest items that, with all pinned ones, have at most `room` tokens and may stand
 * without the older ones. *fits is false when there are not `least` such items. A number that ends
 * at a steady border is preferred when `steady`. */
static size_t most_items(const struct assembly_draft *d, size_t room, size_t least, bool steady,
                         bool *fits)
{
    size_t sum = d->choice.pinned, best = 0, best_steady = 0;
    bool   found_steady = false;

    *fits = least == 0 && sum <= room;
    for (size_t n = 1; n <= draft_items_read(d); n++) {
        const struct talk_item *x = draft_item(d, n - 1);
        sum += x->pinned ? 0 : x->tokens; /* pinned ones are in the sum */
        if (sum > room)
            break;
        if (n < least || !talk_can_cut(&d->talk, d->input_items + n))
            continue;
        *fits = true;
        best = n;
        if (is_steady(d, n - 1)) {
            best_steady = n;
            found_steady = true;
        }
    }
    return steady && found_steady ? best_steady : best;
}

static size_t at_most(size_t n, size_t limit)
{
    return n < limit ? n : limit;
}

/* ---- what is said of the rest
 * -------------------------------------------------------------------- */

static enum status add_gap(struct assembly_draft *d, struct sb *b, struct err *e)
{
    struct assembly_choice *c = &d->choice;
    size_t                  from = c->full + c->summed, end = draft_items(d) - c->heads.n;
    struct talk_item        first, last;
    int64_t                 gap = d->x->pruned.left_out;

    if (!gap)
        return ST_OK;
    if (talk_item_at(&d->talk, d->input_items + end - 1, &first, e) ||
        talk_item_at(&d->talk, d->input_items + from, &last, e))
        return err_code(e);
    sb_add_count_of(b, gap, "earlier message is", "earlier messages are");
    sb_adds(b, " not shown");
    if (d->x->aware && first.node.local.n && last.node.local.n)
        sb_addf(b, ", from [" SV_FMT "] to [" SV_FMT "]: → find \"WORDS\" and → view ID reach them",
                SV_ARG(first.node.local), SV_ARG(last.node.local));
    sb_adds(b, ".\n");
    return ST_OK;
}

/* Does the item have content, and is it not excluded? */
static bool is_said(const struct talk_item *x)
{
    return x->role || x->instruction;
}

/* How many items are not sent at all, not counting empty and excluded ones. */
static int64_t count_left_out(const struct assembly_draft *d)
{
    const struct assembly_choice *c = &d->choice;
    size_t                        from = c->full + c->summed, end = draft_items(d) - c->heads.n;
    int64_t                       n = (int64_t)(end - from);

    for (size_t i = from; i < end && i < draft_items_read(d); i++)
        n -= !is_said(draft_item(d, i));
    for (size_t i = 0; i < c->kept.n; i++)
        n -= c->kept.v[i].index - d->input_items >= from;
    return n;
}

/* The block in front of what is sent in full. `lines` are summaries, newest first. */
static enum status write_earlier(struct assembly_draft *d, const struct sv *lines, size_t n,
                                 struct err *e)
{
    struct sb b = sb_in(d->a, 0);

    d->x->pruned.left_out = count_left_out(d);
    d->x->pruned.summarized = (int64_t)n;
    d->choice.earlier = SV("");
    if (!n && !d->x->pruned.left_out)
        return ST_OK;
    sb_adds(&b,
            d->x->aware ? "=== Earlier Conversation ===\n" : "[Earlier in this conversation]\n");
    if (add_gap(d, &b, e))
        return err_code(e);
    if (n) {
        sb_add_count_of(&b, (int64_t)n, "message is", "messages are");
        sb_adds(&b,
                d->x->aware ? " summarized; → view ID full shows the whole:\n" : " summarized:\n");
    }
    for (size_t i = lines ? n : 0; i-- > 0;)
        sb_add(&b, lines[i]);
    sb_adds(&b, d->x->aware ? "===" : "");
    d->choice.earlier = sb_sv(&b);
    return ST_OK;
}

/* Summaries of the items behind those in full, until they have `tokens`. */
static enum status summarize(struct assembly_draft *d, size_t tokens, struct err *e)
{
    VEC(struct sv) lines = { 0 };
    VEC(size_t) until = { 0 }; /* lines before each item that was looked at */
    size_t sum = 0, at = d->choice.full;

    for (; at < draft_items(d); at++) {
        struct sb b = sb_in(d->a, 0);
        if (at >= draft_items_read(d) &&
            talk_read(&d->talk, SIZE_MAX, d->talk.items.n + READ_AHEAD, e))
            return err_code(e);
        *vec_push(&until, d->a) = lines.n;
        if (draft_item(d, at)->pinned || !is_said(draft_item(d, at)))
            continue;
        if (talk_summary(&d->talk, draft_item(d, at), &b, e))
            return err_code(e);
        sum += counts_of(d->q->counts, sb_sv(&b));
        if (sum > tokens)
            break;
        *vec_push(&lines, d->a) = sb_sv(&b);
    }
    *vec_push(&until, d->a) = lines.n;
    /* A call is not summarised when its result is left out. */
    while (at > d->choice.full && !talk_can_cut(&d->talk, d->input_items + at))
        at--;
    d->choice.summed = at - d->choice.full;
    return write_earlier(d, lines.v, until.v[d->choice.summed], e);
}

/* ---- strategies
 * ------------------------------------------------------------------------------------ */

/* Does the strategy summarise? Never in buffer mode, where a base model continues the text. */
static bool makes_summaries(const struct assembly_draft *d)
{
    return d->strategy == ASSEMBLY_SUMMARIZE && !(d->talk.buffer && !d->x->aware);
}

static enum status choose_newest(struct assembly_draft *d, size_t room, size_t least, bool *fits,
                                 struct err *e)
{
    bool   summaries = makes_summaries(d) && !d->only_counted;
    bool   told = d->x->aware || makes_summaries(d); /* the model is told what is missing */
    size_t share = summaries ? at_most((size_t)d->q->budget / EARLIER_SHARE, room / 2) : 0;
    size_t set_aside = at_most(share + (told ? GAP_TOKENS : 0), room);

    d->choice.full = most_items(d, room - set_aside, least, makes_summaries(d), fits);
    if (!*fits && (least || !d->only_counted))
        return ST_OK;
    *fits = true; /* only pinned items are left; draft_choose() checks whether they fit */
    keep_between(d);
    if (!told) {
        d->x->pruned.left_out = count_left_out(d);
        return ST_OK;
    }
    return summaries ? summarize(d, share, e) : write_earlier(d, NULL, 0, e);
}

static bool answers(const struct talk_item *x, struct sv id)
{
    for (size_t i = 0; i < x->n_answers; i++)
        if (sv_eq(x->calls[x->n_calls + i], id))
            return true;
    return false;
}

/* Is the call answered by one of the items behind the first ones that stay? */
static enum status answered_later(struct assembly_draft *d, struct sv id, bool *out, struct err *e)
{
    size_t end = d->talk.total - d->choice.heads.n;

    *out = false;
    for (size_t i = 0; i < READ_AHEAD && i + d->input_items < end && !*out; i++) {
        struct talk_item x;
        if (talk_item_at(&d->talk, end - 1 - i, &x, e))
            return err_code(e);
        *out = answers(&x, id);
    }
    return ST_OK;
}

static bool answered_in(const struct assembly_draft *d, size_t from, struct sv id)
{
    for (size_t i = from; i < d->choice.heads.n; i++)
        if (answers(&d->choice.heads.v[i], id))
            return true;
    return false;
}

/* A call among the first items whose result is not among them does not stay there. */
static enum status settle_heads(struct assembly_draft *d, struct err *e)
{
    struct assembly_choice *c = &d->choice;

    for (size_t n = c->heads.n; n-- > 0;) {
        const struct talk_item *x = &c->heads.v[n];
        bool                    later = false;
        for (size_t i = 0; i < x->n_calls && !later; i++)
            if (!answered_in(d, n + 1, x->calls[i]) && answered_later(d, x->calls[i], &later, e))
                return err_code(e);
        if (later)
            c->heads.n = n;
    }
    return ST_OK;
}

static enum status choose_ends(struct assembly_draft *d, size_t room, size_t least, bool *fits,
                               struct err *e)
{
    struct assembly_choice *c = &d->choice;
    size_t marker = counts_of(d->q->counts, SV(DRAFT_TRUNCATED)) + (d->x->aware ? GAP_TOKENS : 0);
    size_t left = room > marker ? room - marker : 0, sum;

    c->full = most_items(d, left, least, false, fits);
    if (!*fits)
        return ST_OK;
    /* Keep only the recent items at the end. If not even those fit, most_items() has kept as many
     * of them as do, and nothing of the beginning is sent. */
    for (size_t n = draft_recent(d); n < c->full; n++)
        if (talk_can_cut(&d->talk, d->input_items + n))
            c->full = n;
    sum = newest_tokens(d, c->full) + c->pinned;
    for (size_t n = 0; c->full + n < draft_items(d); n++) {
        struct talk_item x;
        if (talk_item_at(&d->talk, d->talk.total - 1 - n, &x, e))
            return err_code(e);
        sum += x.pinned ? 0 : x.tokens;
        if (sum > left)
            break;
        *vec_push(&c->heads, d->a) = x;
    }
    if (settle_heads(d, e))
        return err_code(e);
    keep_between(d);
    d->x->pruned.left_out = count_left_out(d);
    c->truncated = d->x->pruned.left_out > 0;
    return ST_OK;
}

static enum status choose_once(struct assembly_draft *d, size_t room, size_t least, bool *fits,
                               struct err *e)
{
    bool ends = d->strategy == ASSEMBLY_TRUNCATE_MIDDLE && !d->talk.buffer;

    d->choice = (struct assembly_choice){ 0 };
    d->x->pruned.left_out = d->x->pruned.summarized = 0;
    if (find_pinned(d, e) ||
        (ends ? choose_ends(d, room, least, fits, e) : choose_newest(d, room, least, fits, e)))
        return err_code(e);
    count_choice(d);
    return ST_OK;
}

enum status draft_least(struct assembly_draft *d, size_t least, size_t *tokens, struct err *e)
{
    d->choice = (struct assembly_choice){ 0 };
    least = at_most(least, draft_items(d));
    if (talk_read(&d->talk, SIZE_MAX, d->input_items + least, e) || find_pinned(d, e))
        return err_code(e);
    *tokens = newest_tokens(d, least) + d->choice.pinned + GAP_TOKENS;
    return ST_OK;
}

/* Texts that are put together can have some tokens more than their parts. */
enum status draft_choose(struct assembly_draft *d, size_t room, size_t least, bool *fits,
                         struct err *e)
{
    size_t aim = room;

    if (read_newest(d, room, e))
        return err_code(e);
    least = at_most(least, draft_items(d));
    for (;;) {
        if (choose_once(d, aim, least, fits, e))
            return err_code(e);
        if (!*fits || d->choice.tokens <= room)
            return ST_OK;
        size_t over = d->choice.tokens - room;
        *fits = over < aim;
        if (!*fits)
            return ST_OK;
        aim -= over;
    }
}
