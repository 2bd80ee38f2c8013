/* Tools that look: view, tree, path, diff, changes. They read, and leave a trace. */
#include "base/diff.h"
#include "base/json.h"
#include "base/vec.h"
#include "command/run.h"
#include "command/summary.h"
#include "loom/piece.h"
#include "loom/search.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ann-3 names an annotation. */
bool tool_annotation_number(struct sv id, int64_t *n)
{
    return sv_starts(id, SV("ann-")) && sv_to_int(sv_skip(id, 4), n);
}

static enum status view_annotation(struct session *s, struct sv id, int64_t number,
                                   struct result *r, struct err *e)
{
    struct annotation x;
    bool              found;

    if (loom_annotation(&s->loom, number, &x, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_NOT_FOUND, "annotation [" SV_FMT "] does not exist in this tree",
                       SV_ARG(id));
    r->object = id;
    return show_annotation(&s->loom, &x, &r->text, e);
}

/* Lines of a text under a heading: ` lines 3-9 of 40`, then the lines. */
static enum status add_part(struct sv text, struct sv range, bool ours, struct sb *b, struct err *e)
{
    struct sv part;
    int64_t   first, last;

    if (piece_of_range(text, range, &first, &last, &part, e))
        return err_code(e);
    sb_addf(b, "lines %lld-%lld of %lld\n", (long long)first, (long long)last,
            (long long)piece_lines(text));
    if (ours)
        sb_add(b, part);
    else
        sb_add_shown(b, part);
    sb_adds(b, sv_ends(part, SV("\n")) ? "" : "\n");
    return ST_OK;
}

static enum status view_branch(struct session *s, const struct call *c, struct result *r,
                               struct err *e)
{
    struct node n;
    struct sv   as = call_text(c, "as");
    struct sb   all = sb_in(s->a, 0), form = sb_in(s->a, 0);

    if (node_find_visible(&s->loom, call_text(c, "branch"), &n, e))
        return err_code(e);
    r->object = n.local;
    if (sv_is(as, "nodes") ? show_branch_nodes(&s->loom, &s->viewer, &n, &all, e)
                           : show_prose(&s->loom, &s->viewer, &n, &all, e))
        return err_code(e);
    if (call_has(c, "lines"))
        return add_part(sb_sv(&all), call_text(c, "lines"), true, &r->text, e);
    r->text = all;
    sb_addf(&form, "view branch:" SV_FMT " as:" SV_FMT, SV_ARG(n.local),
            SV_ARG(as.n ? as : SV("prose")));
    session_parts(r, sb_sv(&form), sb_sv(&all));
    return ST_OK;
}

static enum status view_lines(struct session *s, const struct node *n, struct sv range,
                              struct result *r, struct err *e)
{
    struct sv text;

    if (node_text(&s->loom, n->seq, &text, e))
        return err_code(e);
    r->object = n->local;
    sb_addf(&r->text, "[" SV_FMT "] %s · ", SV_ARG(n->local), author_kind_name(n->kind));
    return add_part(text, range, false, &r->text, e);
}

/* What a command showed, before it was shortened: heddle's own text, and as safe as it was then. */
static enum status view_result(struct session *s, const struct call *c, struct result *r,
                               struct err *e)
{
    struct kept_result kept;
    struct sb          name = sb_in(s->a, 0), form = sb_in(s->a, 0);
    int64_t            number = call_count(c, "result", -1);

    if (loom_result(&s->loom, s->agent.name, number, &kept, e))
        return err_code(e);
    sb_addf(&name, "result:%lld", (long long)number);
    r->object = sb_sv(&name);
    sb_addf(&r->text, SV_FMT " of → ", SV_ARG(r->object));
    sb_add_oneline(&r->text, kept.line);
    if (call_has(c, "lines")) {
        sb_adds(&r->text, " · ");
        return add_part(kept.full, call_text(c, "lines"), true, &r->text, e);
    }
    sb_addc(&r->text, '\n');
    sb_add(&r->text, kept.full);
    sb_addf(&form, "view " SV_FMT, SV_ARG(r->object));
    session_parts(r, sb_sv(&form), kept.full);
    return ST_OK;
}

/* A node in full; how to read it in parts when that is too long. */
static enum status note_parts(struct session *s, const struct node *n, struct result *r,
                              struct err *e)
{
    struct sb form = sb_in(s->a, 0);
    struct sv text;

    if (node_text(&s->loom, n->seq, &text, e))
        return err_code(e);
    sb_addf(&form, "view " SV_FMT, SV_ARG(n->local));
    session_parts(r, sb_sv(&form), text);
    return ST_OK;
}

RUN(view)
{
    struct node     n;
    int64_t         number;
    enum show_flags flags = 0;

    if (call_has(c, "branch"))
        return view_branch(s, c, r, e);
    if (call_has(c, "result"))
        return view_result(s, c, r, e);
    if (tool_annotation_number(call_text(c, "id"), &number))
        return view_annotation(s, call_text(c, "id"), number, r, e);
    if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
        return err_code(e);
    if (call_has(c, "lines"))
        return view_lines(s, &n, call_text(c, "lines"), r, e);
    if (call_has(c, "full"))
        flags |= SHOW_FULL;
    else if (session_summarise(s, &n, e))
        return err_code(e);
    if (call_has(c, "with-annotations"))
        flags |= SHOW_ANNOTATIONS;
    r->object = n.local;
    if (call_has(c, "full") && note_parts(s, &n, r, e))
        return err_code(e);
    return show_node(&s->loom, &n, flags, &r->text, e);
}

RUN(tree)
{
    int64_t     depth = call_count(c, "depth", TREE_DEPTH);
    struct node from;

    if (depth > TREE_DEPTH_MAX || depth < 1) {
        err_set(e, ST_LIMIT_EXCEEDED, "depth must be between 1 and %d", TREE_DEPTH_MAX);
        return err_hint(e, "use depth:%d or less, and from:ID to look further", TREE_DEPTH_MAX);
    }
    if (call_has(c, "summary"))
        return show_tree_summary(&s->loom, &r->text, e);
    if (!call_has(c, "from"))
        return show_tree(&s->loom, &s->viewer, NULL, depth, &r->text, e);
    if (node_find_visible(&s->loom, call_text(c, "from"), &from, e))
        return err_code(e);
    return show_tree(&s->loom, &s->viewer, &from, depth, &r->text, e);
}

/* ---- path ------------------------------------------------------------------------- */

enum { PATH_MAX_LINES = 100 };

RUN(path)
{
    struct node n, *path;
    size_t      count;

    if (session_node(s, call_text(c, "id"), &n, e))
        return err_code(e);
    int64_t from = n.depth + 1 > PATH_MAX_LINES ? n.depth + 1 - PATH_MAX_LINES : 0;
    if (node_path(&s->loom, s->agent.name, &n, from, &path, &count, e))
        return err_code(e);
    r->object = n.local;
    sb_addf(&r->text, "Path to [" SV_FMT "] (", SV_ARG(n.local));
    sb_add_count(&r->text, n.depth + 1, "node");
    sb_adds(&r->text, "):\n");
    if (from)
        sb_addf(&r->text, "  ... %lld earlier\n", (long long)from);
    for (size_t i = 0; i < count; i++) {
        struct sv text;
        bool      made;
        if (node_summary(&s->loom, &path[i], &text, &made, e))
            return err_code(e);
        sb_addf(&r->text, "  [" SV_FMT "] %s · ", SV_ARG(path[i].local),
                author_kind_name(path[i].kind));
        sb_add_preview(&r->text, text, PREVIEW_LIST);
        sb_addc(&r->text, '\n');
    }
    return ST_OK;
}

/* ---- diff ------------------------------------------------------------------------- */

static void diff_line(void *ctx, char mark, struct sv line)
{
    struct sb *b = ctx;

    sb_addf(b, "%c ", mark);
    sb_add_shown(b, line);
    sb_addc(b, '\n');
}

RUN(diff)
{
    struct node x, y;
    struct sv   before, after;
    struct sb   object = sb_in(s->a, 0), lines = sb_in(s->a, 0);

    if (node_find_visible(&s->loom, call_text(c, "a"), &x, e) ||
        node_find_visible(&s->loom, call_text(c, "b"), &y, e) ||
        node_text(&s->loom, x.seq, &before, e) || node_text(&s->loom, y.seq, &after, e))
        return err_code(e);
    if (!diff_lines(before, after, diff_line, &lines)) {
        err_set(e, ST_LIMIT_EXCEEDED, "a text has more than %d lines", DIFF_LINES_MAX);
        return err_hint(e, "view them with → view ID full");
    }
    sb_addf(&object, SV_FMT " and " SV_FMT, SV_ARG(x.local), SV_ARG(y.local));
    r->object = sb_sv(&object);
    sb_addf(&r->text, "diff [" SV_FMT "] [" SV_FMT "]%s\n", SV_ARG(x.local), SV_ARG(y.local),
            sv_eq(before, after) ? ": the same text" : "");
    if (!sv_eq(before, after))
        sb_add(&r->text, sb_sv(&lines));
    return ST_OK;
}

/* ---- changes ---------------------------------------------------------------------- */

enum { CHANGES_MAX = 50 };

/* " ada annotated [a7x2]": who did what to which node. */
static void tell_deed(struct sb *b, struct sv who, const char *what, struct sv node)
{
    sb_adds(b, "  ");
    sb_add_name(b, who);
    sb_adds(b, what);
    if (!node.n)
        return;
    sb_adds(b, " [");
    sb_add_oneline(b, node);
    sb_addc(b, ']');
}

static enum status tell_node(struct session *s, int64_t seq, struct sb *b, struct err *e)
{
    struct node node;
    struct sv   text;

    if (node_at(&s->loom, seq, &node, e) || node_text(&s->loom, seq, &text, e))
        return err_code(e);
    tell_deed(b, node.author, node.edited_from.n ? " edited" : " added", node.local);
    sb_addc(b, ' ');
    sb_add_preview(b, text, PREVIEW_LIST);
    sb_addc(b, '\n');
    return ST_OK;
}

/* Marks that are of no interest to others. */
static bool is_quiet(struct sv mark)
{
    return sv_is(mark, "lease") || sv_is(mark, "release");
}

/* One line about another agent's entry; nothing for entries of no interest. The log may be
 * imported, so its texts are never printed raw. */
static enum status tell(struct session *s, const struct entry *n, struct arena *scratch,
                        struct sb *b, struct err *e)
{
    struct json p;
    enum kind   k = kind_of(n->kind);

    if (k == KIND_AI_MESSAGE)
        return tell_node(s, n->seq, b, e);
    if (json_parse(skeleton_shown(n, scratch), 0, scratch, &p, e))
        return err_code(e);
    struct sv mark = json_text(&p, "mark"), on = json_text(&p, "node");
    if (k == KIND_LOOM_ANNOTATION) {
        tell_deed(b, n->actor, " annotated", on);
        sb_addc(b, ' ');
        sb_add_preview(b, json_text(&p, "text"), PREVIEW_LIST);
    } else if (k == KIND_LOOM_LINK) {
        tell_deed(b, n->actor, " linked", on);
    } else if (k == KIND_DOCUMENT_WRITE) {
        tell_deed(b, n->actor, " wrote ", (struct sv){ 0 });
        show_target(b, &(struct link_target){ .doc = json_text(&p, "doc") }, true);
    } else if (k == KIND_LOOM_MARK && !is_quiet(mark) && on.n) {
        tell_deed(b, n->actor, ": ", (struct sv){ 0 });
        sb_add_oneline(b, mark);
        sb_adds(b, " [");
        sb_add_oneline(b, on);
        sb_addc(b, ']');
    } else {
        return ST_OK;
    }
    sb_addc(b, '\n');
    return ST_OK;
}

RUN(changes)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct sv                              since = call_text(c, "since");
    struct store_query                     q = { .thread = s->loom.thread, .to = STORE_TO_END };
    struct entry                           n;
    struct sb                              lines = sb_in(s->a, 0);
    int64_t                                from = -1, told = 0, left = 0;
    bool                                   more = true;

    if (!since.s || sv_is(since, "turn")) {
        if (memory_turn(&s->loom, s->agent.name, &from, e))
            return err_code(e);
    } else if (!sv_to_int(since, &from) || from == INT64_MAX) {
        err_set(e, ST_INVALID_SYNTAX, "since: takes turn or a number");
        return err_hint(e, "→ changes since:turn");
    }
    q.from = from + 1;
    if (log_scan(s->log, &q, &scan, e))
        return err_code(e);
    while (more) {
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (!more || sv_eq(n.actor, s->agent.name))
            continue;
        size_t       before = lines.n;
        struct arena scratch = { 0 }; /* most entries of a long log give no line */
        enum status  st = told < CHANGES_MAX ? tell(s, &n, &scratch, &lines, e) : ST_OK;
        arena_free(&scratch);
        if (st)
            return st;
        left += told >= CHANGES_MAX;
        told += lines.n > before;
    }
    sb_adds(&r->text, told ? "Changes by others:\n" : "No changes by others.\n");
    sb_add(&r->text, sb_sv(&lines));
    if (left)
        sb_addf(&r->text, "  ... %lld more entries\n", (long long)left);
    return ST_OK;
}

/* ---- find ------------------------------------------------------------------------- */

enum { FIND_DEFAULT = 10, FIND_MAX = 50 };

static enum status index_words(struct session *s, const void *done, struct err *e)
{
    return loom_index(s->log, s->loom.thread, *(struct loom_indexed *const *)done, e);
}

/* Entries written since the last search are indexed first. */
static enum status bring_index_up_to_date(struct session *s, struct err *e)
{
    struct loom_indexed slice = { .more = true }, *done = &slice;
    bool                due;

    if (loom_index_is_due(s->log, s->loom.thread, &due, e))
        return err_code(e);
    while (due && slice.more) {
        if (slice.at)
            log_let_others(s->log);
        if (session_keep(s, index_words, &done, e))
            return err_code(e);
    }
    return ST_OK;
}

RUN(find)
{
    struct sv     query = call_text(c, "query");
    int64_t       max = call_count(c, "max", FIND_DEFAULT);
    struct found *list;
    size_t        n;
    bool          more;

    r->object = query;
    if (max < 1 || max > FIND_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max results per search is %d", FIND_MAX);
        return err_hint(e, max < 1 ? "use max:1 or more" : "use max:%d or less", FIND_MAX);
    }
    if (bring_index_up_to_date(s, e) ||
        loom_find(&s->loom, query, false, (size_t)max, &list, &n, &more, e))
        return err_code(e);
    sb_adds(&r->text, "Find: \"");
    sb_add_oneline(&r->text, query);
    sb_adds(&r->text, "\"\n");
    sb_add_count(&r->text, (int64_t)n, "node");
    sb_adds(&r->text, more ? " (there may be more)\n" : "\n");
    for (size_t i = 0; i < n; i++) {
        sb_addf(&r->text, "  [" SV_FMT "] %s · ", SV_ARG(list[i].node.local),
                author_kind_name(list[i].node.kind));
        found_excerpt(&r->text, list[i].text, query);
        sb_addc(&r->text, '\n');
    }
    return ST_OK;
}
