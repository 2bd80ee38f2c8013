/* One workspace, asked by several threads at once for operations that write, read and fail. Also
 * run under ThreadSanitizer. */
#include "api/request.h"
#include "api/workspace.h"
#include "fresh.h"
#include "tap.h"

#include <pthread.h>

enum { CALLERS = 6, ROUNDS = 12 };

static struct workspace ws;

static enum status ask(const char *name, const char *params_text)
{
    const struct operation *op = operation_find(sv_of(name));
    struct arena            a = { 0 };
    struct request          r;
    struct json             doc;
    struct err              e;
    void                   *params = params_init(op->params, op->params_size, &a);

    request_init(&r, &ws, &a);
    enum status s = json_parse(sv_of(params_text), 0, &a, &doc, &e);
    if (!s)
        s = params_read(op->params, &doc, params, &a, &e);
    if (!s)
        s = operation_run(op, &r, params, &e);
    request_end(&r);
    arena_free(&a);
    return s;
}

/* A writer that waited too long is told so; it asks again. */
static enum status ask_until_free(const char *name, const char *params)
{
    enum status s;

    while ((s = ask(name, params)) == ST_CONFLICT)
        continue;
    return s;
}

struct caller {
    pthread_t thread;
    int       number, failed;
};

/* Counts what was not as expected: CHECK() belongs to the thread of the test. */
static void *call(void *ctx)
{
    struct caller *c = ctx;
    char           own[128], shared[128];

    for (int i = 0; i < ROUNDS; i++) {
        snprintf(own, sizeof own, "{\"thread\":\"own%d\",\"text\":\"Number %d.\"}", c->number, i);
        snprintf(shared, sizeof shared, "{\"thread\":\"shared\",\"text\":\"%d of %d.\"}", i,
                 c->number);
        c->failed += ask_until_free("loom.say", own) != ST_OK;
        c->failed += ask_until_free("loom.say", shared) != ST_OK;
        c->failed += ask("thread.list", "{}") != ST_OK;
        c->failed += ask("tree.show", "{\"thread\":\"shared\"}") != ST_OK;
        c->failed += ask("config.list", "{}") != ST_OK;
        c->failed += ask("tree.show", "{\"thread\":\"nowhere\"}") != ST_NOT_FOUND;
    }
    return NULL;
}

static int64_t rev_of(struct sv thread)
{
    struct arena      a = { 0 };
    struct request    r;
    struct store_head h = { 0 };
    struct err        e;

    request_init(&r, &ws, &a);
    CHECK(request_log(&r, STORE_READ, &e) == ST_OK);
    CHECK(log_begin(&r.log, thread, STORE_READ, &e) == ST_OK);
    CHECK(log_head(&r.log, thread, &h, &e) == ST_OK);
    log_abort(&r.log);
    request_end(&r);
    arena_free(&a);
    return h.rev;
}

static void one_workspace_serves_several_threads(void)
{
    struct fresh  folder = fresh_folder();
    struct caller callers[CALLERS];
    struct err    e;

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){ .number = i };
        CHECK(pthread_create(&callers[i].thread, NULL, call, &callers[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        CHECK_INT(callers[i].failed, 0);
    }
    CHECK_INT(rev_of(SV("shared")), CALLERS * ROUNDS);
    CHECK_INT(rev_of(SV("own0")), ROUNDS);
    workspace_close(&ws);
    fresh_done(&folder);
}

TAP_MAIN(T(one_workspace_serves_several_threads), )
