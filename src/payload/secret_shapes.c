/* The shapes of secrets: a table of what is known, and how each is checked where its fixed text was
 * found. */
#include "payload/secret_internal.h"

#include <string.h>

static shape_check is_private_key, is_putty_key, is_url_password, is_jwt, is_aws_secret, is_bearer,
    is_basic, is_docker_auth, is_hex_token, is_mailchimp_key, is_telegram_token, is_azure_secret,
    is_mixed_token;

/* clang-format off */
const struct shape secret_shapes[] = {
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

_Static_assert(COUNT(secret_shapes) <= SECRET_SHAPES_MAX, "the finder has room for all shapes");
const size_t secret_shape_count = COUNT(secret_shapes);

static bool is_alnum(char c)
{
    return secret_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_in(char c, const char *more)
{
    return is_alnum(c) || (c && strchr(more, c));
}

size_t secret_run_of(struct sv v, const char *more)
{
    size_t n = 0;

    while (n < v.n && is_in(v.s[n], more))
        n++;
    return n;
}

static size_t hex_run(struct sv v)
{
    size_t n = 0;

    while (n < v.n && (secret_is_digit(v.s[n]) || (v.s[n] >= 'a' && v.s[n] <= 'f')))
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

/* A token with fewer than six different characters is a placeholder in a document, and one that
 * ends with EXAMPLE comes from a vendor's manual. */
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

/* Is it a mixture of letters and digits that neither identifiers nor sentences have? */
static bool is_mixed(struct sv v)
{
    static const char *const words[] = { "example", "xxxx",    "your",  "placeholder",
                                         "....",    "abcdefg", "token", "secret" };
    size_t                   digits = 0, letters = 0, changes = 0;

    for (size_t i = 0; i < v.n; i++) {
        digits += secret_is_digit(v.s[i]);
        letters += is_alnum(v.s[i]) && !secret_is_digit(v.s[i]);
        changes += i && secret_is_digit(v.s[i]) != secret_is_digit(v.s[i - 1]);
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

/* Skips line ends and what surrounds the lines of a string in source code: indentation, quotes,
 * operators, comments; a line end may also be written as the escape sequence of a JSON string.
 * False: there was no line end. *quoted: more than white space was skipped. */
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
        body = secret_run_of(v, "+/=");
        return body >= 40 && is_real(sv_first(v, body));
    }
    while (body < v.n && body < 40 && (is_alnum(v.s[body]) || strchr("+/=:-, ", v.s[body])))
        body++;
    return body >= 20;
}

static bool is_putty_key(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);

    return v.n && secret_is_digit(v.s[0]) &&
           sv_find(sv_first(v, v.n < 4096 ? v.n : 4096), SV("\nPrivate-Lines:")) >= 0;
}

/* Is it one of the words that manuals use in place of a password? */
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
        digit = digit || secret_is_digit(v.s[i]);
        letter = letter || (is_alnum(v.s[i]) && !secret_is_digit(v.s[i]));
    }
    return letter && digit;
}

static int hex_value(char c)
{
    c = byte_lower(c);
    return secret_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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

bool secret_url_user(struct sv rest, struct sv *user, struct sv *password)
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

    return at && is_alnum(text.s[at - 1]) &&
           secret_url_user(behind(s, text, at), &user, &password) &&
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
    size_t    head = secret_run_of(v, "-_");

    (void)s;
    if (!starts_a_word(text, at) || head < 15 || head >= v.n || v.s[head] != '.')
        return false;
    v = sv_skip(v, head + 1);
    size_t body = secret_run_of(v, "-_");
    if (!sv_starts(v, SV("eyJ")) || is_published(v) || body < 15 || body >= v.n || v.s[body] != '.')
        return false;
    v = sv_skip(v, body + 1);
    size_t sign = secret_run_of(v, "-_");
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
    size_t    n = secret_run_of(v, s->more);

    return v.s != rest.s && n == s->min && is_mixed(sv_first(v, n)) &&
           sv_find(sv_first(v, n), SV("EXAMPLE")) < 0;
}

static bool is_bearer(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = secret_run_of(v, s->more);

    return at && (text.s[at - 1] == 'B' || text.s[at - 1] == 'b') && n >= s->min &&
           is_mixed(sv_first(v, n));
}

static int base64_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : secret_is_digit(c)   ? c - '0' + 52
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
    size_t    n = secret_run_of(v, s->more);

    return n >= s->min && !is_published(v) && is_user_and_password(sv_first(v, n));
}

static bool is_docker_auth(const struct shape *s, struct sv text, size_t at)
{
    struct sv rest = behind(s, text, at), v = value_of(rest);
    size_t    n = secret_run_of(v, "+/=");

    return v.s != rest.s && n >= 12 && is_user_and_password(sv_first(v, n));
}

/* Exactly n lower-case hexadecimal digits. */
static bool is_hex_token(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = hex_run(v);

    return starts_a_word(text, at) && n == s->min && (n == v.n || !is_in(v.s[n], "_-")) &&
           is_mixed(sv_first(v, n));
}

/* 32 hexadecimal digits before it, and the number of a data center behind it. */
static bool is_mailchimp_key(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at), key = { text.s + at - 32, 32 };

    return at >= 32 && v.n && secret_is_digit(v.s[0]) && starts_a_word(text, at - 32) &&
           hex_run(key) == 32 && is_mixed(key) && secret_run_of(v, "_-") <= 2;
}

static bool is_telegram_token(const struct shape *s, struct sv text, size_t at)
{
    size_t    digits = 0;
    struct sv v = behind(s, text, at);

    while (digits < at && digits < 11 && secret_is_digit(text.s[at - 1 - digits]))
        digits++;
    size_t n = secret_run_of(v, s->more);
    return digits >= 8 && digits <= 10 && starts_a_word(text, at - digits) && n == s->min &&
           is_real(sv_first(v, n));
}

static bool is_azure_secret(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = secret_run_of(v, s->more);

    return at >= 3 && secret_run_of((struct sv){ text.s + at - 3, 3 }, s->more) == 3 &&
           n >= s->min && n <= s->min + 3 && is_mixed(sv_first(v, n));
}

static bool is_mixed_token(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = behind(s, text, at);
    size_t    n = secret_run_of(v, s->more);

    bool own_word = starts_a_word(text, at) || s->start[0] == '/' || s->start[0] == '_';
    return own_word && n >= s->min && is_mixed(sv_first(v, n));
}

bool secret_shape_fits(const struct shape *s, struct sv text, size_t at)
{
    struct sv v = sv_skip(text, at), start = sv_of(s->start);

    if (!sv_starts(v, start))
        return false;
    if (s->check)
        return s->check(s, text, at);
    v = sv_skip(v, start.n);
    size_t n = secret_run_of(v, s->more);
    return starts_a_word(text, at) && n >= s->min && is_real(sv_first(v, n));
}
