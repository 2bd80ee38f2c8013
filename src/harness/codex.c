/* Rollouts of Codex: JSON Lines of {"timestamp","ordinal","type","payload"}. Records follow each
 * other; a fork begins with a header that names the rollout and the ordinal up to which it shares
 * it, and holds only what is its own; a rollback is an event. Records of older versions have no
 * ordinal (the number of the line stands for it), or are the payload itself. */
#include "harness/blocks.h"
#include "harness/harness_internal.h"

#include "base/clock.h"

#include <stdio.h>

/* ---- whose it is ------------------------------------------------------------------------- */

/* A sub-agent's header says who started it. */
static struct sv started_by(const struct json *meta)
{
    const struct json *spawn =
        json_find(json_find(json_find(meta, "source"), "subagent"), "thread_spawn");
    struct sv parent = json_text(spawn, "parent_thread_id");

    return parent.n ? parent : json_text(meta, "parent_thread_id");
}

static bool identify(const struct json *r, struct arena *a, struct harness_identity *out)
{
    const struct json *meta = json_find(r, "payload");
    struct sv          parent, agent;

    if (!sv_is(json_text(r, "type"), "session_meta")) {
        if (!json_text(r, "id").n || !json_text(r, "timestamp").n || json_find(r, "type"))
            return false;
        meta = r; /* the first line of an old rollout */
    }
    out->session = sv_dup(json_text(meta, "id"), a);
    agent = started_by(meta);
    parent = agent.n ? agent : json_text(meta, "forked_from_id");
    out->is_agent = agent.n > 0;
    if (parent.n)
        out->parent = sv_dup(parent, a);
    return true;
}

/* ---- items --------------------------------------------------------------------------------- */

static struct sv ordinal_key(struct harness_reading *x, const struct json *r)
{
    struct sb b = sb_in(x->a, 0);
    int64_t   n;

    if (json_int(json_find(r, "ordinal"), &n))
        sb_addf(&b, "%lld", (long long)n);
    else
        sb_addf(&b, "line-%lld", (long long)x->state->number);
    return sb_sv(&b);
}

static struct harness_item *keep(struct harness_reading *x, const struct json *r)
{
    struct harness_item *item = harness_item_add(x, HARNESS_KEPT, HARNESS_LOOSE, ordinal_key(x, r));

    if (!clock_parse_iso(json_text(r, "timestamp"), &item->at))
        item->at = 0;
    item->record = json_canonical(r, x->a);
    return item;
}

/* A record of the conversation, stored without the member of its payload that the entry has. The
 * first record of a fork, and the first after a rollback, do not follow the record before them in
 * the file. */
static struct harness_item *add(struct harness_reading *x, const struct json *r,
                                enum harness_item_kind kind, const char *without)
{
    const char *const    hole[] = { "payload", without, NULL };
    struct sv            origin = sv_dup(harness_text_sv(&x->state->origin), x->a);
    struct harness_item *item = keep(x, r);

    item->kind = kind;
    item->link = sv_is(origin, "-") ? HARNESS_ROOT : origin.n ? HARNESS_PARENT : HARNESS_NEXT;
    item->parent = origin;
    harness_text_set(&x->state->origin, SV(""));
    if (without && json_find(r, "payload"))
        item->record = harness_without(r, hole, x->a);
    return item;
}

static void keep_unknown(struct harness_reading *x, const struct json *r, const char *what,
                         struct sv type)
{
    harness_note(x->report, x->state->number, "%s of type '%.40s': kept, not understood", what,
                 sv_cstr(type.s ? type : SV("none"), x->a));
    keep(x, r);
}

/* ---- messages ------------------------------------------------------------------------------ */

/* Did a person write it? The program also adds texts of its own with the role of the user. */
static bool is_prompt(struct sv text)
{
    static const char *const own[] = { "<environment_context>", "<user_instructions>",
                                       "<permissions",          "<skills_instructions>",
                                       "# AGENTS.md",           "<turn_aborted>" };

    for (size_t i = 0; i < COUNT(own); i++)
        if (sv_starts(text, sv_of(own[i])))
            return false;
    return text.n > 0;
}

static void read_user(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json *content = json_find(p, "content");
    struct sv          text = harness_first_text(content);
    struct sv          before = harness_text_sv(&x->state->previous);

    if (x->state->origin.n)
        before = harness_text_sv(&x->state->origin);
    if (is_prompt(text))
        harness_start_add(x->state, before);
    struct harness_item *item = add(x, r, HARNESS_MESSAGE, "content");
    item->role = "user";
    item->id = json_text(p, "id");
    item->content = harness_parts(content, x->a);
    item->is_turn = is_prompt(text);
    item->prompt = item->is_turn ? text : (struct sv){ 0 };
}

static struct harness_item *assistant(struct harness_reading *x, const struct json *r,
                                      const struct json *p, const char *without)
{
    struct harness_item *item = add(x, r, HARNESS_MESSAGE, without);

    item->role = "assistant";
    item->id = json_text(p, "id");
    item->author = item->model = harness_text_sv(&x->state->model);
    return item;
}

static void read_message(struct harness_reading *x, const struct json *r, const struct json *p)
{
    struct sv role = json_text(p, "role");
    bool      is_summary = json_truth(json_find(json_find(r, "metadata"), "compaction_output"));

    if (sv_is(role, "user") && json_find(p, "content"))
        read_user(x, r, p);
    else if (sv_is(role, "assistant") && json_find(p, "content") && !is_summary)
        assistant(x, r, p, "content")->content = harness_parts(json_find(p, "content"), x->a);
    else if (sv_is(role, "developer") || sv_is(role, "system") || is_summary)
        keep(x, r);
    else
        keep_unknown(x, r, "messages", role);
}

/* Thinking that can be read is in `summary`, and the rest is kept unchanged. */
static void read_reasoning(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json   *summary = json_find(p, "summary");
    struct harness_item *item = assistant(x, r, p, "encrypted_content");
    struct sb            text = sb_in(x->a, 0), details = sb_in(x->a, 0);

    for (size_t i = 0; json_is(summary, JSON_ARRAY) && i < summary->n; i++) {
        sb_adds(&text, i ? "\n\n" : "");
        sb_add(&text, json_text(&summary->items[i], "text"));
    }
    sb_addc(&details, '[');
    json_write(&details, p);
    sb_addc(&details, ']');
    item->content = SV("\"\"");
    item->thinking = text.n ? sb_sv(&text) : (struct sv){ 0 };
    item->details = sb_sv(&details);
}

/* ---- tools --------------------------------------------------------------------------------- */

/* Arguments are an object as text; other text stands as it is. */
static void put_arguments(struct jw *w, const struct json *arguments, struct arena *a)
{
    struct json v;
    struct err  ignored;

    jw_key(w, "arguments");
    if (json_is(arguments, JSON_STRING) &&
        json_parse(json_sv(arguments), 0, a, &v, &ignored) == ST_OK && v.type == JSON_OBJECT)
        jw_json(w, &v);
    else if (arguments)
        jw_json(w, arguments);
    else
        jw_raw(w, SV("{}"));
}

static void call(struct harness_reading *x, const struct json *r, const struct json *p,
                 struct sv name, const struct json *arguments)
{
    struct harness_item *item = assistant(x, r, p, NULL);
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);

    jw_open(&w, '[');
    jw_open(&w, '{');
    put_arguments(&w, arguments, x->a);
    jw_kstr(&w, "id", json_text(p, "call_id"));
    jw_kstr(&w, "name", name);
    jw_close(&w, '}');
    jw_close(&w, ']');
    item->content = SV("\"\"");
    item->tool_calls = sb_sv(&b);
}

static void read_call(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json *arguments = json_find(p, "arguments");
    struct sv          name = json_text(p, "name");

    if (!json_text(p, "call_id").n) {
        keep_unknown(x, r, "calls without an id", json_text(p, "type"));
        return;
    }
    if (sv_is(json_text(p, "type"), "local_shell_call")) {
        name = SV("local_shell");
        arguments = json_find(p, "action");
    } else if (!arguments) {
        arguments = json_find(p, "input");
    }
    call(x, r, p, name.s ? name : SV(""), arguments);
}

/* The result of the call that starts a sub-agent names it; the sub-agent hangs on that result. */
static void note_agent(struct harness_reading *x, const struct json *output, struct sv id)
{
    struct json v;
    struct err  ignored;
    struct sv   text = json_sv(output);

    if (sv_starts(text, SV("{")) && text.n < HARNESS_TEXT_MAX * 8 &&
        json_parse(text, 0, x->a, &v, &ignored) == ST_OK && json_text(&v, "agent_id").n)
        harness_call_add(x->state, json_text(&v, "agent_id"), id);
}

/* Text, a list of parts, or {"content","success"}. */
static void read_output(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json   *output = json_find(p, "output");
    struct harness_item *item;

    if (!json_text(p, "call_id").n) {
        keep_unknown(x, r, "results without a call", json_text(p, "type"));
        return;
    }
    item = add(x, r, HARNESS_MESSAGE, "output");
    item->role = "tool";
    item->id = json_text(p, "id");
    item->tool_call_id = json_text(p, "call_id");
    if (json_is(output, JSON_OBJECT)) {
        item->failed = json_is(json_find(output, "success"), JSON_FALSE);
        output = json_find(output, "content");
    }
    item->content = output ? harness_parts(output, x->a) : SV("\"\"");
    note_agent(x, output, item->id);
}

static void keep_item(struct harness_reading *x, const struct json *r, const struct json *p)
{
    (void)p;
    keep(x, r);
}

static bool read_item(struct harness_reading *x, const struct json *r, const struct json *p)
{
    static const struct {
        const char *type;
        void (*read)(struct harness_reading *, const struct json *, const struct json *);
    } types[] = {
        { "message", read_message },
        { "reasoning", read_reasoning },
        { "function_call", read_call },
        { "local_shell_call", read_call },
        { "custom_tool_call", read_call },
        { "function_call_output", read_output },
        { "custom_tool_call_output", read_output },
        { "web_search_call", keep_item },
        { "image_generation_call", keep_item },
        { "compaction", keep_item },
        { "compaction_summary", keep_item },
        { "ghost_snapshot", keep_item },
    };
    struct sv type = json_text(p, "type");

    for (size_t i = 0; i < COUNT(types); i++)
        if (sv_is(type, types[i].type)) {
            types[i].read(x, r, p);
            return true;
        }
    return false;
}

/* ---- other records -------------------------------------------------------------------------- */

static void read_header(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json *base = json_find(p, "history_base");
    struct sv          agent = started_by(p), fork = json_text(p, "forked_from_id");
    int64_t            end;
    char               ordinal[24];

    /* A copy of another rollout's header in a fork says nothing about this session. */
    if (!sv_eq(json_text(p, "id"), x->session)) {
        keep(x, r);
        return;
    }
    if (json_text(p, "cwd").n)
        x->state->cwd = sv_dup(json_text(p, "cwd"), x->kept);
    harness_text_set(&x->state->version, json_text(p, "cli_version"));
    harness_text_set(&x->state->branch, json_text(json_find(p, "git"), "branch"));
    harness_text_set(&x->state->parent, agent.n ? agent : fork);
    x->state->is_agent = agent.n > 0;
    if (json_int(json_find(base, "end_ordinal_exclusive"), &end) && end > 0) {
        snprintf(ordinal, sizeof ordinal, "%lld", (long long)end - 1);
        harness_text_set(&x->state->origin, sv_of(ordinal));
    }
    keep(x, r);
}

static void read_turn(struct harness_reading *x, const struct json *r, const struct json *p)
{
    if (json_text(p, "model").n)
        harness_text_set(&x->state->model, json_text(p, "model"));
    keep(x, r);
}

/* Input tokens include those of the cache. */
static struct harness_usage usage_of(const struct json *u)
{
    int64_t cached = json_number(u, "cached_input_tokens");
    int64_t written = json_number(u, "cache_write_input_tokens");

    return (struct harness_usage){ .input = json_number(u, "input_tokens") - cached - written,
                                   .cache_read = cached,
                                   .cache_write = written,
                                   .output = json_number(u, "output_tokens"),
                                   .reasoning = json_number(u, "reasoning_output_tokens") };
}

static void read_usage_record(struct harness_reading *x, const struct json *r, const struct json *p)
{
    struct harness_item *item = keep(x, r);

    x->state->has_usage_records = true;
    item->usage = usage_of(json_find(p, "usage"));
    item->has_usage = true;
}

/* Older versions report the usage only by events, some of which repeat earlier ones. */
static void read_token_count(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json   *info = json_find(p, "info");
    int64_t              total = json_number(json_find(info, "total_token_usage"), "total_tokens");
    struct harness_item *item = keep(x, r);

    item->has_usage = !x->state->has_usage_records && total > x->state->seen;
    x->state->seen = total;
    if (item->has_usage)
        item->usage = usage_of(json_find(info, "last_token_usage"));
}

static void read_event(struct harness_reading *x, const struct json *r, const struct json *p)
{
    struct sv type = json_text(p, "type"), back;

    if (sv_is(type, "token_count")) {
        read_token_count(x, r, p);
        return;
    }
    if (sv_is(type, "thread_name_updated"))
        harness_text_set(&x->state->title, json_text(p, "thread_name"));
    if (sv_is(type, "thread_rolled_back")) {
        back = harness_start_back(x->state, json_number(p, "num_turns"));
        if (back.n)
            harness_text_set(&x->state->origin, back);
        else
            harness_note(x->report, x->state->number,
                         "rollbacks further than is remembered: what follows was put behind what "
                         "was before");
    }
    keep(x, r);
}

/* What the context was replaced by: messages of the user and the model. */
static void read_compacted(struct harness_reading *x, const struct json *r, const struct json *p)
{
    const struct json   *history = json_find(p, "replacement_history");
    struct harness_item *item = add(x, r, HARNESS_COMPACTION, "replacement_history");
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);

    jw_open(&w, '[');
    for (size_t i = 0; json_is(history, JSON_ARRAY) && i < history->n; i++) {
        const struct json *m = &history->items[i];
        struct sv          role = json_text(m, "role");
        if (!sv_is(json_text(m, "type"), "message") ||
            (!sv_is(role, "user") && !sv_is(role, "assistant")) || !json_find(m, "content"))
            continue;
        jw_open(&w, '{');
        jw_key(&w, "content");
        jw_raw(&w, harness_parts(json_find(m, "content"), x->a));
        jw_kstr(&w, "role", role);
        jw_close(&w, '}');
    }
    if (!json_is(history, JSON_ARRAY)) {
        jw_open(&w, '{');
        jw_kstr(&w, "content", json_text(p, "message").s ? json_text(p, "message") : SV(""));
        jw_kstr(&w, "role", SV("user"));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    item->messages = sb_sv(&b);
}

static void read_wrapped(struct harness_reading *x, const struct json *r, const struct json *p)
{
    if (!read_item(x, r, p))
        keep_unknown(x, r, "items", json_text(p, "type"));
}

static void read(struct harness_reading *x, const struct json *r)
{
    static const struct {
        const char *type;
        void (*read)(struct harness_reading *, const struct json *, const struct json *);
    } types[] = {
        { "session_meta", read_header }, { "response_item", read_wrapped },
        { "turn_context", read_turn },   { "event_msg", read_event },
        { "compacted", read_compacted }, { "token_usage_record", read_usage_record },
        { "world_state", keep_item },    { "inter_agent_communication", keep_item },
    };
    const struct json *p = json_find(r, "payload");
    struct sv          type = json_text(r, "type");

    for (size_t i = 0; p && i < COUNT(types); i++)
        if (sv_is(type, types[i].type)) {
            types[i].read(x, r, p);
            return;
        }
    if (!p && !type.n && json_text(r, "id").n) {
        read_header(x, r, r);
        return;
    }
    if (!p && (read_item(x, r, r) || sv_is(json_text(r, "record_type"), "state"))) {
        if (!x->items.n)
            keep(x, r);
        return;
    }
    keep_unknown(x, r, "records", type);
}

const struct harness_format harness_codex = {
    .harness = HARNESS_CODEX,
    .local_ids = true,
    .identify = identify,
    .read = read,
};
