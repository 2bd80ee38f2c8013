/* What every store must do, run for each backend. An argument runs only the tests whose
 * "backend: name" holds it. */
#include "base/clock.h"
#include "base/path.h"
#include "base/status.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
static const struct backend {
    const char *name, *url; /* %s becomes a fresh name in the work folder; `postgres` at the end a
                               fresh schema on the server of HEDDLE_TEST_POSTGRES */
} backends[] = {
    { "mem",            "mem:%s" },
    { "sqlite",         "sqlite:%s" },
    { "fault over sqlite", "fault:0:sqlite:%s" },
    { "fault over mem", "fault:0:mem:%s" },
    { "postgres",       "postgres" },
    { "fault over postgres", "fault:0:postgres" },
};
/* clang-format on */

/* Made anew for each test. */
static const struct backend *backend;
static struct fresh          folder;
static char                  url[360], file[300];
static struct arena          a;
static struct err            e;
static struct store         *s;
static const char           *server; /* URL of a database with a parameter in it, or NULL */

static struct store *open_again(int busy_ms)
{
    struct store *other = NULL;

    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true, .busy_ms = busy_ms },
                     &other, &e) == ST_OK);
    return other;
}

static void set_up(void)
{
    static int n;

    snprintf(file, sizeof file, "%s/%d.db", folder.path, ++n);
    if (server && sv_ends(sv_of(backend->url), SV("postgres"))) {
        snprintf(url, sizeof url, "%.*s%s&partitions=2&schema=conform_%d_%d",
                 (int)(strlen(backend->url) - strlen("postgres")), backend->url, server,
                 (int)getpid(), n);
        s = open_again(0);
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(url, sizeof url, backend->url, file);
#pragma GCC diagnostic pop
    s = open_again(0);
}

static void tear_down(void)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    char                     name[330];

    store_close(s);
    arena_free(&a);
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        snprintf(name, sizeof name, "%s%s", file, suffixes[i]);
        unlink(name);
    }
}

static struct entry note(const char *payload)
{
    return (struct entry){ .at = 7, .kind = SV("note"), .payload = sv_of(payload) };
}

static struct entry message(const char *lane, enum entry_mark mark)
{
    return (struct entry){
        .at = 9, .kind = SV("ai_message"), .lane = sv_of(lane), .mark = mark, .payload = SV("{}")
    };
}

/* Append in a transaction of its own. */
static enum status append_to(struct store *to, struct sv thread, int64_t expect, struct entry *list,
                             size_t n)
{
    struct store_head h;

    if (store_begin(to, STORE_WRITE, &e))
        return e.code;
    enum status st = store_append(to, thread, expect, list, n, &h, &e);
    if (st)
        store_abort(to);
    else
        st = store_commit(to, &e);
    return st;
}

static enum status append_one(struct sv thread, struct entry n)
{
    return append_to(s, thread, STORE_ANY_REV, &n, 1);
}

static int64_t rev_of(struct store *from, struct sv thread)
{
    struct store_head h = { .rev = -1 };

    CHECK(store_head(from, thread, &h, &e) == ST_OK);
    return h.rev;
}

/* The seqs a query gives, as "3 2 1". */
static struct sv seqs(struct store *from, const struct store_query *q)
{
    struct store_scan *scan = NULL;
    struct sb          b = sb_in(&a, 0);
    struct entry       n;
    bool               more = true;

    CHECK(store_scan(from, q, &scan, &e) == ST_OK);
    while (scan && store_next(scan, &n, &more, &e) == ST_OK && more) {
        sb_adds(&b, b.n ? " " : "");
        sb_add_int(&b, n.seq);
    }
    CHECK(!more);
    CHECK(store_next(scan, &n, &more, &e) == ST_OK && !more); /* stays at its end */
    store_scan_close(scan);
    return sb_sv(&b);
}

static struct sv seqs_of(struct sv thread, int64_t from, int64_t to, bool backwards)
{
    return seqs(s, &(struct store_query){
                       .thread = thread, .from = from, .to = to, .backwards = backwards });
}

static struct sv lane_seqs(const char *lane, enum entry_mark mark, int64_t from, int64_t to,
                           bool backwards)
{
    return seqs(s, &(struct store_query){ .thread = SV("t"),
                                          .from = from,
                                          .to = to,
                                          .lane = sv_of(lane),
                                          .mark = mark,
                                          .backwards = backwards });
}

static struct entry first_of(struct store *from, struct sv thread, int64_t seq)
{
    struct entry n = { .seq = -1 };
    bool         found = false;

    CHECK(store_first(from, &(struct store_query){ .thread = thread, .from = seq, .to = seq }, &a,
                      &n, &found, &e) == ST_OK);
    CHECK(found);
    return n;
}

/* ---- appending ---------------------------------------------------------------------- */

static void an_unknown_thread_has_rev_0(void)
{
    struct store_head h;

    CHECK(store_head(s, SV("nobody"), &h, &e) == ST_OK);
    CHECK_INT(h.rev, 0);
    CHECK_INT(h.views, 0);
    CHECK(hash_eq(&h.chain, &(struct hash){ 0 }));
    CHECK_SV(seqs_of(SV("nobody"), 0, STORE_TO_END, false), SV(""));
}

static void seqs_are_dense_and_the_store_gives_them(void)
{
    struct entry      three[] = { note("{}"), note("{}"), note("{}") };
    struct store_head h;

    three[1].seq = 99; /* no matter */
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), STORE_ANY_REV, three, 3, &h, &e) == ST_OK);
    CHECK_INT(h.rev, 4);
    CHECK_INT(three[0].seq, 1);
    CHECK_INT(three[2].seq, 3);
    CHECK(hash_eq(&h.chain, &three[2].chain));
    CHECK(store_append(s, SV("u"), STORE_ANY_REV, three, 1, &h, &e) == ST_OK);
    CHECK_INT(three[0].seq, 0);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1 2 3"));
    CHECK_SV(seqs_of(SV("u"), 0, STORE_TO_END, false), SV("0"));
}

static void the_head_knows_first_and_last_time(void)
{
    struct entry      two[] = { note("{}"), note("{}") };
    struct store_head h;

    two[0].at = 500;
    two[1].at = 300; /* clocks go back */
    CHECK(append_to(s, SV("t"), 0, two, 2) == ST_OK);
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK_INT(h.created, 500);
    CHECK_INT(h.updated, 300);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK_INT(h.created, 500);
    CHECK_INT(h.updated, 7);
}

static void an_expected_rev_must_be_the_head(void)
{
    struct entry two[] = { note("{}"), note("{}") };

    CHECK(append_to(s, SV("t"), 1, two, 2) == ST_CONFLICT); /* higher, on nothing */
    CHECK(append_to(s, SV("t"), 0, two, 2) == ST_OK);
    CHECK(append_to(s, SV("t"), 1, two, 2) == ST_CONFLICT); /* lower */
    CHECK_SV(sv_of(e.reason), SV("rev"));
    CHECK(e.hint[0] != 0);
    CHECK(append_to(s, SV("t"), 3, two, 2) == ST_CONFLICT); /* higher */
    CHECK_SV(sv_of(e.reason), SV("rev"));
    CHECK_INT(rev_of(s, SV("t")), 2);
    CHECK(append_to(s, SV("t"), 2, two, 2) == ST_OK); /* equal */
    CHECK_INT(rev_of(s, SV("t")), 4);
}

static void a_batch_is_appended_whole_or_not_at_all(void)
{
    struct entry list[] = { note("{}"), note("{}"), note("{}") };

    list[2].kind = SV("not/a/kind");
    CHECK(append_to(s, SV("t"), 0, list, 3) == ST_INVALID_SYNTAX);
    CHECK(strstr(e.text, "entry 3 of 3") != NULL);
    CHECK_INT(rev_of(s, SV("t")), 0);
    list[2].kind = SV("note");
    list[0].op_id = list[2].op_id = SV("twice");
    CHECK(append_to(s, SV("t"), 0, list, 3) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("op_id"));
    CHECK_INT(rev_of(s, SV("t")), 0);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV(""));
}

static void appending_nothing_is_fine(void)
{
    struct store_head h;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, NULL, 0, &h, &e) == ST_OK);
    CHECK_INT(h.rev, 0);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 0);
}

static void an_aborted_transaction_leaves_nothing(void)
{
    struct entry      one = note("{}");
    struct store_head h;
    struct store_key  k = { SV("t"), SV("v"), SV("k") };
    struct sv         value;
    bool              found;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("old"), &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 5, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    one.op_id = SV("x");
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV("new"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("new"), &e) == ST_OK);
    CHECK(store_set_mark(s, SV("t"), 0, MARK_MESSAGE, &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 6, &e) == ST_OK);
    store_abort(s);
    store_abort(s); /* harmless */

    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK_INT(h.rev, 1);
    CHECK_INT(h.views, 5);
    CHECK_INT(rev_of(s, SV("new")), 0);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("old"));
    CHECK_INT(first_of(s, SV("t"), 0).mark, MARK_NONE);
    CHECK(append_to(s, SV("new"), 0, &one, 1) == ST_OK); /* and can be made after all */
    CHECK(append_to(s, SV("t"), 1, &one, 1) == ST_OK);   /* the op_id is free */
}

static void closing_aborts_what_is_open(void)
{
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    store_close(s);
    s = open_again(0);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    store_close(NULL); /* fine */
}

static void a_transaction_reads_what_it_wrote(void)
{
    struct entry      one = note("{\"mine\":1}"), got = { 0 };
    struct store_head h;
    bool              found = false;

    one.op_id = SV("op");
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK_SV(first_of(s, SV("t"), 0).payload, SV("{\"mine\":1}"));
    CHECK(store_find_op(s, SV("t"), SV("op"), &a, &got, &found, &e) == ST_OK && found);
    CHECK(store_commit(s, &e) == ST_OK);
}

static void one_transaction_may_append_to_several_threads(void)
{
    struct entry         one = note("{}");
    struct store_head    h;
    struct store_thread *list;
    size_t               n;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("b"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV("a"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV("b"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV(".global"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_threads(s, &a, &list, &n, &e) == ST_OK);
    CHECK_INT(n, 3);
    if (n != 3)
        return;
    CHECK_SV(list[0].id, SV(".global"));
    CHECK_SV(list[1].id, SV("a"));
    CHECK_SV(list[2].id, SV("b"));
    CHECK_INT(list[2].head.rev, 2);
    CHECK_INT(list[1].head.created, 7);
}

/* ---- chain and fields --------------------------------------------------------------- */

static void chain_values_are_those_of_the_format(void)
{
    struct entry two[] = { { .at = 5, .kind = SV("note"), .payload = SV("{\"a\":1}") },
                           { .at = 6,
                             .id = SV("n1"),
                             .kind = SV("ai_message"),
                             .lane = SV("default"),
                             .actor = SV("ada"),
                             .op_id = SV("o\"1"),
                             .payload = SV("{\"b\":2}"),
                             .refs = SV("{\"x\":1}") } };

    CHECK(append_to(s, SV("t"), 0, two, 2) == ST_OK);
    struct entry first = first_of(s, SV("t"), 0), second = first_of(s, SV("t"), 1);
    CHECK_SV(hash_hex(&first.chain, &a),
             SV("9d81726f5746fe113167a5312a53e8ccb48b124782037e6f44c33e8152eae9fd"));
    CHECK_SV(hash_hex(&second.chain, &a),
             SV("35b637c83532ea65d7db6fe0285602e2409d940dadc0dd2a67842771b7be62e2"));
    CHECK_SV(entry_id(&first, &a), SV("e_9d81726f5746fe113167"));
    CHECK_SV(entry_id(&second, &a), SV("n1"));
}

static void the_chain_can_be_computed_again_from_what_is_read(void)
{
    struct store_scan *scan = NULL;
    struct hash        before = { 0 };
    struct entry       n;
    bool               more;

    for (int i = 0; i < 20; i++) {
        struct entry one = i % 3 ? message("side", MARK_MESSAGE) : note("{\"k\":\"\\u0001\"}");
        one.at = i * 1000 - 5000;
        if (i % 4 == 0)
            one.actor = SV("Zoë");
        CHECK(append_one(SV("t"), one) == ST_OK);
    }
    CHECK(store_scan(s, &(struct store_query){ .thread = SV("t"), .to = STORE_TO_END }, &scan,
                     &e) == ST_OK);
    for (int i = 0; i < 20; i++) {
        CHECK(store_next(scan, &n, &more, &e) == ST_OK && more);
        struct hash want = entry_chain(&n, &before);
        CHECK(hash_eq(&want, &n.chain));
        before = n.chain;
    }
    store_scan_close(scan);
    struct store_head h;
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK(hash_eq(&h.chain, &before));
}

static void every_field_comes_back(void)
{
    struct entry full = { .at = INT64_MIN + 1,
                          .id = SV("id-1"),
                          .kind = SV("väg"),
                          .lane = SV("lane one"),
                          .actor = SV("ada"),
                          .op_id = SV("op/1 with \"quotes\" and ünïcode"),
                          .payload = SV("{\"t\":\"a\xc3\xa9\\u0000\"}"),
                          .refs = SV("{\"r\":[1]}"),
                          .mark = MARK_ANCHOR };
    struct entry bare = { .kind = SV("k"), .payload = SV("{}"), .refs = SV("{}") };

    CHECK(append_one(SV("t"), full) == ST_OK);
    CHECK(append_one(SV("t"), bare) == ST_OK);
    struct entry n = first_of(s, SV("t"), 0);
    CHECK_INT(n.at, INT64_MIN + 1);
    CHECK_SV(n.id, full.id);
    CHECK_SV(n.kind, full.kind);
    CHECK_SV(n.lane, full.lane);
    CHECK_SV(n.actor, full.actor);
    CHECK_SV(n.op_id, full.op_id);
    CHECK_SV(n.payload, full.payload);
    CHECK_SV(n.refs, full.refs);
    CHECK_INT(n.mark, MARK_ANCHOR);
    n = first_of(s, SV("t"), 1);
    CHECK(!n.id.s && !n.lane.s && !n.actor.s && !n.op_id.s);
    CHECK_SV(n.refs, SV("{}"));
    CHECK_SV(n.payload, SV("{}"));
    CHECK_INT(n.mark, MARK_NONE);
}

static void payloads_of_all_sizes_come_back(void)
{
    static const size_t sizes[] = { 2, 511, 4094, 4095, 4096, 4097, 8192, 65536, 1000000 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct sb b = sb_in(&a, 0);
        sb_adds(&b, "{\"");
        sb_pad(&b, (char)('a' + i), sizes[i] - 2);
        struct entry n = { .kind = SV("k"), .payload = sb_sv(&b) };
        CHECK(append_to(s, SV("t"), STORE_ANY_REV, &n, 1) == ST_OK);
        CHECK(append_to(s, SV("t"), STORE_ANY_REV, &n, 1) == ST_OK);
        CHECK(sv_eq(first_of(s, SV("t"), 2 * (int64_t)i).payload, n.payload));
        CHECK(sv_eq(first_of(s, SV("t"), 2 * (int64_t)i + 1).payload, n.payload));
    }
}

/* ---- op ids ------------------------------------------------------------------------- */

static void an_op_id_is_unique_in_its_thread(void)
{
    struct entry one = note("{}"), got;
    bool         found;

    one.op_id = SV("op-1");
    CHECK(append_one(SV("t"), one) == ST_OK);
    CHECK(append_one(SV("t"), one) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("op_id"));
    CHECK(append_one(SV("u"), one) == ST_OK); /* another thread's are its own */
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK); /* absent is never taken */
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);

    CHECK(store_find_op(s, SV("t"), SV("op-1"), &a, &got, &found, &e) == ST_OK && found);
    CHECK_INT(got.seq, 0);
    CHECK_SV(got.op_id, SV("op-1"));
    CHECK(store_find_op(s, SV("t"), SV("op-2"), &a, &got, &found, &e) == ST_OK && !found);
    CHECK(store_find_op(s, SV("none"), SV("op-1"), &a, &got, &found, &e) == ST_OK && !found);
}

/* ---- scans -------------------------------------------------------------------------- */

static void scans_run_both_ways_between_their_bounds(void)
{
    for (int i = 0; i < 6; i++)
        CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(append_one(SV("s"), note("{}")) == ST_OK); /* neighbours on both sides */
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1 2 3 4 5"));
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, true), SV("5 4 3 2 1 0"));
    CHECK_SV(seqs_of(SV("t"), 2, 4, false), SV("2 3 4"));
    CHECK_SV(seqs_of(SV("t"), 2, 4, true), SV("4 3 2"));
    CHECK_SV(seqs_of(SV("t"), 3, 3, false), SV("3"));
    CHECK_SV(seqs_of(SV("t"), 5, 5, true), SV("5"));
    CHECK_SV(seqs_of(SV("t"), -10, 0, false), SV("0"));
    CHECK_SV(seqs_of(SV("t"), 5, 100, false), SV("5"));
}

static void empty_ranges_give_nothing(void)
{
    for (int i = 0; i < 3; i++)
        CHECK(append_one(SV("t"), message("l", MARK_MESSAGE)) == ST_OK);
    for (int backwards = 0; backwards < 2; backwards++) {
        CHECK_SV(seqs_of(SV("t"), 3, STORE_TO_END, backwards), SV(""));
        CHECK_SV(seqs_of(SV("t"), 2, 1, backwards), SV(""));
        CHECK_SV(seqs_of(SV("t"), -5, -1, backwards), SV(""));
        CHECK_SV(lane_seqs("l", MARK_MESSAGE, 3, STORE_TO_END, backwards), SV(""));
        CHECK_SV(lane_seqs("l", MARK_ANCHOR, 0, STORE_TO_END, backwards), SV(""));
        CHECK_SV(lane_seqs("m", MARK_MESSAGE, 0, STORE_TO_END, backwards), SV(""));
    }
}

static void lane_scans_see_one_lane_and_one_mark(void)
{
    static const struct {
        const char     *lane;
        enum entry_mark mark;
    } list[] = { { "a", MARK_MESSAGE }, { "ab", MARK_MESSAGE }, { "a", MARK_ANCHOR },
                 { "a", MARK_NONE },    { "b", MARK_MESSAGE },  { "a", MARK_MESSAGE },
                 { "a", MARK_ANCHOR },  { "a", MARK_MESSAGE } };
    struct entry one;

    for (size_t i = 0; i < COUNT(list); i++) {
        one = message(list[i].lane, list[i].mark);
        CHECK(append_one(SV("t"), one) == ST_OK);
        CHECK(append_one(SV("other"), one) == ST_OK);
    }
    CHECK_SV(lane_seqs("a", MARK_MESSAGE, 0, STORE_TO_END, false), SV("0 5 7"));
    CHECK_SV(lane_seqs("a", MARK_MESSAGE, 0, STORE_TO_END, true), SV("7 5 0"));
    CHECK_SV(lane_seqs("a", MARK_MESSAGE, 1, 6, false), SV("5"));
    CHECK_SV(lane_seqs("a", MARK_MESSAGE, 0, 5, false), SV("0 5"));
    CHECK_SV(lane_seqs("a", MARK_MESSAGE, 5, 7, true), SV("7 5"));
    CHECK_SV(lane_seqs("ab", MARK_MESSAGE, 0, STORE_TO_END, false), SV("1"));
    CHECK_SV(lane_seqs("a", MARK_ANCHOR, 0, STORE_TO_END, false), SV("2 6"));
    CHECK_SV(lane_seqs("a", MARK_ANCHOR, 0, 5, true), SV("2")); /* the latest at or before 5 */
    CHECK_SV(lane_seqs("a", MARK_ANCHOR, 0, 6, true), SV("6 2"));
}

/* However many entries of others stand between two messages of a lane, and at its ends. */
static void lane_scans_find_messages_far_apart(void)
{
    static const struct {
        const char *lane;
        int         times;
    } list[] = { { "default", 3 },  { "b", 70 }, { "default", 1 }, { "b", 40 }, { "c", 1 },
                 { "default", 90 }, { "b", 1 },  { "c", 1 },       { "b", 35 } };
    struct sb wanted[2] = { sb_in(&a, 0), sb_in(&a, 0) };
    int       seq = 0;

    for (size_t i = 0; i < COUNT(list); i++)
        for (int k = 0; k < list[i].times; k++, seq++) {
            struct entry one = message(list[i].lane, MARK_MESSAGE);
            CHECK(append_one(SV("t"), one) == ST_OK);
            for (size_t w = 0; w < 2; w++)
                if (strcmp(list[i].lane, w ? "c" : "default") == 0)
                    sb_addf(&wanted[w], wanted[w].n ? " %d" : "%d", seq);
        }
    CHECK_SV(lane_seqs("default", MARK_MESSAGE, 0, STORE_TO_END, false), sb_sv(&wanted[0]));
    CHECK_SV(lane_seqs("c", MARK_MESSAGE, 0, STORE_TO_END, false), sb_sv(&wanted[1]));
    CHECK_SV(lane_seqs("c", MARK_MESSAGE, 0, STORE_TO_END, true), SV("206 114"));
    CHECK_SV(lane_seqs("default", MARK_MESSAGE, 2, 116, false), SV("2 73 115 116"));
    CHECK_SV(lane_seqs("nobody", MARK_MESSAGE, 0, STORE_TO_END, false), SV(""));
}

static void first_copies_and_says_when_there_is_none(void)
{
    struct store_query q = {
        .thread = SV("t"), .to = STORE_TO_END, .lane = SV("l"), .mark = MARK_ANCHOR
    };
    struct entry n;
    bool         found = true;

    CHECK(append_one(SV("t"), message("l", MARK_MESSAGE)) == ST_OK);
    CHECK(store_first(s, &q, &a, &n, &found, &e) == ST_OK && !found);
    CHECK(append_one(SV("t"), message("l", MARK_ANCHOR)) == ST_OK);
    CHECK(store_first(s, &q, &a, &n, &found, &e) == ST_OK && found);
    CHECK_INT(n.seq, 1);
}

static void a_mark_can_be_changed(void)
{
    CHECK(append_one(SV("t"), message("l", MARK_MESSAGE)) == ST_OK);
    CHECK(append_one(SV("t"), message("l", MARK_NONE)) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_set_mark(s, SV("t"), 0, MARK_NONE, &e) == ST_OK);
    CHECK(store_set_mark(s, SV("t"), 1, MARK_ANCHOR, &e) == ST_OK);
    CHECK(store_set_mark(s, SV("t"), 2, MARK_ANCHOR, &e) == ST_NOT_FOUND);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_SV(lane_seqs("l", MARK_MESSAGE, 0, STORE_TO_END, false), SV(""));
    CHECK_SV(lane_seqs("l", MARK_ANCHOR, 0, STORE_TO_END, false), SV("1"));
    CHECK_INT(first_of(s, SV("t"), 1).mark, MARK_ANCHOR);
}

static void a_scan_survives_writes_of_its_transaction(void)
{
    struct store_scan *scan = NULL;
    struct store_key   k = { SV("t"), SV("v"), SV("k") };
    struct entry       n;
    bool               more = true;
    int64_t            next = 0;

    for (int i = 0; i < 50; i++)
        CHECK(append_one(SV("t"), message("l", MARK_NONE)) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_scan(s, &(struct store_query){ .thread = SV("t"), .to = STORE_TO_END }, &scan,
                     &e) == ST_OK);
    while (store_next(scan, &n, &more, &e) == ST_OK && more) {
        CHECK_INT(n.seq, next++);
        CHECK(store_row_put(s, &k, SV("x"), &e) == ST_OK);
        CHECK(store_set_mark(s, SV("t"), n.seq, MARK_MESSAGE, &e) == ST_OK);
    }
    store_scan_close(scan);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_INT(next, 50);
}

/* ---- names and limits --------------------------------------------------------------- */

static struct sv long_text(size_t n)
{
    struct sb b = sb_in(&a, 0);

    sb_pad(&b, 'x', n);
    return sb_sv(&b);
}

static void bad_thread_ids_are_refused_everywhere(void)
{
    static const struct sv bad[] = {
        SV_STATIC(""),        SV_STATIC("."),       SV_STATIC(".."),       SV_STATIC("../x"),
        SV_STATIC("a/b"),     SV_STATIC("/etc/x"),  SV_STATIC("a\\b"),     SV_STATIC("a\0b"),
        SV_STATIC("\0"),      SV_STATIC(".hidden"), SV_STATIC(".globalx"), SV_STATIC("a\nb"),
        SV_STATIC("\x1b[2J"), SV_STATIC("a\x7f"),   SV_STATIC("\xff\xfe"), SV_STATIC("\xc0\xaf"),
    };
    struct store_scan *scan;
    struct store_head  h;
    struct entry       got;
    bool               found;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK(append_one(bad[i], note("{}")) == ST_INVALID_SYNTAX);
        CHECK(store_head(s, bad[i], &h, &e) == ST_INVALID_SYNTAX);
        CHECK(store_scan(s, &(struct store_query){ .thread = bad[i] }, &scan, &e) ==
              ST_INVALID_SYNTAX);
        CHECK(store_find_op(s, bad[i], SV("x"), &a, &got, &found, &e) == ST_INVALID_SYNTAX);
        CHECK(!memchr(e.text, 0x1b, strlen(e.text)));
    }
    CHECK(append_one(long_text(NAME_MAX_BYTES + 1), note("{}")) == ST_LIMIT_EXCEEDED);
    CHECK(append_one(long_text(NAME_MAX_BYTES), note("{}")) == ST_OK);
    CHECK(append_one(SV(".global"), note("{}")) == ST_OK);
    CHECK(append_one(SV("..."), note("{}")) == ST_INVALID_SYNTAX);
    CHECK(append_one(SV("a.b-c_d e"), note("{}")) == ST_OK);
}

/* Each text field of an entry, with its limit. */
static const struct {
    const char *what;
    size_t      offset, max;
    bool        is_name;
} fields[] = {
    { "kind", offsetof(struct entry, kind), ENTRY_KIND_MAX, true },
    { "lane", offsetof(struct entry, lane), NAME_MAX_BYTES, true },
    { "actor", offsetof(struct entry, actor), NAME_MAX_BYTES, true },
    { "id", offsetof(struct entry, id), ENTRY_ID_MAX, true },
    { "op_id", offsetof(struct entry, op_id), ENTRY_ID_MAX, false },
    { "refs", offsetof(struct entry, refs), ENTRY_REFS_MAX, false },
    { "payload", offsetof(struct entry, payload), ENTRY_PAYLOAD_MAX, false },
};

static struct entry with_field(size_t i, struct sv text)
{
    struct entry n = note("{}");

    memcpy((char *)&n + fields[i].offset, &text, sizeof text);
    return n;
}

static void each_limit_holds_to_the_byte(void)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        struct sv at_limit = long_text(fields[i].max);
        CHECK(append_one(SV("t"), with_field(i, at_limit)) == ST_OK);
        CHECK_INT(rev_of(s, SV("t")), i + 1);
        struct entry n = first_of(s, SV("t"), (int64_t)i);
        CHECK(memcmp(&n.seq, &(int64_t){ (int64_t)i }, 8) == 0);
        CHECK(append_one(SV("t"), with_field(i, long_text(fields[i].max + 1))) ==
              ST_LIMIT_EXCEEDED);
        CHECK_INT(rev_of(s, SV("t")), i + 1);
    }
}

static void bad_names_in_entries_are_refused(void)
{
    static const struct sv bad[] = { SV_STATIC(""),     SV_STATIC("../x"),
                                     SV_STATIC("a/b"),  SV_STATIC("."),
                                     SV_STATIC("a\0b"), SV_STATIC(".global"),
                                     SV_STATIC("a\tb"), SV_STATIC("\xed\xa0\x80") };

    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t k = 0; fields[i].is_name && k < COUNT(bad); k++)
            CHECK(append_one(SV("t"), with_field(i, bad[k])) == ST_INVALID_SYNTAX);
    struct entry n = note("{}");
    n.op_id = SV("");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n.op_id = SV("a\0b");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n.op_id = SV("\xff");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n = note("");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n.payload = SV("{\"a\":\"\0\"}");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n.payload = SV("{\"a\":\"\xed\xa0\x80\"}");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    n = note("{}");
    n.refs = SV("{\"a\":\"\xff\"}");
    CHECK(append_one(SV("t"), n) == ST_INVALID_SYNTAX);
    CHECK_INT(rev_of(s, SV("t")), 0);
}

static void a_batch_has_limits_too(void)
{
    size_t        n = BATCH_ENTRIES_MAX + 1;
    struct entry *list = ARENA_NEW(&a, struct entry, n);
    struct sv     big = long_text(ENTRY_PAYLOAD_MAX);

    for (size_t i = 0; i < n; i++)
        list[i] = note("{}");
    CHECK(append_to(s, SV("t"), 0, list, n) == ST_LIMIT_EXCEEDED);
    CHECK_INT(rev_of(s, SV("t")), 0);
    CHECK(append_to(s, SV("t"), 0, list, n - 1) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), BATCH_ENTRIES_MAX);

    size_t whole = BATCH_BYTES_MAX / ENTRY_PAYLOAD_MAX;
    for (size_t i = 0; i < whole; i++)
        list[i].payload = big;
    CHECK(append_to(s, SV("u"), 0, list, whole + 1) == ST_LIMIT_EXCEEDED); /* 2 bytes over */
    CHECK(append_to(s, SV("u"), 0, list, whole) == ST_OK);
    CHECK_INT(rev_of(s, SV("u")), whole);
}

/* ---- rows --------------------------------------------------------------------------- */

static void put_row(struct sv key, struct sv value)
{
    CHECK(store_row_put(s, &(struct store_key){ SV("t"), SV("v"), key }, value, &e) == ST_OK);
}

static struct sv rows_of(struct sv prefix, struct sv after, bool backwards)
{
    struct store_row_query q = {
        .thread = SV("t"), .view = SV("v"), .prefix = prefix, .after = after, .backwards = backwards
    };
    struct store_rows *rows = NULL;
    struct store_row   row;
    struct sb          b = sb_in(&a, 0);
    bool               more = true;

    CHECK(store_rows(s, &q, &rows, &e) == ST_OK);
    while (rows && store_rows_next(rows, &row, &more, &e) == ST_OK && more) {
        sb_adds(&b, b.n ? " " : "");
        sb_add(&b, row.key);
        sb_addc(&b, '=');
        sb_add(&b, row.value);
    }
    CHECK(!more);
    CHECK(store_rows_next(rows, &row, &more, &e) == ST_OK && !more);
    store_rows_close(rows);
    return sb_sv(&b);
}

static void rows_need_their_thread(void)
{
    struct store_key k = { SV("t"), SV("v"), SV("k") };
    struct sv        value;
    bool             found = true;

    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && !found);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("x"), &e) == ST_NOT_FOUND);
    CHECK(store_row_del(s, &k, &e) == ST_OK);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 3, &e) == ST_OK);
    store_abort(s);
    CHECK_SV(rows_of(SV(""), (struct sv){ 0 }, false), SV(""));
}

static void rows_are_put_replaced_and_deleted(void)
{
    struct store_key k = { SV("t"), SV("v"), SV("k") };
    struct sv        value;
    bool             found;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("k"), SV("1"));
    put_row(SV("k"), SV("\0\xff binary"));
    put_row(SV(""), SV(""));
    CHECK(store_row_put(s, &(struct store_key){ SV("t"), SV("w"), SV("k") }, SV("other view"),
                        &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("\0\xff binary"));
    CHECK_SV(rows_of(SV(""), (struct sv){ 0 }, false), SV("= k=\0\xff binary"));
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_row_del(s, &k, &e) == ST_OK);
    CHECK(store_row_del(s, &k, &e) == ST_OK); /* once more is fine */
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && !found);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_SV(rows_of(SV(""), (struct sv){ 0 }, false), SV(""));
    k.view = SV("w");
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
}

static void rows_come_in_the_order_of_their_bytes(void)
{
    static const struct sv none = { 0 };

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("b/2"), SV("d"));
    put_row(SV("a"), SV("a"));
    put_row(SV("b/10"), SV("c"));
    put_row(SV("b"), SV("b"));
    put_row(SV("c"), SV("e"));
    put_row(SV("\xff\xff"), SV("f"));
    CHECK(store_commit(s, &e) == ST_OK);

    CHECK_SV(rows_of(none, none, false), SV("a=a b=b b/10=c b/2=d c=e \xff\xff=f"));
    CHECK_SV(rows_of(none, none, true), SV("\xff\xff=f c=e b/2=d b/10=c b=b a=a"));
    CHECK_SV(rows_of(SV("b"), none, false), SV("b=b b/10=c b/2=d"));
    CHECK_SV(rows_of(SV("b/"), none, false), SV("b/10=c b/2=d"));
    CHECK_SV(rows_of(SV("b/"), none, true), SV("b/2=d b/10=c"));
    CHECK_SV(rows_of(SV("\xff"), none, false), SV("\xff\xff=f"));
    CHECK_SV(rows_of(SV("\xff"), none, true), SV("\xff\xff=f"));
    CHECK_SV(rows_of(SV("d"), none, false), SV(""));
    CHECK_SV(rows_of(SV("d"), none, true), SV(""));
}

static void row_scans_start_where_they_are_told(void)
{
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (const char *k = "acegi"; *k; k++)
        put_row((struct sv){ (const char[]){ 'p', *k }, 2 }, SV(""));
    put_row(SV("o"), SV(""));
    put_row(SV("q"), SV(""));
    CHECK(store_row_put(s, &(struct store_key){ SV("u"), SV("v"), SV("pd") }, SV(""), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);

    CHECK_SV(rows_of(SV("p"), SV("pe"), false), SV("pe= pg= pi=")); /* at the key */
    CHECK_SV(rows_of(SV("p"), SV("pd"), false), SV("pe= pg= pi=")); /* between keys */
    CHECK_SV(rows_of(SV("p"), SV("pe\0"), false), SV("pg= pi="));   /* right behind one */
    CHECK_SV(rows_of(SV("p"), SV("a"), false), SV("pa= pc= pe= pg= pi="));
    CHECK_SV(rows_of(SV("p"), SV("q"), false), SV(""));
    CHECK_SV(rows_of(SV("p"), SV("pe"), true), SV("pe= pc= pa="));
    CHECK_SV(rows_of(SV("p"), SV("pf"), true), SV("pe= pc= pa="));
    CHECK_SV(rows_of(SV("p"), SV("z"), true), SV("pi= pg= pe= pc= pa="));
    CHECK_SV(rows_of(SV("p"), SV("a"), true), SV(""));
    CHECK_SV(rows_of(SV(""), SV("p"), false), SV("pa= pc= pe= pg= pi= q="));
    CHECK_SV(rows_of(SV(""), SV("p"), true), SV("o="));
}

/* ---- two at once -------------------------------------------------------------------- */

static void rows_may_hold_any_bytes(void)
{
    struct store_key k = { SV("t"), SV("v"), SV("\0k\xff\xed\xa0\x80") };
    struct sv        value;
    bool             found = false;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(k.key, SV("\0\xff\n"));
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("\0\xff\n"));
    CHECK_SV(rows_of(SV("\0"), (struct sv){ 0 }, false), SV("\0k\xff\xed\xa0\x80=\0\xff\n"));
    store_abort(s);
}

/* What is there of a row: its length, -1 for none. */
static int64_t row_size(int key)
{
    char      name[24];
    struct sv value;
    bool      found = false;

    snprintf(name, sizeof name, "k/%d", key);
    CHECK(store_row_get(s, &(struct store_key){ SV("t"), SV("v"), sv_of(name) }, &a, &value, &found,
                        &e) == ST_OK);
    return found ? (int64_t)value.n : -1;
}

enum { SOME_KEYS = 700 };

/* Puts and deletes in no order, small values and large ones; `want` is what must be there. */
static void change_rows(uint32_t *seed, int64_t *want, int rounds)
{
    static char bytes[3000];

    for (int i = 0; i < rounds; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        int    key = (int)(*seed >> 8) % SOME_KEYS;
        size_t n = (*seed >> 4) % 3 ? (*seed >> 12) % 300 : (*seed >> 12) % sizeof bytes;
        char   name[24];
        snprintf(name, sizeof name, "k/%d", key);
        struct store_key k = { SV("t"), SV("v"), sv_of(name) };
        CHECK_INT(row_size(key), want[key]);
        if ((*seed >> 20) % 3) {
            CHECK(store_row_put(s, &k, (struct sv){ bytes, n }, &e) == ST_OK);
            want[key] = (int64_t)n;
        } else {
            CHECK(store_row_del(s, &k, &e) == ST_OK);
            want[key] = -1;
        }
        CHECK_INT(row_size(key), want[key]);
    }
}

static void a_transaction_reads_the_rows_it_wrote(void)
{
    int64_t          kept[SOME_KEYS], undone[SOME_KEYS];
    uint32_t         seed = 42;
    struct store    *other = open_again(40);
    struct store_key first = { SV("t"), SV("v"), SV("k/0") };

    for (int i = 0; i < SOME_KEYS; i++)
        kept[i] = -1;
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    change_rows(&seed, kept, 3000);
    CHECK(store_commit(s, &e) == ST_OK);

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK); /* what was undone is not remembered */
    memcpy(undone, kept, sizeof undone);
    change_rows(&seed, undone, 500);
    store_abort(s);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    for (int i = 0; i < SOME_KEYS; i++)
        CHECK_INT(row_size(i), kept[i]);
    store_abort(s);

    CHECK(store_begin(other, STORE_WRITE, &e) == ST_OK); /* nor is what others have changed */
    CHECK(store_row_put(other, &first, SV("12345"), &e) == ST_OK);
    CHECK(store_commit(other, &e) == ST_OK);
    CHECK_INT(row_size(0), 5);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK_INT(row_size(0), 5);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    for (int i = 0; i < SOME_KEYS; i++)
        CHECK_INT(row_size(i), -1);
    store_abort(s);
    store_close(other);
}

static void a_transaction_knows_the_head_it_made(void)
{
    struct entry      one = note("{}");
    struct store_head h = { 0 }, seen = { 0 };

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 77, &e) == ST_OK);
    CHECK(store_head(s, SV("t"), &seen, &e) == ST_OK);
    CHECK_INT(seen.rev, 2);
    CHECK_INT(seen.views, 77);
    CHECK(hash_eq(&seen.chain, &h.chain) && hash_eq(&seen.recorded_chain, &h.chain));
    store_abort(s);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(store_head(s, SV("t"), &seen, &e) == ST_OK);
    CHECK_INT(seen.views, 0);
    store_abort(s);
}

static void hints_change_nothing(void)
{
    struct store_key keys[100];
    struct sv        value;
    bool             found = true;

    for (size_t i = 0; i < COUNT(keys); i++)
        keys[i] = (struct store_key){ SV("nowhere"), SV("v"), SV("k") };
    store_want_op(s, SV("t"), SV("op"));
    store_want(s, keys, COUNT(keys));
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin_on(s, STORE_READ, SV("t"), &e) == ST_OK);
    store_want(s, keys, COUNT(keys));
    CHECK(store_row_get(s, &keys[0], &a, &value, &found, &e) == ST_OK && !found);
    CHECK_INT(rev_of(s, SV("t")), 1);
    store_abort(s);
}

static void a_wanted_scan_is_as_good_as_any(void)
{
    struct store_query all = { .thread = SV("t"), .to = STORE_TO_END };
    struct store_query lane = {
        .thread = SV("t"), .to = STORE_TO_END, .lane = SV("l"), .mark = MARK_MESSAGE
    };
    struct entry      one = message("l", MARK_MESSAGE);
    struct store_head h;

    for (int i = 0; i < 5; i++)
        CHECK(append_one(SV("t"), message("l", i % 2 ? MARK_MESSAGE : MARK_NONE)) == ST_OK);
    store_want_scan(s, &all);
    store_want_scan(s, &lane);
    store_want_scan(s, &lane);
    CHECK(store_begin_on(s, STORE_READ, SV("t"), &e) == ST_OK);
    CHECK_SV(seqs(s, &all), SV("0 1 2 3 4"));
    lane.from = 2; /* a part of what was wanted */
    CHECK_SV(seqs(s, &lane), SV("3"));
    store_abort(s);
    CHECK(append_one(SV("t"), one) == ST_OK); /* what was wanted before is forgotten */
    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    store_want_scan(s, &all);
    CHECK_SV(seqs(s, &lane), SV("3 5"));
    CHECK(store_append(s, SV("t"), 6, &one, 1, &h, &e) == ST_OK);
    CHECK_SV(seqs(s, &all), SV("0 1 2 3 4 5 6")); /* nor does it hide what was appended since */
    store_abort(s);
}

static void a_second_writer_waits_and_is_told(void)
{
    struct store     *other = open_again(40);
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    /* A store that locks threads one by one may say so only when the thread is used. */
    enum status st = store_begin_on(other, STORE_WRITE, SV("t"), &e);
    if (!st)
        st = store_head(other, SV("t"), &h, &e);
    CHECK(st == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("busy"));
    store_abort(other);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(append_to(other, SV("t"), 0, &one, 1) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("rev"));
    CHECK(append_to(other, SV("t"), 1, &one, 1) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 2);
    store_close(other);
}

static void writers_of_other_threads_do_not_wait(void)
{
    struct store     *other = open_again(40);
    struct entry      one = note("{}"), two = note("{}");
    struct store_head h;

    CHECK(store_begin_on(s, STORE_WRITE, SV("t"), &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    enum status st = store_begin_on(other, STORE_WRITE, SV("u"), &e);
    if (!st)
        st = store_append(other, SV("u"), 0, &two, 1, &h, &e);
    if (!st)
        st = store_commit(other, &e);
    if (!strstr(backend->url, "postgres") && st) { /* it locks the store as a whole, and says so */
        CHECK(st == ST_CONFLICT);
        CHECK_SV(sv_of(e.reason), SV("busy"));
        store_abort(other);
        store_abort(s);
        store_close(other);
        return;
    }
    CHECK(st == ST_OK);
    CHECK_INT(rev_of(other, SV("u")), 1);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_INT(rev_of(other, SV("t")), 1);
    store_close(other);
}

static void threads_come_in_the_order_of_their_bytes(void)
{
    static const char *const ids[] = { ".global", "10", "9",        "A",           "Z",
                                       "_",       "a",  "a b",      "a-b",         "a.b",
                                       "ab",      "z",  "\xc3\xa4", "\xe2\x82\xac" };
    struct store_thread     *list;
    size_t                   n = 0;

    for (size_t i = COUNT(ids); i-- > 0;)
        CHECK(append_one(sv_of(ids[i]), note("{}")) == ST_OK);
    CHECK(store_threads(s, &a, &list, &n, &e) == ST_OK);
    CHECK_INT(n, COUNT(ids));
    for (size_t i = 0; i < n && i < COUNT(ids); i++)
        CHECK_SV(list[i].id, sv_of(ids[i]));
}

static void a_reader_sees_one_state(void)
{
    struct store     *reader = open_again(40);
    struct entry      one = note("{}");
    struct store_key  k = { SV("t"), SV("v"), SV("k") };
    struct store_head h;
    struct sv         value;
    bool              found;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(reader, STORE_READ, &e) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 1);

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK); /* a reader is in nobody's way */
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV("new"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("x"), &e) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 1);
    CHECK(store_commit(s, &e) == ST_OK);

    CHECK_INT(rev_of(reader, SV("t")), 1);
    CHECK_INT(rev_of(reader, SV("new")), 0);
    CHECK_SV(seqs(reader, &(struct store_query){ .thread = SV("t"), .to = STORE_TO_END }), SV("0"));
    CHECK(store_row_get(reader, &k, &a, &value, &found, &e) == ST_OK && !found);
    CHECK(store_commit(reader, &e) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 2);
    CHECK(store_row_get(reader, &k, &a, &value, &found, &e) == ST_OK && found);
    store_close(reader);
}

static void a_reader_sees_nothing_that_is_not_committed(void)
{
    struct store     *reader = open_again(40);
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_begin(reader, STORE_READ, &e) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 0);
    store_abort(reader);
    store_abort(s);
    CHECK_INT(rev_of(reader, SV("t")), 0);
    store_close(reader);
}

static void a_thread_undone_by_one_can_be_made_by_another(void)
{
    struct store     *other = open_again(40);
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("gone"), 0, &one, 1, &h, &e) == ST_OK);
    store_abort(s);
    CHECK(append_to(other, SV("made"), 0, &one, 1) == ST_OK);
    CHECK_INT(rev_of(s, SV("gone")), 0);
    CHECK_INT(rev_of(s, SV("made")), 1);
    CHECK(append_to(s, SV("gone"), 0, &one, 1) == ST_OK);
    CHECK_INT(rev_of(other, SV("gone")), 1);
    CHECK_INT(rev_of(other, SV("made")), 1);
    store_close(other);
}

/* ---- groups ------------------------------------------------------------------------- */

static void parts_of_a_group_become_visible_together(void)
{
    struct store *reader = open_again(40);

    if (!store_has_groups(s)) {
        store_close(reader);
        return;
    }
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 0);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK); /* the group reads what it wrote */
    CHECK_INT(rev_of(s, SV("t")), 2);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1"));
    store_abort(s);
    CHECK_INT(rev_of(reader, SV("u")), 0);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK_INT(rev_of(reader, SV("t")), 2);
    CHECK_INT(rev_of(reader, SV("u")), 1);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK); /* alone again */
    CHECK_INT(rev_of(reader, SV("t")), 3);
    store_close(reader);
}

static void a_part_of_a_group_is_undone_by_itself(void)
{
    struct store_key  k = { SV("t"), SV("v"), SV("k") };
    struct entry      one = note("{}");
    struct store_head h;
    struct sv         value;
    bool              found = false;

    if (!store_has_groups(s))
        return;
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("kept"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_append(s, SV("new"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("undone"), &e) == ST_OK);
    store_abort(s);
    CHECK(append_to(s, SV("t"), 7, &one, 1) == ST_CONFLICT); /* its own conflict */
    CHECK(append_to(s, SV("t"), 1, &one, 1) == ST_OK);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("kept"));
    store_abort(s);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1"));
    CHECK_INT(rev_of(s, SV("new")), 0);
    CHECK(append_to(s, SV("new"), 0, &one, 1) == ST_OK);
}

static void a_group_that_is_dropped_leaves_nothing(void)
{
    struct entry one = note("{}");

    if (!store_has_groups(s))
        return;
    store_group_abort(s); /* harmless */
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(append_to(s, SV("t"), 0, &one, 1) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    store_group_abort(s);
    CHECK_INT(rev_of(s, SV("t")), 0);
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(append_to(s, SV("t"), 0, &one, 1) == ST_OK);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 1);
}

static void a_group_is_one_writer_for_others(void)
{
    struct store *other = open_again(40);
    struct entry  one = note("{}");

    if (store_has_groups(s)) {
        CHECK(store_group_begin(s, &e) == ST_OK);
        CHECK(append_to(s, SV("t"), 0, &one, 1) == ST_OK);
        CHECK(append_to(other, SV("t"), STORE_ANY_REV, &one, 1) == ST_CONFLICT);
        CHECK_SV(sv_of(e.reason), SV("busy"));
        CHECK(store_group_end(s, &e) == ST_OK);
        CHECK(append_to(other, SV("t"), 1, &one, 1) == ST_OK);
    }
    store_close(other);
}

/* Can a thread be locked in `other` while `s` has a write transaction on another one? `other` is
 * asked because it waits for 40 ms; `s` would wait for STORE_BUSY_MS where the answer is no. */
static bool locks_threads_one_by_one(struct store *other)
{
    struct store_head h;

    CHECK(store_begin_on(s, STORE_WRITE, SV("mine"), &e) == ST_OK);
    CHECK(store_head(s, SV("mine"), &h, &e) == ST_OK);
    bool one_by_one = !store_begin_on(other, STORE_WRITE, SV("of-the-other"), &e) &&
                      !store_head(other, SV("of-the-other"), &h, &e);
    store_abort(other);
    store_abort(s);
    return one_by_one;
}

static void a_busy_thread_is_the_conflict_of_its_part_of_a_group_alone(void)
{
    struct store     *other = open_again(40);
    struct entry      one = note("{}");
    struct store_head h;

    if (store_has_groups(s) && locks_threads_one_by_one(other)) {
        CHECK(store_begin_on(other, STORE_WRITE, SV("busy"), &e) == ST_OK);
        CHECK(store_append(other, SV("busy"), 0, &one, 1, &h, &e) == ST_OK);
        CHECK(store_group_begin(s, &e) == ST_OK);
        CHECK(append_to(s, SV("busy"), 0, &one, 1) == ST_CONFLICT); /* as the first part */
        CHECK_SV(sv_of(e.reason), SV("busy"));
        CHECK(append_to(s, SV("t"), 0, &one, 1) == ST_OK);
        CHECK(append_to(s, SV("busy"), STORE_ANY_REV, &one, 1) == ST_CONFLICT);
        CHECK_SV(sv_of(e.reason), SV("busy"));
        CHECK(append_to(s, SV("u"), 0, &one, 1) == ST_OK);
        CHECK(append_to(s, SV("t"), 1, &one, 1) == ST_OK);
        CHECK(store_commit(other, &e) == ST_OK);
        CHECK(store_group_end(s, &e) == ST_OK);
        CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1"));
        CHECK_INT(rev_of(s, SV("u")), 1);
        CHECK_INT(rev_of(s, SV("busy")), 1);
        CHECK(append_to(s, SV("busy"), 1, &one, 1) == ST_OK); /* again, by itself */
    }
    store_close(other);
}

static struct entry note_op(const char *op)
{
    struct entry one = note("{}");

    one.op_id = sv_of(op);
    return one;
}

/* What was said of parts beforehand is only a hint: they may come otherwise, and not at all. */
static void parts_of_a_group_can_be_announced(void)
{
    const struct store_part parts[] = { { SV("t"), SV("x") },   { SV("u"), SV("taken") },
                                        { SV("new"), SV("x") }, { SV("t"), SV("y") },
                                        { SV("v"), { 0 } },     { SV("unused"), SV("x") },
                                        { { 0 }, SV("x") },     { SV("a\0b"), SV("\xff") } };
    struct entry            x = note_op("x"), y = note_op("y"), taken = note_op("taken");
    struct store_key        k = { SV("u"), SV("view"), SV("k") };
    struct entry            there;
    struct sv               value;
    bool                    found = false;

    if (!store_has_groups(s))
        return;
    for (size_t i = 0; i < 3; i++)
        CHECK(append_one((const struct sv[]){ SV("t"), SV("u"), SV("v") }[i],
                         i == 1 ? note_op("taken") : note("{}")) == ST_OK);
    CHECK(store_group_begin(s, &e) == ST_OK);
    store_group_want(s, parts, COUNT(parts));
    CHECK(append_to(s, SV("t"), 1, &x, 1) == ST_OK);
    CHECK(store_begin_on(s, STORE_WRITE, SV("u"), &e) == ST_OK);
    CHECK(store_find_op(s, SV("u"), SV("taken"), &a, &there, &found, &e) == ST_OK && found);
    CHECK_INT(there.seq, 0);
    CHECK(store_row_put(s, &k, SV("undone"), &e) == ST_OK);
    store_abort(s);
    CHECK(append_to(s, SV("u"), 1, &taken, 1) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("op_id"));
    CHECK(append_to(s, SV("new"), 0, &x, 1) == ST_OK);
    CHECK(append_to(s, SV("t"), 2, &y, 1) == ST_OK);
    CHECK(append_to(s, SV("t"), 3, &x, 1) == ST_CONFLICT); /* of the first part */
    CHECK_SV(sv_of(e.reason), SV("op_id"));
    CHECK(append_to(s, SV("v"), 0, &x, 1) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("rev"));
    CHECK(append_to(s, SV("v"), 1, &x, 1) == ST_OK);
    CHECK(append_to(s, SV("other"), 0, &x, 1) == ST_OK);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK_SV(seqs_of(SV("t"), 0, STORE_TO_END, false), SV("0 1 2"));
    CHECK_INT(rev_of(s, SV("u")), 1);
    CHECK_INT(rev_of(s, SV("new")), 1);
    CHECK_INT(rev_of(s, SV("v")), 2);
    CHECK_INT(rev_of(s, SV("other")), 1);
    CHECK_INT(rev_of(s, SV("unused")), 0);
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && !found);
    store_abort(s);
}

/* Nobody waits for a thread that was announced and that somebody else has. */
static void a_busy_thread_that_was_announced_is_the_conflict_of_its_part(void)
{
    const struct store_part parts[] = { { SV("t"), SV("x") },
                                        { SV("busy"), SV("x") },
                                        { SV("u"), SV("x") } };
    struct store           *other = open_again(40);
    struct entry            one = note("{}"), x = note_op("x");
    struct store_head       h;

    if (store_has_groups(s) && locks_threads_one_by_one(other)) {
        for (size_t i = 0; i < COUNT(parts); i++)
            CHECK(append_one(parts[i].thread, note("{}")) == ST_OK);
        CHECK(store_begin_on(other, STORE_WRITE, SV("busy"), &e) == ST_OK);
        CHECK(store_append(other, SV("busy"), 1, &one, 1, &h, &e) == ST_OK);
        CHECK(store_group_begin(s, &e) == ST_OK);
        store_group_want(s, parts, COUNT(parts));
        CHECK(append_to(s, SV("t"), 1, &x, 1) == ST_OK);
        CHECK(append_to(s, SV("busy"), STORE_ANY_REV, &x, 1) == ST_CONFLICT);
        CHECK_SV(sv_of(e.reason), SV("busy"));
        /* Those that nobody had are locked by now. */
        struct store *third = open_again(40);
        CHECK(append_to(third, SV("u"), STORE_ANY_REV, &one, 1) == ST_CONFLICT);
        CHECK_SV(sv_of(e.reason), SV("busy"));
        store_close(third);
        CHECK(append_to(s, SV("u"), 1, &x, 1) == ST_OK);
        CHECK(store_commit(other, &e) == ST_OK);
        CHECK(store_group_end(s, &e) == ST_OK);
        CHECK_INT(rev_of(s, SV("t")), 2);
        CHECK_INT(rev_of(s, SV("u")), 2);
        CHECK_INT(rev_of(s, SV("busy")), 2);
        CHECK(append_to(s, SV("busy"), 2, &x, 1) == ST_OK);
    }
    store_close(other);
}

static void a_thread_that_changed_since_its_group_began_is_a_conflict_of_that_part(void)
{
    struct store    *other = open_again(40);
    struct entry     one = note("{}");
    struct store_key k = { SV("old"), SV("v"), SV("k") };

    if (store_has_groups(s) && locks_threads_one_by_one(other)) {
        CHECK(append_one(SV("old"), note("{}")) == ST_OK);
        CHECK(store_group_begin(s, &e) == ST_OK);
        CHECK(append_to(s, SV("t"), 0, &one, 1) ==
              ST_OK); /* the state of the group is that of now */
        CHECK(append_to(other, SV("old"), 1, &one, 1) == ST_OK);
        CHECK(append_to(other, SV("new"), 0, &one, 1) == ST_OK);
        for (size_t i = 0; i < 2; i++) {
            CHECK(append_to(s, i ? SV("new") : SV("old"), STORE_ANY_REV, &one, 1) == ST_CONFLICT);
            CHECK_SV(sv_of(e.reason), SV("busy"));
        }
        CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
        CHECK(store_row_put(s, &k, SV("x"), &e) == ST_CONFLICT); /* not only entries */
        CHECK_SV(sv_of(e.reason), SV("busy"));
        store_abort(s);
        CHECK(append_to(s, SV("t"), 1, &one, 1) == ST_OK);
        CHECK(store_group_end(s, &e) == ST_OK);
        CHECK_INT(rev_of(s, SV("t")), 2);
        CHECK_INT(rev_of(s, SV("old")), 2);
        CHECK_INT(rev_of(s, SV("new")), 1);
        CHECK(append_to(s, SV("old"), 2, &one, 1) == ST_OK);
    }
    store_close(other);
}

/* More than a store keeps back before it writes, entries that go as a stream, all kinds of writes:
 * what the engine has by then is undone as well. */
static void a_large_part_of_a_group_is_undone_by_itself(void)
{
    static struct entry many[600];
    struct store_key    k = { SV("t"), SV("v"), SV("k") };
    struct store_head   h;
    struct sv           value;
    bool                found = false;

    if (!store_has_groups(s))
        return;
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = message("l", MARK_MESSAGE);
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, many, 2, &h, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("kept"), &e) == ST_OK && store_commit(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 2, many, COUNT(many), &h, &e) == ST_OK);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_set_mark(s, SV("t"), 0, MARK_NONE, &e) == ST_OK);
    CHECK_SV(lane_seqs("l", MARK_MESSAGE, 0, 3, false), SV("1 2 3"));
    store_abort(s);
    CHECK(append_to(s, SV("t"), 2, many, COUNT(many)) == ST_OK); /* the same, kept */
    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("kept"));
    store_abort(s);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 602);
    CHECK_SV(lane_seqs("l", MARK_MESSAGE, 0, 3, false), SV("0 1 2 3"));
}

static void an_op_id_of_an_undone_part_is_free_and_one_of_a_kept_part_is_taken(void)
{
    struct entry      one = note("{}"), got;
    struct store_head h;
    bool              found = false;

    if (!store_has_groups(s))
        return;
    one.op_id = SV("op");
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_group_begin(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    store_abort(s);
    CHECK(append_to(s, SV("t"), 1, &one, 1) == ST_OK);
    CHECK(append_to(s, SV("t"), 2, &one, 1) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("op_id"));
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_find_op(s, SV("t"), SV("op"), &a, &got, &found, &e) == ST_OK && found);
    CHECK_INT(got.seq, 1);
    store_abort(s);
    CHECK(store_group_end(s, &e) == ST_OK);
    CHECK(append_to(s, SV("t"), 2, &one, 1) == ST_CONFLICT);
}

/* ---- waiting ------------------------------------------------------------------------ */

static void *append_soon(void *ctx)
{
    struct store     *mine = NULL;
    struct entry      one = note("{}");
    struct store_head h;
    struct err        mine_e;

    (void)ctx;
    nanosleep(&(struct timespec){ 0, 20 * 1000 * 1000 }, NULL);
    if (store_open(sv_of(url), &(struct store_options){ .create = true }, &mine, &mine_e) ||
        store_begin(mine, STORE_WRITE, &mine_e) ||
        store_append(mine, SV("t"), STORE_ANY_REV, &one, 1, &h, &mine_e) ||
        store_commit(mine, &mine_e))
        CHECK(false && "the other writer failed");
    store_close(mine);
    return NULL;
}

static void a_wait_ends_when_an_entry_comes(void)
{
    enum store_woken why;
    pthread_t        other;
    int64_t          version = 0;
    int              ends[2];

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_wait(s, &version, 60000, -1, &why, &e) == ST_OK); /* nobody has seen it yet */
    CHECK_INT(why, STORE_CHANGED);
    CHECK(store_wait(s, &version, 10, -1, &why, &e) == ST_OK); /* nothing comes */
    CHECK_INT(why, STORE_QUIET);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK); /* by ourselves */
    CHECK(store_wait(s, &version, 60000, -1, &why, &e) == ST_OK);
    CHECK_INT(why, STORE_CHANGED);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    store_abort(s); /* nothing was written */
    CHECK(store_wait(s, &version, 10, -1, &why, &e) == ST_OK);
    CHECK_INT(why, STORE_QUIET);
    CHECK(pthread_create(&other, NULL, append_soon, NULL) == 0);
    CHECK(store_wait(s, &version, 60000, -1, &why, &e) == ST_OK);
    CHECK_INT(why, STORE_CHANGED);
    pthread_join(other, NULL);
    CHECK(pipe(ends) == 0);
    close(ends[0]); /* whoever waited for the answer has gone */
    CHECK(store_wait(s, &version, 60000, ends[1], &why, &e) == ST_OK);
    CHECK_INT(why, STORE_PEER_GONE);
    close(ends[1]);
}

static bool same_mark(const struct store_mark *x, const struct store_mark *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}

static void a_mark_changes_with_each_commit_and_with_nothing_else(void)
{
    struct store_mark first, now;
    struct store     *other = open_again(0);
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_in_place(s));
    if (!store_has_marks(s)) {
        CHECK(!store_mark(s, &first));
        store_close(other);
        return;
    }
    CHECK(store_mark(s, &first));
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK(store_mark(s, &now) && same_mark(&first, &now)); /* reading changes nothing */
    CHECK(store_begin(other, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(other, SV("t"), 1, &one, 1, &h, &e) == ST_OK);
    CHECK(store_mark(s, &now) && same_mark(&first, &now)); /* it is not committed */
    store_abort(other);
    CHECK(store_mark(s, &now) && same_mark(&first, &now)); /* and never will be */
    CHECK(append_to(other, SV("t"), 1, &one, 1) == ST_OK);
    CHECK(store_mark(s, &now) && !same_mark(&first, &now)); /* by somebody else */
    first = now;
    CHECK(store_mark(other, &now) && same_mark(&first, &now)); /* all see the same */
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_mark(s, &now) && !same_mark(&first, &now)); /* by ourselves */
    store_close(other);
}

/* ---- opening and care --------------------------------------------------------------- */

static void opening_what_is_missing_needs_create(void)
{
    struct store     *other = NULL;
    struct store_head h;
    char              missing[400];

    snprintf(missing, sizeof missing, "%s-missing", url);
    /* A store across a network may look only when it is asked something. */
    enum status st = store_open(sv_of(missing), &(struct store_options){ 0 }, &other, &e);
    if (!st)
        st = store_head(other, SV("t"), &h, &e);
    CHECK(st == ST_NOT_FOUND);
    store_close(other);
    CHECK(store_open(sv_of(url), &(struct store_options){ 0 }, &other, &e) == ST_OK);
    store_close(other);
    CHECK(store_open(SV("https://x"), &(struct store_options){ 0 }, &other, &e) ==
          ST_INVALID_SYNTAX);
    CHECK(store_open(SV("fault:x:mem:"), &(struct store_options){ 0 }, &other, &e) ==
          ST_INVALID_SYNTAX);
}

static void everything_is_there_after_opening_again(void)
{
    struct entry         list[] = { note("{\"n\":0}"), message("l", MARK_MESSAGE) }, got;
    struct store_key     k = { SV("t"), SV("v"), SV("k") };
    struct store_head    before, after;
    struct store_thread *threads;
    struct sv            value;
    size_t               n;
    bool                 found;

    list[0].op_id = SV("op");
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, list, 2, &before, &e) == ST_OK);
    CHECK(store_row_put(s, &k, SV("value"), &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 42, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    store_close(s);
    s = open_again(0);
    CHECK(store_head(s, SV("t"), &after, &e) == ST_OK);
    CHECK_INT(after.rev, 2);
    CHECK_INT(after.views, 42);
    CHECK(hash_eq(&after.chain, &before.chain));
    CHECK_SV(first_of(s, SV("t"), 0).payload, SV("{\"n\":0}"));
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK_SV(value, SV("value"));
    CHECK(store_find_op(s, SV("t"), SV("op"), &a, &got, &found, &e) == ST_OK && found);
    CHECK(store_threads(s, &a, &threads, &n, &e) == ST_OK);
    CHECK_INT(n, 1);
    CHECK_SV(lane_seqs("l", MARK_MESSAGE, 0, STORE_TO_END, false), SV("1"));
}

static void complain(void *ctx, struct sv complaint)
{
    (void)complaint;
    ++*(int *)ctx;
}

static void a_store_counts_checks_and_compacts(void)
{
    struct store_stats st = { 0 };
    int                complaints = 0;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("k"), SV("v"));
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_stats(s, &st, &e) == ST_OK);
    CHECK_INT(st.threads, 2);
    CHECK_INT(st.entries, 2);
    CHECK_INT(st.rows, 1);
    CHECK_INT(st.blobs, 0);
    CHECK(store_check(s, complain, &complaints, &e) == ST_OK);
    CHECK_INT(complaints, 0);
    CHECK(store_compact(s, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 1);
}

static void a_thread_that_is_dropped_leaves_nothing(void)
{
    struct store_size *sizes;
    struct store_stats st = { 0 };
    struct store_query q = { .thread = SV("t"), .to = STORE_TO_END };
    size_t             n;

    CHECK(append_one(SV("t"), note("{\"a\":1}")) == ST_OK);
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("k"), SV("value"));
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_sizes(s, &a, &sizes, &n, &e) == ST_OK);
    CHECK_INT(n, 3);
    CHECK_SV(sizes[0].thread, SV("t"));
    CHECK(!sizes[0].view.s && sizes[0].n == 1 && sizes[0].bytes >= 7);
    CHECK(sizes[1].view.n && sizes[1].n == 1);
    CHECK_INT(sizes[1].bytes, 6);
    CHECK_SV(sizes[2].thread, SV("u"));
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_drop(s, SV("t"), &e) == ST_OK);
    CHECK(store_drop(s, SV("nosuch"), &e) == ST_OK);
    store_abort(s);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_drop(s, SV("t"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 0);
    CHECK_INT(rev_of(s, SV("u")), 1);
    CHECK_SV(seqs(s, &q), SV(""));
    CHECK(store_stats(s, &st, &e) == ST_OK);
    CHECK(st.threads == 1 && st.entries == 1 && st.rows == 0);
}

static enum status agree(void *ctx, struct err *why)
{
    (void)why;
    ++*(int *)ctx;
    return ST_OK;
}

static enum status disagree(void *ctx, struct err *why)
{
    ++*(int *)ctx;
    return err_set(why, ST_CONFLICT, "not now");
}

/* As another process does that takes what is staged for left behind. */
static enum status take_away(void *ctx, struct err *why)
{
    (void)ctx;
    return store_drop_later(s, SV(STORE_STAGED "replacement1-1"), why);
}

static void a_copy_can_take_the_place_of_the_store(void)
{
    char path[400];
    int  asked = 0;

    snprintf(path, sizeof path, "%s.copy", file);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    enum status st = store_backup(s, sv_of(path), &e);
    if (st == ST_USAGE) /* it has no file */
        return;
    CHECK(st == ST_OK);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(append_one(SV("u"), note("{}")) == ST_OK);
    CHECK(store_backup(s, sv_of(path), &e) != ST_OK); /* a file that is not empty */
    CHECK(store_replace(s, sv_of(path), SV(STORE_STAGED "replacement1"), disagree, &asked, &e) ==
          ST_CONFLICT);
    CHECK(!store_stages(s) || store_replace(s, sv_of(path), SV(STORE_STAGED "replacement1"),
                                            take_away, NULL, &e) == ST_CONFLICT);
    CHECK_INT(rev_of(s, SV("t")), 2);
    CHECK(store_replace(s, sv_of(path), SV(STORE_STAGED "replacement1"), agree, &asked, &e) ==
          ST_OK);
    CHECK_INT(asked, 2);
    CHECK_INT(rev_of(s, SV("t")), 1);
    CHECK_INT(rev_of(s, SV("u")), 0);
    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    unlink(path);
}

/* ---- copying ------------------------------------------------------------------------ */

static struct store *open_file(const char *suffix)
{
    struct store *other = NULL;
    char          path[400];

    snprintf(path, sizeof path, "%s%s", file, suffix);
    CHECK(store_open(sv_of(path), &(struct store_options){ .create = true }, &other, &e) == ST_OK);
    return other;
}

static bool are_equal(struct store *x, struct store *y)
{
    struct store_thread *one, *two;
    size_t               n = 0, m = 0;
    bool                 same = true;

    CHECK(store_threads(x, &a, &one, &n, &e) == ST_OK &&
          store_threads(y, &a, &two, &m, &e) == ST_OK);
    for (size_t i = 0; i < n && n == m; i++)
        same = same && sv_eq(one[i].id, two[i].id) && one[i].head.rev == two[i].head.rev &&
               hash_eq(&one[i].head.chain, &two[i].head.chain) &&
               one[i].head.version == two[i].head.version;
    return same && n == m;
}

/* Many entries, so that they go in several pieces; large ones; rows. */
static void fill(struct store *to, int from, int until)
{
    static char  large[20000];
    struct entry list[100];
    char         text[100][40];

    memset(large, 'x', sizeof large - 1);
    memcpy(large, "{\"a\":\"", 6);
    memcpy(large + sizeof large - 3, "\"}", 2);
    for (int i = from; i < until; i++) {
        for (int k = 0; k < 100; k++) {
            snprintf(text[k], sizeof text[k], "{\"n\":%d}", i * 100 + k);
            list[k] = message("l", k % 3 ? MARK_MESSAGE : MARK_NONE);
            list[k].payload = sv_of(k == 50 ? large : text[k]);
            list[k].op_id = sv_of(text[k]);
        }
        CHECK(append_to(to, SV("t"), STORE_ANY_REV, list, 100) == ST_OK);
    }
}

static void a_log_can_be_copied_to_another_kind_of_store_and_back(void)
{
    struct store     *other = open_file(".other"), *back = open_file(".back");
    struct store_copy how = { .rows = true };
    struct sv        *views;
    size_t            n = 0;

    fill(s, 0, 7);
    CHECK(append_one(SV("u"), note("{\"u\":1}")) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("a\0b"), SV("1"));
    put_row(SV("c"), SV("\xff"));
    CHECK(store_row_put(s, &(struct store_key){ SV("t"), SV("w"), SV("k") }, SV("x"), &e) == ST_OK);
    CHECK(store_views(s, SV("t"), &a, &views, &n, &e) == ST_OK);
    CHECK_INT(n, 2);
    CHECK(n == 2 && sv_is(views[0], "v") && sv_is(views[1], "w"));
    CHECK(store_set_views(s, SV("t"), 77, &e) == ST_OK && store_commit(s, &e) == ST_OK);

    CHECK(store_copy(s, other, &how, &e) == ST_OK);
    CHECK_INT(how.threads, 2);
    CHECK_INT(how.entries, 701);
    CHECK(are_equal(s, other));
    CHECK(store_copy(s, other, &how, &e) == ST_OK); /* nothing is left to do */
    CHECK_INT(how.entries, 0);
    fill(s, 7, 8); /* it goes on where it stopped */
    CHECK(store_copy(s, other, &how, &e) == ST_OK);
    CHECK_INT(how.entries, 100);
    CHECK(are_equal(s, other));

    CHECK(store_copy(other, back, &how, &e) == ST_OK && are_equal(s, back));
    struct store *mine = s;
    s = back;
    CHECK_SV(rows_of(SV(""), (struct sv){ 0 }, false), SV("a\0b=1 c=\xff"));
    CHECK_INT(first_of(back, SV("t"), 750).payload.n, 19999);
    CHECK_SV(first_of(back, SV("t"), 799).op_id, SV("{\"n\":799}"));
    s = mine;

    CHECK(append_to(other, SV("u"), 1, &(struct entry){ .kind = SV("x"), .payload = SV("{}") },
                    1) == ST_OK);
    CHECK(store_copy(s, other, &how, &e) == ST_CONFLICT); /* it has gone its own way */
    CHECK_SV(sv_of(e.reason), SV("other_log"));
    store_close(other);
    store_close(back);
    for (const char *const *end = (const char *const[]){ ".other", ".back", NULL }; *end; end++) {
        char path[400];
        snprintf(path, sizeof path, "%s%s", file, *end);
        unlink(path);
    }
}

static void a_copy_into_this_store_comes_from_anywhere(void)
{
    struct store     *other = open_file(".from");
    struct store_copy how = { .rows = true };

    fill(other, 0, 4);
    CHECK(store_copy(other, s, &how, &e) == ST_OK);
    CHECK(are_equal(other, s));
    CHECK(append_one(SV("t"), note("{}")) == ST_OK); /* and is a log like any other */
    CHECK_INT(rev_of(s, SV("t")), 401);
    store_close(other);
}

static void a_store_says_where_it_is(void)
{
    struct store_fact *facts;
    size_t             n = 0;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_facts(s, &a, &facts, &n, &e) == ST_OK);
    CHECK(n >= 2);
    CHECK_SV(facts[0].name, SV("kind"));
    CHECK_SV(facts[1].name, SV("place"));
    CHECK(store_advise(s, complain, &(int){ 0 }, &e) == ST_OK);
    int64_t ahead = store_now(s) - clock_now_ms(); /* the same machine */
    CHECK(ahead > -5000 && ahead < 5000);
}

/* ---- erasing ---------------------------------------------------------------------------- */

#define SECRET "zqxjkvbp"

/* A message of chain version 2; the store does not care what the skeleton leaves out. */
static struct entry salted(const char *payload, const char *skeleton)
{
    struct entry n = { .at = 9,
                       .kind = SV("ai_message"),
                       .lane = SV("default"),
                       .mark = MARK_MESSAGE,
                       .payload = sv_of(payload),
                       .refs = SV("{\"r\":\"" SECRET "\"}"),
                       .salted = true,
                       .skeleton = sv_of(skeleton) };

    memset(n.salt, 7, sizeof n.salt);
    struct sv parts[] = { { (const char *)n.salt, sizeof n.salt }, n.payload, n.refs };
    n.content = hash_blake2b(parts, COUNT(parts));
    return n;
}

/* Entry `seq` of t as store_erase() wants it: `like` has skeleton and commitment. */
static struct entry to_erase(int64_t seq, const struct entry *like)
{
    struct entry n = first_of(s, SV("t"), seq);

    n.skeleton = like->skeleton;
    n.content = like->content;
    return n;
}

static bool chain_is_whole(struct sv thread)
{
    struct store_scan *scan = NULL;
    struct entry       n;
    enum entry_proof   proof = ENTRY_INTACT;
    bool               more = true;

    CHECK(store_scan(s, &(struct store_query){ .thread = thread, .to = STORE_TO_END }, &scan, &e) ==
          ST_OK);
    while (proof == ENTRY_INTACT && store_next(scan, &n, &more, &e) == ST_OK && more) {
        if (n.erased)
            n.skeleton = n.payload;
        struct sv parts[] = { { (const char *)n.salt, sizeof n.salt }, n.payload, n.refs };
        if (!n.erased)
            n.skeleton = SV("{\"content\":null}");
        if (!n.erased)
            n.content = hash_blake2b(parts, COUNT(parts));
        CHECK(store_prove(scan, &n, 1, &a, &proof, &e) == ST_OK);
    }
    store_scan_close(scan);
    return proof == ENTRY_INTACT;
}

static void an_erased_entry_keeps_its_place_and_its_chain(void)
{
    struct entry list[] = { salted("{\"content\":\"" SECRET "\"}", "{\"content\":null}"),
                            salted("{\"content\":\"stays\"}", "{\"content\":null}") };

    list[0].op_id = SV("once");
    CHECK(append_to(s, SV("t"), 0, list, 2) == ST_OK);
    struct entry gone = to_erase(0, &list[0]);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_erase(s, SV("t"), &gone, 1, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    struct entry n = first_of(s, SV("t"), 0);
    CHECK(n.erased && !n.salted);
    CHECK_SV(n.payload, SV("{\"content\":null}"));
    CHECK_SV(n.refs, SV("{}"));
    CHECK_SV(n.op_id, SV("once"));
    CHECK(hash_eq(&n.chain, &list[0].chain) && hash_eq(&n.content, &list[0].content));
    CHECK(chain_is_whole(SV("t")));
    CHECK_SV(lane_seqs("default", MARK_MESSAGE, 0, STORE_TO_END, false), SV("0 1"));
    CHECK_SV(first_of(s, SV("t"), 1).payload, SV("{\"content\":\"stays\"}"));
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK); /* again is nothing */
    CHECK(store_erase(s, SV("t"), &n, 1, &e) == ST_OK && store_commit(s, &e) == ST_OK);
    CHECK(append_one(SV("t"), salted("{\"content\":\"x\"}", "{\"content\":null}")) == ST_OK);
}

static void what_cannot_be_erased_is_refused(void)
{
    struct entry list[] = { salted("{\"content\":\"a\"}", "{\"content\":null}") };
    struct entry plain = note("{}");

    CHECK(append_to(s, SV("t"), 0, list, 1) == ST_OK);
    CHECK(append_to(s, SV("old"), 0, &plain, 1) == ST_OK);
    struct entry other = to_erase(0, &list[0]), missing = other, old = first_of(s, SV("old"), 0);
    other.skeleton = SV("{\"content\":1}");
    missing.seq = 7;
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_erase(s, SV("t"), &other, 1, &e) == ST_CORRUPT);
    CHECK(store_erase(s, SV("t"), &missing, 1, &e) == ST_NOT_FOUND);
    CHECK(store_erase(s, SV("old"), &old, 1, &e) == ST_INVALID_SYNTAX);
    store_abort(s);
    CHECK_SV(first_of(s, SV("t"), 0).payload, SV("{\"content\":\"a\"}"));
}

/* Bytes of the file and its write-ahead log. */
static bool files_hold(const char *word)
{
    static const char *const suffixes[] = { "", "-wal" };
    bool                     holds = false;

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char name[330];
        snprintf(name, sizeof name, "%s%s", file, suffixes[i]);
        FILE *f = fopen(name, "rb");
        if (!f)
            continue;
        struct sb b = sb_in(&a, 0);
        for (int c; (c = fgetc(f)) != EOF;)
            sb_addc(&b, (char)c);
        fclose(f);
        holds = holds || sv_find(sb_sv(&b), sv_of(word)) >= 0;
    }
    return holds;
}

static void scrubbed_files_hold_nothing_of_it(void)
{
    static char large[9000];

    memset(large, 'x', sizeof large - 1);
    memcpy(large, "{\"content\":\"" SECRET, strlen("{\"content\":\"" SECRET));
    memcpy(large + sizeof large - 3, "\"}", 2);
    struct entry list[] = { salted("{\"content\":\"" SECRET "\"}", "{\"content\":null}"),
                            salted(large, "{\"content\":null}") };
    CHECK(append_to(s, SV("t"), 0, list, 2) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("k"), SV(SECRET));
    CHECK(store_text_put(s, SV("t"), 0, SV(SECRET " word"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    put_row(SV("k"), SV("v"));
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(!strstr(backend->url, "sqlite") || files_hold(SECRET));
    struct entry gone[] = { to_erase(0, &list[0]), to_erase(1, &list[1]) };
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_erase(s, SV("t"), gone, 2, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_scrub(s, NULL, NULL, &e) == ST_OK);
    CHECK(!files_hold(SECRET));
    struct store_stats st = { 0 };
    CHECK(store_stats(s, &st, &e) == ST_OK);
    CHECK_INT(st.blobs, 0);
    CHECK(chain_is_whole(SV("t")));
}

static void a_blob_that_another_entry_has_stays(void)
{
    static char large[9000];

    memset(large, 'x', sizeof large - 1);
    memcpy(large, "{\"content\":\"", strlen("{\"content\":\""));
    memcpy(large + sizeof large - 3, "\"}", 2);
    struct entry list[] = { salted(large, "{\"content\":null}"),
                            salted(large, "{\"content\":null}") };
    CHECK(append_to(s, SV("t"), 0, list, 2) == ST_OK);
    struct entry gone = to_erase(0, &list[0]);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_erase(s, SV("t"), &gone, 1, &e) == ST_OK && store_commit(s, &e) == ST_OK);
    CHECK_SV(first_of(s, SV("t"), 1).payload, sv_of(large));
}

static void a_thread_of_version_1_gets_a_chain_of_version_2(void)
{
    struct entry      list[] = { note("{\"a\":1}"), note("{\"a\":2}") };
    struct hash       chain = { 0 };
    struct store_head h;

    CHECK(append_to(s, SV("t"), 0, list, 2) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (int64_t i = 0; i < 2; i++) {
        struct entry n = first_of(s, SV("t"), i);
        struct entry like = salted("{}", "{\"a\":null}");
        struct sv parts[] = { { (const char *)like.salt, sizeof like.salt }, n.payload, SV("{}") };
        n.id = entry_id(&n, &a);
        memcpy(n.salt, like.salt, sizeof n.salt);
        n.salted = true;
        n.skeleton = SV("{\"a\":null}");
        n.content = hash_blake2b(parts, COUNT(parts));
        CHECK(store_rechain(s, SV("t"), &n, &chain, i == 1, &e) == ST_OK);
    }
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK_INT(h.version, 2);
    CHECK(hash_eq(&h.chain, &chain) && store_head_agrees(SV("t"), &h, &e) == ST_OK);
    CHECK(first_of(s, SV("t"), 1).salted && first_of(s, SV("t"), 1).id.n > 0);
    CHECK(append_one(SV("t"), salted("{\"content\":\"x\"}", "{\"content\":null}")) == ST_OK);
}

/* ---- a model ----------------------------------------------------------------------- */

/* The store and one in memory do the same; whatever is asked, both must answer alike. The store is
 * opened anew now and then, so that it knows nothing and is given what the last one left for it. */
struct twins {
    struct store *of[2]; /* the store, the model */
    uint32_t      seed;
    int           ops; /* op_ids that were used */
};

static uint32_t draw(struct twins *w, uint32_t below)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

static struct sv a_thread(struct twins *w)
{
    return draw(w, 3) ? SV("t") : SV("u");
}

static struct sv a_view(struct twins *w)
{
    return draw(w, 4) ? SV("v") : SV("w");
}

static struct sv a_key(struct twins *w, bool whole)
{
    static const char *const prefixes[] = { "a/", "b/", "b/1", "c" };
    struct sb                b = sb_in(&a, 0);

    sb_adds(&b, prefixes[draw(w, COUNT(prefixes))]);
    if (whole)
        sb_add_int(&b, draw(w, 90));
    return sb_sv(&b);
}

static struct sv all_rows(struct store *from, const struct store_row_query *q)
{
    struct store_rows *rows = NULL;
    struct store_row   row;
    struct sb          b = sb_in(&a, 0);
    bool               more = true;

    CHECK(store_rows(from, q, &rows, &e) == ST_OK);
    while (rows && store_rows_next(rows, &row, &more, &e) == ST_OK && more)
        sb_addf(&b, SV_FMT "=" SV_FMT " ", SV_ARG(row.key), SV_ARG(row.value));
    store_rows_close(rows);
    return sb_sv(&b);
}

static void compare_range(struct twins *w)
{
    struct store_row_query q = { .thread = a_thread(w),
                                 .view = a_view(w),
                                 .prefix = draw(w, 4) ? a_key(w, false) : SV(""),
                                 .after = draw(w, 4) ? (struct sv){ 0 } : a_key(w, true),
                                 .backwards = draw(w, 3) == 0 };

    CHECK_SV(all_rows(w->of[0], &q), all_rows(w->of[1], &q));
}

static void compare_row(struct twins *w)
{
    struct store_key k = { a_thread(w), a_view(w), a_key(w, true) };
    struct sv        values[2] = { SV(""), SV("") };
    bool             found[2] = { false, false };

    for (int i = 0; i < 2; i++)
        CHECK(store_row_get(w->of[i], &k, &a, &values[i], &found[i], &e) == ST_OK);
    CHECK(found[0] == found[1]);
    CHECK_SV(found[0] ? values[0] : SV(""), found[1] ? values[1] : SV(""));
}

static struct sv all_entries(struct store *from, const struct store_query *q)
{
    struct store_scan *scan = NULL;
    struct entry       n;
    struct sb          b = sb_in(&a, 0);
    bool               more = true;

    CHECK(store_scan(from, q, &scan, &e) == ST_OK);
    while (scan && store_next(scan, &n, &more, &e) == ST_OK && more) {
        enum entry_proof proof = ENTRY_INTACT;
        sb_addf(&b, "%lld:" SV_FMT ":", (long long)n.seq, SV_ARG(n.payload));
        if (q->brief)
            continue;
        CHECK(store_prove(scan, &n, 1, &a, &proof, &e) == ST_OK);
        CHECK(proof == ENTRY_INTACT);
        sb_addf(&b, "%d:" SV_FMT ":" SV_FMT ":" SV_FMT " ", n.mark, SV_ARG(n.lane), SV_ARG(n.op_id),
                SV_ARG(n.refs));
    }
    store_scan_close(scan);
    return sb_sv(&b);
}

static void compare_scan(struct twins *w)
{
    static const struct sv lanes[] = { SV_STATIC("l"), SV_STATIC("m") };
    struct store_query     q = { .thread = a_thread(w),
                                 .from = draw(w, 3) ? 0 : draw(w, 120),
                                 .to = draw(w, 3) ? STORE_TO_END : draw(w, 120),
                                 .backwards = draw(w, 2),
                                 .brief = draw(w, 2) };

    if (draw(w, 2)) {
        q.lane = lanes[draw(w, 2)];
        q.mark = draw(w, 2) ? MARK_MESSAGE : MARK_ANCHOR;
    }
    CHECK_SV(all_entries(w->of[0], &q), all_entries(w->of[1], &q));
}

static void compare_op(struct twins *w)
{
    struct sv    thread = a_thread(w);
    char         op[24];
    struct entry n[2] = { { .seq = -1 }, { .seq = -1 } };
    bool         found[2] = { false, false };

    snprintf(op, sizeof op, "op%u", draw(w, (uint32_t)w->ops + 2));
    for (int i = 0; i < 2; i++)
        CHECK(store_find_op(w->of[i], thread, sv_of(op), &a, &n[i], &found[i], &e) == ST_OK);
    CHECK(found[0] == found[1]);
    if (found[0] && found[1])
        CHECK_INT(n[0].seq, n[1].seq);
}

static void change_one_row(struct twins *w)
{
    struct store_key k = { a_thread(w), a_view(w), a_key(w, true) };
    bool             del = draw(w, 5) == 0;
    struct sb        b = sb_in(&a, 0);

    sb_pad(&b, 'x', draw(w, 60));
    for (int i = 0; i < 2; i++) {
        if (rev_of(w->of[i], k.thread) == 0)
            continue;
        CHECK((del ? store_row_del(w->of[i], &k, &e)
                   : store_row_put(w->of[i], &k, sb_sv(&b), &e)) == ST_OK);
    }
}

static void append_some(struct twins *w)
{
    struct sv    thread = a_thread(w);
    size_t       n = 1 + draw(w, draw(w, 20) ? 3 : 80);
    struct entry list[80];
    char         op[24];

    snprintf(op, sizeof op, "op%d", w->ops);
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(&a, 0);
        sb_addf(&b, "{\"n\":%u}", draw(w, 1000));
        list[i] = message(draw(w, 3) ? "l" : "m", (enum entry_mark)draw(w, 3));
        list[i].payload = sb_sv(&b);
    }
    if (draw(w, 3) == 0) {
        list[0].op_id = sv_of(op);
        w->ops++;
    }
    for (int i = 0; i < 2; i++) {
        struct store_head h;
        struct entry      copy[80];
        memcpy(copy, list, n * sizeof *list);
        CHECK(store_append(w->of[i], thread, STORE_ANY_REV, copy, n, &h, &e) == ST_OK);
    }
}

static void change_other(struct twins *w)
{
    struct sv thread = a_thread(w), view = a_view(w);
    bool      clear = draw(w, 4) == 0;
    int64_t   rev = rev_of(w->of[1], thread), at = rev ? draw(w, (uint32_t)rev) : 0;

    CHECK_INT(rev_of(w->of[0], thread), rev);
    for (int i = 0; i < 2 && rev; i++)
        CHECK((clear ? store_rows_clear(w->of[i], thread, view, &e)
                     : store_set_mark(w->of[i], thread, at, MARK_MESSAGE, &e)) == ST_OK);
}

static void one_transaction(struct twins *w, enum store_mode mode)
{
    static void (*const reads[])(struct twins *) = { compare_range, compare_row, compare_scan,
                                                     compare_op };
    static void (*const writes[])(struct twins *) = { change_one_row, change_one_row, append_some,
                                                      change_other };
    struct sv thread = a_thread(w);

    for (int i = 0; i < 2; i++)
        CHECK(store_begin_on(w->of[i], mode, thread, &e) == ST_OK);
    for (uint32_t left = 1 + draw(w, 14); left && !tap_failures; left--) {
        bool write = mode == STORE_WRITE && draw(w, 2);
        (write ? writes[draw(w, COUNT(writes))] : reads[draw(w, COUNT(reads))])(w);
    }
    bool keep = mode == STORE_WRITE && draw(w, 4);
    for (int i = 0; i < 2; i++)
        if (!keep)
            store_abort(w->of[i]);
        else
            CHECK(store_commit(w->of[i], &e) == ST_OK);
}

static void a_store_answers_as_a_model_of_it_does(void)
{
    static int    number;
    char          name[40];
    const char   *seed = getenv("HEDDLE_TEST_SEED"); /* for more runs than this one */
    struct twins  w = { .seed = (uint32_t)(seed ? atoi(seed) : 7) + (uint32_t)number };
    struct store *keep = open_again(0); /* what is in memory goes with the last who has it open */

    snprintf(name, sizeof name, "mem:model-%d", number++);
    CHECK(store_open(sv_of(name), &(struct store_options){ .create = true }, &w.of[1], &e) ==
          ST_OK);
    for (int i = 0; i < 220 && !tap_failures; i++) {
        if (draw(&w, 4) == 0) {
            store_close(s);
            s = open_again(0);
        }
        w.of[0] = s;
        one_transaction(&w, draw(&w, 3) ? STORE_WRITE : STORE_READ);
        arena_free(&a);
    }
    store_close(w.of[1]);
    store_close(keep);
}

/* ---- a log that was moved ------------------------------------------------------------------ */

static enum status set_moved(struct store *in, struct sv to, struct sv came)
{
    struct store_moved m = { .to = to, .id = SV("m1"), .came = came };

    if (store_begin_alone(in, &e))
        return e.code;
    enum status st = store_set_moved(in, &m, &e);
    if (!st)
        st = store_commit(in, &e);
    store_abort(in);
    return st;
}

static void check_refused(struct store *to, struct sv thread)
{
    struct entry n = note("{}");

    CHECK(append_to(to, thread, STORE_ANY_REV, &n, 1) == ST_CONFLICT);
    CHECK(strcmp(e.reason, STORE_MOVED) == 0);
    CHECK(strstr(e.text, "/else/where.db") != NULL);
    CHECK(strstr(e.hint, "heddle store switch /else/where.db") != NULL);
}

static void a_moved_log_refuses_writers_and_lets_readers_go_on(void)
{
    struct store_moved m;
    struct store      *before = open_again(0), *after = NULL, *past = NULL;
    struct entry       n = note("{}");

    CHECK(append_to(before, SV("t"), 0, &n, 1) == ST_OK);
    CHECK(!store_gone_to(before).s);
    CHECK(set_moved(s, SV("/else/where.db"), SV("m0 /from/there.db\n")) == ST_OK);
    after = open_again(0);
    check_refused(before, SV("t")); /* it was open when the log was moved */
    check_refused(before, SV("new"));
    check_refused(after, SV("t"));
    check_refused(s, SV("t"));
    CHECK_INT(rev_of(after, SV("t")), 1);
    CHECK_INT(rev_of(after, SV("new")), 0);
    CHECK(store_begin(after, STORE_READ, &e) == ST_OK);
    CHECK_INT(rev_of(after, SV("t")), 1);
    store_abort(after);
    CHECK_SV(store_gone_to(after), SV("/else/where.db"));
    CHECK(store_moved(after, &a, &m, &e) == ST_OK);
    CHECK_SV(m.to, SV("/else/where.db"));
    CHECK_SV(m.id, SV("m1"));
    CHECK(!m.back.n);
    CHECK(store_came_by(&m, SV("m0")) && !store_came_by(&m, SV("m")) && !store_came_by(&m, SV("")));
    CHECK(store_open(sv_of(url), &(struct store_options){ .past_move = true }, &past, &e) == ST_OK);
    CHECK(append_to(past, SV("t"), 1, &n, 1) == ST_OK); /* it is kept as a copy */
    CHECK(set_moved(s, (struct sv){ 0 }, SV("m0 /from/there.db\n")) == ST_OK);
    CHECK(append_to(before, SV("t"), 2, &n, 1) == ST_OK);
    CHECK(append_to(before, SV("new"), 0, &n, 1) == ST_OK);
    CHECK(!store_gone_to(before).s);
    store_close(before);
    store_close(after);
    store_close(past);
}

static void a_group_is_refused_when_the_log_was_moved(void)
{
    struct store     *other = open_again(0);
    struct entry      n = note("{}");
    struct store_head h;

    CHECK(append_one(SV("t"), n) == ST_OK);
    CHECK(set_moved(s, SV("/else/where.db"), SV("")) == ST_OK);
    e.reason[0] = 0;
    if (!store_group_begin(other, &e) && !store_begin_on(other, STORE_WRITE, SV("t"), &e))
        CHECK(store_append(other, SV("t"), 1, &n, 1, &h, &e) == ST_CONFLICT);
    CHECK(strcmp(e.reason, STORE_MOVED) == 0);
    store_abort(other);
    store_group_abort(other);
    CHECK_INT(rev_of(other, SV("t")), 1);
    store_close(other);
}

/* The log is marked while a transaction of another writer is open: either the mark waits for it, or
 * it fails, although what it sees is older than the mark. */
static void mark_against_a_writer(struct sv thread)
{
    struct store     *writer = open_again(50), *mover = open_again(50);
    struct entry      n = note("{}");
    struct store_head h;
    int64_t           rev;

    CHECK(store_begin(writer, STORE_WRITE, &e) == ST_OK);
    CHECK(store_head(writer, SV("seen"), &h, &e) == ST_OK);
    enum status marked = set_moved(mover, SV("/else/where.db"), SV(""));
    CHECK(!marked || (marked == ST_CONFLICT && strcmp(e.reason, "busy") == 0));
    enum status wrote = store_append(writer, thread, STORE_ANY_REV, &n, 1, &h, &e);
    if (!wrote)
        wrote = store_commit(writer, &e);
    store_abort(writer);
    CHECK(marked ? !wrote : wrote == ST_CONFLICT);
    rev = rev_of(mover, thread);
    CHECK(set_moved(mover, SV("/else/where.db"), SV("")) == ST_OK);
    check_refused(writer, thread);
    CHECK_INT(rev_of(mover, thread), rev);
    store_close(writer);
    store_close(mover);
}

static void a_writer_that_began_before_the_log_was_moved_is_not_lost(void)
{
    struct entry n = note("{}");

    CHECK(append_one(SV("seen"), n) == ST_OK);
    CHECK(append_one(SV("t"), n) == ST_OK);
    mark_against_a_writer(SV("t"));
    CHECK(set_moved(s, (struct sv){ 0 }, SV("")) == ST_OK);
    mark_against_a_writer(SV("new"));
}

static void moving_waits_for_a_writer_and_sees_what_it_wrote(void)
{
    static const struct sv threads[] = { SV_STATIC("t"), SV_STATIC("new") };
    struct entry           n = note("{}");

    CHECK(append_one(SV("t"), n) == ST_OK);
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct store      *writer = open_again(0), *mover = open_again(50);
        struct store_head  h;
        struct store_moved m;
        CHECK(store_begin_on(writer, STORE_WRITE, threads[i], &e) == ST_OK);
        CHECK(store_append(writer, threads[i], STORE_ANY_REV, &n, 1, &h, &e) == ST_OK);
        CHECK(set_moved(mover, SV("/else/where.db"), SV("")) == ST_CONFLICT);
        CHECK(strcmp(e.reason, "busy") == 0);
        CHECK(store_begin_alone(mover, &e) || store_moved(mover, &a, &m, &e));
        store_abort(mover);
        CHECK(store_commit(writer, &e) == ST_OK);
        CHECK(store_begin_alone(mover, &e) == ST_OK);
        CHECK_INT(rev_of(mover, threads[i]), h.rev);
        store_abort(mover);
        CHECK(append_to(writer, threads[i], h.rev, &n, 1) == ST_OK); /* nothing was marked */
        store_close(writer);
        store_close(mover);
    }
}

static void a_copy_that_takes_the_place_of_the_store_leaves_the_mark_out(void)
{
    struct store_options o = { .create = true };
    struct store        *copy = NULL;
    struct entry         n = note("{}");
    struct store_moved   m;
    char                 path[400];
    int                  asked = 0;

    snprintf(path, sizeof path, "%s-copy", file);
    if (append_one(SV("t"), n) || store_backup(s, sv_of(path), &e))
        return; /* a store without a file */
    CHECK(store_open(sv_of(path), &o, &copy, &e) == ST_OK);
    CHECK(set_moved(copy, SV("/else/where.db"), SV("")) == ST_OK);
    CHECK(store_compact(copy, &e) == ST_OK);
    store_close(copy);
    CHECK(store_replace(s, sv_of(path), SV(STORE_STAGED "replacement1"), agree, &asked, &e) ==
          ST_OK);
    CHECK(append_one(SV("t"), n) == ST_OK);
    CHECK(set_moved(s, SV("/else/where.db"), SV("")) == ST_OK);
    CHECK(store_replace(s, sv_of(path), SV(STORE_STAGED "replacement1"), agree, &asked, &e) ==
          ST_CONFLICT);
    CHECK(strcmp(e.reason, STORE_MOVED) == 0);
    CHECK(store_moved(s, &a, &m, &e) == ST_OK);
    CHECK_SV(m.to, SV("/else/where.db"));
    unlink(path);
}

static const struct tap_test tests[] = {
    T(an_unknown_thread_has_rev_0),
    T(seqs_are_dense_and_the_store_gives_them),
    T(the_head_knows_first_and_last_time),
    T(an_expected_rev_must_be_the_head),
    T(a_batch_is_appended_whole_or_not_at_all),
    T(appending_nothing_is_fine),
    T(an_aborted_transaction_leaves_nothing),
    T(closing_aborts_what_is_open),
    T(a_transaction_reads_what_it_wrote),
    T(one_transaction_may_append_to_several_threads),
    T(chain_values_are_those_of_the_format),
    T(the_chain_can_be_computed_again_from_what_is_read),
    T(every_field_comes_back),
    T(payloads_of_all_sizes_come_back),
    T(an_op_id_is_unique_in_its_thread),
    T(scans_run_both_ways_between_their_bounds),
    T(empty_ranges_give_nothing),
    T(lane_scans_see_one_lane_and_one_mark),
    T(lane_scans_find_messages_far_apart),
    T(first_copies_and_says_when_there_is_none),
    T(a_mark_can_be_changed),
    T(a_scan_survives_writes_of_its_transaction),
    T(bad_thread_ids_are_refused_everywhere),
    T(each_limit_holds_to_the_byte),
    T(bad_names_in_entries_are_refused),
    T(a_batch_has_limits_too),
    T(rows_need_their_thread),
    T(rows_are_put_replaced_and_deleted),
    T(rows_come_in_the_order_of_their_bytes),
    T(row_scans_start_where_they_are_told),
    T(rows_may_hold_any_bytes),
    T(a_transaction_reads_the_rows_it_wrote),
    T(a_transaction_knows_the_head_it_made),
    T(hints_change_nothing),
    T(a_wanted_scan_is_as_good_as_any),
    T(a_second_writer_waits_and_is_told),
    T(writers_of_other_threads_do_not_wait),
    T(threads_come_in_the_order_of_their_bytes),
    T(a_reader_sees_one_state),
    T(a_reader_sees_nothing_that_is_not_committed),
    T(a_thread_undone_by_one_can_be_made_by_another),
    T(parts_of_a_group_become_visible_together),
    T(a_part_of_a_group_is_undone_by_itself),
    T(a_group_that_is_dropped_leaves_nothing),
    T(parts_of_a_group_can_be_announced),
    T(a_busy_thread_that_was_announced_is_the_conflict_of_its_part),
    T(a_group_is_one_writer_for_others),
    T(a_busy_thread_is_the_conflict_of_its_part_of_a_group_alone),
    T(a_thread_that_changed_since_its_group_began_is_a_conflict_of_that_part),
    T(a_large_part_of_a_group_is_undone_by_itself),
    T(an_op_id_of_an_undone_part_is_free_and_one_of_a_kept_part_is_taken),
    T(a_wait_ends_when_an_entry_comes),
    T(a_mark_changes_with_each_commit_and_with_nothing_else),
    T(opening_what_is_missing_needs_create),
    T(everything_is_there_after_opening_again),
    T(a_store_counts_checks_and_compacts),
    T(a_thread_that_is_dropped_leaves_nothing),
    T(a_copy_can_take_the_place_of_the_store),
    T(a_log_can_be_copied_to_another_kind_of_store_and_back),
    T(a_copy_into_this_store_comes_from_anywhere),
    T(a_store_says_where_it_is),
    T(an_erased_entry_keeps_its_place_and_its_chain),
    T(what_cannot_be_erased_is_refused),
    T(scrubbed_files_hold_nothing_of_it),
    T(a_blob_that_another_entry_has_stays),
    T(a_thread_of_version_1_gets_a_chain_of_version_2),
    T(a_moved_log_refuses_writers_and_lets_readers_go_on),
    T(a_group_is_refused_when_the_log_was_moved),
    T(a_writer_that_began_before_the_log_was_moved_is_not_lost),
    T(moving_waits_for_a_writer_and_sees_what_it_wrote),
    T(a_copy_that_takes_the_place_of_the_store_leaves_the_mark_out),
    T(a_store_answers_as_a_model_of_it_does),
};

int main(int argc, char **argv)
{
    int  failed = 0, ran = 0;
    char name[160];

    folder = fresh_folder();
    server = getenv("HEDDLE_TEST_POSTGRES");
    for (size_t b = 0; b < COUNT(backends); b++)
        for (size_t i = 0; i < COUNT(tests); i++) {
            if (!server && sv_ends(sv_of(backends[b].url), SV("postgres"))) {
                printf("ok %d - %s # SKIP HEDDLE_TEST_POSTGRES is not set\n", ++ran,
                       backends[b].name);
                break;
            }
            snprintf(name, sizeof name, "%s: %s", backends[b].name, tests[i].name);
            if (argc > 1 && !strstr(name, argv[1]))
                continue;
            backend = &backends[b];
            tap_failures = 0;
            set_up();
            tests[i].run();
            tear_down();
            printf("%sok %d - %s\n", tap_failures ? "not " : "", ++ran, name);
            fflush(stdout);
            failed += tap_failures > 0;
        }
    fresh_done(&folder);
    printf("1..%d\n", ran);
    return failed > 0;
}
