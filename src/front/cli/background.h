/* Summaries that are made while a person and an agent talk: a thread that runs tree.summarize each
 * time it is asked to, so that no turn waits for it. When the conversation ends, it closes the tree
 * (tree.close). Where no model makes summaries of what the agent writes it does nothing: extracts
 * are made when a node is shown. */
#ifndef HEDDLE_BACKGROUND_H
#define HEDDLE_BACKGROUND_H

#include "front/app.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BACKGROUND_CLOSE_MS = 5000 }; /* longest wait for the last summaries */

struct background {
    struct app     *app;
    struct sv       thread;
    struct sv       agent; /* under the lock */
    pthread_t       worker;
    pthread_mutex_t lock;
    pthread_cond_t  wake, done;
    bool            runs, wanted, ends, over; /* under the lock */
    size_t          failed;
    atomic_bool     cancel;
};

/* `agent`: with whom the person talks; it lives as long as the app, as the thread's name does. */
void background_begin(struct background *b, struct app *app, struct sv thread, struct sv agent);

/* There may be something to summarise. */
void background_wake(struct background *b, struct sv agent);

/* Close the tree, which may take up to BACKGROUND_CLOSE_MS, and end the thread; summaries that are
 * missing then are made later. `now`: end it without closing the tree. */
void background_end(struct background *b, bool now);

#endif
