/* Operations of the loom over a store that fails: an answer tells just what was kept. */
#include "api/request.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"
#include "thread/scan.h"

static struct workspace ws;
static struct err       e;

static void open_workspace(const struct fresh *folder, const char *store)
{
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder->path);
    ws.root_fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ws.store_url = sv_of(store);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
}

static enum status call(const char *name, struct request *r, const char *text)
{
    const struct operation *op = operation_find(sv_of(name));
    struct json             doc;
    void                   *params = params_init(op->params, op->params_size, r->a);

    if (json_parse(sv_of(text), 0, r->a, &doc, &e) ||
        params_read(op->params, &doc, params, r->a, &e))
        return err_code(&e);
    return operation_run(op, r, params, &e);
}

/* How many entries of a kind the thread has. */
static size_t entries(struct request *r, const char *kind)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = SV("t"), .to = STORE_TO_END };
    struct entry                           n;
    bool                                   more = true;
    size_t                                 count = 0;

    CHECK(request_log(r, STORE_READ, &e) == ST_OK);
    CHECK(log_begin(&r->log, SV("t"), STORE_READ, &e) == ST_OK);
    CHECK(log_scan(&r->log, &q, &scan, &e) == ST_OK);
    while (more && log_scan_next(scan, &n, &more, &e) == ST_OK && more)
        count += sv_is(n.kind, kind);
    return count;
}

struct told {
    enum status status, verdict;
    size_t      nodes, results, done;
};

static struct told run_turn(const struct fresh *folder, const char *store)
{
    struct arena   a = { 0 };
    struct request r;
    struct told    t = { 0 };
    struct json    doc;

    open_workspace(folder, store);
    request_init(&r, &ws, &a);
    t.status = call("loom.do", &r,
                    "{\"thread\":\"t\",\"lines\":\"Prose.\\n→ bookmark here\\n→ path\\n→ view "
                    "here\\n→ find \\\"prose\\\"\\n\"}");
    if (!t.status) {
        CHECK(json_parse(request_document(&r), 0, &a, &doc, &e) == ST_OK);
        t.nodes = json_text(&doc, "node").n > 0;
        t.results = json_find(&doc, "results")->n;
        for (size_t i = 0; i < t.results; i++)
            t.done += json_truth(json_find(&json_find(&doc, "results")->items[i], "ok"));
        t.verdict = r.verdict.code;
    }
    request_end(&r);
    workspace_close(&ws);
    arena_free(&a);
    return t;
}

static void check_kept(const struct fresh *folder, const char *store, const struct told *t)
{
    struct arena   a = { 0 };
    struct request r;

    open_workspace(folder, store);
    request_init(&r, &ws, &a);
    CHECK_INT(entries(&r, "ai_message"), t->nodes);
    request_end(&r);
    request_init(&r, &ws, &a);
    CHECK_INT(entries(&r, "tool_action"), t->results);
    request_end(&r);
    workspace_close(&ws);
    arena_free(&a);
}

static void a_turn_that_fails_answers_with_what_was_kept(void)
{
    struct fresh folder = fresh_folder();
    size_t       partly = 0, whole = 0;

    /* A call may be one whose failure does not matter: several in a row are the end. */
    for (int k = 1; whole < 20 && k < 2000; k++) {
        char plain[64], faulty[96];
        snprintf(plain, sizeof plain, "mem:turn-%d", k);
        snprintf(faulty, sizeof faulty, "fault:%d:%s", k, plain);
        struct store *keeper; /* keeps what is in memory while nobody has it open */
        CHECK(store_open(sv_of(plain), &(struct store_options){ .create = true }, &keeper, &e) ==
              ST_OK);
        struct told t = run_turn(&folder, faulty);
        check_kept(&folder, plain, &t);
        partly += t.verdict != ST_OK;
        whole = !t.status && !t.verdict && t.done == 4 ? whole + 1 : 0;
        store_close(keeper);
    }
    CHECK(whole == 20 && partly > 10);
    fresh_done(&folder);
}

TAP_MAIN(T(a_turn_that_fails_answers_with_what_was_kept), )
