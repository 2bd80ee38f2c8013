/* Turns events of other programs into parameters of hook.event, and its answer into the form that
 * the program expects. All assumptions about the programs are in the tables of event.c and
 * answer.c. */
#ifndef HEDDLE_FRONT_HOOK_EVENT_H
#define HEDDLE_FRONT_HOOK_EVENT_H

#include "base/json.h"

/* One event. Members that it does not have are absent. */
struct hook_seen {
    const char        *harness; /* "claude-code" */
    struct sv          name;    /* as the program calls it: "PreToolUse" */
    const char        *event;   /* as heddle does: "tool_before"; NULL: nothing to do */
    struct sv          session, source, parent, cwd, transcript, tool, call;
    struct sv          command;  /* for a shell */
    struct sv_list     paths;    /* that the tool names and would write */
    bool               whole;    /* it removes or moves directories with everything below them */
    bool               runs;     /* it may write files that its arguments do not name */
    bool               prompted; /* a start event that carries the first prompt */
    int64_t            idle;     /* seconds; -1: not known */
    const struct json *doc;
};

/* ST_INVALID_SYNTAX: not an event. An event that heddle has no use for, or of a later version, is
 * ST_OK with `event` NULL. */
enum status hook_event_read(const char *harness, const struct json *doc, struct arena *a,
                            struct hook_seen *out, struct err *e) MUST_USE;

/* What the program is to be told; empty: nothing. `answer` is the document of hook.event. */
struct sv hook_answer(const struct hook_seen *x, const struct json *answer, struct arena *a);

#endif
