/* Checks a thread_operation before anything uses it.
 *
 * The log of `.global` can be imported, restored from a damaged file or written by another version,
 * and its fields become directories, paths, object names and rows. So the table gives each field
 * one type, the same in all operations. An entry with a field of another type is kept in the log,
 * reported by `heddle verify`, and otherwise ignored.
 *
 * The rows of thread/kind_check.c say what of an entry is kept when it is erased, which is part of
 * its chain: they cannot be made as strict as these. */
#include "share/share_internal.h"

#include "base/path.h"
#include "base/utf8.h"
#include "thread/skeleton.h"

#include <string.h>

enum { HASH_HEX = HASH_SIZE * 2 };

bool share_hash_is_hex(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!((v.s[i] >= '0' && v.s[i] <= '9') || (v.s[i] >= 'a' && v.s[i] <= 'f')))
            return false;
    return v.n == HASH_HEX;
}

bool share_hash_is_erased(struct sv v)
{
    return sv_is(v, ERASED_HASH);
}

/* Parts that are names, with one slash between them. A backslash is a character like any other. */
bool share_path_is_inside(struct sv path)
{
    struct sv_cut c = { .tail = path, .found = true };

    if (sv_has(path, 0))
        return false;
    while (c.found) {
        c = sv_cut(c.tail, '/');
        if (!c.head.n || sv_is(c.head, ".") || sv_is(c.head, ".."))
            return false;
    }
    return true;
}

/* ---- types ----------------------------------------------------------------------------- */

struct checking {
    struct arena *a;
    const char   *key; /* of the field that is looked at */
    struct err   *e;
};

typedef enum status check_fn(struct checking *, const struct json *);

static enum status refuse(struct checking *c, const char *what)
{
    return err_set(c->e, ST_INVALID_SYNTAX, "\"%s\" is not %s", c->key, what);
}

static enum status is_name(struct checking *c, const struct json *v)
{
    struct err ignored;

    return name_check(json_sv(v), c->key, &ignored) ? refuse(c, "a name") : ST_OK;
}

static enum status is_text(struct checking *c, const struct json *v)
{
    return v->type == JSON_STRING && utf8_invalid(json_sv(v)) < 0 ? ST_OK : refuse(c, "text");
}

static enum status is_hash(struct checking *c, const struct json *v)
{
    return share_hash_is_hex(json_sv(v)) ? ST_OK : refuse(c, "a hash of 64 lower-case hex digits");
}

static enum status is_path(struct checking *c, const struct json *v)
{
    return share_path_is_inside(json_sv(v)) ? ST_OK : refuse(c, "a path below its directory");
}

/* What merge may write: never what belongs to heddle inside a thread's directory. */
static enum status is_work(struct checking *c, const struct json *v)
{
    struct sv top = sv_cut(json_sv(v), '/').head;

    return is_path(c, v) || sv_is(top, "context") || sv_is(top, ".meta") ? refuse(c, "a thread's "
                                                                                     "work")
                                                                         : ST_OK;
}

/* Of a live reference: "" is the directory itself, and directories end in a slash. */
static enum status is_live_path(struct checking *c, const struct json *v)
{
    struct sv path = json_sv(v);

    if (path.s && (!path.n || sv_is(path, "/")))
        return ST_OK;
    if (sv_ends(path, SV("/")))
        path.n--;
    return share_path_is_inside(path) ? ST_OK : refuse(c, "a path below its directory");
}

static enum status is_count(struct checking *c, const struct json *v)
{
    int64_t n;

    return json_int(v, &n) && n >= 0 ? ST_OK : refuse(c, "a count");
}

static enum status is_time(struct checking *c, const struct json *v)
{
    int64_t n;

    return json_int(v, &n) ? ST_OK : refuse(c, "a time");
}

static enum status is_mode(struct checking *c, const struct json *v)
{
    int64_t n;

    return json_int(v, &n) && n >= 0 && n <= 0777 ? ST_OK : refuse(c, "a file mode");
}

static enum status is_pid(struct checking *c, const struct json *v)
{
    int64_t n;

    return json_int(v, &n) && n >= 0 && n <= INT32_MAX ? ST_OK : refuse(c, "a process");
}

static enum status is_bool(struct checking *c, const struct json *v)
{
    return v->type == JSON_TRUE || v->type == JSON_FALSE ? ST_OK : refuse(c, "true or false");
}

static enum status is_binding(struct checking *c, const struct json *v)
{
    return sv_is(json_sv(v), "live") || sv_is(json_sv(v), "frozen") ? ST_OK
                                                                    : refuse(c, "live or frozen");
}

/* Text that is JSON: whatever another program wrote, or an array or an object. */
static bool holds_json(struct checking *c, const struct json *v, enum json_type type, bool any)
{
    struct arena_mark m = arena_mark(c->a);
    struct json       in;
    struct err        ignored;
    bool              good = json_sv(v).s &&
                json_parse(json_sv(v), JSON_KEEP_ORDER, c->a, &in, &ignored) == ST_OK &&
                (any || in.type == type);

    arena_reset(c->a, m);
    return good;
}

static enum status is_json(struct checking *c, const struct json *v)
{
    return holds_json(c, v, JSON_NULL, true) ? ST_OK : refuse(c, "JSON");
}

static enum status is_json_array(struct checking *c, const struct json *v)
{
    return holds_json(c, v, JSON_ARRAY, false) ? ST_OK : refuse(c, "a JSON array");
}

static enum status is_json_object(struct checking *c, const struct json *v)
{
    return holds_json(c, v, JSON_OBJECT, false) ? ST_OK : refuse(c, "a JSON object");
}

/* ---- tables ---------------------------------------------------------------------------- */

struct checked_member {
    const char *key;
    check_fn   *check;
    bool        list; /* an array of such */
};

/* clang-format off */
static const struct checked_member common_fields[] = {
    { "operation",    is_name,        false }, { "operator",     is_text,        false },
    { "thread_id",    is_name,        false }, { "parent_id",    is_name,        false },
    { "parent",       is_name,        false }, { "objective",    is_name,        false },
    { "id",           is_name,        false }, { "from",         is_name,        false },
    { "target",       is_name,        false }, { "ref_id",       is_name,        false },
    { "name",         is_name,        false }, { "sources",      is_name,        true  },
    { "remove",       is_name,        true  }, { "type",         is_name,        false },
    { "binding",      is_binding,     false }, { "inherit_scope", is_text,       true  },
    { "gone",         is_path,        true  }, { "gone_hashes",  is_hash,        true  },
    { "gone_was",     is_hash,        true  }, { "hash",         is_hash,        false },
    { "missing",      is_bool,        false }, { "as_before",    is_bool,        false },
    { "given_scope",  is_text,        true  }, { "intent",       is_text,        false },
    { "title",        is_text,        false }, { "content",      is_text,        false },
    { "executor",     is_text,        false }, { "session_id",   is_text,        false },
    { "session",      is_text,        false }, { "reason",       is_text,        false },
    { "tags",         is_json_array,  false }, { "depends_on",   is_json_array,  false },
    { "listed",       is_json_array,  false }, { "extra",        is_json_object, false },
    { "extra_meta",   is_json_object, false }, { "record",       is_json,        false },
    { "created",      is_time,        false }, { "updated",      is_time,        false },
    { "at",           is_time,        false }, { "injections",   is_count,       true  },
    { "deliver",      is_bool,        false }, { "written",      is_time,        false },
    { "pid",          is_pid,         false }, { "ticks",        is_time,        false },
    { "changed",      is_path,        true  }, { "uncertain",    is_path,        true  },
};
static const struct checked_member reference_fields[] = {
    { "from",    is_name,    false }, { "target", is_name,    false }, { "ref_id", is_name, false },
    { "binding", is_binding, false }, { "scope",  is_path,    true  }, { "at",     is_time, false },
};
static const struct checked_member copy_fields[] = {
    { "name", is_path,  false }, { "source", is_path,  false }, { "place", is_path, false },
    { "hash", is_hash,  false }, { "size",   is_count, false }, { "mode",  is_mode, false },
};
static const struct checked_member live_fields[] = {
    { "name",  is_live_path, false }, { "source", is_live_path, false },
    { "place", is_live_path, false }, { "size",   is_count,     false },
};
static const struct checked_member merged_fields[] = {
    { "path",   is_work, false }, { "before", is_hash, false }, { "after",  is_hash, false },
    { "source", is_name, false }, { "theirs", is_hash, false }, { "kept",   is_name, false },
    { "exec",   is_bool, false }, { "gone",   is_bool, false },
};

/* The required fields of an operation; for an import, of its `what`. */
static const struct {
    const char *operation, *what, *keys[4];
} required[] = {
    { "objective",        NULL,          { "id", "title" } },
    { "objective_delete", NULL,          { "id" } },
    { "spawn",            NULL,          { "thread_id", "objective", "intent" } },
    { "reference",        NULL,          { "from", "target" } },
    { "refresh",          NULL,          { "from", "target", "ref_id" } },
    { "unreference",      NULL,          { "from", "target", "ref_id" } },
    { "rebind",           NULL,          { "from", "target", "ref_id" } },
    { "lifecycle",        NULL,          { "thread_id" } },
    { "transfer",         NULL,          { "thread_id" } },
    { "inject",           NULL,          { "thread_id", "type", "content" } },
    { "deliver",          NULL,          { "thread_id" } },
    { "merge",            NULL,          { "target" } },
    { "session",          NULL,          { "thread_id", "session_id" } },
    { "rename",           NULL,          { "thread_id", "title" } },
    { "log_archive",      NULL,          { "thread_id" } },
    { "transcript",       NULL,          { "thread_id", "name", "hash" } },
    { "worker",           NULL,          { "thread_id" } },
    { "remove",           NULL,          { "thread_id" } },
    { "import",           "thread",      { "id", "title", "objective" } },
    { "import",           "objective",   { "id", "title" } },
    { "import",           "edge",        { "from", "target" } },
    { "import",           "unreference", { "from", "target", "ref_id" } },
    { "import",           "rebind",      { "from", "target", "ref_id" } },
    { "import",           "relation",    { "id" } },
    { "import",           "bad",         { "section" } },
    { "import",           "operation",   { "record" } },
};
/* clang-format on */

static enum status check_field(struct checking *c, const struct checked_member *f,
                               const struct json *v)
{
    c->key = f->key;
    if (!f->list)
        return f->check(c, v);
    if (v->type != JSON_ARRAY)
        return refuse(c, "a list");
    for (size_t i = 0; i < v->n; i++)
        if (f->check(c, &v->items[i]))
            return err_code(c->e);
    return ST_OK;
}

/* A field that is absent or null is not checked here; whether it is required is checked
 * elsewhere. */
static enum status check_fields(struct checking *c, const struct json *p,
                                const struct checked_member *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct json *v = json_find(p, f[i].key);
        if (v && v->type != JSON_NULL && check_field(c, &f[i], v))
            return err_code(c->e);
    }
    return ST_OK;
}

static enum status check_required(struct checking *c, const struct json *p)
{
    struct sv operation = json_text(p, "operation"), what = json_text(p, "what");

    for (size_t i = 0; i < COUNT(required); i++) {
        if (!sv_is(operation, required[i].operation) ||
            (required[i].what && !sv_is(what, required[i].what)))
            continue;
        for (size_t k = 0; k < COUNT(required[i].keys) && required[i].keys[k]; k++) {
            c->key = required[i].keys[k];
            if (!json_text(p, c->key).n)
                return err_set(c->e, ST_INVALID_SYNTAX, "\"%s\" is missing", c->key);
        }
    }
    return ST_OK;
}

/* ---- parts ------------------------------------------------------------------------------- */

static enum status check_files(struct checking *c, const struct json *files,
                               const struct checked_member *f, size_t n, const char *needs)
{
    c->key = "files";
    if (!files || files->type == JSON_NULL)
        return ST_OK;
    if (files->type != JSON_ARRAY)
        return refuse(c, "a list");
    for (size_t i = 0; i < files->n; i++) {
        if (check_fields(c, &files->items[i], f, n))
            return err_code(c->e);
        for (const char *key = needs; *key; key += strlen(key) + 1) {
            c->key = key;
            if (!json_text(&files->items[i], key).s)
                return err_set(c->e, ST_INVALID_SYNTAX, "a file without \"%s\"", key);
        }
    }
    return ST_OK;
}

static enum status check_reference(struct checking *c, const struct json *p)
{
    const struct json *files = json_find(p, "files");

    if (check_fields(c, p, reference_fields, COUNT(reference_fields)))
        return err_code(c->e);
    if (sv_is(json_text(p, "binding"), "frozen"))
        return check_files(c, files, copy_fields, COUNT(copy_fields),
                           "name\0source\0place\0hash\0");
    return check_files(c, files, live_fields, COUNT(live_fields), "name\0source\0place\0");
}

static bool is_section(struct sv v)
{
    return sv_is(v, "threads") || sv_is(v, "relations") || sv_is(v, "objectives");
}

enum status operation_check(const struct json *p, struct arena *a, struct err *e)
{
    struct checking    c = { .a = a, .e = e };
    struct sv          operation = json_text(p, "operation"), what = json_text(p, "what");
    const struct json *inherited = json_find(p, "inherited");

    if (p->type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, "a thread_operation is an object");
    if (check_fields(&c, p, common_fields, COUNT(common_fields)) || check_required(&c, p))
        return err_code(e);
    if (sv_is(operation, "merge"))
        return check_files(&c, json_find(p, "files"), merged_fields, COUNT(merged_fields),
                           "path\0");
    if (sv_is(operation, "transcript") && !sv_ends(json_text(p, "name"), SV(".txt")))
        return err_set(e, ST_INVALID_SYNTAX, "a transcript's name ends in .txt");
    if (sv_is(what, "bad") && !is_section(json_text(p, "section")))
        return err_set(e, ST_INVALID_SYNTAX, "\"section\" is not one of a file");
    if (inherited && inherited->type != JSON_NULL &&
        (inherited->type != JSON_OBJECT || !json_text(inherited, "from").n ||
         !json_text(inherited, "target").n))
        return err_set(e, ST_INVALID_SYNTAX, "\"inherited\" is not a reference");
    if (inherited && inherited->type == JSON_OBJECT && check_reference(&c, inherited))
        return err_code(e);
    return json_text(p, "binding").s ? check_reference(&c, p) : ST_OK;
}

bool share_is_sane(const struct json *payload, struct arena *a)
{
    struct err ignored;

    return operation_check(payload, a, &ignored) == ST_OK;
}
