/* Between leslie.c (words), answer.c (the envelope) and commands.c (what is not a single
 * operation). */
#ifndef HEDDLE_LESLIE_INTERNAL_H
#define HEDDLE_LESLIE_INTERNAL_H

#include "api/request.h"
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

/* Run an operation; *r has its document and warnings. */
enum status leslie_operation(struct app *app, const struct operation *op, void *params,
                             struct request *r, struct err *e) MUST_USE;

enum leslie_how {
    LESLIE_LIST = 1,       /* the data is the list of items */
    LESLIE_WARNINGS = 2,   /* the envelope has "warnings" even when there are none */
    LESLIE_NO_VERDICT = 4, /* the exit status is 0 whatever was found */
};

/* Print members of a document in the envelope; see `translations`. */
enum status leslie_answer(struct app *app, struct request *r, const char *members, unsigned how,
                          struct err *e) MUST_USE;
/* Print `data`, which is JSON, in the envelope. */
enum status leslie_reply(struct app *app, struct sv data, struct err *e) MUST_USE;

/* Set environment variables from ~/.leslie/env, then from the file that --config names: KEY=VALUE
 * lines. */
enum status leslie_environment(struct app *app, const struct leslie_call *call, struct err *e);

enum status leslie_init(struct app *app, const struct leslie_call *call, struct err *e);
enum status leslie_config_init(struct app *app, const struct leslie_call *call, struct err *e);
enum status leslie_run_objective(struct app *app, const struct leslie_call *call, struct err *e);

#endif
