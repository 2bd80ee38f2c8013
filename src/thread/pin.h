/* Recorded heads of threads: a revision and the chain value of the entry before it. Kept outside
 * the workspace, they show what nothing inside it can show: that the database was replaced by an
 * older copy, or that a log was rewritten from its first entry.
 *
 *     {"at":MS,"chain":"64 hex digits","rev":N,"thread":"T"}      as `heddle head --json` prints it
 */
#ifndef HEDDLE_PIN_H
#define HEDDLE_PIN_H

#include "base/json.h"
#include "thread/log.h"

/* What a signed note of heads begins with; one pin per line follows. */
#define HEADS_NOTE "heddle heads\n"

struct head_pin {
    struct sv   thread;
    int64_t     rev; /* number of entries */
    struct hash chain;
    int64_t     at; /* of the last of them; 0: not known */
};

/* The head of a thread; the recorded head and the last entry must agree. ST_NOT_FOUND: no such
 * thread. ST_CORRUPT: the two differ. In a transaction of the log. */
enum status pin_of(struct log *l, struct sv thread, struct head_pin *out, struct err *e) MUST_USE;

void pin_write(struct jw *w, const struct head_pin *p);

/* The pins of a file: one object, {"items":[…]}, or one object per line. ST_INVALID_SYNTAX names
 * the line, or which of the items, or says that there is none. Other keys are ignored, so that a
 * newer form can be read. */
enum status pins_read(struct sv text, struct arena *a, struct head_pin **out, size_t *n,
                      struct err *e) MUST_USE;

/* Was the thread given a new chain (log_rechain()) after the pinned entry? Then *then is the head
 * it had, and entries before that head have other chain values. In a transaction of the log. */
enum status pin_rechained(struct log *l, const struct head_pin *p, struct arena *a,
                          struct head_pin *then, bool *rechained, struct err *e) MUST_USE;

/* Does the log still have the pinned entry, with its chain value? One read. What differs goes to
 * `say`. In a transaction of the log. */
enum status pin_check(struct log *l, const struct head_pin            *p,
                      void (*say)(void *ctx, struct sv finding), void *ctx, struct err *e) MUST_USE;

#endif
