/* A message as slices of canonical JSON: reading it from an entry, writing it. */
#include "thread/message.h"

#include "thread/skeleton.h"

/* Where each JSON member of a message goes. */
static const struct {
    struct sv name;
    size_t    offset;
} fields[] = {
    { SV_STATIC("content"), offsetof(struct message, content) },
    { SV_STATIC("name"), offsetof(struct message, name) },
    { SV_STATIC("reasoning_details"), offsetof(struct message, reasoning_details) },
    { SV_STATIC("refs"), offsetof(struct message, refs) },
    { SV_STATIC("role"), offsetof(struct message, role) },
    { SV_STATIC("thinking"), offsetof(struct message, thinking) },
    { SV_STATIC("tool_call_id"), offsetof(struct message, tool_call_id) },
    { SV_STATIC("tool_calls"), offsetof(struct message, tool_calls) },
};

static struct sv *field_of(struct message *m, struct sv key)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (key.n == fields[i].name.n && key.s[0] == fields[i].name.s[0] &&
            sv_eq(key, fields[i].name))
            return (struct sv *)((char *)m + fields[i].offset);
    return NULL;
}

static bool starts_with(struct sv raw, char c)
{
    return raw.n && raw.s[0] == c;
}

static void keep_if(struct sv *raw, bool wanted)
{
    if (!wanted)
        *raw = (struct sv){ 0 };
}

/* Absent and null are the same; fields of the wrong shape do not count. */
static void tidy(struct message *m)
{
    if (!m->content.n || sv_is(m->content, "null"))
        m->content = SV("\"\"");
    keep_if(&m->thinking, starts_with(m->thinking, '"') && m->thinking.n > 2);
    keep_if(&m->tool_calls, starts_with(m->tool_calls, '['));
    keep_if(&m->tool_call_id, starts_with(m->tool_call_id, '"'));
    keep_if(&m->name, starts_with(m->name, '"'));
    keep_if(&m->refs, starts_with(m->refs, '{') && m->refs.n > 2);
    keep_if(&m->reasoning_details, m->reasoning_details.n && !sv_is(m->reasoning_details, "null"));
    if (starts_with(m->role, '"'))
        m->role = (struct sv){ m->role.s + 1, m->role.n - 2 };
}

struct message message_of_json(struct sv object)
{
    struct message m = { .seq = -1 };
    struct sv      rest = object, key, raw;

    while (json_next(&rest, &key, &raw)) {
        struct sv *field = field_of(&m, key);
        if (field)
            *field = raw;
        else if (sv_is(key, "erased"))
            m.erased = sv_is(raw, "true");
        else if (!sv_is(key, "timestamp") || !sv_to_int(raw, &m.at))
            m.whole = object;
    }
    tidy(&m);
    return m;
}

struct message message_of_entry(const struct entry *n)
{
    struct message m = message_of_json(n->payload);

    m.whole = (struct sv){ 0 }; /* the log keeps the payload as it is */
    m.erased = n->erased;
    if (n->erased)
        m.content = SV("\"" ERASED_TEXT "\"");
    m.seq = n->seq;
    m.at = n->at;
    m.refs =
        sv_is(n->refs, "{}") ? (struct sv){ 0 } : n->refs; /* the entry's, never the payload's */
    return m;
}

static struct sv keep(struct sv v, struct arena *a)
{
    return v.s ? sv_dup(v, a) : v;
}

struct message message_copy(const struct message *m, struct arena *a)
{
    struct message copy = *m;

    copy.role = keep(m->role, a);
    copy.content = keep(m->content, a);
    copy.thinking = keep(m->thinking, a);
    copy.reasoning_details = keep(m->reasoning_details, a);
    copy.tool_calls = keep(m->tool_calls, a);
    copy.tool_call_id = keep(m->tool_call_id, a);
    copy.name = keep(m->name, a);
    copy.refs = keep(m->refs, a);
    copy.whole = keep(m->whole, a);
    return copy;
}

struct message message_of_text(const char *role, struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_json_string(&b, text);
    return (struct message){ .seq = -1, .role = sv_of(role), .content = sb_sv(&b) };
}

static void add_field(struct sb *b, const char *key, struct sv raw)
{
    if (!raw.s)
        return;
    sb_addf(b, ",\"%s\":", key);
    sb_add(b, raw);
}

/* Thinking goes in front of the content, as its first part; a list stays flat. */
static void add_content(struct sb *b, const struct message *m)
{
    bool is_list = starts_with(m->content, '[');

    if (!m->thinking.s) {
        sb_add(b, m->content);
        return;
    }
    sb_adds(b, "[{\"thinking\":");
    sb_add(b, m->thinking);
    sb_adds(b, ",\"type\":\"thinking\"}");
    if (is_list) {
        sb_adds(b, m->content.n > 2 ? "," : "");
        sb_add(b, sv_skip(m->content, 1));
    } else {
        sb_adds(b, ",{\"text\":");
        sb_add(b, m->content);
        sb_adds(b, ",\"type\":\"text\"}]");
    }
}

static void add_role(struct sb *b, struct sv role)
{
    sb_put(b, SV(",\"role\":\""));
    sb_put(b, role); /* a slice of JSON already: its escapes are still in it */
    sb_putc(b, '"');
}

void message_write(struct sb *b, const struct message *m)
{
    bool is_tool = sv_is(m->role, "tool");
    bool is_plain = sv_is(m->role, "user") || sv_is(m->role, "system");

    sb_put(b, SV("{\"content\":"));
    add_content(b, m);
    add_field(b, "erased", m->erased ? SV("true") : (struct sv){ 0 });
    if (!is_plain && (is_tool || !sv_is(m->role, "assistant")))
        add_field(b, "name", m->name);
    if (!is_plain && !is_tool)
        add_field(b, "reasoning_details", m->reasoning_details);
    add_field(b, "refs", m->refs);
    add_role(b, m->role);
    if (is_tool || (!is_plain && !sv_is(m->role, "assistant")))
        add_field(b, "tool_call_id", m->tool_call_id);
    if (!is_plain && !is_tool)
        add_field(b, "tool_calls", m->tool_calls);
    sb_putc(b, '}');
}

void message_write_stored(struct sb *b, const struct message *m)
{
    if (m->whole.s) {
        sb_add(b, m->whole);
        return;
    }
    sb_adds(b, "{\"content\":");
    sb_add(b, m->content);
    add_field(b, "erased", m->erased ? SV("true") : (struct sv){ 0 });
    add_field(b, "name", m->name);
    add_field(b, "reasoning_details", m->reasoning_details);
    add_field(b, "refs", m->refs);
    add_role(b, m->role);
    add_field(b, "thinking", m->thinking);
    if (m->at) {
        sb_adds(b, ",\"timestamp\":");
        sb_add_int(b, m->at);
    }
    add_field(b, "tool_call_id", m->tool_call_id);
    add_field(b, "tool_calls", m->tool_calls);
    sb_addc(b, '}');
}
