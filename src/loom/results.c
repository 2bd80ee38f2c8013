#include "loom/results.h"

#include "base/vec.h"
#include "loom/loom_internal.h"
#include "loom/memory.h"

/* ---- what a result shows ---------------------------------------------------------- */

struct gathering {
    struct loom *l;
    VEC(struct shown_item) items;
};

static bool has_node(const struct gathering *g, struct sv local)
{
    for (size_t i = 0; i < g->items.n; i++)
        if (sv_eq(g->items.v[i].node, local))
            return true;
    return false;
}

static enum status gather_node(struct gathering *g, struct sv name, struct err *e)
{
    struct loom_rows r = rows_of_loom(g->l);
    struct node      n;
    bool             found;

    if (rows_find(&r, name, &n, &found, e))
        return err_code(e);
    if (found && !has_node(g, n.local))
        *vec_push(&g->items, g->l->a) = (struct shown_item){ .node = n.local };
    return ST_OK;
}

enum status shown_items(struct loom *l, const struct sv *ids, size_t n_ids, struct sv doc,
                        struct sv text, struct shown_item **out, size_t *n, struct err *e)
{
    struct gathering g = { .l = l };

    for (size_t i = 0; i < n_ids; i++)
        if (gather_node(&g, ids[i], e))
            return err_code(e);
    if (doc.n)
        *vec_push(&g.items, l->a) = (struct shown_item){ .doc = doc };
    /* No id holds a bracket, so only the last one that opens before a closing one matters. */
    for (struct sv_cut c = sv_cut(text, ']'); c.found && g.items.n < SHOWN_MAX;
         c = sv_cut(c.tail, ']')) {
        struct sv_cut open = sv_cut_last(c.head, '[');
        if (open.found && local_id_is_valid(open.tail) && gather_node(&g, open.tail, e))
            return err_code(e);
    }
    *out = g.items.v;
    *n = g.items.n;
    return ST_OK;
}

/* ---- what is named ---------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(struct sv text, struct sv word)
{
    ptrdiff_t at;
    char      before = ' ';

    while (word.n && (at = sv_find(text, word)) >= 0) {
        size_t end = (size_t)at + word.n;
        before = at ? text.s[at - 1] : before;
        if (!is_word(before) && (end == text.n || !is_word(text.s[end])))
            return true;
        before = text.s[at];
        text = sv_skip(text, (size_t)at + 1);
    }
    return false;
}

bool shown_named(const struct shown_item *items, size_t n, struct sv lower, struct arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (has_word(lower, sv_lower(items[i].node.n ? items[i].node : items[i].doc, a)))
            return true;
    return false;
}

static bool is_pinned(const struct shown_item *subject, const struct pin *pins, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (subject->node.n ? sv_eq(pins[i].node, subject->node) : sv_eq(pins[i].doc, subject->doc))
            return true;
    return false;
}

enum status shown_pinned(struct loom *l, struct sv agent, const struct shown_item *items, size_t n,
                         bool *out, struct err *e)
{
    struct pin *pins;
    size_t      n_pins;

    *out = false;
    if (!n)
        return ST_OK;
    if (memory_pins(l, agent, &pins, &n_pins, e))
        return err_code(e);
    *out = is_pinned(&items[0], pins, n_pins);
    return ST_OK;
}

/* ---- what is still seen ------------------------------------------------------------ */

static enum status read_visible(struct loom *l, struct sv agent, const struct store_row *row,
                                const struct json *v, struct visible *out, struct err *e)
{
    const struct json *shows = json_find(v, "shows");
    struct json        p;
    size_t             n = json_is(shows, JSON_ARRAY) ? shows->n : 0;

    *out = (struct visible){ .entry = key_last(row->key),
                             .items = ARENA_NEW(l->a, struct shown_item, n ? n : 1),
                             .n = n };
    for (size_t i = 0; i < n; i++)
        out->items[i] = (struct shown_item){ json_text(&shows->items[i], "node"),
                                             json_text(&shows->items[i], "doc") };
    if (loom_payload(l, out->entry, &p, e))
        return err_code(e);
    out->line = json_text(&p, "line");
    out->text = json_text(&p, "result");
    return shown_pinned(l, agent, out->items, n, &out->pinned, e);
}

enum status loom_results_visible(struct loom *l, struct sv agent, struct visible **out, size_t *n,
                                 struct err *e)
{
    struct loom_rows  r = rows_of_loom(l);
    struct store_row *rows;
    size_t            count;

    *n = 0;
    if (row_list(&r, key_agent("res", agent, l->a), (struct sv){ 0 }, SIZE_MAX, &rows, &count, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct visible, count ? count : 1);
    for (size_t i = 0; i < count; i++) {
        struct json v;
        if (json_parse(rows[i].value, 0, l->a, &v, e))
            return err_in(e, "a result");
        if (json_truth(json_find(&v, "new"))) /* of the turn that goes on */
            continue;
        if (read_visible(l, agent, &rows[i], &v, &(*out)[(*n)++], e))
            return err_code(e);
    }
    return ST_OK;
}
