/* `merge`, `transcript`: bringing work together, keeping what was said. */
#include "front/cli/command.h"

extern const struct operation op_thread_merge, op_transcript_keep;

static const struct cli_word transcript_words[] = {
    { "thread", WORD_PLAIN },
    { "assistant", WORD_OPTION | WORD_STDIN },
    { 0 },
};

const struct command cmd_merge = { .name = "merge", .op = &op_thread_merge };
const struct command cmd_transcript = {
    .name = "transcript",
    .synopsis = "T --chat ID --query TEXT --assistant TEXT|- [--start TIME] [--end TIME]",
    .op = &op_transcript_keep,
    .words = transcript_words,
};
