/* Hooks of coding agents: the event on standard input, the answer on standard output.
 *
 * Whatever happens, the program that calls is not disturbed: the exit status is 0, nothing goes to
 * standard error, and after HOOK_LIMIT_MS the process ends, unless it is told to wait. What went
 * wrong stands in hook.log, in .heddle of the workspace or with the user's own files. */
#ifndef HEDDLE_FRONT_HOOK_H
#define HEDDLE_FRONT_HOOK_H

#include "front/app.h"

enum {
    HOOK_LIMIT_MS = 2000,   /* until the answer is out */
    HOOK_READ_IN_MS = 2500, /* before that, when the files of .leslie came with a clone: for them */
    HOOK_RECORD_S = 120,    /* for what is done afterwards, or for all with HEDDLE_HOOK_WAIT=1 */
    HOOK_EVENT_MAX = 64 << 20 /* bytes of an event: it may hold the text of a file */
};

/* heddle hook NAME [--thread T] */
extern const struct app_door hook_door;

/* Is this command line `heddle hook NAME …`? Others (--help, no name) are handled by the command
 * line front end. */
bool hook_is_for(int argc, char **argv);

/* The same for a command line that was parsed already. */
enum status hook_serve(struct app *app, const struct hook_options *o, struct err *e) MUST_USE;

#endif
