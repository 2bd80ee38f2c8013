/* Groups of transactions when a call of the store fails: all of the group is there, or none. */
#include "fresh.h"
#include "store/store_internal.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena a;
static struct err   e;

static enum status append(struct store *s, struct sv thread)
{
    struct entry      one = { .at = 7, .kind = SV("note"), .payload = SV("{}") };
    struct store_head h;

    if (store_begin(s, STORE_WRITE, &e))
        return e.code;
    if (store_append(s, thread, STORE_ANY_REV, &one, 1, &h, &e) || store_commit(s, &e)) {
        store_abort(s);
        return e.code;
    }
    return ST_OK;
}

static int64_t rev_of(struct store *s, struct sv thread)
{
    struct store_head h = { .rev = -1 };

    CHECK(store_head(s, thread, &h, &e) == ST_OK);
    return h.rev;
}

/* A group of three, in which the second part is undone. */
static enum status run_group(struct store *s, int *kept)
{
    struct entry      one = { .at = 7, .kind = SV("note"), .payload = SV("{}") };
    struct store_head h;

    *kept = 0;
    if (store_group_begin(s, &e))
        return e.code;
    *kept += append(s, SV("t")) == ST_OK;
    if (!store_begin(s, STORE_WRITE, &e))
        (void)!store_append(s, SV("undone"), 0, &one, 1, &h, &e);
    store_abort(s);
    *kept += append(s, SV("t")) == ST_OK;
    return store_group_end(s, &e);
}

static void check_every_fault(const char *url)
{
    enum status st = ST_IO;

    for (int64_t k = 1; st && k < 100; k++) {
        struct store *s = NULL;
        int           kept;
        CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
        int64_t before = rev_of(s, SV("t"));
        fault_arm(s, k);
        st = run_group(s, &kept);
        fault_arm(s, 0);
        CHECK_INT(rev_of(s, SV("t")), st ? before : before + kept);
        CHECK_INT(rev_of(s, SV("undone")), 0);
        CHECK(append(s, SV("t")) == ST_OK); /* the store can be used all the same */
        store_close(s);
    }
    CHECK(!st);
}

static void a_group_is_there_whole_or_not_at_all_whichever_call_fails(void)
{
    struct fresh f = fresh_folder();
    struct sb    b = sb_in(&a, 0);

    sb_addf(&b, "fault:0:sqlite:%s/g.db", f.path);
    check_every_fault(sb_sv(&b).s);
    check_every_fault("fault:0:mem:groups");
    const char *server = getenv("HEDDLE_TEST_POSTGRES");
    if (server && *server) {
        b.n = 0;
        sb_addf(&b, "fault:0:%s&partitions=0&schema=groups_%d", server, (int)getpid());
        check_every_fault(sb_sv(&b).s);
    }
    fresh_done(&f);
    arena_free(&a);
}

TAP_MAIN(T(a_group_is_there_whole_or_not_at_all_whichever_call_fails), )
