/* Taking content out of the database, and out of its files.
 *
 * In SQLite deleted bytes stay in free pages, in the free space of pages and in the write-ahead log
 * until something is written over them. secure_delete writes zeros over what a transaction frees,
 * but not over what earlier transactions left behind: rows of views that were replaced, pages that
 * were split. So VACUUM rewrites the file, and the write-ahead log is emptied. */
#include "store/sqlite_internal.h"

#include "base/fs.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static enum status erase_one(struct sqlite_store *q, int64_t tid, const struct entry *n,
                             struct err *e)
{
    sqlite3_stmt *st;
    struct hash   hash;
    bool          large = n->skeleton.n >= STORE_BLOB_MIN;

    if ((large && sqlite_add_blob(q, n->skeleton, &hash, e)) || sqlite_ready(q, Q_ERASE, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, n->seq));
    sqlite_bind_sv(st, 2, large ? (struct sv){ 0 } : n->skeleton);
    if (large)
        sqlite3_bind_blob(st, 3, hash.b, HASH_SIZE, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, 3);
    sqlite3_bind_blob(st, 4, n->content.b, HASH_SIZE, SQLITE_STATIC);
    if (sqlite_run(q, st, e))
        return err_code(e);
    return sqlite3_changes(q->db) == 1
               ? ST_OK
               : err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)n->seq);
}

/* Remove a large payload, unless another entry has it. */
static enum status drop_blob(struct sqlite_store *q, struct sv payload, struct err *e)
{
    struct hash   hash = hash_blake2b(&payload, 1);
    sqlite3_stmt *st;

    if (sqlite_ready(q, Q_BLOB_DROP, &st, e))
        return err_code(e);
    sqlite3_bind_blob(st, 1, hash.b, HASH_SIZE, SQLITE_STATIC);
    return sqlite_run(q, st, e);
}

/* The index of words keeps deleted ones. Its pages are freed as they are: writing zeros over all of
 * them would take ten times as long, and sqlite_scrub() leaves nothing of them. */
enum status sqlite_empty_words(struct sqlite_store *q, struct err *e)
{
    int64_t any;

    if (sqlite_number(q, "SELECT EXISTS (SELECT 1 FROM text_docsize)", &any, e))
        return err_code(e);
    if (!any)
        return ST_OK;
    enum status s = sqlite_exec(
        q, "PRAGMA secure_delete = OFF; INSERT INTO text(text) VALUES('delete-all')", e);
    sqlite3_exec(q->db, "PRAGMA secure_delete = ON", NULL, NULL, NULL);
    return s;
}

enum status sqlite_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                         struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || sqlite_exec(q, "PRAGMA secure_delete = ON", e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!entries[i].erased &&
            (erase_one(q, tid, &entries[i], e) ||
             (entries[i].payload.n >= STORE_BLOB_MIN && drop_blob(q, entries[i].payload, e))))
            return err_code(e);
    return sqlite_empty_words(q, e);
}

enum status sqlite_rechain(struct store *s, struct sv thread, const struct entry *n, bool last,
                           struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *one, *all;
    struct hash          hash;
    bool                 large = n->payload.n >= STORE_BLOB_MIN;
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || (large && sqlite_add_blob(q, n->payload, &hash, e)) ||
        sqlite_ready(q, Q_RECHAIN, &one, e) || sqlite_ready(q, Q_RECHAINED, &all, e))
        return err_code(e);
    sqlite3_bind_int64(one, 1, entry_key(tid, n->seq));
    sqlite_bind_sv(one, 2, n->id);
    sqlite3_bind_blob(one, 3, n->salt, ENTRY_SALT_SIZE, SQLITE_STATIC);
    sqlite3_bind_blob(one, 4, n->chain.b, HASH_SIZE, SQLITE_STATIC);
    sqlite_bind_sv(one, 5, large ? (struct sv){ 0 } : n->payload);
    if (large)
        sqlite3_bind_blob(one, 6, hash.b, HASH_SIZE, SQLITE_STATIC);
    else
        sqlite3_bind_null(one, 6);
    if (sqlite_run(q, one, e))
        return err_code(e);
    if (!last)
        return ST_OK;
    sqlite3_bind_int64(all, 1, tid);
    sqlite3_bind_blob(all, 2, n->chain.b, HASH_SIZE, SQLITE_STATIC);
    return sqlite_run(q, all, e);
}

/* ---- files ----------------------------------------------------------------------------- */

/* Copies that migrations made, complete or not. */
static enum status remove_copies(struct sqlite_store *q, void (*removed)(void *, struct sv),
                                 void *ctx, struct err *e)
{
    static const char *const ends[] = { ".bak", ".bak.part" };

    for (int v = 1; v < SQLITE_SCHEMA_VERSION; v++)
        for (size_t i = 0; i < COUNT(ends); i++) {
            char *file = sqlite3_mprintf("%s.v%d%s", q->file, v, ends[i]);
            char *shown = sqlite3_mprintf("%s.v%d%s", q->path, v, ends[i]);
            bool  gone = unlink(file) == 0, failed = !gone && errno != ENOENT;
            if (failed)
                err_errno(e, "remove %s", shown);
            if (gone && removed)
                removed(ctx, sv_of(shown));
            sqlite3_free(file);
            sqlite3_free(shown);
            if (failed)
                return err_code(e);
        }
    return ST_OK;
}

/* Is it a log that was kept when a backup replaced it? Such a log may have files beside it. */
static bool is_kept_copy(struct sv name, struct sv base)
{
    return sv_starts(name, base) && sv_starts(sv_skip(name, base.n), SV(".before-restore-")) &&
           sv_find(name, SV(".bak")) > 0;
}

/* Logs that a restore kept beside the database. */
static enum status remove_kept(struct sqlite_store *q, void (*removed)(void *, struct sv),
                               void *ctx, struct err *e)
{
    struct arena      a = { 0 };
    struct sv         dir = path_dir(sv_of(q->file)), shown = path_dir(sv_of(q->path));
    struct fs_item   *items = NULL;
    size_t            n = 0;
    UNDO(fd_undo) int fd = open(dir.n ? sv_cstr(dir, &a) : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum status       s = fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(shown))
                                 : fs_list(fd, SV("."), &a, &items, &n, e);

    for (size_t i = 0; !s && i < n; i++) {
        if (!is_kept_copy(items[i].name, path_base(sv_of(q->file))))
            continue;
        if (unlinkat(fd, sv_cstr(items[i].name, &a), 0) != 0 && errno != ENOENT)
            s = err_errno(e, "remove " SV_FMT, SV_ARG(items[i].name));
        else if (removed)
            removed(ctx, path_join(shown, items[i].name, &a));
    }
    arena_free(&a);
    return s;
}

/* When readers delay a checkpoint, SQLite reports it in the result row and not as an error. */
static enum status empty_wal(struct sqlite_store *q, struct err *e)
{
    int64_t busy = 0;

    if (sqlite_number(q, "PRAGMA wal_checkpoint(TRUNCATE)", &busy, e))
        return err_code(e);
    if (!busy)
        return ST_OK;
    err_set(e, ST_CONFLICT, "another process reads %s: its write-ahead log cannot be emptied",
            q->path);
    err_reason(e, "busy");
    return err_hint(e, "end that process, then `heddle doctor --fix`");
}

enum status sqlite_scrub(struct store *s, void (*removed)(void *, struct sv), void *ctx,
                         struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);

    if (sqlite_exec(q, "PRAGMA secure_delete = ON", e) ||
        sqlite_exec(q,
                    "DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE e.blob = hash)",
                    e) ||
        sqlite_exec(q, "VACUUM", e) || empty_wal(q, e))
        return err_code(e);
    return remove_copies(q, removed, ctx, e) ? err_code(e) : remove_kept(q, removed, ctx, e);
}
