/* Marks of a workspace's log (store/store.h), for a server that keeps answers: equal marks mean
 * that the log is the same. The store by which they are read is opened once, by a thread that may
 * wait, and used for nothing else.
 *
 *     struct mark_reader *m = mark_reader_open(ws);
 *     if (!mark_reader_now(m, &mark))                 at any time, from any thread
 *         mark_reader_prepare(m);                     where waiting does no harm
 *     mark_reader_close(m);                                                            */
#ifndef HEDDLE_MARK_H
#define HEDDLE_MARK_H

#include "api/workspace.h"

struct mark_reader;

struct mark_reader *mark_reader_open(struct workspace *ws);
void                mark_reader_close(struct mark_reader *m);

/* Never waits for the engine. False: there is no mark; the log may have changed. */
bool mark_reader_now(struct mark_reader *m, struct store_mark *out);

/* Open the store, unless there is none that has marks; open it again where its file was replaced.
 */
void mark_reader_prepare(struct mark_reader *m);

bool mark_eq(const struct store_mark *a, const struct store_mark *b);

#endif
