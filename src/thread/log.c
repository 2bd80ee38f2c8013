/* Appending, with the rules that every entry passes, and the folds that follow in the same
 * transaction. */
#include "thread/log_internal.h"

#include "thread/kind_check.h"
#include "thread/skeleton.h"

#include <string.h>

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

/* The bit of a view on demand; 0 for the others, which every thread keeps. */
static int64_t bit_of(const struct log *l, const struct view *v)
{
    int64_t bit = 1;

    for (size_t i = 0; l->views[i]; i++) {
        if (l->views[i] == v)
            return v->on_demand ? bit : 0;
        if (l->views[i]->on_demand)
            bit <<= 1;
    }
    return 0;
}

bool log_keeps_view(const struct log *l, size_t i, int64_t views)
{
    int64_t bit = bit_of(l, l->views[i]);

    return (views & bit) == bit;
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
    int64_t wanted = bit_of(l, l->wanted);
    *current = h.rev == 0 ||
               ((h.views & ~(int64_t)VIEWS_KEPT) == l->views_id && (h.views & wanted) == wanted);
    return ST_OK;
}

static enum status bring_up_to_date(struct log *l, struct sv thread, struct err *e)
{
    bool current;

    if (store_begin(l->store, STORE_WRITE, e))
        return err_code(e);
    if (views_are_current(l, thread, &current, e) ||
        (!current && log_rebuild(l, thread, NULL, NULL, e)))
        return err_code(e);
    return log_commit(l, e);
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
    if (!log_rebuild(l, thread, NULL, NULL, e))
        return ST_OK;
    log_abort(l);
    return err_code(e);
}

enum status log_begin(struct log *l, struct sv thread, enum store_mode mode, struct err *e)
{
    bool current;

    for (int tries = 0; tries < 3; tries++) {
        if (store_begin(l->store, mode, e) || views_are_current(l, thread, &current, e))
            break;
        l->writing = mode == STORE_WRITE;
        if (current)
            return ST_OK;
        if (l->writing) {
            if (log_rebuild(l, thread, NULL, NULL, e))
                break;
            return ST_OK;
        }
        log_abort(l); /* reading: fold in a transaction of its own, then look again */
        enum status s = bring_up_to_date(l, thread, e);
        if (s == ST_IO && sv_is(sv_of(e->reason), STORE_READ_ONLY))
            return fold_beside(l, thread, e);
        if (s)
            break;
        err_set(e, ST_CONFLICT, "two versions of heddle use this log at once");
        err_hint(e, "stop the older one");
    }
    log_abort(l);
    return err_code(e);
}

enum status log_catch_up(struct log *l, struct sv thread, int64_t most, struct err *e)
{
    struct store_head h;
    bool              current;

    if (!l->writing)
        return ST_OK;
    if (store_head(l->store, thread, &h, e) || views_are_current(l, thread, &current, e))
        return err_code(e);
    return current || h.rev > most ? ST_OK : log_rebuild(l, thread, NULL, NULL, e);
}

bool log_keeps(const struct log *l, const struct store_head *h, const struct view *v)
{
    int64_t bit = bit_of(l, v);

    return (h->views & ~(int64_t)VIEWS_KEPT) == l->views_id && (h->views & bit) == bit;
}

enum status log_commit(struct log *l, struct err *e)
{
    l->writing = false;
    return store_commit(l->store, e);
}

void log_abort(struct log *l)
{
    l->writing = false;
    store_abort(l->store);
}

/* ---- folding ---------------------------------------------------------------------- */

enum status log_fold_view(struct fold *f, const struct view *v, const struct entry *n,
                          struct err *e)
{
    struct arena_mark m = arena_mark(f->a);

    struct entry shown = *n;

    shown.payload = skeleton_shown(n, f->a);
    f->view = sv_of(v->name);
    if (v->fold(f, &shown, e))
        return err_in(e, "view %s, entry %lld", v->name, (long long)n->seq);
    arena_reset(f->a, m);
    return ST_OK;
}

static enum status fold_entry(struct log *l, int64_t views, struct fold *f, const struct entry *n,
                              struct err *e)
{
    for (size_t i = 0; l->views[i]; i++)
        if (log_keeps_view(l, i, views) && log_fold_view(f, l->views[i], n, e))
            return err_code(e);
    return ST_OK;
}

/* `bad` (NULL: none) says which entries are kept and not acted on. */
static enum status fold_all(struct log *l, struct sv thread, int64_t views,
                            const struct entry *entries, size_t n, const bool *bad, struct err *e)
{
    struct arena      scratch = { 0 };
    struct fold_cache cache;
    struct fold       f = { .store = l->store, .thread = thread, .a = &scratch };
    enum status       s = ST_OK;

    if (n > 1) { /* a single entry would only pay for it */
        memset(&cache, 0, sizeof cache);
        f.cache = &cache;
        ARENA_NEW(&scratch, char, 1); /* a block that stays, whatever is reset above it */
    }
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

/* Is `old`, of the log, what `n` would become? Who says the same again says it later, so that the
 * time and the actor may differ. Of an erased entry only the skeleton can be compared. */
static bool says_the_same(const struct entry *old, const struct entry *n, struct arena *a)
{
    struct sv payload = old->erased ? skeleton_of(n->kind, n->payload, a) : n->payload;

    return sv_eq(old->kind, n->kind) && sv_eq(old->lane, n->lane) && sv_eq(old->op_id, n->op_id) &&
           sv_eq(old->payload, payload) && (old->erased || same_refs(old->refs, n->refs)) &&
           (!n->id.s || sv_eq(old->id, n->id));
}

static enum status used_otherwise(struct sv op_id, struct err *e)
{
    err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' was used before, with other content",
            SV_ARG(op_id));
    err_reason(e, "op_id");
    return err_hint(e, "use a new op_id for new content");
}

/* entries[0..n) against those of the log from `first` on. */
static enum status compare_all(struct log *l, struct sv thread, int64_t first,
                               struct entry *entries, size_t n, struct arena *a, bool *same,
                               struct err *e)
{
    *same = true;
    for (size_t i = 0; i < n && *same; i++) {
        struct store_query q = { .thread = thread,
                                 .from = first + (int64_t)i,
                                 .to = first + (int64_t)i };
        struct entry       old;
        bool               found = false;
        if (store_first(l->store, &q, a, &old, &found, e))
            return err_code(e);
        *same = found && says_the_same(&old, &entries[i], a);
        if (*same) {
            entries[i].seq = old.seq;
            entries[i].chain = old.chain;
        }
    }
    return ST_OK;
}

static enum status find_repeated(struct log *l, struct sv thread, struct entry *entries, size_t n,
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
    return found && !same ? used_otherwise(entries[i].op_id, e) : ST_OK;
}

/* ---- appending ----------------------------------------------------------------------- */

static enum status append_prepared(struct log *l, struct sv thread, int64_t expect,
                                   struct entry *entries, size_t n, const bool *bad,
                                   struct store_head *head, struct err *e)
{
    struct arena scratch = { 0 };

    skeleton_salt(entries, n);
    for (size_t i = 0; i < n; i++)
        skeleton_fill(&entries[i], &scratch);
    enum status s = store_append(l->store, thread, expect, entries, n, head, e);
    for (size_t i = 0; i < n; i++)
        entries[i].skeleton = (struct sv){ 0 };
    arena_free(&scratch);
    if (s)
        return s;
    bool is_new = n && head->rev == (int64_t)n;
    if (is_new) {
        head->views = l->views_id | bit_of(l, l->wanted);
        if (store_set_views(l->store, thread, head->views, e))
            return err_code(e);
    }
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
    if (find_repeated(l, thread, entries, n, &l->repeated, e))
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

enum status log_row_get(struct log *l, struct sv thread, const struct view *v, struct sv key,
                        struct arena *a, struct sv *value, bool *found, struct err *e)
{
    return store_row_get(l->store, &(struct store_key){ thread, sv_of(v->name), key }, a, value,
                         found, e);
}

/* ---- rebuilding --------------------------------------------------------------------- */

static enum status clear_views(struct log *l, struct sv thread, struct err *e)
{
    for (size_t i = 0; l->views[i]; i++)
        if (store_rows_clear(l->store, thread, sv_of(l->views[i]->name), e))
            return err_code(e);
    return ST_OK;
}

/* kind_prepare() again, as if the entry came in now. */
static enum status remark(struct log *l, struct sv thread, const struct entry *n, bool *sound,
                          struct err *e)
{
    struct entry again = *n;
    struct err   ignored;

    *sound = kind_prepare(&again, &ignored) == ST_OK;
    if (*sound && n->erased && n->mark == MARK_NONE && again.mark != MARK_NONE) {
        *sound = false; /* what was wrong with it is gone: it counts no more than it did */
        return ST_OK;
    }
    return again.mark == n->mark ? ST_OK : store_set_mark(l->store, thread, n->seq, again.mark, e);
}

enum status log_rebuild(struct log *l, struct sv thread, void (*progress)(void *, int64_t),
                        void *ctx, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct arena                             scratch = { 0 };
    struct fold_cache                        cache = { 0 };
    struct fold       f = { .store = l->store, .thread = thread, .a = &scratch, .cache = &cache };
    struct store_head h = { 0 };
    struct entry      n;
    bool              more = true;
    enum status       s = store_head(l->store, thread, &h, e);
    int64_t           views = l->views_id | (h.views & VIEWS_KEPT) | bit_of(l, l->wanted);

    if (!s)
        s = clear_views(l, thread, e);
    if (!s)
        s = store_scan(l->store, &q, &scan, e);
    while (!s && !(s = store_next(scan, &n, &more, e)) && more) {
        bool sound = false;
        s = remark(l, thread, &n, &sound, e);
        if (!s && sound)
            s = fold_entry(l, views, &f, &n, e);
        if (progress && n.seq % 4096 == 0)
            progress(ctx, n.seq);
    }
    arena_free(&scratch);
    return s ? s : store_set_views(l->store, thread, views, e);
}
