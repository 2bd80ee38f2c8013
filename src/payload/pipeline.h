/* Many items worked on by all cores, delivered in order by the calling thread, with a
 * bound on what is held in between.
 *
 * The calling thread is a worker as well: it delivers the next item when that is ready
 * and works on another one when not. At most PIPELINE_AHEAD items and about
 * PIPELINE_BYTES bytes are finished and undelivered at any time. */
#ifndef HEDDLE_PIPELINE_H
#define HEDDLE_PIPELINE_H

#include "base/status.h"

enum { PIPELINE_AHEAD = 64, PIPELINE_BYTES = 8 << 20 };

/* Bytes of one item; room is made with pipeline_buffer_reserve(), reused for later items. */
struct pipeline_buffer {
    char  *s;
    size_t n, cap;
};
bool pipeline_buffer_reserve(struct pipeline_buffer *b,
                             size_t cap) MUST_USE; /* keeps b->s[0..n); false: ENOMEM */
void pipeline_buffer_free(struct pipeline_buffer *b);

struct pipeline {
    void *ctx;
    /* What a thread needs for itself, such as a token counter. May be NULL. */
    void *(*open)(void *ctx);
    void (*close)(void *ctx, void *own);
    /* Item i, on any thread: fills *b. */
    void (*work)(void *ctx, void *own, size_t i, struct pipeline_buffer *b);
    /* Items in order, on the calling thread; false ends the run early. May be NULL. */
    bool (*deliver)(void *ctx, void *own, size_t i, const struct pipeline_buffer *b);
};

/* Items 0..n-1. `threads` 0: as many as this process may use. False: deliver() returned false. */
bool pipeline_run(const struct pipeline *p, size_t n, unsigned threads);

unsigned pipeline_threads(void);

#endif
