/* Checks a thread. Each entry is read once; the views are folded again into a store in memory,
 * whose rows are then walked side by side with the live ones. */
#include "thread/log_internal.h"

#include "thread/kind.h"
#include "thread/skeleton.h"

#define UNKNOWN ((int64_t)-1)

struct check {
    struct log   *log;
    struct sv     thread;
    struct store *again; /* in memory: the rows as they should be */
    struct arena  a;
    int64_t      *reach;      /* of each view: how many entries its rows come from */
    bool          with_views; /* the live rows were folded by this version and can be compared */
    bool          unread;     /* part of the log could not be read */
    int64_t       read, next; /* how many; the seq that comes now, or UNKNOWN */
    struct hash   chain;      /* of the entry before `next` ... */
    bool          chain_known;
    const struct log_findings *to;
};

static void tell(struct check *c, const char *fmt, ...) PRINTF(2, 3);
static void tell(struct check *c, const char *fmt, ...)
{
    struct arena_mark m = arena_mark(&c->a);
    struct sb         b = sb_in(&c->a, 0);
    va_list           ap;

    sb_addf(&b, "thread " SV_FMT ": ", SV_ARG(c->thread));
    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    c->to->damage(c->to->ctx, sb_sv(&b));
    arena_reset(&c->a, m);
}

/* The text of an error may quote the entry. */
static void tell_ignored(struct check *c, const struct entry *n, const struct err *why)
{
    struct arena_mark m = arena_mark(&c->a);
    struct sb         b = sb_in(&c->a, 0);

    if (!c->to->ignored)
        return;
    sb_addf(&b, "thread " SV_FMT ": entry %lld is kept and not acted on: ", SV_ARG(c->thread),
            (long long)n->seq);
    sb_add_plain_line(&b, sv_of(why->text));
    c->to->ignored(c->to->ctx, sb_sv(&b));
    arena_reset(&c->a, m);
}

/* ---- entries ------------------------------------------------------------------------ */

static void check_chain(struct check *c, const struct entry *n)
{
    if (c->next != UNKNOWN && n->seq != c->next) {
        tell(c,
             n->seq == c->next + 1 ? "entry %lld is missing" : "entries %lld to %lld are missing",
             (long long)c->next, (long long)n->seq - 1);
        c->chain_known = false;
    }
    struct entry full = *n;
    skeleton_fill(&full, 1, &c->a);
    struct hash want = entry_chain(&full, &c->chain);
    if (c->chain_known && !hash_eq(&want, &n->chain))
        tell(c, "entry %lld is not what was written: its chain value does not follow from it",
             (long long)n->seq);
    /* Continue from the stored chain value, so that one change gives one finding. */
    c->chain = n->chain;
    c->chain_known = true;
    c->next = n->seq + 1;
}

static bool same(struct sv a, struct sv b)
{
    return !a.s == !b.s && sv_eq(a, b);
}

/* An entry that would be refused today has no effect: *sound is false, and it has no mark. */
static void check_meaning(struct check *c, const struct entry *n, bool *sound)
{
    struct entry again = *n;
    struct err   why = { 0 };

    *sound = kind_prepare(&again, &why) == ST_OK;
    if (*sound && n->erased && n->mark == MARK_NONE && again.mark != MARK_NONE) {
        *sound = false; /* see log_rebuild() */
        again.mark = MARK_NONE;
        err_set(&why, ST_INVALID_SYNTAX, "what is erased was not what its kind demands");
    }
    if (!*sound)
        tell_ignored(c, n, &why);
    if (!c->with_views)
        again.mark = n->mark; /* marked by another version; it is marked again on first use */
    if (again.mark != n->mark)
        tell(c, "entry %lld is marked %d and should be %d%s%s", (long long)n->seq, (int)n->mark,
             (int)again.mark, why.text[0] ? ": " : "", why.text);
    if (!same(again.lane, n->lane))
        tell(c, "entry %lld stands in another lane than its context_ref", (long long)n->seq);
    if (!same(again.op_id, n->op_id))
        tell(c, "entry %lld has another op_id than its payload", (long long)n->seq);
}

static void fold_again(struct check *c, const struct entry *n)
{
    struct rows f = { .store = c->again, .thread = c->thread, .a = &c->a };
    struct err  e;

    for (size_t i = 0; c->log->views[i]; i++) {
        struct arena_mark m = arena_mark(&c->a);
        if (n->seq < c->reach[i] && log_fold_view(&f, c->log->views[i], n, &e))
            tell(c, "%s", e.text);
        arena_reset(&c->a, m);
    }
}

static enum status check_entries(struct check *c, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = c->thread, .to = STORE_TO_END };
    struct entry                             n;
    bool                                     more = true;

    if (store_scan(c->log->store, &q, &scan, e))
        return err_code(e);
    for (;;) {
        enum status s = store_next(scan, &n, &more, e);
        if (s == ST_CORRUPT) { /* the next call goes on behind it, or ends the scan */
            tell(c, "%s", e->text);
            c->unread = true;
            c->chain_known = false;
            c->next = UNKNOWN;
            continue;
        }
        if (s || !more)
            return s;
        c->read++;
        if (n.erased && c->to->erased)
            ++*c->to->erased;
        check_chain(c, &n);
        bool sound;
        check_meaning(c, &n, &sound);
        if (c->with_views && sound)
            fold_again(c, &n);
    }
}

/* ---- rows --------------------------------------------------------------------------- */

static void tell_row(struct check *c, struct sv view, struct sv key, const char *what)
{
    struct arena_mark m = arena_mark(&c->a);
    struct sb         shown = sb_in(&c->a, 0);

    sb_add_plain(&shown, key);
    tell(c, "view " SV_FMT ", row %s %s", SV_ARG(view), sb_sv(&shown).s, what);
    arena_reset(&c->a, m);
}

/* One of two ordered row scans, with the row it stands at. */
struct side {
    struct store_rows *rows;
    struct store_row   at;
    bool               more;
};

/* The next row of a view, without the one that says how far it is folded. */
static enum status side_next(struct side *s, struct err *e)
{
    do
        if (store_rows_next(s->rows, &s->at, &s->more, e))
            return err_code(e);
    while (s->more && sv_eq(s->at.key, LOG_FOLDED));
    return ST_OK;
}

static enum status side_open(struct side *s, struct store *store, struct sv thread, struct sv view,
                             struct err *e)
{
    struct store_row_query q = { .thread = thread, .view = view };

    if (store_rows(store, &q, &s->rows, e))
        return err_code(e);
    return side_next(s, e);
}

static enum status merge(struct check *c, struct sv view, struct side *live, struct side *again,
                         struct err *e)
{
    while (live->more || again->more) {
        int order = !live->more ? 1 : !again->more ? -1 : sv_cmp(live->at.key, again->at.key);

        if (order < 0)
            tell_row(c, view, live->at.key, "should not be there");
        else if (order > 0)
            tell_row(c, view, again->at.key, "is missing");
        else if (!sv_eq(live->at.value, again->at.value))
            tell_row(c, view, live->at.key, "differs from what the entries give");
        if ((order <= 0 && side_next(live, e)) || (order >= 0 && side_next(again, e)))
            return err_code(e);
    }
    return ST_OK;
}

static enum status check_view(struct check *c, struct sv view, struct err *e)
{
    struct side live = { 0 }, again = { 0 };
    enum status s;

    if ((s = side_open(&live, c->log->store, c->thread, view, e)) == ST_OK &&
        (s = side_open(&again, c->again, c->thread, view, e)) == ST_OK)
        s = merge(c, view, &live, &again, e);
    store_rows_close(live.rows);
    store_rows_close(again.rows);
    return s;
}

static enum status check_views(struct check *c, struct err *e)
{
    for (size_t i = 0; c->log->views[i]; i++)
        if (c->reach[i] >= 0 && check_view(c, sv_of(c->log->views[i]->name), e))
            return err_in(e, "view %s", c->log->views[i]->name);
    return ST_OK;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* A view that the thread keeps comes from all entries. One that is being folded comes from those up
 * to a stored seq; while rows of before are being dropped (-1) there is nothing to compare. */
static enum status find_reach(struct check *c, int64_t views, struct err *e)
{
    size_t n = 0;

    while (c->log->views[n])
        n++;
    c->reach = ARENA_NEW(&c->a, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        if (log_keeps_view(c->log, i, views))
            c->reach[i] = INT64_MAX;
        else if (log_folded_to(c->log, c->thread, c->log->views[i], &c->reach[i], e))
            return err_code(e);
    return ST_OK;
}

/* A store in memory that knows the thread, so that rows can be put. */
static enum status open_again(struct check *c, struct err *e)
{
    struct entry      stand_in = { .kind = SV("verify"), .payload = SV("{}") };
    struct store_head h;

    if (store_open(SV("mem:"), &(struct store_options){ .create = true }, &c->again, e) ||
        store_begin(c->again, STORE_WRITE, e))
        return err_code(e);
    return store_append(c->again, c->thread, 0, &stand_in, 1, &h, e);
}

static enum status check_thread(struct check *c, struct err *e)
{
    struct store_head h = { 0 };
    enum status       s = store_head(c->log->store, c->thread, &h, e);

    if (s == ST_CORRUPT) { /* the entries before the end may be readable */
        tell(c, "%s", e->text);
        c->unread = true;
    } else if (s) {
        return s;
    } else if (!h.rev && !h.recorded_rev) {
        return log_no_thread(c->thread, e);
    }
    c->with_views = (h.views & ~(int64_t)VIEWS_KEPT) == c->log->views_id;
    if (find_reach(c, h.views, e) || open_again(c, e) || check_entries(c, e))
        return err_code(e);
    if (c->next != h.rev && !c->unread)
        tell(c, "%lld entries are there, and the head says %lld", (long long)c->next,
             (long long)h.rev);
    struct err why;
    if (!s && store_head_agrees(c->thread, &h, &why)) /* it names the thread itself */
        c->to->damage(c->to->ctx, sv_of(why.text));
    if (c->unread)
        tell(c, "part of the log cannot be read; the views were not compared");
    return c->with_views && !c->unread ? check_views(c, e) : ST_OK;
}

enum status log_examine(struct log *l, struct sv thread, const struct log_findings *to,
                        int64_t *entries, struct err *e)
{
    struct check c = { .log = l, .thread = thread, .to = to, .chain_known = true };

    if (store_begin(l->store, STORE_READ, e))
        return err_code(e);
    enum status s = check_thread(&c, e);
    store_abort(l->store);
    store_close(c.again);
    arena_free(&c.a);
    if (s == ST_OK)
        *entries = c.read;
    return s;
}

enum status log_verify(struct log *l, struct sv thread, void (*say)(void *, struct sv), void *ctx,
                       int64_t *entries, struct err *e)
{
    return log_examine(l, thread, &(struct log_findings){ .damage = say, .ctx = ctx }, entries, e);
}
