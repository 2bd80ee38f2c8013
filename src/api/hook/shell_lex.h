/* Words and operators of a line for a POSIX shell. Nothing is run: the value of a variable is known
 * when the line itself sets it; the output of a substitution is not known. */
#ifndef HEDDLE_API_HOOK_SHELL_LEX_H
#define HEDDLE_API_HOOK_SHELL_LEX_H

#include "base/sv.h"
#include "base/vec.h"

struct shell_tests; /* shell_writes.h */

enum shell_token {
    SHELL_END,
    SHELL_WORD,  /* in `word` */
    SHELL_BREAK, /* ; & || && and the end of a line */
    SHELL_PIPE,  /* | and |& */
    SHELL_OPEN,  /* ( */
    SHELL_CLOSE, /* ) */
    SHELL_OUT,   /* a redirection whose file is written; it is the next word */
    SHELL_IN,
};

struct shell_word {
    struct sv text;
    bool      unknown; /* a part of it cannot be known from the line, and is left out */
    bool      pattern; /* it has * ? [ or { outside quotes */
    const struct shell_tests *found; /* it stands for what find found there; absent: for itself */
};

struct shell_variable {
    struct sv         name;
    struct shell_word value;
};

/* The last variable of a name counts. Adding to a copy does not change the original. */
struct shell_variables {
    VEC(struct shell_variable) list;
};

struct shell_doc {
    struct sv delimiter;
    bool      tabs; /* <<-: those at the front of a line do not count */
};

struct shell_lexer {
    struct sv                     rest;
    struct arena                 *a;
    const struct shell_variables *variables;
    struct shell_word             word;
    VEC(struct sv) inner; /* lines in $( ) and ` ` of the token; the caller empties it */
    VEC(struct sv) docs;  /* here-documents that ended with the token; the caller empties it */
    VEC(struct shell_doc) waiting;
};

enum shell_token shell_next(struct shell_lexer *x);

#endif
