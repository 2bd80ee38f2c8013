/* log_verify() finds and names every kind of damage, and nothing where there is none. */
#include "fresh.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/log.h"

#include <sqlite3.h>

static const struct view *const views[] = { &thread_view, NULL };
static struct fresh             folder;
static char                     path[300];

static struct sb    found;
static struct arena found_in;

static void note(void *ctx, struct sv finding)
{
    ++*(int *)ctx;
    sb_add(&found, finding);
    sb_addc(&found, '\n');
}

/* Write a thread of n messages with one replace in their midst. */
static void write_thread(struct store *s, struct sv thread, int n)
{
    struct log        l = log_of(s, views);
    struct store_head h;
    struct err        e;

    CHECK(log_begin(&l, thread, STORE_WRITE, &e) == ST_OK);
    for (int i = 0; i < n; i++) {
        struct entry one = { .at = 1000 + i,
                             .kind = SV("ai_message"),
                             .lane = i % 3 ? SV("default") : SV("side"),
                             .payload = SV("{\"content\":\"hello\",\"role\":\"user\"}") };
        if (i == n / 2)
            one = (struct entry){
                .at = 5,
                .kind = SV("ai_context_operation"),
                .payload =
                    SV("{\"context_ref\":\"default\",\"op_id\":\"op-1\",\"operation\":{"
                       "\"result_context\":{\"entries\":[],\"id\":\"c\"},\"type\":\"replace\"}}")
            };
        CHECK(log_append(&l, thread, LOG_ANY_REV, &one, 1, &h, &e) == ST_OK);
    }
    CHECK(log_commit(&l, &e) == ST_OK);
}

static struct store *open_store(void)
{
    struct store *s = NULL;
    struct err    e;

    CHECK(store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    return s;
}

static void fresh(void)
{
    struct store *s;

    folder = fresh_folder();
    snprintf(path, sizeof path, "%s/log.db", folder.path);
    s = open_store();
    write_thread(s, SV("t"), 20);
    write_thread(s, SV("other"), 3);
    store_close(s);
}

static void clean(void)
{
    fresh_done(&folder);
}

static void damage(const char *sql)
{
    sqlite3 *db = NULL;

    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_changes(db) > 0);
    sqlite3_close(db);
}

/* The number of findings in thread t; their text is in `found`. */
static int verify(void)
{
    struct store *s = open_store();
    struct log    l = log_of(s, views);
    struct err    e;
    int           n = 0;
    int64_t       entries = -1;

    arena_free(&found_in);
    found = sb_in(&found_in, 0);
    CHECK(log_verify(&l, SV("t"), note, &n, &entries, &e) == ST_OK);
    CHECK(entries >= 0);
    store_close(s);
    return n;
}

static bool says(const char *text)
{
    bool there = sv_find(sb_sv(&found), sv_of(text)) >= 0;

    if (!there)
        printf("# findings:\n" SV_FMT, SV_ARG(sb_sv(&found)));
    return there;
}

static void a_whole_thread_has_no_findings(void)
{
    fresh();
    CHECK_INT(verify(), 0);
    clean();
}

static void a_flipped_byte_is_found_once_and_named(void)
{
    fresh();
    damage(
        "UPDATE entry SET payload = replace(payload, 'hello', 'hellp') WHERE key & 0xfffffffff = 7"
        " AND key >> 36 = 1");
    CHECK_INT(verify(), 1);
    CHECK(says("thread t: entry 7 is not what was written"));
    clean();
}

static void any_byte_of_a_payload_may_be_flipped(void)
{
    char sql[256];

    fresh();
    for (int at = 1; at <= 36; at++) {
        snprintf(sql, sizeof sql,
                 "UPDATE entry SET payload = substr(payload, 1, %d) || '!' || substr(payload, %d)"
                 " WHERE key = 1 << 36 | 10",
                 at - 1, at + 1);
        damage(sql);
        CHECK(verify() >= 1);
        CHECK(says("entry 10 is not what was written"));
    }
    clean();
}

static void a_changed_time_actor_or_kind_is_found(void)
{
    fresh();
    damage("UPDATE entry SET at = at + 1 WHERE key = 1 << 36 | 3");
    damage("UPDATE entry SET actor = 'someone' WHERE key = 1 << 36 | 4");
    damage("UPDATE entry SET refs = '{\"a\":1}' WHERE key = 1 << 36 | 5");
    CHECK_INT(verify(), 3);
    CHECK(says("entry 3 is not") && says("entry 4 is not") && says("entry 5 is not"));
    clean();
}

static void a_dropped_entry_is_found(void)
{
    fresh();
    damage("DELETE FROM entry WHERE key = 1 << 36 | 5");
    CHECK_INT(verify(), 1);
    CHECK(says("thread t: entry 5 is missing"));
    damage("DELETE FROM entry WHERE key IN (1 << 36 | 6, 1 << 36 | 7)");
    CHECK_INT(verify(), 1);
    CHECK(says("entries 5 to 7 are missing"));
    clean();
}

static void the_first_entry_dropped_is_found(void)
{
    fresh();
    damage("DELETE FROM entry WHERE key = 1 << 36");
    CHECK(verify() >= 1);
    CHECK(says("thread t: entry 0 is missing"));
    clean();
}

static void entries_that_changed_places_are_found(void)
{
    fresh();
    damage("UPDATE entry SET key = key + 100 WHERE key = 1 << 36 | 6");
    damage("UPDATE entry SET key = key - 1 WHERE key = 1 << 36 | 7");
    damage("UPDATE entry SET key = key - 99 WHERE key = 1 << 36 | 106");
    CHECK(verify() >= 1);
    CHECK(says("entry 6 is not what was written"));
    clean();
}

static void a_changed_row_is_found(void)
{
    fresh();
    damage(
        "UPDATE row SET value = CAST('{\"seq\":3}' AS BLOB) WHERE key = CAST('lane/side' AS BLOB)"
        " AND tid = 1");
    CHECK_INT(verify(), 1);
    CHECK(says("thread t: view thread, row lane/side differs"));
    clean();
}

static void rows_too_many_and_too_few_are_found(void)
{
    fresh();
    damage("INSERT INTO row VALUES(1, 'thread', CAST('lane/ghost' AS BLOB), x'00')");
    damage("DELETE FROM row WHERE key = CAST('lane/side' AS BLOB) AND tid = 1");
    CHECK_INT(verify(), 2);
    CHECK(says("row lane/ghost should not be there"));
    CHECK(says("row lane/side is missing"));
    clean();
}

static void a_row_after_the_last_one_is_found(void)
{
    fresh();
    damage("INSERT INTO row VALUES(1, 'thread', x'ff0001', x'00')");
    CHECK_INT(verify(), 1);
    CHECK(says("should not be there"));
    clean();
}

static void a_changed_mark_is_found(void)
{
    fresh();
    damage("UPDATE entry SET mark = 0 WHERE key = 1 << 36 | 8");
    CHECK_INT(verify(), 1);
    CHECK(says("thread t: entry 8 is marked 0 and should be 1"));
    clean();
}

static void a_changed_op_id_is_found(void)
{
    fresh();
    damage("UPDATE entry SET op = 'op-2' WHERE key = 1 << 36 | 10");
    /* The chain; the payload that says otherwise; and the rows that it no longer makes: its lane,
     * where its agent is, since when it was there, and its mark. */
    CHECK_INT(verify(), 6);
    CHECK(says("entry 10 is marked 2 and should be 0: op_id 'op-2'"));
    clean();
}

static void a_lost_payload_is_named_and_the_rest_is_read(void)
{
    fresh();
    damage("UPDATE entry SET payload = NULL WHERE key = 1 << 36 | 9");
    CHECK_INT(verify(), 2);
    CHECK(says("entry 9 has lost its payload"));
    CHECK(says("the views were not compared"));
    clean();
}

static void another_thread_does_not_matter(void)
{
    fresh();
    damage("UPDATE entry SET payload = '{}' WHERE key >> 36 = 2");
    CHECK_INT(verify(), 0);
    clean();
}

static void rows_of_another_version_are_not_compared(void)
{
    fresh();
    damage("UPDATE row SET value = x'00'");
    damage("UPDATE thread SET views = 12345");
    CHECK_INT(verify(), 0);
    clean();
}

static void a_missing_thread_is_not_found(void)
{
    struct store *s = NULL;
    struct err    e;
    int           n = 0;
    int64_t       entries;

    CHECK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    struct log l = log_of(s, views);
    CHECK(log_verify(&l, SV("t"), note, &n, &entries, &e) == ST_NOT_FOUND);
    write_thread(s, SV("t"), 20);
    CHECK(log_verify(&l, SV("t"), note, &n, &entries, &e) == ST_OK);
    CHECK_INT(entries, 20);
    CHECK_INT(n, 0);
    store_close(s);
}

TAP_MAIN(T(a_whole_thread_has_no_findings), T(a_flipped_byte_is_found_once_and_named),
         T(any_byte_of_a_payload_may_be_flipped), T(a_changed_time_actor_or_kind_is_found),
         T(a_dropped_entry_is_found), T(the_first_entry_dropped_is_found),
         T(entries_that_changed_places_are_found), T(a_changed_row_is_found),
         T(rows_too_many_and_too_few_are_found), T(a_row_after_the_last_one_is_found),
         T(a_changed_mark_is_found), T(a_changed_op_id_is_found),
         T(a_lost_payload_is_named_and_the_rest_is_read), T(another_thread_does_not_matter),
         T(rows_of_another_version_are_not_compared), T(a_missing_thread_is_not_found), )
