/* Token buckets for callers. */
#include "front/http/rate.h"

#include <string.h>

void rate_init(struct serve_rate *r)
{
    memset(r, 0, sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
}

void rate_release(struct serve_rate *r)
{
    pthread_mutex_destroy(&r->lock);
}

static size_t bucket_of(struct sv who)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < who.n; i++)
        h = (h ^ (unsigned char)who.s[i]) * 0x100000001b3u;
    return (size_t)(h >> 20) % RATE_BUCKETS;
}

bool rate_take(struct serve_rate *r, struct sv who, int64_t per_second, int64_t now_us)
{
    size_t i = bucket_of(who);
    double most = (double)per_second * RATE_BURST_S;

    if (!per_second)
        return true;
    pthread_mutex_lock(&r->lock);
    double left =
        r->buckets[i].at_us
            ? r->buckets[i].left + (double)(now_us - r->buckets[i].at_us) * (double)per_second / 1e6
            : most;
    left = left > most ? most : left;
    bool may = left >= 1;
    r->buckets[i].left = may ? left - 1 : left;
    r->buckets[i].at_us = now_us;
    pthread_mutex_unlock(&r->lock);
    return may;
}
