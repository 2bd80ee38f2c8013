/* `lifecycle`, `transfer`, `inject`: steering a thread. */
#include "front/cli/command.h"
#include "front/share/door.h"
#include "front/share/worker.h"

struct steer_opts {
    struct sv reason, direction, scope, target, type, content;
};

static const struct opt lifecycle_opts[] = {
    { OPT_TEXT, "reason", "TEXT", "why; kept in the log", offsetof(struct steer_opts, reason), 0 },
    { 0 },
};
static const struct opt transfer_opts[] = {
    { OPT_TEXT, "direction", "WORD", "request_approval, delegate or handoff",
      offsetof(struct steer_opts, direction), 0 },
    { OPT_LIST, "scope", "A,B", "what it is about: code_edit, deploy, …",
      offsetof(struct steer_opts, scope), 0 },
    { OPT_TEXT, "target", "human|agent|system", "who goes on with it",
      offsetof(struct steer_opts, target), 0 },
    { OPT_TEXT, "reason", "TEXT", "why; kept in the log", offsetof(struct steer_opts, reason), 0 },
    { 0 },
};
static const struct opt inject_opts[] = {
    { OPT_TEXT, "type", "WORD", "data, constraint, feedback, priority, …",
      offsetof(struct steer_opts, type), 0 },
    { OPT_TEXT, "content", "TEXT", "what to tell it; - reads it from stdin",
      offsetof(struct steer_opts, content), 0 },
    { 0 },
};

static enum status run_lifecycle(struct app *app, const void *opts, struct err *e)
{
    const struct steer_opts *o = opts;
    struct door              d;
    struct share_thread      t;
    struct sv                resumed;

    if (door_open(&d, app, STORE_WRITE, e) ||
        share_lifecycle(&d.s, app_arg(app, 0), app_arg(app, 1), o->reason, &t, e) ||
        worker_child_ended(&d.s, &t, &resumed, e) || door_commit(&d, e))
        return door_fail(&d, e);
    if (resumed.s && worker_restart(app, resumed, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "threadId", t.id);
    jw_kstr(d.data, "status", sv_of(thread_status_name(t.status)));
    jw_close(d.data, '}');
    sb_addf(&d.text, SV_FMT " is %s\n", SV_ARG(t.id), thread_status_name(t.status));
    return door_done(&d, e);
}

static enum status run_transfer(struct app *app, const void *opts, struct err *e)
{
    const struct steer_opts *o = opts;
    struct door              d;
    struct share_thread      t;
    struct transfer_request  r = { .thread = app_arg(app, 0),
                                   .direction = app->n_args > 1 ? app_arg(app, 1) : o->direction,
                                   .reason = o->reason,
                                   .executor = o->target,
                                   .scope = list_of(o->scope, app->a) };

    if (!r.direction.n) {
        err_set(e, ST_USAGE, "`heddle transfer` needs a direction");
        return err_hint(e, "request_approval, delegate or handoff");
    }
    if (door_open(&d, app, STORE_WRITE, e) || share_transfer(&d.s, &r, &t, e) || door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "threadId", t.id);
    jw_kstr(d.data, "status", sv_of(thread_status_name(t.status)));
    jw_kstr(d.data, "executor", t.executor);
    jw_close(d.data, '}');
    sb_addf(&d.text, SV_FMT " is %s, executor " SV_FMT "\n", SV_ARG(t.id),
            thread_status_name(t.status), SV_ARG(t.executor));
    return door_done(&d, e);
}

static enum status run_inject(struct app *app, const void *opts, struct err *e)
{
    const struct steer_opts *o = opts;
    struct door              d;
    struct sv                content, type = o->type.n ? o->type : SV("data");
    int64_t                  at;

    if (!o->content.s && app->n_args < 2) {
        err_set(e, ST_USAGE, "`heddle inject` needs TEXT");
        return err_hint(e, "- reads it from stdin");
    }
    if (app_text(app, o->content.s ? o->content : app_arg(app, 1), &content, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) ||
        share_inject(&d.s, app_arg(app, 0), type, content, &at, e) || door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "threadId", app_arg(app, 0));
    jw_ktime(d.data, "injectedAt", at);
    jw_close(d.data, '}');
    sb_addf(&d.text, "waits for the next context of " SV_FMT "\n", SV_ARG(app_arg(app, 0)));
    return door_done(&d, e);
}

const struct command cmd_lifecycle = {
    .name = "lifecycle",
    .synopsis = "T suspend|resume|done|cancel|archive [--reason TEXT]",
    .group = GROUP_SHARE,
    .summary = "Change the state of a thread",
    .details = "  active         suspend done cancel\n"
               "  suspended      resume done cancel\n"
               "  waiting_human  resume cancel\n"
               "  completed, cancelled, frozen: archive. archived is final.\n\n"
               "  heddle lifecycle build done --reason 'all tests pass'",
    .opts = lifecycle_opts,
    .opts_size = sizeof(struct steer_opts),
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .run = run_lifecycle,
};

const struct command cmd_transfer = {
    .name = "transfer",
    .synopsis = "T request_approval|delegate|handoff [--target human|agent|system] [--scope A,B] "
                "[--reason TEXT]",
    .group = GROUP_SHARE,
    .summary = "Hand a thread to a person or back",
    .details = "request_approval makes it wait for a person; delegate and handoff let it go on,\n"
               "with another executor if one is named. A thread that has ended stays ended.\n\n"
               "  heddle transfer build request_approval --scope deploy",
    .opts = transfer_opts,
    .opts_size = sizeof(struct steer_opts),
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .run = run_transfer,
};

const struct command cmd_inject = {
    .name = "inject",
    .synopsis = "T TEXT|- [--type WORD]",
    .group = GROUP_SHARE,
    .summary = "Tell a thread something with its next context",
    .details = "  heddle inject build 'No new dependencies.' --type constraint",
    .opts = inject_opts,
    .opts_size = sizeof(struct steer_opts),
    .min_args = 1,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .run = run_inject,
};
