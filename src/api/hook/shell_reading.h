/* Reading a line for a shell: what is known while it is read, shared by shell_writes.c (what the
 * shell itself does) and shell_commands.c (what the programs do that it runs). */
#ifndef HEDDLE_API_HOOK_SHELL_READING_H
#define HEDDLE_API_HOOK_SHELL_READING_H

#include "api/hook/shell_lex.h"
#include "api/hook/shell_writes.h"

/* How deep lines may be nested: sh -c, eval, substitutions. */
enum { SHELL_NESTED_MAX = 4 };

struct shell_words {
    struct shell_word *v;
    size_t             n;
};

/* The commands of a pipeline, without keywords, variables and wrappers in front. */
struct shell_pipeline {
    VEC(struct shell_words) list;
};

struct shell_reading {
    struct arena          *a;
    struct sv              cwd, before; /* absent: not known after a cd to an unknown directory */
    struct sv              home;        /* absent: not known */
    struct shell_variables variables;
    struct shell_paths    *out;
    struct shell_pipeline  before_pipe; /* commands that write to the input of the current one */
    int                    depth;
    bool                   feeds_shell; /* a command since the last here-document may read one as
                                           its script */
};

/* ---- shell_writes.c ------------------------------------------------------------------------ */

/* Evaluates a command, including what precedes it: variables, keywords, programs that run another
 * one. */
void shell_run(struct shell_reading *s, struct shell_words w);

bool shell_is_one_of(struct sv word, const char *const *list, size_t n);

/* ---- shell_commands.c ---------------------------------------------------------------------- */

/* Adds the file that a word names to the written ones; does nothing when the word is not known. */
void shell_add(struct shell_reading *s, const struct shell_word *w);

/* Adds what a program writes with these arguments; the first word is its name. */
void shell_command(struct shell_reading *s, const struct shell_words *w);

bool shell_is_option(const struct shell_word *w);

/* Is there an option of one letter, alone or among others, or that long one? */
bool shell_has_option(const struct shell_words *w, char letter, const char *name);

/* The directory that a word names; absent: not known. */
struct sv shell_dir(const struct shell_reading *s, const struct shell_word *w);

#endif
