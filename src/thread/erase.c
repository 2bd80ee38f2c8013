/* What an erasure takes with it, and the erasure itself. */
#include "thread/erase.h"

#include "base/rand.h"
#include "thread/kind_check.h"
#include "thread/project.h"
#include "thread/skeleton.h"

#include <stdlib.h>

enum { BATCH = 1024, BATCH_BYTES = 16 << 20 };

/* ---- what the caller asks for --------------------------------------------------------------- */

struct finding {
    struct log              *log;
    const struct erase_what *what;
    struct erase_plan       *plan;
    struct arena            *a;
    struct map               names;     /* ids of the nodes that go -> their seq, as an item */
    struct map               responses; /* hashes of the answers they came from */
    unsigned char           *chosen;    /* one bit a seq of the thread */
    int64_t                  rev;
    int                      version;
    bool                     messages; /* some of them are messages */
};

static bool is_chosen(const struct finding *f, int64_t seq)
{
    return seq >= 0 && seq < f->rev && f->chosen[seq >> 3] & 1 << (seq & 7);
}

static struct erase_item *add_item(struct finding *f, struct sv thread, const struct entry *n)
{
    struct erase_item *item = vec_push(&f->plan->items, f->a);

    *item = (struct erase_item){ .thread = thread,
                                 .seq = n->seq,
                                 .kind = sv_dup(n->kind, f->a),
                                 .mark = n->mark,
                                 .fixed = !n->salted,
                                 .source = -1 };
    if (sv_eq(thread, f->plan->thread))
        f->chosen[n->seq >> 3] |= (unsigned char)(1 << (n->seq & 7));
    return item;
}

/* Every text below a value that the skeleton has not. */
static void add_texts(struct needles *set, const struct json *v)
{
    if (v->type == JSON_STRING)
        needles_add_text(set, json_sv(v));
    for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++)
        add_texts(set, &v->items[i]);
    for (size_t i = 0; v->type == JSON_OBJECT && i < v->n; i++)
        add_texts(set, &v->members[i].value);
}

/* Payload and skeleton side by side: they have the same shape. */
static void add_content(struct needles *set, const struct json *v, const struct json *bare)
{
    if (bare->type != v->type)
        add_texts(set, v);
    if (v->type != bare->type || v->n != bare->n)
        return;
    for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++)
        add_content(set, &v->items[i], &bare->items[i]);
    for (size_t i = 0; v->type == JSON_OBJECT && i < v->n; i++)
        add_content(set, &v->members[i].value, &bare->members[i].value);
}

static void add_name(struct finding *f, struct sv name, const struct entry *n)
{
    if (!name.n || map_has(&f->names, name))
        return;
    int64_t *seq = ARENA_NEW(f->a, int64_t, 1);
    *seq = n->seq;
    map_put(&f->names, name, seq);
}

/* By what names and hashes others speak of a node. */
static void add_names(struct finding *f, const struct entry *n, const struct json *p)
{
    const struct json *node = json_find(p, "node");
    struct sv          response = json_text(node, "response");

    add_name(f, entry_id(n, f->a), n);
    add_name(f, json_text(node, "id"), n);
    add_name(f, json_text(node, "local_id"), n);
    if (response.n)
        map_put(&f->responses, response, f);
}

static enum status ask_for(struct finding *f, const struct entry *n, struct err *e)
{
    struct arena scratch = { 0 };
    struct json  p, bare;

    if (is_chosen(f, n->seq))
        return ST_OK;
    if (!skeleton_has_content(n, &scratch)) {
        f->plan->bare++;
        arena_free(&scratch);
        return ST_OK;
    }
    enum status s = json_parse(n->payload, 0, &scratch, &p, e);
    if (!s)
        s = json_parse(skeleton_of(n->kind, n->payload, &scratch), 0, &scratch, &bare, e);
    if (!s) {
        add_item(f, f->plan->thread, n)->asked = true;
        f->plan->asked++;
        f->messages = f->messages || n->mark == MARK_MESSAGE;
        add_content(&f->plan->needles, &p, &bare);
        if (kind_of(n->kind) == KIND_AI_MESSAGE)
            add_names(f, n, &p);
        if (n->refs.n && !json_parse(n->refs, 0, &scratch, &p, e))
            add_texts(&f->plan->needles, &p);
    }
    arena_free(&scratch);
    return s;
}

static bool is_meant(const struct erase_what *w, const struct entry *n)
{
    return (w->actor.s && sv_eq(n->actor, w->actor)) || (w->before && n->at < w->before);
}

static enum status find_asked(struct finding *f, struct err *e)
{
    const struct erase_what                 *w = f->what;
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = w->thread, .to = STORE_TO_END };
    struct entry                             n;
    bool                                     more = true, found;

    for (size_t i = 0; i < w->n_seqs; i++) {
        q.from = q.to = w->seqs[i];
        if (w->seqs[i] < 0 || w->seqs[i] >= f->rev)
            return err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' has no entry %lld",
                           SV_ARG(w->thread), (long long)w->seqs[i]);
        if (store_first(f->log->store, &q, f->a, &n, &found, e) || ask_for(f, &n, e))
            return err_code(e);
    }
    if (!w->actor.s && !w->before)
        return ST_OK;
    q.from = 0;
    q.to = STORE_TO_END;
    if (store_scan(f->log->store, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (is_meant(w, &n) && ask_for(f, &n, e))
            return err_code(e);
    }
}

/* ---- what was derived from it --------------------------------------------------------------- */

/* Which of the chosen nodes is called this? -1: none. */
static int64_t chosen_node(struct finding *f, struct sv name)
{
    int64_t  seq = -1;
    int64_t *known = name.n ? map_find(&f->names, name) : NULL;

    if (known)
        return *known;
    if (!name.n || !f->what->node || !f->what->node(f->what->ctx, f->plan->thread, name, &seq) ||
        !is_chosen(f, seq))
        return -1;
    return seq;
}

/* A snapshot shows what its lane showed before it. */
static enum status shown_in_snapshot(struct finding *f, const struct entry *n, int64_t *source,
                                     struct err *e)
{
    struct arena         a = { 0 };
    struct projection    p;
    struct projection_of of = { .thread = f->plan->thread, .lane = n->lane, .upto = n->seq - 1 };
    enum status          s = project(f->log, &of, &a, &p, e);

    *source = !s && is_chosen(f, p.anchor) ? p.anchor : -1;
    for (size_t i = 0; !s && *source < 0 && i < f->plan->items.n; i++) {
        const struct erase_item *x = &f->plan->items.v[i];
        bool visible = x->mark == MARK_MESSAGE && x->seq > p.after && sv_eq(x->thread, of.thread);
        for (size_t k = 0; visible && k < p.n_path && *source < 0; k++)
            if (x->seq >= p.path[k].from && x->seq <= p.path[k].to) {
                /* The lane of an item is looked up only here. */
                struct store_query q = { .thread = of.thread,
                                         .from = x->seq,
                                         .to = x->seq,
                                         .lane = p.path[k].lane,
                                         .mark = MARK_MESSAGE };
                struct entry       found;
                bool               there = false;
                s = store_first(f->log->store, &q, &a, &found, &there, e);
                if (s || there)
                    *source = x->seq;
            }
    }
    arena_free(&a);
    return s;
}

static int64_t shown_by_action(struct finding *f, const struct json *p)
{
    const struct json *shows = json_find(p, "shows");
    int64_t            source = -1;

    for (size_t i = 0; json_is(shows, JSON_ARRAY) && i < shows->n && source < 0; i++)
        source = chosen_node(f, json_text(&shows->items[i], "node"));
    return source;
}

/* A sealed token cannot be looked into; one that is not is searched by its text. */
static bool is_sealed(struct sv token, struct arena *a)
{
    struct sv   bytes;
    struct json v;
    struct err  ignored;
    struct sv   head = sv_cut(sv_skip(token, token.n < 4 ? token.n : 4), '.').head;

    return !base64url_read(head, a, &bytes) || json_parse(bytes, 0, a, &v, &ignored) ||
           json_find(&v, "sealed");
}

/* By structure: NULL when nothing says so. */
static enum status derived_how(struct finding *f, const struct entry *n, struct arena *a,
                               const char **why, int64_t *source, struct err *e)
{
    struct json p;
    enum kind   k = kind_of(n->kind);

    *why = NULL;
    *source = -1;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    const struct json *target = json_find(&p, "target");
    struct sv          node = json_text(target, "node");
    if ((k == KIND_AI_CONTEXT_OPERATION || k == KIND_CONTEXT_OP_DEFERRED) && n->lane.n &&
        json_find(json_find(&p, "operation"), "result_context")) {
        if (shown_in_snapshot(f, n, source, e))
            return err_code(e);
        *why = *source >= 0 ? "is a snapshot of a context that showed it" : NULL;
    } else if (k == KIND_SUMMARY && node.n && (*source = chosen_node(f, node)) >= 0) {
        *why = "is a summary of it";
    } else if (k == KIND_SUMMARY && !node.n && f->messages) {
        *why = "is a summary of the tree it stood in";
    } else if (k == KIND_MEMORY_OPERATION && node.n && json_text(&p, "text").n &&
               (*source = chosen_node(f, node)) >= 0) {
        *why = "keeps it in an agent's memory";
    } else if (k == KIND_TOOL_ACTION && (*source = shown_by_action(f, &p)) >= 0) {
        *why = "is a command that showed it";
    } else if (k == KIND_MODEL_RESPONSE && map_has(&f->responses, json_text(&p, "hash"))) {
        *why = "is the answer of the model it came from";
    } else if (k == KIND_RUN_CHECKPOINT && f->messages && is_sealed(json_text(&p, "token"), a)) {
        *why = "is a sealed checkpoint, which may hold it";
    }
    return ST_OK;
}

static enum status look_at(struct finding *f, struct sv thread, const struct entry *n,
                           struct err *e)
{
    bool         same = sv_eq(thread, f->plan->thread);
    struct arena scratch = { 0 };
    const char  *why = NULL;
    int64_t      source = -1;
    enum status  s = ST_OK;

    if (n->erased || (same && is_chosen(f, n->seq)))
        return ST_OK;
    if (same)
        s = derived_how(f, n, &scratch, &why, &source, e);
    if (!s && !why &&
        (needles_in_json(&f->plan->needles, n->payload) ||
         needles_in_json(&f->plan->needles, n->refs)))
        why = "holds the same text";
    if (!s && why && skeleton_has_content(n, &scratch)) {
        struct erase_item *item = add_item(f, thread, n);
        item->why = why;
        item->source = source;
        f->plan->derived++;
    }
    arena_free(&scratch);
    return s;
}

static enum status look_through(struct finding *f, struct sv thread, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct entry                             n;
    bool                                     more = true;

    if (store_scan(f->log->store, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (look_at(f, thread, &n, e))
            return err_code(e);
    }
}

static enum status find_derived(struct finding *f, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    for (size_t i = 0; i < f->what->n_words; i++)
        if (!needles_add(&f->plan->needles, f->what->words[i])) {
            err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is too short to be looked for",
                    SV_ARG(f->what->words[i]));
            return err_hint(e, "give %d bytes or more", NEEDLE_MIN);
        }
    if (look_through(f, f->plan->thread, e) || store_threads(f->log->store, f->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!sv_eq(list[i].id, f->plan->thread) && look_through(f, list[i].id, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
    return ST_OK;
}

/* Those of the plan's own thread first, then by thread and seq. */
static int by_place(const void *x, const void *y)
{
    const struct erase_item *a = x, *b = y;
    int                      order = sv_cmp(a->thread, b->thread);

    return order ? order : a->seq < b->seq ? -1 : a->seq > b->seq;
}

enum status erase_find(struct log *l, const struct erase_what *what, struct arena *a,
                       struct erase_plan *out, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, what->thread, &h, e))
        return err_code(e);
    if (!h.rev) {
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' not found", SV_ARG(what->thread));
        return err_hint(e, "`heddle stats` lists the threads there are");
    }
    *out = (struct erase_plan){ .thread = what->thread, .needles = needles_in(a), .a = a };
    struct finding f = { .log = l,
                         .what = what,
                         .plan = out,
                         .a = a,
                         .names = map_in(a),
                         .responses = map_in(a),
                         .chosen = ARENA_NEW(a, unsigned char, (size_t)h.rev / 8 + 1),
                         .rev = h.rev,
                         .version = h.version };
    if (find_asked(&f, e) || find_derived(&f, e))
        return err_code(e);
    if (out->items.n)
        qsort(out->items.v, out->items.n, sizeof *out->items.v, by_place);
    return ST_OK;
}

/* ---- doing it ------------------------------------------------------------------------------- */

static bool goes(const struct erase_item *x, const struct erase_how *how)
{
    return x->asked || how->with_derived;
}

static enum status check_how(const struct erase_plan *plan, const struct erase_how *how,
                             struct err *e)
{
    if (!plan->asked && !(plan->derived && how->with_derived)) {
        err_set(e, ST_NOT_FOUND, "there is nothing to erase");
        return err_hint(e, "what was erased, or holds no words, is passed over");
    }
    for (size_t i = 0; i < plan->items.n; i++)
        if (goes(&plan->items.v[i], how) && plan->items.v[i].fixed) {
            err_set(e, ST_INVALID_SYNTAX,
                    "thread '" SV_FMT "' is of chain version 1: entry %lld cannot be erased",
                    SV_ARG(plan->items.v[i].thread), (long long)plan->items.v[i].seq);
            return err_hint(e, "`heddle log rechain " SH_FMT "` makes it erasable",
                            SV_ARG(plan->items.v[i].thread));
        }
    if (!plan->derived || how->with_derived || how->leave_derived)
        return ST_OK;
    err_set(e, ST_CONFLICT, "%zu other entr%s hold%s it too", plan->derived,
            plan->derived == 1 ? "y" : "ies", plan->derived == 1 ? "s" : "");
    err_reason(e, "derived");
    return err_hint(e, "--with-derived erases them too, --leave-derived leaves them; --dry-run "
                       "lists them");
}

/* The entries items[from..to) of one thread, a batch at a time. */
static enum status erase_entries(struct log *l, const struct erase_plan *plan,
                                 const struct erase_how *how, size_t from, size_t to, struct err *e)
{
    struct arena scratch = { 0 };
    enum status  s = ST_OK;
    size_t       i = from;

    while (i < to && !s) {
        struct entry *batch = ARENA_NEW(&scratch, struct entry, BATCH);
        size_t        n = 0, bytes = 0;
        for (; i < to && !s && n < BATCH && bytes < BATCH_BYTES; i++) {
            const struct erase_item *x = &plan->items.v[i];
            struct store_query       q = { .thread = x->thread, .from = x->seq, .to = x->seq };
            bool                     found = false;
            if (!goes(x, how))
                continue;
            s = store_first(l->store, &q, &scratch, &batch[n], &found, e);
            if (!s && found) {
                skeleton_fill(&batch[n], &scratch);
                bytes += batch[n++].payload.n;
            }
        }
        if (!s)
            s = store_erase(l->store, plan->items.v[from].thread, batch, n, e);
        arena_free(&scratch);
    }
    return s;
}

/* {"files":[…],"left":[…],"reason":…,"seqs":[…]} of one thread; the plan's own has the rest too. */
static struct sv erasure_payload(const struct erase_plan *plan, const struct erase_how *how,
                                 struct sv thread, size_t from, size_t to, struct arena *a)
{
    bool      own = sv_eq(thread, plan->thread);
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; own && i < how->n_files; i++)
        jw_str(&w, how->files[i]);
    jw_close(&w, ']');
    jw_key(&w, "left");
    jw_open(&w, '[');
    for (size_t i = 0; own && i < plan->items.n; i++) {
        const struct erase_item *x = &plan->items.v[i];
        if (goes(x, how))
            continue;
        jw_open(&w, '{');
        jw_kint(&w, "seq", x->seq);
        jw_kstr(&w, "thread", x->thread);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    jw_kstr(&w, "reason", how->reason);
    jw_key(&w, "seqs");
    jw_open(&w, '[');
    for (size_t i = from; i < to; i++)
        if (goes(&plan->items.v[i], how))
            jw_int(&w, plan->items.v[i].seq);
    jw_close(&w, ']');
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status erase_thread(struct log *l, const struct erase_plan *plan,
                                const struct erase_how *how, size_t from, size_t to, int64_t *seq,
                                struct err *e)
{
    struct arena      scratch = { 0 };
    struct sv         thread = plan->items.v[from].thread;
    bool              own = sv_eq(thread, plan->thread);
    struct entry      note = { .at = how->at,
                               .kind = SV("erasure"),
                               .actor = how->actor,
                               .op_id = own ? how->op_id : (struct sv){ 0 },
                               .payload = erasure_payload(plan, how, thread, from, to, &scratch),
                               .refs = SV("{}") };
    struct store_head head;
    enum status       s = erase_entries(l, plan, how, from, to, e);

    if (!s)
        s = log_append(l, thread, LOG_ANY_REV, &note, 1, &head, e);
    if (!s) /* rows hold words too */
        s = log_rebuild(l, thread, NULL, NULL, e);
    if (!s && own)
        *seq = note.seq;
    arena_free(&scratch);
    return s;
}

/* Is any of items[from..to) erased? */
static bool any_goes(const struct erase_plan *plan, const struct erase_how *how, size_t from,
                     size_t to)
{
    while (from < to && !goes(&plan->items.v[from], how))
        from++;
    return from < to;
}

enum status erase_run(struct log *l, const struct erase_plan *plan, const struct erase_how *how,
                      int64_t *seq, struct err *e)
{
    size_t to;

    *seq = -1;
    if (check_how(plan, how, e))
        return err_code(e);
    for (size_t from = 0; from < plan->items.n; from = to) {
        struct sv thread = plan->items.v[from].thread;
        for (to = from; to < plan->items.n && sv_eq(plan->items.v[to].thread, thread);)
            to++;
        if (any_goes(plan, how, from, to) && erase_thread(l, plan, how, from, to, seq, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(thread));
    }
    return ST_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

static enum status read_pending(struct log *l, struct sv thread, int64_t seq, struct arena *a,
                                struct erase_pending *out, struct err *e)
{
    struct store_query q = { .thread = thread, .from = seq, .to = seq };
    struct entry       n;
    struct json        p;
    bool               found;

    *out = (struct erase_pending){ .thread = thread, .seq = seq };
    if (store_first(l->store, &q, a, &n, &found, e))
        return err_code(e);
    if (!found || !kind_is_sound(&n) || json_parse(n.payload, 0, a, &p, e))
        return ST_OK;
    const struct json *files = json_find(&p, "files");
    out->n_files = json_is(files, JSON_ARRAY) ? files->n : 0;
    out->files = ARENA_NEW(a, struct sv, out->n_files + 1);
    for (size_t i = 0; i < out->n_files; i++)
        out->files[i] = json_sv(&files->items[i]);
    return ST_OK;
}

struct pending_list {
    VEC(struct erase_pending) list;
};

static enum status pending_of(struct log *l, struct sv thread, struct arena *a,
                              struct pending_list *to, struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { .thread = thread,
                                                   .view = sv_of(thread_view.name),
                                                   .prefix = SV("erasure/") };
    struct store_row                         row;
    bool                                     more = true;

    if (store_rows(l->store, &q, &rows, e))
        return err_code(e);
    for (;;) {
        int64_t seq;
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (sv_to_int(sv_skip(row.key, q.prefix.n), &seq) &&
            read_pending(l, thread, seq, a, vec_push(&to->list, a), e))
            return err_code(e);
    }
}

enum status erase_pending(struct log *l, struct arena *a, struct erase_pending **out, size_t *n,
                          struct err *e)
{
    struct store_thread *threads;
    struct pending_list  to = { 0 };
    size_t               count;

    if (store_threads(l->store, a, &threads, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (!threads[i].damaged && pending_of(l, threads[i].id, a, &to, e))
            return err_code(e);
    *out = to.list.v;
    *n = to.list.n;
    return ST_OK;
}

static enum status append_done(struct log *l, const struct erase_pending *p, struct sv actor,
                               int64_t at, struct err *e)
{
    char              payload[64];
    struct store_head head;
    struct sb         b = sb_on(payload, sizeof payload, NULL);

    sb_addf(&b, "{\"erasure\":%lld}", (long long)p->seq);
    struct entry n = {
        .at = at, .kind = SV("erasure_done"), .actor = actor, .payload = sb_sv(&b), .refs = SV("{}")
    };
    return log_append(l, p->thread, LOG_ANY_REV, &n, 1, &head, e);
}

enum status erase_done(struct log *l, const struct erase_pending *list, size_t n, struct sv actor,
                       int64_t at, struct err *e)
{
    if (!n)
        return ST_OK;
    if (log_begin(l, (struct sv){ 0 }, STORE_WRITE, e))
        return err_code(e);
    enum status s = ST_OK;
    for (size_t i = 0; i < n && !s; i++)
        s = append_done(l, &list[i], actor, at, e);
    if (!s)
        return log_commit(l, e);
    log_abort(l);
    return s;
}

/* ---- imports -------------------------------------------------------------------------------- */

static enum status chains_of(struct log *l, struct sv thread, struct arena *a, struct map *out,
                             struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = thread, .to = STORE_TO_END };
    struct entry                             n;
    bool                                     more = true;

    if (store_scan(l->store, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (n.erased)
            map_put(out, hash_hex(&n.chain, a), out);
    }
}

enum status erased_chains(struct log *l, struct arena *a, struct map *out, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    *out = map_in(a);
    if (store_threads(l->store, a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sv row;
        bool      any = false;
        if (list[i].damaged)
            continue;
        if (log_row_get(l, list[i].id, &thread_view, SV("erased"), a, &row, &any, e) ||
            (any && chains_of(l, list[i].id, a, out, e)))
            return err_code(e);
    }
    return ST_OK;
}

/* What is left of an entry, as it is imported. */
static void leave_skeleton(struct entry *n, struct arena *a)
{
    skeleton_fill(n, a);
    n->payload = n->skeleton;
    n->refs = SV("{}");
    n->salted = false;
    n->erased = true;
}

void erased_again(const struct map *chains, struct entry *n, const struct hash *chain,
                  struct arena *a, int64_t *n_erased)
{
    if (!chains->n || !n->salted || !map_has(chains, hash_hex(chain, a)))
        return;
    leave_skeleton(n, a);
    ++*n_erased;
}

/* The entries that one erasure names and that still have content. */
static enum status replay_one(struct log *l, struct sv thread, const struct entry *n,
                              int64_t *n_erased, struct err *e)
{
    struct arena a = { 0 };
    struct json  p;
    enum status  s = json_parse(n->payload, 0, &a, &p, e);

    const struct json *seqs = s ? NULL : json_find(&p, "seqs");
    for (size_t i = 0; !s && json_is(seqs, JSON_ARRAY) && i < seqs->n; i++) {
        struct store_query q = { .thread = thread, .from = -1 };
        struct entry       one;
        bool               found = false;
        json_int(&seqs->items[i], &q.from);
        q.to = q.from;
        if (q.from < 0 || q.from >= n->seq)
            continue;
        s = store_first(l->store, &q, &a, &one, &found, e);
        if (s || !found || !one.salted || !skeleton_has_content(&one, &a))
            continue;
        skeleton_fill(&one, &a);
        s = store_erase(l->store, thread, &one, 1, e);
        ++*n_erased;
    }
    arena_free(&a);
    return s;
}

enum status erase_replay(struct log *l, struct sv thread, const struct entry *entries, size_t n,
                         int64_t *n_erased, struct err *e)
{
    int64_t before = *n_erased;

    for (size_t i = 0; i < n; i++)
        if (kind_of(entries[i].kind) == KIND_ERASURE && kind_is_sound(&entries[i]) &&
            replay_one(l, thread, &entries[i], n_erased, e))
            return err_code(e);
    return *n_erased == before ? ST_OK : log_rebuild(l, thread, NULL, NULL, e);
}
