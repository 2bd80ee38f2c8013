/* The rule for backslashes inside a quotation: see the header. Pure functions over text. */
#include "command/escape.h"

#include "base/vec.h"

/* Commands of TeX that begin with \n and whose rest is not an English word: nobody starts a line
 * with "abla". */
static const char *const tex[] = {
    "nabla",         "ncong",       "ne",         "nearrow",
    "neg",           "neq",         "newcommand", "newenvironment",
    "newline",       "newpage",     "newtheorem", "ngeq",
    "nleftarrow",    "nleq",        "nobreak",    "nocite",
    "noindent",      "nolimits",    "nonumber",   "normalsize",
    "not",           "notin",       "nprec",      "nrightarrow",
    "nLeftarrow",    "nRightarrow", "nsim",       "nsubset",
    "nsubseteq",     "nsucc",       "nsupset",    "nsupseteq",
    "ntriangleleft", "nu",          "null",       "nvdash",
    "nwarrow",       "natural",
};

/* How many bytes around a backslash are searched for a path: the limit keeps the cost linear. */
enum { CHUNK_MAX = 256 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of `text` that has no space in it. */
static struct sv chunk_before(struct sv text)
{
    size_t n = 0;

    while (n < text.n && n < CHUNK_MAX && !is_space(text.s[text.n - 1 - n]))
        n++;
    return sv_skip(text, text.n - n);
}

/* The start of `text` that has no space in it. */
static struct sv chunk_after(struct sv text)
{
    size_t n = 0;

    while (n < text.n && n < CHUNK_MAX && !is_space(text.s[n]))
        n++;
    return sv_first(text, n);
}

/* A backslash before a letter or digit that is not \n: it belongs to a path or a formula. */
static bool has_slash(struct sv chunk)
{
    for (size_t i = 0; i + 1 < chunk.n; i++)
        if (chunk.s[i] == '\\' && is_word(chunk.s[i + 1]) && chunk.s[i + 1] != 'n')
            return true;
    return false;
}

static bool is_path(struct sv before, struct sv rest)
{
    struct sv head = chunk_before(before);
    bool      drive = head.n == 2 && is_letter(head.s[0]) && head.s[1] == ':';
    bool      longer = head.n > 3 && is_letter(head.s[0]) && head.s[1] == ':' && head.s[2] == '\\';

    return drive || longer || sv_is(head, ".") || sv_is(head, "..") || sv_is(head, "~") ||
           has_slash(head) || has_slash(sv_skip(chunk_after(rest), 2));
}

static bool is_tex(struct sv rest)
{
    size_t n = 1;

    while (n < rest.n && is_letter(rest.s[n]))
        n++;
    for (size_t i = 0; i < COUNT(tex); i++)
        if (sv_is((struct sv){ rest.s + 1, n - 1 }, tex[i]))
            return true;
    return false;
}

/* The end of a sentence: a mark of punctuation after a word of two letters or more. */
static bool ends_sentence(struct sv before)
{
    size_t n = before.n;

    while (n && strchr(".!?,;:)\"'*_", before.s[n - 1]) && before.s[n - 1])
        n--;
    return n < before.n && n > 1 && is_word(before.s[n - 1]) && is_word(before.s[n - 2]);
}

enum escape_kind escape_newline(struct sv before, struct sv rest)
{
    char last = before.n ? before.s[before.n - 1] : ' ';

    if (is_path(before, rest))
        return ESCAPE_LITERAL;
    if (rest.n < 3 || !is_letter(rest.s[2]))
        return ESCAPE_LINE_END;
    if (is_tex(rest))
        return ESCAPE_LITERAL;
    if (last == '\n' || ends_sentence(before))
        return ESCAPE_LINE_END;
    bool formula = strchr("${([^_=+-/&|<>", last) && last;
    return formula ? ESCAPE_LITERAL : ESCAPE_AMBIGUOUS;
}

enum escape_kind escape_slashes(size_t count, struct sv before, struct sv rest)
{
    struct sv after = sv_skip(rest, count + 1);
    bool      starts = !before.n || is_space(before.s[before.n - 1]);
    bool      letter = after.n && is_letter(after.s[0]);

    /* \\nas\share: the name of a server, or an escaped \nas? */
    return count == 2 && starts && letter && has_slash(chunk_after(after)) ? ESCAPE_AMBIGUOUS
                                                                           : ESCAPE_LITERAL;
}

size_t escape_run(struct sv v)
{
    size_t n = 0;

    while (n < v.n && v.s[n] == '\\')
        n++;
    return n;
}

void escape_quoted(struct sb *b, struct sv text)
{
    sb_addc(b, '"');
    for (size_t i = 0; i < text.n;) {
        struct sv before = sv_first(text, i), rest = sv_skip(text, i);
        size_t    run = escape_run(rest), out = run;
        char      next = run < rest.n ? rest.s[run] : '"';
        if (next == '"')
            out = 2 * run;
        else if (next == 'n' && (run > 1 || (run == 1 && escape_newline(before, rest))))
            out = run + 1;
        for (size_t k = 0; k < out; k++)
            sb_addc(b, '\\');
        i += run;
        if (i < text.n && text.s[i] == '"')
            sb_addc(b, '\\');
        if (i < text.n)
            sb_addc(b, text.s[i++]);
    }
    sb_addc(b, '"');
}
