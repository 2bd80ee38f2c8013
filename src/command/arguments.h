/* The arguments of a command, once its tool is known. For the grammar. */
#ifndef HEDDLE_COMMAND_ARGUMENTS_H
#define HEDDLE_COMMAND_ARGUMENTS_H

#include "command/grammar.h"
#include "command/lexer.h"

/* A command that is being read. */
struct reading {
    const struct token *tokens;
    size_t              n, at;
    bool               *used; /* by the first pass */
    struct call        *call;
    const struct tool  *tool;
    bool                joined; /* a comma or "and" was read since the last node */
    struct arena       *a;
};

/* Gives r->tokens to the parameters of r->tool, in r->call. ST_INVALID_SYNTAX: something does not
 * fit or is missing; the hint shows the form that comes nearest. */
enum status arguments_read(struct reading *r, struct err *e) MUST_USE;

/* Passes on an error at token `at`, with the reason LEX_QUOTES when the word stands behind a text:
 * a quote inside the text was perhaps taken for its end. */
enum status arguments_refused(const struct reading *r, size_t at, struct err *e);

#endif
