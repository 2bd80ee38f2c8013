/* <thread_context>: what parses is written out again and parses to the same. */
#include "share/block.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(struct sb *b, const char *name, struct sv v)
{
    struct err e;

    sb_addf(b, " %s=\"", name);
    if (sb_add_xml(b, v, &e))
        abort(); /* a parser gave it to us, so XML can carry it */
    sb_addc(b, '"');
}

static struct sv written(const struct block_doc *d, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "<thread_context");
    put(&b, "thread", d->thread);
    put(&b, "objective", d->objective);
    sb_adds(&b, ">");
    for (size_t i = 0; i < d->assets.n; i++) {
        sb_adds(&b, "<asset");
        put(&b, "type", d->assets.v[i].type);
        put(&b, "path", d->assets.v[i].path);
        sb_adds(&b, "/>");
    }
    for (size_t i = 0; i < d->refs.n; i++) {
        sb_adds(&b, "<ref");
        put(&b, "thread", d->refs.v[i].thread);
        sb_adds(&b, "/>");
    }
    sb_adds(&b, "</thread_context>");
    return sb_sv(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena     a = { 0 };
    struct err       e;
    struct block_doc one, two;

    if (block_parse((struct sv){ (const char *)data, size }, &a, &one, &e) == ST_OK) {
        if (block_parse(written(&one, &a), &a, &two, &e) || !sv_eq(one.thread, two.thread) ||
            !sv_eq(one.objective, two.objective) || one.assets.n != two.assets.n ||
            one.refs.n != two.refs.n)
            abort();
        for (size_t i = 0; i < one.assets.n; i++)
            if (!sv_eq(one.assets.v[i].path, two.assets.v[i].path))
                abort();
    }
    arena_free(&a);
    return 0;
}
