/* What somebody types at the prompt of a tree, before it is sent: doors that read line by line use
 * this to find out whether a line is a command, and whether it continues on the next one. */
#ifndef HEDDLE_LINE_INPUT_H
#define HEDDLE_LINE_INPUT_H

#include "base/sv.h"

/* A line that starts with → or / is a command, any other is said. A thought without a text on the
 * line of its command has it on the lines that follow, up to a line with ← alone. */
enum line_input { LINE_TEXT, LINE_COMMAND, LINE_THOUGHT };
enum line_input line_input_of(struct sv line);

/* A command without its arrow or slash. */
struct sv line_command(struct sv line);

/* Does a command, with all lines that were read so far, go on? */
bool line_is_open(struct sv command);

#endif
