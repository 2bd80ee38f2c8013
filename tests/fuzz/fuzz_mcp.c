/* Messages of an MCP client, one a line: whatever comes in, nothing crashes; every message that
 * goes out is one line of JSON-RPC, and a request that was taken is answered at most once. Calls
 * that change something are cancelled before they run, so that every input meets the same log. */
#include "fresh.h"
#include "mcp/mcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct workspace  ws;
static struct mcp_server server;

static void check_message(const struct json *v)
{
    bool answers = json_find(v, "id") != NULL;

    if (v->type != JSON_OBJECT || !sv_is(json_text(v, "jsonrpc"), "2.0") ||
        answers == json_is(json_find(v, "method"), JSON_STRING) ||
        (answers && !json_find(v, "result") == !json_find(v, "error")))
        abort();
}

static void check_sent(void *ctx, struct sv message)
{
    struct arena a = { 0 };
    struct json  v;
    struct err   e;

    (void)ctx;
    if (sv_has(message, '\n') || json_parse(message, 0, &a, &v, &e))
        abort();
    if (v.type == JSON_ARRAY)
        for (size_t i = 0; i < v.n; i++)
            check_message(&v.items[i]);
    else
        check_message(&v);
    arena_free(&a);
}

/* An empty workspace with its log in memory. */
static void begin(void)
{
    static struct fresh folder;

    if (server.ws)
        return;
    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = folder.fd;
    ws.store_url = SV("mem:fuzz_mcp");
    server = (struct mcp_server){ .ws = &ws, .actor = SV("user"), .thread = SV("t") };
    rmdir(folder.path); /* it stays usable, and nothing is left behind */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv           rest = { (const char *)data, size };
    struct mcp_session *s;

    begin();
    s = mcp_open(&server);
    while (rest.n) {
        struct sv_cut    line = sv_cut(rest, '\n');
        struct mcp_call *c = mcp_read(s, line.head, check_sent, NULL);
        if (c && mcp_writes(c))
            mcp_cancel_all(s);
        if (c)
            mcp_run(c);
        rest = line.tail;
    }
    if (mcp_is_watching(s))
        mcp_look(s, check_sent, NULL);
    mcp_close(s, check_sent, NULL);
    return 0;
}
