/* Ids that are made from titles: a person can read, type and distinguish them. */
#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "share/operation.h"
#include "share/operation_internal.h"

/* Characters and bytes of an id from a title; it is cut between words where that leaves enough. */
enum { ID_CHARS = 40, ID_BYTES = 96, ID_LEAST = 12 };

/* Letters and digits of any script, judged by Unicode block: punctuation, symbols, pictures and
 * invisible characters are left out. */
static bool in_id(int32_t c)
{
    static const struct {
        int32_t from, to;
    } not_words[] = {
        { 0x80, 0xa9 },       { 0xab, 0xb4 },       { 0xb6, 0xb9 },        { 0xbb, 0xbf },
        { 0xd7, 0xd7 },       { 0x1680, 0x1680 },   { 0xf7, 0xf7 },        { 0x2000, 0x2bff },
        { 0x2e00, 0x2e7f },   { 0x3000, 0x3004 },   { 0x3008, 0x3020 },    { 0x3030, 0x303f },
        { 0x30fb, 0x30fb },   { 0xd800, 0xf8ff },   { 0xfe00, 0xfe6f },    { 0xff00, 0xff0f },
        { 0xff1a, 0xff20 },   { 0xff3b, 0xff40 },   { 0xff5b, 0xff65 },    { 0xffe0, 0x100ff },
        { 0x1d000, 0x1d3ff }, { 0x1f000, 0x1fbef }, { 0xe0000, 0x10ffff },
    };

    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (utf8_is_unseen(c))
        return false;
    for (size_t i = 0; i < COUNT(not_words); i++)
        if (c >= not_words[i].from && c <= not_words[i].to)
            return false;
    return true;
}

static struct sv cut_between_words(struct sv id)
{
    size_t n = utf8_first(id, ID_CHARS).n;

    n = n > ID_BYTES ? ID_BYTES - utf8_unfinished(sv_first(id, ID_BYTES)) : n;
    if (n == id.n)
        return id;
    bool whole = id.s[n] == '-';
    for (size_t k = n; !whole && k > ID_LEAST; k--)
        if (id.s[k - 1] == '-') {
            n = k - 1;
            whole = true;
        }
    return sv_first(id, n);
}

struct sv id_of_title(struct sv title, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    bool      gap = false;

    title = sv_cut(sv_trim(title), '\n').head;
    while (title.n) {
        size_t  len;
        int32_t c = utf8_decode(title, &len);
        if (c >= 0 && in_id(c)) {
            if (gap && b.n)
                sb_addc(&b, '-');
            gap = false;
            if (c >= 'A' && c <= 'Z')
                sb_addc(&b, (char)(c + ('a' - 'A')));
            else
                sb_add(&b, sv_first(title, len));
        } else if (c != '\'' && c != 0x2019) { /* don't: one word */
            gap = true;
        }
        title = sv_skip(title, len);
    }
    struct sv id = cut_between_words(sb_sv(&b));
    while (id.n && id.s[id.n - 1] == '-')
        id.n--;
    return id;
}

/* The id as it is, then with a number, then with random digits: a few look-ups, however many
 * threads have the same title. */
enum status id_draw(struct share *s, const struct id_kind *kind, struct sv title, struct sv *out,
                    struct err *e)
{
    enum { NUMBERED = 9 };
    struct sv  base = title.s ? id_of_title(title, s->a) : (struct sv){ 0 };
    struct err unfit;
    struct sb  hex = sb_in(s->a, 0);
    bool       taken = true;

    if (base.n && name_check_new(base, "id", &unfit))
        base.n = 0;
    sb_addf(&hex, SV_FMT "-", SV_ARG(base.n ? base : sv_of(kind->prefix)));
    for (int i = 1; taken; i++) {
        struct sb b = sb_in(s->a, 0);
        if (base.n && i == 1)
            *out = base;
        else if (base.n && i <= NUMBERED) {
            sb_addf(&b, SV_FMT "-%d", SV_ARG(base), i);
            *out = sb_sv(&b);
        } else
            *out = rand_hex_id(sb_sv(&hex).s, s->a);
        if (kind->is_taken(s, *out, &taken, e))
            return err_code(e);
    }
    return ST_OK;
}
