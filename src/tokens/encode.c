/* The tokens one by one, in order: ids, and where a budget ends. */
#include "tokens/counter.h"

#include "base/utf8.h"
#include "base/vec.h"

/* Invalid UTF-8 is met at a piece border: go on with a decoded copy of the rest. */
static void decode_rest(struct split_state *s, size_t *at, struct arena *a)
{
    struct sb clean = sb_in(a, 0);

    sb_add_lossy(&clean, (struct sv){ (const char *)s->p + *at, s->n - *at });
    struct sv rest = sb_sv(&clean);
    *s = (struct split_state){ .v = s->v, .p = (const uint8_t *)rest.s, .n = rest.n };
    *at = 0;
}

enum status tokens_encode(struct tokens *t, struct sv text, struct arena *a, struct tokens_ids *out,
                          struct err *e)
{
    struct arena       scratch = { 0 };
    struct split_state s = { .v = t->v, .p = (const uint8_t *)text.s, .n = text.n };
    VEC(uint32_t) ids = { 0 };

    if (!t->v)
        return err_set(e, ST_NOT_FOUND, "an estimate has no tokens");
    for (size_t at = 0, end; at < s.n; at = end) {
        end = split_piece(&s, at);
        if (s.bad) {
            decode_rest(&s, &at, a);
            end = 0;
            continue;
        }
        struct arena_mark   m = arena_mark(&scratch);
        struct merge_token *got = ARENA_NEW(&scratch, struct merge_token, end - at);
        size_t              n = merge_piece(&t->merge, s.p + at, end - at, got);
        for (size_t i = 0; i < n; i++)
            *vec_push(&ids, a) = got[i].id;
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    *out = (struct tokens_ids){ ids.v, ids.n };
    return ST_OK;
}

enum status tokens_text(struct tokens *t, uint32_t id, struct sv *out, struct err *e)
{
    if (!t->v)
        return err_set(e, ST_NOT_FOUND, "an estimate has no tokens");
    return vocab_text(t->v, id, out, e);
}

/* ---- where a budget ends ---- */

/* A stretch of the text: as it is, or decoded when it holds invalid UTF-8. */
struct encode_stretch {
    struct sv raw, clean;
    bool      whole; /* it ends where the text ends */
};

static struct encode_stretch stretch_of(struct sv text, size_t n, struct arena *a)
{
    struct encode_stretch st = { .raw = sv_first(text, n), .whole = n >= text.n };

    /* A character that is cut by the end of the stretch is not invalid: it is left to the next one.
     */
    if (!st.whole)
        st.raw.n -= utf8_unfinished(st.raw);
    st.clean = st.raw;
    if (utf8_invalid(st.raw) >= 0) {
        struct sb clean = sb_in(a, 0);
        sb_add_lossy(&clean, st.raw);
        st.clean = sb_sv(&clean);
    }
    return st;
}

/* The place in `raw` that decodes to the first `clean_n` bytes. */
static size_t raw_offset(const struct encode_stretch *st, size_t clean_n)
{
    size_t at = 0, clean = 0, len;

    if (st->raw.s == st->clean.s)
        return clean_n;
    while (clean < clean_n) {
        bool valid = utf8_decode(sv_skip(st->raw, at), &len) >= 0;
        at += len;
        clean += valid ? len : 3;
    }
    return at;
}

/* How many bytes of one piece the first `limit` of its tokens cover, less what would cut a
 * character; *n is their number. */
static size_t piece_until(struct tokens *t, const uint8_t *p, size_t len, size_t limit, size_t *n,
                          struct arena *a)
{
    struct arena_mark   m = arena_mark(a);
    struct merge_token *got = ARENA_NEW(a, struct merge_token, len);
    size_t              count = merge_piece(&t->merge, p, len, got), at = 0, best = 0;

    *n = 0;
    for (size_t i = 0; i < count && i < limit; i++) {
        at += got[i].len;
        if (at == len || (p[at] & 0xc0) != 0x80)
            best = at, *n = i + 1;
    }
    arena_reset(a, m);
    return best;
}

/* Piece by piece until the limit; the offset in `clean`. *n: tokens up to there. */
static size_t stretch_until(struct tokens *t, const struct encode_stretch *st, size_t limit,
                            size_t *n, struct arena *a)
{
    struct split_state s = { .v = t->v, .p = (const uint8_t *)st->clean.s, .n = st->clean.n };
    size_t             at = 0;

    *n = 0;
    while (at < s.n) {
        size_t end = split_piece(&s, at), got;
        if (s.open && !st->whole)
            break;
        size_t covered = piece_until(t, s.p + at, end - at, limit - *n, &got, a);
        *n += got;
        at += covered;
        if (at < end)
            break;
    }
    return at;
}

size_t tokens_count_until(struct tokens *t, struct sv text, size_t limit, size_t *offset)
{
    enum { NEAR = 4096, FAR = 256 * 1024 };
    struct arena scratch = { 0 };
    size_t       at = 0, total = 0, width = FAR;
    bool         near = false;

    if (!t->v)
        return counter_estimate_until(text, limit, offset);
    while (at < text.n) {
        struct arena_mark     m = arena_mark(&scratch);
        struct encode_stretch st = stretch_of(sv_skip(text, at), width, &scratch);
        size_t                used, n;
        bool                  bad;
        n = counter_count(t, st.clean, st.whole, &used, &bad);
        if (total + n > limit && !near) {
            near = true; /* the limit is reached in this stretch: repeat with a short one */
            width = NEAR;
        } else if (total + n > limit) {
            used = stretch_until(t, &st, limit - total, &n, &scratch);
            at += raw_offset(&st, used);
            total += n;
            break;
        } else if (!used) {
            width *= 2; /* a single piece is longer than the stretch */
        } else {
            at += raw_offset(&st, used);
            total += n;
        }
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    *offset = at;
    return total;
}
