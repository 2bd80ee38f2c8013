/* The body of Anthropic's Messages API: {"messages":[…],"system":TEXT}.
 *
 * The blocks of an assistant's turn keep the order in which they were made: thinking, calls and
 * text may alternate, and the API refuses a turn whose thinking is not where it was.
 *
 * Blocks are collected until the role changes, so that roles alternate. repair_all() put every
 * result right behind its call, and this API counts results as the user's. So a turn with calls is
 * always followed by one user message that begins with all results. */
#include "assemble/render_internal.h"

#include "base/hash.h"
#include "base/utf8.h"

/* A block that waits for its message to be complete. Plain text is not copied but written directly
 * into the output. */
struct anthropic_block {
    struct sv                    json;   /* or absent, and ... */
    const struct parsed_message *result; /* ... a result that is text, or NULL, and ... */
    struct sv                    text;   /* ... a text block */
    bool                         cached; /* marks the end of a part for the provider's cache */
};

struct message_out {
    const struct rendering *x;
    struct jw               w;
    const char             *role; /* of the message being collected; NULL: none */
    VEC(struct anthropic_block) blocks;
    size_t at;     /* turn being rendered */
    bool   marked; /* the end of the part that stays the same is marked */
};

static struct repair_place place(const struct message_out *m)
{
    return parsed_place(&m->x->turns[m->at], m->at);
}

/* ---- ids ------------------------------------------------------------------------------- */

static bool is_accepted_id(struct sv id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.s[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return id.n > 0;
}

/* Ids of letters, digits, _ and - pass; any other becomes one made from its hash, the same
 * for the call and its result. */
static struct sv accepted_id(struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (is_accepted_id(id))
        return id;
    struct hash h = hash_blake2b(&id, 1);
    sb_adds(&b, "toolu_");
    sb_add_hex(&b, h.b, 12);
    return sb_sv(&b);
}

/* ---- collecting ---------------------------------------------------------------------- */

static void add_mark(struct jw *w, bool cached)
{
    if (!cached)
        return;
    jw_key(w, "cache_control");
    jw_raw(w, SV("{\"type\":\"ephemeral\"}"));
}

static void write_text(struct jw *w, struct sv text, bool cached)
{
    jw_open(w, '{');
    add_mark(w, cached);
    jw_kstr(w, "text", text);
    jw_kstr(w, "type", SV("text"));
    jw_close(w, '}');
}

/* The rest of a tool_result, whose content is written. */
static void end_result(struct jw *w, const struct parsed_message *t, struct arena *a)
{
    if (t->failed)
        jw_kbool(w, "is_error", true);
    jw_kstr(w, "tool_use_id", accepted_id(t->tool_call_id, a));
    jw_kstr(w, "type", SV("tool_result"));
    jw_close(w, '}');
}

static void write_block(struct jw *w, const struct anthropic_block *b, struct arena *a)
{
    if (b->json.s && b->cached) {
        struct sb marked = sb_in(a, 0);
        sb_adds(&marked, "{\"cache_control\":{\"type\":\"ephemeral\"},");
        sb_add(&marked, sv_skip(b->json, 1));
        jw_raw(w, sb_sv(&marked));
    } else if (b->json.s) {
        jw_raw(w, b->json);
    } else if (b->result) {
        jw_open(w, '{');
        add_mark(w, b->cached);
        jw_kstr(w, "content", b->result->n_parts ? b->result->parts[0].text : SV(""));
        end_result(w, b->result, a);
    } else {
        write_text(w, b->text, b->cached);
    }
}

/* Thinking and what is not understood cannot be marked. */
static bool can_mark(const struct anthropic_block *b)
{
    static const char *const types[] = { "\"type\":\"text\"}", "\"type\":\"image\"}",
                                         "\"type\":\"document\"}", "\"type\":\"tool_use\"}",
                                         "\"type\":\"tool_result\"}" };

    for (size_t i = 0; b->json.s && i < COUNT(types); i++)
        if (sv_ends(b->json, sv_of(types[i])))
            return sv_find(b->json, SV("\"cache_control\"")) < 0;
    return !b->json.s;
}

static void mark_last(struct message_out *m)
{
    for (size_t i = m->blocks.n; i-- > 0;)
        if (can_mark(&m->blocks.v[i])) {
            m->blocks.v[i].cached = true;
            return;
        }
}

/* One text and nothing else is a message's content by itself. */
static void flush(struct message_out *m)
{
    const struct anthropic_block *first = m->blocks.v;

    if (m->role && m->blocks.n) {
        jw_open(&m->w, '{');
        jw_key(&m->w, "content");
        if (m->blocks.n == 1 && !first->json.s && !first->result && !first->cached) {
            jw_str(&m->w, first->text);
        } else {
            jw_open(&m->w, '[');
            for (size_t i = 0; i < m->blocks.n; i++)
                write_block(&m->w, &m->blocks.v[i], m->x->a);
            jw_close(&m->w, ']');
        }
        jw_kstr(&m->w, "role", sv_of(m->role));
        jw_close(&m->w, '}');
    }
    m->blocks.n = 0;
}

static void enter(struct message_out *m, const char *role)
{
    if (m->role && sv_is(sv_of(role), m->role))
        return;
    flush(m);
    m->role = role;
}

static void add_block(struct message_out *m, struct sv json)
{
    *vec_push(&m->blocks, m->x->a) = (struct anthropic_block){ .json = json };
}

/* ---- blocks --------------------------------------------------------------------------- */

static struct sv text_block(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    write_text(&w, text, false);
    return sb_sv(&b);
}

static void write_source(struct jw *w, const struct part *p, struct sv text)
{
    jw_key(w, "source");
    jw_open(w, '{');
    if (p->kind == PART_FILE_ID) {
        jw_kstr(w, "file_id", p->file_id);
        jw_kstr(w, "type", SV("file"));
    } else if (p->url.s) {
        jw_kstr(w, "type", SV("url"));
        jw_kstr(w, "url", p->url);
    } else if (text.s) {
        jw_kstr(w, "data", text);
        jw_kstr(w, "media_type", SV("text/plain"));
        jw_kstr(w, "type", SV("text"));
    } else {
        jw_kstr(w, "data", p->data);
        jw_kstr(w, "media_type", p->media_type);
        jw_kstr(w, "type", SV("base64"));
    }
    jw_close(w, '}');
}

static struct sv media_block(const struct part *p, const char *type, struct sv text,
                             struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    write_source(&w, p, text);
    if (p->filename.n && sv_is(sv_of(type), "document"))
        jw_kstr(&w, "title", p->filename);
    jw_kstr(&w, "type", sv_of(type));
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* Documents are PDF, or plain text that is not base64. Absent: neither. */
static struct sv document_block(const struct part *p, struct arena *a)
{
    struct sv text;

    if (p->kind != PART_FILE_DATA || sv_is(p->media_type, "application/pdf"))
        return media_block(p, sv_starts(p->media_type, SV("image/")) ? "image" : "document",
                           (struct sv){ 0 }, a);
    bool is_text =
        sv_starts(p->media_type, SV("text/")) || sv_is(p->media_type, "application/json");
    if (is_text && render_base64(p->data, a, &text) && utf8_invalid(text) < 0)
        return media_block(p, "document", text.s ? text : SV(""), a);
    return (struct sv){ 0 };
}

/* Is it a picture that the API accepts? One without a type is sent as it is. */
static bool is_accepted_picture(const struct part *p)
{
    static const char *const types[] = { "image/jpeg", "image/png", "image/gif", "image/webp" };

    for (size_t i = 0; i < COUNT(types); i++)
        if (sv_is(p->media_type, types[i]))
            return true;
    return !p->media_type.n;
}

/* Only what a user says may hold pictures and files; a picture must be of a kind the API takes. */
static const char *why_not_here(const struct message_out *m, const struct part *p)
{
    bool is_picture = p->kind == PART_IMAGE_URL || p->kind == PART_IMAGE_DATA;
    bool is_media = is_picture || p->kind == PART_FILE_URL || p->kind == PART_FILE_DATA ||
                    p->kind == PART_FILE_ID;

    if (is_media && parsed_is(&m->x->turns[m->at], "assistant"))
        return "which an assistant's message cannot hold";
    if (is_picture && !is_accepted_picture(p))
        return "which is of a type that is not taken";
    return NULL;
}

static bool has_source(const struct part *p)
{
    return json_is(json_find(&p->raw, "source"), JSON_OBJECT);
}

/* Only in an assistant's message, and only signed: the API refuses any other thinking. */
static struct sv thinking_block(const struct message_out *m, const struct part *p)
{
    bool is_assistant = parsed_is(&m->x->turns[m->at], "assistant");

    if (is_assistant && (p->kind == PART_REDACTED || p->signature.n))
        return json_canonical(&p->raw, m->x->a);
    report_add(m->x->r, REPAIR_DROPPED, place(m), "thinking %s",
               is_assistant ? "without a signature" : "that is not the assistant's");
    return (struct sv){ 0 };
}

/* A part as a block; absent when there is none for it, which is then reported. */
static struct sv block_of(const struct message_out *m, const struct part *p)
{
    struct arena *a = m->x->a;
    struct sv     block = { 0 };
    const char   *why = why_not_here(m, p);

    if (why) {
        report_add(m->x->r, REPAIR_DROPPED, place(m), "a part of type %s (" SV_FMT "), %s",
                   part_word(p), SV_ARG(p->media_type.n ? p->media_type : SV("no type")), why);
        return block;
    }
    switch (p->kind) {
    case PART_CALL: return block; /* add_parts() writes it */
    case PART_TEXT:
        if (!p->text.n)
            return block; /* refused by the API; nothing is lost */
        if (part_is_blank(p)) {
            report_add(m->x->r, REPAIR_DROPPED, place(m), "a text of blanks only");
            return block;
        }
        return sv_is(json_text(&p->raw, "type"), "text") ? json_canonical(&p->raw, a)
                                                         : text_block(p->text, a);
    case PART_THINKING:
    case PART_REDACTED: return thinking_block(m, p);
    case PART_OTHER:
        report_add(m->x->r, REPAIR_KEPT, place(m), "a part of unknown type as it is");
        return json_canonical(&p->raw, a);
    case PART_IMAGE_URL:
    case PART_IMAGE_DATA:
        if (has_source(p))
            return json_canonical(&p->raw, a);
        block = media_block(p, "image", (struct sv){ 0 }, a);
        break;
    case PART_FILE_URL:
    case PART_FILE_DATA:
    case PART_FILE_ID:
        if (has_source(p))
            return json_canonical(&p->raw, a);
        block = document_block(p, a);
    }
    if (!block.s)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "a file of type " SV_FMT,
                   SV_ARG(p->media_type));
    else
        part_report_rest(p, place(m), m->x->r);
    return block;
}

static void add_call(struct message_out *m, const struct tool_call *c)
{
    struct arena *a = m->x->a;
    struct sb     b = sb_in(a, 0);
    struct jw     w = jw_in(&b, 0);
    struct json   input;
    struct sv     id = accepted_id(c->id, a);

    struct repair_place at = place(m);
    at.tool_call_id = c->id;
    if (!sv_eq(id, c->id))
        report_add(m->x->r, REPAIR_RENAMED, at, "it to " SV_FMT, SV_ARG(id));
    if (!tool_call_object(c, a, &input))
        report_add(m->x->r, REPAIR_CHANGED, at, "arguments that are no object to one around them");
    jw_open(&w, '{');
    jw_kstr(&w, "id", id);
    jw_key(&w, "input");
    jw_raw(&w, json_canonical(&input, a));
    jw_kstr(&w, "name", render_call_name(c, 128, at, m->x));
    jw_kstr(&w, "type", SV("tool_use"));
    jw_close(&w, '}');
    add_block(m, sb_sv(&b));
}

static void add_parts(struct message_out *m, const struct parsed_message *t)
{
    if (t->is_text) {
        if (t->n_parts && part_is_blank(&t->parts[0]))
            report_add(m->x->r, REPAIR_DROPPED, place(m), "a text of blanks only");
        else if (t->n_parts)
            *vec_push(&m->blocks, m->x->a) = (struct anthropic_block){ .text = t->parts[0].text };
        return;
    }
    for (size_t i = 0; i < t->n_parts; i++) {
        if (t->parts[i].kind == PART_CALL) {
            add_call(m, &t->calls[t->parts[i].call]);
            continue;
        }
        struct sv block = block_of(m, &t->parts[i]);
        if (block.s)
            add_block(m, block);
    }
}

/* Calls of `tool_calls` have no place among the parts: they come last. */
static void add_rest_of_calls(struct message_out *m, const struct parsed_message *t)
{
    bool *placed = ARENA_NEW(m->x->a, bool, t->n_calls + 1);

    for (size_t i = 0; i < t->n_parts; i++)
        if (t->parts[i].kind == PART_CALL)
            placed[t->parts[i].call] = true;
    for (size_t i = 0; i < t->n_calls; i++)
        if (!placed[i])
            add_call(m, &t->calls[i]);
}

/* ---- turns ---------------------------------------------------------------------------- */

/* Signed or sealed thinking kept beside the content, in the shapes providers' proxies use. */
static size_t add_details(struct message_out *m, const struct json *details)
{
    size_t added = 0;

    for (size_t i = 0; json_is(details, JSON_ARRAY) && i < details->n; i++) {
        const struct json *d = &details->items[i];
        struct sv          text = json_text(d, "thinking"), data = json_text(d, "data");
        struct sb          b = sb_in(m->x->a, 0);
        struct jw          w = jw_in(&b, 0);
        bool               is_signed = json_text(d, "signature").n > 0;
        if (!text.s)
            text = json_text(d, "text");
        if (!(is_signed && text.s) && !data.s) {
            report_add(m->x->r, REPAIR_DROPPED, place(m), "a reasoning detail without a signature");
            continue;
        }
        jw_open(&w, '{');
        if (is_signed && text.s) {
            jw_kstr(&w, "signature", json_text(d, "signature"));
            jw_kstr(&w, "thinking", text);
        } else {
            jw_kstr(&w, "data", data);
        }
        jw_kstr(&w, "type", is_signed && text.s ? SV("thinking") : SV("redacted_thinking"));
        jw_close(&w, '}');
        add_block(m, sb_sv(&b));
        added++;
    }
    return added;
}

static void add_assistant(struct message_out *m, const struct parsed_message *t)
{
    size_t signed_thoughts;

    enter(m, "assistant");
    signed_thoughts = add_details(m, &t->details);
    if (t->details.type != JSON_NULL && t->details.type != JSON_ARRAY)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "reasoning details that are not a list");
    if (t->thinking.n && !signed_thoughts)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "thinking without a signature");
    size_t before = m->blocks.n;
    add_parts(m, t);
    add_rest_of_calls(m, t);
    if (m->blocks.n == before && !signed_thoughts)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "a message without content");
}

static void add_result(struct message_out *m, const struct parsed_message *t)
{
    struct sb b = sb_in(m->x->a, 0);
    struct jw w = jw_in(&b, 0);

    enter(m, "user");
    if (t->is_text) {
        *vec_push(&m->blocks, m->x->a) = (struct anthropic_block){ .result = t };
        return;
    }
    jw_open(&w, '{');
    jw_key(&w, "content");
    jw_open(&w, '[');
    for (size_t i = 0; i < t->n_parts; i++) {
        struct sv block = block_of(m, &t->parts[i]);
        if (block.s)
            jw_raw(&w, block);
    }
    jw_close(&w, ']');
    end_result(&w, t, m->x->a);
    add_block(m, sb_sv(&b));
}

static void add_user(struct message_out *m, const struct parsed_message *t)
{
    enter(m, "user");
    size_t before = m->blocks.n;
    if (t->thinking.n)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "thinking that is not the assistant's");
    if (t->details.type != JSON_NULL)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "reasoning that is not the assistant's");
    add_parts(m, t);
    if (m->blocks.n == before)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "a message without content");
}

/* The first message must be a user's: a limit may have cut it off, or the assistant spoke first. */
static void open_with_user(struct message_out *m, const struct parsed_message *t)
{
    if (m->role || !parsed_is(t, "assistant"))
        return;
    enter(m, "user");
    *vec_push(&m->blocks, m->x->a) =
        (struct anthropic_block){ .text = m->x->cut ? SV("(earlier messages are left out)")
                                                    : SV("(the conversation begins here)") };
    report_add(m->x->r, REPAIR_ADDED, place(m),
               "a user message in front, since the first message must be a user's");
}

static void add_turn(struct message_out *m, const struct parsed_message *t)
{
    if (parsed_is_system(t))
        return; /* joined into "system" */
    if (m->x->cache.on && !m->marked && t->message >= m->x->cache.messages) {
        mark_last(m);
        m->marked = true;
    }
    if (parsed_is(t, "tool")) {
        add_result(m, t);
        return;
    }
    if (t->name.n)
        report_add(m->x->r, REPAIR_DROPPED, place(m), "the name '" SV_FMT "'", SV_ARG(t->name));
    open_with_user(m, t);
    if (parsed_is(t, "assistant")) {
        add_assistant(m, t);
        return;
    }
    if (!parsed_is(t, "user"))
        report_add(m->x->r, REPAIR_CHANGED, place(m), "the role '" SV_FMT "' to user",
                   SV_ARG(t->role));
    add_user(m, t);
}

/* A last message of the assistant is the start of the answer, and the API refuses white space at
 * its end. */
static void trim_end(struct message_out *m)
{
    struct anthropic_block *last = m->blocks.n ? &m->blocks.v[m->blocks.n - 1] : NULL;

    if (!last || !m->role || !sv_is(sv_of(m->role), "assistant") || last->json.s || last->result)
        return;
    struct sv trimmed = last->text;
    while (trimmed.n && (unsigned char)trimmed.s[trimmed.n - 1] <= ' ')
        trimmed.n--;
    if (trimmed.n == last->text.n)
        return;
    m->at = m->x->n - 1;
    report_add(m->x->r, REPAIR_CHANGED, place(m), "the end of the last message: blanks are cut");
    last->text = trimmed;
}

/* Newer models do not continue a message of the assistant, and refuse one at the end. */
static void end_with_user(struct message_out *m)
{
    if (!m->x->user_last || !m->role || !sv_is(sv_of(m->role), "assistant"))
        return;
    report_add(m->x->r, REPAIR_ADDED, REPAIR_OF_ALL,
               "a user message at the end, since this model does not continue an assistant's");
    enter(m, "user");
    *vec_push(&m->blocks, m->x->a) = (struct anthropic_block){ .text = SV("(continue)") };
}

/* ---- the system prompt ------------------------------------------------------------------ */

static void add_system_parts(struct message_out *m, const struct parsed_message *t, struct sb *text)
{
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct part *p = &t->parts[i];
        if (p->kind == PART_TEXT) {
            sb_adds(text, text->n ? "\n\n" : "");
            sb_add(text, p->text);
            part_report_rest(p, place(m), m->x->r);
        } else {
            report_add(m->x->r, REPAIR_DROPPED, place(m), "a part of type %s of a system message",
                       part_word(p));
        }
    }
}

/* The prompt, and behind it every system message wherever it stands. */
static struct sv system_text(struct message_out *m)
{
    struct sb text = sb_in(m->x->a, 0);
    bool      opening = true;

    sb_add(&text, m->x->system_prompt);
    for (m->at = 0; m->at < m->x->n; m->at++) {
        const struct parsed_message *t = &m->x->turns[m->at];
        if (!parsed_is_system(t)) {
            opening = false;
            continue;
        }
        if (!opening)
            report_add(m->x->r, REPAIR_MOVED, place(m), "a system message into \"system\"");
        add_system_parts(m, t, &text);
    }
    return sb_sv(&text);
}

/* Two parts: what is the same in every turn, and the rest. */
static void write_system(struct message_out *m, struct sv text)
{
    size_t    stable = m->x->cache.system < text.n ? m->x->cache.system : text.n;
    struct sv rest = sv_trim(sv_skip(text, stable));

    if (!text.n)
        return;
    jw_key(&m->w, "system");
    if (!m->x->cache.on) {
        jw_str(&m->w, text);
        return;
    }
    jw_open(&m->w, '[');
    if (stable)
        write_text(&m->w, sv_first(text, stable), true);
    if (rest.n)
        write_text(&m->w, rest, true);
    jw_close(&m->w, ']');
}

void render_anthropic(const struct rendering *x)
{
    struct message_out m = { .x = x, .w = jw_in(x->out, 0) };
    struct sv          system = system_text(&m);

    jw_open(&m.w, '{');
    jw_key(&m.w, "messages");
    jw_open(&m.w, '[');
    for (m.at = 0; m.at < x->n; m.at++)
        add_turn(&m, &x->turns[m.at]);
    end_with_user(&m);
    trim_end(&m);
    if (x->cache.on)
        mark_last(&m);
    flush(&m);
    jw_close(&m.w, ']');
    write_system(&m, system);
    jw_close(&m.w, '}');
}
