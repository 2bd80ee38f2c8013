/* `backup`, `restore-backup`: rows of operations; the files are named from the current directory.
 */
#include "base/path.h"
#include "front/cli/command.h"

#include <limits.h>
#include <unistd.h>

extern const struct operation op_workspace_backup, op_workspace_restore;

static enum status make_absolute(struct app *app, void *params, const char *name, struct err *e)
{
    const struct param *p = param_find(app->command->op->params, sv_of(name));
    struct sv          *path = (struct sv *)(void *)((char *)params + p->offset);
    char                here[PATH_MAX];

    if (!path->n || sv_starts(*path, SV("/")))
        return ST_OK;
    if (!getcwd(here, sizeof here))
        return err_errno(e, "the current directory");
    *path = path_join(sv_dup(sv_of(here), app->a), *path, app->a);
    return ST_OK;
}

static enum status name_file(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct param *p = param_find(app->command->op->params, SV("file"));

    (void)r;
    if (sv_is(*(struct sv *)(void *)((char *)params + p->offset), "-")) {
        err_set(e, ST_USAGE, "a backup is a file, which is read again after it was written");
        return err_hint(e, "./- is a file of that name");
    }
    return make_absolute(app, params, "file", e);
}

static enum status name_files(struct app *app, struct request *r, void *params, struct err *e)
{
    return name_file(app, r, params, e) ? err_code(e) : make_absolute(app, params, "into", e);
}

static const struct cli_word words[] = { { "file", WORD_PLAIN }, { NULL, 0 } };

const struct command cmd_backup = {
    .name = "backup",
    .op = &op_workspace_backup,
    .words = words,
    .prepare = name_file,
};

const struct command cmd_restore_backup = {
    .name = "restore-backup",
    .op = &op_workspace_restore,
    .words = words,
    .prepare = name_files,
};
