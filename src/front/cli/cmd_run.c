/* `run start | event | steer | inject | drain | cancel | recover | status`. */
#include "front/cli/command.h"

extern const struct operation op_run_start, op_run_event, op_run_steer, op_run_inject, op_run_drain,
    op_run_cancel, op_run_recover, op_run_status;

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };
static const struct cli_word start_words[] = {
    { "thread", WORD_PLAIN },
    { "text", WORD_OPTION | WORD_STDIN },
    { 0 },
};
static const struct cli_word event_words[] = {
    { "thread", WORD_PLAIN },
    { "events", WORD_HIDDEN }, /* the shell reads them from standard input */
    { 0 },
};
static const struct cli_word say_words[] = {
    { "thread", WORD_PLAIN },
    { "text", WORD_STDIN },
    { 0 },
};

/* clang-format off */
const struct command cmd_run_start   = { .name = "run start",   .op = &op_run_start,  .words = start_words };
const struct command cmd_run_event   = { .name = "run event",   .op = &op_run_event,  .words = event_words };
const struct command cmd_run_steer   = { .name = "run steer",   .op = &op_run_steer,  .words = say_words };
const struct command cmd_run_inject  = { .name = "run inject",  .op = &op_run_inject, .words = say_words };
const struct command cmd_run_drain   = { .name = "run drain",   .op = &op_run_drain,  .words = words, .data = true };
const struct command cmd_run_cancel  = { .name = "run cancel",  .op = &op_run_cancel,  .words = words };
const struct command cmd_run_recover = { .name = "run recover", .op = &op_run_recover, .words = words };
const struct command cmd_run_status  = { .name = "run status",  .op = &op_run_status,  .words = words };
/* clang-format on */
