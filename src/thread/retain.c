/* What of a thread is old and not in use: two scans, one that learns what is in use and one
 * that lists the rest. */
#include "thread/retain.h"

#include "store/store.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/run_state.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

#include <stdlib.h>

/* ---- sets of seqs --------------------------------------------------------------------------- */

struct seq_set seq_set_in(struct arena *a, int64_t rev)
{
    return (struct seq_set){ ARENA_NEW(a, unsigned char, (size_t)rev / 8 + 1), rev };
}

void seq_set_add(struct seq_set *s, int64_t seq)
{
    if (seq >= 0 && seq < s->rev)
        s->bits[seq >> 3] |= (unsigned char)(1 << (seq & 7));
}

bool seq_set_has(const struct seq_set *s, int64_t seq)
{
    return seq >= 0 && seq < s->rev && s->bits[seq >> 3] & 1 << (seq & 7);
}

/* ---- what is in use ------------------------------------------------------------------------- */

struct retaining {
    struct log               *log;
    const struct retain_what *what;
    struct retain_plan       *plan;
    struct arena             *a;
    struct arena              scratch; /* of one entry */
    struct lanes_shown        shown;
    struct seq_set            kept;
    struct seq_set            tree;      /* entries of kinds that only a tree has */
    struct map                runs;      /* run_id -> not NULL, of the last run of each agent */
    struct map                open;      /* those of them that are open */
    bool                      since;     /* an open run has begun: all from here on is kept */
    struct map                docs;      /* name -> seq of its newest write */
    struct map                responses; /* hashes that kept and young messages name */
    VEC(struct retain_answer) answers;   /* raw answers that are old */
};

struct retain_answer {
    struct erase_item item;
    struct sv         hash;
    int64_t           at, bytes;
};

/* Keep the entries that the row of a run names. The row of a run that ended names none that
 * wait. */
static void keep_state(struct retaining *r, const struct run_state *s)
{
    if (s->run_id.n) {
        map_put(&r->runs, s->run_id, r);
        if (s->active)
            map_put(&r->open, s->run_id, r);
    }
    seq_set_add(&r->kept, s->calls_seq);
    seq_set_add(&r->kept, s->parked_seq);
    for (size_t i = 0; i < s->n_calls; i++)
        seq_set_add(&r->kept, s->calls[i].held);
    for (size_t i = 0; i < s->n_queue; i++)
        seq_set_add(&r->kept, s->queue[i].seq);
}

static enum status keep_runs(struct retaining *r, struct err *e)
{
    struct rows       rows = rows_of_view(r->log, r->what->thread, &thread_view, r->a);
    struct sv         prefix = SV("run/");
    struct store_row *list;
    size_t            n;

    if (rows_below(&rows, prefix, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct run_state s;
        if (run_state_read(r->log, r->what->thread, sv_skip(list[i].key, prefix.n), r->a, &s, e))
            return err_code(e);
        keep_state(r, &s);
    }
    return ST_OK;
}

/* Is it part of a run that is kept? From the start of an open one on everything is. */
static bool is_of_run(struct retaining *r, const struct entry *n, const struct json *p)
{
    struct sv run = json_text(p, "run_id");

    if (kind_of(n->kind) == KIND_RUN_STARTED && run.n && map_has(&r->open, run))
        r->since = true;
    return r->since || (run.n && map_has(&r->runs, run));
}

static void note_document(struct retaining *r, const struct entry *n, const struct json *p)
{
    struct sv name = json_text(p, "path");

    if (!name.n)
        name = json_text(p, "doc");
    int64_t *seq = map_find(&r->docs, name);
    if (!seq) {
        seq = ARENA_NEW(r->a, int64_t, 1);
        map_put(&r->docs, sv_dup(name, r->a), seq);
    }
    *seq = n->seq;
}

static enum status see_use(struct retaining *r, const struct entry *n, struct err *e)
{
    enum kind   k = kind_of(n->kind);
    struct json p;

    switch (k) {
    case KIND_OTHER:
    case KIND_HARNESS_RECORD:
    case KIND_MODEL_REQUEST:
    case KIND_MODEL_RESPONSE: break;
    case KIND_SUMMARY:
    case KIND_TOOL_ACTION:
    case KIND_MEMORY_OPERATION:
    case KIND_LOOM_LINK:
    case KIND_LOOM_ANNOTATION: seq_set_add(&r->tree, n->seq); break;
    case KIND_DOCUMENT_WRITE:
        if (json_parse(n->payload, 0, &r->scratch, &p, e))
            return err_code(e);
        note_document(r, n, &p);
        break;
    case KIND_AI_CONTEXT_OPERATION:
        if (n->mark != MARK_ANCHOR || lanes_shown_has(&r->shown, n))
            seq_set_add(&r->kept, n->seq);
        break;
    case KIND_AI_MESSAGE:
    case KIND_CONTEXT_OP_DEFERRED:
    case KIND_RUN_STARTED:
    case KIND_RUN_INPUT:
    case KIND_RUN_TOOL_HELD:
    case KIND_RUN_CHECKPOINT:
    case KIND_RUN_FINISHED:
        if (json_parse(n->payload, 0, &r->scratch, &p, e))
            return err_code(e);
        if (is_of_run(r, n, &p) || lanes_shown_has(&r->shown, n))
            seq_set_add(&r->kept, n->seq);
        break;
    default: seq_set_add(&r->kept, n->seq); /* marks, threads, the log about itself */
    }
    if (r->since)
        seq_set_add(&r->kept, n->seq);
    return ST_OK;
}

/* ---- what is left --------------------------------------------------------------------------- */

static void add_going(struct retaining *r, const struct erase_item *item, int64_t at, int64_t bytes)
{
    struct retain_plan *plan = r->plan;

    if (r->what->max && plan->erase.items.n >= r->what->max) {
        plan->more = true;
        return;
    }
    *vec_push(&plan->erase.items, r->a) = *item;
    plan->erase.asked++;
    plan->oldest = !plan->entries || at < plan->oldest ? at : plan->oldest;
    plan->newest = !plan->entries || at > plan->newest ? at : plan->newest;
    plan->entries++;
    plan->bytes += bytes;
}

/* An old entry that is not in use. Raw answers are decided at the end, when the messages that name
 * them are known. */
static enum status see_old(struct retaining *r, const struct entry *n, struct err *e)
{
    const char       *name = kind_name(kind_of(n->kind));
    struct erase_item item = { .thread = r->what->thread,
                               .seq = n->seq,
                               .kind = name ? sv_of(name) : sv_dup(n->kind, r->a),
                               .mark = n->mark,
                               .asked = true,
                               .source = -1 };
    int64_t           bytes = (int64_t)(n->payload.n + n->refs.n);
    struct json       p;

    if (kind_of(n->kind) != KIND_MODEL_RESPONSE) {
        add_going(r, &item, n->at, bytes);
        return ST_OK;
    }
    if (json_parse(n->payload, 0, &r->scratch, &p, e))
        return err_code(e);
    *vec_push(&r->answers, r->a) =
        (struct retain_answer){ item, sv_dup(json_text(&p, "hash"), r->a), n->at, bytes };
    return ST_OK;
}

/* The raw answer of a message that stays. */
static enum status note_response(struct retaining *r, const struct entry *n, struct err *e)
{
    struct json p;

    if (kind_of(n->kind) != KIND_AI_MESSAGE || n->erased)
        return ST_OK;
    if (json_parse(n->payload, 0, &r->scratch, &p, e))
        return err_code(e);
    struct sv hash = json_text(json_find(&p, "node"), "response");
    if (hash.n && !map_has(&r->responses, hash))
        map_put(&r->responses, sv_dup(hash, r->a), r);
    return ST_OK;
}

static enum status see_age(struct retaining *r, const struct entry *n, struct err *e)
{
    bool kept = seq_set_has(&r->kept, n->seq);

    if (n->at >= r->what->before || kept) {
        if (n->at < r->what->before && !n->erased && skeleton_has_content(n, &r->scratch))
            r->plan->kept++;
        return note_response(r, n, e);
    }
    if (n->erased || !n->salted || !skeleton_has_content(n, &r->scratch))
        return ST_OK;
    return see_old(r, n, e);
}

static int by_seq(const void *x, const void *y)
{
    const struct erase_item *a = x, *b = y;

    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void add_answers(struct retaining *r)
{
    for (size_t i = 0; i < r->answers.n; i++) {
        const struct retain_answer *x = &r->answers.v[i];
        if (x->hash.n && map_has(&r->responses, x->hash))
            r->plan->kept++;
        else
            add_going(r, &x->item, x->at, x->bytes);
    }
    if (r->plan->erase.items.n)
        qsort(r->plan->erase.items.v, r->plan->erase.items.n, sizeof(struct erase_item), by_seq);
}

/* ---- all of it ------------------------------------------------------------------------------ */

typedef enum status retain_fn(struct retaining *r, const struct entry *n, struct err *e);

struct retain_pass {
    struct retaining *r;
    retain_fn        *see;
};

static enum status see_one(void *ctx, const struct entry *n, struct err *e)
{
    struct retain_pass *p = ctx;
    struct arena_mark   mark = arena_mark(&p->r->scratch);
    enum status         s = p->see(p->r, n, e);

    arena_reset(&p->r->scratch, mark);
    return s ? err_in(e, "entry %lld", (long long)n->seq) : ST_OK;
}

static enum status retain_scan(struct retaining *r, retain_fn *see, struct err *e)
{
    struct retain_pass p = { r, see };

    return log_each_entry(r->log, r->what->thread, see_one, &p, e);
}

static enum status find_use(struct retaining *r, struct err *e)
{
    bool known = false;

    if (lanes_shown_find(r->log, r->what->thread, r->a, &r->shown, e) || keep_runs(r, e) ||
        retain_scan(r, see_use, e))
        return err_code(e);
    for (size_t i = 0; i < r->docs.n; i++)
        seq_set_add(&r->kept, *(int64_t *)r->docs.items[i].value);
    if (r->what->keep && r->what->keep(r->what->ctx, r->what, &r->kept, &known, e))
        return err_code(e);
    for (int64_t i = 0; !known && i <= r->kept.rev / 8; i++)
        r->kept.bits[i] |= r->tree.bits[i];
    return ST_OK;
}

static enum status check_head(const struct retain_what *what, const struct store_head *h,
                              struct err *e)
{
    if (!h->rev) {
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(what->thread));
        return err_hint(e, "`heddle stats` lists the threads there are");
    }
    if (h->version >= 2)
        return store_head_agrees(what->thread, h, e);
    err_set(e, ST_INVALID_SYNTAX, "thread '" SV_FMT "' is of chain version 1",
            SV_ARG(what->thread));
    err_reason(e, "version");
    return err_hint(e, "`heddle log rechain " SH_FMT "` makes it erasable", SV_ARG(what->thread));
}

enum status retain_find(struct log *l, const struct retain_what *what, struct arena *a,
                        struct retain_plan *out, struct err *e)
{
    struct store_head h;

    *out = (struct retain_plan){ .erase = {
                                     .thread = what->thread, .needles = needles_in(a), .a = a } };
    if (store_head(l->store, what->thread, &h, e) || check_head(what, &h, e))
        return err_code(e);
    struct retaining r = { .log = l,
                           .what = what,
                           .plan = out,
                           .a = a,
                           .kept = seq_set_in(a, h.rev),
                           .tree = seq_set_in(a, h.rev),
                           .runs = map_in(a),
                           .open = map_in(a),
                           .docs = map_in(a),
                           .responses = map_in(a) };
    enum status      s = find_use(&r, e);
    if (!s)
        s = retain_scan(&r, see_age, e);
    if (!s)
        add_answers(&r);
    arena_free(&r.scratch);
    return s;
}
