/* The HTTP server: one process that answers for one workspace.
 *
 * Threads: those of libmicrohttpd read and write sockets and never wait; operations run on threads
 * of the crew (api/crew.h), while their connection is suspended; one thread follows the log for
 * event streams (api/feed.h). A call (call.h) is what they share. */
#ifndef HEDDLE_FRONT_SERVER_H
#define HEDDLE_FRONT_SERVER_H

#include "api/crew.h"
#include "api/door_token.h"
#include "api/feed.h"
#include "api/serve_file.h"
#include "api/workspace.h"
#include "api/writer.h"
#include "front/http/guard.h"
#include "front/http/mhd.h"
#include "front/http/session.h"
#include "front/services.h"

#include <stdatomic.h>

enum {
    SERVE_LISTEN_MAX = 8,
    SERVE_THREADS = 2,      /* that read and write sockets, of each listening socket */
    SERVE_READERS_MAX = 8,  /* threads for operations that are answered at once */
    SERVE_QUEUE = 4096,     /* such operations that may wait */
    SERVE_STREAMS = 32,     /* threads for streams; further ones wait */
    SERVE_WAITS = 64,       /* threads for what waits for others; further ones are refused */
    SERVE_HEAD_MAX = 16384, /* bytes of a request's head, and of buffers of a connection */
    SERVE_IDLE_S = 60,      /* silence after which a connection is closed */
    SERVE_SPARE = 256,      /* connections beyond the limit that still get an error answer */
    SERVE_TLS_MAX = 1 << 20,
    SERVE_HEAPS = 2, /* of malloc(), for all threads */
};

/* One listening socket. */
struct serve_door {
    struct serve      *s;
    struct MHD_Daemon *daemon;
    int                fd;
    struct serve_names names;
    struct sv          url; /* for people */
};

struct serve {
    struct mhd                  mhd;
    struct workspace           *ws;
    const struct serve_options *o;
    struct sv                   actor; /* of the page and of the shell */
    struct arena               *a;     /* lives as long as the server */
    struct serve_door           doors[SERVE_LISTEN_MAX];
    size_t                      n_doors;
    struct serve_sessions       sessions;
    struct token_book          *tokens;
    struct crew                *readers, *streams, *waits;
    struct group_writer        *writer;
    struct feed                *feed;
    struct serve_watch         *watch;
    struct serve_mcps          *mcps;
    struct serve_cache         *cache;
    struct serve_rate          *rate;
    struct serve_metrics       *metrics;
    int                         log_fd; /* of the access log; -1: none */
    struct serve_place          place;
    const char                 *tls_cert, *tls_key; /* their text */
    int                         stop_fd;
    atomic_bool                 stopping;
    int64_t                     since_ms;
    pthread_mutex_t             lock;  /* of `calls` */
    struct serve_call          *calls; /* all there are */
};

/* See services.h. Returns after server_stop(). */
enum status server_run(struct app *app, const struct serve_options *o, struct err *e) MUST_USE;

/* Ask a running server to end, from any thread or from a signal handler. */
void server_stop(struct serve *s);

/* The address for people, of the first socket that a browser reaches; absent: there is none. */
struct sv server_url(const struct serve *s);

#endif
