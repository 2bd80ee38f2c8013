/* The state of one run of the program from a command line: the workspace, the actor, and the
 * output; and the main function that all doors of the command line share. */
#ifndef HEDDLE_APP_H
#define HEDDLE_APP_H

#include "api/term.h"
#include "api/workspace.h"
#include "base/json.h"
#include "base/sb.h"
#include "front/services.h"
#include "front/warn.h"

struct command;

struct app {
    struct arena         *a;          /* lives as long as the request */
    struct sv             program;    /* "heddle", "leslie" or "teddy" */
    bool                  json;       /* --json */
    bool                  answered;   /* the document is out: an error goes to stderr */
    bool                  via_server; /* --via-server */
    struct sv             colour;     /* --color: auto, always, never; absent: auto */
    const char           *dir;   /* --root, where the search for the workspace begins; NULL: here */
    struct sv             actor; /* who did it: --as, else HEDDLE_ACTOR, else "user" */
    struct workspace      ws;    /* where; ws.root_fd is -1 until workspace_open() */
    struct sb             out;   /* stdout */
    char                **args;  /* positional arguments */
    size_t                n_args;
    const struct command *command;       /* which one runs */
    struct sv             format;        /* --format of `leslie`; absent: json */
    struct sv             error_details; /* what the failed operation adds to its error, as JSON */
    const struct app_services *services; /* the other doors */
    struct term event_term; /* of a bulk of events; .out is NULL until it was asked for */
};

void app_init(struct app *app, struct arena *a);
void app_release(struct app *app); /* closes the workspace */

/* A door that is reached by a command line: words in, an answer on stdout, an exit status. */
struct app_door {
    enum status (*run)(struct app *app, char **words, size_t n, struct err *e);
    void (*fail)(struct app *app, const struct err *e); /* reports an error */
    int (*exit_status)(enum status s);
};

/* main(): passes clock, seed and environment to the rooms below, runs, prints, and reports
 * errors. */
int app_main(int argc, char **argv, const struct app_door *door, const struct app_services *others);

/* Positional argument i, or "" when it was not given. */
struct sv app_arg(const struct app *app, size_t i);

/* Standard input is about to be read: print that, when it is a terminal. */
void app_say_waiting(const struct app *app);

/* Text of an argument: "-" reads stdin to its end. */
enum status app_text(struct app *app, struct sv arg, struct sv *out, struct err *e) MUST_USE;

/* All bytes of a file that the command line names, anywhere, at most `max` (0: no limit). */
enum status app_file(struct app *app, struct sv path, size_t max, struct sv *out,
                     struct err *e) MUST_USE;

/* A line on stderr, "! …", for what a person should know; nothing in it reaches a terminal raw. May
 * be called from any thread. */
void app_note(const struct app *app, const char *fmt, ...) PRINTF(2, 3);

/* Asks on stderr; true when the answer on standard input, which may be a pipe, is yes. */
bool app_ask(struct app *app, struct sv question);

/* Standard output as a terminal: its width and whether it takes colours. */
struct term app_term(struct app *app);

/* ✗ CODE: message and its hint on stderr; with --json on stdout (stderr when
 * the document is out already) as
 * {"error":{"code","message","hint","reason","details"}}, the last three where there are any. */
void app_fail(struct app *app, const struct err *e);

/* The {"code","message",...} object of an error. `details` is JSON that the operation adds, or
 * absent. */
void app_error_json(struct jw *w, const struct err *e, struct sv details);

#endif
