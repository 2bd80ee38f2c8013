/* What the operations on a tree have in common: an agent's session inside a request, and the shape
 * of what its commands answer.
 *
 *     struct loom_call c;
 *     if (loom_call_open(&c, r, p->thread, p->agent, e)) return err_code(e);
 *     ... session_say(&c.s, ...)
 *     return loom_call_close(&c, s);                                                   */
#ifndef HEDDLE_LOOM_CALL_H
#define HEDDLE_LOOM_CALL_H

#include "api/loom/loom_env.h"
#include "api/request.h"

struct loom_call {
    struct loom_env env;
    struct session  s;
};

/* A session for an agent, or for the person who asks when `agent` is absent. The log is open. */
enum status loom_call_open(struct loom_call *c, struct request *r, struct sv thread,
                           struct sv agent, struct err *e) MUST_USE;

/* ST_NOT_FOUND: there is no such thread. One that was spawned and has no entry yet is an empty
 * tree. */
enum status loom_call_find_tree(struct request *r, struct sv thread, struct err *e) MUST_USE;

/* The same for a thread that must be there, with a read transaction open, which loom_call_close()
 * ends. One that was spawned and not written to is an empty tree. */
enum status loom_call_read(struct loom_call *c, struct request *r, struct sv thread,
                           struct sv agent, struct err *e) MUST_USE;

/* The following call is done once for an op_id (absent: always), and only if the thread has
 * `expect` entries (PARAM_UNSET: any number). */
void loom_call_once(struct loom_call *c, struct sv op_id, int64_t expect);
#define LOOM_OP_ID_SAY "say it at most once: repeating it with the same text is harmless"
#define LOOM_OP_ID_DO "do it at most once: repeating it with the same lines is harmless"
#define LOOM_EXPECT "only if the thread has exactly REV entries"

/* Ends what is open and passes `s` on. */
enum status loom_call_close(struct loom_call *c, enum status s);

/* Commit an open write transaction when `s` is ST_OK, else abort it. */
enum status loom_call_commit(struct request *r, enum status s, struct err *e);

/* What the first n commands of a turn did: the list "results". */
extern const struct field loom_result_fields[];
void                      loom_results_member(struct jw *w, const struct turn *turn, size_t n);

/* As a model sees them: one after another, an empty line between. Those that show nothing are left
 * out. */
void loom_results_print(const struct json *results, struct sb *b);

/* Warn that what was said is a new branch, when it is. */
void loom_call_warn(struct request *r, const struct session *s);

/* Names of authors' kinds, ends with NULL. */
extern const char *const loom_author_kinds[];

/* Names of a tree's modes, ends with NULL. */
extern const char *const tree_modes[];

#endif
