/* Writing a tree in the formats of other programs and in heddle's own JSON. */
#include "base/clock.h"
#include "base/map.h"
#include "loom/exchange.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"
#include "loom/write.h"
#include "thread/kind.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ---- walking all nodes -------------------------------------------------------------- */

struct loom_exporting {
    struct loom *l;
    struct jw   *w;
    struct map  *was; /* id in the file it came from → id here; NULL while that is not needed */
};

typedef enum status each_node(struct loom_exporting *x, const struct node *n,
                              const struct json *payload, struct err *e);

/* Memory that `each` takes from its loom is freed before the next node, because trees may be
 * large. */
static enum status walk(const struct loom_exporting *x, each_node *each, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = x->l->thread, .to = STORE_TO_END };
    struct arena                           scratch = { 0 };
    struct loom                            work = *x->l;
    struct loom_exporting                  one = { &work, x->w, x->was };
    struct entry                           entry;
    bool                                   more = true;
    enum status                            s = log_scan(work.log, &q, &scan, e);

    work.a = &scratch;
    while (!s && !(s = log_scan_next(scan, &entry, &more, e)) && more) {
        struct rows       r = rows_of_loom(&work);
        struct arena_mark m = arena_mark(&scratch);
        struct node       n;
        struct json       p;
        struct sv         row;
        bool              found = false;
        if (kind_of(entry.kind) == KIND_AI_MESSAGE)
            s = row_get(&r, key_of_seq("n", entry.seq, &scratch), &row, &found, e);
        if (!s && found && !(s = rows_node(&r, entry.seq, &n, e)) && !n.withdrawn &&
            !(s = json_parse(skeleton_shown(&entry, &scratch), 0, &scratch, &p, e)))
            s = each(&one, &n, &p, e);
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    return s;
}

static void write_time(struct jw *w, const char *key, int64_t at, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_iso_ms(&b, at);
    jw_kstr(w, key, sb_sv(&b));
}

/* ---- Open Loom -------------------------------------------------------------------- */

/* Full ids where a node has one; the others go by their local id. */
static struct sv id_of(const struct node *n)
{
    return n->id.n ? n->id : n->local;
}

static bool has_members(const struct json *v)
{
    return json_is(v, JSON_OBJECT) && v->n > 0;
}

/* Heddle's marks, and the other members that the node's meta had in the imported file. */
static void write_meta(struct jw *w, const struct node *n, const struct json *kept)
{
    const struct json *meta = json_find(kept, "meta");

    if (!n->bookmarked && !n->pruned && !n->excluded && !has_members(meta))
        return;
    jw_key(w, "meta");
    jw_open(w, '{');
    if (n->bookmarked)
        jw_kbool(w, "bookmarked", true);
    if (n->label.n)
        jw_kstr(w, "bookmarkLabel", n->label);
    if (n->pruned)
        jw_kbool(w, "pruned", true);
    if (n->excluded)
        jw_kbool(w, "excluded", true);
    for (size_t i = 0; has_members(meta) && i < meta->n; i++) {
        jw_key_sv(w, meta->members[i].key);
        jw_json(w, &meta->members[i].value);
    }
    jw_close(w, '}');
}

static enum status write_link(struct loom_exporting *x, const struct link *link, struct err *e)
{
    const struct link_target *t = &link->target;
    struct rows               r = rows_of_loom(x->l);
    struct node               to;
    bool                      found = false;

    if (t->node.n && !t->tree.s && rows_find(&r, t->node, &to, &found, e))
        return err_code(e);
    jw_open(x->w, '{');
    if (link->incoming)
        jw_kbool(x->w, "incoming", true);
    if (link->note.s)
        jw_kstr(x->w, "note", link->note);
    if (found)
        jw_kstr(x->w, "nodeId", id_of(&to));
    if (t->doc.s)
        jw_kstr(x->w, "doc", t->doc);
    if (t->section.s)
        jw_kstr(x->w, "section", t->section);
    if (t->tree.s) {
        jw_kstr(x->w, "tree", t->tree);
        jw_kstr(x->w, "title", t->tree_title);
        if (t->node.n)
            jw_kstr(x->w, "localId", t->node);
    }
    jw_close(x->w, '}');
    return ST_OK;
}

/* Each link is written once, at the node where it was made. A link that another tree made is
 * written here, because its origin is not in this file. */
static enum status write_links(struct loom_exporting *x, const struct node *n, struct err *e)
{
    struct link *links;
    size_t       count;

    if (loom_links(x->l, n, &links, &count, e))
        return err_code(e);
    jw_key(x->w, "links");
    jw_open(x->w, '[');
    for (size_t i = 0; i < count; i++)
        if ((!links[i].incoming || links[i].target.tree.s) && write_link(x, &links[i], e))
            return err_code(e);
    jw_close(x->w, ']');
    return ST_OK;
}

static void write_summary(struct jw *w, const struct json *summary)
{
    jw_key(w, "summary");
    jw_open(w, '{');
    if (json_text(summary, "model").s)
        jw_kstr(w, "model", json_text(summary, "model"));
    jw_kstr(w, "text", json_text(summary, "text"));
    jw_close(w, '}');
}

/* What Open Loom cannot represent: links, and a summary that a model made. */
static enum status write_own(struct loom_exporting *x, const struct node *n, struct err *e)
{
    struct rows r = rows_of_loom(x->l);
    bool        links = n->links > 0 && n->slot == n->seq, made = false;
    struct json summary;
    int64_t     entry;

    if (row_int(&r, key_of_seq("sum", n->seq, x->l->a), NO_NODE, &entry, e) ||
        (entry != NO_NODE && loom_payload(x->l, entry, &summary, e)))
        return err_code(e);
    made = entry != NO_NODE && !json_truth(json_find(&summary, "provisional"));
    if (!links && !made)
        return ST_OK;
    jw_key(x->w, "heddle");
    jw_open(x->w, '{');
    if (links && write_links(x, n, e))
        return err_code(e);
    if (made)
        write_summary(x->w, &summary);
    jw_close(x->w, '}');
    return ST_OK;
}

/* Is it a kept member that is written elsewhere? */
static bool is_placed(struct sv key)
{
    static const char *const names[] = {
        "extensions", "content", "author", "meta", "edges", "was"
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(key, names[i]))
            return true;
    return false;
}

/* Write the kept members of an imported node, and heddle's own members beside them. */
static enum status write_kept(struct loom_exporting *x, const struct node *n,
                              const struct json *kept, struct err *e)
{
    struct jw         *w = x->w;
    const struct json *ext = json_find(kept, "extensions");

    for (size_t i = 0; json_is(kept, JSON_OBJECT) && i < kept->n; i++) {
        if (is_placed(kept->members[i].key))
            continue;
        jw_key_sv(w, kept->members[i].key);
        jw_json(w, &kept->members[i].value);
    }
    jw_key(w, "extensions");
    jw_open(w, '{');
    jw_key(w, "aspen-grove");
    jw_open(w, '{');
    jw_kstr(w, "localId", n->local);
    jw_close(w, '}');
    if (write_own(x, n, e))
        return err_code(e);
    for (size_t i = 0; json_is(ext, JSON_OBJECT) && i < ext->n; i++) {
        if (sv_is(ext->members[i].key, "aspen-grove") || sv_is(ext->members[i].key, "heddle"))
            continue;
        jw_key_sv(w, ext->members[i].key);
        jw_json(w, &ext->members[i].value);
    }
    jw_close(w, '}');
    return ST_OK;
}

static void write_text(struct jw *w, struct sv text)
{
    jw_open(w, '[');
    jw_open(w, '{');
    jw_kstr(w, "type", SV("text"));
    jw_kstr(w, "text", text);
    jw_close(w, '}');
    jw_close(w, ']');
}

static void write_author(struct jw *w, enum author_kind kind, struct sv name)
{
    jw_key(w, "author");
    jw_open(w, '{');
    jw_kstr(w, "role", kind == AUTHOR_HUMAN ? SV("human") : SV("model"));
    jw_kstr(w, "name", name);
    jw_close(w, '}');
}

static void write_content(struct jw *w, const struct json *payload, const struct json *kept,
                          struct arena *a)
{
    const struct json *content = json_find(kept, "content");

    jw_key(w, "content");
    if (content)
        jw_json(w, content);
    else
        write_text(w, loom_content_text(json_find(payload, "content"), a));
}

static enum status write_hash(struct loom_exporting *x, const struct node *n,
                              const struct json *kept, struct err *e)
{
    struct rows r = rows_of_loom(x->l);
    struct node parent;
    struct sb   b = sb_in(x->l->a, 0);

    if (json_find(kept, "generation") || n->kind != AUTHOR_MODEL)
        return ST_OK; /* hashes of other programs stay as they are */
    jw_key(x->w, "generation");
    jw_open(x->w, '{');
    sb_addf(&b, "sha256:" SV_FMT, SV_ARG(n->hash));
    jw_kstr(x->w, "contentHash", sb_sv(&b));
    jw_kstr(x->w, "hashAlgorithm", SV("sha256"));
    if (n->parent != NO_NODE) {
        struct sb p = sb_in(x->l->a, 0);
        if (rows_node(&r, n->parent, &parent, e))
            return err_code(e);
        sb_addf(&p, "sha256:" SV_FMT, SV_ARG(parent.hash));
        jw_key(x->w, "parentHashes");
        jw_open(x->w, '[');
        jw_str(x->w, sb_sv(&p));
        jw_close(x->w, ']');
    }
    jw_close(x->w, '}');
    return ST_OK;
}

static enum status open_loom_node(struct loom_exporting *x, const struct node *n,
                                  const struct json *payload, struct err *e)
{
    struct rows        r = rows_of_loom(x->l);
    const struct json *kept = json_find(json_find(payload, "node"), "extensions");
    struct node        from;
    bool               found = false;

    if (n->edited_from.n && rows_find(&r, n->edited_from, &from, &found, e))
        return err_code(e);
    jw_key_sv(x->w, id_of(n));
    jw_open(x->w, '{');
    jw_kstr(x->w, "id", id_of(n));
    write_content(x->w, payload, kept, x->l->a);
    if (has_members(json_find(kept, "author"))) {
        jw_key(x->w, "author");
        jw_json(x->w, json_find(kept, "author"));
    } else {
        write_author(x->w, n->kind, n->author);
    }
    write_time(x->w, "createdAt", n->at, x->l->a);
    if (found)
        jw_kstr(x->w, "editedFrom", id_of(&from));
    write_meta(x->w, n, kept);
    if (write_hash(x, n, kept, e) || write_kept(x, n, kept, e))
        return err_code(e);
    jw_close(x->w, '}');
    return ST_OK;
}

static struct sv annotation_id(int64_t number, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "ann-%lld", (long long)number);
    return sb_sv(&b);
}

/* The annotations of a place in the tree: they are listed with its first version. */
static enum status notes_of(struct loom_exporting *x, const struct node *n, struct annotation **out,
                            size_t *count, struct err *e)
{
    *count = 0;
    return n->notes && n->slot == n->seq ? loom_annotations(x->l, n, out, count, e) : ST_OK;
}

/* In Open Loom annotations are nodes, each with an edge of its own kind. */
static enum status open_loom_notes(struct loom_exporting *x, const struct node *n,
                                   const struct json *payload, struct err *e)
{
    struct annotation *list;
    size_t             count;

    (void)payload;
    if (notes_of(x, n, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        struct sv id = annotation_id(list[i].number, x->l->a);
        jw_key_sv(x->w, id);
        jw_open(x->w, '{');
        jw_kstr(x->w, "id", id);
        jw_key(x->w, "content");
        write_text(x->w, list[i].text);
        write_author(x->w, list[i].kind, list[i].author);
        write_time(x->w, "createdAt", list[i].at, x->l->a);
        jw_close(x->w, '}');
    }
    return ST_OK;
}

static void write_edge(struct jw *w, const char *type, const struct sv *sources, size_t n,
                       struct sv role, struct sv target)
{
    jw_open(w, '{');
    jw_kstr(w, "type", sv_of(type));
    jw_key(w, "sources");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "nodeId", sources[i]);
        jw_kstr(w, "role", role.n ? role : SV("primary"));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_kstr(w, "targetNodeId", target);
    jw_close(w, '}');
}

/* Record which node has which id in the file it was imported from. */
static enum status note_was(struct loom_exporting *x, const struct node *n,
                            const struct json *payload, struct err *e)
{
    struct sv was = json_text(json_find(json_find(payload, "node"), "extensions"), "was");

    (void)e;
    if (was.n) {
        struct sv *now = ARENA_NEW(x->was->a, struct sv, 1);
        *now = sv_dup(id_of(n), x->was->a);
        map_put(x->was, was, now);
    }
    return ST_OK;
}

static struct sv id_now(const struct loom_exporting *x, struct sv was)
{
    const struct sv *id = map_find(x->was, was);

    return id ? *id : was;
}

static void write_source(struct loom_exporting *x, const struct json *source)
{
    jw_open(x->w, '{');
    for (size_t i = 0; json_is(source, JSON_OBJECT) && i < source->n; i++) {
        jw_key_sv(x->w, source->members[i].key);
        if (sv_is(source->members[i].key, "nodeId"))
            jw_str(x->w, id_now(x, json_sv(&source->members[i].value)));
        else
            jw_json(x->w, &source->members[i].value);
    }
    jw_close(x->w, '}');
}

/* An imported edge, with the present ids of its nodes. */
static void write_kept_edge(struct loom_exporting *x, const struct node *n, const struct json *edge)
{
    jw_open(x->w, '{');
    for (size_t i = 0; json_is(edge, JSON_OBJECT) && i < edge->n; i++) {
        const struct json *v = &edge->members[i].value;
        jw_key_sv(x->w, edge->members[i].key);
        if (sv_is(edge->members[i].key, "targetNodeId")) {
            jw_str(x->w, id_of(n));
        } else if (sv_is(edge->members[i].key, "sources") && json_is(v, JSON_ARRAY)) {
            jw_open(x->w, '[');
            for (size_t k = 0; k < v->n; k++)
                write_source(x, &v->items[k]);
            jw_close(x->w, ']');
        } else {
            jw_json(x->w, v);
        }
    }
    jw_close(x->w, '}');
}

/* A continuation has its parent and every version of it as sources. */
static enum status open_loom_edge(struct loom_exporting *x, const struct node *n,
                                  const struct json *payload, struct err *e)
{
    struct rows r = rows_of_loom(x->l);
    struct node parent, *versions;
    size_t      count;

    const struct json *edges =
        json_find(json_find(json_find(payload, "node"), "extensions"), "edges");
    for (size_t i = 0; json_is(edges, JSON_ARRAY) && i < edges->n; i++)
        write_kept_edge(x, n, &edges->items[i]);
    if (json_is(edges, JSON_ARRAY) && edges->n)
        return ST_OK;
    if (n->parent == NO_NODE)
        return ST_OK;
    if (rows_node(&r, n->parent, &parent, e) || node_versions(x->l, &parent, &versions, &count, e))
        return err_code(e);
    struct sv *sources = ARENA_NEW(x->l->a, struct sv, count);
    for (size_t i = 0; i < count; i++)
        sources[i] = id_of(&versions[i]);
    write_edge(x->w, "continuation", sources, count, n->as, id_of(n));
    return ST_OK;
}

static enum status open_loom_note_edge(struct loom_exporting *x, const struct node *n,
                                       const struct json *payload, struct err *e)
{
    struct annotation *list;
    size_t             count;

    (void)payload;
    if (notes_of(x, n, &list, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        struct sv on = id_of(n);
        write_edge(x->w, "annotation", &on, 1, (struct sv){ 0 },
                   annotation_id(list[i].number, x->l->a));
    }
    return ST_OK;
}

static enum status write_roots(struct loom_exporting *x, struct err *e)
{
    struct node *roots;
    size_t       n;

    if (loom_roots(x->l, SIZE_MAX, &roots, &n, e))
        return err_code(e);
    jw_key(x->w, "rootNodeIds");
    jw_open(x->w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(x->w, id_of(&roots[i]));
    jw_close(x->w, ']');
    return ST_OK;
}

/* The members of a row of what an import kept. */
static enum status write_row(struct loom_exporting *x, const char *row, struct err *e)
{
    struct rows r = rows_of_loom(x->l);
    struct json kept;
    bool        found;

    if (row_json(&r, sv_of(row), &kept, &found, e))
        return err_code(e);
    for (size_t i = 0; found && json_is(&kept, JSON_OBJECT) && i < kept.n; i++) {
        jw_key_sv(x->w, kept.members[i].key);
        jw_json(x->w, &kept.members[i].value);
    }
    return ST_OK;
}

/* The agent's position, if it has one of its own. */
static enum status write_current(struct loom_exporting *x, struct sv agent, struct err *e)
{
    struct node here;
    bool        placed, found = false;

    if (loom_is_placed(x->l, agent, &placed, e) ||
        (placed && loom_position(x->l, agent, &here, &found, e)))
        return err_code(e);
    if (found)
        jw_kstr(x->w, "currentNodeId", id_of(&here));
    return ST_OK;
}

enum status export_open_loom(struct loom *l, struct sv agent, struct sb *out, struct err *e)
{
    struct jw             w = jw_in(out, 2);
    struct loom_exporting x = { .l = l, .w = &w };
    struct tree           tree;
    struct sv             title;

    if (loom_tree(l, &tree, e) || loom_title(l, &title, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "format", SV("open-loom"));
    jw_kstr(&w, "version", SV("2.0"));
    jw_key(&w, "generator");
    jw_open(&w, '{');
    jw_kstr(&w, "name", SV("heddle"));
    jw_close(&w, '}');
    if (write_row(&x, "kept/file", e))
        return err_code(e);
    jw_key(&w, "trees");
    jw_open(&w, '[');
    jw_open(&w, '{');
    jw_kstr(&w, "id", l->thread);
    jw_kstr(&w, "title", title);
    jw_kstr(&w, "mode", tree.mode);
    struct map was = map_in(l->a);
    x.was = &was;
    if (write_roots(&x, e) || write_current(&x, agent, e) || write_row(&x, "kept", e) ||
        walk(&x, note_was, e))
        return err_code(e);
    jw_key(&w, "nodes");
    jw_open(&w, '{');
    if (walk(&x, open_loom_node, e) || walk(&x, open_loom_notes, e))
        return err_code(e);
    jw_close(&w, '}');
    jw_key(&w, "edges");
    jw_open(&w, '[');
    if (walk(&x, open_loom_edge, e) || walk(&x, open_loom_note_edge, e))
        return err_code(e);
    jw_close(&w, ']');
    jw_close(&w, '}');
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(out, '\n');
    return ST_OK;
}

/* ---- heddle's own JSON -------------------------------------------------------------- */

static enum status json_node(struct loom_exporting *x, const struct node *n,
                             const struct json *payload, struct err *e)
{
    struct rows r = rows_of_loom(x->l);
    struct node parent;

    if (n->parent != NO_NODE && rows_node(&r, n->parent, &parent, e))
        return err_code(e);
    jw_open(x->w, '{');
    jw_kstr(x->w, "local_id", n->local);
    jw_key(x->w, "parent");
    jw_str(x->w, n->parent == NO_NODE ? (struct sv){ 0 } : parent.local);
    jw_kstr(x->w, "author", n->author);
    jw_kstr(x->w, "kind", sv_of(author_kind_name(n->kind)));
    jw_kint(x->w, "at", n->at);
    jw_kint(x->w, "seq", n->seq);
    jw_kint(x->w, "depth", n->depth);
    jw_kstr(x->w, "lane", n->lane);
    jw_kstr(x->w, "text", loom_content_text(json_find(payload, "content"), x->l->a));
    if (n->edited_from.n)
        jw_kstr(x->w, "edited_from", n->edited_from);
    jw_kbool(x->w, "version", n->slot != n->seq);
    jw_kbool(x->w, "bookmarked", n->bookmarked);
    if (n->label.n)
        jw_kstr(x->w, "label", n->label);
    jw_kbool(x->w, "pruned", n->pruned);
    jw_kbool(x->w, "excluded", n->excluded);
    jw_kstr(x->w, "hash", n->hash);
    jw_close(x->w, '}');
    return ST_OK;
}

enum status export_json(struct loom *l, struct sb *out, struct err *e)
{
    struct jw             w = jw_in(out, 0);
    struct loom_exporting x = { .l = l, .w = &w };
    struct tree           tree;
    struct sv             title;

    if (loom_tree(l, &tree, e) || loom_title(l, &title, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "thread", l->thread);
    jw_kstr(&w, "title", title);
    jw_kstr(&w, "mode", tree.mode);
    jw_key(&w, "nodes");
    jw_open(&w, '[');
    if (walk(&x, json_node, e))
        return err_code(e);
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(out, '\n');
    return ST_OK;
}

/* ---- Markdown ----------------------------------------------------------------------- */

/* A text that begins like a speaker's line or a heading would change the page's meaning. */
static void add_markdown(struct sb *b, struct sv text)
{
    struct sv_cut c = { .tail = text, .found = true };

    while (c.found) {
        c = sv_cut(c.tail, '\n');
        if (sv_starts(c.head, SV("**")) || sv_starts(c.head, SV("# ")))
            sb_addc(b, '\\');
        sb_add(b, c.head);
        if (c.found)
            sb_addc(b, '\n');
    }
}

enum status export_markdown(struct loom *l, struct sv agent, const struct node *n, struct sb *out,
                            struct err *e)
{
    struct node *path;
    size_t       count, excluded = 0;
    struct sv    title, text;
    bool         buffer;

    if (loom_title(l, &title, e) || loom_is_buffer(l, &buffer, e) ||
        node_path(l, agent, n, 0, &path, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++)
        excluded += path[i].excluded;
    sb_adds(out, "# ");
    sb_add_oneline(out, title);
    sb_addf(out, "\n\n*The path to " SV_FMT ", %zu node%s", SV_ARG(n->local), count - excluded,
            count - excluded == 1 ? "" : "s");
    if (excluded)
        sb_addf(out, " (without %zu excluded)", excluded);
    sb_adds(out, ", exported by heddle.*\n");
    sb_adds(out, buffer ? "\n" : "");
    for (size_t i = 0; i < count; i++) {
        if (path[i].excluded)
            continue;
        if (node_text(l, path[i].seq, &text, e))
            return err_code(e);
        if (!buffer)
            sb_addf(out, "\n**" SV_FMT ":**\n\n", SV_ARG(path[i].author));
        add_markdown(out, text);
        sb_adds(out, buffer ? "" : "\n");
    }
    sb_adds(out, buffer ? "\n" : "");
    return ST_OK;
}
