/* The settings file of a checkout: whatever it holds, without trust nothing of what counts can run
 * a program, spend a key or open the network, and with trust all of it counts. */
#include "api/config.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_power(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    bool offline = k && k->power == CONFIG_SPENDS && sv_starts(json_sv(v), SV("offline:"));

    (void)ctx, (void)dotted;
    if (!k || (k->power != CONFIG_FREE && !offline))
        abort();
}

static void count(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    size_t *n = ctx;

    (void)dotted, (void)k, (void)v;
    ++*n;
}

static size_t values_in(const struct json *doc, struct arena *a)
{
    size_t n = 0;

    config_walk(doc, SV(""), count, &n, a);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena  a = { 0 };
    struct sv     text = { (const char *)data, size };
    struct json   own = { 0 }, none = { 0 };
    struct config c, trusted;
    struct err    e;

    if (config_read(text, CONFIG_OF_WORKSPACE, SV("x"), &a, &own, &e) == ST_OK) {
        config_join(&c, &none, &own, false, &a);
        config_walk(&c.doc, SV(""), no_power, NULL, &a);
        if (values_in(&c.doc, &a) + values_in(&c.guarded, &a) != values_in(&own, &a))
            abort();
        config_join(&trusted, &none, &own, true, &a);
        if (values_in(&trusted.doc, &a) != values_in(&own, &a))
            abort();
        config_join(&c, &own, &own, true, &a); /* on top of itself it is itself */
        if (!sv_eq(json_canonical(&c.doc, &a), json_canonical(&own, &a)))
            abort();
    }
    arena_free(&a);
    return 0;
}
