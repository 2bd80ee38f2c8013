/* workspace.attention: what waits for a person, in all threads. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/map.h"
#include "base/utf8.h"
#include "share/asset.h"
#include "share/share_internal.h"
#include "thread/run_state.h"
#include "thread/scan.h"

enum { REASON_MAX = 200 }; /* bytes of what a failed run said: the log has all of it */

struct attention_params {
    int64_t limit;
};

/* clang-format off */
static const char *const kinds[] = { "waiting", "input", "failed", "stale", "running", NULL };
static const char *const ref_states[] = { "stale", "edited", "deleted", "missing", NULL };

static const struct param params[] = {
    { "limit", PARAM_NUMBER, offsetof(struct attention_params, limit), .value = "N", .min = 1, .max = 1000, .fallback = "100", .help = "of each kind at most N" },
    { 0 },
};
static const struct field item_fields[] = {
    { "kind",    FIELD_ENUM,   .values = kinds, .help = "waiting: the thread was handed to a person; input: something was said to a run that has not taken it; failed: a run; stale: a frozen reference; running: a run goes on" },
    { "thread",  FIELD_TEXT,   .help = "which thread" },
    { "title",   FIELD_TEXT,   .nullable = true, .help = "what it is for" },
    { "since",   FIELD_TIME,   .help = "since when, as far as is known" },
    { "agent",   FIELD_TEXT,   .optional = true, .help = "whose run" },
    { "reason",  FIELD_TEXT,   .optional = true, .nullable = true, .help = "why it failed" },
    { "inputs",  FIELD_NUMBER, .optional = true, .help = "how many wait" },
    { "ref_id",  FIELD_TEXT,   .optional = true, .help = "the reference" },
    { "target",  FIELD_TEXT,   .optional = true, .help = "the thread that it reads" },
    { "state",   FIELD_ENUM,   .values = ref_states, .optional = true, .help = "what is not fresh about it" },
    { "files",   FIELD_LIST,   .optional = true, .help = "which files of it, at most 20" },
    { 0 },
};
static const struct field answer[] = {
    { "items",   FIELD_LIST,   .of = item_fields, .help = "what waits, most urgent kind first" },
    { "threads", FIELD_NUMBER, .help = "how many threads there are" },
    { "more",    FIELD_FLAG,   .help = "whether there is more of a kind than the limit" },
    { 0 },
};
/* clang-format on */

enum attention_kind { WAITING, INPUT, FAILED, STALE, RUNNING, KINDS };
enum { FILES_TOLD = 20 };

struct attention_thread {
    struct sv title;
    bool      ended;
};

struct attention {
    struct request *r;
    struct share    s;
    int64_t         limit, n[KINDS];
    bool            more;
    struct map      threads; /* id → struct attention_thread */
    struct sb       text[KINDS];
    struct jw       w[KINDS];
};

/* ---- one item ----------------------------------------------------------------------------------
 */

static bool is_full(struct attention *x, enum attention_kind k)
{
    bool full = x->n[k] >= x->limit;

    x->more = x->more || full;
    return full;
}

static struct jw *begin_item(struct attention *x, enum attention_kind k, struct sv thread,
                             int64_t since)
{
    const struct attention_thread *t = map_find(&x->threads, thread);
    struct jw                     *w = &x->w[k];

    x->n[k]++;
    jw_open(w, '{');
    jw_kstr(w, "kind", sv_of(kinds[k]));
    jw_kstr(w, "thread", thread);
    jw_kstr(w, "title", t ? t->title : (struct sv){ 0 });
    jw_ktime(w, "since", since);
    return w;
}

/* ---- threads -----------------------------------------------------------------------------------
 */

static void know(struct attention *x, const struct share_thread *t)
{
    struct attention_thread *known = ARENA_NEW(x->r->a, struct attention_thread, 1);

    known->title = sv_dup(sv_cut(t->title, '\n').head, x->r->a);
    known->ended = share_thread_has_ended(t->status);
    map_put(&x->threads, sv_dup(t->id, x->r->a), known);
}

static enum status each_thread(void *ctx, const struct share_thread *t, struct err *e)
{
    struct attention *x = ctx;

    (void)e;
    know(x, t);
    if (t->status == THREAD_WAITING_HUMAN && !is_full(x, WAITING))
        jw_close(begin_item(x, WAITING, t->id, t->updated), '}');
    return ST_OK;
}

/* Threads that only have a log and of which something was said. */
static enum status know_logs(struct attention *x, struct err *e)
{
    struct share_thread *list;
    size_t               n;

    if (share_log_threads(&x->s, x->r->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        know(x, &list[i]);
    return ST_OK;
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static enum attention_kind run_kind(const struct run_state *s)
{
    return s->n_queue && !s->active ? INPUT : s->active ? RUNNING : FAILED;
}

/* Does the run wait for a person? */
static bool is_told(struct attention *x, const struct run_state *s)
{
    enum attention_kind k = run_kind(s);

    if (k == FAILED && (s->status != RUN_ERROR || sv_is(s->termination_reason, "cancelled")))
        return false;
    return !is_full(x, k);
}

/* Why a run failed: what the error said, its first line; where it said nothing, the kind of its
 * end. */
static struct sv failure_words(const struct run_state *s, struct arena *a)
{
    struct json doc;
    struct err  e;

    if (!s->result.n || json_parse(s->result, 0, a, &doc, &e) || !json_sv(&doc).n)
        return s->termination_reason;
    return utf8_first(sv_cut(json_sv(&doc), '\n').head, REASON_MAX);
}

static void tell_run(struct attention *x, struct sv thread, const struct store_head *head,
                     const struct run_named *run)
{
    const struct run_state *s = &run->state;
    enum attention_kind     k = run_kind(s);
    struct jw              *w = begin_item(x, k, thread, head->updated);

    jw_kstr(w, "agent", run->agent);
    if (k == FAILED)
        jw_kstr(w, "reason", failure_words(s, x->r->a));
    jw_kint(w, "inputs", (int64_t)s->n_queue);
    jw_close(w, '}');
}

/* The end of a log is looked at only where there is something to tell: most threads have no run. */
static enum status find_runs_of(struct attention *x, struct sv thread, struct err *e)
{
    struct run_named *runs;
    struct store_head head;
    size_t            n;

    if (run_states(x->s.log, thread, x->r->a, &runs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (!is_told(x, &runs[i].state))
            continue;
        if (log_head(x->s.log, thread, &head, e))
            return err_code(e);
        tell_run(x, thread, &head, &runs[i]);
    }
    return ST_OK;
}

static enum status find_runs(struct attention *x, size_t *threads, struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (log_thread_ids(x->s.log, x->r->a, &ids, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        const struct attention_thread *known = map_find(&x->threads, ids[i]);
        if (sv_starts(ids[i], SV(".")))
            continue;
        *threads += !known;
        enum status s = known && known->ended ? ST_OK : find_runs_of(x, ids[i], e);
        if (s && s != ST_CORRUPT) /* `heddle doctor` reports a damaged one */
            return s;
    }
    return ST_OK;
}

/* ---- references --------------------------------------------------------------------------------
 */

static void tell_ref(struct attention *x, const struct share_ref *r,
                     const struct share_ref_standing *st, const enum freshness *each)
{
    struct jw *w = begin_item(x, STALE, r->from, st->stale_since ? st->stale_since : r->at);
    size_t     told = 0;

    jw_kstr(w, "ref_id", r->id);
    jw_kstr(w, "target", r->target);
    jw_kstr(w, "state", sv_of(freshness_name(st->state)));
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t i = 0; i < r->n_files && told < FILES_TOLD; i++) {
        if (each[i] == REF_FRESH)
            continue;
        jw_str(w, r->files[i].name);
        told++;
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status look_at_ref(struct attention *x, const struct share_ref *r, struct err *e)
{
    const struct attention_thread *from = map_find(&x->threads, r->from);
    struct share_ref_standing      st;
    bool                           suspect;

    if (!r->frozen || !from || from->ended || is_full(x, STALE))
        return ST_OK;
    if (share_ref_is_suspect(&x->s, r, &suspect, e))
        return err_code(e);
    if (!suspect)
        return ST_OK;
    enum freshness *each = ARENA_NEW(x->r->a, enum freshness, r->n_files + 1);
    if (share_ref_standing(&x->s, r, &st, each, e))
        return err_code(e);
    if (st.state != REF_FRESH)
        tell_ref(x, r, &st, each);
    return ST_OK;
}

static enum status find_stale(struct attention *x, struct err *e)
{
    struct sv       *rows;
    struct share_ref ref;
    size_t           n;

    if (share_rows_below(&x->s, SV("ref/"), false, x->r->a, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (share_ref_read(rows[i], x->r->a, &ref, e) || look_at_ref(x, &ref, e))
            return err_code(e);
    return ST_OK;
}

/* ---- the document ------------------------------------------------------------------------------
 */

static void write_answer(struct attention *x, size_t threads)
{
    struct jw *w = x->r->doc;
    bool       any = false;

    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t k = 0; k < KINDS; k++) {
        if (!x->text[k].n)
            continue;
        if (any)
            sb_addc(w->b, ',');
        sb_add(w->b, sb_sv(&x->text[k]));
        any = true;
    }
    w->comma = any;
    jw_close(w, ']');
    jw_kint(w, "threads", (int64_t)threads);
    jw_kbool(w, "more", x->more);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct attention_params *p = given;
    struct attention               x = { .r = r, .limit = p->limit };

    x.threads = map_in(r->a);
    for (size_t k = 0; k < KINDS; k++) {
        x.text[k] = sb_in(r->a, 0);
        x.w[k] = jw_in(&x.text[k], 0);
    }
    if (share_call_begin(r, &x.s, STORE_READ, e) || share_threads(&x.s, each_thread, &x, e) ||
        know_logs(&x, e))
        return share_call_fail(r, &x.s, e);
    size_t threads = x.threads.n;
    if (find_runs(&x, &threads, e) || find_stale(&x, e))
        return share_call_fail(r, &x.s, e);
    write_answer(&x, threads);
    return share_call_end(r, &x.s);
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "WHAT", "THREAD", "WHY", "TITLE", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        struct sv          target = json_text(x, "target"), why = json_text(x, "reason");
        term_row(&table, t->a,
                 (struct sv[]){ json_text(x, "kind"), json_text(x, "thread"),
                                target.s ? target
                                : why.s  ? why
                                         : json_text(x, "agent"),
                                json_text(x, "title") });
    }
    term_table(&table, t);
    if (json_is(json_find(doc, "more"), JSON_TRUE))
        term_f(t, "there is more: --limit N shows up to N of each kind\n");
    if (!items->n)
        term_f(t, "nothing waits\n");
}

const struct operation op_workspace_attention = {
    .name = "workspace.attention",
    .summary = "List what waits for a person in all threads",
    .details =
        "Threads that were handed to a person, input that a run did not take, runs that failed,\n"
        "frozen references whose source has changed, and runs that go on. A reference is looked "
        "at\n"
        "when sizes or times of its source say that it may have changed.\n"
        "\n"
        "  heddle attention",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct attention_params),
    .answer = answer,
    .run = run,
    .print = print,
};
