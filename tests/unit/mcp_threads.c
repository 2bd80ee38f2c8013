/* One client of the Model Context Protocol, whose messages several threads work on at once. */
#include "fresh.h"
#include "mcp/mcp.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 40 };

static struct workspace    ws;
static struct mcp_session *session;
static atomic_int          answers, wrong;

static void count(void *ctx, struct sv message)
{
    (void)ctx;
    if (sv_find(message, SV("\"result\"")) > 0)
        atomic_fetch_add(&answers, 1);
    else if (sv_find(message, SV("\"method\"")) < 0)
        atomic_fetch_add(&wrong, 1);
}

static void tell(const char *method, const char *params, int id)
{
    char room[512];

    snprintf(room, sizeof room, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s}}",
             id, method, params);
    struct mcp_call *c = mcp_read(session, sv_of(room), count, NULL);
    if (c)
        mcp_run(c);
}

static void *work(void *ctx)
{
    int first = 1000 * *(int *)ctx;

    for (int i = 0; i < ROUNDS; i++) {
        tell("resources/subscribe", "\"uri\":\"heddle://thread/t/context\"", first + 6 * i);
        tell("tools/call", "\"name\":\"search\",\"arguments\":{\"query\":\"x\"}",
             first + 6 * i + 1);
        tell("resources/list", "", first + 6 * i + 2);
        tell("tools/list", "", first + 6 * i + 3);
        mcp_look(session, count, NULL);
        tell("resources/unsubscribe", "\"uri\":\"heddle://thread/t/context\"", first + 6 * i + 4);
    }
    return NULL;
}

static void every_request_is_answered_whoever_runs_it(void)
{
    struct fresh      folder = fresh_folder();
    struct mcp_server server = { .ws = &ws, .actor = SV("user") };
    pthread_t         threads[THREADS];
    int               numbers[THREADS];
    struct store     *store;
    struct err        e;

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_OK);
    workspace_give(&ws, store, STORE_WRITE);
    session = mcp_open(&server);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&answers), THREADS * ROUNDS * 5);
    CHECK_INT(atomic_load(&wrong), 0);
    mcp_close(session, NULL, NULL);
    workspace_close(&ws);
    fresh_done(&folder);
}

TAP_MAIN(T(every_request_is_answered_whoever_runs_it), )
