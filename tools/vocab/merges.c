/* Merge lists: derived from published ranks, packed, unpacked. */
#include "vocab.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

#define MERGES_MAGIC "hdl-merges 1\n"
enum { NAME_SIZE = 18, HEAD_SIZE = 13 + NAME_SIZE + 1 + 4 + 256, BITS_MAX = TOKEN_BITS };

/* ---- ranks in and out ---- */

static int base64_value(char c)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(alphabet, c) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

static bool base64_read(struct sv text, struct arena *a, struct sv *out)
{
    char    *s = arena_alloc(a, text.n + 1, 1, 1);
    size_t   n = 0;
    uint32_t held = 0;
    int      bits = 0;

    for (size_t i = 0; i < text.n && text.s[i] != '='; i++) {
        int value = base64_value(text.s[i]);
        if (value < 0)
            return false;
        held = held << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8)
            s[n++] = (char)(held >> (bits -= 8));
    }
    *out = (struct sv){ s, n };
    return true;
}

static void base64_write(struct sb *b, struct sv v)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < v.n; i += 3) {
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (i + j < v.n ? (uint8_t)v.s[i + j] : 0u);
        for (size_t j = 0; j < 4; j++)
            sb_addc(b, i + j <= v.n ? alphabet[group >> (18 - 6 * j) & 63] : '=');
    }
}

struct sv merges_to_ranks(const struct merges *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (uint32_t id = 0; id < 256 + m->n; id++) {
        base64_write(&b, m->text[id]);
        sb_addf(&b, " %u\n", id);
    }
    return sb_sv(&b);
}

/* ids of tokens by their bytes; a value is id + 1, so that 0 is "absent". */
static uint32_t id_of(const struct map *ids, const char *s, size_t n)
{
    uintptr_t found = (uintptr_t)map_find(ids, (struct sv){ s, n });

    return found ? (uint32_t)(found - 1) : TOKEN_NONE;
}

/* Encode the bytes of `id` with older tokens only, by the definition: always the pair whose merger
 * has the lowest rank, the leftmost of equals. Two parts must remain. */
static bool derive(const struct map *ids, struct merges *m, uint32_t id)
{
    struct sv text = m->text[id];
    size_t    start[TOKEN_MAX_BYTES + 1] = { 0 }, n = text.n;

    for (size_t i = 0; i <= n; i++)
        start[i] = i;
    while (n > 2) {
        uint32_t best = TOKEN_NONE;
        size_t   at = 0;
        for (size_t i = 0; i + 2 <= n; i++) {
            uint32_t rank = id_of(ids, text.s + start[i], start[i + 2] - start[i]);
            if (rank < best)
                best = rank, at = i;
        }
        if (best >= id)
            return false;
        memmove(start + at + 1, start + at + 2, (n - at - 1) * sizeof *start);
        n--;
    }
    m->left[id - 256] = id_of(ids, text.s, start[1]);
    m->right[id - 256] = id_of(ids, text.s + start[1], text.n - start[1]);
    return m->left[id - 256] < id && m->right[id - 256] < id;
}

static enum status read_rank_line(struct sv line, uint32_t rank, struct arena *a, struct sv *text,
                                  struct err *e)
{
    struct sv_cut part = sv_cut(line, ' ');
    int64_t       given;

    if (!sv_to_int(part.tail, &given) || given != rank || !base64_read(part.head, a, text) ||
        !text->n || text->n > TOKEN_MAX_BYTES || (rank < 256) != (text->n == 1))
        return err_set(e, ST_INVALID_SYNTAX, "line %u is not the token of that rank", rank + 1);
    return ST_OK;
}

enum status merges_from_ranks(enum tokens_encoding enc, struct sv ranks, struct arena *a,
                              struct merges *out, struct err *e)
{
    VEC(struct sv) texts = { 0 };
    struct map ids = map_in(a);

    *out = (struct merges){ .encoding = enc };
    while (ranks.n) {
        struct sv_cut line = sv_cut(ranks, '\n');
        uint32_t      rank = (uint32_t)texts.n;
        struct sv     text;
        if (read_rank_line(line.head, rank, a, &text, e))
            return err_code(e);
        if (rank < 256)
            out->byte_of[rank] = (uint8_t)text.s[0];
        *vec_push(&texts, a) = text;
        map_put(&ids, text, (void *)(uintptr_t)(rank + 1));
        ranks = line.tail;
    }
    if (texts.n <= 256 || ids.n != texts.n)
        return err_set(e, ST_INVALID_SYNTAX, "too few tokens, or one given twice");
    out->n = (uint32_t)texts.n - 256;
    out->text = texts.v;
    out->left = ARENA_NEW(a, uint32_t, out->n);
    out->right = ARENA_NEW(a, uint32_t, out->n);
    for (uint32_t id = 256; id < texts.n; id++)
        if (!derive(&ids, out, id))
            return err_set(e, ST_INVALID_SYNTAX, "token %u is not made of two older ones", id);
    return ST_OK;
}

/* ---- packed form ---- */

static unsigned width_of(uint32_t ids)
{
    return 32 - (unsigned)__builtin_clz(ids - 1);
}

struct sv merges_pack(const struct merges *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    unsigned  width = width_of(256 + m->n), bits = 0;
    uint64_t  held = 0;

    sb_adds(&b, MERGES_MAGIC);
    const char *name = tokens_encoding_name(m->encoding);
    sb_adds(&b, name);
    sb_pad(&b, 0, NAME_SIZE - strlen(name));
    sb_addc(&b, (char)width);
    for (int i = 0; i < 4; i++)
        sb_addc(&b, (char)(m->n >> 8 * i));
    sb_add(&b, (struct sv){ (const char *)m->byte_of, 256 });
    for (uint32_t i = 0; i < 2 * m->n; i++) {
        held |= (uint64_t)(i & 1 ? m->right : m->left)[i / 2] << bits;
        for (bits += width; bits >= 8; bits -= 8, held >>= 8)
            sb_addc(&b, (char)held);
    }
    if (bits)
        sb_addc(&b, (char)held);
    struct hash sum = hash_sha256(sb_sv(&b));
    sb_add(&b, (struct sv){ (const char *)sum.b, HASH_SIZE });
    return sb_sv(&b);
}

static enum status expand(struct merges *m, struct arena *a, struct err *e)
{
    m->text = ARENA_NEW(a, struct sv, 256 + m->n);
    for (uint32_t id = 0; id < 256; id++)
        m->text[id] = (struct sv){ (const char *)m->byte_of + id, 1 };
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->left[i] >= 256 + i || m->right[i] >= 256 + i)
            return err_set(e, ST_CORRUPT, "merge %u names a token that does not exist yet", i);
        struct sv left = m->text[m->left[i]], right = m->text[m->right[i]];
        if (left.n + right.n > TOKEN_MAX_BYTES)
            return err_set(e, ST_CORRUPT, "merge %u makes a token of %zu bytes", i,
                           left.n + right.n);
        char *s = arena_alloc(a, left.n + right.n, 1, 1);
        memcpy(s, left.s, left.n);
        memcpy(s + left.n, right.s, right.n);
        m->text[256 + i] = (struct sv){ s, left.n + right.n };
    }
    return ST_OK;
}

static void unpack_pairs(struct merges *m, const uint8_t *p, unsigned width)
{
    uint64_t held = 0;
    unsigned bits = 0;

    for (uint32_t i = 0; i < 2 * m->n; i++) {
        for (; bits < width; bits += 8)
            held |= (uint64_t)*p++ << bits;
        (i & 1 ? m->right : m->left)[i / 2] = (uint32_t)(held & ((1u << width) - 1));
        held >>= width;
        bits -= width;
    }
}

enum status merges_unpack(struct sv packed, struct arena *a, struct merges *out, struct err *e)
{
    const uint8_t *p = (const uint8_t *)packed.s;

    if (packed.n < HEAD_SIZE + HASH_SIZE || !sv_starts(packed, SV(MERGES_MAGIC)))
        return err_set(e, ST_CORRUPT, "this is not a packed merge list");
    struct hash sum = hash_sha256(sv_first(packed, packed.n - HASH_SIZE));
    if (memcmp(sum.b, p + packed.n - HASH_SIZE, HASH_SIZE) != 0)
        return err_set(e, ST_CORRUPT, "the merge list does not verify");
    *out = (struct merges){ 0 };
    if (!tokens_encoding_find(sv_of(packed.s + 13), &out->encoding))
        return err_set(e, ST_CORRUPT, "the merge list is of an unknown encoding");
    unsigned width = p[13 + NAME_SIZE];
    for (int i = 0; i < 4; i++)
        out->n |= (uint32_t)p[14 + NAME_SIZE + i] << 8 * i;
    if (!out->n || out->n > (1u << BITS_MAX) - 256 || width != width_of(256 + out->n) ||
        packed.n != HEAD_SIZE + ((size_t)out->n * 2 * width + 7) / 8 + HASH_SIZE)
        return err_set(e, ST_CORRUPT, "the merge list is not as long as it says");
    memcpy(out->byte_of, p + 18 + NAME_SIZE, 256);
    out->left = ARENA_NEW(a, uint32_t, out->n);
    out->right = ARENA_NEW(a, uint32_t, out->n);
    unpack_pairs(out, p + HEAD_SIZE, width);
    return expand(out, a, e);
}
