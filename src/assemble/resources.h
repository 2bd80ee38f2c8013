/* The resources of a payload as a part of a request. For the files of this room. */
#ifndef HEDDLE_ASSEMBLE_RESOURCES_H
#define HEDDLE_ASSEMBLE_RESOURCES_H

#include "assemble/draft.h"

/* Writes d->resources: with all resources when `tokens` is 0, else with those that fit; a line that
 * counts them when not even their list does. d->x->pruned says how many were cut. */
enum status draft_resources(struct assembly_draft *d, size_t tokens, struct err *e) MUST_USE;

/* Only the line. */
enum status draft_drop_resources(struct assembly_draft *d, struct err *e) MUST_USE;

#endif
