/* A scan that is proved ahead, by two threads of execution when it is long: what is given, and with
 * which proof, is the same however many there are. Also run under ThreadSanitizer. */
#include "fresh.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/log.h"
#include "thread/proved.h"

#include <sched.h>
#include <sqlite3.h>
#include <string.h>

enum { LONG_ENOUGH = 2000, BATCH = 100 };

static const struct view *const views[] = { NULL };
static struct fresh             folder;
static char                     url[340], path[320];
static struct err               e;

static struct store *open_store(void)
{
    struct store *s = NULL;

    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    return s;
}

/* A thread "t" of n messages, each with this many bytes of content. */
static void write_thread(size_t n, size_t bytes)
{
    struct arena      a = { 0 };
    char             *content = ARENA_NEW(&a, char, bytes + 64);
    struct entry      list[BATCH];
    struct store     *s = open_store();
    struct log        l = log_of(s, views);
    struct store_head h;

    memcpy(content, "{\"content\":\"", 12);
    memset(content + 12, 'x', bytes);
    memcpy(content + 12 + bytes, "\",\"role\":\"user\"}", 17);
    for (size_t i = 0; i < BATCH; i++)
        list[i] = (struct entry){ .at = 1000,
                                  .kind = SV("ai_message"),
                                  .lane = SV("default"),
                                  .actor = SV("tester"),
                                  .payload = sv_of(content) };
    for (size_t some; n; n -= some) {
        some = n < BATCH ? n : BATCH;
        CHECK(log_begin(&l, SV("t"), STORE_WRITE, &e) == ST_OK);
        CHECK(log_append(&l, SV("t"), LOG_ANY_REV, list, some, &h, &e) == ST_OK);
        CHECK(log_commit(&l, &e) == ST_OK);
    }
    store_close(s);
    arena_free(&a);
}

static void make(const char *kind, size_t n, size_t bytes)
{
    folder = fresh_folder();
    snprintf(path, sizeof path, "%s/log.db", folder.path);
    snprintf(url, sizeof url, "%s:%s", kind, path);
    write_thread(n, bytes);
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
    sqlite3_close(db);
}

/* What a scan of the whole thread gave: entries, those that are not intact, and the last of these.
 */
struct seen {
    int64_t          n, odd, odd_seq;
    enum entry_proof odd_proof;
    enum status      end;
    bool             in_order;
};

/* At most `most` entries are taken. */
static struct seen read_some(struct store *s, int64_t most)
{
    struct store_query  q = { .thread = SV("t"), .to = STORE_TO_END };
    struct proved       p = { 0 };
    struct seen         seen = { .odd_seq = -1, .in_order = true };
    const struct entry *n;
    enum entry_proof    proof;
    bool                more = true;
    int64_t             last = -1;

    CHECK(store_begin(s, STORE_READ, &e) == ST_OK);
    CHECK(proved_open(&p, s, &q, &e) == ST_OK);
    while (seen.n < most && !(seen.end = proved_next(&p, &n, &proof, &more, &e)) && more) {
        seen.in_order &= n->seq > last;
        last = n->seq;
        seen.n++;
        if (proof == ENTRY_INTACT)
            continue;
        seen.odd++;
        seen.odd_seq = n->seq;
        seen.odd_proof = proof;
    }
    if (seen.n < most) { /* what was said at the end is said again */
        more = true;
        CHECK(proved_next(&p, &n, &proof, &more, &e) == seen.end && (seen.end || !more));
    }
    proved_close(&p);
    store_abort(s);
    return seen;
}

static struct seen read_all(void)
{
    struct store *s = open_store();
    struct seen   seen = read_some(s, INT64_MAX);

    store_close(s);
    return seen;
}

static void every_entry_is_given_once_and_proved(void)
{
    static const size_t lengths[] = { 1, 15, 16, 17, 255, 256, 257, 319, 321, 1000, LONG_ENOUGH };

    for (size_t i = 0; i < COUNT(lengths); i++) {
        make("sqlite", lengths[i], 40);
        struct seen seen = read_all();
        CHECK_INT(seen.n, (int64_t)lengths[i]);
        CHECK(seen.end == ST_OK && seen.odd == 0 && seen.in_order);
        clean();
    }
}

static void on_one_processor_it_is_the_same(void)
{
    cpu_set_t before, one;

    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    make("sqlite", LONG_ENOUGH, 40);
    CHECK_INT(read_all().n, LONG_ENOUGH);
    damage("UPDATE entry SET at = at + 1 WHERE key = 1 << 36 | 1500");
    CHECK_INT(read_all().odd_seq, 1500);
    clean();
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void large_entries_fill_a_batch_early(void)
{
    make("sqlite", 400, 50000);
    struct seen seen = read_all();
    CHECK_INT(seen.n, 400);
    CHECK(seen.odd == 0 && seen.in_order);
    clean();
}

static void a_changed_entry_is_the_only_one(void)
{
    static const int places[] = { 0, 15, 16, 255, 256, 257, 700, 1023, LONG_ENOUGH - 1 };
    char             sql[128];

    make("sqlite", LONG_ENOUGH, 40);
    for (size_t i = 0; i < COUNT(places); i++) {
        snprintf(sql, sizeof sql, "UPDATE entry SET at = at + 1 WHERE key = 1 << 36 | %d",
                 places[i]);
        damage(sql);
        struct seen seen = read_all();
        CHECK_INT(seen.n, LONG_ENOUGH);
        CHECK_INT(seen.odd, 1);
        CHECK_INT(seen.odd_seq, places[i]);
        CHECK(seen.odd_proof == ENTRY_CHANGED);
        sql[strcspn(sql, "+")] = '-';
        damage(sql);
    }
    clean();
}

static void behind_a_missing_entry_one_is_unproven(void)
{
    make("sqlite", LONG_ENOUGH, 40);
    damage("DELETE FROM entry WHERE key = 1 << 36 | 900");
    struct seen seen = read_all();
    CHECK_INT(seen.n, LONG_ENOUGH - 1);
    CHECK_INT(seen.odd, 1);
    CHECK_INT(seen.odd_seq, 901);
    CHECK(seen.odd_proof == ENTRY_UNPROVEN);
    clean();
}

/* What was read before the failure is given, and then the failure. */
static void a_failing_store_fails_behind_what_it_gave(void)
{
    enum { BEGIN_AND_SCAN = 2 };
    static const int64_t nth[] = { 1, 5, 17, 100, 257, 260, 800, 1600, LONG_ENOUGH };

    make("sqlite", LONG_ENOUGH, 40);
    snprintf(url, sizeof url, "fault:0:sqlite:%s", path);
    struct store *s = open_store();
    for (size_t i = 0; i < COUNT(nth); i++) {
        fault_arm(s, BEGIN_AND_SCAN + nth[i]);
        struct seen seen = read_some(s, INT64_MAX);
        fault_arm(s, 0);
        CHECK_INT(seen.n, nth[i] - 1);
        CHECK(seen.end == ST_IO && seen.odd == 0 && seen.in_order);
        CHECK_SV(sv_of(e.reason), SV("fault"));
    }
    CHECK_INT(read_some(s, INT64_MAX).n, LONG_ENOUGH);
    store_close(s);
    clean();
}

static void it_can_be_closed_at_any_entry(void)
{
    make("sqlite", LONG_ENOUGH, 40);
    struct store *s = open_store();
    for (int64_t most = 0; most < LONG_ENOUGH; most += 97)
        CHECK_INT(read_some(s, most).n, most);
    store_close(s);
    clean();
}

TAP_MAIN(T(every_entry_is_given_once_and_proved), T(on_one_processor_it_is_the_same),
         T(large_entries_fill_a_batch_early), T(a_changed_entry_is_the_only_one),
         T(behind_a_missing_entry_one_is_unproven), T(a_failing_store_fails_behind_what_it_gave),
         T(it_can_be_closed_at_any_entry))
