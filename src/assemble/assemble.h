/* Assembly: what a model is sent for one turn of an agent, made from the log.
 *
 * collect: the sections below, in this order
 * budget:  what is over it is cut, in a fixed order, and every cut is named and counted
 * render:  a struct context, which body_write() (body.h) turns into a provider's request
 *
 *     struct assembly_request q = { .loom = loom, .agent = agent, .counts = &counts,
 *                                   .budget = 50000 };
 *     struct assembly x;
 *     if (log_begin(log, thread, STORE_READ, e)) return err_code(e);
 *     enum status s = assembly_make(&q, a, &x, e);
 *     log_abort(log);
 *     ...
 *     struct body_settings settings = { .model = model, .cache = x.cache };
 *     body_write(dialect, &x.context, &settings, a, &body, &report, e);
 *
 * Pure over what is read: equal requests on an equal log, with equal files behind `share`,
 * `payload` and `doc_words`, give equal bytes. The log may be one that ends at a past entry
 * (log_at(), thread/log.h): then this is what would have been sent at that point.
 *
 * An agent with loom_aware gets everything. Any other one, such as the subject of `continue`, gets
 * only the conversation: its prompt, the messages without ids and metadata (those that were added
 * as instructions in the prompt), and the input; with doc_read also resources and <thread_context>.
 * In a tree in buffer mode the conversation is one text: for an aware agent with the boundary marks
 * of `view as:prose`, for any other one verbatim.
 *
 * ---- how a turn uses it ----
 *
 * 1. At the start of a turn the agent is put on the node that it answers (loom_switch()), and
 *    assembly_make() is called once. Its result is fixed for the turn, the memory block included.
 *    Changes of memory by the turn's commands are shown by their results.
 * 2. What stands before the input (x.block: <thread_context>, x.injected) is recorded with
 *    assembly_record() in the transaction in which the turn starts. From then on it is part of that
 *    node's message, and later turns do not repeat it. The block comes again when no message that
 *    is still shown in full holds it: at the agent's first turn, after a compaction, on another
 *    branch; and when `load` asks for it.
 * 3. The answer of each round, as the model wrote it (commands and all, thinking with its
 *    signature), and the results of its commands are added behind with assembly_add(). Nothing in
 *    front of them changes, so the request of each round begins with all bytes of the one before.
 *    ST_LIMIT_EXCEEDED: the budget is full. The turn then ends, or begins again from a shorter
 *    conversation: assembly_make() with the same log end (log_at()) and `reserve` = x.added, then
 *    add the messages of the rounds again; they are x.context.messages[x.base..).
 * 4. In the next turn the messages of the rounds are not sent: prose has become nodes, results are
 *    seen only as long as the rule in loom/results.h keeps them.
 *
 * A turn that was killed is resumed with the same request on log_at(the entry before its first
 * one), `loom.now` as it was, and the same messages added. */
#ifndef HEDDLE_ASSEMBLE_H
#define HEDDLE_ASSEMBLE_H

#include "assemble/body.h"
#include "assemble/counts.h"
#include "base/vec.h"
#include "loom/agent.h"
#include "loom/node.h"
#include "payload/payload.h"
#include "share/operation.h"

/* ---- sections ---- */

/* The order of the rows is the order in which sections stand in a request. `priority`: those with a
 * lower number are cut sooner; 0: never cut.
 *    kind               name              priority   what it holds */
#define SECTION_TABLE(X)                                                                           \
    X(SECTION_SYSTEM, "system", 0)       /* the agent's prompt, then the lane's */                 \
    X(SECTION_ADDENDUM, "addendum", 0)   /* what a loom-aware agent is told about the loom */      \
    X(SECTION_MEMORY, "memory", 2)       /* pins, recalled stashes, recent actions */              \
    X(SECTION_SNAPSHOT, "snapshot", 1)   /* a message of the snapshot that the lane begins with */ \
    X(SECTION_EARLIER, "earlier", 1)     /* nodes that are only summarised or counted */           \
    X(SECTION_NODE, "node", 1)           /* a message of the conversation */                       \
    X(SECTION_RESULT, "result", 3)       /* a result of an earlier turn that is still seen */      \
    X(SECTION_LOOM, "loom", 0)           /* tree, position, permissions, who else is here */       \
    X(SECTION_RESOURCES, "resources", 4) /* files and pages of the payload bound to the thread */  \
    X(SECTION_THREAD, "thread_context", 0)                                                         \
    X(SECTION_INPUT, "input", 0)                                                                   \
    X(SECTION_TURN, "turn", 0) /* added by assembly_add() */

enum assembly_kind {
#define X(kind, name, priority) kind,
    SECTION_TABLE(X)
#undef X
};
const char *assembly_kind_name(enum assembly_kind k);
int         assembly_priority(enum assembly_kind k);

enum assembly_form { SECTION_FULL, SECTION_SUMMARY, SECTION_REFERENCE };
const char *assembly_form_name(enum assembly_form f); /* "full" */

/* Where it comes from: what is not known is -1 or absent. */
struct assembly_source {
    int64_t   from, to; /* entries of the log */
    struct sv node;     /* local id, of the first one when there are several ... */
    struct sv last;     /* ... and of the last */
    struct sv path;     /* a file or URL, or the command of a result */
    struct sv hash;     /* of the text, 32 hex digits */
    int64_t   count;    /* nodes, results or resources that it stands for */
};

#define SECTION_IN_SYSTEM SIZE_MAX

struct assembly_section {
    enum assembly_kind     kind;
    enum assembly_form     form;
    struct assembly_source source;
    size_t                 tokens;  /* exact, of `text` and the thinking that goes back with it */
    size_t                 message; /* index in context.messages, or SECTION_IN_SYSTEM */
    struct sv              text;
};

/* What was cut, or is sent in a form other than that in the log. */
struct assembly_cut {
    enum assembly_kind     kind;
    struct assembly_source source;
    size_t                 before, after; /* tokens; before is 0 when it was not read at all */
    struct sv              what;          /* "summarized", "left out", ...: one clause */
    struct sv              why;           /* likewise */
};

/* ---- what to do when it is too much ---- */

/* Names are those of the settings.
 *    strategy                 name */
#define ASSEMBLY_STRATEGY_TABLE(X)                                                                 \
    X(ASSEMBLY_AUTO, "auto")           /* summarize for an aware agent, else truncateMiddle */     \
    X(ASSEMBLY_SUMMARIZE, "summarize") /* older nodes become summaries */                          \
    X(ASSEMBLY_TRUNCATE_MIDDLE, "truncateMiddle") /* the first and the last nodes stay */          \
    X(ASSEMBLY_ROLLING_WINDOW, "rollingWindow")   /* the last nodes stay */                        \
    X(ASSEMBLY_STOP_AT_LIMIT, "stopAtLimit")      /* nothing is cut: ST_LIMIT_EXCEEDED */

enum assembly_strategy {
#define X(strategy, name) strategy,
    ASSEMBLY_STRATEGY_TABLE(X)
#undef X
};
extern const char *const assembly_strategies[]; /* ends with NULL */
bool                     assembly_strategy_of(struct sv name, enum assembly_strategy *out);

enum {
    ASSEMBLY_MESSAGE_TOKENS = 4,    /* counted for each message beside its text: role and borders */
    ASSEMBLY_PICTURE_TOKENS = 1600, /* estimate for a picture */
    ASSEMBLY_RECENT = 4,            /* nodes at the end that are sent in full where possible */
};

/* ---- the request ---- */

struct assembly_request {
    struct loom  loom; /* thread, clock and log, in a transaction, with the loom view up to date */
    struct agent agent;
    struct sv    viewer; /* the agent whose versions of nodes are sent; absent: `agent` */
    struct sv    node;   /* where the agent is taken to be, a local id; absent: its position */
    struct sv    input;  /* what it is asked; absent: its position, if another wrote that node */

    /* <thread_context> and injections: NULL: none. */
    struct share *share;
    unsigned      block_flags; /* of block_write() */
    bool          load;        /* put the block in even if it is shown already */

    /* The resources of a session that is bound to the thread, with everything set but budget and
     * format; NULL: none. */
    const struct payload_request *payload;

    /* How long a pinned document is: see show_memory_block(). May be NULL. */
    enum status (*doc_words)(void *ctx, struct sv doc, struct sv section, int64_t *words,
                             struct err *e);
    void *doc_ctx;

    struct counts         *counts;  /* required; the caller's, best kept from turn to turn */
    int64_t                budget;  /* tokens of all texts, ASSEMBLY_MESSAGE_TOKENS included */
    int64_t                reserve; /* of them, left free for what assembly_add() brings */
    enum assembly_strategy strategy;
    int64_t                recent;        /* 0: ASSEMBLY_RECENT */
    bool                   buffer_system; /* buffer mode: a base model gets the prompt too */
};

/* ---- the answer ---- */

/* What pruning did, in numbers: the notice to the model is made of these. */
struct assembly_pruned {
    int64_t summarized; /* nodes */
    int64_t left_out;   /* nodes */
    int64_t actions;    /* of the trace, put into counts */
    int64_t results;    /* dropped */
    int64_t stashes;    /* recalled ones, of which only the name is left */
    int64_t resources;  /* cut, and what they had */
    int64_t resource_tokens;
};

struct assembly {
    struct arena  *a;
    struct counts *counts;
    VEC(struct assembly_section) sections;
    VEC(struct assembly_cut) cuts;
    VEC(struct sv) warnings; /* of resources: one sentence each */
    VEC(struct message) messages;
    struct context         context; /* for body_write(); follows `messages` */
    struct render_cache    cache;   /* for body_settings.cache: what stays the same */
    struct assembly_pruned pruned;
    size_t                 tokens; /* of all texts and messages: never more than the budget */
    size_t                 budget, reserve;
    size_t                 base;  /* messages of the start of the turn */
    size_t                 added; /* tokens of the messages behind them */
    bool                   aware, buffer;
    struct node            here;     /* position; here.seq is NO_NODE in an empty tree */
    struct sv              block;    /* <thread_context>, if this turn puts it in; or absent */
    struct sv              injected; /* injections likewise */
    struct injection      *pending;  /* of which they are made */
    size_t                 n_pending;
    int64_t                reads; /* nodes that were read: for tests of how cost grows */
};

/* ST_LIMIT_EXCEEDED: it does not fit, and e->text names the sizes of what is never cut.
 * ST_NOT_FOUND: no such node. Everything in *out lives in `a`. */
enum status assembly_make(const struct assembly_request *q, struct arena *a, struct assembly *out,
                          struct err *e) MUST_USE;

/* Add a message at the end; it must live in x->a. ST_LIMIT_EXCEEDED: it does not fit the budget,
 * and nothing is added. */
enum status assembly_add(struct assembly *x, const struct message *m, struct err *e) MUST_USE;

/* Record, in an open write transaction on the thread, the block and injections before the input:
 * `node` is the node of the input. The injections still have to be acknowledged
 * (share_delivered()). Nothing to record: ST_OK. */
enum status assembly_record(struct loom *l, struct sv agent, const struct node *node,
                            const struct assembly *x, struct err *e) MUST_USE;

/* "14 older nodes summarized, 3 results dropped"; nothing when nothing was. */
void assembly_notice(struct sb *b, const struct assembly_pruned *p);

#endif
