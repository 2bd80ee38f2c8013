/* input.md: reading any bytes ends, and parse(emit(x)) = x: a payload made from the fuzzed bytes
 * comes back with every path, body, list and memo. What a fence cannot hold is whether the
 * tree and the memos ended with a line end; they are compared with one. */
#include "payload/emit.h"
#include "payload/parse.h"
#include "payload/scan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RESOURCES_MAX = 6 };

static struct sv take(struct sv *rest)
{
    struct sv_cut c = sv_cut(*rest, 0);

    *rest = c.tail.s ? c.tail : SV("");
    return c.head;
}

static void must(bool yes)
{
    if (!yes)
        abort();
}

static bool same_body(struct sv got, struct sv want)
{
    if (sv_eq(got, want))
        return true;
    return got.n == want.n + 1 && want.n && want.s[want.n - 1] != '\n' && got.s[want.n] == '\n' &&
           sv_eq(sv_first(got, want.n), want);
}

static void make(struct payload *p, struct sv rest, struct sv *bodies, struct arena *a)
{
    lists_init(&p->lists, -1, NULL, a);
    p->os = SV("Linux 1");
    p->shell = SV("/bin/sh");
    p->tree = take(&rest);
    p->memos = take(&rest);
    p->has_memos = true;
    while (rest.n && p->lists.resources.n < RESOURCES_MAX) {
        struct sv         name = take(&rest), body = take(&rest);
        struct scan_found s = { 0 };
        size_t            before = p->lists.resources.n;
        if (!name.n)
            continue;
        enum resource_scope scope = (enum resource_scope)(name.n % SCOPE_COUNT);
        struct resource    *r = lists_add(&p->lists, scope, name, RESOURCE_FILE);
        if (p->lists.resources.n == before)
            continue;
        scan_text(&s, body, NULL, false, false);
        r->state = s.is_invalid ? RES_NOT_UTF8 : RES_OK;
        r->size = body.n;
        r->run = s.run;
        r->ends_with_newline = s.last == '\n';
        bodies[before] = body;
    }
}

static struct sv written(struct payload *p, const struct sv *bodies, struct arena *a)
{
    struct sb        out = sb_in(a, 0);
    struct emit_sink sink = { .out = &out };
    struct emit      e = { .p = p, .sink = &sink };

    e.b = sb_in(&e.keep, 0);
    emit_markdown.begin(&e);
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        emit_open(&e, &emit_markdown, r);
        if (r->state == RES_OK)
            emit_markdown.content(&e, bodies[i]);
        emit_markdown.close(&e, r);
        e.done++;
    }
    emit_markdown.end(&e);
    emit_flush(&e);
    arena_free(&e.keep);
    arena_free(&e.scratch);
    return sb_sv(&out);
}

static void round_trip(struct sv bytes)
{
    struct arena           a = { 0 };
    struct payload_request q = { .root = SV("/w") };
    struct payload         p = { .q = &q, .a = &a };
    struct sv              bodies[RESOURCES_MAX] = { 0 };
    struct parsed          back;
    struct err             e;

    make(&p, bytes, bodies, &a);
    must(payload_parse(written(&p, bodies, &a), &a, &back, &e) == ST_OK);
    must(same_body(back.tree, p.tree) && same_body(back.memos, p.memos));
    must(back.resources.n == p.lists.resources.n);
    for (size_t i = 0; i < back.resources.n; i++) {
        const struct resource *r = &p.lists.resources.v[i];
        must(sv_eq(back.resources.v[i].name, r->name));
        must(back.resources.v[i].is_placeholder == (r->state != RES_OK));
        must(r->state != RES_OK || sv_eq(back.resources.v[i].body, bodies[i]));
    }
    size_t entries = 0;
    for (int s = 0; s < SCOPE_COUNT; s++)
        for (size_t i = 0; i < p.lists.shown[s].n; i++, entries++) {
            must(entries < back.summary.n);
            must(back.summary.v[entries].scope == (enum resource_scope)s);
            must(sv_eq(back.summary.v[entries].name,
                       p.lists.resources.v[p.lists.shown[s].v[i]].name));
        }
    must(entries == back.summary.n);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena  a = { 0 };
    struct sv     text = { (const char *)data, size };
    struct parsed p;
    struct err    e;

    (void)!payload_parse(text, &a, &p, &e);
    arena_free(&a);
    round_trip(text);
    return 0;
}
