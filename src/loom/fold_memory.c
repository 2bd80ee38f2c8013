/* What each agent keeps: pins, stashes, and the trace of what it did. */
#include "loom/loom_internal.h"
#include "loom/memory.h"
#include "thread/kind.h"

/* ---- pins ------------------------------------------------------------------------- */

static enum status find_pin(struct rows *r, struct sv agent, struct sv target, struct sv *key,
                            struct err *e)
{
    struct store_row *rows;
    size_t            n;

    if (row_list(r, key_below_name("pin", agent, r->a), (struct sv){ 0 }, SIZE_MAX, &rows, &n, e))
        return err_code(e);
    *key = (struct sv){ 0 };
    for (size_t i = 0; i < n; i++)
        if (sv_eq(rows[i].value, target))
            *key = rows[i].key;
    return ST_OK;
}

/* Where it is shown: one that was dropped and is put back says where it was. */
static int64_t place_of(const struct entry *n, const struct json *p)
{
    int64_t place;

    return json_int(json_find(p, "place"), &place) && place >= 0 && place < n->seq ? place : n->seq;
}

/* The key of a new pin: two pins never share a place. */
static enum status new_pin_key(struct rows *r, const struct entry *n, const struct json *p,
                               struct sv agent, struct sv *key, struct err *e)
{
    struct sv other;
    bool      taken;

    *key = key_of_name_seq("pin", agent, place_of(n, p), r->a);
    if (row_get(r, *key, &other, &taken, e))
        return err_code(e);
    if (taken)
        *key = key_of_name_seq("pin", agent, n->seq, r->a);
    return ST_OK;
}

static enum status fold_pin(struct rows *r, const struct entry *n, const struct json *p,
                            struct sv agent, bool keep, struct err *e)
{
    const struct json *target = json_find(p, "target");
    struct sv          key;

    if (!target)
        return ST_OK;
    struct sv text = json_canonical(target, r->a);
    if (find_pin(r, agent, text, &key, e))
        return err_code(e);
    struct pin pin = memory_pin_of(target);
    if (keep && pin.is_result && fold_result_pinned(r, agent, pin.result, p, e))
        return err_code(e);
    if (!keep)
        return key.s ? row_del(r, key, e) : ST_OK;
    if (key.s)
        return ST_OK;
    return new_pin_key(r, n, p, agent, &key, e) ? err_code(e) : row_put(r, key, text, e);
}

/* ---- stashes ---------------------------------------------------------------------- */

static enum status put_stash(struct rows *r, struct sv key, const struct stash *s, struct err *e)
{
    struct sb b = sb_in(r->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kint(&w, "at", s->at);
    jw_kint(&w, "entry", s->entry);
    jw_kbool(&w, "estimate", s->is_estimate);
    if (s->place != s->entry)
        jw_kint(&w, "place", s->place);
    jw_kbool(&w, "recalled", s->recalled);
    jw_kint(&w, "tokens", s->tokens);
    jw_close(&w, '}');
    return row_put(r, key, sb_sv(&b), e);
}

static enum status fold_stash(struct rows *r, const struct entry *n, const struct json *p,
                              struct sv agent, struct err *e)
{
    struct stash s = { .at = n->at,
                       .entry = n->seq,
                       .place = place_of(n, p),
                       .is_estimate = json_truth(json_find(p, "estimate")),
                       .recalled = json_truth(json_find(p, "recalled")) };

    json_int(json_find(p, "since"), &s.at);
    json_int(json_find(p, "tokens"), &s.tokens);
    return put_stash(r, key_of_names("st", agent, json_text(p, "label"), r->a), &s, e);
}

static enum status fold_recall(struct rows *r, const struct json *p, struct sv agent, struct err *e)
{
    struct sv    key = key_of_names("st", agent, json_text(p, "label"), r->a);
    struct json  v;
    struct stash s = { 0 };
    bool         found;

    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    json_int(json_find(&v, "at"), &s.at);
    json_int(json_find(&v, "entry"), &s.entry);
    json_int(json_find(&v, "tokens"), &s.tokens);
    s.place = s.entry;
    json_int(json_find(&v, "place"), &s.place);
    s.is_estimate = json_truth(json_find(&v, "estimate"));
    s.recalled = true;
    return put_stash(r, key, &s, e);
}

/* ---- preambles --------------------------------------------------------------------- */

/* pre/AGENT/SEQ: the entry that says what stood before node SEQ. */
static enum status fold_preamble(struct rows *r, const struct entry *n, const struct json *p,
                                 struct sv agent, struct err *e)
{
    struct node node;
    bool        found;

    if (rows_find(r, json_text(json_find(p, "target"), "node"), &node, &found, e))
        return err_code(e);
    return found ? row_put_int(r, key_of_name_seq("pre", agent, node.seq, r->a), n->seq, e) : ST_OK;
}

/* ---- turns ------------------------------------------------------------------------ */

/* turn/AGENT: where its last turn ended, and the one before. */
static enum status fold_turn(struct rows *r, const struct entry *n, const struct json *p,
                             struct sv agent, struct err *e)
{
    struct sv   key = key_of_name("turn", agent, r->a);
    struct json v = { .type = JSON_NULL };
    struct sb   b = sb_in(r->a, 0);
    int64_t     before = -1;
    bool        found;

    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    json_int(json_find(&v, "last"), &before);
    sb_addf(&b, "{\"before\":%lld,\"last\":%lld}", (long long)before, (long long)n->seq);
    if (row_put(r, key, sb_sv(&b), e))
        return err_code(e);
    return fold_results_turn(r, agent, json_find(p, "named"), e);
}

enum status fold_memory(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    struct sv op = json_text(p, "op"), agent = json_text(p, "agent");

    if (!agent.n)
        agent = AGENT_DEFAULT;
    if (sv_is(op, "pin") || sv_is(op, "unpin"))
        return fold_pin(r, n, p, agent, sv_is(op, "pin"), e);
    if (sv_is(op, "stash"))
        return fold_stash(r, n, p, agent, e);
    if (sv_is(op, "recall"))
        return fold_recall(r, p, agent, e);
    if (sv_is(op, "unstash"))
        return row_del(r, key_of_names("st", agent, json_text(p, "label"), r->a), e);
    if (sv_is(op, "turn"))
        return fold_turn(r, n, p, agent, e);
    if (sv_is(op, "preamble"))
        return fold_preamble(r, n, p, agent, e);
    return ST_OK;
}

/* ---- the trace -------------------------------------------------------------------- */

struct trace_head {
    struct json older; /* verb → how many have gone */
    int64_t     n;
};

static void write_older(struct jw *w, const struct json *older, struct sv verb)
{
    bool done = false;

    jw_key(w, "older");
    jw_open(w, '{');
    for (size_t i = 0; json_is(older, JSON_OBJECT) && i < older->n; i++) {
        int64_t count = 0;
        json_int(&older->members[i].value, &count);
        bool same = sv_eq(older->members[i].key, verb);
        jw_key_sv(w, older->members[i].key);
        jw_int(w, count + same);
        done = done || same;
    }
    if (!done && verb.s) {
        jw_key_sv(w, verb);
        jw_int(w, 1);
    }
    jw_close(w, '}');
}

/* Make room: the oldest action beyond TRACE_KEPT becomes a count. */
static enum status retire(struct rows *r, struct sv agent, int64_t n, struct sv *verb,
                          struct err *e)
{
    struct sv   key = key_of_name_seq("act", agent, n - TRACE_KEPT, r->a);
    struct json v;
    bool        found;

    *verb = (struct sv){ 0 };
    if (n < TRACE_KEPT)
        return ST_OK;
    if (row_json(r, key, &v, &found, e))
        return err_code(e);
    if (found)
        *verb = json_text(&v, "code").n ? SV("failure") : json_text(&v, "verb");
    return row_del(r, key, e);
}

static enum status add_action(struct rows *r, const struct json *p, struct sv agent, struct err *e)
{
    struct sv   head_key = key_of_name("acts", agent, r->a), verb;
    struct json head = { .type = JSON_NULL };
    struct sb   b = sb_in(r->a, 0), row = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0), act = jw_in(&row, 0);
    int64_t     n = 0;
    bool        found;

    if (row_json(r, head_key, &head, &found, e))
        return err_code(e);
    json_int(json_find(&head, "n"), &n);
    if (retire(r, agent, n, &verb, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kint(&w, "n", n + 1);
    write_older(&w, json_find(&head, "older"), verb);
    jw_close(&w, '}');
    static const char *const kept[] = { "code", "line", "object", "results", "verb" };
    jw_open(&act, '{');
    for (size_t i = 0; i < COUNT(kept); i++)
        if (json_find(p, kept[i])) {
            jw_key(&act, kept[i]);
            jw_json(&act, json_find(p, kept[i]));
        }
    jw_close(&act, '}');
    return row_put(r, head_key, sb_sv(&b), e)
               ? err_code(e)
               : row_put(r, key_of_name_seq("act", agent, n, r->a), sb_sv(&row), e);
}

/* A command shows that the agent is active. An agent without a position gets one, the end of the
 * default lane, when the record names it. */
static enum status see_agent(struct rows *r, const struct entry *n, const struct json *p,
                             struct sv agent, struct err *e)
{
    struct place    place;
    struct lane_end end = { NO_NODE, NO_NODE };
    struct sv       kind = json_text(p, "kind");
    bool            found;

    if (rows_place(r, agent, &place, &found, e))
        return err_code(e);
    if (!found && !kind.n)
        return ST_OK;
    if (!found && rows_lane(r, LANE_DEFAULT, &end, e))
        return err_code(e);
    if (!found && end.talk == NO_NODE)
        return ST_OK;
    if (!found)
        place = (struct place){ .kind = sv_is(kind, "model") ? AUTHOR_MODEL : AUTHOR_HUMAN,
                                .node = end.talk,
                                .since = n->seq,
                                .lane = LANE_DEFAULT };
    place.at = n->at;
    return rows_put_place(r, agent, &place, e);
}

/* ---- undo ------------------------------------------------------------------------- */

/* Add a message to said/AGENT, or remove one; only the last SAID_KEPT are kept. */
enum { SAID_KEPT = 50 };

static struct sv said_without(struct sv list, int64_t seq, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (struct sv_cut c = { .tail = list, .found = list.n > 0 }; c.found;) {
        int64_t each;
        c = sv_cut(c.tail, ' ');
        if (sv_to_int(c.head, &each) && each != seq)
            sb_addf(&b, "%s%lld", b.n ? " " : "", (long long)each);
    }
    return sb_sv(&b);
}

enum status fold_said(struct rows *r, struct sv agent, int64_t seq, struct err *e)
{
    struct sv key = key_of_name("said", agent, r->a), list = { 0 };
    struct sb b = sb_in(r->a, 0);
    bool      found;
    size_t    n = 1;

    if (row_get(r, key, &list, &found, e))
        return err_code(e);
    for (size_t i = 0; found && i < list.n; i++)
        n += list.s[i] == ' ';
    if (found && n >= SAID_KEPT)
        list = sv_cut(list, ' ').tail;
    if (found && list.n) {
        sb_add(&b, list);
        sb_addc(&b, ' ');
    }
    sb_addf(&b, "%lld", (long long)seq);
    return row_put(r, key, sb_sv(&b), e);
}

static enum status unsay(struct rows *r, struct sv agent, int64_t seq, bool *was, struct err *e)
{
    struct sv key = key_of_name("said", agent, r->a), list = { 0 };

    if (row_get(r, key, &list, was, e))
        return err_code(e);
    if (!*was)
        return ST_OK;
    struct sv left = said_without(list, seq, r->a);
    *was = left.n < list.n;
    if (!*was)
        return ST_OK;
    return left.n ? row_put(r, key, left, e) : row_del(r, key, e);
}

/* Remove an undo that was done. */
static enum status forget_undo(struct rows *r, struct sv agent, int64_t seq, struct err *e)
{
    bool was;

    if (unsay(r, agent, seq, &was, e) || row_del(r, key_of_name_seq("undo", agent, seq, r->a), e))
        return err_code(e);
    return row_del(r, key_of_name_seq("late", agent, seq, r->a), e);
}

/* An undo that was refused is tried again after all others. A message that cannot be taken back
 * because others replied to it is dropped from the list: hiding it with prune would hide the
 * replies too. */
static enum status pass_undo(struct rows *r, struct sv agent, int64_t seq, struct err *e)
{
    struct sv key = key_of_name_seq("undo", agent, seq, r->a), undo;
    bool      found, was;

    if (unsay(r, agent, seq, &was, e) || row_get(r, key, &undo, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (row_put(r, key_of_name_seq("late", agent, seq, r->a), undo, e))
        return err_code(e);
    return row_del(r, key, e);
}

enum status fold_action(struct rows *r, const struct entry *n, const struct json *p, struct err *e)
{
    const struct json *undo = json_find(p, "undo"), *doc = json_find(p, "doc");
    struct sv          agent = json_text(p, "agent");
    int64_t            undone;

    if (!agent.n)
        agent = AGENT_DEFAULT;
    if (add_action(r, p, agent, e) || fold_result(r, n, p, agent, e))
        return err_code(e);
    if (undo &&
        row_put(r, key_of_name_seq("undo", agent, n->seq, r->a), json_canonical(undo, r->a), e))
        return err_code(e);
    if (json_int(json_find(p, "undoes"), &undone) && forget_undo(r, agent, undone, e))
        return err_code(e);
    if (json_int(json_find(p, "passes"), &undone) && pass_undo(r, agent, undone, e))
        return err_code(e);
    if (doc && row_put(r, key_of_names("doc", agent, json_text(doc, "path"), r->a),
                       json_text(doc, "hash"), e))
        return err_code(e);
    return see_agent(r, n, p, agent, e);
}
