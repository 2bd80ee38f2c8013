/* Where sentences end, by their marks: a table of code points, no dictionary. */
#include "base/sentence.h"

#include "base/utf8.h"

/* Marks that end a sentence wherever they stand. */
static const char *const full_stops[] = { "。", "！", "？", "｡", "।", "॥", "؟", "۔", "።" };
static const char *const closers[] = { "」", "』", "”", "）", "】", "》" };

static size_t starts_with(struct sv v, const char *const *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_starts(v, sv_of(marks[i])))
            return strlen(marks[i]);
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

size_t sentence_mark(struct sv rest)
{
    size_t n = starts_with(rest, full_stops, COUNT(full_stops)), more = n;

    if (!n)
        return rest.n && (rest.s[0] == '.' || rest.s[0] == '!' || rest.s[0] == '?') &&
                       (rest.n == 1 || is_blank(rest.s[1]))
                   ? 1
                   : 0;
    while (more) {
        more = starts_with(sv_skip(rest, n), full_stops, COUNT(full_stops));
        more = more ? more : starts_with(sv_skip(rest, n), closers, COUNT(closers));
        n += more;
    }
    return n;
}

struct sv sentence_first(struct sv text, size_t words)
{
    size_t halves = 0, len;
    bool   in_word = false;

    text = sv_trim(text);
    for (size_t i = 0; i < text.n; i += len) {
        struct sv rest = sv_skip(text, i);
        size_t    end = sentence_mark(rest);
        bool      blank = is_blank(rest.s[0]), empty = sv_starts(rest, SV("\n\n"));
        int32_t   cp = utf8_decode(rest, &len);

        if (end)
            return sv_first(text, i + end);
        halves += utf8_is_unspaced(cp) ? 1 : blank && in_word ? 2 : 0;
        in_word = !blank && !utf8_is_unspaced(cp);
        if (empty || (halves >= 2 * words && blank))
            return sv_trim(sv_first(text, i));
        if (halves >= 2 * words && utf8_is_unspaced(cp))
            return sv_first(text, i + len);
    }
    return text;
}

struct sv sentence_whole(struct sv text)
{
    size_t end = 0, n;

    text = sv_trim(text);
    for (size_t i = 0; i < text.n; i += n ? n : 1) {
        n = sentence_mark(sv_skip(text, i));
        end = n ? i + n : end;
    }
    return end ? sv_first(text, end) : text;
}
