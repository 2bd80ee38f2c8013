/* Scans of entries on PostgreSQL. Entries are read in pages: a connection has one open result at a
 * time, and the caller may write between two entries. The first page is small, the next ones hold
 * about PAGE_BYTES. */
#include "store/postgres_internal.h"

#include "base/failure.h"

#include <stdlib.h>

enum { PAGE_FIRST = 64, PAGE_MOST = 4096, PAGE_BYTES = 1 << 20 };

/* Rows that an answer brought. */
struct pg_page {
    const struct pq   *lib;
    PGresult          *r;
    int                n, limit;
    struct store_query q; /* of a page that was wanted: its texts are in `a` */
    struct arena       a;
    struct pg_thread  *t;   /* in a transaction */
    int64_t            tid; /* of the thread that was asked for by its number */
};

struct postgres_scan {
    struct store_scan  base;
    struct store_query q; /* what is left of it; its texts are those that follow */
    char               lane[NAME_MAX_BYTES + 1], thread[NAME_MAX_BYTES + 1];
    struct pg_thread  *t; /* in a transaction: see turn() */
    struct pg_page    *page;
    int                at;    /* the next row of the page */
    int                limit; /* of the next page */
    size_t             bytes; /* of this one, as far as it was read */
    bool               done;
    struct arena       a; /* of an entry that was known */
};

static void page_free(struct pg_page *page)
{
    if (!page)
        return;
    if (page->r)
        page->lib->PQclear(page->r);
    arena_free(&page->a);
    free(page);
}

void pg_pages_drop(struct pg_store *p)
{
    for (size_t i = 0; i < PG_SCANS_WANTED; i++) {
        page_free(p->pages[i]);
        p->pages[i] = NULL;
    }
}

/* ---- asking --------------------------------------------------------------------------------- */

static int scan_kind(const struct store_query *q)
{
    return (q->brief ? 6 : 0) + (q->backwards ? 3 : 0) + (q->lane.s ? (int)q->mark : 0);
}

static struct pg_page *new_page(const struct pg_store *p, int limit)
{
    struct pg_page *page = calloc(1, sizeof *page);

    if (!page)
        failure_memory(sizeof *page);
    page->lib = p->pool->lib;
    page->limit = limit;
    return page;
}

/* The result is kept: the bytes of entries are in it. */
static void take_page(void *ctx, struct pg_answer *a)
{
    struct pg_page *page = ctx;

    if (!pg_shape(a, page->q.brief ? "iittibb" : PG_ENTRY_SHAPE))
        return;
    if (a->n > page->limit) {
        a->wrong = true;
        return;
    }
    if (page->tid && page->tid != page->t->tid) /* the cached number was wrong */
        return;
    if (page->r)
        page->lib->PQclear(page->r);
    page->r = a->r;
    page->n = a->n;
    a->r = NULL; /* the page owns it now */
}

static void ask_page(struct pg_store *p, const struct store_query *q, struct pg_page *page,
                     bool guess)
{
    struct pg_params params = { 0 };

    page->t = p->in ? pg_thread_of(p, q->thread) : NULL;
    page->tid = page->t ? pg_tid_of(p, page->t, guess) : 0;
    if (page->tid)
        pg_add_int(&params, page->tid);
    else
        pg_add_text(&params, q->thread);
    pg_add_int(&params, q->from);
    pg_add_int(&params, q->to);
    pg_add_int(&params, page->limit);
    if (q->lane.s)
        pg_add_text(&params, q->lane);
    pg_ask(p, (page->tid ? PG_SCAN_AT_FIRST : PG_SCAN_FIRST) + (enum pg_statement)scan_kind(q),
           &params, take_page, page);
}

/* ---- pages that were wanted ------------------------------------------------------ */

void pg_ask_page(struct pg_store *p, const struct store_query *q, size_t slot)
{
    struct pg_page *page = new_page(p, PAGE_FIRST);

    page_free(p->pages[slot]);
    p->pages[slot] = page;
    page->q = *q;
    page->q.thread = sv_dup(q->thread, &page->a);
    page->q.lane = q->lane.s ? sv_dup(q->lane, &page->a) : (struct sv){ 0 };
    ask_page(p, &page->q, page, true);
}

/* Does this wanted page belong to the scan, and is it still valid? The scan begins where the page
 * begins, or later with an entry that is on the page. */
static bool is_of(const struct pg_page *page, const struct store_query *q)
{
    return page && page->r && sv_eq(page->q.thread, q->thread) && sv_eq(page->q.lane, q->lane) &&
           page->q.mark == q->mark && page->q.backwards == q->backwards &&
           page->q.brief == q->brief && page->q.from <= q->from && page->q.to >= q->to;
}

static struct pg_page *take_wanted(struct pg_store *p, const struct postgres_scan *scan)
{
    for (size_t i = 0; i < PG_SCANS_WANTED; i++)
        if (is_of(p->pages[i], &scan->q) && !scan->t->changed) {
            struct pg_page *page = p->pages[i];
            p->pages[i] = NULL;
            return page;
        }
    return NULL;
}

/* ---- scanning -------------------------------------------------------------------- */

static void copy_text(char *room, struct sv *text)
{
    if (!text->s)
        return;
    memcpy(room, text->s, text->n);
    text->s = room;
}

enum status pg_scan(struct store *s, const struct store_query *query, struct store_scan **out,
                    struct err *e)
{
    struct postgres_scan *scan;

    if (query->lane.n > NAME_MAX_BYTES)
        return err_set(e, ST_LIMIT_EXCEEDED, "the name of a lane has at most %d bytes",
                       NAME_MAX_BYTES);
    if (!(scan = calloc(1, sizeof *scan)))
        failure_memory(sizeof *scan);
    scan->base.store = s;
    scan->q = *query;
    scan->q.from = query->from < 0 ? 0 : query->from;
    copy_text(scan->lane, &scan->q.lane);
    copy_text(scan->thread, &scan->q.thread);
    scan->limit = query->from == query->to ? 1 : PAGE_FIRST;
    scan->done = query->from > query->to || query->to < 0;
    *out = (struct store_scan *)scan;
    return ST_OK;
}

static void build_page(struct pg_store *p, void *ctx)
{
    struct pg_page *page = ctx;

    pg_ask_known(p, p->in ? pg_thread_of(p, page->q.thread) : NULL, PG_ABOUT_ENTRIES);
    ask_page(p, &page->q, page, false);
}

static enum status fetch(struct pg_store *p, struct postgres_scan *scan, struct err *e)
{
    struct pg_page *page = new_page(p, scan->limit);

    page->q = scan->q;
    if (pg_run(p, pg_flush_for(scan->t, PG_ABOUT_ENTRIES), build_page, page, e)) {
        page_free(page);
        return err_code(e);
    }
    scan->page = page;
    return ST_OK;
}

/* Read the next page. After a page that was not full there is none. */
static enum status turn(struct pg_store *p, struct postgres_scan *scan, struct err *e)
{
    bool full = !scan->page || scan->page->n == scan->page->limit || scan->at < scan->page->n;

    page_free(scan->page);
    scan->page = NULL;
    scan->at = 0;
    scan->bytes = 0;
    if (!full || scan->q.from > scan->q.to) {
        scan->done = true;
        return ST_OK;
    }
    scan->t = p->in ? pg_thread_of(p, scan->q.thread) : NULL;
    if (scan->t)
        scan->page = take_wanted(p, scan);
    return scan->page ? ST_OK : fetch(p, scan, e);
}

/* How many rows the next page has, after a page whose rows had `bytes` bytes. */
static int next_limit(const struct postgres_scan *scan, size_t bytes)
{
    int64_t mean = (int64_t)(bytes / (size_t)(scan->at ? scan->at : 1)) + 1;
    int64_t want = PAGE_BYTES / mean, most = (int64_t)scan->limit * 4;

    want = want < most ? want : most;
    return (int)(want < 1 ? 1 : want > PAGE_MOST ? PAGE_MOST : want);
}

static enum status lost(struct pg_store *p, int64_t seq, const char *what, struct err *e)
{
    err_set(e, ST_CORRUPT, "%s: entry %lld has lost its %s", p->shown, (long long)seq, what);
    return err_hint(e, "`heddle log export` saves what is readable");
}

static enum status read_brief(struct pg_store *p, struct pg_answer *a, int row, struct entry *out,
                              struct err *e)
{
    *out = (struct entry){ .seq = pg_int(a, row, 0),
                           .at = pg_int(a, row, 1),
                           .refs = pg_sv(a, row, 2),
                           .payload = pg_sv(a, row, 3) };
    if (!out->refs.s)
        out->refs = SV("{}");
    struct sv salt = pg_sv(a, row, 5);
    out->salted = salt.n == ENTRY_SALT_SIZE;
    out->erased = !out->salted && pg_sv(a, row, 6).n == HASH_SIZE;
    if (out->salted)
        memcpy(out->salt, salt.s, ENTRY_SALT_SIZE);
    if (out->erased)
        out->content = pg_hash(a, row, 6);
    return out->payload.s ? ST_OK : lost(p, out->seq, "payload", e);
}

enum status pg_read_entry(struct pg_store *p, struct pg_answer *a, int row, struct entry *out,
                          struct err *e)
{
    if (read_brief(p, a, row, out, e))
        return err_code(e);
    int64_t mark = pg_int(a, row, 7);
    if (mark < MARK_NONE || mark > MARK_ANCHOR)
        return lost(p, out->seq, "mark", e);
    out->mark = (enum entry_mark)mark;
    out->kind = pg_sv(a, row, 8);
    out->lane = pg_sv(a, row, 9);
    out->actor = pg_sv(a, row, 10);
    out->id = pg_sv(a, row, 11);
    out->op_id = pg_sv(a, row, 12);
    if (pg_sv(a, row, 13).n != HASH_SIZE)
        return lost(p, out->seq, "chain value", e);
    out->chain = pg_hash(a, row, 13);
    return ST_OK;
}

/* Rows that were not asked for: a page that was wanted may begin earlier or end later. */
static bool is_outside(const struct postgres_scan *scan, int64_t seq)
{
    return seq < scan->q.from || seq > scan->q.to;
}

/* Step behind the row that was just read. */
static void step(struct pg_store *p, struct postgres_scan *scan, struct pg_answer *a,
                 const struct entry *n)
{
    if (scan->q.backwards)
        scan->q.to = n->seq - 1;
    else
        scan->q.from = n->seq + 1;
    p->before.thread = NULL;
    if (!scan->q.brief && scan->t && pg_sv(a, scan->at, 14).n == HASH_SIZE) {
        p->before.thread = scan->t;
        p->before.seq = n->seq - 1;
        p->before.chain = pg_hash(a, scan->at, 14);
    }
    scan->at++;
}

/* The next entry, if it is cached; *out is a copy, because the cache may change before the caller
 * is done with the entry. */
static bool take_known(struct pg_store *p, struct postgres_scan *scan, struct entry *out)
{
    struct pg_thread   *t = p->in ? pg_thread_of(p, scan->q.thread) : NULL;
    const struct entry *n;

    if (!t)
        return false;
    t->scanned = true;
    if (scan->page || !pg_tail_next(t, &scan->q, &n))
        return false;
    scan->done = !n;
    if (!n)
        return true;
    arena_free(&scan->a);
    *out = entry_dup(n, &scan->a);
    p->before.thread = n->seq > t->tail.from ? t : NULL;
    if (p->before.thread) {
        p->before.seq = n->seq - 1;
        p->before.chain = n[-1].chain;
    }
    return true;
}

enum status pg_next(struct store_scan *base, struct entry *out, bool *more, struct err *e)
{
    struct postgres_scan *scan = (struct postgres_scan *)base;
    struct pg_store      *p = pg_of(base->store);

    *more = false;
    if (!scan->done && take_known(p, scan, out)) {
        *more = !scan->done;
        return ST_OK;
    }
    while (!scan->done) {
        struct pg_page  *page = scan->page;
        struct pg_answer a = { .lib = p->pool->lib };
        if (page) {
            a.r = page->r;
            a.n = page->n;
        }
        /* A payload that did not fit the page is the first one of the next page. */
        bool omitted = scan->at < a.n && pg_int(&a, scan->at, 4) == 1;
        if (scan->at >= a.n || omitted) {
            if (turn(p, scan, e))
                return err_code(e);
            continue;
        }
        if (is_outside(scan, pg_int(&a, scan->at, 0))) {
            scan->at++;
            continue;
        }
        enum status s = (scan->q.brief ? read_brief : pg_read_entry)(p, &a, scan->at, out, e);
        scan->bytes += out->payload.n + out->refs.n + 100;
        step(p, scan, &a, out);
        if (scan->at == a.n)
            scan->limit = next_limit(scan, scan->bytes);
        *more = true;
        base->lost += s != ST_OK;
        return s;
    }
    return ST_OK;
}

void pg_scan_close(struct store_scan *base)
{
    struct postgres_scan *scan = (struct postgres_scan *)base;

    page_free(scan->page);
    arena_free(&scan->a);
    free(scan);
}
