/* `session new | list` and `turn new`, as the shell has them. */
#include "front/cli/command.h"

extern const struct operation op_session_new, op_session_list, op_turn_new;

static const struct cli_word new_words[] = {
    { "name", WORD_OPTIONAL },
    { "message", WORD_OPTION | WORD_STDIN },
    { 0 },
};

const struct command cmd_session_new = { .name = "session new",
                                         .op = &op_session_new,
                                         .words = new_words };
const struct command cmd_session_list = { .name = "session list", .op = &op_session_list };
const struct command cmd_turn_new = { .name = "turn new", .op = &op_turn_new };
