/* `thread delete | archive | rename`: rows of operations, and the question before a thread is
 * deleted. */
#include "base/fs.h"
#include "front/cli/ask.h"
#include "front/cli/command.h"

extern const struct operation op_thread_archive, op_thread_delete, op_thread_rename;

static const void *param_of(const void *params, const char *name)
{
    return (const char *)params + param_find(op_thread_delete.params, sv_of(name))->offset;
}

static enum status ask(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct sv  *thread = (const struct sv *)param_of(params, "thread");
    UNDO(fd_undo) int tty = *(const bool *)param_of(params, "yes") ? -1 : ask_terminal();
    struct sb         out = sb_to_fd(tty, app->a);

    if (tty < 0)
        return ST_OK; /* the operation then reports what it needs */
    sb_adds(&out, "Delete the thread ");
    sb_add_plain_line(&out, *thread);
    sb_adds(&out, *(const bool *)param_of(params, "keep_files")
                      ? " for good: everything in its log? [y/N] "
                      : " for good: everything in its log, and the files in its directory? [y/N] ");
    if (sb_flush(&out, e))
        return err_in(e, "the terminal");
    r->agreed = ask_yes(tty);
    return ST_OK;
}

static const struct cli_word thread[] = { { "thread", WORD_PLAIN }, { NULL, 0 } };
static const struct cli_word thread_title[] = {
    { "thread", WORD_PLAIN },
    { "title", WORD_PLAIN },
    { NULL, 0 },
};

const struct command cmd_thread_delete = {
    .name = "thread delete",
    .op = &op_thread_delete,
    .words = thread,
    .prepare = ask,
};

const struct command cmd_thread_archive = {
    .name = "thread archive",
    .op = &op_thread_archive,
    .words = thread,
};

const struct command cmd_thread_rename = {
    .name = "thread rename",
    .op = &op_thread_rename,
    .words = thread_title,
};
