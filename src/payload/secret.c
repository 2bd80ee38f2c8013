/* Secrets by their shapes. One pass looks for three bytes of each shape's fixed text with a few
 * byte shuffles for 32 places at a time, however many shapes there are; what that lets through is
 * looked up in a table, and only then is the shape itself checked. */
#include "payload/secret.h"

#include "base/path.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <pthread.h>
#include <string.h>

struct shape;
typedef bool shape_check(const struct shape *s, struct sv text, size_t at);

/* A token is a fixed start and then at least `min` bytes of its alphabet: letters, digits
 * and `more`. Others have a check of their own. */
struct shape {
    const char  *start, *what;
    size_t       min;
    const char  *more;
    shape_check *check; /* NULL: as above */
};

static shape_check is_private_key, is_putty_key, is_url_password, is_jwt, is_aws_secret, is_bearer,
    is_basic, is_docker_auth, is_hex_token, is_mailchimp_key, is_telegram_token, is_azure_secret,
    is_mixed_token;

/* clang-format off */
static const struct shape shapes[] = {
    { "-----BEGIN ",     "private key",              0, "",      is_private_key },
    { "PuTTY-User-Key-File-", "private key",         0, "",      is_putty_key },
    { "AGE-SECRET-KEY-1", "age key",                50, "",      NULL },
    { "://",             "password in a URL",        0, "",      is_url_password },
    { "AKIA",            "AWS access key",          16, "",      NULL },
    { "ASIA",            "AWS access key",          16, "",      NULL },
    { "ecret_access_key", "AWS secret key",         40, "/+",    is_aws_secret },
    { "ECRET_ACCESS_KEY", "AWS secret key",         40, "/+",    is_aws_secret },
    { "ecretAccessKey",  "AWS secret key",          40, "/+",    is_aws_secret },
    { "AIza",            "Google API key",          35, "-_",    NULL },
    { "GOCSPX-",         "Google client secret",    28, "-_",    NULL },
    { "ya29.",           "Google token",            50, "-_.",   is_mixed_token },
    { "ghp_",            "GitHub token",            36, "",      NULL },
    { "gho_",            "GitHub token",            36, "",      NULL },
    { "ghs_",            "GitHub token",            36, "",      NULL },
    { "ghu_",            "GitHub token",            36, "",      NULL },
    { "ghr_",            "GitHub token",            36, "",      NULL },
    { "github_pat_",     "GitHub token",            59, "_",     NULL },
    { "glpat-",          "GitLab token",            20, "-_",    NULL },
    { "gldt-",           "GitLab token",            20, "-_",    is_mixed_token },
    { "glrt-",           "GitLab token",            20, "-_",    is_mixed_token },
    { "glptt-",          "GitLab token",            40, "-_",    NULL },
    { "glcbt-",          "GitLab token",            20, "-_",    is_mixed_token },
    { "glsoat-",         "GitLab token",            20, "-_",    is_mixed_token },
    { "glft-",           "GitLab token",            20, "-_",    is_mixed_token },
    { "gloas-",          "GitLab token",            40, "-_",    is_mixed_token },
    { "ATATT3",          "Atlassian token",        100, "-_=",   NULL },
    { "ATBB",            "Bitbucket token",         32, "",      NULL },
    { "xoxb-",           "Slack token",             20, "-",     NULL },
    { "xoxp-",           "Slack token",             20, "-",     NULL },
    { "xoxa-",           "Slack token",             20, "-",     NULL },
    { "xoxr-",           "Slack token",             20, "-",     NULL },
    { "xoxs-",           "Slack token",             20, "-",     NULL },
    { "xoxe.",           "Slack token",             20, "-.",    NULL },
    { "xapp-",           "Slack token",             20, "-",     is_mixed_token },
    { "hooks.slack.com/services/", "Slack webhook", 40, "/",     NULL },
    { "/api/webhooks/",  "Discord webhook",         60, "/-_",   is_mixed_token },
    { ":AA",             "Telegram token",          33, "-_",    is_telegram_token },
    { "sk-ant-",         "Anthropic API key",       32, "-_",    NULL },
    { "sk-proj-",        "OpenAI API key",          32, "-_",    NULL },
    { "sk-svcacct-",     "OpenAI API key",          32, "-_",    NULL },
    { "sk-or-v1-",       "OpenRouter key",          40, "",      NULL },
    { "sk-",             "API key",                 40, "",      NULL },
    { "gsk_",            "Groq key",                48, "",      NULL },
    { "xai-",            "xAI key",                 70, "",      NULL },
    { "pplx-",           "Perplexity key",          40, "",      NULL },
    { "r8_",             "Replicate token",         37, "",      NULL },
    { "hf_",             "Hugging Face token",      34, "",      NULL },
    { "sk_live_",        "Stripe key",              20, "",      NULL },
    { "rk_live_",        "Stripe key",              20, "",      NULL },
    { "sk_test_",        "Stripe key",              20, "",      is_mixed_token },
    { "rk_test_",        "Stripe key",              20, "",      is_mixed_token },
    { "whsec_",          "webhook secret",          32, "+/=",   NULL },
    { "sq0atp-",         "Square token",            22, "-_",    NULL },
    { "sq0csp-",         "Square secret",           43, "-_",    NULL },
    { "shpat_",          "Shopify token",           32, "",      NULL },
    { "shpca_",          "Shopify token",           32, "",      NULL },
    { "shppa_",          "Shopify token",           32, "",      NULL },
    { "shpss_",          "Shopify secret",          32, "",      NULL },
    { "npm_",            "npm token",               36, "",      NULL },
    { "_authToken=",     "npm token",               20, "-_.+/=", is_mixed_token },
    { "pypi-",           "PyPI token",              60, "-_",    is_mixed_token },
    { "rubygems_",       "RubyGems key",            48, "",      NULL },
    { "dckr_pat_",       "Docker token",            20, "-_",    NULL },
    { "\"auth\"",        "Docker login",             0, "",      is_docker_auth },
    { "hvs.",            "Vault token",             24, "-_",    is_mixed_token },
    { "hvb.",            "Vault token",             24, "-_",    is_mixed_token },
    { "dop_v1_",         "DigitalOcean token",      64, "",      NULL },
    { "doo_v1_",         "DigitalOcean token",      64, "",      NULL },
    { "dor_v1_",         "DigitalOcean token",      64, "",      NULL },
    { "HRKU-",           "Heroku key",              36, "-_",    NULL },
    { "lin_api_",        "Linear key",              40, "",      NULL },
    { "secret_",         "Notion token",            43, "",      is_mixed_token },
    { "ntn_",            "Notion token",            40, "",      is_mixed_token },
    { "figd_",           "Figma token",             40, "-_",    NULL },
    { "PMAK-",           "Postman key",             59, "-",     NULL },
    { "glsa_",           "Grafana token",           40, "_",     NULL },
    { "glc_",            "Grafana token",           60, "+/=",   is_mixed_token },
    { "NRAK-",           "New Relic key",           27, "",      NULL },
    { "dapi",            "Databricks token",        32, "",      is_hex_token },
    { "key-",            "Mailgun key",             32, "",      is_hex_token },
    { "-us",             "Mailchimp key",            0, "",      is_mailchimp_key },
    { "SG.",             "SendGrid key",            60, "._-",   NULL },
    { "xkeysib-",        "Brevo key",               64, "-",     NULL },
    { "AccountKey=",     "Azure storage key",       64, "+/=",   NULL },
    { "SharedAccessKey=", "Azure access key",       40, "+/=",   NULL },
    { "8Q~",             "Azure client secret",     31, "-_.~",  is_azure_secret },
    { "sntrys_",         "Sentry token",            60, "+/=_-", NULL },
    { "sntryu_",         "Sentry token",            64, "",      NULL },
    { "sbp_",            "Supabase token",          40, "",      is_mixed_token },
    { "sb_secret_",      "Supabase key",            30, "-_",    is_mixed_token },
    { "pscale_tkn_",     "PlanetScale token",       30, "-_.",   NULL },
    { "pscale_pw_",      "PlanetScale password",    30, "-_.",   NULL },
    { "dp.pt.",          "Doppler token",           40, "",      NULL },
    { "dp.st.",          "Doppler token",           40, "._-",   is_mixed_token },
    { "fm2_",            "Fly token",               80, "+/=",   NULL },
    { "tskey-",          "Tailscale key",           20, "-",     is_mixed_token },
    { "pul-",            "Pulumi token",            40, "",      is_hex_token },
    { "CFPAT-",          "Contentful token",        43, "-_",    NULL },
    { "dt0c01.",         "Dynatrace token",         80, ".",     NULL },
    { "AKCp",            "Artifactory token",       60, "",      NULL },
    { "sha256~",         "OpenShift token",         43, "-_",    is_mixed_token },
    { "bkua_",           "Buildkite token",         40, "",      NULL },
    { "CCIPAT_",         "CircleCI token",          40, "_",     NULL },
    { "shippo_live_",    "Shippo token",            40, "",      NULL },
    { "sk.eyJ",          "Mapbox token",            60, "._-",   NULL },
    { "eyJ",             "JSON web token",           0, "",      is_jwt },
    { "earer ",          "bearer token",            20, "-._~+/=", is_bearer },
    { "uthorization: Basic ", "basic authorization", 8, "+/=",   is_basic },
};
/* clang-format on */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_in(char c, const char *more)
{
    return is_alnum(c) || (c && strchr(more, c));
}

static size_t run_of(struct sv v, const char *more)
{
    size_t n = 0;

    while (n < v.n && is_in(v.s[n], more))
        n++;
    return n;
}

static size_t hex_run(struct sv v)
{
    size_t n = 0;

    while (n < v.n && (is_digit(v.s[n]) || (v.s[n] >= 'a' && v.s[n] <= 'f')))
        n++;
    return n;
}

static bool holds_word(struct sv v, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= v.n; i++)
        if (strncasecmp(v.s + i, word, n) == 0)
            return true;
    return false;
}

/* A run of one letter or of x is a placeholder in a document, and what ends with EXAMPLE is one
 * that a vendor's manual uses. */
static bool is_real(struct sv v)
{
    unsigned seen = 0, kinds = 0;

    for (size_t i = 0; i < v.n; i++) {
        unsigned bit = 1u << ((unsigned char)v.s[i] & 31);
        kinds += !(seen & bit);
        seen |= bit;
    }
    return kinds >= 6 && !sv_ends(v, SV("EXAMPLE"));
}

/* Letters and digits in a mixture that no identifier and no sentence has. */
static bool is_mixed(struct sv v)
{
    static const char *const words[] = { "example", "xxxx",    "your",  "placeholder",
                                         "....",    "abcdefg", "token", "secret" };
    size_t                   digits = 0, letters = 0, changes = 0;

    for (size_t i = 0; i < v.n; i++) {
        digits += is_digit(v.s[i]);
        letters += is_alnum(v.s[i]) && !is_digit(v.s[i]);
        changes += i && is_digit(v.s[i]) != is_digit(v.s[i - 1]);
    }
    for (size_t i = 0; i < COUNT(words); i++)
        if (holds_word(v, words[i]))
            return false;
    return digits >= 2 && letters >= 4 && changes >= 3 && is_real(v);
}

/* ---- shapes with a check of their own -------------------------------------------------- */

static struct sv behind(const struct shape *s, struct sv text, size_t at)
{
    return sv_skip(text, at + strlen(s->start));
}

static bool starts_a_word(struct sv text, size_t at)
{
    return !at || !(is_alnum(text.s[at - 1]) || text.s[at - 1] == '_');
}

/* Past line ends and what stands around the lines of a string: indentation, quotes, operators,
 * comments; a line end may be spelled as in a string of JSON. False: there was no line end.
 * *quoted: more than blanks was passed. */
static bool skip_to_next_line(struct sv *v, bool *quoted)
{
    bool ended = false;

    while (v->n) {
        size_t spelled = sv_starts(*v, SV("\\n")) || sv_starts(*v, SV("\\r")) ? 2 : 0;
        bool   blank = strchr(" \t\r\n", v->s[0]) && v->s[0];
        if (!spelled && !blank && (!v->s[0] || !strchr("\"'`+,;\\.#*|>", v->s[0])))
            break;
        ended = ended || spelled || v->s[0] == '\n';
        *quoted = *quoted || (!spelled && !blank);
        *v = sv_skip(*v, spelled ? spelled : 1);
    }
    return ended;
}

/* -----BEGIN RSA PRIVATE KEY----- (or PRIVATE KEY BLOCK-----) and then base64: a line of it, so
 * that code which only names the header is not a key. */
static bool is_private_key(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = sv_skip(text, at), words = SV("PRIVATE KEY"), block = SV(" BLOCK");
    struct sv dashes = SV("-----");
    ptrdiff_t found = sv_find(sv_first(sv_cut(v, '\n').head, v.n < 80 ? v.n : 80), words);
    bool      quoted = false;
    size_t    body = 0;

    (void)s;
    if (found < 0)
        return false;
    v = sv_skip(v, (size_t)found + words.n);
    if (sv_starts(v, block))
        v = sv_skip(v, block.n);
    if (!sv_starts(v, dashes))
        return false;
    v = sv_skip(v, dashes.n);
    if (!skip_to_next_line(&v, &quoted))
        return false;
    if (quoted) { /* in code: nothing but base64 counts */
        body = run_of(v, "+/=");
        return body >= 40 && is_real(sv_first(v, body));
    }
    while (body < v.n && body < 40 && (is_alnum(v.s[body]) || strchr("+/=:-, ", v.s[body])))
        body++;
    return body >= 20;
}

static bool is_putty_key(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);

    return v.n && is_digit(v.s[0]) &&
           sv_find(sv_first(v, v.n < 4096 ? v.n : 4096), SV("\nPrivate-Lines:")) >= 0;
}

/* What manuals write in the place of a password. */
static bool is_placeholder(struct sv v, struct sv user)
{
    static const char *const words[] = { "passw", "p4ss",  "passwd",   "secret", "example", "xxx",
                                         "your",  "token", "changeme", "hunter", "foo",     "test",
                                         "1234",  "user",  "pwd",      "pass",   "hidden",  "api" };

    if (v.n < 6 || sv_eq(v, user))
        return true;
    for (size_t i = 0; i < v.n; i++)
        if (strchr("${}<>*()[]|`\\^,;", v.s[i]) || (unsigned char)v.s[i] >= 0x7f)
            return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (holds_word(v, words[i]))
            return true;
    return false;
}

static bool looks_chosen(struct sv v)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < v.n; i++) {
        digit = digit || is_digit(v.s[i]);
        letter = letter || (is_alnum(v.s[i]) && !is_digit(v.s[i]));
    }
    return letter && digit;
}

static int hex_value(char c)
{
    c = byte_lower(c);
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %40 is one byte; a percent sign of another kind is a placeholder such as %s. */
static bool unescape(struct sv v, char out[SECRET_OVERLAP], struct sv *plain)
{
    size_t n = 0;

    for (size_t i = 0; i < v.n && n < SECRET_OVERLAP; i++) {
        out[n++] = v.s[i];
        if (v.s[i] != '%')
            continue;
        int high = i + 2 < v.n ? hex_value(v.s[i + 1]) : -1;
        int low = i + 2 < v.n ? hex_value(v.s[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        out[n - 1] = (char)(high * 16 + low);
        i += 2;
    }
    *plain = (struct sv){ out, n };
    return true;
}

/* The user and the password in front of a host. */
static bool url_user(struct sv rest, struct sv *user, struct sv *password)
{
    size_t n = 0;

    while (n < rest.n && n < SECRET_OVERLAP && (unsigned char)rest.s[n] > 0x20 &&
           !strchr("/?#\"'<>`)]}", rest.s[n]))
        n++;
    struct sv_cut host = sv_cut_last(sv_first(rest, n), '@');
    struct sv_cut pair = sv_cut(host.head, ':');
    *user = pair.head;
    *password = pair.tail;
    return host.found && host.tail.n && pair.found && pair.tail.n;
}

static bool is_url_password(const struct shape *s, struct sv text, size_t at)
{
    struct sv user, password;
    char      room[SECRET_OVERLAP];

    return at && is_alnum(text.s[at - 1]) && url_user(behind(s, text, at), &user, &password) &&
           unescape(password, room, &password) && !is_placeholder(password, user) &&
           looks_chosen(password);
}

/* Tokens that the documents of the standards and of libraries print. */
static bool is_published(struct sv v)
{
    static const char *const known[] = {
        "eyJzb21lIjoicGF5bG9hZCJ9",         /* {"some":"payload"} */
        "eyJzdWIiOiIxMjM0NTY3ODkwIi",       /* {"sub":"1234567890", */
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEz", /* RFC 7519 */
        "czZCaGRSa3F0MzpnWDFmQmF0M2JW",     /* RFC 6749 */
        "czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3",
        "QWxhZGRpbjpvcGVu", /* RFC 7617 */
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (sv_starts(v, sv_of(known[i])))
            return true;
    return false;
}

static bool is_jwt(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = sv_skip(text, at);
    size_t    head = run_of(v, "-_");

    (void)s;
    if (!starts_a_word(text, at) || head < 15 || head >= v.n || v.s[head] != '.')
        return false;
    v = sv_skip(v, head + 1);
    size_t body = run_of(v, "-_");
    if (!sv_starts(v, SV("eyJ")) || is_published(v) || body < 15 || body >= v.n || v.s[body] != '.')
        return false;
    v = sv_skip(v, body + 1);
    size_t sign = run_of(v, "-_");
    return sign >= 30 && is_real(sv_first(v, sign));
}

/* The value behind a name: = or : and quotes between. */
static struct sv value_of(struct sv v)
{
    size_t n = 0;

    while (n < v.n && n < 12 && v.s[n] && strchr(" \t\"'=:>", v.s[n]))
        n++;
    return sv_skip(v, n);
}

static bool is_aws_secret(const struct shape *s, struct sv text, size_t at)
{
    struct sv rest = behind(s, text, at), v = value_of(rest);
    size_t    n = run_of(v, s->more);

    return v.s != rest.s && n == s->min && is_mixed(sv_first(v, n)) &&
           sv_find(sv_first(v, n), SV("EXAMPLE")) < 0;
}

static bool is_bearer(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = run_of(v, s->more);

    return at && (text.s[at - 1] == 'B' || text.s[at - 1] == 'b') && n >= s->min &&
           is_mixed(sv_first(v, n));
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : is_digit(c)          ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Is it base64 of printable text "user:password"? */
static bool is_user_and_password(struct sv v)
{
    char     out[256];
    size_t   n = 0;
    uint32_t bits = 0;
    int      have = 0;

    for (size_t i = 0; i < v.n && v.s[i] != '=' && n < sizeof out; i++) {
        int value = base64_value(v.s[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have < 8)
            continue;
        have -= 8;
        out[n] = (char)(bits >> have & 0xff);
        if (out[n] < 0x20 || out[n] > 0x7e)
            return false;
        n++;
    }
    struct sv_cut pair = sv_cut((struct sv){ out, n }, ':');
    return pair.found && pair.head.n && !is_placeholder(pair.tail, pair.head) &&
           looks_chosen(pair.tail);
}

static bool is_basic(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = run_of(v, s->more);

    return n >= s->min && !is_published(v) && is_user_and_password(sv_first(v, n));
}

static bool is_docker_auth(const struct shape *s, struct sv text, size_t at)
{
    struct sv rest = behind(s, text, at), v = value_of(rest);
    size_t    n = run_of(v, "+/=");

    return v.s != rest.s && n >= 12 && is_user_and_password(sv_first(v, n));
}

/* Exactly so many small hexadecimal digits. */
static bool is_hex_token(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = hex_run(v);

    return starts_a_word(text, at) && n == s->min && (n == v.n || !is_in(v.s[n], "_-")) &&
           is_mixed(sv_first(v, n));
}

/* 32 hexadecimal digits in front, and the number of a data center behind. */
static bool is_mailchimp_key(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at), key = { text.s + at - 32, 32 };

    return at >= 32 && v.n && is_digit(v.s[0]) && starts_a_word(text, at - 32) &&
           hex_run(key) == 32 && is_mixed(key) && run_of(v, "_-") <= 2;
}

static bool is_telegram_token(const struct shape *s, struct sv text, size_t at)
{
    size_t    digits = 0;
    struct sv v = behind(s, text, at);

    while (digits < at && digits < 11 && is_digit(text.s[at - 1 - digits]))
        digits++;
    size_t n = run_of(v, s->more);
    return digits >= 8 && digits <= 10 && starts_a_word(text, at - digits) && n == s->min &&
           is_real(sv_first(v, n));
}

static bool is_azure_secret(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = run_of(v, s->more);

    return at >= 3 && run_of((struct sv){ text.s + at - 3, 3 }, s->more) == 3 && n >= s->min &&
           n <= s->min + 3 && is_mixed(sv_first(v, n));
}

static bool is_mixed_token(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = run_of(v, s->more);

    bool own_word = starts_a_word(text, at) || s->start[0] == '/' || s->start[0] == '_';
    return own_word && n >= s->min && is_mixed(sv_first(v, n));
}

static bool fits(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = sv_skip(text, at), start = sv_of(s->start);

    if (!sv_starts(v, start))
        return false;
    if (s->check)
        return s->check(s, text, at);
    v = sv_skip(v, start.n);
    size_t n = run_of(v, s->more);
    return starts_a_word(text, at) && n >= s->min && is_real(sv_first(v, n));
}

/* ---- finding where a shape may be -------------------------------------------------------- */

enum {
    PROBE = 3,
    SETS = 2,
    BUCKETS = 16,
    SLOTS = 512,
    BLOCK = 32,
    BLOCK_READS = BLOCK + PROBE - 1
};

/* A probe is the three bytes of a start that are rarest in text. The shapes are dealt into
 * buckets, a bit each, eight to a set. low and high say for each half of the i-th byte of a probe
 * in which buckets it occurs; bytes says it for whole bytes. */
static struct {
    unsigned char low[SETS][PROBE][16], high[SETS][PROBE][16];
    uint16_t      bytes[PROBE][256];
    uint16_t      slot[SLOTS];          /* 1 + number of the first shape with such a probe */
    uint16_t      next[COUNT(shapes)];  /* 1 + number of the next one */
    size_t        probe[COUNT(shapes)]; /* where it stands in the start */
} finder;
static pthread_once_t finder_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *p)
{
    uint32_t key = (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
                   (uint32_t)(unsigned char)p[2] << 16;

    return key * 2654435761u >> 23;
}

/* How often a byte occurs in text, roughly. */
static unsigned frequency(unsigned char c)
{
    return c == ' '                      ? 120
           : c && strchr("etaoinsr", c)  ? 50
           : c && strchr("lcdhupm_", c)  ? 25
           : c >= 'a' && c <= 'z'        ? 10
           : c && strchr("*/-(),.\n", c) ? 10
           : is_digit((char)c)           ? 8
           : c >= 'A' && c <= 'Z'        ? 6
           : c > 0x20 && c < 0x7f        ? 4
                                         : 1;
}

static uint64_t weight(const char *probe)
{
    return (uint64_t)frequency((unsigned char)probe[0]) * frequency((unsigned char)probe[1]) *
           frequency((unsigned char)probe[2]);
}

static size_t rarest(const char *start)
{
    size_t n = strlen(start), best = 0;

    for (size_t i = 1; i + PROBE <= n; i++)
        if (weight(start + i) < weight(start + best))
            best = i;
    return best;
}

/* The halves of bytes that a bucket lets through, a bit each. */
struct bucket {
    uint16_t low[PROBE], high[PROBE];
    uint64_t cost; /* how much text it lets through, in the measure of weight() */
};

static struct bucket bucket_with(const struct bucket *b, const char *probe,
                                 const unsigned frequencies[256])
{
    struct bucket with = *b;

    with.cost = 1;
    for (int i = 0; i < PROBE; i++) {
        unsigned char c = (unsigned char)probe[i];
        uint64_t      sum = 0;
        with.low[i] = (uint16_t)(with.low[i] | 1u << (c & 15));
        with.high[i] = (uint16_t)(with.high[i] | 1u << (c >> 4));
        for (unsigned k = 0; k < 256; k++)
            if (with.low[i] >> (k & 15) & 1 && with.high[i] >> (k >> 4) & 1)
                sum += frequencies[k];
        with.cost *= sum;
    }
    return with;
}

/* Into the bucket that then lets through the least that it did not before. */
static unsigned deal(struct bucket buckets[BUCKETS], const char *probe,
                     const unsigned frequencies[256])
{
    struct bucket best = { .cost = UINT64_MAX };
    unsigned      at = 0;
    uint64_t      least = UINT64_MAX;

    for (unsigned k = 0; k < BUCKETS; k++) {
        struct bucket with = bucket_with(&buckets[k], probe, frequencies);
        if (with.cost - buckets[k].cost >= least)
            continue;
        least = with.cost - buckets[k].cost;
        best = with;
        at = k;
    }
    buckets[at] = best;
    return at;
}

static void add_probe(const char *probe, unsigned bucket)
{
    unsigned char bit = (unsigned char)(1u << bucket % 8);

    for (int i = 0; i < PROBE; i++) {
        unsigned char c = (unsigned char)probe[i];
        finder.low[bucket / 8][i][c & 15] |= bit;
        finder.high[bucket / 8][i][c >> 4] |= bit;
        finder.bytes[i][c] = (uint16_t)(finder.bytes[i][c] | 1u << bucket);
    }
}

static void make_finder(void)
{
    struct bucket buckets[BUCKETS] = { 0 };
    unsigned      frequencies[256];

    for (unsigned c = 0; c < 256; c++)
        frequencies[c] = frequency((unsigned char)c);
    for (size_t k = COUNT(shapes); k-- > 0;) { /* the first of the table is the first of a slot */
        finder.probe[k] = rarest(shapes[k].start);
        const char *probe = shapes[k].start + finder.probe[k];
        add_probe(probe, deal(buckets, probe, frequencies));
        finder.next[k] = finder.slot[slot_of(probe)];
        finder.slot[slot_of(probe)] = (uint16_t)(k + 1);
    }
}

/* The shape, if any, whose probe is at text[i]. */
static const struct shape *shape_at(struct sv text, size_t i, size_t *at)
{
    for (size_t k = finder.slot[slot_of(text.s + i)]; k; k = finder.next[k - 1]) {
        size_t probe = finder.probe[k - 1];
        if (i < probe || memcmp(text.s + i, shapes[k - 1].start + probe, PROBE) != 0)
            continue;
        *at = i - probe;
        if (fits(&shapes[k - 1], text, *at))
            return &shapes[k - 1];
    }
    return NULL;
}

static const struct shape *find_plain(struct sv text, size_t i, size_t *at)
{
    for (; i + PROBE <= text.n; i++) {
        const unsigned char *s = (const unsigned char *)text.s + i;
        if (!(finder.bytes[0][s[0]] & finder.bytes[1][s[1]] & finder.bytes[2][s[2]]))
            continue;
        const struct shape *found = shape_at(text, i, at);
        if (found)
            return found;
    }
    return NULL;
}

#if defined(__x86_64__)
/* In which buckets of a set the i-th byte of a probe at each of 32 places is. */
__attribute__((target("avx2"))) static inline __m256i buckets_at(__m256i v, int set, int i)
{
    __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)finder.low[set][i]));
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)finder.high[set][i]));

    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(v, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), half)));
}

/* Of the 32 places from s on, those where a probe may be, a bit each. */
__attribute__((target("avx2"))) static inline uint32_t places_at(const char *s)
{
    __m256i hit = _mm256_setzero_si256(), v[PROBE];

    for (int i = 0; i < PROBE; i++)
        v[i] = _mm256_loadu_si256((const void *)(s + i));
    for (int set = 0; set < SETS; set++)
        hit = _mm256_or_si256(hit, _mm256_and_si256(buckets_at(v[0], set, 0),
                                                    _mm256_and_si256(buckets_at(v[1], set, 1),
                                                                     buckets_at(v[2], set, 2))));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, _mm256_setzero_si256()));
}

__attribute__((target("avx2"))) static const struct shape *find_avx2(struct sv text, size_t *at)
{
    size_t i = 0;

    for (; i + BLOCK_READS <= text.n; i += BLOCK)
        for (uint32_t places = places_at(text.s + i); places; places &= places - 1) {
            const struct shape *found = shape_at(text, i + (size_t)__builtin_ctz(places), at);
            if (found)
                return found;
        }
    return find_plain(text, i, at);
}
#endif

const char *secret_find(struct sv text, size_t *at)
{
    const struct shape *found;

    pthread_once(&finder_once, make_finder);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        found = find_avx2(text, at);
    else
#endif
        found = find_plain(text, 0, at);
    return found ? found->what : NULL;
}

const char *secret_find_in_url(struct sv url, size_t *from, size_t *to)
{
    struct sv   user, password;
    ptrdiff_t   at = sv_find(url, SV("://"));
    const char *what;

    if (at >= 0 && url_user(sv_skip(url, (size_t)at + 3), &user, &password)) {
        *from = (size_t)(password.s - url.s);
        *to = *from + password.n;
        return "password in a URL";
    }
    what = secret_find(url, from);
    if (what)
        *to = *from + run_of(sv_skip(url, *from), "-_.~+/=:");
    return what;
}

/* ---- files by their names ------------------------------------------------------------------ */

/* Is the file of a kind whose values are secrets (.env, .env.local; not .env.example)? */
static bool is_env_file(struct sv path)
{
    static const char *const harmless[] = { ".example", ".sample", ".template", ".dist",
                                            ".defaults" };
    struct sv                name = path_base(path);

    if (!sv_is(name, ".env") && !sv_starts(name, SV(".env.")) && !sv_ends(name, SV(".env")))
        return false;
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (sv_ends(name, sv_of(harmless[i])))
            return false;
    return true;
}

/* NAME=value with a value. Comments do not count. */
static bool is_setting(struct sv line)
{
    struct sv_cut pair = sv_cut(sv_trim(line), '=');
    struct sv     value = sv_trim(pair.tail);

    return pair.found && pair.head.n && pair.head.s[0] != '#' && value.n && !sv_is(value, "\"\"") &&
           !sv_is(value, "''");
}

/* The first setting in an environment file. */
static bool env_value(struct sv text, size_t *at)
{
    for (struct sv rest = text; rest.n;) {
        struct sv_cut c = sv_cut(rest, '\n');
        *at = (size_t)(rest.s - text.s);
        if (is_setting(c.head))
            return true;
        rest = c.tail;
    }
    return false;
}

/* Files that hold nothing but credentials. */
static const char *const credential_names[] = {
    "id_rsa",     "id_dsa",       "id_ecdsa",
    "id_ed25519", "id_ecdsa_sk",  "id_ed25519_sk",
    ".netrc",     "_netrc",       ".git-credentials",
    ".pgpass",    ".vault-token", ".dockercfg",
    ".s3cfg",     ".htpasswd",    ".my.cnf",
    ".pypirc",    ".boto",        "application_default_credentials.json",
};
static const char *const credential_paths[] = {
    ".aws/credentials",     ".docker/config.json",      ".kube/config",
    ".config/gh/hosts.yml", ".cargo/credentials",       ".cargo/credentials.toml",
    ".gem/credentials",     ".azure/accessTokens.json", ".terraform.d/credentials.tfrc.json",
};

static bool ends_with_path(struct sv path, const char *end)
{
    struct sv v = sv_of(end);

    return sv_ends(path, v) && (path.n == v.n || path.s[path.n - v.n - 1] == '/');
}

static bool is_credential_file(struct sv path)
{
    struct sv name = path_base(path);

    for (size_t i = 0; i < COUNT(credential_names); i++)
        if (sv_is(name, credential_names[i]))
            return true;
    for (size_t i = 0; i < COUNT(credential_paths); i++)
        if (ends_with_path(path, credential_paths[i]))
            return true;
    return sv_ends(name, SV(".ppk"));
}

/* The first setting in what a diff shows of environment files, or line of a file of
 * credentials. */
static const char *secret_in_diff(struct sv text, size_t *at)
{
    struct sv to = SV("+++ "), from = SV("--- ");
    bool      in_env = false, in_credentials = false;

    for (struct sv rest = text; rest.n;) {
        struct sv_cut c = sv_cut(rest, '\n');
        *at = (size_t)(rest.s - text.s);
        if (sv_starts(c.head, SV("diff ")))
            in_env = in_credentials = false;
        else if (sv_starts(c.head, to) || sv_starts(c.head, from)) {
            struct sv name = sv_trim(sv_skip(c.head, to.n));
            in_env = in_env || is_env_file(name);
            in_credentials = in_credentials || is_credential_file(name);
        } else if (c.head.n && strchr("+- ", c.head.s[0])) {
            if (in_env && is_setting(sv_skip(c.head, 1)))
                return "value in an environment file";
            if (in_credentials && sv_trim(sv_skip(c.head, 1)).n)
                return "file of credentials";
        }
        rest = c.tail;
    }
    return NULL;
}

/* A PEM file is public when it says so of each of its blocks. */
static bool has_only_public_blocks(struct sv text)
{
    static const char *const public[] = { "CERTIFICATE", "PUBLIC KEY", "X509 CRL",
                                          "PARAMETERS",  "PKCS7",      "CMS" };
    struct sv begin = SV("-----BEGIN ");
    size_t    blocks = 0;

    for (struct sv rest = text; rest.n; blocks++) {
        ptrdiff_t at = sv_find(rest, begin);
        if (at < 0)
            break;
        rest = sv_skip(rest, (size_t)at + begin.n);
        struct sv label = sv_cut(rest, '\n').head;
        size_t    i = 0;
        while (i < COUNT(public) && sv_find(label, sv_of(public[i])) < 0)
            i++;
        if (i == COUNT(public))
            return false;
    }
    return blocks > 0;
}

/* One line without blanks, as a key in a file of its own. */
static bool is_one_long_word(struct sv text)
{
    struct sv v = sv_trim(text);

    for (size_t i = 0; i < v.n; i++)
        if ((unsigned char)v.s[i] <= 0x20)
            return false;
    return v.n >= 16 && v.n <= 512;
}

static bool is_secret_by_name(struct sv path, struct sv text)
{
    if (!sv_trim(text).n)
        return false;
    if (is_credential_file(path))
        return true;
    if (sv_ends(path, SV(".pem")))
        return !has_only_public_blocks(text);
    return sv_ends(path, SV(".key")) && is_one_long_word(text);
}

static bool is_diff(struct sv path)
{
    return sv_is(path, "git:diff") || sv_ends(path, SV(".diff")) || sv_ends(path, SV(".patch"));
}

const char *secret_find_in_file(struct sv path, struct sv text, size_t *at)
{
    if (is_env_file(path) && env_value(text, at))
        return "value in an environment file";
    if (is_secret_by_name(path, text)) {
        *at = 0;
        return "file of credentials";
    }
    const char *shown = is_diff(path) ? secret_in_diff(text, at) : NULL;
    return shown ? shown : secret_find(text, at);
}
