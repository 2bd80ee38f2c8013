/* Calls and results of tools, out of the blocks of a content and back. */
#include "harness/blocks.h"

#include <string.h>

const struct harness_calls harness_anthropic_calls = { "tool_use", "input" };
const struct harness_calls harness_pi_calls = { "toolCall", "arguments" };

/* ---- calls --------------------------------------------------------------------------------- */

/* A block that can be a call of heddle and be made a block again. */
static bool is_call(const struct json *b, const struct harness_calls *form)
{
    bool clash = !sv_is(sv_of(form->arguments), "arguments") && json_find(b, "arguments");

    return sv_is(json_text(b, "type"), form->type) && json_text(b, "id").n &&
           json_is(json_find(b, "name"), JSON_STRING) &&
           json_is(json_find(b, form->arguments), JSON_OBJECT) && !clash &&
           !json_find(b, "function");
}

/* The block under the names that heddle has for it, and without its type. */
static void put_call(struct sb *out, const struct json *b, const struct harness_calls *form,
                     struct arena *a)
{
    struct json_member *members = ARENA_NEW(a, struct json_member, b->n);
    struct json         call = { .type = JSON_OBJECT, .members = members };

    for (size_t i = 0; i < b->n; i++) {
        if (sv_is(b->members[i].key, "type"))
            continue;
        members[call.n] = b->members[i];
        if (sv_is(b->members[i].key, form->arguments))
            members[call.n].key = SV("arguments");
        call.n++;
    }
    sb_add(out, json_canonical(&call, a));
}

/* Were all blocks before all calls? Then the order need not be kept. */
static bool is_usual(struct sv order)
{
    ptrdiff_t call = sv_find(order, SV("t"));

    return call < 0 || sv_find(sv_skip(order, (size_t)call), SV("c")) < 0;
}

static void add_separated(struct sb *b, bool first)
{
    sb_addc(b, first ? '[' : ',');
}

static struct sv closed(struct sb *b)
{
    sb_adds(b, b->n ? "]" : "[]");
    return sb_sv(b);
}

void harness_split_calls(const struct json *content, const struct harness_calls *form,
                         struct arena *a, struct harness_item *item)
{
    struct sb rest = sb_in(a, 0), calls = sb_in(a, 0), order = sb_in(a, 0), more = sb_in(a, 0);
    size_t    n_calls = 0, n_rest = 0;

    item->content = content ? json_canonical(content, a) : (struct sv){ 0 };
    if (!json_is(content, JSON_ARRAY))
        return;
    for (size_t i = 0; i < content->n; i++) {
        const struct json *b = &content->items[i];
        bool               call = is_call(b, form);
        sb_addc(&order, call ? 't' : 'c');
        add_separated(call ? &calls : &rest, call ? !n_calls++ : !n_rest++);
        if (call)
            put_call(&calls, b, form, a);
        else
            sb_add(&rest, json_canonical(b, a));
    }
    if (!n_calls)
        return;
    item->tool_calls = closed(&calls);
    item->content = closed(&rest);
    if (!is_usual(sb_sv(&order))) {
        sb_addf(&more, "{\"order\":\"" SV_FMT "\"}", SV_ARG(sb_sv(&order)));
        item->more = sb_sv(&more);
    }
}

/* ---- results ------------------------------------------------------------------------------- */

static struct sv numbered(struct sv key, size_t i, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key);
    sb_addf(&b, "#%zu", i);
    return sb_sv(&b);
}

void harness_number_items(struct harness_reading *x, struct sv key)
{
    for (size_t i = 0; i < x->items.n; i++)
        x->items.v[i].key = i + 1 < x->items.n ? numbered(key, i, x->a) : key;
}

/* {"block":{…},"part":N}, as far as there is something to say. */
static struct sv more_of(struct sv block, bool is_part, size_t part, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    if (!block.s && !is_part)
        return (struct sv){ 0 };
    jw_open(&w, '{');
    if (block.s) {
        jw_key(&w, "block");
        jw_raw(&w, block);
    }
    if (is_part)
        jw_kint(&w, "part", (int64_t)part);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static void set_result(struct harness_item *item, const struct json *block, struct arena *a,
                       struct sv *rest)
{
    static const char *const known[] = { "content", "tool_use_id", "type" };
    const struct json       *content = json_find(block, "content");

    item->role = "tool";
    item->tool_call_id = json_text(block, "tool_use_id");
    item->content = content ? json_canonical(content, a) : (struct sv){ 0 };
    *rest = json_others(block, known, COUNT(known), a);
}

static struct sv list_of(const struct json *items, size_t n, struct arena *a)
{
    struct json list = { .type = JSON_ARRAY, .n = n, .items = (struct json *)items };

    return json_canonical(&list, a);
}

void harness_split_results(struct harness_reading *x, const struct json *content,
                           bool (*is_result)(const struct json *block))
{
    struct harness_item whole = x->items.v[--x->items.n];

    for (size_t i = 0, part = 0, n; i < content->n; i += n, part++) {
        struct harness_item item = whole;
        struct sv           rest = { 0 };
        for (n = 1; !is_result(&content->items[i]) && i + n < content->n; n++)
            if (is_result(&content->items[i + n]))
                break;
        bool last = i + n == content->n;
        if (!last) {
            item.key = numbered(whole.key, part, x->a);
            item.id = item.key;
            item.record = (struct sv){ 0 };
        }
        if (is_result(&content->items[i]))
            set_result(&item, &content->items[i], x->a, &rest);
        else
            item.content = list_of(&content->items[i], n, x->a);
        if (part) {
            item.link = HARNESS_NEXT;
            item.hangs_on = (struct sv){ 0 };
        }
        item.more = more_of(rest, !last || part, part, x->a);
        *vec_push(&x->items, x->kept) = item;
    }
}

/* ---- texts --------------------------------------------------------------------------------- */

struct sv harness_first_text(const struct json *content)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        struct sv text = json_text(&content->items[i], "text");
        if (text.n)
            return text;
    }
    return json_is(content, JSON_STRING) ? json_sv(content) : (struct sv){ 0 };
}

/* Elements that stand in front of a prompt: Gemini CLI's around what hooks say, and heddle's. */
static const char *const put_in_front[] = { "hook_context", "thread_context", "thread_injections" };

/* The length of `<NAME …>…</NAME>` at the start of a text; 0: it is not there. */
static size_t element_length(struct sv text, const char *name)
{
    size_t    n = strlen(name);
    struct sv rest = sv_skip(text, 1 + n);
    ptrdiff_t end = 0;

    if (!sv_starts(text, SV("<")) || !sv_starts(sv_skip(text, 1), sv_of(name)) || !rest.n ||
        (rest.s[0] != '>' && rest.s[0] != ' '))
        return 0;
    while ((end = sv_find(rest, SV("</"))) >= 0) {
        rest = sv_skip(rest, (size_t)end + 2);
        if (sv_starts(rest, sv_of(name)) && rest.n > n && rest.s[n] == '>')
            return (size_t)(rest.s - text.s) + n + 1;
    }
    return 0;
}

static struct sv without_front(struct sv text)
{
    size_t skipped = 1;

    for (text = sv_trim(text); skipped; text = sv_trim(sv_skip(text, skipped))) {
        skipped = 0;
        for (size_t i = 0; i < COUNT(put_in_front) && !skipped; i++)
            skipped = element_length(text, put_in_front[i]);
    }
    return text;
}

struct sv harness_asked_text(const struct json *content)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        struct sv text = without_front(json_text(&content->items[i], "text"));
        if (text.n)
            return text;
    }
    return json_is(content, JSON_STRING) ? without_front(json_sv(content)) : (struct sv){ 0 };
}

/* {"type":"input_image","image_url":URL} of Codex; {"type":"image","data","mimeType"} of pi. */
static bool put_picture(struct jw *w, const struct json *part)
{
    struct sv type = json_text(part, "type");

    if (sv_is(type, "input_image") && json_text(part, "image_url").n) {
        jw_open(w, '{');
        jw_kstr(w, "image_url", json_text(part, "image_url"));
        jw_kstr(w, "type", SV("image_url"));
        jw_close(w, '}');
        return true;
    }
    if (!sv_is(type, "image") || part->n != 3 || !json_text(part, "data").s ||
        !json_text(part, "mimeType").s)
        return false;
    jw_open(w, '{');
    jw_kstr(w, "data", json_text(part, "data"));
    jw_kstr(w, "media_type", json_text(part, "mimeType"));
    jw_kstr(w, "type", SV("image"));
    jw_close(w, '}');
    return true;
}

struct sv harness_parts(const struct json *content, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    if (!json_is(content, JSON_ARRAY))
        return json_canonical(content, a);
    jw_open(&w, '[');
    for (size_t i = 0; i < content->n; i++)
        if (!put_picture(&w, &content->items[i]))
            jw_json(&w, &content->items[i]);
    jw_close(&w, ']');
    return sb_sv(&b);
}

static void put_without(struct jw *w, const struct json *object, const char *const *path)
{
    jw_open(w, '{');
    for (size_t i = 0; i < object->n; i++) {
        const struct json_member *m = &object->members[i];
        bool                      here = sv_is(m->key, path[0]);
        if (here && !path[1])
            continue;
        jw_key_sv(w, m->key);
        if (here && json_is(&m->value, JSON_OBJECT))
            put_without(w, &m->value, path + 1);
        else
            jw_json(w, &m->value);
    }
    jw_close(w, '}');
}

struct sv harness_without(const struct json *object, const char *const *path, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    put_without(&w, object, path);
    return sb_sv(&b);
}
