/* Power cuts at every write.
 *
 *     torture_power DIRECTORY ROUNDS [SEED [ONE_IN]]
 *
 * In each round a new log is written to: single entries, batches, large payloads, context
 * operations, an erasure, a compaction. After each write, truncation, deletion and sync that the
 * engine asks for, one of the states in which a disk may be found after a power cut at that moment
 * is written out (tests/power_vfs.h). Then each of these states must open, with everything that had
 * been acknowledged by then, each batch whole or absent, what was erased still erased, the chain of
 * every thread right and the engine content with its file.
 *
 * With ONE_IN only about one in so many cuts is looked at.
 *
 * At the end the same is done on a disk that does not keep its word (a sync does nothing). There
 * entries must be missed: if they were not, the test could not fail. Speaks TAP. */
#include "base/vec.h"
#include "power_vfs.h"
#include "store/store.h"
#include "tap.h"
#include "thread/erase.h"
#include "thread/lane.h"
#include "thread/op.h"

#include <time.h>

enum { ACTIONS = 8, BATCH_MAX = 12, LIES = 20 };
static const struct view *const views[] = { &thread_view, NULL };
static uint64_t                 one_in = 1;

/* An action that was acknowledged: n entries from `first` on. */
struct ack {
    char    id[32];
    int64_t first, n;
};

/* A state that the disk may be found in, and what had been acknowledged when the cut came. */
struct image {
    char    path[600];
    size_t  acks;
    int64_t erased;   /* this entry is; -1: none */
    int64_t at_least; /* entries */
};

struct round {
    struct arena a;
    const char  *dir;
    struct log   log;
    VEC(struct ack) acks;
    VEC(struct image) images;
    int64_t rev, erased;
    bool    quiet;                 /* losses are counted, not complained about */
    int64_t losses, checked, hurt; /* findings, cuts, cuts with findings */
};

#define THREAD SV("work")

/* ---- writing ------------------------------------------------------------------------------- */

static void take_image(void *ctx)
{
    struct round *r = ctx;

    if (power_draw(one_in))
        return;
    struct image *i = vec_push(&r->images, &r->a);

    *i = (struct image){ .acks = r->acks.n, .erased = r->erased, .at_least = r->rev };
    snprintf(i->path, sizeof i->path, "%s/cut-%zu.db", r->dir, r->images.n);
    CHECK(power_image((enum power_loss)power_draw(POWER_LOSSES), i->path));
}

static enum status append(struct round *r, struct ack *ack, size_t size, struct err *e)
{
    struct entry     *list = ARENA_NEW(&r->a, struct entry, (size_t)ack->n);
    struct store_head h;

    for (int64_t i = 0; i < ack->n; i++) {
        struct sb b = sb_in(&r->a, 0);
        sb_addf(&b, "{\"content\":\"%s/%lld of %lld ", ack->id, (long long)i, (long long)ack->n);
        sb_pad(&b, 'x', size);
        sb_adds(&b, "\",\"role\":\"user\"}");
        list[i] = (struct entry){
            .at = 1, .kind = SV("ai_message"), .lane = SV("default"), .payload = sb_sv(&b)
        };
    }
    list[0].op_id = sv_of(ack->id);
    if (log_begin(&r->log, THREAD, STORE_WRITE, e) ||
        log_append(&r->log, THREAD, LOG_ANY_REV, list, (size_t)ack->n, &h, e) ||
        log_commit(&r->log, e))
        return err_code(e);
    ack->first = h.rev - ack->n;
    return ST_OK;
}

static enum status replace(struct round *r, struct ack *ack, struct err *e)
{
    struct op op = { .thread = THREAD, .op_id = sv_of(ack->id), .at = 1, .type = OP_REPLACE };
    struct op_result result;

    op.context = SV("{\"messages\":[],\"system_prompt\":\"again\"}");
    op.lane = SV("default");
    op.from_seq = OP_AT_HEAD;
    if (op_apply(&r->log, &op, &r->a, &result, e))
        return err_code(e);
    ack->first = result.seq;
    return ST_OK;
}

/* The first entry goes; the files of the engine are written anew. */
static enum status erase(struct round *r, struct ack *ack, struct err *e)
{
    int64_t           seq = 0;
    struct erase_what what = { .thread = THREAD, .seqs = &seq, .n_seqs = 1 };
    struct erase_how  how = {
         .reason = SV("test"), .actor = SV("t"), .at = 1, .with_derived = true
    };
    struct erase_plan plan;

    how.op_id = sv_of(ack->id);
    if (log_begin(&r->log, THREAD, STORE_WRITE, e) || erase_find(&r->log, &what, &r->a, &plan, e) ||
        erase_run(&r->log, &plan, &how, &ack->first, e) || log_commit(&r->log, e))
        return err_code(e);
    r->erased = 0;
    return store_scrub(r->log.store, NULL, NULL, e);
}

static enum status act(struct round *r, int number, struct err *e)
{
    struct ack  ack = { .n = 1 };
    uint64_t    kind = power_draw(100);
    enum status s;

    snprintf(ack.id, sizeof ack.id, "a%d", number);
    if (kind < 8)
        return store_compact(r->log.store, e);
    if (kind < 20 && r->acks.n) {
        s = replace(r, &ack, e);
    } else if (kind < 28 && r->acks.n && r->erased < 0) {
        s = erase(r, &ack, e);
    } else {
        ack.n = kind < 60 ? 1 : 1 + (int64_t)power_draw(BATCH_MAX);
        s = append(r, &ack, kind > 95 ? 60000 : power_draw(900), e);
    }
    if (s)
        return s;
    r->rev = ack.first + ack.n;
    *vec_push(&r->acks, &r->a) = ack;
    return ST_OK;
}

static void remove_files(const char *database)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char path[620];
        snprintf(path, sizeof path, "%s%s", database, suffixes[i]);
        unlink(path);
    }
}

static void write_round(struct round *r)
{
    char          path[600];
    struct store *s = NULL;
    struct err    e = { 0 };

    snprintf(path, sizeof path, "%s/live.db", r->dir);
    remove_files(path); /* of a run that was killed */
    power_reset();
    power.cut = take_image;
    power.ctx = r;
    enum status st = store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e);
    r->log = log_of(s, views);
    for (int i = 0; i < ACTIONS && !st; i++)
        st = act(r, i, &e);
    if (st) {
        FAIL("an action failed");
        printf("# %s\n", e.text);
    }
    store_close(r->log.store);
    power.cut = NULL;
    remove_files(path);
}

/* ---- looking at what is left ---------------------------------------------------------------- */

struct looking {
    struct round       *r;
    const struct image *image;
};

static void lost(struct looking *l, const char *what, struct sv more)
{
    l->r->losses++;
    if (l->r->quiet)
        return;
    FAIL("lost after a power cut");
    printf("# %s: %s " SV_FMT "\n", l->image->path, what, SV_ARG(more));
}

static void complain(void *ctx, struct sv what)
{
    lost(ctx, "verify:", what);
}

/* Every acknowledged action is where it was said to be, and the last one present is whole. */
static void look_for_acks(struct looking *l, struct store *s, int64_t rev, struct arena *a)
{
    const struct round *r = l->r;
    bool                whole = rev == 0;
    struct err          e;

    for (size_t i = 0; i < r->acks.n; i++) {
        const struct ack *k = &r->acks.v[i];
        struct entry      n;
        bool              found = false;
        if (store_find_op(s, THREAD, sv_of(k->id), a, &n, &found, &e))
            lost(l, "find:", sv_of(e.text));
        if (i < l->image->acks && (!found || n.seq != k->first))
            lost(l, "an acknowledged action is missing:", sv_of(k->id));
        whole = whole || (found && k->first + k->n == rev);
    }
    if (!whole)
        lost(l, "part of a batch is there", SV(""));
    if (rev < l->image->at_least)
        lost(l, "the log is shorter than was acknowledged", SV(""));
}

static void look_for_erased(struct looking *l, struct store *s, struct arena *a)
{
    struct store_query q = { .thread = THREAD, .to = 0 };
    struct entry       n;
    bool               found;
    struct err         e;

    if (l->image->erased < 0)
        return;
    if (store_first(s, &q, a, &n, &found, &e) || !found || !n.erased)
        lost(l, "what was erased is back", SV(""));
}

static void look(struct round *r, const struct image *image)
{
    struct looking    l = { r, image };
    struct store_head h = { 0 };
    struct store     *s = NULL;
    struct arena      a = { 0 };
    struct err        e = { 0 };
    int64_t           entries, before = r->losses;

    r->checked++;
    if (store_open(sv_of(image->path), &(struct store_options){ .create = true }, &s, &e) ||
        store_check(s, complain, &l, &e) || store_head(s, THREAD, &h, &e)) {
        lost(&l, "open:", sv_of(e.text));
    } else {
        struct log log = log_of(s, views);
        look_for_acks(&l, s, h.rev, &a);
        look_for_erased(&l, s, &a);
        if (h.rev && log_verify(&log, THREAD, complain, &l, &entries, &e))
            lost(&l, "verify:", sv_of(e.text));
        s = log.store;
    }
    store_close(s);
    arena_free(&a);
    r->hurt += r->losses > before;
}

static void run_round(struct round *r)
{
    *r = (struct round){ .dir = r->dir,
                         .quiet = r->quiet,
                         .losses = r->losses,
                         .checked = r->checked,
                         .hurt = r->hurt,
                         .erased = -1 };
    write_round(r);
    for (size_t i = 0; i < r->images.n; i++) {
        look(r, &r->images.v[i]);
        remove_files(r->images.v[i].path);
    }
    arena_free(&r->a);
}

int main(int argc, char **argv)
{
    struct round r = { .dir = argv[1] };
    long         rounds = argc > 2 ? atol(argv[2]) : 0;
    uint64_t     seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);

    if (rounds < 1 || (argc > 4 && atol(argv[4]) < 1))
        return fprintf(stderr, "usage: torture_power DIRECTORY ROUNDS [SEED [ONE_IN]]\n"), 2;
    if (argc > 4)
        one_in = strtoull(argv[4], NULL, 10);
    power.state = seed * 2654435761u + 88172645463325252u;
    printf("# seed %llu\n", (unsigned long long)seed);
    power_install();
    for (long i = 1; i <= rounds && !tap_failures; i++) {
        run_round(&r);
        if (i % 100 == 0)
            fprintf(stderr, "# round %ld: %lld power cuts\n", i, (long long)r.checked);
    }
    printf("%sok 1 - %ld rounds, %lld power cuts: nothing acknowledged is lost\n",
           tap_failures ? "not " : "", rounds, (long long)r.checked);
    int failed = tap_failures;
    r = (struct round){ .dir = argv[1], .quiet = true };
    power.syncs = false;
    for (int i = 0; i < LIES && !r.hurt; i++)
        run_round(&r);
    CHECK(r.hurt > 0);
    printf("%sok 2 - on a disk whose syncs do nothing, %lld of %lld cuts lose something\n1..2\n",
           tap_failures > failed ? "not " : "", (long long)r.hurt, (long long)r.checked);
    return tap_failures > 0;
}
