/* The blocks that make a conversation loom-aware. Their wording is part of the contract
 * with the models: change nothing here without need. */
#include "loom/piece.h"
#include "loom/results.h"
#include "loom/show.h"
#include "loom/shown.h"

void show_addendum(struct sb *b, unsigned permissions)
{
    sb_adds(b, "You are operating in a loom-aware context. This means:\n"
               "\n"
               "- You are located within a tree structure of branching conversations\n"
               "- Each node in the conversation shows metadata: [localId] author · time · "
               "connections\n"
               "- System-level context at the end of each turn shows your position and "
               "permissions\n"
               "- You can navigate, inspect, annotate, and create content using tool commands\n"
               "- Tool commands start with → on their own line (e.g., → view a7x2)\n"
               "- You share this workspace with human collaborators who see the same tree\n"
               "\n"
               "Your current permissions: ");
    permissions_list(b, permissions);
    sb_adds(b, "\nUse → help to see available commands.\n");
}

/* ---- operational memory ----------------------------------------------------------- */

struct memory_block {
    struct loom         *l;
    const struct viewer *v;
    struct memory_show  *how;
    struct sb           *b;
    bool                 any; /* a section has been written */
};

static void section(struct memory_block *m, const char *title)
{
    sb_adds(m->b, m->any ? "\n" : "=== Operational Memory ===\n");
    sb_adds(m->b, title);
    m->any = true;
}

/* An imported log may pin a node that its tree does not have: only this pin is left out, not the
 * block. */
static enum status add_pinned_node(struct memory_block *m, struct sv id, struct err *e)
{
    struct node n;
    struct sv   text;

    enum status found = node_find(m->l, id, &n, e);
    if (found && found != ST_NOT_FOUND && found != ST_CROSS_TREE)
        return found;
    if (!found && node_brief(m->l, &n, &text, e))
        return err_code(e);
    sb_adds(m->b, "  [");
    sb_add_oneline(m->b, found ? id : n.local);
    sb_adds(m->b, "] ");
    if (found)
        sb_adds(m->b, "(unavailable)");
    else
        sb_add_preview(m->b, text, PREVIEW_MEMORY);
    sb_addc(m->b, '\n');
    return ST_OK;
}

static enum status add_pinned_result(struct memory_block *m, const struct pin *p, struct err *e)
{
    struct kept_result r = { .line = SV("(unavailable)") };

    enum status found = loom_result(m->l, m->v->agent, p->result, &r, e);
    if (found && found != ST_NOT_FOUND)
        return found;
    sb_addf(m->b, "  result:%lld of → ", (long long)p->result);
    sb_add_oneline(m->b, r.line);
    sb_addc(m->b, '\n');
    return ST_OK;
}

static enum status add_pin(struct memory_block *m, const struct pin *p, struct err *e)
{
    int64_t    words = -1;
    struct err gone;

    if (p->is_result)
        return add_pinned_result(m, p, e);
    if (p->node.n)
        return add_pinned_node(m, p->node, e);
    if (m->how->doc_words && m->how->doc_words(m->how->ctx, p->doc, p->section, &words, &gone))
        words = -1;
    sb_adds(m->b, "  ");
    show_target(m->b, &(struct link_target){ .doc = p->doc, .section = p->section }, true);
    if (words >= 0) {
        sb_adds(m->b, " (");
        sb_add_count(m->b, words, "word");
        sb_adds(m->b, ")\n");
    } else {
        sb_adds(m->b, " (unavailable)\n");
    }
    return ST_OK;
}

/* Bytes of recalled stashes in the block: of each, and of all; and those of a stash that is not
 * longer than the line that would stand in its place. */
enum { RECALLED_ONE = 4000, RECALLED_ALL = 16000, RECALLED_SHORT = 80 };

/* The start of a stash, and how to read the rest. */
static void add_recalled(struct sb *b, struct sv label, struct sv text, size_t *left)
{
    size_t    most = *left < RECALLED_ONE ? *left : RECALLED_ONE;
    int64_t   lines = 0;
    struct sv start = text.n <= most ? text : piece_start(text, most, &lines);

    if (start.n > most + PIECE_LINE || !most)
        start = SV("");
    *left -= start.n < *left ? start.n : *left;
    sb_add_block(b, start);
    sb_adds(b, sv_ends(start, SV("\n")) ? "" : "\n");
    if (start.n == text.n)
        return;
    sb_addf(b, "    (%lld of %lld lines; → recall ", start.n ? (long long)lines : 0LL,
            (long long)piece_lines(text));
    sb_add_quoted(b, label);
    sb_adds(b, " lines:A-B shows others)\n");
}

static enum status add_stashes(struct memory_block *m, struct err *e)
{
    struct stash *list, one;
    size_t        n;
    struct sv     text;
    bool          first = true;
    size_t        left = RECALLED_ALL, none = 0;

    if (memory_stashes(m->l, m->v->agent, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (!list[i].recalled)
            continue;
        if (memory_stash(m->l, m->v->agent, list[i].label, &one, &text, e))
            return err_code(e);
        bool out = m->how->no_recalled && text.n > RECALLED_SHORT;
        m->how->stashes += out;
        if (first)
            section(m, "Recalled:\n");
        first = false;
        sb_adds(m->b, "  \"");
        sb_add_oneline(m->b, one.label);
        sb_adds(m->b, "\": ");
        add_recalled(m->b, one.label, text, out ? &none : &left);
    }
    return ST_OK;
}

static enum status add_stash_names(struct memory_block *m, struct err *e)
{
    struct stash *list;
    size_t        n;
    bool          first = true;

    if (memory_stashes(m->l, m->v->agent, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (list[i].recalled)
            continue;
        if (first)
            section(m, "Stashed (not in context): ");
        sb_adds(m->b, first ? "\"" : ", \"");
        sb_add_oneline(m->b, list[i].label);
        sb_addc(m->b, '"');
        first = false;
    }
    sb_adds(m->b, first ? "" : "\n");
    return ST_OK;
}

enum status show_memory_block(struct loom *l, const struct viewer *v, struct memory_show *how,
                              struct sb *b, struct err *e)
{
    struct memory_block m = { l, v, how, b, false };
    struct pin         *pins;
    struct trace        trace;
    size_t              n;

    how->actions = how->stashes = 0;
    if (memory_pins(l, v->agent, &pins, &n, e) || memory_trace(l, v->agent, &trace, e))
        return err_code(e);
    if (how->short_trace)
        how->actions = trace_shorten(&trace, TRACE_SHORT, l->a);
    if (n)
        section(&m, "Pinned:\n");
    for (size_t i = 0; i < n; i++)
        if (add_pin(&m, &pins[i], e))
            return err_code(e);
    if (add_stashes(&m, e))
        return err_code(e);
    if (trace.n) {
        section(&m, "Recent actions:\n  ");
        trace_compress(b, &trace);
        sb_addc(b, '\n');
    }
    if (add_stash_names(&m, e))
        return err_code(e);
    sb_adds(b, m.any ? "===\n" : "");
    return ST_OK;
}

/* ---- the loom itself -------------------------------------------------------------- */

static enum status add_position(struct loom *l, const struct viewer *v, struct sb *b, struct err *e)
{
    struct node here, *path;
    size_t      count;
    bool        found = true;

    if (v->here)
        here = *v->here;
    else if (loom_position(l, v->agent, &here, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    int64_t from = here.depth <= 2 ? 0 : here.depth - 1;
    if (node_path(l, v->agent, &here, from, &path, &count, e))
        return err_code(e);
    sb_addf(b, "Position: %s", from ? "... → " : "");
    for (size_t i = 0; i < count; i++)
        sb_addf(b, "%s[" SV_FMT "]", i ? " → " : "", SV_ARG(path[i].local));
    sb_adds(b, "*\n");
    return ST_OK;
}

static enum status add_presence(struct loom *l, const struct viewer *v, struct sb *b, struct err *e)
{
    struct presence *others;
    size_t           n;

    if (loom_presence(l, v->agent, &others, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (others[i].kind == AUTHOR_HUMAN)
            sb_adds(b, "Human");
        else
            sb_add_name(b, others[i].agent);
        sb_addf(b, " active at [" SV_FMT "], depth:%lld\n", SV_ARG(others[i].node.local),
                (long long)others[i].node.depth);
    }
    return ST_OK;
}

enum status show_context_block(struct loom *l, const struct viewer *v, struct sv pruned,
                               struct sb *b, struct err *e)
{
    struct sv   title;
    struct tree tree;

    if (loom_title(l, &title, e) || loom_tree(l, &tree, e))
        return err_code(e);
    sb_adds(b, "=== Loom Context ===\nTree: \"");
    sb_add_oneline(b, title);
    sb_addf(b, "\" (" SV_FMT " mode)\n", SV_ARG(tree.mode));
    sb_add_count(b, tree.nodes, "node");
    sb_adds(b, " · ");
    sb_add_count_of(b, tree.branches, "branch", "branches");
    sb_addf(b, " · depth: %lld\n", (long long)tree.depth);
    if (add_position(l, v, b, e))
        return err_code(e);
    sb_adds(b, "Permissions: ");
    permissions_list(b, v->permissions);
    sb_addc(b, '\n');
    if (add_presence(l, v, b, e))
        return err_code(e);
    if (pruned.n)
        sb_addf(b, "Pruned: " SV_FMT "\n", SV_ARG(pruned));
    sb_adds(b, "===\n");
    return ST_OK;
}

/* ---- prompts for summaries -------------------------------------------------------- */

/* Lines of a text after its first are indented: none of them is a line of the prompt. */
static void add_line(struct sb *b, const char *before, struct sv text)
{
    sb_adds(b, before);
    sb_add_block(b, text);
    sb_addc(b, '\n');
}

void show_node_summary_prompt(struct sb *b, struct sv title, struct sv grandparent,
                              struct sv parent, struct sv message)
{
    sb_adds(b, "Given this conversation context:\n---\n");
    add_line(b, "Tree: ", title);
    if (grandparent.n)
        add_line(b, "Previous: ", grandparent);
    if (parent.n)
        add_line(b, "Previous: ", parent);
    sb_adds(b, "---\n\n"
               "Summarize the following message in ONE sentence (max 30 words).\n"
               "Capture the key point, action, or decision. Be specific, not generic.\n\n");
    add_line(b, "Message: ", message);
}

void show_doc_summary_prompt(struct sb *b, struct sv name, struct sv text, bool cut)
{
    add_line(b, "Document: ", name);
    sb_adds(b, "\nSummarize the following document in one or two sentences (max 40 words).\n"
               "Be specific, not generic.\n\n");
    add_line(b, cut ? "Its beginning: " : "Text: ", text);
}

void show_tree_summary_prompt(struct sb *b, struct sv description, const struct sv *summaries,
                              size_t n, int64_t points)
{
    sb_adds(b, "This is a branching conversation tree. The user describes it as:\n\"");
    sb_add_block(b, description);
    sb_adds(b, "\"\n\nKey node summaries from the main path:\n");
    for (size_t i = 0; i < n; i++)
        add_line(b, "", summaries[i]);
    sb_addf(b,
            "\nBranch points explored: %lld\n\n"
            "Summarize this tree's purpose and main themes in 2 sentences.\n",
            (long long)points);
}
