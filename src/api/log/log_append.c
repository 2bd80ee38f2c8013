/* log.append: entries at the end of a thread, all of them at once, or each as it comes in. */
#include "api/log/batch.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/utf8.h"
#include "thread/kind.h"
#include "thread/scan.h"

struct append_params {
    struct sv          thread, lane, op_id;
    int64_t            expect;
    const struct json *entries;
    bool               each;
};

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_TEXT,   offsetof(struct append_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread; its first entry creates it" },
    { "entries", PARAM_JSON,   offsetof(struct append_params, entries), .value = "JSON", .help = "a list of entries; absent: they are read as JSON Lines" },
    { "lane",    PARAM_NAME,   offsetof(struct append_params, lane), .value = "L", .help = "lane of lines that name none (default: default)" },
    { "expect",  PARAM_NUMBER, offsetof(struct append_params, expect), .value = "REV", .min = 0, .max = INT64_MAX, .help = "append only if the thread has exactly REV entries" },
    { "op_id",   PARAM_TEXT,   offsetof(struct append_params, op_id), .value = "ID", .help = "append at most once: repeating it with the same lines is harmless" },
    { "each",    PARAM_FLAG,   offsetof(struct append_params, each), .help = "write and acknowledge every line on its own, as it comes in" },
    { 0 },
};
static const struct field answer[] = {
    { "duplicate",  FIELD_FLAG,   .optional = true, .help = "true: all of it was there already" },
    { "first_seq",  FIELD_NUMBER, .optional = true, .help = "seq of the first entry; not with each" },
    { "last_seq",   FIELD_NUMBER, .optional = true, .help = "of the last; less than first_seq: there was none" },
    { "rev",        FIELD_NUMBER, .help = "number of entries of the thread now" },
    { "appended",   FIELD_NUMBER, .optional = true, .help = "with each: lines that were written" },
    { "duplicates", FIELD_NUMBER, .optional = true, .help = "with each: lines that were there already" },
    { "refused",    FIELD_NUMBER, .optional = true, .help = "with each: lines that were answered with an error" },
    { 0 },
};
static const struct field error_fields[] = {
    { "code",    FIELD_TEXT, .help = "what kind of error" },
    { "message", FIELD_TEXT, .help = "one sentence" },
    { "hint",    FIELD_TEXT, .optional = true, .help = "what to do" },
    { "reason",  FIELD_TEXT, .optional = true, .help = "which of several, for programs" },
    { 0 },
};
static const struct field event[] = {
    { "line",      FIELD_NUMBER, .help = "which line of the input, from 1" },
    { "duplicate", FIELD_FLAG,   .optional = true, .help = "true: it was there already" },
    { "seq",       FIELD_NUMBER, .optional = true, .help = "of the entry" },
    { "rev",       FIELD_NUMBER, .optional = true, .help = "number of entries of the thread now" },
    { "warning",   FIELD_TEXT,   .optional = true, .help = "what should be known about it" },
    { "error",     FIELD_OBJECT, .of = error_fields, .optional = true, .help = "why it was refused: nothing of it was written" },
    { 0 },
};
/* clang-format on */

static struct entry_defaults defaults(const struct request *r, const struct append_params *p)
{
    return (struct entry_defaults){ clock_now_ms(), p->lane.n ? p->lane : LANE_DEFAULT, r->actor };
}

/* The op_id of the i-th entry of a batch: ID, ID#2, ID#3 … So a repeated batch is recognised as a
 * whole. */
static struct sv batch_op(struct sv id, size_t i, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, id);
    if (i)
        sb_addf(&b, "#%zu", i + 1);
    return sb_sv(&b);
}

/* Mark each entry with the op_id of the batch, unless it has one of its own. */
static void mark_batch(struct entry *list, size_t n, size_t first, struct sv op_id, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (first + i == 0 ||
            (!list[i].op_id.s && kind_of(list[i].kind) != KIND_AI_CONTEXT_OPERATION))
            list[i].op_id = batch_op(op_id, first + i, a);
}

/* ---- all at once ---------------------------------------------------------------------- */

static enum status check_size(const struct batch *b, struct err *e)
{
    if (b->lines.n <= BATCH_ENTRIES_MAX && b->bytes <= BATCH_BYTES_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "more than %d lines or %d bytes in one append", BATCH_ENTRIES_MAX,
            BATCH_BYTES_MAX);
    return err_hint(e, "`heddle log import` takes files of any length");
}

static enum status read_list(const struct json *list, const struct entry_defaults *d,
                             struct batch *b, struct err *e)
{
    if (list->type != JSON_ARRAY)
        return err_set(e, ST_USAGE, "entries must be a list of objects");
    for (size_t i = 0; i < list->n; i++)
        if (batch_add(b, json_canonical(&list->items[i], b->a), (int64_t)i + 1, d, e) ||
            check_size(b, e))
            return err_code(e);
    return ST_OK;
}

static enum status add_line(struct batch *b, struct sv line, int64_t number,
                            const struct entry_defaults *d, struct err *e)
{
    enum status s = batch_add(b, line, number, d, e);

    return s == ST_INVALID_SYNTAX && !e->hint[0] ? entry_hint(e) : s;
}

/* All lines of the input. The first bad one is named. */
static enum status read_lines(struct lines *in, const struct entry_defaults *d, struct batch *b,
                              struct err *e)
{
    struct sv line;
    bool      more = true;

    for (;;) {
        if (lines_next(in, &line, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (sv_trim(line).n && (add_line(b, line, in->number, d, e) || check_size(b, e)))
            return err_code(e);
    }
}

/* log_append() found all lines in the log. Were there more of them the first time? */
static enum status check_longer(struct request *r, const struct append_params *p, size_t n,
                                struct err *e)
{
    struct entry old;
    bool         there = false;

    if (log_find_op(&r->log, p->thread, batch_op(p->op_id, n, r->a), r->a, &old, &there, e))
        return err_code(e);
    return there ? log_op_id_taken(p->op_id, e) : ST_OK;
}

static enum status append_batch(struct request *r, const struct append_params *p,
                                const struct batch *b, struct appended *out, struct err *e)
{
    struct entry     *list = batch_entries(b, r->a);
    int64_t           n = (int64_t)b->lines.n;
    struct store_head head;

    if (p->op_id.s && n)
        mark_batch(list, b->lines.n, 0, p->op_id, r->a);
    if (batch_append(&r->log, p->thread, p->expect == PARAM_UNSET ? LOG_ANY_REV : p->expect, b,
                     list, NULL, &head, e))
        return err_code(e);
    bool repeated = r->log.repeated;
    if (repeated && p->op_id.s && check_longer(r, p, b->lines.n, e))
        return err_code(e);
    int64_t first = repeated ? list[0].seq : head.rev - n;
    *out = (struct appended){ head.rev, first, first + n - 1, repeated };
    return log_commit(&r->log, e);
}

static enum status run_all(struct request *r, const struct append_params *p, struct err *e)
{
    struct entry_defaults d = defaults(r, p);
    struct batch          b = { .a = r->a, .thread = p->thread, .actor = batch_actor(r) };
    struct appended       done;

    log_want_op(&r->log, p->thread, p->op_id);
    if ((p->entries ? read_list(p->entries, &d, &b, e) : read_lines(r->in, &d, &b, e)) ||
        batch_check_own_kinds(&b, e) || log_begin(&r->log, p->thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = append_batch(r, p, &b, &done, e);
    log_abort(&r->log); /* no effect after a commit */
    if (s)
        return s;
    jw_open(r->doc, '{');
    appended_write(r->doc, &done);
    jw_close(r->doc, '}');
    batch_tell_unknown(r, &b);
    return ST_OK;
}

/* ---- one by one ----------------------------------------------------------------------- */

struct each {
    struct request             *r;
    const struct append_params *p;
    struct arena                a; /* one line */
    int64_t                     number, given, expect;
    int64_t                     appended, duplicates, refused;
    struct store_head           head;
    struct err                  first; /* refusal, and of which line */
    int64_t                     first_line;
    struct sv                   warning; /* about the line, in `a`; absent: none */
};

/* One line, in a transaction of its own. */
static enum status append_line(struct each *x, struct sv line, int64_t *seq, struct err *e)
{
    const struct append_params *p = x->p;
    struct log                 *l = &x->r->log;
    struct entry_defaults       d = defaults(x->r, p);
    struct batch                b = { .a = &x->a, .thread = p->thread, .actor = batch_actor(x->r) };
    struct sb                   say = sb_in(&x->a, 0);

    if (add_line(&b, line, x->number, &d, e) || batch_check_own_kinds(&b, e))
        return err_code(e);
    struct entry *list = batch_entries(&b, &x->a);
    if (p->op_id.s)
        mark_batch(list, 1, (size_t)x->given, p->op_id, &x->a);
    if (log_begin(l, p->thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = batch_append(l, p->thread, x->expect, &b, list, NULL, &x->head, e);
    if (!s)
        s = log_commit(l, e);
    log_abort(l);
    if (s)
        return s;
    *seq = list[0].seq;
    x->warning = batch_unknown(list[0].kind, &say) ? sb_sv(&say) : (struct sv){ 0 };
    return ST_OK;
}

static void error_write(struct jw *w, const struct err *e, struct arena *a)
{
    struct sb text = sb_in(a, 0), hint = sb_in(a, 0);

    sb_add_lossy(&text, sv_of(e->text));
    sb_add_lossy(&hint, sv_of(e->hint));
    jw_key(w, "error");
    jw_open(w, '{');
    jw_kstr(w, "code", sv_of(status_word(e->code)));
    jw_kstr(w, "message", sb_sv(&text));
    if (e->hint[0])
        jw_kstr(w, "hint", sb_sv(&hint));
    if (e->reason[0])
        jw_kstr(w, "reason", sv_of(e->reason));
    jw_close(w, '}');
}

/* The answer to one line: where it is, or `why` it was refused. */
static enum status answer_line(struct each *x, int64_t seq, const struct err *why, struct err *e)
{
    struct jw *w = request_event(x->r);

    jw_open(w, '{');
    jw_kint(w, "line", x->number);
    if (why) {
        error_write(w, why, &x->a);
    } else {
        if (x->r->log.repeated)
            jw_kbool(w, "duplicate", true);
        jw_kint(w, "seq", seq);
        jw_kint(w, "rev", x->head.rev);
        if (x->warning.s)
            jw_kstr(w, "warning", x->warning);
    }
    jw_close(w, '}');
    return request_send(x->r, e);
}

static enum status refuse_line(struct each *x, const struct err *why, struct err *e)
{
    if (!x->refused++) {
        x->first = *why;
        x->first_line = x->number;
    }
    return answer_line(x, -1, why, e);
}

/* A bad line gets an error as its answer; when the log itself fails, the operation ends. */
static enum status take_line(struct each *x, struct sv line, struct err *e)
{
    struct err  why;
    int64_t     seq = -1;
    enum status s = append_line(x, line, &seq, &why);

    x->given++;
    if (s == ST_IO || s == ST_CORRUPT) {
        *e = why;
        return err_in(e, "line %lld", (long long)x->number);
    }
    if (s)
        return refuse_line(x, &why, e);
    *(x->r->log.repeated ? &x->duplicates : &x->appended) += 1;
    if (x->expect != LOG_ANY_REV)
        x->expect = seq + 1;
    return answer_line(x, seq, NULL, e);
}

static enum status each_line(struct each *x, struct lines *in, struct err *e)
{
    struct arena_mark start = arena_mark(&x->a);
    struct sv         line;
    struct err        why;
    bool              more = true;

    for (;;) {
        arena_reset(&x->a, start);
        enum status s = lines_next(in, &line, &more, &why);
        x->number = in->number;
        if (s == ST_LIMIT_EXCEEDED) {
            x->number++;
            x->given++;
            if (refuse_line(x, &why, e) || lines_skip(in, e))
                return err_code(e);
            continue;
        }
        if (s) {
            *e = why;
            return s;
        }
        if (!more)
            return ST_OK;
        if (request_check(x->r, e) || (sv_trim(line).n && take_line(x, line, e)))
            return err_code(e);
    }
}

static enum status run_each(struct request *r, const struct append_params *p, struct err *e)
{
    struct each x = { .r = r,
                      .p = p,
                      .expect = p->expect == PARAM_UNSET ? LOG_ANY_REV : p->expect };
    enum status s = p->entries ? err_set(e, ST_USAGE, "each takes lines, not a list of entries")
                               : each_line(&x, r->in, e);

    arena_free(&x.a);
    if (s || log_head(&r->log, p->thread, &x.head, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kint(r->doc, "rev", x.head.rev);
    jw_kint(r->doc, "appended", x.appended);
    jw_kint(r->doc, "duplicates", x.duplicates);
    jw_kint(r->doc, "refused", x.refused);
    jw_close(r->doc, '}');
    if (x.refused) {
        err_set(&r->verdict, x.first.code,
                "%lld of %lld lines were refused; the first is line %lld", (long long)x.refused,
                (long long)x.given, (long long)x.first_line);
        err_reason(&r->verdict, "refused");
    }
    return ST_OK;
}

/* ---- both ----------------------------------------------------------------------------- */

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct append_params *p = given;

    if (!p->entries && !r->in)
        return err_set(e, ST_USAGE, "entries is missing");
    return p->each ? run_each(r, p, e) : run_all(r, p, e);
}

static void print(const struct json *doc, struct term *t)
{
    if (json_find(doc, "first_seq"))
        appended_print(doc, t);
}

static void print_event(const struct json *ack, struct term *t)
{
    const struct json *error = json_find(ack, "error");
    struct sv          hint = json_text(error, "hint"), warning = json_text(ack, "warning");

    if (error) {
        term_f(t, "✗ " SV_FMT ": ", SV_ARG(json_text(error, "code")));
        sb_add_plain_line(t->out, json_text(error, "message"));
        if (hint.s) {
            sb_adds(t->out, " (");
            sb_add_plain_line(t->out, hint);
            sb_addc(t->out, ')');
        }
    } else {
        term_f(t, "#%lld revision %lld", (long long)json_number(ack, "seq"),
               (long long)json_number(ack, "rev"));
        if (json_truth(json_find(ack, "duplicate")))
            sb_adds(t->out, " already there");
        if (warning.s) {
            sb_adds(t->out, " ! ");
            sb_add_plain_line(t->out, warning);
        }
    }
    sb_addc(t->out, '\n');
}

const struct operation op_log_append = {
    .name = "log.append",
    .summary = "Append entries to a thread, read as JSON Lines from stdin",
    .details =
        "Each line is {\"kind\":…,\"payload\":{…}}, with optional id, at (milliseconds), lane, "
        "refs,\n"
        "actor and op_id. The first entry creates the thread. All lines are\n"
        "written or none; when the command returns they are on the disk.\n"
        "\n"
        "A message is an ai_message with role (user, assistant or tool) and content; another role\n"
        "is refused. A system prompt belongs to a context operation: see `heddle op replace`. A\n"
        "message of an assistant may have tool_calls\n"
        "[{\"id\":…,\"name\":…,\"arguments\":{…}}], and the results are messages of role tool "
        "with\n"
        "their tool_call_id; name is optional and taken from the call. A payload that is not what\n"
        "its kind demands is refused. A kind that is not known is kept as it is, is part of no\n"
        "context, and is warned of.\n"
        "\n"
        "Repeating the same lines with the same op_id is harmless.\n"
        "\n"
        "With --each every line is written on its own as soon as it is read, and answered with a\n"
        "line once it is on the disk: its seq and the revision of the thread, with --json\n"
        "{\"line\",\"seq\",\"rev\"}. So a program keeps one process open. A line that is refused "
        "is\n"
        "answered with its error, nothing of it is written, and the next line is read; the exit\n"
        "status is then 1 at the end. An error of the disk or of the database ends it. With\n"
        "--op-id the first line has that id and line N is ID#N: after a crash the same lines can\n"
        "be sent again, and those that were written are answered with their seq. --expect moves\n"
        "on with each line that is written, so that nobody else's entry comes in between. Blank\n"
        "lines are not answered.\n"
        "\n"
        "  echo '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"hi\"}}' |\n"
        "      heddle log append t1 --json",
    .group = GROUP_LOG,
    .needs = NEEDS_WRITE,
    .in_thread = true,
    .repeat = REPEAT_KEY,
    .joins = true,
    .repeat_key = "op_id",
    .streams = STREAM_IN | STREAM_EVENTS,
    .params = params,
    .params_size = sizeof(struct append_params),
    .answer = answer,
    .event = event,
    .run = run,
    .print = print,
    .print_event = print_event,
};
