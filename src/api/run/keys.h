/* The keys that sign and verify checkpoint tokens.
 *
 * HEDDLE_CHECKPOINT_KEYS="kid:secret[,kid:secret…]" names them: the first signs, all verify,
 * which is how a key is changed without losing the tokens it signed. When it is not set or
 * blank, the workspace has one of its own in .heddle/checkpoint.key: 32 random bytes, mode
 * 0600, made when first needed. Secrets are never printed, nor part of an error. */
#ifndef HEDDLE_KEYS_H
#define HEDDLE_KEYS_H

#include "api/request.h"
#include "thread/token.h"

#define KEYS_ENV "HEDDLE_CHECKPOINT_KEYS"
#define KEYS_FILE ".heddle/checkpoint.key"

/* Read "kid:secret,…". ST_INVALID_SYNTAX: a pair without a colon, an empty or doubled kid,
 * a secret of less than 16 bytes, or the default secret older versions came with, which everybody
 * knows. */
enum status keys_parse(struct sv text, struct arena *a, struct checkpoint_keys *out,
                       struct err *e) MUST_USE;

/* For signing: there is always one, or an error. */
enum status keys_for_signing(struct request *r, struct checkpoint_keys *out,
                             struct err *e) MUST_USE;

/* For verifying: makes nothing; none at all is ST_OK with n == 0. */
enum status keys_for_verifying(struct request *r, struct checkpoint_keys *out,
                               struct err *e) MUST_USE;

#endif
