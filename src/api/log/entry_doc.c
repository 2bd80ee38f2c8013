/* Entries as documents, and as text: one line each to be read, or everything that is stored. */
#include "api/log/entry_doc.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "loom/node.h"
#include "thread/entry_json.h"
#include "thread/kind.h"
#include "thread/message.h"

/* clang-format off */
const struct field entry_fields[] = {
    { "actor",   FIELD_TEXT,   .nullable = true, .help = "who did it" },
    { "at",      FIELD_NUMBER, .help = "when, in milliseconds since 1970" },
    { "chain",   FIELD_TEXT,   .help = "chain value, 64 hex digits" },
    { "erased",  FIELD_TEXT,   .optional = true, .help = "of an entry whose content was erased: the commitment to it" },
    { "id",      FIELD_TEXT,   .optional = true, .help = "an id of its own; else it follows from the chain value" },
    { "kind",    FIELD_TEXT,   .help = "what it is" },
    { "lane",    FIELD_TEXT,   .nullable = true, .help = "the lane it is in" },
    { "op_id",   FIELD_TEXT,   .optional = true, .help = "unique in its thread" },
    { "payload", FIELD_OBJECT, .help = "what it says, by its kind" },
    { "refs",    FIELD_OBJECT, .help = "what it refers to" },
    { "salt",    FIELD_TEXT,   .optional = true, .help = "of the commitment to its content, 32 hex digits" },
    { "seq",     FIELD_NUMBER, .help = "its place in the thread, from 0" },
    { "thread",  FIELD_TEXT,   .optional = true, .help = "the thread it is in" },
    { 0 },
};
/* clang-format on */

enum status entry_send(struct request *r, struct sv thread, const struct entry *n, bool intact,
                       struct arena *scratch, struct err *e)
{
    struct jw *w = request_event(r);

    if (intact)
        entry_write_of(w->b, thread, n);
    else
        entry_write_damaged(w->b, thread, n, scratch);
    return request_send(r, e);
}

/* ---- messages ------------------------------------------------------------------------ */

/* Text of a content: itself, or the texts of its parts, and the types of those that have none. */
static void put_content(struct sb *b, const struct json *content, struct arena *a)
{
    if (json_is(content, JSON_STRING))
        sb_add(b, json_sv(content));
    else if (!json_is(content, JSON_ARRAY) && content && content->type != JSON_NULL)
        sb_add(b, json_canonical(content, a));
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        struct sv text = json_text(&content->items[i], "text");
        struct sv type = json_text(&content->items[i], "type");
        if (i)
            sb_addc(b, ' ');
        if (text.s)
            sb_add(b, text);
        else
            sb_addf(b, "[" SV_FMT "]", SV_ARG(type.s ? type : SV("part")));
    }
}

static void put_calls(struct sb *b, const struct json *calls, struct arena *a)
{
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++) {
        const struct json *inner = json_find(&calls->items[i], "function");
        const struct json *call = inner ? inner : &calls->items[i];
        const struct json *arguments = json_find(call, "arguments");
        sb_addf(b, "%scalls " SV_FMT " ", b->n ? " · " : "", SV_ARG(json_text(call, "name")));
        if (arguments)
            sb_add(b, json_is(arguments, JSON_STRING) ? json_sv(arguments)
                                                      : json_canonical(arguments, a));
    }
}

/* What a message says: its text, its calls, of a tool whose result it is. */
static void put_message(struct sb *b, bool erased, const struct json *payload, struct arena *a)
{
    struct sv name = json_text(payload, "name");

    if (name.n)
        sb_addf(b, SV_FMT ": ", SV_ARG(name));
    if (erased)
        sb_adds(b, "[erased]");
    else
        put_content(b, json_find(payload, "content"), a);
    put_calls(b, json_find(payload, "tool_calls"), a);
}

/* ---- other entries ------------------------------------------------------------------ */

/* The members of an entry that are shown, in this order. For a kind without a row: every text and
 * number except those in `hidden`. */
/* clang-format off */
static const struct shown_row {
    const char *kind;
    const char *members[8]; /* ends with NULL */
} shown_rows[] = {
    { "document_write",   { "agent", "path" } },
    { "loom_annotation",  { "agent", "node", "text" } },
    { "loom_mark",        { "agent", "mark", "node", "label", "title", "description", "mode" } },
    { "memory_operation", { "agent", "op", "label", "text" } },
    { "model_request",    { "agent", "model", "tokens" } },
    { "model_response",   { "agent", "model", "finish", "interruption", "prompt_tokens", "completion_tokens" } },
    { "run_finished",     { "agent", "outcome", "reason" } },
    { "run_started",      { "agent", "request_id" } },
    { "summary",          { "model", "text" } },
    { "tool_action",      { "agent", "line", "outcome", "code", "result" } },
};
/* clang-format on */

/* Is the member shown? Not ids that are shown elsewhere, hashes and bytes. */
static bool is_shown(struct sv key)
{
    static const char *const hidden[] = {
        "op_id", "agent", "context_ref", "hash",   "before", "after",   "body",
        "of",    "raw",   "request_id",  "run_id", "asked",  "headers", NULL,
    };

    for (size_t i = 0; hidden[i]; i++)
        if (sv_is(key, hidden[i]))
            return false;
    return true;
}

static void put_member(struct sb *b, struct sv key, const struct json *v)
{
    bool number = json_is(v, JSON_NUMBER);

    if ((!number && !json_is(v, JSON_STRING)) || !v->n)
        return;
    sb_adds(b, b->n ? " · " : "");
    if (number)
        sb_addf(b, SV_FMT " ", SV_ARG(key));
    sb_add(b, (struct sv){ v->s, v->n });
}

static void put_members(struct sb *b, struct sv kind, const struct json *v)
{
    for (size_t k = 0; k < COUNT(shown_rows); k++)
        if (sv_is(kind, shown_rows[k].kind)) {
            for (const char *const *m = shown_rows[k].members; *m; m++)
                put_member(b, sv_of(*m), json_find(v, *m));
            return;
        }
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++)
        if (is_shown(v->members[i].key))
            put_member(b, v->members[i].key, &v->members[i].value);
}

static void put_operation(struct sb *b, const struct json *op)
{
    const struct json *messages = json_find(json_find(op, "result_context"), "entries");

    sb_add(b, json_text(op, "type"));
    if (json_text(op, "reason").n)
        sb_addf(b, " · " SV_FMT, SV_ARG(json_text(op, "reason")));
    if (json_is(messages, JSON_ARRAY))
        sb_addf(b, " · %zu message%s", messages->n, messages->n == 1 ? "" : "s");
}

/* The content of an entry as text. An entry of an unknown kind, or one without text, is shown as
 * JSON. */
static void put_said(struct sb *b, struct sv kind, bool erased, const struct json *payload,
                     struct arena *a)
{
    bool message = kind_of(kind) == KIND_AI_MESSAGE && json_text(payload, "role").n;

    if (message)
        put_message(b, erased, payload, a);
    else if (erased)
        sb_adds(b, "[erased]");
    else if (kind_of(kind) == KIND_AI_CONTEXT_OPERATION)
        put_operation(b, json_find(payload, "operation"));
    else if (kind_of(kind) != KIND_OTHER && kind_of(kind) != KIND_AI_MESSAGE)
        put_members(b, kind, payload);
    if (!b->n && !message && payload)
        sb_add(b, json_canonical(payload, a));
}

/* ---- one line ------------------------------------------------------------------------ */

/* Line breaks and tabs as spaces; other control characters are escaped. */
static struct sv one_line(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0), plain = sb_in(a, 0);

    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];
        sb_addc(&b, (char)(c == '\n' || c == '\r' || c == '\t' ? ' ' : c));
    }
    sb_add_plain_line(&plain, sb_sv(&b));
    return sb_sv(&plain);
}

static void put_cut(struct term *t, struct sv text)
{
    struct sv line = one_line(text, t->a);
    bool      cut = t->width && utf8_width(line) > t->width;

    sb_add(t->out, cut ? utf8_fit(line, t->width - 1) : line);
    sb_adds(t->out, cut ? "…\n" : "\n");
}

void entry_print(const struct json *entry, struct term *t)
{
    const struct json *payload = json_find(entry, "payload");
    struct sv          kind = json_text(entry, "kind"), lane = json_text(entry, "lane");
    struct sv          role = json_text(payload, "role"), thread = json_text(entry, "thread");
    struct sb          b = sb_in(t->a, 0), text = sb_in(t->a, 0);
    bool               message = sv_is(kind, "ai_message") && role.n;

    if (thread.s)
        sb_addf(&b, SV_FMT " ", SV_ARG(thread));
    sb_addf(&b, "#%lld " SV_FMT, (long long)json_number(entry, "seq"),
            SV_ARG(message ? role : kind));
    if (lane.n && !sv_is(lane, "default"))
        sb_addf(&b, " (" SV_FMT ")", SV_ARG(lane));
    put_said(&text, kind, json_find(entry, "erased") != NULL, payload, t->a);
    sb_adds(&b, "  ");
    sb_add(&b, sb_sv(&text));
    put_cut(t, sb_sv(&b));
}

struct sv entry_line(const struct entry *n, const struct json *payload, size_t max, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    put_said(&b, n->kind, n->erased, payload, a);
    return loom_one_line(sb_sv(&b), max, a);
}

struct sv entry_message_text(const struct message *m, struct arena *a)
{
    struct sb   b = sb_in(a, 0), text = sb_in(a, 0);
    struct json v = { .type = JSON_NULL };
    struct err  ignored;

    message_write(&text, m);
    if (json_parse(sb_sv(&text), 0, a, &v, &ignored) == ST_OK)
        put_message(&b, false, &v, a);
    return sb_sv(&b);
}

/* ---- all of it ----------------------------------------------------------------------- */

static struct sv id_of(const struct json *entry, struct arena *a)
{
    struct entry n = { .seq = json_number(entry, "seq"), .id = json_text(entry, "id") };

    return entry_chain_read(json_text(entry, "chain"), &n.chain) ? entry_id(&n, a) : SV("-");
}

void entry_print_raw(const struct json *entry, struct term *t)
{
    struct sv lane = json_text(entry, "lane"), actor = json_text(entry, "actor");
    struct sv refs = json_canonical(json_find(entry, "refs"), t->a);

    sb_addf(t->out, "#%lld ", (long long)json_number(entry, "seq"));
    sb_add_iso_ms(t->out, json_number(entry, "at"));
    sb_addf(t->out, " " SV_FMT, SV_ARG(json_text(entry, "kind")));
    if (lane.s)
        sb_addf(t->out, " lane:" SV_FMT, SV_ARG(lane));
    sb_addf(t->out, " by " SV_FMT " " SV_FMT "\n    ", SV_ARG(actor.n ? actor : SV("-")),
            SV_ARG(id_of(entry, t->a)));
    sb_add_plain(t->out, json_canonical(json_find(entry, "payload"), t->a));
    if (!sv_is(refs, "{}")) {
        sb_adds(t->out, "\n    refs ");
        sb_add_plain(t->out, refs);
    }
    sb_addc(t->out, '\n');
}
