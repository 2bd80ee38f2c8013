/* Taking a payload apart into skeleton and content, in one pass over its canonical text. */
#include "thread/skeleton.h"

#include "base/json.h"
#include "base/rand.h"
#include "base/vec.h"
#include "thread/kind_check.h"

#include <string.h>

struct split {
    struct sb     skeleton;
    struct arena *a;
    VEC(struct sv) content; /* the parts that are hashed */
};

static const struct member *row_of(const struct member *fields, struct sv key)
{
    for (; fields && fields->name.s; fields++)
        if (sv_eq(key, fields->name))
            return fields;
    return NULL;
}

static void take_content(struct split *s, struct sv raw)
{
    sb_add(&s->skeleton, SV("null"));
    *vec_push(&s->content, s->a) = raw;
    *vec_push(&s->content, s->a) = SV("\n");
}

static void split_object(struct split *s, struct sv object, const struct member *fields);

static void split_list(struct split *s, struct sv list, const struct member *item)
{
    struct sv rest = list, raw;
    bool      any = false;

    sb_addc(&s->skeleton, '[');
    while (json_next_item(&rest, &raw)) {
        if (any)
            sb_addc(&s->skeleton, ',');
        any = true;
        if (raw.s[0] == '{' && item->of)
            split_object(s, raw, item->of);
        else
            sb_add(&s->skeleton, raw);
    }
    sb_addc(&s->skeleton, ']');
}

static void split_value(struct split *s, struct sv raw, const struct member *row)
{
    if (!row || !row->kept)
        take_content(s, raw);
    else if (!row->of)
        sb_add(&s->skeleton, raw);
    else if (row->type == MEMBER_OBJECT && raw.s[0] == '{')
        split_object(s, raw, row->of);
    else if (row->type == MEMBER_LIST && raw.s[0] == '[')
        split_list(s, raw, row->of);
    else /* of an import: not what the row describes */
        take_content(s, raw);
}

static void split_object(struct split *s, struct sv object, const struct member *fields)
{
    struct sv rest = object, key, raw;
    bool      any = false;

    sb_addc(&s->skeleton, '{');
    while (json_next(&rest, &key, &raw)) {
        sb_adds(&s->skeleton, any ? ",\"" : "\"");
        any = true;
        sb_add(&s->skeleton, key); /* stays escaped, as json_next() gives it */
        sb_adds(&s->skeleton, "\":");
        split_value(s, raw, row_of(fields, key));
    }
    sb_addc(&s->skeleton, '}');
}

static struct split split_of(struct sv kind, struct sv payload, struct arena *a)
{
    struct split s = { .skeleton = sb_in(a, 0), .a = a };

    *vec_push(&s.content, a) = (struct sv){ 0 }; /* room for the salt */
    split_object(&s, payload, kind_fields(kind_of(kind)));
    return s;
}

struct sv skeleton_of(struct sv kind, struct sv payload, struct arena *a)
{
    struct split s = split_of(kind, payload, a);

    return sb_sv(&s.skeleton);
}

void skeleton_fill(struct entry *n, struct arena *a)
{
    if (n->erased)
        n->skeleton = n->payload;
    if (n->erased || !n->salted)
        return;
    struct split s = split_of(n->kind, n->payload, a);
    s.content.v[0] = (struct sv){ (const char *)n->salt, sizeof n->salt };
    *vec_push(&s.content, a) = n->refs.n ? n->refs : SV("{}");
    n->skeleton = sb_sv(&s.skeleton);
    n->content = hash_blake2b(s.content.v, s.content.n);
}

enum status skeleton_prove(struct store_scan *scan, const struct entry *n, enum entry_proof *out,
                           struct err *e)
{
    struct arena scratch = { 0 };
    struct entry full = *n;

    skeleton_fill(&full, &scratch);
    enum status s = store_prove(scan, &full, out, e);
    arena_free(&scratch);
    return s;
}

void skeleton_salt(struct entry *entries, size_t n)
{
    enum { AT_ONCE = 64 };
    unsigned char drawn[AT_ONCE][ENTRY_SALT_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (i % AT_ONCE == 0)
            rand_salt(drawn, (n - i < AT_ONCE ? n - i : AT_ONCE) * ENTRY_SALT_SIZE);
        if (entries[i].salted || entries[i].unsalted || entries[i].erased)
            continue;
        memcpy(entries[i].salt, drawn[i % AT_ONCE], ENTRY_SALT_SIZE);
        entries[i].salted = true;
    }
}
