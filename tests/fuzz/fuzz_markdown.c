/* Markdown: whatever comes in, the answer is JSON within the limits of depth, every link in it
 * leads somewhere harmless, and the same bytes give the same answer. */
#include "base/utf8.h"
#include "markdown/markdown.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_url(struct sv url)
{
    if (url.s && !(url.n && (url.s[0] == '#' || (url.s[0] | 32) == 'h' || (url.s[0] | 32) == 'm')))
        abort();
}

static void check_nodes(const struct json *list, int depth)
{
    if (depth > MARKDOWN_DEPTH_MAX)
        abort();
    for (size_t i = 0; i < list->n; i++) {
        const struct json *x = &list->items[i], *below = json_find(x, "children");
        if (x->type == JSON_STRING)
            continue;
        if (x->type != JSON_OBJECT || !json_text(x, "type").n)
            abort();
        check_url(json_text(x, "url"));
        if (below)
            check_nodes(below, depth + 1);
    }
}

static struct sv written(struct sv text, struct arena *a)
{
    struct sb  b = sb_in(a, 0);
    struct jw  w = jw_in(&b, 0);
    struct err e;
    bool       cut;

    if (markdown_write(text, &w, &cut, &e) && e.code != ST_LIMIT_EXCEEDED)
        exit(0); /* the library is not installed */
    return sb_sv(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct sv    text = { (const char *)data, size }, out = written(text, &a);
    struct json  v;
    struct err   e;

    if (size <= MARKDOWN_BYTES_MAX) {
        if (utf8_invalid(out) >= 0 || json_parse(out, 0, &a, &v, &e) || v.type != JSON_ARRAY ||
            !sv_eq(out, written(text, &a)))
            abort();
        check_nodes(&v, 0);
    }
    arena_free(&a);
    return 0;
}
