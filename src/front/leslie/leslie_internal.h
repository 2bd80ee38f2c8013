/* Between leslie.c (words) and commands.c (what has no twin among our commands). */
#ifndef HEDDLE_LESLIE_INTERNAL_H
#define HEDDLE_LESLIE_INTERNAL_H

#include "base/vec.h"
#include "front/app.h"

struct leslie_value {
    const char *name, *value;
};
struct leslie_call {
    struct sv words[2]; /* command and subcommand */
    size_t    n_words;
    VEC(struct leslie_value) values;
};

const char *leslie_value(const struct leslie_call *call, const char *name); /* NULL: not given */

/* ~/.leslie/env, then what --config names: KEY=VALUE lines. */
enum status leslie_environment(struct app *app, const struct leslie_call *call, struct err *e);

enum status leslie_init(struct app *app, const struct leslie_call *call, struct err *e);
enum status leslie_config_init(struct app *app, const struct leslie_call *call, struct err *e);
enum status leslie_run_objective(struct app *app, const struct leslie_call *call, struct err *e);

#endif
