/* The rows of the share view as structs, and back. Rows are canonical JSON, so that folding
 * the same entries anywhere gives the same bytes. */
#include "share/record.h"
#include "share/share_internal.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool        ended;
} statuses[] = {
#define X(id, name, ended) { name, ended },
    THREAD_STATUS_TABLE(X)
#undef X
};

const char *thread_status_name(enum thread_status s)
{
    return statuses[s].name;
}

bool thread_status_of(struct sv name, enum thread_status *out)
{
    if (sv_is(name, "pending")) { /* written by early versions of Leslie */
        *out = THREAD_ACTIVE;
        return true;
    }
    for (size_t i = 0; i < COUNT(statuses); i++)
        if (sv_is(name, statuses[i].name)) {
            *out = (enum thread_status)i;
            return true;
        }
    return false;
}

bool share_thread_has_ended(enum thread_status s)
{
    return statuses[s].ended;
}

const char *share_objective_status_of(const struct share_objective *o)
{
    bool listed = o->listed.s && !sv_is(o->listed, "[]");

    if (o->threads)
        return o->open ? "active" : "completed";
    return listed ? "completed" : "active"; /* listed ids without a thread count as ended */
}

static void put_text(struct jw *w, const char *key, struct sv v)
{
    if (v.s)
        jw_kstr(w, key, v);
}

static int64_t number(const struct json *v, const char *key)
{
    int64_t n = 0;

    json_int(json_find(v, key), &n);
    return n;
}

enum status share_thread_read(struct sv row, struct arena *a, struct share_thread *out,
                              struct err *e)
{
    *out = (struct share_thread){ .status = THREAD_STATUS_COUNT };
    if (record_of_row(row, &record_thread, a, out, e))
        return err_in(e, "thread row");
    if (out->status == THREAD_STATUS_COUNT)
        return err_set(e, ST_CORRUPT, "thread row without a status");
    return ST_OK;
}

/* Members are written in the order of their keys: the row is canonical as it stands. */
static struct sv row_of(const struct record *r, const void *from, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    record_row_members(&w, r, from);
    jw_close(&w, '}');
    return sb_sv(&b);
}

struct sv share_thread_row(const struct share_thread *t, struct arena *a)
{
    return row_of(&record_thread, t, a);
}

enum status share_objective_read(struct sv row, struct arena *a, struct share_objective *out,
                                 struct err *e)
{
    *out = (struct share_objective){ 0 };
    if (record_of_row(row, &record_objective, a, out, e))
        return err_in(e, "objective row");
    return ST_OK;
}

struct sv share_objective_row(const struct share_objective *o, struct arena *a)
{
    return row_of(&record_objective, o, a);
}

/* ---- references ------------------------------------------------------------------ */

void share_ref_write(struct jw *w, const struct share_ref *r)
{
    record_entry_members(w, &record_reference, r);
}

struct sv share_ref_row(const struct share_ref *r, struct arena *a)
{
    return row_of(&record_reference, r, a);
}

enum status share_ref_of_json(const struct json *v, struct arena *a, struct share_ref *out,
                              struct err *e)
{
    *out = (struct share_ref){ 0 };
    record_of_json(v, &record_reference, a, out);
    if (!out->from.n || !out->target.n)
        return err_set(e, ST_CORRUPT, "a reference without its threads");
    return ST_OK;
}

enum status share_ref_read(struct sv row, struct arena *a, struct share_ref *out, struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "reference row");
    return share_ref_of_json(&v, a, out, e);
}

/* ---- the whole ------------------------------------------------------------------- */

enum status share_meta_read(struct sv row, struct arena *a, struct share_meta *out, struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "meta row");
    *out = (struct share_meta){
        .at = number(&v, "at"),
        .threads = number(&v, "threads"),
        .objectives = number(&v, "objectives"),
        .objectives_at = number(&v, "objectives_at"),
        .last_thread = number(&v, "last_thread"),
        .last_op = number(&v, "last_op"),
        .unsorted = number(&v, "unsorted") != 0,
        .extra = json_text(&v, "extra"),
        .extra_meta = json_text(&v, "extra_meta"),
    };
    return ST_OK;
}

struct sv share_meta_row(const struct share_meta *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "at", m->at);
    put_text(&w, "extra", m->extra);
    put_text(&w, "extra_meta", m->extra_meta);
    jw_kint(&w, "last_op", m->last_op);
    jw_kint(&w, "last_thread", m->last_thread);
    jw_kint(&w, "objectives", m->objectives);
    jw_kint(&w, "objectives_at", m->objectives_at);
    jw_kint(&w, "threads", m->threads);
    jw_kint(&w, "unsorted", m->unsorted);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- reading --------------------------------------------------------------------- */

struct sv share_merged_key(struct sv target, struct sv source, struct sv path, struct arena *a)
{
    return key_of_names("merged", target, path_join(source, path, a), a);
}

struct rows rows_of_share(const struct share *s, struct arena *a)
{
    return rows_of_view(s->log, SHARE_GLOBAL, &share_view, a);
}

enum status share_row(struct share *s, struct sv key, struct sv *value, bool *found, struct err *e)
{
    struct rows r = rows_of_share(s, s->a);

    return row_get(&r, key, value, found, e);
}

enum status share_rows_below(struct share *s, struct sv prefix, bool keys, struct arena *a,
                             struct sv **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_share(s, a);
    struct store_row *rows;

    if (rows_below(&r, prefix, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = keys ? sv_skip(rows[i].key, prefix.n) : rows[i].value;
    return ST_OK;
}

enum status share_meta(struct share *s, struct share_meta *out, struct err *e)
{
    struct sv row;
    bool      found;

    *out = (struct share_meta){ 0 };
    if (share_row(s, SV("meta"), &row, &found, e))
        return err_code(e);
    return found ? share_meta_read(row, s->a, out, e) : ST_OK;
}

void share_want_thread(struct share *s, struct sv id, struct arena *a)
{
    struct rows r = rows_of_share(s, a);
    struct sv   key = key_of_name("thread", id, a);

    rows_want(&r, &key, 1);
}

enum status share_thread_find(struct share *s, struct sv id, struct share_thread *out, bool *found,
                              struct err *e)
{
    struct sv row;

    if (share_row(s, key_of_name("thread", id, s->a), &row, found, e))
        return err_code(e);
    return *found ? share_thread_read(row, s->a, out, e) : ST_OK;
}

static struct sv details_of(const char *key, struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, key, id);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static bool has_log(struct share *s, struct sv id)
{
    struct store_head head = { 0 };
    struct err        ignored;

    return name_check(id, "thread", &ignored) == ST_OK &&
           log_head(s->log, id, &head, &ignored) == ST_OK && head.rev > 0;
}

enum status share_thread(struct share *s, struct sv id, struct share_thread *out, struct err *e)
{
    bool found;

    if (share_thread_find(s, id, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    bool log = has_log(s, id);
    err_set(e, ST_NOT_FOUND, "Thread '" SV_FMT "' %s", SV_ARG(id),
            log ? "only has a log and shares no work yet" : "not found");
    err_reason(e, "thread");
    s->details = details_of("threadId", id, s->a);
    if (log)
        return err_hint(e, "`heddle spawn --id " SH_FMT " --intent TEXT --objective ID` lets it",
                        SV_ARG(id));
    return err_hint(e, "`heddle list` shows the threads there are");
}

enum status share_any_thread(struct share *s, struct sv id, struct share_thread *out,
                             bool *only_log, struct err *e)
{
    bool found, named;

    if (share_thread_find(s, id, out, &found, e))
        return err_code(e);
    *only_log = !found && !sv_starts(id, SV(".")) && has_log(s, id);
    if (!*only_log)
        return found ? ST_OK : share_thread(s, id, out, e); /* says that there is none */
    *out = (struct share_thread){ .id = id };
    return share_log_thread_find(s, id, out, &named, e);
}

enum status share_log_thread_find(struct share *s, struct sv id, struct share_thread *out,
                                  bool *found, struct err *e)
{
    struct sv row;

    if (share_row(s, key_of_name("log", id, s->a), &row, found, e))
        return err_code(e);
    return *found ? share_thread_read(row, s->a, out, e) : ST_OK;
}

enum status share_log_threads(struct share *s, struct arena *a, struct share_thread **out,
                              size_t *n, struct err *e)
{
    struct sv *rows;

    if (share_rows_below(s, SV("log/"), false, a, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct share_thread, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (share_thread_read(rows[i], a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status share_objective(struct share *s, struct sv id, struct share_objective *out,
                            struct err *e)
{
    struct sv row;
    bool      found;

    if (share_row(s, key_of_name("obj", id, s->a), &row, &found, e))
        return err_code(e);
    if (found)
        return share_objective_read(row, s->a, out, e);
    err_set(e, ST_NOT_FOUND, "Objective '" SV_FMT "' not found", SV_ARG(id));
    err_reason(e, "objective");
    s->details = details_of("objectiveId", id, s->a);
    return err_hint(e, "`heddle objective create TITLE` makes one; `heddle objective list` shows "
                       "those there are");
}

struct ordered {
    int64_t   seq;
    struct sv row;
};

static int by_seq(const void *a, const void *b)
{
    int64_t x = ((const struct ordered *)a)->seq, y = ((const struct ordered *)b)->seq;

    return x < y ? -1 : x > y;
}

static int64_t seq_of(struct sv row)
{
    struct sv rest = row, key, raw;
    int64_t   seq = 0;

    while (json_next(&rest, &key, &raw))
        if (sv_is(key, "seq"))
            sv_to_int(raw, &seq);
    return seq;
}

/* One scan in the order of ids and a sort cost less than ten thousand look-ups. */
enum status share_threads(struct share *s,
                          enum status (*each)(void *, const struct share_thread *, struct err *),
                          void *ctx, struct err *e)
{
    struct arena scratch = { 0 };
    struct sv   *rows;
    size_t       n = 0;
    enum status  r = share_rows_below(s, SV("thread/"), false, &scratch, &rows, &n, e);

    struct ordered *all = ARENA_NEW(&scratch, struct ordered, n + 1);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct ordered){ seq_of(rows[i]), rows[i] };
    qsort(all, n, sizeof *all, by_seq);
    for (size_t i = 0; i < n && !r; i++) {
        struct arena_mark   m = arena_mark(&scratch);
        struct share_thread t;
        r = share_thread_read(all[i].row, &scratch, &t, e);
        if (!r)
            r = each(ctx, &t, e);
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    return r;
}

enum status share_objectives(struct share *s, struct arena *a, struct share_objective **out,
                             size_t *n, struct err *e)
{
    struct rows r = rows_of_share(s, a);
    struct sv  *ids;

    if (share_rows_below(s, SV("objorder/"), false, a, &ids, n, e))
        return err_code(e);
    struct sv *keys = ARENA_NEW(a, struct sv, *n + 1);
    struct sv *rows = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        keys[i] = key_of_name("obj", ids[i], a);
    if (rows_get_many(&r, keys, *n, rows, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct share_objective, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        if (!rows[i].s)
            return err_set(e, ST_CORRUPT, "objective '" SV_FMT "' is listed and has no row",
                           SV_ARG(ids[i]));
        if (share_objective_read(rows[i], a, &(*out)[i], e))
            return err_code(e);
    }
    return ST_OK;
}

enum status share_refs(struct share *s, struct sv from, bool inherited, struct arena *a,
                       struct share_ref **out, size_t *n, struct err *e)
{
    struct sv *refs, *more = NULL;
    size_t     n_refs, n_more = 0;

    if (share_rows_below(s, key_below_name("ref", from, a), false, a, &refs, &n_refs, e) ||
        (inherited &&
         share_rows_below(s, key_below_name("inh", from, a), false, a, &more, &n_more, e)))
        return err_code(e);
    *out = ARENA_NEW(a, struct share_ref, n_refs + n_more + 1);
    *n = n_refs + n_more;
    for (size_t i = 0; i < *n; i++)
        if (share_ref_read(i < n_more ? more[i] : refs[i - n_more], a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status share_ids(struct share *s, enum share_list which, struct sv of, struct arena *a,
                      struct sv **out, size_t *n, struct err *e)
{
    static const char *const prefixes[] = { "child", "to", "by", "member" };

    return share_rows_below(s, key_below_name(prefixes[which], of, a), which == SHARE_MEMBERS, a,
                            out, n, e);
}

struct sv share_dir(struct sv thread, struct arena *a)
{
    return path_join(SV(".leslie/threads"), thread, a);
}

struct sv share_path(struct sv thread, const char *below, struct sv name, struct arena *a)
{
    struct sv dir = share_dir(thread, a);

    if (below && *below)
        dir = path_join(dir, sv_of(below), a);
    return path_join(dir, name, a);
}

const char *share_operator(struct sv actor)
{
    static const struct {
        const char *prefix, *operator;
    } kinds[] = {
        { "user", "user" },     { "human", "user" },     { "person", "user" },
        { "system", "system" }, { "program", "system" }, { "agent", "agent" },
    };
    struct sv word = sv_cut(actor, ':').head;

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (sv_is(word, kinds[i].prefix))
            return kinds[i].operator;
    return "agent";
}
