/* Imports the references of thread_relations.json.
 *
 * `relations` says only that there is an edge; which reference it is (id, scope, binding, when)
 * stands in operations[], which are replayed for each edge: all of them for an edge that is new to
 * the log, the new ones for an edge that it has. An edge without an operation is a live reference
 * to all of its target. context/.frozen.json beside the copies lists what a frozen reference
 * copied; without it, copies are found by where Leslie (inherited/SOURCE/…) or an early heddle
 * (inherited/…) put them. A copy keeps the hash that .frozen.json has for it, so that status and
 * read notice when it was changed since. */
#include "share/import_internal.h"
#include "share/record.h"

#include "base/path.h"
#include "share/asset.h"
#include "share/limits.h"
#include "share/operation_internal.h"

/* ---- operations ---------------------------------------------------------------------------- */

enum op_kind { OP_REFERENCE, OP_REFRESH, OP_UNREFERENCE, OP_REBIND, OP_INHERIT };

struct file_op {
    enum op_kind       kind;
    struct sv          id, target;
    const struct json *scope; /* NULL: everything */
    bool               frozen, is_new;
    int64_t            at;
};
struct ops_of {
    VEC(struct file_op) list;
};

static bool op_of_reference(struct sv command, const struct json *p, struct sv *from,
                            struct file_op *out)
{
    static const struct {
        const char  *command;
        enum op_kind kind;
    } kinds[] = { { "reference", OP_REFERENCE },
                  { "refresh", OP_REFRESH },
                  { "unreference", OP_UNREFERENCE },
                  { "rebind", OP_REBIND } };
    size_t k = 0;

    while (k < COUNT(kinds) && !sv_is(command, kinds[k].command))
        k++;
    if (k == COUNT(kinds))
        return false;
    *from = json_text(p, "from_id");
    *out = (struct file_op){ .kind = kinds[k].kind,
                             .id = json_text(p, "ref_id"),
                             .target = json_text(p, "to_id"),
                             .scope = json_find(p, "scope"),
                             .frozen = !sv_is(json_text(p, "binding"), "live") };
    return true;
}

static bool op_of_spawn(struct sv command, const struct json *p, struct sv *from,
                        struct file_op *out)
{
    struct sv inherit = json_text(p, "inherit");
    bool      partial = sv_is(inherit, "partial");

    *from = json_text(p, "thread_id");
    *out = (struct file_op){ .kind = OP_INHERIT,
                             .target = json_text(p, "parent_id"),
                             .scope = partial ? json_find(p, "inherit_scope") : NULL,
                             .frozen = true };
    return sv_is(command, "spawn") && (partial || sv_is(inherit, "full"));
}

void import_refs_note(struct share_import *im, const struct json *operation, bool is_new)
{
    struct sv          command = json_text(operation, "command"), from;
    const struct json *params = json_find(operation, "params");
    struct file_op     op;
    struct err         ignored;

    if (!op_of_reference(command, params, &from, &op) && !op_of_spawn(command, params, &from, &op))
        return;
    if (name_check(from, "from_id", &ignored) || name_check(op.target, "to_id", &ignored))
        return;
    if (op.id.s && name_check(op.id, "ref_id", &ignored))
        op.id = (struct sv){ 0 };
    op.is_new = is_new;
    clock_parse_iso(json_text(operation, "timestamp"), &op.at);
    struct ops_of *of = map_find(&im->ops, from);
    if (!of) {
        of = ARENA_NEW(im->a, struct ops_of, 1);
        map_put(&im->ops, from, of);
    }
    *vec_push(&of->list, im->a) = op;
}

/* ---- copies that are there ------------------------------------------------------------------- */

struct copies {
    struct share_import *im;
    struct sv            from;
    size_t               n_sources; /* distinct targets of frozen references */
    struct copy_list     all;
};

static struct sv bare_name(struct sv source)
{
    return sv_starts(source, SV("artifacts/")) ? sv_skip(source, 10) : source;
}

static struct sv copy_path(const struct copies *c, struct sv place)
{
    return share_path(c->from, "context/inherited", place, c->im->a);
}

/* One line of .frozen.json; false: it does not name a copy and its source. */
static bool copy_of_line(const struct json_member *m, struct copy *out)
{
    const struct json *v = &m->value;
    struct share_ref   ref = { 0 };
    struct err         ignored;

    record_of_file(v, &record_reference, NULL, &ref);
    *out = (struct copy){ .thread = ref.target, .ref_id = ref.id, .f = { .place = m->key } };
    record_of_file(v, &record_copy, NULL, &out->f);
    if (name_check(out->ref_id, "ref_id", &ignored))
        out->ref_id = (struct sv){ 0 };
    return name_check(out->thread, "thread", &ignored) == ST_OK &&
           share_path_is_inside(out->f.place) && share_path_is_inside(out->f.source) &&
           share_hash_is_hex(out->f.hash) && out->f.size >= 0 && out->f.mode >= 0 &&
           out->f.mode <= 0777;
}

enum status import_frozen_parse(struct sv text, struct arena *a, struct copy_list *out,
                                struct err *e)
{
    struct json doc;

    if (json_parse(text, JSON_KEEP_ORDER, a, &doc, e))
        return err_code(e);
    const struct json *list = json_find(&doc, "copies");
    for (size_t i = 0; json_is(list, JSON_OBJECT) && i < list->n; i++) {
        struct copy one;
        if (out->list.n == COPIES_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, "more than %d copies", COPIES_MAX);
        if (copy_of_line(&list->members[i], &one))
            *vec_push(&out->list, a) = one;
        else
            *vec_push(&out->ignored, a) = list->members[i].key;
    }
    return ST_OK;
}

static void read_frozen(struct copies *c)
{
    struct share *s = c->im->s;
    struct sv     path = share_path(c->from, "context", SHARE_FROZEN, c->im->a), text;
    struct err    why;
    enum status   r = fs_read(s->root, path, FROZEN_MAX_BYTES, c->im->a, &text, &why);

    if (r == ST_NOT_FOUND)
        return;
    if (r || import_frozen_parse(text, c->im->a, &c->all, &why))
        share_warn(s, "T502", c->from, SV_FMT " cannot be read: %s", SV_ARG(path), why.text);
    for (size_t i = 0; i < c->all.ignored.n; i++) {
        struct sb shown = sb_in(c->im->a, 0);
        sb_add_plain_line(&shown, c->all.ignored.v[i]);
        share_warn(s, "T502", c->from, SV_FMT ": the line of '" SV_FMT "' is ignored", SV_ARG(path),
                   SV_ARG(sb_sv(&shown)));
    }
}

/* Without .frozen.json: the files that are there. Those below a directory with the name of a thread
 * belong to that thread. */
static void walk_copies(struct copies *c, struct sv below, int depth)
{
    struct fs_item *items;
    size_t          n;
    struct err      ignored;
    struct sv       dir =
        below.n ? copy_path(c, below) : share_path(c->from, "context", SV("inherited"), c->im->a);

    if (depth > COPIES_DEPTH || fs_list(c->im->s->root, dir, c->im->a, &items, &n, &ignored))
        return;
    for (size_t i = 0; i < n && c->all.list.n < COPIES_MAX; i++) {
        struct sv   place = path_join(below, items[i].name, c->im->a);
        struct copy one = { .f = { .source = place, .place = place } };
        if (items[i].kind == FS_DIR)
            walk_copies(c, place, depth + 1);
        if (items[i].kind != FS_FILE || share_is_temporary(items[i].name))
            continue;
        struct sv_cut top = sv_cut(place, '/');
        if (top.found && map_has(&c->im->there, top.head)) {
            one.thread = top.head;
            one.f.source = top.tail;
        }
        if (object_put_file(c->im->s, copy_path(c, place), &one.f, &ignored) == ST_OK)
            *vec_push(&c->all.list, c->im->a) = one;
    }
}

/* The source of a copy is not recorded. It is certain when there is only one source, or when only
 * this source has that file. */
static bool must_be_of(const struct copies *c, const struct copy *one, struct sv target)
{
    static const char *const homes[] = { "", "artifacts" };
    struct err               ignored;
    struct sv                hash;
    int64_t                  size;

    if (c->n_sources == 1)
        return true;
    for (size_t h = 0; h < COUNT(homes); h++)
        if (object_hash_of(c->im->s, share_path(target, homes[h], one->f.source, c->im->a), &hash,
                           &size, &ignored) == ST_OK &&
            sv_eq(hash, one->f.hash))
            return true;
    return false;
}

/* Store the content of a copy as an object, if the copy is unchanged. */
static void store_content(const struct copies *c, const struct copy *one)
{
    struct sv         path = copy_path(c, one->f.place), hash;
    struct share_file now;
    struct err        ignored;
    int64_t           size;

    if (object_hash_of(c->im->s, path, &hash, &size, &ignored) == ST_OK && sv_eq(hash, one->f.hash))
        (void)!object_put_file(c->im->s, path, &now, &ignored);
}

/* Give the files the names that share_scope_collect() would give them. */
static void name_files(struct share_ref *r, struct arena *a)
{
    struct map sources = map_in(a);

    for (size_t i = 0; i < r->n_files; i++)
        map_put(&sources, r->files[i].source, r);
    for (size_t i = 0; i < r->n_files; i++) {
        struct sv bare = bare_name(r->files[i].source);
        bool      other = bare.n != r->files[i].source.n && map_has(&sources, bare);
        r->files[i].name = other ? r->files[i].source : bare;
    }
}

static void take_copies(struct copies *c, struct share_ref *r)
{
    size_t guessed = 0;

    r->files = ARENA_NEW(c->im->a, struct share_file, c->all.list.n + 1);
    for (size_t i = 0; i < c->all.list.n; i++) {
        struct copy *one = &c->all.list.v[i];
        if (one->thread.s ? !sv_eq(one->thread, r->target)
                          : one->taken || !must_be_of(c, one, r->target))
            continue;
        if (!share_scope_covers(r->scope, r->n_scope, bare_name(one->f.source)))
            continue;
        guessed += !one->thread.s;
        one->taken = true;
        if (r->inherit && one->ref_id.s && !r->n_files)
            r->id = one->ref_id; /* operations[] has no id for references made by spawn */
        store_content(c, one);
        r->files[r->n_files++] = one->f;
    }
    name_files(r, c->im->a);
    if (guessed)
        share_warn(c->im->s, "W203", r->from,
                   "%zu frozen cop%s of '" SV_FMT "' taken for those of '" SV_FMT
                   "': no file says whose they are",
                   guessed, guessed == 1 ? "y is" : "ies are", SV_ARG(r->from), SV_ARG(r->target));
}

/* ---- what there is to write --------------------------------------------------------------------
 */

struct item {
    struct share_ref r;
    bool             was;           /* the log has it */
    bool             changed, gone; /* the file says otherwise */
    bool             rebound;
};
struct items {
    VEC(struct item) list;
};

static struct sv made_id(const char *what, struct sv from, struct sv target, struct arena *a)
{
    struct sv   parts[] = { sv_of(what), SV("/"), from, SV("/"), target };
    struct hash h = hash_blake2b(parts, COUNT(parts));
    struct sb   b = sb_in(a, 0);

    sb_addf(&b, "ref-" SV_FMT, SV_ARG(sv_first(hash_hex(&h, a), 8)));
    return sb_sv(&b);
}

/* The reference of an operation. False: its scope is not valid; that must not become "all". */
static bool ref_of_op(struct share_import *im, struct sv from, const struct file_op *op,
                      struct share_ref *out)
{
    size_t     n = json_is(op->scope, JSON_ARRAY) ? op->scope->n : 0;
    struct sv *given = ARENA_NEW(im->a, struct sv, n + 1);
    struct err why;

    *out = (struct share_ref){ .id = op->id.s ? op->id : made_id("op", from, op->target, im->a),
                               .from = from,
                               .target = op->target,
                               .frozen = op->frozen,
                               .inherit = op->kind == OP_INHERIT,
                               .at = op->at };
    for (size_t i = 0; i < n; i++) {
        given[i] = json_sv(&op->scope->items[i]);
        if (!given[i].s)
            given[i] = SV("..");
    }
    if (share_scope_normal(im->s, given, n, &out->scope, &out->n_scope, &why) == ST_OK)
        return true;
    share_warn(im->s, "T502", from,
               "a reference of '" SV_FMT "' to '" SV_FMT "' in .leslie/ is left out: %s",
               SV_ARG(from), SV_ARG(op->target), why.text);
    return false;
}

static struct item *item_of(struct items *all, const struct share_ref *r, bool by_id)
{
    for (size_t i = 0; i < all->list.n; i++) {
        struct item *x = &all->list.v[i];
        if (!x->gone && (by_id ? sv_eq(x->r.id, r->id) : share_ref_repeats(&x->r, r)))
            return x;
    }
    return NULL;
}

static void replay(struct share_import *im, struct items *all, const struct file_op *op,
                   const struct share_ref *r)
{
    struct item *same = item_of(all, r, op->kind != OP_REFERENCE);

    if (op->kind == OP_UNREFERENCE) {
        if (same)
            same->gone = true;
        return;
    }
    if (!same && op->kind == OP_REFRESH)
        return;
    if (!same)
        same = vec_push(&all->list, im->a);
    bool was = same->was, rebound = was && same->r.frozen != r->frozen;
    *same = (struct item){ .r = *r, .was = was, .changed = true, .rebound = rebound };
}

static enum status items_of_edge(struct share_import *im, struct sv from, struct sv target,
                                 bool known, const struct share_ref *ours, size_t n,
                                 struct items *out)
{
    const struct ops_of *of = map_find(&im->ops, from);
    struct share_ref     r;

    for (size_t i = 0; i < n && known; i++)
        if (sv_eq(ours[i].target, target))
            *vec_push(&out->list, im->a) = (struct item){ .r = ours[i], .was = true };
    for (size_t i = 0; of && i < of->list.n; i++) {
        const struct file_op *op = &of->list.v[i];
        if (op->kind != OP_INHERIT && sv_eq(op->target, target) && (!known || op->is_new) &&
            ref_of_op(im, from, op, &r))
            replay(im, out, op, &r);
    }
    bool any = known;
    for (size_t i = 0; i < out->list.n; i++)
        any = any || !out->list.v[i].gone;
    if (!any)
        *vec_push(&out->list, im->a) = (struct item){
            .r = { .id = made_id("edge", from, target, im->a), .from = from, .target = target },
            .changed = true
        };
    return ST_OK;
}

static enum status add_inherited(struct share_import *im, struct sv from, struct items *out)
{
    const struct ops_of *of = map_find(&im->ops, from);
    struct sv           *rows;
    size_t               n;
    struct share_ref     r;

    for (size_t i = 0; of && i < of->list.n; i++) {
        if (of->list.v[i].kind != OP_INHERIT || !of->list.v[i].is_new)
            continue;
        if (share_rows_below(im->s, key_below_name("inh", from, im->a), false, im->a, &rows, &n,
                             im->e))
            return err_code(im->e);
        if (n || !ref_of_op(im, from, &of->list.v[i], &r))
            continue;
        r.id = made_id("inherit", from, r.target, im->a);
        *vec_push(&out->list, im->a) = (struct item){ .r = r, .changed = true };
    }
    return ST_OK;
}

/* ---- writing ------------------------------------------------------------------------------------
 */

static enum status write_item(struct share_import *im, const struct item *x)
{
    struct sb b;
    struct jw w = import_start(&b, im, x->gone ? "unreference" : x->rebound ? "rebind" : "edge");

    share_ref_write(&w, &x->r);
    jw_kint(&w, "at", x->r.at);
    return import_finish(im, &w, &b, (struct sv){ 0 });
}

static enum status fill_item(struct share_import *im, struct copies *c, struct item *x)
{
    struct share_thread t;
    size_t              n_warnings = im->s->warnings.n;
    bool                found;

    if (share_thread_find(im->s, x->r.target, &t, &found, im->e))
        return err_code(im->e);
    x->r.missing = !found && !map_has(&im->there, x->r.target);
    if (x->r.frozen) {
        take_copies(c, &x->r);
        return ST_OK;
    }
    struct err  why;
    enum status r = x->r.missing ? ST_OK : reference_live_names(im->s, &x->r, &why);
    im->s->warnings.n = n_warnings; /* thread.status reports what is missing */
    if (!r)
        return ST_OK;
    /* The names are only listed in .refs.json; reading uses the scope. So a directory that cannot
     * be read must not make every write fail. */
    share_warn(im->s, "W203", x->r.from, "the names of '" SV_FMT "' are not listed: %s",
               SV_ARG(x->r.target), why.text);
    x->r.files = NULL;
    x->r.n_files = 0;
    return ST_OK;
}

static enum status write_items(struct share_import *im, struct sv from, struct items *all)
{
    struct copies c = { .im = im, .from = from };
    struct map    sources = map_in(im->a);

    for (size_t i = 0; i < all->list.n; i++)
        if (all->list.v[i].r.frozen && !all->list.v[i].gone)
            map_put(&sources, all->list.v[i].r.target, im);
    c.n_sources = sources.n;
    if (sources.n)
        read_frozen(&c);
    if (sources.n && !c.all.list.n)
        walk_copies(&c, SV(""), 0);
    for (size_t i = 0; i < all->list.n; i++) {
        struct item *x = &all->list.v[i];
        if (x->gone ? !x->was : !x->changed)
            continue;
        if ((!x->gone && fill_item(im, &c, x)) || write_item(im, x))
            return err_code(im->e);
    }
    return ST_OK;
}

enum status import_refs_all(struct share_import *im, struct sv from, const struct json *targets)
{
    struct share_ref *ours;
    struct items      all = { 0 };
    struct sv         row;
    size_t            n;
    bool              known;
    struct err        ignored;

    if (share_refs(im->s, from, false, im->a, &ours, &n, im->e) || add_inherited(im, from, &all))
        return err_code(im->e);
    struct map done = map_in(im->a);
    for (size_t i = 0; json_is(targets, JSON_ARRAY) && i < targets->n; i++) {
        struct sv    target = json_sv(&targets->items[i]);
        struct items one = { 0 };
        if (name_check(target, "target", &ignored) || map_has(&done, target))
            continue;
        map_put(&done, target, im);
        if (share_row(im->s, key_of_names("edge", from, target, im->a), &row, &known, im->e) ||
            items_of_edge(im, from, target, known, ours, n, &one))
            return err_code(im->e);
        for (size_t k = 0; k < one.list.n; k++)
            *vec_push(&all.list, im->a) = one.list.v[k];
    }
    return write_items(im, from, &all);
}
