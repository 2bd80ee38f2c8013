/* Values on their way to PostgreSQL and back, in its binary form: numbers with the high byte first,
 * texts and bytes as they are, arrays with a header. No value is ever written into a statement. */
#ifndef HEDDLE_POSTGRES_VALUE_H
#define HEDDLE_POSTGRES_VALUE_H

#include "base/hash.h"
#include "store/pq.h"

/* Types, by the numbers they have in every PostgreSQL. */
enum pg_type {
    PG_BYTES = 17,
    PG_INT = 20,
    PG_SMALL = 21,
    PG_TEXT = 25,
    PG_BYTES_LIST = 1001,
    PG_SMALL_LIST = 1005,
    PG_TEXT_LIST = 1009,
    PG_INT_LIST = 1016,
};

enum { PG_PARAMS_MAX = 16 };

/* The parameters of one statement. What is pointed at must stay until the statement is sent. */
struct pg_params {
    int           n;
    Oid           types[PG_PARAMS_MAX];
    const char   *values[PG_PARAMS_MAX];
    int           lengths[PG_PARAMS_MAX], formats[PG_PARAMS_MAX];
    unsigned char numbers[PG_PARAMS_MAX][8];
};

/* Add one; an absent text is NULL. */
void pg_add_int(struct pg_params *p, int64_t n);
void pg_add_text(struct pg_params *p, struct sv v);
void pg_add_bytes(struct pg_params *p, struct sv v);
void pg_add_hash(struct pg_params *p, const struct hash *h);

/* A list that becomes one parameter, built element by element. */
struct pg_list {
    struct sb    b;
    enum pg_type type;
    int32_t      n;
    bool         nulls;
};
struct pg_list pg_list_of(enum pg_type type, struct arena *a);
void           pg_list_int(struct pg_list *l, int64_t n);  /* also of a list of small numbers */
void           pg_list_sv(struct pg_list *l, struct sv v); /* absent: NULL */
void           pg_add_list(struct pg_params *p, struct pg_list *l);

/* What a statement returned. The server is not trusted: a cell of an unexpected type or size sets
 * `wrong` and reads as 0 or absent. */
struct pg_answer {
    const struct pq *lib;
    PGresult        *r;
    int              n; /* rows */
    bool             wrong;
};

/* Does the answer have these columns: i for numbers, t for texts, b for bytes? If not, it counts as
 * having no rows.
 */
bool        pg_shape(struct pg_answer *a, const char *columns);
int64_t     pg_int(struct pg_answer *a, int row, int column); /* NULL: 0 */
struct sv   pg_sv(struct pg_answer *a, int row, int column);  /* NULL: absent */
bool        pg_null(struct pg_answer *a, int row, int column);
struct hash pg_hash(struct pg_answer *a, int row, int column); /* NULL: zeros */

/* For COPY in binary form: how a field is written. An absent text is NULL. */
void pg_put_number(struct sb *b, int64_t n, int bytes);
void pg_put_field(struct sb *b, struct sv v);

#endif
