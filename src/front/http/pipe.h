/* A bounded buffer of bytes between two threads. The caller does the locking. */
#ifndef HEDDLE_FRONT_PIPE_H
#define HEDDLE_FRONT_PIPE_H

#include "base/sv.h"

struct serve_pipe {
    char  *buf;
    size_t from, n, cap;
    bool   ended; /* no more bytes will be put */
    bool   cut;   /* the output is incomplete: the connection must be closed without a proper end */
};

/* Up to `most` bytes, which are then gone. */
size_t pipe_take(struct serve_pipe *p, char *into, size_t most);

/* As many of `bytes` as there is room for, when it may hold `most` in all. */
size_t pipe_put(struct serve_pipe *p, struct sv bytes, size_t most);

void pipe_release(struct serve_pipe *p);

#endif
