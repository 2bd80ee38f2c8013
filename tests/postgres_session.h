/* Every kind of call on a log on PostgreSQL, for a server that may answer with anything. What comes
 * back is looked at, so that memory that is not ours would be noticed, and not judged. */
#ifndef HEDDLE_POSTGRES_SESSION_H
#define HEDDLE_POSTGRES_SESSION_H

#include "store/store.h"
#include "thread/lane.h"
#include "thread/log.h"

enum { SESSIONS = 6 };

/* libpq loses a result when a server describes the rows of one statement twice. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char                                        *__lsan_default_suppressions(void)
{
    return "leak:PQmakeEmptyPGresult";
}

/* Whatever a sanitizer prints fails a test; that it suppressed something is not a finding. */
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char                                        *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

static volatile unsigned session_seen; /* so that reading is not left out */

static inline void session_look(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        session_seen += (unsigned char)v.s[i];
}

static inline void session_scan(struct store *s, const struct store_query *q)
{
    struct store_scan *scan = NULL;
    struct entry       n;
    struct arena       a = { 0 };
    struct err         e;
    bool               more = true;

    if (store_scan(s, q, &scan, &e))
        return;
    for (int i = 0; i < 1000 && more; i++) {
        enum entry_proof proof;
        if (store_next(scan, &n, &more, &e) || !more)
            break;
        session_look(n.payload);
        session_look(n.kind);
        session_look(n.op_id);
        if (!q->brief && store_prove(scan, &n, 1, &a, &proof, &e) == ST_OK)
            session_seen += (unsigned)proof;
    }
    arena_free(&a);
    store_scan_close(scan);
}

static inline void session_append(struct store *s, size_t count, bool op)
{
    static const struct view *const views[] = { &thread_view, NULL };
    struct log                      l = log_of(s, views);
    struct entry                    n[300];
    struct store_head               h;
    struct err                      e;

    for (size_t i = 0; i < count && i < 300; i++)
        n[i] = (struct entry){ .kind = SV("ai_message"),
                               .lane = SV("default"),
                               .payload = SV("{\"content\":\"hello\",\"role\":\"user\"}") };
    if (op)
        n[0].op_id = SV("op-1");
    if (log_begin(&l, SV("alpha"), STORE_WRITE, &e) ||
        log_append(&l, SV("alpha"), LOG_ANY_REV, n, count, &h, &e) || log_commit(&l, &e))
        log_abort(&l);
}

static inline void session_read(struct store *s)
{
    struct store_query q = { .thread = SV("alpha"), .to = STORE_TO_END };
    struct err         e;

    if (store_begin_on(s, STORE_READ, SV("alpha"), &e) == ST_OK)
        session_scan(s, &q);
    q.lane = SV("default");
    q.mark = MARK_MESSAGE;
    q.backwards = q.brief = true;
    store_want_scan(s, &q);
    session_scan(s, &q);
    store_abort(s);
    session_scan(s, &q); /* outside of a transaction */
}

static inline void session_rows(struct store *s, struct arena *a)
{
    struct store_key       k = { SV("alpha"), SV("session"), SV("k") };
    struct store_row_query q = { .thread = SV("alpha"), .view = SV("session") };
    struct store_rows     *rows = NULL;
    struct store_row       row;
    struct sv              value, *views;
    struct err             e;
    size_t                 n;
    bool                   found = false, more = true;

    store_want(s, &k, 1);
    if (store_begin_on(s, STORE_WRITE, SV("alpha"), &e))
        return;
    if (store_row_get(s, &k, a, &value, &found, &e) == ST_OK && found)
        session_look(value);
    if (store_rows(s, &q, &rows, &e) == ST_OK)
        for (int i = 0; i < 1000 && more && !store_rows_next(rows, &row, &more, &e) && more; i++)
            session_look(row.value);
    store_rows_close(rows);
    if (store_views(s, SV("alpha"), a, &views, &n, &e) == ST_OK)
        for (size_t i = 0; i < n; i++)
            session_look(views[i]);
    if (store_row_put(s, &k, SV("value"), &e) || store_commit(s, &e))
        store_abort(s);
}

static inline void session_find(struct store *s, struct arena *a)
{
    struct entry      n;
    struct store_hit *hits;
    struct err        e;
    struct sv         word = SV("hello");
    size_t            count;
    int64_t           last;
    bool              found = false;

    if (store_find_op(s, SV("alpha"), SV("op-1"), a, &n, &found, &e) == ST_OK && found)
        session_look(n.payload);
    if (store_begin_on(s, STORE_WRITE, SV("alpha"), &e))
        return;
    if (store_text_last(s, SV("alpha"), &last, &e) ||
        store_text_put(s, SV("alpha"), 0, SV("hello world"), &e))
        session_seen++;
    if (store_text_find(s, SV("alpha"), &word, 1, 10, a, &hits, &count, &e) == ST_OK)
        for (size_t i = 0; i < count; i++)
            session_look(hits[i].thread);
    if (store_commit(s, &e))
        store_abort(s);
}

static inline void session_say(void *ctx, struct sv text)
{
    (void)ctx;
    session_look(text);
}

static inline void session_care(struct store *s, struct arena *a)
{
    struct store_thread *threads;
    struct store_fact   *facts;
    struct store_stats   stats;
    struct store_size   *sizes;
    struct err           e;
    size_t               n;
    int64_t              version = 0;
    enum store_woken     why;

    if (store_threads(s, a, &threads, &n, &e) == ST_OK)
        for (size_t i = 0; i < n; i++)
            session_look(threads[i].id);
    if (store_facts(s, a, &facts, &n, &e) == ST_OK)
        for (size_t i = 0; i < n; i++)
            session_look(facts[i].value);
    if (store_sizes(s, a, &sizes, &n, &e) == ST_OK)
        for (size_t i = 0; i < n; i++)
            session_look(sizes[i].view);
    session_seen += store_stats(s, &stats, &e) == ST_OK;
    session_seen += store_check(s, session_say, NULL, &e) == ST_OK;
    session_seen += store_advise(s, session_say, NULL, &e) == ST_OK;
    session_seen += store_wait(s, &version, 1, -1, &why, &e) == ST_OK;
}

/* One of SESSIONS, on a store of its own. */
static inline void session_run(const char *url, int which)
{
    struct arena  a = { 0 };
    struct store *s = NULL;
    struct err    e;

    if (store_open(sv_of(url), &(struct store_options){ .create = true, .busy_ms = 30 }, &s, &e))
        return;
    switch (which) {
    case 0: session_append(s, 1, false); break;
    case 1: session_read(s); break;
    case 2: session_rows(s, &a); break;
    case 3: session_find(s, &a); break;
    case 4: session_care(s, &a); break;
    default: session_append(s, 300, true); break; /* goes by COPY */
    }
    store_close(s);
    arena_free(&a);
}

#endif
