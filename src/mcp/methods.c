/* The table of methods, the handshake, and functions that several methods share. */
#include "api/install/guide_text.h"
#include "base/hash.h"
#include "mcp/message.h"

/* ttlMs of answers that only depend on the version of heddle. */
enum { HOUR_MS = 3600000 };

static enum status initialize(struct mcp_item *x, struct jw *w, struct err *e);
static enum status discover(struct mcp_item *x, struct jw *w, struct err *e);
static enum status ping(struct mcp_item *x, struct jw *w, struct err *e);

/* clang-format off */
static const struct mcp_method methods[] = {
    /* name                       eras           at once  cached  for        answer */
    { "initialize",               ERA_HANDSHAKE, true,    false,  0,         initialize },
    { "ping",                     ERA_HANDSHAKE, true,    false,  0,         ping },
    { "resources/subscribe",      ERA_HANDSHAKE, false,   false,  0,         mcp_subscribe },
    { "resources/unsubscribe",    ERA_HANDSHAKE, true,    false,  0,         mcp_unsubscribe },
    { "server/discover",          ERA_MODERN,    true,    true,   HOUR_MS,   discover },
    { "subscriptions/listen",     ERA_MODERN,    false,   false,  0,         mcp_listen },
    { "tools/list",               ERA_BOTH,      true,    true,   HOUR_MS,   mcp_tools_list },
    { "tools/call",               ERA_BOTH,      false,   false,  0,         mcp_tools_call },
    { "resources/list",           ERA_BOTH,      false,   true,   0,         mcp_resources_list },
    { "resources/templates/list", ERA_BOTH,      true,    true,   HOUR_MS,   mcp_templates_list },
    { "resources/read",           ERA_BOTH,      false,   true,   0,         mcp_resources_read },
    { "prompts/list",             ERA_BOTH,      true,    true,   HOUR_MS,   mcp_prompts_list },
    { "prompts/get",              ERA_BOTH,      false,   false,  0,         mcp_prompts_get },
    { "completion/complete",      ERA_BOTH,      false,   false,  0,         mcp_complete },
};
/* clang-format on */

const struct mcp_method *mcp_method_find(struct sv name)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (sv_is(name, methods[i].name))
            return &methods[i];
    return NULL;
}

/* ---- the handshake, and what stands in its place ------------------------------------------- */

void mcp_supported(struct jw *w)
{
    jw_open(w, '[');
    for (enum mcp_revision r = 0; r < REVISION_COUNT; r++)
        jw_str(w, sv_of(mcp_revision_name(r)));
    jw_close(w, ']');
}

/* Only the revision 2026-07-28 can subscribe to changes of the list of resources. */
static void put_capabilities(struct jw *w, bool modern)
{
    jw_key(w, "capabilities");
    jw_open(w, '{');
    jw_key(w, "tools");
    jw_raw(w, SV("{}"));
    jw_key(w, "resources");
    jw_open(w, '{');
    jw_kbool(w, "subscribe", true);
    jw_kbool(w, "listChanged", modern);
    jw_close(w, '}');
    jw_key(w, "prompts");
    jw_raw(w, SV("{}"));
    jw_key(w, "completions");
    jw_raw(w, SV("{}"));
    jw_close(w, '}');
}

static void put_instructions(const struct mcp_item *x, struct jw *w)
{
    struct sb b = sb_in(x->a, 0);

    sb_adds(&b, guide_brief);
    if (x->s->server->thread.n)
        sb_addf(&b, "\nCalls that name no thread mean the thread '" SV_FMT "'.\n",
                SV_ARG(x->s->server->thread));
    jw_kstr(w, "instructions", sb_sv(&b));
}

/* The client's revision if it has a handshake, else the newest that has one. */
static enum mcp_revision choose(struct sv asked)
{
    for (enum mcp_revision r = REVISION_2025_11; r < REVISION_COUNT; r++)
        if (sv_is(asked, mcp_revision_name(r)))
            return r;
    return REVISION_2025_11;
}

static enum status initialize(struct mcp_item *x, struct jw *w, struct err *e)
{
    struct sv asked;

    if (mcp_text(x, "protocolVersion", &asked, e))
        return err_code(e);
    enum mcp_revision chosen = choose(asked);
    pthread_mutex_lock(&x->s->lock);
    x->s->revision = chosen;
    pthread_mutex_unlock(&x->s->lock);
    jw_kstr(w, "protocolVersion", sv_of(mcp_revision_name(chosen)));
    put_capabilities(w, false);
    jw_key(w, "serverInfo");
    mcp_server_info(w);
    put_instructions(x, w);
    return ST_OK;
}

static enum status discover(struct mcp_item *x, struct jw *w, struct err *e)
{
    (void)e;
    jw_key(w, "supportedVersions");
    mcp_supported(w);
    put_capabilities(w, true);
    put_instructions(x, w);
    return ST_OK;
}

static enum status ping(struct mcp_item *x, struct jw *w, struct err *e)
{
    (void)x, (void)w, (void)e;
    return ST_OK;
}

/* ---- what methods use ---------------------------------------------------------------------- */

enum status mcp_text(const struct mcp_item *x, const char *key, struct sv *out, struct err *e)
{
    *out = json_text(x->params, key);
    return out->s ? ST_OK : err_set(e, ST_USAGE, "%s is missing, or is not a string", key);
}

enum status mcp_cursor_read(const struct mcp_item *x, size_t *at, struct err *e)
{
    const struct json *cursor = json_find(x->params, "cursor");
    struct sv          text;
    int64_t            n;

    *at = 0;
    if (!cursor)
        return ST_OK;
    if (!json_is(cursor, JSON_STRING) || !base64url_read(json_sv(cursor), x->a, &text) ||
        !sv_to_int(text, &n) || n < 1)
        return err_set(e, ST_USAGE, "cursor is not one that this server gave");
    *at = (size_t)n;
    return ST_OK;
}

void mcp_cursor_write(struct jw *w, size_t at)
{
    struct arena scratch = { 0 };
    struct sb    number = sb_in(&scratch, 0), text = sb_in(&scratch, 0);

    sb_add_int(&number, (int64_t)at);
    sb_add_base64url(&text, sb_sv(&number));
    jw_kstr(w, "nextCursor", sb_sv(&text));
    arena_free(&scratch);
}
