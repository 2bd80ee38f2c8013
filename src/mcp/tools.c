/* The tools: operations of the api table with the parameters that are offered, and the text that a
 * model reads of their answers. There are few of them: what an agent does in a tree is written as
 * lines that start with →, for the tool `loom`. */
#include "api/schema.h"
#include "api/share/context.h"
#include "api/term.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "mcp/mcp_internal.h"

extern const struct operation op_loom_do, op_asset_read, op_loom_search, op_payload_make;

/* The longest text or blob of an answer. */
enum { RESULT_MAX = 16 << 20 };

struct mcp_tool {
    const char             *name, *title, *description;
    const struct operation *op;
    const char             *hidden[8]; /* parameters that are not offered; ends with NULL */
    const char             *forced; /* members that are added to the parameters, as JSON, or NULL */
};

/* clang-format off */
static const struct mcp_tool tools[] = {
    { "loom", "Work in a thread's tree",
      "Run lines of the loom in a thread, as an agent. A line that starts with → is a command; prose before the first of them "
      "becomes a node of the tree. `→ help` lists the commands there are, `→ help NAME` shows the forms of one. Examples: "
      "`→ tree`, `→ view a7x2`, `→ find \"words\"`, `→ respond a7x2 \"text\"`, `→ annotate a7x2 \"note\"`, `→ read doc:\"plan\"`. "
      "What a command may do depends on the agent's permissions.",
      &op_loom_do, { NULL }, NULL },
    { "context", "What a thread may read",
      "The <thread_context> block of a thread: its own assets, which it may write, and those of the threads that it may read, "
      "then what was injected for it. Injections are told once.",
      &op_context_make, { NULL }, NULL },
    { "read", "Read an asset",
      "The bytes of an asset as a thread sees it: its own file, else the frozen copy, else the live original. Take the path from "
      "the thread's context, or give a name such as plan.md.",
      &op_asset_read, { NULL }, NULL },
    { "search", "Search what was said",
      "Find messages by their words, in all threads or in one; the newest come first. Each result names its thread and its node, "
      "which `loom` shows with `→ view NODE`.",
      &op_loom_search, { NULL }, NULL },
    { "payload", "Everything for one turn",
      "One document with the project's tree, the memos and the contents of files, for a model that sees nothing else. Give paths, "
      "and a budget in tokens: what does not fit is left out and named.",
      &op_payload_make, { "names", "self", "allow_secrets", "refresh", "offline", "manifest", "count", NULL },
      "\"offline\":true,\"count\":true" },
};
/* clang-format on */

static const struct mcp_tool *find(struct sv name)
{
    for (size_t i = 0; i < COUNT(tools); i++)
        if (sv_is(name, tools[i].name))
            return &tools[i];
    return NULL;
}

/* Clients show a model the structured answer instead of the text, if there is one. So an operation
 * that streams bytes, whose document only describes them, has no structured answer. */
static bool is_structured(const struct mcp_tool *t)
{
    return !(t->op->streams & STREAM_OUT);
}

bool mcp_tool_writes(const struct json *params)
{
    const struct mcp_tool *t = find(json_text(params, "name"));

    return t && t->op->repeat != REPEAT_READS;
}

/* ---- list ---------------------------------------------------------------------------------- */

static void put_annotations(struct jw *w, const struct mcp_tool *t)
{
    jw_key(w, "annotations");
    jw_open(w, '{');
    jw_kstr(w, "title", sv_of(t->title));
    jw_kbool(w, "readOnlyHint", t->op->repeat == REPEAT_READS);
    if (t->op->repeat != REPEAT_READS) /* the log keeps everything: nothing is destroyed */
        jw_kbool(w, "destructiveHint", false);
    jw_kbool(w, "openWorldHint", false);
    jw_close(w, '}');
}

static void put_tool(struct jw *w, const struct mcp_tool *t, const struct mcp_server *server)
{
    struct schema_choice choice = { .hidden = t->hidden };

    if (server->thread.n)
        choice.optional = "thread";
    jw_open(w, '{');
    jw_kstr(w, "name", sv_of(t->name));
    jw_kstr(w, "title", sv_of(t->title));
    jw_kstr(w, "description", sv_of(t->description));
    jw_key(w, "inputSchema");
    schema_params_chosen(w, t->op, &choice);
    if (is_structured(t)) {
        jw_key(w, "outputSchema");
        schema_answer_bare(w, t->op);
    }
    put_annotations(w, t);
    jw_close(w, '}');
}

enum status mcp_tools_list(struct mcp_item *x, struct jw *w, struct err *e)
{
    size_t at;

    if (mcp_cursor_read(x, &at, e))
        return err_code(e);
    jw_key(w, "tools");
    jw_open(w, '[');
    for (size_t i = at; i < COUNT(tools); i++)
        put_tool(w, &tools[i], x->s->server);
    jw_close(w, ']');
    return ST_OK;
}

/* ---- the parameters of a call -------------------------------------------------------------- */

static bool is_hidden(const struct mcp_tool *t, struct sv name)
{
    for (size_t i = 0; t->hidden[i]; i++)
        if (sv_is(name, t->hidden[i]))
            return true;
    return false;
}

/* The agent on whose behalf lines run: the bound one, or the one that the call names. Lines never
 * run as the person who started the server. */
static enum status settle_agent(const struct mcp_item *x, struct sv given, struct sv *agent,
                                struct err *e)
{
    *agent = x->s->server->agent.s ? x->s->server->agent : given;
    if (x->s->server->agent.s && given.s && !sv_eq(given, *agent)) {
        err_set(e, ST_PERMISSION_DENIED, "this server acts for the agent '" SV_FMT "' alone",
                SV_ARG(*agent));
        return err_hint(e, "leave agent out");
    }
    if (agent->n)
        return ST_OK;
    err_set(e, ST_USAGE, "agent is missing: whose lines are these?");
    return err_hint(e, "name an agent of `heddle agent list`, or start the server with "
                       "`heddle mcp --agent NAME`");
}

/* The arguments with what the server adds to them. */
static enum status settle(struct mcp_item *x, const struct mcp_tool *t, const struct json *given,
                          struct json *out, struct err *e)
{
    const struct mcp_server *server = x->s->server;
    struct sb                b = sb_in(x->a, 0);
    struct jw                w = jw_in(&b, 0);
    struct sv                agent = { 0 };
    bool                     takes_agent = param_find(t->op->params, SV("agent"));

    if (given && given->type != JSON_OBJECT)
        return err_set(e, ST_USAGE, "arguments is an object");
    if (takes_agent && settle_agent(x, json_text(given, "agent"), &agent, e))
        return err_code(e);
    jw_open(&w, '{');
    for (size_t i = 0; given && i < given->n; i++) {
        if (is_hidden(t, given->members[i].key))
            return err_set(e, ST_USAGE, "there is no parameter '" SV_FMT "'",
                           SV_ARG(given->members[i].key));
        if (takes_agent && sv_is(given->members[i].key, "agent"))
            continue;
        jw_key_sv(&w, given->members[i].key);
        jw_json(&w, &given->members[i].value);
    }
    if (takes_agent)
        jw_kstr(&w, "agent", agent);
    if (server->thread.n && !json_find(given, "thread") && param_find(t->op->params, SV("thread")))
        jw_kstr(&w, "thread", server->thread);
    if (t->forced) {
        sb_adds(&b, w.comma ? "," : "");
        sb_adds(&b, t->forced);
    }
    jw_close(&w, '}');
    return json_parse(sb_sv(&b), JSON_KEEP_ORDER, x->a, out, e);
}

/* ---- what it answers ----------------------------------------------------------------------- */

static void put_text(struct jw *w, struct sv text)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("text"));
    jw_kstr(w, "text", text);
    jw_close(w, '}');
}

/* Bytes that are not text. */
static void put_blob(struct mcp_item *x, struct jw *w, struct sv bytes, const struct json *given)
{
    struct sb uri = sb_in(x->a, 0), blob = sb_in(x->a, 0);

    mcp_resource_uri(&uri, json_text(given, "thread"), "/asset/", json_text(given, "name"));
    sb_add_base64(&blob, bytes);
    jw_open(w, '{');
    jw_kstr(w, "type", SV("resource"));
    jw_key(w, "resource");
    jw_open(w, '{');
    jw_kstr(w, "uri", sb_sv(&uri));
    jw_kstr(w, "mimeType", SV("application/octet-stream"));
    jw_kstr(w, "blob", sb_sv(&blob));
    jw_close(w, '}');
    jw_close(w, '}');
}

/* CODE: message, and the hint below it. */
static struct sv failure_text(const struct err *e, struct arena *a)
{
    struct sb raw = sb_in(a, 0), b = sb_in(a, 0);

    sb_addf(&raw, "%s: %s\n", status_word(e->code), e->text);
    if (e->hint[0])
        sb_addf(&raw, "  hint: %s\n", e->hint);
    sb_add_lossy(&b, sb_sv(&raw));
    return sb_sv(&b);
}

static void put_warnings(struct mcp_item *x, struct jw *w, const struct request *r)
{
    struct sb b = sb_in(x->a, 0), clean = sb_in(x->a, 0);

    for (size_t i = 0; i < r->warnings.n; i++)
        sb_addf(&b, "warning: " SV_FMT "\n", SV_ARG(r->warnings.v[i].message));
    sb_add_lossy(&clean, sb_sv(&b));
    if (b.n)
        put_text(w, sb_sv(&clean));
}

/* The content of the result: the document as text for a terminal, or the bytes of an operation that
 * streams them. */
static enum status put_content(struct mcp_item *x, struct jw *w, const struct operation *op,
                               const struct json *given, const struct json *doc, struct sb *out,
                               struct err *e)
{
    struct sb   printed = sb_in(x->a, RESULT_MAX);
    struct term t = { .out = &printed, .a = x->a };
    struct sv   bytes;

    if (!(op->streams & STREAM_OUT))
        op->print(doc, &t);
    if (sb_done(op->streams & STREAM_OUT ? out : &printed, &bytes, e))
        return err_hint(e, "ask for less: a part, or a budget");
    if (utf8_invalid(bytes) < 0)
        put_text(w, bytes);
    else
        put_blob(x, w, bytes, given);
    return ST_OK;
}

/* Remembers the injections of a context: they are acknowledged after the answer was sent. */
static void keep_waiting(struct mcp_item *x, const struct json *given, const struct json *doc)
{
    const struct json *waiting = json_find(doc, "waiting");

    if (!json_is(waiting, JSON_ARRAY))
        return;
    x->context_thread = json_text(given, "thread");
    x->context_waiting = *waiting;
}

static enum status put_answer(struct mcp_item *x, struct jw *w, const struct mcp_tool *t,
                              const struct json *given, struct request *r, struct sb *out,
                              struct err *e)
{
    struct sb   content = sb_in(x->a, 0);
    struct jw   items = jw_in(&content, 0);
    struct json doc;

    jw_open(&items, '[');
    if (json_parse(request_document(r), JSON_KEEP_ORDER, x->a, &doc, e) ||
        put_content(x, &items, t->op, given, &doc, out, e))
        return err_code(e);
    put_warnings(x, &items, r);
    if (r->verdict.code)
        put_text(&items, failure_text(&r->verdict, x->a));
    jw_close(&items, ']');
    jw_key(w, "content");
    jw_raw(w, sb_sv(&content));
    if (is_structured(t)) {
        jw_key(w, "structuredContent");
        jw_raw(w, request_document(r));
    }
    jw_kbool(w, "isError", r->verdict.code != ST_OK);
    keep_waiting(x, given, &doc);
    return ST_OK;
}

/* A failure is a result with isError, not a JSON-RPC error, so that the model reads it and can
 * correct its call. */
static void put_failure(struct mcp_item *x, struct jw *w, const struct err *e)
{
    jw_key(w, "content");
    jw_open(w, '[');
    put_text(w, failure_text(e, x->a));
    jw_close(w, ']');
    jw_kbool(w, "isError", true);
}

enum status mcp_tools_call(struct mcp_item *x, struct jw *w, struct err *e)
{
    const struct mcp_tool *t;
    struct sv              name;
    struct json            given;
    struct request         r = { 0 };
    struct sb              out = sb_in(x->a, RESULT_MAX);

    if (mcp_text(x, "name", &name, e))
        return err_code(e);
    t = find(name);
    if (!t)
        return err_set(e, ST_USAGE, "there is no tool '" SV_FMT "'", SV_ARG(name));
    if (settle(x, t, json_find(x->params, "arguments"), &given, e) ||
        mcp_operation(x, t->op, &given, &out, &r, e) || put_answer(x, w, t, &given, &r, &out, e))
        put_failure(x, w, e);
    return ST_OK;
}
