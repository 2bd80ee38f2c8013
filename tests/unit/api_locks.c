/* Long operations on a long thread, while one process appends to another thread and a third reads:
 * nobody fails, and the number of entries that an operation handles in one write transaction (read,
 * written, erased or dropped) does not grow with the log. Counted by the fault store, never by
 * time. */
#include "api/request.h"
#include "fresh.h"
#include "loom/limits.h"
#include "open_loom.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/limits.h"

#include <poll.h>
#include <sys/wait.h>

#ifdef ARENA_DEBUG
enum { LONG = 9000 };
#else
enum { LONG = 100000 };
#endif

static struct workspace ws;
static struct fresh     folder;
static struct err       e;
static char             url[320], plain_url[300];
static struct arena     kept;
static struct sv        tree; /* of LONG nodes, as a JSON text */

/* clang-format off */
static const struct {
    const char *op, *params; /* %s: the folder, or the text of the tree */
    int64_t     most;     /* entries in one write transaction; the operations without a bound say why */
    enum {
        FINE,
        CONFLICT, /* it may end so: others use the files, which are cleaned later, or write */
        ALONE,    /* it runs while nobody else writes, so that it does not end so */
    } way;
} rows[] = {
    { "workspace.verify",  "{}", 0, FINE },
    { "tree.show",         "{\"thread\":\"long\"}", FOLD_SLICE + 1, FINE },
    { "loom.search",       "{\"query\":\"weft 77\"}", INDEX_SLICE + 1, FINE },
    { "erase",             "{\"thread\":\"long\",\"find\":[\"the secret 8123 of\"],\"dry_run\":true}", 0, FINE },
    { "erase",             "{\"thread\":\"long\",\"find\":[\"the secret 8123 of\"],\"with_derived\":true,\"reason\":\"asked\"}", ERASE_TAIL + FOLD_SLICE, CONFLICT },
    { "erase",             "{\"thread\":\"long\",\"find\":[\"the secret 1\",\"the secret 2\",\"the secret 3\",\"the secret 4\",\"the secret 5\"],"
                           "\"with_derived\":true,\"reason\":\"asked\"}", 3 * ERASE_SLICE + 100, CONFLICT },
    { "tree.show",         "{\"thread\":\"long\"}", FOLD_SLICE + 1, FINE },
    { "loom.search",       "{\"query\":\"weft 78\"}", INDEX_SLICE + 1, FINE },
    { "log.retain",        "{\"keep_days\":1,\"yes\":true}", 3 * FOLD_SLICE + 100, CONFLICT },
    { "workspace.backup",  "{\"file\":\"%s/a.backup\"}", 0, FINE },
    { "workspace.restore", "{\"file\":\"%s/a.backup\",\"force\":true}", FOLD_SLICE, CONFLICT },
    { "workspace.restore", "{\"file\":\"%s/a.backup\",\"force\":true}", FOLD_SLICE, ALONE },
    { "workspace.verify",  "{}", 0, FINE },
    { "log.import",        "{\"thread\":\"imported\"}", FOLD_SLICE, FINE },
    { "log.import",        "{\"thread\":\"imported\"}", 2 * FOLD_SLICE + 1, FINE }, /* each is read and appended */
    { "tree.import",       "{\"thread\":\"tree\",\"text\":%s}", FOLD_SLICE, FINE },
    { "tree.import",       "{\"thread\":\"copy\",\"text\":%s}", FOLD_SLICE, FINE }, /* it has entries */
    { "workspace.verify",  "{}", 0, FINE },
    { "thread.delete",     "{\"thread\":\"long\",\"reason\":\"asked\",\"yes\":true}", FOLD_SLICE, CONFLICT },
    /* SQLite writes the file anew under its lock; nothing is read by us. */
    { "store.compact",     "{}", FOLD_SLICE, CONFLICT },
};
/* clang-format on */

/* ---- the long thread ------------------------------------------------------------------------- */

static void append(struct log *l, struct sv thread, int64_t from, int64_t n)
{
    struct arena      a = { 0 };
    struct store_head h;

    for (int64_t end = from + n; from < end;) {
        size_t        m = end - from < 1000 ? (size_t)(end - from) : 1000;
        struct entry *list = ARENA_NEW(&a, struct entry, m);
        for (size_t i = 0; i < m; i++, from++) {
            struct sb b = sb_in(&a, 0);
            sb_addf(&b, "{\"content\":\"the secret %lld of the weft %lld\",\"role\":\"user\"}",
                    (long long)from, (long long)from % 100);
            list[i] = (struct entry){ .at = 1000, .kind = SV("ai_message"), .payload = sb_sv(&b) };
        }
        CHECK(log_begin(l, thread, STORE_WRITE, &e) == ST_OK);
        CHECK(log_append(l, thread, LOG_ANY_REV, list, m, &h, &e) == ST_OK);
        CHECK(log_commit(l, &e) == ST_OK);
        arena_free(&a);
    }
}

static void note(struct log *l, struct sv thread)
{
    struct entry      n = { .at = 1000, .kind = SV("note"), .payload = SV("{}") };
    struct store_head h;

    CHECK(log_begin(l, thread, STORE_WRITE, &e) == ST_OK);
    CHECK(log_append(l, thread, LOG_ANY_REV, &n, 1, &h, &e) == ST_OK);
    CHECK(log_commit(l, &e) == ST_OK);
}

static struct log opened(struct store **s)
{
    if (store_open(sv_of(plain_url), &(struct store_options){ .create = true }, s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        _exit(2);
    }
    return log_of(*s, workspace_views);
}

static void set_up(void)
{
    struct store *s;

    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    snprintf(plain_url, sizeof plain_url, "sqlite:%s/.heddle/heddle.db", folder.path);
    snprintf(url, sizeof url, "fault:0:%s", plain_url);
    ws.store_url = sv_of(url);
    struct log l = opened(&s);
    append(&l, SV("long"), 0, LONG);
    append(&l, SV("beside"), 0, 1);
    note(&l, SV("copy"));
    store_close(s);
    int   fd = openat(folder.fd, "lines", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    FILE *f = fdopen(fd, "w");
    for (int i = 0; i < LONG; i++)
        fprintf(f, "{\"kind\":\"note\",\"payload\":{\"n\":%d}}\n", i);
    fclose(f);
    struct sb b = sb_in(&kept, 0);
    struct jw w = jw_in(&b, 0);
    jw_str(&w, open_loom_in(&kept, 1, LONG));
    tree = sb_sv(&b);
}

/* ---- the others --------------------------------------------------------------------------------
 */

/* A process that writes, or reads, until it is told to stop; it says on the other one that it has
 * begun. It ends with 0 when nothing failed. */
struct beside {
    pid_t pid;
    int   stop, begun;
};

static bool goes_on(int stop)
{
    struct pollfd p = { .fd = stop, .events = POLLIN };

    return poll(&p, 1, 0) == 0;
}

static int work(bool writes, int stop, int begun)
{
    struct store *s;
    struct log    l = opened(&s);
    int           times = 0;

    do {
        struct entry      n = { .at = 1000, .kind = SV("note"), .payload = SV("{}") };
        struct store_head h;
        if (log_begin(&l, SV("beside"), writes ? STORE_WRITE : STORE_READ, &e) ||
            (writes ? log_append(&l, SV("beside"), LOG_ANY_REV, &n, 1, &h, &e)
                    : log_head(&l, SV("beside"), &h, &e)) ||
            log_commit(&l, &e)) {
            fprintf(stderr, "# %s: %s\n", writes ? "the writer" : "the reader", e.text);
            return 1;
        }
        if (!times++ && write(begun, "x", 1) != 1)
            return 1;
        poll(NULL, 0, 1); /* not all the time */
    } while (goes_on(stop));
    store_close(s);
    return 0;
}

static struct beside start(bool writes)
{
    int           stop[2], begun[2];
    struct beside b = { 0 };
    char          byte;

    if (pipe(stop) != 0 || pipe(begun) != 0)
        exit(1);
    b.pid = fork();
    if (b.pid == 0) {
        close(stop[1]);
        _exit(work(writes, stop[0], begun[1]));
    }
    close(stop[0]);
    close(begun[1]);
    b.stop = stop[1];
    b.begun = begun[0];
    CHECK(read(b.begun, &byte, 1) == 1);
    return b;
}

static void end(struct beside *b, const char *what)
{
    int status = -1;

    CHECK(write(b->stop, "x", 1) == 1); /* the other process has a copy of this end, too */
    CHECK(waitpid(b->pid, &status, 0) == b->pid);
    close(b->stop);
    close(b->begun);
    if (status)
        printf("# beside %s a process failed\n", what);
    CHECK_INT(status, 0);
}

/* ---- the operations ----------------------------------------------------------------------------
 */

static enum status call(const char *name, const char *text)
{
    const struct operation *op = operation_find(sv_of(name));
    struct arena            a = { 0 };
    struct request          r;
    struct json             doc;
    void                   *params = params_init(op->params, op->params_size, &a);
    struct sb               out = sb_in(&a, 0), given = sb_in(&a, 0);
    struct sv_cut           cut = sv_cut(sv_of(text), '%');
    int                     fd = openat(folder.fd, "lines", O_RDONLY | O_CLOEXEC);
    struct lines            in = lines_of(fd, REQUEST_LINE_MAX, &a);

    sb_add(&given, cut.head);
    if (cut.found) {
        sb_add(&given, strcmp(name, "tree.import") == 0 ? tree : sv_of(folder.path));
        sb_add(&given, sv_skip(cut.tail, 1));
    }
    request_init(&r, &ws, &a);
    r.out = &out;
    r.in = &in;
    CHECK(json_parse(sb_sv(&given), 0, &a, &doc, &e) == ST_OK);
    CHECK(params_read(op->params, &doc, params, &a, &e) == ST_OK);
    enum status s = operation_run(op, &r, params, &e);
    if (!s && r.verdict.code) {
        printf("# %s: %s\n", name, r.verdict.text);
        s = r.verdict.code;
    }
    request_end(&r);
    arena_free(&a);
    close(fd);
    return s;
}

static void nobody_waits_for_work_that_grows_with_the_log(void)
{
    set_up();
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t most = 0, locks = 0;
        workspace_close_idle(&ws); /* a child must not have them; and counts begin anew */
        struct beside reader = start(false), writer = start(rows[i].way != ALONE);
        enum status   s = call(rows[i].op, rows[i].params);
        end(&writer, rows[i].op);
        end(&reader, rows[i].op);
        if (s)
            printf("# %s: %s\n", rows[i].op, e.text);
        CHECK(!s || (s == ST_CONFLICT && rows[i].way == CONFLICT));
        for (size_t k = 0; k < COUNT(ws.idle); k++)
            if (ws.idle[k].store) {
                int64_t n = fault_most_in_write(ws.idle[k].store);
                most = n > most ? n : most;
                locks += fault_calls_of(ws.idle[k].store, "begin_write");
            }
        printf("# %s: %lld write transactions, at most %lld entries in one\n", rows[i].op,
               (long long)locks, (long long)most);
        CHECK(most <= rows[i].most);
    }
    workspace_close(&ws);
    fresh_done(&folder);
    arena_free(&kept);
}

TAP_MAIN(T(nobody_waits_for_work_that_grows_with_the_log), )
