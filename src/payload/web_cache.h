/* Fetched pages at rest: one file per URL, named by the hash of the URL. The first line is a JSON
 * object (url, type, at, size, sha256, private), the rest is the body. A file that does not verify
 * is ignored. */
#ifndef HEDDLE_WEB_CACHE_H
#define HEDDLE_WEB_CACHE_H

#include "base/sb.h"

struct web_page {
    struct sv body, type;
    int64_t   at;         /* when it was fetched, ms */
    bool      is_private; /* it came from a private address */
    struct sv stale;      /* why an old copy is given; absent: the copy is fresh */
};

/* False when there is none. `dir` is a directory descriptor; -1: no cache. */
bool web_cache_get(int dir, struct sv url, struct arena *a, struct web_page *out);

/* Failing to keep a page is not an error: it will be fetched again. */
void web_cache_put(int dir, struct sv url, const struct web_page *page);

#endif
