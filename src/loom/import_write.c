/* Appending the nodes of a foreign tree, with new ids, as entries of a thread. */
#include "base/map.h"
#include "loom/exchange.h"
#include "loom/loom_internal.h"
#include "loom/write.h"
#include "thread/kind.h"

#include <stdlib.h>

/* What has been made so far: local ids by position in the list, so that children and edits find
 * their parents after the scratch memory of each node was freed. */
struct importing {
    struct loom               *l; /* its arena is scratch, `kept` is the caller's */
    struct arena              *kept;
    const struct foreign_tree *t;
    struct sv                  actor;
    const struct import_steps *steps;
    struct sv                 *locals;
    struct map                 index; /* foreign id → position + 1 */
};

static enum status step(struct importing *im, const struct foreign_node *added, struct err *e)
{
    return im->steps->step(im->steps->ctx, added, e);
}

static enum status describe(struct importing *im, struct err *e)
{
    struct sb b = sb_in(im->l->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", im->actor);
    if (im->t->kept.s) {
        jw_key(&w, "kept");
        jw_raw(&w, im->t->kept);
    }
    if (im->t->file.s) {
        jw_key(&w, "kept_file");
        jw_raw(&w, im->t->file);
    }
    jw_kstr(&w, "mark", SV("tree"));
    jw_kstr(&w, "mode", im->t->mode);
    if (im->t->title.n)
        jw_kstr(&w, "title", im->t->title);
    jw_close(&w, '}');
    return loom_append(im->l, im->actor, kind_name(KIND_LOOM_MARK), sb_sv(&b), NULL, e);
}

static enum status find_local(struct importing *im, struct sv local, struct node *out, bool *found,
                              struct err *e)
{
    struct rows r = rows_of_loom(im->l);

    *found = false;
    return local.s ? rows_find(&r, local, out, found, e) : ST_OK;
}

/* The local id that the node with this foreign id was given, if it came before. */
static struct sv local_of(struct importing *im, struct sv id, size_t before)
{
    uintptr_t at = id.n ? (uintptr_t)map_find(&im->index, id) : 0;

    return at && at <= before ? im->locals[at - 1] : (struct sv){ 0 };
}

static enum status mark(struct importing *im, const struct foreign_node *f, const struct node *n,
                        struct err *e)
{
    if (f->bookmarked && loom_mark(im->l, im->actor, "bookmark", n, f->label, e))
        return err_code(e);
    if (f->excluded && loom_mark(im->l, im->actor, "exclude", n, (struct sv){ 0 }, e))
        return err_code(e);
    return ST_OK;
}

static enum status summarise(struct importing *im, const struct foreign_node *f,
                             const struct node *n, struct err *e)
{
    struct sb b = sb_in(im->l->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!f->summary.n)
        return ST_OK;
    jw_open(&w, '{');
    if (f->summary_model.s)
        jw_kstr(&w, "model", f->summary_model);
    jw_key(&w, "target");
    jw_open(&w, '{');
    jw_kstr(&w, "node", n->local);
    jw_close(&w, '}');
    jw_kstr(&w, "text", f->summary);
    jw_close(&w, '}');
    return loom_append(im->l, im->actor, kind_name(KIND_SUMMARY), sb_sv(&b), NULL, e);
}

/* The local id that the node had, if it is free here. */
static enum status wanted_local(struct importing *im, struct sv local, struct sv *out,
                                struct err *e)
{
    struct node taken;
    bool        found = false;

    *out = (struct sv){ 0 };
    if (!loom_local_id_is_valid(local))
        return ST_OK;
    if (find_local(im, local, &taken, &found, e))
        return err_code(e);
    if (!found)
        *out = local;
    return ST_OK;
}

static enum status add(struct importing *im, size_t i, struct node *made, struct err *e)
{
    const struct foreign_node *f = &im->t->nodes[i];
    struct node                parent, from;
    bool                       has_parent = false, has_from = false;
    struct new_node            n = { .text = f->text,
                                     .author = f->author,
                                     .kind = f->kind,
                                     .via = "import",
                                     .as = f->as,
                                     .at = f->at,
                                     .extensions = f->kept.s ? f->kept : SV("{}") };

    if (f->parent >= 0 && find_local(im, im->locals[f->parent], &parent, &has_parent, e))
        return err_code(e);
    if (find_local(im, local_of(im, f->edited_from, i), &from, &has_from, e) ||
        wanted_local(im, f->local, &n.local, e))
        return err_code(e);
    n.parent = has_parent ? &parent : NULL;
    n.edited_from = has_from ? &from : NULL;
    n.version = f->version && has_from;
    if (loom_add(im->l, &n, made, e) || mark(im, f, made, e))
        return err_code(e);
    return summarise(im, f, made, e);
}

static enum status annotate(struct importing *im, const struct foreign_node *f, struct err *e)
{
    struct loom then = *im->l;
    struct node on;
    int64_t     number;
    bool        found;

    if (!sv_trim(f->text).n)
        return ST_OK;
    if (find_local(im, im->locals[f->parent], &on, &found, e))
        return err_code(e);
    then.now = f->at ? f->at : im->l->now;
    return found ? loom_annotate(&then, f->author, f->kind, &on, f->text, &number, e) : ST_OK;
}

static bool is_annotation(const struct foreign_node *f)
{
    return f->annotation && f->parent >= 0;
}

/* ann-7 is 7; what has no such id comes last. */
static int64_t annotation_number(const struct foreign_node *f)
{
    int64_t n;

    return sv_starts(f->id, SV("ann-")) && sv_to_int(sv_skip(f->id, 4), &n) ? n : INT64_MAX;
}

static int by_number(const void *a, const void *b)
{
    const struct foreign_node *const *x = a, *const *y = b;
    int64_t                           n = annotation_number(*x), m = annotation_number(*y);

    return n != m ? (n > m) - (n < m) : (*x > *y) - (*x < *y);
}

/* Add annotations in the order of their numbers; they get new numbers. */
static enum status annotate_all(struct importing *im, struct err *e)
{
    const struct foreign_node **notes =
        ARENA_NEW(im->kept, const struct foreign_node *, im->t->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < im->t->n; i++)
        if (is_annotation(&im->t->nodes[i]))
            notes[n++] = &im->t->nodes[i];
    qsort(notes, n, sizeof(struct foreign_node *), by_number);
    for (size_t i = 0; i < n; i++) {
        struct arena_mark m = arena_mark(im->l->a);
        if (annotate(im, notes[i], e) || step(im, notes[i], e))
            return err_code(e);
        arena_reset(im->l->a, m);
    }
    return ST_OK;
}

/* One link of export_open_loom(). The other tree of a link between trees is left as it is. */
static enum status link(struct importing *im, const struct node *from, const struct json *v,
                        struct err *e)
{
    struct sv   id = json_text(v, "nodeId");
    struct link link = { .note = json_text(v, "note"),
                         .incoming = json_truth(json_find(v, "incoming")),
                         .target = { .doc = json_text(v, "doc"),
                                     .section = json_text(v, "section"),
                                     .tree = json_text(v, "tree"),
                                     .tree_title = json_text(v, "title"),
                                     .node = json_text(v, "localId") } };

    if (id.n)
        link.target = (struct link_target){ .node = local_of(im, id, im->t->n) };
    if (!link.target.node.n && !link.target.doc.n && !link.target.tree.n)
        return ST_OK; /* to a node that was left out */
    return link_append(im->l, im->actor, from, &link, NULL, e);
}

/* Links are made after all nodes. */
static enum status link_all(struct importing *im, struct err *e)
{
    for (size_t i = 0; i < im->t->n; i++) {
        const struct json *links = im->t->nodes[i].links;
        struct arena_mark  m = arena_mark(im->l->a);
        struct node        from;
        bool               found = false;
        if (!json_is(links, JSON_ARRAY))
            continue;
        if (find_local(im, im->locals[i], &from, &found, e))
            return err_code(e);
        for (size_t k = 0; found && k < links->n; k++)
            if (link(im, &from, &links->items[k], e) || step(im, NULL, e))
                return err_code(e);
        arena_reset(im->l->a, m);
    }
    return ST_OK;
}

/* Branches are pruned after all nodes are made. */
static enum status prune(struct importing *im, struct err *e)
{
    for (size_t i = 0; i < im->t->n; i++) {
        struct arena_mark m = arena_mark(im->l->a);
        struct node       n;
        bool              found;
        if (!im->t->nodes[i].pruned || im->t->nodes[i].parent < 0)
            continue;
        if (find_local(im, im->locals[i], &n, &found, e) ||
            (found && loom_mark(im->l, im->actor, "prune", &n, (struct sv){ 0 }, e)) ||
            step(im, NULL, e))
            return err_code(e);
        arena_reset(im->l->a, m);
    }
    return ST_OK;
}

/* The importing agent gets the position that was selected in the file. */
static enum status go_to_current(struct importing *im, struct err *e)
{
    struct node at;
    bool        found;

    if (find_local(im, local_of(im, im->t->current, im->t->n), &at, &found, e))
        return err_code(e);
    return found ? loom_switch(im->l, im->actor, AUTHOR_HUMAN, &at, e) : ST_OK;
}

enum status import_check(struct loom *l, struct err *e)
{
    struct tree tree;

    if (loom_tree(l, &tree, e))
        return err_code(e);
    if (tree.root == NO_NODE)
        return ST_OK;
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' has nodes already", SV_ARG(l->thread));
    return err_hint(e, "import into a thread of its own");
}

static enum status add_all(struct importing *im, struct err *e)
{
    for (size_t i = 0; i < im->t->n; i++) {
        struct arena_mark          m = arena_mark(im->l->a);
        const struct foreign_node *f = &im->t->nodes[i];
        struct node                made;
        if (is_annotation(f))
            continue;
        if (add(im, i, &made, e))
            return err_code(e);
        im->locals[i] = sv_dup(made.local, im->kept);
        arena_reset(im->l->a, m);
        if (step(im, f, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status import_write(struct loom *l, const struct foreign_tree *t, struct sv actor,
                         const struct import_steps *steps, struct err *e)
{
    struct arena     scratch = { 0 };
    struct loom      work = *l;
    struct importing im = { .l = &work, .kept = l->a, .t = t, .actor = actor, .steps = steps };

    if (import_check(l, e))
        return err_code(e);
    work.a = &scratch;
    im.locals = ARENA_NEW(l->a, struct sv, t->n ? t->n : 1);
    im.index = map_in(l->a);
    for (size_t i = 0; i < t->n; i++)
        map_put(&im.index, t->nodes[i].id, (void *)(uintptr_t)(i + 1));
    enum status s = describe(&im, e);
    if (!s)
        s = add_all(&im, e);
    if (!s)
        s = annotate_all(&im, e);
    if (!s)
        s = link_all(&im, e);
    if (!s)
        s = prune(&im, e);
    if (!s)
        s = go_to_current(&im, e);
    arena_free(&scratch);
    return s;
}
