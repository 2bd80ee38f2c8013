/* Which lane a context is of, and what of it is seen. */
#include "api/log/project_call.h"

#include "base/path.h"
#include "loom/agent.h"
#include "thread/kind.h"
#include "thread/project.h"

static enum status check_lane(struct request *r, struct sv thread, struct sv name, struct err *e)
{
    struct lane       lane;
    struct store_head h;
    bool              found;

    if (name_check(name, "lane", e) || log_head(&r->log, thread, &h, e) ||
        lane_find(&r->log, thread, name, r->a, &lane, &found, e))
        return err_code(e);
    if (found || !h.rev || sv_eq(name, LANE_DEFAULT))
        return ST_OK;
    return lane_not_found(thread, name, e);
}

/* Entries that are not there yet change nothing. */
static enum status settle_at(struct request *r, const struct project_asked *of, int64_t *at,
                             struct err *e)
{
    struct store_head h;

    *at = STORE_TO_END;
    if (of->at == PARAM_UNSET)
        return ST_OK;
    if (log_head(&r->log, of->thread, &h, e))
        return err_code(e);
    *at = of->at < h.rev - 1 ? of->at : STORE_TO_END;
    return ST_OK;
}

static enum status find_place(struct request *r, const struct project_asked *of, int64_t at,
                              struct lane_place *out, struct sv *agent, struct err *e)
{
    *agent = of->agent.n ? of->agent : r->actor.n ? r->actor : AGENT_DEFAULT;
    *out = (struct lane_place){ .lane = of->lane, .since = -1 };
    if (of->lane.s)
        return check_lane(r, of->thread, of->lane, e);
    if (lane_place(&r->log, of->thread, *agent, at, r->a, out, e))
        return err_code(e);
    if (out->since >= 0 || of->agent.n)
        return ST_OK;
    *agent = AGENT_DEFAULT;
    return lane_place(&r->log, of->thread, *agent, at, r->a, out, e);
}

enum status project_call_begin(struct request *r, struct sv thread, struct err *e)
{
    bool marked = false;

    if (log_begin(&r->log, thread, STORE_READ, e))
        return err_code(e);
    enum status s = project_is_marked(&r->log, thread, r->a, &marked, e);
    if (!s && !marked)
        return ST_OK;
    log_abort(&r->log);
    if (s)
        return s;
    r->log.wanted = &loom_view;
    return log_begin(&r->log, thread, STORE_READ, e);
}

enum status project_call_seen(struct request *r, const struct project_asked *of,
                              struct loom_seen *out, struct err *e)
{
    struct loom       loom = { .log = &r->log, .thread = of->thread, .a = r->a };
    struct lane_place place;
    struct sv         agent;
    int64_t           at;

    if (settle_at(r, of, &at, e) || find_place(r, of, at, &place, &agent, e))
        return err_code(e);
    *out = (struct loom_seen){ .lane = place.lane, .upto = at };
    if (r->log.wanted != &loom_view)
        return ST_OK;
    struct loom_seen_of seen = {
        .lane = place.lane, .node = place.node, .since = place.since, .at = at, .agent = agent
    };
    if (loom_seen(&loom, &seen, out, e))
        return err_code(e);
    if (of->lane.s && out->hidden.s)
        request_warn(r, (struct sv){ 0 }, of->thread,
                     "lane '" SV_FMT "' is shown up to [" SV_FMT
                     "], which is pruned: `→ restore " SV_FMT "` shows it again",
                     SV_ARG(of->lane), SV_ARG(out->hidden), SV_ARG(out->hidden));
    return ST_OK;
}

void project_call_warn_end(struct request *r, struct sv thread, int64_t asked, int64_t last)
{
    if (asked != PARAM_UNSET && asked > last)
        request_warn(
            r, (struct sv){ 0 }, thread,
            "there is no entry %lld: the thread ends with %lld, and is shown as it is there",
            (long long)asked, (long long)last);
}
