/* The Model Context Protocol without a transport: messages in, messages out. Doors put a transport
 * around it (standard input and output, HTTP).
 *
 *     struct mcp_server server = { .ws = &ws, .actor = SV("user") };
 *     struct mcp_session *s = mcp_open(&server);
 *     struct mcp_call *c = mcp_read(s, message, send, ctx);     NULL: nothing is left to do
 *     if (c)
 *         mcp_run(c);                                           answers through send()
 *     mcp_close(s);
 *
 * Revisions 2024-11-05 to 2025-11-25, which begin with a handshake, and 2026-07-28, in which every
 * request says its revision, are served side by side: a request with the revision in its `_meta` is
 * of the second kind. Tools, their parameters and answers are rows of the table of operations.
 *
 * A session may be used by several threads at once. A call that was read belongs to the thread that
 * has it; mcp_run() ends it. A cancellation reaches calls that have not begun and calls that
 * run. */
#ifndef HEDDLE_MCP_H
#define HEDDLE_MCP_H

#include "api/request.h"

/* The longest message that a transport should take, and how many calls of one client may wait or
 * run. */
enum { MCP_MESSAGE_MAX = 16 << 20, MCP_CALLS_MAX = 256 };

/* What all clients of a door share; constant while it is used. */
struct mcp_server {
    struct workspace *ws;
    struct sv         actor;  /* who asks; recorded in the log */
    struct sv         agent;  /* the agent whose permissions count; absent: none is bound */
    struct sv         thread; /* the thread of a call that names none; absent: it must name one */
    /* What the client may do beside that: see request.h; may be NULL. */
    enum status (*allow)(void *ctx, const struct operation *op, const void *params, struct err *e);
    void *allow_ctx;
};

/* Takes a message to the client. It may be called from the threads that call the functions below,
 * from several at once. The text ends without a line break and holds none. */
typedef void mcp_send(void *ctx, struct sv message);

struct mcp_session; /* one client */
struct mcp_session *mcp_open(const struct mcp_server *server);

/* Every call must have ended. Subscriptions of the revision 2026-07-28 that are still open get
 * their last message when `send` is not NULL. */
void mcp_close(struct mcp_session *s, mcp_send *send, void *ctx);

/* Read one message. What needs no work is answered or done at once, and so is what is wrong; else a
 * call is returned, whose answers go to the same send(). */
struct mcp_call;
struct mcp_call *mcp_read(struct mcp_session *s, struct sv message, mcp_send *send, void *ctx);

/* Does it change anything? Such calls of one client should run in the order in which they came. */
bool mcp_writes(const struct mcp_call *c);

void mcp_run(struct mcp_call *c);

/* Answer for a message that the transport could not take: too long, not a line. */
void mcp_refuse(const char *why, mcp_send *send, void *ctx);

/* Cancel everything that waits or runs: the client is gone. */
void mcp_cancel_all(struct mcp_session *s);

/* Compare what clients have subscribed to with what it was, and send what has changed. A transport
 * calls this now and then while mcp_is_watching(): after a commit, or every second. */
bool mcp_is_watching(struct mcp_session *s);
void mcp_look(struct mcp_session *s, mcp_send *send, void *ctx);

#endif
