/* The chain value of an entry, its id, and copies of it. */
#include "store/entry.h"

#include "base/json.h"

#include <string.h>

/* A name behind its key. Names have few bytes that JSON escapes, or none. */
static char *put_name(struct sb *b, char *to, struct sv key, struct sv name)
{
    to = sb_write(to, key);
    if (!name.s)
        return sb_write(to, SV("null"));
    b->n = (size_t)(to - b->s);
    sb_add_json_string(b, name);
    return b->s + b->n;
}

/* Canonical JSON has its keys in order: actor, at, content, id, kind, lane, op_id, payload, refs,
 * seq. */
void entry_chain_text(const struct entry *e, const struct hash *previous, struct sb *b)
{
    enum { FIXED = 320, ESCAPED = 6 }; /* all but names and payload; bytes for one of a name */
    bool      split = entry_version(e) == 2;
    struct sv payload = split ? e->skeleton : e->payload;
    struct sv refs = e->refs.n && !split ? e->refs : SV("{}");
    size_t    names = e->actor.n + e->id.n + e->kind.n + e->lane.n + e->op_id.n;
    char     *to = sb_room(b, FIXED + ESCAPED * names + payload.n + refs.n);

    to = sb_write(to, (struct sv){ (const char *)previous->b, HASH_SIZE });
    to = put_name(b, to, SV("{\"actor\":"), e->actor);
    to = sb_write_int(sb_write(to, SV(",\"at\":")), e->at);
    if (split) {
        to = sb_write_hex(sb_write(to, SV(",\"content\":\"")), e->content.b, HASH_SIZE);
        *to++ = '"';
    }
    if (e->id.s)
        to = put_name(b, to, SV(",\"id\":"), e->id);
    to = put_name(b, to, SV(",\"kind\":"), e->kind);
    to = put_name(b, to, SV(",\"lane\":"), e->lane);
    if (e->op_id.s)
        to = put_name(b, to, SV(",\"op_id\":"), e->op_id);
    to = sb_write(sb_write(to, SV(",\"payload\":")), payload);
    to = sb_write(sb_write(to, SV(",\"refs\":")), refs);
    to = sb_write_int(sb_write(to, SV(",\"seq\":")), e->seq);
    *to++ = '}';
    b->n = (size_t)(to - b->s);
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

static void prove_some(const struct entry *entries, const struct entry_before *before, size_t n,
                       struct arena *a, enum entry_proof *out)
{
    enum { TEXT = 384 }; /* most are shorter; the builder grows */
    struct sb   b = sb_on(arena_grow(a, NULL, 0, n * TEXT), n * TEXT, a);
    struct sv   texts[STORE_PROVE_MAX];
    struct hash want[STORE_PROVE_MAX];
    size_t      ends[STORE_PROVE_MAX];

    for (size_t i = 0; i < n; i++) {
        entry_chain_text(&entries[i], &before[i].chain, &b);
        ends[i] = b.n;
    }
    for (size_t i = 0, from = 0; i < n; from = ends[i++])
        texts[i] = (struct sv){ b.s + from, ends[i] - from };
    hash_blake2b_each(texts, n, want);
    for (size_t i = 0; i < n; i++) {
        bool follows = hash_eq(&want[i], &entries[i].chain);
        out[i] = !before[i].known ? ENTRY_UNPROVEN : follows ? ENTRY_INTACT : ENTRY_CHANGED;
    }
}

void entry_prove(const struct entry *entries, const struct entry_before *before, size_t n,
                 struct arena *scratch, enum entry_proof *out)
{
    struct arena_mark m = arena_mark(scratch);

    for (size_t i = 0; i < n; i += STORE_PROVE_MAX) {
        size_t some = n - i < STORE_PROVE_MAX ? n - i : STORE_PROVE_MAX;
        prove_some(entries + i, before + i, some, scratch, out + i);
        arena_reset(scratch, m);
    }
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

/* All its bytes stand in one piece. Most of its texts are short. */
void entry_keep(struct entry *e, struct arena *a)
{
    struct sv *texts[] = { &e->id,    &e->kind,    &e->lane, &e->actor,
                           &e->op_id, &e->payload, &e->refs, &e->skeleton };
    size_t     n = 0;

    for (size_t i = 0; i < COUNT(texts); i++)
        n += texts[i]->n;
    char *at = arena_grow(a, NULL, 0, n + 1);
    for (size_t i = 0; i < COUNT(texts); i++) {
        char *to = at;
        at = sb_write_short(at, *texts[i]);
        if (texts[i]->s)
            texts[i]->s = to;
    }
}

struct entry entry_dup(const struct entry *e, struct arena *a)
{
    struct entry copy = *e;

    entry_keep(&copy, a);
    return copy;
}
