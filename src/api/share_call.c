/* A transaction of the share room inside a request, and the records it tells of. */
#include "api/share_call.h"

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
    if (!r->log.store && (mode == STORE_WRITE ? request_log(r, mode, e) : open_to_read(r, s, e)))
        return err_code(e);
    return share_begin(s, mode, e);
}

enum status share_call_end(struct request *r, struct share *s)
{
    share_end(s);
    for (size_t i = 0; i < s->warnings.n; i++)
        *vec_push(&r->warnings, r->a) =
            (struct warning){ sv_of(s->warnings.v[i].code), s->warnings.v[i].message,
                              s->warnings.v[i].thread };
    return ST_OK;
}

enum status share_call_fail(struct request *r, struct share *s, struct err *e)
{
    r->error_details = s->details;
    if (r->log.store) /* else nothing was begun */
        share_call_end(r, s);
    return err_code(e);
}

/* ---- records ------------------------------------------------------------------------- */

const char *const thread_states[] = {
#define X(id, name, ended) name,
    THREAD_STATUS_TABLE(X)
#undef X
        NULL,
};

/* clang-format off */
const struct field thread_fields[] = {
    { "id",         FIELD_TEXT, .help = "name of the thread" },
    { "title",      FIELD_TEXT, .nullable = true, .help = "what it is for" },
    { "objective",  FIELD_TEXT, .nullable = true, .help = "the objective it works on" },
    { "status",     FIELD_ENUM, .values = thread_states, .help = "its state" },
    { "parent_id",  FIELD_TEXT, .nullable = true, .help = "the thread that spawned it" },
    { "executor",   FIELD_TEXT, .nullable = true, .help = "who works on it: human, agent or system" },
    { "created_at", FIELD_TIME, .help = "when it was made" },
    { "updated_at", FIELD_TIME, .help = "when it last changed" },
    { 0 },
};
/* clang-format on */

void thread_members(struct jw *w, const struct share_thread *t)
{
    jw_kstr(w, "id", t->id);
    jw_kstr(w, "title", t->title);
    jw_kstr(w, "objective", t->objective);
    jw_kstr(w, "status", sv_of(thread_status_name(t->status)));
    jw_kstr(w, "parent_id", t->parent);
    jw_kstr(w, "executor", t->executor);
    jw_ktime(w, "created_at", t->created);
    jw_ktime(w, "updated_at", t->updated);
}
