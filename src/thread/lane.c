#include "thread/lane.h"

#include "base/json.h"
#include "base/vec.h"
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
    struct sv row;

    if (log_row_get(l, thread, &thread_view, key_of_name("lane", name, a), a, &row, found, e))
        return err_code(e);
    return *found ? read_lane(name, row, a, out, e) : ST_OK;
}

enum status lane_list(struct log *l, struct sv thread, struct arena *a, struct lane **out,
                      size_t *n, struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { .thread = thread,
                                                   .view = sv_of(thread_view.name),
                                                   .prefix = SV("lane/") };
    struct store_row                         row;
    VEC(struct lane) list = { 0 };
    bool more = true;

    if (store_rows(l->store, &q, &rows, e))
        return err_code(e);
    for (;;) {
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        if (!more)
            break;
        struct lane *one = vec_push(&list, a);
        if (read_lane(sv_skip(row.key, q.prefix.n), sv_dup(row.value, a), a, one, e))
            return err_code(e);
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

enum status lane_path(struct log *l, struct sv thread, struct sv name, int64_t upto,
                      struct arena *a, struct stretch **out, size_t *n, struct err *e)
{
    VEC(struct stretch) up = { 0 };
    struct lane lane;
    bool        found = true;

    /* From the lane up to its first ancestor. An ancestor is older than its descendant: a
     * lane that came into being later was not what was forked. So the walk ends. */
    for (int64_t made_by = INT64_MAX; upto >= 0; made_by = lane.seq - 1) {
        if (lane_find(l, thread, name, a, &lane, &found, e))
            return err_code(e);
        if (!found || lane.seq > made_by)
            break;
        if (lane.at < upto) /* else it was forked off above this point: nothing is its own */
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

enum status lane_active(struct log *l, struct sv thread, struct sv agent, struct arena *a,
                        struct sv *out, struct err *e)
{
    bool found;

    if (log_row_get(l, thread, &thread_view, key_of_name("active", agent, a), a, out, &found, e))
        return err_code(e);
    if (!found)
        *out = LANE_DEFAULT;
    return ST_OK;
}
