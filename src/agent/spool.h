/* Files that let a turn survive its process until its steps are in the log: answers of models as
 * they arrive, and documents as they were before a command wrote to them. They are below
 * .heddle/turns/RUN, readable for their owner only, and are removed when the turn is over:
 *
 *     lock         held by the process that runs the turn; names its thread and its agent
 *     answer-NAME  an answer: a line of JSON with its headers, then the raw stream
 *     write-NAME   a document: a line of JSON with path and hashes, then its bytes
 *
 * They hold no keys. They are not synced: a killed process loses nothing; after a power failure an
 * answer may be lost, and the model is asked again. */
#ifndef HEDDLE_SPOOL_H
#define HEDDLE_SPOOL_H

#include "model/model.h"

struct spool {
    int           root; /* of the workspace; the caller's */
    struct sv     dir;
    int           lock; /* -1: none is held */
    struct arena *a;
};

/* ST_CONFLICT, reason "running": another process of this machine runs the turn. */
enum status spool_open(struct spool *s, int root, struct sv run, struct sv thread, struct sv agent,
                       struct arena *a, struct err *e) MUST_USE;

/* Releases the lock; `over`: the turn has ended, and its files are removed. */
void spool_close(struct spool *s, bool over);

/* Remove the files of turns that no process runs and that are over according to `is_active`. Files
 * that cannot be removed stay. */
void spool_sweep(int root,
                 bool (*is_active)(void *ctx, struct sv run, struct sv thread, struct sv agent),
                 void *ctx);

/* ---- answers ---- */

/* Receives an answer while it arrives: `q.received = spool_receive, q.received_ctx = &file`. May be
 * used on another thread than the one it was made on. A file that cannot be written does not end
 * the answer: `failed` says so afterwards. */
struct spool_answer {
    const struct spool *spool;
    struct sv           name;
    int                 fd;
    bool                failed;
};
struct spool_answer spool_answer_of(const struct spool *s, struct sv name);
enum status         spool_receive(void *answer, struct sv headers, struct sv bytes, struct err *e);
void                spool_answer_end(struct spool_answer *x);

/* The stored part of an answer. *found false: no model was asked for it. */
enum status spool_answer_read(const struct spool *s, struct sv name, struct arena *a,
                              struct sv *headers, struct sv *bytes, bool *found,
                              struct err *e) MUST_USE;

/* ---- documents ---- */

struct spool_write {
    struct sv path, before, after; /* hashes of the file before and after the write */
    struct sv text;                /* its bytes before the write */
};
enum status spool_write_keep(const struct spool *s, struct sv name, const struct spool_write *w,
                             struct err *e) MUST_USE;
enum status spool_write_read(const struct spool *s, struct sv name, struct arena *a,
                             struct spool_write *out, bool *found, struct err *e) MUST_USE;

#endif
