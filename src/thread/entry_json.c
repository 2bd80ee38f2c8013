#include "thread/entry_json.h"

#include "base/json.h"
#include "thread/kind.h"

static enum status bad(struct err *e, const char *what)
{
    err_set(e, ST_INVALID_SYNTAX, "%s", what);
    return err_hint(e, "a line is {\"kind\":…,\"payload\":{…}} with optional id, at, lane, refs, "
                       "actor, op_id");
}

static enum status check_keys(const struct json *v, struct err *e)
{
    static const char *const known[] = { "actor", "at",    "chain",   "id",   "kind",
                                         "lane",  "op_id", "payload", "refs", "seq" };

    for (size_t i = 0; i < v->n; i++) {
        bool ok = false;
        for (size_t k = 0; k < COUNT(known) && !ok; k++)
            ok = sv_is(v->members[i].key, known[k]);
        if (!ok) {
            err_set(e, ST_INVALID_SYNTAX, "unknown field '" SV_FMT "'", SV_ARG(v->members[i].key));
            return err_hint(e, "what a kind carries belongs into its payload: "
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

static bool read_chain(struct sv hex, struct hash *out)
{
    if (hex.n != 2 * HASH_SIZE)
        return false;
    for (size_t i = 0; i < HASH_SIZE; i++) {
        int high = hex_digit(hex.s[2 * i]), low = hex_digit(hex.s[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out->b[i] = (unsigned char)(high << 4 | low);
    }
    return true;
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
        text_field(v, "op_id", &n->op_id, e))
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
    if (json_find(v, "chain") && !(out->has_chain = read_chain(json_text(v, "chain"), &out->chain)))
        return bad(e, "chain must be 64 hex digits");
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

void entry_write(struct sb *b, const struct entry *n)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "actor", n->actor);
    jw_kint(&w, "at", n->at);
    jw_key(&w, "chain");
    sb_addc(b, '"');
    sb_add_hex(b, n->chain.b, HASH_SIZE);
    sb_addc(b, '"');
    w.after_key = false;
    w.comma = true;
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
    jw_kint(&w, "seq", n->seq);
    jw_close(&w, '}');
}
