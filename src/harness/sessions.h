/* The list of sessions of other programs, and the cost of the turns of a thread. */
#ifndef HEDDLE_HARNESS_SESSIONS_H
#define HEDDLE_HARNESS_SESSIONS_H

#include "harness/harness.h"
#include "harness/state.h"

struct harness_session {
    enum harness harness;
    struct sv    id, thread, lane;
    struct sv    title;                             /* what the program calls it; absent: nothing */
    struct sv    asked;                             /* the first thing that was asked; or absent */
    struct sv    prompt;                            /* the last; or absent */
    struct sv    cwd, path, model, branch, version; /* or absent */
    struct sv    parent;                            /* session it comes from; or absent */
    bool         is_agent;                          /* which started it */
    int64_t      first, last;                       /* times; 0: none */
    int64_t      turns, messages, agents; /* agents: sub-agents that have no id of their own */
    struct harness_usage total;
    bool                 has_cost; /* the program reported it */
    int64_t              cost;
};

/* All sessions that are bound, by project and then the one that was used last first. Those of which
 * nothing was read yet have no times. Outside a transaction. */
enum status harness_sessions(struct log *l, struct arena *a, struct harness_session **out,
                             size_t *n, struct err *e) MUST_USE;

/* One turn: from what a person asked to what they asked next, on one lane. */
struct harness_turn {
    int64_t              seq, at; /* of what was asked */
    struct sv            lane;
    struct sv            prompt;  /* its beginning, on one line; absent: nobody asked */
    struct sv            model;   /* of the last answer; or absent */
    struct sv            program; /* whose session it is; absent: heddle's own */
    int64_t              messages, calls;
    struct harness_usage usage;
};

/* The turns of a thread in order of their first entry, those of all programs. Reads the thread; in
 * a transaction. */
enum status harness_turns(struct log *l, struct sv thread, struct arena *a,
                          struct harness_turn **out, size_t *n, struct err *e) MUST_USE;

#endif
