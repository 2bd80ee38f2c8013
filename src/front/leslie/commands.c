/* init, config init, run: what is not a single operation. */
#include "api/share/guide_write.h"
#include "base/fs.h"
#include "base/path.h"
#include "front/leslie/leslie_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct jw data_in(struct sb *b, struct app *app)
{
    struct jw w;

    *b = sb_in(app->a, 0);
    w = jw_in(b, 0);
    jw_open(&w, '{');
    return w;
}

enum status leslie_init(struct app *app, const struct leslie_call *call, struct err *e)
{
    struct guide_write_params p = { .replace = leslie_value(call, "yes") != NULL };
    struct request            r;
    struct json               doc;
    struct sb                 b;

    if (leslie_operation(app, &op_guide_write, &p, &r, e) ||
        json_parse(request_document(&r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    struct jw w = data_in(&b, app);
    struct sv status = json_text(&doc, "status");
    jw_kstr(&w, "status", sv_is(status, "unchanged") ? SV("updated") : status);
    jw_kstr(&w, "previous_version", json_text(&doc, "previous_version"));
    jw_kstr(&w, "next_version", json_text(&doc, "next_version"));
    jw_close(&w, '}');
    return leslie_reply(app, sb_sv(&b), e);
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
        /* The file may hold a key, so that only its owner may read it. */
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
    return leslie_reply(app, sb_sv(&b), e);
}

/* ---- run ---------------------------------------------------------------------------- */

struct given {
    const char *name;
    struct sv   value;
};

/* Call an operation and read its document, which lies in `a`. */
static enum status ask(struct app *app, const char *name, const struct given *given,
                       struct arena *a, struct json *doc, struct err *e)
{
    const struct operation *op = operation_find(sv_of(name));
    void                   *params = params_init(op->params, op->params_size, a);
    struct request          r;

    for (; given && given->name; given++)
        if (param_set(param_find(op->params, sv_of(given->name)), params, given->value, a, e))
            return err_code(e);
    request_init(&r, &app->ws, a);
    r.actor = app->actor;
    enum status s = operation_run(op, &r, params, e);
    request_end(&r);
    return s ? s : json_parse(request_document(&r), JSON_KEEP_ORDER, a, doc, e);
}

static bool has_text(const struct json *list, struct sv text)
{
    for (size_t i = 0; i < list->n; i++)
        if (sv_eq(json_sv(&list->items[i]), text))
            return true;
    return false;
}

static enum status look(struct app *app, struct sv objective, struct arena *a, bool *done,
                        bool *working, struct err *e)
{
    struct given id[] = { { "id", objective }, { 0 } };
    struct json  o, workers;

    if (ask(app, "objective.status", id, a, &o, e) || ask(app, "worker.list", NULL, a, &workers, e))
        return err_code(e);
    *done = sv_is(json_text(&o, "status"), "completed");
    *working = false;
    const struct json *items = json_find(&workers, "items"), *ids = json_find(&o, "thread_ids");
    for (size_t i = 0; i < items->n; i++)
        *working = *working || (json_truth(json_find(&items->items[i], "alive")) &&
                                has_text(ids, json_text(&items->items[i], "thread")));
    return ST_OK;
}

/* No worker is running and the objective is not completed: a person is needed, or a worker
 * failed. */
static enum status stuck(struct sv objective, struct err *e)
{
    err_set(e, ST_CONFLICT, "objective " SV_FMT " is not completed and no worker runs",
            SV_ARG(objective));
    return err_hint(e, "`heddle objective status " SH_FMT "` shows which threads are open",
                    SV_ARG(objective));
}

static enum status wait_until_completed(struct app *app, struct sv objective, struct err *e)
{
    enum { IDLE_MAX = 10 };
    bool done = false, working = true;

    for (int idle = 0;;) {
        struct timespec step = { 0, 100 * 1000000L };
        struct arena    scratch = { 0 };
        enum status     s = look(app, objective, &scratch, &done, &working, e);
        arena_free(&scratch);
        if (s || done)
            return s;
        idle = working ? 0 : idle + 1;
        if (idle > IDLE_MAX)
            return stuck(objective, e);
        nanosleep(&step, NULL);
    }
}

static void say_made(struct app *app, struct sv objective, struct sv thread)
{
    struct sb said = sb_in(app->a, 0);

    sb_adds(&said, "[run] objective ");
    sb_add_plain_line(&said, objective);
    sb_adds(&said, ", thread ");
    sb_add_plain_line(&said, thread);
    sb_addc(&said, '\n');
    fputs(sb_sv(&said).s, stderr);
}

enum status leslie_run_objective(struct app *app, const struct leslie_call *call, struct err *e)
{
    struct sv    title = sv_of(leslie_value(call, "title"));
    struct given make[] = { { "title", title }, { "id_from", SV("random") }, { 0 } };
    struct json  objective, thread;
    struct sb    b;

    if (ask(app, "objective.create", make, app->a, &objective, e))
        return err_code(e);
    struct sv    id = json_text(&objective, "id");
    struct given spawn[] = {
        { "intent", title }, { "objective", id }, { "id_from", SV("random") }, { 0 }
    };
    if (ask(app, "thread.spawn", spawn, app->a, &thread, e))
        return err_code(e);
    say_made(app, id, json_text(&thread, "thread_id"));
    if (wait_until_completed(app, id, e))
        return err_code(e);
    struct jw w = data_in(&b, app);
    jw_kstr(&w, "objective_id", id);
    jw_kstr(&w, "title", title);
    jw_kstr(&w, "status", SV("completed"));
    jw_kstr(&w, "runtime_dir", path_join(app->ws.root, SV(".leslie/logs/workers"), app->a));
    jw_kstr(&w, "logs_dir", json_text(&objective, "log_dir"));
    jw_close(&w, '}');
    return leslie_reply(app, sb_sv(&b), e);
}
