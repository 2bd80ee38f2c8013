/* Finds the encoding that a text declares, and converts the text to UTF-8. */
#include "payload/charset.h"

#include "base/base.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc's analyzer takes (iconv_t)-1, which is not a descriptor, for one that is not closed. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

enum { HEAD = 1024 }; /* declarations are searched in the first bytes */

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           memchr("-_.:", c, 4) != NULL;
}

/* The name at the start of v, perhaps quoted. A slash ends it, because iconv reads options after
 * one. */
static bool take_name(struct sv v, char name[CHARSET_NAME_MAX])
{
    size_t n = 0;

    while (v.n && memchr(" \t\"'", v.s[0], 4))
        v = sv_skip(v, 1);
    while (n < v.n && n + 1 < CHARSET_NAME_MAX && is_name_byte(v.s[n])) {
        name[n] = v.s[n];
        n++;
    }
    name[n] = 0;
    return n > 0;
}

/* Finds `key` in v, ignoring case, and returns the name behind it. */
static bool name_behind(struct sv v, const char *key, char name[CHARSET_NAME_MAX])
{
    size_t n = strlen(key);

    for (size_t i = 0; i + n <= v.n; i++)
        if (strncasecmp(v.s + i, key, n) == 0)
            return take_name(sv_skip(v, i + n), name);
    return false;
}

static bool by_mark(struct sv text, char name[CHARSET_NAME_MAX])
{
    const char *found = NULL;

    if (text.n >= 4 &&
        (memcmp(text.s, "\xff\xfe\0\0", 4) == 0 || memcmp(text.s, "\0\0\xfe\xff", 4) == 0))
        found = "UTF-32";
    else if (text.n >= 4 &&
             (memcmp(text.s, "\xff\xfe", 2) == 0 || memcmp(text.s, "\xfe\xff", 2) == 0))
        found = "UTF-16";
    if (found)
        snprintf(name, CHARSET_NAME_MAX, "%s", found);
    return found != NULL;
}

/* "coding: NAME" or "coding=NAME", as Python, Emacs and Vim read it. */
static bool by_comment(struct sv head, char name[CHARSET_NAME_MAX])
{
    struct sv_cut first = sv_cut(head, '\n'), second = sv_cut(first.tail, '\n');
    struct sv     lines[] = { first.head, second.head };

    for (size_t i = 0; i < COUNT(lines); i++)
        if (name_behind(lines[i], "coding:", name) || name_behind(lines[i], "coding=", name))
            return true;
    return false;
}

bool charset_declared(struct sv text, struct sv content_type, char name[CHARSET_NAME_MAX])
{
    struct sv head = sv_first(text, text.n < HEAD ? text.n : HEAD);
    struct sv line = sv_cut(head, '\n').head;

    if (by_mark(text, name))
        return true;
    bool found = name_behind(content_type, "charset=", name) ||
                 (sv_starts(head, SV("<?xml")) && name_behind(line, "encoding=", name)) ||
                 (sv_has(head, '<') && name_behind(head, "charset=", name)) ||
                 by_comment(head, name);
    return found && strcasecmp(name, "utf-8") != 0 && strcasecmp(name, "utf8") != 0;
}

/* Like browsers, read Latin-1 as Windows-1252, which it mostly is. */
static const char *real_name(const char *name)
{
    static const char *const latin[] = { "iso-8859-1", "iso8859-1", "latin1", "latin-1",
                                         "l1",         "us-ascii",  "ascii",  "iso_8859-1" };

    for (size_t i = 0; i < COUNT(latin); i++)
        if (strcasecmp(name, latin[i]) == 0)
            return "WINDOWS-1252";
    return name;
}

static bool convert(iconv_t how, struct sv text, struct sv *out)
{
    size_t cap = text.n + text.n / 2 + 64, in_left = text.n;
    char  *s = malloc(cap), *to = s, *from = (char *)(uintptr_t)text.s;

    for (bool last = false; s;) {
        size_t room = cap - (size_t)(to - s) - 1;
        size_t rc =
            last ? iconv(how, NULL, NULL, &to, &room) : iconv(how, &from, &in_left, &to, &room);
        if (rc != (size_t)-1 && last) {
            *to = 0;
            *out = (struct sv){ s, (size_t)(to - s) };
            return true;
        }
        if (rc != (size_t)-1) {
            last = true;
            continue;
        }
        if (errno != E2BIG)
            break;
        size_t used = (size_t)(to - s);
        char  *more = realloc(s, cap * 2);
        if (!more)
            break;
        s = more;
        to = s + used;
        cap *= 2;
    }
    free(s);
    return false;
}

bool charset_convert(struct sv text, const char *name, struct sv *out)
{
    if (text.n > CHARSET_TEXT_MAX)
        return false;
    iconv_t how = iconv_open("UTF-8", real_name(name));
    bool    known = how != (iconv_t)-1;
    bool    ok = known && convert(how, text, out);
    if (known)
        iconv_close(how);
    return ok;
}
