/* Shared by the two scanners of a model's output: the one of a whole output (scan.c), and the one
 * that watches it while it comes (scan_watch.c). */
#ifndef HEDDLE_COMMAND_SCAN_INTERNAL_H
#define HEDDLE_COMMAND_SCAN_INTERNAL_H

#include "command/scan.h"

/* Text in fences and blocks holds no commands. */
struct scan_block;
struct scan_fence {
    char                     mark;  /* ` or ~: inside a fence of these; 0: no */
    size_t                   marks; /* how many of them opened it */
    const struct scan_block *block; /* inside this block; NULL: no */
};

static inline bool scan_is_inside(const struct scan_fence *f)
{
    return f->mark || f->block;
}

/* A line outside of commands and thoughts: what it opens stays open behind it. */
void scan_follow(struct scan_fence *f, struct sv line);

/* The next line of *rest, without its end. */
struct sv scan_line(struct sv *rest);

/* Does it start with an arrow? *after is what follows it. */
bool scan_is_command(struct sv line, struct sv *after);

/* Does it look like a command, so that it is answered though it does not run? *answer is filled,
 * with `more` at the end of its text. */
bool scan_is_answered(struct sv line, const char *more, struct arena *a, struct sv *after,
                      struct err *answer);

/* Could a line that starts with this, which is not empty and has no space in front, be a command or
 * be answered? */
bool scan_could_be(struct sv start);

/* A command whose quotations cannot be told from the words around them: nothing after it counts. */
bool scan_is_unclear(struct sv command, struct arena *a);

#endif
