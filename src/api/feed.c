/* News for readers: a ring of texts that all of them share. feed_follow.c puts them there. */
#include "api/feed_internal.h"

#include "base/clock.h"
#include "base/failure.h"
#include "base/rand.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts ------------------------------------------------------------------------------ */

static char *copy_text(struct sv text)
{
    char *s = malloc(text.n + 1);

    if (!s)
        failure_memory(text.n);
    memcpy(s, text.s ? text.s : "", text.n);
    s[text.n] = 0;
    return s;
}

/* gcc's analyzer reports a leak of what the readers of the list own. It is a false alarm: clang and
 * the leak sanitizer find none. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* Add text for one reader only; it is sent before the news. */
static void add_own(struct feed_reader *r, struct sv text)
{
    char *s = realloc(r->own, r->own_n + text.n + 1);

    if (!s)
        failure_memory(text.n);
    memcpy(s + r->own_n, text.s, text.n);
    r->own = s;
    r->own_n += text.n;
}

static void write_change(const struct feed *f, struct sb *b, uint64_t number, struct sv thread,
                         int64_t rev, struct sv kinds)
{
    struct jw w;

    sb_addf(b, "id: %s-%llu\nevent: change\ndata: ", f->epoch, (unsigned long long)number);
    w = jw_in(b, 0);
    jw_open(&w, '{');
    jw_key(&w, "kinds");
    jw_raw(&w, kinds);
    jw_kint(&w, "rev", rev);
    jw_kstr(&w, "thread", thread);
    jw_close(&w, '}');
    sb_adds(b, "\n\n");
}

void feed_put(struct feed *f, struct sv thread, int64_t rev, struct sv kinds)
{
    struct arena      scratch = { 0 };
    struct sb         b = sb_in(&scratch, 0);
    struct feed_news *n = feed_news_at(f, f->next);

    write_change(f, &b, f->next, thread, rev, kinds);
    if (f->next - f->oldest == FEED_KEPT)
        f->oldest++;
    free(n->bytes);
    n->text.n = b.n;
    sb_add(&b, thread);
    n->bytes = copy_text(sb_sv(&b));
    n->text.s = n->bytes;
    n->thread = (struct sv){ n->bytes + n->text.n, thread.n };
    f->next++;
    f->counts.news++;
    arena_free(&scratch);
}

void feed_tell_change(struct feed *f, struct feed_reader *r, struct sv thread, int64_t rev,
                      struct sv kinds)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    write_change(f, &b, r->next - 1, thread, rev, kinds);
    add_own(r, sb_sv(&b));
    arena_free(&scratch);
}

/* With the lock held. `number`: the last piece of news before this text. */
static void tell_alone(struct feed *f, struct feed_reader *r, const char *event, uint64_t number)
{
    char      room[160];
    struct sb b = sb_on(room, sizeof room, NULL);

    sb_addf(&b, "id: %s-%llu\nevent: %s\ndata: {}\n\n", f->epoch, (unsigned long long)number,
            event);
    add_own(r, sb_sv(&b));
}

/* ---- readers ---------------------------------------------------------------------------- */

static void wake(struct feed_reader *r)
{
    if (r->rests) {
        r->rests = false;
        r->wake(r);
    }
}

static bool has_text(const struct feed *f, const struct feed_reader *r)
{
    return f->ends || r->ended || (!r->fresh && (r->own_at < r->own_n || r->next < f->next));
}

void feed_wake_all(struct feed *f)
{
    for (struct feed_reader *r = f->readers; r; r = r->after)
        if (has_text(f, r))
            wake(r);
}

void feed_beat(struct feed *f)
{
    int64_t now = clock_steady_us();

    for (struct feed_reader *r = f->readers; r; r = r->after)
        if (r->rests && now - r->beat_us > (int64_t)FEED_BEAT_MS * 1000) {
            r->beats = true;
            wake(r);
        }
}

/* The number in "EPOCH-NUMBER", of this epoch and still kept; false: begin again. */
static bool find_place(const struct feed *f, struct sv last_id, uint64_t *next)
{
    struct sv_cut cut = sv_cut_last(last_id, '-');
    int64_t       n;

    if (!cut.found || !sv_is(cut.head, f->epoch) || !sv_to_int(cut.tail, &n) || n < 0)
        return false;
    *next = (uint64_t)n + 1;
    return *next >= f->oldest && *next <= f->next;
}

void feed_join(struct feed *f, struct feed_reader *r, struct sv since, struct sv last_id)
{
    pthread_mutex_lock(&f->lock);
    r->resumes = !last_id.n || find_place(f, last_id, &r->next);
    if (!last_id.n || !r->resumes)
        r->next = f->next;
    r->since = since.n ? copy_text(since) : NULL;
    r->beat_us = clock_steady_us();
    r->joined = r->fresh = true;
    r->before = NULL;
    r->after = f->readers;
    if (f->readers)
        f->readers->before = r;
    f->readers = r;
    f->counts.readers++;
    if (!f->runs)
        f->runs = pthread_create(&f->thread, NULL, feed_follow, f) == 0;
    pthread_cond_signal(&f->wanted);
    feed_nudge(f);
    pthread_mutex_unlock(&f->lock);
}

void feed_greet(struct feed *f, struct feed_reader *r)
{
    tell_alone(f, r, r->resumes ? "hello" : "reset", r->next - 1);
    r->fresh = false;
}

void feed_leave(struct feed *f, struct feed_reader *r)
{
    pthread_mutex_lock(&f->lock);
    if (r->joined) {
        if (r->before)
            r->before->after = r->after;
        else
            f->readers = r->after;
        if (r->after)
            r->after->before = r->before;
        f->counts.readers--;
        f->left_us = clock_steady_us();
    }
    r->joined = false;
    pthread_mutex_unlock(&f->lock);
    free(r->own);
    free(r->since);
    r->own = r->since = NULL;
}

/* ---- taking ----------------------------------------------------------------------------- */

static size_t take_some(struct sv text, size_t *at, char *into, size_t n)
{
    size_t some = text.n - *at < n ? text.n - *at : n;

    memcpy(into, text.s + *at, some);
    *at += some;
    return some;
}

static bool is_wanted(const struct feed_reader *r, struct sv thread)
{
    for (size_t i = 0; i < r->threads.n; i++)
        if (sv_eq(r->threads.v[i], thread))
            return true;
    return r->threads.n == 0;
}

/* The next text: one for this reader alone, a piece of news, or a heartbeat. */
static bool find_text(struct feed *f, struct feed_reader *r, struct sv *text, size_t **at)
{
    if (r->own_at < r->own_n && !r->at) { /* never inside a piece of news */
        *text = (struct sv){ r->own, r->own_n };
        *at = &r->own_at;
        return true;
    }
    if (r->next < f->oldest) { /* too slow: the place is lost */
        f->counts.dropped++;
        r->ended = true;
        return false;
    }
    while (r->next < f->next && !is_wanted(r, feed_news_at(f, r->next)->thread))
        r->next++;
    if (r->next >= f->next)
        return false;
    *text = feed_news_at(f, r->next)->text;
    *at = &r->at;
    return true;
}

static size_t fill(struct feed *f, struct feed_reader *r, char *into, size_t n)
{
    size_t    done = 0, *at;
    struct sv text;

    while (done < n && !r->fresh && !r->ended && find_text(f, r, &text, &at)) {
        done += take_some(text, at, into + done, n - done);
        if (*at < text.n)
            break;
        if (at == &r->own_at) {
            r->own_at = r->own_n = 0;
        } else {
            r->at = 0;
            r->next++;
        }
    }
    return done;
}

ptrdiff_t feed_take(struct feed *f, struct feed_reader *r, char *into, size_t n)
{
    ptrdiff_t got;

    pthread_mutex_lock(&f->lock);
    if (f->ends && !r->ended && !r->at && r->next < UINT64_MAX) {
        tell_alone(f, r, "bye", f->next - 1);
        r->next = UINT64_MAX; /* nothing is sent after it */
        r->fresh = false;
    }
    got = (ptrdiff_t)fill(f, r, into, n);
    if (!got && r->beats && n >= 3) {
        memcpy(into, ":\n\n", 3);
        got = 3;
    }
    r->beats = false;
    if (got)
        r->beat_us = clock_steady_us();
    if (!got && (r->ended || f->ends))
        got = -1;
    if (!got) {
        r->rests = true;
        r->rest(r);
    }
    pthread_mutex_unlock(&f->lock);
    return got;
}

/* ---- the feed itself -------------------------------------------------------------------- */

static void new_epoch(struct feed *f)
{
    unsigned char raw[6];
    struct sb     b = sb_on(f->epoch, sizeof f->epoch, NULL);

    rand_salt(raw, sizeof raw);
    /* With HEDDLE_SEED the random bytes are always the same. */
    raw[0] = (unsigned char)(raw[0] ^ ++f->epochs);
    sb_add_hex(&b, raw, sizeof raw);
    f->epoch[2 * sizeof raw] = 0;
}

struct feed *feed_open(struct workspace *ws)
{
    struct feed *f = calloc(1, sizeof *f);

    if (!f)
        failure_memory(sizeof *f);
    f->ws = ws;
    f->next = f->oldest = 1;
    f->nudge[0] = f->nudge[1] = -1;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->wanted, NULL);
    new_epoch(f);
    return f;
}

void feed_begin_again(struct feed *f)
{
    new_epoch(f);
    f->oldest = f->next;
    for (struct feed_reader *r = f->readers; r; r = r->after) {
        r->ended = r->at > 0; /* it has received half a piece of news: it must reconnect */
        r->next = f->next;
        r->resumes = false;
        if (!r->fresh)
            tell_alone(f, r, "reset", f->next - 1);
    }
}

void feed_nudge(struct feed *f)
{
    if (f->nudge[1] >= 0)
        close(f->nudge[1]);
    f->nudge[1] = -1;
}

void feed_end(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    f->ends = true;
    feed_wake_all(f);
    pthread_cond_signal(&f->wanted);
    feed_nudge(f);
    pthread_mutex_unlock(&f->lock);
}

struct feed_counts feed_counts(struct feed *f)
{
    pthread_mutex_lock(&f->lock);
    struct feed_counts n = f->counts;
    pthread_mutex_unlock(&f->lock);
    return n;
}

void feed_close(struct feed *f)
{
    feed_end(f);
    if (f->runs)
        pthread_join(f->thread, NULL);
    for (size_t i = 0; i < FEED_KEPT; i++)
        free(f->kept[i].bytes);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->wanted);
    free(f);
}
