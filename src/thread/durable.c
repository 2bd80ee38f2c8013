/* Keeping the output of durable skills when a context is replaced. */
#include "thread/durable.h"

#include "base/map.h"
#include "base/vec.h"

/* Everything is found by the raw JSON text of a call's id. */
struct keeping {
    struct arena *a;
    int64_t       upto;
    struct map    results; /* id → durable result of the current context */
    struct map    called;  /* those of them that an assistant message really called */
    struct map    again;   /* those of them that the snapshot calls itself */
    VEC(struct message) list;
};

static bool is_durable(const struct message *m, struct arena *a)
{
    struct json refs;
    struct err  ignored;

    if (!sv_is(m->role, "tool") || !sv_is(m->name, "\"load_skill\"") || !m->tool_call_id.s ||
        !m->refs.s || json_parse(m->refs, 0, a, &refs, &ignored))
        return false;
    return json_truth(json_find(&refs, "durable")) &&
           sv_is(json_text(&refs, "kind"), "skill_activation") && json_text(&refs, "skill_name").s;
}

/* Those load_skill calls of an assistant message whose ids are in `wanted` and not in `but`: as
 * a JSON list in *calls (absent when there are none), their ids as the keys of what is returned. */
static struct map calls_of(const struct message *m, const struct map *wanted, const struct map *but,
                           struct sv *calls, struct arena *a)
{
    struct map  ids = map_in(a);
    struct json list;
    struct err  ignored;
    struct sb   b = sb_in(a, 0);

    *calls = (struct sv){ 0 };
    if (!sv_is(m->role, "assistant") || !m->tool_calls.s ||
        json_parse(m->tool_calls, 0, a, &list, &ignored))
        return ids;
    for (size_t i = 0; i < list.n; i++) {
        const struct json *id = json_find(&list.items[i], "id");
        if (!sv_is(json_text(&list.items[i], "name"), "load_skill") || !json_is(id, JSON_STRING))
            continue;
        struct sv key = json_canonical(id, a);
        if (!map_has(wanted, key) || (but && map_has(but, key)))
            continue;
        sb_addc(&b, ids.n ? ',' : '[');
        json_write(&b, &list.items[i]);
        map_put(&ids, key, map_find(wanted, key));
    }
    sb_addc(&b, ']');
    if (ids.n)
        *calls = sb_sv(&b);
    return ids;
}

static void note_all(struct map *into, const struct map *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        map_put(into, ids->items[i].key, ids->items[i].value);
}

/* Find which results are durable, which messages called them, and which of these calls the snapshot
 * contains. */
static void find_durable(struct keeping *k, const struct context *current,
                         const struct context *snapshot)
{
    struct sv calls;

    for (size_t i = 0; i < current->n; i++)
        if (is_durable(&current->messages[i], k->a))
            map_put(&k->results, current->messages[i].tool_call_id,
                    (void *)(uintptr_t)&current->messages[i]);
    for (size_t i = 0; i < current->n && k->results.n; i++) {
        struct map ids = map_in(k->a);
        if (current->messages[i].seq <= k->upto)
            ids = calls_of(&current->messages[i], &k->results, NULL, &calls, k->a);
        note_all(&k->called, &ids);
    }
    for (size_t i = 0; i < snapshot->n && k->called.n; i++) {
        struct map ids = calls_of(&snapshot->messages[i], &k->called, NULL, &calls, k->a);
        note_all(&k->again, &ids);
    }
}

static void add_results(struct keeping *k, const struct map *ids)
{
    for (size_t i = 0; i < ids->n; i++) {
        const struct message *result = ids->items[i].value;
        if (result->seq <= k->upto) /* else it is folded on top of the snapshot */
            *vec_push(&k->list, k->a) = *result;
    }
}

struct context durable_keep(const struct context *current, const struct context *snapshot,
                            int64_t upto, struct arena *a)
{
    struct keeping k = { a, upto, map_in(a), map_in(a), map_in(a), { 0 } };
    struct context out = *snapshot;
    struct sv      calls;

    find_durable(&k, current, snapshot);
    if (!k.called.n)
        return out;
    /* Calls the snapshot no longer has come first, each turn with its results behind it. */
    for (size_t i = 0; i < current->n; i++) {
        struct message m = current->messages[i];
        if (m.seq > upto)
            continue;
        struct map ids = calls_of(&m, &k.called, &k.again, &calls, a);
        if (!ids.n)
            continue;
        m.tool_calls = calls;
        m.whole = (struct sv){ 0 }; /* it would hold the other calls */
        *vec_push(&k.list, a) = m;
        add_results(&k, &ids);
        note_all(&k.again, &ids); /* a call is kept once */
    }
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct message *m = &snapshot->messages[i];
        if (sv_is(m->role, "tool") && m->tool_call_id.s && map_has(&k.called, m->tool_call_id))
            continue; /* the original stands in its place */
        *vec_push(&k.list, a) = *m;
        struct map ids = calls_of(m, &k.called, NULL, &calls, a);
        add_results(&k, &ids);
    }
    out.messages = k.list.v;
    out.n = k.list.n;
    return out;
}
