/* Records of Claude Code for a lane: its own with another session's id, new ones for messages that
 * others wrote. */
#include "harness/writer.h"

/* A record whose parent is not in the file follows the last one that is. */
static struct sv parent_of(const struct harness_writing *w, const struct json *record,
                           struct arena *a)
{
    const struct json *parent = json_find(record, "parentUuid");

    if (!json_is(parent, JSON_STRING) || map_has(&w->written, json_sv(parent)))
        return harness_json_text(json_sv(parent), a);
    return harness_json_text(harness_text_sv(&w->last), a);
}

/* Lines without a uuid are state of the session that they came from. */
static enum status shared(struct harness_writing *w, const struct entry *n,
                          const struct json *payload, struct err *e)
{
    struct harness_origin o;
    struct sv             uuid;

    (void)n;
    (void)e;
    if (!harness_origin(payload, &o))
        return ST_OK;
    uuid = json_text(o.record, "uuid");
    if (o.line.s || (o.record && !uuid.n))
        return ST_OK;
    w->join.instead[0] =
        (struct harness_override){ "sessionId", harness_json_text(w->session, &w->scratch) };
    if (!w->what->session.s)
        w->join.instead[1] =
            (struct harness_override){ "parentUuid", parent_of(w, o.record, &w->scratch) };
    harness_write_shared(w, payload, uuid);
    return ST_OK;
}

static void put_usage(struct jw *w, const struct json *u)
{
    jw_key(w, "usage");
    jw_open(w, '{');
    jw_kint(w, "cache_creation_input_tokens", json_number(u, "cache_write_tokens"));
    jw_kint(w, "cache_read_input_tokens", json_number(u, "cache_read_tokens"));
    jw_kint(w, "input_tokens", json_number(u, "input_tokens"));
    jw_kint(w, "output_tokens", json_number(u, "output_tokens"));
    jw_close(w, '}');
}

static void put_answer(struct harness_writing *w, struct jw *out, const struct json *payload,
                       struct sv blocks, struct sv uuid)
{
    struct harness_origin o = { 0 };
    struct sb             id = sb_in(&w->scratch, 0);
    bool                  calls = json_find(payload, "tool_calls") != NULL;

    harness_origin(payload, &o);
    sb_adds(&id, "msg_");
    sb_add(&id, sv_first(uuid, 8));
    jw_key(out, "content");
    jw_raw(out, blocks);
    jw_kstr(out, "id", sb_sv(&id));
    jw_kstr(out, "model", o.model.n ? o.model : SV("unknown"));
    jw_kstr(out, "role", SV("assistant"));
    jw_kstr(out, "stop_reason", calls ? SV("tool_use") : SV("end_turn"));
    jw_key(out, "stop_sequence");
    jw_null(out);
    jw_kstr(out, "type", SV("message"));
    put_usage(out, json_find(payload, "usage"));
}

static enum status message(struct harness_writing *w, int64_t at, int64_t seq,
                           const struct json *payload, struct err *e)
{
    struct sb b = sb_in(&w->scratch, 0), line = sb_in(&w->scratch, 0);
    struct jw blocks = jw_in(&b, 0), out = jw_in(&line, 0);
    bool      answer = sv_is(json_text(payload, "role"), "assistant");
    struct sv uuid = harness_made_uuid(w, seq, w->index++, &w->scratch);

    (void)e;
    jw_open(&blocks, '[');
    harness_put_blocks(w, &blocks, payload);
    jw_close(&blocks, ']');
    if (sv_is(sb_sv(&b), "[]"))
        return ST_OK; /* the message is empty */
    jw_open(&out, '{');
    jw_kstr(&out, "cwd", w->what->cwd.s ? w->what->cwd : SV("/"));
    jw_kbool(&out, "isSidechain", false);
    jw_key(&out, "message");
    jw_open(&out, '{');
    if (answer) {
        put_answer(w, &out, payload, sb_sv(&b), uuid);
    } else {
        jw_key(&out, "content");
        jw_raw(&out, sb_sv(&b));
        jw_kstr(&out, "role", SV("user"));
    }
    jw_close(&out, '}');
    jw_kstr(&out, "parentUuid", harness_text_sv(&w->last));
    jw_kstr(&out, "sessionId", w->session);
    harness_put_time(&out, at);
    jw_kstr(&out, "type", answer ? SV("assistant") : SV("user"));
    jw_kstr(&out, "userType", SV("external"));
    jw_kstr(&out, "uuid", uuid);
    jw_kstr(&out, "version", SV("2.1.0"));
    jw_close(&out, '}');
    harness_write_line(w, sb_sv(&line));
    harness_note_written(w, uuid);
    harness_text_set(&w->last, uuid);
    w->made++;
    return ST_OK;
}

const struct harness_writer harness_claude_writer = { .shared = shared, .message = message };
