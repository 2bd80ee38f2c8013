/* The guide for agents that AGENTS.md carries: one block between its own tags, which is replaced
 * completely; the text around it is not changed. */
#ifndef HEDDLE_GUIDE_H
#define HEDDLE_GUIDE_H

#include "base/sb.h"

#define GUIDE_VERSION "2.0.1"

struct guide {
    const char *status;   /* "created", "appended", "updated", "unchanged" */
    struct sv   previous; /* version of the block that was there; absent: none */
    bool        major;    /* it differs in its first number: ask before replacing it */
    struct sv   text;     /* the new text of the file */
};

/* `old` absent: there is no file. ST_INVALID_SYNTAX: the block's version is not a version, or the
 * block is not closed. */
enum status guide_apply(struct sv old, struct arena *a, struct guide *out, struct err *e) MUST_USE;

#endif
