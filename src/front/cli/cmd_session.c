/* `session new | list` and `turn new`: where the turns of a conversation are kept. */
#include "base/clock.h"
#include "base/path.h"
#include "front/cli/command.h"
#include "front/cli/turn_log.h"

#include <stdio.h>

/* ---- session new -------------------------------------------------------------------------- */

struct new_opts {
    struct sv message, context, thread;
};

static const struct opt new_opts[] = {
    { OPT_TEXT, "message", "TEXT", "the first request; kept as initial_request.md",
      offsetof(struct new_opts, message), 'm' },
    { OPT_LIST, "context", "A,B", "entries for session.context", offsetof(struct new_opts, context),
      'c' },
    { OPT_TEXT, "thread", "T", "bind it to thread T: its turns become entries of that log",
      offsetof(struct new_opts, thread), 0 },
    { 0 },
};

static struct sv turn_path(const struct session *s, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, SV_FMT "/%02d", SV_ARG(s->dir), s->turn);
    return sb_sv(&b);
}

static enum status run_session_new(struct app *app, const void *opts, struct err *e)
{
    const struct new_opts *o = opts;
    struct session_request q = { .name = app_arg(app, 0),
                                 .context = o->context,
                                 .thread = o->thread,
                                 .now_ms = clock_now_ms() };
    struct session         s;

    if (o->message.s && app_text(app, o->message, &q.message, e))
        return err_code(e);
    if (o->thread.s && name_check(o->thread, "thread id", e))
        return err_code(e);
    if (session_new(app->ws.root_fd, &q, app->a, &s, e) ||
        workspace_make(&app->ws, SV(".teddy"), e) || turn_log(app, &s, e))
        return err_code(e);
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '{');
        jw_kstr(&w, "session", s.name);
        jw_kstr(&w, "dir", s.dir);
        jw_kstr(&w, "turn", turn_path(&s, app->a));
        jw_kstr(&w, "thread", s.thread);
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
    } else {
        sb_addf(&app->out, SV_FMT "\n", SV_ARG(turn_path(&s, app->a)));
    }
    return ST_OK;
}

/* ---- session list ---------------------------------------------------------------------------- */

static const char *state_of(const struct session *s)
{
    return s->damaged ? "damaged" : s->has_report ? "complete" : s->has_plan ? "pending" : "empty";
}

static void list_json(struct app *app, const sessions *all)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_key(&w, "sessions");
    jw_open(&w, '[');
    for (size_t i = 0; i < all->n; i++) {
        const struct session *s = &all->v[i];
        jw_open(&w, '{');
        jw_kstr(&w, "name", s->name);
        jw_kstr(&w, "dir", s->dir);
        jw_kint(&w, "turns", s->turns);
        jw_kint(&w, "turn", s->turn);
        jw_kstr(&w, "state", sv_of(state_of(s)));
        jw_kstr(&w, "thread", s->thread);
        jw_kstr(&w, "parent", s->parent);
        jw_kint(&w, "created_ms", s->created_ms);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_session_list(struct app *app, const void *opts, struct err *e)
{
    sessions all;

    (void)opts;
    if (session_list(app->ws.root_fd, app->a, &all, e))
        return err_code(e);
    if (app->json) {
        list_json(app, &all);
        return ST_OK;
    }
    for (size_t i = 0; i < all.n; i++) {
        const struct session *s = &all.v[i];
        sb_add_plain(&app->out, s->name);
        sb_addf(&app->out, "  turn %02d of %d  %s", s->turn, s->turns, state_of(s));
        if (s->thread.n) {
            sb_adds(&app->out, "  thread ");
            sb_add_plain(&app->out, s->thread);
        }
        sb_addc(&app->out, '\n');
    }
    if (!all.n)
        sb_adds(&app->out, "no sessions; `heddle session new NAME` makes one\n");
    return ST_OK;
}

/* ---- turn new -----------------------------------------------------------------------------------
 */

struct turn_opts {
    struct sv session;
};

static const struct opt turn_opts[] = {
    { OPT_TEXT, "session", "NAME", "the session (default: the one of this folder, else the newest)",
      offsetof(struct turn_opts, session), 0 },
    { 0 },
};

/* The session named, that of the current folder, or the one made last. */
static enum status choose(struct app *app, const struct turn_opts *o, struct session *s,
                          struct err *e)
{
    struct sv start = path_join(app->ws.root, SV(""), app->a), here = SV("");

    if (o->session.n)
        return session_find(app->ws.root_fd, o->session, app->a, s, e);
    if (sv_starts(app->ws.start, start))
        here = sv_skip(app->ws.start, start.n);
    struct session_place at = session_place_of(here);
    if (at.session.n)
        return session_find(app->ws.root_fd, path_base(at.session), app->a, s, e);
    sessions all;
    if (session_list(app->ws.root_fd, app->a, &all, e))
        return err_code(e);
    if (!all.n) {
        err_set(e, ST_NOT_FOUND, "there is no session");
        return err_hint(e, "`heddle session new NAME` makes one");
    }
    *s = all.v[all.n - 1];
    return ST_OK;
}

static void print_turn(struct app *app, const struct turn *t)
{
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        sb_addf(&app->out, SV_FMT "\n", SV_ARG(t->dir));
        return;
    }
    jw_open(&w, '{');
    jw_kstr(&w, "session", t->session);
    jw_kstr(&w, "turn", t->dir);
    jw_kint(&w, "number", t->number);
    jw_kstr(&w, "parent", t->parent.n ? t->parent : (struct sv){ 0 });
    jw_kstr(&w, "thread", t->thread);
    jw_key(&w, "entries");
    jw_open(&w, '[');
    for (size_t i = 0; i < t->entries.n; i++)
        jw_str(&w, t->entries.v[i]);
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_turn_new(struct app *app, const void *opts, struct err *e)
{
    struct session s;
    struct turn    t;

    if (choose(app, opts, &s, e) ||
        turn_new(app->ws.root_fd, &s, SV(""), clock_now_ms(), app->a, &t, e) ||
        session_find(app->ws.root_fd, t.session, app->a, &s, e) || turn_log(app, &s, e))
        return err_code(e);
    print_turn(app, &t);
    return ST_OK;
}

const struct command cmd_session_new = {
    .name = "session new",
    .synopsis = "[NAME] [--message TEXT|-] [--context A,B] [--thread T]",
    .group = GROUP_PAYLOAD,
    .summary = "Make a session and its first turn below .teddy/sessions",
    .details =
        "Without NAME the session is named by the date and the words of the message. Its list\n"
        "session.context starts with the entries of .teddy/init.context.\n\n"
        "  heddle session new parser --message 'Write the parser.' --context src/",
    .opts = new_opts,
    .opts_size = sizeof(struct new_opts),
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_session_new,
};

const struct command cmd_session_list = {
    .name = "session list",
    .synopsis = "",
    .group = GROUP_PAYLOAD,
    .summary = "List the sessions, oldest first",
    .needs = NEEDS_ROOT,
    .run = run_session_list,
};

const struct command cmd_turn_new = {
    .name = "turn new",
    .synopsis = "[--session NAME]",
    .group = GROUP_PAYLOAD,
    .summary = "Make the next turn of a session from what the last one did",
    .details = "Its turn.context is the last one's, with what report.md says was read, created or\n"
               "edited, without what was pruned, and with the last turn's plan.md and report.md.\n"
               "After turn 99 a new session goes on.\n\n"
               "  heddle turn new --session first",
    .opts = turn_opts,
    .opts_size = sizeof(struct turn_opts),
    .needs = NEEDS_ROOT,
    .run = run_turn_new,
};
