/* The tree: random trees against a plain recount, ancestors, ids, hashes, versions. */
#include "loom_test.h"

#include "base/rand.h"
#include "loom/attest.h"
#include "loom/columns.h"
#include "loom/exchange.h"
#include "loom/limits.h"
#include "loom/loom_internal.h"
#include "loom/provenance.h"
#include "store/store_internal.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

static struct loom_test t;

/* ---- provenance -------------------------------------------------------------------- */

static void the_published_hashes_come_out(void)
{
    struct arena      a = { 0 };
    struct json       hello = json_of(SV("hello")), there = json_of(SV("hi there"));
    struct provenance p = { .content = provenance_content(&hello, &a),
                            .at = 1771891200000,
                            .author = SV("01KAGENT00000000000000000A") };
    struct sv         first = provenance_hash(&p, &a);

    CHECK_SV(first, SV("a13edb1152e486eebe3f1874fcd87dfab268a1f1e8320dfc956deb865decb479"));
    struct sv raw = provenance_response(SV("x-request-id: req-1\ncontent-type: application/json"),
                                        SV("{}"), &a);
    CHECK_SV(raw, SV("a24793409bd0ab93e1d1bbe7f05a22642798ce9dce4fb23af482fb5a2023a4c7"));
    struct provenance q = { .content = provenance_content(&there, &a),
                            .parents = &first,
                            .n_parents = 1,
                            .at = 1771891201000,
                            .author = SV("01KAGENT00000000000000000B"),
                            .response = raw };
    CHECK_SV(provenance_hash(&q, &a),
             SV("a5b3f7dee0c11e2cfd7bd12c8559825d94b75f777c6d4ca694003e328dd81886"));
    arena_free(&a);
}

/* ---- a plain recount ---------------------------------------------------------------- */

enum { NODES = 400 };
struct plain {
    int64_t seq, parent; /* index, or -1 */
    bool    pruned;
};
static struct plain plain[NODES];
static size_t       n_plain;
static uint64_t     seed = 7;

static size_t draw(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % below;
}

static bool plain_hidden(size_t i)
{
    for (int64_t at = (int64_t)i; at >= 0; at = plain[at].parent)
        if (plain[at].pruned)
            return true;
    return false;
}

static void recount(struct tree *out)
{
    *out = (struct tree){ 0 };
    for (size_t i = 0; i < n_plain; i++) {
        int64_t kids = 0;
        if (plain_hidden(i))
            continue;
        out->nodes++;
        for (size_t k = 0; k < n_plain; k++)
            kids += plain[k].parent == (int64_t)i && !plain[k].pruned;
        out->leaves += kids == 0;
        out->points += kids >= 2;
        out->branches += kids >= 2 ? kids : 0;
    }
}

static void compare(struct loom *l, size_t step)
{
    struct tree want, got;

    recount(&want);
    CHECK(loom_tree(l, &got, &t.e) == ST_OK);
    CHECK_INT(got.nodes, want.nodes);
    CHECK_INT(got.leaves, want.leaves);
    CHECK_INT(got.points, want.points);
    CHECK_INT(got.branches, want.branches);
    if (step % 20)
        return;
    for (size_t i = 0; i < n_plain; i++) {
        struct node n;
        int64_t     by = NO_NODE;
        CHECK(node_at(l, plain[i].seq, &n, &t.e) == ST_OK &&
              node_hidden(l, &n, &by, &t.e) == ST_OK);
        CHECK((by != NO_NODE) == plain_hidden(i));
    }
}

static void grow(struct loom *l)
{
    struct node     parent, made;
    size_t          at = n_plain ? draw(3) ? n_plain - 1 : draw(n_plain) : 0;
    struct new_node n = { .text = SV("x"), .author = SV("ada"), .via = "say" };

    if (n_plain) {
        CHECK(node_at(l, plain[at].seq, &parent, &t.e) == ST_OK);
        n.parent = &parent;
    }
    CHECK(loom_add(l, &n, &made, &t.e) == ST_OK);
    plain[n_plain] = (struct plain){ made.seq, n_plain ? (int64_t)at : -1, false };
    n_plain++;
}

static void prune_or_restore(struct loom *l)
{
    size_t      at = draw(n_plain);
    struct node n;

    if (plain[at].parent < 0)
        return;
    CHECK(node_at(l, plain[at].seq, &n, &t.e) == ST_OK);
    CHECK(loom_mark(l, SV("ada"), plain[at].pruned ? "restore" : "prune", &n, (struct sv){ 0 },
                    &t.e) == ST_OK);
    plain[at].pruned = !plain[at].pruned;
}

static void say(void *ctx, struct sv finding)
{
    (void)ctx;
    printf("# " SV_FMT "\n", SV_ARG(finding));
    tap_failures++;
}

/* The columns of all nodes are what the nodes say, one by one. */
static void check_columns(struct loom *l)
{
    struct tree_columns c;

    CHECK(loom_columns(l, -1, &c, &t.e) == ST_OK);
    CHECK_INT(c.n, n_plain);
    for (size_t i = 0; i < c.n && i < n_plain; i++) {
        struct node n;
        int64_t     up = plain[i].parent;
        CHECK(node_at(l, plain[i].seq, &n, &t.e) == ST_OK);
        CHECK_INT(c.seq[i], plain[i].seq);
        CHECK_INT(c.parent[i], up < 0 ? COLUMN_NO_PARENT : plain[up].seq);
        CHECK_INT(c.flags[i], (n.pruned ? COLUMN_PRUNED : 0) | (int)n.kind);
        CHECK(n.local.n != COLUMN_LOCAL || memcmp(c.local[i], n.local.s, COLUMN_LOCAL) == 0);
    }
}

/* Whoever has the columns of an earlier entry, and takes in what came since, has those of now. */
static void check_columns_since(struct loom *l, const struct tree_columns *then)
{
    struct tree_columns now, more;
    size_t              n = then->n;

    CHECK(loom_columns(l, -1, &now, &t.e) == ST_OK &&
          loom_columns(l, then->rev - 1, &more, &t.e) == ST_OK);
    for (size_t i = 0, at = 0; i < more.n; i++) {
        CHECK(i == 0 || more.seq[i - 1] < more.seq[i]);
        while (at < now.n && now.seq[at] != more.seq[i])
            at++;
        CHECK(at < now.n && now.flags[at] == more.flags[i] && now.parent[at] == more.parent[i]);
        if (more.seq[i] >= then->rev)
            n++;
        else
            then->flags[at] = more.flags[i];
    }
    CHECK_INT(n, now.n);
    CHECK(memcmp(then->flags, now.flags, then->n) == 0);
}

static void totals_follow_random_growth_and_prunes(void)
{
    loom_test_open(&t, PERM_ALL);
    struct loom         l = { .log = &t.log, .thread = SV("random"), .a = &t.a, .now = TEST_NOW };
    struct tree_columns then = { 0 };
    int64_t             entries;

    n_plain = 0;
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    for (size_t step = 0; n_plain < NODES; step++) {
        if (!n_plain || draw(5))
            grow(&l);
        else
            prune_or_restore(&l);
        if (step % 7 == 0)
            compare(&l, step);
        if (step % 50 == 49) {
            check_columns(&l);
            if (then.n)
                check_columns_since(&l, &then);
            CHECK(loom_columns(&l, -1, &then, &t.e) == ST_OK);
        }
    }
    CHECK(log_commit(&t.log, &t.e) == ST_OK);
    CHECK(log_verify(&t.log, l.thread, say, NULL, &entries, &t.e) == ST_OK);
    CHECK(log_verify(&t.log, SV("marie"), say, NULL, &entries, &t.e) == ST_OK);
    loom_test_close(&t);
}

static void ancestors_are_found_at_every_depth(void)
{
    loom_test_open(&t, PERM_ALL);
    struct loom l = { .log = &t.log, .thread = SV("random"), .a = &t.a, .now = TEST_NOW };

    n_plain = 0;
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    while (n_plain < NODES)
        grow(&l);
    for (size_t i = 0; i < n_plain; i += 13) {
        struct node n, up;
        int64_t     at = (int64_t)i;
        CHECK(node_at(&l, plain[i].seq, &n, &t.e) == ST_OK);
        for (int64_t depth = n.depth; depth >= 0; depth--, at = plain[at].parent) {
            CHECK(node_ancestor(&l, &n, depth, &up, &t.e) == ST_OK);
            CHECK_INT(up.seq, plain[at].seq);
            CHECK_INT(up.depth, depth);
        }
        CHECK_INT(at, -1);
    }
    log_abort(&t.log);
    loom_test_close(&t);
}

/* Steps, not time: the walk to the root of a long chain reads few rows. */
static void a_long_chain_is_climbed_in_few_steps(void)
{
    loom_test_open(&t, PERM_ALL);
    struct loom l = { .log = &t.log, .thread = SV("chain"), .a = &t.a, .now = TEST_NOW };
    struct node at, made, root;

    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    for (int i = 0; i < 2000; i++) {
        struct new_node n = {
            .text = SV("x"), .author = SV("ada"), .via = "say", .parent = i ? &at : NULL
        };
        CHECK(loom_add(&l, &n, &made, &t.e) == ST_OK);
        at = made;
    }
    int steps = 0;
    for (struct node n = at; n.depth > 0; steps++)
        CHECK(node_at(&l, n.jump, &n, &t.e) == ST_OK);
    CHECK(steps <= 24);
    CHECK(node_ancestor(&l, &at, 0, &root, &t.e) == ST_OK);
    CHECK_INT(root.depth, 0);
    log_abort(&t.log);
    loom_test_close(&t);
}

/* ---- a miss --------------------------------------------------------------------------- */

enum { OTHER_THREADS = 40, OTHER_ENTRIES = 200 };

/* Threads that were only ever logs; the first line of each would become the node x9y9. */
static void log_threads(void)
{
    struct store_head head;

    t.log.wanted = NULL;
    for (int i = 0; i < OTHER_THREADS; i++) {
        char         name[16];
        struct entry e[OTHER_ENTRIES] = { 0 };
        snprintf(name, sizeof name, "log%d", i);
        for (int k = 0; k < OTHER_ENTRIES; k++)
            e[k] = (struct entry){
                .kind = SV("ai_message"),
                .payload =
                    k ? SV("{\"content\":\"x\",\"context_ref\":\"default\",\"role\":\"user\"}")
                      : SV("{\"content\":\"x\",\"context_ref\":\"default\",\"node\":{\"local_id\":"
                           "\"x9y9\",\"parent\":null},\"role\":"
                           "\"user\"}")
            };
        CHECK(log_begin(&t.log, sv_of(name), STORE_WRITE, &t.e) == ST_OK);
        CHECK(log_append(&t.log, sv_of(name), LOG_ANY_REV, e, OTHER_ENTRIES, &head, &t.e) == ST_OK);
        CHECK(log_commit(&t.log, &t.e) == ST_OK);
    }
    t.log.wanted = &loom_view;
}

/* A mistyped id is told in a few hundred row reads, and folds no other thread. */
static void a_mistyped_id_costs_little(void)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        { "view zz99", "✗ NOT_FOUND: node [zz99] does not exist in this tree\n" },
        { "view x9y9", "✗ NOT_FOUND: node [x9y9] does not exist in this tree\n" },
        { "view a7x3", "✗ NOT_FOUND: node [a7x3] does not exist in this tree\n"
                       "  hint: did you mean [a7x2]?\n" },
        { "view q7x2", "✗ NOT_FOUND: node [q7x2] does not exist in this tree\n"
                       "  hint: did you mean [a7x2]?\n" },
        { "view 7ax2", "✗ NOT_FOUND: node [7ax2] does not exist in this tree\n"
                       "  hint: did you mean [a7x2]?\n" },
        { "switch to a7x2 in tree:\"no such\"", "✗ NOT_FOUND: no tree \"no such\"\n"
                                                "  hint: a thread that nobody opened as a tree is "
                                                "found by its id only\n" },
    };
    struct store_head head;
    bool              ok;

    loom_test_store = "fault:0:mem:";
    loom_test_open(&t, PERM_ALL);
    log_threads();
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t before = fault_calls(t.store);
        CHECK_SV(loom_test_run(&t, cases[i].line, &ok), sv_of(cases[i].says));
        CHECK(fault_calls(t.store) - before < 300);
    }
    CHECK(store_head(t.store, SV("log7"), &head, &t.e) == ST_OK);
    CHECK(!log_keeps(&t.log, &head, &loom_view));
    /* Opened as a tree, the thread is found. */
    CHECK(log_begin(&t.log, SV("log7"), STORE_READ, &t.e) == ST_OK);
    log_abort(&t.log);
    struct sv said = loom_test_run(&t, "view x9y9", &ok);
    CHECK(sv_starts(said, SV("✗ CROSS_TREE: node [x9y9] is in tree \"x\"\n")));
    loom_test_close(&t);
    loom_test_store = "mem:";
}

/* A slip is a slip, also where the id is taken in another tree. */
static void a_slip_is_not_a_node_of_another_tree(void)
{
    bool ok;

    loom_test_open(&t, PERM_ALL);
    struct loom     l = { .log = &t.log, .thread = SV("far"), .a = &t.a, .now = TEST_NOW };
    struct node     made;
    struct new_node n = { .text = SV("x"), .author = SV("ada"), .via = "say", .local = SV("a7x3") };
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    CHECK(loom_add(&l, &n, &made, &t.e) == ST_OK);
    CHECK(log_commit(&t.log, &t.e) == ST_OK);
    CHECK_SV(loom_test_run(&t, "view a7x3", &ok),
             SV("✗ NOT_FOUND: node [a7x3] does not exist in this tree\n"
                "  hint: did you mean [a7x2]?\n"));
    loom_test_close(&t);
}

/* ---- ids --------------------------------------------------------------------------- */

static void draw_bytes(void *ctx, unsigned char *out, size_t n)
{
    (void)ctx;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)draw(256);
}

static void a_hundred_thousand_ids_are_different(void)
{
    loom_test_open(&t, PERM_ALL);
    struct arena a = { 0 };
    struct rows  r = { t.store, SV("marie"), SV("loom"), &a };
    size_t       longest = 0;

    CHECK(log_begin(&t.log, SV("marie"), STORE_WRITE, &t.e) == ST_OK);
    for (int i = 0; i < 100000; i++) {
        struct arena_mark m = arena_mark(&a);
        struct sv         id;
        int64_t           taken;
        CHECK(loom_local_id_new(&r, draw_bytes, NULL, &id, &t.e) == ST_OK);
        CHECK(row_int(&r, key_of_name("l", id, &a), NO_NODE, &taken, &t.e) == ST_OK);
        CHECK_INT(taken, NO_NODE);
        CHECK(row_put_int(&r, key_of_name("l", id, &a), i, &t.e) == ST_OK);
        longest = id.n > longest ? id.n : longest;
        arena_reset(&a, m);
    }
    CHECK(longest <= 7);
    log_abort(&t.log);
    arena_free(&a);
    loom_test_close(&t);
}

/* Bytes that spell a word or a number are drawn again; an id only becomes longer when short ones
 * are taken. */
static void an_id_is_short_while_short_ones_are_free(void)
{
    loom_test_open(&t, PERM_ALL);
    struct loom     l = { .log = &t.log, .thread = SV("many"), .a = &t.a, .now = TEST_NOW };
    struct new_node n = { .text = SV("x"), .author = SV("ada"), .via = "say" };
    struct node     made;

    rand_seed(SV("3"));
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    for (int i = 0; i < 1000; i++) {
        CHECK(loom_add(&l, &n, &made, &t.e) == ST_OK);
        CHECK_INT(made.local.n, LOCAL_ID_MIN);
    }
    log_abort(&t.log);
    loom_test_close(&t);
}

static void ids_are_neither_words_nor_numbers(void)
{
    CHECK(loom_local_id_is_valid(SV("a7x2")) && loom_local_id_is_valid(SV("a7x2''")));
    CHECK(!loom_local_id_is_valid(SV("tree")) && !loom_local_id_is_valid(SV("1234")));
    CHECK(!loom_local_id_is_valid(SV("A7X2")) && !loom_local_id_is_valid(SV("a7 2")));
    CHECK(!loom_local_id_is_valid(SV("")) && !loom_local_id_is_valid(SV("'")));
}

/* Messages of a run, which name no place, become nodes of their lane all the same. */
static void plain_messages_are_nodes(void)
{
    struct store_head head;
    struct node       tip, root;
    bool              found;

    loom_test_open(&t, PERM_ALL);
    struct loom  l = { .log = &t.log, .thread = SV("run"), .a = &t.a, .now = TEST_NOW };
    struct entry e[] = {
        { .kind = SV("ai_message"),
          .payload = SV("{\"content\":\"q\",\"context_ref\":\"default\",\"role\":\"user\"}") },
        { .kind = SV("ai_message"),
          .payload = SV("{\"content\":\"a\",\"context_ref\":\"default\",\"role\":\"assistant\"}") },
        { .kind = SV("ai_context_operation"),
          .payload = SV("{\"context_ref\":\"b\",\"op_id\":\"1\",\"operation\":{\"from\":{\"lane\":"
                        "\"default\",\"seq\":0},\"type\":\"fork\"}}") },
        { .kind = SV("ai_message"),
          .payload = SV("{\"content\":\"other\",\"context_ref\":\"b\",\"role\":\"assistant\"}") },
    };
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    CHECK(log_append(&t.log, l.thread, LOG_ANY_REV, e, COUNT(e), &head, &t.e) == ST_OK);
    CHECK(log_commit(&t.log, &t.e) == ST_OK);
    CHECK(log_begin(&t.log, l.thread, STORE_READ, &t.e) == ST_OK);
    CHECK(loom_lane_tip(&l, SV("b"), &tip, &found, &t.e) == ST_OK && found);
    CHECK_INT(tip.parent, 0);
    CHECK(loom_local_id_is_valid(tip.local));
    CHECK(node_at(&l, 0, &root, &t.e) == ST_OK);
    CHECK_INT(root.kids, 2);
    CHECK_INT(root.kind, AUTHOR_HUMAN);
    log_abort(&t.log);
    loom_test_close(&t);
}

/* An edit in place leaves every hash below it as it was. */
static void versions_do_not_break_hashes(void)
{
    struct node n2, n3, v, again;
    bool        in_place;

    loom_test_open(&t, PERM_ALL);
    struct loom l = {
        .log = &t.log, .thread = SV("marie"), .a = &t.a, .now = TEST_NOW, .mode = SV("buffer")
    };
    CHECK(log_begin(&t.log, l.thread, STORE_WRITE, &t.e) == ST_OK);
    CHECK(node_find(&l, SV("b3k9"), &n2, &t.e) == ST_OK &&
          node_find(&l, SV("e6p4"), &n3, &t.e) == ST_OK);
    CHECK(loom_edit(&l, &n2, SV("changed"), SV("ada"), AUTHOR_HUMAN, &v, &in_place, &t.e) == ST_OK);
    CHECK(in_place && v.slot == n2.seq);
    CHECK_SV(v.local, SV("b3k9'"));
    CHECK(node_find(&l, SV("e6p4"), &again, &t.e) == ST_OK);
    CHECK_SV(again.hash, n3.hash);
    CHECK_INT(again.parent, n2.seq);
    CHECK(!sv_eq(v.hash, n2.hash));
    log_abort(&t.log);
    loom_test_close(&t);
}

/* One byte of a stored answer, or of a stored node, is enough. */
static void a_changed_byte_shows_on_the_whole_path(void)
{
    static const struct {
        const char   *sql;
        enum attested want[3];
    } cases[] = {
        { "SELECT 1", { ATTEST_VALID, ATTEST_VALID, ATTEST_VALID } },
        { "UPDATE entry SET payload = replace(payload, '\"body\":\"{}', '\"body\":\"[}')",
          { ATTEST_VALID, ATTEST_RAW, ATTEST_HASH } },
        { "UPDATE entry SET payload = replace(payload, 'Start.', 'Stark.')",
          { ATTEST_HASH, ATTEST_HASH, ATTEST_HASH } },
        { "DELETE FROM row WHERE substr(key, 1, 5) = CAST('resp/' AS BLOB)",
          { ATTEST_VALID, ATTEST_MISSING, ATTEST_HASH } },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char                path[] = "/tmp/heddle-attest.XXXXXX";
        struct arena        a = { 0 };
        struct err          e = { 0 };
        struct store       *store;
        struct attestation *list;
        struct node         node[3];
        size_t              n;
        int64_t             seq;
        int                 fd = mkstemp(path);
        close(fd);
        unlink(path);
        CHECK(store_open(sv_of(path), &(struct store_options){ .create = true }, &store, &e) ==
              ST_OK);
        struct log log = log_of(store, loom_test_views);
        log.wanted = &loom_view;
        struct loom l = { .log = &log, .thread = SV("t"), .a = &a, .now = TEST_NOW };
        struct sv   raw = provenance_response(SV("a: b"), SV("{}"), &a);
        struct sb   answer = sb_in(&a, 0);
        sb_addf(&answer, "{\"body\":\"{}\",\"hash\":\"" SV_FMT "\",\"headers\":\"a: b\"}",
                SV_ARG(raw));
        CHECK(log_begin(&log, l.thread, STORE_WRITE, &e) == ST_OK);
        CHECK(loom_append(&l, SV("m"), "model_response", sb_sv(&answer), &seq, &e) == ST_OK);
        for (int k = 0; k < 3; k++) {
            struct new_node made = { .text = k ? SV("More.") : SV("Start."),
                                     .author = SV("m"),
                                     .kind = AUTHOR_MODEL,
                                     .via = "turn",
                                     .parent = k ? &node[k - 1] : NULL,
                                     .response = k == 1 ? raw : (struct sv){ 0 } };
            CHECK(loom_add(&l, &made, &node[k], &e) == ST_OK);
        }
        CHECK(log_commit(&log, &e) == ST_OK);
        sqlite3 *db;
        CHECK(sqlite3_open(path, &db) == SQLITE_OK);
        CHECK(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(db);
        CHECK(log_begin(&log, l.thread, STORE_READ, &e) == ST_OK);
        CHECK(attest_path(&l, &node[2], &list, &n, &e) == ST_OK);
        CHECK_INT(n, 3);
        for (size_t k = 0; k < n; k++)
            CHECK_INT(list[k].is, cases[i].want[k]);
        log_abort(&log);
        store_close(store);
        unlink(path);
        arena_free(&a);
    }
}

TAP_MAIN(T(the_published_hashes_come_out), T(totals_follow_random_growth_and_prunes),
         T(ancestors_are_found_at_every_depth), T(a_long_chain_is_climbed_in_few_steps),
         T(a_mistyped_id_costs_little), T(a_slip_is_not_a_node_of_another_tree),
         T(a_hundred_thousand_ids_are_different), T(an_id_is_short_while_short_ones_are_free),
         T(ids_are_neither_words_nor_numbers), T(plain_messages_are_nodes),
         T(versions_do_not_break_hashes), T(a_changed_byte_shows_on_the_whole_path), )
