/* GET /api/events: news of the workspace as server-sent events, until the client disconnects. */
#include "front/http/route.h"

enum { EVENTS_BLOCK = 2048 };

static struct serve_call *call_of(struct feed_reader *r)
{
    return (struct serve_call *)(void *)((char *)r - offsetof(struct serve_call, reader));
}

/* Suspends the connection until there are events. Only the lock of the feed is held here. */
static void rest(struct feed_reader *r)
{
    struct serve_call *c = call_of(r);

    c->s->mhd.suspend_connection(c->conn);
}

static void wake(struct feed_reader *r)
{
    struct serve_call *c = call_of(r);

    c->s->mhd.resume_connection(c->conn);
}

static ssize_t read_news(void *ctx, uint64_t pos, char *into, size_t most)
{
    struct serve_call *c = ctx;
    ptrdiff_t          n = feed_take(c->s->feed, &c->reader, into, most);

    (void)pos;
    if (n > 0)
        c->sent += n;
    return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

/* since=T:REV,…  thread=T,… */
static enum status read_query(struct serve_call *c, struct sv *since, struct sv_list *threads,
                              struct err *e)
{
    struct sv rest_of = c->head.query, name, value;
    bool      more = true;

    for (;;) {
        if (head_query_next(&rest_of, &c->a, &name, &value, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (sv_is(name, "since"))
            *since = value;
        else if (sv_is(name, "thread"))
            param_list_add(threads, value, &c->a);
        else
            return err_set(e, ST_USAGE, "there is no parameter '" SV_FMT "': since and thread are",
                           SV_ARG(name));
    }
}

static bool is_in(const struct sv_list *list, struct sv item)
{
    for (size_t i = 0; i < list->n; i++)
        if (sv_eq(list->v[i], item))
            return true;
    return false;
}

/* A token gets events of its own threads only, and needs the permission to read. */
static enum status limit(struct serve_call *c, struct sv_list *threads, struct err *e)
{
    const struct serve_caller *who = &c->caller;

    if (!(who->permissions & TOKEN_read))
        return err_set(e, ST_PERMISSION_DENIED, "events need the permission read");
    for (size_t i = 0; who->threads.n && i < threads->n; i++)
        if (!is_in(&who->threads, threads->v[i]))
            return err_set(e, ST_PERMISSION_DENIED, "the token is for other threads");
    if (who->threads.n && !threads->n)
        *threads = who->threads;
    return ST_OK;
}

/* The part of `since` that the caller may read. */
static struct sv limit_since(struct serve_call *c, struct sv since)
{
    struct sv_cut cut = { .tail = since, .found = since.n > 0 };
    struct sb     b = sb_in(&c->a, 0);

    while (cut.found) {
        cut = sv_cut(cut.tail, ',');
        if (c->caller.threads.n && !is_in(&c->caller.threads, sv_cut_last(cut.head, ':').head))
            continue;
        sb_adds(&b, b.n ? "," : "");
        sb_add(&b, cut.head);
    }
    return sb_sv(&b);
}

enum MHD_Result events_answer(struct serve_call *c)
{
    struct sv  since = { 0 };
    struct err e;

    if (read_query(c, &since, &c->reader.threads, &e) || limit(c, &c->reader.threads, &e))
        return call_fail(c, &e);
    since = limit_since(c, since);
    if (sv_is(c->head.method, "HEAD"))
        return call_answer(c, 200, "text/event-stream", SV(""));
    c->reader.rest = rest;
    c->reader.wake = wake;
    feed_join(c->s->feed, &c->reader, since, c->head.last_event);
    c->status = 200;
    c->type = "text/event-stream";
    return call_stream(c, EVENTS_BLOCK, read_news);
}
