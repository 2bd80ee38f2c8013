/* Records from entries: the inverse of what the formats do with messages.
 *
 * A record became one entry or several (results of several calls in one record). The last of them
 * holds the record; those before it only their blocks, which wait in `struct harness_joining`. */
#include "harness/join.h"

#include "harness/blocks.h"

static const struct json *harness_of(const struct json *payload)
{
    const struct json *own = json_find(payload, "harness");
    const struct json *meta = json_find(json_find(payload, "operation"), "meta");

    return own ? own : json_find(meta, "harness");
}

bool harness_origin(const struct json *payload, struct harness_origin *out)
{
    const struct json *o = harness_of(payload);

    if (!json_is(o, JSON_OBJECT))
        return false;
    *out = (struct harness_origin){ .name = json_text(o, "name"),
                                    .session = json_text(o, "session"),
                                    .part = json_text(o, "part"),
                                    .model = json_text(o, "model"),
                                    .line = json_text(o, "line"),
                                    .record = json_find(o, "record"),
                                    .more = json_find(o, "more") };
    return true;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* A call under the names of the format. */
static void put_call(struct jw *w, const struct json *call, const struct harness_calls *form)
{
    jw_open(w, '{');
    for (size_t i = 0; i < call->n; i++) {
        bool arguments = sv_is(call->members[i].key, "arguments");
        jw_key_sv(w, arguments ? sv_of(form->arguments) : call->members[i].key);
        jw_json(w, &call->members[i].value);
    }
    jw_kstr(w, "type", sv_of(form->type));
    jw_close(w, '}');
}

/* A picture of pi has heddle's name for its type in the entry: see harness_parts(). */
static void put_block(struct jw *w, const struct json *b, enum harness to)
{
    if (to != HARNESS_PI || b->type != JSON_OBJECT || b->n != 3 ||
        !sv_is(json_text(b, "type"), "image") || !json_text(b, "media_type").s) {
        jw_json(w, b);
        return;
    }
    jw_open(w, '{');
    jw_kstr(w, "data", json_text(b, "data"));
    jw_kstr(w, "mimeType", json_text(b, "media_type"));
    jw_kstr(w, "type", SV("image"));
    jw_close(w, '}');
}

static void put_content(struct jw *w, const struct json *content, enum harness to)
{
    if (content->type != JSON_ARRAY) {
        jw_json(w, content);
        return;
    }
    jw_open(w, '[');
    for (size_t i = 0; i < content->n; i++)
        put_block(w, &content->items[i], to);
    jw_close(w, ']');
}

static const struct json *item_at(const struct json *list, size_t i)
{
    return json_is(list, JSON_ARRAY) && i < list->n ? &list->items[i] : NULL;
}

/* Content and calls in their order: as `order` says, else calls last. */
static void put_blocks(struct jw *w, const struct json *content, const struct json *calls,
                       struct sv order, const struct harness_calls *form)
{
    size_t c = 0, t = 0;

    jw_open(w, '[');
    for (size_t i = 0; i < order.n; i++) {
        const struct json *x =
            item_at(order.s[i] == 't' ? calls : content, order.s[i] == 't' ? t++ : c++);
        if (x && order.s[i] == 't')
            put_call(w, x, form);
        else if (x)
            jw_json(w, x);
    }
    for (const struct json *x; (x = item_at(content, c)); c++)
        jw_json(w, x);
    for (const struct json *x; (x = item_at(calls, t)); t++)
        put_call(w, x, form);
    jw_close(w, ']');
}

/* {"type":"tool_result","tool_use_id":…,"content":…, …} */
static void put_result(struct jw *w, const struct json *payload, const struct json *rest)
{
    const struct json *content = json_find(payload, "content");

    jw_open(w, '{');
    if (content) {
        jw_key(w, "content");
        jw_json(w, content);
    }
    jw_kstr(w, "tool_use_id", json_text(payload, "tool_call_id"));
    jw_kstr(w, "type", SV("tool_result"));
    for (size_t i = 0; json_is(rest, JSON_OBJECT) && i < rest->n; i++) {
        jw_key_sv(w, rest->members[i].key);
        jw_json(w, &rest->members[i].value);
    }
    jw_close(w, '}');
}

/* The blocks of one entry of a record that became several. */
static void add_part(struct harness_joining *j, const struct json *payload, const struct json *more)
{
    const struct json *content = json_find(payload, "content");
    struct jw          w = jw_in(&j->waiting, 0);

    if (sv_is(json_text(payload, "role"), "tool")) {
        sb_adds(&j->waiting, j->waiting.n ? "," : "");
        put_result(&w, payload, json_find(more, "block"));
        return;
    }
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        sb_adds(&j->waiting, j->waiting.n ? "," : "");
        w = jw_in(&j->waiting, 0);
        jw_json(&w, &content->items[i]);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

/* The content that a record of Claude Code or pi has in its message; absent: none. */
static struct sv content_of(struct harness_joining *j, const struct json *payload,
                            const struct harness_origin *o, struct arena *a)
{
    const struct json *content = json_find(payload, "content");
    const struct json *calls = json_find(payload, "tool_calls");
    const struct json *snapshot =
        json_find(json_find(json_find(payload, "operation"), "result_context"), "messages");
    bool      claude = j->to == HARNESS_CLAUDE_CODE;
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    if (snapshot)
        content = json_find(item_at(snapshot, 0), "content");
    if (json_find(o->more, "part") || (claude && sv_is(json_text(payload, "role"), "tool"))) {
        add_part(j, payload, o->more);
        sb_addc(&b, '[');
        sb_add(&b, sb_sv(&j->waiting));
        sb_addc(&b, ']');
        j->waiting.n = 0;
        return sb_sv(&b);
    }
    if (calls)
        put_blocks(&w, content, calls, json_text(o->more, "order"),
                   claude ? &harness_anthropic_calls : &harness_pi_calls);
    else if (content)
        put_content(&w, content, j->to);
    return b.n ? sb_sv(&b) : (struct sv){ 0 };
}

static void put_message(struct jw *w, const struct json *m, struct sv content)
{
    jw_open(w, '{');
    if (content.s) {
        jw_key(w, "content");
        jw_raw(w, content);
    }
    for (size_t i = 0; i < m->n; i++) {
        jw_key_sv(w, m->members[i].key);
        jw_json(w, &m->members[i].value);
    }
    jw_close(w, '}');
}

/* Was the content of this record moved to the entry? */
static bool has_hole(const struct json *payload, const struct harness_origin *o)
{
    const struct json *m = json_find(o->record, "message");
    bool snapshot = json_find(payload, "operation") && m; /* pi's compactions have no message */

    return (json_find(payload, "role") || snapshot) && json_is(m, JSON_OBJECT) &&
           !json_truth(json_find(o->more, "whole"));
}

static bool is_without(const struct json *names, struct sv name)
{
    for (size_t i = 0; json_is(names, JSON_ARRAY) && i < names->n; i++)
        if (sv_eq(json_sv(&names->items[i]), name))
            return true;
    return false;
}

/* Writes a member whose value differs from the stored record. False: it does not differ. */
static bool put_other(struct jw *w, const struct harness_joining *j, struct sv name)
{
    const struct json *changed = json_find_sv(j->changed, name);

    for (size_t i = 0; i < COUNT(j->instead); i++)
        if (j->instead[i].name && sv_is(name, j->instead[i].name)) {
            jw_raw(w, j->instead[i].json);
            return true;
        }
    if (changed)
        jw_json(w, changed);
    return changed != NULL;
}

static void put_record(struct jw *w, const struct harness_joining *j, const struct json *record,
                       struct sv content, bool hole)
{
    jw_open(w, '{');
    for (size_t i = 0; i < record->n; i++) {
        const struct json_member *m = &record->members[i];
        if (is_without(j->without, m->key))
            continue;
        jw_key_sv(w, m->key);
        if (hole && sv_is(m->key, "message"))
            put_message(w, &m->value, content);
        else if (!put_other(w, j, m->key))
            jw_json(w, &m->value);
    }
    for (size_t i = 0; j->changed && i < j->changed->n; i++) {
        const struct json_member *m = &j->changed->members[i];
        if (json_find_sv(record, m->key))
            continue;
        jw_key_sv(w, m->key);
        jw_json(w, &m->value);
    }
    jw_close(w, '}');
}

bool harness_join(struct harness_joining *j, const struct json *payload, struct arena *a,
                  struct sv *out)
{
    struct harness_origin o;
    struct sb             b = sb_in(a, 0);
    struct jw             w = jw_in(&b, 0);

    if (!harness_origin(payload, &o) || !sv_is(o.name, harness_name(j->to)))
        return false;
    if (o.line.s) {
        *out = o.line;
        return true;
    }
    if (!json_is(o.record, JSON_OBJECT)) {
        if (json_find(o.more, "part"))
            add_part(j, payload, o.more);
        return false;
    }
    bool      hole = has_hole(payload, &o);
    struct sv content = hole ? content_of(j, payload, &o, a) : (struct sv){ 0 };
    put_record(&w, j, o.record, content, hole);
    *out = sb_sv(&b);
    return true;
}
