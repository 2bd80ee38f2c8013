/* The parameters of the operations on contexts, for a door that fills them itself. */
#ifndef HEDDLE_API_SHARE_CONTEXT_H
#define HEDDLE_API_SHARE_CONTEXT_H

#include "api/operation.h"

/* Said by the operation and by the command, which has options of its own. */
#define CONTEXT_SUMMARY "Print a thread's <thread_context>, then the task"
#define CONTEXT_DETAILS                                                                            \
    "--notes adds comments to the block: where the thread writes its own assets and, of\n"         \
    "each reference, the title and state of its thread, whether it is live or a copy of\n"         \
    "when, since when the copy is stale, its size, and work of no listed type.\n\n"                \
    "Injections that wait for the thread stand between the block and the task, and are\n"          \
    "acknowledged in the log once they are printed.\n\n"                                           \
    "The messages of a thread are not part of it: `heddle project` prints them as the log has\n"   \
    "them, `heddle assemble` as the request that a turn of an agent sends.\n\n"                    \
    "--parse finds the block in a message and prints what it says as JSON.\n\n"                    \
    "  heddle context build --task 'Start with the lexer.'"

extern const struct operation op_context_make, op_context_acknowledge, op_context_parse;

struct context_make_params {
    struct sv thread, task;
    bool      spawned, notes;
};

struct context_acknowledge_params {
    struct sv          thread, op_id;
    const struct json *waiting; /* a list of numbers */
};

struct context_parse_params {
    struct sv text;
};

#endif
