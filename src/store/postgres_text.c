/* Words of entries on PostgreSQL. A row holds the words of one entry in order, cut by the client
 * (store/words.h); an index of single words finds candidates, and their order is checked in the row
 * itself, so that phrases of any length match as they do on SQLite. */
#include "store/postgres_internal.h"

#include <stdio.h>

static enum status cut(struct pg_store *p, struct sv text, struct arena *a, struct sv *out,
                       struct err *e)
{
    if (!p->words && words_open(&p->words, e))
        return err_code(e);
    return words_of(p->words, text, a, out, e);
}

enum status pg_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                        struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct pg_thread *t = pg_thread_of(p, thread);
    struct arena      scratch = { 0 };
    struct sv         body;

    if (pg_know(p, t, e))
        return err_code(e);
    if (!t->head.rev)
        return ST_OK;
    if (pg_lock_in_group(p, t, e))
        return err_code(e);
    enum status st = cut(p, text, &scratch, &body, e);
    if (!st)
        pg_queue_words(p, t, seq, body);
    arena_free(&scratch);
    return st ? st : pg_queue_relieve(p, e);
}

/* ---- the last one ---------------------------------------------------------------------------- */

struct last_asked {
    struct sv thread;
    int64_t   seq;
};

static void take_last(void *ctx, struct pg_answer *a)
{
    struct last_asked *x = ctx;

    if (pg_shape(a, "i") && a->n == 1)
        x->seq = pg_int(a, 0, 0);
}

static void build_last(struct pg_store *p, void *ctx)
{
    struct last_asked *x = ctx;
    struct pg_params   q = { 0 };

    pg_ask_known(p, p->in ? pg_thread_of(p, x->thread) : NULL, PG_ABOUT_ENTRIES);
    pg_add_text(&q, x->thread);
    pg_ask(p, PG_WORD_LAST, &q, take_last, x);
}

static enum pg_flush flush_of(struct pg_store *p)
{
    return p->in && !pg_queue_is_empty(p) ? PG_FLUSH : PG_AS_IT_IS;
}

enum status pg_text_last(struct store *s, struct sv thread, int64_t *seq, struct err *e)
{
    struct pg_store  *p = pg_of(s);
    struct last_asked x = { .thread = thread, .seq = -1 };

    if (pg_run(p, flush_of(p), build_last, &x, e))
        return err_code(e);
    *seq = x.seq;
    return ST_OK;
}

/* ---- finding --------------------------------------------------------------------- */

struct words_asked {
    struct arena  *a;
    int64_t        tid; /* 0: in all threads */
    struct pg_list words, phrases;
    int64_t        max;
    VEC(struct store_hit) hits;
};

static void take_hits(void *ctx, struct pg_answer *a)
{
    struct words_asked *x = ctx;

    x->hits.n = 0;
    if (!pg_shape(a, "ti"))
        return;
    for (int i = 0; i < a->n; i++)
        *vec_push(&x->hits, x->a) =
            (struct store_hit){ sv_dup(pg_sv(a, i, 0), x->a), pg_int(a, i, 1) };
}

static void build_find(struct pg_store *p, void *ctx)
{
    struct words_asked *x = ctx;
    struct pg_params    q = { 0 };

    pg_add_list(&q, &x->words);
    pg_add_list(&q, &x->phrases);
    pg_add_int(&q, x->max);
    if (x->tid)
        pg_add_int(&q, x->tid);
    pg_ask(p, x->tid ? PG_WORD_FIND_IN : PG_WORD_FIND, &q, take_hits, x);
}

/* A word of the caller may consist of several words, which must then follow each other. One without
 * letters or digits is skipped. */
static enum status add_phrase(struct pg_store *p, struct words_asked *x, struct sv word,
                              struct err *e)
{
    struct sv body;
    struct sb b = sb_in(x->a, 0);

    if (cut(p, word, x->a, &body, e))
        return err_code(e);
    if (!body.n)
        return ST_OK;
    sb_addc(&b, ' ');
    sb_add(&b, body);
    sb_addc(&b, ' ');
    pg_list_sv(&x->phrases, sb_sv(&b));
    for (struct sv_cut rest = { .tail = body }; rest.tail.n;) {
        rest = sv_cut(rest.tail, ' ');
        pg_list_sv(&x->words, rest.head);
    }
    return ST_OK;
}

/* The number of a thread is itself a word of its entries: `#12`. */
static enum status in_thread(struct pg_store *p, struct words_asked *x, struct sv thread,
                             struct err *e)
{
    struct pg_thread  alone = { .id = thread, .fresh = true };
    struct pg_thread *t = p->in ? pg_thread_of(p, thread) : &alone;
    char              word[24];

    if (pg_know(p, t, e))
        return err_code(e);
    x->tid = t->tid;
    snprintf(word, sizeof word, "#%lld", (long long)t->tid);
    pg_list_sv(&x->words, sv_dup(sv_of(word), x->a));
    return ST_OK;
}

enum status pg_text_find(struct store *s, struct sv thread, const struct sv *words, size_t n,
                         size_t max, struct arena *a, struct store_hit **out, size_t *count,
                         struct err *e)
{
    struct pg_store   *p = pg_of(s);
    struct words_asked x = { .a = a,
                             .max = max > INT32_MAX ? INT32_MAX : (int64_t)max,
                             .words = pg_list_of(PG_TEXT_LIST, a),
                             .phrases = pg_list_of(PG_TEXT_LIST, a) };

    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (add_phrase(p, &x, words[i], e))
            return err_code(e);
    if (thread.s && in_thread(p, &x, thread, e))
        return err_code(e);
    if (!x.phrases.n || (thread.s && !x.tid))
        return ST_OK;
    if (pg_run(p, flush_of(p), build_find, &x, e))
        return err_code(e);
    p->fragile = p->fragile || p->in;
    *out = x.hits.v;
    *count = x.hits.n;
    return ST_OK;
}
