#include "store/entry.h"

#include "base/json.h"

static void add_text(struct sb *b, struct sv key, struct sv v)
{
    sb_add(b, key);
    if (v.s)
        sb_add_json_string(b, v);
    else
        sb_add(b, SV("null"));
}

/* Canonical JSON has its keys in order: actor, at, content, id, kind, lane, op_id, payload, refs,
 * seq. The large member is hashed where it lies instead of being copied. */
struct hash entry_chain(const struct entry *e, const struct hash *previous)
{
    struct arena spare = { 0 };
    char         before[1024], after[64];
    bool         split = entry_version(e) == 2;
    struct sb    front = sb_on(before, sizeof before, &spare);
    struct sb    back = sb_on(after, sizeof after, &spare);

    add_text(&front, SV("{\"actor\":"), e->actor);
    sb_add(&front, SV(",\"at\":"));
    sb_add_int(&front, e->at);
    if (split) {
        sb_add(&front, SV(",\"content\":\""));
        sb_add_hex(&front, e->content.b, HASH_SIZE);
        sb_addc(&front, '"');
    }
    if (e->id.s)
        add_text(&front, SV(",\"id\":"), e->id);
    add_text(&front, SV(",\"kind\":"), e->kind);
    add_text(&front, SV(",\"lane\":"), e->lane);
    if (e->op_id.s)
        add_text(&front, SV(",\"op_id\":"), e->op_id);
    sb_add(&front, SV(",\"payload\":"));
    sb_add(&back, SV(",\"seq\":"));
    sb_add_int(&back, e->seq);
    sb_add(&back, SV("}"));

    struct sv   refs = e->refs.n && !split ? e->refs : SV("{}");
    struct sv   parts[] = { { (const char *)previous->b, HASH_SIZE },
                            sb_sv(&front),
                          split ? e->skeleton : e->payload,
                            SV(",\"refs\":"),
                            refs,
                            sb_sv(&back) };
    struct hash h = hash_blake2b(parts, COUNT(parts));
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
