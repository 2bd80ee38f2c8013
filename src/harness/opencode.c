/* Sessions of opencode. A record is a message with its parts, as database.c puts them together:
 *
 *     {"also":ID,"before":ID,"before_also":ID,"info":{…},"parts":[{…}]}
 *
 * before: the message before it in the session; also: the message that a fork copied. The first
 * record of a session is {"session":{…}}. A part is text, reasoning, a tool with its input and
 * output, a file, or a step of the program. A compaction is an answer with `summary`. */
#include "harness/blocks.h"
#include "harness/harness_internal.h"

static bool identify(const struct json *r, struct arena *a, struct harness_identity *out)
{
    const struct json *s = json_find(r, "session");
    struct sv          parent = json_text(s, "parent"), fork = json_text(s, "forked_from");

    out->session = sv_dup(json_text(s, "id"), a);
    out->is_agent = parent.n > 0;
    if (parent.n || fork.n)
        out->parent = sv_dup(parent.n ? parent : fork, a);
    return true;
}

static void read_session(struct harness_reading *x, const struct json *s)
{
    struct sv title = json_text(s, "title"), parent = json_text(s, "parent");

    if (title.n && !sv_starts(title, SV("New session - ")) &&
        !sv_starts(title, SV("Child session - ")))
        harness_text_set(&x->state->title, title);
    if (json_text(s, "directory").n)
        x->state->cwd = sv_dup(json_text(s, "directory"), x->kept);
    harness_text_set(&x->state->version, json_text(s, "version"));
    harness_text_set(&x->state->parent, parent.n ? parent : json_text(s, "forked_from"));
    x->state->is_agent = parent.n > 0;
    x->state->seen = json_number(s, "updated");
    if (!x->state->first)
        x->state->first = json_number(s, "created");
}

/* ---- parts --------------------------------------------------------------------------------- */

static bool is_part(const struct json *p, const char *type)
{
    return sv_is(json_text(p, "type"), type);
}

static void put_text(struct jw *w, const char *type, const char *member, struct sv text)
{
    jw_open(w, '{');
    jw_kstr(w, member, text);
    jw_kstr(w, "type", sv_of(type));
    jw_close(w, '}');
}

/* A file whose bytes are in its URL; others are only named. */
static void put_file(struct jw *w, const struct json *p)
{
    struct sv url = json_text(p, "url");

    if (sv_starts(json_text(p, "mime"), SV("image/")) && sv_starts(url, SV("data:"))) {
        put_text(w, "image_url", "image_url", url);
        return;
    }
    jw_open(w, '{');
    jw_kstr(w, "filename", json_text(p, "filename"));
    jw_kstr(w, "mime", json_text(p, "mime"));
    jw_kstr(w, "type", SV("file"));
    jw_kstr(w, "url", url);
    jw_close(w, '}');
}

/* Texts, thoughts and files of a message as its content; *n is how many there are. */
static struct sv content_of(const struct json *parts, struct arena *a, size_t *n)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    *n = 0;
    jw_open(&w, '[');
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++) {
        const struct json *p = &parts->items[i];
        struct sv          text = json_text(p, "text");
        bool               is_text = is_part(p, "text") && text.s;
        bool               is_thought = is_part(p, "reasoning") && text.n;
        if (is_text)
            put_text(&w, "text", "text", text);
        else if (is_thought)
            put_text(&w, "thinking", "thinking", text);
        else if (is_part(p, "file"))
            put_file(&w, p);
        *n += is_text || is_thought || is_part(p, "file");
    }
    jw_close(&w, ']');
    return sb_sv(&b);
}

static struct sv calls_of(const struct json *parts, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);
    bool      any = false;

    jw_open(&w, '[');
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++) {
        const struct json *p = &parts->items[i], *input = json_find(json_find(p, "state"), "input");
        if (!is_part(p, "tool") || !json_text(p, "callID").n)
            continue;
        any = true;
        jw_open(&w, '{');
        jw_key(&w, "arguments");
        if (json_is(input, JSON_OBJECT))
            jw_json(&w, input);
        else
            jw_raw(&w, SV("{}"));
        jw_kstr(&w, "id", json_text(p, "callID"));
        jw_kstr(&w, "name", json_text(p, "tool"));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    return any ? sb_sv(&b) : (struct sv){ 0 };
}

/* A part without what the entries say: its text, the input and output of a tool. */
static void put_rest(struct jw *w, const struct json *p)
{
    static const char *const said[] = { "input", "output", "error" };

    jw_open(w, '{');
    for (size_t i = 0; i < p->n; i++) {
        const struct json_member *m = &p->members[i];
        if (sv_is(m->key, "text") || (is_part(p, "file") && sv_is(m->key, "url")))
            continue;
        jw_key_sv(w, m->key);
        if (!sv_is(m->key, "state")) {
            jw_json(w, &m->value);
            continue;
        }
        jw_open(w, '{');
        for (size_t k = 0; json_is(&m->value, JSON_OBJECT) && k < m->value.n; k++) {
            bool known = false;
            for (size_t j = 0; j < COUNT(said); j++)
                known = known || sv_is(m->value.members[k].key, said[j]);
            if (known)
                continue;
            jw_key_sv(w, m->value.members[k].key);
            jw_json(w, &m->value.members[k].value);
        }
        jw_close(w, '}');
    }
    jw_close(w, '}');
}

static struct sv record_of(const struct json *r, struct arena *a)
{
    const struct json *parts = json_find(r, "parts");
    struct sb          b = sb_in(a, 0);
    struct jw          w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "info");
    jw_json(&w, json_find(r, "info"));
    jw_key(&w, "parts");
    jw_open(&w, '[');
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++)
        if (json_is(&parts->items[i], JSON_OBJECT))
            put_rest(&w, &parts->items[i]);
    jw_close(&w, ']');
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- messages ------------------------------------------------------------------------------ */

static struct harness_item *add(struct harness_reading *x, const struct json *r,
                                enum harness_item_kind kind)
{
    const struct json   *info = json_find(r, "info");
    struct harness_item *item = harness_item_add(x, kind, HARNESS_ROOT, json_text(info, "id"));

    if (json_text(r, "before").n) {
        item->link = HARNESS_PARENT;
        item->parent = json_text(r, "before");
        item->parent_also = json_text(r, "before_also");
    }
    item->id = item->key;
    item->also = json_text(r, "also");
    item->at = json_number(json_find(info, "time"), "created");
    item->record = record_of(r, x->a);
    return item;
}

static struct harness_usage usage_of(const struct json *info)
{
    const struct json   *t = json_find(info, "tokens"), *cache = json_find(t, "cache");
    struct harness_usage u = { .input = json_number(t, "input"),
                               .output = json_number(t, "output") + json_number(t, "reasoning"),
                               .reasoning = json_number(t, "reasoning"),
                               .cache_read = json_number(cache, "read"),
                               .cache_write = json_number(cache, "write") };

    u.priced = harness_dollars(json_find(info, "cost"), &u.cost);
    return u;
}

static void add_result(struct harness_reading *x, const struct json *p, int64_t at)
{
    const struct json   *state = json_find(p, "state");
    struct sv            status = json_text(state, "status");
    const struct json   *said = json_find(state, sv_is(status, "error") ? "error" : "output");
    struct harness_item *item;

    if (!is_part(p, "tool") || !json_text(p, "callID").n || !json_is(said, JSON_STRING))
        return;
    item = harness_item_add(x, HARNESS_MESSAGE, HARNESS_NEXT, (struct sv){ 0 });
    item->role = "tool";
    item->id = json_text(p, "id");
    item->at = at;
    item->tool_call_id = json_text(p, "callID");
    item->name = item->author = json_text(p, "tool");
    item->failed = sv_is(status, "error");
    item->content = json_canonical(said, x->a);
}

/* The context begins with the question for a summary, and the summary. */
static void set_summary(struct harness_reading *x, const struct json *r, struct harness_item *item)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);
    size_t    n;

    jw_open(&w, '[');
    jw_open(&w, '{');
    jw_kstr(&w, "content", SV("What did we do so far?"));
    jw_kstr(&w, "role", SV("user"));
    jw_close(&w, '}');
    jw_open(&w, '{');
    jw_key(&w, "content");
    jw_raw(&w, content_of(json_find(r, "parts"), x->a, &n));
    jw_kstr(&w, "role", SV("assistant"));
    jw_close(&w, '}');
    jw_close(&w, ']');
    item->messages = sb_sv(&b);
}

/* Sub-agents are sessions that a call names. */
static void note_agents(struct harness_reading *x, const struct json *parts, struct sv id)
{
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++) {
        const struct json *meta = json_find(json_find(&parts->items[i], "state"), "metadata");
        if (is_part(&parts->items[i], "tool") && json_text(meta, "sessionId").n)
            harness_call_add(x->state, json_text(meta, "sessionId"), id);
    }
}

static void read_answer(struct harness_reading *x, const struct json *r, const struct json *info)
{
    const struct json   *parts = json_find(r, "parts");
    bool                 copied = json_text(r, "also").n && harness_knows(x, json_text(r, "also"));
    struct harness_item *item;
    size_t               n;

    struct sv content = content_of(parts, x->a, &n), calls = calls_of(parts, x->a);
    bool      is_summary = json_truth(json_find(info, "summary"));
    item = add(x, r, is_summary ? HARNESS_COMPACTION : HARNESS_MESSAGE);
    item->model = item->author = json_text(info, "modelID");
    item->usage = usage_of(info);
    item->has_usage = true;
    if (is_summary) {
        set_summary(x, r, item);
        return;
    }
    if (!n && !calls.s)
        item->kind = HARNESS_KEPT; /* an answer that was aborted before its first part */
    item->role = "assistant";
    item->content = content;
    item->tool_calls = calls;
    note_agents(x, parts, json_text(info, "id"));
    int64_t at = item->at;
    for (size_t i = 0; !copied && json_is(parts, JSON_ARRAY) && i < parts->n; i++)
        add_result(x, &parts->items[i], at);
    harness_number_items(x, json_text(info, "id"));
}

static void read_user(struct harness_reading *x, const struct json *r)
{
    const struct json   *parts = json_find(r, "parts");
    struct harness_item *item;
    bool                 asks_summary = false;
    size_t               n;

    struct sv content = content_of(parts, x->a, &n);
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++)
        asks_summary = asks_summary || is_part(&parts->items[i], "compaction");
    item = add(x, r, n && !asks_summary ? HARNESS_MESSAGE : HARNESS_KEPT);
    item->role = "user";
    item->content = content;
    item->is_turn = item->kind == HARNESS_MESSAGE;
    item->prompt = harness_asked_text(parts);
}

static void read(struct harness_reading *x, const struct json *r)
{
    const struct json *session = json_find(r, "session"), *info = json_find(r, "info");
    struct sv          role = json_text(info, "role");

    if (session) {
        read_session(x, session);
    } else if (!json_text(info, "id").n) {
        harness_note(x->report, x->state->number, "records of an unknown form: kept");
        harness_keep_loose(x, r);
    } else if (sv_is(role, "user")) {
        read_user(x, r);
    } else if (sv_is(role, "assistant")) {
        read_answer(x, r, info);
    } else {
        harness_note(x->report, x->state->number, "messages of role '%.40s': kept, not shown",
                     sv_cstr(role.s ? role : SV("none"), x->a));
        add(x, r, HARNESS_KEPT);
    }
}

const struct harness_format harness_opencode = {
    .harness = HARNESS_OPENCODE,
    .identify = identify,
    .read = read,
};
