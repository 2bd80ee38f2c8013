/* Texts that are looked for in other texts, many at once.
 *
 *     struct needles set = needles_in(&a);
 *     needles_add_text(&set, SV("what was said"));
 *     if (needles_in_json(&set, payload)) ...
 *
 * The cost of a search is proportional to the bytes that are searched, however many texts are
 * looked for, however long they are, and whatever they have in common (needle_table.h). */
#ifndef HEDDLE_NEEDLE_H
#define HEDDLE_NEEDLE_H

#include "base/json.h"
#include "base/map.h"
#include "thread/limits.h"

struct needle_table;
struct needles {
    struct map           texts; /* each once */
    struct needle_table *table; /* built again by the first search after texts were added */
};

struct needles needles_in(struct arena *a);

/* Exactly this text, trimmed. False when it is too short to be looked for. */
bool needles_add(struct needles *set, struct sv text);

/* A text and its long lines. */
void needles_add_text(struct needles *set, struct sv text);

/* Is one of them in these bytes? */
bool needles_find(const struct needles *set, struct sv bytes);

/* Is one of them in a decoded string of a JSON text? JSON inside such a string, lines "data: JSON",
 * checkpoint tokens and base64 are decoded and searched too. Text that is not JSON is searched as
 * plain bytes. */
bool needles_in_json(const struct needles *set, struct sv text);

#endif
