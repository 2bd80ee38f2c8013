/* JSON: what parses prints canonically, and that text parses to the same text; read with its order
 * kept it has the same canonical form; the shallow walk sees every member of it, and stays inside
 * its text whatever that is. */
#include "base/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many members the walk gives; every piece must lie inside the text. */
static size_t walk(struct sv text)
{
    struct sv rest = text, key, raw;
    size_t    members = 0;

    for (; json_next(&rest, &key, &raw); members++)
        if (key.s < text.s || key.s + key.n > text.s + text.n || raw.s < key.s + key.n ||
            raw.s + raw.n > text.s + text.n || members > text.n)
            abort();
    return members;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct err   e;
    struct json  v, again, kept;
    struct sv    text = { (const char *)data, size };

    walk(text);

    if (json_parse(text, 0, &a, &v, &e) == ST_OK) {
        struct sv once = json_canonical(&v, &a);
        if (json_parse(once, 0, &a, &again, &e) || !json_eq(&v, &again) ||
            !sv_eq(once, json_canonical(&again, &a)))
            abort();
        if (v.type == JSON_OBJECT && walk(once) != v.n)
            abort();
        if (json_parse(text, JSON_KEEP_ORDER, &a, &kept, &e) ||
            !sv_eq(once, json_canonical(&kept, &a)))
            abort();
    }
    arena_free(&a);
    return 0;
}
