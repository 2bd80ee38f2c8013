/* A transaction of the share room inside a request, and the records in its answers. */
#include "api/share/share_call.h"

#include "base/path.h"
#include "share/record.h"
#include "thread/scan.h"

#include <unistd.h>

static enum status open_to_read(struct request *r, struct share *s, struct err *e)
{
    struct workspace *ws = r->ws;
    bool              is_new = !ws->has_heddle, relations = true, objectives = true;

    if (is_new && (fs_exists(ws->root_fd, SHARE_RELATIONS, &relations, e) ||
                   fs_exists(ws->root_fd, SHARE_OBJECTIVES, &objectives, e)))
        return err_code(e);
    if (!relations && !objectives)
        return request_log(r, STORE_READ, e);
    if (faccessat(ws->root_fd, is_new ? "." : ".heddle", W_OK, 0) == 0)
        return request_log(r, STORE_WRITE, e);
    s->read_only = true;
    return request_log(r, STORE_READ, e);
}

enum status share_call_begin(struct request *r, struct share *s, enum store_mode mode,
                             struct err *e)
{
    share_init(s, &r->log, r->ws->root_fd, r->actor, r->a);
    s->base = share_call_base(r->ws, r->ws->start, r->a);
    if (!r->log.store && (mode == STORE_WRITE ? request_log(r, mode, e) : open_to_read(r, s, e)))
        return err_code(e);
    return share_begin(s, mode, e);
}

struct sv share_call_base(const struct workspace *ws, struct sv dir, struct arena *a)
{
    return sv_eq(dir, ws->root) ? (struct sv){ 0 } : path_join(ws->root, SV(""), a);
}

void share_call_warnings(struct request *r, struct share *s)
{
    for (size_t i = 0; i < s->warnings.n; i++)
        *vec_push(&r->warnings, r->a) = (struct warning){ .code = sv_of(s->warnings.v[i].code),
                                                          .message = s->warnings.v[i].message,
                                                          .thread = s->warnings.v[i].thread };
    s->warnings.n = 0;
}

/* What was to be written is recorded, and not on the disk. */
static void judge(struct request *r, const struct err *unwritten)
{
    if (!unwritten->code || r->verdict.code)
        return;
    err_set(&r->verdict, ST_IO, "recorded in the log, but not all files are written: %.400s",
            unwritten->text);
    err_reason(&r->verdict, "unwritten");
    err_hint(&r->verdict, "do not repeat it: `heddle doctor --fix` writes them, and so does the "
                          "next command that can");
}

enum status share_call_end(struct request *r, struct share *s)
{
    share_end(s);
    share_call_warnings(r, s);
    judge(r, &s->unwritten);
    return ST_OK;
}

void share_call_finish(struct request *r)
{
    struct share s;
    struct err   why = { 0 };

    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    if (share_begin(&s, STORE_WRITE, &why) || share_commit(&s, &why))
        s.unwritten = why;
    else if (s.stamp.n_undone && !s.unwritten.code)
        err_set(&s.unwritten, ST_IO, "%.300s", s.stamp.undone[0].why.s);
    share_call_end(r, &s);
}

enum status share_call_commit(struct request *r, struct share *s, struct err *e)
{
    return share_commit(s, e) ? share_call_fail(r, s, e) : share_call_end(r, s);
}

enum status share_call_fail(struct request *r, struct share *s, struct err *e)
{
    r->error_details = s->details;
    if (r->log.store) /* else nothing was begun */
        share_call_end(r, s);
    return err_code(e);
}

/* As the log has it: nothing is imported. */
static bool is_spawned(struct request *r, struct sv thread)
{
    struct share        s;
    struct share_thread t;
    struct err          ignored;
    bool                found = false;

    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    s.read_only = true;
    enum status st = share_begin(&s, STORE_READ, &ignored);
    if (!st)
        st = share_thread_find(&s, thread, &t, &found, &ignored);
    share_end(&s);
    return !st && found;
}

enum status share_call_or_empty(struct request *r, struct sv thread, enum status s, struct err *e)
{
    struct sv missing = sv_of(e->reason);

    if (s != ST_NOT_FOUND || (missing.n && !sv_is(missing, "thread")) || !is_spawned(r, thread))
        return s;
    request_remark(r, "thread '" SV_FMT "' has no entries yet", SV_ARG(thread));
    return ST_OK;
}

/* ---- records ------------------------------------------------------------------------- */

const char *const thread_states[] = {
#define X(id, name, ended) name,
    THREAD_STATUS_TABLE(X)
#undef X
        NULL,
};
const char *const share_bindings[] = { "live", "frozen", NULL };
const char *const share_id_sources[] = { "title", "random", NULL };
const char *const share_executors[] = { "human", "agent", "system", NULL };

const char *const objective_states[] = { "active", "completed", NULL };

const struct field thread_fields[] = { THREAD_FIELDS, { 0 } };
const struct field objective_fields[] = { OBJECTIVE_FIELDS, { 0 } };
const struct field share_made_ref_fields[] = { MADE_REF_FIELDS, { 0 } };

void thread_members(struct jw *w, const struct share_thread *t, int64_t entries)
{
    record_thread_file_members(w, t);
    jw_kint(w, "entries", entries);
}

/* When its first entry was written. */
static int64_t begun_at(struct share *s, struct sv id, const struct store_head *head)
{
    struct store_query q = { .thread = id, .to = STORE_TO_END };
    struct arena       scratch = { 0 };
    struct entry       first = { .at = head->updated };
    struct err         why;
    bool               found = false;

    if (log_first(s->log, &q, &scratch, &first, &found, &why))
        share_warn(s, "T502", id, "the log of '" SV_FMT "' cannot be read: %s; `heddle doctor`",
                   SV_ARG(id), why.text);
    arena_free(&scratch);
    return found ? first.at : head->updated;
}

void log_thread_members(struct jw *w, struct share *s, struct sv id, const struct store_head *head,
                        const struct share_thread *said)
{
    static const char *const unknown[] = { "parent_id", "storage_path", "executor" };
    struct sv                archived = sv_of(thread_status_name(THREAD_ARCHIVED));

    jw_kstr(w, "id", id);
    jw_kstr(w, "title", said ? said->title : (struct sv){ 0 });
    jw_kstr(w, "objective", (struct sv){ 0 });
    jw_kstr(w, "status", said && said->status == THREAD_ARCHIVED ? archived : (struct sv){ 0 });
    for (size_t i = 0; i < COUNT(unknown); i++)
        jw_kstr(w, unknown[i], (struct sv){ 0 });
    jw_ktime(w, "created_at", begun_at(s, id, head));
    jw_ktime(w, "updated_at", head->updated);
    jw_kint(w, "entries", head->rev);
}

enum status objective_members(struct jw *w, struct share *s, const struct share_objective *o,
                              struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (share_ids(s, SHARE_MEMBERS, o->id, s->a, &ids, &n, e))
        return err_code(e);
    record_file_members(w, &record_objective, o);
    jw_kstr(w, "status", sv_of(share_objective_status_of(o)));
    jw_ktexts(w, "thread_ids", ids, n);
    jw_kint(w, "threads", o->threads);
    jw_kint(w, "open", o->open);
    return ST_OK;
}

struct sv share_binding_of(const struct share_ref *r)
{
    return sv_of(share_bindings[r->frozen]);
}

void share_made_ref_members(struct jw *w, const struct share_ref *r)
{
    jw_kstr(w, "ref_id", r->id);
    jw_kstr(w, "from", r->from);
    jw_kstr(w, "target", r->target);
    jw_kstr(w, "binding", share_binding_of(r));
    jw_kint(w, "files", r->frozen ? (int64_t)r->n_files : 0);
}

void share_print_made_ref(struct sb *out, const struct json *ref)
{
    bool      frozen = sv_is(json_text(ref, "binding"), "frozen");
    long long files = share_doc_number(ref, "files");

    sb_addf(out, SV_FMT " %s " SV_FMT "  %s", SV_ARG(json_text(ref, "from")), frozen ? "▣" : "→",
            SV_ARG(json_text(ref, "target")), share_bindings[frozen]);
    if (frozen)
        sb_addf(out, ", %lld file%s copied", files, files == 1 ? "" : "s");
}

void jw_ktexts(struct jw *w, const char *key, const struct sv *v, size_t n)
{
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, v[i]);
    jw_close(w, ']');
}

bool share_doc_is_log(const struct json *thread)
{
    return !json_text(thread, "storage_path").s;
}

long long share_doc_number(const struct json *doc, const char *key)
{
    return json_number(doc, key);
}
