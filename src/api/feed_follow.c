/* Following the log for the feed: the heads of all threads, compared with those seen last. */
#include "api/feed_internal.h"

#include "base/clock.h"
#include "base/map.h"
#include "thread/log.h"
#include "thread/scan.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    KINDS_LOOKED_AT = 64, /* entries of one change that are read for their kinds */
    KINDS_MAX = 16,
    WAIT_MS = 1000,
    RETRY_MS = 500, /* where there is no log yet, or it cannot be read */
    GAP_MIN_US = 2000,
    GAP_FACTOR = 4, /* at most a fifth of the time is spent reading heads */
};

struct followed_head {
    int64_t     rev; /* 0: none, or gone */
    struct hash chain;
};

struct following {
    struct feed  *f;
    struct store *store; /* NULL: not open */
    struct log    l;
    struct arena  a;       /* memory of `heads` */
    struct map    heads;   /* struct followed_head by thread */
    bool          started; /* heads holds what was there at the beginning */
    bool          is_old;  /* there may be something new */
    int64_t       version, looked_us, cost_us;
};

/* ---- one look --------------------------------------------------------------------------- */

static struct followed_head *head_of(struct following *x, struct sv thread)
{
    struct followed_head *head = map_find(&x->heads, thread);

    if (!head) {
        head = ARENA_NEW(&x->a, struct followed_head, 1);
        map_put(&x->heads, thread, head);
    }
    return head;
}

static bool is_in(const struct sv *list, size_t n, struct sv kind)
{
    for (size_t i = 0; i < n; i++)
        if (sv_eq(list[i], kind))
            return true;
    return false;
}

/* ["ai_message"]: of entries from <= seq < to, as many as are looked at. Entries that cannot be
 * read are left out: the news is that there is something. */
static struct sv kinds_of(struct following *x, struct sv thread, int64_t from, int64_t to,
                          struct arena *a)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = thread, .from = from, .to = to - 1 };
    struct sv                              seen[KINDS_MAX];
    struct sb                              b = sb_in(a, 0);
    struct jw                              w = jw_in(&b, 0);
    struct entry                           n;
    struct err                             ignored;
    size_t                                 count = 0;
    bool                                   more = true;

    if (to - from > KINDS_LOOKED_AT)
        q.from = to - KINDS_LOOKED_AT;
    jw_open(&w, '[');
    if (to > from && !log_scan(&x->l, &q, &scan, &ignored))
        while (count < KINDS_MAX && !log_scan_next(scan, &n, &more, &ignored) && more)
            if (!is_in(seen, count, n.kind)) {
                seen[count] = sv_dup(n.kind, a);
                jw_str(&w, seen[count++]);
            }
    jw_close(&w, ']');
    return sb_sv(&b);
}

/* Does the thread continue the entries that were seen? A thread that was deleted and created again,
 * or restored with another log, has other chain values. */
static bool goes_on(struct following *x, struct sv thread, const struct followed_head *seen,
                    int64_t rev, struct arena *a)
{
    struct store_query q = { .thread = thread, .from = seen->rev - 1, .to = seen->rev - 1 };
    struct entry       n;
    struct err         ignored;
    bool               found = false;

    if (!seen->rev)
        return true;
    return rev > seen->rev && !log_first(&x->l, &q, a, &n, &found, &ignored) && found &&
           hash_eq(&n.chain, &seen->chain);
}

static void put(struct following *x, struct sv thread, int64_t rev, struct sv kinds)
{
    pthread_mutex_lock(&x->f->lock);
    feed_put(x->f, thread, rev, kinds);
    pthread_mutex_unlock(&x->f->lock);
}

/* A thread that was replaced is first reported as gone, so that its readers begin again. */
static void tell(struct following *x, const struct store_thread *t,
                 const struct followed_head *seen, struct arena *a)
{
    bool same = goes_on(x, t->id, seen, t->head.rev, a);

    if (!same)
        put(x, t->id, 0, SV("[]"));
    put(x, t->id, t->head.rev, kinds_of(x, t->id, same ? seen->rev : 0, t->head.rev, a));
}

/* What changed since the last look; the first look only remembers. */
static void compare(struct following *x, const struct store_thread *list, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        struct followed_head    *seen = head_of(x, list[i].id);
        const struct store_head *head = &list[i].head;
        if (list[i].damaged || (seen->rev == head->rev && hash_eq(&seen->chain, &head->chain)))
            continue;
        if (x->started)
            tell(x, &list[i], seen, a);
        *seen = (struct followed_head){ head->rev, head->chain };
    }
}

static int by_id(const struct store_thread *list, size_t n, struct sv id)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        int    c = sv_cmp(list[mid].id, id);
        if (c == 0)
            return 1;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return 0;
}

/* Threads that are gone have revision 0. */
static void find_gone(struct following *x, const struct store_thread *list, size_t n)
{
    for (size_t i = 0; x->heads.n > n && i < x->heads.n; i++) {
        struct followed_head *seen = x->heads.items[i].value;
        if (!seen->rev || by_id(list, n, x->heads.items[i].key))
            continue;
        *seen = (struct followed_head){ 0 };
        put(x, x->heads.items[i].key, 0, SV("[]"));
    }
}

/* "T:REV,T2:REV" of one reader; what cannot be read is passed over: it is only a hint. */
static void answer_since(struct following *x, struct feed_reader *r, struct arena *a)
{
    struct sv_cut cut = { .tail = sv_of(r->since), .found = true };

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        struct sv_cut               item = sv_cut_last(cut.head, ':');
        const struct followed_head *seen = map_find(&x->heads, item.head);
        int64_t                     had;
        if (!item.found || !sv_to_int(item.tail, &had) || had < 0)
            continue;
        int64_t now = seen ? seen->rev : 0;
        if (now != had)
            feed_tell_change(x->f, r, item.head, now,
                             kinds_of(x, item.head, had < now ? had : 0, now, a));
    }
}

/* Readers that came since the last look. */
static void greet(struct following *x, struct arena *a)
{
    pthread_mutex_lock(&x->f->lock);
    for (struct feed_reader *r = x->f->readers; r; r = r->after) {
        if (!r->fresh)
            continue;
        feed_greet(x->f, r);
        if (r->since)
            answer_since(x, r, a);
        free(r->since);
        r->since = NULL;
    }
    feed_wake_all(x->f);
    pthread_mutex_unlock(&x->f->lock);
}

static enum status look(struct following *x, struct err *e)
{
    struct arena         a = { 0 };
    struct store_thread *list;
    size_t               n;
    int64_t              from = clock_steady_us();

    if (log_begin(&x->l, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(&x->l, &a, &list, &n, e);
    if (!s) {
        compare(x, list, n, &a);
        find_gone(x, list, n);
        x->started = true;
        greet(x, &a);
    }
    log_abort(&x->l);
    arena_free(&a);
    x->looked_us = clock_steady_us();
    x->cost_us = x->looked_us - from;
    return s;
}

/* ---- the thread ------------------------------------------------------------------------- */

static void close_store(struct following *x)
{
    if (x->store)
        store_close(x->store);
    x->store = NULL;
    x->version = 0;
}

static enum status open_store(struct following *x, struct err *e)
{
    if (x->store)
        return ST_OK;
    if (workspace_take(x->f->ws, STORE_READ, &x->store, e))
        return err_code(e);
    x->l = log_of(x->store, workspace_views);
    return ST_OK;
}

/* A pipe whose other end feed_nudge() closes; -1: there are no descriptors left. */
static int nudge_fd(struct following *x)
{
    struct feed *f = x->f;

    pthread_mutex_lock(&f->lock);
    if (f->nudge[1] < 0) {
        x->is_old = true; /* a reader was added */
        if (f->nudge[0] >= 0)
            close(f->nudge[0]);
        f->nudge[0] = -1;
        if (pipe2(f->nudge, O_CLOEXEC) != 0)
            f->nudge[0] = f->nudge[1] = -1;
    }
    int fd = f->nudge[0];
    pthread_mutex_unlock(&f->lock);
    return fd;
}

static void nap(int64_t us)
{
    if (us > 0)
        nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

static void beat(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    feed_beat(f);
    pthread_mutex_unlock(&f->lock);
}

/* Wait for a commit or a new reader. After a commit the gap to the last look is at least GAP_FACTOR
 * times what that look cost. */
static enum status wait_for_change(struct following *x, int nudge, struct err *e)
{
    enum store_woken why = STORE_QUIET;
    int64_t          gap = x->cost_us * GAP_FACTOR;

    if (store_wait(x->store, &x->version, WAIT_MS, nudge, &why, e))
        return err_code(e);
    x->is_old = why != STORE_QUIET;
    beat(x->f);
    gap = gap > GAP_MIN_US ? gap : GAP_MIN_US;
    if (why == STORE_CHANGED)
        nap(x->looked_us + gap - clock_steady_us());
    return ST_OK;
}

/* Wait until there is a reader to follow the log for; false when the feed ends. */
static bool is_wanted(struct following *x)
{
    struct feed *f = x->f;

    pthread_mutex_lock(&f->lock);
    bool idle = !f->readers && clock_steady_us() - f->left_us > (int64_t)FEED_LINGER_MS * 1000;
    if (idle && !f->ends) {
        close_store(x);
        x->started = false;
        feed_begin_again(f);
    }
    while (!f->readers && idle && !f->ends)
        pthread_cond_wait(&f->wanted, &f->lock);
    bool wanted = !f->ends;
    pthread_mutex_unlock(&f->lock);
    return wanted;
}

/* The log could not be read, or was replaced: forget what was seen. */
static void recover(struct following *x, const struct err *e)
{
    struct arena a = { 0 };

    close_store(x);
    if (e->code != ST_NOT_FOUND || x->heads.n) {
        arena_free(&x->a);
        x->heads = map_in(&x->a);
        x->started = false;
        pthread_mutex_lock(&x->f->lock);
        feed_begin_again(x->f);
        feed_wake_all(x->f);
        pthread_mutex_unlock(&x->f->lock);
    } else {
        x->started = true; /* there is no log yet: all that comes is new */
        greet(x, &a);
    }
    beat(x->f);
    arena_free(&a);
    x->is_old = true;
    nap((int64_t)RETRY_MS * 1000);
}

void *feed_follow(void *ctx)
{
    struct following x = { .f = ctx };
    struct err       e;

    x.heads = map_in(&x.a);
    while (is_wanted(&x)) {
        int nudge = nudge_fd(&x); /* before looking: a later reader ends the wait */
        if (open_store(&x, &e) || ((x.is_old || !x.started) && look(&x, &e)) ||
            wait_for_change(&x, nudge, &e))
            recover(&x, &e);
    }
    close_store(&x);
    arena_free(&x.a);
    pthread_mutex_lock(&x.f->lock);
    if (x.f->nudge[0] >= 0)
        close(x.f->nudge[0]);
    x.f->nudge[0] = -1;
    pthread_mutex_unlock(&x.f->lock);
    return NULL;
}
