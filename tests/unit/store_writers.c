/* Many processes on one database: no entry is lost, none is there twice, nobody sees an error. */
#include "base/status.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 8, EACH = 40 };

static struct fresh folder;
static char         path[300];
static struct arena a;
static struct err   e;

static void fresh(void)
{
    folder = fresh_folder();
    snprintf(path, sizeof path, "%s/log.db", folder.path);
}

static void clean(void)
{
    fresh_done(&folder);
    arena_free(&a);
}

/* Append one entry, after the head as this writer last saw it when `careful`. */
static enum status append(struct store *s, int writer, int i, bool careful)
{
    char              id[32];
    struct store_head h;

    snprintf(id, sizeof id, "w%d-%d", writer, i);
    struct entry n = {
        .kind = SV("note"), .id = sv_of(id), .op_id = sv_of(id), .payload = SV("{}")
    };
    for (;;) {
        if (careful && store_head(s, SV("t"), &h, &e))
            return e.code;
        if (store_begin(s, STORE_WRITE, &e))
            return e.code;
        enum status st = store_append(s, SV("t"), careful ? h.rev : STORE_ANY_REV, &n, 1, &h, &e);
        if (!st)
            return store_commit(s, &e);
        store_abort(s);
        if (st != ST_CONFLICT || strcmp(e.reason, "rev") != 0)
            return st;
    }
}

static int work(int writer)
{
    struct store *s;

    if (store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e))
        goto fail;
    for (int i = 0; i < EACH; i++)
        if (append(s, writer, i, writer % 2))
            goto fail;
    store_close(s);
    return 0;
fail:
    printf("# writer %d: %s\n", writer, e.text);
    fflush(stdout);
    return 1;
}

static void run_writers(void)
{
    pid_t pids[WRITERS];
    int   status;

    fflush(stdout);
    for (int w = 0; w < WRITERS; w++) {
        pids[w] = fork();
        if (pids[w] == 0)
            _exit(work(w));
    }
    for (int w = 0; w < WRITERS; w++) {
        CHECK(waitpid(pids[w], &status, 0) == pids[w]);
        CHECK_INT(status, 0);
    }
}

static void eight_processes_lose_nothing(void)
{
    struct store      *s = NULL;
    struct store_scan *scan = NULL;
    struct hash        chain = { 0 };
    struct entry       n;
    bool               more = true;
    int                next[WRITERS] = { 0 }, writer, i;
    int64_t            seq = 0;

    fresh(); /* no file yet: they also make it at the same time */
    run_writers();
    CHECK(store_open(sv_of(path), &(struct store_options){ 0 }, &s, &e) == ST_OK);
    CHECK(store_scan(s, &(struct store_query){ .thread = SV("t"), .to = STORE_TO_END }, &scan,
                     &e) == ST_OK);
    while (store_next(scan, &n, &more, &e) == ST_OK && more) {
        struct hash want = entry_chain(&n, &chain);
        CHECK(hash_eq(&want, &n.chain));
        chain = n.chain;
        CHECK_INT(n.seq, seq++);
        CHECK(sscanf(sv_cstr(n.id, &a), "w%d-%d", &writer, &i) == 2);
        CHECK_INT(i, next[writer]++); /* each writer's in its own order */
    }
    store_scan_close(scan);
    store_close(s);
    CHECK_INT(seq, WRITERS * EACH);
    clean();
}

static void eight_processes_may_make_the_file_at_once(void)
{
    for (int round = 0; round < 10; round++) {
        pid_t pids[WRITERS];
        int   status;
        fresh();
        fflush(stdout);
        for (int w = 0; w < WRITERS; w++) {
            pids[w] = fork();
            if (pids[w] == 0) {
                struct store *s;
                if (store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e)) {
                    printf("# %s\n", e.text);
                    fflush(stdout);
                    _exit(1);
                }
                _exit(append(s, w, 0, false) != ST_OK);
            }
        }
        for (int w = 0; w < WRITERS; w++) {
            CHECK(waitpid(pids[w], &status, 0) == pids[w]);
            CHECK_INT(status, 0);
        }
        struct store     *s = NULL;
        struct store_head h;
        CHECK(store_open(sv_of(path), &(struct store_options){ 0 }, &s, &e) == ST_OK);
        CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
        CHECK_INT(h.rev, WRITERS);
        store_close(s);
        clean();
    }
}

TAP_MAIN(T(eight_processes_lose_nothing), T(eight_processes_may_make_the_file_at_once), )
