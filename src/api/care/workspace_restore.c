/* workspace.restore_backup: a log put back from a backup.
 *
 * The backup is read and checked as a whole first, with its log in a file of its own. What was
 * erased here since it was made is erased in that file too, and only then does its content replace
 * the log: it comes in beside, in slices, and takes the names of the threads in one transaction.
 * Other processes see either the old log or the new one. */
#include "api/care/backup.h"
#include "api/care/staged.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "api/workspace_id.h"
#include "api/workspace_open.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "share/delete.h"
#include "share/erase.h"
#include "thread/deletion.h"
#include "thread/erase.h"
#include "thread/lane.h"
#include "thread/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct restore_params {
    struct sv file, into;
    bool      force;
};

/* clang-format off */
static const struct param params[] = {
    { "file",  PARAM_TEXT, offsetof(struct restore_params, file), .required = true, .value = "FILE", .help = "the backup" },
    { "into",  PARAM_TEXT, offsetof(struct restore_params, into), .value = "DIR", .help = "restore into this directory, which is made if it is missing; else into the workspace" },
    { "force", PARAM_FLAG, offsetof(struct restore_params, force), .help = "also when the log has entries that the backup lacks; the log as it was is kept beside it" },
    { 0 },
};
static const struct field answer[] = {
    { "at",      FIELD_TIME, .help = "when the backup was made" },
    { "entries", FIELD_NUMBER, .help = "entries that were restored" },
    { "erased",  FIELD_NUMBER, .help = "how many of them came back without content, since it was erased after the backup was made" },
    { "file",    FIELD_TEXT, .help = "the backup" },
    { "kept",    FIELD_TEXT, .nullable = true, .help = "where the log as it was is kept; null: nothing was lost with it" },
    { "left_out", FIELD_NUMBER, .help = "contents of frozen copies that were not restored, since they were erased" },
    { "lost",    FIELD_LIST, .help = "threads that had entries which the backup lacks" },
    { "objects", FIELD_NUMBER, .help = "contents of frozen copies that were missing and are there again" },
    { "root",    FIELD_TEXT, .help = "the workspace" },
    { "threads", FIELD_NUMBER, .help = "threads that were restored" },
    { 0 },
};
/* clang-format on */

struct restoring {
    struct request      *r;
    struct workspace    *ws;   /* where it goes */
    struct log           live; /* the present log; live.store is NULL until it is open */
    struct store_thread *was;  /* its threads */
    size_t               n_was;
    struct sv            copy; /* the log of the backup, in a file */
    struct backup        b;
    struct sv           *deleted; /* threads that were deleted here */
    size_t               n_deleted;
    struct map           gone, files; /* chain values and files that were erased here */
    struct map           unwanted;    /* those of the files that are objects, by their hashes */
    struct map           wanted; /* objects that the log refers to, erasures taken into account */
    struct care_findings lost;
    int64_t              erased, entries;
    size_t               threads;
    struct sv            kept;
};

/* ---- the backup ------------------------------------------------------------------------------ */

static enum status unpack(struct restoring *g, int fd, struct err *e)
{
    UNDO(fd_undo) int    store = open(g->copy.s, O_WRONLY | O_CLOEXEC);
    struct backup_to     to = { .store = store, .root = -1 };
    struct care_findings f = { .a = g->r->a };

    if (store < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(g->copy));
    if (backup_read(g->r, fd, &to, &g->b, e) || backup_verify(g->r, g->copy, &f, &g->entries, e))
        return err_code(e);
    if (!f.list.n)
        return ST_OK;
    err_set(e, ST_CORRUPT, "the log in the backup is damaged: " SV_FMT, SV_ARG(f.list.v[0]));
    return err_hint(e, "`heddle backup --check` lists everything that is wrong with it");
}

/* ---- the log as it is
 * ---------------------------------------------------------------------------- */

static enum status read_live(struct restoring *g, struct err *e)
{
    if (log_begin(&g->live, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(&g->live, g->r->a, &g->was, &g->n_was, e);
    for (size_t i = 0; !s && i < g->n_was; i++)
        if (g->was[i].damaged)
            s = err_set(e, ST_CORRUPT, "thread " SV_FMT " is damaged", SV_ARG(g->was[i].id));
    if (!s)
        s = erase_known_chains(&g->live, g->r->a, &g->gone, e);
    if (!s)
        s = deletion_list(&g->live, g->r->a, &g->deleted, &g->n_deleted, e);
    if (!s)
        s = erase_known_files(&g->live, g->r->a, &g->files, e);
    log_abort(&g->live);
    for (size_t i = 0; !s && i < g->files.n; i++) {
        struct sb hash = sb_in(g->r->a, 0);
        struct sv rest = sv_skip(g->files.items[i].key, sizeof ".heddle/objects/" - 1);
        if (!sv_starts(g->files.items[i].key, SV(".heddle/objects/")))
            continue;
        sb_addf(&hash, SV_FMT SV_FMT, SV_ARG(sv_cut(rest, '/').head),
                SV_ARG(sv_cut(rest, '/').tail));
        map_put(&g->unwanted, sb_sv(&hash), g);
    }
    return s;
}

/* What is pending would be forgotten with the log that says so. */
static enum status finish_erasures(struct restoring *g, struct err *e)
{
    struct share s;
    size_t       n;

    share_init(&s, &g->live, g->ws->root_fd, g->r->actor, g->r->a);
    enum status st = share_erase_finish(&s, clock_now_ms(), &n, care_warn_removed, g->r, e);
    share_call_warnings(g->r, &s);
    return st ? err_in(e, "finish an erasure that was interrupted") : ST_OK;
}

/* A backup is what brings back a log whose store is lost: the store is made again for it. A server
 * says only when it is asked that it has none. */
static enum status take_live(struct restoring *g, struct store **out, struct err *e)
{
    struct store_options o = { .create = true };
    struct store_thread *list;
    size_t               n;
    UNDO(fd_undo) int    dir = -1;
    struct sv            url;

    enum status s = workspace_take(g->ws, STORE_WRITE, out, e);
    if (!s) {
        s = store_threads(*out, g->r->a, &list, &n, e);
        if (s)
            store_close(*out);
    }
    if (s != ST_NOT_FOUND)
        return s;
    if (workspace_store_url(g->ws, g->r->a, &url, &dir, e) ||
        workspace_id(g->ws, true, g->r->a, &o.workspace, e) || store_open(url, &o, out, e))
        return err_code(e);
    s = store_threads(*out, g->r->a, &list, &n, e);
    store_close(*out);
    return s ? s : workspace_take(g->ws, STORE_WRITE, out, e);
}

static enum status open_live(struct restoring *g, struct err *e)
{
    struct store *store;

    if (take_live(g, &store, e))
        return err_code(e);
    g->live = log_of(store, workspace_views);
    return staged_sweep(g->r, &g->live, g->ws->root_fd, NULL, e) || finish_erasures(g, e)
               ? err_code(e)
               : read_live(g, e);
}

/* "heddle.db.before-restore-20261116T182700.bak": what `heddle doctor` lists and `erase` removes.
 */
static struct sv kept_name(struct restoring *g)
{
    struct sb iso = sb_in(g->r->a, 0), b = sb_in(g->r->a, 0);
    struct sv text;

    sb_add_iso_ms(&iso, clock_now_ms());
    text = sb_sv(&iso);
    sb_adds(&b, ".heddle/heddle.db.before-restore-");
    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] != '-' && text.s[i] != ':' && text.s[i] != '.')
            sb_addc(&b, text.s[i]);
    sb_adds(&b, ".bak");
    return sb_sv(&b);
}

/* A database that cannot be read is moved away with all it has, so that a new one can take its
 * place. What was erased in it is not known then. */
static enum status move_away(struct restoring *g, struct err *e)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    struct sv                name = kept_name(g);

    if (g->live.store)
        store_close(g->live.store);
    g->live.store = NULL;
    if (g->ws->store_url.n || config_text(&g->ws->config, "store").n) {
        err_set(e, ST_CORRUPT, "the log cannot be read, and is not in its usual place");
        return err_hint(e, "move it away, then restore again");
    }
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct sb from = sb_in(g->r->a, 0), to = sb_in(g->r->a, 0);
        sb_addf(&from, ".heddle/heddle.db%s", ends[i]);
        sb_addf(&to, SV_FMT "%s", SV_ARG(name), ends[i]);
        if (renameat(g->ws->root_fd, sb_sv(&from).s, g->ws->root_fd, sb_sv(&to).s) != 0 &&
            errno != ENOENT)
            return err_errno(e, "move " SV_FMT, SV_ARG(sb_sv(&from)));
    }
    g->kept = name;
    request_warn(g->r, (struct sv){ 0 }, (struct sv){ 0 },
                 "the log could not be read; what was erased in it since the backup was made is "
                 "not known, and comes back");
    return open_live(g, e);
}

static enum status find_live(struct restoring *g, bool force, struct err *e)
{
    enum status s = open_live(g, e);

    if (s != ST_CORRUPT)
        return s;
    if (force)
        return move_away(g, e);
    return err_hint(e, "the log that is there cannot be read; --force moves it away");
}

/* ---- what would be lost ---------------------------------------------------------------------- */

/* Does the copy have every entry of the present log? One read per thread is enough, because the
 * chain covers all entries. */
static enum status compare(struct restoring *g, struct store *copy, struct err *e)
{
    for (size_t i = 0; i < g->n_was; i++) {
        const struct store_head *h = &g->was[i].head;
        struct hash              chain;
        bool                     found = false;
        if (!h->rev)
            continue;
        if (store_chain_at(copy, g->was[i].id, h->rev - 1, &chain, &found, e))
            return err_code(e);
        if (!found || !hash_eq(&chain, &h->chain))
            care_find(&g->lost, g->was[i].id);
    }
    return ST_OK;
}

static enum status refuse(const struct restoring *g, struct err *e)
{
    size_t n = g->lost.list.n;

    err_set(e, ST_CONFLICT, "%zu thread%s %s entries that the backup lacks, " SV_FMT " for one", n,
            n == 1 ? "" : "s", n == 1 ? "has" : "have", SV_ARG(g->lost.list.v[0]));
    err_reason(e, "newer");
    return err_hint(e, "--force restores all the same, and keeps the log as it is beside it");
}

/* What was deleted here is deleted in the copy. */
static enum status delete_again(struct restoring *g, struct log *copy, struct err *e)
{
    for (size_t i = 0; i < g->n_deleted; i++)
        if (share_delete_again(copy, g->deleted[i], g->r->actor, clock_now_ms(), e))
            return err_in(e, "thread " SV_FMT, SV_ARG(g->deleted[i]));
    return ST_OK;
}

/* Apply the erasures and deletions of this log to the copy, and find what would be lost. */
static enum status prepare_copy(struct restoring *g, struct err *e)
{
    struct store_options o = { .past_move = true }; /* a backup of a store that the log had left */
    struct store        *store;
    struct store_thread *list;

    if (store_open(g->copy, &o, &store, e)) /* migrates an older one */
        return err_code(e);
    struct log  l = log_of(store, workspace_views);
    enum status s = log_begin(&l, (struct sv){ 0 }, STORE_WRITE, e);
    if (!s)
        s = compare(g, store, e);
    if (!s)
        s = delete_again(g, &l, e);
    if (!s)
        s = erase_chains(&l, &g->gone, &g->files, g->r->actor, clock_now_ms(), &g->erased, e);
    if (!s)
        s = share_objects_in_use(&l, g->r->a, &g->wanted, e);
    if (!s)
        s = log_threads(&l, g->r->a, &list, &g->threads, e);
    if (!s)
        s = log_commit(&l, e);
    log_abort(&l);
    for (size_t i = 0; !s && g->erased && i < g->threads; i++)
        if (!list[i].damaged && !log_keeps(&l, &list[i].head, &thread_view)) {
            s = log_begin(&l, list[i].id, STORE_READ, e); /* rows hold what was erased: fold them */
            log_abort(&l);
        }
    if (!s)
        s = store_compact(store, e);
    store_close(l.store);
    return s;
}

/* Keep the present log in a file beside it. */
static enum status keep(struct restoring *g, struct err *e)
{
    struct sv name = kept_name(g);
    UNDO(fd_undo)
    int fd = openat(g->ws->root_fd, name.s, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(e, "make " SV_FMT, SV_ARG(name));
    if (store_backup(g->live.store, path_join(g->ws->root, name, g->r->a), e)) {
        unlinkat(g->ws->root_fd, name.s, 0);
        return err_in(e, "keep the log as it is");
    }
    if (fsync(fd) != 0)
        return err_errno(e, "fsync " SV_FMT, SV_ARG(name));
    g->kept = name;
    return ST_OK;
}

/* ---- putting it back --------------------------------------------------------------------------
 */

/* Called in the transaction that replaces the log: is the log still the one that was examined? */
static enum status is_unchanged(void *ctx, struct err *e)
{
    struct restoring    *g = ctx;
    struct store_thread *now;
    size_t               n;
    struct sv            into; /* the rest of an import would come behind entries of the backup */

    if (log_threads(&g->live, g->r->a, &now, &n, e) ||
        log_stage_unfinished(&g->live, g->r->a, &into, e))
        return err_code(e);
    bool same = n == g->n_was && !into.s;
    for (size_t i = 0; same && i < n; i++)
        same = sv_eq(now[i].id, g->was[i].id) && now[i].head.rev == g->was[i].head.rev &&
               hash_eq(&now[i].head.chain, &g->was[i].head.chain);
    if (same)
        return ST_OK;
    err_set(e, ST_CONFLICT, "another process wrote to the log meanwhile");
    err_reason(e, "busy");
    return err_hint(e, "nothing was changed; run the command again");
}

static enum status replace(struct restoring *g, struct err *e)
{
    struct staged held = { .fd = -1 };
    struct sb     b = sb_in(g->r->a, 0);

    if (log_stages(&g->live) && staged_take(g->ws->root_fd, g->r->a, &held, e))
        return err_code(e);
    sb_addf(&b, STORE_STAGED SV_FMT, SV_ARG(held.token));
    enum status s = store_replace(g->live.store, g->copy, sb_sv(&b), is_unchanged, g, e);
    if (!s)
        e->code = ST_OK;
    staged_drop(g->r, &g->live, &held, e); /* what store_replace() could not drop */
    staged_release(&held);
    return s;
}

/* Frozen copies and the files of the registry are made from the log and the objects. */
static enum status write_files(struct restoring *g, struct err *e)
{
    struct share s;

    if (fs_remove(g->ws->root_fd, SV(".heddle/share.stamp"), e))
        return err_code(e);
    share_init(&s, &g->live, g->ws->root_fd, g->r->actor, g->r->a);
    enum status st = share_begin(&s, STORE_WRITE, e);
    if (!st)
        st = share_commit(&s, e);
    share_call_end(g->r, &s); /* its warnings become those of the request, and its verdict */
    return st;
}

static void write_answer(struct restoring *g, const struct restore_params *p,
                         const struct backup_to *objects)
{
    struct jw *w = g->r->doc;

    jw_open(w, '{');
    jw_ktime(w, "at", g->b.at);
    jw_kint(w, "entries", g->entries);
    jw_kint(w, "erased", g->erased);
    jw_kstr(w, "file", p->file);
    jw_kstr(w, "kept", g->kept);
    jw_kint(w, "left_out", objects->left);
    care_write(w, "lost", &g->lost);
    jw_kint(w, "objects", objects->put);
    jw_kstr(w, "root", g->ws->root);
    jw_kint(w, "threads", (int64_t)g->threads);
    jw_close(w, '}');
}

static enum status put_back(struct restoring *g, const struct restore_params *p, int fd,
                            struct err *e)
{
    struct backup_to to = { .store = -1,
                            .root = g->ws->root_fd,
                            .unwanted = &g->unwanted,
                            .wanted = g->gone.n ? &g->wanted : NULL };
    struct backup    again;
    struct err       why;

    if (g->lost.list.n && !p->force)
        return refuse(g, e);
    if (g->lost.list.n && keep(g, e))
        return err_code(e);
    if (backup_read(g->r, fd, &to, &again, e) || replace(g, e)) {
        if (g->lost.list.n) /* the log is unchanged: its copy is not needed */
            unlinkat(g->ws->root_fd, g->kept.s, 0);
        return err_code(e);
    }
    if (write_files(g, &why) && !g->r->verdict.code) {
        err_set(&g->r->verdict, why.code,
                "the log is restored, but the files below .leslie are not written yet: %.400s",
                why.text);
        err_reason(&g->r->verdict, "unwritten");
        err_hint(&g->r->verdict, "`heddle doctor --fix` writes them, and so does the next command "
                                 "that can");
    }
    write_answer(g, p, &to);
    return ST_OK;
}

static enum status restore(struct restoring *g, const struct restore_params *p, int fd,
                           struct err *e)
{
    if (find_live(g, p->force, e) || prepare_copy(g, e))
        return err_code(e);
    return put_back(g, p, fd, e);
}

/* The directory to restore into, when it is not the current workspace; it becomes a workspace of
 * its own. */
static enum status find_target(struct restoring *g, struct workspace *other, struct sv into,
                               struct err *e)
{
    const char *dir = sv_cstr(into, g->r->a);

    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return err_errno(e, "mkdir %s", dir);
    workspace_init(other);
    other->variables = g->r->ws->variables;
    other->note = g->r->ws->note;
    other->note_ctx = g->r->ws->note_ctx;
    other->exactly = true;
    g->ws = other;
    UNDO(fd_undo) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, "open %s", dir);
    if (fs_mkdirs(fd, SV(".heddle"), e) || workspace_find(other, dir, g->r->a, e))
        return err_code(e);
    return workspace_settings(other, g->r->a, e);
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct restore_params *p = params_given;
    struct workspace             other = { .root_fd = -1 };
    struct restoring             g = { .r = r,
                                       .ws = r->ws,
                                       .gone = map_in(r->a),
                                       .files = map_in(r->a),
                                       .unwanted = map_in(r->a),
                                       .wanted = map_in(r->a),
                                       .lost.a = r->a };
    UNDO(fd_undo) int            fd = -1, held = -1;
    int64_t                      size;

    if (backup_open(r, p->file, &fd, &size, e) || backup_scratch(r, &g.copy, &held, e))
        return err_code(e);
    enum status s = unpack(&g, fd, e) ? err_in(e, SV_FMT, SV_ARG(p->file)) : ST_OK;
    if (!s && p->into.s)
        s = find_target(&g, &other, p->into, e);
    if (!s)
        s = restore(&g, p, fd, e);
    if (g.live.store)
        workspace_give(g.ws, g.live.store, STORE_WRITE);
    if (g.ws == &other)
        workspace_close(&other);
    backup_forget(g.copy);
    return s;
}

/* ---- for a person ------------------------------------------------------------------------------
 */

static void print_line(struct term *t, const char *before, struct sv text, const char *after)
{
    term_f(t, "  %s", before);
    sb_add_plain_line(t->out, text);
    term_f(t, "%s\n", after);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *lost = json_find(doc, "lost");
    struct sv          kept = json_text(doc, "kept");
    int64_t            erased = json_number(doc, "erased"), left = json_number(doc, "left_out");

    term_f(t, "✓ restored ");
    care_print_count(t, json_number(doc, "threads"), "thread", "threads");
    term_f(t, ", ");
    care_print_count(t, json_number(doc, "entries"), "entry", "entries");
    term_f(t, " as of " SV_FMT " into ", SV_ARG(json_text(doc, "at")));
    sb_add_plain_line(t->out, json_text(doc, "root"));
    term_f(t, "\n");
    if (erased)
        term_f(t, "  %lld of them %s erased since, and came back without content\n",
               (long long)erased, erased == 1 ? "was" : "were");
    if (left)
        term_f(t, "  %lld frozen content%s erased since, and did not come back\n", (long long)left,
               left == 1 ? " was" : "s were");
    for (size_t i = 0; i < lost->n; i++)
        print_line(t, "", json_sv(&lost->items[i]), " had entries that the backup lacks");
    if (kept.s)
        print_line(t, "the log as it was is in ", kept, "");
    term_f(t, "  settings, keys and the files of threads are not part of a backup\n");
}

const struct operation op_workspace_restore = {
    .name = "workspace.restore",
    .summary = "Put the log back from a backup; what was erased stays erased",
    .details =
        "The backup is read and checked as a whole before anything is changed, and takes the "
        "place\n"
        "of the log in one short transaction: it comes in beside, while others read and write. It\n"
        "is refused when somebody wrote meanwhile, and when the log has entries that the backup\n"
        "lacks, unless --force, which keeps the log as it was in "
        ".heddle/heddle.db.before-restore-*\n"
        "and says so; `heddle erase` removes that copy too. A log that cannot be read is moved\n"
        "away with --force.\n"
        "\n"
        "What was erased or deleted in this log after the backup was made does not come back. A\n"
        "workspace that is restored elsewhere (--into) does not know what was erased here: then\n"
        "the backup comes back as it is. Files below .leslie are written from the log, frozen\n"
        "copies from the objects of the backup; what .leslie has that the log lacks comes in "
        "again\n"
        "with the next command.\n"
        "\n"
        "  heddle restore-backup ../heddle-1.tar.zst --into ../copy",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct restore_params),
    .answer = answer,
    .run = run,
    .print = print,
};
