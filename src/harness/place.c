/* Where an item goes: the forks, rewinds and side chains of a session as lanes.
 *
 * A session writes to lanes of its own alone: its main lane, lanes that fork off when it goes back
 * (named after the record with which they begin), and those of side chains. An item that follows
 * the end of one of them continues it; one that follows anything else begins a lane there. Results
 * of calls are the exception: a model calls several tools at once, each result follows its own
 * call, and the next answer follows only one of them; they all stay on the lane. */
#include "harness/harness_internal.h"

#include "thread/scan.h"

static struct sv local_op_id(const struct harness_batch *b, struct sv session, struct sv key,
                             struct arena *a)
{
    struct sb full = sb_in(a, 0);

    sb_add(&full, session);
    sb_addc(&full, '/');
    sb_add(&full, key);
    return harness_op_id(b->harness, sb_sv(&full), a);
}

struct sv harness_own_op_id(const struct harness_batch *b, struct sv key, struct arena *a)
{
    return b->lineage ? local_op_id(b, b->session, key, a) : harness_op_id(b->harness, key, a);
}

static enum status find_op(struct harness_batch *b, struct sv op, struct arena *a,
                           struct harness_found *out, bool *found, struct err *e)
{
    const struct harness_found *waits = map_find(&b->waiting, op);
    struct entry                n;

    *found = waits != NULL;
    if (waits) {
        *out = (struct harness_found){ waits->seq, waits->at, sv_dup(waits->lane, a) };
        return ST_OK;
    }
    if (log_find_op(b->log, b->thread, op, a, &n, found, e))
        return err_code(e);
    if (*found)
        *out = (struct harness_found){ n.seq, n.at, n.lane };
    return ST_OK;
}

enum status harness_lookup(struct harness_batch *b, struct sv key, int64_t at, struct arena *a,
                           struct harness_found *out, bool *found, struct err *e)
{
    size_t n = b->lineage ? b->lineage->n : 1;

    *found = false;
    for (size_t i = 0; i < n && !*found; i++) {
        struct sv op =
            i == 0 ? harness_own_op_id(b, key, a) : local_op_id(b, b->lineage->v[i], key, a);
        if (find_op(b, op, a, out, found, e))
            return err_code(e);
        *found = *found && (i == 0 || !at || at == out->at);
    }
    return ST_OK;
}

/* The lane of a chain: that of the session, or of a side chain. */
static struct sv chain_of(const struct harness_batch *b, const struct harness_item *item)
{
    return item->side.n ? item->side : b->main;
}

/* "default~1463cfff" */
static struct sv forked_name(struct sv lane, struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, lane);
    sb_addc(&b, '~');
    sb_add(&b, harness_short_id(key));
    return sb_sv(&b);
}

static bool is_own(struct sv chain, struct sv lane)
{
    return sv_eq(chain, lane) || (sv_starts(lane, chain) && lane.s[chain.n] == '~');
}

/* The lane that is going on: the one used last, if it is of this chain. */
static struct sv current(const struct harness_batch *b, struct sv chain)
{
    struct sv last = harness_text_sv(&b->state->lane);

    return last.n && is_own(chain, last) ? last : chain;
}

static void begin_lane(const struct harness_batch *b, struct sv chain,
                       const struct harness_item *item, struct arena *a, struct harness_place *out)
{
    bool first = !harness_tip_of_lane(b->state, chain);

    out->lane = first ? chain : forked_name(chain, item->key, a);
    out->forks = true;
}

/* The item follows one that is not the end of a lane of this session: a lane is forked there. */
static void leave(const struct harness_batch *b, struct sv chain, const struct harness_item *item,
                  const struct harness_found *parent, struct arena *a, struct harness_place *out)
{
    struct harness_tip *tip = harness_tip_of_lane(b->state, parent->lane);

    if (item->joins && tip && is_own(chain, parent->lane) && parent->seq >= tip->answer) {
        out->lane = parent->lane;
        return;
    }
    begin_lane(b, chain, item, a, out);
    out->from = parent->lane;
    out->at = parent->seq;
}

static enum status follow(struct harness_batch *b, struct sv chain, const struct harness_item *item,
                          struct arena *a, struct harness_place *out, struct err *e)
{
    struct harness_tip  *tip = harness_tip_with_key(b->state, harness_key(item->parent, a));
    struct harness_found parent;
    bool                 found;

    if (tip && is_own(chain, harness_text_sv(&tip->lane))) {
        out->lane = harness_text_sv(&tip->lane);
        return ST_OK;
    }
    if (harness_lookup(b, item->parent, 0, a, &parent, &found, e) ||
        (!found && item->parent_also.n &&
         harness_lookup(b, item->parent_also, 0, a, &parent, &found, e)))
        return err_code(e);
    if (found && parent.lane.n) {
        leave(b, chain, item, &parent, a, out);
        return ST_OK;
    }
    harness_note(b->report, b->state->number,
                 "records that follow one that is not there: put behind the record before them");
    out->lane = current(b, chain);
    return ST_OK;
}

/* A root item in a session that has items already begins a lane that shares nothing with the
 * others. */
static void begin(struct harness_batch *b, struct sv chain, const struct harness_item *item,
                  struct arena *a, struct harness_place *out)
{
    out->lane = chain;
    if (!harness_tip_of_lane(b->state, chain))
        return;
    begin_lane(b, chain, item, a, out);
    out->from = chain;
    out->at = -1;
}

static enum status place_known(struct harness_batch *b, struct sv chain,
                               const struct harness_item *item, struct arena *a,
                               struct harness_place *out, struct err *e)
{
    struct harness_found found;

    if (harness_lookup(b, item->key, item->at, a, &found, &out->known, e) ||
        (!out->known && item->also.n &&
         harness_lookup(b, item->also, item->at, a, &found, &out->known, e)))
        return err_code(e);
    if (out->known) {
        out->lane = found.lane;
        out->at = found.seq;
        out->is_others = !found.lane.n || !is_own(chain, found.lane);
    }
    return ST_OK;
}

enum status harness_place(struct harness_batch *b, const struct harness_item *item, struct arena *a,
                          struct harness_place *out, struct err *e)
{
    struct sv chain = chain_of(b, item);

    *out = (struct harness_place){ .at = -1 };
    if (place_known(b, chain, item, a, out, e))
        return err_code(e);
    if (out->known)
        return ST_OK;
    switch (item->link) {
    case HARNESS_LOOSE:
    case HARNESS_NEXT: out->lane = current(b, chain); break;
    case HARNESS_ROOT: begin(b, chain, item, a, out); break;
    case HARNESS_PARENT:
        if (follow(b, chain, item, a, out, e))
            return err_code(e);
    }
    out->lane = sv_dup(out->lane, a); /* it may be a part of the state, which changes */
    out->switches = item->link != HARNESS_LOOSE && !out->forks && !item->side.n &&
                    b->state->lane.n && !sv_eq(out->lane, harness_text_sv(&b->state->lane));
    return ST_OK;
}
