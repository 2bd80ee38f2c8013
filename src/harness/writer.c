/* Lines, ids and contents of records that are written. */
#include "harness/writer.h"

#include "base/clock.h"
#include "base/hash.h"

const struct harness_writer *harness_writer_of(enum harness h)
{
    return h == HARNESS_CLAUDE_CODE ? &harness_claude_writer
           : h == HARNESS_PI        ? &harness_pi_writer
                                    : NULL;
}

void harness_write_line(struct harness_writing *w, struct sv line)
{
    sb_add(w->out, line);
    sb_addc(w->out, '\n');
    w->records++;
}

void harness_write_shared(struct harness_writing *w, const struct json *payload, struct sv id)
{
    const struct harness_copy *copy = map_find(&w->copies, harness_key(id, &w->scratch));
    struct sv                  line;

    w->join.changed = copy ? &copy->changed : NULL;
    w->join.without = copy ? &copy->without : NULL;
    if (harness_join(&w->join, payload, &w->scratch, &line)) {
        harness_write_line(w, line);
        harness_note_written(w, id);
        harness_text_set(&w->last, id);
    }
    w->join.changed = w->join.without = NULL;
    memset(w->join.instead, 0, sizeof w->join.instead);
}

enum status harness_write_joined(struct harness_writing *w, const struct json *payload,
                                 struct err *e)
{
    struct sv line;

    (void)e;
    if (harness_join(&w->join, payload, &w->scratch, &line))
        harness_write_line(w, line);
    return ST_OK;
}

/* ---- ids ------------------------------------------------------------------------------------ */

static struct sv uuid_of(struct sv text, struct arena *a)
{
    struct hash h = hash_blake2b(&text, 1);
    struct sb   b = sb_in(a, 0);

    h.b[6] = (unsigned char)((h.b[6] & 0x0f) | 0x40);
    h.b[8] = (unsigned char)((h.b[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < 16; i++) {
        sb_adds(&b, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
        sb_add_hex(&b, &h.b[i], 1);
    }
    return sb_sv(&b);
}

struct sv harness_made_uuid(const struct harness_writing *w, int64_t seq, int64_t index,
                            struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "heddle/");
    sb_add(&b, w->session);
    sb_addf(&b, "/%lld/%lld", (long long)seq, (long long)index);
    return uuid_of(sb_sv(&b), a);
}

struct sv harness_made_session(const struct harness_writing *w, int64_t at)
{
    struct sb b = sb_in(w->a, 0);

    sb_adds(&b, "heddle/");
    sb_add(&b, w->what->thread);
    sb_addc(&b, '/');
    sb_add(&b, w->what->lane);
    sb_addf(&b, "/%lld/%s", (long long)at, harness_name(w->what->to));
    return uuid_of(sb_sv(&b), w->a);
}

struct sv harness_json_text(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_str(&w, v);
    return sb_sv(&b);
}

void harness_put_time(struct jw *w, int64_t at)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    sb_add_iso_ms(&b, at);
    jw_kstr(w, "timestamp", sb_sv(&b));
}

bool harness_was_written(struct harness_writing *w, struct sv id)
{
    return id.n && map_has(&w->written, id);
}

void harness_note_written(struct harness_writing *w, struct sv id)
{
    if (id.n)
        map_put(&w->written, id, w);
}

/* ---- contents -------------------------------------------------------------------------------- */

static void put_text(struct jw *w, struct sv text)
{
    jw_open(w, '{');
    jw_kstr(w, "text", text);
    jw_kstr(w, "type", SV("text"));
    jw_close(w, '}');
}

static void put_picture(struct jw *w, struct sv media_type, struct sv data)
{
    jw_open(w, '{');
    jw_key(w, "source");
    jw_open(w, '{');
    jw_kstr(w, "data", data);
    jw_kstr(w, "media_type", media_type.n ? media_type : SV("image/png"));
    jw_kstr(w, "type", SV("base64"));
    jw_close(w, '}');
    jw_kstr(w, "type", SV("image"));
    jw_close(w, '}');
}

/* Pictures with their bytes, in the forms that contents have. False: it is not one. */
static bool put_any_picture(struct jw *w, const struct json *p)
{
    const struct json *url = json_find(p, "image_url");
    struct sv          text = json_is(url, JSON_STRING) ? json_sv(url) : json_text(url, "url");
    struct sv_cut      cut = sv_cut(sv_skip(text, 5), ',');

    if (sv_is(json_text(p, "type"), "image") && json_is(json_find(p, "source"), JSON_OBJECT)) {
        jw_json(w, p);
        return true;
    }
    if (sv_is(json_text(p, "type"), "image") && json_text(p, "data").s) {
        put_picture(w, json_text(p, "media_type"), json_text(p, "data"));
        return true;
    }
    if (!sv_starts(text, SV("data:")) || !cut.found || !sv_ends(cut.head, SV(";base64")))
        return false;
    put_picture(w, sv_cut(cut.head, ';').head, cut.tail);
    return true;
}

/* Thinking is only accepted with the signature that its provider gave it. */
static void put_part(struct harness_writing *w, struct jw *out, const struct json *p)
{
    struct sv type = json_text(p, "type"), text = json_text(p, "text");
    bool is_text = sv_is(type, "text") || sv_is(type, "input_text") || sv_is(type, "output_text");

    if (is_text && text.s) {
        if (text.n)
            put_text(out, text);
        return;
    }
    if (sv_is(type, "thinking") && json_text(p, "signature").n) {
        jw_json(out, p);
        return;
    }
    if (put_any_picture(out, p))
        return;
    w->left_out++;
    if (!sv_is(type, "thinking")) {
        struct sb b = sb_in(&w->scratch, 0);
        sb_addf(&b, "[" SV_FMT " content]", SV_ARG(type.n ? type : SV("other")));
        put_text(out, sb_sv(&b));
    }
}

/* Ids of calls that the API takes: letters, digits, _ and -. */
static struct sv call_id(struct harness_writing *w, struct sv id)
{
    struct sb b = sb_in(&w->scratch, 0);

    for (size_t i = 0; i < id.n; i++) {
        char c = id.s[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        sb_addc(&b, (char)(plain || c == '_' || c == '-' ? c : '_'));
    }
    return sb_sv(&b);
}

static void put_calls(struct harness_writing *w, struct jw *out, const struct json *calls)
{
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++) {
        const struct json *c = &calls->items[i], *f = json_find(c, "function");
        const struct json *arguments = json_find(f ? f : c, "arguments");
        struct sv          name = json_text(f ? f : c, "name");
        struct json        v;
        struct err         ignored;
        if (json_is(arguments, JSON_STRING) &&
            json_parse(json_sv(arguments), 0, &w->scratch, &v, &ignored) == ST_OK)
            arguments = &v;
        jw_open(out, '{');
        jw_kstr(out, "id", call_id(w, json_text(c, "id")));
        jw_key(out, "input");
        if (json_is(arguments, JSON_OBJECT))
            jw_json(out, arguments);
        else
            jw_raw(out, SV("{}"));
        jw_kstr(out, "name", name.s ? name : SV(""));
        jw_kstr(out, "type", SV("tool_use"));
        jw_close(out, '}');
        struct sv *kept = ARENA_NEW(w->a, struct sv, 1);
        *kept = sv_dup(name.s ? name : SV(""), w->a);
        map_put(&w->calls, call_id(w, json_text(c, "id")), kept);
    }
}

static void put_list(struct harness_writing *w, struct jw *out, const struct json *content)
{
    if (json_is(content, JSON_STRING) && json_sv(content).n)
        put_text(out, json_sv(content));
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++)
        put_part(w, out, &content->items[i]);
}

void harness_put_blocks(struct harness_writing *w, struct jw *out, const struct json *payload)
{
    const struct json *content = json_find(payload, "content");

    if (!sv_is(json_text(payload, "role"), "tool")) {
        put_list(w, out, content);
        put_calls(w, out, json_find(payload, "tool_calls"));
        return;
    }
    jw_open(out, '{');
    jw_key(out, "content");
    jw_open(out, '[');
    put_list(w, out, content);
    jw_close(out, ']');
    if (w->failed || json_truth(json_find(json_find(payload, "refs"), "is_error")))
        jw_kbool(out, "is_error", true);
    jw_kstr(out, "tool_use_id", call_id(w, json_text(payload, "tool_call_id")));
    jw_kstr(out, "type", SV("tool_result"));
    jw_close(out, '}');
}
