/* The rows of the loom view as structs, and back: nodes, strands, totals; and walking from node to
 * node. */
#include "loom/loom_internal.h"

#include <string.h>

struct rows rows_of_loom(const struct loom *l)
{
    return rows_of_view(l->log, l->thread, &loom_view, l->a);
}

/* ---- a node as a row -------------------------------------------------------------- */

static const char *const kinds[] = { "human", "model", "tool" };

const char *author_kind_name(enum author_kind k)
{
    return kinds[k];
}

static enum author_kind kind_of_name(struct sv name)
{
    return sv_is(name, "model") ? AUTHOR_MODEL : sv_is(name, "tool") ? AUTHOR_TOOL : AUTHOR_HUMAN;
}

/* Fields that are seldom set are written only when they are. */
/* clang-format off */
static const struct loom_member {
    const char *key;
    size_t      offset;
    int64_t     otherwise;
} numbers[] = {
    { "at",     offsetof(struct node, at),       0 },
    { "all",    offsetof(struct node, all),      0 },
    { "chars",  offsetof(struct node, chars),    0 },
    { "depth",  offsetof(struct node, depth),    0 },
    { "jump",   offsetof(struct node, jump),     NO_NODE },
    { "kids",   offsetof(struct node, kids),     0 },
    { "latest", offsetof(struct node, latest),   NO_NODE },
    { "links",  offsetof(struct node, links),    0 },
    { "next",   offsetof(struct node, next),     NO_NODE },
    { "notes",  offsetof(struct node, notes),    0 },
    { "parent", offsetof(struct node, parent),   NO_NODE },
    { "slot",   offsetof(struct node, slot),     NO_NODE },
    { "strand", offsetof(struct node, strand),   NO_NODE },
    { "vers",   offsetof(struct node, versions), 0 },
}, texts[] = {
    { "as",       offsetof(struct node, as),          0 },
    { "author",   offsetof(struct node, author),      0 },
    { "from",     offsetof(struct node, edited_from), 0 },
    { "hash",     offsetof(struct node, hash),        0 },
    { "id",       offsetof(struct node, id),          0 },
    { "label",    offsetof(struct node, label),       0 },
    { "lane",     offsetof(struct node, lane),        0 },
    { "local",    offsetof(struct node, local),       0 },
    { "response", offsetof(struct node, response),    0 },
}, flags[] = {
    { "bookmarked", offsetof(struct node, bookmarked), 0 },
    { "excluded",   offsetof(struct node, excluded),   0 },
    { "pruned",     offsetof(struct node, pruned),     0 },
    { "withdrawn",  offsetof(struct node, withdrawn),  0 },
};
/* clang-format on */

#define FIELD(type, node, f) (*(type *)(void *)((char *)(node) + (f)->offset))

/* A struct that is a row: which of its members are texts, and its bytes. While many entries are
 * folded a row is kept as the struct, so that it is not written and parsed for each of them. */
enum { SHAPE_TEXTS = 9 };
struct loom_shape {
    size_t                    size;
    const struct loom_member *texts;
    size_t                    n_texts;
    store_encode_fn           bytes;
};

static enum status put_object(struct rows *r, struct sv key, const struct loom_shape *shape,
                              const void *object, struct err *e)
{
    struct arena *held = rows_held(r);
    struct sv     copies[SHAPE_TEXTS];

    if (!held)
        return row_put(r, key, shape->bytes(object, r->a), e);
    void *to = row_put_object(r, key, shape->size, shape->bytes);
    for (size_t i = 0; i < shape->n_texts; i++) {
        struct sv text =
            *(const struct sv *)(const void *)((const char *)object + shape->texts[i].offset);
        bool same = FIELD(struct sv, to, &shape->texts[i]).s == text.s;
        copies[i] = same || !text.s ? text : sv_dup(text, held);
    }
    memcpy(to, object, shape->size);
    for (size_t i = 0; i < shape->n_texts; i++)
        FIELD(struct sv, to, &shape->texts[i]) = copies[i];
    return ST_OK;
}

static struct sv node_bytes(const void *object, struct arena *a)
{
    const struct node *n = object;
    struct node        row = *n;
    struct sb          b = sb_in(a, 0);
    struct jw          w = jw_in(&b, 0);

    row.slot = n->slot == n->seq ? NO_NODE : n->slot; /* both seldom differ from seq */
    row.latest = n->latest == n->seq ? NO_NODE : n->latest;
    jw_open(&w, '{');
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (FIELD(int64_t, &row, &numbers[i]) != numbers[i].otherwise)
            jw_kint(&w, numbers[i].key, FIELD(int64_t, &row, &numbers[i]));
    for (size_t i = 0; i < COUNT(texts); i++)
        if (FIELD(struct sv, &row, &texts[i]).s)
            jw_kstr(&w, texts[i].key, FIELD(struct sv, &row, &texts[i]));
    for (size_t i = 0; i < COUNT(flags); i++)
        if (FIELD(bool, &row, &flags[i]))
            jw_kbool(&w, flags[i].key, true);
    jw_kstr(&w, "kind", sv_of(kinds[n->kind]));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static const struct loom_shape node_shape = { sizeof(struct node), texts, COUNT(texts),
                                              node_bytes };

enum status rows_put_node(struct rows *r, const struct node *n, struct err *e)
{
    return put_object(r, key_of_seq("n", n->seq, r->a), &node_shape, n, e);
}

enum status rows_node(struct rows *r, int64_t seq, struct node *out, struct err *e)
{
    struct sv          key = key_of_seq("n", seq, r->a);
    const struct node *held = row_object(r, key, node_bytes);
    struct json        v;
    bool               found;

    if (held) {
        *out = *held;
        return ST_OK;
    }
    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "entry %lld is no node of the tree", (long long)seq);
    *out = (struct node){ .seq = seq };
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (!json_int(json_find(&v, numbers[i].key), &FIELD(int64_t, out, &numbers[i])))
            FIELD(int64_t, out, &numbers[i]) = numbers[i].otherwise;
    for (size_t i = 0; i < COUNT(texts); i++)
        FIELD(struct sv, out, &texts[i]) = json_text(&v, texts[i].key);
    for (size_t i = 0; i < COUNT(flags); i++)
        FIELD(bool, out, &flags[i]) = json_truth(json_find(&v, flags[i].key));
    out->kind = kind_of_name(json_text(&v, "kind"));
    out->slot = out->slot == NO_NODE ? seq : out->slot;
    out->latest = out->latest == NO_NODE ? seq : out->latest;
    return ST_OK;
}

enum status rows_nodes(struct rows *r, const struct store_row *list, size_t n, struct node *out,
                       struct err *e)
{
    struct sv *keys = ARENA_NEW(r->a, struct sv, n + 1);

    for (size_t i = 0; i < n; i++)
        keys[i] = key_of_seq("n", key_last(list[i].key), r->a);
    rows_want(r, keys, n);
    for (size_t i = 0; i < n; i++)
        if (rows_node(r, key_last(list[i].key), &out[i], e))
            return err_code(e);
    return ST_OK;
}

/* ---- totals ----------------------------------------------------------------------- */

/* clang-format off */
static const struct loom_member totals[] = {
    { "nodes",       offsetof(struct tree, nodes),       0 },
    { "branches",    offsetof(struct tree, branches),    0 },
    { "points",      offsetof(struct tree, points),      0 },
    { "leaves",      offsetof(struct tree, leaves),      0 },
    { "depth",       offsetof(struct tree, depth),       0 },
    { "annotations", offsetof(struct tree, annotations), 0 },
    { "root",        offsetof(struct tree, root),        NO_NODE },
    { "last",        offsetof(struct tree, last),        0 },
    { "unsummarised", offsetof(struct tree, unsummarised), 0 },
};
/* clang-format on */

static const struct loom_member tree_texts[] = {
    { "title", offsetof(struct tree, title), 0 },
    { "description", offsetof(struct tree, description), 0 },
    { "mode", offsetof(struct tree, mode), 0 },
};

static struct sv tree_bytes(const void *object, struct arena *a)
{
    struct tree row = *(const struct tree *)object;
    struct sb   b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);

    jw_open(&w, '{');
    for (size_t i = 0; i < COUNT(totals); i++)
        jw_kint(&w, totals[i].key, FIELD(int64_t, &row, &totals[i]));
    for (size_t i = 0; i < COUNT(tree_texts); i++)
        if (FIELD(struct sv, &row, &tree_texts[i]).s)
            jw_kstr(&w, tree_texts[i].key, FIELD(struct sv, &row, &tree_texts[i]));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static const struct loom_shape tree_shape = { sizeof(struct tree), tree_texts, COUNT(tree_texts),
                                              tree_bytes };

enum status rows_tree(struct rows *r, struct tree *out, struct err *e)
{
    const struct tree *held = row_object(r, SV("tree"), tree_bytes);
    struct json        v = { .type = JSON_NULL };
    bool               found;

    if (held) {
        *out = *held;
        return ST_OK;
    }
    if (row_json(r, SV("tree"), &v, &found, e))
        return err_code(e);
    *out = (struct tree){ 0 };
    for (size_t i = 0; i < COUNT(tree_texts); i++)
        FIELD(struct sv, out, &tree_texts[i]) = json_text(&v, tree_texts[i].key);
    for (size_t i = 0; i < COUNT(totals); i++)
        if (!json_int(json_find(&v, totals[i].key), &FIELD(int64_t, out, &totals[i])))
            FIELD(int64_t, out, &totals[i]) = totals[i].otherwise;
    return ST_OK;
}

enum status rows_put_tree(struct rows *r, const struct tree *t, struct err *e)
{
    return put_object(r, SV("tree"), &tree_shape, t, e);
}

/* ---- what waits for a summary ------------------------------------------------------ */

enum status rows_set_waiting(struct rows *r, int64_t seq, enum summary_wait how, struct err *e)
{
    struct sv key = key_of_seq("todo", seq - seq % WAITING_BLOCK, r->a), row;
    char      letters[WAITING_BLOCK];
    size_t    n = WAITING_BLOCK;
    bool      found;

    if (row_get(r, key, &row, &found, e))
        return err_code(e);
    memset(letters, WAITS_NOT, sizeof letters);
    if (found && row.n <= sizeof letters)
        memcpy(letters, row.s, row.n);
    letters[seq % WAITING_BLOCK] = (char)how;
    while (n && letters[n - 1] == WAITS_NOT)
        n--;
    if (n)
        return row_put(r, key, (struct sv){ letters, n }, e);
    return found ? row_del(r, key, e) : ST_OK;
}

/* ---- strands ----------------------------------------------------------------------- */

static struct sv strand_bytes(const void *object, struct arena *a)
{
    const struct strand *s = object;
    struct sb            b = sb_in(a, 0);

    sb_addf(&b, "{\"cover\":%lld,\"end\":%lld,\"prunes\":%lld}", (long long)s->cover,
            (long long)s->end, (long long)s->prunes);
    return sb_sv(&b);
}

static const struct loom_shape strand_shape = { sizeof(struct strand), NULL, 0, strand_bytes };

enum status rows_strand(struct rows *r, int64_t first, struct strand *out, struct err *e)
{
    struct sv            key = key_of_seq("s", first, r->a);
    const struct strand *held = row_object(r, key, strand_bytes);
    struct json          v;
    bool                 found;

    if (held) {
        *out = *held;
        return ST_OK;
    }
    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    *out = (struct strand){ .first = first, .end = first };
    if (found) {
        json_int(json_find(&v, "end"), &out->end);
        json_int(json_find(&v, "cover"), &out->cover);
        json_int(json_find(&v, "prunes"), &out->prunes);
    }
    return ST_OK;
}

enum status rows_put_strand(struct rows *r, const struct strand *s, struct err *e)
{
    return put_object(r, key_of_seq("s", s->first, r->a), &strand_shape, s, e);
}

/* ---- finding ---------------------------------------------------------------------- */

struct sv loom_local_key(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (text.n > 2 && text.s[0] == '[' && text.s[text.n - 1] == ']')
        text = (struct sv){ text.s + 1, text.n - 2 };
    while (text.n) {
        if (sv_starts(text, SV("\xe2\x80\x99"))) { /* U+2019, a typographer's apostrophe */
            sb_addc(&b, '\'');
            text = sv_skip(text, 3);
            continue;
        }
        sb_addc(&b, byte_lower(text.s[0]));
        text = sv_skip(text, 1);
    }
    return sb_sv(&b);
}

enum status rows_find(struct rows *r, struct sv text, struct node *out, bool *found, struct err *e)
{
    struct sv key = loom_local_key(text, r->a);
    int64_t   seq;

    if (row_int(r, key_of_name("l", key, r->a), NO_NODE, &seq, e))
        return err_code(e);
    if (seq == NO_NODE && row_int(r, key_of_name("i", key, r->a), NO_NODE, &seq, e))
        return err_code(e);
    *found = seq != NO_NODE;
    return *found ? rows_node(r, seq, out, e) : ST_OK;
}

/* ---- ancestors -------------------------------------------------------------------- */

/* Jump when that does not go past the bound, else one step: the jumps are laid out so
 * that any ancestor is reached in a logarithmic number of steps. */
enum status rows_up_to_depth(struct rows *r, struct node n, int64_t depth, struct node *out,
                             struct err *e)
{
    struct node up;

    while (n.depth > depth && n.parent != NO_NODE) {
        if (n.jump != NO_NODE) {
            if (rows_node(r, n.jump, &up, e))
                return err_code(e);
            if (up.depth >= depth) {
                n = up;
                continue;
            }
        }
        if (rows_node(r, n.parent, &up, e))
            return err_code(e);
        n = up;
    }
    if (n.slot != n.seq && rows_node(r, n.slot, &n, e))
        return err_code(e);
    *out = n;
    return ST_OK;
}

enum status rows_up_to_seq(struct rows *r, struct node n, int64_t seq, struct node *out,
                           bool *found, struct err *e)
{
    *found = true;
    while (n.seq > seq) {
        int64_t to = n.jump != NO_NODE && n.jump >= seq ? n.jump : n.parent;
        if (to == NO_NODE) {
            *found = false;
            return ST_OK;
        }
        if (rows_node(r, to, &n, e))
            return err_code(e);
    }
    *out = n;
    return ST_OK;
}

struct own_prunes {
    int64_t upto, count, first;
};

static bool count_prune(void *ctx, const struct store_row *row)
{
    struct own_prunes *p = ctx;
    int64_t            at = key_last(row->key);

    if (at > p->upto)
        return false;
    p->first = p->count++ ? p->first : at;
    return true;
}

enum status rows_cover(struct rows *r, const struct node *n, int64_t *cover, int64_t *by,
                       struct err *e)
{
    struct strand     s;
    struct own_prunes own = { .upto = n->slot, .first = NO_NODE };

    if (rows_strand(r, n->strand, &s, e))
        return err_code(e);
    if (s.prunes > 0 && row_each(r, key_below(key_of_seq("q", n->strand, r->a), r->a),
                                 (struct sv){ 0 }, false, count_prune, &own, e))
        return err_code(e);
    *cover = s.cover + own.count;
    *by = own.first;
    return ST_OK;
}

/* ---- places ----------------------------------------------------------------------- */

static const struct loom_member place_texts[] = { { "lane", offsetof(struct place, lane), 0 } };

static struct sv place_bytes(const void *object, struct arena *a)
{
    const struct place *p = object;
    struct sb           b = sb_in(a, 0);
    struct jw           w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "at", p->at);
    jw_kstr(&w, "kind", sv_of(kinds[p->kind]));
    jw_kstr(&w, "lane", p->lane);
    jw_kint(&w, "node", p->node);
    jw_kint(&w, "since", p->since);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static const struct loom_shape place_shape = { sizeof(struct place), place_texts,
                                               COUNT(place_texts), place_bytes };

enum status rows_place(struct rows *r, struct sv agent, struct place *out, bool *found,
                       struct err *e)
{
    struct sv           key = key_of_name("pos", agent, r->a);
    const struct place *held = row_object(r, key, place_bytes);
    struct json         v;

    *found = held;
    if (held) {
        *out = *held;
        return ST_OK;
    }
    if (row_json(r, key, &v, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    *out = (struct place){ .kind = kind_of_name(json_text(&v, "kind")),
                           .node = NO_NODE,
                           .lane = json_text(&v, "lane") };
    json_int(json_find(&v, "node"), &out->node);
    json_int(json_find(&v, "at"), &out->at);
    json_int(json_find(&v, "since"), &out->since);
    return ST_OK;
}

enum status rows_has_place(struct rows *r, struct sv agent, bool *found, struct err *e)
{
    struct sv ignored;

    return row_get(r, key_of_name("pos", agent, r->a), &ignored, found, e);
}

enum status rows_put_place(struct rows *r, struct sv agent, const struct place *p, struct err *e)
{
    return put_object(r, key_of_name("pos", agent, r->a), &place_shape, p, e);
}

static struct sv lane_bytes(const void *object, struct arena *a)
{
    const struct lane_end *end = object;
    struct sb              b = sb_in(a, 0);

    sb_addf(&b, "{\"talk\":%lld,\"tip\":%lld}", (long long)end->talk, (long long)end->tip);
    return sb_sv(&b);
}

static const struct loom_shape lane_shape = { sizeof(struct lane_end), NULL, 0, lane_bytes };

enum status rows_put_lane(struct rows *r, struct sv lane, const struct lane_end *end, struct err *e)
{
    return put_object(r, key_of_name("t", lane, r->a), &lane_shape, end, e);
}

enum status rows_lane(struct rows *r, struct sv lane, struct lane_end *out, struct err *e)
{
    struct sv              key = key_of_name("t", lane, r->a);
    const struct lane_end *held = row_object(r, key, lane_bytes);
    struct json            v;
    bool                   found;

    if (held) {
        *out = *held;
        return ST_OK;
    }
    *out = (struct lane_end){ NO_NODE, NO_NODE };
    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    if (found) {
        json_int(json_find(&v, "tip"), &out->tip);
        json_int(json_find(&v, "talk"), &out->talk);
    }
    return ST_OK;
}
