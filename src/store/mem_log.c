/* The store in memory: threads and their entries. */
#include "base/failure.h"
#include "base/vec.h"
#include "store/mem_internal.h"

#include <stdlib.h>
#include <string.h>

bool mem_read_head(struct store_tree *t, struct sv thread, struct arena *a, struct store_head *out)
{
    struct sv value;

    *out = (struct store_head){ 0 };
    if (!tree_get(t, mem_thread_key(thread, a), &value))
        return false;
    memcpy(out, value.s, sizeof *out);
    return true;
}

void mem_write_head(struct mem_store *m, struct sv thread, const struct store_head *h)
{
    tree_put(&m->seen, mem_thread_key(thread, &m->scratch),
             (struct sv){ (const char *)h, sizeof *h });
}

enum status mem_head(struct store *s, struct sv thread, struct store_head *out, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct arena_mark  mark = mem_scratch_mark(m);
    struct store_tree *t = mem_look(m);

    (void)e;
    mem_read_head(t, thread, &m->scratch, out);
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

static enum status insert_one(struct mem_store *m, struct sv thread, const struct entry *n,
                              struct err *e)
{
    struct arena *a = &m->scratch;
    struct sv     taken;

    if (n->op_id.s) {
        struct sv key = mem_op_key(thread, n->op_id, a);
        if (tree_get(m->seen, key, &taken)) {
            err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' is taken in this thread", SV_ARG(n->op_id));
            return err_reason(e, "op_id");
        }
        tree_put(&m->seen, key, (struct sv){ (const char *)&n->seq, sizeof n->seq });
    }
    if (n->mark != MARK_NONE && n->lane.s)
        tree_put(&m->seen, mem_lane_key(thread, n->mark, n->lane, n->seq, a), SV(""));
    tree_put(&m->seen, mem_key_of_entry(thread, n->seq, a), mem_pack(n, a));
    return ST_OK;
}

enum status mem_insert(struct store *s, struct sv thread, int64_t rev, const struct entry *entries,
                       size_t n, struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct store_head h;
    struct arena_mark mark = mem_scratch_mark(m);

    mem_read_head(m->seen, thread, &m->scratch, &h);
    if (rev == 0) {
        h.created = entries[0].at;
        h.version = entry_version(&entries[0]);
    }
    h.rev = rev + (int64_t)n;
    h.updated = entries[n - 1].at;
    h.chain = entries[n - 1].chain;
    h.recorded_rev = h.rev;
    h.recorded_chain = h.chain;
    mem_write_head(m, thread, &h);
    for (size_t i = 0; i < n; i++) {
        enum status st = insert_one(m, thread, &entries[i], e);
        arena_reset(&m->scratch, mark);
        if (st)
            return st;
    }
    return ST_OK;
}

struct mem_scan {
    struct store_scan  base;
    struct store_tree *held;
    struct arena       a;
    struct sv          thread;
    bool               by_lane;
    struct mem_range   range;
};

enum status mem_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                     struct err *e)
{
    struct mem_scan *scan = calloc(1, sizeof *scan);
    int64_t          from = q->from < 0 ? 0 : q->from;

    (void)e;
    if (!scan)
        failure_memory(sizeof *scan);
    scan->held = mem_look(mem_of(s));
    scan->thread = sv_dup(q->thread, &scan->a);
    scan->by_lane = q->lane.s != NULL;
    if (from <= q->to)
        scan->range = (struct mem_range){
            .in = scan->held,
            .low = scan->by_lane ? mem_lane_key(q->thread, q->mark, q->lane, from, &scan->a)
                                 : mem_key_of_entry(q->thread, from, &scan->a),
            .high = scan->by_lane ? mem_lane_key(q->thread, q->mark, q->lane, q->to, &scan->a)
                                  : mem_key_of_entry(q->thread, q->to, &scan->a),
            .backwards = q->backwards,
        };
    *out = (struct store_scan *)scan;
    return ST_OK;
}

enum status mem_next(struct store_scan *base, struct entry *out, bool *more, struct err *e)
{
    struct mem_scan  *scan = (struct mem_scan *)base;
    struct tree_item  item;
    struct arena_mark mark = arena_mark(&scan->a);

    (void)e;
    *more = mem_range_next(&scan->range, &item);
    if (!*more)
        return ST_OK;
    int64_t seq = mem_seq_at_end(item.key);
    if (scan->by_lane) {
        *more = tree_get(scan->held, mem_key_of_entry(scan->thread, seq, &scan->a), &item.value);
        arena_reset(&scan->a, mark);
    }
    *out = mem_unpack(item.value, seq);
    return ST_OK;
}

void mem_scan_close(struct store_scan *base)
{
    struct mem_scan *scan = (struct mem_scan *)base;

    tree_drop(scan->held);
    arena_free(&scan->a);
    free(scan);
}

enum status mem_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                        struct entry *out, bool *found, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct arena_mark  mark = mem_scratch_mark(m);
    struct store_tree *t = mem_look(m);
    struct sv          value;
    int64_t            seq;

    (void)e;
    *found = tree_get(t, mem_op_key(thread, op_id, &m->scratch), &value);
    if (*found) {
        memcpy(&seq, value.s, sizeof seq);
        tree_get(t, mem_key_of_entry(thread, seq, &m->scratch), &value);
        struct entry n = mem_unpack(value, seq);
        *out = entry_dup(&n, a);
    }
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                         bool *found, struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct arena_mark  mark = mem_scratch_mark(m);
    struct store_tree *t = mem_look(m);
    struct sv          value;

    (void)e;
    *found = tree_get(t, mem_key_of_entry(thread, seq, &m->scratch), &value);
    if (*found)
        *out = mem_unpack(value, seq).chain;
    tree_drop(t);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark want,
                         struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct arena     *a = &m->scratch;
    struct arena_mark mark = mem_scratch_mark(m);
    struct sv         key = mem_key_of_entry(thread, seq, a), value;

    if (!tree_get(m->seen, key, &value)) {
        arena_reset(a, mark);
        return err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)seq);
    }
    value = sv_dup(value, a); /* the pair it lies in goes when it is put again */
    struct entry n = mem_unpack(value, seq);
    if (n.lane.s && n.mark != MARK_NONE)
        tree_del(&m->seen, mem_lane_key(thread, n.mark, n.lane, seq, a));
    n.mark = want;
    if (n.lane.s && n.mark != MARK_NONE)
        tree_put(&m->seen, mem_lane_key(thread, n.mark, n.lane, seq, a), SV(""));
    tree_put(&m->seen, key, mem_pack(&n, a));
    arena_reset(a, mark);
    return ST_OK;
}

/* Another value for an entry that is there; its keys in the indexes stay. */
static enum status put_again(struct mem_store *m, struct sv thread, const struct entry *n,
                             void (*change)(struct entry *was, const struct entry *n),
                             struct err *e)
{
    struct arena     *a = &m->scratch;
    struct arena_mark mark = mem_scratch_mark(m);
    struct sv         key = mem_key_of_entry(thread, n->seq, a), value;
    bool              found = tree_get(m->seen, key, &value);

    if (found) {
        value = sv_dup(value, a); /* the pair it lies in goes when it is put again */
        struct entry was = mem_unpack(value, n->seq);
        change(&was, n);
        tree_put(&m->seen, key, mem_pack(&was, a));
    }
    arena_reset(a, mark);
    return found ? ST_OK : err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)n->seq);
}

static void leave_skeleton(struct entry *was, const struct entry *n)
{
    was->payload = n->skeleton;
    was->refs = SV("{}");
    was->salted = false;
    memset(was->salt, 0, sizeof was->salt);
    was->erased = true;
    was->content = n->content;
}

enum status mem_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                      struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!entries[i].erased && put_again(mem_of(s), thread, &entries[i], leave_skeleton, e))
            return err_code(e);
    return ST_OK;
}

static void take_chain(struct entry *was, const struct entry *n)
{
    was->id = n->id;
    was->payload = n->payload;
    was->salted = true;
    memcpy(was->salt, n->salt, sizeof was->salt);
    was->chain = n->chain;
}

enum status mem_rechain(struct store *s, struct sv thread, const struct entry *n, bool last,
                        struct err *e)
{
    struct mem_store *m = mem_of(s);
    struct store_head h;
    struct arena_mark mark = mem_scratch_mark(m);

    if (put_again(m, thread, n, take_chain, e))
        return err_code(e);
    if (!last)
        return ST_OK;
    mem_read_head(m->seen, thread, &m->scratch, &h);
    h.version = 2;
    h.chain = h.recorded_chain = n->chain;
    mem_write_head(m, thread, &h);
    arena_reset(&m->scratch, mark);
    return ST_OK;
}

enum status mem_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                        struct err *e)
{
    struct mem_store  *m = mem_of(s);
    struct store_tree *t = mem_look(m);
    struct mem_range   r = mem_range_of_prefix(t, SV("t"), a);
    struct tree_item   item;
    VEC(struct store_thread) list = { 0 };

    (void)e;
    while (mem_range_next(&r, &item)) {
        struct store_thread *one = vec_push(&list, a);
        one->id = sv_dup(sv_skip(item.key, 1), a);
        memcpy(&one->head, item.value.s, sizeof one->head);
    }
    tree_drop(t);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}
