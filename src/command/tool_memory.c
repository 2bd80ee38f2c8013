/* Tools of memory: pin, stash, recall, drop, memory, think. */
#include "assemble/assemble.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "command/run.h"
#include "command/summary.h"
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
    if (a->is_result || b->is_result)
        return a->is_result && b->is_result && a->result == b->result;
    return sv_eq(a->node, b->node) && sv_eq(a->doc, b->doc) && sv_eq(a->section, b->section);
}

/* When it is there, want->place says where. */
static enum status find_pin(struct session *s, struct pin *want, bool *found, size_t *total,
                            struct err *e)
{
    struct pin *pins;

    if (memory_pins(&s->loom, s->agent.name, &pins, total, e))
        return err_code(e);
    *found = false;
    for (size_t i = 0; i < *total; i++)
        if (same_pin(&pins[i], want)) {
            *found = true;
            want->place = pins[i].place;
        }
    return ST_OK;
}

/* `line`: the command of a result. `place`: where it was before it was dropped; -1: it is new. */
static enum status keep_pin(struct session *s, const char *op, const struct pin *p, struct sv line,
                            int64_t place, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = begin(s, &b, op);

    if (place >= 0)
        jw_kint(&w, "place", place);
    jw_key(&w, "target");
    memory_pin_json(&w, p);
    if (line.s)
        jw_kstr(&w, "text", line);
    return keep(s, &b, &w, e);
}

static struct sv pin_name(struct session *s, const struct pin *p, bool brackets)
{
    struct sb b = sb_in(s->a, 0);

    if (p->is_result) {
        sb_addf(&b, "result:%lld", (long long)p->result);
        return sb_sv(&b);
    }
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

/* The result that was shown last, or the one with a number. */
static enum status find_result(struct session *s, const struct call *c, struct pin *p,
                               struct kept_result *r, struct err *e)
{
    bool found = true;

    *p = (struct pin){ .is_result = true, .result = call_count(c, "result", -1) };
    if (call_has(c, "that") && loom_result_last(&s->loom, s->agent.name, &p->result, &found, e))
        return err_code(e);
    if (found)
        return loom_result(&s->loom, s->agent.name, p->result, r, e);
    err_set(e, ST_NOT_FOUND, "there is no result yet");
    return err_hint(e, "→ pin result keeps what the command before it showed");
}

/* What the call wants pinned; `line` is the command of a result. */
static enum status pin_target(struct session *s, const struct call *c, struct pin *p,
                              struct sv *line, struct err *e)
{
    struct node        n;
    struct kept_result r;

    *p = (struct pin){ .doc = call_text(c, "doc"), .section = call_text(c, "section") };
    *line = (struct sv){ 0 };
    if (call_has(c, "that") || call_has(c, "result")) {
        if (find_result(s, c, p, &r, e))
            return err_code(e);
        *line = r.line;
    }
    if (call_has(c, "id")) {
        if (node_find_visible(&s->loom, call_text(c, "id"), &n, e))
            return err_code(e);
        *p = (struct pin){ .node = n.local };
    }
    return check_doc(s, p, e);
}

static enum status check_room(size_t pins, struct err *e)
{
    if (pins < PINS_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "max pins per agent is %d", PINS_MAX);
    return err_hint(e, "→ drop pin:ID makes room");
}

RUN(pin)
{
    struct pin p;
    struct sv  line;
    size_t     total;
    bool       found;

    if (pin_target(s, c, &p, &line, e) || find_pin(s, &p, &found, &total, e))
        return err_code(e);
    if (!found && (check_room(total, e) || keep_pin(s, "pin", &p, line, -1, e)))
        return err_code(e);
    r->object = pin_name(s, &p, false);
    sb_addf(&r->text, "✓ pinned " SV_FMT, SV_ARG(pin_name(s, &p, true)));
    if (p.is_result) {
        sb_adds(&r->text, " of → ");
        sb_add_oneline(&r->text, line);
    }
    sb_adds(&r->text, " to working memory\n");
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

static enum status summarise(struct session *s, struct sv range, struct sv *out, struct err *e)
{
    struct node from, to;

    return find_range(s, range, &from, &to, e) ? err_code(e)
                                               : session_summarise_stretch(s, &from, &to, out, e);
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
    session_parts(r, sb_sv(&form), text);
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

/* How → undo brings it back: its text stays where it was stashed. */
static struct sv undo_of_stash(struct session *s, const struct stash *x)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", SV("stash"));
    jw_kint(&w, "entry", x->entry);
    jw_kbool(&w, "estimate", x->is_estimate);
    jw_kstr(&w, "label", x->label);
    jw_kint(&w, "place", x->place);
    jw_kbool(&w, "recalled", x->recalled);
    jw_kint(&w, "since", x->at);
    jw_kint(&w, "tokens", x->tokens);
    jw_close(&w, '}');
    return sb_sv(&b);
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
    r->undo = undo_of_stash(s, &stash);
    r->object = quoted(s, label);
    sb_addf(&r->text, "✓ dropped stash " SV_FMT "\n", SV_ARG(r->object));
    return ST_OK;
}

/* The result with a number, or the one that was pinned last. */
static enum status pinned_result(struct session *s, const struct call *c, struct pin *out,
                                 struct err *e)
{
    struct pin *pins;
    size_t      n;

    *out = (struct pin){ .is_result = true, .result = call_count(c, "result", -1) };
    if (memory_pins(&s->loom, s->agent.name, &pins, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n && call_has(c, "that"); i++)
        if (pins[i].is_result)
            *out = pins[i];
    if (out->result >= 0)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "no result is pinned");
    return err_hint(e, "→ memory lists your pins");
}

static struct sv undo_of_pin(struct session *s, const struct pin *p)
{
    struct kept_result result;
    struct err         gone;
    struct sb          b = sb_in(s->a, 0);
    struct jw          w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "do", SV("pin"));
    jw_kint(&w, "place", p->place);
    jw_key(&w, "target");
    memory_pin_json(&w, p);
    if (p->is_result && loom_result(&s->loom, s->agent.name, p->result, &result, &gone) == ST_OK)
        jw_kstr(&w, "text", result.line);
    jw_close(&w, '}');
    return sb_sv(&b);
}

RUN(drop)
{
    struct pin  p = { .doc = call_text(c, "doc"), .section = call_text(c, "section") };
    struct node n;
    size_t      total;
    bool        found, result = call_has(c, "that") || call_has(c, "result");

    if (call_has(c, "stash"))
        return drop_stash(s, call_text(c, "stash"), r, e);
    if (result && pinned_result(s, c, &p, e))
        return err_code(e);
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
    r->undo = undo_of_pin(s, &p);
    if (keep_pin(s, "unpin", &p, (struct sv){ 0 }, -1, e))
        return err_code(e);
    r->object = pin_name(s, &p, false);
    sb_addf(&r->text, "✓ dropped pin " SV_FMT "\n", SV_ARG(name));
    return ST_OK;
}

/* ---- taking a drop back ------------------------------------------------------------ */

static enum status erased_since(struct err *e)
{
    return err_set(e, ST_CONFLICT, "what was dropped has been erased since");
}

static enum status put_back_pin(struct session *s, const struct json *undo, struct err *e)
{
    struct pin p = memory_pin_of(json_find(undo, "target"));
    size_t     total;
    bool       found;
    int64_t    place = -1;

    if (!p.node.n && !p.doc.n && !p.is_result)
        return erased_since(e);
    if (find_pin(s, &p, &found, &total, e))
        return err_code(e);
    if (found)
        return err_set(e, ST_CONFLICT, SV_FMT " has been pinned again since",
                       SV_ARG(pin_name(s, &p, true)));
    json_int(json_find(undo, "place"), &place);
    return check_room(total, e) ? err_code(e)
                                : keep_pin(s, "pin", &p, json_text(undo, "text"), place, e);
}

/* The text is copied, so that it stays as long as the stash does. */
static enum status put_back_stash(struct session *s, const struct json *undo, struct err *e)
{
    static const char *const same[] = { "estimate", "label", "place", "recalled", "since" };
    struct sv                label = json_text(undo, "label"), text;
    struct stash             other;
    struct entry             n;
    struct json              was;
    struct sb                b = sb_in(s->a, 0);
    int64_t                  entry = -1;

    if (!label.s || !json_int(json_find(undo, "entry"), &entry))
        return erased_since(e);
    if (memory_stash(&s->loom, s->agent.name, label, &other, &text, e) == ST_OK) {
        err_set(e, ST_CONFLICT, SV_FMT " has been stashed again since", SV_ARG(quoted(s, label)));
        return err_hint(e, "drop the new one first");
    }
    if (e->code != ST_NOT_FOUND || loom_entry(&s->loom, entry, &n, &was, e))
        return err_code(e);
    if (n.erased || !json_text(&was, "text").s)
        return erased_since(e);
    struct jw w = begin(s, &b, "stash");
    for (size_t i = 0; i < COUNT(same); i++) {
        jw_key(&w, same[i]);
        jw_json(&w, json_find(undo, same[i]));
    }
    jw_kstr(&w, "text", json_text(&was, "text"));
    jw_kint(&w, "tokens", json_number(undo, "tokens"));
    return keep(s, &b, &w, e);
}

enum status tool_memory_put_back(struct session *s, const struct json *undo, struct err *e)
{
    return sv_is(json_text(undo, "do"), "pin") ? put_back_pin(s, undo, e)
                                               : put_back_stash(s, undo, e);
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

/* A result as it was shown, indented: lines of an imported log must not look like lines that heddle
 * prints. */
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
        sb_addf(&r->text, "\n  result:%lld → ", (long long)list[i].entry);
        sb_add_oneline(&r->text, list[i].line);
        sb_adds(&r->text, list[i].pinned ? " (while it is pinned)\n" : " (until this turn ends)\n");
        add_indented(&r->text, list[i].text);
    }
    return ST_OK;
}

/* What the agent is sent now, without what is asked; what does not fit is not part of it. *over:
 * what is never cut has more than the budget. */
static enum status context_tokens(struct session *s, int64_t *tokens, bool *over, struct err *e)
{
    struct counts           counts;
    struct assembly         x;
    struct assembly_request q = {
        .loom = s->loom, .agent = s->agent, .counts = &counts, .budget = s->env.budget
    };

    counts_init_by(&counts, s->env.count_tokens, s->env.tokens_ctx);
    enum status st = assembly_make(&q, s->a, &x, e);
    counts_release(&counts);
    *over = st == ST_LIMIT_EXCEEDED;
    *tokens = *over ? s->env.budget : (int64_t)x.tokens;
    return *over ? ST_OK : st;
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
    bool    over;

    if (call_has(c, "trace"))
        return show_trace(s, r, e);
    if (call_has(c, "stashed"))
        return show_stashed(s, r, e);
    if (call_has(c, "results"))
        return show_results(s, r, e);
    if (list_kept(s, &r->text, e) || context_tokens(s, &used, &over, e))
        return err_code(e);
    sb_addf(&r->text, "\nContext: %s", s->env.count_tokens ? "" : "~");
    sb_add_commas(&r->text, used);
    sb_adds(&r->text, " tokens used · ");
    sb_add_commas(&r->text, s->env.budget > used ? s->env.budget - used : 0);
    sb_adds(&r->text, " available\n");
    if (over) {
        sb_addf(&r->text, "  (" SV_FMT ")\n", SV_ARG(sv_of(e->text)));
        e->code = ST_OK;
    }
    return ST_OK;
}

RUN(think)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = begin(s, &b, "think");

    jw_kstr(&w, "text", c->n ? c->args[0].text : SV(""));
    r->silent = true;
    r->line = SV("think");
    jw_close(&w, '}');
    struct loom_record put = { .agent = s->agent.name,
                               .kind = kind_name(KIND_MEMORY_OPERATION),
                               .payload = sb_sv(&b),
                               .run = s->run,
                               .op_id = s->op_id };
    struct loom        to = session_records(s);
    return c->n ? loom_put(&to, &put, NULL, e) : ST_OK;
}
