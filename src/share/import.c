/* Turns what other programs wrote into heddle's files into entries. The last operation of heddle in
 * a file shows which entries its writer knew. If an older item is missing, the writer removed it;
 * newer ones it could not know. So a file that is older than the log can still be merged. */
#include "share/import_internal.h"
#include "share/record.h"

#include "base/path.h"
#include "thread/deletion.h"

#include <string.h>

struct sv share_json_string_of(const struct json *v, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_json(&w, v);
    return sb_sv(&b);
}

struct jw import_start(struct sb *b, struct share_import *im, const char *what)
{
    struct jw w;

    *b = sb_in(im->a, 0);
    w = jw_in(b, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "action", sv_of(what)); /* kept when the entry is erased */
    jw_kstr(&w, "operation", SV("import"));
    jw_kstr(&w, "operator", SV("system"));
    jw_kstr(&w, "what", sv_of(what));
    if (im->written) /* times in the files stay what their writer gave them */
        jw_kint(&w, "written", im->written);
    return w;
}

enum status import_finish(struct share_import *im, struct jw *w, struct sb *b, struct sv op_id)
{
    jw_close(w, '}');
    return share_append(im->s, op_id, sb_sv(b), im->e);
}

static void put_text(struct jw *w, const char *key, struct sv v)
{
    if (v.s)
        jw_kstr(w, key, v);
}

/* Keep an invalid value: it stays in the file unchanged, is recorded in the log, and is
 * reported. */
static enum status quarantine(struct share_import *im, const char *section,
                              const struct json_member *m, const char *why)
{
    struct sv   value = share_json_string_of(&m->value, im->a), old;
    const char *ours = strcmp(section, "objectives") == 0 ? "obj" : "thread";
    struct sb   b;
    bool        found;

    /* Another program broke a row that the log has: the row of the log is kept, so that the file
     * has no key twice. */
    if (share_row(im->s, key_of_name(ours, m->key, im->a), &old, &found, im->e))
        return err_code(im->e);
    if (found) {
        share_warn(im->s, "T502", (struct sv){ 0 },
                   "%s in .leslie/ was given a row '" SV_FMT "' that is not taken: %s; it is "
                   "written again as the log has it",
                   section, SV_ARG(m->key), why);
        return ST_OK;
    }
    share_warn(im->s, "T502", (struct sv){ 0 },
               "%s in .leslie/ holds a row '" SV_FMT "' that is left alone: %s", section,
               SV_ARG(m->key), why);
    if (share_row(im->s, key_of_names("bad", sv_of(section), m->key, im->a), &old, &found, im->e))
        return err_code(im->e);
    if (found && sv_eq(old, value))
        return ST_OK;
    struct jw w = import_start(&b, im, "bad");
    jw_kstr(&w, "section", sv_of(section));
    jw_kstr(&w, "key", m->key);
    jw_kstr(&w, "value", value);
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

/* ---- threads ------------------------------------------------------------------------ */

/* NULL when it fits, else what is wrong with it. */
static const char *thread_of_file(const struct json_member *m, struct arena *a,
                                  struct share_thread *t)
{
    static const char *const none[] = { NULL };
    const struct json       *v = &m->value;
    struct err               ignored;

    *t = (struct share_thread){ 0 };
    record_of_file(v, &record_thread, a, t);
    if (v->type != JSON_OBJECT || !sv_eq(t->id, m->key))
        return "it is not an object with this id";
    if (name_check(t->id, "thread id", &ignored))
        return "its id cannot name a directory";
    if (!t->title.n || !t->objective.n || name_check(t->objective, "objective", &ignored))
        return "it needs a title and an objective";
    if (!thread_status_of(json_text(v, "status"), &t->status))
        return "its status is unknown";
    if (!clock_parse_iso(json_text(v, "created_at"), &t->created))
        return "its created_at is no time";
    if (!clock_parse_iso(json_text(v, "updated_at"), &t->updated))
        t->updated = t->created; /* older files have none */
    if (t->parent.s && name_check(t->parent, "parent", &ignored))
        return "its parent_id is not an id";
    if (!t->executor.n)
        t->executor = SV("agent");
    if (!t->storage.s || sv_eq(t->storage, share_dir(t->id, a)))
        t->storage = (struct sv){ 0 };
    t->extra = record_other_keys(v, &record_thread, none, a);
    return NULL;
}

/* A text that was erased here is not imported again from a file that still has it. */
static void keep_erased(struct share_import *im, const struct record *r, struct sv id,
                        const void *ours, void *theirs)
{
    if (record_keep_erased(r, ours, theirs))
        share_warn(im->s, "W202", id,
                   "'" SV_FMT "' has a text in .leslie/ that was erased here, and is not taken",
                   SV_ARG(id));
}

static enum status append_thread(struct share_import *im, const struct share_thread *t)
{
    struct sb b;
    struct jw w = import_start(&b, im, "thread");

    jw_kstr(&w, "thread_id", t->id);
    record_entry_members(&w, &record_thread, t);
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

/* A thread that the log does not know. A thread that was deleted here is not imported again from a
 * file that still has it. */
static enum status append_new(struct share_import *im, const struct share_thread *t)
{
    bool deleted;

    if (deletion_find(im->s->log, t->id, &deleted, im->e))
        return err_code(im->e);
    if (!deleted)
        return append_thread(im, t);
    share_warn(im->s, "W202", t->id,
               "Thread '" SV_FMT "' of .leslie/thread_relations.json was deleted here, and is "
               "ignored",
               SV_ARG(t->id));
    return ST_OK;
}

static enum status import_thread(struct share_import *im, const struct json_member *m)
{
    struct share_thread theirs, ours;
    bool                found;
    const char         *wrong = thread_of_file(m, im->a, &theirs);

    map_put(&im->there, m->key, im);
    if (wrong)
        return quarantine(im, "threads", m, wrong);
    if (share_thread_find(im->s, theirs.id, &ours, &found, im->e))
        return err_code(im->e);
    if (!found)
        return append_new(im, &theirs);
    theirs.seq = ours.seq;
    theirs.mode = ours.mode;
    keep_erased(im, &record_thread, theirs.id, &ours, &theirs);
    if (im->only_new || sv_eq(share_thread_row(&theirs, im->a), share_thread_row(&ours, im->a)))
        return ST_OK;
    if (ours.updated > im->written && theirs.updated <= ours.updated)
        return ST_OK; /* changed here after the file was written */
    return append_thread(im, &theirs);
}

static enum status remove_thread(void *ctx, const struct share_thread *t, struct err *e)
{
    struct share_import *im = ctx;
    struct sb            b = sb_in(im->a, 0);
    struct jw            w = jw_in(&b, 0);

    (void)e;
    if (map_has(&im->there, t->id) || t->seq >= im->base)
        return ST_OK;
    share_warn(im->s, "W202", t->id,
               "Thread '" SV_FMT "' was removed from .leslie/thread_relations.json by another "
               "program",
               SV_ARG(t->id));
    jw_open(&w, '{');
    jw_kstr(&w, "operation", SV("remove"));
    jw_kstr(&w, "operator", SV("system"));
    jw_kstr(&w, "thread_id", sv_dup(t->id, im->a));
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

/* Forget invalid rows that are no longer in the file. */
static enum status forget_bad(struct share_import *im)
{
    struct sv *keys;
    size_t     n;
    struct sb  b;

    if (share_rows_below(im->s, SV("bad/threads/"), true, im->a, &keys, &n, im->e))
        return err_code(im->e);
    for (size_t i = 0; i < n; i++) {
        if (map_has(&im->there, keys[i]))
            continue;
        struct jw w = import_start(&b, im, "bad");
        jw_kstr(&w, "section", SV("threads"));
        jw_kstr(&w, "key", keys[i]);
        if (import_finish(im, &w, &b, (struct sv){ 0 }))
            return err_code(im->e);
    }
    return ST_OK;
}

/* ---- operations ----------------------------------------------------------------------- */

/* Its id, or one made from a hash of it when the id cannot be used. */
static struct sv operation_id(const struct json *v, struct arena *a)
{
    struct sv  id = json_text(v, "id");
    struct err ignored;

    if (id.s && name_check(id, "operation id", &ignored) == ST_OK)
        return id;
    struct sv   bytes = share_json_string_of(v, a);
    struct hash h = hash_blake2b(&bytes, 1);
    struct sb   b = sb_in(a, 0);
    sb_adds(&b, "op-x");
    sb_add(&b, sv_first(hash_hex(&h, a), 16));
    return sb_sv(&b);
}

/* Which entries the writer of the file knew: one more than the last operation it holds. */
static enum status find_base(struct share_import *im, const struct json *operations)
{
    struct rows r = rows_of_share(im->s, im->a);

    for (size_t i = 0; i < operations->n; i++) {
        struct arena_mark m = arena_mark(im->a);
        struct sv row, key = key_of_name("opid", operation_id(&operations->items[i], im->a), im->a);
        bool      found;
        int64_t   seq = -1;
        if (row_get(&r, key, &row, &found, im->e))
            return err_code(im->e);
        if (found && sv_to_int(row, &seq) && seq >= im->base)
            im->base = seq + 1;
        arena_reset(im->a, m);
    }
    return ST_OK;
}

static enum status import_operation(struct share_import *im, const struct json *v)
{
    struct sv id = operation_id(v, im->a), row;
    struct sb b;
    bool      found;

    if (share_row(im->s, key_of_name("opid", id, im->a), &row, &found, im->e))
        return err_code(im->e);
    import_refs_note(im, v, !found);
    if (found)
        return ST_OK;
    struct jw w = import_start(&b, im, "operation");
    jw_kstr(&w, "record", share_json_string_of(v, im->a));
    /* An injection that is new since the file was last read is pending. In a file that was never
     * read before it may have been delivered long ago. */
    if (sv_is(json_text(v, "command"), "inject") && im->base > 0)
        jw_kbool(&w, "deliver", true);
    return import_finish(im, &w, &b, id);
}

/* ---- relations ------------------------------------------------------------------------- */

static bool lists(const struct json *array, struct sv id)
{
    for (size_t i = 0; json_is(array, JSON_ARRAY) && i < array->n; i++)
        if (sv_eq(json_sv(&array->items[i]), id))
            return true;
    return false;
}

static const char *const relation_keys[] = { "children", "references_to", "referenced_by",
                                             "depends_on" };

/* Targets that the log has and the file, which knew them, no longer has. */
static enum status gone_edges(struct share_import *im, struct sv from, const struct json *targets,
                              struct jw *w, bool *any)
{
    struct sv *ours, row;
    size_t     n;
    bool       found;
    int64_t    seq = 0;

    if (share_ids(im->s, SHARE_TARGETS, from, im->a, &ours, &n, im->e))
        return err_code(im->e);
    jw_key(w, "remove");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        if (lists(targets, ours[i]))
            continue;
        if (share_row(im->s, key_of_names("edge", from, ours[i], im->a), &row, &found, im->e))
            return err_code(im->e);
        if (found && sv_to_int(row, &seq) && seq < im->base) {
            *any = true;
            jw_str(w, ours[i]);
        }
    }
    jw_close(w, ']');
    return ST_OK;
}

static enum status import_relation(struct share_import *im, const struct json_member *m)
{
    const struct json  *v = &m->value, *depends = json_find(v, "depends_on");
    struct share_thread t;
    struct sv           dep = { 0 }, old, extra;
    struct sb           b;
    bool                found, any = false;

    if (share_thread_find(im->s, m->key, &t, &found, im->e))
        return err_code(im->e);
    if (!found || v->type != JSON_OBJECT)
        return map_has(&im->there, m->key) || v->type != JSON_OBJECT
                   ? quarantine(im, "relations", m, "no thread has this id")
                   : ST_OK; /* of a thread that was removed */
    if (import_refs_all(im, m->key, json_find(v, "references_to")))
        return err_code(im->e);
    if (im->only_new)
        return ST_OK;
    struct jw w = import_start(&b, im, "relation");
    jw_kstr(&w, "id", m->key);
    if (gone_edges(im, m->key, json_find(v, "references_to"), &w, &any))
        return err_code(im->e);
    if (json_is(depends, JSON_ARRAY)) {
        dep = share_json_string_of(depends, im->a);
        if (share_row(im->s, key_of_name("dep", m->key, im->a), &old, &found, im->e))
            return err_code(im->e);
        if (found ? !sv_eq(old, dep) : depends->n > 0) {
            any = true;
            jw_kstr(&w, "depends_on", dep);
        }
    }
    extra = json_others(v, relation_keys, COUNT(relation_keys), im->a);
    if (share_row(im->s, key_of_name("relx", m->key, im->a), &old, &found, im->e))
        return err_code(im->e);
    if (extra.s && (!found || !sv_eq(old, extra))) {
        any = true;
        jw_kstr(&w, "extra", extra);
    }
    return any ? import_finish(im, &w, &b, (struct sv){ 0 }) : ST_OK;
}

/* ---- the root -------------------------------------------------------------------------- */

static bool sv_same(struct sv a, struct sv b)
{
    return a.s && b.s ? sv_eq(a, b) : a.s == b.s;
}

static enum status import_root(struct share_import *im, const struct json *doc)
{
    static const char *const root_keys[] = { "version", "metadata", "threads", "operations",
                                             "relations" };
    static const char *const meta_keys[] = { "last_updated", "thread_count" };
    const struct json       *metadata = json_find(doc, "metadata");
    struct sv                extra = json_others(doc, root_keys, COUNT(root_keys), im->a);
    struct sv                extra_meta = { 0 };
    struct share_meta        m;
    struct sb                b;

    if (json_is(metadata, JSON_OBJECT))
        extra_meta = json_others(metadata, meta_keys, COUNT(meta_keys), im->a);
    if (share_meta(im->s, &m, im->e))
        return err_code(im->e);
    if (im->only_new || (sv_same(m.extra, extra) && sv_same(m.extra_meta, extra_meta)))
        return ST_OK;
    struct jw w = import_start(&b, im, "root");
    put_text(&w, "extra", extra);
    put_text(&w, "extra_meta", extra_meta);
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

static enum status check_document(const struct json *doc, const char *const *sections,
                                  struct err *e)
{
    if (!sv_is(json_text(doc, "version"), "1.0"))
        return err_set(e, ST_INVALID_SYNTAX, "its version is not \"1.0\"");
    for (; *sections; sections++) {
        bool array = strcmp(*sections, "operations") == 0;
        if (!json_is(json_find(doc, *sections), array ? JSON_ARRAY : JSON_OBJECT))
            return err_set(e, ST_INVALID_SYNTAX, "it has no \"%s\"", *sections);
    }
    return ST_OK;
}

static enum status import_all(struct share_import *im, const struct json *doc)
{
    const struct json *threads = json_find(doc, "threads"), *ops = json_find(doc, "operations");
    const struct json *relations = json_find(doc, "relations");

    clock_parse_iso(json_text(json_find(doc, "metadata"), "last_updated"), &im->written);
    if (find_base(im, ops))
        return err_code(im->e);
    for (size_t i = 0; i < threads->n; i++)
        if (import_thread(im, &threads->members[i]))
            return err_code(im->e);
    for (size_t i = 0; i < ops->n; i++)
        if (import_operation(im, &ops->items[i]))
            return err_code(im->e);
    for (size_t i = 0; i < relations->n; i++)
        if (import_relation(im, &relations->members[i]))
            return err_code(im->e);
    if (!im->only_new && (share_threads(im->s, remove_thread, im, im->e) || forget_bad(im)))
        return err_code(im->e);
    return import_root(im, doc);
}

enum status import_relations(struct share *s, struct sv text, bool only_new, struct err *e)
{
    static const char *const sections[] = { "metadata", "threads", "operations", "relations",
                                            NULL };
    struct arena             scratch = { 0 };
    struct share_import      im = { .s = s, .a = &scratch, .only_new = only_new, .e = e };
    struct json              doc;
    enum status              r = json_parse(text, JSON_KEEP_ORDER, &scratch, &doc, e);

    im.there = map_in(&scratch);
    im.ops = map_in(&scratch);
    if (!r)
        r = check_document(&doc, sections, e);
    if (!r)
        r = import_all(&im, &doc);
    arena_free(&scratch);
    return r;
}

/* ---- objectives ------------------------------------------------------------------------ */

/* Read an objective from a file. Its status follows from its threads, which are listed with it. */
static bool objective_of_file(const struct json_member *m, struct arena *a,
                              struct share_objective *o)
{
    static const char *const more[] = { "status", "thread_ids", NULL };
    const struct json       *v = &m->value;
    struct err               ignored;

    *o = (struct share_objective){ 0 };
    record_of_file(v, &record_objective, a, o);
    if (!sv_eq(o->id, m->key) || name_check(o->id, "objective", &ignored) || !o->title.n ||
        !clock_parse_iso(json_text(v, "created_at"), &o->created))
        return false;
    if (!clock_parse_iso(json_text(v, "updated_at"), &o->updated))
        o->updated = o->created;
    o->extra = record_other_keys(v, &record_objective, more, a);
    return true;
}

/* Does the log have it as the file does? */
static bool is_same_objective(const struct share_objective *x, const struct share_objective *y)
{
    return sv_eq(x->title, y->title) && x->created == y->created && sv_same(x->extra, y->extra) &&
           sv_same(x->listed, y->listed);
}

static enum status import_objective(struct share_import *im, const struct json_member *m)
{
    const struct json     *ids = json_find(&m->value, "thread_ids");
    struct share_objective theirs, ours = { 0 };
    int64_t                deleted;
    bool                   found, gone;
    struct sb              b;
    struct sv              row;

    if (!objective_of_file(m, im->a, &theirs))
        return quarantine(im, "objectives", m, "it needs its id, a title and created_at");
    if (share_row(im->s, key_of_name("obj", theirs.id, im->a), &row, &found, im->e) ||
        (found && share_objective_read(row, im->a, &ours, im->e)) ||
        share_row(im->s, key_of_name("objgone", theirs.id, im->a), &row, &gone, im->e))
        return err_code(im->e);
    if (!found && gone && sv_to_int(row, &deleted) && theirs.updated <= deleted)
        return ST_OK; /* the file is older than the deletion */
    if (!ours.threads && json_is(ids, JSON_ARRAY) && ids->n)
        theirs.listed = share_json_string_of(ids, im->a);
    if (found)
        keep_erased(im, &record_objective, theirs.id, &ours, &theirs);
    if (found && (im->only_new || is_same_objective(&theirs, &ours)))
        return ST_OK;
    struct jw w = import_start(&b, im, "objective");
    record_entry_members(&w, &record_objective, &theirs);
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

enum status import_objectives(struct share *s, struct sv text, bool only_new, struct err *e)
{
    static const char *const sections[] = { "objectives", NULL };
    struct arena             scratch = { 0 };
    struct share_import      im = { .s = s, .a = &scratch, .only_new = only_new, .e = e };
    struct json              doc;
    enum status              r = json_parse(text, JSON_KEEP_ORDER, &scratch, &doc, e);

    if (!r)
        r = check_document(&doc, sections, e);
    const struct json *list = r ? NULL : json_find(&doc, "objectives");
    if (!r)
        clock_parse_iso(json_text(json_find(&doc, "metadata"), "last_updated"), &im.written);
    for (size_t i = 0; list && i < list->n && !r; i++)
        r = import_objective(&im, &list->members[i]);
    arena_free(&scratch);
    return r;
}
