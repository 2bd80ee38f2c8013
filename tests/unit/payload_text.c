/* The pure parts: how paths are written, language tags, secrets, scans, line numbers, the
 * budget, private addresses. */
#include "tap.h"

#include "http/url_policy.h"
#include "payload/budget.h"
#include "payload/charset.h"
#include "payload/lang.h"
#include "payload/number.h"
#include "payload/scan.h"
#include "payload/secret.h"
#include "payload/show.h"
#include "project/pattern.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

static struct arena a;

static struct sv built(void (*add)(struct sb *, struct sv), struct sv v)
{
    struct sb b = sb_in(&a, 0);

    add(&b, v);
    return sb_sv(&b);
}

static void a_path_is_written_as_it_is_or_in_quotes(void)
{
    CHECK_SV(built(sb_add_path, SV("src/a b.c")), SV("src/a b.c"));
    CHECK_SV(built(sb_add_path, SV("a\nb")), SV("\"a\\nb\""));
    CHECK_SV(built(sb_add_path, SV("\"q")), SV("\"\\\"q\""));
    CHECK_SV(built(sb_add_path, SV(" x")), SV("\" x\""));
    CHECK_SV(built(sb_add_path, SV("\xff")), SV("\"\\377\""));
    CHECK_SV(built(sb_add_path, SV("\xc2\x9b")), SV("\"\\302\\233\""));
    CHECK_SV(built(sb_add_path, SV("\xef\xbf\xbe")), SV("\"\\357\\277\\276\""));
    CHECK_SV(built(sb_add_path, SV("\xef\xbf\xbd")), SV("\xef\xbf\xbd"));
}

static void what_is_written_is_read_back(void)
{
    static const char *const odd[] = {
        "a", "a\nb", "\"", "\\", " a ", "\xff\xfe", "\x01", "a\\nb"
    };

    for (size_t i = 0; i < COUNT(odd); i++) {
        struct sv back;
        CHECK(show_unshow(built(sb_add_path, sv_of(odd[i])), &a, &back));
        CHECK_SV(back, sv_of(odd[i]));
    }
    struct sv back;
    CHECK(!show_unshow(SV("\"a"), &a, &back));
    CHECK(!show_unshow(SV("\"\\8\""), &a, &back));
    CHECK(!show_unshow(SV(""), &a, &back));
}

static void a_scheme_makes_a_url(void)
{
    CHECK(show_is_url(SV("http://h")) && show_is_url(SV("HTTPS://h/")) &&
          show_is_url(SV("ftp://h/x")) && show_is_url(SV("file:///etc")));
    CHECK(!show_is_url(SV("src/a.c")) && !show_is_url(SV("C://x")) && !show_is_url(SV("http:/x")) &&
          !show_is_url(SV("://x")) && !show_is_url(SV("a b://x")) && !show_is_url(SV("")) &&
          !show_is_url(SV("+x://")));
}

static void links_and_labels(void)
{
    CHECK_SV(built(sb_add_link, SV("src/a.c")), SV("[src/a.c](/src/a.c)"));
    CHECK_SV(built(sb_add_link, SV("a (1).c")), SV("[a (1).c](</a (1).c>)"));
    CHECK_SV(built(sb_add_link, SV("pages/[id].ts")), SV("[pages/[id].ts](</pages/[id].ts>)"));
    CHECK_SV(built(sb_add_link, SV("a]b")), SV("[a\\]b](</a]b>)"));
    CHECK_SV(built(sb_add_link, SV("https://h.example/p?q=1")),
             SV("[https://h.example/p?q=1](https://h.example/p?q=1)"));
    CHECK_SV(built(sb_add_label, SV("a b.c")), SV("`[a b.c](/a b.c)`"));
    CHECK_SV(built(sb_add_label, SV("a`b")), SV("``[a`b](/a`b)``"));
    CHECK_INT(show_backtick_run(SV("a``b````c`")), 4);
    CHECK_INT(show_backtick_run(SV("")), 0);
}

static void language_tags(void)
{
    static const struct {
        const char *path, *tag;
    } rows[] = {
        { "Makefile", "text" },    { "a.h", "c" },
        { "a.cfg", "ini" },        { "a.csv", "csv" },
        { "a.ps1", "powershell" }, { "UP.PY", "python" },
        { ".env", "text" },        { "a.md", "markdown" },
        { "dir.d/file", "text" },  { "x.tar.gz", "gz" },
        { "a.b c", "text" },       { "a.b`", "text" },
        { "a.", "text" },          { "s.bash", "shell" },
        { "a.go", "go" },          { "a.yml", "yaml" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_SV(lang_of_path(sv_of(rows[i].path), &a), sv_of(rows[i].tag));
    CHECK_SV(lang_of_url(SV("https://h/p"), SV("text/html; charset=utf-8"), &a), SV("html"));
    CHECK_SV(lang_of_url(SV("https://h/a.py?x=.js#f.c"), SV("text/plain"), &a), SV("python"));
    CHECK_SV(lang_of_url(SV("https://h.example"), SV(""), &a), SV("text"));
    CHECK_SV(lang_of_url(SV("https://h/x"), SV("application/ld+json"), &a), SV("json"));
}

static const char *secret_in(const char *text)
{
    size_t at = 0;

    return secret_find(sv_of(text), &at);
}

/* Put together here, so that no scanner takes this file for a leak. */
static const char *joined(const char *x, const char *y)
{
    struct sb b = sb_in(&a, 0);

    sb_addf(&b, "some text before it, long enough for a block: %s%s and after", x, y);
    return sb_sv(&b).s;
}

static void secrets_are_known_by_their_shapes(void)
{
    const char *tail = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6A7b8C9d0E1f2G3h4";
    static const char *const starts[] = { "ghp_",     "gho_",     "github_pat_", "glpat-",
                                          "xoxb-",    "sk-ant-",  "sk-proj-",    "sk-",
                                          "sk_live_", "rk_live_", "npm_",        "AKIA",
                                          "ASIA",     "AIza",     "AccountKey=", "SG.",
                                          "hf_" };

    for (size_t i = 0; i < COUNT(starts); i++) {
        if (!secret_in(joined(starts[i], tail)))
            printf("# missed %s\n", starts[i]);
        CHECK(secret_in(joined(starts[i], tail)) != NULL);
        CHECK(secret_in(joined(starts[i], "")) == NULL);
        CHECK(secret_in(joined(starts[i],
                               "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                               "xxxxxxxx")) == NULL);
    }
    CHECK(secret_in(joined("-----BEGIN RSA PRIVATE", " KEY-----\nMIIEpAIBAAKCAQEA7bq2\n")) != NULL);
    CHECK(secret_in(joined("-----BEGIN RSA PRIVATE", " KEY-----\" is a header")) == NULL);
    CHECK(secret_in(joined("-----BEGIN PUBLIC", " KEY-----\nMIIEpAIBAAKCAQEA7bq2\n")) == NULL);
    CHECK(secret_in(joined("task-", tail)) == NULL); /* within a word */
    /* a service account's file, an indented one, one of PGP; prose; the example of a manual */
    CHECK(
        secret_in(joined("{\"key\":\"-----BEGIN PRIVATE", " KEY-----\\nMIIEpAIBAAKCAQEA7bq2\\n")));
    CHECK(secret_in(joined("  -----BEGIN EC PRIVATE", " KEY-----\r\n  MIIEpAIBAAKCAQEA7bq2\r\n")));
    CHECK(secret_in(joined("-----BEGIN PGP PRIVATE", " KEY BLOCK-----\n\nlQOYBF2rVbEBCADN7bq2\n")));
    CHECK(
        !secret_in(joined("-----BEGIN PRIVATE", " KEY----- is what the first line looks like\n")));
    CHECK(!secret_in(joined("AKIA", "IOSFODNN7EXAMPLE")));
}

/* One of each kind, in two halves, so that no scanner takes this file for a leak. */
static void the_kinds_of_secrets_that_leak(void)
{
    static const char *const leaks[][2] = {
        { "aws_secret_access_key = wJalrXUtn3EMI/K7", "MDENG/bPxRfiCYz9xB2kLQ+a" },
        { "AWS_SECRET_ACCESS_KEY=wJalrXUtn3EMI/K7", "MDENG/bPxRfiCYz9xB2kLQ+a" },
        { "\"secretAccessKey\": \"wJalrXUtn3EMI/K7", "MDENG/bPxRfiCYz9xB2kLQ+a\"" },
        { "git clone https://ana:", "S3cr3tPhrase9@git.corp.net/x.git" },
        { "DATABASE_URL=postgres://app:", "hV8kQ2mZ@db.internal:5432/prod" },
        { "mongodb+srv://svc:", "q1w2e3r4t5@cluster0.mongodb.net" },
        { "redis://:", "b7Xk29fQpL@cache:6379/0" },
        { "https://hooks.slack.com/services/T0", "2AB3CD4/B05EF6GH7/a1B2c3D4e5F6g7H8i9J0k1L2" },
        { "https://discord.com/api/webhooks/1098765432",
          "10987654/aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
          "A5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5x" },
        { "\"-----BEGIN RSA PRIVATE",
          " KEY-----\\n\"\n    "
          "\"MIIEpAIBAAKCAQEA7bq2x9Jf3kLmN8pQrS5tUvWxYz0123456789ab\\n\"" },
        { "pypi-AgEIcHlwaS5vcmcCJD",
          "k4ZTQ3ZjY2LTg1YjItNDYxMC1hNWQ4LWE4ZjY3YzQ5MmE3OAACKlszLCJmM2Q5" },
        { "dckr_pat_", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU" },
        { "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
          "eyJ1aWQiOjQyLCJyb2xlIjoiYWRtaW4ifQ.dBjftJeZ4CVPmB92"
          "K27uhbUJU1p1rwW1gFWFOEjXk3q" },
        { "sk_test_", "51H8aB3dE5fG7hJ9kL1mN3pQ5r" },
        { "whsec_", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1x" },
        { "sk-or-v1-", "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9" },
        { "hvs.", "CAESIJ9kL1mN3pQ5rS7tU9vW1xY3zA5b" },
        { "AGE-SECRET-KEY-1", "QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQ3K7W9" },
        { "{\"auths\":{\"r.io\":{\"auth\": \"", "YW5hOlMzY3IzdFBocmFzZTk=\"}}}" },
        { "Authorization: Bearer ", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9" },
        { "curl -H 'Authorization: Basic ", "YW5hOlMzY3IzdFBocmFzZTk='" },
        { "//registry.npmjs.org/:_authToken=", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9" },
        { "GOCSPX-", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9" },
        { "glrt-", "7aB3dE5fG7hJ9kL1mN3p" },
        { "xapp-1-A02AB3CD4-", "1098765432-a1b2c3d4e5f6" },
        { "shpat_", "0a1b2c3d4e5f60718293a4b5c6d7e8f9" },
        { "dop_v1_", "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9" },
        { "NRAK-", "7AB3DE5FG7HJ9KL1MN3PQ5RS7TU" },
        { "dapi", "0a1b2c3d4e5f60718293a4b5c6d7e8f9" },
        { "key-", "0a1b2c3d4e5f60718293a4b5c6d7e8f9" },
        { "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "-us12" },
        { "1098765432", ":AAF7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1x" },
        { "Q1x", "8Q~7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY" },
        { "tskey-auth-", "k7aB3dE5CNTRL-fG7hJ9kL1mN3p" },
        { "gsk_", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5" },
        { "lin_api_", "7aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7" },
    };
    static const char *const harmless[] = {
        "https://user:password@example.com/",
        "postgres://user:pass@localhost/db",
        "https://${USER}:${TOKEN1}@host/",
        "http://%s:%d@host2",
        "https://example.com:8080/a@b1c2d3",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_123",
        "bearer of the message 12 and other things",
        "aws_secret_access_key = os.environ['X1']",
        "\"auth\": \"none-required-here-1234\"",
        "sha256~",
        "-----BEGIN RSA PRIVATE KEY-----\";\n    const int the_next_line_of_code = 12345;\n",
        "machine example.com login ana password x",
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "pypi-some-package-with-a-very-long-name-that-goes-on-and-on-and-on-for-ever-and-ever",
    };

    for (size_t i = 0; i < COUNT(leaks); i++)
        if (!secret_in(joined(leaks[i][0], leaks[i][1]))) {
            printf("# missed %s\n", leaks[i][0]);
            FAIL("a secret passed");
        }
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (secret_in(joined(harmless[i], ""))) {
            printf("# %s: %s\n", harmless[i], secret_in(joined(harmless[i], "")));
            FAIL("taken for a secret");
        }
}

static void some_files_are_secrets_by_their_names(void)
{
    static const char *const names[] = { "id_rsa",           "x/id_ed25519",       ".netrc",
                                         ".aws/credentials", "a/.git-credentials", "server.pem",
                                         ".pgpass",          ".docker/config.json" };
    static const char *const others[] = { "id_rsa.pub",  "netrc", "credentials",
                                          "config.json", "pem",   "a.key" };
    size_t                   at;

    for (size_t i = 0; i < COUNT(names); i++)
        CHECK(secret_find_in_file(sv_of(names[i]), SV("some words\n"), &at) && at == 0);
    for (size_t i = 0; i < COUNT(names); i++)
        CHECK(!secret_find_in_file(sv_of(names[i]), SV(" \n"), &at));
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK(!secret_find_in_file(sv_of(others[i]), SV("some words\n"), &at));
    CHECK(!secret_find_in_file(SV("ca.pem"), SV("-----BEGIN CERTIFICATE-----\nMIIB\n"), &at));
    CHECK(secret_find_in_file(SV("config/master.key"), SV("0123456789abcdef0123456789abcdef\n"),
                              &at));
    CHECK(secret_find_in_file(SV("git:diff"),
                              SV("diff --git a/.netrc b/.netrc\n--- a/.netrc\n+++ "
                                 "b/.netrc\n@@ -1 +1 @@\n+machine x\n"),
                              &at));
}

static void a_secret_in_a_url_has_a_place(void)
{
    struct sv url = SV("https://ana:pw@host.example/x");
    size_t    from, to;

    CHECK(secret_find_in_url(url, &from, &to) != NULL);
    CHECK_SV(((struct sv){ url.s + from, to - from }), SV("pw"));
    CHECK(secret_find_in_url(SV("https://ana@host.example/x:y@z"), &from, &to) == NULL);
    url = sv_of(joined("https://h.example/?key=ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8&x=1"));
    CHECK(secret_find_in_url(url, &from, &to) != NULL && sv_starts(sv_skip(url, to), SV("&x=1")));
}

static void values_of_environment_files_are_secrets(void)
{
    size_t at;

    CHECK(secret_find_in_file(SV("x/.env"), SV("# c\nKEY=\nPASS=abc\n"), &at) != NULL);
    CHECK_INT(at, 9);
    CHECK(secret_find_in_file(SV(".env.local"), SV("A=1\n"), &at) != NULL);
    CHECK(secret_find_in_file(SV(".env.example"), SV("A=1\n"), &at) == NULL);
    CHECK(secret_find_in_file(SV(".env"), SV("# A=1\nB=\nC=\"\"\n"), &at) == NULL);
    CHECK(secret_find_in_file(SV("a.sh"), SV("A=1\n"), &at) == NULL);
    struct sv diff =
        SV("diff --git a/a.sh b/a.sh\n--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n+A=1\n"
           "diff --git a/.env b/.env\n--- a/.env\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-B=\n-C=2\n");
    CHECK(secret_find_in_file(SV("git:diff"), diff, &at) != NULL);
    CHECK_INT(at, sv_find(diff, SV("-C=2")));
    CHECK(secret_find_in_file(SV("x.patch"), diff, &at) != NULL);
    CHECK(secret_find_in_file(SV("git:diff"), sv_first(diff, at), &at) == NULL);
}

/* The same answer in one piece and in parts of every length. */
static void a_scan_in_parts_is_a_scan(void)
{
    struct sv         text = SV("a ``` b\n`````` c\n"
                                        "ghp_"
                                        "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 \xc3\xa9 ````````\n");
    struct scan_found whole = { .path = SV("x") };

    scan_text(&whole, text, NULL, true, true);
    CHECK_INT(whole.run, 8);
    CHECK(whole.secret && whole.secret_line == 3);
    for (size_t n = 1; n < text.n; n++) {
        struct scan_found s = { .path = SV("x") };
        CHECK(scan_begin(&s, NULL, true, true));
        for (struct sv rest = text; rest.n;) {
            size_t take = n < rest.n ? n : rest.n;
            while (take < rest.n && ((unsigned char)rest.s[take] & 0xc0) == 0x80)
                take++; /* between characters */
            scan_add(&s, sv_first(rest, take));
            rest = sv_skip(rest, take);
        }
        scan_end(&s);
        CHECK_INT(s.run, whole.run);
        CHECK(s.size == whole.size && s.last == '\n' && !s.is_invalid && !s.has_nul);
        CHECK(hash_eq(&s.sha256, &whole.sha256));
        if (n >= 2)
            CHECK(s.secret && s.secret_line == 3);
    }
}

static void what_is_no_text_is_seen(void)
{
    struct scan_found nul = { 0 }, bad = { 0 }, empty = { 0 };

    scan_text(&nul, SV("a\0b"), NULL, false, true);
    scan_text(&bad, SV("0123456789012345678901234567890123456789\xff"), NULL, false, true);
    scan_text(&empty, SV(""), NULL, false, true);
    CHECK(nul.has_nul && !nul.is_invalid);
    CHECK(bad.is_invalid && !bad.has_nul);
    CHECK(!empty.has_nul && !empty.is_invalid && empty.size == 0 && empty.last == 0);
    for (int hash = 0; hash < 2; hash++) { /* reading on is for the hash alone */
        struct scan_found parts = { .path = SV("x") };
        CHECK(scan_begin(&parts, NULL, hash, true));
        scan_add(&parts, SV("text"));
        CHECK(scan_wants_more(&parts));
        scan_add(&parts, SV("\0"));
        CHECK(scan_wants_more(&parts) == hash);
        scan_end(&parts);
    }
}

static void lines_are_numbered_across_parts(void)
{
    struct number n = { 0 };
    struct sb     b = sb_in(&a, 0);

    number_add(&n, &b, SV("a\nb"));
    number_add(&n, &b, SV("c\n"));
    number_add(&n, &b, SV("d"));
    CHECK_SV(sb_sv(&b), SV("   1: a\n   2: bc\n   3: d"));
}

static void numbers_are_taken_away_again(void)
{
    const struct sv texts[] = { SV("a\nb"), SV("a\r\n\n\n"), SV(""), SV("\n"), SV("   1: a\n") };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct sb     b = sb_in(&a, 0);
        struct number n = { 0 };
        number_add(&n, &b, texts[i]);
        CHECK_SV(number_removed(sb_sv(&b), &a), texts[i]);
    }
    CHECK(!number_removed(SV("   1: a\n   3: b\n"), &a).s);
    CHECK(!number_removed(SV("text\n"), &a).s);
}

static void the_budget_cuts_global_first_and_the_largest_first(void)
{
    struct budget_item items[] = {
        { .rank = 0, .tokens = 500, .note = 5 },  { .rank = -1, .tokens = 100, .note = 5 },
        { .rank = -1, .tokens = 300, .note = 5 }, { .rank = -2, .tokens = 50, .note = 5 },
        { .rank = -2, .tokens = 3, .note = 5 },
    };

    CHECK_INT(budget_apply(items, 5, 100, 2000, &a), 1053);
    for (size_t i = 0; i < 5; i++)
        CHECK(!items[i].cut);
    CHECK_INT(budget_apply(items, 5, 100, 1010, &a), 1008);
    CHECK(items[3].cut && !items[4].cut && !items[2].cut); /* 4 is smaller than its note */
    for (size_t i = 0; i < 5; i++)
        items[i].cut = false;
    CHECK_INT(budget_apply(items, 5, 100, 720, &a), 713);
    CHECK(items[3].cut && items[2].cut && !items[1].cut && !items[0].cut);
    for (size_t i = 0; i < 5; i++)
        items[i].cut = false;
    CHECK_INT(budget_apply(items, 5, 100, 1, &a), 123);
    CHECK(items[0].cut && items[1].cut && items[2].cut && items[3].cut);
}

static void what_was_cut_and_fits_comes_back(void)
{
    struct budget_item items[] = {
        { .rank = 0, .tokens = 5000, .note = 5 }, /* can never fit */
        { .rank = 0, .tokens = 40, .note = 5 },   { .rank = -1, .tokens = 100, .note = 5 },
        { .rank = -2, .tokens = 300, .note = 5 }, { .rank = -2, .tokens = 900, .note = 5 },
    };

    CHECK_INT(budget_apply(items, 5, 100, 600, &a), 100 + 5 + 40 + 100 + 300 + 5);
    CHECK(items[0].cut && !items[1].cut && !items[2].cut && !items[3].cut && items[4].cut);
    CHECK_INT(budget_put_back(items, 5, 550, 1500, &a), 550 + 895);
    CHECK(items[0].cut && !items[4].cut);
}

static bool is_private(const char *text)
{
    struct sockaddr_storage s = { 0 };
    struct sockaddr_in     *v4 = (struct sockaddr_in *)&s;
    struct sockaddr_in6    *v6 = (struct sockaddr_in6 *)&s;

    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        s.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        s.ss_family = AF_INET6;
    return http_address_is_private((struct sockaddr *)&s);
}

static void private_addresses_in_all_their_forms(void)
{
    static const char *const private[] = {
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::7f00:1",
        "192.0.2.1",
        "198.51.100.7",
        "203.0.113.255",
        "192.88.99.1",
        "64:ff9b:1::808:808",
        "::ffff:0:8.8.8.8",
        "2001::1",
        "2001:0:53aa:64c::1",
        "2001:2::1",
        "2001:20::1",
        "2001:db8::1",
        "3fff:1::1",
        "5f00::1",
        "100::1",
        "100:0:0:1::1",
        "::808:808",
        "4000::1",
        "2606:4700::5efe:7f00:1",
    };
    static const char *const public[] = { "1.1.1.1",        "8.8.8.8",         "172.32.0.1",
                                          "100.128.0.1",    "2606:4700::1111", "::ffff:8.8.8.8",
                                          "2002:808:808::", "2a00:1450::1",    "192.31.196.1",
                                          "2620:4f:8000::1" };

    for (size_t i = 0; i < COUNT(private); i++)
        if (!is_private(private[i])) {
            printf("# %s\n", private[i]);
            FAIL("taken for public");
        }
    for (size_t i = 0; i < COUNT(public); i++)
        if (is_private(public[i])) {
            printf("# %s\n", public[i]);
            FAIL("taken for private");
        }
}

static enum address_kind kind_of(const char *text)
{
    struct sockaddr_storage s = { 0 };

    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&s)->sin_addr) == 1)
        s.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&s)->sin6_addr) == 1)
        s.ss_family = AF_INET6;
    return address_kind_of((struct sockaddr *)&s);
}

static void metadata_services_are_never_allowed(void)
{
    static const char *const all[] = {
        "169.254.169.254",    "169.254.170.2",    "100.100.100.200",
        "168.63.129.16",      "192.0.0.192",      "fd00:ec2::254",
        "fd20:ce::254",       "fe80::a9fe:a9fe",  "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::ffff:0:169.254.169.254"
    };

    for (size_t i = 0; i < COUNT(all); i++)
        if (kind_of(all[i]) != ADDRESS_METADATA) {
            printf("# %s\n", all[i]);
            FAIL("allowed");
        }
    CHECK(kind_of("127.0.0.1") == ADDRESS_PRIVATE && kind_of("8.8.8.8") == ADDRESS_PUBLIC);
}

static void a_host_says_what_it_is(void)
{
    CHECK(address_kind_of_host(SV("http://127.0.0.1/")) == ADDRESS_PRIVATE);
    CHECK(address_kind_of_host(SV("http://2130706433")) == ADDRESS_PRIVATE);
    CHECK(address_kind_of_host(SV("http://0x7f.1:80/")) == ADDRESS_PRIVATE);
    CHECK(address_kind_of_host(SV("https://a@LocalHost.?x")) == ADDRESS_PRIVATE);
    CHECK(address_kind_of_host(SV("http://8.8.8.8@[::1]:80/")) == ADDRESS_PRIVATE);
    CHECK(address_kind_of_host(SV("http://169.254.169.254/latest")) == ADDRESS_METADATA);
    CHECK(address_kind_of_host(SV("http://h.example/127.0.0.1")) == ADDRESS_PUBLIC);
}

static void other_encodings_become_utf8(void)
{
    char      name[CHARSET_NAME_MAX];
    struct sv out;

    CHECK(charset_declared(SV("\xff\xfe"
                              "a\0"),
                           (struct sv){ 0 }, name) &&
          sv_is(sv_of(name), "UTF-16"));
    CHECK(charset_convert(SV("\xff\xfe"
                             "a\0\xe9\0"),
                          name, &out));
    CHECK_SV(out, SV("a\xc3\xa9"));
    free((void *)(uintptr_t)out.s);
    CHECK(charset_declared(SV("x"), SV("text/html; charset=\"ISO-8859-1\""), name));
    CHECK(charset_convert(SV("caf\xe9 \x80"), name, &out));
    CHECK_SV(out, SV("caf\xc3\xa9 \xe2\x82\xac"));
    free((void *)(uintptr_t)out.s);
    CHECK(charset_declared(SV("# -*- coding: euc-jp -*-\n"), (struct sv){ 0 }, name) &&
          sv_is(sv_of(name), "euc-jp"));
    CHECK(charset_declared(SV("<html><meta charset=shift_jis>"), SV("text/html"), name));
    CHECK(charset_declared(SV("<?xml version='1.0' encoding='KOI8-R'?>"), SV(""), name));
    CHECK(!charset_declared(SV("# coding: utf-8\n"), (struct sv){ 0 }, name));
    CHECK(!charset_declared(SV("plain"), (struct sv){ 0 }, name));
    CHECK(!charset_convert(SV("a"), "no-such-charset", &out));
    CHECK(!charset_convert(SV("\xff\xff"), "euc-jp", &out));
}

static struct sv expanded(const char *pattern)
{
    pattern_list all = { 0 };
    struct err   e;
    struct sb    b = sb_in(&a, 0);

    if (pattern_expand(sv_of(pattern), &a, &all, &e))
        return sv_dup(sv_of(e.text), &a);
    for (size_t i = 0; i < all.n; i++) {
        sb_adds(&b, i ? " " : "");
        sb_add(&b, all.v[i]);
    }
    return sb_sv(&b);
}

static void patterns_are_taken_apart(void)
{
    pattern_list p = pattern_split(SV("a,{b,c},d\\,e,[,],,f"), &a);
    struct sv    out;
    struct err   e;

    CHECK_INT(p.n, 5);
    CHECK_SV(p.v[1], SV("{b,c}"));
    CHECK_SV(p.v[2], SV("d\\,e"));
    CHECK_SV(p.v[3], SV("[,]"));
    CHECK_SV(expanded("x.{c,h}"), SV("x.c x.h"));
    CHECK_SV(expanded("{a,b}{1,2}"), SV("a1 a2 b1 b2"));
    CHECK_SV(expanded("{a,{b,c}d}"), SV("a bd cd"));
    CHECK_SV(expanded("{a}{b"), SV("{a}{b"));
    CHECK_SV(expanded("\\{a,b}"), SV("\\{a,b}"));
    CHECK_SV(expanded("{,x}y"), SV("y xy"));
    CHECK(sv_find(expanded("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
                  SV("1024")) >= 0);
    CHECK(pattern_from(SV("./x/../y"), SV("d"), &a, &out, &e) == ST_OK);
    CHECK_SV(out, SV("/d/y"));
    CHECK(pattern_from(SV("!../z/"), SV("d"), &a, &out, &e) == ST_OK);
    CHECK_SV(out, SV("!/z/"));
    CHECK(pattern_from(SV("../../z"), SV("d"), &a, &out, &e) == ST_INVALID_SYNTAX);
}

/* Wherever it stands in a text: at its start, across two blocks of the scan, at its very end. */
static void a_secret_is_found_at_every_place(void)
{
    char   token[64], text[256];
    size_t len =
        (size_t)snprintf(token, sizeof token, " gh%s ", "p_0123456789abcdefghijABCDEFGHIJklmnop");

    for (size_t n = len; n < sizeof text; n += 29)
        for (size_t i = 0; i + len <= n; i++) {
            size_t at = 0;
            memset(text, 'g', sizeof text);
            CHECK(!secret_find((struct sv){ text, n }, &at));
            memcpy(text + i, token, len);
            CHECK(secret_find((struct sv){ text, n }, &at) && at == i + 1);
        }
}

TAP_MAIN(T(a_secret_is_found_at_every_place), T(a_path_is_written_as_it_is_or_in_quotes),
         T(what_is_written_is_read_back), T(a_scheme_makes_a_url), T(links_and_labels),
         T(language_tags), T(secrets_are_known_by_their_shapes),
         T(values_of_environment_files_are_secrets), T(the_kinds_of_secrets_that_leak),
         T(some_files_are_secrets_by_their_names), T(a_secret_in_a_url_has_a_place),
         T(metadata_services_are_never_allowed), T(a_host_says_what_it_is),
         T(other_encodings_become_utf8), T(patterns_are_taken_apart), T(a_scan_in_parts_is_a_scan),
         T(what_is_no_text_is_seen), T(lines_are_numbered_across_parts),
         T(numbers_are_taken_away_again), T(the_budget_cuts_global_first_and_the_largest_first),
         T(what_was_cut_and_fits_comes_back), T(private_addresses_in_all_their_forms), )
