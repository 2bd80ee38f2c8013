/* Time limits of connections. libmicrohttpd closes a connection on which nothing moves for
 * SERVE_IDLE_S; a client that sends or takes a byte now and then would keep it forever. So a thread
 * looks at all of them every second, and shuts down those that exceed:
 *
 *     head      WATCH_HEAD_S from the connection's start, or WATCH_NEXT_S from the last answer
 *     body      WATCH_BODY_S, and a second more for every WATCH_RATE bytes
 *     answer    the same, for one that is a single text
 *
 * Operations, and streams in either direction, have no limit of their own.
 *
 * Connections of a token that has expired or was revoked are shut down as well: a stream that was
 * opened before ends, too. */
#ifndef HEDDLE_FRONT_WATCH_H
#define HEDDLE_FRONT_WATCH_H

#include "front/http/server.h"

enum {
    WATCH_HEAD_S = 20,
    WATCH_NEXT_S = 75,
    WATCH_BODY_S = 30,
    WATCH_RATE = 16 * 1024,
    WATCH_TOKEN = 32, /* bytes of a token's id, with a NUL */
};

enum watch_state { WATCH_HEAD, WATCH_NEXT, WATCH_BODY, WATCH_ANSWER, WATCH_FREE };

struct serve_conn {
    struct serve_conn *before, *after;
    struct serve      *s;
    int                fd;
    _Atomic int        state; /* enum watch_state */
    _Atomic int64_t    since_us, bytes;
    char token[WATCH_TOKEN]; /* whose request it is: the token's id, or "". Written by the thread
                              * of the connection alone, with the lock held */
};

struct serve_watch {
    pthread_mutex_t    lock; /* of the list, and of `closing` */
    pthread_cond_t     ends;
    bool               closing;
    struct serve_conn *all;
    atomic_int         n;
    atomic_llong       accepted, shut; /* in all; shut down because they took too long */
    pthread_t          thread;
    bool               runs;
};

void watch_open(struct serve *s);
void watch_close(struct serve *s);

/* Called by libmicrohttpd when a connection begins and ends. */
void watch_notify(void *door, struct MHD_Connection *conn, void **socket_context,
                  enum MHD_ConnectionNotificationCode code);

/* What a connection does from now on. */
void watch_set(struct serve_conn *c, enum watch_state state);
void watch_moved(struct serve_conn *c, size_t bytes);

/* Who asks on it from now on: a token, or somebody else (an absent id). */
void watch_token(struct serve_conn *c, struct sv id);

/* The time that is left, for tests: < 0 means that it is over. */
int64_t watch_left_us(enum watch_state state, int64_t since_us, int64_t bytes, int64_t now_us);

#endif
