/* workspace.backup: the log and the content of frozen copies in one file, made while others write;
 * and the check of such a file. */
#include "api/care/backup.h"
#include "api/care/staged.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "thread/stage.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup_params {
    struct sv file;
    bool      check, force;
};

/* clang-format off */
static const struct param params[] = {
    { "file",  PARAM_TEXT, offsetof(struct backup_params, file), .required = true, .value = "FILE", .help = "the backup, outside of .heddle; compressed when its name ends with .zst" },
    { "check", PARAM_FLAG, offsetof(struct backup_params, check), .help = "read FILE and say whether it is whole; nothing is written" },
    { "force", PARAM_FLAG, offsetof(struct backup_params, force), .help = "replace FILE when it is there" },
    { 0 },
};
static const struct field answer[] = {
    { "at",         FIELD_TIME, .help = "when the backup was made" },
    { "checked",    FIELD_FLAG, .help = "whether every chain and view in it was computed again" },
    { "entries",    FIELD_NUMBER, .help = "entries of all threads" },
    { "file",       FIELD_TEXT, .help = "the backup" },
    { "file_bytes", FIELD_NUMBER, .help = "its size" },
    { "findings",   FIELD_LIST, .help = "what is wrong with it" },
    { "objects",    FIELD_NUMBER, .help = "contents of frozen copies in it" },
    { "ok",         FIELD_FLAG, .help = "whether it can be restored" },
    { "threads",    FIELD_NUMBER, .help = "threads in it" },
    { 0 },
};
/* clang-format on */

struct backup_making {
    struct request *r;
    struct archive  out;
    int64_t         at;
    struct sv       copy; /* of the log */
    struct fs_item *dirs; /* of .heddle/objects */
    size_t          n_dirs;
    int64_t         objects, entries;
    size_t          threads;
    char           *piece;
};

/* ---- the log ------------------------------------------------------------------------------- */

static void write_heads(struct backup_making *m, struct jw *w, const struct store_thread *list,
                        size_t n)
{
    jw_key(w, "threads");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "chain", hash_hex(&list[i].head.chain, m->r->a));
        jw_kint(w, "rev", list[i].head.rev);
        jw_kstr(w, "thread", list[i].id);
        jw_close(w, '}');
        m->entries += list[i].head.rev;
    }
    jw_close(w, ']');
    m->threads = n;
}

/* The copy is opened as the log would be: what cannot be opened or is damaged is not a backup. */
static enum status examine_copy(struct backup_making *m, struct jw *w, struct err *e)
{
    struct store_options o = { .read_only = true };
    struct care_findings f = { .a = m->r->a };
    struct store        *store;
    struct store_thread *list = NULL;
    size_t               n = 0;

    if (store_open(m->copy, &o, &store, e))
        return err_in(e, "the copy of the log");
    enum status s = store_check(store, care_find, &f, e);
    if (!s)
        s = store_threads(store, m->r->a, &list, &n, e);
    if (!s && f.list.n) {
        err_set(e, ST_CORRUPT, "the log is damaged, and a backup of it would be too: " SV_FMT,
                SV_ARG(f.list.v[0]));
        s = err_hint(e, "`heddle doctor` says more");
    }
    if (!s)
        write_heads(m, w, list, n);
    store_close(store);
    return s;
}

static enum status hash_copy(struct backup_making *m, struct jw *w, struct err *e)
{
    UNDO(fd_undo) int  fd = open(m->copy.s, O_RDONLY | O_CLOEXEC);
    struct hash_sha256 h;
    int64_t            size = 0;
    ssize_t            n;

    if (fd < 0)
        return err_errno(e, "open the copy of the log");
    hash_sha256_init(&h);
    while ((n = read(fd, m->piece, BACKUP_PIECE)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        hash_sha256_add(&h, (struct sv){ m->piece, (size_t)n });
        size += n;
    }
    if (n < 0)
        return err_errno(e, "read the copy of the log");
    struct hash is = hash_sha256_end(&h);
    jw_key(w, "store");
    jw_open(w, '{');
    jw_kint(w, "bytes", size);
    jw_kstr(w, "sha256", hash_hex(&is, m->r->a));
    jw_close(w, '}');
    return ST_OK;
}

/* One file from a descriptor into the archive, as long as it is now. */
static enum status add_file(struct backup_making *m, struct sv name, int fd, struct err *e)
{
    struct stat st;
    int64_t     left;

    if (fstat(fd, &st) != 0)
        return err_errno(e, "stat " SV_FMT, SV_ARG(name));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ST_CORRUPT, SV_FMT " is not a regular file", SV_ARG(name));
    if (archive_file(&m->out, name, st.st_size, m->at, e))
        return err_code(e);
    for (left = st.st_size; left;) {
        size_t  want = left < BACKUP_PIECE ? (size_t)left : BACKUP_PIECE;
        ssize_t n = read(fd, m->piece, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "read " SV_FMT, SV_ARG(name));
        if (n == 0)
            return err_set(e, ST_CONFLICT, SV_FMT " shrank while it was copied", SV_ARG(name));
        if (request_check(m->r, e) || archive_write(&m->out, (struct sv){ m->piece, (size_t)n }, e))
            return err_code(e);
        left -= n;
        if (st.st_size > BACKUP_PIECE)
            request_progress(m->r, "backup: KiB written", (st.st_size - left) / 1024,
                             st.st_size / 1024);
    }
    return ST_OK;
}

/* ---- objects ------------------------------------------------------------------------------- */

typedef enum status object_fn(struct backup_making *m, struct sv path, struct err *e);

static enum status count_object(struct backup_making *m, struct sv path, struct err *e)
{
    (void)path;
    (void)e;
    m->objects++;
    return ST_OK;
}

static enum status add_object(struct backup_making *m, struct sv path, struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (fs_open(m->r->ws->root_fd, path, O_RDONLY | O_NOFOLLOW, &fd, e))
        return err_code(e);
    return add_file(m, sv_skip(path, sizeof ".heddle/" - 1), fd, e);
}

/* Objects are never changed and seldom removed; those that are added during the backup belong to
 * entries that the copy of the log does not have. */
static enum status each_object(struct backup_making *m, object_fn *fn, struct err *e)
{
    struct sv base = SV(".heddle/objects");

    for (size_t i = 0; i < m->n_dirs; i++) {
        struct arena_mark mark = arena_mark(m->r->a);
        struct sv         dir = path_join(base, m->dirs[i].name, m->r->a);
        struct fs_item   *items = NULL;
        size_t            n = 0;
        if (m->dirs[i].kind != FS_DIR || m->dirs[i].name.n != 2)
            continue;
        if (fs_list(m->r->ws->root_fd, dir, m->r->a, &items, &n, e))
            return err_code(e);
        for (size_t k = 0; k < n; k++) {
            struct sb hash = sb_in(m->r->a, 0);
            sb_addf(&hash, SV_FMT SV_FMT, SV_ARG(m->dirs[i].name), SV_ARG(items[k].name));
            if (items[k].kind == FS_FILE && backup_is_hash(sb_sv(&hash)) &&
                fn(m, path_join(dir, items[k].name, m->r->a), e))
                return err_code(e);
        }
        arena_reset(m->r->a, mark);
        request_progress(m->r, "backup: directories of objects", (int64_t)i + 1,
                         (int64_t)m->n_dirs);
    }
    return ST_OK;
}

static enum status list_objects(struct backup_making *m, struct err *e)
{
    enum status s =
        fs_list(m->r->ws->root_fd, SV(".heddle/objects"), m->r->a, &m->dirs, &m->n_dirs, e);

    if (s == ST_NOT_FOUND)
        m->n_dirs = 0;
    else if (s)
        return s;
    return each_object(m, count_object, e);
}

/* ---- making -------------------------------------------------------------------------------- */

static enum status write_archive(struct backup_making *m, struct sv manifest, struct err *e)
{
    UNDO(fd_undo) int fd = open(m->copy.s, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, "open the copy of the log");
    if (archive_file(&m->out, SV(BACKUP_MANIFEST), (int64_t)manifest.n, m->at, e) ||
        archive_write(&m->out, manifest, e) || add_file(m, SV(BACKUP_STORE), fd, e) ||
        each_object(m, add_object, e))
        return err_code(e);
    return archive_end(&m->out, e);
}

static enum status pack(struct backup_making *m, struct sv file, int fd, struct err *e)
{
    struct sb text = sb_in(m->r->a, 0);
    struct jw w = jw_in(&text, 0);

    jw_open(&w, '{');
    jw_kint(&w, "at", m->at);
    jw_kint(&w, "format", BACKUP_FORMAT);
    if (list_objects(m, e))
        return err_code(e);
    jw_kint(&w, "objects", m->objects);
    if (hash_copy(m, &w, e) || examine_copy(m, &w, e))
        return err_code(e);
    jw_kstr(&w, "version", SV(HEDDLE_VERSION));
    jw_close(&w, '}');
    sb_addc(&text, '\n');
    if (archive_begin(&m->out, fd, sv_ends(file, SV(".zst")), e))
        return err_code(e);
    enum status s = write_archive(m, sb_sv(&text), e);
    archive_close(&m->out);
    return s;
}

/* What was written is read again, before it gets its name. */
static enum status read_again(struct request *r, int fd, int64_t *size, struct err *e)
{
    char             path[64];
    struct backup_to to = { .store = -1, .root = -1 };
    struct backup    b;
    struct stat      st;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    UNDO(fd_undo) int again = open(path, O_RDONLY | O_CLOEXEC);
    if (again < 0 || fstat(again, &st) != 0)
        return err_errno(e, "read the backup again");
    *size = st.st_size;
    return backup_read(r, again, &to, &b, e) ? err_in(e, "what was written") : ST_OK;
}

/* An import that others see in part is brought to its end first. Where nothing can be written, it
 * stays as it is. */
static void finish_imports(struct backup_making *m)
{
    struct workspace *ws = m->r->ws;
    struct store     *store;
    struct err        ignored;

    if (workspace_take(ws, STORE_WRITE, &store, &ignored))
        return;
    struct log l = log_of(store, workspace_views);
    (void)!staged_finish(m->r, &l, ws->root_fd, &ignored); /* what is left then is warned of */
    workspace_give(ws, l.store, STORE_WRITE);
}

/* Copy the log. An import that others see in part is in the copy in part, and its rest is not. */
static enum status copy_log(struct backup_making *m, struct err *e)
{
    struct log *l = &m->r->log;
    struct sv   into[2];

    for (int i = 0; i < 2; i++) {
        if (i && store_backup(l->store, m->copy, e))
            return err_code(e);
        enum status s = log_begin(l, (struct sv){ 0 }, STORE_READ, e);
        if (!s)
            s = log_stage_unfinished(l, m->r->a, &into[i], e);
        log_abort(l);
        if (!s && !i && into[0].s) {
            finish_imports(m);
            s = log_begin(l, (struct sv){ 0 }, STORE_READ, e);
            if (!s)
                s = log_stage_unfinished(l, m->r->a, &into[0], e);
            log_abort(l);
        }
        if (s)
            return s;
    }
    if (into[0].s || into[1].s)
        request_warn(m->r, SV("unfinished"), (struct sv){ 0 },
                     "an import into " SV_FMT " is not at its end: the backup may have a part of "
                     "it; make another one afterwards",
                     SV_ARG(into[0].s ? into[0] : into[1]));
    return ST_OK;
}

static enum status make(struct backup_making *m, struct sv file, int dir, struct err *e)
{
    struct fs_draft d;
    int64_t         size = 0;

    request_progress(m->r, "backup: copying the log", 0, 0);
    enum status s = copy_log(m, e);
    if (!s)
        s = fs_draft_open(&d, dir, path_base(file), 0600, e);
    if (s)
        return s;
    s = pack(m, file, d.fd, e);
    if (!s && fsync(d.fd) != 0)
        s = err_errno(e, "fsync");
    if (!s)
        s = read_again(m->r, d.fd, &size, e);
    d.synced = true;
    if (s)
        fs_draft_drop(&d);
    else
        s = fs_draft_commit(&d, e);
    if (s)
        return s;
    jw_kbool(m->r->doc, "checked", false);
    jw_kint(m->r->doc, "entries", m->entries);
    jw_kstr(m->r->doc, "file", file);
    jw_kint(m->r->doc, "file_bytes", size);
    return ST_OK;
}

/* Is the directory .heddle of the workspace, or below it? Its own files are there, and what
 * protects against the loss of .heddle must not go with it. */
static bool is_private(struct request *r, int dir)
{
    UNDO(fd_undo) int at = dup(dir);
    struct stat       own, here, above;

    if (fstatat(r->ws->root_fd, ".heddle", &own, 0) != 0 || at < 0 || fstat(at, &here) != 0)
        return false;
    while (here.st_dev != own.st_dev || here.st_ino != own.st_ino) {
        int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(fd_take(&at));
        at = up;
        if (up < 0 || fstat(up, &above) != 0 ||
            (above.st_dev == here.st_dev && above.st_ino == here.st_ino))
            return false;
        here = above;
    }
    return true;
}

/* Another file only with --force, a directory or a device never. */
static enum status check_place(struct request *r, const struct backup_params *p, int dir,
                               struct err *e)
{
    struct stat st;

    if (is_private(r, dir)) {
        err_set(e, ST_PERMISSION_DENIED, SV_FMT " lies in .heddle", SV_ARG(p->file));
        return err_hint(e, "keep backups elsewhere, best on another disk");
    }
    if (fstatat(dir, sv_cstr(path_base(p->file), r->a), &st, AT_SYMLINK_NOFOLLOW) != 0)
        return ST_OK;
    if (p->force && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
        return ST_OK;
    if (p->force)
        return err_set(e, ST_IO, SV_FMT " is not a regular file", SV_ARG(p->file));
    err_set(e, ST_CONFLICT, SV_FMT " is there already", SV_ARG(p->file));
    err_reason(e, "exists");
    return err_hint(e, "take another name, or --force to replace it");
}

static enum status run_make(struct request *r, const struct backup_params *p, struct err *e)
{
    struct sv            parent = path_dir(p->file);
    struct backup_making m = { .r = r,
                               .at = clock_now_ms(),
                               .piece = ARENA_NEW(r->a, char, BACKUP_PIECE) };
    UNDO(fd_undo) int    held = -1;
    UNDO(fd_undo)
    int dir = open(parent.n ? sv_cstr(parent, r->a) : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(parent));
    if (check_place(r, p, dir, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_ktime(r->doc, "at", m.at);
    if (request_log(r, STORE_READ, e) || backup_scratch(r, &m.copy, &held, e))
        return err_code(e);
    enum status s = make(&m, p->file, dir, e);
    backup_forget(m.copy);
    if (s)
        return err_in(e, SV_FMT, SV_ARG(p->file));
    jw_key(r->doc, "findings");
    jw_raw(r->doc, SV("[]"));
    jw_kint(r->doc, "objects", m.objects);
    jw_kbool(r->doc, "ok", true);
    jw_kint(r->doc, "threads", (int64_t)m.threads);
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- checking ------------------------------------------------------------------------------ */

static enum status check_file(struct request *r, int fd, struct sv copy, struct backup *b,
                              struct care_findings *f, int64_t *entries, struct err *e)
{
    UNDO(fd_undo) int store = open(copy.s, O_WRONLY | O_CLOEXEC);
    struct backup_to  to = { .store = store, .root = -1 };

    if (store < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(copy));
    return backup_read(r, fd, &to, b, e) ? err_code(e) : backup_verify(r, copy, f, entries, e);
}

static void write_checked(struct request *r, const struct backup_params *p, const struct backup *b,
                          const struct care_findings *f, int64_t entries, int64_t size)
{
    const struct json *threads = json_find(&b->manifest, "threads");

    jw_open(r->doc, '{');
    jw_ktime(r->doc, "at", b->at);
    jw_kbool(r->doc, "checked", true);
    jw_kint(r->doc, "entries", entries);
    jw_kstr(r->doc, "file", p->file);
    jw_kint(r->doc, "file_bytes", size);
    care_write(r->doc, "findings", f);
    jw_kint(r->doc, "objects", b->objects);
    jw_kbool(r->doc, "ok", f->list.n == 0);
    jw_kint(r->doc, "threads", json_is(threads, JSON_ARRAY) ? (int64_t)threads->n : 0);
    jw_close(r->doc, '}');
}

static enum status run_check(struct request *r, const struct backup_params *p, struct err *e)
{
    UNDO(fd_undo) int    fd = -1, held = -1;
    struct care_findings f = { .a = r->a };
    struct backup        b;
    struct sv            copy = { 0 };
    int64_t              entries = 0, size = 0;

    if (backup_open(r, p->file, &fd, &size, e) || backup_scratch(r, &copy, &held, e))
        return err_code(e);
    enum status s = check_file(r, fd, copy, &b, &f, &entries, e);
    backup_forget(copy);
    if (s)
        return err_in(e, SV_FMT, SV_ARG(p->file));
    write_checked(r, p, &b, &f, entries, size);
    if (!f.list.n)
        return ST_OK;
    err_set(&r->verdict, ST_CORRUPT, "%zu problem%s in the backup", f.list.n,
            f.list.n == 1 ? "" : "s");
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct backup_params *p = params_given;

    if (!sv_starts(p->file, SV("/")))
        return err_set(e, ST_USAGE, "the file of a backup is named by its whole path");
    return p->check ? run_check(r, p, e) : run_make(r, p, e);
}

/* ---- for a person ---------------------------------------------------------------------------- */

static void print(const struct json *doc, struct term *t)
{
    const struct json *findings = json_find(doc, "findings");
    bool               checked = json_truth(json_find(doc, "checked"));

    for (size_t i = 0; i < findings->n; i++) {
        term_f(t, "  ✗ ");
        term_text(t, json_sv(&findings->items[i]));
        term_f(t, "\n");
    }
    if (findings->n)
        return;
    term_f(t, "✓ ");
    sb_add_plain_line(t->out, json_text(doc, "file"));
    term_f(t, checked ? " is whole: " : ": ");
    care_print_count(t, json_number(doc, "threads"), "thread, ", "threads, ");
    care_print_count(t, json_number(doc, "entries"), "entry, ", "entries, ");
    care_print_count(t, json_number(doc, "objects"), "object, ", "objects, ");
    care_print_count(t, json_number(doc, "file_bytes"), "byte\n", "bytes\n");
    if (checked)
        term_f(t, "  made " SV_FMT "\n", SV_ARG(json_text(doc, "at")));
    else
        term_f(t,
               "  not in it: settings, keys, and the files of threads below .leslie and .teddy\n");
}

const struct operation op_workspace_backup = {
    .name = "workspace.backup",
    .summary = "Write the log and frozen content to one file, or check such a file",
    .details =
        "Others may go on reading and writing: the backup is one state of the log. It holds every\n"
        "thread, and the content of frozen copies (.heddle/objects), from which they are made\n"
        "again. It does not hold settings, keys, and the files of threads below .leslie and\n"
        ".teddy: those are yours, and belong in version control or a backup of files. The file\n"
        "is a tar archive for its owner alone; with a name that ends with .zst it is compressed\n"
        "(libzstd). It is read again before it gets its name, and never replaces a file without\n"
        "--force.\n"
        "\n"
        "--check reads a backup, compares every hash, and computes every chain and view in it\n"
        "again. An erasure does not reach backups: `heddle restore-backup` applies it to what\n"
        "comes back, and a backup that must not have the erased text has to be made again.\n"
        "\n"
        "  heddle backup ../heddle-1.tar.zst\n"
        "  heddle backup --check ../heddle-1.tar.zst",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct backup_params),
    .answer = answer,
    .run = run,
    .print = print,
};
