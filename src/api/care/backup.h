/* A backup: one file with the log and the content of frozen copies, docs/FORMATS.md "Backups".
 *
 *     heddle-backup.json    what it is, when it was made, the head of every thread
 *     heddle.db             the log, as store_backup() writes it
 *     objects/ab/cdef…      .heddle/objects, each named by the BLAKE2b-256 of its bytes
 */
#ifndef HEDDLE_BACKUP_H
#define HEDDLE_BACKUP_H

#include "api/care/archive.h"
#include "api/care/care.h"
#include "base/map.h"

#define BACKUP_MANIFEST "heddle-backup.json"
#define BACKUP_STORE "heddle.db"
#define BACKUP_OBJECTS "objects/"
enum { BACKUP_FORMAT = 1, BACKUP_PIECE = 64 * 1024, BACKUP_MANIFEST_MAX = 256 << 20 };

struct backup {
    struct json manifest;
    int64_t     at;      /* when it was made */
    int64_t     objects; /* how many there are */
    int64_t     bytes;   /* of the log */
};

/* Where backup_read() puts the parts of a backup; everything is checked in any case. */
struct backup_to {
    int               store; /* the log, unless it is -1 */
    int               root;  /* objects go below .heddle/objects of this directory, unless -1 ... */
    const struct map *unwanted;  /* ... except these, by hash; may be NULL */
    const struct map *wanted;    /* ... and only these; NULL: all */
    int64_t           put, left; /* filled in: how many objects were put, or left out */
};

/* The file of a backup. ST_IO: it is a directory, a device or a pipe. */
enum status backup_open(struct request *r, struct sv file, int *fd, int64_t *size,
                        struct err *e) MUST_USE;

/* Read a backup from front to back. ST_CORRUPT: it is damaged, cut short, or not a backup. ST_IO:
 * it is of a newer format. Only the manifest is held in memory. */
enum status backup_read(struct request *r, int fd, struct backup_to *to, struct backup *out,
                        struct err *e) MUST_USE;

/* A temporary file for a copy of the log: in .heddle if that exists, where `heddle doctor` and the
 * next erasure find it if the process is killed (base/scratch.h), else where temporary files go. It
 * exists, is empty and for its owner alone; *held is to be closed once backup_forget() has removed
 * it and what SQLite leaves beside it. */
enum status backup_scratch(struct request *r, struct sv *path, int *held, struct err *e) MUST_USE;
void        backup_forget(struct sv path);

/* Is a copy of the log intact? Each thread's chain and views are computed again, and problems go to
 * `f`. *entries is how many were read. */
enum status backup_verify(struct request *r, struct sv path, struct care_findings *f,
                          int64_t *entries, struct err *e) MUST_USE;
/* The same for an open log, outside a transaction; the count is added to *entries. */
enum status backup_verify_log(struct request *r, struct log *l, struct care_findings *f,
                              int64_t *entries, struct err *e) MUST_USE;

/* 64 lower-case hex digits. */
bool backup_is_hash(struct sv v);

#endif
