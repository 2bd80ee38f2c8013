/* `log import`: a file of any length, in memory that does not grow with it. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "front/cli/command.h"
#include "front/cli/log_batch.h"
#include "front/cli/progress.h"
#include "thread/erase.h"
#include "thread/kind.h"

#include <fcntl.h>

enum { IMPORT_BATCH = 1000, IMPORT_BATCH_BYTES = 4 << 20, GAP_MAX = 1000000, TOLD_MAX = 20 };

struct import_opts {
    bool salvage;
};

static const struct opt opts_table[] = {
    { OPT_FLAG, "salvage", NULL,
      "take a damaged export: every good line, with a stand-in for each that is missing or bad",
      offsetof(struct import_opts, salvage), 0 },
    { 0 },
};

struct import {
    struct app           *app;
    struct sv             thread;
    bool                  salvage;
    struct entry_defaults d;
    struct lines          in;
    struct arena          a; /* one batch */
    struct store_head     head;
    int64_t               first;
    int64_t               lost;             /* --salvage: entries that became lost_entry ... */
    int64_t               bad;              /* ... lines that could not be taken as they are ... */
    int64_t               told;             /* ... and how many lines of warnings were printed */
    struct batch_kept     kept;             /* what is not acted on */
    struct map            gone;             /* chain values of what was erased in this log */
    int64_t               erased, replayed; /* lines whose content does not come back */
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
    warn("%s", sb_sv(&b).s);
}

/* ---- reading --------------------------------------------------------------------------- */

/* A line that is not an entry: with --salvage it is told of and passed over. */
static enum status pass_over(struct import *im, struct batch *b, int64_t number, struct err *e)
{
    if (!im->salvage || e->code == ST_IO)
        return err_code(e);
    tell_line(im, number, e->text);
    im->bad++;
    if (b)
        b->lines.n--;
    return ST_OK;
}

/* The next lines, up to a batch. */
static enum status read_lines(struct import *im, struct batch *b, bool *more, struct err *e)
{
    struct sv line;

    *b = (struct batch){ .a = &im->a };
    while (b->lines.n < IMPORT_BATCH && b->bytes < IMPORT_BATCH_BYTES) {
        enum status s = lines_next(&im->in, &line, more, e);
        if (s == ST_LIMIT_EXCEEDED && im->salvage) {
            if (pass_over(im, NULL, im->in.number + 1, e) || lines_skip(&im->in, e))
                return err_code(e);
            *more = true;
            continue;
        }
        if (s)
            return s;
        if (!*more)
            break;
        if (sv_trim(line).n && batch_add(b, line, im->in.number, &im->d, e) &&
            pass_over(im, b, im->in.number, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status append_lines(struct import *im, const struct batch *b, struct err *e)
{
    struct entry *list = batch_entries(b, &im->a);

    for (size_t i = 0; i < b->lines.n; i++)
        if (b->lines.v[i].read.has_chain)
            erased_again(&im->gone, &list[i], &b->lines.v[i].read.chain, &im->a, &im->erased);
    if (batch_append(&im->app->log, im->thread, LOG_ANY_REV, b, list, &im->kept, &im->head, e))
        return err_code(e);
    return erase_replay(&im->app->log, im->thread, list, b->lines.n, &im->replayed, e);
}

/* ---- salvage --------------------------------------------------------------------------- */

static enum status append_one(struct import *im, struct entry *n, struct err *e)
{
    return log_import(&im->app->log, im->thread, n, 1, &im->head, batch_note_kept, &im->kept, e);
}

/* Entries before `seq` that the file no longer has: each gets a stand-in, so that every seq an
 * operation speaks of still means the same entry. */
static enum status fill_gap(struct import *im, int64_t seq, struct err *e)
{
    while (im->head.rev < seq) {
        struct entry n = {
            .at = im->d.at, .kind = SV("lost_entry"), .actor = im->d.actor, .payload = SV("{}")
        };
        if (append_one(im, &n, e))
            return err_code(e);
        im->lost++;
    }
    return ST_OK;
}

/* Would log_import() take it? Asked before, since a refusal ends the transaction. */
static enum status would_append(struct import *im, const struct entry *n, struct err *e)
{
    struct entry again = *n, old;
    bool         taken = false;

    if (kind_prepare(&again, e))
        again = *n; /* it is kept, and not acted on */
    if (entry_check(&again, e))
        return err_code(e);
    if (again.op_id.s &&
        store_find_op(im->app->log.store, im->thread, again.op_id, &im->a, &old, &taken, e))
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

/* Where the line belongs. A seq that the lines around it contradict is a damaged one: then the line
 * goes where it stands. */
static int64_t place_of(struct import *im, const struct batch *b, size_t i)
{
    const struct entry_line *l = &b->lines.v[i].read;
    const struct entry_line *next = i + 1 < b->lines.n ? &b->lines.v[i + 1].read : NULL;

    if (!l->has_seq || l->seq == im->head.rev)
        return im->head.rev;
    bool contradicted = next && next->has_seq && next->seq <= l->seq;
    if (l->seq > im->head.rev && l->seq - im->head.rev <= GAP_MAX && !contradicted)
        return l->seq;
    tell_line(im, b->lines.v[i].number, "its seq does not fit the lines around it");
    im->bad++;
    return im->head.rev;
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
            erased_again(&im->gone, n, &b->lines.v[i].read.chain, &im->a, &im->erased);
        if (would_append(im, n, &why)) {
            if (why.code == ST_IO) {
                *e = why;
                return err_code(e);
            }
            tell_line(im, b->lines.v[i].number, why.text);
            im->bad++;
            *n = stand_in(im, n, why.text);
        }
        if (append_one(im, n, e))
            return err_in(e, "line %lld", (long long)b->lines.v[i].number);
    }
    return ST_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

static enum status import_batches(struct import *im, struct err *e)
{
    struct progress p = progress_of("import", 0);
    bool            more = true;

    while (more) {
        struct arena_mark m = arena_mark(&im->a);
        struct batch      b;
        if (read_lines(im, &b, &more, e) || (im->first > 0 && batch_check_operations(&b, e)) ||
            (im->salvage ? salvage_lines(im, &b, e) : append_lines(im, &b, e)))
            return err_code(e);
        progress_at(&p, im->head.rev - im->first);
        arena_reset(&im->a, m);
    }
    progress_end(&p);
    return ST_OK;
}

static enum status import_all(struct import *im, struct err *e)
{
    if (log_begin(&im->app->log, im->thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = store_head(im->app->log.store, im->thread, &im->head, e);
    im->first = im->head.rev;
    if (!s)
        s = erased_chains(&im->app->log, im->app->a, &im->gone, e);
    if (!s)
        s = import_batches(im, e);
    if (!s)
        s = log_commit(&im->app->log, e);
    log_abort(&im->app->log); /* nothing is open any more when all went well */
    return s;
}

static enum status open_input(struct app *app, int *opened, struct err *e)
{
    struct sv file = app_arg(app, 1);

    if (!file.n || sv_is(file, "-"))
        return ST_OK;
    *opened = open(sv_cstr(file, app->a), O_RDONLY | O_CLOEXEC);
    return *opened < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(file)) : ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct import_opts *o = opts;
    struct import             im = { .app = app,
                                     .thread = app_arg(app, 0),
                                     .salvage = o->salvage,
                                     .d = { clock_now_ms(), LANE_DEFAULT, app->actor } };
    UNDO(fd_undo) int         opened = -1;

    if (open_input(app, &opened, e))
        return err_code(e);
    im.in = lines_of(opened < 0 ? 0 : opened, LINE_BYTES_MAX, app->a);
    enum status s = import_all(&im, e);
    arena_free(&im.a);
    if (s == ST_INVALID_SYNTAX && !o->salvage && !e->hint[0])
        return err_hint(e, "nothing was written; --salvage takes every good line of the file");
    if (s)
        return s;
    if (im.lost)
        warn("%lld missing %s became lost_entry", (long long)im.lost,
             im.lost == 1 ? "entry" : "entries");
    batch_tell_kept(&im.kept);
    if (im.erased + im.replayed)
        warn("%lld entries were erased, and come in without their content",
             (long long)(im.erased + im.replayed));
    if (im.replayed && store_scrub(app->log.store, NULL, NULL, e))
        return err_in(e, "after an erasure");
    if (im.bad)
        warn("%lld line%s could not be taken as %s", (long long)im.bad, im.bad == 1 ? "" : "s",
             im.bad == 1 ? "it is" : "they are");
    print_appended(app, im.head.rev, im.first, im.head.rev - 1, false);
    return ST_OK;
}

const struct command cmd_log_import = {
    .name = "log import",
    .synopsis = "T [FILE|-] [--salvage]",
    .group = GROUP_LOG,
    .summary = "Append the JSON Lines of a file of any length",
    .details =
        "All of it is written or none. Lines of `heddle log export` carry seq and chain, which\n"
        "are checked: into an empty thread they must come out the same. With --salvage they need\n"
        "not: of a damaged export every good line comes in. A missing entry becomes a lost_entry,\n"
        "so that all others keep their seq; a line that is not an entry is passed over; one that\n"
        "a log would refuse becomes a damaged_entry that holds it. All of this is said.\n"
        "\n"
        "What was erased in this log, in whatever thread, comes in without its content again.\n"
        "\n"
        "An entry that its kind does not allow is kept, is not acted on and is warned of;\n"
        "`heddle verify` names each.\n\n"
        "  heddle log export design | heddle log import copy",
    .opts = opts_table,
    .opts_size = sizeof(struct import_opts),
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run,
};
