/* Requests to models made by commands of a turn: `→ continue`, summaries. Their answers are stored
 * in files like those of the turn, so that a command that is run again after its process was killed
 * uses the stored answers and asks only for the others. */
#include "agent/turn_internal.h"

#include "base/utf8.h"

/* Tokens of the answer count for the limits of the turn; estimated where they are not reported. */
static void count_used(struct turn_work *t, const struct model_request *q,
                       const struct model_response *m)
{
    struct model_usage u = m->usage;

    u.estimated = u.estimated || u.input < 0 || u.output < 0;
    u.input = u.input >= 0 ? u.input : (int64_t)(q->body.n + 3) / 4;
    u.output = u.output >= 0 ? u.output : (int64_t)(utf8_count(m->text) + 3) / 4;
    turn_add_used(t, &u);
}

/* answer-3-0-1: of the third round, its first command, the second request. */
static struct sv ask_name(struct turn_work *t, struct arena *a)
{
    struct session *s = t->s;
    struct sb       b = sb_in(a, 0);

    sb_addf(&b, "%lld-%zu-%zu", (long long)s->round, s->line - 1, s->asks++);
    return sb_sv(&b);
}

/* Read a stored answer. *whole is false when it is missing or incomplete. */
static enum status take(struct turn_work *t, struct sv name, const struct model_request *q,
                        struct arena *a, struct model_response *out, bool *whole, struct err *e)
{
    struct sv headers, bytes;
    bool      asked;

    *whole = false;
    if (!t->q->replay)
        return ST_OK;
    if (spool_answer_read(&t->spool, name, a, &headers, &bytes, &asked, e))
        return err_code(e);
    if (!asked)
        return ST_OK;
    if (bytes.n && t->q->replay(t->q->ctx, q, headers, bytes, a, out, whole, e))
        return err_code(e);
    return *whole ? ST_OK
                  : turn_notice(t, e,
                                "a model had been asked by a command when the turn was "
                                "interrupted: it is asked again");
}

static enum status ask(void *ctx, const struct model_request *q, struct arena *a,
                       struct model_response *out, struct err *e)
{
    struct turn_work    *t = ctx;
    struct model_request with = *q;
    bool                 whole;

    if (!t->s->op_id.n)
        return t->ask(t->ask_ctx, q, a, out, e);
    struct sv name = ask_name(t, a);
    if (take(t, name, q, a, out, &whole, e))
        return err_code(e);
    if (whole) {
        count_used(t, q, out);
        return ST_OK;
    }
    struct spool_answer file = spool_answer_of(&t->spool, name);
    with.received = spool_receive;
    with.received_ctx = &file;
    enum status st = t->ask(t->ask_ctx, &with, a, out, e);
    spool_answer_end(&file);
    if (!st)
        count_used(t, q, out);
    return st;
}

/* The requests that have to be sent, and their indexes in the list. */
struct crowd_asked {
    struct model_asking *list;
    struct spool_answer *files;
    size_t              *place;
    size_t               n;
};

static void add_asked(struct crowd_asked *c, struct turn_work *t, const struct model_asking *x,
                      size_t place, struct sv name)
{
    c->files[c->n] = spool_answer_of(&t->spool, name);
    c->list[c->n] = *x;
    c->list[c->n].q.received = spool_receive;
    c->list[c->n].q.received_ctx = &c->files[c->n];
    c->place[c->n++] = place;
}

static void ask_all(void *ctx, struct model_asking *list, size_t n, void (*wait)(void *ctx),
                    void *wait_ctx, struct arena *a)
{
    struct turn_work  *t = ctx;
    struct crowd_asked c = { ARENA_NEW(a, struct model_asking, n + 1),
                             ARENA_NEW(a, struct spool_answer, n + 1), ARENA_NEW(a, size_t, n + 1),
                             0 };

    if (!t->s->op_id.n) {
        t->ask_all(t->ask_ctx, list, n, wait, wait_ctx, a);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct sv name = ask_name(t, a);
        bool      whole;
        list[i].status = take(t, name, &list[i].q, a, &list[i].out, &whole, &list[i].error);
        if (list[i].status == ST_OK && !whole)
            add_asked(&c, t, &list[i], i, name);
    }
    if (c.n)
        t->ask_all(t->ask_ctx, c.list, c.n, wait, wait_ctx, a);
    for (size_t i = 0; i < c.n; i++) {
        spool_answer_end(&c.files[i]);
        list[c.place[i]] = c.list[i];
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].status == ST_OK)
            count_used(t, &list[i].q, &list[i].out);
}

void turn_asks(struct turn_work *t)
{
    struct session_env *env = &t->s->env;

    t->ask = env->ask;
    t->ask_all = env->ask_all;
    t->ask_ctx = env->ask_ctx;
    if (env->ask)
        env->ask = ask;
    if (env->ask_all)
        env->ask_all = ask_all;
    env->ask_ctx = t;
}
