/* Writing and reading values in PostgreSQL's binary form. */
#include "store/postgres_value.h"

#include <assert.h>

/* ---- parameters ------------------------------------------------------------------------ */

static void put_number(unsigned char *to, int64_t n, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, n = (int64_t)((uint64_t)n >> 8))
        to[i] = (unsigned char)(n & 0xff);
}

static void add(struct pg_params *p, enum pg_type type, const char *value, size_t n)
{
    assert(p->n < PG_PARAMS_MAX);
    p->types[p->n] = (Oid)type;
    p->values[p->n] = value;
    p->lengths[p->n] = (int)n;
    p->formats[p->n++] = 1;
}

void pg_add_int(struct pg_params *p, int64_t n)
{
    put_number(p->numbers[p->n], n, 8);
    add(p, PG_INT, (const char *)p->numbers[p->n], 8);
}

void pg_add_text(struct pg_params *p, struct sv v)
{
    add(p, PG_TEXT, v.s, v.n);
}

void pg_add_bytes(struct pg_params *p, struct sv v)
{
    add(p, PG_BYTES, v.s, v.n);
}

void pg_add_hash(struct pg_params *p, const struct hash *h)
{
    add(p, PG_BYTES, (const char *)h->b, HASH_SIZE);
}

/* ---- lists ------------------------------------------------------------------------------- */

enum { LIST_HEAD = 20 };

void pg_put_number(struct sb *b, int64_t n, int bytes)
{
    unsigned char room[8];

    put_number(room, n, bytes);
    sb_put(b, (struct sv){ (const char *)room, (size_t)bytes });
}

void pg_put_field(struct sb *b, struct sv v)
{
    pg_put_number(b, v.s ? (int64_t)v.n : -1, 4);
    if (v.s)
        sb_put(b, v);
}

struct pg_list pg_list_of(enum pg_type type, struct arena *a)
{
    struct pg_list l = { .b = sb_in(a, 0), .type = type };

    sb_pad(&l.b, 0, LIST_HEAD);
    return l;
}

void pg_list_int(struct pg_list *l, int64_t n)
{
    int size = l->type == PG_SMALL_LIST ? 2 : 8;

    pg_put_number(&l->b, size, 4);
    pg_put_number(&l->b, n, size);
    l->n++;
}

void pg_list_sv(struct pg_list *l, struct sv v)
{
    pg_put_field(&l->b, v);
    l->nulls = l->nulls || !v.s;
    l->n++;
}

static enum pg_type element_of(enum pg_type list)
{
    switch (list) {
    case PG_BYTES_LIST: return PG_BYTES;
    case PG_SMALL_LIST: return PG_SMALL;
    case PG_INT_LIST: return PG_INT;
    default: return PG_TEXT;
    }
}

/* The head says how many dimensions (none for an empty list), whether there are NULLs, of which
 * type, how many, and the first index. */
void pg_add_list(struct pg_params *p, struct pg_list *l)
{
    unsigned char *head = (unsigned char *)l->b.s;

    put_number(head, l->n ? 1 : 0, 4);
    put_number(head + 4, l->nulls, 4);
    put_number(head + 8, element_of(l->type), 4);
    put_number(head + 12, l->n, 4);
    put_number(head + 16, 1, 4);
    add(p, l->type, l->b.s, l->n ? l->b.n : 12);
}

/* ---- answers ------------------------------------------------------------------------------ */

static bool fits(char column, Oid type)
{
    enum { SHORT = 21, LONG = 23, NAME = 19, VARCHAR = 1043 };

    switch (column) {
    case 'i': return type == PG_INT || type == SHORT || type == LONG;
    case 'b': return type == PG_BYTES;
    default: return type == PG_TEXT || type == NAME || type == VARCHAR;
    }
}

bool pg_shape(struct pg_answer *a, const char *columns)
{
    int n = (int)strlen(columns);

    bool right = a->lib->PQnfields(a->r) == n;
    for (int i = 0; right && i < n; i++)
        right = a->lib->PQfformat(a->r, i) == 1 && fits(columns[i], a->lib->PQftype(a->r, i));
    if (!right) {
        a->wrong = true;
        a->n = 0;
    }
    return right;
}

bool pg_null(struct pg_answer *a, int row, int column)
{
    return a->lib->PQgetisnull(a->r, row, column);
}

struct sv pg_sv(struct pg_answer *a, int row, int column)
{
    if (row >= a->n || pg_null(a, row, column))
        return (struct sv){ 0 };
    return (struct sv){ a->lib->PQgetvalue(a->r, row, column),
                        (size_t)a->lib->PQgetlength(a->r, row, column) };
}

int64_t pg_int(struct pg_answer *a, int row, int column)
{
    struct sv v = pg_sv(a, row, column);
    int64_t   n = v.n && ((unsigned char)v.s[0] & 0x80) ? -1 : 0;

    if (v.s && v.n != 2 && v.n != 4 && v.n != 8) {
        a->wrong = true;
        return 0;
    }
    for (size_t i = 0; i < v.n; i++)
        n = (int64_t)((uint64_t)n << 8 | (unsigned char)v.s[i]);
    return n;
}

struct hash pg_hash(struct pg_answer *a, int row, int column)
{
    struct sv   v = pg_sv(a, row, column);
    struct hash h = { 0 };

    memcpy(h.b, v.n ? v.s : "", v.n < HASH_SIZE ? v.n : HASH_SIZE);
    return h;
}
