/* Where a log on PostgreSQL is: a URL as libpq reads it, and some parameters for heddle itself.
 *
 *     postgres://ada@db1,db2/work?target_session_attrs=read-write&schema=design
 *
 * Parameters of heddle are taken out before libpq sees the rest:
 *
 *     schema             the schema that holds the log
 *     schema_prefix      what stands before the id of the workspace in the name of its schema
 *     partitions         into how many parts the large tables are cut when they are made; 0: none
 *     pool               how many connections a process has at most
 *     pooler             "transaction": there is a pgbouncer in between; "none": there is not;
 *                        otherwise it is found out
 *     statement_timeout  milliseconds for one request
 *     commit_timeout     milliseconds for a commit, after which its outcome is unknown          */
#ifndef HEDDLE_POSTGRES_URL_H
#define HEDDLE_POSTGRES_URL_H

#include "base/sb.h"

enum postgres_pooler { POOLER_UNKNOWN, POOLER_NONE, POOLER_TRANSACTION };

struct postgres_url {
    struct sv            given; /* without the parameters above: for libpq */
    struct sv            schema, schema_prefix;
    int64_t              partitions, pool, statement_ms, commit_ms;
    enum postgres_pooler pooler;
};

/* Is it a URL of PostgreSQL? */
bool postgres_url_is(struct sv url);

/* ST_INVALID_SYNTAX: a parameter of heddle has a value that it cannot have. libpq judges the rest
 * when it connects. The texts live in `a`. */
enum status postgres_url_read(struct sv url, struct arena *a, struct postgres_url *out,
                              struct err *e) MUST_USE;

/* The URL without a password, for people. */
struct sv postgres_url_shown(struct sv url, struct arena *a);

/* A URL that can be used, without a password: it is in ~/.pgpass or another place of libpq. */
struct sv postgres_url_bare(struct sv url, struct arena *a);

/* "name", with each " in it doubled: an identifier in SQL. */
void sb_add_identifier(struct sb *b, struct sv name);

#endif
