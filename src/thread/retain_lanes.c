/* Which entries the contexts of all lanes are made of, as ranges of seqs for each lane.
 *
 * A lane forked from another shows what that one showed up to the shared point, so the question is
 * asked of points (a lane up to a seq) and every answer is remembered: many lanes on one trunk cost
 * one look at the trunk. */
#include "thread/project.h"
#include "thread/retain.h"

#include <stdlib.h>

struct seq_range {
    int64_t from, to;
};
typedef VEC(struct seq_range) range_list;

enum { MESSAGES, ANCHORS, SORTS };

struct lane_shown {
    struct lane lane;
    range_list  ranges[SORTS]; /* sorted and merged at the end */
};

struct point {
    bool    known;
    int64_t anchor, after; /* as in struct projection */
    int64_t walked[SORTS]; /* the lowest seq from which on this point's path has been added */
};

struct shown_finding {
    struct log         *log;
    struct sv           thread;
    struct arena       *a;
    struct lanes_shown *out;
    struct map          points; /* "UPTO/LANE" -> struct point */
};

static struct point *point_of(struct shown_finding *f, struct sv lane, int64_t upto)
{
    struct sb     key = sb_in(f->a, 0);
    struct point *p;

    sb_addf(&key, "%lld/" SV_FMT, (long long)upto, SV_ARG(lane));
    p = map_find(&f->points, sb_sv(&key));
    if (p)
        return p;
    p = ARENA_NEW(f->a, struct point, 1);
    *p = (struct point){ .anchor = -1, .after = -1, .walked = { INT64_MAX, INT64_MAX } };
    map_put(&f->points, sb_sv(&key), p);
    return p;
}

/* The lane that `x` was forked from, unless there is none or it is younger: see lane_path(). */
static struct lane_shown *parent_of(struct shown_finding *f, const struct lane_shown *x)
{
    struct lane_shown *up = x->lane.from.s ? map_find(&f->out->lanes, x->lane.from) : NULL;

    return up && up->lane.seq < x->lane.seq ? up : NULL;
}

static int64_t shared(const struct lane_shown *x, int64_t upto)
{
    return x->lane.at < upto ? x->lane.at : upto;
}

/* Fill in anchor and after of a point: of its own stretch, else of the point it was forked at. */
static enum status find_anchors(struct shown_finding *f, struct lane_shown *x, int64_t upto,
                                struct err *e)
{
    VEC(struct point *) unknown = { 0 };
    int64_t anchor = -1, after = -1;

    while (x && upto >= 0 && anchor < 0) {
        struct point *p = point_of(f, x->lane.name, upto);
        if (p->known) {
            anchor = p->anchor;
            after = p->after;
            break;
        }
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
        *vec_push(&unknown, f->a) = p;
        struct stretch own = { x->lane.name, x->lane.at + 1, upto };
        if (own.from <= own.to && project_anchor(f->log, f->thread, &own, &anchor, &after, e))
            return err_code(e);
        upto = shared(x, upto);
        x = parent_of(f, x);
    }
    for (size_t i = 0; i < unknown.n; i++) {
        unknown.v[i]->known = true;
        unknown.v[i]->anchor = anchor;
        unknown.v[i]->after = after;
    }
    return ST_OK;
}

/* Everything of one sort from `low` on along the path of a point. */
static void add_path(struct shown_finding *f, struct lane_shown *x, int64_t upto, int64_t low,
                     int sort)
{
    for (; x && upto >= low; x = parent_of(f, x)) {
        struct point *p = point_of(f, x->lane.name, upto);
        if (p->walked[sort] <= low)
            return;
        p->walked[sort] = low;
        int64_t from = x->lane.at + 1 > low ? x->lane.at + 1 : low;
        if (from <= upto)
            *vec_push(&x->ranges[sort], f->a) = (struct seq_range){ from, upto };
        upto = shared(x, upto);
    }
}

static int by_from(const void *x, const void *y)
{
    const struct seq_range *a = x, *b = y;

    return a->from < b->from ? -1 : a->from > b->from;
}

static void merge_ranges(range_list *list)
{
    size_t n = 0;

    if (!list->n)
        return;
    qsort(list->v, list->n, sizeof *list->v, by_from);
    for (size_t i = 1; i < list->n; i++) {
        if (list->v[i].from > list->v[n].to + 1)
            list->v[++n] = list->v[i];
        else if (list->v[i].to > list->v[n].to)
            list->v[n].to = list->v[i].to;
    }
    list->n = n + 1;
}

enum status lanes_shown_find(struct log *l, struct sv thread, struct arena *a,
                             struct lanes_shown *out, struct err *e)
{
    struct shown_finding f = { .log = l, .thread = thread, .a = a, .out = out };
    struct store_head    h;
    struct lane         *lanes;
    size_t               n;

    f.points = map_in(a);
    out->lanes = map_in(a);
    if (log_head(l, thread, &h, e) || lane_list(l, thread, a, &lanes, &n, e))
        return err_code(e);
    struct lane_shown *list = ARENA_NEW(a, struct lane_shown, n + 1);
    for (size_t i = 0; i < n; i++) {
        list[i] = (struct lane_shown){ .lane = lanes[i] };
        map_put(&out->lanes, lanes[i].name, &list[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (find_anchors(&f, &list[i], h.rev - 1, e))
            return err_code(e);
        struct point *p = point_of(&f, list[i].lane.name, h.rev - 1);
        add_path(&f, &list[i], h.rev - 1, p->after + 1, MESSAGES);
        add_path(&f, &list[i], h.rev - 1, p->anchor < 0 ? 0 : p->anchor, ANCHORS);
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < SORTS; k++)
            merge_ranges(&list[i].ranges[k]);
    return ST_OK;
}

bool lanes_shown_has(const struct lanes_shown *s, const struct entry *n)
{
    bool message = n->mark == MARK_MESSAGE, anchor = n->mark == MARK_ANCHOR;

    struct lane_shown *x = message || anchor ? map_find(&s->lanes, n->lane) : NULL;
    if (!x)
        return false;
    const range_list *r = &x->ranges[message ? MESSAGES : ANCHORS];
    size_t            low = 0, high = r->n;
    while (low < high) { /* the first range that ends at or behind it */
        size_t mid = low + (high - low) / 2;
        if (r->v[mid].to < n->seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->n && r->v[low].from <= n->seq;
}
