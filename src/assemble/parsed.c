/* Taking the messages of a projection apart into role, parts, calls and results. */
#include "assemble/parsed.h"

#include "base/map.h"

struct lifting {
    struct arena         *a;
    struct render_report *r;
    VEC(struct parsed_message) turns;
};

bool parsed_is(const struct parsed_message *t, const char *role)
{
    return sv_is(t->role, role);
}

bool parsed_is_system(const struct parsed_message *t)
{
    return parsed_is(t, "system") || parsed_is(t, "developer");
}

struct repair_place parsed_place(const struct parsed_message *t, size_t at)
{
    return (struct repair_place){ t->seq, t->tool_call_id, at };
}

static struct sv or_empty(struct sv v)
{
    return v.s ? v : SV("");
}

/* A lone surrogate: canonical JSON writes it, and nothing else, as the escape \udXXX. Providers
 * refuse a request that holds one; it becomes U+FFFD, once here for every renderer. */
static struct sv without_halves(struct sv raw, struct arena *a, size_t *n)
{
    struct sb b;

    *n = 0;
    if (sv_find(raw, SV("\\ud")) < 0)
        return raw;
    b = sb_in(a, 0);
    for (size_t i = 0, len; i < raw.n; i += len) {
        bool escape = raw.s[i] == '\\' && i + 1 < raw.n;
        bool half = escape && i + 5 < raw.n && raw.s[i + 1] == 'u' && raw.s[i + 2] == 'd' &&
                    raw.s[i + 3] >= '8';
        len = half ? 6 : escape ? 2 : 1;
        sb_add(&b, half ? SV("\xef\xbf\xbd") : (struct sv){ raw.s + i, len });
        *n += half;
    }
    return sb_sv(&b);
}

/* A string of canonical JSON without an escape: its text stands in it as it is. */
static bool is_plain_string(struct sv raw)
{
    return raw.n >= 2 && raw.s[0] == '"' && raw.s[raw.n - 1] == '"' && !sv_has(raw, '\\') &&
           !sv_has((struct sv){ raw.s + 1, raw.n - 2 }, '"');
}

/* A raw slice of a message; absent gives null. */
static enum status parse(struct lifting *l, const struct parsed_message *t, struct sv raw,
                         struct json *out, struct err *e)
{
    size_t halves = 0;

    *out = (struct json){ .type = JSON_NULL };
    if (!raw.s)
        return ST_OK;
    if (is_plain_string(raw)) { /* most contents: nothing to decode, nothing to copy */
        *out = json_of((struct sv){ raw.s + 1, raw.n - 2 });
        return ST_OK;
    }
    raw = without_halves(raw, l->a, &halves);
    if (halves)
        report_add(l->r, REPAIR_CHANGED, parsed_place(t, l->turns.n),
                   "%zu half character%s to U+FFFD", halves, halves == 1 ? "" : "s");
    if (json_parse(raw, 0, l->a, out, e) == ST_OK)
        return ST_OK;
    e->code = ST_CORRUPT;
    return err_in(e, "a stored message");
}

/* ---- calls -------------------------------------------------------------------------- */

/* {id,name,arguments}, {id,function:{name,arguments}}, {id,custom:{name,input}} or
 * {id,name,input}. */
static struct tool_call read_call(const struct json *v)
{
    const struct json *inner = json_find(v, "function");
    const struct json *arguments;

    if (!inner)
        inner = json_find(v, "custom");
    if (!inner)
        inner = v;
    arguments = json_find(inner, "arguments");
    if (!arguments)
        arguments = json_find(inner, "input");
    return (struct tool_call){ .id = or_empty(json_text(v, "id")),
                               .name = or_empty(json_text(inner, "name")),
                               .arguments = arguments && arguments->type != JSON_NULL
                                                ? *arguments
                                                : (struct json){ .type = JSON_OBJECT } };
}

static void read_calls(struct lifting *l, struct parsed_message *t, const struct json *list)
{
    t->calls = ARENA_NEW(l->a, struct tool_call, list->n + 1);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].type == JSON_OBJECT)
            t->calls[t->n_calls++] = read_call(&list->items[i]);
        else
            report_add(l->r, REPAIR_DROPPED, parsed_place(t, l->turns.n),
                       "a tool call that is not an object");
    }
}

bool tool_call_object(const struct tool_call *c, struct arena *a, struct json *out)
{
    struct sv  text = json_sv(&c->arguments);
    struct err ignored;

    *out = (struct json){ .type = JSON_OBJECT };
    if (c->arguments.type == JSON_NULL || (text.s && !sv_trim(text).n))
        return true;
    if (c->arguments.type == JSON_OBJECT) {
        *out = c->arguments;
        return true;
    }
    if (text.s && json_parse(text, 0, a, out, &ignored) == ST_OK && out->type == JSON_OBJECT)
        return true;
    struct json_member *m = ARENA_NEW(a, struct json_member, 1);
    *m = (struct json_member){ SV("arguments"), c->arguments };
    *out = (struct json){ JSON_OBJECT, 1, { .members = m } };
    return false;
}

/* ---- content ------------------------------------------------------------------------ */

/* Does the text hold {"ok":false,…}, the form in which tools report an error? */
static bool says_failed(struct sv text, struct arena *a)
{
    struct json v;
    struct err  ignored;

    if (!sv_starts(text, SV("{")) || sv_find(text, SV("\"ok\"")) < 0)
        return false;
    return json_parse(text, 0, a, &v, &ignored) == ST_OK &&
           json_is(json_find(&v, "ok"), JSON_FALSE);
}

static void set_content(struct parsed_message *t, const struct json *content, struct arena *a)
{
    t->is_text = !json_is(content, JSON_ARRAY);
    if (t->is_text) {
        bool      is_value = content && content->type != JSON_STRING && content->type != JSON_NULL;
        struct sv text = is_value ? json_canonical(content, a) : json_sv(content);
        t->n_parts = text.n > 0;
        t->parts = ARENA_NEW(a, struct part, 1);
        t->parts[0] = part_of_text(or_empty(text));
    } else {
        t->n_parts = content->n;
        t->parts = ARENA_NEW(a, struct part, content->n + 1);
        for (size_t i = 0; i < content->n; i++)
            t->parts[i] = part_of(&content->items[i]);
    }
    if (parsed_is(t, "tool") && t->n_parts && t->parts[0].kind == PART_TEXT)
        t->failed = t->failed || says_failed(t->parts[0].text, a);
}

/* {"type":"tool_result","tool_use_id":…,"content":…} inside a user's content. */
static struct parsed_message result_turn(const struct parsed_message *user, const struct json *v,
                                         struct arena *a)
{
    struct parsed_message t = { .seq = user->seq,
                                .message = user->message,
                                .role = SV("tool"),
                                .tool_call_id = or_empty(json_text(v, "tool_use_id")),
                                .failed = json_truth(json_find(v, "is_error")) };

    set_content(&t, json_find(v, "content"), a);
    return t;
}

static bool is_call_block(const struct parsed_message *t, const struct part *p)
{
    return p->kind == PART_OTHER && parsed_is(t, "assistant") &&
           sv_is(json_text(&p->raw, "type"), "tool_use");
}

static bool is_result_block(const struct parsed_message *t, const struct part *p)
{
    return p->kind == PART_OTHER && parsed_is(t, "user") &&
           sv_is(json_text(&p->raw, "type"), "tool_result");
}

/* Room for calls that stand among the parts. */
static void make_room(struct parsed_message *t, struct arena *a)
{
    size_t            more = 0;
    struct tool_call *calls;

    for (size_t i = 0; i < t->n_parts; i++)
        more += is_call_block(t, &t->parts[i]);
    if (!more)
        return;
    calls = ARENA_NEW(a, struct tool_call, t->n_calls + more);
    for (size_t i = 0; i < t->n_calls; i++)
        calls[i] = t->calls[i];
    t->calls = calls;
}

/* Are both forms of a call equal? Then one of them can be dropped. */
static bool is_same_call(const struct tool_call *x, const struct tool_call *y, struct arena *a)
{
    struct json with_x, with_y;

    return sv_eq(x->name, y->name) &&
           tool_call_object(x, a, &with_x) == tool_call_object(y, a, &with_y) &&
           sv_eq(json_canonical(&with_x, a), json_canonical(&with_y, a));
}

/* The block becomes a place for its call, so that renderers can keep the order of all blocks. */
static struct part lift_call(struct lifting *l, struct parsed_message *t, const struct part *p,
                             const struct map *listed)
{
    struct tool_call  c = read_call(&p->raw);
    struct tool_call *same = c.id.n ? map_find(listed, c.id) : NULL;
    size_t            at = same ? (size_t)(same - t->calls) : t->n_calls;

    if (!same) {
        t->calls[t->n_calls++] = c;
    } else if (!is_same_call(&c, same, l->a)) {
        struct repair_place place = parsed_place(t, l->turns.n);
        place.tool_call_id = c.id;
        report_add(l->r, REPAIR_DROPPED, place, "a second copy of the call, which differs");
    }
    return (struct part){ .kind = PART_CALL, .call = at, .raw = p->raw };
}

/* Results are taken out of the content; calls too, but each leaves a PART_CALL in its place. */
static void lift_blocks(struct lifting *l, struct parsed_message *t)
{
    size_t     kept = 0;
    struct map listed = map_in(l->a); /* calls of `tool_calls`: some programs log both forms */

    make_room(t, l->a);
    for (size_t i = 0; i < t->n_calls && t->n_parts; i++)
        map_put(&listed, t->calls[i].id, &t->calls[i]);
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct part *p = &t->parts[i];
        if (is_call_block(t, p))
            t->parts[kept++] = lift_call(l, t, p, &listed);
        else if (is_result_block(t, p))
            *vec_push(&l->turns, l->a) = result_turn(t, &p->raw, l->a);
        else
            t->parts[kept++] = *p;
    }
    t->n_parts = kept;
}

static enum status lift_message(struct lifting *l, const struct message *m, size_t index,
                                struct err *e)
{
    struct parsed_message t = { .seq = m->seq, .message = index, .role = m->role };
    struct json           content, thinking, calls, id, name;

    if (parse(l, &t, m->content, &content, e) || parse(l, &t, m->thinking, &thinking, e) ||
        parse(l, &t, m->tool_calls, &calls, e) || parse(l, &t, m->tool_call_id, &id, e) ||
        parse(l, &t, m->name, &name, e) || parse(l, &t, m->reasoning_details, &t.details, e))
        return err_code(e);
    t.tool_call_id = parsed_is(&t, "tool") ? or_empty(json_sv(&id)) : json_sv(&id);
    t.name = json_sv(&name);
    t.thinking = json_sv(&thinking);
    set_content(&t, &content, l->a);
    if (parsed_is(&t, "assistant") && calls.type == JSON_ARRAY)
        read_calls(l, &t, &calls);
    size_t had = t.n_parts;
    lift_blocks(l, &t);
    if (!had || t.n_parts || !parsed_is(&t, "user")) /* not one that held only results */
        *vec_push(&l->turns, l->a) = t;
    return ST_OK;
}

enum status parsed_of(const struct context *c, struct arena *a, struct parsed_message **out,
                      size_t *n, struct render_report *r, struct err *e)
{
    struct lifting l = { .a = a, .r = r };

    vec_reserve(&l.turns, c->n, a);
    for (size_t i = 0; i < c->n; i++)
        if (lift_message(&l, &c->messages[i], i, e))
            return err_code(e);
    *out = l.turns.v;
    *n = l.turns.n;
    return ST_OK;
}
