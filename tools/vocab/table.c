/* The table that heddle maps, from a merge list and the classes of characters. */
#include "vocab.h"

#include <err.h>
#include <stdlib.h>

struct image {
    struct arena        *a;
    struct table_head    head;
    uint8_t             *section[SECTION_COUNT];
    const struct merges *m;
};

static void *add_section(struct image *im, enum section_kind s, size_t size)
{
    im->head.sections[s].size = size;
    return im->section[s] = arena_alloc(im->a, size + LINE_BYTES, 1, LINE_BYTES);
}

/* ---- classes ---- */

static bool class_named(struct sv name, enum class *out)
{
    static const char *const names[] = {
        [CLASS_OTHER] = "other",   [CLASS_UPPER] = "upper",    [CLASS_LOWER] = "lower",
        [CLASS_LETTER] = "letter", [CLASS_MARK] = "mark",      [CLASS_NUMBER] = "number",
        [CLASS_SPACE] = "space",   [CLASS_NEWLINE] = "newline"
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(name, names[i])) {
            *out = (enum class)i;
            return true;
        }
    return false;
}

static bool read_range(const char *line, uint8_t *class_of)
{
    char         *end;
    unsigned long first = strtoul(line, &end, 16);
    if (end[0] != '.' || end[1] != '.')
        return false;
    unsigned long last = strtoul(end + 2, &end, 16);
    enum class class;

    if (*end != ' ' || first > last || last > 0x10ffff || !class_named(sv_of(end + 1), &class))
        return false;
    memset(class_of + first, (int)class, last - first + 1);
    return true;
}

/* Code points -> two stages: most blocks of 128 are alike, so 38 KB do for 1.1 million. */
static void fold_classes(struct image *im, const uint8_t *class_of)
{
    uint8_t *stage = add_section(im, SECTION_CLASSES, CLASS_BLOCKS + 256 * 128);
    size_t   used = 0;

    for (size_t b = 0; b < CLASS_BLOCKS; b++) {
        size_t at = 0;
        while (at < used && memcmp(stage + CLASS_BLOCKS + at * 128, class_of + b * 128, 128) != 0)
            at++;
        if (at == used)
            memcpy(stage + CLASS_BLOCKS + used++ * 128, class_of + b * 128, 128);
        stage[b] = (uint8_t)at;
    }
    if (used > 256)
        errx(1, "more than 256 kinds of class blocks");
    im->head.sections[SECTION_CLASSES].size = CLASS_BLOCKS + used * 128;
}

static enum status make_classes(struct image *im, struct sv text, struct err *e)
{
    uint8_t *class_of = arena_alloc(im->a, 0x110000, 1, 1);

    for (int number = 1; text.n; number++) {
        struct sv_cut line = sv_cut(text, '\n');
        if (line.head.n && line.head.s[0] != '#' &&
            !read_range(sv_cstr(line.head, im->a), class_of))
            return err_set(e, ST_INVALID_SYNTAX, "line %d is not FIRST..LAST CLASS", number);
        text = line.tail;
    }
    fold_classes(im, class_of);
    return ST_OK;
}

/* ---- hashed sections ---- */

/* Into its line, or the next one with room; `words` uint64_t make an item. */
static void put(uint64_t *slots, uint64_t hash, size_t lines, unsigned words, const uint64_t *item)
{
    for (size_t line = line_of(hash, lines);; line = line + 1 < lines ? line + 1 : 0)
        for (size_t i = 0; i < 8; i += words) {
            uint64_t *slot = slots + line * 8 + i;
            if (!slot[words - 1]) {
                memcpy(slot, item, words * sizeof *item);
                return;
            }
        }
}

/* How many slots there are for an item. Most lines then have room, so that a search that finds
 * nothing, the usual case among pairs, ends in its first line. More would cost at every start. */
enum { PAIR_ROOM_PERCENT = 200, TOKEN_ROOM_PERCENT = 150 };

static size_t lines_for(size_t items, unsigned words, size_t percent)
{
    return items * words * percent / 100 / 8 + 1;
}

static void make_pairs(struct image *im)
{
    const struct merges *m = im->m;
    size_t               lines = lines_for(m->n, 1, PAIR_ROOM_PERCENT);
    uint64_t            *slots = add_section(im, SECTION_PAIRS, LINE_BYTES * lines);

    for (uint32_t i = 0; i < m->n; i++) {
        uint64_t key = ((uint64_t)m->left[i] << TOKEN_BITS | m->right[i]) + 1;
        uint64_t item = key << TOKEN_BITS | (256 + i);
        put(slots, pair_hash(key), lines, 1, &item);
    }
}

static void make_tokens(struct image *im, enum section_kind s, size_t shortest, size_t longest)
{
    unsigned words = longest > 7 ? 2 : 1;
    size_t   n = 0, n_tokens = im->head.n_tokens;

    for (size_t id = 0; id < n_tokens; id++)
        n += im->m->text[id].n >= shortest && im->m->text[id].n <= longest;
    size_t    lines = lines_for(n, words, TOKEN_ROOM_PERCENT);
    uint64_t *slots = add_section(im, s, LINE_BYTES * lines);
    for (size_t id = 0; id < n_tokens; id++) {
        struct sv text = im->m->text[id];
        uint8_t   bytes[16] = { 0 };
        if (text.n < shortest || text.n > longest)
            continue;
        memcpy(bytes, text.s, text.n);
        uint64_t item[2] = { load64(bytes), load64(bytes + 8) };
        item[words - 1] |= (uint64_t)text.n << 56;
        put(slots, words == 1 ? short_hash(item[0]) : middle_hash(item[0], item[1]), lines, words,
            item);
    }
}

/* ---- bytes, pairs of bytes, texts ---- */

static void make_bytes(struct image *im)
{
    const struct merges *m = im->m;
    uint32_t            *id_of = add_section(im, SECTION_BYTES, 256 * sizeof *id_of);
    uint32_t            *bigram = add_section(im, SECTION_BIGRAMS, 65536 * sizeof *bigram);

    for (uint32_t id = 0; id < 256; id++)
        id_of[m->byte_of[id]] = id;
    memset(bigram, 0xff, 65536 * sizeof *bigram);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->left[i] < 256 && m->right[i] < 256)
            bigram[m->byte_of[m->left[i]] << 8 | m->byte_of[m->right[i]]] = 256 + i;
}

static void make_texts(struct image *im)
{
    uint32_t n = im->head.n_tokens, at = 0;
    size_t   total = 0;

    for (uint32_t id = 0; id < n; id++)
        total += im->m->text[id].n;
    uint32_t *start = add_section(im, SECTION_TEXTS, (n + 1) * sizeof *start + total);
    char     *bytes = (char *)(start + n + 1);
    for (uint32_t id = 0; id < n; id++) {
        start[id] = at;
        memcpy(bytes + at, im->m->text[id].s, im->m->text[id].n);
        at += (uint32_t)im->m->text[id].n;
    }
    start[n] = at;
}

/* ---- borders between characters of three bytes ---- */

static bool leads(uint8_t b)
{
    return b >= 0xe0 && b <= 0xef;
}

static uint32_t code_of(const uint8_t *p)
{
    return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
}

static void set_bit(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

/* A token of `n` bytes at p crosses the border before p[i], where such a character starts. */
static void mark_border(struct borders *b, const uint8_t *p, size_t i, size_t n)
{
    bool whole_before = i >= 3 && leads(p[i - 3]), whole_after = i + 3 <= n;

    if (p[i - 1] < 0x80 || p[i - 1] >= 0xc0) /* after an ASCII byte: not such a border */
        return;
    if (whole_before && whole_after)
        set_bit(b->pairs, border_pair(code_of(p + i - 3), code_of(p + i)));
    else if (whole_before)
        set_bit(b->after, code_of(p + i - 3));
    else if (whole_after)
        set_bit(b->before, code_of(p + i));
    else
        set_bit(b->edge, border_edge(p[i - 1], p[i]));
}

static void make_borders(struct image *im)
{
    struct borders *b = add_section(im, SECTION_BORDERS, sizeof *b);

    for (size_t id = 0; id < im->head.n_tokens; id++) {
        struct sv text = im->m->text[id];
        for (size_t i = 1; i < text.n; i++)
            if (leads((uint8_t)text.s[i]))
                mark_border(b, (const uint8_t *)text.s, i, text.n);
    }
}

/* ---- the whole ---- */

static struct sv join(struct image *im)
{
    struct table_head *head = &im->head;
    uint64_t           at = (sizeof *head + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;

    for (int s = 0; s < SECTION_COUNT; s++) {
        head->sections[s].offset = at;
        head->sections[s].sum = table_sum(im->section[s], head->sections[s].size);
        at += (head->sections[s].size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }
    head->size = at;
    head->sum = table_sum(head, offsetof(struct table_head, sum));
    char *bytes = arena_alloc(im->a, at, 1, LINE_BYTES);
    memcpy(bytes, head, sizeof *head);
    for (int s = 0; s < SECTION_COUNT; s++)
        memcpy(bytes + head->sections[s].offset, im->section[s], head->sections[s].size);
    return (struct sv){ bytes, at };
}

enum status table_make(const struct merges *m, struct sv classes, struct arena *a, struct sv *out,
                       struct err *e)
{
    struct image im = { .a = a, .m = m };

    memcpy(im.head.magic, TABLE_MAGIC, sizeof im.head.magic);
    im.head.version = TABLE_VERSION;
    im.head.order = TABLE_ORDER;
    im.head.encoding = m->encoding;
    im.head.n_tokens = 256 + m->n;
    if (make_classes(&im, classes, e))
        return err_code(e);
    make_bytes(&im);
    make_pairs(&im);
    make_tokens(&im, SECTION_SHORT, 1, 7);
    make_tokens(&im, SECTION_MIDDLE, 8, 15);
    make_borders(&im);
    make_texts(&im);
    *out = join(&im);
    return ST_OK;
}
