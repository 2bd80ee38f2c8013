/* `erase` and `log rechain`: content out of the log for good, and a log from which it can be. */
#include "base/clock.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "loom/node.h"
#include "share/erase.h"

#include <stdio.h>
#include <string.h>

/* ---- what is asked -------------------------------------------------------------------------- */

struct erase_opts {
    struct sv reason, node, actor, before, find, op_id;
    bool      dry_run, with_derived, leave_derived;
};

static const struct opt erase_opts[] = {
    { OPT_TEXT, "reason", "R", "why; it stays in the log", offsetof(struct erase_opts, reason), 0 },
    { OPT_LIST, "node", "ID,…", "nodes of the tree, by their ids",
      offsetof(struct erase_opts, node), 0 },
    { OPT_TEXT, "actor", "A", "everything that A wrote", offsetof(struct erase_opts, actor), 0 },
    { OPT_TEXT, "before", "TIME", "everything before 2026-11-16T12:00:00Z",
      offsetof(struct erase_opts, before), 0 },
    { OPT_LINES, "find", "TEXT", "look for this text too, in every thread and file",
      offsetof(struct erase_opts, find), 0 },
    { OPT_FLAG, "with-derived", NULL, "erase what was derived from it too, and remove copies",
      offsetof(struct erase_opts, with_derived), 0 },
    { OPT_FLAG, "leave-derived", NULL, "leave what was derived from it; the log says so",
      offsetof(struct erase_opts, leave_derived), 0 },
    { OPT_FLAG, "dry-run", NULL, "only list what would be erased",
      offsetof(struct erase_opts, dry_run), 0 },
    { OPT_TEXT, "op-id", "ID", "id of the erasure", offsetof(struct erase_opts, op_id), 0 },
    { 0 },
};

static enum status check_opts(const struct app *app, const struct erase_opts *o, struct err *e)
{
    if (app->n_args < 2 && !o->node.s && !o->actor.s && !o->before.s && !o->find.s) {
        err_set(e, ST_USAGE, "say what to erase");
        return err_hint(e, "give entries by their seq, or --node, --actor, --before or --find");
    }
    if (o->with_derived && o->leave_derived)
        return err_set(e, ST_USAGE, "--with-derived and --leave-derived exclude each other");
    return o->dry_run ? ST_OK : command_need("erase", "reason", o->reason, e);
}

static enum status read_seqs(struct app *app, int64_t **out, size_t *n, struct err *e)
{
    *n = app->n_args - 1;
    *out = ARENA_NEW(app->a, int64_t, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (!sv_to_int(app_arg(app, i + 1), &(*out)[i]) || (*out)[i] < 0)
            return err_set(e, ST_USAGE,
                           "'" SV_FMT "' is no entry: give its seq, as `heddle log "
                           "show` prints it",
                           SV_ARG(app_arg(app, i + 1)));
    return ST_OK;
}

/* For erase_find(): names of nodes, where the thread keeps a tree. */
static bool node_named(void *ctx, struct sv thread, struct sv name, int64_t *seq)
{
    struct app       *app = ctx;
    struct loom       l = { .log = &app->log, .thread = thread, .a = app->a };
    struct store_head h;
    struct node       node;
    struct err        ignored;

    if (store_head(app->log.store, thread, &h, &ignored) || !log_keeps(&app->log, &h, &loom_view) ||
        node_find(&l, name, &node, &ignored))
        return false;
    *seq = node.seq;
    return true;
}

/* The nodes of --node, as seqs behind those of the arguments. */
static enum status read_nodes(struct app *app, struct sv names, int64_t **seqs, size_t *n,
                              struct err *e)
{
    struct loom   l = { .log = &app->log, .thread = app_arg(app, 0), .a = app->a };
    int64_t      *all = ARENA_NEW(app->a, int64_t, *n + names.n + 1);
    struct node   node;
    struct sv_cut cut = { .tail = names, .found = names.n > 0 };
    enum status   s = ST_OK;

    for (size_t i = 0; i < *n; i++)
        all[i] = (*seqs)[i];
    if (!names.n)
        return ST_OK;
    app->log.wanted = &loom_view;
    if (log_begin(&app->log, l.thread, STORE_READ, e))
        return err_code(e);
    while (cut.found && !s) {
        cut = sv_cut(cut.tail, ',');
        s = node_find(&l, cut.head, &node, e);
        if (!s)
            all[(*n)++] = node.seq;
    }
    log_abort(&app->log);
    *seqs = all;
    return s;
}

static size_t split_lines(struct sv text, struct arena *a, struct sv **out)
{
    struct sv_cut cut = { .tail = text, .found = text.n > 0 };
    size_t        n = 0;

    *out = ARENA_NEW(a, struct sv, text.n + 1);
    while (cut.found) {
        cut = sv_cut(cut.tail, '\n');
        (*out)[n++] = cut.head;
    }
    return n;
}

/* ---- what is said --------------------------------------------------------------------------- */

static const char *file_word(const struct erase_file *f)
{
    return f->unread                  ? "too_large"
           : f->is == ERASE_FILE_COPY ? "copy"
           : f->is == ERASE_FILE_VIEW ? "view"
                                      : "yours";
}

static void item_json(struct jw *w, const struct erase_item *x)
{
    jw_open(w, '{');
    jw_kbool(w, "asked", x->asked);
    jw_kstr(w, "kind", x->kind);
    jw_kint(w, "seq", x->seq);
    if (x->source >= 0)
        jw_kint(w, "source", x->source);
    jw_kstr(w, "thread", x->thread);
    if (x->why)
        jw_kstr(w, "why", sv_of(x->why));
    jw_close(w, '}');
}

static void result_json(struct sb *b, const struct share_erase_result *r, bool dry_run)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kbool(&w, "clean", !dry_run && r->seq >= 0 && !r->unfinished.code);
    jw_kbool(&w, "dry_run", dry_run);
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; i < r->n_files; i++) {
        jw_open(&w, '{');
        jw_kstr(&w, "is", sv_of(file_word(&r->files[i])));
        jw_kstr(&w, "path", r->files[i].path);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    jw_key(&w, "items");
    jw_open(&w, '[');
    for (size_t i = 0; i < r->plan.items.n; i++)
        item_json(&w, &r->plan.items.v[i]);
    jw_close(&w, ']');
    if (r->seq >= 0)
        jw_kint(&w, "seq", r->seq);
    jw_close(&w, '}');
}

static void item_text(struct sb *out, const struct erase_item *x)
{
    sb_adds(out, x->asked ? "  " : "  + ");
    sb_add_plain(out, x->thread);
    sb_addf(out, " #%lld " SV_FMT, (long long)x->seq, SV_ARG(x->kind));
    if (x->source >= 0)
        sb_addf(out, ": %s (#%lld)", x->why, (long long)x->source);
    else if (x->why)
        sb_addf(out, ": %s", x->why);
    if (x->fixed)
        sb_adds(out, "; of chain version 1: `heddle log rechain` first");
    sb_addc(out, '\n');
}

static void file_text(struct sb *out, const struct erase_file *f)
{
    sb_adds(out, f->is == ERASE_FILE_YOURS ? "  ! " : "  + ");
    sb_add_plain_line(out, f->path);
    sb_adds(out, f->unread                  ? ": too large to be looked into; it stays\n"
                 : f->is == ERASE_FILE_COPY ? ": a copy that holds it\n"
                 : f->is == ERASE_FILE_VIEW ? ": made from the log, and written anew\n"
                                            : ": yours; it holds the text and stays\n");
}

static void lists_text(struct sb *out, const struct share_erase_result *r)
{
    for (size_t i = 0; i < r->plan.items.n; i++)
        item_text(out, &r->plan.items.v[i]);
    for (size_t i = 0; i < r->n_files; i++)
        file_text(out, &r->files[i]);
}

static void result_text(struct sb *out, const struct share_erase_result *r,
                        const struct erase_opts *o)
{
    size_t n = r->plan.asked + (o->with_derived ? r->plan.derived : 0);

    if (o->dry_run)
        sb_addf(out, "would erase %zu entr%s", r->plan.asked, r->plan.asked == 1 ? "y" : "ies");
    else
        sb_addf(out, "✓ erased %zu entr%s (#%lld)", n, n == 1 ? "y" : "ies", (long long)r->seq);
    if (r->plan.derived && !o->with_derived)
        sb_addf(out, o->dry_run ? "; %zu more hold it" : "; %zu that hold it were left",
                r->plan.derived);
    sb_addc(out, '\n');
    lists_text(out, r);
    for (size_t i = 0; i < r->removed.n; i++) {
        sb_adds(out, "  - ");
        sb_add_plain_line(out, r->removed.v[i]);
        sb_adds(out, ": a copy of an older database, removed\n");
    }
    if (!o->dry_run)
        sb_adds(out, "  backups, exports and clones made before still hold it\n");
}

static enum status unfinished(const struct share_erase_result *r, struct err *e)
{
    char why[sizeof r->unfinished.text];

    snprintf(why, sizeof why, "%s", r->unfinished.text);
    err_set(e, r->unfinished.code, "erased from the log, but files are not clean yet: %s", why);
    err_reason(e, "unfinished");
    return err_hint(e, "`heddle doctor --fix` does the rest");
}

static enum status run_erase(struct app *app, const void *opts, struct err *e)
{
    const struct erase_opts   *o = opts;
    struct share_erase_request r = { .dry_run = o->dry_run };
    struct share_erase_result  out = { 0 };
    struct share               s;
    struct sv                 *words;
    int64_t                   *seqs;

    if (check_opts(app, o, e) || read_seqs(app, &seqs, &r.what.n_seqs, e) ||
        read_nodes(app, o->node, &seqs, &r.what.n_seqs, e))
        return err_code(e);
    r.what.thread = app_arg(app, 0);
    r.what.seqs = seqs;
    r.what.actor = o->actor;
    r.what.n_words = split_lines(o->find, app->a, &words);
    r.what.words = words;
    r.what.node = node_named;
    r.what.ctx = app;
    if (o->before.s && !clock_parse_iso(o->before, &r.what.before))
        return err_set(e, ST_USAGE, "--before takes a time such as 2026-11-16T12:00:00Z");
    r.how = (struct erase_how){ .reason = o->reason,
                                .actor = app->actor,
                                .at = clock_now_ms(),
                                .op_id = o->op_id,
                                .with_derived = o->with_derived,
                                .leave_derived = o->leave_derived };
    share_init(&s, &app->log, app->ws.root_fd, app->actor, app->a);
    enum status st = share_erase(&s, &r, &out, e);
    if (st && strcmp(e->reason, "derived") == 0) {
        struct sb b = sb_in(app->a, 0);
        if (app->json) {
            result_json(&b, &out, true);
            app->error_details = sb_sv(&b);
        } else {
            lists_text(&app->out, &out);
        }
    }
    if (st)
        return st;
    if (app->json) {
        result_json(&app->out, &out, o->dry_run);
        sb_addc(&app->out, '\n');
        app->json = false;
    } else {
        result_text(&app->out, &out, o);
    }
    return out.unfinished.code ? unfinished(&out, e) : ST_OK;
}

const struct command cmd_erase = {
    .name = "erase",
    .synopsis = "T [SEQ…] --reason R [--node ID] [--actor A] [--before TIME] [--find TEXT] "
                "[--with-derived | --leave-derived] [--dry-run]",
    .group = GROUP_CARE,
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
        "--fix` or the next erasure does the rest. Backups, exports and clones are out of reach.\n"
        "\n"
        "  heddle erase design 1 --reason 'asked by the customer' --dry-run",
    .opts = erase_opts,
    .opts_size = sizeof(struct erase_opts),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .needs = NEEDS_WRITE,
    .run = run_erase,
};

/* ---- log rechain ---------------------------------------------------------------------------- */

/* The local id of a node is drawn from its chain value, unless the entry names it. */
static enum status name_node(void *ctx, const struct entry *n, struct arena *a, struct sv *out,
                             struct err *e)
{
    struct app *app = ctx;
    struct loom l = { .log = &app->log, .thread = app_arg(app, 0), .a = a };
    struct json p;
    struct node node;
    struct err  ignored;

    *out = n->payload;
    if (n->mark != MARK_MESSAGE || node_at(&l, n->seq, &node, &ignored))
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    *out = loom_with_local(&p, node.local, a);
    return ST_OK;
}

static enum status rechain(struct app *app, struct store_head *head, struct err *e)
{
    struct rechain_how how = { app->actor, clock_now_ms(), name_node, app };

    if (log_rechain(&app->log, app_arg(app, 0), &how, head, e))
        return err_code(e);
    return log_commit(&app->log, e);
}

static void print_rechained(struct app *app, const struct store_head *head, bool done)
{
    struct sv chain = hash_hex(&head->chain, app->a);
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        sb_addf(&app->out,
                done ? "✓ %lld entries have a chain of version 2; the head is " SV_FMT "\n"
                     : "%lld entries have a chain of version 2 already; the head is " SV_FMT "\n",
                (long long)head->rev, SV_ARG(chain));
        if (done)
            sb_adds(&app->out, "  heads pinned and exports made before belong to the old chain\n");
        return;
    }
    jw_open(&w, '{');
    jw_kstr(&w, "chain", chain);
    jw_kbool(&w, "done", done);
    jw_kint(&w, "rev", head->rev);
    jw_kint(&w, "version", head->version);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_rechain(struct app *app, const void *opts, struct err *e)
{
    struct store_head head = { 0 };

    (void)opts;
    if (log_begin(&app->log, app_arg(app, 0), STORE_WRITE, e))
        return err_code(e);
    enum status s = rechain(app, &head, e);
    bool        already = s == ST_CONFLICT && strcmp(e->reason, "version") == 0;
    if (already)
        s = store_head(app->log.store, app_arg(app, 0), &head, e);
    log_abort(&app->log);
    if (!s)
        print_rechained(app, &head, !already);
    return s;
}

const struct command cmd_log_rechain = {
    .name = "log rechain",
    .synopsis = "T",
    .group = GROUP_LOG,
    .summary = "Give a thread of chain version 1 a chain from which content can be erased",
    .details =
        "Threads made by older versions are chained with their content and cannot be erased. This\n"
        "gives every entry a salt and a new chain value. Ids that followed from the old chain are\n"
        "written into the entries first, so that they stay; the old head is kept in a `rechain`\n"
        "entry. Heads pinned, tokens taken and exports made before belong to the old chain.\n\n"
        "  heddle log rechain design",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .view = &loom_view,
    .run = run_rechain,
};
