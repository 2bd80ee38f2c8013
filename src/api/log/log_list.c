/* log.list, log.marks: a log as rows, and where in it a reader may want to go. */
#include "api/log/entry_doc.h"
#include "loom/agent.h"
#include "thread/kind.h"
#include "thread/marks.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ---- rows -------------------------------------------------------------------------------------
 */

enum {
    LINE_CHARS = 200,
    PASSED_MAX = 50000, /* entries that a filter leaves out before an answer is given */
};

struct list_params {
    struct sv      thread, lane;
    struct sv_list kinds;
    int64_t        from, limit;
    bool           backwards;
};

/* clang-format off */
static const struct param list_params[] = {
    { "thread",    PARAM_NAME,   offsetof(struct list_params, thread),    .value = "T",   .required = true, .help = "the thread" },
    { "from",      PARAM_NUMBER, offsetof(struct list_params, from),      .value = "SEQ", .min = 0, .max = INT64_MAX, .help = "the first entry to look at (default: the first there is; backwards: the last)" },
    { "limit",     PARAM_NUMBER, offsetof(struct list_params, limit),     .value = "N",   .min = 1, .max = 1000, .fallback = "200", .help = "at most this many" },
    { "backwards", PARAM_FLAG,   offsetof(struct list_params, backwards), .help = "from there towards the first" },
    { "kinds",     PARAM_LIST,   offsetof(struct list_params, kinds),     .value = "K,...", .help = "only entries of these kinds" },
    { "lane",      PARAM_TEXT,   offsetof(struct list_params, lane),      .value = "L",   .help = "only entries in this lane" },
    { 0 },
};
static const struct field row_fields[] = {
    { "seq",   FIELD_NUMBER, .help = "its place in the thread, from 0" },
    { "at",    FIELD_TIME,   .help = "when" },
    { "kind",  FIELD_TEXT,   .help = "what it is" },
    { "role",  FIELD_TEXT,   .optional = true, .help = "of a message: who speaks" },
    { "lane",  FIELD_TEXT,   .nullable = true, .help = "the lane it is in" },
    { "actor", FIELD_TEXT,   .nullable = true, .help = "who did it" },
    { "bytes", FIELD_NUMBER, .help = "of its payload" },
    { "line",  FIELD_TEXT,   .help = "the start of what it says" },
    { 0 },
};
static const struct field list_fields[] = {
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { "rev",    FIELD_NUMBER, .help = "how many entries it has" },
    { "items",  FIELD_LIST,   .of = row_fields, .help = "the entries, in the order asked for" },
    { "next",   FIELD_NUMBER, .nullable = true, .help = "where to go on; null: there are no more" },
    { 0 },
};
/* clang-format on */

struct log_listing {
    struct request           *r;
    const struct list_params *p;
    int64_t                   given, passed;
    struct arena              scratch;
};

static bool is_wanted(const struct list_params *p, const struct entry *n)
{
    if (p->lane.n && !sv_eq(p->lane, n->lane))
        return false;
    for (size_t i = 0; i < p->kinds.n; i++)
        if (sv_eq(p->kinds.v[i], n->kind))
            return true;
    return p->kinds.n == 0;
}

static enum status put_row(struct log_listing *x, const struct entry *n, struct err *e)
{
    struct arena_mark m = arena_mark(&x->scratch);
    struct jw        *w = x->r->doc;
    struct json       payload;

    if (json_parse(skeleton_shown(n, &x->scratch), 0, &x->scratch, &payload, e))
        return err_in(e, "entry %lld", (long long)n->seq);
    jw_open(w, '{');
    jw_kint(w, "seq", n->seq);
    jw_ktime(w, "at", n->at);
    jw_kstr(w, "kind", n->kind);
    if (kind_of(n->kind) == KIND_AI_MESSAGE && json_text(&payload, "role").s)
        jw_kstr(w, "role", json_text(&payload, "role"));
    jw_kstr(w, "lane", n->lane);
    jw_kstr(w, "actor", n->actor);
    jw_kint(w, "bytes", (int64_t)n->payload.n);
    jw_klossy(w, "line", entry_line(n, &payload, LINE_CHARS, &x->scratch));
    jw_close(w, '}');
    arena_reset(&x->scratch, m);
    return ST_OK;
}

/* *next is where to continue when enough entries were returned or skipped. */
static enum status put_rows(struct log_listing *x, int64_t from, int64_t *next, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = {
                            .thread = x->p->thread, .from = from, .to = STORE_TO_END, .backwards = x->p->backwards
    };
    struct entry n;
    bool         more = false;
    enum status  s;

    if (x->p->backwards)
        q.from = 0, q.to = from;
    if (log_scan(&x->r->log, &q, &scan, e))
        return err_code(e);
    while (!(s = log_scan_next(scan, &n, &more, e)) && more) {
        if (x->given == x->p->limit || x->passed == PASSED_MAX) {
            *next = n.seq;
            break;
        }
        bool wanted = is_wanted(x->p, &n);
        x->given += wanted;
        x->passed += !wanted;
        if (wanted && put_row(x, &n, e))
            return err_code(e);
    }
    return s;
}

static enum status put_list(struct log_listing *x, struct err *e)
{
    struct jw        *w = x->r->doc;
    struct store_head h;
    int64_t           next = -1, from = x->p->from;

    if (log_head(&x->r->log, x->p->thread, &h, e))
        return err_code(e);
    if (from == PARAM_UNSET)
        from = x->p->backwards ? h.rev - 1 : 0;
    jw_open(w, '{');
    jw_kstr(w, "thread", x->p->thread);
    jw_kint(w, "rev", h.rev);
    jw_key(w, "items");
    jw_open(w, '[');
    if (from >= 0 && put_rows(x, from, &next, e))
        return err_code(e);
    jw_close(w, ']');
    jw_kint_if(w, "next", next >= 0, next);
    jw_close(w, '}');
    return ST_OK;
}

static enum status list(struct request *r, const void *given, struct err *e)
{
    struct log_listing x = { .r = r, .p = given };

    if (log_begin(&r->log, x.p->thread, STORE_READ, e))
        return err_code(e);
    enum status s = put_list(&x, e);
    arena_free(&x.scratch);
    log_abort(&r->log);
    return s;
}

static void print_list(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "SEQ", "KIND", "LANE", "WHO", "WHAT", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        const struct json *seq = json_find(x, "seq");
        struct sv          role = json_text(x, "role");
        term_row(&table, t->a,
                 (struct sv[]){ { seq->s, seq->n },
                                role.s ? role : json_text(x, "kind"),
                                json_text(x, "lane"),
                                json_text(x, "actor"),
                                json_text(x, "line") });
    }
    term_table(&table, t);
    term_next(doc, "--from", t);
}

const struct operation op_log_list = {
    .name = "log.list",
    .summary = "List entries of a thread, one row each",
    .details =
        "Number, kind, lane, who did it and the start of what it says, from any entry on and\n"
        "in either direction. With --json the answer says where to go on. `heddle log show`\n"
        "shows all that is stored.\n"
        "\n"
        "  heddle log list design --backwards --limit 20\n"
        "  heddle log list design --kinds run_started,run_finished",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .params = list_params,
    .params_size = sizeof(struct list_params),
    .answer = list_fields,
    .run = list,
    .print = print_list,
};

/* ---- marks --------------------------------------------------------------------------------------
 */

struct marks_params {
    struct sv      thread;
    struct sv_list marks;
    int64_t        from, to, parts;
    bool           last;
};

/* clang-format off */
#define X(id, name) name,
static const char *const mark_names[] = { LOG_MARK_TABLE(X) NULL };
#undef X

static const struct param marks_params[] = {
    { "thread", PARAM_NAME,   offsetof(struct marks_params, thread), .value = "T",   .required = true, .help = "the thread" },
    { "marks",  PARAM_LIST,   offsetof(struct marks_params, marks),  .value = "M,...", .values = mark_names, .help = "only these" },
    { "from",   PARAM_NUMBER, offsetof(struct marks_params, from),   .value = "SEQ", .min = 0, .max = INT64_MAX, .fallback = "0", .help = "the first entry" },
    { "to",     PARAM_NUMBER, offsetof(struct marks_params, to),     .value = "SEQ", .min = 0, .max = INT64_MAX, .help = "the last entry (default: the last there is)" },
    { "parts",  PARAM_NUMBER, offsetof(struct marks_params, parts),  .value = "N",   .min = 1, .max = 1000, .fallback = "1000", .help = "how many equal parts the entries are divided into; at most one entry of each mark is listed per part" },
    { "last",   PARAM_FLAG,   offsetof(struct marks_params, last),   .help = "the last one of each part, not the first" },
    { 0 },
};
static const struct field mark_fields[] = {
    { "mark", FIELD_ENUM, .values = mark_names, .help = "what happened" },
    { "seqs", FIELD_LIST, .item = FIELD_NUMBER, .help = "the entries, rising" },
    { 0 },
};
static const struct field marks_fields[] = {
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { "rev",    FIELD_NUMBER, .help = "how many entries it has" },
    { "items",  FIELD_LIST,   .of = mark_fields, .help = "the marks that there are" },
    { 0 },
};
/* clang-format on */

static bool asks_for(const struct marks_params *p, enum log_mark m)
{
    for (size_t i = 0; i < p->marks.n; i++)
        if (sv_is(p->marks.v[i], log_mark_name(m)))
            return true;
    return p->marks.n == 0;
}

static enum status check_marks(const struct marks_params *p, struct err *e)
{
    for (size_t i = 0; i < p->marks.n; i++) {
        bool known = false;
        for (enum log_mark m = 0; m < LOG_MARK_COUNT; m++)
            known = known || sv_is(p->marks.v[i], log_mark_name(m));
        if (!known) {
            err_set(e, ST_USAGE, "no mark is called '" SV_FMT "'", SV_ARG(p->marks.v[i]));
            return err_hint(e, "`heddle help log marks` names them");
        }
    }
    return ST_OK;
}

static enum status put_mark(struct request *r, const struct log_mark_query *q, enum log_mark m,
                            struct err *e)
{
    int64_t *seqs;
    size_t   n;

    if (log_marks(&r->log, q, m, r->a, &seqs, &n, e))
        return err_code(e);
    if (!n)
        return ST_OK;
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "mark", sv_of(log_mark_name(m)));
    jw_key(r->doc, "seqs");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        jw_int(r->doc, seqs[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status put_marks(struct request *r, const struct marks_params *p, struct err *e)
{
    struct log_mark_query q = {
        .thread = p->thread, .from = p->from, .parts = p->parts, .last = p->last
    };
    struct store_head h;

    if (log_head(&r->log, p->thread, &h, e))
        return err_code(e);
    q.to = p->to == PARAM_UNSET || p->to >= h.rev ? h.rev - 1 : p->to;
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kint(r->doc, "rev", h.rev);
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (enum log_mark m = 0; m < LOG_MARK_COUNT; m++)
        if (asks_for(p, m) && put_mark(r, &q, m, e))
            return err_code(e);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status marks(struct request *r, const void *given, struct err *e)
{
    const struct marks_params *p = given;

    if (check_marks(p, e) || log_begin(&r->log, p->thread, STORE_READ, e))
        return err_code(e);
    enum status s = put_marks(r, p, e);
    log_abort(&r->log);
    return s;
}

static void print_marks(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *seqs = json_find(&items->items[i], "seqs");
        struct sv          mark = json_text(&items->items[i], "mark");
        term_f(t, "%-14.*s", (int)mark.n, mark.s);
        for (size_t k = 0; k < seqs->n; k++)
            term_f(t, " #" SV_FMT, SV_ARG(((struct sv){ seqs->items[k].s, seqs->items[k].n })));
        term_f(t, "\n");
    }
}

const struct operation op_log_marks = {
    .name = "log.marks",
    .summary = "List where in a log compactions, forks, runs and writes are",
    .details =
        "The entries are divided into equal parts, and for each part at most one entry of every\n"
        "mark is listed, which is enough to draw a log of any length. With --parts 1 it is the\n"
        "first of the range, or with --last the last. Marks: compaction, replace, fork, switch, "
        "run_started,\n"
        "run_completed, run_failed, run_cancelled, document, erasure.\n"
        "\n"
        "  heddle log marks design\n"
        "  heddle log marks design --marks compaction --to 1203 --parts 1 --last",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .params = marks_params,
    .params_size = sizeof(struct marks_params),
    .answer = marks_fields,
    .run = marks,
    .print = print_marks,
};
