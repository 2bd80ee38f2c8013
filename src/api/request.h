/* One call of an operation: who asks, with which clock, and where the answer goes. Nothing of it
 * outlives the answer.
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

/* Something that whoever asked should know and that did not stop the operation. */
struct warning {
    struct sv code;    /* "W202", or absent */
    struct sv message; /* one sentence */
    struct sv thread;  /* what it is about, or absent */
};

struct request {
    struct arena     *a;
    struct workspace *ws;    /* NULL: the operation needs none */
    struct sv         actor; /* who does it; recorded in the log */
    struct log        log;   /* log.store is NULL until the log is needed */
    enum store_mode   mode;  /* what the log was opened for */
    struct jw        *doc;   /* the document: the operation writes one object */
    struct sb         doc_text;
    struct jw         doc_writer;
    VEC(struct warning) warnings;
    struct sv error_details; /* what a failed operation adds to its error, as JSON */

    /* Set by the door, or left empty. */
    struct sb         *out; /* where an operation with STREAM_OUT writes */
    struct lines      *in;  /* what one with STREAM_IN reads */
    const atomic_bool *cancel;
    int64_t            deadline_us; /* of clock_steady_us(); 0: none */
    void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
    void *progress_ctx;
};

void request_init(struct request *r, struct workspace *ws, struct arena *a);
void request_end(struct request *r); /* gives the store back; aborts what is open */

/* Open the log, unless it is open: for operations that find out while they run whether they need
 * it, and for what. */
enum status request_log(struct request *r, enum store_mode mode, struct err *e) MUST_USE;

/* Check the parameters, find what the operation needs, run it. In builds with sanitizers the
 * document is checked against the row's fields. */
enum status operation_run(const struct operation *op, struct request *r, const void *params,
                          struct err *e) MUST_USE;

struct sv request_document(struct request *r);

void request_warn(struct request *r, struct sv code, struct sv thread, const char *fmt, ...)
    PRINTF(4, 5);

/* ST_CONFLICT reason "cancelled" or "deadline" when the caller has gone or the time is over.
 * Long work asks now and then. */
enum status request_check(const struct request *r, struct err *e) MUST_USE;

/* "key": a time of the log, as RFC 3339 in UTC with milliseconds. */
void jw_ktime(struct jw *w, const char *key, int64_t ms);

#endif
