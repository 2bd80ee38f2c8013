/* From messages to nodes. A message that names its place (payload.node) is put there; one
 * that does not, such as a turn of a run, follows the last node of its lane. */
#include "base/hash.h"
#include "base/sentence.h"
#include "base/utf8.h"
#include "loom/limits.h"
#include "loom/loom_internal.h"
#include "loom/provenance.h"
#include "thread/kind.h"

#include <string.h>

/* ---- local ids -------------------------------------------------------------------- */

enum { TRIES_PER_LENGTH = 3 };

bool loom_local_id_is_valid(struct sv id)
{
    bool digit = false, letter = false;

    while (id.n && id.s[id.n - 1] == '\'')
        id.n--;
    if (id.n < 2 || id.n > LOCAL_ID_MAX)
        return false;
    for (size_t i = 0; i < id.n; i++) {
        digit = digit || (id.s[i] >= '0' && id.s[i] <= '9');
        letter = letter || (id.s[i] >= 'a' && id.s[i] <= 'z');
        if (!((id.s[i] >= '0' && id.s[i] <= '9') || (id.s[i] >= 'a' && id.s[i] <= 'z')))
            return false;
    }
    return digit && letter;
}

/* In a large tree, where most short ids are taken, new ids are longer. */
static size_t first_length(const struct tree *tree)
{
    return (size_t)LOCAL_ID_MIN + (tree->nodes > 100000 ? 1 : 0) + (tree->nodes > 3000000 ? 1 : 0);
}

static struct sv spell(const unsigned char *raw, char *room, size_t n)
{
    for (size_t i = 0; i < n; i++)
        room[i] = "0123456789abcdefghjkmnpqrstvwxyz"[raw[i] & 31];
    return (struct sv){ room, n };
}

bool loom_local_id_is_spelled(const unsigned char *raw, size_t n)
{
    char id[LOCAL_ID_MAX];

    return loom_local_id_is_valid(spell(raw, id, n));
}

enum status loom_local_id_want(struct rows *r, void (*draw)(void *, unsigned char *, size_t),
                               void *ctx, struct drawn *out, struct err *e)
{
    struct tree tree;
    char        id[LOCAL_ID_MAX];

    if (rows_tree(r, &tree, e))
        return err_code(e);
    out->n = first_length(&tree);
    draw(ctx, out->raw, out->n);
    struct sv key = key_of_name("l", spell(out->raw, id, out->n), r->a);
    rows_want(r, &key, 1);
    return ST_OK;
}

enum status loom_local_id_new(struct rows *r, void (*draw)(void *, unsigned char *, size_t),
                              void *ctx, struct sv *out, struct err *e)
{
    struct tree tree;

    if (rows_tree(r, &tree, e))
        return err_code(e);
    size_t n = first_length(&tree);
    for (int tries = 1;; tries++) {
        unsigned char raw[LOCAL_ID_MAX];
        char          id[LOCAL_ID_MAX] = { 0 };
        int64_t       taken;
        draw(ctx, raw, n);
        struct sv v = spell(raw, id, n);
        if (loom_local_id_is_valid(v)) {
            if (row_int(r, key_of_name("l", v, r->a), NO_NODE, &taken, e))
                return err_code(e);
            if (taken == NO_NODE) {
                *out = sv_dup(v, r->a);
                return ST_OK;
            }
        }
        n += tries % TRIES_PER_LENGTH == 0 && n < LOCAL_ID_MAX;
    }
}

/* A stream of bytes that follows from the entry alone. */
struct chain_draw {
    struct hash state;
};

static void draw_from_chain(void *ctx, unsigned char *out, size_t n)
{
    struct chain_draw *d = ctx;

    for (size_t i = 0; i < n; i++) {
        if (i % HASH_SIZE == 0) {
            struct sv part = { (const char *)d->state.b, HASH_SIZE };
            d->state = hash_blake2b(&part, 1);
        }
        out[i] = d->state.b[i % HASH_SIZE];
    }
}

static enum status choose_local(struct rows *r, const struct entry *n, struct sv wanted,
                                struct sv *out, struct err *e)
{
    struct chain_draw draw = { n->chain };
    int64_t           taken;

    if (loom_local_id_is_valid(wanted)) {
        if (row_int(r, key_of_name("l", wanted, r->a), NO_NODE, &taken, e))
            return err_code(e);
        if (taken == NO_NODE) {
            *out = wanted;
            return ST_OK;
        }
    }
    return loom_local_id_new(r, draw_from_chain, &draw, out, e);
}

/* ---- content ---------------------------------------------------------------------- */

struct sv loom_content_text(const struct json *content, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!json_is(content, JSON_ARRAY))
        return json_is(content, JSON_STRING) ? json_sv(content) : SV("");
    for (size_t i = 0; i < content->n; i++) {
        const struct json *part = &content->items[i];
        struct sv          type = json_text(part, "type"), text = json_text(part, "text");
        if (b.n)
            sb_addc(&b, '\n');
        if (text.s)
            sb_add(&b, text);
        else
            sb_addf(&b, "[" SV_FMT " content]", SV_ARG(type.n ? type : SV("mixed")));
    }
    return sb_sv(&b);
}

static bool has_text(const struct json *content)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++)
        if (json_text(&content->items[i], "text").n)
            return true;
    return json_sv(content).n > 0;
}

struct sv loom_message_text(const struct json *payload, struct arena *a)
{
    const struct json *content = json_find(payload, "content");
    const struct json *calls = json_find(payload, "tool_calls");
    struct sb          b = sb_in(a, 0);

    if (has_text(content) || !json_is(calls, JSON_ARRAY) || !calls->n)
        return loom_content_text(content, a);
    for (size_t i = 0; i < calls->n; i++) {
        const struct json *inner = json_find(&calls->items[i], "function");
        const struct json *call = inner ? inner : &calls->items[i];
        const struct json *with = json_find(call, "arguments");
        sb_addf(&b, "%scalls " SV_FMT " ", i ? "\n" : "", SV_ARG(json_text(call, "name")));
        if (with)
            sb_add(&b, json_is(with, JSON_STRING) ? json_sv(with) : json_canonical(with, a));
    }
    return sb_sv(&b);
}

/* ---- making a node ---------------------------------------------------------------- */

struct making {
    const struct entry *entry;
    const struct json  *payload, *given; /* given: payload.node, or NULL */
    struct node         node;
    struct node         parent; /* the slot it continues; seq NO_NODE: none */
    struct sv           parent_hash;
    struct sv           text;
};

static enum status find_parent(struct rows *r, struct making *m, struct err *e)
{
    const struct json *named = json_find(m->given, "parent");
    struct node        parent;
    bool               found = false;

    if (json_is(named, JSON_STRING)) {
        if (rows_find(r, json_sv(named), &parent, &found, e))
            return err_code(e);
    } else if (!named) {
        struct lane_end end;
        if (rows_lane(r, m->entry->lane, &end, e))
            return err_code(e);
        found = end.tip != NO_NODE;
        if (found && rows_node(r, end.tip, &parent, e))
            return err_code(e);
    }
    m->parent.seq = NO_NODE;
    if (!found)
        return ST_OK;
    m->parent_hash = parent.hash;
    m->node.chars = parent.chars;
    m->parent = parent;
    return parent.slot == parent.seq ? ST_OK : rows_node(r, parent.slot, &m->parent, e);
}

static void describe(struct rows *r, struct making *m)
{
    const struct json *content = json_find(m->payload, "content");
    struct sv          role = json_text(m->payload, "role");
    struct node       *n = &m->node;

    n->seq = n->slot = n->latest = m->entry->seq;
    n->next = NO_NODE;
    n->at = m->entry->at;
    n->lane = m->entry->lane;
    n->kind = sv_is(role, "user") ? AUTHOR_HUMAN : sv_is(role, "tool") ? AUTHOR_TOOL : AUTHOR_MODEL;
    n->author = json_text(m->given, "author");
    if (!n->author.n)
        n->author = json_text(m->payload, "agent");
    if (!n->author.n)
        n->author = n->kind == AUTHOR_HUMAN && m->entry->actor.n ? m->entry->actor : AGENT_DEFAULT;
    n->id = json_text(m->given, "id");
    n->as = json_text(m->given, "as");
    n->edited_from = json_text(m->given, "edited_from");
    n->response = json_text(m->given, "response");
    m->text = loom_content_text(content, r->a);
    n->chars += (int64_t)utf8_count(m->text);
    struct provenance p = { .content = provenance_content(content, r->a),
                            .parents = &m->parent_hash,
                            .n_parents = m->parent_hash.s ? 1 : 0,
                            .at = n->at,
                            .author = n->author,
                            .response = n->response };
    n->hash = provenance_hash(&p, r->a);
}

static enum status index_node(struct rows *r, const struct node *n, struct err *e)
{
    if (row_put_int(r, key_of_name("l", n->local, r->a), n->seq, e))
        return err_code(e);
    if (n->id.n && row_put_int(r, key_of_name("i", loom_local_key(n->id, r->a), r->a), n->seq, e))
        return err_code(e);
    return rows_put_node(r, n, e);
}

/* A version of a node takes its place. It is counted as a node, but is not a child of any. */
static enum status add_version(struct rows *r, struct making *m, struct node *original,
                               struct err *e)
{
    struct node  slot = *original, *n = &m->node;
    struct tree  tree;
    struct place place;
    int64_t      cover, by;
    bool         found;

    if (slot.slot != slot.seq && rows_node(r, slot.slot, &slot, e))
        return err_code(e);
    n->slot = slot.seq;
    n->parent = slot.parent;
    n->jump = slot.jump;
    n->depth = slot.depth;
    n->strand = slot.strand;
    slot.versions++;
    slot.latest = n->seq;
    if (rows_put_node(r, &slot, e) || index_node(r, n, e) || rows_tree(r, &tree, e) ||
        rows_cover(r, &slot, &cover, &by, e) ||
        row_put(r, key_of_seq3("v", slot.strand, slot.seq, n->seq, r->a), SV(""), e))
        return err_code(e);
    tree.nodes += cover == 0;
    tree.unsummarised++;
    tree.last = n->at;
    /* The editor sees its own edit; if its position was the edited node, the position moves to the
     * edit. */
    if (rows_put_tree(r, &tree, e) ||
        row_put_int(r, key_of_name_seq("sel", n->author, slot.seq, r->a), n->seq, e) ||
        rows_place(r, n->author, &place, &found, e))
        return err_code(e);
    if (!found || place.node == NO_NODE)
        return ST_OK;
    struct node at;
    if (rows_node(r, place.node, &at, e))
        return err_code(e);
    place.at = n->at;
    if (at.slot == slot.seq) {
        place.node = n->seq;
        place.since = n->seq;
    }
    return rows_put_place(r, n->author, &place, e);
}

/* Where its jump leads: twice as far as its parent's when the parent's last two jumps
 * were equally long, else to the parent. */
static enum status lay_jump(struct rows *r, struct node *n, const struct node *parent,
                            struct err *e)
{
    struct node once, twice;

    n->jump = parent->seq;
    if (parent->jump == NO_NODE)
        return ST_OK;
    if (rows_node(r, parent->jump, &once, e))
        return err_code(e);
    if (once.jump == NO_NODE)
        return ST_OK;
    if (rows_node(r, once.jump, &twice, e))
        return err_code(e);
    if (parent->depth - once.depth == once.depth - twice.depth)
        n->jump = twice.seq;
    return ST_OK;
}

static void count_child(struct tree *t, const struct node *parent)
{
    if (parent->seq == NO_NODE || parent->kids > 0)
        t->leaves++;
    if (parent->seq == NO_NODE || parent->kids == 0)
        return;
    t->branches += parent->kids == 1 ? 2 : 1;
    t->points += parent->kids == 1;
}

/* The first child continues its parent's strand, every other child starts a new one. */
static enum status join_strand(struct rows *r, struct making *m, int64_t *cover, struct err *e)
{
    struct node  *n = &m->node;
    struct strand s = { .first = n->seq, .end = n->seq };
    int64_t       by;

    *cover = 0;
    n->strand = n->seq;
    if (m->parent.seq == NO_NODE)
        return row_put(r, key_of_seq("root", n->seq, r->a), SV(""), e) ? err_code(e)
                                                                       : rows_put_strand(r, &s, e);
    if (rows_cover(r, &m->parent, cover, &by, e))
        return err_code(e);
    if (m->parent.all > 0) {
        s.cover = *cover;
        if (rows_put_strand(r, &s, e))
            return err_code(e);
        return row_put(r, key_of_seq3("f", m->parent.strand, m->parent.seq, n->seq, r->a), SV(""),
                       e);
    }
    n->strand = m->parent.strand;
    m->parent.next = n->seq;
    if (rows_strand(r, n->strand, &s, e))
        return err_code(e);
    s.end = n->seq;
    return rows_put_strand(r, &s, e);
}

static enum status add_child(struct rows *r, struct making *m, struct err *e)
{
    struct node *n = &m->node;
    struct tree  tree;
    int64_t      cover;

    n->parent = m->parent.seq;
    n->jump = NO_NODE;
    if (n->parent != NO_NODE) {
        n->depth = m->parent.depth + 1;
        if (lay_jump(r, n, &m->parent, e))
            return err_code(e);
    }
    if (join_strand(r, m, &cover, e) || rows_tree(r, &tree, e))
        return err_code(e);
    if (cover == 0) {
        tree.nodes++;
        count_child(&tree, &m->parent);
    }
    tree.unsummarised++;
    tree.depth = n->depth > tree.depth ? n->depth : tree.depth;
    tree.root = tree.root == NO_NODE ? n->seq : tree.root;
    tree.last = n->at;
    m->parent.all++;
    m->parent.kids++;
    if (n->parent != NO_NODE && rows_put_node(r, &m->parent, e))
        return err_code(e);
    return rows_put_tree(r, &tree, e) ? err_code(e) : index_node(r, n, e);
}

/* ---- lanes and places ------------------------------------------------------------- */

/* The author's position moves to the new node, unless a model was asked for the node or it was
 * imported from a file. */
static bool moves_its_author(const struct making *m)
{
    struct sv via = json_text(m->given, "via");

    return !sv_is(via, "continue") && !sv_is(via, "import");
}

/* Can `undo` take this message back? Nodes made by commands have an undo of their own, and the root
 * of a tree is never taken back. */
static bool is_said(const struct making *m)
{
    struct sv via = json_text(m->given, "via");

    return m->node.parent != NO_NODE && (sv_is(via, "say") || sv_is(via, "turn"));
}

static enum status move_on(struct rows *r, struct making *m, bool is_version, struct err *e)
{
    struct lane_end    end;
    const struct node *n = &m->node;

    if (rows_lane(r, n->lane, &end, e))
        return err_code(e);
    end.tip = n->seq;
    if (moves_its_author(m) || end.talk == NO_NODE)
        end.talk = n->seq;
    if (rows_put_lane(r, n->lane, &end, e))
        return err_code(e);
    if (is_version || !moves_its_author(m))
        return ST_OK;
    if (is_said(m) && fold_said(r, n->author, n->seq, e))
        return err_code(e);
    if (!json_text(m->given, "via").n || !json_text(m->given, "author").n) {
        /* Written to a lane, not said somewhere: nobody changes lanes by that (thread/lane.h). */
        struct place was;
        bool         found;
        if (rows_place(r, n->author, &was, &found, e))
            return err_code(e);
        if (!sv_eq(n->lane, found ? was.lane : LANE_DEFAULT))
            return ST_OK;
    }
    struct place p = {
        .kind = n->kind, .node = n->seq, .at = n->at, .since = n->seq, .lane = n->lane
    };
    return rows_put_place(r, n->author, &p, e);
}

static bool is_turn(const struct json *p)
{
    struct sv role = json_text(p, "role");

    return sv_is(role, "user") || sv_is(role, "assistant") || sv_is(role, "tool");
}

enum status fold_message(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    struct making m = { .entry = n, .payload = p, .given = json_find(p, "node") };
    struct node   original;
    bool          is_version = json_truth(json_find(m.given, "version"));

    if (!n->lane.n || !is_turn(p))
        return ST_OK;
    if (find_parent(r, &m, e))
        return err_code(e);
    int64_t before = m.node.chars;
    describe(r, &m);
    if (choose_local(r, n, json_text(m.given, "local_id"), &m.node.local, e))
        return err_code(e);
    if (is_version && rows_find(r, m.node.edited_from, &original, &is_version, e))
        return err_code(e);
    if (is_version ? add_version(r, &m, &original, e) : add_child(r, &m, e))
        return err_code(e);
    bool is_short = sentence_within(m.text, LOOM_SUMMARY_WORDS); /* its own summary */
    if (m.node.chars > before && !is_short && rows_set_waiting(r, n->seq, WAITS, e))
        return err_code(e);
    return move_on(r, &m, is_version, e);
}

/* The last node that a lane forked at `seq` shares with its origin. */
static enum status fork_point(struct rows *r, struct sv from, int64_t seq, int64_t *out,
                              struct err *e)
{
    struct lane_end end;
    struct node     tip, at;
    struct sv       row;
    bool            found;

    *out = NO_NODE;
    if (seq < 0)
        return ST_OK;
    if (row_get(r, key_of_seq("n", seq, r->a), &row, &found, e) || rows_lane(r, from, &end, e))
        return err_code(e);
    if (found)
        *out = seq;
    if (found || end.tip == NO_NODE)
        return ST_OK;
    if (rows_node(r, end.tip, &tip, e) || rows_up_to_seq(r, tip, seq, &at, &found, e))
        return err_code(e);
    *out = found ? at.seq : NO_NODE;
    return ST_OK;
}

static enum status fold_fork(struct rows *r, const struct entry *n, const struct json *op,
                             struct err *e)
{
    const struct json *from = json_find(op, "from");
    struct lane_end    end;
    int64_t            at = -1;

    json_int(json_find(from, "seq"), &at);
    if (rows_lane(r, n->lane, &end, e))
        return err_code(e);
    if (end.tip != NO_NODE)
        return ST_OK; /* the lane existed before */
    if (fork_point(r, json_text(from, "lane"), at, &end.tip, e))
        return err_code(e);
    end.talk = end.tip;
    return rows_put_lane(r, n->lane, &end, e);
}

enum status fold_lane_op(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    const struct json *op = json_find(p, "operation"), *meta = json_find(op, "meta");
    struct sv          type = json_text(op, "type"), agent = json_text(p, "agent");
    struct lane_end    end;
    struct node        node;
    struct place       place = { .node = NO_NODE, .at = n->at, .since = n->seq, .lane = n->lane };
    bool               found = false;

    if (sv_is(type, "fork") && fold_fork(r, n, op, e))
        return err_code(e);
    if (sv_is(type, "fork") && !json_truth(json_find(op, "switch")))
        return ST_OK;
    if (rows_lane(r, n->lane, &end, e))
        return err_code(e);
    place.node = end.talk;
    if (json_text(meta, "node").n && rows_find(r, json_text(meta, "node"), &node, &found, e))
        return err_code(e);
    if (found)
        place.node = node.seq;
    place.kind = sv_is(json_text(meta, "kind"), "model") ? AUTHOR_MODEL : AUTHOR_HUMAN;
    if (found && node.versions + (node.slot != node.seq) > 0 &&
        row_put_int(r, key_of_name_seq("sel", agent.n ? agent : AGENT_DEFAULT, node.slot, r->a),
                    node.seq, e))
        return err_code(e);
    return rows_put_place(r, agent.n ? agent : AGENT_DEFAULT, &place, e);
}
