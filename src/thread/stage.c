/* Staged threads: their ids, how they become visible, and what is moved behind other entries. */
#include "thread/stage.h"

#include "base/json.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/anchor.h"
#include "thread/deletion.h"
#include "thread/erase.h"
#include "thread/limits.h"

/* A staged .global ends with this. */
#define OF_GLOBAL SV("-global")

bool log_stages(const struct log *l)
{
    return store_stages(l->store);
}

void log_allow_staged(struct log *l, bool on)
{
    store_allow_staged(l->store, on);
}

struct sv log_staged_id(struct sv token, struct sv thread, size_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, STORE_STAGED SV_FMT, SV_ARG(token));
    if (sv_eq(thread, ANCHOR_THREAD))
        sb_add(&b, OF_GLOBAL);
    else
        sb_addf(&b, "-%zu", n);
    return sb_sv(&b);
}

bool log_is_staged(struct sv thread)
{
    return store_is_staged(thread);
}

struct sv log_staged_token(struct sv staged)
{
    struct sv rest = sv_skip(staged, sizeof STORE_STAGED - 1);

    return store_is_staged(staged) && rest.n > LOG_STAGE_TOKEN ? sv_first(rest, LOG_STAGE_TOKEN)
                                                               : (struct sv){ 0 };
}

bool log_is_global(struct sv thread)
{
    return sv_eq(thread, ANCHOR_THREAD) ||
           (store_is_staged(thread) && thread.n > OF_GLOBAL.n &&
            sv_eq(sv_skip(thread, thread.n - OF_GLOBAL.n), OF_GLOBAL));
}

enum status log_staged(struct log *l, struct arena *a, struct sv **out, size_t *n, struct err *e)
{
    return store_staged(l->store, a, out, n, e);
}

void log_stage_after(struct log *l, struct sv staged, const struct store_head *head)
{
    store_stage_after(l->store, staged, head);
}

static enum status written_meanwhile(struct sv thread, struct err *e)
{
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' was written to during the import", SV_ARG(thread));
    err_reason(e, "busy");
    return err_hint(e, "nothing was written; run the command again");
}

enum status log_stage_unmoved(struct log *l, struct sv thread, const struct store_head *before,
                              struct err *e)
{
    struct store_head h;

    if (log_head(l, thread, &h, e))
        return err_code(e);
    return h.rev == before->rev && hash_eq(&h.chain, &before->chain) ? ST_OK
                                                                     : written_meanwhile(thread, e);
}

enum status log_stage_is_there(struct log *l, struct sv staged, struct sv thread,
                               const struct store_head *head, struct err *e)
{
    struct store_head h;

    if (log_head(l, staged, &h, e))
        return err_code(e);
    if (h.rev == head->rev && hash_eq(&h.chain, &head->chain))
        return ST_OK;
    err_set(e, ST_CONFLICT,
            "another process dropped what this import had read for thread '" SV_FMT "'",
            SV_ARG(thread));
    err_reason(e, "busy");
    return err_hint(e, "nothing was written; run the command again");
}

/* Does the staged thread begin with all entries of `thread`? One read is enough, because the chain
 * covers all entries. An erasure is an entry, too. */
static enum status begins_with(struct log *l, struct sv staged, struct sv thread,
                               const struct store_head *h, struct err *e)
{
    struct hash chain;
    bool        found;

    if (store_chain_at(l->store, staged, h->rev - 1, &chain, &found, e))
        return err_code(e);
    return found && hash_eq(&chain, &h->chain) ? ST_OK : written_meanwhile(thread, e);
}

enum status log_publish(struct log *l, struct sv staged, struct sv thread, struct err *e)
{
    struct store_head h;
    bool              deleted = false;

    if (!sv_eq(thread, ANCHOR_THREAD) && deletion_find(l, thread, &deleted, e))
        return err_code(e);
    if (deleted)
        return deletion_refuse(thread, e);
    if (log_head(l, thread, &h, e))
        return err_code(e);
    if (h.rev && (begins_with(l, staged, thread, &h, e) || store_drop_later(l->store, thread, e)))
        return err_code(e);
    return store_rename(l->store, staged, thread, e);
}

/* ---- entries that belong behind others --------------------------------------------------------
 */

/* The row that says what is done with a staged thread. No view has such a name. */
static struct store_key place_of(struct sv staged)
{
    return (struct store_key){ staged, SV("stage"), SV("into") };
}

enum status log_stage_decide(struct log *l, struct sv staged, const struct log_stage *g,
                             struct err *e)
{
    struct arena     a = { 0 };
    struct sb        b = sb_in(&a, 0);
    struct jw        w = jw_in(&b, 0);
    struct store_key k = place_of(staged);

    jw_open(&w, '{');
    jw_kint(&w, "at", g->at);
    jw_kint(&w, "end", g->end);
    jw_kbool(&w, "exact", g->exact);
    jw_kint(&w, "first", g->first);
    jw_kstr(&w, "into", g->into);
    jw_kstr(&w, "lines", g->lines);
    jw_kint(&w, "moved", g->moved);
    jw_kint(&w, "rev", g->rev);
    jw_close(&w, '}');
    enum status s = store_row_put(l->store, &k, sb_sv(&b), e);
    arena_free(&a);
    return s;
}

enum status log_stage_find(struct log *l, struct sv staged, struct arena *a, struct log_stage *out,
                           bool *decided, struct err *e)
{
    struct store_key k = place_of(staged);
    struct json      v;
    struct sv        value;

    if (store_row_get(l->store, &k, a, &value, decided, e))
        return err_code(e);
    if (!*decided)
        return ST_OK;
    if (json_parse(value, 0, a, &v, e))
        return err_in(e, "a staged thread");
    *out = (struct log_stage){ .into = json_text(&v, "into"),
                               .lines = json_text(&v, "lines"),
                               .first = json_number(&v, "first"),
                               .at = json_number(&v, "at"),
                               .end = json_number(&v, "end"),
                               .moved = json_number(&v, "moved"),
                               .rev = json_number(&v, "rev"),
                               .exact = json_truth(json_find(&v, "exact")) };
    return ST_OK;
}

enum status log_stage_unfinished(struct log *l, struct arena *a, struct sv *into, struct err *e)
{
    struct sv  *ids;
    size_t      n;
    bool        decided = false;
    enum status s = log_staged(l, a, &ids, &n, e);

    *into = (struct sv){ 0 };
    for (size_t i = 0; !s && i < n; i++) {
        struct log_stage g;
        s = log_stage_find(l, ids[i], a, &g, &decided, e);
        if (!s && decided && g.at < g.end)
            *into = g.into;
    }
    return s;
}

enum status log_stage_refuse(struct log *l, struct err *e)
{
    struct arena a = { 0 };
    struct sv    into;
    enum status  s = log_stage_unfinished(l, &a, &into, e);

    if (!s && into.s) {
        err_set(e, ST_CONFLICT, "an import into thread '" SV_FMT "' is not at its end",
                SV_ARG(into));
        err_reason(e, "busy");
        s = err_hint(e, "wait for it, then run the command again");
    }
    arena_free(&a);
    return s;
}

/* The entries of one slice, as an import takes them. */
struct moving {
    struct arena a;
    VEC(struct entry) list;
};

static enum status read_slice(struct log *l, struct sv from, int64_t at, struct moving *m,
                              struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = from, .from = at, .to = at + FOLD_SLICE - 1 };
    bool               more = true;
    size_t             bytes = 0;

    if (store_scan(l->store, &q, &scan, e))
        return err_code(e);
    while (more && bytes < FOLD_SLICE_BYTES) {
        struct entry n;
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            break;
        bytes += n.payload.n + n.refs.n;
        n = entry_dup(&n, &m->a);
        n.unsalted = !n.salted && !n.erased;
        *vec_push(&m->list, &m->a) = n;
    }
    return ST_OK;
}

static enum status check_place(const struct log_stage *g, int64_t rev, struct err *e)
{
    if (!g->exact || rev == g->at)
        return ST_OK;
    err_set(e, ST_CONFLICT,
            "thread '" SV_FMT "' was written to meanwhile: entries %lld to %lld are in it, and the "
            "lines behind cannot keep their seqs",
            SV_ARG(g->into), (long long)g->first, (long long)g->at - 1);
    err_reason(e, "seq");
    return err_hint(e, "import the lines into a new thread");
}

enum status log_stage_slice(struct log *l, struct sv staged, struct log_stage *g, int64_t *n_erased,
                            struct err *e)
{
    struct moving     m = { 0 };
    struct log_stage  now;
    struct store_head head = { 0 };
    bool              decided = false;
    enum status       s = log_stage_find(l, staged, &m.a, &now, &decided, e);

    if (!s && decided) { /* another process may have gone on with it */
        g->at = now.at;
        g->moved = now.moved;
        g->rev = now.rev;
    }
    if (!s && (!decided || g->at >= g->end)) {
        g->at = g->end;
        arena_free(&m.a);
        return ST_OK;
    }
    if (!s)
        s = log_head(l, g->into, &head, e);
    if (!s)
        s = check_place(g, head.rev, e);
    if (!s)
        s = read_slice(l, staged, g->at, &m, e);
    if (!s && g->moved < 0)
        g->moved = head.rev;
    if (!s && !m.list.n)
        s = err_set(e, ST_CORRUPT, "entries %lld to %lld of an import are missing",
                    (long long)g->at, (long long)g->end - 1);
    if (!s)
        s = log_import(l, g->into, m.list.v, m.list.n, &head, NULL, NULL, e);
    if (!s)
        s = erase_replay(l, g->into, m.list.v, m.list.n, n_erased, e);
    if (!s) {
        g->at += (int64_t)m.list.n;
        g->rev = head.rev;
    }
    arena_free(&m.a);
    return s ? s : log_stage_decide(l, staged, g, e);
}

enum status log_stage_move(struct log *l, struct sv staged, struct log_stage *g, int64_t *n_erased,
                           struct err *e)
{
    enum status s = ST_OK;

    while (!s && g->at < g->end) {
        store_let_others(l->store);
        s = log_begin(l, g->into, STORE_WRITE, e);
        if (!s)
            s = log_stage_slice(l, staged, g, n_erased, e);
        if (!s)
            s = log_commit(l, e);
        log_abort(l); /* no effect after a commit */
    }
    return s;
}

/* ---- entries that come first ------------------------------------------------------------------
 */

/* In a write transaction; *left: there are others behind them. */
static enum status copy_slice(struct log *l, struct sv thread, struct sv staged, bool *left,
                              struct err *e)
{
    struct moving     m = { 0 };
    struct store_head from = { 0 }, to = { 0 };
    int64_t           erased = 0;
    enum status       s = log_head(l, thread, &from, e);

    if (!s)
        s = log_head(l, staged, &to, e);
    if (!s)
        s = read_slice(l, thread, to.rev, &m, e);
    if (!s)
        s = log_import(l, staged, m.list.v, m.list.n, &to, NULL, NULL, e);
    if (!s)
        s = erase_replay(l, staged, m.list.v, m.list.n, &erased, e);
    if (!s && to.rev == from.rev && !hash_eq(&to.chain, &from.chain))
        s = written_meanwhile(thread, e);
    *left = !s && m.list.n && to.rev < from.rev;
    arena_free(&m.a);
    return s;
}

enum status log_stage_copy(struct log *l, struct sv thread, struct sv staged,
                           struct store_head *head, struct err *e)
{
    enum status s = ST_OK;

    for (bool left = true; !s && left;) {
        s = log_begin(l, thread, STORE_WRITE, e);
        if (!s)
            s = copy_slice(l, thread, staged, &left, e);
        if (!s)
            s = log_commit(l, e);
        log_abort(l); /* no effect after a commit */
        store_let_others(l->store);
    }
    if (!s)
        s = log_begin(l, staged, STORE_READ, e); /* rows hold what was erased: fold them */
    if (!s)
        s = log_head(l, staged, head, e);
    log_abort(l);
    return s;
}

enum status log_drop_staged(struct log *l, struct sv token, bool narrow, struct err *e)
{
    struct arena a = { 0 };
    struct sb    b = sb_in(&a, 0);

    sb_addf(&b, STORE_STAGED SV_FMT, SV_ARG(token));
    enum status s = store_drop_staged(l->store, sb_sv(&b), narrow, e);
    arena_free(&a);
    return s;
}
