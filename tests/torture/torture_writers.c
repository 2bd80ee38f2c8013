/* Writers that are killed in the middle of their work.
 *
 *     torture_writers FOLDER|URL ROUNDS [SEED]
 *
 * In each round several processes write to one log: single entries, batches, large payloads,
 * context operations. Each tells the parent through a pipe what was acknowledged to it, and is
 * killed with SIGKILL at a random moment. Then everything that was acknowledged must be there,
 * once, at the seq that was given; no batch may be there in part; and now and then, and at
 * the end, the chain of every thread must verify, every view must rebuild and the engine must
 * find its file whole. Speaks TAP. */
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/op.h"

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 4, THREADS = 3, BATCH_MAX = 20, CHECK_EVERY = 100 };

static const struct view *const views[] = { &thread_view, NULL };
static char                     path[4096];
static uint64_t                 kill_within_us = 40000;
static uint64_t                 state = 1;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

/* What a writer was told is durable: entries first .. first + n - 1 of a thread, made by the
 * action `id`. Small enough to go through a pipe in one piece. */
struct ack {
    char    id[40];
    int     thread, n;
    int64_t first;
};

static struct sv thread_of(int i)
{
    static const struct sv names[THREADS] = { SV_STATIC("alpha"), SV_STATIC("beta"),
                                              SV_STATIC(".global") };

    return names[i];
}

/* ---- a writer ------------------------------------------------------------------------ */

struct writer {
    struct log   log;
    struct arena a;
    int          number, pipe;
    long         round, action;
};

static void tell(struct writer *w, const struct ack *ack)
{
    if (write(w->pipe, ack, sizeof *ack) != sizeof *ack)
        _exit(3);
}

/* {"content":"ID/i of n xxx…","role":"user"} */
static struct sv payload(struct writer *w, const char *id, int i, int n, size_t size)
{
    struct sb b = sb_in(&w->a, 0);

    sb_addf(&b, "{\"content\":\"%s/%d of %d ", id, i, n);
    sb_pad(&b, (char)('a' + draw(26)), size);
    sb_adds(&b, "\",\"role\":\"user\"}");
    return sb_sv(&b);
}

/* Append n entries in one transaction; only the first carries the op_id. */
static enum status write_entries(struct writer *w, struct ack *ack, size_t size, struct err *e)
{
    struct entry     *list = ARENA_NEW(&w->a, struct entry, (size_t)ack->n);
    struct store_head h;
    struct sv         thread = thread_of(ack->thread);

    for (int i = 0; i < ack->n; i++)
        list[i] = (struct entry){ .at = w->round,
                                  .kind = SV("ai_message"),
                                  .lane = draw(4) ? SV("default") : SV("side"),
                                  .payload = payload(w, ack->id, i, ack->n, size) };
    list[0].op_id = sv_of(ack->id);
    if (log_begin(&w->log, thread, STORE_WRITE, e))
        return err_code(e);
    if (log_append(&w->log, thread, LOG_ANY_REV, list, (size_t)ack->n, &h, e) ||
        log_commit(&w->log, e)) {
        log_abort(&w->log);
        return err_code(e);
    }
    ack->first = h.rev - ack->n;
    return ST_OK;
}

static enum status write_operation(struct writer *w, struct ack *ack, struct err *e)
{
    struct op        op = { .thread = thread_of(ack->thread), .op_id = sv_of(ack->id), .at = 1 };
    struct op_result r;

    op.type = (enum op_type)draw(3);
    if (op.type == OP_REPLACE)
        op.context = SV("{\"messages\":[],\"system_prompt\":\"again\"}");
    op.lane = op.type == OP_FORK ? sv_of(ack->id) : draw(2) ? SV("default") : SV("side");
    op.from = op.type == OP_FORK ? SV("default") : (struct sv){ 0 };
    op.from_seq = OP_AT_HEAD;
    if (op_apply(&w->log, &op, &w->a, &r, e))
        return err_code(e);
    ack->first = r.seq;
    return ST_OK;
}

static enum status act(struct writer *w, struct err *e)
{
    struct ack ack = { .thread = (int)draw(THREADS), .n = 1 };
    uint64_t   kind = draw(100);

    snprintf(ack.id, sizeof ack.id, "r%ld-w%d-%ld", w->round, w->number, w->action++);
    enum status s;
    if (kind < 20) {
        s = write_operation(w, &ack, e);
        if (s == ST_NOT_FOUND) /* no lane to work on yet: nothing was written */
            return ST_OK;
    } else {
        ack.n = kind < 60 ? 1 : 1 + (int)draw(BATCH_MAX);
        s = write_entries(w, &ack, kind > 95 ? 60000 : draw(900), e);
    }
    if (!s)
        tell(w, &ack);
    arena_free(&w->a);
    return s;
}

/* Write until killed. */
static void writer_main(int number, long round, int pipe)
{
    struct writer w = { .number = number, .round = round, .pipe = pipe };
    struct store *s;
    struct err    e;

    state ^= (uint64_t)(number + 1) * 0x9e3779b97f4a7c15u;
    if (store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e))
        goto fail;
    w.log = log_of(s, views);
    while (act(&w, &e) == ST_OK)
        ;
fail:
    printf("# writer %d: %s\n", number, e.text);
    fflush(stdout);
    _exit(2);
}

/* ---- the parent ------------------------------------------------------------------------ */

struct seen {
    struct arena a;
    VEC(struct ack) acks; /* all of them, of all rounds */
};

static void read_acks(struct seen *seen, int fd)
{
    struct ack ack;
    ssize_t    n;

    while ((n = read(fd, &ack, sizeof ack)) == sizeof ack)
        *vec_push(&seen->acks, &seen->a) = ack;
    if (n > 0)
        FAIL("half an acknowledgement came through the pipe");
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Start the writers, take down what they say, kill each when its time has come. */
static void run_round(struct seen *seen, long round)
{
    int     fds[2], status;
    pid_t   pids[WRITERS];
    int64_t from = now_us(), until[WRITERS];

    CHECK(pipe2(fds, O_CLOEXEC) == 0);
    fflush(stdout);
    for (int w = 0; w < WRITERS; w++) {
        until[w] = from + (int64_t)draw(kill_within_us);
        pids[w] = fork();
        if (pids[w] == 0) {
            close(fds[0]);
            writer_main(w, round, fds[1]);
        }
    }
    close(fds[1]);
    for (int left = WRITERS; left > 0;) {
        for (int w = 0; w < WRITERS; w++)
            if (pids[w] && now_us() >= until[w]) {
                kill(pids[w], SIGKILL);
                CHECK(waitpid(pids[w], &status, 0) == pids[w]);
                CHECK(WIFSIGNALED(status)); /* else it gave up by itself */
                pids[w] = 0;
                left--;
            }
        struct pollfd p = { fds[0], POLLIN, 0 };
        struct ack    ack;
        if (left && poll(&p, 1, 1) > 0 && read(fds[0], &ack, sizeof ack) == sizeof ack)
            *vec_push(&seen->acks, &seen->a) = ack;
    }
    read_acks(seen, fds[0]);
    close(fds[0]);
}

static struct store *open_log(void)
{
    struct store *s = NULL;
    struct err    e;

    if (store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e))
        errx(1, "%s", e.text);
    return s;
}

/* Every acknowledged action since `from` is where it was said to be. */
static void check_acks(const struct seen *seen, size_t from)
{
    struct store *s = open_log();
    struct arena  a = { 0 };
    struct err    e;

    for (size_t i = from; i < seen->acks.n; i++) {
        const struct ack *k = &seen->acks.v[i];
        struct entry      n = { 0 };
        bool              found = false;
        CHECK(store_find_op(s, thread_of(k->thread), sv_of(k->id), &a, &n, &found, &e) == ST_OK);
        CHECK(found);
        CHECK_INT(n.seq, k->first);
        if (!found)
            printf("# lost: %s in " SV_FMT "\n", k->id, SV_ARG(thread_of(k->thread)));
        arena_free(&a);
    }
    store_close(s);
}

/* Batches are whole: "ID/i of n" is followed by "ID/i+1 of n", up to the last. */
struct batch {
    char id[64];
    int  next, n;
};

static void check_batch(struct batch *b, const struct entry *n)
{
    char id[64] = "";
    int  i = 0, of = 0;

    if (!sv_is(n->kind, "ai_message")) {
        CHECK(b->next == b->n);
        return;
    }
    struct arena a = { 0 };
    int got = sscanf(sv_cstr(n->payload, &a), "{\"content\":\"%63[^/]/%d of %d ", id, &i, &of);
    CHECK_INT(got, 3);
    arena_free(&a);
    if (b->next == b->n) /* a new one begins */
        *b = (struct batch){ .n = of };
    if (!b->next)
        memcpy(b->id, id, sizeof id);
    CHECK(strcmp(b->id, id) == 0);
    CHECK_INT(i, b->next++);
}

/* Each op_id of a thread once, each batch whole, and the acknowledged ones among them. */
static void check_thread(const struct seen *seen, struct store *s, int thread, int64_t *entries)
{
    struct store_query q = { .thread = thread_of(thread), .to = STORE_TO_END };
    struct store_scan *scan = NULL;
    struct arena       a = { 0 };
    struct map         ids = map_in(&a);
    struct batch       b = { 0 };
    struct entry       n;
    struct err         e;
    bool               more = true;

    CHECK(store_scan(s, &q, &scan, &e) == ST_OK);
    while (store_next(scan, &n, &more, &e) == ST_OK && more) {
        CHECK_INT(n.seq, *entries);
        ++*entries;
        check_batch(&b, &n);
        if (n.op_id.s) {
            CHECK(!map_has(&ids, n.op_id));
            map_put(&ids, n.op_id, &ids);
        }
    }
    CHECK(!more);
    CHECK_INT(b.next, b.n);
    store_scan_close(scan);
    for (size_t i = 0; i < seen->acks.n; i++)
        if (seen->acks.v[i].thread == thread)
            CHECK(map_has(&ids, sv_of(seen->acks.v[i].id)));
    arena_free(&a);
}

static void complain(void *ctx, struct sv what)
{
    (void)ctx;
    FAIL("a complaint");
    printf("# " SV_FMT "\n", SV_ARG(what));
}

static int64_t check_all(const struct seen *seen)
{
    struct store *s = open_log();
    struct log    l = log_of(s, views);
    struct err    e;
    int64_t       total = 0;

    CHECK(store_check(s, complain, NULL, &e) == ST_OK);
    for (int i = 0; i < THREADS; i++) {
        int64_t           entries = 0, verified = 0;
        struct store_head h;
        CHECK(store_head(s, thread_of(i), &h, &e) == ST_OK);
        check_thread(seen, s, i, &entries);
        CHECK_INT(entries, h.rev);
        if (h.rev)
            CHECK(log_verify(&l, thread_of(i), complain, NULL, &verified, &e) == ST_OK);
        CHECK_INT(verified, entries);
        total += entries;
    }
    store_close(s);
    return total;
}

int main(int argc, char **argv)
{
    struct seen seen = { 0 };
    long        rounds = argc > 2 ? atol(argv[2]) : 0;
    int64_t     entries = 0;

    if (rounds < 1)
        errx(1, "usage: torture_writers FOLDER|URL ROUNDS [SEED]");
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)now_us();
    state = seed * 2654435761u + 88172645463325252u;
    bool url = strstr(argv[1], "://") != NULL;
    snprintf(path, sizeof path, "%s%s", argv[1], url ? "" : "/torture.db");
    if (url) { /* connecting takes time, and the tables are made before anybody is killed */
        kill_within_us = 300000;
        (void)check_all(&seen);
    }
    printf("# seed %llu\n", (unsigned long long)seed);
    for (long r = 1; r <= rounds && !tap_failures; r++) {
        size_t before = seen.acks.n;
        run_round(&seen, r);
        check_acks(&seen, before);
        if (r % CHECK_EVERY == 0 || r == rounds) {
            entries = check_all(&seen);
            fprintf(stderr, "# round %ld: %zu acknowledged, %lld entries\n", r, seen.acks.n,
                    (long long)entries);
        }
    }
    CHECK(seen.acks.n > 0); /* else nothing was tested */
    printf("%sok 1 - %ld rounds of %d writers killed: %zu acknowledged actions are there once, "
           "%lld entries verify\n1..1\n",
           tap_failures ? "not " : "", rounds, WRITERS, seen.acks.n, (long long)entries);
    arena_free(&seen.a);
    return tap_failures > 0;
}
