/* From the files of other looms to one list of nodes. Every reader makes the same thing: a flat
 * list with parent ids, which is then put in order. */
#include "base/clock.h"
#include "base/map.h"
#include "base/path.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "loom/exchange.h"
#include "loom/loom_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct draft {
    struct foreign_node node;
    struct sv           parent; /* id; absent: none */
    VEC(size_t) children;
    VEC(const struct json *) edges; /* that lead to it */
    bool placed;
};

struct reader {
    struct arena *a;
    VEC(struct draft) drafts;
    struct map          index; /* id → position + 1 */
    struct foreign_tree tree;
    const char         *broken; /* what a node has that its format has not; NULL: nothing */
};

static struct draft *draft_of(struct reader *r, struct sv id)
{
    uintptr_t at = (uintptr_t)map_find(&r->index, id);

    return at ? &r->drafts.v[at - 1] : NULL;
}

static struct draft *add_draft(struct reader *r, struct sv id)
{
    struct draft *d = vec_push(&r->drafts, r->a);

    d->node = (struct foreign_node){ .id = id, .parent = -1, .kind = AUTHOR_HUMAN };
    if (id.n)
        map_put(&r->index, id, (void *)(uintptr_t)r->drafts.n);
    return d;
}

/* A name that may stand as an actor, or the role itself. */
static struct sv usable_name(struct sv name, struct sv role)
{
    struct err ignored;

    return name.n && name_check(name, "author", &ignored) == ST_OK ? name : role;
}

static void set_role(struct foreign_node *n, struct sv role, struct sv name)
{
    n->kind = sv_is(role, "model") || sv_is(role, "mixed") ? AUTHOR_MODEL : AUTHOR_HUMAN;
    n->author = usable_name(name, n->kind == AUTHOR_MODEL ? SV("model") : SV("human"));
}

/* 2021-05-08-22.25.37, as socketteer/loom writes it: to ISO 8601. */
static struct sv iso_of(struct sv text, struct sb *b)
{
    sb_add(b, text);
    if (text.n != 19 || text.s[10] != '-' || text.s[13] != '.' || text.s[16] != '.')
        return text;
    b->s[10] = 'T';
    b->s[13] = b->s[16] = ':';
    sb_addc(b, 'Z');
    return sb_sv(b);
}

static int64_t time_of(const struct json *v)
{
    int64_t   ms = 0;
    char      room[64];
    struct sb b = sb_on(room, sizeof room, NULL);

    if (json_is(v, JSON_STRING) && json_sv(v).n < 40 &&
        clock_parse_iso(iso_of(json_sv(v), &b), &ms))
        return ms;
    if (json_is(v, JSON_NUMBER)) { /* seconds or milliseconds since 1970 */
        double n = atof(v->s);
        if (isfinite(n) && n > 0 && n < 1e14)
            return n < 1e11 ? (int64_t)(n * 1000) : (int64_t)n;
    }
    return 0;
}

/* ---- order ------------------------------------------------------------------------ */

static void place(struct reader *r, size_t at, int64_t parent, struct foreign_tree *out)
{
    VEC(struct {
        size_t  at;
        int64_t parent;
    })
    todo = { 0 };

    vec_push(&todo, r->a)->at = at;
    todo.v[0].parent = parent;
    while (todo.n) {
        size_t        now = todo.v[--todo.n].at;
        struct draft *d = &r->drafts.v[now];
        if (d->placed)
            continue; /* a second edge, or a circle */
        d->placed = true;
        d->node.parent = todo.v[todo.n].parent;
        /* A child of a note is a note on the same node. */
        bool    note = d->node.annotation && d->node.parent >= 0;
        int64_t above = note ? d->node.parent : (int64_t)out->n;
        out->nodes[out->n++] = d->node;
        for (size_t i = d->children.n; i-- > 0;) { /* the first child is taken first */
            vec_push(&todo, r->a)->at = d->children.v[i];
            todo.v[todo.n - 1].parent = above;
            if (note)
                r->drafts.v[d->children.v[i]].node.annotation = true;
        }
    }
}

static void check_node(struct reader *r, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT))
        r->broken = "a node is not a JSON object";
}

/* The text of a node of the formats in which that is a string. A value that is not a string is
 * reported, because it would be lost silently. */
static struct sv plain_text(struct reader *r, const struct json *v)
{
    const struct json *text = json_find(v, "text");

    if (text && !json_is(text, JSON_STRING) && !json_is(text, JSON_NULL))
        r->broken = "the text of a node is not a string";
    return json_is(text, JSON_STRING) ? json_sv(text) : SV("");
}

static enum status put_in_order(struct reader *r, struct err *e)
{
    struct foreign_tree *t = &r->tree;
    size_t               roots = 0;

    if (r->broken)
        return err_set(e, ST_INVALID_SYNTAX, "%s", r->broken);
    t->nodes = ARENA_NEW(r->a, struct foreign_node, r->drafts.n + 1);
    for (size_t i = 0; i < r->drafts.n; i++) {
        struct draft *p = r->drafts.v[i].parent.s ? draft_of(r, r->drafts.v[i].parent) : NULL;
        if (p)
            *vec_push(&p->children, r->a) = i;
        else
            roots++;
    }
    int64_t above = -1;
    if (roots > 1) { /* one root above them all */
        t->nodes[t->n++] =
            (struct foreign_node){ .parent = -1, .author = SV("human"), .text = SV("") };
        above = 0;
    }
    for (size_t i = 0; i < r->drafts.n; i++) {
        struct sv parent = r->drafts.v[i].parent;
        if (!parent.s || !draft_of(r, parent))
            place(r, i, above, t);
    }
    t->left_out = r->drafts.n + (roots > 1) - t->n;
    return ST_OK;
}

/* ---- Open Loom -------------------------------------------------------------------- */

/* The text of content blocks; blocks that are not text are kept beside it. Some programs write a
 * single block, or its text, without the array. */
static struct sv block_text(struct reader *r, const struct json *content, bool *only_text)
{
    struct json block, blocks = { .type = JSON_ARRAY, .n = 1, .items = &block };

    if (json_is(content, JSON_OBJECT)) {
        block = *content;
        content = &blocks;
    }
    if (content && !json_is(content, JSON_ARRAY) && !json_is(content, JSON_STRING) &&
        !json_is(content, JSON_NULL))
        r->broken = "the content of a node is neither text nor blocks";
    *only_text = true;
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++)
        *only_text = *only_text && sv_is(json_text(&content->items[i], "type"), "text");
    return loom_content_text(content, r->a);
}

static struct sv agent_name(const struct json *doc, const struct json *tree, struct sv id)
{
    const struct json *mine = json_find_sv(json_find(tree, "agents"), id);

    return json_text(mine ? mine : json_find_sv(json_find(doc, "agents"), id), "name");
}

/* Does an author hold more than one of heddle's two roles and a name? */
static bool is_plain_author(const struct json *author)
{
    struct sv role = json_text(author, "role");

    for (size_t i = 0; json_is(author, JSON_OBJECT) && i < author->n; i++)
        if (!sv_is(author->members[i].key, "role") && !sv_is(author->members[i].key, "name"))
            return false;
    return !role.s || sv_is(role, "human") || sv_is(role, "model");
}

/* The kept members of a node, with its author and the members of its meta other than heddle's
 * marks. */
static struct sv with_own(struct reader *r, struct sv rest, const struct json *author,
                          const struct json *meta)
{
    static const char *const marks[] = { "bookmarked", "bookmarkLabel", "pruned", "excluded" };
    struct sv   others = json_is(meta, JSON_OBJECT) ? json_others(meta, marks, COUNT(marks), r->a)
                                                    : (struct sv){ 0 };
    bool        plain = is_plain_author(author);
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json kept;
    struct err  never;

    if ((plain && !others.s) || (rest.s && json_parse(rest, 0, r->a, &kept, &never)))
        return rest;
    jw_open(&w, '{');
    if (rest.s)
        for (size_t i = 0; i < kept.n; i++) {
            jw_key_sv(&w, kept.members[i].key);
            jw_json(&w, &kept.members[i].value);
        }
    if (!plain) {
        jw_key(&w, "author");
        jw_json(&w, author);
    }
    if (others.s) {
        jw_key(&w, "meta");
        jw_raw(&w, others);
    }
    jw_close(&w, '}');
    return sb_sv(&b);
}

static void open_loom_node(struct reader *r, const struct json *doc, const struct json *tree,
                           struct sv id, const struct json *v)
{
    static const char *const known[] = { "id",        "content",    "author",
                                         "createdAt", "editedFrom", "meta" };
    static const char *const known_text[] = { "id", "author", "createdAt", "editedFrom", "meta" };
    const struct json       *author = json_find(v, "author"), *meta = json_find(v, "meta");
    struct draft            *d = add_draft(r, id);
    bool                     only_text;
    struct sv                name = json_text(author, "name"), rest;

    check_node(r, v);
    if (json_text(author, "agentId").n)
        name = agent_name(doc, tree, json_text(author, "agentId"));
    d->node.text = block_text(r, json_find(v, "content"), &only_text);
    set_role(&d->node, json_text(author, "role"), name);
    d->node.at = time_of(json_find(v, "createdAt"));
    d->node.edited_from = json_text(v, "editedFrom");
    d->node.bookmarked = json_truth(json_find(meta, "bookmarked"));
    d->node.label = json_text(meta, "bookmarkLabel");
    d->node.pruned = json_truth(json_find(meta, "pruned"));
    d->node.excluded = json_truth(json_find(meta, "excluded"));
    const struct json *ext = json_find(v, "extensions"), *own = json_find(ext, "heddle");
    d->node.local = json_text(json_find(ext, "aspen-grove"), "localId");
    d->node.links = json_find(own, "links");
    d->node.summary = json_text(json_find(own, "summary"), "text");
    d->node.summary_model = json_text(json_find(own, "summary"), "model");
    rest = only_text ? json_others(v, known, COUNT(known), r->a)
                     : json_others(v, known_text, COUNT(known_text), r->a);
    d->node.kept = with_own(r, rest, author, meta);
}

/* The source that counts as the parent: the first primary one, else the first. */
static const struct json *main_source(const struct json *edge)
{
    const struct json *sources = json_find(edge, "sources");

    for (size_t i = 0; json_is(sources, JSON_ARRAY) && i < sources->n; i++) {
        struct sv role = json_text(&sources->items[i], "role");
        if (!role.s || sv_is(role, "primary"))
            return &sources->items[i];
    }
    return json_is(sources, JSON_ARRAY) && sources->n ? &sources->items[0] : NULL;
}

/* Edges in their order: sibling order is theirs, so nodes are taken in the order in which
 * edges name them. */
static void open_loom_edge(struct reader *r, const struct json *edge, size_t *order, size_t *n)
{
    const struct json *source = main_source(edge);
    struct draft      *target = draft_of(r, json_text(edge, "targetNodeId"));
    struct sv          type = json_text(edge, "type"), role = json_text(source, "role");

    if (!target)
        return;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
    *vec_push(&target->edges, r->a) = edge;
    if (!source || target->parent.s || !draft_of(r, json_text(source, "nodeId")))
        return;
    target->parent = json_text(source, "nodeId");
    target->node.annotation = !sv_is(type, "continuation");
    if (sv_is(role, "context") || sv_is(role, "instruction"))
        target->node.as = role;
    order[(*n)++] = (size_t)(target - r->drafts.v);
}

/* In buffer mode an edit that is a sibling of its original becomes a version of it. */
static void mark_versions(struct reader *r)
{
    for (size_t i = 0; i < r->drafts.n; i++) {
        struct draft *d = &r->drafts.v[i];
        struct draft *from = d->node.edited_from.n ? draft_of(r, d->node.edited_from) : NULL;
        d->node.version = from && sv_is(r->tree.mode, "buffer") && sv_eq(from->parent, d->parent);
    }
}

/* Can heddle's tree express the edges to a node: one parent, in all its versions? */
static bool edges_are_plain(struct reader *r, const struct draft *d)
{
    const struct json *edge = d->edges.n ? d->edges.v[0] : NULL;
    const struct json *sources = json_find(edge, "sources");

    if (!edge)
        return true;
    if (d->edges.n > 1 || edge->n > 3 || d->node.annotation || !json_is(sources, JSON_ARRAY))
        return d->node.annotation && d->edges.n == 1;
    for (size_t i = 0; i < sources->n; i++) {
        const struct json *s = &sources->items[i];
        struct draft      *from = draft_of(r, json_text(s, "nodeId"));
        bool same = sv_eq(json_text(s, "role"), json_text(&sources->items[0], "role"));
        if (!from || !same || s->n > 2 || (i && !from->node.version))
            return false;
    }
    return true;
}

/* {"edges":[…],…}: the unchanged edges to a node, for the export. Their ids are those of the file;
 * every node of such a tree remembers its own. */
static void keep_edges(struct reader *r)
{
    bool any = false;

    for (size_t i = 0; i < r->drafts.n; i++)
        any = any || !edges_are_plain(r, &r->drafts.v[i]);
    for (size_t i = 0; any && i < r->drafts.n; i++) {
        struct draft *d = &r->drafts.v[i];
        struct sb     b = sb_in(r->a, 0);
        struct jw     w = jw_in(&b, 0);
        struct json   kept = { 0 };
        struct err    never;
        if (d->node.kept.s && json_parse(d->node.kept, 0, r->a, &kept, &never))
            continue; /* nested too deep, which is reported when it is written */
        jw_open(&w, '{');
        if (d->node.kept.s)
            for (size_t k = 0; k < kept.n; k++) {
                jw_key_sv(&w, kept.members[k].key);
                jw_json(&w, &kept.members[k].value);
            }
        jw_kstr(&w, "was", d->node.id);
        if (!edges_are_plain(r, d)) {
            jw_key(&w, "edges");
            jw_open(&w, '[');
            for (size_t k = 0; k < d->edges.n; k++)
                jw_json(&w, d->edges.v[k]);
            jw_close(&w, ']');
        }
        jw_close(&w, '}');
        d->node.kept = sb_sv(&b);
    }
}

/* Drafts in the order of the edges that lead to them, roots first. */
static void sort_by_edges(struct reader *r, const size_t *order, size_t n)
{
    struct draft *sorted = ARENA_NEW(r->a, struct draft, r->drafts.n + 1);
    size_t        count = 0;

    assert(!n || r->drafts.n); /* edges lead to drafts */
    for (size_t i = 0; i < r->drafts.n; i++)
        if (!r->drafts.v[i].parent.s)
            sorted[count++] = r->drafts.v[i];
    for (size_t i = 0; i < n; i++)
        sorted[count++] = r->drafts.v[order[i]];
    r->index = map_in(r->a);
    for (size_t i = 0; i < count; i++)
        map_put(&r->index, sorted[i].node.id, (void *)(uintptr_t)(i + 1));
    r->drafts.v = sorted;
    r->drafts.n = r->drafts.cap = count;
}

static enum status open_loom_tree(struct reader *r, const struct json *doc, const struct json *v,
                                  struct err *e)
{
    static const char *const known[] = { "title", "mode",  "rootNodeIds", "currentNodeId",
                                         "nodes", "edges", "id" };
    static const char *const around[] = { "format", "version", "generator", "trees" };
    const struct json       *nodes = json_find(v, "nodes"), *edges = json_find(v, "edges");
    size_t                   n = 0;

    if (!json_is(nodes, JSON_OBJECT))
        return err_set(e, ST_INVALID_SYNTAX, "a tree has no \"nodes\" object");
    r->tree.title = json_text(v, "title");
    r->tree.mode = sv_is(json_text(v, "mode"), "buffer") ? SV("buffer") : SV("dialogue");
    r->tree.kept = json_others(v, known, COUNT(known), r->a);
    r->tree.file = json_others(doc, around, COUNT(around), r->a);
    r->tree.current = json_text(v, "currentNodeId");
    for (size_t i = 0; i < nodes->n; i++)
        open_loom_node(r, doc, v, nodes->members[i].key, &nodes->members[i].value);
    size_t *order = ARENA_NEW(r->a, size_t, r->drafts.n + 1);
    for (size_t i = 0; json_is(edges, JSON_ARRAY) && i < edges->n; i++)
        open_loom_edge(r, &edges->items[i], order, &n);
    sort_by_edges(r, order, n);
    mark_versions(r);
    keep_edges(r);
    return ST_OK;
}

/* ---- socketteer/loom --------------------------------------------------------------- */

static bool has_tag(const struct json *v, const char *tag)
{
    const struct json *tags = json_find(v, "tags");

    for (size_t i = 0; json_is(tags, JSON_ARRAY) && i < tags->n; i++)
        if (sv_is(json_sv(&tags->items[i]), tag))
            return true;
    return false;
}

/* Members that heddle does not use, stored where Open Loom keeps additions of other programs; tags
 * (NULL: none) are stored where Open Loom has tags. Absent when there is nothing. */
static struct sv socketteer_rest(struct reader *r, struct sv rest, const struct json *tags)
{
    struct sb b = sb_in(r->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!rest.s)
        return rest;
    jw_open(&w, '{');
    jw_key(&w, "extensions");
    jw_open(&w, '{');
    jw_key(&w, "socketteer-loom");
    jw_raw(&w, rest);
    jw_close(&w, '}');
    if (json_is(tags, JSON_ARRAY) && tags->n) {
        jw_key(&w, "meta");
        jw_open(&w, '{');
        jw_key(&w, "tags");
        jw_json(&w, tags);
        jw_close(&w, '}');
    }
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* All members of a node except its text and children. */
static struct sv socketteer_kept(struct reader *r, const struct json *v)
{
    static const char *const known[] = { "text", "children", "bookmark" };

    return socketteer_rest(r, json_others(v, known, COUNT(known), r->a), json_find(v, "tags"));
}

/* A chapter begins at a node: a bookmark with its title. */
static struct sv chapter_of(const struct json *doc, struct sv id)
{
    const struct json *chapters = json_find(doc, "chapters");

    for (size_t i = 0; json_is(chapters, JSON_OBJECT) && i < chapters->n; i++)
        if (sv_eq(json_text(&chapters->members[i].value, "root_id"), id))
            return json_text(&chapters->members[i].value, "title");
    return (struct sv){ 0 };
}

static struct sv socketteer_node(struct reader *r, const struct json *doc, const struct json *v,
                                 struct sv parent)
{
    const struct json *meta = json_find(v, "meta");
    struct sv          source = json_text(meta, "source"), id = json_text(v, "id");
    bool               is_root = !parent.s;

    check_node(r, v);
    if (!id.n || draft_of(r, id)) { /* ids may be missing or repeated */
        struct sb b = sb_in(r->a, 0);
        sb_addf(&b, "#%zu", r->drafts.n);
        id = sb_sv(&b);
    }
    struct draft *d = add_draft(r, id);
    d->parent = parent;
    d->node.text = plain_text(r, v);
    bool human = sv_is(source, "prompt") || (!source.s && is_root);
    set_role(&d->node, human ? SV("human") : SV("model"), (struct sv){ 0 });
    d->node.at = time_of(json_find(meta, "creation_timestamp"));
    d->node.label = chapter_of(doc, id);
    d->node.bookmarked =
        json_truth(json_find(v, "bookmark")) || has_tag(v, "bookmark") || d->node.label.n;
    d->node.pruned = has_tag(v, "archived");
    d->node.kept = socketteer_kept(r, v);
    return id;
}

/* Nodes one after another, without recursion: files are nested as deep as their trees. */
static void socketteer_nodes(struct reader *r, const struct json *doc, const struct json *root)
{
    VEC(struct {
        const struct json *v;
        struct sv          parent;
    })
    todo = { 0 };

    vec_push(&todo, r->a)->v = root;
    while (todo.n) {
        const struct json *v = todo.v[--todo.n].v, *children = json_find(v, "children");
        struct sv          id = socketteer_node(r, doc, v, todo.v[todo.n].parent);
        for (size_t i = json_is(children, JSON_ARRAY) ? children->n : 0; i-- > 0;) {
            vec_push(&todo, r->a)->v = &children->items[i];
            todo.v[todo.n - 1].parent = id;
        }
    }
}

/* The members of a file other than its nodes: chapters, tags, settings. */
static struct sv socketteer_file(struct reader *r, const struct json *doc)
{
    static const char *const known[] = { "root", "selected_node_id" };

    return socketteer_rest(r, json_others(doc, known, COUNT(known), r->a), NULL);
}

static void socketteer_tree(struct reader *r, const struct json *doc)
{
    r->tree.mode = SV("buffer");
    if (json_is(doc, JSON_ARRAY)) {
        for (size_t i = 0; i < doc->n; i++)
            socketteer_nodes(r, NULL, &doc->items[i]);
    } else if (json_find(doc, "root")) {
        r->tree.kept = socketteer_file(r, doc);
        r->tree.current = json_text(doc, "selected_node_id");
        socketteer_nodes(r, doc, json_find(doc, "root"));
    } else {
        socketteer_nodes(r, doc, doc);
    }
}

/* ---- loomsidian -------------------------------------------------------------------- */

static void loomsidian_tree(struct reader *r, const struct json *doc)
{
    static const char *const known[] = { "text", "parentId", "bookmarked" };
    const struct json       *nodes = json_find(doc, "nodes");

    r->tree.mode = SV("buffer");
    r->tree.current = json_text(doc, "current");
    for (size_t i = 0; i < nodes->n; i++) {
        const struct json *v = &nodes->members[i].value;
        struct draft      *d = add_draft(r, nodes->members[i].key);
        check_node(r, v);
        d->parent = json_text(v, "parentId");
        d->node.text = plain_text(r, v);
        set_role(&d->node, d->parent.s ? SV("mixed") : SV("human"), (struct sv){ 0 });
        d->node.bookmarked = json_truth(json_find(v, "bookmarked"));
        d->node.at = time_of(json_find(v, "lastVisited"));
        struct sv kept = json_others(v, known, COUNT(known), r->a);
        struct sb b = sb_in(r->a, 0);
        sb_addf(&b, "{\"extensions\":{\"loomsidian\":" SV_FMT "}}", SV_ARG(kept));
        d->node.kept = kept.s ? sb_sv(&b) : kept;
    }
}

/* ---- which it is ------------------------------------------------------------------ */

static struct reader reader_in(struct arena *a)
{
    return (struct reader){ .a = a, .index = map_in(a) };
}

static enum status read_open_loom(const struct json *doc, struct arena *a,
                                  struct foreign_tree **out, size_t *n, struct err *e)
{
    const struct json *trees = json_find(doc, "trees");
    struct sv          version = json_text(doc, "version");

    if (!sv_starts(version, SV("2."))) {
        err_set(e, ST_INVALID_SYNTAX, "Open Loom version '" SV_FMT "' is not known here",
                SV_ARG(version));
        return err_hint(e, "version 2.x is");
    }
    if (!json_is(trees, JSON_ARRAY) || !trees->n)
        return err_set(e, ST_INVALID_SYNTAX, "the file has no trees");
    *out = ARENA_NEW(a, struct foreign_tree, trees->n);
    *n = trees->n;
    for (size_t i = 0; i < trees->n; i++) {
        struct reader r = reader_in(a);
        if (open_loom_tree(&r, doc, &trees->items[i], e) || put_in_order(&r, e))
            return err_in(e, "tree %zu", i + 1);
        (*out)[i] = r.tree;
    }
    return ST_OK;
}

static bool is_loomsidian(const struct json *doc)
{
    const struct json *nodes = json_find(doc, "nodes");

    return json_is(nodes, JSON_OBJECT) && nodes->n &&
           json_find(&nodes->members[0].value, "parentId") != NULL;
}

static bool is_socketteer(const struct json *doc)
{
    const struct json *root = json_find(doc, "root");

    if (json_is(doc, JSON_ARRAY))
        return doc->n > 0 && json_find(&doc->items[0], "text");
    return json_find(json_is(root, JSON_OBJECT) ? root : doc, "text") != NULL;
}

enum status import_read(struct sv text, struct arena *a, struct foreign_tree **out, size_t *n,
                        const char **format, struct err *e)
{
    struct json   doc;
    struct reader r = reader_in(a);

    if (json_parse(utf8_skip_bom(text), JSON_KEEP_ORDER | JSON_DEEP, a, &doc, e))
        return err_code(e);
    if (sv_is(json_text(&doc, "format"), "open-loom")) {
        *format = "Open Loom";
        return read_open_loom(&doc, a, out, n, e);
    }
    if (is_loomsidian(&doc)) {
        *format = "loomsidian";
        loomsidian_tree(&r, &doc);
    } else if (is_socketteer(&doc)) {
        *format = "socketteer/loom";
        socketteer_tree(&r, &doc);
    } else {
        err_set(e, ST_INVALID_SYNTAX, "this is no loom file we know");
        return err_hint(e, "Open Loom 2.x, socketteer/loom and loomsidian files are read");
    }
    if (put_in_order(&r, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct foreign_tree, 1);
    (*out)[0] = r.tree;
    *n = 1;
    return ST_OK;
}
