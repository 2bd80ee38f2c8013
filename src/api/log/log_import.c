/* log.import: entries of a stream of any length, of one thread or of several, in memory that does
 * not grow with it.
 *
 * What fits into one slice is appended in one transaction. A longer stream first goes into staged
 * threads, slice by slice, while others write (thread/stage.h), and is shown at its end. */
#include "api/care/care.h"
#include "api/care/staged.h"
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

enum { IMPORT_SLICE = 4000, IMPORT_SLICE_BYTES = 4 << 20, GAP_MAX = 1000000, TOLD_MAX = 20 };

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
    { "duplicate", FIELD_FLAG, .optional = true, .help = "true: this import was interrupted before, and what was left of it is there now" },
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
    struct sv         staged; /* where the lines go; absent: into the thread */
    int64_t           first;  /* its revision before */
    struct store_head before, head;
    bool              exact;     /* a line says which seq it has */
    bool              dropped;   /* a later line deletes it */
    bool              duplicate; /* all of it was there */
    struct log_stage  how;       /* entries that belong behind others */
};

/* Lines of one thread that follow each other. */
struct import_part {
    struct sv    thread;
    struct batch b;
};

struct import {
    struct request             *r;
    const struct import_params *p;
    struct entry_defaults       d;
    struct lines               *in;
    struct arena                a;     /* one slice */
    struct arena_mark           start; /* ... empty, with a block that is kept */
    VEC(struct import_part) parts;     /* ... its lines, which end with the input when ... */
    bool                ended;         /* ... this is true */
    size_t              count, bytes;  /* ... how many they are */
    struct map          seen;          /* struct target by name */
    struct target      *to;            /* the thread of the present part */
    struct sv           line;          /* the line last read, ... */
    int64_t             number;        /* ... its number */
    bool                behind;        /* lines may belong behind entries that are there: ... */
    struct hash         digest;        /* ... of all lines so far */
    struct staged       staged;        /* token.s: lines go into staged threads */
    struct staged_swept swept;
    struct map          heads;            /* of threads when it was looked for what was erased */
    int64_t             lines;            /* taken in so far */
    int64_t             lost;             /* --salvage: entries that became lost_entry ... */
    int64_t             bad;              /* ... lines that could not be taken as they are ... */
    int64_t             told;             /* ... and how many of them were warned of */
    struct batch_kept   kept;             /* what is not acted on */
    struct map          gone;             /* chain values of what was erased in this log */
    int64_t             erased, replayed; /* lines whose content does not come back */
    int64_t             dropped;          /* threads that a later line deletes */
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

static enum status next_line(struct import *im, bool *more, struct err *e)
{
    for (;;) {
        enum status s = lines_next(im->in, &im->line, more, e);
        im->number = im->in->number;
        if (!s && *more && im->behind) {
            struct sv both[] = { { (const char *)im->digest.b, HASH_SIZE }, im->line };
            im->digest = hash_blake2b(both, 2);
        }
        if (s != ST_LIMIT_EXCEEDED || !im->p->salvage)
            return s;
        if (pass_over(im, NULL, im->in->number + 1, e) || lines_skip(im->in, e))
            return err_code(e);
    }
}

/* Of which thread the last line of a part is: the one that was asked for, or what it says. */
static enum status thread_of(struct import *im, const struct import_part *part, struct sv *out,
                             struct err *e)
{
    const struct batch_line *last = &part->b.lines.v[part->b.lines.n - 1];

    *out = im->p->all ? last->read.thread : im->p->thread;
    if (out->s && part->thread.s && sv_eq(*out, part->thread))
        return ST_OK;
    if (!out->s) {
        err_set(e, ST_INVALID_SYNTAX, "line %lld: it does not say of which thread it is",
                (long long)last->number);
        return err_hint(e, "`heddle log export --all` writes such lines; `heddle log import T` "
                           "takes those of one thread");
    }
    if (!sv_eq(*out, ANCHOR_THREAD) && name_check(*out, "thread id", e))
        return err_in(e, "line %lld", (long long)last->number);
    return ST_OK;
}

static struct import_part *new_part(struct import *im)
{
    struct import_part *part = vec_push(&im->parts, &im->a);

    *part = (struct import_part){
        .b = { .a = &im->a, .thread = im->p->thread, .actor = batch_actor(im->r) }
    };
    return part;
}

/* One more line for the slice, in the part of its thread. */
static enum status add_line(struct import *im, struct err *e)
{
    struct import_part *part = im->parts.n ? &im->parts.v[im->parts.n - 1] : new_part(im);
    struct sv           thread;

    if (!sv_trim(im->line).n)
        return ST_OK;
    if (batch_add(&part->b, im->line, im->number, &im->d, e) || thread_of(im, part, &thread, e))
        return pass_over(im, &part->b, im->number, e);
    im->count++;
    im->bytes += im->line.n;
    if (!part->thread.s || sv_eq(part->thread, thread)) {
        part->thread = thread;
        return ST_OK;
    }
    struct batch_line   last = part->b.lines.v[--part->b.lines.n];
    struct import_part *next = new_part(im);
    next->thread = thread;
    *vec_push(&next->b.lines, &im->a) = last;
    return ST_OK;
}

/* The next lines, up to a slice. No transaction is open: the stream may take its time. */
static enum status read_slice(struct import *im, struct err *e)
{
    bool more = true;

    arena_reset(&im->a, im->start);
    im->parts.v = NULL;
    im->parts.n = im->parts.cap = im->count = im->bytes = 0;
    while (more && im->count < IMPORT_SLICE && im->bytes < IMPORT_SLICE_BYTES)
        if (next_line(im, &more, e) || (more && add_line(im, e)))
            return err_code(e);
    im->ended = !more;
    return request_check(im->r, e);
}

/* ---- writing ---------------------------------------------------------------------------- */

/* Where the lines of the present part go. */
static struct sv place(const struct import *im)
{
    return im->to->staged.s ? im->to->staged : im->to->thread;
}

/* Is all that was staged of a thread still there? */
static enum status check_staged(struct import *im, const struct target *t, struct err *e)
{
    return !t->staged.s || t->head.rev == t->first
               ? ST_OK
               : log_stage_is_there(&im->r->log, t->staged, t->thread, &t->head, e);
}

/* The thread that a part goes into. */
static enum status find_target(struct import *im, struct sv thread, struct err *e)
{
    im->to = map_find(&im->seen, thread);
    if (im->to)
        return check_staged(im, im->to, e);
    struct target *t = im->to = ARENA_NEW(im->r->a, struct target, 1);
    *t = (struct target){ .thread = sv_dup(thread, im->r->a) };
    if (log_head(&im->r->log, thread, &t->before, e) || store_head_agrees(thread, &t->before, e))
        return err_code(e);
    t->head = t->before;
    t->first = t->before.rev;
    if (im->staged.token.s) {
        t->staged = log_staged_id(im->staged.token, t->thread, im->seen.n, im->r->a);
        if (t->first)
            log_stage_after(&im->r->log, t->staged, &t->before);
    }
    map_put(&im->seen, t->thread, t);
    return ST_OK;
}

/* Entries that go behind others are in another thread than those: their op_ids must be free there,
 * too. */
static enum status check_op_ids(struct import *im, const struct entry *list, size_t n,
                                struct err *e)
{
    for (size_t i = 0; im->to->staged.s && im->to->first && i < n; i++) {
        struct entry one = list[i], old;
        bool         taken = false;
        struct err   ignored;
        if (kind_prepare(&one, &ignored))
            one = list[i];
        if (one.op_id.s &&
            log_find_op(&im->r->log, im->to->thread, one.op_id, &im->a, &old, &taken, e))
            return err_code(e);
        if (taken)
            return log_op_id_taken(one.op_id, e);
    }
    return ST_OK;
}

/* What is behind others is looked through for erasures when it is moved there. */
static enum status replay(struct import *im, const struct entry *list, size_t n, struct err *e)
{
    return im->to->staged.s && im->to->first
               ? ST_OK
               : erase_replay(&im->r->log, place(im), list, n, &im->replayed, e);
}

static enum status append_lines(struct import *im, const struct batch *b, struct err *e)
{
    struct entry *list = batch_entries(b, &im->a);

    for (size_t i = 0; i < b->lines.n; i++)
        if (b->lines.v[i].read.has_chain)
            erase_again(&im->gone, &list[i], &b->lines.v[i].read.chain, &im->a, &im->erased);
    if (check_op_ids(im, list, b->lines.n, e) ||
        batch_append(&im->r->log, place(im), LOG_ANY_REV, b, list, &im->kept, &im->to->head, e))
        return err_code(e);
    return replay(im, list, b->lines.n, e);
}

/* ---- salvage --------------------------------------------------------------------------- */

static enum status append_one(struct import *im, struct entry *n, struct err *e)
{
    return log_import(&im->r->log, place(im), n, 1, &im->to->head, batch_note_kept, &im->kept, e);
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
    if (again.op_id.s && log_find_op(&im->r->log, place(im), again.op_id, &im->a, &old, &taken, e))
        return err_code(e);
    if (again.op_id.s && !taken && im->to->staged.s && im->to->first &&
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
        if (append_one(im, n, e) || replay(im, n, 1, e))
            return err_in(e, "line %lld", (long long)b->lines.v[i].number);
    }
    return ST_OK;
}

/* ---- a slice ----------------------------------------------------------------------------- */

static enum status take_part(struct import *im, const struct import_part *part, struct err *e)
{
    const struct batch *b = &part->b;

    if (find_target(im, part->thread, e))
        return err_code(e);
    if ((im->to->first > 0 && batch_check_operations(b, e)) ||
        (im->p->salvage ? salvage_lines(im, b, e) : append_lines(im, b, e)))
        return im->p->all ? err_in(e, "thread " SV_FMT, SV_ARG(im->to->thread)) : err_code(e);
    for (size_t i = 0; !im->p->salvage && i < b->lines.n; i++)
        im->to->exact = im->to->exact || b->lines.v[i].read.has_seq;
    im->lines += (int64_t)b->lines.n;
    return ST_OK;
}

static enum status import_slice(struct import *im, struct err *e)
{
    if (im->p->thread.s && find_target(im, im->p->thread, e))
        return err_code(e);
    for (size_t i = 0; i < im->parts.n; i++)
        if (im->parts.v[i].thread.s && /* absent: it has no line */
            take_part(im, &im->parts.v[i], e))
            return err_code(e);
    request_progress(im->r, "import", im->lines, 0);
    return ST_OK;
}

/* ---- what the lines delete ----------------------------------------------------------------- */

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
        struct target    *t = map_find(&im->seen, list[i]);
        struct store_head head;
        if (t && t->staged.s && !t->first) { /* nobody has seen it */
            t->dropped = true;
            im->dropped++;
            continue;
        }
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

/* ---- all of it, in one transaction ----------------------------------------------------------- */

/* What was erased here since the last call. */
static enum status find_erased(struct import *im, struct err *e)
{
    return erase_known_since(&im->r->log, im->r->a, &im->heads, &im->gone, e);
}

static enum status import_at_once(struct import *im, struct err *e)
{
    enum status s = log_begin(&im->r->log, im->p->thread, STORE_WRITE, e);

    if (!s)
        s = find_erased(im, e);
    if (!s)
        s = import_slice(im, e);
    while (!s && !im->ended)
        s = read_slice(im, e) ? err_code(e) : import_slice(im, e);
    if (!s && map_has(&im->seen, ANCHOR_THREAD))
        s = delete_again(im, e) ? err_code(e) : leave_files(im, e);
    if (!s)
        s = log_commit(&im->r->log, e);
    log_abort(&im->r->log); /* no effect after a commit */
    return s;
}

/* ---- in slices ------------------------------------------------------------------------------ */

static enum status stage_all(struct import *im, struct err *e)
{
    enum status s = ST_OK;

    for (bool more = true; !s && more;) {
        s = log_begin(&im->r->log, (struct sv){ 0 }, STORE_WRITE, e);
        if (!s)
            s = import_slice(im, e);
        if (!s)
            s = log_commit(&im->r->log, e);
        log_abort(&im->r->log);
        more = !im->ended;
        if (!s && more)
            s = read_slice(im, e);
        log_let_others(&im->r->log);
    }
    return s;
}

/* Is everything as it was when the lines were checked? */
static enum status check_unmoved(struct import *im, struct err *e)
{
    size_t known = im->gone.n;

    if (find_erased(im, e))
        return err_code(e);
    if (im->gone.n != known) {
        err_set(e, ST_CONFLICT, "something was erased while the lines were read");
        err_reason(e, "busy");
        return err_hint(e, "nothing was written; run the command again");
    }
    for (size_t i = 0; i < im->seen.n; i++) {
        const struct target *t = im->seen.items[i].value;
        if (check_staged(im, t, e) || log_stage_unmoved(&im->r->log, t->thread, &t->before, e))
            return err_code(e);
    }
    return ST_OK;
}

/* Entries behind those of a thread: from now on they will be there. They are, if they fit into one
 * slice with the others; those of .global always, since other transactions read it. */
static enum status decide(struct import *im, struct target *t, int64_t *left, struct err *e)
{
    t->how = (struct log_stage){ .into = t->thread,
                                 .lines = hash_hex(&im->digest, im->r->a),
                                 .first = t->first,
                                 .at = t->first,
                                 .end = t->head.rev,
                                 .moved = -1,
                                 .exact = t->exact };
    if (log_stage_decide(&im->r->log, t->staged, &t->how, e))
        return err_code(e);
    *left -= t->how.end - t->how.first;
    while (t->how.at < t->how.end && (*left >= 0 || sv_eq(t->thread, ANCHOR_THREAD)))
        if (log_stage_slice(&im->r->log, t->staged, &t->how, &im->replayed, e))
            return err_code(e);
    return ST_OK;
}

static enum status show(struct import *im, struct target *t, int64_t *left, struct err *e)
{
    if (t->dropped || t->head.rev == t->first) /* of the latter no line was taken */
        return ST_OK;
    return t->first ? decide(im, t, left, e) : log_publish(&im->r->log, t->staged, t->thread, e);
}

/* The transaction in which it becomes visible. */
static enum status show_all(struct import *im, struct err *e)
{
    struct target *global = map_find(&im->seen, ANCHOR_THREAD);
    int64_t        left = IMPORT_SLICE;
    enum status    s = log_begin(&im->r->log, im->p->thread, STORE_WRITE, e);

    if (!s)
        s = check_unmoved(im, e);
    if (!s && global)
        s = show(im, global, &left, e) ? err_code(e) : delete_again(im, e);
    for (size_t i = 0; !s && i < im->seen.n; i++)
        if (im->seen.items[i].value != global)
            s = show(im, im->seen.items[i].value, &left, e);
    if (!s && global)
        s = leave_files(im, e);
    if (!s)
        s = log_commit(&im->r->log, e);
    log_abort(&im->r->log);
    return s;
}

/* What was decided and is not there yet. */
static enum status move_all(struct import *im, struct err *e)
{
    for (size_t i = 0; i < im->seen.n; i++) {
        struct target *t = im->seen.items[i].value;
        if (log_stage_move(&im->r->log, t->staged, &t->how, &im->replayed, e)) {
            if (e->code != ST_CONFLICT || sv_is(sv_of(e->reason), "busy"))
                err_hint(e,
                         "%lld of its entries are in the log; the rest follows with the next "
                         "import, or with `heddle doctor --fix`",
                         (long long)(t->how.at - t->how.first));
            return err_code(e);
        }
        if (t->how.end) {
            t->head.rev = t->how.rev;
            t->first = t->how.moved;
        }
    }
    return ST_OK;
}

/* Is it the import that was interrupted, and that was ended just now? Then its lines are there. */
static bool was_ended(struct import *im)
{
    struct err ignored;
    bool       found = im->swept.moved.n > 0;

    while (found && !im->ended)
        found = read_slice(im, &ignored) == ST_OK;
    struct sv lines = hash_hex(&im->digest, im->r->a);
    found = false;
    for (size_t i = 0; i < im->swept.moved.n; i++) {
        const struct staged_moved *m = &im->swept.moved.v[i];
        struct target             *t = ARENA_NEW(im->r->a, struct target, 1);
        if (!sv_eq(m->lines, lines) || (im->p->thread.s && !sv_eq(m->into, im->p->thread)))
            continue;
        if (!found)
            im->seen = map_in(im->r->a);
        found = true;
        *t = (struct target){
            .thread = m->into, .first = m->first, .head.rev = m->end, .duplicate = true
        };
        map_put(&im->seen, t->thread, t);
        im->to = t;
    }
    return found;
}

/* Once it is shown, or it is not known whether it is, what is left of it is for who comes next. */
static enum status import_in_slices(struct import *im, struct err *e)
{
    bool shown = false;

    log_allow_staged(&im->r->log, true);
    log_bulk(&im->r->log, true);
    enum status s = stage_all(im, e);
    if (!s && !was_ended(im)) {
        s = show_all(im, e);
        shown = !s || sv_is(sv_of(e->reason), "uncertain");
        if (!s)
            s = move_all(im, e);
    }
    bool never = s == ST_CONFLICT && !sv_is(sv_of(e->reason), "busy"); /* can the rest follow */
    if (!s)
        e->code = ST_OK;
    if (!s || !shown || never)
        staged_drop(im->r, &im->r->log, &im->staged, e);
    log_bulk(&im->r->log, false);
    log_allow_staged(&im->r->log, false);
    return s;
}

/* Are there entries that lines may come behind? In a transaction. */
static enum status find_behind(struct import *im, struct err *e)
{
    struct store_head h = { 0 };
    struct sv        *ids;
    size_t            n = 0;
    enum status       s = im->p->thread.s ? log_head(&im->r->log, im->p->thread, &h, e)
                                          : log_thread_ids(&im->r->log, im->r->a, &ids, &n, e);

    im->behind = h.rev || n;
    return s;
}

/* A stream that ends with the first slice is imported in one transaction. */
static enum status import_all(struct import *im, struct err *e)
{
    int root = im->r->ws->root_fd;

    im->gone = map_in(im->r->a);
    im->heads = map_in(im->r->a);
    if (staged_sweep(im->r, &im->r->log, root, &im->swept, e))
        return err_code(e);
    /* What was erased here: found while others write; then what has changed since. */
    enum status s = log_begin(&im->r->log, im->p->thread, STORE_READ, e);
    if (!s)
        s = find_erased(im, e);
    if (!s)
        s = find_behind(im, e);
    log_abort(&im->r->log);
    if (!s)
        s = read_slice(im, e);
    if (!s && !im->ended && log_stages(&im->r->log))
        s = staged_take(root, im->r->a, &im->staged, e);
    if (!s && im->swept.moved.n && !im->staged.token.s && im->ended)
        s = was_ended(im) ? ST_OK : import_at_once(im, e);
    else if (!s)
        s = im->staged.token.s ? import_in_slices(im, e) : import_at_once(im, e);
    staged_release(&im->staged);
    return s == ST_CONFLICT && was_ended(im) ? ST_OK : s;
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
    appended_write(w, &(struct appended){ t->head.rev, t->first, t->head.rev - 1, t->duplicate });
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
                                       .seen = map_in(r->a),
                                       .staged.fd = -1 };

    if (check(r, p, e))
        return err_code(e);
    ARENA_NEW(&im.a, char, 1);
    im.start = arena_mark(&im.a);
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
        "All of it is written or none, and nobody sees a part of it, however long it is: while\n"
        "it is read others write. Only more than a few thousand lines for a thread that has\n"
        "entries are appended in parts, once all of them have been read and checked: others may\n"
        "see the first parts, and write between them. An import that was interrupted then is\n"
        "ended by the next one, or by `heddle doctor --fix`; before, it leaves nothing in any\n"
        "thread. It is refused (CONFLICT) when somebody wrote to one of its threads meanwhile.\n"
        "\n"
        "An import into a thread that has entries, which was killed after it was written and\n"
        "before it answered, cannot be told from a new one: repeated, it appends its lines again,\n"
        "unless they have an op_id each. Look first: `heddle log show T --tail 3`.\n"
        "\n"
        "Lines of `heddle log export` carry seq and chain, which\n"
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
