/* Answers of search services: whatever comes in, each result has an address of the web and a
 * domain that was asked for, within the limits. The first byte chooses service and query. */
#include "search/search_internal.h"

#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct search_plan *p, const struct search_result *x)
{
    if (!sv_starts(x->url, SV("http://")) && !sv_starts(x->url, SV("https://")))
        abort();
    if (!x->domain.n || !x->title.n || x->text.n > SEARCH_TEXT_MAX || utf8_invalid(x->domain) >= 0)
        abort();
    if (x->published.s && x->published.n != 10)
        abort();
    for (size_t i = 0; i < x->domain.n; i++)
        if (strchr("/@ :?#\"\n", x->domain.s[i])) /* NUL too */
            abort();
    if (p->n_include && !sv_ends(x->domain, p->include[0]))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena         a = { 0 };
    struct err           e;
    struct search_plan   p;
    struct search_answer got;

    if (!size)
        return 0;
    enum search_kind    kind = data[0] % SEARCH_KINDS;
    struct sv           body = { (const char *)data + 1, size - 1 };
    struct search_query q = { .text = SV("q"),
                              .deep = data[0] & 4,
                              .news = data[0] & 8,
                              .max = data[0] & 16 ? 1 : SEARCH_MAX,
                              .include = data[0] & 32 ? SV("a.org") : SV("") };
    if (search_plan(&q, &a, &p, &e))
        abort();
    if (!search_code(kind, 429, body, &a))
        abort();
    if (search_read(kind, &p, body, &a, &got, &e) == ST_OK) {
        if (got.n > p.max)
            abort();
        for (size_t i = 0; i < got.n; i++)
            check(&p, &got.results[i]);
    }
    arena_free(&a);
    return 0;
}
