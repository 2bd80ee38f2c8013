/* Secrets in files: those that are secret by their names, environment files, and diffs of them. */
#include "base/path.h"
#include "payload/secret.h"

#include <string.h>

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

/* One line without spaces, as a key in a file of its own. */
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
