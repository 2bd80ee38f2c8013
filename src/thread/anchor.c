/* Writing and checking anchors. */
#include "thread/anchor.h"

#include "base/vec.h"
#include "store/store.h"
#include "thread/deletion.h"
#include "thread/entry_json.h"
#include "thread/kind.h"

/* ---- the tree ---------------------------------------------------------------------------------
 */

static struct hash leaf_hash(struct sv leaf)
{
    struct sv parts[] = { { "\0", 1 }, leaf };

    return hash_blake2b(parts, COUNT(parts));
}

static struct hash node_hash(const struct hash *left, const struct hash *right)
{
    struct sv parts[] = { { "\1", 1 },
                          { (const char *)left->b, HASH_SIZE },
                          { (const char *)right->b, HASH_SIZE } };

    return hash_blake2b(parts, COUNT(parts));
}

/* Depth is the logarithm of n. */
struct hash anchor_root(const struct sv *leaves, size_t n)
{
    size_t half = 1;

    if (n == 0)
        return hash_blake2b(NULL, 0);
    if (n == 1)
        return leaf_hash(leaves[0]);
    while (half * 2 < n)
        half *= 2;
    struct hash left = anchor_root(leaves, half), right = anchor_root(leaves + half, n - half);
    return node_hash(&left, &right);
}

static struct sv leaf_of(const struct head_pin *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "chain", hash_hex(&p->chain, a));
    jw_kint(&w, "rev", p->rev);
    jw_kstr(&w, "thread", p->thread);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static struct sv payload_of(const struct sv *leaves, size_t n, struct arena *a)
{
    struct hash root = anchor_root(leaves, n);
    struct sb   b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "heads");
    jw_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        jw_raw(&w, leaves[i]);
    jw_close(&w, ']');
    jw_kstr(&w, "root", hash_hex(&root, a));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status write_in(struct log *l, struct sv actor, int64_t at, struct arena *a,
                            int64_t *seq, size_t *n, struct err *e)
{
    struct store_thread *list;
    size_t               count;
    VEC(struct sv) leaves = { 0 };
    struct store_head head;

    if (store_threads(l->store, a, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        struct head_pin p;
        if (sv_eq(list[i].id, ANCHOR_THREAD))
            continue;
        if (pin_of(l, list[i].id, &p, e)) /* a log whose end is missing must not be anchored */
            return err_code(e);
        *vec_push(&leaves, a) = leaf_of(&p, a);
    }
    struct entry one = { .at = at,
                         .kind = SV("anchor"),
                         .actor = actor,
                         .payload = payload_of(leaves.v, leaves.n, a),
                         .refs = SV("{}") };
    if (log_append(l, ANCHOR_THREAD, LOG_ANY_REV, &one, 1, &head, e))
        return err_code(e);
    *seq = one.seq;
    *n = leaves.n;
    return ST_OK;
}

enum status anchor_write(struct log *l, struct sv actor, int64_t at, int64_t *seq, size_t *n,
                         struct err *e)
{
    struct arena a = { 0 };
    enum status  s = write_in(l, actor, at, &a, seq, n, e);

    arena_free(&a);
    return s;
}

enum status anchor_if_due(struct log *l, int64_t before, int64_t now, struct sv actor, int64_t at,
                          struct err *e)
{
    struct store_stats st = { 0 };
    int64_t            seq;
    size_t             n;

    if (before / ANCHOR_EVERY == now / ANCHOR_EVERY)
        return ST_OK;
    if (store_stats(l->store, &st, e))
        return err_code(e);
    return st.threads > ANCHOR_THREADS_MAX ? ST_OK : anchor_write(l, actor, at, &seq, &n, e);
}

/* ---- checking ---------------------------------------------------------------------------------
 */

struct anchor_checking {
    struct log *log;
    void (*say)(void *, struct sv);
    void         *ctx;
    int64_t       seq; /* of the anchor */
    struct arena *a;
};

static void tell(void *ctx, struct sv finding)
{
    struct anchor_checking *c = ctx;
    struct sb               b = sb_in(c->a, 0);

    sb_add(&b, finding);
    sb_addf(&b, " (anchored in .global, entry %lld)", (long long)c->seq);
    c->say(c->ctx, sb_sv(&b));
}

static enum status check_one(struct anchor_checking *c, const struct entry *n, struct err *e)
{
    struct json p;
    VEC(struct sv) leaves = { 0 };

    if (!kind_is_sound(n) || json_parse(n->payload, 0, c->a, &p, e))
        return ST_OK;
    const struct json *heads = json_find(&p, "heads");
    for (size_t i = 0; json_is(heads, JSON_ARRAY) && i < heads->n; i++) {
        struct head_pin pin = { .thread = json_text(&heads->items[i], "thread") };
        json_int(json_find(&heads->items[i], "rev"), &pin.rev);
        entry_chain_read(json_text(&heads->items[i], "chain"), &pin.chain);
        *vec_push(&leaves, c->a) = json_canonical(&heads->items[i], c->a);
        struct head_pin then;
        bool            old, deleted;
        if (deletion_find(c->log, pin.thread, &deleted, e))
            return err_code(e);
        if (deleted)
            continue;
        if (pin_rechained(c->log, &pin, c->a, &then, &old, e))
            return err_code(e);
        if (!(old && pin.rev < then.rev) && pin_check(c->log, &pin, tell, c, e))
            return err_code(e);
    }
    struct hash root = anchor_root(leaves.v, leaves.n);
    if (!sv_eq(hash_hex(&root, c->a), json_text(&p, "root")))
        tell(c, SV("the root of an anchor does not follow from its heads"));
    return ST_OK;
}

enum status anchor_check(struct log *l, void (*say)(void *, struct sv), void *ctx, int64_t *n,
                         struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct arena                             a = { 0 };
    struct anchor_checking                   c = { .log = l, .say = say, .ctx = ctx, .a = &a };
    struct store_query                       q = { .thread = ANCHOR_THREAD, .to = STORE_TO_END };
    struct entry                             one;
    bool                                     more = true;
    enum status                              s = store_scan(l->store, &q, &scan, e);

    *n = 0;
    while (!s && more) {
        s = store_next(scan, &one, &more, e);
        if (s == ST_CORRUPT) { /* reading the thread reports it */
            s = ST_OK;
            continue;
        }
        if (s || !more || kind_of(one.kind) != KIND_ANCHOR)
            continue;
        c.seq = one.seq;
        ++*n;
        s = check_one(&c, &one, e);
        arena_free(&a);
    }
    arena_free(&a);
    return s;
}
