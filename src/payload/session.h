/* Sessions and turns on disk:
 *
 *     .teddy/sessions/<name>/session.json      name, when it was made, bound thread, parent
 *                            session.context   its list
 *                            initial_request.md
 *                            <NN>/             turns 01 … 99
 *                                turn.context  plan.md  report.md  input.md  meta.yaml
 *
 * Older builds kept sessions in .teddy/<name>/; those are found as well. Two processes
 * that change one session wait for each other. */
#ifndef HEDDLE_PAYLOAD_SESSION_H
#define HEDDLE_PAYLOAD_SESSION_H

#include "base/sb.h"
#include "base/vec.h"

enum { SESSION_TURN_MAX = 99 };

/* Where in a session a directory below the root is. Absent when it is not in one. */
struct session_place {
    struct sv session, turn; /* directories below the root */
};
struct session_place session_place_of(struct sv path);

struct session_dir {
    struct sv name, dir;  /* dir below the root */
    struct sv thread;     /* bound thread, or absent */
    struct sv parent;     /* session it continues, or absent */
    int64_t   created_ms; /* 0: not recorded */
    int       turn;       /* the latest, 0 when there is none */
    int       turns;
    bool      has_plan, has_report; /* of the latest turn */
    bool      damaged;              /* session.json is there and cannot be understood */
};
typedef VEC(struct session_dir) session_dirs;

/* Oldest first, those of unknown age in front, then by name. A directory that cannot be listed is
 * an error. */
enum status session_list(int root, struct arena *a, session_dirs *out, struct err *e) MUST_USE;

/* ST_NOT_FOUND with a hint. */
enum status session_find(int root, struct sv name, struct arena *a, struct session_dir *out,
                         struct err *e) MUST_USE;

struct session_request {
    struct sv      name;    /* "": made from the date and the message */
    struct sv      message; /* the first request, or absent */
    struct sv_list context; /* entries of its list */
    struct sv      thread;  /* or absent */
    int64_t        now_ms;
};

/* A new session with its first turn; its list starts with that of .teddy/init.context.
 * ST_CONFLICT: the name is taken. */
enum status session_new(int root, const struct session_request *q, struct arena *a,
                        struct session_dir *out, struct err *e) MUST_USE;

typedef VEC(struct sv) session_entries;
struct session_turn {
    struct sv       session, dir; /* names; dir below the root */
    struct sv       thread;       /* of the session, or absent */
    int             number;
    struct sv       parent;  /* directory of the turn before, or absent */
    session_entries entries; /* what its list holds */
};

/* Makes the turn after the latest one (or after `from`, the directory of a turn). Its list is that
 * of the last turn without what was pruned, with what was read, made or edited, and with the plan
 * and report of the last turn. After turn 99 a new session continues. A file that exists and cannot
 * be read is an error, ST_CORRUPT for session.json: a turn made without its list or thread would
 * lose work. */
enum status session_turn_new(int root, const struct session_dir *s, struct sv from, int64_t now_ms,
                             struct arena *a, struct session_turn *out, struct err *e) MUST_USE;

#endif
