/* Writing paths and links so that they can be read back exactly. */
#include "payload/show.h"

#include "base/utf8.h"

#include <string.h>

/* Control characters of either set, and the two that no XML document may hold. */
static bool is_unprintable(struct sv v, size_t i)
{
    unsigned char c = (unsigned char)v.s[i];
    unsigned char c1 = i + 1 < v.n ? (unsigned char)v.s[i + 1] : 0;
    unsigned char c2 = i + 2 < v.n ? (unsigned char)v.s[i + 2] : 0;

    return c < 0x20 || c == 0x7f || (c == 0xc2 && (c1 & 0xe0) == 0x80) ||
           (c == 0xef && c1 == 0xbf && c2 >= 0xbe);
}

static bool needs_quotes(struct sv path)
{
    if (!path.n)
        return true;
    char first = path.s[0], last = path.s[path.n - 1];
    if (first == '"' || first == ' ' || last == ' ' || utf8_invalid(path) >= 0)
        return true;
    for (size_t i = 0; i < path.n; i++)
        if (is_unprintable(path, i))
            return true;
    return false;
}

void sb_add_path(struct sb *b, struct sv path)
{
    if (!needs_quotes(path)) {
        sb_add(b, path);
        return;
    }
    sb_addc(b, '"');
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.s[i];
        if (c == '"' || c == '\\')
            sb_addf(b, "\\%c", c);
        else if (c == '\n')
            sb_adds(b, "\\n");
        else if (c == '\t')
            sb_adds(b, "\\t");
        else if (c < 0x20 || c >= 0x7f)
            sb_addf(b, "\\%03o", c);
        else
            sb_addc(b, (char)c);
    }
    sb_addc(b, '"');
}

static bool read_octal(struct sv v, size_t i, unsigned char *out)
{
    unsigned n = 0;

    for (size_t k = i; k < i + 3; k++) {
        if (k >= v.n || v.s[k] < '0' || v.s[k] > '7')
            return false;
        n = n * 8 + (unsigned)(v.s[k] - '0');
    }
    *out = (unsigned char)n;
    return n < 256;
}

/* The byte that a letter behind a backslash stands for, as in C; 0: none. */
static char escaped(char letter)
{
    static const char letters[] = "abtnvfr\"\\", bytes[] = "\a\b\t\n\v\f\r\"\\";
    const char       *at = letter ? strchr(letters, letter) : NULL;

    return at ? bytes[at - letters] : 0;
}

bool show_unshow(struct sv shown, struct arena *a, struct sv *path)
{
    if (!shown.n || shown.s[0] != '"') {
        *path = sv_dup(shown, a);
        return shown.n > 0;
    }
    if (shown.n < 2 || shown.s[shown.n - 1] != '"')
        return false;
    struct sv v = { shown.s + 1, shown.n - 2 };
    struct sb b = sb_in(a, 0);
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        if (c == '\\') {
            if (++i >= v.n)
                return false;
            c = (unsigned char)v.s[i];
            if (c >= '0' && c <= '7') {
                if (!read_octal(v, i, &c))
                    return false;
                i += 2;
            } else if (!(c = (unsigned char)escaped(v.s[i]))) {
                return false;
            }
        }
        sb_addc(&b, (char)c);
    }
    *path = sb_sv(&b);
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool show_is_url(struct sv v)
{
    size_t n = 0;

    while (n < v.n && (is_letter(v.s[n]) || (n && strchr("0123456789+.-", v.s[n]) && v.s[n])))
        n++;
    return n > 1 && sv_starts(sv_skip(v, n), SV("://")); /* C:// is a drive */
}

/* Is the name its own link target? That is so for a URL and for git:diff, which are not paths. */
static bool is_own_target(struct sv name)
{
    return show_is_url(name) || sv_is(name, "git:diff");
}

/* Do the brackets in the text of a link form pairs? If not, they are escaped. */
static bool is_balanced(struct sv v)
{
    int depth = 0;

    for (size_t i = 0; i < v.n && depth >= 0; i++)
        depth += v.s[i] == '[' ? 1 : v.s[i] == ']' ? -1 : 0;
    return depth == 0;
}

static bool is_word_byte(struct sv v, size_t i)
{
    unsigned char c = i < v.n ? (unsigned char)v.s[i] : ' ';

    return (c >= '0' && c <= '9') || (byte_lower((char)c) >= 'a' && byte_lower((char)c) <= 'z') ||
           c >= 0x80;
}

/* Would Markdown take bytes of the text for marks, as it makes __init__.py bold? Underscores inside
 * words do not count; an opening mark needs a closing one. */
static bool is_marked(struct sv v)
{
    size_t stars = 0, ticks = 0;
    bool   open = false;

    for (size_t i = 0; i < v.n; i++) {
        size_t end = i;
        stars += v.s[i] == '*';
        ticks += v.s[i] == '`';
        while (end < v.n && v.s[end] == '_')
            end++;
        if (end == i)
            continue;
        bool before = i && is_word_byte(v, i - 1), behind = is_word_byte(v, end);
        if (open && !behind)
            return true;
        open = open || !before;
        i = end - 1;
    }
    return stars > 1 || ticks > 1;
}

static void add_link_text(struct sb *b, struct sv shown, bool plain)
{
    bool brackets = !is_balanced(shown), marks = !plain && is_marked(shown);

    for (size_t i = 0; i < shown.n; i++) {
        char c = shown.s[i];
        if ((brackets && (c == '[' || c == ']')) || (marks && (c == '_' || c == '*' || c == '`')))
            sb_addc(b, '\\');
        sb_addc(b, c);
    }
}

static void add_link_target(struct sb *b, struct sv target)
{
    bool angle = false;

    for (size_t i = 0; i < target.n && !angle; i++)
        angle = memchr(" ()[]<>\\", target.s[i], 8) != NULL;
    if (!angle) {
        sb_add(b, target);
        return;
    }
    sb_addc(b, '<');
    for (size_t i = 0; i < target.n; i++) {
        if (target.s[i] == '<' || target.s[i] == '>' || target.s[i] == '\\')
            sb_addc(b, '\\');
        sb_addc(b, target.s[i]);
    }
    sb_addc(b, '>');
}

static struct sv shown_in(struct sv name, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_path(&b, name);
    return sb_sv(&b);
}

static struct sv target_in(struct sv name, struct sv shown, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!is_own_target(name))
        sb_addc(&b, '/');
    sb_add(&b, shown);
    return sb_sv(&b);
}

static void add_link(struct sb *b, struct sv name, bool plain)
{
    struct arena scratch = { 0 };
    struct sv    shown = shown_in(name, &scratch);

    sb_addc(b, '[');
    add_link_text(b, shown, plain);
    sb_adds(b, "](");
    add_link_target(b, target_in(name, shown, &scratch));
    sb_addc(b, ')');
    arena_free(&scratch);
}

void sb_add_link(struct sb *b, struct sv name)
{
    add_link(b, name, false);
}

void sb_add_plain_link(struct sb *b, struct sv name)
{
    add_link(b, name, true);
}

void sb_add_label(struct sb *b, struct sv name)
{
    struct arena scratch = { 0 };
    struct sv    shown = shown_in(name, &scratch);
    size_t       ticks = show_backtick_run(shown) + 1;

    sb_add_fence(b, ticks);
    sb_addc(b, '[');
    sb_add(b, shown);
    sb_adds(b, "](");
    sb_add(b, target_in(name, shown, &scratch));
    sb_addc(b, ')');
    sb_add_fence(b, ticks);
    arena_free(&scratch);
}

void sb_add_fence(struct sb *b, size_t n)
{
    static const char ticks[] = "````````````````";

    for (; n; n -= n < 16 ? n : 16)
        sb_add(b, (struct sv){ ticks, n < 16 ? n : 16 });
}

size_t show_backtick_run(struct sv v)
{
    size_t best = 0;

    for (size_t i = 0; i < v.n;) {
        const char *tick = memchr(v.s + i, '`', v.n - i);
        if (!tick)
            break;
        size_t at = (size_t)(tick - v.s), end = at;
        while (end < v.n && v.s[end] == '`')
            end++;
        best = end - at > best ? end - at : best;
        i = end;
    }
    return best;
}

size_t show_fence_around(size_t run)
{
    enum { FENCE_MIN = 4 };

    return run + 1 > FENCE_MIN ? run + 1 : FENCE_MIN;
}
