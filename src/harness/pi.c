/* Sessions of pi, version 3: JSON Lines, a header and then entries that form a tree by `id` and
 * `parentId`. Ids are unique in their file; a fork is a new file with a copy of a path, ids and
 * all, whose header names the file it comes from. Files of version 1 have no ids: their lines
 * follow each other, and the number of a line is its id. */
#include "harness/blocks.h"
#include "harness/harness_internal.h"

#include "base/clock.h"
#include "base/path.h"

/* ---- whose it is ------------------------------------------------------------------------- */

/* "2026-11-17T14-48-22-498Z_01a1e9fa-….jsonl" */
static struct sv session_in_path(struct sv path)
{
    struct sv_cut cut = sv_cut(path_base(path), '_');
    struct sv     id = cut.tail;

    if (sv_ends(id, SV(".jsonl")))
        id.n -= strlen(".jsonl");
    return cut.found && harness_id_is_valid(id) ? id : (struct sv){ 0 };
}

static bool identify(const struct json *r, struct arena *a, struct harness_identity *out)
{
    if (!sv_is(json_text(r, "type"), "session"))
        return true; /* the first line that can be read is the header, or it is not a session */
    out->session = sv_dup(json_text(r, "id"), a);
    struct sv parent = session_in_path(json_text(r, "parentSession"));
    if (parent.n)
        out->parent = sv_dup(parent, a);
    return true;
}

static void read_header(struct harness_reading *x, const struct json *r)
{
    struct sv cwd = json_text(r, "cwd"), parent = session_in_path(json_text(r, "parentSession"));
    int64_t   at;

    if (cwd.n)
        x->state->cwd = sv_dup(cwd, x->kept);
    harness_text_set(&x->state->parent, parent);
    x->state->is_numbered = x->state->is_numbered || !json_find(r, "version");
    if (!x->state->first && clock_parse_iso(json_text(r, "timestamp"), &at))
        x->state->first = at;
    harness_keep_loose(x, r);
}

/* ---- what all entries have ------------------------------------------------------------------ */

static struct sv number_key(struct harness_reading *x, int64_t number)
{
    struct sb b = sb_in(x->a, 0);

    sb_addf(&b, "line-%lld", (long long)number);
    return sb_sv(&b);
}

/* An entry of a file that had no ids when it was read is known by its number, too. */
static struct harness_item *add(struct harness_reading *x, const struct json *r,
                                enum harness_item_kind kind)
{
    const struct json   *parent = json_find(r, "parentId");
    struct sv            id = json_text(r, "id");
    struct sv            number = number_key(x, x->state->number);
    struct harness_item *item = harness_item_add(x, kind, HARNESS_NEXT, id.n ? id : number);

    if (json_is(parent, JSON_STRING)) {
        item->link = HARNESS_PARENT;
        item->parent = json_sv(parent);
    } else if (parent && id.n) {
        item->link = HARNESS_ROOT;
    }
    if (id.n && x->state->is_numbered)
        item->also = number;
    item->id = item->key;
    if (!clock_parse_iso(json_text(r, "timestamp"), &item->at))
        item->at = 0;
    return item;
}

static void keep(struct harness_reading *x, const struct json *r)
{
    add(x, r, HARNESS_KEPT)->record = json_canonical(r, x->a);
}

static bool read_usage(const struct json *u, struct harness_usage *out)
{
    if (!json_is(u, JSON_OBJECT))
        return false;
    *out = (struct harness_usage){ .input = json_number(u, "input"),
                                   .output = json_number(u, "output"),
                                   .cache_read = json_number(u, "cacheRead"),
                                   .cache_write = json_number(u, "cacheWrite"),
                                   .reasoning = json_number(u, "reasoning") };
    out->priced = harness_dollars(json_find(json_find(u, "cost"), "total"), &out->cost);
    return true;
}

/* ---- messages ------------------------------------------------------------------------------ */

static struct sv without_content(const struct json *r, struct arena *a)
{
    static const char *const hole[] = { "message", "content", NULL };

    return harness_without(r, hole, a);
}

static void read_assistant(struct harness_reading *x, const struct json *r, const struct json *m)
{
    struct harness_item *item = add(x, r, HARNESS_MESSAGE);

    item->role = "assistant";
    item->author = item->model = json_text(m, "model");
    item->has_usage = read_usage(json_find(m, "usage"), &item->usage);
    item->record = without_content(r, x->a);
    harness_split_calls(json_find(m, "content"), &harness_pi_calls, x->a, item);
}

static void read_result(struct harness_reading *x, const struct json *r, const struct json *m)
{
    struct harness_item *item = add(x, r, HARNESS_MESSAGE);

    item->role = "tool";
    item->tool_call_id = json_text(m, "toolCallId");
    item->name = item->author = json_text(m, "toolName");
    item->failed = json_truth(json_find(m, "isError"));
    item->has_usage = read_usage(json_find(m, "usage"), &item->usage);
    item->record = without_content(r, x->a);
    item->content = harness_parts(json_find(m, "content"), x->a);
}

static void read_user(struct harness_reading *x, const struct json *r, const struct json *m)
{
    struct harness_item *item = add(x, r, HARNESS_MESSAGE);

    item->role = "user";
    item->record = without_content(r, x->a);
    item->content = harness_parts(json_find(m, "content"), x->a);
    item->prompt = harness_asked_text(json_find(m, "content"));
    item->is_turn = true;
}

/* A user's message whose text is made of the record, which is kept as it is. */
static struct harness_item *say(struct harness_reading *x, const struct json *r, struct sv text)
{
    struct harness_item *item = add(x, r, HARNESS_MESSAGE);
    struct sb            b = sb_in(x->a, 0);

    item->role = "user";
    sb_add_json_string(&b, text);
    item->content = sb_sv(&b);
    item->record = json_canonical(r, x->a);
    item->more = SV("{\"whole\":true}");
    return item;
}

/* The text that pi shows to the model in the place of a shell command of the user. */
static struct sv bash_text(const struct json *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv output = json_text(m, "output");
    int64_t   code = 0;

    sb_adds(&b, "Ran `");
    sb_add(&b, json_text(m, "command"));
    sb_adds(&b, "`\n");
    if (output.n) {
        sb_adds(&b, "```\n");
        sb_add(&b, output);
        sb_adds(&b, "\n```");
    } else {
        sb_adds(&b, "(no output)");
    }
    if (json_truth(json_find(m, "cancelled")))
        sb_adds(&b, "\n\n(command cancelled)");
    else if (json_int(json_find(m, "exitCode"), &code) && code)
        sb_addf(&b, "\n\nCommand exited with code %lld", (long long)code);
    if (json_truth(json_find(m, "truncated")) && json_text(m, "fullOutputPath").n) {
        sb_adds(&b, "\n\n[Output truncated. Full output: ");
        sb_add(&b, json_text(m, "fullOutputPath"));
        sb_addc(&b, ']');
    }
    return sb_sv(&b);
}

static void read_custom(struct harness_reading *x, const struct json *r, const struct json *content)
{
    struct harness_item *item = say(x, r, SV(""));

    if (json_is(content, JSON_STRING) || json_is(content, JSON_ARRAY))
        item->content = json_canonical(content, x->a);
}

static bool has_content(const struct json *m)
{
    const struct json *c = json_find(m, "content");

    return json_is(c, JSON_STRING) || json_is(c, JSON_ARRAY);
}

static void read_message(struct harness_reading *x, const struct json *r)
{
    const struct json *m = json_find(r, "message");
    struct sv          role = json_text(m, "role");

    if (sv_is(role, "assistant") && has_content(m)) {
        read_assistant(x, r, m);
    } else if (sv_is(role, "toolResult") && has_content(m) && json_text(m, "toolCallId").n) {
        read_result(x, r, m);
    } else if (sv_is(role, "user") && has_content(m)) {
        read_user(x, r, m);
    } else if (sv_is(role, "bashExecution")) {
        if (json_truth(json_find(m, "excludeFromContext")))
            keep(x, r);
        else
            say(x, r, bash_text(m, x->a));
    } else if (sv_is(role, "custom") || sv_is(role, "hookMessage")) {
        read_custom(x, r, json_find(m, "content"));
    } else {
        if (!sv_is(role, "system"))
            harness_note(x->report, x->state->number,
                         "messages of role '%.40s' that pi does not document: kept, not shown",
                         sv_cstr(role.s ? role : SV("none"), x->a));
        keep(x, r);
    }
}

/* ---- other entries -------------------------------------------------------------------------- */

static struct sv between(const char *before, struct sv text, const char *after, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, before);
    sb_add(&b, text);
    sb_adds(&b, after);
    return sb_sv(&b);
}

static void read_branch_summary(struct harness_reading *x, const struct json *r)
{
    struct sv summary = json_text(r, "summary");

    if (!summary.n) {
        keep(x, r);
        return;
    }
    struct harness_item *item =
        say(x, r,
            between("The following is a summary of a branch that this conversation came back "
                    "from:\n\n<summary>\n",
                    summary, "</summary>", x->a));
    item->has_usage = read_usage(json_find(r, "usage"), &item->usage);
}

static void read_compaction(struct harness_reading *x, const struct json *r)
{
    struct harness_item *item = add(x, r, HARNESS_COMPACTION);
    struct sb            b = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);
    struct sv            kept_from = json_text(r, "firstKeptEntryId");
    int64_t              index;

    jw_open(&w, '[');
    jw_open(&w, '{');
    jw_kstr(&w, "content",
            between("The conversation history before this point was compacted into the following "
                    "summary:\n\n<summary>\n",
                    json_text(r, "summary"), "\n</summary>", x->a));
    jw_kstr(&w, "role", SV("user"));
    jw_close(&w, '}');
    jw_close(&w, ']');
    item->messages = sb_sv(&b);
    if (json_int(json_find(r, "firstKeptEntryIndex"), &index) && index > 0)
        kept_from = number_key(x, index + 1);
    if (!sv_eq(kept_from, item->key))
        item->kept_from = kept_from;
    item->record = json_canonical(r, x->a);
    item->has_usage = read_usage(json_find(r, "usage"), &item->usage);
}

/* {"label"?,"mark","node"} */
static void mark(struct harness_reading *x, const struct json *r, const char *what, struct sv label)
{
    struct sb            b = sb_in(x->a, 0), key = sb_in(x->a, 0);
    struct jw            w = jw_in(&b, 0);
    struct harness_item *item;

    sb_add(&key, x->items.v[x->items.n - 1].key);
    sb_adds(&key, ":mark");
    jw_open(&w, '{');
    if (label.n)
        jw_kstr(&w, "label", label);
    jw_kstr(&w, "mark", sv_of(what));
    jw_kstr(&w, "node", json_text(r, "targetId"));
    jw_close(&w, '}');
    item = harness_item_add(x, HARNESS_MARK, HARNESS_LOOSE, sb_sv(&key));
    item->mark = sb_sv(&b);
    item->at = x->items.v[x->items.n - 2].at;
}

static void read_label(struct harness_reading *x, const struct json *r)
{
    struct sv label = json_text(r, "label");

    keep(x, r);
    mark(x, r, label.n ? "bookmark" : "unbookmark", label);
}

/* Nothing in the place of a message excludes it; other content is a version of it. */
static void read_edit(struct harness_reading *x, const struct json *r)
{
    const struct json   *content = json_find(json_find(r, "replacement"), "content");
    struct harness_item *item;
    struct sb            lane = sb_in(x->a, 0), key = sb_in(x->a, 0);

    keep(x, r);
    if (!content) {
        mark(x, r, "exclude", (struct sv){ 0 });
        return;
    }
    sb_adds(&lane, "edit-");
    sb_add(&lane, harness_short_id(harness_key(json_text(r, "id"), x->a)));
    sb_add(&key, x->items.v[0].key);
    sb_adds(&key, ":version");
    item = harness_item_add(x, HARNESS_MESSAGE, HARNESS_LOOSE, sb_sv(&key));
    item->role = "user";
    item->content = json_canonical(content, x->a);
    item->edits = json_text(r, "targetId");
    item->id = item->key;
    item->side = sb_sv(&lane);
    item->at = x->items.v[0].at;
}

static void read_info(struct harness_reading *x, const struct json *r)
{
    harness_text_set(&x->state->title, sv_trim(json_text(r, "name")));
    keep(x, r);
}

static void read_usage_entry(struct harness_reading *x, const struct json *r)
{
    struct harness_item *item = add(x, r, HARNESS_KEPT);

    item->record = json_canonical(r, x->a);
    item->has_usage = read_usage(json_find(r, "usage"), &item->usage);
}

static void read_model(struct harness_reading *x, const struct json *r)
{
    if (json_text(r, "modelId").n)
        harness_text_set(&x->state->model, json_text(r, "modelId"));
    keep(x, r);
}

static void read_custom_message(struct harness_reading *x, const struct json *r)
{
    read_custom(x, r, json_find(r, "content"));
}

static void read(struct harness_reading *x, const struct json *r)
{
    static const struct {
        const char *type;
        void (*read)(struct harness_reading *, const struct json *);
    } types[] = {
        { "message", read_message },
        { "session", read_header },
        { "model_change", read_model },
        { "thinking_level_change", keep },
        { "usage", read_usage_entry },
        { "compaction", read_compaction },
        { "branch_summary", read_branch_summary },
        { "custom", keep },
        { "custom_message", read_custom_message },
        { "context_edit", read_edit },
        { "label", read_label },
        { "session_info", read_info },
    };
    struct sv type = json_text(r, "type");

    for (size_t i = 0; i < COUNT(types); i++)
        if (sv_is(type, types[i].type)) {
            types[i].read(x, r);
            return;
        }
    harness_note(x->report, x->state->number, "entries of type '%.40s': kept, not understood",
                 sv_cstr(type.s ? type : SV("none"), x->a));
    keep(x, r);
}

const struct harness_format harness_pi = {
    .harness = HARNESS_PI,
    .local_ids = true,
    .identify = identify,
    .read = read,
};
