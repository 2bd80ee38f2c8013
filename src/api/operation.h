/* An operation: something that heddle can do, implemented once for all doors.
 *
 * Doors (shell, HTTP, MCP, hooks, the page) are made from the rows of operation_table: words,
 * help, manual pages, completion, JSON Schema. A row holds the parameters of the operation, what it
 * needs, what it returns and how that is printed. The operation itself never prints, exits, reads
 * the command line, the environment, standard input or a static variable.
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
 *         .needs = NEEDS_LOG, .repeat = REPEAT_READS, .params = params, .params_size =
 * sizeof(struct list_params), .answer = answer, .run = run, .print = print,
 *     }; */
#ifndef HEDDLE_API_OPERATION_H
#define HEDDLE_API_OPERATION_H

#include "api/field.h"
#include "api/param.h"
#include "thread/view.h"

struct request;
struct term;

/* What an operation needs before it runs; each value includes the ones before it. */
enum op_needs {
    NEEDS_NOTHING,
    NEEDS_PLACE, /* the path of the workspace, of any owner; nothing in it is read */
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

/* For the row, the parameters and their struct of an operation that is done once for an op_id
 * (api/once.h). Its document is written before the commit of what it did, so that both are in one
 * transaction; or it has `joins`. With `expect` it is also refused when the log of `thread` has
 * grown. */
#define OPERATION_ONCE .repeat = REPEAT_KEY, .repeat_key = "op_id", .once = true
#define PARAM_ONCE(type)                                                                           \
    {                                                                                              \
        "op_id", PARAM_TEXT, offsetof(type, op_id),                                                \
            .value = "ID",                                                                         \
            .help = "do it once: repeated with this id, it is answered as the first time"          \
    }
#define PARAM_EXPECT(type)                                                                         \
    {                                                                                              \
        "expect", PARAM_NUMBER, offsetof(type, expect),                                            \
            .value = "REV", .min = 0, .max = INT64_MAX,                                            \
            .help = "only if the thread has exactly REV entries"                                   \
    }

/* What a caller from outside (a token, a page) must be allowed to call it. The shell may do all. */
enum op_access {
    ACCESS_USUAL,  /* read, when `repeat` says that it only reads; else write */
    ACCESS_RUN,    /* it starts programs, asks models or the network: it costs something */
    ACCESS_MANAGE, /* it takes something away for good, or changes who may do what */
    ACCESS_SHELL,  /* it names files anywhere, or decides what may be run: for a shell alone */
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

/* What is too large for a document is passed on while it is made: see request.h. */
enum op_stream {
    STREAM_NONE = 0,
    STREAM_IN = 1,     /* it takes lines from r->in */
    STREAM_OUT = 2,    /* it writes bytes to r->out, and the document says what was written */
    STREAM_EVENTS = 4, /* it sends small documents one by one, and ends with the document */
    STREAM_BULK = 8,   /* events are not urgent: a door may pass on many at once */
};

struct operation {
    const char *name;    /* "thread.list": noun.verb */
    const char *summary; /* one line, no full stop */
    const char *details; /* paragraphs with a blank line between; lines that start with two
                          * spaces are shown as they are. NULL: none */
    enum op_group  group;
    enum op_needs  needs;
    bool           here; /* it works on exactly the given directory, not on a workspace above it */
    enum op_repeat repeat;
    const char    *repeat_key;
    bool           once;  /* REPEAT_KEY is implemented by api/once.h, not by the operation */
    bool           joins; /* it may be committed together with others (api/writer.h): it is short,
                           * writes to the log alone, and asks nobody */
    unsigned streams;     /* enum op_stream */
    bool     cancels;     /* it looks at r->cancel, and keeps what it has when it is set */
    bool     slow; /* it waits for somebody, or reads a complete log or project: a server runs it on
                      other threads than short operations */
    unsigned       permission; /* what an agent needs (loom/agent.h); 0: nothing */
    enum op_access access;
    bool of_log; /* its answer follows from the parameters and the log, and from nothing else: not
                  * from files, settings or the time */
    bool in_thread; /* it reads and changes only what `thread` names and what that may read: a token
                     * for the thread is enough */
    const struct param *params; /* ends with PARAM_END; NULL: none */
    size_t              params_size;
    const struct field *answer; /* ends with FIELD_END */
    const struct field *event;  /* STREAM_EVENTS: the shape of one of them */
    const struct view  *view;   /* a view on demand that it reads or writes; NULL: none */
    enum status (*run)(struct request *r, const void *params, struct err *e);
    void (*print)(const struct json *doc, struct term *t);         /* pure: document to text */
    void (*print_event)(const struct json *event, struct term *t); /* likewise */
    /* Prints r->error_details of a failure, before the error itself. NULL: nothing. */
    void (*print_details)(const struct json *details, struct term *t);
};

/* All operations, by group; ends with NULL. */
extern const struct operation *const operation_table[];

const struct operation *operation_find(struct sv name); /* NULL: there is none */

/* The same with ST_NOT_FOUND and the nearest name as a hint. */
enum status operation_named(struct sv name, const struct operation **out, struct err *e) MUST_USE;

#endif
