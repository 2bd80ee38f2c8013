/* An operation: what heddle can do, once, whichever door asks for it.
 *
 * Doors (shell, HTTP, MCP, hooks, the page) are made from the rows of `operations`: words, help,
 * manual pages, completion, JSON Schema. A row says what the operation is asked with, what it
 * needs, what it returns and how a person reads that. The operation itself never prints, exits,
 * reads the command line, the environment, standard input or a static variable.
 *
 *     static enum status run(struct request *r, const void *params, struct err *e)
 *     {
 *         const struct list_params *p = params;
 *         jw_open(r->doc, '{');
 *         ...
 *         jw_close(r->doc, '}');
 *         return ST_OK;
 *     }
 *     static void print(const struct json *doc, struct term *t) { ... }
 *
 *     const struct operation op_thread_list = {
 *         .name = "thread.list", .summary = "List the threads", .group = GROUP_SHARE,
 *         .needs = NEEDS_LOG, .params = params, .params_size = sizeof(struct list_params),
 *         .answer = answer, .run = run, .print = print,
 *     };                                                                               */
#ifndef HEDDLE_API_OPERATION_H
#define HEDDLE_API_OPERATION_H

#include "api/field.h"
#include "api/param.h"
#include "thread/view.h"

struct request;
struct term;

/* What must be there before an operation runs; each includes the ones before it. */
enum op_needs {
    NEEDS_NOTHING,
    NEEDS_PLACE, /* where the workspace is, whoever owns it; nothing of it is read */
    NEEDS_ROOT,  /* a workspace that may be used, with its settings */
    NEEDS_LOG,   /* its log, to read; a missing one is an error */
    NEEDS_WRITE, /* its log, to write; made if it is missing */
};

/* Is it harmless to send the same request again? */
enum op_repeat {
    REPEAT_READS, /* it changes nothing */
    REPEAT_KEY,   /* yes, with the same value of `repeat_key`, which is one of the parameters */
    REPEAT_SAME,  /* yes: the second time finds that it is done */
    REPEAT_NEVER, /* no: it would happen twice */
};

enum op_group {
    GROUP_START,
    GROUP_LOG,
    GROUP_RUN,
    GROUP_SHARE,
    GROUP_LOOM,
    GROUP_PAYLOAD,
    GROUP_DOORS,
    GROUP_CARE,
    GROUP_COUNT,
};
const char *op_group_title(enum op_group g);

/* Where bytes go that are too many for a document: see request.h. */
enum op_stream {
    STREAM_NONE = 0,
    STREAM_IN = 1,  /* it takes a stream */
    STREAM_OUT = 2, /* it produces a stream, and the document says what was written */
};

struct operation {
    const char *name;    /* "thread.list": noun.verb */
    const char *summary; /* one line, no full stop */
    const char *details; /* paragraphs with a blank line between; lines that start with two
                          * spaces are shown as they are. NULL: none */
    enum op_group       group;
    enum op_needs       needs;
    enum op_repeat      repeat;
    const char         *repeat_key;
    unsigned            streams;    /* enum op_stream */
    const char         *permission; /* what an agent must have been given; NULL: nothing */
    const struct param *params;     /* ends with PARAM_END; NULL: none */
    size_t              params_size;
    const struct field *answer; /* ends with FIELD_END */
    const struct view  *view;   /* a view on demand that it reads or writes; NULL: none */
    enum status (*run)(struct request *r, const void *params, struct err *e);
    void (*print)(const struct json *doc, struct term *t); /* pure: document to text */
};

/* All operations, by name; ends with NULL. */
extern const struct operation *const operations[];

const struct operation *operation_find(struct sv name); /* NULL: there is none */

/* The same with ST_NOT_FOUND and the nearest name as a hint. */
enum status operation_named(struct sv name, const struct operation **out, struct err *e) MUST_USE;

#endif
