/* The program under its other name, `leslie`: upstream's flags in, its JSON envelope out. A
 * command is translated into words of ours and run; nothing is done twice. */
#ifndef HEDDLE_LESLIE_H
#define HEDDLE_LESLIE_H

#include "front/app.h"

enum status leslie_run(struct app *app, char **words, size_t n, struct err *e) MUST_USE;

/* The error envelope, with upstream's codes. */
void leslie_fail(struct app *app, const struct err *e);

/* "T201" */
const char *leslie_code(const struct err *e);

#endif
