/* The guard against sending secrets: private keys, tokens of well-known services by their fixed
 * shapes, passwords in URLs, web tokens, values in .env files, and files that are credentials by
 * their names. Only specific shapes are searched, so that false alarms are rare: a password in
 * prose is not found, and placeholders from manuals are not reported. */
#ifndef HEDDLE_SECRET_H
#define HEDDLE_SECRET_H

#include "base/sv.h"

enum { SECRET_OVERLAP = 256 }; /* bytes to repeat when a text is looked at in parts */

/* What kind of secret `text` holds ("private key"), and where it starts; NULL: none. */
const char *secret_find(struct sv text, size_t *at);

/* The same for the content of a file with this path, which may be a .env file, id_rsa, .netrc and
 * the like, or a diff that shows one. */
const char *secret_find_in_file(struct sv path, struct sv text, size_t *at);

/* The part of a URL that is a secret: a password of any kind, or a token. */
const char *secret_find_in_url(struct sv url, size_t *from, size_t *to);

#endif
