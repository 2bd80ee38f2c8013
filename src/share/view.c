/* The fold behind everything this room shows. One entry is one operation; its payload has
 * `operation`, `operator` and the facts below. Rows of the thread `.global`:
 *
 *     meta                  {at, objectives, threads}: last change, counts
 *     rev                   one more than the seq of the last operation: what the files are for
 *     obj/ID                an objective            objorder/SEQ    its id
 *     objgone/ID            when an objective was deleted, in ms: an older file does not bring it
 *                           back
 *     thread/ID             a thread, with the seq of the entry that made it
 *     member/OBJECTIVE/ID   a thread of an objective
 *     child/PARENT/SEQ      the id of a child
 *     ref/FROM/SEQ          a reference; inh/THREAD/SEQ what spawn --inherit copied
 *     to/FROM/SEQ           a distinct target; by/TARGET/SEQ the other end; edge/FROM/TARGET SEQ
 *     kept/FROM/REF         a reference that was dropped or bound otherwise, as it was before: it
 *                           can be taken up again, so its content counts as used
 *     spot/THREAD/PLACE     SOURCE-THREAD/PATH: whose place this is below context/inherited/. It
 *                           stays when the copy goes, so that no path ever leads to another's file
 *     snap/THREAD/PLACE     how many references hold the frozen copy at that place
 *     blob/HASH             how many frozen copies, kept ones and merged files have this content
 *     dep/ID                depends_on, relx/ID unknown keys of a relation
 *     opid/OP               the seq of an operation
 *     inject/THREAD/SEQ     an injection that has not been delivered
 *     merged/TARGET/SOURCE/PATH
 *                           "THEIRS BEFORE": hashes of what the last merge took and what was there
 *     broken/FROM/TARGET    a reference whose target is not there
 *     worker/THREAD         the process that works on a thread
 *     bad/SECTION/KEY       a value of another program that no rule covers, kept as it is
 */
#include "share/share_internal.h"

#include "base/map.h"
#include "base/path.h"
#include "thread/kind.h"

struct op {
    struct fold        *f;
    const struct entry *n;
    const struct json  *p;
    struct err         *e;
};

static enum status get(struct op *o, struct sv key, struct sv *row, bool *found)
{
    return fold_get(o->f, key, row, found, o->e);
}

static enum status put(struct op *o, struct sv key, struct sv row)
{
    return fold_put(o->f, key, row, o->e);
}

static enum status del(struct op *o, struct sv key)
{
    return fold_del(o->f, key, o->e);
}

static struct sv text(const struct op *o, const char *key)
{
    return json_text(o->p, key);
}

static struct sv seq_text(int64_t seq, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_int(&b, seq);
    return sb_sv(&b);
}

/* ---- parts of rows ------------------------------------------------------------------ */

static enum status find_thread(struct op *o, struct sv id, struct share_thread *t, bool *found)
{
    struct sv row;

    if (get(o, key_of_name("thread", id, o->f->a), &row, found))
        return err_code(o->e);
    return *found ? thread_read(row, o->f->a, t, o->e) : ST_OK;
}

static enum status save_thread(struct op *o, const struct share_thread *t)
{
    return put(o, key_of_name("thread", t->id, o->f->a), thread_row(t, o->f->a));
}

/* When a change was made: an import says when the file was written, so that a clone that only reads
 * gives the files the bytes they have. `in_objective`: the time of the row itself counts. */
static int64_t time_of(struct op *o, int64_t not_before, bool in_objective)
{
    int64_t written, updated;

    if (!json_int(json_find(o->p, "written"), &written))
        return o->n->at;
    if (in_objective && json_int(json_find(o->p, "updated"), &updated))
        written = updated;
    return written > not_before ? written : not_before;
}

static enum status change_meta(struct op *o, int threads, int objectives, bool in_objective)
{
    struct share_meta m = { 0 };
    struct sv         row;
    bool              found;

    if (get(o, SV("meta"), &row, &found) || (found && meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    m.at = time_of(o, m.at, false);
    if (in_objective)
        m.objectives_at = time_of(o, m.objectives_at, true);
    m.threads += threads;
    m.objectives += objectives;
    return put(o, SV("meta"), meta_row(&m, o->f->a));
}

/* Add to the counts of an objective; one that is not there has none. */
static enum status count_in_objective(struct op *o, struct sv id, int threads, int open)
{
    struct sv              key = key_of_name("obj", id, o->f->a), row;
    struct share_objective obj;
    bool                   found;

    if (get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (objective_read(row, o->f->a, &obj, o->e))
        return err_code(o->e);
    obj.threads += threads;
    obj.open += open;
    obj.updated = time_of(o, obj.updated, true);
    if (put(o, key, objective_row(&obj, o->f->a)))
        return err_code(o->e);
    return change_meta(o, 0, 0, true);
}

static enum status set_status(struct op *o, struct share_thread *t, enum thread_status to)
{
    int open = (thread_has_ended(to) ? 0 : 1) - (thread_has_ended(t->status) ? 0 : 1);

    t->status = to;
    t->updated = o->n->at;
    if (save_thread(o, t))
        return err_code(o->e);
    return count_in_objective(o, t->objective, 0, open);
}

static enum status add_thread(struct op *o, const struct share_thread *t)
{
    struct arena *a = o->f->a;

    if (save_thread(o, t) || del(o, key_pair("bad", SV("threads"), t->id, a)) ||
        del(o, key_pair("bad", SV("relations"), t->id, a)) ||
        put(o, key_pair("member", t->objective, t->id, a), SV("")) ||
        count_in_objective(o, t->objective, 1, thread_has_ended(t->status) ? 0 : 1))
        return err_code(o->e);
    if (t->parent.s && put(o, key_seq("child", t->parent, t->seq, a), t->id))
        return err_code(o->e);
    return change_meta(o, 1, 0, false);
}

static enum status drop_thread(struct op *o, const struct share_thread *t)
{
    struct arena *a = o->f->a;

    if (del(o, key_of_name("thread", t->id, a)) ||
        del(o, key_pair("member", t->objective, t->id, a)) ||
        count_in_objective(o, t->objective, -1, thread_has_ended(t->status) ? 0 : -1))
        return err_code(o->e);
    if (t->parent.s && del(o, key_seq("child", t->parent, t->seq, a)))
        return err_code(o->e);
    return change_meta(o, -1, 0, false);
}

/* All rows below a prefix, read before any is changed. */
static enum status rows_of(struct op *o, struct sv prefix, struct store_row **out, size_t *n)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query q = { .thread = o->f->thread, .view = o->f->view, .prefix = prefix };
    struct store_row       row;
    VEC(struct store_row) list = { 0 };
    bool more;

    if (store_rows(o->f->store, &q, &rows, o->e))
        return err_code(o->e);
    for (;;) {
        if (store_rows_next(rows, &row, &more, o->e))
            return err_code(o->e);
        if (!more)
            break;
        *vec_push(&list, o->f->a) =
            (struct store_row){ sv_dup(row.key, o->f->a), sv_dup(row.value, o->f->a) };
    }
    *out = list.v;
    *n = list.n;
    return ST_OK;
}

/* ---- edges ------------------------------------------------------------------------- */

static enum status add_edge(struct op *o, struct sv from, struct sv target, bool missing,
                            int64_t seq)
{
    struct arena *a = o->f->a;
    struct sv     row, edge = key_pair("edge", from, target, a);
    bool          found;

    if (missing && put(o, key_pair("broken", from, target, a), seq_text(seq, a)))
        return err_code(o->e);
    if (get(o, edge, &row, &found))
        return err_code(o->e);
    if (found)
        return ST_OK;
    if (put(o, edge, seq_text(seq, a)) || put(o, key_seq("to", from, seq, a), target))
        return err_code(o->e);
    return put(o, key_seq("by", target, seq, a), from);
}

/* Those who waited for this id are whole again. */
static enum status mend(struct op *o, struct sv id)
{
    struct store_row *by;
    size_t            n;

    if (rows_of(o, key_pair("by", id, SV(""), o->f->a), &by, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (del(o, key_pair("broken", by[i].value, id, o->f->a)))
            return err_code(o->e);
    return ST_OK;
}

/* ---- frozen copies ------------------------------------------------------------------ */

/* Add to a row that counts; a count of nothing is no row. */
static enum status count_row(struct op *o, struct sv key, int by)
{
    struct sv row;
    int64_t   n = 0;
    bool      found;

    if (get(o, key, &row, &found))
        return err_code(o->e);
    if (found)
        sv_to_int(row, &n);
    n += by;
    return n > 0 ? put(o, key, seq_text(n, o->f->a)) : found ? del(o, key) : ST_OK;
}

static enum status count_blobs(struct op *o, const struct share_ref *r, int by)
{
    for (size_t i = 0; i < r->n_files && r->frozen; i++)
        if (count_row(o, key_of_name("blob", r->files[i].hash, o->f->a), by))
            return err_code(o->e);
    return ST_OK;
}

static enum status count_places(struct op *o, const struct share_ref *r, int by)
{
    struct arena *a = o->f->a;

    for (size_t i = 0; i < r->n_files && r->frozen; i++) {
        struct sv place = r->files[i].place;
        if (count_row(o, key_pair("snap", r->from, place, a), by) ||
            (by > 0 && put(o, key_pair("spot", r->from, place, a),
                           path_join(r->target, r->files[i].source, a))))
            return err_code(o->e);
    }
    return ST_OK;
}

static enum status add_copies(struct op *o, const struct share_ref *r)
{
    return count_places(o, r, 1) ? err_code(o->e) : count_blobs(o, r, 1);
}

static enum status drop_copies(struct op *o, const struct share_ref *r)
{
    return count_places(o, r, -1) ? err_code(o->e) : count_blobs(o, r, -1);
}

/* A source file has one copy in a thread, however many references cover it: another reference that
 * has it too has it as it is now. */
static enum status align_row(struct op *o, const struct store_row *row, const struct share_ref *r,
                             const struct map *now)
{
    struct share_ref other;
    bool             changed = false;

    if (ref_read(row->value, o->f->a, &other, o->e))
        return err_code(o->e);
    if (!other.frozen || !sv_eq(other.target, r->target) || count_blobs(o, &other, -1))
        return other.frozen && sv_eq(other.target, r->target) ? err_code(o->e) : ST_OK;
    for (size_t i = 0; i < other.n_files; i++) {
        const struct share_file *f = map_find(now, other.files[i].place);
        if (!f || !sv_eq(f->source, other.files[i].source))
            continue;
        changed = changed || !sv_eq(f->hash, other.files[i].hash);
        other.files[i].hash = f->hash;
        other.files[i].size = f->size;
        other.files[i].mode = f->mode;
    }
    if (count_blobs(o, &other, 1))
        return err_code(o->e);
    return changed ? put(o, row->key, ref_row(&other, o->f->a)) : ST_OK;
}

static enum status align_others(struct op *o, struct sv key, const struct share_ref *r)
{
    static const char *const prefixes[] = { "ref", "inh" };
    struct map               now = map_in(o->f->a);
    struct store_row        *rows;
    size_t                   n;

    if (!r->frozen || !r->n_files)
        return ST_OK;
    for (size_t i = 0; i < r->n_files; i++)
        map_put(&now, r->files[i].place, &r->files[i]);
    for (size_t k = 0; k < COUNT(prefixes); k++) {
        if (rows_of(o, key_pair(prefixes[k], r->from, SV(""), o->f->a), &rows, &n))
            return err_code(o->e);
        for (size_t i = 0; i < n; i++)
            if (!sv_eq(rows[i].key, key) && align_row(o, &rows[i], r, &now))
                return err_code(o->e);
    }
    return ST_OK;
}

/* What the source had is kept: it is what the next merge compares with. */
static enum status fold_merged(struct op *o, const struct json *file)
{
    struct sv key = share_merged_key(text(o, "target"), json_text(file, "source"),
                                     json_text(file, "path"), o->f->a);
    struct sv theirs = json_text(file, "theirs"), after = json_text(file, "after"), row;
    bool      found;
    struct sb b = sb_in(o->f->a, 0);

    if (get(o, key, &row, &found) ||
        (found && count_row(o, key_of_name("blob", sv_cut(row, ' ').head, o->f->a), -1)))
        return err_code(o->e);
    if (!theirs.n || !after.n)
        return found ? del(o, key) : ST_OK;
    sb_addf(&b, SV_FMT " " SV_FMT, SV_ARG(theirs), SV_ARG(json_text(file, "before")));
    return put(o, key, sb_sv(&b)) ? err_code(o->e)
                                  : count_row(o, key_of_name("blob", theirs, o->f->a), 1);
}

/* ---- references ------------------------------------------------------------------------ */

static bool same_scope(const struct share_ref *a, const struct share_ref *b)
{
    if (a->n_scope != b->n_scope || a->frozen != b->frozen || !sv_eq(a->target, b->target))
        return false;
    for (size_t i = 0; i < a->n_scope; i++)
        if (!sv_eq(a->scope[i], b->scope[i]))
            return false;
    return true;
}

/* The row of a reference: the one it repeats (the same target, scope and binding), or, `by_id`, the
 * one of that id. *found false: *key is that of a new row. */
static enum status ref_slot(struct op *o, const struct share_ref *r, bool by_id, struct sv *key,
                            struct share_ref *old, bool *found)
{
    const char       *prefix = r->inherit ? "inh" : "ref";
    struct store_row *rows;
    size_t            n;

    *found = false;
    *key = key_seq(prefix, r->from, o->n->seq, o->f->a);
    if (rows_of(o, key_pair(prefix, r->from, SV(""), o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n && !*found; i++) {
        if (ref_read(rows[i].value, o->f->a, old, o->e))
            return err_code(o->e);
        *found =
            by_id ? sv_eq(old->id, r->id) && sv_eq(old->target, r->target) : same_scope(old, r);
        if (*found)
            *key = rows[i].key;
    }
    return ST_OK;
}

/* What a reference was before: kept until it is taken up again or kept anew. */
static enum status forget_kept(struct op *o, struct sv from, struct sv id)
{
    struct sv        key = key_pair("kept", from, id, o->f->a), row;
    struct share_ref old;
    bool             found;

    if (get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (ref_read(row, o->f->a, &old, o->e) || count_blobs(o, &old, -1))
        return err_code(o->e);
    return del(o, key);
}

static enum status keep(struct op *o, const struct share_ref *old)
{
    if (forget_kept(o, old->from, old->id) || count_blobs(o, old, 1))
        return err_code(o->e);
    return put(o, key_pair("kept", old->from, old->id, o->f->a), ref_row(old, o->f->a));
}

static enum status put_ref(struct op *o, struct sv key, const struct share_ref *r)
{
    if (add_copies(o, r) || align_others(o, key, r))
        return err_code(o->e);
    return put(o, key, ref_row(r, o->f->a));
}

static enum status save_ref(struct op *o, struct share_ref *r)
{
    struct share_ref old;
    struct sv        key;
    bool             found;

    r->seq = o->n->seq;
    if (ref_slot(o, r, false, &key, &old, &found) || (found && drop_copies(o, &old)))
        return err_code(o->e);
    return put_ref(o, key, r);
}

static enum status drop_refs(struct op *o, const char *prefix, struct sv from, struct sv target)
{
    struct store_row *rows;
    struct share_ref  r;
    size_t            n;
    bool              kept = prefix[0] == 'k'; /* those hold no place */

    if (rows_of(o, key_pair(prefix, from, SV(""), o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++) {
        if (ref_read(rows[i].value, o->f->a, &r, o->e))
            return err_code(o->e);
        if (target.s && !sv_eq(r.target, target))
            continue;
        if ((kept ? count_blobs(o, &r, -1) : drop_copies(o, &r)) || del(o, rows[i].key))
            return err_code(o->e);
    }
    return ST_OK;
}

/* The edge alone: no reference goes along it any more. */
static enum status drop_line(struct op *o, struct sv from, struct sv target)
{
    struct arena *a = o->f->a;
    struct sv     row, edge = key_pair("edge", from, target, a);
    bool          found;
    int64_t       seq = 0;

    if (get(o, edge, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    sv_to_int(row, &seq);
    if (del(o, edge) || del(o, key_seq("to", from, seq, a)) ||
        del(o, key_seq("by", target, seq, a)))
        return err_code(o->e);
    return del(o, key_pair("broken", from, target, a));
}

static enum status drop_edge(struct op *o, struct sv from, struct sv target)
{
    return drop_line(o, from, target) ? err_code(o->e) : drop_refs(o, "ref", from, target);
}

/* ---- operations --------------------------------------------------------------------- */

static enum status fold_objective(struct op *o)
{
    struct arena          *a = o->f->a;
    struct share_objective obj = { .id = text(o, "id"),
                                   .title = text(o, "title"),
                                   .created = o->n->at,
                                   .updated = o->n->at,
                                   .seq = o->n->seq };
    struct store_row      *members;
    struct share_thread    t;
    bool                   found;
    size_t                 n;

    /* Threads may have named it before it came. */
    if (rows_of(o, key_pair("member", obj.id, SV(""), a), &members, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++) {
        struct sv id = sv_cut_last(members[i].key, '/').tail;
        if (find_thread(o, id, &t, &found))
            return err_code(o->e);
        obj.threads += found;
        obj.open += found && !thread_has_ended(t.status);
    }
    if (put(o, key_of_name("obj", obj.id, a), objective_row(&obj, a)) ||
        del(o, key_of_name("objgone", obj.id, a)) ||
        put(o, key_of_seq("objorder", obj.seq, a), obj.id))
        return err_code(o->e);
    return change_meta(o, 0, 1, true);
}

static enum status fold_spawn(struct op *o)
{
    const struct json  *copied = json_find(o->p, "inherited");
    struct share_thread t = {
        .id = text(o, "thread_id"),
        .title = text(o, "intent"),
        .objective = text(o, "objective"),
        .parent = text(o, "parent_id"),
        .executor = text(o, "executor"),
        .mode = text(o, "mode"),
        .tags = text(o, "tags"),
        .status = THREAD_ACTIVE,
        .created = o->n->at,
        .updated = o->n->at,
        .seq = o->n->seq,
    };
    struct share_ref r;

    if (add_thread(o, &t) || mend(o, t.id))
        return err_code(o->e);
    if (t.parent.s) {
        struct sb b = sb_in(o->f->a, 0);
        sb_addc(&b, '[');
        sb_add_json_string(&b, t.parent);
        sb_addc(&b, ']');
        if (put(o, key_of_name("dep", t.id, o->f->a), sb_sv(&b)))
            return err_code(o->e);
    }
    if (!json_is(copied, JSON_OBJECT))
        return ST_OK;
    if (ref_of_json(copied, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    return save_ref(o, &r);
}

static enum status fold_reference(struct op *o)
{
    struct share_ref r;

    if (ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    if (save_ref(o, &r) || forget_kept(o, r.from, r.id) ||
        add_edge(o, r.from, r.target, r.missing, o->n->seq))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

/* New copies for a reference that is there; one that was dropped meanwhile stays dropped. */
static enum status fold_refresh(struct op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found;

    if (ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    r.seq = o->n->seq;
    if (ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    if (found && (drop_copies(o, &old) || put_ref(o, key, &r)))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status has_refs(struct op *o, struct sv from, struct sv target, bool *any)
{
    struct store_row *rows;
    struct share_ref  r;
    size_t            n;

    *any = false;
    if (rows_of(o, key_pair("ref", from, SV(""), o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n && !*any; i++) {
        if (ref_read(rows[i].value, o->f->a, &r, o->e))
            return err_code(o->e);
        *any = sv_eq(r.target, target);
    }
    return ST_OK;
}

static enum status fold_unreference(struct op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found, any;

    if (ref_of_json(o->p, o->f->a, &r, o->e) || ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (keep(o, &old) || drop_copies(o, &old) || del(o, key) ||
        has_refs(o, r.from, r.target, &any) || (!any && drop_line(o, r.from, r.target)))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

/* Bound otherwise, or taken up again after it was dropped. */
static enum status fold_rebind(struct op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found;

    if (ref_of_json(o->p, o->f->a, &r, o->e) || ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    r.seq = o->n->seq;
    if (!r.at)
        r.at = o->n->at;
    if (found && drop_copies(o, &old))
        return err_code(o->e);
    if (put_ref(o, key, &r) ||
        (found && old.frozen ? keep(o, &old) : forget_kept(o, r.from, r.id)) ||
        (!r.inherit && add_edge(o, r.from, r.target, r.missing, o->n->seq)))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status fold_objective_delete(struct op *o)
{
    struct arena          *a = o->f->a;
    struct sv              key = key_of_name("obj", text(o, "id"), a), row;
    struct share_objective obj;
    bool                   found;

    if (get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (objective_read(row, a, &obj, o->e) || del(o, key) ||
        del(o, key_of_seq("objorder", obj.seq, a)) ||
        put(o, key_of_name("objgone", obj.id, a), seq_text(o->n->at, a)))
        return err_code(o->e);
    return change_meta(o, 0, -1, true);
}

/* lifecycle and transfer: `to` is the new status, `executor` perhaps the new executor. */
static enum status fold_status(struct op *o)
{
    struct share_thread t;
    enum thread_status  to;
    bool                found;

    if (find_thread(o, text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found || !thread_status_of(text(o, "to"), &to))
        return ST_OK;
    if (text(o, "executor").n)
        t.executor = text(o, "executor");
    if (set_status(o, &t, to))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status fold_session(struct op *o)
{
    struct share_thread t;
    bool                found;

    if (find_thread(o, text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    t.session = text(o, "session_id");
    t.updated = o->n->at;
    return save_thread(o, &t) ? err_code(o->e) : change_meta(o, 0, 0, false);
}

static enum status add_injection(struct op *o, struct sv thread, struct sv actor, struct sv type,
                                 struct sv content)
{
    struct sb b = sb_in(o->f->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "actor", actor);
    jw_kint(&w, "at", o->n->at);
    jw_kstr(&w, "content", content);
    jw_kint(&w, "seq", o->n->seq);
    jw_kstr(&w, "type", type);
    jw_close(&w, '}');
    if (put(o, key_seq("inject", thread, o->n->seq, o->f->a), sb_sv(&b)))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status fold_inject(struct op *o)
{
    return add_injection(o, text(o, "thread_id"), o->n->actor, text(o, "type"), text(o, "content"));
}

/* An inject that another program wrote into operations[]: it is delivered like ours. */
static enum status fold_foreign_inject(struct op *o)
{
    struct json         record;
    struct share_thread t;
    struct err          ignored;
    bool                found;

    if (json_parse(text(o, "record"), 0, o->f->a, &record, &ignored))
        return change_meta(o, 0, 0, false);
    const struct json *params = json_find(&record, "params");
    struct sv          thread = json_text(params, "thread_id"), type = json_text(params, "type");
    if (name_check(thread, "thread", &ignored) || name_check(type, "type", &ignored))
        return change_meta(o, 0, 0, false);
    if (find_thread(o, thread, &t, &found))
        return err_code(o->e);
    if (!found || !json_text(params, "content").n)
        return change_meta(o, 0, 0, false);
    return add_injection(o, thread, json_text(&record, "operator"), type,
                         json_text(params, "content"));
}

static enum status fold_deliver(struct op *o)
{
    const struct json *list = json_find(o->p, "injections");
    int64_t            seq;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        if (json_int(&list->items[i], &seq) &&
            del(o, key_seq("inject", text(o, "thread_id"), seq, o->f->a)))
            return err_code(o->e);
    return ST_OK;
}

static enum status fold_worker(struct op *o)
{
    return put(o, key_of_name("worker", text(o, "thread_id"), o->f->a),
               json_canonical(o->p, o->f->a));
}

static enum status fold_plain(struct op *o)
{
    return change_meta(o, 0, 0, false);
}

static enum status fold_merge(struct op *o)
{
    const struct json *files = json_find(o->p, "files");

    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n; i++)
        if (json_text(&files->items[i], "source").n && fold_merged(o, &files->items[i]))
            return err_code(o->e);
    return fold_plain(o);
}

static enum status fold_nothing(struct op *o)
{
    (void)o;
    return ST_OK;
}

/* ---- what other programs wrote -------------------------------------------------------- */

static void thread_of_import(struct op *o, const struct json *r, struct share_thread *t)
{
    struct sv executor = json_text(r, "executor");

    t->id = json_text(r, "id");
    t->title = json_text(r, "title");
    t->objective = json_text(r, "objective");
    t->parent = json_text(r, "parent");
    t->executor = executor.n ? executor : SV("agent");
    t->session = json_text(r, "session");
    t->storage = json_text(r, "storage");
    t->tags = json_text(r, "tags");
    t->extra = json_text(r, "extra");
    t->created = t->updated = o->n->at;
    json_int(json_find(r, "created"), &t->created);
    json_int(json_find(r, "updated"), &t->updated);
    if (!thread_status_of(json_text(r, "status"), &t->status))
        t->status = THREAD_ACTIVE;
}

static enum status import_thread(struct op *o)
{
    struct share_thread old, t = { .seq = o->n->seq };
    bool                found;

    thread_of_import(o, o->p, &t);
    if (find_thread(o, t.id, &old, &found))
        return err_code(o->e);
    if (found) {
        t.seq = old.seq;
        t.mode = old.mode;
        if (drop_thread(o, &old))
            return err_code(o->e);
    }
    return add_thread(o, &t) ? err_code(o->e) : mend(o, t.id);
}

static enum status import_objective(struct op *o)
{
    struct share_objective old = { 0 };
    struct sv              key = key_of_name("obj", text(o, "id"), o->f->a), row;
    bool                   found;

    if (get(o, key, &row, &found))
        return err_code(o->e);
    if (!found && (fold_objective(o) || get(o, key, &row, &found)))
        return err_code(o->e);
    if (objective_read(row, o->f->a, &old, o->e))
        return err_code(o->e);
    old.title = text(o, "title");
    old.extra = text(o, "extra");
    old.listed = text(o, "listed");
    json_int(json_find(o->p, "created"), &old.created);
    json_int(json_find(o->p, "updated"), &old.updated);
    if (put(o, key, objective_row(&old, o->f->a)))
        return err_code(o->e);
    return change_meta(o, 0, 0, true);
}

/* A reference that stands in a file: it was made when its operation there says. */
static enum status import_edge(struct op *o)
{
    struct share_ref r;

    if (ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    if (!r.at)
        r.at = o->n->at;
    if (save_ref(o, &r) || (!r.inherit && add_edge(o, r.from, r.target, r.missing, o->n->seq)))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status import_relation(struct op *o)
{
    struct arena      *a = o->f->a;
    struct sv          id = text(o, "id");
    const struct json *gone = json_find(o->p, "remove");

    for (size_t i = 0; json_is(gone, JSON_ARRAY) && i < gone->n; i++)
        if (drop_edge(o, id, json_sv(&gone->items[i])))
            return err_code(o->e);
    if (text(o, "depends_on").s && put(o, key_of_name("dep", id, a), text(o, "depends_on")))
        return err_code(o->e);
    if (text(o, "extra").s && put(o, key_of_name("relx", id, a), text(o, "extra")))
        return err_code(o->e);
    return change_meta(o, 0, 0, false);
}

static enum status import_root(struct op *o)
{
    struct share_meta m = { 0 };
    struct sv         row;
    bool              found;

    if (get(o, SV("meta"), &row, &found) || (found && meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    m.extra = text(o, "extra");
    m.extra_meta = text(o, "extra_meta");
    return put(o, SV("meta"), meta_row(&m, o->f->a));
}

static enum status fold_import(struct op *o)
{
    struct sv what = text(o, "what");

    if (sv_is(what, "thread"))
        return import_thread(o);
    if (sv_is(what, "objective"))
        return import_objective(o);
    if (sv_is(what, "edge"))
        return import_edge(o);
    if (sv_is(what, "unreference"))
        return fold_unreference(o);
    if (sv_is(what, "rebind"))
        return fold_rebind(o);
    if (sv_is(what, "relation"))
        return import_relation(o);
    if (sv_is(what, "root"))
        return import_root(o);
    if (sv_is(what, "bad")) {
        struct sv key = key_pair("bad", text(o, "section"), text(o, "key"), o->f->a);
        return text(o, "value").s ? put(o, key, text(o, "value")) : del(o, key);
    }
    if (sv_is(what, "operation") && json_is(json_find(o->p, "deliver"), JSON_TRUE))
        return fold_foreign_inject(o);
    return change_meta(o, 0, 0, false); /* "operation": the entry itself is the record */
}

static enum status fold_remove(struct op *o)
{
    struct arena       *a = o->f->a;
    struct share_thread t;
    struct store_row   *rows;
    bool                found;
    size_t              n;

    if (find_thread(o, text(o, "thread_id"), &t, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (drop_thread(o, &t) || rows_of(o, key_pair("to", t.id, SV(""), a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (drop_edge(o, t.id, rows[i].value))
            return err_code(o->e);
    if (drop_refs(o, "inh", t.id, (struct sv){ 0 }) ||
        drop_refs(o, "kept", t.id, (struct sv){ 0 }) || del(o, key_of_name("dep", t.id, a)) ||
        rows_of(o, key_pair("by", t.id, SV(""), a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (put(o, key_pair("broken", rows[i].value, t.id, a), seq_text(o->n->seq, a)))
            return err_code(o->e);
    return ST_OK;
}

/* ---- the table ------------------------------------------------------------------------- */

enum touches {
    T_THREAD = 1,    /* thread_id */
    T_RELATION = 2,  /* of thread_id and parent_id */
    T_EDGE = 4,      /* relations of from and target; .refs.json of from */
    T_OBJECTIVE = 8, /* objective */
    T_ALL = 16,
};

static const char *const spawn_params[] = { "thread_id", "parent_id",     "intent", "objective",
                                            "inherit",   "inherit_scope", NULL };
static const char *const ref_params[] = { "ref_id", "from_id", "to_id", "scope", "binding", NULL };
static const char *const lifecycle_params[] = { "thread_id", "action", "reason", NULL };
static const char *const inject_params[] = { "thread_id", "type", "content", NULL };
static const char *const merge_params[] = { "sources", "target", "conflict_strategy", "conflicts",
                                            NULL };
static const char *const transfer_params[] = { "thread_id", "direction",       "scope",
                                               "reason",    "target_executor", NULL };
static const char *const no_params[] = { NULL };

/* clang-format off */
static const struct operation {
    const char        *name;
    enum status      (*fold)(struct op *);
    unsigned           touches;
    const char *const *params; /* NULL: not in operations[] */
} operations[] = {
    { "objective",     fold_objective, T_OBJECTIVE,                         NULL },
    { "objective_delete", fold_objective_delete, T_ALL,                     NULL },
    { "spawn",         fold_spawn,     T_THREAD | T_RELATION | T_OBJECTIVE, spawn_params },
    { "reference",     fold_reference, T_EDGE,                              ref_params },
    { "refresh",       fold_refresh,   T_EDGE,                              ref_params },
    { "unreference",   fold_unreference, T_EDGE,                            ref_params },
    { "rebind",        fold_rebind,    T_EDGE,                              ref_params },
    { "lifecycle",     fold_status,    T_THREAD | T_OBJECTIVE,              lifecycle_params },
    { "transfer",      fold_status,    T_THREAD | T_OBJECTIVE,              transfer_params },
    { "inject",        fold_inject,    0,                                   inject_params },
    { "deliver",       fold_deliver,   0,                                   NULL },
    { "merge",         fold_merge,     0,                                   merge_params },
    { "session",       fold_session,   T_THREAD,                            NULL },
    { "transcript",    fold_nothing,   0,                                   NULL },
    { "worker",        fold_worker,    0,                                   NULL },
    { "import",        fold_import,    T_ALL,                               no_params },
    { "remove",        fold_remove,    T_ALL,                               NULL },
};
/* clang-format on */

static const struct operation *operation_of(struct sv name)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        if (sv_is(name, operations[i].name))
            return &operations[i];
    return NULL;
}

bool share_knows(struct sv name)
{
    return operation_of(name) != NULL;
}

const char *const *share_params(struct sv name)
{
    const struct operation *op = operation_of(name);

    return op ? op->params : NULL;
}

int64_t share_op_time(const struct entry *n, const struct json *payload, struct arena *a)
{
    struct json record;
    struct err  ignored;
    int64_t     at;

    if (!sv_is(json_text(payload, "what"), "operation") ||
        json_parse(json_text(payload, "record"), 0, a, &record, &ignored) ||
        !clock_parse_iso(json_text(&record, "timestamp"), &at))
        return n->at;
    return at;
}

/* Clones that exchange their files come to the same ones only when both write them in one order,
 * that of time. As long as everything came in that order, the order of the log is the same. */
static enum status track_order(struct op *o, const struct operation *op)
{
    struct share_meta m = { 0 };
    struct sv         row, what = text(o, "what");
    bool              found, import = sv_is(text(o, "operation"), "import");
    bool              thread = sv_is(text(o, "operation"), "spawn") || sv_is(what, "thread");
    int64_t           at = o->n->at;

    if (!thread && (!op->params || (import && !sv_is(what, "operation"))))
        return ST_OK;
    if (get(o, SV("meta"), &row, &found) || (found && meta_read(row, o->f->a, &m, o->e)))
        return err_code(o->e);
    if (thread) {
        if (import)
            json_int(json_find(o->p, "created"), &at);
        m.unsorted = m.unsorted || at < m.last_thread;
        m.last_thread = at > m.last_thread ? at : m.last_thread;
    }
    if (op->params && !(import && thread)) {
        at = share_op_time(o->n, o->p, o->f->a);
        m.unsorted = m.unsorted || at < m.last_op;
        m.last_op = at > m.last_op ? at : m.last_op;
    }
    return put(o, SV("meta"), meta_row(&m, o->f->a));
}

static enum status fold(struct fold *f, const struct entry *n, struct err *e)
{
    struct json             p;
    const struct operation *op;

    if (kind_of(n->kind) != KIND_THREAD_OPERATION || !sv_eq(f->thread, SHARE_GLOBAL))
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    op = operation_of(json_text(&p, "operation"));
    if (!op || !share_is_sane(&p, f->a))
        return ST_OK; /* of a newer version, or malformed: kept, and otherwise ignored */
    struct op o = { f, n, &p, e };
    if (fold_put(f, SV("rev"), seq_text(n->seq + 1, f->a), e))
        return err_code(e);
    if (op->params && n->op_id.s &&
        fold_put(f, key_of_name("opid", n->op_id, f->a), seq_text(n->seq, f->a), e))
        return err_code(e);
    return op->fold(&o) ? err_code(e) : track_order(&o, op);
}

const struct view share_view = { .name = "share", .version = 5, .fold = fold };

enum status share_touch(const struct entry *n, struct arena *a, struct share_touch *out,
                        struct err *e)
{
    struct json             p;
    const struct operation *op;

    *out = (struct share_touch){ 0 };
    if (kind_of(n->kind) != KIND_THREAD_OPERATION)
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    out->operation = json_text(&p, "operation");
    op = operation_of(out->operation);
    if (!op || !share_is_sane(&p, a))
        return ST_OK;
    out->is_operation = op->params != NULL;
    out->everything = op->touches & T_ALL;
    if (op->touches & T_THREAD)
        out->threads[0] = json_text(&p, "thread_id");
    if (op->touches & T_RELATION) {
        out->relations[0] = json_text(&p, "thread_id");
        out->relations[1] = json_text(&p, "parent_id");
    }
    if (op->touches & T_EDGE) {
        out->refs_of = out->relations[0] = json_text(&p, "from");
        out->relations[1] = json_text(&p, "target");
    }
    if (op->touches & T_OBJECTIVE)
        out->objective = json_text(&p, sv_is(out->operation, "objective") ? "id" : "objective");
    return ST_OK;
}
