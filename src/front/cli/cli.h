/* The shell's door: words in, text or JSON out, an exit status. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "front/app.h"

extern const struct app_door cli_door;

#endif
