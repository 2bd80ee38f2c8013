#include "command/lexer.h"

#include "base/sb.h"
#include "base/vec.h"

/* A quote at the start of v: its length and how it closes. A curly quotation also ends at a
 * straight quote, because models mix them. */
static size_t opening(struct sv v)
{
    if (v.n && v.s[0] == '"')
        return 1;
    if (sv_starts(v, SV("“")) || sv_starts(v, SV("”")))
        return 3;
    return 0;
}

static size_t closing(struct sv v, bool curly)
{
    if (curly && (sv_starts(v, SV("”")) || sv_starts(v, SV("“"))))
        return 3;
    return v.n && v.s[0] == '"' ? 1 : 0;
}

/* The quoted text at the start of *v, unescaped into b (NULL: only skipped). False when it
 * is not closed. */
static bool quoted(struct sv *v, struct sb *b)
{
    size_t open = opening(*v), close;
    bool   curly = open == 3;

    *v = sv_skip(*v, open);
    while (v->n) {
        close = closing(*v, curly);
        if (close) {
            *v = sv_skip(*v, close);
            return true;
        }
        if (v->n > 1 && v->s[0] == '\r' && v->s[1] == '\n')
            *v = sv_skip(*v, 1); /* CRLF is one line break */
        bool escape =
            v->s[0] == '\\' && v->n > 1 && (v->s[1] == '"' || v->s[1] == '\\' || v->s[1] == 'n');
        if (b)
            sb_addc(b, !escape ? v->s[0] : v->s[1] == 'n' ? '\n' : v->s[1]);
        *v = sv_skip(*v, escape ? 2 : 1);
    }
    return false;
}

bool lex_command_end(struct sv text, size_t *end)
{
    struct sv rest = text;

    while (rest.n && rest.s[0] != '\n') {
        if (!opening(rest))
            rest = sv_skip(rest, 1);
        else if (!quoted(&rest, NULL))
            return false;
    }
    *end = text.n - rest.n;
    return true;
}

bool lex_is_open(struct sv text)
{
    while (text.n) {
        if (!opening(text))
            text = sv_skip(text, 1);
        else if (!quoted(&text, NULL))
            return true;
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A key is lower-case letters and dashes before a colon. */
static size_t key_length(struct sv v)
{
    size_t i = 0;

    while (i < v.n && ((v.s[i] >= 'a' && v.s[i] <= 'z') || (v.s[i] >= 'A' && v.s[i] <= 'Z') ||
                       (v.s[i] == '-' && i)))
        i++;
    return i && i < v.n && v.s[i] == ':' ? i : 0;
}

static struct sv take_key(struct sv *v, struct arena *a)
{
    size_t    n = key_length(*v);
    struct sv key = n ? sv_lower(sv_first(*v, n), a) : (struct sv){ 0 };

    *v = sv_skip(*v, n ? n + 1 : 0);
    return key;
}

/* A bare value: up to a blank or a quote. A full stop or comma at its end is a habit of
 * sentences, not part of an id. */
static struct sv bare(struct sv *v, bool keyed, bool *brackets)
{
    size_t n = 0;

    while (n < v->n && !is_blank(v->s[n]) && !opening(sv_skip(*v, n)))
        n++;
    struct sv word = sv_first(*v, n);
    *v = sv_skip(*v, n);
    while (!keyed && word.n > 1 &&
           (word.s[word.n - 1] == '.' || word.s[word.n - 1] == ',' || word.s[word.n - 1] == ';'))
        word.n--;
    *brackets = word.n > 2 && word.s[0] == '[' && word.s[word.n - 1] == ']';
    return *brackets ? (struct sv){ word.s + 1, word.n - 2 } : word;
}

static enum status next_token(struct sv *rest, struct arena *a, struct token *t, struct err *e)
{
    t->key = take_key(rest, a);
    if (t->key.s && key_length(*rest))
        t->inner = take_key(rest, a);
    if (opening(*rest)) {
        struct sb b = sb_in(a, 0);
        t->type = TOKEN_TEXT;
        if (!quoted(rest, &b)) {
            err_set(e, ST_INVALID_SYNTAX, "a quotation is not closed");
            return err_hint(e, "end the text with \" and write \\\" for a quote inside it");
        }
        t->text = sb_sv(&b);
        return ST_OK;
    }
    t->text = bare(rest, t->key.s != NULL, &t->brackets);
    if (!t->text.n) {
        err_set(e, ST_INVALID_SYNTAX, SV_FMT ": has no value", SV_ARG(t->key));
        return err_hint(e, "write " SV_FMT ":value or " SV_FMT ":\"value\", without a blank",
                        SV_ARG(t->key), SV_ARG(t->key));
    }
    return ST_OK;
}

enum status lex(struct sv line, struct arena *a, struct token **out, size_t *n, struct err *e)
{
    VEC(struct token) list = { 0 };

    for (;;) {
        while (line.n && is_blank(line.s[0]))
            line = sv_skip(line, 1);
        if (!line.n)
            break;
        if (next_token(&line, a, vec_push(&list, a), e))
            return err_code(e);
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}
