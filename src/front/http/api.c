/* POST /api/NAME, GET /api/NAME: operations of the table. */
#include "front/http/api_out.h"
#include "front/http/cache.h"
#include "front/http/condition.h"
#include "front/http/route.h"
#include "front/http/who.h"

#include "api/door_token.h"
#include "api/request.h"

/* ---- before the body ----------------------------------------------------------------------- */

static struct sv name_of(const struct serve_call *c)
{
    return sv_skip(c->head.path, sizeof "/api/" - 1);
}

static bool only_reads(const struct operation *op)
{
    return op->repeat == REPEAT_READS;
}

static bool is_lines(struct sv type)
{
    return head_is_type(type, "application/x-ndjson") || head_is_type(type, "application/jsonl");
}

static bool refuse_with(struct serve_refusal *why, const struct err *e)
{
    why->status = status_http(e->code);
    why->e = *e;
    return false;
}

static void run_operation(struct crew_job *job);

static enum api_form form_of(const struct serve_call *c)
{
    if (head_accepts(&c->head, "text/event-stream"))
        return FORM_EVENTS;
    if (head_accepts(&c->head, "application/x-ndjson") ||
        head_accepts(&c->head, "application/jsonl"))
        return FORM_LINES;
    if ((c->op->streams & STREAM_OUT) && !head_accepts(&c->head, "application/json"))
        return FORM_BYTES;
    return FORM_DOCUMENT;
}

/* All parameters as one JSON object: the body, or `params` of the query where the body has lines.
 */
static enum status read_object(struct serve_call *c, struct sv text, struct err *e)
{
    struct json doc;

    if (json_parse(text, 0, &c->a, &doc, e))
        return err_in(e, "the parameters");
    return params_read(c->op->params, &doc, c->params, &c->a, e);
}

/* Parameters of the query, as a person types them. */
static enum status read_query(struct serve_call *c, struct err *e)
{
    struct sv rest = c->head.query, name, value;
    bool      more = true;

    for (;;) {
        if (head_query_next(&rest, &c->a, &name, &value, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        const struct param *p = param_find(c->op->params, name);
        if (!p && sv_is(name, "params")) {
            if (read_object(c, value, e))
                return err_code(e);
            continue;
        }
        if (!p)
            return params_unknown(c->op->params, name, e);
        if (param_set(p, c->params, value, &c->a, e))
            return err_code(e);
    }
}

/* An operation with urgent events may run for an unlimited time. */
static enum call_pace pace_of(const struct serve_call *c)
{
    unsigned s = c->op->streams;

    if (c->op->slow || c->op->access == ACCESS_RUN ||
        ((s & STREAM_EVENTS) && !(s & (STREAM_BULK | STREAM_IN))))
        return PACE_WAITS;
    bool streams = c->streams_in || (s & STREAM_EVENTS) || c->form != FORM_DOCUMENT;
    return streams ? PACE_STREAM : PACE_SHORT;
}

bool api_begin(struct serve_call *c, struct serve_refusal *why)
{
    struct err e;

    if (operation_named(name_of(c), &c->op, &e))
        return refuse_with(why, &e);
    if (!who_may(c, why))
        return false;
    if (!sv_is(c->head.method, "POST") && !only_reads(c->op)) {
        guard_refuse(why, 405, ST_INVALID_SYNTAX, "method", "%s changes something: send a POST",
                     c->op->name);
        return false;
    }
    c->params = params_init(c->op->params, c->op->params_size, &c->a);
    if (read_query(c, &e))
        return refuse_with(why, &e);
    condition_keep(c);
    c->is_post = sv_is(c->head.method, "POST");
    c->form = form_of(c);
    c->streams_in =
        is_lines(c->head.type) || head_is_type(c->head.type, "application/octet-stream");
    if (c->streams_in && !(c->op->streams & STREAM_IN))
        return guard_refuse(why, 415, ST_INVALID_SYNTAX, "type",
                            "%s reads no lines: send its parameters as application/json",
                            c->op->name);
    if (!c->streams_in)
        return true;
    return call_run(c, run_operation, pace_of(c)) == MHD_YES;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The parameters are complete; so it is known which thread they name. Done by the
 * thread that needs them first, and checked by the next one only if that failed. */
static enum status read_body(struct serve_call *c, struct err *e)
{
    struct sv text = sb_sv(&c->body);

    if (c->body_read)
        return ST_OK;
    if ((!c->streams_in && sv_trim(text).n && read_object(c, text, e)) || condition_apply(c, e) ||
        who_reaches(c, e))
        return err_code(e);
    c->body_read = true;
    return ST_OK;
}

static enum status answer(struct serve_call *c, struct request *r, struct err *e)
{
    if (condition_tag(c, r)) {
        c->status = 304;
        return ST_OK;
    }
    if (operation_run(c->op, r, c->params, e))
        return err_code(e);
    return r->out ? sb_flush(r->out, e) : ST_OK;
}

static enum status operate(struct serve_call *c, struct request *r, struct err *e)
{
    struct lines in;
    struct sb    out;

    if (read_body(c, e))
        return err_code(e);
    if (c->streams_in) {
        in = lines_from(call_read, c, REQUEST_LINE_MAX, &c->a);
        /* cppcheck-suppress autoVariables ; taken back below */
        r->in = &in;
    }
    if ((c->op->streams & STREAM_OUT) && c->form != FORM_DOCUMENT) {
        out = sb_to_sink(api_out_bytes, c, &c->a);
        /* cppcheck-suppress autoVariables ; taken back below */
        r->out = &out;
    }
    enum status s = answer(c, r, e);
    r->in = NULL;
    r->out = NULL;
    return s;
}

static void prepare(struct serve_call *c, struct request *r)
{
    r->actor = c->caller.actor;
    r->own_name = !(c->caller.permissions & TOKEN_manage);
    r->no_network = !(c->caller.permissions & TOKEN_run);
    r->cancel = &c->gone;
    r->event = api_out_event;
    r->event_ctx = c;
}

static void run_operation(struct crew_job *job)
{
    struct serve_call *c = (struct serve_call *)(void *)job; /* its first member */
    struct request     r;
    struct err         e;

    request_init(&r, c->s->ws, &c->a);
    prepare(c, &r);
    enum status s = operate(c, &r, &e);
    request_end(&r);
    cache_prepare(c);
    api_out_end(c, &r, s, &e);
}

/* ---- joined with others -------------------------------------------------------------------- */

static struct serve_call *call_of(struct writer_job *job)
{
    return ((struct call_joined *)(void *)job)->call; /* its first member */
}

/* Nothing is sent before the commit, because the operation may be run twice. */
static void prepare_joined(struct writer_job *job, struct request *r)
{
    prepare(call_of(job), r);
    r->event = NULL;
}

static void finish_joined(struct writer_job *job)
{
    api_out_end(call_of(job), &job->r, job->status, &job->e);
}

/* Can it join a group? Its answer must be one document, and its parameters complete and short. */
static bool can_join(const struct serve_call *c)
{
    enum { SMALL_BODY = 256 * 1024 };

    return c->op->joins && !c->streams_in && c->form == FORM_DOCUMENT && c->body.n <= SMALL_BODY;
}

/* Can it run in the thread of the connection? It reads no file and waits for nothing. */
static bool is_instant(const struct serve_call *c)
{
    enum { SMALL_BODY = 16 * 1024 };

    return c->op->needs == NEEDS_NOTHING && !c->op->slow && !c->op->streams &&
           c->op->access == ACCESS_USUAL && c->body.n <= SMALL_BODY;
}

static enum MHD_Result run_here(struct serve_call *c)
{
    call_hold(c); /* call_done() releases it */
    run_operation(&c->job);
    return call_queue(c);
}

enum MHD_Result api_answer(struct serve_call *c)
{
    enum MHD_Result done;
    struct err      e;

    if (is_instant(c))
        return run_here(c);
    if (cache_may(c) && !read_body(c, &e) && cache_answer(c, &done))
        return done;
    if (!can_join(c))
        return call_run(c, run_operation, pace_of(c));
    if (read_body(c, &e))
        return call_fail(c, &e);
    return call_join(c, prepare_joined, finish_joined);
}
