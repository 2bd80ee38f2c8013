/* Checking names, normalizing and joining paths: text only, no system calls. */
#include "base/path.h"

#include "base/utf8.h"

enum status name_check(struct sv name, const char *what, struct err *e)
{
    if (!name.n)
        return err_set(e, ST_INVALID_SYNTAX, "%s is empty", what);
    if (name.n > NAME_MAX_BYTES) {
        err_set(e, ST_LIMIT_EXCEEDED, "%s is %zu bytes long", what, name.n);
        return err_hint(e, "use %d bytes or less", NAME_MAX_BYTES);
    }
    bool bad = name.s[0] == '.';
    for (size_t i = 0, len; i < name.n && !bad; i += len) {
        int32_t cp = (unsigned char)name.s[i];
        len = 1;
        if (cp >= 0x80)
            cp = utf8_decode(sv_skip(name, i), &len);
        bad = cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == '/' || cp == '\\';
    }
    if (!bad)
        return ST_OK;
    struct arena scratch = { 0 };
    struct sb    shown = sb_in(&scratch, 0);
    sb_add_plain_line(&shown, name);
    err_set(e, ST_INVALID_SYNTAX, "%s '%s' is not allowed", what, sb_sv(&shown).s);
    arena_free(&scratch);
    return err_hint(e, "letters, digits, - _ and . are fine; not / or \\, and no dot in front");
}

static bool is_blank(int32_t cp)
{
    return cp == ' ' || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
           cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

enum status name_check_new(struct sv name, const char *what, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    shown = sb_in(&scratch, 0);
    size_t       len;

    if (name_check(name, what, e))
        return err_code(e);
    bool bad = name.s[0] == '-';
    for (struct sv rest = name; rest.n && !bad; rest = sv_skip(rest, len)) {
        int32_t cp = utf8_decode(rest, &len);
        bad = cp == ',' || cp == ':' || is_blank(cp) || utf8_is_unseen(cp);
    }
    if (!bad)
        return ST_OK;
    sb_add_plain_line(&shown, name);
    err_set(e, ST_INVALID_SYNTAX, "%s '%s' is not allowed", what, sb_sv(&shown).s);
    arena_free(&scratch);
    return err_hint(e,
                    "letters, digits, - _ and . are fine; no comma, colon or space, nothing that "
                    "cannot be seen, and no - in front");
}

static enum status fold_path(struct sv path, bool backslash, struct arena *a, struct sv *out,
                             struct err *e)
{
    char  *s = ARENA_NEW(a, char, path.n + 1);
    size_t n = 0;

    if (sv_has(path, 0))
        return err_set(e, ST_INVALID_SYNTAX, "a path holds a NUL byte");
    for (size_t i = 0; i <= path.n;) {
        size_t end = i;
        while (end < path.n && path.s[end] != '/' && !(backslash && path.s[end] == '\\'))
            end++;
        struct sv part = { path.s + i, end - i };
        i = end + 1;
        if (!part.n || sv_is(part, "."))
            continue;
        if (sv_is(part, "..")) {
            if (!n)
                return err_set(e, ST_INVALID_SYNTAX, "path '" SV_FMT "' leaves the workspace",
                               SV_ARG(path));
            while (n && s[--n] != '/')
                ;
            continue;
        }
        if (n)
            s[n++] = '/';
        for (size_t k = 0; k < part.n; k++)
            s[n++] = part.s[k];
    }
    s[n] = 0;
    *out = (struct sv){ s, n };
    return ST_OK;
}

enum status path_normal(struct sv path, struct arena *a, struct sv *out, struct err *e)
{
    return fold_path(path, true, a, out, e);
}

enum status path_normal_exact(struct sv path, struct arena *a, struct sv *out, struct err *e)
{
    return fold_path(path, false, a, out, e);
}

struct sv path_join(struct sv dir, struct sv name, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, dir);
    if (dir.n && dir.s[dir.n - 1] != '/')
        sb_addc(&b, '/');
    sb_add(&b, name);
    return sb_sv(&b);
}

struct sv path_base(struct sv path)
{
    struct sv_cut c = sv_cut_last(path, '/');

    return c.found ? c.tail : path;
}

struct sv path_dir(struct sv path)
{
    struct sv_cut c = sv_cut_last(path, '/');

    return c.found ? c.head : SV("");
}
