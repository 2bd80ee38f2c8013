/* Words of a command line. */
#ifndef HEDDLE_LEXER_H
#define HEDDLE_LEXER_H

#include "base/status.h"
#include "base/sv.h"

enum token_type { TOKEN_WORD, TOKEN_TEXT };
struct token {
    enum token_type type;     /* of its value: bare or quoted */
    struct sv       key;      /* of key:value; absent without one */
    struct sv       inner;    /* second key, as in pin:doc:"name"; absent without one */
    struct sv       text;     /* the value, unescaped */
    bool            brackets; /* it was written [like this] */
};

/* The tokens of a line. ST_INVALID_SYNTAX: a quote is not closed, or a key has no value. */
enum status lex(struct sv line, struct arena *a, struct token **out, size_t *n,
                struct err *e) MUST_USE;

/* Where the command at the start of a text ends: at the first line break outside a quotation, or at
 * the end of the text. False when a quotation in it is never closed. One pass. */
bool lex_command_end(struct sv text, size_t *end);

/* Does the text end inside a quotation? Then the command goes on in the next line. */
bool lex_is_open(struct sv text);

#endif
