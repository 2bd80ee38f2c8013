/* The one table of states. Every way a state can change goes through it. */
#include "share/operation.h"

#include "share/operation_internal.h"

#define NO THREAD_STATUS_COUNT

/* clang-format off */
static const struct rule {
    const char        *action;
    bool               is_transfer;
    enum thread_status next[THREAD_STATUS_COUNT];
} rules[] = {
    /*                           active                suspended            waiting_human         completed        cancelled        frozen           archived */
    { "suspend",          false, { THREAD_SUSPENDED,     NO,                   NO,                   NO,              NO,              NO,              NO } },
    { "resume",           false, { NO,                   THREAD_ACTIVE,        THREAD_ACTIVE,        NO,              NO,              NO,              NO } },
    { "done",             false, { THREAD_COMPLETED,     THREAD_COMPLETED,     NO,                   NO,              NO,              NO,              NO } },
    { "cancel",           false, { THREAD_CANCELLED,     THREAD_CANCELLED,     THREAD_CANCELLED,     NO,              NO,              NO,              NO } },
    { "archive",          false, { NO,                   NO,                   NO,                   THREAD_ARCHIVED, THREAD_ARCHIVED, THREAD_ARCHIVED, NO } },
    { "request_approval", true,  { THREAD_WAITING_HUMAN, THREAD_WAITING_HUMAN, THREAD_WAITING_HUMAN, NO,              NO,              NO,              NO } },
    { "delegate",         true,  { THREAD_ACTIVE,        THREAD_SUSPENDED,     THREAD_ACTIVE,        NO,              NO,              NO,              NO } },
    { "handoff",          true,  { THREAD_ACTIVE,        THREAD_SUSPENDED,     THREAD_ACTIVE,        NO,              NO,              NO,              NO } },
};
/* clang-format on */

static const struct rule *rule_of(struct sv action)
{
    for (size_t i = 0; i < COUNT(rules); i++)
        if (sv_is(action, rules[i].action))
            return &rules[i];
    return NULL;
}

bool lifecycle_next(enum thread_status from, struct sv action, enum thread_status *to)
{
    const struct rule *r = rule_of(action);

    if (!r || r->next[from] == NO)
        return false;
    *to = r->next[from];
    return true;
}

bool lifecycle_is_action(struct sv action)
{
    const struct rule *r = rule_of(action);

    return r && !r->is_transfer;
}

bool lifecycle_is_direction(struct sv direction)
{
    const struct rule *r = rule_of(direction);

    return r && r->is_transfer;
}

static enum status refuse(struct share *s, const struct share_thread *t, struct sv action,
                          struct err *e)
{
    struct sb b = sb_in(s->a, 0), can = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "from", sv_of(thread_status_name(t->status)));
    jw_kstr(&w, "action", action);
    jw_close(&w, '}');
    s->details = sb_sv(&b);
    for (size_t i = 0; i < COUNT(rules); i++)
        if (!rules[i].is_transfer && rules[i].next[t->status] != NO)
            sb_addf(&can, "%s%s", sb_sv(&can).n ? ", " : "", rules[i].action);
    err_set(e, ST_CONFLICT, "Invalid state transition from %s using action " SV_FMT,
            thread_status_name(t->status), SV_ARG(action));
    err_reason(e, "transition");
    return err_hint(e, "from %s one can: %s", thread_status_name(t->status),
                    can.n ? sb_sv(&can).s : "nothing; spawn a new thread");
}

static enum status change(struct share *s, struct share_thread *t, struct sv action, struct err *e)
{
    enum thread_status to;

    if (!lifecycle_next(t->status, action, &to))
        return refuse(s, t, action, e);
    t->status = to;
    return ST_OK;
}

enum status share_lifecycle(struct share *s, struct sv thread, struct sv action, struct sv reason,
                            struct share_thread *out, struct err *e)
{
    struct sb b;

    if (share_thread(s, thread, out, e))
        return err_code(e);
    if (!lifecycle_is_action(action)) {
        err_set(e, ST_USAGE, "'" SV_FMT "' is no action", SV_ARG(action));
        return err_hint(e, "suspend, resume, done, cancel, archive");
    }
    if (change(s, out, action, e))
        return err_code(e);
    struct jw w = share_op_start(s, &b, "lifecycle");
    jw_kstr(&w, "thread_id", thread);
    jw_kstr(&w, "action", action);
    jw_kstr(&w, "reason", reason.n ? reason : (struct sv){ 0 });
    jw_kstr(&w, "objective", out->objective);
    jw_kstr(&w, "to", sv_of(thread_status_name(out->status)));
    return share_op_finish(s, &w, &b, e);
}

enum status share_rename(struct share *s, struct sv thread, struct sv title,
                         struct share_thread *out, struct err *e)
{
    struct sb b;
    bool      only_log;

    if (share_any_thread(s, thread, out, &only_log, e) || share_op_text(title, "the title", e))
        return err_code(e);
    if (sv_eq(out->title, title))
        return ST_OK;
    out->title = title;
    struct jw w = share_op_start(s, &b, "rename");
    jw_kstr(&w, "thread_id", thread);
    jw_kstr(&w, "title", title);
    return share_op_finish(s, &w, &b, e);
}

static enum status archive_log(struct share *s, struct sv reason, struct share_thread *t,
                               struct err *e)
{
    struct sb b;
    struct jw w = share_op_start(s, &b, "log_archive");

    jw_kstr(&w, "thread_id", t->id);
    jw_kstr(&w, "reason", reason.n ? reason : (struct sv){ 0 });
    t->status = THREAD_ARCHIVED;
    return share_op_finish(s, &w, &b, e);
}

enum status share_archive(struct share *s, struct sv thread, struct sv reason,
                          struct share_thread *out, struct err *e)
{
    bool only_log;

    if (share_any_thread(s, thread, out, &only_log, e))
        return err_code(e);
    if (out->status == THREAD_ARCHIVED)
        return ST_OK;
    if (only_log)
        return archive_log(s, reason, out, e);
    if (!share_thread_has_ended(out->status) && out->status != THREAD_FROZEN &&
        share_lifecycle(s, thread, SV("done"), reason, out, e))
        return err_code(e);
    return share_lifecycle(s, thread, SV("archive"), reason, out, e);
}

enum status share_transfer(struct share *s, const struct transfer_request *r,
                           struct share_thread *out, struct err *e)
{
    struct sb b;

    if (share_thread(s, r->thread, out, e))
        return err_code(e);
    if (!lifecycle_is_direction(r->direction)) {
        err_set(e, ST_USAGE, "'" SV_FMT "' is no direction", SV_ARG(r->direction));
        return err_hint(e, "request_approval, delegate, handoff");
    }
    bool known = !r->executor.n || sv_is(r->executor, "human") || sv_is(r->executor, "agent") ||
                 sv_is(r->executor, "system");
    if (!known) {
        err_set(e, ST_USAGE, "'" SV_FMT "' is no executor", SV_ARG(r->executor));
        return err_hint(e, "human, agent, system");
    }
    if (change(s, out, r->direction, e))
        return err_code(e);
    bool moves = r->executor.n && !sv_is(r->direction, "request_approval");
    if (moves)
        out->executor = r->executor;
    struct jw w = share_op_start(s, &b, "transfer");
    jw_kstr(&w, "thread_id", r->thread);
    jw_kstr(&w, "direction", r->direction);
    share_op_list(&w, "scope", r->scope.v, r->scope.n);
    jw_kstr(&w, "reason", r->reason.n ? r->reason : (struct sv){ 0 });
    jw_kstr(&w, "target_executor", r->executor.n ? r->executor : (struct sv){ 0 });
    jw_kstr(&w, "objective", out->objective);
    jw_kstr(&w, "to", sv_of(thread_status_name(out->status)));
    if (moves)
        jw_kstr(&w, "executor", r->executor);
    return share_op_finish(s, &w, &b, e);
}
