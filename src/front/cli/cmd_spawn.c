/* `spawn`: a new thread. */
#include "front/cli/command.h"
#include "front/share/door.h"
#include "front/share/worker.h"

#include <stdio.h>

struct spawn_opts {
    struct sv intent, objective, id, parent, ref, binding, inherit, scope, executor, tags, mode,
        with;
    bool no_run, foreground;
};

/* clang-format off */
static const struct opt spawn_opts[] = {
    { OPT_TEXT, "intent",     "TEXT", "what the thread is to do; - reads it from stdin",              offsetof(struct spawn_opts, intent), 0 },
    { OPT_TEXT, "objective",  "ID",   "what it works towards",                                        offsetof(struct spawn_opts, objective), 0 },
    { OPT_TEXT, "id",         "ID",   "take this id instead of drawing one",                          offsetof(struct spawn_opts, id), 0 },
    { OPT_TEXT, "parent",     "T",    "the thread it belongs to",                                     offsetof(struct spawn_opts, parent), 0 },
    { OPT_LIST, "ref",        "T[:PATH],…", "threads, or parts of them, that it may read",            offsetof(struct spawn_opts, ref), 0 },
    { OPT_TEXT, "binding",    "live|frozen", "how it sees them (default: live)",                               offsetof(struct spawn_opts, binding), 0 },
    { OPT_TEXT, "inherit",    "full|partial|none", "copies of the parent's assets (default: none)",            offsetof(struct spawn_opts, inherit), 0 },
    { OPT_LIST, "scope",      "A,B",  "what --inherit partial copies",                                offsetof(struct spawn_opts, scope), 0 },
    { OPT_TEXT, "executor",   "human|agent|system", "who works on it (default: agent)",                        offsetof(struct spawn_opts, executor), 0 },
    { OPT_LIST, "tags",       "A,B",  "words to find it by",                                          offsetof(struct spawn_opts, tags), 0 },
    { OPT_TEXT, "mode",       "dialogue|buffer", "how its tree is edited",                            offsetof(struct spawn_opts, mode), 0 },
    { OPT_TEXT, "with",       "NAME", "which of executors.* in the config starts it (default: agent)",         offsetof(struct spawn_opts, with), 0 },
    { OPT_FLAG, "no-run",     NULL,   "record the thread and start nothing",                          offsetof(struct spawn_opts, no_run), 0 },
    { OPT_FLAG, "foreground", NULL,   "wait for the executor to end",                                 offsetof(struct spawn_opts, foreground), 0 },
    { 0 },
};
/* clang-format on */

/* How it sees the threads it was given, for a person; standard output has the id alone. */
static void say_refs(const struct door *d, const struct ref_list *made)
{
    struct sb b = sb_in(d->app->a, 0);

    for (size_t i = 0; i < made->list.n; i++) {
        put_binding(&b, &made->list.v[i]);
        sb_addc(&b, '\n');
    }
    if (b.n)
        fputs(sb_sv(&b).s, stderr);
}

static void json_refs(struct jw *w, const struct ref_list *made)
{
    jw_key(w, "references");
    jw_open(w, '[');
    for (size_t i = 0; i < made->list.n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "ref_id", made->list.v[i].id);
        jw_kstr(w, "target", made->list.v[i].target);
        jw_kstr(w, "binding", made->list.v[i].frozen ? SV("frozen") : SV("live"));
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void answer(struct door *d, const struct share_thread *t, const struct ref_list *made)
{
    jw_open(d->data, '{');
    jw_kstr(d->data, "thread_id", t->id);
    jw_kstr(d->data, "parent_id", t->parent);
    jw_kstr(d->data, "status", sv_of(thread_status_name(t->status)));
    jw_kstr(d->data, "objective", t->objective);
    if (made->list.n && !is_leslie(d->app))
        json_refs(d->data, made);
    if (!d->app->json && !is_leslie(d->app))
        say_refs(d, made);
    sb_addf(&d->text, SV_FMT "\n", SV_ARG(t->id));
    d->warnings = true;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct spawn_opts *o = opts;
    struct door              d;
    struct share_thread      t;
    struct sv                intent;
    struct ref_list          made = { 0 };
    struct spawn_request     r = { .made = &made,
                                   .objective = o->objective,
                                   .id = o->id,
                                   .parent = o->parent,
                                   .inherit = o->inherit,
                                   .executor = o->executor,
                                   .mode = o->mode,
                                   .scope = list_of(o->scope, app->a),
                                   .refs = list_of(o->ref, app->a),
                                   .tags = list_of(o->tags, app->a) };

    if (command_need("spawn", "intent", o->intent, e) ||
        command_need("spawn", "objective", o->objective, e) ||
        parse_binding(o->binding, false, &r.frozen, e) || app_text(app, o->intent, &intent, e))
        return err_code(e);
    r.intent = intent;
    if (door_open(&d, app, STORE_WRITE, e) || share_spawn(&d.s, &r, &t, e) || door_commit(&d, e))
        return door_fail(&d, e);
    answer(&d, &t, &made);
    bool          wants = sv_is(t.executor, "agent") && !o->no_run;
    struct worker ended = { 0 };
    if (wants && worker_start(&d, &t, o->with, o->foreground, &ended, e))
        return door_fail(&d, e);
    jw_close(d.data, '}');
    if (door_done(&d, e))
        return err_code(e);
    app->json = app->json && !ended.state.s; /* the document is out; a failure goes to stderr */
    return ended.state.s ? worker_verdict(&ended, e) : ST_OK;
}

const struct command cmd_spawn = {
    .name = "spawn",
    .synopsis = "--intent TEXT --objective ID [--id ID] [--parent T] [--ref T[:PATH],…] [--binding "
                "live|frozen] [--inherit full|partial|none] [--scope A,B] [--executor human|agent] "
                "[--tags A,B] [--mode dialogue|buffer] [--no-run]",
    .group = GROUP_SHARE,
    .summary = "Make a thread, and print its id",
    .details =
        "The thread gets a folder .leslie/threads/ID. With --ref it may read other threads: live\n"
        "shows what they have at the moment of reading, frozen a copy made now; which it is is "
        "said\n"
        "on standard error. A comma that belongs to a name in --ref or --scope is written \\,.\n\n"
        "An executor `agent` is started if the setting executors.agent names a command: the\n"
        "command gets the <thread_context> block and the intent on its standard input. With\n"
        "--foreground the exit status is 1 when it fails, or changed a file that it may only "
        "read.\n\n"
        "  heddle spawn --id tests --intent 'Test the parser' --objective parser --ref build "
        "--no-run",
    .opts = spawn_opts,
    .opts_size = sizeof(struct spawn_opts),
    .needs = NEEDS_ROOT,
    .run = run,
};
