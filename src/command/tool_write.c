/* Tools that move and write: switch, respond, annotate, link, edit, bookmark, prune, exclude. Each
 * notes how it can be taken back. */
#include "base/json.h"
#include "base/utf8.h"
#include "command/carry.h"
#include "command/run.h"
#include "loom/shown.h"
#include "thread/scan.h"

/* {"do":WHAT,"node":LOCAL,…}: read by tool_undo.c. */
static struct sv undo_of(struct session *s, const char *what, struct sv node, const char *key,
                         struct sv value)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", sv_of(what));
    jw_kstr(&w, "node", node);
    if (key)
        jw_kstr(&w, key, value);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static struct sv undo_number(struct session *s, const char *what, struct sv node, const char *key,
                             int64_t value)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", sv_of(what));
    jw_kstr(&w, "node", node);
    jw_kint(&w, key, value);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- switch ----------------------------------------------------------------------- */

/* A thread that was named. One that was only ever a log becomes a tree now, whatever its length. */
static enum status open_tree(struct session *s, struct sv thread, struct loom *out, struct err *e)
{
    if (log_catch_up(s->log, thread, INT64_MAX, e))
        return err_code(e);
    return loom_other(&s->loom, thread, out, e);
}

/* The only thread with this title. One that is not a tree yet has the title of the registry only:
 * reading the trees of all threads would block all writers. */
static enum status find_titled(struct session *s, const struct store_thread *threads, size_t n,
                               struct sv name, struct loom *out, struct err *e)
{
    struct sv title, found = { 0 };
    size_t    times = 0, unread = 0;

    for (size_t i = 0; i < n && times < 2; i++) {
        bool kept = log_keeps(s->log, &threads[i].head, &loom_view);
        if (sv_eq(threads[i].id, GLOBAL_THREAD))
            continue;
        if (loom_other(&s->loom, threads[i].id, out, e) || (kept && loom_title(out, &title, e)))
            return err_code(e);
        unread += !kept;
        if (!sv_eq(kept ? title : out->title, name))
            continue;
        times++;
        found = threads[i].id;
    }
    if (times == 1)
        return open_tree(s, found, out, e);
    if (times) {
        err_set(e, ST_INVALID_SYNTAX, "several trees are called \"" SV_FMT "\"",
                SV_ARG(utf8_first(name, 120)));
        return err_hint(e, "name the thread instead, such as tree:\"" SV_FMT "\"", SV_ARG(found));
    }
    err_set(e, ST_NOT_FOUND, "no tree \"" SV_FMT "\"", SV_ARG(utf8_first(name, 120)));
    return unread ? err_hint(e, "a thread that nobody opened as a tree is found by its id only")
                  : e->code;
}

/* The thread whose id or title this is. */
static enum status find_tree(struct session *s, struct sv name, struct loom *out, struct err *e)
{
    struct store_thread *threads;
    size_t               n;

    if (log_threads(s->log, s->a, &threads, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (sv_eq(threads[i].id, name))
            return open_tree(s, name, out, e);
    return find_titled(s, threads, n, name, out, e);
}

static enum status tell_place(struct session *s, const struct node *n, struct result *r,
                              struct err *e)
{
    struct node slot = *n;

    if (slot.slot != slot.seq && node_at(&s->loom, slot.slot, &slot, e))
        return err_code(e);
    sb_addf(&r->text, "  depth:%lld · ", (long long)n->depth);
    sb_add_count(&r->text, slot.kids, "continuation");
    sb_adds(&r->text, " · path: ");
    if (show_short_path(&s->loom, s->agent.name, n, &r->text, e))
        return err_code(e);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

/* ` as "label"`; nothing when there is none. */
static void add_quoted(struct sb *b, const char *before, struct sv text)
{
    if (!text.s)
        return;
    sb_addf(b, "%s\"", before);
    sb_add_oneline(b, text);
    sb_addc(b, '"');
}

enum status session_switch_tree(struct session *s, struct sv name, struct err *e)
{
    struct loom other;

    if (find_tree(s, name, &other, e))
        return err_code(e);
    s->loom = other;
    return ST_OK;
}

/* In another tree: what was left there is due to be summarised. A turn stays in its own tree. */
static enum status leave_tree(struct session *s, struct loom *left, struct err *e)
{
    if (s->run.id.n || sv_eq(left->thread, s->loom.thread))
        return ST_OK;
    return loom_close(left, s->agent.name, e);
}

static enum status move(struct session *s, const struct call *c, struct loom *before,
                        struct node *n, struct result *r, struct err *e)
{
    struct carried along = { 0 };
    bool           carry = call_has(c, "carry") || (s->env.carry && !call_has(c, "tree"));

    if (node_find_visible(&s->loom, call_text(c, "id"), n, e))
        return err_code(e);
    if (carry &&
        (carry_prepare(s, n, &along, e) || node_find_visible(&s->loom, call_text(c, "id"), n, e)))
        return err_code(e);
    if (loom_switch(&s->loom, s->agent.name, s->agent.kind, n, e) || leave_tree(s, before, e))
        return err_code(e);
    r->object = n->local;
    sb_addf(&r->text, "✓ switched to [" SV_FMT "]", SV_ARG(n->local));
    add_quoted(&r->text, " in tree:", call_text(c, "tree"));
    sb_addc(&r->text, '\n');
    if (call_has(c, "carry") || along.text.n || along.why_not.code)
        return carry_add(s, &along, n, r, e);
    return ST_OK;
}

RUN(switch)
{
    struct sv   tree = call_text(c, "tree");
    struct loom before = s->loom;
    struct node n;

    if (tree.s && session_switch_tree(s, tree, e))
        return err_code(e);
    if (move(s, c, &before, &n, r, e)) {
        s->loom = before;
        return err_code(e);
    }
    return tell_place(s, &n, r, e);
}

/* ---- nodes ------------------------------------------------------------------------ */

/* The first words of an empty tree follow nothing. */
static enum status start_tree(struct session *s, const struct new_node *n, struct result *r,
                              struct err *e)
{
    struct node made;

    if (loom_add(&s->loom, n, &made, e))
        return err_code(e);
    sb_addf(&r->text, "✓ created [" SV_FMT "] as root\n  switched to [" SV_FMT "]\n",
            SV_ARG(made.local), SV_ARG(made.local));
    return ST_OK;
}

RUN(respond)
{
    struct sv       as = call_text(c, "as");
    struct tree     tree;
    struct node     parent, made;
    struct new_node n = { .text = call_text(c, "text"),
                          .author = s->agent.name,
                          .kind = s->agent.kind,
                          .via = "respond",
                          .as = as };

    if (loom_tree(&s->loom, &tree, e))
        return err_code(e);
    if (tree.root == NO_NODE && !call_has(c, "id"))
        return start_tree(s, &n, r, e);
    n.parent = &parent;
    if (session_node(s, call_text(c, "id"), &parent, e) ||
        session_passed(s, call_text(c, "id"), &parent, e) || loom_add(&s->loom, &n, &made, e))
        return err_code(e);
    r->object = parent.local;
    r->undo = undo_of(s, "prune", made.local, "back", parent.local);
    sb_addf(&r->text,
            "✓ created [" SV_FMT "] as " SV_FMT " from [" SV_FMT "]\n  switched to [" SV_FMT "]\n",
            SV_ARG(made.local), SV_ARG(as.n ? as : SV("continuation")), SV_ARG(parent.local),
            SV_ARG(made.local));
    if (s->passed.n)
        sb_addf(&r->text, "  a new branch: others had gone on from [" SV_FMT "] to [" SV_FMT "]\n",
                SV_ARG(parent.local), SV_ARG(s->passed));
    return ST_OK;
}

RUN(annotate)
{
    struct node n;
    int64_t     number;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e) ||
        loom_annotate(&s->loom, s->agent.name, s->agent.kind, &n, call_text(c, "text"), &number, e))
        return err_code(e);
    r->object = n.local;
    r->undo = undo_number(s, "unannotate", n.local, "annotation", number);
    sb_addf(&r->text, "✓ annotation [ann-%lld] added to [" SV_FMT "]\n", (long long)number,
            SV_ARG(n.local));
    return ST_OK;
}

RUN(edit)
{
    struct node n, made;
    bool        in_place;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e) ||
        loom_edit(&s->loom, &n, call_text(c, "text"), s->agent.name, s->agent.kind, &made,
                  &in_place, e))
        return err_code(e);
    r->object = n.local;
    r->undo = undo_of(s, in_place ? "withdraw" : "prune", made.local, "back", n.local);
    sb_addf(&r->text, "✓ created %s [" SV_FMT "] from [" SV_FMT "]\n  %s\n",
            in_place ? "version" : "branch", SV_ARG(made.local), SV_ARG(n.local),
            in_place ? "downstream nodes preserved via hyperedge"
                     : "conversation continues from edit point");
    return ST_OK;
}

/* ---- link ------------------------------------------------------------------------- */

static enum status link_target(struct session *s, const struct call *c, const struct node *from,
                               struct link_target *to, struct err *e)
{
    struct node n;
    struct loom other;
    struct doc  doc;

    *to = (struct link_target){ 0 };
    if (call_has(c, "tree")) {
        if (find_tree(s, call_text(c, "tree"), &other, e))
            return err_code(e);
        if (call_has(c, "node")) {
            if (node_find(&other, call_text(c, "node"), &n, e))
                return err_code(e);
            to->node = n.local;
        }
        to->tree = other.thread;
        return loom_title(&other, &to->tree_title, e);
    }
    if (call_has(c, "doc")) {
        struct section at;
        to->doc = call_text(c, "doc");
        to->section = call_text(c, "section");
        if (session_doc(s, to->doc, &doc, e))
            return err_code(e);
        return to->section.n ? doc_section(doc.text, to->section, &at, e) : ST_OK;
    }
    if (node_find_visible(&s->loom, call_text(c, "target"), &n, e))
        return err_code(e);
    if (n.slot == from->slot)
        return err_set(e, ST_INVALID_SYNTAX, "a node cannot be linked to itself");
    to->node = n.local;
    return ST_OK;
}

RUN(link)
{
    struct node        n;
    struct link_target to;
    int64_t            entry;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e) || link_target(s, c, &n, &to, e) ||
        loom_link(&s->loom, s->agent.name, &n, &to, call_text(c, "note"), &entry, e))
        return err_code(e);
    r->object = n.local;
    if (entry >= 0)
        r->undo = undo_number(s, "unlink", n.local, "link", entry);
    sb_addf(&r->text, "✓ linked [" SV_FMT "] ↔ ", SV_ARG(n.local));
    show_target(&r->text, &to, true);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

/* ---- marks ------------------------------------------------------------------------ */

RUN(bookmark)
{
    struct sv   label = call_text(c, "label");
    struct node n;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    r->undo = n.bookmarked ? undo_of(s, "bookmark", n.local, n.label.s ? "label" : NULL, n.label)
                           : undo_of(s, "unbookmark", n.local, NULL, label);
    if (loom_mark(&s->loom, s->agent.name, "bookmark", &n, label, e))
        return err_code(e);
    r->object = n.local;
    sb_addf(&r->text, "✓ bookmarked [" SV_FMT "]", SV_ARG(n.local));
    add_quoted(&r->text, " as ", label);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

RUN(unbookmark)
{
    struct node n;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    if (n.bookmarked) {
        r->undo = undo_of(s, "bookmark", n.local, n.label.s ? "label" : NULL, n.label);
        if (loom_mark(&s->loom, s->agent.name, "unbookmark", &n, (struct sv){ 0 }, e))
            return err_code(e);
    }
    r->object = n.local;
    sb_addf(&r->text, "✓ unbookmarked [" SV_FMT "]\n", SV_ARG(n.local));
    return ST_OK;
}

/* Repeating it writes nothing. */
static enum status set_excluded(struct session *s, const struct call *c, bool excluded,
                                struct result *r, struct err *e)
{
    const char *mark = excluded ? "exclude" : "include", *back = excluded ? "include" : "exclude";
    struct node n;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    r->object = n.local;
    if (n.excluded == excluded) {
        sb_addf(&r->text, "✓ [" SV_FMT "] is %s\n", SV_ARG(n.local),
                excluded ? "already excluded" : "not excluded");
        return ST_OK;
    }
    r->undo = undo_of(s, back, n.local, NULL, n.local);
    if (loom_mark(&s->loom, s->agent.name, mark, &n, (struct sv){ 0 }, e))
        return err_code(e);
    sb_addf(&r->text,
            excluded ? "✓ excluded [" SV_FMT "] from what models are sent\n"
                     : "✓ included [" SV_FMT "] again\n",
            SV_ARG(n.local));
    return ST_OK;
}

RUN(exclude)
{
    return set_excluded(s, c, true, r, e);
}

RUN(include)
{
    return set_excluded(s, c, false, r, e);
}

/* Is another agent active at the node or below it? */
static enum status check_nobody_inside(struct session *s, const struct node *n, struct err *e)
{
    struct presence *others;
    size_t           count;
    struct node      up;

    if (loom_presence(&s->loom, s->agent.name, &others, &count, e))
        return err_code(e);
    for (size_t i = 0; i < count; i++) {
        if (others[i].node.depth < n->depth)
            continue;
        if (node_ancestor(&s->loom, &others[i].node, n->depth, &up, e))
            return err_code(e);
        if (up.seq != n->slot)
            continue;
        struct sb who = sb_in(s->a, 0);
        if (others[i].kind == AUTHOR_HUMAN)
            sb_adds(&who, "Human");
        else
            sb_add_quoted(&who, others[i].agent);
        err_set(e, ST_CONFLICT, SV_FMT " is active at [" SV_FMT "]", SV_ARG(sb_sv(&who)),
                SV_ARG(others[i].node.local));
        return err_hint(e, "ask them to move, or prune a branch below");
    }
    return ST_OK;
}

static void tell_pruned(struct result *r, const char *what, const struct node *n, int64_t below)
{
    sb_addf(&r->text, "✓ %s [" SV_FMT "] and ", what, SV_ARG(n->local));
    sb_add_count(&r->text, below, "descendant");
    sb_addc(&r->text, '\n');
}

RUN(prune)
{
    struct node n, here, parent, up;
    int64_t     below;
    bool        found;

    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    if (n.parent == NO_NODE) {
        err_set(e, ST_INVALID_SYNTAX, "the root cannot be pruned");
        return err_hint(e, "prune its continuations instead");
    }
    if (lease_check_path(&s->loom, s->agent.name, &n, e) || check_nobody_inside(s, &n, e) ||
        loom_below(&s->loom, &n, &below, e) ||
        loom_position(&s->loom, s->agent.name, &here, &found, e) ||
        loom_mark(&s->loom, s->agent.name, "prune", &n, (struct sv){ 0 }, e))
        return err_code(e);
    r->object = n.local;
    r->undo = undo_of(s, "restore", n.local, NULL, n.local);
    tell_pruned(r, "pruned", &n, below);
    if (!found || here.depth < n.depth)
        return ST_OK;
    if (node_ancestor(&s->loom, &here, n.depth, &up, e))
        return err_code(e);
    if (up.seq != n.slot)
        return ST_OK;
    /* An agent that prunes the branch of its own position moves to the parent of that branch. */
    if (node_at(&s->loom, n.parent, &parent, e) ||
        loom_switch(&s->loom, s->agent.name, s->agent.kind, &parent, e))
        return err_code(e);
    sb_addf(&r->text, "  switched to [" SV_FMT "]\n", SV_ARG(parent.local));
    return ST_OK;
}

RUN(restore)
{
    struct node n, by_node;
    int64_t     below, by;

    if (node_find(&s->loom, call_text(c, "id"), &n, e) || node_hidden(&s->loom, &n, &by, e))
        return err_code(e);
    if (n.slot != n.seq && node_at(&s->loom, n.slot, &n, e))
        return err_code(e);
    if (!n.pruned) {
        err_set(e, ST_NOT_FOUND, "node [" SV_FMT "] was not pruned", SV_ARG(n.local));
        if (by == NO_NODE || node_at(&s->loom, by, &by_node, e))
            return ST_NOT_FOUND;
        return err_hint(e, "it is hidden by another prune: → restore " SV_FMT,
                        SV_ARG(by_node.local));
    }
    if (loom_mark(&s->loom, s->agent.name, "restore", &n, (struct sv){ 0 }, e) ||
        loom_below(&s->loom, &n, &below, e) || node_hidden(&s->loom, &n, &by, e))
        return err_code(e);
    r->object = n.local;
    r->undo = undo_of(s, "prune", n.local, NULL, n.local);
    tell_pruned(r, "restored", &n, below);
    if (by != NO_NODE) {
        if (node_at(&s->loom, by, &by_node, e))
            return err_code(e);
        sb_addf(&r->text, "  still hidden by the prune of [" SV_FMT "]\n", SV_ARG(by_node.local));
    }
    return ST_OK;
}
