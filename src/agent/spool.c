/* The files of a turn. */
#include "agent/spool.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/path.h"
#include "thread/run.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TURNS ".heddle/turns"

enum { SPOOL_MAX = 64 << 20, NAME_BYTES = 512 };

static struct sv path_of(const struct spool *s, const char *kind, struct sv name, char room[])
{
    struct sb b = sb_on(room, NAME_BYTES, NULL);

    sb_add(&b, s->dir);
    sb_addf(&b, "/%s" SV_FMT, kind, SV_ARG(name));
    return sb_sv(&b);
}

/* ---- the directory --------------------------------------------------------------------- */

static enum status take_lock(struct spool *s, struct sv thread, struct sv agent, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    char              room[NAME_BYTES];
    struct sb         b = sb_in(s->a, 0);

    if (fs_open_own(s->root, path_of(s, "lock", SV(""), room), O_RDWR, &fd, e))
        return err_code(e);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        err_set(e, ST_CONFLICT, "another process runs this turn");
        err_reason(e, "running");
        return err_hint(e, "wait for its end, or end it: `" SV_FMT "`",
                        SV_ARG(run_cancel_words(thread, agent, s->a)));
    }
    sb_addf(&b, SV_FMT "\n" SV_FMT "\n", SV_ARG(thread), SV_ARG(agent));
    struct sv text = sb_sv(&b);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text.s, text.n, 0) != (ssize_t)text.n)
        return err_errno(e, "write " TURNS);
    s->lock = fd_take(&fd);
    return ST_OK;
}

enum status spool_open(struct spool *s, int root, struct sv run, struct sv thread, struct sv agent,
                       struct arena *a, struct err *e)
{
    enum { TRIES = 3 }; /* spool_sweep() of another process may take the empty directory away */
    enum status st = ST_OK;

    *s = (struct spool){ .root = root, .dir = path_join(SV(TURNS), run, a), .lock = -1, .a = a };
    if (name_check(run, "run id", e))
        return err_code(e);
    for (int i = 0; i < TRIES; i++) {
        st = fs_mkdirs(root, s->dir, e);
        if (!st)
            st = take_lock(s, thread, agent, e);
        if (st != ST_NOT_FOUND && st != ST_IO)
            break;
    }
    return st;
}

/* The lock is removed last: until then the directory shows which turn it belongs to. */
static void remove_files(const struct spool *s)
{
    struct fs_item *items;
    size_t          n = 0;
    struct err      ignored;
    char            room[NAME_BYTES];

    if (fs_list(s->root, s->dir, s->a, &items, &n, &ignored))
        n = 0;
    for (size_t i = 0; i < n; i++)
        if (!sv_is(items[i].name, "lock") &&
            fs_remove(s->root, path_of(s, "", items[i].name, room), &ignored))
            return; /* spool_sweep() of a later turn removes it */
    if (fs_remove(s->root, s->dir, &ignored))
        return;
}

void spool_close(struct spool *s, bool over)
{
    if (s->lock < 0)
        return;
    if (over)
        remove_files(s);
    close(s->lock);
    s->lock = -1;
}

/* ---- turns that are over ---------------------------------------------------------------- */

static bool is_locked(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) != 0;
}

static bool can_go(struct spool *s, struct sv run,
                   bool (*is_active)(void *ctx, struct sv run, struct sv thread, struct sv agent),
                   void *ctx)
{
    UNDO(fd_undo) int fd = -1;
    char              room[NAME_BYTES];
    struct sv         text, lock = path_of(s, "lock", SV(""), room);
    struct err        ignored;
    bool              there;

    if (fs_exists(s->root, lock, &there, &ignored))
        return false;
    if (!there)
        return true; /* an empty directory, left by a turn that was over */
    if (fs_open(s->root, lock, O_RDONLY, &fd, &ignored))
        return false;
    if (is_locked(fd) || fs_read_fd(fd, 1024, s->a, &text, &ignored))
        return false;
    struct sv_cut thread = sv_cut(text, '\n');
    return !is_active(ctx, run, thread.head, sv_cut(thread.tail, '\n').head);
}

void spool_sweep(int root,
                 bool (*is_active)(void *ctx, struct sv run, struct sv thread, struct sv agent),
                 void *ctx)
{
    struct arena    a = { 0 };
    struct fs_item *items;
    size_t          n = 0;
    struct err      ignored;

    if (fs_list(root, SV(TURNS), &a, &items, &n, &ignored))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        struct spool s = { .root = root, .dir = path_join(SV(TURNS), items[i].name, &a), .a = &a };
        if (items[i].kind == FS_DIR && can_go(&s, items[i].name, is_active, ctx))
            remove_files(&s);
    }
    arena_free(&a);
}

/* ---- a line of JSON, then bytes ----------------------------------------------------------- */

static bool write_all(int fd, struct sv bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.s, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = sv_skip(bytes, (size_t)n);
    }
    return true;
}

static enum status read_parts(const struct spool *s, const char *kind, struct sv name,
                              struct arena *a, struct json *head, struct sv *bytes, bool *found,
                              struct err *e)
{
    char      room[NAME_BYTES];
    struct sv text, path = path_of(s, kind, name, room);

    *bytes = SV("");
    *head = (struct json){ .type = JSON_OBJECT };
    if (fs_exists(s->root, path, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    if (fs_read(s->root, path, SPOOL_MAX, a, &text, e))
        return err_code(e);
    struct sv_cut line = sv_cut(text, '\n');
    struct err    cut_off; /* the process was killed before the line was written */
    if (line.found && json_parse(line.head, 0, a, head, &cut_off) == ST_OK)
        *bytes = line.tail;
    return ST_OK;
}

/* ---- answers -------------------------------------------------------------------------------- */

struct spool_answer spool_answer_of(const struct spool *s, struct sv name)
{
    struct spool_answer x = { .spool = s, .name = name, .fd = -1 };
    char                room[NAME_BYTES];
    struct err          ignored;

    x.failed = fs_open_own(s->root, path_of(s, "answer-", name, room), O_RDWR, &x.fd, &ignored);
    return x;
}

/* Every attempt begins a new answer. */
static bool begin_answer(struct spool_answer *x, struct sv headers)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    struct jw    w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_klossy(&w, "headers", headers);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    bool good =
        ftruncate(x->fd, 0) == 0 && lseek(x->fd, 0, SEEK_SET) == 0 && write_all(x->fd, sb_sv(&b));
    arena_free(&scratch);
    return good;
}

enum status spool_receive(void *answer, struct sv headers, struct sv bytes, struct err *e)
{
    struct spool_answer *x = answer;

    (void)e;
    if (x->fd < 0)
        return ST_OK;
    if ((headers.s && !begin_answer(x, headers)) || !write_all(x->fd, bytes)) {
        x->failed = true;
        spool_answer_end(x);
    }
    return ST_OK;
}

void spool_answer_end(struct spool_answer *x)
{
    fd_undo(&x->fd);
    x->fd = -1;
}

enum status spool_answer_read(const struct spool *s, struct sv name, struct arena *a,
                              struct sv *headers, struct sv *bytes, bool *found, struct err *e)
{
    struct json head;

    if (read_parts(s, "answer-", name, a, &head, bytes, found, e))
        return err_code(e);
    *headers = json_text(&head, "headers");
    return ST_OK;
}

/* ---- documents ------------------------------------------------------------------------------ */

enum status spool_write_keep(const struct spool *s, struct sv name, const struct spool_write *w,
                             struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    struct jw    j = jw_in(&b, 0);
    char         room[NAME_BYTES];

    jw_open(&j, '{');
    jw_kstr(&j, "after", w->after);
    jw_kstr(&j, "before", w->before);
    jw_klossy(&j, "path", w->path);
    jw_close(&j, '}');
    sb_addc(&b, '\n');
    sb_add(&b, w->text);
    enum status st = fs_write(s->root, path_of(s, "write-", name, room), sb_sv(&b), 0600, e);
    arena_free(&scratch);
    return st;
}

enum status spool_write_read(const struct spool *s, struct sv name, struct arena *a,
                             struct spool_write *out, bool *found, struct err *e)
{
    struct json head;

    if (read_parts(s, "write-", name, a, &head, &out->text, found, e))
        return err_code(e);
    out->path = json_text(&head, "path");
    out->before = json_text(&head, "before");
    out->after = json_text(&head, "after");
    return ST_OK;
}
