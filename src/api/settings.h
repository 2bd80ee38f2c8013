/* The two files of settings before they are merged: see config.h. */
#ifndef HEDDLE_SETTINGS_H
#define HEDDLE_SETTINGS_H

#include "api/workspace.h"

#define SETTINGS_FILE SV(".heddle/config.json")

enum { SETTINGS_BYTES_MAX = 1 << 20 };

/* The user's own; JSON_NULL when there is none, or it is ignored (user_file.h). */
enum status settings_of_user(const struct workspace *ws, struct arena *a, struct json *out,
                             struct err *e) MUST_USE;

/* The bytes (absent: no file) and the checked document (then JSON_NULL) of SETTINGS_FILE. */
enum status settings_of_workspace(const struct workspace *ws, struct arena *a, struct sv *text,
                                  struct json *out, struct err *e) MUST_USE;

#endif
