/* A connection to PostgreSQL: sending statements and taking answers. */
#include "store/postgres_link.h"

#include "base/clock.h"
#include "base/failure.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* ANSWER_MAX limits the bytes of the answers of one round trip; real ones are far smaller. */
enum { ANSWER_MAX = 256 << 20, READ_SIZE = 16384 };

enum due_kind { DUE_ANSWER, DUE_PREPARED, DUE_SYNC };
struct due {
    enum due_kind kind;
    pg_sink      *sink;
    void         *ctx;
    int           number;
};

enum kept { NOT_KEPT, BEING_KEPT, KEPT };

struct pg_link {
    const struct pq *lib;
    PGconn          *conn;
    struct pg_link  *next;
    bool             lost, keeps, warned;
    int              uses;
    char             warning[300];
    unsigned char    kept[PG_QUERIES_MAX];
    int64_t          received; /* about how many bytes of the awaited answers have arrived */
    struct due      *due;      /* the awaited answers, in order */
    size_t           n, cap;
};

/* ---- connecting -------------------------------------------------------------------------- */

/* Parameters for libpq that the URL does not set. */
static const struct {
    const char *name, *value;
} defaults[] = {
    { "application_name", "heddle" }, { "connect_timeout", "10" },
    { "tcp_user_timeout", "30000" },  { "keepalives_idle", "60" },
    { "client_encoding", "UTF8" },
};

/* Settings of the session, where it is not shared. Generic plans: with many partitions planning
 * takes longer than running. Keepalives: a machine that is gone must not hold a lock for hours. */
static const char session_format[] =
    "%s%s-c statement_timeout=%lld -c idle_in_transaction_session_timeout=120000"
    " -c plan_cache_mode=force_generic_plan -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2"
    " -c tcp_keepalives_count=3";

struct settings {
    const char *names[64], *values[64];
    size_t      n;
};

static void set(struct settings *s, const char *name, const char *value)
{
    for (size_t i = 0; i < s->n; i++)
        if (sv_is(sv_of(s->names[i]), name)) {
            s->values[i] = value;
            return;
        }
    if (s->n + 1 < COUNT(s->names)) {
        s->names[s->n] = name;
        s->values[s->n++] = value;
    }
}

static const char *setting(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (sv_is(sv_of(s->names[i]), name))
            return s->values[i];
    return NULL;
}

static bool fail_with(struct pg_failure *why, const char *text)
{
    size_t n = strlen(text);

    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    why->lost = true;
    why->number = -1;
    snprintf(why->text, sizeof why->text, "%.*s", (int)(n < 390 ? n : 390), text);
    for (char *p = why->text; *p; p++) /* libpq's text may have several lines: join them */
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    return false;
}

static void note(void *ctx, const PGresult *r)
{
    struct pg_link *link = ctx;
    const char     *severity = link->lib->PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char     *text = link->lib->PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

    if (!sv_is(sv_of(severity), "WARNING"))
        return;
    link->warned = true;
    snprintf(link->warning, sizeof link->warning, "%.290s", text ? text : "");
}

static bool open_conn(const struct pq *lib, const struct settings *s, PGconn **out,
                      struct pg_failure *why)
{
    *out = lib->PQconnectdbParams(s->names, s->values, 0);
    if (*out && lib->PQstatus(*out) == CONNECTION_OK)
        return true;
    fail_with(why, *out ? lib->PQerrorMessage(*out) : "out of memory");
    lib->PQfinish(*out);
    *out = NULL;
    return false;
}

static bool start(const struct pq *lib, PGconn *conn, struct pg_link **out, struct pg_failure *why)
{
    if (lib->PQsetnonblocking(conn, 1) != 0 || !lib->PQenterPipelineMode(conn)) {
        fail_with(why, "libpq does not enter pipeline mode");
        lib->PQfinish(conn);
        return false;
    }
    struct pg_link *link = calloc(1, sizeof *link);
    if (!link)
        failure_memory(sizeof *link);
    link->lib = lib;
    link->conn = conn;
    lib->PQsetNoticeReceiver(conn, note, link);
    *out = link;
    return true;
}

/* Connect with settings for the session; when a pooler in between refuses them, connect without. */
static bool connect_as(const struct pq *lib, const struct postgres_url *url, struct settings *s,
                       bool *pooled, PGconn **conn, struct pg_failure *why)
{
    const char *own = setting(s, "options");
    char        text[1000];

    if (!*pooled) {
        snprintf(text, sizeof text, session_format, own ? own : "", own ? " " : "",
                 (long long)url->statement_ms);
        set(s, "options", text);
    }
    if (open_conn(lib, s, conn, why))
        return true;
    if (*pooled || url->pooler != POOLER_UNKNOWN ||
        sv_find(sv_of(why->text), SV("unsupported startup parameter")) < 0)
        return false;
    *pooled = true;
    set(s, "options", own);
    return open_conn(lib, s, conn, why);
}

bool pg_connect(const struct pq *lib, const struct postgres_url *url, bool *pooled,
                struct pg_link **out, struct pg_failure *why)
{
    struct arena      scratch = { 0 };
    struct settings   s = { 0 };
    char             *said = NULL;
    PGconn           *conn = NULL;
    PQconninfoOption *given = lib->PQconninfoParse(sv_cstr(url->given, &scratch), &said);

    *why = (struct pg_failure){ .number = -1 };
    arena_free(&scratch);
    if (!given) {
        fail_with(why, said ? said : "the URL cannot be read");
        lib->PQfreemem(said);
        return false;
    }
    for (size_t i = 0; i < COUNT(defaults); i++)
        set(&s, defaults[i].name, defaults[i].value);
    for (const PQconninfoOption *o = given; o->keyword; o++)
        if (o->val)
            set(&s, o->keyword, o->val);
    bool there = connect_as(lib, url, &s, pooled, &conn, why) && start(lib, conn, out, why);
    lib->PQconninfoFree(given);
    return there;
}

void pg_disconnect(struct pg_link *link)
{
    if (!link)
        return;
    link->lib->PQfinish(link->conn);
    free(link->due);
    free(link);
}

/* ---- sending ------------------------------------------------------------------------------- */

static void expect(struct pg_link *link, struct due d)
{
    if (link->n == link->cap) {
        link->cap = link->cap ? link->cap * 2 : 32;
        void *more = realloc(link->due, link->cap * sizeof *link->due);
        if (!more)
            failure_memory(link->cap * sizeof *link->due);
        link->due = more;
    }
    link->due[link->n++] = d;
}

static void lose(struct pg_link *link)
{
    link->lost = true;
}

/* A name for a statement in the session. */
static const char *name_of(int number, char *room, size_t n)
{
    snprintf(room, n, "heddle_%d", number);
    return room;
}

/* Prepare the statement on the server, unless it is prepared already. */
static bool prepare(struct pg_link *link, const struct pg_query *q, const struct pg_params *p)
{
    char name[24];

    if (link->kept[q->number] != NOT_KEPT)
        return true;
    if (!link->lib->PQsendPrepare(link->conn, name_of(q->number, name, sizeof name), q->sql, p->n,
                                  p->types))
        return false;
    link->kept[q->number] = BEING_KEPT;
    expect(link, (struct due){ .kind = DUE_PREPARED, .number = q->number });
    return true;
}

void pg_send(struct pg_link *link, const struct pg_query *q, const struct pg_params *given,
             pg_sink *sink, void *ctx)
{
    static const struct pg_params none = { 0 };
    const struct pg_params       *p = given ? given : &none;
    char                          name[24];
    bool                          sent = false;

    if (link->lost)
        return;
    if (link->keeps && q->number >= 0)
        sent = prepare(link, q, p) &&
               link->lib->PQsendQueryPrepared(link->conn, name_of(q->number, name, sizeof name),
                                              p->n, p->values, p->lengths, p->formats, 1);
    else
        sent = link->lib->PQsendQueryParams(link->conn, q->sql, p->n, p->types, p->values,
                                            p->lengths, p->formats, 1);
    if (!sent)
        lose(link);
    else
        expect(link, (struct due){ .sink = sink, .ctx = ctx, .number = q->number });
}

void pg_sync(struct pg_link *link)
{
    if (link->lost)
        return;
    if (link->lib->PQpipelineSync(link->conn))
        expect(link, (struct due){ .kind = DUE_SYNC });
    else
        lose(link);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static int waiting_bytes(const struct pg_link *link)
{
    int n = 0;

    return ioctl(link->lib->PQsocket(link->conn), FIONREAD, &n) == 0 ? n : 0;
}

/* Read what has arrived and count the bytes, so that a server that never stops sending cannot fill
 * the memory. libpq reads up to READ_SIZE bytes at once; inside a large message it reads until the
 * socket is empty. */
static bool take_in(struct pg_link *link)
{
    int  before = waiting_bytes(link);
    bool fine = link->lib->PQconsumeInput(link->conn);
    int  gone = before - waiting_bytes(link), least = before < READ_SIZE ? before : READ_SIZE;

    link->received += gone > least ? gone : least;
    return fine;
}

void pg_push(struct pg_link *link)
{
    if (link->lost)
        return;
    int left = link->lib->PQflush(link->conn);
    if (left < 0 || (left > 0 && !take_in(link)))
        lose(link);
}

/* Wait until the socket can be read or, when not everything was sent, written. */
static bool wait_for(struct pg_link *link, bool writing, int64_t deadline_us,
                     struct pg_failure *why)
{
    struct pollfd fd = { .fd = link->lib->PQsocket(link->conn),
                         .events = (short)(writing ? POLLIN | POLLOUT : POLLIN) };
    int64_t       left_ms = (deadline_us - clock_steady_us()) / 1000;

    if (left_ms <= 0 || (poll(&fd, 1, left_ms > 60000 ? 60000 : (int)left_ms) == 0 &&
                         clock_steady_us() >= deadline_us)) {
        why->late = true;
        return fail_with(why, "no answer in time");
    }
    return true;
}

static bool lost_now(struct pg_link *link, struct pg_failure *why)
{
    lose(link);
    return why->text[0] ? false : fail_with(why, link->lib->PQerrorMessage(link->conn));
}

/* Send everything, and wait until the next answer has arrived. */
static bool wait_answer(struct pg_link *link, int64_t deadline_us, struct pg_failure *why)
{
    for (;;) {
        int left = link->lib->PQflush(link->conn);
        if (left < 0)
            return lost_now(link, why);
        if (!left && !link->lib->PQisBusy(link->conn))
            return true;
        if (!wait_for(link, left > 0, deadline_us, why) || !take_in(link))
            return lost_now(link, why);
        if (link->received > ANSWER_MAX) {
            why->wrong = true;
            fail_with(why, "the answer is larger than anything that is asked for");
            return lost_now(link, why);
        }
    }
}

static void copy_field(char *to, size_t room, const char *from)
{
    snprintf(to, room, "%.*s", (int)room - 1, from ? from : "");
}

/* The first failure counts; the statements behind it were not run. */
static void note_failure(struct pg_link *link, const PGresult *r, int number,
                         struct pg_failure *why, bool *failed)
{
    const struct pq *lib = link->lib;

    if (*failed)
        return;
    *failed = true;
    why->number = number;
    copy_field(why->state, sizeof why->state, lib->PQresultErrorField(r, PG_DIAG_SQLSTATE));
    copy_field(why->constraint, sizeof why->constraint,
               lib->PQresultErrorField(r, PG_DIAG_CONSTRAINT_NAME));
    const char *text = lib->PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    copy_field(why->text, sizeof why->text, text ? text : lib->PQresultErrorMessage(r));
}

/* One answer to one statement. A sink that keeps the result leaves NULL. */
static void take(struct pg_link *link, struct due *d, PGresult **result, struct pg_failure *why,
                 bool *failed)
{
    PGresult        *r = *result;
    ExecStatusType   status = link->lib->PQresultStatus(r);
    struct pg_answer a = { .lib = link->lib, .r = r, .n = link->lib->PQntuples(r) };

    if (d->kind == DUE_PREPARED)
        link->kept[d->number] = status == PGRES_COMMAND_OK ? KEPT : NOT_KEPT;
    if (status == PGRES_PIPELINE_ABORTED)
        return;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        note_failure(link, r, d->number, why, failed);
        return;
    }
    if (*failed || !d->sink)
        return;
    d->sink(d->ctx, &a);
    *result = a.r;
    if (a.wrong && !*failed) {
        *failed = true;
        why->wrong = true;
        why->number = d->number;
        copy_field(why->text, sizeof why->text, "the answer is not one to what was asked");
    }
}

/* All that belongs to one statement: its answer, and the NULL that ends it. */
static bool collect_one(struct pg_link *link, struct due *d, int64_t deadline_us,
                        struct pg_failure *why, bool *failed)
{
    if (!wait_answer(link, deadline_us, why))
        return false;
    PGresult *r = link->lib->PQgetResult(link->conn);
    if (!r)
        return lost_now(link, why);
    bool synced = link->lib->PQresultStatus(r) == PGRES_PIPELINE_SYNC;
    if (synced != (d->kind == DUE_SYNC)) { /* also when the connection broke off */
        note_failure(link, r, d->number, why, failed);
        link->lib->PQclear(r);
        return lost_now(link, why);
    }
    if (!synced)
        take(link, d, &r, why, failed);
    link->lib->PQclear(r);
    if (synced)
        return true;
    if (!wait_answer(link, deadline_us, why))
        return false;
    r = link->lib->PQgetResult(link->conn);
    if (!r)
        return true;
    link->lib->PQclear(r); /* more than one answer to one statement */
    return lost_now(link, why);
}

bool pg_collect(struct pg_link *link, int64_t deadline_us, struct pg_failure *why)
{
    bool failed = false;

    *why = (struct pg_failure){ .number = -1 };
    link->received = 0;
    for (size_t i = 0; i < link->n && !link->lost; i++)
        if (!collect_one(link, &link->due[i], deadline_us, why, &failed))
            break;
    link->n = 0;
    if (!link->lost && link->lib->PQstatus(link->conn) == CONNECTION_BAD)
        lose(link);
    if (link->lost) {
        why->lost = true;
        if (!why->text[0])
            fail_with(why, link->lib->PQerrorMessage(link->conn));
    }
    return !failed && !link->lost;
}

/* ---- COPY ---------------------------------------------------------------------------------- */

static bool copy_failed(struct pg_link *link, PGresult *r, struct pg_failure *why)
{
    bool failed = false;

    if (r)
        note_failure(link, r, -1, why, &failed);
    link->lib->PQclear(r);
    return r ? false : lost_now(link, why);
}

/* Take the answers of a command outside of a pipeline to their end. */
static bool drain(struct pg_link *link, int64_t deadline_us, struct pg_failure *why)
{
    bool fine = true;

    for (;;) {
        if (!wait_answer(link, deadline_us, why))
            return false;
        PGresult *r = link->lib->PQgetResult(link->conn);
        if (!r)
            break;
        if (fine && link->lib->PQresultStatus(r) != PGRES_COMMAND_OK)
            fine = copy_failed(link, r, why);
        else
            link->lib->PQclear(r);
        if (link->lib->PQstatus(link->conn) == CONNECTION_BAD)
            return lost_now(link, why);
    }
    if (!link->lib->PQenterPipelineMode(link->conn))
        return lost_now(link, why);
    return fine;
}

bool pg_copy_begin(struct pg_link *link, const char *sql, int64_t deadline_us,
                   struct pg_failure *why)
{
    *why = (struct pg_failure){ .number = -1 };
    link->received = 0;
    if (link->lost || !link->lib->PQexitPipelineMode(link->conn) ||
        !link->lib->PQsendQueryParams(link->conn, sql, 0, NULL, NULL, NULL, NULL, 0) ||
        !wait_answer(link, deadline_us, why))
        return lost_now(link, why);
    PGresult *r = link->lib->PQgetResult(link->conn);
    if (link->lib->PQresultStatus(r) == PGRES_COPY_IN) {
        link->lib->PQclear(r);
        return true;
    }
    copy_failed(link, r, why);
    struct pg_failure later = { 0 };
    if (!link->lost && !drain(link, deadline_us, &later))
        lose(link);
    why->lost = link->lost;
    return false;
}

bool pg_copy_bytes(struct pg_link *link, struct sv bytes, int64_t deadline_us,
                   struct pg_failure *why)
{
    int sent;

    while ((sent = link->lib->PQputCopyData(link->conn, bytes.s, (int)bytes.n)) == 0) {
        if (!wait_for(link, true, deadline_us, why) || !take_in(link))
            return lost_now(link, why);
    }
    return sent > 0 ? true : lost_now(link, why);
}

bool pg_copy_end(struct pg_link *link, const char *error, int64_t deadline_us,
                 struct pg_failure *why)
{
    int sent;

    while ((sent = link->lib->PQputCopyEnd(link->conn, error)) == 0) {
        if (!wait_for(link, true, deadline_us, why) || !take_in(link))
            return lost_now(link, why);
    }
    if (sent < 0)
        return lost_now(link, why);
    bool fine = drain(link, deadline_us, why);
    why->lost = link->lost;
    return fine;
}

/* ---- what others ask ---------------------------------------------------------------------- */

bool pg_is_lost(const struct pg_link *link)
{
    return link->lost;
}

bool pg_is_open(const struct pg_link *link)
{
    PGTransactionStatusType s = link->lib->PQtransactionStatus(link->conn);

    return !link->n && (s == PQTRANS_INTRANS || s == PQTRANS_INERROR);
}

bool pg_is_alive(struct pg_link *link)
{
    struct pollfd fd = { .fd = link->lib->PQsocket(link->conn), .events = POLLIN };

    if (link->lost || link->n || poll(&fd, 1, 0) <= 0)
        return !link->lost;
    return link->lib->PQconsumeInput(link->conn) &&
           link->lib->PQstatus(link->conn) == CONNECTION_OK;
}

int pg_count_use(struct pg_link *link)
{
    return link->uses < 1000 ? ++link->uses : link->uses;
}

void pg_keep_statements(struct pg_link *link)
{
    link->keeps = true;
}

bool pg_has_warning(const struct pg_link *link, struct sv *text)
{
    *text = sv_of(link->warning);
    return link->warned;
}

void pg_forget_warning(struct pg_link *link)
{
    link->warned = false;
}

PGconn *pg_conn(const struct pg_link *link)
{
    return link->conn;
}

struct pg_link **pg_link_next(struct pg_link *link)
{
    return &link->next;
}
