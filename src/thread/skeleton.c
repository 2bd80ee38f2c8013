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

/* A value of another type than its row has is no less wrong when it is gone. */
static struct sv what_stays(struct sv raw, const struct member *row)
{
    if (!row || raw.s[0] == 'n' || member_has_shape(raw, row))
        return SV("null");
    return row->type == MEMBER_BOOL ? SV("0") : SV("false");
}

static void take_content(struct split *s, struct sv raw, const struct member *row)
{
    sb_add(&s->skeleton, what_stays(raw, row));
    *vec_push(&s->content, s->a) = raw;
    *vec_push(&s->content, s->a) = SV("\n");
}

static void split_kept(struct split *s, struct sv raw, const struct member *row);

static void split_list(struct split *s, struct sv list, const struct member *item)
{
    struct sv rest = list, raw;
    bool      any = false;

    sb_addc(&s->skeleton, '[');
    while (json_next_item(&rest, &raw)) {
        if (any)
            sb_addc(&s->skeleton, ',');
        any = true;
        split_kept(s, raw, item);
    }
    sb_addc(&s->skeleton, ']');
}

static void split_object(struct split *s, struct sv object, const struct member *fields);

/* A member that is kept, or an item of a list that is. */
static void split_kept(struct split *s, struct sv raw, const struct member *row)
{
    if (raw.s[0] == 'n')
        sb_add(&s->skeleton, raw);
    else if (!member_has_shape(raw, row)) /* of an import: not what the row describes */
        take_content(s, raw, row);
    else if (row->of && row->type == MEMBER_OBJECT)
        split_object(s, raw, row->of);
    else if (row->of && row->type == MEMBER_LIST)
        split_list(s, raw, row->of);
    else
        sb_add(&s->skeleton, raw);
}

static void split_value(struct split *s, struct sv raw, const struct member *row)
{
    if (row && row->kept)
        split_kept(s, raw, row);
    else
        take_content(s, raw, row);
}

static void split_object(struct split *s, struct sv object, const struct member *fields)
{
    struct sv rest = object, key, raw;
    bool      any = false;

    sb_addc(&s->skeleton, '{');
    while (json_next(&rest, &key, &raw)) {
        if (any)
            sb_addc(&s->skeleton, ',');
        any = true;
        /* With its quotes and colon, and escaped, as it stands in canonical text. */
        sb_add(&s->skeleton, (struct sv){ key.s - 1, key.n + 3 });
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

/* A message's content is the one text that no row of a table names. */
static bool is_shown_text(enum kind k, struct sv key, const struct member *row)
{
    if (row)
        return !row->kept && row->type == MEMBER_TEXT;
    return sv_is(key, "content") && (k == KIND_AI_MESSAGE || k == KIND_RUN_TOOL_HELD);
}

struct sv skeleton_shown(const struct entry *n, struct arena *a)
{
    enum kind            k = kind_of(n->kind);
    const struct member *fields = kind_fields(k);
    struct sb            b = sb_in(a, 0);
    struct sv            rest = n->payload, key, raw;

    if (!n->erased)
        return n->payload;
    sb_addc(&b, '{');
    while (json_next(&rest, &key, &raw)) {
        bool gone = raw.s[0] == 'n' && is_shown_text(k, key, row_of(fields, key));
        sb_adds(&b, b.n > 1 ? ",\"" : "\"");
        sb_add(&b, key);
        sb_adds(&b, "\":");
        sb_add(&b, gone ? SV("\"" ERASED_TEXT "\"") : raw);
    }
    sb_addc(&b, '}');
    return sb_sv(&b);
}

bool skeleton_has_content(const struct entry *n, struct arena *a)
{
    bool bare = !n->refs.n || sv_is(n->refs, "{}");

    return !n->erased && !(bare && sv_eq(skeleton_of(n->kind, n->payload, a), n->payload));
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
