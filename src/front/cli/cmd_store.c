/* `store info`, `store copy`, `store switch`: where the log is. Files are named from the current
 * directory. */
#include "base/path.h"
#include "front/cli/command.h"

#include <limits.h>
#include <unistd.h>

extern const struct operation op_store_copy, op_store_info, op_store_switch;

/* Make a path absolute; a URL, and the word `here` for the store in use, stay as they are. */
static enum status make_absolute(struct app *app, void *params, const char *name, struct err *e)
{
    const struct param *p = param_find(app->command->op->params, sv_of(name));
    struct sv          *place = (struct sv *)(void *)((char *)params + p->offset);
    char                here[PATH_MAX];

    if (sv_is(*place, "here") || sv_starts(*place, SV("/")) || sv_has(*place, ':'))
        return ST_OK;
    if (!getcwd(here, sizeof here))
        return err_errno(e, "the current directory");
    *place = path_join(sv_dup(sv_of(here), app->a), *place, app->a);
    return ST_OK;
}

static enum status name_to(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)r;
    return make_absolute(app, params, "to", e);
}

static enum status name_both(struct app *app, struct request *r, void *params, struct err *e)
{
    return name_to(app, r, params, e) ? err_code(e) : make_absolute(app, params, "from", e);
}

static const struct cli_word copy_words[] = {
    { "from", WORD_PLAIN },
    { "to", WORD_PLAIN },
    { NULL, 0 },
};
static const struct cli_word switch_words[] = { { "to", WORD_PLAIN }, { NULL, 0 } };

const struct command cmd_store_info = { .name = "store info", .op = &op_store_info };

const struct command cmd_store_copy = {
    .name = "store copy",
    .op = &op_store_copy,
    .words = copy_words,
    .prepare = name_both,
};

const struct command cmd_store_switch = {
    .name = "store switch",
    .op = &op_store_switch,
    .words = switch_words,
    .prepare = name_to,
};
