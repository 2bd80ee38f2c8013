/* What a line typed at a prompt is, and where it ends. */
#include "api/loom/line_input.h"

#include "command/grammar.h"
#include "command/lexer.h"

struct sv line_command(struct sv line)
{
    line = sv_trim(line);
    return sv_skip(line, sv_starts(line, SV("/")) ? 1 : sv_starts(line, SV("→")) ? 3 : 0);
}

enum line_input line_input_of(struct sv line)
{
    struct sv text;

    line = sv_trim(line);
    if (!sv_starts(line, SV("/")) && !sv_starts(line, SV("→")))
        return LINE_TEXT;
    return call_is_think(line_command(line), &text) && !text.n ? LINE_THOUGHT : LINE_COMMAND;
}

bool line_is_open(struct sv command)
{
    return lexer_is_open(command);
}
