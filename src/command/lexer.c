/* Words and quotations of a command line: one cursor, used both for reading tokens and for finding
 * where a command ends, so that both always agree on what is quoted. */
#include "command/lexer.h"

#include "base/sb.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "command/escape.h"

/* ---- quotations -------------------------------------------------------------------- */

/* How a quotation opens, and what may close it. Models mix curly and straight marks, so that a
 * curly quotation also ends at a straight one. `nests`: marks that differ can stand inside each
 * other. `words`: the mark is an apostrophe too, so that it opens only where a word could begin and
 * closes only where one ends. Longer marks stand before those they begin with. */
struct lexer_quote {
    const char *open, *close[3];
    bool        nests, words;
};
static const struct lexer_quote quotes[] = {
    { "\"\"\"", { "\"\"\"", NULL, NULL }, false, false },
    { "\"", { "\"", NULL, NULL }, false, false },
    { "“", { "”", "“", "\"" }, false, false },
    { "”", { "”", "“", "\"" }, false, false },
    { "„", { "“", "”", "\"" }, false, false },
    { "«", { "»", NULL, NULL }, true, false },
    { "»", { "«", NULL, NULL }, false, false },
    { "「", { "」", NULL, NULL }, true, false },
    { "『", { "』", NULL, NULL }, true, false },
    { "```", { "```", NULL, NULL }, false, false },
    { "'", { "'", NULL, NULL }, false, true },
    { "‘", { "’", NULL, NULL }, false, true },
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The length of the space at the start of v that is not one of ASCII; 0: there is none. */
static size_t wide_space(struct sv v)
{
    static const struct {
        int32_t first, last;
    } spaces[] = { { 0xa0, 0xa0 },     { 0x1680, 0x1680 }, { 0x2000, 0x200b }, { 0x202f, 0x202f },
                   { 0x205f, 0x2060 }, { 0x3000, 0x3000 }, { 0xfeff, 0xfeff } };
    size_t  n = 0;
    int32_t cp = v.n && (unsigned char)v.s[0] >= 0x80 ? utf8_decode(v, &n) : 0;

    for (size_t i = 0; cp && i < COUNT(spaces); i++)
        if (cp >= spaces[i].first && cp <= spaces[i].last)
            return n;
    return 0;
}

/* May this follow the end of a quotation or of a word? */
static bool is_break(struct sv v)
{
    return !v.n || is_blank(v.s[0]) || (v.s[0] && strchr(",.;:!?)]}", v.s[0])) || wide_space(v);
}

/* The quotation that opens at v; `starts`: a word could begin here. */
static const struct lexer_quote *opening(struct sv v, bool starts)
{
    for (size_t i = 0; i < COUNT(quotes); i++)
        if ((starts || !quotes[i].words) && sv_starts(v, sv_of(quotes[i].open)))
            return &quotes[i];
    return NULL;
}

static size_t closing(const struct lexer_quote *q, struct sv v)
{
    for (size_t i = 0; i < COUNT(q->close) && q->close[i]; i++) {
        struct sv mark = sv_of(q->close[i]);
        if (sv_starts(v, mark) && (!q->words || is_break(sv_skip(v, mark.n))))
            return mark.n;
    }
    return 0;
}

static void add_slashes(struct sb *b, size_t n)
{
    for (size_t i = 0; b && i < n; i++)
        sb_addc(b, '\\');
}

/* The backslashes at the start of *v, and their effect on the next character. False: an ambiguous
 * \n. */
static bool unescape(const struct lexer_quote *q, struct sv *v, struct sb *b)
{
    size_t           n = escape_run(*v);
    struct sv        after = sv_skip(*v, n), rest = *v;
    size_t           mark = closing(q, after);
    enum escape_kind kind = ESCAPE_LITERAL;

    *v = after;
    if (!mark && sv_starts(after, sv_of(q->close[0])))
        mark = strlen(q->close[0]); /* it\'s */
    mark = mark ? mark : after.n && after.s[0] == '"';
    if (mark) {
        add_slashes(b, n / 2);
        if (b && n % 2)
            sb_add(b, sv_first(after, mark));
        *v = sv_skip(after, n % 2 ? mark : 0);
        return true;
    }
    if (!after.n || after.s[0] != 'n' || !b) {
        add_slashes(b, n);
        return true;
    }
    kind = n == 1 ? escape_newline(sb_sv(b), rest) : escape_slashes(n, sb_sv(b), rest);
    if (kind == ESCAPE_LINE_END) {
        b->n -= b->n && b->s[b->n - 1] == '\r'; /* CRLF is one line break, however it is written */
        sb_addc(b, '\n');
        *v = sv_skip(after, 1);
    } else {
        add_slashes(b, n > 1 ? n - 1 : 1);
    }
    return kind != ESCAPE_AMBIGUOUS;
}

enum quoted { QUOTED, QUOTED_OPEN, QUOTED_AMBIGUOUS };

/* What is inside of a quotation, up to its end or to that of *v; *depth: of quotations in it. */
static enum quoted quoted_rest(const struct lexer_quote *q, struct sv *v, size_t *depth,
                               struct sb *b)
{
    size_t      n;
    enum quoted found = QUOTED;

    while (v->n) {
        if (v->s[0] == '\\') {
            found = unescape(q, v, b) ? found : QUOTED_AMBIGUOUS;
            continue;
        }
        if ((n = closing(q, *v)) && (*depth)-- == 0) {
            *v = sv_skip(*v, n);
            return found;
        }
        if (!n && q->nests && sv_starts(*v, sv_of(q->open)))
            ++*depth;
        if (v->n > 1 && v->s[0] == '\r' && v->s[1] == '\n')
            *v = sv_skip(*v, 1); /* CRLF is one line break */
        n = n ? n : 1;
        if (b)
            sb_add(b, sv_first(*v, n));
        *v = sv_skip(*v, n);
    }
    return QUOTED_OPEN;
}

/* The quotation at the start of *v, unescaped into b (NULL: only skipped). */
static enum quoted quoted(const struct lexer_quote *q, struct sv *v, struct sb *b)
{
    size_t depth = 0;

    *v = sv_skip(*v, strlen(q->open));
    return quoted_rest(q, v, &depth, b);
}

/* May a word begin after this character? */
static bool starts_word(char before)
{
    return is_blank(before) || before == ':' || before == '=' || before == '(';
}

bool lexer_skip(struct sv *rest, char *before)
{
    const struct lexer_quote *q = opening(*rest, starts_word(*before));

    *before = rest->s[0];
    if (q)
        return quoted(q, rest, NULL) != QUOTED_OPEN;
    *rest = sv_skip(*rest, 1);
    return true;
}

bool lexer_command_end(struct sv text, size_t *end)
{
    struct sv rest = text;
    char      before = ' ';

    while (rest.n && rest.s[0] != '\n')
        if (!lexer_skip(&rest, &before))
            return false;
    *end = text.n - rest.n;
    return true;
}

bool lexer_goes_on(struct lexer_line *l, struct sv line)
{
    char before = ' ';

    while (line.n) {
        if (!l->quote) {
            l->quote = opening(line, starts_word(before));
            l->depth = 0;
            before = line.s[0];
            line = sv_skip(line, l->quote ? strlen(l->quote->open) : 1);
            continue;
        }
        if (quoted_rest(l->quote, &line, &l->depth, NULL) == QUOTED_OPEN)
            return true;
        l->quote = NULL;
    }
    return l->quote != NULL;
}

bool lexer_is_open(struct sv text)
{
    char before = ' ';

    while (text.n)
        if (!lexer_skip(&text, &before))
            return true;
    return false;
}

/* ---- words ------------------------------------------------------------------------- */

/* A key is letters with - or _ between them, before a colon or =; --key is one too. *n is the
 * length with its dashes, `skip` that of the dashes. */
static size_t key_length(struct sv v, size_t *skip)
{
    size_t i = *skip = sv_starts(v, SV("--")) ? 2 : 0;

    while (i < v.n && ((v.s[i] >= 'a' && v.s[i] <= 'z') || (v.s[i] >= 'A' && v.s[i] <= 'Z') ||
                       ((v.s[i] == '-' || v.s[i] == '_') && i > *skip)))
        i++;
    return i > *skip && i < v.n && (v.s[i] == ':' || v.s[i] == '=') ? i : 0;
}

/* A key with its value behind it; absent when a space follows. */
static struct sv take_key(struct sv *v, struct arena *a)
{
    size_t skip, n = key_length(*v, &skip);

    if (!n || n + 1 >= v->n || is_blank(v->s[n + 1]))
        return (struct sv){ 0 };
    struct sv key = sv_lower((struct sv){ v->s + skip, n - skip }, a);
    for (size_t i = 0; i < key.n; i++)
        if (key.s[i] == '_')
            ((char *)key.s)[i] = '-'; /* it is a copy that may be changed */
    *v = sv_skip(*v, n + 1);
    return key;
}

/* Punctuation behind a word, as in a sentence. */
static struct sv strip_end(struct sv word, struct token *t)
{
    while (word.n > 1) {
        char c = word.s[word.n - 1];
        bool paren = c == ')' && !sv_has(word, '(');
        if (!paren && !(c && strchr(".,;:!?=", c)))
            break;
        t->comma = t->comma || c == ',';
        t->colon = t->colon || c == ':' || c == '=';
        word.n--;
    }
    return word;
}

/* Pairs that only decorate a word. `id`: what stands in them is a name, never a word of the tool.
 */
static struct sv strip_pairs(struct sv word, struct token *t)
{
    static const struct {
        const char *open, *close;
        bool        id;
    } pairs[] = { { "[", "]", true },   { "`", "`", true },  { "**", "**", false },
                  { "*", "*", false },  { "<", ">", false }, { "{", "}", true },
                  { "__", "__", false } };

    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct sv open = sv_of(pairs[i].open), close = sv_of(pairs[i].close);
        if (word.n <= open.n + close.n || !sv_starts(word, open) || !sv_ends(word, close) ||
            sv_find(sv_first(word, word.n - close.n), close) > 0) /* [a]-[b] */
            continue;
        t->brackets = t->brackets || pairs[i].id;
        return strip_pairs((struct sv){ word.s + open.n, word.n - open.n - close.n }, t);
    }
    if (word.n > 1 && word.s[0] == '#') {
        t->brackets = true;
        return sv_skip(word, 1);
    }
    return word;
}

static bool has_digit(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.s[i] >= '0' && v.s[i] <= '9')
            return true;
    return false;
}

/* a7x2's children: not part of the id. */
static struct sv strip_genitive(struct sv word)
{
    size_t n = sv_ends(word, SV("'s")) ? 2 : sv_ends(word, SV("’s")) ? 4 : 0;

    return n && has_digit(word) ? sv_first(word, word.n - n) : word;
}

/* tree(from=a7x2): a call as in other languages. */
static bool is_call_paren(struct sv v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (byte_lower(v.s[i]) < 'a' || byte_lower(v.s[i]) > 'z')
            return false;
    return n && v.s[n] == '(';
}

/* A bare value: up to a space. ST_INVALID_SYNTAX: a quotation opens inside it. */
static enum status bare(struct sv *v, struct token *t, struct err *e)
{
    size_t n = 0;

    while (n < v->n && !is_blank(v->s[n]) && !is_call_paren(*v, n)) {
        if (opening(sv_skip(*v, n), false)) {
            err_set(e, ST_INVALID_SYNTAX, "a quotation touches the word before it");
            err_hint(e, "put a space before the quotation, and \\ before a quote inside a text");
            return err_reason(e, LEX_QUOTES);
        }
        n++;
    }
    struct sv word = strip_end(sv_first(*v, n), t);
    *v = sv_skip(*v, n);
    if (!t->key.s && sv_starts(word, SV("--")) && word.n > 2)
        word = sv_skip(word, 2);
    t->text = strip_end(strip_pairs(word, t), t);
    if (!t->brackets && !t->key.s)
        t->text = strip_genitive(t->text);
    return ST_OK;
}

static enum status text_token(const struct lexer_quote *q, struct sv *rest, struct arena *a,
                              struct token *t, struct err *e)
{
    struct sb   b = sb_in(a, 0);
    enum quoted found = quoted(q, rest, &b);

    t->type = TOKEN_TEXT;
    t->text = sb_sv(&b);
    if (found == QUOTED_OPEN) {
        err_set(e, ST_INVALID_SYNTAX, "a quotation is not closed");
        err_hint(e, "end the text with \" and write \\\" for a quote inside it");
        return err_reason(e, LEX_QUOTES);
    }
    if (!is_break(*rest)) {
        err_set(e, ST_INVALID_SYNTAX, "a quotation ends inside a word");
        err_hint(e, "write \\\" for a quote inside a text");
        return err_reason(e, LEX_QUOTES);
    }
    if (found == QUOTED_AMBIGUOUS) {
        err_set(e, ST_INVALID_SYNTAX, "\\n before a letter may be a line end or part of a word");
        return err_hint(e, "write a real line break for a line end, or \\\\n for a backslash and "
                           "an n");
    }
    while (rest->n && !is_blank(rest->s[0]) && is_break(*rest)) {
        t->comma = t->comma || rest->s[0] == ',';
        *rest = sv_skip(*rest, 1);
    }
    return ST_OK;
}

static enum status next_token(struct sv *rest, struct arena *a, struct token *t, struct err *e)
{
    const char *start = rest->s;
    enum status st;
    size_t      skip;

    if (sv_starts(*rest, SV("§")) && rest->n > 2 && !is_blank(rest->s[2])) {
        t->key = SV("section");
        *rest = sv_skip(*rest, 2);
    } else {
        t->key = take_key(rest, a);
    }
    if (t->key.s && key_length(*rest, &skip))
        t->inner = take_key(rest, a);
    const struct lexer_quote *q = opening(*rest, true);
    st = q ? text_token(q, rest, a, t, e) : bare(rest, t, e);
    t->raw = (struct sv){ start, (size_t)(rest->s - start) };
    return st;
}

/* A ( before a word, and a ) or a dash alone, have no meaning and are skipped. */
static bool skip_mark(struct sv *line)
{
    static const char *const marks[] = { "(", ")", ",", "-", "–", "—", ":", "=" };

    for (size_t i = 0; i < COUNT(marks); i++) {
        struct sv after = sv_skip(*line, strlen(marks[i]));
        if (!sv_starts(*line, sv_of(marks[i])) || (i > 0 && after.n && !is_blank(after.s[0])))
            continue;
        *line = after;
        return true;
    }
    return false;
}

enum status lexer_read(struct sv line, struct arena *a, struct token **out, size_t *n,
                       struct err *e)
{
    VEC(struct token) list = { 0 };

    for (;;) {
        while (line.n && is_blank(line.s[0]))
            line = sv_skip(line, 1);
        if (!line.n)
            break;
        if (line.s[0] == ',' && list.n)
            list.v[list.n - 1].comma = true;
        if (skip_mark(&line))
            continue;
        if (next_token(&line, a, vec_push(&list, a), e))
            return err_code(e);
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

struct sv lexer_plain_spaces(struct sv line, struct arena *a)
{
    struct sv rest = line;
    char     *copy = NULL, before = ' ';

    while (rest.n) {
        size_t n = wide_space(rest);
        if (!n) {
            if (!lexer_skip(&rest, &before))
                return line;
            continue;
        }
        if (!copy) {
            copy = ARENA_NEW(a, char, line.n);
            memcpy(copy, line.s, line.n);
        }
        memset(copy + (rest.s - line.s), ' ', n);
        rest = sv_skip(rest, n);
        before = ' ';
    }
    return copy ? (struct sv){ copy, line.n } : line;
}
