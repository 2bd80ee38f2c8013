/* res/AGENT/SEQ: a result that outlives its turn, or may: "new" until the turn of its command
 * ends, "named" when that turn names something it showed. */
#include "loom/loom_internal.h"
#include "loom/results.h"

static enum status put(struct loom_rows *r, struct sv key, const struct json *from, bool named,
                       bool is_new, struct err *e)
{
    const struct json *shows = json_find(from, "shows");
    struct sb          b = sb_in(r->a, 0);
    struct jw          w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "line", json_text(from, "line"));
    jw_kbool(&w, "named", named);
    jw_kbool(&w, "new", is_new);
    if (json_is(shows, JSON_ARRAY)) {
        jw_key(&w, "shows");
        jw_json(&w, shows);
    }
    jw_close(&w, '}');
    return row_put(r, key, sb_sv(&b), e);
}

enum status fold_result(struct loom_rows *r, const struct entry *n, const struct json *p,
                        struct sv agent, struct err *e)
{
    if (!json_find(p, "result"))
        return ST_OK;
    return put(r, key_name1("res", agent, n->seq, r->a), p, json_truth(json_find(p, "referenced")),
               true, e);
}

/* Is the subject of a row pinned? Any section of a document will do. */
static bool subject_pinned(struct loom_rows *r, const struct json *row,
                           const struct store_row *pins, size_t n)
{
    const struct json *shows = json_find(row, "shows");
    struct json        pin;
    struct err         ignored;

    if (!json_is(shows, JSON_ARRAY) || !shows->n)
        return false;
    struct sv node = json_text(&shows->items[0], "node"), doc = json_text(&shows->items[0], "doc");
    for (size_t i = 0; i < n; i++)
        if (json_parse(pins[i].value, 0, r->a, &pin, &ignored) == ST_OK &&
            (node.n ? sv_eq(json_text(&pin, "node"), node) : sv_eq(json_text(&pin, "doc"), doc)))
            return true;
    return false;
}

static bool repeated(const struct json *rows, size_t i, size_t n)
{
    for (size_t k = i + 1; k < n; k++)
        if (sv_eq(json_text(&rows[k], "line"), json_text(&rows[i], "line")))
            return true;
    return false;
}

static bool same_subject(const struct json *a, const struct json *b)
{
    const struct json *x = json_find(a, "shows"), *y = json_find(b, "shows");

    if (!json_is(x, JSON_ARRAY) || !json_is(y, JSON_ARRAY) || !x->n || !y->n)
        return false;
    return sv_eq(json_text(&x->items[0], "node"), json_text(&y->items[0], "node")) &&
           sv_eq(json_text(&x->items[0], "doc"), json_text(&y->items[0], "doc"));
}

/* A pin keeps the newest result that shows what is pinned; older ones are stale. */
static bool is_stale(const struct json *rows, size_t i, size_t n)
{
    for (size_t k = i + 1; k < n; k++)
        if (same_subject(&rows[i], &rows[k]))
            return true;
    return false;
}

/* A turn ends: what it named of its own results stays for the next one, what was left from
 * earlier turns goes, and of what is pinned the newest result stays. */
enum status fold_results_turn(struct loom_rows *r, struct sv agent, struct err *e)
{
    struct store_row *rows, *pins;
    size_t            n, n_pins;

    if (row_list(r, key_agent("res", agent, r->a), (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    if (!n)
        return ST_OK;
    if (row_list(r, key_agent("pin", agent, r->a), (struct sv){ 0 }, SIZE_MAX, &pins, &n_pins, e))
        return err_code(e);
    struct json *v = ARENA_NEW(r->a, struct json, n);
    for (size_t i = 0; i < n; i++)
        if (json_parse(rows[i].value, 0, r->a, &v[i], e))
            return err_in(e, "a result");
    for (size_t i = 0; i < n; i++) {
        bool named = json_truth(json_find(&v[i], "named"));
        bool stays = (named && json_truth(json_find(&v[i], "new"))) ||
                     (subject_pinned(r, &v[i], pins, n_pins) && !is_stale(v, i, n));
        if (!stays || n - i > RESULTS_MAX || repeated(v, i, n)
                ? row_del(r, rows[i].key, e)
                : put(r, rows[i].key, &v[i], named, false, e))
            return err_code(e);
    }
    return ST_OK;
}
