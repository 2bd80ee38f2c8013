/* log.follow: entries as they are committed, by whatever process. */
#include "api/log/entry_doc.h"
#include "thread/deletion.h"
#include "thread/follow.h"

#include <string.h>

struct follow_params {
    struct sv      thread;
    struct sv_list from, kind;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT, offsetof(struct follow_params, thread), .value = "T", .help = "the thread; it need not exist yet (default: all)" },
    { "from",   PARAM_LIST, offsetof(struct follow_params, from), .value = "SEQ", .help = "begin with entry SEQ; of all threads: 0, or T:SEQ for each (default: what comes from now on)" },
    { "kind",   PARAM_LIST, offsetof(struct follow_params, kind), .value = "K", .help = "only entries of this kind" },
    { 0 },
};
static const struct field place_fields[] = {
    { "next",   FIELD_NUMBER, .help = "the seq to go on from" },
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { 0 },
};
static const struct field answer[] = {
    { "entries", FIELD_NUMBER, .help = "how many were sent" },
    { "items",   FIELD_LIST,   .of = place_fields, .help = "how far each thread was read" },
    { 0 },
};
/* clang-format on */

/* How long a wait lasts before the request is looked at again. */
enum { WAIT_MS = 500 };

struct following {
    struct request             *r;
    const struct follow_params *p;
    struct follow               f;
    struct arena                a; /* one batch */
    int64_t                     sent;
};

static enum status bad_from(struct sv item, struct err *e)
{
    err_set(e, ST_USAGE, "'" SV_FMT "' is not a place to begin", SV_ARG(item));
    return err_hint(e, "--from SEQ with a thread; without one --from 0 for everything, or "
                       "--from T:SEQ for each thread");
}

/* "12" of the one thread, "0" of all, or "T:12". */
static enum status set_start(struct following *x, struct sv item, struct err *e)
{
    struct sv thread = x->p->thread, number = item;
    int64_t   seq;

    for (size_t i = item.n; i > 0 && !thread.s; i--)
        if (item.s[i - 1] == ':') {
            thread = (struct sv){ item.s, i - 1 };
            number = sv_skip(item, i);
        }
    if (!sv_to_int(number, &seq) || seq < 0 || (!thread.s && seq != 0))
        return bad_from(item, e);
    follow_start(&x->f, thread, seq);
    return ST_OK;
}

static bool is_wanted(const struct sv_list *kinds, struct sv kind)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (sv_eq(kinds->v[i], kind))
            return true;
    return kinds->n == 0;
}

/* What has come; *any is false when there was nothing. */
static enum status send_new(struct following *x, bool *any, struct err *e)
{
    struct arena_mark    m = arena_mark(&x->a);
    struct follow_entry *list;
    size_t               n;
    enum status          s = follow_take(&x->f, &x->a, &list, &n, e);

    *any = n > 0;
    for (size_t i = 0; i < n && !s; i++) {
        const struct follow_entry *one = &list[i];
        if (!is_wanted(&x->p->kind, one->entry.kind))
            continue;
        s = entry_send(x->r, x->p->thread.s ? (struct sv){ 0 } : one->thread, &one->entry,
                       one->intact, &x->a, e);
        x->sent += !s;
        if (!s)
            s = request_check(x->r, e);
    }
    arena_reset(&x->a, m);
    return s;
}

/* Following ends when the reader is gone or the time is over: neither is an error. */
static bool is_end(const struct err *e)
{
    return strcmp(e->reason, "reader_gone") == 0 || strcmp(e->reason, "cancelled") == 0 ||
           strcmp(e->reason, "deadline") == 0;
}

static enum status follow(struct following *x, struct err *e)
{
    enum follow_woken why = FOLLOW_CHANGED;
    bool              any;

    while (why != FOLLOW_PEER_GONE) {
        if (request_check(x->r, e) || send_new(x, &any, e) ||
            (!any && follow_wait(&x->f, WAIT_MS, x->r->peer, &why, e)))
            return is_end(e) ? ST_OK : err_code(e);
        while (why == FOLLOW_QUIET) /* nothing was committed: there is no need to look */
            if (request_check(x->r, e) || follow_wait(&x->f, WAIT_MS, x->r->peer, &why, e))
                return is_end(e) ? ST_OK : err_code(e);
    }
    return ST_OK;
}

static void write_answer(const struct following *x, struct jw *w)
{
    jw_open(w, '{');
    jw_kint(w, "entries", x->sent);
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < x->f.next.n; i++) {
        jw_open(w, '{');
        jw_kint(w, "next", *(const int64_t *)x->f.next.items[i].value);
        jw_kstr(w, "thread", x->f.next.items[i].key);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

/* The head of the thread, and whether the thread was deleted. */
static enum status look_at(struct log *l, struct sv thread, struct store_head *h, bool *deleted,
                           struct err *e)
{
    if (log_begin(l, thread, STORE_READ, e))
        return err_code(e);
    enum status s = log_head(l, thread, h, e);
    if (!s && !h->rev)
        s = deletion_find(l, thread, deleted, e);
    log_abort(l);
    return s;
}

/* The thread may be created later, or its name may be mistyped: so say that it does not exist yet.
 * All of its entries are shown, also those written before the next look. One that was deleted never
 * comes back. */
static enum status say_if_new(struct following *x, struct sv thread, struct err *e)
{
    struct store_head h = { .rev = 1 };
    bool              deleted = false;

    if (thread.s && look_at(&x->r->log, thread, &h, &deleted, e))
        return err_code(e);
    if (deleted)
        return deletion_refuse(thread, e);
    if (h.rev)
        return ST_OK;
    if (follow_next(&x->f, thread) < 0)
        follow_start(&x->f, thread, 0);
    workspace_note(x->r->ws,
                   "there is no thread " SV_FMT " yet; its entries are shown when they come",
                   SV_ARG(thread));
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct following x = { .r = r, .p = given };

    x.f = follow_in(&r->log, x.p->thread, r->a);
    for (size_t i = 0; i < x.p->from.n; i++)
        if (set_start(&x, x.p->from.v[i], e))
            return err_code(e);
    if (say_if_new(&x, x.p->thread, e))
        return err_code(e);
    enum status s = follow(&x, e);
    arena_free(&x.a);
    if (!s)
        write_answer(&x, r->doc);
    return s;
}

const struct operation op_log_follow = {
    .name = "log.follow",
    .summary = "Show entries as they are committed, by any process",
    .details =
        "Follows one thread, which need not exist yet, or all. Entries of a thread come in "
        "order,\n"
        "each once; between threads there is no order. It begins with what comes from now on;\n"
        "with --from SEQ it first shows what is there from that entry on, so that whoever keeps\n"
        "the last seq can go on from the next one. Of all threads --from 0 begins with "
        "everything,\n"
        "and --from T:SEQ,T2:SEQ says where to go on in each; a thread that comes into being is\n"
        "shown from its first entry on.\n"
        "\n"
        "A line each as `heddle log show` prints it, in front of it the thread when all are\n"
        "followed; with --json a line as `heddle log export` or `log export --all` writes it. It\n"
        "ends when its output is closed or with SIGINT or SIGTERM, and with an error when the log "
        "is\n"
        "damaged, or when entries go that it has shown: a backup is restored, or the thread is\n"
        "deleted (CONFLICT, reason replaced). The database is not asked until something is written "
        "beside it.\n"
        "\n"
        "  heddle log follow design --from 0 | head -n 2",
    .group = GROUP_LOG,
    .needs = NEEDS_LOG,
    .in_thread = true,
    .repeat = REPEAT_READS,
    .streams = STREAM_EVENTS,
    .params = params,
    .params_size = sizeof(struct follow_params),
    .answer = answer,
    .event = entry_fields,
    .run = run,
    .print = term_nothing, /* The entries were the answer. */
    .print_event = entry_print,
};
