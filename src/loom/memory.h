/* The memory of an agent: pins, stashes, the trace of its actions. It is kept per agent and thread.
 * Results live in the loom's arena. */
#ifndef HEDDLE_MEMORY_H
#define HEDDLE_MEMORY_H

#include "base/json.h"
#include "loom/limits.h"
#include "loom/node.h"

struct pin {
    struct sv node;         /* local id, or absent */
    struct sv doc, section; /* a document, or a section of one */
    bool      is_result;    /* the result of a command (results.h): */
    int64_t   result;       /* its entry */
    int64_t   place;        /* pins are shown in this order: the entry that pinned it first */
};
/* {"node":…} of a pin, as its entries and rows have it, and back. */
void       memory_pin_json(struct jw *w, const struct pin *p);
struct pin memory_pin_of(const struct json *v);

enum status memory_pins(struct loom *l, struct sv agent, struct pin **out, size_t *n,
                        struct err *e) MUST_USE;

struct stash {
    struct sv label;
    int64_t   at, entry, tokens;
    int64_t   place;       /* stashes are shown in this order: the entry that stashed it first */
    bool      is_estimate; /* tokens is a quarter of the characters, not a count */
    bool      recalled;    /* in context until it is dropped */
};
enum status memory_stashes(struct loom *l, struct sv agent, struct stash **out, size_t *n,
                           struct err *e) MUST_USE;

/* ST_NOT_FOUND when there is no such label. */
enum status memory_stash(struct loom *l, struct sv agent, struct sv label, struct stash *out,
                         struct sv *text, struct err *e) MUST_USE;

struct action {
    struct sv line;   /* as it was issued */
    struct sv verb;   /* name of the tool */
    struct sv object; /* what it was done to, or absent */
    struct sv code;   /* of the error; absent: the action succeeded */
    int64_t   results;
};

/* The last actions, oldest first, and how many older ones there were by verb. */
struct trace {
    struct action *actions;
    size_t         n;
    struct older {
        struct sv verb;
        int64_t   count;
    } * older;
    size_t n_older;
};
enum status memory_trace(struct loom *l, struct sv agent, struct trace *out,
                         struct err *e) MUST_USE;

/* `viewed a7x2, b3k9 · annotated b3k9`: neighbours with the same verb are put together. */
void trace_compress(struct sb *b, const struct trace *t);

/* What stood before the text of a node when the agent was asked about it: a <thread_context> block,
 * injected texts. One of them may be absent. */
struct preamble {
    int64_t   node; /* its seq */
    struct sv block, text;
};

/* The preambles of the newest nodes, newest first, at most PREAMBLES_MAX. */
enum status memory_preambles(struct loom *l, struct sv agent, struct preamble **out, size_t *n,
                             struct err *e) MUST_USE;

/* Only the last `keep` actions stay, the others become counts. Returns how many did. */
int64_t trace_shorten(struct trace *t, size_t keep, struct arena *a);

/* The agent's last write that can be undone: how to undo it, and its entry (a tool_action, or a
 * message that the agent wrote). Writes whose undo was refused come last. */
enum status memory_undo(struct loom *l, struct sv agent, struct json *undo, int64_t *entry,
                        bool *found, struct err *e) MUST_USE;

/* The seq at which its last turn ended; -1 before the first. */
enum status memory_turn(struct loom *l, struct sv agent, int64_t *seq, struct err *e) MUST_USE;

/* The hash a document had when the agent last read or wrote it; absent: never. */
enum status memory_doc(struct loom *l, struct sv agent, struct sv path, struct sv *hash,
                       struct err *e) MUST_USE;

#endif
