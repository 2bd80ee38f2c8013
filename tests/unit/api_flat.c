/* One process that serves many requests of one workspace, each with its own arena, takes the memory
 * of a few: what a request needed is gone when it ends. HEDDLE_REQUESTS sets their number, for
 * tests/torture/requests.sh. */
#include "api/request.h"
#include "api/workspace.h"
#include "fresh.h"
#include "tap.h"

#include <malloc.h>
#include <string.h>

/* A sanitizer keeps what is freed, and takes its time. */
#ifdef ARENA_DEBUG
enum { FIRST = 500, REQUESTS = 1500, KEPT_MAX = 1 << 20 }; /* kB */
#else
enum { FIRST = 1000, REQUESTS = 11000, KEPT_MAX = 2048 }; /* kB */
#endif
enum { THREADS = 20 };

static struct workspace ws;
static struct err       e;
static int64_t          answered; /* bytes of all documents, so that none is left out unnoticed */

static enum status ask(const char *name, const char *params_text)
{
    const struct operation *op = operation_find(sv_of(name));
    struct arena            a = { 0 };
    struct request          r;
    struct json             doc;

    if (!op)
        return err_set(&e, ST_NOT_FOUND, "%s", name);
    void *params = params_init(op->params, op->params_size, &a);
    request_init(&r, &ws, &a);
    enum status s = json_parse(sv_of(params_text), 0, &a, &doc, &e);
    if (!s)
        s = params_read(op->params, &doc, params, &a, &e);
    if (!s)
        s = operation_run(op, &r, params, &e);
    if (!s)
        answered += (int64_t)request_document(&r).n;
    request_end(&r);
    arena_free(&a);
    return s;
}

/* The database keeps pages in memory, up to a limit: it is reached before anything is measured. */
static void fill_the_cache(void)
{
    enum { LONG = 16384, MESSAGES = 300 };
    static char params[LONG + 256], text[LONG + 1];

    memset(text, 'x', LONG);
    snprintf(params, sizeof params, "{\"thread\":\"long\",\"text\":\"%s\"}", text);
    for (int i = 0; i < MESSAGES; i++)
        CHECK(ask("loom.say", params) == ST_OK);
}

/* The i-th of a mixture that writes, runs commands, reads, and fails. */
static void ask_one(int i)
{
    char params[256];
    int  thread = i / 8 % THREADS;

    switch (i % 8) {
    case 0:
    case 1:
        snprintf(params, sizeof params, "{\"thread\":\"t%d\",\"text\":\"Number %d.\"}", thread, i);
        CHECK(ask("loom.say", params) == ST_OK);
        break;
    case 2:
        snprintf(params, sizeof params,
                 "{\"thread\":\"t%d\",\"lines\":\"Prose.\\n→ path\\n→ tree depth:1\\n\"}", thread);
        CHECK(ask("loom.do", params) == ST_OK);
        break;
    case 3:
        snprintf(params, sizeof params, "{\"thread\":\"t%d\",\"line\":\"/view here full\"}",
                 thread);
        CHECK(ask("loom.line", params) == ST_OK);
        break;
    case 4: CHECK(ask("thread.list", "{}") == ST_OK); break;
    case 5:
        snprintf(params, sizeof params, "{\"thread\":\"t%d\"}", thread);
        CHECK(ask("loom.position", params) == ST_OK);
        break;
    case 6:
        snprintf(params, sizeof params, "{\"thread\":\"t%d\",\"depth\":3}", thread);
        CHECK(ask("tree.show", params) == ST_OK);
        break;
    default: CHECK(ask("tree.show", "{\"thread\":\"nowhere\"}") == ST_NOT_FOUND);
    }
}

/* Kilobytes that the process has in memory. */
static int64_t resident(void)
{
    FILE     *f = fopen("/proc/self/statm", "r");
    long long all = 0, pages = 0;

    CHECK(f && fscanf(f, "%lld %lld", &all, &pages) == 2);
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void many_requests_take_the_memory_of_a_few(void)
{
    struct fresh folder = fresh_folder();
    const char  *asked = getenv("HEDDLE_REQUESTS");
    int          i = 0, requests = asked ? atoi(asked) : REQUESTS;

    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    CHECK(workspace_make(&ws, SV(".leslie"), &e) == ST_OK);
    fill_the_cache();
    for (; i < FIRST; i++)
        ask_one(i);
    size_t  used = mallinfo2().uordblks;
    int64_t kept = resident();
    for (; i < requests; i++)
        ask_one(i);
    size_t  used_now = mallinfo2().uordblks;
    int64_t kept_now = resident();
    printf("# %d requests: %zu kB in use, %lld kB resident; %d: %zu kB, %lld kB\n", FIRST,
           used / 1024, (long long)kept, requests, used_now / 1024, (long long)kept_now);
    CHECK(used_now <= used + 64 * 1024);
    CHECK(kept_now <= kept + KEPT_MAX);
    CHECK(requests > FIRST && answered > requests);
    workspace_close(&ws);
    fresh_done(&folder);
}

TAP_MAIN(T(many_requests_take_the_memory_of_a_few), )
