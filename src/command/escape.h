/* Backslashes inside a quotation.
 *
 * A backslash stands for itself, so that \alpha, C:\temp and a \\ of TeX are kept as they are
 * written. The exceptions, wherever they stand:
 *
 *     \"      a quote that does not end the text (so do \ before the closing mark in use)
 *     \\"     a backslash, and then the end of the text: before a quote, two stand for one
 *     \\n     a backslash and an n
 *     \n      a line end, unless it begins a word
 *
 * \n before a letter is a word when it is a command of TeX (\nabla) or part of a path (C:\new), and
 * a line end after the end of a sentence (Yes.\nNo). Between two words (one\ntwo, src\net) it is
 * ambiguous: that is refused, and the error asks for a line break or \\n. */
#ifndef HEDDLE_COMMAND_ESCAPE_H
#define HEDDLE_COMMAND_ESCAPE_H

#include "base/sb.h"

enum escape_kind {
    ESCAPE_LITERAL,   /* \n is a backslash and an n */
    ESCAPE_LINE_END,  /* \n is a line end */
    ESCAPE_AMBIGUOUS, /* it may be either */
};

/* What the \n at the start of `rest` is, after the text `before`, which is unescaped. */
enum escape_kind escape_newline(struct sv before, struct sv rest);

/* What `count` backslashes, two or more, before an n are: ESCAPE_LITERAL is one backslash less. */
enum escape_kind escape_slashes(size_t count, struct sv before, struct sv rest);

/* How many backslashes a text starts with. */
size_t escape_run(struct sv v);

/* Text in double quotes, so that the lexer reads back exactly this text. */
void escape_quoted(struct sb *b, struct sv text);

#endif
