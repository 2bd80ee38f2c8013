/* The body of OpenAI's chat completions: {"messages":[…]}.
 *
 * Tool messages hold text only: pictures and files of a result follow in a user message
 * behind the last result of the turn, each under a line that says whose it is. */
#include "assemble/render_internal.h"

struct chat_out {
    const struct rendering *x;
    struct jw               w;
    size_t                  at;
    VEC(struct sv) attached; /* parts that wait for the end of the results */
};

static struct repair_place place(const struct chat_out *m)
{
    return parsed_place(&m->x->turns[m->at], m->at);
}

/* ---- parts ---------------------------------------------------------------------------- */

static struct sv text_part(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "text", text);
    jw_kstr(&w, "type", SV("text"));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static struct sv data_url(const struct part *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "data:");
    sb_add(&b, p->media_type);
    sb_adds(&b, ";base64,");
    sb_add(&b, p->data);
    return sb_sv(&b);
}

static struct sv image_part(const struct part *p, struct arena *a)
{
    const struct json *own = json_find(&p->raw, "image_url");
    struct sb          b = sb_in(a, 0);
    struct jw          w = jw_in(&b, 0);

    if (json_is(own, JSON_OBJECT))
        return json_canonical(&p->raw, a); /* its own shape, "detail" and all */
    jw_open(&w, '{');
    jw_key(&w, "image_url");
    jw_open(&w, '{');
    jw_kstr(&w, "url", p->url.s ? p->url : data_url(p, a));
    jw_close(&w, '}');
    jw_kstr(&w, "type", SV("image_url"));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static struct sv file_part(const struct part *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "file");
    jw_open(&w, '{');
    if (p->kind == PART_FILE_DATA)
        jw_kstr(&w, "file_data", data_url(p, a));
    else
        jw_kstr(&w, "file_id", p->file_id);
    if (p->filename.n)
        jw_kstr(&w, "filename", p->filename);
    jw_close(&w, '}');
    jw_kstr(&w, "type", SV("file"));
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* A part as this API takes it from a user; absent when it has none, which is reported. */
static struct sv part_for_user(const struct chat_out *m, const struct part *p)
{
    struct arena *a = m->x->a;

    switch (p->kind) {
    case PART_TEXT: part_report_rest(p, place(m), m->x->r); return text_part(p->text, a);
    case PART_IMAGE_URL:
    case PART_IMAGE_DATA: {
        if (!json_is(json_find(&p->raw, "image_url"), JSON_OBJECT))
            part_report_rest(p, place(m), m->x->r);
        return image_part(p, a);
    }
    case PART_FILE_DATA:
    case PART_FILE_ID: part_report_rest(p, place(m), m->x->r); return file_part(p, a);
    case PART_OTHER:
        report_add(m->x->r, REPAIR_KEPT, place(m), "a part of unknown type as it is");
        return json_canonical(&p->raw, a);
    case PART_THINKING:
    case PART_REDACTED:
    case PART_CALL:
    case PART_FILE_URL: break;
    }
    report_add(m->x->r, REPAIR_DROPPED, place(m), "%s, which this format cannot hold",
               p->kind == PART_FILE_URL ? "a file by its URL" : part_word(p));
    return (struct sv){ 0 };
}

/* Of a system message, an assistant's or a tool's: text and what is not understood. */
static struct sv part_for_text(struct chat_out *m, const struct part *p)
{
    if (p->kind == PART_TEXT || p->kind == PART_OTHER)
        return part_for_user(m, p);
    report_add(m->x->r, REPAIR_DROPPED, place(m), "%s, which this format cannot hold here",
               part_word(p));
    return (struct sv){ 0 };
}

/* A picture or file of a result: kept for the user message behind the results. */
static bool attach(struct chat_out *m, const struct parsed_message *t, const struct part *p)
{
    struct sb label = sb_in(m->x->a, 0);

    if (p->kind == PART_TEXT || p->kind == PART_OTHER)
        return false;
    struct sv part = part_for_user(m, p);
    if (!part.s)
        return true;
    sb_adds(&label, "From the result of ");
    sb_add(&label, t->name.n ? t->name : SV("the tool"));
    sb_addf(&label, " (" SV_FMT "):", SV_ARG(t->tool_call_id));
    *vec_push(&m->attached, m->x->a) = text_part(sb_sv(&label), m->x->a);
    *vec_push(&m->attached, m->x->a) = part;
    report_add(m->x->r, REPAIR_MOVED, place(m), "a part of type %s into a user message",
               part_word(p));
    return true;
}

static void flush_attached(struct chat_out *m)
{
    if (!m->attached.n)
        return;
    jw_open(&m->w, '{');
    jw_key(&m->w, "content");
    jw_open(&m->w, '[');
    for (size_t i = 0; i < m->attached.n; i++)
        jw_raw(&m->w, m->attached.v[i]);
    jw_close(&m->w, ']');
    jw_kstr(&m->w, "role", SV("user"));
    jw_close(&m->w, '}');
    m->attached.n = 0;
}

/* ---- messages ------------------------------------------------------------------------- */

static void write_parts(struct chat_out *m, const struct parsed_message *t)
{
    bool is_tool = parsed_is(t, "tool");
    bool is_user = !is_tool && !parsed_is(t, "assistant") && !parsed_is_system(t);
    VEC(struct sv) parts = { 0 };

    for (size_t i = 0; i < t->n_parts; i++) {
        if (t->parts[i].kind == PART_CALL) /* calls have a list of their own here */
            continue;
        if (is_tool && attach(m, t, &t->parts[i]))
            continue;
        struct sv part = is_user ? part_for_user(m, &t->parts[i]) : part_for_text(m, &t->parts[i]);
        if (part.s)
            *vec_push(&parts, m->x->a) = part;
    }
    if (!parts.n) { /* an empty list is refused */
        jw_str(&m->w, t->n_calls ? (struct sv){ 0 } : SV(""));
        return;
    }
    jw_open(&m->w, '[');
    for (size_t i = 0; i < parts.n; i++)
        jw_raw(&m->w, parts.v[i]);
    jw_close(&m->w, ']');
}

static void write_content(struct chat_out *m, const struct parsed_message *t)
{
    jw_key(&m->w, "content");
    if (t->is_text && t->n_parts)
        jw_str(&m->w, t->parts[0].text);
    else
        write_parts(m, t);
}

static void write_calls(struct chat_out *m, const struct parsed_message *t)
{
    struct arena *a = m->x->a;

    jw_key(&m->w, "tool_calls");
    jw_open(&m->w, '[');
    for (size_t i = 0; i < t->n_calls; i++) {
        const struct tool_call *c = &t->calls[i];
        struct sv               text = json_sv(&c->arguments);
        jw_open(&m->w, '{');
        jw_key(&m->w, "function");
        jw_open(&m->w, '{');
        jw_kstr(&m->w, "arguments", text.s ? text : json_canonical(&c->arguments, a));
        jw_kstr(&m->w, "name", render_call_name(c, 64, place(m), m->x));
        jw_close(&m->w, '}');
        jw_kstr(&m->w, "id", c->id);
        jw_kstr(&m->w, "type", SV("function"));
        jw_close(&m->w, '}');
    }
    jw_close(&m->w, ']');
}

/* Those that go back to a host such as OpenRouter: see thinking.h. */
static bool keeps_details(const struct chat_out *m, const struct parsed_message *t)
{
    return m->x->details && parsed_is(t, "assistant") && t->details.type == JSON_ARRAY;
}

static void report_reasoning(const struct chat_out *m, const struct parsed_message *t)
{
    if (t->thinking.n)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "thinking, which this format cannot hold");
    if (t->details.type != JSON_NULL && !keeps_details(m, t))
        report_add(m->x->r, REPAIR_DROPPED, place(m),
                   "reasoning details, which this format cannot hold");
}

/* Which role it goes by; the caller chooses names, except those of tools. */
static struct sv role_of(const struct chat_out *m, const struct parsed_message *t)
{
    static const char *const known[] = { "user",   "assistant", "tool",
                                         "system", "developer", "function" };

    for (size_t i = 0; i < COUNT(known); i++)
        if (parsed_is(t, known[i]))
            return t->role;
    report_add(m->x->r, REPAIR_CHANGED, place(m), "the role '" SV_FMT "' to user", SV_ARG(t->role));
    return SV("user");
}

static void write_turn(struct chat_out *m, const struct parsed_message *t)
{
    bool is_tool = parsed_is(t, "tool");

    if (!is_tool)
        flush_attached(m);
    report_reasoning(m, t);
    jw_open(&m->w, '{');
    write_content(m, t);
    if (t->name.n && !is_tool)
        jw_kstr(&m->w, "name", t->name);
    if (keeps_details(m, t)) {
        jw_key(&m->w, "reasoning_details");
        jw_json(&m->w, &t->details);
    }
    jw_kstr(&m->w, "role", role_of(m, t));
    if (is_tool)
        jw_kstr(&m->w, "tool_call_id", t->tool_call_id);
    if (t->n_calls)
        write_calls(m, t);
    jw_close(&m->w, '}');
}

/* ---- neighbours of one role ------------------------------------------------------------- */

static bool goes_with(const struct parsed_message *a, const struct parsed_message *b)
{
    bool plain = parsed_is(a, "user") || parsed_is(a, "assistant");

    return plain && sv_eq(a->role, b->role) && sv_eq(a->name, b->name) && !a->n_calls &&
           !b->n_calls;
}

/* Texts with an empty line between; with pictures, one list of parts. */
static struct parsed_message joined(const struct parsed_message *turns, size_t n, struct arena *a)
{
    struct parsed_message out = turns[0];
    struct sb             text = sb_in(a, 0);
    size_t                total = 0;

    for (size_t i = 0; i < n; i++) {
        out.is_text = out.is_text && turns[i].is_text;
        total += turns[i].n_parts;
    }
    out.parts = ARENA_NEW(a, struct part, total + 1);
    out.n_parts = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < turns[i].n_parts; k++) {
            const struct part *p = &turns[i].parts[k];
            out.parts[out.n_parts++] = *p;
            sb_adds(&text, text.n && p->text.n ? "\n\n" : "");
            sb_add(&text, p->text);
        }
    if (out.is_text && out.n_parts) {
        out.parts[0] = part_of_text(sb_sv(&text));
        out.n_parts = 1;
    }
    return out;
}

static struct rendering merged(const struct rendering *x)
{
    struct parsed_message *turns = ARENA_NEW(x->a, struct parsed_message, x->n + 1);
    struct rendering       out = *x;

    out.turns = turns;
    out.n = 0;
    for (size_t i = 0, end; i < x->n; i = end) {
        for (end = i + 1; end < x->n && goes_with(&x->turns[i], &x->turns[end]);)
            end++;
        turns[out.n++] = end - i > 1 ? joined(&x->turns[i], end - i, x->a) : x->turns[i];
    }
    return out;
}

static void render_turns(const struct rendering *x)
{
    struct chat_out m = { .x = x, .w = jw_in(x->out, 0) };

    jw_open(&m.w, '{');
    jw_key(&m.w, "messages");
    jw_open(&m.w, '[');
    if (x->system_prompt.n) {
        jw_open(&m.w, '{');
        jw_kstr(&m.w, "content", x->system_prompt);
        jw_kstr(&m.w, "role", SV("system"));
        jw_close(&m.w, '}');
    }
    for (m.at = 0; m.at < x->n; m.at++)
        write_turn(&m, &x->turns[m.at]);
    flush_attached(&m);
    jw_close(&m.w, ']');
    jw_close(&m.w, '}');
}

void render_openai(const struct rendering *x)
{
    struct rendering one_each;

    if (x->merge)
        one_each = merged(x);
    render_turns(x->merge ? &one_each : x);
}
