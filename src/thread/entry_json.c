/* Reading and writing entries as JSON Lines. */
#include "thread/entry_json.h"

#include "base/json.h"
#include "base/utf8.h"
#include "thread/kind.h"

enum status entry_hint(struct err *e)
{
    return err_hint(e, "a line is {\"kind\":…,\"payload\":{…}} with optional id, at, lane, refs, "
                       "actor, op_id");
}

static enum status bad(struct err *e, const char *what)
{
    err_set(e, ST_INVALID_SYNTAX, "%s", what);
    return entry_hint(e);
}

static enum status check_keys(const struct json *v, struct err *e)
{
    static const char *const known[] = { "actor", "at",   "chain", "erased",  "id",
                                         "kind",  "lane", "op_id", "payload", "refs",
                                         "salt",  "seq",  "thread" };

    for (size_t i = 0; i < v->n; i++) {
        bool ok = false;
        for (size_t k = 0; k < COUNT(known) && !ok; k++)
            ok = sv_is(v->members[i].key, known[k]);
        if (!ok) {
            err_set(e, ST_INVALID_SYNTAX, "unknown field '" SV_FMT "'", SV_ARG(v->members[i].key));
            return err_hint(e, "what a kind carries belongs in its payload: "
                               "{\"kind\":\"ai_message\",\"payload\":{\"role\":…,\"content\":…}}");
        }
    }
    return ST_OK;
}

/* An optional text field. */
static enum status text_field(const struct json *v, const char *key, struct sv *out, struct err *e)
{
    const struct json *f = json_find(v, key);

    if (f && f->type != JSON_STRING && f->type != JSON_NULL)
        return err_set(e, ST_INVALID_SYNTAX, "%s must be text", key);
    if (f)
        *out = json_sv(f); /* null: absent, whatever the default */
    return ST_OK;
}

static bool lives_in_a_lane(enum kind k)
{
    return k == KIND_AI_MESSAGE || k == KIND_AI_CONTEXT_OPERATION;
}

/* A lane that is not named is payload.context_ref's; else, for kinds that live in one,
 * the caller's. An explicit null keeps the entry out of every lane. */
static void settle_lane(const struct json *v, const struct json *payload,
                        const struct entry_defaults *d, struct entry *n)
{
    bool is_null = json_is(json_find(v, "lane"), JSON_NULL);

    if (n->lane.s || is_null || json_text(payload, "context_ref").s)
        return;
    if (lives_in_a_lane(kind_of(n->kind)))
        n->lane = d->lane;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_read(struct sv hex, unsigned char *out, size_t n)
{
    if (hex.n != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = hex_digit(hex.s[2 * i]), low = hex_digit(hex.s[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool entry_chain_read(struct sv hex, struct hash *out)
{
    return hex_read(hex, out->b, HASH_SIZE);
}

/* Which version of chain the line was exported from, and what that version needs. */
static enum status read_commitment(const struct json *v, struct entry_line *out, struct err *e)
{
    const struct json *salt = json_find(v, "salt"), *erased = json_find(v, "erased");
    struct entry      *n = &out->entry;

    n->unsalted = out->has_chain && !salt && !erased;
    if (salt && erased)
        return bad(e, "an erased entry has no salt");
    if (salt && !(n->salted = hex_read(json_sv(salt), n->salt, ENTRY_SALT_SIZE)))
        return bad(e, "salt must be 32 hex digits");
    if (erased && !(n->erased = hex_read(json_sv(erased), n->content.b, HASH_SIZE)))
        return bad(e, "erased must be 64 hex digits");
    return ST_OK;
}

static enum status read_fields(const struct json *v, const struct entry_defaults *d,
                               struct arena *a, struct entry_line *out, struct err *e)
{
    const struct json *payload = json_find(v, "payload"), *refs = json_find(v, "refs");
    const struct json *at = json_find(v, "at"), *seq = json_find(v, "seq");
    struct entry      *n = &out->entry;

    n->at = d->at;
    n->actor = d->actor;
    if (text_field(v, "kind", &n->kind, e) || text_field(v, "id", &n->id, e) ||
        text_field(v, "lane", &n->lane, e) || text_field(v, "actor", &n->actor, e) ||
        text_field(v, "op_id", &n->op_id, e) || text_field(v, "thread", &out->thread, e))
        return err_code(e);
    if (!n->kind.n)
        return bad(e, "the line has no kind");
    if (!json_is(payload, JSON_OBJECT))
        return bad(e, "the payload must be an object");
    if (refs && !json_is(refs, JSON_OBJECT) && !json_is(refs, JSON_NULL))
        return bad(e, "refs must be an object");
    if (at && !json_int(at, &n->at))
        return bad(e, "at must be a whole number of milliseconds");
    if (seq && !(out->has_seq = json_int(seq, &out->seq)))
        return bad(e, "seq must be a whole number");
    if (json_find(v, "chain") &&
        !(out->has_chain = entry_chain_read(json_text(v, "chain"), &out->chain)))
        return bad(e, "chain must be 64 hex digits");
    if (read_commitment(v, out, e))
        return err_code(e);
    settle_lane(v, payload, d, n);
    n->payload = json_canonical(payload, a);
    n->refs = json_is(refs, JSON_OBJECT) ? json_canonical(refs, a) : SV("{}");
    return ST_OK;
}

enum status entry_read(struct sv line, const struct entry_defaults *d, struct arena *a,
                       struct entry_line *out, struct err *e)
{
    struct json v;

    *out = (struct entry_line){ 0 };
    if (json_parse(line, JSON_ONE_LINE, a, &v, e))
        return err_code(e);
    if (v.type != JSON_OBJECT)
        return bad(e, "the line is not an object");
    return check_keys(&v, e) ? err_code(e) : read_fields(&v, d, a, out, e);
}

/* A JSON object without a byte that would end the line. */
static bool is_object_line(struct sv text, struct arena *a)
{
    struct arena_mark m = arena_mark(a);
    struct json       v;
    struct err        ignored;
    bool              ok = !sv_has(text, '\n') && !sv_has(text, '\r') && !sv_has(text, 0) &&
              json_parse(text, JSON_ONE_LINE, a, &v, &ignored) == ST_OK && v.type == JSON_OBJECT;

    arena_reset(a, m);
    return ok;
}

/* Text as JSON can hold it: what is not UTF-8 is replaced. */
static struct sv lossy(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!text.s || utf8_invalid(text) < 0)
        return text;
    sb_add_lossy(&b, text);
    return sb_sv(&b);
}

/* The stored bytes, encoded so that the payload is valid JSON. */
static struct sv damaged_payload(const struct entry *n, struct arena *a)
{
    struct sb b = sb_in(a, 0), payload = sb_in(a, 0), refs = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_base64url(&payload, n->payload);
    sb_add_base64url(&refs, n->refs);
    jw_open(&w, '{');
    jw_kstr(&w, "actor", lossy(n->actor, a));
    jw_kstr(&w, "kind", lossy(n->kind, a));
    jw_kstr(&w, "lane", lossy(n->lane, a));
    jw_kstr(&w, "payload_base64url", sb_sv(&payload));
    jw_kstr(&w, "refs_base64url", sb_sv(&refs));
    jw_close(&w, '}');
    return sb_sv(&b);
}

void entry_write_damaged(struct sb *b, struct sv thread, const struct entry *n, struct arena *a)
{
    struct arena_mark m = arena_mark(a);
    struct entry      shown = *n;

    shown.actor = lossy(n->actor, a);
    shown.id = lossy(n->id, a);
    shown.kind = lossy(n->kind, a);
    shown.lane = lossy(n->lane, a);
    shown.op_id = lossy(n->op_id, a);
    if (!is_object_line(n->payload, a) || (n->refs.n && !is_object_line(n->refs, a))) {
        shown.kind = ENTRY_DAMAGED;
        shown.lane = (struct sv){ 0 };
        shown.payload = damaged_payload(n, a);
        shown.refs = SV("{}");
    }
    entry_write_of(b, thread, &shown);
    arena_reset(a, m);
}

static void put_hex(struct jw *w, const char *key, const unsigned char *bytes, size_t n)
{
    jw_key(w, key);
    sb_addc(w->b, '"');
    sb_add_hex(w->b, bytes, n);
    sb_addc(w->b, '"');
    w->after_key = false;
    w->comma = true;
}

void entry_write(struct sb *b, const struct entry *n)
{
    entry_write_of(b, (struct sv){ 0 }, n);
}

void entry_write_of(struct sb *b, struct sv thread, const struct entry *n)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "actor", n->actor);
    jw_kint(&w, "at", n->at);
    put_hex(&w, "chain", n->chain.b, HASH_SIZE);
    if (n->erased)
        put_hex(&w, "erased", n->content.b, HASH_SIZE);
    if (n->id.s)
        jw_kstr(&w, "id", n->id);
    jw_kstr(&w, "kind", n->kind);
    jw_kstr(&w, "lane", n->lane);
    if (n->op_id.s)
        jw_kstr(&w, "op_id", n->op_id);
    jw_key(&w, "payload");
    jw_raw(&w, n->payload);
    jw_key(&w, "refs");
    jw_raw(&w, n->refs.n ? n->refs : SV("{}"));
    if (n->salted)
        put_hex(&w, "salt", n->salt, ENTRY_SALT_SIZE);
    jw_kint(&w, "seq", n->seq);
    if (thread.s)
        jw_kstr(&w, "thread", thread);
    jw_close(&w, '}');
}
