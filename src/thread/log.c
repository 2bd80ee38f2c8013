/* Appending, with the rules that every entry passes, and the folds that follow in the same
 * transaction. */
#include "thread/log_internal.h"

#include "thread/anchor.h"
#include "thread/deletion.h"
#include "thread/kind_check.h"
#include "thread/limits.h"
#include "thread/skeleton.h"

struct log log_of(struct store *store, const struct view *const *views)
{
    struct log l = { .store = store, .views = views };
    uint64_t   id = 0xcbf29ce484222325u;

    for (size_t i = 0; views[i]; i++) {
        for (const char *p = views[i]->name; *p; p++)
            id = (id ^ (unsigned char)*p) * 0x100000001b3u;
        id = (id ^ (uint64_t)views[i]->version) * 0x100000001b3u;
    }
    id = (id ^ (uint64_t)KIND_RULES) * 0x100000001b3u;
    l.views_id = (int64_t)(id & INT64_MAX & ~(uint64_t)VIEWS_KEPT);
    return l;
}

/* ---- transactions ---------------------------------------------------------------- */

static enum status views_are_current(struct log *l, struct sv thread, bool *current, struct err *e)
{
    struct store_head h;

    *current = true;
    if (!thread.s)
        return ST_OK;
    if (store_head(l->store, thread, &h, e))
        return err_code(e);
    int64_t wanted = log_view_bit(l, l->wanted);
    *current = h.rev == 0 ||
               ((h.views & ~(int64_t)VIEWS_KEPT) == l->views_id && (h.views & wanted) == wanted);
    return ST_OK;
}

/* Where nothing may be written the views of the thread are folded into memory, in the reading
 * transaction that log_begin() was asked for. */
static enum status fold_beside(struct log *l, struct sv thread, struct err *e)
{
    struct store *front;

    log_abort(l);
    if (store_begin(l->store, STORE_READ, e) || store_beside(l->store, thread, &front, e)) {
        log_abort(l);
        return err_code(e);
    }
    l->store = front;
    if (!log_rebuild(l, thread, e))
        return ST_OK;
    log_abort(l);
    return err_code(e);
}

/* Does the log of a thread end where its last append left it? */
static enum status ends_as_written(struct log *l, struct sv thread, struct err *e)
{
    struct store_head h;

    if (!thread.s)
        return ST_OK;
    if (store_head(l->store, thread, &h, e))
        return err_code(e);
    return store_head_agrees(thread, &h, e);
}

static enum status begin_current(struct log *l, struct sv thread, enum store_mode mode,
                                 struct err *e)
{
    bool current;

    for (int tries = 0; tries < 3; tries++) {
        if (store_begin_on(l->store, mode, thread, e) || ends_as_written(l, thread, e) ||
            views_are_current(l, thread, &current, e))
            break;
        l->writing = mode == STORE_WRITE;
        if (current)
            return ST_OK;
        if (l->only_current) {
            err_set(e, ST_CONFLICT, "the views of the thread have to be folded anew first");
            err_reason(e, "rebuild");
            break;
        }
        if (l->writing) { /* a short thread: no other transaction is needed */
            struct log_slice slice = { 0 };
            enum status      s = log_fold_slice(l, thread, &slice, e);
            store_known_free(&slice.known);
            if (s)
                break;
            if (slice.done)
                return ST_OK;
        }
        log_abort(l); /* fold in transactions of their own, then look again */
        enum status s = log_fold_behind(l, thread, e);
        if (s && mode == STORE_READ &&
            (sv_is(sv_of(e->reason), STORE_READ_ONLY) || sv_is(sv_of(e->reason), STORE_MOVED)))
            return fold_beside(l, thread, e);
        if (s)
            break;
        err_set(e, ST_CONFLICT, "two versions of heddle use this log at once");
        err_hint(e, "stop the older one");
    }
    log_abort(l);
    return err_code(e);
}

enum status log_begin(struct log *l, struct sv thread, enum store_mode mode, struct err *e)
{
    if (begin_current(l, thread, mode, e))
        return err_code(e);
    if (mode == STORE_READ || !l->expects.s)
        return ST_OK;
    if (log_check_rev(l, l->expects, l->expected, e)) {
        log_abort(l);
        return err_code(e);
    }
    l->expects = (struct sv){ 0 };
    return ST_OK;
}

/* Show an earlier state in the open transaction, which continues. */
static enum status go_back(struct log *l, struct sv thread, int64_t seq, struct err *e)
{
    struct store_head h;
    struct store     *front;

    if (store_head(l->store, thread, &h, e))
        return err_code(e);
    if (!h.rev)
        return log_no_thread(thread, e);
    if (seq >= h.rev - 1)
        return ST_OK;
    if (store_until(l->store, thread, seq < 0 ? 0 : seq + 1, &front, e))
        return err_code(e);
    l->store = front;
    l->past = true;
    return log_rebuild(l, thread, e);
}

enum status log_at(struct log *l, struct sv thread, int64_t seq, struct err *e)
{
    if (log_begin(l, thread, STORE_READ, e))
        return err_code(e);
    if (!go_back(l, thread, seq, e))
        return ST_OK;
    log_at_end(l);
    return err_code(e);
}

void log_at_end(struct log *l)
{
    log_abort(l);
    if (l->past)
        l->store = store_uncover(l->store);
    l->past = false;
}

enum status log_catch_up(struct log *l, struct sv thread, int64_t most, struct err *e)
{
    struct store_head h;
    struct log_slice  slice = { 0 };
    bool              current;

    if (!l->writing)
        return ST_OK;
    if (store_head(l->store, thread, &h, e) || views_are_current(l, thread, &current, e))
        return err_code(e);
    if (current || h.rev > most)
        return ST_OK;
    enum status s = ST_OK;
    while (!s && !slice.done && (h.rev <= FOLD_SLICE || !l->repeats))
        s = log_fold_slice(l, thread, &slice, e);
    store_known_free(&slice.known);
    if (s || slice.done)
        return s;
    sb_add((struct sb[]){ sb_on(l->behind, sizeof l->behind, NULL) }, thread);
    err_set(e, ST_CONFLICT, "the views of thread '" SV_FMT "' have to be folded first",
            SV_ARG(thread));
    err_reason(e, "behind");
    return err_hint(e, "run the command again");
}

bool log_is_behind(const struct log *l, const struct err *e)
{
    return l->behind[0] && sv_is(sv_of(e->reason), "behind");
}

bool log_again(struct log *l, struct err *e)
{
    struct sv thread = sv_of(l->behind);

    if (!log_is_behind(l, e))
        return false;
    bool folded = log_fold_behind(l, thread, e) == ST_OK;
    l->behind[0] = 0;
    return folded;
}

void log_let_others(struct log *l)
{
    store_let_others(l->store);
}

int64_t log_now(struct log *l)
{
    return store_now(l->store);
}

enum status log_head(struct log *l, struct sv thread, struct store_head *out, struct err *e)
{
    return store_head(l->store, thread, out, e);
}

bool log_keeps(const struct log *l, const struct store_head *h, const struct view *v)
{
    int64_t bit = log_view_bit(l, v);

    return (h->views & ~(int64_t)VIEWS_KEPT) == l->views_id && (h->views & bit) == bit;
}

enum status log_commit(struct log *l, struct err *e)
{
    if (l->writing && l->before_commit && l->before_commit(l->before_commit_ctx, e))
        return err_code(e); /* the caller aborts */
    l->writing = false;
    return store_commit(l->store, e);
}

void log_abort(struct log *l)
{
    l->writing = false;
    store_abort(l->store);
}

/* ---- folding ---------------------------------------------------------------------- */

static enum status fold_entry(struct log *l, int64_t views, struct rows *f, const struct entry *n,
                              struct err *e)
{
    for (size_t i = 0; l->views[i]; i++)
        if (log_keeps_view(l, i, views) && log_fold_view(f, l->views[i], n, e))
            return err_code(e);
    return ST_OK;
}

/* `bad` (NULL: none) names the entries that have no effect. */
static enum status fold_all(struct log *l, struct sv thread, int64_t views,
                            const struct entry *entries, size_t n, const bool *bad, struct err *e)
{
    struct arena scratch = { 0 };
    struct rows  f = { .store = l->store, .thread = thread, .a = &scratch };
    enum status  s = ST_OK;

    ARENA_NEW(&scratch, char, 1); /* keeps one block allocated across resets */
    for (size_t i = 0; i < n && !s; i++)
        if (!bad || !bad[i])
            s = fold_entry(l, views, &f, &entries[i], e);
    arena_free(&scratch);
    return s;
}

/* ---- repeating ---------------------------------------------------------------------- */

static bool same_refs(struct sv a, struct sv b)
{
    return sv_eq(a.n ? a : SV("{}"), b.n ? b : SV("{}"));
}

/* Is `old`, an entry of the log, equal to what `n` would become? A repeated append comes later,
 * perhaps from another actor, so time and actor may differ. Of an erased entry only the skeleton
 * can be compared. */
static bool says_the_same(const struct entry *old, const struct entry *n, struct arena *a)
{
    struct sv payload = old->erased ? skeleton_of(n->kind, n->payload, a) : n->payload;

    return sv_eq(old->kind, n->kind) && sv_eq(old->lane, n->lane) && sv_eq(old->op_id, n->op_id) &&
           sv_eq(old->payload, payload) && (old->erased || same_refs(old->refs, n->refs)) &&
           (!n->id.s || sv_eq(old->id, n->id));
}

enum status log_op_id_taken(struct sv op_id, struct err *e)
{
    err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' was used before, with other content",
            SV_ARG(op_id));
    err_reason(e, "op_id");
    return err_hint(e, "use a new op_id for new content");
}

struct sv log_part_op_id(struct sv op_id, const char *what, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    struct hash h = hash_blake2b(&op_id, 1);

    sb_adds(&b, "do:");
    sb_add_hex(&b, h.b, 16);
    sb_addf(&b, "/%s", what);
    return sb_sv(&b);
}

enum status log_check_rev(struct log *l, struct sv thread, int64_t expect, struct err *e)
{
    struct store_head h;

    if (log_head(l, thread, &h, e))
        return err_code(e);
    if (expect == h.rev)
        return ST_OK;
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' is at revision %lld, not at %lld", SV_ARG(thread),
            (long long)h.rev, (long long)expect);
    err_reason(e, "rev");
    return err_hint(e, "look at what was appended since, then try again");
}

enum status log_no_thread(struct sv thread, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(thread));
    err_reason(e, "thread");
    return err_hint(e, "`heddle list` shows the threads there are; `heddle log append` starts one");
}

/* entries[0..n) against those of the log from `first` on. */
static enum status compare_all(struct log *l, struct sv thread, int64_t first,
                               struct entry *entries, size_t n, struct arena *a, bool *same,
                               struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = thread, .from = first, .to = first + (int64_t)n - 1 };

    *same = first >= 0;
    if (*same && store_scan(l->store, &q, &scan, e))
        return err_code(e);
    for (size_t i = 0; i < n && *same; i++) {
        struct entry old;
        bool         more = false;
        if (store_next(scan, &old, &more, e))
            return err_code(e);
        *same = more && old.seq == first + (int64_t)i && says_the_same(&old, &entries[i], a);
        if (*same) {
            entries[i].seq = old.seq;
            entries[i].chain = old.chain;
        }
    }
    return ST_OK;
}

enum status log_find_repeated(struct log *l, struct sv thread, struct entry *entries, size_t n,
                              bool *repeated, struct err *e)
{
    struct arena scratch = { 0 };
    struct entry old;
    size_t       i = 0;
    bool         found = false, same = false;

    *repeated = false;
    while (i < n && !entries[i].op_id.s)
        i++;
    if (i == n)
        return ST_OK;
    enum status s = store_find_op(l->store, thread, entries[i].op_id, &scratch, &old, &found, e);
    if (!s && found)
        s = compare_all(l, thread, old.seq - (int64_t)i, entries, n, &scratch, &same, e);
    arena_free(&scratch);
    if (s)
        return s;
    *repeated = found && same;
    return found && !same ? log_op_id_taken(entries[i].op_id, e) : ST_OK;
}

/* ---- appending ----------------------------------------------------------------------- */

/* A new thread must not have the id of one that was deleted. */
static enum status refuse_deleted(struct log *l, struct sv thread, struct err *e)
{
    bool deleted = false;

    if (!sv_eq(thread, ANCHOR_THREAD) && deletion_find(l, thread, &deleted, e))
        return err_code(e);
    return deleted ? deletion_refuse(thread, e) : ST_OK;
}

static enum status append_prepared(struct log *l, struct sv thread, int64_t expect,
                                   struct entry *entries, size_t n, const bool *bad,
                                   struct store_head *head, struct err *e)
{
    struct arena scratch = { 0 };

    skeleton_salt(entries, n);
    skeleton_fill(entries, n, &scratch);
    enum status s = store_append(l->store, thread, expect, entries, n, head, e);
    for (size_t i = 0; i < n; i++)
        entries[i].skeleton = (struct sv){ 0 };
    arena_free(&scratch);
    if (s)
        return s;
    bool is_new = n && head->rev == (int64_t)n;
    if (is_new && refuse_deleted(l, thread, e))
        return err_code(e);
    if (is_new) {
        head->views = l->views_id | log_view_bit(l, l->wanted);
        if (store_set_views(l->store, thread, head->views, e))
            return err_code(e);
    }
    /* Rows that another version made, or that are being folded: these entries are folded with the
     * rest. */
    if ((head->views & ~(int64_t)VIEWS_KEPT) != l->views_id)
        return ST_OK;
    return fold_all(l, thread, head->views, entries, n, bad, e);
}

/* Only an import brings entries whose content is gone. */
static enum status refuse_erased(const struct entry *n, struct err *e)
{
    if (!n->erased)
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "an erased entry cannot be appended");
    return err_hint(e, "`heddle log import` takes an export with erased entries");
}

enum status log_append(struct log *l, struct sv thread, int64_t expect, struct entry *entries,
                       size_t n, struct store_head *head, struct err *e)
{
    l->repeated = false;
    for (size_t i = 0; i < n; i++)
        if (refuse_erased(&entries[i], e) || kind_prepare(&entries[i], e))
            return n > 1 ? err_in(e, "entry %zu of %zu", i + 1, n) : e->code;
    if (log_find_repeated(l, thread, entries, n, &l->repeated, e))
        return err_code(e);
    if (l->repeated)
        return store_head(l->store, thread, head, e);
    return append_prepared(l, thread, expect, entries, n, NULL, head, e);
}

enum status log_import(struct log *l, struct sv thread, struct entry *entries, size_t n,
                       struct store_head *head, log_kept_fn kept, void *ctx, struct err *e)
{
    struct arena scratch = { 0 };
    bool        *bad = ARENA_NEW(&scratch, bool, n + 1);
    struct err   why;

    l->repeated = false;
    for (size_t i = 0; i < n; i++)
        bad[i] = kind_prepare(&entries[i], &why) != ST_OK;
    enum status s = append_prepared(l, thread, LOG_ANY_REV, entries, n, bad, head, e);
    for (size_t i = 0; i < n && !s && kept; i++)
        if (bad[i] && kind_prepare(&entries[i], &why))
            kept(ctx, &entries[i], &why);
    arena_free(&scratch);
    return s;
}
