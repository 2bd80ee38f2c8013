/* A proxy in front of a PostgreSQL server on a unix socket, in threads of this process, which cuts
 * connections at a given byte.
 *
 *     struct proxy p = { 0 };
 *     proxy_open(&p, "/tmp/there/.s.PGSQL.5432", "/tmp/here");
 *     proxy_cut(&p, PROXY_TO_SERVER, 700, 1);      the first connection from now on ends behind
 *     ...                                          the 700th byte that the client sends
 *     proxy_close(&p);                             p.bytes has what passed
 *
 * p.change, if set before proxy_open(), may put something else in the place of what the server
 * says, piece by piece; false ends the connection. */
#ifndef HEDDLE_POSTGRES_PROXY_H
#define HEDDLE_POSTGRES_PROXY_H

#include "base/base.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum proxy_way { PROXY_TO_SERVER, PROXY_TO_CLIENT };

struct proxy_relay;
typedef bool proxy_change(struct proxy_relay *r, const char *bytes, size_t n);

struct proxy {
    proxy_change      *change;
    struct sockaddr_un server, here;
    int                listener;
    pthread_t          acceptor;
    atomic_int         open;     /* connections that are being relayed */
    atomic_int         victims;  /* how many of the next connections are cut */
    atomic_int         way;      /* enum proxy_way */
    atomic_long        limit;    /* bytes that pass before the cut */
    atomic_long        bytes[2]; /* that have passed, by way */
    atomic_long        cuts;
};

struct proxy_relay {
    struct proxy *p;
    int           fds[2]; /* client, server */
    bool          victim;
    int           way;
    long          left;
    void         *state;   /* of p->change, freed with the relay */
    bool          changed; /* something was: the connection ends when nothing moves any more */
};

static inline bool proxy_write(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* Pass on what there is to read from fds[way]. False: it is over, or was cut. */
static inline bool proxy_pass(struct proxy_relay *r, int way)
{
    char    room[65536];
    ssize_t n = read(r->fds[way], room, sizeof room);
    bool    cut = false;

    if (n <= 0)
        return false;
    if (r->victim && way == r->way) {
        cut = n >= r->left;
        n = cut ? r->left : n;
        r->left -= n;
    }
    r->p->bytes[way] += n;
    if (way == PROXY_TO_CLIENT && r->p->change)
        return r->p->change(r, room, (size_t)n);
    if (!proxy_write(r->fds[!way], room, (size_t)n) || cut) {
        r->p->cuts += cut;
        return false;
    }
    return true;
}

static inline void *proxy_relay(void *ctx)
{
    struct proxy_relay *r = ctx;
    struct proxy       *p = r->p;
    bool                fine = !(r->victim && r->left <= 0);

    p->cuts += !fine;
    while (fine) {
        struct pollfd f[2] = { { r->fds[0], POLLIN, 0 }, { r->fds[1], POLLIN, 0 } };
        int           ready = poll(f, 2, r->changed ? 50 : -1);
        if (ready == 0 || (ready < 0 && errno != EINTR))
            break;
        for (int way = 0; way < 2 && fine; way++)
            if (f[way].revents)
                fine = proxy_pass(r, way);
    }
    close(r->fds[0]);
    close(r->fds[1]);
    free(r->state);
    free(r);
    p->open--;
    return NULL;
}

static inline void *proxy_accept(void *ctx)
{
    struct proxy *p = ctx;
    int           client;
    pthread_t     thread;

    while ((client = accept(p->listener, NULL, NULL)) >= 0) {
        struct proxy_relay *r = calloc(1, sizeof *r);
        int                 server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!r || server < 0)
            errx(1, "proxy: out of memory or descriptors");
        if (connect(server, (struct sockaddr *)&p->server, sizeof p->server)) {
            close(server);
            close(client);
            free(r);
            continue;
        }
        *r = (struct proxy_relay){
            .p = p, .fds = { client, server }, .way = p->way, .left = p->limit
        };
        r->victim = p->victims > 0;
        p->victims -= r->victim;
        p->open++;
        if (pthread_create(&thread, NULL, proxy_relay, r))
            errx(1, "proxy: no thread can be started");
        pthread_detach(thread);
    }
    return NULL;
}

/* `folder` gets a socket of the name that libpq expects. */
static inline void proxy_open(struct proxy *p, const char *server, const char *folder)
{
    *p = (struct proxy){ .change = p->change,
                         .server.sun_family = AF_UNIX,
                         .here.sun_family = AF_UNIX };
    snprintf(p->server.sun_path, sizeof p->server.sun_path, "%.107s", server);
    snprintf(p->here.sun_path, sizeof p->here.sun_path, "%.90s/.s.PGSQL.5432", folder);
    unlink(p->here.sun_path);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&p->here, sizeof p->here) ||
        listen(p->listener, 64) || pthread_create(&p->acceptor, NULL, proxy_accept, p))
        err(1, "%s", p->here.sun_path);
}

/* `n` of the next connections are cut. Waits until those before are gone. */
static inline void proxy_cut(struct proxy *p, enum proxy_way way, long limit, int n)
{
    while (p->open)
        usleep(100);
    p->way = (int)way;
    p->limit = limit;
    p->bytes[0] = p->bytes[1] = 0;
    p->victims = n;
}

static inline void proxy_close(struct proxy *p)
{
    shutdown(p->listener, SHUT_RDWR);
    close(p->listener);
    pthread_join(p->acceptor, NULL);
    while (p->open)
        usleep(100);
    unlink(p->here.sun_path);
}

#endif
