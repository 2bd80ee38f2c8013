/* What each turn of a thread cost: usage of messages, of records that tell it apart from them, and
 * of heddle's own answers, summed up by lane. */
#include "harness/blocks.h"
#include "harness/sessions.h"

#include "base/map.h"
#include "base/vec.h"
#include "harness/join.h"
#include "thread/kind.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* Where a lane is: its turn, and the answer that was counted last. */
struct lane_turn {
    size_t               turn;
    struct sv            group;
    struct harness_usage counted;
};

struct turn_count {
    struct arena *a;
    struct arena  scratch; /* of one entry */
    struct map    lanes;   /* name → struct lane_turn */
    VEC(struct harness_turn) turns;
};

/* ---- usage ---------------------------------------------------------------------------------- */

/* As harness_payload() writes it. */
static bool own_usage(const struct json *u, struct harness_usage *out)
{
    if (!json_is(u, JSON_OBJECT))
        return false;
    *out = (struct harness_usage){ .input = json_number(u, "input_tokens"),
                                   .output = json_number(u, "output_tokens"),
                                   .cache_read = json_number(u, "cache_read_tokens"),
                                   .cache_write = json_number(u, "cache_write_tokens"),
                                   .reasoning = json_number(u, "reasoning_tokens") };
    out->priced = harness_dollars(json_find(u, "cost_usd"), &out->cost);
    return true;
}

/* A raw answer of a model that heddle asked. */
static struct harness_usage response_usage(const struct json *p)
{
    int64_t cached = json_number(p, "cached_tokens"), written = json_number(p, "written_tokens");
    struct harness_usage u = { .input = json_number(p, "prompt_tokens") - cached - written,
                               .output = json_number(p, "completion_tokens"),
                               .cache_read = cached,
                               .cache_write = written,
                               .reasoning = json_number(p, "reasoning_tokens") };

    u.priced = harness_dollars(json_find(p, "cost"), &u.cost);
    return u;
}

/* ---- turns ---------------------------------------------------------------------------------- */

static struct lane_turn *lane_of(struct turn_count *c, struct sv lane)
{
    struct lane_turn *l = map_find(&c->lanes, lane);

    if (!l) {
        l = ARENA_NEW(c->a, struct lane_turn, 1);
        l->turn = SIZE_MAX;
        map_put(&c->lanes, lane, l);
    }
    return l;
}

static struct sv beginning(const struct json *content, struct arena *a)
{
    char                room[HARNESS_TEXT_MAX];
    struct harness_text t;
    size_t              n = 0;
    struct sv           v = sv_trim(sv_first(harness_asked_text(content), sizeof room));

    for (size_t i = 0; i < v.n; i++)
        room[n++] = v.s[i] == '\n' || v.s[i] == '\r' || v.s[i] == '\t' ? ' ' : v.s[i];
    harness_text_set(&t, (struct sv){ room, n });
    return sv_dup(harness_text_sv(&t), a);
}

static struct harness_turn *begin(struct turn_count *c, struct lane_turn *l, const struct entry *n,
                                  const struct json *payload)
{
    struct harness_origin o = { 0 };
    struct harness_turn  *t = vec_push(&c->turns, c->a);

    harness_origin(payload, &o);
    *t = (struct harness_turn){
        .seq = n->seq, .at = n->at, .lane = sv_dup(n->lane, c->a), .program = sv_dup(o.name, c->a)
    };
    l->turn = c->turns.n - 1;
    return t;
}

static struct harness_turn *turn_of(struct turn_count *c, struct lane_turn *l,
                                    const struct entry *n, const struct json *payload)
{
    return l->turn == SIZE_MAX ? begin(c, l, n, payload) : &c->turns.v[l->turn];
}

/* Of another program's messages the import knows which a person wrote; of heddle's own all that
 * have the role of the user. */
static bool is_turn(const struct json *payload)
{
    const struct json *origin = json_find(payload, "harness");

    if (!sv_is(json_text(payload, "role"), "user"))
        return false;
    return !origin || json_truth(json_find(origin, "turn"));
}

static void count_usage(struct harness_turn *t, struct lane_turn *l, const struct harness_usage *u,
                        struct sv group, struct arena *a)
{
    if (group.n && sv_eq(group, l->group))
        harness_usage_add(&t->usage, &l->counted, -1);
    else if (group.n)
        l->group = sv_dup(group, a);
    else
        l->group = (struct sv){ 0 };
    l->counted = *u;
    harness_usage_add(&t->usage, u, 1);
}

static void count_message(struct turn_count *c, const struct entry *n, const struct json *p)
{
    struct lane_turn     *l = lane_of(c, n->lane);
    const struct json    *calls = json_find(p, "tool_calls");
    struct harness_turn  *t;
    struct harness_usage  u;
    struct harness_origin o = { 0 };

    if (is_turn(p)) {
        t = begin(c, l, n, p);
        t->prompt = beginning(json_find(p, "content"), c->a);
    } else {
        t = turn_of(c, l, n, p);
    }
    harness_origin(p, &o);
    t->messages++;
    t->calls += json_is(calls, JSON_ARRAY) ? (int64_t)calls->n : 0;
    if (o.model.n && !sv_eq(o.model, t->model))
        t->model = sv_dup(o.model, c->a);
    if (own_usage(json_find(p, "usage"), &u))
        count_usage(t, l, &u, json_text(json_find(p, "harness"), "group"), c->a);
}

static void count_record(struct turn_count *c, const struct entry *n, const struct json *p)
{
    struct harness_usage u;
    struct lane_turn    *l;

    if (!own_usage(json_find(p, "usage"), &u) || !n->lane.n)
        return;
    l = lane_of(c, n->lane);
    harness_usage_add(&turn_of(c, l, n, p)->usage, &u, 1);
}

/* The entry of a raw answer names no lane, so its usage is counted for the newest turn. */
static void count_response(struct turn_count *c, const struct json *p)
{
    struct harness_usage u = response_usage(p);

    if (!c->turns.n)
        return;
    harness_usage_add(&c->turns.v[c->turns.n - 1].usage, &u, 1);
    c->turns.v[c->turns.n - 1].model = sv_dup(json_text(p, "model"), c->a);
}

static enum status count_entry(struct turn_count *c, const struct entry *n, struct err *e)
{
    enum kind   k = kind_of(n->kind);
    struct json p;

    if ((k != KIND_AI_MESSAGE && k != KIND_HARNESS_RECORD && k != KIND_MODEL_RESPONSE) ||
        (k == KIND_AI_MESSAGE && n->mark != MARK_MESSAGE))
        return ST_OK;
    if (json_parse(skeleton_shown(n, &c->scratch), 0, &c->scratch, &p, e))
        return err_code(e);
    if (k == KIND_AI_MESSAGE)
        count_message(c, n, &p);
    else if (k == KIND_HARNESS_RECORD)
        count_record(c, n, &p);
    else
        count_response(c, &p);
    return ST_OK;
}

/* What stands before the first question, and used nothing, is not a turn. */
static size_t drop_empty(struct turn_count *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->turns.n; i++) {
        const struct harness_turn *t = &c->turns.v[i];
        if (t->prompt.s || t->usage.input || t->usage.output || t->usage.cost)
            c->turns.v[kept++] = *t;
    }
    return kept;
}

enum status harness_turns(struct log *l, struct sv thread, struct arena *a,
                          struct harness_turn **out, size_t *n, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = thread, .to = STORE_TO_END };
    struct turn_count                      c = { .a = a, .lanes = map_in(a) };
    struct entry                           entry;
    bool                                   more = true;
    enum status                            s = log_scan(l, &q, &scan, e);

    ARENA_NEW(&c.scratch, char, 1);
    while (!s && !(s = log_scan_next(scan, &entry, &more, e)) && more) {
        struct arena_mark m = arena_mark(&c.scratch);
        s = count_entry(&c, &entry, e);
        arena_reset(&c.scratch, m);
    }
    arena_free(&c.scratch);
    *out = c.turns.v;
    *n = drop_empty(&c);
    return s;
}
