/* Tokens: any bytes are verified without harm, and never accepted unless signed; whatever
 * is signed opens again, sealed or not; and any payload, rightly signed, is read without
 * harm. */
#include "thread/checkpoint.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct token_key       key = { SV_STATIC("k"), SV_STATIC("secret") };
static const struct checkpoint_keys keys = { &key, 1 };

/* The fingerprint of a checkpoint that the corpus can name. */
static struct sv fingerprint(struct arena *a)
{
    struct checkpoint_config none = { .max_iterations = 10 };

    return checkpoint_fingerprint(&none, a);
}

static void open_again(struct sv token, struct sv want, struct arena *a)
{
    const struct token_key *by;
    struct sv               payload;
    struct err              e;

    if (token_open(token, &keys, a, &payload, &by, &e) || !sv_eq(payload, want) || by != &key)
        abort();
}

/* What verifies can be signed anew, and then says the same. */
static void sign_again(const struct checkpoint *c, struct arena *a)
{
    struct checkpoint again;
    struct sv         token;
    struct err        e;

    if (checkpoint_sign(c, &keys, NULL, a, &token, &e))
        return; /* over the limit */
    if (checkpoint_verify(token, &keys, fingerprint(a), 0, a, &again, &e) ||
        !sv_eq(again.state.run_id, c->state.run_id) ||
        again.state.context.n != c->state.context.n || again.state.status != c->state.status)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char salt[SEAL_NONCE] = { 0 };
    struct arena               a = { 0 };
    struct sv                  bytes = { (const char *)data, size }, token, back;
    struct checkpoint          c;
    struct err                 e;

    if (checkpoint_verify(bytes, &keys, fingerprint(&a), 0, &a, &c, &e) == ST_OK)
        sign_again(&c, &a);
    if (size && token_sign(bytes, &key, &a, &token, &e) == ST_OK) {
        open_again(token, bytes, &a);
        if (checkpoint_verify(token, &keys, fingerprint(&a), 0, &a, &c, &e) == ST_OK)
            sign_again(&c, &a);
    }
    struct sv   sealed = token_seal(bytes, &key, salt, &a);
    struct json v;
    if (json_parse(sealed, 0, &a, &v, &e) ||
        !token_unseal(json_text(&v, "sealed"), &key, &a, &back) || !sv_eq(back, bytes))
        abort();
    arena_free(&a);
    return 0;
}
