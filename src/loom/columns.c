/* The shape of a tree, read from its rows in one pass: nothing is parsed that is not a column. */
#include "loom/columns.h"

#include "base/vec.h"
#include "loom/loom_internal.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <stdlib.h>
#include <string.h>

struct column_row {
    uint32_t seq, parent;
    uint8_t  flags;
    char     local[COLUMN_LOCAL];
};

struct column_scan {
    struct arena *a;
    VEC(struct column_row) rows;
    int64_t since;
};

/* A whole number of a row; they are small and were written by rows_put_node(). */
static uint32_t number_of(struct sv raw)
{
    uint32_t n = 0;

    for (size_t i = 0; i < raw.n && raw.s[i] >= '0' && raw.s[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(raw.s[i] - '0');
    return n;
}

static void take_local(struct column_row *c, struct sv raw)
{
    if (raw.n >= 2 && raw.n - 2 <= COLUMN_LOCAL)
        memcpy(c->local, raw.s + 1, raw.n - 2);
}

static void take_member(struct column_row *c, struct sv key, struct sv raw)
{
    static const struct {
        const char       *key;
        enum column_flags flag;
    } marks[] = {
        { "bookmarked", COLUMN_BOOKMARKED },
        { "excluded", COLUMN_EXCLUDED },
        { "pruned", COLUMN_PRUNED },
        { "withdrawn", COLUMN_WITHDRAWN },
    };

    if (sv_is(key, "parent") && !(c->flags & COLUMN_VERSION)) {
        c->parent = number_of(raw);
    } else if (sv_is(key, "slot")) {
        c->parent = number_of(raw);
        c->flags |= COLUMN_VERSION;
    } else if (sv_is(key, "local")) {
        take_local(c, raw);
    } else if (sv_is(key, "kind")) {
        c->flags |= sv_is(raw, "\"model\"")  ? AUTHOR_MODEL
                    : sv_is(raw, "\"tool\"") ? AUTHOR_TOOL
                                             : 0;
    } else {
        for (size_t i = 0; i < COUNT(marks); i++)
            if (sv_is(key, marks[i].key))
                c->flags |= (uint8_t)marks[i].flag;
    }
}

static struct column_row row_of(int64_t seq, struct sv value)
{
    struct column_row c = { .seq = (uint32_t)seq, .parent = COLUMN_NO_PARENT };
    struct sv         rest = value, key, raw;

    while (json_next(&rest, &key, &raw))
        take_member(&c, key, raw);
    return c;
}

static bool keep_row(void *ctx, const struct store_row *row)
{
    struct column_scan *s = ctx;

    *vec_push(&s->rows, s->a) = row_of(key_last(row->key), row->value);
    return true;
}

/* ---- what was marked ------------------------------------------------------------------------ */

static enum status keep_node(struct column_scan *s, struct rows *r, int64_t seq, struct err *e)
{
    struct sv value;
    bool      found;

    if (seq > s->since)
        return ST_OK;
    if (row_get(r, key_of_seq("n", seq, s->a), &value, &found, e))
        return err_code(e);
    if (found)
        *vec_push(&s->rows, s->a) = row_of(seq, value);
    return ST_OK;
}

/* The node that a mark names, and the one in whose place it stands: a mark belongs to the slot. */
static enum status keep_marked(struct column_scan *s, struct rows *r, const struct entry *n,
                               struct err *e)
{
    struct json p;
    struct node node;
    bool        found;

    if (json_parse(n->payload, 0, s->a, &p, e))
        return err_code(e);
    if (!json_text(&p, "node").n)
        return ST_OK;
    if (rows_find(r, json_text(&p, "node"), &node, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    return keep_node(s, r, node.seq, e) ? err_code(e) : keep_node(s, r, node.slot, e);
}

static int by_seq(const void *a, const void *b)
{
    const struct column_row *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void sort_rows(struct column_scan *s)
{
    size_t n = 0;

    if (!s->rows.n)
        return;
    qsort(s->rows.v, s->rows.n, sizeof *s->rows.v, by_seq);
    for (size_t i = 0; i < s->rows.n; i++)
        if (!n || s->rows.v[n - 1].seq != s->rows.v[i].seq)
            s->rows.v[n++] = s->rows.v[i];
    s->rows.n = n;
}

static enum status find_marked(struct loom *l, struct column_scan *s, struct rows *r, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = l->thread, .from = s->since + 1, .to = STORE_TO_END };
    struct entry       n;
    bool               more = false;
    enum status        status;

    if (log_scan(l->log, &q, &scan, e))
        return err_code(e);
    while (!(status = log_scan_next(scan, &n, &more, e)) && more)
        if (kind_of(n.kind) == KIND_LOOM_MARK && keep_marked(s, r, &n, e))
            return err_code(e);
    sort_rows(s);
    return status;
}

/* ---- as columns ------------------------------------------------------------------------------ */

static void write_columns(const struct column_scan *s, struct tree_columns *out)
{
    size_t n = s->rows.n;

    out->n = n;
    out->seq = ARENA_NEW(s->a, uint32_t, n + 1);
    out->parent = ARENA_NEW(s->a, uint32_t, n + 1);
    out->flags = ARENA_NEW(s->a, uint8_t, n + 1);
    out->local = arena_alloc(s->a, n + 1, sizeof *out->local, 1);
    for (size_t i = 0; i < n; i++) {
        const struct column_row *c = &s->rows.v[i];
        out->seq[i] = c->seq;
        out->parent[i] = c->parent;
        out->flags[i] = c->flags;
        memcpy(out->local[i], c->local, COLUMN_LOCAL);
    }
}

enum status loom_columns(struct loom *l, int64_t since, struct tree_columns *out, struct err *e)
{
    struct rows        r = rows_of_loom(l);
    struct column_scan s = { .a = l->a };
    struct store_head  h;

    if (log_head(l->log, l->thread, &h, e))
        return err_code(e);
    since = since < h.rev ? since : h.rev; /* nothing is behind the end */
    s.since = since;
    if (h.rev >= UINT32_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "the thread has more than %lld entries",
                       (long long)UINT32_MAX);
    if (since >= 0 && find_marked(l, &s, &r, e))
        return err_code(e);
    if (row_each(&r, SV("n/"), key_of_seq("n", since + 1, l->a), false, keep_row, &s, e))
        return err_code(e);
    out->rev = h.rev;
    write_columns(&s, out);
    return ST_OK;
}
