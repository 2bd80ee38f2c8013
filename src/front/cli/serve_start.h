/* Starting a server in the background, for `open`. */
#ifndef HEDDLE_SERVE_START_H
#define HEDDLE_SERVE_START_H

#include "front/app.h"

/* Start a server for the workspace in the background, and wait until it answers. */
enum status serve_start(struct app *app, struct err *e) MUST_USE;

#endif
