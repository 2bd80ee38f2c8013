/* An assembly inside a request: the agent's session, the counter that its model calls for, the
 * registry, and the resources of a session that is bound to the thread. `assemble` makes one, and
 * so does every operation that asks a model on behalf of an agent.
 *
 *     struct assemble_call c;
 *     if (assemble_call_open(&c, r, &params, e)) return err_code(e);
 *     if (assemble_call_make(&c, &x, e)) ...            in a reading transaction of its own
 *     ... body_write(dialect, &x.context, ...)
 *     return assemble_call_close(&c, status);                                          */
#ifndef HEDDLE_ASSEMBLE_CALL_H
#define HEDDLE_ASSEMBLE_CALL_H

#include "api/loom/loom_call.h"
#include "api/payload/payload_call.h"
#include "api/payload/token_choice.h"
#include "assemble/assemble.h"

struct assemble_params {
    struct sv thread, agent;
    struct sv node;     /* the assumed position of the agent; absent: its real one */
    struct sv task;     /* what it is asked; absent: its position, if another wrote that */
    struct sv strategy; /* absent: as the settings say */
    struct sv session;  /* whose resources; absent: the newest bound to the thread; "none": none */
    int64_t   budget, reserve, recent; /* PARAM_UNSET: as the settings say, 0, likewise */
    int64_t   at;                      /* the last entry that counts; PARAM_UNSET: all count */
    bool      load;
    bool      may_be_new; /* the thread need not exist yet */
};

struct assemble_call {
    struct request         *r;
    struct loom_call        loom;
    struct token_choice     choice;
    struct tokens          *tokens;
    struct counts           counts;
    struct payload_call     payload;
    bool                    has_payload;
    int64_t                 at;
    struct assembly_request q; /* may be changed before assemble_call_make() */
};

enum status assemble_call_open(struct assemble_call *c, struct request *r,
                               const struct assemble_params *p, struct err *e) MUST_USE;
enum status assemble_call_make(struct assemble_call *c, struct assembly *out,
                               struct err *e) MUST_USE;

/* Passes `s` on. */
enum status assemble_call_close(struct assemble_call *c, enum status s);

#endif
