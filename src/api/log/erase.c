/* erase: takes content out of the log for good; the chain stays valid. */
#include "share/erase.h"
#include "api/care/care.h"
#include "api/care/removal.h"
#include "api/log/entry_doc.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "loom/node.h"
#include "thread/care.h"
#include "thread/scan.h"

#include <stdio.h>
#include <string.h>

struct erase_params {
    struct sv          thread, reason, actor, before, op_id;
    struct number_list seqs;
    struct sv_list     node, find;
    bool               dry_run, with_derived, leave_derived;
};

/* clang-format off */
static const char *const file_words[] = { "copy", "view", "yours", "too_large", "packed", NULL };

static const struct param params[] = {
    { "thread",        PARAM_TEXT,    offsetof(struct erase_params, thread), .required = true, .blank = true, .value = "T", .help = "the thread" },
    { "seqs",          PARAM_NUMBERS, offsetof(struct erase_params, seqs), .value = "SEQ", .min = 0, .max = INT64_MAX, .help = "entries by their seq, as `heddle log show` prints it" },
    { "reason",        PARAM_TEXT,    offsetof(struct erase_params, reason), .value = "R", .help = "why; it stays in the log" },
    { "node",          PARAM_LIST,    offsetof(struct erase_params, node), .value = "ID,…", .help = "nodes of the tree, by their ids" },
    { "actor",         PARAM_TEXT,    offsetof(struct erase_params, actor), .value = "A", .help = "everything that A wrote" },
    { "before",        PARAM_TEXT,    offsetof(struct erase_params, before), .value = "TIME", .help = "everything before 2026-11-16T12:00:00Z" },
    { "find",          PARAM_LIST,    offsetof(struct erase_params, find), .value = "TEXT", .help = "look for this text too, in every thread and file" },
    { "with_derived",  PARAM_FLAG,    offsetof(struct erase_params, with_derived), .help = "erase what was derived from it too, and remove copies" },
    { "leave_derived", PARAM_FLAG,    offsetof(struct erase_params, leave_derived), .help = "leave what was derived from it; the log says so" },
    { "dry_run",       PARAM_FLAG,    offsetof(struct erase_params, dry_run), .help = "only list what would be erased" },
    { "op_id",         PARAM_TEXT,    offsetof(struct erase_params, op_id), .value = "ID", .help = "id of the erasure" },
    { 0 },
};
static const struct field file_fields[] = {
    { "is",   FIELD_ENUM, .values = file_words, .help = "a copy (removed), a view (written anew), yours (it stays), too large to be looked into, or packed: compressed or a database, and not looked into" },
    { "named", FIELD_FLAG, .optional = true, .help = "true: its path holds the text too, and stays in the log" },
    { "path", FIELD_TEXT, .help = "in the workspace" },
    { 0 },
};
static const struct field kept_fields[] = {
    { "kind",   FIELD_TEXT,   .help = "of the entry" },
    { "seq",    FIELD_NUMBER, .help = "of the entry" },
    { "thread", FIELD_TEXT,   .help = "of the entry" },
    { "why",    FIELD_TEXT,   .help = "what of it it has" },
    { 0 },
};
static const struct field item_fields[] = {
    { "asked",  FIELD_FLAG,   .help = "it was asked for; else it was derived" },
    { "fixed",  FIELD_FLAG,   .optional = true, .help = "true: of chain version 1, it cannot be erased before log.rechain" },
    { "kind",   FIELD_TEXT,   .help = "of the entry" },
    { "says",   FIELD_TEXT,   .optional = true, .help = "of a dry run: how the entry begins; of the first 200 alone" },
    { "seq",    FIELD_NUMBER, .help = "of the entry" },
    { "source", FIELD_NUMBER, .optional = true, .help = "the entry that it was derived from" },
    { "thread", FIELD_TEXT,   .help = "of the entry" },
    { "why",    FIELD_TEXT,   .optional = true, .help = "how it was derived" },
    { 0 },
};
static const struct field answer[] = {
    { "clean",         FIELD_FLAG,   .help = "the files of the workspace hold it no more" },
    { "dry_run",       FIELD_FLAG,   .help = "nothing was erased" },
    { "duplicate",     FIELD_FLAG,   .help = "it was erased before, under this op_id" },
    { "files",         FIELD_LIST,   .of = file_fields, .help = "files that hold it" },
    { "items",         FIELD_LIST,   .of = item_fields, .help = "entries that hold it, those asked for first" },
    { "kept",          FIELD_LIST,   .of = kept_fields, .help = "entries that hold it in what an erasure keeps (ids, paths, names), or a hash of it, and stay so" },
    { "removed",       FIELD_LIST,   .help = CARE_REMOVED_HELP },
    { "seq",           FIELD_NUMBER, .optional = true, .help = "of the entry that says so" },
    { "unreached",     FIELD_TEXT,   .help = "what the store has written where nothing is cleaned" },
    { "with_derived",  FIELD_FLAG,   .help = "derived entries were to be erased too" },
    { 0 },
};
/* clang-format on */

static enum status check_params(const struct erase_params *p, struct err *e)
{
    if (!p->seqs.n && !p->node.v && !p->actor.s && !p->before.s && !p->find.v) {
        err_set(e, ST_USAGE, "say what to erase");
        return err_hint(e, "give entries by their seq, or --node, --actor, --before or --find");
    }
    if (p->with_derived && p->leave_derived)
        return err_set(e, ST_USAGE, "--with-derived and --leave-derived exclude each other");
    if (p->dry_run || sv_trim(p->reason).n)
        return ST_OK;
    err_set(e, ST_USAGE, "`heddle erase` needs --reason");
    return err_hint(e, "--reason R says why, and stays in the log");
}

/* For erase_find(): names of nodes, where the thread keeps a tree. */
static bool node_named(void *ctx, struct sv thread, struct sv name, int64_t *seq)
{
    struct request   *r = ctx;
    struct loom       l = { .log = &r->log, .thread = thread, .a = r->a };
    struct store_head h;
    struct node       node;
    struct err        ignored;

    if (log_head(&r->log, thread, &h, &ignored) || !log_keeps(&r->log, &h, &loom_view) ||
        node_find(&l, name, &node, &ignored))
        return false;
    *seq = node.seq;
    return true;
}

/* The seqs that were given, and those of the nodes behind them. */
static enum status find_seqs(struct request *r, const struct erase_params *p,
                             struct erase_what *out, struct err *e)
{
    struct loom l = { .log = &r->log, .thread = p->thread, .a = r->a };
    int64_t    *all = ARENA_NEW(r->a, int64_t, p->seqs.n + p->node.n + 1);
    struct node node;
    enum status s = ST_OK;

    for (size_t i = 0; i < p->seqs.n; i++)
        all[out->n_seqs++] = p->seqs.v[i];
    out->seqs = all;
    if (!p->node.n)
        return ST_OK;
    r->log.wanted = &loom_view;
    if (log_begin(&r->log, l.thread, STORE_READ, e))
        return err_code(e);
    for (size_t i = 0; i < p->node.n && !s; i++) {
        s = node_find(&l, p->node.v[i], &node, e);
        if (!s)
            all[out->n_seqs++] = node.seq;
    }
    log_abort(&r->log);
    return s;
}

/* ---- what is said --------------------------------------------------------------------------- */

static const char *file_word(const struct erase_file *f)
{
    return f->unread                  ? "too_large"
           : f->packed                ? "packed"
           : f->is == ERASE_FILE_COPY ? "copy"
           : f->is == ERASE_FILE_VIEW ? "view"
                                      : "yours";
}

enum { SAYS_ITEMS = 200, SAYS_CHARS = 60 };

/* How an entry begins, read again: a plan keeps no content. Absent when it cannot be read. */
static struct sv says(struct request *r, const struct erase_item *x)
{
    struct entry n;
    struct json  payload;
    struct err   ignored;
    bool         found = false;

    if (log_begin(&r->log, x->thread, STORE_READ, &ignored))
        return (struct sv){ 0 };
    bool read = !log_entry(&r->log, x->thread, x->seq, r->a, &n, &found, &ignored) && found &&
                !json_parse(n.payload, 0, r->a, &payload, &ignored);
    log_abort(&r->log);
    if (!read)
        return (struct sv){ 0 };
    struct sv line = entry_line(&n, &payload, SAYS_CHARS + 1, r->a);
    struct sb b = sb_in(r->a, 0);
    sb_add(&b, utf8_fit(line, SAYS_CHARS));
    sb_adds(&b, b.n < line.n ? "…" : "");
    return sb_sv(&b);
}

static void write_item(struct jw *w, const struct erase_item *x, struct sv says)
{
    jw_open(w, '{');
    jw_kbool(w, "asked", x->asked);
    if (x->fixed)
        jw_kbool(w, "fixed", true);
    jw_kstr(w, "kind", x->kind);
    if (says.n)
        jw_klossy(w, "says", says);
    jw_kint(w, "seq", x->seq);
    if (x->source >= 0)
        jw_kint(w, "source", x->source);
    jw_kstr(w, "thread", x->thread);
    if (x->why)
        jw_kstr(w, "why", sv_of(x->why));
    jw_close(w, '}');
}

static void write_kept(struct jw *w, const struct erase_item *x)
{
    jw_open(w, '{');
    jw_kstr(w, "kind", x->kind);
    jw_kint(w, "seq", x->seq);
    jw_kstr(w, "thread", x->thread);
    jw_kstr(w, "why", sv_of(x->why));
    jw_close(w, '}');
}

static void write_result(struct jw *w, struct request *q, const struct share_erase_result *r,
                         const struct erase_params *p, bool erased)
{
    bool        waits;
    const char *unreached = log_unreached(&q->log, &waits);

    jw_open(w, '{');
    jw_kbool(w, "clean", erased && r->seq >= 0 && !r->unfinished.code && !waits);
    jw_kbool(w, "dry_run", !erased);
    jw_kbool(w, "duplicate", r->repeated);
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t i = 0; i < r->n_files; i++) {
        jw_open(w, '{');
        jw_kstr(w, "is", sv_of(file_word(&r->files[i])));
        if (r->files[i].named)
            jw_kbool(w, "named", true);
        jw_kstr(w, "path", r->files[i].path);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < r->plan.items.n; i++) {
        const struct erase_item *x = &r->plan.items.v[i];
        write_item(w, x, p->dry_run && i < SAYS_ITEMS ? says(q, x) : (struct sv){ 0 });
    }
    jw_close(w, ']');
    jw_key(w, "kept");
    jw_open(w, '[');
    for (size_t i = 0; i < r->plan.kept.n; i++)
        write_kept(w, &r->plan.kept.v[i]);
    jw_close(w, ']');
    jw_key(w, "removed");
    jw_open(w, '[');
    for (size_t i = 0; i < r->removed.n; i++)
        jw_str(w, r->removed.v[i]);
    jw_close(w, ']');
    if (r->seq >= 0)
        jw_kint(w, "seq", r->seq);
    jw_kstr(w, "unreached", sv_of(unreached));
    jw_kbool(w, "with_derived", p->with_derived);
    jw_close(w, '}');
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_item(const struct json *x, struct term *t)
{
    struct sv why = json_text(x, "why"), says = json_text(x, "says");

    sb_adds(t->out, json_truth(json_find(x, "asked")) ? "  " : "  + ");
    term_text(t, json_text(x, "thread"));
    term_f(t, " #%lld " SV_FMT, (long long)json_number(x, "seq"), SV_ARG(json_text(x, "kind")));
    if (json_find(x, "source"))
        term_f(t, ": " SV_FMT " (#%lld)", SV_ARG(why), (long long)json_number(x, "source"));
    else if (why.s)
        term_f(t, ": " SV_FMT, SV_ARG(why));
    if (json_truth(json_find(x, "fixed")))
        sb_adds(t->out, "; of chain version 1: `heddle log rechain` first");
    if (says.n) {
        sb_adds(t->out, "  “");
        term_text(t, says);
        sb_adds(t->out, "”");
    }
    sb_addc(t->out, '\n');
}

static void print_file(const struct json *f, struct term *t)
{
    struct sv is = json_text(f, "is");

    sb_adds(t->out, sv_is(is, "copy") || sv_is(is, "view") ? "  + " : "  ! ");
    sb_add_plain_line(t->out, json_text(f, "path"));
    sb_adds(t->out, sv_is(is, "too_large") ? ": too large to be looked into; it stays\n"
                    : sv_is(is, "packed")
                        ? ": compressed or a database; not looked into; it stays\n"
                    : sv_is(is, "copy") ? ": a copy that holds it\n"
                    : sv_is(is, "view") ? ": made from the log, and written anew\n"
                                        : ": yours; it holds the text and stays\n");
    if (sv_is(is, "copy") && json_truth(json_find(f, "named")))
        sb_adds(t->out, "    its name holds the text too, and stays in the log\n");
}

static void print_kept(const struct json *x, struct term *t)
{
    sb_adds(t->out, "  ! ");
    term_text(t, json_text(x, "thread"));
    term_f(t, " #%lld " SV_FMT ": " SV_FMT ", which stays\n", (long long)json_number(x, "seq"),
           SV_ARG(json_text(x, "kind")), SV_ARG(json_text(x, "why")));
}

/* Which entries and files hold the text; also printed with a refusal. */
static void print_lists(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items"), *files = json_find(doc, "files");
    const struct json *kept = json_find(doc, "kept");

    for (size_t i = 0; i < items->n; i++)
        print_item(&items->items[i], t);
    for (size_t i = 0; i < kept->n; i++)
        print_kept(&kept->items[i], t);
    for (size_t i = 0; i < files->n; i++)
        print_file(&files->items[i], t);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");
    bool               dry = json_truth(json_find(doc, "dry_run"));
    bool               with = json_truth(json_find(doc, "with_derived"));
    size_t             asked = 0, derived = 0;

    for (size_t i = 0; i < items->n; i++)
        *(json_truth(json_find(&items->items[i], "asked")) ? &asked : &derived) += 1;
    if (json_truth(json_find(doc, "duplicate"))) {
        bool clean = json_truth(json_find(doc, "clean"));
        term_f(t, "%serased before (#%lld)\n", clean ? "✓ " : "",
               (long long)json_number(doc, "seq"));
        care_print_removed(doc, t);
        return;
    }
    size_t n = asked + (with && !dry ? derived : 0);
    term_f(t, dry ? "would erase %zu entr%s" : "✓ erased %zu entr%s", n, n == 1 ? "y" : "ies");
    if (!dry)
        term_f(t, " (#%lld)", (long long)json_number(doc, "seq"));
    if (derived && !with)
        term_f(t, "; %zu %s hold%s it%s", derived, dry ? "more" : "that", derived == 1 ? "s" : "",
               dry            ? ""
               : derived == 1 ? " was left"
                              : " were left");
    term_f(t, "\n");
    print_lists(doc, t);
    care_print_removed(doc, t);
    if (!dry)
        term_f(t, "  backups, exports and clones made before still hold it; so may " SV_FMT "\n",
               SV_ARG(json_text(doc, "unreached")));
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void unfinished(const struct share_erase_result *r, struct err *e)
{
    bool only_files = !sv_is(sv_of(r->unfinished.reason), SHARE_ENTRIES_LEFT);

    err_set(e, r->unfinished.code,
            only_files ? "erased from the log, but files are not clean yet: %s"
                       : "the erasure is recorded, but not finished: %s",
            r->unfinished.text);
    err_reason(e, "unfinished");
    err_hint(e, "`heddle doctor --fix` does the rest");
}

static enum status fill_in(struct request *r, const struct erase_params *p,
                           struct share_erase_request *out, struct err *e)
{
    *out = (struct share_erase_request){ .dry_run = p->dry_run };
    out->what.thread = p->thread;
    out->what.actor = p->actor;
    out->what.words = p->find.v;
    out->what.n_words = p->find.n;
    out->what.node = node_named;
    out->what.ctx = r;
    out->how = (struct erase_how){ .reason = p->reason,
                                   .actor = r->actor,
                                   .at = clock_now_ms(),
                                   .op_id = p->op_id,
                                   .with_derived = p->with_derived,
                                   .leave_derived = p->leave_derived };
    if (p->before.s && !clock_parse_iso(p->before, &out->what.before))
        return err_set(e, ST_USAGE, "--before takes a time such as 2026-11-16T12:00:00Z");
    return find_seqs(r, p, &out->what, e);
}

/* A store that the log was moved from is not among the files that stay: it is cleaned, too. */
static void clean_former(struct request *r, const struct former *list, size_t n, bool dry_run,
                         struct share_erase_result *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < out->n_files; i++)
        if (!former_has_file(r, list, n, out->files[i].path))
            out->files[kept++] = out->files[i];
    out->n_files = kept;
    former_clean(r, list, n, dry_run, &out->unfinished);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct erase_params *p = given;
    struct share_erase_request what;
    struct share_erase_result  out = { 0 };
    struct share               s;
    struct former             *former;
    size_t                     n_former;

    if (check_params(p, e) || fill_in(r, p, &what, e) ||
        removal_begin(r, p->dry_run, &former, &n_former, e))
        return err_code(e);
    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    enum status st = share_erase(&s, &what, &out, e);
    if (!st || st == ST_NOT_FOUND)
        clean_former(r, former, n_former, p->dry_run, &out);
    if (st && strcmp(e->reason, "derived") == 0) {
        struct sb b = sb_in(r->a, 0);
        struct jw w = jw_in(&b, 0);
        write_result(&w, r, &out, p, false);
        r->error_details = sb_sv(&b);
    }
    if (out.pending)
        request_warn(
            r, SV("unfinished"), (struct sv){ 0 },
            "%zu erasure%s interrupted: the log or files may still hold what was erased; `heddle "
            "doctor --fix` does the rest",
            out.pending, out.pending == 1 ? " was" : "s were");
    if (st)
        return st;
    write_result(r->doc, r, &out, p, !p->dry_run);
    if (out.unfinished.code)
        unfinished(&out, &r->verdict);
    return ST_OK;
}

const struct operation op_erase = {
    .name = "erase",
    .summary = "Take what was said out of the log for good; the chain stays whole",
    .details =
        "Of an entry its skeleton stays: role, place, ids, time, who. Text, arguments, results "
        "and\n"
        "refs go, and with them the salt of their commitment, so that nobody can tell what it "
        "was;\n"
        "`heddle verify` still checks the chain and counts what was erased. An `erasure` entry "
        "says\n"
        "who erased which entries, when and why. Contexts show [erased] in their place.\n"
        "\n"
        "What was derived from it holds it too: snapshots, summaries, results of commands, "
        "answers\n"
        "of models, checkpoints, entries of any thread with the same text, transcripts and frozen\n"
        "copies. They are listed and nothing is erased, unless --with-derived erases them too or\n"
        "--leave-derived leaves them, which the log then says. Texts are compared as a whole and\n"
        "line by line; --find looks for a name or a key besides. Files of yours are named and "
        "stay.\n"
        "\n"
        "Afterwards the index of words is emptied, the database written anew, its write-ahead log\n"
        "emptied and copies of older databases removed. When that is interrupted, `heddle doctor\n"
        "--fix`, the same command again or the next erasure does the rest. Backups, exports and "
        "clones are out of reach.\n"
        "\n"
        "  heddle erase design 1 --reason 'asked by the customer' --dry-run",
    .group = GROUP_CARE,
    .needs = NEEDS_WRITE,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_KEY,
    .repeat_key = "op_id",
    .params = params,
    .params_size = sizeof(struct erase_params),
    .answer = answer,
    .run = run,
    .print = print,
    .print_details = print_lists,
};
