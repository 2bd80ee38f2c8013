/* The two forms of opencode's storage behind one set of functions. Both are another program's, and
 * may be in use: nothing is written, nothing is locked for longer than one read. */
#include "harness/opencode_store.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/vec.h"
#include "harness/limits.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct opencode_store {
    sqlite3 *db; /* NULL: files below dir */
    int      dir;
};

enum { BUSY_MS = 2000 };

/* ---- the database --------------------------------------------------------------------------- */

static enum status db_error(struct opencode_store *s, struct err *e)
{
    int code = sqlite3_errcode(s->db);

    if (code == SQLITE_ERROR || code == SQLITE_NOTADB) {
        err_set(e, ST_INVALID_SYNTAX, "not a database of opencode: %s", sqlite3_errmsg(s->db));
        return err_hint(e, "opencode 1.2 and later keep sessions in opencode.db");
    }
    return err_set(e, ST_IO, "opencode's database: %s", sqlite3_errmsg(s->db));
}

/* The database is not trusted: its schema may not call functions with side effects. */
static enum status open_db(int fd, struct opencode_store *s, struct err *e)
{
    char    link[64], path[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return err_errno(e, "opencode's database");
    path[n] = '\0';
    if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return db_error(s, e);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    return ST_OK;
}

static void stmt_undo(sqlite3_stmt **st)
{
    sqlite3_finalize(*st);
}

static enum status prepare(struct opencode_store *s, const char *sql, struct sv with,
                           sqlite3_stmt **out, struct err *e)
{
    if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
        return db_error(s, e);
    if (with.s && sqlite3_bind_text(*out, 1, with.s, (int)with.n, SQLITE_TRANSIENT) != SQLITE_OK)
        return db_error(s, e);
    return ST_OK;
}

static enum status step(struct opencode_store *s, sqlite3_stmt *st, bool *more, struct err *e)
{
    int code = sqlite3_step(st);

    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? ST_OK : db_error(s, e);
}

static struct sv text_at(sqlite3_stmt *st, int column, struct arena *a)
{
    const unsigned char *text = sqlite3_column_text(st, column);

    if (!text)
        return (struct sv){ 0 };
    return sv_dup((struct sv){ (const char *)text, (size_t)sqlite3_column_bytes(st, column) }, a);
}

static void read_row(sqlite3_stmt *st, struct arena *a, struct opencode_session *out)
{
    *out = (struct opencode_session){ .id = text_at(st, 0, a),
                                      .parent = text_at(st, 1, a),
                                      .project = text_at(st, 2, a),
                                      .title = text_at(st, 3, a),
                                      .directory = text_at(st, 4, a),
                                      .version = text_at(st, 5, a),
                                      .created = sqlite3_column_int64(st, 6),
                                      .updated = sqlite3_column_int64(st, 7) };
}

#define SESSION_COLUMNS                                                                            \
    "SELECT id, parent_id, project_id, title, directory, version, time_created, time_updated "     \
    "FROM session "

static enum status db_sessions(struct opencode_store *s, const char *sql, struct sv with,
                               struct arena *a, struct opencode_session **out, size_t *n,
                               struct err *e)
{
    UNDO(stmt_undo) sqlite3_stmt *st = NULL;
    VEC(struct opencode_session) list = { 0 };
    bool more = true;

    if (prepare(s, sql, with, &st, e))
        return err_code(e);
    while (!step(s, st, &more, e) && more)
        read_row(st, a, vec_push(&list, a));
    if (more)
        return err_code(e);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* {"id":ID, … the members of a stored object …} */
static void put_with_id(struct sb *b, struct sv id, struct sv object)
{
    struct sv rest = sv_trim(object);

    sb_adds(b, "{\"id\":");
    sb_add_json_string(b, id);
    if (!sv_starts(rest, SV("{")) || rest.n < 2) {
        sb_adds(b, ",\"unreadable\":");
        sb_add_json_string(b, object);
        sb_addc(b, '}');
        return;
    }
    rest = sv_trim(sv_skip(rest, 1));
    sb_adds(b, sv_is(rest, "}") ? "" : ",");
    sb_add(b, rest);
}

static enum status db_ids(struct opencode_store *s, struct sv session, struct arena *a,
                          struct sv **out, size_t *n, struct err *e)
{
    UNDO(stmt_undo) sqlite3_stmt *st = NULL;
    VEC(struct sv) list = { 0 };
    bool more = true;

    if (prepare(s, "SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id", session,
                &st, e))
        return err_code(e);
    while (!step(s, st, &more, e) && more)
        *vec_push(&list, a) = text_at(st, 0, a);
    if (more)
        return err_code(e);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* Rows of (id, data) as objects, with commas between. */
static enum status db_objects(struct opencode_store *s, const char *sql, struct sv with,
                              struct sb *b, struct err *e)
{
    UNDO(stmt_undo) sqlite3_stmt *st = NULL;
    struct arena                  row = { 0 };
    bool                          more = true, first = true;

    if (prepare(s, sql, with, &st, e))
        return err_code(e);
    while (!step(s, st, &more, e) && more) {
        struct sv data = text_at(st, 1, &row);
        sb_adds(b, first ? "" : ",");
        put_with_id(b, text_at(st, 0, &row), data.s ? data : SV("{}"));
        first = false;
        arena_free(&row);
    }
    return more ? err_code(e) : ST_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

static struct sv path_of(const char *kind, struct sv dir, struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s/", kind);
    sb_add(&b, dir);
    if (id.s) {
        sb_addc(&b, '/');
        sb_add(&b, id);
        sb_adds(&b, ".json");
    }
    return sb_sv(&b);
}

/* Names of the JSON files of a directory without their suffix: ids, which sort by time. A
 * directory that is missing has none. */
static enum status file_ids(struct opencode_store *s, const char *kind, struct sv dir,
                            struct arena *a, struct sv **out, size_t *n, struct err *e)
{
    struct sv       path = path_of(kind, dir, (struct sv){ 0 }, a);
    struct fs_item *items;
    enum fs_kind    is;
    size_t          count;
    VEC(struct sv) list = { 0 };

    *n = 0;
    *out = NULL;
    if (fs_kind(s->dir, path, &is, e))
        return err_code(e);
    if (is != FS_DIR)
        return ST_OK;
    if (fs_list(s->dir, path, a, &items, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == FS_FILE && sv_ends(items[i].name, SV(".json")))
            *vec_push(&list, a) = sv_first(items[i].name, items[i].name.n - strlen(".json"));
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

static enum status read_session_file(struct opencode_store *s, struct sv path, struct arena *a,
                                     struct opencode_session *out, bool *found, struct err *e)
{
    struct sv          text;
    struct json        v;
    struct err         ignored;
    const struct json *time;

    if (fs_read(s->dir, path, HARNESS_RECORD_MAX, a, &text, e)) {
        *found = false;
        return e->code == ST_NOT_FOUND ? ST_OK : err_code(e);
    }
    *found = json_parse(text, 0, a, &v, &ignored) == ST_OK && json_text(&v, "id").n;
    if (!*found)
        return ST_OK;
    time = json_find(&v, "time");
    *out = (struct opencode_session){ .id = json_text(&v, "id"),
                                      .parent = json_text(&v, "parentID"),
                                      .project = json_text(&v, "projectID"),
                                      .title = json_text(&v, "title"),
                                      .directory = json_text(&v, "directory"),
                                      .version = json_text(&v, "version"),
                                      .created = json_number(time, "created"),
                                      .updated = json_number(time, "updated") };
    return ST_OK;
}

static int by_creation(const void *a, const void *b)
{
    const struct opencode_session *x = a, *y = b;

    return x->created != y->created ? (x->created > y->created) - (x->created < y->created)
                                    : sv_cmp(x->id, y->id);
}

/* storage/session/PROJECT/ID.json; only that of one id, if it is given. */
static enum status file_sessions(struct opencode_store *s, struct sv only, struct arena *a,
                                 struct opencode_session **out, size_t *n, struct err *e)
{
    struct fs_item *projects;
    size_t          count, files;
    VEC(struct opencode_session) list = { 0 };

    if (fs_list(s->dir, SV("session"), a, &projects, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        struct sv *ids;
        if (projects[i].kind != FS_DIR)
            continue;
        if (file_ids(s, "session", projects[i].name, a, &ids, &files, e))
            return err_code(e);
        for (size_t k = 0; k < files; k++) {
            struct opencode_session one;
            bool                    found = false;
            if (only.s && !sv_eq(ids[k], only))
                continue;
            if (read_session_file(s, path_of("session", projects[i].name, ids[k], a), a, &one,
                                  &found, e))
                return err_code(e);
            if (found)
                *vec_push(&list, a) = one;
        }
    }
    if (list.n)
        qsort(list.v, list.n, sizeof *list.v, by_creation);
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* A file that was removed meanwhile is null. */
static enum status file_object(struct opencode_store *s, const char *kind, struct sv dir,
                               struct sv id, struct sb *b, struct err *e)
{
    struct arena scratch = { 0 };
    struct sv    text;
    enum status  status =
        fs_read(s->dir, path_of(kind, dir, id, &scratch), HARNESS_RECORD_MAX, &scratch, &text, e);

    if (!status)
        sb_add(b, sv_trim(text).n ? text : SV("null"));
    else if (status == ST_NOT_FOUND)
        sb_adds(b, "null");
    arena_free(&scratch);
    return status == ST_NOT_FOUND ? ST_OK : status;
}

/* ---- both ----------------------------------------------------------------------------------- */

enum status opencode_open(int fd, int dir, struct arena *a, struct opencode_store **out,
                          struct err *e)
{
    struct opencode_store *s = ARENA_NEW(a, struct opencode_store, 1);

    s->dir = dir;
    *out = s;
    if (dir >= 0)
        return ST_OK;
    if (open_db(fd, s, e)) {
        opencode_close(s);
        return err_code(e);
    }
    return ST_OK;
}

void opencode_close(struct opencode_store *s)
{
    if (s && s->db)
        sqlite3_close_v2(s->db);
    if (s)
        s->db = NULL;
}

enum status opencode_sessions(struct opencode_store *s, struct arena *a,
                              struct opencode_session **out, size_t *n, struct err *e)
{
    if (!s->db)
        return file_sessions(s, (struct sv){ 0 }, a, out, n, e);
    return db_sessions(s, SESSION_COLUMNS "ORDER BY time_created, id", (struct sv){ 0 }, a, out, n,
                       e);
}

enum status opencode_session(struct opencode_store *s, struct sv id, struct arena *a,
                             struct opencode_session *out, bool *found, struct err *e)
{
    struct opencode_session *list;
    size_t                   n;

    if (s->db ? db_sessions(s, SESSION_COLUMNS "WHERE id = ?", id, a, &list, &n, e)
              : file_sessions(s, id, a, &list, &n, e))
        return err_code(e);
    *found = n > 0;
    if (n)
        *out = list[0];
    return ST_OK;
}

enum status opencode_messages(struct opencode_store *s, struct sv session, struct arena *a,
                              struct sv **out, size_t *n, struct err *e)
{
    return s->db ? db_ids(s, session, a, out, n, e) : file_ids(s, "message", session, a, out, n, e);
}

enum status opencode_message(struct opencode_store *s, struct sv session, struct sv id,
                             struct arena *a, struct sv *out, struct err *e)
{
    struct sb b = sb_in(a, 0);

    if (s->db ? db_objects(s, "SELECT id, data FROM message WHERE id = ?", id, &b, e)
              : file_object(s, "message", session, id, &b, e))
        return err_code(e);
    *out = b.n ? sb_sv(&b) : SV("null");
    return ST_OK;
}

enum status opencode_parts(struct opencode_store *s, struct sv message, struct arena *a,
                           struct sv *out, struct err *e)
{
    struct sb  b = sb_in(a, 0);
    struct sv *ids;
    size_t     n = 0;

    sb_addc(&b, '[');
    if (s->db ? db_objects(s, "SELECT id, data FROM part WHERE message_id = ? ORDER BY id", message,
                           &b, e)
              : file_ids(s, "part", message, a, &ids, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        sb_adds(&b, i ? "," : "");
        if (file_object(s, "part", message, ids[i], &b, e))
            return err_code(e);
    }
    sb_addc(&b, ']');
    *out = sb_sv(&b);
    return ST_OK;
}
