/* Reading nodes, paths, versions and children from the rows of the loom view. */
#include "loom/node.h"

#include "base/sentence.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

enum status loom_other(const struct loom *l, struct sv thread, struct loom *out, struct err *e)
{
    *out = *l;
    out->thread = thread;
    out->title = out->mode = (struct sv){ 0 };
    return l->describe ? l->describe(l->ctx, thread, l->a, &out->title, &out->mode, e) : ST_OK;
}

/* ---- the tree --------------------------------------------------------------------- */

enum status loom_tree(struct loom *l, struct tree *out, struct err *e)
{
    struct rows r = rows_of_loom(l);

    if (rows_tree(&r, out, e))
        return err_code(e);
    if (!out->title.n)
        out->title = l->title;
    if (!out->mode.n)
        out->mode = l->mode.n ? l->mode : SV("dialogue");
    return ST_OK;
}

enum { TITLE_CHARS = 50 };

struct sv loom_one_line(struct sv text, size_t max, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    len, chars = 0;

    for (text = sv_trim(text); text.n && chars < max; text = sv_skip(text, len), chars++) {
        int32_t cp = utf8_decode(text, &len);
        bool    blank = cp == ' ' || cp == '\n' || cp == '\t' || cp == '\r';
        if (!blank)
            sb_add(&b, sv_first(text, len));
        else if (b.n && b.s[b.n - 1] != ' ')
            sb_addc(&b, ' ');
    }
    return sv_trim(sb_sv(&b));
}

enum status loom_title(struct loom *l, struct sv *out, struct err *e)
{
    struct tree tree;
    struct sv   text;

    if (loom_tree(l, &tree, e))
        return err_code(e);
    *out = tree.title.n ? tree.title : l->thread;
    if (tree.title.n || tree.root == NO_NODE)
        return ST_OK;
    if (node_text(l, tree.root, &text, e))
        return err_code(e);
    text = loom_one_line(text, TITLE_CHARS, l->a);
    *out = text.n ? text : l->thread;
    return ST_OK;
}

enum status loom_is_buffer(struct loom *l, bool *out, struct err *e)
{
    struct tree tree;

    if (loom_tree(l, &tree, e))
        return err_code(e);
    *out = sv_is(tree.mode, "buffer");
    return ST_OK;
}

/* ---- one node -------------------------------------------------------------------- */

enum status node_at(struct loom *l, int64_t seq, struct node *out, struct err *e)
{
    struct rows r = rows_of_loom(l);

    return rows_node(&r, seq, out, e);
}

void loom_want(struct loom *l, const int64_t *seqs, size_t n)
{
    struct rows r = rows_of_loom(l);
    struct sv  *keys = ARENA_NEW(l->a, struct sv, n + 1);

    for (size_t i = 0; i < n; i++)
        keys[i] = key_of_seq("n", seqs[i], l->a);
    rows_want(&r, keys, n);
}

void loom_want_tree(const struct loom *l)
{
    struct rows r = rows_of_loom(l);

    rows_want(&r, &(struct sv)SV_STATIC("tree"), 1);
}

enum status node_local(struct loom *l, struct sv local, struct node *out, bool *found,
                       struct err *e)
{
    struct rows r = rows_of_loom(l);

    return rows_find(&r, local, out, found, e);
}

/* The prune nearest above is looked for strand by strand, only when there is one. */
enum status node_hidden(struct loom *l, const struct node *n, int64_t *by, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct node at = *n;
    int64_t     cover;

    *by = NO_NODE;
    if (rows_cover(&r, n, &cover, by, e))
        return err_code(e);
    while (cover > 0 && *by == NO_NODE) {
        struct node first;
        if (rows_node(&r, at.strand, &first, e) || rows_node(&r, first.parent, &at, e) ||
            rows_cover(&r, &at, &cover, by, e))
            return err_code(e);
    }
    return ST_OK;
}

/* ---- what it says ----------------------------------------------------------------- */

enum status loom_entry(struct loom *l, int64_t seq, struct entry *n, struct json *payload,
                       struct err *e)
{
    bool found;

    if (log_entry(l->log, l->thread, seq, l->a, n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "entry %lld is missing", (long long)seq);
    return json_parse(skeleton_shown(n, l->a), 0, l->a, payload, e);
}

struct sv loom_with_local(const struct json *payload, struct sv local, struct arena *a)
{
    const struct json *given = json_find(payload, "node");
    bool               has = json_is(given, JSON_OBJECT);
    struct json        node = { JSON_OBJECT, 0, { .members = NULL } }, whole = *payload;

    if (!local.n || json_text(given, "local_id").n || (given && !has))
        return json_canonical(payload, a);
    node.members = ARENA_NEW(a, struct json_member, (has ? given->n : 0) + 1);
    for (size_t i = 0; has && i < given->n; i++)
        if (!sv_is(given->members[i].key, "local_id"))
            node.members[node.n++] = given->members[i];
    node.members[node.n++] = (struct json_member){ SV("local_id"), json_of(local) };
    whole.members = ARENA_NEW(a, struct json_member, payload->n + 1);
    whole.n = 0;
    for (size_t i = 0; i < payload->n; i++)
        if (!sv_is(payload->members[i].key, "node"))
            whole.members[whole.n++] = payload->members[i];
    whole.members[whole.n++] = (struct json_member){ SV("node"), node };
    return json_canonical(&whole, a);
}

enum status loom_payload(struct loom *l, int64_t seq, struct json *out, struct err *e)
{
    struct entry n;

    return loom_entry(l, seq, &n, out, e);
}

enum status node_text(struct loom *l, int64_t seq, struct sv *out, struct err *e)
{
    struct json p;

    if (loom_payload(l, seq, &p, e))
        return err_code(e);
    *out = loom_message_text(&p, l->a);
    return ST_OK;
}

/* What was stored of it: *final is false for an extract. Absent: nothing was. */
static enum status stored_summary(struct loom *l, const struct node *n, struct sv *out, bool *final,
                                  struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct json p;
    int64_t     entry;

    *out = (struct sv){ 0 };
    *final = false;
    if (row_int(&r, key_of_seq("sum", n->seq, l->a), NO_NODE, &entry, e))
        return err_code(e);
    if (entry == NO_NODE)
        return ST_OK;
    if (loom_payload(l, entry, &p, e))
        return err_code(e);
    *out = json_text(&p, "text");
    *final = !json_truth(json_find(&p, "provisional"));
    return ST_OK;
}

enum status node_summary(struct loom *l, const struct node *n, struct sv *out, bool *made,
                         struct err *e)
{
    struct sv stored;

    if (stored_summary(l, n, &stored, made, e))
        return err_code(e);
    if (*made) {
        *out = stored;
        return ST_OK;
    }
    if (node_text(l, n->seq, out, e))
        return err_code(e);
    *made = sentence_within(*out, LOOM_SUMMARY_WORDS);
    if (*made)
        *out = sv_trim(*out);
    else
        *out = stored.s ? stored : sentence_first(*out, LOOM_SUMMARY_WORDS);
    return ST_OK;
}

enum status node_brief(struct loom *l, const struct node *n, struct sv *out, struct err *e)
{
    bool final;

    if (stored_summary(l, n, out, &final, e))
        return err_code(e);
    if (out->s)
        return ST_OK;
    if (node_text(l, n->seq, out, e))
        return err_code(e);
    *out = sentence_first(*out, LOOM_SUMMARY_WORDS);
    return ST_OK;
}

enum status loom_themes(struct loom *l, struct sv *out, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct json p;
    int64_t     entry;

    *out = (struct sv){ 0 };
    if (row_int(&r, SV("sum/tree"), NO_NODE, &entry, e))
        return err_code(e);
    if (entry == NO_NODE)
        return ST_OK;
    if (loom_payload(l, entry, &p, e))
        return err_code(e);
    *out = json_text(&p, json_text(&p, "themes").s ? "themes" : "text");
    return ST_OK;
}

/* ---- around it -------------------------------------------------------------------- */

struct child_scan {
    struct loom *l;
    VEC(struct node) nodes;
    int64_t     after;
    size_t      max;
    struct err *e;
    enum status status;
};

/* False: no more are wanted, or one could not be read. */
static bool keep_child(struct child_scan *s, int64_t seq)
{
    struct node n;

    if (seq <= s->after)
        return true;
    s->status = node_at(s->l, seq, &n, s->e);
    if (!s->status && !n.pruned)
        *vec_push(&s->nodes, s->l->a) = n;
    return !s->status && s->nodes.n < s->max;
}

static bool keep_child_row(void *ctx, const struct store_row *row)
{
    return keep_child(ctx, key_last(row->key));
}

enum status node_children(struct loom *l, int64_t slot, int64_t after, size_t max,
                          struct node **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct child_scan s = { .l = l, .after = after, .max = max, .e = e };
    struct node       of = { .next = NO_NODE, .all = 2 };
    struct sv         below = SV("root"), from = { 0 };

    if (slot != NO_NODE) {
        if (node_at(l, slot, &of, e))
            return err_code(e);
        below = key_of_seq2("f", of.strand, slot, l->a);
        if (after != NO_NODE)
            from = key_of_seq3("f", of.strand, slot, after, l->a);
    } else if (after != NO_NODE) {
        from = key_of_seq("root", after, l->a);
    }
    bool more = max && (of.next == NO_NODE || keep_child(&s, of.next));
    if (more && of.all > 1 &&
        row_each(&r, key_below(below, l->a), from, false, keep_child_row, &s, e))
        return err_code(e);
    *out = s.nodes.v;
    *n = s.nodes.n;
    return s.status;
}

enum status loom_roots(struct loom *l, size_t max, struct node **out, size_t *n, struct err *e)
{
    return node_children(l, NO_NODE, NO_NODE, max, out, n, e);
}

enum status node_ancestor(struct loom *l, const struct node *n, int64_t depth, struct node *out,
                          struct err *e)
{
    struct rows r = rows_of_loom(l);

    return rows_up_to_depth(&r, *n, depth, out, e);
}

enum status node_before(struct loom *l, const struct node *n, int64_t seq, struct node *out,
                        bool *found, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct node slot = *n;

    if (n->slot != n->seq && rows_node(&r, n->slot, &slot, e))
        return err_code(e);
    return rows_up_to_seq(&r, slot, seq, out, found, e);
}

enum status node_version(struct loom *l, struct sv agent, const struct node *slot, struct node *out,
                         struct err *e)
{
    struct rows r = rows_of_loom(l);
    int64_t     chosen = NO_NODE;

    *out = *slot;
    if (slot->versions == 0)
        return ST_OK;
    if (agent.s && row_int(&r, key_of_name_seq("sel", agent, slot->seq, l->a), NO_NODE, &chosen, e))
        return err_code(e);
    if (chosen != NO_NODE) {
        if (rows_node(&r, chosen, out, e))
            return err_code(e);
        if (!out->withdrawn)
            return ST_OK;
    }
    return rows_node(&r, slot->latest, out, e);
}

enum status node_path(struct loom *l, struct sv agent, const struct node *n, int64_t from,
                      struct node **out, size_t *count, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct node at = *n;
    size_t      total = (size_t)(n->depth - (from < 0 ? 0 : from) + 1);

    if (from > n->depth)
        total = 0;
    *out = ARENA_NEW(l->a, struct node, total ? total : 1);
    *count = total;
    for (size_t i = total; i-- > 0;) {
        if (i + 1 == total)
            (*out)[i] = *n; /* the version that was asked for */
        else if (node_version(l, agent, &at, &(*out)[i], e))
            return err_code(e);
        if (i && rows_node(&r, at.parent, &at, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status node_versions(struct loom *l, const struct node *n, struct node **out, size_t *count,
                          struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            found;

    if (row_list(&r, key_below(key_of_seq2("v", n->strand, n->slot, l->a), l->a), (struct sv){ 0 },
                 SIZE_MAX, &rows, &found, e))
        return err_code(e);
    *count = found + 1;
    *out = ARENA_NEW(l->a, struct node, found + 1);
    if (rows_node(&r, n->slot, &(*out)[0], e))
        return err_code(e);
    return rows_nodes(&r, rows, found, *out + 1, e);
}

/* ---- places ----------------------------------------------------------------------- */

enum status loom_lane_tip(struct loom *l, struct sv lane, struct node *out, bool *found,
                          struct err *e)
{
    struct rows     r = rows_of_loom(l);
    struct lane_end end;

    if (rows_lane(&r, lane, &end, e))
        return err_code(e);
    *found = end.talk != NO_NODE;
    return *found ? rows_node(&r, end.talk, out, e) : ST_OK;
}

enum status loom_went_on(struct loom *l, struct sv agent, const struct node *n, struct node *out,
                         bool *found, struct err *e)
{
    struct rows  r = rows_of_loom(l);
    struct place place;
    struct node  tip, at;

    if (rows_place(&r, agent, &place, found, e))
        return err_code(e);
    if (*found && loom_lane_tip(l, n->lane, &tip, found, e))
        return err_code(e);
    *found = *found && tip.depth > n->depth;
    if (!*found)
        return ST_OK;
    if (node_ancestor(l, &tip, n->depth, &at, e) || node_ancestor(l, &tip, n->depth + 1, out, e))
        return err_code(e);
    *found = at.slot == n->slot && !out->pruned && out->seq > place.since;
    return ST_OK;
}

static enum status where(struct loom *l, const struct place *p, struct node *out, bool *found,
                         struct err *e)
{
    *found = true;
    return p->node == NO_NODE ? loom_lane_tip(l, p->lane, out, found, e)
                              : node_at(l, p->node, out, e);
}

/* The position of an agent whose node others have hidden or withdrawn: the node that the hidden
 * branch continues. */
static enum status to_visible(struct loom *l, struct node *n, struct err *e)
{
    struct node pruned;
    int64_t     by;

    if (n->withdrawn && node_at(l, n->slot, n, e))
        return err_code(e);
    if (node_hidden(l, n, &by, e))
        return err_code(e);
    while (by != NO_NODE) {
        if (node_at(l, by, &pruned, e))
            return err_code(e);
        if (pruned.parent == NO_NODE)
            return ST_OK;
        if (node_at(l, pruned.parent, n, e) || node_hidden(l, n, &by, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status loom_position(struct loom *l, struct sv agent, struct node *out, bool *found,
                          struct err *e)
{
    struct node slot;

    if (loom_last_place(l, agent, out, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    if (to_visible(l, out, e))
        return err_code(e);
    slot = *out;
    if (out->slot != out->seq && node_at(l, out->slot, &slot, e))
        return err_code(e);
    return node_version(l, agent, &slot, out, e);
}

enum status loom_is_placed(struct loom *l, struct sv agent, bool *out, struct err *e)
{
    struct rows r = rows_of_loom(l);

    return rows_has_place(&r, agent, out, e);
}

enum status loom_placed_by(struct loom *l, struct sv agent, int64_t *out, struct err *e)
{
    struct rows  r = rows_of_loom(l);
    struct place place;
    bool         found;

    if (rows_place(&r, agent, &place, &found, e))
        return err_code(e);
    *out = found ? place.since : -1;
    return ST_OK;
}

enum status loom_branch_end(struct loom *l, struct sv agent, struct node *out, bool *found,
                            struct err *e)
{
    struct node tip;
    int64_t     hidden_by;
    bool        any;

    if (loom_position(l, agent, out, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    if (loom_lane_tip(l, out->lane, &tip, &any, e))
        return err_code(e);
    if (!any || tip.depth <= out->depth)
        return ST_OK;
    if (node_hidden(l, &tip, &hidden_by, e))
        return err_code(e);
    if (hidden_by == NO_NODE && !tip.withdrawn)
        *out = tip;
    return ST_OK;
}

enum status loom_last_place(struct loom *l, struct sv agent, struct node *out, bool *found,
                            struct err *e)
{
    struct rows  r = rows_of_loom(l);
    struct place place;
    struct sv    lane;

    if (rows_place(&r, agent, &place, found, e))
        return err_code(e);
    if (*found)
        return where(l, &place, out, found, e);
    if (lane_active(l->log, l->thread, agent, l->a, &lane, e))
        return err_code(e);
    return loom_lane_tip(l, lane, out, found, e);
}
