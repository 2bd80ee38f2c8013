/* What an agent says or does once, however often it is asked for (struct session_once). For the
 * session.
 *
 * A message that is said has the op_id itself. A turn has many entries, each in a transaction of
 * its own, so it begins with a claim: a memory_operation "request" with the op_id and a hash of
 * what was asked for. Its commands have op_ids that follow from that one, and so has the entry that
 * ends the turn. A repeated request is answered from these records, and nothing of it runs again.
 */
#ifndef HEDDLE_COMMAND_ONCE_H
#define HEDDLE_COMMAND_ONCE_H

#include "command/session.h"

/* In the write transaction in which a text is about to be said after `at`: the head is the expected
 * one, or *again, and *out is the node that was said before. ST_CONFLICT, reason "op_id": something
 * else was. */
enum status once_say(struct session *s, struct sv text, struct sv at, bool *again, struct node *out,
                     struct err *e) MUST_USE;

/* In the write transaction with which a turn begins: the head is the expected one, or *again.
 * ST_CONFLICT, reason "op_id": other lines were given; "unfinished": these lines were, and have not
 * come to their end. */
enum status once_begin(struct session *s, struct sv output, bool *again, struct err *e) MUST_USE;

/* ... and write the claim, if the turn is to be done once. */
enum status once_claim(struct session *s, struct sv output, struct err *e) MUST_USE;

/* The op_ids of a turn's entries: of its prose, of its n-th command, of its end. Absent: it may be
 * repeated. */
struct sv once_node(const struct session *s);
struct sv once_step(const struct session *s, size_t n);
struct sv once_end(const struct session *s);

/* At the end of a turn that went to another tree: its own tree has to hold the end, too. */
enum status once_end_elsewhere(struct session *s, struct err *e) MUST_USE;

/* The node and the results of a turn that was done. In a transaction of its own. */
enum status once_restore(struct session *s, struct turn *out, struct err *e) MUST_USE;

#endif
