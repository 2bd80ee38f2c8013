/* What feed.c (readers) and feed_follow.c (the log) share. */
#ifndef HEDDLE_FEED_INTERNAL_H
#define HEDDLE_FEED_INTERNAL_H

#include "api/feed.h"
#include "base/json.h"

#include <fcntl.h>

struct feed_news {
    char     *bytes;        /* of both that follow */
    struct sv text, thread; /* the event as it is sent; what it is about */
};

struct feed {
    struct workspace   *ws;
    pthread_mutex_t     lock;   /* of all that follows */
    pthread_cond_t      wanted; /* somebody reads, or the feed ends */
    pthread_t           thread;
    bool                runs, ends;
    int                 nudge[2]; /* closing [1] wakes the thread from waiting for the store */
    char                epoch[16];
    unsigned            epochs;
    struct feed_news    kept[FEED_KEPT];
    uint64_t            oldest, next; /* numbers of news: kept are oldest <= n < next */
    struct feed_reader *readers;
    int64_t             left_us; /* when the last reader left */
    struct feed_counts  counts;
};

static inline struct feed_news *feed_news_at(struct feed *f, uint64_t number)
{
    return &f->kept[number % FEED_KEPT];
}

/* All of these with the lock held. */
void feed_put(struct feed *f, struct sv thread, int64_t rev, struct sv kinds);
void feed_greet(struct feed *f, struct feed_reader *r); /* a fresh one, before anything else */
void feed_tell_change(struct feed *f, struct feed_reader *r, struct sv thread, int64_t rev,
                      struct sv kinds);
void feed_wake_all(struct feed *f);
void feed_beat(struct feed *f);
void feed_begin_again(struct feed *f); /* earlier numbers become invalid */
void feed_nudge(struct feed *f);

/* The thread that follows the log. */
void *feed_follow(void *feed);

#endif
