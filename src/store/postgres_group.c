/* Groups on PostgreSQL: several transactions of the caller, its parts, in one of the server.
 *
 * What a part writes is queued, and sent without waiting for an answer when the next part begins,
 * or with the COMMIT. So a part costs the one round trip that locks its thread, and all parts
 * together cost one for the commit; a part that asks nothing costs none, for example when its
 * thread was locked with the first part (postgres_ahead.c). The round trip of a part begins with a
 * savepoint: when the server refuses something, or the caller undoes the part, the transaction is
 * rolled back to it and the queue is dropped. The parts before it stay.
 *
 * Isolation is REPEATABLE READ here too, with one snapshot for the group: cached rows are valid for
 * one revision of a thread, and in READ COMMITTED the head and the rows of a thread that is only
 * read could belong to two revisions. The price: a thread that another process has changed since
 * the group began cannot be locked any more (40001). Nothing is read or written wrongly then; that
 * part is CONFLICT "busy", and the caller runs it again by itself. When another writer has locked
 * the thread (55P03), a part waits only a moment: this helps for the first part; for later parts it
 * does not, because whatever the other writer commits is newer than the snapshot. Two groups that
 * want each other's threads both end with CONFLICT "busy". */
#include "store/postgres_internal.h"

#include "base/clock.h"

static enum status broken(struct err *e)
{
    err_set(e, ST_IO,
            "the connection, or the transaction, was lost with all that was written "
            "together with this");
    err_reason(e, "group");
    return err_hint(e, "nothing was written; run it again");
}

enum status pg_group_check(const struct pg_store *p, struct err *e)
{
    if (p->group.broken)
        return broken(e);
    if (!p->group.failed)
        return ST_OK;
    err_set(e, ST_IO, "%s: an earlier failure has ended this transaction", p->shown);
    return err_reason(e, "not_written");
}

/* Roll back to the savepoint of the part. False: that failed, so something other than this part is
 * broken too. */
static bool undo_now(struct pg_store *p)
{
    struct pg_failure why;

    pg_ask(p, PG_PART_UNDO, NULL, NULL, NULL);
    pg_ask(p, PG_PART_KEEP, NULL, NULL, NULL);
    pg_sync(p->link);
    return pg_collect(p->link, clock_steady_us() + p->pool->url.statement_ms * 1000, &why);
}

void pg_group_failed(struct pg_store *p, const struct pg_failure *why)
{
    if (!p->group.is)
        return;
    bool alone = p->group.open && why->number != PG_PART_KEEP && !why->lost && !why->wrong &&
                 p->link && !pg_is_lost(p->link) && undo_now(p);
    p->group.broken = !alone;
    p->group.failed = true;
    p->group.saved = false;
}

/* Send what the previous part queued. The server works on it while the caller prepares the next
 * part; no answer is waited for here. */
static void send_kept(struct pg_store *p)
{
    if (pg_queue_is_empty(p))
        return;
    pg_queue_send(p, true);
    pg_queue_done(p, true);
    pg_push(p->link);
}

enum status pg_part_begin(struct store *s, struct sv thread, struct err *e)
{
    struct pg_store *p = pg_of(s);

    if (pg_group_check(p, e))
        return err_code(e);
    send_kept(p);
    pg_pages_drop(p);
    p->group.is = p->group.open = true;
    p->group.number++;
    p->about = thread.s ? sv_dup(thread, &p->tx) : (struct sv){ 0 };
    return ST_OK;
}

/* Forget what the part has read from or written to a thread; it is read again when needed. */
static void forget(struct pg_store *p, struct pg_thread *t)
{
    pg_rows_forget(t);
    t->out = (struct pg_pending){ 0 };
    t->ops = map_in(&p->tx);
    t->head = (struct store_head){ 0 };
    t->grew = t->grew && t->grew_in != p->group.number;
    t->known = t->fresh = t->there = t->locked = t->made = t->changed = false;
}

static void undo(struct pg_store *p)
{
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i]->part == p->group.number)
            forget(p, p->seen.v[i]);
    pg_pages_drop(p);
    p->before.thread = NULL;
    p->queued = 0;
    arena_free(&p->out_a);
    if (p->group.saved)
        pg_ask(p, PG_PART_UNDO, NULL, NULL, NULL);
}

enum status pg_part_end(struct store *s, bool keep, struct err *e)
{
    struct pg_store *p = pg_of(s);

    if (!p->group.broken && p->group.failed && keep)
        p->group.broken = true; /* the part cannot be kept: the server has received nothing of it */
    if (!p->group.broken && !keep)
        undo(p);
    if (!p->group.broken && p->group.saved)
        pg_ask(p, PG_PART_KEEP, NULL, NULL, NULL);
    pg_wants_drop(p); /* a part that found everything cached has asked nothing */
    p->about = (struct sv){ 0 };
    p->group.open = p->group.saved = p->group.failed = false;
    return p->group.broken ? broken(e) : ST_OK;
}
