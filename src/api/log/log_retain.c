/* log.retain: erases old content of the log by policy, never content that is in use. */
#include "api/care/care.h"
#include "api/care/removal.h"
#include "api/request.h"
#include "api/term.h"
#include "base/clock.h"
#include "loom/keep.h"
#include "share/retain.h"
#include "thread/scan.h"

#include <stdio.h>
#include <string.h>

struct log_retain_params {
    int64_t        keep_days;
    struct sv_list thread;
    bool           dry_run, yes;
};

enum { KEEP_DAYS_MAX = 365 * 1000 };
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* clang-format off */
static const char *const left_words[] = { "version", "global", "damaged", NULL };

static const struct param params[] = {
    { "keep_days", PARAM_NUMBER, offsetof(struct log_retain_params, keep_days), .required = true, .value = "N", .min = 0, .max = KEEP_DAYS_MAX, .help = "leave what is younger than N days" },
    { "thread",    PARAM_LIST,   offsetof(struct log_retain_params, thread), .value = "T,…", .help = "only these threads" },
    { "dry_run",   PARAM_FLAG,   offsetof(struct log_retain_params, dry_run), .help = "only list what would be erased" },
    { "yes",       PARAM_FLAG,   offsetof(struct log_retain_params, yes), .help = "do not ask" },
    { 0 },
};
static const struct field range_fields[] = {
    { "from", FIELD_NUMBER, .help = "seq of the first entry" },
    { "to",   FIELD_NUMBER, .help = "seq of the last one; all between them go too" },
    { 0 },
};
static const struct field item_fields[] = {
    { "bytes",   FIELD_NUMBER, .help = "of the payloads and refs of the entries" },
    { "entries", FIELD_NUMBER, .help = "entries that are erased" },
    { "files",   FIELD_LIST,   .help = "copies of the same age that are removed: transcripts" },
    { "kept",    FIELD_NUMBER, .help = "entries as old that stay, because a context, a pin or a run uses them" },
    { "left",    FIELD_ENUM,   .values = left_words, .optional = true, .help = "nothing of it is erased: its chain is of version 1, it is the log of the workspace, or it is damaged" },
    { "newest",  FIELD_TIME,   .optional = true, .help = "of the newest entry that is erased" },
    { "oldest",  FIELD_TIME,   .optional = true, .help = "of the oldest one" },
    { "ranges",  FIELD_LIST,   .of = range_fields, .help = "the entries that are erased, by their seqs" },
    { "seq",     FIELD_NUMBER, .optional = true, .help = "of the entry that says so" },
    { "thread",  FIELD_TEXT,   .help = "the thread" },
    { 0 },
};
static const struct field answer[] = {
    { "before",    FIELD_TIME,   .help = "what is older may go" },
    { "bytes",     FIELD_NUMBER, .help = "of all threads" },
    { "clean",     FIELD_FLAG,   .help = "the files of the workspace are clean too" },
    { "dry_run",   FIELD_FLAG,   .help = "nothing was erased" },
    { "entries",   FIELD_NUMBER, .help = "of all threads" },
    { "finished",  FIELD_NUMBER, .help = "erasures whose files were cleaned now, also earlier ones that were interrupted" },
    { "items",     FIELD_LIST,   .of = item_fields, .help = "the threads that have something so old, by id" },
    { "keep_days", FIELD_NUMBER, .help = "as it was given" },
    { "removed",   FIELD_LIST,   .help = CARE_REMOVED_HELP },
    { 0 },
};
/* clang-format on */

struct log_retaining {
    struct request                 *r;
    const struct log_retain_params *p;
    int64_t                         now, before;
    bool                            dry_run;
    struct sb                       list; /* the items of the document */
    struct jw                       items;
    int64_t                         entries, bytes, kept, threads, finished;
    struct care_findings            removed;
    struct err                      unfinished;
};

/* ---- one thread ------------------------------------------------------------------------------ */

static enum status keep_shown(void *ctx, const struct retain_what *what, struct seq_set *kept,
                              bool *known, struct err *e)
{
    struct request *r = ctx;
    struct loom     l = { .log = &r->log, .thread = what->thread, .a = r->a };

    return loom_keep(&l, what->before, kept, known, e);
}

static void write_ranges(struct jw *w, const struct erase_plan *plan)
{
    jw_key(w, "ranges");
    jw_open(w, '[');
    for (size_t i = 0, to; i < plan->items.n; i = to) {
        int64_t first = plan->items.v[i].seq;
        for (to = i + 1;
             to < plan->items.n && plan->items.v[to].seq == plan->items.v[to - 1].seq + 1;)
            to++;
        jw_open(w, '{');
        jw_kint(w, "from", first);
        jw_kint(w, "to", plan->items.v[to - 1].seq);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void write_thread(struct jw *w, struct sv thread, const struct share_retain_result *x,
                         const char *left)
{
    jw_open(w, '{');
    jw_kint(w, "bytes", x->plan.bytes);
    jw_kint(w, "entries", x->plan.entries);
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t i = 0; i < x->n_files; i++)
        jw_str(w, x->files[i]);
    jw_close(w, ']');
    jw_kint(w, "kept", x->plan.kept);
    if (left)
        jw_kstr(w, "left", sv_of(left));
    if (x->plan.entries) {
        jw_ktime(w, "newest", x->plan.newest);
        jw_ktime(w, "oldest", x->plan.oldest);
    }
    write_ranges(w, &x->plan.erase);
    if (x->seq >= 0)
        jw_kint(w, "seq", x->seq);
    jw_kstr(w, "thread", thread);
    jw_close(w, '}');
}

/* Why a thread is left alone, when the others can still be done. */
static const char *left_because(const struct err *e)
{
    return e->code == ST_INVALID_SYNTAX && strcmp(e->reason, "version") == 0 ? "version"
           : e->code == ST_CORRUPT                                           ? "damaged"
                                                                             : NULL;
}

static struct sv reason_of(const struct log_retaining *x, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "retention: older than %lld day%s", (long long)x->p->keep_days,
            x->p->keep_days == 1 ? "" : "s");
    return sb_sv(&b);
}

static enum status retain_thread(struct log_retaining *x, struct sv thread, struct err *e)
{
    struct arena                a = { 0 };
    struct share                s;
    struct share_retain_result  out = { .seq = -1 };
    struct share_retain_request q = {
        .what = { .thread = thread, .before = x->before, .keep = keep_shown, .ctx = x->r },
        .reason = reason_of(x, &a),
        .at = x->now,
        .dry_run = x->dry_run,
        .with_history = !x->entries
    };
    const char *left = NULL;
    enum status st = ST_OK;

    share_init(&s, &x->r->log, x->r->ws->root_fd, x->r->actor, &a);
    if (sv_eq(thread, SHARE_GLOBAL))
        left = "global";
    else if ((st = share_retain(&s, &q, &out, e)) && (left = left_because(e))) {
        if (st == ST_CORRUPT)
            request_warn(x->r, SV("damaged"), thread, "it is left as it is: %s", e->text);
        out = (struct share_retain_result){ .seq = -1 };
        st = ST_OK;
    }
    if (!st && (left || out.plan.entries || out.plan.kept))
        write_thread(&x->items, thread, &out, left);
    x->entries += out.plan.entries;
    x->bytes += out.plan.bytes;
    x->kept += out.plan.kept;
    x->threads += out.plan.entries > 0;
    arena_free(&a);
    return st ? err_in(e, "thread " SV_FMT, SV_ARG(thread)) : ST_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum status check_threads(struct log_retaining *x, const struct store_thread *all, size_t n,
                                 struct err *e)
{
    for (size_t i = 0; i < x->p->thread.n; i++) {
        bool found = false;
        for (size_t k = 0; k < n && !found; k++)
            found = sv_eq(all[k].id, x->p->thread.v[i]);
        if (found)
            continue;
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(x->p->thread.v[i]));
        return err_hint(e, "`heddle stats` lists the threads there are");
    }
    return ST_OK;
}

static bool is_wanted(const struct log_retain_params *p, struct sv thread)
{
    for (size_t i = 0; i < p->thread.n; i++)
        if (sv_eq(p->thread.v[i], thread))
            return true;
    return !p->thread.v;
}

static enum status retain_threads(struct log_retaining *x, struct err *e)
{
    struct store_thread *all;
    size_t               n;
    enum status          st;

    x->list = sb_in(x->r->a, 0);
    x->items = jw_in(&x->list, 0);
    x->entries = x->bytes = x->kept = x->threads = 0;
    if (log_begin(&x->r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    st = log_threads(&x->r->log, x->r->a, &all, &n, e);
    log_abort(&x->r->log);
    if (st || check_threads(x, all, n, e))
        return err_code(e);
    jw_open(&x->items, '[');
    for (size_t i = 0; i < n; i++) {
        request_progress(x->r, "retain", (int64_t)i, (int64_t)n);
        if (is_wanted(x->p, all[i].id) &&
            (request_check(x->r, e) || retain_thread(x, all[i].id, e)))
            return err_code(e);
    }
    jw_close(&x->items, ']');
    return ST_OK;
}

/* Files, .leslie, the index of words, the database: also after an erasure that was interrupted. */
static void clean(struct log_retaining *x)
{
    struct share s;
    size_t       n;

    share_init(&s, &x->r->log, x->r->ws->root_fd, x->r->actor, x->r->a);
    request_progress(x->r, "retain: writing the database anew", 0, 0);
    if (share_erase_finish(&s, x->now, &n, care_find, &x->removed, &x->unfinished) == ST_OK) {
        x->unfinished.code = ST_OK;
        x->finished += (int64_t)n;
    }
}

/* A thread that was processed stays so when a later one fails, so its files are cleaned in any
 * case.
 */
static enum status erase_all(struct log_retaining *x, struct err *e)
{
    x->dry_run = false;
    enum status st = retain_threads(x, e);
    if (x->entries)
        clean(x);
    return st;
}

static enum status agree(struct log_retaining *x, struct err *e)
{
    if (x->p->yes || x->r->agreed ||
        request_ask(x->r, "Erase %lld entr%s of %lld thread%s for good?", (long long)x->entries,
                    x->entries == 1 ? "y" : "ies", (long long)x->threads,
                    x->threads == 1 ? "" : "s"))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "nobody has agreed to this; nothing was erased");
    err_reason(e, "needs_yes");
    return err_hint(e, "say --yes; --dry-run lists what would go, `heddle backup` keeps a copy");
}

static void write_all(struct jw *w, struct log_retaining *x)
{
    jw_open(w, '{');
    jw_ktime(w, "before", x->before);
    jw_kint(w, "bytes", x->bytes);
    jw_kbool(w, "clean", !x->p->dry_run && !x->unfinished.code);
    jw_kbool(w, "dry_run", x->p->dry_run);
    jw_kint(w, "entries", x->entries);
    jw_kint(w, "finished", x->finished);
    jw_key(w, "items");
    jw_raw(w, sb_sv(&x->list));
    jw_kint(w, "keep_days", x->p->keep_days);
    care_write(w, "removed", &x->removed);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct log_retaining x = {
        .r = r, .p = given, .now = clock_now_ms(), .dry_run = true, .removed = { .a = r->a }
    };

    struct former *former;
    size_t         n_former;

    x.before = x.now - x.p->keep_days * DAY_MS;
    if (x.before < 0)
        x.before = 0;
    if (removal_begin(r, x.p->dry_run, &former, &n_former, e) || retain_threads(&x, e))
        return err_code(e);
    if (!x.p->dry_run && x.entries && (agree(&x, e) || erase_all(&x, e)))
        return err_code(e);
    if (!x.p->dry_run) {
        clean(&x);
        former_clean(r, former, n_former, false, &x.unfinished);
    }
    write_all(r->doc, &x);
    if (!x.unfinished.code)
        return ST_OK;
    err_set(&r->verdict, x.unfinished.code,
            "erased from the log, but files are not clean yet: %.400s", x.unfinished.text);
    err_reason(&r->verdict, "unfinished");
    err_hint(&r->verdict, "`heddle doctor --fix` does the rest");
    return ST_OK;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_left(struct sv left, struct term *t)
{
    term_f(t, sv_is(left, "version")  ? "left: of chain version 1; `heddle log rechain` first\n"
              : sv_is(left, "global") ? "left: the log of the workspace\n"
                                      : "left: part of it cannot be read; see `heddle doctor`\n");
}

static void print_thread(const struct json *x, struct term *t)
{
    const struct json *files = json_find(x, "files");
    int64_t            kept = json_number(x, "kept");

    sb_adds(t->out, "  ");
    sb_add_plain_line(t->out, json_text(x, "thread"));
    sb_adds(t->out, ": ");
    if (json_find(x, "left")) {
        print_left(json_text(x, "left"), t);
        return;
    }
    care_print_count(t, json_number(x, "entries"), "entry", "entries");
    if (json_find(x, "oldest")) {
        sb_adds(t->out, ", ");
        sb_add_commas(t->out, json_number(x, "bytes"));
        term_f(t, " bytes, " SV_FMT " – " SV_FMT, SV_ARG(sv_first(json_text(x, "oldest"), 10)),
               SV_ARG(sv_first(json_text(x, "newest"), 10)));
    }
    if (kept)
        term_f(t, "; %lld as old kept: in use", (long long)kept);
    sb_addc(t->out, '\n');
    for (size_t i = 0; i < files->n; i++) {
        sb_adds(t->out, "    + ");
        sb_add_plain_line(t->out, json_sv(&files->items[i]));
        sb_addc(t->out, '\n');
    }
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");
    int64_t            n = json_number(doc, "entries");
    bool               dry = json_truth(json_find(doc, "dry_run"));

    if (n)
        term_f(t, dry ? "would erase " : "✓ erased ");
    else
        term_f(t, "nothing to erase: ");
    care_print_count(t, n, "entry", "entries");
    sb_adds(t->out, ", ");
    sb_add_commas(t->out, json_number(doc, "bytes"));
    term_f(t, " bytes, from before " SV_FMT "\n", SV_ARG(json_text(doc, "before")));
    for (size_t i = 0; i < items->n; i++)
        print_thread(&items->items[i], t);
    if (!n && json_number(doc, "finished"))
        term_f(t,
               "  an erasure that was interrupted before is finished: the files are clean now\n");
    care_print_removed(doc, t);
    if (n && !dry)
        term_f(t, "  backups, exports and clones made before still hold it\n");
}

const struct operation op_log_retain = {
    .name = "log.retain",
    .summary = "Erase what is older than N days and not in use, in every thread",
    .details =
        "Entries older than N days lose their content as with `heddle erase`: the skeleton stays,\n"
        "the chain stays whole, `heddle verify` counts them, and an `erasure` entry of each "
        "thread\n"
        "says who did it and why. Never erased is what is in use: what the context of any lane\n"
        "shows now (its messages, the snapshot in force), the last run of each agent and all of\n"
        "one that is open, what is queued or parked, nodes that are pinned or bookmarked and what\n"
        "is said about them, an agent's stashes, trace and undos, and the newest write of each\n"
        "document. Every lane projects to the same bytes as before.\n"
        "\n"
        "Each entry is judged by its own age and use: a summary in use stays and does not keep\n"
        "what it summarises, and a younger copy stays until it is old. Transcripts of that age go, "
        "too.\n"
        "Threads of chain version 1 are named and left (`heddle log rechain`), and so is .global.\n"
        "\n"
        "Asks at a terminal; elsewhere it takes --yes. Threads are done one after the other, each\n"
        "as a whole; then the database is written anew and content of frozen copies that nothing\n"
        "has is removed. When that is interrupted, `heddle doctor --fix` does the rest.\n"
        "\n"
        "  heddle retain --keep-days 90 --dry-run",
    .group = GROUP_CARE,
    .needs = NEEDS_WRITE,
    .slow = true,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct log_retain_params),
    .answer = answer,
    .run = run,
    .print = print,
};
