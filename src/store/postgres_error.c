/* What the server says, as a struct err. The classes are those of the SQL standard and of
 * PostgreSQL's own list (SQLSTATE). */
#include "store/postgres_internal.h"

static bool is_state(const struct pg_failure *why, const char *state)
{
    return sv_is(sv_of(why->state), state);
}

static bool in_class(const struct pg_failure *why, const char *class)
{
    return sv_starts(sv_of(why->state), sv_of(class));
}

bool pg_is_busy(const struct pg_failure *why)
{
    /* serialization failure, deadlock, lock timeout; a plan kept from before a migration */
    return is_state(why, "40001") || is_state(why, "40P01") || is_state(why, "55P03") ||
           (is_state(why, "0A000") && sv_find(sv_of(why->text), SV("cached plan")) >= 0);
}

bool pg_is_missing(const struct pg_failure *why)
{
    return is_state(why, "3F000") || is_state(why, "42P01");
}

static enum status busy(const struct pg_store *p, struct err *e)
{
    err_set(e, ST_CONFLICT, "%s: another writer is in the way", p->shown);
    err_reason(e, "busy");
    return err_hint(e, "try again");
}

/* A unique index was violated: two writers reached the same place despite the locks. */
static enum status taken(const struct pg_store *p, const struct pg_failure *why, struct err *e)
{
    bool op = sv_find(sv_of(why->constraint), SV("_op")) >= 0 ||
              sv_find(sv_of(why->constraint), SV("op_idx")) >= 0;

    err_set(e, ST_CONFLICT,
            op ? "%s: an op_id is taken in its thread" : "%s: another writer was first", p->shown);
    return err_reason(e, op ? "op_id" : "rev");
}

static enum status forbidden(const struct pg_store *p, const struct pg_failure *why, struct err *e)
{
    err_set(e, ST_IO, "%s: %s", p->shown, why->text);
    err_reason(e, STORE_READ_ONLY);
    return err_hint(e, is_state(why, "25006")
                           ? "this server is a standby: name the primary, or all of them with "
                             "target_session_attrs=read-write"
                           : "connect as a user that may do this: `heddle store info` says who you "
                             "are there");
}

static const struct {
    const char *state; /* or its first two characters */
    const char *hint;
} io_hints[] = {
    { "53100", "the disk of the server is full" },
    { "53300", "raise max_connections, lower `pool` in the URL, or put pgbouncer in between" },
    { "53", "the server is short of something: see its log" },
    { "57014", "raise statement_timeout in the URL" },
    { "58", "see the log of the server" },
    { "XX", "see the log of the server; `heddle doctor` looks at the log as a whole" },
};

static enum status io(const struct pg_store *p, const struct pg_failure *why, struct err *e)
{
    err_set(e, in_class(why, "XX00") ? ST_CORRUPT : ST_IO, "%s: %s (%s)", p->shown, why->text,
            why->state);
    for (size_t i = 0; i < COUNT(io_hints); i++)
        if (in_class(why, io_hints[i].state))
            return err_hint(e, "%s", io_hints[i].hint);
    return err_code(e);
}

/* libpq's text names every host that was tried, one per line; it never contains a password. */
enum status pg_unreachable(const char *shown, const struct pg_failure *why, struct err *e)
{
    static const struct {
        const char *part;
        enum status code;
        const char *hint;
    } known[] = {
        { "password", ST_PERMISSION_DENIED,
          "put the password into ~/.pgpass (mode 0600), or use a service file" },
        { "authentication", ST_PERMISSION_DENIED, "see pg_hba.conf of the server" },
        { "pg_hba.conf", ST_PERMISSION_DENIED, "see pg_hba.conf of the server" },
        { "role \"", ST_PERMISSION_DENIED, "name a user that the server knows in the URL" },
        { "database \"", ST_NOT_FOUND, "make the database with createdb, then try again" },
        { "invalid URI", ST_INVALID_SYNTAX, "postgres://USER@HOST/DATABASE" },
        { "invalid connection option", ST_INVALID_SYNTAX, "postgres://USER@HOST/DATABASE" },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (sv_find(sv_of(why->text), sv_of(known[i].part)) >= 0) {
            err_set(e, known[i].code, "%s: %s", shown, why->text);
            return err_hint(e, "%s", known[i].hint);
        }
    err_set(e, ST_IO, "%s: %s", shown, why->text[0] ? why->text : "the connection was lost");
    err_reason(e, "unreachable");
    return err_hint(e, "is the server running, and can it be reached from here?");
}

enum status pg_error(const struct pg_store *p, const struct pg_failure *why, struct err *e)
{
    if (why->wrong) {
        err_set(e, ST_IO, "%s: %s", p->shown, why->text);
        return err_hint(e, "is it PostgreSQL that answers there?");
    }
    if (pg_is_busy(why))
        return busy(p, e);
    if (is_state(why, "23505"))
        return taken(p, why, e);
    if (is_state(why, "22012") && why->number == PG_HEAD_SET) { /* division by zero */
        err_set(e, ST_CONFLICT, "%s: the thread was changed meanwhile", p->shown);
        return err_reason(e, "busy");
    }
    if (is_state(why, "42501") || is_state(why, "25006"))
        return forbidden(p, why, e);
    if (pg_is_missing(why)) {
        err_set(e, ST_NOT_FOUND, "there is no log at %s", p->shown);
        return err_hint(e, "`heddle init` makes one here; --root names another workspace");
    }
    if (why->lost || !why->state[0])
        return pg_unreachable(p->shown, why, e);
    return io(p, why, e);
}
