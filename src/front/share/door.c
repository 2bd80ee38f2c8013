#include "front/share/door.h"

#include "base/utf8.h"
#include "front/leslie/format.h"

#include <stdio.h>
#include <unistd.h>

bool is_leslie(const struct app *app)
{
    return sv_is(app->program, "leslie");
}

static bool wants_json(const struct app *app)
{
    return app->json || is_leslie(app);
}

/* For reading: as a writer where that is possible, since what others wrote may have to be
 * imported; else as a reader of what the log has. */
static enum status open_to_read(struct door *d, struct err *e)
{
    struct app *app = d->app;
    bool        is_new = !app->ws.has_heddle, relations = true, objectives = true;

    if (is_new && (fs_exists(app->ws.root_fd, SHARE_RELATIONS, &relations, e) ||
                   fs_exists(app->ws.root_fd, SHARE_OBJECTIVES, &objectives, e)))
        return err_code(e);
    if (!relations && !objectives && !is_leslie(app)) /* upstream makes one with any command */
        return app_open_log(app, STORE_READ, e);
    if (faccessat(app->ws.root_fd, is_new ? "." : ".heddle", W_OK, 0) == 0)
        return app_open_log(app, STORE_WRITE, e);
    d->s.read_only = true;
    return app_open_log(app, STORE_READ, e);
}

enum status door_open(struct door *d, struct app *app, enum store_mode mode, struct err *e)
{
    *d = (struct door){ .app = app };
    d->text = sb_in(app->a, 0);
    d->data_text = sb_in(app->a, 0);
    d->data_writer = jw_in(&d->data_text, 2);
    d->data_writer.depth = 1;
    d->data_writer.after_key = true;
    d->data = &d->data_writer;
    share_init(&d->s, &app->log, app->ws.root_fd, app->actor, app->a);
    if (!app->log.store && (mode == STORE_WRITE ? app_open_log(app, mode, e) : open_to_read(d, e)))
        return err_code(e);
    return share_begin(&d->s, mode, e);
}

enum status door_commit(struct door *d, struct err *e)
{
    return share_commit(&d->s, e);
}

static void say_warnings(struct door *d)
{
    struct sb b = sb_in(d->app->a, 0);

    for (size_t i = 0; i < d->s.warnings.n; i++) {
        sb_adds(&b, "! ");
        sb_add_plain_line(&b, d->s.warnings.v[i].message);
        sb_addc(&b, '\n');
    }
    if (b.n)
        fputs(sb_sv(&b).s, stderr);
}

enum status door_fail(struct door *d, struct err *e)
{
    if (d->app->log.store)
        share_end(&d->s);
    if (!wants_json(d->app))
        say_warnings(d);
    d->app->error_details = d->s.details;
    return err_code(e);
}

static void put_warnings(struct door *d, struct jw *w)
{
    jw_key(w, "warnings");
    jw_open(w, '[');
    for (size_t i = 0; i < d->s.warnings.n; i++) {
        const struct share_warning *x = &d->s.warnings.v[i];
        jw_open(w, '{');
        jw_kstr(w, "code", sv_of(x->code));
        jw_kstr(w, "message", x->message);
        if (x->thread.s) {
            jw_key(w, "context");
            jw_open(w, '{');
            jw_kstr(w, "thread", x->thread);
            jw_close(w, '}');
        }
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

enum status door_done(struct door *d, struct err *e)
{
    struct app *app = d->app;
    struct sb   b = sb_in(app->a, 0);
    struct jw   w = jw_in(&b, 2);

    share_end(&d->s);
    if (!wants_json(app)) {
        say_warnings(d);
        sb_add(&app->out, sb_sv(&d->text));
        return ST_OK;
    }
    jw_open(&w, '{');
    jw_kbool(&w, "success", true);
    jw_key(&w, "data");
    jw_raw(&w, d->data_text.n ? sb_sv(&d->data_text) : SV("null"));
    if (d->warnings || d->s.warnings.n)
        put_warnings(d, &w);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return format_print(&app->out, sb_sv(&b), is_leslie(app) ? app->format : (struct sv){ 0 },
                        app->a, e);
}

struct sv iso(int64_t ms, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_iso_ms(&b, ms);
    return sb_sv(&b);
}

/* ---- tables ------------------------------------------------------------------------------ */

/* One row, one line, and nothing a terminal would obey. */
static struct sv cell_text(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_plain_line(&b, sv_cut(v, '\n').head);
    return sb_sv(&b);
}

void table_row(struct table *t, struct arena *a, const struct sv *cells)
{
    for (t->n = 0; t->heads[t->n] && t->n < TABLE_COLUMNS;)
        t->n++;
    struct sv *row = ARENA_NEW(a, struct sv, t->n);
    for (size_t i = 0; i < t->n; i++) {
        row[i] = cell_text(cells[i], a);
        size_t n = utf8_count(row[i]);
        t->width[i] = n > t->width[i] ? n : t->width[i];
    }
    *vec_push(&t->rows, a) = (struct table_cells){ row };
}

static void print_row(const struct table *t, struct sb *out, const struct sv *row)
{
    for (size_t c = 0; c < t->n; c++) {
        struct sv cell = row ? row[c] : sv_of(t->heads[c]);
        size_t    n = utf8_count(cell), head = utf8_count(sv_of(t->heads[c]));
        size_t    width = t->width[c] > head ? t->width[c] : head;
        sb_add(out, cell);
        if (c + 1 < t->n)
            sb_pad(out, ' ', width - n + 2);
    }
    sb_addc(out, '\n');
}

void table_print(const struct table *t, struct sb *out)
{
    if (!t->rows.n)
        return;
    print_row(t, out, NULL);
    for (size_t r = 0; r < t->rows.n; r++)
        print_row(t, out, t->rows.v[r].v);
}

/* ---- references ------------------------------------------------------------------------------ */

enum status parse_binding(struct sv word, bool otherwise, bool *frozen, struct err *e)
{
    *frozen = word.s ? sv_is(word, "frozen") : otherwise;
    if (word.s && !*frozen && !sv_is(word, "live"))
        return err_set(e, ST_USAGE, "--binding is live or frozen, not '" SV_FMT "'", SV_ARG(word));
    return ST_OK;
}

void put_binding(struct sb *b, const struct share_ref *r)
{
    sb_addf(b, SV_FMT " %s " SV_FMT "  %s", SV_ARG(r->from), r->frozen ? "▣" : "→",
            SV_ARG(r->target), r->frozen ? "frozen" : "live");
    if (r->frozen)
        sb_addf(b, ", %zu file%s copied", r->n_files, r->n_files == 1 ? "" : "s");
}

/* ---- records ------------------------------------------------------------------------------ */

void json_thread_members(struct jw *w, const struct share_thread *t)
{
    struct arena scratch = { 0 };

    jw_kstr(w, "id", t->id);
    jw_kstr(w, "title", t->title);
    jw_kstr(w, "objective", t->objective);
    jw_ktime(w, "created_at", t->created);
    jw_kstr(w, "status", sv_of(thread_status_name(t->status)));
    if (t->tags.s) {
        struct json tags;
        struct err  ignored;
        jw_key(w, "tags");
        if (json_parse(t->tags, 0, &scratch, &tags, &ignored) == ST_OK)
            jw_json(w, &tags);
        else
            jw_null(w);
    }
    jw_kstr(w, "parent_id", t->parent);
    jw_kstr(w, "storage_path", t->storage.s ? t->storage : share_dir(t->id, &scratch));
    jw_kstr(w, "executor", t->executor);
    jw_ktime(w, "updated_at", t->updated);
    if (t->session.s)
        jw_kstr(w, "session_id", t->session);
    arena_free(&scratch);
}

enum status json_objective(struct jw *w, struct share *s, const struct share_objective *o,
                           struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (share_ids(s, SHARE_MEMBERS, o->id, s->a, &ids, &n, e))
        return err_code(e);
    jw_open(w, '{');
    jw_kstr(w, "id", o->id);
    jw_kstr(w, "title", o->title);
    jw_ktime(w, "created_at", o->created);
    jw_ktime(w, "updated_at", o->updated);
    jw_kstr(w, "status", sv_of(objective_status(o)));
    jw_key(w, "thread_ids");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, ids[i]);
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}
