/* Cost follows what is returned, not the length of the log: every statement uses the index
 * meant for it, and reading ten entries of 100,000 takes the steps it takes of 1,000. */
#include "base/status.h"
#include "fresh.h"
#include "store/sqlite_internal.h"
#include "store/store.h"
#include "tap.h"

#include <string.h>

static struct fresh folder;
static struct arena a;
static struct err   e;

static struct store *open_in(const struct fresh *f)
{
    struct store *s = NULL;
    char          path[300];

    snprintf(path, sizeof path, "%s/log.db", f->path);
    CHECK(store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    return s;
}

static struct store *fresh(void)
{
    folder = fresh_folder();
    return open_in(&folder);
}

static void clean(struct store *s)
{
    store_close(s);
    fresh_done(&folder);
    arena_free(&a);
}

/* n entries: every 7th in lane "side", every 1,000th an anchor, each with an op_id, one row each.
 */
static void fill(struct store *s, struct sv thread, int64_t n)
{
    enum { BATCH = 1000 };
    struct entry      list[BATCH];
    struct store_head h;
    int64_t           done = 0;

    while (done < n) {
        struct arena_mark m = arena_mark(&a);
        size_t            k = 0;
        CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
        for (; k < BATCH && done + (int64_t)k < n; k++) {
            int64_t   seq = done + (int64_t)k;
            struct sb op = sb_in(&a, 0);
            sb_addf(&op, "op-%lld", (long long)seq);
            list[k] = (struct entry){ .at = seq,
                                      .kind = SV("ai_message"),
                                      .lane = seq % 7 ? SV("default") : SV("side"),
                                      .mark = seq % 1000 ? MARK_MESSAGE : MARK_ANCHOR,
                                      .op_id = sb_sv(&op),
                                      .payload = SV("{}") };
        }
        CHECK(store_append(s, thread, STORE_ANY_REV, list, k, &h, &e) == ST_OK);
        for (size_t i = 0; i < k; i++)
            CHECK(store_row_put(s, &(struct store_key){ thread, SV("v"), list[i].op_id }, SV("1"),
                                &e) == ST_OK);
        CHECK(store_commit(s, &e) == ST_OK);
        arena_reset(&a, m);
        done += (int64_t)k;
    }
}

/* ---- plans -------------------------------------------------------------------------- */

/* The plan of a statement, one line per step. */
static struct sv plan_of(sqlite3 *db, const char *sql)
{
    struct sb     b = sb_in(&a, 0);
    sqlite3_stmt *st = NULL;

    sb_addf(&b, "EXPLAIN QUERY PLAN %s", sql);
    CHECK(sqlite3_prepare_v2(db, sb_sv(&b).s, -1, &st, NULL) == SQLITE_OK);
    b = sb_in(&a, 0);
    while (st && sqlite3_step(st) == SQLITE_ROW)
        if (strcmp((const char *)sqlite3_column_text(st, 3), "SCAN CONSTANT ROW") != 0)
            sb_addf(&b, "%s\n", (const char *)sqlite3_column_text(st, 3));
    sqlite3_finalize(st);
    return sb_sv(&b);
}

static void check_plan(sqlite3 *db, const char *sql, const char *index)
{
    struct sv plan = plan_of(db, sql);
    bool      good = sv_find(plan, SV("SCAN")) < 0 && sv_find(plan, SV("TEMP B-TREE")) < 0 &&
                (!index || sv_find(plan, sv_of(index)) >= 0);

    CHECK(good);
    if (!good)
        printf("# %s\n# wants %s, has:\n" SV_FMT, sql, index ? index : "no scan", SV_ARG(plan));
}

/* The statement that was prepared last. */
static sqlite3_stmt *newest(struct store *s)
{
    return sqlite3_next_stmt(sqlite_of(s)->db, NULL);
}

static void every_scan_of_entries_uses_its_index(void)
{
    static const struct {
        bool            by_lane;
        enum entry_mark mark;
        const char     *index;
    } kinds[] = {
        { false, MARK_NONE, "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" },
        { true, MARK_MESSAGE,
          "SEARCH e USING INDEX entry_message (<expr>=? AND rowid>? AND rowid<?)" },
        { true, MARK_ANCHOR, "SEARCH e USING INDEX entry_anchor (lane=? AND rowid>? AND rowid<?)" },
    };
    struct store *s = fresh();

    fill(s, SV("t"), 100);
    for (size_t i = 0; i < COUNT(kinds) * 2; i++) {
        struct store_query q = { .thread = SV("t"), .to = STORE_TO_END, .backwards = i % 2 };
        struct store_scan *scan;
        if (kinds[i / 2].by_lane) {
            q.lane = SV("side");
            q.mark = kinds[i / 2].mark;
            q.brief = true; /* a scan of whole messages begins in the table */
        }
        CHECK(store_scan(s, &q, &scan, &e) == ST_OK);
        check_plan(sqlite_of(s)->db, sqlite3_sql(newest(s)), kinds[i / 2].index);
        store_scan_close(scan);
    }
    clean(s);
}

static void every_scan_of_rows_uses_the_key(void)
{
    static const struct sv absent, some = SV_STATIC("op-5"), high = SV_STATIC("\xff");
    const struct sv        prefixes[] = { absent, some, high }, afters[] = { absent, some };
    struct store          *s = fresh();

    fill(s, SV("t"), 100);
    for (size_t i = 0; i < COUNT(prefixes) * COUNT(afters) * 2; i++) {
        struct store_row_query q = { .thread = SV("t"),
                                     .view = SV("v"),
                                     .prefix = prefixes[i / 4],
                                     .after = afters[i / 2 % 2],
                                     .backwards = i % 2 };
        struct store_rows     *rows;
        CHECK(store_rows(s, &q, &rows, &e) == ST_OK);
        check_plan(sqlite_of(s)->db, sqlite3_sql(newest(s)),
                   "SEARCH row USING PRIMARY KEY (tid=? AND view=? AND key>?");
        store_rows_close(rows);
    }
    clean(s);
}

/* All that is kept: make it be prepared by using everything once. */
static void no_kept_statement_scans_a_table(void)
{
    struct store     *s = fresh();
    struct store_key  k = { SV("t"), SV("v"), SV("op-1") };
    struct store_head h;
    struct entry      n;
    struct sv         value;
    bool              found;
    int               seen = 0;

    fill(s, SV("t"), 100);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK(store_find_op(s, SV("t"), SV("op-1"), &a, &n, &found, &e) == ST_OK && found);
    CHECK(store_set_mark(s, SV("t"), 1, MARK_MESSAGE, &e) == ST_OK);
    CHECK(store_row_get(s, &k, &a, &value, &found, &e) == ST_OK && found);
    CHECK(store_row_del(s, &k, &e) == ST_OK);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_set_views(s, SV("t"), 1, &e) == ST_OK);
    store_abort(s);
    for (sqlite3_stmt *st = newest(s); st; st = sqlite3_next_stmt(sqlite_of(s)->db, st), seen++)
        check_plan(sqlite_of(s)->db, sqlite3_sql(st), NULL);
    CHECK(seen >= 10);
    clean(s);
}

/* ---- steps -------------------------------------------------------------------------- */

/* What one piece of work cost: steps of SQLite's machine, and pages looked at. */
struct cost {
    int64_t steps, pages;
};

static int64_t pages_touched(sqlite3 *db)
{
    int hit = 0, miss = 0, high;

    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &hit, &high, 1);
    sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &miss, &high, 1);
    return hit + miss;
}

static struct cost read_ten(struct store *s, struct store_query q)
{
    struct store_scan *scan;
    struct entry       n;
    struct cost        c = { 0 };
    bool               more = true;
    int                got = 0;

    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    pages_touched(sqlite_of(s)->db);
    q.thread = SV("t");
    CHECK(store_scan(s, &q, &scan, &e) == ST_OK);
    while (got < 10 && store_next(scan, &n, &more, &e) == ST_OK && more)
        got++;
    sqlite3_stmt *st = newest(s);
    c.steps = sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 1);
    CHECK_INT(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1), 0);
    CHECK_INT(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_SORT, 1), 0);
    store_scan_close(scan);
    c.pages = pages_touched(sqlite_of(s)->db);
    store_abort(s);
    CHECK(got > 0);
    return c;
}

static void the_same_work_costs_the_same(int64_t small_n, int64_t big_n)
{
    struct fresh  other = fresh_folder();
    struct store *small = open_in(&other), *big = fresh();
    fill(small, SV("t"), small_n);
    fill(big, SV("other"), 1000);
    fill(big, SV("t"), big_n);

    /* From the head backwards, from the middle forwards, in a lane, the anchor before a seq. */
    for (int kind = 0; kind < 4; kind++) {
        struct cost         got[2];
        struct store *const stores[2] = { small, big };
        for (int i = 0; i < 2; i++) {
            int64_t            n = i ? big_n : small_n;
            struct store_query q = { .to = STORE_TO_END, .backwards = kind != 1 };
            if (kind == 1)
                q.from = n / 2;
            if (kind >= 2)
                q.lane = SV("side");
            if (kind == 2)
                q.mark = MARK_MESSAGE;
            if (kind == 3) {
                q.mark = MARK_ANCHOR;
                q.from = q.to = 0; /* the oldest: behind all the others */
            }
            got[i] = read_ten(stores[i], q);
        }
        printf("# kind %d: %lld steps, %lld pages; then %lld, %lld\n", kind,
               (long long)got[0].steps, (long long)got[0].pages, (long long)got[1].steps,
               (long long)got[1].pages);
        CHECK(got[1].steps <= got[0].steps + 20);
        CHECK(got[1].pages <= got[0].pages * 2 + 20);
    }
    clean(big);
    store_close(small);
    fresh_done(&other);
}

static void ten_entries_cost_the_same_in_a_long_log(void)
{
    the_same_work_costs_the_same(1000, 100000);
}

TAP_MAIN(T(every_scan_of_entries_uses_its_index), T(every_scan_of_rows_uses_the_key),
         T(no_kept_statement_scans_a_table), T(ten_entries_cost_the_same_in_a_long_log), )
