/* Who may write the files below .leslie/.
 *
 * Among heddle processes: flock on .heddle/share.lock, which the kernel gives back when a process
 * dies. Towards Leslie: its lock directories `<file>.lock`, made to take the lock, removed to give
 * it back; one whose mtime is more than 10 s old is abandoned. A directory is made under another
 * name first, and its inode and mtime are recorded in share.lock before it is renamed into place,
 * so that the next heddle knows at once which directory a killed heddle left.
 *
 * Both files are locked in the same order; Leslie never holds two, so nobody waits in a circle. */
#include "share/share_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_STALE_MS = 10000, LOCK_STEP_MS = 5 };
static const char *const lock_names[2] = { "thread_relations.json.lock", "objectives.json.lock" };

/* Leslie gives up after about three seconds; heddle does the same. */
static int64_t patience_us(void)
{
    return 3100 * (int64_t)1000;
}

static enum status take_flock(struct share *s, struct err *e)
{
    if (fs_mkdirs(s->root, SV(".heddle"), e) ||
        fs_mkdirs(s->root, SV(".leslie/threads/.global"), e))
        return err_code(e);
    if (fs_open_own(s->root, SV(".heddle/share.lock"), O_RDWR, &s->flock_fd, e)) {
        s->flock_fd = -1;
        return err_code(e);
    }
    while (flock(s->flock_fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return err_errno(e, "lock .heddle/share.lock");
    return ST_OK;
}

/* A lock directory that heddle made; inode 0: none. The mtime is compared too, because inodes are
 * reused. */
struct lock_made {
    unsigned long long inode;
    long long          mtime_ns;
};

static struct lock_made made_of(const struct stat *st)
{
    return (struct lock_made){ st->st_ino,
                               st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec };
}

static void read_owned(int fd, struct lock_made owned[2])
{
    char    text[128] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    struct lock_made *one = &owned[0], *two = &owned[1];

    *one = *two = (struct lock_made){ 0 };
    if (n > 0)
        sscanf(text, "%20llu %20lld %20llu %20lld", &one->inode, &one->mtime_ns, &two->inode,
               &two->mtime_ns);
}

static enum status write_owned(int fd, const struct lock_made owned[2], struct err *e)
{
    char text[128];
    int  n = snprintf(text, sizeof text, "%020llu %020lld %020llu %020lld\n", owned[0].inode,
                      owned[0].mtime_ns, owned[1].inode, owned[1].mtime_ns);

    return pwrite(fd, text, (size_t)n, 0) == n ? ST_OK : err_errno(e, "write .heddle/share.lock");
}

static bool is_abandoned(const struct stat *st, struct lock_made owned)
{
    struct lock_made this = made_of(st);

    if (owned.inode && this.inode == owned.inode && this.mtime_ns == owned.mtime_ns)
        return true; /* this process holds the flock, so the one that made it is gone */
    int64_t age = clock_system_ms() - st->st_mtim.tv_sec * 1000 - st->st_mtim.tv_nsec / 1000000;
    return age > LOCK_STALE_MS; /* Leslie treats a time in the future as fresh */
}

static enum status refuse(struct share *s, const char *name, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    err_set(e, ST_CONFLICT, "File lock failed: another program holds .leslie/%s", name);
    err_reason(e, "lock");
    jw_open(&w, '{');
    jw_key(&w, "filePath");
    sb_addf(&b, "\".leslie/%.*s\"", (int)(strlen(name) - 5), name);
    w.after_key = false;
    w.comma = true;
    jw_kstr(&w, "cause", SV("Lock file is already being held"));
    jw_close(&w, '}');
    s->details = sb_sv(&b);
    return err_hint(e,
                    "nothing was changed; run the command again, or remove the empty directory if "
                    "no program uses it");
}

/* Give the new directory its final name, if that name is free. */
static bool claim(int dir, const char *made, const char *name)
{
    if (renameat2(dir, made, dir, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    return mkdirat(dir, name, 0777) == 0; /* a file system without that rename */
}

static enum status take_folder(struct share *s, int dir, int which, struct lock_made owned[2],
                               struct err *e)
{
    const char *name = lock_names[which];
    char        made[64];
    struct stat st, held;
    int64_t     until = clock_steady_us() + patience_us();
    bool        won = false;

    /* This process holds the flock: a file with this name was left by a killed heddle process, or
     * by somebody else. */
    snprintf(made, sizeof made, ".heddle-lock-%d", which);
    if (unlinkat(dir, made, AT_REMOVEDIR) != 0 && errno == ENOTDIR)
        unlinkat(dir, made, 0);
    if (mkdirat(dir, made, 0777) != 0)
        return err_errno(e, "mkdir .leslie/%s", made);
    /* Remove what a killed heddle process left before recording the new lock: if this process is
     * killed while it waits for Leslie, the next one knows only what is recorded. */
    struct lock_made before = owned[which];
    if (fstatat(dir, name, &held, AT_SYMLINK_NOFOLLOW) == 0 && is_abandoned(&held, before))
        unlinkat(dir, name, AT_REMOVEDIR);
    if (fstatat(dir, made, &st, AT_SYMLINK_NOFOLLOW) == 0)
        owned[which] = made_of(&st);
    enum status r = write_owned(s->flock_fd, owned, e);
    while (!r && !(won = claim(dir, made, name))) {
        if (fstatat(dir, name, &held, AT_SYMLINK_NOFOLLOW) == 0 && is_abandoned(&held, before)) {
            before = (struct lock_made){ 0 };
            if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
                continue;
        }
        if (clock_steady_us() > until)
            break;
        struct timespec step = { 0, LOCK_STEP_MS * 1000000L };
        nanosleep(&step, NULL);
    }
    unlinkat(dir, made, AT_REMOVEDIR); /* gone already when it was renamed */
    s->held[which] = won;
    return r ? r : won ? ST_OK : refuse(s, name, e);
}

enum status share_lock(struct share *s, struct err *e)
{
    UNDO(fd_undo) int dir = -1;
    struct lock_made  owned[2];

    if (take_flock(s, e) || fs_open(s->root, SV(".leslie"), O_RDONLY | O_DIRECTORY, &dir, e))
        goto fail;
    read_owned(s->flock_fd, owned);
    for (int i = 0; i < 2; i++)
        if (take_folder(s, dir, i, owned, e))
            goto fail;
    return ST_OK;
fail:
    share_unlock(s);
    return err_code(e);
}

void share_unlock(struct share *s)
{
    struct err        ignored;
    UNDO(fd_undo) int dir = -1;

    if ((s->held[0] || s->held[1]) &&
        fs_open(s->root, SV(".leslie"), O_RDONLY | O_DIRECTORY, &dir, &ignored) == ST_OK)
        for (int i = 0; i < 2; i++)
            if (s->held[i])
                unlinkat(dir, lock_names[i], AT_REMOVEDIR);
    s->held[0] = s->held[1] = false;
    if (s->flock_fd >= 0)
        close(s->flock_fd);
    s->flock_fd = -1;
}
