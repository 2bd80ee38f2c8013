/* The manual page of the `→` language, for a door that prints manual pages. */
#ifndef HEDDLE_API_LOOM_MANUAL_H
#define HEDDLE_API_LOOM_MANUAL_H

#include "base/sb.h"

void loom_manual(struct sb *out); /* heddle-loom(7), as mdoc */

#endif
