#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *leslie;
    int         exit, http;
} table[] = {
#define X(code, word, exit, http, leslie, when) [code] = { word, leslie, exit, http },
    STATUS_TABLE(X)
#undef X
};

const char *status_word(enum status s)
{
    return table[s].word;
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

/* The parentheses keep the macros of the same names out. */
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
        return err_hint(e, "check who owns it and its mode (ls -ld)");
    if (saved == EROFS)
        return err_hint(e, "the file system is mounted read-only");
    if (saved == ENOSPC || saved == EDQUOT)
        return err_hint(e, "the disk is full; free some space and run the command again");
    return err_code(e);
}

enum status(err_hint)(struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
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

/* One line in one write: lines of processes that share stderr do not mix. */
static void say(const char *lead, const char *fmt, va_list ap) PRINTF(2, 0);
static void say(const char *lead, const char *fmt, va_list ap)
{
    char    room[1024], *line = room;
    size_t  lead_n = strlen(lead);
    va_list again;

    va_copy(again, ap);
    int    n = vsnprintf(room, 0, fmt, again);
    size_t text_n = n > 0 ? (size_t)n : 0;
    va_end(again);
    if (lead_n + text_n + 2 > sizeof room && !(line = malloc(lead_n + text_n + 2))) {
        line = room; /* cut rather than not said */
        text_n = sizeof room - lead_n - 2;
    }
    memcpy(line, lead, lead_n);
    vsnprintf(line + lead_n, text_n + 1, fmt, ap);
    line[lead_n + text_n] = '\n';
    fwrite(line, 1, lead_n + text_n + 1, stderr);
    if (line != room)
        free(line);
}

void warn(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say("warning: ", fmt, ap);
    va_end(ap);
}

void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say("heddle: ", fmt, ap);
    va_end(ap);
    exit(1);
}
