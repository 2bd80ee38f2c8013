/* What the operations of runs have in common: their parameters, and the state of a run as document
 * and text. */
#ifndef HEDDLE_RUN_CALL_H
#define HEDDLE_RUN_CALL_H

#include "api/request.h"
#include "api/term.h"
#include "thread/run.h"

/* The parameters of all of them; each table names those it has. */
struct run_params {
    struct sv          thread, agent, text, request_id, refs, source, reason, model, op_id;
    struct sv_list     tools, allowed;
    const struct json *content, *events;
    int64_t            max_iterations, expect;
};

/* clang-format off */
#define RUN_AT(member) offsetof(struct run_params, member)
#define RUN_THREAD  { "thread", PARAM_TEXT, RUN_AT(thread), .required = true, .blank = true, .value = "T", .help = "the thread" }
#define RUN_AGENT   { "agent", PARAM_TEXT, RUN_AT(agent), .value = "A", .help = "whose run (default: default)" }
#define RUN_REQUEST(text) { "request_id", PARAM_TEXT, RUN_AT(request_id), .value = "ID", .help = text }
/* clang-format on */

struct run_ref run_who(const struct request *r, const struct run_params *p);

/* The state of the agent's run, with what the log says beside it. */
extern const struct field run_state_fields[];
enum status run_state_answer(struct request *r, const struct run_params *p, struct err *e) MUST_USE;
void        run_state_print(const struct json *state, struct term *t);

#endif
