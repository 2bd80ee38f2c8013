/* What the operations on threads and references have in common: a transaction of the share room
 * inside a request.
 *
 *     struct share s;
 *     if (share_call_begin(r, &s, STORE_WRITE, e) ||
 *         share_lifecycle(&s, id, action, reason, &t, e) || share_commit(&s, e))
 *         return share_call_fail(r, &s, e);
 *     ... write the document
 *     return share_call_end(r, &s);                                                    */
#ifndef HEDDLE_SHARE_CALL_H
#define HEDDLE_SHARE_CALL_H

#include "api/request.h"
#include "share/share.h"

/* Open the log and begin. For reading it is opened as for writing where that is possible, because
 * what other programs changed in the files may have to be imported; a workspace that cannot be
 * written is read as the log has it. */
enum status share_call_begin(struct request *r, struct share *s, enum store_mode mode,
                             struct err *e) MUST_USE;

/* End it. The warnings of the share room become those of the request. */
enum status share_call_end(struct request *r, struct share *s);                 /* ST_OK */
enum status share_call_fail(struct request *r, struct share *s, struct err *e); /* e->code */

/* The fields of a thread, as every answer that tells of one has them. */
extern const struct field thread_fields[];
void                      thread_members(struct jw *w, const struct share_thread *t);
extern const char *const  thread_states[]; /* names of enum thread_status, ends with NULL */

#endif
