/* Asking the server of a workspace from the same machine, over its socket.
 *
 *     struct serve_ask q = { .method = "POST", .target = SV("/api/link"), .body = SV("{}") };
 *     struct serve_reply answer;
 *     if (serve_file_find(ws, a, &f, e) || serve_client_ask(&f, &q, a, &answer, e)) ...
 *
 * HTTP/1.1 as this server speaks it, one request per connection. */
#ifndef HEDDLE_SERVE_CLIENT_H
#define HEDDLE_SERVE_CLIENT_H

#include "api/serve_file.h"
#include "base/json.h"

struct serve_ask {
    const char *method;
    struct sv   target; /* "/api/NAME?query" */
    struct sv   type;   /* of the body; absent: application/json */
    struct sv   accept; /* absent: anything */
    struct sv   actor;  /* in whose name; absent: the server's user */
    struct sv   body;
    int         body_fd; /* >= 0: the body is all that can be read from it, sent as it comes */
    bool        streams; /* take the body from body_fd */
    /* Takes parts of the answer's body while they come; NULL: it is collected in the reply. Only of
     * an answer with status 200. */
    enum status (*piece)(void *ctx, struct sv bytes, struct err *e);
    void *piece_ctx;
};

struct serve_reply {
    int       status;
    struct sv head; /* "Name: value" lines */
    struct sv body;
};

/* ST_IO, reason "server_gone": the connection broke before the answer was complete. Whatever the
 * server answers is ST_OK, unless `piece` failed. */
enum status serve_client_ask(const struct serve_file *f, const struct serve_ask *q, struct arena *a,
                             struct serve_reply *out, struct err *e) MUST_USE;

/* The server of a workspace, asked for a document: POST or GET of `target` with the body "{}".
 * ST_NOT_FOUND, reason "no_server": none runs. An error of the server is returned unchanged. */
enum status serve_client_document(const struct workspace *ws, const char *method, struct sv target,
                                  struct arena *a, struct sv *text, struct json *doc,
                                  struct err *e) MUST_USE;

/* A field of the answer's head; absent when there is none. */
struct sv serve_reply_field(const struct serve_reply *r, const char *name);

/* The error in {"error":{…}}, as it was where it happened; `details` as JSON, or absent. */
enum status serve_reply_error(struct sv body, struct arena *a, struct sv *details, struct err *e);

#endif
