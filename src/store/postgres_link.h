/* One connection to PostgreSQL, in pipeline mode: statements are sent without waiting, and their
 * answers are taken in the same order, each by the function that was named with the statement.
 *
 *     pg_send(link, &q, &params, take_head, &head);
 *     pg_send(link, &q2, &params2, take_rows, &rows);
 *     pg_sync(link);                             what follows does not fail with what was before
 *     if (!pg_collect(link, deadline_us, &why))  one round trip for all of it
 *
 * After a statement that fails the server passes over the others up to the next sync. */
#ifndef HEDDLE_POSTGRES_LINK_H
#define HEDDLE_POSTGRES_LINK_H

#include "store/postgres_url.h"
#include "store/postgres_value.h"

/* A statement: its number, by which it is prepared on the server and found in messages, and its
 * text. */
struct pg_query {
    int         number;
    const char *sql;
};
enum { PG_QUERIES_MAX = 96 };

typedef void pg_sink(void *ctx, struct pg_answer *a);

/* Why something failed. */
struct pg_failure {
    bool lost;      /* the connection is gone; what was sent may have been done or not */
    bool late;      /* the deadline passed */
    bool wrong;     /* the answer does not fit the question */
    char state[6];  /* SQLSTATE of the server, or "" */
    char text[400]; /* what it or libpq said */
    char constraint[64];
    int  number; /* of the statement; -1: none */
};

struct pg_link;

/* Connect. `pooled`: there is, or turned out to be, something between us and the server that gives
 * each transaction another session, so that nothing may be kept in one. */
bool pg_connect(const struct pq *lib, const struct postgres_url *url, bool *pooled,
                struct pg_link **out, struct pg_failure *why);
void pg_disconnect(struct pg_link *link); /* NULL is fine */

/* Queue a statement. `sink` may be NULL. pg_collect() returns a failure. */
void pg_send(struct pg_link *link, const struct pg_query *q, const struct pg_params *params,
             pg_sink *sink, void *ctx);
void pg_sync(struct pg_link *link);

/* Send what is queued as far as the network takes it, without waiting for answers. */
void pg_push(struct pg_link *link);

/* Wait for all answers. False: the first failure is in *why. In both cases no answer is outstanding
 * afterwards. */
bool pg_collect(struct pg_link *link, int64_t deadline_us, struct pg_failure *why);

/* COPY … FROM STDIN: `sql` begins it; then the bytes in pieces; then its end. No other answer may
 * be outstanding. With `error` (may be NULL) the server undoes all of it. */
bool pg_copy_begin(struct pg_link *link, const char *sql, int64_t deadline_us,
                   struct pg_failure *why);
bool pg_copy_bytes(struct pg_link *link, struct sv bytes, int64_t deadline_us,
                   struct pg_failure *why);
bool pg_copy_end(struct pg_link *link, const char *error, int64_t deadline_us,
                 struct pg_failure *why);

bool pg_is_lost(const struct pg_link *link);

/* Is a transaction open on this connection that no statement sent so far ends? */
bool pg_is_open(const struct pg_link *link);

/* Of a connection that was idle: is the connection still open, as far as the socket shows? */
bool pg_is_alive(struct pg_link *link);
int  pg_count_use(struct pg_link *link); /* how often it was taken, this time included */

/* Statements may be kept by name in this session. */
void pg_keep_statements(struct pg_link *link);

/* Has the server warned of something since pg_forget_warning()? *text is the last warning. */
bool pg_has_warning(const struct pg_link *link, struct sv *text);
void pg_forget_warning(struct pg_link *link);

/* The connection of libpq, for messages about the server. */
PGconn *pg_conn(const struct pg_link *link);

/* In a list of the pool. */
struct pg_link **pg_link_next(struct pg_link *link);

#endif
