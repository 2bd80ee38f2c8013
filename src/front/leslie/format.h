/* An answer in the form that --format asks for: json (as it is), table, yaml. */
#ifndef HEDDLE_LESLIE_FORMAT_H
#define HEDDLE_LESLIE_FORMAT_H

#include "base/json.h"

enum status format_print(struct sb *out, struct sv json, struct sv format, struct arena *a,
                         struct err *e) MUST_USE;

#endif
