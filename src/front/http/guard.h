/* Checks that every request must pass before it is handled: the addressed host, the origin, and the
 * framing and type of its body. The order is fixed, because an answer to one question must not
 * depend on a secret that belongs to a later one:
 *
 *     framing    unambiguous, see head.h                                  400
 *     Host       a name of this server (DNS rebinding)                    421
 *     Origin     this server, if the field is sent                        403
 *     site       Sec-Fetch-Site is same-origin or none, below /api        403
 *     method     GET, HEAD or POST                                        405
 *     type       POST is JSON, JSON Lines or a file, never a form         415
 *
 * Then the caller (session.h) and its rate are checked. */
#ifndef HEDDLE_FRONT_GUARD_H
#define HEDDLE_FRONT_GUARD_H

#include "front/http/head.h"

/* A request that is refused before an operation runs: its HTTP status and the error. */
struct serve_refusal {
    int        status; /* 0: none */
    struct err e;
};

/* Under which names a listening socket may be addressed. */
struct serve_names {
    bool is_local; /* a socket in the file system: browsers cannot reach it, any name will do */
    bool tls;
    int  port;
    /* The address as it was asked for. A page can use this address only if it was loaded from
     * there: DNS can bind another name to an address, but not another address. */
    struct sv own;
    /* Further names: NAME stands for the ports 80 and 443, which a proxy in front has, and for that
     * of the server; NAME:PORT for that port alone. */
    struct sv_list allowed;
};

/* True when the request may go on. */
bool guard_pass(const struct serve_names *n, struct serve_head *h, struct serve_refusal *out);

/* Fill a refusal. Returns false, so that `return guard_refuse(...)` can be written. */
bool guard_refuse(struct serve_refusal *out, int status, enum status code, const char *reason,
                  const char *fmt, ...) PRINTF(5, 6);

#endif
