/* undo: take back one's own last write, by a new entry that reverses it. */
#include "base/json.h"
#include "command/run.h"
#include "loom/shown.h"
#include "thread/kind.h"

#include <inttypes.h>

/* Hide a node one made, unless others have gone on from it. */
static enum status hide(struct session *s, struct sv local, struct err *e)
{
    struct node n;

    if (node_find(&s->loom, local, &n, e))
        return err_code(e);
    if (n.pruned)
        return ST_OK;
    if (n.kids > 0) {
        err_set(e, ST_CONFLICT, "[" SV_FMT "] has continuations by now", SV_ARG(n.local));
        return err_hint(e, "→ prune " SV_FMT " hides them too", SV_ARG(n.local));
    }
    return loom_mark(&s->loom, s->agent.name, "prune", &n, (struct sv){ 0 }, e);
}

static enum status go_back(struct session *s, const struct json *undo, struct err *e)
{
    struct sv   back = json_text(undo, "back");
    struct node n, here;
    int64_t     by;
    bool        found;

    if (!back.n)
        return ST_OK;
    if (loom_last_place(&s->loom, s->agent.name, &here, &found, e) ||
        node_find(&s->loom, back, &n, e))
        return err_code(e);
    if (found && node_hidden(&s->loom, &here, &by, e))
        return err_code(e);
    bool lost = found && (by != NO_NODE || here.withdrawn);
    return lost ? loom_switch(&s->loom, s->agent.name, s->agent.kind, &n, e) : ST_OK;
}

static enum status hide_all(struct session *s, const struct json *undo, struct err *e)
{
    const struct json *nodes = json_find(undo, "nodes");

    for (size_t i = 0; json_is(nodes, JSON_ARRAY) && i < nodes->n; i++)
        if (hide(s, json_sv(&nodes->items[i]), e))
            return err_code(e);
    return ST_OK;
}

/* A document as it was before, if nobody changed it since. One that was created stays, empty. */
static enum status unwrite(struct session *s, const struct json *undo, struct result *r,
                           struct sb *left, struct err *e)
{
    struct sv  name = json_text(undo, "doc"), now;
    struct doc doc;
    int64_t    at = 0, inserted = 0;

    json_int(json_find(undo, "at"), &at);
    json_int(json_find(undo, "inserted"), &inserted);
    if (permission_check(s->agent.permissions, PERM_doc_write, e) || session_doc(s, name, &doc, e))
        return err_code(e);
    if (!sv_eq(doc.hash, json_text(undo, "after"))) {
        err_set(e, ST_CONFLICT, "doc:\"" SV_FMT "\" was changed since", SV_ARG(name));
        return err_hint(e, "read it and write what you want to keep");
    }
    if (at < 0 || inserted < 0 || (uint64_t)at > doc.text.n ||
        (uint64_t)inserted > doc.text.n - (uint64_t)at)
        return err_set(e, ST_CONFLICT, "the record of this write does not fit doc:\"" SV_FMT "\"",
                       SV_ARG(name));
    struct doc_change ch = { (size_t)at, (size_t)inserted, json_text(undo, "removed") };
    if (doc_apply(s, name, &doc, &ch, r, &now, e))
        return err_code(e);
    if (!now.n)
        sb_addf(left, "  doc:\"" SV_FMT "\" is empty now\n", SV_ARG(name));
    return ST_OK;
}

/* A note that was taken away comes back under a new number, a link as it was. */
static enum status put_back(struct session *s, const struct json *undo, const struct node *n,
                            struct sb *left, struct err *e)
{
    struct link_target to = link_target_of(json_find(undo, "target"));
    int64_t            number;

    if (!sv_is(json_text(undo, "do"), "annotate"))
        return loom_link(&s->loom, s->agent.name, n, &to, json_text(undo, "note"), &number, e);
    if (loom_annotate(&s->loom, s->agent.name, s->agent.kind, n, json_text(undo, "text"), &number,
                      e))
        return err_code(e);
    sb_addf(left, "  it is annotation [ann-%" PRId64 "] now\n", number);
    return ST_OK;
}

/* *left: what is not as it was before, for the answer. */
static enum status reverse(struct session *s, const struct json *undo, struct result *r,
                           struct sb *left, struct err *e)
{
    struct sv   what = json_text(undo, "do"), node = json_text(undo, "node");
    struct node n;
    int64_t     number = 0;

    if (sv_is(what, "pin") || sv_is(what, "stash"))
        return tool_memory_put_back(s, undo, e);
    if (permission_check(s->agent.permissions, PERM_loom_write, e)) /* it may be gone since */
        return err_code(e);
    if (sv_is(what, "prune-all"))
        return hide_all(s, undo, e);
    if (sv_is(what, "unwrite"))
        return unwrite(s, undo, r, left, e);
    if (node_find(&s->loom, node, &n, e))
        return err_code(e);
    if (sv_is(what, "prune") && json_text(undo, "back").n)
        return hide(s, node, e) ? err_code(e) : go_back(s, undo, e);
    if (sv_is(what, "unannotate") && json_int(json_find(undo, "annotation"), &number))
        return loom_unannotate(&s->loom, s->agent.name, number, e);
    if (sv_is(what, "unlink") && json_int(json_find(undo, "link"), &number))
        return loom_unlink(&s->loom, s->agent.name, &n, number, e);
    if (sv_is(what, "annotate") || sv_is(what, "link"))
        return put_back(s, undo, &n, left, e);
    static const char *const marks[] = { "prune",    "restore", "bookmark", "unbookmark",
                                         "withdraw", "exclude", "include" };
    for (size_t i = 0; i < COUNT(marks); i++)
        if (sv_is(what, marks[i]))
            return loom_mark(&s->loom, s->agent.name, marks[i], &n, json_text(undo, "label"), e)
                       ? err_code(e)
                       : go_back(s, undo, e);
    return err_set(e, ST_CORRUPT, "cannot undo '" SV_FMT "'", SV_ARG(what));
}

/* Will the undo always be refused? Then the next undo takes the write before it. A lease expires
 * and a disk may recover: such refusals are not final. */
static bool is_final(const struct err *e)
{
    return e->code != ST_IO && !sv_is(sv_of(e->reason), "leased");
}

static enum status refuse(struct result *r, struct err *e)
{
    struct err why = *e;

    if (!is_final(e)) {
        r->undoes = -1;
        return err_code(e);
    }
    return err_hint(e, "%s%s→ undo again goes on to what you did before it", why.hint,
                    why.hint[0] ? "; " : "");
}

/* What was done, in the words of its record: a command, or something that was said. */
static enum status tell_undone(struct session *s, struct result *r, struct err *e)
{
    struct entry n;
    struct json  action;

    if (loom_entry(&s->loom, r->undoes, &n, &action, e))
        return err_code(e);
    if (kind_of(n.kind) != KIND_AI_MESSAGE) {
        r->object = json_text(&action, "verb");
        sb_adds(&r->text, "✓ undid → ");
        sb_add_oneline(&r->text, json_text(&action, "line"));
        sb_addc(&r->text, '\n');
        return ST_OK;
    }
    struct sv text;
    if (node_text(&s->loom, r->undoes, &text, e))
        return err_code(e);
    r->object = SV("saying");
    sb_adds(&r->text, "✓ undid ");
    sb_add_preview(&r->text, text, PREVIEW_LIST);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

RUN(undo)
{
    struct json undo;
    struct sb   left = sb_in(s->a, 0);
    bool        found;

    (void)c;
    if (memory_undo(&s->loom, s->agent.name, &undo, &r->undoes, &found, e))
        return err_code(e);
    if (!found) {
        r->undoes = -1;
        err_set(e, ST_NOT_FOUND, "there is nothing of yours to undo");
        return err_hint(e, "only your own writes in this tree can be taken back");
    }
    if (reverse(s, &undo, r, &left, e))
        return refuse(r, e);
    if (tell_undone(s, r, e))
        return err_code(e);
    sb_add(&r->text, sb_sv(&left));
    return ST_OK;
}
