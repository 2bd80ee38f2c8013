/* All limits of this room: how much is read at once, kept and reported. */
#ifndef HEDDLE_HARNESS_LIMITS_H
#define HEDDLE_HARNESS_LIMITS_H

#include "thread/kind.h" /* ENTRY_PAYLOAD_MAX */

enum {
    HARNESS_SESSION_ID_MAX = 64, /* bytes of a session's id: it stands in op_ids */
    HARNESS_NOTES_MAX = 64,      /* kinds of notes in one report */

    /* A record that is longer is counted and left out: no entry could hold it. */
    HARNESS_RECORD_MAX = ENTRY_PAYLOAD_MAX - (64 << 10),

    /* One transaction, and one append within it. */
    HARNESS_BATCH_BYTES = 32 << 20,
    HARNESS_BATCH_RECORDS = 32768,
    HARNESS_BULK = 1 << 20, /* from this many bytes on store_bulk() is used */
    HARNESS_APPEND_BYTES = 1 << 20,
    HARNESS_APPEND_ENTRIES = 512,

    HARNESS_KEY_MAX = 108,   /* bytes of a key; an op_id has the program's name in front */
    HARNESS_TEXT_MAX = 240,  /* bytes of a title or prompt in the list of sessions */
    HARNESS_TIPS_MAX = 32,   /* lanes of a session that can be continued; others are forked */
    HARNESS_CALLS_MAX = 64,  /* calls that may have started a sub-agent whose file comes later */
    HARNESS_STARTS_MAX = 64, /* turns that a rollback can go back over */
    HARNESS_TAIL = 256,      /* bytes before a position by which a file is recognised */
    HARNESS_IDENTIFY_RECORDS = 200, /* first records, which identify the session */
};

#endif
