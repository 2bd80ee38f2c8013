/* Transcripts of Claude Code: JSON Lines, one record per line.
 *
 * Records with a `uuid` form chains by `parentUuid`; the line of a compaction has no parent and
 * names the record it follows in `logicalParentUuid`. An answer of the model is one line for each
 * block of its content, all with the same message.id. Lines without a uuid hold the program's state
 * and stand beside the chain. A fork copies the chain to a new file, uuids and all. Sub-agents have
 * files of their own beside the transcript, or, in older versions, are side chains in it. */
#include "harness/blocks.h"
#include "harness/harness_internal.h"

#include "base/clock.h"
#include "harness/join.h"
#include "thread/scan.h"

enum { COST_LOOK = 16 }; /* lines without a uuid behind a record, among which one tells the cost */

/* ---- whose it is ------------------------------------------------------------------------- */

static bool identify(const struct json *r, struct arena *a, struct harness_identity *out)
{
    struct sv session = json_text(r, "sessionId"), uuid = json_text(r, "uuid");
    struct sv agent = json_text(r, "agentId");

    if (!out->session.s && harness_id_is_valid(session))
        out->session = sv_dup(session, a);
    if (!uuid.n)
        return false;
    out->first = sv_dup(uuid, a);
    if (json_truth(json_find(r, "isSidechain")) && harness_id_is_valid(agent))
        out->part = harness_agent_lane(agent, a);
    return out->session.s != NULL;
}

/* ---- what all records have ----------------------------------------------------------------- */

static int64_t time_of(const struct json *r)
{
    int64_t ms = 0;

    return clock_parse_iso(json_text(r, "timestamp"), &ms) ? ms : 0;
}

static void note_session(struct harness_reading *x, const struct json *r)
{
    struct sv cwd = json_text(r, "cwd");

    if (cwd.n && !x->state->cwd.n)
        x->state->cwd = sv_dup(cwd, x->kept);
    if (json_text(r, "gitBranch").n)
        harness_text_set(&x->state->branch, json_text(r, "gitBranch"));
    if (json_text(r, "version").n)
        harness_text_set(&x->state->version, json_text(r, "version"));
}

static void set_link(const struct json *r, struct harness_item *item)
{
    const struct json *parent = json_find(r, "parentUuid");

    if (!json_is(parent, JSON_STRING))
        parent = json_find(r, "logicalParentUuid");
    item->link = HARNESS_ROOT;
    if (json_is(parent, JSON_STRING)) {
        item->link = HARNESS_PARENT;
        item->parent = json_sv(parent);
    }
}

/* A side chain inside of the transcript. Without ids of agents all of them form one chain with
 * several roots, and each root is attached to the last call that may have started it. */
static void set_side(struct harness_reading *x, const struct json *r, struct harness_item *item)
{
    struct sv agent = json_text(r, "agentId");

    if (x->part.n || !json_truth(json_find(r, "isSidechain")))
        return; /* the file of a sub-agent is one chain */
    item->side = harness_id_is_valid(agent) ? harness_agent_lane(agent, x->a) : SV("side");
    if (item->link == HARNESS_ROOT && x->state->n_calls)
        item->hangs_on = harness_text_sv(&x->state->calls[x->state->n_calls - 1].key);
}

static struct harness_item *add(struct harness_reading *x, const struct json *r,
                                enum harness_item_kind kind, struct sv key)
{
    struct harness_item *item = harness_item_add(x, kind, HARNESS_NEXT, key);

    set_link(r, item);
    set_side(x, r, item);
    item->at = time_of(r);
    return item;
}

static void keep(struct harness_reading *x, const struct json *r)
{
    add(x, r, HARNESS_KEPT, json_text(r, "uuid"))->record = json_canonical(r, x->a);
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The record without the content of its message, which stands in the entry. */
static struct sv without_content(const struct json *r, struct arena *a)
{
    static const char *const hole[] = { "message", "content", NULL };

    return harness_without(r, hole, a);
}

static bool read_usage(const struct json *u, struct harness_usage *out)
{
    const struct json *details = json_find(u, "output_tokens_details");

    if (!json_is(u, JSON_OBJECT))
        return false;
    *out = (struct harness_usage){ .input = json_number(u, "input_tokens"),
                                   .output = json_number(u, "output_tokens"),
                                   .cache_read = json_number(u, "cache_read_input_tokens"),
                                   .cache_write = json_number(u, "cache_creation_input_tokens"),
                                   .reasoning = json_number(details, "thinking_tokens") };
    return true;
}

/* Calls that start sub-agents are remembered until their files are found. */
static void note_calls(struct harness_reading *x, const struct json *content, struct sv uuid)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        const struct json *b = &content->items[i];
        struct sv          name = json_text(b, "name");
        if (sv_is(json_text(b, "type"), "tool_use") &&
            (sv_is(name, "Task") || sv_is(name, "Agent")))
            harness_call_add(x->state, json_text(b, "id"), uuid);
    }
}

static void read_assistant(struct harness_reading *x, const struct json *r)
{
    const struct json   *m = json_find(r, "message"), *content = json_find(m, "content");
    struct harness_item *item;

    if (!m || json_truth(json_find(r, "isApiErrorMessage")) ||
        sv_is(json_text(m, "model"), "<synthetic>")) {
        keep(x, r);
        return;
    }
    item = add(x, r, HARNESS_MESSAGE, json_text(r, "uuid"));
    item->role = "assistant";
    item->id = item->key;
    item->author = item->model = json_text(m, "model");
    item->group = json_text(m, "id");
    item->has_usage = read_usage(json_find(m, "usage"), &item->usage);
    item->record = without_content(r, x->a);
    harness_split_calls(content, &harness_anthropic_calls, x->a, item);
    note_calls(x, content, item->key);
}

/* The text in which somebody asked something: not the output of a command, not a tool's. */
static bool is_prompt(const struct json *r, struct sv text)
{
    static const char *const machine[] = { "<local-command-", "<command-name>", "<bash-",
                                           "<command-message>", "[Request interrupted" };

    for (size_t i = 0; i < COUNT(machine); i++)
        if (sv_starts(text, sv_of(machine[i])))
            return false;
    return text.n && !json_truth(json_find(r, "isMeta"));
}

static void read_compaction(struct harness_reading *x, const struct json *r)
{
    struct harness_item *item = add(x, r, HARNESS_COMPACTION, json_text(r, "uuid"));
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);

    jw_open(&w, '[');
    jw_open(&w, '{');
    jw_key(&w, "content");
    jw_json(&w, json_find(json_find(r, "message"), "content"));
    jw_kstr(&w, "role", SV("user"));
    jw_close(&w, '}');
    jw_close(&w, ']');
    item->messages = sb_sv(&b);
    item->kept_from = harness_text_sv(&x->state->keeps);
    item->record = without_content(r, x->a);
}

static bool is_result(const struct json *block)
{
    return sv_is(json_text(block, "type"), "tool_result") && json_text(block, "tool_use_id").n;
}

static void read_user(struct harness_reading *x, const struct json *r)
{
    const struct json   *content = json_find(json_find(r, "message"), "content");
    struct harness_item *item;
    bool                 blocks = json_is(content, JSON_ARRAY);

    if (!blocks && !json_is(content, JSON_STRING)) {
        keep(x, r);
        return;
    }
    if (json_truth(json_find(r, "isCompactSummary"))) {
        read_compaction(x, r);
        return;
    }
    bool results = false;
    for (size_t i = 0; blocks && i < content->n; i++)
        results = results || is_result(&content->items[i]);
    item = add(x, r, HARNESS_MESSAGE, json_text(r, "uuid"));
    item->role = "user";
    item->id = item->key;
    item->joins = results;
    item->record = without_content(r, x->a);
    if (results) {
        harness_split_results(x, content, is_result);
        return;
    }
    item->content = json_canonical(content, x->a);
    item->prompt = harness_first_text(content);
    item->is_turn = is_prompt(r, item->prompt);
    if (sv_starts(item->prompt, SV("<")))
        item->prompt = (struct sv){ 0 };
}

/* ---- state --------------------------------------------------------------------------------- */

/* The record before the summary of a compaction says what is kept. */
static void note_boundary(struct harness_reading *x, const struct json *r)
{
    const struct json *segment = json_find(json_find(r, "compactMetadata"), "preservedSegment");
    struct sv          head = json_text(segment, "headUuid");

    if (sv_is(json_text(r, "subtype"), "compact_boundary"))
        harness_text_set(&x->state->keeps, head.n ? harness_key(head, x->a) : SV(""));
}

static void note_state(struct harness_reading *x, const struct json *r, struct sv type)
{
    static const struct {
        const char *type, *member;
    } titles[] = { { "summary", "summary" },
                   { "ai-title", "aiTitle" },
                   { "custom-title", "customTitle" } };

    for (size_t i = 0; i < COUNT(titles); i++)
        if (sv_is(type, titles[i].type) && json_text(r, titles[i].member).n)
            harness_text_set(&x->state->title, json_text(r, titles[i].member));
}

/* The cost of the session so far, including sub-agents. The difference to the last such record is
 * added. */
static void read_cost(struct harness_reading *x, const struct json *r)
{
    struct harness_item *item;
    int64_t              cost;

    harness_keep_loose(x, r);
    item = &x->items.v[x->items.n - 1];
    if (!harness_dollars(json_find(r, "totalCostUSD"), &cost))
        return;
    item->has_usage = item->usage.priced = true;
    item->usage.cost = cost > x->state->told ? cost - x->state->told : 0;
    x->state->told = cost;
}

/* The sum of a fork begins with what the session that it was forked from had cost: that stands
 * behind the last record that both share. */
enum status harness_claude_fork(struct harness_batch *b, struct sv session, struct sv parent,
                                struct arena *a, struct err *e)
{
    bool found = true;

    for (int k = 1; k <= COST_LOOK && found; k++) {
        struct sb             key = sb_in(a, 0);
        struct harness_origin o;
        struct entry          n;
        struct json           p;
        int64_t               cost;
        sb_add(&key, session);
        sb_addc(&key, '/');
        sb_add(&key, parent);
        sb_addf(&key, "+%d", k);
        if (log_find_op(b->log, b->thread, harness_op_id(b->harness, sb_sv(&key), a), a, &n, &found,
                        e))
            return err_code(e);
        if (found && json_parse(n.payload, 0, a, &p, e) == ST_OK && harness_origin(&p, &o) &&
            harness_dollars(json_find(o.record, "totalCostUSD"), &cost))
            b->state->told = cost;
    }
    return ST_OK;
}

/* Types that are known and only kept. Others are kept too, and reported. */
static bool is_known(struct sv type)
{
    static const char *const known[] = {
        "agent-name",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "attachment",
        "cost-state",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "tag",
        "tools-used",
        "worktree-state",
        "content-replacement",
        "marble-origami-commit",
        "speculation-accept",
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (sv_is(type, known[i]))
            return true;
    return false;
}

static void read(struct harness_reading *x, const struct json *r)
{
    struct sv type = json_text(r, "type"), uuid = json_text(r, "uuid");

    note_session(x, r);
    if (uuid.n && sv_is(type, "assistant")) {
        read_assistant(x, r);
        return;
    }
    if (uuid.n && sv_is(type, "user")) {
        read_user(x, r);
        return;
    }
    if (!is_known(type))
        harness_note(x->report, x->state->number, "records of type '%.40s': kept, not understood",
                     sv_cstr(type.s ? type : SV("none"), x->a));
    note_state(x, r, type);
    if (!uuid.n && sv_is(type, "cost-state")) {
        read_cost(x, r);
        return;
    }
    if (!uuid.n) {
        harness_keep_loose(x, r);
        return;
    }
    note_boundary(x, r);
    keep(x, r);
}

const struct harness_format harness_claude = {
    .harness = HARNESS_CLAUDE_CODE,
    .identify = identify,
    .read = read,
};
