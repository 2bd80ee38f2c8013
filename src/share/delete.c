/* Deleting threads. */
#include "share/delete.h"

#include "base/path.h"
#include "share/erase.h"
#include "share/share_internal.h"
#include "share/worker.h"
#include "thread/deletion.h"
#include "thread/erase.h"
#include "thread/kind.h"

/* Is an entry about this thread, so that its content is erased with the thread? Operations about
 * references keep their paths, because other threads have them too. The record of an operation that
 * was done once has its parameters and its answer: titles, injections. */
static bool is_about(const struct entry *n, struct sv thread)
{
    struct arena a = { 0 };
    struct json  p;
    struct err   ignored;
    bool         about = false;

    enum kind kind = kind_of(n->kind);

    if ((kind == KIND_THREAD_OPERATION || kind == KIND_OPERATION_DONE) && kind_is_sound(n) &&
        json_parse(n->payload, 0, &a, &p, &ignored) == ST_OK)
        about = kind == KIND_OPERATION_DONE ? json_holds(json_find(&p, "answer"), thread) ||
                                                  json_holds(json_find(&p, "request"), thread)
                                            : sv_eq(json_text(&p, "thread_id"), thread) ||
                                                  (sv_is(json_text(&p, "what"), "thread") &&
                                                   sv_eq(json_text(&p, "id"), thread));
    arena_free(&a);
    return about;
}

/* Remove it from the registry; references of other threads to it are broken then. */
static enum status remove_from_registry(struct log *l, struct sv thread, struct sv actor,
                                        int64_t at, struct err *e)
{
    struct arena      a = { 0 };
    struct sb         b = sb_in(&a, 0);
    struct jw         w = jw_in(&b, 0);
    struct store_head head;

    jw_open(&w, '{');
    jw_kstr(&w, "operation", SV("remove"));
    jw_kstr(&w, "operator", sv_of(share_operator(actor)));
    jw_kstr(&w, "thread_id", thread);
    jw_close(&w, '}');
    struct entry n = { .at = at,
                       .kind = SV("thread_operation"),
                       .actor = actor,
                       .payload = sb_sv(&b),
                       .refs = SV("{}") };
    enum status  s = log_append(l, SHARE_GLOBAL, LOG_ANY_REV, &n, 1, &head, e);
    arena_free(&a);
    return s;
}

/* Does the view have the thread, or a title or status of a thread that only has a log? */
static enum status is_listed(struct log *l, struct sv thread, bool *listed, struct err *e)
{
    struct arena a = { 0 };
    struct rows  r = rows_of_view(l, SHARE_GLOBAL, &share_view, &a);
    struct sv    row;
    enum status  s = row_get(&r, key_of_name("thread", thread, &a), &row, listed, e);

    if (!s && !*listed)
        s = row_get(&r, key_of_name("log", thread, &a), &row, listed, e);
    arena_free(&a);
    return s;
}

static enum status delete_in(struct log *l, const struct deletion *d, bool listed, int64_t *seq,
                             struct err *e)
{
    if (listed && remove_from_registry(l, d->thread, d->actor, d->at, e))
        return err_code(e);
    return deletion_run(l, d, seq, e);
}

enum status share_delete_again(struct log *l, struct sv thread, struct sv actor, int64_t at,
                               struct err *e)
{
    struct deletion d = { .thread = thread,
                          .reason = SV("deleted after this copy of the log was made"),
                          .actor = actor,
                          .at = at,
                          .is_about = is_about };
    bool            before, listed;
    int64_t         seq;

    if (deletion_find(l, thread, &before, e) || (!before && is_listed(l, thread, &listed, e)))
        return err_code(e);
    if (before || delete_in(l, &d, listed, &seq, e))
        return before ? ST_OK : err_code(e);
    struct erase_pending none = { .thread = SHARE_GLOBAL, .seq = seq }; /* no files to clean */
    return erase_say_done(l, &none, actor, at, e);
}

/* ---- one that is asked for ------------------------------------------------------------------- */

static enum status look(struct share *s, struct sv thread, struct delete_result *out, struct err *e)
{
    struct store_head head;
    struct store_row *rows;
    struct rows       r = rows_of_view(s->log, SHARE_GLOBAL, &share_view, s->a);

    if (name_check(thread, "thread id", e) || deletion_find(s->log, thread, &out->before, e) ||
        is_listed(s->log, thread, &out->listed, e) || log_head(s->log, thread, &head, e) ||
        rows_below(&r, key_below_name("by", thread, s->a), &rows, &out->broken, e))
        return err_code(e);
    out->entries = head.rev;
    if (out->before || out->listed || head.rev)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "there is no thread '" SV_FMT "'", SV_ARG(thread));
    return err_hint(e, "`heddle list` shows the threads there are");
}

static enum status delete_in_log(struct share *s, const struct delete_request *r,
                                 const struct deletion_found *found, struct delete_result *out,
                                 struct err *e)
{
    /* What its executor printed is heddle's record, and goes in any case. */
    struct sv       files[] = { worker_log(r->thread, s->a), share_dir(r->thread, s->a) };
    struct deletion d = { .thread = r->thread,
                          .reason = r->reason,
                          .actor = s->actor,
                          .at = r->at,
                          .files = files,
                          .n_files = r->keep_files ? 1 : 2,
                          .is_about = is_about,
                          .found = found,
                          .later = true };

    if (look(s, r->thread, out, e))
        return err_code(e);
    if (out->before)
        return ST_OK;
    s->acted = s->collect = true;
    if (delete_in(s->log, &d, out->listed, &out->seq, e))
        return err_code(e);
    for (size_t i = 0; i < SHARE_FILES; i++)
        s->foreign[i] = true; /* rewritten completely */
    return share_commit(s, e);
}

enum status share_delete(struct share *s, const struct delete_request *r, struct delete_result *out,
                         struct err *e)
{
    struct deletion_found found;

    *out = (struct delete_result){ .seq = -1 };
    /* The thread and .global may be long: they are read while others write. */
    enum status st = log_begin(s->log, r->thread, STORE_READ, e);
    if (!st)
        st = deletion_look(s->log, r->thread, is_about, s->a, &found, e);
    log_abort(s->log);
    if (st || share_begin(s, STORE_WRITE, e))
        return err_code(e);
    st = delete_in_log(s, r, &found, out, e);
    share_end(s);
    if (st)
        return st;
    /* Also when it was deleted before: that may have been interrupted. */
    if (share_erase_finish(s, r->at, &out->finished, r->removed, r->ctx, &out->unfinished) == ST_OK)
        out->unfinished.code = ST_OK;
    return ST_OK;
}
