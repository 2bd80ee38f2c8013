/* Pinned heads: any bytes are read without harm, and what was read is written and read again as the
 * same. */
#include "thread/pin.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena     a = { 0 };
    struct head_pin *pins, *again;
    size_t           n, m;
    struct err       e;

    if (pins_read((struct sv){ (const char *)data, size }, &a, &pins, &n, &e) == ST_OK) {
        struct sb b = sb_in(&a, 0);
        for (size_t i = 0; i < n; i++) {
            struct jw w = jw_in(&b, 0);
            pin_write(&w, &pins[i]);
            sb_addc(&b, '\n');
        }
        if (n && (pins_read(sb_sv(&b), &a, &again, &m, &e) || m != n))
            abort();
        for (size_t i = 0; i < n; i++)
            if (!sv_eq(pins[i].thread, again[i].thread) || pins[i].rev != again[i].rev ||
                !hash_eq(&pins[i].chain, &again[i].chain))
                abort();
    }
    arena_free(&a);
    return 0;
}
