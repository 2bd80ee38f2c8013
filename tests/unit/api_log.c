/* Operations of the log in one process: memory, faults, followers. */
#include "api/log/entry_doc.h"
#include "api/request.h"
#include "fresh.h"
#include "tap.h"

#include <malloc.h>
#include <pthread.h>

extern const struct operation op_log_append, op_log_follow;

static struct workspace ws;
static struct err       e;

/* A workspace in a fresh directory, with a log there or where `store` says. */
static void open_workspace(const struct fresh *folder, const char *store)
{
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder->path);
    ws.root_fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ws.store_url = sv_of(store);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
}

/* Call an operation with parameters as JSON. */
static enum status call(const struct operation *op, struct request *r, const char *text,
                        struct err *why)
{
    struct json doc;
    void       *params = params_init(op->params, op->params_size, r->a);

    if (json_parse(sv_of(text), 0, r->a, &doc, why) ||
        params_read(op->params, &doc, params, r->a, why))
        return err_code(why);
    return operation_run(op, r, params, why);
}

static enum status append(const char *text)
{
    struct arena   a = { 0 };
    struct request r;
    struct err     why; /* of this thread of execution */

    request_init(&r, &ws, &a);
    enum status s = call(&op_log_append, &r, text, &why);
    request_end(&r);
    arena_free(&a);
    return s;
}

/* ---- append, each ---------------------------------------------------------------------- */

enum { LINES = 100000, FIRST = 1000 };

struct acks {
    int64_t n, refused;
    size_t  at_first, at_last; /* bytes in use */
};

static enum status count_ack(void *ctx, struct sv document, struct err *e_)
{
    struct acks *x = ctx;

    (void)e_;
    x->refused += sv_find(document, SV("\"error\"")) >= 0;
    if (++x->n == FIRST)
        x->at_first = mallinfo2().uordblks;
    if (x->n == LINES)
        x->at_last = mallinfo2().uordblks;
    return ST_OK;
}

/* One line is new, the others are the same again, or no entries at all. */
static int line_file(const struct fresh *folder)
{
    struct arena a = { 0 };
    struct sb    path = sb_in(&a, 0);

    sb_addf(&path, "%s/lines", folder->path);
    int       fd = open(sb_sv(&path).s, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct sb out = sb_to_fd(fd, &a);
    for (int i = 0; i < LINES; i++)
        if (i % 10 == 9)
            sb_addf(&out, "{\"kind\":\"note\",\"number\":%d}\n", i);
        else
            sb_adds(&out, "{\"kind\":\"note\",\"op_id\":\"x\",\"payload\":{\"text\":\"same\"}}\n");
    CHECK(sb_flush(&out, &e) == ST_OK);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    arena_free(&a);
    return fd;
}

static void every_line_takes_the_memory_of_one(void)
{
    struct fresh   folder = fresh_folder();
    struct arena   a = { 0 };
    struct acks    acks = { 0 };
    struct request r;
    int            fd = line_file(&folder);

    open_workspace(&folder, "mem:each");
    request_init(&r, &ws, &a);
    struct lines in = lines_of(fd, 1 << 20, &a);
    r.in = &in;
    r.event = count_ack;
    r.event_ctx = &acks;
    CHECK(call(&op_log_append, &r, "{\"thread\":\"t\",\"each\":true}", &e) == ST_OK);
    CHECK_INT(acks.n, LINES);
    CHECK_INT(acks.refused, LINES / 10);
    CHECK_INT(r.verdict.code, ST_INVALID_SYNTAX);
    CHECK(acks.at_last <= acks.at_first + 4096);
    CHECK_SV(request_document(&r),
             SV("{\"rev\":1,\"appended\":1,\"duplicates\":89999,\"refused\":10000}"));
    request_end(&r);
    close(fd);
    arena_free(&a);
    workspace_close(&ws);
    fresh_done(&folder);
}

/* ---- follow ---------------------------------------------------------------------------- */

struct watcher {
    int64_t     n, want;
    atomic_bool stop;
};

static enum status count_entry(void *ctx, struct sv document, struct err *e_)
{
    struct watcher *w = ctx;

    (void)e_;
    CHECK(sv_find(document, SV("\"kind\":\"note\"")) >= 0);
    if (++w->n == w->want)
        w->stop = true;
    return ST_OK;
}

static enum status follow(struct watcher *w, const char *params)
{
    struct arena   a = { 0 };
    struct request r;

    request_init(&r, &ws, &a);
    r.event = count_entry;
    r.event_ctx = w;
    r.cancel = &w->stop;
    enum status s = call(&op_log_follow, &r, params, &e);
    request_end(&r);
    arena_free(&a);
    return s;
}

static void *write_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++)
        CHECK(append(i % 2 ? "{\"thread\":\"a\",\"entries\":[{\"kind\":\"note\",\"payload\":{}}]}"
                           : "{\"thread\":\"b\",\"entries\":[{\"kind\":\"note\",\"payload\":{}},"
                             "{\"kind\":\"note\",\"payload\":{}}]}") == ST_OK);
    return NULL;
}

static void a_follower_sees_what_another_thread_writes(void)
{
    static const char *const stores[] = { "", "mem:follow" };

    for (size_t i = 0; i < COUNT(stores); i++) {
        struct fresh   folder = fresh_folder();
        struct watcher w = { .want = 30 };
        pthread_t      writer;
        open_workspace(&folder, stores[i]);
        CHECK(append("{\"thread\":\"a\",\"entries\":[]}") == ST_OK); /* so that there is a log */
        CHECK(pthread_create(&writer, NULL, write_some, NULL) == 0);
        CHECK(follow(&w, "{\"from\":[\"0\"]}") == ST_OK);
        pthread_join(writer, NULL);
        CHECK_INT(w.n, 30);
        workspace_close(&ws);
        fresh_done(&folder);
    }
}

/* Whichever call of the store fails, following ends with that error or with all entries. */
static void a_follower_survives_a_store_that_fails(void)
{
    bool failed = true;

    for (int k = 1; failed; k++) {
        struct fresh   folder = fresh_folder();
        struct watcher w = { .want = 30 };
        char           url[64];
        open_workspace(&folder, "mem:faulty");
        if (k == 1)
            write_some(NULL);
        workspace_close(&ws);
        snprintf(url, sizeof url, "fault:%d:mem:faulty", k);
        open_workspace(&folder, url);
        enum status s = follow(&w, "{\"from\":[\"0\"]}");
        failed = s != ST_OK;
        CHECK(s == ST_IO || (s == ST_OK && w.n == 30));
        workspace_close(&ws);
        fresh_done(&folder);
        if (k > 1000)
            CHECK(false && "it never ends");
    }
}

/* ---- text ------------------------------------------------------------------------------ */

static struct sv shown(const char *entry, size_t width, struct arena *a)
{
    struct sb   out = sb_in(a, 0);
    struct term t = { .out = &out, .a = a, .width = width };
    struct json doc;

    CHECK(json_parse(sv_of(entry), JSON_KEEP_ORDER, a, &doc, &e) == ST_OK);
    entry_print(&doc, &t);
    return sb_sv(&out);
}

static void a_line_ends_where_the_terminal_ends(void)
{
    struct arena      a = { 0 };
    static const char text[] = "{\"kind\":\"ai_message\",\"lane\":\"default\",\"payload\":{"
                               "\"role\":\"user\",\"content\":\"1234567890\"},\"seq\":7}";
    static const char wide[] = "{\"kind\":\"ai_message\",\"lane\":null,\"payload\":{"
                               "\"role\":\"user\",\"content\":\"漢字漢字漢字\"},\"seq\":7}";
    static const char odd[] = "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":"
                              "\"a\\u0000b\\u202e\"},\"seq\":0}";
    static const char bare[] = "{\"kind\":\"ai_message\",\"payload\":{},\"seq\":0}";

    CHECK_SV(shown(text, 0, &a), SV("#7 user  1234567890\n"));
    CHECK_SV(shown(text, 19, &a), SV("#7 user  1234567890\n"));
    CHECK_SV(shown(text, 18, &a), SV("#7 user  12345678…\n"));
    CHECK_SV(shown(text, 1, &a), SV("…\n"));
    CHECK_SV(shown(wide, 16, &a), SV("#7 user  漢字漢…\n"));
    CHECK_SV(shown(odd, 0, &a), SV("#0 user  a\\x00b\\u202e\n"));
    CHECK_SV(shown(bare, 0, &a), SV("#0 ai_message  {}\n"));
    arena_free(&a);
}

TAP_MAIN(T(a_line_ends_where_the_terminal_ends), T(every_line_takes_the_memory_of_one),
         T(a_follower_sees_what_another_thread_writes), T(a_follower_survives_a_store_that_fails), )
