/* The table of codes, and filling errors. */
#include "base/status.h"

#include "base/sb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word, *meaning, *leslie;
    int         exit, http;
} table[] = {
#define X(code, word, exit, http, leslie, when) [code] = { word, when, leslie, exit, http },
    STATUS_TABLE(X)
#undef X
};

const char *status_word(enum status s)
{
    return table[s].word;
}

const char *status_meaning(enum status s)
{
    return table[s].meaning;
}

const char *status_leslie(enum status s)
{
    return table[s].leslie;
}

int status_exit(enum status s)
{
    return table[s].exit;
}

int status_http(enum status s)
{
    return table[s].http;
}

/* The parentheses keep the macros of the same names from being expanded. */
enum status(err_set)(struct err *e, enum status code, const char *fmt, ...)
{
    va_list ap;

    e->code = code;
    e->reason[0] = 0;
    e->hint[0] = 0;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return code;
}

enum status(err_errno)(struct err *e, const char *fmt, ...)
{
    int     saved = errno;
    va_list ap;
    size_t  n;

    e->code = saved == ENOENT || saved == ENOTDIR ? ST_NOT_FOUND : ST_IO;
    e->reason[0] = 0;
    e->hint[0] = 0;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", strerror(saved));
    if (saved == EACCES || saved == EPERM)
        return err_hint(e, "check the owner and the mode of it and of its directory (ls -ld)");
    if (saved == EROFS)
        return err_hint(e, "the file system is mounted read-only");
    if (saved == ENOSPC || saved == EDQUOT)
        return err_hint(e, "the disk is full; free some space and run the command again");
    return err_code(e);
}

/* Quote the text between the marks of SH_FMT, and remove the marks. */
static void quote_words(char *out, size_t size, const char *text)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    struct sv    rest = sv_of(text);

    while (rest.n) {
        struct sv_cut start = sv_cut(rest, '\001'), end = sv_cut(start.tail, '\002');
        sb_add(&b, start.head);
        if (start.found)
            sb_add_shell(&b, end.head);
        rest = end.tail;
    }
    snprintf(out, size, "%s", sb_sv(&b).s);
    arena_free(&scratch);
}

enum status(err_hint)(struct err *e, const char *fmt, ...)
{
    char    text[sizeof e->hint];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strchr(text, '\001'))
        quote_words(e->hint, sizeof e->hint, text);
    else
        memcpy(e->hint, text, sizeof text);
    return err_code(e);
}

enum status(err_reason)(struct err *e, const char *reason)
{
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    return err_code(e);
}

enum status(err_in)(struct err *e, const char *fmt, ...)
{
    char    old[sizeof e->text];
    va_list ap;

    memcpy(old, e->text, sizeof old);
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %.*s", (int)(sizeof e->text - n), old);
    return err_code(e);
}
