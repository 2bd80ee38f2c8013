/* What one run of the program knows: where the workspace is, who asks, and where
 * answers go. Every door (shell, HTTP, MCP, hooks) makes one per request. */
#ifndef HEDDLE_APP_H
#define HEDDLE_APP_H

#include "api/term.h"
#include "api/workspace.h"
#include "base/json.h"
#include "base/sb.h"
#include "thread/log.h"

struct command;

struct app {
    struct arena         *a;          /* lives as long as the request */
    struct sv             program;    /* "heddle", "leslie" or "teddy" */
    bool                  json;       /* --json */
    struct sv             actor;      /* who did it: --as, else HEDDLE_ACTOR, else "user" */
    struct workspace      ws;         /* where; ws.root_fd is -1 until app_find_place() */
    bool                  root_named; /* --root names the root itself: it was not come upon */
    struct sb             out;        /* stdout */
    char                **args;       /* positional arguments */
    size_t                n_args;
    struct log            log;           /* log.store is NULL until app_open_log() */
    const struct command *command;       /* which one runs */
    struct sv             format;        /* --format of `leslie`; absent: json */
    struct sv             error_details; /* what the failed operation adds to its error, as JSON */
};

void app_init(struct app *app, struct arena *a);
void app_release(struct app *app); /* closes the log and the root */

#define APP_CONFIG SV(".heddle/config.json")

/* The nearest ancestor of `start` (NULL: the current directory) holding .heddle, .leslie
 * or .teddy, else `start` itself. Nothing of it is read. */
enum status app_find_place(struct app *app, const char *start, struct err *e) MUST_USE;

/* The settings of the user and of the workspace, in app->ws.config. ST_PERMISSION_DENIED when the
 * workspace was come upon and is another user's (api/owner.h). */
enum status app_read_settings(struct app *app, struct err *e) MUST_USE;

/* Both. */
enum status app_find_root(struct app *app, const char *start, struct err *e) MUST_USE;

/* The bytes (absent: no file) and the checked document (then JSON_NULL) of .heddle/config.json. */
enum status app_workspace_settings(struct app *app, struct sv *text, struct json *out,
                                   struct err *e) MUST_USE;

/* Open the workspace's log. For writing it is made when it is missing (and .heddle with
 * it); for reading a missing one is ST_NOT_FOUND. HEDDLE_STORE names another store than
 * the settings do. ST_PERMISSION_DENIED: the workspace's setting leads out of the workspace. */
enum status app_open_log(struct app *app, enum store_mode mode, struct err *e) MUST_USE;

/* Positional argument i, or "" when it was not given. */
struct sv app_arg(const struct app *app, size_t i);

/* Text of an argument: "-" reads stdin to its end. */
enum status app_text(struct app *app, struct sv arg, struct sv *out, struct err *e) MUST_USE;

/* All bytes of a file that the command line names, anywhere, at most `max` (0: no limit). */
enum status app_file(struct app *app, struct sv path, size_t max, struct sv *out,
                     struct err *e) MUST_USE;

/* A line on stderr, "! …", for what a person should know; nothing in it reaches a terminal raw. */
void app_note(const struct app *app, const char *fmt, ...) PRINTF(2, 3);

/* Standard output as a terminal: its width and whether it takes colours. */
struct term app_term(struct app *app);

/* ✗ CODE: message and its hint on stderr, or the error envelope on stdout with --json. */
void app_fail(struct app *app, const struct err *e);

/* The {"code","message",...} object of an error. */
void app_error_json(struct jw *w, const struct err *e);

#endif
