/* Text being built: in an arena up to a limit, or on its way to a file.
 *
 *     struct sb b = sb_in(&a, 0);                in memory, no limit of its own
 *     sb_addf(&b, "%d %s\n", n, "entries");
 *     if (sb_done(&b, &text, e)) return err_code(e);
 *
 *     struct sb out = sb_to_fd(1, &a);           buffered writes to a descriptor
 *
 * Adding returns no error: past the limit, or after a failed write, the builder is marked and later
 * adds do nothing; sb_done() (sb_flush() for a descriptor) returns the error. */
#ifndef HEDDLE_SB_H
#define HEDDLE_SB_H

#include "base/status.h"
#include "base/sv.h"

#include <stdarg.h>

/* How text is changed when it is written to a descriptor. */
enum sb_show {
    SB_RAW,     /* nothing */
    SB_PLAIN,   /* as sb_add_plain() does it */
    SB_ESCAPED, /* the same, all of it as \uNNNN, which is also right inside of JSON */
    SB_STYLED, /* as SB_PLAIN, but bold, dim and coloured text pass: \e[0m to \e[2m, \e[31m to 36 */
};

struct sb {
    struct arena *a;
    char         *s;
    size_t        n, cap, limit;
    int           fd;     /* -1: memory */
    int           failed; /* errno of the failed write, or ENOBUFS for the limit */
    enum sb_show  show;
    int (*sink)(void *ctx, struct sv bytes); /* takes the bytes in the place of fd; may be NULL */
    void *sink_ctx;
};

struct sb sb_in(struct arena *a, size_t limit); /* limit 0: none */

/* `show` is SB_ESCAPED for a terminal, so that no control sequence reaches it by oversight, and
 * SB_RAW for anything else. A caller that sends colours sets it to SB_RAW. */
struct sb sb_to_fd(int fd, struct arena *a);

/* Text on its way to a function, which gets all bytes in pieces of any size, and returns 0 or an
 * errno: EPIPE when nobody wants more. */
struct sb sb_to_sink(int (*sink)(void *ctx, struct sv bytes), void *ctx, struct arena *a);

/* Begins in the caller's `cap` bytes and moves to the arena when they do not suffice. */
struct sb sb_on(char *room, size_t cap, struct arena *a);

void sb_add(struct sb *b, struct sv v);
void sb_addc(struct sb *b, char c);
void sb_adds(struct sb *b, const char *cstr);
void sb_addf(struct sb *b, const char *fmt, ...) PRINTF(2, 3);
void sb_addvf(struct sb *b, const char *fmt, va_list ap) PRINTF(2, 0);
void sb_add_int(struct sb *b, int64_t n);
void sb_add_commas(struct sb *b, int64_t n); /* 1,234,567 */
void sb_add_hex(struct sb *b, const void *bytes, size_t n);
void sb_pad(struct sb *b, char c, size_t n);

/* Text for a person's terminal. Control characters other than newline and tab (C1 too) and bytes
 * that are not UTF-8 become \xNN, so that stored text cannot move the cursor or set the title;
 * characters that change the direction of text, or that are invisible, become \uNNNN, so that the
 * text is what it looks like. All text mode output of stored or foreign text goes through here. */
void sb_add_plain(struct sb *b, struct sv v);
void sb_add_plain_line(struct sb *b, struct sv v); /* newline and tab too */

/* One word for a POSIX shell, quoted when necessary: for messages that contain a command to run. */
void sb_add_shell(struct sb *b, struct sv v);

/* What has been built so far; NUL-terminated, the NUL not counted. Memory only. */
struct sv sb_sv(struct sb *b);

/* ST_LIMIT_EXCEEDED when the limit was reached. Memory only. */
enum status sb_done(struct sb *b, struct sv *out, struct err *e) MUST_USE;

/* Write what is buffered. ST_IO when this or an earlier write failed. */
enum status sb_flush(struct sb *b, struct err *e) MUST_USE; /* reason "reader_gone": EPIPE */

/* Do n more bytes fit into the allocated memory? For most adds they do. */
static inline bool sb_fits(const struct sb *b, size_t n)
{
    return n < b->cap - b->n && n <= b->limit - b->n && !b->failed;
}

/* sb_add() inlined: adding a literal that fits takes a few instructions. For code that runs for
 * every entry. */
static inline void sb_put(struct sb *b, struct sv v)
{
    if (v.n && sb_fits(b, v.n)) {
        memcpy(b->s + b->n, v.s, v.n);
        b->n += v.n;
    } else {
        sb_add(b, v);
    }
}

static inline void sb_putc(struct sb *b, char c)
{
    if (sb_fits(b, 1))
        b->s[b->n++] = c;
    else
        sb_addc(b, c);
}

/* Room for n more bytes, where code writes by itself; it then sets b->n. Memory only; b has no
 * limit. */
char *sb_room(struct sb *b, size_t n);

/* Writing to such room: each returns the place behind what it wrote. */
static inline char *sb_write(char *to, struct sv v)
{
    if (v.n)
        memcpy(to, v.s, v.n);
    return to + v.n;
}
/* The same for a text that is mostly short: up to 16 bytes are copied without a call. */
static inline char *sb_write_short(char *to, struct sv v)
{
    uint64_t a, b;
    uint32_t c, d;

    if (v.n > 16)
        return sb_write(to, v);
    if (v.n >= 8) {
        memcpy(&a, v.s, 8);
        memcpy(&b, v.s + v.n - 8, 8);
        memcpy(to, &a, 8);
        memcpy(to + v.n - 8, &b, 8);
    } else if (v.n >= 4) {
        memcpy(&c, v.s, 4);
        memcpy(&d, v.s + v.n - 4, 4);
        memcpy(to, &c, 4);
        memcpy(to + v.n - 4, &d, 4);
    } else {
        for (size_t i = 0; i < v.n; i++)
            to[i] = v.s[i];
    }
    return to + v.n;
}
char *sb_write_int(char *to, int64_t n); /* SB_INT_MAX bytes at most */
char *sb_write_hex(char *to, const void *bytes, size_t n);
enum { SB_INT_MAX = 20 };

#endif
