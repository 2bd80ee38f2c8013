/* Commas, braces and relative paths in the patterns of a command line. */
#include "project/pattern.h"

#include "base/path.h"

/* The byte behind the one at i: past what is escaped, and past a set in brackets that closes. */
static size_t step(struct sv v, size_t i)
{
    if (v.s[i] == '\\')
        return i + 2 < v.n ? i + 2 : v.n;
    if (v.s[i] != '[')
        return i + 1;
    size_t end = i + 1 + (i + 1 < v.n && (v.s[i + 1] == '!' || v.s[i + 1] == '^'));
    if (end < v.n && v.s[end] == ']')
        end++;
    while (end < v.n && v.s[end] != ']')
        end = v.s[end] == '\\' ? end + 2 : end + 1;
    return end < v.n ? end + 1 : i + 1;
}

pattern_list pattern_split(struct sv value, struct arena *a)
{
    pattern_list out = { 0 };
    size_t       from = 0, depth = 0;

    for (size_t i = 0; i <= value.n; i = i < value.n ? step(value, i) : i + 1) {
        char c = i < value.n ? value.s[i] : ',';
        if (i < value.n && c == '{')
            depth++;
        if (c == '}' && depth)
            depth--;
        if (i < value.n && (c != ',' || depth))
            continue;
        if (i > from)
            *vec_push(&out, a) = (struct sv){ value.s + from, i - from };
        from = i + 1;
    }
    return out;
}

/* The first braces with a comma of their own: v[*open] and v[*close]. */
static bool find_braces(struct sv v, size_t *open, size_t *close)
{
    for (size_t i = 0; i < v.n; i = step(v, i)) {
        size_t depth = 0;
        bool   comma = false;
        if (v.s[i] != '{')
            continue;
        for (size_t k = i; k < v.n; k = step(v, k)) {
            depth += v.s[k] == '{';
            comma = comma || (v.s[k] == ',' && depth == 1);
            if (v.s[k] != '}' || --depth)
                continue;
            *open = i;
            *close = k;
            if (comma)
                return true;
            break;
        }
    }
    return false;
}

bool pattern_has_braces(struct sv pattern)
{
    size_t open, close;

    return find_braces(pattern, &open, &close);
}

/* Where the alternative that starts at `from` ends, inside braces that close at `close`. */
static size_t alternative_end(struct sv v, size_t from, size_t close)
{
    size_t depth = 0;

    for (size_t i = from; i < close; i = step(v, i)) {
        depth += v.s[i] == '{';
        depth -= v.s[i] == '}' && depth;
        if (v.s[i] == ',' && !depth)
            return i;
    }
    return close;
}

/* Expands the leftmost braces; the results wait in the queue for their other braces. So the work is
 * bounded by the number of results. */
enum status pattern_expand(struct sv pattern, struct arena *a, pattern_list *out, struct err *e)
{
    pattern_list todo = { 0 };
    size_t       open, close, made = 0;

    *vec_push(&todo, a) = pattern;
    while (todo.n) {
        struct sv v = todo.v[--todo.n];
        if (made + todo.n >= PATTERN_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "stands for more than %d patterns", PATTERN_MAX);
        if (!find_braces(v, &open, &close)) {
            *vec_push(out, a) = v;
            made++;
            continue;
        }
        pattern_list parts = { 0 };
        for (size_t from = open + 1; from <= close;) {
            size_t    end = alternative_end(v, from, close);
            struct sb b = sb_in(a, 0);
            sb_add(&b, sv_first(v, open));
            sb_add(&b, (struct sv){ v.s + from, end - from });
            sb_add(&b, sv_skip(v, close + 1));
            *vec_push(&parts, a) = sb_sv(&b);
            from = end + 1;
        }
        if (made + todo.n + parts.n > PATTERN_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "stands for more than %d patterns", PATTERN_MAX);
        while (parts.n) /* the first one is taken next */
            *vec_push(&todo, a) = parts.v[--parts.n];
    }
    return ST_OK;
}

enum status pattern_from(struct sv pattern, struct sv here, struct arena *a, struct sv *out,
                         struct err *e)
{
    bool      negated = pattern.n && pattern.s[0] == '!';
    struct sv bare = sv_skip(pattern, negated), path;
    struct sb b = sb_in(a, 0);

    *out = pattern;
    if (!sv_is(bare, ".") && !sv_is(bare, "..") && !sv_starts(bare, SV("./")) &&
        !sv_starts(bare, SV("../")))
        return ST_OK;
    if (path_normal_exact(path_join(here, bare, a), a, &path, e))
        return err_code(e);
    sb_adds(&b, negated ? "!" : "");
    if (path.n) {
        sb_addc(&b, '/');
        sb_add(&b, path);
        sb_adds(&b, bare.s[bare.n - 1] == '/' ? "/" : "");
    } else {
        sb_addc(&b, '*'); /* the root: all of it */
    }
    *out = sb_sv(&b);
    return ST_OK;
}
