/* thread.spawn: a new thread, and the process that works on it. */
#include "api/share/workers.h"
#include "api/term.h"

struct spawn_params {
    struct sv intent, objective, id, id_from, parent, binding, inherit, executor, mode, with, op_id;
    struct sv_list ref, scope, tags;
    bool           no_run, foreground;
};

/* clang-format off */
static const char *const inherits[] = { "full", "partial", "none", NULL };
static const char *const modes[] = { "dialogue", "buffer", NULL };
static const char *const run_modes[] = { "record", "background", "foreground", NULL };

static const struct param params[] = {
    { "intent",     PARAM_TEXT, offsetof(struct spawn_params, intent),    .required = true, .value = "TEXT", .help = "what the thread is to do; - reads it from stdin" },
    { "objective",  PARAM_TEXT, offsetof(struct spawn_params, objective), .required = true, .value = "ID", .help = "what it works towards" },
    { "id",         PARAM_TEXT, offsetof(struct spawn_params, id),        .value = "ID", .help = "take this id instead of making one from the intent" },
    { "id_from",    PARAM_ENUM, offsetof(struct spawn_params, id_from),   .values = share_id_sources, .fallback = "title", .help = "what an id is made from when none is given: the intent, or chance" },
    { "parent",     PARAM_TEXT, offsetof(struct spawn_params, parent),    .value = "T", .help = "the thread it belongs to" },
    { "ref",        PARAM_LIST, offsetof(struct spawn_params, ref),       .value = "T[:PATH],…", .help = "threads, or parts of them, that it may read" },
    { "binding",    PARAM_ENUM, offsetof(struct spawn_params, binding),   .values = share_bindings, .fallback = "live", .help = "how it sees them (default: live)" },
    { "inherit",    PARAM_ENUM, offsetof(struct spawn_params, inherit),   .values = inherits, .help = "copies of the parent's assets (default: none)" },
    { "scope",      PARAM_LIST, offsetof(struct spawn_params, scope),     .value = "A,B", .help = "what --inherit partial copies" },
    { "executor",   PARAM_ENUM, offsetof(struct spawn_params, executor),  .values = share_executors, .help = "who works on it (default: agent)" },
    { "tags",       PARAM_LIST, offsetof(struct spawn_params, tags),      .value = "A,B", .help = "words to find it by" },
    { "mode",       PARAM_ENUM, offsetof(struct spawn_params, mode),      .values = modes, .help = "how its tree is edited" },
    { "with",       PARAM_TEXT, offsetof(struct spawn_params, with),      .value = "NAME", .help = "which of executors.* in the config starts it (default: agent)" },
    { "no_run",     PARAM_FLAG, offsetof(struct spawn_params, no_run),    .help = "record the thread and start nothing" },
    { "foreground", PARAM_FLAG, offsetof(struct spawn_params, foreground), .help = "wait for the executor to end" },
    PARAM_ONCE(struct spawn_params),
    { 0 },
};
static const struct field answer[] = {
    { "thread_id",       FIELD_TEXT, .help = "name of the thread" },
    { "parent_id",       FIELD_TEXT, .nullable = true, .help = "the thread it belongs to" },
    { "status",          FIELD_ENUM, .values = thread_states, .help = "its state" },
    { "objective",       FIELD_TEXT, .help = "what it works towards" },
    { "references",      FIELD_LIST, .of = share_made_ref_fields, .optional = true, .help = "what it may read" },
    { "run_mode",        FIELD_ENUM, .values = run_modes, .optional = true, .help = "record: no executor is set, and nothing was started" },
    { "worker_log_path", FIELD_TEXT, .optional = true, .help = "absolute path of what the executor prints" },
    { 0 },
};
/* clang-format on */

static void put_members(struct jw *w, const struct share_thread *t, const struct ref_list *made)
{
    jw_kstr(w, "thread_id", t->id);
    jw_kstr(w, "parent_id", t->parent);
    jw_kstr(w, "status", sv_of(thread_status_name(t->status)));
    jw_kstr(w, "objective", t->objective);
    if (!made->list.n)
        return;
    jw_key(w, "references");
    jw_open(w, '[');
    for (size_t i = 0; i < made->list.n; i++) {
        jw_open(w, '{');
        share_made_ref_members(w, &made->list.v[i]);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void put_thread(struct jw *w, const struct share_thread *t, const struct ref_list *made)
{
    jw_open(w, '{');
    put_members(w, t, made);
    jw_close(w, '}');
}

/* Start the executor and write the document again with its state. If the executor was waited for,
 * the way it ended is the verdict. */
static enum status start(struct request *r, struct share *s, const struct share_thread *t,
                         const struct ref_list *made, const struct spawn_params *p, struct err *e)
{
    struct worker_started w;

    if (worker_start(r, s, t->id, p->with, p->foreground, &w, e))
        return err_code(e);
    request_document_anew(r);
    jw_open(r->doc, '{');
    put_members(r->doc, t, made);
    jw_kstr(r->doc, "run_mode", sv_of(w.run_mode));
    if (w.log.s)
        jw_kstr(r->doc, "worker_log_path", w.log);
    jw_close(r->doc, '}');
    if (w.ended.state.s && worker_verdict(&w.ended, &r->verdict))
        return ST_OK; /* the thread is made, and the document says so */
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct spawn_params *p = params_given;
    struct share               s;
    struct share_thread        t;
    struct ref_list            made = { 0 };
    struct spawn_request       q = { .made = &made,
                                     .intent = p->intent,
                                     .objective = p->objective,
                                     .id = p->id,
                                     .random_id = sv_is(p->id_from, "random"),
                                     .parent = p->parent,
                                     .inherit = p->inherit,
                                     .executor = p->executor,
                                     .mode = p->mode,
                                     .scope = p->scope,
                                     .refs = p->ref,
                                     .tags = p->tags,
                                     .frozen = sv_is(p->binding, "frozen") };

    if (p->foreground && !p->no_run && !sv_is(p->executor, "human") &&
        worker_must_start(r, p->with, e))
        return err_code(e); /* before anything is made */
    if (share_call_begin(r, &s, STORE_WRITE, e) || share_spawn(&s, &q, &t, e))
        return share_call_fail(r, &s, e);
    put_thread(r->doc, &t, &made);
    if (share_commit(&s, e) ||
        (sv_is(t.executor, "agent") && !p->no_run && start(r, &s, &t, &made, p, e)))
        return share_call_fail(r, &s, e);
    return share_call_end(r, &s);
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT "\n", SV_ARG(json_text(doc, "thread_id")));
}

const struct operation op_thread_spawn = {
    .name = "thread.spawn",
    .summary = "Make a thread, and print its id",
    .details =
        "The thread gets a directory .leslie/threads/ID. With --ref it may read other threads:\n"
        "live shows what they have at the moment of reading, frozen a copy made now; a\n"
        "note on standard error says which. A comma that belongs to a name in --ref or --scope is\n"
        "written \\,.\n\n"
        "An executor `agent` is started if the setting executors.agent names a command: the\n"
        "command gets the <thread_context> block and the intent on its standard input. With\n"
        "--foreground the exit status is 1 when it fails, or changed a file that it may only "
        "read.\n\n"
        "  heddle spawn --id tests --intent 'Test the parser' --objective parser --ref build "
        "--no-run",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_RUN,
    OPERATION_ONCE,
    .params = params,
    .params_size = sizeof(struct spawn_params),
    .answer = answer,
    .run = run,
    .print = print,
};
