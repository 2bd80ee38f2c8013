/* What is left to do after an erasure is committed: which files must be removed, and recording that
 * they were. */
#include "thread/erase.h"

#include "store/store.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/log_internal.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

static struct sv *texts_of(const struct json *p, const char *key, struct arena *a, size_t *n)
{
    const struct json *list = json_find(p, key);

    *n = json_is(list, JSON_ARRAY) ? list->n : 0;
    struct sv *out = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        out[i] = json_sv(&list->items[i]);
    return out;
}

static void read_seqs(const struct json *p, struct arena *a, struct erase_pending *out)
{
    const struct json *list = json_find(p, "seqs");

    out->n_seqs = json_is(list, JSON_ARRAY) ? list->n : 0;
    out->seqs = ARENA_NEW(a, int64_t, out->n_seqs + 1);
    for (size_t i = 0; i < out->n_seqs; i++)
        if (!json_int(&list->items[i], &out->seqs[i]))
            out->seqs[i] = out->seq; /* of no entry before it */
}

static enum status read_pending(struct log *l, struct sv thread, int64_t seq, struct arena *a,
                                struct erase_pending *out, struct err *e)
{
    struct store_query q = { .thread = thread, .from = seq, .to = seq };
    struct entry       n;
    struct json        p;
    bool               found;

    *out = (struct erase_pending){ .thread = thread, .seq = seq };
    if (store_first(l->store, &q, a, &n, &found, e))
        return err_code(e);
    if (!found || !kind_is_sound(&n) || json_parse(n.payload, 0, a, &p, e))
        return ST_OK;
    out->chain = n.chain;
    if (kind_of(n.kind) == KIND_THREAD_DELETION)
        out->deleted = json_text(&p, "thread");
    out->files = texts_of(&p, "files", a, &out->n_files);
    out->objects = texts_of(&p, "objects", a, &out->n_objects);
    read_seqs(&p, a, out);
    return ST_OK;
}

struct pending_list {
    VEC(struct erase_pending) list;
};

static enum status pending_of(struct log *l, struct sv thread, struct arena *a,
                              struct pending_list *to, struct err *e)
{
    struct rows       r = rows_of_view(l, thread, &thread_view, a);
    struct store_row *rows;
    size_t            n;

    if (rows_below(&r, SV("erasure/"), &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        int64_t seq = key_last(rows[i].key);
        if (seq >= 0 && read_pending(l, thread, seq, a, vec_push(&to->list, a), e))
            return err_code(e);
    }
    return ST_OK;
}

struct pending_scan {
    struct arena *a;
    VEC(int64_t) seqs;
};

static enum status note_pending(void *ctx, const struct entry *n, struct err *e)
{
    struct pending_scan *x = ctx;
    enum kind            kind = kind_of(n->kind);
    struct json          p;
    int64_t              done = -1;

    if ((kind == KIND_ERASURE || kind == KIND_THREAD_DELETION) && kind_is_sound(n))
        *vec_push(&x->seqs, x->a) = n->seq;
    if (kind != KIND_ERASURE_DONE || !kind_is_sound(n))
        return ST_OK;
    if (json_parse(n->payload, 0, x->a, &p, e))
        return err_code(e);
    json_int(json_find(&p, "erasure"), &done);
    for (size_t i = 0; i < x->seqs.n; i++)
        if (x->seqs.v[i] == done)
            x->seqs.v[i] = -1;
    return ST_OK;
}

/* The same from the entries, for a thread whose views are still to be folded: an erasure leaves it
 * so. */
static enum status pending_in_entries(struct log *l, struct sv thread, struct arena *a,
                                      struct pending_list *to, struct err *e)
{
    struct pending_scan x = { .a = a };

    if (log_each_entry(l, thread, note_pending, &x, e))
        return err_code(e);
    for (size_t i = 0; i < x.seqs.n; i++)
        if (x.seqs.v[i] >= 0 && read_pending(l, thread, x.seqs.v[i], a, vec_push(&to->list, a), e))
            return err_code(e);
    return ST_OK;
}

static enum status add_pending(struct log *l, struct sv thread, int64_t views, struct arena *a,
                               struct pending_list *to, struct err *e)
{
    return views & ~(int64_t)VIEWS_KEPT ? pending_of(l, thread, a, to, e)
                                        : pending_in_entries(l, thread, a, to, e);
}

enum status erase_pending_in(struct log *l, struct sv thread, int64_t views, struct arena *a,
                             struct erase_pending **out, size_t *n, struct err *e)
{
    struct pending_list to = { 0 };

    if (add_pending(l, thread, views, a, &to, e))
        return err_code(e);
    *out = to.list.v;
    *n = to.list.n;
    return ST_OK;
}

enum status erase_pending(struct log *l, struct arena *a, struct erase_pending **out, size_t *n,
                          struct err *e)
{
    struct store_thread *threads;
    struct pending_list  to = { 0 };
    size_t               count;

    if (store_threads(l->store, a, &threads, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (!threads[i].damaged && add_pending(l, threads[i].id, threads[i].head.views, a, &to, e))
            return err_code(e);
    *out = to.list.v;
    *n = to.list.n;
    return ST_OK;
}

static enum status forget_one(struct log *l, const struct erase_pending *p, struct err *e)
{
    struct arena       a = { 0 };
    struct store_query q = { .thread = p->thread, .from = p->seq, .to = p->seq };
    struct entry       n;
    bool               found;
    enum status        s = store_first(l->store, &q, &a, &n, &found, e);

    if (!s && found && skeleton_has_content(&n, &a)) {
        skeleton_fill(&n, 1, &a);
        s = store_erase(l->store, p->thread, &n, 1, e);
    }
    arena_free(&a);
    return s;
}

enum status erase_forget(struct log *l, const struct erase_pending *list, size_t n, struct err *e)
{
    enum status s = ST_OK;
    bool        any = false;

    for (size_t i = 0; i < n; i++)
        any = any || list[i].n_objects;
    if (!any)
        return ST_OK;
    if (log_begin(l, (struct sv){ 0 }, STORE_WRITE, e))
        return err_code(e);
    for (size_t i = 0; i < n && !s; i++)
        if (list[i].n_objects)
            s = forget_one(l, &list[i], e);
    if (!s)
        return log_commit(l, e);
    log_abort(l);
    return s;
}

enum status erase_say_done(struct log *l, const struct erase_pending *p, struct sv actor,
                           int64_t at, struct err *e)
{
    char              payload[64];
    struct store_head head;
    struct sb         b = sb_on(payload, sizeof payload, NULL);

    sb_addf(&b, "{\"erasure\":%lld}", (long long)p->seq);
    struct entry n = {
        .at = at, .kind = SV("erasure_done"), .actor = actor, .payload = sb_sv(&b), .refs = SV("{}")
    };
    return log_append(l, p->thread, LOG_ANY_REV, &n, 1, &head, e);
}

enum status erase_done(struct log *l, const struct erase_pending *list, size_t n, struct sv actor,
                       int64_t at, struct err *e)
{
    if (!n)
        return ST_OK;
    if (log_begin(l, (struct sv){ 0 }, STORE_WRITE, e))
        return err_code(e);
    enum status s = ST_OK;
    for (size_t i = 0; i < n && !s; i++)
        s = erase_say_done(l, &list[i], actor, at, e);
    if (!s)
        return log_commit(l, e);
    log_abort(l);
    return s;
}
