/* Failures of providers: whatever a body says, it becomes one of our codes, and a request is
 * changed only by leaving out a setting that it has. The first two bytes choose the HTTP status; a
 * zero byte parts the body of the answer, the body of the request and a Retry-After. */
#include "base/utf8.h"
#include "model/provider_error.h"
#include "model/sampling.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool parses(struct sv text, struct arena *a, struct json *out)
{
    struct err ignored;

    return json_parse(text, JSON_KEEP_ORDER, a, out, &ignored) == ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena          a = { 0 };
    struct provider_error facts = { 0 };
    struct err            e = { 0 };
    struct json           doc, asked, less;
    bool                  retry;

    if (size < 2)
        return 0;
    struct sv_cut answer = sv_cut((struct sv){ (const char *)data + 2, size - 2 }, 0);
    struct sv_cut request = sv_cut(answer.tail, 0);
    struct sv     body = request.head;
    struct sb     warnings = sb_in(&a, 0);
    if (parses(answer.head, &a, &doc)) {
        require(provider_error_of(data[0] << 8 | data[1], &doc, &retry, &facts, &e) ==
                ST_MODEL_ERROR);
        require(e.reason[0] && e.text[0] && facts.n_words <= COUNT(facts.words));
    }
    const char *dropped = sampling_drop(&body, &facts, &a, &warnings);
    require(dropped ? body.s != request.head.s && warnings.n : sv_eq(body, request.head));
    if (dropped) {
        require(parses(request.head, &a, &asked) && parses(body, &a, &less));
        require(less.n <= asked.n);
    }
    require(provider_error_wait(request.tail, 0) >= -1);
    struct sv masked = provider_error_masked(answer.head, sv_first(request.tail, 9), &a);
    require(masked.n == answer.head.n);
    require(!sv_first(request.tail, 9).n || sv_find(masked, sv_first(request.tail, 9)) < 0 ||
            sv_has(sv_first(request.tail, 9), '*'));
    arena_free(&a);
    return 0;
}
