#include "api/request.h"
#include "api/share/share_call.h"
#include "fresh.h"
#include "loom/agent.h"
#include "tap.h"

#include <malloc.h>

extern const struct operation op_thread_list;

static struct workspace ws;
static struct err       e;

static enum status list_once(const char *params_text)
{
    struct arena   a = { 0 };
    struct request r;
    struct json    doc;
    void          *params = params_init(op_thread_list.params, op_thread_list.params_size, &a);

    request_init(&r, &ws, &a);
    enum status s = json_parse(sv_of(params_text), 0, &a, &doc, &e);
    if (!s)
        s = params_read(op_thread_list.params, &doc, params, &a, &e);
    if (!s)
        s = operation_run(&op_thread_list, &r, params, &e);
    request_end(&r);
    arena_free(&a);
    return s;
}

static void many_requests_in_one_process_take_the_memory_of_one(void)
{
    struct fresh folder = fresh_folder();

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    CHECK(workspace_make(&ws, SV(".leslie"), &e) == ST_OK);
    for (int i = 0; i < 200; i++)
        CHECK(list_once("{}") == ST_OK);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 3000; i++)
        CHECK(list_once(i % 2 ? "{}" : "{\"status\":\"active\"}") == ST_OK);
    size_t after = mallinfo2().uordblks;
    CHECK(after <= before + 4096);
    CHECK(list_once("{\"status\":\"asleep\"}") == ST_USAGE);
    CHECK(list_once("{\"state\":\"active\"}") == ST_USAGE);
    workspace_close(&ws);
    fresh_done(&folder);
}

static void add_agent(const char *name, unsigned permissions)
{
    struct arena  a = { 0 };
    struct store *store;
    struct agent  x = { .name = sv_of(name),
                        .kind = AUTHOR_MODEL,
                        .model = SV("offline:echo"),
                        .permissions = permissions };

    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_OK);
    struct log log = log_of(store, workspace_views);
    CHECK(log_begin(&log, GLOBAL_THREAD, STORE_WRITE, &e) == ST_OK);
    CHECK(agent_add(&log, &x, SV("user"), 1, &a, &e) == ST_OK);
    CHECK(log_commit(&log, &e) == ST_OK);
    workspace_give(&ws, log.store, STORE_WRITE);
    arena_free(&a);
}

static enum status search_as(const char *agent)
{
    extern const struct operation op_loom_search;
    struct arena                  a = { 0 };
    struct request                r;
    void       *params = params_init(op_loom_search.params, op_loom_search.params_size, &a);
    struct json doc;

    request_init(&r, &ws, &a);
    r.agent = sv_of(agent);
    CHECK(json_parse(SV("{\"query\":\"word\"}"), 0, &a, &doc, &e) == ST_OK);
    CHECK(params_read(op_loom_search.params, &doc, params, &a, &e) == ST_OK);
    enum status s = operation_run(&op_loom_search, &r, params, &e);
    request_end(&r);
    arena_free(&a);
    return s;
}

static void an_agent_that_a_door_is_bound_to_needs_the_permission_of_the_row(void)
{
    struct fresh folder = fresh_folder();

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    add_agent("Blind", PERM_doc_read);
    add_agent("Aware", PERM_loom_aware);
    CHECK(search_as("Blind") == ST_PERMISSION_DENIED);
    CHECK_SV(sv_of(e.text), SV("loom_aware not enabled"));
    CHECK(search_as("Aware") == ST_OK);
    CHECK(search_as(NULL) == ST_OK);
    CHECK(search_as("Nobody") == ST_NOT_FOUND);
    workspace_close(&ws);
    fresh_done(&folder);
}

static enum status open_nothing(void *ctx, struct sv name, int *fd, struct err *err)
{
    (void)ctx, (void)fd;
    return err_set(err, ST_NOT_FOUND, "the door was asked for " SV_FMT, SV_ARG(name));
}

static void a_file_is_opened_by_the_door_else_below_the_workspace(void)
{
    struct fresh   folder = fresh_folder();
    struct arena   a = { 0 };
    struct request r;
    struct sv      text;

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(fs_write(ws.root_fd, SV("a.txt"), SV("bytes"), 0644, &e) == ST_OK);
    request_init(&r, &ws, &a);
    CHECK(request_file(&r, SV("a.txt"), 0, &text, &e) == ST_OK && sv_is(text, "bytes"));
    CHECK(request_file(&r, SV("a.txt"), 4, &text, &e) == ST_LIMIT_EXCEEDED);
    CHECK(request_file(&r, SV("b.txt"), 0, &text, &e) == ST_NOT_FOUND);
    CHECK(request_file(&r, SV("../a.txt"), 0, &text, &e) == ST_PERMISSION_DENIED);
    CHECK(request_file(&r, SV("/etc/passwd"), 0, &text, &e) == ST_PERMISSION_DENIED);
    r.open = open_nothing;
    CHECK(request_file(&r, SV("a.txt"), 0, &text, &e) == ST_NOT_FOUND);
    CHECK(sv_find(sv_of(e.text), SV("the door was asked for a.txt")) >= 0);
    request_end(&r);
    workspace_close(&ws);
    arena_free(&a);
    fresh_done(&folder);
}

TAP_MAIN(T(an_agent_that_a_door_is_bound_to_needs_the_permission_of_the_row),
         T(many_requests_in_one_process_take_the_memory_of_one),
         T(a_file_is_opened_by_the_door_else_below_the_workspace), )
