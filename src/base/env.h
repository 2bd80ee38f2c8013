/* The environment of programs that we start: ours, without the secrets they have no use for. */
#ifndef HEDDLE_ENV_H
#define HEDDLE_ENV_H

#include "base/arena.h"

enum env_child {
    ENV_TOOL,  /* git, the clipboard: nothing that looks like a secret */
    ENV_AGENT, /* an executor: keys of model providers are for it, ours are not */
};

/* For execve and its likes: ends with NULL. Made before a fork. */
char **env_for(enum env_child who, struct arena *a);

/* Is a variable of this name kept from such a program? */
bool env_is_kept_back(enum env_child who, const char *name);

#endif
