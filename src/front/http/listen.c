/* Opening listening sockets. */
#include "front/http/listen.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/sb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

struct sv listen_path_of_shell(const struct serve *s)
{
    return path_join(s->place.path, s->place.socket, s->a);
}

static struct serve_door *add_door(struct serve *s, int fd)
{
    struct serve_door *d = &s->doors[s->n_doors++];

    *d = (struct serve_door){ .s = s, .fd = fd };
    d->names.allowed = s->o->allow_host;
    return d;
}

static enum status check_room(const struct serve *s, struct err *e)
{
    return s->n_doors < SERVE_LISTEN_MAX
               ? ST_OK
               : err_set(e, ST_LIMIT_EXCEEDED, "more than %d addresses to listen on",
                         SERVE_LISTEN_MAX - 1);
}

/* ---- sockets of the file system ----------------------------------------------------------- */

/* `name` in the directory `dir`, whose path may be longer than a socket's address can hold. */
static enum status bind_file(int dir, struct sv name, int *fd, struct err *e)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int n = snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%.*s", dir, SV_ARG(name));

    if (n < 0 || (size_t)n >= sizeof at.sun_path)
        return err_set(e, ST_LIMIT_EXCEEDED, "the name of the socket is too long");
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return err_errno(e, "socket");
    if (fchmod(*fd, 0600) != 0 || bind(*fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(*fd, BACKLOG) != 0)
        return err_errno(e, "bind " SV_FMT, SV_ARG(name));
    return ST_OK;
}

static enum status open_file(struct serve *s, struct sv path, struct err *e)
{
    struct sv parent = path_dir(path), name = path_base(path);
    UNDO(fd_undo)
    int dir = open(parent.n ? sv_cstr(parent, s->a) : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    int         fd = -1;

    if (dir < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(parent));
    if (fstatat(dir, sv_cstr(name, s->a), &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
            return err_set(e, ST_CONFLICT, SV_FMT " is there, and is not a socket of yours",
                           SV_ARG(path));
        unlinkat(dir, sv_cstr(name, s->a), 0); /* of a server that was killed */
    }
    if (check_room(s, e) || bind_file(dir, name, &fd, e))
        return err_code(e);
    struct serve_door *d = add_door(s, fd);
    struct sb          url = sb_in(s->a, 0);
    sb_adds(&url, "unix:");
    sb_add(&url, path);
    d->url = sb_sv(&url);
    d->names.is_local = true;
    return ST_OK;
}

/* ---- addresses ------------------------------------------------------------------------------ */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24) == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int port_of(int fd)
{
    union {
        struct sockaddr     any;
        struct sockaddr_in  v4;
        struct sockaddr_in6 v6;
    } at = { .v6 = { 0 } };
    socklen_t n = sizeof at;

    if (getsockname(fd, &at.any, &n) != 0)
        return 0;
    return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}

static enum status check_exposed(const struct serve *s, const struct sockaddr *a, struct sv text,
                                 struct err *e)
{
    if (is_loopback(a) || s->o->tls_cert.n || s->o->insecure)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED,
            "other machines reach " SV_FMT ", and what is sent there would not be encrypted",
            SV_ARG(text));
    err_reason(e, "insecure");
    return err_hint(e, "listen on 127.0.0.1 behind a proxy, give --tls-cert and --tls-key, or say "
                       "--insecure");
}

static enum status bind_address(const struct addrinfo *at, struct sv text, int *fd, struct err *e)
{
    int one = 1;

    *fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return err_errno(e, "socket");
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (at->ai_family == AF_INET6)
        setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(*fd, at->ai_addr, at->ai_addrlen) == 0 && listen(*fd, BACKLOG) == 0)
        return ST_OK;
    err_errno(e, "listen on " SV_FMT, SV_ARG(text));
    return errno == EADDRINUSE ? err_hint(e, "another program has this port: take another, or 0 "
                                             "for a free one")
                               : err_code(e);
}

/* http://HOST:PORT, with the names under which it may be addressed. */
static void name_door(struct serve *s, struct serve_door *d, struct sv host)
{
    struct sb url = sb_in(s->a, 0);

    d->names.tls = s->o->tls_cert.n > 0;
    d->names.port = port_of(d->fd);
    d->names.own = host;
    sb_adds(&url, d->names.tls ? "https://" : "http://");
    sb_add(&url, host);
    sb_addf(&url, ":%d", d->names.port);
    d->url = sb_sv(&url);
}

static enum status open_resolved(struct serve *s, const struct addrinfo *at, struct sv host,
                                 struct sv text, struct err *e)
{
    int fd = -1;

    if (check_exposed(s, at->ai_addr, text, e) || check_room(s, e))
        return err_code(e);
    if (bind_address(at, text, &fd, e)) {
        fd_undo(&fd);
        return err_code(e);
    }
    name_door(s, add_door(s, fd), host);
    return ST_OK;
}

/* "127.0.0.1:8000", "[::1]:8000", "localhost:8000", ":8000" and "8000" (both the loopback). */
static enum status split_address(struct sv text, struct sv *host, struct sv *port, struct err *e)
{
    struct sv_cut cut = sv_cut_last(text, ':');
    int64_t       n;

    *host = cut.found ? cut.head : SV("");
    *port = cut.found ? cut.tail : text;
    if (!host->n)
        *host = SV("127.0.0.1");
    if (sv_to_int(*port, &n) && n >= 0 && n <= 65535 &&
        (!sv_has(*host, ':') || sv_starts(*host, SV("["))))
        return ST_OK;
    err_set(e, ST_USAGE, "'" SV_FMT "' is not an address to listen on", SV_ARG(text));
    return err_hint(e, "127.0.0.1:8000, [::1]:8000, or unix:PATH; port 0 takes a free one");
}

static enum status open_address(struct serve *s, struct sv text, struct err *e)
{
    struct addrinfo  want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    struct sv        host, port;

    if (split_address(text, &host, &port, e))
        return err_code(e);
    bool      bracket = sv_starts(host, SV("[")) && sv_ends(host, SV("]"));
    struct sv bare = bracket ? (struct sv){ host.s + 1, host.n - 2 } : host;
    int       rc = getaddrinfo(sv_cstr(bare, s->a), sv_cstr(port, s->a), &want, &found);
    if (rc != 0)
        return err_set(e, ST_USAGE, "'" SV_FMT "': %s", SV_ARG(text), gai_strerror(rc));
    enum status st = open_resolved(s, found, host, text, e);
    freeaddrinfo(found);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A browser may take `localhost` for ::1: listen there too, on the same port, where that works. */
static void add_second_loopback(struct serve *s)
{
    struct sb  text = sb_in(s->a, 0);
    struct err ignored;

    sb_addf(&text, "[::1]:%d", s->doors[s->n_doors - 1].names.port);
    (void)!open_address(s, sb_sv(&text), &ignored);
}

/* A socket that systemd has opened. Its address decides what is asked of requests. */
static enum status take_handed(struct serve *s, int fd, struct err *e)
{
    struct sockaddr_storage at = { 0 };
    socklen_t               n = sizeof at;
    char                    host[64] = "";

    if (check_room(s, e))
        return err_code(e);
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0)
        return err_errno(e, "descriptor %d of LISTEN_FDS", fd);
    if (at.ss_family != AF_UNIX && check_exposed(s, (struct sockaddr *)&at, SV("LISTEN_FDS"), e))
        return err_code(e);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    struct serve_door *d = add_door(s, fd);
    if (at.ss_family == AF_UNIX) {
        d->names.is_local = true;
        d->url = SV("unix: a socket of systemd");
        return ST_OK;
    }
    getnameinfo((struct sockaddr *)&at, n, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    struct sb name = sb_in(s->a, 0);
    sb_addf(&name, at.ss_family == AF_INET6 ? "[%s]" : "%s", host);
    name_door(s, d, sb_sv(&name));
    return ST_OK;
}

static enum status take_all_handed(struct serve *s, struct err *e)
{
    int64_t pid, count;

    if (!sv_to_int(sv_of(getenv("LISTEN_PID")), &pid) || pid != getpid() ||
        !sv_to_int(sv_of(getenv("LISTEN_FDS")), &count) || count < 1)
        return ST_OK;
    for (int i = 0; i < count; i++)
        if (take_handed(s, 3 + i, e)) /* they begin there, by definition */
            return err_code(e);
    unsetenv("LISTEN_PID"); /* they are not for programs that this one starts */
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return ST_OK;
}

void listen_notify(const char *state)
{
    const char        *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t             n = path ? strlen(path) : 0;

    if (n < 2 || n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') /* an abstract address */
        to.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}

static enum status open_asked(struct serve *s, struct err *e)
{
    if (!s->o->listen.n) {
        if (open_address(s, SV("127.0.0.1:0"), e))
            return err_code(e);
        add_second_loopback(s);
    }
    for (size_t i = 0; i < s->o->listen.n; i++) {
        struct sv text = s->o->listen.v[i];
        if (sv_starts(text, SV("unix:")) ? open_file(s, sv_skip(text, 5), e)
                                         : open_address(s, text, e))
            return err_code(e);
    }
    return ST_OK;
}

/* A socket of systemd that is a file does not take the place of an address for browsers. */
enum status listen_open(struct serve *s, struct err *e)
{
    if (open_file(s, listen_path_of_shell(s), e) || take_all_handed(s, e))
        return err_code(e);
    return server_url(s).n && !s->o->listen.n ? ST_OK : open_asked(s, e);
}

void listen_close(struct serve *s)
{
    for (size_t i = 0; i < s->n_doors; i++)
        if (s->doors[i].fd >= 0)
            close(s->doors[i].fd);
    s->n_doors = 0;
}
