/* Remembers in the log what was asked with an op_id, and its answer. */
#include "api/once.h"

#include "api/share/share_call.h"
#include "base/clock.h"
#include "base/hash.h"
#include "loom/agent.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <stdio.h>
#include <string.h>

/* A longer request is stored as its hash. An erasure of what the operation wrote takes the record
 * along (src/thread/erase.c), because a text can be guessed and compared with the hash. */
enum { REQUEST_KEPT_MAX = 16 * 1024 };

/* ---- what was asked ---------------------------------------------------------------------- */

static struct sv text_of(const struct operation *op, const char *name, const void *params)
{
    const struct param *p = param_find(op->params, sv_of(name));

    if (!p || (p->type != PARAM_TEXT && p->type != PARAM_NAME))
        return (struct sv){ 0 };
    return *(const struct sv *)(const void *)((const char *)params + p->offset);
}

static bool is_asked(const struct operation *op, const void *params)
{
    return op->once && text_of(op, op->repeat_key, params).s;
}

/* Take over the revision that the caller expects. */
static void take_expected(const struct operation *op, struct request *r, const void *params)
{
    const struct param *p = op->once ? param_find(op->params, SV("expect")) : NULL;
    int64_t             rev =
        p ? *(const int64_t *)(const void *)((const char *)params + p->offset) : PARAM_UNSET;

    if (rev == PARAM_UNSET)
        return;
    r->once.expects = text_of(op, "thread", params);
    r->once.expected = rev;
}

/* The parameters without the op_id, and without the expected revision, which differs when the
 * request is repeated. */
static enum status request_of(const struct operation *op, const void *params, struct arena *a,
                              struct sv *out, struct err *e)
{
    struct sb   b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json all;

    params_write(op->params, params, &w);
    if (json_parse(sb_sv(&b), 0, a, &all, e))
        return err_code(e);
    size_t n = 0;
    for (size_t i = 0; i < all.n; i++)
        if (!sv_is(all.members[i].key, op->repeat_key) && !sv_is(all.members[i].key, "expect"))
            all.members[n++] = all.members[i];
    all.n = n;
    *out = json_canonical(&all, a);
    if (out->n <= REQUEST_KEPT_MAX)
        return ST_OK;
    struct hash h = hash_blake2b(out, 1);
    struct sb   hashed = sb_in(a, 0);
    sb_addf(&hashed, "\"blake2b:" SV_FMT "\"", SV_ARG(hash_hex(&h, a)));
    *out = sb_sv(&hashed);
    return ST_OK;
}

static enum status asked(const struct operation *op, struct request *r, const void *params,
                         struct err *e)
{
    struct once *o = &r->once;

    o->op_id = text_of(op, op->repeat_key, params);
    o->thread = op->in_thread ? text_of(op, "thread", params) : GLOBAL_THREAD;
    if (!o->op_id.n)
        return err_set(e, ST_USAGE, "%s is empty", op->repeat_key);
    return request_of(op, params, r->a, &o->request, e);
}

/* ---- writing it down --------------------------------------------------------------------- */

static bool is_complete(const struct request *r)
{
    return r->doc_text.n && !r->doc->depth;
}

static void put_verdict(struct jw *w, const struct err *v)
{
    jw_key(w, "verdict");
    jw_open(w, '{');
    jw_kint(w, "code", v->code);
    jw_kstr(w, "hint", sv_of(v->hint));
    jw_kstr(w, "reason", sv_of(v->reason));
    jw_kstr(w, "text", sv_of(v->text));
    jw_close(w, '}');
}

static enum status payload_of(struct request *r, struct sv *out, struct err *e)
{
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json v;

    jw_open(&w, '{');
    jw_key(&w, "answer");
    jw_raw(&w, r->once.recorded);
    jw_kstr(&w, "operation", sv_of(r->op->name));
    jw_key(&w, "request");
    jw_raw(&w, r->once.request);
    if (r->verdict.code && strcmp(r->verdict.reason, "unwritten") != 0) /* that will pass */
        put_verdict(&w, &r->verdict);
    jw_close(&w, '}');
    if (json_parse(sb_sv(&b), 0, r->a, &v, e))
        return err_code(e);
    *out = json_canonical(&v, r->a);
    return ST_OK;
}

/* Append the record of the operation, in a write transaction; with `part`, a later addition to the
 * record. */
static enum status append(struct request *r, const char *part, struct err *e)
{
    struct once      *o = &r->once;
    struct store_head head;
    struct entry      n = { .at = clock_now_ms(),
                            .kind = sv_of(kind_name(KIND_OPERATION_DONE)),
                            .actor = r->actor,
                            .op_id = part ? log_part_op_id(o->op_id, part, r->a) : o->op_id };

    o->recorded = sv_dup(request_document(r), r->a);
    if (payload_of(r, &n.payload, e))
        return err_code(e);
    enum status s = log_append(&r->log, o->thread, LOG_ANY_REV, &n, 1, &head, e);
    if (!s && r->log.repeated)
        s = log_op_id_taken(o->op_id, e);
    o->taken = s && sv_is(sv_of(e->reason), "op_id");
    o->is_recorded = !s;
    return s;
}

/* Called by log_commit(). A commit before the document is complete is not that of the operation,
 * but an import of changes by others or a fold of views. */
static enum status record(void *ctx, struct err *e)
{
    struct request *r = ctx;

    return r->once.is_recorded || !is_complete(r) ? ST_OK : append(r, NULL, e);
}

void once_watch(struct request *r)
{
    r->log.before_commit = r->once.op_id.s ? record : NULL;
    r->log.before_commit_ctx = r;
    r->log.expects = r->once.expects;
    r->log.expected = r->once.expected;
}

/* In a transaction of its own. */
static enum status record_now(struct request *r, const char *part, struct err *e)
{
    bool is_recorded = r->once.is_recorded;

    r->log.before_commit = NULL;
    r->log.expects = (struct sv){ 0 };
    if (log_begin(&r->log, r->once.thread, STORE_WRITE, e) || append(r, part, e) ||
        log_commit(&r->log, e)) {
        log_abort(&r->log);
        r->once.is_recorded = is_recorded;
        return err_code(e);
    }
    return ST_OK;
}

/* ---- the second time --------------------------------------------------------------------- */

static void take_verdict(const struct json *v, struct err *out)
{
    int64_t code = 0;

    if (!v || !json_int(json_find(v, "code"), &code) || code <= ST_OK || code > STATUS_LAST)
        return;
    err_set(out, (enum status)code, SV_FMT, SV_ARG(json_text(v, "text")));
    snprintf(out->reason, sizeof out->reason, SV_FMT, SV_ARG(json_text(v, "reason")));
    if (json_text(v, "hint").n)
        err_hint(out, SV_FMT, SV_ARG(json_text(v, "hint")));
}

static enum status erased(const struct once *o, struct err *e)
{
    err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' was used before, and what was asked is erased",
            SV_ARG(o->op_id));
    err_reason(e, "op_id");
    return err_hint(e, "look at what is there; use a new op_id for new content");
}

static enum status answer_from(struct request *r, const struct entry *n, struct err *e)
{
    struct json v;

    if (kind_of(n->kind) != KIND_OPERATION_DONE)
        return log_op_id_taken(r->once.op_id, e);
    if (n->erased)
        return erased(&r->once, e);
    if (json_parse(n->payload, 0, r->a, &v, e))
        return err_code(e);
    const struct json *request = json_find(&v, "request"), *answer = json_find(&v, "answer");
    if (!sv_is(json_text(&v, "operation"), r->op->name) || !request || !answer ||
        !sv_eq(json_canonical(request, r->a), r->once.request))
        return log_op_id_taken(r->once.op_id, e);
    request_document_anew(r);
    fields_write(r->op->answer, answer, r->doc);
    r->verdict = (struct err){ 0 };
    take_verdict(json_find(&v, "verdict"), &r->verdict);
    r->warnings.n = 0;
    request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                 "it was done before under this op_id: nothing was done now");
    return ST_OK;
}

/* In a transaction. */
static enum status find_in(struct request *r, bool *found, struct err *e)
{
    struct once *o = &r->once;
    struct sv    part = log_part_op_id(o->op_id, "answer", r->a);
    struct entry n, later;
    bool         is_later = false;

    if (log_find_op(&r->log, o->thread, o->op_id, r->a, &n, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    if (kind_of(n.kind) == KIND_OPERATION_DONE && !n.erased &&
        log_find_op(&r->log, o->thread, part, r->a, &later, &is_later, e))
        return err_code(e);
    return answer_from(r, is_later ? &later : &n, e);
}

/* *found: it was done, and r has the answer. */
static enum status find_done(struct request *r, bool *found, struct err *e)
{
    *found = false;
    if (request_log(r, STORE_WRITE, e) || log_begin(&r->log, r->once.thread, STORE_READ, e))
        return err_code(e);
    enum status s = find_in(r, found, e);
    log_abort(&r->log);
    return s;
}

/* ---- running it -------------------------------------------------------------------------- */

/* It was run inside an open group of others: api/writer.c runs it again alone. */
static enum status needs_own_group(struct err *e)
{
    err_set(e, ST_CONFLICT, "what is done once is not committed together with others");
    return err_reason(e, "rebuild");
}

static enum status begin_group(const struct operation *op, struct request *r, struct err *e)
{
    r->once.in_group = op->joins && store_has_groups(r->log.store);
    return r->once.in_group ? store_group_begin(r->log.store, e) : ST_OK;
}

/* Record what the commit did not record. In a group both are one transaction; otherwise the
 * operation is committed already. */
static enum status finish(struct request *r, struct err *e)
{
    struct once *o = &r->once;
    struct err   why;

    if (o->is_recorded && sv_eq(o->recorded, request_document(r)))
        return ST_OK;
    if (!record_now(r, o->is_recorded ? "answer" : NULL, &why))
        return ST_OK;
    if (o->in_group || o->taken) {
        *e = why;
        return e->code;
    }
    request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                 "done, but not recorded under its op_id: %s; do not repeat it", why.text);
    return ST_OK;
}

static enum status end_group(struct request *r, enum status s, struct err *e)
{
    if (!r->once.in_group)
        return s;
    r->once.in_group = false;
    if (!s)
        return store_group_end(r->log.store, e);
    log_abort(&r->log);
    store_group_abort(r->log.store);
    return s;
}

enum status once_run(const struct operation *op, struct request *r, const void *params,
                     struct err *e)
{
    bool found;

    r->once = (struct once){ 0 };
    take_expected(op, r, params);
    once_watch(r);
    if (!is_asked(op, params))
        return op->run(r, params, e);
    if (r->log.only_current)
        return needs_own_group(e);
    if (asked(op, r, params, e) || find_done(r, &found, e))
        return err_code(e);
    if (found) {
        r->log.before_commit = NULL;
        r->log.expects = (struct sv){ 0 };
        if (sv_eq(r->once.thread, SHARE_GLOBAL))
            share_call_finish(r);
        return ST_OK;
    }
    once_watch(r);
    enum status s = begin_group(op, r, e);
    if (!s)
        s = op->run(r, params, e);
    if (!s)
        s = finish(r, e);
    s = end_group(r, s, e);
    r->log.before_commit = NULL;
    if (!s || !r->once.taken)
        return s;
    s = find_done(r, &found, e);
    return s || found ? s : log_op_id_taken(r->once.op_id, e);
}
