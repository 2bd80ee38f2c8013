/* One HTTP request, from its first line to the last byte of its answer.
 *
 * A call belongs to the thread of libmicrohttpd that reads its connection, except for the members
 * protected by its lock, which it shares with the thread that runs its operation. While that runs,
 * the connection is suspended; it is resumed when the answer, or its first part, is ready.
 *
 *     reading      head, then body: into memory, or on to the operation as it comes
 *     running      a thread of the crew runs the operation
 *     answering    one text, or a stream of parts while the operation still runs
 *
 * A client that goes away ends a stream: the next write of the operation fails. */
#ifndef HEDDLE_FRONT_CALL_H
#define HEDDLE_FRONT_CALL_H

#include "api/mark.h"
#include "api/request.h"
#include "base/vec.h"
#include "front/http/pipe.h"
#include "front/http/server.h"

enum {
    CALL_BUFFER = 256 * 1024, /* of a stream, between its two threads */
    CALL_ARENA = 1024,        /* the first block of its arena: an idle event stream has no more */
    CALL_GATHER = 32 * 1024,  /* of one that is not urgent: what ends within this is one answer */
};

/* How events and bytes of an operation are sent. */
enum api_form {
    FORM_DOCUMENT, /* the document alone; the first event makes it FORM_LINES */
    FORM_LINES, /* JSON Lines: events, {"out":…} for bytes, at the end the document or the error */
    FORM_EVENTS, /* the same as server-sent events: event, out, done, error */
    FORM_BYTES,  /* the bytes; the document is in a trailer */
};

enum caller_kind { CALLER_NOBODY, CALLER_PAGE, CALLER_SHELL, CALLER_TOKEN };

/* The caller, once it is identified. */
struct serve_caller {
    enum caller_kind kind;
    struct sv        id; /* of a token; else what kind it is */
    struct sv        actor;
    unsigned         permissions; /* enum token_permission */
    struct sv_list   threads;     /* within which; empty: all */
};

struct serve_route;

/* A header field of the answer. */
struct serve_field {
    const char *name, *value;
};

/* An operation that joins others. */
struct call_joined {
    struct writer_job  job; /* first: what the writer hands back is this */
    struct serve_call *call;
};

/* The key under which its answer is kept; see cache.h. */
struct call_kept {
    struct sv         key; /* absent: it is not kept */
    struct store_mark mark;
    bool              unready; /* no mark could be read */
};

struct serve_call {
    struct crew_job          job;            /* first: what the crew hands back is the call */
    struct serve_call       *before, *after; /* in the list of all, under the server's lock */
    struct call_joined      *joined;         /* NULL: it runs alone */
    struct serve            *s;
    const struct serve_door *door;
    struct MHD_Connection   *conn;
    struct arena a; /* used by one thread at a time: that of the connection or, while the operation
                       runs, the other one */
    atomic_int                refs; /* the connection, and the thread that runs it */
    struct serve_head         head;
    struct sv                 target; /* a copy, and the bytes that libmicrohttpd has */
    struct sv                 target_there;
    struct serve_caller       caller;
    const struct serve_route *route;
    struct serve_conn        *watched;
    const char               *method;
    bool                      begun, refused, chunked;
    struct sb                 body; /* one that is read as a whole */
    int64_t                   body_bytes;
    bool                      streams_in; /* the body goes on to the operation as it comes */
    const struct operation   *op;
    void                     *params;
    struct sv                 match, none_match, idempotency; /* see condition.h */
    bool                      is_post, body_read;
    bool                      prints; /* the shell asks, and prints the answer as text */
    struct call_kept          kept;
    enum api_form             form;

    pthread_mutex_t   lock;
    pthread_cond_t    moved;
    bool              suspended, answered, streaming;
    bool              queued;  /* libmicrohttpd has the answer, or reads it */
    bool              gathers; /* what was written waits for more, or for the end */
    atomic_bool       gone;    /* the client, or the server wants to end */
    struct serve_pipe in, out;

    /* The answer. */
    int         status;
    const char *type;
    struct sv   text;
    VEC(struct serve_field) headers;
    int64_t            sent; /* bytes of the answer's body */
    int64_t            began_us;
    struct feed_reader reader; /* of an event stream */
};

/* Is a call running, or is its connection suspended? Is there an answer that libmicrohttpd has not
 * sent to its end? call_cancel_all() asks all running calls to end. */
bool call_any_runs(struct serve *s);
bool call_any_unsent(struct serve *s);
void call_cancel_all(struct serve *s);

/* The three callbacks of libmicrohttpd. */
void           *call_begin(void *door, const char *target, struct MHD_Connection *conn);
enum MHD_Result call_step(void *door, struct MHD_Connection *conn, const char *url,
                          const char *method, const char *version, const char *upload,
                          size_t *upload_n, void **call);
void            call_end(void *door, struct MHD_Connection *conn, void **call,
                         enum MHD_RequestTerminationCode why);

/* ---- for routes: in the thread of the connection ------------------------------------------ */

/* Answer with one text, which lives as long as the call. */
enum MHD_Result call_answer(struct serve_call *c, int status, const char *type, struct sv text);
enum MHD_Result call_queue(struct serve_call *c); /* what is in status, type and text */
enum MHD_Result call_refuse(struct serve_call *c, const struct serve_refusal *why);
enum MHD_Result call_fail(struct serve_call *c, const struct err *e);
/* Answer with what `read` gives, which is as libmicrohttpd has it; `block` bytes at a time. */
enum MHD_Result call_stream(struct serve_call *c, size_t block, MHD_ContentReaderCallback read);
void            call_header(struct serve_call *c, const char *name, struct sv value);
const char *call_has_header(const struct serve_call *c, const char *name); /* its value, or NULL */
/* Answer 200 with a response that was made before and is kept: `bytes` is the length of its text.
 */
enum MHD_Result call_queue_kept(struct serve_call *c, struct MHD_Response *r, size_t bytes);
/* No further request is taken from the connection: the answer says so. */
bool call_is_last(const struct serve_call *c);

/* Have `run` called on another thread; the connection is suspended until call_done(). Each pace has
 * threads of its own, so that slow operations do not block others: short answers; streams, which
 * are as fast as their reader; and operations that wait for models, programs or news. */
enum call_pace { PACE_SHORT, PACE_STREAM, PACE_WAITS };
enum MHD_Result call_run(struct serve_call *c, void (*run)(struct crew_job *job),
                         enum call_pace     pace);

/* Have the operation joined with others and committed; both functions are called on the writer's
 * thread. */
enum MHD_Result call_join(struct serve_call *c,
                          void (*prepare)(struct writer_job *job, struct request *r),
                          void (*done)(struct writer_job *job));

/* ---- for the thread that runs it ------------------------------------------------------------ */

/* The answer is in status, type and text, or the stream is complete. The call must not be used
 * afterwards. */
void call_done(struct serve_call *c);

/* For a thread that writes to a stream which another one may end. */
void call_hold(struct serve_call *c);
void call_release(struct serve_call *c);

/* The first part of the output is not urgent: gather it, so that a short answer is sent in one
 * piece, with its length. */
void call_gather(struct serve_call *c);

/* True when nothing of the output was sent yet: it is dropped, and another answer can be given.
 */
bool call_take_back(struct serve_call *c);

/* Part of a stream. The first one begins the answer. 0, or EPIPE when the client is gone. */
int call_write(struct serve_call *c, struct sv bytes);

/* The same without ever waiting: EAGAIN when the reader is too slow and the buffer is full. */
int call_write_now(struct serve_call *c, struct sv bytes);

/* More of the body, as read(2). */
ssize_t call_read(void *call, char *into, size_t n);

/* {"error":{…}} */
struct sv call_error_text(struct serve_call *c, const struct err *e, struct sv details);

#endif
