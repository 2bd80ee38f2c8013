#include "store/entry.h"

#include "base/json.h"

/* Canonical JSON has its keys in order: actor, at, id, kind, lane, op_id, payload, refs,
 * seq. The large member is hashed where it lies instead of being copied. */
struct hash entry_chain(const struct entry *e, const struct hash *previous)
{
    struct arena scratch = { 0 };
    struct sb    front = sb_in(&scratch, 0), back = sb_in(&scratch, 0);
    struct jw    w = jw_in(&front, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "actor", e->actor);
    jw_kint(&w, "at", e->at);
    if (e->id.s)
        jw_kstr(&w, "id", e->id);
    jw_kstr(&w, "kind", e->kind);
    jw_kstr(&w, "lane", e->lane);
    if (e->op_id.s)
        jw_kstr(&w, "op_id", e->op_id);
    jw_key(&w, "payload");
    sb_addf(&back, ",\"refs\":" SV_FMT ",\"seq\":", SV_ARG(e->refs.n ? e->refs : SV("{}")));
    sb_add_int(&back, e->seq);
    sb_addc(&back, '}');

    struct sv parts[] = {
        { (const char *)previous->b, HASH_SIZE }, sb_sv(&front), e->payload, sb_sv(&back)
    };
    struct hash h = hash_blake2b(parts, COUNT(parts));
    arena_free(&scratch);
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
    return copy;
}
