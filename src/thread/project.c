/* Finding the snapshot and the stretches a context is made of, and folding them. */
#include "thread/project.h"

#include "thread/skeleton.h"

#include "base/vec.h"
#include "thread/call_name.h"

/* What is left of a snapshot whose content is gone: it still hides what it replaced, and one
 * message says that something was here. */
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

/* The snapshot of an anchor entry, and where the fold goes on after it. False when its
 * payload holds none that can be read: it is passed over, as if it were not there. */
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

/* The next entry of a scan, which must be what was written: a model is never shown a text that
 * somebody changed, nor bytes that are no longer JSON, nor what follows an entry that is gone. */
static enum status next_intact(struct projection *p, struct store_scan *scan, struct entry *n,
                               bool *more, struct err *e)
{
    enum entry_proof proof = ENTRY_INTACT;

    if (store_next(scan, n, more, e) || (*more && skeleton_prove(scan, n, &proof, e)))
        return err_code(e);
    p->read += *more;
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

/* The latest anchor on the path: the newest stretch that has one. */
static enum status find_anchor(struct projection *p, struct err *e)
{
    for (size_t i = p->n_path; i-- > 0;) {
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
        while (more) {
            if (next_intact(p, scan, &n, &more, e))
                return err_code(e);
            if (more && read_anchor(p, &n))
                return ST_OK;
        }
    }
    return ST_OK;
}

enum status project(struct log *l, const struct projection_of *of, struct arena *a,
                    struct projection *out, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, of->thread, &h, e) || store_head_agrees(of->thread, &h, e))
        return err_code(e);
    if (!h.rev) {
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(of->thread));
        return err_hint(
            e, "`heddle stats` lists the threads there are; `heddle log append` starts one");
    }
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

enum status project_excludes(struct log *l, struct sv thread, struct arena *a, bool *out,
                             struct err *e)
{
    struct sv row;

    return log_row_get(l, thread, &thread_view, KEY_EXCLUDED, a, &row, out, e);
}

static enum status each_after(struct projection *p, int64_t after, message_fn fn, void *ctx,
                              struct err *e)
{
    for (size_t i = 0; i < p->n_path; i++) {
        UNDO(store_scan_undo) struct store_scan *scan = NULL;
        struct stretch                          *s = &p->path[i];
        struct store_query                       q = { .thread = p->thread,
                                                       .from = s->from > after ? s->from : after + 1,
                                                       .to = s->to,
                                                       .lane = s->lane,
                                                       .mark = MARK_MESSAGE };
        struct entry                             n;
        bool                                     more = true;
        if (store_scan(p->log->store, &q, &scan, e))
            return err_code(e);
        for (;;) {
            if (next_intact(p, scan, &n, &more, e))
                return err_code(e);
            if (!more)
                break;
            struct message m = message_of_entry(&n);
            if (call_name(p, &m, e) || fn(ctx, &m, e))
                return err_code(e);
        }
    }
    return ST_OK;
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

static struct sv keep(struct sv v, struct arena *a)
{
    return v.s ? sv_dup(v, a) : v;
}

static enum status collect(void *ctx, const struct message *m, struct err *e)
{
    struct collected *c = ctx;
    struct message    copy = *m;

    (void)e;
    copy.role = keep(m->role, c->a);
    copy.content = keep(m->content, c->a);
    copy.thinking = keep(m->thinking, c->a);
    copy.reasoning_details = keep(m->reasoning_details, c->a);
    copy.tool_calls = keep(m->tool_calls, c->a);
    copy.tool_call_id = keep(m->tool_call_id, c->a);
    copy.name = keep(m->name, c->a);
    copy.refs = keep(m->refs, c->a);
    copy.whole = keep(m->whole, c->a);
    *vec_push(&c->list, c->a) = copy;
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

/* The newest messages of one stretch of the path, newest first, until there are `want`. */
static enum status collect_back(struct projection *p, const struct stretch *s, size_t want,
                                struct collected *c, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = p->thread,
                                                   .from = s->from > p->after ? s->from : p->after + 1,
                                                   .to = s->to,
                                                   .lane = s->lane,
                                                   .mark = MARK_MESSAGE,
                                                   .backwards = true };
    struct entry                             n;
    bool                                     more = true;

    if (store_scan(p->log->store, &q, &scan, e))
        return err_code(e);
    while (c->list.n < want) {
        if (next_intact(p, scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        struct message m = message_of_entry(&n);
        if (collect(c, &m, e))
            return err_code(e);
    }
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
    struct collected c = { .a = p->a };
    size_t more = want < SIZE_MAX ? want + 1 : want; /* one more tells whether that is all */

    for (size_t i = p->n_path; i-- > 0 && c.list.n < more;)
        if (collect_back(p, &p->path[i], more, &c, e))
            return err_code(e);
    for (size_t i = p->snapshot.n; i-- > 0 && c.list.n < more;)
        *vec_push(&c.list, p->a) = p->snapshot.messages[i];
    *all = c.list.n <= want;
    if (!*all)
        c.list.n = want;
    reverse(c.list.v, c.list.n);
    p->calls.n = 0; /* the calls of what was folded before say nothing here */
    for (size_t i = 0; i < c.list.n; i++)
        if (call_name(p, &c.list.v[i], e))
            return err_code(e);
    *out = context_of(p, c.list.v, c.list.n);
    return ST_OK;
}

struct printing {
    struct sb *out;
    bool       comma;
};

static enum status print_one(void *ctx, const struct message *m, struct err *e)
{
    struct printing *p = ctx;

    (void)e;
    if (p->comma)
        sb_addc(p->out, ',');
    p->comma = true;
    message_write(p->out, m);
    return ST_OK;
}

enum status project_write(struct projection *p, struct sb *out, struct err *e)
{
    struct printing printing = { .out = out };

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
