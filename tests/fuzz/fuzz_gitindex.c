/* git's index: reading any bytes ends, its paths are sorted and single, and each of them is found
 * again. */
#include "project/gitindex.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check(struct sv bytes, size_t hash_size)
{
    struct arena    a = { 0 };
    struct gitindex x;
    struct err      e;

    if (gitindex_parse(bytes, hash_size, &a, &x, &e) == ST_OK) {
        for (size_t i = 0; i < x.paths.n; i++) {
            must(i == 0 || sv_cmp(x.paths.v[i - 1], x.paths.v[i]) < 0);
            must(gitindex_has(&x, x.paths.v[i]));
            struct sv_cut c = sv_cut_last(x.paths.v[i], '/');
            must(!c.found || gitindex_has_below(&x, c.head));
        }
        must(!gitindex_has(&x, SV("no such path\n")));
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv bytes = { (const char *)data, size };

    check(bytes, 20);
    check(bytes, 32);
    return 0;
}
