/* Changing a JSON text that belongs to somebody else: every byte stays but those of the change.
 * Comments (two slashes, or slash and star) and commas behind the last member are allowed, as many
 * programs allow them in their settings.
 *
 *     struct sv path[] = { SV("mcpServers"), SV("heddle") };
 *     if (jsonc_set(text, path, 2, SV("{\"command\":\"heddle\"}"), a, &text, e)) ...
 *     if (jsonc_remove(text, path, 2, a, &text, e)) ...             the same bytes as before
 *
 * What is put in is indented as its surroundings are; an object on one line stays on one line. A
 * text of nothing but spaces is an empty object. All of them: ST_INVALID_SYNTAX when the text, or
 * what stands on the path, is not what it must be. */
#ifndef HEDDLE_JSONC_H
#define HEDDLE_JSONC_H

#include "base/json.h"

/* The same text as plain JSON, with spaces where comments and superfluous commas stand, so that
 * places in one are places in the other. Not checked: json_parse() does that. */
struct sv jsonc_plain(struct sv text, struct arena *a);

/* The value at a path of members; absent when there is none. *out is its text. */
enum status jsonc_find(struct sv text, const struct sv *path, size_t n, struct arena *a,
                       struct sv *out, struct err *e) MUST_USE;

/* Put `value`, which is JSON, in the place of the last member of the path, or behind its last
 * member when it is missing. Objects on the way are made. */
enum status jsonc_set(struct sv text, const struct sv *path, size_t n, struct sv value,
                      struct arena *a, struct sv *out, struct err *e) MUST_USE;

/* Put `value` behind the last item of the list at the path, which is made when it is missing. */
enum status jsonc_add(struct sv text, const struct sv *path, size_t n, struct sv value,
                      struct arena *a, struct sv *out, struct err *e) MUST_USE;

/* Take a member out, with its comma and the space before it. Missing is fine. */
enum status jsonc_remove(struct sv text, const struct sv *path, size_t n, struct arena *a,
                         struct sv *out, struct err *e) MUST_USE;

/* The same with those items of the list at the path for which `is` returns true. A part of the path
 * that is a number leads to an item of a list. */
enum status jsonc_drop(struct sv text, const struct sv *path, size_t n,
                       bool (*is)(void *ctx, const struct json *item), void *ctx, struct arena *a,
                       struct sv *out, struct err *e) MUST_USE;

#endif
