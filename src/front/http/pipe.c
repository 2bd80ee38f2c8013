/* Bytes between two threads, in memory that grows up to a limit. */
#include "front/http/pipe.h"

#include "base/failure.h"

#include <stdlib.h>
#include <string.h>

size_t pipe_take(struct serve_pipe *p, char *into, size_t most)
{
    size_t n = p->n < most ? p->n : most;

    if (n)
        memcpy(into, p->buf + p->from, n);
    p->from = p->n == n ? 0 : p->from + n;
    p->n -= n;
    return n;
}

/* Room for at least one byte, up to `most` in all; what does not fit is left. */
size_t pipe_put(struct serve_pipe *p, struct sv bytes, size_t most)
{
    size_t want = p->n + bytes.n < most ? p->n + bytes.n : most;

    if (p->from + want > p->cap && p->from) {
        memmove(p->buf, p->buf + p->from, p->n);
        p->from = 0;
    }
    if (want > p->cap) {
        size_t cap = p->cap * 2 > want ? p->cap * 2 : want;
        cap = cap < 4096 ? 4096 : cap > most ? most : cap;
        p->buf = realloc(p->buf, cap);
        if (!p->buf)
            failure_memory(cap);
        p->cap = cap;
    }
    size_t n = want - p->n;
    memcpy(p->buf + p->from + p->n, bytes.s, n);
    p->n += n;
    return n;
}

void pipe_release(struct serve_pipe *p)
{
    free(p->buf);
    *p = (struct serve_pipe){ 0 };
}
