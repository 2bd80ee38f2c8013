/* The kinds of entries that have an effect, and what they must contain. An entry of another kind is
 * kept and exported unchanged, and has no effect. */
#ifndef HEDDLE_KIND_H
#define HEDDLE_KIND_H

#include "store/entry.h"

/*    name                              what it records */
#define KIND_TABLE(X)                                                                              \
    X(AI_MESSAGE, "ai_message")                     /* a turn of the conversation */               \
    X(AI_CONTEXT_OPERATION, "ai_context_operation") /* replace, switch or fork of a lane */        \
    X(CONTEXT_OP_DEFERRED, "ai_context_operation_deferred") /* parked while a run is active */     \
    X(RUN_STARTED, "run_started")                                                                  \
    X(RUN_INPUT, "run_input")         /* steering, accepted and not yet drained */                 \
    X(RUN_TOOL_HELD, "run_tool_held") /* a result that waits for an earlier call's */              \
    X(RUN_CHECKPOINT, "run_checkpoint")                                                            \
    X(RUN_FINISHED, "run_finished")                                                                \
    X(LOOM_ANNOTATION, "loom_annotation")                                                          \
    X(LOOM_LINK, "loom_link")                                                                      \
    X(LOOM_MARK, "loom_mark")                                                                      \
    X(MEMORY_OPERATION, "memory_operation")                                                        \
    X(TOOL_ACTION, "tool_action")                                                                  \
    X(SUMMARY, "summary")                                                                          \
    X(MODEL_REQUEST, "model_request") /* a model is about to be asked, in a turn of an agent */    \
    X(MODEL_RESPONSE, "model_response")                                                            \
    X(DOCUMENT_WRITE, "document_write")                                                            \
    X(THREAD_OPERATION, "thread_operation")                                                        \
    X(ERASURE, "erasure")                 /* content of entries was taken out: thread/erase.h */   \
    X(ERASURE_DONE, "erasure_done")       /* the files of an erasure were cleaned too */           \
    X(RECHAIN, "rechain")                 /* the chain became one of version 2 */                  \
    X(ANCHOR, "anchor")                   /* heads of all threads, in .global: thread/anchor.h */  \
    X(THREAD_DELETION, "thread_deletion") /* a thread is gone, in .global: thread/deletion.h */    \
    X(HARNESS_SESSION, "harness_session") /* a session of another program: harness/harness.h */    \
    X(HARNESS_POSITION, "harness_position") /* how far its transcript was read */                  \
    X(HARNESS_RECORD, "harness_record")     /* a record of it that is only kept */                 \
    X(OPERATION_DONE, "operation_done")     /* what was asked with an op_id, and its answer */

enum kind {
    KIND_OTHER,
#define X(id, name) KIND_##id,
    KIND_TABLE(X)
#undef X
};

enum kind   kind_of(struct sv name);
const char *kind_name(enum kind k); /* NULL for KIND_OTHER */

/* Is it a kind of the table, or one of those that are only kept (note, turn, lost_entry and the
 * kinds the seed's core log recommends)? False for a misspelt kind. */
bool kind_is_known(struct sv name);

/* The kind of the table whose name is nearest; NULL: none is near. */
const char *kind_near(struct sv name);

#define LANE_DEFAULT SV("default")
#define AGENT_DEFAULT SV("default")

/* Check the entry by the rules of its kind (kind_check.h) and fill in what follows from kind and
 * payload (which must be a canonical object): lane from payload.context_ref when the entry has
 * none, op_id of an operation, the mark. ST_INVALID_SYNTAX: the payload is not what the kind
 * demands, lane and context_ref disagree, so do op_id and the operation's, or a name holds what
 * JSON would escape; then the entry is as it was, with no mark. */
enum status kind_prepare(struct entry *n, struct err *e) MUST_USE;

/* Would kind_prepare() accept it? An entry that is not sound is kept but has no effect: folds never
 * get it, and other code that reads entries must check this first. */
bool kind_is_sound(const struct entry *n);

/* ST_LIMIT_EXCEEDED when a payload is nested so deep that a line of an export could not hold it.
 * Entries that were read from lines are within the limit; those that heddle makes are checked
 * here. */
enum status kind_check_depth(struct sv payload, struct err *e) MUST_USE;

#endif
