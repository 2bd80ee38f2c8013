/* `verify`, `stats`, `doctor`: is it whole, how large is it, what is wrong with it. */
#include "base/note.h"
#include "front/cli/command.h"
#include "front/cli/doctor.h"
#include "front/cli/progress.h"
#include "share/share.h"
#include "thread/anchor.h"

#include <stdlib.h>

enum { PINS_MAX = 64 << 20 };

struct findings {
    struct app *app;
    int64_t     n, n_ignored, n_erased;
    struct jw  *w;       /* with --json: an open list of text */
    struct jw  *ignored; /* with --json: one more, of entries that are kept and not acted on */
};

static void say(void *ctx, struct sv finding)
{
    struct findings *f = ctx;

    f->n++;
    if (f->w) {
        jw_str(f->w, finding);
        return;
    }
    sb_adds(&f->app->out, "  ✗ ");
    sb_add_plain(&f->app->out, finding);
    sb_addc(&f->app->out, '\n');
}

/* Not wrong, and worth knowing: on stderr, so that the answer stays what it is. */
static void remark(void *ctx, struct sv text)
{
    struct findings *f = ctx;
    struct sb        b = sb_in(f->app->a, 0);

    sb_add_plain(&b, text);
    warn("%s", sb_sv(&b).s);
}

static void say_ignored(void *ctx, struct sv finding)
{
    struct findings *f = ctx;

    f->n_ignored++;
    if (f->ignored) {
        jw_str(f->ignored, finding);
        return;
    }
    sb_adds(&f->app->out, "  · ");
    sb_add_plain(&f->app->out, finding);
    sb_addc(&f->app->out, '\n');
}

static enum status threads_of(struct app *app, struct store_thread **list, size_t *n, struct err *e)
{
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = store_threads(app->log.store, app->a, list, n, e);
    log_abort(&app->log);
    return s;
}

/* ---- verify ------------------------------------------------------------------------ */

static enum status verify_all(struct app *app, const struct store_thread *list, size_t n,
                              struct findings *f, int64_t *entries, struct err *e)
{
    struct progress     p = progress_of("verify: threads", (int64_t)n);
    struct log_findings to = { say, say_ignored, f, &f->n_erased };

    for (size_t i = 0; i < n; i++) {
        int64_t     read = 0;
        enum status s = log_examine(&app->log, list[i].id, &to, &read, e);
        if (s == ST_NOT_FOUND) /* it names the thread */
            return s;
        if (s == ST_CORRUPT || s == ST_INVALID_SYNTAX) { /* the other threads may be whole */
            err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
            say(f, sv_of(e->text));
        } else if (s) {
            return err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
        }
        *entries += read;
        progress_at(&p, (int64_t)i + 1);
    }
    progress_end(&p);
    return ST_OK;
}

/* What .global says of where the logs ended. */
static enum status verify_anchors(struct app *app, struct findings *f, struct err *e)
{
    int64_t n;

    if (app->n_args && !sv_eq(app_arg(app, 0), ANCHOR_THREAD))
        return ST_OK;
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = anchor_check(&app->log, say, f, &n, e);
    log_abort(&app->log);
    return s;
}

/* The files below .leslie/ are a view too. */
static enum status verify_files(struct app *app, struct findings *f, struct err *e)
{
    struct share s;

    share_init(&s, &app->log, app->ws.root_fd, app->actor, app->a);
    return share_verify(&s, say, remark, f, e);
}

static void verify_json(struct app *app, const struct findings *f, struct sv findings,
                        struct sv ignored, int64_t entries, size_t threads)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_kint(&w, "entries", entries);
    jw_kint(&w, "erased", f->n_erased);
    jw_key(&w, "findings");
    jw_raw(&w, findings);
    jw_key(&w, "ignored");
    jw_raw(&w, ignored);
    jw_kbool(&w, "ok", f->n == 0);
    jw_kint(&w, "threads", (int64_t)threads);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

struct verify_opts {
    struct sv pin, signed_note, key;
};

static const struct opt verify_opts[] = {
    { OPT_TEXT, "pin", "FILE",
      "only check that the heads of FILE (`heddle head --json`) are still there; - is stdin",
      offsetof(struct verify_opts, pin), 0 },
    { OPT_TEXT, "signed", "FILE", "the same for a note of `heddle head --sign`",
      offsetof(struct verify_opts, signed_note), 0 },
    { OPT_TEXT, "key", "PUB", "public key of who signed it: the text, or a file that holds it",
      offsetof(struct verify_opts, key), 0 },
    { 0 },
};

static enum status check_pins(struct app *app, const struct pin *pins, size_t n, struct findings *f,
                              struct err *e)
{
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = ST_OK;
    for (size_t i = 0; i < n && !s; i++)
        s = pin_check(&app->log, &pins[i], say, f, e);
    log_abort(&app->log);
    return s;
}

static void pins_json(struct app *app, struct sv findings, size_t n, bool ok)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_key(&w, "findings");
    jw_raw(&w, findings);
    jw_kbool(&w, "ok", ok);
    jw_kint(&w, "pins", (int64_t)n);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

/* The pins of a signed note, once its signature holds. */
static enum status open_note(struct app *app, struct sv key, struct sv note, struct sv *pins,
                             struct err *e)
{
    struct sv text;

    if (!sv_has(key, '+') && app_file(app, key, PINS_MAX, &key, e))
        return err_in(e, "--key");
    if (note_open(note, key, app->a, &text, e))
        return err_code(e);
    if (!sv_starts(text, SV(HEADS_NOTE))) {
        err_set(e, ST_INVALID_SYNTAX, "the note is signed, but says nothing about heads");
        return err_hint(e, "`heddle head --sign KEY` prints one that does");
    }
    *pins = sv_skip(text, sizeof HEADS_NOTE - 1);
    return ST_OK;
}

static enum status verify_pins(struct app *app, struct sv file, struct sv key, struct err *e)
{
    struct sb       text = sb_in(app->a, 0);
    struct jw       w = jw_in(&text, 0);
    struct findings f = { .app = app, .w = app->json ? &w : NULL };
    struct pin     *pins;
    struct sv       bytes;
    size_t          n;

    if ((sv_is(file, "-") ? app_text(app, file, &bytes, e)
                          : app_file(app, file, PINS_MAX, &bytes, e)) ||
        (key.s && open_note(app, key, bytes, &bytes, e)) || pins_read(bytes, app->a, &pins, &n, e))
        return err_in(e, SV_FMT, SV_ARG(file));
    jw_open(&w, '[');
    if (check_pins(app, pins, n, &f, e))
        return err_code(e);
    jw_close(&w, ']');
    if (app->json) {
        pins_json(app, sb_sv(&text), n, f.n == 0);
        app->json = false;
    } else if (!f.n) {
        sb_addf(&app->out, "✓ %zu pinned head%s still there\n", n, n == 1 ? " is" : "s are");
    }
    if (!f.n)
        return ST_OK;
    err_set(e, ST_CORRUPT, "%lld of %zu pinned heads differ", (long long)f.n, n);
    return err_hint(e, "the database is an older copy, or was changed outside heddle");
}

static enum status run_verify(struct app *app, const void *opts, struct err *e)
{
    const struct verify_opts *o = opts;
    struct store_thread      *list, one = { .id = app_arg(app, 0) };
    struct sb                 text = sb_in(app->a, 0); /* printed only when all went well */
    struct sb                 more = sb_in(app->a, 0);
    struct jw                 w = jw_in(&text, 0), w2 = jw_in(&more, 0);
    struct findings           f = { .app = app,
                                    .w = app->json ? &w : NULL,
                                    .ignored = app->json ? &w2 : NULL };
    int64_t                   entries = 0;
    size_t                    n = 1;

    if (o->signed_note.s && command_need("verify", "key", o->key, e))
        return err_code(e);
    if (o->signed_note.s)
        return verify_pins(app, o->signed_note, o->key, e);
    if (o->pin.s)
        return verify_pins(app, o->pin, (struct sv){ 0 }, e);
    if (app->n_args)
        list = &one;
    else if (threads_of(app, &list, &n, e))
        return err_code(e);
    jw_open(&w, '[');
    jw_open(&w2, '[');
    if (!app->n_args && store_check(app->log.store, say, &f, e))
        return err_code(e);
    if (verify_all(app, list, n, &f, &entries, e) || verify_anchors(app, &f, e) ||
        ((!app->n_args || sv_eq(one.id, SHARE_GLOBAL)) && verify_files(app, &f, e)))
        return err_code(e);
    jw_close(&w, ']');
    jw_close(&w2, ']');
    if (app->json) {
        verify_json(app, &f, sb_sv(&text), sb_sv(&more), entries, n);
        app->json = false; /* the document is out; a failure is told on stderr */
    } else if (!f.n) {
        sb_addf(&app->out, "✓ %zu thread%s, ", n, n == 1 ? "" : "s");
        sb_add_commas(&app->out, entries);
        sb_addf(&app->out, " entr%s: chain and views agree\n", entries == 1 ? "y" : "ies");
        if (f.n_erased)
            sb_addf(&app->out, "  %lld erased\n", (long long)f.n_erased);
        if (f.n_ignored)
            sb_addf(&app->out, "  %lld of them %s kept and not acted on\n", (long long)f.n_ignored,
                    f.n_ignored == 1 ? "is" : "are");
    }
    if (!f.n)
        return ST_OK;
    err_set(e, ST_CORRUPT, "%lld difference%s found", (long long)f.n, f.n == 1 ? "" : "s");
    return err_hint(e, "`heddle doctor --fix` makes views and files below .leslie/ anew; a broken "
                       "chain means that entries were changed outside heddle");
}

const struct command cmd_verify = {
    .name = "verify",
    .synopsis = "[T] [--pin FILE] [--signed FILE --key PUB]",
    .group = GROUP_CARE,
    .summary = "Recompute the chain and every view, and compare",
    .details =
        "Names each difference and exits with 1 if there is any. An entry that its kind does not\n"
        "allow, which only an import brings in, is named too: it is kept and not acted on. The\n"
        "files below .leslie/ are compared with what the log gives, and frozen copies with their\n"
        "hashes. That the end of a log was cut off shows too, since each append records where it\n"
        "ends.\n"
        "\n"
        "With --pin only the pinned heads are compared, one read each: an entry that was pinned\n"
        "must be there, with the chain value it had. --signed does so for a signed note, whose\n"
        "signature is checked first.\n\n"
        "  heddle verify design\n"
        "  heddle head --json | heddle verify --pin -",
    .opts = verify_opts,
    .opts_size = sizeof(struct verify_opts),
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run_verify,
};

/* ---- stats -------------------------------------------------------------------------- */

static void stats_json(struct app *app, const struct store_stats *st,
                       const struct store_thread *list, size_t n)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_kint(&w, "blobs", st->blobs);
    jw_kint(&w, "entries", st->entries);
    jw_kint(&w, "file_bytes", st->file_bytes);
    jw_kint(&w, "free_bytes", st->free_bytes);
    jw_kint(&w, "rows", st->rows);
    jw_kint(&w, "schema", st->schema);
    jw_key(&w, "threads");
    jw_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(&w, '{');
        jw_kstr(&w, "id", list[i].id);
        jw_kint(&w, "rev", list[i].head.rev);
        jw_kint(&w, "updated", list[i].head.updated);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    jw_kint(&w, "wal_bytes", st->wal_bytes);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static void row(struct sb *out, const char *name, int64_t value, const char *unit)
{
    sb_addf(out, "%-16s ", name);
    sb_add_commas(out, value);
    sb_addf(out, "%s\n", unit);
}

static enum status run_stats(struct app *app, const void *opts, struct err *e)
{
    struct store_stats   st;
    struct store_thread *list;
    size_t               n;

    (void)opts;
    if (store_stats(app->log.store, &st, e) || threads_of(app, &list, &n, e))
        return err_code(e);
    if (app->json) {
        stats_json(app, &st, list, n);
        return ST_OK;
    }
    row(&app->out, "threads", st.threads, "");
    row(&app->out, "entries", st.entries, "");
    row(&app->out, "view rows", st.rows, "");
    row(&app->out, "large payloads", st.blobs, "");
    row(&app->out, "file", st.file_bytes, " bytes");
    row(&app->out, "write-ahead log", st.wal_bytes, " bytes");
    row(&app->out, "free in file", st.free_bytes, " bytes");
    for (size_t i = 0; i < n; i++) {
        sb_addf(&app->out, "  %-32.*s ", SV_ARG(list[i].id));
        if (list[i].damaged) {
            sb_adds(&app->out, "damaged: `heddle doctor` says more\n");
            continue;
        }
        sb_add_commas(&app->out, list[i].head.rev);
        sb_adds(&app->out, list[i].head.rev == 1 ? " entry\n" : " entries\n");
    }
    return ST_OK;
}

const struct command cmd_stats = {
    .name = "stats",
    .synopsis = "",
    .group = GROUP_CARE,
    .summary = "Count threads and entries and the bytes they take",
    .details =
        "One line for each thread that has a log; .global is what the workspace knows of threads,\n"
        "objectives and agents.",
    .needs = NEEDS_LOG,
    .run = run_stats,
};

/* ---- doctor ---------------------------------------------------------------------------- */

struct doctor_opts {
    bool compact, rebuild, fix;
};

static const struct opt doctor_opts[] = {
    { OPT_FLAG, "fix", NULL, "do what is harmless: modes, temporary files, views, copies",
      offsetof(struct doctor_opts, fix), 0 },
    { OPT_FLAG, "compact", NULL, "empty the write-ahead log, give free pages back",
      offsetof(struct doctor_opts, compact), 0 },
    { OPT_FLAG, "rebuild", NULL, "fold every view anew from entry 0",
      offsetof(struct doctor_opts, rebuild), 0 },
    { 0 },
};

static enum status rebuild_all(struct app *app, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (threads_of(app, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (doctor_rebuild(app, list[i].id, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
    return ST_OK;
}

/* --rebuild and --compact, before anything is looked at. The log is closed again, so that the
 * checks open it as they need it. */
static enum status work_first(struct app *app, const struct doctor_opts *o, struct err *e)
{
    if (!o->rebuild && !o->compact)
        return ST_OK;
    if (app_open_log(app, STORE_WRITE, e) || (o->rebuild && rebuild_all(app, e)) ||
        (o->compact && store_compact(app->log.store, e)))
        return err_code(e);
    store_close(app->log.store);
    app->log.store = NULL;
    return ST_OK;
}

static void tell_work(struct app *app, const struct doctor_opts *o)
{
    if (app->json)
        return;
    if (o->rebuild)
        sb_adds(&app->out, "  ✓ views were folded anew\n");
    if (o->compact)
        sb_adds(&app->out, "  ✓ compacted\n");
}

/* Without a log there is nothing to examine: that is not damage. */
static enum status check_workspace(struct app *app, struct err *e)
{
    if (app->ws.has_heddle || getenv("HEDDLE_STORE"))
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "there is no log at " SV_FMT, SV_ARG(app->ws.root));
    return err_hint(e, "`heddle init` makes one here; --root names another workspace");
}

/* What everybody can write is refused to other commands; this one can mend it. */
static enum status read_settings(struct app *app, struct err *e)
{
    if (app_read_settings(app, e) == ST_OK)
        return ST_OK;
    if (strcmp(e->reason, "open_to_others") != 0)
        return err_code(e);
    app->root_named = true;
    return app_read_settings(app, e);
}

static enum status run_doctor(struct app *app, const void *opts, struct err *e)
{
    const struct doctor_opts *o = opts;

    if (read_settings(app, e) || check_workspace(app, e) || work_first(app, o, e))
        return err_code(e);
    struct doctor_result r = doctor_run(app, o->fix);
    tell_work(app, o);
    app->json = false; /* the document is out; a failure is told on stderr */
    if (!r.problems)
        return ST_OK;
    err_set(e, r.first, "%lld problem%s found", (long long)r.problems, r.problems == 1 ? "" : "s");
    return err_hint(e, "%s%s",
                    o->fix ? "this is left after what --fix could do"
                           : "`heddle doctor --fix` does what is harmless",
                    r.log_damaged ? "; `heddle log export T > T.jsonl` saves what is readable of a "
                                    "damaged log, and `heddle log import T --salvage` takes it "
                                    "into a new workspace"
                                  : "");
}

const struct command cmd_doctor = {
    .name = "doctor",
    .synopsis = "[--fix] [--compact] [--rebuild]",
    .group = GROUP_CARE,
    .summary = "Say what is whole and what is not, and what to do about it",
    .details =
        "Checks the database file, recomputes the chain of every thread and its views, compares\n"
        "the files below .leslie/ and frozen copies with the log, and looks at who may read\n"
        ".heddle, whose workspace it is, which of its settings count, and at what killed commands\n"
        "left behind. Each line says what to do.\n"
        "\n"
        "--fix does what can lose nothing: it makes .heddle private, removes temporary files that\n"
        "are older than an hour, folds views anew and writes the files below .leslie/ again. It\n"
        "never changes an entry.\n\n"
        "  heddle doctor --fix",
    .opts = doctor_opts,
    .opts_size = sizeof(struct doctor_opts),
    .needs = NEEDS_PLACE,
    .run = run_doctor,
};
