/* Finding a node by what a person or a model writes, and the hint when there is none. A wrong id is
 * common (a model mistypes it) and is handled inside a write transaction, so it costs at most a few
 * hundred row reads, for any size of this tree and any number of others. */
#include "base/utf8.h"
#include "loom/limits.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"
#include "thread/scan.h"

/* ---- what may have been meant ------------------------------------------------------- */

struct near {
    struct sv     wanted, found;
    struct arena *a;
    size_t        seen;
};

static bool is_near(void *ctx, const struct store_row *row)
{
    struct near *n = ctx;
    struct sv    local = sv_skip(row->key, 2);

    if (sv_distance(local, n->wanted) == 1)
        n->found = sv_dup(local, n->a);
    return !n->found.s && ++n->seen < NEAR_IDS_MAX;
}

/* Is there a node with the id `id`? */
static enum status try_id(struct rows *r, struct sv id, struct sv *out, struct err *e)
{
    int64_t seq;

    if (row_int(r, key_of_name("l", id, r->a), NO_NODE, &seq, e))
        return err_code(e);
    if (seq != NO_NODE)
        *out = sv_dup(id, r->a);
    return ST_OK;
}

/* The id with another character at `at`. */
static enum status try_others(struct rows *r, struct sv key, size_t at, struct sv *out,
                              struct err *e)
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    struct sb         b = sb_in(r->a, 0);

    sb_add(&b, key);
    for (size_t i = 0; !out->s && i + 1 < sizeof letters; i++) {
        b.s[at] = letters[i];
        if (try_id(r, sb_sv(&b), out, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The id with two adjacent characters swapped. */
static enum status try_swapped(struct rows *r, struct sv key, struct sv *out, struct err *e)
{
    struct sb b = sb_in(r->a, 0);

    sb_add(&b, key);
    for (size_t i = 0; !out->s && i + 1 < key.n; i++) {
        b.s[i] = key.s[i + 1];
        b.s[i + 1] = key.s[i];
        if (try_id(r, sb_sv(&b), out, e))
            return err_code(e);
        b.s[i] = key.s[i];
        b.s[i + 1] = key.s[i + 1];
    }
    return ST_OK;
}

/* An id of this tree that differs by one typing error: in its second half (these ids stand
 * together), in the first, or by two characters that changed places. */
static enum status nearest(struct loom *l, struct sv key, struct sv *out, struct err *e)
{
    enum { TYPED_MAX = 8 };
    struct rows r = rows_of_loom(l);
    struct near n = { .wanted = key, .a = l->a };
    struct sv   half = utf8_first(key, key.n / 2);

    *out = (struct sv){ 0 };
    if (!key.n || key.n > TYPED_MAX)
        return ST_OK;
    if (row_each(&r, key_of_name("l", half, l->a), (struct sv){ 0 }, false, is_near, &n, e))
        return err_code(e);
    *out = n.found;
    if (!out->s && try_swapped(&r, key, out, e))
        return err_code(e);
    for (size_t at = 0; !out->s && at < half.n; at++)
        if (try_others(&r, key, at, out, e))
            return err_code(e);
    return ST_OK;
}

/* ---- in other trees ----------------------------------------------------------------- */

/* A thread other than this one that has a node with this id. Only threads that are trees already
 * are asked, and only where there are few of them: in a large workspace every id exists in some
 * tree, and the message for a typing error would name an unrelated tree. */
static enum status elsewhere(struct loom *l, struct sv key, struct loom *out, bool *found,
                             struct err *e)
{
    struct store_thread *threads;
    size_t               n;
    int64_t              seq;

    *found = false;
    if (!loom_local_id_is_valid(key))
        return ST_OK;
    if (log_threads(l->log, l->a, &threads, &n, e))
        return err_code(e);
    for (size_t i = 0; n <= ELSEWHERE_MAX && i < n; i++) {
        struct rows r = rows_of_view(l->log, threads[i].id, &loom_view, l->a);
        if (sv_eq(threads[i].id, l->thread))
            continue;
        if (!log_keeps(l->log, &threads[i].head, &loom_view))
            continue;
        if (row_int(&r, key_of_name("l", key, l->a), NO_NODE, &seq, e))
            return err_code(e);
        *found = seq != NO_NODE;
        if (*found)
            return loom_other(l, threads[i].id, out, e);
    }
    return ST_OK;
}

static enum status in_other_tree(struct loom *l, struct sv key, struct loom *other, struct err *e)
{
    struct sv title = { 0 };
    struct sb quoted = sb_in(l->a, 0);

    if (loom_title(other, &title, e))
        return err_code(e);
    sb_add_quoted(&quoted, title);
    err_set(e, ST_CROSS_TREE, "node [" SV_FMT "] is in tree \"" SV_FMT "\"", SV_ARG(key),
            SV_ARG(title));
    return err_hint(
        e, "use → switch to " SV_FMT " in tree:" SV_FMT " (requires cross-tree permission)",
        SV_ARG(key), SV_ARG(sb_sv(&quoted)));
}

static enum status not_found(struct loom *l, struct sv text, struct err *e)
{
    struct sv   key = loom_local_key(text, l->a), near_id;
    struct loom other;
    bool        found = false;

    if (nearest(l, key, &near_id, e) || (!near_id.s && elsewhere(l, key, &other, &found, e)))
        return err_code(e);
    if (found)
        return in_other_tree(l, key, &other, e);
    err_set(e, ST_NOT_FOUND, "node [" SV_FMT "] does not exist in this tree", SV_ARG(key));
    return near_id.s ? err_hint(e, "did you mean [" SV_FMT "]?", SV_ARG(near_id)) : e->code;
}

enum status node_find(struct loom *l, struct sv text, struct node *out, struct err *e)
{
    struct rows r = rows_of_loom(l);
    bool        found;

    if (rows_find(&r, text, out, &found, e))
        return err_code(e);
    return found ? ST_OK : not_found(l, text, e);
}

enum status node_find_visible(struct loom *l, struct sv text, struct node *out, struct err *e)
{
    struct node root;
    int64_t     by;

    if (node_find(l, text, out, e) || node_hidden(l, out, &by, e))
        return err_code(e);
    if (by == NO_NODE)
        return ST_OK;
    if (node_at(l, by, &root, e))
        return err_code(e);
    err_set(e, ST_NOT_FOUND, "node [" SV_FMT "] is pruned", SV_ARG(out->local));
    return err_hint(e, "→ restore " SV_FMT, SV_ARG(root.local));
}

enum status loom_ids(struct loom *l, struct sv start, size_t max, struct sv **out, size_t *n,
                     struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;

    if (row_list(&r, key_of_name("l", loom_local_key(start, l->a), l->a), (struct sv){ 0 }, max,
                 &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct sv, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = sv_skip(rows[i].key, 2);
    return ST_OK;
}
