/* Questions to a person at the terminal. */
#ifndef HEDDLE_ASK_H
#define HEDDLE_ASK_H

#include <stdbool.h>

/* Open the controlling terminal, even if standard input is something else; -1 when there is none.
 * The caller closes it. */
int ask_terminal(void);

/* Read one line from the terminal; true when it means yes. What was typed before the question is
 * discarded. */
bool ask_yes(int tty);

#endif
