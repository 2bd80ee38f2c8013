/* Entries of pi for a lane: a header, its own entries chained to one path, new ones for messages
 * that others wrote. */
#include "harness/writer.h"

static enum status begin(struct harness_writing *w, struct err *e)
{
    struct sb b = sb_in(w->a, 0);
    struct jw out = jw_in(&b, 0);

    (void)e;
    jw_open(&out, '{');
    jw_kstr(&out, "cwd", w->what->cwd.s ? w->what->cwd : SV("/"));
    jw_kstr(&out, "id", w->session);
    harness_put_time(&out, w->at);
    jw_kstr(&out, "type", SV("session"));
    jw_kint(&out, "version", 3);
    jw_close(&out, '}');
    harness_write_line(w, sb_sv(&b));
    return ST_OK;
}

/* A path without labels, as pi itself copies it. In a new session each entry follows the one
 * before. */
static enum status shared(struct harness_writing *w, const struct entry *n,
                          const struct json *payload, struct err *e)
{
    struct harness_origin o;
    struct sv             id, type;

    (void)n;
    (void)e;
    if (!harness_origin(payload, &o))
        return ST_OK;
    id = json_text(o.record, "id");
    type = json_text(o.record, "type");
    if (!id.n || sv_is(type, "session") || sv_is(type, "label"))
        return ST_OK;
    if (!w->what->session.s)
        w->join.instead[0] =
            (struct harness_override){ "parentId",
                                       harness_json_text(harness_text_sv(&w->last), &w->scratch) };
    harness_write_shared(w, payload, id);
    return ST_OK;
}

/* ---- new entries ----------------------------------------------------------------------------- */

/* Eight digits that no other entry of the file has. */
static struct sv new_id(struct harness_writing *w, int64_t seq)
{
    struct sv id;

    do
        id = sv_first(harness_made_uuid(w, seq, w->index++, &w->scratch), 8);
    while (harness_was_written(w, id));
    return id;
}

/* A block of Anthropic's API as one of pi. */
static void put_block(struct jw *w, const struct json *b)
{
    const struct json *source = json_find(b, "source");
    struct sv          type = json_text(b, "type");

    jw_open(w, '{');
    if (sv_is(type, "tool_use")) {
        jw_key(w, "arguments");
        jw_json(w, json_find(b, "input"));
        jw_kstr(w, "id", json_text(b, "id"));
        jw_kstr(w, "name", json_text(b, "name"));
        jw_kstr(w, "type", SV("toolCall"));
    } else if (sv_is(type, "image")) {
        jw_kstr(w, "data", json_text(source, "data"));
        jw_kstr(w, "mimeType", json_text(source, "media_type"));
        jw_kstr(w, "type", SV("image"));
    } else if (sv_is(type, "thinking")) {
        jw_kstr(w, "thinking", json_text(b, "thinking"));
        jw_kstr(w, "thinkingSignature", json_text(b, "signature"));
        jw_kstr(w, "type", SV("thinking"));
    } else {
        jw_kstr(w, "text", json_text(b, "text"));
        jw_kstr(w, "type", SV("text"));
    }
    jw_close(w, '}');
}

static void put_blocks(struct jw *w, const struct json *list)
{
    jw_key(w, "content");
    jw_open(w, '[');
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        put_block(w, &list->items[i]);
    jw_close(w, ']');
}

static void put_usage(struct jw *w, const struct json *u)
{
    static const char *const cost[] = { "input", "output", "cacheRead", "cacheWrite", "total" };
    int64_t input = json_number(u, "input_tokens"), output = json_number(u, "output_tokens");
    int64_t read = json_number(u, "cache_read_tokens"),
            written = json_number(u, "cache_write_tokens");

    jw_key(w, "usage");
    jw_open(w, '{');
    jw_kint(w, "cacheRead", read);
    jw_kint(w, "cacheWrite", written);
    jw_key(w, "cost");
    jw_open(w, '{');
    for (size_t i = 0; i < COUNT(cost); i++)
        jw_kint(w, cost[i], 0);
    jw_close(w, '}');
    jw_kint(w, "input", input);
    jw_kint(w, "output", output);
    jw_kint(w, "totalTokens", input + output + read + written);
    jw_close(w, '}');
}

static void put_answer(struct jw *w, const struct json *payload, const struct json *blocks)
{
    struct harness_origin o = { 0 };

    harness_origin(payload, &o);
    jw_kstr(w, "api", SV("anthropic-messages"));
    put_blocks(w, blocks);
    jw_kstr(w, "model", o.model.n ? o.model : SV("unknown"));
    jw_kstr(w, "provider", SV("anthropic"));
    jw_kstr(w, "role", SV("assistant"));
    jw_kstr(w, "stopReason", json_find(payload, "tool_calls") ? SV("toolUse") : SV("stop"));
    put_usage(w, json_find(payload, "usage"));
}

static void put_result(struct harness_writing *w, struct jw *out, const struct json *blocks)
{
    const struct json *r = &blocks->items[0];
    const struct sv   *name = map_find(&w->calls, json_text(r, "tool_use_id"));

    put_blocks(out, json_find(r, "content"));
    jw_kbool(out, "isError", json_truth(json_find(r, "is_error")));
    jw_kstr(out, "role", SV("toolResult"));
    jw_kstr(out, "toolCallId", json_text(r, "tool_use_id"));
    jw_kstr(out, "toolName", name ? *name : SV("unknown"));
}

static void put_message(struct harness_writing *w, struct jw *out, const struct json *payload,
                        const struct json *blocks, int64_t at)
{
    struct sv role = json_text(payload, "role");

    jw_key(out, "message");
    jw_open(out, '{');
    if (sv_is(role, "assistant")) {
        put_answer(out, payload, blocks);
    } else if (sv_is(role, "tool")) {
        put_result(w, out, blocks);
    } else {
        put_blocks(out, blocks);
        jw_kstr(out, "role", SV("user"));
    }
    jw_kint(out, "timestamp", at);
    jw_close(out, '}');
}

static enum status message(struct harness_writing *w, int64_t at, int64_t seq,
                           const struct json *payload, struct err *e)
{
    struct sb   b = sb_in(&w->scratch, 0), line = sb_in(&w->scratch, 0);
    struct jw   list = jw_in(&b, 0), out = jw_in(&line, 0);
    struct json blocks;

    jw_open(&list, '[');
    harness_put_blocks(w, &list, payload);
    jw_close(&list, ']');
    if (json_parse(sb_sv(&b), 0, &w->scratch, &blocks, e))
        return err_code(e);
    if (!blocks.n)
        return ST_OK; /* nothing is left of it */
    struct sv id = new_id(w, seq);
    jw_open(&out, '{');
    jw_kstr(&out, "id", id);
    put_message(w, &out, payload, &blocks, at);
    jw_kstr(&out, "parentId", harness_text_sv(&w->last));
    harness_put_time(&out, at);
    jw_kstr(&out, "type", SV("message"));
    jw_close(&out, '}');
    harness_write_line(w, sb_sv(&line));
    harness_note_written(w, id);
    harness_text_set(&w->last, id);
    w->made++;
    return ST_OK;
}

const struct harness_writer harness_pi_writer = { .begin = begin,
                                                  .shared = shared,
                                                  .message = message };
