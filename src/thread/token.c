/* Signing, sealing and opening checkpoint tokens. */
#include "thread/token.h"

#include <string.h>

static const struct {
    const char *reason;
    enum status status;
    const char *text;
} refusals[] = {
#define X(id, reason, status, text) [TOKEN_##id] = { reason, status, text },
    TOKEN_REFUSALS(X)
#undef X
};

static const struct {
    enum token_refusal why;
    const char        *hint;
} hints[] = {
    { TOKEN_BAD_PREFIX, "`heddle checkpoint T` prints a token; pass it whole, or - to read it" },
    { TOKEN_BAD_SIGNATURE,
      "it was changed, or signed elsewhere: HEDDLE_CHECKPOINT_KEYS may name more keys" },
    { TOKEN_EXPIRED, "take a new one with `heddle checkpoint T --ttl MS`" },
    { TOKEN_OTHER_CONFIG, "model, system_prompt, max_iterations and tools must be as they were" },
    { TOKEN_LEGACY_STATE, "take a new checkpoint: only contexts are carried, never threads" },
    { TOKEN_LEGACY_THREAD, "take a new checkpoint: only contexts are carried, never threads" },
    { TOKEN_MISSING_THREAD, "restore it in the workspace it was taken in" },
    { TOKEN_OTHER_THREAD, "the log was cut or rewritten since: `heddle verify` checks it" },
};

enum status token_refuse(struct err *e, enum token_refusal why, const char *detail)
{
    err_set(e, refusals[why].status, "%s%s%s", refusals[why].text, detail ? ": " : "",
            detail ? detail : "");
    err_reason(e, refusals[why].reason);
    for (size_t i = 0; i < COUNT(hints); i++)
        if (hints[i].why == why)
            err_hint(e, "%s", hints[i].hint);
    return err_code(e);
}

enum status token_sign(struct sv payload, const struct token_key *key, struct arena *a,
                       struct sv *out, struct err *e)
{
    struct sb   b = sb_in(a, TOKEN_MAX);
    struct hash mac = hash_hmac_sha256(key->secret, payload);

    sb_adds(&b, TOKEN_PREFIX);
    sb_add_base64url(&b, payload);
    sb_addc(&b, '.');
    sb_add_base64url(&b, (struct sv){ (const char *)mac.b, HASH_SIZE });
    if (sb_done(&b, out, e))
        return err_in(e, "checkpoint token");
    return ST_OK;
}

static const struct token_key *signer_of(struct sv payload, struct sv signature,
                                         const struct checkpoint_keys *keys)
{
    struct hash given;

    if (signature.n != HASH_SIZE)
        return NULL;
    memcpy(given.b, signature.s, HASH_SIZE);
    for (size_t i = 0; i < keys->n; i++) {
        struct hash mac = hash_hmac_sha256(keys->keys[i].secret, payload);
        if (hash_eq(&mac, &given))
            return &keys->keys[i];
    }
    return NULL;
}

enum status token_open(struct sv token, const struct checkpoint_keys *keys, struct arena *a,
                       struct sv *payload, const struct token_key **key, struct err *e)
{
    struct sv bytes, signature;

    if (token.n > TOKEN_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "a checkpoint token has at most %d bytes", TOKEN_MAX);
    if (!sv_starts(token, SV(TOKEN_PREFIX)))
        return token_refuse(e, TOKEN_BAD_PREFIX, NULL);
    struct sv_cut cut = sv_cut(sv_skip(token, sizeof TOKEN_PREFIX - 1), '.');
    if (!cut.found || !cut.head.n || !cut.tail.n || sv_has(cut.tail, '.'))
        return token_refuse(e, TOKEN_BAD_FORMAT, NULL);
    if (!base64url_read(cut.head, a, &bytes) || !base64url_read(cut.tail, a, &signature))
        return token_refuse(e, TOKEN_BAD_BASE64, NULL);
    *key = signer_of(bytes, signature, keys);
    if (!*key)
        return token_refuse(e, TOKEN_BAD_SIGNATURE, NULL);
    *payload = bytes;
    return ST_OK;
}

/* ---- the sealed form ------------------------------------------------------------------ */

static struct hash seal_key(const struct token_key *key)
{
    return hash_hmac_sha256(key->secret, SV("heddle checkpoint: sealing key"));
}

static struct hash seal_nonce(struct sv payload, const struct token_key *key,
                              const unsigned char *salt, struct arena *a)
{
    struct hash digest = hash_sha256(payload);
    struct sb   b = sb_in(a, 0);

    sb_adds(&b, "heddle checkpoint: nonce");
    sb_add(&b, (struct sv){ (const char *)salt, SEAL_NONCE });
    sb_add(&b, (struct sv){ (const char *)digest.b, HASH_SIZE });
    return hash_hmac_sha256(key->secret, sb_sv(&b));
}

struct sv token_seal(struct sv payload, const struct token_key *key,
                     const unsigned char salt[SEAL_NONCE], struct arena *a)
{
    struct hash k = seal_key(key), nonce = seal_nonce(payload, key, salt, a);
    struct sb   text = sb_in(a, 0), b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);

    sb_add_base64url(&text, seal_text(payload, key->kid, nonce.b, &k, a));
    jw_open(&w, '{');
    jw_kstr(&w, "kid", key->kid);
    jw_kstr(&w, "sealed", sb_sv(&text));
    jw_kint(&w, "v", TOKEN_VERSION);
    jw_close(&w, '}');
    return sb_sv(&b);
}

bool token_unseal(struct sv sealed, const struct token_key *key, struct arena *a,
                  struct sv *payload)
{
    struct hash k = seal_key(key);
    struct sv   bytes;

    return base64url_read(sealed, a, &bytes) && seal_open(bytes, key->kid, &k, a, payload);
}
