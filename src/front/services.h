/* Doors that run for a long time, or that speak a protocol. The shell has the commands that start
 * them, but doors do not depend on each other: main.c passes their functions to the shell. */
#ifndef HEDDLE_SERVICES_H
#define HEDDLE_SERVICES_H

#include "base/status.h"
#include "base/sv.h"

struct app;

/* What `heddle mcp` was asked for. */
struct mcp_options {
    struct sv agent;  /* whose permissions count, or absent */
    struct sv thread; /* the thread of calls that name none, or absent */
};

/* What `heddle hook` was asked for. */
struct hook_options {
    struct sv harness; /* the coding agent that calls */
    struct sv thread;  /* the thread of sessions that are not bound to one, or absent */
};

/* What `heddle serve` was asked for. */
struct serve_options {
    struct sv_list listen;     /* ADDR:PORT or unix:PATH; empty: the loopback, a free port */
    struct sv_list allow_host; /* names under which it may be addressed */
    bool           insecure;   /* listen on other machines' networks without TLS */
    struct sv      tls_cert, tls_key;
    struct sv      page;       /* a directory with the page, in the place of the one inside */
    struct sv      access_log; /* a file, or -; absent: none */
    int64_t        max_body;   /* bytes of one request */
    int64_t        max_connections;
    int64_t        rate;     /* requests a second of one caller; 0: no limit */
    int64_t        grace_ms; /* how long requests may go on when the server is asked to end */
    bool           quiet;    /* print no link */
};

struct app_services {
    enum status (*hook)(struct app *app, const struct hook_options *o, struct err *e);
    enum status (*mcp)(struct app *app, const struct mcp_options *o, struct err *e);
    enum status (*serve)(struct app *app, const struct serve_options *o, struct err *e);
};

#endif
