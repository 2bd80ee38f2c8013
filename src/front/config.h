/* .heddle/config.json: every key is a row of one table, from which the schema is
 * printed and by which unknown keys are refused. */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include "base/json.h"

struct config {
    struct json doc; /* JSON_NULL when there is no file */
};

/* ST_INVALID_SYNTAX with the key's name when a key is unknown or of the wrong type. */
enum status config_read(struct sv text, struct arena *a, struct config *c, struct err *e) MUST_USE;

/* Values by dotted key ("run.model"); absent when not set. */
const struct json *config_find(const struct config *c, const char *dotted);
struct sv          config_text(const struct config *c, const char *dotted);
int64_t            config_int(const struct config *c, const char *dotted, int64_t otherwise);
bool               config_bool(const struct config *c, const char *dotted);

/* JSON Schema (2020-12) of the file. */
void config_schema(struct sb *out);

#endif
