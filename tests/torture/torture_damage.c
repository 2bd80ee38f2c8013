/* A database file that is cut, filled with zeros or torn, at every byte of every page.
 *
 *     torture_damage FOLDER [STEP]
 *
 * With STEP only each STEP-th byte of the first 200 of a page is tried, and some behind them. After
 * each damage everything that walks over entries or rows is called: export, verification, scans
 * forwards, backwards and of a lane, rows of views, the list of threads, the engine's own check.
 * Each must end: what it gives is counted, and may not be more than a few times what was written.
 * When what is read differs from what was written, one of them must have said so. Speaks TAP. */
#include "base/vec.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"
#include "thread/log_read.h"

#include <err.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { PAGE = 4096, ENTRIES = 150, SIDE = 25, MOST = 4 * ENTRIES };

static const struct view *const views[] = { &thread_view, NULL };
static const char *const        threads[] = { "t", "other" };
static char                     path[330];
static struct arena             memory;
static struct sv                whole, older; /* the file, and as it was when it was half as long */
static struct hash              written;      /* of all that was read from the whole file */
static long                     files, refused, told_of, most_given;

/* ---- the file ------------------------------------------------------------------------- */

static void append(struct log *l, const char *thread, int n, int from)
{
    struct err e;

    for (int i = from; i < from + n; i++) {
        struct sb         b = sb_in(&memory, 0);
        struct store_head h;
        bool              large = i % 60 == 59; /* one that is kept apart, by its hash */
        sb_addf(&b, "{\"content\":\"%d ", i);
        sb_pad(&b, 'x', large ? 6000 : 100 + (size_t)i % 7 * 60);
        sb_adds(&b, "\",\"role\":\"user\"}");
        struct entry one = { .at = 1, .kind = SV("ai_message"), .lane = SV("default") };
        one.payload = sb_sv(&b);
        if (log_begin(l, sv_of(thread), STORE_WRITE, &e) ||
            log_append(l, sv_of(thread), LOG_ANY_REV, &one, 1, &h, &e) || log_commit(l, &e))
            errx(1, "%s", e.text);
    }
}

static struct sv file_bytes(void)
{
    struct stat       st;
    UNDO(fd_undo) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0)
        err(1, "%s", path);
    char *bytes = ARENA_NEW(&memory, char, (size_t)st.st_size);
    if (read(fd, bytes, (size_t)st.st_size) != st.st_size)
        err(1, "%s", path);
    return (struct sv){ bytes, (size_t)st.st_size };
}

static void put_file(struct sv bytes)
{
    static const char *const suffixes[] = { "-wal", "-shm" };

    for (int i = 0; i < 2; i++) {
        char name[340];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
    UNDO(fd_undo) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes.s, bytes.n) != (ssize_t)bytes.n)
        err(1, "%s", path);
}

static struct sv closed_file(struct log *l)
{
    struct err e;

    if (store_compact(l->store, &e))
        errx(1, "%s", e.text);
    return file_bytes();
}

static void make_file(void)
{
    struct store *s;
    struct err    e;

    if (store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e))
        errx(1, "%s", e.text);
    struct log l = log_of(s, views);
    append(&l, "t", ENTRIES / 2, 0);
    older = closed_file(&l);
    append(&l, "other", SIDE, 0);
    append(&l, "t", ENTRIES - ENTRIES / 2, ENTRIES / 2);
    whole = closed_file(&l);
    store_close(s);
}

/* ---- every walk over it --------------------------------------------------------------------- */

struct walked {
    const char *where;
    bool        told; /* something was reported */
    long        given;
    VEC(struct sv) parts; /* what was given, as hashes */
    struct arena a;
};

static void hear(void *ctx, struct sv text)
{
    struct walked *w = ctx;

    (void)text;
    w->told = true;
}

/* One more; false when it is too many to go on. */
static bool count(struct walked *w, const char *what)
{
    if (++w->given > most_given)
        most_given = w->given;
    if (w->given <= MOST)
        return true;
    printf("# %s: %s does not end\n", w->where, what);
    FAIL("a walk gives more than was written");
    return false;
}

static void note(struct walked *w, struct sv part)
{
    struct hash h = hash_blake2b(&part, 1);

    *vec_push(&w->parts, &w->a) = hash_hex(&h, &w->a);
}

static void walk_export(struct walked *w, struct log *l, struct sv thread)
{
    struct log_reader r;
    struct entry      n;
    struct err        e;
    bool              more = true, intact;

    w->given = 0;
    if (log_read_open(&r, l, thread, 0, STORE_TO_END, hear, w, &e)) {
        w->told = true;
        return;
    }
    enum status s;
    while (!(s = log_read_next(&r, &n, &intact, &more, &e)) && more && count(w, "export"))
        note(w, n.payload);
    log_read_close(&r);
    if (s || log_read_result(&r, &e))
        w->told = true;
}

static void walk_scan(struct walked *w, struct log *l, const struct store_query *q)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct entry                             n;
    struct err                               e;
    bool                                     more = true;

    w->given = 0;
    if (store_scan(l->store, q, &scan, &e)) {
        w->told = true;
        return;
    }
    while (more && count(w, q->backwards ? "a scan backwards" : "a scan"))
        if (store_next(scan, &n, &more, &e))
            w->told = true;
}

static void walk_rows(struct walked *w, struct log *l, struct sv thread, bool backwards)
{
    UNDO(store_rows_undo) struct store_rows *rows = NULL;
    struct store_row_query q = { .thread = thread, .view = SV("thread"), .backwards = backwards };
    struct store_row       row;
    struct err             e;
    bool                   more = true;

    w->given = 0;
    enum status s = store_rows(l->store, &q, &rows, &e);
    while (!s && more && count(w, "a scan of rows"))
        s = store_rows_next(rows, &row, &more, &e);
    w->told = w->told || s;
}

static void walk_thread(struct walked *w, struct log *l, struct sv thread)
{
    struct log_findings to = { .damage = hear, .ctx = w };
    struct err          e;
    int64_t             read = 0;
    struct sv          *list;
    size_t              n;

    walk_export(w, l, thread);
    walk_scan(w, l, &(struct store_query){ .thread = thread, .to = STORE_TO_END });
    walk_scan(w, l,
              &(struct store_query){ .thread = thread, .to = STORE_TO_END, .backwards = true });
    for (int back = 0; back < 2; back++)
        walk_scan(w, l,
                  &(struct store_query){ .thread = thread,
                                         .to = STORE_TO_END,
                                         .lane = SV("default"),
                                         .mark = MARK_MESSAGE,
                                         .backwards = back });
    walk_rows(w, l, thread, false);
    walk_rows(w, l, thread, true);
    if (store_views(l->store, thread, &w->a, &list, &n, &e))
        w->told = true;
    store_abort(l->store);
    if (log_examine(l, thread, &to, &read, &e))
        w->told = true;
    CHECK(read <= MOST);
    if (store_begin(l->store, STORE_READ, &e))
        w->told = true;
}

static void walk_all(struct walked *w, struct log *l)
{
    struct store_thread *list;
    struct err           e;
    size_t               n = 0;

    if (store_begin(l->store, STORE_READ, &e)) {
        w->told = true;
        return;
    }
    if (store_threads(l->store, &w->a, &list, &n, &e))
        w->told = true;
    CHECK(n <= 2);
    for (size_t i = 0; i < COUNT(threads); i++)
        walk_thread(w, l, sv_of(threads[i]));
    store_abort(l->store);
    if (store_check(l->store, hear, w, &e))
        w->told = true;
}

/* ---- one damaged file ------------------------------------------------------------------------ */

static void try_file(const char *where, struct sv bytes)
{
    struct walked w = { .where = where };
    struct store *s = NULL;
    struct err    e;

    if (sv_eq(bytes, whole) && written.b[0])
        return;
    put_file(bytes);
    files++;
    if (store_open(sv_of(path), &(struct store_options){ 0 }, &s, &e)) {
        refused++;
        return;
    }
    struct log l = log_of(s, views);
    walk_all(&w, &l);
    store_close(l.store);
    struct hash read = hash_blake2b(w.parts.v, w.parts.n);
    if (!written.b[0]) {
        CHECK(!w.told);
        CHECK_INT(w.parts.n, ENTRIES + SIDE);
        written = read;
    }
    told_of += w.told;
    if (!w.told && !hash_eq(&read, &written)) {
        printf("# %s: nothing was said\n", where);
        FAIL("what is read differs from what was written, and nobody says so");
    }
    arena_free(&w.a);
}

/* ---- the damages ------------------------------------------------------------------------------
 */

static struct sv cut(size_t page, size_t at)
{
    return (struct sv){ whole.s, page * PAGE + at };
}

/* The page from `at` on, or up to it, comes from elsewhere; NULL: zeros. */
static struct sv torn(size_t page, size_t at, bool end, const char *other, struct arena *a)
{
    char *bytes = ARENA_NEW(a, char, whole.n);
    char *to = bytes + page * PAGE + (end ? at : 0);

    memcpy(bytes, whole.s, whole.n);
    for (size_t i = 0, n = end ? PAGE - at : at; i < n; i++)
        to[i] = other ? other[i + (end ? at : 0)] : 0;
    return (struct sv){ bytes, whole.n };
}

static void damage(size_t page, size_t at)
{
    struct arena a = { 0 };
    char         where[100];
    const char  *before = (page + 1) * PAGE <= older.n ? older.s + page * PAGE : NULL;
    const char  *next = page > 2 ? whole.s + (page - 1) * PAGE : NULL;

    snprintf(where, sizeof where, "cut at page %zu, byte %zu", page, at);
    try_file(where, cut(page, at));
    for (int end = 0; end < 2; end++) {
        const char *side = end ? "from" : "up to";
        snprintf(where, sizeof where, "zeros %s byte %zu of page %zu", side, at, page);
        try_file(where, torn(page, at, end, NULL, &a));
        snprintf(where, sizeof where, "an older page %s byte %zu of page %zu", side, at, page);
        if (before)
            try_file(where, torn(page, at, end, before, &a));
        snprintf(where, sizeof where, "another page %s byte %zu of page %zu", side, at, page);
        if (next)
            try_file(where, torn(page, at, end, next, &a));
    }
    arena_free(&a);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        errx(1, "usage: torture_damage FOLDER [STEP]");
    size_t step = argc > 2 ? (size_t)atol(argv[2]) : 1;

    snprintf(path, sizeof path, "%.300s/damaged.db", argv[1]);
    make_file();
    try_file("the whole file", whole);
    for (size_t page = 0; page * PAGE < whole.n; page++) {
        for (size_t at = page % step; at < (step > 1 ? 200 : PAGE); at += step)
            damage(page, at);
        for (size_t at = 256; step > 1 && at <= PAGE; at *= 4)
            damage(page, at == PAGE ? PAGE - 1 : at);
    }
    put_file(SV(""));
    unlink(path);
    printf(
        "# %zu pages, %ld files: %ld refused, damage told of in %ld, at most %ld given at once\n",
        whole.n / PAGE, files, refused, told_of, most_given);
    printf("%sok 1 - every walk over a damaged file ends, and damage is told\n1..1\n",
           tap_failures ? "not " : "");
    return tap_failures > 0;
}
