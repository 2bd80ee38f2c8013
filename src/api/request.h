/* One call of an operation: who asks, what it may do and how long, and where the answer goes.
 * Nothing of it outlives the answer.
 *
 *     struct request r;
 *     request_init(&r, &ws, &arena);
 *     r.actor = SV("ana");
 *     if (operation_run(op, &r, params, e)) return fail(&r, e);
 *     request_document(&r)                       the answer, as JSON text
 *     request_end(&r);                                                                 */
#ifndef HEDDLE_REQUEST_H
#define HEDDLE_REQUEST_H

#include "api/operation.h"
#include "api/workspace.h"
#include "base/lines.h"
#include "base/vec.h"
#include "thread/log.h"

#include <stdatomic.h>

/* A warning: the operation continued. */
struct warning {
    struct sv code;    /* "W202", or absent */
    struct sv message; /* one sentence */
    struct sv thread;  /* what it is about, or absent */
    bool      in_doc;  /* also in the document: only for doors that print text */
};

/* See api/once.h. */
struct once {
    struct sv op_id, thread, request; /* op_id absent: it was not asked for */
    struct sv expects;                /* of struct log */
    int64_t   expected;
    struct sv recorded;           /* the answer in the log; absent: there is none yet */
    bool      is_recorded, taken; /* taken: somebody else was first */
    bool      in_group;
};

/* The longest line that a door reads for an operation: an entry with its payload and references. */
enum { REQUEST_LINE_MAX = ENTRY_PAYLOAD_MAX + ENTRY_REFS_MAX + 4096 };

struct request {
    struct arena           *a;
    const struct operation *op;    /* which one runs */
    struct workspace       *ws;    /* NULL: the operation needs none */
    struct sv               actor; /* who does it; recorded in the log */
    struct sv               agent; /* whose permissions count; absent: a person asks */
    struct log              log;   /* log.store is NULL until the log is needed */
    enum store_mode         mode;  /* what the log was opened for */
    struct jw              *doc;   /* the document: the operation writes one object */
    struct sb               doc_text;
    struct jw               doc_writer;
    VEC(struct warning) warnings;
    struct sv  error_details; /* what a failed operation adds to its error, as JSON */
    struct err verdict; /* of an operation that did its work and has a document, when what it found
                         * is bad (a verify with differences): the status a program exits with */
    struct sb   event_text;
    struct jw   event_writer;
    struct once once; /* of an operation that is done once for its op_id */

    /* Set by the door, or left empty. */
    /* May the caller run this, with these parameters? Asked by operation_run(), of every operation
     * that the request runs. */
    enum status (*allow)(void *ctx, const struct operation *op, const void *params, struct err *e);
    void *allow_ctx;
    bool  agreed; /* a person at a terminal was shown what this would do, and agreed: never set from
                   * what a caller sends */
    bool          own_name;   /* what is appended is in the name of `actor` alone */
    bool          no_network; /* pages are not fetched: only what is kept of them is shown */
    struct sb    *out;        /* where an operation with STREAM_OUT writes; NULL: nowhere */
    struct lines *in;         /* what one with STREAM_IN reads */
    /* Opens the output when its first bytes are about to be written, in the place of `out` (a new
     * file must not be there while a directory is read); and throws away what was written, so that
     * it can be opened again: false when somebody has seen it. Both may be NULL. */
    enum status (*out_open)(void *ctx, struct sb **out, struct err *e);
    bool (*out_drop)(void *ctx);
    void *out_ctx;
    /* Takes one event of an operation with STREAM_EVENTS; an error ends the operation. */
    enum status (*event)(void *ctx, struct sv document, struct err *e);
    void *event_ctx;
    /* Opens for reading a file that a parameter names; NULL: see request_open(). */
    enum status (*open)(void *ctx, struct sv name, int *fd, struct err *e);
    /* Makes and opens a directory to write below; NULL: see request_directory(). */
    enum status (*directory)(void *ctx, struct sv name, int *fd, struct err *e);
    void *open_ctx;                             /* of both */
    bool (*ask)(void *ctx, struct sv question); /* a yes from a person; NULL: nobody is there */
    void              *ask_ctx;
    const atomic_bool *cancel;
    int     peer; /* a descriptor connected to the caller, to notice that it is gone; -1: none */
    int64_t deadline_us; /* of clock_steady_us(); 0: none */
    /* Shows a warning at once; NULL: it is one of the answer's warnings. */
    void (*warn_now)(void *ctx, struct sv message);
    void *warn_ctx;
    void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
    void *progress_ctx;
};

void request_init(struct request *r, struct workspace *ws, struct arena *a);
void request_end(struct request *r); /* gives the store back; aborts what is open */

/* Open the log, unless it is open: for operations that find out while they run whether they need
 * it, and for what. One that is open for reading stays so: before it is opened for writing it must
 * be given back with request_end(). */
enum status request_log(struct request *r, enum store_mode mode, struct err *e) MUST_USE;

/* Check the parameters, find what the operation needs, run it. In builds with sanitizers the
 * document is checked against the row's fields. */
enum status operation_run(const struct operation *op, struct request *r, const void *params,
                          struct err *e) MUST_USE;

struct sv request_document(struct request *r);
void      request_document_anew(struct request *r); /* drops what was written of it */

void request_warn(struct request *r, struct sv code, struct sv thread, const char *fmt, ...)
    PRINTF(4, 5);

/* The same for what must be known before the operation goes on: a door that can show it at once
 * does. */
void request_warn_now(struct request *r, const char *fmt, ...) PRINTF(2, 3);

/* Warn when the log was moved away from this store, as its last transaction saw. operation_run()
 * does so for r->log; an operation that opens a store of its own calls it. */
void request_warn_moved(struct request *r, struct store *s);

/* As request_warn(), for what is also in the document, where a program reads it but a person does
 * not. */
void request_remark(struct request *r, const char *fmt, ...) PRINTF(2, 3);

/* Does a person agree? False when nobody can be asked. The question is without "[y/N]". */
bool request_ask(struct request *r, const char *fmt, ...) PRINTF(2, 3);

/* One event: write an object to what request_event() returns, then send it. Its memory is used
 * again for the next one. */
struct jw  *request_event(struct request *r);
enum status request_send(struct request *r, struct err *e) MUST_USE;

/* Where to write from now on; NULL: nowhere. Call it again after request_out_drop(), which may
 * fail. */
enum status request_out(struct request *r, struct sb **out, struct err *e) MUST_USE;
bool        request_out_drop(struct request *r);

/* For an operation whose answer is what it writes to r->out: ST_USAGE when there is nothing to
 * write to, because a client has asked for the document alone. */
enum status request_needs_out(const struct request *r, struct err *e) MUST_USE;

/* A file that a parameter names, to read. A shell opens whatever its user can; other doors leave
 * r->open empty, and only what is below the workspace can be named, from its root.
 * ST_PERMISSION_DENIED: it leads out. */
enum status request_open(struct request *r, struct sv name, int *fd, struct err *e) MUST_USE;

/* All bytes of such a file, at most `max` (0: no limit). */
enum status request_file(struct request *r, struct sv name, size_t max, struct sv *out,
                         struct err *e) MUST_USE;

/* A directory that a parameter names, to write below, made when it is missing. The same rules. */
enum status request_directory(struct request *r, struct sv name, int *fd, struct err *e) MUST_USE;

/* How far long work has come, for a door that shows it; total 0: unknown. */
void request_progress(struct request *r, const char *what, int64_t done, int64_t total);

/* ST_CONFLICT reason "cancelled" or "deadline" when the caller is gone or the time is over. Long
 * work calls this regularly. */
enum status request_check(const struct request *r, struct err *e) MUST_USE;

/* "key": a time of the log, as RFC 3339 in UTC with milliseconds. */
void jw_ktime(struct jw *w, const char *key, int64_t ms);

/* "key": an optional number or time; null when it is absent. */
void jw_kint_if(struct jw *w, const char *key, bool is_there, int64_t n);
void jw_ktime_if(struct jw *w, const char *key, bool is_there, int64_t ms);

#endif
