/* How many requests a second a caller may send: a bucket of tokens each, which holds those of two
 * seconds. Callers are told apart by a hash; the rare two that share a bucket share its rate. */
#ifndef HEDDLE_FRONT_RATE_H
#define HEDDLE_FRONT_RATE_H

#include "base/sv.h"

#include <pthread.h>

enum { RATE_BUCKETS = 1024, RATE_BURST_S = 2 };

struct serve_rate {
    pthread_mutex_t lock;
    struct {
        int64_t at_us; /* when it was filled last; 0: never */
        double  left;
    } buckets[RATE_BUCKETS];
};

void rate_init(struct serve_rate *r);
void rate_release(struct serve_rate *r);

/* May `who` send one more? `per_second` 0: always. */
bool rate_take(struct serve_rate *r, struct sv who, int64_t per_second, int64_t now_us);

#endif
