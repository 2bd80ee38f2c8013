/* thread.status: a thread, its references, its worker, and its <thread_context>. */
#include "api/share/workers.h"
#include "api/term.h"
#include "base/path.h"
#include "share/block.h"
#include "thread/scan.h"

struct status_params {
    struct sv thread;
    bool      shared;
};

static const char *const ref_states[] = { "fresh", "stale", "edited", "deleted", "missing", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT, offsetof(struct status_params, thread), .required = true, .value = "T", .help = "the thread" },
    { "shared", PARAM_FLAG, offsetof(struct status_params, shared), .help = "a thread that only has a log is not found" },
    { 0 },
};
static const struct field file_fields[] = {
    { "name",       FIELD_TEXT, .help = "below the directory of the target" },
    { "local_path", FIELD_TEXT, .help = "where the copy is, below the workspace" },
    { "hash",       FIELD_TEXT, .help = "BLAKE2b-256 of what was copied, in hex" },
    { "state",      FIELD_ENUM, .values = ref_states, .help = "how the copy stands to its source" },
    { 0 },
};
static const struct field ref_fields[] = {
    { "ref_id",        FIELD_TEXT, .help = "name of the reference" },
    { "target",        FIELD_TEXT, .help = "the thread that is read" },
    { "binding",       FIELD_ENUM, .values = share_bindings, .help = "live or frozen" },
    { "inherited",     FIELD_FLAG, .help = "made by inheriting from the parent" },
    { "state",         FIELD_ENUM, .values = ref_states, .help = "how it stands" },
    { "title",         FIELD_TEXT, .nullable = true, .help = "of the target" },
    { "target_status", FIELD_ENUM, .values = thread_states, .nullable = true, .help = "null: there is no such thread" },
    { "copied_at",     FIELD_TIME, .optional = true, .help = "of a frozen one: when it was made or refreshed" },
    { "created_at",    FIELD_TIME, .optional = true, .help = "of a live one: when it was made" },
    { "stale_since",   FIELD_TIME, .optional = true, .help = "when the source first changed since" },
    { "file_count",    FIELD_NUMBER, .help = "files that are copied, or there to be read" },
    { "bytes",         FIELD_NUMBER, .help = "size of them all" },
    { "scope",         FIELD_LIST, .help = "the files and directories it is limited to; none: everything" },
    { "files",         FIELD_LIST, .of = file_fields, .help = "the copies of a frozen one" },
    { 0 },
};
static const struct field undone_fields[] = {
    { "operation",   FIELD_TEXT, .help = "what the log has and the disk could not take" },
    { "recorded_at", FIELD_TIME, .help = "when it was asked for" },
    { "why",         FIELD_TEXT, .help = "what stood in the way" },
    { 0 },
};
static const struct field answer[] = {
    THREAD_FIELDS,
    { "thread_context",     FIELD_TEXT, .optional = true, .help = "the block an agent is given; absent: it only has a log" },
    { "references",         FIELD_LIST, .of = ref_fields, .help = "what it may read" },
    { "pending_injections", FIELD_NUMBER, .help = "texts that wait for its next context" },
    { "worker",             FIELD_OBJECT, .of = worker_fields, .optional = true, .help = "the process that works on it, or the last one that did" },
    { "not_done",           FIELD_LIST, .of = undone_fields, .help = "what could not be written to disk yet" },
    { 0 },
};
/* clang-format on */

/* ---- the document -------------------------------------------------------------------- */

static void put_files(struct share *s, const struct share_ref *r, const enum freshness *each,
                      struct jw *w)
{
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t k = 0; r->frozen && k < r->n_files; k++) {
        jw_open(w, '{');
        jw_kstr(w, "name", r->files[k].name);
        jw_kstr(w, "local_path", share_path(r->from, "context/inherited", r->files[k].place, s->a));
        jw_kstr(w, "hash", r->files[k].hash);
        jw_kstr(w, "state", sv_of(freshness_name(each[k])));
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static enum status put_ref(struct share *s, const struct share_ref *r, struct jw *w, struct err *e)
{
    enum freshness           *each = ARENA_NEW(s->a, enum freshness, r->n_files + 1);
    struct share_ref_standing st;

    if (share_ref_standing(s, r, &st, each, e))
        return err_code(e);
    jw_open(w, '{');
    jw_kstr(w, "ref_id", r->id);
    jw_kstr(w, "target", r->target);
    jw_kstr(w, "binding", share_binding_of(r));
    jw_kbool(w, "inherited", r->inherit);
    jw_kstr(w, "state", sv_of(freshness_name(st.state)));
    jw_kstr(w, "title", st.title);
    jw_kstr(w, "target_status", sv_of(st.has_thread ? thread_status_name(st.status) : NULL));
    jw_ktime(w, r->frozen ? "copied_at" : "created_at", r->at);
    if (st.stale_since)
        jw_ktime(w, "stale_since", st.stale_since);
    jw_kint(w, "file_count", (int64_t)st.files);
    jw_kint(w, "bytes", st.bytes);
    jw_ktexts(w, "scope", r->scope, r->n_scope);
    put_files(s, r, each, w);
    jw_close(w, '}');
    return ST_OK;
}

static enum status put_refs(struct share *s, struct sv thread, struct jw *w, struct err *e)
{
    struct share_ref *refs;
    size_t            n;

    if (share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    jw_key(w, "references");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (put_ref(s, &refs[i], w, e))
            return err_code(e);
    jw_close(w, ']');
    return ST_OK;
}

static enum status put_worker(struct share *s, struct sv thread, struct jw *w, struct err *e)
{
    struct worker x;
    bool          found;

    if (worker_find(s, thread, &x, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    jw_key(w, "worker");
    jw_open(w, '{');
    worker_members(w, &x);
    jw_close(w, '}');
    return ST_OK;
}

/* Operations on this thread that are in the log but could not be done on the disk. */
static enum status put_undone(struct share *s, struct sv thread, struct jw *w, struct err *e)
{
    struct share_pending_effect *list;
    size_t                       n;

    if (share_undone(s, &list, &n, e))
        return err_code(e);
    jw_key(w, "not_done");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        if (!sv_eq(list[i].thread, thread))
            continue;
        jw_open(w, '{');
        jw_kstr(w, "operation", list[i].operation);
        jw_ktime(w, "recorded_at", list[i].at);
        jw_kstr(w, "why", list[i].why);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    return ST_OK;
}

static enum status put_shared(struct share *s, const struct share_thread *t, int64_t entries,
                              struct jw *w, struct err *e)
{
    struct sv block;

    if (block_write(s, t->id, 0, &block, e))
        return err_code(e);
    thread_members(w, t, entries);
    jw_kstr(w, "thread_context", block);
    return ST_OK;
}

/* A thread exists as soon as anything names it: spawn, or an entry of its log. */
static enum status put_thread(struct request *r, struct share *s, const struct status_params *p,
                              struct err *e)
{
    struct store_thread own = { .id = p->thread };
    struct share_thread t;
    struct err          why;
    bool                found, said;

    if (share_thread_find(s, p->thread, &t, &found, e))
        return err_code(e);
    if (name_check(p->thread, "thread", e) == ST_OK && log_head(s->log, p->thread, &own.head, e))
        return err_code(e);
    if (log_thread_ends_whole(&own, &why))
        request_warn(r, (struct sv){ 0 }, p->thread, "%s", why.text);
    if (found)
        return put_shared(s, &t, own.head.rev, r->doc, e);
    if (!own.head.rev || p->shared || sv_starts(p->thread, SV(".")))
        return share_thread(s, p->thread, &t, e); /* says that there is none */
    if (share_log_thread_find(s, p->thread, &t, &said, e))
        return err_code(e);
    log_thread_members(r->doc, s, p->thread, &own.head, said ? &t : NULL);
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct status_params *p = params_given;
    struct share                s;
    struct injection           *pending;
    size_t                      n_pending;

    if (share_call_begin(r, &s, STORE_READ, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    if (put_thread(r, &s, p, e) || put_refs(&s, p->thread, r->doc, e) ||
        share_pending(&s, p->thread, &pending, &n_pending, e))
        return share_call_fail(r, &s, e);
    jw_kint(r->doc, "pending_injections", (int64_t)n_pending);
    if (put_worker(&s, p->thread, r->doc, e) || put_undone(&s, p->thread, r->doc, e))
        return share_call_fail(r, &s, e);
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

/* ---- text ---------------------------------------------------------------------------- */

static void print_scope(struct term *t, const struct json *scope)
{
    for (size_t k = 0; k < scope->n; k++) {
        term_f(t, "%s", k ? ", " : "  scope: ");
        sb_add_plain_line(t->out, json_sv(&scope->items[k]));
    }
}

static void print_not_fresh(struct term *t, const struct json *files)
{
    for (size_t k = 0; k < files->n; k++) {
        const struct json *f = &files->items[k];
        if (sv_is(json_text(f, "state"), "fresh"))
            continue;
        term_f(t, "      ");
        sb_add_plain_line(t->out, json_text(f, "name"));
        term_f(t, "  " SV_FMT "\n", SV_ARG(json_text(f, "state")));
    }
}

/* One reference: a line and those of its files that are not fresh. */
static void print_ref(struct term *t, const struct json *r)
{
    bool      frozen = sv_is(json_text(r, "binding"), "frozen");
    long long files = share_doc_number(r, "file_count");

    term_f(
        t, "  %s " SV_FMT " " SV_FMT "  " SV_FMT, frozen ? "▣" : "→",
        SV_ARG(json_truth(json_find(r, "inherited")) ? SV("inherited") : json_text(r, "binding")),
        SV_ARG(json_text(r, "target")), SV_ARG(json_text(r, "state")));
    if (json_text(r, "stale_since").n)
        term_f(t, " since " SV_FMT, SV_ARG(json_text(r, "stale_since")));
    term_f(t, "  %lld file%s, ", files, files == 1 ? "" : "s");
    sb_add_commas(t->out, share_doc_number(r, "bytes"));
    term_f(t, " bytes");
    print_scope(t, json_find(r, "scope"));
    if (json_text(r, "target_status").n) {
        term_f(t, "  ");
        sb_add_plain_line(t->out, sv_cut(json_text(r, "title"), '\n').head);
    }
    term_f(t, "\n");
    print_not_fresh(t, json_find(r, "files"));
}

static void print_changed(struct term *t, const char *what, const struct json *paths)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!paths)
        return;
    jw_json(&w, paths);
    term_f(t, "  %s: ", what);
    term_text(t, sb_sv(&b));
    term_f(t, "\n");
}

static void print_worker(struct term *t, const struct json *w)
{
    struct sv state = json_text(w, "state");

    if (!w)
        return;
    if (sv_is(state, "running") && !json_truth(json_find(w, "alive")))
        state = SV("died without a word");
    term_f(t, "worker: " SV_FMT ", pid %lld, log " SV_FMT "\n", SV_ARG(state),
           share_doc_number(w, "pid"), SV_ARG(json_text(w, "log")));
    print_changed(t, "changed what it may only read", json_find(w, "changed"));
    print_changed(t, "changed while it ran, by it or by another worker", json_find(w, "uncertain"));
}

static void print_undone(struct term *t, const struct json *list)
{
    for (size_t i = 0; i < list->n; i++) {
        term_f(t, "not done on disk: " SV_FMT ": ",
               SV_ARG(json_text(&list->items[i], "operation")));
        term_text(t, json_text(&list->items[i], "why"));
        term_f(t, "; the next command that writes tries again\n");
    }
}

static void print_log(struct term *t, const struct json *doc)
{
    int64_t n = json_number(doc, "entries");

    if (!n)
        return;
    term_f(t, "log: ");
    sb_add_commas(t->out, n);
    term_f(t, n == 1 ? " entry\n" : " entries\n");
}

/* What only has a log, and what can be done with it. */
static void print_log_thread(const struct json *doc, struct term *t)
{
    struct sv id = json_text(doc, "id");

    term_f(t, SV_FMT, SV_ARG(id));
    if (json_text(doc, "status").s)
        term_f(t, "  " SV_FMT, SV_ARG(json_text(doc, "status")));
    term_f(t, "  only a log, since " SV_FMT ", last written " SV_FMT "\n",
           SV_ARG(json_text(doc, "created_at")), SV_ARG(json_text(doc, "updated_at")));
    if (json_text(doc, "title").s) {
        term_text(t, json_text(doc, "title"));
        term_f(t, "\n");
    }
    print_log(t, doc);
    term_f(t, "`heddle log show ");
    sb_add_shell(t->out, id);
    term_f(t, "` prints it; `heddle spawn --id ");
    sb_add_shell(t->out, id);
    term_f(t, " --intent TEXT --objective ID` lets it share work\n");
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *refs = json_find(doc, "references");

    if (share_doc_is_log(doc)) {
        print_log_thread(doc, t);
        return;
    }
    term_f(t, SV_FMT "  " SV_FMT "  " SV_FMT "\n", SV_ARG(json_text(doc, "id")),
           SV_ARG(json_text(doc, "status")), SV_ARG(json_text(doc, "executor")));
    term_text(t, json_text(doc, "title"));
    term_f(t, "\nobjective: " SV_FMT "\n", SV_ARG(json_text(doc, "objective")));
    if (json_text(doc, "parent_id").s)
        term_f(t, "parent: " SV_FMT "\n", SV_ARG(json_text(doc, "parent_id")));
    print_log(t, doc);
    if (refs->n)
        term_f(t, "references:\n");
    for (size_t i = 0; i < refs->n; i++)
        print_ref(t, &refs->items[i]);
    if (share_doc_number(doc, "pending_injections"))
        term_f(t, "injections waiting: %lld\n", share_doc_number(doc, "pending_injections"));
    print_worker(t, json_find(doc, "worker"));
    print_undone(t, json_find(doc, "not_done"));
    term_f(t, "\n" SV_FMT "\n", SV_ARG(json_text(doc, "thread_context")));
}

const struct operation op_thread_status = {
    .name = "thread.status",
    .summary = "Show a thread, its references and its <thread_context>",
    .details =
        "A frozen reference is fresh when its copies are what the source has now, stale\n"
        "when the source changed since, edited when a copy was changed, deleted when one is\n"
        "not there (`heddle read` makes it again), missing when the source is gone.\n\n"
        "  heddle status build",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .in_thread = true,
    .params = params,
    .params_size = sizeof(struct status_params),
    .answer = answer,
    .run = run,
    .print = print,
};
