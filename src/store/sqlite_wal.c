/* The write-ahead log as SQLite's pager sees it: writes that follow each other go to the file
 * together.
 *
 * SQLite writes a frame in two calls, 24 bytes and a page, and a short append has three frames.
 * Here they wait in memory until anything else is asked of the file, and become one system call.
 * That is safe because no reader uses a frame before it is in the index of the log, which SQLite
 * publishes after the sync that ends a commit (synchronous = FULL, see set_up() in sqlite.c); the
 * sync first writes what waits, and a failure of that write is returned as a failure of the sync. A
 * killed process loses waiting frames, but only frames of an uncommitted transaction, which readers
 * would ignore in the file too.
 *
 * Other files are opened by SQLite's own VFS. */
#include "store/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 64 << 10 };

struct wal_file {
    sqlite3_file  base;
    sqlite3_file *real;
    char         *waiting; /* WAITING_MAX bytes, from the first write on */
    int           n;       /* bytes in it ... */
    sqlite3_int64 at;      /* ... which belong here */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct wal_file *)file)->real;
}

static int write_out(sqlite3_file *file)
{
    struct wal_file *f = (struct wal_file *)file;
    int              n = f->n;

    f->n = 0;
    return n ? f->real->pMethods->xWrite(f->real, f->waiting, n, f->at) : SQLITE_OK;
}

static int wal_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
    struct wal_file *f = (struct wal_file *)file;
    int              rc = SQLITE_OK;

    if (f->n && (at != f->at + f->n || n > WAITING_MAX - f->n))
        rc = write_out(file);
    if (rc == SQLITE_OK && !f->waiting && !(f->waiting = malloc(WAITING_MAX)))
        rc = SQLITE_IOERR_NOMEM;
    if (rc != SQLITE_OK)
        return rc;
    if (n > WAITING_MAX)
        return f->real->pMethods->xWrite(f->real, bytes, n, at);
    if (!f->n)
        f->at = at;
    memcpy(f->waiting + f->n, bytes, (size_t)n);
    f->n += n;
    return SQLITE_OK;
}

static int wal_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
    struct wal_file *f = (struct wal_file *)file;
    bool             apart = !f->n || at + n <= f->at || at >= f->at + f->n;
    int              rc = apart ? SQLITE_OK : write_out(file);

    return rc == SQLITE_OK ? f->real->pMethods->xRead(f->real, out, n, at) : rc;
}

static int wal_sync(sqlite3_file *file, int flags)
{
    int rc = write_out(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xSync(real_of(file), flags) : rc;
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = write_out(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xTruncate(real_of(file), size) : rc;
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *out)
{
    int rc = write_out(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xFileSize(real_of(file), out) : rc;
}

static int wal_control(sqlite3_file *file, int op, void *arg)
{
    int rc = write_out(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xFileControl(real_of(file), op, arg) : rc;
}

static int wal_close(sqlite3_file *file)
{
    struct wal_file *f = (struct wal_file *)file;
    int              written = write_out(file), closed = f->real->pMethods->xClose(f->real);

    free(f->waiting);
    return written == SQLITE_OK ? closed : written;
}

/* A write-ahead log is never locked itself. */
static int wal_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int wal_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int wal_reserved(sqlite3_file *file, int *out)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int wal_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int wal_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static const sqlite3_io_methods wal_methods = {
    .iVersion = 1,
    .xClose = wal_close,
    .xRead = wal_read,
    .xWrite = wal_write,
    .xTruncate = wal_truncate,
    .xSync = wal_sync,
    .xFileSize = wal_size,
    .xLock = wal_lock,
    .xUnlock = wal_unlock,
    .xCheckReservedLock = wal_reserved,
    .xFileControl = wal_control,
    .xSectorSize = wal_sector,
    .xDeviceCharacteristics = wal_device,
};

int sqlite_wal_room(const sqlite3_vfs *below)
{
    return below->szOsFile + (int)sizeof(struct wal_file);
}

int sqlite_wal_open(sqlite3_vfs *below, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct wal_file *f = (struct wal_file *)file;

    *f = (struct wal_file){ .real = (sqlite3_file *)(void *)(f + 1) };
    int rc = below->xOpen(below, name, f->real, flags, out);
    if (rc == SQLITE_OK)
        f->base.pMethods = &wal_methods;
    return rc;
}
