/* The rows of the share view as structs, and back. Rows are canonical JSON, so that folding
 * the same entries anywhere gives the same bytes. */
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

bool thread_has_ended(enum thread_status s)
{
    return statuses[s].ended;
}

const char *objective_status(const struct share_objective *o)
{
    bool listed = o->listed.s && !sv_is(o->listed, "[]");

    if (o->threads)
        return o->open ? "active" : "completed";
    return listed ? "completed" : "active"; /* listed ids without a thread count as ended */
}

struct sv key_pair(const char *prefix, struct sv a1, struct sv a2, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, prefix);
    sb_addc(&b, '/');
    sb_add(&b, a1);
    sb_addc(&b, '/');
    sb_add(&b, a2);
    return sb_sv(&b);
}

struct sv key_seq(const char *prefix, struct sv a1, int64_t seq, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, prefix);
    sb_addc(&b, '/');
    sb_add(&b, a1);
    sb_addf(&b, "/%016lld", (long long)seq);
    return sb_sv(&b);
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

/* The text of a raw JSON string; in place when nothing in it is escaped. */
static enum status raw_text(struct sv raw, struct arena *a, struct sv *out, struct err *e)
{
    struct json v;

    if (raw.n < 2 || raw.s[0] != '"')
        return ST_OK;
    if (!memchr(raw.s, '\\', raw.n)) {
        *out = (struct sv){ raw.s + 1, raw.n - 2 };
        return ST_OK;
    }
    if (json_parse(raw, 0, a, &v, e))
        return err_in(e, "thread row");
    *out = json_sv(&v);
    return ST_OK;
}

/* Rows are canonical JSON, so that a walk over their members does: ten thousand of them are
 * read by one command. The text must outlive what is read. */
enum status thread_read(struct sv row, struct arena *a, struct share_thread *out, struct err *e)
{
    struct sv rest = row, key, raw, status = { 0 };

    *out = (struct share_thread){ 0 };
    const struct {
        const char *name;
        struct sv  *text;
        int64_t    *number;
    } members[] = {
        { "created", NULL, &out->created }, { "executor", &out->executor, NULL },
        { "extra", &out->extra, NULL },     { "id", &out->id, NULL },
        { "mode", &out->mode, NULL },       { "objective", &out->objective, NULL },
        { "parent", &out->parent, NULL },   { "seq", NULL, &out->seq },
        { "session", &out->session, NULL }, { "status", &status, NULL },
        { "storage", &out->storage, NULL }, { "tags", &out->tags, NULL },
        { "title", &out->title, NULL },     { "updated", NULL, &out->updated },
    };
    for (size_t at = 0; json_next(&rest, &key, &raw);) {
        while (at < COUNT(members) && !sv_is(key, members[at].name))
            at++; /* both are sorted */
        if (at == COUNT(members))
            break;
        if (members[at].number)
            sv_to_int(raw, members[at].number);
        else if (raw_text(raw, a, members[at].text, e))
            return err_code(e);
    }
    if (!thread_status_of(status, &out->status))
        return err_set(e, ST_CORRUPT, "thread row without a status");
    return ST_OK;
}

/* Members are written in the order of their keys: the row is canonical as it stands. */
struct sv thread_row(const struct share_thread *t, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "created", t->created);
    put_text(&w, "executor", t->executor);
    put_text(&w, "extra", t->extra);
    put_text(&w, "id", t->id);
    put_text(&w, "mode", t->mode);
    put_text(&w, "objective", t->objective);
    put_text(&w, "parent", t->parent);
    jw_kint(&w, "seq", t->seq);
    put_text(&w, "session", t->session);
    jw_kstr(&w, "status", sv_of(thread_status_name(t->status)));
    put_text(&w, "storage", t->storage);
    put_text(&w, "tags", t->tags);
    put_text(&w, "title", t->title);
    jw_kint(&w, "updated", t->updated);
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status objective_read(struct sv row, struct arena *a, struct share_objective *out,
                           struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "objective row");
    *out = (struct share_objective){
        .id = json_text(&v, "id"),
        .title = json_text(&v, "title"),
        .extra = json_text(&v, "extra"),
        .listed = json_text(&v, "listed"),
        .created = number(&v, "created"),
        .updated = number(&v, "updated"),
        .seq = number(&v, "seq"),
        .threads = number(&v, "threads"),
        .open = number(&v, "open"),
    };
    return ST_OK;
}

struct sv objective_row(const struct share_objective *o, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "created", o->created);
    put_text(&w, "extra", o->extra);
    put_text(&w, "id", o->id);
    put_text(&w, "listed", o->listed);
    jw_kint(&w, "open", o->open);
    jw_kint(&w, "seq", o->seq);
    jw_kint(&w, "threads", o->threads);
    put_text(&w, "title", o->title);
    jw_kint(&w, "updated", o->updated);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- references ------------------------------------------------------------------ */

static void files_json(struct jw *w, const struct share_ref *r)
{
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t i = 0; i < r->n_files; i++) {
        const struct share_file *f = &r->files[i];
        jw_open(w, '{');
        put_text(w, "hash", f->hash);
        if (f->mode && f->mode != 0444)
            jw_kint(w, "mode", f->mode);
        jw_kstr(w, "name", f->name);
        put_text(w, "place", f->place);
        jw_kint(w, "size", f->size);
        jw_kstr(w, "source", f->source);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

void ref_write(struct jw *w, const struct share_ref *r)
{
    jw_kstr(w, "binding", r->frozen ? SV("frozen") : SV("live"));
    files_json(w, r);
    jw_kstr(w, "from", r->from);
    jw_kbool(w, "inherit", r->inherit);
    jw_kbool(w, "missing", r->missing);
    jw_kstr(w, "ref_id", r->id);
    jw_key(w, "scope");
    jw_open(w, '[');
    for (size_t i = 0; i < r->n_scope; i++)
        jw_str(w, r->scope[i]);
    jw_close(w, ']');
    jw_kstr(w, "target", r->target);
}

struct sv ref_row(const struct share_ref *r, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json v;
    struct err  ignored;

    jw_open(&w, '{');
    jw_kint(&w, "at", r->at);
    ref_write(&w, r);
    jw_kint(&w, "seq", r->seq);
    jw_close(&w, '}');
    struct sv text = sb_sv(&b);
    return json_parse(text, 0, a, &v, &ignored) == ST_OK ? json_canonical(&v, a) : text;
}

static void read_files(const struct json *list, struct arena *a, struct share_ref *out)
{
    if (!json_is(list, JSON_ARRAY))
        return;
    out->files = ARENA_NEW(a, struct share_file, list->n + 1);
    for (size_t i = 0; i < list->n; i++) {
        const struct json *f = &list->items[i];
        out->files[out->n_files++] = (struct share_file){
            .name = json_text(f, "name"),
            .source = json_text(f, "source"),
            .place = json_text(f, "place"),
            .hash = json_text(f, "hash"),
            .size = number(f, "size"),
            .mode = number(f, "mode"),
        };
    }
}

enum status ref_of_json(const struct json *v, struct arena *a, struct share_ref *out, struct err *e)
{
    const struct json *scope = json_find(v, "scope");

    *out = (struct share_ref){
        .id = json_text(v, "ref_id"),
        .from = json_text(v, "from"),
        .target = json_text(v, "target"),
        .frozen = sv_is(json_text(v, "binding"), "frozen"),
        .inherit = json_truth(json_find(v, "inherit")),
        .missing = json_truth(json_find(v, "missing")),
        .at = number(v, "at"),
        .seq = number(v, "seq"),
    };
    if (!out->from.n || !out->target.n)
        return err_set(e, ST_CORRUPT, "a reference without its threads");
    if (json_is(scope, JSON_ARRAY)) {
        out->scope = ARENA_NEW(a, struct sv, scope->n + 1);
        for (size_t i = 0; i < scope->n; i++)
            out->scope[out->n_scope++] = json_sv(&scope->items[i]);
    }
    read_files(json_find(v, "files"), a, out);
    return ST_OK;
}

enum status ref_read(struct sv row, struct arena *a, struct share_ref *out, struct err *e)
{
    struct json v;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "reference row");
    return ref_of_json(&v, a, out, e);
}

/* ---- the whole ------------------------------------------------------------------- */

enum status meta_read(struct sv row, struct arena *a, struct share_meta *out, struct err *e)
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

struct sv meta_row(const struct share_meta *m, struct arena *a)
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
    return key_pair("merged", target, path_join(source, path, a), a);
}

enum status share_row(struct share *s, struct sv key, struct sv *value, bool *found, struct err *e)
{
    return log_row_get(s->log, SHARE_GLOBAL, &share_view, key, s->a, value, found, e);
}

enum status share_rows_below(struct share *s, struct sv prefix, bool keys, struct arena *a,
                             struct sv **out, size_t *n, struct err *e)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query                   q = { .thread = SHARE_GLOBAL,
                                                   .view = sv_of(share_view.name),
                                                   .prefix = prefix };
    struct store_row                         row;
    VEC(struct sv) list = { 0 };
    bool more;

    if (store_rows(s->log->store, &q, &rows, e))
        return err_code(e);
    for (;;) {
        if (store_rows_next(rows, &row, &more, e))
            return err_code(e);
        if (!more)
            break;
        *vec_push(&list, a) = sv_dup(keys ? sv_skip(row.key, prefix.n) : row.value, a);
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

enum status share_meta(struct share *s, struct share_meta *out, struct err *e)
{
    struct sv row;
    bool      found;

    *out = (struct share_meta){ 0 };
    if (share_row(s, SV("meta"), &row, &found, e))
        return err_code(e);
    return found ? meta_read(row, s->a, out, e) : ST_OK;
}

enum status share_thread_find(struct share *s, struct sv id, struct share_thread *out, bool *found,
                              struct err *e)
{
    struct sv row;

    if (share_row(s, key_of_name("thread", id, s->a), &row, found, e))
        return err_code(e);
    return *found ? thread_read(row, s->a, out, e) : ST_OK;
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

enum status share_thread(struct share *s, struct sv id, struct share_thread *out, struct err *e)
{
    bool found;

    if (share_thread_find(s, id, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "Thread '" SV_FMT "' not found", SV_ARG(id));
    err_reason(e, "thread");
    s->details = details_of("threadId", id, s->a);
    return err_hint(e, "`heddle list` shows the threads that were spawned, `heddle stats` all that "
                       "have a log");
}

enum status share_objective(struct share *s, struct sv id, struct share_objective *out,
                            struct err *e)
{
    struct sv row;
    bool      found;

    if (share_row(s, key_of_name("obj", id, s->a), &row, &found, e))
        return err_code(e);
    if (found)
        return objective_read(row, s->a, out, e);
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
        r = thread_read(all[i].row, &scratch, &t, e);
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
    struct sv *ids;

    if (share_rows_below(s, SV("objorder/"), false, a, &ids, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct share_objective, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (share_objective(s, ids[i], &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status share_refs(struct share *s, struct sv from, bool inherited, struct arena *a,
                       struct share_ref **out, size_t *n, struct err *e)
{
    struct sv *refs, *more = NULL;
    size_t     n_refs, n_more = 0;

    if (share_rows_below(s, key_pair("ref", from, SV(""), a), false, a, &refs, &n_refs, e) ||
        (inherited &&
         share_rows_below(s, key_pair("inh", from, SV(""), a), false, a, &more, &n_more, e)))
        return err_code(e);
    *out = ARENA_NEW(a, struct share_ref, n_refs + n_more + 1);
    *n = n_refs + n_more;
    for (size_t i = 0; i < *n; i++)
        if (ref_read(i < n_more ? more[i] : refs[i - n_more], a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

enum status share_ids(struct share *s, enum share_list which, struct sv of, struct arena *a,
                      struct sv **out, size_t *n, struct err *e)
{
    static const char *const prefixes[] = { "child", "to", "by", "member" };

    return share_rows_below(s, key_pair(prefixes[which], of, SV(""), a), which == SHARE_MEMBERS, a,
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
