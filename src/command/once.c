/* Claims of turns, and answering a request that was done before. */
#include "command/once.h"

#include "base/hash.h"
#include "base/json.h"
#include "command/step.h"
#include "thread/kind.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

#include <stdio.h>

enum { STEPS_MAX = 100000 }; /* most commands that a record of a turn may claim */

static bool is_keyed(const struct session *s)
{
    return s->once.op_id.n > 0;
}

static enum status check_head(struct session *s, struct err *e)
{
    return s->once.has_expect ? log_check_rev(s->log, s->loom.thread, s->once.expect, e) : ST_OK;
}

/* ---- saying ----------------------------------------------------------------------------------
 */

/* Is the node what is to be said now? Where the agent is, when it names no node, has changed since
 * then: the parent is compared only when one is named. Of an erased text nothing can be said. */
static enum status is_same(struct session *s, const struct entry *n, const struct node *made,
                           struct sv text, struct sv at, bool *same, struct err *e)
{
    struct sv   before = { 0 };
    struct node parent;

    *same = sv_eq(made->author, s->agent.name);
    if (!n->erased && node_text(&s->loom, made->seq, &before, e))
        return err_code(e);
    *same = *same && (n->erased || sv_eq(before, text));
    if (!at.s || !*same)
        return ST_OK;
    if (node_find_visible(&s->loom, at, &parent, e))
        return err_code(e);
    *same = parent.slot == made->parent;
    return ST_OK;
}

enum status once_say(struct session *s, struct sv text, struct sv at, bool *again, struct node *out,
                     struct err *e)
{
    struct entry n;
    bool         same = false;

    *again = false;
    if (!is_keyed(s))
        return check_head(s, e);
    if (log_find_op(s->log, s->loom.thread, s->once.op_id, s->a, &n, again, e))
        return err_code(e);
    if (!*again)
        return check_head(s, e);
    if (kind_of(n.kind) == KIND_AI_MESSAGE &&
        (node_at(&s->loom, n.seq, out, e) || is_same(s, &n, out, text, at, &same, e)))
        return err_code(e);
    return same ? ST_OK : log_op_id_taken(s->once.op_id, e);
}

/* ---- turns -----------------------------------------------------------------------------------
 */

static struct sv derived(const struct session *s, const char *what)
{
    return is_keyed(s) ? log_part_op_id(s->once.op_id, what, s->a) : (struct sv){ 0 };
}

struct sv once_node(const struct session *s)
{
    return derived(s, "node");
}

struct sv once_step(const struct session *s, size_t n)
{
    char what[24];

    snprintf(what, sizeof what, "%zu", n);
    return derived(s, what);
}

struct sv once_end(const struct session *s)
{
    return derived(s, "end");
}

/* What was asked for, and of whom. It is content: an erasure of the turn takes it along. */
static struct sv asked(const struct session *s, struct sv output)
{
    struct sv   gap = { "", 1 };
    struct sv   parts[] = { s->agent.name, gap, s->once.at, gap, output };
    struct hash h = hash_blake2b(parts, COUNT(parts));

    return hash_hex(&h, s->a);
}

static enum status unfinished(const struct session *s, int64_t seq, struct err *e)
{
    err_set(e, ST_CONFLICT,
            "what op_id '" SV_FMT
            "' names has begun and has not come to its end: it still runs, or "
            "was interrupted",
            SV_ARG(s->once.op_id));
    err_reason(e, "unfinished");
    return err_hint(e,
                    "`heddle log show " SH_FMT " --from %lld` shows what was done; send the rest "
                    "under a new op_id",
                    SV_ARG(s->loom.thread), (long long)seq);
}

enum status once_begin(struct session *s, struct sv output, bool *again, struct err *e)
{
    struct entry claim = { 0 }, end;
    struct json  p;
    bool         ended;

    *again = false;
    s->home = s->loom.thread;
    s->line = 0;
    if (is_keyed(s) && log_find_op(s->log, s->home, s->once.op_id, s->a, &claim, again, e))
        return err_code(e);
    if (!*again)
        return check_head(s, e);
    if (json_parse(claim.payload, 0, s->a, &p, e))
        return err_code(e);
    if (kind_of(claim.kind) != KIND_MEMORY_OPERATION ||
        (!claim.erased && !sv_eq(json_text(&p, "asked"), asked(s, output))))
        return log_op_id_taken(s->once.op_id, e);
    if (log_find_op(s->log, s->home, once_end(s), s->a, &end, &ended, e))
        return err_code(e);
    return ended ? ST_OK : unfinished(s, claim.seq, e);
}

/* A memory_operation in the tree where the turn began. */
static enum status put(struct session *s, const char *op, const char *name, struct sv value,
                       int64_t steps, struct sv op_id, struct err *e)
{
    struct sb   b = sb_in(s->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct loom home = s->loom;

    home.thread = s->home;
    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    if (name)
        jw_kstr(&w, name, value);
    jw_kstr(&w, "op", sv_of(op));
    if (steps >= 0)
        jw_kint(&w, "steps", steps);
    jw_close(&w, '}');
    return loom_put(&home,
                    &(struct loom_record){ .agent = s->agent.name,
                                           .kind = kind_name(KIND_MEMORY_OPERATION),
                                           .payload = sb_sv(&b),
                                           .op_id = op_id },
                    NULL, e);
}

enum status once_claim(struct session *s, struct sv output, struct err *e)
{
    if (is_keyed(s))
        return put(s, "request", "asked", asked(s, output), -1, s->once.op_id, e);
    /* Without an op_id of the caller it is the expected head that has to be taken at once. */
    return s->once.has_expect ? put(s, "request", NULL, (struct sv){ 0 }, -1, (struct sv){ 0 }, e)
                              : ST_OK;
}

enum status once_end_elsewhere(struct session *s, struct err *e)
{
    if (!is_keyed(s) || sv_eq(s->home, s->loom.thread))
        return ST_OK;
    return put(s, "answered", NULL, (struct sv){ 0 }, (int64_t)s->line, once_end(s), e);
}

/* The n-th result. A thought without words leaves no entry; neither does what is in another tree.
 */
static enum status restore_step(struct session *s, size_t n, bool moved, struct turn *out,
                                struct err *e)
{
    struct result *r = &out->results[out->n];
    struct entry   record;
    struct json    p;
    bool           found;

    *r = (struct result){ .text = sb_in(s->a, 0), .undoes = -1, .entry = -1, .ok = true };
    r->line = r->verb = SV("think");
    if (log_find_op(s->log, s->home, once_step(s, n), s->a, &record, &found, e))
        return err_code(e);
    out->elsewhere += !found && moved;
    if (!found) {
        out->n += !moved;
        return ST_OK;
    }
    if (step_read(s, &record, r, e) || json_parse(record.payload, 0, s->a, &p, e))
        return err_code(e);
    if (!r->silent)
        r->line = record.erased ? SV(ERASED_TEXT) : json_text(&p, "line");
    out->n++;
    return ST_OK;
}

static enum status restore(struct session *s, struct turn *out, struct err *e)
{
    struct entry n;
    struct json  p;
    int64_t      steps = 0;
    bool         found;

    if (log_find_op(s->log, s->home, once_node(s), s->a, &n, &out->has_node, e) ||
        (out->has_node && node_at(&s->loom, n.seq, &out->node, e)) ||
        log_find_op(s->log, s->home, once_end(s), s->a, &n, &found, e) ||
        json_parse(n.payload, 0, s->a, &p, e))
        return err_code(e);
    json_int(json_find(&p, "steps"), &steps);
    if (steps < 0 || steps > STEPS_MAX) /* a record of an import may say anything */
        return err_set(e, ST_CORRUPT, "entry %lld: no turn has %lld steps", (long long)n.seq,
                       (long long)steps);
    bool moved = sv_is(json_text(&p, "op"), "answered");
    out->results = ARENA_NEW(s->a, struct result, (size_t)steps + 1);
    for (int64_t i = 0; i < steps; i++)
        if (restore_step(s, (size_t)i, moved, out, e))
            return err_code(e);
    out->repeated = true;
    return ST_OK;
}

enum status once_restore(struct session *s, struct turn *out, struct err *e)
{
    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    enum status st = restore(s, out, e);
    log_abort(s->log);
    return st;
}
