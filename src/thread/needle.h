/* Texts that are looked for in other texts, many at once.
 *
 *     struct needles set = needles_in(&a);
 *     needles_add_text(&set, SV("what was said"));
 *     if (needles_in_json(&set, payload)) ...
 *
 * Each text costs one look at every byte of what is searched, however many there are: a table holds
 * them by their first bytes. */
#ifndef HEDDLE_NEEDLE_H
#define HEDDLE_NEEDLE_H

#include "base/json.h"

/* Shorter ones would be found everywhere. Of a text of several lines its long lines are looked for
 * too, since whoever quotes it quotes lines. */
enum { NEEDLE_MIN = 8, NEEDLE_LINE_MIN = 24 };

struct needle;
struct needles {
    struct arena   *a;
    struct needle **slots; /* by the hash of the first NEEDLE_MIN bytes */
    size_t          n, slot_count;
};

struct needles needles_in(struct arena *a);

/* Exactly this text, trimmed. False when it is too short to be looked for. */
bool needles_add(struct needles *set, struct sv text);

/* A text and its long lines. */
void needles_add_text(struct needles *set, struct sv text);

/* Is one of them in these bytes? */
bool needles_find(const struct needles *set, struct sv bytes);

/* Is one of them in a string of a JSON text, decoded: also of JSON inside such a string, of lines
 * "data: JSON" and of checkpoint tokens? Text that is not JSON is searched as it is. */
bool needles_in_json(const struct needles *set, struct sv text);

#endif
