/* What is SQLite's alone: files that are damaged, foreign, old, new, read-only or on a full
 * disk, and files that must stay small. */
#include "base/status.h"
#include "fresh.h"
#include "store/sqlite_internal.h"
#include "store/store.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct fresh made;
static char         folder[256], path[330];
static struct arena a;
static struct err   e;

static const char *beside(const char *suffix)
{
    static char name[360];

    snprintf(name, sizeof name, "%s%s", path, suffix);
    return name;
}

static void fresh(void)
{
    made = fresh_folder();
    memcpy(folder, made.path, sizeof folder);
    snprintf(path, sizeof path, "%s/log.db", folder);
}

static void clean(void)
{
    static const char *const suffixes[] = { "",        "-wal",    "-shm",    ".v2.bak",
                                            ".v3.bak", ".v6.bak", ".v7.bak", ".v7.bak.part" };

    for (size_t i = 0; i < COUNT(suffixes); i++)
        unlink(beside(suffixes[i]));
    CHECK(rmdir(folder) == 0); /* nothing else was left beside it */
    close(made.fd);
    arena_free(&a);
}

static enum status try_open(const struct store_options *o, struct store **s)
{
    *s = NULL;
    return store_open(sv_of(path), o, s, &e);
}

static struct store *open_log(void)
{
    struct store *s;

    CHECK(try_open(&(struct store_options){ .create = true }, &s) == ST_OK);
    return s;
}

static enum status append(struct store *s, struct sv payload, size_t n)
{
    struct entry     *list = ARENA_NEW(&a, struct entry, n);
    struct store_head h;

    for (size_t i = 0; i < n; i++)
        list[i] = (struct entry){ .at = 1, .kind = SV("note"), .payload = payload };
    if (store_begin(s, STORE_WRITE, &e))
        return e.code;
    if (store_append(s, SV("t"), STORE_ANY_REV, list, n, &h, &e)) {
        store_abort(s);
        return e.code;
    }
    return store_commit(s, &e);
}

static int64_t rev(struct store *s)
{
    struct store_head h = { .rev = -1 };

    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    return h.rev;
}

static int64_t size_of(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 ? (int64_t)st.st_size : 0;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static struct sv bytes(size_t n)
{
    struct sb b = sb_in(&a, 0);

    sb_pad(&b, 'x', n);
    return sb_sv(&b);
}

static int64_t number_in(const char *name, const char *sql)
{
    sqlite3      *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t       n = -1;

    CHECK(sqlite3_open(name, &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK);
    if (st && sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

/* ---- settings ----------------------------------------------------------------------- */

static void the_file_is_durable_and_can_shrink(void)
{
    fresh();
    struct store        *s = open_log();
    struct sqlite_store *q = sqlite_of(s);
    int64_t              n;
    CHECK(sqlite_number(q, "PRAGMA synchronous", &n, &e) == ST_OK);
    CHECK_INT(n, 2);
    CHECK(sqlite_number(q, "PRAGMA auto_vacuum", &n, &e) == ST_OK);
    CHECK_INT(n, 2);
    CHECK(sqlite_number(q, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &n, &e) ==
          ST_OK);
    CHECK_INT(n, 1);
    store_close(s);
    clean();
}

static void large_payloads_are_stored_once(void)
{
    struct store_stats st;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, bytes(4095), 3) == ST_OK);
    CHECK(store_stats(s, &st, &e) == ST_OK);
    CHECK_INT(st.blobs, 0);
    CHECK(append(s, bytes(4096), 3) == ST_OK);
    CHECK(append(s, bytes(4096), 2) == ST_OK);
    CHECK(append(s, bytes(4097), 1) == ST_OK);
    CHECK(store_stats(s, &st, &e) == ST_OK);
    CHECK_INT(st.blobs, 2);
    CHECK(append(s, bytes(1000000), 20) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    CHECK(size_of(path) < 1300000);
    store_close(s);
    clean();
}

/* Whatever another program does to the file. */
static void tamper(const char *sql)
{
    sqlite3 *db = NULL;
    char    *why = NULL;

    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK);
    if (why)
        printf("# %s\n", why);
    sqlite3_free(why);
    sqlite3_close(db);
}

/* The file as an older version of the program left it. */
static void make_old(int version)
{
    char sql[100];

    tamper("DROP INDEX entry_blob;");
    if (version < 6)
        tamper("DROP INDEX entry_message;"
               "CREATE INDEX entry_message ON entry(lane) WHERE mark = 1;"
               "UPDATE entry SET kind = 'ai_message' WHERE kind = '';"
               "UPDATE entry SET lane = 'default' WHERE mark = 1 AND lane IS NULL");
    if (version < 5)
        tamper("ALTER TABLE thread DROP COLUMN version; ALTER TABLE entry DROP COLUMN salt;"
               "ALTER TABLE entry DROP COLUMN content;");
    if (version < 4)
        tamper("ALTER TABLE thread DROP COLUMN rev; ALTER TABLE thread DROP COLUMN chain;");
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    tamper(sql);
}

/* ---- migration ---------------------------------------------------------------------- */

enum { NEXT = SQLITE_SCHEMA_VERSION + 1 };

static const struct sqlite_step to_next[] = {
    { 1, "CREATE TABLE never(x);" }, /* done long ago */
    { NEXT, "ALTER TABLE thread ADD COLUMN title TEXT; UPDATE thread SET title = 'named';" },
};
static const struct sqlite_step to_broken[] = {
    { NEXT, "ALTER TABLE thread ADD COLUMN title TEXT; UPDATE thread SET title = 'named';" },
    { NEXT + 1, "CREATE TABLE fine(x); INSERT INTO no_such_table VALUES(1);" },
};

static void an_older_schema_is_migrated_after_a_copy(void)
{
    fresh();
    struct store        *s = open_log();
    struct sqlite_store *q = sqlite_of(s);
    int64_t              n;
    CHECK(append(s, SV("{}"), 3) == ST_OK);
    CHECK(sqlite_migrate(q, to_next, COUNT(to_next), NEXT, &e) == ST_OK);
    CHECK(sqlite_number(q, "PRAGMA user_version", &n, &e) == ST_OK);
    CHECK_INT(n, NEXT);
    CHECK(sqlite_number(q, "SELECT count(*) FROM thread WHERE title = 'named'", &n, &e) == ST_OK);
    CHECK_INT(n, 1);
    CHECK_INT(rev(s), 3);
    CHECK_INT(number_in(beside(".v7.bak"), "PRAGMA user_version"), SQLITE_SCHEMA_VERSION);
    CHECK_INT(number_in(beside(".v7.bak"), "SELECT count(*) FROM entry"), 3);
    CHECK_INT(number_in(beside(".v7.bak"), "PRAGMA application_id"), SQLITE_APPLICATION_ID);
    CHECK_INT(number_in(beside(".v7.bak"), "SELECT count(*) FROM pragma_table_info('thread')"), 6);
    CHECK(sqlite_migrate(q, to_next, COUNT(to_next), NEXT, &e) == ST_OK); /* nothing left to do */
    store_close(s);

    struct store *again; /* by the program that knows only the one before it */
    CHECK(try_open(&(struct store_options){ 0 }, &again) == ST_IO);
    CHECK(strstr(e.text, "schema 8") && strstr(e.hint, "newer"));
    CHECK(try_open(&(struct store_options){ .read_only = true }, &again) == ST_IO);
    CHECK_INT(number_in(path, "PRAGMA user_version"), NEXT);
    clean();
}

static void words_of_an_older_schema_are_forgotten(void)
{
    fresh();
    struct store        *s = open_log();
    struct sqlite_store *q = sqlite_of(s);
    int64_t              n = -1;
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(sqlite_exec(q, "INSERT INTO text(rowid, body) VALUES(1, 'x')", &e) == ST_OK);
    store_close(s);
    make_old(2);
    s = open_log();
    CHECK(sqlite_number(sqlite_of(s), "SELECT count(*) FROM text", &n, &e) == ST_OK);
    CHECK_INT(n, 0);
    CHECK_INT(rev(s), 1);
    CHECK_INT(number_in(beside(".v2.bak"), "SELECT count(*) FROM text"), 1);
    store_close(s);
    clean();
}

static void a_failed_step_leaves_the_old_schema(void)
{
    fresh();
    struct store        *s = open_log();
    struct sqlite_store *q = sqlite_of(s);
    int64_t              n;
    CHECK(append(s, SV("{}"), 3) == ST_OK);
    CHECK(sqlite_migrate(q, to_broken, COUNT(to_broken), NEXT + 1, &e) == ST_IO);
    CHECK(strstr(e.text, "schema 9") != NULL);
    CHECK(sqlite_number(q, "PRAGMA user_version", &n, &e) == ST_OK);
    CHECK_INT(n, SQLITE_SCHEMA_VERSION);
    CHECK(sqlite_number(q, "SELECT count(*) FROM pragma_table_info('thread')", &n, &e) == ST_OK);
    CHECK_INT(n, 6);
    CHECK(sqlite_number(q, "SELECT count(*) FROM sqlite_schema WHERE name = 'fine'", &n, &e) ==
          ST_OK);
    CHECK_INT(n, 0);
    store_close(s);
    s = open_log(); /* and it works as before */
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK_INT(rev(s), 4);
    store_close(s);
    clean();
}

static void no_copy_no_migration(void)
{
    fresh();
    struct store        *s = open_log();
    struct sqlite_store *q = sqlite_of(s);
    int64_t              n;
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(mkdir(beside(".v7.bak"), 0755) == 0); /* in the way of the copy */
    CHECK(mkdir(beside(".v7.bak/x"), 0755) == 0);
    CHECK(sqlite_migrate(q, to_next, COUNT(to_next), NEXT, &e) != ST_OK);
    CHECK(strstr(e.text, "copy before migration") != NULL);
    CHECK(sqlite_number(q, "PRAGMA user_version", &n, &e) == ST_OK);
    CHECK_INT(n, SQLITE_SCHEMA_VERSION);
    rmdir(beside(".v7.bak/x"));
    rmdir(beside(".v7.bak"));
    store_close(s);
    clean();
}

/* ---- files that are not a log ------------------------------------------------------- */

static void a_foreign_database_is_refused_and_left_alone(void)
{
    struct store *s;
    sqlite3      *db = NULL;

    fresh();
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "CREATE TABLE mine(x); INSERT INTO mine VALUES(7)", 0, 0, 0) == 0);
    sqlite3_close(db);
    CHECK(try_open(&(struct store_options){ .create = true }, &s) == ST_CORRUPT);
    CHECK(strstr(e.text, "not heddle's") && e.hint[0]);
    CHECK_INT(number_in(path, "SELECT x FROM mine"), 7);
    CHECK_INT(number_in(path, "SELECT count(*) FROM sqlite_schema"), 1);
    clean();
}

static void garbage_is_refused_and_left_alone(void)
{
    char          noise[8192];
    struct store *s;

    fresh();
    memset(noise, 'g', sizeof noise);
    write_file(path, noise, sizeof noise);
    CHECK(try_open(&(struct store_options){ .create = true }, &s) == ST_CORRUPT);
    CHECK(strstr(e.hint, "doctor") != NULL);
    CHECK_INT(size_of(path), sizeof noise);
    write_file(path, "short", 5);
    CHECK(try_open(&(struct store_options){ .create = true }, &s) == ST_CORRUPT);
    CHECK_INT(size_of(path), 5);
    clean();
}

static void an_empty_file_becomes_a_log_only_when_asked(void)
{
    struct store *s;

    fresh();
    write_file(path, "", 0);
    CHECK(try_open(&(struct store_options){ 0 }, &s) == ST_CORRUPT);
    CHECK(strstr(e.text, "is empty") && e.hint[0]);
    CHECK(try_open(&(struct store_options){ .read_only = true }, &s) == ST_CORRUPT);
    s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    store_close(s);
    clean();
}

static void the_write_ahead_log_of_a_lost_file_is_left_alone(void)
{
    struct store *s;
    char          wal[PATH_MAX + 8];

    fresh();
    s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    store_close(s);
    snprintf(wal, sizeof wal, "%s-wal", path);
    int64_t before = size_of(wal);
    CHECK(before > 0);
    write_file(path, "", 0);
    for (int create = 0; create < 2; create++) {
        CHECK(try_open(&(struct store_options){ .create = create }, &s) == ST_CORRUPT);
        CHECK(strstr(e.text, "-wal holds entries") && e.hint[0]);
    }
    unlink(path);
    CHECK(try_open(&(struct store_options){ .create = true }, &s) == ST_CORRUPT);
    CHECK_INT(size_of(wal), before);
    clean();
}

/* Read everything; the number of entries got, and the status at the end. */
static int64_t read_all(struct store *s, enum status *st)
{
    struct store_scan *scan = NULL;
    struct entry       n;
    bool               more = true;
    int64_t            got = 0;

    *st = store_scan(s, &(struct store_query){ .thread = SV("t"), .to = STORE_TO_END }, &scan, &e);
    while (!*st && !(*st = store_next(scan, &n, &more, &e)) && more)
        got++;
    store_scan_close(scan);
    return got;
}

static void count(void *ctx, struct sv complaint)
{
    (void)complaint;
    ++*(int *)ctx;
}

static void a_truncated_file_is_told_and_its_front_is_readable(void)
{
    struct store *s;
    enum status   st;
    int           complaints = 0;

    fresh();
    s = open_log();
    for (int i = 0; i < 20; i++)
        CHECK(append(s, bytes(1000), 50) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    store_close(s);
    unlink(beside("-wal"));
    CHECK(truncate(path, size_of(path) / 2 / 4096 * 4096) == 0);
    st = try_open(&(struct store_options){ .read_only = true }, &s);
    CHECK(st == ST_OK || st == ST_CORRUPT);
    if (!st) {
        int64_t got = read_all(s, &st);
        CHECK(st == ST_CORRUPT);
        CHECK(got > 100 && got < 1000);
        CHECK(strstr(e.hint, "export") != NULL);
        st = store_check(s, count, &complaints, &e);
        CHECK(complaints > 0 || st == ST_CORRUPT);
        store_close(s);
    }
    clean();
}

static void a_damaged_page_is_told(void)
{
    char          noise[4096];
    struct store *s;
    enum status   st;

    fresh();
    s = open_log();
    for (int i = 0; i < 20; i++)
        CHECK(append(s, bytes(1000), 50) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    store_close(s);
    memset(noise, 0xa5, sizeof noise);
    int fd = open(path, O_WRONLY);
    for (int page = 60; page < 64; page++)
        CHECK(pwrite(fd, noise, sizeof noise, (off_t)page * 4096) == 4096);
    close(fd);
    s = open_log();
    CHECK(read_all(s, &st) < 1000);
    CHECK(st == ST_CORRUPT);
    store_close(s);
    clean();
}

/* ---- a folder and a disk that say no ------------------------------------------------ */

static const struct sv odd_names[] = { SV_STATIC("log.db"), SV_STATIC("a?b#c%41.db") };

enum { CANNOT_TRY = 77 };

/* In a child that may not write: what `work` gives, 0 when all is well. */
static int as_nobody(int (*work)(void))
{
    int   status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
            access(folder, R_OK | X_OK) != 0)
            _exit(CANNOT_TRY);
        _exit(work());
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_TRY) {
        printf("# nobody may not come here\n");
        return 0;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int read_three(void)
{
    struct store *s;

    if (store_open(sv_of(path), &(struct store_options){ .read_only = true }, &s, &e)) {
        printf("# %s\n", e.text);
        return 1;
    }
    int64_t n = rev(s);
    store_close(s);
    return n == 3 ? 0 : 2;
}

static int write_is_refused(void)
{
    struct store *s;
    enum status   st =
        store_open(sv_of(path), &(struct store_options){ .create = true, .busy_ms = 50 }, &s, &e);

    if (!st)
        st = append(s, SV("{}"), 1);
    if (st != ST_IO || !e.hint[0])
        printf("# %d %s\n", st, e.text);
    return st == ST_IO && e.hint[0] ? 0 : 1;
}

/* In a place that everybody can come to, wherever TMPDIR is. */
static void fresh_for_all(void)
{
    char kept[256] = "";

    if (getenv("TMPDIR"))
        snprintf(kept, sizeof kept, "%s", getenv("TMPDIR"));
    unsetenv("TMPDIR");
    fresh();
    if (kept[0])
        setenv("TMPDIR", kept, 1);
}

static void a_read_only_folder_can_be_read_and_says_no_to_writes(void)
{
    for (size_t i = 0; i < COUNT(odd_names); i++) {
        fresh_for_all();
        snprintf(path, sizeof path, "%s/" SV_FMT, folder, SV_ARG(odd_names[i]));
        struct store *s = open_log();
        CHECK(append(s, SV("{}"), 3) == ST_OK);
        CHECK(store_compact(s, &e) == ST_OK);
        store_close(s);
        unlink(beside("-wal"));
        unlink(beside("-shm"));
        if (geteuid() == 0) {
            CHECK(chmod(path, 0444) == 0);
            CHECK(chmod(folder, 0555) == 0);
            CHECK_INT(as_nobody(read_three), 0);
            CHECK_INT(as_nobody(write_is_refused), 0);
            CHECK(chmod(path, 0666) == 0); /* the file may be written, its folder not */
            CHECK_INT(as_nobody(read_three), 0);
            CHECK_INT(as_nobody(write_is_refused), 0);
            CHECK(chmod(folder, 0755) == 0);
        } else {
            printf("# needs root to become someone else\n");
        }
        clean();
    }
}

static int make_one_is_refused(void)
{
    struct store *s;

    return store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e) == ST_IO &&
                   e.hint[0]
               ? 0
               : 1;
}

static void no_log_is_made_where_nothing_may_be_written(void)
{
    fresh_for_all();
    if (geteuid() == 0) {
        CHECK(chmod(folder, 0555) == 0);
        CHECK_INT(as_nobody(make_one_is_refused), 0);
        CHECK(chmod(folder, 0755) == 0);
    }
    clean();
}

/* Append until it fails; everything acknowledged must be there, and appending must go on
 * once there is room. */
static void fill(void (*make_room)(void))
{
    struct store *s = open_log();
    enum status   st = ST_OK;
    int64_t       acknowledged = 0;

    for (int i = 0; i < 5000 && !st; i++) {
        st = append(s, bytes(3000), 3);
        acknowledged += st ? 0 : 3;
    }
    CHECK(st == ST_IO);
    CHECK(e.text[0] != 0);
    CHECK_INT(rev(s), acknowledged);
    CHECK_INT(read_all(s, &st), acknowledged);
    CHECK(st == ST_OK);
    make_room();
    CHECK(append(s, bytes(3000), 3) == ST_OK);
    store_close(s);
    s = open_log();
    CHECK_INT(rev(s), acknowledged + 3);
    store_close(s);
}

static void grow_mount(void)
{
    CHECK(mount("none", folder, "tmpfs", MS_REMOUNT, "size=64m") == 0);
}

static void lift_limit(void)
{
    struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };

    CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0);
}

static void a_full_disk_loses_nothing(void)
{
    fresh();
    if (mount("none", folder, "tmpfs", 0, "size=2m") == 0) {
        fill(grow_mount);
        CHECK(umount(folder) == 0);
    } else {
        printf("# no tmpfs here\n");
    }
    clean();
}

static void a_file_size_limit_loses_nothing(void)
{
    struct rlimit l = { 1 << 20, RLIM_INFINITY };

    fresh();
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0);
    fill(lift_limit);
    clean();
}

/* ---- files that stay small ---------------------------------------------------------- */

enum { MB = 1 << 20 };

static void the_write_ahead_log_stays_short(void)
{
    fresh();
    struct store *s = open_log();
    int64_t       most = 0;
    for (int i = 0; i < 300; i++) {
        CHECK(append(s, bytes(1000), 100) == ST_OK);
        int64_t now = size_of(beside("-wal"));
        most = now > most ? now : most;
    }
    CHECK(most < 12 * MB);
    CHECK(size_of(path) > 25 * MB);
    store_close(s);
    CHECK(size_of(beside("-wal")) < 1 * MB);
    clean();
}

static void a_long_reader_only_delays_it(void)
{
    struct store *reader;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(try_open(&(struct store_options){ 0 }, &reader) == ST_OK);
    CHECK(store_begin(reader, STORE_READ, &e) == ST_OK);
    CHECK_INT(rev(reader), 1);
    for (int i = 0; i < 300; i++)
        CHECK(append(s, bytes(1000), 100) == ST_OK); /* writers do not wait for it */
    CHECK_INT(rev(reader), 1);
    CHECK(size_of(beside("-wal")) < 64 * MB); /* what was written meanwhile, no more */
    store_abort(reader);
    for (int i = 0; i < 50; i++)
        CHECK(append(s, bytes(1000), 100) == ST_OK);
    CHECK(size_of(beside("-wal")) < 12 * MB);
    store_close(reader);
    store_close(s);
    CHECK(size_of(beside("-wal")) < 1 * MB);
    clean();
}

/* Readers that follow one another without a gap: there is always one in a transaction. */
static atomic_bool stop_reading;

static void *read_in_turn(void *ctx)
{
    struct store     *s = NULL;
    struct store_head h;
    struct err        mine;
    long              pause = *(long *)ctx;

    if (store_open(sv_of(path), &(struct store_options){ 0 }, &s, &mine))
        return NULL;
    while (!atomic_load(&stop_reading)) {
        if (store_begin(s, STORE_READ, &mine) || store_head(s, SV("t"), &h, &mine))
            break;
        nanosleep(&(struct timespec){ 0, pause }, NULL);
        store_abort(s);
    }
    store_close(s);
    return NULL;
}

static void readers_that_never_pause_cannot_make_it_grow(void)
{
    pthread_t threads[3];
    long      pauses[3] = { 3000000, 5000000, 7000000 };
    int64_t   last = 0, emptied = 0;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    atomic_store(&stop_reading, false);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, read_in_turn, &pauses[i]) == 0);
    for (int i = 0; i < 500; i++) {
        CHECK(append(s, bytes(1000), 100) == ST_OK);
        int64_t now = size_of(beside("-wal"));
        emptied += now < last;
        last = now;
    }
    atomic_store(&stop_reading, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(emptied > 0); /* how often depends on who is let run */
    store_close(s);
    clean();
}

static void freed_pages_are_given_back(void)
{
    struct store_stats before, after;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (int i = 0; i < 4000; i++) {
        struct store_key k = { SV("t"), SV("v"), { (const char *)&i, sizeof i } };
        CHECK(store_row_put(s, &k, bytes(1000), &e) == ST_OK);
    }
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    CHECK(store_stats(s, &before, &e) == ST_OK);
    CHECK(before.file_bytes > 4 * MB);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK(store_stats(s, &after, &e) == ST_OK);
    CHECK(after.free_bytes > 4 * MB);
    CHECK(store_compact(s, &e) == ST_OK);
    CHECK(store_stats(s, &after, &e) == ST_OK);
    CHECK_INT(after.free_bytes, 0);
    CHECK_INT(after.wal_bytes, 0);
    CHECK(after.file_bytes < 100000);
    store_close(s);
    clean();
}

static void closing_gives_back_what_clearing_freed(void)
{
    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (int i = 0; i < 4000; i++) {
        struct store_key k = { SV("t"), SV("v"), { (const char *)&i, sizeof i } };
        CHECK(store_row_put(s, &k, bytes(1000), &e) == ST_OK);
    }
    CHECK(store_rows_clear(s, SV("t"), SV("v"), &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    store_close(s);
    CHECK(size_of(path) + size_of(beside("-wal")) < 1 * MB);
    clean();
}

/* Somebody swaps the directory for a link between the check and the open. */
static void a_swapped_directory_does_not_lead_the_file_out(void)
{
    char inside[270], moved[270], outside[270], name[330];

    fresh();
    snprintf(inside, sizeof inside, "%s/inside", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    snprintf(outside, sizeof outside, "%s/outside", folder);
    CHECK(mkdir(inside, 0700) == 0 && mkdir(outside, 0700) == 0);
    int dir = open(inside, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(rename(inside, moved) == 0 && symlink(outside, inside) == 0);
    snprintf(path, sizeof path, "%s/log.db", inside);
    struct store *s;
    CHECK(try_open(&(struct store_options){ .create = true, .at_dir = true, .dir = dir }, &s) ==
          ST_OK);
    close(dir); /* the store has its own */
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    store_close(s);
    CHECK(rmdir(outside) == 0); /* it is empty */
    snprintf(name, sizeof name, "%s/log.db", moved);
    struct stat st;
    CHECK(stat(name, &st) == 0 && (st.st_mode & 0777) == 0600);
    unlink(inside);
    snprintf(path, sizeof path, "%s/log.db", moved);
    struct store *again = open_log();
    store_close(again);
    for (int i = 0; i < 3; i++) {
        static const char *const suffixes[] = { "", "-wal", "-shm" };
        unlink(beside(suffixes[i]));
    }
    CHECK(rmdir(moved) == 0);
    clean();
}

/* The file itself may be a link too. */
static void a_link_in_place_of_the_file_is_not_followed(void)
{
    char target[320];

    fresh();
    snprintf(target, sizeof target, "%s-elsewhere", folder);
    CHECK(symlink(target, path) == 0);
    int           dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct store *s;
    CHECK(try_open(&(struct store_options){ .create = true, .at_dir = true, .dir = dir }, &s) !=
          ST_OK);
    CHECK(access(target, F_OK) != 0);
    close(dir);
    clean();
}

static void only_its_owner_can_read_the_file(void)
{
    struct stat st;
    mode_t      before = umask(0);

    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(beside("-wal"), &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(stat(beside("-shm"), &st) == 0 && (st.st_mode & 0777) == 0600);
    store_close(s);
    umask(before);
    clean();
}

/* ---- where a log ends ----------------------------------------------------------------- */

static struct store_head head_of(struct store *s, const char *thread)
{
    struct store_head h = { .rev = -1 };

    CHECK(store_head(s, sv_of(thread), &h, &e) == ST_OK);
    return h;
}

static void a_cut_end_is_noticed_and_not_appended_to(void)
{
    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 5) == ST_OK);
    struct store_head h = head_of(s, "t");
    CHECK_INT(h.recorded_rev, 5);
    CHECK(store_head_agrees(SV("t"), &h, &e) == ST_OK);
    store_close(s);
    tamper("DELETE FROM entry WHERE (key & 68719476735) >= 3");
    s = open_log();
    h = head_of(s, "t");
    CHECK_INT(h.rev, 3);
    CHECK(store_head_agrees(SV("t"), &h, &e) == ST_CORRUPT);
    CHECK(strstr(e.text, "the last 2 were cut off") != NULL);
    CHECK(append(s, SV("{}"), 1) == ST_CORRUPT);
    CHECK_INT(rev(s), 3);
    store_close(s);
    tamper("DELETE FROM entry"); /* all of it: still not a thread that never was */
    s = open_log();
    h = head_of(s, "t");
    CHECK(store_head_agrees(SV("t"), &h, &e) == ST_CORRUPT);
    CHECK(append(s, SV("{}"), 1) == ST_CORRUPT);
    store_close(s);
    clean();
}

static void an_added_or_exchanged_end_is_noticed(void)
{
    static const char *const changes[] = {
        "INSERT INTO entry SELECT key + 1, at, mark, kind, lane, actor, id, op, refs, chain, "
        "payload,"
        " blob, salt, content FROM entry ORDER BY key DESC LIMIT 1",
        "UPDATE entry SET chain = zeroblob(32) WHERE (key & 68719476735) = 1",
        "UPDATE thread SET rev = -9223372036854775808",
        "UPDATE thread SET rev = 9223372036854775807",
        "UPDATE thread SET chain = NULL",
    };

    for (size_t i = 0; i < COUNT(changes); i++) {
        fresh();
        struct store *s = open_log();
        CHECK(append(s, SV("{}"), 2) == ST_OK);
        store_close(s);
        tamper(changes[i]);
        s = open_log();
        CHECK(append(s, SV("{}"), 1) == ST_CORRUPT);
        store_close(s);
        clean();
    }
}

static void heads_of_an_older_file_are_recorded_without_touching_its_entries(void)
{
    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 3) == ST_OK);
    struct store_head before = head_of(s, "t");
    store_close(s);
    make_old(3);
    s = open_log();
    struct store_head after = head_of(s, "t");
    CHECK_INT(after.recorded_rev, 3);
    CHECK(hash_eq(&before.recorded_chain, &after.recorded_chain));
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    store_close(s);
    CHECK_INT(number_in(beside(".v3.bak"), "SELECT count(*) FROM entry"), 3);
    clean();
}

static int  complaints;
static char last_complaint[400];

static void hear(void *ctx, struct sv text)
{
    (void)ctx;
    complaints++;
    snprintf(last_complaint, sizeof last_complaint, SV_FMT, SV_ARG(text));
}

/* As many messages of lane `lane` as there should be? */
static bool has_messages(struct store *s, struct sv lane, int64_t want)
{
    struct store_query q = {
        .thread = SV("t"), .to = STORE_TO_END, .lane = lane, .mark = MARK_MESSAGE
    };
    struct store_scan *scan;
    struct entry       n;
    bool               more = true;
    int64_t            found = -1;

    if (store_scan(s, &q, &scan, &e))
        return false;
    for (; more; found++)
        if (store_next(scan, &n, &more, &e) ||
            (more && (!sv_eq(n.lane, lane) || !sv_is(n.kind, "ai_message"))))
            return false;
    store_scan_close(scan);
    return found == want;
}

static void read_as_it_is(int version)
{
    struct store_head head = { 0 };
    struct store     *s;

    fresh();
    s = open_log();
    for (int i = 0; i < 3; i++) {
        struct entry n = { .at = i,
                           .kind = SV("ai_message"),
                           .mark = MARK_MESSAGE,
                           .lane = i ? SV("default") : SV("side"),
                           .payload = SV("{}"),
                           .refs = SV("{}") };
        CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
        CHECK(store_append(s, SV("t"), i, &n, 1, &head, &e) == ST_OK);
        CHECK(store_commit(s, &e) == ST_OK);
    }
    CHECK(store_compact(s, &e) == ST_OK);
    store_close(s);
    make_old(version);
    number_in(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    unlink(beside("-wal"));
    unlink(beside("-shm"));
    pid_t child = fork();
    if (child == 0) { /* as someone who may not write */
        bool ok = chmod(path, 0444) == 0 && chmod(folder, 0555) == 0 &&
                  (geteuid() != 0 || setresuid(65534, 65534, 65534) == 0) &&
                  try_open(&(struct store_options){ .read_only = true }, &s) == ST_OK;
        struct store_head h;
        ok = ok && store_head(s, SV("t"), &h, &e) == ST_OK && h.rev == 3 && h.recorded_rev == 3 &&
             has_messages(s, SV("default"), 2) && has_messages(s, SV("side"), 1) &&
             store_check(s, hear, NULL, &e) == ST_OK && !complaints;
        _exit(ok ? 0 : 1);
    }
    int how = -1;
    waitpid(child, &how, 0);
    CHECK_INT(how, 0);
    chmod(folder, 0755);
    clean();
}

static void older_files_in_a_read_only_place_are_read_as_they_are(void)
{
    for (int version = SQLITE_SCHEMA_READABLE; version < SQLITE_SCHEMA_VERSION; version++)
        read_as_it_is(version);
}

/* As when another process restores a backup in which the threads have other numbers. */
static void a_thread_that_got_another_number_meanwhile_is_found(void)
{
    fresh();
    struct store     *s = open_log();
    struct store_head h;
    CHECK(append(s, SV("{}"), 3) == ST_OK);
    tamper("UPDATE entry SET key = key + (4 << 36); UPDATE thread SET tid = tid + 4;"
           "INSERT INTO thread(tid, id, version) VALUES(1, 'other', 2);");
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK_INT(rev(s), 4);
    CHECK(store_head(s, SV("other"), &h, &e) == ST_OK);
    CHECK_INT(h.rev, 0);
    CHECK_INT(number_in(path, "SELECT count(*) FROM entry WHERE key >> 36 = 5"), 4);
    store_close(s);
    clean();
}

/* ---- rows of messages ---------------------------------------------------------------------- */

/* What a message has in common with most others is not in its row; every combination reads back. */
static void kinds_lanes_and_marks_read_back_in_every_combination(void)
{
    static const struct sv kinds[] = { SV_STATIC("ai_message"), SV_STATIC("note") };
    static const struct sv lanes[] = { SV_STATIC("default"), SV_STATIC("side"), { 0 } };
    struct store_head      head = { 0 };

    fresh();
    struct store *s = open_log();
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (int i = 0; i < 2 * 3 * 3 * 3; i++) {
        struct entry       n = { .at = i,
                                 .kind = kinds[i % 2],
                                 .lane = lanes[i / 2 % 3],
                                 .mark = (enum entry_mark)(i / 6 % 3),
                                 .payload = SV("{}"),
                                 .refs = SV("{}") };
        struct store_query q = { .thread = SV("t"), .from = i, .to = i };
        struct entry       back;
        bool               found;
        CHECK(store_append(s, SV("t"), i, &n, 1, &head, &e) == ST_OK);
        for (int again = 0; again < 2; again++) { /* as it came, then with another mark */
            CHECK(store_first(s, &q, &a, &back, &found, &e) == ST_OK && found);
            CHECK_SV(back.kind, n.kind);
            CHECK_SV(back.lane, n.lane);
            CHECK(!back.lane.s == !n.lane.s);
            CHECK(store_set_mark(s, SV("t"), i, (enum entry_mark)(i / 18), &e) == ST_OK);
        }
    }
    CHECK(store_commit(s, &e) == ST_OK);
    store_close(s);
    clean();
}

/* ---- a file that somebody changed -------------------------------------------------------- */

static int check(struct store *s)
{
    complaints = 0;
    CHECK(store_check(s, hear, NULL, &e) == ST_OK);
    return complaints;
}

static void a_trigger_in_the_file_does_nothing_and_is_named(void)
{
    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK_INT(check(s), 0);
    store_close(s);
    tamper("CREATE TRIGGER mine BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END");
    s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    CHECK_INT(rev(s), 2);
    CHECK_INT(check(s), 1);
    CHECK(strstr(last_complaint, "'mine'") != NULL);
    store_close(s);
    clean();
}

static void a_table_that_swallows_entries_is_told(void)
{
    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_OK);
    store_close(s);
    tamper("DROP TABLE entry; CREATE TABLE entry(key INTEGER PRIMARY KEY, at, mark, kind UNIQUE ON "
           "CONFLICT IGNORE, lane, actor, id, op, refs, chain, payload, blob, salt, content); "
           "UPDATE thread SET "
           "rev = NULL, chain = NULL; INSERT INTO entry(key, kind) VALUES(-5, 'note')");
    s = open_log();
    CHECK(append(s, SV("{}"), 1) == ST_CORRUPT);
    CHECK(check(s) >= 1);
    store_close(s);
    clean();
}

static void a_thread_whose_row_is_gone_is_noticed_and_given_a_name(void)
{
    int64_t           n;
    struct store_head h;
    struct entry      one = { .at = 1, .kind = SV("note"), .payload = SV("{}") };

    fresh();
    struct store *s = open_log();
    CHECK(append(s, SV("{}"), 4) == ST_OK);
    store_close(s);
    tamper("DELETE FROM thread");
    s = open_log();
    CHECK_INT(check(s), 1);
    CHECK(strstr(last_complaint, "4 entries of thread number 1") != NULL);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK); /* a new thread still works */
    CHECK(store_append(s, SV("new"), 0, &one, 1, &h, &e) == ST_OK);
    CHECK(store_adopt_lost(s, &n, &e) == ST_OK);
    CHECK(store_commit(s, &e) == ST_OK);
    CHECK_INT(n, 1);
    CHECK_INT(head_of(s, "lost-1").rev, 4);
    CHECK_INT(head_of(s, "new").rev, 1);
    CHECK_INT(check(s), 0);
    store_close(s);
    clean();
}

static void numbers_that_cannot_be_are_errors_not_undefined(void)
{
    static const char *const changes[] = {
        "UPDATE thread SET tid = 1099511627776",
        "UPDATE thread SET tid = -5",
        "UPDATE thread SET tid = 0",
        "UPDATE entry SET mark = 77",
        "UPDATE entry SET mark = -1",
        "UPDATE entry SET key = -key",
        "UPDATE entry SET key = 9223372036854775807 - key",
    };

    for (size_t i = 0; i < COUNT(changes); i++) {
        struct store_query q = { .thread = SV("t"), .to = STORE_TO_END };
        struct store_scan *scan = NULL;
        struct entry       n;
        bool               more = true;
        int64_t            read = 0;
        fresh();
        struct store *s = open_log();
        CHECK(append(s, SV("{}"), 2) == ST_OK);
        store_close(s);
        tamper(changes[i]);
        s = open_log();
        if (store_scan(s, &q, &scan, &e) == ST_OK)
            while (more)
                read += store_next(scan, &n, &more, &e) == ST_OK && more;
        store_scan_close(scan);
        CHECK_INT(read, 0);
        if (!strstr(changes[i], "mark")) /* which the end of a log does not depend on */
            CHECK(append(s, SV("{}"), 1) == ST_CORRUPT);
        CHECK(store_check(s, hear, NULL, &e) != ST_USAGE); /* whatever it says, it ends */
        store_close(s);
        clean();
    }
}

/* ---- what is left of a damaged file ------------------------------------------------------ */

/* How many entries of `t` a scan gives, and in how many stretches the rest is missing. */
static int64_t readable(struct store *s, int *damages)
{
    struct store_query q = { .thread = SV("t"), .to = STORE_TO_END };
    struct store_scan *scan = NULL;
    struct entry       n;
    bool               more = true;
    int64_t            read = 0, last = -1;

    *damages = 0;
    CHECK(store_scan(s, &q, &scan, &e) == ST_OK);
    while (more) {
        if (store_next(scan, &n, &more, &e)) {
            CHECK(e.code == ST_CORRUPT);
            ++*damages;
        } else if (more) {
            CHECK(n.seq > last);
            last = n.seq;
            read++;
        }
    }
    store_scan_close(scan);
    return read;
}

static void zero_page(int64_t page)
{
    static const char zeros[4096];
    int               fd = open(path, O_WRONLY);

    CHECK(pwrite(fd, zeros, sizeof zeros, (page - 1) * 4096) == sizeof zeros);
    close(fd);
}

static void entries_behind_a_damaged_page_are_read(void)
{
    int64_t entries = 300, per_page[2];
    int     damages;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, bytes(900), (size_t)entries) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    store_close(s);
    int64_t third = number_in(path, "SELECT pageno FROM dbstat WHERE name = 'entry' AND pagetype = "
                                    "'leaf' ORDER BY path LIMIT 1 OFFSET 10");
    int64_t last = number_in(path, "SELECT pageno FROM dbstat WHERE name = 'entry' AND pagetype = "
                                   "'leaf' ORDER BY path DESC LIMIT 1");
    char    sql[100];
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql, "SELECT ncell FROM dbstat WHERE pageno = %lld",
                 (long long)(i ? last : third));
        per_page[i] = number_in(path, sql);
    }
    CHECK(third > 0 && last > 0 && per_page[0] > 0);
    unlink(beside("-wal"));
    unlink(beside("-shm"));
    zero_page(third);
    zero_page(last);
    CHECK(try_open(&(struct store_options){ .read_only = true }, &s) == ST_OK);
    CHECK_INT(readable(s, &damages), entries - per_page[0] - per_page[1]);
    CHECK_INT(damages, 2);
    CHECK(strstr(e.text, "to 299 cannot be read") != NULL); /* it knows where the log ended */
    store_close(s);
    clean();
}

static void a_file_cut_short_gives_what_is_there(void)
{
    int damages;

    fresh();
    struct store *s = open_log();
    CHECK(append(s, bytes(900), 300) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK);
    store_close(s);
    unlink(beside("-wal"));
    unlink(beside("-shm"));
    CHECK(truncate(path, size_of(path) / 2) == 0);
    CHECK(try_open(&(struct store_options){ .read_only = true }, &s) == ST_OK);
    int64_t n = readable(s, &damages);
    CHECK(n >= 100 && n < 300 && damages >= 1);
    printf("# %lld of 300 entries of half a file\n", (long long)n);
    store_close(s);
    struct store *w;
    CHECK(try_open(&(struct store_options){ 0 }, &w) == ST_CORRUPT); /* nobody writes to it */
    clean();
}

TAP_MAIN(T(a_cut_end_is_noticed_and_not_appended_to), T(an_added_or_exchanged_end_is_noticed),
         T(heads_of_an_older_file_are_recorded_without_touching_its_entries),
         T(older_files_in_a_read_only_place_are_read_as_they_are),
         T(a_thread_that_got_another_number_meanwhile_is_found),
         T(kinds_lanes_and_marks_read_back_in_every_combination),
         T(a_trigger_in_the_file_does_nothing_and_is_named),
         T(a_table_that_swallows_entries_is_told),
         T(a_thread_whose_row_is_gone_is_noticed_and_given_a_name),
         T(numbers_that_cannot_be_are_errors_not_undefined),
         T(entries_behind_a_damaged_page_are_read), T(a_file_cut_short_gives_what_is_there),
         T(a_swapped_directory_does_not_lead_the_file_out),
         T(a_link_in_place_of_the_file_is_not_followed), T(only_its_owner_can_read_the_file),
         T(the_file_is_durable_and_can_shrink), T(large_payloads_are_stored_once),
         T(an_older_schema_is_migrated_after_a_copy), T(words_of_an_older_schema_are_forgotten),
         T(a_failed_step_leaves_the_old_schema), T(no_copy_no_migration),
         T(a_foreign_database_is_refused_and_left_alone), T(garbage_is_refused_and_left_alone),
         T(an_empty_file_becomes_a_log_only_when_asked),
         T(the_write_ahead_log_of_a_lost_file_is_left_alone),
         T(a_truncated_file_is_told_and_its_front_is_readable), T(a_damaged_page_is_told),
         T(a_read_only_folder_can_be_read_and_says_no_to_writes),
         T(no_log_is_made_where_nothing_may_be_written), T(a_full_disk_loses_nothing),
         T(a_file_size_limit_loses_nothing), T(the_write_ahead_log_stays_short),
         T(a_long_reader_only_delays_it), T(readers_that_never_pause_cannot_make_it_grow),
         T(freed_pages_are_given_back), T(closing_gives_back_what_clearing_freed), )
