/* One store in memory, many threads of execution: writers take turns, readers see one state. */
#include "base/status.h"
#include "store/store.h"
#include "tap.h"

#include <pthread.h>

enum { WRITERS = 4, READERS = 2, EACH = 100 };

static const struct sv name = SV_STATIC("mem:shared");

static struct store *open_shared(struct err *e)
{
    struct store *s = NULL;

    CHECK(store_open(name, &(struct store_options){ .create = true }, &s, e) == ST_OK);
    return s;
}

static void *write_some(void *ctx)
{
    struct err        e;
    struct store     *s = open_shared(&e);
    struct store_head h;
    long              failures = 0;

    (void)ctx;
    for (int i = 0; i < EACH; i++) {
        struct entry two[] = { { .kind = SV("note"), .payload = SV("{\"n\":1}") },
                               { .kind = SV("note"), .payload = SV("{\"n\":2}") } };
        if (store_begin(s, STORE_WRITE, &e) ||
            store_append(s, SV("t"), STORE_ANY_REV, two, 2, &h, &e) ||
            store_row_put(s, &(struct store_key){ SV("t"), SV("v"), SV("rev") },
                          (struct sv){ (const char *)&h.rev, sizeof h.rev }, &e) ||
            (i % 10 != 9 && store_commit(s, &e)))
            failures++;
        store_abort(s); /* every tenth time, of what was written */
    }
    store_close(s);
    return (void *)failures;
}

/* In a transaction the number of entries, the head, the row and the chain all agree. */
static long look_once(struct store *s, struct err *e)
{
    struct arena       a = { 0 };
    struct store_query q = { .thread = SV("t"), .to = STORE_TO_END };
    struct store_key   k = { SV("t"), SV("v"), SV("rev") };
    struct store_scan *scan = NULL;
    struct store_head  h;
    struct hash        chain = { 0 };
    struct entry       n;
    struct sv          row;
    bool               more = true, found = false;
    int64_t            seen = 0, noted = 0;

    if (store_begin(s, STORE_READ, e) || store_scan(s, &q, &scan, e))
        return 1;
    while (!store_next(scan, &n, &more, e) && more) {
        chain = entry_chain(&n, &chain);
        seen++;
    }
    store_scan_close(scan);
    if (store_head(s, SV("t"), &h, e) || store_row_get(s, &k, &a, &row, &found, e))
        return 1;
    if (found)
        memcpy(&noted, row.s, sizeof noted);
    long bad = h.rev != seen || noted != seen || seen % 2 || !hash_eq(&h.chain, &chain);
    store_abort(s);
    arena_free(&a);
    return bad;
}

static void *read_some(void *ctx)
{
    struct err    e;
    struct store *s = open_shared(&e);
    long          failures = 0;

    (void)ctx;
    for (int i = 0; i < EACH; i++)
        failures += look_once(s, &e);
    store_close(s);
    return (void *)failures;
}

static void writers_and_readers_share_a_name(void)
{
    pthread_t         threads[WRITERS + READERS];
    struct err        e;
    struct store_head h;
    void             *failures;

    for (int i = 0; i < WRITERS + READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < WRITERS ? write_some : read_some, NULL) == 0);
    for (int i = 0; i < WRITERS + READERS; i++) {
        CHECK(pthread_join(threads[i], &failures) == 0);
        CHECK_INT((intptr_t)failures, 0);
    }
    struct store *s = open_shared(&e);
    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    CHECK_INT(h.rev, WRITERS * EACH * 9 / 10 * 2);
    CHECK_INT(look_once(s, &e), 0);
    store_close(s);
}

TAP_MAIN(T(writers_and_readers_share_a_name), )
