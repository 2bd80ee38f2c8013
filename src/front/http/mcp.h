/* The Model Context Protocol over HTTP ("streamable HTTP"), at /mcp, for both eras:
 *
 *   - with a handshake (2024-11-05 to 2025-11-25): `initialize` makes a session, whose id every
 *     later request has in Mcp-Session-Id; GET opens a stream of notifications about changed
 *     resources; DELETE ends the session;
 *   - without (2026-07-28): every POST is independent, names its revision, and has its method and
 *     name in headers, which must agree with the body; `subscriptions/listen` is a POST whose
 *     answer stays open.
 *
 * An answer is JSON, or server-sent events when something comes before it (progress). */
#ifndef HEDDLE_FRONT_MCP_H
#define HEDDLE_FRONT_MCP_H

#include "front/http/call.h"

enum {
    MCP_SESSIONS = 256, /* of the first era; a further one ends the one unused for longest */
    MCP_LOOK_MS = 1000, /* how often what is subscribed to is looked at */
    MCP_BEAT_MS = 15000,
};

struct serve_mcps *mcps_open(struct serve *s);
void               mcps_stop(struct serve_mcps *m);  /* ends the streams */
void               mcps_close(struct serve_mcps *m); /* no call is left */

bool            mcp_begin(struct serve_call *c, struct serve_refusal *why);
enum MHD_Result mcp_http_answer(struct serve_call *c);

#endif
