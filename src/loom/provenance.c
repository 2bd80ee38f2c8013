/* The hash of a node: what goes into it, in which order. */
#include "loom/provenance.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
    return sv_cmp(*(const struct sv *)a, *(const struct sv *)b);
}

static void add_sorted(struct sb *b, const struct sv *list, size_t n, char between)
{
    struct sv *sorted = ARENA_NEW(b->a, struct sv, n ? n : 1);

    for (size_t i = 0; i < n; i++)
        sorted[i] = list[i];
    qsort(sorted, n, sizeof *sorted, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (i)
            sb_addc(b, between);
        sb_add(b, sorted[i]);
    }
}

struct sv provenance_hash(const struct provenance *p, struct arena *a)
{
    static const struct sv between = SV_STATIC("=|d|=");
    struct sb              b = sb_in(a, 0), parents = sb_in(a, 0);

    add_sorted(&parents, p->parents, p->n_parents, ',');
    sb_add(&b, p->content);
    sb_add(&b, between);
    sb_add(&b, sb_sv(&parents));
    sb_add(&b, between);
    sb_add_iso_ms(&b, p->at);
    sb_add(&b, between);
    sb_add(&b, p->author);
    if (p->response.s) {
        sb_add(&b, between);
        sb_add(&b, p->response);
    }
    struct hash h = hash_sha256(sb_sv(&b));
    return hash_hex(&h, a);
}

struct sv provenance_content(const struct json *content, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    bool      is_text = !content || content->type == JSON_STRING;

    sb_adds(&b, is_text ? "{\"text\":" : "{\"blocks\":");
    if (is_text)
        sb_add_json_string(&b, content ? json_sv(content) : SV(""));
    else
        json_write(&b, content);
    sb_adds(&b, is_text ? ",\"type\":\"text\"}" : ",\"type\":\"mixed\"}");
    return sb_sv(&b);
}

struct sv provenance_response(struct sv headers, struct sv body, struct arena *a)
{
    VEC(struct sv) lines = { 0 };
    struct sb     b = sb_in(a, 0);
    struct sv_cut c = { .tail = headers, .found = headers.n > 0 };

    while (c.found) {
        c = sv_cut(c.tail, '\n');
        if (c.head.n)
            *vec_push(&lines, a) = c.head;
    }
    add_sorted(&b, lines.v, lines.n, '\n');
    sb_adds(&b, "\n\n");
    sb_add(&b, body);
    struct hash h = hash_sha256(sb_sv(&b));
    return hash_hex(&h, a);
}
