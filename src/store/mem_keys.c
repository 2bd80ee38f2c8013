/* The store in memory: the keys of its map, ranges of them, and entries at rest. */
#include "store/mem_internal.h"

#include <string.h>

static void add_counted(struct sb *b, struct sv v)
{
    sb_addc(b, (char)(v.n >> 8 & 0xff));
    sb_addc(b, (char)(v.n & 0xff));
    sb_add(b, v);
}

static void add_seq(struct sb *b, int64_t seq)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        sb_addc(b, (char)((uint64_t)seq >> shift & 0xff));
}

int64_t mem_seq_at_end(struct sv key)
{
    uint64_t seq = 0;

    for (size_t i = key.n - 8; i < key.n; i++)
        seq = seq << 8 | (unsigned char)key.s[i];
    return (int64_t)seq;
}

struct sb mem_table_key(char table, struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, table);
    add_counted(&b, thread);
    return b;
}

struct sv mem_thread_key(struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addc(&b, 't');
    sb_add(&b, thread);
    return sb_sv(&b);
}

struct sv mem_key_of_entry(struct sv thread, int64_t seq, struct arena *a)
{
    struct sb b = mem_table_key('e', thread, a);

    add_seq(&b, seq);
    return sb_sv(&b);
}

struct sv mem_lane_key(struct sv thread, enum entry_mark mark, struct sv lane, int64_t seq,
                       struct arena *a)
{
    struct sb b = mem_table_key('l', thread, a);

    sb_addc(&b, (char)mark);
    add_counted(&b, lane);
    add_seq(&b, seq);
    return sb_sv(&b);
}

struct sv mem_op_key(struct sv thread, struct sv op_id, struct arena *a)
{
    struct sb b = mem_table_key('o', thread, a);

    sb_add(&b, op_id);
    return sb_sv(&b);
}

struct sv mem_row_key(struct sv thread, struct sv view, struct sv key, struct arena *a)
{
    struct sb b = mem_table_key('r', thread, a);

    add_counted(&b, view);
    sb_add(&b, key);
    return sb_sv(&b);
}

struct sv mem_pack(const struct entry *n, struct arena *a)
{
    bool      no_refs = !n->refs.n || sv_is(n->refs, "{}");
    struct sv texts[MEM_TEXTS] = {
        n->kind, n->lane, n->actor, n->id, n->payload, n->op_id, no_refs ? SV("{}") : n->refs
    };
    struct mem_entry r = {
        .at = n->at, .mark = n->mark, .chain = n->chain, .salted = n->salted, .erased = n->erased
    };
    struct sb b = sb_in(a, 0);

    if (n->salted)
        memcpy(r.salt, n->salt, sizeof r.salt);
    if (n->erased)
        r.content = n->content;
    for (int i = 0; i < MEM_TEXTS; i++)
        r.n[i] = texts[i].s ? (int32_t)texts[i].n : MEM_ABSENT;
    sb_add(&b, (struct sv){ (const char *)&r, sizeof r });
    for (int i = 0; i < MEM_TEXTS; i++)
        sb_add(&b, texts[i]);
    return sb_sv(&b);
}

struct entry mem_unpack(struct sv value, int64_t seq)
{
    struct entry n = { .seq = seq };
    struct sv   *texts[MEM_TEXTS] = {
          &n.kind, &n.lane, &n.actor, &n.id, &n.payload, &n.op_id, &n.refs
    };
    struct mem_entry r;
    const char      *at = value.s + sizeof r;

    memcpy(&r, value.s, sizeof r);
    for (int i = 0; i < MEM_TEXTS; i++) {
        if (r.n[i] == MEM_ABSENT)
            continue;
        *texts[i] = (struct sv){ at, (size_t)r.n[i] };
        at += r.n[i];
    }
    n.at = r.at;
    n.mark = r.mark;
    n.chain = r.chain;
    n.salted = r.salted;
    n.erased = r.erased;
    n.content = r.content;
    memcpy(n.salt, r.salt, sizeof n.salt);
    return n;
}

struct sv mem_counted(struct sv from, struct sv *rest)
{
    size_t n = (size_t)(unsigned char)from.s[0] << 8 | (unsigned char)from.s[1];

    *rest = sv_skip(from, 2 + n);
    return sv_first(sv_skip(from, 2), n);
}

/* ---- ranges ------------------------------------------------------------------------- */

bool mem_range_next(struct mem_range *r, struct tree_item *out)
{
    bool there;

    if (r->backwards)
        there = tree_at_most(r->in, r->started ? r->last : r->high, !r->started && !r->high_open,
                             out) &&
                sv_cmp(out->key, r->low) >= 0;
    else
        there = tree_at_least(r->in, r->started ? r->last : r->low, !r->started, out) &&
                sv_cmp(out->key, r->high) < !r->high_open;
    r->started = true;
    if (there)
        r->last = out->key;
    else
        r->in = NULL; /* nothing comes any more */
    return there;
}

struct mem_range mem_range_of_prefix(struct store_tree *t, struct sv prefix, struct arena *a)
{
    return (struct mem_range){
        .in = t, .low = prefix, .high = store_prefix_end(prefix, a), .high_open = true
    };
}
