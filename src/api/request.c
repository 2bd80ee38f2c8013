/* Running one operation: what it needs is found, the answer is collected and checked. */
#include "api/request.h"

#include "base/clock.h"
#include "base/path.h"

void request_init(struct request *r, struct workspace *ws, struct arena *a)
{
    *r = (struct request){ .a = a, .ws = ws, .actor = SV("user") };
    r->doc_text = sb_in(a, 0);
    r->doc_writer = jw_in(&r->doc_text, 0);
    r->doc = &r->doc_writer;
}

void request_end(struct request *r)
{
    if (r->log.store)
        workspace_give(r->ws, r->log.store, r->mode);
    r->log.store = NULL;
}

enum status request_log(struct request *r, enum store_mode mode, struct err *e)
{
    struct store *store;

    if (r->log.store)
        return ST_OK;
    if (workspace_take(r->ws, mode, &store, e))
        return err_code(e);
    r->log = log_of(store, workspace_views);
    r->mode = mode;
    return ST_OK;
}

static enum status find_needs(const struct operation *op, struct request *r, struct err *e)
{
    if (op->needs == NEEDS_NOTHING)
        return ST_OK;
    if (!r->ws)
        return err_set(e, ST_NOT_FOUND, "%s needs a workspace", op->name);
    if (op->needs <= NEEDS_ROOT)
        return ST_OK;
    if (request_log(r, op->needs == NEEDS_WRITE ? STORE_WRITE : STORE_READ, e))
        return err_code(e);
    r->log.wanted = op->view;
    return ST_OK;
}

/* Tests run with sanitizers; there a document that breaks its own schema is an error. */
static enum status check_document(const struct operation *op, struct request *r, struct err *e)
{
#ifdef ARENA_DEBUG
    struct json doc;

    if (json_parse(request_document(r), JSON_KEEP_ORDER, r->a, &doc, e) ||
        fields_check(op->answer, &doc, e))
        return err_in(e, "the answer of %s breaks its schema", op->name);
#else
    (void)op;
    (void)r;
    (void)e;
#endif
    return ST_OK;
}

enum status operation_run(const struct operation *op, struct request *r, const void *params,
                          struct err *e)
{
    if (params_check(op->params, params, e) || name_check(r->actor, "actor", e) ||
        find_needs(op, r, e) || op->run(r, params, e))
        return err_code(e);
    return check_document(op, r, e);
}

struct sv request_document(struct request *r)
{
    return r->doc_text.n ? sb_sv(&r->doc_text) : SV("{}");
}

void request_warn(struct request *r, struct sv code, struct sv thread, const char *fmt, ...)
{
    struct sb b = sb_in(r->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    *vec_push(&r->warnings, r->a) = (struct warning){ code, sb_sv(&b), thread };
}

enum status request_check(const struct request *r, struct err *e)
{
    if (r->cancel && atomic_load(r->cancel)) {
        err_set(e, ST_CONFLICT, "cancelled");
        return err_reason(e, "cancelled");
    }
    if (r->deadline_us && clock_steady_us() > r->deadline_us) {
        err_set(e, ST_CONFLICT, "the time for this request is over");
        return err_reason(e, "deadline");
    }
    return ST_OK;
}

void jw_ktime(struct jw *w, const char *key, int64_t ms)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    sb_add_iso_ms(&b, ms);
    jw_kstr(w, key, sb_sv(&b));
}
