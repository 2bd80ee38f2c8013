/* loom.search: nodes of every thread by their words. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "loom/agent.h"
#include "loom/search.h"
#include "thread/scan.h"

struct search_params {
    struct sv query, thread;
    int64_t   max, skip;
};

/* clang-format off */
static const struct param params[] = {
    { "query",  PARAM_TEXT,   offsetof(struct search_params, query),  .value = "QUERY", .required = true, .blank = true, .help = "words, each of which must occur; words in 'single quotes' are a phrase" },
    { "thread", PARAM_TEXT,   offsetof(struct search_params, thread), .value = "T", .help = "only in this thread" },
    { "max",    PARAM_NUMBER, offsetof(struct search_params, max),    .value = "N", .min = 1, .max = 1000, .fallback = "20", .help = "at most this many (default 20)" },
    { "skip",   PARAM_NUMBER, offsetof(struct search_params, skip),   .value = "N", .min = 0, .max = FIND_LOOKED_AT, .fallback = "0", .help = "leave out the newest N, which earlier answers had" },
    { 0 },
};
static const struct field found_fields[] = {
    { "thread",   FIELD_TEXT,   .help = "the thread it is in" },
    { "local_id", FIELD_TEXT,   .help = "the node, in its tree" },
    { "seq",      FIELD_NUMBER, .help = "its entry in the log" },
    { "lane",     FIELD_TEXT,   .help = "the lane it was written on" },
    { "author",   FIELD_TEXT,   .help = "who wrote it" },
    { "kind",     FIELD_ENUM,   .values = loom_author_kinds, .help = "what the author is" },
    { "at",       FIELD_TIME,   .help = "when it was written" },
    { "excerpt",  FIELD_TEXT,   .help = "a stretch of its text around the first word" },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = found_fields, .help = "the nodes, newest first" },
    { "next",  FIELD_NUMBER, .optional = true, .help = "ask again with this as skip; absent: there is no more" },
    { 0 },
};
/* clang-format on */

/* ---- bringing the index up to date ---------------------------------------------------- */

/* A thread that was only ever a log has no nodes to be found yet: they are folded now. */
static enum status fold_threads(struct request *r, const struct store_thread *list, size_t n,
                                struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        enum status s = log_begin(&r->log, list[i].id, STORE_READ, e);
        log_abort(&r->log);
        if (s || request_check(r, e))
            return err_code(e);
        request_progress(r, "folding threads", (int64_t)i + 1, (int64_t)n);
    }
    return ST_OK;
}

/* Entries written since the last search are indexed first. In a workspace that cannot be written
 * only the existing index is searched, with a warning. */
static enum status bring_up_to_date(struct request *r, struct sv thread, struct err *e)
{
    struct loom_indexed done = { .more = true };
    bool                due;

    if (loom_index_is_due(&r->log, thread, &due, e))
        return err_code(e);
    while (due && done.more) {
        if (request_check(r, e))
            return err_code(e);
        if (done.at)
            log_let_others(&r->log);
        if (log_begin(&r->log, thread, STORE_WRITE, e) || loom_index(&r->log, thread, &done, e) ||
            log_commit(&r->log, e)) {
            log_abort(&r->log);
            request_warn(r, (struct sv){ 0 }, thread,
                         "the newest messages of " SV_FMT " are not searched: %s", SV_ARG(thread),
                         e->text);
            break;
        }
        request_progress(r, "indexing words of a thread", done.at, done.of);
    }
    return ST_OK;
}

static enum status prepare(struct request *r, struct sv only, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (only.s)
        return bring_up_to_date(r, only, e);
    if (log_begin(&r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(&r->log, r->a, &list, &n, e);
    log_abort(&r->log);
    if (s || fold_threads(r, list, n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!sv_eq(list[i].id, GLOBAL_THREAD) && bring_up_to_date(r, list[i].id, e))
            return err_code(e);
    return ST_OK;
}

/* ---- the answer ------------------------------------------------------------------------ */

static void write_found(struct jw *w, const struct found *x, struct sv query, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    found_excerpt(&b, x->text, query);
    struct sv quoted = sb_sv(&b);
    jw_open(w, '{');
    jw_kstr(w, "thread", x->thread);
    jw_kstr(w, "local_id", x->node.local);
    jw_kint(w, "seq", x->node.seq);
    jw_kstr(w, "lane", x->node.lane);
    jw_kstr(w, "author", x->node.author);
    jw_kstr(w, "kind", sv_of(author_kind_name(x->node.kind)));
    jw_ktime(w, "at", x->node.at);
    jw_kstr(w, "excerpt", (struct sv){ quoted.s + 1, quoted.n - 2 });
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct search_params *p = params_given;
    struct loom   l = { .log = &r->log, .thread = p->thread, .a = r->a, .now = clock_now_ms() };
    struct found *list;
    size_t        n;
    bool          more;

    if (prepare(r, p->thread, e) || log_begin(&r->log, p->thread, STORE_READ, e))
        return err_code(e);
    size_t all = (size_t)(p->skip + p->max), want = all < FIND_LOOKED_AT ? all : FIND_LOOKED_AT;
    enum status s = loom_find(&l, p->query, !p->thread.s, want, &list, &n, &more, e);
    log_abort(&r->log);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = (size_t)p->skip; i < n; i++)
        write_found(r->doc, &list[i], p->query, r->a);
    jw_close(r->doc, ']');
    if (more && n == want && want < FIND_LOOKED_AT)
        jw_kint(r->doc, "next", (int64_t)want);
    else if (more)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     n < want ? "many of the matches are hidden: the newest %d were looked at"
                              : "there are more than the newest %d, which can be listed",
                     FIND_LOOKED_AT);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        term_text(t, json_text(x, "thread"));
        term_f(t, "  [" SV_FMT "] " SV_FMT " · \"", SV_ARG(json_text(x, "local_id")),
               SV_ARG(json_text(x, "kind")));
        term_text(t, json_text(x, "excerpt"));
        term_f(t, "\"\n");
    }
    term_next(doc, "--skip", t);
}

const struct operation op_loom_search = {
    .name = "loom.search",
    .summary = "Find nodes of all threads by their words",
    .details = "Every word must occur; words in 'single quotes' are a phrase. Newest first.\n\n"
               "  heddle search \"mother childhood\"",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct search_params),
    .answer = answer,
    .run = run,
    .print = print,
};
