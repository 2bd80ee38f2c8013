/* Signs of doubt, in two passes over a copy of the line in which spaces take their place: marks and
 * brackets byte by byte outside quotations, then the words. */
#include "command/doubt.h"

#include "base/sb.h"
#include "base/utf8.h"
#include "command/grammar.h"
#include "command/lexer.h"
#include "command/tools.h"
#include "command/words.h"

#include <string.h>

/* A line that is looked through. */
struct look {
    struct sv line;
    char     *clean; /* the line, with spaces in the place of what was found */
    struct sv sign;  /* what was found first */
    bool      more;  /* than marks was found */
};

static void found(struct look *d, struct sv sign, bool mark)
{
    if (!d->sign.s)
        d->sign = sign;
    d->more = d->more || !mark;
    memset(d->clean + (sign.s - d->line.s), ' ', sign.n);
}

/* ---- marks and brackets ------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Question marks and ellipses of all scripts. The one behind ⸮ is the Greek question mark, which
 * only looks like a semicolon. */
static const char *const marks[] = { "?", "？", "﹖", "︖", "¿", "⸘",  "؟",    "⸮",   "\u037e",
                                     "՞", "፧",  "꘏",  "⳺",  "⳻", "‽",  "⁇",    "⁈",   "⁉",
                                     "❓", "❔",  "…",  "⋯",  "‥", "︙", "🤔", "🤷" };

/* Full stops that are dots when several of them stand together. */
static const char *const stops[] = { ".", "。", "․", "．" };

/* Two or more full stops, also with spaces between them (. . .) where a word could begin. */
static size_t dots_length(struct sv v, bool starts)
{
    for (size_t i = 0; i < COUNT(stops); i++) {
        struct sv stop = sv_of(stops[i]);
        size_t    n = 0, count = 0;
        while (sv_starts(sv_skip(v, n), stop)) {
            n += stop.n;
            count++;
            struct sv more = sv_skip(v, n);
            if (starts && sv_starts(more, SV(" ")) && sv_starts(sv_skip(more, 1), stop))
                n++;
        }
        if (count > 1)
            return n;
    }
    return 0;
}

/* What changes the look of the emoji before it: how it is shown, its skin, its sex. */
static size_t emoji_part(struct sv v)
{
    static const char *const parts[] = { "\ufe0e", "\ufe0f", "🏻",   "🏼", "🏽",
                                         "🏾",   "🏿",   "\u200d", "♀",    "♂" };

    for (size_t i = 0; i < COUNT(parts); i++)
        if (sv_starts(v, sv_of(parts[i])))
            return strlen(parts[i]);
    return 0;
}

/* The mark of doubt that stands here; `starts`: a word could begin here. In the middle of a word
 * there is none. */
static size_t mark_length(struct sv v, bool starts)
{
    size_t n = 0, before = 0;

    while (before < v.n && v.s[before] == '!') /* !? */
        before++;
    v = sv_skip(v, before);
    for (size_t i = 0; i < COUNT(marks) && !n; i++)
        n = sv_starts(v, sv_of(marks[i])) ? strlen(marks[i]) : 0;
    for (size_t more = 1; n && more; n += more)
        more = emoji_part(sv_skip(v, n));
    if (!n && !before)
        n = dots_length(v, starts);
    if (!n)
        return 0;
    struct sv next = sv_first(sv_skip(v, n), 1);
    bool      ends = !next.n || is_blank(next.s[0]) || strchr(".,;:!?)]}>\"", next.s[0]) ||
                (unsigned char)next.s[0] >= 0x80;
    if (!ends && !(starts && word_is_id(next)))
        return 0;
    while (n < v.n && v.s[n] == '!') /* ?! */
        n++;
    return before + n;
}

/* Brackets that may stand round a line. `stray`: one that closes nothing is a sign too; the others
 * are part of words and arrows. */
static const struct {
    const char *open, *close;
    bool        stray;
} brackets[] = {
    { "(", ")", true },    { "[", "]", false },   { "{", "}", false },   { "<", ">", false },
    { "（", "）", true },  { "【", "】", false }, { "［", "］", false }, { "｛", "｝", false },
    { "〔", "〕", false }, { "〈", "〉", false }, { "《", "》", false }, { "⟨", "⟩", false },
    { "‹", "›", false },
};

struct bracket_count {
    size_t    round[COUNT(brackets)];  /* open, round the line */
    size_t    inside[COUNT(brackets)]; /* open, round a part of it */
    struct sv last[COUNT(brackets)];   /* that was opened inside */
};

/* What the bracket that stands here says; 0: there is none. `first`: nothing stands before it. */
static size_t take_bracket(struct look *d, struct bracket_count *b, struct sv v, bool first)
{
    for (size_t i = 0; i < COUNT(brackets); i++) {
        struct sv open = sv_of(brackets[i].open), close = sv_of(brackets[i].close);
        if (sv_starts(v, open)) {
            if (first)
                found(d, sv_first(v, open.n), false);
            b->round[i] += first;
            b->inside[i] += !first;
            b->last[i] = first ? b->last[i] : sv_first(v, open.n);
            return open.n;
        }
        if (!sv_starts(v, close))
            continue;
        if (b->inside[i])
            b->inside[i]--;
        else if (b->round[i] || brackets[i].stray)
            found(d, sv_first(v, close.n), false);
        b->round[i] -= b->round[i] > 0;
        return close.n;
    }
    return 0;
}

/* False: a quotation does not close. */
static bool find_marks(struct look *d)
{
    struct bracket_count b = { 0 };
    struct sv            rest = d->line;
    char                 before = ' ';
    bool                 first = true;

    while (rest.n) {
        size_t n = mark_length(rest, is_blank(before) || first);
        if (n) {
            found(d, sv_first(rest, n), true);
            rest = sv_skip(rest, n);
            continue;
        }
        bool blank = is_blank(rest.s[0]);
        n = take_bracket(d, &b, rest, first);
        first = first && (blank || n);
        if (n > 1) {
            rest = sv_skip(rest, n);
            before = ' ';
        } else if (!lexer_skip(&rest, &before)) {
            return false;
        }
    }
    for (size_t i = 0; i < COUNT(brackets); i++)
        if (b.inside[i] && brackets[i].stray)
            found(d, b.last[i], false);
    return true;
}

/* ---- words ------------------------------------------------------------------------------- */

/* The end of the longest of the phrases that stands at `at`; `at`: none does. */
static size_t longest(const char *const *phrases, const struct token *t, size_t n, size_t at)
{
    size_t end = at;

    for (size_t i = 0; phrases[i]; i++) {
        size_t to = at;
        if (words_phrase(t, n, phrases[i], &to) && to > end)
            end = to;
    }
    return end;
}

static void find_words(struct look *d, struct arena *a)
{
    struct sv     clean = { d->clean, d->line.n };
    struct token *t;
    struct err    ignored;
    size_t        n;

    if (lexer_read(clean, a, &t, &n, &ignored) || n > CALL_WORDS_MAX) /* it does not run */
        return;
    words_mark(t, n);
    for (size_t i = 0, end; i < n; i = end) {
        end = longest(phrase_lead_ins, t, n, i);
        size_t hedge = longest(phrase_hedges, t, n, i);
        if (hedge > end && !t[i].filler) {
            end = hedge;
            size_t from = (size_t)(t[i].raw.s - d->clean);
            size_t to = (size_t)(t[end - 1].raw.s - d->clean) + t[end - 1].raw.n;
            found(d, (struct sv){ d->line.s + from, to - from }, false);
        }
        end = end > i ? end : i + 1;
    }
    const struct token *last = n ? &t[n - 1] : NULL;
    if (d->sign.s && last && word_plain_in(last, phrase_tags))
        memset(d->clean + (last->raw.s - d->clean), ' ', last->raw.n);
}

static bool look_through(struct sv line, struct arena *a, struct doubt *out)
{
    struct look d = { .line = line, .clean = ARENA_NEW(a, char, line.n + 1) };

    if (line.n)
        memcpy(d.clean, line.s, line.n);
    if (!find_marks(&d))
        return false;
    find_words(&d, a);
    if (!d.sign.s)
        return false;
    if (sv_ends(d.sign, SV(",")))
        d.sign.n--;
    *out = (struct doubt){ d.sign, { d.clean, line.n }, !d.more };
    return true;
}

/* The text of a line that is one quotation as a whole; absent: it is not. */
static struct sv only_quotation(struct sv line, struct arena *a)
{
    struct token *t;
    struct err    ignored;
    size_t        n;

    if (lexer_read(line, a, &t, &n, &ignored) || n != 1 || t->type != TOKEN_TEXT || t->key.s)
        return (struct sv){ 0 };
    return t->text;
}

bool doubt_find(struct sv line, struct arena *a, struct doubt *out)
{
    struct sv quoted = only_quotation(line, a);
    size_t    mark;

    if (!quoted.n)
        return look_through(line, a, out);
    if (!look_through(quoted, a, out)) /* the quotation marks are the doubt */
        *out = (struct doubt){ .without = quoted };
    (void)utf8_decode(line, &mark);
    out->sign = sv_first(line, mark);
    out->only_marks = false;
    return true;
}
