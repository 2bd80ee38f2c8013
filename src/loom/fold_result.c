/* res/AGENT/SEQ: a result that outlives its turn, or may: "new" until the turn of its command
 * ends, "named" when that turn names something it showed. */
#include "loom/loom_internal.h"
#include "loom/memory.h"
#include "loom/results.h"

static enum status put(struct rows *r, struct sv key, const struct json *from, bool named,
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

enum status fold_result(struct rows *r, const struct entry *n, const struct json *p,
                        struct sv agent, struct err *e)
{
    if (!json_find(p, "result"))
        return ST_OK;
    if (row_put_int(r, key_of_name("last", agent, r->a), n->seq, e))
        return err_code(e);
    return put(r, key_of_name_seq("res", agent, n->seq, r->a), p,
               json_truth(json_find(p, "referenced")), true, e);
}

/* A result that is pinned is seen again, even if it had faded. */
enum status fold_result_pinned(struct rows *r, struct sv agent, int64_t seq, const struct json *p,
                               struct err *e)
{
    struct sv   key = key_of_name_seq("res", agent, seq, r->a), old;
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json row;
    bool        found;

    if (row_get(r, key, &old, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "line", json_text(p, "text"));
    jw_close(&w, '}');
    return json_parse(sb_sv(&b), 0, r->a, &row, e) ? err_code(e)
                                                   : put(r, key, &row, false, false, e);
}

/* Is the result itself pinned? */
static bool result_pinned(const struct pin *pins, size_t n, struct sv key)
{
    for (size_t i = 0; i < n; i++)
        if (pins[i].is_result && pins[i].result == key_last(key))
            return true;
    return false;
}

/* Is the subject of a row pinned? A pin of any section of a document counts. */
static bool subject_pinned(const struct json *row, const struct pin *pins, size_t n)
{
    const struct json *shows = json_find(row, "shows");

    if (!json_is(shows, JSON_ARRAY) || !shows->n)
        return false;
    struct sv node = json_text(&shows->items[0], "node"), doc = json_text(&shows->items[0], "doc");
    for (size_t i = 0; i < n; i++)
        if (!pins[i].is_result && (node.n ? sv_eq(pins[i].node, node) : sv_eq(pins[i].doc, doc)))
            return true;
    return false;
}

static enum status read_pins(struct rows *r, struct sv agent, struct pin **out, size_t *n,
                             struct err *e)
{
    struct store_row *rows;
    struct json       v;
    struct err        ignored;

    if (row_list(r, key_below_name("pin", agent, r->a), (struct sv){ 0 }, SIZE_MAX, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(r->a, struct pin, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (json_parse(rows[i].value, 0, r->a, &v, &ignored) == ST_OK)
            (*out)[i] = memory_pin_of(&v);
    return ST_OK;
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

/* Did a later round of the turn name what this result showed? The entry that ends the turn lists
 * such results. */
static bool named_later(const struct json *later, struct sv key)
{
    int64_t seq;

    for (size_t i = 0; json_is(later, JSON_ARRAY) && i < later->n; i++)
        if (json_int(&later->items[i], &seq) && seq == key_last(key))
            return true;
    return false;
}

/* A turn ends: what it named of its own results stays for the next one, what was left from
 * earlier turns goes, and of what is pinned the newest result stays. */
enum status fold_results_turn(struct rows *r, struct sv agent, const struct json *later,
                              struct err *e)
{
    struct store_row *rows;
    struct pin       *pins;
    size_t            n, n_pins;

    if (row_list(r, key_below_name("res", agent, r->a), (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    if (!n)
        return ST_OK;
    if (read_pins(r, agent, &pins, &n_pins, e))
        return err_code(e);
    struct json *v = ARENA_NEW(r->a, struct json, n);
    for (size_t i = 0; i < n; i++)
        if (json_parse(rows[i].value, 0, r->a, &v[i], e))
            return err_in(e, "a result");
    for (size_t i = 0; i < n; i++) {
        bool named = json_truth(json_find(&v[i], "named")) || named_later(later, rows[i].key);
        bool stays = (named && json_truth(json_find(&v[i], "new"))) ||
                     (subject_pinned(&v[i], pins, n_pins) && !is_stale(v, i, n));
        stays = (stays && n - i <= RESULTS_MAX && !repeated(v, i, n)) ||
                result_pinned(pins, n_pins, rows[i].key);
        if (!stays ? row_del(r, rows[i].key, e) : put(r, rows[i].key, &v[i], named, false, e))
            return err_code(e);
    }
    return ST_OK;
}
