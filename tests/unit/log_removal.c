/* Erasing very many entries and dropping a long thread: what is recorded first, done in slices
 * afterwards, and ends the same when it is interrupted anywhere. */
#include "fresh.h"
#include "store/limits.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/deletion.h"
#include "thread/lane.h"
#include "thread/limits.h"

#include <fcntl.h>
#include <unistd.h>

#define WORD "Zqxjkvbp7731"
#define LONG SV("long")
#define OTHER SV("other")

static const struct view *const views[] = { &thread_view, NULL };

static struct arena  a;
static struct err    e;
static struct fresh  folder;
static struct store *s;
static struct log    l;

#define OK(call)                                                                                   \
    do {                                                                                           \
        enum status got_ = (call);                                                                 \
        CHECK_INT(got_, ST_OK);                                                                    \
        if (got_)                                                                                  \
            printf("# %s\n", e.text);                                                              \
    } while (0)

static void open_as(const char *scheme, const char *file)
{
    struct sb url = sb_in(&a, 0);

    sb_addf(&url, "%s%s%s%s", scheme, *file ? folder.path : "", *file ? "/" : "", file);
    OK(store_open(sb_sv(&url), &(struct store_options){ .create = true }, &s, &e));
    l = log_of(s, views);
}

static void append(struct sv thread, const char *content, size_t n)
{
    struct store_head h;

    for (size_t done = 0; done < n;) {
        size_t        m = n - done < 1000 ? n - done : 1000;
        struct entry *list = ARENA_NEW(&a, struct entry, m);
        for (size_t i = 0; i < m; i++, done++) {
            struct sb b = sb_in(&a, 0);
            sb_addf(&b, "{\"content\":\"%s %zu is here\",\"role\":\"user\"}", content, done);
            list[i] = (struct entry){ .at = 1,
                                      .kind = SV("ai_message"),
                                      .lane = SV("default"),
                                      .actor = SV("anna"),
                                      .payload = sb_sv(&b) };
        }
        OK(log_begin(&l, thread, STORE_WRITE, &e));
        OK(log_append(&l, thread, LOG_ANY_REV, list, m, &h, &e));
        OK(log_commit(&l, &e));
    }
}

static int64_t rev_of(struct sv thread)
{
    struct store_head h;

    OK(store_head(s, thread, &h, &e));
    return h.rev;
}

static void note(void *ctx, struct sv finding)
{
    ++*(int *)ctx;
    printf("# " SV_FMT "\n", SV_ARG(finding));
}

/* How many entries of the thread are erased; what is there verifies. */
static int64_t erased_in(struct sv thread)
{
    int64_t             entries, erased = 0;
    int                 n = 0;
    struct log_findings to = { note, note, &n, &erased };

    OK(log_examine(&l, thread, &to, &entries, &e));
    CHECK_INT(n, 0);
    return erased;
}

static void pending(struct erase_pending **list, size_t *n)
{
    OK(log_begin(&l, (struct sv){ 0 }, STORE_READ, &e));
    OK(erase_pending(&l, &a, list, n, &e));
    log_abort(&l);
}

static size_t known_chains(void)
{
    struct map chains;

    OK(log_begin(&l, (struct sv){ 0 }, STORE_READ, &e));
    OK(erase_known_chains(&l, &a, &chains, &e));
    log_abort(&l);
    return chains.n;
}

/* ---- erasing ----------------------------------------------------------------------------------
 */

/* n messages and one of another thread that quotes one of them; it is recorded that all go. */
static void record(size_t n)
{
    struct erase_what what = { .thread = LONG, .actor = SV("anna") };
    struct erase_how  how = { .reason = SV("asked"), .at = 2, .with_derived = true };
    struct erase_plan plan;
    int64_t           seq;

    open_as("fault:0:mem:", "");
    append(LONG, "the long text of number", n);
    append(OTHER, "he said: the long text of number", 1);
    OK(log_begin(&l, LONG, STORE_READ, &e));
    OK(erase_find(&l, &what, &a, &plan, &e));
    log_abort(&l);
    CHECK_INT(plan.asked, (int64_t)n);
    CHECK_INT(plan.derived, 1);
    OK(log_begin(&l, LONG, STORE_WRITE, &e));
    OK(erase_run(&l, &plan, &how, &seq, &e));
    CHECK_INT(seq, (int64_t)n);
    OK(log_commit(&l, &e));
}

static void an_erasure_of_many_entries_is_recorded_and_then_done_in_slices(void)
{
    enum { N = 2 * ERASE_SLICE + 50 };
    struct erase_pending *list;
    size_t                n;

    record(N);
    CHECK_INT(erased_in(LONG), 0);
    CHECK_INT(known_chains(), N + 1); /* an import must not bring them back */
    pending(&list, &n);
    CHECK_INT(n, 2);
    CHECK_INT(n == 2 ? list[0].n_seqs + list[1].n_seqs : 0, N + 1);
    fault_arm(s, 0);
    int64_t writes = fault_calls_of(s, "begin_write");
    OK(erase_rest(&l, list, n, &e));
    CHECK_INT(fault_calls_of(s, "begin_write") - writes,
              4); /* three slices, and the other thread */
    CHECK(fault_most_in_write(s) <= 3 * ERASE_SLICE + 100);
    CHECK_INT(erased_in(LONG), N);
    CHECK_INT(erased_in(OTHER), 1);
    CHECK_INT(known_chains(), N + 1);
    writes = fault_calls_of(s, "begin_write");
    OK(erase_rest(&l, list, n, &e)); /* nothing is left: nothing is written */
    CHECK_INT(fault_calls_of(s, "begin_write") - writes, 0);
    pending(&list, &n);
    CHECK_INT(n, 2); /* until the files are clean */
    store_close(s);
    arena_free(&a);
}

static void a_small_erasure_is_one_transaction(void)
{
    record(40);
    CHECK_INT(erased_in(LONG), 40);
    CHECK_INT(erased_in(OTHER), 1);
    store_close(s);
    arena_free(&a);
}

/* The k-th call fails; false when there were fewer. */
static bool interrupt_erasing(int64_t k)
{
    enum { N = ERASE_SLICE + 60 };
    struct erase_pending *list;
    size_t                n;

    record(N);
    pending(&list, &n);
    fault_arm(s, k);
    enum status st = erase_rest(&l, list, n, &e);
    bool        failed = fault_calls(s) >= k;
    fault_arm(s, 0);
    CHECK_INT(st, failed ? ST_IO : ST_OK);
    pending(&list, &n);
    CHECK_INT(n, 2);
    int64_t erased = erased_in(LONG);
    CHECK(erased == 0 || erased == ERASE_SLICE || erased == N);
    CHECK_INT(known_chains(), N + 1);
    append(LONG, "something else", 1);
    OK(erase_rest(&l, list, n, &e));
    CHECK_INT(erased_in(LONG), N);
    CHECK_INT(erased_in(OTHER), 1);
    store_close(s);
    arena_free(&a);
    return failed;
}

static void an_erasure_that_is_interrupted_anywhere_is_finished(void)
{
    int64_t k = 1;

    while (k < 100000 && interrupt_erasing(k))
        k += k < 12 ? 1 : 977;
    CHECK(k > 4000 && k < 100000);
}

static void a_log_that_was_replaced_meanwhile_is_left_alone(void)
{
    struct erase_pending *list;
    size_t                n;

    record(ERASE_SLICE + 60);
    pending(&list, &n);
    for (size_t i = 0; i < n; i++)
        list[i].chain.b[0] ^= 1;
    OK(erase_rest(&l, list, n, &e));
    CHECK_INT(erased_in(LONG), 0);
    store_close(s);
    arena_free(&a);
}

/* ---- dropping ---------------------------------------------------------------------------------
 */

static bool file_has(const char *name, const char *word)
{
    struct sv bytes;

    if (fs_read(folder.fd, sv_of(name), 0, &a, &bytes, &e))
        return false;
    return sv_find(bytes, sv_of(word)) >= 0;
}

static size_t found(const char *word)
{
    struct sv         words[] = { sv_of(word) };
    struct store_hit *hits;
    size_t            n;

    OK(store_text_find(s, (struct sv){ 0 }, words, 1, 10, &a, &hits, &n, &e));
    return n;
}

static void put_words(struct sv thread, const char *word)
{
    OK(store_begin(s, STORE_WRITE, &e));
    OK(store_text_put(s, thread, 0, sv_of(word), &e));
    OK(store_commit(s, &e));
}

static void unlink_all(void)
{
    static const char *const names[] = { "log.db", "log.db-wal", "log.db-shm", "copy.db" };

    for (size_t i = 0; i < COUNT(names); i++)
        unlinkat(folder.fd, names[i], 0);
}

/* A long thread and another one, with large payloads: one that both have, one each. */
static void plant(size_t n)
{
    char *large = ARENA_NEW(&a, char, 2 * STORE_BLOB_MIN);

    unlink_all();
    open_as("fault:0:sqlite:", "log.db");
    append(LONG, WORD, n);
    append(OTHER, "nothing", 2);
    memset(large, 'x', 2 * STORE_BLOB_MIN - 1);
    append(LONG, large, 1);
    append(OTHER, large, 1);
    memcpy(large, WORD, sizeof WORD - 1);
    append(LONG, large, 1);
    put_words(LONG, WORD);
    put_words(OTHER, "nothing");
}

static enum status drop(void)
{
    if (log_begin(&l, LONG, STORE_WRITE, &e) || store_drop_later(s, LONG, &e) ||
        log_commit(&l, &e)) {
        log_abort(&l);
        return err_code(&e);
    }
    return ST_OK;
}

static void check_gone(void)
{
    struct store_thread *list;
    struct sv           *ids;
    size_t               n;

    CHECK_INT(rev_of(LONG), 0);
    OK(store_threads(s, &a, &list, &n, &e));
    CHECK_INT(n, 1);
    OK(store_thread_ids(s, &a, &ids, &n, &e));
    CHECK_INT(n, 1);
    CHECK_INT(found(WORD), 0);
}

static void a_thread_that_is_dropped_is_gone_at_once_and_removed_in_slices(void)
{
    struct store_stats st;
    struct store_size *sizes;
    size_t             n;
    bool               any;

    plant(2 * STORE_DROP_SLICE + 10);
    CHECK_INT(found(WORD), 1);
    int64_t writes = fault_calls_of(s, "begin_write");
    OK(drop());
    check_gone();
    OK(store_stats(s, &st, &e)); /* the other thread alone, though the rest is there */
    CHECK_INT(st.threads, 1);
    CHECK_INT(st.entries, 3);
    OK(store_sizes(s, &a, &sizes, &n, &e));
    for (size_t i = 0; i < n; i++)
        CHECK_SV(sizes[i].thread, OTHER);
    append(LONG, "a new one", 3); /* the id is free, below the log */
    CHECK_INT(rev_of(LONG), 3);
    OK(store_drop_rest(s, &any, &e));
    CHECK(any);
    CHECK(fault_calls_of(s, "begin_write") - writes >= 5);
    CHECK(fault_most_in_write(s) <= STORE_DROP_SLICE);
    OK(store_drop_rest(s, &any, &e));
    CHECK(!any);
    OK(store_stats(s, &st, &e));
    CHECK_INT(st.threads, 2);
    CHECK_INT(st.entries, 6);
    CHECK_INT(st.blobs, 1); /* that of the other thread */
    CHECK_INT(erased_in(OTHER), 0);
    CHECK_INT(erased_in(LONG), 0);
    OK(store_scrub(s, NULL, NULL, &e));
    store_close(s);
    CHECK(!file_has("log.db", WORD));
    CHECK(file_has("log.db", "a new one"));
    arena_free(&a);
}

/* A copy that is made before the rest is removed does not have it. */
static void a_backup_has_nothing_of_a_dropped_thread(void)
{
    struct sb path = sb_in(&a, 0);

    plant(50);
    int fd = openat(folder.fd, "copy.db", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    OK(drop());
    sb_addf(&path, "%s/copy.db", folder.path);
    OK(store_backup(s, sb_sv(&path), &e));
    CHECK(file_has("log.db-wal", WORD));
    CHECK(!file_has("copy.db", WORD));
    store_close(s);
    open_as("sqlite:", "copy.db");
    check_gone();
    CHECK_INT(erased_in(OTHER), 0);
    store_close(s);
    arena_free(&a);
}

/* The k-th call fails, and those that try again; false when there were fewer. */
static bool interrupt_dropping(int64_t k)
{
    plant(STORE_DROP_SLICE + 20);
    OK(drop());
    fault_break(s, k);
    enum status st = store_scrub(s, NULL, NULL, &e);
    bool        failed = fault_calls(s) >= k;
    fault_arm(s, 0);
    CHECK_INT(st, failed ? ST_IO : ST_OK);
    check_gone();
    OK(store_scrub(s, NULL, NULL, &e));
    CHECK_INT(erased_in(OTHER), 0);
    store_close(s);
    CHECK(!file_has("log.db", WORD));
    CHECK(!file_has("log.db-wal", WORD));
    arena_free(&a);
    return failed;
}

static void a_removal_that_is_interrupted_anywhere_is_finished(void)
{
    int64_t k = 1;

    while (k < 100 && interrupt_dropping(k))
        k++;
    CHECK(k > 8 && k < 100);
}

int main(int argc, char **argv)
{
    static const struct tap_test tests[] = {
        T(an_erasure_of_many_entries_is_recorded_and_then_done_in_slices),
        T(a_small_erasure_is_one_transaction),
        T(an_erasure_that_is_interrupted_anywhere_is_finished),
        T(a_log_that_was_replaced_meanwhile_is_left_alone),
        T(a_thread_that_is_dropped_is_gone_at_once_and_removed_in_slices),
        T(a_backup_has_nothing_of_a_dropped_thread),
        T(a_removal_that_is_interrupted_anywhere_is_finished),
    };

    folder = fresh_folder();
    int how = tap_run(tests, COUNT(tests), argc, argv);
    fresh_done(&folder);
    return how;
}
