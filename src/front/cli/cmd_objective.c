/* `objective`: what threads work towards. */
#include "front/cli/command.h"
#include "front/share/door.h"

struct create_opts {
    struct sv id;
};

static const struct opt create_opts[] = {
    { OPT_TEXT, "id", "ID", "take this id instead of drawing one", offsetof(struct create_opts, id),
      0 },
    { 0 },
};

static enum status run_create(struct app *app, const void *opts, struct err *e)
{
    const struct create_opts *o = opts;
    struct door               d;
    struct sv                 id, title = app_arg(app, 0);
    struct sb                 dir = sb_in(app->a, 0);

    if (door_open(&d, app, STORE_WRITE, e) || share_objective_create(&d.s, title, o->id, &id, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    sb_addf(&dir, SV_FMT "/.leslie/logs/" SV_FMT, SV_ARG(app->ws.root), SV_ARG(id));
    jw_open(d.data, '{');
    jw_kstr(d.data, "objectiveId", id);
    jw_kstr(d.data, "title", title);
    jw_kstr(d.data, "logDir", sb_sv(&dir));
    jw_close(d.data, '}');
    sb_addf(&d.text, SV_FMT "\n", SV_ARG(id));
    return door_done(&d, e);
}

static enum status run_delete(struct app *app, const void *opts, struct err *e)
{
    struct door d;
    struct sv   id = app_arg(app, 0);

    (void)opts;
    if (door_open(&d, app, STORE_WRITE, e) || share_objective_delete(&d.s, id, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "objectiveId", id);
    jw_kbool(d.data, "deleted", true);
    jw_close(d.data, '}');
    sb_addf(&d.text, "deleted " SV_FMT "\n", SV_ARG(id));
    return door_done(&d, e);
}

static enum status run_list(struct app *app, const void *opts, struct err *e)
{
    static const char *const heads[] = { "OBJECTIVE", "STATUS", "THREADS", "TITLE", NULL };
    struct door              d;
    struct share_objective  *all;
    size_t                   n;
    struct table             t = { .heads = heads };

    (void)opts;
    if (door_open(&d, app, STORE_READ, e) || share_objectives(&d.s, app->a, &all, &n, e))
        return door_fail(&d, e);
    jw_open(d.data, '[');
    for (size_t i = 0; i < n; i++) {
        struct sb count = sb_in(app->a, 0);
        sb_addf(&count, "%lld (%lld open)", (long long)all[i].threads, (long long)all[i].open);
        if (json_objective(d.data, &d.s, &all[i], e))
            return door_fail(&d, e);
        table_row(&t, app->a,
                  (struct sv[]){ all[i].id, sv_of(objective_status(&all[i])), sb_sv(&count),
                                 all[i].title });
    }
    jw_close(d.data, ']');
    table_print(&t, &d.text);
    if (!n)
        sb_adds(&d.text, "no objectives yet; `heddle objective create TITLE` makes one\n");
    return door_done(&d, e);
}

static enum status run_status(struct app *app, const void *opts, struct err *e)
{
    static const char *const heads[] = { "THREAD", "STATUS", "TITLE", NULL };
    struct table             table = { .heads = heads };
    struct door              d;
    struct share_objective   o;
    struct sv               *ids;
    size_t                   n;

    (void)opts;
    if (door_open(&d, app, STORE_READ, e) || share_objective(&d.s, app_arg(app, 0), &o, e) ||
        json_objective(d.data, &d.s, &o, e) ||
        share_ids(&d.s, SHARE_MEMBERS, o.id, app->a, &ids, &n, e))
        return door_fail(&d, e);
    sb_addf(&d.text, SV_FMT "  %s\n", SV_ARG(o.id), objective_status(&o));
    sb_add_plain(&d.text, o.title);
    sb_addf(&d.text, "\nthreads: %lld, open: %lld\n", (long long)o.threads, (long long)o.open);
    for (size_t i = 0; i < n; i++) {
        struct share_thread t;
        if (share_thread(&d.s, ids[i], &t, e))
            return door_fail(&d, e);
        table_row(
            &table, app->a,
            (struct sv[]){ t.id, sv_of(thread_status_name(t.status)), sv_cut(t.title, '\n').head });
    }
    if (n)
        sb_addc(&d.text, '\n');
    table_print(&table, &d.text);
    return door_done(&d, e);
}

const struct command cmd_objective_create = {
    .name = "objective create",
    .synopsis = "TITLE [--id ID]",
    .group = GROUP_SHARE,
    .summary = "Make an objective, and print its id",
    .details = "  heddle objective create 'Ship the lexer' --id lexer",
    .opts = create_opts,
    .opts_size = sizeof(struct create_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_create,
};

const struct command cmd_objective_delete = {
    .name = "objective delete",
    .synopsis = "ID",
    .group = GROUP_SHARE,
    .summary = "Delete an objective that has no threads",
    .details = "`heddle objective create TITLE --id ID` makes it again.\n\n"
               "  heddle objective create 'By mistake' --id mistake\n"
               "  heddle objective delete mistake",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_delete,
};

const struct command cmd_objective_list = {
    .name = "objective list",
    .synopsis = "",
    .group = GROUP_SHARE,
    .summary = "List the objectives",
    .needs = NEEDS_ROOT,
    .run = run_list,
};

const struct command cmd_objective_status = {
    .name = "objective status",
    .synopsis = "ID",
    .group = GROUP_SHARE,
    .summary = "Show an objective and its threads",
    .details = "An objective is completed when it has threads and all of them have ended.\n\n"
               "  heddle objective status parser",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_status,
};
