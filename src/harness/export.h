/* Lanes and sessions as transcripts that another program can resume: Claude Code and pi.
 *
 * An imported session is written unchanged: export is the inverse of import, record by record, up
 * to the order of members and white space. A lane of any origin becomes a new session: records that
 * came from the same program are written again with their ids, so that an import of the new session
 * finds them and makes a fork; other messages become new records, with ids that follow from the
 * thread and the entry, so that equal lanes give equal bytes. */
#ifndef HEDDLE_HARNESS_EXPORT_H
#define HEDDLE_HARNESS_EXPORT_H

#include "harness/harness.h"

/* A message that is not written as it is in the log: loom_change of loom/node.h. */
struct harness_change {
    int64_t seq, by; /* by: the entry in its place; -1: it is left out */
};

struct harness_export {
    enum harness to;
    struct sv    thread;
    struct sv    session; /* the id of an imported session, to write it unchanged; or absent */
    struct sv    part;    /* and which of its parts (sub-agents); absent: the session itself */
    struct sv    lane;    /* without a session: the lane ... */
    int64_t      upto;    /* ... and its last entry that counts; STORE_TO_END: all */
    const struct harness_change *changes; /* of the lane, by seq */
    size_t                       n_changes;
    struct sv id;  /* of the new session; absent: made from thread, lane and its last entry */
    struct sv cwd; /* of the new session: the project */
};

struct harness_exported {
    struct sv session;  /* its id */
    int64_t   records;  /* written */
    int64_t   made;     /* how many of them were made for messages of other programs */
    int64_t   left_out; /* parts of messages that the format has no place for */
};

/* Can sessions of this program be written? */
bool harness_can_export(enum harness h);

/* Lines to `out`, in the transaction that is open. ST_NOT_FOUND: no such session or lane.
 * ST_INVALID_SYNTAX: not a program that can be written for, or not an id of a session. */
enum status harness_export(struct log *l, const struct harness_export *what, struct arena *a,
                           struct sb *out, struct harness_exported *done, struct err *e) MUST_USE;

/* The file in which the program looks for a session of a project, below the directory that
 * harness_home() gives: "-w-src/1b9d6bcd-….jsonl". */
struct sv harness_export_path(enum harness h, struct sv cwd, struct sv session, int64_t at,
                              struct arena *a);

#endif
