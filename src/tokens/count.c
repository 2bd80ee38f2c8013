/* Counting a batch: from the starts of pieces to the number of tokens. */
#include "tokens/count.h"

#include "tokens/counter.h"

/* ---- what is not in the cache ---- */

static void vocab_expect(const struct vocab *v, struct cache_key k)
{
    const uint64_t *line =
        k.high ? v->middles + line_of(middle_hash(k.low, k.high), v->middle_lines) * 8
               : v->shorts + line_of(short_hash(k.low), v->short_lines) * 8;

    __builtin_prefetch(line);
}

static void learn(struct tokens *t, struct count_batch *b, struct cache_key k, unsigned count)
{
    b->total += count;
    if (!cache_find(&t->cache, k))
        cache_put(&t->cache, k, count);
}

static void merge_missed(struct tokens *t, struct count_batch *b, const struct cache_key *keys,
                         size_t n)
{
    uint8_t counts[MERGE_GROUP];

    t->kernel->merge(t->v, keys, n, counts);
    for (size_t i = 0; i < n; i++)
        learn(t, b, keys[i], counts[i]);
}

static void resolve_wides(struct tokens *t, struct count_batch *b)
{
    uint8_t counts[MERGE_GROUP];

    for (size_t i = 0; i < b->n_missed_wides; i += MERGE_GROUP) {
        size_t left = b->n_missed_wides - i, n = left < MERGE_GROUP ? left : MERGE_GROUP;
        t->kernel->merge_wide(t->v, b->missed_wides + i, n, counts);
        for (size_t k = 0; k < n; k++) {
            b->total += counts[k];
            if (!cache_find_wide(&t->cache, &b->missed_wides[i + k]))
                cache_put_wide(&t->cache, &b->missed_wides[i + k], counts[k]);
        }
    }
    b->n_missed_wides = 0;
}

static void resolve(struct tokens *t, struct count_batch *b)
{
    for (size_t i = 0; i < b->n_missed; i++)
        vocab_expect(t->v, b->missed[i]);
    size_t found = t->kernel->find(t->v, b->missed, b->n_missed);
    for (size_t i = 0; i < found; i++)
        learn(t, b, b->missed[i], 1);
    for (size_t i = found; i < b->n_missed; i += MERGE_GROUP) {
        size_t left = b->n_missed - i;
        merge_missed(t, b, b->missed + i, left < MERGE_GROUP ? left : MERGE_GROUP);
    }
    b->n_missed = 0;
}

/* ---- pieces into lists ---- */

static void flush(struct tokens *t, struct count_batch *b)
{
    t->kernel->probe(&t->cache, b);
    b->n_shorts = b->n_middles = b->n_wides = 0;
    resolve(t, b);
    resolve_wides(t, b);
}

/* Near the end of the text a piece is copied before it is read as a key. */
static void add_copied(struct tokens *t, struct count_batch *b, const uint8_t *p, size_t len)
{
    unsigned count;

    if (len > KEY_MIDDLE_MAX) {
        struct wide k = wide_copy(p, len);
        count = cache_find_wide(&t->cache, &k);
        b->missed_wides[b->n_missed_wides] = k;
        b->n_missed_wides += !count;
    } else {
        uint8_t copy[KEY_READ] = { 0 };
        memcpy(copy, p, len);
        struct cache_key k = key_at(copy, len);
        count = cache_find(&t->cache, k);
        b->missed[b->n_missed] = k;
        b->n_missed += !count;
    }
    b->total += count;
    if (b->n_missed >= LIST || b->n_missed_wides >= WIDE_LIST)
        flush(t, b);
}

/* A piece of at most KEY_WIDE_MAX bytes, wherever it is. */
static void add_piece(struct tokens *t, struct count_batch *b, const uint8_t *p, size_t len)
{
    if (b->readable - p < (len > KEY_MIDDLE_MAX ? WIDE_READ : KEY_READ)) {
        add_copied(t, b, p, len);
        return;
    }
    if (b->n_shorts >= LIST || b->n_middles >= LIST || b->n_wides >= WIDE_LIST ||
        p - b->base > REACH) {
        flush(t, b);
        b->base = p;
    }
    uint32_t item = (uint32_t)(p - b->base) << PIECE_LEN_BITS | (uint32_t)len;
    if (len <= KEY_SHORT_MAX)
        b->shorts[b->n_shorts++] = item;
    else if (len <= KEY_MIDDLE_MAX)
        b->middles[b->n_middles++] = item;
    else
        b->wides[b->n_wides++] = item;
}

static size_t count_long(struct tokens *t, const uint8_t *p, size_t len)
{
    if (len > KEY_LONG_MAX)
        return merge_piece(&t->merge, p, len, NULL);
    size_t count = cache_find_long(&t->cache, p, len);
    if (!count) {
        count = merge_piece(&t->merge, p, len, NULL);
        cache_put_long(&t->cache, p, len, count);
    }
    return count;
}

static void add_segment(struct tokens *t, struct count_batch *b, const uint8_t *p, size_t len)
{
    if (len <= KEY_WIDE_MAX)
        add_piece(t, b, p, len);
    else
        b->total += count_long(t, p, len);
}

static bool has_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

static uint32_t code_of(const uint8_t *p)
{
    return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
}

/* Can a token span the border between these two characters, each of three bytes? */
static bool spans(const struct borders *b, const uint8_t *p)
{
    uint32_t first = code_of(p), second = code_of(p + 3);

    /* All four are read without branches, because none of them is likely enough for a branch to be
     * faster. */
    return (int)has_bit(b->pairs, border_pair(first, second)) | (int)has_bit(b->after, first) |
           (int)has_bit(b->before, second) | (int)has_bit(b->edge, border_edge(p[2], p[3]));
}

/* A long piece is cut at borders that no token can span; most of the parts are then short. */
static void add_long(struct tokens *t, struct count_batch *b, const uint8_t *p, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i + 6 <= len; i++)
        if ((p[i] & 0xf0) == 0xe0 && (p[i + 3] & 0xf0) == 0xe0 && !spans(t->v->borders, p + i)) {
            add_segment(t, b, p + from, i + 3 - from);
            from = i + 3;
        }
    add_segment(t, b, p + from, len - from);
}

/* Puts the pieces from b->starts[i] on into the lists for short and middle pieces, without a branch
 * on which of the two it is. Stops at the first piece that is longer or too close to the end of the
 * text to be read in place, or when a list is full. */
static size_t add_run(struct count_batch *b, size_t i, size_t far)
{
    size_t n_shorts = b->n_shorts, n_middles = b->n_middles, at = b->starts[i];

    while (i + 1 < b->n_starts && n_shorts < LIST && n_middles < LIST) {
        size_t next = b->starts[i + 1], len = next - at;
        if (len > KEY_MIDDLE_MAX || at > far)
            break;
        uint32_t item = (uint32_t)at << PIECE_LEN_BITS | (uint32_t)len;
        b->shorts[n_shorts] = item;
        b->middles[n_middles] = item;
        n_shorts += len <= KEY_SHORT_MAX;
        n_middles += len > KEY_SHORT_MAX;
        at = next;
        i++;
    }
    b->n_shorts = n_shorts;
    b->n_middles = n_middles;
    return i;
}

static void add_pieces(struct tokens *t, struct count_batch *b, size_t last_end)
{
    const uint8_t *base = b->base;
    size_t         reach = (size_t)(b->readable - base);

    for (size_t i = 0; i < b->n_starts; i++) {
        if (base == b->base && reach > KEY_READ)
            i = add_run(b, i, reach - KEY_READ);
        size_t at = b->starts[i];
        size_t len = (i + 1 < b->n_starts ? b->starts[i + 1] : last_end) - at;
        if (len > KEY_MIDDLE_MAX)
            add_long(t, b, base + at, len);
        else
            add_piece(t, b, base + at, len);
    }
}

size_t counter_count(struct tokens *t, struct sv text, bool whole, size_t *used, bool *bad)
{
    struct split_state s = { .v = t->v, .p = (const uint8_t *)text.s, .n = text.n };
    struct count_batch b;
    size_t             at = 0;

    *bad = false;
    *used = 0;
    if (!text.n) /* the pointer of an empty text may be NULL */
        return 0;
    b.n_shorts = b.n_middles = b.n_wides = b.n_missed = b.n_missed_wides = b.total = 0;
    b.readable = s.p + s.n;
    while (at < text.n && !s.bad) {
        b.base = s.p + at;
        size_t end = t->kernel->split(&s, at, whole, &b);
        if (end == at)
            break;
        add_pieces(t, &b, end - at);
        flush(t, &b);
        at = end;
    }
    t->split_steps += s.steps;
    *bad = s.bad;
    *used = at;
    return b.total;
}
