/* Reading pins, stashes and the trace of an agent from the rows of the loom view. */
#include "loom/memory.h"

#include "base/json.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"

#include <stdio.h>
#include <stdlib.h>

/* The members are among those that stay when an entry is erased. */
void memory_pin_json(struct jw *w, const struct pin *p)
{
    jw_open(w, '{');
    if (p->doc.s)
        jw_kstr(w, "doc", p->doc);
    if (p->node.s)
        jw_kstr(w, "node", p->node);
    if (p->section.s)
        jw_kstr(w, "section", p->section);
    if (p->is_result) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)p->result);
        jw_kstr(w, "section", sv_of(number));
        jw_kstr(w, "type", SV("result"));
    }
    jw_close(w, '}');
}

struct pin memory_pin_of(const struct json *v)
{
    struct pin p = { .node = json_text(v, "node"),
                     .doc = json_text(v, "doc"),
                     .section = json_text(v, "section") };

    p.is_result = sv_is(json_text(v, "type"), "result") && sv_to_int(p.section, &p.result);
    if (p.is_result)
        p.section = (struct sv){ 0 };
    return p;
}

enum status memory_pins(struct loom *l, struct sv agent, struct pin **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    struct sv         prefix = key_below_name("pin", agent, l->a);

    if (row_list(&r, prefix, (struct sv){ 0 }, SIZE_MAX, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct pin, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++) {
        struct json v;
        if (json_parse(rows[i].value, 0, l->a, &v, e))
            return err_in(e, "a pin");
        (*out)[i] = memory_pin_of(&v);
        (*out)[i].place = key_last(rows[i].key);
    }
    return ST_OK;
}

static enum status read_stash(struct loom *l, struct sv label, struct sv row, struct stash *out,
                              struct err *e)
{
    struct json v;

    if (json_parse(row, 0, l->a, &v, e))
        return err_in(e, "a stash");
    *out = (struct stash){ .label = label,
                           .recalled = json_truth(json_find(&v, "recalled")),
                           .is_estimate = json_truth(json_find(&v, "estimate")) };
    json_int(json_find(&v, "at"), &out->at);
    json_int(json_find(&v, "entry"), &out->entry);
    json_int(json_find(&v, "tokens"), &out->tokens);
    out->place = out->entry;
    json_int(json_find(&v, "place"), &out->place);
    return ST_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct stash *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

enum status memory_stashes(struct loom *l, struct sv agent, struct stash **out, size_t *n,
                           struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    struct sv         prefix = key_below_name("st", agent, l->a);

    if (row_list(&r, prefix, (struct sv){ 0 }, SIZE_MAX, &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct stash, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++)
        if (read_stash(l, sv_skip(rows[i].key, prefix.n), rows[i].value, &(*out)[i], e))
            return err_code(e);
    qsort(*out, *n, sizeof **out, by_place);
    return ST_OK;
}

enum status memory_stash(struct loom *l, struct sv agent, struct sv label, struct stash *out,
                         struct sv *text, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct json p;
    struct sv   row;
    bool        found;

    if (row_get(&r, key_of_names("st", agent, label, l->a), &row, &found, e))
        return err_code(e);
    if (!found) {
        err_set(e, ST_NOT_FOUND, "no stash labelled \"" SV_FMT "\"", SV_ARG(label));
        return err_hint(e, "→ memory stashed lists them");
    }
    if (read_stash(l, label, row, out, e) || loom_payload(l, out->entry, &p, e))
        return err_code(e);
    *text = json_text(&p, "text");
    return ST_OK;
}

/* ---- the trace -------------------------------------------------------------------- */

enum status memory_trace(struct loom *l, struct sv agent, struct trace *out, struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    struct json       head = { .type = JSON_NULL };
    size_t            n;
    bool              found;

    if (row_json(&r, key_of_name("acts", agent, l->a), &head, &found, e) ||
        row_list(&r, key_below_name("act", agent, l->a), (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    const struct json *older = json_find(&head, "older");
    *out = (struct trace){ .actions = ARENA_NEW(l->a, struct action, n ? n : 1), .n = n };
    for (size_t i = 0; i < n; i++) {
        struct json v;
        if (json_parse(rows[i].value, 0, l->a, &v, e))
            return err_in(e, "an action");
        out->actions[i] = (struct action){ json_text(&v, "line"), json_text(&v, "verb"),
                                           json_text(&v, "object"), json_text(&v, "code"), 0 };
        json_int(json_find(&v, "results"), &out->actions[i].results);
    }
    out->n_older = json_is(older, JSON_OBJECT) ? older->n : 0;
    out->older = ARENA_NEW(l->a, struct older, out->n_older ? out->n_older : 1);
    for (size_t i = 0; i < out->n_older; i++) {
        out->older[i].verb = older->members[i].key;
        json_int(&older->members[i].value, &out->older[i].count);
    }
    return ST_OK;
}

/* The words for an action, and for the count of older ones. */
/* clang-format off */
static const struct wording {
    const char *verb, *past, *one, *many;
} wordings[] = {
    { "view",       "viewed",         "view",         "views" },
    { "list",       "listed",         "list",         "lists" },
    { "tree",       "viewed tree",    "tree view",    "tree views" },
    { "switch",     "switched to",    "switch",       "switches" },
    { "continue",   "continued from", "continuation", "continuations" },
    { "respond",    "responded to",   "response",     "responses" },
    { "annotate",   "annotated",      "annotation",   "annotations" },
    { "link",       "linked",         "link",         "links" },
    { "unannotate", "took away",      "note taken away", "notes taken away" },
    { "unlink",     "unlinked",       "unlink",       "unlinks" },
    { "edit",       "edited",         "edit",         "edits" },
    { "bookmark",   "bookmarked",     "bookmark",     "bookmarks" },
    { "unbookmark", "unbookmarked",   "unbookmark",   "unbookmarks" },
    { "prune",      "pruned",         "prune",        "prunes" },
    { "restore",    "restored",       "restore",      "restores" },
    { "exclude",    "excluded",       "exclusion",    "exclusions" },
    { "include",    "included",       "inclusion",    "inclusions" },
    { "read",       "read",           "read",         "reads" },
    { "write",      "wrote",          "write",        "writes" },
    { "pin",        "pinned",         "pin",          "pins" },
    { "stash",      "stashed",        "stash",        "stashes" },
    { "recall",     "recalled",       "recall",       "recalls" },
    { "drop",       "dropped",        "drop",         "drops" },
    { "memory",     "checked memory", "memory check", "memory checks" },
    { "help",       "asked for help", "help request", "help requests" },
    { "search",     "searched",       "search",       "searches" },
    { "find",       "searched the tree for", "tree search", "tree searches" },
    { "diff",       "compared",       "comparison",   "comparisons" },
    { "path",       "traced the path to", "path",     "paths" },
    { "undo",       "undid",          "undo",         "undos" },
    { "changes",    "checked changes", "check of changes", "checks of changes" },
    { "failure",    "failed",         "failure",      "failures" },
};
/* clang-format on */

static const struct wording *wording_of(struct sv verb)
{
    for (size_t i = 0; i < COUNT(wordings); i++)
        if (sv_is(verb, wordings[i].verb))
            return &wordings[i];
    return NULL;
}

static void add_object(struct sb *b, const struct action *x)
{
    sb_add_oneline(b, x->code.n ? x->verb : x->object);
    if (x->code.n) {
        sb_adds(b, " (");
        sb_add_oneline(b, x->code);
        sb_addc(b, ')');
    }
    if (!x->code.n && sv_is(x->verb, "continue"))
        sb_addf(b, " (%lld result%s)", (long long)x->results, x->results == 1 ? "" : "s");
}

static bool goes_with(const struct action *a, const struct action *b)
{
    return !a->code.n == !b->code.n && (a->code.n || sv_eq(a->verb, b->verb)) &&
           !(a->code.n == 0 && !a->object.n);
}

void trace_compress(struct sb *b, const struct trace *t)
{
    for (size_t i = 0; i < t->n_older; i++) {
        const struct wording *w = wording_of(t->older[i].verb);
        int64_t               n = t->older[i].count;
        sb_addf(b, "%s%lld ", i ? ", " : "earlier: ", (long long)n);
        sb_adds(b, w ? n == 1 ? w->one : w->many : "others");
    }
    for (size_t i = 0; i < t->n; i++) {
        const struct action  *x = &t->actions[i];
        const struct wording *w = wording_of(x->code.n ? SV("failure") : x->verb);
        bool                  first = i == 0 || !goes_with(&t->actions[i - 1], x);
        if (!first && sv_eq(x->object, t->actions[i - 1].object) && !x->code.n && !x->results)
            continue; /* the same again */
        if (first)
            sb_adds(b, i || t->n_older ? " · " : "");
        else
            sb_adds(b, ", ");
        if (first) {
            sb_add_oneline(b, w ? sv_of(w->past) : x->verb);
            sb_adds(b, x->object.n || x->code.n ? " " : "");
        }
        add_object(b, x);
    }
}

static void count_older(struct trace *t, struct sv verb)
{
    for (size_t i = 0; i < t->n_older; i++)
        if (sv_eq(t->older[i].verb, verb)) {
            t->older[i].count++;
            return;
        }
    t->older[t->n_older++] = (struct older){ verb, 1 };
}

int64_t trace_shorten(struct trace *t, size_t keep, struct arena *a)
{
    size_t        gone = t->n > keep ? t->n - keep : 0;
    struct older *older = ARENA_NEW(a, struct older, t->n_older + gone + 1);

    for (size_t i = 0; i < t->n_older; i++)
        older[i] = t->older[i];
    t->older = older;
    for (size_t i = 0; i < gone; i++)
        count_older(t, t->actions[i].code.n ? SV("failure") : t->actions[i].verb);
    t->actions += gone;
    t->n -= gone;
    return (int64_t)gone;
}

/* ---- preambles ------------------------------------------------------------------------- */

enum status memory_preambles(struct loom *l, struct sv agent, struct preamble **out, size_t *n,
                             struct err *e)
{
    struct rows       r = rows_of_loom(l);
    struct store_row *rows;
    size_t            count;

    *n = 0;
    if (row_newest(&r, key_below_name("pre", agent, l->a), PREAMBLES_MAX, &rows, &count, e))
        return err_code(e);
    *out = ARENA_NEW(l->a, struct preamble, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct json p;
        int64_t     entry;
        if (!sv_to_int(rows[i].value, &entry))
            return err_set(e, ST_CORRUPT, "a row of a preamble is not a number");
        if (loom_payload(l, entry, &p, e))
            return err_code(e);
        (*out)[(*n)++] = (struct preamble){ key_last(rows[i].key), json_text(&p, "block"),
                                            json_text(&p, "text") };
    }
    return ST_OK;
}

/* ---- undo, turns, documents ------------------------------------------------------------ */

/* The last message of the agent, from the row said/AGENT. */
static enum status last_said(struct rows *r, struct sv agent, int64_t *seq, struct err *e)
{
    struct sv row;
    bool      found;

    *seq = NO_NODE;
    if (row_get(r, key_of_name("said", agent, r->a), &row, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    struct sv_cut c = sv_cut_last(row, ' ');
    sv_to_int(c.found ? c.tail : row, seq);
    return ST_OK;
}

/* How to take back what was said: {"do":"prune","node":…,"back":…}. */
static enum status unsay(struct loom *l, int64_t seq, struct json *undo, struct err *e)
{
    struct sb   b = sb_in(l->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct node n, parent;

    if (node_at(l, seq, &n, e) || node_at(l, n.parent, &parent, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "back", parent.local);
    jw_kstr(&w, "do", SV("prune"));
    jw_kstr(&w, "node", n.local);
    jw_close(&w, '}');
    return json_parse(sb_sv(&b), 0, l->a, undo, e);
}

enum status memory_undo(struct loom *l, struct sv agent, struct json *undo, int64_t *entry,
                        bool *found, struct err *e)
{
    struct rows      r = rows_of_loom(l);
    struct store_row row;
    int64_t          said;

    if (row_last(&r, key_below_name("undo", agent, l->a), &row, found, e) ||
        last_said(&r, agent, &said, e))
        return err_code(e);
    if (said != NO_NODE && (!*found || said > key_last(row.key))) {
        *found = true;
        *entry = said;
        return unsay(l, said, undo, e);
    }
    if (!*found && row_last(&r, key_below_name("late", agent, l->a), &row, found, e))
        return err_code(e);
    if (!*found)
        return ST_OK;
    *entry = key_last(row.key);
    return json_parse(row.value, 0, l->a, undo, e);
}

enum status memory_turn(struct loom *l, struct sv agent, int64_t *seq, struct err *e)
{
    struct rows r = rows_of_loom(l);
    struct json v = { .type = JSON_NULL };
    bool        found;

    *seq = -1;
    if (row_json(&r, key_of_name("turn", agent, l->a), &v, &found, e))
        return err_code(e);
    json_int(json_find(&v, "last"), seq);
    return ST_OK;
}

enum status memory_doc(struct loom *l, struct sv agent, struct sv path, struct sv *hash,
                       struct err *e)
{
    struct rows r = rows_of_loom(l);
    bool        found;

    if (row_get(&r, key_of_names("doc", agent, path, l->a), hash, &found, e))
        return err_code(e);
    if (!found)
        *hash = (struct sv){ 0 };
    return ST_OK;
}
