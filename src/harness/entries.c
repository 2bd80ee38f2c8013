/* From items to entries: payloads of messages, compactions and kept records, in canonical order,
 * and the forks and switches around them. */
#include "harness/join.h"

#include "base/hash.h"
#include "base/money.h"
#include "thread/kind.h"
#include "thread/scan.h"

/* ---- keys --------------------------------------------------------------------------------- */

static bool is_plain(struct sv key)
{
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.s[i] <= ' ' || (unsigned char)key.s[i] >= 0x7f || key.s[i] == '"' ||
            key.s[i] == '\\')
            return false;
    return key.n > 0 && key.n <= HARNESS_KEY_MAX;
}

struct sv harness_key(struct sv key, struct arena *a)
{
    struct hash h;
    struct sb   b;

    if (is_plain(key))
        return key;
    h = hash_blake2b(&key, 1);
    b = sb_in(a, 0);
    sb_addc(&b, '#');
    sb_add_hex(&b, h.b, HASH_SIZE);
    return sb_sv(&b);
}

struct sv harness_op_id(enum harness h, struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s:", harness_name(h));
    sb_add(&b, harness_key(key, a));
    return sb_sv(&b);
}

/* ---- payloads ------------------------------------------------------------------------------ */

static void raw(struct jw *w, const char *key, struct sv json)
{
    if (!json.s)
        return;
    jw_key(w, key);
    jw_raw(w, json);
}

static void text(struct jw *w, const char *key, struct sv v)
{
    if (v.s)
        jw_kstr(w, key, v);
}

/* A session in a thread that is not its own acts under an agent name of its own, so that it does
 * not change the active lane of others. */
static void put_agent(struct jw *w, const struct harness_batch *b)
{
    if (!sv_eq(b->main, LANE_DEFAULT))
        jw_kstr(w, "agent", b->main);
}

static void put_harness(struct jw *w, const struct harness_batch *b,
                        const struct harness_item *item)
{
    jw_key(w, "harness");
    jw_open(w, '{');
    text(w, "group", item->group);
    text(w, "line", item->line);
    text(w, "model", item->model);
    raw(w, "more", item->more);
    jw_kstr(w, "name", sv_of(harness_name(b->harness)));
    if (b->part.n)
        jw_kstr(w, "part", b->part);
    raw(w, "record", item->record);
    jw_kstr(w, "session", b->session);
    if (item->is_turn)
        jw_kbool(w, "turn", true);
    jw_close(w, '}');
}

static void put_node(struct jw *w, const struct harness_item *item)
{
    if (!item->author.n && !item->id.n && !item->hangs_on.n)
        return;
    jw_key(w, "node");
    jw_open(w, '{');
    text(w, "author", item->author);
    text(w, "edited_from", item->edits);
    text(w, "id", item->id);
    text(w, "parent", item->hangs_on);
    if (item->edits.n) {
        jw_kbool(w, "version", true);
        jw_kstr(w, "via", SV("edit"));
    }
    jw_close(w, '}');
}

static void put_usage(struct jw *w, const struct harness_usage *u)
{
    jw_key(w, "usage");
    jw_open(w, '{');
    jw_kint(w, "cache_read_tokens", u->cache_read);
    jw_kint(w, "cache_write_tokens", u->cache_write);
    if (u->priced) {
        char      room[40];
        struct sb cost = sb_on(room, sizeof room, NULL);
        sb_add_decimal(&cost, u->cost);
        jw_key(w, "cost_usd");
        jw_raw(w, sb_sv(&cost));
    }
    jw_kint(w, "input_tokens", u->input);
    jw_kint(w, "output_tokens", u->output);
    jw_kint(w, "reasoning_tokens", u->reasoning);
    jw_close(w, '}');
}

static void message(struct jw *w, const struct harness_batch *b, const struct harness_item *item,
                    struct sv lane)
{
    jw_open(w, '{');
    raw(w, "content", item->content);
    jw_kstr(w, "context_ref", lane);
    put_harness(w, b, item);
    text(w, "name", item->name);
    put_node(w, item);
    raw(w, "reasoning_details", item->details);
    jw_kstr(w, "role", sv_of(item->role));
    text(w, "thinking", item->thinking);
    text(w, "tool_call_id", item->tool_call_id);
    raw(w, "tool_calls", item->tool_calls);
    if (item->has_usage)
        put_usage(w, &item->usage);
    jw_close(w, '}');
}

static void compaction(struct jw *w, const struct harness_batch *b, const struct harness_item *item,
                       struct sv lane, struct sv op_id, int64_t base, bool rebase)
{
    jw_open(w, '{');
    put_agent(w, b);
    jw_kstr(w, "context_ref", lane);
    jw_kstr(w, "op_id", op_id);
    jw_key(w, "operation");
    jw_open(w, '{');
    jw_kint(w, "base_seq", base);
    jw_key(w, "meta");
    jw_open(w, '{');
    put_harness(w, b, item);
    jw_kbool(w, "rebase", rebase);
    jw_close(w, '}');
    jw_kstr(w, "reason", SV("compaction"));
    jw_key(w, "result_context");
    jw_open(w, '{');
    raw(w, "messages", item->messages);
    jw_key(w, "system_prompt");
    jw_null(w);
    jw_close(w, '}');
    jw_kstr(w, "type", SV("replace"));
    jw_close(w, '}');
    jw_close(w, '}');
}

static void kept(struct jw *w, const struct harness_batch *b, const struct harness_item *item)
{
    jw_open(w, '{');
    put_harness(w, b, item);
    if (item->has_usage)
        put_usage(w, &item->usage);
    jw_close(w, '}');
}

struct sv harness_payload(const struct harness_batch *b, const struct harness_item *item,
                          struct sv lane, struct sv op_id, int64_t base, bool rebase,
                          struct arena *a)
{
    struct sb out = sb_in(a, 0);
    struct jw w = jw_in(&out, 0);

    switch (item->kind) {
    case HARNESS_MESSAGE: message(&w, b, item, lane); break;
    case HARNESS_COMPACTION: compaction(&w, b, item, lane, op_id, base, rebase); break;
    case HARNESS_KEPT: kept(&w, b, item); break;
    case HARNESS_MARK: return item->mark;
    }
    return sb_sv(&out);
}

/* ---- operations ----------------------------------------------------------------------------- */

static struct sv op_with(struct sv op_id, const char *suffix, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, op_id);
    sb_adds(&b, suffix);
    return sb_sv(&b);
}

static struct sv lane_operation(const struct harness_batch *b, const struct harness_place *p,
                                struct sv op_id, struct arena *a)
{
    struct sb out = sb_in(a, 0);
    struct jw w = jw_in(&out, 0);

    jw_open(&w, '{');
    put_agent(&w, b);
    jw_kstr(&w, "context_ref", p->lane);
    jw_kstr(&w, "op_id", op_id);
    jw_key(&w, "operation");
    jw_open(&w, '{');
    if (p->forks) {
        jw_key(&w, "from");
        jw_open(&w, '{');
        jw_kstr(&w, "lane", p->from);
        jw_kint(&w, "seq", p->at);
        jw_close(&w, '}');
    }
    jw_key(&w, "meta");
    jw_raw(&w, SV("{}"));
    jw_kstr(&w, "reason", SV("manual"));
    if (p->forks)
        jw_kbool(&w, "switch", true);
    jw_kstr(&w, "type", p->forks ? SV("fork") : SV("switch"));
    jw_close(&w, '}');
    jw_close(&w, '}');
    return sb_sv(&out);
}

static struct sv operation_refs(struct sv lane, struct sv op_id, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "context_ref", lane);
    jw_kstr(&w, "op_id", op_id);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- the batch ------------------------------------------------------------------------------ */

static void put_entry(struct harness_batch *b, struct entry n)
{
    *vec_push(&b->entries, b->a) = n;
    b->bytes += n.payload.n;
    b->next++;
}

static void put_operation(struct harness_batch *b, const struct harness_place *p, struct sv op_id,
                          int64_t at)
{
    struct sv id = op_with(op_id, p->forks ? ":fork" : ":switch", b->a);

    put_entry(b, (struct entry){ .at = at,
                                 .kind = sv_of(kind_name(KIND_AI_CONTEXT_OPERATION)),
                                 .actor = b->actor,
                                 .lane = sv_dup(p->lane, b->a),
                                 .op_id = id,
                                 .payload = lane_operation(b, p, id, b->a),
                                 .refs = operation_refs(p->lane, id, b->a) });
}

static const char *kind_of_item(const struct harness_item *item)
{
    static const enum kind kinds[] = { [HARNESS_MESSAGE] = KIND_AI_MESSAGE,
                                       [HARNESS_COMPACTION] = KIND_AI_CONTEXT_OPERATION,
                                       [HARNESS_KEPT] = KIND_HARNESS_RECORD,
                                       [HARNESS_MARK] = KIND_LOOM_MARK };

    return kind_name(kinds[item->kind]);
}

/* The last entry that a compaction hides: the one before the first that stays. */
static enum status find_base(struct harness_batch *b, const struct harness_item *item,
                             struct arena *a, int64_t *base, bool *rebase, struct err *e)
{
    struct harness_found first;

    *base = b->next - 1;
    *rebase = false;
    if (item->kind != HARNESS_COMPACTION || !item->kept_from.n)
        return ST_OK;
    struct sb part = sb_in(a, 0); /* of a record that became several entries the first counts */
    sb_add(&part, item->kept_from);
    sb_adds(&part, "#0");
    if (harness_lookup(b, sb_sv(&part), 0, a, &first, rebase, e) ||
        (!*rebase && harness_lookup(b, item->kept_from, 0, a, &first, rebase, e)))
        return err_code(e);
    if (*rebase)
        *base = first.seq - 1;
    else
        harness_note(b->report, b->state->number,
                     "compactions that keep what is not there: taken without it");
    return ST_OK;
}

/* A payload that is too large for an entry is replaced by a record of its size. */
static void fit(struct harness_batch *b, struct entry *n)
{
    struct sb out;

    if (n->payload.n <= ENTRY_PAYLOAD_MAX)
        return;
    harness_note(b->report, b->state->number, "records that are too large for an entry: left out");
    out = sb_in(b->a, 0);
    sb_addf(&out, "{\"harness\":{\"left_out\":%zu,\"name\":\"%s\",\"session\":\"" SV_FMT "\"}}",
            n->payload.n, harness_name(b->harness), SV_ARG(b->session));
    n->payload = sb_sv(&out);
    n->refs = (struct sv){ 0 };
    n->kind = sv_of(kind_name(KIND_HARNESS_RECORD));
}

/* A version has the role of the message that it takes the place of. */
static enum status adopt_role(struct harness_batch *b, struct harness_item *item, struct arena *a,
                              struct err *e)
{
    struct harness_found found;
    struct entry         n;
    struct json          p;
    bool                 is_there;

    if (harness_batch_flush(b, e) || harness_lookup(b, item->edits, 0, a, &found, &is_there, e) ||
        (is_there && log_entry(b->log, b->thread, found.seq, a, &n, &is_there, e)))
        return err_code(e);
    if (!is_there || json_parse(n.payload, 0, a, &p, e))
        return ST_OK;
    if (json_text(&p, "role").n)
        item->role = sv_cstr(json_text(&p, "role"), a);
    item->tool_call_id = json_text(&p, "tool_call_id");
    return ST_OK;
}

/* The first record of a fork: whose it is, and what that session has cost, which is not this one's
 * cost. */
static enum status note_fork(struct harness_batch *b, const struct harness_item *item,
                             const struct harness_place *p, struct arena *a, struct err *e)
{
    struct harness_origin o;
    struct entry          n;
    struct json           payload;
    bool                  found;

    if (b->harness != HARNESS_CLAUDE_CODE || p->at < 0 || !sv_eq(p->lane, b->main))
        return ST_OK;
    if (harness_batch_flush(b, e) || log_entry(b->log, b->thread, p->at, a, &n, &found, e))
        return err_code(e);
    if (!found || json_parse(n.payload, 0, a, &payload, e) || !harness_origin(&payload, &o) ||
        sv_eq(o.session, b->session))
        return ST_OK;
    harness_text_set(&b->state->parent, o.session);
    return harness_claude_fork(b, o.session, harness_key(item->parent, a), a, e);
}

static enum status put_item(struct harness_batch *b, const struct harness_item *item,
                            const struct harness_place *p, struct sv op_id, struct arena *a,
                            struct err *e)
{
    int64_t               at = item->at ? item->at : b->state->last ? b->state->last : b->now, base;
    struct sv             lane = sv_dup(p->lane, b->a);
    struct harness_found *waits = ARENA_NEW(b->a, struct harness_found, 1);
    bool                  rebase;

    if (p->forks || p->switches)
        put_operation(b, p, op_id, at);
    if (find_base(b, item, a, &base, &rebase, e))
        return err_code(e);
    struct entry n = { .at = at,
                       .kind = sv_of(kind_of_item(item)),
                       .actor = b->actor,
                       .lane = lane,
                       .op_id = op_id,
                       .payload = harness_payload(b, item, lane, op_id, base, rebase, b->a) };
    if (item->kind == HARNESS_COMPACTION)
        n.refs = operation_refs(lane, op_id, b->a);
    if (item->failed)
        n.refs = SV("{\"is_error\":true}");
    if (item->kind == HARNESS_MARK) {
        n.payload = sv_dup(item->mark, b->a);
        n.lane = (struct sv){ 0 };
    }
    fit(b, &n);
    *waits = (struct harness_found){ b->next, at, lane };
    map_put(&b->waiting, op_id, waits);
    put_entry(b, n);
    b->report->entries++;
    b->report->messages += item->kind == HARNESS_MESSAGE;
    b->report->compactions += item->kind == HARNESS_COMPACTION;
    b->report->lanes += p->forks;
    return ST_OK;
}

/* ---- the session as a whole ----------------------------------------------------------------- */

/* Usage of the parts of one answer is that of the whole answer: the last one counts. */
static void count_usage(struct harness_state *s, const struct harness_item *item)
{
    struct harness_usage none = { 0 };
    bool                 again = item->group.n && sv_eq(item->group, harness_text_sv(&s->group));

    if (!item->has_usage)
        return;
    if (item->kind == HARNESS_KEPT) { /* usage in a record of its own */
        harness_usage_add(&s->total, &item->usage, 1);
        return;
    }
    if (again)
        harness_usage_add(&s->total, &s->counted, -1);
    s->counted = item->group.n ? item->usage : none;
    harness_text_set(&s->group, item->group);
    harness_usage_add(&s->total, &item->usage, 1);
}

/* The beginning of a text on one line. */
static struct sv one_line(struct sv v, char *room, size_t size)
{
    size_t n = 0;

    v = sv_trim(sv_first(v, size));
    for (size_t i = 0; i < v.n; i++)
        room[n++] = v.s[i] == '\n' || v.s[i] == '\r' || v.s[i] == '\t' ? ' ' : v.s[i];
    return (struct sv){ room, n };
}

static void count(struct harness_state *s, const struct harness_item *item)
{
    char room[HARNESS_TEXT_MAX + 4];

    if (item->at) {
        s->first = s->first ? s->first : item->at;
        s->last = item->at > s->last ? item->at : s->last;
    }
    count_usage(s, item);
    s->messages += item->kind == HARNESS_MESSAGE;
    if (item->model.n)
        harness_text_set(&s->model, item->model);
    if (!item->is_turn)
        return;
    s->turns++;
    if (!item->prompt.n)
        return;
    harness_text_set(&s->prompt, one_line(item->prompt, room, sizeof room));
    if (!s->asked.n)
        s->asked = s->prompt;
}

/* Is a message behind this entry on its lane? */
static enum status goes_on(struct harness_batch *b, struct sv lane, int64_t seq, struct arena *a,
                           bool *out, struct err *e)
{
    struct store_query q = {
        .thread = b->thread, .from = seq + 1, .to = STORE_TO_END, .lane = lane, .mark = MARK_MESSAGE
    };
    struct entry n;

    if (harness_batch_flush(b, e))
        return err_code(e);
    return log_first(b->log, &q, a, &n, out, e);
}

/* A record that was there already is the end of its lane unless the lane has gone on. */
static enum status revisit(struct harness_batch *b, const struct harness_item *item,
                           const struct harness_place *p, struct arena *a, struct err *e)
{
    bool more;

    if (goes_on(b, p->lane, p->at, a, &more, e))
        return err_code(e);
    if (!more)
        harness_tip_set(b->state, p->lane, harness_key(item->key, a));
    else if (!harness_tip_of_lane(b->state, p->lane))
        harness_tip_set(b->state, p->lane, SV(""));
    return ST_OK;
}

/* The lane of the item now ends with it. An answer of the model begins a group that results of
 * its calls may follow. */
static enum status move_tip(struct harness_batch *b, const struct harness_item *item,
                            const struct harness_place *p, struct arena *a, struct err *e)
{
    struct harness_tip *tip;

    if (item->link == HARNESS_LOOSE || p->is_others)
        return ST_OK;
    if (!item->side.n)
        harness_text_set(&b->state->lane, p->lane);
    if (p->known)
        return revisit(b, item, p, a, e);
    tip = harness_tip_set(b->state, p->lane, harness_key(item->key, a));
    if (item->kind == HARNESS_MESSAGE && sv_is(sv_of(item->role), "assistant") &&
        (!item->group.n || !sv_eq(item->group, harness_text_sv(&b->state->group))))
        tip->answer = b->next - 1;
    return ST_OK;
}

/* ---- adding --------------------------------------------------------------------------------- */

enum status harness_batch_keep(struct harness_batch *b, const struct harness_item *item,
                               struct arena *a, struct err *e)
{
    struct harness_place p;

    if (harness_place(b, item, a, &p, e))
        return err_code(e);
    return p.known ? ST_OK : put_item(b, item, &p, harness_own_op_id(b, item->key, b->a), a, e);
}

enum status harness_batch_add(struct harness_batch *b, const struct harness_item *item,
                              struct arena *a, struct err *e)
{
    struct harness_item  adopted = *item;
    struct harness_place p;

    if (harness_place(b, item, a, &p, e))
        return err_code(e);
    if (item->edits.n && !p.known && adopt_role(b, &adopted, a, e))
        return err_code(e);
    if (p.forks && note_fork(b, item, &p, a, e))
        return err_code(e);
    if (item->kind == HARNESS_MESSAGE && !b->state->messages && !item->hangs_on.n)
        adopted.hangs_on = b->hangs_on; /* where a sub-agent begins */
    item = &adopted;
    if (p.is_others ? harness_shared_add(b, item, &p, a, e) : harness_shared_end(b, a, e))
        return err_code(e);
    if (p.known) {
        b->report->known++;
    } else if (put_item(b, item, &p, harness_own_op_id(b, item->key, b->a), a, e)) {
        return err_code(e);
    }
    if (move_tip(b, item, &p, a, e))
        return err_code(e);
    if (!p.is_others)
        count(b->state, item);
    if (b->entries.n >= HARNESS_APPEND_ENTRIES || b->bytes >= HARNESS_APPEND_BYTES)
        return harness_batch_flush(b, e);
    return ST_OK;
}

enum status harness_batch_flush(struct harness_batch *b, struct err *e)
{
    struct store_head head;

    if (!b->entries.n)
        return ST_OK;
    if (log_append(b->log, b->thread, LOG_ANY_REV, b->entries.v, b->entries.n, &head, e))
        return err_code(e);
    b->next = head.rev;
    b->bytes = 0;
    arena_free(b->a);
    memset(&b->entries, 0, sizeof b->entries);
    b->waiting = map_in(b->a);
    return ST_OK;
}
