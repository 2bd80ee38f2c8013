/* From parameters and settings to a request of the room that assembles. */
#include "api/assemble/assemble_call.h"

#include "api/log/project_call.h"
#include "api/share/share_call.h"
#include "payload/session.h"
#include "share/block.h"
#include "thread/scan.h"

/* ---- counting --------------------------------------------------------------------------- */

static enum status open_counter(struct assemble_call *c, struct err *e)
{
    if (token_counter_open(c->r->ws, c->loom.s.agent.model, &c->choice, &c->tokens, e))
        return err_code(e);
    counts_init(&c->counts, c->tokens, c->choice.thousandths);
    return ST_OK;
}

/* ---- resources --------------------------------------------------------------------------- */

/* The newest session that is bound to the thread, or the one that is named. */
static enum status find_session(struct assemble_call *c, struct sv name, struct session_dir *out,
                                bool *found, struct err *e)
{
    int          root = workspace_project_fd(c->r->ws);
    session_dirs list = { 0 };

    *found = name.n > 0;
    if (name.n)
        return session_find(root, name, c->r->a, out, e);
    if (session_list(root, c->r->a, &list, e))
        return err_code(e);
    for (size_t i = 0; i < list.n; i++)
        if (sv_eq(list.v[i].thread, c->q.loom.thread)) {
            *out = list.v[i];
            *found = true;
        }
    return ST_OK;
}

static enum status bind_resources(struct assemble_call *c, struct sv name, struct err *e)
{
    struct payload_params p = {
        .budget = PARAM_UNSET, .max_depth = PARAM_UNSET, .max_entries = PARAM_UNSET, .no_tree = true
    };
    struct session_dir s;
    struct sb          turn = sb_in(c->r->a, 0);
    bool               found = false;

    if (sv_is(name, "none"))
        return ST_OK;
    if (find_session(c, name, &s, &found, e))
        return err_code(e);
    if (!found || !s.turn)
        return ST_OK;
    sb_addf(&turn, SV_FMT "/" SV_FMT "/%02d", SV_ARG(workspace_project(c->r->ws)), SV_ARG(s.dir),
            s.turn);
    p.turn = sb_sv(&turn);
    if (payload_call_begin(c->r, &p, &c->payload, e))
        return err_code(e);
    payload_release(&c->payload.payload); /* it is collected again when it is written */
    c->has_payload = true;
    c->payload.q.encoding = c->choice.encoding;
    c->q.payload = &c->payload.q;
    return ST_OK;
}

/* ---- the request -------------------------------------------------------------------------- */

static int64_t set_or(int64_t given, int64_t otherwise)
{
    return given == PARAM_UNSET ? otherwise : given;
}

static enum status fill(struct assemble_call *c, const struct assemble_params *p, struct err *e)
{
    const struct config *config = &c->r->ws->config;
    struct sv strategy = p->strategy.s ? p->strategy : config_text(config, "loom.strategy");

    c->at = p->at;
    c->q = (struct assembly_request){
        .loom = c->loom.s.loom,
        .agent = c->loom.s.agent,
        .node = p->node,
        .input = p->task,
        .share = &c->loom.env.share,
        .block_flags = BLOCK_NOTES,
        .load = p->load,
        .doc_words = loom_doc_words,
        .doc_ctx = &c->loom.s,
        .counts = &c->counts,
        .budget = set_or(p->budget, c->loom.s.env.budget),
        .reserve = set_or(p->reserve, 0),
        .recent = set_or(p->recent, config_int(config, "loom.recent", 0)),
        .buffer_system = config_bool(config, "loom.buffer_system"),
    };
    if (strategy.s && !assembly_strategy_of(strategy, &c->q.strategy))
        return err_set(e, ST_USAGE, "no strategy is called '" SV_FMT "'", SV_ARG(strategy));
    return bind_resources(c, p->session, e);
}

/* Import what other programs changed below .leslie, so that it is part of what is assembled. */
static enum status bring_in(struct request *r, struct err *e)
{
    struct share s;

    if (share_call_begin(r, &s, STORE_READ, e))
        return share_call_fail(r, &s, e);
    r->log.wanted = &loom_view;
    return share_call_end(r, &s);
}

enum status assemble_call_open(struct assemble_call *c, struct request *r,
                               const struct assemble_params *p, struct err *e)
{
    *c = (struct assemble_call){ .r = r };
    if (bring_in(r, e))
        return err_code(e);
    if (loom_call_open(&c->loom, r, p->thread, p->agent, e) ||
        (!p->may_be_new && loom_call_find_tree(r, p->thread, e)) || open_counter(c, e) ||
        fill(c, p, e))
        return assemble_call_close(c, err_code(e));
    return ST_OK;
}

enum status assemble_call_close(struct assemble_call *c, enum status s)
{
    if (c->has_payload)
        fd_undo(&c->payload.q.fetch.cache_fd);
    counts_release(&c->counts);
    tokens_close(c->tokens);
    log_at_end(&c->r->log);
    return loom_call_close(&c->loom, s);
}

/* ---- making it ----------------------------------------------------------------------------- */

/* A past point is seen at the time of its last entry: who was there then, not who is there now. */
static enum status go_back(struct assemble_call *c, struct err *e)
{
    struct store_head h;

    if (log_at(&c->r->log, c->q.loom.thread, c->at, e) ||
        log_head(&c->r->log, c->q.loom.thread, &h, e))
        return err_code(e);
    project_call_warn_end(c->r, c->q.loom.thread, c->at, h.rev - 1);
    if (h.rev)
        c->q.loom.now = h.updated;
    return ST_OK;
}

static void pass_warnings(struct assemble_call *c, const struct assembly *x)
{
    const struct sv none = { 0 };

    for (size_t i = 0; i < x->warnings.n; i++)
        request_warn(c->r, none, none, SV_FMT, SV_ARG(x->warnings.v[i]));
    share_call_warnings(c->r, &c->loom.env.share);
}

enum status assemble_call_make(struct assemble_call *c, struct assembly *out, struct err *e)
{
    bool        past = c->at != PARAM_UNSET;
    enum status s = past ? go_back(c, e) : log_begin(&c->r->log, c->q.loom.thread, STORE_READ, e);

    if (!s)
        s = assembly_make(&c->q, c->r->a, out, e);
    if (!s)
        pass_warnings(c, out);
    log_abort(&c->r->log);
    return s;
}
