/* Putting calls and results into the order that providers demand, and reporting each change. */
#include "assemble/repair.h"

#include "base/map.h"

#define NONE SIZE_MAX
#define INTERRUPTED                                                                                \
    "{\"error\":{\"details\":{},\"message\":\"The call was interrupted: no result was "            \
    "recorded.\",\"type\":\"interrupted\"},\"ok\":false}"

struct call_at {
    size_t turn, flat; /* flat: its number among all calls */
};

/* Everything that goes by one call id. Both lists are in the order of the turns. */
struct id_use {
    VEC(struct call_at) calls;
    VEC(size_t) results; /* turns */
    int renamed;         /* how often a new id was made from this one */
};

struct mending {
    const struct parsed_message *turns;
    size_t                       n;
    struct arena                *a;
    struct render_report        *r;
    struct map                   ids;       /* id → struct id_use */
    struct map                   emitted;   /* ids that were rendered already */
    size_t                      *result_of; /* turn of each call's result, by flat number */
    bool                        *owned;     /* by turn: a result that has a call */
    size_t                      *behind;    /* by turn: the last turn before it that is not a
                                             * result */
    VEC(struct parsed_message) out;
};

static struct id_use *use_of(struct mending *m, struct sv id)
{
    struct id_use *u = map_find(&m->ids, id);

    if (!u) {
        u = ARENA_NEW(m->a, struct id_use, 1);
        map_put(&m->ids, id, u);
    }
    return u;
}

static void index_turns(struct mending *m)
{
    size_t flat = 0, behind = NONE;

    for (size_t i = 0; i < m->n; i++) {
        const struct parsed_message *t = &m->turns[i];
        m->behind[i] = behind;
        if (parsed_is(t, "tool")) {
            *vec_push(&use_of(m, t->tool_call_id)->results, m->a) = i;
            continue;
        }
        behind = i;
        for (size_t k = 0; k < t->n_calls; k++)
            *vec_push(&use_of(m, t->calls[k].id)->calls, m->a) = (struct call_at){ i, flat++ };
    }
}

static void own(struct mending *m, struct call_at call, size_t result)
{
    m->result_of[call.flat] = result;
    m->owned[result] = true;
}

/* An id may be used again by a later turn: a result belongs to the nearest turn before it
 * that made the call. One that stands before every call belongs to the first. */
static void match(struct mending *m, const struct id_use *u)
{
    size_t r = 0, early = NONE;

    while (u->calls.n && r < u->results.n && u->results.v[r] < u->calls.v[0].turn) {
        if (early == NONE)
            early = u->results.v[r];
        r++;
    }
    for (size_t c = 0, end; c < u->calls.n; c = end) {
        size_t k = c;
        for (end = c + 1; end < u->calls.n && u->calls.v[end].turn == u->calls.v[c].turn;)
            end++;
        size_t until = end < u->calls.n ? u->calls.v[end].turn : NONE;
        for (; r < u->results.n && u->results.v[r] < until; r++)
            if (k < end)
                own(m, u->calls.v[k++], u->results.v[r]);
        if (k == c && c == 0 && early != NONE)
            own(m, u->calls.v[c], early);
    }
}

/* ---- rendering in order --------------------------------------------------------------- */

static struct parsed_message interrupted(const struct tool_call *call, struct arena *a)
{
    struct part *p = ARENA_NEW(a, struct part, 1);

    *p = part_of_text(SV(INTERRUPTED));
    return (struct parsed_message){ .seq = -1,
                                    .role = SV("tool"),
                                    .is_text = true,
                                    .parts = p,
                                    .n_parts = 1,
                                    .tool_call_id = call->id,
                                    .name = call->name,
                                    .failed = true };
}

/* An id that no call of this context has: ID_2, ID_3, … */
static struct sv fresh_id(struct mending *m, struct sv id)
{
    struct id_use *u = use_of(m, id);

    for (;;) {
        struct sb b = sb_in(m->a, 0);
        sb_add(&b, id.n ? id : SV("call"));
        sb_addf(&b, "_%d", ++u->renamed + 1);
        struct sv made = sb_sv(&b);
        if (!map_has(&m->ids, made) && !map_has(&m->emitted, made))
            return made;
    }
}

/* Make the id of a call unique in the request; an empty id is never sent. */
static void settle_id(struct mending *m, struct tool_call *call, struct repair_place place)
{
    struct sv old = call->id;

    if (!old.n || map_has(&m->emitted, old)) {
        call->id = fresh_id(m, old);
        place.tool_call_id = old;
        report_add(m->r, REPAIR_RENAMED, place, "the call to " SV_FMT ", as %s, is now " SV_FMT,
                   SV_ARG(call->name), old.n ? "its id was used before" : "it had no id",
                   SV_ARG(call->id));
    }
    map_put(&m->emitted, call->id, m);
}

static void emit_result(struct mending *m, size_t i, const struct tool_call *call, size_t result,
                        size_t *last)
{
    struct repair_place place = { m->turns[i].seq, call->id, m->out.n };

    if (result == NONE) {
        report_add(m->r, REPAIR_ADDED, place, "an interrupted result");
        *vec_push(&m->out, m->a) = interrupted(call, m->a);
        return;
    }
    struct parsed_message t = m->turns[result];
    t.tool_call_id = call->id;
    if (m->behind[result] != i || (*last != NONE && result < *last)) {
        place.seq = t.seq;
        report_add(m->r, REPAIR_MOVED, place, "its result to where it belongs");
    }
    *last = result;
    *vec_push(&m->out, m->a) = t;
}

static void emit_turn(struct mending *m, size_t i, size_t *flat)
{
    struct parsed_message t = m->turns[i];
    size_t                last = NONE, first = *flat, at = m->out.n;

    t.calls = ARENA_NEW(m->a, struct tool_call, t.n_calls);
    for (size_t k = 0; k < t.n_calls; k++) {
        t.calls[k] = m->turns[i].calls[k];
        settle_id(m, &t.calls[k], parsed_place(&t, at));
    }
    *vec_push(&m->out, m->a) = t;
    for (size_t k = 0; k < t.n_calls; k++)
        emit_result(m, i, &t.calls[k], m->result_of[first + k], &last);
    *flat += t.n_calls;
}

static void drop_result(struct mending *m, const struct parsed_message *t)
{
    const struct id_use *u = map_find(&m->ids, t->tool_call_id);

    report_add(m->r, REPAIR_DROPPED, parsed_place(t, m->out.n),
               u && u->calls.n ? "a second result of the call" : "a result without a call");
}

void repair_all(const struct parsed_message *turns, size_t n, struct arena *a,
                struct parsed_message **out, size_t *n_out, struct render_report *r)
{
    struct mending m = { .turns = turns, .n = n, .a = a, .r = r };
    size_t         n_calls = 0, flat = 0;

    for (size_t i = 0; i < n; i++)
        n_calls += turns[i].n_calls;
    m.ids = map_in(a);
    m.emitted = map_in(a);
    m.result_of = ARENA_NEW(a, size_t, n_calls + 1);
    m.owned = ARENA_NEW(a, bool, n + 1);
    m.behind = ARENA_NEW(a, size_t, n + 1);
    for (size_t i = 0; i < n_calls; i++)
        m.result_of[i] = NONE;
    vec_reserve(&m.out, n + n_calls, a);
    index_turns(&m);
    for (size_t i = 0; i < m.ids.n; i++)
        match(&m, m.ids.items[i].value);
    for (size_t i = 0; i < n; i++) {
        if (!parsed_is(&turns[i], "tool"))
            emit_turn(&m, i, &flat);
        else if (!m.owned[i])
            drop_result(&m, &turns[i]);
    }
    *out = m.out.v;
    *n_out = m.out.n;
}
