/* Building text in memory or on its way to a descriptor, and making it harmless for a terminal. */
#include "base/sb.h"

#include "base/failure.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FD_BUFFER = 64 * 1024 };

struct sb sb_in(struct arena *a, size_t limit)
{
    return (struct sb){ .a = a, .limit = limit ? limit : SIZE_MAX / 2, .fd = -1 };
}

struct sb sb_on(char *room, size_t cap, struct arena *a)
{
    return (struct sb){ .a = a, .s = room, .cap = cap, .limit = SIZE_MAX / 2, .fd = -1 };
}

struct sb sb_to_fd(int fd, struct arena *a)
{
    return (struct sb){ .a = a,
                        .s = ARENA_NEW(a, char, FD_BUFFER),
                        .cap = FD_BUFFER,
                        .limit = SIZE_MAX / 2,
                        .fd = fd,
                        .show = isatty(fd) ? SB_ESCAPED : SB_RAW };
}

/* The descriptor of a builder with a sink: no real descriptor has this number, and negative numbers
 * mean memory. */
enum { SINK_FD = INT_MAX, SINK_BUFFER = 16 * 1024 };

struct sb sb_to_sink(int (*sink)(void *, struct sv), void *ctx, struct arena *a)
{
    return (struct sb){ .a = a,
                        .s = arena_grow(a, NULL, 0, SINK_BUFFER), /* nothing of it is read first */
                        .cap = SINK_BUFFER,
                        .limit = SIZE_MAX / 2,
                        .fd = SINK_FD,
                        .sink = sink,
                        .sink_ctx = ctx };
}

static void write_all(struct sb *b, struct sv v)
{
    if (b->sink) {
        if (v.n && !b->failed)
            b->failed = b->sink(b->sink_ctx, v);
        return;
    }
    while (v.n && !b->failed) {
        ssize_t n = write(b->fd, v.s, v.n);
        if (n >= 0)
            v = sv_skip(v, (size_t)n);
        else if (errno != EINTR)
            b->failed = errno;
    }
}

static void add_visible(struct sb *b, struct sv v, bool many_lines, enum sb_show show);

/* The longest sequence that SB_STYLED lets pass. */
enum { STYLE_BYTES = sizeof "\033[31m" - 1 };

/* How many bytes of a style stand at the start of `v`: \e[0m, \e[1m, \e[2m, \e[31m to \e[36m. */
static size_t style_bytes(struct sv v)
{
    if (v.n >= 4 && memcmp(v.s, "\033[", 2) == 0 && v.s[2] >= '0' && v.s[2] <= '2' && v.s[3] == 'm')
        return 4;
    return v.n >= 5 && memcmp(v.s, "\033[3", 3) == 0 && v.s[3] >= '1' && v.s[3] <= '6' &&
                   v.s[4] == 'm'
               ? 5
               : 0;
}

/* How many bytes at the end of `v` may be the start of a style. */
static size_t style_unfinished(struct sv v)
{
    for (size_t n = 1; n < STYLE_BYTES && n <= v.n; n++)
        if (v.s[v.n - n] == '\033')
            return style_bytes(sv_skip(v, v.n - n)) ? 0 : n;
    return 0;
}

/* How many buffered bytes are held back: they may be the start of a character or a style. */
static size_t unfinished(const struct sb *b)
{
    struct sv all = { b->s, b->n };
    size_t    held = b->show == SB_RAW ? 0 : utf8_unfinished(all);

    return held || b->show != SB_STYLED ? held : style_unfinished(all);
}

/* Write what is buffered. What is not complete waits, unless this is the end. */
static void drain(struct sb *b, bool end)
{
    struct arena scratch = { 0 };
    struct sv    all = { b->s, b->n };
    size_t       held = end ? 0 : unfinished(b);

    if (b->show == SB_RAW) {
        write_all(b, all);
    } else {
        struct sb shown = sb_in(&scratch, 0);
        add_visible(&shown, sv_first(all, all.n - held), true, b->show);
        write_all(b, (struct sv){ shown.s, shown.n });
        arena_free(&scratch);
    }
    memmove(b->s, b->s + b->n - held, held);
    b->n = held;
}

/* Make room for n more bytes in memory; false when the limit forbids it. */
static bool reserve(struct sb *b, size_t n)
{
    if (b->failed)
        return false;
    if (n > b->limit - b->n) {
        b->failed = ENOBUFS;
        return false;
    }
    if (b->n + n + 1 > b->cap) {
        size_t want = b->cap ? b->cap * 2 : 256;
        while (want < b->n + n + 1)
            want *= 2;
        b->s = arena_grow(b->a, b->s, b->cap, want);
        b->cap = want;
    }
    return true;
}

char *sb_room(struct sb *b, size_t n)
{
    if (!reserve(b, n))
        failure_memory(n);
    return b->s + b->n;
}

/* sb_add() when it takes more than copying: growing, writing, a limit. */
static __attribute__((noinline)) void add_far(struct sb *b, struct sv v)
{
    if (!v.n)
        return;
    if (b->fd >= 0) {
        if (v.n > b->cap - b->n)
            drain(b, false);
        if (v.n >= b->cap && b->show == SB_RAW) {
            write_all(b, v);
            return;
        }
        for (size_t room; v.n > (room = b->cap - b->n); v = sv_skip(v, room)) {
            memcpy(b->s + b->n, v.s, room);
            b->n += room;
            drain(b, false);
        }
    } else if (!reserve(b, v.n)) {
        return;
    }
    if (b->s) /* always true here; the check is for static analysis */
        memcpy(b->s + b->n, v.s, v.n);
    b->n += v.n;
}

void sb_add(struct sb *b, struct sv v)
{
    if (!b->s || !v.n || !sb_fits(b, v.n)) {
        add_far(b, v);
        return;
    }
    memcpy(b->s + b->n, v.s, v.n);
    b->n += v.n;
}

void sb_addc(struct sb *b, char c)
{
    if (sb_fits(b, 1))
        b->s[b->n++] = c;
    else
        add_far(b, (struct sv){ &c, 1 });
}

void sb_adds(struct sb *b, const char *cstr)
{
    sb_add(b, sv_of(cstr));
}

void sb_addvf(struct sb *b, const char *fmt, va_list ap)
{
    char    small[512];
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    if (n < 0) {
        b->failed = b->failed ? b->failed : EOVERFLOW; /* more than INT_MAX bytes */
    } else if ((size_t)n < sizeof small) {
        sb_add(b, (struct sv){ small, (size_t)n });
    } else {
        struct arena scratch = { 0 };
        char        *big = ARENA_NEW(&scratch, char, (size_t)n + 1);
        vsnprintf(big, (size_t)n + 1, fmt, again);
        sb_add(b, (struct sv){ big, (size_t)n });
        arena_free(&scratch);
    }
    va_end(again);
}

void sb_addf(struct sb *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    sb_addvf(b, fmt, ap);
    va_end(ap);
}

#define DIGIT_ROW(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
static const char digit_pairs[] = DIGIT_ROW("0") DIGIT_ROW("1") DIGIT_ROW("2") DIGIT_ROW("3")
    DIGIT_ROW("4") DIGIT_ROW("5") DIGIT_ROW("6") DIGIT_ROW("7") DIGIT_ROW("8") DIGIT_ROW("9");

static size_t digits_of(uint64_t u)
{
    size_t n = 1;

    for (; u >= 10000; u /= 10000)
        n += 4;
    return n + (u >= 10) + (u >= 100) + (u >= 1000);
}

char *sb_write_int(char *to, int64_t n)
{
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    if (n < 0)
        *to++ = '-';
    char *end = to + digits_of(u), *p = end;
    for (uint64_t rest; u >= 10; u = rest) { /* two digits at a time */
        rest = u / 100;
        memcpy(p -= 2, digit_pairs + 2 * (u - rest * 100), 2);
    }
    if (p > to)
        *to = (char)('0' + u);
    return end;
}

void sb_add_int(struct sb *b, int64_t n)
{
    char buf[SB_INT_MAX];

    sb_put(b, (struct sv){ buf, (size_t)(sb_write_int(buf, n) - buf) });
}

void sb_add_commas(struct sb *b, int64_t n)
{
    char     buf[32];
    char    *p = buf + sizeof buf;
    uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int      digits = 0;

    do {
        if (digits && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + u % 10);
        digits++;
    } while (u /= 10);
    if (n < 0)
        *--p = '-';
    sb_add(b, (struct sv){ p, (size_t)(buf + sizeof buf - p) });
}

#define HEX_ROW(h)                                                                                 \
    h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"

char *sb_write_hex(char *to, const void *bytes, size_t n)
{
    static const char pairs[] = HEX_ROW("0") HEX_ROW("1") HEX_ROW("2") HEX_ROW("3") HEX_ROW("4")
        HEX_ROW("5") HEX_ROW("6") HEX_ROW("7") HEX_ROW("8") HEX_ROW("9") HEX_ROW("a") HEX_ROW("b")
            HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");
    const unsigned char *p = bytes;

#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++)
        memcpy(to + 2 * i, pairs + 2 * (size_t)p[i], 2);
    return to + 2 * n;
}

void sb_add_hex(struct sb *b, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    char                 two[2];

    if (sb_fits(b, 2 * n)) {
        b->n = (size_t)(sb_write_hex(b->s + b->n, bytes, n) - b->s);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sb_write_hex(two, p + i, 1);
        sb_add(b, (struct sv){ two, sizeof two });
    }
}

void sb_pad(struct sb *b, char c, size_t n)
{
    while (n--)
        sb_addc(b, c);
}

/* As \uNNNN, in two halves when it needs them, as JSON writes it. */
static void add_escaped(struct sb *b, uint32_t cp)
{
    if (cp >= 0x10000)
        sb_addf(b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
                0xdc00 + ((cp - 0x10000) & 0x3ff));
    else
        sb_addf(b, "\\u%04x", cp);
}

/* Does a terminal act on it? The CR of a Windows line end is harmless in a file that is shown. */
static bool is_control(struct sv v, int32_t cp, bool many_lines, enum sb_show show)
{
    if (many_lines && (cp == '\n' || cp == '\t'))
        return false;
    if (show == SB_ESCAPED && cp == '\r' && v.n > 1 && v.s[1] == '\n')
        return false;
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f);
}

/* How many bytes at the start of `v` every way of showing a text leaves as they are. */
static size_t printable_ascii(struct sv v)
{
    size_t n = 0;

    while (n < v.n && v.s[n] >= 0x20 && v.s[n] < 0x7f)
        n++;
    return n;
}

static void add_visible(struct sb *b, struct sv v, bool many_lines, enum sb_show show)
{
    size_t len;

    for (; v.n; v = sv_skip(v, len)) {
        if ((len = printable_ascii(v))) {
            sb_add(b, sv_first(v, len));
            continue;
        }
        int32_t cp = utf8_decode(v, &len);
        bool    control = cp >= 0 && is_control(v, cp, many_lines, show);
        size_t  style = show == SB_STYLED && control ? style_bytes(v) : 0;
        if (style)
            sb_add(b, sv_first(v, len = style));
        else if (cp < 0)
            for (size_t i = 0; i < len; i++)
                sb_addf(b, "\\x%02x", (unsigned char)v.s[i]);
        else if (control && show != SB_ESCAPED)
            sb_addf(b, "\\x%02x", (unsigned)cp);
        else if (control || utf8_is_unseen(cp))
            add_escaped(b, (uint32_t)cp);
        else
            sb_add(b, sv_first(v, len));
    }
}

void sb_add_plain(struct sb *b, struct sv v)
{
    add_visible(b, v, true, SB_PLAIN);
}

void sb_add_plain_line(struct sb *b, struct sv v)
{
    add_visible(b, v, false, SB_PLAIN);
}

static bool is_shell_plain(struct sv v)
{
    for (size_t i = 0; i < v.n; i++) {
        char c = byte_lower(v.s[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && (!c || !strchr("%+,-./:=@_", c)))
            return false;
    }
    return v.n > 0;
}

void sb_add_shell(struct sb *b, struct sv v)
{
    if (is_shell_plain(v)) {
        sb_add(b, v);
        return;
    }
    sb_addc(b, '\'');
    for (size_t i = 0; i < v.n; i++)
        if (v.s[i] == '\'')
            sb_adds(b, "'\\''");
        else
            sb_addc(b, v.s[i]);
    sb_addc(b, '\'');
}

struct sv sb_sv(struct sb *b)
{
    if (!b->s)
        return SV("");
    b->s[b->n] = 0; /* reserve() always leaves room */
    return (struct sv){ b->s, b->n };
}

enum status sb_done(struct sb *b, struct sv *out, struct err *e)
{
    if (b->failed)
        return err_set(e, ST_LIMIT_EXCEEDED, "text is longer than %zu bytes", b->limit);
    *out = sb_sv(b);
    return ST_OK;
}

enum status sb_flush(struct sb *b, struct err *e)
{
    if (!b->failed)
        drain(b, true);
    if (!b->failed)
        return ST_OK;
    errno = b->failed;
    err_errno(e, "write");
    return b->failed == EPIPE ? err_reason(e, "reader_gone") : err_code(e);
}
