/* `log append | show | export | import`: the log itself, as JSON Lines. */
#include "base/clock.h"
#include "base/lines.h"
#include "base/vec.h"
#include "front/cli/command.h"
#include "front/progress.h"
#include "thread/entry_json.h"
#include "thread/kind.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = ENTRY_PAYLOAD_MAX + ENTRY_REFS_MAX + 4096 };

/* ---- append ----------------------------------------------------------------------- */

struct append_opts {
    struct sv lane, op_id;
    int64_t   expect;
};

static const struct opt append_opts[] = {
    { OPT_TEXT, "lane", "L", "lane of lines that name none (default: default)",
      offsetof(struct append_opts, lane), 0 },
    { OPT_NUMBER, "expect", "REV", "append only if the thread has exactly REV entries",
      offsetof(struct append_opts, expect), 0 },
    { OPT_TEXT, "op-id", "ID", "append at most once: repeating it with the same lines is harmless",
      offsetof(struct append_opts, op_id), 0 },
    { 0 },
};

struct batch {
    VEC(struct entry_line) lines;
    struct arena *a;
};

/* All lines of stdin. The first bad one is named. */
static enum status read_batch(struct app *app, const struct entry_defaults *d, struct batch *b,
                              struct err *e)
{
    struct lines in = lines_of(0, LINE_BYTES_MAX, app->a);
    struct sv    line;
    bool         more = true;

    b->a = app->a;
    for (;;) {
        if (lines_next(&in, &line, &more, e))
            return e->code;
        if (!more)
            return ST_OK;
        if (!sv_trim(line).n)
            continue;
        struct entry_line *one = vec_push(&b->lines, app->a);
        if (entry_read(sv_dup(line, app->a), d, app->a, one, e))
            return err_in(e, "line %lld", (long long)in.number);
        if (b->lines.n > BATCH_ENTRIES_MAX) {
            err_set(e, ST_LIMIT_EXCEEDED, "more than %d lines in one append", BATCH_ENTRIES_MAX);
            return err_hint(e, "`heddle log import` takes files of any length");
        }
    }
}

static struct entry *entries_of(const struct batch *b, struct arena *a)
{
    struct entry *list = ARENA_NEW(a, struct entry, b->lines.n + 1);

    for (size_t i = 0; i < b->lines.n; i++)
        list[i] = b->lines.v[i].entry;
    return list;
}

static bool same_content(const struct entry *a, const struct entry *b)
{
    return sv_eq(a->kind, b->kind) && sv_eq(a->payload, b->payload) && sv_eq(a->refs, b->refs);
}

/* The batch was appended before under its op_id: is it the same, and where? */
static enum status find_repeated(struct app *app, struct sv thread, struct sv op_id,
                                 const struct entry *list, size_t n, int64_t *first, bool *found,
                                 struct err *e)
{
    struct entry old;

    if (store_find_op(app->log.store, thread, op_id, app->a, &old, found, e))
        return e->code;
    if (!*found)
        return ST_OK;
    *first = old.seq;
    for (size_t i = 0; i < n; i++) {
        struct store_query q = { .thread = thread,
                                 .from = *first + (int64_t)i,
                                 .to = *first + (int64_t)i };
        bool               there;
        if (store_first(app->log.store, &q, app->a, &old, &there, e))
            return e->code;
        if (!there || !same_content(&old, &list[i])) {
            err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' was used before, with other content",
                    SV_ARG(op_id));
            err_reason(e, "op_id");
            return err_hint(e, "use a new --op-id for new lines");
        }
    }
    return ST_OK;
}

static void print_appended(struct app *app, int64_t rev, int64_t first, int64_t last,
                           bool duplicate)
{
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        if (last < first)
            sb_addf(&app->out, "nothing appended; revision %lld\n", (long long)rev);
        else
            sb_addf(&app->out, "%s %lld to %lld; revision %lld\n",
                    duplicate ? "already there: entries" : "appended entries", (long long)first,
                    (long long)last, (long long)rev);
        return;
    }
    jw_open(&w, '{');
    if (duplicate)
        jw_kbool(&w, "duplicate", true);
    jw_kint(&w, "first_seq", first);
    jw_kint(&w, "last_seq", last);
    jw_kint(&w, "rev", rev);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status append_batch(struct app *app, struct sv thread, const struct append_opts *o,
                                struct entry *list, size_t n, struct err *e)
{
    struct store_head head;
    int64_t           first = 0;
    bool              repeated = false;

    if (o->op_id.n && n) {
        list[0].op_id = o->op_id;
        if (find_repeated(app, thread, o->op_id, list, n, &first, &repeated, e))
            return e->code;
    }
    if (repeated) {
        if (store_head(app->log.store, thread, &head, e))
            return e->code;
        print_appended(app, head.rev, first, first + (int64_t)n - 1, true);
        return ST_OK;
    }
    if (log_append(&app->log, thread, o->expect == OPT_UNSET ? LOG_ANY_REV : o->expect, list, n,
                   &head, e))
        return e->code;
    print_appended(app, head.rev, head.rev - (int64_t)n, head.rev - 1, false);
    return log_commit(&app->log, e);
}

static enum status run_append(struct app *app, const void *opts, struct err *e)
{
    const struct append_opts *o = opts;
    struct entry_defaults d = { clock_now_ms(), o->lane.n ? o->lane : LANE_DEFAULT, app->actor };
    struct batch          b = { 0 };
    struct sv             thread = app_arg(app, 0);

    if (read_batch(app, &d, &b, e))
        return e->code;
    if (log_begin(&app->log, thread, STORE_WRITE, e))
        return e->code;
    enum status s = append_batch(app, thread, o, entries_of(&b, app->a), b.lines.n, e);
    log_abort(&app->log); /* nothing is open any more when all went well */
    return s;
}

const struct command cmd_log_append = {
    .name = "log append",
    .synopsis = "T [--lane L] [--expect REV] [--op-id ID]",
    .group = GROUP_LOG,
    .summary = "Append entries to a thread, read as JSON Lines from stdin",
    .details =
        "Each line is {\"kind\":…,\"payload\":{…}}, with optional id, at (milliseconds), lane, "
        "refs,\n"
        "actor and op_id. The thread comes into being with its first entry. All lines are\n"
        "written or none; when the command returns they are on the disk.\n"
        "\n"
        "  echo '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"hi\"}}' |\n"
        "      heddle log append t1 --json",
    .opts = append_opts,
    .opts_size = sizeof(struct append_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .run = run_append,
};

/* ---- show and export ----------------------------------------------------------------- */

struct show_opts {
    int64_t from, to;
};

static const struct opt show_opts[] = {
    { OPT_NUMBER, "from", "SEQ", "first entry", offsetof(struct show_opts, from), 0 },
    { OPT_NUMBER, "to", "SEQ", "last entry", offsetof(struct show_opts, to), 0 },
    { 0 },
};

/* kind lane #seq time actor, then the payload on the next line. */
static void show_entry(struct app *app, const struct entry *n)
{
    struct sb *out = &app->out;

    sb_addf(out, "#%lld ", (long long)n->seq);
    sb_add_iso_ms(out, n->at);
    sb_addf(out, " " SV_FMT, SV_ARG(n->kind));
    if (n->lane.s)
        sb_addf(out, " lane:" SV_FMT, SV_ARG(n->lane));
    sb_addf(out, " by " SV_FMT " " SV_FMT "\n    ", SV_ARG(n->actor.n ? n->actor : SV("-")),
            SV_ARG(entry_id(n, app->a)));
    sb_add_plain(out, n->payload);
    if (!sv_is(n->refs, "{}")) {
        sb_adds(out, "\n    refs ");
        sb_add_plain(out, n->refs);
    }
    sb_addc(out, '\n');
}

static enum status not_found(struct sv thread, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(thread));
    return err_hint(e, "`heddle stats` lists the threads of this workspace");
}

static enum status each_entry(struct app *app, const struct show_opts *o, bool as_json,
                              struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = app_arg(app, 0),
                                                   .from = o->from == OPT_UNSET ? 0 : o->from,
                                                   .to = o->to == OPT_UNSET ? STORE_TO_END : o->to };
    struct store_head                        head;
    struct entry                             n;
    bool                                     more = true;

    if (store_head(app->log.store, q.thread, &head, e))
        return e->code;
    if (!head.rev)
        return not_found(q.thread, e);
    struct progress p = progress_of("export", head.rev);
    if (store_scan(app->log.store, &q, &scan, e))
        return e->code;
    for (;;) {
        struct arena_mark m = arena_mark(app->a);
        if (store_next(scan, &n, &more, e))
            return e->code;
        if (!more)
            break;
        if (as_json) {
            entry_write(&app->out, &n);
            sb_addc(&app->out, '\n');
        } else {
            show_entry(app, &n);
        }
        arena_reset(app->a, m);
        progress_at(&p, n.seq);
    }
    progress_end(&p);
    return ST_OK;
}

static enum status run_show(struct app *app, const void *opts, struct err *e)
{
    return each_entry(app, opts, app->json, e);
}

static enum status run_export(struct app *app, const void *opts, struct err *e)
{
    return each_entry(app, opts, true, e);
}

const struct command cmd_log_show = {
    .name = "log show",
    .synopsis = "T [--from SEQ] [--to SEQ]",
    .group = GROUP_LOG,
    .summary = "Show the entries of a thread, oldest first",
    .opts = show_opts,
    .opts_size = sizeof(struct show_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_show,
};

const struct command cmd_log_export = {
    .name = "log export",
    .synopsis = "T [--from SEQ] [--to SEQ]",
    .group = GROUP_LOG,
    .summary = "Write the entries of a thread as JSON Lines, loss-free",
    .details =
        "`heddle log import` reads them back: into an empty thread, they give the same chain.\n"
        "From a damaged database it writes what can be read and then fails.",
    .opts = show_opts,
    .opts_size = sizeof(struct show_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_export,
};

/* ---- import --------------------------------------------------------------------------- */

enum { IMPORT_BATCH = 1000, IMPORT_BATCH_BYTES = 4 << 20 };

struct import {
    struct app           *app;
    struct sv             thread;
    struct entry_defaults d;
    struct lines          in;
    struct arena          a; /* one batch */
    struct store_head     head;
    int64_t               first;
};

/* The next lines, up to a batch. */
static enum status import_read(struct import *im, struct batch *b, bool *more, struct err *e)
{
    struct sv line;
    size_t    bytes = 0;

    *b = (struct batch){ .a = &im->a };
    while (b->lines.n < IMPORT_BATCH && bytes < IMPORT_BATCH_BYTES) {
        if (lines_next(&im->in, &line, more, e))
            return e->code;
        if (!*more)
            break;
        if (!sv_trim(line).n)
            continue;
        bytes += line.n;
        if (entry_read(sv_dup(line, &im->a), &im->d, &im->a, vec_push(&b->lines, &im->a), e))
            return err_in(e, "line %lld", (long long)im->in.number);
    }
    return ST_OK;
}

/* What an export said of its entries must hold for what was just appended. */
static enum status import_check(const struct import *im, const struct batch *b,
                                const struct entry *list, struct err *e)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        const struct entry_line *l = &b->lines.v[i];
        if (l->has_seq && l->seq != list[i].seq) {
            err_set(e, ST_CONFLICT, "entry %lld of the file would become entry %lld",
                    (long long)l->seq, (long long)list[i].seq);
            return err_hint(e, "import an export into a thread that has no entries");
        }
        if (l->has_chain && !hash_eq(&l->chain, &list[i].chain)) {
            err_set(e, ST_CORRUPT,
                    "entry %lld does not match its chain value: the file was changed",
                    (long long)list[i].seq);
            return err_hint(
                e, "remove \"chain\" and \"seq\" from its lines to import it all the same");
        }
    }
    (void)im;
    return ST_OK;
}

static enum status import_batches(struct import *im, struct err *e)
{
    struct progress p = progress_of("import", 0);
    bool            more = true;

    while (more) {
        struct arena_mark m = arena_mark(&im->a);
        struct batch      b;
        if (import_read(im, &b, &more, e))
            return e->code;
        struct entry *list = entries_of(&b, &im->a);
        if (log_append(&im->app->log, im->thread, LOG_ANY_REV, list, b.lines.n, &im->head, e) ||
            import_check(im, &b, list, e))
            return err_in(e, "near line %lld", (long long)im->in.number);
        progress_at(&p, im->head.rev - im->first);
        arena_reset(&im->a, m);
    }
    progress_end(&p);
    return ST_OK;
}

static enum status open_input(struct app *app, int *fd, struct err *e)
{
    struct sv file = app_arg(app, 1);

    *fd = 0;
    if (!file.n || sv_is(file, "-"))
        return ST_OK;
    *fd = open(sv_cstr(file, app->a), O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(file)) : ST_OK;
}

static enum status run_import(struct app *app, const void *opts, struct err *e)
{
    struct import im = { .app = app,
                         .thread = app_arg(app, 0),
                         .d = { clock_now_ms(), LANE_DEFAULT, app->actor } };
    int           fd;

    (void)opts;
    if (open_input(app, &fd, e))
        return e->code;
    im.in = lines_of(fd, LINE_BYTES_MAX, app->a);
    enum status s = log_begin(&app->log, im.thread, STORE_WRITE, e);
    if (!s) {
        s = store_head(app->log.store, im.thread, &im.head, e);
        im.first = im.head.rev;
        if (!s)
            s = import_batches(&im, e);
        if (!s)
            s = log_commit(&app->log, e);
        log_abort(&app->log);
    }
    if (fd)
        close(fd);
    arena_free(&im.a);
    if (!s)
        print_appended(app, im.head.rev, im.first, im.head.rev - 1, false);
    return s;
}

const struct command cmd_log_import = {
    .name = "log import",
    .synopsis = "T [FILE|-]",
    .group = GROUP_LOG,
    .summary = "Append the JSON Lines of a file of any length",
    .details =
        "All of it is written or none. Lines of `heddle log export` carry seq and chain, which\n"
        "are checked: into an empty thread they must come out the same.",
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run_import,
};
