/* log.import: entries of a stream of any length, of one thread or of several, in memory that does
 * not grow with it. */
#include "api/care/care.h"
#include "api/log/batch.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "thread/anchor.h"
#include "thread/care.h"
#include "thread/deletion.h"
#include "thread/erase.h"
#include "thread/kind.h"
#include "thread/scan.h"

enum { IMPORT_BATCH = 1000, IMPORT_BATCH_BYTES = 4 << 20, GAP_MAX = 1000000, TOLD_MAX = 20 };

struct import_params {
    struct sv thread, file;
    bool      salvage, all;
};

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_TEXT, offsetof(struct import_params, thread), .value = "T", .help = "the thread" },
    { "file",    PARAM_TEXT, offsetof(struct import_params, file), .value = "FILE|-", .help = "the file (default: standard input)" },
    { "salvage", PARAM_FLAG, offsetof(struct import_params, salvage), .help = "take a damaged export: every good line, with a stand-in for each that is missing or bad" },
    { "all",     PARAM_FLAG, offsetof(struct import_params, all), .help = "lines of several threads, each with the name of its own" },
    { 0 },
};
static const struct field thread_answer[] = {
    { "thread", FIELD_TEXT, .help = "the thread" },
    APPENDED_FIELDS,
    { 0 },
};
static const struct field answer[] = {
    { "first_seq", FIELD_NUMBER, .optional = true, .help = "seq of the first entry; not with all" },
    { "last_seq",  FIELD_NUMBER, .optional = true, .help = "of the last; less than first_seq: there was none" },
    { "rev",       FIELD_NUMBER, .optional = true, .help = "number of entries of the thread now" },
    { "items",     FIELD_LIST,   .of = thread_answer, .optional = true, .help = "with all: the threads, in the order in which they came" },
    { 0 },
};
/* clang-format on */

/* One of the threads that lines were imported into. */
struct target {
    struct sv         thread;
    int64_t           first; /* its revision before */
    struct store_head head;
};

struct import {
    struct request             *r;
    const struct import_params *p;
    struct entry_defaults       d;
    struct lines               *in;
    struct arena                a;      /* one batch */
    struct map                  seen;   /* struct target by name */
    struct target              *to;     /* the thread of the present batch ... */
    struct sv                   of;     /* ... by its name; absent: there is no line yet */
    bool                        held;   /* a line was read that belongs to the next batch: ... */
    struct sv                   line;   /* ... this one */
    int64_t                     number; /* of the line last read */
    int64_t                     lines;  /* taken in so far */
    int64_t                     lost;   /* --salvage: entries that became lost_entry ... */
    int64_t                     bad;    /* ... lines that could not be taken as they are ... */
    int64_t                     told;   /* ... and how many of them were warned of */
    struct batch_kept           kept;   /* what is not acted on */
    struct map                  gone;   /* chain values of what was erased in this log */
    int64_t                     erased, replayed; /* lines whose content does not come back */
    int64_t                     dropped;          /* threads that a later line deletes */
};

/* Only the first few are named one by one; all are counted at the end. */
static void tell_line(struct import *im, int64_t number, const char *what)
{
    struct sb b = sb_in(&im->a, 0);
    struct sb line = sb_in(&im->a, 0);

    if (im->told++ >= TOLD_MAX)
        return;
    sb_addf(&line, "line %lld: ", (long long)number);
    if (!sv_starts(sv_of(what), sb_sv(&line))) /* the reader of lines names it already */
        sb_add(&b, sb_sv(&line));
    sb_add_plain(&b, sv_of(what));
    request_warn(im->r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(sb_sv(&b)));
}

/* ---- reading --------------------------------------------------------------------------- */

/* A line that is not an entry: with salvage it is skipped, with a warning. */
static enum status pass_over(struct import *im, struct batch *b, int64_t number, struct err *e)
{
    if (!im->p->salvage || e->code == ST_IO)
        return err_code(e);
    tell_line(im, number, e->text);
    im->bad++;
    if (b)
        b->lines.n--;
    return ST_OK;
}

/* The line that was held back, or the next one. */
static enum status next_line(struct import *im, bool *more, struct err *e)
{
    for (;;) {
        if (im->held) {
            im->held = false;
            *more = true;
            return ST_OK;
        }
        enum status s = lines_next(im->in, &im->line, more, e);
        im->number = im->in->number;
        if (s != ST_LIMIT_EXCEEDED || !im->p->salvage)
            return s;
        if (pass_over(im, NULL, im->in->number + 1, e) || lines_skip(im->in, e))
            return err_code(e);
    }
}

/* Which thread the lines of a batch are of: the one that was asked for, or what they say. */
static enum status thread_of(struct import *im, const struct batch *b, struct sv *out,
                             struct err *e)
{
    const struct batch_line *last = &b->lines.v[b->lines.n - 1];

    *out = im->p->all ? last->read.thread : im->p->thread;
    if (out->s && sv_eq(*out, im->of))
        return ST_OK;
    if (!out->s) {
        err_set(e, ST_INVALID_SYNTAX, "line %lld: it does not say of which thread it is",
                (long long)last->number);
        return err_hint(e, "`heddle log export --all` writes such lines; `heddle log import T` "
                           "takes those of one thread");
    }
    struct store_head h;
    return log_head(&im->r->log, *out, &h, e) == ST_INVALID_SYNTAX
               ? err_in(e, "line %lld", (long long)last->number)
               : ST_OK;
}

/* One more line for the batch. *full: it is of another thread, and waits. */
static enum status add_line(struct import *im, struct batch *b, bool *full, struct err *e)
{
    struct sv thread;

    if (!sv_trim(im->line).n)
        return ST_OK;
    if (batch_add(b, im->line, im->number, &im->d, e) || thread_of(im, b, &thread, e))
        return pass_over(im, b, im->number, e);
    *full = im->of.s && !sv_eq(thread, im->of);
    if (*full) {
        b->lines.n--;
        im->held = true;
    } else {
        im->of = thread;
    }
    return ST_OK;
}

/* The next lines of one thread, up to a batch. */
static enum status read_lines(struct import *im, struct batch *b, bool *more, struct err *e)
{
    bool full = false;

    *b = (struct batch){ .a = &im->a, .thread = im->p->thread, .actor = batch_actor(im->r) };
    im->of = (struct sv){ 0 };
    while (!full && b->lines.n < IMPORT_BATCH && b->bytes < IMPORT_BATCH_BYTES) {
        if (next_line(im, more, e))
            return err_code(e);
        if (!*more)
            break;
        if (add_line(im, b, &full, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The thread that the batch goes into. */
static enum status find_target(struct import *im, struct sv thread, struct err *e)
{
    im->to = map_find(&im->seen, thread);
    if (im->to)
        return ST_OK;
    im->to = ARENA_NEW(im->r->a, struct target, 1);
    im->to->thread = sv_dup(thread, im->r->a);
    map_put(&im->seen, thread, im->to);
    if (log_head(&im->r->log, thread, &im->to->head, e))
        return err_code(e);
    im->to->first = im->to->head.rev;
    return ST_OK;
}

static enum status append_lines(struct import *im, const struct batch *b, struct err *e)
{
    struct entry *list = batch_entries(b, &im->a);

    for (size_t i = 0; i < b->lines.n; i++)
        if (b->lines.v[i].read.has_chain)
            erase_again(&im->gone, &list[i], &b->lines.v[i].read.chain, &im->a, &im->erased);
    if (batch_append(&im->r->log, im->to->thread, LOG_ANY_REV, b, list, &im->kept, &im->to->head,
                     e))
        return err_code(e);
    return erase_replay(&im->r->log, im->to->thread, list, b->lines.n, &im->replayed, e);
}

/* ---- salvage --------------------------------------------------------------------------- */

static enum status append_one(struct import *im, struct entry *n, struct err *e)
{
    return log_import(&im->r->log, im->to->thread, n, 1, &im->to->head, batch_note_kept, &im->kept,
                      e);
}

/* Entries before `seq` that the file no longer has: each gets a substitute, so that every seq in an
 * operation still means the same entry. */
static enum status fill_gap(struct import *im, int64_t seq, struct err *e)
{
    while (im->to->head.rev < seq) {
        struct entry n = {
            .at = im->d.at, .kind = SV("lost_entry"), .actor = im->d.actor, .payload = SV("{}")
        };
        if (append_one(im, &n, e))
            return err_code(e);
        im->lost++;
    }
    return ST_OK;
}

/* Would log_import() accept it? Checked first, because a refusal ends the transaction. */
static enum status would_append(struct import *im, const struct entry *n, struct err *e)
{
    struct entry again = *n, old;
    bool         taken = false;

    if (kind_prepare(&again, e))
        again = *n; /* it is kept without effect */
    if (entry_check(&again, e))
        return err_code(e);
    if (again.op_id.s &&
        log_find_op(&im->r->log, im->to->thread, again.op_id, &im->a, &old, &taken, e))
        return err_code(e);
    return taken ? err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' is taken", SV_ARG(again.op_id))
                 : ST_OK;
}

/* An entry that the log refuses, kept as text in one that it takes. */
static struct entry stand_in(struct import *im, const struct entry *n, const char *why)
{
    struct sb b = sb_in(&im->a, 0), clean = sb_in(&im->a, 0);
    struct jw w = jw_in(&b, 0);

    sb_add_lossy(&clean, sv_of(why));
    jw_open(&w, '{');
    jw_kstr(&w, "kind", n->kind);
    jw_key(&w, "payload");
    jw_raw(&w, n->payload);
    jw_kstr(&w, "refused", sb_sv(&clean));
    jw_close(&w, '}');
    struct sv payload = sb_sv(&b);
    if (payload.n > ENTRY_PAYLOAD_MAX)
        payload = SV("{}");
    return (struct entry){
        .at = n->at, .kind = ENTRY_DAMAGED, .actor = im->d.actor, .payload = payload
    };
}

/* The seq of the line. A seq that does not fit the lines around it is damaged: the line then takes
 * the next place. */
static int64_t place_of(struct import *im, const struct batch *b, size_t i)
{
    const struct entry_line *l = &b->lines.v[i].read;
    const struct entry_line *next = i + 1 < b->lines.n ? &b->lines.v[i + 1].read : NULL;

    if (!l->has_seq || l->seq == im->to->head.rev)
        return im->to->head.rev;
    bool contradicted = next && next->has_seq && next->seq <= l->seq;
    if (l->seq > im->to->head.rev && l->seq - im->to->head.rev <= GAP_MAX && !contradicted)
        return l->seq;
    tell_line(im, b->lines.v[i].number, "its seq does not fit the lines around it");
    im->bad++;
    return im->to->head.rev;
}

/* One by one: a gap may be anywhere. */
static enum status salvage_lines(struct import *im, const struct batch *b, struct err *e)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        struct entry *n = &b->lines.v[i].read.entry;
        struct err    why;
        if (fill_gap(im, place_of(im, b, i), e))
            return err_code(e);
        if (b->lines.v[i].read.has_chain)
            erase_again(&im->gone, n, &b->lines.v[i].read.chain, &im->a, &im->erased);
        if (would_append(im, n, &why)) {
            if (why.code == ST_IO) {
                *e = why;
                return err_code(e);
            }
            tell_line(im, b->lines.v[i].number, why.text);
            im->bad++;
            *n = stand_in(im, n, why.text);
        }
        if (append_one(im, n, e) ||
            erase_replay(&im->r->log, im->to->thread, n, 1, &im->replayed, e))
            return err_in(e, "line %lld", (long long)b->lines.v[i].number);
    }
    return ST_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static enum status import_batch(struct import *im, const struct batch *b, struct err *e)
{
    if (!im->of.s || find_target(im, im->of, e)) /* absent: the input had no line */
        return im->of.s ? err_code(e) : ST_OK;
    if ((im->to->first > 0 && batch_check_operations(b, e)) ||
        (im->p->salvage ? salvage_lines(im, b, e) : append_lines(im, b, e)))
        return im->p->all ? err_in(e, "thread " SV_FMT, SV_ARG(im->to->thread)) : err_code(e);
    im->lines += (int64_t)b->lines.n;
    return ST_OK;
}

static enum status import_batches(struct import *im, struct err *e)
{
    bool more = true;

    while (more) {
        struct arena_mark m = arena_mark(&im->a);
        struct batch      b;
        if (read_lines(im, &b, &more, e) || import_batch(im, &b, e) || request_check(im->r, e))
            return err_code(e);
        request_progress(im->r, "import", im->lines, 0);
        arena_reset(&im->a, m);
    }
    return ST_OK;
}

/* Threads that the imported lines of .global delete. One that came with this import is dropped
 * again: the stream had its entries and then its deletion. A thread that existed here before is
 * never dropped: that is ST_CONFLICT. */
static enum status delete_again(struct import *im, struct err *e)
{
    struct sv *list;
    size_t     n;

    if (deletion_list(&im->r->log, im->r->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        const struct target *t = map_find(&im->seen, list[i]);
        struct store_head    head;
        if (log_head(&im->r->log, list[i], &head, e))
            return err_code(e);
        if (!head.rev)
            continue;
        if (!t || t->first) {
            err_set(e, ST_CONFLICT, "the lines delete thread '" SV_FMT "', which is here",
                    SV_ARG(list[i]));
            err_reason(e, "deleted");
            return err_hint(e, "nothing was written; `heddle thread delete` it first");
        }
        if (log_drop(&im->r->log, list[i], e))
            return err_code(e);
        im->dropped++;
    }
    return ST_OK;
}

/* A deletion whose files were not cleaned when it was exported: the directory of that name here
 * belongs to another thread. */
static enum status leave_files(struct import *im, struct err *e)
{
    const struct target  *global = map_find(&im->seen, ANCHOR_THREAD);
    struct erase_pending *list;
    size_t                n;

    if (erase_pending(&im->r->log, im->r->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (list[i].deleted.s && list[i].seq >= global->first &&
            erase_say_done(&im->r->log, &list[i], im->r->actor, clock_now_ms(), e))
            return err_code(e);
    return ST_OK;
}

static enum status import_all(struct import *im, struct err *e)
{
    struct map heads = map_in(im->r->a);

    /* What was erased here: found while others write; then what has changed since. */
    im->gone = map_in(im->r->a);
    enum status s = log_begin(&im->r->log, im->p->thread, STORE_READ, e);
    if (!s)
        s = erase_known_since(&im->r->log, im->r->a, &heads, &im->gone, e);
    log_abort(&im->r->log);
    if (s || log_begin(&im->r->log, im->p->thread, STORE_WRITE, e))
        return err_code(e);
    s = erase_known_since(&im->r->log, im->r->a, &heads, &im->gone, e);
    if (!s && im->p->thread.s)
        s = find_target(im, im->p->thread, e);
    if (!s)
        s = import_batches(im, e);
    if (!s && map_has(&im->seen, ANCHOR_THREAD))
        s = delete_again(im, e) ? err_code(e) : leave_files(im, e);
    if (!s)
        s = log_commit(&im->r->log, e);
    log_abort(&im->r->log); /* no effect after a commit */
    return s;
}

static void tell(const struct import *im, struct sv what)
{
    request_warn(im->r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(what));
}

/* Warn about lines that were not imported unchanged. */
static void tell_all(const struct import *im)
{
    struct sb lost = sb_in(im->r->a, 0), erased = sb_in(im->r->a, 0), bad = sb_in(im->r->a, 0);
    struct sb dropped = sb_in(im->r->a, 0);
    int64_t   gone = im->erased + im->replayed;

    sb_addf(&lost, "%lld missing %s became lost_entry", (long long)im->lost,
            im->lost == 1 ? "entry" : "entries");
    sb_addf(&erased, "%lld entries were erased, and come in without their content",
            (long long)gone);
    sb_addf(&bad, "%lld line%s could not be taken as %s", (long long)im->bad,
            im->bad == 1 ? "" : "s", im->bad == 1 ? "it is" : "they are");
    sb_addf(&dropped, "%lld thread%s deleted by a later line, and did not come in",
            (long long)im->dropped, im->dropped == 1 ? " is" : "s are");
    if (im->lost)
        tell(im, sb_sv(&lost));
    batch_tell_kept(im->r, &im->kept);
    if (gone)
        tell(im, sb_sv(&erased));
    if (im->dropped)
        tell(im, sb_sv(&dropped));
    if (im->bad)
        tell(im, sb_sv(&bad));
}

static void write_target(struct jw *w, const struct target *t)
{
    appended_write(w, &(struct appended){ t->head.rev, t->first, t->head.rev - 1, false });
}

static void write_answer(const struct import *im, struct jw *w)
{
    jw_open(w, '{');
    if (!im->p->all) {
        write_target(w, im->to);
    } else {
        jw_key(w, "items");
        jw_open(w, '[');
        for (size_t i = 0; i < im->seen.n; i++) {
            const struct target *t = im->seen.items[i].value;
            jw_open(w, '{');
            jw_kstr(w, "thread", t->thread);
            write_target(w, t);
            jw_close(w, '}');
        }
        jw_close(w, ']');
    }
    jw_close(w, '}');
}

static enum status check(const struct request *r, const struct import_params *p, struct err *e)
{
    if (!p->all == !p->thread.s) {
        err_set(e, ST_USAGE,
                p->all ? "--all takes no thread" : "`heddle log import` needs a thread");
        return err_hint(e, "usage: heddle log import T [FILE], or heddle log import --all [FILE]");
    }
    return r->in ? ST_OK : err_set(e, ST_USAGE, "log.import reads a stream");
}

/* Rows of the views of a long thread hold what was erased in it until they are folded again. */
static enum status fold_replayed(struct import *im, struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; i < im->seen.n && !s; i++) {
        s = log_begin(&im->r->log, im->seen.items[i].key, STORE_READ, e);
        log_abort(&im->r->log);
    }
    return s;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct import_params *p = given;
    struct import               im = { .r = r,
                                       .p = p,
                                       .d = { clock_now_ms(), LANE_DEFAULT, r->actor },
                                       .in = r->in,
                                       .seen = map_in(r->a) };

    if (check(r, p, e))
        return err_code(e);
    enum status s = import_all(&im, e);
    arena_free(&im.a);
    if (s == ST_INVALID_SYNTAX && !p->salvage && !e->hint[0])
        return err_hint(e, "nothing was written; --salvage takes every good line of the file");
    if (s)
        return s;
    tell_all(&im);
    if (im.replayed && fold_replayed(&im, e))
        return err_code(e);
    if ((im.replayed || im.dropped) && log_scrub(&r->log, care_warn_removed, r, e))
        return err_in(e, "after an erasure");
    write_answer(&im, r->doc);
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    if (!items)
        appended_print(doc, t);
    for (size_t i = 0; items && i < items->n; i++) {
        term_text(t, json_text(&items->items[i], "thread"));
        term_f(t, ": ");
        appended_print(&items->items[i], t);
    }
    if (items && !items->n)
        term_f(t, "nothing appended\n");
}

const struct operation op_log_import = {
    .name = "log.import",
    .summary = "Append the JSON Lines of a file of any length",
    .details =
        "All of it is written or none. Lines of `heddle log export` carry seq and chain, which\n"
        "are checked: into an empty thread they must come out the same. With --salvage they need\n"
        "not: of a damaged export every good line comes in. A missing entry becomes a lost_entry,\n"
        "so that all others keep their seq; a line that is not an entry is passed over; one that\n"
        "a log would refuse becomes a damaged_entry that holds it. Each such line is reported.\n"
        "\n"
        "What was erased in this log, in whatever thread, comes in without its content again.\n"
        "Lines of .global that delete a thread which is here are refused.\n"
        "\n"
        "An entry that its kind does not allow is kept, is not acted on and is warned of;\n"
        "`heddle verify` names each.\n"
        "\n"
        "--all takes what `heddle log export --all` wrote: every line goes to the thread that it\n"
        "names. Lines of several threads may be mixed, as `heddle log follow --json` writes them.\n"
        "\n"
        "  heddle log export design | heddle log import copy",
    .group = GROUP_LOG,
    .needs = NEEDS_WRITE,
    .repeat = REPEAT_NEVER,
    .streams = STREAM_IN,
    .params = params,
    .params_size = sizeof(struct import_params),
    .answer = answer,
    .run = run,
    .print = print,
};
