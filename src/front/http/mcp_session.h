/* Sessions of /mcp, and the streams on which they report what has changed. */
#ifndef HEDDLE_FRONT_MCP_SESSION_H
#define HEDDLE_FRONT_MCP_SESSION_H

#include "front/http/mcp.h"
#include "mcp/mcp.h"

struct serve_mcp {
    struct serve_mcp   *before, *after; /* in the list of all; under its lock, as what follows */
    struct serve_mcps  *all;
    int                 refs;
    bool                listed, ended;
    int64_t             used_us, beat_us;
    struct serve_call  *stream;                 /* the open stream for notifications; NULL: none */
    char                id[SESSION_SECRET + 1]; /* "": of one request alone */
    struct arena        a;
    struct serve_caller caller; /* its creator: no other caller may use it */
    struct mcp_server   server;
    struct mcp_session *session;
    pthread_mutex_t     writes; /* calls that write run in the order in which they came */
};

/* For the caller of a request; with `stays` it is found again by its id. Each is given back by
 * mcp_session_drop(). */
struct serve_mcp *mcp_session_make(struct serve_call *c, struct sv agent, struct sv thread,
                                   bool stays);

/* NULL: there is none with this id, or it belongs to somebody else. */
struct serve_mcp *mcp_session_find(struct serve_call *c, struct sv id);
void              mcp_session_drop(struct serve_mcp *m);
void              mcp_session_end(struct serve_mcp *m); /* it is not found any more */

/* Keep the answer of this call open for what changes, in the place of an earlier one; takes the
 * call over. */
void mcp_session_listen(struct serve_mcp *m, struct serve_call *c);

/* A message as a server-sent event. */
struct sv mcp_event_text(struct sv message, struct arena *a);

#endif
