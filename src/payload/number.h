/* Line numbers in front of lines, for text that may come in parts. */
#ifndef HEDDLE_NUMBER_H
#define HEDDLE_NUMBER_H

#include "base/sb.h"

struct number {
    uint64_t line;   /* of the last line begun */
    bool     inside; /* the last part ended within a line */
};

/* "   1: text". The width grows past 9,999 lines. */
void number_add(struct number *n, struct sb *b, struct sv part);

/* The text in `a` that number_add() made this of; absent when it made no such text. */
struct sv number_removed(struct sv text, struct arena *a);

#endif
