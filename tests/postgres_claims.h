/* What writers on a log were told, and whether the log agrees.
 *
 * Several threads of execution append to a few threads of one log, each through a store of its own,
 * while something bad happens to the server. Every write leaves a claim: it is there, it is not
 * there, or nobody knows. claims_check() reads the log and compares: nothing lost, nothing there
 * twice, no batch in part.
 *
 *     struct claims c = { .url = url };
 *     claims_start(&c, 8);
 *     ...                                  what happens meanwhile
 *     claims_stop(&c);
 *     claims_check(&c);                    each difference is a FAIL of tap.h
 *
 * Half of the writes carry an op_id and are repeated with it until they are done; the others are
 * tried once. Where the store has groups, one writer in four uses them. */
#ifndef HEDDLE_POSTGRES_CLAIMS_H
#define HEDDLE_POSTGRES_CLAIMS_H

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/log.h"

#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLAIM_THREADS = 5, CLAIM_WRITERS_MAX = 64, CLAIM_GROUP = 6, CLAIM_SAMPLES = 12 };

enum verdict { THERE, NOT_THERE, NOBODY_KNOWS };

struct claim {
    char         id[40];
    int          thread, n;
    enum verdict verdict;
    int64_t      first; /* of what is there */
};

/* Of a write as it is found in the log. */
struct found {
    int64_t first;
    int     seen, of;
};

struct claims {
    const char  *url;
    int          busy_ms;
    const char  *ids;          /* in front of every id, so that runs can be told apart */
    bool         quiet_losses; /* count what is lost, do not complain */
    atomic_bool  stop;
    atomic_long  told[ST_USAGE + 1], uncertain, not_written, repeated, attempts, samples;
    struct arena a;
    VEC(struct claim) list;
    pthread_mutex_t lock;
    pthread_t       writers[CLAIM_WRITERS_MAX];
    int             n, round;
    struct map      found; /* struct found, by id */
    int64_t         scanned[CLAIM_THREADS];
    size_t          lost;
};

struct claim_writer {
    struct claims *c;
    struct log     log;
    struct arena   a;
    uint64_t       state;
    int            number;
    long           action;
};

static const struct view *const claim_views[] = { &thread_view, NULL };

static inline uint64_t claim_draw(struct claim_writer *w, uint64_t below)
{
    w->state ^= w->state << 13;
    w->state ^= w->state >> 7;
    w->state ^= w->state << 17;
    return (w->state >> 11) % below;
}

static inline struct sv claim_thread(int i)
{
    static const struct sv names[CLAIM_THREADS] = { SV_STATIC("alpha"), SV_STATIC("beta"),
                                                    SV_STATIC("gamma"), SV_STATIC("delta"),
                                                    SV_STATIC(".global") };

    return names[i];
}

/* ---- writing --------------------------------------------------------------------- */

static inline struct entry *claim_entries(struct claim_writer *w, const struct claim *k, bool op)
{
    struct entry *list = ARENA_NEW(&w->a, struct entry, (size_t)k->n);
    uint64_t      large = claim_draw(w, 100);

    for (int i = 0; i < k->n; i++) {
        struct sb b = sb_in(&w->a, 0);
        sb_addf(&b, "{\"content\":\"%s/%d of %d ", k->id, i, k->n);
        sb_pad(&b, (char)('a' + claim_draw(w, 26)), large < 4 ? 20000 : (size_t)claim_draw(w, 600));
        sb_adds(&b, "\",\"role\":\"user\"}");
        list[i] = (struct entry){
            .at = w->action, .kind = SV("ai_message"), .lane = SV("default"), .payload = sb_sv(&b)
        };
    }
    if (op)
        list[0].op_id = sv_dup(sv_of(k->id), &w->a);
    return list;
}

static inline enum status claim_append(struct claim_writer *w, struct claim *k,
                                       struct entry *entries, struct err *e)
{
    struct store_head h;
    struct sv         thread = claim_thread(k->thread);
    struct entry     *copy = ARENA_NEW(&w->a, struct entry, (size_t)k->n);

    memcpy(copy, entries, (size_t)k->n * sizeof *copy); /* a failed append may have changed them */
    if (log_begin(&w->log, thread, STORE_WRITE, e))
        return err_code(e);
    if (log_append(&w->log, thread, LOG_ANY_REV, copy, (size_t)k->n, &h, e) ||
        log_commit(&w->log, e)) {
        log_abort(&w->log);
        return err_code(e);
    }
    if (w->log.repeated)
        w->c->repeated++;
    k->first = copy[0].seq;
    return ST_OK;
}

static inline void claim_note(struct claims *c, const struct claim *k)
{
    pthread_mutex_lock(&c->lock);
    *vec_push(&c->list, &c->a) = *k;
    pthread_mutex_unlock(&c->lock);
}

/* What the store said, counted; true when it does not know itself. */
static inline bool claim_count(struct claims *c, enum status s, const struct err *e)
{
    bool uncertain = s && strcmp(e->reason, "uncertain") == 0;

    c->attempts++;
    c->told[s]++;
    c->uncertain += uncertain;
    c->not_written += s && strcmp(e->reason, "not_written") == 0;
    if (s && c->samples++ < CLAIM_SAMPLES)
        printf("# told: %s %s: %s\n", status_word(s), e->reason, e->text);
    if (s && s != ST_IO && s != ST_CONFLICT) {
        printf("# a writer was told %s: %s\n", status_word(s), e->text);
        FAIL("an error of another kind");
    }
    return uncertain;
}

static inline struct claim claim_new(struct claim_writer *w)
{
    struct claim k = { .thread = (int)claim_draw(w, CLAIM_THREADS), .n = 1 };
    uint64_t     kind = claim_draw(w, 100);

    if (kind >= 70)
        k.n = kind > 97 ? 300 : 1 + (int)claim_draw(w, 12); /* 300 goes by COPY */
    snprintf(k.id, sizeof k.id, "%s%d-w%d-%ld", w->c->ids ? w->c->ids : "r", w->c->round, w->number,
             w->action++);
    return k;
}

/* One write by itself. With an op_id it is repeated until it is done or all is over. */
static inline void claim_one(struct claim_writer *w, bool op)
{
    struct claim  k = claim_new(w);
    struct entry *entries = claim_entries(w, &k, op);
    bool          unknown = false, done = false;
    struct err    e;

    for (int tries = 0; !done && (!tries || (op && tries < 40)); tries++) {
        enum status s = claim_append(w, &k, entries, &e);
        unknown |= claim_count(w->c, s, &e);
        done = s == ST_OK;
        if (!done && op)
            usleep((useconds_t)claim_draw(w, 20000));
        if (w->c->stop && tries > 20)
            break;
    }
    k.verdict = done ? THERE : unknown ? NOBODY_KNOWS : NOT_THERE;
    claim_note(w->c, &k);
}

/* Several in a group. What is told of a part counts when the group is told to be durable. */
static inline void claim_group(struct claim_writer *w)
{
    struct store *s = w->log.store;
    struct claim  parts[CLAIM_GROUP];
    bool          fine[CLAIM_GROUP] = { false };
    struct err    e;

    if (store_group_begin(s, &e)) {
        claim_count(w->c, e.code, &e);
        return;
    }
    for (int i = 0; i < CLAIM_GROUP; i++) {
        parts[i] = claim_new(w);
        parts[i].n = 1 + parts[i].n % 12;
        struct entry *entries = claim_entries(w, &parts[i], claim_draw(w, 2));
        enum status   st = claim_append(w, &parts[i], entries, &e);
        claim_count(w->c, st, &e);
        fine[i] = st == ST_OK;
    }
    enum status ended = store_group_end(s, &e);
    bool        unknown = claim_count(w->c, ended, &e);
    for (int i = 0; i < CLAIM_GROUP; i++) {
        parts[i].verdict = !fine[i] ? NOT_THERE
                           : !ended ? THERE
                                    : (unknown ? NOBODY_KNOWS : NOT_THERE);
        claim_note(w->c, &parts[i]);
    }
}

static inline struct store *claims_open(struct claims *c, struct err *e)
{
    struct store *s = NULL;

    if (store_open(sv_of(c->url), &(struct store_options){ .create = true, .busy_ms = c->busy_ms },
                   &s, e))
        return NULL;
    return s;
}

static inline void *claim_main(void *ctx)
{
    struct claim_writer *w = ctx;
    struct err           e;
    struct store        *s = NULL;

    while (!w->c->stop && !(s = claims_open(w->c, &e)))
        usleep(20000);
    if (s) {
        w->log = log_of(s, claim_views);
        bool grouped = w->number % 4 == 3 && store_has_groups(s);
        while (!w->c->stop) {
            if (grouped && claim_draw(w, 2))
                claim_group(w);
            else
                claim_one(w, claim_draw(w, 2));
            arena_free(&w->a);
        }
        store_close(w->log.store);
    }
    free(w);
    return NULL;
}

/* ---- the run --------------------------------------------------------------------- */

static inline void claims_init(struct claims *c)
{
    pthread_mutex_init(&c->lock, NULL);
    c->found = map_in(&c->a);
}

static inline void claims_start(struct claims *c, int n)
{
    c->stop = false;
    c->n = n;
    c->round++;
    for (int i = 0; i < n; i++) {
        struct claim_writer *w = calloc(1, sizeof *w);
        if (!w)
            errx(1, "out of memory");
        w->c = c;
        w->number = i;
        w->state = (uint64_t)clock_steady_us() * 2654435761u + (uint64_t)i * 0x9e3779b97f4a7c15u;
        if (pthread_create(&c->writers[i], NULL, claim_main, w))
            errx(1, "no thread can be started");
    }
}

static inline void claims_stop(struct claims *c)
{
    c->stop = true;
    for (int i = 0; i < c->n; i++)
        pthread_join(c->writers[i], NULL);
}

/* ---- comparing ------------------------------------------------------------------- */

static inline void claims_see(struct claims *c, const struct entry *n)
{
    char         id[40] = "";
    int          i = 0, of = 0;
    struct arena a = { 0 };
    int got = sscanf(sv_cstr(n->payload, &a), "{\"content\":\"%39[^/]/%d of %d ", id, &i, &of);

    arena_free(&a);
    if (got != 3)
        return;
    struct found *f = map_find(&c->found, sv_of(id));
    if (!f) {
        f = ARENA_NEW(&c->a, struct found, 1);
        *f = (struct found){ .first = n->seq, .of = of };
        map_put(&c->found, sv_of(id), f);
    }
    if (i != f->seen || n->seq != f->first + i || of != f->of) {
        printf("# %s/%d at %lld is there twice or in part\n", id, i, (long long)n->seq);
        FAIL("doubled");
    }
    f->seen++;
}

/* Reads what is new in a thread. */
static inline void claims_scan(struct claims *c, struct store *s, int thread)
{
    struct store_query q = { .thread = claim_thread(thread),
                             .from = c->scanned[thread],
                             .to = STORE_TO_END };
    struct store_scan *scan = NULL;
    struct entry       n;
    struct err         e;
    bool               more = true;

    if (store_scan(s, &q, &scan, &e)) {
        FAIL(e.text);
        return;
    }
    while (store_next(scan, &n, &more, &e) == ST_OK && more) {
        CHECK_INT(n.seq, c->scanned[thread]);
        c->scanned[thread]++;
        claims_see(c, &n);
    }
    if (more)
        FAIL(e.text);
    store_scan_close(scan);
}

static inline void claims_compare(struct claims *c, const struct claim *k)
{
    const struct found *f = map_find(&c->found, sv_of(k->id));
    bool                whole = f && f->seen == k->n && f->of == k->n;

    if (f && !whole) {
        printf("# %s is there in part\n", k->id);
        FAIL("a batch in part");
    }
    if (k->verdict == NOT_THERE && f) {
        printf("# %s is there, although the writer was told it is not\n", k->id);
        FAIL("there against what was told");
    }
    if (k->verdict == THERE && (!whole || f->first != k->first)) {
        c->lost++;
        if (c->quiet_losses)
            return;
        printf("# lost: %s of " SV_FMT "\n", k->id, SV_ARG(claim_thread(k->thread)));
        FAIL("lost");
    }
}

static inline void claims_complain(void *ctx, struct sv what)
{
    (void)ctx;
    FAIL("a complaint");
    printf("# " SV_FMT "\n", SV_ARG(what));
}

/* The chain of every thread, every view folded again, and what the engine thinks of its tables. */
static inline int64_t claims_verify(struct claims *c)
{
    struct err    e;
    struct store *s = claims_open(c, &e);
    int64_t       total = 0;

    if (!s) {
        FAIL(e.text);
        return 0;
    }
    struct log l = log_of(s, claim_views);
    CHECK(store_check(s, claims_complain, NULL, &e) == ST_OK);
    for (int i = 0; i < CLAIM_THREADS; i++) {
        struct store_head h = { 0 };
        int64_t           verified = 0;
        CHECK(store_head(s, claim_thread(i), &h, &e) == ST_OK);
        if (h.rev && log_verify(&l, claim_thread(i), claims_complain, NULL, &verified, &e))
            FAIL(e.text);
        CHECK_INT(verified, h.rev);
        CHECK_INT(h.recorded_rev, h.rev);
        total += verified;
    }
    store_close(l.store);
    return total;
}

/* Everything new in the log against every claim so far. */
static inline void claims_check(struct claims *c)
{
    struct err    e;
    struct store *s = claims_open(c, &e);

    if (!s) {
        FAIL(e.text);
        return;
    }
    for (int i = 0; i < CLAIM_THREADS; i++)
        claims_scan(c, s, i);
    store_close(s);
    c->lost = 0;
    for (size_t i = 0; i < c->list.n; i++)
        claims_compare(c, &c->list.v[i]);
}

static inline size_t claims_of(const struct claims *c, enum verdict v)
{
    size_t n = 0;

    for (size_t i = 0; i < c->list.n; i++)
        n += c->list.v[i].verdict == v;
    return n;
}

static inline void claims_tell(struct claims *c)
{
    printf("# %ld attempts: %zu writes done (%ld found done when repeated), %zu not, %zu unknown; "
           "told: %ld conflict, %ld io, of them %ld not written and %ld uncertain\n",
           (long)c->attempts, claims_of(c, THERE), (long)c->repeated, claims_of(c, NOT_THERE),
           claims_of(c, NOBODY_KNOWS), (long)c->told[ST_CONFLICT], (long)c->told[ST_IO],
           (long)c->not_written, (long)c->uncertain);
    fflush(stdout);
}

#endif
