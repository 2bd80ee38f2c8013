/* Text being built: in an arena up to a limit, or on its way to a file.
 *
 *     struct sb b = sb_in(&a, 0);                in memory, no limit of its own
 *     sb_addf(&b, "%d %s\n", n, "entries");
 *     if (sb_done(&b, &text, e)) return err_code(e);
 *
 *     struct sb out = sb_to_fd(1, &a);           buffered writes to a descriptor
 *
 * Adding never fails loudly: past the limit, or after a failed write, the builder
 * is marked and later adds do nothing; sb_done() (sb_flush() for a descriptor)
 * tells once. */
#ifndef HEDDLE_SB_H
#define HEDDLE_SB_H

#include "base/status.h"
#include "base/sv.h"

#include <stdarg.h>

/* What becomes of text on its way to a descriptor. */
enum sb_show {
    SB_RAW,     /* nothing */
    SB_PLAIN,   /* as sb_add_plain() does it */
    SB_ESCAPED, /* the same, all of it as \uNNNN, which is also right inside of JSON */
};

struct sb {
    struct arena *a;
    char         *s;
    size_t        n, cap, limit;
    int           fd;     /* -1: memory */
    int           failed; /* errno of the failed write, or ENOBUFS for the limit */
    enum sb_show  show;
};

struct sb sb_in(struct arena *a, size_t limit); /* limit 0: none */

/* A terminal gets SB_ESCAPED, so that nothing it would obey reaches it by oversight; whoever means
 * to send it colours sets `show` to SB_RAW. Anything else gets SB_RAW. */
struct sb sb_to_fd(int fd, struct arena *a);

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
 * characters that turn the direction of text, or that cannot be seen, become \uNNNN, so that what
 * is read is what is there. All text mode output of stored or foreign text goes through here. */
void sb_add_plain(struct sb *b, struct sv v);
void sb_add_plain_line(struct sb *b, struct sv v); /* newline and tab too */

/* One word for a POSIX shell, quoted when it has to be: for commands that a message tells to run.
 */
void sb_add_shell(struct sb *b, struct sv v);

/* What has been built so far; NUL-terminated, the NUL not counted. Memory only. */
struct sv sb_sv(struct sb *b);

/* ST_LIMIT_EXCEEDED when the limit was reached. Memory only. */
enum status sb_done(struct sb *b, struct sv *out, struct err *e) MUST_USE;

/* Write what is buffered. ST_IO when this or an earlier write failed. */
enum status sb_flush(struct sb *b, struct err *e) MUST_USE; /* reason "reader_gone": EPIPE */

#endif
