/* A line that no pattern understands may be given to a small model, where the settings name one
 * (loom.classifier). What it answers is shown back as a question, in the canonical form of the
 * language; it is never run. */
#ifndef HEDDLE_COMMAND_SUGGEST_H
#define HEDDLE_COMMAND_SUGGEST_H

#include "command/session.h"

/* `e` is the error of a line that could not be read; its hint becomes the question, when the model
 * names a command that can be read and that the agent may use. Nothing is locked. */
void suggest_command(struct session *s, struct sv line, struct err *e);

#endif
