/* The envelope of a checkpoint token, and the reasons for which one is refused.
 *
 *     rt2.PAYLOAD.SIGNATURE
 *
 * PAYLOAD and SIGNATURE are base64url without padding; the signature is HMAC-SHA256 of the
 * payload's bytes. A sealed payload is {"kid":…,"sealed":…,"v":2}: the real one, encrypted
 * with a key derived from the same secret. Everything here is pure: keys and randomness are
 * arguments. */
#ifndef HEDDLE_TOKEN_H
#define HEDDLE_TOKEN_H

#include "base/json.h"
#include "base/seal.h"
#include "thread/limits.h"

#define TOKEN_PREFIX "rt2."

enum { TOKEN_VERSION = 2 };

/* A secret is at least TOKEN_SECRET_MIN bytes long. */
struct token_key {
    struct sv kid, secret;
};

/* keys[0] signs, all of them verify. */
struct checkpoint_keys {
    const struct token_key *keys;
    size_t                  n;
};

/* Every refusal, in the order in which a token is checked. */
/* clang-format off */
/*    id                  reason                      status                 what is said */
#define TOKEN_REFUSALS(X)                                                                                            \
    X(BAD_PREFIX,         "invalid_token_prefix",     ST_INVALID_SYNTAX,     "a checkpoint token starts with " TOKEN_PREFIX) \
    X(BAD_FORMAT,         "invalid_token_format",     ST_INVALID_SYNTAX,     "a token has two parts after its prefix, with a dot between them") \
    X(BAD_BASE64,         "invalid_base64",           ST_INVALID_SYNTAX,     "a part of the token is not base64url without padding") \
    X(BAD_SIGNATURE,      "invalid_token_signature",  ST_PERMISSION_DENIED,  "no key we have signed this token") \
    X(BAD_PAYLOAD,        "invalid_token_payload",    ST_INVALID_SYNTAX,     "the token's payload is not a checkpoint") \
    X(OTHER_VERSION,      "token_version_mismatch",   ST_INVALID_SYNTAX,     "the token is of another version") \
    X(OTHER_ISSUER,       "invalid_token_issuer",     ST_INVALID_SYNTAX,     "the token was issued for something else") \
    X(EXPIRED,            "token_expired",            ST_PERMISSION_DENIED,  "the token has expired") \
    X(OTHER_CONFIG,       "token_config_mismatch",    ST_CONFLICT,           "the token was made under another configuration") \
    X(BAD_STATE,          "invalid_token_state",      ST_INVALID_SYNTAX,     "the token holds no state with a context") \
    X(LEGACY_STATE,       "legacy_token_state",       ST_INVALID_SYNTAX,     "the token carries a thread, as older versions did") \
    X(LEGACY_THREAD,      "legacy_thread_checkpoint", ST_INVALID_SYNTAX,     "the state carries a thread, as older versions did") \
    X(MISSING_FIELD,      "missing_field",            ST_INVALID_SYNTAX,     "the state lacks a field") \
    X(BAD_STATUS,         "invalid_status",           ST_INVALID_SYNTAX,     "the state's status is none there is") \
    X(BAD_CONTEXT,        "invalid_context",          ST_INVALID_SYNTAX,     "the state's context cannot be read") \
    X(BAD_CHECKPOINT,     "invalid_checkpoint_state", ST_INVALID_SYNTAX,     "the state contradicts itself") \
    X(MISSING_THREAD,     "missing_thread",           ST_NOT_FOUND,          "the token's thread is not in this log") \
    X(OTHER_THREAD,       "thread_mismatch",          ST_CONFLICT,           "the log is not the one the token was taken from")
/* clang-format on */

enum token_refusal {
#define X(id, ...) TOKEN_##id,
    TOKEN_REFUSALS(X)
#undef X
};

/* Fill *e with status, reason, text and hint of a refusal. `detail` (may be NULL) goes
 * behind the text. */
enum status token_refuse(struct err *e, enum token_refusal why, const char *detail);

/* Sign with `key`. ST_LIMIT_EXCEEDED: longer than TOKEN_MAX. */
enum status token_sign(struct sv payload, const struct token_key *key, struct arena *a,
                       struct sv *out, struct err *e) MUST_USE;

/* Check prefix, form, base64 and signature, in this order, and give the payload and the key that
 * signed it. Nothing of the payload is used before its signature was checked: each key is tried, in
 * constant time. */
enum status token_open(struct sv token, const struct checkpoint_keys *keys, struct arena *a,
                       struct sv *payload, const struct token_key **key, struct err *e) MUST_USE;

/* The sealed form of a payload. `salt` is fresh randomness; the nonce is made from it and
 * the payload, so that even a repeated salt never seals two payloads under one nonce. */
struct sv token_seal(struct sv payload, const struct token_key *key,
                     const unsigned char salt[SEAL_NONCE], struct arena *a);

/* The payload inside a sealed one. False when it does not open with this key. */
bool token_unseal(struct sv sealed, const struct token_key *key, struct arena *a,
                  struct sv *payload);

#endif
