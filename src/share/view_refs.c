/* The fold: references, the edges between threads that they make, their frozen copies, and merges.
 */
#include "share/view_internal.h"

#include "base/map.h"
#include "base/path.h"

/* ---- edges ------------------------------------------------------------------------- */

enum status view_add_edge(struct view_op *o, struct sv from, struct sv target, bool missing,
                          int64_t seq)
{
    struct arena *a = o->f->a;
    struct sv     row, edge = key_of_names("edge", from, target, a);
    bool          found;

    if (missing && view_put(o, key_of_names("broken", from, target, a), view_seq_text(seq, a)))
        return err_code(o->e);
    if (view_get(o, edge, &row, &found))
        return err_code(o->e);
    if (found)
        return ST_OK;
    if (view_put(o, edge, view_seq_text(seq, a)) ||
        view_put(o, key_of_name_seq("to", from, seq, a), target))
        return err_code(o->e);
    return view_put(o, key_of_name_seq("by", target, seq, a), from);
}

enum status view_mend(struct view_op *o, struct sv id)
{
    struct store_row *by;
    size_t            n;

    if (view_rows_of(o, key_below_name("by", id, o->f->a), &by, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++)
        if (view_del(o, key_of_names("broken", by[i].value, id, o->f->a)))
            return err_code(o->e);
    return ST_OK;
}

/* ---- frozen copies ------------------------------------------------------------------- */

/* Add to a row that counts; a row is deleted when its count is 0. */
static enum status count_row(struct view_op *o, struct sv key, int by)
{
    struct sv row;
    int64_t   n = 0;
    bool      found;

    if (view_get(o, key, &row, &found))
        return err_code(o->e);
    if (found)
        sv_to_int(row, &n);
    n += by;
    return n > 0 ? view_put(o, key, view_seq_text(n, o->f->a)) : found ? view_del(o, key) : ST_OK;
}

static enum status count_blobs(struct view_op *o, const struct share_ref *r, int by)
{
    for (size_t i = 0; i < r->n_files && r->frozen; i++)
        if (!share_hash_is_erased(r->files[i].hash) &&
            count_row(o, key_of_name("blob", r->files[i].hash, o->f->a), by))
            return err_code(o->e);
    return ST_OK;
}

static enum status count_places(struct view_op *o, const struct share_ref *r, int by)
{
    struct arena *a = o->f->a;

    for (size_t i = 0; i < r->n_files && r->frozen; i++) {
        struct sv place = r->files[i].place;
        if (count_row(o, key_of_names("snap", r->from, place, a), by) ||
            (by > 0 && view_put(o, key_of_names("spot", r->from, place, a),
                                path_join(r->target, r->files[i].source, a))))
            return err_code(o->e);
    }
    return ST_OK;
}

static enum status add_copies(struct view_op *o, const struct share_ref *r)
{
    return count_places(o, r, 1) ? err_code(o->e) : count_blobs(o, r, 1);
}

static enum status drop_copies(struct view_op *o, const struct share_ref *r)
{
    return count_places(o, r, -1) ? err_code(o->e) : count_blobs(o, r, -1);
}

/* A source file has one copy in a thread, however many references cover it: another reference that
 * has it too has it as it is now. */
static enum status align_row(struct view_op *o, const struct store_row *row,
                             const struct share_ref *r, const struct map *now)
{
    struct share_ref other;
    bool             changed = false;

    if (share_ref_read(row->value, o->f->a, &other, o->e))
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
    return changed ? view_put(o, row->key, share_ref_row(&other, o->f->a)) : ST_OK;
}

static enum status align_others(struct view_op *o, struct sv key, const struct share_ref *r)
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
        if (view_rows_of(o, key_below_name(prefixes[k], r->from, o->f->a), &rows, &n))
            return err_code(o->e);
        for (size_t i = 0; i < n; i++)
            if (!sv_eq(rows[i].key, key) && align_row(o, &rows[i], r, &now))
                return err_code(o->e);
    }
    return ST_OK;
}

/* What the source had is kept: it is what the next merge compares with. */
static enum status fold_merged(struct view_op *o, const struct json *file)
{
    struct sv key = share_merged_key(view_text(o, "target"), json_text(file, "source"),
                                     json_text(file, "path"), o->f->a);
    struct sv theirs = json_text(file, "theirs"), after = json_text(file, "after"), row;
    bool      found;
    struct sb b = sb_in(o->f->a, 0);

    if (view_get(o, key, &row, &found) ||
        (found && count_row(o, key_of_name("blob", sv_cut(row, ' ').head, o->f->a), -1)))
        return err_code(o->e);
    if (!theirs.n || !after.n)
        return found ? view_del(o, key) : ST_OK;
    sb_addf(&b, SV_FMT " " SV_FMT, SV_ARG(theirs), SV_ARG(json_text(file, "before")));
    return view_put(o, key, sb_sv(&b)) ? err_code(o->e)
                                       : count_row(o, key_of_name("blob", theirs, o->f->a), 1);
}

static enum status fold_plain(struct view_op *o)
{
    return view_change_meta(o, 0, 0, false);
}

enum status view_fold_merge(struct view_op *o)
{
    const struct json *files = json_find(o->p, "files");

    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n; i++)
        if (json_text(&files->items[i], "source").n && fold_merged(o, &files->items[i]))
            return err_code(o->e);
    return fold_plain(o);
}

/* ---- rows of references -------------------------------------------------------------- */

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
static enum status ref_slot(struct view_op *o, const struct share_ref *r, bool by_id,
                            struct sv *key, struct share_ref *old, bool *found)
{
    const char       *prefix = r->inherit ? "inh" : "ref";
    struct store_row *rows;
    size_t            n;

    *found = false;
    *key = key_of_name_seq(prefix, r->from, o->n->seq, o->f->a);
    if (view_rows_of(o, key_below_name(prefix, r->from, o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n && !*found; i++) {
        if (share_ref_read(rows[i].value, o->f->a, old, o->e))
            return err_code(o->e);
        *found =
            by_id ? sv_eq(old->id, r->id) && sv_eq(old->target, r->target) : same_scope(old, r);
        if (*found)
            *key = rows[i].key;
    }
    return ST_OK;
}

/* What a reference was before: kept until it is taken up again or kept anew. */
static enum status forget_kept(struct view_op *o, struct sv from, struct sv id)
{
    struct sv        key = key_of_names("kept", from, id, o->f->a), row;
    struct share_ref old;
    bool             found;

    if (view_get(o, key, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (share_ref_read(row, o->f->a, &old, o->e) || count_blobs(o, &old, -1))
        return err_code(o->e);
    return view_del(o, key);
}

static enum status keep(struct view_op *o, const struct share_ref *old)
{
    if (forget_kept(o, old->from, old->id) || count_blobs(o, old, 1))
        return err_code(o->e);
    return view_put(o, key_of_names("kept", old->from, old->id, o->f->a),
                    share_ref_row(old, o->f->a));
}

static enum status put_ref(struct view_op *o, struct sv key, const struct share_ref *r)
{
    if (add_copies(o, r) || align_others(o, key, r))
        return err_code(o->e);
    return view_put(o, key, share_ref_row(r, o->f->a));
}

enum status view_save_ref(struct view_op *o, struct share_ref *r)
{
    struct share_ref old;
    struct sv        key;
    bool             found;

    r->seq = o->n->seq;
    if (ref_slot(o, r, false, &key, &old, &found) || (found && drop_copies(o, &old)))
        return err_code(o->e);
    return put_ref(o, key, r);
}

enum status view_drop_refs(struct view_op *o, const char *prefix, struct sv from, struct sv target)
{
    struct store_row *rows;
    struct share_ref  r;
    size_t            n;
    bool              kept = prefix[0] == 'k'; /* those hold no place */

    if (view_rows_of(o, key_below_name(prefix, from, o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n; i++) {
        if (share_ref_read(rows[i].value, o->f->a, &r, o->e))
            return err_code(o->e);
        if (target.s && !sv_eq(r.target, target))
            continue;
        if ((kept ? count_blobs(o, &r, -1) : drop_copies(o, &r)) || view_del(o, rows[i].key))
            return err_code(o->e);
    }
    return ST_OK;
}

/* Remove the edge alone: no reference uses it any more. */
static enum status drop_line(struct view_op *o, struct sv from, struct sv target)
{
    struct arena *a = o->f->a;
    struct sv     row, edge = key_of_names("edge", from, target, a);
    bool          found;
    int64_t       seq = 0;

    if (view_get(o, edge, &row, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    sv_to_int(row, &seq);
    if (view_del(o, edge) || view_del(o, key_of_name_seq("to", from, seq, a)) ||
        view_del(o, key_of_name_seq("by", target, seq, a)))
        return err_code(o->e);
    return view_del(o, key_of_names("broken", from, target, a));
}

enum status view_drop_edge(struct view_op *o, struct sv from, struct sv target)
{
    return drop_line(o, from, target) ? err_code(o->e) : view_drop_refs(o, "ref", from, target);
}

/* ---- operations ---------------------------------------------------------------------- */

enum status view_fold_reference(struct view_op *o)
{
    struct share_ref r;

    if (share_ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    if (view_save_ref(o, &r) || forget_kept(o, r.from, r.id) ||
        view_add_edge(o, r.from, r.target, r.missing, o->n->seq))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

/* New copies for a reference that is there; one that was dropped meanwhile stays dropped. */
enum status view_fold_refresh(struct view_op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found;

    if (share_ref_of_json(o->p, o->f->a, &r, o->e))
        return err_code(o->e);
    r.at = o->n->at;
    r.seq = o->n->seq;
    if (ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    if (found && (drop_copies(o, &old) || put_ref(o, key, &r)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

static enum status has_refs(struct view_op *o, struct sv from, struct sv target, bool *any)
{
    struct store_row *rows;
    struct share_ref  r;
    size_t            n;

    *any = false;
    if (view_rows_of(o, key_below_name("ref", from, o->f->a), &rows, &n))
        return err_code(o->e);
    for (size_t i = 0; i < n && !*any; i++) {
        if (share_ref_read(rows[i].value, o->f->a, &r, o->e))
            return err_code(o->e);
        *any = sv_eq(r.target, target);
    }
    return ST_OK;
}

enum status view_fold_unreference(struct view_op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found, any;

    if (share_ref_of_json(o->p, o->f->a, &r, o->e) || ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    if (!found)
        return ST_OK;
    if (keep(o, &old) || drop_copies(o, &old) || view_del(o, key) ||
        has_refs(o, r.from, r.target, &any) || (!any && drop_line(o, r.from, r.target)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}

/* Bound otherwise, or taken up again after it was dropped. */
enum status view_fold_rebind(struct view_op *o)
{
    struct share_ref r, old;
    struct sv        key;
    bool             found;

    if (share_ref_of_json(o->p, o->f->a, &r, o->e) || ref_slot(o, &r, true, &key, &old, &found))
        return err_code(o->e);
    r.seq = o->n->seq;
    if (!r.at)
        r.at = o->n->at;
    if (found && drop_copies(o, &old))
        return err_code(o->e);
    if (put_ref(o, key, &r) ||
        (found && old.frozen ? keep(o, &old) : forget_kept(o, r.from, r.id)) ||
        (!r.inherit && view_add_edge(o, r.from, r.target, r.missing, o->n->seq)))
        return err_code(o->e);
    return view_change_meta(o, 0, 0, false);
}
