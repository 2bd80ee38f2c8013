/* Writes of the write-ahead log that follow each other are one write of the file, in the order in
 * which they were asked for, and never later than what depends on them. */
#include "base/sb.h"
#include "store/sqlite_internal.h"
#include "tap.h"

#include <string.h>

/* A file in memory below the one that is tested. It writes down what it is asked for. */
struct below_file {
    sqlite3_file base;
};

static char disk[1 << 20], story[2000];
static int  size, fail_writes;

static void tell(const char *what, int n, sqlite3_int64 at)
{
    size_t used = strlen(story);

    snprintf(story + used, sizeof story - used, "%s%s %d@%d", used ? ", " : "", what, n, (int)at);
}

static int below_close(sqlite3_file *f)
{
    (void)f;
    tell("close", 0, 0);
    return SQLITE_OK;
}

static int below_read(sqlite3_file *f, void *out, int n, sqlite3_int64 at)
{
    (void)f;
    tell("read", n, at);
    if (at + n > size)
        return SQLITE_IOERR_SHORT_READ;
    memcpy(out, disk + at, (size_t)n);
    return SQLITE_OK;
}

static int below_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    (void)f;
    tell("write", n, at);
    if (fail_writes)
        return SQLITE_FULL;
    memcpy(disk + at, bytes, (size_t)n);
    size = at + n > size ? (int)at + n : size;
    return SQLITE_OK;
}

static int below_truncate(sqlite3_file *f, sqlite3_int64 to)
{
    (void)f;
    tell("truncate", 0, to);
    size = (int)to;
    return SQLITE_OK;
}

static int below_sync(sqlite3_file *f, int flags)
{
    (void)f;
    tell("sync", flags, 0);
    return SQLITE_OK;
}

static int below_size(sqlite3_file *f, sqlite3_int64 *out)
{
    (void)f;
    *out = size;
    return SQLITE_OK;
}

static int below_control(sqlite3_file *f, int op, void *arg)
{
    (void)f;
    (void)arg;
    tell("control", op, 0);
    return SQLITE_NOTFOUND;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = below_close,
    .xRead = below_read,
    .xWrite = below_write,
    .xTruncate = below_truncate,
    .xSync = below_sync,
    .xFileSize = below_size,
    .xFileControl = below_control,
};

static int open_below(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    (void)out;
    CHECK(strcmp(name, "log-wal") == 0);
    if (flags & SQLITE_OPEN_READONLY)
        return SQLITE_CANTOPEN;
    f->pMethods = &methods;
    return SQLITE_OK;
}

static sqlite3_vfs below = { .szOsFile = sizeof(struct below_file), .xOpen = open_below };
static char        room[1000];

static sqlite3_file *fresh(void)
{
    sqlite3_file *f = (sqlite3_file *)(void *)room;

    CHECK(sqlite_wal_room(&below) <= (int)sizeof room);
    size = fail_writes = 0;
    memset(disk, 0, sizeof disk);
    CHECK(sqlite_wal_open(&below, "log-wal", f, SQLITE_OPEN_WAL, NULL) == SQLITE_OK);
    story[0] = 0;
    return f;
}

/* ---- tests --------------------------------------------------------------------------------- */

static char page[100 << 10];

static int put(sqlite3_file *f, char fill, int n, sqlite3_int64 at)
{
    memset(page, fill, (size_t)n);
    return f->pMethods->xWrite(f, page, n, at);
}

static void frames_of_a_commit_are_one_write_before_the_sync(void)
{
    sqlite3_file *f = fresh();

    for (int i = 0; i < 3; i++) {
        CHECK(put(f, (char)('a' + i), 24, 32 + i * 4120) == SQLITE_OK);
        CHECK(put(f, (char)('A' + i), 4096, 32 + i * 4120 + 24) == SQLITE_OK);
    }
    CHECK_SV(sv_of(story), SV(""));
    CHECK(f->pMethods->xSync(f, SQLITE_SYNC_NORMAL) == SQLITE_OK);
    CHECK_SV(sv_of(story), SV("write 12360@32, sync 2@0"));
    CHECK(disk[32] == 'a' && disk[56] == 'A' && disk[32 + 4120] == 'b' && disk[12391] == 'C');
    CHECK(f->pMethods->xSync(f, SQLITE_SYNC_NORMAL) == SQLITE_OK); /* nothing waits any more */
    CHECK_SV(sv_of(story), SV("write 12360@32, sync 2@0, sync 2@0"));
    f->pMethods->xClose(f);
}

static void a_write_somewhere_else_keeps_the_order(void)
{
    sqlite3_file *f = fresh();

    CHECK(put(f, 'x', 10, 100) == SQLITE_OK);
    CHECK(put(f, 'y', 10, 110) == SQLITE_OK);
    CHECK(put(f, 'z', 10, 105) == SQLITE_OK); /* over both */
    CHECK(put(f, 'h', 32, 0) == SQLITE_OK);
    CHECK_SV(sv_of(story), SV("write 20@100, write 10@105"));
    CHECK(f->pMethods->xTruncate(f, 200) == SQLITE_OK);
    CHECK_SV(sv_of(story), SV("write 20@100, write 10@105, write 32@0, truncate 0@200"));
    CHECK(memcmp(disk + 100, "xxxxxzzzzzzzzzzyyyyy", 20) == 0);
    f->pMethods->xClose(f);
}

static void what_was_written_is_read(void)
{
    sqlite3_file *f = fresh();
    sqlite3_int64 n;
    char          back[20];

    CHECK(put(f, 'a', 100, 0) == SQLITE_OK && f->pMethods->xSync(f, 2) == SQLITE_OK);
    CHECK(put(f, 'b', 100, 100) == SQLITE_OK);
    story[0] = 0;
    CHECK(f->pMethods->xRead(f, back, 20, 80) == SQLITE_OK && back[19] == 'a');
    CHECK_SV(sv_of(story), SV("read 20@80")); /* beside what waits */
    CHECK(f->pMethods->xRead(f, back, 20, 90) == SQLITE_OK && back[9] == 'a' && back[10] == 'b');
    CHECK_SV(sv_of(story), SV("read 20@80, write 100@100, read 20@90"));
    CHECK(put(f, 'c', 50, 200) == SQLITE_OK);
    CHECK(f->pMethods->xFileSize(f, &n) == SQLITE_OK);
    CHECK_INT(n, 250);
    CHECK(put(f, 'd', 50, 250) == SQLITE_OK);
    CHECK(f->pMethods->xFileControl(f, 99, NULL) == SQLITE_NOTFOUND);
    CHECK_INT(size, 300);
    f->pMethods->xClose(f);
}

static void a_write_that_fails_is_told_by_the_sync_and_made_once(void)
{
    sqlite3_file *f = fresh();

    fail_writes = 1;
    CHECK(put(f, 'a', 4096, 0) == SQLITE_OK);
    CHECK(f->pMethods->xSync(f, 2) == SQLITE_FULL);
    CHECK_SV(sv_of(story), SV("write 4096@0")); /* and no sync */
    fail_writes = 0;
    CHECK(f->pMethods->xSync(f, 2) == SQLITE_OK);
    CHECK_SV(sv_of(story), SV("write 4096@0, sync 2@0"));
    CHECK_INT(size, 0);
    f->pMethods->xClose(f);
}

static void what_does_not_fit_goes_out_in_pieces(void)
{
    sqlite3_file *f = fresh();
    int           n = 0;

    for (; n < 40 * 4120; n += 4120)
        CHECK(put(f, (char)('a' + n / 4120 % 20), 4120, n) == SQLITE_OK);
    CHECK(put(f, 'Z', 90 << 10, n) == SQLITE_OK); /* larger than all that can wait */
    CHECK(put(f, 'e', 10, n + (90 << 10)) == SQLITE_OK);
    CHECK(f->pMethods->xClose(f) == SQLITE_OK); /* which writes the last of it */
    CHECK_INT(size, n + (90 << 10) + 10);
    bool good = true;
    for (int i = 0; i < n; i++)
        good = good && disk[i] == 'a' + i / 4120 % 20;
    CHECK(good && disk[n] == 'Z' && disk[size - 1] == 'e');
}

static void a_file_that_cannot_be_opened_is_not_closed(void)
{
    sqlite3_file *f = (sqlite3_file *)(void *)room;

    memset(room, 1, sizeof room);
    CHECK(sqlite_wal_open(&below, "log-wal", f, SQLITE_OPEN_WAL | SQLITE_OPEN_READONLY, NULL) ==
          SQLITE_CANTOPEN);
    CHECK(f->pMethods == NULL); /* SQLite closes what has methods */
}

TAP_MAIN(T(frames_of_a_commit_are_one_write_before_the_sync),
         T(a_write_somewhere_else_keeps_the_order), T(what_was_written_is_read),
         T(a_write_that_fails_is_told_by_the_sync_and_made_once),
         T(what_does_not_fit_goes_out_in_pieces), T(a_file_that_cannot_be_opened_is_not_closed), )
