/* What every store must do, run for each backend. An argument runs only the tests whose
 * "backend: name" holds it. */
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
    const char *name, *url; /* %s becomes a fresh name in the work folder */
} backends[] = {
    { "mem",            "mem:%s" },
    { "sqlite",         "sqlite:%s" },
    { "fault over sqlite", "fault:0:sqlite:%s" },
    { "fault over mem", "fault:0:mem:%s" },
};
/* clang-format on */

/* Made anew for each test. */
static const struct backend *backend;
static struct fresh          folder;
static char                  url[360], file[300];
static struct arena          a;
static struct err            e;
static struct store         *s;

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
    int64_t            now;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK(append_one(bad[i], note("{}")) == ST_INVALID_SYNTAX);
        CHECK(store_head(s, bad[i], &h, &e) == ST_INVALID_SYNTAX);
        CHECK(store_scan(s, &(struct store_query){ .thread = bad[i] }, &scan, &e) ==
              ST_INVALID_SYNTAX);
        CHECK(store_find_op(s, bad[i], SV("x"), &a, &got, &found, &e) == ST_INVALID_SYNTAX);
        CHECK(store_wait(s, bad[i], 0, 0, &now, &e) == ST_INVALID_SYNTAX);
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

static void a_second_writer_waits_and_is_told(void)
{
    struct store     *other = open_again(40);
    struct entry      one = note("{}");
    struct store_head h;

    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(s, SV("t"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_begin(other, STORE_WRITE, &e) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("busy"));
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(append_to(other, SV("t"), 0, &one, 1) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("rev"));
    CHECK(append_to(other, SV("t"), 1, &one, 1) == ST_OK);
    CHECK_INT(rev_of(s, SV("t")), 2);
    store_close(other);
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
    pthread_t other;
    int64_t   now = -1;

    CHECK(append_one(SV("t"), note("{}")) == ST_OK);
    CHECK(store_wait(s, SV("t"), 0, 60000, &now, &e) == ST_OK); /* there already */
    CHECK_INT(now, 1);
    CHECK(store_wait(s, SV("t"), 1, 10, &now, &e) == ST_OK); /* nothing comes */
    CHECK_INT(now, 1);
    CHECK(pthread_create(&other, NULL, append_soon, NULL) == 0);
    CHECK(store_wait(s, SV("t"), 1, 60000, &now, &e) == ST_OK);
    CHECK_INT(now, 2);
    pthread_join(other, NULL);
}

/* ---- opening and care --------------------------------------------------------------- */

static void opening_what_is_missing_needs_create(void)
{
    struct store *other;
    char          missing[400];

    snprintf(missing, sizeof missing, "%s.missing", url);
    CHECK(store_open(sv_of(missing), &(struct store_options){ 0 }, &other, &e) == ST_NOT_FOUND);
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
        CHECK(store_prove(scan, &n, &proof, &e) == ST_OK);
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
    T(a_second_writer_waits_and_is_told),
    T(a_reader_sees_one_state),
    T(a_reader_sees_nothing_that_is_not_committed),
    T(a_thread_undone_by_one_can_be_made_by_another),
    T(a_wait_ends_when_an_entry_comes),
    T(opening_what_is_missing_needs_create),
    T(everything_is_there_after_opening_again),
    T(a_store_counts_checks_and_compacts),
    T(an_erased_entry_keeps_its_place_and_its_chain),
    T(what_cannot_be_erased_is_refused),
    T(scrubbed_files_hold_nothing_of_it),
    T(a_blob_that_another_entry_has_stays),
    T(a_thread_of_version_1_gets_a_chain_of_version_2),
};

int main(int argc, char **argv)
{
    int  failed = 0, ran = 0;
    char name[160];

    folder = fresh_folder();
    for (size_t b = 0; b < COUNT(backends); b++)
        for (size_t i = 0; i < COUNT(tests); i++) {
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
