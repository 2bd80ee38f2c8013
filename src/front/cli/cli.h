/* The shell's door: words in, text or JSON out, an exit status. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "front/app.h"

int cli_main(int argc, char **argv);

/* One command: find it, parse its words, run it. What it printed is in app->out. */
enum status cli_run(struct app *app, char **words, size_t n, struct err *e) MUST_USE;

#endif
