/* Reading backups, and working on copies of a log. */
#include "api/care/backup.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/scratch.h"
#include "thread/care.h"
#include "thread/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool backup_is_hash(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!((v.s[i] >= '0' && v.s[i] <= '9') || (v.s[i] >= 'a' && v.s[i] <= 'f')))
            return false;
    return v.n == 2 * HASH_SIZE;
}

/* ---- copies of a log --------------------------------------------------------------------- */

enum status backup_scratch(struct request *r, struct sv *path, int *held, struct err *e)
{
    struct sv         tmp = workspace_variable(r->ws, "TMPDIR");
    struct sv         dir = r->ws->has_heddle ? path_join(r->ws->root, SV(".heddle"), r->a)
                            : tmp.n           ? tmp
                                              : SV("/tmp");
    UNDO(fd_undo) int at = open(sv_cstr(dir, r->a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char              name[FS_TEMP_NAME];

    if (at < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(dir));
    *held = scratch_make(at, name);
    if (*held < 0)
        return err_errno(e, "make a file in " SV_FMT, SV_ARG(dir));
    *path = sv_dup(path_join(dir, sv_of(name), r->a), r->a);
    return ST_OK;
}

void backup_forget(struct sv path)
{
    if (path.n)
        scratch_drop(path);
}

enum status backup_verify_log(struct request *r, struct log *l, struct care_findings *f,
                              int64_t *entries, struct err *e)
{
    struct log_findings  to = { care_find, NULL, f, NULL };
    struct store_thread *list;
    size_t               n;

    if (log_check_store(l, care_find, f, e) || log_begin(l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(l, r->a, &list, &n, e);
    log_abort(l);
    for (size_t i = 0; !s && i < n; i++) {
        int64_t read = 0;
        s = request_check(r, e);
        if (!s)
            s = log_examine(l, list[i].id, &to, &read, e);
        if (s == ST_CORRUPT) {
            care_find(f, sv_of(e->text));
            s = ST_OK;
        }
        *entries += read;
        request_progress(r, "check: threads", (int64_t)i + 1, (int64_t)n);
    }
    return s;
}

enum status backup_verify(struct request *r, struct sv path, struct care_findings *f,
                          int64_t *entries, struct err *e)
{
    struct store_options o = { .read_only = true };
    struct store        *store;

    *entries = 0;
    if (store_open(path, &o, &store, e))
        return err_code(e);
    struct log  l = log_of(store, workspace_views);
    enum status s = backup_verify_log(r, &l, f, entries, e);
    store_close(l.store);
    return s;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct backup_reading {
    struct request   *r;
    struct archive    in;
    struct backup_to *to;
    struct backup    *out;
    char             *piece;
    bool              has_store;
};

static enum status not_a_backup(const char *why, struct err *e)
{
    err_set(e, ST_CORRUPT, "this is not a backup of heddle, or it is damaged: %s", why);
    return err_hint(e, "`heddle backup FILE` makes one");
}

static enum status read_manifest(struct backup_reading *g, const struct archive_member *m,
                                 struct err *e)
{
    struct backup *b = g->out;
    char          *text;
    size_t         got = 0, n = 0;

    if (strcmp(m->name, BACKUP_MANIFEST) != 0 || m->size > BACKUP_MANIFEST_MAX)
        return not_a_backup("it does not begin with its description", e);
    text = ARENA_NEW(g->r->a, char, (size_t)m->size + 1);
    for (; n < (size_t)m->size; n += got)
        if (archive_read(&g->in, text + n, (size_t)m->size - n, &got, e))
            return err_code(e);
    if (json_parse((struct sv){ text, n }, 0, g->r->a, &b->manifest, e))
        return err_in(e, BACKUP_MANIFEST);
    if (json_number(&b->manifest, "format") > BACKUP_FORMAT) {
        err_set(e, ST_IO, "the backup has form %lld; this heddle knows up to %d",
                (long long)json_number(&b->manifest, "format"), BACKUP_FORMAT);
        return err_hint(e, "use the newer heddle that made it");
    }
    if (json_number(&b->manifest, "format") < 1)
        return not_a_backup("its description has no form", e);
    b->at = json_number(&b->manifest, "at");
    return ST_OK;
}

static enum status write_all(int fd, struct sv bytes, struct err *e)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.s, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "write");
        bytes = sv_skip(bytes, (size_t)n);
    }
    return ST_OK;
}

static enum status read_store(struct backup_reading *g, const struct archive_member *m,
                              struct err *e)
{
    struct sv          want = json_text(json_find(&g->out->manifest, "store"), "sha256");
    struct hash_sha256 h;
    size_t             got;
    int64_t            done = 0;

    hash_sha256_init(&h);
    for (; done < m->size; done += (int64_t)got) {
        if (request_check(g->r, e) || archive_read(&g->in, g->piece, BACKUP_PIECE, &got, e))
            return err_code(e);
        hash_sha256_add(&h, (struct sv){ g->piece, got });
        if (g->to->store >= 0 && write_all(g->to->store, (struct sv){ g->piece, got }, e))
            return err_in(e, "the copy of the log");
        request_progress(g->r, "backup: KiB of the log read", done / 1024, m->size / 1024);
    }
    struct hash is = hash_sha256_end(&h);
    if (!sv_eq(want, hash_hex(&is, g->r->a)))
        return not_a_backup("the log in it is not what was written", e);
    g->out->bytes = m->size;
    g->has_store = true;
    return ST_OK;
}

/* The bytes of one object, to `fd` unless it is -1. */
static enum status copy_object(struct backup_reading *g, int64_t size, struct sv hash, int fd,
                               struct err *e)
{
    struct arena        scratch = { 0 };
    struct hash_blake2b h;
    size_t              got;

    hash_blake2b_init(&h);
    for (; size; size -= (int64_t)got) {
        if (archive_read(&g->in, g->piece, BACKUP_PIECE, &got, e))
            return err_code(e);
        hash_blake2b_add(&h, (struct sv){ g->piece, got });
        if (fd >= 0 && write_all(fd, (struct sv){ g->piece, got }, e))
            return err_code(e);
    }
    struct hash is = hash_blake2b_end(&h);
    bool        same = sv_eq(hash, hash_hex(&is, &scratch));
    arena_free(&scratch);
    return same ? ST_OK : not_a_backup("an object in it is not what was written", e);
}

static enum status put_object(struct backup_reading *g, int64_t size, struct sv path,
                              struct sv hash, struct err *e)
{
    struct fs_draft d;
    bool            there;

    if (fs_exists(g->to->root, path, &there, e))
        return err_code(e);
    if (there)
        return copy_object(g, size, hash, -1, e);
    if (fs_mkdirs(g->to->root, path_dir(path), e) || fs_draft_open(&d, g->to->root, path, 0400, e))
        return err_code(e);
    if (copy_object(g, size, hash, d.fd, e)) {
        fs_draft_drop(&d);
        return err_code(e);
    }
    g->to->put++;
    return fs_draft_commit(&d, e);
}

static enum status read_object(struct backup_reading *g, const struct archive_member *m,
                               struct err *e)
{
    struct arena_mark mark = arena_mark(g->r->a);
    struct sv_cut     parts = sv_cut(sv_skip(sv_of(m->name), sizeof BACKUP_OBJECTS - 1), '/');
    struct sb         hash = sb_in(g->r->a, 0), path = sb_in(g->r->a, 0);

    sb_addf(&hash, SV_FMT SV_FMT, SV_ARG(parts.head), SV_ARG(parts.tail));
    sb_addf(&path, ".heddle/%s", m->name);
    if (parts.head.n != 2 || !backup_is_hash(sb_sv(&hash)))
        return not_a_backup("an object in it has a name that is none", e);
    bool unwanted = (g->to->unwanted && map_has(g->to->unwanted, sb_sv(&hash))) ||
                    (g->to->wanted && !map_has(g->to->wanted, sb_sv(&hash)));
    g->to->left += unwanted;
    enum status s = g->to->root >= 0 && !unwanted
                        ? put_object(g, m->size, sb_sv(&path), sb_sv(&hash), e)
                        : copy_object(g, m->size, sb_sv(&hash), -1, e);
    if (!s)
        arena_reset(g->r->a, mark);
    g->out->objects++;
    request_progress(g->r, "backup: objects read", g->out->objects,
                     json_number(&g->out->manifest, "objects"));
    return s;
}

static enum status read_member(struct backup_reading *g, const struct archive_member *m,
                               struct err *e)
{
    if (!g->has_store)
        return strcmp(m->name, BACKUP_STORE) == 0 ? read_store(g, m, e)
                                                  : not_a_backup("it has no log", e);
    if (sv_starts(sv_of(m->name), SV(BACKUP_OBJECTS)))
        return read_object(g, m, e);
    return not_a_backup("it holds something that no backup has", e);
}

static enum status read_all(struct backup_reading *g, struct err *e)
{
    struct archive_member m;
    bool                  more;

    if (archive_next(&g->in, &m, &more, e))
        return err_code(e);
    if (!more)
        return not_a_backup("it is empty", e);
    if (read_manifest(g, &m, e))
        return err_code(e);
    for (;;) {
        if (request_check(g->r, e) || archive_next(&g->in, &m, &more, e))
            return err_code(e);
        if (!more)
            break;
        if (read_member(g, &m, e))
            return err_code(e);
    }
    if (!g->has_store)
        return not_a_backup("it has no log", e);
    if (g->out->objects != json_number(&g->out->manifest, "objects"))
        return not_a_backup("it has another number of objects than it says", e);
    return ST_OK;
}

enum status backup_open(struct request *r, struct sv file, int *fd, int64_t *size, struct err *e)
{
    struct stat st;

    *fd = open(sv_cstr(file, r->a), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(file));
    *size = st.st_size;
    return S_ISREG(st.st_mode) ? ST_OK
                               : err_set(e, ST_IO, SV_FMT " is not a regular file", SV_ARG(file));
}

enum status backup_read(struct request *r, int fd, struct backup_to *to, struct backup *out,
                        struct err *e)
{
    struct backup_reading g = {
        .r = r, .to = to, .out = out, .piece = ARENA_NEW(r->a, char, BACKUP_PIECE)
    };

    *out = (struct backup){ 0 };
    to->put = to->left = 0;
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(e, "seek");
    if (archive_open(&g.in, fd, e))
        return err_code(e);
    enum status s = read_all(&g, e);
    archive_close(&g.in);
    return s;
}
