/* The files as text: JSON.stringify(x, null, 2) with Leslie's order of keys, keys of other
 * programs after the known ones. Each item can be rendered alone, so that files.c can
 * replace one in a large file. */
#include "share/record.h"
#include "share/share_internal.h"

#include "base/map.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

#include <stdio.h>
#include <stdlib.h>

/* A writer for an item at depth 2 of a file, whose first line is written by the caller. */
static struct jw at_depth(struct sb *b, int depth)
{
    struct jw w = jw_in(b, 2);

    w.depth = depth;
    w.after_key = true; /* no line break in front */
    return w;
}

static void put_time(struct jw *w, const char *key, int64_t ms)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    sb_add_iso_ms(&b, ms);
    jw_kstr(w, key, sb_sv(&b));
    arena_free(&scratch);
}

static void put_members(struct jw *w, struct sv object)
{
    struct arena scratch = { 0 };
    struct json  v;
    struct err   ignored;

    if (object.s && json_parse(object, JSON_KEEP_ORDER, &scratch, &v, &ignored) == ST_OK &&
        v.type == JSON_OBJECT)
        for (size_t i = 0; i < v.n; i++) {
            jw_key_sv(w, v.members[i].key);
            jw_json(w, &v.members[i].value);
        }
    arena_free(&scratch);
}

struct sv render_thread(const struct share_thread *t, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = at_depth(&b, 2);

    jw_open(&w, '{');
    record_thread_file_members(&w, t);
    put_members(&w, t->extra);
    jw_close(&w, '}');
    return sb_sv(&b);
}

struct sv render_registry_thread(const struct share_thread *t, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = at_depth(&b, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "id", t->id);
    jw_kstr(&w, "title", t->title);
    jw_kstr(&w, "objective", t->objective);
    jw_kstr(&w, "status", sv_of(thread_status_name(t->status)));
    jw_kstr(&w, "parent_id", t->parent);
    put_time(&w, "updated_at", t->updated);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* What stands in a relation; depends_on and extra are JSON, absent when there is none. */
struct relation_text {
    struct ids {
        struct sv *v;
        size_t     n;
    } lists[3];
    struct sv depends, extra;
};

static int by_id(const void *a, const void *b)
{
    return sv_cmp(*(const struct sv *)a, *(const struct sv *)b);
}

/* Children and targets stand as they were made. Referrers come from the other end of each edge,
 * which a clone imports in another order: they are sorted by id, so that every clone writes the
 * same bytes. */
static struct sv relation_text(const struct relation_text *r, struct arena *a)
{
    static const struct {
        const char *name;
        bool        sorted;
    } lists[] = { { "children", false }, { "references_to", false }, { "referenced_by", true } };
    struct sb b = sb_in(a, 0);
    struct jw w = at_depth(&b, 2);

    jw_open(&w, '{');
    for (size_t k = 0; k < COUNT(lists); k++) {
        if (lists[k].sorted && r->lists[k].n)
            qsort(r->lists[k].v, r->lists[k].n, sizeof *r->lists[k].v, by_id);
        jw_key(&w, lists[k].name);
        jw_open(&w, '[');
        for (size_t i = 0; i < r->lists[k].n; i++)
            jw_str(&w, r->lists[k].v[i]);
        jw_close(&w, ']');
    }
    jw_key(&w, "depends_on");
    record_put_json(&w, r->depends.s ? r->depends : SV("[]"));
    put_members(&w, r->extra);
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status render_relation(struct share *s, struct sv id, struct arena *a, struct sv *out,
                            struct err *e)
{
    static const enum share_list which[] = { SHARE_CHILDREN, SHARE_TARGETS, SHARE_REFERRERS };
    struct relation_text         r = { 0 };
    struct rows                  rows = rows_of_share(s, a);
    struct sv                    keys[] = { key_of_name("dep", id, a), key_of_name("relx", id, a) };
    struct sv                    values[COUNT(keys)];

    if (rows_get_many(&rows, keys, COUNT(keys), values, e))
        return err_code(e);
    r.depends = values[0];
    r.extra = values[1];
    for (size_t k = 0; k < COUNT(which); k++)
        if (share_ids(s, which[k], id, a, &r.lists[k].v, &r.lists[k].n, e))
            return err_code(e);
    *out = relation_text(&r, a);
    return ST_OK;
}

static void put_params(struct jw *w, const struct entry *n, const struct json *p)
{
    const char *const *names = share_params(json_text(p, "operation"));

    jw_key(w, "params");
    jw_open(w, '{');
    for (; names && *names; names++) {
        const struct json *v = json_find(p, *names);
        if (sv_is(sv_of(*names), "from_id"))
            v = json_find(p, "from");
        if (sv_is(sv_of(*names), "to_id"))
            v = json_find(p, "target");
        if (sv_is(sv_of(*names), "scope") && json_find(p, "given_scope"))
            v = json_find(p, "given_scope");
        jw_key(w, *names);
        if (v)
            jw_json(w, v);
        else
            jw_null(w);
    }
    if (!sv_is(n->actor, "user") && !sv_is(n->actor, "system"))
        jw_kstr(w, "actor", n->actor);
    jw_close(w, '}');
}

enum status render_operation(const struct entry *n, struct arena *a, struct sv *out, struct err *e)
{
    struct sb   b = sb_in(a, 0);
    struct jw   w = at_depth(&b, 2);
    struct json p;

    if (json_parse(skeleton_shown(n, a), 0, a, &p, e))
        return err_code(e);
    struct sv raw = json_text(&p, "record");
    if (sv_is(json_text(&p, "operation"), "import")) { /* another program's row, as it was */
        if (raw.s)
            record_put_json(&w, raw);
        *out = raw.s ? sb_sv(&b) : (struct sv){ 0 };
        return ST_OK;
    }
    jw_open(&w, '{');
    jw_kstr(&w, "id", n->op_id);
    put_time(&w, "timestamp", n->at);
    jw_kstr(&w, "command", json_text(&p, "operation"));
    jw_kstr(&w, "operator", json_text(&p, "operator"));
    put_params(&w, n, &p);
    jw_close(&w, '}');
    *out = sb_sv(&b);
    return ST_OK;
}

struct sv render_metadata(const struct share_meta *m, enum share_file_id which, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = at_depth(&b, 1);

    jw_open(&w, '{');
    put_time(&w, "last_updated", which == FILE_OBJECTIVES ? m->objectives_at : m->at);
    if (which == FILE_OBJECTIVES)
        jw_kint(&w, "objective_count", m->objectives);
    else
        jw_kint(&w, "thread_count", m->threads);
    if (which == FILE_RELATIONS)
        put_members(&w, m->extra_meta);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- whole files ----------------------------------------------------------------------- */

/* An item that waits for its place in the order of time. */
struct waiting {
    int64_t   at, seq;
    struct sv key, text;
};

struct writer {
    struct share *s;
    bool          sorts; /* items wait until close_items() */
    VEC(struct waiting) waiting;
    struct sb    *out;
    bool          any, registry;
    struct map    columns[5]; /* see `columns` */
    struct arena *a;
};

static void item(struct writer *w, struct sv key, struct sv text)
{
    sb_adds(w->out, w->any ? ",\n    " : "\n    ");
    w->any = true;
    if (key.s) {
        sb_add_json_string(w->out, key);
        sb_adds(w->out, ": ");
    }
    sb_add(w->out, text);
}

static int by_time(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* An item with its time. The arena is kept as far as it is needed. */
static void timed_item(struct writer *w, struct arena_mark m, struct waiting x)
{
    if (w->sorts) {
        x.key = x.key.s ? sv_dup(x.key, w->a) : x.key;
        *vec_push(&w->waiting, w->a) = x;
        return;
    }
    item(w, x.key, x.text);
    arena_reset(w->a, m);
}

static void put_waiting(struct writer *w)
{
    if (w->waiting.n)
        qsort(w->waiting.v, w->waiting.n, sizeof *w->waiting.v, by_time);
    for (size_t i = 0; i < w->waiting.n; i++)
        item(w, w->waiting.v[i].key, w->waiting.v[i].text);
    w->waiting.n = 0;
}

static void close_items(struct writer *w, const char *bracket)
{
    sb_addf(w->out, "%s%s", w->any ? "\n  " : "", bracket);
    w->any = false;
}

static enum status each_thread(void *ctx, const struct share_thread *t, struct err *e)
{
    struct writer    *w = ctx;
    struct arena_mark m = arena_mark(w->a);

    (void)e;
    struct sv text = w->registry ? render_registry_thread(t, w->a) : render_thread(t, w->a);
    timed_item(w, m, (struct waiting){ t->created, t->seq, t->id, text });
    return ST_OK;
}

/* The values of all rows below a prefix, by the id that follows it: one scan for all relations
 * where one each would take as many statements. */
struct growing {
    VEC(struct sv) list;
};

struct column {
    struct arena   *a;
    struct map     *out;
    size_t          prefix; /* bytes of it */
    struct growing *last;
    struct sv       last_id;
};

static bool add_to_column(void *ctx, const struct store_row *row)
{
    struct column *c = ctx;
    struct sv      id = sv_cut(sv_skip(row->key, c->prefix), '/').head;

    if (!c->last || !sv_eq(id, c->last_id)) {
        c->last = ARENA_NEW(c->a, struct growing, 1);
        c->last_id = sv_dup(id, c->a);
        map_put(c->out, c->last_id, c->last);
    }
    *vec_push(&c->last->list, c->a) = sv_dup(row->value, c->a);
    return true;
}

static enum status load_column(struct writer *w, const char *prefix, struct map *out, struct err *e)
{
    struct rows   r = rows_of_share(w->s, w->a);
    struct column c = { .a = w->a, .out = out, .prefix = sv_of(prefix).n };

    *out = map_in(w->a);
    return row_each(&r, sv_of(prefix), (struct sv){ 0 }, false, add_to_column, &c, e);
}

static const char *const columns[] = { "child/", "to/", "by/", "dep/", "relx/" };

static enum status each_relation(void *ctx, const struct share_thread *t, struct err *e)
{
    struct writer       *w = ctx;
    struct arena_mark    m = arena_mark(w->a);
    struct relation_text r = { 0 };

    (void)e;
    for (size_t k = 0; k < COUNT(columns); k++) {
        const struct growing *g = map_find(&w->columns[k], t->id);
        if (!g)
            continue;
        if (k < COUNT(r.lists))
            r.lists[k] = (struct ids){ g->list.v, g->list.n };
        else
            *(k == 3 ? &r.depends : &r.extra) = g->list.v[0];
    }
    timed_item(w, m, (struct waiting){ t->created, t->seq, t->id, relation_text(&r, w->a) });
    return ST_OK;
}

static enum status all_relations(struct writer *w, struct err *e)
{
    for (size_t k = 0; k < COUNT(columns); k++)
        if (load_column(w, columns[k], &w->columns[k], e))
            return err_code(e);
    return share_threads(w->s, each_relation, w, e);
}

/* Rows of other programs that no rule covers, as they were. */
static enum status bad_items(struct writer *w, const char *section, struct err *e)
{
    struct sv prefix = key_of_names("bad", sv_of(section), SV(""), w->a), *keys, *values;
    size_t    n;

    if (share_rows_below(w->s, prefix, true, w->a, &keys, &n, e) ||
        share_rows_below(w->s, prefix, false, w->a, &values, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(w->a, 0);
        struct jw j = at_depth(&b, 2);
        record_put_json(&j, values[i]);
        item(w, keys[i], sb_sv(&b));
    }
    return ST_OK;
}

static enum status all_operations(struct writer *w, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = SHARE_GLOBAL, .to = STORE_TO_END };
    struct entry                           n;
    bool                                   more;

    if (log_scan(w->s->log, &q, &scan, e))
        return err_code(e);
    for (;;) {
        struct arena_mark  m = arena_mark(w->a);
        struct share_touch touch;
        struct sv          text = { 0 };
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (share_touch(&n, w->a, &touch, e) ||
            (touch.is_operation && render_operation(&n, w->a, &text, e)))
            return err_code(e);
        if (!text.s) {
            arena_reset(w->a, m);
            continue;
        }
        int64_t     at = n.at;
        struct json p;
        if (w->sorts && json_parse(n.payload, 0, w->a, &p, e))
            return err_code(e);
        if (w->sorts)
            at = share_op_time(&n, &p, w->a);
        timed_item(w, m, (struct waiting){ at, n.seq, { 0 }, text });
    }
}

static enum status relations_file(struct writer *w, const struct share_meta *m, struct err *e)
{
    struct jw jw = at_depth(w->out, 1);

    sb_adds(w->out, "{\n  \"version\": \"1.0\",\n  \"metadata\": ");
    sb_add(w->out, render_metadata(m, FILE_RELATIONS, w->a));
    sb_adds(w->out, ",\n  \"threads\": {");
    w->sorts = m->unsorted;
    if (share_threads(w->s, each_thread, w, e))
        return err_code(e);
    put_waiting(w);
    if (bad_items(w, "threads", e))
        return err_code(e);
    close_items(w, "},\n  \"operations\": [");
    if (all_operations(w, e))
        return err_code(e);
    put_waiting(w);
    close_items(w, "],\n  \"relations\": {");
    if (all_relations(w, e))
        return err_code(e);
    put_waiting(w);
    if (bad_items(w, "relations", e))
        return err_code(e);
    close_items(w, "}");
    jw.comma = true;
    jw.after_key = false;
    put_members(&jw, m->extra);
    sb_adds(w->out, "\n}\n");
    return ST_OK;
}

static enum status registry_file(struct writer *w, const struct share_meta *m, struct err *e)
{
    w->registry = true;
    sb_adds(w->out, "{\n  \"version\": \"1.0\",\n  \"metadata\": ");
    sb_add(w->out, render_metadata(m, FILE_REGISTRY, w->a));
    sb_adds(w->out, ",\n  \"threads\": {");
    if (share_threads(w->s, each_thread, w, e))
        return err_code(e);
    close_items(w, "}\n}\n");
    return ST_OK;
}

enum status render_objective(struct share *s, const struct share_objective *o, struct arena *a,
                             struct sv *out, struct err *e)
{
    struct sb  b = sb_in(a, 0);
    struct jw  j = at_depth(&b, 2);
    struct sv *ids;
    size_t     n;

    if (share_ids(s, SHARE_MEMBERS, o->id, a, &ids, &n, e))
        return err_code(e);
    jw_open(&j, '{');
    record_file_members(&j, &record_objective, o);
    jw_kstr(&j, "status", sv_of(share_objective_status_of(o)));
    jw_key(&j, "thread_ids");
    if (!n && o->listed.s) {
        record_put_json(&j, o->listed);
    } else {
        jw_open(&j, '[');
        for (size_t i = 0; i < n; i++)
            jw_str(&j, ids[i]);
        jw_close(&j, ']');
    }
    put_members(&j, o->extra);
    jw_close(&j, '}');
    *out = sb_sv(&b);
    return ST_OK;
}

static enum status objectives_file(struct writer *w, const struct share_meta *m, struct err *e)
{
    struct share_objective *all;
    size_t                  n;

    if (share_objectives(w->s, w->a, &all, &n, e))
        return err_code(e);
    sb_adds(w->out, "{\n  \"version\": \"1.0\",\n  \"objectives\": {");
    for (size_t i = 0; i < n; i++) {
        struct sv text;
        if (render_objective(w->s, &all[i], w->a, &text, e))
            return err_code(e);
        item(w, all[i].id, text);
    }
    if (bad_items(w, "objectives", e))
        return err_code(e);
    close_items(w, "},\n  \"metadata\": ");
    sb_add(w->out, render_metadata(m, FILE_OBJECTIVES, w->a));
    sb_adds(w->out, "\n}\n");
    return ST_OK;
}

enum status render_file(struct share *s, enum share_file_id which, struct sb *out, struct err *e)
{
    struct arena      scratch = { 0 };
    struct writer     w = { .s = s, .out = out, .a = &scratch };
    struct share_meta m;
    enum status       r = share_meta(s, &m, e);

    if (!r)
        r = which == FILE_RELATIONS    ? relations_file(&w, &m, e)
            : which == FILE_OBJECTIVES ? objectives_file(&w, &m, e)
                                       : registry_file(&w, &m, e);
    arena_free(&scratch);
    return r;
}

/* context/live/.refs.json: where the names of live references lead. */
struct sv render_refs(const struct share_ref *refs, size_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "version", SV("1.0"));
    jw_key(&w, "refs");
    jw_open(&w, '{');
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < refs[i].n_files; k++) {
            const struct share_file *f = &refs[i].files[k];
            jw_key_sv(&w, f->place);
            jw_open(&w, '{');
            record_file_members(&w, &record_reference, &refs[i]);
            jw_kstr(&w, "remote_path", share_path(refs[i].target, "", f->source, a));
            jw_kstr(&w, "binding", SV("live"));
            put_time(&w, "created_at", refs[i].at);
            jw_close(&w, '}');
        }
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return sb_sv(&b);
}

/* context/.frozen.json: whose copy lies where below context/inherited/, so that a clone without the
 * log knows it too. A copy that two references hold stands there once. */
struct sv render_frozen(const struct share_ref *refs, size_t n, struct arena *a)
{
    struct sb  b = sb_in(a, 0);
    struct jw  w = jw_in(&b, 2);
    struct map seen = map_in(a);

    jw_open(&w, '{');
    jw_kstr(&w, "version", SV("1.0"));
    jw_key(&w, "copies");
    jw_open(&w, '{');
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < refs[i].n_files; k++) {
            const struct share_file *f = &refs[i].files[k];
            if (map_has(&seen, f->place) || share_hash_is_erased(f->hash))
                continue;
            map_put(&seen, f->place, (void *)f);
            jw_key_sv(&w, f->place);
            jw_open(&w, '{');
            record_file_members(&w, &record_reference, &refs[i]);
            record_file_members(&w, &record_copy, f);
            put_time(&w, "copied_at", refs[i].at);
            jw_close(&w, '}');
        }
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return sb_sv(&b);
}
