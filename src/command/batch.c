/* Runs the commands of a turn. A line with a list of nodes is one command for each of them, but
 * only when all of them exist: "prune a7x2 and stop" must not prune half of what it says. */
#include "command/batch.h"
#include "base/utf8.h"

#include "base/vec.h"

#include <stdio.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------- */

static enum status place_node(struct session *s, struct sv place, struct node *out, struct err *e)
{
    struct node here;

    if (session_node(s, (struct sv){ 0 }, &here, e))
        return err_code(e);
    if (sv_is(place, "root"))
        return node_ancestor(&s->loom, &here, 0, out, e);
    if (!sv_is(place, "parent")) {
        *out = here;
        return ST_OK;
    }
    if (here.depth > 0)
        return node_ancestor(&s->loom, &here, here.depth - 1, out, e);
    err_set(e, ST_NOT_FOUND, "you are at the root [" SV_FMT "], which has no parent",
            SV_ARG(here.local));
    return err_hint(e, "→ list here continuations shows what follows it");
}

static enum status settle_place(struct session *s, const struct call *c, struct call_arg *x,
                                struct err *e)
{
    struct sv   place = call_place(x->text);
    struct node n;

    if (x->param->type != SLOT_ID || !place.s)
        return ST_OK;
    if (call_has(c, "tree") && (strcmp(x->param->name, "node") == 0 || !call_has(c, "target"))) {
        bool of_tree = strcmp(c->tool->name, "switch") == 0 || strcmp(x->param->name, "node") == 0;
        if (of_tree) {
            err_set(e, ST_INVALID_SYNTAX, SV_FMT " is a place of this tree", SV_ARG(place));
            return err_hint(e, "name the node of the other tree by its id");
        }
    }
    if (place_node(s, place, &n, e))
        return err_code(e);
    x->text = n.local;
    return ST_OK;
}

/* ---- after a move that failed --------------------------------------------------------- */

/* The tools that leave the agent at another node. The commands that follow were meant for that
 * node, and must not act on the node where the agent still is. */
static bool moves(const struct tool *t)
{
    static const char *const movers[] = { "switch", "respond", "edit" };

    for (size_t i = 0; t && i < COUNT(movers); i++)
        if (strcmp(t->name, movers[i]) == 0)
            return true;
    return false;
}

/* The first form of a tool that names a node. */
static const char *form_with_node(const struct tool *t)
{
    for (size_t i = 0; t->syntax[i]; i++)
        if (strstr(t->syntax[i], " ID"))
            return t->syntax[i];
    return t->syntax[0];
}

static enum status check_lost(struct session *s, const struct call *c, struct err *e)
{
    struct node here;
    bool        changes = c->tool->writes || strcmp(c->tool->group, "Memory") == 0;

    if (!s->lost.n || !changes || !call_uses_position(c))
        return ST_OK;
    if (session_node(s, (struct sv){ 0 }, &here, e))
        return err_code(e);
    err_set(e, ST_CONFLICT, "not run: → " SV_FMT " failed, so you are still at [" SV_FMT "]",
            SV_ARG(utf8_first(sv_cut(s->lost, '\n').head, 100)), SV_ARG(here.local));
    return err_hint(e, "switch first, or name the node: → %s", form_with_node(c->tool));
}

enum status batch_settle(struct session *s, struct call *c, struct err *e)
{
    if (check_lost(s, c, e))
        return err_code(e);
    for (size_t i = 0; i < c->n; i++)
        if (settle_place(s, c, &c->args[i], e))
            return err_code(e);
    return ST_OK;
}

/* ---- lines ---------------------------------------------------------------------------- */

struct batch_state {
    struct session *s;
    struct turn    *out;
    bool            last; /* the line that runs is the last one */
    VEC(struct result) results;
};

static enum status run_text(struct batch_state *b, struct sv text, bool closes, struct err *e)
{
    struct result *r = vec_push(&b->results, b->s->a);

    b->s->closes_turn = b->last && closes && !b->s->run.id.n; /* a run says when it ends */
    if (session_line(b->s, text, r, e))
        return err_code(e);
    b->out->results = b->results.v;
    b->out->n = b->results.n;
    if (b->s->done)
        b->s->done(b->s->done_ctx, r);
    return ST_OK;
}

/* A line that is answered without running. */
static enum status run_refused(struct batch_state *b, struct sv text, const struct err *refusal,
                               struct err *e)
{
    b->s->refusal = refusal;
    enum status st = run_text(b, text, true, e);
    b->s->refusal = NULL;
    return st;
}

/* Do all nodes of a list exist? *missing is filled when one does not. */
static enum status check_list(struct session *s, const struct call *c, bool *all,
                              struct err *missing, struct err *e)
{
    struct node n;

    *all = true;
    if (log_begin(s->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    for (size_t i = 0; i < c->n && *all; i++) {
        const struct call_arg *x = &c->args[i];
        bool                   id = x->param->flags & SLOT_MANY && !call_place(x->text).s;
        if (id && !sv_starts(x->text, SV("ann-")) && node_find(&s->loom, x->text, &n, missing))
            *all = false;
    }
    log_abort(s->log);
    if (!*all && missing->code == ST_CORRUPT) {
        *e = *missing;
        return err_code(e);
    }
    return ST_OK;
}

static enum status run_list(struct batch_state *b, const struct call *c, struct err *e)
{
    struct err missing = { 0 };
    size_t     n = call_each_count(c);
    bool       all;

    if (check_list(b->s, c, &all, &missing, e))
        return err_code(e);
    if (!all) {
        err_in(&missing, "nothing of this line was run");
        return run_refused(b, c->line, &missing, e);
    }
    for (size_t i = 0; i < n; i++) {
        struct call one = call_each(c, i);
        struct sb   line = sb_in(b->s->a, 0);
        call_print(&line, &one);
        if (run_text(b, sb_sv(&line), i + 1 == n, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The answer to a line says how many lines were not run because of it. */
static void say_not_run(struct result *r, size_t n)
{
    struct err *e = &r->error;
    size_t      at = strlen(e->text);

    if (r->ok || !n)
        return;
    snprintf(e->text + at, sizeof e->text - at, "; %zu line%s with → after it %s not run", n,
             n == 1 ? "" : "s", n == 1 ? "was" : "were");
}

static enum status run_command(struct batch_state *b, const struct scanned_line *line,
                               struct err *e)
{
    struct call c;
    struct err  ignored;

    enum status st = call_parse(line->text, b->s->a, &c, &ignored);
    if (line->is_refused)
        st = run_refused(b, line->text, line->refusal, e);
    else if (!st && call_each_count(&c) > 1)
        st = run_list(b, &c, e);
    else
        st = run_text(b, line->text, true, e);
    if (st || !b->results.n)
        return st;
    struct result *r = &b->results.v[b->results.n - 1];
    say_not_run(r, line->not_run);
    if (moves(c.tool))
        b->s->lost = r->ok ? (struct sv){ 0 } : line->text;
    return ST_OK;
}

/* A thought is run like any command, as think with its text. */
static enum status run_thought(struct batch_state *b, struct sv thought, struct err *e)
{
    struct sb line = sb_in(b->s->a, 0);

    sb_adds(&line, "think ");
    sb_add(&line, thought);
    return run_text(b, sb_sv(&line), true, e);
}

/* All commands one after another, in lower case; at[i] is where those after the i-th begin. */
static struct sv join_lines(struct session *s, const struct scan *scan, size_t *at)
{
    struct sb b = sb_in(s->a, 0);

    for (size_t i = 0; i < scan->n; i++) {
        if (!scan->lines[i].is_think)
            sb_add(&b, scan->lines[i].text);
        sb_addc(&b, '\n');
        at[i] = b.n;
    }
    return sv_lower(sb_sv(&b), s->a);
}

enum status batch_run(struct session *s, const struct scan *scan, struct turn *out, struct err *e)
{
    struct batch_state b = { .s = s, .out = out };
    size_t            *at = ARENA_NEW(s->a, size_t, scan->n + 1);
    struct sv          lines = join_lines(s, scan, at);
    enum status        st = ST_OK;

    s->prose = sv_lower(scan->prose, s->a);
    s->lost = (struct sv){ 0 };
    for (size_t i = 0; i < scan->n && !st; i++) {
        if (session_cancelled(s, e)) {
            err_in(e, "%zu of %zu commands were not run", scan->n - i, scan->n);
            st = err_code(e);
            break;
        }
        b.last = i + 1 == scan->n;
        s->later = sv_skip(lines, at[i]);
        st = scan->lines[i].is_think ? run_thought(&b, scan->lines[i].text, e)
                                     : run_command(&b, &scan->lines[i], e);
    }
    s->lost = (struct sv){ 0 };
    return st;
}

enum status session_lines(struct session *s, struct sv line, struct turn *out, struct err *e)
{
    struct batch_state  b = { .s = s, .out = out };
    struct scanned_line one = { .text = line };

    *out = (struct turn){ 0 };
    enum status st = run_command(&b, &one, e);
    s->lost =
        (struct sv){ 0 }; /* each line is a batch of its own: its answer is seen before the next */
    return st;
}
