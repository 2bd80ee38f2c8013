/* A table of answers by request, and a list of them by their last use. */
#include "front/http/cache.h"

#include "base/failure.h"
#include "front/http/metrics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    HEADERS_SIZE = 2048, /* about what libmicrohttpd takes for a response and its headers */
    TAG_MAX = 64,
};

/* What makes requests equal, before the texts: actor, query or path, body. */
struct key_head {
    const struct operation *op; /* NULL: a file of the page */
    size_t                  actor, query;
    int                     form, post;
};

struct kept_answer {
    struct kept_answer  *next;           /* in its bucket */
    struct kept_answer  *before, *after; /* by use: the one used last is the first */
    struct MHD_Response *response;
    struct store_mark    mark;
    char                 tag[TAG_MAX]; /* its ETag; empty: it has none */
    const char          *type;
    size_t               bytes, size; /* of its text; of all of it */
    uint64_t             hash;
    struct sv            key;
    char                 room[];
};

struct serve_cache {
    struct serve       *s;
    struct mark_reader *marks;
    pthread_mutex_t     lock; /* of all that follows */
    struct kept_answer *buckets[BUCKETS];
    struct kept_answer *first, *last;
    size_t              bytes;
};

struct serve_cache *cache_open(struct serve *s)
{
    struct serve_cache *k = calloc(1, sizeof *k);

    if (!k)
        failure_memory(sizeof *k);
    k->s = s;
    k->marks = mark_reader_open(s->ws);
    pthread_mutex_init(&k->lock, NULL);
    return k;
}

/* ---- the table, with the lock held ----------------------------------------------------------- */

static uint64_t hash_of(struct sv key)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.s[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

static struct kept_answer **place_of(struct serve_cache *k, struct sv key, uint64_t hash)
{
    struct kept_answer **at = &k->buckets[hash % BUCKETS];

    while (*at && ((*at)->hash != hash || !sv_eq((*at)->key, key)))
        at = &(*at)->next;
    return at;
}

static void unlink_use(struct serve_cache *k, struct kept_answer *x)
{
    *(x->before ? &x->before->after : &k->first) = x->after;
    *(x->after ? &x->after->before : &k->last) = x->before;
}

static void link_use(struct serve_cache *k, struct kept_answer *x)
{
    x->before = NULL;
    x->after = k->first;
    *(k->first ? &k->first->before : &k->last) = x;
    k->first = x;
}

static void drop(struct serve_cache *k, struct kept_answer **at)
{
    struct kept_answer *x = *at;

    assert(x); /* what is in the list is in its bucket */
    *at = x->next;
    unlink_use(k, x);
    k->bytes -= x->size;
    k->s->mhd.destroy_response(x->response); /* connections that send it hold a reference */
    free(x);
}

static void drop_last(struct serve_cache *k)
{
    drop(k, place_of(k, k->last->key, k->last->hash));
}

void cache_close(struct serve_cache *k)
{
    while (k->last)
        drop_last(k);
    mark_reader_close(k->marks);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

void cache_tidy(struct serve_cache *k)
{
    struct store_mark now;
    bool              known = mark_reader_now(k->marks, &now);

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; k->last && i < BUCKETS; i++)
        for (struct kept_answer **at = &k->buckets[i], *x; (x = *at);)
            if (((const struct key_head *)(const void *)x->key.s)->op &&
                (!known || !mark_eq(&x->mark, &now)))
                drop(k, at);
            else
                at = &x->next;
    pthread_mutex_unlock(&k->lock);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

bool cache_may(const struct serve_call *c)
{
    return c->op->of_log && !c->streams_in && !c->match.s && c->body.n <= CACHE_BODY_MAX;
}

static struct sv key_of(struct serve_call *c, const struct key_head *head, struct sv query)
{
    const struct sv parts[] = { { (const char *)head, sizeof *head },
                                sv_first(c->caller.actor, head->actor),
                                query,
                                sb_sv(&c->body) };
    size_t          n = 0;

    for (size_t i = 0; i < COUNT(parts); i++)
        n += parts[i].n;
    char *room = arena_alloc(&c->a, n, 1, _Alignof(struct key_head)), *to = room;
    for (size_t i = 0; i < COUNT(parts); to += parts[i++].n)
        if (parts[i].n)
            memcpy(to, parts[i].s, parts[i].n);
    return (struct sv){ room, n };
}

/* With the lock held, which keeps the response; libmicrohttpd makes no callback here. */
static enum MHD_Result give(struct serve_call *c, const struct kept_answer *x)
{
    bool has_it =
        x->tag[0] && !c->is_post && c->none_match.s && sv_find(c->none_match, sv_of(x->tag)) >= 0;

    c->type = x->type;
    if (!has_it)
        return call_queue_kept(c, x->response, x->bytes);
    call_header(c, "ETag", sv_of(x->tag));
    if (!c->op)
        call_header(c, "Cache-Control", SV("no-cache"));
    return call_answer(c, 304, x->type, SV(""));
}

static bool answer(struct serve_call *c, enum MHD_Result *done)
{
    struct serve_cache *k = c->s->cache;
    uint64_t            hash = hash_of(c->kept.key);

    pthread_mutex_lock(&k->lock);
    struct kept_answer *x = *place_of(k, c->kept.key, hash);
    bool                right = x && mark_eq(&x->mark, &c->kept.mark);
    if (right) {
        unlink_use(k, x);
        link_use(k, x);
        *done = give(c, x);
    }
    pthread_mutex_unlock(&k->lock);
    if (right && c->op)
        atomic_fetch_add(&c->s->metrics->kept, 1);
    return right;
}

bool cache_answer(struct serve_call *c, enum MHD_Result *done)
{
    struct key_head head;

    if (call_is_last(c))
        return false;
    if (!mark_reader_now(c->s->cache->marks, &c->kept.mark)) {
        c->kept.unready = true;
        return false;
    }
    memset(&head, 0, sizeof head); /* its padding is compared, too */
    head.op = c->op;
    head.actor = c->caller.actor.n;
    head.query = c->head.query.n;
    head.form = (int)c->form;
    head.post = c->is_post;
    c->kept.key = key_of(c, &head, c->head.query);
    return answer(c, done);
}

bool cache_answer_page(struct serve_call *c, struct sv path, enum MHD_Result *done)
{
    struct key_head head;

    if (call_is_last(c))
        return false;
    memset(&head, 0, sizeof head);
    head.query = path.n;
    c->kept.key = key_of(c, &head, path);
    c->none_match = c->head.none_match;
    return answer(c, done);
}

void cache_prepare(struct serve_call *c)
{
    if (c->kept.unready)
        mark_reader_prepare(c->s->cache->marks);
}

/* ---- keeping ------------------------------------------------------------------------------------
 */

bool cache_wants(const struct serve_call *c)
{
    return c->kept.key.s && c->status == 200 && c->text.n <= CACHE_ANSWER_MAX && !call_is_last(c);
}

static struct kept_answer *make(struct serve_call *c, struct MHD_Response *r)
{
    size_t              n = c->kept.key.n;
    struct kept_answer *x = calloc(1, sizeof *x + n);
    struct sv           tag = sv_of(call_has_header(c, "ETag"));

    if (!x)
        failure_memory(sizeof *x + n);
    memcpy(x->room, c->kept.key.s, n);
    x->key = (struct sv){ x->room, n };
    x->hash = hash_of(x->key);
    x->response = r;
    x->mark = c->kept.mark;
    x->type = c->type;
    x->bytes = c->text.n;
    x->size = sizeof *x + n + c->text.n + HEADERS_SIZE;
    if (tag.n && tag.n < sizeof x->tag)
        memcpy(x->tag, tag.s, tag.n);
    return x;
}

void cache_keep(struct serve_call *c, struct MHD_Response *r)
{
    struct serve_cache *k = c->s->cache;
    struct kept_answer *x = make(c, r);

    pthread_mutex_lock(&k->lock);
    struct kept_answer **at = place_of(k, x->key, x->hash);
    if (*at)
        drop(k, at);
    x->next = k->buckets[x->hash % BUCKETS];
    k->buckets[x->hash % BUCKETS] = x;
    link_use(k, x);
    k->bytes += x->size;
    while (k->last && k->bytes > CACHE_BYTES)
        drop_last(k);
    pthread_mutex_unlock(&k->lock);
}
