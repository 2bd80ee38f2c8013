/* Reading a line for a POSIX shell, token by token. */
#include "api/hook/shell_lex.h"

#include "base/sb.h"

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char take_char(struct shell_lexer *x)
{
    char c = x->rest.s[0];

    x->rest = sv_skip(x->rest, 1);
    return c;
}

/* ---- substitutions ------------------------------------------------------------------------- */

/* The length of the text up to the closing parenthesis; the opening one was read before.
 * Parentheses in quotes do not count. */
static size_t nested_length(struct sv text)
{
    size_t depth = 1, i = 0;
    char   quote = 0;

    for (; i < text.n; i++) {
        char c = text.s[i];
        if (c == '\\' && quote != '\'')
            i++;
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '(')
            depth++;
        else if (c == ')' && --depth == 0)
            break;
    }
    return i < text.n ? i : text.n;
}

static const struct shell_word *value_of(const struct shell_lexer *x, struct sv name)
{
    for (size_t i = x->variables->list.n; i-- > 0;)
        if (sv_eq(x->variables->list.v[i].name, name))
            return &x->variables->list.v[i].value;
    return NULL;
}

/* Appends the value of a variable. A value with white space becomes several words outside quotes:
 * this is not followed, and the word is unknown. */
static void add_variable(struct shell_lexer *x, struct sv name, bool quoted, struct sb *b)
{
    const struct shell_word *value = name.n ? value_of(x, name) : NULL;

    if (!value || value->unknown ||
        (!quoted && (sv_has(value->text, ' ') || sv_has(value->text, '\t')))) {
        x->word.unknown = true;
        return;
    }
    sb_add(b, value->text);
    x->word.pattern = x->word.pattern || value->pattern;
}

/* The output of a substituted command is not known, except for that of pwd. */
static void take_inner(struct shell_lexer *x, size_t n, bool quoted, struct sb *b)
{
    struct sv line = sv_first(x->rest, n);

    x->rest = sv_skip(x->rest, n < x->rest.n ? n + 1 : n);
    if (sv_is(sv_trim(line), "pwd")) {
        add_variable(x, SV("PWD"), quoted, b);
        return;
    }
    *vec_push(&x->inner, x->a) = line;
    x->word.unknown = true;
}

/* ${NAME}; and ${NAME:?message}, ${NAME:-text} and the like, which are the same when NAME is set.
 */
static void take_braced(struct shell_lexer *x, bool quoted, struct sb *b)
{
    struct sv_cut c = sv_cut(sv_skip(x->rest, 1), '}');
    size_t        n = 0;

    while (n < c.head.n && is_name(c.head.s[n]))
        n++;
    struct sv how = sv_skip(c.head, n);
    bool      plain = !how.n || sv_has(SV("?-="), how.s[how.n > 1 && how.s[0] == ':']);
    add_variable(x, plain ? sv_first(c.head, n) : SV(""), quoted, b);
    x->rest = c.tail;
}

/* $'text': with escapes in it the word is unknown. */
static void take_c_quoted(struct shell_lexer *x, struct sb *b)
{
    struct sv_cut c;

    take_char(x);
    c = sv_cut(x->rest, '\'');
    x->word.unknown = x->word.unknown || sv_has(c.head, '\\');
    sb_add(b, c.head);
    x->rest = c.tail;
}

/* The dollar sign was read before. */
static void take_dollar(struct shell_lexer *x, bool quoted, struct sb *b)
{
    size_t n = 0;

    if (sv_starts(x->rest, SV("("))) {
        take_char(x);
        take_inner(x, nested_length(x->rest), quoted, b);
    } else if (sv_starts(x->rest, SV("{"))) {
        take_braced(x, quoted, b);
    } else if (!quoted && sv_starts(x->rest, SV("'"))) {
        take_c_quoted(x, b);
    } else {
        while (n < x->rest.n && is_name(x->rest.s[n]))
            n++;
        add_variable(x, sv_first(x->rest, n), quoted, b);
        x->rest = sv_skip(x->rest, n);
    }
}

static void take_backquoted(struct shell_lexer *x, bool quoted, struct sb *b)
{
    take_inner(x, sv_cut(x->rest, '`').head.n, quoted, b);
}

/* ---- words --------------------------------------------------------------------------------- */

static bool is_break(char c)
{
    return sv_has(SV(";|&\n()"), c);
}

/* Text in double quotes; the opening quote was read before. */
static void take_quoted(struct shell_lexer *x, struct sb *b)
{
    while (x->rest.n && x->rest.s[0] != '"') {
        char c = take_char(x);
        if (c == '$') {
            take_dollar(x, true, b);
        } else if (c == '`') {
            take_backquoted(x, true, b);
        } else {
            if (c == '\\' && x->rest.n && sv_has(SV("\"\\$`"), x->rest.s[0]))
                c = take_char(x);
            sb_addc(b, c);
        }
    }
    if (x->rest.n)
        take_char(x);
}

static void take_part(struct shell_lexer *x, struct sb *b)
{
    char          c = take_char(x);
    struct sv_cut cut;

    switch (c) {
    case '\'':
        cut = sv_cut(x->rest, '\'');
        sb_add(b, cut.head);
        x->rest = cut.tail;
        break;
    case '"': take_quoted(x, b); break;
    case '$': take_dollar(x, false, b); break;
    case '`': take_backquoted(x, false, b); break;
    case '\\':
        if (x->rest.n)
            sb_addc(b, take_char(x));
        break;
    default: x->word.pattern = x->word.pattern || sv_has(SV("*?[{"), c); sb_addc(b, c);
    }
}

static void take_word(struct shell_lexer *x)
{
    struct sb b = sb_in(x->a, 0);

    x->word = (struct shell_word){ 0 };
    if (sv_starts(x->rest, SV("~")) &&
        (x->rest.n == 1 || sv_has(SV("/ \t\r\n;|&()<>"), x->rest.s[1]))) {
        take_char(x);
        add_variable(x, SV("HOME"), true, &b);
    }
    while (x->rest.n && !is_break(x->rest.s[0]) && !sv_has(SV(" \t\r<>"), x->rest.s[0]))
        take_part(x, &b);
    x->word.text = sb_sv(&b);
}

/* ---- here-documents ------------------------------------------------------------------------ */

static void skip_blanks(struct shell_lexer *x)
{
    while (x->rest.n && sv_has(SV(" \t\r"), x->rest.s[0]))
        take_char(x);
}

/* << was read before. */
static void take_delimiter(struct shell_lexer *x)
{
    struct shell_doc d = { .tabs = sv_starts(x->rest, SV("-")) };

    x->rest = sv_skip(x->rest, d.tabs);
    skip_blanks(x);
    take_word(x);
    d.delimiter = x->word.text;
    *vec_push(&x->waiting, x->a) = d;
}

/* A here-document begins on the line after its operator and ends with its delimiter. */
static void take_doc(struct shell_lexer *x, const struct shell_doc *d)
{
    struct sv start = x->rest;

    for (bool ended = false; x->rest.n && !ended;) {
        struct sv_cut c = sv_cut(x->rest, '\n');
        struct sv     line = c.head;
        while (d->tabs && sv_starts(line, SV("\t")))
            line = sv_skip(line, 1);
        ended = sv_eq(line, d->delimiter);
        if (ended)
            *vec_push(&x->docs, x->a) = sv_first(start, (size_t)(c.head.s - start.s));
        x->rest = c.tail;
    }
}

static void take_docs(struct shell_lexer *x)
{
    for (size_t i = 0; i < x->waiting.n; i++)
        take_doc(x, &x->waiting.v[i]);
    x->waiting.n = 0;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* > >> >| &> <> and 2> are followed by a file that is written; >& by one or by a number. */
static enum shell_token take_redirection(struct shell_lexer *x)
{
    bool out = false;

    while (x->rest.n && sv_has(SV("<>|&"), x->rest.s[0]))
        out = take_char(x) == '>' || out;
    return out ? SHELL_OUT : SHELL_IN;
}

static enum shell_token take_break(struct shell_lexer *x)
{
    char c = take_char(x);

    if (c == '\n')
        take_docs(x);
    if (c == '|' && !sv_starts(x->rest, SV("|"))) {
        x->rest = sv_skip(x->rest, sv_starts(x->rest, SV("&")));
        return SHELL_PIPE;
    }
    if (c == '|')
        take_char(x);
    return c == '(' ? SHELL_OPEN : c == ')' ? SHELL_CLOSE : SHELL_BREAK;
}

/* Skips white space and comments, and notes the delimiters of here-documents. */
static void skip_between(struct shell_lexer *x)
{
    for (;;) {
        skip_blanks(x);
        if (sv_starts(x->rest, SV("\\\n"))) {
            x->rest = sv_skip(x->rest, 2);
        } else if (sv_starts(x->rest, SV("#"))) { /* a comment: it does not begin in a word */
            x->rest = sv_skip(x->rest, sv_cut(x->rest, '\n').head.n);
        } else if (sv_starts(x->rest, SV("<<")) && !sv_starts(x->rest, SV("<<<"))) {
            x->rest = sv_skip(x->rest, 2);
            take_delimiter(x);
        } else {
            return;
        }
    }
}

/* 2>file: the number belongs to the redirection. */
static bool is_descriptor(const struct shell_lexer *x, struct sv taken)
{
    for (size_t i = 0; i < taken.n; i++)
        if (taken.s[i] < '0' || taken.s[i] > '9')
            return false;
    return taken.n && x->rest.n && sv_has(SV("<>"), x->rest.s[0]);
}

enum shell_token shell_next(struct shell_lexer *x)
{
    skip_between(x);
    if (!x->rest.n)
        return SHELL_END;
    if (sv_starts(x->rest, SV("&>")) || sv_has(SV("<>"), x->rest.s[0]))
        return take_redirection(x);
    if (sv_starts(x->rest, SV("(("))) { /* arithmetic, in which << is an operator */
        struct sb ignored = sb_in(x->a, 0);
        take_char(x);
        take_inner(x, nested_length(x->rest), false, &ignored);
        return SHELL_BREAK;
    }
    if (is_break(x->rest.s[0]))
        return take_break(x);
    struct sv start = x->rest;
    take_word(x);
    if (is_descriptor(x, sv_first(start, start.n - x->rest.n)) && !sv_starts(x->rest, SV("<<")))
        return take_redirection(x);
    return SHELL_WORD;
}
