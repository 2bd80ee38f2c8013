/* Finding the snapshot and the stretches a context is made of, and folding them. */
#include "thread/project.h"

#include "store/store.h"
#include "thread/skeleton.h"

#include "base/path.h"
#include "base/vec.h"
#include "thread/call_name.h"
#include "thread/kind.h"
#include "thread/proved.h"

/* What is left of a snapshot whose content is gone: it still hides what it replaced, and one
 * message says that content was erased. */
static struct context erased_snapshot(struct projection *p, const struct entry *n)
{
    struct message *m = ARENA_NEW(p->a, struct message, 1);

    *m = (struct message){ .seq = -1,
                           .at = n->at,
                           .role = SV("user"),
                           .content = SV("\"" ERASED_TEXT "\""),
                           .erased = true };
    return (struct context){ .messages = m, .n = 1 };
}

/* The snapshot of an anchor entry, and where the fold goes on after it. False when the payload has
 * no readable snapshot: the entry is then skipped. */
static bool read_anchor(struct projection *p, const struct entry *n)
{
    struct json        payload;
    struct err         ignored;
    const struct json *op;
    int64_t            base;

    if (json_parse(n->payload, 0, p->a, &payload, &ignored))
        return false;
    op = json_find(&payload, "operation");
    const struct json *snapshot = json_find(op, "result_context");
    if (n->erased)
        p->snapshot = erased_snapshot(p, n);
    else if (!snapshot ||
             context_read(json_canonical(snapshot, p->a), p->a, &p->snapshot, &ignored))
        return false;
    p->anchor = p->after = n->seq;
    p->system_prompt = p->snapshot.system_prompt;
    if (json_truth(json_find(json_find(op, "meta"), "rebase")) &&
        json_int(json_find(op, "base_seq"), &base) && base < n->seq)
        p->after = base;
    return true;
}

/* An entry must be intact: a model is never shown a changed text, bytes that are not JSON, or what
 * follows a missing entry. */
static enum status check_proof(const struct projection *p, const struct entry *n,
                               enum entry_proof proof, struct err *e)
{
    if (proof == ENTRY_INTACT)
        return ST_OK;
    if (proof == ENTRY_UNPROVEN)
        err_set(e, ST_CORRUPT, "thread " SV_FMT ": entry %lld is missing", SV_ARG(p->thread),
                (long long)n->seq - 1);
    else
        err_set(e, ST_CORRUPT, "thread " SV_FMT ": entry %lld is not what was written",
                SV_ARG(p->thread), (long long)n->seq);
    return err_hint(e, "`heddle doctor` says what is whole; `heddle log export` saves what is "
                       "readable");
}

/* The next entry of a scan that may end before all of it is read: each is proved by itself. */
static enum status next_intact(struct projection *p, struct store_scan *scan, struct entry *n,
                               bool *more, struct err *e)
{
    enum entry_proof proof = ENTRY_INTACT;

    if (store_next(scan, n, more, e) || (*more && skeleton_prove(scan, n, 1, p->a, &proof, e)))
        return err_code(e);
    p->read += *more;
    return *more ? check_proof(p, n, proof, e) : ST_OK;
}

enum status project_anchors(struct projection *p, anchor_fn fn, void *ctx, struct err *e)
{
    bool go_on = true;

    for (size_t i = p->n_path; i-- > 0 && go_on;) {
        UNDO(store_scan_undo) struct store_scan *scan = NULL;
        struct store_query                       q = { .thread = p->thread,
                                                       .from = p->path[i].from,
                                                       .to = p->path[i].to,
                                                       .lane = p->path[i].lane,
                                                       .mark = MARK_ANCHOR,
                                                       .backwards = true };
        struct entry                             n;
        bool                                     more = true;
        if (store_scan(p->log->store, &q, &scan, e))
            return err_code(e);
        while (go_on) {
            if (next_intact(p, scan, &n, &more, e))
                return err_code(e);
            if (!more)
                break;
            go_on = fn(ctx, &n);
        }
    }
    return ST_OK;
}

/* The latest one that can be read. */
static bool take_anchor(void *ctx, const struct entry *n)
{
    return !read_anchor(ctx, n);
}

static enum status find_anchor(struct projection *p, struct err *e)
{
    return project_anchors(p, take_anchor, p, e);
}

void project_want(struct log *l, const struct projection_of *of, struct sv agent, struct arena *a)
{
    struct rows r = rows_of_view(l, of->thread, &thread_view, a);
    struct sv   lane = of->lane.s ? of->lane : LANE_DEFAULT;
    struct sv keys[] = { key_of_name("lane", lane, a), KEY_MARKED, key_of_name("active", agent, a),
                         key_of_name("active", AGENT_DEFAULT, a) };
    struct store_query q = {
        .thread = of->thread, .to = of->upto, .lane = lane, .mark = MARK_MESSAGE
    };

    if (name_check(of->thread, "thread", &(struct err){ 0 }) ||
        name_check(lane, "lane", &(struct err){ 0 }))
        return; /* the code that reads it says what is wrong */
    rows_want(&r, keys, COUNT(keys));
    store_want_scan(l->store, &q);
    q.mark = MARK_ANCHOR;
    q.backwards = true;
    store_want_scan(l->store, &q);
}

enum status project_start(struct log *l, const struct projection_of *of, struct arena *a,
                          struct projection *out, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, of->thread, &h, e) || store_head_agrees(of->thread, &h, e))
        return err_code(e);
    if (!h.rev)
        return log_no_thread(of->thread, e);
    *out = (struct projection){ .log = l,
                                .a = a,
                                .thread = of->thread,
                                .lane = of->lane,
                                .at = of->upto < h.rev ? of->upto : h.rev - 1,
                                .anchor = -1,
                                .after = -1,
                                .system_prompt = of->base_prompt };
    if (out->at < -1)
        out->at = -1;
    if (lane_path(l, of->thread, of->lane, out->at, a, &out->path, &out->n_path, e))
        return err_code(e);
    return find_anchor(out, e);
}

enum status project_anchor(struct log *l, struct sv thread, struct stretch *of, int64_t *anchor,
                           int64_t *after, struct err *e)
{
    struct arena      a = { 0 };
    struct projection p = { .log = l,
                            .a = &a,
                            .thread = thread,
                            .lane = of->lane,
                            .anchor = -1,
                            .after = -1,
                            .path = of,
                            .n_path = 1 };
    enum status       s = find_anchor(&p, e);

    *anchor = p.anchor;
    *after = p.after;
    arena_free(&a);
    return s;
}

enum status project_is_marked(struct log *l, struct sv thread, struct arena *a, bool *out,
                              struct err *e)
{
    struct rows r = rows_of_view(l, thread, &thread_view, a);
    struct sv   row;

    return row_get(&r, KEY_MARKED, &row, out, e);
}

static enum status each_of(struct projection *p, struct proved *scan, message_fn fn, void *ctx,
                           struct err *e)
{
    enum entry_proof    proof;
    const struct entry *n;
    bool                more;

    for (;;) {
        if (proved_next(scan, &n, &proof, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        p->read++;
        if (check_proof(p, n, proof, e))
            return err_code(e);
        struct message m = message_of_entry(n);
        if (call_name(p, &m, e) || fn(ctx, &m, e))
            return err_code(e);
    }
}

static enum status each_after(struct projection *p, int64_t after, message_fn fn, void *ctx,
                              struct err *e)
{
    enum status s = ST_OK;

    for (size_t i = 0; !s && i < p->n_path; i++) {
        struct stretch    *of = &p->path[i];
        struct store_query q = { .thread = p->thread,
                                 .from = of->from > after ? of->from : after + 1,
                                 .to = of->to,
                                 .lane = of->lane,
                                 .mark = MARK_MESSAGE };
        struct proved      scan = { 0 };
        s = proved_open(&scan, p->log->store, &q, e);
        if (!s)
            s = each_of(p, &scan, fn, ctx, e);
        proved_close(&scan);
    }
    return s;
}

enum status project_each(struct projection *p, message_fn fn, void *ctx, struct err *e)
{
    for (size_t i = 0; i < p->snapshot.n; i++) {
        struct message m = p->snapshot.messages[i];
        if (call_name(p, &m, e) || fn(ctx, &m, e))
            return err_code(e);
    }
    return each_after(p, p->after, fn, ctx, e);
}

enum status project_since(struct projection *p, int64_t cursor, bool *restart, message_fn fn,
                          void *ctx, struct err *e)
{
    struct lane lane;
    bool        found;

    if (lane_find(p->log, p->thread, p->lane, p->a, &lane, &found, e))
        return err_code(e);
    /* A lane forked in between brought its ancestors' messages with it. */
    *restart = p->anchor > cursor || (found && lane.from.s && lane.seq > cursor);
    if (*restart)
        return ST_OK;
    return each_after(p, cursor > p->after ? cursor : p->after, fn, ctx, e);
}

/* ---- sinks ------------------------------------------------------------------------- */

struct collected {
    struct arena *a;
    VEC(struct message) list;
};

static enum status collect(void *ctx, const struct message *m, struct err *e)
{
    struct collected *c = ctx;

    (void)e;
    *vec_push(&c->list, c->a) = message_copy(m, c->a);
    return ST_OK;
}

static struct context context_of(const struct projection *p, struct message *messages, size_t n)
{
    return (struct context){ .id = p->anchor >= 0 && p->snapshot.id.n ? p->snapshot.id
                                                                      : context_id(p->lane, p->a),
                             .system_prompt = p->system_prompt,
                             .messages = messages,
                             .n = n };
}

enum status project_context(struct projection *p, struct context *out, struct err *e)
{
    struct collected c = { .a = p->a };

    if (project_each(p, collect, &c, e))
        return err_code(e);
    *out = context_of(p, c.list.v, c.list.n);
    return ST_OK;
}

/* One stretch of the path, backwards; *more is what `fn` said last. */
static enum status back_through(struct projection *p, const struct stretch *s, int64_t before,
                                message_back_fn fn, void *ctx, bool *more, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = p->thread,
                                                   .from = s->from > p->after ? s->from : p->after + 1,
                                                   .to = s->to < before ? s->to : before - 1,
                                                   .lane = s->lane,
                                                   .mark = MARK_MESSAGE,
                                                   .backwards = true };
    struct entry                             n;
    bool                                     found = true;

    if (store_scan(p->log->store, &q, &scan, e))
        return err_code(e);
    while (*more) {
        if (next_intact(p, scan, &n, &found, e))
            return err_code(e);
        if (!found)
            return ST_OK;
        struct message m = message_of_entry(&n);
        if (fn(ctx, &m, more, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status project_back(struct projection *p, int64_t before, message_back_fn fn, void *ctx,
                         struct err *e)
{
    bool more = true;

    for (size_t i = p->n_path; i-- > 0 && more;)
        if (p->path[i].from < before && back_through(p, &p->path[i], before, fn, ctx, &more, e))
            return err_code(e);
    return ST_OK;
}

struct collected_back {
    struct collected all;
    size_t           want;
};

static enum status collect_back(void *ctx, const struct message *m, bool *more, struct err *e)
{
    struct collected_back *c = ctx;

    if (collect(&c->all, m, e))
        return err_code(e);
    *more = c->all.list.n < c->want;
    return ST_OK;
}

static void reverse(struct message *list, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        struct message one = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = one;
    }
}

enum status project_newest(struct projection *p, size_t want, struct context *out, bool *all,
                           struct err *e)
{
    /* one more tells whether that is all */
    struct collected_back c = { { .a = p->a }, want < SIZE_MAX ? want + 1 : want };
    struct collected     *got = &c.all;

    if (project_back(p, STORE_TO_END, collect_back, &c, e))
        return err_code(e);
    for (size_t i = p->snapshot.n; i-- > 0 && got->list.n < c.want;)
        *vec_push(&got->list, p->a) = p->snapshot.messages[i];
    *all = got->list.n <= want;
    if (!*all)
        got->list.n = want;
    reverse(got->list.v, got->list.n);
    p->calls.n = 0; /* forget the calls of messages folded before */
    for (size_t i = 0; i < got->list.n; i++)
        if (call_name(p, &got->list.v[i], e))
            return err_code(e);
    *out = context_of(p, got->list.v, got->list.n);
    return ST_OK;
}

struct project_printing {
    struct sb *out;
    bool       comma;
};

static enum status print_one(void *ctx, const struct message *m, struct err *e)
{
    struct project_printing *p = ctx;

    (void)e;
    if (p->comma)
        sb_addc(p->out, ',');
    p->comma = true;
    message_write(p->out, m);
    return ST_OK;
}

enum status project_write(struct projection *p, struct sb *out, struct err *e)
{
    struct project_printing printing = { .out = out };

    sb_adds(out, "{\"at\":");
    sb_add_int(out, p->at);
    sb_adds(out, ",\"lane\":");
    sb_add_json_string(out, p->lane);
    sb_adds(out, ",\"messages\":[");
    if (project_each(p, print_one, &printing, e))
        return err_code(e);
    sb_adds(out, "],\"system_prompt\":");
    if (p->system_prompt.s)
        sb_add_json_string(out, p->system_prompt);
    else
        sb_adds(out, "null");
    sb_adds(out, ",\"thread\":");
    sb_add_json_string(out, p->thread);
    sb_addc(out, '}');
    return ST_OK;
}
