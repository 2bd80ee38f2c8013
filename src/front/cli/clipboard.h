/* The clipboard of the person at the terminal: through a program that is installed, else through
 * the terminal itself (OSC 52). */
#ifndef HEDDLE_CLIPBOARD_H
#define HEDDLE_CLIPBOARD_H

#include "base/sb.h"

/* Copy all bytes of the file behind `fd` (from its start). ST_NOT_FOUND: there is no way to
 * a clipboard here. ST_LIMIT_EXCEEDED: too much for a terminal. Only ST_OK means that
 * a program took the bytes, or that they were sent to the terminal. */
enum status clipboard_copy(int fd, struct err *e) MUST_USE;

#endif
