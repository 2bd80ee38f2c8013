/* JSON-RPC: reading messages into items, and the text of answers, errors and notifications. */
#include "mcp/message.h"

#include "base/utf8.h"

const char *mcp_revision_name(enum mcp_revision r)
{
    static const char *const names[] = {
#define X(id, name) name,
        MCP_REVISIONS(X)
#undef X
    };

    return names[r];
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The JSON-RPC code of a failure, unless the method has set one. */
static enum mcp_code code_of(const struct mcp_item *x, const struct err *e)
{
    if (x->code)
        return x->code;
    return e->code == ST_IO || e->code == ST_CORRUPT || e->code == ST_MODEL_ERROR
               ? MCP_INTERNAL
               : MCP_INVALID_PARAMS;
}

static void put_error(struct jw *w, enum mcp_code code, const struct err *e, struct sv data)
{
    jw_key(w, "error");
    jw_open(w, '{');
    jw_kint(w, "code", code);
    jw_klossy(w, "message", sv_of(e->text));
    jw_key(w, "data");
    jw_open(w, '{');
    jw_kstr(w, "code", sv_of(status_word(e->code)));
    if (e->hint[0])
        jw_klossy(w, "hint", sv_of(e->hint));
    if (e->reason[0])
        jw_kstr(w, "reason", sv_of(e->reason));
    if (data.n) {
        sb_addc(w->b, ',');
        sb_add(w->b, data);
    }
    jw_close(w, '}');
    jw_close(w, '}');
}

/* {"jsonrpc":"2.0","id":ID, and what follows. */
static void begin(struct jw *w, struct sv id)
{
    jw_open(w, '{');
    jw_kstr(w, "jsonrpc", SV("2.0"));
    jw_key(w, "id");
    jw_raw(w, id.n ? id : SV("null"));
}

struct sv mcp_error_text(const struct mcp_item *x, const struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    begin(&w, x->id);
    put_error(&w, code_of(x, e), e, x->data);
    jw_close(&w, '}');
    return sb_sv(&b);
}

void mcp_server_info(struct jw *w)
{
    jw_open(w, '{');
    jw_kstr(w, "name", SV("heddle"));
    jw_kstr(w, "title", SV("heddle"));
    jw_kstr(w, "version", SV(HEDDLE_VERSION));
    jw_close(w, '}');
}

/* What every result of the revision 2026-07-28 has behind its own members. */
static void put_modern(const struct mcp_item *x, struct jw *w)
{
    if (x->method->cached) {
        jw_kint(w, "ttlMs", x->method->ttl_ms);
        jw_kstr(w, "cacheScope", SV("private"));
    }
    jw_key(w, "_meta");
    jw_open(w, '{');
    jw_key(w, MCP_META "serverInfo");
    mcp_server_info(w);
    jw_close(w, '}');
}

struct sv mcp_answer_text(struct mcp_item *x)
{
    struct sb  b = sb_in(x->a, 0);
    struct jw  w = jw_in(&b, 0);
    struct err e = { 0 };

    begin(&w, x->id);
    jw_key(&w, "result");
    jw_open(&w, '{');
    if (x->modern)
        jw_kstr(&w, "resultType", SV("complete"));
    if (x->method->answer(x, &w, &e))
        return mcp_error_text(x, &e);
    if (x->modern)
        put_modern(x, &w);
    jw_close(&w, '}');
    jw_close(&w, '}');
    return sb_sv(&b);
}

struct sv mcp_notification_text(const char *method, struct sv params, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "jsonrpc", SV("2.0"));
    jw_kstr(&w, "method", sv_of(method));
    jw_key(&w, "params");
    jw_raw(&w, params);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- reading ------------------------------------------------------------------------------- */

static enum status bad(struct mcp_item *x, enum mcp_code code, const char *why, struct err *e)
{
    x->code = code;
    return err_set(e, ST_INVALID_SYNTAX, "%s", why);
}

static bool is_id(const struct json *v)
{
    int64_t n;

    return json_is(v, JSON_STRING) || (json_is(v, JSON_NUMBER) && json_int(v, &n));
}

static void put_supported(struct mcp_item *x, const struct json *asked)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_key(&w, "supported");
    mcp_supported(&w);
    jw_kstr(&w, "requested", json_sv(asked));
    x->data = sb_sv(&b);
}

static bool is_client_info(const struct json *v)
{
    return json_is(v, JSON_OBJECT) && json_text(v, "name").s && json_text(v, "version").s;
}

/* Finds out whether a request belongs to revision 2026-07-28: its `_meta` has a revision, or
 * another member that only this revision has. Then all required members must be present. */
static enum status read_era(struct mcp_item *x, struct err *e)
{
    const struct json *meta = json_find(x->params, "_meta");
    const struct json *revision = json_find(meta, MCP_META "protocolVersion");
    const struct json *abilities = json_find(meta, MCP_META "clientCapabilities");
    const struct json *info = json_find(meta, MCP_META "clientInfo");

    x->modern = revision || abilities || info;
    if (!x->modern)
        return ST_OK;
    if (!json_is(revision, JSON_STRING))
        return bad(x, MCP_INVALID_PARAMS, "_meta has no " MCP_META "protocolVersion", e);
    if (!sv_is(json_sv(revision), mcp_revision_name(REVISION_2026_07))) {
        put_supported(x, revision);
        x->code = MCP_NO_REVISION;
        return err_set(e, ST_INVALID_SYNTAX, "unsupported protocol version '" SV_FMT "'",
                       SV_ARG(json_sv(revision)));
    }
    if (!json_is(abilities, JSON_OBJECT))
        return bad(x, MCP_INVALID_PARAMS, "_meta has no " MCP_META "clientCapabilities", e);
    if (info && !is_client_info(info))
        return bad(x, MCP_INVALID_PARAMS, MCP_META "clientInfo has a name and a version", e);
    return ST_OK;
}

static enum status read_method(struct mcp_item *x, struct sv name, struct err *e)
{
    x->method = mcp_method_find(name);
    if (x->method && x->method->eras & (x->modern ? ERA_MODERN : ERA_HANDSHAKE))
        return ST_OK;
    if (x->method && !x->modern) /* the method exists only in 2026-07-28 */
        return bad(x, MCP_INVALID_PARAMS, "_meta has no " MCP_META "protocolVersion", e);
    x->code = MCP_NO_METHOD;
    return err_set(e, ST_NOT_FOUND, "there is no method '" SV_FMT "'", SV_ARG(name));
}

static enum status read_request(struct mcp_item *x, struct sv method, struct err *e)
{
    const struct json *token;

    if (x->params && x->params->type != JSON_OBJECT)
        return bad(x, MCP_INVALID_PARAMS, "params is an object", e);
    if (read_era(x, e) || read_method(x, method, e))
        return err_code(e);
    token = json_find(json_find(x->params, "_meta"), "progressToken");
    if (is_id(token))
        x->progress_token = json_canonical(token, x->a);
    return ST_OK;
}

enum status mcp_item_read(struct mcp_item *x, const struct json *v, enum mcp_message *kind,
                          struct sv *method, struct err *e)
{
    const struct json *id = json_find(v, "id"), *name = json_find(v, "method");

    *kind = MCP_REQUEST;
    if (v->type != JSON_OBJECT || !sv_is(json_text(v, "jsonrpc"), "2.0"))
        return bad(x, MCP_INVALID_REQUEST, "a message is an object with \"jsonrpc\":\"2.0\"", e);
    if (is_id(id))
        x->id = json_canonical(id, x->a);
    if (!name && (json_find(v, "result") || json_find(v, "error"))) {
        *kind = MCP_RESPONSE;
        return ST_OK;
    }
    if (!json_is(name, JSON_STRING) || (id && !x->id.n))
        return bad(x, MCP_INVALID_REQUEST,
                   "a request has a method and an id that is a string or a whole number", e);
    *method = json_sv(name);
    x->params = json_find(v, "params");
    *kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
    return id ? read_request(x, *method, e) : ST_OK;
}
