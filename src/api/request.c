/* Runs one operation: finds what it needs, collects the answer and checks it. */
#include "api/once.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/fs_where.h"
#include "base/path.h"
#include "base/utf8.h"
#include "loom/agent.h"

void request_init(struct request *r, struct workspace *ws, struct arena *a)
{
    *r = (struct request){ .a = a, .ws = ws, .peer = -1, .actor = SV("user") };
    r->doc_text = sb_in(a, 0);
    r->doc = &r->doc_writer;
    request_document_anew(r);
}

void request_document_anew(struct request *r)
{
    r->doc_text.n = 0;
    r->doc_writer = jw_in(&r->doc_text, 0);
}

void request_end(struct request *r)
{
    if (r->log.store)
        log_at_end(&r->log); /* the next user of the store sees all of the log */
    if (r->log.store)
        workspace_give(r->ws, r->log.store, r->mode);
    r->log.store = NULL;
}

/* Of struct log. A fold that is cut off is continued by the next who needs the view. */
static enum status folding(void *ctx, struct sv thread, int64_t done, int64_t of, struct err *e)
{
    (void)thread;
    request_progress(ctx, "folding entries of a thread", done, of);
    return request_check(ctx, e);
}

enum status request_log(struct request *r, enum store_mode mode, struct err *e)
{
    struct store *store;

    if (r->log.store)
        return ST_OK;
    if (workspace_take(r->ws, mode, &store, e))
        return err_code(e);
    r->log = log_of(store, workspace_views);
    r->log.folding = folding;
    r->log.folding_ctx = r;
    r->mode = mode;
    once_watch(r);
    return ST_OK;
}

/* Uses a store of its own, because the operation decides itself which one it opens and how. */
static enum status check_permission(const struct operation *op, struct request *r, struct err *e)
{
    struct store *store;
    struct agent  x;

    if (!r->agent.s || !op->permission)
        return ST_OK;
    if (!r->ws || workspace_take(r->ws, STORE_READ, &store, e))
        return r->ws ? err_code(e) : err_set(e, ST_NOT_FOUND, "an agent needs a workspace");
    struct log  log = log_of(store, workspace_views);
    enum status s = log_begin(&log, GLOBAL_THREAD, STORE_READ, e);
    if (!s)
        s = agent_named(&log, r->agent, r->a, &x, e);
    log_abort(&log);
    workspace_give(r->ws, log.store, STORE_READ);
    return s ? s : permission_check(x.permissions, (enum permission)op->permission, e);
}

static enum status find_needs(const struct operation *op, struct request *r, struct err *e)
{
    if (op->needs == NEEDS_NOTHING)
        return ST_OK;
    if (!r->ws)
        return err_set(e, ST_NOT_FOUND, "%s needs a workspace", op->name);
    if (op->needs <= NEEDS_ROOT)
        return ST_OK;
    if (request_log(r, op->needs == NEEDS_WRITE ? STORE_WRITE : STORE_READ, e))
        return err_code(e);
    r->log.wanted = op->view;
    return ST_OK;
}

/* Tests run with sanitizers; there a document that breaks its own schema is an error. */
static enum status check_document(const struct operation *op, const struct field *shape,
                                  struct sv text, struct err *e)
{
    enum status s = ST_OK;
#ifdef ARENA_DEBUG
    struct arena scratch = { 0 };
    struct json  doc;

    s = json_parse(text, JSON_KEEP_ORDER, &scratch, &doc, e);
    if (!s)
        s = fields_check(shape, &doc, e);
    if (s)
        err_in(e, "the answer of %s breaks its schema", op->name);
    arena_free(&scratch);
#else
    (void)op;
    (void)shape;
    (void)text;
    (void)e;
#endif
    return s;
}

/* What was named from outside (a file, a thread that is not there) need not be UTF-8; JSON is.
 * Other bytes occur only inside strings. */
static struct sv valid_text(struct sv json, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (utf8_invalid(json) < 0)
        return json;
    sb_add_lossy(&b, json);
    return sb_sv(&b);
}

enum status operation_run(const struct operation *op, struct request *r, const void *params,
                          struct err *e)
{
    r->op = op;
    if (params_check(op->params, params, e) || name_check(r->actor, "actor", e) ||
        (r->allow && r->allow(r->allow_ctx, op, params, e)) || check_permission(op, r, e) ||
        find_needs(op, r, e) || once_run(op, r, params, e)) {
        r->error_details = valid_text(r->error_details, r->a);
        return err_code(e);
    }
    if (r->log.store)
        request_warn_moved(r, r->log.store);
    return check_document(op, op->answer, request_document(r), e);
}

enum status request_out(struct request *r, struct sb **out, struct err *e)
{
    *out = r->out;
    return r->out_open ? r->out_open(r->out_ctx, out, e) : ST_OK;
}

bool request_out_drop(struct request *r)
{
    return (!r->out && !r->out_open) || (r->out_drop && r->out_drop(r->out_ctx));
}

enum status request_needs_out(const struct request *r, struct err *e)
{
    if (r->out)
        return ST_OK;
    err_set(e, ST_USAGE, "%s writes to a stream", r->op->name);
    return err_hint(e, "over HTTP: do not ask for application/json alone");
}

/* For callers that are not a shell: keys and the log itself are not among the files. Takes over
 * *fd.
 */
static enum status check_own(struct request *r, struct sv name, int *fd, struct err *e)
{
    if (fs_where(*fd, r->ws->root_fd, ".heddle") == FS_ELSEWHERE &&
        fs_where(*fd, workspace_project_fd(r->ws), ".heddle") == FS_ELSEWHERE)
        return ST_OK;
    fd_undo(fd);
    *fd = -1;
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' belongs to heddle itself", SV_ARG(name));
    return err_reason(e, "private");
}

enum status request_open(struct request *r, struct sv name, int *fd, struct err *e)
{
    if (r->open)
        return r->open(r->open_ctx, name, fd, e);
    if (fs_open(workspace_project_fd(r->ws), name, O_RDONLY | O_NONBLOCK, fd, e))
        return err_code(e);
    return check_own(r, name, fd, e);
}

enum status request_file(struct request *r, struct sv name, size_t max, struct sv *out,
                         struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (request_open(r, name, &fd, e))
        return err_code(e);
    return fs_read_fd(fd, max, r->a, out, e) ? err_in(e, SV_FMT, SV_ARG(name)) : ST_OK;
}

enum status request_directory(struct request *r, struct sv name, int *fd, struct err *e)
{
    if (r->directory)
        return r->directory(r->open_ctx, name, fd, e);
    if (fs_mkdirs(workspace_project_fd(r->ws), name, e))
        return err_code(e);
    if (fs_open(workspace_project_fd(r->ws), name, O_PATH | O_DIRECTORY, fd, e))
        return err_code(e);
    return check_own(r, name, fd, e);
}

struct sv request_document(struct request *r)
{
    return r->doc_text.n ? valid_text(sb_sv(&r->doc_text), r->a) : SV("{}");
}

static void add_warning(struct request *r, struct warning x, const char *fmt, va_list ap)
    PRINTF(3, 0);
static void add_warning(struct request *r, struct warning x, const char *fmt, va_list ap)
{
    struct sb b = sb_in(r->a, 0);

    sb_addvf(&b, fmt, ap);
    x.message = sb_sv(&b);
    *vec_push(&r->warnings, r->a) = x;
}

void request_warn(struct request *r, struct sv code, struct sv thread, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_warning(r, (struct warning){ .code = code, .thread = thread }, fmt, ap);
    va_end(ap);
}

void request_warn_now(struct request *r, const char *fmt, ...)
{
    struct sb b = sb_in(r->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    if (r->warn_now)
        r->warn_now(r->warn_ctx, sb_sv(&b));
    else
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(sb_sv(&b)));
}

void request_warn_moved(struct request *r, struct store *s)
{
    struct sv place = store_gone_to(s);

    if (place.s)
        request_warn(r, SV("moved"), (struct sv){ 0 },
                     "the log was moved to " SV_FMT ", and this is the old store: what was written "
                     "since is not here (`heddle store switch` with that place)",
                     SV_ARG(place));
}

void request_remark(struct request *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_warning(r, (struct warning){ .in_doc = true }, fmt, ap);
    va_end(ap);
}

bool request_ask(struct request *r, const char *fmt, ...)
{
    struct sb b = sb_in(r->a, 0);
    va_list   ap;

    if (!r->ask)
        return false;
    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return r->ask(r->ask_ctx, sb_sv(&b));
}

struct jw *request_event(struct request *r)
{
    if (!r->event_text.a)
        r->event_text = sb_in(r->a, 0);
    r->event_text.n = 0;
    r->event_writer = jw_in(&r->event_text, 0);
    return &r->event_writer;
}

enum status request_send(struct request *r, struct err *e)
{
    struct sv text = sb_sv(&r->event_text);

    if (check_document(r->op, r->op->event, text, e))
        return err_code(e);
    return r->event ? r->event(r->event_ctx, text, e) : ST_OK;
}

void request_progress(struct request *r, const char *what, int64_t done, int64_t total)
{
    if (r->progress)
        r->progress(r->progress_ctx, what, done, total);
}

enum status request_check(const struct request *r, struct err *e)
{
    if (r->cancel && atomic_load(r->cancel)) {
        err_set(e, ST_CONFLICT, "cancelled");
        return err_reason(e, "cancelled");
    }
    if (r->deadline_us && clock_steady_us() > r->deadline_us) {
        err_set(e, ST_CONFLICT, "the time for this request is over");
        return err_reason(e, "deadline");
    }
    return ST_OK;
}

void jw_ktime(struct jw *w, const char *key, int64_t ms)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    sb_add_iso_ms(&b, ms);
    jw_kstr(w, key, sb_sv(&b));
}

void jw_kint_if(struct jw *w, const char *key, bool is_there, int64_t n)
{
    jw_key(w, key);
    if (is_there)
        jw_int(w, n);
    else
        jw_null(w);
}

void jw_ktime_if(struct jw *w, const char *key, bool is_there, int64_t ms)
{
    if (is_there) {
        jw_ktime(w, key, ms);
    } else {
        jw_key(w, key);
        jw_null(w);
    }
}
