/* Environments: lists of "NAME=value" that end with NULL. Rooms below the doors use only the list
 * that they are given, never the process's own; a program that heddle starts gets the list without
 * the secrets it does not need. */
#ifndef HEDDLE_ENV_H
#define HEDDLE_ENV_H

#include "base/sv.h"

enum env_child {
    ENV_TOOL,  /* git, the clipboard: nothing that looks like a secret */
    ENV_AGENT, /* an executor: it gets the keys of model providers, but not heddle's */
};

/* The value of a variable, in `variables`; absent when it is not set. NULL is an empty list. */
struct sv env_find(char *const *variables, const char *name);

/* `variables` as such a program gets them, for execve() and similar calls. Call it before fork():
 * it allocates. */
char **env_for(enum env_child who, char *const *variables, struct arena *a);

/* The same list with a variable set: it replaces one of that name, or is added at the end. */
char **env_with(char **list, const char *name, struct sv value, struct arena *a);

/* Is a variable of this name kept from such a program? */
bool env_is_kept_back(enum env_child who, const char *name);

#endif
