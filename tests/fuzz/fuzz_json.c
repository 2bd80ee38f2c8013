/* JSON: what parses prints canonically, and that text parses to the same text. */
#include "base/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct err   e;
    struct json  v, again;

    if (json_parse((struct sv){ (const char *)data, size }, 0, &a, &v, &e) == ST_OK) {
        struct sv once = json_canonical(&v, &a);
        if (json_parse(once, 0, &a, &again, &e) || !json_eq(&v, &again) ||
            !sv_eq(once, json_canonical(&again, &a)))
            abort();
        struct sv rest = once, key, raw;
        size_t    members = 0;
        while (v.type == JSON_OBJECT && json_next(&rest, &key, &raw))
            members++;
        if (v.type == JSON_OBJECT && members != v.n)
            abort();
    }
    arena_free(&a);
    return 0;
}
