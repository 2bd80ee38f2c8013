/* The kinds of entries that mean something, and what they must carry. A kind that is not
 * in the table uses up a seq and is otherwise kept and exported as it is. */
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
    X(MODEL_RESPONSE, "model_response")                                                            \
    X(DOCUMENT_WRITE, "document_write")                                                            \
    X(THREAD_OPERATION, "thread_operation")                                                        \
    X(ERASURE, "erasure")           /* content of entries was taken out: thread/erase.h */         \
    X(ERASURE_DONE, "erasure_done") /* and of the files too */                                     \
    X(RECHAIN, "rechain")           /* the chain became one of version 2 */                        \
    X(ANCHOR, "anchor")             /* heads of all threads, in .global: thread/anchor.h */

enum kind {
    KIND_OTHER,
#define X(id, name) KIND_##id,
    KIND_TABLE(X)
#undef X
};

enum kind   kind_of(struct sv name);
const char *kind_name(enum kind k); /* NULL for KIND_OTHER */

/* Is it a kind of the table, or one of those that are only kept (note, turn, lost_entry and the
 * kinds the seed's core log recommends)? A misspelt kind is none of them. */
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

/* Would kind_prepare() take it? What is not sound is kept and not acted on; folds are never given
 * it, and whoever reads entries beside a fold asks this first. */
bool kind_is_sound(const struct entry *n);

/* A payload one level below JSON's limit still fits into a line of an export. Lines that come in
 * are of that kind already; what we make ourselves is asked. ST_LIMIT_EXCEEDED. */
enum status kind_check_depth(struct sv payload, struct err *e) MUST_USE;

#endif
