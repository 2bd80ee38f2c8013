/* `list`, `status`, `artifacts`: what threads there are and what they have. */
#include "front/cli/command.h"
#include "front/share/door.h"
#include "front/share/worker.h"
#include "share/block.h"

/* ---- status ------------------------------------------------------------------------------ */

/* One reference: a line and those of its files that are not fresh. */
static void text_ref(struct door *d, const struct share_ref *r, const struct ref_standing *st,
                     const enum freshness *each_file)
{
    const char *binding = r->inherit ? "inherited" : r->frozen ? "frozen" : "live";

    sb_addf(&d->text, "  %s %s " SV_FMT "  %s", r->frozen ? "▣" : "→", binding, SV_ARG(r->target),
            freshness_name(st->state));
    if (st->stale_since)
        sb_addf(&d->text, " since " SV_FMT, SV_ARG(iso(st->stale_since, d->app->a)));
    sb_addf(&d->text, "  %zu file%s, ", st->files, st->files == 1 ? "" : "s");
    sb_add_commas(&d->text, st->bytes);
    sb_adds(&d->text, " bytes");
    for (size_t k = 0; k < r->n_scope; k++) {
        sb_adds(&d->text, k ? ", " : "  scope: ");
        sb_add_plain_line(&d->text, r->scope[k]);
    }
    if (st->has_thread) {
        sb_adds(&d->text, "  ");
        sb_add_plain_line(&d->text, sv_cut(st->title, '\n').head);
    }
    sb_addc(&d->text, '\n');
    for (size_t k = 0; r->frozen && k < r->n_files; k++) {
        if (each_file[k] == REF_FRESH)
            continue;
        sb_adds(&d->text, "      ");
        sb_add_plain_line(&d->text, r->files[k].name);
        sb_addf(&d->text, "  %s\n", freshness_name(each_file[k]));
    }
}

static void json_ref(struct door *d, const struct share_ref *r, const struct ref_standing *st,
                     const enum freshness *each_file, struct jw *w)
{
    jw_open(w, '{');
    jw_kstr(w, "ref_id", r->id);
    jw_kstr(w, "target", r->target);
    jw_kstr(w, "binding", r->frozen ? SV("frozen") : SV("live"));
    jw_kbool(w, "inherited", r->inherit);
    jw_kstr(w, "state", sv_of(freshness_name(st->state)));
    jw_kstr(w, "title", st->title);
    jw_kstr(w, "target_status", sv_of(st->has_thread ? thread_status_name(st->status) : NULL));
    jw_ktime(w, r->frozen ? "copied_at" : "created_at", r->at);
    if (st->stale_since)
        jw_ktime(w, "stale_since", st->stale_since);
    jw_kint(w, "file_count", (int64_t)st->files);
    jw_kint(w, "bytes", st->bytes);
    jw_key(w, "scope");
    jw_open(w, '[');
    for (size_t k = 0; k < r->n_scope; k++)
        jw_str(w, r->scope[k]);
    jw_close(w, ']');
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t k = 0; r->frozen && k < r->n_files; k++) {
        jw_open(w, '{');
        jw_kstr(w, "name", r->files[k].name);
        jw_kstr(w, "local_path",
                share_path(r->from, "context/inherited", r->files[k].place, d->app->a));
        jw_kstr(w, "hash", r->files[k].hash);
        jw_kstr(w, "state", sv_of(freshness_name(each_file[k])));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status put_ref(struct door *d, const struct share_ref *r, struct jw *w, struct err *e)
{
    enum freshness     *each_file = ARENA_NEW(d->app->a, enum freshness, r->n_files + 1);
    struct ref_standing st;

    if (ref_standing(&d->s, r, &st, each_file, e))
        return err_code(e);
    text_ref(d, r, &st, each_file);
    json_ref(d, r, &st, each_file, w);
    return ST_OK;
}

static void text_thread(struct door *d, const struct share_thread *t)
{
    sb_addf(&d->text, SV_FMT "  %s  " SV_FMT "\n", SV_ARG(t->id), thread_status_name(t->status),
            SV_ARG(t->executor));
    sb_add_plain(&d->text, t->title);
    sb_addf(&d->text, "\nobjective: " SV_FMT "\n", SV_ARG(t->objective));
    if (t->parent.s)
        sb_addf(&d->text, "parent: " SV_FMT "\n", SV_ARG(t->parent));
}

/* What the log has of this thread and the disk could not take. */
static enum status put_undone(struct door *d, const struct share_thread *t, struct jw *w,
                              struct err *e)
{
    struct share_pending_effect *list;
    size_t                       n;

    if (share_undone(&d->s, &list, &n, e))
        return err_code(e);
    jw_key(w, "not_done");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        if (!sv_eq(list[i].thread, t->id))
            continue;
        jw_open(w, '{');
        jw_kstr(w, "operation", list[i].operation);
        jw_ktime(w, "recorded_at", list[i].at);
        jw_kstr(w, "why", list[i].why);
        jw_close(w, '}');
        sb_addf(&d->text, "not done on disk: " SV_FMT ": ", SV_ARG(list[i].operation));
        sb_add_plain(&d->text, list[i].why);
        sb_adds(&d->text, "; the next command that writes tries again\n");
    }
    jw_close(w, ']');
    return ST_OK;
}

/* Text and JSON of what Leslie's record does not have. */
static enum status put_standing(struct door *d, const struct share_thread *t, struct jw *w,
                                struct err *e)
{
    struct share_ref *refs;
    struct injection *pending;
    size_t            n, n_pending;

    if (share_refs(&d->s, t->id, true, d->app->a, &refs, &n, e) ||
        share_pending(&d->s, t->id, &pending, &n_pending, e))
        return err_code(e);
    if (n)
        sb_adds(&d->text, "references:\n");
    jw_key(w, "references");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (put_ref(d, &refs[i], w, e))
            return err_code(e);
    jw_close(w, ']');
    jw_kint(w, "pending_injections", (int64_t)n_pending);
    if (n_pending)
        sb_addf(&d->text, "injections waiting: %zu\n", n_pending);
    worker_line(d, t->id);
    return put_undone(d, t, w, e);
}

static enum status run_status(struct app *app, const void *opts, struct err *e)
{
    struct door         d;
    struct share_thread t;
    struct sv           block;

    (void)opts;
    if (door_open(&d, app, STORE_READ, e) || share_thread(&d.s, app_arg(app, 0), &t, e) ||
        block_write(&d.s, t.id, 0, &block, e))
        return door_fail(&d, e);
    text_thread(&d, &t);
    jw_open(d.data, '{');
    json_thread_members(d.data, &t);
    jw_kstr(d.data, "thread_context", block);
    if (!is_leslie(app) && put_standing(&d, &t, d.data, e))
        return door_fail(&d, e);
    jw_close(d.data, '}');
    sb_addf(&d.text, "\n" SV_FMT "\n", SV_ARG(block));
    d.warnings = true;
    return door_done(&d, e);
}

/* Rows of a list from `from` on: whose they are, and whether the thread may write them. */
static void put_rows(struct door *d, const struct asset_list *list, size_t from, struct sv owner,
                     bool own)
{
    for (size_t i = from; i < list->list.n; i++) {
        const struct asset *x = &list->list.v[i];
        jw_open(d->data, '{');
        jw_kstr(d->data, "type", sv_of(x->type));
        jw_kstr(d->data, "path", x->path);
        jw_kstr(d->data, "thread", owner);
        jw_kstr(d->data, "access", own ? SV("rw") : SV("r"));
        jw_close(d->data, '}');
        sb_addf(&d->text, "%s  %-10s  ", own ? "rw" : "r-", x->type);
        sb_add_plain_line(&d->text, x->path);
        sb_addc(&d->text, '\n');
    }
}

static enum status artifacts_of_ref(struct door *d, const struct share_ref *r,
                                    struct asset_list *list, struct err *e)
{
    struct share_thread target;
    bool                found;
    size_t              from = list->list.n, n_warnings = d->s.warnings.n;

    if (share_thread_find(&d->s, r->target, &target, &found, e))
        return err_code(e);
    if (!found) {
        share_warn(&d->s, "W202", r->target, "Reference target '" SV_FMT "' not found",
                   SV_ARG(r->target));
        return ST_OK;
    }
    if (assets_of_ref(&d->s, r, list, e))
        return err_code(e);
    if (others_of_ref(&d->s, r, list, e))
        return err_code(e);
    for (size_t i = n_warnings; i < d->s.warnings.n;) /* they are listed here */
        if (sv_find(d->s.warnings.v[i].message, SV("is of no asset type")) >= 0)
            d->s.warnings.v[i] = d->s.warnings.v[--d->s.warnings.n];
        else
            i++;
    put_rows(d, list, from, r->target, false);
    return ST_OK;
}

static enum status run_artifacts(struct app *app, const void *opts, struct err *e)
{
    struct door         d;
    struct share_thread t;
    struct asset_list   list = { 0 };
    struct share_ref   *refs;
    size_t              n;

    (void)opts;
    if (door_open(&d, app, STORE_READ, e) || share_thread(&d.s, app_arg(app, 0), &t, e) ||
        assets_own(&d.s, t.id, &list, e) || others_own(&d.s, t.id, &list, e) ||
        share_refs(&d.s, t.id, true, app->a, &refs, &n, e))
        return door_fail(&d, e);
    jw_open(d.data, '[');
    put_rows(&d, &list, 0, t.id, true);
    for (size_t i = 0; i < n; i++)
        if (artifacts_of_ref(&d, &refs[i], &list, e))
            return door_fail(&d, e);
    jw_close(d.data, ']');
    d.warnings = true;
    return door_done(&d, e);
}

extern const struct operation op_thread_list;

const struct command cmd_list = { .name = "list", .op = &op_thread_list };

const struct command cmd_status = {
    .name = "status",
    .synopsis = "T",
    .group = GROUP_SHARE,
    .summary = "Show a thread, its references and its <thread_context>",
    .details =
        "A frozen reference is fresh when its copies are what the source has now, stale\n"
        "when the source changed since, edited when a copy was changed, deleted when one is\n"
        "not there (`heddle read` makes it again), missing when the source is gone.\n\n"
        "  heddle status build",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_status,
};

const struct command cmd_artifacts = {
    .name = "artifacts",
    .synopsis = "T",
    .group = GROUP_SHARE,
    .summary = "List the assets a thread has and those it may read",
    .details = "rw is the thread's own, r- comes from threads it may read. `other` is work of no\n"
               "listed type: it has no <asset> in the block, and `heddle read` gives it.\n"
               "\n"
               "  heddle artifacts build",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_artifacts,
};
