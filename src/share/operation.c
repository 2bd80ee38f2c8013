/* Objectives, spawn, injections, sessions. References are in reference.c. */
#include "share/operation.h"

#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "share/limits.h"
#include "share/operation_internal.h"
#include "thread/deletion.h"

void share_op_list(struct jw *w, const char *key, const struct sv *v, size_t n)
{
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, v[i]);
    jw_close(w, ']');
}

struct jw share_op_start(struct share *s, struct sb *b, const char *operation)
{
    struct jw w;

    *b = sb_in(s->a, 0);
    w = jw_in(b, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "operation", sv_of(operation));
    jw_kstr(&w, "operator", sv_of(share_operator(s->actor)));
    return w;
}

enum status share_op_finish(struct share *s, struct jw *w, struct sb *b, struct err *e)
{
    jw_close(w, '}');
    s->acted = true;
    return share_append(s, (struct sv){ 0 }, sb_sv(b), e);
}

/* Text that people and models will read: not empty, valid, and of a sane size. */
enum status share_op_text(struct sv text, const char *what, struct err *e)
{
    if (!sv_trim(text).n)
        return err_set(e, ST_INVALID_SYNTAX, "%s is empty", what);
    if (text.n > SHARE_TEXT_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "%s is longer than %d bytes", what, SHARE_TEXT_MAX);
    if (utf8_invalid(text) >= 0 || sv_has(text, 0))
        return err_set(e, ST_INVALID_SYNTAX, "%s is not valid UTF-8 text", what);
    return ST_OK;
}

/* ---- objectives -------------------------------------------------------------------------- */

static enum status is_objective(struct share *s, struct sv id, bool *found, struct err *e)
{
    struct sv row;

    return share_row(s, key_of_name("obj", id, s->a), &row, found, e);
}

static const struct id_kind objective_ids = { "obj", is_objective };

static enum status objective_id(struct share *s, const struct objective_request *r, struct sv *id,
                                struct err *e)
{
    bool found;

    if (!r->id.s)
        return id_draw(s, &objective_ids, r->random_id ? (struct sv){ 0 } : r->title, id, e);
    *id = r->id;
    if (name_check_new(r->id, "objective id", e) || is_objective(s, r->id, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    err_set(e, ST_CONFLICT, "Objective '" SV_FMT "' exists already", SV_ARG(r->id));
    return err_reason(e, "exists");
}

enum status share_objective_create(struct share *s, const struct objective_request *r,
                                   struct sv *made, struct err *e)
{
    struct sb b;

    if (share_op_text(r->title, "the title", e) || objective_id(s, r, made, e))
        return err_code(e);
    struct jw w = share_op_start(s, &b, "objective");
    jw_kstr(&w, "id", *made);
    jw_kstr(&w, "title", r->title);
    return share_op_finish(s, &w, &b, e);
}

/* ---- spawn ------------------------------------------------------------------------------- */

static bool one_of(struct sv v, const char *const *words)
{
    for (; *words; words++)
        if (sv_is(v, *words))
            return true;
    return false;
}

static enum status check_word(struct sv v, const char *option, const char *const *words,
                              struct err *e)
{
    char   list[128] = "";
    size_t n = 0;

    if (!v.s || one_of(v, words))
        return ST_OK;
    for (; *words; words++) {
        for (const char *p = n ? ", " : ""; *p; p++)
            list[n++] = *p;
        for (const char *p = *words; *p; p++)
            list[n++] = *p;
    }
    return err_set(e, ST_USAGE, "%s is one of %s; not '" SV_FMT "'", option, list, SV_ARG(v));
}

static enum status check_spawn(struct share *s, const struct spawn_request *r, struct err *e)
{
    static const char *const inherits[] = { "full", "partial", "none", NULL };
    static const char *const executors[] = { "human", "agent", "system", NULL };
    static const char *const modes[] = { "dialogue", "buffer", NULL };
    struct share_objective   o;
    struct share_thread      t;
    bool                     found, deleted;

    if (share_op_text(r->intent, "the intent", e) ||
        check_word(r->inherit, "--inherit", inherits, e) ||
        check_word(r->executor, "--executor", executors, e) ||
        check_word(r->mode, "--mode", modes, e) || share_objective(s, r->objective, &o, e) ||
        (r->parent.s && share_thread(s, r->parent, &t, e)) ||
        (r->id.s &&
         (name_check_new(r->id, "thread id", e) || share_thread_find(s, r->id, &t, &found, e))))
        return err_code(e);
    if (r->id.s && deletion_find(s->log, r->id, &deleted, e))
        return err_code(e);
    if (r->id.s && deleted)
        return deletion_refuse(r->id, e);
    if (r->id.s && found) {
        err_set(e, ST_CONFLICT, "Thread '" SV_FMT "' exists already", SV_ARG(r->id));
        return err_reason(e, "exists");
    }
    bool copies = r->inherit.s && !sv_is(r->inherit, "none");
    if (copies && !r->parent.s) {
        err_set(e, ST_INVALID_SYNTAX, "--inherit needs a --parent to inherit from");
        return err_reason(e, "parent");
    }
    if (sv_is(r->inherit, "partial") && !r->scope.n)
        return err_set(e, ST_INVALID_SYNTAX, "--inherit partial needs a --scope");
    return ST_OK;
}

/* Is the id taken by a thread that shares work, by the remains of one, or by one that only has a
 * log? */
static enum status is_thread(struct share *s, struct sv id, bool *found, struct err *e)
{
    struct share_thread t;
    struct store_head   head;

    if (share_thread_find(s, id, &t, found, e))
        return err_code(e);
    if (!*found && fs_exists(s->root, share_dir(id, s->a), found, e))
        return err_code(e);
    if (*found || log_head(s->log, id, &head, e))
        return *found ? ST_OK : err_code(e);
    *found = head.rev > 0;
    return ST_OK;
}

static const struct id_kind thread_ids = { "thread", is_thread };

static enum status inherited_of(struct share *s, const struct spawn_request *r, struct sv id,
                                struct share_ref *out, struct err *e)
{
    *out = (struct share_ref){ .id = rand_hex_id("ref-", s->a),
                               .from = id,
                               .target = r->parent,
                               .frozen = true,
                               .inherit = true };
    if (sv_is(r->inherit, "partial") &&
        share_scope_normal(s, r->scope.v, r->scope.n, &out->scope, &out->n_scope, e))
        return err_code(e);
    return snapshot_take(s, out, NULL, e);
}

/* `--ref T:PATH` limits a reference; several for one thread are one reference. */
static enum status spawn_refs(struct share *s, const struct spawn_request *r, struct sv id,
                              struct err *e)
{
    for (size_t i = 0; i < r->refs.n; i++) {
        struct sv_cut c = sv_cut(r->refs.v[i], ':');
        struct sv     all = SV("all");
        VEC(struct sv) scope = { 0 };
        bool done = false;
        for (size_t k = 0; k < r->refs.n; k++) {
            struct sv_cut d = sv_cut(r->refs.v[k], ':');
            if (!sv_eq(c.head, d.head))
                continue;
            done = done || k < i;
            *vec_push(&scope, s->a) = d.found ? d.tail : all;
        }
        if (done)
            continue;
        struct reference_request q = { .from = id,
                                       .target = c.head,
                                       .scope = { scope.v, scope.n },
                                       .frozen = r->frozen,
                                       .given_as = "--ref" };
        struct share_ref         made;
        if (share_reference(s, &q, &made, e))
            return err_code(e);
        if (r->made)
            *vec_push(&r->made->list, s->a) = made;
    }
    return ST_OK;
}

static enum status append_spawn(struct share *s, const struct spawn_request *r, struct sv id,
                                struct err *e)
{
    struct sb        b, tags = sb_in(s->a, 0);
    struct jw        tw = jw_in(&tags, 0);
    struct share_ref copies;
    bool             inherits = r->inherit.s && !sv_is(r->inherit, "none");

    if (inherits && inherited_of(s, r, id, &copies, e))
        return err_code(e);
    jw_open(&tw, '[');
    for (size_t i = 0; i < r->tags.n; i++)
        jw_str(&tw, r->tags.v[i]);
    jw_close(&tw, ']');
    struct jw w = share_op_start(s, &b, "spawn");
    jw_kstr(&w, "thread_id", id);
    jw_kstr(&w, "parent_id", r->parent);
    jw_kstr(&w, "intent", r->intent);
    jw_kstr(&w, "objective", r->objective);
    jw_kstr(&w, "inherit", r->inherit.s ? r->inherit : SV("none"));
    share_op_list(&w, "inherit_scope", r->scope.v, r->scope.n);
    jw_kstr(&w, "executor", r->executor.s ? r->executor : SV("agent"));
    jw_kstr(&w, "tags", sb_sv(&tags));
    if (r->mode.s)
        jw_kstr(&w, "mode", r->mode);
    if (inherits) {
        jw_key(&w, "inherited");
        jw_open(&w, '{');
        share_ref_write(&w, &copies);
        jw_close(&w, '}');
    }
    return share_op_finish(s, &w, &b, e);
}

enum status share_spawn(struct share *s, const struct spawn_request *r, struct share_thread *out,
                        struct err *e)
{
    struct sv id = r->id;

    if (check_spawn(s, r, e) ||
        (!id.s && id_draw(s, &thread_ids, r->random_id ? (struct sv){ 0 } : r->intent, &id, e)))
        return err_code(e);
    /* Other threads may already refer to the chosen id: check for cycles before anything is
     * appended. */
    for (size_t i = 0; i < r->refs.n; i++)
        if (share_check_cycle(s, id, sv_cut(r->refs.v[i], ':').head, "--ref", e))
            return err_code(e);
    if (append_spawn(s, r, id, e) || spawn_refs(s, r, id, e))
        return err_code(e);
    return share_thread(s, id, out, e);
}

/* ---- injections -------------------------------------------------------------------------- */

enum status share_inject(struct share *s, struct sv thread, struct sv type, struct sv content,
                         int64_t *at, struct err *e)
{
    struct share_thread t;
    struct sb           b;

    if (share_thread(s, thread, &t, e) || name_check(type, "type", e) ||
        share_op_text(content, "the content", e))
        return err_code(e);
    if (share_thread_has_ended(t.status)) {
        err_set(e, ST_CONFLICT, "Thread '" SV_FMT "' is %s: an injection would never be read",
                SV_ARG(thread), thread_status_name(t.status));
        return err_reason(e, "transition");
    }
    struct jw w = share_op_start(s, &b, "inject");
    jw_kstr(&w, "thread_id", thread);
    jw_kstr(&w, "type", type);
    jw_kstr(&w, "content", content);
    *at = clock_now_ms();
    return share_op_finish(s, &w, &b, e);
}

enum status share_pending(struct share *s, struct sv thread, struct injection **out, size_t *n,
                          struct err *e)
{
    struct sv *rows;

    if (share_rows_below(s, key_below_name("inject", thread, s->a), false, s->a, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(s->a, struct injection, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        struct json v;
        if (json_parse(rows[i], 0, s->a, &v, e))
            return err_in(e, "injection");
        (*out)[i] = (struct injection){ .type = json_text(&v, "type"),
                                        .content = json_text(&v, "content"),
                                        .actor = json_text(&v, "actor") };
        json_int(json_find(&v, "at"), &(*out)[i].at);
        json_int(json_find(&v, "seq"), &(*out)[i].seq);
    }
    return ST_OK;
}

enum status share_delivered(struct share *s, struct sv thread, const struct injection *v, size_t n,
                            struct err *e)
{
    struct sb b;
    struct jw w = share_op_start(s, &b, "deliver");

    jw_kstr(&w, "thread_id", thread);
    jw_key(&w, "injections");
    jw_open(&w, '[');
    for (size_t i = 0; i < n; i++)
        jw_int(&w, v[i].seq);
    jw_close(&w, ']');
    return share_op_finish(s, &w, &b, e);
}

enum status share_session(struct share *s, struct sv thread, struct sv session, struct err *e)
{
    struct share_thread t;
    struct sb           b;

    if (share_thread(s, thread, &t, e) || share_op_text(session, "the session id", e))
        return err_code(e);
    struct jw w = share_op_start(s, &b, "session");
    jw_kstr(&w, "thread_id", thread);
    jw_kstr(&w, "session_id", session);
    return share_op_finish(s, &w, &b, e);
}
