/* The projection rule once more, written to be read and not to be fast: every projection looks
 * at every entry from the first. And a source of random logs to compare with, driven by a seed or
 * by the bytes of a fuzzer. */
#ifndef HEDDLE_NAIVE_H
#define HEDDLE_NAIVE_H

#include "base/json.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/kind.h"
#include "thread/op.h"

#include <stdio.h>

/* ---- the rule ---------------------------------------------------------------------------- */

struct naive_log {
    struct arena *a;
    VEC(struct entry) entries;
};

/* How a lane came into being, as far as entries[0..upto] tell. */
struct naive_lane {
    bool      found;
    struct sv from;
    int64_t   at, seq;
};

static inline struct json naive_json(struct sv text, struct arena *a)
{
    struct json v = { 0 };
    struct err  e;

    if (text.n && json_parse(text, 0, a, &v, &e))
        v = (struct json){ 0 };
    return v;
}

static inline bool naive_text_or_none(const struct json *p, const char *key)
{
    const struct json *v = json_find(p, key);

    return !v || v->type == JSON_NULL || v->type == JSON_STRING;
}

/* Is it what its kind demands? What is not is kept, and is as if it were not there. Of the fields
 * that random logs have. */
static inline bool naive_is_sound(const struct entry *n, struct arena *a)
{
    struct json        p = naive_json(n->payload, a);
    struct sv          role = json_text(&p, "role");
    const struct json *calls = json_find(&p, "tool_calls");

    if (!sv_is(n->kind, "ai_message"))
        return true;
    if (!sv_is(role, "user") && !sv_is(role, "assistant") && !sv_is(role, "tool"))
        return false;
    if (calls && calls->type != JSON_NULL && calls->type != JSON_ARRAY)
        return false;
    return naive_text_or_none(&p, "name") && naive_text_or_none(&p, "tool_call_id") &&
           naive_text_or_none(&p, "thinking") &&
           (!sv_is(role, "tool") || json_text(&p, "tool_call_id").n);
}

static inline struct naive_lane naive_find(struct naive_log *n, struct sv name, int64_t upto)
{
    for (int64_t i = 0; i <= upto; i++) {
        const struct entry *one = &n->entries.v[i];
        bool                is_op = sv_is(one->kind, "ai_context_operation");
        if ((!is_op && !sv_is(one->kind, "ai_message")) || !one->lane.s ||
            !sv_eq(one->lane, name) || !naive_is_sound(one, n->a))
            continue;
        struct json        p = naive_json(one->payload, n->a);
        const struct json *op = json_find(&p, "operation"), *from = json_find(op, "from");
        struct naive_lane  lane = { true, { 0 }, -1, i };
        if (is_op && sv_is(json_text(op, "type"), "fork")) {
            lane.from = json_text(from, "lane");
            json_int(json_find(from, "seq"), &lane.at);
            if (lane.at >= i)
                lane.at = i - 1;
        }
        return lane;
    }
    return (struct naive_lane){ 0 };
}

/* Does entry `seq` lie on the path of `lane` up to `upto`? */
static inline bool naive_on_path(struct naive_log *n, struct sv lane, int64_t seq, int64_t upto)
{
    struct sv here = lane;
    int64_t   bound = upto, made = (int64_t)n->entries.n - 1;

    for (;;) {
        struct naive_lane l = naive_find(n, here, made);
        if (!l.found)
            return false;
        if (seq > l.at)
            return seq <= bound && sv_eq(n->entries.v[seq].lane, here);
        if (!l.from.s)
            return false;
        here = l.from;
        bound = l.at < bound ? l.at : bound;
        made = l.seq - 1; /* what it was forked from was there before */
    }
}

static inline void naive_put(struct json *object, const char *key, struct json v, struct arena *a)
{
    struct json_member *m = ARENA_NEW(a, struct json_member, object->n + 1);

    for (size_t i = 0; i < object->n; i++)
        m[i] = object->members[i];
    m[object->n] = (struct json_member){ sv_of(key), v };
    object->members = m;
    object->n++;
}

static inline void naive_copy(struct json *to, const struct json *from, const char *key,
                              enum json_type type, struct arena *a)
{
    const struct json *v = json_find(from, key);

    if (json_is(v, type))
        naive_put(to, key, *v, a);
}

/* content, with thinking as its first part. */
static inline struct json naive_content(const struct json *m, struct arena *a)
{
    const struct json *given = json_find(m, "content");
    struct json        content = given && given->type != JSON_NULL ? *given : json_of(SV(""));
    struct sv          thinking = json_text(m, "thinking");

    if (!thinking.n)
        return content;
    struct json thought = { .type = JSON_OBJECT }, text = { .type = JSON_OBJECT };
    naive_put(&thought, "type", json_of(SV("thinking")), a);
    naive_put(&thought, "thinking", json_of(thinking), a);
    naive_put(&text, "type", json_of(SV("text")), a);
    naive_put(&text, "text", content, a);
    bool         is_list = content.type == JSON_ARRAY;
    size_t       more = is_list ? content.n : 1;
    struct json *parts = ARENA_NEW(a, struct json, more + 1);
    parts[0] = thought;
    for (size_t i = 0; i < more; i++)
        parts[i + 1] = is_list ? content.items[i] : text;
    return (struct json){ JSON_ARRAY, more + 1, { .items = parts } };
}

/* A message as a model is shown it, from a payload or from an element of a snapshot. */
static inline struct json naive_message(const struct json *m, const struct json *refs,
                                        struct arena *a)
{
    struct sv   role = json_text(m, "role");
    struct json out = { .type = JSON_OBJECT };
    bool        user = sv_is(role, "user") || sv_is(role, "system");
    bool        tool = sv_is(role, "tool"), assistant = sv_is(role, "assistant");

    naive_put(&out, "role", json_of(role), a);
    naive_put(&out, "content", naive_content(m, a), a);
    if (json_is(refs, JSON_OBJECT) && refs->n)
        naive_put(&out, "refs", *refs, a);
    if (!user && !assistant) {
        naive_copy(&out, m, "name", JSON_STRING, a);
        naive_copy(&out, m, "tool_call_id", JSON_STRING, a);
    }
    if (!user && !tool) {
        naive_copy(&out, m, "tool_calls", JSON_ARRAY, a);
        const struct json *details = json_find(m, "reasoning_details");
        if (details && details->type != JSON_NULL)
            naive_put(&out, "reasoning_details", *details, a);
    }
    return out;
}

struct naive_view {
    VEC(struct json) messages;
    struct sv prompt;
};

/* A tool's message without a name has that of the nearest call before it with its id. */
static inline void naive_name(struct naive_view *v, struct json *m, struct arena *a)
{
    const struct json *id = json_find(m, "tool_call_id");

    if (!sv_is(json_text(m, "role"), "tool") || json_text(m, "name").s || !json_is(id, JSON_STRING))
        return;
    for (size_t i = v->messages.n; i-- > 0;) {
        const struct json *calls = json_find(&v->messages.v[i], "tool_calls");
        if (!sv_is(json_text(&v->messages.v[i], "role"), "assistant") || !calls)
            continue;
        for (size_t k = 0; k < calls->n; k++) {
            const struct json *call = &calls->items[k], *name = json_find(call, "name");
            if (!sv_eq(json_text(call, "id"), json_sv(id)))
                continue;
            if (!name)
                name = json_find(json_find(call, "function"), "name");
            if (json_is(name, JSON_STRING))
                naive_put(m, "name", *name, a);
            if (json_is(name, JSON_STRING))
                return;
            break;
        }
    }
}

static inline void naive_push(struct naive_view *v, struct json m, struct arena *a)
{
    naive_name(v, &m, a);
    *vec_push(&v->messages, a) = m;
}

/* The last replace on the path; the messages of its snapshot go into *v. Returns the seq after
 * which messages are folded on top. */
static inline int64_t naive_anchor(struct naive_log *n, struct sv lane, int64_t upto,
                                   struct naive_view *v)
{
    for (int64_t i = upto; i >= 0; i--) {
        struct json        p = naive_json(n->entries.v[i].payload, n->a);
        const struct json *op = json_find(&p, "operation"), *c = json_find(op, "result_context");
        const struct json *list = json_find(c, "entries");
        int64_t            base;
        if (!sv_is(n->entries.v[i].kind, "ai_context_operation") ||
            !sv_is(json_text(op, "type"), "replace") || !list || !naive_on_path(n, lane, i, upto))
            continue;
        for (size_t k = list->n; k-- > 0;)
            naive_push(v, naive_message(&list->items[k], json_find(&list->items[k], "refs"), n->a),
                       n->a);
        v->prompt = json_text(c, "system_prompt");
        bool rebase = json_truth(json_find(json_find(op, "meta"), "rebase")) &&
                      json_int(json_find(op, "base_seq"), &base) && base < i;
        return rebase ? base : i;
    }
    return -1;
}

/* What project_write() must print. */
static inline struct sv naive_project(struct naive_log *n, struct sv thread, struct sv lane,
                                      int64_t upto, struct sv prompt)
{
    struct naive_view v = { .prompt = prompt };
    struct json       out = { .type = JSON_OBJECT };

    if (upto >= (int64_t)n->entries.n)
        upto = (int64_t)n->entries.n - 1;
    for (int64_t i = naive_anchor(n, lane, upto, &v) + 1; i <= upto; i++) {
        const struct entry *one = &n->entries.v[i];
        struct json         p = naive_json(one->payload, n->a), refs = naive_json(one->refs, n->a);
        if (sv_is(one->kind, "ai_message") && naive_is_sound(one, n->a) &&
            naive_on_path(n, lane, i, upto))
            naive_push(&v, naive_message(&p, &refs, n->a), n->a);
    }
    naive_put(&out, "thread", json_of(thread), n->a);
    naive_put(&out, "lane", json_of(lane), n->a);
    naive_put(&out, "at", json_of_int(upto, n->a), n->a);
    naive_put(&out, "system_prompt", v.prompt.s ? json_of(v.prompt) : (struct json){ 0 }, n->a);
    naive_put(&out, "messages",
              (struct json){ JSON_ARRAY, v.messages.n, { .items = v.messages.v } }, n->a);
    return json_canonical(&out, n->a);
}

/* All entries of a thread, in a transaction. */
static inline enum status naive_load(struct naive_log *n, struct store *s, struct sv thread,
                                     struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct entry                             one;
    bool                                     more = true;

    n->entries.n = 0;
    if (store_scan(s, &q, &scan, e))
        return e->code;
    for (;;) {
        if (store_next(scan, &one, &more, e))
            return e->code;
        if (!more)
            return ST_OK;
        *vec_push(&n->entries, n->a) = entry_dup(&one, n->a);
    }
}

/* ---- random logs --------------------------------------------------------------------------- */

struct dice {
    const uint8_t *bytes; /* NULL: from the seed */
    size_t         n, at;
    uint64_t       seed;
};

/* A number below `below`; 0 when the bytes are used up. */
static inline uint32_t roll(struct dice *d, uint32_t below)
{
    if (d->bytes)
        return d->at < d->n ? d->bytes[d->at++] % below : 0;
    d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(d->seed >> 33) % below;
}

/* Those with an f come into being by forks alone. */
static const char *const naive_lanes[] = { "default", "a", "f1", "f2", "f3", "f4", "f5", "f6" };

static inline struct sv some_lane(struct dice *d)
{
    return sv_of(naive_lanes[roll(d, COUNT(naive_lanes))]);
}

/* A lane to write to. */
static inline struct sv some_known_lane(struct log *l, struct sv thread, struct dice *d,
                                        struct arena *a)
{
    struct sv   name = some_lane(d);
    struct lane lane;
    struct err  e;
    bool        found = false;

    if (lane_find(l, thread, name, a, &lane, &found, &e) || (!found && name.s[0] == 'f'))
        return LANE_DEFAULT;
    return name;
}

/* clang-format off */
static const char *const some_contents[] = {
    "\"x\"", "\"\"", "null", "[]", "[{\"text\":\"p\",\"type\":\"text\"}]",
    "[{\"type\":\"image_url\",\"url\":\"u\"},{\"n\":1.50,\"type\":\"odd\"}]", "\"\\ud800 \\u0000 \\\" é\"",
};
static const char *const some_fields[] = {
    "", ",\"thinking\":\"h\"", ",\"thinking\":\"\"", ",\"reasoning_details\":[1]", ",\"reasoning_details\":null",
    ",\"tool_calls\":[{\"id\":\"t1\",\"name\":\"f\"}]", ",\"tool_calls\":7", ",\"name\":\"f\",\"tool_call_id\":\"t1\"",
    ",\"tool_call_id\":\"t1\"", ",\"name\":\"f\"", ",\"name\":7,\"tool_call_id\":\"t1\"", ",\"extra\":{\"k\":[]}",
    ",\"thinking\":\"h\",\"tool_calls\":[]",
};
static const char *const some_roles[] = { "user", "assistant", "tool", "user", "assistant", "system", "developer" };
static const char *const some_refs[] = { "{}", "{\"k\":\"v\"}", "{}" };
/* clang-format on */
#define PICK(d, table) (table)[roll((d), COUNT(table))]

/* {"content":…,"role":…, …} in canonical form. */
static inline struct sv some_message(struct dice *d, bool with_refs, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    const char *role = PICK(d, some_roles), *content = PICK(d, some_contents);
    const char *fields = PICK(d, some_fields);

    sb_addf(&b, "{\"role\":\"%s\",\"content\":%s%s", role, content, fields);
    if (with_refs)
        sb_addf(&b, ",\"refs\":%s", PICK(d, some_refs));
    sb_addc(&b, '}');
    struct json v = naive_json(sb_sv(&b), a);
    return json_canonical(&v, a);
}

static inline struct sv some_context(struct dice *d, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    uint32_t  n = roll(d, 4);

    sb_adds(&b, roll(d, 2) ? "{\"system_prompt\":\"P\",\"messages\":[" : "{\"messages\":[");
    sb_adds(&b, "{\"role\":\"user\",\"content\":\"first\"}"); /* so that no prompt is lifted */
    for (uint32_t i = 0; i < n; i++) {
        sb_addc(&b, ',');
        sb_add(&b, some_message(d, true, a));
    }
    sb_adds(&b, "]}");
    return sb_sv(&b);
}

/* An operation may be refused: a lane to fork exists, or does not. */
static inline enum status try_op(struct log *l, const struct op *op, struct arena *a, struct err *e)
{
    struct op_result r;
    enum status      s = op_apply_in(l, op, a, &r, e);

    return s == ST_CONFLICT || s == ST_NOT_FOUND ? ST_OK : s;
}

/* One random step on a thread, in a write transaction. */
static inline enum status random_step(struct log *l, struct sv thread, struct dice *d, int64_t i,
                                      struct arena *a, struct err *e)
{
    struct sb         id = sb_in(a, 0);
    struct entry      n = { .at = 1000 + i,
                            .kind = SV("ai_message"),
                            .lane = some_known_lane(l, thread, d, a) };
    struct op         op = { .thread = thread, .lane = n.lane, .at = 1000 + i };
    struct store_head h;
    uint32_t          what = roll(d, 12);

    sb_addf(&id, "op%lld", (long long)i);
    op.op_id = sb_sv(&id);
    if (store_head(l->store, thread, &h, e))
        return e->code;
    if (what < 6 || h.rev == 0) {
        n.payload = some_message(d, false, a);
        n.refs = sv_of(PICK(d, some_refs));
        if (roll(d, 16) == 15)
            n.lane = (struct sv){ 0 };
    } else if (what < 8) {
        op.type = OP_FORK;
        op.lane = some_lane(d);
        op.from = some_known_lane(l, thread, d, a);
        op.from_seq = (int64_t)roll(d, (uint32_t)h.rev + 1) - 1;
        op.also_switch = roll(d, 2);
        return try_op(l, &op, a, e);
    } else if (what < 10) {
        op.type = OP_REPLACE;
        op.context = some_context(d, a);
        op.reason = roll(d, 3) ? SV("manual") : SV("compaction");
        op.has_base_seq = roll(d, 2);
        op.base_seq = (int64_t)roll(d, (uint32_t)h.rev + 1) - 1;
        op.rebase = op.has_base_seq && roll(d, 2);
        return try_op(l, &op, a, e);
    } else if (what == 10) {
        op.type = OP_SWITCH;
        return try_op(l, &op, a, e);
    } else {
        n.kind = SV("note");
        n.payload = SV("{\"content\":\"no\",\"role\":\"user\"}");
    }
    return log_import(l, thread, &n, 1, &h, NULL, NULL, e); /* some of them are not sound */
}

#endif
