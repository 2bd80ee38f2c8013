/* Reading marks through one store that is kept open for it. */
#include "api/mark.h"

#include "base/failure.h"

#include <stdlib.h>
#include <string.h>

struct mark_reader {
    struct workspace *ws;
    pthread_mutex_t   lock;
    struct store     *store; /* NULL: not open */
    bool              never; /* this kind of store has no marks */
};

struct mark_reader *mark_reader_open(struct workspace *ws)
{
    struct mark_reader *m = calloc(1, sizeof *m);

    if (!m)
        failure_memory(sizeof *m);
    m->ws = ws;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void mark_reader_close(struct mark_reader *m)
{
    store_close(m->store);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

bool mark_reader_now(struct mark_reader *m, struct store_mark *out)
{
    pthread_mutex_lock(&m->lock);
    bool known = m->store && store_mark(m->store, out);
    pthread_mutex_unlock(&m->lock);
    return known;
}

/* With the lock held: is there nothing to open? */
static bool is_ready(struct mark_reader *m)
{
    if (m->store && !store_in_place(m->store)) {
        store_close(m->store);
        m->store = NULL;
    }
    return m->store || m->never;
}

void mark_reader_prepare(struct mark_reader *m)
{
    struct store *store = NULL;
    struct err ignored; /* the operation that reads the log gets the same error, and returns it */

    pthread_mutex_lock(&m->lock);
    bool ready = is_ready(m);
    pthread_mutex_unlock(&m->lock);
    if (ready || workspace_take(m->ws, STORE_READ, &store, &ignored))
        return;
    pthread_mutex_lock(&m->lock);
    m->never = !store_has_marks(store);
    if (!m->never && !m->store) {
        m->store = store;
        store = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    if (store)
        workspace_give(m->ws, store, STORE_READ);
}

bool mark_eq(const struct store_mark *a, const struct store_mark *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
