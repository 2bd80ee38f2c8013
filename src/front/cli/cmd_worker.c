/* `ps`, `wait`, `stop`: processes that work on threads. */
#include "front/cli/command.h"

#include <signal.h>

extern const struct operation op_worker_list, op_worker_wait, op_worker_stop, op_worker_run;

static const struct cli_word thread[] = { { "thread", WORD_PLAIN }, { 0 } };

const struct command cmd_ps = { .name = "ps", .op = &op_worker_list };
const struct command cmd_wait = { .name = "wait", .op = &op_worker_wait, .words = thread };
const struct command cmd_stop = { .name = "stop", .op = &op_worker_stop, .words = thread };

/* SIGTERM is for the executor; its supervisor ignores it and records how the executor ended. */
static enum status stay(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)app;
    (void)r;
    (void)params;
    (void)e;
    signal(SIGTERM, SIG_IGN);
    return ST_OK;
}

const struct command cmd_worker = {
    .name = "_worker",
    .op = &op_worker_run,
    .words = thread,
    .hidden = true,
    .is_called = true,
    .prepare = stay,
};
