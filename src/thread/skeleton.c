/* Taking a payload apart into skeleton and content, in one pass over its canonical text. */
#include "thread/skeleton.h"

#include "base/json.h"
#include "base/rand.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/kind_check.h"

#include <string.h>

/* The content of a short payload is copied together, so that several are hashed at a time; of a
 * long one the parts are hashed where they are. */
enum { SPLIT_SHORT = 4096 };

struct split {
    struct sb    *skeleton, *content;
    struct arena *a;
    bool          is_short;
    bool          odd;    /* a comma or a bracket is not where canonical text has it */
    VEC(struct sv) parts; /* of the content, when it is not short */
    struct sv few[16];    /* first storage of `parts`: most entries have few texts */
};

static const struct member *row_of(const struct member *fields, struct sv key)
{
    for (; fields && fields->name.s; fields++)
        if (sv_eq(key, fields->name))
            return fields;
    return NULL;
}

/* What replaces a value of the wrong type: the entry must still be refused by the rules of its
 * kind. */
static struct sv what_stays(struct sv raw, const struct member *row)
{
    if (!row || raw.s[0] == 'n' || member_has_shape(raw, row))
        return SV("null");
    return row->type == MEMBER_BOOL ? SV("0") : SV("false");
}

static void take_content(struct split *s, struct sv raw, const struct member *row)
{
    sb_put(s->skeleton, what_stays(raw, row));
    if (s->is_short) {
        sb_put(s->content, raw);
        sb_putc(s->content, '\n');
    } else {
        *vec_push(&s->parts, s->a) = raw;
        *vec_push(&s->parts, s->a) = SV("\n");
    }
}

static void split_kept(struct split *s, struct sv raw, const struct member *row);

static void split_list(struct split *s, struct sv list, const struct member *item)
{
    struct sv rest = list, raw;
    bool      any = false;

    sb_putc(s->skeleton, '[');
    for (struct sv mark = list; json_next_item(&rest, &raw); mark = rest) {
        s->odd |= mark.s[0] != (any ? ',' : '[');
        if (any)
            sb_putc(s->skeleton, ',');
        any = true;
        split_kept(s, raw, item);
    }
    s->odd |= !sv_is(rest, any ? "]" : "[]");
    sb_putc(s->skeleton, ']');
}

static void split_object(struct split *s, struct sv object, const struct member *fields);

/* A member that is kept, or an item of a list that is. */
static void split_kept(struct split *s, struct sv raw, const struct member *row)
{
    bool                 null = raw.s[0] == 'n';
    const struct member *of = null ? NULL : row->of;

    if (!null && !member_has_shape(raw, row)) /* of an import: not what the row describes */
        take_content(s, raw, row);
    else if (of && row->type == MEMBER_OBJECT)
        split_object(s, raw, of);
    else if (of && row->type == MEMBER_LIST)
        split_list(s, raw, of);
    else
        sb_put(s->skeleton, raw);
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

    sb_putc(s->skeleton, '{');
    for (struct sv mark = object; json_next(&rest, &key, &raw); mark = rest) {
        s->odd |= mark.s[0] != (any ? ',' : '{');
        if (any)
            sb_putc(s->skeleton, ',');
        any = true;
        /* With its quotes and colon, and escaped, as it stands in canonical text. */
        sb_put(s->skeleton, (struct sv){ key.s - 1, key.n + 3 });
        split_value(s, raw, row_of(fields, key));
    }
    s->odd |= !sv_is(rest, any ? "}" : "{}");
    sb_putc(s->skeleton, '}');
}

/* What it finds goes behind what the builders hold. */
static void split_begin(struct split *s, struct sb *skeleton, struct sb *content, struct arena *a)
{
    s->skeleton = skeleton;
    s->content = content;
    s->a = a;
    s->is_short = s->odd = false;
    s->parts.v = s->few;
    s->parts.cap = COUNT(s->few);
    s->parts.n = 0;
}

struct sv skeleton_of(struct sv kind, struct sv payload, struct arena *a)
{
    struct sb    b = sb_in(a, 0);
    struct split s;

    split_begin(&s, &b, NULL, a);
    split_object(&s, payload, kind_fields(kind_of(kind)));
    return sb_sv(&b);
}

/* A message's content is the one text that no row of a table names. */
static bool is_shown_text(enum kind k, struct sv key, const struct member *row)
{
    if (row)
        return !row->kept && row->type == MEMBER_TEXT;
    return sv_is(key, "content") && (k == KIND_AI_MESSAGE || k == KIND_RUN_TOOL_HELD);
}

struct skeleton_showing {
    struct sb b;
    enum kind kind;
    int       depth;
};

static void show_object(struct skeleton_showing *s, struct sv object, const struct member *fields);

static void show_list(struct skeleton_showing *s, struct sv list, const struct member *item)
{
    struct sv rest = list, raw;

    sb_addc(&s->b, '[');
    for (bool any = false; json_next_item(&rest, &raw); any = true) {
        if (any)
            sb_addc(&s->b, ',');
        if (item->of && raw.s[0] == '{')
            show_object(s, raw, item->of);
        else
            sb_add(&s->b, raw);
    }
    sb_addc(&s->b, ']');
}

/* Placeholders for texts are put only into top-level members; hashes of files of a thread_operation
 * are further down. */
static void show_value(struct skeleton_showing *s, struct sv key, struct sv raw,
                       const struct member *row)
{
    bool gone = raw.s[0] == 'n', files = s->kind == KIND_THREAD_OPERATION && row;

    if (gone && s->depth == 1 && is_shown_text(s->kind, key, row))
        sb_adds(&s->b, "\"" ERASED_TEXT "\"");
    else if (gone && files && row->type == MEMBER_HASH)
        sb_adds(&s->b, "\"" ERASED_HASH "\"");
    else if (files && row->of && raw.s[0] == '{')
        show_object(s, raw, row->of);
    else if (files && row->of && raw.s[0] == '[')
        show_list(s, raw, row->of);
    else
        sb_add(&s->b, raw);
}

static void show_object(struct skeleton_showing *s, struct sv object, const struct member *fields)
{
    struct sv rest = object, key, raw;

    s->depth++;
    sb_addc(&s->b, '{');
    for (bool any = false; json_next(&rest, &key, &raw); any = true) {
        sb_adds(&s->b, any ? ",\"" : "\"");
        sb_add(&s->b, key);
        sb_adds(&s->b, "\":");
        show_value(s, key, raw, row_of(fields, key));
    }
    sb_addc(&s->b, '}');
    s->depth--;
}

struct sv skeleton_shown(const struct entry *n, struct arena *a)
{
    struct skeleton_showing s = { .b = sb_in(a, 0), .kind = kind_of(n->kind) };

    if (!n->erased)
        return n->payload;
    show_object(&s, n->payload, kind_fields(s.kind));
    return sb_sv(&s.b);
}

bool skeleton_has_content(const struct entry *n, struct arena *a)
{
    bool bare = !n->refs.n || sv_is(n->refs, "{}");

    return !n->erased && !(bare && sv_eq(skeleton_of(n->kind, n->payload, a), n->payload));
}

static bool is_short(const struct entry *n)
{
    return n->payload.n + n->refs.n <= SPLIT_SHORT;
}

/* The commitment is the hash of salt, content and refs. A long content is hashed here; else false,
 * and the text to be hashed is at the end of s->content. */
static bool commit(struct split *s, struct entry *n)
{
    const struct member *fields = kind_fields(kind_of(n->kind));
    struct sv            salt = { (const char *)n->salt, sizeof n->salt };
    struct sv            refs = n->refs.n ? n->refs : SV("{}");
    size_t               from = s->content->n;

    s->is_short = is_short(n);
    if (s->is_short) {
        sb_put(s->content, salt);
        split_object(s, n->payload, fields);
        sb_put(s->content, refs);
    } else {
        *vec_push(&s->parts, s->a) = salt;
        split_object(s, n->payload, fields);
        *vec_push(&s->parts, s->a) = refs;
        n->content = hash_blake2b(s->parts.v, s->parts.n);
    }
    if (s->odd) { /* the parts do not say what stood between them: it is not what was written */
        s->content->n = from;
        n->content = hash_blake2b(&n->payload, 1);
    }
    return s->odd || !s->is_short;
}

/* Room that suffices for the content of all short ones: each of its texts stands in the payload,
 * together with its key. */
static struct sb content_room(const struct entry *entries, size_t n, struct arena *a)
{
    size_t need = 1;

    for (size_t i = 0; i < n; i++)
        need += is_short(&entries[i])
                    ? ENTRY_SALT_SIZE + entries[i].payload.n + entries[i].refs.n + sizeof "{}"
                    : 0;
    return sb_on(arena_grow(a, NULL, 0, need), need, a);
}

static void fill_some(struct entry *entries, size_t n, struct arena *a)
{
    enum { SKELETON = 192 }; /* most are shorter; the builder grows */
    struct sb    skeletons = sb_on(arena_grow(a, NULL, 0, n * SKELETON), n * SKELETON, a);
    struct sb    contents = content_room(entries, n, a);
    size_t       ends[STORE_PROVE_MAX], which[STORE_PROVE_MAX], k = 0;
    struct sv    texts[STORE_PROVE_MAX];
    struct hash  hashes[STORE_PROVE_MAX];
    struct split s;

    for (size_t i = 0; i < n; i++) {
        size_t from = contents.n;
        ends[i] = skeletons.n;
        if (entries[i].erased || !entries[i].salted)
            continue;
        split_begin(&s, &skeletons, &contents, a);
        if (!commit(&s, &entries[i])) {
            texts[k] = (struct sv){ contents.s + from, contents.n - from };
            which[k++] = i;
        }
        ends[i] = skeletons.n;
    }
    hash_blake2b_each(texts, k, hashes);
    for (size_t i = 0; i < k; i++)
        entries[which[i]].content = hashes[i];
    for (size_t i = 0, from = 0; i < n; from = ends[i++])
        if (entries[i].erased)
            entries[i].skeleton = entries[i].payload;
        else if (entries[i].salted)
            entries[i].skeleton = (struct sv){ skeletons.s + from, ends[i] - from };
}

void skeleton_fill(struct entry *entries, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i += STORE_PROVE_MAX)
        fill_some(entries + i, n - i < STORE_PROVE_MAX ? n - i : STORE_PROVE_MAX, a);
}

enum status skeleton_prove(struct store_scan *scan, const struct entry *entries, size_t n,
                           struct arena *scratch, enum entry_proof *out, struct err *e)
{
    struct arena_mark m = arena_mark(scratch);
    struct entry     *full = arena_grow(scratch, NULL, 0, n * sizeof *full);

    memcpy(full, entries, n * sizeof *full);
    skeleton_fill(full, n, scratch);
    enum status s = store_prove(scan, full, n, scratch, out, e);
    arena_reset(scratch, m);
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
