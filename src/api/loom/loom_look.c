/* loom.position, loom.ids, loom.tools, loom.block: what a prompt asks before a line is sent, and
 * what a loom-aware model is shown around a conversation. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "loom/show.h"

struct look_params {
    struct sv thread, agent, start, block;
    int64_t   max;
};

static const char *const blocks[] = { "addendum", "memory", "context", NULL };

/* clang-format off */
#define THREAD_PARAM \
    { "thread", PARAM_NAME, offsetof(struct look_params, thread), .value = "T", .required = true, .help = "the thread" }
#define AGENT_PARAM \
    { "agent", PARAM_TEXT, offsetof(struct look_params, agent), .value = "A", .help = "as whom (default: you)" }

static const struct param position_params[] = { THREAD_PARAM, AGENT_PARAM, { 0 } };
static const struct param ids_params[] = {
    THREAD_PARAM,
    { "start", PARAM_TEXT,   offsetof(struct look_params, start), .value = "TEXT", .help = "what they start with" },
    { "max",   PARAM_NUMBER, offsetof(struct look_params, max),   .value = "N", .min = 1, .max = 1000, .fallback = "50", .help = "at most this many" },
    { 0 },
};
static const struct param block_params[] = {
    THREAD_PARAM, AGENT_PARAM,
    { "block", PARAM_ENUM, offsetof(struct look_params, block), .required = true, .values = blocks, .refusal = "takes addendum, memory or context", .help = "which of the blocks" },
    { 0 },
};

static const struct field position_fields[] = {
    { "thread",   FIELD_TEXT, .help = "the thread" },
    { "mode",     FIELD_ENUM, .values = tree_modes, .help = "whether an edit makes a branch (dialogue) or a version in place (buffer)" },
    { "position", FIELD_TEXT, .nullable = true, .help = "the node where the agent is; null in an empty tree" },
    { "since",    FIELD_NUMBER, .nullable = true, .help = "the entry that put the agent there; null: it never said or switched anything here" },
    { "end",      FIELD_TEXT, .nullable = true, .help = "the end of its branch, where a message to it goes when no node is named; null in an empty tree" },
    { 0 },
};
static const struct field ids_fields[] = {
    { "items", FIELD_LIST, .help = "ids of nodes, in order" },
    { 0 },
};
static const struct field tool_fields[] = {
    { "name",       FIELD_TEXT, .help = "the word that a command starts with" },
    { "group",      FIELD_TEXT, .help = "how help sorts them" },
    { "summary",    FIELD_TEXT, .help = "what it does" },
    { "forms",      FIELD_LIST, .help = "how it is written" },
    { "permission", FIELD_TEXT, .nullable = true, .help = "what an agent must have been given; null: nothing" },
    { "writes",     FIELD_FLAG, .help = "whether it changes the tree or a document" },
    { 0 },
};
static const struct field tools_fields[] = {
    { "items", FIELD_LIST, .of = tool_fields, .help = "the tools, in the order of help" },
    { 0 },
};
static const struct field block_fields[] = {
    { "text", FIELD_TEXT, .help = "the block; empty for an agent that is not loom-aware" },
    { 0 },
};
/* clang-format on */

/* ---- where one is ---------------------------------------------------------------------- */

static enum status find_position(struct request *r, struct session *s, struct err *e)
{
    struct sv   agent = s->agent.name;
    struct node here, last;
    int64_t     since;
    bool        found, buffer;

    if (loom_position(&s->loom, agent, &here, &found, e) ||
        loom_placed_by(&s->loom, agent, &since, e) ||
        loom_branch_end(&s->loom, agent, &last, &found, e) || loom_is_buffer(&s->loom, &buffer, e))
        return err_code(e);
    jw_kstr(r->doc, "mode", buffer ? SV("buffer") : SV("dialogue"));
    jw_kstr(r->doc, "position", found ? here.local : (struct sv){ 0 });
    jw_kint_if(r->doc, "since", since >= 0, since);
    jw_kstr(r->doc, "end", found ? last.local : (struct sv){ 0 });
    return ST_OK;
}

/* A workspace without a log has no positions and no agents yet. */
static enum status run_position(struct request *r, const void *params_given, struct err *e)
{
    const struct look_params *p = params_given;
    struct loom_call          c;
    enum status               s = request_log(r, STORE_READ, e);

    if (s && (s != ST_NOT_FOUND || p->agent.n))
        return s;
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    if (s) {
        jw_kstr(r->doc, "mode", SV("dialogue"));
        jw_kstr(r->doc, "position", (struct sv){ 0 });
        jw_kint_if(r->doc, "since", false, 0);
        jw_kstr(r->doc, "end", (struct sv){ 0 });
        jw_close(r->doc, '}');
        return ST_OK;
    }
    r->log.wanted = &loom_view;
    if (loom_call_open(&c, r, p->thread, p->agent, e) ||
        log_begin(&r->log, p->thread, STORE_READ, e) || find_position(r, &c.s, e))
        return loom_call_close(&c, err_code(e));
    jw_close(r->doc, '}');
    return loom_call_close(&c, ST_OK);
}

static void print_position(const struct json *doc, struct term *t)
{
    struct sv here = json_text(doc, "position");

    if (here.n)
        term_f(t, "[" SV_FMT "]\n", SV_ARG(here));
    else
        term_f(t, "the tree is empty\n");
}

/* ---- names to complete ----------------------------------------------------------------- */

static enum status run_ids(struct request *r, const void *params_given, struct err *e)
{
    const struct look_params *p = params_given;
    struct loom               l = { .log = &r->log, .thread = p->thread, .a = r->a };
    struct sv                *ids;
    size_t                    n;

    if (log_begin(&r->log, p->thread, STORE_READ, e))
        return err_code(e);
    enum status s = loom_ids(&l, p->start, (size_t)p->max, &ids, &n, e);
    log_abort(&r->log);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(r->doc, ids[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_ids(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        term_f(t, SV_FMT "\n", SV_ARG(json_sv(&items->items[i])));
}

static void write_tool(struct jw *w, const struct tool *x)
{
    jw_open(w, '{');
    jw_kstr(w, "name", sv_of(x->name));
    jw_kstr(w, "group", sv_of(x->group));
    jw_kstr(w, "summary", sv_of(x->summary));
    jw_key(w, "forms");
    jw_open(w, '[');
    for (size_t i = 0; i < TOOL_LINES_MAX && x->syntax[i]; i++)
        jw_str(w, sv_of(x->syntax[i]));
    jw_close(w, ']');
    jw_kstr(w, "permission", x->needs ? sv_of(permission_name(x->needs)) : (struct sv){ 0 });
    jw_kbool(w, "writes", x->writes);
    jw_close(w, '}');
}

static enum status run_tools(struct request *r, const void *params_given, struct err *e)
{
    (void)params_given;
    (void)e;
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; tool_table[i].name; i++)
        write_tool(r->doc, &tool_table[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_tools(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "TOOL", "PERMISSION", "SUMMARY", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++)
        term_row(&table, t->a,
                 (struct sv[]){ json_text(&items->items[i], "name"),
                                json_text(&items->items[i], "permission"),
                                json_text(&items->items[i], "summary") });
    term_table(&table, t);
}

/* ---- blocks ---------------------------------------------------------------------------- */

static enum status show_block(struct session *s, struct sv block, struct sb *b, struct err *e)
{
    if (!(s->agent.permissions & PERM_loom_aware))
        return ST_OK; /* such an agent sees only the conversation */
    if (sv_is(block, "memory"))
        return show_memory_block(&s->loom, &s->viewer,
                                 &(struct memory_show){ .doc_words = loom_doc_words, .ctx = s }, b,
                                 e);
    if (sv_is(block, "context"))
        return show_context_block(&s->loom, &s->viewer, (struct sv){ 0 }, b, e);
    show_addendum(b, s->agent.permissions);
    return ST_OK;
}

static enum status run_block(struct request *r, const void *params_given, struct err *e)
{
    const struct look_params *p = params_given;
    struct sb                 b = sb_in(r->a, 0);
    struct loom_call          c;

    if (loom_call_open(&c, r, p->thread, p->agent, e) ||
        log_begin(&r->log, p->thread, STORE_READ, e) || show_block(&c.s, p->block, &b, e))
        return loom_call_close(&c, err_code(e));
    jw_open(r->doc, '{');
    jw_klossy(r->doc, "text", sb_sv(&b));
    jw_close(r->doc, '}');
    return loom_call_close(&c, ST_OK);
}

static void print_block(const struct json *doc, struct term *t)
{
    sb_add(t->out, json_text(doc, "text"));
}

/* clang-format off */
const struct operation op_loom_position = {
    .name = "loom.position",
    .summary = "Tell where an agent is in a tree",
    .group = GROUP_LOOM, .needs = NEEDS_ROOT, .repeat = REPEAT_READS, .view = &loom_view,
    .params = position_params, .params_size = sizeof(struct look_params),
    .answer = position_fields, .run = run_position, .print = print_position,
};

const struct operation op_loom_ids = {
    .name = "loom.ids",
    .summary = "List ids of nodes by how they start, for completion",
    .group = GROUP_LOOM, .needs = NEEDS_LOG, .repeat = REPEAT_READS, .view = &loom_view,
    .params = ids_params, .params_size = sizeof(struct look_params),
    .answer = ids_fields, .run = run_ids, .print = print_ids,
};

const struct operation op_loom_tools = {
    .name = "loom.tools",
    .summary = "List the tools of the → language",
    .group = GROUP_LOOM, .needs = NEEDS_NOTHING, .repeat = REPEAT_READS,
    .answer = tools_fields, .run = run_tools, .print = print_tools,
};

const struct operation op_loom_block = {
    .name = "loom.block",
    .summary = "Show a block of what a loom-aware model is shown",
    .group = GROUP_LOOM, .needs = NEEDS_LOG, .repeat = REPEAT_READS, .view = &loom_view,
    .params = block_params, .params_size = sizeof(struct look_params),
    .answer = block_fields, .run = run_block, .print = print_block,
};
/* clang-format on */
