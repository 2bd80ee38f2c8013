/* Views of long threads are folded in slices: how much is done in one write transaction, what
 * others can do in between, and what is left when a fold is cut off. Counted by the fault store,
 * never by time. */
#include "fresh.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/limits.h"

#include <sqlite3.h>

enum { LONG = 2 * FOLD_SLICE + 1000, SLICES = 3 };

static int folds;

static bool count_row(void *ctx, const struct store_row *row)
{
    (void)row;
    ++*(int64_t *)ctx;
    return true;
}

/* A row for each entry, which the next entry removes unless its number is odd; how many entries
 * there were; and now and then a look at all rows, which must show what the fold has just put. */
static enum status count(struct rows *f, const struct entry *n, struct err *e)
{
    int64_t before, seen = 0;

    folds++;
    if (row_int(f, SV("count"), 0, &before, e) || row_put_int(f, SV("count"), before + 1, e) ||
        row_put_int(f, key_of_seq("row", n->seq, f->a), n->at, e))
        return err_code(e);
    if (n->seq % 2 == 1 && row_del(f, key_of_seq("row", n->seq - 1, f->a), e))
        return err_code(e);
    if (n->seq % 1500 != 0)
        return ST_OK;
    if (row_each(f, SV("row/"), (struct sv){ 0 }, false, count_row, &seen, e))
        return err_code(e);
    return row_put_int(f, key_of_seq("seen", n->seq, f->a), seen, e);
}

static const struct view counting = {
    .name = "counting", .version = 1, .fold = count, .on_demand = true
};
static const struct view recounting = {
    .name = "counting", .version = 2, .fold = count, .on_demand = true
};
static const struct view *const views[] = { &thread_view, &counting, NULL };
static const struct view *const newer_views[] = { &thread_view, &recounting, NULL };

static struct fresh  folder;
static struct arena  a;
static struct err    e;
static struct store *store, *second;
static struct log    l, other;

static struct store *opened(void)
{
    struct store *s;
    char          url[300];

    snprintf(url, sizeof url, "fault:0:sqlite:%s/log.db", folder.path);
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true, .busy_ms = 50 }, &s,
                     &e) == ST_OK);
    return s;
}

static void append(struct log *to, struct sv thread, int64_t n)
{
    static struct entry list[1000];
    struct store_head   h;

    for (; n > 0; n -= (int64_t)COUNT(list)) {
        size_t m = n < (int64_t)COUNT(list) ? (size_t)n : COUNT(list);
        for (size_t i = 0; i < m; i++)
            list[i] = (struct entry){ .at = 5, .kind = SV("note"), .payload = SV("{}") };
        CHECK(log_begin(to, thread, STORE_WRITE, &e) == ST_OK);
        CHECK(log_append(to, thread, LOG_ANY_REV, list, m, &h, &e) == ST_OK);
        CHECK(log_commit(to, &e) == ST_OK);
    }
}

static void set_up(void)
{
    folder = fresh_folder();
    store = opened();
    second = opened();
    l = log_of(store, views);
    other = log_of(second, views);
    append(&l, SV("long"), LONG);
    folds = 0;
}

static void tear_down(void)
{
    store_close(l.store);
    store_close(other.store);
    arena_free(&a);
    fresh_done(&folder);
}

static int64_t counted(struct log *of)
{
    int64_t n = -1;

    CHECK(log_begin(of, SV("long"), STORE_READ, &e) == ST_OK);
    struct rows r = rows_of_view(of, SV("long"), &counting, &a);
    CHECK(row_int(&r, SV("count"), -1, &n, &e) == ST_OK);
    log_abort(of);
    return n;
}

static void damage(void *ctx, struct sv finding)
{
    (void)ctx;
    tap_check(0, __FILE__, __LINE__, finding.s);
}

static void verifies(struct log *of)
{
    int64_t entries;

    CHECK(log_verify(of, SV("long"), damage, NULL, &entries, &e) == ST_OK);
}

/* ---- how much at once -------------------------------------------------------------------------
 */

static void a_first_fold_takes_one_slice_for_each_lock(void)
{
    set_up();
    int64_t before = fault_calls_of(store, "begin_write");
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG);
    CHECK_INT(folds, LONG);
    CHECK_INT(fault_calls_of(store, "begin_write") - before, SLICES);
    CHECK(fault_most_in_write(store) <= FOLD_SLICE + 1);
    CHECK_INT(fault_calls_of(store, "let_others"), SLICES - 1);
    verifies(&l);
    tear_down();
}

static void one_that_writes_folds_in_slices_before(void)
{
    set_up();
    int64_t before = fault_calls_of(store, "begin_write");
    l.wanted = &counting;
    append(&l, SV("long"), 1);
    CHECK(fault_calls_of(store, "begin_write") - before >= SLICES + 1);
    CHECK(fault_most_in_write(store) <= FOLD_SLICE + 1);
    CHECK_INT(counted(&l), LONG + 1);
    verifies(&l);
    tear_down();
}

static void a_new_version_is_folded_in_slices(void)
{
    set_up();
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG);
    folds = 0;
    int64_t before = fault_calls_of(store, "begin_write");
    l = log_of(store, newer_views);
    CHECK_INT(counted(&l), LONG);
    CHECK_INT(folds, LONG);
    CHECK(fault_calls_of(store, "begin_write") - before >= SLICES);
    CHECK(fault_most_in_write(store) <= FOLD_SLICE + 1);
    verifies(&l);
    tear_down();
}

/* ---- what others do meanwhile ---------------------------------------------------------------- */

static enum status append_meanwhile(void *ctx, struct sv thread, int64_t done, int64_t of,
                                    struct err *why)
{
    (void)ctx, (void)done, (void)of, (void)why;
    append(&other, thread, 1);
    append(&other, SV("elsewhere"), 1);
    return ST_OK;
}

static void others_append_between_two_slices(void)
{
    set_up();
    l.wanted = &counting;
    l.folding = append_meanwhile;
    CHECK_INT(counted(&l), LONG + SLICES);
    CHECK_INT(folds, LONG + SLICES);
    verifies(&l);
    tear_down();
}

static enum status fold_meanwhile(void *ctx, struct sv thread, int64_t done, int64_t of,
                                  struct err *why)
{
    (void)ctx, (void)thread, (void)of, (void)why;
    if (done <= FOLD_SLICE)
        CHECK_INT(counted(&other), LONG);
    return ST_OK;
}

static void two_that_fold_the_same_view_share_the_work(void)
{
    set_up();
    l.wanted = other.wanted = &counting;
    l.folding = fold_meanwhile;
    CHECK_INT(counted(&l), LONG);
    CHECK_INT(folds, LONG);
    verifies(&l);
    tear_down();
}

/* ---- cut off ------------------------------------------------------------------------------------
 */

static enum status cut_off(void *ctx, struct sv thread, int64_t done, int64_t of, struct err *why)
{
    (void)ctx, (void)thread;
    CHECK_INT(done, FOLD_SLICE);
    CHECK_INT(of, LONG);
    return err_set(why, ST_CONFLICT, "the caller is gone");
}

static void fold_one_slice(struct log *of)
{
    of->folding = cut_off;
    CHECK(log_begin(of, SV("long"), STORE_READ, &e) == ST_CONFLICT);
    of->folding = NULL;
}

static void a_fold_that_was_cut_off_goes_on(void)
{
    set_up();
    l.wanted = &counting;
    fold_one_slice(&l);
    CHECK_INT(folds, FOLD_SLICE);
    l.wanted = NULL;
    append(&l, SV("long"), 1); /* leaves the view behind */
    CHECK_INT(folds, FOLD_SLICE);
    verifies(&l); /* what is folded agrees with the entries it comes from */
    folds = 0;
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG + 1);
    CHECK_INT(folds, LONG + 1 - FOLD_SLICE);
    verifies(&l);
    tear_down();
}

static void an_older_version_begins_again(void)
{
    set_up();
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG);
    struct log newer = log_of(second, newer_views);
    fold_one_slice(&newer);
    verifies(&newer);
    append(&newer, SV("elsewhere"), 1);
    CHECK_INT(counted(&l), LONG); /* the older one */
    verifies(&l);
    CHECK_INT(counted(&newer), LONG);
    verifies(&newer);
    tear_down();
}

static void what_changed_before_the_end_of_a_fold_is_folded_again(void)
{
    set_up();
    l.wanted = &counting;
    fold_one_slice(&l);
    CHECK(log_begin(&other, (struct sv){ 0 }, STORE_WRITE, &e) == ST_OK);
    CHECK(log_refold(&other, SV("long"), &e) == ST_OK);
    CHECK(log_commit(&other, &e) == ST_OK);
    folds = 0;
    CHECK_INT(counted(&l), LONG);
    CHECK_INT(folds, LONG);
    verifies(&l);
    tear_down();
}

static void an_append_to_a_thread_that_is_being_folded_leaves_it_behind(void)
{
    struct entry      n = { .kind = SV("note"), .payload = SV("{}") };
    struct store_head h;

    set_up();
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG);
    struct log newer = log_of(second, newer_views);
    fold_one_slice(&newer);
    /* In a transaction about another thread, so that nothing is folded first. */
    CHECK(log_begin(&newer, SV("elsewhere"), STORE_WRITE, &e) == ST_OK);
    CHECK(log_append(&newer, SV("long"), LOG_ANY_REV, &n, 1, &h, &e) == ST_OK);
    CHECK(log_commit(&newer, &e) == ST_OK);
    CHECK_INT(counted(&newer), LONG + 1);
    verifies(&newer);
    tear_down();
}

static void a_log_without_views_has_nothing_to_fold(void)
{
    static const struct view *const none[] = { NULL };

    set_up();
    struct log bare = log_of(second, none);
    append(&bare, SV("long"), 1);
    CHECK_INT(folds, 0);
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG + 1);
    verifies(&l);
    tear_down();
}

static void every_call_may_fail(void)
{
    int64_t k = 1;

    set_up();
    l.wanted = &counting;
    fold_one_slice(&l);
    for (;; k = k < 40 ? k + 1 : k * 2) {
        fault_arm(store, k);
        bool failed = log_begin(&l, SV("long"), STORE_READ, &e) != ST_OK;
        log_abort(&l);
        fault_arm(store, 0);
        verifies(&other);
        if (!failed)
            break;
    }
    CHECK(k > 40);
    CHECK_INT(counted(&l), LONG);
    tear_down();
}

/* More entries than a slice has are gone: the fold ends, with what is there. */
static void a_gap_longer_than_a_slice_is_passed(void)
{
    char     path[300];
    sqlite3 *db = NULL;

    set_up();
    snprintf(path, sizeof path, "%s/log.db", folder.path);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "DELETE FROM entry WHERE key & 68719476735 BETWEEN 10 AND 8500", NULL,
                       NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    l.wanted = &counting;
    CHECK_INT(counted(&l), LONG - (8500 - 10 + 1));
    tear_down();
}

TAP_MAIN(T(a_first_fold_takes_one_slice_for_each_lock), T(one_that_writes_folds_in_slices_before),
         T(a_new_version_is_folded_in_slices), T(others_append_between_two_slices),
         T(two_that_fold_the_same_view_share_the_work), T(a_fold_that_was_cut_off_goes_on),
         T(an_older_version_begins_again), T(what_changed_before_the_end_of_a_fold_is_folded_again),
         T(an_append_to_a_thread_that_is_being_folded_leaves_it_behind),
         T(a_log_without_views_has_nothing_to_fold), T(a_gap_longer_than_a_slice_is_passed),
         T(every_call_may_fail), )
