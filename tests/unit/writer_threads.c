/* The writer: requests of many callers, committed together. Also run under ThreadSanitizer. */
#include "api/crew.h"
#include "api/writer.h"
#include "fresh.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern const struct operation op_log_append;

static struct workspace ws;
static struct fresh     folder;

static void open_workspace(const char *store_url)
{
    struct err e;

    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ws.store_url = sv_of(store_url);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
}

/* The server of the tests, with a log of its own; NULL: there is none. */
static const char *server_url(void)
{
    static char url[400];
    static int  n;
    const char *server = getenv("HEDDLE_TEST_POSTGRES");

    if (!server || !*server)
        return NULL;
    snprintf(url, sizeof url, "%s&partitions=0&schema=writer_%d_%d", server, (int)getpid(), ++n);
    return url;
}

static void close_workspace(void)
{
    workspace_close(&ws);
    fresh_done(&folder);
}

/* Groups end where the tests want it, not when a busy machine has used up their time. */
enum { UNHURRIED_US = 600 * 1000 * 1000 };

/* One append: {"thread":…,"expect":…,"entries":[one message]}. */
struct append {
    struct writer_job job;
    struct arena      a;
    struct json       doc;
    pthread_mutex_t  *lock;
    pthread_cond_t   *moved;
    bool              done;
    bool              waits; /* done() waits until the caller lets it go on */
    atomic_bool      *go;
    int               tries; /* how often it was begun */
};

static void prepare(struct writer_job *job, struct request *r)
{
    struct append *x = (struct append *)(void *)job;

    pthread_mutex_lock(x->lock);
    x->tries++;
    pthread_cond_broadcast(x->moved);
    pthread_mutex_unlock(x->lock);
    r->actor = SV("ana");
}

static void done(struct writer_job *job)
{
    struct append *x = (struct append *)(void *)job;

    pthread_mutex_lock(x->lock);
    x->done = true;
    pthread_cond_broadcast(x->moved);
    while (x->waits && !atomic_load(x->go))
        pthread_cond_wait(x->moved, x->lock);
    pthread_mutex_unlock(x->lock);
}

static void make(struct append *x, const char *params, pthread_mutex_t *lock, pthread_cond_t *moved)
{
    struct err e;
    void      *into;

    *x = (struct append){ .lock = lock, .moved = moved };
    into = params_init(op_log_append.params, op_log_append.params_size, &x->a);
    CHECK(json_parse(sv_of(params), 0, &x->a, &x->doc, &e) == ST_OK);
    CHECK(params_read(op_log_append.params, &x->doc, into, &x->a, &e) == ST_OK);
    x->job = (struct writer_job){
        .op = &op_log_append, .params = into, .a = &x->a, .prepare = prepare, .done = done
    };
}

static void await(struct append *x)
{
    pthread_mutex_lock(x->lock);
    while (!x->done)
        pthread_cond_wait(x->moved, x->lock);
    pthread_mutex_unlock(x->lock);
}

static int64_t rev_of(struct sv thread)
{
    struct store     *store;
    struct store_head h = { .rev = -1 };
    struct err        e;

    if (workspace_take(&ws, STORE_READ, &store, &e))
        return e.code == ST_NOT_FOUND ? 0 : -1;
    CHECK(store_head(store, thread, &h, &e) == ST_OK);
    workspace_give(&ws, store, STORE_READ);
    return h.rev;
}

#define MESSAGE "[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"x\"}}]"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  moved = PTHREAD_COND_INITIALIZER;

/* Put all of list[1..n) while the writer is held up by list[0], so that they are one group. */
static void run_as_group(struct group_writer *w, struct append *list, size_t n)
{
    atomic_bool go = false;

    list[0].waits = true;
    list[0].go = &go;
    CHECK(writer_put(w, &list[0].job));
    await(&list[0]);
    for (size_t i = 1; i < n; i++)
        CHECK(writer_put(w, &list[i].job));
    pthread_mutex_lock(&lock);
    atomic_store(&go, true);
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
    for (size_t i = 1; i < n; i++)
        await(&list[i]);
}

static void check_group(const char *url)
{
    enum { N = 5 };
    struct append list[N];

    open_workspace(url);
    struct group_writer *w = writer_open(&ws, UNHURRIED_US);
    make(&list[0], "{\"thread\":\"first\",\"entries\":" MESSAGE "}", &lock, &moved);
    make(&list[1], "{\"thread\":\"t\",\"entries\":" MESSAGE "}", &lock, &moved);
    make(&list[2], "{\"thread\":\"t\",\"expect\":7,\"entries\":" MESSAGE "}", &lock, &moved);
    make(&list[3], "{\"thread\":\"t\",\"expect\":1,\"entries\":" MESSAGE "}", &lock, &moved);
    make(&list[4], "{\"thread\":\"../t\",\"entries\":" MESSAGE "}", &lock, &moved);
    run_as_group(w, list, N);
    struct writer_counts n = writer_counts(w);
    writer_close(w);
    CHECK_INT(n.groups, 2);
    CHECK_INT(n.largest, 4);
    CHECK_INT(n.alone, 0);
    CHECK(list[1].job.status == ST_OK);
    CHECK(list[2].job.status == ST_CONFLICT && sv_is(sv_of(list[2].job.e.reason), "rev"));
    CHECK(list[3].job.status == ST_OK);
    CHECK(list[4].job.status == ST_INVALID_SYNTAX);
    CHECK_SV(request_document(&list[3].job.r), SV("{\"first_seq\":1,\"last_seq\":1,\"rev\":2}"));
    CHECK_INT(rev_of(SV("t")), 2);
    for (size_t i = 0; i < N; i++)
        arena_free(&list[i].a);
    close_workspace();
}

static void what_waits_is_one_group_and_a_conflict_is_its_own(void)
{
    check_group("");
    if (server_url())
        check_group(server_url());
}

/* Where threads are locked one by one: a request whose thread another writer has is run again by
 * itself, and waits for that writer; the others are not touched by it. */
struct holder {
    struct store     *store;
    struct store_head head;
    struct append    *waiting; /* the request for the thread that is held */
};

/* Let go when the request is begun for the second time: by then the group has passed it over. */
static void *let_go_later(void *ctx)
{
    struct holder *x = ctx;
    struct err     e;

    pthread_mutex_lock(&lock);
    while (x->waiting->tries < 2)
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    CHECK(store_commit(x->store, &e) == ST_OK);
    return NULL;
}

static void a_request_for_a_busy_thread_is_run_by_itself(void)
{
    enum { N = 4 };
    struct append list[N];
    struct entry  one = { .at = 7, .kind = SV("note"), .payload = SV("{}") };
    struct holder x = { 0 };
    struct err    e;
    pthread_t     id;
    const char   *url = server_url();

    if (!url)
        return;
    open_workspace(url);
    struct group_writer *w = writer_open(&ws, UNHURRIED_US);
    for (size_t i = 0; i < N; i++)
        make(&list[i],
             i == 0   ? "{\"thread\":\"first\",\"entries\":" MESSAGE "}"
             : i == 2 ? "{\"thread\":\"busy\",\"entries\":" MESSAGE "}"
                      : "{\"thread\":\"t\",\"entries\":" MESSAGE "}",
             &lock, &moved);
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &x.store, &e) == ST_OK);
    CHECK(store_begin_on(x.store, STORE_WRITE, SV("busy"), &e) == ST_OK);
    CHECK(store_append(x.store, SV("busy"), 0, &one, 1, &x.head, &e) == ST_OK);
    x.waiting = &list[2];
    CHECK(pthread_create(&id, NULL, let_go_later, &x) == 0);
    run_as_group(w, list, N);
    pthread_join(id, NULL);
    CHECK_INT(writer_counts(w).alone, 1);
    writer_close(w);
    for (size_t i = 0; i < N; i++) {
        CHECK(list[i].job.status == ST_OK);
        arena_free(&list[i].a);
    }
    CHECK_INT(rev_of(SV("t")), 2);
    CHECK_INT(rev_of(SV("busy")), 2);
    store_close(x.store);
    close_workspace();
}

/* What was acknowledged is there, and what was refused is not, whichever call of the store fails;
 * one failure of the engine does not fail the whole group. */
static bool check_fault(int64_t k)
{
    enum { N = 4 };
    struct append list[N];
    char          url[64];
    int64_t       acknowledged = 0;

    snprintf(url, sizeof url, "fault:%lld:mem:writer%lld", (long long)k, (long long)k);
    open_workspace(url);
    struct group_writer *w = writer_open(&ws, UNHURRIED_US);
    for (size_t i = 0; i < N; i++)
        make(&list[i],
             i ? "{\"thread\":\"t\",\"entries\":" MESSAGE "}"
               : "{\"thread\":\"first\",\"entries\":" MESSAGE "}",
             &lock, &moved);
    run_as_group(w, list, N);
    for (size_t i = 1; i < N; i++)
        acknowledged += list[i].job.status == ST_OK;
    bool hit = writer_counts(w).alone > 0;
    for (size_t i = 0; i < N; i++)
        hit = hit || list[i].job.status;
    writer_close(w);
    for (size_t i = 0; i < N; i++)
        arena_free(&list[i].a);
    close_workspace();
    open_workspace(strstr(url, "mem:")); /* the log itself, without faults */
    CHECK_INT(rev_of(SV("t")), acknowledged);
    close_workspace();
    return hit;
}

static void no_failing_call_loses_what_was_acknowledged(void)
{
    int64_t k = 1;

    while (check_fault(k) && k < 200)
        k++;
    CHECK(k > 10 && k < 200);
}

/* ---- many callers ---------------------------------------------------------------------- */

enum { CALLERS = 8, EACH = 40 };

static void *call_often(void *ctx)
{
    struct group_writer *w = ctx;
    pthread_mutex_t      mine = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t       mine_moved = PTHREAD_COND_INITIALIZER;

    for (int i = 0; i < EACH; i++) {
        struct append x;
        make(&x, "{\"thread\":\"t\",\"entries\":" MESSAGE "}", &mine, &mine_moved);
        CHECK(writer_put(w, &x.job));
        await(&x);
        CHECK(x.job.status == ST_OK);
        arena_free(&x.a);
    }
    return NULL;
}

static void check_many(const char *url)
{
    pthread_t id[CALLERS];

    open_workspace(url);
    struct group_writer *w = writer_open(&ws, UNHURRIED_US);
    for (int i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&id[i], NULL, call_often, w) == 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(id[i], NULL);
    struct writer_counts n = writer_counts(w);
    writer_close(w);
    CHECK_INT(n.jobs, CALLERS * EACH);
    CHECK(n.groups < n.jobs);
    CHECK_INT(rev_of(SV("t")), CALLERS * EACH);
    close_workspace();
}

static void many_callers_are_all_written(void)
{
    check_many("");
    if (server_url())
        check_many(server_url());
}

/* ---- the crew ---------------------------------------------------------------------------- */

struct work {
    struct crew_job job;
    atomic_int     *n, *held;
};

static void count(struct crew_job *job)
{
    struct work *x = (struct work *)(void *)job;

    atomic_fetch_add(x->n, 1);
    while (x->held && atomic_load(x->held))
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

static void a_crew_runs_every_job_it_took_and_refuses_when_it_is_full(void)
{
    enum { N = 300 };
    static struct work list[N];
    atomic_int         n = 0, held = 1;
    struct crew       *crew = crew_open(3, 3, 4);
    int                taken = 0;

    for (int i = 0; i < 20; i++) {
        list[i] = (struct work){ .job.run = count, .n = &n, .held = &held };
        taken += crew_run(crew, &list[i].job);
    }
    CHECK_INT(taken, 7); /* three run, four wait */
    CHECK_INT(crew_counts(crew).threads, 3);
    atomic_store(&held, 0);
    crew_close(crew);
    CHECK_INT(n, 7);
    crew = crew_open(2, 4, N);
    n = 0;
    for (int i = 0; i < N; i++) {
        list[i] = (struct work){ .job.run = count, .n = &n };
        CHECK(crew_run(crew, &list[i].job));
    }
    crew_close(crew);
    CHECK_INT(n, N);
}

/* Two that never end by themselves, in a crew where one runs as a rule: the others still run. */
static void what_takes_long_holds_up_nobody(void)
{
    enum { N = 50 };
    static struct work list[N], held_up[2];
    atomic_int         n = 0, begun = 0, held = 1;
    struct crew       *crew = crew_open(1, 3, N);

    for (int i = 0; i < 2; i++) {
        held_up[i] = (struct work){ .job.run = count, .n = &begun, .held = &held };
        CHECK(crew_run(crew, &held_up[i].job));
    }
    for (int i = 0; i < N; i++) {
        list[i] = (struct work){ .job.run = count, .n = &n };
        CHECK(crew_run(crew, &list[i].job));
    }
    while (atomic_load(&n) < N || atomic_load(&begun) < 2)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    CHECK(crew_counts(crew).threads <= 3);
    atomic_store(&held, 0);
    crew_close(crew);
}

static pthread_key_t held_for_thread;
static atomic_int    destroyed;

static void destroy_late(void *value)
{
    (void)value;
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    atomic_fetch_add(&destroyed, 1);
}

static void hold_for_thread(struct crew_job *job)
{
    struct work *x = (struct work *)(void *)job;

    pthread_setspecific(held_for_thread, x);
    atomic_fetch_add(x->n, 1);
    while (atomic_load(x->n) < 4) /* each of them on a thread of its own */
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* What a library keeps for a thread is destroyed when the thread ends: later than its last job. */
static void a_closed_crew_has_no_thread_left(void)
{
    struct work  list[4];
    atomic_int   n = 0;
    struct crew *crew = crew_open(4, 4, 0);

    CHECK(pthread_key_create(&held_for_thread, destroy_late) == 0);
    for (int i = 0; i < 4; i++) {
        list[i] = (struct work){ .job.run = hold_for_thread, .n = &n };
        CHECK(crew_run(crew, &list[i].job));
    }
    crew_close(crew);
    CHECK_INT(atomic_load(&destroyed), 4);
    pthread_key_delete(held_for_thread);
}

TAP_MAIN(T(what_waits_is_one_group_and_a_conflict_is_its_own),
         T(a_request_for_a_busy_thread_is_run_by_itself),
         T(no_failing_call_loses_what_was_acknowledged), T(many_callers_are_all_written),
         T(a_crew_runs_every_job_it_took_and_refuses_when_it_is_full),
         T(what_takes_long_holds_up_nobody), T(a_closed_crew_has_no_thread_left), )
