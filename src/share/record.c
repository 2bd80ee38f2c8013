/* The tables of the fields of threads, objectives and references, and the ways to write and read
 * them by these tables. */
#include "share/record.h"

#include "base/clock.h"
#include "share/import_internal.h"
#include "share/share_internal.h"

#include <string.h>

enum { MODE_USUAL = 0444, COLUMNS_MAX = 16 };

/* clang-format off */
#define AT(member) offsetof(struct share_thread, member)
static const struct record_column thread_columns[] = {
    { "created",   "created_at",   COLUMN_TIME,   AT(created),   .place = 4 },
    { "executor",  "executor",     COLUMN_TEXT,   AT(executor),  .place = 9 },
    { "extra",     NULL,           COLUMN_TEXT,   AT(extra),     .place = 0 },
    { "id",        "id",           COLUMN_TEXT,   AT(id),        .place = 1 },
    { "mode",      NULL,           COLUMN_TEXT,   AT(mode),      .own = true },
    { "objective", "objective",    COLUMN_TEXT,   AT(objective), .place = 3 },
    { "parent",    "parent_id",    COLUMN_TEXT,   AT(parent),    .place = 7 },
    { "seq",       NULL,           COLUMN_NUMBER, AT(seq),       .own = true },
    { "session",   "session_id",   COLUMN_TEXT,   AT(session),   .place = 11, .optional = true },
    { "status",    "status",       COLUMN_STATUS, AT(status),    .place = 5 },
    { "storage",   "storage_path", COLUMN_TEXT,   AT(storage),   .place = 8 },
    { "tags",      "tags",         COLUMN_LIST,   AT(tags),      .place = 6, .optional = true },
    { "title",     "title",        COLUMN_TEXT,   AT(title),     .place = 2 },
    { "updated",   "updated_at",   COLUMN_TIME,   AT(updated),   .place = 10 },
};
#undef AT

#define AT(member) offsetof(struct share_objective, member)
static const struct record_column objective_columns[] = {
    { "created",   "created_at",   COLUMN_TIME,   AT(created),   .place = 3 },
    { "extra",     NULL,           COLUMN_TEXT,   AT(extra),     .place = 0 },
    { "id",        "id",           COLUMN_TEXT,   AT(id),        .place = 1 },
    { "listed",    NULL,           COLUMN_TEXT,   AT(listed),    .place = 0 },
    { "open",      NULL,           COLUMN_NUMBER, AT(open),      .own = true },
    { "seq",       NULL,           COLUMN_NUMBER, AT(seq),       .own = true },
    { "threads",   NULL,           COLUMN_NUMBER, AT(threads),   .own = true },
    { "title",     "title",        COLUMN_TEXT,   AT(title),     .place = 2 },
    { "updated",   "updated_at",   COLUMN_TIME,   AT(updated),   .place = 4 },
};
#undef AT

/* In files a copy stands below its place. */
#define AT(member) offsetof(struct share_file, member)
static const struct record_column copy_columns[] = {
    { "hash",      "hash",         COLUMN_TEXT,   AT(hash),      .place = 2 },
    { "mode",      "mode",         COLUMN_MODE,   AT(mode),      .place = 4 },
    { "name",      NULL,           COLUMN_TEXT,   AT(name),      .always = true },
    { "place",     NULL,           COLUMN_TEXT,   AT(place),     .place = 0 },
    { "size",      "size",         COLUMN_NUMBER, AT(size),      .place = 3 },
    { "source",    "source",       COLUMN_TEXT,   AT(source),    .place = 1, .always = true },
};
#undef AT

#define AT(member) offsetof(struct share_ref, member)
static const struct record_column reference_columns[] = {
    { "at",        NULL,           COLUMN_TIME,    AT(at),       .own = true },
    { "binding",   NULL,           COLUMN_BINDING, AT(frozen),   .place = 0 },
    { "files",     NULL,           COLUMN_RECORDS, AT(files),    .count = AT(n_files), .of = &record_copy },
    { "from",      NULL,           COLUMN_TEXT,    AT(from),     .always = true },
    { "inherit",   NULL,           COLUMN_FLAG,    AT(inherit),  .place = 0 },
    { "missing",   NULL,           COLUMN_FLAG,    AT(missing),  .place = 0 },
    { "ref_id",    "ref_id",       COLUMN_TEXT,    AT(id),       .place = 1, .always = true },
    { "scope",     NULL,           COLUMN_TEXTS,   AT(scope),    .count = AT(n_scope) },
    { "seq",       NULL,           COLUMN_NUMBER,  AT(seq),      .own = true },
    { "target",    "thread",       COLUMN_TEXT,    AT(target),   .place = 2, .always = true },
};
#undef AT

#define RECORD(table, type) { table, COUNT(table), sizeof(type) }
const struct record record_thread = RECORD(thread_columns, struct share_thread);
const struct record record_objective = RECORD(objective_columns, struct share_objective);
const struct record record_copy = RECORD(copy_columns, struct share_file);
const struct record record_reference = RECORD(reference_columns, struct share_ref);
/* clang-format on */

_Static_assert(COUNT(thread_columns) <= COLUMNS_MAX, "record_other_keys() has room for them");

const struct record_column *record_column_at(const struct record *r, int place)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->columns[i].place == place)
            return &r->columns[i];
    return NULL;
}

struct sv record_other_keys(const struct json *v, const struct record *r, const char *const *more,
                            struct arena *a)
{
    const char                 *known[COLUMNS_MAX * 2];
    const struct record_column *c;
    size_t                      n = 0;

    for (int place = 1; (c = record_column_at(r, place)); place++)
        known[n++] = c->file;
    for (; *more && n < COUNT(known); more++)
        known[n++] = *more;
    return json_others(v, known, n, a);
}

static const void *in(const void *from, size_t offset)
{
    return (const char *)from + offset;
}

static struct sv text_in(const void *from, const struct record_column *c)
{
    return *(const struct sv *)in(from, c->offset);
}

static int64_t number_in(const void *from, const struct record_column *c)
{
    return *(const int64_t *)in(from, c->offset);
}

/* ---- writing ------------------------------------------------------------------------- */

static void put_texts(struct jw *w, const void *from, const struct record_column *c)
{
    struct sv *const *list = in(from, c->offset);
    const size_t     *n = in(from, c->count);

    jw_key(w, c->row);
    jw_open(w, '[');
    for (size_t i = 0; i < *n; i++)
        jw_str(w, (*list)[i]);
    jw_close(w, ']');
}

static void put_records(struct jw *w, const void *from, const struct record_column *c)
{
    const char *const *list = in(from, c->offset);
    const size_t      *n = in(from, c->count);

    jw_key(w, c->row);
    jw_open(w, '[');
    for (size_t i = 0; i < *n; i++) {
        jw_open(w, '{');
        record_row_members(w, c->of, *list + i * c->of->size);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void put_mode(struct jw *w, const char *key, int64_t mode)
{
    if (mode && mode != MODE_USUAL)
        jw_kint(w, key, mode);
}

static void put_row_member(struct jw *w, const void *from, const struct record_column *c)
{
    switch (c->type) {
    case COLUMN_TEXT:
    case COLUMN_LIST:
        if (c->always || text_in(from, c).s)
            jw_kstr(w, c->row, text_in(from, c));
        break;
    case COLUMN_NUMBER:
    case COLUMN_TIME: jw_kint(w, c->row, number_in(from, c)); break;
    case COLUMN_STATUS:
        jw_kstr(w, c->row,
                sv_of(thread_status_name(*(const enum thread_status *)in(from, c->offset))));
        break;
    case COLUMN_FLAG: jw_kbool(w, c->row, *(const bool *)in(from, c->offset)); break;
    case COLUMN_BINDING:
        jw_kstr(w, c->row, *(const bool *)in(from, c->offset) ? SV("frozen") : SV("live"));
        break;
    case COLUMN_MODE: put_mode(w, c->row, number_in(from, c)); break;
    case COLUMN_TEXTS: put_texts(w, from, c); break;
    case COLUMN_RECORDS: put_records(w, from, c); break;
    }
}

void record_row_members(struct jw *w, const struct record *r, const void *from)
{
    for (size_t i = 0; i < r->n; i++)
        put_row_member(w, from, &r->columns[i]);
}

void record_entry_members(struct jw *w, const struct record *r, const void *from)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->columns[i].own)
            put_row_member(w, from, &r->columns[i]);
}

void record_put_json(struct jw *w, struct sv json)
{
    struct arena scratch = { 0 };
    struct json  v;
    struct err   ignored;

    if (json_parse(json, JSON_KEEP_ORDER, &scratch, &v, &ignored) == ST_OK)
        jw_json(w, &v);
    else
        jw_null(w);
    arena_free(&scratch);
}

static void put_time(struct jw *w, const char *key, int64_t ms)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    sb_add_iso_ms(&b, ms);
    jw_kstr(w, key, sb_sv(&b));
}

static void put_file_member(struct jw *w, const void *from, const struct record_column *c)
{
    struct record_column named = *c;

    named.row = c->file;
    named.always = true;
    if (c->type == COLUMN_TIME) {
        put_time(w, c->file, number_in(from, c));
    } else if (c->type == COLUMN_LIST) {
        jw_key(w, c->file);
        record_put_json(w, text_in(from, c));
    } else {
        put_row_member(w, from, &named);
    }
}

void record_file_members(struct jw *w, const struct record *r, const void *from)
{
    const struct record_column *c;

    for (int place = 1; (c = record_column_at(r, place)); place++)
        if (!c->optional || text_in(from, c).s)
            put_file_member(w, from, c);
}

void record_thread_file_members(struct jw *w, const struct share_thread *t)
{
    struct arena        scratch = { 0 };
    struct share_thread shown = *t;

    if (!shown.storage.s) /* the usual place is not stored */
        shown.storage = share_dir(t->id, &scratch);
    record_file_members(w, &record_thread, &shown);
    arena_free(&scratch);
}

/* ---- reading ------------------------------------------------------------------------- */

static void read_texts(const struct json *v, const struct record_column *c, struct arena *a,
                       char *into)
{
    struct sv *list;

    if (v->type != JSON_ARRAY)
        return;
    list = ARENA_NEW(a, struct sv, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        list[i] = json_sv(&v->items[i]);
    *(struct sv **)(void *)(into + c->offset) = list;
    *(size_t *)(void *)(into + c->count) = v->n;
}

static void read_records(const struct json *v, const struct record_column *c, struct arena *a,
                         char *into)
{
    char *list;

    if (v->type != JSON_ARRAY)
        return;
    list = arena_alloc(a, v->n + 1, c->of->size, _Alignof(max_align_t));
    for (size_t i = 0; i < v->n; i++)
        record_of_json(&v->items[i], c->of, a, list + i * c->of->size);
    *(char **)(void *)(into + c->offset) = list;
    *(size_t *)(void *)(into + c->count) = v->n;
}

static void read_member(const struct json *v, const struct record_column *c, struct arena *a,
                        char *into)
{
    void *field = into + c->offset;

    switch (c->type) {
    case COLUMN_TEXT:
    case COLUMN_LIST: *(struct sv *)field = json_sv(v); break;
    case COLUMN_NUMBER:
    case COLUMN_TIME:
    case COLUMN_MODE: json_int(v, field); break;
    case COLUMN_STATUS: (void)thread_status_of(json_sv(v), field); break;
    case COLUMN_FLAG: *(bool *)field = json_truth(v); break;
    case COLUMN_BINDING: *(bool *)field = sv_is(json_sv(v), "frozen"); break;
    case COLUMN_TEXTS: read_texts(v, c, a, into); break;
    case COLUMN_RECORDS: read_records(v, c, a, into); break;
    }
}

static void read_all(const struct json *v, const struct record *r, bool own, struct arena *a,
                     void *into)
{
    for (const struct record_column *c = r->columns; c < r->columns + r->n; c++) {
        const struct json *m = c->own && !own ? NULL : json_find(v, c->row);
        if (m)
            read_member(m, c, a, into);
    }
}

void record_of_json(const struct json *v, const struct record *r, struct arena *a, void *into)
{
    read_all(v, r, true, a, into);
}

void record_of_entry(const struct json *v, const struct record *r, struct arena *a, void *into)
{
    read_all(v, r, false, a, into);
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
        return err_in(e, "a row");
    *out = json_sv(&v);
    return ST_OK;
}

/* Rows are canonical JSON, so that a walk over their members does. */
enum status record_of_row(struct sv row, const struct record *r, struct arena *a, void *into,
                          struct err *e)
{
    struct sv rest = row, key, raw;

    for (size_t at = 0; json_next(&rest, &key, &raw);) {
        struct sv status = { 0 };
        while (at < r->n && !sv_is(key, r->columns[at].row))
            at++; /* both are sorted */
        if (at == r->n)
            break;
        const struct record_column *c = &r->columns[at];
        void                       *field = (char *)into + c->offset;
        if (c->type == COLUMN_NUMBER || c->type == COLUMN_TIME)
            sv_to_int(raw, field);
        else if (raw_text(raw, a, c->type == COLUMN_STATUS ? &status : field, e))
            return err_code(e);
        if (c->type == COLUMN_STATUS)
            (void)thread_status_of(status, field);
    }
    return ST_OK;
}

void record_of_file(const struct json *v, const struct record *r, struct arena *a, void *into)
{
    for (const struct record_column *c = r->columns; c < r->columns + r->n; c++) {
        const struct json *m = c->file ? json_find(v, c->file) : NULL;
        void              *field = (char *)into + c->offset;
        if (!m)
            continue;
        if (c->type == COLUMN_TIME)
            (void)clock_parse_iso(json_sv(m), field);
        else if (c->type != COLUMN_LIST)
            read_member(m, c, a, into);
        else if (m->type == JSON_ARRAY)
            *(struct sv *)field = share_json_string_of(m, a);
    }
}

bool record_keep_erased(const struct record *r, const void *own, void *theirs)
{
    bool any = false;

    for (size_t i = 0; i < r->n; i++) {
        const struct record_column *c = &r->columns[i];
        if (c->type != COLUMN_TEXT && c->type != COLUMN_LIST)
            continue;
        const struct sv *mine = in(own, c->offset);
        struct sv       *other = (struct sv *)((char *)theirs + c->offset);
        bool             erased =
            sv_is(*mine, ERASED_TEXT) || sv_is(*mine, ERASED_TAGS) || sv_is(*mine, ERASED_EXTRA);
        if (!erased || sv_eq(*other, *mine))
            continue;
        any = any || other->s;
        *other = *mine;
    }
    return any;
}
