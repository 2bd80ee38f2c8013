/* Ed25519 signatures over text, in the form of C2SP signed-note. */
#include "base/note.h"

#include "base/failure.h"
#include "base/utf8.h"

#include <sodium.h>
#include <string.h>

enum { KEY_ID = 4, ED25519 = 1, KEY_BYTES = 32, SIGNATURE = 64, NAME_MAX_N = 128 };
#define PRIVATE_PREFIX "PRIVATE+KEY+"
#define DASH "\xe2\x80\x94 " /* the dash in front of a signature, and its space */

struct key {
    struct sv     name;
    unsigned char id[KEY_ID];
    unsigned char bytes[KEY_BYTES]; /* public key or seed */
};

static bool is_name(struct sv name)
{
    if (!name.n || name.n > NAME_MAX_N || utf8_invalid(name) >= 0)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.s[i] <= ' ' || name.s[i] == '+' || name.s[i] == 0x7f)
            return false;
    return true;
}

/* SHA-256(name, line feed, type, public key), its first bytes. */
static void key_id(struct sv name, const unsigned char *open, unsigned char id[KEY_ID])
{
    struct hash_sha256 h;
    char               type = ED25519;

    hash_sha256_init(&h);
    hash_sha256_add(&h, name);
    hash_sha256_add(&h, SV("\n"));
    hash_sha256_add(&h, (struct sv){ &type, 1 });
    hash_sha256_add(&h, (struct sv){ (const char *)open, KEY_BYTES });
    struct hash sum = hash_sha256_end(&h);
    memcpy(id, sum.b, KEY_ID);
}

static void add_base64(struct sb *b, const unsigned char *bytes, size_t n)
{
    char text[160];

    sodium_bin2base64(text, sizeof text, bytes, n, sodium_base64_VARIANT_ORIGINAL);
    sb_adds(b, text);
}

/* Exactly n bytes. */
static bool read_base64(struct sv text, unsigned char *out, size_t n)
{
    const char *end;
    size_t      got;

    return text.n &&
           !sodium_base642bin(out, n, text.s, text.n, NULL, &got, &end,
                              sodium_base64_VARIANT_ORIGINAL) &&
           got == n && end == text.s + text.n;
}

static bool read_id(struct sv hex, unsigned char id[KEY_ID])
{
    size_t got;

    return hex.n == (size_t)KEY_ID * 2 &&
           !sodium_hex2bin(id, KEY_ID, hex.s, hex.n, NULL, &got, NULL) && got == KEY_ID;
}

/* name+id+base64(type, bytes) */
static bool read_key(struct sv text, struct key *out)
{
    unsigned char raw[1 + KEY_BYTES];
    struct sv_cut name = sv_cut(sv_trim(text), '+'), id = sv_cut(name.tail, '+');

    if (!name.found || !id.found || !is_name(name.head) || !read_id(id.head, out->id) ||
        !read_base64(id.tail, raw, sizeof raw) || raw[0] != ED25519)
        return false;
    out->name = name.head;
    memcpy(out->bytes, raw + 1, KEY_BYTES);
    sodium_memzero(raw, sizeof raw);
    return true;
}

static void write_key(struct sb *b, struct sv name, const unsigned char *id,
                      const unsigned char *bytes)
{
    unsigned char raw[1 + KEY_BYTES] = { ED25519 };

    memcpy(raw + 1, bytes, KEY_BYTES);
    sb_add(b, name);
    sb_addc(b, '+');
    sb_add_hex(b, id, KEY_ID);
    sb_addc(b, '+');
    add_base64(b, raw, sizeof raw);
    sodium_memzero(raw, sizeof raw);
}

static enum status no_secret(struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "not a private key");
    return err_hint(e, "`heddle head --new-key FILE` makes one");
}

/* Seed, public key and the secret key that libsodium signs with. */
static enum status read_secret(struct sv text, struct key *out, unsigned char open[KEY_BYTES],
                               unsigned char full[64], struct err *e)
{
    unsigned char id[KEY_ID];

    text = sv_trim(text);
    if (sodium_init() < 0)
        failure_system("libsodium does not start");
    if (!sv_starts(text, SV(PRIVATE_PREFIX)) ||
        !read_key(sv_skip(text, sizeof PRIVATE_PREFIX - 1), out))
        return no_secret(e);
    crypto_sign_seed_keypair(open, full, out->bytes);
    key_id(out->name, open, id);
    return memcmp(id, out->id, KEY_ID) == 0 ? ST_OK : no_secret(e);
}

enum status note_new_key(struct sv name, struct arena *a, struct sv *secret, struct sv *open,
                         struct err *e)
{
    unsigned char seed[KEY_BYTES], full[64], public_key[KEY_BYTES], id[KEY_ID];
    struct sb     b = sb_in(a, 0), p = sb_in(a, 0);

    if (!is_name(name)) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is no name of a key", SV_ARG(name));
        return err_hint(e, "give text without spaces and plus signs, such as example.org/log");
    }
    if (sodium_init() < 0)
        failure_system("libsodium does not start");
    randombytes_buf(seed, sizeof seed);
    crypto_sign_seed_keypair(public_key, full, seed);
    key_id(name, public_key, id);
    sb_adds(&b, PRIVATE_PREFIX);
    write_key(&b, name, id, seed);
    write_key(&p, name, id, public_key);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(full, sizeof full);
    *secret = sb_sv(&b);
    *open = sb_sv(&p);
    return ST_OK;
}

enum status note_public_key(struct sv secret, struct arena *a, struct sv *open, struct err *e)
{
    struct key    k;
    unsigned char public_key[KEY_BYTES], full[64];
    struct sb     b = sb_in(a, 0);

    if (read_secret(secret, &k, public_key, full, e))
        return err_code(e);
    write_key(&b, k.name, k.id, public_key);
    sodium_memzero(full, sizeof full);
    sodium_memzero(&k.bytes, sizeof k.bytes);
    *open = sb_sv(&b);
    return ST_OK;
}

enum status note_sign(struct sv text, struct sv secret, struct arena *a, struct sv *note,
                      struct err *e)
{
    struct key    k;
    unsigned char public_key[KEY_BYTES], full[64], line[KEY_ID + SIGNATURE];
    struct sb     b = sb_in(a, 0);

    if (!sv_ends(text, SV("\n")) || utf8_invalid(text) >= 0)
        return err_set(e, ST_INVALID_SYNTAX, "a note is lines of text");
    if (read_secret(secret, &k, public_key, full, e))
        return err_code(e);
    memcpy(line, k.id, KEY_ID);
    crypto_sign_detached(line + KEY_ID, NULL, (const unsigned char *)text.s, text.n, full);
    sodium_memzero(full, sizeof full);
    sodium_memzero(&k.bytes, sizeof k.bytes);
    sb_add(&b, text);
    sb_adds(&b, "\n" DASH);
    sb_add(&b, k.name);
    sb_addc(&b, ' ');
    add_base64(&b, line, sizeof line);
    sb_addc(&b, '\n');
    *note = sb_sv(&b);
    return ST_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where the text ends: behind the last empty line that only signatures follow. */
static bool split_note(struct sv note, struct sv *text, struct sv *lines)
{
    size_t at = note.n;

    while (at >= 2 && !(note.s[at - 1] == '\n' && note.s[at - 2] == '\n'))
        at--;
    if (at < 2 || utf8_invalid(note) >= 0)
        return false;
    *text = sv_first(note, at - 1);
    *lines = sv_skip(note, at);
    return lines->n > 0;
}

/* Does this line hold a signature of the key over the text? */
static bool is_signed_by(struct sv line, const struct key *k, struct sv text)
{
    unsigned char raw[KEY_ID + SIGNATURE];

    if (!sv_starts(line, SV(DASH)))
        return false;
    struct sv_cut cut = sv_cut(sv_skip(line, sizeof DASH - 1), ' ');
    return cut.found && sv_eq(cut.head, k->name) && read_base64(cut.tail, raw, sizeof raw) &&
           memcmp(raw, k->id, KEY_ID) == 0 &&
           crypto_sign_verify_detached(raw + KEY_ID, (const unsigned char *)text.s, text.n,
                                       k->bytes) == 0;
}

enum status note_open(struct sv note, struct sv open, struct arena *a, struct sv *text,
                      struct err *e)
{
    struct key    k;
    struct sv     lines;
    unsigned char id[KEY_ID];

    (void)a;
    if (sodium_init() < 0)
        failure_system("libsodium does not start");
    if (!read_key(open, &k) || (key_id(k.name, k.bytes, id), memcmp(id, k.id, KEY_ID) != 0)) {
        err_set(e, ST_INVALID_SYNTAX, "not a public key");
        return err_hint(e, "it is name+12345678+base64, as `heddle head --new-key` prints it");
    }
    if (!split_note(note, text, &lines)) {
        err_set(e, ST_INVALID_SYNTAX, "not a signed note");
        return err_hint(e, "`heddle head --sign KEY` prints one");
    }
    for (struct sv_cut cut = { .tail = lines, .found = true }; cut.found;) {
        cut = sv_cut(cut.tail, '\n');
        if (is_signed_by(cut.head, &k, *text))
            return ST_OK;
    }
    err_set(e, ST_PERMISSION_DENIED, "the note is not signed by " SV_FMT, SV_ARG(k.name));
    return err_hint(e, "it was changed since, or another key signed it");
}
