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
const struct json *config_find_sv(const struct config *c, struct sv dotted);
struct sv          config_text(const struct config *c, const char *dotted);
int64_t            config_int(const struct config *c, const char *dotted, int64_t otherwise);
bool               config_bool(const struct config *c, const char *dotted);

/* Every key, in the order of the table; NULL at the end. Names with a last part of * stand for
 * any name there. */
struct config_key {
    const char *name, *type, *help; /* type: "string", "integer", "number", "boolean", "array" or
                                     * "object" */
};
const struct config_key *config_key_at(size_t i);

/* ST_NOT_FOUND, with the nearest as a hint, when there is no such key. */
enum status config_check_key(struct sv dotted, struct err *e) MUST_USE;

/* The text of a file ("" when there is none) with one value put in or, when `value` is absent,
 * taken out; the other members keep their order and their numbers. `value` is as a person types it:
 * a string without quotes, else JSON. ST_NOT_FOUND: no such key. ST_USAGE: a value of another
 * type. ST_INVALID_SYNTAX: config_read() refuses the file, before or after. */
enum status config_with(struct sv text, struct sv dotted, struct sv value, struct arena *a,
                        struct sv *out, struct err *e) MUST_USE;

/* JSON Schema (2020-12) of the file. */
void config_schema(struct sb *out);

#endif
