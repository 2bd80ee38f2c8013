/* Tools of memory: pin, stash, recall, drop, memory, think. */
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "command/run.h"
#include "loom/piece.h"
#include "loom/shown.h"
#include "thread/kind.h"

static struct jw begin(struct session *s, struct sb *b, const char *op)
{
    struct jw w = jw_in(b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "agent", s->agent.name);
    jw_kstr(&w, "op", sv_of(op));
    return w;
}

static enum status keep(struct session *s, struct sb *b, struct jw *w, struct err *e)
{
    jw_close(w, '}');
    return loom_append(&s->loom, s->agent.name, kind_name(KIND_MEMORY_OPERATION), sb_sv(b), NULL,
                       e);
}

static struct sv quoted(struct session *s, struct sv label)
{
    struct sb b = sb_in(s->a, 0);

    sb_addc(&b, '"');
    sb_add_oneline(&b, label);
    sb_addc(&b, '"');
    return sb_sv(&b);
}

/* ---- pins ------------------------------------------------------------------------- */

static bool same_pin(const struct pin *a, const struct pin *b)
{
    return sv_eq(a->node, b->node) && sv_eq(a->doc, b->doc) && sv_eq(a->section, b->section);
}

static enum status find_pin(struct session *s, const struct pin *want, bool *found, size_t *total,
                            struct err *e)
{
    struct pin *pins;

    if (memory_pins(&s->loom, s->agent.name, &pins, total, e))
        return err_code(e);
    *found = false;
    for (size_t i = 0; i < *total; i++)
        *found = *found || same_pin(&pins[i], want);
    return ST_OK;
}

static enum status keep_pin(struct session *s, const char *op, const struct pin *p, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = begin(s, &b, op);

    jw_key(&w, "target");
    jw_open(&w, '{');
    if (p->doc.s)
        jw_kstr(&w, "doc", p->doc);
    if (p->node.s)
        jw_kstr(&w, "node", p->node);
    if (p->section.s)
        jw_kstr(&w, "section", p->section);
    jw_close(&w, '}');
    return keep(s, &b, &w, e);
}

static struct sv pin_name(struct session *s, const struct pin *p, bool brackets)
{
    struct sb b = sb_in(s->a, 0);

    show_target(&b, &(struct link_target){ .node = p->node, .doc = p->doc, .section = p->section },
                brackets);
    return sb_sv(&b);
}

static enum status check_doc(struct session *s, const struct pin *p, struct err *e)
{
    struct doc     doc;
    struct section at;

    if (!p->doc.s)
        return ST_OK;
    if (permission_check(s->agent.permissions, PERM_doc_read, e) || session_doc(s, p->doc, &doc, e))
        return err_code(e);
    return p->section.s ? doc_section(doc.text, p->section, &at, e) : ST_OK;
}

RUN(pin)
{
    struct pin  p = { .doc = call_text(c, "doc"), .section = call_text(c, "section") };
    struct node n;
    size_t      total;
    bool        found;

    if (call_has(c, "id")) {
        if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
            return err_code(e);
        p = (struct pin){ .node = n.local };
    }
    if (check_doc(s, &p, e) || find_pin(s, &p, &found, &total, e))
        return err_code(e);
    if (!found && total >= PINS_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max pins per agent is %d", PINS_MAX);
        return err_hint(e, "→ drop pin:ID makes room");
    }
    if (!found && keep_pin(s, "pin", &p, e))
        return err_code(e);
    r->object = pin_name(s, &p, false);
    sb_addf(&r->text, "✓ pinned " SV_FMT " to working memory\n", SV_ARG(pin_name(s, &p, true)));
    return ST_OK;
}

/* ---- stashes ---------------------------------------------------------------------- */

/* A-B in summary-of: both nodes, the first an ancestor of the second. */
static enum status find_range(struct session *s, struct sv range, struct node *from,
                              struct node *to, struct err *e)
{
    struct sv_cut c = sv_cut(range, '-');
    struct node   up;

    if (node_find_visible(&s->loom, sv_trim(c.head), from, e) ||
        node_find_visible(&s->loom, sv_trim(c.tail), to, e))
        return err_code(e);
    if (from->depth <= to->depth) {
        if (node_ancestor(&s->loom, to, from->depth, &up, e))
            return err_code(e);
        if (up.seq == from->slot)
            return ST_OK;
    }
    err_set(e, ST_INVALID_SYNTAX, "[" SV_FMT "] is not an ancestor of [" SV_FMT "]",
            SV_ARG(from->local), SV_ARG(to->local));
    return err_hint(e, "summary-of: takes a stretch of one branch, earlier node first");
}

enum { RANGE_NODES_MAX = 500 };

/* The texts of a stretch, one after another, or their first sentences. */
static enum status gather(struct session *s, const struct node *from, const struct node *to,
                          bool extracts, struct sb *b, struct err *e)
{
    struct node *path;
    size_t       n;

    if (to->depth - from->depth >= RANGE_NODES_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "the stretch has more than %d nodes", RANGE_NODES_MAX);
        return err_hint(e, "summarise it in parts");
    }
    if (node_path(&s->loom, s->agent.name, to, from->depth, &path, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sv text;
        bool      made;
        if (extracts ? node_summary(&s->loom, &path[i], &text, &made, e)
                     : node_text(&s->loom, path[i].seq, &text, e))
            return err_code(e);
        sb_addf(b, "%s%s: ", i ? "\n\n" : "", author_kind_name(path[i].kind));
        sb_add(b, text);
    }
    return ST_OK;
}

static enum status summarise(struct session *s, struct sv range, struct sv *out, struct err *e)
{
    struct node           from, to;
    struct sb             b = sb_in(s->a, 0);
    struct model_response answer;
    bool                  ask = s->env.ask && s->env.summary_model.n;

    if (find_range(s, range, &from, &to, e) || gather(s, &from, &to, !ask, &b, e))
        return err_code(e);
    *out = sb_sv(&b);
    if (!ask)
        return ST_OK;
    struct model_message m = { MODEL_USER, sb_sv(&b) };
    struct model_request q = { .model = s->env.summary_model,
                               .system = SV("Summarize this part of a conversation in a few "
                                            "sentences. Keep names, facts and decisions."),
                               .messages = &m,
                               .n = 1,
                               .max_tokens = 300 };
    /* The model may take its time: others write meanwhile. */
    if (session_pause(s, e))
        return err_code(e);
    if (s->env.ask(s->env.ask_ctx, &q, s->a, &answer, e))
        return e->code = ST_MODEL_ERROR; /* whatever the reason: the model is not there */
    *out = answer.text;
    return session_resume(s, e);
}

static enum status stash_text(struct session *s, const struct call *c, struct sv *out,
                              struct err *e)
{
    struct node n;

    if (call_has(c, "summary-of"))
        return summarise(s, call_text(c, "summary-of"), out, e);
    if (!call_has(c, "content-of")) {
        *out = call_text(c, "text");
        return ST_OK;
    }
    if (node_find_visible(&s->loom, call_text(c, "content-of"), &n, e))
        return err_code(e);
    return node_text(&s->loom, n.seq, out, e);
}

RUN(stash)
{
    struct sv label = call_text(c, "label"), text;
    struct sb b = sb_in(s->a, 0);
    bool      exact;

    if (label.n > STASH_LABEL_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "a label has at most %d bytes", STASH_LABEL_MAX);
    if (stash_text(s, c, &text, e))
        return err_code(e);
    int64_t   tokens = session_tokens(s, text, &exact);
    struct jw w = begin(s, &b, "stash");
    jw_kbool(&w, "estimate", !exact);
    jw_kstr(&w, "label", label);
    jw_kstr(&w, "text", text);
    jw_kint(&w, "tokens", tokens);
    if (keep(s, &b, &w, e))
        return err_code(e);
    r->object = quoted(s, label);
    sb_addf(&r->text, "✓ stashed " SV_FMT " (%s", SV_ARG(r->object), exact ? "" : "~");
    sb_add_count(&r->text, tokens, "token");
    sb_adds(&r->text, ")\n");
    return ST_OK;
}

static enum status recall_part(struct sv text, struct sv range, struct result *r, struct err *e)
{
    struct sv part;
    int64_t   first, last;

    if (piece_of_range(text, range, &first, &last, &part, e))
        return err_code(e);
    sb_addf(&r->text, "✓ recalled " SV_FMT " lines %lld-%lld of %lld:\n\"", SV_ARG(r->object),
            (long long)first, (long long)last, (long long)piece_lines(text));
    sb_add_block(&r->text, sv_ends(part, SV("\n")) ? sv_first(part, part.n - 1) : part);
    sb_adds(&r->text, "\"\n");
    return ST_OK;
}

static enum status recall_whole(struct session *s, struct sv label, struct sv text,
                                struct result *r)
{
    struct sb form = sb_in(s->a, 0);

    sb_addf(&r->text, "✓ recalled " SV_FMT ":\n\"", SV_ARG(r->object));
    sb_add_block(&r->text, text);
    sb_adds(&r->text, "\"\n");
    sb_adds(&form, "recall ");
    sb_add_quoted(&form, label);
    session_parts(s, sb_sv(&form), text, r);
    return ST_OK;
}

RUN(recall)
{
    struct sv    label = call_text(c, "label"), text;
    struct stash stash;
    struct sb    b = sb_in(s->a, 0);

    if (memory_stash(&s->loom, s->agent.name, label, &stash, &text, e))
        return err_code(e);
    struct jw w = begin(s, &b, "recall");
    jw_kstr(&w, "label", label);
    if (keep(s, &b, &w, e))
        return err_code(e);
    r->object = quoted(s, label);
    return call_has(c, "lines") ? recall_part(text, call_text(c, "lines"), r, e)
                                : recall_whole(s, label, text, r);
}

static enum status drop_stash(struct session *s, struct sv label, struct result *r, struct err *e)
{
    struct stash stash;
    struct sv    text;
    struct sb    b = sb_in(s->a, 0);

    if (memory_stash(&s->loom, s->agent.name, label, &stash, &text, e))
        return err_code(e);
    struct jw w = begin(s, &b, "unstash");
    jw_kstr(&w, "label", label);
    if (keep(s, &b, &w, e))
        return err_code(e);
    r->object = quoted(s, label);
    sb_addf(&r->text, "✓ dropped stash " SV_FMT "\n", SV_ARG(r->object));
    return ST_OK;
}

RUN(drop)
{
    struct pin  p = { .doc = call_text(c, "doc"), .section = call_text(c, "section") };
    struct node n;
    size_t      total;
    bool        found;

    if (call_has(c, "stash"))
        return drop_stash(s, call_text(c, "stash"), r, e);
    if (call_has(c, "pin")) {
        if (node_find(&s->loom, call_text(c, "pin"), &n, e))
            return err_code(e);
        p = (struct pin){ .node = n.local };
    }
    if (find_pin(s, &p, &found, &total, e))
        return err_code(e);
    struct sv name = pin_name(s, &p, true);
    if (!found) {
        err_set(e, ST_NOT_FOUND, SV_FMT " is not pinned", SV_ARG(name));
        return err_hint(e, "→ memory lists your pins");
    }
    if (keep_pin(s, "unpin", &p, e))
        return err_code(e);
    r->object = pin_name(s, &p, false);
    sb_addf(&r->text, "✓ dropped pin " SV_FMT "\n", SV_ARG(name));
    return ST_OK;
}

/* ---- memory ----------------------------------------------------------------------- */

static enum status show_trace(struct session *s, struct result *r, struct err *e)
{
    struct trace t;

    if (memory_trace(&s->loom, s->agent.name, &t, e))
        return err_code(e);
    sb_addf(&r->text, "Action Trace (last %d):\n", TRACE_KEPT);
    for (size_t i = 0; i < t.n; i++) {
        sb_adds(&r->text, "  → ");
        sb_add_oneline(&r->text, t.actions[i].line);
        if (t.actions[i].code.n) {
            sb_adds(&r->text, " ✗ ");
            sb_add_oneline(&r->text, t.actions[i].code);
        }
        sb_addc(&r->text, '\n');
    }
    return ST_OK;
}

static enum status show_stashed(struct session *s, struct result *r, struct err *e)
{
    struct stash *list;
    size_t        n;

    if (memory_stashes(&s->loom, s->agent.name, &list, &n, e))
        return err_code(e);
    sb_adds(&r->text, n ? "Stashed:\n" : "Stashed: none\n");
    for (size_t i = 0; i < n; i++) {
        sb_addf(&r->text, "  " SV_FMT " (%s", SV_ARG(quoted(s, list[i].label)),
                list[i].is_estimate ? "~" : "");
        sb_add_count(&r->text, list[i].tokens, "token");
        sb_adds(&r->text, ") · ");
        sb_add_ago(&r->text, list[i].at, s->loom.now);
        sb_addc(&r->text, '\n');
    }
    return ST_OK;
}

/* A result as it was shown, set apart: its lines are ours, and those of a log from elsewhere are
 * not to be taken for others of ours. */
static void add_indented(struct sb *b, struct sv text)
{
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        sb_pad(b, ' ', line.head.n ? BLOCK_INDENT : 0);
        sb_add_clean(b, line.head);
        sb_addc(b, '\n');
        text = line.found ? line.tail : SV("");
    }
}

static enum status show_results(struct session *s, struct result *r, struct err *e)
{
    struct visible *list;
    size_t          n;

    if (loom_results_visible(&s->loom, s->agent.name, &list, &n, e))
        return err_code(e);
    sb_adds(&r->text, n ? "Results still in view:\n" : "Results still in view: none\n");
    for (size_t i = 0; i < n; i++) {
        sb_adds(&r->text, "\n  → ");
        sb_add_oneline(&r->text, list[i].line);
        sb_adds(&r->text, list[i].pinned ? " (while it is pinned)\n" : " (until this turn ends)\n");
        add_indented(&r->text, list[i].text);
    }
    return ST_OK;
}

enum { COUNTED_NODES = 500 };

/* What the conversation costs: counted where it is short, estimated from the characters of
 * the path where it is long. */
static enum status context_tokens(struct session *s, int64_t *tokens, bool *exact, struct err *e)
{
    struct node here, *path;
    size_t      n;
    struct sb   b = sb_in(s->a, 0);
    bool        found;

    show_addendum(&b, s->agent.permissions);
    if (show_memory_block(&s->loom, &s->viewer, NULL, NULL, &b, e) ||
        show_context_block(&s->loom, &s->viewer, (struct sv){ 0 }, &b, e) ||
        loom_position(&s->loom, s->agent.name, &here, &found, e))
        return err_code(e);
    if (found && here.depth >= COUNTED_NODES) {
        *tokens = session_tokens(s, sb_sv(&b), exact) + (here.chars + 3) / 4;
        *exact = false;
        return ST_OK;
    }
    if (found && node_path(&s->loom, s->agent.name, &here, 0, &path, &n, e))
        return err_code(e);
    for (size_t i = 0; found && i < n; i++)
        if (show_metadata(&s->loom, &path[i], false, &b, e))
            return err_code(e);
    *tokens = session_tokens(s, sb_sv(&b), exact);
    return ST_OK;
}

static enum status list_kept(struct session *s, struct sb *b, struct err *e)
{
    struct pin   *pins;
    struct stash *stashes;
    size_t        n_pins, n_stashes;

    if (memory_pins(&s->loom, s->agent.name, &pins, &n_pins, e) ||
        memory_stashes(&s->loom, s->agent.name, &stashes, &n_stashes, e))
        return err_code(e);
    sb_adds(b, "Working Memory:\n  pinned: ");
    for (size_t i = 0; i < n_pins; i++)
        sb_addf(b, "%s" SV_FMT, i ? ", " : "", SV_ARG(pin_name(s, &pins[i], true)));
    sb_adds(b, n_pins ? "\n  stashed: " : "none\n  stashed: ");
    for (size_t i = 0; i < n_stashes; i++)
        sb_addf(b, "%s" SV_FMT, i ? ", " : "", SV_ARG(quoted(s, stashes[i].label)));
    sb_adds(b, n_stashes ? "\n" : "none\n");
    return ST_OK;
}

RUN(memory)
{
    int64_t used;
    bool    exact;

    if (call_has(c, "trace"))
        return show_trace(s, r, e);
    if (call_has(c, "stashed"))
        return show_stashed(s, r, e);
    if (call_has(c, "results"))
        return show_results(s, r, e);
    if (list_kept(s, &r->text, e) || context_tokens(s, &used, &exact, e))
        return err_code(e);
    sb_addf(&r->text, "\nContext: %s", exact ? "" : "~");
    sb_add_commas(&r->text, used);
    sb_adds(&r->text, " tokens used · ");
    sb_add_commas(&r->text, s->env.budget > used ? s->env.budget - used : 0);
    sb_adds(&r->text, " available\n");
    return ST_OK;
}

RUN(think)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = begin(s, &b, "think");

    jw_kstr(&w, "text", c->n ? c->args[0].text : SV(""));
    r->silent = true;
    r->line = SV("think");
    return c->n ? keep(s, &b, &w, e) : ST_OK;
}
