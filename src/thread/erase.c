/* Finding everything that an erasure must erase. */
#include "thread/erase.h"

#include "store/store.h"
#include "thread/anchor.h"
#include "thread/kind_check.h"
#include "thread/limits.h"
#include "thread/project.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

#include <stdlib.h>

/* ---- what the caller asks for --------------------------------------------------------------- */

struct erase_finding {
    struct log              *log;
    const struct erase_what *what;
    struct erase_plan       *plan;
    struct arena            *a;
    struct map               names;     /* ids of the nodes that go -> their seq, as an item */
    struct map               docs;      /* paths of documents whose writes go -> the same */
    struct map               responses; /* hashes of the answers that messages came from */
    struct map               requests;  /* what op_ids of parts of a request begin with */
    int64_t                  shown;     /* the first message that goes, of `thread`; -1: none */
    unsigned char           *chosen;    /* one bit a seq of the thread */
    int64_t                  rev;
    bool                     messages; /* some of them are messages */
    bool                     hashed;   /* there are records of requests that are kept as a hash */
    struct sv                thread;   /* that is looked through */
};

static bool is_chosen(const struct erase_finding *f, int64_t seq)
{
    return seq >= 0 && seq < f->rev && f->chosen[seq >> 3] & 1 << (seq & 7);
}

/* Is this entry of the searched thread in the plan? */
static bool is_item(const struct erase_finding *f, int64_t seq)
{
    for (size_t i = 0; i < f->plan->items.n; i++)
        if (f->plan->items.v[i].seq == seq && sv_eq(f->plan->items.v[i].thread, f->thread))
            return true;
    return false;
}

static struct erase_item *add_item(struct erase_finding *f, struct sv thread, const struct entry *n)
{
    struct erase_item *item = vec_push(&f->plan->items, f->a);

    *item = (struct erase_item){ .thread = thread,
                                 .seq = n->seq,
                                 .kind = sv_dup(n->kind, f->a),
                                 .mark = n->mark,
                                 .fixed = !n->salted,
                                 .source = -1 };
    if (sv_eq(thread, f->plan->thread) && n->seq < f->rev)
        f->chosen[n->seq >> 3] |= (unsigned char)(1 << (n->seq & 7));
    if (sv_starts(n->op_id, SV("do:")))
        map_put(&f->requests, sv_cut(n->op_id, '/').head, f);
    if (n->mark == MARK_MESSAGE && (f->shown < 0 || n->seq < f->shown))
        f->shown = n->seq;
    return item;
}

/* Members whose values are ids and words of a format: those of refs tie the steps of a run
 * together, those of parts say what a part is. Unrelated entries have the same values, so a search
 * for them would find complete runs, and every message with a picture. */
static bool is_form(struct sv key, const struct json *v)
{
    static const char *const forms[] = {
        "agent",      "call_id", "context_ref", "event_seq",   "finish",       "format",
        "input_id",   "kind",    "media_type",  "mime_type",   "model",        "op_id",
        "provider",   "role",    "request_id",  "run_id",      "signal_id",    "source",
        "supersedes", "thread",  "type",        "tool_use_id", "tool_call_id", NULL,
    };
    struct sv text = json_is(v, JSON_STRING) ? json_sv(v) : (struct sv){ 0 };
    bool      known = false;

    for (size_t i = 0; forms[i] && !known; i++)
        known = sv_is(key, forms[i]);
    if (sv_is(key, "model")) /* PROVIDER:IDENTIFIER, and a script of the offline one has spaces */
        text = sv_cut(text, ':').head;
    /* A value with a space, or another character that ids do not have, is text that somebody wrote.
     */
    for (size_t i = 0; known && i < text.n; i++)
        known = sv_has(SV("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-./:+"),
                       text.s[i]);
    return known && text.n;
}

/* Every text below a value that is not in the skeleton. */
static void add_texts(struct needles *set, struct sv key, const struct json *v)
{
    if (v->type == JSON_STRING && !is_form(key, v))
        needles_add_text(set, json_sv(v));
    for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++)
        add_texts(set, key, &v->items[i]);
    for (size_t i = 0; v->type == JSON_OBJECT && i < v->n; i++)
        add_texts(set, v->members[i].key, &v->members[i].value);
}

/* Payload and skeleton side by side: they have the same shape. */
static void add_content(struct needles *set, struct sv key, const struct json *v,
                        const struct json *bare)
{
    if (bare->type != v->type)
        add_texts(set, key, v);
    if (v->type != bare->type || v->n != bare->n)
        return;
    for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++)
        add_content(set, key, &v->items[i], &bare->items[i]);
    for (size_t i = 0; v->type == JSON_OBJECT && i < v->n; i++)
        add_content(set, v->members[i].key, &v->members[i].value, &bare->members[i].value);
}

/* A raw answer also holds the fixed words of its provider's format, which all its answers have. A
 * JSON document has the text in its strings; a stream has it in small pieces, which no search can
 * find. The message that was made from the answer has the hash of it. */
static void add_body(struct erase_finding *f, struct sv body, struct arena *scratch)
{
    struct json v;
    struct err  ignored;

    if (body.n && json_parse(body, 0, scratch, &v, &ignored) == ST_OK)
        add_texts(&f->plan->needles, (struct sv){ 0 }, &v);
}

static void add_payload(struct erase_finding *f, enum kind kind, const struct json *p,
                        const struct json *bare, struct arena *scratch)
{
    bool answer = kind == KIND_MODEL_RESPONSE;

    for (size_t i = 0; p->type == JSON_OBJECT && i < p->n && i < bare->n; i++) {
        struct sv key = p->members[i].key;
        if (answer && sv_is(key, "body"))
            add_body(f, json_text(p, "body"), scratch);
        else if (!answer || !sv_is(key, "headers"))
            add_content(&f->plan->needles, key, &p->members[i].value, &bare->members[i].value);
    }
}

static void add_name(struct erase_finding *f, struct map *to, struct sv name, const struct entry *n)
{
    if (!name.n || map_has(to, name))
        return;
    int64_t *seq = ARENA_NEW(f->a, int64_t, 1);
    *seq = n->seq;
    map_put(to, name, seq);
}

/* The names by which other entries refer to a node. */
static void add_names(struct erase_finding *f, const struct entry *n, const struct json *p)
{
    const struct json *node = json_find(p, "node");

    add_name(f, &f->names, entry_id(n, f->a), n);
    add_name(f, &f->names, json_text(node, "id"), n);
    add_name(f, &f->names, json_text(node, "local_id"), n);
}

/* The raw answer of a message holds its text too; a stream holds it in small pieces, which no
 * search can find. */
static void add_response(struct erase_finding *f, const struct entry *n, const struct json *p)
{
    struct sv hash = json_text(json_find(p, "node"), "response");

    if (kind_of(n->kind) == KIND_AI_MESSAGE && hash.n)
        map_put(&f->responses, sv_dup(hash, f->a), f);
}

static enum status ask_for(struct erase_finding *f, const struct entry *n, struct err *e)
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
        add_payload(f, kind_of(n->kind), &p, &bare, &scratch);
        add_response(f, n, &p);
        if (kind_of(n->kind) == KIND_AI_MESSAGE)
            add_names(f, n, &p);
        if (kind_of(n->kind) == KIND_DOCUMENT_WRITE)
            add_name(f, &f->docs, json_text(&p, "path"), n);
        if (n->refs.n && !json_parse(n->refs, 0, &scratch, &p, e))
            add_texts(&f->plan->needles, (struct sv){ 0 }, &p);
    }
    arena_free(&scratch);
    return s;
}

static bool is_meant(const struct erase_what *w, const struct entry *n)
{
    return (w->actor.s && sv_eq(n->actor, w->actor)) || (w->before && n->at < w->before);
}

static enum status ask_for_meant(void *ctx, const struct entry *n, struct err *e)
{
    struct erase_finding *f = ctx;

    return is_meant(f->what, n) ? ask_for(f, n, e) : ST_OK;
}

static enum status find_asked(struct erase_finding *f, struct err *e)
{
    const struct erase_what *w = f->what;
    struct store_query       q = { .thread = w->thread };
    struct entry             n;
    bool                     found;

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
    return log_each_entry(f->log, w->thread, ask_for_meant, f, e);
}

/* ---- what was derived from it --------------------------------------------------------------- */

/* The seq of the chosen node with this name; -1: none. */
static int64_t chosen_node(struct erase_finding *f, struct sv name)
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
static enum status shown_in_snapshot(struct erase_finding *f, const struct entry *n,
                                     int64_t *source, struct err *e)
{
    struct arena         a = { 0 };
    struct projection    p;
    struct projection_of of = { .thread = f->plan->thread, .lane = n->lane, .upto = n->seq - 1 };
    enum status          s = project_start(f->log, &of, &a, &p, e);

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

static int64_t shown_by_action(struct erase_finding *f, const struct json *p)
{
    const struct json *shows = json_find(p, "shows");
    int64_t            source = -1;

    for (size_t i = 0; json_is(shows, JSON_ARRAY) && i < shows->n && source < 0; i++)
        source = chosen_node(f, json_text(&shows->items[i], "node"));
    return source;
}

/* A sealed token cannot be searched; any other is searched as text. */
static bool is_sealed(struct sv token, struct arena *a)
{
    struct sv   bytes;
    struct json v;
    struct err  ignored;
    struct sv   head = sv_cut(sv_skip(token, token.n < 4 ? token.n : 4), '.').head;

    return !base64url_read(head, a, &bytes) || json_parse(bytes, 0, a, &v, &ignored) ||
           json_find(&v, "sealed");
}

/* How a summary was derived: of a message, of a document, or of the tree; NULL when it was not. */
static const char *summary_of(struct erase_finding *f, const struct json *target, int64_t *source)
{
    struct sv      node = json_text(target, "node"), doc = json_text(target, "doc");
    const int64_t *written = doc.n ? map_find(&f->docs, doc) : NULL;

    if (node.n)
        return (*source = chosen_node(f, node)) >= 0 ? "is a summary of it" : NULL;
    if (written) {
        *source = *written;
        return "is a summary of the document it wrote";
    }
    return !doc.n && f->messages ? "is a summary of the tree it stood in" : NULL;
}

static const char *memory_of(struct erase_finding *f, const struct json *p, int64_t *source)
{
    struct sv node = json_text(json_find(p, "target"), "node");

    if (node.n && json_text(p, "text").n)
        *source = chosen_node(f, node);
    return *source >= 0 ? "keeps it in an agent's memory" : NULL;
}

static bool has_snapshot(const struct entry *n, const struct json *p)
{
    return n->lane.n && json_find(json_find(p, "operation"), "result_context");
}

/* How an entry was derived, judged by its structure; NULL when it was not. */
static enum status derived_how(struct erase_finding *f, const struct entry *n, struct arena *a,
                               const char **why, int64_t *source, struct err *e)
{
    struct json p;

    *why = NULL;
    *source = -1;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    switch ((int)kind_of(n->kind)) {
    case KIND_AI_CONTEXT_OPERATION:
    case KIND_CONTEXT_OP_DEFERRED:
        if (has_snapshot(n, &p) && shown_in_snapshot(f, n, source, e))
            return err_code(e);
        *why = *source >= 0 ? "is a snapshot of a context that showed it" : NULL;
        break;
    case KIND_SUMMARY: *why = summary_of(f, json_find(&p, "target"), source); break;
    case KIND_MEMORY_OPERATION: *why = memory_of(f, &p, source); break;
    case KIND_TOOL_ACTION:
        *source = shown_by_action(f, &p);
        *why = *source >= 0 ? "is a command that showed it" : NULL;
        break;
    case KIND_RUN_CHECKPOINT:
        if (f->messages && is_sealed(json_text(&p, "token"), a))
            *why = "is a sealed checkpoint, which may hold it";
        break;
    }
    return ST_OK;
}

static void add_kept(struct erase_finding *f, const struct entry *n, const char *why)
{
    *vec_push(&f->plan->kept, f->a) = (struct erase_item){
        .thread = f->thread, .seq = n->seq, .kind = sv_dup(n->kind, f->a), .why = why, .source = -1
    };
}

/* Does what stays of an entry hold one of the texts: an id, a path, the name of a member? */
static void note_skeleton(struct erase_finding *f, const struct entry *n, bool in_payload,
                          struct arena *a)
{
    const struct needles *set = &f->plan->needles;

    if ((in_payload && needles_in_json(set, skeleton_of(n->kind, n->payload, a))) ||
        needles_find(set, n->lane) || needles_find(set, n->actor) || needles_find(set, n->id) ||
        needles_find(set, n->op_id))
        add_kept(f, n, "has it in an id, a path or a name");
}

static enum status add_derived(struct erase_finding *f, const struct entry *n, const char *why,
                               int64_t source, struct arena *a, struct err *e)
{
    struct erase_item *item;
    struct json        p;

    if (!skeleton_has_content(n, a))
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    item = add_item(f, f->thread, n);
    item->why = why;
    item->source = source;
    f->plan->derived++;
    add_response(f, n, &p);
    return ST_OK;
}

/* The thinking of an answer has a hash over all messages before it. The answer is not erased
 * because of that: its own text is not theirs. */
static enum status note_thinking(struct erase_finding *f, const struct entry *n, struct arena *a,
                                 struct err *e)
{
    struct json p;

    if (f->shown < 0 || n->mark != MARK_MESSAGE || sv_find(n->payload, SV("\"prefix\"")) < 0)
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    if (json_text(json_find(&p, "reasoning_details"), "prefix").n)
        add_kept(f, n, "has a hash over all that stood before it");
    return ST_OK;
}

/* Has the record of an operation only a hash of what was asked, because it was long? *record is
 * what the record says. */
static bool has_hashed_request(const struct entry *n, struct arena *a, struct json *record)
{
    struct err ignored;

    return kind_of(n->kind) == KIND_OPERATION_DONE && !n->erased &&
           json_parse(n->payload, 0, a, record, &ignored) == ST_OK &&
           json_is(json_find(record, "request"), JSON_STRING);
}

static enum status look_at(void *ctx, const struct entry *n, struct err *e)
{
    struct erase_finding *f = ctx;
    bool                  same = sv_eq(f->thread, f->plan->thread);
    bool                  in_payload = needles_in_json(&f->plan->needles, n->payload);
    struct arena          scratch = { 0 };
    const char           *why = NULL;
    int64_t               source = -1;
    enum status           s = ST_OK;

    note_skeleton(f, n, in_payload, &scratch);
    f->hashed = f->hashed || has_hashed_request(n, &scratch, &(struct json){ 0 });
    if (!n->erased && !(same && is_chosen(f, n->seq))) {
        if (same)
            s = derived_how(f, n, &scratch, &why, &source, e);
        if (!why && kind_of(n->kind) == KIND_MODEL_REQUEST && f->shown >= 0 && f->shown < n->seq)
            why = "has the hash of a request that may have shown it";
        if (!why && (in_payload || needles_in_json(&f->plan->needles, n->refs)))
            why = "holds the same text";
        if (!s)
            s = why ? add_derived(f, n, why, source, &scratch, e)
                    : note_thinking(f, n, &scratch, e);
    }
    arena_free(&scratch);
    return s;
}

/* May this record be that of an operation which wrote an entry that goes? It stands behind the
 * entries, in their thread; or in .global, and its answer names their thread. */
static bool may_have_written(const struct erase_finding *f, const struct entry *n,
                             const struct json *record)
{
    const struct json *answer = json_find(record, "answer");
    bool               global = sv_eq(f->thread, ANCHOR_THREAD), may = false;

    for (size_t i = 0; i < f->plan->items.n && !may; i++) {
        const struct erase_item *x = &f->plan->items.v[i];
        if (sv_eq(x->thread, f->thread))
            may = x->seq < n->seq;
        else
            may = global && json_holds(answer, x->thread);
    }
    return may;
}

/* Is it an entry that has a hash of a request of which other entries are erased? */
static bool has_hash_of_request(struct erase_finding *f, const struct entry *n, struct arena *a)
{
    struct json record;

    if (n->erased)
        return false;
    if (kind_of(n->kind) == KIND_MEMORY_OPERATION && n->op_id.n)
        return map_has(&f->requests, sv_cut(log_part_op_id(n->op_id, "", a), '/').head);
    return has_hashed_request(n, a, &record) && may_have_written(f, n, &record);
}

/* A text can be guessed and compared with its hash. A hash is looked for once all items are known,
 * because they may be newer, or in other threads. */
static enum status look_for_request(void *ctx, const struct entry *n, struct err *e)
{
    struct erase_finding *f = ctx;
    struct arena          scratch = { 0 };
    enum status           s = ST_OK;

    if (has_hash_of_request(f, n, &scratch) && !is_item(f, n->seq))
        s = add_derived(f, n, "has a hash of the request it belongs to", -1, &scratch, e);
    arena_free(&scratch);
    return s;
}

static enum status find_requests(struct erase_finding *f, const struct store_thread *list, size_t n,
                                 struct err *e)
{
    for (size_t i = 0; (f->requests.n || f->hashed) && i < n; i++) {
        f->thread = list[i].id;
        if (log_each_entry(f->log, f->thread, look_for_request, f, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(f->thread));
    }
    return ST_OK;
}

static enum status find_derived(struct erase_finding *f, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    for (size_t i = 0; i < f->what->n_words; i++)
        if (!needles_add(&f->plan->needles, f->what->words[i])) {
            err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is too short to be looked for",
                    SV_ARG(f->what->words[i]));
            return err_hint(e, "give %d bytes or more", NEEDLE_MIN);
        }
    f->thread = f->plan->thread;
    if (log_each_entry(f->log, f->thread, look_at, f, e) ||
        store_threads(f->log->store, f->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (sv_eq(list[i].id, f->plan->thread))
            continue;
        f->thread = list[i].id;
        f->shown = -1;
        if (log_each_entry(f->log, f->thread, look_at, f, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(f->thread));
    }
    return find_requests(f, list, n, e);
}

/* Those of the plan's own thread first, then by thread and seq. */
static int by_place(const void *x, const void *y)
{
    const struct erase_item *a = x, *b = y;
    int                      order = sv_cmp(a->thread, b->thread);

    return order ? order : a->seq < b->seq ? -1 : a->seq > b->seq;
}

static enum status finding_of(struct log *l, const struct erase_what *what, struct erase_plan *plan,
                              struct erase_finding *out, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, what->thread, &h, e))
        return err_code(e);
    if (!h.rev) {
        log_no_thread(what->thread, e);
        return err_code(e);
    }
    *out =
        (struct erase_finding){ .log = l,
                                .what = what,
                                .plan = plan,
                                .a = plan->a,
                                .names = map_in(plan->a),
                                .docs = map_in(plan->a),
                                .responses = map_in(plan->a),
                                .requests = map_in(plan->a),
                                .chosen = ARENA_NEW(plan->a, unsigned char, (size_t)h.rev / 8 + 1),
                                .rev = h.rev,
                                .shown = -1 };
    return ST_OK;
}

static void sort_items(struct erase_plan *plan)
{
    if (plan->items.n)
        qsort(plan->items.v, plan->items.n, sizeof *plan->items.v, by_place);
}

/* ---- what names it by a hash ------------------------------------------------------------------
 */

struct hash_finding {
    struct erase_finding f;
    struct needles       hashes;
    bool                 answers; /* they are those of raw answers of models; else of files */
    struct map           known;   /* "THREAD SEQ" of the items that are in the plan */
};

static struct sv item_key(struct sv thread, int64_t seq, struct arena *a)
{
    return key_of_name_seq("", thread, seq, a);
}

static enum status look_for_hashes(void *ctx, const struct entry *n, struct err *e)
{
    struct hash_finding *h = ctx;
    struct arena         scratch = { 0 };

    (void)e;
    if (!n->erased && needles_in_json(&h->hashes, n->payload) &&
        skeleton_has_content(n, &scratch) &&
        !map_has(&h->known, item_key(h->f.thread, n->seq, &scratch))) {
        bool answer = h->answers && kind_of(n->kind) == KIND_MODEL_RESPONSE;
        add_item(&h->f, h->f.thread, n)->why = answer ? "is the answer of the model it came from"
                                               : h->answers
                                                   ? "names by its hash the answer it came from"
                                                   : "names a file that holds it by its hash";
        h->f.plan->derived++;
    }
    arena_free(&scratch);
    return ST_OK;
}

static enum status find_hashes(struct log *l, const struct erase_what *what,
                               const struct needles *hashes, bool answers, struct erase_plan *plan,
                               struct err *e)
{
    struct hash_finding  h = { .hashes = *hashes, .answers = answers, .known = map_in(plan->a) };
    struct store_thread *list;
    size_t               threads;

    if (!hashes->texts.n)
        return ST_OK;
    *vec_push(&plan->hashes, plan->a) = *hashes;
    if (finding_of(l, what, plan, &h.f, e) || store_threads(l->store, plan->a, &list, &threads, e))
        return err_code(e);
    for (size_t i = 0; i < plan->items.n; i++)
        map_put(&h.known, item_key(plan->items.v[i].thread, plan->items.v[i].seq, plan->a), plan);
    for (size_t i = 0; i < threads; i++) {
        h.f.thread = list[i].id;
        if (log_each_entry(l, h.f.thread, look_for_hashes, &h, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(h.f.thread));
    }
    sort_items(plan);
    return ST_OK;
}

enum status erase_find_hashes(struct log *l, const struct erase_what *what, const struct sv *hashes,
                              size_t n, struct erase_plan *plan, struct err *e)
{
    struct needles set = needles_in(plan->a);

    for (size_t i = 0; i < n; i++)
        needles_add(&set, hashes[i]);
    return find_hashes(l, what, &set, false, plan, e);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Where each thread ended: what is appended later is not in the plan. */
static enum status note_heads(struct log *l, struct erase_plan *plan, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    plan->heads = map_in(plan->a);
    if (store_threads(l->store, plan->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        map_put(&plan->heads, list[i].id, &list[i].head);
    return ST_OK;
}

enum status erase_find(struct log *l, const struct erase_what *what, struct arena *a,
                       struct erase_plan *out, struct err *e)
{
    struct needles        answers = needles_in(a);
    struct erase_finding *f = ARENA_NEW(a, struct erase_finding, 1);

    *out = (struct erase_plan){
        .thread = what->thread, .needles = needles_in(a), .a = a, .finding = f
    };
    if (finding_of(l, what, out, f, e) || note_heads(l, out, e) || find_asked(f, e) ||
        find_derived(f, e))
        return err_code(e);
    for (size_t i = 0; i < f->responses.n; i++)
        needles_add(&answers, f->responses.items[i].key);
    sort_items(out);
    return find_hashes(l, what, &answers, true, out, e);
}

/* ---- what came after the plan -----------------------------------------------------------------
 */

/* Is the thread the one that the plan saw, with entries behind it or none? */
static enum status goes_on(struct log *l, struct sv thread, const struct store_head *now,
                           const struct store_head *then, bool *same, struct err *e)
{
    struct hash chain = now->chain;

    *same = now->rev >= then->rev;
    if (*same && now->rev > then->rev &&
        store_chain_at(l->store, thread, then->rev - 1, &chain, same, e))
        return err_code(e);
    *same = *same && hash_eq(&chain, &then->chain);
    return ST_OK;
}

/* Does a new entry concern the plan? Then what else was derived from it has to be found, too. */
static enum status concerns(struct erase_finding *f, const struct entry *n, bool *out,
                            struct err *e)
{
    struct erase_plan *plan = f->plan;
    size_t             items = plan->items.n, kept = plan->kept.n;
    bool               own = sv_eq(f->thread, plan->thread);

    *out = kind_of(n->kind) == KIND_ERASURE || (own && is_meant(f->what, n));
    for (size_t i = 0; i < plan->hashes.n && !*out; i++)
        *out = needles_in_json(&plan->hashes.v[i], n->payload);
    if (*out)
        return ST_OK;
    if (look_at(f, n, e) || look_for_request(f, n, e))
        return err_code(e);
    *out = plan->items.n > items || plan->kept.n > kept;
    return ST_OK;
}

static enum status check_tail(struct log *l, struct erase_plan *plan, struct sv thread,
                              int64_t from, bool *stands, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct erase_finding                    *f = plan->finding;
    struct store_query q = { .thread = thread, .from = from, .to = STORE_TO_END };
    struct entry       n;
    bool               more = true, found = false;

    f->thread = thread;
    f->shown = -1;
    for (size_t i = 0; i < plan->items.n; i++)
        if (plan->items.v[i].mark == MARK_MESSAGE && sv_eq(plan->items.v[i].thread, thread) &&
            (f->shown < 0 || plan->items.v[i].seq < f->shown))
            f->shown = plan->items.v[i].seq;
    if (store_scan(l->store, &q, &scan, e))
        return err_code(e);
    while (more && !found) {
        if (store_next(scan, &n, &more, e) || (more && concerns(f, &n, &found, e)))
            return err_code(e);
    }
    *stands = !found;
    return ST_OK;
}

enum status erase_check(struct log *l, struct erase_plan *plan, bool *stands, struct err *e)
{
    struct store_thread *list;
    size_t               n, known = 0;
    int64_t              behind = 0;

    *stands = true;
    plan->finding->log = l;
    plan->finding->plan = plan;
    if (store_threads(l->store, plan->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n && *stands; i++) {
        const struct store_head *then = map_find(&plan->heads, list[i].id);
        known += then != NULL;
        behind += list[i].head.rev - (then ? then->rev : 0);
        if (then && goes_on(l, list[i].id, &list[i].head, then, stands, e))
            return err_code(e);
    }
    *stands = *stands && known == plan->heads.n && behind <= ERASE_TAIL;
    for (size_t i = 0; i < n && behind && *stands; i++) {
        const struct store_head *then = map_find(&plan->heads, list[i].id);
        int64_t                  from = then ? then->rev : 0;
        if (from < list[i].head.rev && check_tail(l, plan, list[i].id, from, stands, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
    }
    return ST_OK;
}
