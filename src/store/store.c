/* The calls of the store, each with the checks that hold for every backend, then the call of the
 * backend: opening, transactions, groups and waiting. The others are in store_log.c, store_rows.c
 * and store_care.c. */
#include "base/clock.h"
#include "store/postgres_url.h"
#include "store/store_internal.h"

#include <assert.h>
#include <poll.h>

static const struct {
    struct sv scheme;
    enum status (*open)(struct sv, const struct store_options *, struct store **, struct err *);
} backends[] = {
    { SV_STATIC("sqlite:"), sqlite_open },
    { SV_STATIC("mem:"), mem_open },
    { SV_STATIC("fault:"), fault_open },
};

enum status store_open(struct sv url, const struct store_options *o, struct store **out,
                       struct err *e)
{
    for (size_t i = 0; i < COUNT(backends); i++)
        if (sv_starts(url, backends[i].scheme))
            return backends[i].open(sv_skip(url, backends[i].scheme.n), o, out, e);
    if (postgres_url_is(url))
        return postgres_open(url, o, out, e);
    if (sv_find(url, SV("://")) >= 0) {
        err_set(e, ST_INVALID_SYNTAX, "no such kind of store: '" SV_FMT "'", SV_ARG(url));
        return err_hint(e, "use a file path, sqlite:PATH, or postgres://HOST/DATABASE");
    }
    return sqlite_open(url, o, out, e);
}

struct sv store_url_shown(struct sv url, struct arena *a)
{
    return postgres_url_is(url) ? postgres_url_shown(url, a) : url;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    store_abort(s);
    store_group_abort(s);
    seen_release(s);
    s->ops->close(s);
}

bool store_is_new(const struct store *s)
{
    return s->ops->is_new ? s->ops->is_new(s) : s->is_new;
}

int64_t store_now(struct store *s)
{
    int64_t ahead = s->ops->clock_ahead && !clock_is_fixed() ? s->ops->clock_ahead(s) : 0;

    return clock_now_ms() + ahead;
}

enum { NO_GROUP, IN_GROUP, BROKEN_GROUP };

static enum status group_broken(struct err *e)
{
    err_set(e, ST_IO, "a failure took back what was written together with this");
    err_reason(e, "group");
    return err_hint(e, "nothing was written; run it again");
}

/* In a group a transaction is a part of the one that is open. */
static enum status begin_part(struct store *s, enum store_mode mode, struct sv thread,
                              struct err *e)
{
    if (s->group == BROKEN_GROUP)
        return group_broken(e);
    if (mode == STORE_READ || !s->ops->part_begin(s, thread, e))
        return ST_OK;
    if (e->code != ST_CONFLICT)
        s->group = BROKEN_GROUP;
    return err_code(e);
}

/* The rows and heads that were seen stay right until something is undone. */
static enum status end_part(struct store *s, bool keep, struct err *e)
{
    bool wrote = s->open == TX_WRITING;

    s->open = TX_CLOSED;
    if (!keep)
        seen_forget(s);
    if (s->group == BROKEN_GROUP)
        return group_broken(e);
    if (!wrote || !s->ops->part_end(s, keep, e))
        return ST_OK;
    s->group = BROKEN_GROUP;
    return err_code(e);
}

enum status store_begin_on(struct store *s, enum store_mode mode, struct sv thread, struct err *e)
{
    assert(s->open == TX_CLOSED);
    if (s->group ? begin_part(s, mode, thread, e) : s->ops->begin(s, mode, thread, e))
        return err_code(e);
    if (!s->group)
        seen_forget(s);
    s->open = mode == STORE_WRITE ? TX_WRITING : TX_READING;
    return ST_OK;
}

enum status store_begin(struct store *s, enum store_mode mode, struct err *e)
{
    return store_begin_on(s, mode, (struct sv){ 0 }, e);
}

enum status store_commit(struct store *s, struct err *e)
{
    assert(s->open != TX_CLOSED && !s->held);
    if (s->group)
        return end_part(s, true, e);
    enum status st = s->ops->commit(s, e);
    if (st)
        s->ops->abort(s);
    s->open = TX_CLOSED;
    s->alone = false;
    return st;
}

void store_abort(struct store *s)
{
    struct err ignored; /* of a group: store_group_end() reports that it is broken */

    held_drop(s);
    if (s->open != TX_CLOSED && s->group)
        (void)!end_part(s, false, &ignored);
    else if (s->open != TX_CLOSED)
        s->ops->abort(s);
    s->open = TX_CLOSED;
    s->alone = false;
}

void store_let_others(struct store *s)
{
    if (s->ops->let_others)
        s->ops->let_others(s);
}

bool store_has_groups(const struct store *s)
{
    return s->ops->part_begin != NULL;
}

enum status store_group_begin(struct store *s, struct err *e)
{
    assert(s->open == TX_CLOSED && !s->group && s->ops->part_begin);
    if (s->ops->begin(s, STORE_WRITE, (struct sv){ 0 }, e))
        return err_code(e);
    seen_forget(s);
    s->group = IN_GROUP;
    return ST_OK;
}

void store_group_want(struct store *s, const struct store_part *parts, size_t n)
{
    assert(s->open == TX_CLOSED && s->group);
    if (s->ops->group_want)
        s->ops->group_want(s, parts, n);
}

enum status store_group_end(struct store *s, struct err *e)
{
    assert(s->open == TX_CLOSED && s->group);
    enum status st = s->group == BROKEN_GROUP ? group_broken(e) : s->ops->commit(s, e);
    if (st)
        s->ops->abort(s);
    s->group = NO_GROUP;
    return st;
}

void store_group_abort(struct store *s)
{
    if (!s->group)
        return;
    s->ops->abort(s);
    s->open = TX_CLOSED;
    s->group = NO_GROUP;
}

struct sv store_prefix_end(struct sv prefix, struct arena *a)
{
    while (prefix.n && (unsigned char)prefix.s[prefix.n - 1] == 0xff)
        prefix.n--;
    if (!prefix.n)
        return (struct sv){ 0 };
    char *s = (char *)(uintptr_t)sv_dup(prefix, a).s;
    s[prefix.n - 1]++;
    return (struct sv){ s, prefix.n };
}

/* ---- waiting -------------------------------------------------------------------- */

/* How long one sleep lasts at most, with and without notifications of commits. */
enum { PAUSE_WATCHED_MS = 1000, PAUSE_BLIND_MS = 50 };

enum pause_end store_pause(int fd, int peer, int ms)
{
    /* Nothing is read from a peer: poll() always reports that its other end was closed. */
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = peer, .events = 0 } };
    int           most = fd < 0 && ms > PAUSE_BLIND_MS ? PAUSE_BLIND_MS : ms;
    int           n = poll(fds, COUNT(fds), most);

    return n < 0            ? PAUSE_SIGNAL
           : n == 0         ? PAUSE_TIME
           : fds[1].revents ? PAUSE_PEER_GONE
                            : PAUSE_HINT;
}

static enum status pause_once(struct store *s, int ms, int peer, enum pause_end *end, struct err *e)
{
    if (s->ops->pause)
        return s->ops->pause(s, ms, peer, end, e);
    *end = store_pause(-1, peer, ms);
    return ST_OK;
}

/* A write is noticed before its commit is visible, so after a hint the version is read soon, then
 * less and less often. */
enum status store_wait(struct store *s, int64_t *version, int timeout_ms, int peer,
                       enum store_woken *why, struct err *e)
{
    int64_t        until = clock_steady_us() + (int64_t)timeout_ms * 1000, now;
    int            pause_ms = 1;
    enum pause_end end = PAUSE_TIME;

    assert(s->open == TX_CLOSED);
    for (;;) {
        if (s->ops->version(s, &now, e))
            return err_code(e);
        int64_t left_ms = (until - clock_steady_us()) / 1000;
        bool    changed = now != *version;
        *version = now;
        *why = changed ? STORE_CHANGED : end == PAUSE_PEER_GONE ? STORE_PEER_GONE : STORE_QUIET;
        if (*why != STORE_QUIET || end == PAUSE_SIGNAL || left_ms <= 0)
            return ST_OK;
        if (pause_once(s, pause_ms < left_ms ? pause_ms : (int)left_ms, peer, &end, e))
            return err_code(e);
        pause_ms = end == PAUSE_HINT ? 1 : pause_ms * 2;
        pause_ms = pause_ms < PAUSE_WATCHED_MS ? pause_ms : PAUSE_WATCHED_MS;
    }
}

bool store_mark(struct store *s, struct store_mark *out)
{
    return s->ops->mark && s->ops->mark(s, out);
}

bool store_has_marks(const struct store *s)
{
    return s->ops->mark;
}

bool store_in_place(struct store *s)
{
    return !s->ops->in_place || s->ops->in_place(s);
}
