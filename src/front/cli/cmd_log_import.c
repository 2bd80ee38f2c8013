/* `log import`: a file of any length, in memory that does not grow with it. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/lines.h"
#include "front/cli/command.h"
#include "front/cli/log_batch.h"
#include "front/progress.h"
#include "thread/kind.h"

#include <fcntl.h>

enum { IMPORT_BATCH = 1000, IMPORT_BATCH_BYTES = 4 << 20, GAP_MAX = 1000000 };

struct import_opts {
    bool salvage;
};

static const struct opt opts_table[] = {
    { OPT_FLAG, "salvage", NULL,
      "take a damaged export: chain values are not checked, a missing entry becomes a lost_entry",
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
    int64_t               first, lost;
    struct batch_kept     kept; /* what is not acted on */
};

/* The next lines, up to a batch. */
static enum status read_lines(struct import *im, struct batch *b, bool *more, struct err *e)
{
    struct sv line;

    *b = (struct batch){ .a = &im->a };
    while (b->lines.n < IMPORT_BATCH && b->bytes < IMPORT_BATCH_BYTES) {
        if (lines_next(&im->in, &line, more, e))
            return err_code(e);
        if (!*more)
            break;
        if (sv_trim(line).n && batch_add(b, line, im->in.number, &im->d, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status append_lines(struct import *im, const struct batch *b, struct err *e)
{
    return batch_append(&im->app->log, im->thread, LOG_ANY_REV, b, batch_entries(b, &im->a),
                        &im->kept, &im->head, e);
}

/* Entries before `seq` that the file no longer has: each gets a stand-in, so that every seq an
 * operation speaks of still means the same entry. */
static enum status fill_gap(struct import *im, int64_t seq, struct err *e)
{
    while (im->head.rev < seq) {
        struct entry n = {
            .at = im->d.at, .kind = SV("lost_entry"), .actor = im->d.actor, .payload = SV("{}")
        };
        if (log_append(&im->app->log, im->thread, LOG_ANY_REV, &n, 1, &im->head, e))
            return err_code(e);
        im->lost++;
    }
    return ST_OK;
}

/* One by one: a gap may be anywhere. */
static enum status salvage_lines(struct import *im, const struct batch *b, struct err *e)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        struct batch_line *l = &b->lines.v[i];
        if (l->read.has_seq && l->read.seq - im->head.rev > GAP_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "line %lld: more than %d entries are missing",
                           (long long)l->number, GAP_MAX);
        if (l->read.has_seq && fill_gap(im, l->read.seq, e))
            return err_code(e);
        if (log_import(&im->app->log, im->thread, &l->read.entry, 1, &im->head, batch_note_kept,
                       &im->kept, e))
            return err_in(e, "line %lld", (long long)l->number);
    }
    return ST_OK;
}

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
    if (s)
        return s;
    if (im.lost)
        warn("%lld missing entries became lost_entry", (long long)im.lost);
    batch_tell_kept(&im.kept);
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
        "not: an export of a damaged log comes in with a stand-in for each missing entry. An\n"
        "entry that its kind does not allow is kept, is not acted on and is warned of;\n"
        "`heddle verify` names each.\n\n"
        "  heddle log export design | heddle log import copy",
    .opts = opts_table,
    .opts_size = sizeof(struct import_opts),
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run,
};
