/* Reads a scan ahead, and proves what it read several entries at a time. */
#include "thread/proved.h"

#include "thread/skeleton.h"

enum {
    AHEAD_BYTES = 32 << 10, /* no more is read ahead once these are there */
    ROOM = 64 << 10,        /* for most batches, with what their proof needs */
};

enum status proved_open(struct proved *p, struct store *s, const struct store_query *q,
                        struct err *e)
{
    arena_begin(&p->a, ROOM);
    p->empty = arena_mark(&p->a);
    return store_scan(s, q, &p->scan, e);
}

/* The entries that come next. What the store has to report behind them is kept until they are
 * given. */
static enum status read_ahead(struct proved *p, struct err *e)
{
    size_t bytes = 0;
    bool   more;

    p->n = p->at = 0;
    while (p->n < STORE_PROVE_MAX && bytes < AHEAD_BYTES) {
        struct entry *n = &p->entries[p->n];
        enum status   s = store_next(p->scan, n, &more, &p->end);
        p->ended = s || !more;
        if (p->ended)
            break;
        entry_keep(n, &p->a);
        bytes += n->payload.n + n->refs.n;
        p->n++;
    }
    skeleton_fill(p->entries, p->n, &p->a);
    return store_prove(p->scan, p->entries, p->n, &p->a, p->proofs, e);
}

enum status proved_next(struct proved *p, const struct entry **out, enum entry_proof *proof,
                        bool *more, struct err *e)
{
    if (p->at == p->n && !p->ended) {
        arena_reset(&p->a, p->empty);
        if (read_ahead(p, e))
            return err_code(e);
    }
    *more = p->at < p->n;
    if (!*more && p->end.code)
        *e = p->end;
    if (!*more)
        return p->end.code;
    *out = &p->entries[p->at];
    *proof = p->proofs[p->at++];
    return ST_OK;
}

void proved_close(struct proved *p)
{
    store_scan_close(p->scan);
    arena_free(&p->a);
}
