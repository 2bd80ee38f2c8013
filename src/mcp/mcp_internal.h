/* Internal to src/mcp: one request, and the functions that answer it. */
#ifndef HEDDLE_MCP_INTERNAL_H
#define HEDDLE_MCP_INTERNAL_H

#include "mcp/mcp.h"

#include <pthread.h>

/* Revisions, newest first. Only the first has its revision in every request. */
/* clang-format off */
#define MCP_REVISIONS(X)              \
    X(REVISION_2026_07, "2026-07-28") \
    X(REVISION_2025_11, "2025-11-25") \
    X(REVISION_2025_06, "2025-06-18") \
    X(REVISION_2025_03, "2025-03-26") \
    X(REVISION_2024_11, "2024-11-05")
/* clang-format on */
enum mcp_revision {
#define X(id, name) id,
    MCP_REVISIONS(X)
#undef X
        REVISION_COUNT,
};

/* Codes of JSON-RPC and of the protocol. */
enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002, /* of the revisions with a handshake */
    MCP_NO_REVISION = -32022,
};

#define MCP_META "io.modelcontextprotocol/"

struct mcp_method;

/* One request, from its message to its answer. */
struct mcp_item {
    struct mcp_session      *s;
    struct mcp_call         *call;
    struct arena            *a;
    const struct mcp_method *method;
    const struct json       *params; /* NULL: none */
    struct sv                id;     /* as JSON */
    bool                     modern; /* the request names its revision (2026-07-28) */
    atomic_bool              cancel;
    bool                     listens; /* a subscription: it has no answer until it ends */
    struct mcp_item         *next;    /* in the list of the session */

    struct sv     progress_token; /* as JSON; absent: nobody waits for progress */
    int64_t       progress_base, progress_last, progress_at;
    const char   *progress_what;
    enum mcp_code code; /* JSON-RPC code of a failure; 0: it follows from the status */
    struct sv     data; /* members of the error's data, as JSON without braces; or absent */
    struct sv     context_thread; /* the thread whose injections the answer contains ... */
    struct json
        context_waiting; /* ... and these: they are acknowledged after the answer was sent */
};

/* A subscription. Those of revisions with a handshake have no id. */
struct mcp_watch {
    struct arena      a; /* also holds this struct */
    struct sv         id;
    struct sv         uri; /* absent: the list of resources */
    struct hash       state;
    bool              known; /* `state` was taken */
    struct mcp_watch *next;
};

struct mcp_session {
    const struct mcp_server *server;
    pthread_mutex_t          lock;     /* protects the members below */
    enum mcp_revision        revision; /* of the handshake; REVISION_2025_11 until there was one */
    struct mcp_item         *items;    /* that wait or run */
    size_t                   n_items;
    struct mcp_watch        *watches;
    size_t                   n_watches;
};

/* Writes the members of the result; its braces and what every result has are written around it. */
typedef enum status mcp_answer(struct mcp_item *x, struct jw *w, struct err *e);

enum mcp_era { ERA_HANDSHAKE = 1, ERA_MODERN = 2, ERA_BOTH = 3 };

struct mcp_method {
    const char  *name;
    enum mcp_era eras;
    bool         at_once; /* answered by the thread that reads it, without a queue */
    bool         cached;  /* in 2026-07-28 its result has ttlMs, ... */
    int64_t      ttl_ms;  /* ... which is this value */
    mcp_answer  *answer;
};
const struct mcp_method *mcp_method_find(struct sv name);

const char *mcp_revision_name(enum mcp_revision r);

/* {"name","version"} of this program. */
void mcp_server_info(struct jw *w);

/* ---- what methods use ---------------------------------------------------------------------- */

/* A member of the parameters that must be a string: ST_USAGE. */
enum status mcp_text(const struct mcp_item *x, const char *key, struct sv *out,
                     struct err *e) MUST_USE;

/* Run an operation for a request: `params` as every door takes them, what it streams to `out`
 * (NULL: nowhere). `r` has the answer and the warnings and lives in the item's arena. */
enum status mcp_operation(struct mcp_item *x, const struct operation *op, const struct json *params,
                          struct sb *out, struct request *r, struct err *e) MUST_USE;

/* The same with parameters of our own making: the text of an object; *doc is the answer. */
enum status mcp_ask(struct mcp_item *x, const struct operation *op, struct sv params,
                    struct sb *out, struct json *doc, struct err *e) MUST_USE;

/* The cursor of a page: a number as opaque text; absent is 0. ST_USAGE: this server did not make
 * it. */
enum status mcp_cursor_read(const struct mcp_item *x, size_t *at, struct err *e) MUST_USE;
void        mcp_cursor_write(struct jw *w, size_t at);

/* The methods. */
mcp_answer mcp_tools_list, mcp_tools_call;
mcp_answer mcp_resources_list, mcp_templates_list, mcp_resources_read;
mcp_answer mcp_prompts_list, mcp_prompts_get;
mcp_answer mcp_complete;
mcp_answer mcp_subscribe, mcp_unsubscribe, mcp_listen;

bool mcp_tool_writes(const struct json *params); /* of tools/call */

/* ---- resources ----------------------------------------------------------------------------- */

enum mcp_resource_kind {
    RESOURCE_INPUT,   /* heddle://input.md */
    RESOURCE_CONTEXT, /* heddle://thread/T/context */
    RESOURCE_TREE,
    RESOURCE_LOG,
    RESOURCE_THREAD_INPUT,
    RESOURCE_ASSET, /* heddle://thread/T/asset/PATH */
};
struct mcp_resource {
    enum mcp_resource_kind kind;
    struct sv              thread, path;
    int64_t                from, to; /* of a log; -1: not given */
};

/* ST_NOT_FOUND: no resource has such an address. */
enum status mcp_resource_parse(struct sv uri, struct arena *a, struct mcp_resource *out,
                               struct err *e) MUST_USE;

/* "heddle://thread/T", and what stands behind it: "/context", an asset's "/asset/PATH". */
void mcp_resource_uri(struct sb *b, struct sv thread, const char *part, struct sv path);

/* Its text or bytes, and the type of them. */
enum status mcp_resource_bytes(struct mcp_item *x, const struct mcp_resource *q, struct sv *bytes,
                               const char **type, struct err *e) MUST_USE;

/* ---- subscriptions ------------------------------------------------------------------------- */

/* Ends the subscription of this id; false: there is none. */
bool mcp_unlisten(struct mcp_session *s, struct sv id);

#endif
