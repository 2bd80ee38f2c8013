/* Which values a setting takes, beyond their type. Pure. */
#ifndef HEDDLE_CONFIG_LIMITS_H
#define HEDDLE_CONFIG_LIMITS_H

#include "base/json.h"

/* `row` is the name in the table of settings ("tokens.factor.*"), `name` the one in the file.
 * ST_INVALID_SYNTAX with what is allowed. */
enum status config_check_value(const char *row, struct sv name, const struct json *value,
                               struct err *e) MUST_USE;

#endif
