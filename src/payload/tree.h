/* Section 2: the project's files as indented text, two spaces a level, directories with a slash.
 * Names are written as sb_add_path() writes them. */
#ifndef HEDDLE_PAYLOAD_TREE_H
#define HEDDLE_PAYLOAD_TREE_H

#include "project/walk.h"

struct tree_limits {
    size_t max_depth;   /* levels shown; 0: all */
    size_t max_entries; /* lines shown; 0: all */
};

/* Where a limit cuts something, a line says so in its place: "… 12 more", counted in entries of all
 * depths. */
void tree_write(struct sb *b, const struct walk *w, struct tree_limits limits);

#endif
