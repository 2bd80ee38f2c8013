/* The Model Context Protocol without a transport: who is answered what. */
#include "base/hash.h"
#include "fresh.h"
#include "loom/agent.h"
#include "mcp/mcp.h"
#include "share/operation.h"
#include "tap.h"

static struct fresh        folder;
static struct workspace    ws;
static struct mcp_server   server;
static struct mcp_session *session;
static struct arena        a;
static struct err          e;

/* ---- a client -----------------------------------------------------------------------------------
 */

static VEC(struct sv) got;

static void keep(void *ctx, struct sv message)
{
    (void)ctx;
    CHECK(!sv_has(message, '\n'));
    *vec_push(&got, &a) = sv_dup(message, &a);
}

static void begin(const char *agent, const char *thread)
{
    server = (struct mcp_server){
        .ws = &ws, .actor = SV("user"), .agent = sv_of(agent), .thread = sv_of(thread)
    };
    session = mcp_open(&server);
    got.n = 0;
}

static void end(void)
{
    mcp_close(session, keep, NULL);
    arena_free(&a);
    got.v = NULL;
    got.n = got.cap = 0;
}

/* Sends a message, runs it, and returns what came last; null when nothing came. */
static struct json tell(const char *message)
{
    struct json      doc = { 0 };
    size_t           n = got.n;
    struct mcp_call *c = mcp_read(session, sv_of(message), keep, NULL);

    if (c)
        mcp_run(c);
    if (got.n > n)
        CHECK(json_parse(got.v[got.n - 1], JSON_KEEP_ORDER, &a, &doc, &e) == ST_OK);
    return doc;
}

static int64_t code_of(const char *message)
{
    struct json doc = tell(message);

    return json_number(json_find(&doc, "error"), "code");
}

static struct json result_of(const char *message)
{
    struct json        doc = tell(message);
    const struct json *result = json_find(&doc, "result");

    if (!result) {
        FAIL(message);
        return (struct json){ 0 };
    }
    return *result;
}

#define MODERN                                                                                     \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static const char *request(const char *method, const char *params)
{
    static char room[4096];

    snprintf(room, sizeof room, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}",
             method, params);
    return room;
}

/* The text of the first content of a tool's answer. */
static struct sv content_of(const struct json *result)
{
    const struct json *content = json_find(result, "content");

    return json_is(content, JSON_ARRAY) && content->n ? json_text(&content->items[0], "text")
                                                      : (struct sv){ 0 };
}

/* ---- a workspace --------------------------------------------------------------------------- */

static void spawn(struct share *s, const char *id, struct sv_list refs)
{
    struct share_thread  t;
    struct spawn_request r = { .intent = sv_of(id), .objective = SV("goal"), .id = sv_of(id) };

    r.refs = refs;
    CHECK(share_spawn(s, &r, &t, &e) == ST_OK);
}

static void add_agent(struct log *log, const char *name, unsigned permissions)
{
    struct agent x = { .name = sv_of(name),
                       .kind = AUTHOR_MODEL,
                       .model = SV("offline:echo"),
                       .permissions = permissions };

    CHECK(agent_add(log, &x, SV("user"), 1, &a, &e) == ST_OK);
}

/* Threads "research" and "build", of which the second may read the first, and `more` others. */
static void make(int more)
{
    struct store            *store;
    struct share             s;
    struct objective_request o = { .title = SV("Goal"), .id = SV("goal") };
    struct sv                made, research = SV("research");
    char                     name[32];

    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_OK);
    struct log log = log_of(store, workspace_views);
    share_init(&s, &log, ws.root_fd, SV("user"), &a);
    CHECK(share_begin(&s, STORE_WRITE, &e) == ST_OK);
    CHECK(share_objective_create(&s, &o, &made, &e) == ST_OK);
    spawn(&s, "research", (struct sv_list){ 0 });
    spawn(&s, "build", (struct sv_list){ &research, 1 });
    for (int i = 0; i < more; i++) {
        snprintf(name, sizeof name, "more-%03d", i);
        spawn(&s, name, (struct sv_list){ 0 });
    }
    CHECK(share_commit(&s, &e) == ST_OK);
    CHECK(log_begin(&log, GLOBAL_THREAD, STORE_WRITE, &e) == ST_OK);
    add_agent(&log, "Able", PERM_ALL);
    add_agent(&log, "Blind", 0);
    CHECK(log_commit(&log, &e) == ST_OK);
    workspace_give(&ws, log.store, STORE_WRITE);
    CHECK(fs_write(ws.root_fd, SV(".leslie/threads/research/plan.md"), SV("# Look\n"), 0644, &e) ==
          ST_OK);
    CHECK(fs_write(ws.root_fd, SV(".leslie/threads/research/raw.bin"), SV("\xff\x01"), 0644, &e) ==
          ST_OK);
}

static void unmake(void)
{
    workspace_close(&ws);
    fresh_done(&folder);
}

/* ---- messages ------------------------------------------------------------------------------ */

static void the_handshake_gives_the_revision_that_was_asked_for_or_the_newest_with_one(void)
{
    static const char *const asked[][2] = {
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, { "1999-01-01", "2025-11-25" },
    };

    make(0);
    for (size_t i = 0; i < COUNT(asked); i++) {
        char params[128];
        snprintf(params, sizeof params, "\"protocolVersion\":\"%s\"", asked[i][0]);
        begin(NULL, NULL);
        struct json r = result_of(request("initialize", params));
        CHECK_SV(json_text(&r, "protocolVersion"), sv_of(asked[i][1]));
        CHECK_SV(json_text(json_find(&r, "serverInfo"), "name"), SV("heddle"));
        CHECK(!json_find(&r, "resultType"));
        end();
    }
    unmake();
}

static void a_request_that_says_its_revision_needs_no_handshake(void)
{
    make(0);
    begin(NULL, NULL);
    struct json r = result_of(request("server/discover", MODERN));
    CHECK_SV(json_text(&r, "resultType"), SV("complete"));
    CHECK_SV(json_sv(&json_find(&r, "supportedVersions")->items[0]), SV("2026-07-28"));
    CHECK(json_number(&r, "ttlMs") > 0 && sv_is(json_text(&r, "cacheScope"), "private"));
    CHECK(json_find(json_find(&r, "_meta"), "io.modelcontextprotocol/serverInfo") != NULL);
    r = result_of(request("tools/list", MODERN));
    CHECK_INT(json_find(&r, "tools")->n, 5);
    r = result_of(request("tools/list", ""));
    CHECK(!json_find(&r, "resultType"));
    end();
    unmake();
}

static void a_request_of_a_wrong_revision_is_told_which_there_are(void)
{
    make(0);
    begin(NULL, NULL);
    struct json        doc = tell(request(
               "tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\","
                                    "\"io.modelcontextprotocol/clientCapabilities\":{}}"));
    const struct json *data = json_find(json_find(&doc, "error"), "data");
    CHECK_INT(json_number(json_find(&doc, "error"), "code"), -32022);
    CHECK_SV(json_sv(&json_find(data, "supported")->items[0]), SV("2026-07-28"));
    CHECK_SV(json_text(data, "requested"), SV("2031-01-01"));
    CHECK_INT(
        code_of(request("tools/list",
                        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}")),
        -32602);
    CHECK_INT(code_of(request("tools/list",
                              "\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}")),
              -32602);
    CHECK_INT(code_of(request("server/discover", "")), -32602);
    end();
    unmake();
}

static void methods_of_one_kind_of_revision_are_not_there_in_the_other(void)
{
    make(0);
    begin(NULL, NULL);
    CHECK_INT(code_of(request("ping", MODERN)), -32601);
    CHECK_INT(code_of(request("resources/subscribe", MODERN)), -32601);
    CHECK_INT(code_of(request("initialize", "\"protocolVersion\":\"2025-06-18\"," MODERN)), -32601);
    CHECK_INT(code_of(request("sampling/createMessage", "")), -32601);
    CHECK(result_of(request("ping", "")).type == JSON_OBJECT);
    end();
    unmake();
}

static void what_is_not_a_message_is_refused_with_a_code_and_the_id_if_there_is_one(void)
{
    static const struct {
        const char *message;
        int64_t     code;
        const char *id;
    } cases[] = {
        { "{", -32700, "null" },
        { "\"text\"", -32600, "null" },
        { "[]", -32600, "null" },
        { "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "null" },
        { "{\"id\":7,\"method\":\"ping\"}", -32600, "null" },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, "null" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, "null" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":7}", -32600, "\"x\"" },
        { "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":[1]}", -32602, "9" },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\\u00fc\",\"method\":\"nope\"}", -32601, "\"ü\"" },
    };

    make(0);
    begin(NULL, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json doc = tell(cases[i].message);
        CHECK_INT(json_number(json_find(&doc, "error"), "code"), cases[i].code);
        CHECK_SV(json_canonical(json_find(&doc, "id"), &a), sv_of(cases[i].id));
    }
    CHECK(tell("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").type == JSON_NULL);
    CHECK(tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/whatever\"}").type == JSON_NULL);
    mcp_refuse("too long", keep, NULL);
    CHECK(sv_find(got.v[got.n - 1], SV("-32600")) > 0);
    end();
    unmake();
}

static void a_list_of_messages_is_taken_by_the_revisions_that_have_them(void)
{
    make(0);
    begin(NULL, NULL);
    tell(request("initialize", "\"protocolVersion\":\"2025-03-26\""));
    struct json doc = tell("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
                           "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"tools/list\"}]");
    CHECK_INT(doc.type, JSON_ARRAY);
    CHECK_INT(doc.n, 2);
    CHECK_SV(json_text(&doc.items[1], "id"), SV("b"));
    end();
    unmake();
}

/* ---- calls --------------------------------------------------------------------------------- */

static void a_call_that_is_cancelled_before_it_runs_does_nothing_and_answers_nothing(void)
{
    make(0);
    begin("Able", NULL);
    struct mcp_call *c = mcp_read(
        session,
        sv_of(request("tools/call", "\"name\":\"loom\",\"arguments\":{\"thread\":\"build\","
                                    "\"lines\":\"Said.\"}")),
        keep, NULL);
    CHECK(c && mcp_writes(c));
    CHECK_INT(code_of(request("tools/call", "\"name\":\"search\"")), -32600); /* the id is in use */
    tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
         "cancelled\",\"params\":{\"requestId\":1}}");
    size_t n = got.n;
    mcp_run(c);
    CHECK_INT(got.n, n);
    struct json doc = tell(request("resources/read", "\"uri\":\"heddle://thread/build/log\""));
    CHECK(sv_find(json_text(&json_find(json_find(&doc, "result"), "contents")->items[0], "text"),
                  SV("Said.")) < 0);
    end();
    unmake();
}

static void a_tool_answers_with_text_and_with_the_document_of_its_operation(void)
{
    make(0);
    begin("Able", NULL);
    struct json r =
        result_of(request("tools/call", "\"name\":\"loom\",\"arguments\":{\"thread\":\"build\","
                                        "\"lines\":\"It holds.\\n→ tree\"}"));
    CHECK(sv_starts(content_of(&r), SV("Tree: ")));
    CHECK(json_text(json_find(&r, "structuredContent"), "node").n == 4);
    CHECK(!json_truth(json_find(&r, "isError")));
    r = result_of(request("tools/call", "\"name\":\"search\",\"arguments\":{\"query\":\"holds\"}"));
    CHECK_INT(json_find(json_find(&r, "structuredContent"), "items")->n, 1);
    CHECK_SV(json_text(&json_find(json_find(&r, "structuredContent"), "items")->items[0], "author"),
             SV("Able"));
    r = result_of(request("tools/call", "\"name\":\"read\",\"arguments\":{\"thread\":\"build\","
                                        "\"name\":\"plan.md\"}"));
    CHECK_SV(content_of(&r), SV("# Look\n"));
    CHECK(!json_find(&r, "structuredContent")); /* it would be shown in the place of the text */
    r = result_of(request("tools/call", "\"name\":\"read\",\"arguments\":{\"thread\":\"build\","
                                        "\"name\":\"raw.bin\"}"));
    CHECK_SV(json_text(json_find(&json_find(&r, "content")->items[0], "resource"), "blob"),
             SV("/wE="));
    end();
    unmake();
}

static void a_tool_that_fails_says_so_in_its_answer(void)
{
    static const char *const wrong[] = {
        "\"name\":\"read\"",
        "\"name\":\"read\",\"arguments\":[]",
        "\"name\":\"read\",\"arguments\":{\"thread\":\"build\",\"name\":\"../../../etc/passwd\"}",
        "\"name\":\"search\",\"arguments\":{\"query\":\"x\",\"most\":3}",
        "\"name\":\"payload\",\"arguments\":{\"allow_secrets\":true}",
        "\"name\":\"payload\",\"arguments\":{\"paths\":[\"/etc/passwd\"]}",
        "\"name\":\"context\",\"arguments\":{\"thread\":\"nobody\"}",
    };

    make(0);
    begin(NULL, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct json r = result_of(request("tools/call", wrong[i]));
        CHECK(json_truth(json_find(&r, "isError")));
        CHECK(sv_find(content_of(&r), SV(": ")) > 0);
        CHECK(!json_find(&r, "structuredContent"));
    }
    CHECK_INT(code_of(request("tools/call", "\"name\":\"rm\"")), -32602);
    CHECK_INT(code_of(request("tools/call", "")), -32602);
    end();
    unmake();
}

static void a_bound_agent_is_the_only_one_and_does_what_it_may(void)
{
    make(0);
    begin("Blind", NULL);
    struct json r = result_of(request("tools/call", "\"name\":\"read\",\"arguments\":{\"thread\":"
                                                    "\"build\",\"name\":\"plan.md\"}"));
    CHECK_SV(sv_cut(content_of(&r), '\n').head, SV("PERMISSION_DENIED: doc_read not enabled"));
    r = result_of(request("tools/call", "\"name\":\"loom\",\"arguments\":{\"thread\":\"build\","
                                        "\"agent\":\"Able\",\"lines\":\"x\"}"));
    CHECK(sv_starts(content_of(&r), SV("PERMISSION_DENIED: this server acts for")));
    CHECK_INT(code_of(request("resources/read", "\"uri\":\"heddle://thread/build/tree\"")), -32602);
    r = result_of(
        request("tools/call", "\"name\":\"context\",\"arguments\":{\"thread\":\"build\"}"));
    CHECK(sv_starts(content_of(&r), SV("<thread_context thread=\"build\"")));
    end();
    begin(NULL, "build");
    r = result_of(request("tools/call", "\"name\":\"loom\",\"arguments\":{\"lines\":\"x\"}"));
    CHECK(sv_starts(content_of(&r), SV("INVALID_SYNTAX: agent is missing")));
    r = result_of(request("tools/call", "\"name\":\"context\""));
    CHECK(sv_starts(content_of(&r), SV("<thread_context thread=\"build\"")));
    end();
    unmake();
}

/* ---- resources ----------------------------------------------------------------------------- */

static void resources_come_in_pages_without_a_gap(void)
{
    size_t      n = 0, pages = 0;
    struct json r;
    char        params[256] = "";

    make(120);
    begin(NULL, NULL);
    do {
        r = result_of(request("resources/list", params));
        n += json_find(&r, "resources")->n;
        pages++;
        snprintf(params, sizeof params, "\"cursor\":\"" SV_FMT "\"",
                 SV_ARG(json_text(&r, "nextCursor")));
    } while (json_text(&r, "nextCursor").n && pages < 10);
    CHECK_INT(pages, 3);
    CHECK_INT(n, 1 + 122 + 2); /* the payload, a context each, two files */
    CHECK_INT(code_of(request("resources/list", "\"cursor\":\"bogus!\"")), -32602);
    CHECK_INT(code_of(request("resources/list", "\"cursor\":7")), -32602);
    end();
    unmake();
}

static void an_address_that_leads_nowhere_is_named_in_the_error(void)
{
    static const char *const wrong[] = {
        "heddle://thread/nobody/context",
        "heddle://thread/build/asset/nothing.md",
        "heddle://thread/build/asset/..%2F..%2F..%2Fetc%2Fpasswd",
        "heddle://thread/build/other",
        "heddle://thread/build",
        "heddle://thread/%2E%2E/context",
        "heddle://thread/build/log?from=-1",
        "heddle://thread/build/tree?from=1",
        "heddle://thread/%zz/context",
        "file:///etc/passwd",
        "",
    };
    char params[256];

    make(0);
    begin(NULL, NULL);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        snprintf(params, sizeof params, "\"uri\":\"%s\"", wrong[i]);
        struct json doc = tell(request("resources/read", params));
        CHECK_SV(json_text(json_find(json_find(&doc, "error"), "data"), "uri"), sv_of(wrong[i]));
        int64_t code = json_number(json_find(&doc, "error"), "code");
        CHECK(code == -32002 || code == -32602);
    }
    CHECK_INT(code_of(request("resources/read", "\"uri\":\"heddle://x\"")), -32002);
    CHECK_INT(code_of(request("resources/read", "\"uri\":\"heddle://x\"," MODERN)), -32602);
    end();
    unmake();
}

static void a_log_is_read_in_parts(void)
{
    char params[128];

    make(0);
    begin("Able", NULL);
    for (int i = 0; i < 3; i++)
        tell(request("tools/call",
                     "\"name\":\"loom\",\"arguments\":{\"thread\":\"build\",\"lines\":\"A "
                     "word.\"}"));
    for (int from = 0; from < 3; from++) {
        snprintf(params, sizeof params, "\"uri\":\"heddle://thread/build/log?from=%d&to=1\"", from);
        struct json r = result_of(request("resources/read", params));
        struct sv   text = json_text(&json_find(&r, "contents")->items[0], "text");
        size_t      lines = 0;
        for (size_t i = 0; i < text.n; i++)
            lines += text.s[i] == '\n';
        CHECK_INT(lines, from < 2 ? 2 - from : 0);
    }
    end();
    unmake();
}

/* ---- subscriptions ------------------------------------------------------------------------- */

static size_t looked(void)
{
    size_t n = got.n;

    mcp_look(session, keep, NULL);
    return got.n - n;
}

static void a_change_of_what_is_watched_is_told_once(void)
{
    make(0);
    begin("Able", NULL);
    CHECK(!mcp_is_watching(session));
    CHECK(result_of(request("resources/subscribe", "\"uri\":\"heddle://thread/build/context\""))
              .type == JSON_OBJECT);
    CHECK(result_of(request("resources/subscribe", "\"uri\":\"heddle://thread/build/log\"")).type ==
          JSON_OBJECT);
    CHECK(mcp_is_watching(session));
    CHECK_INT(looked(), 0);
    CHECK(fs_write(ws.root_fd, SV(".leslie/threads/build/plan.md"), SV("x"), 0644, &e) == ST_OK);
    CHECK_INT(looked(), 1);
    CHECK(sv_find(got.v[got.n - 1], SV("\"method\":\"notifications/resources/updated\"")) > 0);
    CHECK(sv_find(got.v[got.n - 1], SV("heddle://thread/build/context")) > 0);
    CHECK_INT(looked(), 0);
    tell(request("tools/call",
                 "\"name\":\"loom\",\"arguments\":{\"thread\":\"build\",\"lines\":\"A word.\"}"));
    CHECK_INT(looked(), 1);
    CHECK(sv_find(got.v[got.n - 1], SV("heddle://thread/build/log")) > 0);
    tell(request("resources/unsubscribe", "\"uri\":\"heddle://thread/build/log\""));
    tell(request("resources/unsubscribe", "\"uri\":\"heddle://thread/build/context\""));
    CHECK(!mcp_is_watching(session));
    CHECK_INT(code_of(request("resources/subscribe", "\"uri\":\"file:///etc\"")), -32602);
    end();
    unmake();
}

static void who_listens_is_acknowledged_told_and_let_go(void)
{
    make(0);
    begin("Able", NULL);
    tell(request(
        "subscriptions/listen",
        "\"notifications\":{\"toolsListChanged\":true,\"resourcesListChanged\":true,"
        "\"resourceSubscriptions\":[\"heddle://thread/build/log\",\"file:///etc\"]}," MODERN));
    CHECK_SV(got.v[0],
             SV("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                "acknowledged\",\"params\":"
                "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1},\"notifications\":"
                "{\"resourcesListChanged\":true,\"resourceSubscriptions\":"
                "[\"heddle://thread/build/log\"]}}}"));
    CHECK_INT(got.n, 1);
    tell("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"loom\","
         "\"arguments\":{\"thread\":\"build\",\"lines\":\"A word.\"}}}");
    CHECK_INT(looked(), 1);
    CHECK(sv_find(got.v[got.n - 1], SV("subscriptionId\":1")) > 0);
    tell("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
         "cancelled\",\"params\":{\"requestId\":1}}");
    CHECK(!mcp_is_watching(session));
    tell(request("subscriptions/listen",
                 "\"notifications\":{\"resourcesListChanged\":true}," MODERN));
    size_t n = got.n;
    mcp_close(session, keep, NULL);
    CHECK_INT(got.n, n + 1);
    CHECK(sv_find(got.v[n], SV("\"resultType\":\"complete\"")) > 0);
    session = mcp_open(&server);
    CHECK_INT(code_of(request("subscriptions/listen", MODERN)), -32602);
    end();
    unmake();
}

/* ---- prompts, names, injections ------------------------------------------------------------ */

static void an_injection_is_told_once_the_context_was_sent(void)
{
    struct store *store;
    struct share  s;
    int64_t       at;

    make(0);
    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_OK);
    struct log log = log_of(store, workspace_views);
    share_init(&s, &log, ws.root_fd, SV("user"), &a);
    CHECK(share_begin(&s, STORE_WRITE, &e) == ST_OK &&
          share_inject(&s, SV("build"), SV("data"), SV("Hurry."), &at, &e) == ST_OK &&
          share_commit(&s, &e) == ST_OK);
    workspace_give(&ws, log.store, STORE_WRITE);
    begin(NULL, NULL);
    struct json r =
        result_of(request("resources/read", "\"uri\":\"heddle://thread/build/context\""));
    CHECK(sv_find(json_text(&json_find(&r, "contents")->items[0], "text"), SV("Hurry.")) > 0);
    r = result_of(request("prompts/get", "\"name\":\"thread-context\",\"arguments\":{\"thread\":"
                                         "\"build\",\"task\":\"Go on.\"}"));
    struct sv text = json_text(json_find(&json_find(&r, "messages")->items[0], "content"), "text");
    CHECK(sv_find(text, SV("Hurry.")) > 0 && sv_ends(text, SV("\n\nGo on.")));
    r = result_of(
        request("tools/call", "\"name\":\"context\",\"arguments\":{\"thread\":\"build\"}"));
    CHECK(sv_find(content_of(&r), SV("Hurry.")) < 0);
    CHECK_INT(code_of(request("prompts/get", "\"name\":\"nope\"")), -32602);
    CHECK_INT(
        code_of(request("prompts/get", "\"name\":\"payload\",\"arguments\":{\"budget\":\"x\"}")),
        -32602);
    CHECK_INT(code_of(request("prompts/get", "\"name\":\"payload\",\"arguments\":{\"budget\":5}")),
              -32602);
    end();
    unmake();
}

static void names_of_threads_are_completed(void)
{
    make(0);
    begin(NULL, NULL);
    struct json        r = result_of(request(
               "completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"thread-context\"},"
                                             "\"argument\":{\"name\":\"thread\",\"value\":\"re\"}"));
    const struct json *values = json_find(json_find(&r, "completion"), "values");
    CHECK_INT(values->n, 1);
    CHECK_SV(json_sv(&values->items[0]), SV("research"));
    CHECK_INT(code_of(request("completion/complete", "\"ref\":{}")), -32602);
    end();
    unmake();
}

TAP_MAIN(T(the_handshake_gives_the_revision_that_was_asked_for_or_the_newest_with_one),
         T(a_request_that_says_its_revision_needs_no_handshake),
         T(a_request_of_a_wrong_revision_is_told_which_there_are),
         T(methods_of_one_kind_of_revision_are_not_there_in_the_other),
         T(what_is_not_a_message_is_refused_with_a_code_and_the_id_if_there_is_one),
         T(a_list_of_messages_is_taken_by_the_revisions_that_have_them),
         T(a_call_that_is_cancelled_before_it_runs_does_nothing_and_answers_nothing),
         T(a_tool_answers_with_text_and_with_the_document_of_its_operation),
         T(a_tool_that_fails_says_so_in_its_answer),
         T(a_bound_agent_is_the_only_one_and_does_what_it_may),
         T(resources_come_in_pages_without_a_gap),
         T(an_address_that_leads_nowhere_is_named_in_the_error), T(a_log_is_read_in_parts),
         T(a_change_of_what_is_watched_is_told_once),
         T(who_listens_is_acknowledged_told_and_let_go),
         T(an_injection_is_told_once_the_context_was_sent), T(names_of_threads_are_completed), )
