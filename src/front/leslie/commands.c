/* init, config init, run. */
#include "base/fs.h"
#include "base/path.h"
#include "front/leslie/format.h"
#include "front/leslie/leslie_internal.h"
#include "front/share/agents_md.h"
#include "front/share/door.h"
#include "front/share/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum status reply(struct app *app, struct sb *data, struct err *e)
{
    struct sb b = sb_in(app->a, 0);

    sb_addf(&b, "{\n  \"success\": true,\n  \"data\": " SV_FMT "\n}\n", SV_ARG(sb_sv(data)));
    return format_print(&app->out, sb_sv(&b), app->format, app->a, e);
}

static struct jw data_in(struct sb *b, struct app *app)
{
    struct jw w;

    *b = sb_in(app->a, 0);
    w = jw_in(b, 2);
    w.depth = 1;
    w.after_key = true;
    jw_open(&w, '{');
    return w;
}

enum status leslie_init(struct app *app, const struct leslie_call *call, struct err *e)
{
    struct guide g;
    struct sb    b;

    if (agents_md_write(app, leslie_value(call, "yes") != NULL, &g, e))
        return err_code(e);
    struct jw w = data_in(&b, app);
    jw_kstr(&w, "status", sv_of(sv_is(sv_of(g.status), "unchanged") ? "updated" : g.status));
    jw_kstr(&w, "previous_version", g.previous);
    jw_kstr(&w, "next_version", SV(GUIDE_VERSION));
    jw_close(&w, '}');
    return reply(app, &b, e);
}

/* ---- the environment file ---------------------------------------------------------------------
 */

static void set_lines(struct app *app, struct sv text, bool over)
{
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        struct sv     one = sv_trim(line.head);
        struct sv_cut c = sv_cut(one, '=');
        text = line.tail;
        if (!one.n || one.s[0] == '#' || !c.found || !sv_trim(c.head).n)
            continue;
        struct sv key = sv_trim(c.head), value = sv_trim(c.tail);
        if (sv_starts(key, SV("export ")))
            key = sv_trim(sv_skip(key, 7));
        if (value.n > 1 && (value.s[0] == '"' || value.s[0] == '\'') &&
            value.s[value.n - 1] == value.s[0])
            value = sv_first(sv_skip(value, 1), value.n - 2);
        setenv(sv_cstr(key, app->a), sv_cstr(value, app->a), over);
    }
}

static enum status read_anywhere(struct app *app, const char *path, struct sv *text, struct err *e)
{
    UNDO(fd_undo) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, "open %s", path);
    return fs_read_fd(fd, 1 << 20, app->a, text, e);
}

static const char *home_env(struct app *app)
{
    const char *home = getenv("HOME");
    struct sb   b = sb_in(app->a, 0);

    sb_addf(&b, "%s/.leslie/env", home ? home : "");
    return home && *home ? sb_sv(&b).s : NULL;
}

enum status leslie_environment(struct app *app, const struct leslie_call *call, struct err *e)
{
    const char *given = leslie_value(call, "config"), *usual = home_env(app);
    struct sv   text;

    if (usual && access(usual, R_OK) == 0 && read_anywhere(app, usual, &text, e) == ST_OK)
        set_lines(app, text, false);
    given = given ? given : leslie_value(call, "c");
    if (!given)
        return ST_OK;
    if (read_anywhere(app, given, &text, e))
        return err_in(e, "--config");
    set_lines(app, text, true);
    return ST_OK;
}

static struct sv env_text(struct app *app, bool from_env)
{
    static const char *const names[] = { "ANTHROPIC_API_KEY",          "ANTHROPIC_AUTH_TOKEN",
                                         "ANTHROPIC_BASE_URL",         "ANTHROPIC_MODEL",
                                         "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_CUSTOM_HEADERS" };
    struct sb                b = sb_in(app->a, 0);

    sb_adds(&b, "# Read on every run of leslie. Lines are KEY=VALUE.\n");
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *v = getenv(names[i]);
        if (from_env && v && *v)
            sb_addf(&b, "%s=%s\n", names[i], v);
        else
            sb_addf(&b, "# %s=\n", names[i]);
    }
    return sb_sv(&b);
}

enum status leslie_config_init(struct app *app, const struct leslie_call *call, struct err *e)
{
    const char       *path = home_env(app), *folder = getenv("HOME");
    bool              from_env = leslie_value(call, "from-env") != NULL, there;
    struct sb         b;
    UNDO(fd_undo) int home = -1;

    if (!path || !folder)
        return err_set(e, ST_IO, "HOME is not set");
    there = access(path, F_OK) == 0;
    if (!there || leslie_value(call, "force")) {
        home = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (home < 0)
            return err_errno(e, "open %s", folder);
        /* It may hold a key: nobody else reads it. */
        if (fs_mkdirs(home, SV(".leslie"), e) ||
            fs_write(home, SV(".leslie/env"), env_text(app, from_env), 0600, e))
            return err_code(e);
        there = false;
    }
    struct jw w = data_in(&b, app);
    jw_kstr(&w, "path", sv_of(path));
    jw_kbool(&w, "from_env", from_env);
    if (there) {
        jw_kbool(&w, "skipped", true);
        jw_kstr(&w, "message", SV("The file exists; --force writes it anew"));
    }
    jw_close(&w, '}');
    return reply(app, &b, e);
}

/* ---- run ---------------------------------------------------------------------------------------
 */

static enum status is_completed(struct app *app, struct sv objective, bool *done, bool *working,
                                struct err *e)
{
    struct door            d;
    struct share_objective o;
    struct worker         *all;
    size_t                 n;

    if (door_open(&d, app, STORE_READ, e) || share_objective(&d.s, objective, &o, e) ||
        worker_list(&d.s, &all, &n, e))
        return door_fail(&d, e);
    *done = sv_is(sv_of(objective_status(&o)), "completed");
    *working = false;
    for (size_t i = 0; i < n; i++) {
        struct share_thread t;
        bool                found;
        if (share_thread_find(&d.s, all[i].thread, &t, &found, e))
            return door_fail(&d, e);
        *working = *working || (found && sv_eq(t.objective, objective) && all[i].alive);
    }
    share_end(&d.s);
    return ST_OK;
}

/* Nobody works and it is not completed: a person is asked for, or a worker failed. */
static enum status stuck(struct sv objective, struct err *e)
{
    err_set(e, ST_CONFLICT, "objective " SV_FMT " is not completed and no worker runs",
            SV_ARG(objective));
    return err_hint(e, "`heddle objective status " SH_FMT "` shows which threads are open",
                    SV_ARG(objective));
}

enum status leslie_run_objective(struct app *app, const struct leslie_call *call, struct err *e)
{
    struct sv            title = sv_of(leslie_value(call, "title")), objective;
    struct door          d;
    struct share_thread  t;
    struct spawn_request r = { .intent = title };
    bool                 done = false, working = true;
    int                  idle = 0;
    struct worker        none;
    struct sb            b;

    if (door_open(&d, app, STORE_WRITE, e) ||
        share_objective_create(&d.s, title, (struct sv){ 0 }, &objective, e))
        return door_fail(&d, e);
    r.objective = objective;
    jw_open(d.data, '{');
    if (share_spawn(&d.s, &r, &t, e) || door_commit(&d, e) ||
        worker_start(&d, &t, (struct sv){ 0 }, false, &none, e))
        return door_fail(&d, e);
    struct sb said = sb_in(app->a, 0);
    sb_adds(&said, "[run] objective ");
    sb_add_plain_line(&said, objective);
    sb_adds(&said, ", thread ");
    sb_add_plain_line(&said, t.id);
    sb_addc(&said, '\n');
    fputs(sb_sv(&said).s, stderr);
    while (!done) {
        struct timespec   step = { 0, 100 * 1000000L };
        struct arena_mark m = arena_mark(app->a);
        if (is_completed(app, objective, &done, &working, e))
            return err_code(e);
        idle = working ? 0 : idle + 1;
        arena_reset(app->a, m);
        if (!done && idle > 10)
            return stuck(objective, e);
        if (!done)
            nanosleep(&step, NULL);
    }
    struct jw w = data_in(&b, app);
    jw_kstr(&w, "objective_id", objective);
    jw_kstr(&w, "title", title);
    jw_kstr(&w, "status", SV("completed"));
    jw_kstr(&w, "runtime_dir", path_join(app->ws.root, SV(".leslie/logs/workers"), app->a));
    jw_kstr(&w, "logs_dir",
            path_join(path_join(app->ws.root, SV(".leslie/logs"), app->a), objective, app->a));
    jw_close(&w, '}');
    return reply(app, &b, e);
}
