#include "thread/durable.h"

#include "base/map.h"
#include "base/vec.h"

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

/* The load_skill calls of an assistant message whose ids are in `wanted`, as a list;
 * absent when there are none. */
static struct sv calls_wanted(const struct message *m, const struct map *wanted, struct arena *a)
{
    struct json calls;
    struct err  ignored;
    struct sb   b = sb_in(a, 0);
    bool        any = false;

    if (!sv_is(m->role, "assistant") || !m->tool_calls.s ||
        json_parse(m->tool_calls, 0, a, &calls, &ignored))
        return (struct sv){ 0 };
    for (size_t i = 0; i < calls.n; i++) {
        const struct json *call = &calls.items[i];
        if (!sv_is(json_text(call, "name"), "load_skill") ||
            !map_has(wanted, json_canonical(&(struct json){ JSON_STRING,
                                                            json_text(call, "id").n,
                                                            { json_text(call, "id").s } },
                                            a)))
            continue;
        sb_addc(&b, any ? ',' : '[');
        any = true;
        json_write(&b, call);
    }
    sb_addc(&b, ']');
    return any ? sb_sv(&b) : (struct sv){ 0 };
}

static void note_calls(struct map *ids, struct sv calls_raw, struct arena *a)
{
    struct json calls;
    struct err  ignored;

    if (!calls_raw.s || json_parse(calls_raw, 0, a, &calls, &ignored))
        return;
    for (size_t i = 0; i < calls.n; i++) {
        struct json id = json_of(json_text(&calls.items[i], "id"));
        if (id.n)
            map_put(ids, json_canonical(&id, a), ids);
    }
}

struct context durable_keep(const struct context *current, const struct context *snapshot,
                            int64_t upto, struct arena *a)
{
    struct map wanted = map_in(a), called = map_in(a), in_snapshot = map_in(a), put = map_in(a);
    VEC(struct message) list = { 0 };

    for (size_t i = 0; i < current->n; i++)
        if (current->messages[i].seq <= upto && is_durable(&current->messages[i], a))
            map_put(&wanted, current->messages[i].tool_call_id,
                    (void *)(uintptr_t)&current->messages[i]);
    for (size_t i = 0; i < current->n && wanted.n; i++)
        note_calls(&called, calls_wanted(&current->messages[i], &wanted, a), a);
    for (size_t i = 0; i < snapshot->n; i++)
        note_calls(&in_snapshot, calls_wanted(&snapshot->messages[i], &called, a), a);

    /* Calls the snapshot no longer has come first, each with its results behind it. */
    for (size_t i = 0; i < current->n && wanted.n; i++) {
        const struct message *m = &current->messages[i];
        struct sv             calls = calls_wanted(m, &wanted, a);
        struct map            here = map_in(a);
        note_calls(&here, calls, a);
        for (size_t k = 0; k < here.n; k++)
            if (map_has(&in_snapshot, here.items[k].key))
                calls = (struct sv){ 0 }; /* the snapshot keeps this turn itself */
        if (!calls.s)
            continue;
        struct message *kept = vec_push(&list, a);
        *kept = *m;
        kept->tool_calls = calls;
        for (size_t k = 0; k < here.n; k++) {
            *vec_push(&list, a) = *(const struct message *)map_find(&wanted, here.items[k].key);
            map_put(&put, here.items[k].key, &put);
        }
    }
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct message *m = &snapshot->messages[i];
        if (sv_is(m->role, "tool") && m->tool_call_id.s && map_has(&called, m->tool_call_id))
            continue; /* the original stands in its place */
        *vec_push(&list, a) = *m;
        struct map here = map_in(a);
        note_calls(&here, calls_wanted(m, &called, a), a);
        for (size_t k = 0; k < here.n; k++)
            if (!map_has(&put, here.items[k].key))
                *vec_push(&list, a) = *(const struct message *)map_find(&wanted, here.items[k].key);
    }
    struct context out = *snapshot;
    out.messages = list.v;
    out.n = list.n;
    return out;
}
