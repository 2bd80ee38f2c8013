/* Finding the record of a command again. */
#include "command/step.h"

#include "command/once.h"
#include "command/run.h"

#include "thread/kind.h"
#include "thread/scan.h"

void step_begin(struct session *s)
{
    struct sb b = sb_in(s->a, 0);

    s->op_id = (struct sv){ 0 };
    s->asks = 0;
    if (!s->run.id.n) {
        s->op_id = once_step(s, s->line++);
        return;
    }
    sb_addf(&b, "line:" SV_FMT "/%lld/%zu", SV_ARG(s->run.id), (long long)s->round, s->line++);
    s->op_id = sb_sv(&b);
}

/* The nodes and documents that it showed, for what a later text of the turn names. */
static void read_shows(struct session *s, const struct json *p, struct result *out)
{
    const struct json *shows = json_find(p, "shows");

    if (!json_is(shows, JSON_ARRAY))
        return;
    out->items = ARENA_NEW(s->a, struct shown_item, shows->n + 1);
    for (size_t i = 0; i < shows->n; i++)
        out->items[out->n_items++] = (struct shown_item){ json_text(&shows->items[i], "node"),
                                                          json_text(&shows->items[i], "doc") };
}

enum status step_read(struct session *s, const struct entry *n, struct result *out, struct err *e)
{
    struct json p;

    if (json_parse(n->payload, 0, s->a, &p, e))
        return err_code(e);
    struct sv text = json_text(&p, "shown");
    out->restored = true;
    out->entry = n->seq;
    out->silent = kind_of(n->kind) == KIND_MEMORY_OPERATION; /* a thought */
    out->ok = out->silent || sv_is(json_text(&p, "outcome"), "ok");
    out->recorded = json_find(&p, "result") != NULL;
    sb_add(&out->text, text.s ? text : json_text(&p, "result"));
    if (!out->ok)
        result_read_error(json_text(&p, "code"), text, &out->error);
    if (json_text(&p, "verb").n)
        out->verb = json_text(&p, "verb");
    read_shows(s, &p, out);
    return ST_OK;
}

enum status step_done(struct session *s, struct result *out, bool *done, struct err *e)
{
    struct entry n;

    *done = false;
    if (!s->run.id.n)
        return ST_OK; /* once.h looks for a whole turn */
    if (log_begin(s->log, s->home, STORE_READ, e))
        return err_code(e);
    enum status st = log_find_op(s->log, s->home, s->op_id, s->a, &n, done, e);
    if (!st && *done)
        st = step_read(s, &n, out, e);
    log_abort(s->log);
    return st;
}

enum status step_restore(struct session *s, const struct result *r, struct err *e)
{
    struct call c;
    struct err  ignored;

    if (!r->ok || !sv_is(r->verb, "switch") || call_meant(r->line, s->a, &c, &ignored) ||
        !call_has(&c, "tree"))
        return ST_OK;
    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = session_switch_tree(s, call_text(&c, "tree"), e);
    log_abort(s->log);
    return st;
}

void step_record(struct jw *w, const struct session *s, const struct result *r)
{
    struct sb b = sb_in(s->a, 0);

    if (!s->op_id.n || (r->ok && r->recorded))
        return;
    result_show(&b, r);
    jw_klossy(w, "shown", sb_sv(&b));
}
