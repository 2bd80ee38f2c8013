/* Appending nodes, edits and other changes of the tree, each after its checks. */
#include "loom/write.h"

#include "base/rand.h"
#include "base/utf8.h"
#include "loom/loom_internal.h"
#include "thread/kind.h"
#include "thread/project.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* What does not spell an id is drawn again here. loom_local_id_new() would count it like an id that
 * is taken, and make one of 80 ids longer in a tree that has all short ones left. */
static void draw_random(void *ctx, unsigned char *out, size_t n)
{
    (void)ctx;
    do
        rand_bytes(out, n);
    while (!loom_local_id_is_spelled(out, n));
}

/* The first call returns the bytes that were drawn before, if there are as many; later calls draw
 * new ones. */
static void draw_first(void *ctx, unsigned char *out, size_t n)
{
    struct drawn *first = ctx;

    if (first->n == n)
        memcpy(out, first->raw, n);
    else
        draw_random(NULL, out, n);
    first->n = 0;
}

/* ---- entries ---------------------------------------------------------------------- */

static struct sv canonical(struct loom *l, struct sv text, struct err *e)
{
    struct json v;

    return json_parse(text, 0, l->a, &v, e) ? (struct sv){ 0 } : json_canonical(&v, l->a);
}

static enum status append(struct loom *l, struct entry *entries, size_t n, int64_t *last,
                          struct err *e)
{
    struct store_head head;

    if (log_append(l->log, l->thread, LOG_ANY_REV, entries, n, &head, e))
        return err_code(e);
    *last = head.rev - 1;
    return ST_OK;
}

/* {"input_id","request_id","run_id"}; absent for what is of no run. */
static struct sv run_refs(struct loom *l, const struct loom_run *run, struct sv input)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!run->id.n)
        return (struct sv){ 0 };
    jw_open(&w, '{');
    if (input.n)
        jw_kstr(&w, "input_id", input);
    jw_kstr(&w, "request_id", run->id);
    jw_kstr(&w, "run_id", run->id);
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status loom_put(struct loom *l, const struct loom_record *r, int64_t *seq, struct err *e)
{
    struct entry n = { .at = l->now,
                       .kind = sv_of(r->kind),
                       .actor = r->agent,
                       .payload = r->payload,
                       .refs = run_refs(l, &r->run, (struct sv){ 0 }),
                       .op_id = r->op_id };
    int64_t      at;

    if (!json_is_canonical(r->payload))
        n.payload = canonical(l, r->payload, e);
    if (!n.payload.s)
        return err_code(e);
    return append(l, &n, 1, seq ? seq : &at, e);
}

enum status loom_append(struct loom *l, struct sv agent, const char *kind, struct sv payload,
                        int64_t *seq, struct err *e)
{
    return loom_put(l, &(struct loom_record){ .agent = agent, .kind = kind, .payload = payload },
                    seq, e);
}

static struct jw object(struct sb *b, struct sv agent)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    return w;
}

/* ---- nodes ------------------------------------------------------------------------ */

static void write_node(struct jw *w, const struct new_node *n, struct sv id, struct sv local)
{
    jw_key(w, "node");
    jw_open(w, '{');
    jw_kstr(w, "author", n->author);
    jw_kstr(w, "id", id);
    jw_kstr(w, "local_id", local);
    jw_key(w, "parent");
    jw_str(w, n->parent ? n->parent->local : (struct sv){ 0 });
    jw_kstr(w, "via", sv_of(n->via));
    if (n->as.n && !sv_is(n->as, "continuation"))
        jw_kstr(w, "as", n->as);
    if (n->edited_from)
        jw_kstr(w, "edited_from", n->edited_from->local);
    if (n->version)
        jw_kbool(w, "version", true);
    if (n->response.n)
        jw_kstr(w, "response", n->response);
    if (n->asked_by.n)
        jw_kstr(w, "asked_by", n->asked_by);
    if (n->extensions.n) {
        jw_key(w, "extensions");
        jw_raw(w, n->extensions);
    }
    jw_close(w, '}');
}

static struct sv message(struct loom *l, const struct new_node *n, struct sv lane, struct sv local,
                         struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (n->run.agent.n && !sv_eq(n->run.agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", n->run.agent);
    jw_kstr(&w, "content", n->text);
    jw_kstr(&w, "context_ref", lane);
    write_node(&w, n, rand_id("", 26, l->a), local);
    if (n->details.n) {
        jw_key(&w, "reasoning_details");
        jw_raw(&w, n->details);
    }
    if (n->run.id.n)
        jw_kstr(&w, "request_id", n->run.id);
    jw_kstr(&w, "role", n->kind == AUTHOR_MODEL ? SV("assistant") : SV("user"));
    if (n->run.id.n)
        jw_kstr(&w, "run_id", n->run.id);
    if (n->thinking.n)
        jw_klossy(&w, "thinking", n->thinking);
    jw_close(&w, '}');
    return canonical(l, sb_sv(&b), e);
}

/* The last entry that a branch from this node shares with the node's lane: the node, or a snapshot
 * that was made of the context it ends, such as a compaction. */
static enum status fork_seq(struct loom *l, const struct node *from, int64_t *seq, struct err *e)
{
    struct stretch behind = { from->lane, from->seq + 1, 0 };
    int64_t        anchor, after;

    if (lane_reach(l->log, l->thread, from->lane, from->seq, &behind.to, e) ||
        project_anchor(l->log, l->thread, &behind, &anchor, &after, e))
        return err_code(e);
    *seq = anchor >= 0 ? anchor : from->seq;
    return ST_OK;
}

static struct sv fork_op(struct loom *l, const struct node *from, struct sv lane, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);
    int64_t   seq;

    if (fork_seq(l, from, &seq, e))
        return (struct sv){ 0 };
    jw_open(&w, '{');
    jw_kstr(&w, "context_ref", lane);
    jw_kstr(&w, "op_id", rand_id("op_", 16, l->a));
    jw_key(&w, "operation");
    jw_open(&w, '{');
    jw_key(&w, "from");
    jw_open(&w, '{');
    jw_kstr(&w, "lane", from->lane);
    jw_kint(&w, "seq", seq);
    jw_close(&w, '}');
    jw_kstr(&w, "reason", SV("manual"));
    jw_kstr(&w, "type", SV("fork"));
    jw_close(&w, '}');
    jw_close(&w, '}');
    return canonical(l, sb_sv(&b), e);
}

static struct sv lane_named(const char *prefix, struct sv local, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, prefix);
    for (size_t i = 0; i < local.n; i++)
        sb_addc(&b, local.s[i] == '\'' ? '_' : local.s[i]);
    return sb_sv(&b);
}

/* The lane a new node goes on, and the node it has to be forked from (NULL: it is there). */
static enum status choose_lane(struct loom *l, const struct new_node *n, struct sv local,
                               struct sv *lane, const struct node **fork, struct err *e)
{
    struct rows     r = rows_of_loom(l);
    struct lane_end end;

    *fork = NULL;
    *lane = n->parent && !n->version ? n->parent->lane : LANE_DEFAULT;
    if (rows_lane(&r, *lane, &end, e))
        return err_code(e);
    if (!n->version && end.tip == (n->parent ? n->parent->seq : NO_NODE))
        return ST_OK;
    *lane = lane_named(n->version ? "v-" : "b-", local, l->a);
    *fork = n->parent;
    return ST_OK;
}

static enum status check_text(struct sv text, struct err *e)
{
    if (!sv_trim(text).n)
        return err_set(e, ST_INVALID_SYNTAX, "the text is empty");
    ptrdiff_t bad = utf8_invalid(text);
    if (bad >= 0)
        return err_set(e, ST_INVALID_SYNTAX, "the text is not UTF-8 (byte %td)", bad + 1);
    return ST_OK;
}

/* A model's answer is kept even if another agent holds the node by now; a version does not extend
 * the node. */
static bool needs_lease(const struct new_node *n)
{
    struct sv via = sv_of(n->via);

    return !n->version && !n->run.id.n && !sv_is(via, "continue") && !sv_is(via, "import");
}

enum status loom_add(struct loom *l, const struct new_node *n, struct node *out, struct err *e)
{
    struct rows        r = rows_of_loom(l);
    struct entry       entries[2] = { 0 };
    size_t             count = 0;
    const struct node *fork;
    struct sv          local = n->local, lane;
    struct drawn       first = { 0 };
    int64_t            seq;

    if (!n->extensions.s && check_text(n->text, e)) /* an imported node may be empty */
        return err_code(e);
    if (!local.n && loom_local_id_want(&r, draw_random, NULL, &first, e))
        return err_code(e);
    if (n->parent && needs_lease(n) && lease_check(l, n->author, n->parent, e))
        return err_code(e);
    if (!local.n && loom_local_id_new(&r, draw_first, &first, &local, e))
        return err_code(e);
    if (choose_lane(l, n, local, &lane, &fork, e))
        return err_code(e);
    if (fork)
        entries[count++] = (struct entry){ .at = n->at ? n->at : l->now,
                                           .kind = sv_of(kind_name(KIND_AI_CONTEXT_OPERATION)),
                                           .actor = n->author,
                                           .lane = lane,
                                           .payload = fork_op(l, fork, lane, e) };
    entries[count++] = (struct entry){ .at = n->at ? n->at : l->now,
                                       .kind = sv_of(kind_name(KIND_AI_MESSAGE)),
                                       .actor = n->author,
                                       .lane = lane,
                                       .payload = message(l, n, lane, local, e),
                                       .refs = run_refs(l, &n->run, n->input),
                                       .op_id = n->op_id };
    for (size_t i = 0; i < count; i++)
        if (!entries[i].payload.s)
            return err_code(e);
    return append(l, entries, count, &seq, e) ? err_code(e) : rows_node(&r, seq, out, e);
}

/* The original's id with one more mark than its newest edit. */
static enum status edit_id(struct loom *l, struct sv local, struct sv *out, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct sb   b = sb_in(l->a, 0);
    int64_t     taken;

    while (local.n && local.s[local.n - 1] == '\'')
        local.n--;
    sb_add(&b, local);
    do {
        sb_addc(&b, '\'');
        if (row_int(&r, key_of_name("l", sb_sv(&b), l->a), NO_NODE, &taken, e))
            return err_code(e);
    } while (taken != NO_NODE);
    *out = sb_sv(&b);
    return ST_OK;
}

enum status loom_edit(struct loom *l, const struct node *target, struct sv text, struct sv author,
                      enum author_kind kind, struct node *out, bool *in_place, struct err *e)
{
    struct new_node n = {
        .text = text, .author = author, .kind = kind, .via = "edit", .edited_from = target
    };
    struct node parent;

    if (loom_is_buffer(l, in_place, e))
        return err_code(e);
    if (!*in_place && target->parent == NO_NODE) {
        err_set(e, ST_INVALID_SYNTAX, "the root cannot be edited in dialogue mode");
        return err_hint(e, "respond to it, or start another tree");
    }
    if (*in_place ? lease_check_path(l, author, target, e) : lease_check(l, author, target, e))
        return err_code(e);
    n.version = *in_place;
    n.text = *in_place ? text : sv_trim(text);
    if (target->parent != NO_NODE) {
        struct node slot;
        if (node_at(l, target->parent, &slot, e) || node_version(l, author, &slot, &parent, e))
            return err_code(e);
        n.parent = &parent;
    }
    if (edit_id(l, target->local, &n.local, e))
        return err_code(e);
    return loom_add(l, &n, out, e);
}

enum status loom_switch(struct loom *l, struct sv agent, enum author_kind kind,
                        const struct node *to, struct err *e)
{
    struct sb    b = sb_in(l->a, 0);
    struct jw    w = object(&b, agent);
    struct entry n = { .at = l->now,
                       .kind = sv_of(kind_name(KIND_AI_CONTEXT_OPERATION)),
                       .actor = agent,
                       .lane = to->lane };
    int64_t      seq;

    jw_kstr(&w, "context_ref", to->lane);
    jw_kstr(&w, "op_id", rand_id("op_", 16, l->a));
    jw_key(&w, "operation");
    jw_open(&w, '{');
    jw_key(&w, "meta");
    jw_open(&w, '{');
    jw_kstr(&w, "kind", sv_of(author_kind_name(kind)));
    jw_kstr(&w, "node", to->local);
    jw_close(&w, '}');
    jw_kstr(&w, "reason", SV("manual"));
    jw_kstr(&w, "type", SV("switch"));
    jw_close(&w, '}');
    jw_close(&w, '}');
    n.payload = canonical(l, sb_sv(&b), e);
    return n.payload.s ? append(l, &n, 1, &seq, e) : e->code;
}

/* ---- marks ------------------------------------------------------------------------ */

enum status loom_mark(struct loom *l, struct sv agent, const char *mark, const struct node *n,
                      struct sv label, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = object(&b, agent);
    bool      on_path = !sv_is(sv_of(mark), "bookmark") && !sv_is(sv_of(mark), "unbookmark");

    if (on_path && lease_check_path(l, agent, n, e))
        return err_code(e);
    if (label.s)
        jw_kstr(&w, "label", label);
    jw_kstr(&w, "mark", sv_of(mark));
    jw_kstr(&w, "node", n->local);
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

enum status loom_below(struct loom *l, const struct node *n, int64_t *out, struct err *e)
{
    struct rows  r = rows_of_loom(l);
    struct tally t;
    struct node  slot = *n;

    if (slot.slot != slot.seq && rows_node(&r, slot.slot, &slot, e))
        return err_code(e);
    if (rows_tally(&r, &slot, &t, e))
        return err_code(e);
    *out = t.nodes - 1;
    return ST_OK;
}

static enum status check_words(const struct tree_words *w, struct err *e)
{
    if (w->mode.n && !sv_is(w->mode, "dialogue") && !sv_is(w->mode, "buffer")) {
        err_set(e, ST_INVALID_SYNTAX, "no such mode: '" SV_FMT "'", SV_ARG(w->mode));
        return err_hint(e, "dialogue or buffer");
    }
    if (utf8_invalid(w->title) >= 0)
        return err_set(e, ST_INVALID_SYNTAX, "the title is not UTF-8");
    return utf8_invalid(w->description) >= 0
               ? err_set(e, ST_INVALID_SYNTAX, "the description is not UTF-8")
               : ST_OK;
}

enum status loom_describe(struct loom *l, struct sv agent, const struct tree_words *words,
                          struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = object(&b, agent);

    if (check_words(words, e))
        return err_code(e);
    if (words->description.s)
        jw_kstr(&w, "description", words->description);
    jw_kstr(&w, "mark", SV("tree"));
    if (words->mode.n)
        jw_kstr(&w, "mode", words->mode);
    if (words->title.n)
        jw_kstr(&w, "title", words->title);
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

enum status loom_close(struct loom *l, struct sv agent, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct sb   b = sb_in(l->a, 0);
    struct jw   w = object(&b, agent);
    struct tree tree;
    struct sv   row;
    bool        closed;

    if (rows_tree(&r, &tree, e) || row_get(&r, SV("closed"), &row, &closed, e))
        return err_code(e);
    if (closed || !tree.unsummarised)
        return ST_OK;
    jw_kstr(&w, "mark", SV("close"));
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

/* ---- annotations ------------------------------------------------------------------ */

enum status loom_annotate(struct loom *l, struct sv agent, enum author_kind kind,
                          const struct node *on, struct sv text, int64_t *number, struct err *e)
{
    struct sb   b = sb_in(l->a, 0);
    struct jw   w = object(&b, agent);
    struct tree tree;

    if (check_text(text, e))
        return err_code(e);
    jw_kstr(&w, "kind", sv_of(author_kind_name(kind)));
    jw_kstr(&w, "node", on->local);
    jw_kstr(&w, "text", text);
    jw_close(&w, '}');
    if (loom_append(l, agent, kind_name(KIND_LOOM_ANNOTATION), sb_sv(&b), NULL, e) ||
        loom_tree(l, &tree, e))
        return err_code(e);
    *number = tree.annotations;
    return ST_OK;
}

enum status loom_unannotate(struct loom *l, struct sv agent, int64_t number, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = object(&b, agent);

    jw_kint(&w, "annotation", number);
    jw_kstr(&w, "mark", SV("unannotate"));
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

enum status loom_annotation(struct loom *l, int64_t number, struct annotation *out, bool *found,
                            struct err *e)
{
    struct rows  r = rows_of_loom(l);
    struct json  v, p;
    struct entry n;
    int64_t      entry = 0;
    bool         there;

    if (row_json(&r, key_of_seq("ann", number, l->a), &v, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    *out = (struct annotation){ .number = number,
                                .author = json_text(&v, "author"),
                                .kind = sv_is(json_text(&v, "kind"), "human") ? AUTHOR_HUMAN
                                                                              : AUTHOR_MODEL };
    json_int(json_find(&v, "at"), &out->at);
    json_int(json_find(&v, "node"), &out->node);
    json_int(json_find(&v, "entry"), &entry);
    if (log_entry(l->log, l->thread, entry, l->a, &n, &there, e))
        return err_code(e);
    if (there && json_parse(skeleton_shown(&n, l->a), 0, l->a, &p, e))
        return err_code(e);
    out->text = there ? json_text(&p, "text") : SV("");
    return ST_OK;
}

enum status loom_annotations(struct loom *l, const struct node *n, struct annotation **out,
                             size_t *count, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    bool              found;

    if (row_list(&r, key_below(key_of_seq("a", n->slot, l->a), l->a), (struct sv){ 0 }, SIZE_MAX,
                 &rows, count, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct annotation, *count ? *count : 1);
    for (size_t i = 0; i < *count; i++)
        if (loom_annotation(l, key_last(rows[i].key), &(*out)[i], &found, e))
            return err_code(e);
    return ST_OK;
}
