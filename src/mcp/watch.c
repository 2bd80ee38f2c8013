/* Subscriptions: the state of each resource that somebody watches, compared with what it was. */
#include "base/hash.h"
#include "mcp/message.h"

#include <stdlib.h>

extern const struct operation op_thread_list, op_head;

enum { WATCHES_MAX = 256 };

/* ---- the state of a resource ------------------------------------------------------------------
 */

/* The state of a log is its length: entries are only appended. */
static enum status head_of(struct mcp_item *x, struct sv thread, struct sv *text, struct err *e)
{
    struct sb      b = sb_in(x->a, 0);
    struct jw      w = jw_in(&b, 0);
    struct request r;
    struct json    params;

    jw_open(&w, '{');
    jw_kstr(&w, "thread", thread);
    jw_close(&w, '}');
    if (json_parse(sb_sv(&b), 0, x->a, &params, e) ||
        mcp_operation(x, &op_head, &params, NULL, &r, e))
        return err_code(e);
    *text = request_document(&r);
    return ST_OK;
}

static enum status text_of(struct mcp_item *x, struct sv uri, struct sv *text, struct err *e)
{
    struct mcp_resource q;
    const char         *type;

    if (!uri.s)
        return head_of(x, SV(".global"), text, e);
    if (mcp_resource_parse(uri, x->a, &q, e))
        return err_code(e);
    if (q.kind == RESOURCE_LOG || q.kind == RESOURCE_TREE)
        return head_of(x, q.thread, text, e);
    return mcp_resource_bytes(x, &q, text, &type, e);
}

/* A resource that cannot be read has a state as well: its error. */
static struct hash state_of(struct mcp_session *s, struct sv uri)
{
    struct arena    a = { 0 };
    struct mcp_item x = { .s = s, .a = &a };
    struct sv       text = { 0 };
    struct err      e = { 0 };

    if (text_of(&x, uri, &text, &e))
        text = sv_of(status_word(e.code));
    struct hash h = hash_blake2b(&text, 1);
    arena_free(&a);
    return h;
}

/* ---- the list of them -------------------------------------------------------------------------
 */

static enum status add(struct mcp_session *s, struct sv id, struct sv uri, struct err *e)
{
    struct arena      a = { 0 };
    struct mcp_watch *n = ARENA_NEW(&a, struct mcp_watch, 1);
    struct hash       state = state_of(s, uri);

    *n = (struct mcp_watch){ .id = sv_dup(id, &a), .state = state };
    if (uri.s)
        n->uri = sv_dup(uri, &a);
    n->a = a;
    pthread_mutex_lock(&s->lock);
    bool full = s->n_watches >= WATCHES_MAX;
    if (!full) {
        n->next = s->watches;
        s->watches = n;
        s->n_watches++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!full)
        return ST_OK;
    arena_free(&a);
    return err_set(e, ST_LIMIT_EXCEEDED, "more than %d resources are watched", WATCHES_MAX);
}

/* Removes the subscriptions of an id; with `uri` only that one. */
static bool drop(struct mcp_session *s, struct sv id, struct sv uri)
{
    bool any = false;

    pthread_mutex_lock(&s->lock);
    for (struct mcp_watch **at = &s->watches; *at;) {
        struct mcp_watch *w = *at;
        if (!sv_eq(w->id, id) || (uri.s && !sv_eq(w->uri, uri))) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        s->n_watches--;
        struct arena a = w->a;
        arena_free(&a);
        any = true;
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool mcp_unlisten(struct mcp_session *s, struct sv id)
{
    return drop(s, id, (struct sv){ 0 });
}

bool mcp_is_watching(struct mcp_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool any = s->watches != NULL;
    pthread_mutex_unlock(&s->lock);
    return any;
}

/* ---- the methods ------------------------------------------------------------------------------
 */

enum status mcp_subscribe(struct mcp_item *x, struct jw *w, struct err *e)
{
    struct mcp_resource q;
    struct sv           uri;

    (void)w;
    if (mcp_text(x, "uri", &uri, e) || mcp_resource_parse(uri, x->a, &q, e))
        return err_code(e);
    drop(x->s, SV(""), uri);
    return add(x->s, SV(""), uri, e);
}

enum status mcp_unsubscribe(struct mcp_item *x, struct jw *w, struct err *e)
{
    struct sv uri;

    (void)w;
    if (mcp_text(x, "uri", &uri, e))
        return err_code(e);
    drop(x->s, SV(""), uri);
    return ST_OK;
}

static void put_subscription(struct jw *w, struct sv id)
{
    jw_key(w, "_meta");
    jw_open(w, '{');
    jw_key(w, MCP_META "subscriptionId");
    jw_raw(w, id);
    jw_close(w, '}');
}

/* Tells the client which of the requested notifications it will get. Tools and prompts never
 * change, so those are not among them. */
static enum status acknowledge(struct mcp_item *x, const struct json *wish, struct err *e)
{
    const struct json  *uris = json_find(wish, "resourceSubscriptions");
    bool                list = json_truth(json_find(wish, "resourcesListChanged"));
    struct sb           b = sb_in(x->a, 0);
    struct jw           w = jw_in(&b, 0);
    struct mcp_resource q;

    if (list && add(x->s, x->id, (struct sv){ 0 }, e))
        return err_code(e);
    jw_open(&w, '{');
    put_subscription(&w, x->id);
    jw_key(&w, "notifications");
    jw_open(&w, '{');
    if (list)
        jw_kbool(&w, "resourcesListChanged", true);
    jw_key(&w, "resourceSubscriptions");
    jw_open(&w, '[');
    for (size_t i = 0; uris && i < uris->n; i++) {
        struct sv uri = json_sv(&uris->items[i]);
        if (mcp_resource_parse(uri, x->a, &q, e))
            continue; /* what is not acknowledged is not watched */
        if (add(x->s, x->id, uri, e))
            return err_code(e);
        jw_str(&w, uri);
    }
    jw_close(&w, ']');
    jw_close(&w, '}');
    jw_close(&w, '}');
    mcp_notify(x, "notifications/subscriptions/acknowledged", sb_sv(&b));
    return ST_OK;
}

static bool is_wish(const struct json *wish)
{
    const struct json *uris = json_find(wish, "resourceSubscriptions");

    if (!json_is(wish, JSON_OBJECT) || (uris && uris->type != JSON_ARRAY))
        return false;
    for (size_t i = 0; uris && i < uris->n; i++)
        if (uris->items[i].type != JSON_STRING)
            return false;
    return true;
}

enum status mcp_listen(struct mcp_item *x, struct jw *w, struct err *e)
{
    const struct json *wish = json_find(x->params, "notifications");

    (void)w;
    if (!is_wish(wish))
        return err_set(e, ST_USAGE, "notifications says what is to be told");
    if (acknowledge(x, wish, e)) {
        mcp_unlisten(x->s, x->id);
        return err_code(e);
    }
    x->listens = true;
    return ST_OK;
}

/* ---- looking ----------------------------------------------------------------------------------
 */

/* A copy of what is watched: resources are read without the lock. */
struct looked {
    struct sv   id, uri;
    struct hash state;
};

static struct looked *copy(struct mcp_session *s, struct arena *a, size_t *n)
{
    pthread_mutex_lock(&s->lock);
    struct looked *list = ARENA_NEW(a, struct looked, s->n_watches + 1);
    *n = 0;
    for (struct mcp_watch *w = s->watches; w; w = w->next) {
        list[*n] = (struct looked){ .id = sv_dup(w->id, a), .state = w->state };
        if (w->uri.s)
            list[*n].uri = sv_dup(w->uri, a);
        (*n)++;
    }
    pthread_mutex_unlock(&s->lock);
    return list;
}

/* False: it is not watched any more. */
static bool set_state(struct mcp_session *s, const struct looked *x, const struct hash *state)
{
    bool found = false;

    pthread_mutex_lock(&s->lock);
    for (struct mcp_watch *w = s->watches; w; w = w->next)
        if (sv_eq(w->id, x->id) && sv_eq(w->uri, x->uri)) {
            w->state = *state;
            found = true;
        }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static struct sv change_text(const struct looked *x, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (x->uri.s)
        jw_kstr(&w, "uri", x->uri);
    if (x->id.n)
        put_subscription(&w, x->id);
    jw_close(&w, '}');
    return mcp_notification_text(x->uri.s ? "notifications/resources/updated"
                                          : "notifications/resources/list_changed",
                                 sb_sv(&b), a);
}

void mcp_look(struct mcp_session *s, mcp_send *send, void *ctx)
{
    struct arena   a = { 0 };
    size_t         n;
    struct looked *list = copy(s, &a, &n);

    for (size_t i = 0; i < n; i++) {
        struct hash now = state_of(s, list[i].uri);
        if (!hash_eq(&now, &list[i].state) && set_state(s, &list[i], &now))
            send(ctx, change_text(&list[i], &a));
    }
    arena_free(&a);
}
