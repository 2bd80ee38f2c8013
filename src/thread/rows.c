/* Rows of views: reading and writing them, and the keys they stand under. */
#include "thread/rows.h"

#include "base/vec.h"
#include "store/store.h"
#include "thread/log.h"

#include <string.h>

struct rows rows_of_view(const struct log *l, struct sv thread, const struct view *v,
                         struct arena *a)
{
    return (struct rows){ l->store, thread, sv_of(v->name), a };
}

static struct store_key place(const struct rows *r, struct sv key)
{
    return (struct store_key){ r->thread, r->view, key };
}

/* ---- one row ------------------------------------------------------------------------ */

enum status row_get(struct rows *r, struct sv key, struct sv *value, bool *found, struct err *e)
{
    struct store_key k = place(r, key);

    return store_row_get(r->store, &k, r->a, value, found, e);
}

enum status row_put(struct rows *r, struct sv key, struct sv value, struct err *e)
{
    struct store_key k = place(r, key);

    return store_row_put(r->store, &k, value, e);
}

enum status row_del(struct rows *r, struct sv key, struct err *e)
{
    struct store_key k = place(r, key);

    return store_row_del(r->store, &k, e);
}

enum status row_json(struct rows *r, struct sv key, struct json *out, bool *found, struct err *e)
{
    struct sv value;

    if (row_get(r, key, &value, found, e))
        return err_code(e);
    if (*found && json_parse(value, 0, r->a, out, e))
        return err_in(e, "row " SV_FMT, SV_ARG(key));
    return ST_OK;
}

enum status row_int(struct rows *r, struct sv key, int64_t otherwise, int64_t *out, struct err *e)
{
    struct sv value;
    bool      found;

    *out = otherwise;
    if (row_get(r, key, &value, &found, e))
        return err_code(e);
    if (found && !sv_to_int(value, out))
        return err_set(e, ST_CORRUPT, "row " SV_FMT " holds no number", SV_ARG(key));
    return ST_OK;
}

enum status row_put_int(struct rows *r, struct sv key, int64_t n, struct err *e)
{
    struct sb b = sb_in(r->a, 0);

    sb_add_int(&b, n);
    return row_put(r, key, sb_sv(&b), e);
}

struct arena *rows_held(const struct rows *r)
{
    return store_held(r->store, r->thread);
}

void row_put_object(struct rows *r, struct sv key, const void *object, store_encode_fn encode)
{
    struct store_key k = place(r, key);

    store_put_object(r->store, &k, object, encode);
}

const void *row_object(struct rows *r, struct sv key, store_encode_fn encode)
{
    struct store_key k = place(r, key);

    return store_object(r->store, &k, encode);
}

/* ---- many --------------------------------------------------------------------------- */

void rows_want(struct rows *r, const struct sv *keys, size_t n)
{
    struct store_key wanted[STORE_WANT_MAX];

    if (n > STORE_WANT_MAX)
        n = STORE_WANT_MAX;
    for (size_t i = 0; i < n; i++)
        wanted[i] = place(r, keys[i]);
    store_want(r->store, wanted, n);
}

enum status rows_get_many(struct rows *r, const struct sv *keys, size_t n, struct sv *values,
                          struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        bool found;
        if (i % STORE_WANT_MAX == 0)
            rows_want(r, keys + i, n - i);
        if (row_get(r, keys[i], &values[i], &found, e))
            return err_code(e);
        if (!found)
            values[i] = (struct sv){ 0 };
    }
    return ST_OK;
}

enum status row_each(struct rows *r, struct sv prefix, struct sv after, bool backwards, row_fn each,
                     void *ctx, struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { r->thread, r->view, prefix, after, backwards };
    struct store_row                         row;
    bool                                     more = true;

    if (store_rows(r->store, &q, &rows, e))
        return err_code(e);
    while (more) {
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        if (more && !each(ctx, &row))
            break;
    }
    return ST_OK;
}

enum status rows_prefetch(struct rows *r, struct sv prefix, size_t max, struct err *e)
{
    struct store_row_query q = { .thread = r->thread, .view = r->view, .prefix = prefix };

    return store_prefetch(r->store, &q, max, e);
}

struct row_listing {
    VEC(struct store_row) rows;
    struct arena *a;
    size_t        max;
};

static bool keep_row(void *ctx, const struct store_row *row)
{
    struct row_listing *list = ctx;

    if (list->rows.n >= list->max)
        return false;
    *vec_push(&list->rows, list->a) =
        (struct store_row){ sv_dup(row->key, list->a), sv_dup(row->value, list->a) };
    return list->rows.n < list->max;
}

enum status row_list(struct rows *r, struct sv prefix, struct sv after, size_t max,
                     struct store_row **out, size_t *n, struct err *e)
{
    struct row_listing list = { .a = r->a, .max = max };

    if (row_each(r, prefix, after, false, keep_row, &list, e))
        return err_code(e);
    *out = list.rows.v;
    *n = list.rows.n;
    return ST_OK;
}

enum status rows_below(struct rows *r, struct sv prefix, struct store_row **out, size_t *n,
                       struct err *e)
{
    return row_list(r, prefix, (struct sv){ 0 }, SIZE_MAX, out, n, e);
}

enum status row_newest(struct rows *r, struct sv prefix, size_t max, struct store_row **out,
                       size_t *n, struct err *e)
{
    struct row_listing list = { .a = r->a, .max = max };

    if (row_each(r, prefix, (struct sv){ 0 }, true, keep_row, &list, e))
        return err_code(e);
    *out = list.rows.v;
    *n = list.rows.n;
    return ST_OK;
}

enum status row_last(struct rows *r, struct sv prefix, struct store_row *out, bool *found,
                     struct err *e)
{
    struct store_row *rows;
    size_t            n;

    if (row_newest(r, prefix, 1, &rows, &n, e))
        return err_code(e);
    *found = n > 0;
    if (*found)
        *out = rows[0];
    return ST_OK;
}

/* ---- keys --------------------------------------------------------------------------- */

/* Names may hold anything, a NUL too. */
static void add_name(struct sb *b, struct sv name)
{
    sb_addc(b, '/');
    sb_add(b, name);
}

static void add_number(struct sb *b, int64_t n)
{
    char digits[17];

    if (n < 0) {
        sb_adds(b, "/root");
        return;
    }
    digits[0] = '/';
    for (int i = 16; i > 0; i--, n /= 10)
        digits[i] = (char)('0' + n % 10);
    sb_add(b, (struct sv){ digits, sizeof digits });
}

static struct sb key_start(const char *prefix, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, prefix);
    return b;
}

struct sv key_of_name(const char *prefix, struct sv name, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_name(&b, name);
    return sb_sv(&b);
}

struct sv key_of_names(const char *prefix, struct sv name, struct sv second, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_name(&b, name);
    add_name(&b, second);
    return sb_sv(&b);
}

struct sv key_of_name_seq(const char *prefix, struct sv name, int64_t seq, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_name(&b, name);
    add_number(&b, seq);
    return sb_sv(&b);
}

struct sv key_of_seq(const char *prefix, int64_t n, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_number(&b, n);
    return sb_sv(&b);
}

struct sv key_of_seq2(const char *prefix, int64_t n, int64_t m, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_number(&b, n);
    add_number(&b, m);
    return sb_sv(&b);
}

struct sv key_of_seq3(const char *prefix, int64_t n, int64_t m, int64_t o, struct arena *a)
{
    struct sb b = key_start(prefix, a);

    add_number(&b, n);
    add_number(&b, m);
    add_number(&b, o);
    return sb_sv(&b);
}

struct sv key_below(struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key);
    sb_addc(&b, '/');
    return sb_sv(&b);
}

struct sv key_below_name(const char *prefix, struct sv name, struct arena *a)
{
    return key_of_names(prefix, name, SV(""), a);
}

int64_t key_last(struct sv key)
{
    struct sv digits = sv_cut_last(key, '/').tail;
    int64_t   n = -1;

    return sv_to_int(digits, &n) ? n : -1;
}
