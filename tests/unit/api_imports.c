/* Imports of more lines, or of larger trees, than one write transaction takes: whatever fails or is
 * killed in the middle leaves no half thread, and the import repeated puts everything into the log
 * once. */
#include "api/care/staged.h"
#include "api/request.h"
#include "base/rand.h"
#include "fresh.h"
#include "open_loom.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/limits.h"
#include "thread/scan.h"

#include <signal.h>
#include <sys/wait.h>

enum { LINES = 2 * FOLD_SLICE + 300, BEFORE = 3, TREES = 2, NODES = 550 };

/* Trees take long with allocations of their own for each thing; a release build tries each call. */
#ifdef ARENA_DEBUG
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static struct workspace ws;
static struct fresh     folder;
static struct err       e;
static char             url[320], plain_url[300];
static bool             lasts; /* a call that fails is the last one that is tried */

static void write_lines(void)
{
    int   fd = openat(folder.fd, "lines", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fdopen(fd, "w");

    for (int i = 0; i < LINES; i++)
        fprintf(f, "{\"kind\":\"note\",\"payload\":{\"n\":%d}}\n", i);
    fclose(f);
}

static void set_up(bool faults)
{
    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    snprintf(plain_url, sizeof plain_url, "sqlite:%s/.heddle/heddle.db", folder.path);
    snprintf(url, sizeof url, "fault:0:%s", plain_url);
    ws.store_url = sv_of(faults ? url : plain_url);
    write_lines();
}

static void tear_down(void)
{
    workspace_close(&ws);
    fresh_done(&folder);
}

static struct log opened(struct store **s)
{
    CHECK(store_open(sv_of(plain_url), &(struct store_options){ .create = true }, s, &e) == ST_OK);
    return log_of(*s, workspace_views);
}

static int64_t rev_of(struct sv thread)
{
    struct store     *s;
    struct log        l = opened(&s);
    struct store_head h = { 0 };

    CHECK(log_begin(&l, thread, STORE_READ, &e) == ST_OK);
    CHECK(log_head(&l, thread, &h, &e) == ST_OK);
    log_abort(&l);
    store_close(s);
    return h.rev;
}

static void append(struct sv thread, int n)
{
    struct store     *s;
    struct log        l = opened(&s);
    struct store_head h;

    for (int i = 0; i < n; i++) {
        struct entry one = { .at = 1000, .kind = SV("note"), .payload = SV("{\"before\":true}") };
        CHECK(log_begin(&l, thread, STORE_WRITE, &e) == ST_OK);
        CHECK(log_append(&l, thread, LOG_ANY_REV, &one, 1, &h, &e) == ST_OK);
        CHECK(log_commit(&l, &e) == ST_OK);
    }
    store_close(s);
}

/* Is every line in the thread once, in order, behind `before` other entries? */
static void check_whole(struct sv thread, int64_t before)
{
    struct store      *s;
    struct log         l = opened(&s);
    struct arena       a = { 0 };
    struct store_scan *scan = NULL;
    struct store_query q = { .thread = thread, .from = before, .to = STORE_TO_END };
    struct entry       n;
    struct sv         *left = NULL;
    size_t             count = 0;
    bool               more = true;
    int64_t            next = 0, entries;

    CHECK(log_begin(&l, thread, STORE_READ, &e) == ST_OK);
    CHECK(log_scan(&l, &q, &scan, &e) == ST_OK);
    while (!log_scan_next(scan, &n, &more, &e) && more) {
        char want[40];
        snprintf(want, sizeof want, "{\"n\":%lld}", (long long)next++);
        if (!sv_is(n.payload, want))
            CHECK_SV(n.payload, sv_of(want));
    }
    CHECK_INT(next, LINES);
    log_scan_undo(&scan);
    log_abort(&l);
    CHECK(log_verify(&l, thread, NULL, NULL, &entries, &e) == ST_OK);
    CHECK_INT(entries, LINES + before);
    CHECK(log_staged(&l, &a, &left, &count, &e) == ST_OK);
    CHECK_INT(count, 0);
    arena_free(&a);
    store_close(s);
}

static struct store *idle_store(void)
{
    for (size_t k = 0; k < COUNT(ws.idle); k++)
        if (ws.idle[k].store && !ws.idle[k].read_only)
            return ws.idle[k].store;
    return NULL;
}

static int64_t told; /* calls of the following */

static void progress(void *ctx, const char *what, int64_t done, int64_t total)
{
    (void)ctx;
    (void)what;
    told++;
    CHECK(!total || done <= total);
}

static void killed(void)
{
    kill(getpid(), SIGKILL);
}

/* `at`: the call of the store that fails (-at: that the process is killed in); 0: none. *calls: how
 * many it has had. */
static enum status run(const char *name, struct sv text, int64_t at, int64_t *calls,
                       struct sv *answer, struct arena *kept)
{
    const struct operation *op = operation_find(sv_of(name));
    struct arena            a = { 0 };
    struct request          r;
    struct json             doc;
    void                   *params = params_init(op->params, op->params_size, &a);
    struct sb               out = sb_in(&a, 0);
    int                     fd = openat(folder.fd, "lines", O_RDONLY | O_CLOEXEC);
    struct lines            in = lines_of(fd, REQUEST_LINE_MAX, &a);
    struct store           *s;

    if (calls) { /* one that is idle is taken again */
        CHECK(workspace_take(&ws, STORE_WRITE, &s, &e) == ST_OK);
        workspace_give(&ws, s, STORE_WRITE);
        (lasts ? fault_break : fault_arm)(idle_store(), at < 0 ? -at : at);
        fault_then(idle_store(), at < 0 ? killed : NULL);
    }
    request_init(&r, &ws, &a);
    r.out = &out;
    r.in = &in;
    r.progress = progress;
    CHECK(json_parse(text, 0, &a, &doc, &e) == ST_OK);
    CHECK(params_read(op->params, &doc, params, &a, &e) == ST_OK);
    enum status st = operation_run(op, &r, params, &e);
    request_end(&r);
    if (st && !at)
        printf("# %s\n", e.text);
    if (calls)
        *calls = idle_store() ? fault_calls(idle_store()) : 0;
    if (answer)
        *answer = sv_dup(sb_sv(&out), kept);
    arena_free(&a);
    close(fd);
    workspace_close_idle(&ws);
    return st;
}

static enum status import(const char *thread, int64_t at, int64_t *calls)
{
    char text[80];

    snprintf(text, sizeof text, "{\"thread\":\"%s\"}", thread);
    return run("log.import", sv_of(text), at, calls, NULL, NULL);
}

/* Some calls, and each of the last ones (or each of `step`): those in which it becomes visible. */
static int64_t next_call(int64_t k, int64_t all, int64_t last, int64_t step)
{
    int64_t far = k + all / 8, end = all - last;

    return k < 4 || k >= end ? k + step : far < end ? far : end;
}

static void an_import_that_fails_anywhere_is_repeated(bool behind)
{
    int64_t calls = 0, all, before = behind ? BEFORE : 0, failed = 0, partly = 0;

    set_up(true);
    if (behind)
        append(SV("t"), BEFORE);
    CHECK(import("t", 0, &all) == ST_OK);
    check_whole(SV("t"), before);
    tear_down();
    for (int64_t k = 1; k <= all; k = next_call(k, all, 24, 1)) {
        set_up(true);
        append(behind ? SV("t") : SV("other"), BEFORE);
        enum status s = import("t", k, &calls);
        int64_t     rev = rev_of(SV("t"));
        failed += s != ST_OK;
        partly += rev != before && rev != before + LINES;
        CHECK(behind || rev == 0 || rev == LINES);
        ws.store_url = sv_of(plain_url);
        if (s && rev < before + LINES)
            CHECK(import("t", 0, NULL) == ST_OK);
        else
            CHECK(import("u", 0, NULL) == ST_OK); /* drops what could not be dropped */
        check_whole(SV("t"), before);
        tear_down();
    }
    printf("# %lld calls; %lld imports failed, %lld of them behind a part\n", (long long)all,
           (long long)failed, (long long)partly);
    CHECK(failed > 10 && (partly > 0) == behind);
}

static void an_import_of_a_new_thread_is_there_as_a_whole_or_not_at_all(void)
{
    an_import_that_fails_anywhere_is_repeated(false);
}

static void an_import_behind_other_entries_is_ended_by_the_next(void)
{
    an_import_that_fails_anywhere_is_repeated(true);
}

static void what_cannot_be_dropped_is_told_of(void)
{
    int64_t calls = 0;

    set_up(true);
    CHECK(import("t", 0, &calls) == ST_OK);
    tear_down();
    set_up(true);
    lasts = true;
    CHECK(import("t", calls / 2, &calls) == ST_IO);
    lasts = false;
    CHECK(strstr(e.hint, "`heddle doctor --fix` removes it") != NULL);
    CHECK_INT(rev_of(SV("t")), 0);
    ws.store_url = sv_of(plain_url);
    CHECK(import("t", 0, NULL) == ST_OK);
    check_whole(SV("t"), 0);
    tear_down();
}

/* An import that goes behind others says at which revision it ended, also when others wrote between
 * its slices. */
static void what_others_append_between_two_slices_is_counted(void)
{
    enum { N = FOLD_SLICE + 5 };
    static struct entry list[N];
    struct sv           id = SV(STORE_STAGED "abcdefabcdef-0");
    struct log_stage    g = { .into = SV("t"), .lines = SV("x"), .first = BEFORE, .moved = -1 };
    struct store_head   h;
    struct store       *s;
    struct log          l;
    int64_t             erased = 0;

    set_up(false);
    append(SV("t"), BEFORE);
    l = opened(&s);
    for (int i = 0; i < N; i++)
        list[i] = (struct entry){ .at = 1000, .kind = SV("note"), .payload = SV("{}") };
    g.at = g.first;
    g.end = g.first + N;
    log_allow_staged(&l, true);
    CHECK(log_begin(&l, (struct sv){ 0 }, STORE_WRITE, &e) == ST_OK);
    CHECK(log_head(&l, SV("t"), &h, &e) == ST_OK);
    log_stage_after(&l, id, &h);
    CHECK(log_import(&l, id, list, N, &h, NULL, NULL, &e) == ST_OK);
    CHECK(log_stage_decide(&l, id, &g, &e) == ST_OK);
    CHECK(log_stage_slice(&l, id, &g, &erased, &e) == ST_OK);
    CHECK(log_commit(&l, &e) == ST_OK);
    CHECK_INT(g.rev, BEFORE + FOLD_SLICE);
    append(SV("t"), 1);
    CHECK(log_stage_move(&l, id, &g, &erased, &e) == ST_OK);
    store_close(s);
    CHECK_INT(g.moved, BEFORE);
    CHECK_INT(g.rev, BEFORE + N + 1);
    CHECK_INT(rev_of(SV("t")), g.rev);
    tear_down();
}

#define SMALL "{\"text\":\"{\\\"text\\\":\\\"a\\\"}\",\"thread\":\"u\"}"

/* ---- trees ------------------------------------------------------------------------------------
 */

/* The parameters of tree.import: two trees for the threads t and t-2, once. */
static struct sv trees(struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "op_id", SV("these"));
    jw_kstr(&w, "text", open_loom_in(a, TREES, NODES));
    jw_kstr(&w, "thread", SV("t"));
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* Entries of the two threads; -1: one of them is there and the other is not. */
static int64_t rev_of_trees(int64_t before)
{
    int64_t one = rev_of(SV("t")), other = rev_of(SV("t-2"));

    CHECK(one - before == other || (one == before && !other));
    return one - before == other ? other : -1;
}

/* Is nothing left of what was staged or dropped, and are the views of both threads right? */
static void check_trees(int64_t before, int64_t entries)
{
    struct store *s;
    struct log    l = opened(&s);
    struct arena  a = { 0 };
    struct sv    *left = NULL;
    size_t        count = 0;
    bool          any = true;
    int64_t       n;

    CHECK(log_verify(&l, SV("t"), NULL, NULL, &n, &e) == ST_OK);
    CHECK_INT(n, before + entries);
    CHECK(log_verify(&l, SV("t-2"), NULL, NULL, &n, &e) == ST_OK);
    CHECK_INT(n, entries);
    CHECK(log_staged(&l, &a, &left, &count, &e) == ST_OK);
    CHECK_INT(count, 0);
    CHECK(store_drop_waits(s, &any, &e) == ST_OK);
    CHECK(!any);
    arena_free(&a);
    store_close(s);
}

/* In a process of its own. True: it was killed. */
static bool import_killed(struct sv params, int64_t at)
{
    int64_t calls;
    int     status = 0;
    pid_t   pid = fork();

    if (pid == 0)
        _exit(run("tree.import", params, -at, &calls, NULL, NULL) != ST_OK);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return status != 0;
}

static void trees_that_fail_anywhere_are_repeated(bool kills, bool behind)
{
    struct arena a = { 0 };
    struct sv    params = trees(&a), first, again;
    int64_t      calls, all, before = behind ? BEFORE : 0, entries, failed = 0, nothing = 0;

    set_up(true);
    append(behind ? SV("t") : SV("other"), BEFORE);
    told = 0;
    rand_seed(SV("trees")); /* each time the same ids, and so the same calls */
    CHECK(run("tree.import", params, 0, &all, &first, &a) == ST_OK);
    CHECK(told >= TREES * NODES / 1000);
    entries = rev_of_trees(before);
    CHECK(entries > NODES);
    check_trees(before, entries);
    tear_down();
    for (int64_t k = 1; k <= all; k = next_call(k, all, behind ? 40 : 24, STEP)) {
        set_up(true);
        append(behind ? SV("t") : SV("other"), BEFORE);
        rand_seed(SV("trees"));
        failed += kills ? import_killed(params, k)
                        : run("tree.import", params, k, &calls, NULL, NULL) != ST_OK;
        int64_t rev = rev_of_trees(before);
        nothing += rev == 0;
        CHECK(rev == 0 || rev == entries);
        ws.store_url = sv_of(plain_url);
        CHECK(run("tree.import", params, 0, NULL, &again, &a) == ST_OK);
        CHECK_SV(again, first);
        CHECK(run("tree.import", SV(SMALL), 0, NULL, NULL, NULL) == ST_OK); /* drops what is left */
        check_trees(before, entries);
        tear_down();
    }
    printf("# %lld calls; %lld imports failed, %lld of them before anything was there\n",
           (long long)all, (long long)failed, (long long)nothing);
    CHECK(failed > 10 && nothing > 10 && (nothing < failed || !kills));
    arena_free(&a);
}

static void trees_are_there_as_a_whole_or_not_at_all(void)
{
    trees_that_fail_anywhere_are_repeated(false, false);
}

static void trees_behind_other_entries_are_there_as_a_whole_or_not_at_all(void)
{
    trees_that_fail_anywhere_are_repeated(false, true);
}

static void an_import_of_trees_that_is_killed_is_repeated(void)
{
    trees_that_fail_anywhere_are_repeated(true, false);
}

static void an_import_of_trees_behind_other_entries_that_is_killed_is_repeated(void)
{
    trees_that_fail_anywhere_are_repeated(true, true);
}

static void nobody_can_name_a_staged_thread(void)
{
    struct store_head h;
    struct store     *s;
    struct log        l;

    set_up(false);
    l = opened(&s);
    CHECK(log_begin(&l, SV("t"), STORE_READ, &e) == ST_OK);
    CHECK(log_head(&l, SV(".staged-abcdefabcdef-0"), &h, &e) == ST_INVALID_SYNTAX);
    log_abort(&l);
    store_close(s);
    tear_down();
}

TAP_MAIN(T(an_import_of_a_new_thread_is_there_as_a_whole_or_not_at_all),
         T(an_import_behind_other_entries_is_ended_by_the_next),
         T(what_cannot_be_dropped_is_told_of), T(what_others_append_between_two_slices_is_counted),
         T(nobody_can_name_a_staged_thread), T(trees_are_there_as_a_whole_or_not_at_all),
         T(trees_behind_other_entries_are_there_as_a_whole_or_not_at_all),
         T(an_import_of_trees_that_is_killed_is_repeated),
         T(an_import_of_trees_behind_other_entries_that_is_killed_is_repeated), )
