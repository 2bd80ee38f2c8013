/* How paths and links are written in a payload so that they can be read back.
 *
 * A path is written as it is. One that holds a control character or bytes that are not UTF-8, or
 * that starts with a double quote, or starts or ends with a space, is written in double quotes with
 * \n, \t, \", \\ and \ooo, as git writes such names. */
#ifndef HEDDLE_PAYLOAD_SHOW_H
#define HEDDLE_PAYLOAD_SHOW_H

#include "base/sb.h"

void sb_add_path(struct sb *b, struct sv path);

/* The path that sb_add_path() or git wrote; false when it is not well-formed. */
bool show_unshow(struct sv shown, struct arena *a, struct sv *path);

/* scheme://… in either case. Only http and https are fetched; others are not paths for that. */
bool show_is_url(struct sv v);

/* [text](target) for section 4: the target in angle brackets when it needs them. A URL,
 * or a name such as git:diff, is its own target; a path gets a leading slash. */
void sb_add_link(struct sb *b, struct sv name);
void sb_add_plain_link(struct sb *b, struct sv name); /* as older builds did: no escaped marks */

/* The label of section 5: `[text](target)` in a code span long enough. */
void sb_add_label(struct sb *b, struct sv name);

/* A fence of n backticks. */
void sb_add_fence(struct sb *b, size_t n);

/* Longest run of backticks in v, and how long a fence around a text with such a run is. */
size_t show_backtick_run(struct sv v);
size_t show_fence_around(size_t run);

#endif
