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

void *row_put_object(struct rows *r, struct sv key, size_t size, store_encode_fn encode)
{
    struct store_key k = place(r, key);

    return store_put_object(r->store, &k, size, encode);
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

/* What follows a prefix: names, which may hold anything, a NUL too, then numbers. */
struct key_parts {
    struct sv names[2];
    int64_t   numbers[3];
    size_t    n_names, n_numbers;
};

enum { DIGITS = 16 };

static struct sv key_of(const char *prefix, const struct key_parts *p, struct arena *a)
{
    size_t n = strlen(prefix), size = n + p->n_numbers * (1 + DIGITS);

    for (size_t i = 0; i < p->n_names; i++)
        size += 1 + p->names[i].n;
    char *s = arena_grow(a, NULL, 0, size); /* nothing of it is read first */
    memcpy(s, prefix, n);
    for (size_t i = 0; i < p->n_names; i++) {
        s[n++] = '/';
        if (p->names[i].n)
            memcpy(s + n, p->names[i].s, p->names[i].n);
        n += p->names[i].n;
    }
    for (size_t i = 0; i < p->n_numbers; i++) {
        s[n++] = '/';
        if (p->numbers[i] < 0) {
            memcpy(s + n, "root", 4);
            n += 4;
            continue;
        }
        uint64_t rest = (uint64_t)p->numbers[i];
        for (size_t d = DIGITS; d > 0; d--, rest /= 10)
            s[n + d - 1] = (char)('0' + rest % 10);
        n += DIGITS;
    }
    return (struct sv){ s, n };
}

struct sv key_of_name(const char *prefix, struct sv name, struct arena *a)
{
    return key_of(prefix, &(struct key_parts){ .names = { name }, .n_names = 1 }, a);
}

struct sv key_of_names(const char *prefix, struct sv name, struct sv second, struct arena *a)
{
    return key_of(prefix, &(struct key_parts){ .names = { name, second }, .n_names = 2 }, a);
}

struct sv key_of_name_seq(const char *prefix, struct sv name, int64_t seq, struct arena *a)
{
    struct key_parts p = { .names = { name }, .n_names = 1, .numbers = { seq }, .n_numbers = 1 };

    return key_of(prefix, &p, a);
}

struct sv key_of_seq(const char *prefix, int64_t n, struct arena *a)
{
    return key_of(prefix, &(struct key_parts){ .numbers = { n }, .n_numbers = 1 }, a);
}

struct sv key_of_seq2(const char *prefix, int64_t n, int64_t m, struct arena *a)
{
    return key_of(prefix, &(struct key_parts){ .numbers = { n, m }, .n_numbers = 2 }, a);
}

struct sv key_of_seq3(const char *prefix, int64_t n, int64_t m, int64_t o, struct arena *a)
{
    return key_of(prefix, &(struct key_parts){ .numbers = { n, m, o }, .n_numbers = 3 }, a);
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
