/* What the open transaction has read or written so far: a few heads, and the rows that are small.
 * Folds and commands ask for the same ones again and again; reading them from here saves calls to
 * the engine, which may be across a network. Everything is forgotten when a transaction begins. */
#include "store/store_internal.h"

#include "base/failure.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_SET = 4 }; /* slots in which a row may be */

struct seen_head {
    uint64_t          turn;
    size_t            n;
    char              thread[NAME_MAX_BYTES];
    struct store_head head;
};

struct seen_row {
    uint64_t turn;
    uint32_t thread_n, view_n, key_n, value_n;
    bool     found;
    char     bytes[SEEN_ROW_BYTES]; /* thread, view, key and value, one after another */
};

struct store_seen {
    uint64_t         turn; /* number of the transaction: what an earlier one noted is not used */
    size_t           next_head;
    struct seen_head heads[SEEN_HEADS];
    struct seen_row  rows[SEEN_ROWS];
};

/* Made when a transaction first asks for something; NULL outside of transactions. */
static struct store_seen *seen_of(struct store *s)
{
    if (!s->open)
        return NULL;
    if (!s->seen) {
        s->seen = calloc(1, sizeof *s->seen);
        if (!s->seen)
            failure_memory(sizeof *s->seen);
        s->seen->turn = 1;
    }
    return s->seen;
}

void seen_forget(struct store *s)
{
    if (s->seen)
        s->seen->turn++;
}

void seen_release(struct store *s)
{
    free(s->seen);
    s->seen = NULL;
}

/* ---- heads ------------------------------------------------------------------------ */

static struct seen_head *head_of(struct store_seen *seen, struct sv thread)
{
    for (size_t i = 0; i < SEEN_HEADS; i++) {
        struct seen_head *h = &seen->heads[i];
        if (h->turn == seen->turn && sv_eq(thread, (struct sv){ h->thread, h->n }))
            return h;
    }
    return NULL;
}

bool seen_head(struct store *s, struct sv thread, struct store_head *out)
{
    struct store_seen *seen = seen_of(s);
    struct seen_head  *h = seen ? head_of(seen, thread) : NULL;

    if (h)
        *out = h->head;
    return h != NULL;
}

void seen_note_head(struct store *s, struct sv thread, const struct store_head *head)
{
    struct store_seen *seen = seen_of(s);

    if (!seen || thread.n > NAME_MAX_BYTES)
        return;
    struct seen_head *h = head_of(seen, thread);
    if (!h)
        h = &seen->heads[seen->next_head++ % SEEN_HEADS];
    h->turn = seen->turn;
    h->n = thread.n;
    memcpy(h->thread, thread.s, thread.n);
    h->head = *head;
}

void seen_forget_head(struct store *s, struct sv thread)
{
    struct store_seen *seen = seen_of(s);
    struct seen_head  *h = seen ? head_of(seen, thread) : NULL;

    if (h)
        h->turn = 0;
}

/* ---- rows ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, struct sv v)
{
    uint64_t word;

    for (; v.n >= sizeof word; v = sv_skip(v, sizeof word)) {
        memcpy(&word, v.s, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    word = v.n;
    for (size_t i = 0; i < v.n; i++)
        word = word << 8 | (unsigned char)v.s[i];
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static struct sv part(const struct seen_row *r, size_t from, size_t n)
{
    return (struct sv){ r->bytes + from, n };
}

static bool is_row(const struct seen_row *r, const struct store_key *k)
{
    size_t view_at = r->thread_n, key_at = view_at + r->view_n;

    return sv_eq(k->key, part(r, key_at, r->key_n)) &&
           sv_eq(k->view, part(r, view_at, r->view_n)) && sv_eq(k->thread, part(r, 0, r->thread_n));
}

/* The slot of a row, and whether the slot holds that row. A row may be in any slot of its set, so
 * that the few rows of most transactions do not push each other out; else it gets a free one, or
 * the first. */
static struct seen_row *row_of(struct store_seen *seen, const struct store_key *k, bool *holds)
{
    struct seen_row *set =
        &seen->rows[mix(mix(0, k->view), k->key) % (SEEN_ROWS / SEEN_SET) * SEEN_SET];
    struct seen_row *slot = set;

    *holds = false;
    for (struct seen_row *r = set; r < set + SEEN_SET; r++) {
        *holds = r->turn == seen->turn && is_row(r, k);
        if (*holds)
            return r;
        if (r->turn != seen->turn)
            slot = r;
    }
    return slot;
}

bool seen_row(struct store *s, const struct store_key *k, struct arena *a, struct sv *value,
              bool *found)
{
    struct store_seen *seen = seen_of(s);
    bool               holds = false;

    if (!seen)
        return false;
    const struct seen_row *r = row_of(seen, k, &holds);
    if (!holds)
        return false;
    *found = r->found;
    if (r->found)
        *value = sv_dup(part(r, (size_t)r->thread_n + r->view_n + r->key_n, r->value_n), a);
    return true;
}

bool seen_has_row(struct store *s, const struct store_key *k)
{
    struct store_seen *seen = seen_of(s);
    bool               holds = false;

    if (seen)
        row_of(seen, k, &holds);
    return holds;
}

static char *add(char *to, struct sv v)
{
    if (v.n)
        memcpy(to, v.s, v.n);
    return to + v.n;
}

void seen_note_row(struct store *s, const struct store_key *k, struct sv value, bool found)
{
    struct store_seen *seen = seen_of(s);
    bool               holds;

    if (!seen)
        return;
    struct seen_row *r = row_of(seen, k, &holds);
    if (k->thread.n + k->view.n + k->key.n + value.n > SEEN_ROW_BYTES) {
        if (holds) /* too large to be kept: the old value in the slot is outdated */
            r->turn = 0;
        return;
    }
    add(add(add(add(r->bytes, k->thread), k->view), k->key), value);
    r->turn = seen->turn;
    r->found = found;
    r->thread_n = (uint32_t)k->thread.n;
    r->view_n = (uint32_t)k->view.n;
    r->key_n = (uint32_t)k->key.n;
    r->value_n = (uint32_t)value.n;
}
