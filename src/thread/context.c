/* Reading a context from outside, and the form in which it is stored. */
#include "thread/context.h"

static enum status bad(struct err *e, const char *what)
{
    err_set(e, ST_INVALID_SYNTAX, "not a context: %s", what);
    return err_hint(e, "give {\"system_prompt\":…,\"messages\":[…]} or "
                       "{\"id\":…,\"system_prompt\":…,\"entries\":[…]}");
}

/* [{"thinking":T,"type":"thinking"}, …] with nothing else in the first part: T, and the rest as the
 * content (a lone text part as its text). A part with more members, such as a signature, stays in
 * the content. */
static void lift_thinking(struct json *m, struct arena *a)
{
    struct json *content = (struct json *)(uintptr_t)json_find(m, "content");

    if (!json_is(content, JSON_ARRAY) || !content->n || json_text(m, "thinking").n)
        return;
    const struct json *first = &content->items[0];
    if (!sv_is(json_text(first, "type"), "thinking") || !json_text(first, "thinking").n ||
        first->n != 2)
        return;
    struct json_member *more = ARENA_NEW(a, struct json_member, m->n + 1);
    const struct json  *second = content->n == 2 ? &content->items[1] : NULL;
    struct json         rest = { JSON_ARRAY, content->n - 1, { .items = content->items + 1 } };
    if (second && second->n == 2 && sv_is(json_text(second, "type"), "text") &&
        json_text(second, "text").s)
        rest = *json_find(second, "text");
    size_t n = 0;
    more[n++] = (struct json_member){ SV("thinking"), *json_find(first, "thinking") };
    *content = rest;
    for (size_t i = 0; i < m->n; i++)
        if (!sv_is(m->members[i].key, "thinking")) /* null, or not usable as thinking */
            more[n++] = m->members[i];
    m->members = more;
    m->n = n;
}

static enum status read_message(struct json *v, struct arena *a, struct message *out, struct err *e)
{
    if (v->type != JSON_OBJECT)
        return bad(e, "a message is not an object");
    if (!json_text(v, "role").n)
        return bad(e, "a message has no role");
    const struct json *content = json_find(v, "content");
    if (content && content->type != JSON_STRING && content->type != JSON_ARRAY &&
        content->type != JSON_NULL)
        return bad(e, "content must be text, a list of parts, or null");
    lift_thinking(v, a);
    *out = message_of_json(json_canonical(v, a));
    return ST_OK;
}

static enum status read_prompt(const struct json *doc, struct context *c, struct err *e)
{
    const struct json *prompt = json_find(doc, "system_prompt");

    if (prompt && prompt->type != JSON_STRING && prompt->type != JSON_NULL)
        return bad(e, "system_prompt must be text or null");
    c->system_prompt = json_sv(prompt);
    return ST_OK;
}

/* A leading system message becomes the prompt when none is given. */
static void adopt_system(struct context *c, const struct json *list, struct arena *a)
{
    if (c->system_prompt.s || !c->n || !sv_is(c->messages[0].role, "system"))
        return;
    struct sv text = json_text(&list->items[0], "content");
    if (!text.s)
        return;
    c->system_prompt = sv_dup(text, a);
    c->messages++;
    c->n--;
}

enum status context_read(struct sv text, struct arena *a, struct context *out, struct err *e)
{
    struct json        doc;
    struct context     c = { 0 };
    const struct json *messages, *entries, *list;

    if (json_parse(text, 0, a, &doc, e))
        return err_code(e);
    messages = json_find(&doc, "messages");
    entries = json_find(&doc, "entries");
    list = messages ? messages : entries;
    if (doc.type != JSON_OBJECT || !json_is(list, JSON_ARRAY) || (messages && entries))
        return bad(e, "one list of messages or entries is needed");
    if (entries && !json_text(&doc, "id").n)
        return bad(e, "the stored form needs an id");
    if (read_prompt(&doc, &c, e))
        return err_code(e);
    c.id = json_text(&doc, "id");
    c.n = list->n;
    c.messages = ARENA_NEW(a, struct message, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        if (read_message(&list->items[entries ? list->n - 1 - i : i], a, &c.messages[i], e))
            return err_in(e, "message %zu", i);
    if (messages)
        adopt_system(&c, list, a);
    *out = c;
    return ST_OK;
}

struct sv context_stored(const struct context *c, struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "{\"entries\":[");
    for (size_t i = c->n; i-- > 0;) {
        message_write_stored(&b, &c->messages[i]);
        sb_adds(&b, i ? "," : "");
    }
    sb_adds(&b, "],\"id\":");
    sb_add_json_string(&b, c->id.n ? c->id : id);
    sb_adds(&b, ",\"system_prompt\":");
    if (c->system_prompt.s)
        sb_add_json_string(&b, c->system_prompt);
    else
        sb_adds(&b, "null");
    sb_addc(&b, '}');
    return sb_sv(&b);
}

struct sv context_id(struct sv lane, struct arena *a)
{
    struct hash h = hash_blake2b(&lane, 1);

    return sv_first(hash_hex(&h, a), 16);
}
