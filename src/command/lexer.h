/* Words and quotations of a command line.
 *
 * Quotations: "…", “…”, „…“, «…», 「…」, '…' and """…"""; backslashes in them follow escape.h.
 * Round a word, brackets, backticks, # and asterisks are decoration, and so are a comma, a full
 * stop, a colon or a question mark behind it: what a question mark says is looked at in doubt.h. */
#ifndef HEDDLE_LEXER_H
#define HEDDLE_LEXER_H

#include "base/status.h"
#include "base/sv.h"

enum token_type { TOKEN_WORD, TOKEN_TEXT };
struct token {
    enum token_type type;  /* of its value: bare or quoted */
    struct sv       key;   /* of key:value and key=value, in lower case; absent without one */
    struct sv       inner; /* second key, as in pin:doc:"name"; absent without one */
    struct sv       text;  /* the value, unescaped */
    struct sv       raw;   /* all of it, as it stands in the line */
    bool brackets;         /* it was written [like this], `like this` or #this: an id or a name */
    bool comma;            /* a comma follows */
    bool colon;            /* a colon or = and a space follow: perhaps a key */
    bool filler;           /* a word that says nothing, such as "the": words_mark() */
};

/* The tokens of a line. ST_INVALID_SYNTAX with the reason LEX_QUOTES: a quotation is not closed, or
 * touches a word. */
enum status lexer_read(struct sv line, struct arena *a, struct token **out, size_t *n,
                       struct err *e) MUST_USE;

#define LEX_QUOTES "quotes"

/* Where the command at the start of a text ends: at the first line break outside a quotation, or at
 * the end of the text. False when a quotation in it is never closed. One pass. */
bool lexer_command_end(struct sv text, size_t *end);

/* The same while lines come: zero before the first one. Does the command go on behind this line,
 * which has its line break, because a quotation is open? */
struct lexer_quote;
struct lexer_line {
    const struct lexer_quote *quote; /* that is open; NULL: none is */
    size_t                    depth;
};
bool lexer_goes_on(struct lexer_line *l, struct sv line);

/* Past one byte outside a quotation, or past a quotation; false when it is not closed. *before is
 * the byte before *rest, a space at the start: it decides whether a word could begin here. */
bool lexer_skip(struct sv *rest, char *before);

/* The line with plain spaces in the place of other ones (no-break, ideographic, of no width)
 * outside its quotations; the line itself when it has none, or a quotation in it is not closed. */
struct sv lexer_plain_spaces(struct sv line, struct arena *a);

/* Does the text end inside a quotation? Then the command goes on in the next line. */
bool lexer_is_open(struct sv text);

#endif
