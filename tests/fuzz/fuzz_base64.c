/* Base64url: any bytes come back as they were, and a text that is read at all is the one text
 * for its bytes. */
#include "base/hash.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sv encode(struct sv bytes, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_base64url(&b, bytes);
    return sb_sv(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct sv    text = { (const char *)data, size }, back;

    if (!base64url_read(encode(text, &a), &a, &back) || !sv_eq(back, text))
        abort();
    if (base64url_read(text, &a, &back) && !sv_eq(encode(back, &a), text))
        abort();
    arena_free(&a);
    return 0;
}
