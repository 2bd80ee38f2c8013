/* Settings: every key is a row of one table, from which the schema is printed and by which unknown
 * keys are refused.
 *
 * There are two files: the user's own ($XDG_CONFIG_HOME/heddle/config.json) and that of the
 * workspace (.heddle/config.json), which takes precedence. The second comes with a checkout. Its
 * settings for programs, keys and the network have no effect until the user has trusted exactly
 * these bytes (api/trust.h). `withheld` is called when a value that is withheld is asked for. */
#ifndef HEDDLE_CONFIG_H
#define HEDDLE_CONFIG_H

#include "base/json.h"

#include <stdatomic.h>

enum config_file { CONFIG_OF_WORKSPACE, CONFIG_OF_USER };

enum config_source {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_USER,
    CONFIG_FROM_WORKSPACE,
    CONFIG_FROM_UNTRUSTED, /* set by the workspace, but without effect */
    CONFIG_FROM_ENVIRONMENT,
};
const char *config_source_word(enum config_source s); /* "workspace untrusted" */

struct config {
    struct json doc;             /* the settings in effect; JSON_NULL when there is no file */
    struct json user, workspace; /* the two files; JSON_NULL: no file */
    struct json guarded;         /* the part of `workspace` that needs trust */
    bool        trusted;         /* the guarded part is in effect */
    /* Called once for each value that is withheld, when it is asked for; from any thread. May be
     * NULL. Set after config_join(). */
    void (*withheld)(void *ctx, struct sv text);
    void        *withheld_ctx;
    atomic_bool *told; /* by row: `withheld` has been called for it */
};

/* The checked document of one file, `path` for messages. ST_INVALID_SYNTAX with the key's name when
 * a key is unknown, of the wrong type, outside its limits, or has no place in this file. */
enum status config_read(struct sv text, enum config_file file, struct sv path, struct arena *a,
                        struct json *out, struct err *e) MUST_USE;

/* Merge the two files (JSON_NULL: no file). */
void config_join(struct config *c, const struct json *user, const struct json *workspace,
                 bool trusted, struct arena *a);

/* Values by dotted key ("run.model"); absent when not set. */
const struct json *config_find(const struct config *c, const char *dotted);
const struct json *config_find_sv(const struct config *c, struct sv dotted);
struct sv          config_text(const struct config *c, const char *dotted);
int64_t            config_int(const struct config *c, const char *dotted, int64_t otherwise);
bool               config_bool(const struct config *c, const char *dotted);

/* For listing settings: the value and where it comes from, without a warning. A value that is
 * withheld is given when nothing else is set, as CONFIG_FROM_UNTRUSTED. */
const struct json *config_value(const struct config *c, struct sv dotted, enum config_source *from);

/* What a setting could do to the user if another person wrote it. */
enum config_power {
    CONFIG_FREE,
    CONFIG_RUNS,      /* a program */
    CONFIG_SPENDS,    /* uses a key; a model inside this program does not */
    CONFIG_OPENS,     /* the network */
    CONFIG_USER_ONLY, /* has no place in the file of a workspace */
};

/* Every key, in the order of the table; NULL at the end. Names with a last part of * stand for
 * any name there. */
struct config_key {
    const char *name, *type; /* type: "string", "integer", "number", "boolean", "array", "object" */
    enum config_power power;
    const char       *help;
};
const struct config_key *config_key_at(size_t i);
const char              *config_power(const struct config_key *k); /* "runs a program" */

/* The environment variable that takes precedence over both files; NULL: none. */
const char *config_variable(const struct config_key *k);

/* Every value of a document or a part of one (config.guarded), by its dotted name. */
typedef void config_each(void *ctx, struct sv dotted, const struct config_key *k,
                         const struct json *value);
void         config_walk(const struct json *part, struct sv prefix, config_each *each, void *ctx,
                         struct arena *a);

/* ST_NOT_FOUND, with the nearest as a hint, when there is no such key. */
enum status config_check_key(struct sv dotted, struct err *e) MUST_USE;

/* The text of a file ("" when there is none) with one value put in or, when `value` is absent,
 * taken out; the other members keep their order and their numbers. `value` is as a person types it:
 * a string without quotes, else JSON. ST_NOT_FOUND: no such key. ST_USAGE: a value of another
 * type. ST_INVALID_SYNTAX: config_read() refuses the file, before or after. */
enum status config_with(struct sv text, enum config_file file, struct sv path, struct sv dotted,
                        struct sv value, struct arena *a, struct sv *out, struct err *e) MUST_USE;

/* JSON Schema (2020-12) of a file. */
void config_schema(struct jw *w, enum config_file file);

#endif
