/* Taking the URL of a log on PostgreSQL apart. */
#include "store/postgres_url.h"

#include "store/limits.h"

#include <stddef.h>

bool postgres_url_is(struct sv url)
{
    return sv_starts(url, SV("postgres://")) || sv_starts(url, SV("postgresql://"));
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'                           ? c - '0'
           : byte_lower(c) >= 'a' && byte_lower(c) <= 'f' ? byte_lower(c) - 'a' + 10
                                                          : -1;
}

/* %41 is A; a % that is not followed by two digits stays. */
static struct sv decoded(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < text.n; i++) {
        int high = i + 2 < text.n && text.s[i] == '%' ? digit_of(text.s[i + 1]) : -1;
        int low = high >= 0 ? digit_of(text.s[i + 2]) : -1;
        if (low >= 0) {
            sb_addc(&b, (char)(high * 16 + low));
            i += 2;
        } else {
            sb_addc(&b, text.s[i]);
        }
    }
    return sb_sv(&b);
}

static enum status read_pooler(struct sv value, enum postgres_pooler *out, struct err *e)
{
    static const char *const names[] = { "auto", "none", "transaction" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(value, names[i])) {
            *out = (enum postgres_pooler)i;
            return ST_OK;
        }
    return err_set(e, ST_INVALID_SYNTAX, "pooler of the store is auto, none or transaction");
}

static bool is_plain(char c)
{
    return (byte_lower(c) >= 'a' && byte_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* The name of a schema must be short enough that PostgreSQL does not truncate it. */
static enum status check_schema(struct sv name, const char *what, size_t max, struct err *e)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_plain(name.s[i]))
            return err_set(e, ST_INVALID_SYNTAX,
                           "%s of the store consists of letters, digits, _ and -", what);
    if (!name.n)
        return err_set(e, ST_INVALID_SYNTAX, "%s of the store is empty", what);
    if (sv_starts(name, SV("pg_")))
        return err_set(e, ST_INVALID_SYNTAX, "names of schemas with pg_ belong to PostgreSQL");
    return name.n <= max
               ? ST_OK
               : err_set(e, ST_INVALID_SYNTAX, "%s of the store has at most %zu bytes", what, max);
}

static const struct url_number {
    const char *name;
    size_t      at;
    int64_t     min, max;
} numbers[] = {
    { "partitions", offsetof(struct postgres_url, partitions), 0, POSTGRES_PARTITIONS_MAX },
    { "pool", offsetof(struct postgres_url, pool), 1, POSTGRES_POOL_MAX },
    { "statement_timeout", offsetof(struct postgres_url, statement_ms), 100, 86400000 },
    { "commit_timeout", offsetof(struct postgres_url, commit_ms), 100, 86400000 },
};

static enum status read_number(const struct url_number *n, struct sv value,
                               struct postgres_url *out, struct err *e)
{
    int64_t x;

    if (!sv_to_int(value, &x) || x < n->min || x > n->max)
        return err_set(e, ST_INVALID_SYNTAX,
                       "%s of the store is a number from %lld to %lld, not '" SV_FMT "'", n->name,
                       (long long)n->min, (long long)n->max, SV_ARG(value));
    memcpy((char *)out + n->at, &x, sizeof x);
    return ST_OK;
}

/* One parameter; *known is false when it is one of libpq's. */
static enum status read_one(struct sv name, struct sv value, struct postgres_url *out, bool *known,
                            struct err *e)
{
    *known = true;
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (sv_is(name, numbers[i].name))
            return read_number(&numbers[i], value, out, e);
    if (sv_is(name, "pooler"))
        return read_pooler(value, &out->pooler, e);
    if (sv_is(name, "schema")) {
        out->schema = value;
        return check_schema(value, "schema", POSTGRES_NAME_MAX, e);
    }
    if (sv_is(name, "schema_prefix")) {
        out->schema_prefix = value;
        return check_schema(value, "schema_prefix", POSTGRES_PREFIX_MAX, e);
    }
    *known = false;
    return ST_OK;
}

enum status postgres_url_read(struct sv url, struct arena *a, struct postgres_url *out,
                              struct err *e)
{
    struct sv_cut parts = sv_cut(url, '?');
    struct sb     rest = sb_in(a, 0);
    char          before = '?';

    *out = (struct postgres_url){ .partitions = POSTGRES_PARTITIONS,
                                  .pool = POSTGRES_POOL,
                                  .statement_ms = POSTGRES_STATEMENT_MS,
                                  .commit_ms = POSTGRES_COMMIT_MS };
    if (memchr(url.s, 0, url.n))
        return err_set(e, ST_INVALID_SYNTAX, "the URL of the store holds a NUL");
    sb_add(&rest, parts.head);
    for (struct sv left = parts.tail; left.n;) {
        struct sv_cut one = sv_cut(left, '&'), pair = sv_cut(one.head, '=');
        bool          known = false;
        if (read_one(decoded(pair.head, a), decoded(pair.tail, a), out, &known, e))
            return err_code(e);
        if (!known && one.head.n) {
            sb_addc(&rest, before);
            sb_add(&rest, one.head);
            before = '&';
        }
        left = one.tail;
    }
    out->given = sb_sv(&rest);
    return ST_OK;
}

/* Without the value of `password=`, `sslpassword=` in the query; `bare`: without the parameter. */
static void add_query(struct sb *b, struct sv query, bool bare)
{
    char before = '?';

    while (query.n) {
        struct sv_cut one = sv_cut(query, '&'), pair = sv_cut(one.head, '=');
        bool          secret = pair.found && sv_find(pair.head, SV("assword")) >= 0;
        query = one.tail;
        if (bare && (secret || !one.head.n))
            continue;
        sb_addc(b, before);
        sb_add(b, pair.head);
        sb_adds(b, pair.found ? "=" : "");
        sb_add(b, secret ? SV("***") : pair.tail);
        before = '&';
    }
}

static struct sv without_secrets(struct sv url, bool bare, struct arena *a)
{
    struct sb     b = sb_in(a, 0);
    struct sv_cut parts = sv_cut(url, '?');
    ptrdiff_t     at = sv_find(parts.head, SV("://"));
    struct sv     rest = sv_skip(parts.head, at < 0 ? 0 : (size_t)at + 3);
    struct sv_cut user = sv_cut_last(rest, '@'); /* also where a / in the password is not escaped */

    sb_add(&b, sv_first(parts.head, parts.head.n - rest.n));
    if (user.found) {
        struct sv_cut secret = sv_cut(user.head, ':');
        sb_add(&b, secret.head);
        sb_adds(&b, secret.found && !bare ? ":***@" : "@");
        rest = sv_skip(rest, user.head.n + 1);
    }
    sb_add(&b, rest);
    add_query(&b, parts.tail, bare);
    return sb_sv(&b);
}

struct sv postgres_url_shown(struct sv url, struct arena *a)
{
    return without_secrets(url, false, a);
}

struct sv postgres_url_bare(struct sv url, struct arena *a)
{
    return without_secrets(url, true, a);
}

void sb_add_identifier(struct sb *b, struct sv name)
{
    sb_addc(b, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.s[i] == '"')
            sb_addc(b, '"');
        sb_addc(b, name.s[i]);
    }
    sb_addc(b, '"');
}
