/* Sessions of Gemini CLI: JSON Lines. A header with the session's id, messages with ids, of which
 * the last with an id counts (calls are added to an answer when they were made), {"$set":{…}} for
 * what changed of the header, and {"$rewindTo":ID}. {"$set":{"messages":[…]}} replaces the whole
 * conversation: by the same messages when a session is resumed, by a summary with a new id after a
 * compression. */
#include "harness/blocks.h"
#include "harness/harness_internal.h"

#include "base/clock.h"

static bool identify(const struct json *r, struct arena *a, struct harness_identity *out)
{
    struct sv id = json_text(r, "sessionId");

    if (!id.n)
        return false;
    out->session = sv_dup(id, a);
    out->is_agent = sv_is(json_text(r, "kind"), "subagent");
    return true;
}

/* ---- parts --------------------------------------------------------------------------------- */

static void put_text(struct jw *w, const char *type, struct sv text)
{
    jw_open(w, '{');
    jw_kstr(w, sv_is(sv_of(type), "thinking") ? "thinking" : "text", text);
    jw_kstr(w, "type", sv_of(type));
    jw_close(w, '}');
}

/* One part of Gemini's API as a part of heddle. A call or a result is not a part. */
static void put_part(struct jw *w, const struct json *p)
{
    const struct json *data = json_find(p, "inlineData");

    if (json_is(json_find(p, "text"), JSON_STRING)) {
        put_text(w, json_truth(json_find(p, "thought")) ? "thinking" : "text",
                 json_text(p, "text"));
    } else if (json_text(data, "data").s) {
        jw_open(w, '{');
        jw_kstr(w, "data", json_text(data, "data"));
        jw_kstr(w, "media_type", json_text(data, "mimeType"));
        jw_kstr(w, "type", SV("image"));
        jw_close(w, '}');
    } else if (json_is(p, JSON_STRING)) {
        put_text(w, "text", json_sv(p));
    } else if (!json_find(p, "functionCall") && !json_find(p, "functionResponse")) {
        jw_json(w, p);
    }
}

/* Text, or a list of parts; *n is how many there are besides calls and results. */
static struct sv parts_of(const struct json *content, struct arena *a, size_t *n)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    *n = json_sv(content).n > 0;
    if (!json_is(content, JSON_ARRAY))
        return content ? json_canonical(content, a) : SV("\"\"");
    jw_open(&w, '[');
    for (size_t i = 0; i < content->n; i++) {
        const struct json *p = &content->items[i];
        *n += !json_find(p, "functionCall") && !json_find(p, "functionResponse");
        put_part(&w, p);
    }
    jw_close(&w, ']');
    return sb_sv(&b);
}

/* "subject\ndescription", one behind the other. */
static struct sv thinking_of(const struct json *thoughts, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; json_is(thoughts, JSON_ARRAY) && i < thoughts->n; i++) {
        struct sv subject = json_text(&thoughts->items[i], "subject");
        sb_adds(&b, b.n ? "\n\n" : "");
        sb_add(&b, subject);
        sb_adds(&b, subject.n ? "\n" : "");
        sb_add(&b, json_text(&thoughts->items[i], "description"));
    }
    return b.n ? sb_sv(&b) : (struct sv){ 0 };
}

/* ---- items --------------------------------------------------------------------------------- */

static struct sv suffixed(struct sv key, const char *suffix, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key);
    sb_adds(&b, suffix);
    return sb_sv(&b);
}

static int64_t time_of(const struct json *r)
{
    int64_t at;

    return clock_parse_iso(json_text(r, "timestamp"), &at) ? at : 0;
}

/* The first item after a rewind follows what the message that was rewound to followed. */
static struct harness_item *add(struct harness_reading *x, const struct json *r,
                                enum harness_item_kind kind, struct sv key)
{
    struct sv            origin = sv_dup(harness_text_sv(&x->state->origin), x->a);
    struct harness_item *item = harness_item_add(x, kind, HARNESS_NEXT, key);

    if (origin.n) {
        item->link = sv_is(origin, "-") ? HARNESS_ROOT : HARNESS_PARENT;
        item->parent = origin;
        harness_text_set(&x->state->origin, SV(""));
    }
    item->at = time_of(r);
    return item;
}

static struct harness_item *keep_loose(struct harness_reading *x, const struct json *r,
                                       struct sv key)
{
    struct harness_item *item = harness_item_add(x, HARNESS_KEPT, HARNESS_LOOSE, key);

    item->at = time_of(r);
    item->record = json_canonical(r, x->a);
    return item;
}

/* ---- tools --------------------------------------------------------------------------------- */

static void add_call(struct harness_reading *x, const struct json *r, const struct json *call)
{
    struct sv            key = suffixed(json_text(call, "id"), ":call", x->a);
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);
    struct harness_item *item;
    const struct json   *args = json_find(call, "args");

    if (!json_text(call, "id").n || harness_knows(x, key))
        return;
    jw_open(&w, '[');
    jw_open(&w, '{');
    jw_key(&w, "arguments");
    if (args)
        jw_json(&w, args);
    else
        jw_raw(&w, SV("{}"));
    jw_kstr(&w, "id", json_text(call, "id"));
    jw_kstr(&w, "name", json_text(call, "name"));
    jw_close(&w, '}');
    jw_close(&w, ']');
    item = add(x, r, HARNESS_MESSAGE, key);
    item->role = "assistant";
    item->content = SV("\"\"");
    item->tool_calls = sb_sv(&b);
    item->author = item->model = harness_text_sv(&x->state->model);
}

/* {"functionResponse":{"id","name","response":{"output":TEXT}}} */
static void add_result(struct harness_reading *x, const struct json *r, const struct json *part)
{
    const struct json   *f = json_find(part, "functionResponse");
    const struct json   *response = json_find(f, "response");
    struct sv            id = json_text(f, "id"), key = suffixed(id, ":result", x->a);
    struct sb            b = sb_in(x->a, 0);
    struct harness_item *item;

    if (!id.n || harness_knows(x, key))
        return;
    item = add(x, r, HARNESS_MESSAGE, key);
    item->role = "tool";
    item->tool_call_id = id;
    item->name = item->author = json_text(f, "name");
    item->failed = json_find(response, "error") != NULL;
    if (json_is(json_find(response, "output"), JSON_STRING) && response->n == 1)
        item->content = json_canonical(json_find(response, "output"), x->a);
    else if (response) {
        sb_add_json_string(&b, json_canonical(response, x->a));
        item->content = sb_sv(&b);
    }
}

static void add_results(struct harness_reading *x, const struct json *r, const struct json *parts)
{
    for (size_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->n; i++)
        if (json_find(&parts->items[i], "functionResponse"))
            add_result(x, r, &parts->items[i]);
}

static void add_calls(struct harness_reading *x, const struct json *r)
{
    const struct json *calls = json_find(r, "toolCalls");

    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++)
        add_call(x, r, &calls->items[i]);
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++)
        add_results(x, r, json_find(&calls->items[i], "result"));
}

/* ---- messages ------------------------------------------------------------------------------ */

static void add_tokens(struct harness_reading *x, const struct json *r, struct sv id)
{
    const struct json   *t = json_find(r, "tokens");
    struct sv            key = suffixed(id, ":tokens", x->a);
    struct harness_item *item;

    if (!json_is(t, JSON_OBJECT) || harness_knows(x, key))
        return;
    item = harness_item_add(x, HARNESS_KEPT, HARNESS_LOOSE, key);
    item->at = time_of(r);
    item->record = json_canonical(t, x->a);
    item->has_usage = true;
    item->usage =
        (struct harness_usage){ .input = json_number(t, "input") - json_number(t, "cached"),
                                .cache_read = json_number(t, "cached"),
                                .output = json_number(t, "output") + json_number(t, "thoughts"),
                                .reasoning = json_number(t, "thoughts") };
}

static struct sv record_of(const struct json *r, struct arena *a)
{
    static const char *const said[] = { "content", "toolCalls", "thoughts", "tokens" };
    struct sv                rest = json_others(r, said, COUNT(said), a);

    return rest.s ? rest : SV("{}");
}

static void read_answer(struct harness_reading *x, const struct json *r, struct sv id)
{
    struct harness_item *item;
    struct sv            thinking = thinking_of(json_find(r, "thoughts"), x->a);
    size_t               n;
    struct sv            content = parts_of(json_find(r, "content"), x->a, &n);

    if (json_text(r, "model").n)
        harness_text_set(&x->state->model, json_text(r, "model"));
    if (!harness_knows(x, id)) {
        item = add(x, r, n || thinking.n ? HARNESS_MESSAGE : HARNESS_KEPT, id);
        item->role = "assistant";
        item->id = id;
        item->content = content;
        item->thinking = thinking;
        item->author = item->model = json_text(r, "model");
        item->record = record_of(r, x->a);
    }
    add_tokens(x, r, id);
    add_calls(x, r);
}

/* Rewinds lead to a turn: what it follows is remembered with it, "ID BEFORE". */
static void note_start(struct harness_reading *x, struct sv id)
{
    struct sb b = sb_in(x->a, 0);
    struct sv before = harness_text_sv(&x->state->previous);

    if (x->state->origin.n)
        before = harness_text_sv(&x->state->origin);
    sb_add(&b, id);
    sb_addc(&b, ' ');
    sb_add(&b, before.n ? before : SV("-"));
    harness_start_add(x->state, sb_sv(&b));
}

static void read_user(struct harness_reading *x, const struct json *r, struct sv id)
{
    const struct json   *parts = json_find(r, "content");
    struct harness_item *item;
    size_t               n;
    struct sv            content = parts_of(parts, x->a, &n), prompt = harness_asked_text(parts);

    if (harness_knows(x, id))
        return;
    if (!n) { /* results of tools, which the answer with the calls may have brought already */
        add_results(x, r, parts);
        keep_loose(x, r, id)->record = record_of(r, x->a);
        return;
    }
    note_start(x, id);
    item = add(x, r, HARNESS_MESSAGE, id);
    item->role = "user";
    item->id = id;
    item->content = content;
    item->is_turn = !sv_starts(prompt, SV("<session_context>"));
    item->prompt = item->is_turn ? prompt : (struct sv){ 0 };
    item->record = record_of(r, x->a);
}

static void read_message(struct harness_reading *x, const struct json *r)
{
    struct sv id = json_text(r, "id"), type = json_text(r, "type");

    if (sv_is(type, "user")) {
        read_user(x, r, id);
    } else if (sv_is(type, "gemini")) {
        read_answer(x, r, id);
    } else {
        if (!sv_is(type, "info") && !sv_is(type, "error") && !sv_is(type, "warning"))
            harness_note(x->report, x->state->number,
                         "messages of type '%.40s': kept, not understood",
                         sv_cstr(type.s ? type : SV("none"), x->a));
        keep_loose(x, r, id);
    }
}

/* ---- the conversation rewritten ------------------------------------------------------------- */

static void put_snapshot_message(struct jw *w, const struct json *m, struct arena *a)
{
    bool   answer = sv_is(json_text(m, "type"), "gemini");
    size_t n;

    struct sv content = parts_of(json_find(m, "content"), a, &n);
    if (!n)
        return;
    jw_open(w, '{');
    jw_key(w, "content");
    jw_raw(w, content);
    jw_kstr(w, "role", answer ? SV("assistant") : SV("user"));
    jw_close(w, '}');
}

/* A list with messages that were not there replaces the context. They are known from then on. */
static void compact(struct harness_reading *x, const struct json *r, const struct json *list)
{
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);
    struct harness_item *item;

    jw_open(&w, '[');
    for (size_t i = 0; i < list->n; i++)
        put_snapshot_message(&w, &list->items[i], x->a);
    jw_close(&w, ']');
    for (size_t i = 0; i < list->n; i++) {
        struct sv id = json_text(&list->items[i], "id");
        if (id.n && !harness_knows(x, id))
            keep_loose(x, &list->items[i], id)->record = record_of(&list->items[i], x->a);
    }
    item = add(x, r, HARNESS_COMPACTION, harness_loose_key(x));
    item->at = time_of(&list->items[list->n - 1]);
    item->messages = sb_sv(&b);
    item->record = SV("{\"$set\":\"messages\"}");
}

/* Does a message of the list say something that was not there? One that has only results of tools
 * gets a new id each time. */
static bool is_news(struct harness_reading *x, const struct json *m)
{
    size_t n;

    parts_of(json_find(m, "content"), x->a, &n);
    return n && json_text(m, "id").n && !harness_knows(x, json_text(m, "id"));
}

static void read_list(struct harness_reading *x, const struct json *r, const struct json *list)
{
    size_t unknown = 0, known = 0;

    for (size_t i = 0; i < list->n; i++) {
        bool news = is_news(x, &list->items[i]);
        unknown += news;
        known += !news;
    }
    if (!unknown)
        return; /* the session was resumed: the list holds known messages only */
    if (known || x->state->messages) {
        compact(x, r, list);
        return;
    }
    for (size_t i = 0; i < list->n; i++)
        if (json_text(&list->items[i], "id").n)
            read_message(x, &list->items[i]);
}

/* ---- records --------------------------------------------------------------------------------- */

static void read_rewind(struct harness_reading *x, const struct json *r, struct sv id)
{
    struct harness_state *s = x->state;

    harness_text_set(&s->origin, SV("-")); /* everything is undone if the message is not found */
    while (s->n_starts) {
        struct sv_cut cut = sv_cut(harness_text_sv(&s->starts[--s->n_starts]), ' ');
        if (sv_eq(cut.head, id)) {
            harness_text_set(&s->origin, cut.tail);
            break;
        }
    }
    harness_keep_loose(x, r);
}

static void read_set(struct harness_reading *x, const struct json *r, const struct json *set)
{
    static const char *const list_of[] = { "messages" };
    const struct json       *list = json_find(set, "messages"), *dirs;
    struct sv                rest = json_others(set, list_of, 1, x->a);
    struct harness_item     *item;

    if (json_text(set, "summary").n)
        harness_text_set(&x->state->title, json_text(set, "summary"));
    dirs = json_find(set, "directories");
    if (json_is(dirs, JSON_ARRAY) && dirs->n && json_sv(dirs->items).n && !x->state->cwd.n)
        x->state->cwd = sv_dup(json_sv(dirs->items), x->kept);
    if (json_is(list, JSON_ARRAY) && list->n)
        read_list(x, r, list);
    if (!rest.s || (set->n == 1 && json_find(set, "lastUpdated")))
        return; /* a change of nothing but the time is not kept */
    item = harness_item_add(x, HARNESS_KEPT, HARNESS_LOOSE, harness_loose_key(x));
    item->record = rest;
}

static void read_header(struct harness_reading *x, const struct json *r)
{
    int64_t at;

    x->state->is_agent = sv_is(json_text(r, "kind"), "subagent");
    if (!x->state->first && clock_parse_iso(json_text(r, "startTime"), &at))
        x->state->first = at;
    read_set(x, r, r);
}

static void read(struct harness_reading *x, const struct json *r)
{
    const struct json *set = json_find(r, "$set");

    if (json_text(r, "$rewindTo").s)
        read_rewind(x, r, json_text(r, "$rewindTo"));
    else if (json_text(r, "id").n)
        read_message(x, r);
    else if (json_is(set, JSON_OBJECT))
        read_set(x, r, set);
    else if (json_text(r, "sessionId").n)
        read_header(x, r);
    else {
        harness_note(x->report, x->state->number, "records of an unknown form: kept");
        harness_keep_loose(x, r);
    }
}

const struct harness_format harness_gemini = {
    .harness = HARNESS_GEMINI,
    .local_ids = true,
    .identify = identify,
    .read = read,
};
