/* Which results of commands an agent still sees, by the rule in the header. */
#include "loom/results.h"

#include "base/vec.h"
#include "loom/loom_internal.h"
#include "loom/memory.h"
#include "thread/kind.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

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
    struct rows r = rows_of_loom(g->l);
    struct node n;
    bool        found;

    if (has_node(g, name))
        return ST_OK;
    if (rows_find(&r, name, &n, &found, e))
        return err_code(e);
    if (found && !has_node(g, n.local))
        *vec_push(&g->items, g->l->a) = (struct shown_item){ .node = n.local };
    return ST_OK;
}

enum status shown_items(struct loom *l, struct sv known, const struct sv *ids, size_t n_ids,
                        struct sv doc, struct sv text, struct shown_item **out, size_t *n,
                        struct err *e)
{
    struct gathering g = { .l = l };

    for (size_t i = 0; i < n_ids; i++)
        if (loom_local_id_is_valid(known) && sv_eq(ids[i], known) && !has_node(&g, known))
            *vec_push(&g.items, l->a) = (struct shown_item){ .node = known };

    for (size_t i = 0; i < n_ids; i++)
        if (gather_node(&g, ids[i], e))
            return err_code(e);
    if (doc.n)
        *vec_push(&g.items, l->a) = (struct shown_item){ .doc = doc };
    /* No id holds a bracket, so only the last one that opens before a closing one matters. */
    for (struct sv_cut c = sv_cut(text, ']'); c.found && g.items.n < RESULT_ITEMS_MAX;
         c = sv_cut(c.tail, ']')) {
        struct sv_cut open = sv_cut_last(c.head, '[');
        if (open.found && loom_local_id_is_valid(open.tail) && gather_node(&g, open.tail, e))
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
        if (!pins[i].is_result && (subject->node.n ? sv_eq(pins[i].node, subject->node)
                                                   : sv_eq(pins[i].doc, subject->doc)))
            return true;
    return false;
}

static enum status itself_pinned(struct loom *l, struct sv agent, struct visible *v, struct err *e)
{
    struct pin *pins;
    size_t      n;

    if (v->pinned)
        return ST_OK;
    if (memory_pins(l, agent, &pins, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        v->pinned = v->pinned || (pins[i].is_result && pins[i].result == v->entry);
    return ST_OK;
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

/* ---- by number --------------------------------------------------------------------- */

enum status loom_result_last(struct loom *l, struct sv agent, int64_t *entry, bool *found,
                             struct err *e)
{
    struct rows r = rows_of_loom(l);

    if (row_int(&r, key_of_name("last", agent, l->a), NO_NODE, entry, e))
        return err_code(e);
    *found = *entry != NO_NODE;
    return ST_OK;
}

enum status loom_result(struct loom *l, struct sv agent, int64_t entry, struct kept_result *out,
                        struct err *e)
{
    struct entry n;
    struct json  p;
    bool         found = false;

    if (entry >= 0 && log_entry(l->log, l->thread, entry, l->a, &n, &found, e))
        return err_code(e);
    found = found && kind_of(n.kind) == KIND_TOOL_ACTION && kind_is_sound(&n) &&
            json_parse(skeleton_shown(&n, l->a), 0, l->a, &p, e) == ST_OK;
    if (!found || !sv_eq(json_text(&p, "agent"), agent) || !json_text(&p, "result").s) {
        err_set(e, ST_NOT_FOUND, "no result of yours has the number %lld", (long long)entry);
        return err_hint(e, "→ memory results lists those that are in view");
    }
    *out = (struct kept_result){ json_text(&p, "line"), json_text(&p, "result"),
                                 json_text(&p, "full") };
    if (!out->full.s)
        out->full = out->text;
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
    if (shown_pinned(l, agent, out->items, n, &out->pinned, e))
        return err_code(e);
    return itself_pinned(l, agent, out, e);
}

enum status loom_results_visible(struct loom *l, struct sv agent, struct visible **out, size_t *n,
                                 struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            count;

    *n = 0;
    if (row_list(&r, key_below_name("res", agent, l->a), (struct sv){ 0 }, SIZE_MAX, &rows, &count,
                 e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct visible, count ? count : 1);
    for (size_t i = 0; i < count; i++) {
        struct json v;
        if (json_parse(rows[i].value, 0, l->a, &v, e))
            return err_in(e, "a result");
        if (json_truth(json_find(&v, "new"))) /* a result of the present turn */
            continue;
        if (read_visible(l, agent, &rows[i], &v, &(*out)[(*n)++], e))
            return err_code(e);
    }
    return ST_OK;
}
