/* Noticing commits of other connections without asking all the time.
 *
 * A commit writes to the -wal file, which inotify reports; the watch is on the directory, since the
 * file comes and goes. The bytes are there before the commit is visible (SQLite syncs in between),
 * and other files in the directory change too, so an event is only a hint: whether something was
 * committed is what PRAGMA data_version says. Where inotify does not work (none left, a network
 * file system whose other machines write) the version is asked for at intervals. */
#include "store/sqlite_internal.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOT_TRIED = 0, NO_WATCH = -1 }; /* values of q->watch that are not a descriptor */

/* By its path from the root, not by the directory that is held open: a directory that was renamed
 * still has the file, but nobody finds it at its path. */
static bool is_at_path(const struct sqlite_store *q, struct stat *st)
{
    return stat(q->path, st) == 0;
}

void sqlite_note_place(struct sqlite_store *q)
{
    struct stat st;

    if (!is_at_path(q, &st))
        return;
    q->inode = st.st_ino;
    q->device = st.st_dev;
}

bool sqlite_in_place(struct store *s)
{
    struct sqlite_store *q = sqlite_of(s);
    struct stat          st;

    return is_at_path(q, &st) && st.st_ino == q->inode && st.st_dev == q->device;
}

/* When another file replaced the database, for example from a backup, this connection never sees
 * it, and a caller would wait forever. */
static enum status check_place(struct sqlite_store *q, struct err *e)
{
    struct stat st;

    if (sqlite_in_place(&q->base))
        return ST_OK;
    err_set(e, ST_IO, "%s was %s while it was in use", q->path,
            is_at_path(q, &st) ? "replaced by another file" : "removed");
    err_reason(e, "replaced");
    return err_hint(e, "start again: what is there now is another database");
}

enum status sqlite_version(struct store *s, int64_t *out, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              others;

    if (check_place(q, e))
        return err_code(e);
    if (sqlite_number(q, "PRAGMA data_version", &others, e))
        return err_code(e);
    *out = (int64_t)((uint64_t)others << 32 | (q->commits & UINT32_MAX));
    return ST_OK;
}

/* ---- marks ----------------------------------------------------------------------------------
 *
 * Every commit, of whatever process, ends with writing the header of the index of the write-ahead
 * log, which lies in memory that all connections share: a counter, the number of frames, the
 * checksum of the last one and the salts of the log. By it SQLite decides whether what a connection
 * has in its cache is still right, and so can we, without a transaction and without its locks. The
 * format is in the file format of SQLite ("WAL-Index Header"): two copies of 48 bytes, of which the
 * second is written first. A reader that finds two equal copies has a whole one. */

enum { INDEX_BLOCK = 32768, INDEX_INIT_WORD = 3 }; /* isInit is the first byte of that word */

static bool has_wal(struct sqlite_store *q)
{
    sqlite3_stmt *st = NULL;
    bool wal = sqlite3_prepare_v2(q->db, "PRAGMA journal_mode", -1, &st, NULL) == SQLITE_OK &&
               sqlite3_step(st) == SQLITE_ROW && sv_is(sqlite_column_sv(st, 0), "wal");

    sqlite3_finalize(st);
    return wal;
}

/* The first block of the index, as SQLite has it mapped: it stays there until the connection is
 * closed, and no other connection can leave WAL mode before that. */
static void find_index(struct sqlite_store *q)
{
    volatile void *block = NULL;

    if (!q->shared || !has_wal(q) ||
        sqlite3_file_control(q->db, "main", SQLITE_FCNTL_FILE_POINTER, &q->main) != SQLITE_OK ||
        !q->main || !q->main->pMethods || q->main->pMethods->iVersion < 2 ||
        q->main->pMethods->xShmMap(q->main, 0, INDEX_BLOCK, 0, &block) != SQLITE_OK)
        return;
    q->index = block;
}

/* Other threads and processes write there meanwhile; the access follows SQLite's protocol, not the
 * memory model of C. */
__attribute__((no_sanitize("thread"))) static void read_header(const volatile uint32_t *from,
                                                               struct store_mark       *out)
{
    for (size_t i = 0; i < COUNT(out->words); i++)
        out->words[i] = from[i];
}

bool sqlite_mark(struct store *s, struct store_mark *out)
{
    struct sqlite_store *q = sqlite_of(s);
    struct store_mark    second;

    if (!q->main)
        find_index(q);
    if (!q->main || !q->index || !sqlite_in_place(s))
        return false;
    read_header(q->index, out);
    q->main->pMethods->xShmBarrier(q->main);
    read_header(q->index + COUNT(out->words), &second);
    return memcmp(out, &second, sizeof second) == 0 &&
           ((const unsigned char *)&out->words[INDEX_INIT_WORD])[0];
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void start_watch(struct sqlite_store *q)
{
    char      by_fd[40];
    char     *copy = NULL;
    struct sv dir = path_dir(sv_of(q->path));

    q->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (q->watch == 0) { /* descriptor 0 (standard input is closed) would mean NOT_TRIED */
        q->watch = fcntl(0, F_DUPFD_CLOEXEC, 3);
        close(0);
    }
    if (q->watch < 0)
        return;
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", q->dir);
    if (q->dir < 0)
        copy = sqlite3_mprintf("%.*s", (int)dir.n, dir.n ? dir.s : "");
    const char *name = q->dir >= 0 ? by_fd : copy && copy[0] ? copy : ".";
    if (inotify_add_watch(q->watch, name, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0) {
        close(q->watch);
        q->watch = NO_WATCH;
    }
    sqlite3_free(copy);
}

enum status sqlite_pause(struct store *s, int ms, int peer, enum pause_end *end, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    char                 events[4096];

    (void)e;
    if (q->watch == NOT_TRIED)
        start_watch(q);
    *end = store_pause(q->watch, peer, ms);
    while (*end == PAUSE_HINT && read(q->watch, events, sizeof events) > 0)
        ; /* the events themselves are not needed, only that there was one */
    return ST_OK;
}
