/* A disk that can lose its power: a VFS for SQLite under which a write is safe only after a sync.
 *
 * Every call goes on to the file system at once, so the program under test sees what it wrote.
 * Beside that the VFS keeps what a power cut would leave: for each file the bytes as of its last
 * sync, and in order what was done since. After each change `power.cut` is called, where
 * power_image() writes one of the states that the disk may be found in:
 *
 *     POWER_SYNCED   nothing that was not synced has arrived
 *     POWER_ALL      everything has
 *     POWER_PREFIX   everything up to a random change has
 *     POWER_ANY      random changes have, in no order, and of a write random sectors
 *
 * The shared memory of the write-ahead log (-shm) does not survive, as in a machine that starts
 * again. Files whose name holds "cut-" are left alone: the images are opened through them. */
#ifndef HEDDLE_POWER_VFS_H
#define HEDDLE_POWER_VFS_H

#include "base/base.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum power_loss { POWER_SYNCED, POWER_ALL, POWER_PREFIX, POWER_ANY, POWER_LOSSES };
enum { POWER_FILES = 4, POWER_SECTOR = 512 };

/* Something that was done to a file and not synced yet. */
enum power_kind { POWER_WRITE, POWER_TRUNCATE, POWER_DELETE };
struct power_change {
    enum power_kind kind;
    int             file;
    int64_t         at; /* offset, or the size it was cut to */
    size_t          n;
    unsigned char  *bytes;
    bool            safe; /* by the sync that is going on */
};

struct power_bytes {
    bool           there;
    size_t         n;
    unsigned char *bytes;
};

struct power_file {
    char               name[512];
    struct power_bytes safe; /* what the last sync left */
};

static struct {
    struct power_file    files[POWER_FILES];
    struct power_change *changes;
    size_t               n, cap;
    bool                 syncs; /* false: a sync is believed and does nothing */
    void (*cut)(void *ctx);     /* after each change; NULL: nobody looks */
    void    *ctx;
    uint64_t state; /* of power_draw() */
} power = { .syncs = true, .state = 88172645463325252u };

static uint64_t power_draw(uint64_t below)
{
    power.state ^= power.state << 13;
    power.state ^= power.state >> 7;
    power.state ^= power.state << 17;
    return (power.state >> 11) % below;
}

static void *power_memory(void *old, size_t n)
{
    void *p = realloc(old, n ? n : 1);

    if (!p)
        abort();
    return p;
}

/* ---- what the disk holds ----------------------------------------------------------------- */

static void power_resize(struct power_bytes *b, size_t n)
{
    if (n > b->n) {
        b->bytes = power_memory(b->bytes, n);
        memset(b->bytes + b->n, 0, n - b->n);
    }
    b->n = n;
}

static void power_put(struct power_bytes *b, int64_t at, const void *bytes, size_t n)
{
    if ((size_t)at + n > b->n)
        power_resize(b, (size_t)at + n);
    memcpy(b->bytes + at, bytes, n);
    b->there = true;
}

static void power_apply(struct power_bytes *b, const struct power_change *c)
{
    if (c->kind == POWER_WRITE)
        power_put(b, c->at, c->bytes, c->n);
    else
        power_resize(b, (size_t)c->at);
    b->there = c->kind != POWER_DELETE;
}

/* Only random sectors of a write arrive. */
static void power_tear(struct power_bytes *b, const struct power_change *c)
{
    for (size_t from = 0; from < c->n;) {
        size_t part = POWER_SECTOR - ((size_t)c->at + from) % POWER_SECTOR;
        part = part < c->n - from ? part : c->n - from;
        if (power_draw(2))
            power_put(b, c->at + (int64_t)from, c->bytes + from, part);
        from += part;
    }
}

static struct power_bytes power_copy(const struct power_bytes *from)
{
    struct power_bytes b = { .there = from->there };

    if (from->n)
        power_put(&b, 0, from->bytes, from->n);
    b.there = from->there;
    return b;
}

static void power_add(int file, enum power_kind kind, int64_t at, const void *bytes, size_t n)
{
    if (power.n == power.cap) {
        power.cap = power.cap ? power.cap * 2 : 64;
        power.changes = power_memory(power.changes, power.cap * sizeof *power.changes);
    }
    struct power_change *c = &power.changes[power.n++];
    *c = (struct power_change){ .kind = kind, .file = file, .at = at, .n = n };
    if (n) {
        c->bytes = power_memory(NULL, n);
        memcpy(c->bytes, bytes, n);
    }
    if (power.cut)
        power.cut(power.ctx);
}

/* Is the file deleted by a later change than number i? */
static bool power_goes_later(size_t i)
{
    for (size_t j = i; j < power.n; j++)
        if (power.changes[j].file == power.changes[i].file && power.changes[j].kind == POWER_DELETE)
            return true;
    return false;
}

/* What was done to a file is safe from here on; with `directory`, so are deletions of all files. */
static void power_sync(int file, bool directory)
{
    size_t kept = 0;

    for (size_t i = 0; i < power.n && power.syncs; i++)
        power.changes[i].safe = power.changes[i].file == file || (directory && power_goes_later(i));
    for (size_t i = 0; i < power.n && power.syncs; i++) {
        struct power_change *c = &power.changes[i];
        if (!c->safe) {
            power.changes[kept++] = *c;
            continue;
        }
        power_apply(&power.files[c->file].safe, c);
        free(c->bytes);
    }
    if (power.syncs)
        power.n = kept;
    if (power.cut)
        power.cut(power.ctx);
}

/* Forget every file: a new disk. */
static void power_reset(void)
{
    for (size_t i = 0; i < power.n; i++)
        free(power.changes[i].bytes);
    for (int i = 0; i < POWER_FILES; i++)
        free(power.files[i].safe.bytes);
    memset(power.files, 0, sizeof power.files);
    power.n = 0;
}

/* One state that file `f` may be found in. A file that was deleted and made again is either the old
 * one, or a new one with some of what was written to it. */
static struct power_bytes power_found(int f, enum power_loss how, size_t prefix)
{
    struct power_bytes b = power_copy(&power.files[f].safe);

    for (size_t i = 0; i < power.n; i++) {
        const struct power_change *c = &power.changes[i];
        if (c->file != f || how == POWER_SYNCED || (how == POWER_PREFIX && i >= prefix))
            continue;
        if (how != POWER_ANY) {
            power_apply(&b, c);
        } else if (c->kind == POWER_WRITE) {
            power_tear(&b, c);
        } else if (power_draw(2)) {
            power_apply(&b, c);
        } else if (c->kind == POWER_DELETE) {
            break;
        }
    }
    return b;
}

/* Write what is found after a cut now: TO, TO-wal, … ; true unless the disk itself fails. */
static bool power_image(enum power_loss how, const char *to)
{
    size_t prefix = power_draw(power.n + 1);
    bool   ok = true;

    for (int f = 0; f < POWER_FILES && power.files[f].name[0]; f++) {
        struct power_bytes b = power_found(f, how, prefix);
        const char        *suffix = strrchr(strrchr(power.files[f].name, '/'), '-');
        char               path[600];
        snprintf(path, sizeof path, "%s%s", to, suffix ? suffix : "");
        if (b.there) {
            int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
            ok = ok && fd >= 0 && write(fd, b.bytes, b.n) == (ssize_t)b.n;
            close(fd);
        }
        free(b.bytes);
    }
    return ok;
}

/* ---- the VFS ------------------------------------------------------------------------------- */

struct power_handle {
    sqlite3_file  base;
    int           file; /* -1: left alone */
    bool          made; /* maybe just now: the first sync takes the directory with it */
    sqlite3_file *real;
};

static sqlite3_vfs *power_below;
static sqlite3_vfs  power_vfs;

/* The number of a file; -1: it is left alone. Only the database, its log and its journal have a
 * state to lose: temporary files have none. */
static int power_number(const char *name)
{
    if (!name || strstr(name, "cut-") || strlen(name) >= sizeof power.files[0].name)
        return -1;
    for (int i = 0; i < POWER_FILES; i++) {
        if (!power.files[i].name[0])
            snprintf(power.files[i].name, sizeof power.files[i].name, "%s", name);
        if (strcmp(power.files[i].name, name) == 0)
            return i;
    }
    return -1;
}

static struct power_handle *power_of(sqlite3_file *f)
{
    return (struct power_handle *)f;
}

#define POWER_REAL(f) power_of(f)->real

static int power_close(sqlite3_file *f)
{
    return POWER_REAL(f)->pMethods->xClose(POWER_REAL(f));
}

static int power_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return POWER_REAL(f)->pMethods->xRead(POWER_REAL(f), to, n, at);
}

static int power_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    int rc = POWER_REAL(f)->pMethods->xWrite(POWER_REAL(f), bytes, n, at);

    if (rc == SQLITE_OK && power_of(f)->file >= 0)
        power_add(power_of(f)->file, POWER_WRITE, at, bytes, (size_t)n);
    return rc;
}

static int power_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    int rc = POWER_REAL(f)->pMethods->xTruncate(POWER_REAL(f), size);

    if (rc == SQLITE_OK && power_of(f)->file >= 0)
        power_add(power_of(f)->file, POWER_TRUNCATE, size, NULL, 0);
    return rc;
}

static int power_fsync(sqlite3_file *f, int flags)
{
    (void)flags; /* the model is the disk: nothing has to reach the real one */
    if (power_of(f)->file >= 0)
        power_sync(power_of(f)->file, power_of(f)->made);
    power_of(f)->made = false;
    return SQLITE_OK;
}

static int power_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return POWER_REAL(f)->pMethods->xFileSize(POWER_REAL(f), size);
}

static int power_lock(sqlite3_file *f, int level)
{
    return POWER_REAL(f)->pMethods->xLock(POWER_REAL(f), level);
}

static int power_unlock(sqlite3_file *f, int level)
{
    return POWER_REAL(f)->pMethods->xUnlock(POWER_REAL(f), level);
}

static int power_reserved(sqlite3_file *f, int *out)
{
    return POWER_REAL(f)->pMethods->xCheckReservedLock(POWER_REAL(f), out);
}

/* A hint to make the file longer would change it behind our back. */
static int power_control(sqlite3_file *f, int op, void *arg)
{
    if (op == SQLITE_FCNTL_SIZE_HINT || op == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_NOTFOUND;
    return POWER_REAL(f)->pMethods->xFileControl(POWER_REAL(f), op, arg);
}

static int power_sector(sqlite3_file *f)
{
    (void)f;
    return POWER_SECTOR;
}

static int power_traits(sqlite3_file *f)
{
    return POWER_REAL(f)->pMethods->xDeviceCharacteristics(POWER_REAL(f));
}

static int power_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return POWER_REAL(f)->pMethods->xShmMap(POWER_REAL(f), page, size, extend, out);
}

static int power_shm_lock(sqlite3_file *f, int from, int n, int flags)
{
    return POWER_REAL(f)->pMethods->xShmLock(POWER_REAL(f), from, n, flags);
}

static void power_shm_barrier(sqlite3_file *f)
{
    POWER_REAL(f)->pMethods->xShmBarrier(POWER_REAL(f));
}

static int power_shm_unmap(sqlite3_file *f, int erase)
{
    return POWER_REAL(f)->pMethods->xShmUnmap(POWER_REAL(f), erase);
}

static const sqlite3_io_methods power_methods = {
    .iVersion = 2, /* no memory mapping of the database: it would pass us by */
    .xClose = power_close,
    .xRead = power_read,
    .xWrite = power_write,
    .xTruncate = power_truncate,
    .xSync = power_fsync,
    .xFileSize = power_size,
    .xLock = power_lock,
    .xUnlock = power_unlock,
    .xCheckReservedLock = power_reserved,
    .xFileControl = power_control,
    .xSectorSize = power_sector,
    .xDeviceCharacteristics = power_traits,
    .xShmMap = power_shm_map,
    .xShmLock = power_shm_lock,
    .xShmBarrier = power_shm_barrier,
    .xShmUnmap = power_shm_unmap,
};

static int power_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *given)
{
    struct power_handle *h = power_of(f);

    (void)vfs;
    memset(h, 0, sizeof *h);
    h->real = (sqlite3_file *)(h + 1);
    int rc = power_below->xOpen(power_below, name, h->real, flags, given);
    if (rc != SQLITE_OK)
        return rc;
    bool kept = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    h->file = kept ? power_number(name) : -1;
    h->made = (flags & SQLITE_OPEN_CREATE) && !(flags & SQLITE_OPEN_MAIN_DB); /* as os_unix.c */
    h->base.pMethods = &power_methods;
    return SQLITE_OK;
}

static int power_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    int rc = power_below->xDelete(power_below, name, sync_dir);
    int file = power_number(name);

    (void)vfs;
    if (rc == SQLITE_OK && file >= 0) {
        power_add(file, POWER_DELETE, 0, NULL, 0);
        if (sync_dir)
            power_sync(file, true);
    }
    return rc;
}

/* Make it the VFS of every file that is opened from here on. */
static void power_install(void)
{
    power_below = sqlite3_vfs_find(NULL);
    power_vfs = *power_below;
    power_vfs.pNext = NULL;
    power_vfs.zName = "power";
    power_vfs.szOsFile = (int)sizeof(struct power_handle) + power_below->szOsFile;
    power_vfs.xOpen = power_open;
    power_vfs.xDelete = power_delete;
    if (sqlite3_vfs_register(&power_vfs, 1) != SQLITE_OK)
        abort();
}

#endif
