/* A small client of HTTP over a socket of the file system. */
#include "api/serve_client.h"

#include "base/fs.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENT_HEAD_MAX = 64 * 1024, CLIENT_BUFFER = 64 * 1024, CLIENT_BODY_MAX = 256 << 20 };

static enum status gone(struct err *e)
{
    err_set(e, ST_IO, "the server ended the connection before its answer was complete");
    err_reason(e, "server_gone");
    return err_hint(e, "`heddle serve --status` says whether it runs; repeat what has an op_id");
}

/* ---- connecting
 * ---------------------------------------------------------------------------------- */

/* The directory lets only the user create the socket; asking for the owner of the peer as well is
 * cheap. */
static enum status check_peer(int fd, struct err *e)
{
    struct ucred who;
    socklen_t    n = sizeof who;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
        return err_errno(e, "the server's socket");
    if (who.uid == geteuid() || who.uid == 0)
        return ST_OK;
    return err_set(e, ST_PERMISSION_DENIED, "the server belongs to another user");
}

static enum status connect_to(struct sv path, struct arena *a, int *fd, struct err *e)
{
    UNDO(fd_undo) int  dir = open(sv_cstr(path_dir(path), a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct sv          name = path_base(path);

    if (dir < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(path_dir(path)));
    /* Through the descriptor, since a path may be longer than a socket's address can hold. */
    int n = snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%.*s", dir, SV_ARG(name));
    if (n < 0 || (size_t)n >= sizeof at.sun_path)
        return err_set(e, ST_LIMIT_EXCEEDED, "the name of the server's socket is too long");
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return err_errno(e, "socket");
    if (connect(*fd, (struct sockaddr *)&at, sizeof at) != 0) {
        err_errno(e, "the server's socket " SV_FMT, SV_ARG(path));
        return err_hint(e, "`heddle serve --status` says whether a server runs");
    }
    return check_peer(*fd, e);
}

/* ---- asking
 * -------------------------------------------------------------------------------------- */

static enum status send_all(int fd, struct sv bytes, struct err *e)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.s, bytes.n, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return err_errno(e, "send to the server");
        bytes = sv_skip(bytes, n > 0 ? (size_t)n : 0);
    }
    return ST_OK;
}

static struct sv head_of(const struct serve_file *f, const struct serve_ask *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s " SV_FMT " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", q->method,
            SV_ARG(q->target));
    sb_addf(&b, "Authorization: Bearer " SV_FMT "\r\n", SV_ARG(f->token));
    if (q->accept.n)
        sb_addf(&b, "Accept: " SV_FMT "\r\n", SV_ARG(q->accept));
    if (q->actor.n)
        sb_addf(&b, "X-Heddle-Actor: " SV_FMT "\r\n", SV_ARG(q->actor));
    if (q->streams || q->body.s)
        sb_addf(&b, "Content-Type: " SV_FMT "\r\n",
                SV_ARG(q->type.n ? q->type : SV("application/json")));
    if (q->streams)
        sb_adds(&b, "Transfer-Encoding: chunked\r\n");
    else if (q->body.s)
        sb_addf(&b, "Content-Length: %zu\r\n", q->body.n);
    sb_adds(&b, "\r\n");
    return sb_sv(&b);
}

/* All that can be read, as chunks. The server may have answered before it has read everything: then
 * sending fails, and the answer says why. */
static enum status send_stream(int fd, int from, struct arena *a, struct err *e)
{
    char      *buf = ARENA_NEW(a, char, CLIENT_BUFFER);
    char       size[32];
    struct err ignored;

    for (;;) {
        ssize_t n = read(from, buf, CLIENT_BUFFER);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "read");
        if (n == 0) {
            (void)!send_all(fd, SV("0\r\n\r\n"), &ignored);
            return ST_OK;
        }
        snprintf(size, sizeof size, "%zx\r\n", (size_t)n);
        if (send_all(fd, sv_of(size), &ignored) ||
            send_all(fd, (struct sv){ buf, (size_t)n }, &ignored) ||
            send_all(fd, SV("\r\n"), &ignored))
            return ST_OK;
    }
}

/* ---- the answer
 * ----------------------------------------------------------------------------------- */

struct answer {
    int                     fd;
    const struct serve_ask *q;
    struct arena           *a;
    char                   *buf; /* bytes that were read and not used: from <= i < n */
    size_t                  from, n;
    struct serve_reply     *reply;
    struct sb               body;
};

/* More bytes behind those that are there; *more is false at the end. */
static enum status fill(struct answer *x, bool *more, struct err *e)
{
    if (x->from) {
        memmove(x->buf, x->buf + x->from, x->n - x->from);
        x->n -= x->from;
        x->from = 0;
    }
    for (;;) {
        ssize_t got = recv(x->fd, x->buf + x->n, CLIENT_HEAD_MAX - x->n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == ECONNRESET ? gone(e) : err_errno(e, "read from the server");
        x->n += (size_t)got;
        *more = got > 0;
        return ST_OK;
    }
}

/* One line without its CR LF. */
static enum status read_line(struct answer *x, struct sv *line, struct err *e)
{
    bool more = true;

    for (;;) {
        struct sv rest = { x->buf + x->from, x->n - x->from };
        ptrdiff_t end = sv_find(rest, SV("\r\n"));
        if (end >= 0) {
            *line = sv_first(rest, (size_t)end);
            x->from += (size_t)end + 2;
            return ST_OK;
        }
        if (rest.n == CLIENT_HEAD_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "a line of the server's answer is too long");
        if (fill(x, &more, e))
            return err_code(e);
        if (!more)
            return gone(e);
    }
}

static enum status give(struct answer *x, struct sv bytes, struct err *e)
{
    if (x->q->piece && x->reply->status == 200)
        return x->q->piece(x->q->piece_ctx, bytes, e);
    if (x->body.n + bytes.n > CLIENT_BODY_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "the server's answer is too long");
    sb_add(&x->body, bytes);
    return ST_OK;
}

/* The next n bytes; or, when n is SIZE_MAX, all there are. */
static enum status read_bytes(struct answer *x, size_t n, struct err *e)
{
    bool more = true;

    while (n) {
        size_t there = x->n - x->from, some = there < n ? there : n;
        if (some && give(x, (struct sv){ x->buf + x->from, some }, e))
            return err_code(e);
        x->from += some;
        if (n != SIZE_MAX)
            n -= some;
        if (!n)
            return ST_OK;
        if (fill(x, &more, e))
            return err_code(e);
        if (!more)
            return n == SIZE_MAX ? ST_OK : gone(e);
    }
    return ST_OK;
}

static bool read_hex(struct sv text, size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = byte_lower(text.s[i]);
        int  d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0 || *out > (SIZE_MAX >> 5))
            return false;
        *out = *out * 16 + (size_t)d;
    }
    return text.n > 0;
}

static enum status read_chunks(struct answer *x, struct err *e)
{
    struct sv line;
    size_t    n;

    for (;;) {
        if (read_line(x, &line, e))
            return err_code(e);
        if (!read_hex(sv_trim(sv_cut(line, ';').head), &n))
            return err_set(e, ST_IO, "the server's answer cannot be read");
        if (!n)
            return ST_OK;
        if (read_bytes(x, n, e) || read_line(x, &line, e))
            return err_code(e);
    }
}

static enum status read_head(struct answer *x, struct err *e)
{
    struct sb head = sb_in(x->a, 0);
    struct sv line = { 0 };
    int64_t   status;

    if (read_line(x, &line, e))
        return err_code(e);
    if (!sv_starts(line, SV("HTTP/1.1 ")) || !sv_to_int(sv_first(sv_skip(line, 9), 3), &status))
        return err_set(e, ST_IO, "what answers is not a server of heddle");
    x->reply->status = (int)status;
    for (;;) {
        if (read_line(x, &line, e))
            return err_code(e);
        if (!line.n)
            break;
        if (head.n + line.n > CLIENT_HEAD_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "the head of the server's answer is too long");
        sb_add(&head, line);
        sb_addc(&head, '\n');
    }
    x->reply->head = sb_sv(&head);
    return ST_OK;
}

static enum status read_answer(struct answer *x, struct err *e)
{
    int64_t length;

    do
        if (read_head(x, e))
            return err_code(e);
    while (x->reply->status == 100);
    if (sv_is(serve_reply_field(x->reply, "Transfer-Encoding"), "chunked"))
        return read_chunks(x, e);
    if (sv_to_int(serve_reply_field(x->reply, "Content-Length"), &length) && length >= 0)
        return read_bytes(x, (size_t)length, e);
    return read_bytes(x, SIZE_MAX, e);
}

enum status serve_client_ask(const struct serve_file *f, const struct serve_ask *q, struct arena *a,
                             struct serve_reply *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct answer     x = { .q = q, .a = a, .reply = out, .body = sb_in(a, 0) };

    *out = (struct serve_reply){ 0 };
    if (connect_to(f->socket, a, &fd, e) || send_all(fd, head_of(f, q, a), e) ||
        (q->streams ? send_stream(fd, q->body_fd, a, e) : send_all(fd, q->body, e)))
        return err_code(e);
    x.fd = fd;
    x.buf = ARENA_NEW(a, char, CLIENT_HEAD_MAX);
    if (read_answer(&x, e))
        return err_code(e);
    out->body = sb_sv(&x.body);
    return ST_OK;
}

struct sv serve_reply_field(const struct serve_reply *r, const char *name)
{
    struct sv_cut cut = { .tail = r->head, .found = true };

    while (cut.found) {
        cut = sv_cut(cut.tail, '\n');
        struct sv_cut field = sv_cut(cut.head, ':');
        if (field.found && field.head.n == strlen(name) &&
            strncasecmp(field.head.s, name, field.head.n) == 0)
            return sv_trim(field.tail);
    }
    return (struct sv){ 0 };
}

/* ---- errors ------------------------------------------------------------------------------------
 */

static enum status code_of(struct sv word)
{
    for (enum status s = ST_OK + 1; s <= STATUS_LAST; s++)
        if (sv_is(word, status_word(s)))
            return s;
    return ST_IO;
}

enum status serve_reply_error(struct sv body, struct arena *a, struct sv *details, struct err *e)
{
    struct json        doc;
    struct err         ignored;
    const struct json *error, *more;

    *details = (struct sv){ 0 };
    if (json_parse(body, 0, a, &doc, &ignored) || !(error = json_find(&doc, "error")))
        return err_set(e, ST_IO, "the server answered with something that is not an error");
    err_set(e, code_of(json_text(error, "code")), "%.*s", SV_ARG(json_text(error, "message")));
    if (json_text(error, "hint").n)
        err_hint(e, "%.*s", SV_ARG(json_text(error, "hint")));
    if (json_text(error, "reason").n && json_text(error, "reason").n < sizeof e->reason)
        err_reason(e, sv_cstr(json_text(error, "reason"), a));
    more = json_find(error, "details");
    if (more)
        *details = json_canonical(more, a);
    return err_code(e);
}

enum status serve_client_document(const struct workspace *ws, const char *method, struct sv target,
                                  struct arena *a, struct sv *text, struct json *doc, struct err *e)
{
    struct serve_ask   q = { .method = method, .target = target };
    struct serve_file  f;
    struct serve_reply reply;
    struct sv          details;

    if (strcmp(method, "POST") == 0)
        q.body = SV("{}");
    if (serve_file_find(ws, a, &f, e) || serve_client_ask(&f, &q, a, &reply, e))
        return err_code(e);
    if (reply.status != 200)
        return serve_reply_error(reply.body, a, &details, e);
    *text = sv_trim(reply.body);
    return json_parse(*text, JSON_KEEP_ORDER, a, doc, e) ? err_in(e, "the server's answer") : ST_OK;
}
