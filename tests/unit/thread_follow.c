/* Following a log: what is returned, and when it is noticed that the log was replaced. */
#include "store/store.h"
#include "tap.h"
#include "thread/follow.h"
#include "thread/lane.h"

static const struct view *const views[] = { &thread_view, NULL };
static struct arena             arena;
static struct store            *store;
static struct log               l;
static struct err               e;

static void fresh(void)
{
    store_close(store);
    store = NULL;
    CHECK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &store, &e) == ST_OK);
    l = log_of(store, views);
}

/* In the open transaction. */
static void write_one(const char *thread, const char *payload)
{
    struct entry      n = { .at = 1, .kind = SV("note"), .payload = sv_of(payload) };
    struct store_head head;

    CHECK(log_append(&l, sv_of(thread), LOG_ANY_REV, &n, 1, &head, &e) == ST_OK);
}

static void append(const char *thread, const char *payload)
{
    CHECK(log_begin(&l, sv_of(thread), STORE_WRITE, &e) == ST_OK);
    write_one(thread, payload);
    CHECK(log_commit(&l, &e) == ST_OK);
}

/* Other entries stand in place of the thread's: all that a follower can miss between two looks. */
static void replace(const char *thread, int entries)
{
    CHECK(store_begin(store, STORE_WRITE, &e) == ST_OK);
    CHECK(store_drop(store, sv_of(thread), &e) == ST_OK);
    CHECK(store_commit(store, &e) == ST_OK);
    for (int i = 0; i < entries; i++)
        append(thread, "{\"other\":1}");
}

static size_t take(struct follow *f)
{
    struct follow_entry *list;
    size_t               n = 0;

    CHECK(follow_take(f, &arena, &list, &n, &e) == ST_OK);
    return n;
}

static void entries_come_once(void)
{
    fresh();
    append("t", "{}");
    append("t", "{}");
    struct follow f = follow_in(&l, SV("t"), &arena);
    follow_start(&f, SV("t"), 0);
    CHECK_INT(take(&f), 2);
    CHECK_INT(take(&f), 0);
    append("t", "{}");
    append("u", "{}");
    CHECK_INT(take(&f), 1);
    CHECK_INT(take(&f), 0);
}

/* Not with the next commit, for which the follower may wait forever. */
static void a_thread_written_anew_is_told_at_once(void)
{
    static const struct sv threads[] = { SV_STATIC("t"), { 0 } }; /* one, or all */

    for (size_t i = 0; i < COUNT(threads); i++)
        for (int entries = 1; entries < 4; entries++) {
            struct follow_entry *list;
            size_t               n;
            fresh();
            append("t", "{}");
            append("t", "{}");
            struct follow f = follow_in(&l, threads[i], &arena);
            follow_start(&f, threads[i], 0);
            CHECK_INT(take(&f), 2);
            replace("t", entries);
            CHECK(follow_take(&f, &arena, &list, &n, &e) == ST_CONFLICT);
            CHECK_SV(sv_of(e.reason), SV("replaced"));
            CHECK_INT(n, 0);
        }
}

/* What came in other threads is not lost with it. */
static void what_came_before_is_told_first(void)
{
    struct follow_entry *list;
    size_t               n;

    fresh();
    append("a", "{}");
    append("t", "{}");
    struct follow f = follow_in(&l, (struct sv){ 0 }, &arena);
    follow_start(&f, (struct sv){ 0 }, 0);
    CHECK_INT(take(&f), 2);
    append("a", "{}");
    replace("t", 1);
    CHECK_INT(take(&f), 1);
    CHECK(follow_take(&f, &arena, &list, &n, &e) == ST_CONFLICT);
    store_close(store);
    arena_free(&arena);
}

TAP_MAIN(T(entries_come_once), T(a_thread_written_anew_is_told_at_once),
         T(what_came_before_is_told_first), )
