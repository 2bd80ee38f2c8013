/* The guard against sending secrets: private keys, tokens of well-known services by
 * their fixed shapes, values in .env files. It errs on the side of a false alarm only
 * where the shape is specific; a password in prose is not found. */
#ifndef HEDDLE_SECRET_H
#define HEDDLE_SECRET_H

#include "base/sv.h"

enum { SECRET_OVERLAP = 256 }; /* bytes to repeat when a text is looked at in parts */

/* What kind of secret `text` holds ("private key"), and where it starts; NULL: none. */
const char *secret_find(struct sv text, size_t *at);

/* The same for the content of a file with this path, which may be a .env file, or a diff that
 * shows one. */
const char *secret_find_in_file(struct sv path, struct sv text, size_t *at);

#endif
