/* Lanes from the rows of the thread view: finding, listing, the stretches of a path. */
#include "thread/lane.h"

#include "base/json.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/kind.h"

static enum status read_lane(struct sv name, struct sv row, struct arena *a, struct lane *out,
                             struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e)) {
        err_set(e, ST_CORRUPT, "the row of lane '" SV_FMT "' is not what was written",
                SV_ARG(name));
        return err_hint(e, "`heddle doctor --fix` makes the views anew from the entries");
    }
    *out = (struct lane){ .name = sv_dup(name, a), .from = json_text(&v, "from"), .at = -1 };
    json_int(json_find(&v, "at"), &out->at);
    json_int(json_find(&v, "seq"), &out->seq);
    return ST_OK;
}

enum status lane_find(struct log *l, struct sv thread, struct sv name, struct arena *a,
                      struct lane *out, bool *found, struct err *e)
{
    struct rows r = rows_of_view(l, thread, &thread_view, a);
    struct sv   row;

    if (row_get(&r, key_of_name("lane", name, a), &row, found, e))
        return err_code(e);
    return *found ? read_lane(name, row, a, out, e) : ST_OK;
}

enum status lane_list(struct log *l, struct sv thread, struct arena *a, struct lane **out,
                      size_t *n, struct err *e)
{
    struct rows       r = rows_of_view(l, thread, &thread_view, a);
    struct store_row *rows;
    struct sv         prefix = SV("lane/");

    if (rows_below(&r, prefix, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct lane, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (read_lane(sv_skip(rows[i].key, prefix.n), rows[i].value, a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status lane_path(struct log *l, struct sv thread, struct sv name, int64_t upto,
                      struct arena *a, struct stretch **out, size_t *n, struct err *e)
{
    VEC(struct stretch) up = { 0 };
    struct lane lane;
    bool        found = true;

    /* Walk from the lane to its first ancestor. An ancestor is always older than its descendant,
     * because a lane that was created later cannot have been forked. So the walk ends. */
    for (int64_t made_by = INT64_MAX; upto >= 0; made_by = lane.seq - 1) {
        if (lane_find(l, thread, name, a, &lane, &found, e))
            return err_code(e);
        if (!found || lane.seq > made_by)
            break;
        if (lane.at < upto) /* else it was forked later: no entry of its own is shown */
            *vec_push(&up, a) = (struct stretch){ name, lane.at + 1, upto };
        if (!lane.from.s)
            break;
        name = lane.from;
        upto = lane.at < upto ? lane.at : upto;
    }
    for (size_t i = 0; i < up.n / 2; i++) {
        struct stretch t = up.v[i];
        up.v[i] = up.v[up.n - 1 - i];
        up.v[up.n - 1 - i] = t;
    }
    *out = up.v;
    *n = up.n;
    return ST_OK;
}

enum status lane_reach(struct log *l, struct sv thread, struct sv lane, int64_t seq, int64_t *upto,
                       struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = {
                              .thread = thread, .from = seq + 1, .to = STORE_TO_END, .lane = lane, .mark = MARK_MESSAGE
    };
    struct entry next;
    bool         more;

    if (store_scan(l->store, &q, &scan, e) || store_next(scan, &next, &more, e))
        return err_code(e);
    *upto = more ? next.seq - 1 : STORE_TO_END;
    return ST_OK;
}

struct place_then {
    struct arena     *a;
    int64_t           at;
    struct store_row *row;
};

static bool is_then(void *ctx, const struct store_row *row)
{
    struct place_then *t = ctx;

    if (key_last(row->key) > t->at)
        return true;
    t->row = ARENA_NEW(t->a, struct store_row, 1);
    *t->row =
        (struct store_row){ .key = sv_dup(row->key, t->a), .value = sv_dup(row->value, t->a) };
    return false;
}

enum status lane_place(struct log *l, struct sv thread, struct sv agent, int64_t at,
                       struct arena *a, struct lane_place *out, struct err *e)
{
    struct rows       r = rows_of_view(l, thread, &thread_view, a);
    struct place_then then = { .a = a, .at = at };
    struct json       v;
    bool              found;

    *out = (struct lane_place){ .lane = LANE_DEFAULT, .since = -1 };
    if (row_json(&r, key_of_name("active", agent, a), &v, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    json_int(json_find(&v, "since"), &out->since);
    if (out->since > at) { /* it came there later */
        out->since = -1;
        if (row_each(&r, key_below_name("was", agent, a), (struct sv){ 0 }, true, is_then, &then,
                     e) ||
            (then.row && json_parse(then.row->value, 0, a, &v, e)))
            return err_code(e);
        if (!then.row)
            return ST_OK;
        out->since = key_last(then.row->key);
    }
    out->lane = json_text(&v, "lane");
    out->node = json_text(&v, "node");
    return ST_OK;
}

enum status lane_active(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                        struct sv *out, struct err *e)
{
    struct lane_place place;

    if (lane_place(l, thread, agent, STORE_TO_END, a, &place, e))
        return err_code(e);
    *out = place.lane;
    return ST_OK;
}

enum status lane_not_found(struct sv thread, struct sv name, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "lane '" SV_FMT "' not found in thread '" SV_FMT "'", SV_ARG(name),
            SV_ARG(thread));
    return err_hint(e, "`heddle log show` names the lane of each entry");
}
