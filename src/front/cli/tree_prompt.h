/* A prompt at which lines are typed into a tree, as `loom` and `talk` have it: a line that starts
 * with / or → is a command, any other one is text. Tab completes tools and ids.
 *
 *     struct tree_prompt p = { .app = app, .thread = thread, .agent = agent };
 *     tree_prompt_open(&p, ".heddle/loom_history");
 *     while (more && !tree_prompt_read(&p, &input, &more, e)) { ...; tree_prompt_next(&p); }
 *     tree_prompt_close(&p); */
#ifndef HEDDLE_TREE_PROMPT_H
#define HEDDLE_TREE_PROMPT_H

#include "front/cli/command.h"
#include "front/cli/line_edit.h"

struct tree_prompt {
    struct app *app;
    struct sv   thread, agent;
    struct sv   label;           /* stands before the position, or absent */
    struct sv   partner;         /* what is said goes to the end of this agent's branch; absent: to
                                  * the position of `agent` */
    struct sv          at;       /* ... or to this node, if it is not absent */
    struct sv          shown;    /* the node that the prompt of this line named, or absent */
    bool               verbatim; /* in buffer mode spaces at the ends of a text are part of it */
    bool               settled;  /* the tree has a node, and with it its mode for good */
    const struct json *names;    /* candidates of the completion under way */
    struct arena       line;     /* of the line that is read and done now; freed with it */
    struct line_edit   edit;
    int                history;
    char               history_name[64];
};

void tree_prompt_open(struct tree_prompt *p, const char *history);
void tree_prompt_close(struct tree_prompt *p);

/* Everything up to the end of a command, a thought or a text; nothing after Ctrl-C. */
enum status tree_prompt_read(struct tree_prompt *p, struct sv *out, bool *more,
                             struct err *e) MUST_USE;

/* The line was done: its memory is used again. */
void tree_prompt_next(struct tree_prompt *p);

struct prompt_given {
    const char *param;
    struct sv   value; /* absent: not given */
};

/* Run an operation with the parameters `given`, which end with a NULL name. Its document and all it
 * needed live until the line is done. */
enum status tree_prompt_call(struct tree_prompt *p, const struct operation *op,
                             const struct prompt_given *given, struct request *r,
                             struct err *e) MUST_USE;

/* The document of an operation that only reads; NULL when it failed: the prompt goes on without
 * it. */
const struct json *tree_prompt_look(struct tree_prompt *p, const struct operation *op,
                                    const struct prompt_given *given, struct err *e);

/* Its warnings and its answer. */
enum status tree_prompt_print(struct tree_prompt *p, const struct operation *op, struct request *r,
                              struct err *e) MUST_USE;

/* The document of loom.position: of the one who types, or of another agent. */
const struct json *tree_prompt_where(struct tree_prompt *p, struct err *e);
const struct json *tree_prompt_where_is(struct tree_prompt *p, struct sv agent, struct err *e);

/* Do what the line says, with loom.line. A text that cannot be said is told, and the prompt goes
 * on. */
enum status tree_prompt_act(struct tree_prompt *p, struct sv input, struct err *e) MUST_USE;

#endif
