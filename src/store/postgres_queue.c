/* Writes wait here until the transaction commits, and are then sent with the COMMIT in one round
 * trip. They are sent earlier when the queue becomes large or a scan needs them. */
#include "store/postgres_internal.h"

/* The columns of an entry, in the order of PG_ENTRIES_ADD. */
static const enum pg_type entry_types[PG_ENTRY_COLUMNS] = {
    PG_INT_LIST,  PG_INT_LIST,   PG_SMALL_LIST, PG_TEXT_LIST,  PG_TEXT_LIST,
    PG_TEXT_LIST, PG_TEXT_LIST,  PG_TEXT_LIST,  PG_TEXT_LIST,  PG_BYTES_LIST,
    PG_TEXT_LIST, PG_BYTES_LIST, PG_BYTES_LIST, PG_BYTES_LIST, PG_INT_LIST,
};

static void begin_lists(struct pg_list *lists, const enum pg_type *types, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (!lists[i].type)
            lists[i] = pg_list_of(types[i], a);
}

static struct sv bytes_or_none(const void *bytes, size_t n, bool there)
{
    return there ? (struct sv){ bytes, n } : (struct sv){ 0 };
}

struct hash pg_queue_blob(struct pg_store *p, struct pg_thread *t, struct sv payload)
{
    static const enum pg_type types[] = { PG_BYTES_LIST, PG_TEXT_LIST };
    struct hash               hash = hash_blake2b(&payload, 1);

    begin_lists(t->out.blobs, types, COUNT(types), &p->out_a);
    pg_list_sv(&t->out.blobs[0], (struct sv){ (const char *)hash.b, HASH_SIZE });
    pg_list_sv(&t->out.blobs[1], payload);
    p->queued += payload.n + 60;
    return hash;
}

void pg_queue_entry(struct pg_store *p, struct pg_thread *t, const struct entry *n)
{
    struct pg_pending *out = &t->out;
    struct pg_list    *c = out->entries;
    bool               large = n->payload.n >= STORE_BLOB_MIN;
    struct hash        hash = { 0 };

    if (large)
        hash = pg_queue_blob(p, t, n->payload);
    begin_lists(c, entry_types, PG_ENTRY_COLUMNS, &p->out_a);
    pg_list_int(&c[0], n->seq);
    pg_list_int(&c[1], n->at);
    pg_list_int(&c[2], n->mark);
    pg_list_sv(&c[3], n->kind);
    pg_list_sv(&c[4], n->lane);
    pg_list_sv(&c[5], n->actor);
    pg_list_sv(&c[6], n->id);
    pg_list_sv(&c[7], n->op_id);
    pg_list_sv(&c[8], !n->refs.n || sv_is(n->refs, "{}") ? (struct sv){ 0 } : n->refs);
    pg_list_sv(&c[9], (struct sv){ (const char *)n->chain.b, HASH_SIZE });
    pg_list_sv(&c[10], large ? (struct sv){ 0 } : n->payload);
    pg_list_sv(&c[11], bytes_or_none(hash.b, HASH_SIZE, large));
    pg_list_sv(&c[12], bytes_or_none(n->salt, ENTRY_SALT_SIZE, n->salted));
    pg_list_sv(&c[13], bytes_or_none(n->content.b, HASH_SIZE, n->erased));
    pg_list_int(&c[14], (int64_t)n->payload.n);
    t->changed = true;
    p->queued += 200 + n->payload.n + n->refs.n;
}

void pg_queue_mark(struct pg_store *p, struct pg_thread *t, int64_t seq, enum entry_mark mark)
{
    static const enum pg_type types[] = { PG_INT_LIST, PG_SMALL_LIST };

    begin_lists(t->out.marks, types, COUNT(types), &p->out_a);
    pg_list_int(&t->out.marks[0], seq);
    pg_list_int(&t->out.marks[1], mark);
    t->out.last_mark = seq;
    t->changed = true;
    p->queued += 30;
}

void pg_queue_words(struct pg_store *p, struct pg_thread *t, int64_t seq, struct sv body)
{
    static const enum pg_type types[] = { PG_INT_LIST, PG_TEXT_LIST };

    begin_lists(t->out.words, types, COUNT(types), &p->out_a);
    pg_list_int(&t->out.words[0], seq);
    pg_list_sv(&t->out.words[1], body);
    p->queued += 30 + body.n;
}

void pg_queue_row(struct pg_store *p, struct pg_thread *t, struct pg_row *row)
{
    if (!row->queued)
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
        *vec_push(&t->out.rows, &p->out_a) = row;
    row->queued = true;
    t->changed = t->rows_changed = true;
    p->queued += 60 + row->key.n + row->value.n;
}

void pg_queue_clear(struct pg_store *p, struct pg_thread *t, struct sv view)
{
    *vec_push(&t->out.cleared, &p->out_a) = sv_dup(view, &p->out_a);
    t->changed = t->rows_changed = true;
    p->queued += 60;
}

static bool has_entries(const struct pg_pending *out)
{
    return out->entries[0].n || out->blobs[0].n || out->marks[0].n;
}

static bool has_rows(const struct pg_pending *out)
{
    return out->cleared.n || out->rows.n;
}

static bool is_empty(const struct pg_pending *out)
{
    return !has_entries(out) && !has_rows(out) && !out->words[0].n;
}

bool pg_queue_is_empty(const struct pg_store *p)
{
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i]->changed || !is_empty(&p->seen.v[i]->out))
            return false;
    return true;
}

enum pg_flush pg_flush_for(const struct pg_thread *t, enum pg_about what)
{
    bool waits = t && (what == PG_ABOUT_ENTRIES ? has_entries(&t->out) : has_rows(&t->out));

    return waits ? PG_FLUSH : PG_AS_IT_IS;
}

/* ---- sending --------------------------------------------------------------------- */

/* A statement about one thread, with lists behind its number. */
static void send_lists(struct pg_store *p, enum pg_statement which, const struct pg_thread *t,
                       struct pg_list *lists, size_t n)
{
    struct pg_params q = { 0 };

    if (!lists[0].n)
        return;
    pg_add_int(&q, t->tid);
    for (size_t i = 0; i < n; i++)
        pg_add_list(&q, &lists[i]);
    pg_ask(p, which, &q, NULL, NULL);
}

static void send_rows(struct pg_store *p, const struct pg_thread *t, const struct pg_pending *out)
{
    struct arena   scratch = { 0 };
    struct pg_list put[] = { pg_list_of(PG_TEXT_LIST, &scratch),
                             pg_list_of(PG_BYTES_LIST, &scratch),
                             pg_list_of(PG_BYTES_LIST, &scratch) };
    struct pg_list del[] = { pg_list_of(PG_TEXT_LIST, &scratch),
                             pg_list_of(PG_BYTES_LIST, &scratch) };

    for (size_t i = 0; i < out->cleared.n; i++) {
        struct pg_params q = { 0 };
        pg_add_int(&q, t->tid);
        pg_add_text(&q, out->cleared.v[i]);
        pg_ask(p, PG_ROWS_CLEAR, &q, NULL, NULL);
    }
    for (size_t i = 0; i < out->rows.n; i++) {
        const struct pg_row *row = out->rows.v[i];
        struct pg_list      *to = row->found ? put : del;
        pg_list_sv(&to[0], row->view);
        pg_list_sv(&to[1], row->key);
        if (row->found)
            pg_list_sv(&put[2], row->value);
    }
    send_lists(p, PG_ROWS_DEL, t, del, COUNT(del));
    send_lists(p, PG_ROWS_PUT, t, put, COUNT(put));
    arena_free(&scratch);
}

/* Fails on the server when the thread is not at the revision that this transaction has read. */
static void send_head(struct pg_store *p, const struct pg_thread *t)
{
    struct pg_params q = { 0 };

    pg_add_int(&q, t->tid);
    pg_add_int(&q, t->head.rev);
    pg_add_hash(&q, &t->head.chain);
    pg_add_int(&q, t->head.created);
    pg_add_int(&q, t->head.updated);
    pg_add_int(&q, t->head.views);
    pg_add_int(&q, t->head.version);
    pg_add_int(&q, t->gen_0 + 1);
    pg_add_int(&q, t->rev_at);
    pg_add_int(&q, t->gen_at);
    pg_ask(p, PG_HEAD_SET, &q, NULL, NULL);
}

static void send_pending(struct pg_store *p, const struct pg_thread *t, struct pg_pending *out)
{
    send_lists(p, PG_BLOBS_ADD, t, out->blobs, COUNT(out->blobs));
    send_lists(p, PG_ENTRIES_ADD, t, out->entries, PG_ENTRY_COLUMNS);
    send_lists(p, PG_MARKS_SET, t, out->marks, COUNT(out->marks));
    if (has_rows(out))
        send_rows(p, t, out);
    send_lists(p, PG_WORDS_ADD, t, out->words, COUNT(out->words));
}

void pg_queue_send(struct pg_store *p, bool heads)
{
    for (size_t i = 0; i < p->seen.n; i++)
        send_pending(p, p->seen.v[i], &p->seen.v[i]->out);
    for (size_t i = 0; heads && i < p->seen.n; i++)
        if (p->seen.v[i]->changed)
            send_head(p, p->seen.v[i]);
}

/* The queued head was sent: the row of the thread on the server now shows the change. */
static void head_done(const struct pg_store *p, struct pg_thread *t)
{
    if (t->head.rev > t->rev_at) {
        t->grew = true;
        t->grew_in = p->group.open ? p->group.number : 0;
        t->chain_at = t->head.chain;
    }
    t->changed = false;
    t->gen = t->gen_at = t->gen_0 + 1;
    t->rev_at = t->head.rev;
}

void pg_queue_forget(struct pg_store *p)
{
    p->kept.n = p->kept.cap = 0;
    p->kept.v = NULL;
    p->kept_bytes = 0;
}

void pg_sent_once(struct pg_store *p)
{
    p->sent = p->once = true;
    pg_queue_forget(p);
}

/* To repeat rows it is enough to send their last value, so the rows of the map are kept and not
 * what was sent. */
static void keep(struct pg_store *p, struct pg_thread *t)
{
    for (size_t i = 0; i < t->out.rows.n; i++)
        t->out.rows.v[i]->queued = false;
    if (!is_empty(&t->out)) {
        p->sent = true;
        if (!p->once)
            *vec_push(&p->kept, &p->out_a) = (struct pg_sent){ t, t->out };
    }
    t->out = (struct pg_pending){ 0 };
}

void pg_queue_done(struct pg_store *p, bool heads)
{
    p->kept_bytes += p->queued;
    for (size_t i = 0; i < p->seen.n; i++) {
        struct pg_thread *t = p->seen.v[i];
        keep(p, t);
        if (heads && t->changed) {
            p->sent = true;
            head_done(p, t);
        }
    }
    p->queued = 0;
    if (p->sent && (p->group.is || heads || p->kept_bytes > PG_QUEUE_MAX))
        pg_sent_once(p);
    if (!p->kept.n)
        arena_free(&p->out_a);
}

void pg_queue_repeat(struct pg_store *p)
{
    for (size_t i = 0; i < p->kept.n; i++)
        send_pending(p, p->kept.v[i].t, &p->kept.v[i].out);
}

static void build_nothing(struct pg_store *p, void *ctx)
{
    (void)p, (void)ctx;
}

enum status pg_queue_flush(struct pg_store *p, struct err *e)
{
    return pg_run(p, PG_FLUSH, build_nothing, NULL, e);
}

enum status pg_queue_relieve(struct pg_store *p, struct err *e)
{
    return p->queued < PG_QUEUE_MAX ? ST_OK : pg_queue_flush(p, e);
}
