/* The program under its other name, `leslie`: upstream's flags in, its JSON envelope out. Its
 * commands are heddle's operations. */
#ifndef HEDDLE_LESLIE_H
#define HEDDLE_LESLIE_H

#include "front/app.h"

extern const struct app_door leslie_door;

#endif
