/* Files of other looms: whatever comes in, nothing crashes, and the list that comes out is a
 * tree: parents before children, one root. */
#include "loom/exchange.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena         a = { 0 };
    struct err           e;
    struct foreign_tree *trees;
    const char          *format;
    size_t               n;

    if (import_read((struct sv){ (const char *)data, size }, &a, &trees, &n, &format, &e) == ST_OK)
        for (size_t t = 0; t < n; t++)
            for (size_t i = 0; i < trees[t].n; i++) {
                int64_t parent = trees[t].nodes[i].parent;
                if (parent >= (int64_t)i || (i > 0 && parent < 0) || !trees[t].nodes[i].author.n)
                    abort();
            }
    arena_free(&a);
    return 0;
}
