#include "base/hash_lanes.h"
#include "base/hash_sha256.h"

#include "tap.h"

static struct arena a;

static struct sv hex(struct hash h)
{
    return hash_hex(&h, &a);
}

/* Published vectors: FIPS 180-4, RFC 4231, and b2sum -l 256. */
static void the_hashes_are_the_published_ones(void)
{
    CHECK_SV(hex(hash_sha256(SV(""))),
             SV("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    CHECK_SV(hex(hash_sha256(SV("abc"))),
             SV("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    CHECK_SV(hex(hash_hmac_sha256(SV("Jefe"), SV("what do ya want for nothing?"))),
             SV("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    CHECK_SV(hex(hash_blake2b(&SV("abc"), 1)),
             SV("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"));
    CHECK_SV(hex(hash_blake2b(NULL, 0)),
             SV("0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"));
}

static void parts_are_hashed_as_one_message(void)
{
    struct sv whole[] = { SV("abc") }, parts[] = { SV("a"), SV(""), { 0 }, SV("bc") };

    CHECK_SV(hex(hash_blake2b(parts, COUNT(parts))), hex(hash_blake2b(whole, 1)));
}

/* Every length around the ends of blocks, and every number of messages around that of the lanes. */
static void messages_in_lanes_have_the_same_hashes(void)
{
    enum { MOST = 40, LONGEST = 3 * 128 + 2 };
    hash_lanes_fn fns[] = { hash_lanes_plain, hash_lanes_best(),
#ifdef __x86_64__
                            __builtin_cpu_supports("avx2") ? hash_lanes_avx2 : NULL
#endif
    };
    unsigned char bytes[LONGEST + MOST];
    struct sv     messages[MOST];
    struct hash   got[MOST], want;
    int           wrong = 0;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256);
    for (size_t f = 0; f < COUNT(fns); f++)
        for (size_t n = 0; fns[f] && n <= LONGEST; n++) {
            size_t count = n % (MOST + 1);
            for (size_t i = 0; i < count; i++)
                messages[i] = (struct sv){ (const char *)bytes + i, (n * (i + 1)) % (LONGEST + 1) };
            fns[f](messages, count, got);
            for (size_t i = 0; i < count; i++) {
                want = hash_blake2b(&messages[i], 1);
                wrong += !hash_eq(&want, &got[i]);
            }
        }
    CHECK_INT(wrong, 0);
    hash_blake2b_each(messages, 2, got);
    want = hash_blake2b(&messages[1], 1);
    CHECK(hash_eq(&want, &got[1]));
    hash_blake2b_each(NULL, 0, NULL);
}

/* Every length around the ends of blocks, beside the parts that libsodium hashes. */
static void sha256_by_the_processor_is_that_of_libsodium(void)
{
    enum { LONGEST = 4 * 64 + 2 };
    unsigned char      bytes[LONGEST];
    struct hash        got, want;
    struct hash_sha256 parts;
    int                wrong = 0;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 59 + i / 256);
    for (size_t n = 0; n <= LONGEST; n++) {
        struct sv v = { n ? (const char *)bytes + LONGEST - n : NULL, n };
        hash_sha256_init(&parts);
        hash_sha256_add(&parts, v);
        want = hash_sha256_end(&parts);
        if (!hash_sha256_by_processor(v, &got))
            got = hash_sha256(v);
        wrong += !hash_eq(&got, &want);
    }
    CHECK_INT(wrong, 0);
}

static void hashes_compare_by_all_their_bytes(void)
{
    struct hash x = hash_sha256(SV("x")), y = x;

    CHECK(hash_eq(&x, &y));
    y.b[HASH_SIZE - 1] ^= 1;
    CHECK(!hash_eq(&x, &y));
}

static struct sv encode(struct sv v)
{
    struct sb b = sb_in(&a, 0);

    sb_add_base64url(&b, v);
    return sb_sv(&b);
}

static void base64url_has_its_own_alphabet_and_no_padding(void)
{
    CHECK_SV(encode(SV("")), SV(""));
    CHECK_SV(encode(SV("f")), SV("Zg"));
    CHECK_SV(encode(SV("fo")), SV("Zm8"));
    CHECK_SV(encode(SV("foo")), SV("Zm9v"));
    CHECK_SV(encode(SV("\xfb\xff\xfe")), SV("-__-"));
    CHECK_SV(encode(SV("\0\0")), SV("AAA"));
}

static void base64_has_padding(void)
{
    struct sb b = sb_in(&a, 0);

    sb_add_base64(&b, SV("\xfb\xff"));
    sb_addc(&b, ' ');
    sb_add_base64(&b, SV("fo"));
    sb_addc(&b, ' ');
    sb_add_base64(&b, SV(""));
    CHECK_SV(sb_sv(&b), SV("+/8= Zm8= "));
}

static void base64url_reads_back_every_length(void)
{
    char bytes[300];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 37);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct sv back = { 0 };
        CHECK(base64url_read(encode((struct sv){ bytes, n }), &a, &back));
        CHECK_SV(back, ((struct sv){ bytes, n }));
    }
    arena_free(&a);
}

static void base64url_refuses_what_is_not_exactly_it(void)
{
    static const char *const texts[] = {
        "Z",     "Zg==",  "Zg=",      "Zm9v\n",  " Zm9v",
        "Zm 9v", "Zm9vZ", "Z/8A",     "Z+8A",    "Zh", /* left-over bits that are not zero */
        "Zm9",   "Zm9v.", "\xc3\xa9", "\x9fm9v",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct sv out = SV("untouched");
        bool      ok = base64url_read(sv_of(texts[i]), &a, &out);
        if (ok)
            printf("# accepted: %s\n", texts[i]);
        CHECK(!ok);
        CHECK_SV(out, SV("untouched"));
    }
    struct sv out;
    CHECK(!base64url_read(SV("Zm9v\0"), &a, &out));
    CHECK(base64url_read((struct sv){ 0 }, &a, &out) && out.n == 0);
}

TAP_MAIN(T(the_hashes_are_the_published_ones), T(parts_are_hashed_as_one_message),
         T(messages_in_lanes_have_the_same_hashes), T(sha256_by_the_processor_is_that_of_libsodium),
         T(hashes_compare_by_all_their_bytes), T(base64url_has_its_own_alphabet_and_no_padding),
         T(base64_has_padding), T(base64url_reads_back_every_length),
         T(base64url_refuses_what_is_not_exactly_it), )
