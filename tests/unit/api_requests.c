#include "api/request.h"
#include "api/share_call.h"
#include "fresh.h"
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

TAP_MAIN(T(many_requests_in_one_process_take_the_memory_of_one), )
