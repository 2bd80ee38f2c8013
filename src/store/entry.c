/* The chain value of an entry, its id, and copies of it. */
#include "store/entry.h"

#include "base/json.h"

static void add_text(struct sb *b, struct sv key, struct sv v)
{
    sb_put(b, key);
    if (v.s)
        sb_add_json_string(b, v);
    else
        sb_put(b, SV("null"));
}

/* Canonical JSON has its keys in order: actor, at, content, id, kind, lane, op_id, payload, refs,
 * seq. */
static void add_before_payload(struct sb *b, const struct entry *e)
{
    add_text(b, SV("{\"actor\":"), e->actor);
    sb_put(b, SV(",\"at\":"));
    sb_add_int(b, e->at);
    if (entry_version(e) == 2) {
        sb_put(b, SV(",\"content\":\""));
        sb_add_hex(b, e->content.b, HASH_SIZE);
        sb_putc(b, '"');
    }
    if (e->id.s)
        add_text(b, SV(",\"id\":"), e->id);
    add_text(b, SV(",\"kind\":"), e->kind);
    add_text(b, SV(",\"lane\":"), e->lane);
    if (e->op_id.s)
        add_text(b, SV(",\"op_id\":"), e->op_id);
    sb_put(b, SV(",\"payload\":"));
}

static void add_after_refs(struct sb *b, const struct entry *e)
{
    sb_put(b, SV(",\"seq\":"));
    sb_add_int(b, e->seq);
    sb_putc(b, '}');
}

struct hash entry_chain(const struct entry *e, const struct hash *previous)
{
    enum { SMALL = 512 };
    struct arena spare = { 0 };
    char         before[SMALL * 3], after[64];
    struct sb    front = sb_on(before, sizeof before, &spare);
    bool         split = entry_version(e) == 2;
    struct sv    payload = split ? e->skeleton : e->payload;
    struct sv    refs = e->refs.n && !split ? e->refs : SV("{}");
    struct hash  h;

    sb_put(&front, (struct sv){ (const char *)previous->b, HASH_SIZE });
    add_before_payload(&front, e);
    if (payload.n + refs.n <= SMALL) {
        sb_put(&front, payload);
        sb_put(&front, SV(",\"refs\":"));
        sb_put(&front, refs);
        add_after_refs(&front, e);
        struct sv all = sb_sv(&front);
        h = hash_blake2b(&all, 1);
    } else { /* hashed in place, without a copy */
        struct sb back = sb_on(after, sizeof after, &spare);
        add_after_refs(&back, e);
        struct sv parts[] = { sb_sv(&front), payload, SV(",\"refs\":"), refs, sb_sv(&back) };
        h = hash_blake2b(parts, COUNT(parts));
    }
    arena_free(&spare);
    return h;
}

struct sv entry_id(const struct entry *e, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (e->id.s)
        return e->id;
    sb_adds(&b, "e_");
    sb_add_hex(&b, e->chain.b, 10);
    return sb_sv(&b);
}

static struct sv keep(struct sv v, struct arena *a)
{
    return v.s ? sv_dup(v, a) : v;
}

struct entry entry_dup(const struct entry *e, struct arena *a)
{
    struct entry copy = *e;

    copy.id = keep(e->id, a);
    copy.kind = keep(e->kind, a);
    copy.lane = keep(e->lane, a);
    copy.actor = keep(e->actor, a);
    copy.op_id = keep(e->op_id, a);
    copy.payload = keep(e->payload, a);
    copy.refs = keep(e->refs, a);
    copy.skeleton = keep(e->skeleton, a);
    return copy;
}
