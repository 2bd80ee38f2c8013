/* Resources: what there is to read of the workspace and of each thread. */
#include "api/share/context.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "mcp/mcp_internal.h"

extern const struct operation op_thread_list, op_asset_list, op_asset_read, op_tree_show,
    op_log_show, op_payload_make, op_session_list;

enum {
    THREADS_A_PAGE = 50,
    ENTRIES_A_READ = 200,    /* of a log */
    RESOURCE_MAX = 16 << 20, /* bytes */
    TREE_DEPTH = 50,
};

/* clang-format off */
static const struct template {
    const char *uri, *name, *title, *type, *description;
} templates[] = {
    { "heddle://thread/{thread}/context",       "thread-context", "Context of a thread",     "application/xml",
      "<thread_context>: the thread's own assets and those it may read" },
    { "heddle://thread/{thread}/asset/{+path}", "thread-asset",   "Asset of a thread",       NULL,
      "an asset as the thread sees it: its own, a frozen copy or a live original; the path is one of its context" },
    { "heddle://thread/{thread}/tree",          "thread-tree",    "Tree of a thread",        "text/plain",
      "the thread's messages, drawn as a tree" },
    { "heddle://thread/{thread}/log{?from,to}", "thread-log",     "Log of a thread",         "application/jsonl",
      "entries as JSON lines: the last 200, or 200 from an entry on" },
    { "heddle://thread/{thread}/input.md",      "thread-input",   "Payload of a thread",     "text/markdown",
      "everything for the newest turn of the session that is bound to the thread" },
};
/* clang-format on */

enum status mcp_templates_list(struct mcp_item *x, struct jw *w, struct err *e)
{
    size_t at;

    if (mcp_cursor_read(x, &at, e))
        return err_code(e);
    jw_key(w, "resourceTemplates");
    jw_open(w, '[');
    for (size_t i = at; i < COUNT(templates); i++) {
        jw_open(w, '{');
        jw_kstr(w, "uriTemplate", sv_of(templates[i].uri));
        jw_kstr(w, "name", sv_of(templates[i].name));
        jw_kstr(w, "title", sv_of(templates[i].title));
        jw_kstr(w, "description", sv_of(templates[i].description));
        if (templates[i].type)
            jw_kstr(w, "mimeType", sv_of(templates[i].type));
        jw_close(w, '}');
    }
    jw_close(w, ']');
    return ST_OK;
}

/* ---- list ---------------------------------------------------------------------------------- */

struct listed {
    struct sv   thread, title, updated;
    const char *part, *what, *type; /* type NULL: unknown */
    struct sv   path;
};

static void put_resource(struct mcp_item *x, struct jw *w, const struct listed *r)
{
    struct sb uri = sb_in(x->a, 0), name = sb_in(x->a, 0);

    mcp_resource_uri(&uri, r->thread, r->part, r->path);
    sb_addf(&name, SV_FMT "%s" SV_FMT, SV_ARG(r->thread), r->part, SV_ARG(r->path));
    jw_open(w, '{');
    jw_kstr(w, "uri", sb_sv(&uri));
    jw_kstr(w, "name", sb_sv(&name));
    if (r->title.n)
        jw_klossy(w, "title", r->title);
    jw_kstr(w, "description", sv_of(r->what));
    if (r->type)
        jw_kstr(w, "mimeType", sv_of(r->type));
    if (r->updated.n) {
        jw_key(w, "annotations");
        jw_open(w, '{');
        jw_kstr(w, "lastModified", r->updated);
        jw_close(w, '}');
    }
    jw_close(w, '}');
}

static const char *type_of(struct sv path)
{
    return sv_ends(path, SV(".md")) ? "text/markdown" : NULL;
}

/* {"thread":T} */
static struct sv of_thread(struct sv thread, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "thread", thread);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* The files below a thread's own directory. Files of threads that it may read are listed with those
 * threads. */
static enum status put_assets(struct mcp_item *x, struct jw *w, const struct json *t, struct err *e)
{
    struct listed r = { .thread = json_text(t, "id"), .title = json_text(t, "title") };
    struct json   doc;

    if (mcp_ask(x, &op_asset_list, of_thread(r.thread, x->a), NULL, &doc, e))
        return err_code(e);
    const struct json *items = json_find(&doc, "items");
    for (size_t i = 0; i < items->n; i++) {
        struct sv path = json_text(&items->items[i], "path");
        if (!sv_is(json_text(&items->items[i], "access"), "rw") || sv_ends(path, SV("/")))
            continue;
        r.part = "/asset/";
        r.path = path;
        r.what = "an asset of the thread";
        r.type = type_of(path);
        put_resource(x, w, &r);
    }
    return ST_OK;
}

/* A thread that only has a log has no context and no assets; one that was spawned may have no
 * log. */
static enum status put_thread(struct mcp_item *x, struct jw *w, const struct json *t, struct err *e)
{
    struct listed r = { .thread = json_text(t, "id"),
                        .title = json_text(t, "title"),
                        .updated = json_text(t, "updated_at") };

    bool shared = json_text(t, "storage_path").s != NULL;

    if (shared) {
        r.part = "/context";
        r.what = "what the thread may read and write";
        r.type = "application/xml";
        put_resource(x, w, &r);
    }
    if (json_number(t, "entries") > 0) {
        r.part = "/tree";
        r.what = "its messages as a tree";
        r.type = "text/plain";
        put_resource(x, w, &r);
        r.part = "/log";
        r.what = "the last entries of its log";
        r.type = "application/jsonl";
        put_resource(x, w, &r);
    }
    return shared ? put_assets(x, w, t, e) : ST_OK;
}

static void put_input(struct jw *w)
{
    jw_open(w, '{');
    jw_kstr(w, "uri", SV("heddle://input.md"));
    jw_kstr(w, "name", SV("input.md"));
    jw_kstr(w, "title", SV("Payload of the workspace"));
    jw_kstr(w, "description", SV("the project's tree, the memos and what the lists name"));
    jw_kstr(w, "mimeType", SV("text/markdown"));
    jw_close(w, '}');
}

enum status mcp_resources_list(struct mcp_item *x, struct jw *w, struct err *e)
{
    struct json doc;
    size_t      at;

    if (mcp_cursor_read(x, &at, e) || mcp_ask(x, &op_thread_list, SV("{}"), NULL, &doc, e))
        return err_code(e);
    const struct json *items = json_find(&doc, "items");
    size_t             end = at + THREADS_A_PAGE < items->n ? at + THREADS_A_PAGE : items->n;
    jw_key(w, "resources");
    jw_open(w, '[');
    if (!at)
        put_input(w);
    for (size_t i = at; i < end; i++)
        if (put_thread(x, w, &items->items[i], e))
            return err_code(e);
    jw_close(w, ']');
    if (end < items->n)
        mcp_cursor_write(w, end);
    return ST_OK;
}

/* ---- read ---------------------------------------------------------------------------------- */

static enum status read_context(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                                struct err *e)
{
    struct sb   b = sb_in(x->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json doc;

    jw_open(&w, '{');
    jw_kstr(&w, "thread", q->thread);
    jw_kbool(&w, "notes", true);
    jw_close(&w, '}');
    if (mcp_ask(x, &op_context_make, sb_sv(&b), NULL, &doc, e))
        return err_code(e);
    *bytes = json_text(&doc, "context");
    return ST_OK;
}

static enum status read_tree(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                             struct err *e)
{
    struct sb   b = sb_in(x->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json doc;

    jw_open(&w, '{');
    jw_kstr(&w, "thread", q->thread);
    jw_kstr(&w, "form", SV("text"));
    jw_kint(&w, "depth", TREE_DEPTH);
    if (x->s->server->agent.n)
        jw_kstr(&w, "agent", x->s->server->agent);
    jw_close(&w, '}');
    if (mcp_ask(x, &op_tree_show, sb_sv(&b), NULL, &doc, e))
        return err_code(e);
    *bytes = json_text(&doc, "text");
    return ST_OK;
}

/* What an operation writes to a stream. */
static enum status read_stream(struct mcp_item *x, const struct operation *op, struct sv params,
                               struct sv *bytes, struct err *e)
{
    struct sb   out = sb_in(x->a, RESOURCE_MAX);
    struct json doc;

    if (mcp_ask(x, op, params, &out, &doc, e) || sb_done(&out, bytes, e))
        return err_code(e);
    return ST_OK;
}

static enum status read_log(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                            struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "thread", q->thread);
    if (q->from < 0)
        jw_kint(&w, "tail", ENTRIES_A_READ);
    else
        jw_kint(&w, "from", q->from);
    if (q->to >= 0 && (q->from < 0 || q->to < q->from + ENTRIES_A_READ))
        jw_kint(&w, "to", q->to);
    else if (q->from >= 0)
        jw_kint(&w, "to", q->from + ENTRIES_A_READ - 1);
    jw_close(&w, '}');
    return read_stream(x, &op_log_show, sb_sv(&b), bytes, e);
}

static enum status read_asset(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                              struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "thread", q->thread);
    jw_kstr(&w, "name", q->path);
    jw_close(&w, '}');
    return read_stream(x, &op_asset_read, sb_sv(&b), bytes, e);
}

/* The newest turn of the newest session of a thread. */
static enum status find_turn(struct mcp_item *x, struct sv thread, struct sv *turn, struct err *e)
{
    struct json        doc;
    struct sb          b = sb_in(x->a, 0);
    const struct json *found = NULL;

    if (mcp_ask(x, &op_session_list, SV("{}"), NULL, &doc, e))
        return err_code(e);
    const struct json *items = json_find(&doc, "items");
    for (size_t i = 0; i < items->n; i++)
        if (sv_eq(json_text(&items->items[i], "thread"), thread) &&
            json_number(&items->items[i], "turn") > 0)
            found = &items->items[i];
    if (!found) {
        err_set(e, ST_NOT_FOUND, "no session is bound to thread '" SV_FMT "'", SV_ARG(thread));
        return err_hint(e, "`heddle session new --thread " SH_FMT "` makes one", SV_ARG(thread));
    }
    sb_addf(&b, SV_FMT "/%02d", SV_ARG(json_text(found, "dir")), (int)json_number(found, "turn"));
    *turn = sb_sv(&b);
    return ST_OK;
}

/* Web pages that are not cached are left out: reading a resource makes no network requests. */
static enum status read_input(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                              struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);
    struct sv turn = { 0 };

    if (q->kind == RESOURCE_THREAD_INPUT && find_turn(x, q->thread, &turn, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kbool(&w, "offline", true);
    if (turn.n)
        jw_kstr(&w, "turn", turn);
    jw_close(&w, '}');
    return read_stream(x, &op_payload_make, sb_sv(&b), bytes, e);
}

enum status mcp_resource_bytes(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                               const char **type, struct err *e)
{
    switch (q->kind) {
    case RESOURCE_CONTEXT: *type = "application/xml"; return read_context(x, q, bytes, e);
    case RESOURCE_TREE: *type = "text/plain"; return read_tree(x, q, bytes, e);
    case RESOURCE_LOG: *type = "application/jsonl"; return read_log(x, q, bytes, e);
    case RESOURCE_ASSET: *type = type_of(q->path); return read_asset(x, q, bytes, e);
    case RESOURCE_INPUT:
    case RESOURCE_THREAD_INPUT: *type = "text/markdown"; break;
    }
    return read_input(x, q, bytes, e);
}

/* A resource that does not exist: revisions with a handshake have a code of their own for it
 * (-32002). The error names the address. */
static enum status not_there(struct mcp_item *x, struct sv uri, const struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_kstr(&w, "uri", uri);
    x->data = sb_sv(&b);
    if (e->code == ST_NOT_FOUND)
        x->code = x->modern ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE;
    return err_code(e);
}

static void put_contents(struct mcp_item *x, struct jw *w, struct sv uri, const char *type,
                         struct sv bytes)
{
    bool is_text = utf8_invalid(bytes) < 0;

    jw_key(w, "contents");
    jw_open(w, '[');
    jw_open(w, '{');
    jw_kstr(w, "uri", uri);
    jw_kstr(w, "mimeType",
            type      ? sv_of(type)
            : is_text ? SV("text/plain")
                      : SV("application/octet-stream"));
    if (is_text) {
        jw_kstr(w, "text", bytes);
    } else {
        struct sb blob = sb_in(x->a, 0);
        sb_add_base64(&blob, bytes);
        jw_kstr(w, "blob", sb_sv(&blob));
    }
    jw_close(w, '}');
    jw_close(w, ']');
}

enum status mcp_resources_read(struct mcp_item *x, struct jw *w, struct err *e)
{
    struct mcp_resource q;
    struct sv           uri, bytes;
    const char         *type;

    if (mcp_text(x, "uri", &uri, e))
        return err_code(e);
    if (mcp_resource_parse(uri, x->a, &q, e) || mcp_resource_bytes(x, &q, &bytes, &type, e))
        return not_there(x, uri, e);
    put_contents(x, w, uri, type, bytes);
    return ST_OK;
}
