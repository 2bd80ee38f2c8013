/* Context operations: checked, appended or parked, and taken up again at the end of a run. */
#include "thread/op.h"

#include "base/path.h"
#include "base/utf8.h"
#include "store/store.h"
#include "thread/durable.h"
#include "thread/kind.h"
#include "thread/project.h"
#include "thread/run.h"
#include "thread/run_state.h"

static const char *const type_names[] = { "replace", "switch", "fork" };

const char *op_type_name(enum op_type t)
{
    return type_names[t];
}

static bool is_reason(struct sv r)
{
    return sv_is(r, "manual") || sv_is(r, "restore") || sv_is(r, "compaction") ||
           sv_is(r, "system");
}

/* ---- the entry -------------------------------------------------------------------- */

static void write_operation(struct jw *w, const struct op *op, struct sv snapshot)
{
    jw_key(w, "operation");
    jw_open(w, '{');
    if (op->type == OP_REPLACE && op->has_base_seq)
        jw_kint(w, "base_seq", op->base_seq);
    if (op->type == OP_FORK) {
        jw_key(w, "from");
        jw_open(w, '{');
        jw_kstr(w, "lane", op->from);
        jw_kint(w, "seq", op->from_seq);
        jw_close(w, '}');
    }
    jw_key(w, "meta");
    jw_raw(w, op->meta.n ? op->meta : SV("{}"));
    jw_kstr(w, "reason", op->reason);
    if (op->type == OP_REPLACE) {
        jw_key(w, "result_context");
        jw_raw(w, snapshot);
    }
    if (op->type == OP_FORK && op->also_switch)
        jw_kbool(w, "switch", true);
    jw_kstr(w, "type", sv_of(type_names[op->type]));
    jw_close(w, '}');
}

static struct sv op_payload(const struct op *op, struct sv snapshot, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (!sv_eq(op->agent, AGENT_DEFAULT))
        jw_kstr(&w, "agent", op->agent);
    jw_kstr(&w, "context_ref", op->lane);
    jw_kstr(&w, "op_id", op->op_id);
    write_operation(&w, op, snapshot);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static struct sv op_refs(struct sv lane, struct sv op_id, struct sv superseded, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "context_ref", lane);
    jw_kstr(&w, "op_id", op_id);
    if (superseded.n)
        jw_kstr(&w, "supersedes", superseded);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* meta and `rebase` say the same, and meta is canonical. */
static enum status settle_meta(struct op *op, struct arena *a, struct err *e)
{
    struct json meta = { .type = JSON_OBJECT };

    if (op->meta.n && json_parse(op->meta, 0, a, &meta, e))
        return err_in(e, "meta");
    if (meta.type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, "meta must be an object");
    const struct json *said = json_find(&meta, "rebase");
    if (said && op->rebase && !json_truth(said))
        return err_set(e, ST_INVALID_SYNTAX, "rebase is asked for, and meta says otherwise");
    /* A compaction that names its base_seq keeps the messages after it. */
    bool implied = !said && op->has_base_seq && sv_is(op->reason, "compaction");
    op->rebase = op->type == OP_REPLACE && (op->rebase || json_truth(said) || implied);
    if (op->rebase && !op->has_base_seq) {
        err_set(e, ST_INVALID_SYNTAX, "rebase needs the seq the snapshot was made from");
        return err_hint(e, "add --base-seq N");
    }
    if (op->rebase && !said) {
        struct json_member *m = ARENA_NEW(a, struct json_member, meta.n + 1);
        for (size_t i = 0; i < meta.n; i++)
            m[i] = meta.members[i];
        m[meta.n++] = (struct json_member){ SV("rebase"), { .type = JSON_TRUE } };
        meta.members = m;
    }
    op->meta = json_canonical(&meta, a);
    return ST_OK;
}

/* ---- checks ------------------------------------------------------------------------ */

/* An op_id is found again by its raw text, so characters that JSON escapes are refused. */
static enum status check_op_id(struct sv id, struct err *e)
{
    if (!id.n) {
        err_set(e, ST_INVALID_SYNTAX, "an operation needs an op_id");
        return err_reason(e, "missing_op_id");
    }
    if (id.n > ENTRY_ID_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "the op_id is %zu bytes long", id.n);
        return err_hint(e, "the limit is %d bytes", ENTRY_ID_MAX);
    }
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.s[i] < 0x20 || id.s[i] == '"' || id.s[i] == '\\')
            return err_set(e, ST_INVALID_SYNTAX,
                           "an op_id may not hold \", \\ or control characters");
    return utf8_invalid(id) < 0 ? ST_OK : err_set(e, ST_INVALID_SYNTAX, "the op_id is not UTF-8");
}

/* A snapshot can be rebased only onto an entry that exists. */
static enum status check_base(const struct op *op, int64_t rev, struct err *e)
{
    if (!op->rebase || (op->base_seq >= -1 && op->base_seq < rev))
        return ST_OK;
    return err_set(e, ST_NOT_FOUND, "base seq %lld is not in the log (0 to %lld)",
                   (long long)op->base_seq, (long long)rev - 1);
}

static enum status check_request(const struct op *op, struct err *e)
{
    if (check_op_id(op->op_id, e))
        return err_code(e);
    if (!is_reason(op->reason)) {
        err_set(e, ST_INVALID_SYNTAX, "unknown reason '" SV_FMT "'", SV_ARG(op->reason));
        return err_hint(e, "manual, restore, compaction or system");
    }
    if (op->lane.s && name_check(op->lane, "lane", e))
        return err_code(e);
    if (op->type == OP_FORK && !op->lane.n)
        return err_set(e, ST_INVALID_SYNTAX, "a fork needs the name of the new lane");
    return name_check(op->agent, "agent", e);
}

static enum status settle_fork(struct log *l, struct op *op, struct arena *a, struct err *e)
{
    struct store_head h;
    struct lane       lane;
    bool              found;

    if (!op->from.s && lane_active(l, op->thread, op->agent, a, &op->from, e))
        return err_code(e);
    if (store_head(l->store, op->thread, &h, e) ||
        lane_find(l, op->thread, op->lane, a, &lane, &found, e))
        return err_code(e);
    if (found) {
        err_set(e, ST_CONFLICT, "lane '" SV_FMT "' exists already", SV_ARG(op->lane));
        err_reason(e, "lane_exists");
        return err_hint(e, "choose another name, or `heddle op switch` to it");
    }
    if (lane_find(l, op->thread, op->from, a, &lane, &found, e))
        return err_code(e);
    if (!found) {
        err_set(e, ST_NOT_FOUND, "lane '" SV_FMT "' not found", SV_ARG(op->from));
        return err_hint(e, "`heddle log show` names the lane of each entry");
    }
    if (op->from_seq == OP_AT_HEAD)
        op->from_seq = h.rev - 1;
    if (op->from_seq < -1 || op->from_seq >= h.rev)
        return err_set(e, ST_NOT_FOUND, "seq %lld is not in the log (0 to %lld)",
                       (long long)op->from_seq, (long long)h.rev - 1);
    return ST_OK;
}

/* The context of an active run is not changed, whichever agent asks. */
static enum status check_busy(struct log *l, const struct op *op, struct arena *a, struct err *e)
{
    struct sv other = { 0 };

    if (op->type != OP_REPLACE)
        return ST_OK;
    if (run_in_lane(l, op->thread, op->lane, a, &other, e))
        return err_code(e);
    if (!other.n || sv_eq(other, op->agent))
        return ST_OK;
    err_set(e, ST_CONFLICT, "a run of agent '" SV_FMT "' is active in lane '" SV_FMT "'",
            SV_ARG(other), SV_ARG(op->lane));
    err_reason(e, "lane_busy");
    return err_hint(e,
                    "wait for its end, or fork the lane (`heddle help op fork`); if its program "
                    "is gone, `" SV_FMT "` ends it",
                    SV_ARG(run_cancel_words(op->thread, other, a)));
}

/* Fill in from the log what the request leaves open. */
static enum status settle(struct log *l, struct op *op, struct arena *a, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, op->thread, &h, e))
        return err_code(e);
    if (!h.rev && op->type != OP_REPLACE)
        return log_no_thread(op->thread, e);
    if (!op->lane.s && lane_active(l, op->thread, op->agent, a, &op->lane, e))
        return err_code(e);
    if (op->has_expect && log_check_rev(l, op->thread, op->expect, e))
        return err_code(e);
    if (settle_meta(op, a, e) || check_base(op, h.rev, e) || check_busy(l, op, a, e))
        return err_code(e);
    return op->type == OP_FORK ? settle_fork(l, op, a, e) : ST_OK;
}

/* ---- snapshots ---------------------------------------------------------------------- */

/* The context to store: as given, or for a compaction with the durable entries kept that the lane
 * has up to `upto`. */
static enum status snapshot_of(struct log *l, const struct op *op, const struct context *given,
                               int64_t upto, struct arena *a, struct sv *out, struct err *e)
{
    struct projection_of of = { op->thread, op->lane, upto, { 0 } };
    struct projection    p;
    struct context       current, merged = *given;

    if (sv_is(op->reason, "compaction")) {
        enum status s = project_start(l, &of, a, &p, e);
        if (s && s != ST_NOT_FOUND)
            return s;
        if (!s) {
            if (project_context(&p, &current, e))
                return err_code(e);
            merged = durable_keep(&current, given, op->rebase ? op->base_seq : INT64_MAX, a);
        }
    }
    *out = context_stored(&merged, context_id(op->lane, a), a);
    return ST_OK;
}

/* ---- applying ----------------------------------------------------------------------- */

static enum status append_op(struct log *l, const struct op *op, enum kind kind, struct sv payload,
                             struct sv superseded, struct arena *a, int64_t *seq, struct err *e)
{
    struct store_head h;
    struct entry      n = { .at = op->at,
                            .kind = sv_of(kind_name(kind)),
                            .lane = op->lane,
                            .actor = op->actor,
                            .payload = payload,
                            .refs = op_refs(op->lane, op->op_id, superseded, a) };

    if (kind_check_depth(payload, e) || log_append(l, op->thread, LOG_ANY_REV, &n, 1, &h, e))
        return err_code(e);
    *seq = n.seq;
    return ST_OK;
}

/* The lane and the payload that this request would have had when the entry `n` was written. What
 * the request left open (the lane, the seq of a fork) is taken from the entry; what a compaction
 * kept is found again by looking at the lane as it was before the entry. */
static enum status op_as_of(struct log *l, const struct op *op, const struct entry *n,
                            const struct context *given, struct arena *a, struct sv *lane,
                            struct sv *out, struct err *e)
{
    struct op          again = *op;
    struct json        payload;
    const struct json *old;

    if (json_parse(n->payload, 0, a, &payload, e))
        return err_code(e);
    old = json_find(&payload, "operation");
    if (!again.lane.s)
        again.lane = n->lane;
    if (settle_meta(&again, a, e))
        return err_code(e);
    if (again.type == OP_FORK) {
        const struct json *from = json_find(old, "from");
        if (!again.from.s)
            again.from = json_text(from, "lane");
        if (again.from_seq == OP_AT_HEAD)
            json_int(json_find(from, "seq"), &again.from_seq);
    }
    /* Before rebase was implied, such a compaction was stored without it. */
    if (again.rebase && !op->rebase && !json_find(json_find(old, "meta"), "rebase")) {
        struct json meta = { .type = JSON_OBJECT };
        if (op->meta.n && json_parse(op->meta, 0, a, &meta, e))
            return err_in(e, "meta");
        again.rebase = false;
        again.meta = json_canonical(&meta, a);
    }
    struct sv snapshot = { 0 };
    bool      is_parked = sv_is(n->kind, kind_name(KIND_CONTEXT_OP_DEFERRED)); /* as it was given */
    if (again.type == OP_REPLACE && is_parked)
        snapshot = context_stored(given, context_id(again.lane, a), a);
    else if (again.type == OP_REPLACE && snapshot_of(l, &again, given, n->seq - 1, a, &snapshot, e))
        return err_code(e);
    *lane = again.lane;
    *out = op_payload(&again, snapshot, a);
    return ST_OK;
}

static enum status taken(const struct op *op, struct err *e)
{
    log_op_id_taken(op->op_id, e);
    return err_hint(e, "use a new op_id for a new operation");
}

/* Is `n`, found under the op_id of the request, what it asks for? Else ST_CONFLICT. */
static enum status is_repeated(struct log *l, const struct op *op, const struct entry *n,
                               const struct context *given, struct arena *a, struct err *e)
{
    struct entry again = { .kind = n->kind, .op_id = n->op_id, .refs = n->refs };
    bool         repeated = false;

    if (!sv_is(n->kind, kind_name(KIND_AI_CONTEXT_OPERATION)))
        return taken(op, e);
    if (op_as_of(l, op, n, given, a, &again.lane, &again.payload, e))
        return err_code(e);
    enum status s = log_find_repeated(l, op->thread, &again, 1, &repeated, e);
    return s == ST_CONFLICT ? taken(op, e) : s;
}

/* The same for a parked operation, whose entry has no op_id of its own. */
static enum status is_parked_again(struct log *l, const struct op *op, const struct entry *n,
                                   const struct context *given, struct arena *a, struct err *e)
{
    struct sv lane = { 0 }, payload = { 0 };

    if (op_as_of(l, op, n, given, a, &lane, &payload, e))
        return err_code(e);
    return sv_eq(payload, n->payload) ? ST_OK : taken(op, e);
}

static enum status entry_of(struct log *l, struct sv thread, int64_t seq, struct arena *a,
                            struct entry *out, bool *found, struct err *e)
{
    struct store_query q = { .thread = thread, .from = seq, .to = seq };

    return store_first(l->store, &q, a, out, found, e);
}

/* Look for the op_id in the log and among the operations that wait, of any agent. */
static enum status find_duplicate(struct log *l, const struct op *op, const struct context *given,
                                  struct arena *a, struct op_result *out, struct err *e)
{
    struct entry n;
    struct sv    owner;
    int64_t      waits = -1;
    bool         found;

    if (store_find_op(l->store, op->thread, op->op_id, a, &n, &found, e) ||
        (!found && run_parked(l, op->thread, op->op_id, a, &waits, &owner, e)))
        return err_code(e);
    bool parked = !found && waits >= 0;
    if (parked && entry_of(l, op->thread, waits, a, &n, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (parked ? is_parked_again(l, op, &n, given, a, e) : is_repeated(l, op, &n, given, a, e))
        return err_code(e);
    *out = (struct op_result){ .op_id = op->op_id,
                               .lane = n.lane,
                               .duplicate = true,
                               .deferred = parked,
                               .applied = !parked,
                               .seq = n.seq };
    return ST_OK;
}

enum status op_apply_in(struct log *l, const struct op *request, struct arena *a,
                        struct op_result *out, struct err *e)
{
    struct op        op = *request;
    struct context   given = { 0 };
    struct run_state run;
    struct sv        snapshot = { 0 };

    if (!op.agent.s)
        op.agent = AGENT_DEFAULT;
    if (!op.reason.s)
        op.reason = SV("manual");
    *out = (struct op_result){ .op_id = op.op_id, .seq = -1 };
    if (check_request(&op, e) || (op.type == OP_REPLACE && context_read(op.context, a, &given, e)))
        return err_code(e);
    if (run_state_read(l, op.thread, op.agent, a, &run, e) ||
        find_duplicate(l, &op, &given, a, out, e))
        return err_code(e);
    if (out->duplicate)
        return ST_OK;
    if (settle(l, &op, a, e))
        return err_code(e);
    bool parks = run.active && (op.type != OP_FORK || op.also_switch);
    if (op.type == OP_REPLACE && parks)
        snapshot = context_stored(&given, context_id(op.lane, a), a);
    else if (op.type == OP_REPLACE && snapshot_of(l, &op, &given, STORE_TO_END, a, &snapshot, e))
        return err_code(e);
    out->lane = op.lane;
    out->deferred = parks;
    out->applied = !parks;
    if (parks && run.parked_seq >= 0)
        out->superseded = run.parked_op;
    return append_op(l, &op, parks ? KIND_CONTEXT_OP_DEFERRED : KIND_AI_CONTEXT_OPERATION,
                     op_payload(&op, snapshot, a), out->superseded, a, &out->seq, e);
}

enum status op_apply(struct log *l, const struct op *op, struct arena *a, struct op_result *out,
                     struct err *e)
{
    if (log_begin(l, op->thread, STORE_WRITE, e))
        return err_code(e);
    if (op_apply_in(l, op, a, out, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}

/* Turn a parked entry back into the request. */
static enum status op_of_entry(const struct entry *n, struct arena *a, struct op *op, struct err *e)
{
    struct json        p;
    const struct json *o;

    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    o = json_find(&p, "operation");
    struct sv type = json_text(o, "type"), agent = json_text(&p, "agent");
    *op = (struct op){
        .type = sv_is(type, "replace")  ? OP_REPLACE
                : sv_is(type, "switch") ? OP_SWITCH
                                        : OP_FORK,
        .agent = agent.n ? agent : AGENT_DEFAULT,
        .op_id = json_text(&p, "op_id"),
        .lane = json_text(&p, "context_ref"),
        .reason = json_text(o, "reason"),
        .meta = json_find(o, "meta") ? json_canonical(json_find(o, "meta"), a) : SV("{}"),
        .rebase = json_truth(json_find(json_find(o, "meta"), "rebase")),
        .also_switch = json_truth(json_find(o, "switch")),
        .from = json_text(json_find(o, "from"), "lane"),
    };
    if (!op->reason.n)
        op->reason = SV("manual");
    op->has_base_seq = json_int(json_find(o, "base_seq"), &op->base_seq);
    json_int(json_find(json_find(o, "from"), "seq"), &op->from_seq);
    if (op->type == OP_REPLACE)
        op->context = json_canonical(json_find(o, "result_context"), a);
    return ST_OK;
}

/* May the operation be appended? This is checked before anything is written, so that the
 * transaction can continue after a refusal. */
static enum status check_parked(struct log *l, struct op_parked *p, struct arena *a, struct err *e)
{
    struct entry n = { .kind = sv_of(kind_name(KIND_AI_CONTEXT_OPERATION)),
                       .lane = p->op.lane,
                       .actor = p->op.actor,
                       .payload = p->payload,
                       .refs = op_refs(p->op.lane, p->op.op_id, (struct sv){ 0 }, a) };
    struct lane  lane;
    struct sv    other = { 0 };
    bool         found = false;

    if (kind_check_depth(p->payload, e) || kind_prepare(&n, e) || entry_check(&n, e))
        return err_code(e);
    if (p->op.type == OP_FORK && lane_find(l, p->op.thread, p->op.lane, a, &lane, &found, e))
        return err_code(e);
    if (found)
        return err_set(e, ST_CONFLICT, "lane '" SV_FMT "' was made meanwhile", SV_ARG(p->op.lane));
    if (p->op.type == OP_REPLACE && run_in_lane(l, p->op.thread, p->op.lane, a, &other, e))
        return err_code(e);
    if (other.n && !sv_eq(other, p->op.agent))
        return err_set(e, ST_CONFLICT, "a run of agent '" SV_FMT "' is active in lane '" SV_FMT "'",
                       SV_ARG(other), SV_ARG(p->op.lane));
    return ST_OK;
}

/* Does another entry have its op_id? That is allowed when the content is the same. */
static enum status check_taken(struct log *l, struct op_parked *p, const struct context *given,
                               struct arena *a, struct err *e)
{
    struct entry other;
    bool         found;

    if (store_find_op(l->store, p->op.thread, p->op.op_id, a, &other, &found, e))
        return err_code(e);
    if (found && is_repeated(l, &p->op, &other, given, a, e))
        return err_code(e);
    p->applied_before = found;
    return ST_OK;
}

static enum status read_parked(struct log *l, struct sv thread, int64_t parked, struct sv actor,
                               int64_t at, struct arena *a, struct op_parked *p, struct err *e)
{
    struct context given = { 0 };
    struct entry   n;
    struct sv      snapshot = { 0 };
    bool           found = false;

    *p = (struct op_parked){ 0 };
    if (entry_of(l, thread, parked, a, &n, &found, e))
        return err_code(e);
    if (!found || !kind_is_sound(&n))
        return err_set(e, ST_INVALID_SYNTAX, "its entry cannot be read");
    if (op_of_entry(&n, a, &p->op, e))
        return err_code(e);
    p->op.thread = thread;
    p->op.actor = actor;
    p->op.at = at;
    if ((p->op.type == OP_REPLACE && context_read(p->op.context, a, &given, e)) ||
        check_taken(l, p, &given, a, e))
        return err_code(e);
    if (p->applied_before)
        return ST_OK;
    if (p->op.type == OP_REPLACE && snapshot_of(l, &p->op, &given, STORE_TO_END, a, &snapshot, e))
        return err_code(e);
    p->payload = op_payload(&p->op, snapshot, a);
    return check_parked(l, p, a, e);
}

enum status op_parked_read(struct log *l, struct sv thread, int64_t parked, struct sv actor,
                           int64_t at, struct arena *a, struct op_parked *out, struct err *why,
                           struct err *e)
{
    *why = (struct err){ 0 };
    enum status s = read_parked(l, thread, parked, actor, at, a, out, e);

    if (s != ST_INVALID_SYNTAX && s != ST_CONFLICT && s != ST_LIMIT_EXCEEDED && s != ST_NOT_FOUND)
        return s;
    *why = *e;
    return ST_OK;
}

enum status op_parked_apply(struct log *l, const struct op_parked *p, struct arena *a,
                            struct err *e)
{
    int64_t seq;

    if (p->applied_before)
        return ST_OK;
    return append_op(l, &p->op, KIND_AI_CONTEXT_OPERATION, p->payload, (struct sv){ 0 }, a, &seq,
                     e);
}
