/* Questions to a person at the terminal. */
#ifndef HEDDLE_ASK_H
#define HEDDLE_ASK_H

#include <stdbool.h>

/* The terminal, whatever standard input is; -1: there is none. To be closed. */
int ask_terminal(void);

/* One line as it is typed: is it a yes? What was typed before the question does not answer it. */
bool ask_yes(int tty);

#endif
