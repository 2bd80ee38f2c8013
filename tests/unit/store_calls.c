/* How often common operations ask the store, on a thread of about thirty entries: what a store
 * across a network would have to answer one after another. Counted by the fault store, never by
 * time. */
#include "api/request.h"
#include "fresh.h"
#include "share/operation.h"
#include "store/store_internal.h"
#include "tap.h"

extern const struct operation op_log_append, op_loom_say, op_loom_do, op_project;

static struct workspace ws;
static struct fresh     folder;
static struct err       e;
static char             url[300];

/* What was asked: transactions, answers that somebody waits for, and changes. */
static const char *const counted[] = { "begin",   "head",   "row_get", "rows",    "scan",
                                       "find_op", "insert", "row_put", "row_del", "set_views" };
enum { BEGIN, HEAD, ROW_GET, ROWS, SCAN, FIND_OP, INSERT, PUT, DEL, VIEWS, COUNTED };
_Static_assert(COUNT(counted) == COUNTED, "a name for each");

struct calls {
    int64_t n[COUNTED];
};

static void add_calls(struct calls *c, const struct store *s)
{
    for (size_t i = 0; s && i < COUNTED; i++)
        c->n[i] += fault_calls_of(s, counted[i]);
}

static struct calls calls_of_workspace(void)
{
    struct calls c = { 0 };

    for (size_t i = 0; i < COUNT(ws.idle); i++)
        add_calls(&c, ws.idle[i].store);
    return c;
}

static struct calls since(struct calls before, struct calls now)
{
    for (size_t i = 0; i < COUNTED; i++)
        now.n[i] -= before.n[i];
    return now;
}

static int64_t reads(const struct calls *c)
{
    return c->n[HEAD] + c->n[ROW_GET] + c->n[ROWS] + c->n[SCAN] + c->n[FIND_OP];
}

/* Not more than the table says; what it was is printed when it is. */
static void at_most(const char *what, const struct calls *c, int64_t begins, int64_t heads,
                    int64_t row_gets, int64_t other_reads)
{
    int64_t other = reads(c) - c->n[HEAD] - c->n[ROW_GET];
    bool    fine = c->n[BEGIN] <= begins && c->n[HEAD] <= heads && c->n[ROW_GET] <= row_gets &&
                other <= other_reads;

    printf("# %s: %lld transactions, %lld heads, %lld rows, %lld ranges and op_ids, %lld writes\n",
           what, (long long)c->n[BEGIN], (long long)c->n[HEAD], (long long)c->n[ROW_GET],
           (long long)other, (long long)c->n[INSERT] + c->n[PUT] + c->n[DEL] + c->n[VIEWS]);
    CHECK(fine);
    CHECK(reads(c) > 0); /* else nothing was counted */
}

static void set_up(void)
{
    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    snprintf(url, sizeof url, "fault:0:sqlite:%s/.heddle/heddle.db", folder.path);
    ws.store_url = sv_of(url);
}

static void tear_down(void)
{
    workspace_close(&ws);
    fresh_done(&folder);
}

static struct calls call(const struct operation *op, const char *params_text)
{
    struct arena   a = { 0 };
    struct request r;
    struct json    doc;
    void          *params = params_init(op->params, op->params_size, &a);
    struct calls   before = calls_of_workspace();
    struct sb      out = sb_in(&a, 0);

    request_init(&r, &ws, &a);
    r.out = &out;
    CHECK(json_parse(sv_of(params_text), 0, &a, &doc, &e) == ST_OK);
    CHECK(params_read(op->params, &doc, params, &a, &e) == ST_OK);
    enum status s = operation_run(op, &r, params, &e);
    if (s)
        printf("# %s: %s\n", op->name, e.text);
    CHECK(!s);
    request_end(&r);
    arena_free(&a);
    return since(before, calls_of_workspace());
}

#define MESSAGE "{\"kind\":\"ai_message\",\"payload\":{\"content\":\"one more\",\"role\":\"user\"}}"

static void say_thirty(const char *thread)
{
    char text[160];

    for (int i = 0; i < 30; i++) {
        snprintf(text, sizeof text, "{\"thread\":\"%s\",\"text\":\"message %d\"}", thread, i);
        call(&op_loom_say, text);
    }
}

static void an_append_asks_for_the_head_once(void)
{
    set_up();
    for (int i = 0; i < 30; i++)
        call(&op_log_append, "{\"thread\":\"plain\",\"entries\":[" MESSAGE "]}");
    struct calls c = call(&op_log_append, "{\"thread\":\"plain\",\"entries\":[" MESSAGE "]}");
    at_most("append", &c, 1, 1, 1, 0);
    CHECK_INT(c.n[INSERT], 1);
    c = call(&op_log_append, "{\"thread\":\"plain\",\"entries\":[" MESSAGE "," MESSAGE "," MESSAGE
                             "," MESSAGE "]}");
    at_most("append of four", &c, 1, 1, 1, 0);
    tear_down();
}

/* However many entries it has: what is there is compared in one range, not one by one. */
static void a_repeated_append_asks_for_its_entries_once(void)
{
    static const char four[] = "{\"thread\":\"again\",\"op_id\":\"once\",\"entries\":[" MESSAGE
                               "," MESSAGE "," MESSAGE "," MESSAGE "]}";

    set_up();
    call(&op_log_append, four);
    struct calls c = call(&op_log_append, four);
    at_most("append of four, repeated", &c, 1, 1, 1, 3);
    CHECK_INT(c.n[INSERT], 0);
    tear_down();
}

static void a_tree_asks_for_each_row_once(void)
{
    set_up();
    say_thirty("tree");
    struct calls c = call(&op_log_append, "{\"thread\":\"tree\",\"entries\":[" MESSAGE "]}");
    at_most("append to a tree", &c, 1, 1, 9, 0); /* one row: on which lane its author is */
    c = call(&op_loom_say, "{\"thread\":\"tree\",\"text\":\"and more\"}");
    at_most("say", &c, 2, 2, 13, 1); /* one row: where its author is */
    c = call(&op_loom_do, "{\"thread\":\"tree\",\"lines\":\"\xe2\x86\x92 view here\\n\"}");
    /* It reads beside writers, and leaves its trace afterwards; the end of its turn looks at
     * results and pins. Who answered a person says which company may summarise the node. */
    at_most("view", &c, 3, 3, 9, 5);
    tear_down();
}

static void a_projection_asks_for_what_it_shows(void)
{
    set_up();
    say_thirty("tree");
    struct calls c = call(&op_project, "{\"thread\":\"tree\"}");
    at_most("project", &c, 1, 1, 3, 2); /* rows: where you are, your lane, whether it has marks */
    CHECK_INT(c.n[INSERT] + c.n[PUT] + c.n[DEL] + c.n[VIEWS], 0);
    tear_down();
}

static void spawning_asks_for_each_row_once(void)
{
    struct arena         a = { 0 };
    struct store        *store;
    struct store_options o = { .create = true };
    struct share         s;
    struct share_thread  made;
    struct calls         before = { 0 }, after = { 0 };

    set_up();
    CHECK(store_open(ws.store_url, &o, &store, &e) == ST_OK);
    struct log log = log_of(store, workspace_views);
    for (int i = 0; i < 30; i++) {
        char id[24];
        snprintf(id, sizeof id, "worker-%d", i);
        struct spawn_request q = { .id = sv_of(id), .objective = SV("goal"), .intent = SV("work") };
        before = (struct calls){ 0 };
        add_calls(&before, store);
        share_init(&s, &log, ws.root_fd, SV("user"), &a);
        CHECK(share_begin(&s, STORE_WRITE, &e) == ST_OK);
        struct sv goal;
        if (!i)
            CHECK(share_objective_create(
                      &s, &(struct objective_request){ .title = SV("A goal"), .id = SV("goal") },
                      &goal, &e) == ST_OK);
        CHECK(share_spawn(&s, &q, &made, &e) == ST_OK && share_commit(&s, &e) == ST_OK);
        share_end(&s);
    }
    add_calls(&after, store);
    struct calls c = since(before, after);
    at_most("spawn", &c, 2, 2, 11, 10); /* one row: was a thread of this id deleted? */
    store_close(store);
    arena_free(&a);
    tear_down();
}

TAP_MAIN(T(an_append_asks_for_the_head_once), T(a_repeated_append_asks_for_its_entries_once),
         T(a_tree_asks_for_each_row_once), T(a_projection_asks_for_what_it_shows),
         T(spawning_asks_for_each_row_once), )
