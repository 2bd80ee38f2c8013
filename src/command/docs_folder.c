/* Documents as files: below the directory of a thread and its artifacts/. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/utf8.h"
#include "command/docs.h"
#include "command/words.h"

#include <sys/stat.h>

enum { DOC_MAX = 16 << 20 };

static struct sv thread_dir(struct sv thread, const char *below, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, ".leslie/threads/" SV_FMT "%s", SV_ARG(thread), below);
    return sb_sv(&b);
}

/* The rest of a path below the directory of some thread; absent: it is elsewhere. */
static struct sv below_thread(struct sv path)
{
    struct sv dir = SV(".leslie/threads/");

    if (!sv_starts(path, dir))
        return (struct sv){ 0 };
    return sv_cut(sv_skip(path, dir.n), '/').tail;
}

/* Does the path lead through a link, as far as can be seen? */
static bool has_link(int root, struct sv path)
{
    enum fs_kind kind;
    struct err   unseen;

    for (struct sv at = path; at.n; at = path_dir(at))
        if (fs_kind(root, at, &kind, &unseen) || kind == FS_LINK)
            return true;
    return false;
}

/* Some file systems do not tell CONTEXT from context. */
static bool is_below(struct sv path, struct sv dir)
{
    return path.n >= dir.n && word_same(sv_first(path, dir.n), dir);
}

static bool is_own_work(int root, struct sv path)
{
    struct sv rest = below_thread(path);

    return rest.n && !is_below(rest, SV("context/inherited/")) && !is_below(rest, SV(".meta/")) &&
           !has_link(root, path);
}

enum status doc_read_file(int root, struct sv path, struct arena *a, struct doc *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;

    /* Opening a pipe would block this process, and every writer that waits for it, until someone
     * writes to the pipe. */
    if (fs_open(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, &fd, e))
        return err_code(e);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ST_NOT_FOUND, SV_FMT " is not a file", SV_ARG(path));
    *out = (struct doc){ .path = path,
                         .modified =
                             (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 };
    if (fs_read_fd(fd, DOC_MAX, a, &out->text, e))
        return err_code(e);
    struct hash h = hash_blake2b(&out->text, 1);
    out->hash = hash_hex(&h, a);
    return ST_OK;
}

/* The title of a document: its first heading. */
static bool is_titled(struct sv text, struct sv name)
{
    struct sv line;

    while (text.n && (text.s[0] == '\n' || text.s[0] == '\r'))
        text = sv_skip(text, 1);
    line = sv_cut(text, '\n').head;
    if (!line.n || line.s[0] != '#')
        return false;
    while (line.n && line.s[0] == '#')
        line = sv_skip(line, 1);
    return sv_eq(sv_trim(line), name);
}

/* Add how many documents of a directory have this title; *out is one of them. */
static enum status find_titled(int root, struct sv dir, struct sv name, struct arena *a,
                               struct doc *out, size_t *found, struct err *e)
{
    struct fs_item *items;
    struct doc      doc;
    size_t          n = 0;
    enum status     s = fs_list(root, dir, a, &items, &n, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    for (size_t i = 0; i < n; i++) {
        if (items[i].name.s[0] == '.' || !sv_ends(items[i].name, SV(".md")))
            continue;
        s = doc_read_file(root, path_join(dir, items[i].name, a), a, &doc, e);
        if (s == ST_IO)
            return s; /* it may be the one that is asked for */
        if (s || !is_titled(doc.text, name))
            continue; /* too large, a link that leads out, removed meanwhile */
        ++*found;
        *out = doc;
    }
    return ST_OK;
}

static enum status find(struct docs_folder *f, struct sv thread, struct sv name, struct arena *a,
                        struct doc *out, struct err *e)
{
    static const char *const below[] = { "", "/artifacts" };
    static const char *const suffix[] = { "", ".md" };
    struct sv                path;
    size_t                   found = 0;

    if (path_normal(name, a, &path, e))
        return err_in(e, "doc:\"" SV_FMT "\"", SV_ARG(utf8_first(name, 80)));
    for (size_t i = 0; i < COUNT(suffix); i++)
        for (size_t k = 0; k < COUNT(below); k++) {
            struct sb b = sb_in(a, 0);
            sb_addf(&b, SV_FMT "/" SV_FMT "%s", SV_ARG(thread_dir(thread, below[k], a)),
                    SV_ARG(path), suffix[i]);
            enum status s = path.n ? doc_read_file(f->root_fd, sb_sv(&b), a, out, e) : ST_NOT_FOUND;
            if (s != ST_NOT_FOUND)
                return s;
        }
    for (size_t k = 0; k < COUNT(below); k++)
        if (find_titled(f->root_fd, thread_dir(thread, below[k], a), name, a, out, &found, e))
            return err_code(e);
    if (found == 1)
        return ST_OK;
    if (found) {
        err_set(e, ST_INVALID_SYNTAX, "several documents are titled \"" SV_FMT "\"",
                SV_ARG(utf8_first(name, 120)));
        return err_hint(e, "name one by its file");
    }
    return err_set(e, ST_NOT_FOUND, "no document \"" SV_FMT "\" in this thread",
                   SV_ARG(utf8_first(name, 120)));
}

static enum status folder_read(void *ctx, struct sv thread, struct sv name, struct arena *a,
                               struct doc *out, struct err *e)
{
    struct docs_folder *f = ctx;

    if (find(f, thread, name, a, out, e))
        return err_code(e);
    out->read_only = !is_own_work(f->root_fd, out->path);
    return ST_OK;
}

static enum status folder_write(void *ctx, const struct doc *d, struct sv text, struct err *e)
{
    struct docs_folder *f = ctx;

    if (!is_own_work(f->root_fd, d->path)) {
        err_set(e, ST_PERMISSION_DENIED, "this document is read-only here");
        return err_hint(e, "write to a document of this thread");
    }
    if (!d->hash.n && fs_mkdirs(f->root_fd, sv_cut_last(d->path, '/').head, e))
        return err_code(e);
    return fs_write(f->root_fd, d->path, text, 0666, e);
}

/* No part of a path is hidden, and what others own is left to them: context/ holds copies of other
 * threads. */
static enum status check_new(struct sv path, struct err *e)
{
    struct sv rest = path;
    bool      more = true;

    if (!path.n)
        return err_set(e, ST_INVALID_SYNTAX, "a document needs a name");
    while (more) {
        struct sv_cut c = sv_cut(rest, '/');
        rest = c.tail;
        more = c.found;
        if (c.head.n && c.head.s[0] == '.')
            return err_set(e, ST_INVALID_SYNTAX,
                           "the name of a document does not start with a dot");
    }
    if (!is_below(path, SV("context/")))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "context/ holds what this thread got from others");
    return err_hint(e, "give the document another name");
}

/* A plain name goes to artifacts/, one with a directory in it below the directory of the thread. */
static enum status folder_create(void *ctx, struct sv thread, struct sv name, struct arena *a,
                                 struct doc *out, struct err *e)
{
    struct sb b = sb_in(a, 0);
    struct sv path;

    (void)ctx;
    if (path_normal(name, a, &path, e) || check_new(path, e))
        return err_in(e, "doc:\"" SV_FMT "\"", SV_ARG(utf8_first(name, 80)));
    bool plain = !sv_has(path, '/'), typed = sv_ends(path, SV(".md")) || sv_ends(path, SV(".txt"));
    sb_addf(&b, SV_FMT "/" SV_FMT "%s", SV_ARG(thread_dir(thread, plain ? "/artifacts" : "", a)),
            SV_ARG(path), typed ? "" : ".md");
    *out = (struct doc){ .path = sb_sv(&b), .text = SV(""), .hash = SV("") };
    return ST_OK;
}

struct docs docs_in_folder(struct docs_folder *f)
{
    return (struct docs){ f, folder_read, folder_write, NULL, folder_create };
}
