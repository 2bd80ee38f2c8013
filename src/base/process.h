/* This process: when it holds keys, how many processors it may use, how many files it may have
 * open. */
#ifndef HEDDLE_PROCESS_H
#define HEDDLE_PROCESS_H

#include "base/base.h"

/* Called before a key is used: from here on this process leaves no core file, and other processes
 * of the user cannot read its memory (PR_SET_DUMPABLE), so that a crash does not write a key to the
 * disk. It covers the whole process and not a few pages of it, because keys from the environment
 * lie where the kernel put them, and libraries copy what they send. Programs that it starts inherit
 * the limit on core files, which they may raise again. Harmless when repeated. */
void process_hide(void);

/* Does one of these variables ("NAME=value", ending with NULL) look like a key by its name (…_KEY,
 * …_TOKEN, …)? */
bool process_has_keys(char *const *variables);

/* How many processors this process may use; at least 1. */
unsigned process_cpus(void);

/* Allow this process at least n open files, as far as the system lets it. Returns how many it may
 * have now. */
int64_t process_allow_files(int64_t n);

#endif
