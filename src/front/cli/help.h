/* Everything that is printed from the command table. */
#ifndef HEDDLE_HELP_H
#define HEDDLE_HELP_H

#include "front/cli/command.h"

void help_goals(struct sb *out); /* the goals of users, in a dozen lines */

/* The whole list (c is NULL), or how one command is used; through a pager when it is long. */
enum status help_print(struct app *app, const struct command *c, struct err *e) MUST_USE;
bool        help_family(struct sb *out, struct sv word); /* all commands "word …"; false: none */

/* What argument i is called in the usage: "T", "TEXT|-". Absent when there is no such one that must
 * be given. */
struct sv help_argument(const struct command *c, size_t i);

/* mdoc pages: heddle.1, and one per first word of a command name. */
void man_overview(struct sb *out);
bool man_page(struct sb *out, struct sv word); /* false: no such word */

/* The distinct first words, in table order; i counts up until it is absent. */
struct sv help_word(size_t i);
struct sv help_first_word(const struct command *c);

/* What a word is for: the summary of its command, or the second words of a family. */
struct sv help_about(struct sv word, struct arena *a);

/* False when the shell is not bash, zsh or fish. */
bool completion(struct sb *out, struct sv shell);

#endif
