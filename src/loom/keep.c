/* Which entries the rows of the loom view show. */
#include "loom/keep.h"

#include "loom/limits.h"
#include "loom/loom_internal.h"
#include "thread/kind.h"
#include "thread/scan.h"

struct loom_keeping {
    struct rows     rows;
    struct seq_set *kept;
    int64_t         before;
};

typedef enum status keep_row_fn(struct loom_keeping *k, const struct store_row *row, struct err *e);

/* ---- nodes ---------------------------------------------------------------------------------- */

static void keep_node(struct loom_keeping *k, const struct node *n)
{
    seq_set_add(k->kept, n->seq);
    seq_set_add(k->kept, n->slot);
    seq_set_add(k->kept, n->latest);
}

static enum status keep_pin(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    struct json v;
    struct node node;
    bool        found = false;

    seq_set_add(k->kept, key_last(row->key));
    if (json_parse(row->value, 0, k->rows.a, &v, e))
        return err_in(e, "a pin");
    if (json_text(&v, "node").n && rows_find(&k->rows, json_text(&v, "node"), &node, &found, e))
        return err_code(e);
    if (found)
        keep_node(k, &node);
    return ST_OK;
}

static enum status keep_bookmark(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    struct node node;

    if (rows_node(&k->rows, key_last(row->key), &node, e))
        return err_code(e);
    keep_node(k, &node);
    return ST_OK;
}

static enum status keep_number(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    int64_t seq = -1;

    (void)e;
    if (sv_to_int(row->value, &seq))
        seq_set_add(k->kept, seq);
    return ST_OK;
}

/* ---- what is said about nodes ------------------------------------------------------------------
 */

/* Does the node stay, because it is in use or young enough? */
static enum status node_stays(struct loom_keeping *k, int64_t seq, bool *out, struct err *e)
{
    struct node node;

    *out = seq_set_has(k->kept, seq);
    if (*out)
        return ST_OK;
    if (rows_node(&k->rows, seq, &node, e))
        return err_code(e);
    *out = node.at >= k->before || seq_set_has(k->kept, node.latest);
    return ST_OK;
}

static enum status keep_about(struct loom_keeping *k, int64_t node, int64_t entry, struct err *e)
{
    bool stays;

    if (node_stays(k, node, &stays, e))
        return err_code(e);
    if (stays)
        seq_set_add(k->kept, entry);
    return ST_OK;
}

static enum status keep_summary(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    int64_t entry = -1;

    if (sv_eq(row->key, SV("sum/tree")))
        return keep_number(k, row, e);
    return sv_to_int(row->value, &entry) ? keep_about(k, key_last(row->key), entry, e) : ST_OK;
}

static enum status keep_annotation(struct loom_keeping *k, const struct store_row *row,
                                   struct err *e)
{
    struct json v;
    int64_t     entry = -1, node = NO_NODE;

    if (json_parse(row->value, 0, k->rows.a, &v, e))
        return err_in(e, "an annotation");
    json_int(json_find(&v, "entry"), &entry);
    return json_int(json_find(&v, "node"), &node) ? keep_about(k, node, entry, e) : ST_OK;
}

/* x/SLOT/ENTRY */
static enum status keep_link(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    struct sv slot = sv_cut(sv_skip(row->key, sizeof "x/" - 1), '/').head;
    int64_t   node;

    return sv_to_int(slot, &node) ? keep_about(k, node, key_last(row->key), e) : ST_OK;
}

/* ---- agents, documents ------------------------------------------------------------------------
 */

/* A row that names its entry. */
static enum status keep_stash(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    struct json v;
    int64_t     entry = -1;

    if (json_parse(row->value, 0, k->rows.a, &v, e))
        return err_in(e, "a stash");
    json_int(json_find(&v, "entry"), &entry);
    seq_set_add(k->kept, entry);
    return ST_OK;
}

/* The entry is the end of the key. */
static enum status keep_last(struct loom_keeping *k, const struct store_row *row, struct err *e)
{
    (void)e;
    seq_set_add(k->kept, key_last(row->key));
    return ST_OK;
}

struct last_actions {
    int64_t seqs[TRACE_KEPT]; /* a ring */
    size_t  n;
};

static enum status note_action(const struct entry *n, struct map *agents, struct arena *a,
                               struct err *e)
{
    struct arena scratch = { 0 };
    struct json  p;

    if (json_parse(n->payload, 0, &scratch, &p, e)) {
        arena_free(&scratch);
        return err_code(e);
    }
    struct sv            agent = json_text(&p, "agent");
    struct last_actions *last = map_find(agents, agent.n ? agent : AGENT_DEFAULT);
    if (!last) {
        last = ARENA_NEW(a, struct last_actions, 1);
        map_put(agents, sv_dup(agent.n ? agent : AGENT_DEFAULT, a), last);
    }
    last->seqs[last->n++ % TRACE_KEPT] = n->seq;
    arena_free(&scratch);
    return ST_OK;
}

/* The trace of an agent is its last actions, whose entries the rows do not name. */
static enum status keep_traces(struct loom_keeping *k, struct log *l, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = k->rows.thread, .to = STORE_TO_END };
    struct map                             agents = map_in(k->rows.a);
    struct entry                           n;
    bool                                   more = true;

    if (log_scan(l, &q, &scan, e))
        return err_code(e);
    for (;;) {
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            break;
        if (kind_of(n.kind) == KIND_TOOL_ACTION && kind_is_sound(&n) &&
            note_action(&n, &agents, k->rows.a, e))
            return err_code(e);
    }
    for (size_t i = 0; i < agents.n; i++) {
        const struct last_actions *last = agents.items[i].value;
        for (size_t j = 0; j < last->n && j < TRACE_KEPT; j++)
            seq_set_add(k->kept, last->seqs[j]);
    }
    return ST_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Nodes first: what is said about them follows. */
static const struct {
    const char  *prefix;
    keep_row_fn *keep;
} sorts[] = {
    { "pin/", keep_pin },     { "b/", keep_bookmark },     { "sel/", keep_number },
    { "sum/", keep_summary }, { "ann/", keep_annotation }, { "x/", keep_link },
    { "st/", keep_stash },    { "res/", keep_last },       { "undo/", keep_last },
    { "late/", keep_last },   { "dsum/", keep_number },    { "dtodo/", keep_stash },
};

static enum status keep_sort(struct loom_keeping *k, size_t sort, struct err *e)
{
    struct store_row *list;
    size_t            n;

    if (rows_below(&k->rows, sv_of(sorts[sort].prefix), &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (sorts[sort].keep(k, &list[i], e))
            return err_code(e);
    return ST_OK;
}

enum status loom_keep(struct loom *l, int64_t before, struct seq_set *kept, bool *known,
                      struct err *e)
{
    struct arena      a = { 0 };
    struct loom       mine = *l;
    struct store_head h;
    enum status       s = ST_OK;

    if (log_head(l->log, l->thread, &h, e))
        return err_code(e);
    *known = log_keeps(l->log, &h, &loom_view);
    if (!*known)
        return ST_OK;
    mine.a = &a;
    struct loom_keeping k = { .rows = rows_of_loom(&mine), .kept = kept, .before = before };
    for (size_t i = 0; i < COUNT(sorts) && !s; i++)
        s = keep_sort(&k, i, e);
    if (!s)
        s = keep_traces(&k, l->log, e);
    arena_free(&a);
    return s;
}
