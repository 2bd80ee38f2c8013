/* The chain value of an entry, its id, and copies of it. */
#include "store/entry.h"

#include "base/json.h"

#include <string.h>

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

void entry_chain_text(const struct entry *e, const struct hash *previous, struct sb *b)
{
    bool split = entry_version(e) == 2;

    sb_put(b, (struct sv){ (const char *)previous->b, HASH_SIZE });
    add_before_payload(b, e);
    sb_put(b, split ? e->skeleton : e->payload);
    sb_put(b, SV(",\"refs\":"));
    sb_put(b, e->refs.n && !split ? e->refs : SV("{}"));
    sb_put(b, SV(",\"seq\":"));
    sb_add_int(b, e->seq);
    sb_putc(b, '}');
}

struct hash entry_chain(const struct entry *e, const struct hash *previous)
{
    struct arena spare = { 0 };
    char         room[2048];
    struct sb    b = sb_on(room, sizeof room, &spare);

    entry_chain_text(e, previous, &b);
    struct sv   text = sb_sv(&b);
    struct hash h = hash_blake2b(&text, 1);
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

/* All its bytes stand in one piece. */
struct entry entry_dup(const struct entry *e, struct arena *a)
{
    struct entry copy = *e;
    struct sv   *texts[] = { &copy.id,    &copy.kind,    &copy.lane, &copy.actor,
                             &copy.op_id, &copy.payload, &copy.refs, &copy.skeleton };
    size_t       n = 0;

    for (size_t i = 0; i < COUNT(texts); i++)
        n += texts[i]->n;
    char *at = arena_grow(a, NULL, 0, n + 1);
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (texts[i]->n)
            memcpy(at, texts[i]->s, texts[i]->n);
        if (texts[i]->s)
            texts[i]->s = at;
        at += texts[i]->n;
    }
    return copy;
}
